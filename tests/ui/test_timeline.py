# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the timeline in the whole viewer: what assistive technology reads, what the mouse and keys do, and whether
the pixels are where the report's ranges are (known-report.c)."""

import glob
import io
import json
import os
import re
import shutil
import subprocess
import tempfile

import harness
import tap

KNOWN_REPORT = os.path.join(tap.BUILD, "tests", "ui", "known-report")
HEADER_PX = 240  # where time begins
PAD_PX = 12      # beyond the report's ends, when all of it is in view
EPOCHS = [(0x76, 0xb9, 0x00), (0x1f, 0x77, 0xb4), (0xff, 0x7f, 0x0e), (0xd6, 0x27, 0x28), (0x94, 0x67, 0xbd)]
UNITS = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}


def opened(*words, env=None):
    path = os.path.join(tempfile.mkdtemp(prefix="timeline-", dir=os.environ[harness.SESSION]), "known.rep")
    subprocess.run([KNOWN_REPORT, path, *words], check=True)
    return harness.App(path, env={"LC_ALL": "C.UTF-8", **(env or {})})


class Timeline:
    """The rows of an opened report."""

    def __init__(self, app):
        self.app = app
        self.rows_box = app.find("tree table", "Rows")
        app.wait(lambda: " in NVTX ranges" in self.row("main (4711)").description, what="the rows to be described")
        # The window's own edge, which the accessible tree does not count.
        self.edge = (app.geometry()[2] - app.find("frame").extents()[2]) // 2

    def rows(self):
        return [row for row in self.rows_box.children() if row.role == "table row"]

    def names(self):
        return [row.name for row in self.rows()]

    def row(self, name, number=0):
        return [row for row in self.rows() if row.name == name][number]

    def seen(self):
        """(start, end) of the time in view, in ns, as the rows tell it."""
        words = self.row("python3 (4711)").description.split("; ")[1].removeprefix("view ").split(" – ")
        return tuple(float(number.replace(",", "")) * UNITS[unit] for number, unit in map(str.split, words))

    def changed(self, before, what):
        """What is in view once it is no longer BEFORE."""
        self.app.wait(lambda: self.seen() != before, what=what)
        return self.seen()

    def body(self):
        """(x, width) of what shows time, on the screen."""
        x, _, width, _ = self.rows()[0].extents()
        return x + self.edge + HEADER_PX, width - HEADER_PX

    def top(self, row):
        return row.extents()[1] + self.edge

    def x_of(self, seconds):
        """Where a time lies on the screen while the whole report of 10 s is in view."""
        x, width = self.body()
        return round(x + PAD_PX + seconds / 10 * (width - 2 * PAD_PX))

    def color_at(self, row, seconds, y_px):
        return self.app.pixels(self.x_of(seconds), self.top(row) + y_px, 1, 1)[0][0]


def test_rows_are_named_and_described():
    with opened() as app:
        timeline = Timeline(app)
        assert timeline.names() == ["python3 (4711)", "NVTX start/end: io", "loss", "main (4711)", "NVTX",
                                    "loader (4712)", "NVTX: io", "Thread (4713)", "NVTX"], timeline.names()
        row = timeline.row("main (4711)")
        assert {"row.show-in-events", "row.pin", "row.zoom-to", "row.expand"} <= set(row.actions()), row.actions()
        assert re.fullmatch(r"20,235 events; view -.* – 10\..* s; (89\.9|90\.\d) % in NVTX ranges", row.description), row.description
        heights = [row.extents()[3] for row in timeline.rows()]
        assert heights == [24, 58, 42, 22, 94, 22, 22, 22, 22], heights


def test_numbers_have_the_signs_of_the_locale():
    """In German, a comma stands before the fraction, and the C library knows the locale once it is made."""
    if shutil.which("localedef") is None or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        raise tap.Skip("the machine cannot make locales")
    folder = tempfile.mkdtemp(prefix="locale-", dir=os.environ[harness.SESSION])
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")], check=True)
    with opened(env={"LC_ALL": "", "LC_NUMERIC": "de_DE.UTF-8", "LOCPATH": folder}) as app:
        description = Timeline(app).row("main (4711)").description
        assert re.fullmatch(r"20\.235 events; view -.* – 10,\d* s; (89,9|90,\d) % in NVTX ranges", description), description


