# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures how long a report takes to be complete after its program ends: eight processes record at full rate
for some seconds; the time counts from the end of the last process until another process can open the finished
report. ./run bench finish [PAIRS-PER-PROCESS]
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time

import tap

LOOP = os.path.join(tap.BUILD, "tests", "bench", "nvtx-loop")
PROCESSES = 8


def is_complete(report):
    run = subprocess.run([tap.LANESCOPE, "info", report], capture_output=True, text=True)
    return run.returncode == 0 and "state: complete\n" in run.stdout


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 500000
    with tempfile.TemporaryDirectory() as work:
        report = os.path.join(work, "finish.rep")
        script = f"for i in $(seq {PROCESSES}); do {LOOP} --rounds 2 --pairs {pairs} >/dev/null & done; wait"
        read_end, write_end = os.pipe()
        tool = subprocess.Popen([tap.LANESCOPE, "profile", "-t", "nvtx", "-o", report, f"--progress-fd={write_end}",
                                 "sh", "-c", script], pass_fds=[write_end], stderr=subprocess.DEVNULL)
        os.close(write_end)
        finished = {}
        ended = None
        with os.fdopen(read_end) as pipe:
            for line in pipe:
                message = json.loads(line)
                if message["type"] == "started":
                    # The shell waits for its children, so it ends last.
                    pidfd = os.pidfd_open(message["pid"])
                elif message["type"] == "tick" and ended is None and select.select([pidfd], [], [], 0)[0]:
                    ended = time.monotonic()
                elif message["type"] == "finished":
                    finished = message
                if message["type"] == "range" and message["what"] == "stop" and ended is None:
                    ended = time.monotonic()
        while not is_complete(report):
            time.sleep(0.005)
        readable = time.monotonic()
        tool.wait()
        if finished["events"] + finished["lost"] < 2 * PROCESSES * pairs:
            sys.exit(f"bench finish: {finished['events']} events and {finished['lost']} lost of {2 * PROCESSES * pairs}")
        print(json.dumps({
            "events": finished["events"],
            "lost": finished["lost"],
            "lag_ms": round(finished["lag_ms"], 1),
            "drain_ms": round(finished["drain_ms"], 1),
            "commit_ms": round(finished["commit_ms"], 1),
            "seconds_from_exit_to_readable": round(max(readable - ended, finished["lag_ms"] / 1000), 3),
        }))


main()
