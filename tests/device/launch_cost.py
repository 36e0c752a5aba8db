# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""launch_cost.py LIBRARY ROUNDS [kineto]: prints how many nanoseconds a launch of an empty kernel takes: the
median of ROUNDS rounds. With `kineto`, PyTorch's profiler records meanwhile."""

import ctypes
import statistics
import sys

LAUNCHES = 500  # in one round; a device's queue has room for more


def measure(library, rounds):
    launches = ctypes.CDLL(library).lns_launches
    launches.restype = ctypes.c_longlong
    for _ in range(3):
        launches(LAUNCHES)
    return statistics.median(launches(LAUNCHES) for _ in range(rounds)) / LAUNCHES


if __name__ == "__main__":
    if sys.argv[3:] == ["kineto"]:
        import torch
        torch.cuda.init()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
            cost = measure(sys.argv[1], int(sys.argv[2]))
    else:
        cost = measure(sys.argv[1], int(sys.argv[2]))
    print(f"{cost:.1f}")
