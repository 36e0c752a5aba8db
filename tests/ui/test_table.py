# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the Events View, the details pane and the find bar in the whole viewer. Cells are read through the accessible
tree, which also lists rows that are not visible; extents and pixels tell what is on the screen."""

import json
import os
import subprocess
import tempfile

import harness
import tap

KNOWN_REPORT = os.path.join(tap.BUILD, "tests", "ui", "known-report")
MAKE_REPORT = os.path.join(tap.BUILD, "tests", "ui", "make-report")
STORE_BENCH = os.path.join(tap.BUILD, "tests", "bench", "store-bench")


def report():
    path = os.path.join(tempfile.mkdtemp(prefix="table-", dir=os.environ[harness.SESSION]), "known.rep")
    subprocess.run([KNOWN_REPORT, path], check=True)
    return path


def opened(path, **options):
    """The viewer with PATH open and the Events View below the timeline."""
    return harness.App(path, env={"LC_ALL": "C.UTF-8"}, **options)


def first(node, role, name=None):
    """The first node below NODE with that role and name, tables' insides aside: they are most of the
    tree.
    """
    for each in node.children():
        if each.role == role and (name is None or each.name == name):
            return each
        found = None if each.role in ("tree table", "list") else first(each, role, name)
        if found is not None:
            return found
    return None


def pane(app, name):
    """The part of the window that is an instance of the class NAME; looked for once."""
    known = app.__dict__.setdefault("panes", {})
    if name not in known:
        known[name] = app.wait(lambda: first(app.root, "filler", name), what=name)
    return known[name]


def box(node):
    """(x, y, width, height) within the window."""
    extents = node.accessible.get_extents(node.app.atspi.CoordType.WINDOW)
    return extents.x, extents.y, extents.width, extents.height


class Table:
    """The Events View: what it says, and the rows that can be seen."""

    def __init__(self, app):
        self.app = app
        self.pane = pane(app, "LnsEventsTable")
        self.labels = [label for label in self.pane.find_all("label")[:2]]
        self.columns = app.wait(lambda: first(self.pane, "tree table"), what="the table")
        self.titles, self.list = list(self.columns.children())[:2]
        self.filter = first(self.pane, "entry")

    def header(self):
        """Title and count."""
        return [label.name for label in self.labels]

    def sort_by(self, title):
        """A real click on a column's title, once it has its place: widths may change with the rows."""
        label = first(self.titles, "label", title)
        self.app.wait(harness.steady(lambda: box(label)), what=f"the place of {title}")
        label.click()

    def is_hit(self, row, y):
        """Whether ROW, of which the cells have been read, is what a click at Y of the window would hit.

        GTK names what is hit only once it has been asked for it.
        """
        list = self.list.accessible
        node = list.get_accessible_at_point(box(self.list)[0] + 4, y, self.app.atspi.CoordType.WINDOW)
        while node is not None and node.get_parent() not in (None, list):
            node = node.get_parent()
        return node == row.accessible

    def rows(self):
        """[(node, {column: text})] of the rows that are really on the screen, from top to bottom.

        A row must have been allocated, inside the table: the tree also lists rows that are above or
        below what is seen, some with the place that they had when they were last seen, where another row
        is hit now.
        """
        titles = [label.name for label in self.titles.find_all("label")]
        _, top, _, height = box(self.list)
        bottom = top + height
        shown = []
        for row in self.list.children():
            _, y, _, row_height = box(row)
            if row_height < 8 or y + row_height <= top or y + row_height > bottom:
                continue
            texts = [label.name for cell in row.children() for label in cell.children()]
            if self.is_hit(row, y + row_height // 2):
                shown.append((y, row, dict(zip(titles, texts))))
        return [(row, texts) for _, row, texts in sorted(shown, key=lambda each: each[0])]

    def settled(self, what, condition):
        """Waits until CONDITION holds for the texts of the rows on the screen; returns those.

        They are read cell after cell while the viewer may be filling others in: rows without all their
        cells, or of which the order is not known yet, are not looked at, and what is read counts if it
        is read twice.
        """
        def seen():
            texts = [texts for _, texts in self.rows()]
            n_columns = len(self.titles.find_all("label"))
            whole = texts and all(len(row) == n_columns and "…" not in row.values() for row in texts)
            return texts if whole and condition(texts) else None
        return self.app.wait(harness.steady(seen), what=what)


def show(app, row, number=0):
    """Shows the events of the NUMBERth row called ROW, in a pane that is there already: how it comes is for others to test."""
    app.find("table row", row)
    if app.root.find("push button", "Open the Panes"):
        app.activate("win.show-events")
        app.find("push button", "Close the Panes")
    def found():
        timeline = first(app.root, "tree table", "Rows")
        return timeline and [node for node in timeline.children() if node.name == row][number:]
    app.wait(found, what=f"the row {row}")[0].do("row.show-in-events")
    return Table(app)


def column(texts, name):
    return [row[name] for row in texts]


def nanoseconds(duration):
    """What a cell of the column Duration says."""
    number, unit = duration.replace(",", "").split()
    return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]


