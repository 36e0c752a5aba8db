# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures the table of events: loading all events of a report and sorting them by one column after the other, in processor time,
and the most memory that the table takes meanwhile. ./run bench events [EVENTS]

Medians of three runs are printed.
"""

import json
import os
import subprocess
import sys
import tempfile

import tap

BENCHES = os.path.join(tap.BUILD, "tests", "bench")


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000000
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "events.rep")
        subprocess.run([os.path.join(BENCHES, "store-bench"), str(n), path], check=True, capture_output=True)
        runs = [[json.loads(line) for line in subprocess.run([os.path.join(BENCHES, "events-bench"), path], check=True,
                                                             capture_output=True, text=True).stdout.splitlines()] for _ in range(3)]
    result = {"events": runs[0][-1]["events"]}
    if result["events"] != n:
        sys.exit(f"bench events: {result['events']} events were loaded")
    for steps in zip(*(run[:-1] for run in runs)):
        ms, peak_mb = (sorted(step[key] for step in steps)[1] for key in ("ms", "peak_mb"))
        print(f"{ms:.0f} ms, {peak_mb:.0f} MB at most: {steps[0]['what']}")
        result[steps[0]["what"]] = {"ms": ms, "peak_mb": peak_mb}
    print(json.dumps(result))


main()
