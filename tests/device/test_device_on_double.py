# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs tests/device/run from start to end on the double, so that its own faults show before it runs on a GPU, and shows that
its checks can fail."""

import gzip
import json
import os
import subprocess
import tarfile
import tempfile

import tap
import why_checks

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
RUN = os.path.join(tap.SOURCE, "tests", "device", "run")
# What the double cannot play.
CANNOT = {"cuDNN and cuBLAS", "static runtime by dlopen", "green contexts", "static runtime", "cuBLAS", "CUPTI 12.4", "CUPTI 12.8",
          "cost of a step of training", *why_checks.CHECKS}
MAY_LACK = {"GPU counters"}  # depends on what this build and its doubles have
# What is judged there on a stand-in or on figures that mean nothing.
REHEARSED = {"torch.profiler inside", "torch.cuda.graph", "torch.compile with Triton", "NCCL on one rank", "fork with a DataLoader",
             "memory per context and thread", "pools of PyTorch's allocator", "PyTorch training", "times against CUDA events",
             "CUPTI 13.2", "CUPTI 13.5", "cost of a launch"}
LAUNCHES = ["1 M launches", "10 M launches"]
EXITS = ["_exit", "abort", "SIGTERM", "SIGKILL in a kernel", "exit in another thread"]
# Variables of the double, the checks that must fail with them, and words of the reason.
FAULTS = [
    ("records are lost", {"LNS_DOUBLE_DROP": "7"},
     ["vector add", *LAUNCHES, "clocks of CUPTI", "graphs before the range", "graphs before the range, by node", "repeated ranges",
      "launch and start", "GPU that is never idle", *EXITS, "200 short processes", "priorities", "memory per context and thread",
      "faults of unified memory", "streams overlap", "graphs", "memory pools", "threads", "cudaDeviceReset",
      "python3 -m with workers", "CUPTI 13.2"], ""),
    ("kernels have no times", {"LNS_DOUBLE_WRONG_TIMES": "50"}, ["vector add", *LAUNCHES, "200 short processes", "threads"],
     "LNS-CUDA-025"),
    ("times are early", {"LNS_DOUBLE_GPU_CLOCK": "-10000000"}, LAUNCHES, "began before their calls"),
    ("graphs are refused", {"LNS_DOUBLE_FAIL": "cuptiActivityEnable:51=21"}, ["graphs before the range", "graphs"], ""),
    ("records never come", {"LNS_DOUBLE_LATE_MS": "600000"}, ["vector add", *LAUNCHES, "threads"], "LNS-CUDA-0"),
    ("NVML hangs", {"LNS_DOUBLE_NVML_HANGS": "0"}, ["power, clocks, temperature"], ""),
    ("PyTorch's programs do less", {"LNS_STAND_IN": "less"},
     ["torch.profiler inside", "torch.cuda.graph", "torch.compile with Triton", "fork with a DataLoader", "pools of PyTorch's allocator",
      "PyTorch training"], ""),
]


def need_programs():
    if not os.path.exists(os.path.join(tap.BUILD, "tests", "device", "liblaunches.so")):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")


def run(out, *checks, **variables):
    """The outcome of the script, and the rows of its checks by name."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
    done = subprocess.run([WITH, RUN, out, *checks], env={**env, "LNS_DOUBLE_NVML": "yes", **variables}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    with open(os.path.join(out, "device.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return done, {row["check"]: row for row in rows if "check" in row}, rows[-1]["machine"]


def test_what_can_run_passes():
    need_programs()
    with tempfile.TemporaryDirectory() as out:
        done, rows, machine = run(out)
        assert done.returncode == 1, (done.stdout, done.stderr)
        wrong = {name: row for name, row in rows.items() if name not in MAY_LACK and row["verdict"] != (
            "could not run" if name in CANNOT else "rehearsed" if name in REHEARSED else "passed")}
        assert not wrong and CANNOT | REHEARSED | MAY_LACK <= set(rows), wrong
        assert all(row["why"] for row in rows.values() if row["verdict"] != "passed"), rows
        assert machine["is a double"] and machine["GPU"] == "Lanescope Double GPU", machine
        assert machine["CUPTI"] == "130001" and machine["CUDA of the driver"] == "13.0", machine
        table = subprocess.run([RUN, "--table", os.path.join(out, "device.jsonl")], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(out, "device.md"), encoding="utf-8") as file:
            assert file.read() == table and all(f"\n| {name} | " in table for name in rows), table
        with tarfile.open(os.path.join(out, "reports.tar")) as tar:
            kept = {member.name: gzip.decompress(tar.extractfile(member).read()) for member in tar}
        assert "vector-add.report.rep.gz" in kept and all(report[:4] == kept["vector-add.report.rep.gz"][:4] for report in kept.values())


def test_each_fault_is_found():
    need_programs()
    for fault, variables, checks, words in FAULTS:
        with tempfile.TemporaryDirectory() as out:
            done, rows, _ = run(out, *checks, **variables)
            held = {name: (row["verdict"], row["figures"]) for name, row in rows.items() if row["verdict"] != "failed"}
            assert done.returncode == 1 and not held, f"{fault}, and yet {held}"
            assert all(words in row["why"] for row in rows.values()), f"{fault}: {[row['why'] for row in rows.values()]}"


def test_times_under_both_clocks_are_counted():
    need_programs()
    with tempfile.TemporaryDirectory() as out:
        _, rows, _ = run(out, "clocks of CUPTI", LNS_DOUBLE_CUPTI_VERSION="28", LNS_DOUBLE_ZERO_TIMES="50")
        row = rows["clocks of CUPTI"]
        assert (row["verdict"], row["figures"]["own_timeless"], row["figures"]["callback_timeless"]) == ("passed", 0, 400), row


def test_without_a_gpu_nothing_passes():
    with tempfile.TemporaryDirectory() as out:
        done, rows, _ = run(out, LNS_DOUBLE_DEVICES="0")
        assert done.returncode == 1 and {row["verdict"] for row in rows.values()} == {"could not run"}, done.stdout


if __name__ == "__main__":
    tap.main(globals())
