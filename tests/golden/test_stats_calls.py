# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope stats of calls and scheduling in imported files (OS runtime, CPUs, OpenACC, MPI), compared with plain Python and SQL."""

import collections
import csv
import decimal
import functools
import io
import shutil
import sqlite3
import statistics

import exports
import golden
import tap


def stats(report, name):
    return list(csv.DictReader(io.StringIO(golden.run("stats", "-q", "-r", name, "-f", "csv", report)[0].decode())))


def half_up(value):
    return str(decimal.Decimal(value).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP))


def check(rows, groups, keys, unit=" (ns)", count="Num Calls", total="Total Time"):
    """That ROWS are sums of GROUPS (values by the texts of KEYS), the largest first."""
    whole = sum(map(sum, groups.values()))
    totals = [int(r[total + unit]) for r in rows]
    assert totals == sorted(totals, reverse=True) and len(rows) == len(groups)
    for row in rows:
        values = groups[tuple(row[k] for k in keys)]
        assert int(row[total + unit]) == sum(values) and int(row[count]) == len(values), row
        assert row["Avg" + unit] == half_up(sum(values) / len(values)) and float(row["Med" + unit]) == statistics.median(values), row
        assert (int(row["Min" + unit]), int(row["Max" + unit])) == (min(values), max(values)), row
        assert abs(float(row["StdDev" + unit]) - (statistics.stdev(values) if len(values) > 1 else 0)) <= 0.0501, row
        assert "Time (%)" not in row or row["Time (%)"] == half_up(100 * sum(values) / whole), row


@exports.on_each(least=(9, 80))
def test_os_runtime_of_each_export(names, least):
    n = 0
    for name in names:
        database, groups = exports.source(name), collections.defaultdict(list)
        if exports.has(database, "OSRT_API"):
            for value, duration in database.execute("SELECT value, end - start FROM OSRT_API JOIN StringIds ON id = nameId WHERE eventClass = 27"):
                groups[value,].append(duration)
        check(stats(exports.report(name), "osrt_sum"), groups, ["Name"])
        n += len(groups)
    assert n > least, n


def sums_of(switches):
    """What sched_sum says of a thread with these (start, cpu, is_in, state), by column."""
    pairs = list(zip(switches, switches[1:]))
    states = [state for _, _, is_in, state in switches if not is_in and state]
    without = {state: [later[0] - one[0] for one, later in pairs if not one[2] and one[3] == state] for state in (2, 3, 4, 6, 7)}
    known = {"Preempted (ns)": sum(without[6]), "Blocked (ns)": sum(sum(without[state]) for state in (2, 3, 4, 7)), "Preemptions": states.count(6)}
    return {"Running (ns)": str(sum(later[0] - one[0] for one, later in pairs if one[2] and not later[2])),
            "Runs": str(sum(1 for switch in switches if switch[2])),
            "Migrations": str(sum(1 for one, later in pairs if later[2] and later[1] != one[1])),
            "Longest Wait for CPU (ns)": str(max(without[6])) if without[6] else "",
            "Uninterruptible (ns)": str(sum(without[3])) if {2, 3} & set(states) else "",
            "Wakeup Latency (ns)": "", "Woken By": "",
            **{title: str(value) if states else "" for title, value in known.items()}}


@exports.on_each(least=(0, 3))
def test_scheduling_of_each_export(names, least):
    n = 0
    for name in names:
        database, threads = exports.source(name), collections.defaultdict(list)
        if exports.has(database, "SCHED_EVENTS"):
            columns = {row[1] for row in database.execute("PRAGMA table_info(SCHED_EVENTS)")}
            state = "threadState" if "threadState" in columns else "NULL"
            for tid, *switch in database.execute(f"SELECT globalTid, start, cpu, isSchedIn, {state} FROM SCHED_EVENTS ORDER BY start, rowid"):
                threads[tid].append(switch)
        rows = stats(exports.report(name), "sched_sum") if threads else []
        wanted = sorted(((tid & 0xFFFFFF, tid >> 24 & 0xFFFFFF, sums_of(switches)) for tid, switches in threads.items()), key=lambda w: w[:2])
        found = sorted(((int(r["TID"]), int(r["PID"]), {title: r[title] for title in sums_of([])}) for r in rows), key=lambda f: f[:2])
        assert found == wanted, (name, [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:2])
        runs = [int(row["Running (ns)"]) for row in rows]
        assert runs == sorted(runs, reverse=True), name
        n += len(rows)
    assert n > least, n


