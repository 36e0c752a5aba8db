# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Ends the program, lanescope, or both with kill -9 at random moments. What the report showed before the kill must be there
after it. LNS_KILL_ROUNDS sets how often (`./run test --stage kills`: 200, which also holds Lanescope to its promise of how
little a kill takes); LNS_KILL_SEED repeats the moments of an earlier run."""

import concurrent.futures
import ctypes
import os
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import time

import tap
from profiling import ACT, Folder, children, wait_for

FLOOD = os.path.join(tap.BUILD, "tests", "programs", "nvtx-flood")
BEAT = os.path.join(tap.BUILD, "tests", "programs", "nvtx-beat")
ROUNDS = int(os.environ.get("LNS_KILL_ROUNDS", "9"))
SEED = int(os.environ.get("LNS_KILL_SEED", time.time_ns() % 1000000))
# What had ended so long before a kill is in the report. A machine that is busy with something else may delay any commit, so
# that only the long stage, which runs alone, asserts it.
PROMISE_NS = 1300000000 if ROUNDS >= 20 else None
# For how long the program goes on after the moment: until it is killed, or so long that it outlives the tool's death
# also where this process is late.
GOES_ON_MS = {"target": 60000, "both": 60000, "tool": 3000}
SLOT_NS = 10000000  # nvtx-flood's
FLOOD_GOES_ON_MS = {"both": 10000, "tool": 3000}  # with the moment at most the 15 s that nvtx-flood has room for


def command(*words):
    """Runs lanescope; it may not know the report, but says so within 20 s."""
    run = subprocess.run([tap.LANESCOPE, *words], capture_output=True, text=True, timeout=20)
    assert run.returncode == 0 or (run.returncode == 125 and "lanescope: error: " in run.stderr), run
    return run


def ranges_of(report, condition):
    """[text, end] of each push/pop range of REPORT for which CONDITION holds; none where there is no report that can be read."""
    run = command("sql", report, f'SELECT text, "end" FROM NVTX_EVENTS WHERE eventType = 59 AND ({condition})')
    return [row.split("\t") for row in run.stdout.splitlines()]


def beats_of(report):
    """The numbers of the beats that have ended in REPORT."""
    return {int(text.split()[1]) for text, _ in ranges_of(report, """text LIKE 'beat %' AND "end" IS NOT NULL""")}


class Round:
    """One killing of WHO, MOMENT_MS after the program's start."""

    def __init__(self, who, moment_ms):
        self.who, self.moment_ms, self.speed, self.longest_ms = who, moment_ms, None, 0
        self.late = False  # the kill waits until the report shows a beat

    def __str__(self):
        return f"{self.who} after {self.moment_ms} ms (LNS_KILL_SEED={SEED})"

    def run(self):
        with Folder() as folder:
            self.folder = folder
            self.kill()
            self.check()
            return self

    def kill(self):
        process = self.folder.start("-o", "r", BEAT, "beats", str(self.moment_ms + GOES_ON_MS[self.who]),
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        target = wait_for(lambda: children(process.pid), "the program's start")[0]
        time.sleep(self.moment_ms / 1000)
        report = self.folder.file("r.rep")
        if self.late:
            wait_for(lambda: beats_of(report), "a beat in the report")
        self.seen = beats_of(report)
        self.killed_ns = time.monotonic_ns()
        if self.who != "target":
            process.kill()
        if self.who != "tool":
            os.kill(target, signal.SIGKILL)
        self.code = process.wait(20)
        if os.path.exists(self.folder.file("r.rep")):
            shutil.copy(self.folder.file("r.rep"), self.folder.file("copy.rep"))
        self.target_code = None
        if self.who != "target":  # it is ours now
            try:
                self.target_code = os.waitstatus_to_exitcode(os.waitpid(target, 0)[1])
            except ChildProcessError:
                # A tool that is killed while it asks the kernel about its children may still get the answer, and the program with it.
                assert self.who == "both", (str(self), target)

    def ended(self):
        """When each beat had ended, by its number."""
        with open(self.folder.file("beats"), "rb") as file:
            data = file.read()
        times = struct.unpack(f"{len(data) // 8}q", data)
        return times[:times.index(0)]

    def check(self):
        assert self.code == -signal.SIGKILL, (str(self), self.code)
        assert self.target_code in {"tool": [7], "both": [-signal.SIGKILL, None], "target": [None]}[self.who], \
            (str(self), self.target_code)
        if not os.path.exists(self.folder.file("beats")):
            return  # killed before the program was one
        times = self.ended()
        before = [t for t in times if t < self.killed_ns]
        if self.who == "tool" and len(before) > 200:
            after = [t for t in times if t > self.killed_ns]
            seconds = (after[-1] - after[0]) / 1e9, (before[-1] - before[0]) / 1e9
            self.speed = (len(after) / seconds[0]) / (len(before) / seconds[1])
        # What had ended is there: all of it where the tool lived on, else what was to be seen, or is older than the promise.
        promised = max(self.seen, default=-1) + 1
        if self.who == "target":
            promised = len(times)
        elif PROMISE_NS is not None:
            promised = max(promised, sum(t < self.killed_ns - PROMISE_NS for t in times))
        self.check_report(times, promised)

    def check_report(self, times, promised):
        copy = self.folder.file("copy.rep")
        info = command("info", copy) if os.path.exists(copy) else None
        if info is None or info.returncode != 0:
            assert promised == 0, (str(self), promised, info)
            return
        lines = info.stdout.splitlines()
        states = ["state: complete"] if self.who == "target" else ["state: cut off", "state: recovered"]
        assert any(state in lines for state in states), (str(self), info)
        # What had come, but waited for its order, is counted as lost by whoever recovers the report: of the last moment, too.
        lost, waited = (next((int(line.split()[1]) for line in lines if re.match(key + r": \d+", line)), 0)
                        for key in ("lost", "missing"))
        assert lost == (waited if "state: recovered" in lines else 0), (str(self), info)
        beats = beats_of(copy)
        self.longest_ms = max([(self.killed_ns - times[beat]) / 1e6 for beat in set(range(len(times))) - beats], default=0)
        missing = set(range(max(promised, len(beats)))) - beats
        assert not missing, (str(self), promised, sorted(missing)[:5], len(missing), self.longest_ms)
        rows = ranges_of(copy, 'text = "work" OR "end" IS NULL')
        n_work = sum(text == "work" and end != "" for text, end in rows)
        assert n_work >= 100 * len(beats), (str(self), n_work, len(beats))
        if beats:
            assert ["outer", ""] in rows and sum(end == "" for _, end in rows) <= 3, str(self)


def test_kills_at_random_moments():
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: orphans are ours to wait for
    choose = random.Random(SEED)
    rounds = [Round(("target", "tool", "both")[number % 3], choose.randint(0, 3500)) for number in range(ROUNDS)]
    for first in rounds[:3]:  # each kind once
        first.late = True
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        done = list(pool.map(Round.run, rounds))
    taken = sorted(r.longest_ms for r in done if r.who != "target")
    print(f"# what a kill took had ended {statistics.median(taken):.0f} ms before it (median of {len(taken)}), "
          f"{taken[-1]:.0f} at most")
    speeds = [r.speed for r in done if r.speed is not None]
    if speeds:
        print(f"# {ROUNDS} rounds; the program's speed after the tool's death: {statistics.median(speeds):.2f} of "
              f"before (median of {len(speeds)}, {min(speeds):.2f}-{max(speeds):.2f})")


def missing_of(lines, report):
    """How many events `info` counts as missing, and until when it knows of all, in ns of CLOCK_MONOTONIC, by its LINES of REPORT."""
    line = next(line for line in lines if line.startswith("missing: "))
    counted = re.match(r"missing: (\d+) events? recorded between .* and (\S+) s, and everything after that$", line)
    n_missing, until_s = counted.groups() if counted else (0, re.match(r"missing: everything after (\S+) s$", line).group(1))
    start_ns = int(command("sql", report, "SELECT systemClockNs FROM TARGET_INFO_SESSION_START_TIME").stdout)
    return int(n_missing), start_ns + int((float(until_s) - 0.001) * 1e9)


def made_by(path, time_ns):
    """How many ranges nvtx-flood had made at TIME_NS at least, by its file."""
    with open(path, "rb") as file:
        start_ns, = struct.unpack("q", file.read(8))
        counts = file.read()
    slots, n_threads = 3000, len(counts) // 8 // 3000
    last = min(slots, max(0, (time_ns - start_ns) // SLOT_NS))
    counts = struct.unpack(f"{n_threads * slots}q", counts)
    return sum(max(counts[t * slots:t * slots + last], default=0) for t in range(n_threads))


def flood(who, moment_ms, *switches):
    """Kills WHO while more is made than can be stored; what is neither in the report nor counted as missing is of the last moments."""
    told = f"{who} after {moment_ms} ms with {switches} (LNS_KILL_SEED={SEED})"
    with Folder() as folder:
        process = folder.start(*switches, "-o", "r", FLOOD, "made", str(2 * os.cpu_count()), str(moment_ms + FLOOD_GOES_ON_MS[who]),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        target = wait_for(lambda: children(process.pid), "the program's start")[0]
        time.sleep(moment_ms / 1000)
        wait_for(lambda: "state: recording" in command("info", folder.file("r.rep")).stdout, "the first commit")
        killed_ns = time.monotonic_ns()
        process.kill()
        if who == "both":
            os.kill(target, signal.SIGKILL)
        process.wait(20)
        dead_ns = time.monotonic_ns()
        os.waitpid(target, 0)
        lines = command("info", folder.file("r.rep")).stdout.splitlines()
        assert "state: cut off" in lines, (told, lines)
        n_events, n_lost = (next(int(line.split()[1]) for line in lines if line.startswith(key)) for key in ("events: ", "lost: "))
        n_missing, until_ns = missing_of(lines, folder.file("r.rep"))
        if PROMISE_NS is not None:
            until_ns = max(until_ns, killed_ns - PROMISE_NS)
        promised, most = made_by(folder.file("made"), until_ns), made_by(folder.file("made"), dead_ns + SLOT_NS)
        n_told = n_events + n_lost + n_missing
        assert promised <= n_told <= most, (told, promised, n_told, most, lines[:8])
        # recover tells of it too.
        recovered = command("recover", "-o", folder.file("again.rep"), folder.file("r.rep")).stdout
        assert int(re.search(r"missing: (\d+) event", recovered).group(1)) >= n_missing, (told, recovered, lines[:8])
        return n_events, n_lost, n_missing


def test_what_a_kill_at_full_speed_takes_is_counted():
    ctypes.CDLL(None).prctl(36, 1)
    choose = random.Random(SEED)
    for number in range(max(2, ROUNDS // 20)):
        switches = ([], ["--buffer-size=8M"])[number % 2]
        n_events, n_lost, n_missing = flood(("tool", "both")[number // 2 % 2], choose.randint(2500, 4000), *switches)
        print(f"# {n_events} events, {n_lost} lost, {n_missing} missing {' '.join(switches)}")


def stopped_recorder(pid):
    """Stops the thread of the process PID that decodes and writes, as a debugger does. Returns its id."""
    def is_recorder(thread):
        with open(f"/proc/{pid}/task/{thread}/comm", encoding="ascii") as file:
            return file.read() == "recorder\n"
    libc = ctypes.CDLL(None, use_errno=True)
    thread, = (int(name) for name in os.listdir(f"/proc/{pid}/task") if is_recorder(name))
    if libc.ptrace(0x4206, thread, None, None) != 0:  # PTRACE_SEIZE
        raise tap.Skip("the machine does not let a process trace another")
    libc.ptrace(0x4207, thread, None, None)  # PTRACE_INTERRUPT
    os.waitpid(thread, 0x40000000)  # __WALL
    return thread


def test_what_a_recorder_without_cpu_time_has_not_stored_is_counted():
    ctypes.CDLL(None).prctl(36, 1)
    with Folder() as folder:
        report, n = folder.file("r.rep"), 1000
        process = folder.start("-t", "nvtx", "-o", "r", ACT, "mark", "first", "print", "ready", "await", "spin", n, "touch", "made",
                               "pause", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout.readline() == b"ready\n"
        try:
            os.setxattr(report, "user.lanescope.test", b"1")
        except OSError as error:
            raise tap.Skip("the file system has no extended attributes") from error
        wait_for(lambda: "events: 1" in command("info", report).stdout.splitlines(), "the first event")
        target, thread = children(process.pid)[0], stopped_recorder(process.pid)
        process.stdin.write(b"\n")
        process.stdin.flush()
        wait_for(lambda: os.path.exists(folder.file("made")), "the program's ranges")
        wait_for(lambda: int(os.getxattr(report, "user.lanescope.seen").split()[1]) == 1 + n, "them to be counted")
        process.kill()
        os.kill(target, signal.SIGKILL)
        os.waitpid(thread, 0x40000000)
        process.wait(20)
        lines = command("info", report).stdout.splitlines()
        assert "state: cut off" in lines and "events: 1" in lines, lines
        assert any(line.startswith(f"missing: {n} events recorded between ") for line in lines), lines
        recovered = command("recover", "-o", folder.file("again.rep"), report).stdout
        assert f"missing: {n} events" in recovered, recovered


tap.main(globals())
