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
for _ in range(2):
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


def test_buffers_may_lie_on_the_host():
    """CUPTI refuses the setting, which is told of if it was asked for."""
    with profiling.Folder() as folder:
        for value in ("false", "true"):
            run = folder.profile("-t", "cuda", "-f", "true", "-o", "r", f"--cupti-host-buffers={value}", "/usr/bin/python3", "-c", SETS,
                                 before=[WITH], env={**environment(), "LNS_DOUBLE_FAIL": "cuptiActivitySetAttribute:8=41"})
            assert run.code == 0 and ("LNS-CUDA-022" in run.err) == (value == "true"), (value, run.err)
            assert value == "false" or "Confidential Computing" in run.err, run.err


def test_another_profiler_may_share_cupti():
    """With the 200th call another profiler would take over CUPTI. CUPTI 13.3 and later refuses that where several may record."""
    program = """
import ctypes
runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), 1024) == 0
for _ in range(400):
    assert runtime.cudaMemset(pointer, 0, 1024) == 0
"""
    with profiling.Folder() as folder:
        for value, is_whole in (("true", True), ("false", False)):
            run = folder.profile("-t", "cuda", "-f", "true", "-o", "r", f"--cupti-sharing={value}", "/usr/bin/python3", "-c", program,
                                 before=[WITH], env={**environment(), "LNS_DOUBLE_CUPTI_VERSION": "130500",
                                                     "LNS_DOUBLE_DRIVER_VERSION": "13030", "LNS_DOUBLE_TAKEOVER": "200"})
            assert run.code == 0, run
            n_calls = len([e for e in folder.report("r.rep").events if e["name"].startswith("cudaMemset")])
            # What CUPTI writes into a buffer of ours after the takeover is salvaged from it.
            assert ("LNS-CUDA-026" not in run.err) == is_whole and n_calls <= 400, (value, n_calls, run.err)
            assert n_calls == 400 or not is_whole, (n_calls, run.err)


def test_records_are_taken_now_and_then():
    """Every 20 ms, or once an hour: the program still runs when the report has them, or has not. The first ones are taken at
    once, to see whether they come."""
    with profiling.Folder() as folder:
        for name, interval_ms in (("often", 20), ("seldom", 3600000)):
            running = folder.start("-t", "cuda", "-o", name, f"--cuda-flush-interval={interval_ms}", "/usr/bin/python3", "-c", SETS,
                                   before=[WITH], env=environment(), stdin=-1)
            assert running.stdout.readline() == b"set\n"
            time.sleep(1.5 if name == "seldom" else 0)  # more than the default
            running.stdin.write(b"\n")
            running.stdin.flush()
            assert running.stdout.readline() == b"set\n"
            if name == "often":
                wait_for(lambda: len(folder.report("often.rep").of("cuda-memset")) == 2, "records in the report")
            else:
                time.sleep(1.5)
                assert len(folder.report("seldom.rep").of("cuda-memset")) <= 1
            running.communicate(b"\n", timeout=30)
            assert running.returncode == 0 and len(folder.report(f"{name}.rep").of("cuda-memset")) == 2


tap.main(globals())
