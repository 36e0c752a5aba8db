# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""nsys exports → .rep → export again: each row of each table comes back, field by field. Names are compared
as text, rows as multisets."""

import collections
import concurrent.futures
import contextlib
import csv
import json
import os
import pty
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import exports
import golden
import tap

# Columns that hold ids of StringIds.
NAMES = {"nameId", "textId", "jsonTextId", "shortName", "demangledName", "mangledName", "CpuInstruction", "module"}

# Columns that follow from others where a file lacks them: where the row lies, and when its call was.
FOLLOWING = {"eventId", "timestamp"}

TABLES = ["PROCESSES", "ThreadNames", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
          "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
          "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA_GRAPH_EVENTS",
          "CUDA_GRAPH_NODE_EVENTS", "PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD", "CUPTI_ACTIVITY_KIND_JIT", "OSRT_API",
          "SCHED_EVENTS", "COMPOSITE_EVENTS", "CUBLAS_EVENTS", "CUDNN_EVENTS", "CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
          "CUDA_UM_GPU_PAGE_FAULT_EVENTS"]


def tables_of(database):
    return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def columns_of(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info ({table})")]


def rows_of(database, table, columns):
    """The rows as a multiset of tuples, names as text."""
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    found = collections.Counter()
    for row in database.execute(f'SELECT {", ".join(chr(34) + name + chr(34) for name in columns)} FROM {table}'):
        values = dict(zip(columns, row))
        for name in NAMES & values.keys():
            values[name] = strings.get(values[name])
        found[tuple(values.values())] += 1
    return found


def compare(name, source, result, table):
    for database in (source, result):
        database.text_factory = lambda value: value.decode("utf-8", "surrogateescape")
    if not columns_of(result, table):  # some are left out where they are empty
        assert source.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, (name, table)
        return
    columns = [column for column in columns_of(source, table) if column != "eventId"]
    unknown = set(columns) - set(columns_of(result, table))
    kept = [column for column in columns if column not in unknown]
    expected = rows_of(source, table, kept)
    actual = rows_of(result, table, kept)
    missing, more = expected - actual, actual - expected
    assert not missing, f"{name}, {table}: {sum(missing.values())} rows are missing, as {next(iter(missing))}; there is {next(iter(more), None)}"
    assert not more, f"{name}, {table}: {sum(more.values())} rows too many, as {next(iter(more))}"
    # Nothing is made up of what the file does not tell.
    for column in set(columns_of(result, table)) - set(columns_of(source, table)) - FOLLOWING:
        n = result.execute(f'SELECT count("{column}") FROM {table}').fetchone()[0]
        assert n == 0, f"{name}, {table}: {n} rows say something in {column}, which the file does not have"


@exports.on_each(least=(5000, 190000))
def test_every_row_comes_back(names, least):
    n_rows = 0
    for name in names:
        source, result = exports.source(name), exports.exported(name)
        strings = [{row[0] for row in database.execute("SELECT value FROM StringIds")} for database in (source, result)]
        assert strings[0] <= strings[1], f"{name}: strings are missing, as {next(iter(strings[0] - strings[1]))!r}"
        for table in TABLES:
            if columns_of(source, table):
                compare(name, source, result, table)
                n_rows += source.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    assert n_rows > least, n_rows


@exports.on_each(["loop", "old"], ["a100-pytorch-lm"])
def test_cuda_events_without_times_are_where_their_calls_are(names, _):
    for name in names:
        source, result = exports.source(name), exports.exported(name)
        wanted = dict(source.execute("SELECT correlationId, start FROM CUPTI_ACTIVITY_KIND_RUNTIME"))
        found = dict(result.execute("SELECT correlationId, timestamp FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT"))
        assert len(found) == 2 and all(wanted[correlation] == time_ns for correlation, time_ns in found.items()), (name, found)


# --- Files as they are found

def copy_of(name, copy):
    """A copy of an export that may be changed."""
    path = golden.path(copy)
    shutil.copy(exports.path(name), path)
    os.chmod(path, 0o644)
    return path, sqlite3.connect(path)


def imported(path):
    """What an export says of the import of PATH."""
    golden.run("import", "-q", "-f", "true", "-o", path + ".rep", path)
    golden.run("export", "-q", "-f", "true", "-o", path + ".back.sqlite", path + ".rep")
    return sqlite3.connect(path + ".back.sqlite")


def lanes_of(report):
    return [line for line in golden.run("info", report)[0].decode().splitlines() if line.startswith(("tracks:", "lanes:", "events:"))]


@exports.on_each(["pair", "loop"], ["h100x2-nccl"])
def test_rows_may_lie_in_any_order(names, _):
    for name in names:
        path, database = copy_of(name, f"shuffled-{name}.sqlite")
        for table in {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"} & tables_of(database):
            database.executescript(f"CREATE TABLE t AS SELECT * FROM {table} ORDER BY rowid * 1000003 % 99991; DELETE FROM {table};"
                                   f"INSERT INTO {table} SELECT * FROM t; DROP TABLE t")
        database.commit()
        result = imported(path)
        for table in TABLES:
            if columns_of(database, table):
                compare(name, database, result, table)
        # Depths too: no more lanes than those of rows in order.
        assert lanes_of(path + ".rep") == lanes_of(exports.report(name)), name


def test_any_table_and_column_may_be_absent():
    path, database = copy_of("tiny", "less.sqlite")
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'ENUM_%'")]
    for table in tables:
        database.execute(f"DROP TABLE {table}")
        database.commit()
        left = set(tables[tables.index(table) + 1:]) & (set(TABLES) | {"TARGET_INFO_GPU"})
        if left:
            result = imported(path)
            for other in left & set(TABLES) - {"CUPTI_ACTIVITY_KIND_RUNTIME"} if table == "StringIds" else []:
                assert result.execute(f"SELECT count(*) FROM {other}").fetchone()[0] > 0, other
    path, database = copy_of("tiny", "narrow.sqlite")
    for column in ("globalPid", "correlationId", "shortName", "mangledName", "gridId", "greenContextId"):
        database.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN {column}")
    database.commit()
    compare("narrow", database, imported(path), "CUPTI_ACTIVITY_KIND_KERNEL")


def test_an_export_of_2020():
    """Without a version, metadata, ENUM_ tables, processes; NVTX texts registered, ends open, starts below 0."""
    path = golden.path("2020.sqlite")
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO StringIds VALUES (3, 'forward'), (9, 'saxpy(float*)'), (10, 'saxpy'), (12, 'cudaLaunchKernel_v7000');
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
            color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
        INSERT INTO NVTX_EVENTS VALUES (300, 400, 59, NULL, NULL, NULL, 'inner', 281543712968705, NULL, NULL, 0),
            (-50, NULL, 59, NULL, NULL, NULL, NULL, 281543712968705, NULL, 3, 0), (-10, 900, 59, NULL, NULL, NULL, NULL, 281543712968705, NULL, 3, 0);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
            globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (310, 320, 0, 281543712968705, 7, 12, 0), (312, 318, 1, 281543712968705, 7, 12, 0);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
            contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
            shortName INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, made_by_hand TEXT);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (330, 390, 0, 1, 7, 7, 281543712964608, 9, 10, 4, 1, 1, 'me'), (395, 396, 0, 1, 7, 999, 281543712964608, 9, 10, 4, 1, 1, NULL);
        """)
    result = imported(path)
    for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"):
        compare("2020", database, result, table)
    out = golden.run("stats", "-r", "nvtx_pushpop_trace,cuda_gpu_kern_sum", path)[0].decode()
    assert "saxpy(float*)" in out and "forward" in out, out
    # The range that never ended is around all others.
    depths = golden.run("sql", path, "SELECT start FROM NVTX_EVENTS ORDER BY rowid")[0].decode().split()
    assert depths[-3:] == ["-50", "-10", "300"], depths


