# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""A report opens as it was left, and the next capture of its program with the same rows."""

import glob
import json
import os
import stat
import subprocess
import tempfile

import harness
import tap

MAKE_REPORT = os.path.join(tap.BUILD, "tests", "ui", "make-report")


class Place:
    """A folder of reports, and a state folder that viewers share."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="kept-", dir=os.environ[harness.SESSION])
        self.state = os.path.join(self.folder, "state")

    def report(self, name):
        path = os.path.join(self.folder, name)
        subprocess.run([MAKE_REPORT, path], check=True)
        return path

    def open(self, path, state=None):
        return harness.App(path, env={"XDG_STATE_HOME": state or self.state})

    def files(self, kind="report"):
        return glob.glob(os.path.join(self.state, "lanescope", "views", kind + "-*.json"))

    def kept(self):
        """What is kept of the one report, once it is written."""
        return json.load(open(harness.wait(self.files, what="the file")[0]))


def opened(app):
    app.wait(lambda: app.root.find("table row", "NVTX: io"), what="the rows")
    app.focus()


def pinned(app):
    """Names of the pinned rows."""
    rows = app.root.find("tree table", "Pinned rows")
    return [row.name for row in rows.find_all("table row")] if rows else []


def unfolded(app, name):
    return app.find("tree table", "Rows").find("table row", name).state("expanded")


def seen(app):
    return app.root.find("label", lambda name: name.endswith(" in view")).name


def test_a_report_opens_as_it_was_left():
    place = Place()
    path = place.report("a.rep")
    with place.open(path) as app:
        opened(app)
        whole = seen(app)
        row = app.find("tree table", "Rows").find("table row", "NVTX: io")
        row.do("row.pin")
        app.wait(lambda: pinned(app), what="the pin")
        app.activate("win.zoom-in")
        app.wait(lambda: seen(app) != whole, what="the zoom")
        near = app.wait(harness.steady(lambda: seen(app)), what="the zoom's end")
        app.wait(lambda: place.files() and "view" in place.kept(), what="what is kept")
    kept = place.files()[0]
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    # It is the report's own, wherever that lies.
    moved = os.path.join(place.folder, "elsewhere.rep")
    os.rename(path, moved)
    os.chmod(moved, 0o400)
    with place.open(moved) as app:
        opened(app)
        app.wait(lambda: [name.split(" — ")[0] for name in pinned(app)] == ["NVTX: io"], what="the pinned row")
        app.wait(lambda: seen(app) == near, what="the span")
        app.activate("win.reset-view")
        app.wait(lambda: not pinned(app) and seen(app) == whole, what="the view as at first")
        app.wait(lambda: not place.kept()["rows"] and "view" not in place.kept(), what="nothing kept")


def test_the_next_capture_has_the_same_rows():
    place = Place()
    with place.open(place.report("a.rep")) as app:
        opened(app)
        whole = seen(app)
        app.find("tree table", "Rows").find("table row", "NVTX: io").do("row.pin")
        app.activate("win.zoom-in")
        app.wait(lambda: place.files("program"), what="what is kept")
    with place.open(place.report("b.rep")) as app:
        opened(app)
        app.wait(lambda: pinned(app), what="the pinned row")
        assert seen(app) == whole, "times are of one capture"


def test_bookmarks_are_kept_and_closing_waits_for_them():
    place = Place()
    path = place.report("a.rep")
    with place.open(path) as app:
        opened(app)
        app.activate("win.add-bookmark")
        entry = app.find("text", "Name")
        app.wait(lambda: entry.state("focused"), what="the focus")
        entry.set_text("warmup <ends>")
        app.key("Return")
        app.wait(lambda: len(app.windows()) == 1, what="the end of the dialog")
        app.key("ctrl+w")
        app.process.wait(60)
    assert [mark["name"] for mark in place.kept()["bookmarks"]] == ["warmup <ends>"]
    with place.open(path) as app:
        opened(app)
        app.activate("win.list-bookmarks")
        app.find("label", "warmup <ends>")


def test_a_broken_file_is_ignored_and_said():
    place = Place()
    path = place.report("a.rep")
    with place.open(path) as app:
        opened(app)
        app.activate("win.zoom-in")
        app.wait(place.files, what="the file")
    for content in (b"{\"version\": 1, \"rows\": 5}", b"\x00\xff" * 1000):
        with open(place.files()[0], "wb") as file:
            file.write(content)
        with place.open(path) as app:
            opened(app)
            app.find("label", lambda name: "is ignored, as it is damaged" in name)
    # A pipe that nobody writes to would be waited for.
    pipe = place.files()[0]
    os.unlink(pipe)
    os.mkfifo(pipe)
    with place.open(path) as app:
        opened(app)
        app.find("label", lambda name: "is ignored, as it is not a regular file" in name)


def test_a_folder_that_cannot_be_written_is_said():
    place = Place()
    blocked = os.path.join(place.folder, "file")
    open(blocked, "w").close()
    with place.open(place.report("a.rep"), state=blocked) as app:
        opened(app)
        app.activate("win.zoom-in")
        app.find("label", lambda name: name.startswith("The view could not be kept: "))


harness.main(globals(), gate=(test_a_report_opens_as_it_was_left,))
