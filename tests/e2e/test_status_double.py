# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What `lanescope status` says of GPUs, on the doubles of NVML and of CUPTI's sampling of counters. This shows nothing about a
real GPU or its driver."""

import json
import os
import subprocess

import tap
from terminals import Place

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")


def gpus(place, **variables):
    """The rows of power and clocks, and of hardware counters, each as (answer, code, reason)."""
    kept = {k: v for k, v in place.environment.items() if not k.startswith("LNS_DOUBLE_") and k != "CUDA_VISIBLE_DEVICES"}
    run = subprocess.run([WITH, tap.LANESCOPE, "status", "--output-format=json"], cwd=place.path,
                         env={**kept, "LNS_DOUBLE_NVML": "yes", "LNS_DOUBLE_DEVICES": "2", **variables}, stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=60, text=True, check=False)
    assert run.returncode == 0 and run.stderr == "", run
    rows = {row["data"]: (row["recordable"], row["code"], row["reason"]) for row in json.loads(run.stdout)["data"]}
    return rows["gpu-environment"], rows["gpu-metrics"]


def test_gpus_that_can_be_sampled():
    with Place() as place:
        assert gpus(place) == (("yes", None, None), ("yes", None, None))


def test_no_management_library():
    with Place() as place:
        environment, metrics = gpus(place, LNS_DOUBLE_NVML="no")
        assert environment[:2] == ("no", "LNS-GPU-001") and "libnvidia-ml.so.1" in environment[2], environment
        assert metrics == ("yes", None, None)
        environment, _ = gpus(place, LNS_DOUBLE_FAIL="nvmlInit_v2=9")
        assert environment[:2] == ("no", "LNS-GPU-002") and "nvidia-smi" in environment[2], environment
        environment, _ = gpus(place, CUDA_VISIBLE_DEVICES="")
        assert environment[0] == "no" and "finds no GPU" in environment[2], environment


def test_counters_that_are_refused():
    with Place() as place:
        for failure, answer, code, words in (("cuptiPmSamplingEnable=35", "no", "LNS-GPU-007", "NVreg_RestrictProfilingToAdminUsers=0"),
                                             ("cuptiPmSamplingEnable@1=26", "limited", "LNS-GPU-008", "dcgmi profile --pause"),
                                             ("cuptiPmSamplingStart=26", "no", "LNS-GPU-008", "dcgmi profile --pause"),
                                             ("cuInit=100", "no", "LNS-GPU-005", "CUDA_ERROR_NO_DEVICE")):
            environment, metrics = gpus(place, LNS_DOUBLE_FAIL=failure)
            assert environment == ("yes", None, None), environment
            assert metrics[:2] == (answer, code) and words in metrics[2], (failure, metrics)


tap.main(globals())