def ink(app, node):
    """How many pixels of NODE differ from its corner: text that is really there."""
    x, y, width, height = node.extents()
    pixels = app.pixels(x, y, width, height)
    ground = pixels[0][0]
    return sum(pixel != ground for line in pixels for pixel in line)


# --- The table

def test_the_table_has_all_events_before_anybody_asks_for_some():
    """ … and says what to do where nothing is wanted."""
    with opened(report()) as app:
        app.find("label", "This Report")
        app.find("page tab", "Events View").click()
        title = app.find("label", lambda name: name.startswith("21,") and " events · " in name).name
        app.find("label", "All Events")
        app.find("label", title.split(" · ")[0])
        pane(app, "LnsEventsTable").do("events.cancel")
        app.find("label", "No Events Shown")
        app.find("label", "Right-click a row of the timeline and choose “Show in Events View”.")
        pane(app, "LnsEventsTable").do("events.show-all")
        app.find("label", title.split(" · ")[0])


def test_a_row_fills_the_table():
    with opened(report()) as app:
        table = show(app, "NVTX: io")
        texts = table.settled("the first rows", lambda t: t[0]["Name"] == "load batch")
        assert table.header() == ["NVTX: io — loader (4712)", "47 events"], table.header()
        assert len(texts) >= 5, f"only {len(texts)} rows can be seen"
        assert column(texts, "#") == [str(i + 1) for i in range(len(texts))]
        assert texts[0] == {"#": "1", "Name": "load batch", "Start": "0.020000000 s", "Duration": "120 ms",
                            "Thread": "loader (4712)", "Process": "python3 (4711)", "Domain": "io",
                            "Depth": "0"}, texts[0]
        for row, text in table.rows():
            cell = row.find("label", "load batch")
            assert ink(app, cell) > 50, f"row {text['#']} has no text on the screen"


def test_a_parent_row_holds_its_childrens_events():
    with opened(report()) as app:
        table = show(app, "python3 (4711)")
        app.wait(lambda: table.header()[1] == "21,308 events", what="all events of the process")


def test_counter_samples_have_values():
    with opened(report()) as app:
        table = show(app, "loss")
        texts = table.settled("the samples", lambda t: t[0]["Name"] == "loss")
        assert table.header()[1] == "1,000 events"
        assert texts[0]["Payload"] == "8" and texts[1]["Start"] == "0.010000000 s", texts[:2]