def test_entry_points_of_the_runtime_go_by_their_public_names():
    """Calls only: a range of that name is what its program called it."""
    path = golden.path("cuda13.sqlite")
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO StringIds VALUES (1, '__cudaLaunchKernel_v13000'), (2, '__cudaLaunchKernel_ptsz_v13000'), (3, '__cudaLaunchKernel'),
            (4, '__cudaRegisterVar_v13000'), (5, 'cudaLaunchKernelExC_v11060');
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, globalTid INTEGER, textId INTEGER,
            domainId INTEGER);
        INSERT INTO NVTX_EVENTS VALUES (300, 400, 59, 281543712968705, 1, 0);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
            globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
        """)
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ? + 5, 0, 281543712968705, ?, ?, 0)",
                         [(310 + 10 * i, 310 + 10 * i, i, i) for i in range(1, 6)])
    database.commit()
    result = imported(path)
    names = [name for name, in result.execute("SELECT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON nameId = id ORDER BY start")]
    assert names == ["cudaLaunchKernel_v7000", "cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel", "__cudaRegisterVar_v13000",
                     "cudaLaunchKernelExC_v11060"], names
    assert golden.run("sql", path, "SELECT coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON textId = id")[0].split()[-1] \
        == b"__cudaLaunchKernel_v13000"


def test_gpus_of_2020():
    """Their ids are in a column called deviceId: each GPU is its own, and shown under its own name."""
    path = golden.path("gpus.sqlite")
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO StringIds VALUES (9, 'k');
        CREATE TABLE TARGET_INFO_GPU (deviceId INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, smCount INTEGER);
        INSERT INTO TARGET_INFO_GPU VALUES (1, 'GPU-1', '0000:02:00.0', 2000000000, 2), (0, 'GPU-0', '0000:01:00.0', 1000000000, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
            contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
            shortName INTEGER NOT NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 1, 281543712964608, 9, 9), (30, 50, 1, 2, 7, 2, 281543712964608, 9, 9);
        """)
    database.commit()
    out = golden.run("stats", "-r", "cuda_gpu_trace", "-f", "csv", path)[0].decode().splitlines()
    header = next(line for line in out if "Start" in line).split(",")
    devices = {row[header.index("Start (ns)")]: row[header.index("Device")] for row in (line.split(",") for line in out) if row[0].isdigit()}
    assert devices == {"10": "GPU-0 (0)", "30": "GPU-1 (1)"}, out
    result = imported(path)
    compare("gpus", database, result, "TARGET_INFO_GPU")
    compare("gpus", database, result, "CUPTI_ACTIVITY_KIND_KERNEL")


