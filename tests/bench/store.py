# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures size and speed of the report file: written with the public writer, read with the public reader, and
opened by the viewer in its own process (viewer-bench). ./run bench store [EVENTS] leaves the file in the temporary
folder for inspection.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import harness
import tap

OPENINGS = 5


def open_ms(report):
    """The best time of several runs of `info`, which opens the report and reads its definitions."""
    best = float("inf")
    for _ in range(OPENINGS):
        start = time.monotonic()
        subprocess.run([tap.LANESCOPE, "info", report], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.monotonic() - start)
    return 1000 * best


def first_frames(report):
    """The best of several runs of the viewer: (ms from exec to the first full frame, peak MB)."""
    frames, peaks = [], []
    for _ in range(OPENINGS):
        process = subprocess.Popen([os.path.join(tap.BUILD, "tests", "bench", "viewer-bench"), "first-frame", report], stdout=subprocess.PIPE, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit("bench store: the viewer failed")
        frames.append(json.loads(output.splitlines()[-1])["first_frame_ms"])
        peaks.append(usage.ru_maxrss / 1024)
        print(f"first frame {frames[-1]:.0f} ms, peak {peaks[-1]:.0f} MB")
    return min(frames), min(peaks)


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10000000
    report = os.path.join(tempfile.gettempdir(), f"lanescope-bench-{events}.rep")
    if os.path.exists(report):
        os.remove(report)
    output = subprocess.run([os.path.join(tap.BUILD, "tests", "bench", "store-bench"), str(events), report],
                            check=True, capture_output=True, text=True).stdout
    print(output.strip())
    result = json.loads(output.splitlines()[-1])
    figures = {"file": report, "events": events, "write_meps": result["write_meps"],
               "bytes_per_event": result["bytes_per_event"], "open_ms": round(open_ms(report), 1)}
    figures["first_frame_ms"], figures["rss_mb"] = (round(value, 1) for value in first_frames(report))
    figures["decode_meps"] = result["decode_meps"]
    print(json.dumps(figures))


if harness.SESSION in os.environ:
    main()
else:
    sys.exit(harness.run_session([sys.executable] + sys.argv))
