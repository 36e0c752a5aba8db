# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what CPU samples with call chains add to a program. ./run bench sample [STEPS]

The same work (sample-loop.c) runs in turn without, with samples by each method, with thread scheduling on top, and under
`perf record` if that is installed, in ROUNDS rounds, with 1, 2 and 4 threads, and with one whose stack is deep. What is compared is the processor time of a thread: the kernel counts the
interrupts of samples among it. The figures are medians, and ratios those of the same round. A sample takes the bytes that two
reports differ by of which one is longer: nodes of the tree, and what each report has, are in both."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import tap

ROUNDS = 7
DEEP_BYTES = 28000 # of the stack of a program that is deep in Python
LOOP = os.path.join(tap.BUILD, "tests/bench/sample-loop")


def commands(report):
    profile = [tap.LANESCOPE, "profile", "-t", "none", "-f", "true", "-o", report, "--sample=process-tree"]
    ways = {"base": []}
    for method in "fp", "dwarf", "auto":
        ways[method] = [*profile, "--cpuctxsw=none", "--backtrace=" + method]
    ways["auto_and_scheduling"] = profile
    if shutil.which("perf") is not None:
        for method in "fp", "dwarf":
            ways["perf_record_" + method] = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", method,
                                             "-o", report + ".perf"]
    return ways


def count(report):
    out = subprocess.run([tap.LANESCOPE, "sql", report, "SELECT count(*), (SELECT max(stackDepth) FROM SAMPLING_CALLCHAINS) FROM COMPOSITE_EVENTS"],
                         check=True, capture_output=True, text=True).stdout.split()
    if len(out) < 2 or int(out[1]) < 9:
        sys.exit(f"bench sample: there are no call chains of ten functions: {out}")
    return int(out[0])


def measure(work, steps, threads, stack):
    report = os.path.join(work, "sample.rep")
    times, samples = {}, []
    for _ in range(ROUNDS):
        for way, before in commands(report).items():
            out = subprocess.run([*before, LOOP, str(steps), str(threads), str(stack)], cwd=work, check=True, capture_output=True, text=True).stdout
            times.setdefault(way, []).append(float(out.split()[0]))
            if way in ("fp", "dwarf", "auto"):
                samples.append(count(report))
    result = {"samples": statistics.median(samples)}
    for way, kept in times.items():
        result[way + "_ms"] = round(statistics.median(kept), 1)
        if way != "base":
            result[way + "_percent"] = round(100 * (statistics.median(a / b for a, b in zip(kept, times["base"])) - 1), 2)
    return result


def bytes_a_sample(work, steps):
    """Pages of reports have 64 KiB, so these have many samples."""
    found = []
    for factor in (1, 8):
        report = os.path.join(work, f"{factor}.rep")
        subprocess.run([*commands(report)["auto"], "--sampling-frequency=10000", LOOP, str(steps * factor), "1"], cwd=work,
                       check=True, capture_output=True)
        found.append((count(report), os.path.getsize(report)))
    (few, small), (many, large) = found
    return round((large - small) / (many - few), 1)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    results = {"steps": steps}
    with tempfile.TemporaryDirectory() as work:
        for threads, stack in (1, 0), (2, 0), (4, 0), (1, DEEP_BYTES):
            key = f"threads_{threads}" + ("_deep" if stack > 0 else "")
            results[key] = measure(work, steps, threads, stack)
            print(key, results[key], flush=True)
        results["bytes_a_sample"] = bytes_a_sample(work, steps)
        print("bytes a sample:", results["bytes_a_sample"], flush=True)
    print(json.dumps(results))


main()
