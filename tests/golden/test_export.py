# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export: what is in the file, how it is laid out, and that it is all or nothing."""

import os
import sqlite3

import golden
import tap

REPORT = golden.make_report()
CORPUS = os.path.join(tap.SHARED, "corpus", "nsys-sqlite")


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
    out, _ = golden.run("export", "-t", "sqlite", "-f", "true", "-o", golden.path("new/folder/x.sqlite"), REPORT)
    golden.check(out, b"Generated:\n    " + golden.path("new/folder/x.sqlite").encode() + b"\n")
    assert os.listdir(golden.path("new/folder")) == ["x.sqlite"]


def test_a_report_is_not_replaced_by_its_export():
    report = golden.make_report("itself.rep")
    os.symlink(report, golden.path("link.rep"))
    for output in (report, golden.path("link.rep")):
        _, err = golden.run("export", "-f", "true", "-o", output, report, code=125)
        assert b"cannot be replaced by its export" in err, err
    golden.run("info", report)


def test_rows_are_those_of_sql():
    """Every table, row by row and in order, rowids too."""
    database = exported()
    names = tables(database)
    assert len(names) > 80 and not database.execute("SELECT 1 FROM sqlite_master WHERE type != 'table'").fetchall()
    for name in names:
        columns = [row[1].decode() for row in database.execute(f"PRAGMA table_info({name})")]
        quoted = ", '|', ".join(f"quote(CASE WHEN typeof(\"{c}\") = 'text' THEN CAST(\"{c}\" AS BLOB) ELSE \"{c}\" END)" for c in columns)
        select = f"SELECT rowid, {quoted} FROM {name}"
        ours = golden.run("sql", REPORT, select)[0].split(b"\n")[:-1]
        theirs = [b"\t".join(v if isinstance(v, bytes) else str(v).encode() for v in row) for row in database.execute(select)]
        assert ours == theirs, (name, [pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:2], len(ours), len(theirs))


def test_it_holds_what_was_recorded():
    rows = exported().execute("SELECT e.start, e.end, e.text, s.value FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId"
                              " WHERE eventType = 59 AND globalTid % 0x1000000 = 1000 AND domainId = 0").fetchall()
    names = [b"step", b"step", b"lost end", b"two\nlines", b"tab\there", b"quo\"ted, 'too'",
             "grüß €".encode(), b"bad \xff\xfe byte"]
    times = [(1000, 9000), (10000, 10000), (11000, None)] + [(1000 * i, 1000 * i + 500) for i in range(1, 6)]
    assert rows == [(start, end, name, name) for (start, end), name in zip(times, names)], rows


def test_layout_is_that_of_real_exports():
    """Names, types, NOT NULL and order of columns are exactly those of schema 3.25; an older file may lack the last ones."""
    if not os.path.isdir(CORPUS):
        raise tap.Skip("../shared/corpus is not there")
    ours = exported()
    compared = 0
    for file, is_newest in [("rtx3080-tiny.sqlite", False), ("h100x2-nccl.sqlite", True)]:
        theirs = sqlite3.connect(f"file:{CORPUS}/{file}?immutable=1", uri=True)
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


def test_other_types_are_refused():
    _, err = golden.run("export", "--type", "hdf", REPORT, code=125)
    assert b"--type" in err and b"sqlite" in err, err


tap.main(globals())
