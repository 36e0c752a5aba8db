# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Several reports in one window: a tab each."""

import os
import subprocess
import tempfile

import harness
import tap

MAKE_REPORT = os.path.join(tap.BUILD, "tests", "ui", "make-report")


def reports(*names):
    """Paths of reports of known content with those names."""
    where = tempfile.mkdtemp(prefix="tabs-", dir=os.environ[harness.SESSION])
    paths = [os.path.join(where, name) for name in names]
    for path in paths:
        subprocess.run([MAKE_REPORT, path], check=True)
    return paths


def is_seen(node):
    """Whether NODE has a place in its window."""
    return node.extents()[2] > 0


class Tabs:
    """A viewer with a tab for each of the reports, the last one of which is selected."""

    def __init__(self, *paths):
        self.names = [os.path.basename(path) for path in paths]
        self.app = harness.App(*paths)

    def __enter__(self):
        self.app.__enter__()
        self.app.focus()
        self.shows(self.names[-1])
        return self

    def __exit__(self, *what):
        return self.app.__exit__(*what)

    def shows(self, name, window=1):
        """The window number WINDOW has NAME for its title, and shows the report: its actions can be used."""
        self.app.wait(lambda: self.app.root.find("frame", name) and self.app.actions(window=window)["zoom-in"][0], what=f"{name} to show")

    def names_of(self, frame):
        """The tabs that the window called FRAME has, in order, with a * at the one that is selected; none if it has no bar."""
        window = self.app.root.find("frame", frame)
        tabs = window.find_all("page tab", lambda name: name.endswith(".rep")) if window else []
        return [node.name + "*" * node.state("selected") for node in sorted(tabs, key=lambda node: node.extents()) if is_seen(node)]

    def are(self, *names):
        """Waits until the tabs are NAMES."""
        frame = next(name[:-1] for name in names if name.endswith("*"))
        self.app.wait(lambda: self.names_of(frame) == list(names), what=f"the tabs {names}")

    def span(self, name):
        """What the rows of the report called NAME say is in view; None while it has none."""
        tables = self.app.root.find_all("tree table", "Rows")
        row = tables[self.names.index(name)].find("table row") if len(tables) == len(self.names) else None
        return row.description if row else None


def test_reports_are_tabs_of_one_window():
    with Tabs(*reports("a.rep", "b.rep")) as tabs:
        tabs.are("a.rep", "b.rep*")
        assert [node.name for node in tabs.app.find_all("frame")] == ["b.rep"]
        tabs.app.activate("win.open-uri", f"'file://{reports('c.rep')[0]}'")
        tabs.are("a.rep", "b.rep", "c.rep*")
        # Tooltips are what tabs are described by.
        tab = tabs.app.find("page tab", "a.rep")
        assert tab.description.endswith("/a.rep") and os.path.exists(tab.description), tab.description


def test_tabs_of_one_name_are_told_apart():
    first, second = reports("a.rep")[0], reports("a.rep")[0]
    with Tabs(first, second) as tabs:
        for path in (first, second):
            tabs.app.find("page tab", os.path.basename(os.path.dirname(path)) + "/a.rep")
        tabs.app.activate("win.open-uri", f"'file://{reports('b.rep')[0]}'")
        tabs.shows("b.rep")
        tabs.app.activate("win.close-other-tabs")
        tabs.app.activate("win.open-uri", f"'file://{first}'")
        tabs.are("b.rep", "a.rep*")


def test_one_report_has_no_bar():
    with Tabs(*reports("a.rep")) as tabs:
        assert tabs.names_of("a.rep") == []
        enabled = {name for name, (on, *_) in tabs.app.actions().items() if on}
        assert "close-tab" in enabled and not enabled & {"move-tab", "close-other-tabs", "compare-tab"}, enabled


def test_keys_go_from_tab_to_tab():
    with Tabs(*reports("a.rep", "b.rep", "c.rep")) as tabs:
        for key, name in (("ctrl+Tab", "a.rep"), ("ctrl+Tab", "b.rep"), ("ctrl+shift+Tab", "a.rep"), ("ctrl+Page_Down", "b.rep"),
                          ("ctrl+Page_Up", "a.rep"), ("alt+3", "c.rep"), ("alt+1", "a.rep")):
            tabs.app.key(key)
            tabs.shows(name)
        tabs.app.key("ctrl+shift+Page_Down")
        tabs.are("b.rep", "a.rep*", "c.rep")


def test_actions_act_on_the_tab_that_is_selected():
    with Tabs(*reports("a.rep", "b.rep")) as tabs:
        app = tabs.app
        whole = app.wait(harness.steady(lambda: tabs.span("b.rep")), what="the rows of B")
        assert not app.actions()["zoom-out"][0]
        app.activate("win.zoom-in")
        near = app.wait(harness.steady(lambda: tabs.span("b.rep") != whole and tabs.span("b.rep")), what="the zoom")
        assert app.actions()["zoom-out"][0]
        app.key("ctrl+Page_Up")
        tabs.are("a.rep*", "b.rep")
        app.wait(lambda: tabs.span("a.rep") == whole, what="all of A")
        assert not app.actions()["zoom-out"][0]
        # The focus is where keys act on the timeline.
        app.key("plus")
        app.wait(lambda: app.actions()["zoom-out"][0], what="the zoom of A")
        assert tabs.span("b.rep") == near
        app.key("ctrl+Page_Down")
        tabs.are("a.rep", "b.rep*")
        app.activate("win.zoom-fit")
        app.wait(lambda: tabs.span("b.rep") == whole, what="all of B")
        assert tabs.span("a.rep") != whole


