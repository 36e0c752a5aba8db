# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""nsys exports → .rep → export again: tables other than the events of NVTX and CUDA. Each row comes back, field by
field; names are compared as text, rows as multisets."""

import collections
import os
import random
import re
import sqlite3

import exports
import golden
import tap

# Columns that hold ids of StringIds.
NAMES = {"nameId", "textId", "filenameId", "contentId", "symbol", "module", "demangledName", "shortName", "mangledName"}

# Tables of events with a test of their own.
OTHERS = ("CUPTI_", "CUDA_GRAPH", "CUDA_UM", "CUDA_GPU", "CUBLAS", "CUDNN", "NVTX_EVENTS", "StringIds", "PROFILER_OVERHEAD",
          "OSRT_API")


def text(value):
    return value.decode("utf-8", "surrogateescape")


def tables_of(database):
    return [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def columns_of(database, table):
    return [row[1] for row in database.execute(f'PRAGMA table_info ("{table}")')]


def rows_of(database, table, columns):
    """The rows as a multiset of tuples, names as text."""
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    found = collections.Counter()
    for row in database.execute(f'SELECT {", ".join(chr(34) + name + chr(34) for name in columns)} FROM "{table}"'):
        found[tuple(strings.get(value) if name in NAMES else value for name, value in zip(columns, row))] += 1
    return found


def compare(name, source, result, table):
    columns = columns_of(source, table)
    missing_columns = set(columns) - set(columns_of(result, table))
    assert not missing_columns, f"{name}, {table}: no {missing_columns}"
    expected, actual = rows_of(source, table, columns), rows_of(result, table, columns)
    missing, more = expected - actual, actual - expected
    if table == "META_DATA_EXPORT":  # what this export says of itself holds
        assert {row[0] for row in missing} <= {row[0] for row in more}, f"{name}: {missing} {more}"
        assert all("EXPORT_PRODUCT_" in row[0] or "TIME_" in row[0] for row in missing), missing
        return
    assert not missing, f"{name}, {table}: {sum(missing.values())} rows are missing, as {next(iter(missing))}; there is {next(iter(more), None)}"
    if not table.startswith("ENUM_"):
        assert not more, f"{name}, {table}: {sum(more.values())} rows too many, as {next(iter(more))}"


@exports.on_each(least=(700, 100000))
def test_every_row_comes_back(names, least):
    n_rows = 0
    for name in names:
        source, result = exports.source(name), exports.exported(name)
        source.text_factory = result.text_factory = text
        for table in tables_of(source):
            count, = source.execute(f'SELECT count(*) FROM "{table}"').fetchone()
            if count > 0 and not table.startswith(OTHERS):
                compare(name, source, result, table)
                n_rows += count
    assert n_rows > least, n_rows


MADE = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (0, ''), (7, 'MPI_Send'), (9, 'MPI_Allreduce'), (11, 'MPI_Wait'), (13, 'MPI_Init'),
    (15, 'cusparseSpMM'), (17, 'cusolverDnSgetrf');
CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, "end" INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER,
    tag INTEGER, remoteRank INTEGER, size INTEGER, requestHandle INTEGER);
INSERT INTO MPI_P2P_EVENTS VALUES (100, 200, 281474993487873, 7, 5, 0, 1, 8, NULL), (150, NULL, 281474993487874, 7, NULL, -1, -2, 0, 0);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, "end" INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER,
    commUid INTEGER, rootRank INTEGER, size INTEGER, recvSize INTEGER, requestHandle INTEGER);
INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (300, 400, 281474993487873, 9, 5, 3, NULL, 64, 64, NULL);
CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER NOT NULL, "end" INTEGER, globalTid INTEGER, textId INTEGER, requestHandle INTEGER);
INSERT INTO MPI_START_WAIT_EVENTS VALUES (500, 600, 281474993487873, 11, 77);
CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, "end" INTEGER, globalTid INTEGER, textId INTEGER);
INSERT INTO MPI_OTHER_EVENTS VALUES (10, 90, 281474993487873, 13);
CREATE TABLE LNS_CUSPARSE_EVENTS (start INTEGER NOT NULL, "end" INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,
    returnValue INTEGER NOT NULL);
INSERT INTO LNS_CUSPARSE_EVENTS VALUES (700, 750, 281474993487873, 15, 0), (760, 770, 281474993487874, 15, 10);
CREATE TABLE LNS_CUSOLVER_EVENTS (start INTEGER NOT NULL, "end" INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,
    returnValue INTEGER NOT NULL);
INSERT INTO LNS_CUSOLVER_EVENTS VALUES (690, 800, 281474993487873, 17, 31);
CREATE TABLE MPI_RANKS (globalTid INTEGER NOT NULL, rank INTEGER NOT NULL);
INSERT INTO MPI_RANKS VALUES (281474993487873, 4), (281474993487874, 5);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName TEXT NOT NULL, metricId INTEGER NOT NULL,
    metricName TEXT NOT NULL);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES (72057598332895232, 1, 'gpu', 1, 'SMs Active [Throughput %]'), (72057598332895232, 1, 'gpu', 2, 'GPC Clock');
CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL, value INTEGER NOT NULL);
INSERT INTO GPU_METRICS VALUES (1100, 100, 72057598332895232, 1, 50), (1100, 100, 72057598332895232, 2, 1410000000),
    (1200, 200, 72057598332895232, 1, 0), (NULL, 300, 72057598332895232, 1, 99);
CREATE TABLE "people's own" ("a b" REAL, c);
INSERT INTO "people's own" VALUES (0.5, x'00ff'), (NULL, 'text');
ALTER TABLE MPI_OTHER_EVENTS ADD COLUMN comment TEXT;
UPDATE MPI_OTHER_EVENTS SET comment = 'the beginning';
CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER);
INSERT INTO SCHED_EVENTS VALUES (100, 3, 1, 281474993487873), (250, 3, 0, 281474993487873), (400, 5, 1, 281474993487873), (120, 4, 1, NULL);
"""


