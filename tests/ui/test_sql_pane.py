# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the pane of SQL in the whole viewer: what it shows is what `lanescope sql` prints."""

import json
import os
import subprocess

import harness
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def told(statement):
    done = subprocess.run([tap.LANESCOPE, "sql", SAMPLE, statement], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def write(app, statement):
    """Runs STATEMENT by the keys in place of the one that is there."""
    text = app.find("text", "Statement")
    app.wait(harness.steady(lambda: text.extents()), what="the place of the statement")
    text.click()
    app.key("ctrl+a")
    app.type(statement)
    app.wait(lambda: text.text == statement, what="the statement to be written")
    app.key("ctrl+Return")


def test_statements_give_what_the_tool_prints():
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-sql")
        for _, sentence in told("SELECT ns, sentence FROM LNS_FINDINGS"):
            app.find("label", sentence)
        write(app, "SELECT text, count(*) AS n FROM NVTX_EVENTS GROUP BY text ORDER BY n DESC")
        table = app.find("tree table", "SQL")
        for text, n in told("SELECT text, count(*) AS n FROM NVTX_EVENTS GROUP BY text"):
            table.find("label", text)
            table.find("label", n)
        write(app, "SELECT * FROM NVTX_EVENT")
        app.wait(lambda: any("no such table: NVTX_EVENT" in node.name for node in app.root.find_all("label")), what="what SQLite says")
        write(app, "DELETE FROM NVTX_EVENTS")
        app.find("label", "Statements only read here, and this one would change something.")
        write(app, "SELECT 1 WHERE 0")
        app.find("label", "The statement gave no rows.")


def test_a_row_leads_to_its_time():
    start, end = map(int, told("SELECT start, end FROM NVTX_EVENTS WHERE text = 'load' ORDER BY start LIMIT 1")[0])
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-sql")
        write(app, "SELECT text, start, end FROM NVTX_EVENTS WHERE text = 'load' ORDER BY start LIMIT 1")
        row = app.find("tree table", "SQL").find("label", "load")
        app.wait(harness.steady(lambda: row.extents()), what="the place of the row")
        x, y, width, height = row.extents()
        app.click(x + 4, y + height // 2, times=2)
        app.find("label", f"{(end - start) / 1e6:.6f}".rstrip("0") + " ms")  # in the details


def test_the_statement_of_a_finding_is_one_click_away():
    answer = json.loads(subprocess.run([tap.LANESCOPE, "why", "--format=json", SAMPLE], capture_output=True, check=True).stdout)
    first = answer["findings"][0]
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-findings")
        app.find("label", first["sentence"]).click()
        app.find("push button", "Open in SQL").do()
        app.find("tree table", "SQL").find("label", f"{first['ns']:,}")
        assert app.find("text", "Statement").text == first["sql"]


harness.main(globals())
