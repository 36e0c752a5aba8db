# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests capture ranges that NVTX ranges begin and end."""

import itertools
import os
import re
import select
import shlex
import signal
import subprocess

import profiling
import tap
from profiling import ACT

STARTED = "Capture range started in the application.\n"
ENDED = "Capture range ended in the application.\n"

# Three times: outside, then within the range "step" of domain "train", then outside again.
ROUND = ["push", "before", "pop", "domain", "train", "push", "step", "push", "inner", "pop", "pop",
         "domain", "", "push", "after", "pop"]
ROUNDS = ROUND * 3


def profile(folder, *arguments, range_="step@train", words=ROUNDS):
    return folder.profile("-t", "nvtx", "-c", "nvtx", "-p", range_, "-o", "run", *arguments, ACT, *words)


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def names(folder, name):
    return dict(folder.report(name).names())


def test_one_range():
    with profiling.Folder() as folder:
        run = profile(folder, "--capture-range-end=stop")
        assert run.code == 0 and run.err.count(STARTED) == run.err.count(ENDED) == 1, run.err
        assert names(folder, "run.rep") == {"step": 1, "inner": 1}
        assert run.err.index(STARTED) < run.err.index(ENDED) < run.err.index(f"Generating '{folder.file('run.rep')}'\n") < run.err.index("Generated:")


def test_plain_strings_match_by_domain():
    with profiling.Folder() as folder:
        for range_, expected in (("inner@*", {"inner": 1}), ("before", {"before": 1}), ("inner@train", {"inner": 1})):
            profile(folder, "-f", "true", "--capture-range-end=stop", range_=range_)
            assert names(folder, "run.rep") == expected, range_


def test_each_range_has_a_report():
    with profiling.Folder() as folder:
        run = profile(folder, "--capture-range-end=repeat")
        assert run.code == 0 and run.err.count(STARTED) == run.err.count(ENDED) == run.err.count("Generating '") == 3, run.err
        for number in (1, 2, 3):
            assert names(folder, f"run.{number}.rep") == {"step": 1, "inner": 1}
        assert sorted(os.listdir(folder.path)) == ["run.1.rep", "run.2.rep", "run.3.rep"]


def test_ranges_beyond_the_count_are_not_recorded():
    with profiling.Folder() as folder:
        profile(folder, "--capture-range-end=repeat:2")
        assert sorted(os.listdir(folder.path)) == ["run.1.rep", "run.2.rep"]


def test_reports_of_ranges_replace_others_where_that_is_asked_for():
    with profiling.Folder() as folder:
        with open(folder.file("run.2.rep"), "w", encoding="ascii") as file:
            file.write("mine")
        profile(folder, "--capture-range-end=repeat")
        with open(folder.file("run.2.rep"), encoding="ascii") as file:
            assert file.read() == "mine"
        assert sorted(os.listdir(folder.path)) == [f"run.{n}.rep" for n in (1, 2, 3, 4)]
        os.remove(folder.file("run.4.rep"))
        for _ in range(2):
            profile(folder, "-f", "true", "--capture-range-end=repeat")
            assert sorted(os.listdir(folder.path)) == [f"run.{n}.rep" for n in (1, 2, 3)]
            assert names(folder, "run.2.rep") == {"step": 1, "inner": 1}


def test_the_end_may_be_ignored():
    with profiling.Folder() as folder:
        profile(folder, "--capture-range-end=none")
        assert names(folder, "run.rep") == {"step": 3, "inner": 3, "after": 3, "before": 2}


def test_shutdown_ends_the_program():
    words = ROUND + ["sleep", "20000"]
    with profiling.Folder() as folder:
        run = profile(folder, words=words)  # stop-shutdown is the default, SIGTERM too
        assert run.code == 128 + 15 and names(folder, "run.rep") == {"step": 1, "inner": 1}, run
        run = profile(folder, "-f", "true", "--capture-range-end=repeat-shutdown:1", "--kill=9", words=words)
        assert run.code == 128 + 9 and names(folder, "run.1.rep") == {"step": 1, "inner": 1}, run
        run = profile(folder, "-f", "true", "--stop-on-range-end=true", "--kill=none", words=ROUNDS)
        assert run.code == 0 and names(folder, "run.rep") == {"step": 1, "inner": 1}, run


