# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what recording adds to an MPI call, with Open MPI and MPICH.
./run bench mpi [CALLS]

A loop of calls without data (mpi-loop.c) runs without and with lanescope in turn, in ROUNDS pairs. The difference of a
pair is one sample; the bench prints the least, the median and the greatest. The report must hold every call."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import tap

ROUNDS = 5
CALLS = ("MPI_Barrier", "MPI_Allreduce")


def measure(kind, work, calls):
    program = os.path.join(work, f"mpi-loop.{kind}")
    subprocess.run([f"mpicc.{kind}", "-O2", "-w", "-o", program, os.path.join(tap.SOURCE, "tests/bench/mpi-loop.c")], check=True)
    report = os.path.join(work, f"{kind}.rep")
    bare, ours = [], []
    for _ in range(ROUNDS):
        for times, before in ((bare, []), (ours, [tap.LANESCOPE, "profile", "-f", "true", "-t", "mpi", "-o", report])):
            out = subprocess.run(before + [program, str(calls)], cwd=work, check=True, capture_output=True, text=True).stdout
            times.append([float(word) for word in out.split()])
        kept = subprocess.run([tap.LANESCOPE, "sql", report, "SELECT count(*) FROM MPI_COLLECTIVES_EVENTS"], check=True,
                              capture_output=True, text=True).stdout.split()[0]
        if int(kept) != 2 * (calls // 5 * 5):
            sys.exit(f"bench mpi: {kind}: {2 * (calls // 5 * 5)} calls, {kept} in the report")
    return {name: {"call_ns": tap.spread([times[i] for times in bare])[1],
                   "adds_ns": tap.spread([with_us[i] - without[i] for without, with_us in zip(bare, ours)])}
            for i, name in enumerate(CALLS)}


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    results = {}
    with tempfile.TemporaryDirectory() as work:
        for kind in ("openmpi", "mpich"):
            if shutil.which(f"mpicc.{kind}") is None:
                continue
            results[kind] = measure(kind, work, calls)
            print(kind, results[kind], flush=True)
    if not results:
        sys.exit("bench mpi: neither mpicc.openmpi nor mpicc.mpich is installed")
    print(json.dumps({"calls": calls, "mpi": results}))


main()
