# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests CUDA reports that other terminals begin and end, on the double. This shows nothing about a real GPU."""

import os
import signal
import subprocess

import tap
from profiling import children, wait_for
from terminals import Place

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
STEADY = os.path.join(tap.BUILD, "tests", "programs", "cuda-steady")


def steady(place):
    """Begins a session of the program."""
    if not os.path.exists(STEADY):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")
    launch = place.begin("launch", "-t", "cuda,nvtx", STEADY, "60000", place.file("step"), before=[WITH])
    place.ok("start", "-o", "first")
    wait_for(lambda: steps(place.report("first.rep"))[1], "kernels")
    place.ok("cancel")
    return launch


def step(place):
    """The number of the program's step."""
    with open(place.file("step"), "rb") as file:
        return int.from_bytes(file.read(), "little")


def wait_for_steps(place, n):
    """Until the program has made N more steps, which take a millisecond each and more."""
    first = step(place)
    wait_for(lambda: step(place) >= first + n, f"{n} steps")


def steps(report):
    """The numbers of the steps that REPORT has, and of those whose kernels it has."""
    ranges = {int(event["name"].split()[1]) for event in report.events if event["name"].startswith("step ")}
    grids = {launch["launch"]: launch["grid"][0] for launch in report.launches}
    return ranges, {grids[event["launch"]] - 1 for event in report.of("cuda-kernel")}


def check_edges(ranges, kernels):
    """Ranges and kernels are recorded by threads of their own, which begin and end a moment apart; between,
    each step has both."""
    common = ranges & kernels
    assert len(common) > 10, (ranges, kernels)
    middle = set(range(min(common), max(common) + 1))
    assert middle <= ranges and middle <= kernels, (middle - ranges, middle - kernels)


def end(place, launch):
    os.kill(children(launch.pid)[0], signal.SIGTERM)
    assert place.end(launch)[0] == -signal.SIGTERM


def test_reports_hold_the_kernels_of_their_time():
    with Place() as place:
        launch = steady(place)
        before = set()
        for number in (1, 2):
            place.ok("start")
            wait_for_steps(place, 100)
            place.ok("stop")
            report = place.report(f"report{number}.rep")
            ranges, kernels = steps(report)
            check_edges(ranges, kernels)
            assert report.info["lost"] == 0 and not report.codes() and report.devices, report.codes()
            assert not before & (kernels | ranges)
            before |= kernels | ranges
        end(place, launch)


def test_keep_holds_the_last_kernels():
    with Place() as place:
        launch = steady(place)
        place.ok("start", "--keep=0.4", "-o", "k")
        first = step(place)
        wait_for_steps(place, 1000)
        place.ok("stop")
        report = place.report("k.rep")
        ranges, kernels = steps(report)
        check_edges(ranges, kernels)
        assert not report.codes() and report.devices and report.contexts, report.codes()
        assert min(ranges | kernels) > first, (first, min(ranges | kernels))
        end(place, launch)


def test_a_stop_cuts_to_the_last_kernels():
    with Place() as place:
        launch = steady(place)
        place.ok("start", "-o", "k")
        first = step(place)
        wait_for_steps(place, 1000)
        place.ok("stop", "--keep=0.4")
        report = place.report("k.rep")
        ranges, kernels = steps(report)
        check_edges(ranges, kernels)
        assert min(ranges | kernels) > first and len(ranges) < 1000, (first, min(ranges), min(kernels), len(ranges))
        assert report.codes() == ["LNS-KEEP-002"] and report.devices and report.contexts, report.codes()
        end(place, launch)


def test_start_after_launch_looks_for_ranges():
    with Place() as place:
        launch = steady(place)
        for number in (1, 2):
            place.ok("start", "-c", "cudaProfilerApi", "--capture-range-end=repeat:2", "-o", f"r{number}")
            wait_for(lambda: [s["reports"] for s in place.sessions()] == [2 * number], "both reports")
            wait_for(lambda: [s["state"] for s in place.sessions()] == ["Launched"], "the end of the second range")
            firsts = []
            for part in (1, 2):
                ranges, kernels = steps(place.report(f"r{number}.{part}.rep"))
                firsts.append(min(ranges))
                assert ranges == kernels == set(range(firsts[-1], firsts[-1] + 10)), (ranges, kernels)
            assert firsts[0] % 50 == 0 and firsts[1] == firsts[0] + 50, firsts
        # The program goes on as one that nothing is asked of.
        place.ok("start", "-o", "all")
        wait_for(lambda: len(steps(place.report("all.rep"))[1]) > 60, "kernels")
        place.ok("stop")
        check_edges(*steps(place.report("all.rep")))
        end(place, launch)


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_signals_that_come_while_a_report_is_written_are_forwarded():
    """The report waits for a program that was stopped to hand over what CUPTI holds; it goes on by what it is sent."""
    with Place() as place:
        place.environment["LNS_TEST_PATIENCE"] = "1"  # this patience is what is waited for
        launch = steady(place)
        target, = children(launch.pid)
        place.ok("start", "-o", "r")
        wait_for(lambda: steps(place.report("r.rep"))[1], "kernels")
        os.kill(target, signal.SIGSTOP)
        wait_for(lambda: state_of(target) == "T", "the program to stop")
        stop = subprocess.Popen([tap.LANESCOPE, "stop"], env=place.environment, cwd=place.path, stderr=subprocess.PIPE)
        wait_for(lambda: [s["state"] for s in place.sessions()] == ["Generation"], "the report to be written")
        os.kill(launch.pid, signal.SIGCONT)
        _, err = stop.communicate(timeout=60)
        assert stop.returncode == 0 and b"r.rep" in err, err
        wait_for(lambda: state_of(target) != "T", "the program to go on")
        end(place, launch)


tap.main(globals(), gate=(test_reports_hold_the_kernels_of_their_time,))
