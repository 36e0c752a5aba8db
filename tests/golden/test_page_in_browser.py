# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Pages of lanescope export --type=html in Chromium: they open, zoom, move, tell and fold, in light and dark, without an error and without
the network."""

import os
import sqlite3
import struct
import zlib

import browser
import golden
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")
CANVAS = "document.getElementById('rows')"


def make(name="sample.html", *words, report=SAMPLE):
    golden.run("export", "-q", "-t", "html", "-f", "true", *words, "-o", golden.path(name), report)
    return golden.path(name)


def view(page):
    return page.value(f"[Number({CANVAS}.dataset.from), Number({CANVAS}.dataset.to)]")


def place(page):
    """The canvas: left, top, width, height."""
    return page.value(f"(() => {{ const b = {CANVAS}.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})()")


def row_at(page, label):
    """The middle of the row called LABEL, and the left end of its events."""
    left, top, width, _ = place(page)
    row_top, height = page.value(f"(() => {{ const r = shown.find((it) => it.l.startsWith('{label}')); return [r.top, r.height]; }})()")
    return left + page.value("labels"), top + 24 + row_top + height / 2 - page.value("pane.scrollTop"), width - page.value("labels")


def pixels(path):
    """The colours of the PNG at PATH: rows of (r, g, b)."""
    with open(path, "rb") as file:
        bytes_ = file.read()
    at, packed, width, height, channels = 8, b"", 0, 0, 0
    while at < len(bytes_):
        size, kind = struct.unpack(">I4s", bytes_[at:at + 8])
        if kind == b"IHDR":
            width, height, _, color = struct.unpack(">IIBB", bytes_[at + 8:at + 18])
            channels = 4 if color == 6 else 3
        elif kind == b"IDAT":
            packed += bytes_[at + 8:at + 8 + size]
        at += size + 12
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * channels)
    for y in range(height):
        start = y * (width * channels + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * channels])
        for x in range(len(line)):
            a, b = line[x - channels] if x >= channels else 0, before[x]
            c = before[x - channels] if x >= channels else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[x] = (line[x] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, len(line), channels)])
        before = line
    return rows


def check_quiet(page):
    assert page.said == [], page.said
    assert all(url.startswith("file://") for url in page.asked) and len(page.asked) == 1, page.asked


def test_it_opens():
    with browser.Page(make()) as page:
        page.settle()
        assert page.value("document.title") == "cuda-double.rep – Lanescope"
        assert "GPU 0 was idle" in page.value("document.getElementById('verdict').textContent")
        assert page.value("getComputedStyle(document.body).overflowX") != "scroll"
        assert view(page) == page.value("data.home") and view(page)[0] == 0, (view(page), page.value("data.home"))
        assert page.value(f"{CANVAS}.getAttribute('aria-label')").startswith("Timeline")
        check_quiet(page)


def test_it_zooms_where_the_pointer_is():
    with browser.Page(make()) as page:
        page.settle()
        left, y, width = row_at(page, "NVTX")
        x = left + 0.25 * width
        time = page.value(f"timeAt({x - place(page)[0]})")
        page.wheel(x, y, -500)
        start, end = view(page)
        assert end - start < page.value("data.span") / 2, (start, end)
        assert abs(page.value(f"timeAt({x - place(page)[0]})") - time) < (end - start) / 500
        page.wheel(x, y, 5000)
        assert view(page)[0] == 0 and abs(view(page)[1] - page.value("data.span")) < 1, view(page)
        check_quiet(page)


def test_it_moves():
    with browser.Page(make()) as page:
        page.settle()
        left, y, width = row_at(page, "NVTX")
        page.wheel(left + width / 2, y, -700)
        start, end = view(page)
        page.drag((left + 0.6 * width, y), (left + 0.4 * width, y))
        moved = (view(page)[0] - start) / (end - start)
        assert abs(moved - 0.2) < 0.01, moved
        page.drag((left + 0.25 * width, y), (left + 0.75 * width, y), modifiers=8)
        assert abs((view(page)[1] - view(page)[0]) / (end - start) - 0.5) < 0.01, view(page)
        check_quiet(page)


def test_keys():
    with browser.Page(make()) as page:
        page.settle()
        page.value(f"{CANVAS}.focus()")
        span = page.value("data.span")
        page.key("0", "0")
        page.key("+", "+")
        assert abs((view(page)[1] - view(page)[0]) * 1.5 - span) < 1e-6 * span
        start = view(page)[0]
        page.key("ArrowRight")
        assert view(page)[0] > start
        page.key("a", "a")
        assert abs(view(page)[0] - start) < 1e-6 * span
        page.key("0", "0")
        assert view(page) == [0, span]
        page.wait("document.getElementById('said').textContent.includes('–')")
        check_quiet(page)


def test_the_pointer_is_told():
    with browser.Page(make()) as page:
        page.settle()
        left, y, width = row_at(page, "NVTX")
        page.mouse("Moved", left + 0.2 * width, y - 18)
        page.settle()
        told = page.value("document.getElementById('tip').innerText").splitlines()
        assert told[0] == "step" and told[1].startswith("Duration: ") and told[-1] == "Row: NVTX", told
        assert page.value("document.getElementById('tip').hidden") is False
        box = page.value("(() => { const b = tip.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })()")
        assert box[0] >= 0 and box[1] >= 0 and box[2] <= 1200 and box[3] <= 800, box
        page.mouse("Moved", 600, 5)
        page.settle()
        assert page.value("document.getElementById('tip').hidden") is True
        left, y, width = row_at(page, "CUDA HW")
        page.mouse("Moved", left + 0.2 * width, y)
        page.settle()
        assert page.value("document.getElementById('tip').innerText").startswith("The GPU is idle: "), page.value("tip.innerText")
        check_quiet(page)


def test_findings_lead_to_their_time():
    with browser.Page(make()) as page:
        page.settle()
        page.value("document.querySelector('#findings button').click()")
        page.settle()
        start, end = view(page)
        first, last = page.value("(() => { const b = document.querySelector('#findings button'); return [b.dataset.from - data.start, b.dataset.to - data.start]; })()")
        assert start <= first and last <= end and end - start < page.value("data.span") / 2, (start, first, last, end)
        check_quiet(page)


def test_rows_fold():
    with browser.Page(make()) as page:
        page.settle()
        n = page.value("shown.length")
        left, y, _ = row_at(page, "main")
        for count in (n - 2, n):
            page.mouse("Pressed", left - 100, y, button="left", buttons=1, clickCount=1)
            page.mouse("Released", left - 100, y, button="left", clickCount=1)
            page.settle()
            assert page.value("shown.length") == count, (page.value("shown.length"), count)
        check_quiet(page)


def test_names_are_found():
    with browser.Page(make()) as page:
        page.settle()
        page.value("(() => { search.value = 'FORWARD'; search.dispatchEvent(new Event('input')); })()")
        n = int(golden.run("sql", SAMPLE, "SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE '%forward%'")[0])
        assert n > 5 and page.value("document.getElementById('found').textContent") == f"{n} events found", n
        page.value("goOn()")
        page.settle()
        assert view(page) != [0, page.value("data.span")]
        check_quiet(page)


def test_light_and_dark():
    for scheme, ground in (("light", (255, 255, 255)), ("dark", (30, 30, 30))):
        with browser.Page(make(), scheme=scheme) as page:
            page.settle()
            page.picture(golden.path("page.png"))
            left, y, width = row_at(page, "NVTX")
            image = pixels(golden.path("page.png"))
            assert image[2][2] == ground, (scheme, image[2][2])
            hues = page.value("colors.hues")
            line = image[int(y) - 18]
            bars = {f"#{r:02x}{g:02x}{b:02x}" for r, g, b in line[int(left):]} & set(hues)
            assert bars, (scheme, line[int(left):int(left) + 20])
            check_quiet(page)


def test_many_events():
    """What is not there one by one is drawn as density, and told."""
    with browser.Page(make("many.html", report=golden.make_report("many.rep", 600000)), size=(800, 600)) as page:
        page.settle()
        left = page.value("(() => { const r = shown.find((it) => it.s.some((s) => s.some((l) => data.lanes[l].left))); return r.l; })()")
        x, y, width = row_at(page, left)
        page.wheel(x + width / 2, y, -2000)
        assert page.value("document.getElementById('contents').textContent").count("are drawn as density.") == 1
        told = page.value("""(() => { const lane = unpack(data.lanes.find((l) => l.left)), place = lane.counts.findIndex((n) => n > 0);
            return describe({ row: shown[0], x: width, lane, place }, 0); })()""")
        assert "shorter events, at most" in told[0] and told[1].startswith("busy "), told
        check_quiet(page)


def test_hostile_names_run_nothing():
    database, report = golden.path("hostile.sqlite"), golden.path("hostile.rep")
    golden.run("export", "-q", "-t", "sqlite", "-o", database, golden.make_report())
    hostile = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE StringIds SET value = ? || id", (hostile,))
        connection.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text IS NOT NULL", (hostile,))
    connection.close()
    golden.run("import", "-q", "-o", report, database)
    with browser.Page(make("hostile.html", report=report)) as page:
        page.settle()
        assert page.value("document.querySelectorAll('img').length") == 0
        page.value("say([data.names.map((name) => typeof name === 'string' ? name : name[1]).join(' '), shown.map((row) => row.l).join(' ')])")
        page.settle()
        assert "onerror" in page.value("tip.textContent")
        assert page.value("document.title").endswith("– Lanescope"), page.value("document.title")
        check_quiet(page)


tap.main(globals())
