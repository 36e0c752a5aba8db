# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures names and call chains: stacks that the bench takes of itself, and addresses drawn at random from the code of
the command line (DWARF), the Python interpreter and libc (their tables); and `lanescope resolve`, on one core, of a report
of so many samples, each of which has an address of its own in one of these. ./run bench symbols [SAMPLES]

Random addresses are the worst case: those of real samples are few, and repeat.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import tap

BENCH = os.path.join(tap.BUILD, "tests", "bench", "symbols-bench")
PYTHON = os.path.realpath("/usr/bin/python3")


def libc():
    """The libc that this very process has mapped."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if os.path.basename(line.split()[-1]).startswith("libc.so"))


def resolve(n, files):
    """Seconds that `lanescope resolve` takes for a report of N samples, and for the same once more."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "samples.rep")
        subprocess.run([BENCH, "--report", report, str(n), *files], check=True)
        sizes, seconds = [os.path.getsize(report)], []
        for _ in range(2):
            start = time.monotonic()
            out = subprocess.run(["taskset", "-c", "0", tap.LANESCOPE, "resolve", report], check=True, capture_output=True, text=True).stdout
            seconds.append(time.monotonic() - start)
        sizes.append(os.path.getsize(report))
        print(f"{seconds[0]:.2f} s to resolve a report of {n} samples on one core, {seconds[1]:.2f} s once more; "
              f"{sizes[0] / 1e6:.0f} MB became {sizes[1] / 1e6:.0f} MB. {out.splitlines()[0]}")
    return seconds[0]


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    rounds, resolved = [], []
    for _ in range(3):
        output = subprocess.run([BENCH, str(n), tap.LANESCOPE, PYTHON, libc()], check=True, capture_output=True, text=True).stdout
        rounds.append([json.loads(line) for line in output.splitlines()])
        unwound, *named = rounds[-1]
        if unwound["complete"] != n:
            sys.exit(f"bench symbols: of {n} stacks, {unwound['complete']} are complete")
        print(f"{unwound['ns'] / n / 1000:.2f} us a stack of {unwound['frames'] / n:.1f} frames")
        for file in named:
            print(f"{file['ns'] / 1e9:.2f} s for {n} addresses of {file['file']}: {file['by_debug_info']} by DWARF, "
                  f"{file['without_name']} without a name")
        resolved.append(resolve(n, [tap.LANESCOPE, PYTHON, libc()]))

    def median(value):
        return sorted(value(one) for one in rounds)[1]

    print(json.dumps({
        "samples": n,
        "frames_per_stack": round(rounds[0][0]["frames"] / n, 1),
        "unwind_us_per_stack": round(median(lambda one: one[0]["ns"]) / n / 1000, 3),
        "name_dwarf_s": round(median(lambda one: one[1]["ns"]) / 1e9, 2),
        "name_python_s": round(median(lambda one: one[2]["ns"]) / 1e9, 2),
        "name_libc_s": round(median(lambda one: one[3]["ns"]) / 1e9, 2),
        "resolve_s": round(sorted(resolved)[1], 2),
    }))


main()
