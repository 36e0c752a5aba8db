# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the window around a report: start page, opening, files that cannot be opened, menus, themes, panes."""

import gzip
import contextlib
import json
import lzma
import os
import re
import sqlite3
import subprocess
import tempfile

import harness
import tap

HUNG_MOUNT = os.path.join(tap.BUILD, "tests", "ui", "libhung-mount.so")
MAKE_REPORT = os.path.join(tap.BUILD, "tests", "ui", "make-report")


def folder():
    return tempfile.mkdtemp(prefix="shell-", dir=os.environ[harness.SESSION])


def make_report(*words, name="demo.rep", where=None):
    path = os.path.join(where or folder(), name)
    subprocess.run([MAKE_REPORT, path, *words], check=True)
    return path


def subtitle(app):
    """All that the header bar says of the report."""
    return app.root.find("filler", "AdwWindowTitle").find_all("label")[1].name


def title(app):
    """(title, how many events and how long) of the header bar. Steps come behind that when they are found."""
    labels = app.root.find("filler", "AdwWindowTitle").find_all("label")
    return tuple(" · ".join(label.name.split(" · ")[:2]) for label in labels)


def opened(app, name="demo.rep"):
    app.wait(lambda: title(app) and title(app)[0] == name and len(title(app)) == 2, what=f"{name} to be open")


# --- Start and opening

def test_start_page():
    with harness.App() as app:
        app.find("label", "Lanescope")
        assert app.root.find("push button", "Open…") and app.root.find("push button", "Launch…")
        assert app.root.find("label", "Recent Reports") is None or not app.root.find_all("list item")
        enabled = {name for name, (on, *_) in app.actions().items() if on}
        assert enabled == {"open", "open-uri", "drop-uri", "launch", "search", "close", "close-tab", "show-help-overlay", "show-legend"}, enabled


def test_a_sample():
    folder = os.path.dirname(make_report())
    with harness.App(env={"LNS_SAMPLES": folder}) as app:
        app.find("push button", "Open a Sample").do()
        opened(app)
        assert title(app)[0] == "demo.rep", title(app)
    with harness.App(env={"LNS_SAMPLES": "/nowhere"}) as app:
        app.find("push button", "Open…")
        assert app.root.find("push button", "Open a Sample") is None


def shown(ns):
    """A duration of less than a second as the viewer shows it."""
    return f"{ns / 1e6:.3f} ms" if ns >= 1e6 else f"{ns / 1e3:.3f} µs"


def sentence(clause):
    return f"{clause[0].upper()}{clause[1:]}."


def test_the_window_says_why():
    sample = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")
    done = subprocess.run([tap.LANESCOPE, "why", "--format=json", sample], capture_output=True, check=True)
    answer = json.loads(done.stdout)
    longest = max(answer["findings"][0]["events"], key=lambda event: event["to"] - event["from"])
    with harness.App(sample) as app:
        app.find("label", answer["verdict"])
        app.find("push button", "Show the Longest").do()
        # "8.87522 ms", in the pane about the time that is selected
        app.find("label", f"{(longest['to'] - longest['from']) / 1e6:.6f}".rstrip("0") + " ms")
        app.find("push button", f"{len(answer['findings'])} Findings, {len(answer['abstained'])} Not Known").do()
        for finding in answer["findings"][:3]:
            app.find("label", finding["sentence"])
        app.find("label", sentence(answer["next"]))
        second = answer["findings"][1]
        app.find("label", second["sentence"]).click()
        app.find("label", sentence(second["advice"]))
        links = [f"{shown(event['to'] - event['from'])} at {shown(event['from'])}" for event in second["events"]]
        app.find("label", "Evidence: " + " · ".join(links))
        app.find("label", second["sql"])
        longest = max(second["events"], key=lambda event: event["to"] - event["from"])
        app.find("label", f"{(longest['to'] - longest['from']) / 1e6:.6f}".rstrip("0") + " ms")
        app.find("push button", "Close").do()
        app.gone_node("label", answer["verdict"])


