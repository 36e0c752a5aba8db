# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the launch dialog with a recorder that the test plays, so that every figure and failure is known: how the
recorder is started, and what both tell each other."""

import json
import os
import shlex
import sys
import tempfile

import harness
import tap

TOOL = r"""#!/usr/bin/python3
# Plays `lanescope`: notes how it was started, says what the script in PLAY says, obeys "stop".
import json, os, select, sys
def say(**message):
    os.write(3, json.dumps(message).encode() + b"\n")
def told(seconds):
    ready, _, _ = select.select([4], [], [], seconds)
    return os.read(4, 100).decode() if ready else ""
if sys.argv[1] == "name-report":
    os.stat(sys.argv[2])
    if "taken" in sys.argv:
        sys.exit("lanescope: error: taken.rep exists")
    print(end=sys.argv[2] + "/report7.rep")
    sys.exit(0)
if sys.argv[1] == "--capabilities=json":
    print(json.dumps({"version": "1", "commands": [{"name": "profile", "groups": [
        {"tag": "report", "title": "The report"}, {"tag": "cpu", "title": "CPUs"}], "switches": [
        {"name": "output", "letter": "o", "kind": "text", "tag": "report", "value": "PATH", "help": "Where to."},
        {"name": "stats", "kind": "bool", "tag": "report", "default": "false", "help": "Print <them> & more."},
        {"name": "show-output", "letter": "w", "kind": "bool", "tag": "report", "default": "true", "help": "Show it."},
        {"name": "strict", "kind": "flag", "tag": "report", "help": "Be strict."},
        {"name": "capture-range", "kind": "text", "letter": "c", "tag": "report", "value": "none|nvtx", "choices": ["none", "nvtx"],
         "default": "none", "help": "From when on."},
        {"name": "wait", "kind": "choice", "tag": "report", "choices": ["primary", "all"], "default": "all", "help": "For <whom>'s."},
        {"name": "sample", "kind": "choice", "tag": "cpu", "choices": ["cpu", "none"], "help": "Sample.", "instead": "not yet"},
        {"name": "control-fd", "kind": "integer", "tag": "report", "help": "Obey."},
        {"name": "trace", "kind": "list", "choices": ["nvtx", "osrt", "none"], "default": "nvtx"}]}]}))
    sys.exit(0)
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "started.json"), "w") as file:
    json.dump({"argv": [os.fsencode(word).hex() for word in sys.argv[1:]], "cwd": os.fsencode(os.getcwd()).hex(),
               "color": os.environ.get("COLOR")}, file)
