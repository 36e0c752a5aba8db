# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the critical path in the whole viewer: its figures are those of `lanescope why --critical-path`, below the ruler, in the tables and
in the details of an event."""

import json
import lzma
import os
import shutil
import subprocess

import harness
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")
# What the pane calls kinds of pieces that have no name.
NAMELESS = {"unknown": "not recorded", "outside": "waits for a time or a device", "no-cpu": "has no CPU", "queued": "from launch to start",
            "wait": "waits", "start": "starts"}


def recorded(name):
    """A report that was recorded on a GPU."""
    path = os.path.join(os.environ[harness.SESSION], name + ".rep")
    with lzma.open(os.path.join(tap.SOURCE, "tests", "answers", "device", name + ".rep.xz")) as packed, open(path, "wb") as file:
        shutil.copyfileobj(packed, file)
    return path


def told(report, *switches):
    done = subprocess.run([tap.LANESCOPE, "why", "--critical-path", "--top=0", "--format=json", *switches, report], capture_output=True, text=True, check=True)
    has_states = int(asked(report, "SELECT count(*) FROM SCHED_EVENTS")[0][0]) > 0
    return json.loads(done.stdout) | {"runs": "runs" if has_states else "in no recorded call"}


def asked(report, statement):
    done = subprocess.run([tap.LANESCOPE, "sql", report, statement], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def shown(ns):
    if abs(ns) >= 1e9:
        return f"{ns / 1e9:.3f} s"
    return f"{ns / 1e6:.3f} ms" if abs(ns) >= 1e6 else f"{ns / 1e3:.3f} µs" if abs(ns) >= 1e3 else f"{ns} ns"


def name_of(piece, path):
    """What the pane calls PIECE, a part or a link of PATH."""
    name = piece["name"]
    if name and piece["kind"] in ("call", "sync"):
        name = name.split("_v")[0]
    return f"returns from {name}" if piece["kind"] == "sync" else f"waits in {name}" if name and piece["kind"] in ("wait", "outside") \
        else name or (path["runs"] if piece["kind"] == "run" else NAMELESS[piece["kind"]])


def rows_of(table):
    """The texts of the rows of TABLE that are there."""
    rows = [[label.name for label in row.find_all("label")] for row in table.find("list").children()]
    return [row for row in rows if row]


def rows(app, name, n):
    """The first N rows of the table called NAME, once they are there."""
    return app.wait(lambda: (lambda found: found[:n] if len(found) >= n else None)(rows_of(app.find("tree table", name))), what=f"{n} rows of {name}")


def share(ns, path):
    return f"{round(1000 * ns / (path['end'] - path['start'])) / 10:.1f} %"


def check_tables(app, path):
    """The pane tells PATH."""
    app.find("label", path["sentence"])
    unknown = 100 * path["unknown_ns"] / (path["end"] - path["start"])
    inferred = 100 * path["inferred_ns"] / (path["end"] - path["start"])
    doubts = ([f"Timing alone tells what {inferred:.1f} % of it waited for."] if inferred >= 0.1 else []) \
        + ([f"{unknown:.1f} % of it is not known."] if unknown >= 0.1 else [])
    assert not doubts or app.find("label", " ".join(doubts))
    app.find("page tab", "What It Is In").do("click")
    parts = path["parts"][:5]
    for row, part in zip(rows(app, "What It Is In", len(parts)), parts):
        assert row[0] == name_of(part, path), (row, part)
        slack = "—" if part["slack_ns"] is None else shown(part["slack_ns"])
        assert row[2:] == [shown(part["ns"]), share(part["ns"], path), f"{part['count']:,}", shown(part["all_ns"]), slack], (row, part)
    app.find("page tab", "Longest Links").do("click")
    links = path["longest"][:5]
    for row, link in zip(rows(app, "Longest Links", len(links)), links):
        ns = link["end"] - link["start"]
        doubt = "reason not recorded" if link["is_unknown"] else "inferred from timing" if link["is_inferred"] else ""
        assert [row[0], *row[3:]] == [name_of(link, path), shown(link["start"]), shown(ns), share(ns, path), doubt], (row, link)


def test_figures_are_those_of_the_tool():
    for report in (SAMPLE, recorded("replays"), recorded("gil")):
        with harness.App(report, size=(1800, 1000)) as app:
            app.activate("win.show-critical")
            check_tables(app, told(report))


def test_a_step_has_a_path_of_its_own():
    steps = [(int(a), int(b)) for a, b in asked(SAMPLE, 'SELECT start, "end" FROM LNS_STEPS ORDER BY start')]
    whole = told(SAMPLE)
    with harness.App(SAMPLE, size=(1800, 1000)) as app:
        app.activate("win.show-steps")
        app.activate("win.show-critical")
        app.find("label", whole["sentence"])
        app.activate("win.next-step")
        app.find("label", "Selected Time")
        title = app.find("label", lambda text: text.startswith("for the selection: ")).name
        start, end = next(step for step in steps if f"{shown(step[0])} – {shown(step[1])}" in title)
        step = told(SAMPLE, f"--filter-time={start}ns/{end}ns")
        assert step["sentence"] != whole["sentence"]
        check_tables(app, step)
        strip = app.find("image", "Critical Path")
        app.activate("win.show-path")
        app.wait(lambda: is_shown(strip) and strip.description == step["sentence"], what="the words of the strip")


def is_shown(strip):
    return strip.extents()[3] > 1


def time_ns(text):
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}[unit]


def test_keys_walk_along_the_path():
    links = sorted(told(SAMPLE)["longest"], key=lambda link: link["start"])
    assert len(links) == told(SAMPLE)["links"], "all links are told"
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.find("table row", lambda name: name.startswith("main ")).click()
        app.key("ctrl+i")
        strip = app.find("image", "Critical Path")
        app.wait(lambda: is_shown(strip) and strip.description == told(SAMPLE)["sentence"], what="the path")

        def current():
            """The link that somebody went to: what it is, who does it, how long it takes, its share and its start."""
            lines = strip.description.split("\n")
            return lines if len(lines) > 2 else None

        def press(key):
            before = current()
            app.key(key)
            return app.wait(lambda: current() if current() != before else None, what=f"the link after {key}")

        def link_of(lines):
            length = lines[2].split(",")[0]
            start = lines[2].split("from ")[1].removesuffix(" on")
            found = [link for link in links if shown(link["end"] - link["start"]) == length and shown(link["start"]) == start]
            assert found, lines
            return found[0]
        first = press("k")
        at = link_of(first)
        assert first[1] == "main (19804)" or first[1].startswith("GPU 0, stream "), first
        second = press("k")
        assert link_of(second)["start"] > at["start"]
        third = press("k")
        assert link_of(third)["start"] > link_of(second)["start"]
        assert press("shift+k") == second
        # It leads to the event: the call is in the details, where there is one.
        while link_of(current())["kind"] not in ("kernel", "copy", "sync", "call"):
            press("k")
        link = link_of(current())
        app.find("label", lambda text: text.split("_v")[0] == link["name"].split("_v")[0])
        app.gone_node("label", "This Report")
        # Where nothing was recorded, no event is selected any more.
        while link_of(current())["kind"] not in ("run", "unknown"):
            press("k")
        app.find("label", "This Report")
        app.key("ctrl+i")
        app.wait(lambda: not is_shown(strip), what="the strip to go")


def test_a_click_leads_to_the_event():
    path = told(SAMPLE)
    call = next(link for link in path["longest"] if link["kind"] == "sync")
    with harness.App(SAMPLE, size=(1600, 1000)) as app:
        app.activate("win.show-critical")
        app.find("page tab", "Longest Links").do("click")
        table = app.find("tree table", "Longest Links")
        label = app.wait(lambda: table.find("label", shown(call["end"] - call["start"])), what="the link")
        label.click()
        app.key("Return")
        app.find("label", call["name"].split("_v")[0])
        app.find("label", "Slack")
        app.find("label", lambda text: text.startswith("none: on the critical path for "))


def test_details_tell_what_an_event_has_to_spare():
    report = recorded("replays")
    part = next(part for part in told(report)["parts"] if part["name"].startswith("cudaGetDeviceProperties"))
    assert part["all"] - part["count"] == 1 and part["slack_ns"] > 0, part  # so the median is that of one
    wanted = {f"none: on the critical path for {shown(part['ns'])}", f"may take {shown(part['slack_ns'])} longer, and the run would not"}
    with harness.App(report, size=(1600, 1000)) as app:
        app.activate("win.find")
        app.type("cudaGetDeviceProperties")
        seen = set()
        for _ in range(4):
            app.activate("win.find-next")
            seen.add(app.find("label", lambda text: text in wanted and text not in seen).name)
            if seen == wanted:
                break
        assert seen == wanted, seen


def test_names_of_the_path():
    steps = asked(SAMPLE, "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'load'")
    assert int(steps[0][0]) > 0
    path = told(SAMPLE)
    with harness.App(SAMPLE, size=(1600, 1000)) as app:
        app.activate("win.show-critical")
        app.find("label", path["sentence"])
        app.find("page tab", "Ranges").do("click")
        found = rows(app, "Ranges", 3)
        # What is in "load" was not recorded, and all of it is on the path.
        in_load = sum(min(int(b), path["end"]) - int(a) for a, b in asked(SAMPLE, "SELECT start, \"end\" FROM NVTX_EVENTS WHERE text = 'load'"))
        assert found[0][0] == "load" and abs(time_ns(found[0][1]) - in_load) <= in_load * 0.001, (found, in_load)
        app.find_all("page tab", "Functions")[-1].do("click")
        app.find("label", "No samples were taken while threads ran on the critical path.")


harness.main(globals(), gate=(test_a_step_has_a_path_of_its_own, test_keys_walk_along_the_path))
