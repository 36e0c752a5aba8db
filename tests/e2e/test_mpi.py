# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Calls of MPI, by Open MPI and MPICH: what is recorded follows from the source of programs/mpi-ring.c."""

import collections
import os
import shutil
import subprocess

import tap
from profiling import Folder

ROUNDS, SIZE = 20, 3
SOURCE = os.path.join(tap.SOURCE, "tests/programs/mpi-ring.c")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def build(folder, kind):
    compiler = shutil.which(f"mpicc.{kind}")
    if compiler is None or shutil.which(f"mpirun.{kind}") is None:
        raise tap.Skip(f"{kind} is not installed")
    program = folder.file("ring")
    subprocess.run([compiler, "-O1", "-w", "-o", program, SOURCE], check=True)
    return [f"mpirun.{kind}", "-n", str(SIZE)], [program, str(ROUNDS)]


def rows(report, statement):
    out = subprocess.run([tap.LANESCOPE, "sql", report, statement], capture_output=True, text=True, check=True).stdout
    return [tuple(line.split("\t")) for line in out.splitlines()]


def calls(report, table, columns):
    """(name, rank, columns…) of each call, counted."""
    return collections.Counter(rows(report, f"SELECT s.value, r.rank, {columns} FROM {table} AS e JOIN StringIds AS s ON s.id = e.textId "
                                            "JOIN MPI_RANKS AS r ON r.globalTid = e.globalTid"))


def expected_p2p(rank):
    expected = {("MPI_Irecv", str(rank), "2000", str((rank - 1) % SIZE), "7"): ROUNDS,
                ("MPI_Isend", str(rank), "2000", str((rank + 1) % SIZE), "7"): ROUNDS}
    if rank == 0:
        expected["MPI_Send", "0", "40", "1", "3"] = 1
    if rank == 1:
        expected["MPI_Recv", "1", "40", "0", "3"] = 1
    return expected


def expected_collectives(rank):
    at_root = sum(range(1, SIZE + 1)) if rank == 0 else 0
    return {("MPI_Allreduce", str(rank), "8", "8", "0"): ROUNDS,
            ("MPI_Gatherv", str(rank), str(rank + 1), str(at_root), "0"): 1,
            ("MPI_Bcast", str(rank), "8", "0", str(SIZE - 1)): 1,
            ("MPI_Alltoall", str(rank), "12", "12", "0"): 1,
            ("MPI_Barrier", str(rank), "0", "0", "0"): 1}


def check(report, ranks):
    p2p, collectives = collections.Counter(), collections.Counter()
    for rank in ranks:
        p2p.update(expected_p2p(rank))
        collectives.update(expected_collectives(rank))
    assert calls(report, "MPI_P2P_EVENTS", "e.size, e.remoteRank, e.tag") == p2p, calls(report, "MPI_P2P_EVENTS", "e.size, e.remoteRank, e.tag")
    assert calls(report, "MPI_COLLECTIVES_EVENTS", "e.size, e.recvSize, e.rootRank") == collectives, \
        calls(report, "MPI_COLLECTIVES_EVENTS", "e.size, e.recvSize, e.rootRank")
    assert calls(report, "MPI_START_WAIT_EVENTS", "1") == {("MPI_Waitall", str(rank), "1"): ROUNDS for rank in ranks}
    assert calls(report, "MPI_OTHER_EVENTS", "1") == {(name, str(rank), "1"): 1 for rank in ranks
                                                      for name in ("MPI_Init", "MPI_Comm_split", "MPI_Comm_free", "MPI_Finalize")}
    # All are of one communicator, whose handle may be an address; a request belongs to the call that made it and is waited for.
    assert set(rows(report, "SELECT count(DISTINCT commHandle) FROM MPI_P2P_EVENTS GROUP BY globalTid")) == {("1",)}
    assert rows(report, "SELECT count(*) FROM MPI_START_WAIT_EVENTS AS w WHERE NOT EXISTS (SELECT 1 FROM MPI_P2P_EVENTS AS e "
                        "WHERE e.requestHandle = w.requestHandle AND e.globalTid = w.globalTid AND e.end <= w.start)") == [("0",)]
    assert rows(report, "SELECT count(*) FROM MPI_P2P_EVENTS WHERE end < start") == [("0",)]


def check_implementation(kind):
    with Folder() as folder:
        launch, program = build(folder, kind)
        bare = subprocess.run(launch + program, cwd=folder.path, capture_output=True, text=True, env=ENVIRONMENT, check=True)
        run = folder.profile("-t", "mpi", "-o", "whole", *launch, *program, env=ENVIRONMENT)
        # Libraries of MPI may complain of the machine, with the time.
        own = [sorted(line for line in out.splitlines() if line.startswith("rank ")) for out in (run.out, bare.stdout)]
        assert run.code == 0 and own[0] == own[1] and len(own[0]) == SIZE, run
        check(folder.file("whole.rep"), range(SIZE))
        # A report for each rank.
        variable = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[kind]
        subprocess.run([*launch, tap.LANESCOPE, "profile", "-t", "mpi", "-o", f"rank.%q{{{variable}}}", *program], cwd=folder.path,
                       capture_output=True, env=ENVIRONMENT, check=True, timeout=60)
        for rank in range(SIZE):
            check(folder.file(f"rank.{rank}.rep"), [rank])


def test_open_mpi():
    check_implementation("openmpi")


def test_mpich():
    check_implementation("mpich")


def test_a_program_without_mpi():
    """Our library is in it, and nothing is recorded."""
    with Folder() as folder:
        run = folder.profile("-t", "mpi", "/bin/sh", "-c", "echo fine; exit 3")
        assert (run.code, run.out) == (3, "fine\n"), run
        assert rows(folder.file("report1.rep"), "SELECT count(*) FROM MPI_OTHER_EVENTS") == [("0",)]


tap.main(globals())
