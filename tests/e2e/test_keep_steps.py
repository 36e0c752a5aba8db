# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--keep-steps: of a program whose steps are mostly alike, the report has each slow one whole and counts the others, and everything
that reads it says so."""

import json
import os
import re
import signal

import profiling
import subprocess
import tap

STEPS = os.path.join(tap.BUILD, "tests", "programs", "slow-steps")
NVTX = ("-t", "nvtx", "-s", "none", "--cpuctxsw=none", "--why=false")
# Steps, microseconds between them, ranges in each; which ones stall, and for how many milliseconds: far longer than what a busy
# machine does to others.
RUN = (1000, 500, 20, 200, 400)
STALLS = {f"stall {number}" for number in range(100, 1000, 200)}


def lanescope(*arguments):
    return subprocess.run([tap.LANESCOPE, *arguments], capture_output=True, text=True)


def said(report):
    """(kept, all, slow) of the diagnostic."""
    text = next(d["text"] for d in report.diagnostics if d["code"] == "LNS-KEEP-004")
    n, slow, kept = (int(n) for n in re.fullmatch(
        r"of (\d+) steps “step”, (\d+) of them slow, the report keeps (\d+), and counts the rest", text).groups())
    return kept, n, slow


def check(report, folder):
    """Checks that REPORT has all of the steps that it says that it keeps, and each that stalled."""
    kept, n, slow = said(report)
    steps = report.named("step")
    inner = [event for event in report.events if event["name"] in ("load", "forward", "backward", "update")]
    assert n == RUN[0] and len(STALLS) <= slow <= kept == len(steps) < n, (kept, n, slow, len(steps))
    assert {event["name"] for event in report.events if event["name"].startswith("stall ")} == STALLS
    assert len(inner) == RUN[2] * kept, (len(inner), kept)
    info = lanescope("info", folder.file("r.rep")).stdout
    assert f"\n  {kept} of {n} × step, {slow} slow; of all, median " in info, info
    assert re.search(r"^  not kept: [\d.]+ m?s in \d+ stretches, " + str((n - kept) * (RUN[2] + 1)) + " events$", info, re.M), info


def test_each_slow_step_is_whole_and_the_rest_is_counted():
    with profiling.Folder() as folder:
        run = folder.profile(*NVTX, "-o", "r", "--steps=step", "--keep-steps=duration > 100ms", STEPS, *RUN)
        assert run.code == 0 and run.out == f"{len(STALLS)}\n" and "[LNS-KEEP-004]" in run.err, run
        check(folder.report("r.rep"), folder)


def test_steps_are_found_and_judged_by_those_before():
    with profiling.Folder() as folder:
        run = folder.profile(*NVTX, "-o", "r", "--keep-steps=duration > 2 * p95", STEPS, *RUN)
        assert run.code == 0, run
        check(folder.report("r.rep"), folder)


def test_what_reads_it_says_that_it_is_not_all():
    with profiling.Folder() as folder:
        path = folder.file("r.rep")
        assert folder.profile(*NVTX, "-o", "r", "--keep-steps=duration > 100ms", STEPS, *RUN).code == 0
        kept, n, _ = said(folder.report("r.rep"))
        stats = lanescope("stats", "-r", "nvtx_sum", path)
        assert stats.returncode == 0 and f"note: {path} keeps " in stats.stderr, stats
        diff = lanescope("diff", path, path)
        assert diff.returncode == 125 and "keeps only a part of its run and cannot be compared" in diff.stderr, diff
        why = json.loads(lanescope("why", "--format=json", path).stdout)
        assert why["steps"]["count"] == kept and why["steps"]["counted"] == n, why["steps"]
        # Those that stalled are slow, though most of the report may be slow steps; and nobody is accused of what is not there.
        assert why["findings"][0]["cause"] in ("slow-step", "cpu-work"), why["findings"]
        assert any(finding["cause"] == "slow-step" for finding in why["findings"]), why["findings"]
        assert " waited 0 %" not in why["verdict"], "whether it waited was not recorded: " + why["verdict"]
        thread = why["threads"][0]
        causes = {cause["cause"]: cause["ns"] for cause in thread["causes"]}
        assert thread["omitted_ns"] > 0 and causes["not-recorded"] >= thread["omitted_ns"], thread
        assert all(finding["cause"] != "not-recorded" for finding in why["findings"]), why["findings"]


def test_each_process_has_steps_of_its_own():
    with profiling.Folder() as folder:
        both = f"{STEPS} 1000 500 20 200 400 & {STEPS} 800 500 20 300 300; wait"
        run = folder.profile(*NVTX, "-o", "r", "--keep-steps=duration > 100ms", "sh", "-c", both)
        counted = re.findall(r"^  \d+ of (\d+) × step, ", lanescope("info", folder.file("r.rep")).stdout, re.M)
        stalls = [event["name"] for event in folder.report("r.rep").events if event["name"].startswith("stall ")]
        assert run.code == 0 and sorted(counted) == ["1000", "800"], (run, counted)
        assert sorted(stalls) == sorted([*STALLS, "stall 150", "stall 450", "stall 750"]), stalls


def test_seconds_around_slow_steps_are_kept():
    with profiling.Folder() as folder:
        run = folder.profile(*NVTX, "-o", "r", "--steps=step", "--keep-steps=duration > 100ms", "--keep=0.2", STEPS, *RUN)
        report = folder.report("r.rep")
        kept, n, slow = said(report)
        steps = sorted(report.named("step"), key=lambda event: event["start"])
        assert run.code == 0 and slow >= len(STALLS) and len(steps) > kept, (run, kept, n, slow, len(steps))
        for stall in (event for event in report.events if event["name"] in STALLS - {"stall 100"}):
            start = max(step["start"] for step in steps if step["start"] <= stall["start"])
            before = [step for step in steps if start - 100_000_000 < step["start"] + step["duration"] and step["start"] < start]
            # Without a hole of more than what a busy machine needs between two steps.
            assert len(before) > 1 and before[0]["start"] < start - 50_000_000, (stall, len(before))


SESSION = f"keep-{os.getpid()}"


def check_kept_around(ask, asked_for):
    """ASK gets Lanescope's process, and has it keep half a second around now."""
    with profiling.Folder() as folder:
        running = folder.start(*NVTX, "-o", "r", "--session-new=" + SESSION, "--keep=0.5s", "--keep-on=" + asked_for, STEPS, 6000, *RUN[1:])
        pid = profiling.wait_for(lambda: profiling.children(running.pid), "the program")[0]
        profiling.wait_for(lambda: os.path.exists(f"/proc/{pid}/exe") and os.readlink(f"/proc/{pid}/exe") == STEPS, "its code")
        profiling.wait_for(lambda: cpu_ticks(pid) > 5, "its work")
        ask(running)
        out, err = running.communicate()
        report = folder.report("r.rep")
        # The program did not get the signal, which would have ended it.
        assert running.returncode == 0 and b"[LNS-KEEP-006]" in err, (running.returncode, out, err)
        assert report.codes() == ["LNS-KEEP-006"], report.diagnostics
        assert report.diagnostics[0]["text"].startswith("1 signal or command asked "), report.diagnostics
        steps = sorted(report.named("step"), key=lambda event: event["start"])
        assert 10 < len(steps) < 5000 and steps[-1]["start"] - steps[0]["start"] < 1_500_000_000, len(steps)
        # What is left out before the first event counts, too.
        info = lanescope("info", folder.file("r.rep")).stdout
        whole, left_out = (float(re.search(f"{words}: ([\\d.]+) s", info).group(1)) for words in ("duration", "not kept"))
        assert 0.3 < whole - left_out < 0.7, info


