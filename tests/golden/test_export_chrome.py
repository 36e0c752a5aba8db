# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export --type chrome: the trace is what Perfetto and chrome://tracing require, and holds what the tables
hold."""

import collections
import decimal
import json
import os
import sqlite3
import subprocess

import exports
import golden
import tap

REPORT = golden.make_report()


def trace(report):
    out, _ = golden.run("export", "-t", "chrome", "-o", "-", report)
    return check_trace(json.loads(out.decode("utf-8")))  # strict: bad UTF-8 fails


def check_trace(document):
    """The format's rules: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU"""
    assert document["displayTimeUnit"] == "ns"
    events = document["traceEvents"]
    rows, named, slices = set(), set(), collections.defaultdict(list)
    for event in events:
        assert event["ph"] in "XBbeiCMsf" and isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        assert isinstance(event["name"], str), event
        row = (event["pid"], event["tid"])
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and isinstance(event["args"]["name"], str), event
            assert row + (event["name"],) not in named, event
            named.add(row + (event["name"],))
            continue
        assert isinstance(event["ts"], (int, float)), event
        rows.add(row)
        if event["ph"] in "XB":
            assert event["ph"] == "B" or event["dur"] >= 0, event
            slices[row].append((round(1000 * event["ts"]), round(1000 * (event["ts"] + event.get("dur", 0)))))
        elif event["ph"] == "C":
            assert isinstance(event["args"]["value"], (int, float)), event
        elif event["ph"] == "i":
            assert event["s"] == "t", event
    # What is no thread of the system has a name of its own.
    assert all(row + ("thread_name",) in named for row in rows if row[1] >= 1 << 24), rows
    starts = {row: {start for start, _ in found} for row, found in slices.items()}
    for event in events:
        if event["ph"] in "sf":
            assert event["id"].startswith("0x") and int(event["id"], 16) > 0, event
            assert event.get("bp") == ("e" if event["ph"] == "f" else None), event
            assert round(1000 * event["ts"]) in starts[(event["pid"], event["tid"])], event
    return events, slices


