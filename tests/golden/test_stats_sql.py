# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Reports that users write as SQL files over a report's tables; no query runs for ever."""

import json
import os
import signal
import subprocess
import time

import golden
import tap

REPORT = golden.make_report()
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

NAMES = """-- Ranges by their names
SELECT text AS "Name", count(*) AS "Count", sum("end" - start) / 1000.0 AS "Total (us)", NULL AS Missing, x'00ff' AS Bytes
FROM (SELECT start, "end", eventType, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) AS text FROM NVTX_EVENTS)
WHERE eventType = 59 AND "end" IS NOT NULL AND length(text) >= coalesce(:least, 0)
GROUP BY text ORDER BY 3 DESC, 1; -- done
"""

TABLE = """\
 ** Ranges by their names (NAME):

  Name    Count  Total (us)  Missing  Bytes
 -------  -----  ----------  -------  -----
 step         2         8.0           00FF 
 load         2         0.7           00FF 
 payload      7        0.35           00FF 

"""


def write(name, text):
    os.makedirs(golden.path("own"), exist_ok=True)
    with open(golden.path("own/" + name), "w", encoding="utf-8") as file:
        file.write(text)
    return golden.path("own/" + name)


def stats(*words, **arguments):
    return golden.run("stats", *words, **arguments)[0]


def test_a_query_is_a_report():
    path = write("names.sql", NAMES.replace("length(text) >=", "text IN ('step', 'load', 'payload') AND length(text) >="))
    golden.check(stats("-q", "-r", path, REPORT), TABLE.replace("NAME", path).encode())
    assert stats("-r", path, REPORT).startswith(f"Processing [{REPORT}] with [{path}]... \n\n ** Ranges".encode())
    rows = json.loads(stats("-f", "json", "-r", path + ":least=5", REPORT))
    assert rows == [{"Name": "payload", "Count": 7, "Total (us)": 0.35, "Missing": None, "Bytes": "00FF"}], rows


def test_where_queries_are_found():
    write("mine.sql", "SELECT 1 AS mine")
    write("nvtx_sum.sql", "SELECT 2 AS other")
    for words, environment in ((["--report-dir", golden.path("own")], {}), (["--report-dir=/nowhere," + golden.path("own")], {}),
                               ([], {"LANESCOPE_STATS_REPORT_PATH": "/nowhere::" + golden.path("own")})):
        golden.check(stats("-f", "csv", "-r", "mine,nvtx_sum", *words, REPORT, **environment), b"mine\n1\nother\n2\n")
    assert b"Time (%)" in stats("-f", "csv", "-r", "nvtx_sum", REPORT)
    _, err = golden.run("stats", "-r", "mine", REPORT, code=125)
    assert b"--report: unknown report" in err
    stats("-r", "./own/mine.sql", "-o", golden.path("q"), REPORT)
    golden.check(open(golden.path("q_mine.csv"), "rb").read(), b"mine\n1\n")


def test_what_is_no_report():
    for text, wanted in (("SELECT 1; SELECT 2", "one query"), ("", "one query"), ("-- nothing\n", "one query"), ("SELEC 1", "syntax error"),
                         ("SELECT * FROM NO_TABLE", "no such table"), ("DELETE FROM NVTX_EVENTS", "only reads"),
                         ("CREATE TABLE t (x)", "only reads"), ("ATTACH 'x' AS y", "only reads"), ("SELECT 1\0", "is not a text file of at most 1 MiB")):
        path = write("bad.sql", text)
        out, err = golden.run("stats", "-q", "-r", path, REPORT, code=125)
        assert out == b"" and wanted in err.decode() and "bad.sql" in err.decode() and len(err.splitlines()) == 1, (text, err)
    for name, wanted in (("own/none.sql", "cannot read"), ("own", "--report"), ("./own", "cannot read"), ("own/mine.sql:x=1", "no parameter"), ("own/mine.sql:x", "no parameter")):
        _, err = golden.run("stats", "-r", name, REPORT, code=125)
        assert wanted in err.decode() and len(err.splitlines()) == 1, (name, err)
    assert b"does not contain what the query asks for" in stats("-q", "-r", write("empty.sql", "SELECT 1 WHERE 0"), REPORT)


def test_a_query_that_lacks_its_parameter():
    """That is why it finds nothing, not the report; what a query does without stays its own affair."""
    path = write("least.sql", "SELECT text FROM NVTX_EVENTS WHERE end - start >= :least AND text LIKE :like")
    for name, told in ((path, f":least, :like: give one with --report={path}:least=VALUE"),
                       (path + ":like=%", f":least: give one with --report={path}:like=%:least=VALUE")):
        out = stats("-q", "-r", name, REPORT).decode()
        assert out == f"SKIPPED: {REPORT} has nothing for {name} without a value for {told}.\n\n", out
        out, err = golden.run("stats", "-q", "-f", "csv", "-r", name, REPORT)
        assert out == b"" and told in err.decode(), (out, err)
    out = stats("-q", "-r", path + ":like=%:least=999999999999", REPORT)
    assert out == f"SKIPPED: {REPORT} does not contain what the query asks for.\n\n".encode(), out
    assert b"step" in stats("-q", "-f", "csv", "-r", path + ":like=%:least=8000", REPORT)
    assert stats("-q", "-f", "csv", "-r", write("optional.sql", "SELECT coalesce(:most, 5) AS most"), REPORT) == b"most\n5\n"


def test_no_query_is_endless():
    path = write("endless.sql", ENDLESS)
    for words in (["sql", "--timeout=0.3", REPORT, ENDLESS], ["stats", "-q", "-r", path, "--timeout", "0.3", REPORT]):
        out, err = golden.run(*words, code=125)
        assert out == b"" and b"took longer than 0.300 s; give it more time with --timeout" in err and len(err.splitlines()) == 1, err


def test_it_ends_when_it_is_asked_to():
    path = write("endless.sql", ENDLESS)
    for words in (["sql", REPORT, ENDLESS], ["stats", "-q", "-r", path, REPORT]):
        with subprocess.Popen([tap.LANESCOPE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, XDG_CACHE_HOME=golden.path("cache"))) as process:
            catches = False
            while not catches:  # as soon as it catches SIGTERM, which comes after SIGINT, and which Python does not catch
                time.sleep(0.02)
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    caught = next(line for line in file if line.startswith("SigCgt:"))
                catches = int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            assert process.returncode == -signal.SIGINT and out == b"" and b"interrupted" in err and len(err.splitlines()) == 1, (out, err)


tap.main(globals())
