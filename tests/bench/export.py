# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures speed and memory of `lanescope export`: each type on a report of ranges, and on one of CUDA calls, kernels
and ranges. ./run bench export [EVENTS]. Rates are rows that the type writes per second of processor time."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import tap

TYPES = ["sqlite", "jsonlines", "csv", "chrome", "folded", "svg", "arrow", "parquetdir"]


def measure(kind, report, rows, target):
    process = subprocess.Popen([tap.LANESCOPE, "export", "-q", "-t", kind, "-o", target, report], stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        print(f"{kind}: {error.strip()}")
        return None
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(target) for name in names) or os.path.getsize(target)
    seconds = usage.ru_utime + usage.ru_stime
    figures = {"rows_a_second": round(rows / max(seconds, 0.01)), "user_rows_a_second": round(rows / max(usage.ru_utime, 0.01)),
               "peak_mb": round(usage.ru_maxrss / 1024, 1), "file_mb": round(size / 1e6, 1)}
    print(f"{kind}: {figures['user_rows_a_second']:,} rows a second in user time, {figures['rows_a_second']:,} with the system's,"
          f" {figures['peak_mb']} MB at most, {figures['file_mb']} MB written")
    return figures


def rows_of(report, tables):
    statement = " + ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    return int(subprocess.run([tap.LANESCOPE, "sql", report, "SELECT " + statement], check=True, capture_output=True, text=True).stdout)


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 5000000
    bench = os.path.join(tap.BUILD, "tests", "bench")
    result = {}
    with tempfile.TemporaryDirectory(prefix="lanescope-bench-") as folder:
        ranges = os.path.join(folder, "ranges.rep")
        subprocess.run([os.path.join(bench, "store-bench"), str(events), ranges, "--irregular"], check=True, stdout=subprocess.DEVNULL)
        # One range for every three operations, each of which is a call and a kernel.
        subprocess.run([os.path.join(bench, "cuda-bench"), folder, str(events * 3 // 7)], check=True, stdout=subprocess.DEVNULL)
        for name, report in [("ranges", ranges), ("cuda", os.path.join(folder, "cuda-bench.rep"))]:
            rows = rows_of(report, ["NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"])
            print(f"{name}: {rows:,} rows")
            for kind in TYPES:
                target = os.path.join(folder, "out")
                figures = measure(kind, report, rows, target)
                if figures is not None:
                    result[f"{name}_{kind}"] = figures
                if os.path.isdir(target):
                    shutil.rmtree(target)
                elif os.path.exists(target):
                    os.remove(target)
    print(json.dumps(result))


main()