def test_every_column_sorts_both_ways():
    with opened(report(), size=(1800, 900)) as app:
        table = show(app, "NVTX")
        table.settled("the events", lambda t: t[0]["Name"] == "epoch 0")
        table.sort_by("Duration")
        texts = table.settled("marks first", lambda t: t[0]["Duration"] == "0 ns")
        assert column(texts, "Name")[:5] == ["checkpoint saved"] * 5
        assert texts[5]["Duration"] == "5 µs"
        table.sort_by("Duration")
        texts = table.settled("the longest first", lambda t: t[0]["Duration"] == "900 ms")
        assert column(texts, "Name")[:6] == [f"epoch {i}" for i in range(6)], texts
        table.sort_by("Name")
        table.settled("names upwards", lambda t: t[0]["Name"] == "aten::op0")
        table.sort_by("Name")
        texts = table.settled("names downwards", lambda t: t[0]["Name"].startswith("layer 9"))
        starts = [float(start.split()[0]) for start in column(texts, "Start")]
        assert starts == sorted(starts), "equal names are not in time order"
        table.sort_by("Start")
        table.settled("starts upwards", lambda t: t[0]["#"] == "1")
        table.sort_by("Start")
        texts = table.settled("starts downwards", lambda t: t[0]["Start"] == "9.867198000 s"
                        or float(t[0]["Start"].split()[0]) > 9.8)
        starts = [float(start.split()[0]) for start in column(texts, "Start")]
        assert starts == sorted(starts, reverse=True)
        table.sort_by("Depth")
        table.settled("depth 0", lambda t: t[0]["Depth"] == "0" and t[0]["Name"] == "epoch 0")


def test_a_filter_narrows_and_says_so():
    with opened(report()) as app:
        table = show(app, "NVTX")
        table.settled("the events", lambda t: t[0]["Name"] == "epoch 0")
        table.filter.click()
        app.type("EPOCH")
        app.wait(lambda: table.header()[1] == "10 of 20,235 events", what="the filtered count")
        texts = table.settled("epochs", lambda t: t[-1]["Name"].startswith("epoch"))
        assert column(texts, "#")[:1] == ["1"] and all(name.startswith("epoch") for name in column(texts, "Name"))
        app.type(" nobody")
        app.wait(lambda: first(table.pane, "label", "No event name contains “EPOCH nobody”."), what="no match")
        app.key("ctrl+a", "BackSpace")
        app.wait(lambda: table.header()[1] == "20,235 events", what="all events again")


def test_end_shows_the_last_row():
    with opened(report()) as app:
        table = show(app, "NVTX")
        table.settled("the events", lambda t: t[0]["Name"] == "epoch 0")
        table.rows()[1][0].click()
        app.wait(lambda: table.rows()[1][0].state("selected"), what="the row to be chosen")
        app.key("End")
        texts = table.settled("the last row", lambda t: t[-1]["#"] == "20,235")
        assert len(texts) >= 5


def test_copies_rows_as_tab_separated_text():
    with opened(report()) as app:
        table = show(app, "NVTX: io")
        table.settled("the rows", lambda t: len(t) >= 5)
        shown = table.rows()
        shown[0][0].click()
        shown[2][0].click(keys=["shift"])
        app.key("ctrl+c")
        table.filter.click()
        app.key("ctrl+v")
        app.wait(lambda: "load batch" in table.filter.text, what="the copy in the entry")
        lines = table.filter.text.replace("\r", "").split("\n")
        assert lines[0].split("\t") == ["#", "Name", "Start (ns)", "Duration (ns)", "Thread", "Process",
                                        "Domain", "Depth"], lines
        assert lines[1].split("\t")[:4] == ["1", "load batch", "20000000", "120000000"], lines
        assert lines[3].split("\t")[:4] == ["3", "load batch", "420000000", "120000000"], lines


# --- The view and the table follow each other

def view_of(app):
    """The span in view, as the first row says it."""
    def described():
        timeline = first(app.root, "tree table", "Rows")
        parts = timeline and [row.description.split("; ") for row in timeline.children()]
        return parts and len(parts[0]) > 1 and parts[0][1]
    return app.wait(described, what="the timeline")


