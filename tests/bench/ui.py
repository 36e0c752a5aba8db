# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures how long the viewer's main thread does not answer while people use it: ./run bench ui [--scale=2] [FILE|SHAPE]…

Drives the viewer by keys and the mouse through all that people do with a report. Of each interaction it prints

    stall  the longest time in a step of it (a turn of the wheel, a key, a click) in which the main thread did not look for
           events: median, 99th percentile and longest of the steps. The time in which it could have run, but others had the
           processors, is not counted; `wall` is the longest with it, and `ran`
           the longest time in which the thread ran: on a busy machine the rest, which waits for the display server, is much
    done   the time from the step until the viewer's threads rest, which is when all is shown: median and longest

SHAPE is a report that tests/bench/hard-report.c makes: rows, lanes, overlap, burst or gap; without an argument, all of them.
--only=WORD leaves out interactions without WORD in their names. Exits with 1 if a budget is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import harness
import tap

SCREEN = (1920, 1200)
WINDOW = (1900, 1150)
SHAPES = ["rows", "lanes", "overlap", "burst", "gap"]
BENCHES = os.path.join(tap.BUILD, "tests", "bench")
PANES = ["findings", "events", "stats", "functions", "steps", "sql", "files", "diagnostics"]
SETTINGS = """[io/github/lanescope/Lanescope]
window-width=%d
window-height=%d
bottom-page='none'
show-details=true
"""
# The viewer rests when for REST_S its threads have taken less than BUSY_SHARE of each LOOK_S, which is more than a worker waits before it begins.
LOOK_S = 0.025
BUSY_SHARE = 0.15
REST_S = 0.35
REST_LIMIT_S = 120

MOST_STALL_MS = 50
# Most ms until an interaction is done, and MB.
MOST_DONE_MS = {"select time with stats": 300, "open findings": 3000}
MOST_TABLE_MB = 300

harness.SCREEN = SCREEN


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


