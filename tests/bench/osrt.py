# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what `--trace=osrt` adds to a call that is too short to be recorded, and to a mutex that is free.
./run bench osrt [CALLS]

A loop of reads and of locks (osrt-loop.c) runs without and with lanescope in turn, in ROUNDS pairs, with 1 and 4
threads. The figures are medians. A call that is measured reads the clock twice, which no recorder of its length can do
without: clock_ns is what one reading costs here. Reads that take longer than --osrt-threshold, because something else ran, are in the
report; the bench fails if the locks are, or if the reads are not short."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import tap

ROUNDS = 9
LOOP = os.path.join(tap.BUILD, "tests/bench/osrt-loop")
COUNT = "SELECT value, count(*) FROM OSRT_API JOIN StringIds ON id = nameId GROUP BY value"


def measure(work, calls, threads):
    report = os.path.join(work, "osrt.rep")
    times = ([], [])
    for _ in range(ROUNDS):
        for kept, before in zip(times, ([], [tap.LANESCOPE, "profile", "-f", "true", "-t", "osrt", "-o", report])):
            out = subprocess.run(before + [LOOP, str(calls), str(threads)], cwd=work, check=True, capture_output=True, text=True).stdout
            kept.append([float(word) for word in out.split()])
        told = subprocess.run([tap.LANESCOPE, "sql", report, COUNT], check=True, capture_output=True, text=True).stdout.split()
        counts = dict(zip(told[::2], map(int, told[1::2])))
        if "pthread_join" not in counts or "pthread_mutex_lock" in counts or counts.get("read", 0) > calls * threads / 20:
            sys.exit(f"bench osrt: {counts}")
    base, ours = ([statistics.median(run[i] for run in kept) for i in (0, 1, 2)] for kept in times)
    return {"read_ns_base": base[0], "read_ns": ours[0], "mutex_ns_base": base[1], "mutex_ns": ours[1], "clock_ns": base[2],
            "read_adds_ns": round(statistics.median(b[0] - a[0] for a, b in zip(*times)), 2),
            "mutex_adds_ns": round(statistics.median(b[1] - a[1] for a, b in zip(*times)), 2)}


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 2000000
    results = {"calls": calls}
    with tempfile.TemporaryDirectory() as work:
        for threads in (1, 4):
            results[f"threads_{threads}"] = measure(work, calls, threads)
            print(threads, "threads:", results[f"threads_{threads}"], flush=True)
    print(json.dumps(results))


main()
