# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export: tests the content and the layout of the file, and that a failed export leaves nothing."""

import csv
import io
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import export_layout
import exports
import golden
import tap

REPORT = golden.make_report()
PYTHON = "/usr/bin/python3"
csv.field_size_limit(1 << 20)


def open_database(path):
    database = sqlite3.connect(path)
    database.text_factory = bytes
    return database


def exported():
    if not os.path.exists(golden.path("demo.sqlite")):
        golden.run("export", "--type", "sqlite", REPORT)
    return open_database(golden.path("demo.sqlite"))


def tables(database):
    return [name.decode() for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def test_it_says_where():
    """On stderr: what runs export may print its own results."""
    out, err = golden.run("export", "-t", "sqlite", "-f", "true", "-o", golden.path("new/folder/x.sqlite"), REPORT)
    golden.check(out, b"")
    golden.check(err, b"Generated:\n    " + golden.path("new/folder/x.sqlite").encode() + b"\n")
    assert os.listdir(golden.path("new/folder")) == ["x.sqlite"]


def test_quiet_takes_a_value_too():
    for words, is_quiet in [(["-q"], True), (["-q", "true"], True), (["--quiet=TRUE"], True), (["-q", "false"], False),
                            (["--quiet=false"], False), ([], False)]:
        _, err = golden.run("export", "-f", "true", *words, "-o", golden.path("quiet.sqlite"), "--tables", "PROCESSES", REPORT)
        assert (err == b"") == is_quiet, (words, err)


def test_a_report_is_not_replaced_by_its_export():
    report = golden.make_report("itself.rep")
    os.symlink(report, golden.path("link.rep"))
    for output in (report, golden.path("link.rep")):
        _, err = golden.run("export", "-f", "true", "-o", output, report, code=125)
        assert b"cannot be replaced by its export" in err, err
    golden.run("info", report)
    # Nor is what it was imported from.
    golden.run("export", "-q", "-o", golden.path("foreign.sqlite"), report)
    before = open(golden.path("foreign.sqlite"), "rb").read()
    _, err = golden.run("export", "-f", "true", "-o", golden.path("foreign.sqlite"), golden.path("foreign.sqlite"), code=125)
    assert b"cannot be replaced by its export" in err and open(golden.path("foreign.sqlite"), "rb").read() == before, err


def test_an_interrupted_export_leaves_nothing():
    """Nor does one replace what was there: each type, on a report that takes it some time."""
    report = golden.make_report("long.rep", 400000)
    os.mkdir(golden.path("interrupted"))
    for kind in ("sqlite", "jsonlines", "csv", "chrome"):
        target, before = golden.path("interrupted/" + kind), set(os.listdir(golden.path("interrupted")))
        for _ in range(5):  # it may be done before the signal comes
            process = subprocess.Popen([tap.LANESCOPE, "export", "-q", "-t", kind, "-f", "true", "-o", target, report], stderr=subprocess.PIPE)
            while process.poll() is None and not any(n.endswith(".part") for n in os.listdir(golden.path("interrupted"))):
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            err = process.communicate()[1]
            if err != b"":
                break
            before = set(os.listdir(golden.path("interrupted")))
        assert process.returncode == -signal.SIGINT and b"was interrupted" in err, (kind, process.returncode, err)
        assert set(os.listdir(golden.path("interrupted"))) == before, kind


# nsys writes their rows in the order of their starts.
BY_START = {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}


def test_rows_are_those_of_sql():
    """Every table, row by row and in order, rowids too; those that nsys orders by start are numbered in that order."""
    database = exported()
    names = tables(database)
    assert len(names) > 80 and not database.execute("SELECT 1 FROM sqlite_master WHERE type != 'table'").fetchall()
    for name in names:
        columns = [row[1].decode() for row in database.execute(f"PRAGMA table_info({name})")]
        quoted = ", '|', ".join(f"quote(CASE WHEN typeof(\"{c}\") = 'text' THEN CAST(\"{c}\" AS BLOB) ELSE \"{c}\" END)" for c in columns)
        select = f"SELECT rowid, {quoted} FROM {name}"
        by_start = name in BY_START and columns[0] == "start"
        if by_start:
            assert [row[0] for row in database.execute(f"SELECT rowid FROM {name}")] == list(range(1, 1 + database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]))
            quoted = quoted.replace('"eventId"', "0")
            select = f"SELECT {quoted} FROM {name}"
        ours = golden.run("sql", REPORT, select + (" ORDER BY start" if by_start else ""))[0].split(b"\n")[:-1]
        theirs = [b"\t".join(v if isinstance(v, bytes) else str(v).encode() for v in row) for row in database.execute(select)]
        assert ours == theirs, (name, [pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:2], len(ours), len(theirs))


