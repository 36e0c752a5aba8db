# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the pane of findings in the whole viewer: its places are those that `lanescope sql` tells."""

import json
import lzma
import os
import shutil
import subprocess
import tempfile

import harness
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def asked(*arguments):
    return subprocess.run([tap.LANESCOPE, *arguments], capture_output=True, text=True, check=True).stdout


def places(finding):
    """The places of finding number FINDING, from 1: the longest of what one gap has of it."""
    gaps, last_end = [], None
    for line in asked("sql", SAMPLE, 'SELECT start, "end", finding FROM LNS_GAPS').splitlines():
        start, end, of = (int(value or 0) for value in line.split("\t"))
        if start != last_end:
            gaps.append([])
        if of == finding and gaps[-1] and gaps[-1][-1][1] == start:
            gaps[-1][-1] = (gaps[-1][-1][0], end)
        elif of == finding:
            gaps[-1].append((start, end))
        last_end = end
    return [max(parts, key=lambda part: part[1] - part[0]) for parts in gaps if parts]


def duration(place):
    """As the details have it."""
    return f"{(place[1] - place[0]) / 1e6:.6f}".rstrip("0") + " ms"


def test_keys_walk_through_the_places():
    first = json.loads(asked("why", "--format=json", SAMPLE))["findings"][0]
    wanted = places(1)
    assert len(wanted) == first["count"] > 2
    longest = max(range(len(wanted)), key=lambda i: wanted[i][1] - wanted[i][0])
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-findings")
        overview = app.find("image", "Overview")
        x, y, width, _ = app.wait(harness.steady(lambda: overview.extents()), what="the place of the overview")
        warm = lambda: sum(red > blue + 90 for row in app.pixels(x, y, width, 8) for red, _, blue in row)
        assert warm() == 0
        app.find("label", first["sentence"]).click()
        app.find("label", f"Place {longest + 1} of {len(wanted)}")
        app.wait(warm, what="marks on the overview")
        step = -1 if longest + 1 == len(wanted) else 1
        app.key("Right" if step > 0 else "Left")
        app.find("label", f"Place {longest + step + 1} of {len(wanted)}")
        app.find("label", duration(wanted[longest + step]))
        app.key("Left" if step > 0 else "Right")
        app.find("label", f"Place {longest + 1} of {len(wanted)}")
        for _ in wanted:
            app.key("Left")
        app.find("label", f"Place 1 of {len(wanted)}")
        app.find("label", duration(wanted[0]))


def test_evidence_leads_to_its_event():
    second = json.loads(asked("why", "--format=json", SAMPLE))["findings"][1]
    event = second["events"][0]
    name = asked("sql", SAMPLE, f"SELECT s.value FROM {event['table']} e JOIN StringIds s ON s.id = e.nameId WHERE e.rowid = {event['row']}").strip().split("_v")[0]
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-findings")
        app.find("label", second["sentence"]).click()
        links = app.find("label", lambda text: text.startswith("Evidence: "))
        x, y, _, height = app.wait(harness.steady(lambda: links.extents()), what="the place of the evidence")
        assert not app.root.find("label", name)
        app.click(x + 90, y + height // 2)
        app.find("label", name)


def test_a_finding_says_what_it_is_worth():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loader.rep")
        with lzma.open(os.path.join(tap.SOURCE, "tests", "answers", "device", "loader.rep.xz")) as packed, open(path, "wb") as file:
            shutil.copyfileobj(packed, file)
        told = [line for line in asked("why", path).splitlines() if line.startswith("Without finding ")]
        findings = json.loads(asked("why", "--format=json", path))["findings"]
        assert len(told) == 3 < len(findings) and all("instead of" in line for line in told)
        with harness.App(path, size=(1400, 900)) as app:
            app.activate("win.show-findings")
            assert not app.root.find("label", lambda text: text.startswith("Without it"))
            app.find("label", findings[0]["sentence"]).click()
            for i, line in enumerate(told):
                app.find("label", line.replace(f"finding {i + 1}", "it,"))
                app.key("Down")
            # Of those behind the first three it is not looked for.
            app.find("label", lambda text: text.startswith("Evidence: ") and f"{duration_at(findings[3])}" in text)
            app.gone_node("label", lambda text: text.startswith("Without it"))


def duration_at(finding):
    """When the first evidence of FINDING begins, as the pane writes it."""
    return f"{finding['events'][0]['from'] / 1e9:.3f} s"


def test_a_cause_that_is_not_known():
    """It has no word of help."""
    path = os.path.join(tempfile.mkdtemp(dir=os.environ[harness.SESSION]), "sleeps.rep")
    with lzma.open(os.path.join(tap.SOURCE, "tests", "answers", "device", "sleeps.rep.xz")) as packed, open(path, "wb") as file:
        shutil.copyfileobj(packed, file)
    with harness.App(path, size=(1400, 900)) as app:
        app.activate("win.show-findings")
        app.find("label", "unknown")


harness.main(globals(), gate=(test_keys_walk_through_the_places, test_a_cause_that_is_not_known))