def test_gpus_that_processes_number_for_themselves():
    """A process that sees one GPU of two calls it 0, whichever it is: TARGET_INFO_CUDA_DEVICE says which."""
    path = golden.path("visible.sqlite")
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
            INSERT INTO StringIds VALUES (9, 'k');
            CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, cuDevice INTEGER);
            INSERT INTO TARGET_INFO_GPU VALUES (0, 'GPU-0', '0000:01:00.0', 1000000000, NULL), (1, 'GPU-1', '0000:02:00.0', 2000000000, NULL);
            CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
            INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 5, NULL, NULL), (0, 0, 6, NULL, NULL);
            CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
            INSERT INTO PROCESSES VALUES (5 << 24, 5, 'five'), (6 << 24, 6, 'six');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
                contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
                shortName INTEGER NOT NULL);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 1, 5 << 24, 9, 9), (30, 50, 0, 1, 7, 1, 6 << 24, 9, 9);""")
    out = golden.run("stats", "-r", "cuda_gpu_trace", "-f", "csv", path)[0].decode().splitlines()
    rows = csv.DictReader(out[next(i for i, line in enumerate(out) if line.startswith("Start")):])
    assert [(row["Start (ns)"], row["Device"]) for row in rows] == [("10", "GPU-1 (0)"), ("30", "GPU-0 (0)")], out


THREAD = 281543712968705  # of process 281543712964608, a second one of the process behind it
OTHER = THREAD + (1 << 24)


def test_domains_are_created_and_destroyed_as_the_file_says():
    """The default domain too, and domains that nothing created; a row that tells the same once more is told of."""
    path = golden.path("domains.sqlite")
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
                           "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, "
                           "textId INTEGER, domainId INTEGER)")
    database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, NULL, ?)", [
        (1, None, 75, "made", THREAD, 1), (2, 3, 59, "r", THREAD, 1), (4, None, 76, None, THREAD, 1), (5, None, 76, None, THREAD, 0),
        (6, None, 76, None, OTHER, 0), (7, None, 76, None, THREAD, 8), (8, None, 75, "default", OTHER, 0)])
    database.commit()
    compare("domains", database, imported(path), "NVTX_EVENTS")
    database.execute("INSERT INTO NVTX_EVENTS VALUES (9, NULL, 76, NULL, ?, NULL, 0)", (THREAD,))
    database.commit()
    err = golden.run("import", "-f", "true", "-o", "domains.rep", path)[1].decode()
    assert err == "lanescope: left out: NVTX_EVENTS: 1 row that creates or destroys a domain once more\n", err


def test_ids_that_differ_in_their_upper_bits_stay_apart():
    """Ids of a file have 64 bits: domains, streams, and the calls that work and CUDA events belong to."""
    path, ids = golden.path("wide.sqlite"), (7, 7 + (1 << 32), 7 - (1 << 32))
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL); INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel');"
                           "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, domainId INTEGER);"
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,"
                           " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);"
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
                           " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,"
                           " shortName INTEGER NOT NULL);"
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER)")
    pid, wanted = THREAD >> 24 << 24, {}
    for i, number in enumerate(ids):
        start = 100 * i
        wanted[number] = f"domain {i}", start + 10
        database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?)", [
            (start, None, 75, f"domain {i}", THREAD, number), (start, start + 90, 59, f"range {i}", THREAD, number)])
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 2, 0)", (start + 10, start + 20, THREAD, number))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, 1, 1)", (start + 30, start + 31 + i, number, number, pid))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, ?, ?)", (number, pid))
    database.commit()
    result = imported(path)
    for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CUDA_EVENT"):
        compare("wide", database, result, table)
    names = dict(result.execute("SELECT r.domainId, d.text FROM NVTX_EVENTS r JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = r.domainId WHERE r.eventType = 59"))
    times = dict(result.execute("SELECT correlationId, timestamp FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT"))
    assert {number: (names[number], times[number]) for number in ids} == wanted, (names, times)
    events = json.loads(golden.run("export", "-q", "-t", "chrome", "-o", "-", path)[0])["traceEvents"]
    assert len({event["tid"] for event in events if event.get("cat") == "kernel"}) == 3, events
    assert {event["args"]["domain"] for event in events if event.get("cat") == "nvtx"} == {f"domain {i}" for i in range(3)}, events
    assert golden.run("export", "-q", "-t", "folded", "-o", "-", path)[0].decode().splitlines() == [f"range {i};k {i + 1}" for i in range(3)]


def test_values_that_ranges_cannot_hold_come_back():
    """Two texts or none, several payloads, a column that nobody knows: they are kept beside the event."""
    path = golden.path("odd-ranges.sqlite")
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL); INSERT INTO StringIds VALUES (1, 'registered'), (2, '{}');"
                           "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, text,"
                           " globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, floatValue, jsonTextId INTEGER, jsonText TEXT,"
                           " made_by_hand TEXT)")
    values = [("own", None, 1, None, None, None, None, None, None), ("own", None, 1, 0, 7, 0.5, 2, "{}", "x"), (None, None, None, 3, None, 0.1, None, "[1]", None),
              (None, THREAD + 1, 1, 0, None, 2.0, 2, None, None), (None, THREAD, None, 0, None, None, 2, "{}", "y"), ("", OTHER, None, 0, 1, None, None, None, None)]
    for kind in (59, 60, 34):
        for i, (text, end_thread, text_id, domain, *rest) in enumerate(values):
            database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             (10 * i, [10 * i + 5, None, -9][i % 3], kind, i or None, i - 1, text, THREAD if i != 3 else None, end_thread, text_id, domain, *rest))
    database.commit()
    compare("odd-ranges", database, imported(path), "NVTX_EVENTS")


def test_the_compute_capability_of_a_gpu():
    """It is that of the columns computeMajor and computeMinor. The columns of its multiprocessors stand in where a file lacks these."""
    path = golden.path("capability.sqlite")
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT,"
                           " totalMemory INTEGER, cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER,"
                           " smMajor INTEGER, smMinor INTEGER); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
                           " contextId INTEGER, streamId INTEGER, globalPid INTEGER)")
    for number, values in enumerate([(7, 5, 8, 6), (7, 5, None, None), (None, None, 8, 6)]):
        database.execute("INSERT INTO TARGET_INFO_GPU VALUES (?, ?, 1 << 30, ?, ?, ?, ?, ?)", (number, f"GPU-{number}", number, *values))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, ?, ?, 7, ?)", (number, number, 5 << 24))
    database.commit()
    told = golden.run("info", path)[0].decode()
    assert re.findall(r"GPU-\d, .*?capability ([\d.]+)", told) == ["7.5", "7.5", "8.6"], told
    compare("capability", database, imported(path), "TARGET_INFO_GPU")


def test_processes_that_only_have_named_threads():
    """Without PROCESSES, files name the threads of the whole machine."""
    path = golden.path("idle.sqlite")
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL); INSERT INTO StringIds VALUES (1, 'worker');"
                           "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
                           "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER)")
    database.executemany("INSERT INTO ThreadNames VALUES (1, 20, ?)", [(THREAD + (i << 24),) for i in range(300)])
    database.execute("INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'r', ?)", (THREAD,))
    database.commit()
    told = golden.run("info", path)[0].decode()
    listed = told.split("processes: 300\n")[1].split("threads: ")[0].splitlines()
    assert len(listed) == 2 and listed[1] == "  and 299 of which nothing was recorded", listed


def test_the_advice_for_an_import_without_events():
    path = golden.path("nothing.sqlite")
    sqlite3.connect(path).executescript("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT)")
    told = golden.run("info", path)[0].decode()
    assert "LNS-DOCTOR-012" in told and "imported from has no events" in told and "--trace" not in told, told


# --- Ways in

# Two kernels, a copy and a synchronization; six calls; an overhead of the profiler's and one of CUPTI's.
EVENTS_OF_TINY = 2 + 1 + 1 + 6 + 1 + 1


def test_files_of_others_open_through_a_cache():
    path, database = copy_of("tiny", "plain.sqlite")
    cache = golden.path(os.path.join("cache", "lanescope", "imported"))
    shutil.rmtree(cache, ignore_errors=True)
    folder = set(os.listdir(golden.FOLDER))
    for words in (["info"], ["stats", "-r", "cuda_gpu_kern_sum"], ["analyze"]):
        golden.run(*words, "plain.sqlite")
    count = golden.run("sql", "plain.sqlite", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0].split()[-1]
    assert count == b"2" and len(os.listdir(cache)) == 1, (count, os.listdir(cache))
    assert set(os.listdir(golden.FOLDER)) - folder <= {"cache"}
    database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = 1")
    database.commit()
    count = golden.run("sql", "plain.sqlite", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0].split()[-1]
    assert count == b"1" and len(os.listdir(cache)) == 2, (count, os.listdir(cache))


def test_many_processes_open_more_files_than_the_cache_keeps():
    """What one process has just imported, and is about to open, no other removes."""
    database = copy_of("tiny", "many0.sqlite")[1]
    database.close()
    for i in range(1, 49):
        shutil.copyfile(golden.path("many0.sqlite"), golden.path(f"many{i}.sqlite"))

    def count(i):
        return golden.run("sql", f"many{i}.sqlite", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL", XDG_CACHE_HOME=golden.path("cache-many"))[0]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(count, range(48)))
    assert len(set(counts)) == 1, set(counts)
    cache = golden.path("cache-many/lanescope/imported")
    for name in os.listdir(cache):
        os.utime(os.path.join(cache, name), (0, 0))
    count(48)
    assert len(os.listdir(cache)) == 32, os.listdir(cache)


def test_without_a_home_the_cache_is_ones_own():
    folder = f"/tmp/lanescope-cache-{os.geteuid()}"
    if os.path.exists(folder):
        raise tap.Skip(f"{folder} is there already")
    path, _ = copy_of("tiny", "homeless.sqlite")
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME")}
    try:
        run = subprocess.run([tap.LANESCOPE, "info", path], env=environment, capture_output=True, timeout=60, check=False)
        assert run.returncode == 0 and len(os.listdir(folder + "/imported")) == 1 and os.stat(folder).st_mode & 0o777 == 0o700, run
        os.chmod(folder, 0o777)
        run = subprocess.run([tap.LANESCOPE, "info", path], env=environment, capture_output=True, timeout=60, check=False)
        assert run.returncode == 125 and b"must be a folder that only you can enter" in run.stderr, run
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_nothing_is_made_beside_a_file_with_a_log():
    folder = golden.path("logged")
    os.makedirs(folder)
    path, database = copy_of("tiny", os.path.join("logged", "wal.sqlite"))
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = 1")
    database.commit()
    # What is in the log counts, and what comes into it later.
    assert golden.run("sql", path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0].split()[-1] == b"1"
    before = os.stat(path)
    database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
    database.commit()
    assert os.stat(path).st_mtime_ns == before.st_mtime_ns
    assert golden.run("sql", path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0].split()[-1] == b"0"
    database.close()
    assert os.listdir(folder) == ["wal.sqlite"]
    assert golden.run("sql", path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0].split()[-1] == b"0"
    assert os.listdir(folder) == ["wal.sqlite"]


def test_a_broken_copy_in_the_cache_is_made_again():
    path, database = copy_of("tiny", "again.sqlite")
    golden.run("info", "again.sqlite")
    cache = golden.path(os.path.join("cache", "lanescope", "imported"))
    copies = [name for name in os.listdir(cache) if name.startswith("again")]
    assert len(copies) == 1, copies
    with open(os.path.join(cache, copies[0]), "wb") as file:
        file.write(b"nothing")
    assert b"events: %d\n" % EVENTS_OF_TINY in golden.run("info", "again.sqlite")[0]


def test_our_own_exports_come_back():
    report = golden.make_report("own.rep")
    golden.run("export", "-q", "-o", "own.sqlite", report)
    source, result = sqlite3.connect(golden.path("own.sqlite")), imported(golden.path("own.sqlite"))
    for table in filter(lambda table: columns_of(source, table), TABLES + ["LNS_COUNTERS", "LNS_LOSSES", "LNS_NVTX_RESOURCES", "NVTX_PAYLOAD_SCHEMAS",
                                                                           "NVTX_PAYLOAD_SCHEMA_ENTRIES", "DIAGNOSTIC_EVENT"]):
        compare("own", source, result, table)
    assert source.execute("SELECT count(*) FROM LNS_COUNTERS").fetchone()[0] > 0


def big_export():
    """An export of so many rows, all out of order, that its import takes a while."""
    path = golden.path("big.sqlite")
    if os.path.exists(path):
        return path
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER);
        INSERT INTO NVTX_EVENTS WITH RECURSIVE c (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM c WHERE k < 599999)
            SELECT k * 1000003 % 600000 * 10, k * 1000003 % 600000 * 10 + 5, 59, 'text', 281543712968705 FROM c""")
    database.close()
    return path