@exports.on_each(least=(1000, 50000))
def test_rows_come_in_the_order_of_their_starts(names, least):
    """As in every file that nsys writes, on several threads, streams and GPUs: programs read them without ORDER BY."""
    compared, n_mixed = 0, 0
    for name in names:
        ours = exports.exported(name)
        for table in sorted(BY_START):
            time = "timestamp" if table == "CUPTI_ACTIVITY_KIND_CUDA_EVENT" else "start"
            if not exports.has(ours, table) or time not in [row[1] for row in ours.execute(f"PRAGMA table_info({table})")]:
                continue
            starts = [start for (start,) in ours.execute(f"SELECT {time} FROM {table}")]
            assert starts == sorted(starts), (name, table, starts[:10])
            owner = "globalTid" if table == "NVTX_EVENTS" else "globalPid << 32 | deviceId << 16 | streamId"
            owners = [row[0] for row in ours.execute(f"SELECT {owner} FROM {table}")]
            n_mixed += sum(a != b for a, b in zip(owners, owners[1:])) > 2 * len(set(owners))
            compared += len(starts)
            theirs = exports.source(name)
            if least > 1000 and exports.has(theirs, table) and time in [row[1] for row in theirs.execute(f"PRAGMA table_info({table})")]:
                assert starts == [start for (start,) in theirs.execute(f"SELECT {time} FROM {table} ORDER BY rowid")], (name, table)
    assert compared >= least and n_mixed > 0, (compared, n_mixed)


@exports.on_each(least=(100, 1000))
def test_statistics_number_ranges_as_exports_do(names, least):
    """RangeId leads to the row of the exported file."""
    n = 0
    for name in names:
        ours = exports.exported(name)
        rows = {row[0]: row[1:] for row in ours.execute("SELECT rowid, start, end FROM NVTX_EVENTS")} if exports.has(ours, "NVTX_EVENTS") else {}
        for report, start, length in (("nvtx_pushpop_trace", "Start (ns)", "Duration (ns)"), ("nvtx_gpu_proj_trace", "Orig Start (ns)", "Orig Duration (ns)")):
            for row in csv.DictReader(io.StringIO(golden.run("stats", "-q", "-r", report, "-f", "csv", exports.report(name))[0].decode("utf-8", "replace"))):
                if not row.get("RangeId"):
                    continue
                found = rows[int(row["RangeId"])]
                assert found[0] == int(row[start]) and found[1] in (None, int(row[start]) + int(row[length])), (name, report, row, found)
                n += 1
    assert n > least, n


def test_it_holds_what_was_recorded():
    rows = exported().execute("SELECT start, end, text, textId FROM NVTX_EVENTS"
                              " WHERE eventType = 59 AND globalTid % 0x1000000 = 1000 AND domainId = 0").fetchall()
    names = [b"step", b"step", b"lost end", b"two\nlines", b"tab\there", b"quo\"ted, 'too'",
             "grüß €".encode(), b"bad \xff\xfe byte"]
    times = [(1000, 9000), (10000, 10000), (11000, None)] + [(1000 * i, 1000 * i + 500) for i in range(1, 6)]
    assert rows == sorted(((start, end, name, None) for (start, end), name in zip(times, names)), key=lambda row: row[0]), rows
    # A registered string is told by its id alone, as in files of the reference; the names of definitions are texts.
    both = exported().execute("SELECT eventType, text IS NULL, textId IS NULL, count(*) FROM NVTX_EVENTS GROUP BY 1, 2, 3").fetchall()
    assert {row[:3] for row in both} == {(33, 0, 1), (34, 0, 1), (39, 0, 1), (59, 0, 1), (59, 1, 0), (60, 0, 1), (75, 0, 1), (76, 1, 1)}, both
    assert exported().execute("SELECT e.start, s.value FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId").fetchall() == [(3000, b"load")]


