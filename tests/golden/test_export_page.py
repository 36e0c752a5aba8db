# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export --type=html: one page that needs nothing else, whose data are those of the report, and in which names are only names."""

import base64
import collections
import html.parser
import json
import os
import re
import sqlite3

import golden
import tap

REPORT = golden.make_report()
# Names that would end the script, the attribute or the text that they stand in.
HOSTILE = ["</script><script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", "\u2028<!--", "]]>&amp;\"'`${1}",
           "\\u003c/script>"]


def page(name, *words, report=None):
    golden.run("export", "-q", "-t", "html", "-f", "true", *words, "-o", golden.path(name), report or REPORT)
    with open(golden.path(name), encoding="utf-8") as file:
        return file.read()


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def numbers(text):
    """The varints of base64 TEXT."""
    values, value, shift = [], 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def events(data, lane):
    """(start, duration, name) of each event of LANE, as the page's script reads them."""
    values, step, time, found = numbers(lane["e"]), 4 if "c" in lane else 3, data["start"], []
    for i in range(0, len(values), step):
        time += values[i] // 2 if values[i] % 2 == 0 else -(values[i] + 1) // 2
        name = data["names"][values[i + 2]]
        found.append((time, values[i + 1] // 2, name if isinstance(name, str) else name[1]))
    return found


def ranges(report):
    """(start, duration) of the NVTX ranges of REPORT."""
    rows = golden.run("sql", report, "SELECT start, end - start FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND end IS NOT NULL")[0]
    return [tuple(map(int, row.split(b"\t"))) for row in rows.splitlines()]


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "action", "data", "poster")]

    def handle_data(self, text):
        self.text.append(text)


def read(text):
    reader = Reader()
    reader.feed(text)
    return reader


def test_it_needs_nothing_else():
    text = page("demo.html")
    assert read(text).links == [], read(text).links
    assert not re.search(r"https?:|//[a-z]|url\(|@import|fetch\(|XMLHttpRequest|import\(|eval\(", text), "the page may load something"
    assert "default-src 'none'" in text
    assert "<title>demo.rep – Lanescope</title>" in text
    assert golden.run("export", "-q", "-t", "html", "-o", "-", REPORT)[0].decode() == text


def test_it_has_the_answer():
    text = page("demo.html")
    answer = json.loads(golden.run("why", "--format=json", REPORT)[0])
    said = " ".join("".join(read(text).text).split())
    assert answer["verdict"] in said, answer["verdict"]
    for finding in answer["findings"][:8]:
        assert finding["sentence"] in said, finding["sentence"]


def test_it_has_all_events_of_a_small_report():
    data = data_of(page("demo.html"))
    assert not any("left" in lane for lane in data["lanes"])
    found = [event for lane in data["lanes"] if lane["k"] == "range" for event in events(data, lane)]
    missing = collections.Counter(ranges(REPORT)) - collections.Counter((start, length) for start, length, _ in found)
    assert ranges(REPORT) and not missing, missing
    names = {name for _, _, name in found}
    text = golden.run("sql", REPORT, "SELECT text FROM NVTX_EVENTS WHERE eventType = 59 AND text GLOB '[a-z]*' AND text NOT GLOB '*[^a-z ]*'")[0]
    assert text and set(text.decode().splitlines()) <= names, (text, names)


def test_of_many_events_the_longest():
    report = golden.make_report("many.rep", 600000)
    data = data_of(page("many.html", report=report))
    lane = max(data["lanes"], key=lambda lane: lane["n"])
    there = events(data, lane)
    assert lane["left"] == lane["n"] - len(there) and len(there) <= 20000, (lane["n"], lane["left"], len(there))
    all_of_it = ranges(report)
    assert min(length for _, length, _ in there) >= lane["most"]
    assert lane["most"] in [length for _, length in all_of_it]
    # Each of the others begins in one of the places of density.
    places, packed = lane["places"], base64.b64decode(lane["d"])
    assert sum(numbers(base64.b64encode(packed[places:]).decode())) == lane["left"]
    assert os.path.getsize(golden.path("many.html")) < 2 << 20
    assert "drawn as density" in page("many.html", report=report)


def test_names_are_only_names():
    """In rows, events and the answer. The report is an import, whose strings are replaced before."""
    report = golden.path("hostile.rep")
    database = golden.path("hostile.sqlite")
    golden.run("export", "-q", "-t", "sqlite", "-f", "true", "-o", database, REPORT)
    with sqlite3.connect(database) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM StringIds ORDER BY id")]
        for i, string in enumerate(ids):
            connection.execute("UPDATE StringIds SET value = ? WHERE id = ?", (HOSTILE[i % len(HOSTILE)], string))
        connection.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text IS NOT NULL", (HOSTILE[0],))
    connection.close()
    golden.run("import", "-q", "-o", report, database)
    text = page("hostile.html", report=report)
    reader = read(text)
    assert reader.tags.count("script") == 2 and "img" not in reader.tags, reader.tags
    assert set(HOSTILE) & {name if isinstance(name, str) else name[1] for name in data_of(text)["names"]}


def test_a_part_says_so():
    data = data_of(page("demo.html"))
    middle = data["start"] + data["span"] // 2
    text = page("half.html", "--times", f"/{middle}ns")
    half = data_of(text)
    assert half["span"] == data["span"] // 2 and half["start"] == data["start"], (half["span"], data["span"])
    assert "What came before and after this time is not in this page." in text
    assert "What came before" not in page("demo.html")
    for lane in half["lanes"]:
        for start, length, _ in events(half, lane) if "e" in lane else ():
            assert start <= middle and start + length >= data["start"]


def test_its_words_are_in_the_persons_language():
    text = golden.run("export", "-q", "-t", "html", "-o", "-", REPORT, LC_ALL="de_DE.UTF-8")[0].decode()
    assert '<html lang="de">' in text and "Einen Namen suchen" in text


tap.main(globals())