def test_choosing_an_event_moves_the_timeline():
    with opened(report()) as app:
        table = show(app, "NVTX")
        table.settled("the events", lambda t: t[0]["Name"] == "epoch 0")
        before = view_of(app)
        target = next(row for row, texts in table.rows() if texts.get("Name") == "aten::op0")
        target.click()
        app.wait(lambda: view_of(app) != before, what="the timeline to move")
        assert target.state("selected")
        app.wait(lambda: details(app).get("Duration") == "5 µs", what="the event's details")
        wide = view_of(app)
        app.key("Return")
        app.wait(lambda: view_of(app) != wide, what="the timeline to zoom to the event")


def test_the_table_follows_a_find():
    with opened(report()) as app:
        table = show(app, "NVTX")
        table.settled("the events", lambda t: t[0]["Name"] == "epoch 0")
        app.activate("win.find")
        find(app, "epoch 7")
        app.key("Return")
        table.settled("epoch 7 in the table", lambda t: "epoch 7" in column(t, "Name"))
        selected = [texts.get("Name") for row, texts in table.rows() if row.state("selected")]
        assert selected == ["epoch 7"], selected


def test_choosing_a_diagnostic_moves_the_timeline():
    path = os.path.join(tempfile.mkdtemp(prefix="table-", dir=os.environ[harness.SESSION]), "told.rep")
    subprocess.run([MAKE_REPORT, path, "diagnostics"], check=True)
    with opened(path) as app:
        app.activate("win.show-diagnostics")
        before = view_of(app)
        app.find("label", "LNS-TEST-003").click()
        app.wait(lambda: view_of(app) != before, what="the timeline to move")

        def is_there():
            begin, end = (float(part.split()[0]) for part in view_of(app).removeprefix("view ").split(" – "))
            return begin < 34 < end and end - begin < 10
        app.wait(is_there, what="the diagnostic's time in view")


# --- Details

def details(app):
    """{title: text} of the details pane, with the event's name under ""."""
    labels = [label.name for label in pane(app, "LnsDetailsPane").find_all("label")]
    if "Kind" not in labels:
        return {}
    at = labels.index("Kind")
    pairs = labels[at:]
    return {"": labels[at - 1], **dict(zip(pairs[::2], pairs[1::2]))}


def test_details_tell_every_field():
    with opened(report()) as app:
        table = show(app, "NVTX", 1)
        table.settled("two events", lambda t: len(t) == 2)
        table.rows()[0][0].click()
        app.wait(lambda: details(app), what="the details")
        fields = details(app)
        assert "\n" in fields[""], fields
        assert fields["Thread"] == "4713" and fields["Process"] == "python3 (4711)", fields
        assert fields["Kind"] == "Push/pop range" and fields["Depth"] == "0", fields
        table.rows()[1][0].click()
        app.wait(lambda: details(app).get("Notes") == "It had not ended when the recording ended.", what="the notes")
        assert details(app)["Duration"].endswith("so far") and "End" not in details(app)
        app.key("ctrl+shift+c")
        table.filter.click()
        app.key("ctrl+v")
        app.wait(lambda: table.filter.text.startswith("still running\nKind: Push/pop range\n"), what="the copied event")


# --- Find

def find_bar(app):
    bar = pane(app, "LnsFindBar")
    app.wait(lambda: box(bar)[3] > 30, what="the find bar to unfold")
    return bar


def find(app, text):
    first(find_bar(app), "text", "Find events by name").click()
    app.key("ctrl+a")
    app.type(text)


def status(app):
    labels = [label.name for label in pane(app, "LnsFindBar").find_all("label") if label.name not in ("Aa", ".*", "")]
    return labels[0] if labels else ""


def says(app, text):
    app.wait(lambda: status(app) == text, what=f"the find bar to say “{text}”, not “{status(app)}”")


