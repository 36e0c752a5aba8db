# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the launch dialog with the real recorder and a real program, from Start to the open report."""

import os
import re
import subprocess
import tempfile
import time

import harness
import tap



class Launch:
    """A viewer with its launch dialog open, in a working directory of its own."""

    def __init__(self, command, folder=None):
        self.folder = folder or os.fsencode(tempfile.mkdtemp(prefix="launch-", dir=os.environ[harness.SESSION]))
        self.command = command
        self.app = harness.App(cwd=self.folder)

    def __enter__(self):
        app = self.app.__enter__()
        app.activate("win.launch")
        self.dialog = app.find("frame", "Launch a Program")
        app.wait(lambda: self.dialog.find("text", "Command line with arguments")).set_text(self.command)
        self.dialog.find("push button", "Start").do()
        return self

    def __exit__(self, *what):
        return self.app.__exit__(*what)

    def figures(self):
        """(seconds, events, lost) as the dialog shows them; None while it does not."""
        try:
            texts = {node.description: node.text for node in self.dialog.find_all("label") if node.description}
        except self.app.gone:
            return None
        if not texts.get("Elapsed time"):
            return None
        return float(texts["Elapsed time"].split()[0]), int(texts["Events"].replace(",", "")), int(texts["Lost"])

    def opened(self, name):
        self.app.wait(lambda: self.app.root.find("frame", name), 60, f"{name} to be open")
        return self.app.wait(lambda: next((text for text in self.subtitle() if "recording" not in text), None), 60,
                             "the subtitle of a report that has ended")

    def subtitle(self):
        """What stands below the title, in a list, or an empty one."""
        return [label.name for label in self.app.root.find("filler", "AdwWindowTitle").find_all("label")][1:]

    def ask_for(self, button):
        """Waits until the dialog has BUTTON, and presses it."""
        self.app.wait(lambda: self.dialog.find("push button", button), what=button).do()


def events_of(path):
    """What `info` says is in the report."""
    text = subprocess.run([tap.LANESCOPE, "info", path], capture_output=True, check=True).stdout.decode(errors="replace")
    return int(re.search(r"^events: (\d+)$", text, re.M).group(1))


def test_a_program_from_start_to_its_report():
    enough = os.path.join(os.environ[harness.SESSION], "enough")
    with Launch(f"-t nvtx -o 'my profile' sh -c 'until [ -e {enough} ]; do {tap.program('demo')} 20 >/dev/null; done'") as launch:
        running = [(0.0, 0, 0)]
        while len(running) < 4:
            running.append(launch.app.wait(lambda: next((f for f in [launch.figures()] if f and f[0] != running[-1][0]), None),
                                           what="the next tick"))
        with open(enough, "w", encoding="ascii"):
            pass
        assert running == sorted(running) and running[-1][1] > running[1][1], running
        subtitle = launch.opened("my profile.rep")
        count = events_of(os.path.join(launch.folder, b"my profile.rep"))
        assert subtitle.startswith(f"{count:,} events"), (subtitle, count)
        assert count >= running[-1][1]


def test_the_report_grows_while_the_program_runs():
    """The program goes on when the test has seen what it did before."""
    steps = [os.path.join(os.environ[harness.SESSION], f"step{i}") for i in range(2)]
    script = "; ".join(f"{tap.program('demo')} >/dev/null; echo after {i}; until [ -e {step} ]; do sleep 0.1; done"
                       for i, step in enumerate(steps))
    with Launch(f"-o grows sh -c '{script}'") as launch:
        seen = 0
        for i, step in enumerate(steps):
            launch.app.wait(lambda: launch.dialog.find("text", lambda name: True) is not None and
                            any(f"after {i}" in node.text for node in launch.dialog.find_all("text")), 60, "its output")
            seen = launch.app.wait(lambda: next((n for text in launch.subtitle() if "recording" in text
                                                 for n in [int(text.split()[0].replace(",", ""))] if n > seen), None),
                                   60, f"more events than {seen}")
            with open(step, "w", encoding="ascii"):
                pass
        subtitle = launch.opened("grows.rep")
        assert int(subtitle.split()[0].replace(",", "")) >= seen, (subtitle, seen)
        launch.app.wait(lambda: launch.app.root.find("frame", "Launch a Program") is None, what="the dialog to go")


def test_cancel_drops_the_report():
    with Launch("-o dropped sh -c 'while :; do sleep 0.1; done'") as launch:
        path = os.path.join(launch.folder, b"dropped.rep")
        launch.app.wait(lambda: os.path.exists(path), 60, "the report")
        launch.app.wait(lambda: launch.app.root.find("frame", "dropped.rep"), 60, "the window that shows how it grows")
        launch.ask_for("Cancel")
        launch.app.wait(lambda: not os.path.exists(path), 60, "the report to go")
        launch.app.gone_node("frame", "dropped.rep")
        assert launch.app.root.find("frame", "Lanescope"), "the window is gone"
        assert launch.dialog.find("push button", "Start")


