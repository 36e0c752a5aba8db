#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Pictures of the viewer's panes, windows and states, for people to look at: tests/ui/look.py [SWITCHES] FOLDER REPORT [OTHER]

Writes FOLDER/STATE.png for each state that REPORT has, and sheets of four, FOLDER/sheet-N.png. OTHER is a report to compare with.
Without a REPORT, the start page and what opens from it. A REPORT that cannot be opened shows its error page, and one that is being recorded
how it grows. Needs a build in $LNS_BUILD_ROOT (default: build) and the packages of the interface tests."""

import argparse
import gettext
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
os.environ.setdefault("LNS_BUILD_ROOT", os.path.join(ROOT, "build"))
sys.path[:0] = [os.path.join(ROOT, "tests"), HERE]

import harness  # noqa: E402
import tap  # noqa: E402

# How many pictures in a row must be equal: about a second, in which what was asked for begins; and after how many one is taken of a window
# that does not come to rest, such as that of a report that grows.
EQUAL = 6
MOST = 60


class Viewer(harness.App):
    """The viewer, of which pictures are taken."""

    def still(self, is_pointed=False):
        """Waits until the window does not change, with the pointer where it is or else where nothing lies below it."""
        x, y, width, _ = self.geometry()
        if not is_pointed:
            self.move(x + width // 3, y + 4)
        last, equal, taken = None, 0, 0

        def same():
            nonlocal last, equal, taken
            now = self.picture(0, 0, *harness.SCREEN).raw
            equal = equal + 1 if now == last else 0
            last = now
            taken += 1
            return equal >= EQUAL or taken >= MOST
        self.wait(same, what="a picture that stays")

    def at(self, share_x, share_y):
        """A point of the screen, in shares of the window's width and height."""
        x, y, width, height = self.geometry()
        return x + int(share_x * width), y + int(share_y * height)

    def drag_over(self, start, end, keys=()):
        """Selects a time: START and END are shares of the window's width. Where the rows are is known from none of them."""
        self.drag(*self.at(start, 0.4), *self.at(end, 0.4), keys=keys)


def show(*actions):
    """A state that actions lead to."""
    def enter(app):
        for action in actions:
            app.activate(action)
    return enter


def find(app):
    app.activate("win.find")
    app.type("e")


def find_and_go(app):
    find(app)
    app.still()
    app.key("Return", "Escape")
    app.activate("win.zoom-to-event")


def two_spans(app):
    app.activate("win.zoom-fit")
    app.drag_over(0.35, 0.45)
    app.drag_over(0.5, 0.6, keys=["ctrl"])


def menu(number):
    """A menu of the menu bar, opened."""
    def enter(app):
        list(app.find("menu bar").children())[number].click()
    return enter


def row_menu(app):
    app.click(*app.at(0.5, 0.4), button=3)


def tooltip(app):
    app.move(*app.at(0.49, 0.4))
    app.move(*app.at(0.5, 0.4))


def events_menu(app):
    app.click(*app.at(0.2, 0.83), button=3)


def finding(app):
    """The second one, with what stands below it."""
    app.click(*app.at(0.25, 0.78))


def statement(app):
    app.activate("win.show-sql")
    app.activate("win.run-sql", "'SELECT * FROM LNS_FINDINGS'")


def functions_menu(app):
    """What the pane of functions shows, and how. The action of a pane hides it where it shows."""
    catalogue = gettext.translation("lanescope", os.path.join(tap.BUILD, "po"), [app.language or "C"], fallback=True)
    title = catalogue.gettext("What is shown, and how")
    if app.root.find("push button", title) is None:
        app.activate("win.show-functions")
        app.still()
    button = app.root.find("push button", title)
    if button is not None:  # without samples, there is none
        button.click()


def by_duration(app):
    app.activate("app.timeline-colors", "'duration'")


def by_name(app):
    app.activate("app.timeline-colors", "'name'")


def gray(app):
    """All names but that of the event that is selected."""
    find_and_go(app)
    app.key("c")
    app.activate("win.zoom-fit")


def bookmarks(app):
    app.activate("win.add-bookmark")
    app.wait(lambda: len(app.windows()) == 2, what="the dialog")
    app.type("here")
    app.key("Return")
    app.wait(lambda: len(app.windows()) == 1, what="the end of the dialog")
    app.focus()
    app.activate("win.list-bookmarks")


def searched(app):
    app.activate("win.search")
    app.wait(lambda: len(app.windows()) == 2, what="the dialog")
    app.type("st")


def launch(app):
    """With what can be traced, which the dialog asks for when it is there."""
    app.activate("win.launch")
    app.wait(lambda: app.find_all("check box"), what="what can be traced")


def one_row(app):
    """Others are hidden."""
    row_menu(app)
    app.key("Escape", "shift+Delete")