def test_layout_is_the_newest():
    """Names, types, NOT NULL and order of columns are exactly those that export_layout.py states; files of 2026 state version 3.25."""
    ours, compared = exported(), 0
    for name in export_layout.LAYOUT:
        got = ours.execute(f"SELECT CAST(name AS TEXT), type, \"notnull\", pk FROM pragma_table_info('{name}')").fetchall()
        got = [(a.decode(), b.decode(), c, d) for a, b, c, d in got]
        if name == "NVTX_EVENTS":
            assert got.pop() == ("eventId", "INTEGER", 1, 1)
        assert not got or got == export_layout.columns(name, 2026), (name, got, export_layout.columns(name, 2026))
        compared += len(got) > 0
    assert compared > 30, compared
    version, = ours.execute("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'").fetchone()
    assert version == b"3.25.0", version


def test_layout_is_that_of_the_corpus():
    """Names, types, NOT NULL and order of columns are exactly those of schema 3.25; an older file may lack the last ones."""
    exports.need()
    ours = exported()
    compared = 0
    for file, is_newest in [("rtx3080-tiny", False), ("h100x2-nccl", True)]:
        theirs = exports.source(file)
        for (name,) in theirs.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            wanted = theirs.execute(f"SELECT name, type, \"notnull\", pk FROM pragma_table_info('{name}')").fetchall()
            got = ours.execute(f"SELECT CAST(name AS TEXT), type, \"notnull\", pk FROM pragma_table_info('{name}')").fetchall()
            got = [(a.decode(), b.decode(), c, d) for a, b, c, d in got]
            if name == "NVTX_EVENTS":
                assert got.pop() == ("eventId", "INTEGER", 1, 1)
            if got:
                assert (got if is_newest else got[:len(wanted)]) == wanted, (file, name, got, wanted)
                compared += 1
            if got and name.startswith("ENUM_"):
                values = dict((i, (n, l)) for i, n, l in theirs.execute(f"SELECT * FROM {name}"))
                mine = dict((i, (n.decode(), l.decode())) for i, n, l in ours.execute(f"SELECT * FROM {name}"))
                assert values.items() <= mine.items(), (file, name)
        if is_newest:  # and so is the version that the file states
            versions = "SELECT name, value FROM META_DATA_EXPORT WHERE name GLOB 'EXPORT_SCHEMA_VERSION*' AND name NOT GLOB '*_CKSUM'"
            assert [(n.decode(), v.decode()) for n, v in ours.execute(versions)] == theirs.execute(versions).fetchall()
    assert compared > 60, compared


def test_others_may_write_to_it():
    """Readers add columns, indexes and rows to such files."""
    golden.run("export", "-q", "-o", golden.path("mine.sqlite"), REPORT)
    database = sqlite3.connect(golden.path("mine.sqlite"))
    database.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN name TEXT")
    database.execute("UPDATE NVTX_EVENTS SET name = 'x'")
    database.execute("CREATE INDEX i ON NVTX_EVENTS (start)")
    database.commit()
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def run_with(umask, *words):
    env = dict(os.environ, LC_ALL="C.UTF-8", XDG_CACHE_HOME=golden.path("cache"))
    subprocess.run([tap.LANESCOPE, *words], cwd=golden.FOLDER, env=env, umask=umask, capture_output=True, timeout=60, check=True)


def test_who_may_not_read_a_report_may_not_read_its_exports():
    """They have the permissions of the report, less the umask."""
    report, out = golden.make_report("private.rep"), golden.path("private")
    for mode, umask in ((0o600, 0o022), (0o600, 0), (0o640, 0o022), (0o640, 0o077), (0o644, 0o022), (0o644, 0o027), (0o400, 0o022)):
        os.chmod(report, mode)
        allowed = (0o600 | mode & 0o066) & ~umask
        for kind in ("sqlite", "jsonlines", "csv", "chrome", "folded", "svg", "perf-script", "pprof", "speedscope", "firefox", "info"):
            run_with(umask, "export", "-t", kind, "-f", "true", "-o", out, report)
            paths = [out] if os.path.isfile(out) else [os.path.join(out, name) for name in os.listdir(out)]
            assert paths, kind
            for path in paths:
                assert os.stat(path).st_mode & 0o777 == allowed, (kind, oct(mode), oct(umask), oct(os.stat(path).st_mode))
            if os.path.isdir(out):
                assert os.stat(out).st_mode & 0o777 == (allowed | (allowed & 0o444) >> 2), oct(os.stat(out).st_mode)
                shutil.rmtree(out)
            else:
                os.remove(out)
        run_with(umask, "stats", "-r", "nvtx_sum", "-f", "csv", "--force-overwrite=true", "-o", out, report)
        assert os.stat(out + "_nvtx_sum.csv").st_mode & 0o777 == allowed, (oct(mode), oct(umask))
    if os.geteuid() == 0:
        os.chmod(report, 0o640)
        os.chown(report, 0, 65534)  # the export has another group
        run_with(0o022, "export", "-t", "jsonlines", "-o", out, report)
        assert os.stat(out).st_mode & 0o777 == 0o600, oct(os.stat(out).st_mode)


