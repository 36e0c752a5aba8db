# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what tracing a Python function adds to its calls, and to calls of other functions, on each CPython found.
./run bench python [CALLS]

A loop of calls of an empty function runs without and with lanescope in turn, in ROUNDS pairs; a second loop calls a function
that is not traced, in the same process. The difference of a pair is one sample; the bench prints the least, the
median and the greatest. The report must hold every call."""

import json
import os
import subprocess
import sys
import tempfile

import tap

ROUNDS = 5
VERSIONS = ((3, 9), (3, 15))  # versions that can be traced
PROGRAM = """
import sys, time
import traced
def best(function, n):
    times = []
    for _ in range(5):
        start = time.perf_counter_ns()
        for _ in range(n // 5):
            function()
        times.append((time.perf_counter_ns() - start) / (n // 5))
    return min(times)
n = int(sys.argv[1])
print(best(traced.function, n), best(traced.other, n))
"""


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    results = {}
    with tempfile.TemporaryDirectory() as work:
        for name, text in (("program.py", PROGRAM), ("traced.py", "def function(): pass\ndef other(): pass\n"),
                           ("functions.json", json.dumps([{"module": "traced", "functions": ["function"]}]))):
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(text)
        for version, path in tap.pythons().items():
            if not VERSIONS[0] <= tuple(map(int, version.split("."))) <= VERSIONS[1]:
                continue
            bare, ours = [], []
            for _ in range(ROUNDS):
                command = [path, "program.py", str(calls)]
                for times, before in ((bare, []), (ours, [tap.LANESCOPE, "profile", "-f", "true", "-t", "nvtx", "-o", "bench",
                                                          "--python-functions-trace=functions.json"])):
                    out = subprocess.run(before + command, cwd=work, check=True, capture_output=True, text=True).stdout
                    times.append([float(word) for word in out.split()])
                kept = subprocess.run([tap.LANESCOPE, "sql", "bench.rep", "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"],
                                      cwd=work, check=True, capture_output=True, text=True).stdout.split()[0]
                if int(kept) != calls // 5 * 5:
                    sys.exit(f"bench python: CPython {version}: {calls} calls, {kept} in the report")
            added = [[ours[i][k] - bare[i][k] for i in range(ROUNDS)] for k in (0, 1)]
            results[version] = {"call_ns": tap.spread([times[0] for times in bare])[1],
                                "traced_adds_ns": tap.spread(added[0]), "other_adds_ns": tap.spread(added[1])}
            print(version, results[version], flush=True)
    print(json.dumps({"calls": calls, "cpython": results}))


main()