exec(open(os.path.join(here, "play.py")).read())
"""


HUNG_MOUNT = os.path.join(tap.BUILD, "tests", "ui", "libhung-mount.so")


class Launch:
    """The viewer with its launch dialog open, and the recorder that it will find."""

    def __init__(self, play, command="", cwd=None, last=None, env=None):
        self.folder = tempfile.mkdtemp(prefix="launch-", dir=os.environ[harness.SESSION])
        self.tool = os.path.join(self.folder, "lanescope")
        with open(self.tool, "w") as file:
            file.write(TOOL)
        os.chmod(self.tool, 0o755)
        with open(os.path.join(self.folder, "play.py"), "w") as file:
            file.write(play)
        self.command = command
        self.cwd = cwd or os.environ["HOME"]
        self.app = harness.App(env={"LNS_LANESCOPE": self.tool, **(env or {})}, cwd=self.cwd)
        if last is not None:
            settings = os.path.join(self.app.env["XDG_CONFIG_HOME"], "glib-2.0", "settings")
            os.makedirs(settings)
            with open(os.path.join(settings, "keyfile"), "w", encoding="utf-8") as file:
                file.write(f"[io/github/lanescope/Lanescope]\nlaunch-folder=b'{last}'\n")

    def __enter__(self):
        self.app.__enter__()
        try:
            self.app.activate("win.launch")
            self.dialog = self.app.find("frame", "Launch a Program")
            if self.command:
                self.entry("Command line with arguments").set_text(self.command)
        except BaseException:
            self.app.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *what):
        return self.app.__exit__(*what)

    def entry(self, title):
        """The entry of the row with that title."""
        return self.app.wait(lambda: self.dialog.find("text", title), what=title)

    def button(self, name):
        return self.app.wait(lambda: self.dialog.find("push button", name), what=name)

    def click(self, node):
        """A real click on NODE, of the dialog's window."""
        x, y, width, height = node.extents(self.app.origin(self.app.windows()[-1]))
        self.app.click(x + width // 2, y + height // 2)
        return True

    def press(self, name):
        self.app.wait(lambda: self.button(name).state("sensitive"), what=f"a sensitive {name}")
        self.button(name).do()

    def value(self, description):
        """What stands beside Elapsed time, Events, …"""
        labels = [node for node in self.dialog.find_all("label") if node.description == description]
        return labels[0].text

    def wait_for(self, text):
        self.app.wait(lambda: self.dialog.find(None, lambda name: text in name), what=text)

    def started(self):
        """How the recorder was started: (arguments, folder, $COLOR), the first two as bytes."""
        path = os.path.join(self.folder, "started.json")
        self.app.wait(lambda: os.path.exists(path) and os.path.getsize(path) > 0, what="the recorder")
        with open(path) as file:
            known = json.load(file)
        return [bytes.fromhex(word) for word in known["argv"]], bytes.fromhex(known["cwd"]), known["color"]


TICKS = r"""
say(type="hello", version="1", pid=1, novelty=[1])
say(type="started", pid=2)
say(type="range", what="start", elapsed_ns=0)
for i in range(1, 1000):
    say(type="tick", elapsed_ns=i * 100000000, bytes=i * 1024, events=i * 1000, dropped=i, novelty={})
    if told(0.1).startswith("stop"):
        break
say(type="finished", exit=3, signal=0)
"""


def test_figures_follow_the_recorder_until_it_is_stopped():
    with Launch(TICKS, "python3 train.py") as launch:
        launch.press("Start")
        launch.wait_for("Recording")
        launch.app.wait(lambda: launch.value("Elapsed time") not in ("", "0.0 s"), what="a tick")
        first = launch.value("Elapsed time")
        launch.app.wait(lambda: launch.value("Elapsed time") != first, what="the next tick")
        ticks = round(10 * float(launch.value("Elapsed time").split()[0]))
        # The labels change one after the other.
        launch.app.wait(lambda: int(launch.value("Events").replace(",", "")) >= 1000 * ticks, what="their events")
        assert launch.value("Report size").endswith("KiB"), launch.value("Report size")
        launch.app.wait(lambda: int(launch.value("Lost")) >= ticks, what="their losses")
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")


def test_words_reach_the_recorder_byte_for_byte():
    line = "-w true -o 'my profile' python3 $'caf\\xe9.py' \"a 'b'\" ''"
    with Launch(TICKS, line) as launch:
        launch.app.wait(lambda: launch.dialog.find("check box"), what="what to trace")
        boxes = {box.name: box.state("checked") for box in launch.dialog.find_all("check box") if not box.name.startswith("--")}
        assert list(boxes.values()) == [True, False], boxes
        launch.press("Add a variable")
        launch.entry("NAME=VALUE").set_text("COLOR=a=b c")
        launch.press("Start")
        words, folder, color = launch.started()
        assert words == [b"profile", b"--progress-fd=3", b"--control-fd=4", b"-t", b"nvtx", b"-w", b"true",
                         b"-o", b"my profile", b"python3", b"caf\xe9.py", b"a 'b'", b""], words
        assert folder == os.fsencode(launch.cwd), folder
        assert color == "a=b c"
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")


def test_a_program_is_launched_where_the_viewer_was_started_or_where_a_person_says():
    """The dialog tells where the report goes, too, or why it goes nowhere."""
    where = tempfile.mkdtemp(prefix="shell-", dir=os.environ[harness.SESSION])
    other, last = os.path.join(where, "other é"), os.path.join(where, "last")
    os.mkdir(other)
    with Launch("say(type='finished', exit=0, signal=0)", cwd=where, last=last) as launch:
        folder, command = launch.entry("Working directory"), launch.entry("Command line with arguments")
        assert folder.text == where, folder.text
        launch.wait_for("Not known yet")
        command.set_text("python3")
        launch.wait_for(f"{where}/report7.rep")
        command.set_text("-o taken python3")
        launch.wait_for("taken.rep exists")
        command.set_text("python3")
        for typed, meant in (("other é", other), (other, other), (f"file://{where}", where)):
            folder.set_text(typed)
            launch.wait_for(f"{meant}/report7.rep")
        folder.set_text("")
        launch.app.wait(lambda: not launch.button("Start").state("sensitive"), what="Start off without a folder")
        folder.set_text("other é")
        launch.press("Start")
        assert launch.started()[1] == os.fsencode(other)
        launch.wait_for("The recorder ended without a report.")
        launch.app.focus(launch.app.windows()[-1])
        launch.app.key("Escape")
        launch.app.gone_node("frame", "Launch a Program")
        launch.app.activate("win.launch")
        launch.dialog = launch.app.find("frame", "Launch a Program")
        launch.app.wait(lambda: launch.entry("Working directory").text == other, what="the folder of last time")


def test_a_folder_that_is_not_there():
    with Launch(TICKS, "python3 train.py", cwd="/", last="/not/there") as launch:
        assert launch.entry("Working directory").text == "/not/there"
        launch.press("Start")
        launch.wait_for("/not/there")
        launch.button("Back")


def test_a_folder_that_does_not_answer():
    where = tempfile.mkdtemp(prefix="hung-", dir=os.environ[harness.SESSION])
    with Launch(TICKS, "python3 train.py", cwd="/", last=where, env={"LD_PRELOAD": HUNG_MOUNT, "LNS_HUNG_MOUNT": where}) as launch:
        assert launch.entry("Working directory").text == where
        launch.press("Start")
        launch.wait_for("Starting…")
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")
        launch.press("Back")
        launch.wait_for("Not known yet")
        assert not os.path.exists(os.path.join(launch.folder, "started.json"))


def test_switches_of_the_command_line_come_first():
    line = "-w true -t cuda,nvtx -s cpu --capture-range=cudaProfilerApi -o my_profile python junk.py"
    with Launch("say(type='finished', exit=0, signal=0)", line) as launch:
        launch.wait_for("Set on the command line by -t or --trace.")
        launch.press("Start")
        words, _, _ = launch.started()
        assert words[3:] == line.encode().split(), words
        launch.wait_for("The recorder ended without a report.")


def test_more_switches_are_rows():
    """One that is as it was says nothing, nor one that the command line has; those without effect have no row."""
    with Launch(TICKS, "--strict -w true python3 train.py") as launch:
        launch.wait_for("The report")
        assert not launch.dialog.find_all(None, lambda name: name in ("CPUs", "--sample", "--control-fd"))
        launch.click(launch.dialog.find("list item", "The report"))
        for words in ("Print <them> & more.", "For <whom>'s."):
            assert launch.dialog.find("label", words), f"{words} is not shown as it is"
        launch.app.wait(harness.steady(lambda: launch.dialog.find("check box", "--stats").extents()), what="the rows")
        box = launch.dialog.find("check box", "--stats")
        launch.click(box)
        launch.app.wait(lambda: box.state("checked"), what="--stats to turn")
        # What the command line says cannot be changed elsewhere.
        assert not launch.dialog.find("check box", "--show-output").state("sensitive")
        launch.entry("--output=PATH").set_text("a report")
        launch.press("Start")
        words, _, _ = launch.started()
        assert words[3:] == [b"-t", b"nvtx", b"--output=a report", b"--stats=true", b"--strict", b"-w", b"true", b"python3", b"train.py"], words
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")


def test_controls_show_what_the_command_line_says():
    with Launch(TICKS, "python3 train.py") as launch:
        launch.wait_for("The report")
        entry = launch.entry("Command line with arguments")
        launch.click(launch.dialog.find("list item", "The report"))
        launch.app.wait(harness.steady(lambda: launch.dialog.find("check box", "--stats").extents()), what="the rows")
        launch.click(launch.dialog.find("check box", "--stats"))
        launch.entry("--output=PATH").set_text("mine")

        def shown():
            boxes = launch.dialog.find_all("check box")
            texts = {node.name: node.text for node in launch.dialog.find_all("text")}
            return ([box.state("checked") for box in boxes if not box.name.startswith("--")],
                    [box.state("checked") for box in boxes if box.name.startswith("--")],
                    texts["--capture-range=none|nvtx"], texts["--output=PATH"],
                    bool(launch.dialog.find(None, "primary")))
        own = ([True, False], [True, True, False], "", "mine", False)
        launch.app.wait(lambda: shown() == own, what=f"{own}")
        entry.set_text("-t osrt -c nvtx --stats=false -w false --strict --wait=primary -o theirs python3")
        given = ([False, True], [False, False, True], "nvtx", "theirs", True)
        try:
            launch.app.wait(lambda: shown() == given, what=f"{given}")
        except AssertionError as error:
            raise AssertionError(f"{error}, not {shown()}") from error
        entry.set_text("--capture-range=none python3")
        launch.app.wait(lambda: shown() == own[:2] + ("none",) + own[3:], what="the person's own again, but for one")
        entry.set_text("python3")
        launch.app.wait(lambda: shown() == own, what="the person's own again")


def test_what_was_typed_is_there_again_and_typing_replaces_it():
    with Launch(TICKS, "python3 old.py") as launch:
        app = launch.app
        app.focus(app.windows()[-1])
        app.key("Escape")
        app.gone_node("frame", "Launch a Program")
        app.activate("win.launch")
        launch.dialog = app.find("frame", "Launch a Program")
        entry = launch.entry("Command line with arguments")
        app.wait(lambda: entry.text == "python3 old.py", what="what was typed, though it was never launched")
        app.focus(app.windows()[-1])
        app.type("new.sh")
        app.wait(lambda: entry.text == "new.sh", what="what was typed, alone")
        app.key("Return")
        assert launch.started()[0][-1] == b"new.sh"
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")


def test_a_program_that_fails_at_once_shows_its_last_words():
    play = "os.write(2, b'Traceback:\\nModuleNotFoundError: torch \\xff\\n')\n" \
           "say(type='finished', exit=1, signal=0)\nsys.exit(1)"
    with Launch(play, "python3 train.py") as launch:
        launch.press("Start")
        launch.wait_for("The program ended with code 1.")
        words = launch.dialog.find("text", "Last lines of standard error").text
        assert words == "Traceback:\nModuleNotFoundError: torch \ufffd", words
        launch.press("Back")
        assert launch.entry("Command line with arguments").text == "python3 train.py"


def test_errors_of_the_recorder_are_told():
    play = "say(type='error', code='LNS-RUN-001', text='“nowhere” was not found: check its name.')\nsys.exit(127)"
    with Launch(play, "nowhere") as launch:
        launch.press("Start")
        launch.wait_for("“nowhere” was not found: check its name.")


def test_a_signal_is_told():
    with Launch("say(type='finished', exit=0, signal=11)", "crash") as launch:
        launch.press("Start")
        launch.wait_for("The program was ended by signal 11")


def test_start_waits_for_a_whole_command_line():
    with Launch("") as launch:
        def startable():
            return launch.button("Start").state("sensitive")
        entry = launch.entry("Command line with arguments")
        assert not startable()
        for line, ready in (("python3", True), ("python3 'x", False), ("python3 | less", False),
                            ("-t nvtx", False), ("-t nvtx sleep", True)):
            entry.set_text(line)
            launch.app.wait(lambda: startable() == ready, what=f"Start {ready} for {line}")
        launch.press("Add a variable")
        launch.entry("NAME=VALUE").set_text("2X=1")
        launch.app.wait(lambda: not startable(), what="Start off for a bad variable")
        launch.press("Remove the variable")
        launch.app.wait(startable, what="Start again")


def test_a_chosen_path_is_quoted():
    with Launch("", "-t nvtx") as launch:
        path = os.path.join(launch.folder, "it's a model.py")
        open(path, "w").close()
        launch.app.find("push button", "Insert the path of a file").do()
        launch.app.find(None, "Insert a Path")
        launch.app.wait(lambda: len(launch.app.windows()) > 2, what="the chooser's window")
        launch.app.type(path)
        launch.app.key("Return")
        entry = launch.entry("Command line with arguments")
        launch.app.wait(lambda: entry.text != "-t nvtx", what="the path")
        assert shlex.split(entry.text) in (["-t", "nvtx", path], [path, "-t", "nvtx"]), entry.text


def test_no_recorder():
    with Launch("", "true") as launch:
        os.remove(launch.tool)
        launch.press("Start")
        launch.wait_for("lanescope")
        launch.button("Back")


def test_closing_asks_while_recording():
    with Launch(TICKS, "python3 train.py") as launch:
        launch.press("Start")
        launch.wait_for("Recording")
        launch.app.activate("win.close")
        launch.app.find(None, "Stop the Recording?")
        launch.app.find("push button", "Stop")
        [button for button in launch.app.find_all("push button", lambda name: "Keep Recording" in name)][0].do()
        launch.app.gone_node(None, "Stop the Recording?")
        assert launch.dialog.find(None, "Recording")
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")


assert sys.version_info >= (3, 9) and tap.BUILD
harness.main(globals())