def test_exports_of_a_file_that_was_imported_are_as_open_as_it():
    """Not as its report in the cache, which only the user may read."""
    out = golden.path("opened.json")
    for mode in (0o644, 0o600):
        path = shutil.copy(exports.path(exports.OWN[0]), golden.path("opened.sqlite"))
        os.chmod(path, mode)
        run_with(0o022, "export", "-t", "jsonlines", "-f", "true", "-o", out, path)
        assert os.stat(out).st_mode & 0o777 == mode, oct(mode)


def test_it_replaces_nothing_unasked():
    exported().close()
    before = os.stat(golden.path("demo.sqlite"))
    _, err = golden.run("export", REPORT, code=125)
    assert b"demo.sqlite exists" in err and b"--force-overwrite=true" in err, err
    assert os.stat(golden.path("demo.sqlite")) == before
    for switch in (["-f", "true"], ["--force-overwrite=true"]):
        golden.run("export", *switch, "-q", REPORT)


def test_nothing_partial_is_left():
    names = set(os.listdir(golden.FOLDER))
    with open(golden.path("broken.rep"), "wb") as file:
        file.write(open(REPORT, "rb").read()[:100000])
    golden.run("export", "-o", "/proc/nowhere/x.sqlite", REPORT, code=125)
    _, err = golden.run("export", "-o", golden.FOLDER, REPORT, code=125)
    assert b"is a folder" in err, err
    os.remove(golden.path("broken.rep"))
    assert {n for n in os.listdir(golden.FOLDER) if n.endswith(".part")} == set()
    assert set(os.listdir(golden.FOLDER)) - names <= {"cache"}


def rows_of(database, name):
    return [dict(zip(row.keys(), row)) for row in database.execute(f"SELECT * FROM {name}")]


def as_text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def test_jsonlines_hold_the_same_rows():
    out, _ = golden.run("export", "-t", "jsonlines", "-o", "-", REPORT)
    golden.check(golden.run("export", "-t", "json", "-o", "-", "--separate-strings=true", REPORT)[0], out)
    found = {}
    for line in out.splitlines():
        row = json.loads(line)
        found.setdefault(row.pop("table"), []).append(row)
    database = exported()
    database.row_factory = sqlite3.Row
    for name in tables(database):
        columns = {row[1].decode(): row[2] for row in database.execute(f"PRAGMA table_info({name})")}
        wanted = [{c: as_text(v) for c, v in row.items() if v is not None} for row in rows_of(database, name)]
        for row in wanted:
            if "binaryData" in row:
                row["binaryData"] = database.execute("SELECT hex(binaryData) FROM NVTX_EVENTS WHERE eventId = ?",
                                                     (row["eventId"],)).fetchone()[0].decode()
        assert found.get(name, []) == wanted, (name, columns)


def test_csv_holds_the_same_rows():
    golden.run("export", "-t", "csv", REPORT)
    database = exported()
    database.row_factory = sqlite3.Row
    filled = {name for name in tables(database) if rows_of(database, name)}
    assert set(os.listdir(golden.path("demo_csvdir"))) == {name + ".csv" for name in filled}
    for name in filled - {"NVTX_EVENTS"}:
        with open(golden.path(f"demo_csvdir/{name}.csv"), newline="", encoding="utf-8", errors="replace") as file:
            got = list(csv.reader(file))
        assert got[0] == list(rows_of(database, name)[0])
        wanted = [["" if v is None else str(as_text(v)) for v in row.values()] for row in rows_of(database, name)]
        assert got[1:] == wanted, name
    _, err = golden.run("export", "-t", "csv", REPORT, code=125)
    assert b"demo_csvdir exists" in err, err
    golden.run("export", "-t", "csv", "-f", "true", "--lazy=false", REPORT)
    assert {name + ".csv" for name in tables(database)} < set(os.listdir(golden.path("demo_csvdir")))