class Viewer(harness.App):
    """The viewer, whose main loop says how long its turns take."""

    def __init__(self, report, scale):
        self.turns = tempfile.NamedTemporaryFile(prefix="turns-", dir=os.environ[harness.SESSION])
        super().__init__(report, size=None, env={
            "LD_PRELOAD": os.path.join(BENCHES, "libturns.so"), "LNS_BENCH_TURNS": self.turns.name, "GDK_SCALE": str(scale), "G_DEBUG": ""})
        folder = os.path.join(self.env["XDG_CONFIG_HOME"], "glib-2.0", "settings")
        os.makedirs(folder)
        with open(os.path.join(folder, "keyfile"), "w") as file:
            file.write(SETTINGS % tuple(px // scale for px in WINDOW))

    def run_ns(self):
        """Processor time that the viewer's threads have taken; those that have ended do not count."""
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/schedstat") as file:
                    total += int(file.read().split()[0])
            except OSError:
                continue
        return total

    def rest(self):
        """Waits until the viewer rests; returns since when it does."""
        begin = busy = looked = time.monotonic()
        before = self.run_ns()
        while looked - busy < REST_S:
            time.sleep(LOOK_S)
            assert self.process.poll() is None, f"the viewer ended with {self.process.returncode}: {self.output()}"
            now, last = self.run_ns(), looked
            looked = time.monotonic()
            if abs(now - before) > BUSY_SHARE * (looked - last) * 1e9:
                busy = looked
            before = now
            assert looked - begin < REST_LIMIT_S, f"the viewer has not come to rest in {REST_LIMIT_S} s"
        return busy

    def stalls(self, begin, end):
        """(ms, ms with the time in which others had the processors, ms in which the thread ran) of the main loop's turns of 1 ms or
        more that reach into a time."""
        with open(self.turns.name) as file:
            turns = [[int(word) for word in line.split()] for line in file]
        return [((last - first - waited) / 1e6, (last - first) / 1e6, ran / 1e6) for first, last, ran, waited in turns
                if last > begin * 1e9 and first < end * 1e9]

    def memory_mb(self):
        """Memory that is the viewer's own: without pages of files."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024


class Bench:
    """The interactions with one report. Each method does several steps of a few."""

    def __init__(self, app, only):
        self.app = app
        self.only = only
        self.steps = {}  # by interaction: [([(stall ms, the same with waiting for a processor, ms that the thread ran)], done ms)]
        self.table_mb = None

    def step(self, name, do, *arguments, **options):
        """Does one step of the interaction NAME and waits until the viewer rests."""
        begin = time.monotonic()
        do(*arguments, **options)
        end = self.app.rest()
        if self.only in name:
            self.steps.setdefault(name, []).append((self.app.stalls(begin, end), 1000 * (end - begin)))

    def at(self, x, y):
        """The point at the shares X and Y of the window."""
        left, top, width, height = self.app.geometry()
        return left + int(width * x), top + int(height * y)

    def move_in_time(self):
        x, y = self.at(0.5, 0.3)
        for _ in range(12):
            self.step("zoom in", self.app.scroll, x, y, -1, keys=("ctrl",))
        for i in range(16):
            self.step("pan", self.app.scroll, x, y, 1 if i % 6 < 4 else -1, keys=("shift",))
        for _ in range(6):
            self.step("zoom out", self.app.scroll, x, y, 1, keys=("ctrl",))
        for _ in range(4):
            self.step("undo zoom", self.app.key, "alt+Left")
            self.step("fit all", self.app.key, "ctrl+0")
        for i in range(6):
            self.step("scroll rows", self.app.scroll, x, y, 3 if i < 4 else -6)

    def look_for(self):
        """Ends with a selected event in view, among others."""
        for text in ("e", "w"):
            self.step("search", self.app.key, "ctrl+k")
            self.step("search", self.app.type, text)
            self.step("search", self.app.key, "Escape", "Escape")
        self.step("find", self.app.key, "ctrl+f")
        self.step("find", self.app.type, "e")
        for _ in range(6):
            self.step("find next", self.app.key, "F3")
        self.step("find", self.app.key, "Escape")
        self.step("zoom to event", self.app.activate, "win.zoom-to-event")
        for _ in range(6):
            self.step("zoom out", self.app.activate, "win.zoom-out")
        for action in ["next-event"] * 6 + ["previous-event"] * 3:
            self.step("next or previous event", self.app.activate, f"win.{action}")

    def point(self):
        for i in range(24):
            self.step("hover", self.app.move, *self.at(0.3 + 0.018 * i, 0.2 + 0.008 * i))
        for i in range(8):
            self.step("select an event", self.app.click, *self.at(0.35 + 0.05 * i, 0.22 + 0.03 * i))
        self.step("fit all", self.app.key, "ctrl+0")
        for i in range(4):
            self.step("select time", self.app.drag, *self.at(0.35 + 0.05 * i, 0.3), *self.at(0.6 + 0.05 * i, 0.35))
        self.step("clear selection", self.app.key, "Escape")

    def fold(self):
        for _ in range(3):
            self.step("fold all", self.app.activate, "win.collapse-all")
            self.step("unfold all", self.app.activate, "win.expand-all")
        for level in (1, 2):
            self.step("unfold a level", self.app.activate, f"win.unfold-{level}")

    def open_panes(self):
        for pane in PANES:
            if pane == "events":
                self.list_events()
            for i in range(3):
                self.step(f"open {pane}", self.app.activate, f"win.show-{pane}")
                if pane in ("stats", "functions", "events"):
                    self.step(f"select time with {pane}", self.app.drag, *self.at(0.2, 0.2), *self.at(0.7 + 0.03 * i, 0.25))
                    self.step("clear selection", self.app.key, "Escape")
                self.step("close a pane", self.app.activate, f"win.show-{pane}")

    def list_events(self):
        """Has the table hold all events of the first row, a process, and uses it."""
        row = self.app.find("table row")
        before = self.app.memory_mb()
        self.step("list events", row.do, "row.show-in-events")
        self.table_mb = self.app.memory_mb() - before
        self.app.key("ctrl+1")
        for _ in range(7):
            self.step("sort events", self.app.key, "s")
        for key in ["Next"] * 6 + ["End", "Prior", "Home"]:
            self.step("move in events", self.app.key, key)
        for _ in range(8):
            self.step("scroll events", self.app.scroll, *self.at(0.4, 0.85), 3)
        for text in ("e", "duration > 1us"):
            self.step("filter events", self.app.key, "ctrl+shift+f")
            self.step("filter events", self.app.type, text)
            self.step("filter events", self.app.key, "ctrl+a", "BackSpace")
        self.app.key("ctrl+1")
        for _ in range(2):
            self.step("group events", self.app.key, "g")
        self.step("close a pane", self.app.activate, "win.show-events")

    def resize(self):
        for width, height in ((1500, 900), WINDOW, (1200, 1100), WINDOW):
            # Not App.resize (), as the window may not become as small as that.
            self.step("resize", harness.run, "xdotool", "windowsize", str(self.app.window), str(width), str(height))

    def run(self):
        for part in (self.move_in_time, self.look_for, self.point, self.fold, self.open_panes, self.resize):
            part()


def drive(report, scale, only):
    """{interaction: figures} of REPORT."""
    begin = time.monotonic()
    with Viewer(report, scale) as app:
        end = app.rest()
        app.focus()
        bench = Bench(app, only)
        bench.steps["open"] = [(app.stalls(begin, end), 1000 * (end - begin))]
        bench.run()
        print(app.output(), end="")
    figures = {}
    for name, steps in bench.steps.items():
        turns = [turn for step, _ in steps for turn in step] or [(0, 0, 0)]
        stalls = [max((stall for stall, _, _ in step), default=0) for step, _ in steps]
        done = [ms for _, ms in steps]
        figures[name] = {"steps": len(steps), "stall_p50_ms": percentile(stalls, 0.5),
                         "stall_p99_ms": percentile(stalls, 0.99), "stall_max_ms": max(stalls),
                         "stall_max_wall_ms": max(wall for _, wall, _ in turns), "ran_max_ms": max(ran for _, _, ran in turns),
                         "done_p50_ms": percentile(done, 0.5), "done_max_ms": max(done)}
    return figures, bench.table_mb


def report_on(title, figures, table_mb):
    """Prints the figures of one report; returns what missed its budget."""
    missed = []
    print(f"{title}\n{'':32}{'steps':>6}{'stall p50':>11}{'p99':>8}{'longest':>9}{'wall':>9}{'ran':>8}{'done p50':>10}{'longest':>9}  ms")
    for name, it in figures.items():
        late = it["done_p50_ms"] > MOST_DONE_MS.get(name, float("inf"))
        over = it["stall_max_ms"] > MOST_STALL_MS
        missed += [f"{title}: {name}"] if over or late else []
        print(f"{name:32}{it['steps']:6}{it['stall_p50_ms']:11.1f}{it['stall_p99_ms']:8.1f}{it['stall_max_ms']:9.1f}"
              f"{it['stall_max_wall_ms']:9.1f}{it['ran_max_ms']:8.1f}{it['done_p50_ms']:10.0f}{it['done_max_ms']:9.0f}{'  over' * over}{'  late' * late}")
    if table_mb is not None:
        print(f"the table of all events took {table_mb:.0f} MB")
        missed += [f"{title}: memory of the table"] if table_mb > MOST_TABLE_MB else []
    return missed


def main():
    parser = argparse.ArgumentParser(prog="./run bench ui", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=1, help="device pixels for one pixel of the window")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("reports", nargs="*", default=SHAPES, metavar="FILE|SHAPE")
    options = parser.parse_args()
    result, missed = {}, []
    with tempfile.TemporaryDirectory(prefix="lanescope-ui-") as folder:
        for report in options.reports:
            path = report
            if report in SHAPES:
                path = os.path.join(folder, report + ".rep")
                subprocess.run([os.path.join(BENCHES, "hard-report"), report, path], check=True)
            figures, table_mb = drive(path, options.scale, options.only)
            missed += report_on(report, figures, table_mb)
            result[report] = dict(figures, table_mb=table_mb)
    for what in missed:
        print(f"missed: {what}")
    print(json.dumps(result))
    return 1 if missed else 0


if harness.SESSION in os.environ:
    sys.exit(main())
else:
    # Settings are a file here, which is flushed to the disk in the main thread whenever one changes; a desktop has a service for them.
    if os.access("/dev/shm", os.W_OK):
        os.environ.setdefault("TMPDIR", "/dev/shm")
    sys.exit(harness.run_session([sys.executable] + sys.argv))