def test_who_woke_whom():
    """Shares of all that woke a thread: threads, interrupts, and what is not known."""
    path, pid = golden.path("wakes.sqlite"), 10 << 24
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT);
        CREATE TABLE SCHED_EVENTS (start INT, cpu INT, isSchedIn INT, globalTid INT, threadState INT, threadBlock INT, wakerTid INT, wakeLatency INT)""")
    for number, name in enumerate(("main", "feeder"), 1):
        database.execute("INSERT INTO StringIds VALUES (?, ?)", (number, name))
        database.execute("INSERT INTO ThreadNames VALUES (?, 0, ?)", (number, pid + number))
    feeder, interrupt, untold, preempted = (2, pid + 2, 5), (2, None, 5), (2, None, None), (6, None, None)
    wakes = {1: [interrupt] * 2998 + [feeder] + [untold], 2: [(2, pid + 1, 3), preempted], 3: [untold, preempted], 4: [preempted] * 3, 5:
             [(3, pid + tid, 1) for tid in (6, 6, 6, 6, 7, 7, 7, 8, 9)] + [interrupt] * 2}
    for tid, each in wakes.items():
        database.execute("INSERT INTO SCHED_EVENTS VALUES (0, 0, 1, ?, 1, 0, NULL, NULL)", (pid + tid,))
        for number, (state, waker, latency) in enumerate(each, 1):
            database.execute("INSERT INTO SCHED_EVENTS VALUES (?, 0, 0, ?, ?, 0, NULL, NULL)", (100 * number - 50, pid + tid, state))
            database.execute("INSERT INTO SCHED_EVENTS VALUES (?, 0, 1, ?, 1, 0, ?, ?)", (100 * number, pid + tid, waker, latency))
    database.commit()
    exports.make(path, golden.path("wakes.rep"))
    found = {int(row["TID"]): row["Woken By"] for row in stats(golden.path("wakes.rep"), "sched_sum")}
    assert found == {1: "interrupt 99.9 %, feeder (2) under 0.1 %, not known under 0.1 %", 2: "main (1) 100.0 %", 3: "not known 100.0 %", 4: "",
                     5: "(6) 36.4 %, (7) 27.3 %, interrupt 18.2 %, 2 more 18.2 %"}, found


@functools.cache
def made():
    """An export with MPI and OpenACC tables that no public one has."""
    path = golden.path("mpi.sqlite")
    shutil.copy(exports.path("tiny"), path)
    database = sqlite3.connect(path)
    tid, = database.execute("SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1").fetchone()
    last, = database.execute("SELECT max(id) FROM StringIds").fetchone()
    names = {name: last + 1 + i for i, name in enumerate(("MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Wait", "MPI_Init", "Compute Construct"))}
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, n) for n, i in names.items()])
    database.executescript("""
        CREATE TABLE MPI_P2P_EVENTS (start INT, end INT, globalTid INT, textId INT, commHandle INT, tag INT, remoteRank INT, size INT, requestHandle INT);
        CREATE TABLE MPI_COLLECTIVES_EVENTS (start INT, end INT, globalTid INT, textId INT, commHandle INT, rootRank INT, size INT, recvSize INT, requestHandle INT);
        CREATE TABLE MPI_START_WAIT_EVENTS (start INT, end INT, globalTid INT, textId INT, requestHandle INT);
        CREATE TABLE MPI_OTHER_EVENTS (start INT, end INT, globalTid INT, textId INT);
        CREATE TABLE MPI_RANKS (globalTid INT, rank INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH (start INT, end INT, nameId INT, eventClass INT, globalTid INT);""")
    at = 10 ** 9
    for i in range(40):
        database.execute("INSERT INTO MPI_P2P_EVENTS VALUES (?, ?, ?, ?, 1, ?, ?, ?, NULL)",
                         (at + 1000 * i, at + 1000 * i + 10 + i * i % 37, tid, names["MPI_Send" if i % 3 else "MPI_Recv"], i, i % 4, 8 * i))
    for i in range(9):
        database.execute("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (?, ?, ?, ?, 1, 0, ?, ?, NULL)",
                         (at + 100000 + 1000 * i, at + 100000 + 1000 * i + 500 - i, tid, names["MPI_Bcast"], 64 * i, 128 * i))
    database.execute("INSERT INTO MPI_START_WAIT_EVENTS VALUES (?, ?, ?, ?, 7)", (at + 200000, at + 200777, tid, names["MPI_Wait"]))
    database.execute("INSERT INTO MPI_OTHER_EVENTS VALUES (?, ?, ?, ?)", (at - 5000, at - 1000, tid, names["MPI_Init"]))
    database.execute("INSERT INTO MPI_RANKS VALUES (?, 3)", (tid,))
    for i in range(5):
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH VALUES (?, ?, ?, 0, ?)", (at + i, at + 2 * i + 5, names["Compute Construct"], tid))
    database.commit()
    exports.make(path, golden.path("mpi.rep"))
    return database, golden.path("mpi.rep"), tid


MPI = (("p2p", "MPI_P2P_EVENTS"), ("coll", "MPI_COLLECTIVES_EVENTS"), ("start_wait", "MPI_START_WAIT_EVENTS"), ("other", "MPI_OTHER_EVENTS"))


def test_mpi():
    database, report, tid = made()
    times, sizes, wanted = collections.defaultdict(list), collections.defaultdict(list), []
    for source, table in MPI:
        columns = {"p2p": "tag, remoteRank, NULL, size, NULL, NULL", "coll": "NULL, NULL, rootRank, NULL, size, recvSize"}.get(source, "NULL, NULL, NULL, NULL, NULL, NULL")
        for start, end, name, tag, peer, root, size, sent, received in database.execute(
                f"SELECT start, end, value, {columns} FROM {table} JOIN StringIds ON id = textId"):
            times[source, name].append(end - start)
            for kind, value in (("p2p", size), ("coll_send", sent), ("coll_recv", received)):
                if value is not None:
                    sizes[kind, name].append(value)
            wanted.append((start, end, end - start, name, tid >> 24 & 0xFFFFFF, tid & 0xFFFFFF, tag, 3, peer, root, size, sent, received))
    check(stats(report, "mpi_event_sum"), times, ["Source", "Name"], count="Instances")
    check(stats(report, "mpi_msg_size_sum"), sizes, ["Source", "Name"], unit=" (B)", count="Instances", total="Total Message Volume")
    rows = [tuple(r.values()) for r in stats(report, "mpi_event_trace")]
    assert rows == [tuple("" if v is None else str(v) for v in w) for w in sorted(wanted)], (rows[:2], sorted(wanted)[:2])


def test_mpi_ranks_that_are_not_there():
    """MPI_RANKS may lack a column, or be missing: then calls have no rank."""
    path = golden.path("ranks.sqlite")
    for table in ("(globalTid INT)", "(rank INT)", None):
        with sqlite3.connect(path) as database:
            made()[0].backup(database)
            database.execute("DROP TABLE MPI_RANKS")
            if table:
                database.execute(f"CREATE TABLE MPI_RANKS {table}")
                database.execute("INSERT INTO MPI_RANKS VALUES (?)", (made()[2],))
        database.close()
        wanted = [{**row, "Rank": ""} for row in stats(made()[1], "mpi_event_trace")]
        assert stats(path, "mpi_event_trace") == wanted and len(wanted) == 51, table


def test_openacc():
    database, report, _ = made()
    groups = {("Compute Construct",): [end - start for start, end in database.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH")]}
    check(stats(report, "openacc_sum"), groups, ["Name"])


def test_what_is_there_but_not_summed_up():
    path = golden.path("vulkan.sqlite")
    shutil.copy(exports.path("tiny"), path)
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE VULKAN_API (start INT, end INT); INSERT INTO VULKAN_API VALUES (1, 2)")
    database.close()
    for report, told in (("vulkan_api_sum", b"has a table VULKAN_API, which this version does not sum up: `lanescope sql` reads it"),
                         ("wddm_queue_sum", b"does not contain WDDM context data"), ("nvtx_sum", b"does not contain NV Tools")):
        out, _ = golden.run("stats", "-q", "-r", report, path)
        assert out.startswith(b"SKIPPED: " + path.encode() + b" " + told) and len(out.splitlines()) == 2, out
    assert golden.run("sql", path, "SELECT count(*) FROM VULKAN_API")[0] == b"1\n"


def test_rows_whose_times_are_far_apart():
    """Tables that are kept as they are may hold any number: what does not fit is the greatest there is, and nothing is negative."""
    path = golden.path("far.sqlite")
    greatest = 2 ** 63 - 1
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO StringIds VALUES (1, 'read'), (2, 'write');
            CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
            CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
            INSERT INTO NVTX_EVENTS VALUES (0, 10, 59, 'x', 281543712968705);
            """)
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH VALUES (?, ?, 281543712968705, ?)",
                             [(-greatest, greatest, 1), (-greatest, greatest - 1, 1), (10, 30, 2), (10, 50, 2)])
    rows = {row["Name"]: row for row in stats(path, "openacc_sum")}
    assert int(rows["read"]["Min (ns)"]) == int(rows["read"]["Max (ns)"]) == greatest, rows
    assert float(rows["read"]["Med (ns)"]) > 0 and float(rows["read"]["Avg (ns)"]) > 0, rows
    assert rows["write"]["Med (ns)"] == "30.0" and rows["write"]["Total Time (ns)"] == "60", rows
    report = golden.make_report("far.rep")
    _, err = golden.run("analyze", "-r", "gpu_gaps", "--gap=99999999999999999", report, code=125)
    assert b"--gap" in err, err
    golden.run("analyze", "-r", "gpu_gaps", "--gap=9223372036854", report)


tap.main(globals())