def test_a_range_that_is_open_at_the_end():
    with profiling.Folder() as folder:
        run = profile(folder, range_="step", words=["push", "step", "push", "inner", "pop"])
        assert run.code == 0 and ENDED not in run.err, run.err
        report = folder.report("run.rep")
        step, = report.named("step")
        assert report.processes[0]["exit"] == 0, report.processes
        assert report.info["state"] == profiling.COMPLETE and step["flags"] & profiling.END_UNKNOWN, step


def test_a_range_for_a_duration():
    with profiling.Folder() as folder:
        run = profile(folder, "-d", "0.5", range_="step", words=["push", "step", "sleep", "20000"])
        assert run.code == 128 + 15 and STARTED in run.err, run
        assert names(folder, "run.rep") == {"step": 1}


def test_a_range_that_never_came():
    with profiling.Folder() as folder:
        for arguments in ((), ("--capture-range-end=repeat",)):
            run = profile(folder, *arguments, range_="nothing")
            assert run.code == 0 and not os.listdir(folder.path), run
            assert len(re.findall(r"no report: .*\[LNS-RANGE-001\]", run.err)) == 1 and STARTED not in run.err, run.err


def test_a_range_of_a_process_that_is_not_answered():
    """Stopped, lanescope cannot answer the program's first call in time, nor hear of the range that it begins."""
    with profiling.Folder() as folder:
        tool = folder.start("-t", "nvtx", "-c", "nvtx", "-p", "a", "-o", "run", ACT, "catch", str(int(signal.SIGUSR1)), "print", "ready",
                            "pause", "exec", "push", "a", "touch", "pushed", "exit", "3",
                            env={**os.environ, "LNS_TEST_PATIENCE": "1"})  # its patience is what is waited for
        assert tool.stdout.readline() == b"ready\n"
        target, = profiling.children(tool.pid)
        os.kill(tool.pid, signal.SIGSTOP)
        os.kill(target, signal.SIGUSR1)
        profiling.wait_for(lambda: os.path.exists(folder.file("pushed")), "the program to give up")
        os.kill(tool.pid, signal.SIGCONT)
        err = tool.communicate(timeout=60)[1].decode()
        assert tool.returncode == 3 and not os.path.exists(folder.file("run.rep")), err
        assert "LNS-POOL-003" in err and "did not begin in any recorded process [LNS-RANGE-001]" in err and "did not make that call" not in err, err