def test_find_steps_through_matches():
    with opened(report()) as app:
        view_of(app)
        app.focus()
        app.key("ctrl+f")
        find(app, "epoch")
        says(app, "10 events · 10 names")
        app.key("Return")
        says(app, "1 of 10 · 10 names")
        app.wait(lambda: details(app).get("") == "epoch 0", what="the first match")
        app.key("Return")
        says(app, "2 of 10 · 10 names")
        app.key("F3")
        says(app, "3 of 10 · 10 names")
        app.wait(lambda: details(app).get("") == "epoch 2", what="the third match")
        app.key("shift+F3")
        says(app, "2 of 10 · 10 names")
        app.key("shift+Return")
        says(app, "1 of 10 · 10 names")
        app.key("shift+Return")
        says(app, "10 of 10 · 10 names")
        app.wait(lambda: details(app).get("") == "epoch 9", what="the last match, the other way round")


def test_find_takes_expressions_and_case():
    with opened(report()) as app:
        app.activate("win.find")
        bar = find_bar(app)
        first(bar, "push button", "Regular expression").do()
        find(app, "^epoch [3-5]$")
        says(app, "3 events · 3 names")
        find(app, "(")
        app.wait(lambda: "missing" in status(app) and "\n" not in status(app), what="why the expression is wrong")
        first(bar, "push button", "Regular expression").do()
        find(app, "EPOCH")
        says(app, "10 events · 10 names")
        first(bar, "push button", "Match case").do()
        says(app, "No event has this name")
        app.key("Escape")
        app.wait(lambda: first(app.root, "filler", "LnsFindBar") is None, what="the bar to fold")


# --- Ten million

def test_ten_million_rows():
    path = os.path.join(tempfile.mkdtemp(prefix="table-", dir=os.environ[harness.SESSION]), "big.rep")
    made = json.loads(subprocess.run([STORE_BENCH, "10000000", path], check=True, capture_output=True,
                                     text=True).stdout.splitlines()[-1])
    assert made["events"] == 10000000
    with opened(path) as app:
        table = show(app, "bench (4711)")
        empty = first(table.pane, "label", "No Events Shown")
        app.wait(lambda: box(first(table.pane, "progress bar"))[3] > 0, what="the progress of loading")
        table.pane.do("events.cancel")
        app.wait(lambda: empty.state("showing") or box(empty)[3] > 0, what="the end of loading")
        table = show(app, "bench (4711)")
        app.wait(lambda: table.header()[1] == "10,000,000 events", 60, what="ten million events")
        table.settled("the first row", lambda t: t[0]["#"] == "1")
        table.rows()[2][0].click()
        app.wait(lambda: table.rows()[2][0].state("selected"), what="the row to be chosen")
        app.key("End")
        table.settled("the last row", lambda t: t[-1]["#"] == "10,000,000")
        table.sort_by("Duration")
        table.settled("the shortest first", lambda t: len(t) >= 5 and nanoseconds(t[0]["Duration"]) < 100
                      and column(t, "Duration") == sorted(column(t, "Duration"), key=nanoseconds))
        table.sort_by("Duration")
        table.settled("the longest first", lambda t: len(t) >= 5 and nanoseconds(t[0]["Duration"]) > 100000
                      and column(t, "Duration") == sorted(column(t, "Duration"), key=nanoseconds, reverse=True))
        table.filter.click()
        app.type("layer 77")
        app.wait(lambda: " of 10,000,000 events" in table.header()[1], what="the filtered count")
        table.settled("matching rows", lambda t: all("layer 77" in name for name in column(t, "Name")))
        assert box(table.rows()[0][0])[1] == box(table.list)[1], "the first row is cut"
        table.rows()[2][0].click()
        app.wait(lambda: table.rows()[2][0].state("selected"), what="the matching row to be chosen")
        app.key("End")
        table.settled("the last matching rows", lambda t: t[-1]["Name"].endswith("layer 77")
                      and nanoseconds(t[-1]["Duration"]) <= nanoseconds(t[0]["Duration"]) < 100000)


harness.main(globals(), gate=(test_a_row_fills_the_table, test_choosing_an_event_moves_the_timeline))
