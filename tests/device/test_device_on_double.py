# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs tests/device/run from start to end on the double, so that its own faults show before it runs on a GPU."""

import json
import os
import subprocess
import tempfile

import tap

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
RUN = os.path.join(tap.SOURCE, "tests", "device", "run")
PASS = ["vector add", "streams overlap", "graphs as a whole", "graphs by node", "memory pools", "managed memory", "threads",
        "cudaProfilerStart and Stop, repeated", "ranges that kernels outlive", "cudaDeviceReset", "fork after cuInit",
        "kernel that faults", "kill -9 midway", "python3 -m with workers"]
CANNOT = ["vector add, static runtime", "times against CUDA events", "cuBLAS", "PyTorch training", "cost of a launch",
          "cost of a step of training"]


def need_programs():
    if not os.path.exists(os.path.join(tap.BUILD, "tests", "device", "liblaunches.so")):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")


def run(out, *checks, **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
    done = subprocess.run([WITH, RUN, out, *checks], env={**env, **variables}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=50)
    with open(os.path.join(out, "table.json"), encoding="utf-8") as file:
        return done, json.load(file)


def test_what_can_run_passes():
    need_programs()
    with tempfile.TemporaryDirectory() as out:
        done, table = run(out)
        verdicts = {row["check"]: (row["verdict"], row["detail"]) for row in table["checks"]}
        assert done.returncode == 1 and "14 of 20 passed" in done.stdout, (done.stdout, done.stderr)
        assert sorted(verdicts) == sorted(PASS + CANNOT), verdicts
        assert all(verdicts[name][0] == "passed" for name in PASS), verdicts
        assert all(verdicts[name][0] == "could not run" and verdicts[name][1] for name in CANNOT), verdicts
        assert table["cost"] == {}, "the double has no cost to tell"
        machine = table["machine"]
        assert machine["is a double"] and machine["GPU"] == "Lanescope Double GPU", machine
        assert machine["CUPTI"] == "130001" and machine["CUDA of the driver"] == "13.0", machine
        with open(os.path.join(out, "table.md"), encoding="utf-8") as file:
            rows = [line for line in file if line.startswith("| ") and not line.startswith("| check")]
        assert len(rows) == len(table["checks"])


def test_what_is_lost_fails():
    need_programs()
    with tempfile.TemporaryDirectory() as out:
        done, table = run(out, "vector add", "streams overlap", LNS_DOUBLE_DROP="7")
        assert done.returncode == 1 and "0 of 2 passed" in done.stdout, done.stdout
        assert all(row["verdict"] == "failed" and "are lost" in row["detail"] for row in table["checks"]), table


def test_without_a_gpu_nothing_passes():
    with tempfile.TemporaryDirectory() as out:
        done, table = run(out, LNS_DOUBLE_DEVICES="0")
        assert done.returncode == 1 and {row["verdict"] for row in table["checks"]} == {"could not run"}, done.stdout


if __name__ == "__main__":
    tap.main(globals())