def test_high_contrast_has_colours_of_its_own():
    with opened(env={"ADW_DEBUG_HIGH_CONTRAST": "1"}) as app:
        timeline = Timeline(app)
        row = timeline.row("NVTX")
        app.activate("app.theme", "'dark'")
        # The gap after the first epoch is the background: black, or nearly black in every other row.
        app.wait(lambda: sum(timeline.color_at(row, 0.95, 16)) in (0, 3 * 0x10), what="a black background")


def test_ranges_are_drawn_where_they_are():
    with opened() as app:
        timeline = Timeline(app)
        row = timeline.row("NVTX")
        for theme, dark in (("light", False), ("dark", True)):
            app.activate("app.theme", f"'{theme}'")
            # The gap after the first epoch is background: white or nearly black.
            app.wait(lambda: (sum(timeline.color_at(row, 0.95, 16)) < 384) == dark, what=theme)
            for epoch in range(10):
                color = EPOCHS[epoch % 5]
                app.wait(lambda: timeline.color_at(row, epoch + 0.85, 4) == color, what=f"epoch {epoch}, {theme}")
                assert timeline.color_at(row, epoch + 0.02, 4) == color
                gap = timeline.color_at(row, epoch + 0.95, 4)
                assert max(gap) - min(gap) < 8, f"{gap} after epoch {epoch}"
                assert timeline.color_at(row, epoch + 0.40, 22) == (0, 0xaa, 0), "forward, one depth below"


def test_colors_tell_how_long_events_are():
    with opened() as app:
        timeline = Timeline(app)
        row = timeline.row("NVTX")
        app.wait(lambda: timeline.color_at(row, 0.85, 4) == EPOCHS[0], what="the first epoch's own color")
        app.activate("app.timeline-colors", "'duration'")
        app.wait(lambda: len({timeline.color_at(row, epoch + 0.85, 4) for epoch in range(10)}) == 1, what="one color for epochs of 900 ms")
        assert timeline.color_at(row, 0.40, 22) not in ((0, 0xaa, 0), timeline.color_at(row, 0.85, 4)), "halves of 430 ms"
        app.activate("win.show-legend")
        app.find("label", "Duration of Events")
        assert not app.root.find("label", "CUDA calls")
        app.key("Escape")
        app.activate("app.timeline-colors", "'name'")
        app.wait(lambda: timeline.color_at(row, 0.85, 4) == EPOCHS[0], what="its own color again")


def test_wheel_keys_and_undo():
    with opened() as app:
        timeline = Timeline(app)
        whole = timeline.seen()
        x, y = timeline.x_of(3.0), timeline.top(timeline.row("NVTX")) + 40
        app.focus()
        app.scroll(x, y, -6, keys=("ctrl",))
        app.wait(lambda: timeline.seen()[1] - timeline.seen()[0] < (whole[1] - whole[0]) / 3, what="the zoom")
        near = app.wait(harness.steady(timeline.seen), what="the zoom's end")
        # What is under the pointer stays there.
        left, width = timeline.body()
        under = near[0] + (near[1] - near[0]) * (x - left) / width
        assert abs(under - 3e9) < (near[1] - near[0]) / 100, under
        app.scroll(x, y, 3, keys=("shift",))
        later = timeline.changed(near, "the pan")
        assert later[0] > near[0]
        app.click(x, y)
        app.key("BackSpace")
        app.wait(lambda: timeline.seen() == whole, what="the undo")
        app.key("plus")
        closer = timeline.changed(whole, "the key")
        app.key("Home")
        start = timeline.changed(closer, "Home")
        assert start[0] < 0
        app.key("End")
        app.wait(lambda: timeline.seen()[1] > 10e9, what="End")
        app.key("Left")
        app.wait(lambda: timeline.seen()[1] < 10e9, what="Left")


def test_a_dragged_band_is_zoomed_to():
    with opened() as app:
        timeline = Timeline(app)
        whole = timeline.seen()
        y = timeline.top(timeline.row("main (4711)")) + 12
        app.focus()
        app.drag(timeline.x_of(2.0), y, timeline.x_of(4.0), y)
        app.key("z")
        seen = timeline.changed(whole, "the zoom to the band")
        assert abs(seen[0] - 2e9) < 3e7 and abs(seen[1] - 4e9) < 3e7, seen
        # The epochs' colours are where they must be now: 2.05 s and 3.05 s.
        row = timeline.row("NVTX")
        (left, width), top = timeline.body(), timeline.top(row)
        for seconds, color in ((2.05, EPOCHS[2]), (2.85, EPOCHS[2]), (3.05, EPOCHS[3])):
            px = left + (seconds - 2) / 2 * width
            app.wait(lambda: app.pixels(round(px), top + 4, 1, 1)[0][0] == color, what=f"{seconds} s")