def test_tabs_close():
    with Tabs(*reports("a.rep", "b.rep", "c.rep", "d.rep")) as tabs:
        app = tabs.app
        app.key("ctrl+w")
        tabs.are("a.rep", "b.rep", "c.rep*")
        app.activate("win.close-other-tabs")
        app.wait(lambda: len(app.find_all("page tab", lambda name: name.endswith(".rep"))) <= 1, what="one tab")
        tabs.shows("c.rep")
        app.key("ctrl+w")
        app.process.wait(10)


def test_a_tab_moves_to_a_window_of_its_own():
    with Tabs(*reports("a.rep", "b.rep")) as tabs:
        app = tabs.app
        app.wait(lambda: tabs.span("b.rep"), what="the rows")
        app.activate("win.zoom-in")
        app.wait(lambda: app.actions()["zoom-out"][0], what="the zoom")
        app.activate("win.move-tab")
        tabs.shows("a.rep")
        tabs.shows("b.rep", window=2)
        assert sorted(node.name for node in app.find_all("frame")) == ["a.rep", "b.rep"]
        assert not app.actions(window=1)["zoom-out"][0] and app.actions(window=2)["zoom-out"][0]
        # It goes on where it is.
        app.activate("win.zoom-fit", window=2)
        app.wait(lambda: not app.actions(window=2)["zoom-out"][0], what="the whole run")
        app.activate("win.close", window=2)
        app.gone_node("frame", "b.rep")


def test_the_menu_of_a_tab():
    with Tabs(*reports("a.rep", "b.rep", "c.rep")) as tabs:
        app = tabs.app

        def choose(name, item):
            tab = app.find("page tab", name)
            app.move(700, 500)
            app.wait(harness.steady(tab.extents), what="the place of the tab")
            tab.click(button=3)
            app.find("menu item", item).do()
            app.gone_node("menu item", item)
        choose("a.rep", "Compare with the Report Shown")
        app.find("label", "A: c.rep · B: a.rep")
        choose("a.rep", "Close")
        tabs.are("b.rep", "c.rep*")
        choose("b.rep", "Move to New Window")
        app.wait(lambda: sorted(node.name for node in app.find_all("frame")) == ["b.rep", "c.rep"], what="a second window")


def test_a_file_that_is_open_is_shown_as_it_is_now():
    paths = reports("a.rep", "b.rep")
    with Tabs(*paths) as tabs:
        app = tabs.app

        def subtitle():
            return app.root.find("filler", "AdwWindowTitle").find_all("label")[1].name

        app.activate("win.open-uri", f"'file://{paths[0]}'")
        tabs.are("a.rep*", "b.rep")
        before = subtitle()
        # Another report of that name.
        os.remove(paths[1])
        subprocess.run([MAKE_REPORT, paths[1], "diagnostics"], check=True)
        app.activate("win.open-uri", f"'file://{paths[1]}'")
        tabs.are("a.rep", "b.rep*")
        app.find("push button", "2")
        assert before.startswith("350 events"), before


def test_an_opening_that_is_cancelled_closes_its_tab():
    pipe = os.path.join(tempfile.mkdtemp(dir=os.environ[harness.SESSION]), "pipe.rep")
    os.mkfifo(pipe)
    holder = os.open(pipe, os.O_RDWR)
    try:
        os.write(holder, b" " * 101)
        with Tabs(*reports("a.rep")) as tabs:
            app = tabs.app
            app.activate("win.open-uri", f"'file://{pipe}'")
            tabs.are("a.rep", "pipe.rep*")
            assert not app.actions()["zoom-in"][0]
            app.activate("win.cancel-opening")
            tabs.shows("a.rep")
            assert app.root.find("frame", "pipe.rep") is None
    finally:
        os.close(holder)


def test_a_growing_report_is_dropped_from_its_window():
    path = os.path.join(tempfile.mkdtemp(dir=os.environ[harness.SESSION]), "growing.rep")
    writer = subprocess.Popen([MAKE_REPORT, path, "growing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"committed\n"
        a, b = reports("a.rep", "b.rep")
        with Tabs(a, b, path) as tabs:
            app = tabs.app
            app.activate("win.move-tab")
            tabs.shows("growing.rep", window=2)
            app.activate("win.drop-uri", f"'file://{a}'")  # which is whole, and stays
            app.activate("win.drop-uri", f"'file://{path}'")
            app.gone_node("frame", "growing.rep")
            tabs.are("a.rep", "b.rep*")
    finally:
        writer.kill()
        writer.communicate()


def answer(app, key):
    """Answers the question that the viewer asks."""
    app.wait(lambda: len(app.windows()) == 2, what="the question")
    app.focus(app.windows()[1])
    app.key(key)
    app.wait(lambda: len(app.windows()) == 1, what="the end of the question")


def test_reports_that_are_dropped():
    """Several ask how; one is a tab at once."""
    a, b, c = reports("a.rep", "b.rep", "c.rep")
    with Tabs(a) as tabs:
        tabs.app.drop(b, c)
        answer(tabs.app, "Escape")
        assert tabs.names_of("a.rep") == []
        tabs.app.drop(b)
        tabs.are("a.rep", "b.rep*")
        tabs.app.drop(c, a)
        answer(tabs.app, "alt+s")
        tabs.app.wait(lambda: "c.rep" in " ".join(tabs.names_of("a.rep") + tabs.names_of("c.rep")), what="a tab of each")


harness.main(globals(), gate=(test_reports_are_tabs_of_one_window, test_actions_act_on_the_tab_that_is_selected, test_tabs_close,
                              test_a_tab_moves_to_a_window_of_its_own))