def full_terminal():
    """A terminal on which nothing can be written until it is read from: (its other end, itself)."""
    main, terminal = pty.openpty()
    os.set_blocking(terminal, False)
    try:
        while True:
            os.write(terminal, b"." * 64)
    except BlockingIOError:
        os.set_blocking(terminal, True)
    return main, terminal


def read_to_end(main):
    seen = b""
    try:
        while block := os.read(main, 65536):
            seen += block
    except OSError:  # the other end is closed
        pass
    os.close(main)
    return seen


def test_ctrl_c_leaves_nothing():
    big_export()
    env = dict(os.environ, XDG_CACHE_HOME=golden.path("cache"), TERM="xterm")
    cache = golden.path("cache/lanescope/imported")
    os.makedirs(cache, exist_ok=True)
    for words, output in ((["import", "-o", "big.rep", "big.sqlite"], "big.rep"), (["info", "big.sqlite"], None)):
        main, terminal = full_terminal()
        process = subprocess.Popen([tap.LANESCOPE, *words], cwd=golden.FOLDER, env=env, stdout=subprocess.PIPE, stderr=terminal,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        os.close(terminal)
        # It has begun, and does not end before it has said how far it is.
        while not any(name.startswith("big") and name != "big.sqlite" for name in os.listdir(golden.FOLDER) + os.listdir(cache)):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        err = read_to_end(main)
        out, _ = process.communicate(timeout=30)
        assert process.returncode == -signal.SIGINT and err.count(b"lanescope: error:") == 1 and b"cancelled" in err, (process.returncode, out, err)
        assert output is None or not os.path.exists(golden.path(output))
        assert not [name for name in os.listdir(cache) if name.startswith("big")]


def test_a_full_disk_leaves_nothing_and_what_was_there():
    """A limit of the file's size stands for the disk."""
    big_export()
    golden.run("import", "-q", "-f", "true", "-o", "kept.rep", "big.sqlite")
    was = os.path.getsize(golden.path("kept.rep"))
    with open(golden.path("big.json"), "w") as file:
        file.write("[" + ",".join('{"ph": "X", "pid": 1, "tid": 1, "ts": %d, "dur": 1, "name": "n%d"}' % (i, i) for i in range(50000)) + "]")
    for source in ("big.sqlite", "big.json"):
        for out in ("full.rep", "kept.rep"):
            run = subprocess.run([tap.LANESCOPE, "import", "-f", "true", "-o", out, source], cwd=golden.FOLDER, capture_output=True, text=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (was - 65536, was - 65536)))
            assert run.returncode == 125 and run.stderr.count("\n") == 1 and "lost" not in run.stderr, run
            assert not os.path.exists(golden.path("full.rep"))
            assert os.path.getsize(golden.path("kept.rep")) == was
            assert not [name for name in os.listdir(golden.FOLDER) if ".old" in name]