def test_a_process_is_told_by_its_gpus():
    """Where it was not recorded when threads ran: ranges and calls cover all of the time, and its GPU worked for a fiftieth of it. How much
    that is, its row does not say: streams that work at once count twice in its picture."""
    with harness.App(os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")) as app:
        row = app.find("table row", "cuda-training (19804)")
        app.activate("win.collapse-all")
        left, _, width, _ = app.find("image", "Overview").extents()
        _, top, _, height = row.extents()

        def drawn():
            line = app.pixels(left, top + height // 2, width, 1)[0]
            return sum(blue > red + 30 for red, _, blue in line)
        app.wait(drawn, what="the GPU work")
        assert drawn() < width / 4 and "%" not in row.description, (drawn(), width, row.description)


def test_steps_are_the_overview():
    """A bar each; the slow one is warm, and a click on it selects it."""
    sample = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")
    done = subprocess.run([tap.LANESCOPE, "why", "--format=json", sample], capture_output=True, check=True)
    steps = json.loads(done.stdout)["steps"]
    slow = steps["outliers"][0]
    with harness.App(sample) as app:
        overview = app.find("image", "Overview")
        x, y, width, height = overview.extents()

        def warm():
            row = app.pixels(x, y + height - 2, width, 1)[0]
            return [i for i, (red, _, blue) in enumerate(row) if red > blue + 40]

        app.wait(warm, what="the bar of the slow step")
        found = warm()
        assert found == list(range(found[0], found[-1] + 1)), f"{len(steps['outliers'])} slow step, but {found}"
        app.click(x + found[len(found) // 2], y + height // 2)
        duration = f"{(slow['end'] - slow['start']) / 1e6:.6f}".rstrip("0")
        app.find("label", f"{duration} ms")
        app.activate("win.show-steps")
        table = app.find("tree table", "Steps")
        app.wait(lambda: table.find("label", shown(slow["end"] - slow["start"])), what="the slow step in the table")
        assert table.find("label", f"{(slow['end'] - slow['start']) / steps['p50_ns']:.1f}"), "times the median"


def test_ways_from_what_is_selected():
    """By keys and menu to the next event of the name, the next long idle time, and the next step."""
    sample = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")

    def told(statement):
        done = subprocess.run([tap.LANESCOPE, "sql", sample, statement], capture_output=True, text=True, check=True)
        return [tuple(map(int, line.split("\t"))) for line in done.stdout.splitlines()]
    loads = told("SELECT start, end FROM NVTX_EVENTS WHERE text = 'load' ORDER BY start")
    steps = told('SELECT start, "end" FROM LNS_STEPS ORDER BY start')
    with harness.App(sample, size=(1400, 900)) as app:
        app.find("push button", "Show the Longest")

        def selects(span, action):
            """ACTION selects the event or the time of SPAN, as the details say."""
            app.activate(action)
            app.find("label", f"{(span[1] - span[0]) / 1e6:.6f}".rstrip("0") + " ms")
        app.activate("win.find")
        app.find("text", "Find events by name").set_text("load")
        app.wait(lambda: app.root.find("label", lambda name: " match" in name or " name" in name), what="the matches")
        selects(loads[0], "win.find-next")
        selects(loads[1], "win.next-alike")
        selects(loads[2], "win.next-alike")
        selects(loads[1], "win.previous-alike")
        longest = sorted(loads, key=lambda span: span[0] - span[1])[:5]
        assert loads[0] not in longest
        selects(loads[0], "win.previous-alike")
        selects(longest[0], "win.next-longest")
        app.find("label", "Longest: " + ", ".join(f"{(end - start) / 1e6:.3f}\u00a0ms" for start, end in longest))
        selects(longest[1], "win.next-longest")
        selects(longest[2], "win.next-longest")
        selects(longest[1], "win.previous-longest")
        middle = (min(s for s, _ in steps) + max(e for _, e in steps)) / 2
        app.activate("win.zoom-fit")
        app.activate("win.next-step")
        first = next(k for k, (start, _) in enumerate(steps) if start > middle - 2_000_000)
        app.wait(lambda: any(f"{(e - s) / 1e6:.6f}".rstrip("0") + " ms" in [n.name for n in app.root.find_all("label")] for s, e in steps[first:first + 2]), what="a step")
        app.activate("win.previous-idle")
        app.find("label", "Selected Time")


def test_the_first_picture_is_of_the_work():
    """A program that started for most of the time: what its verdict is about is in view, and the whole is one key away."""
    report = os.path.join(folder(), "loader.rep")
    with lzma.open(os.path.join(tap.SOURCE, "tests", "answers", "device", "loader.rep.xz")) as packed, open(report, "wb") as file:
        file.write(packed.read())
    with harness.App(report) as app:
        verdict = app.wait(lambda: [n.name for n in app.root.find_all("label") if " between its first and last work" in n.name], what="the verdict")[0]
        work = float(re.search(r"of ([\d.]+) s between", verdict).group(1))

        def in_view():
            shown = [re.search(r"([\d.]+) s of ([\d.]+) s in view", n.name) for n in app.root.find_all("label")]
            return next((tuple(map(float, match.groups())) for match in shown if match), None)
        shown, whole = app.wait(in_view, what="how much is in view")
        assert work < shown < 1.1 * work and whole > 4 * shown, (verdict, shown, whole)
        assert title(app)[1].endswith(f" · {whole:.3f} s"), (title(app), whole)
        assert subtitle(app).endswith(f" · {whole:.3f} s · 40 steps · NVIDIA H200"), subtitle(app)
        app.activate("win.zoom-fit")
        app.wait(lambda: not in_view(), what="the whole report")


def test_the_window_says_where_no_cause_is_known():
    """Of a report without events, too."""
    report = os.path.join(tempfile.mkdtemp(dir=os.environ[harness.SESSION]), "none.rep")
    subprocess.run([tap.LANESCOPE, "profile", "-t", "none", "-s", "none", "--cpuctxsw=none", "-o", report, "true"], check=True, capture_output=True)
    with harness.App(report) as app:
        app.find("label", "The report does not record where the time went.")


def test_without_a_display():
    for display in ("", ":9999"):
        run = subprocess.run([harness.VIEWER, make_report()], env=dict(os.environ, DISPLAY=display), capture_output=True, text=True)
        assert run.returncode == 125 and run.stderr.startswith("lanescope: error: cannot open a display"), run
        assert run.stderr.count("\n") == 1, run.stderr


def test_help_and_version_need_no_display():
    def ask(word):
        environment = dict(os.environ, DISPLAY="", WAYLAND_DISPLAY="", LC_ALL="C.UTF-8")
        return subprocess.run([harness.VIEWER, word], env=environment, capture_output=True, text=True)
    run = ask("--version")
    assert (run.returncode, run.stderr) == (0, "") and run.stdout == ask("-v").stdout and run.stdout.startswith("lanescope-ui 0."), run
    run = ask("--help")
    assert (run.returncode, run.stderr) == (0, "") and "[REPORT…]" in run.stdout and "--version" in run.stdout, run


def test_opens_what_is_named():
    with harness.App(make_report()) as app:
        opened(app)
        assert title(app) == ("demo.rep", "350 events · 99.900 ms"), title(app)


def test_the_title_tells_how_long_was_recorded():
    """Not how long the session had run before: a report of `lanescope start --keep` may begin late in it."""
    path = make_report()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO lns_meta VALUES ('keep_ns', '60000000')")
        database.commit()
    with harness.App(path) as app:
        opened(app)
        assert title(app) == ("demo.rep", "350 events · 60.000 ms"), title(app)
        assert "duration: 60.000 ms\n" in subprocess.run([tap.LANESCOPE, "info", path], capture_output=True, text=True, check=True).stdout


def test_opens_by_the_name_that_nsys_would_have_given():
    with harness.App(make_report(name="profile.11264040.rep").replace(".rep", ".nsys-rep")) as app:
        opened(app, "profile.11264040.rep")


def test_open_dialog():
    path = make_report()
    with harness.App() as app:
        app.focus()
        app.key("ctrl+o")
        app.find(None, "Open Reports")
        app.wait(lambda: len(app.windows()) > 1, what="the dialog's window")
        app.type(path)
        app.key("Return")
        opened(app)


def remembered(app, path):
    """Waits until GTK has written that PATH was opened, which it does a quarter of a second later."""
    recent = os.path.join(os.environ["XDG_DATA_HOME"], "recently-used.xbel")

    def is_written():
        with open(recent, encoding="utf-8") as file:
            return os.path.basename(path) in file.read()
    app.wait(lambda: os.path.exists(recent) and is_written(), what=f"{path} among the recent reports")


def test_recent_reports():
    path = make_report(name="a_b.rep")
    with harness.App(path) as app:
        opened(app, "a_b.rep")
        remembered(app, path)
    with harness.App() as app:
        row = app.find("list item", "a_b.rep")
        assert row.description == path, row.description
        app.find("menu item", "File").click()
        app.find("menu item", "Open Recent")
        app.key("Escape")
        row.click()
        opened(app, "a_b.rep")
    os.remove(path)
    with harness.App() as app:
        app.find("push button", "Launch…")
        assert app.root.find("list item", "a_b.rep") is None


def test_a_path_that_is_not_utf8():
    path = os.path.join(os.fsencode(folder()), b"caf\xe9.rep")
    os.rename(make_report(), path)
    with harness.App(path) as app:
        app.wait(lambda: title(app)[0].startswith("caf") and title(app)[1:] == ("350 events · 99.900 ms",))


def test_a_file_name_hides_nothing():
    where = os.path.join(folder(), "a\u202ebdc")
    os.mkdir(where)
    path = make_report(name="x\u202eper.txt.rep", where=where)
    with harness.App(path) as app:
        opened(app, "x\\u202Eper.txt.rep")
        remembered(app, "per.txt.rep")
        assert harness.run("xdotool", "getwindowname", str(app.window)) == "x\\u202Eper.txt.rep"
    with harness.App() as app:
        row = app.find("list item", "x\\u202Eper.txt.rep")
        assert row.description == path.replace("\u202e", "\\u202E"), row.description
    with open(path, "w") as file:
        file.write("no report")
    with harness.App(path) as app:
        app.find("label", "The Report Could Not Be Opened")
        hidden = [node.name for node in app.find_all("label") if "\u202e" in node.name]
        assert not hidden, hidden


# --- What cannot be opened

def errors_of(path):
    """Opens PATH and returns (the sentence, whether Recover is offered)."""
    with harness.App(path) as app:
        app.find("label", "The Report Could Not Be Opened")
        page = app.root.find("panel", "The Report Could Not Be Opened")
        sentence = page.find_all("label")[1].name
        assert app.actions()["reload"][0] and not app.actions()["zoom-in"][0]
        return sentence, app.actions()["recover"][0]


def test_bad_files_get_a_sentence_each():
    where = folder()
    report = make_report(where=where)
    empty = os.path.join(where, "empty.rep")
    open(empty, "w").close()
    text = os.path.join(where, "text.rep")
    with open(text, "w") as file:
        file.write("not a report " * 1000)
    other = os.path.join(where, "other.rep")
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (x)")
    cut = os.path.join(where, "cut.rep")
    with open(report, "rb") as source, open(cut, "wb") as target:
        target.write(source.read(os.path.getsize(report) * 2 // 3))
    foreign = os.path.join(where, "foreign.nsys-rep")
    with open(foreign, "wb") as file:
        file.write(b"of nsys" * 1000)
    readme = os.path.join(where, "README.md")
    with open(readme, "w") as file:
        file.write("# A file of words\n" * 1000)
    picture = os.path.join(where, "picture.png")
    with open(picture, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    noise = os.path.join(where, "noise.rep")
    with open(noise, "wb") as file:
        # Bytes as those of a damaged page may be, and what only looks like a chunk.
        file.write((bytes(64) + bytes(range(256))) * 400 + b"LNSCHNK1" + bytes(range(200)))
    for path in (readme, picture, noise):
        assert errors_of(path)[1] is False, path
    seen = {}
    for path, recoverable in ((where, False), (foreign, False), (empty, False), (os.path.join(where, "none.rep"), False),
                              (other, False), (cut, True)):
        sentence, offered = errors_of(path)
        assert os.path.basename(path) in sentence, sentence
        assert offered == recoverable, (sentence, offered)
        seen[path] = sentence.replace(path, "").replace(os.path.basename(path), "")
    assert len(set(seen.values())) == len(seen), seen
    sentence, offered = errors_of(text)
    assert "text.rep" in sentence and not offered, sentence


def is_opening(app):
    return app.actions()["cancel-opening"][0]


def waits_for(app, path):
    """The window says that it waits for PATH, and can be closed."""
    assert app.find("panel", "Opening…").find("label", path)
    assert is_opening(app)
    app.activate("win.close")
    app.process.wait(60)


def test_a_pipe_that_says_nothing_more():
    path = os.path.join(folder(), "pipe.json")
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    try:
        # Of the bytes that tell the kind of a file, all that the first look takes, and not all for the second.
        os.write(pipe, b" " * 101)
        with harness.App(path) as app:
            waits_for(app, path)
    finally:
        os.close(pipe)


def test_a_mount_that_does_not_answer():
    where = folder()
    recent = make_report(where=where)
    with harness.App(recent) as app:
        opened(app)
    # Neither what was opened last, nor a report of the name that nsys would have given, nor a report.
    for name in ("demo.rep", "demo.nsys-rep"):
        path = os.path.join(where, name)
        with harness.App(path, env={"LD_PRELOAD": HUNG_MOUNT, "LNS_HUNG_MOUNT": where}) as app:
            app.find("panel", "Opening…")
            app.activate("win.cancel-opening")
            app.wait(lambda: not is_opening(app), what="the end of the wait")
            app.activate("win.open-uri", f"'file://{path}'")
            app.wait(lambda: is_opening(app), what="the next wait")
            waits_for(app, path)


def test_what_others_recorded_is_imported():
    where = folder()
    export = os.path.join(where, "other.sqlite")
    subprocess.run([tap.LANESCOPE, "export", "-q", "-o", export, make_report(where=where)], check=True)
    with harness.App(export) as app:
        opened(app, "other.sqlite")
        # What a capture notes beside events of its own is no row of an export.
        assert title(app)[1].endswith(" events · 99.900 ms"), title(app)
    trace = os.path.join(where, "trace.json.gz")
    with gzip.open(trace, "wt") as file:
        json.dump({"traceEvents": [{"ph": "X", "pid": "Spans", "tid": "loop", "ts": 0, "dur": 100000, "name": "step", "cat": "Trace"}]}, file)
    with harness.App(trace) as app:
        opened(app, "trace.json.gz")
        assert title(app)[1] == "1 event · 100.000 ms", title(app)
        # They have names alone, no numbers.
        app.find("label", "Spans")
        app.find("label", "loop")
    assert sorted(os.listdir(where)) == ["demo.rep", "other.sqlite", "trace.json.gz"]


def test_a_trace_of_pytorch_is_imported():
    trace = os.path.join(folder(), "trace.json.gz")
    events = [{"ph": "X", "cat": "user_annotation", "name": f"step {i}", "pid": 7, "tid": 7, "ts": 100.0 * i, "dur": 50.0} for i in range(20)]
    with gzip.open(trace, "wt", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    with harness.App(trace) as app:
        opened(app, "trace.json.gz")
        assert title(app)[1] == "20 events · 1.950 ms", title(app)


def test_recover():
    path = make_report()
    with open(path, "r+b") as file:
        file.seek(0)
        file.write(bytes(4096))
    with harness.App(path) as app:
        app.find("push button", "Recover").do()
        opened(app)
        assert title(app)[1].startswith("350 events"), title(app)
        app.find("label", lambda name: name.startswith("The report is damaged"))


def test_recovery_that_failed_is_not_offered_again():
    path = make_report()
    with open(path, "r+b") as file:
        content = file.read()
        # The first chunk stays; whatever follows its header is gone.
        at = content.index(b"LNSCHNK1") + 64
        file.seek(0)
        file.write(bytes(100))
        file.seek(at)
        file.write(bytes(len(content) - at))
    with harness.App(path) as app:
        app.find("push button", "Recover").do()
        app.wait(lambda: app.root.find("push button", "Open Another…") and not app.root.find("push button", "Recover"),
                 what="an error without an offer")
        assert not app.actions()["recover"][0]


def test_another_report_takes_the_place_of_an_error():
    with harness.App(folder()) as app:
        app.find("label", "The Report Could Not Be Opened")
        app.activate("win.open-uri", f"'file://{make_report()}'")
        opened(app)
        assert len(app.find_all("frame")) == 1


# --- What the report says of itself

def test_losses_and_diagnostics():
    with harness.App(make_report("diagnostics", "lost")) as app:
        opened(app)
        app.find("label", lambda name: name.startswith("1,234 events were lost"))
        # As the pane says, with what the doctor finds.
        button = app.find("push button", "3")
        assert button.description == "3 warnings and errors", button.description
        button.do()
        table = app.find("tree table", "Diagnostics")
        # What the doctor finds comes after what was written while recording.
        app.wait(lambda: table.find("label", "LNS-TEST-003") and table.find("label", "LNS-DOCTOR-004"), what="the rows")
        cells = [label.name for label in table.find_all("label")]
        assert cells[cells.index("Error"):][:5] == \
            ["Error", "0.034000000 s", "train (4711)", "LNS-TEST-003",
             "The disk is full: nothing was recorded until there was room again."], cells
        codes = [cell for cell in cells if cell.startswith("LNS-")]
        assert codes == ["LNS-TEST-003", "LNS-TEST-002", "LNS-TEST-001", "LNS-DOCTOR-004"], codes
        assert cells[-1].startswith("1,234 events are lost: record with a larger --buffer-size"), cells
        assert app.root.find("page tab", "Diagnostics  3"), "the tab counts what is no error and no warning, or not all that is"


def test_cuda_that_was_asked_for_and_is_not_there():
    tap.program("demo")  # what is built without CUDA's headers records none
    path = os.path.join(folder(), "none.rep")
    subprocess.run([tap.LANESCOPE, "profile", "-t", "cuda", "-o", path, "/bin/true"], check=True, capture_output=True)
    with harness.App(path) as app:
        opened(app, "none.rep")
        reason = app.find("label", lambda name: name.startswith("No CUDA events were seen: ")).name
        app.activate("win.show-diagnostics")
        # All of the sentence can be read, which takes more than a line.
        row = app.find("label", lambda name: name.startswith("no CUDA events were seen: "))
        assert row.name == reason[0].lower() + reason[1:].rstrip("."), (row.name, reason)
        app.wait(lambda: row.extents()[3] > 1.5 * app.root.find("label", "Severity").extents()[3], what="its lines")
    with harness.App(make_report()) as app:
        opened(app)
        assert app.root.find("label", lambda name: name.startswith("No CUDA")) is None


def test_no_diagnostics():
    with harness.App(make_report()) as app:
        opened(app)
        app.activate("win.show-diagnostics")
        app.find("label", lambda name: name.startswith("No diagnostics"))


def test_a_recording_is_followed_to_its_end():
    path = os.path.join(folder(), "demo.rep")
    writer = subprocess.Popen([MAKE_REPORT, path, "recording"], stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"committed\n"
        with harness.App(path) as app:
            opened(app)
            app.find("label", lambda name: name.startswith("Recording: "))
            writer.kill()
            writer.wait()
            told = app.find("label", lambda name: name.startswith("The recording was cut off")).name
            printed = harness.run(tap.LANESCOPE, "info", path).splitlines()
            missing = next(line for line in printed if line.startswith("missing: "))
            after = missing.removeprefix("missing: everything after ")
            assert after != missing and told.endswith(f": everything after {after} is missing."), (told, missing)
    finally:
        writer.kill()
        writer.communicate()


def test_a_recording_grows_on_the_screen():
    """The writer adds to the report when it is told to, and ends when it is."""
    path = os.path.join(folder(), "growing.rep")
    writer = subprocess.Popen([MAKE_REPORT, path, "growing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"committed\n"
        with harness.App(path) as app:
            opened(app, "growing.rep")

            def subtitle(text):
                app.wait(lambda: app.root.find("label", lambda name: name.startswith(text)), what=text)

            subtitle("350 events · recording, ")
            app.find("label", lambda name: name.startswith("Recording: ") and ", nothing lost" in name)
            assert app.root.find("table row", lambda name: name.startswith("late")) is None
            for n in (1, 2):
                writer.stdin.write(b"more\n")
                writer.stdin.flush()
                assert writer.stdout.readline() == b"committed\n"
                subtitle(f"{350 + 10 * n} events · recording, ")
                app.find("table row", lambda name: name.startswith(f"late {n} ("))
            # What shows all of it goes on doing so.
            app.find(None, lambda name: "\n2.0" in name and name.endswith(" s in view"))
            writer.stdin.close()
            writer.wait()
            app.wait(lambda: app.root.find("label", lambda name: name.startswith("Recording: ")) is None, what="the end")
            app.wait(lambda: app.root.find("label", lambda name: "recording" in name) is None, what="a whole report")
    finally:
        writer.kill()
        writer.stdout.close()


def test_a_recording_that_is_moved_away_is_told():
    path = os.path.join(folder(), "moved.rep")
    writer = subprocess.Popen([MAKE_REPORT, path, "growing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"committed\n"
        with harness.App(path) as app:
            opened(app, "moved.rep")
            os.rename(path, path + ".away")
            app.find("label", lambda name: name.endswith("was removed or renamed while it was read; open it where it is now"))
            os.rename(path + ".away", path)
            app.find("push button", "Reload").do()
            app.find("label", lambda name: name.startswith("Recording: "))
    finally:
        writer.kill()
        writer.communicate()


harness.main(globals(), gate=(test_start_page, test_a_recording_grows_on_the_screen, test_a_sample, test_the_window_says_why, test_steps_are_the_overview, test_the_first_picture_is_of_the_work, test_ways_from_what_is_selected, test_the_window_says_where_no_cause_is_known, test_a_pipe_that_says_nothing_more, test_a_mount_that_does_not_answer, test_what_others_recorded_is_imported))