def test_tables_of_others_are_called_as_they_please():
    """In names of files and columns too."""
    foreign = sqlite3.connect(golden.path("wild.sqlite"))
    foreign.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    foreign.execute('CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)')
    foreign.execute("INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'x', 16777217)")
    foreign.execute('CREATE TABLE "../../up\\" (a INTEGER, "b\\,c" TEXT)')
    foreign.execute('INSERT INTO "../../up\\" VALUES (7, \'y\')')
    foreign.commit()
    golden.run("export", "-t", "csv", "-o", golden.path("wild"), golden.path("wild.sqlite"))
    assert all(name.endswith(".csv") for name in os.listdir(golden.path("wild"))) and not os.path.exists(golden.path("../up\\.csv"))
    lines = golden.run("export", "-t", "jsonlines", "-o", "-", golden.path("wild.sqlite"))[0].splitlines()
    rows = [row for row in map(json.loads, lines) if "up" in row["table"]]
    assert rows == [{"table": "../../up\\", "a": 7, "b\\,c": "y"}], rows
    with open(golden.path("wild/.._.._up\\.csv"), encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["a", "b\\,c"], ["7", "y"]]


def test_rows_and_texts_of_all_sizes():
    """Rows go out some at a time and text through a buffer: neither shows in what is written."""
    texts = ["é\"\\\n" * n for n in (1, 7, 13000, 26214, 26215, 60000)] + ["x" * (1 << 17), "y" * 70000, ""]
    foreign = sqlite3.connect(golden.path("sizes.sqlite"))
    foreign.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    foreign.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, jsonText TEXT, globalTid INTEGER)")
    for i in range(333):
        foreign.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, 16777217)",
                        (i * 10, i * 10 + 5, texts[i // 3 % len(texts)] if i % 3 == 0 else f"range {i}", '{"a": "b"}' if i % 5 == 0 else None))
    foreign.execute("CREATE TABLE MINE (a INTEGER, b REAL, c TEXT, d BLOB)")
    foreign.executemany("INSERT INTO MINE VALUES (?, ?, ?, ?)",
                        [(i or None, i / 3 if i % 4 else None, texts[i % 5] if i % 2 else None, bytes([i % 256]) * (i % 9)) for i in range(1001)])
    foreign.commit()
    select = {"NVTX_EVENTS": "SELECT start, end, text, jsonText FROM NVTX_EVENTS ORDER BY start", "MINE": "SELECT a, b, c, d FROM MINE"}
    wanted = {name: foreign.execute(sql).fetchall() for name, sql in select.items()}
    golden.run("export", "-q", "-o", golden.path("sizes-back.sqlite"), golden.path("sizes.sqlite"))
    back = sqlite3.connect(golden.path("sizes-back.sqlite"))
    out, _ = golden.run("export", "-t", "jsonlines", "-o", "-", golden.path("sizes.sqlite"))
    lines = [json.loads(line) for line in out.splitlines()]
    golden.run("export", "-q", "-t", "csv", "-o", golden.path("sizes"), golden.path("sizes.sqlite"))
    for name, sql in select.items():
        assert back.execute(sql).fetchall() == wanted[name], name
        columns = sql[len("SELECT "):sql.index(" FROM")].split(", ")
        rows = [tuple(row.get(c) for c in columns) for row in sorted(lines, key=lambda r: r.get("start", 0)) if row["table"] == name]
        assert rows == [tuple(v.hex().upper() if isinstance(v, bytes) else v for v in row) for row in wanted[name]], name
        with open(golden.path(f"sizes/{name}.csv"), newline="", encoding="utf-8") as file:
            rows = sorted(csv.DictReader(file), key=lambda r: int(r.get("start", 0)))
        assert [tuple(row[c] for c in columns) for row in rows] == [
            tuple("" if v is None else v.hex().upper() if isinstance(v, bytes) else f"{v:.17g}" if isinstance(v, float) else str(v)
                  for v in row) for row in wanted[name]], name


def test_a_folder_is_added_to_or_kept():
    golden.run("export", "-t", "csv", "-o", golden.path("f"), "--tables", "ThreadNames", REPORT)
    golden.run("export", "-t", "csv", "-o", golden.path("f"), "--tables", "stringids,processes", "--append", "--input", REPORT)
    assert sorted(os.listdir(golden.path("f"))) == ["PROCESSES.csv", "StringIds.csv", "ThreadNames.csv"]
    golden.run("export", "-t", "csv", "-o", golden.path("f"), "--tables", "thread.*", "-f", "true", REPORT)
    assert os.listdir(golden.path("f")) == ["ThreadNames.csv"]
    with open(golden.path("f/diary.txt"), "w", encoding="utf-8") as file:
        file.write("mine")
    _, err = golden.run("export", "-t", "csv", "-o", golden.path("f"), "-f", "true", REPORT, code=125)
    assert b"files other than .csv" in err and len(os.listdir(golden.path("f"))) == 2, err


def times_of(*switches):
    out, _ = golden.run("export", "-t", "jsonlines", "-o", "-", "--tables", "NVTX_EVENTS", *switches, REPORT)
    rows = [json.loads(line) for line in out.splitlines()]
    assert [r["eventId"] for r in rows] == list(range(1, len(rows) + 1))
    return [(r["start"], r.get("end"), r["eventType"]) for r in rows]


def test_times_choose_events():
    everything = times_of()
    events = [r for r in everything if r[2] in (34, 59, 60)]
    names = [r for r in everything if r[2] not in (34, 59, 60)]
    assert len(events) > 20 and len(names) > 3

    ranges = [r for r in events if r[1] is not None]  # what has no end is let in by its start alone
    for text, keep in [("3us/9us", lambda s, e: s >= 3000 and e <= 9000), (":3us/9us", lambda s, e: e >= 3000 and e <= 9000),
                       ("3us/9us:", lambda s, e: s >= 3000 and s <= 9000), (":3us/9us:", lambda s, e: e >= 3000 and s <= 9000),
                       ("3us500ns/", lambda s, e: s >= 3500), ("/4us", lambda s, e: e <= 4000), ("/", lambda s, e: True)]:
        got = times_of("--times", text)
        assert sorted(r for r in got if r in ranges) == sorted(r for r in ranges if keep(*r[:2])), text
        assert set(got) >= set(names), text
    for bad in ("3us", "9us/3us", "x/", "1parsec/", "/1s/"):
        _, err = golden.run("export", "-o", "-", "-t", "jsonlines", "--times", bad, REPORT, code=125)
        assert err.startswith("lanescope: error: --times: “".encode()) and b"start/end" in err, err


def test_times_are_shifted():
    plain = times_of()
    assert times_of("--ts-shift=-250") == [(s - 250, None if e is None else e - 250, *rest) for s, e, *rest in plain]
    utc = exported().execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()[0]
    assert times_of("--ts-normalize=true", "--ts-shift", "7") == [
        (s + utc + 7, None if e is None else e + utc + 7, *rest) for s, e, *rest in plain]
    for far in ("9223372036854775807", "-9223372036854775808", "99999999999999999999"):
        assert b"at most 73 years" in golden.run("export", f"--ts-shift={far}", REPORT, code=125)[1]
    _, err = golden.run("export", "--ts-shift=soon", REPORT, code=125)
    assert b"nanoseconds" in err, err


def test_tables_are_chosen():
    golden.run("export", "-q", "-o", golden.path("few.sqlite"), "--tables", "nvtx_ev.*,StringIds", REPORT)
    few = open_database(golden.path("few.sqlite"))
    assert sorted(tables(few)) == ["NVTX_EVENTS", "StringIds"], tables(few)
    golden.run("export", "-q", "-o", golden.path("lazy.sqlite"), "--lazy", "true", REPORT)
    lazy = open_database(golden.path("lazy.sqlite"))
    assert tables(lazy) == [n for n in tables(exported()) if exported().execute(f"SELECT 1 FROM {n}").fetchone()]
    for bad, word in [("Nonsense", b"no table"), ("\\(", b"regular expression")]:
        _, err = golden.run("export", "--tables", bad, "-o", golden.path("bad.sqlite"), REPORT, code=125)
        assert word in err and not os.path.exists(golden.path("bad.sqlite")), err
        advice = re.search("`lanescope sql REPORT '(.*)'`", err.decode())
        assert word != b"no table" or b"NVTX_EVENTS\n" in golden.run("sql", REPORT, advice[1])[0], err


def payloads(*switches):
    out, err = golden.run("export", "-t", "jsonlines", "-o", "-", "--tables", "NVTX_EVENTS", *switches, REPORT)
    rows = [json.loads(line) for line in out.splitlines()]
    return sum("jsonText" in r or "jsonTextId" in r for r in rows), sum("binaryData" in r for r in rows), len(rows), err


def test_payloads_are_left_out():
    json_texts, blobs, n, _ = payloads()
    assert json_texts > 0 and blobs > 0
    assert payloads("--include-json=false")[:3] == (0, blobs, n)
    assert payloads("--include-blobs=false")[:3] == (json_texts, 0, n)
    for switch, word in [("--dynamic-tables=all", b"jsonText"), ("--separate-strings=false", b"lines of their own")]:
        assert word in payloads(switch)[3] and payloads(switch)[:3] == (json_texts, blobs, n)


def test_info_is_what_info_prints():
    plain, _ = golden.run("info", REPORT)
    golden.check(golden.run("export", "-t", "info", REPORT)[0], plain)
    golden.run("export", "--type=info", "-o", golden.path("info.txt"), REPORT)
    golden.check(open(golden.path("info.txt"), "rb").read(), plain)
    _, err = golden.run("export", "--type=info", "-o", golden.path("info.txt"), REPORT, code=125)
    assert b"exists" in err, err
    report = golden.make_report("kept.rep")
    _, err = golden.run("export", "--type=info", "-f", "true", "-o", report, report, code=125)
    assert b"cannot be replaced by its export" in err, err
    golden.check(golden.run("info", report)[0].replace(b"kept.rep", b"demo.rep"), plain)


def test_switches_that_a_type_has_no_use_for_say_so():
    for kind, switch in [("sqlite", "--append=true"), ("chrome", "--lazy=true"), ("info", "--tables=StringIds"), ("info", "--times=1s/"),
                         ("folded", "--ts-normalize=true"), ("svg", "--ts-shift=5"), ("folded", "--include-json=false"),
                         ("chrome", "--include-blobs=false"), ("csv", "--strip-layer-number=false"), ("jsonlines", "--filter-out=x"),
                         ("json", "--strip-iteration-number=false"), ("svg", "--doubled=true")]:
        _, err = golden.run("export", "-q", "-f", "true", "-t", kind, switch, "-o", golden.path("idle-" + kind), REPORT)
        said = [line for line in err.decode().splitlines() if " is empty: " not in line]
        assert said == [f"lanescope: note: {switch.split('=')[0]} has no effect with --type={kind}"], (kind, switch, err)
    for kind, switch in [("csv", "--append=true"), ("csv", "--lazy=true"), ("svg", "--tables=CUPTI.*"), ("chrome", "--times=1s/"),
                         ("jsonlines", "--ts-normalize=true"), ("folded", "--filter-out=x"), ("folded", "--doubled=true")]:
        _, err = golden.run("export", "-q", "-f", "true", "-t", kind, switch, "-o", golden.path("used-" + kind), REPORT)
        assert all(" is empty: " in line for line in err.decode().splitlines()), (kind, switch, err)


def test_a_full_disk_leaves_nothing():
    for kind in ("jsonlines", "sqlite"):
        _, err = golden.run("export", "-t", kind, "-o", "/dev/full/x", REPORT, code=125)
        assert b"/dev/full" in err, err
    done = subprocess.run(f"{tap.LANESCOPE} export -t jsonlines -o - {REPORT} > /dev/full", shell=True, capture_output=True)
    assert done.returncode == 125 and b"disk is full" in done.stderr, done


def test_what_cannot_be_written_to_its_end_is_not_left():
    """The system takes no more than 64 KiB a file."""
    report = golden.make_report("limited.rep", 40000)
    for kind in ("sqlite", "jsonlines", "csv", "chrome"):
        done = subprocess.run([tap.LANESCOPE, "export", "-q", "-t", kind, "-o", golden.path("limited"), report], capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)), restore_signals=False)
        assert done.returncode == 125 and done.stderr.startswith(b"lanescope: error: ") and done.stderr.count(b"\n") == 1, (kind, done)
        assert b"limited cannot be written" in done.stderr, (kind, done)
        assert not [n for n in os.listdir(golden.FOLDER) if n.startswith("limited") and n != "limited.rep"], kind


