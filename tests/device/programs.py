#!/usr/bin/env python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""programs.py NVCC ARCHITECTURE NAME OUTPUT [DEPFILE]: builds the CUDA program NAME. The build does so where there is nvcc, and
tests/device/run does so on a machine whose GPU needs another architecture."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = ["-shared", "-Xcompiler", "-fPIC"]
# The source and nvcc's arguments. A program of tests/programs that needs none of these is not here.
PROGRAMS = {
    "busy": ["tests/device/busy.cu", "-cudart", "shared"],
    "event-times": ["tests/device/event-times.cu", "-cudart", "shared"],
    "exits": ["tests/device/exits.cu", "-cudart", "shared"],
    "footprint": ["tests/device/footprint.cu", "-cudart", "shared"],
    "green": ["tests/device/green.cu", "-cudart", "shared"],
    "liblaunches.so": ["tests/device/launches.cu", "-cudart", "shared", *LIBRARY],
    "liblaunches-static.so": ["tests/device/launches.cu", "-cudart", "static", *LIBRARY],
    "matrices": ["tests/device/matrices.cu", "-cudart", "shared", "-lcublas"],
    "priorities": ["tests/device/priorities.cu", "-cudart", "shared"],
    "served": ["tests/device/served.cu", "-cudart", "shared"],
    "stand-in": ["tests/device/stand-in.cu", "-cudart", "shared"],
    "cuda-static": ["tests/programs/cuda-vectoradd.cu", "-cudart", "static"],
    "cuda-threads": ["tests/programs/cuda-threads.cu", "-cudart", "shared", "--default-stream", "per-thread"],
}


def command(nvcc, architecture, name, output):
    source, *arguments = PROGRAMS.get(name, [f"tests/programs/{name}.cu", "-cudart", "shared"])
    return [nvcc, f"-arch={architecture}", "-I", ROOT, "-o", output, os.path.join(ROOT, source), *arguments]


if __name__ == "__main__":
    sys.exit(subprocess.call(command(*sys.argv[1:5]) + (["-MD", "-MF", sys.argv[5]] if len(sys.argv) > 5 else [])))
