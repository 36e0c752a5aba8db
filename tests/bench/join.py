# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures a join that scripts run on nsys exports, on a report's virtual tables: a million ranges, each with its
name and its thread's name. ./run bench join [EVENTS]

The CUDA tables of this report are empty, so a LEFT JOIN includes them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import tap

STATEMENT = """
SELECT count(*), count(k.start), count(r.start), sum(length(coalesce(e.text, name.value))), sum(length(thread.value))
FROM NVTX_EVENTS AS e
LEFT JOIN StringIds AS name ON name.id = e.textId
JOIN ThreadNames AS t ON t.globalTid = e.globalTid
JOIN StringIds AS thread ON thread.id = t.nameId
LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.globalTid = e.globalTid AND r.start >= e.start AND r.end <= e.end
LEFT JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = r.correlationId
WHERE e.eventType = 59"""


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    with tempfile.TemporaryDirectory() as work:
        report = os.path.join(work, "join.rep")
        subprocess.run([os.path.join(tap.BUILD, "tests", "bench", "store-bench"), str(events), report], check=True,
                       stdout=subprocess.DEVNULL)
        seconds = []
        for _ in range(3):
            start = time.monotonic()
            output = subprocess.run([tap.LANESCOPE, "sql", report, STATEMENT], check=True, capture_output=True,
                                    text=True).stdout
            seconds.append(time.monotonic() - start)
            print(f"{seconds[-1]:.2f} s: {output.strip()}")
        if not output.startswith(f"{events}\t"):
            sys.exit(f"bench join: {events} ranges were made, {output.split()[0]} joined")
        print(json.dumps({"seconds": round(sorted(seconds)[1], 3), "events": events}))


main()