# In this order, each from where the one before it left the viewer; a state with True ends by Escape.
STATES = [
    ("menu-file", menu(0), True),
    ("menu-edit", menu(1), True),
    ("menu-view", menu(2), True),
    ("menu-go", menu(3), True),
    ("menu-help", menu(4), True),
    ("tooltip", tooltip, False),
    ("findings", show("win.show-findings"), False),
    ("finding", finding, False),
    ("events", show("win.show-events"), False),
    ("events-menu", events_menu, True),
    ("stats", show("win.show-stats"), False),
    ("steps", show("win.show-steps"), False),
    ("critical", show("win.show-critical"), False),
    ("sql", show("win.show-sql"), False),
    ("statement", statement, False),
    ("functions", show("win.show-functions"), False),
    ("functions-menu", functions_menu, True),
    ("files", show("win.show-files"), False),
    ("diagnostics", show("win.show-diagnostics"), False),
    ("step", show("win.next-step", "win.show-findings"), False),
    ("event", find_and_go, False),
    ("row-menu", row_menu, True),
    ("two-spans", two_spans, False),
    ("unfolded", show("win.zoom-fit", "win.expand-all"), False),
    ("folded", show("win.collapse-all"), False),
    ("level-two", show("win.unfold-2"), False),
    ("path", show("win.show-path"), False),
    ("by-duration", by_duration, False),
    ("gray", gray, False),
    ("find", find, True),
    ("search", show("win.search"), True),
    ("searched", searched, True),
    ("legend-of-duration", show("win.show-legend"), True),
    ("by-name", by_name, False),
    ("legend", show("win.show-legend"), True),
    ("keys", show("win.show-help-overlay"), True),
    ("go-to-time", show("win.go-to-time"), True),
    ("bookmark", show("win.add-bookmark"), True),
    ("bookmarks", bookmarks, True),
    ("export", show("win.export"), True),
    ("picture", show("win.save-picture"), True),
    ("about", show("app.about"), True),
    ("launch", launch, True),
    ("one-row", one_row, False),
]
WITHOUT_REPORT = ("menu-file", "menu-view", "search", "launch", "keys", "legend", "about")


def options():
    parser = argparse.ArgumentParser(prog="tests/ui/look.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dark", action="store_true", help="the dark theme")
    parser.add_argument("--contrast", action="store_true", help="high contrast")
    parser.add_argument("--language", help="a locale: de_DE, zh_CN, or ar_EG, which is written from right to left")
    parser.add_argument("--size", default="1400x860", help="of the window, in pixels (default: %(default)s)")
    parser.add_argument("--scale", default="1", help="pixels of the screen for one of the window's")
    parser.add_argument("--text", type=float, default=1, help="how many times as large texts are")
    parser.add_argument("--only", help="states, separated by commas; open is the first picture")
    parser.add_argument("folder")
    parser.add_argument("reports", nargs="*", metavar="REPORT")
    return parser.parse_args()


def environment(asked):
    env = {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark" if asked.dark else "prefer-light", "GDK_SCALE": asked.scale,
           "TEXTDOMAINDIR": os.path.join(tap.BUILD, "po")}
    if asked.contrast:
        env["ADW_DEBUG_HIGH_CONTRAST"] = "1"
    if asked.language:
        # The person's locale need not be installed. What the analysis says goes by its name, and what GTK and gettext say by a locale that is.
        locale, folder = asked.language + ".UTF-8", os.environ[harness.SESSION]
        subprocess.run(["localedef", "-i", asked.language, "-f", "UTF-8", os.path.join(folder, locale)], check=True)
        env.update({"LC_ALL": locale, "LANGUAGE": "", "LOCPATH": folder})
        if not os.path.isdir(os.path.join(tap.BUILD, "po", asked.language.split("_")[0])) and \
                not os.path.isdir(os.path.join(tap.BUILD, "po", asked.language)):
            # GLib has GTK speak a language, and write from right to left, only if the program does.
            catalogue = os.path.join(folder, asked.language, "LC_MESSAGES", "lanescope.mo")
            os.makedirs(os.path.dirname(catalogue))
            subprocess.run(["msgfmt", "-o", catalogue, "-"], input=b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n',
                           check=True)
            env["TEXTDOMAINDIR"] = folder
    return env


def look(asked):
    size = tuple(int(number) for number in asked.size.split("x"))
    wanted = asked.only.split(",") if asked.only else None
    reports = [os.path.abspath(report) for report in asked.reports]
    os.makedirs(asked.folder, exist_ok=True)
    paths = []

    def keep(app, name, is_pointed=False):
        app.still(is_pointed)
        path = os.path.join(asked.folder, name + ".png")
        app.screenshot(path)
        paths.append(path)

    harness.run("xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", f"Xft.dpi: {96 * asked.text:.0f}")
    with Viewer(*reports[:1], size=size, env=environment(asked)) as app:
        app.language = asked.language
        if wanted is None or "open" in wanted:
            keep(app, "open")
        for name, enter, ends in STATES:
            if (wanted is not None and name not in wanted) or (not reports and name not in WITHOUT_REPORT):
                continue
            enter(app)
            keep(app, name, is_pointed=name == "tooltip")
            for window in app.windows()[1:]:
                app.focus(window)
            if ends:
                app.key("Escape")
                app.wait(lambda: len(app.windows()) == 1, what="one window")
                app.focus()
        if len(reports) > 1 and (wanted is None or "dropped" in wanted):
            app.drop(*reports)
            app.wait(lambda: len(app.windows()) == 2, what="the question")
            keep(app, "dropped")
            app.focus(app.windows()[1])
            app.key("Escape")
            app.wait(lambda: len(app.windows()) == 1, what="one window")
            app.focus()
        if len(reports) > 1 and (wanted is None or "compare" in wanted):
            app.activate("win.compare-with-uri", f"'file://{reports[1]}'")
            app.wait(lambda: app.actions()["swap-reports"][0], what="the other report")
            keep(app, "compare")
    for first in range(0, len(paths), 4):
        sheet = os.path.join(asked.folder, f"sheet-{first // 4}.png")
        subprocess.run(["montage", *paths[first:first + 4], "-tile", "2x", "-geometry", "+4+4", sheet], check=True)


def main():
    asked = options()
    size = [int(number) for number in asked.size.split("x")]
    harness.SCREEN = tuple(size)
    if harness.SESSION in os.environ:
        return look(asked)
    reason = harness.missing()
    if reason is not None:
        sys.exit(reason)
    sys.exit(harness.run_session([sys.executable, os.path.abspath(__file__)] + sys.argv[1:]))


main()
