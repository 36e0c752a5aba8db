# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures --keep-steps: a program of which one step in a thousand is slow is recorded whole, and then with each condition. Prints for
each run the bytes of the report, how many of the steps it keeps, how many are slow by the condition, and how many of those that
stalled are in it. With a condition that noise does not meet, at most 1 % of the bytes may be kept; each step that stalled must be. A twentieth of all
steps are longer than p95, whatever the program does.
./run bench keep-steps [RUNS [STEPS [PACE-US [RANGES [STALL-MS]]]]]
"""

import json
import os
import subprocess
import sys
import tempfile

import tap

STEPS = os.path.join(tap.BUILD, "tests", "programs", "slow-steps")
CONDITIONS = (None, "duration > p95", "duration > 2 * p95", "duration > 200ms")
EVERY = 1000


def sql(report, text):
    run = subprocess.run([tap.LANESCOPE, "sql", report, text], check=True, capture_output=True, text=True)
    return run.stdout.strip()


def record(folder, condition, words):
    report = os.path.join(folder, "r.rep")
    keep = [] if condition is None else [f"--keep-steps={condition}"]
    run = subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "--why=false", "--buffer-size=512M", "-f", "true", "-o", report,
                          *keep, STEPS, *words], check=True, capture_output=True, text=True)
    lost = run.stderr.strip().splitlines()[-1]
    steps = sql(report, "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'step'")
    stalls = sql(report, "SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE 'stall %'")
    info = subprocess.run([tap.LANESCOPE, "info", report], check=True, capture_output=True, text=True).stdout
    told = [line.strip() for line in info.splitlines() if " × step, " in line]
    return os.stat(report).st_size, steps, stalls, run.stdout.strip(), lost, told


def main():
    given = sys.argv[1:] + ["5", "30000", "1000", "1000", "300"][len(sys.argv) - 1:]
    runs, n, pace, ranges, stall = (int(word) for word in given)
    good, figures = True, {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            whole = 0
            for condition in CONDITIONS:
                size, steps, stalls, made, lost, told = record(folder, condition, [str(word) for word in (n, pace, ranges, EVERY, stall)])
                whole = whole or size
                print(f"run {number}: {condition or 'all'}: {size} bytes, {100 * size / whole:.2f} %; {steps} of {n} steps, "
                      f"{stalls} of {made} that stalled; {lost}; {' '.join(told)}", flush=True)
                figures.setdefault(condition or "all", []).append([size, int(steps), int(stalls)])
                good &= stalls == made and (condition != CONDITIONS[-1] or size * 100 <= whole)
    print(json.dumps({"steps": n, "bytes_steps_stalls": figures}))
    return 0 if good else "bench keep-steps: a step that stalled is missing, or too much was kept"


sys.exit(main())
