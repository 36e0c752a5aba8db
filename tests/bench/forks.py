# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What recording costs a program that forks many children, each of which uses NVTX: in C (a mark) and in Python (ten ranges
of the nvtx package). ./run bench forks [FORKS]

Both run without and with lanescope in turn, in ROUNDS pairs. The median fork of each run, from fork() to the end of
waitpid(), is taken: least, median and greatest of these are printed, and the ratio of the medians. The report must hold every event."""

import json
import os
import subprocess
import sys
import tempfile

import tap

ROUNDS = 9
PYTHON = os.path.join(tap.SOURCE, ".deps", "nvtx", "venv", "bin", "python3")
PROGRAM = """
import os, statistics, sys, time
import nvtx
times = []
with nvtx.annotate("parent"):
    pass
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        for _ in range(10):
            with nvtx.annotate("child"):
                pass
        os._exit(0)
    os.waitpid(pid, 0)
    times.append(time.perf_counter() - start)
print(statistics.median(times) * 1e6)
"""


def measure(name, work, command, n_events):
    report = os.path.join(work, f"{name}.rep")
    bare, ours = [], []
    for _ in range(ROUNDS):
        for times, before in ((bare, []), (ours, [tap.LANESCOPE, "profile", "-f", "true", "-t", "nvtx", "-o", report])):
            times.append(float(subprocess.run(before + command, cwd=work, check=True, capture_output=True, text=True).stdout.split()[0]))
        kept = subprocess.run([tap.LANESCOPE, "sql", report, "SELECT count(*) FROM NVTX_EVENTS"], check=True,
                              capture_output=True, text=True).stdout.split()[0]
        if int(kept) != n_events:
            sys.exit(f"bench forks: {name}: {n_events} events, {kept} in the report")
    bare, ours = tap.spread(bare), tap.spread(ours)
    result = {"bare_us": bare, "recorded_us": ours, "ratio": round(ours[1] / bare[1], 2)}
    print(name, result, flush=True)
    return result


def main():
    forks = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "forks.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        loop = os.path.join(tap.BUILD, "tests", "bench", "forks-loop")
        results = {"c": measure("c", work, [loop, str(forks)], forks + 1)}
        if os.path.exists(PYTHON):
            results["python"] = measure("python", work, [PYTHON, program, str(forks)], 10 * forks + 1)
    print(json.dumps({"forks": forks, **results}))


main()
