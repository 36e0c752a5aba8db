# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs test programs and reads their TAP."""

import collections
import os
import queue
import re
import select
import selectors
import signal
import subprocess
import threading
import time

# One share of a test program: CASES, or all that its tier has if that is empty, without those of EXCEPT; of these every
# SHARD[1]-th, from SHARD[0] on. TIER is "gate" or "all". EXPECTED_S is how long it is thought to take.
Share = collections.namedtuple("Share", "program cases excluded tier shard expected_s")
# OUTCOME is "passed", "failed" or "skipped"; TEXT says why one was skipped, or is what a failed one wrote to stderr.
Case = collections.namedtuple("Case", "name outcome text seconds")

LINE = re.compile(r"^(not ok|ok)\b\s*\d*\s*(?:-\s*)?([^#]*?)\s*(?:#\s*SKIP\b\s*(.*))?$", re.I)
PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\b\s*(.*))?$", re.I)
OF_THE_PROGRAM = "(the program itself)"  # what a case is called that stands for how a program ended

running = set()  # processes of programs that have not ended


class Reading:
    """What a program has printed so far."""

    def __init__(self):
        self.cases, self.plan, self.skip_reason = [], None, None
        self.stderr, self.begin = "", time.monotonic()
        self.latest = ""  # of stderr: what was read in this turn, which a later case may have said

    def add_stderr(self, data):
        text = data.decode(errors="replace")
        self.stderr, self.latest = (self.stderr + text)[-20000:], (self.latest + text)[-20000:]

    def take_line(self, line):
        plan = PLAN.match(line)
        if plan:
            self.plan, self.skip_reason = int(plan.group(1)), plan.group(2)
            return
        case = LINE.match(line)
        if not case:
            return
        now = time.monotonic()
        if case.group(1).lower() != "ok":
            outcome, text, self.latest = "failed", self.stderr, ""
        elif case.group(3) is not None:
            outcome, text = "skipped", case.group(3)
        else:
            outcome, text = "passed", ""
        self.cases.append(Case(case.group(2), outcome, text, now - self.begin))
        self.stderr, self.begin = self.latest, now

    def close(self, share, code, is_late):
        """Ends the reading; CODE is the program's exit code, IS_LATE says that it was ended for its time. Returns its cases."""
        seconds = time.monotonic() - self.begin

        def own(outcome, text):
            self.cases.append(Case(OF_THE_PROGRAM, outcome, text, seconds))
        if is_late:
            own("failed", f"it took too long and was ended\n{self.stderr}")
        elif not share.program.is_tap:
            own("skipped" if code == 77 else "passed" if code == 0 else "failed", self.stderr)
        elif self.plan == 0 and self.skip_reason is not None:
            own("skipped", self.skip_reason)
        elif self.plan is None or self.plan != len(self.cases):
            planned = "it planned none" if self.plan is None else f"it planned {self.plan}"
            own("failed", f"it ended with {code} after {len(self.cases)} cases; {planned}\n{self.stderr}")
        elif code != 0 and all(case.outcome != "failed" for case in self.cases):
            own("failed", f"no case failed, but it ended with {code}\n{self.stderr}")
        return self.cases


def environment_of(share, base):
    """What SHARE is run with. BASE is the environment of all."""
    variables = dict(base, **share.program.environment)
    variables["LNS_TIER"] = share.tier
    for name, value in (("LNS_CASES", " ".join(share.cases)), ("LNS_CASES_LEFT_OUT", " ".join(share.excluded)),
                        ("LNS_SHARD", "%d/%d" % share.shard if share.shard[1] > 1 else "")):
        variables.pop(name, None)
        if value:
            variables[name] = value
    return variables


def end_group(process):
    """Ends what PROCESS left running in its process group, and itself."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def end_running():
    """Ends all programs that run now. For who was interrupted."""
    for process in list(running):
        end_group(process)


def read_waiting(pipe):
    """What waits in PIPE."""
    data = b""
    while select.select([pipe], [], [], 0)[0]:
        more = os.read(pipe.fileno(), 1 << 16)
        if not more:
            break
        data += more
    return data


def run(share, build, base, patience):
    """Runs SHARE in the folder BUILD; returns its cases. Whatever it started and left in its process group is ended."""
    reading = Reading()
    try:
        process = subprocess.Popen(share.program.command, cwd=build, env=environment_of(share, base), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        return [Case(OF_THE_PROGRAM, "failed", str(error), 0.0)]
    running.add(process)
    end = time.monotonic() + share.program.timeout_s * patience
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, "out")
        selector.register(process.stderr, selectors.EVENT_READ, "err")
        # Programs that it left behind may keep the pipes open: they are read until it has ended and nothing more comes.
        while selector.get_map() and time.monotonic() < end:
            ready = selector.select(0.2)
            if not ready and process.poll() is not None:
                break
            lines, reading.latest = [], ""
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data == "err":
                    reading.add_stderr(data)
                else:
                    *lines, rest = (rest + data).split(b"\n")
            # What a case says comes before the line with its outcome, but by another pipe.
            if lines:
                reading.add_stderr(read_waiting(process.stderr))
            for line in lines:
                reading.take_line(line.decode(errors="replace"))
    is_late = False
    try:
        code = process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        is_late, code = True, None
    end_group(process)
    running.discard(process)
    process.stdout.close()
    process.stderr.close()
    if rest:
        reading.take_line(rest.decode(errors="replace"))
    return reading.close(share, code, is_late)


def run_all(shares, n_parallel, run_one, when_done):
    """Calls RUN_ONE(share) for each of SHARES, N_PARALLEL at a time, in their order, and those that must be alone at the end;
    and WHEN_DONE(share, cases) for each in this thread."""
    for group, n_threads in (([share for share in shares if share.program.is_parallel], n_parallel),
                             ([share for share in shares if not share.program.is_parallel], 1)):
        waiting, done = queue.SimpleQueue(), queue.SimpleQueue()
        for share in group:
            waiting.put(share)

        def work(waiting=waiting, done=done):
            while True:
                try:
                    share = waiting.get_nowait()
                except queue.Empty:
                    return
                done.put((share, run_one(share)))
        for _ in range(n_threads):
            threading.Thread(target=work, daemon=True).start()
        for _ in group:
            when_done(*done.get())