def test_a_terminal_sees_how_far_it_is():
    main, terminal = pty.openpty()
    process = subprocess.Popen([tap.LANESCOPE, "import", "-f", "true", "-o", "seen.rep", big_export()], cwd=golden.FOLDER, stdout=subprocess.PIPE,
                               stderr=terminal)
    os.close(terminal)
    seen = read_to_end(main)
    out, _ = process.communicate(timeout=60)
    parts = [int(part) for part in re.findall(rb"\[ *(\d+)%\] seen.rep", seen)]
    assert process.returncode == 0 and out == b"Generated:\n    seen.rep\n", (process.returncode, out)
    assert parts == sorted(parts) and len(set(parts)) > 50, parts


def test_nsys_rep_needs_nsys():
    report = golden.path("run.nsys-rep")
    with open(report, "wb") as file:
        file.write(b"what only nsys knows" * 100)
    empty = golden.path("no-programs")
    os.makedirs(empty, exist_ok=True)
    err = golden.run("info", "run.nsys-rep", code=125, PATH=empty)[1].decode()
    assert err == "lanescope: error: run.nsys-rep: only nsys can read it, and there is none on PATH; run \"nsys export --type sqlite " \
                  "run.nsys-rep\" where it was recorded and open the .sqlite file\n", err
    stand_in = os.path.join(empty, "nsys")
    with open(stand_in, "w") as file:
        file.write(f"""#!/bin/sh
            [ "$1 $2 $3" = "export --type sqlite" ] || exit 2
            while [ "$1" != --output ]; do shift; done
            [ -e "$BROKEN" ] && echo "The file is broken" >&2 && exit 1
            /bin/cp "{exports.path('tiny')}" "$2"
            """)
    os.chmod(stand_in, 0o755)
    err = golden.run("info", "run.nsys-rep", code=125, PATH=empty, BROKEN=report)[1].decode()
    assert err == "lanescope: error: run.nsys-rep: nsys could not export it: The file is broken\n", err
    out = golden.run("info", "run.nsys-rep", PATH=empty)[0].decode()
    assert "imported from: run.nsys-rep\n" in out and f"events: {EVENTS_OF_TINY}\n" in out, out