def test_ends_of_ranges_that_lanescope_hears_late():
    """While lanescope is stopped, the program tells of more ranges than its socket has room for."""
    with profiling.Folder() as folder:
        n = 200
        tool = folder.start("-t", "nvtx", "-c", "nvtx", "-p", "a", "--capture-range-end=repeat", "-o", "run", ACT, "catch", str(int(signal.SIGUSR1)),
                            "mark", "outside", "print", "ready", "pause", *["push", "a", "pop"] * n, "touch", "made", "await", stdin=subprocess.PIPE)
        assert tool.stdout.readline() == b"ready\n"
        target, = profiling.children(tool.pid)
        os.kill(tool.pid, signal.SIGSTOP)
        os.kill(target, signal.SIGUSR1)
        profiling.wait_for(lambda: os.path.exists(folder.file("made")), "the program's ranges")
        os.kill(tool.pid, signal.SIGCONT)
        profiling.wait_for(lambda: os.path.exists(folder.file(f"run.{n}.rep")) and
                           folder.report(f"run.{n}.rep").info["state"] == profiling.COMPLETE, "the last report")
        err = tool.communicate(b"\n", timeout=60)[1].decode()
        assert tool.returncode == 0 and err.count(STARTED) == err.count(ENDED) == n, err
        assert all(names(folder, f"run.{i}.rep") == {"a": 1} for i in (1, n // 2, n)), os.listdir(folder.path)


def test_each_range_is_examined_before_its_report_is_moved():
    """While the next range is to be recorded, and that the report lacks something is remembered until the end."""
    words = ["push", "a", "pop", "await"]
    with profiling.Folder() as folder:
        tool = folder.start("-t", "nvtx,mpi", "-c", "nvtx", "-p", "a", "--capture-range-end=repeat", "--strict", "-o", "run",
                            '--after-report-ready=mv "$LANESCOPE_REPORT_PATH" moved', ACT, *words, *words, stdin=subprocess.PIPE)
        profiling.wait_for(lambda: os.path.exists(folder.file("moved")), "the report to be moved")
        err = tool.communicate(b"\n\n", timeout=60)[1].decode()
        assert tool.returncode == 124 and err.count(ENDED) == 2 and err.count("[LNS-DOCTOR-010]") == 1, err
        assert err.index("[LNS-DOCTOR-010]") < err.rindex(STARTED) and os.listdir(folder.path) == ["moved"], err


def test_statistics_of_a_range_that_the_kernel_kills():
    """As it does where memory is short. They are of another process, so that the recording goes on."""
    with profiling.Folder() as folder:
        tool = folder.start("-t", "nvtx", "-c", "nvtx", "-p", "a", "--capture-range-end=repeat", "--stats=true", "-o", "run", ACT,
                            "push", "a", "distinct", "3000", "pop", "await", "push", "a", "pop", stdin=subprocess.PIPE)
        # Nobody reads the table, which no pipe holds as a whole.
        summing, = profiling.wait_for(lambda: [pid for pid in profiling.children(tool.pid) if b"finish-report" in command_line(pid)], "the statistics")
        profiling.wait_for(lambda: select.select([tool.stdout], [], [], 0)[0], "the table")
        os.kill(summing, signal.SIGKILL)
        err = tool.communicate(b"\n", timeout=60)[1].decode()
        assert tool.returncode == 125 and err.count("lanescope: error: ") == 1 and "statistics of " in err, err
        assert err.count("Generated:") == 2 and names(folder, "run.2.rep") == {"a": 1}, err


def test_ranges_of_two_processes_overlap():
    """The range of one process begins while that is recorded for another's range, and goes on when that has ended. (It is
    recorded a moment after that began: the pauses are for that, and nothing that is asserted depends on them.)"""
    for n, (begin, end) in itertools.product((0, 1), (("push", "pop"), ("start", "end"))):
        # With 1 both have joined before the first range.
        first = ["mark", "outside", "gather", str(n), "push", "a", "touch", "1", "gather", str(n + 2), "pop", "touch", "3", "gather", str(n + 4)]
        second = [*["mark", "outside", "touch", "0"] * n, "gather", str(n + 1), "sleep", "200", begin, "a", "touch", "2", "gather", str(n + 3),
                  "sleep", "200", "mark", "alone", end, "touch", "4"]
        with profiling.Folder() as folder, profiling.Folder() as turns:
            run = folder.profile("-t", "nvtx", "-c", "nvtx", "-p", "a", "--capture-range-end=repeat", "-o", "run", "sh", "-c",
                                 f'cd {turns.path}; "$0" {" ".join(shlex.quote(w) for w in second)} & "$0" "$@"; wait', ACT, *first)
            assert run.code == 0 and run.err.count(STARTED) == run.err.count(ENDED) == 1, run.err
            found = names(folder, "run.1.rep")
            assert found == {"a": 2, "alone": 1}, found


def test_switches_that_do_not_fit():
    with profiling.Folder() as folder:
        for arguments, text in (
                (["-c", "nvtx"], "--capture-range=nvtx needs --nvtx-capture=RANGE[@DOMAIN]"),
                (["-c", "hotkey"], "--capture-range: “hotkey” is about graphics"),
                (["-c", "nvtx", "-p", "@train"], "--nvtx-capture: “@train” does not name a range"),
                (["-c", "nvtx", "-p", "x" * 300], "--nvtx-capture: names may have at most 255 bytes"),
                (["-c", "cudaProfilerApi", "--delay=1"], "--delay and --capture-range both say"),
                (["-c", "cudaProfilerApi", "--capture-range-end=repeat-shutdown"], "--capture-range-end: “repeat-shut"),
                (["-c", "cudaProfilerApi", "--capture-range-end=stop:3"], "--capture-range-end: “stop:3”"),
                (["-c", "cudaProfilerApi", "--capture-range-end=repeat:0"], "--capture-range-end: “repeat:0”")):
            run = folder.profile(*arguments, "true")
            assert run.code == 125 and text in run.err, (arguments, run.err)
        for end in ("repeat:3:sync", "repeat:defer", "repeat-shutdown:2:async", "none", "stop"):
            run = folder.profile("-t", "none", "-c", "cudaProfilerApi", f"--capture-range-end={end}", "true")
            assert run.code == 0, (end, run.err)
            assert run.err.count("--capture-range-end: ") == (end.endswith(("sync", "defer")) and "async" not in end), (end, run.err)


tap.main(globals(), gate=(test_one_range, test_each_range_has_a_report))