def test_recording_starts_later():
    with Launch(f"-Y true -o later sh -c 'while :; do {tap.program('demo')} >/dev/null; done'") as launch:
        launch.app.wait(lambda: launch.dialog.find(None, lambda name: "Waiting to Record" in name), 60, "waiting")
        launch.ask_for("Start Recording")
        launch.app.wait(lambda: launch.dialog.find(None, lambda name: name == "Recording"), 60, "recording")
        launch.app.wait(lambda: (launch.figures() or (0, 0, 0))[1] > 0, what="the first events")
        launch.ask_for("Stop")
        launch.opened("later.rep")
        assert events_of(os.path.join(launch.folder, b"later.rep")) > 0


def test_the_report_goes_where_the_dialog_says():
    with Launch("sh -c 'touch there report2.rep'") as launch:
        launch.opened("report1.rep")
        assert os.path.exists(os.path.join(launch.folder, b"there"))
        launch.app.activate("win.launch")
        dialog = launch.app.find("frame", "Launch a Program")
        launch.app.wait(lambda: dialog.find("label", os.path.join(os.fsdecode(launch.folder), "report3.rep")), what="the next free name")
        dialog.find("push button", "Start").do()
        launch.opened("report3.rep")


def test_stop_keeps_the_report():
    with Launch(f"-o stopped sh -c 'while :; do {tap.program('demo')} >/dev/null; done'") as launch:
        launch.app.wait(lambda: (launch.figures() or (0, 0, 0))[1] > 0, what="the first events")
        launch.dialog.find("push button", "Stop").do()
        subtitle = launch.opened("stopped.rep")
        count = events_of(os.path.join(launch.folder, b"stopped.rep"))
        assert count > 0 and subtitle.startswith(f"{count:,} events"), (subtitle, count)


def test_bytes_that_are_not_utf8():
    folder = os.path.join(os.fsencode(os.environ[harness.SESSION]), b"caf\xe9 \xff")
    os.mkdir(folder)
    os.symlink(tap.program("demo"), os.path.join(folder, b"d\xe9mo 'x'"))
    with Launch("-o $'caf\\xe9' $'./d\\xe9mo \\'x\\''", folder) as launch:
        subtitle = launch.opened(lambda name: name.startswith("caf") and name.endswith(".rep"))
        count = events_of(os.path.join(folder, b"caf\xe9.rep"))
        assert subtitle.startswith(f"{count:,} events"), (subtitle, count)


def test_a_program_that_fails_at_once():
    with Launch("-o failed python3 -c 'import sys; sys.exit(\"no such model\")'") as launch:
        launch.app.find("label", "The program ended with code 1.")
        assert launch.dialog.find("text", "Last lines of standard error").text.find("no such model") >= 0
        launch.dialog.find("push button", "Open Report").do()
        assert launch.opened("failed.rep").startswith("0 events")


def test_a_program_that_is_not_there():
    with Launch("no-such-program") as launch:
        launch.app.find("label", lambda name: "no-such-program" in name and "check the name" in name)


def test_a_report_that_exists_is_kept_or_replaced():
    with Launch("-o taken.rep true") as launch:
        launch.opened("taken.rep")
        path = os.path.join(launch.folder, b"taken.rep")
        first = os.stat(path).st_ino

        def again():
            launch.app.activate("win.launch")
            launch.dialog = launch.app.find("frame", "Launch a Program")
            launch.app.wait(lambda: launch.dialog.find("label", lambda name: name.startswith(f"{os.fsdecode(path)} exists; use")),
                            what="what keeps the report from going there")
            launch.dialog.find("push button", "Start").do()
            return launch.app.find("push button", "Replace the Report")

        again()
        launch.dialog.find("push button", "Keep Both").do()
        launch.opened("taken-1.rep")
        assert os.stat(path).st_ino == first
        again().do()
        launch.app.wait(lambda: os.stat(path).st_ino != first, what="another report of that name")
        assert sorted(name for name in os.listdir(launch.folder) if name.endswith(b".rep")) == \
            [b"taken-1.rep", b"taken.rep"]
        launch.app.gone_node("frame", "Launch a Program")


def test_an_unknown_switch():
    with Launch("--no-such-switch=1 true") as launch:
        launch.app.find("label", lambda name: name.startswith("--no-such-switch"))


def test_a_switch_without_effect_is_told_before_the_report():
    with Launch("-t nvtx,vulkan -o seen.rep true") as launch:
        launch.app.find("label", lambda name: name.startswith("The report was written, but"))
        words = launch.dialog.find("text", "Last lines of standard error").text
        assert words.startswith("--trace: vulkan: ") and "warning" not in words, words
        launch.dialog.find("push button", "Open Report").do()
        assert launch.opened("seen.rep").startswith("0 events")


harness.main(globals(), gate=(test_a_program_from_start_to_its_report, test_the_report_goes_where_the_dialog_says))