def test_tables_that_no_public_file_has():
    path = golden.path("made.sqlite")
    source = sqlite3.connect(path)
    source.executescript(MADE)
    golden.run("import", "-q", "-o", golden.path("made.rep"), path)
    golden.run("export", "-q", "-o", golden.path("back.sqlite"), golden.path("made.rep"))
    result = sqlite3.connect(golden.path("back.sqlite"))
    for table in tables_of(source):
        if table != "StringIds":
            compare("made", source, result, table)
    # What the viewer's rows show: metrics by name, times on CPUs up to the thread's next row.
    told, _ = golden.run("info", golden.path("made.rep"))
    for line in ("MPI calls: 5 events", "cuSPARSE calls: 2 events in 2 tracks", "cuSOLVER calls: 1 event in 1 track", "GPU metrics: 4 events in 2 tracks", "CPU scheduling: 4 events", ", MPI rank 4\n"):
        assert line in told.decode(), told.decode()


def test_our_own_exports_come_back():
    """Events, counters, losses and all: what is imported says the same as the report it was exported from."""
    for name, report in (("demo", golden.make_report("demo.rep")), ("sample", os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep"))):
        first, again, second = (golden.path(name + ending) for ending in (".first.sqlite", ".again.rep", ".second.sqlite"))
        golden.run("export", "-q", "-o", first, report)
        _, err = golden.run("import", "-o", again, first)
        assert b"left out" not in err, err
        golden.run("export", "-q", "-o", second, again)
        source, result = sqlite3.connect(first), sqlite3.connect(second)
        source.text_factory = result.text_factory = text
        for table in tables_of(source):
            if table not in ("StringIds", "NVTX_EVENTS"):
                compare(name, source, result, table)
        for column in ("start", '"end"', "eventType", "text", "color", "category", "globalTid", "jsonText"):
            question = f"SELECT {column}, count(*) FROM NVTX_EVENTS GROUP BY 1 ORDER BY 1"
            assert source.execute(question).fetchall() == result.execute(question).fetchall(), (name, column)


def test_what_is_left_of_a_broken_table_is_shown():
    """A report that lost a piece of a table that it keeps: recover says how many rows that takes, and the others are exported."""
    n, seed = 120000, random.Random(8)
    database = sqlite3.connect(golden.path("mine.sqlite"))
    database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)")
    database.execute("INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'r', 16777217)")
    database.execute("CREATE TABLE MINE (id INTEGER, word TEXT)")
    wanted = {i: f"{seed.getrandbits(64):x}" for i in range(n)}
    database.executemany("INSERT INTO MINE VALUES (?, ?)", wanted.items())
    database.commit()
    database.close()
    golden.run("import", "-q", "-o", "mine.rep", "mine.sqlite")
    with open(golden.path("mine.rep"), "rb") as file:
        whole = file.read()
    chunks = [m.start() for m in re.finditer(b"LNSCHNK1", whole) if whole[m.start() + 26] == 4]  # of strings
    n_broken = 0
    for at in chunks:
        with open(golden.path("broken.rep"), "wb") as file:
            file.write(whole[:at + 200] + b"damage" + whole[at + 206:])
        golden.run("recover", "-o", "rest.rep", "-f", "true", "broken.rep")
        golden.run("export", "-q", "-f", "true", "-o", "rest.sqlite", "rest.rep")
        database = sqlite3.connect(golden.path("rest.sqlite"))
        has_columns = "MINE" in tables_of(database)
        rest = dict(database.execute("SELECT id, word FROM MINE")) if has_columns else {}
        if len(rest) == n:
            continue
        assert rest.items() <= wanted.items(), (at, len(rest))
        info = golden.run("info", "rest.rep")[0].decode()
        assert f"{n - len(rest)} rows of table {'MINE' if has_columns else '(lost)'} were unreadable and are left out." in info, info
        assert f"{n - len(rest)} rows of other tables" in info, info
        n_broken += len(rest) > 0
    assert n_broken > 1, (n_broken, len(chunks))


@exports.on_each(["system"], ["a100x4-cloverleaf"])
def test_chains_are_found_by_id(names, _):
    question = "SELECT s.value FROM OSRT_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE c.id = 104 ORDER BY stackDepth"
    for name in names:
        expected = [row[0] for row in exports.source(name).execute(question)]
        assert len(expected) > 1
        answer, _ = golden.run("sql", exports.report(name), question)
        assert answer.decode().splitlines() == expected


tap.main(globals(), long=(test_what_is_left_of_a_broken_table_is_shown,))
