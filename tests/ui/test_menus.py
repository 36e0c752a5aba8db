# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Every item of the menu bar does something visible. The list is read from the running program, so an item without a
check fails here."""

import os
import subprocess
import tempfile
import xml.etree.ElementTree

import harness
import tap

KNOWN_CUDA = os.path.join(tap.BUILD, "tests", "ui", "known-cuda")
MAKE_REPORT = os.path.join(tap.BUILD, "tests", "ui", "make-report")


def make_report(name, *words):
    path = os.path.join(tempfile.mkdtemp(prefix="menus-", dir=os.environ[harness.SESSION]), name)
    subprocess.run([MAKE_REPORT, path, *words], check=True)
    return path


def items_of(app):
    """[(menu, label, action, target or None)] of the menu bar, sections and submenus walked."""
    from gi.repository import Gio, GLib
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)

    def call(method, signature, *arguments):
        return bus.call_sync(harness.APP_ID, harness.APP_PATH + "/menus/menubar", "org.gtk.Menus", method,
                             GLib.Variant(signature, arguments), None, Gio.DBusCallFlags.NONE, 5000, None).unpack()

    menus, wanted, seen = {}, [0], set()
    while wanted:
        group = wanted.pop()
        seen.add(group)
        for number, menu, entries in call("Start", "(au)", [group])[0]:
            menus[number, menu] = entries
            for entry in entries:
                for link in (":section", ":submenu"):
                    if link in entry and entry[link][0] not in seen | set(wanted):
                        wanted.append(entry[link][0])

    def walk(key, top):
        for entry in menus.get(key, []):
            label = entry.get("label", "").replace("_", "")
            if ":section" in entry:
                yield from walk(tuple(entry[":section"]), top)
            if ":submenu" in entry:
                yield from walk(tuple(entry[":submenu"]), top or label)
            if "action" in entry:
                yield top, label, entry["action"], entry.get("target")
    return list(walk((0, 0), ""))


class Desk:
    """A viewer with a report of known content, and what one can see in it."""

    def __init__(self):
        self.path = make_report("demo.rep", "diagnostics")
        self.app = harness.App(self.path)

    def __enter__(self):
        self.app.__enter__()
        self.app.wait(lambda: self.enabled("win.zoom-in"))
        self.app.focus()
        self.app.wait(self.look_around, what="the report's parts")
        return self

    def look_around(self):
        """Finds what is looked at later, in one walk, as walks take time; True if all is there."""
        wanted = {"Rows": "row_list", "LnsDetailsPane": "details", "AdwWindowTitle": "title", "NVTX: io": "last_row"}
        found = set()
        for node in self.app.root.walk():
            name = node.name
            attribute = "in_view" if name.endswith(" in view") and node.role == "label" else wanted.get(name)
            if attribute is not None:
                setattr(self, attribute, node)
                found.add(attribute)
        return len(found) == len(wanted) + 1

    def __exit__(self, *what):
        return self.app.__exit__(*what)

    def enabled(self, action):
        scope, name = action.split(".")
        return self.app.actions(scope)[name][0]

    def activate(self, action, target=None):
        assert self.enabled(action), f"{action} is not enabled"
        self.app.activate(action, f"'{target}'" if target is not None else "")

    def see(self, role, name):
        return self.app.find(role, name)

    def span(self):
        """The time in view, as the timeline says it."""
        return self.in_view.name

    def changes(self, look, do):
        """Does DO and waits until LOOK gives something else; returns (before, after)."""
        before = look()
        do()
        self.app.wait(lambda: look() != before, what=f"a change from {before!r}")
        return before, look()

    def rows(self):
        return len(self.row_list.find_all("table row"))

    def selected(self):
        """The title of the Details pane's event, or None."""
        found = self.details.find("label", lambda name: name.startswith("iteration "))
        return found.name if found else None

    def find(self, text):
        self.activate("win.find")
        entry = self.app.find("text", "Find events by name")
        self.app.wait(lambda: entry.state("focused"), what="the focus")
        entry.set_text(text)
        self.app.wait(lambda: self.app.root.find("label", lambda name: "11 names" in name), what="the matches")

    def select_time(self):
        x, y, width, _ = self.row_list.extents()
        self.app.drag(x + width // 2, y + 60, x + width // 2 + 200, y + 60)
        self.app.wait(lambda: self.enabled("win.zoom-to-selection"), what="the selected time")

    def background(self):
        """The colour of the header bar."""
        x, y, width, _ = self.title.extents()
        return self.app.pixels(x + width + 40, y + 4, 1, 1)[0][0]

    def restore(self):
        """The whole run in view, and no window but the main one."""
        while len(self.app.windows()) > 1:
            count = len(self.app.windows())
            self.app.key("Escape")
            self.app.wait(lambda: len(self.app.windows()) < count, what="the end of a dialog")
        if self.enabled("win.zoom-fit"):
            self.activate("win.zoom-fit")

    # One check an action; the name is the action's with "_".

    def win_open(self):
        self.activate("win.open")
        self.see(None, "Open Reports")

    def win_open_uri(self, target):
        assert target.startswith("file:///") and target.endswith("/demo.rep"), target
        self.activate("win.open-uri", target)
        self.app.wait(lambda: len(self.app.find_all("page tab", lambda name: name.endswith("/demo.rep"))) == 2, what="a second tab")

    def win_compare_with(self):
        self.activate("win.compare-with")
        self.see(None, "Compare with a Report")

    def win_compare_spans(self):
        """Without two times that are selected, there is nothing to compare: test_compare_pane.py has them."""
        assert not self.enabled("win.compare-spans")
        rows = self.row_list.extents()
        x, y = rows[0] + rows[2] // 2, rows[1] + rows[3] - 10
        self.app.drag(x, y, x + 60, y)
        self.app.drag(x + 120, y, x + 180, y, keys=("ctrl",))
        self.app.wait(lambda: self.enabled("win.compare-spans"), what="two selected times")
        self.activate("win.compare-spans")
        self.see("label", "A: demo.rep · B: demo.rep")
        self.app.find("push button", "Close B").do()

    def win_launch(self):
        self.activate("win.launch")
        self.see("frame", "Launch a Program")

    def win_reload(self):
        def subtitle():
            labels = self.title.find_all("label")
            return labels[1].name if len(labels) > 1 else None
        subprocess.run([MAKE_REPORT, self.path, "open"], check=True)
        self.app.wait(lambda: (subtitle() or "").startswith("350 events · 99.900 ms"), what="the report that is open")
        assert self.app.root.find("push button", "2")
        self.activate("win.reload")
        self.app.wait(lambda: self.app.root.find("push button", "2") is None, what="the new report")

    def win_save_picture(self):
        path = self.path + ".svg"
        self.app.focus()
        self.activate("win.save-picture")
        self.see(None, "Save a Picture (PNG, SVG or PDF)")
        self.app.wait(lambda: len(self.app.windows()) > 1, what="the dialog's window")
        self.app.key("ctrl+a")
        self.app.type(path)
        self.app.key("Return")
        self.app.wait(lambda: os.path.exists(path) and open(path, "rb").read().endswith(b"</svg>\n"), what="the picture")
        root = xml.etree.ElementTree.parse(path).getroot()
        assert root.tag.endswith("}svg") and len(list(root.iter())) > 500, len(list(root.iter()))

    def win_export(self):
        path = self.path + ".html"
        self.app.focus()
        self.activate("win.export")
        self.see(None, "Web page (.html)")
        self.app.find("push button", "_Save… Save…").do()  # as GTK 4.8 names the buttons of such dialogs
        self.see("text", "Name:")
        self.app.key("ctrl+a")
        self.app.type(path)
        self.app.key("Return")
        self.app.wait(lambda: os.path.exists(path), what="the page")
        with open(path, encoding="utf-8") as file:
            assert file.read().endswith("</html>\n")

    def win_move_tab(self):
        assert not self.enabled("win.move-tab")
        self.activate("win.open-uri", f"file://{make_report('other.rep')}")
        self.app.wait(lambda: self.enabled("win.move-tab"), what="a second tab")
        self.activate("win.move-tab")
        self.app.wait(lambda: sorted(node.name for node in self.app.find_all("frame")) == ["demo.rep", "other.rep"], what="a second window")

    def win_close_tab(self):
        self.activate("win.open-uri", f"file://{make_report('other.rep')}")
        self.see("frame", "other.rep")
        self.activate("win.close-tab")
        self.see("frame", "demo.rep")
        self.activate("win.close-tab")
        self.app.process.wait(10)

    def win_close(self):
        self.activate("win.close")
        self.app.process.wait(10)

    def app_quit(self):
        self.win_launch()
        self.activate("app.quit")
        self.app.process.wait(10)

    def win_search(self):
        self.activate("win.search")
        self.see(None, "Search for commands, rows and events")
        self.app.type("NVTX: io")
        self.app.find("list item", lambda name: name.endswith("NVTX: io"))

    def win_find(self):
        self.find("iteration 7")

    def win_find_next(self):
        self.find("iteration 7")
        self.changes(self.selected, lambda: self.activate("win.find-next"))
        assert self.changes(self.selected, lambda: self.activate("win.find-next"))[1].startswith("iteration 7")

    def win_find_previous(self):
        self.find("iteration 7")
        self.changes(self.selected, lambda: self.activate("win.find-next"))
        first = self.selected()
        self.changes(self.selected, lambda: self.activate("win.find-next"))
        self.changes(self.selected, lambda: self.activate("win.find-previous"))
        assert self.selected() == first

    def win_zoom_in(self):
        self.changes(self.span, lambda: self.activate("win.zoom-in"))

    def win_zoom_out(self):
        assert not self.enabled("win.zoom-out")
        self.changes(self.span, lambda: self.activate("win.zoom-in"))
        self.changes(self.span, lambda: self.activate("win.zoom-out"))

    def win_zoom_fit(self):
        assert not self.enabled("win.zoom-fit")
        whole, _ = self.changes(self.span, lambda: self.activate("win.zoom-in"))
        assert self.changes(self.span, lambda: self.activate("win.zoom-fit"))[1] == whole

    def win_undo_zoom(self):
        whole, _ = self.changes(self.span, lambda: self.activate("win.zoom-in"))
        assert self.changes(self.span, lambda: self.activate("win.undo-zoom"))[1] == whole

    def win_redo_zoom(self):
        _, near = self.changes(self.span, lambda: self.activate("win.zoom-in"))
        assert not self.enabled("win.redo-zoom")  # whatever was taken back before
        self.changes(self.span, lambda: self.activate("win.undo-zoom"))
        assert self.changes(self.span, lambda: self.activate("win.redo-zoom"))[1] == near

    def win_zoom_to_selection(self):
        assert not self.enabled("win.zoom-to-selection")
        self.select_time()
        self.changes(self.span, lambda: self.activate("win.zoom-to-selection"))

    def win_zoom_to_event(self):
        assert not self.enabled("win.zoom-to-event")
        self.find("iteration 7")
        self.changes(self.selected, lambda: self.activate("win.find-next"))
        self.changes(self.span, lambda: self.activate("win.zoom-to-event"))

    def win_next_event(self):
        self.find("iteration 7")
        self.changes(self.selected, lambda: self.activate("win.find-next"))
        first, second = self.changes(self.selected, lambda: self.activate("win.next-event"))
        assert self.changes(self.selected, lambda: self.activate("win.previous-event")) == (second, first)

    win_previous_event = win_next_event

    def win_next_alike(self):
        """Each name is there once, so that there is nowhere to go: see test_shell's ways."""
        self.find("iteration 7")
        self.changes(self.selected, lambda: self.activate("win.find-next"))
        assert self.enabled("win.next-alike") and self.enabled("win.previous-alike")

    win_previous_alike = win_next_longest = win_next_alike

    def win_next_idle(self):
        """Without a GPU there is the thread's idle time, of which this report has none: see test_shell's ways."""
        assert self.enabled("win.next-idle") and self.enabled("win.previous-idle")

    win_previous_idle = win_next_step = win_previous_step = win_next_finding = win_previous_finding = win_next_idle

    def win_next_link(self):
        """This report tells of ranges alone, so that it has no critical path: see test_critical_path's keys."""
        assert self.enabled("win.next-link") and self.enabled("win.previous-link")

    win_previous_link = win_next_link

    def win_show_path(self):
        strip = self.app.find("image", "Critical Path")
        is_shown = lambda: strip.extents()[3] > 1  # noqa: E731
        self.changes(is_shown, lambda: self.activate("win.show-path"))
        self.changes(is_shown, lambda: self.activate("win.show-path"))

    def win_go_to_time(self):
        self.changes(self.span, lambda: self.activate("win.zoom-in"))
        self.activate("win.go-to-time")
        entry = self.app.find("text", "Time")
        entry.set_text("nonsense")
        go = self.app.find("push button", "_Go Go")  # as GTK 4.8 names the buttons of such dialogs
        self.app.wait(lambda: not go.state("sensitive"), what="nonsense to be refused")
        entry.set_text("90 ms")
        self.app.wait(lambda: go.state("sensitive"), what="a time to be taken")
        go.do()
        self.app.wait(lambda: len(self.app.windows()) == 1, what="the end of the dialog")

    def win_go_to_other_end(self):
        """Ranges have none: what it does to calls, see test_a_call_leads_to_its_work."""
        assert not self.enabled("win.go-to-other-end")

    def win_collapse_all(self):
        assert self.changes(self.rows, lambda: self.activate("win.collapse-all")) == (5, 1)

    def win_expand_all(self):
        self.changes(self.rows, lambda: self.activate("win.collapse-all"))
        assert self.changes(self.rows, lambda: self.activate("win.expand-all")) == (1, 5)

    def bookmark(self, name):
        """Bookmarks the middle of the view."""
        self.activate("win.add-bookmark")
        entry = self.app.find("text", "Name")
        self.app.wait(lambda: entry.state("focused"), what="the focus")
        entry.set_text(name)
        self.app.key("Return")
        self.app.wait(lambda: len(self.app.windows()) == 1, what="the end of the dialog")

    def listed_bookmark(self, name):
        """The list of bookmarks has that name, in a dialog that closes."""
        self.activate("win.list-bookmarks")
        self.see("label", name)
        self.app.find("push button", "_Close Close").do()  # as GTK 4.8 names the buttons of such dialogs
        self.app.wait(lambda: len(self.app.windows()) == 1, what="the end of the dialog")

    def win_add_bookmark(self):
        self.bookmark("here <&>")
        self.listed_bookmark("here <&>")

    def win_list_bookmarks(self):
        self.bookmark("again")
        self.listed_bookmark("again")

    def to_bookmark(self, action):
        """ACTION leads from elsewhere to the bookmark in the middle."""
        self.bookmark("middle")
        self.changes(self.span, lambda: self.activate("win.zoom-in"))
        self.changes(self.span, lambda: self.activate("win.zoom-in"))
        self.win_go_to_time()
        before = self.app.wait(harness.steady(self.corner), what="the time that was gone to")
        self.activate(action)
        self.app.wait(lambda: self.corner() != before, what="another time in view")

    def corner(self):
        """What the rows say is in view."""
        return self.row_list.find("table row").description

    def win_next_bookmark(self):
        self.to_bookmark("win.next-bookmark")

    def win_previous_bookmark(self):
        self.to_bookmark("win.previous-bookmark")

    def unfold(self):
        self.activate("win.expand-all")
        self.app.wait(lambda: self.rows() == 5, what="all rows")

    def unfolds(self, level, count):
        """LEVEL shows COUNT rows: the process, its threads, their ranges."""
        self.unfold()
        self.changes(self.rows, lambda: self.activate("win.collapse-all"))
        self.activate(f"win.unfold-{level}")
        self.app.wait(lambda: self.rows() == count, what=f"{count} rows")

    def win_unfold_1(self):
        self.unfolds(1, 3)

    def win_unfold_2(self):
        self.unfolds(2, 5)

    def win_unfold_3(self):
        self.unfolds(3, 5)

    def win_unfold_4(self):
        self.unfolds(4, 5)

    def win_show_hidden(self):
        assert not self.enabled("win.show-hidden")
        self.unfold()
        self.changes(self.rows, lambda: self.row_list.find("table row", "NVTX: io").do("row.hide"))
        self.changes(self.rows, lambda: self.activate("win.show-hidden"))

    def win_reset_view(self):
        self.unfold()
        self.changes(self.rows, lambda: self.activate("win.collapse-all"))
        whole, _ = self.changes(self.span, lambda: self.activate("win.zoom-in"))
        assert self.changes(self.rows, lambda: self.activate("win.reset-view")) == (1, 5)
        self.app.wait(lambda: self.span() == whole, what="the whole run")

    def toggles(self, action, role, name):
        """ACTION shows and hides the node of that name."""
        look = lambda: self.app.root.find(role, name) is not None  # noqa: E731
        self.changes(look, lambda: self.activate(action))
        self.changes(look, lambda: self.activate(action))

    def win_show_findings(self):
        self.toggles("win.show-findings", "push button", "Close the Panes")

    def win_show_events(self):
        self.chooses("win.show-events", "Events View")

    def win_show_stats(self):
        self.chooses("win.show-stats", "Stats")

    def win_show_steps(self):
        self.chooses("win.show-steps", "Steps")

    def win_show_critical(self):
        self.chooses("win.show-critical", "Critical Path")

    def win_show_compare(self):
        self.chooses("win.show-compare", "Compare")

    def win_show_sql(self):
        self.chooses("win.show-sql", "SQL")

    def win_show_files(self):
        self.chooses("win.show-files", "Files")

    def win_show_functions(self):
        self.chooses("win.show-functions", "Functions")

    def win_show_details(self):
        self.toggles("win.show-details", "label", "This Report")

    def chooses(self, action, name):
        """ACTION shows the page of that name below the timeline."""
        def is_chosen():
            tab = self.app.root.find("page tab", lambda title: title.split("  ")[0] == name)  # "Diagnostics  2"
            return tab is not None and tab.state("selected")
        self.changes(is_chosen, lambda: self.activate(action))

    def win_show_diagnostics(self):
        self.chooses("win.show-diagnostics", "Diagnostics")

    def app_theme(self, target):
        other = "light" if target == "dark" else "dark"
        self.activate("app.theme", other)
        self.app.wait(lambda: (sum(self.background()) > 384) == (other == "light"), what=other)
        self.activate("app.theme", target)
        self.app.wait(lambda: (sum(self.background()) > 384) == (target != "dark"), what=target)

    def app_timeline_colors(self, target):
        """Bars of the first row are of other colours than by name, or of those again."""
        def colors():
            x, y, width, height = self.row_list.find("table row", "NVTX").extents()
            return {color for line in self.app.pixels(x + 300, y, width - 320, min(height, 60)) for color in line}
        other = "name" if target == "duration" else "duration"
        self.activate("app.timeline-colors", other)
        self.app.wait(harness.steady(colors), what="the colors by " + other)
        self.changes(colors, lambda: self.activate("app.timeline-colors", target))

    def win_show_help_overlay(self):
        self.activate("win.show-help-overlay")
        self.see("label", "Zoom to the selected time")

    def win_show_legend(self):
        self.activate("win.show-legend")
        self.see("label", "Idle time of a GPU, with its cause")

    def app_about(self):
        self.activate("app.about")
        self.see("label", "The Lanescope authors")


# What ends the viewer, or leaves it with another report, a search or a selection, gets its own.
ALONE = ("win.open-uri", "win.compare-spans", "win.reload", "win.find", "win.find-next", "win.find-previous", "win.zoom-to-selection",
         "win.zoom-to-event", "win.move-tab", "win.close-tab", "win.close", "app.quit")


def test_every_item_has_a_visible_effect():
    failed = []

    def check(desk, menu, label, action, target):
        try:
            function = getattr(desk, action.replace(".", "_").replace("-", "_"))
            function(target) if target is not None else function()
        except (AssertionError, AttributeError) as error:
            failed.append(f"{menu} > {label} ({action}): {error!r}")

    with Desk() as shared:
        items = items_of(shared.app)
        for item in items:
            if item[2] not in ALONE:
                check(shared, *item)
                shared.restore()
    for item in items:
        if item[2] in ALONE:
            with Desk() as desk:
                check(desk, *item)
    assert not failed, "\n".join(failed)
    # What a menu had, it still has.
    had = {name for name in dir(Desk) if name.startswith(("app_", "win_"))}
    assert had == {action.replace(".", "_").replace("-", "_") for _, _, action, _ in items}, items
    assert {menu for menu, *_ in items} == {"File", "Edit", "View", "Go", "Help"}, items


def test_a_call_leads_to_its_work():
    path = os.path.join(tempfile.mkdtemp(prefix="menus-", dir=os.environ[harness.SESSION]), "cuda.rep")
    subprocess.run([KNOWN_CUDA, path, "3"], check=True)
    with harness.App(path) as app:
        app.wait(lambda: app.actions()["find"][0])
        app.activate("win.find")
        app.find("text", "Find events by name").set_text("cudaMemsetAsync")
        app.wait(lambda: app.root.find("label", lambda name: "1 name" in name), what="the matches")
        app.activate("win.find-next")
        app.wait(lambda: app.actions()["go-to-other-end"][0], what="the call's other end")
        assert app.root.find("label", "[CUDA memset]") is None
        app.activate("win.go-to-other-end")
        app.find("label", "[CUDA memset]")


def test_every_item_of_a_rows_menu_has_a_visible_effect():
    with Desk() as desk:
        app = desk.app
        desk.find("iteration 7")
        desk.changes(desk.selected, lambda: desk.activate("win.find-next"))
        chosen = desk.selected()
        desk.changes(desk.span, lambda: desk.activate("win.zoom-to-event"))

        def opened(row="NVTX"):
            """{label: node} of the menu in the middle of a row: over the event, in that of NVTX."""
            x, y, width, _ = desk.row_list.find("table row", row).extents()
            app.click(x + width // 2, y + 10, button=3)
            app.wait(lambda: desk.row_list.find("menu item", "Show in Events View"), what="the menu")
            return {node.name: node for node in desk.row_list.find_all("menu item")}

        def choose(label, row="NVTX"):
            opened(row)[label].do()
            app.wait(lambda: desk.row_list.find("menu item", label) is None, what="the end of the menu")

        def pinned():
            table = app.root.find("tree table", "Pinned rows")
            return table is not None and table.find("table row", lambda name: name.startswith("NVTX — ")) is not None

        def is_gray():
            offered = "Color All Names Again" in opened()
            app.key("Escape")
            app.wait(lambda: desk.row_list.find("menu item", "Copy Name") is None, what="the end of the menu")
            return offered

        def pasted():
            desk.activate("win.find")
            entry = app.find("text", "Find events by name")
            app.wait(lambda: entry.state("focused"), what="the focus")
            app.key("ctrl+a", "ctrl+v")
            app.wait(lambda: entry.text == chosen, what="the copied name")

        effects = {
            "Filter and Zoom In": lambda: (desk.changes(desk.span, lambda: desk.activate("win.zoom-out")),
                                           desk.changes(desk.span, lambda: choose("Filter and Zoom In")),
                                           app.wait(lambda: desk.enabled("win.zoom-to-selection"), what="the selected time")),
            "Undo Filter": lambda: (desk.changes(desk.span, lambda: choose("Undo Filter")),
                                    desk.changes(desk.span, lambda: desk.activate("win.zoom-in"))),
            "Zoom to Event": lambda: desk.changes(desk.span, lambda: choose("Zoom to Event")),
            "Gray All but This Name": lambda: desk.changes(is_gray, lambda: choose("Gray All but This Name")),
            "Color All Names Again": lambda: desk.changes(is_gray, lambda: choose("Color All Names Again")),
            "Copy Name": lambda: (choose("Copy Name"), pasted()),
            "Zoom to Row": lambda: desk.changes(desk.span, lambda: choose("Zoom to Row")),
            "Pin Row": lambda: desk.changes(pinned, lambda: choose("Pin Row")),
            "Unpin Row": lambda: desk.changes(pinned, lambda: choose("Unpin Row")),
            "Fold All Rows": lambda: desk.changes(desk.rows, lambda: choose("Fold All Rows")),
            "Unfold All Rows": lambda: desk.changes(desk.rows, lambda: choose("Unfold All Rows", "train (4711)")),
            "Show in Events View": lambda: (choose("Show in Events View"), desk.see("label", "300 events")),
        }
        def together(label):
            """The item hides rows, which come back."""
            desk.changes(desk.rows, lambda: choose(label))
            desk.changes(desk.rows, lambda: desk.activate("win.show-hidden"))
        effects["Hide Row"] = lambda: together("Hide Row")
        effects["Only This Row"] = lambda: together("Only This Row")

        offered = opened()
        nested = {"Move and Resize", "Move Up", "Move Down", "Higher", "Lower",
                  "All Rows of This Kind", "Pin", "Hide", "Unfold", "Fold"}  # see test-timeline-rows.c
        assert set(offered) - nested == set(effects) - {"Unpin Row", "Undo Filter", "Color All Names Again"}, offered
        app.key("Escape")
        desk.changes(desk.span, lambda: desk.activate("win.zoom-in"))
        for label, effect in effects.items():
            try:
                effect()
            except AssertionError as error:
                raise AssertionError(f"{label}: {error}") from error


def test_menus_open_and_act():
    with Desk() as desk:
        before = desk.span()
        desk.app.find("menu item", "View").click()
        desk.app.find("menu item", "Zoom In")
        desk.app.key("Return")
        desk.app.wait(lambda: desk.span() != before, what="the zoom")


def test_keys_do_what_the_menus_do():
    with Desk() as desk:
        whole, _ = desk.changes(desk.span, lambda: desk.app.key("ctrl+plus"))
        desk.changes(desk.span, lambda: desk.app.key("ctrl+minus"))
        desk.app.key("ctrl+plus")
        desk.app.wait(lambda: desk.span() != whole, what="the zoom")
        assert desk.changes(desk.span, lambda: desk.app.key("ctrl+0"))[1] == whole

        for key, title in (("F1", "Keyboard Shortcuts"), ("shift+F1", "Colors"), ("ctrl+l", "Launch a Program")):
            desk.app.key(key)
            desk.see("frame", title)
            desk.restore()
        desk.app.key("ctrl+f")
        entry = desk.app.find("text", "Find events by name")
        desk.app.wait(lambda: entry.state("focused"), what="the focus")
        before = desk.span()
        desk.app.type("+z0-")  # letters that zoom, were they not typed into an entry
        desk.app.wait(lambda: entry.text == "+z0-", what="what was typed")
        assert desk.span() == before
        desk.app.key("ctrl+q")
        desk.app.process.wait(10)


def focus_of(app):
    """(role, name) of the node with the focus, or None; of a tab without how many things its pane lists."""
    found = [node for node in app.root.walk() if node.state("focused")]
    return (found[-1].role, found[-1].name.split("  ")[0]) if found else None


def test_keys_go_to_panes():
    """A key shows a pane and gives it the focus; if the pane has the focus, the key hides it. Where a pane has nothing yet, its tab takes
    the focus; later the events do."""
    with Desk() as desk:
        app = desk.app

        def presses(key, role, name):
            app.key(key)
            app.wait(lambda: focus_of(app) == (role, name), what=f"the focus on {name} after {key}")

        for key, tab in (("ctrl+1", "Events View"), ("ctrl+3", "Diagnostics"), ("ctrl+4", "Functions")):
            presses(key, "page tab", tab)
            assert app.root.find("page tab", lambda title: title.split("  ")[0] == tab).state("selected"), tab
        presses("ctrl+4", "panel", "Timeline")
        app.find("push button", "Open the Panes")
        presses("ctrl+1", "table row", "GtkListItemWidget")
        presses("ctrl+2", "filler", "LnsDetailsPane")
        presses("ctrl+2", "panel", "Timeline")
        assert app.root.find(None, "This Report") is None
        presses("ctrl+2", "filler", "LnsDetailsPane")


def test_keys_unfold_rows_and_sort():
    with Desk() as desk:
        app = desk.app
        row = desk.row_list.find("table row", "main (4711)")
        row.click()
        app.wait(lambda: row.state("focused"), what="the focus on the row")
        assert desk.changes(desk.rows, lambda: app.key("space")) == (5, 4)
        assert desk.changes(desk.rows, lambda: app.key("Return")) == (4, 5)

        desk.row_list.find("table row", "NVTX").do("row.show-in-events")
        app.find("label", "300 events")
        table = app.find("tree table", "Events")

        def first():
            """The name of the first event."""
            row = table.find("list").find("table row")
            return row.find_all("label")[1].name if row else None
        app.wait(lambda: first() == "iteration 0", what="the events")
        app.key("ctrl+1")
        app.wait(lambda: table.find("list").find("table row").state("focused"), what="the focus on an event")
        app.key("s", "s")  # by number, by name
        app.wait(lambda: first() == "backward", what="the events by name")
        app.key("shift+s")
        app.wait(lambda: first() == "iteration 99", what="the other order")


def test_menus_without_a_report():
    with Desk():
        pass  # is a recent report now
    with harness.App() as app:
        enabled = {name for scope in ("app", "win") for name, (on, *_) in
                   ((f"{scope}.{name}", state) for name, state in app.actions(scope).items()) if on}

        def offers():
            return {action for _, _, action, _ in items_of(app) if action in enabled}
        app.wait(lambda: "win.open-uri" in offers(), what="the recent reports")
        offered = offers()
        assert offered == {"win.open", "win.open-uri", "win.launch", "win.search", "win.close", "win.close-tab", "app.quit",
                           "app.theme", "app.timeline-colors", "win.show-help-overlay", "win.show-legend", "app.about"}, offered
        app.key("ctrl+k")
        app.find("frame", "Search")
        app.type("launch")
        app.find("list item", lambda name: "Launch" in name)
        app.key("Return")
        app.find("frame", "Launch a Program")
        app.key("Escape")
        app.wait(lambda: app.root.find("frame", "Launch a Program") is None, what="the dialog to close")
        app.focus()
        app.key("ctrl+w")
        app.process.wait(10)


harness.main(globals(), gate=(test_a_call_leads_to_its_work, test_menus_open_and_act, test_keys_go_to_panes))
