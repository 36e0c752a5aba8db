# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What tracing a Python function costs a call, and the functions beside it, on each CPython that is here.
./run bench python [CALLS]

A loop of calls of an empty function runs with and without lanescope, three times each in turn; a second loop calls a
function that is not traced, in the same process. The report must hold every call."""

import glob
import json
import os
import subprocess
import sys
import tempfile

import tap

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


def pythons():
    found = {}
    for path in ["/usr/bin/python3"] + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))):
        told = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
        found.setdefault(told.stdout.strip(), path)
    return {version: path for version, path in found.items() if (3, 9) <= tuple(map(int, version.split("."))) <= (3, 13)}


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    results = {}
    with tempfile.TemporaryDirectory() as work:
        for name, text in (("program.py", PROGRAM), ("traced.py", "def function(): pass\ndef other(): pass\n"),
                           ("functions.json", json.dumps([{"module": "traced", "functions": ["function"]}]))):
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(text)
        for version, path in pythons().items():
            bare, ours = [], []
            for _ in range(3):
                command = [path, "program.py", str(calls)]
                for times, before in ((bare, []), (ours, [tap.LANESCOPE, "profile", "-f", "true", "-t", "nvtx", "-o", "bench",
                                                          "--python-functions-trace=functions.json"])):
                    out = subprocess.run(before + command, cwd=work, check=True, capture_output=True, text=True).stdout
                    times.append([float(word) for word in out.split()])
                kept = subprocess.run([tap.LANESCOPE, "sql", "bench.rep", "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"],
                                      cwd=work, check=True, capture_output=True, text=True).stdout.split()[0]
                if int(kept) != calls // 5 * 5:
                    sys.exit(f"bench python: CPython {version}: {calls} calls, {kept} in the report")
            best = [[min(times[k] for times in runs) for k in (0, 1)] for runs in (bare, ours)]
            results[version] = {"call_ns": round(best[0][0], 1), "traced_adds_ns": round(best[1][0] - best[0][0], 1),
                                "other_adds_ns": round(best[1][1] - best[0][1], 1)}
            print(version, results[version], flush=True)
    print(json.dumps({"calls": calls, "cpython": results}))


main()
