# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""python3 -m workers LIBRARY: starts WORKERS processes with multiprocessing. Worker N launches LAUNCHES × (N + 1)
empty kernels through LIBRARY, which launches.cu builds."""

import ctypes
import multiprocessing
import sys

WORKERS = 3
LAUNCHES = 100


def work(library, number):
    ctypes.CDLL(library).lns_launches(LAUNCHES * (number + 1))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(sys.argv[1], number)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(any(worker.exitcode for worker in workers))
