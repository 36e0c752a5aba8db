# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the CUDA switches whose effect shows on the double."""

import os
import time

import profiling
import tap
from profiling import wait_for

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")

# Sets some memory of the GPU, then waits for a line.
SETS = """
import ctypes, sys
runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
for _ in range(3):
    runtime.cudaGetLastError()
assert runtime.cudaMalloc(ctypes.byref(pointer), 1024) == 0
assert runtime.cudaMemset(pointer, 0, 1024) == 0 and runtime.cudaDeviceSynchronize() == 0
print("set", flush=True)
sys.stdin.readline()
"""


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}


def test_calls_that_only_ask():
    with profiling.Folder() as folder:
        for value, expected in (("false", 0), ("true", 3)):
            run = folder.profile("-t", "cuda", "-f", "true", "-o", "r", f"--cuda-trace-all-apis={value}", "/usr/bin/python3", "-c", SETS,
                                 before=[WITH], env=environment())
            assert run.code == 0, run
            assert len([e for e in folder.report("r.rep").events if e["name"].startswith("cudaGetLastError")]) == expected


def test_records_are_taken_now_and_then():
    """Every 20 ms, or once an hour: the program still runs when the report has them, or has not."""
    with profiling.Folder() as folder:
        for name, interval_ms in (("often", 20), ("seldom", 3600000)):
            running = folder.start("-t", "cuda", "-o", name, f"--cuda-flush-interval={interval_ms}", "/usr/bin/python3", "-c", SETS,
                                   before=[WITH], env=environment(), stdin=-1)
            assert running.stdout.readline() == b"set\n"
            if name == "often":
                wait_for(lambda: folder.report("often.rep").of("cuda-memset"), "a record in the report")
            else:
                time.sleep(1.5)  # more than the default
                assert not folder.report("seldom.rep").of("cuda-memset")
            running.communicate(b"\n", timeout=30)
            assert running.returncode == 0 and len(folder.report(f"{name}.rep").of("cuda-memset")) == 1


tap.main(globals())