def test_no_export_has_the_metadata():
    """What a report says about its making is nobody's business who is given the program's events: the tables have of it what nsys' have."""
    report = golden.path("secrets.rep")
    demo = tap.program("demo")
    for record in ("all", "none"):
        environment = {"SECRET_OF_MINE": "hunter2", "CUDA_CACHE_PATH": "/hunter3", "PATH": os.environ["PATH"]}
        subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", f"--env-record={record}", "-o", report, "-f", "true",
                        "/bin/sh", "-c", ": hunter4; exec " + demo], env=environment,
                       check=True, capture_output=True)
        for kind, name in (("sqlite", "s.sqlite"), ("jsonlines", "s.jsonl"), ("csv", "s_csv"), ("chrome", "s.json")):
            golden.run("export", "-q", "-t", kind, "-o", golden.path(name), "-f", "true", "--tables=StringIds,NVTX_EVENTS" if kind != "chrome"
                       else "--quiet", report)
            path = golden.path(name)
            files = [os.path.join(path, file) for file in os.listdir(path)] if os.path.isdir(path) else [path]
            found = b"".join(open(file, "rb").read() for file in files)
            for word in (b"hunter", b"SECRET_OF_MINE", b"CUDA_CACHE_PATH", b"clock_pair", b"t0_monotonic", b"working_directory", b"/bin/sh"):
                assert word not in found, (record, kind, word)
            assert b"decode image" in found, (record, kind)
        database = open_database(golden.path("s.sqlite"))
        lost = database.execute("SELECT count(*) FROM NVTX_EVENTS WHERE textId IS NOT NULL AND textId NOT IN (SELECT id FROM StringIds)")
        assert lost.fetchone() == (0,)


