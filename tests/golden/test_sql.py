# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope sql: rows byte for byte, refused statements, and queries compared with a plain copy."""

import json
import os
import signal
import sqlite3
import subprocess

import golden
import tap

REPORT = golden.make_report()
MAIN, WORKER, CHILD = 1000 << 24 | 1000, 1000 << 24 | 1001, 2000 << 24 | 2000


def sql(statement, *switches, **arguments):
    return golden.run("sql", *switches, REPORT, statement, **arguments)[0]


def test_ranges_with_their_names_byte_for_byte():
    golden.check(
        sql('SELECT eventId, start, "end", eventType, text FROM NVTX_EVENTS WHERE eventType IN (59, 60)'),
        b"1\t1000\t9000\t59\tstep\n2\t10000\t10000\t59\tstep\n3\t11000\t\t59\tlost end\n"
        b"4\t1000\t1500\t59\ttwo\nlines\n5\t2000\t2500\t59\ttab\there\n6\t3000\t3500\t59\tquo\"ted, 'too'\n"
        b"7\t4000\t4500\t59\tgr\xc3\xbc\xc3\x9f \xe2\x82\xac\n8\t5000\t5500\t59\tbad \xff\xfe byte\n"
        b"9\t2000\t2400\t59\tload\n" +
        b"".join(b"%d\t%d\t%d\t59\tpayload\n" % (10 + i, 20000 + 100 * i, 20050 + 100 * i) for i in range(7)) +
        b"17\t3000\t3300\t59\t\n18\t-50\t7\t59\t\n19\t60000\t\t59\tnever ended\n"
        b"20\t5000\t6000\t60\trequest\n21\t5100\t6100\t60\trequest\n")


def test_definitions_as_events():
    golden.check(
        sql("SELECT start, eventType, category, domainId, globalTid, text FROM NVTX_EVENTS"
            " WHERE eventType IN (33, 39, 75, 76) ORDER BY eventId"),
        f"10\t75\t\t1\t{MAIN}\tcompute\n10\t33\t7\t1\t{MAIN}\tinput, \"output\"\n20\t75\t\t2\t{MAIN}\tcompute\n"
        f"100\t39\t\t0\t{WORKER}\twor\"ker\tone\n80000\t76\t\t2\t{MAIN}\t\n".encode())


def test_resources():
    string = sql("SELECT id FROM StringIds WHERE value = 'copy stream'").decode().strip()
    golden.check(
        sql("SELECT * FROM LNS_NVTX_RESOURCES WHERE \"end\" IS NULL"),
        f"40\t\t{1000 << 24}\t1\t262147\tCUDA_STREAM\t2130749952\t{string}\tcopy stream\n".encode())
    golden.check(
        sql("SELECT start, \"end\", globalPid, identifierTypeName, identifier, text FROM LNS_NVTX_RESOURCES"
            " WHERE domainId = 0"),
        f"50\t70\t{2000 << 24}\tGENERIC_HANDLE\t-1\twor\"ker\tone\n".encode())


def test_payloads():
    golden.check(
        sql("SELECT uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue FROM NVTX_EVENTS"
            " WHERE text = 'payload' LIMIT 6"),
        b"9223372036854775807\t\t\t\t\t\n\t-5\t\t\t\t\n\t\t1.5\t\t\t\n\t\t\t4000000000\t\t\n\t\t\t\t-7\t\n\t\t\t\t\t0.25\n")
    golden.check(
        sql("SELECT jsonText, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL"),
        b'{"size":4096,"operation":"max","tag":"a\\"b\\ufffd","at":{"x":-1,"y":2},"ratio":0.5,"ranks":[1,2,65535]}\t'
        b"0100000000000000" b"0200000100000000" b"3000000000000000" b"2000000000000000"
        b"0010000000000000" b"05000000" b"612262FF00000000" b"FFFFFFFF" b"02000000" b"00000000" b"000000000000E03F"
        b"01000200FFFF0000" b"\n")


def test_colors_categories_ids_and_threads():
    golden.check(
        sql("SELECT color, category, rangeId, globalTid, endGlobalTid, domainId FROM NVTX_EVENTS WHERE eventId IN (1, 9, 17, 18, 20, 21, 22)"),
        f"4278255488\t\t\t{MAIN}\t\t0\n\t7\t\t{MAIN}\t\t1\n\t\t\t{WORKER}\t\t2\n\t\t\t{CHILD}\t\t0\n"
        f"\t\t41\t{MAIN}\t\t0\n\t\t42\t{MAIN}\t{WORKER}\t0\n\t\t\t{WORKER}\t\t0\n".encode())