def crossing(found):
    """How many slices of one row cross another."""
    n, open_ends = 0, []
    for start, end in sorted(found, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        n += bool(open_ends) and end > open_ends[-1]
        open_ends.append(end)
    return n


def test_nvtx():
    events, _ = trace(REPORT)
    golden.run("export", "-q", REPORT)
    database = sqlite3.connect(golden.path("demo.sqlite"))
    database.text_factory = lambda b: b.decode("utf-8", "replace")
    rows = database.execute("SELECT start, end, coalesce(text, value), eventType FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId "
                            "WHERE eventType IN (34, 59, 60)").fetchall()
    wanted = collections.Counter((start, end - start if end is not None else None, text, "i" if kind == 34 else "B" if end is None else "X")
                                 for start, end, text, kind in rows)
    # Start/end ranges are asynchronous, of their process: they cross others, and may end in another thread.
    started = [e for e in events if e["ph"] == "b"]
    ends = {(e["pid"], e["id2"]["local"]): e["ts"] for e in events if e["ph"] == "e"}
    assert len({(e["pid"], e["id2"]["local"]) for e in started}) == len(started) > 0
    for event in started:
        if (event["pid"], event["id2"]["local"]) in ends:
            event["dur"] = ends[event["pid"], event["id2"]["local"]] - event["ts"]
    got = collections.Counter((round(1000 * e["ts"]), round(1000 * e["dur"]) if "dur" in e else None, e["name"], "X" if e["ph"] == "b" and "dur" in e else e["ph"].upper() if e["ph"] == "b" else e["ph"])
                              for e in events if e.get("cat") == "nvtx" and e["ph"] != "e")
    # How many U+FFFD a broken byte gives is the decoder's choice.
    plain = lambda names: {k: n for k, n in names.items() if k[2] is None or "\ufffd" not in k[2]}
    assert len(rows) > 20 and {k[:2] + (k[2] or "",) + k[3:]: n for k, n in plain(wanted).items()} == plain(got), wanted - got
    counters = [(round(1000 * e["ts"]), e["name"], e["args"]["value"]) for e in events if e["ph"] == "C"]
    assert sorted(counters) == sorted(database.execute("SELECT timestamp, name, value FROM LNS_COUNTERS").fetchall())


@exports.on_each(["tiny", "loop", "pair", "graphs", "old"], ["rtx3080-tiny", "a100-pytorch-lm", "a100-mpi-saxpy"], least=(1200, 5000))
def test_cuda(names, least):
    n_kernels = 0
    for name in names:
        events, slices = trace(exports.report(name))
        database = exports.exported(name)
        for table, category in [("KERNEL", "kernel"), ("MEMCPY", "gpu_memcpy"), ("MEMSET", "gpu_memset"), ("RUNTIME", "cuda_runtime")]:
            if not exports.has(database, "CUPTI_ACTIVITY_KIND_" + table):
                continue
            n, = database.execute(f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{table}").fetchone()
            assert n == sum(e.get("cat") in (category, "cuda_driver" if table == "RUNTIME" else category) for e in events), (name, table)
        wanted = {(start, end - start, text) for start, end, text in database.execute(
            "SELECT start, end, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName")}
        got = {(round(1000 * e["ts"]), round(1000 * e["dur"]), e["name"]) for e in events if e.get("cat") == "kernel"}
        assert got == wanted, name
        n_kernels += len(wanted)
        begins = {e["id"] for e in events if e["ph"] == "s"}
        ends = {e["id"] for e in events if e["ph"] == "f"}
        linked, = database.execute("SELECT count(DISTINCT globalTid >> 24 << 32 | correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME r"
                                   " WHERE EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE k.correlationId = r.correlationId"
                                   " AND k.globalPid >> 24 = r.globalTid >> 24)").fetchone()
        assert len(begins & ends) >= linked, (name, len(begins & ends), linked)
        for row, found in slices.items():
            assert row[1] < 1 << 24 or crossing(found) == 0, (name, row)
    assert n_kernels > least, n_kernels


NVTX = """SELECT coalesce(e.text, s.value), e.eventType, e.start, e.end, e.color, e.category, e.rangeId, e.uint64Value, e.int64Value, e.doubleValue, e.uint32Value,
    e.int32Value, e.floatValue, e.jsonText, e.globalTid & 0xffffffffffff, nullif(e.endGlobalTid, e.globalTid) & 0xffffffffffff, (SELECT text FROM domains d WHERE d.domainId = e.domainId AND d.process = e.globalTid >> 24)
    FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId WHERE e.eventType IN (34, 59, 60)"""
ON_GPU = "start, end, deviceId, contextId, streamId, correlationId, (globalPid >> 24) & 0xffffff"
NAME = "(SELECT value FROM StringIds WHERE id = %s)"
SAME = {
    "NVTX_EVENTS": NVTX,
    "CUPTI_ACTIVITY_KIND_RUNTIME": f"SELECT start, end, eventClass, globalTid & 0xffffffffffff, correlationId, {NAME % 'nameId'}, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"SELECT {ON_GPU}, {NAME % 'demangledName'}, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, "
                                  "dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"SELECT {ON_GPU}, bytes, copyKind, srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"SELECT {ON_GPU}, bytes, memKind FROM CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"SELECT {ON_GPU}, syncType FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "LNS_COUNTERS": "SELECT timestamp, name, value, (globalPid >> 24) & 0xffffff, (SELECT text FROM domains d WHERE d.domainId = c.domainId AND d.process = c.globalPid >> 24) "
                    "FROM LNS_COUNTERS c",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"SELECT {ON_GPU}, graphId, graphExecId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "MPI_RANKS": "SELECT globalTid >> 24 & 0xffffff, rank FROM MPI_RANKS",
    "LNS_FLOWS": f"SELECT start, end, globalTid & 0xffffffffffff, endGlobalTid & 0xffffffffffff, {NAME % 'nameId'}, category, flowId FROM LNS_FLOWS",
}
# Of calls of libraries, MPI and the system all columns, but for the ids of what a trace does not have.
CALLS = ["CUBLAS_EVENTS", "CUDNN_EVENTS", "LNS_CUSPARSE_EVENTS", "LNS_CUSOLVER_EVENTS", "OSRT_API", "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS"]


def question_of(database, table):
    if table not in CALLS:
        return SAME[table]
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    written = {"globalTid": "globalTid & 0xffffffffffff", "nameId": NAME % "nameId", "textId": NAME % "textId"}
    return f"SELECT {', '.join(written.get(c, c) for c in columns if c not in ('callchainId', 'argumentsId'))} FROM {table}"


def make_calls(path):
    """An export of nsys with two rows of each table of calls, and two executions of graphs: no public one has them all."""
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "first"), (2, "second"), (3, "count"), (4, "jobs")])
    database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, domainId INTEGER)")
    database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?)",
                         [(5, 900, 59, "r", 7 << 24 | 8, 0), (0, None, 75, "jobs", 7 << 24 | 8, 3), (6, 800, 59, "in jobs", 7 << 24 | 8, 3),
                          (5, 900, 59, "r", 9 << 24 | 9, 0)])
    database.execute("CREATE TABLE LNS_COUNTERS (timestamp INTEGER, name TEXT, value, globalPid INTEGER, domainId INTEGER)")
    database.executemany("INSERT INTO LNS_COUNTERS VALUES (?, ?, ?, ?, ?)",
                         [(10, "depth", 4, 7 << 24, 3), (20, "depth", 5, 7 << 24, 3), (15, "depth", 2.5, 7 << 24, 0)])
    database.execute("CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER)")
    database.executemany("INSERT INTO MPI_RANKS VALUES (?, ?)", [(7 << 24 | 8, 3), (9 << 24 | 9, 12)])
    for n, (table, more) in enumerate([("CUBLAS_EVENTS", {"eventClass": 29}), ("CUDNN_EVENTS", {"eventClass": 28}),
                                       ("LNS_CUSPARSE_EVENTS", {"returnValue": 7}), ("LNS_CUSOLVER_EVENTS", {"returnValue": 9}),
                                       ("OSRT_API", {"eventClass": 27, "returnValue": -1, "nestingLevel": 0}),
                                       ("MPI_P2P_EVENTS", {"commHandle": 77, "tag": 5, "remoteRank": 1, "size": 4096}),
                                       ("MPI_COLLECTIVES_EVENTS", {"commHandle": 77, "size": 8, "recvSize": 16, "rootRank": 0}),
                                       ("MPI_START_WAIT_EVENTS", {}), ("MPI_OTHER_EVENTS", {})]):
        name = "textId" if table.startswith("MPI") else "nameId"
        columns = ["start", "end", "globalTid", name, *more]
        database.execute(f"CREATE TABLE {table} ({', '.join(c + ' INTEGER' for c in columns)})")
        for i in range(2):
            database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
                             (100 * n + 40 * i, 100 * n + 40 * i + 30, 7 << 24 | 8 + i, 1 + i, *more.values()))
    database.execute("INSERT INTO MPI_OTHER_EVENTS VALUES (990, NULL, ?, 2)", (7 << 24 | 8,))  # it has not ended
    columns = "start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, graphExecId"
    database.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE ({', '.join(c + ' INTEGER' for c in columns.split(', '))})")
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, 0, 1, 7, ?, ?, 3, ?)",
                         [(500, 520, 61, 7 << 24, 30), (530, 550, 62, 7 << 24, 31)])
    database.commit()
    database.close()
    exports.make(path, path + ".rep")
    return path + ".rep"