def test_an_export_that_was_interrupted():
    path, database = copy_of("tiny", "going.sqlite")
    database.execute("PRAGMA cache_size = 2")
    database.execute("UPDATE StringIds SET value = value || hex (zeroblob (9000))")
    for ending in ("", "-journal"):
        shutil.copy(path + ending, golden.path("stopped.sqlite") + ending)
    before = [open(golden.path("stopped.sqlite") + ending, "rb").read() for ending in ("", "-journal")]
    err = golden.run("info", "stopped.sqlite", code=125)[1].decode()
    assert err.startswith("lanescope: error: stopped.sqlite: the program that wrote it was interrupted and left stopped.sqlite-journal; "), err
    assert before == [open(golden.path("stopped.sqlite") + ending, "rb").read() for ending in ("", "-journal")]


def test_what_cannot_be_imported_gets_a_sentence_each():
    files = {"text.sqlite": b"not a database" * 500, "empty.sqlite": b"", "cut.sqlite": b"SQLite format 3\0" + bytes(84)}
    for name, content in files.items():
        with open(golden.path(name), "wb") as file:
            file.write(content)
    sqlite3.connect(golden.path("other.sqlite")).executescript("CREATE TABLE people (name TEXT)")
    seen = set()
    for name in [*files, "other.sqlite", "missing.sqlite", "."]:
        err = golden.run("import", "-o", "bad.rep", name, code=125)[1].decode()
        assert re.match(f"lanescope: error: {re.escape(name)}[: ]", err) and err.count("\n") == 1, err
        seen.add(err.replace(name, ""))
        assert not os.path.exists(golden.path("bad.rep"))
    assert len(seen) >= 5, seen
    golden.make_report("mine.rep")
    assert golden.run("import", "-o", "bad.rep", "mine.rep", code=125)[1] == \
        b"lanescope: error: mine.rep is already a Lanescope report; open it directly\n"
    with open(golden.path("there.rep"), "w") as file:
        file.write("mine")
    path, database = copy_of("tiny", "fine.sqlite")
    assert b"there.rep" in golden.run("import", "-o", "there.rep", "fine.sqlite", code=125)[1]
    with open(golden.path("there.rep")) as file:
        assert file.read() == "mine"


