# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests calls of MPI, with Open MPI and MPICH, from C and Fortran. Expected values follow from the sources of
programs/mpi-*."""

import collections
import csv
import os
import shutil
import sqlite3
import subprocess

import tap
from profiling import Folder

ROUNDS, SIZE = 20, 3
SOURCES = os.path.join(tap.SOURCE, "tests/programs")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def build(folder, kind, source, *switches):
    """How SIZE processes are launched, and the program."""
    compiler = shutil.which(f"{'mpicc' if source.endswith('.c') else 'mpifort'}.{kind}")
    if compiler is None or shutil.which(f"mpirun.{kind}") is None or not source.endswith(".c") and shutil.which("gfortran") is None:
        raise tap.Skip(f"{kind} or its compiler is not installed")
    program = folder.file("program")
    subprocess.run([compiler, "-O1", "-w", *switches, "-o", program, os.path.join(SOURCES, source)], cwd=folder.path, check=True)
    return [f"mpirun.{kind}", "-n", str(SIZE)], program


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
    return {("MPI_Allreduce", str(rank), "8", "8", ""): ROUNDS,
            ("MPI_Gatherv", str(rank), str(rank + 1), str(at_root), "0"): 1,
            ("MPI_Bcast", str(rank), "8", "0", str(SIZE - 1)): 1,
            ("MPI_Alltoall", str(rank), "12", "12", ""): 1,
            ("MPI_Gather", str(rank), "0" if rank == 0 else "8", "8" if rank == 0 else "0", "0"): 1,
            ("MPI_Scatter", str(rank), "8" if rank == 0 else "0", "0" if rank == 0 else "8", "0"): 1,
            ("MPI_Allgather", str(rank), "0", "4", ""): 1,
            ("MPI_Barrier", str(rank), "0", "0", ""): 1}


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


def stats(report, name):
    out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", name, report], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(line for line in out.splitlines() if line))


def check_stats(report):
    """The three reports on MPI against what the ring's source says, calls and bytes."""
    counts, bytes_of, traced = collections.Counter(), collections.Counter(), collections.Counter()
    for rank in range(SIZE):
        for (name, _, size, peer, tag), n in expected_p2p(rank).items():
            counts["p2p", name] += n
            bytes_of["p2p", name] += n * int(size)
            traced[name, str(rank), peer, "", tag, size, "", ""] += n
        for (name, _, sent, received, root), n in expected_collectives(rank).items():
            counts["coll", name] += n
            bytes_of["coll_send", name] += n * int(sent)
            bytes_of["coll_recv", name] += n * int(received)
            traced[name, str(rank), "", root, "", "", sent, received] += n
        counts["start_wait", "MPI_Waitall"] += ROUNDS
        traced["MPI_Waitall", str(rank), "", "", "", "", "", ""] += ROUNDS
        for name in ("MPI_Init", "MPI_Comm_split", "MPI_Comm_free", "MPI_Finalize"):
            counts["other", name] += 1
            traced[name, str(rank), "", "", "", "", "", ""] += 1
    assert {(row["Source"], row["Name"]): int(row["Instances"]) for row in stats(report, "mpi_event_sum")} == counts
    assert {(row["Source"], row["Name"]): int(row["Total Message Volume (B)"]) for row in stats(report, "mpi_msg_size_sum")} == bytes_of
    columns = ("Event", "Rank", "PeerRank", "RootRank", "Tag", "Size", "CollSendSize", "CollRecvSize")
    rows_told = stats(report, "mpi_event_trace")
    by_name = {heading.split(" (")[0]: heading for heading in rows_told[0]}
    assert collections.Counter(tuple(row[by_name[column]] for column in columns) for row in rows_told) == traced


def check_implementation(kind):
    with Folder() as folder:
        launch, program = build(folder, kind, "mpi-ring.c")
        program = [program, str(ROUNDS)]
        bare = subprocess.run(launch + program, cwd=folder.path, capture_output=True, text=True, env=ENVIRONMENT, check=True)
        run = folder.profile("-t", "mpi", "-o", "whole", *launch, *program, env=ENVIRONMENT)
        # Libraries of MPI may complain of the machine, with the time.
        own = [sorted(line for line in out.splitlines() if line.startswith("rank ")) for out in (run.out, bare.stdout)]
        assert run.code == 0 and own[0] == own[1] and len(own[0]) == SIZE, run
        check(folder.file("whole.rep"), range(SIZE))
        check_stats(folder.file("whole.rep"))
        # A report for each rank.
        variable = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[kind]
        subprocess.run([*launch, tap.LANESCOPE, "profile", "-t", "mpi", "-o", f"rank.%q{{{variable}}}", *program], cwd=folder.path,
                       capture_output=True, env=ENVIRONMENT, check=True, timeout=60)
        for rank in range(SIZE):
            check(folder.file(f"rank.{rank}.rep"), [rank])
        # Ranks that are recorded apart agree on who shares a communicator.
        worlds = {rows(folder.file(f"rank.{rank}.rep"), f"SELECT commUid FROM MPI_COMMUNICATORS WHERE size = {SIZE}")[0] for rank in range(SIZE)}
        assert len(worlds) == 1, worlds