def test_a_signal_keeps_the_time_around_it():
    check_kept_around(lambda running: os.kill(running.pid, signal.SIGUSR2), "sigusr2")


def test_a_command_keeps_the_time_around_it():
    def ask(running):
        done = lanescope("keep", "--session=" + SESSION)
        assert done.returncode == 0 and "keeps 0.25 seconds before now and 0.25 after it" in done.stderr, done
    check_kept_around(ask, "command")


def test_a_command_is_refused_where_all_is_kept():
    with profiling.Folder() as folder:
        running = folder.start(*NVTX, "-o", "r", "--session-new=" + SESSION, STEPS, 6000, *RUN[1:])
        pid = profiling.wait_for(lambda: profiling.children(running.pid), "the program")[0]
        profiling.wait_for(lambda: os.path.exists(f"/proc/{pid}/exe") and os.readlink(f"/proc/{pid}/exe") == STEPS, "its code")
        done = lanescope("keep", "--session=" + SESSION)
        running.terminate()
        running.communicate()
        assert done.returncode == 125 and "keeps all; begin it with --keep=SECONDS and --keep-on=command" in done.stderr, done


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_names_and_conditions_are_checked():
    with profiling.Folder() as folder:
        for switches, words in ((["--keep-steps=duration > p0"], "cannot read “duration > p0”; use duration > p95, "),
                                (["--keep-steps=duration > 20"], "cannot read “duration > 20”"),
                                (["--keep-steps=duration > p95 and more"], "cannot read"),
                                (["--keep-steps=name = x"], "cannot read"),
                                (["--steps=step"], "--steps names the range of --keep-steps, which is missing"),
                                (["--keep-steps=duration > p95", "--steps=@x"], "--steps: “@x” does not name a range"),
                                (["--keep-on=sigusr1"], "--keep-on needs --keep=SECONDS"),
                                (["--keep=1", "--keep-on=sigusr1", "-c", "nvtx", "-p", "x"], "--capture-range and --keep-on both"),
                                (["--keep-steps=duration > p95", "-c", "nvtx", "-p", "x"], "--capture-range and --keep-steps both")):
            run = folder.profile(*NVTX, *switches, "true")
            assert run.code == 125 and words in run.err, run
        run = folder.profile(*NVTX, "-o", "none", "--keep=1", "--keep-on=sigusr2", STEPS, *RUN[:4], 1)
        assert run.code == 0 and "no signal or command came for --keep-on, and the report keeps nothing [LNS-KEEP-006]" in run.err, run
        assert "LNS-DOCTOR" not in run.err, run
        run = folder.profile(*NVTX, "-o", "r", "--keep-steps=duration>1.5*p99.5", "--steps=nothing", STEPS, *RUN[:4], 1)
        report = folder.report("r.rep")
        assert run.code == 0 and report.codes() == ["LNS-KEEP-003"] and not report.events, (run, report.codes())


tap.main(globals(), gate=(test_each_slow_step_is_whole_and_the_rest_is_counted, test_what_reads_it_says_that_it_is_not_all,
                          test_names_and_conditions_are_checked))