def test_other_tables():
    golden.check(sql("SELECT * FROM LNS_COUNTERS"),
                 b"".join(b"%d\t%d\tqueue\t%d\titems\t16777216000\t1\t99\n" % (100 * i, int(sql("SELECT id FROM StringIds WHERE value='queue'")), i - 1)
                          for i in range(3)))
    assert sql("SELECT * FROM LNS_LOSSES", "--header") == sql("SELECT * FROM LNS_LOSSES", "--header=true")
    golden.check(sql("SELECT * FROM LNS_LOSSES", "--header"),
                 b"start\tend\tglobalPid\tglobalTid\tpushes\tpops\tmarks\tstarts\tends\tothers\tbytes\n"
                 b"40000\t41000\t16777216000\t%d\t3\t2\t1\t0\t0\t0\t96\n" % WORKER)
    golden.check(sql("SELECT s.value, t.globalTid FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId"),
                 f"demo\t{MAIN}\nwor\"ker\tone\t{WORKER}\nchild\t{CHILD}\n".encode())
    golden.check(sql("SELECT pid, name FROM PROCESSES"), b"1000\tdemo\n2000\tchild\n")
    golden.check(sql("SELECT parentGlobalPid, quote(commandLine), exitCode, quote(exitSignal) FROM PROCESSES WHERE pid = 1000"), b"\t'./demo --fast'\t0\tNULL\n")
    golden.check(sql("SELECT parentGlobalPid, quote(commandLine), quote(exitCode), quote(exitSignal) FROM PROCESSES WHERE pid = 2000"), b"16777216000\tNULL\tNULL\tNULL\n")
    golden.check(sql("SELECT severity, text, globalPid FROM DIAGNOSTIC_EVENT"),
                 b"2\tLNS-NVTX-003: A range was popped that nobody pushed.\t16777216000\n")
    golden.check(sql("SELECT * FROM TARGET_INFO_SESSION_START_TIME"),
                 b"1700000000123456789\t2023-11-14T22:13:20\t2023-11-14T22:13:20\t5000000000\n")
    golden.check(sql("SELECT schemaId, name, numEntries, payloadSize FROM NVTX_PAYLOAD_SCHEMAS"),
                 b"16777216\tpoint\t2\t8\n16777218\tmessage\t6\t48\n")
    golden.check(sql("SELECT idx, name, value FROM NVTX_PAYLOAD_ENUM_ENTRIES"), b"0\tsum\t0\n1\tmax\t5\n")
    golden.check(sql("SELECT label FROM ENUM_NSYS_EVENT_TYPE WHERE id = 59"), b"NvtxPushPopRange\n")
    golden.check(sql("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), b"0\n")


def test_payloads_are_no_strings():
    """StringIds holds texts: a payload's bytes would stop readers that decode them."""
    has_nul = "WHERE instr(CAST(value AS BLOB), x'00') > 0"
    assert int(sql(f"SELECT count(*) FROM StringIds {has_nul}")) == 0
    # Who asks for an id gets what it stands for: the payload is there.
    every = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
    assert int(sql(f"{every} SELECT count(*) FROM n CROSS JOIN StringIds ON id = i {has_nul}")) == 1


def test_json():
    rows = json.loads(sql("SELECT text, start, \"end\", 0.5 AS half, x'00ff' AS blob FROM NVTX_EVENTS WHERE eventId IN (3, 8)", "--json"))
    assert rows == [{"text": "lost end", "start": 11000, "end": None, "half": 0.5, "blob": "00FF"},
                    {"text": "bad \ufffd\ufffd byte", "start": 5000, "end": 5500, "half": 0.5, "blob": "00FF"}], rows
    assert json.loads(sql("SELECT 1 WHERE 0", "-j")) == []


def test_several_statements():
    golden.check(sql("SELECT 1; SELECT 'a', NULL, 2.5;"), b"1\na\t\t2.5\n")


def test_statements_from_the_standard_input():
    def fed(text, *words):
        done = subprocess.run([tap.LANESCOPE, "sql", REPORT, *words], input=text, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    assert fed("SELECT 1;\n\nSELECT ';'\n  AS a; SELECT 2") == fed("SELECT 1;\n\nSELECT ';'\n  AS a; SELECT 2", "-") == (0, "1\n;\n2\n", "")
    assert fed(".headers on\nSELECT 1 AS a;\n.headers off\nSELECT 2;\n.quit\nSELECT 3;\n") == (0, "a\n1\n2\n", "")
    assert fed("SELECT 1 AS a;", "--json") == fed("SELECT 1 AS a;", "-", "-j") == (0, '[{"a":1}]\n', "")
    assert fed("") == (0, "", "") and fed(".help\n")[1].startswith(".tables ")
    code, out, err = fed("SELECT 1;\nSELECT\n x;\nSELECT 2;")
    assert (code, out) == (125, "1\n") and err.startswith("lanescope: error: line 3: the query failed: no such column: x"), (code, out, err)
    code, out, err = fed("\n.frobnicate\n")
    assert (code, out) == (125, "") and err.startswith("lanescope: error: line 2: unknown command “.frobnicate”; "), err


def test_tables_and_their_columns():
    names = sql(".tables").decode().split()
    every = sql(".tables %").decode().split()
    assert set(names) < set(every) and len(every) > 100 and every == sorted(every, key=str.encode)
    for name in every:
        if not name.startswith("ENUM_"):
            assert (name in names) == (sql(f"SELECT count(*) > 0 FROM {name}") == b"1\n"), name
    assert sql(".tables LNS\\_LOSS%".replace("\\", "")) == b"LNS_LOSSES\n" and json.loads(sql(".tables lns_losses;", "-j")) == [{"name": "LNS_LOSSES"}]
    assert sql(".tables nothing") == b""
    copy = sqlite3.connect(":memory:")
    copy.executescript(sql(".schema %").decode())
    for name in every:
        described = json.loads(sql(f"PRAGMA table_info({name})", "--json"))
        assert copy.execute(f"SELECT name, type FROM pragma_table_info('{name}')").fetchall() == [(row["name"], row["type"]) for row in described], name


def test_it_only_reads():
    for statement in ["DELETE FROM NVTX_EVENTS", "CREATE TABLE t (x)", "ATTACH 'other.db' AS other", "PRAGMA journal_mode = WAL",
                      "INSERT INTO StringIds VALUES (1, 'x')", "DROP TABLE NVTX_EVENTS", "VACUUM", "VACUUM INTO 'copy.db'", "BEGIN", "SELECT load_extension('x')"]:
        out, err = golden.run("sql", REPORT, statement, code=125)
        assert out == b"" and err.startswith(b"lanescope: error: sql only reads"), (statement, err)


def test_regular_expressions():
    golden.check(sql("SELECT DISTINCT value FROM StringIds WHERE value REGEXP '^(st|lo)[a-d]?..?$' ORDER BY value"), b"load\nstep\n")
    golden.check(sql("SELECT regexp('TEP', 'a step'), regexpi('TEP', 'a step'), regexp(NULL, 'x'), 'a' REGEXP NULL, regexp('', '')"),
                 b"0\t1\t\t\t1\n")
    for pattern, told in (("(", b"not valid"), ("(a)\\1", b"back-reference"), ("(a{9}){9}", b"more than one {"), ("x" * 501, b"longer than 500 bytes")):
        assert told in golden.run("sql", REPORT, f"SELECT 'a' REGEXP '{pattern}'", code=125)[1], pattern


def test_constraints_agree_with_a_plain_copy():
    """Each query over virtual tables gives what it gives over a copy of their rows."""
    copy = sqlite3.connect(":memory:")
    copy.text_factory = bytes
    for table in ["NVTX_EVENTS", "StringIds", "ThreadNames", "PROCESSES", "LNS_COUNTERS"]:
        described = json.loads(sql(f"PRAGMA table_info({table})", "--json"))
        columns = [row["name"] for row in described]
        copy.execute(f"CREATE TABLE {table} ({', '.join(chr(34) + row['name'] + chr(34) + row['type'] for row in described)})")
        # Hexadecimal keeps bytes and types apart in lines.
        expression = " || ',' || ".join(f"CASE WHEN typeof(\"{c}\") = 'text' THEN 'CAST(' || quote(CAST(\"{c}\" AS BLOB)) || ' AS TEXT)'"
                                        f" ELSE quote(\"{c}\") END" for c in columns)
        for line in sql(f"SELECT {expression} FROM {table}").splitlines():
            copy.execute(f"INSERT INTO {table} VALUES ({line.decode()})")
    copy.execute("CREATE UNIQUE INDEX by_id ON NVTX_EVENTS (eventId)")
    comparisons = ["= {}", "< {}", "<= {}", "> {}", ">= {}", "BETWEEN {} AND {} + 3000", "IN ({}, 59, 1001)"]
    conditions = []
    for column, values in [("start", [-50, 2000, 2000.5, 7001, 10 ** 12, "NULL", "'2000'", "'x'", -1e300, 1e300]),
                           ('"end"', [7, 1500, 2400, 2400.25, "NULL"]), ("eventId", [0, 1, 17, 29, 3.5]),
                           ("globalTid", [MAIN, WORKER, CHILD, 5]), ("eventType", [59, 34, 75, 1]),
                           ("domainId", [0, 1, 2]), ("textId", [0, 44, 50])]:
        conditions += [f"{column} {c.format(v, v)}" for c in comparisons for v in values]
    conditions += ["text = 'load'", "text IN (SELECT text FROM NVTX_EVENTS WHERE eventType IN (33, 39, 75))", "text = 'step'", "text IN ('step', 'compute', '', 'nothing')", "text = 'STEP' COLLATE NOCASE", "text = NULL",
                   "text > 'p'", "text = x'73746570'", "text = 5", "textId IN (SELECT id FROM StringIds WHERE value = 'load')",
                   "text = 'two' || char(10) || 'lines'"]
    conditions += [f"{a} AND {b}" for a in conditions[::7] for b in conditions[3::11]]
    key = "eventId, start, coalesce(\"end\", 'open'), globalTid, domainId, textId"
    for batch in range(0, len(conditions), 60):
        part = conditions[batch:batch + 60]
        statement = "; ".join(f"SELECT count(*), sum(eventId), group_concat(eventId) FROM (SELECT {key} FROM NVTX_EVENTS WHERE {c} ORDER BY eventId)" for c in part)
        answers = sql(statement).decode().splitlines()
        assert len(answers) == len(part)
        for condition, answer in zip(part, answers):
            plain = copy.execute(f"SELECT count(*), sum(eventId), group_concat(eventId) FROM (SELECT {key} FROM NVTX_EVENTS WHERE {condition} ORDER BY eventId)").fetchone()
            expected = "\t".join("" if v is None else v.decode() if isinstance(v, bytes) else str(v) for v in plain)
            assert answer == expected, f"{condition}: {answer} instead of {expected}"


def test_order_by_start_merges_lanes():
    starts = [int(s) for s in sql("SELECT start FROM NVTX_EVENTS ORDER BY start").split()]
    assert starts == sorted(starts) and len(starts) == 29
    plan = sql("EXPLAIN QUERY PLAN SELECT start FROM NVTX_EVENTS ORDER BY start")
    assert b"TEMP B-TREE" not in plan, plan


def test_names_are_looked_up_not_scanned():
    plan = sql("EXPLAIN QUERY PLAN SELECT s.value FROM NVTX_EVENTS n JOIN StringIds s ON s.id = n.textId").decode().splitlines()
    assert "n" in plan[0] and "s" in plan[1], plan


def test_rows_stream():
    """A million rows in little memory, in any order, and no longer than somebody reads."""
    report = golden.make_report("stream.rep", 1000000)
    statement = "SELECT * FROM NVTX_EVENTS"
    # A sanitizer keeps what was freed, up to 256 MB of it by default.
    env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
    for words, limit_kib in [([statement], 64 << 10), (["SELECT start, text FROM NVTX_EVENTS ORDER BY start"], 200 << 10)]:
        # Sixteen lanes are merged with fewer descriptors than that.
        process = subprocess.Popen(["prlimit", "--nofile=16", tap.LANESCOPE, "sql", report] + words, stdout=subprocess.PIPE, env=env)
        n_lines = sum(block.count(b"\n") for block in iter(lambda: process.stdout.read(1 << 20), b""))
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0 and n_lines > 1000000 and usage.ru_maxrss < limit_kib, (words, status, n_lines, usage.ru_maxrss)
    with subprocess.Popen([tap.LANESCOPE, "sql", report, statement], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(20) == -signal.SIGPIPE and process.stderr.read() == b""


tap.main(globals())