def test_arrow_says_what_it_needs():
    """What it writes with pyarrow is read in tests/readers."""
    with open(golden.path("python-without"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 3\n")
    with open(golden.path("python-dies"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nkill -9 $$\n")
    for name, word in [("nowhere", b"install pyarrow"), ("python-without", b"install pyarrow"), ("python-dies", b"ended early")]:
        if os.path.exists(golden.path(name)):
            os.chmod(golden.path(name), 0o755)
        for kind in ("arrow", "arrowdir", "parquetdir"):
            _, err = golden.run("export", "-t", kind, "-o", golden.path("a"), REPORT, code=125, LNS_PYTHON=golden.path(name))
            assert word in err and err.count(b"\n") == 1, err
    assert not [n for n in os.listdir(golden.FOLDER) if n == "a" or n.endswith(".part")]


def test_arrow_runs_no_module_of_the_working_folder():
    """Anybody may have put modules there; those that the user has installed are found."""
    here, own = golden.path("working folder"), golden.path("own")
    site = subprocess.run([PYTHON, "-m", "site", "--user-site"], env=dict(os.environ, PYTHONUSERBASE=own), capture_output=True,
                          text=True, check=True).stdout.strip()
    os.mkdir(here)
    os.makedirs(site)
    module = "import os\nopen({!r} + '/' + __name__, 'w').close()\nraise ImportError\n"
    for name in ("pyarrow", "signal", "socket", "struct", "sitecustomize"):
        with open(os.path.join(here, name + ".py"), "w", encoding="utf-8") as file:
            file.write(module.format(here + "/ran"))
    with open(os.path.join(site, "pyarrow.py"), "w", encoding="utf-8") as file:
        file.write(module.format(own))
    os.mkdir(here + "/ran")
    for path in (None, "", ":/nowhere", "."):
        for kind, python in (("arrow", PYTHON), ("parquetdir", os.path.relpath(PYTHON, here))):
            environment = dict(os.environ, LNS_PYTHON=python, PYTHONUSERBASE=own)
            environment.pop("PYTHONPATH", None)
            if path is not None:
                environment["PYTHONPATH"] = path
            done = subprocess.run([tap.LANESCOPE, "export", "-t", kind, "-o", "a", REPORT], cwd=here, env=environment, capture_output=True)
            assert done.returncode == 125 and b"pyarrow" in done.stderr, (path, kind, done)
            assert os.listdir(here + "/ran") == [], (path, kind, os.listdir(here + "/ran"))
            os.remove(own + "/pyarrow")


def test_other_types_are_refused():
    for kind, word in [("text", b"csv"), ("hdf", b"csv"), ("sqlight", b"sqlite")]:
        _, err = golden.run("export", "--type", kind, REPORT, code=125)
        assert b"--type" in err and word in err, err
    _, err = golden.run("export", "-o", "-", REPORT, code=125)
    assert b"standard output" in err, err


tap.main(globals())
