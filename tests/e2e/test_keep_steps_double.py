# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--keep-steps with CUDA, on the double: what the GPU did for a step is kept with it, and nothing else that it did. This shows nothing
about a real GPU."""

import json
import os
import subprocess

import profiling
import tap

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
STEADY = os.path.join(tap.BUILD, "tests", "programs", "cuda-steady")


def test_the_work_of_kept_steps_is_kept():
    if not os.path.exists(STEADY):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "-o", "r", "--why=false", "--steps=step", "--keep-steps=duration > 2 * p95", STEADY, 1500,
                             before=[WITH])
        assert run.code == 7, run
        report = folder.report("r.rep")
        steps = {int(event["name"].split()[1]) for event in report.events if event["name"].startswith("step ")}
        grids = {launch["launch"]: launch["grid"][0] for launch in report.launches}
        kernels = [grids[event["launch"]] - 1 for event in report.of("cuda-kernel")]
        # Each has one kernel, launched and waited for by two calls; the first four are there in any case.
        assert {0, 1, 2, 3} <= steps and sorted(kernels) == sorted(steps), (sorted(steps), sorted(kernels))
        assert len(report.of("cuda-api")) <= 2 * len(steps) + 4, (len(report.of("cuda-api")), len(steps))
        why = subprocess.run([tap.LANESCOPE, "why", "--format=json", folder.file("r.rep")], capture_output=True, text=True, check=True)
        device = json.loads(why.stdout)["devices"][0]
        not_recorded = sum(cause["ns"] for cause in device["causes"] if cause["cause"] == "not-recorded")
        # Between the steps that are there the GPU was idle for all that the report knows, which accuses nobody.
        assert 0 < device["omitted_ns"] <= not_recorded, device
        assert device["busy_ns"] + sum(cause["ns"] for cause in device["causes"]) + device["unknown_ns"] == device["span_ns"], device
        gaps = subprocess.run([tap.LANESCOPE, "analyze", "-r", "gpu_gaps:gap=0", "-f", "json", "-q", folder.file("r.rep")],
                              capture_output=True, text=True, check=True)
        longest = max(event["duration"] for event in report.of("range"))
        rows = json.loads(gaps.stdout)
        assert rows and all(row["Duration (ns)"] <= longest for row in rows), (rows[:3], longest)


tap.main(globals())