FLOWS = [{"ph": p, "pid": 3, "tid": tid, "ts": ts, "id": i, "name": "fwdbwd", "cat": "fwdbwd", **more} for p, tid, ts, i, more in (
    ("s", 4, 10, 1, {}), ("f", 5, 20, 1, {"bp": "e"}), ("s", 4, 11, "0x2", {}), ("t", 5, 12, "0x2", {}), ("f", 6, 21.5, "0x2", {}), ("s", 4, 30, 1, {}), ("f", 4, 31, 1, {}))]


def make_flows(path):
    ranges = [{"ph": "X", "pid": 3, "tid": tid, "ts": 9, "dur": 30, "name": "r", "cat": "nvtx"} for tid in (4, 5, 6)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": ranges + FLOWS}, file)
    exports.make(path, path + ".rep")
    return path + ".rep"


def test_what_is_exported_comes_back():
    """report → chrome → import: the same events in the same tables, correlations, colours, domains and arrows; times count from the
    file's first."""
    reports = [REPORT, os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep"), make_calls(golden.path("calls.sqlite")),
               make_flows(golden.path("flows.json")), *map(exports.report, exports.OWN)]
    check_trips(reports, 2)


def test_what_is_exported_comes_back_of_the_corpus():
    exports.need()
    check_trips([exports.report(name) for name in exports.corpus() if name != "a100-julia-cg"], 0)  # of which a Chrome trace has nothing


def check_trips(reports, least):
    n_rows = collections.Counter()
    for report in reports:
        golden.run("export", "-q", "-f", "true", "-t", "chrome", "-o", "trip.json", report)
        err = golden.run("import", "-f", "true", "-o", "trip.rep", "trip.json")[1].decode()
        with open(golden.path("trip.json"), encoding="utf-8") as file:
            first = next(e for e in json.load(file)["traceEvents"] if e["ph"] != "M")
        shift = round(1000 * first["ts"])
        assert "left out" not in err, (report, err)
        pair = []
        for path in (report, golden.path("trip.rep")):
            golden.run("export", "-q", "-f", "true", "--lazy=false", *([] if pair else [f"--ts-shift={-shift}"]), "-o", "trip.sqlite", path)
            database = sqlite3.connect(golden.path("trip.sqlite"))
            database.text_factory = lambda b: b.decode("utf-8", "replace").replace("\ufffd", "")
            database.execute("CREATE TEMP TABLE domains AS SELECT globalTid >> 24 AS process, domainId, coalesce(text, value) AS text FROM NVTX_EVENTS "
                             "LEFT JOIN StringIds ON id = textId WHERE eventType = 75")
            has = {name for name, in database.execute("SELECT name FROM sqlite_master")}
            pair.append({table: collections.Counter(database.execute(question_of(database, table)).fetchall() if table in has else [])
                         for table in [*SAME, *CALLS]})
            names = database.execute("SELECT globalTid & 0xffffffffffff, value FROM ThreadNames JOIN StringIds ON id = nameId").fetchall()
            assert not [name for name in names if "stream" in name[1]], names
            database.close()
        for table in [*SAME, *CALLS]:
            missing, more = pair[0][table] - pair[1][table], pair[1][table] - pair[0][table]
            assert not missing and not more, (report, table, sum(missing.values()), list(missing.items())[:2], list(more.items())[:2])
            n_rows[table] += sum(pair[0][table].values())
    assert all(n_rows[table] >= least for table in [*SAME, *CALLS]), n_rows


def test_durations_end_at_the_greatest_number():
    """A row that is kept as it was may have a start and an end that lie further apart than int64 reaches."""
    with sqlite3.connect(golden.path("long.sqlite")) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
                correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (-5, 0x7fffffffffffffff, 0, 1, 7, 1, 77 << 24, 64, 1), (10, 30, 0, 1, 7, 2, 77 << 24, 64, 1);""")
    out, _ = golden.run("export", "-t", "chrome", "-o", "-", "long.sqlite")
    copies = [event for event in json.loads(out, parse_float=decimal.Decimal)["traceEvents"] if event["ph"] == "X"]
    assert [(1000 * e["ts"], 1000 * e["dur"]) for e in copies] == [(-5, 0x7fffffffffffffff), (10, 20)], copies


def test_a_trace_without_an_event_is_told():
    """Its names of processes and threads are no events: no viewer shows it, and import refuses it."""
    for words, reason in ((["--times", "1000s/1001s"], b"--times or --tables leave out every event"), (["--tables", "StringIds"], b"--times or --tables leave out"), ([], b"")):
        out, err = golden.run("export", "-q", "-t", "chrome", *words, "-o", "-", REPORT)
        events = [event for event in json.loads(out)["traceEvents"] if event["ph"] != "M"]
        assert (not events) == (reason != b"") == err.startswith(b"lanescope: warning: the output is empty: ") and reason in err, (words, err)
    empty = golden.path("nothing.rep")
    subprocess.run([tap.LANESCOPE, "profile", "-t", "none", "-f", "true", "-o", empty, "true"], check=True, capture_output=True)
    made = golden.path("empty.json")
    _, err = golden.run("export", "-t", "chrome", "-o", made, empty)
    assert b"warning: " + made.encode() + b" is empty: the report holds no event that a trace can show" in err, err


def test_switches_of_tables():
    """Times and tables are chosen as in the other types."""
    out, _ = golden.run("export", "-t", "chrome", "-o", "-", "--times", "3us/9us", "--tables", "NVTX_EVENTS", "--ts-shift=1000000", REPORT)
    events, _ = check_trace(json.loads(out))
    whole = [e for e in events if e["ph"] == "X"]
    assert whole and all(1003 <= e["ts"] and e["ts"] + e["dur"] <= 1009.001 for e in whole)
    assert not [e for e in events if e["ph"] == "C"]


tap.main(globals())