def selected(app):
    """[(start, end)] of the selected times in ns, as they are kept: the last one is the band."""
    files = glob.glob(os.path.join(app.env["XDG_STATE_HOME"], "lanescope", "views", "report-*.json"))
    with open(files[0]) if files else io.StringIO("{}") as file:
        return [(span["start_ns"], span["end_ns"]) for span in json.load(file).get("selected", [])]


def test_edges_of_the_selected_time_are_dragged_and_snap():
    second = 10**9
    with opened() as app:
        timeline = Timeline(app)
        y = timeline.top(timeline.row("NVTX")) + 10
        app.focus()
        app.drag(timeline.x_of(2.0) + 2, y, timeline.x_of(2.9) - 3, y)
        app.wait(lambda: selected(app) == [(2 * second, 2.9 * second)], what="an epoch, exactly")
        app.drag(timeline.x_of(2.9), y, timeline.x_of(4.9) + 3, y)
        app.wait(lambda: selected(app) == [(2 * second, 4.9 * second)], what="the end dragged to another epoch's")
        app.drag(timeline.x_of(2.0), y, timeline.x_of(1.0), y)
        app.wait(lambda: selected(app) == [(1 * second, 4.9 * second)], what="the start dragged")
        app.drag(timeline.x_of(6.0), y, timeline.x_of(6.9), y, keys=("ctrl",))
        app.wait(lambda: selected(app) == [(1 * second, 4.9 * second), (6 * second, 6.9 * second)], what="a further time")
        app.key("shift+Right")
        app.wait(lambda: selected(app)[1][1] > 6.9 * second + 10**8, what="the end moved by a key")
        app.key("ctrl+Left")
        app.wait(lambda: selected(app)[1][0] < 6 * second - 10**8, what="the start moved by a key")
        assert selected(app)[0] == (1 * second, 4.9 * second)
        app.drag(timeline.x_of(8.0), y, timeline.x_of(8.9), y)
        app.wait(lambda: [abs(start - 8 * second) < 3 * 10**7 for start, _ in selected(app)] == [True], what="one time alone")
        app.key("Escape")
        app.wait(lambda: not selected(app), what="nothing selected")


def test_linked_events_are_walked_to_and_back():
    path = os.path.join(tempfile.mkdtemp(prefix="timeline-", dir=os.environ[harness.SESSION]), "cuda.rep")
    subprocess.run([os.path.join(tap.BUILD, "tests", "ui", "known-cuda"), path], check=True)
    with harness.App(path) as app:
        app.find("table row", lambda name: name.startswith("CUDA HW"))
        app.focus()
        app.activate("win.find")
        app.find("text", "Find events by name").set_text("cudaMemsetAsync")
        app.wait(lambda: app.root.find("label", lambda name: "1 name" in name), what="the matches")
        app.activate("win.find-next")
        app.find("label", "cudaMemsetAsync")
        app.wait(lambda: app.actions()["go-to-other-end"][0], what="the call's other end")
        app.key("Escape")
        app.key("bracketright")
        app.find("label", "[CUDA memset]")
        app.key("bracketleft")
        app.wait(lambda: app.root.find("label", "[CUDA memset]") is None and app.root.find("label", "cudaMemsetAsync"),
                 what="the call again")


