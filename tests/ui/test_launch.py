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
    if "vulkan" in sys.argv:
        sys.stderr.write("lanescope: warning: --vulkan: ignored; nothing draws [LNS-SWITCH-001]\n")
    if "taken" in sys.argv:
        sys.exit("lanescope: error: taken.rep exists")
    print(end=sys.argv[2] + "/report7.rep")
    sys.exit(0)
if sys.argv[1] == "status":
    print(json.dumps({"data": [
        {"data": "nvtx", "title": "NVTX ranges", "switch": "(by default)", "recordable": "yes", "code": None, "reason": None},
        {"data": "osrt", "title": "C library calls", "switch": "--trace=osrt", "recordable": "no", "code": None,
         "reason": "the kernel is odd; run `sudo mend it`"},
        {"data": "mpi", "title": "MPI calls", "switch": "--trace=mpi", "recordable": "limited", "code": None, "reason": "a bit"},
        {"data": "modules", "title": "Python functions", "switch": "--modules=FILE", "recordable": "yes"}]}))
    sys.exit(0)
if sys.argv[1] == "--capabilities=json":
    print(json.dumps({"version": "1", "commands": [{"name": "profile", "groups": [
        {"tag": "report", "title": "The report"}, {"tag": "cpu", "title": "CPUs"}], "switches": [
        {"name": "output", "letter": "o", "kind": "text", "tag": "report", "value": "PATH", "help": "Where to."},
        {"name": "stats", "kind": "bool", "tag": "report", "default": "false", "help": "Print <them> & more. Takes a while."},
        {"name": "show-output", "letter": "w", "kind": "bool", "tag": "report", "default": "true", "help": "Show it."},
        {"name": "strict", "kind": "flag", "tag": "report", "help": "Be strict."},
        {"name": "capture-range", "kind": "text", "letter": "c", "tag": "report", "value": "none|nvtx", "choices": ["none", "nvtx"],
         "default": "none", "help": "From when on."},
        {"name": "wait", "kind": "choice", "tag": "report", "choices": ["primary", "all"], "default": "all", "help": "For <whom>'s."},
        {"name": "sample", "kind": "choice", "tag": "cpu", "choices": ["cpu", "none"], "help": "Sample.", "instead": "not yet"},
        {"name": "control-fd", "kind": "integer", "tag": "report", "help": "Obey."},
        {"name": "parts", "kind": "list", "tag": "cpu", "choices": ["none", "arms", "legs"], "default": "none", "help": "Which parts."},
        {"name": "modules", "kind": "text", "tag": "cpu", "value": "FILE", "help": "Which modules."},
        {"name": "trace", "letter": "t", "kind": "list", "choices": ["nvtx", "osrt", "mpi", "none"], "default": "nvtx"}]}]}))
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

    def reveal(self, node):
        """Turns the wheel until NODE is in view, and clicks it."""
        window = self.app.windows()[-1]
        left, top, width, height = self.app.geometry(window)

        def is_in_view():
            y = node.extents((left, top))[1]
            inside = top + 80 < y < top + height - 60
            if not inside:
                self.app.scroll(left + width // 2, top + height // 2, 1 if y > top + 80 else -1)
            return inside
        self.app.wait(is_in_view, what=f"{node!r} in view")
        self.app.wait(harness.steady(lambda: node.extents()), what="an end of scrolling")
        return self.click(node)

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
        launch.press("Add a variable")
        launch.entry("NAME=VALUE").set_text("COLOR=a=b c")
        launch.press("Start")
        words, folder, color = launch.started()
        assert words == [b"profile", b"--progress-fd=3", b"--control-fd=4", b"-w", b"true",
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


def checked(launch, name):
    return launch.dialog.find("check box", name).state("checked")


def test_a_pasted_line_is_launched_as_it_is():
    line = "-w true -t cuda,nvtx -s cpu --capture-range=cudaProfilerApi -o my_profile python junk.py"
    with Launch("say(type='finished', exit=0, signal=0)") as launch:
        launch.wait_for("The report")
        entry = launch.entry("Command line with arguments")
        entry.set_text("COLOR='a b' nsys profile \\\n  " + line)
        assert launch.entry("NAME=VALUE").text == "COLOR=a b"
        launch.press("Start")
        words, _, color = launch.started()
        assert words[3:] == line.encode().split() and color == "a b", (words, color)
        launch.wait_for("The recorder ended without a report.")


def test_controls_and_the_command_line_say_the_same():
    """What either says the other shows, and a switch is where it was typed."""
    with Launch(TICKS, "run.sh 'a  b'") as launch:
        launch.wait_for("The report")
        entry = launch.entry("Command line with arguments")

        def shows(text):
            launch.app.wait(lambda: entry.text == text, what=f"{text!r}, not {entry.text!r}")
        launch.app.wait(lambda: checked(launch, "NVTX: the program's own ranges, marks and counters"), what="what is traced")
        box = launch.dialog.find("check box", lambda name: name.startswith("Operating system calls"))
        launch.reveal(box)
        shows("--trace=nvtx,osrt run.sh 'a  b'")
        entry.set_text("lanescope profile -t none --strict run.sh")
        launch.app.wait(lambda: not box.state("checked") and checked(launch, "Be strict"), what="what was typed")
        launch.reveal(box)
        shows("lanescope profile -t osrt --strict run.sh")
        launch.reveal(launch.dialog.find("list item", "The report"))
        launch.reveal(launch.app.wait(lambda: launch.dialog.find("check box", "Be strict"), what="the rows"))
        shows("lanescope profile -t osrt run.sh")
        launch.reveal(launch.dialog.find("check box", "Print <them> & more"))
        shows("lanescope profile -t osrt --stats=true run.sh")
        launch.entry("Where to").set_text("a report")
        shows("lanescope profile -t osrt --stats=true --output='a report' run.sh")
        entry.set_text("-o there --parts=legs,head --wait=primary --show-output=false x")
        launch.app.wait(lambda: launch.entry("Where to").text == "there" and launch.dialog.find(None, "legs,head") and
                        launch.dialog.find(None, "primary") and not checked(launch, "Show it"), what="what was typed")
        launch.reveal(launch.dialog.find("list item", "CPUs"))
        launch.reveal(launch.app.wait(lambda: launch.dialog.find("push button", "Which parts"), what="the parts"))
        launch.app.key("space")
        shows("-o there --parts=arms,legs,head --wait=primary --show-output=false x")
        launch.app.key("Escape")


def test_variables_are_part_of_the_command_line():
    with Launch(TICKS, "run.sh") as launch:
        entry = launch.entry("Command line with arguments")
        launch.press("Add a variable")
        launch.entry("NAME=VALUE").set_text("COLOR=a b")
        launch.app.wait(lambda: entry.text == "COLOR='a b' run.sh", what=f"the variable in {entry.text}")
        entry.set_text("COLOR=blue LIGHT=on run.sh")
        launch.app.wait(lambda: [row.text for row in launch.dialog.find_all("text", "NAME=VALUE")] == ["COLOR=blue", "LIGHT=on"],
                        what="two rows")
        launch.press("Remove the variable")
        launch.app.wait(lambda: entry.text == "LIGHT=on run.sh", what=f"no colour in {entry.text}")


def test_presets_set_what_is_recorded():
    """Those of another preset go; all else stays. A choice that the recorder lacks is left out."""
    with Launch(TICKS, "-o x run.sh") as launch:
        entry = launch.entry("Command line with arguments")
        launch.wait_for("This Machine")
        preset = launch.app.wait(lambda: launch.dialog.find("list item", lambda name: name.startswith("Preset")) or
                                 launch.dialog.find(None, lambda name: name.startswith("Preset")), what="presets")

        def choose(steps):
            launch.click(preset)
            launch.app.key(*steps, "Return")
        choose(["End", "Up"])
        launch.app.wait(lambda: entry.text == "-o x --trace=nvtx,mpi run.sh", what=f"everything, not {entry.text}")
        choose(["Home", "Down", "Down"])
        launch.app.wait(lambda: entry.text == "-o x --trace=nvtx,osrt run.sh", what=f"a CPU program, not {entry.text}")
        entry.set_text("-t mpi run.sh")
        launch.app.wait(lambda: launch.dialog.find("label", "Custom"), what="no preset")


def test_the_dialog_says_what_the_machine_cannot_record_and_what_to_do():
    with Launch(TICKS, "run.sh") as launch:
        launch.wait_for("3 of 4 kinds of data")
        assert len(launch.dialog.find_all("label", "the kernel is odd; run `sudo mend it`")) == 2
        launch.button("Copy “sudo mend it”")


def test_the_same_command_for_a_terminal():
    """Pasted back, it sets the folder, too."""
    folder = tempfile.mkdtemp(prefix="shell-", dir=os.environ[harness.SESSION])
    with Launch(TICKS, "A=b nsys profile -t nvtx run.sh 'c  d'", cwd=folder) as launch:
        launch.wait_for(f"cd {folder} && A=b lanescope profile -t nvtx run.sh 'c  d'")
        entry = launch.entry("Command line with arguments")
        launch.click(launch.button("Copy the command"))
        launch.entry("Working directory").set_text("/")
        entry.set_text("other")
        launch.click(entry)
        launch.app.key("ctrl+a", "ctrl+v")
        launch.app.wait(lambda: entry.text == "A=b lanescope profile -t nvtx run.sh 'c  d'", what="the copy")
        assert launch.entry("Working directory").text == folder


def test_what_is_ignored_is_said_before_the_start():
    with Launch(TICKS, "sudo lanescope profile vulkan") as launch:
        launch.wait_for("Without sudo:")
        launch.wait_for("--vulkan: ignored; nothing draws")


def test_recent_commands():
    """Newest first, each once, with its folder; chosen and forgotten by the keyboard; kept for nobody else to read."""
    home, folder = (tempfile.mkdtemp(prefix="recent-", dir=os.environ[harness.SESSION]) for _ in range(2))
    with Launch("say(type='finished', exit=0, signal=0)", cwd=home) as launch:
        entry = launch.entry("Command line with arguments")
        for line, where in (("first", home), ("TOKEN=a second", folder), ("first", home)):
            launch.entry("Working directory").set_text(where)
            entry.set_text(line)
            launch.press("Start")
            launch.wait_for("The recorder ended without a report.")
            launch.press("Back")
        path = os.path.join(launch.app.env["XDG_STATE_HOME"], "lanescope", "commands.json")

        def kept():
            with open(path, encoding="utf-8") as file:
                return [command["line"] for command in json.load(file)]
        launch.app.wait(lambda: os.path.exists(path) and kept() == ["first", "TOKEN=a second"], what="two commands, newest first")
        assert os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode)

        def open_list():
            launch.app.wait(harness.steady(lambda: launch.dialog.find("push button", "Recent commands").extents()), what="a still page")
            launch.click(launch.dialog.find("push button", "Recent commands"))
            launch.app.wait(lambda: any(row.state("focused") for row in launch.dialog.find_all("list item", "first")), what="the list")
        open_list()
        launch.app.key("Down", "Return")
        launch.app.wait(lambda: entry.text == "TOKEN=a second" and launch.entry("Working directory").text == folder, what="the second")
        open_list()
        launch.app.key("Delete")
        launch.app.wait(lambda: kept() == ["TOKEN=a second"], what="the first forgotten")


def test_return_launches_and_shift_return_parts_the_line():
    with Launch(TICKS) as launch:
        launch.app.focus(launch.app.windows()[-1])
        launch.app.type("run")
        launch.app.key("shift+Return")
        launch.app.type("x")
        entry = launch.entry("Command line with arguments")
        launch.app.wait(lambda: entry.text == "run\nx", what="two lines")
        launch.app.key("Return")
        assert launch.started()[0][3:] == [b"run", b"x"]
        launch.press("Stop")
        launch.wait_for("The recorder ended without a report.")


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
