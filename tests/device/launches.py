# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""launches.py LIBRARY count N: launches N empty kernels through LIBRARY, which launches.cu builds.
launches.py LIBRARY times SECONDS [kineto]: launches ROUND of them every PAUSE_S, and prints what a launch took, as
windows() does. With `kineto`, PyTorch's profiler records meanwhile."""

import ctypes
import json
import os
import sys
import time

COUNT_ROUND = 1000
ROUND = 200       # with PAUSE_S about 20,000 launches a second, so that a profiler that keeps all in memory has room
PAUSE_S = 0.01
EARLY, LATE = 5 / 12, 8 / 12  # of 12 s: the first 5, and those after 8


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def windows(samples, seconds):
    """The median and the 99th percentile of SAMPLES, which are (second, ns), early and late in SECONDS."""
    parts = {"early": [ns for at, ns in samples if at < seconds * EARLY], "late": [ns for at, ns in samples if at >= seconds * LATE]}
    return {f"{when}_p{part}": round(percentile(values, part / 100)) for when, values in parts.items() for part in (50, 99)}


def count(library, n):
    for begin in range(0, n, COUNT_ROUND):
        library.lns_launches(min(COUNT_ROUND, n - begin))


def times(library, seconds):
    """The samples of launches in SECONDS, after three rounds that do not count."""
    took_ns = (ctypes.c_uint * ROUND)()
    samples = []
    for _ in range(3):
        library.lns_launch_times(ROUND, took_ns)
    begin = time.monotonic()
    while (at := time.monotonic() - begin) < seconds:
        library.lns_launch_times(ROUND, took_ns)
        samples += [(at, ns) for ns in took_ns]
        time.sleep(PAUSE_S)
    return samples


def times_under_kineto(library, seconds):
    """Prints the times and ends: what the profiler would then make of its records, in minutes, is of no use here."""
    import torch
    torch.cuda.init()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
        print(json.dumps(windows(times(library, seconds), seconds)), flush=True)
        os._exit(0)


def main(path, what, number, *how):
    library = ctypes.CDLL(path)
    if what == "count":
        count(library, int(number))
    elif how == ("kineto",):
        times_under_kineto(library, float(number))
    else:
        print(json.dumps(windows(times(library, float(number)), float(number))))


if __name__ == "__main__":
    main(*sys.argv[1:])
