# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what an NVTX range costs the calling thread: without a tool, with the floor (the least that any
recorder must do), and recorded by `lanescope profile`, which writes a report meanwhile. The best of nine runs of each,
run in turn, so that noise of the machine affects all of them. Fails unless every pair is in the report or counted as lost.
"""

import json
import os
import subprocess
import sys
import tempfile

import tap

LOOP = os.path.join(tap.BUILD, "tests", "bench", "nvtx-loop")
FLOOR = os.path.join(tap.BUILD, "tests", "bench", "liblanescope-floor.so")
RUNS = 9


def plain(arguments, injection):
    """The ns per pair of one run without Lanescope; INJECTION is the path of a library, or None."""
    environment = {k: v for k, v in os.environ.items() if k != "NVTX_INJECTION64_PATH"}
    if injection:
        environment["NVTX_INJECTION64_PATH"] = injection
    output = subprocess.run([LOOP] + arguments, env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["pair_ns"]


def profiled(arguments, report):
    """(ns per pair, lost pairs) of one run under `lanescope profile`."""
    if os.path.exists(report):
        os.remove(report)
    run = subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", "-o", report, LOOP] + arguments,
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"bench nvtx: the profiled run failed: {run.stderr}")
    result = json.loads(run.stdout.splitlines()[-1])
    info = subprocess.run([tap.LANESCOPE, "info", report], check=True, capture_output=True, text=True).stdout
    numbers = dict(line.split(": ", 1) for line in info.splitlines() if line.startswith(("events: ", "lost: ")))
    events, lost = (int(numbers[key].replace(",", "")) for key in ("events", "lost"))
    if events + lost != result["pairs"]:
        sys.exit(f"bench nvtx: {result['pairs']} pairs were made, the report holds {events} and tells of {lost} lost")
    return result["pair_ns"], lost


def main():
    figures = {"none": [], "floor": [], "ours": [], "floor_registered": [], "ours_registered": [],
               "floor_two": [], "ours_two": []}
    lost = 0
    # Short rounds, so that some are undisturbed, with pauses in which they are drained.
    one = ["--rounds", "20", "--pairs", "100000", "--pause-ms", "50"]
    with tempfile.TemporaryDirectory() as work:
        report = os.path.join(work, "bench.rep")
        for number in range(RUNS):
            figures["none"].append(plain(one, None))
            for suffix, arguments in [("", one), ("_registered", one + ["--registered"]), ("_two", one + ["--threads", "2"])]:
                figures["floor" + suffix].append(plain(arguments, FLOOR))
                pair, dropped = profiled(arguments, report)
                figures["ours" + suffix].append(pair)
                lost += dropped
            print(f"run {number + 1}: " + ", ".join(f"{name} {values[-1]:.1f}" for name, values in figures.items()) + " ns")
    best = {name: min(values) for name, values in figures.items()}
    print(json.dumps({
        "floor_ns": best["floor"],
        "none_ns": best["none"],
        "pair_ns": best["ours"],
        "ratio": round(best["ours"] / best["floor"], 3),
        "registered_ratio": round(best["ours_registered"] / best["floor_registered"], 3),
        "two_threads_ratio": round(best["ours_two"] / best["floor_two"], 3),
        "dropped": lost,
    }))


main()