def test_rows_that_have_no_meaning_are_told():
    """By import, and by the report itself: info and the table of diagnostics."""
    path = golden.path("meaningless.sqlite")
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER);
            INSERT INTO NVTX_EVENTS VALUES (0, 10, 59, 'x', 281543712968705), (5, 6, 1999, 'y', 281543712968705);
            """)
    _, err = golden.run("import", "-o", golden.path("meaningless.rep"), path)
    assert err == b"lanescope: left out: NVTX_EVENTS: 1 row of an unknown type\n", err
    out = golden.run("info", golden.path("meaningless.rep"))[0].decode()
    assert "LNS-IMPORT-001 info: left out: NVTX_EVENTS: 1 row of an unknown type\n" in out, out


def test_functions_that_are_not_known_are_summed_up_by_module():
    """nsys names them by their addresses, of which each would be a function of its own."""
    path = shutil.copy(exports.path("system"), golden.path("nameless.sqlite"))
    libraries = {"/usr/lib/libfast.so.5": 17, "/usr/lib/libslow.so": 5}
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        wanted, sample = collections.Counter(), 0
        for library, n in libraries.items():
            database.execute("INSERT INTO StringIds SELECT max(id) + 1, ? FROM StringIds", (library,))
            for _ in range(n):
                sample += 1
                database.execute("INSERT INTO StringIds SELECT max(id) + 1, ? FROM StringIds", (f"0x7f72b474{sample:04x}",))
                database.execute("UPDATE SAMPLING_CALLCHAINS SET unresolved = 1, symbol = (SELECT max(id) FROM StringIds), "
                                 "module = (SELECT id FROM StringIds WHERE value = ?) WHERE id = ? AND stackDepth = 0", (library, sample))
                wanted[library] += 1
    rows = list(csv.DictReader(golden.run("stats", "-q", "-r", "sample_sum", "-f", "csv", path)[0].decode().splitlines()))
    got = {row["Module"]: (row["Function"], int(row["Self"])) for row in rows if row["Module"] in libraries}
    assert got == {library: (os.path.basename(library) + "+0x…", n) for library, n in wanted.items()}, rows
    tree = golden.run("stats", "-q", "-r", "sample_tree", "-f", "csv", path)[0].decode()
    assert "libfast.so.5+0x…" in tree and "0x7f72" not in tree, tree
    # What nsys wrote comes back as it is.
    golden.run("export", "-q", "-f", "true", "-o", "named.sqlite", path)
    query = "SELECT c.id, stackDepth, s.value, m.value, unresolved FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = symbol JOIN StringIds m ON m.id = module ORDER BY 1, 2"
    with contextlib.closing(sqlite3.connect(path)) as ours, contextlib.closing(sqlite3.connect(golden.path("named.sqlite"))) as theirs:
        assert ours.execute(query).fetchall() == theirs.execute(query).fetchall()


def test_chains_that_nsys_could_not_complete_are_told():
    """They end with an entry that says so; one that has no callers at all is not complete either."""
    path = shutil.copy(exports.path("system"), golden.path("broken.sqlite"))
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        n = database.execute("SELECT count(DISTINCT id) FROM SAMPLING_CALLCHAINS").fetchone()[0]
        for mark, broken in (("[Broken backtraces]", 3), ("[Max depth]", 5)):
            database.execute("INSERT INTO StringIds SELECT max(id) + 1, ? FROM StringIds", (mark,))
            database.execute("UPDATE SAMPLING_CALLCHAINS SET symbol = (SELECT max(id) FROM StringIds) "
                             "WHERE id = ? AND stackDepth = (SELECT max(stackDepth) FROM SAMPLING_CALLCHAINS c WHERE c.id = ?)", (broken, broken))
        database.execute("DELETE FROM SAMPLING_CALLCHAINS WHERE id = 7 AND stackDepth > 0")
    told = golden.run("info", path)[0].decode()
    assert f"call chains complete: {1000 * (n - 3) // n / 10} % of {n} samples\n" in told, told


tap.main(globals())