def check_fortran(kind):
    """With mpif.h, and with the module that has types for handles; the one between them is bound as mpif.h is."""
    for switches in ((), ("-DMODULE=mpi_f08", "-DHANDLES")):
        with Folder() as folder:
            launch, program = build(folder, kind, "mpi-ring.F90", "-cpp", "-fallow-argument-mismatch", *switches)
            run = folder.profile("-t", "mpi", "-o", "fortran", *launch, program, str(ROUNDS), env=ENVIRONMENT)
            assert run.code == 0 and sum(line.startswith("rank ") for line in run.out.splitlines()) == SIZE, run
            check(folder.file("fortran.rep"), range(SIZE))


def check_communicators(kind):
    with Folder() as folder:
        launch, program = build(folder, kind, "mpi-communicators.c")
        run = folder.profile("-t", "mpi", "-o", "made", *launch, program, env=ENVIRONMENT)
        assert run.code == 0, run
        said = sorted((members, barriers) for name, barriers, members in (line.split() for line in run.out.splitlines() if line.count(" ") == 2)
                      if barriers.isdigit())
        assert len(said) == 2 * SIZE + 9, run.out
        report = folder.file("made.rep")
        # A communicator has one number in all its processes and each process a row of it, with its own rank in it.
        told = rows(report, "SELECT commUid, members, size, groupRoot, group_concat(rank), group_concat(localRank), count(DISTINCT groupRootUid) FROM "
                            "(SELECT * FROM MPI_COMMUNICATORS ORDER BY localRank) GROUP BY commUid")
        assert len(told) == len(said), told
        for _, members, size, root, ranks, own, roots in told:
            n = members.count(",") + 1
            assert (size, root, ranks, own, roots) == (str(n), members.split(",")[0], members, ",".join(map(str, range(n))), "1"), told
        # Who waited where is what the program said of itself; between two groups there is no number.
        waited = rows(report, "SELECT c.members, count(*) / max(c.size) FROM MPI_COLLECTIVES_EVENTS AS e JOIN StringIds AS s ON s.id = e.textId "
                              "JOIN MPI_RANKS AS r ON r.globalTid = e.globalTid "
                              "JOIN MPI_COMMUNICATORS AS c ON c.commUid = e.commUid AND c.rank = r.rank AND c.commHandle = e.commHandle "
                              "WHERE s.value = 'MPI_Barrier' GROUP BY e.commUid")
        assert sorted(waited) == said, (waited, said)
        assert rows(report, "SELECT count(*) FROM MPI_COLLECTIVES_EVENTS WHERE commUid IS NULL") == [(str(SIZE),)]
        # Parents are named by the handle that they have in the same process.
        assert rows(report, "SELECT count(*) FROM MPI_COMMUNICATORS AS c WHERE parentHandle IS NOT NULL AND NOT EXISTS (SELECT 1 FROM MPI_COMMUNICATORS "
                            "AS p WHERE p.rank = c.rank AND p.commHandle = c.parentHandle)") == [(str(SIZE),)]  # of the merged one: two groups
        subprocess.run([tap.LANESCOPE, "export", "--type", "sqlite", "-o", "made.sqlite", "made.rep"], cwd=folder.path, capture_output=True, check=True)
        with sqlite3.connect(folder.file("made.sqlite")) as database:
            columns = [column[1] for column in database.execute("PRAGMA table_info(MPI_COMMUNICATORS)")]
            assert columns == ["rank", "timestamp", "commHandle", "parentHandle", "localRank", "size", "groupRoot", "groupRootUid", "members", "commUid"]
            assert database.execute("SELECT count(*) FROM MPI_COMMUNICATORS").fetchone()[0] == sum(int(row[2]) for row in told)


def test_open_mpi_communicators():
    check_communicators("openmpi")


def test_mpich_communicators():
    check_communicators("mpich")


def test_open_mpi_fortran():
    check_fortran("openmpi")


def test_mpich_fortran():
    check_fortran("mpich")


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


tap.main(globals(), gate=(test_open_mpi, test_mpich))