def test_rows_fold_pin_and_show_their_events():
    with opened() as app:
        timeline = Timeline(app)
        timeline.row("main (4711)").do("row.expand")
        app.wait(lambda: len(timeline.rows()) == 8, what="the fold")
        assert timeline.names().count("NVTX") == 1
        timeline.row("loader (4712)").do("row.pin")
        pinned = app.find("tree table", "Pinned rows")
        app.wait(lambda: [row.name for row in pinned.children() if row.role == "table row"] == ["loader (4712) — python3 (4711)"],
                 what="the pinned row")
        x, y, _, height = app.wait(lambda: timeline.row("NVTX: io").extents())
        app.focus()
        app.click(x + 60, y + height // 2, button=3)
        app.find("menu item", "Show in Events View").do()
        app.find("label", "47 events")


def test_a_rows_menu_takes_keys_and_leaves_the_next_press():
    with opened() as app:
        timeline = Timeline(app)
        row = timeline.row("NVTX: io")
        x, y = timeline.x_of(3.0), timeline.top(row) + 10
        item = lambda name: timeline.rows_box.find("menu item", name)  # noqa: E731
        focused = lambda name: app.wait(lambda: item(name) and item(name).state("focused"),  # noqa: E731
                                        what=f"the focus on {name}")
        has_band = lambda: app.actions()["zoom-to-selection"][0]  # noqa: E731

        def closed():
            app.wait(lambda: item("Zoom to Row") is None, what="the end of the menu")
            app.wait(lambda: row.state("focused"), what="the row's focus")

        app.focus()
        whole = timeline.seen()
        app.click(x, y, button=3)
        focused("Show in Events View")
        app.key("Down")
        focused("Zoom to Row")
        app.key("Return")
        timeline.changed(whole, "the item that Return chose")
        closed()
        app.key("0")
        app.wait(lambda: timeline.seen() == whole, what="the whole report, by a key to the timeline")

        # However the menu ends, the next press of either button is the timeline's.
        app.click(x, y, button=3)
        focused("Show in Events View")
        app.key("Escape")
        closed()
        app.drag(x, y, x + 200, y)
        app.wait(has_band, what="the band of the first drag")
        app.key("Escape")
        app.wait(lambda: not has_band(), what="no band")
        app.click(x, y, button=3)
        focused("Show in Events View")
        app.click(x - 100, y)
        closed()
        app.click(x, y, button=3)
        focused("Show in Events View")
        app.key("Escape")
        closed()
        app.key("plus")
        near = timeline.changed(whole, "the zoom")
        app.drag(x, y, x + 200, y, button=2)
        timeline.changed(near, "the pan of the first drag")

        # Keys open it too, wherever the pointer is.
        app.move(harness.SCREEN[0] - 1, harness.SCREEN[1] - 1)
        app.key("Down", "shift+F10")
        focused("Show in Events View")
        app.key("Escape")
        app.wait(lambda: item("Zoom to Row") is None, what="the end of the menu that a key opened")


def test_a_chosen_event_is_unfolded_zoomed_to_and_marked():
    """An event of 1 ns, ten hours in, in a row that is folded away: chosen in the table."""
    with opened("hours") as app:
        rows_box = app.find("tree table", "Rows")
        rows = lambda: {row.name: row for row in rows_box.children() if row.role == "table row"}
        app.wait(lambda: "NVTX" in rows(), what="the rows")
        rows()["batch (7)"].do("row.expand")
        app.wait(lambda: "NVTX" not in rows(), what="the fold")
        rows()["batch (7)"].do("row.show-in-events")
        app.find("label", "4 events")
        app.focus()
        app.find("label", "one").click()
        app.wait(lambda: "NVTX" in rows(), what="its row")

        def marked():
            x, y, width, height = rows()["NVTX"].extents()
            line = app.pixels(x + HEADER_PX + 10, y + height // 2, width - HEADER_PX - 20, 1)[0]
            if (255, 0, 0) not in line:
                return False
            start = line.index((255, 0, 0))
            end = next(i for i in range(start, len(line)) if line[i] != (255, 0, 0))
            edges = [sum(abs(a - b) for a, b in zip(line[at], line[0])) for at in (start - 2, end + 2)]
            return end - start >= 8 and max(line[start - 2]) < 90 and min(edges) > 300
        app.activate("app.theme", "'light'")
        app.wait(marked, what="the event, ten pixels a nanosecond, in a dark frame")


def test_an_empty_report_says_so_over_its_lanes():
    with opened("0") as app:
        words, ruler = app.find("label", "This report has no events."), app.find(None, "Ruler")

        def places():
            (x, _, width, _), (ruler_x, _, ruler_width, _) = words.extents(), ruler.extents()
            return ruler_width > 1 and (x, width) == (ruler_x, ruler_width)
        app.wait(places, what=f"{words!r} at {words.extents()} below {ruler!r} at {ruler.extents()}")


harness.main(globals(), gate=(test_rows_are_named_and_described, test_wheel_keys_and_undo))
