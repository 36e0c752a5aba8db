# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests what `profile` does with a report that is written, and what it prints meanwhile."""

import contextlib
import json
import os
import pty
import re
import sqlite3
import subprocess

import profiling
import tap
from profiling import ACT

RANGES = ["push", "outer", "push", "inner", "pop", "pop"]


def run_it(folder, *arguments, words=RANGES):
    return folder.profile("-t", "nvtx", *arguments, ACT, *words)


def generated(run):
    """The names below Generated:, of the last one."""
    lines = run.err.splitlines()
    at = len(lines) - 1 - lines[::-1].index("Generated:")
    return [os.path.basename(line) for line in lines[at + 1:] if line.startswith("    ")]


def test_exports_lie_beside_the_report():
    with profiling.Folder() as folder:
        run = run_it(folder, "--export=sqlite,jsonlines", "--export", "json", "-o", "profile.42")
        files = ["profile.42.jsonl", "profile.42.rep", "profile.42.sqlite"]
        assert run.code == 0 and sorted(os.listdir(folder.path)) == files and sorted(generated(run)) == files, run
        assert re.findall(r"^\[(\d/\d)\] (\S+)$", run.err, re.M) == [("1/3", "profile.42.rep"), ("2/3", "profile.42.sqlite"), ("3/3", "profile.42.jsonl")]
        database = sqlite3.connect(folder.file("profile.42.sqlite"))
        assert database.execute("SELECT count(*) FROM NVTX_EVENTS WHERE text IN ('inner', 'outer')").fetchone() == (2,)
        database.close()
        with open(folder.file("profile.42.jsonl"), encoding="utf-8") as file:
            assert [json.loads(line) for line in file]


def test_the_end_says_why():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "osrt", "-o", "r", "sleep", "0.2")
        said = [line for line in run.err.splitlines() if line.startswith("Why: ")]
        answer = subprocess.run([tap.LANESCOPE, "why", "--format=json", folder.file("r.rep")], capture_output=True, check=True)
        assert run.out == "" and said == ["Why: " + json.loads(answer.stdout)["verdict"]], run
        assert re.search(r"it slept \d+ ms in (clock_)?nanosleep", said[0]), said
        assert "Why: " not in folder.profile("-t", "osrt", "--why=false", "sleep", "0.2").err
        # What the thread is in when its library is first heard of began before.
        report = profiling.Report(folder.file("r.rep"))
        begun = min(event["start"] for event in report.events if event["thread"] == 0)
        assert all((thread["start"] or begun) <= begun for thread in report.threads), (report.threads, begun)


def test_exports_of_each_range():
    with profiling.Folder() as folder:
        run = run_it(folder, "-c", "nvtx", "-p", "outer", "--capture-range-end=repeat", "--export=sqlite", "-o", "r", words=RANGES * 2)
        assert run.code == 0 and sorted(os.listdir(folder.path)) == ["r.1.rep", "r.1.sqlite", "r.2.rep", "r.2.sqlite"], run


def test_exports_that_are_there():
    with profiling.Folder() as folder:
        for name in ("report1.sqlite", "named.sqlite"):
            with open(folder.file(name), "w", encoding="ascii") as file:
                file.write("mine")
        run = run_it(folder, "--export=sqlite", "-o", "named")
        assert run.code == 125 and "named.sqlite exists; use --force-overwrite=true" in run.err, run
        assert run_it(folder, "--export=sqlite").code == 0
        assert sorted(os.listdir(folder.path)) == ["named.sqlite", "report1.sqlite", "report2.rep", "report2.sqlite"]
        run = run_it(folder, "--export=sqlite", "-o", "named", "-f", "true")
        assert run.code == 0 and generated(run) == ["named.rep", "named.sqlite"], run


def test_an_export_that_fails_leaves_the_report():
    with profiling.Folder() as folder:
        script = f'"{ACT}" {" ".join(RANGES)}; mkdir r.sqlite'
        run = folder.profile("-t", "nvtx", "--export=sqlite", "-o", "r", "sh", "-c", script)
        assert run.code == 125 and len(re.findall("lanescope: error: .*r.sqlite", run.err)) == 1 and generated(run) == ["r.rep"], run
        assert len(folder.report("r.rep").events) == 2


def test_formats_that_are_not_written():
    with profiling.Folder() as folder:
        run = run_it(folder, "--export=hdf,none")
        assert run.code == 125 and "“none” cannot be combined" in run.err, run
        run = run_it(folder, "--export=hdf")
        assert run.code == 0 and run.err.count("--export: hdf is not supported") == 1, run
        run = run_it(folder, "--export=xyzzy")
        assert run.code == 125 and "--export: unknown format “xyzzy”" in run.err, run
        assert os.listdir(folder.path) == ["report1.rep"]


def test_statistics_go_into_the_log():
    with profiling.Folder() as folder:
        run = run_it(folder, "--stats=True", "-o", "r")
        assert run.code == 0 and os.listdir(folder.path) == ["r.rep"], run
        asked = subprocess.run([tap.LANESCOPE, "stats", "-q", folder.file("r.rep")], capture_output=True, check=True).stdout.decode()
        assert run.out == asked and "NVTX Range Summary (nvtx_sum)" in asked and "SKIPPED: " in asked, run.out
        steps = re.findall(r"^\[(\d+)/(\d+)\] Executing '(\w+)' stats report$", run.err, re.M)
        assert steps[0] == ("2", str(len(steps) + 1), "nvtx_sum") and len(steps) > 4, run.err


def test_statistics_that_cannot_be_printed_are_told_once():
    with profiling.Folder() as folder, open("/dev/full", "wb") as full:
        run = subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", "--stats=true", ACT, *RANGES], cwd=folder.path, stdout=full,
                             stderr=subprocess.PIPE, timeout=60, check=False)
        assert run.returncode == 125 and run.stderr.count(b"lanescope: error: ") == 1 and os.listdir(folder.path) == ["report1.rep"], run


def test_strict_tells_by_its_code():
    with profiling.Folder() as folder:
        for arguments, program, code in ((["-t", "nvtx"], [ACT, "mark", "m"], 0), (["-t", "nvtx"], ["true"], 124), (["-t", "none"], ["true"], 0),
                                         (["-t", "nvtx", "--python-backtrace=cuda"], [ACT, "mark", "m"], 124), (["-t", "nvtx,mpi"], [ACT, "mark", "m"], 124), (["-t", "nvtx"], ["sh", "-c", "exit 3"], 3),
                                         (["-t", "nvtx", "-c", "nvtx", "-p", "none such"], [ACT, "mark", "m"], 124)):
            assert folder.profile("--strict", *arguments, *program).code == code, (arguments, program)


def test_elsewhere_than_on_a_terminal_nothing_moves():
    with profiling.Folder() as folder:
        run = run_it(folder, "--export=sqlite", "--stats=true", "-o", "r")
        assert not re.search("[\r\x1b\b]|==", run.err + run.out), run
        # One step is no list.
        assert not re.search(r"^\[", run_it(folder, "-o", "other").err, re.M)


def all_of(terminal):
    """What was written to the other end of TERMINAL, which is closed. One reading may give a part of it."""
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


def test_on_a_terminal_bars_fill():
    with profiling.Folder() as folder:
        parent, child = pty.openpty()
        words = [tap.LANESCOPE, "profile", "-t", "nvtx", "--export=sqlite", "-o", "r", ACT, *RANGES]
        run = subprocess.run(words, cwd=folder.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=child, timeout=60, check=False,
                             env=dict(os.environ, TERM="xterm"))
        os.close(child)
        text = all_of(parent)
        assert run.returncode == 0, text
        for number, name in ((1, "r.rep"), (2, "r.sqlite")):
            assert f"\r[{number}/2] [0%{' ' * 26}] {name}" in text and f"\r[{number}/2] [{'=' * 24}100%] {name}" in text, text
        assert "\x1b" not in text


def test_a_warning_is_said_once():
    with profiling.Folder() as folder:
        reader, writer = os.pipe()
        running = folder.start("-t", "nvtx", f"--control-fd={reader}", ACT, "mark", "m", "sleep", "20000", pass_fds=[reader])
        os.write(writer, b"what\nwhat\nwhat else\nstop\n")
        _, err = running.communicate(timeout=30)
        os.close(reader)
        os.close(writer)
        assert err.count("“what” is not start".encode()) == err.count("“what else” is not start".encode()) == 1, err


def test_numbers_are_grouped():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "nvtx", ACT, "spin", "12345")
        assert "\n12,345 events, 0 lost, 1 process\n" in run.err, run.err


def test_what_an_export_needs_is_looked_for_first():
    with profiling.Folder() as folder:
        run = folder.profile("--export=arrow", ACT, "print", "ran", env=dict(os.environ, LNS_PYTHON="/nonexistent/python3"))
        assert run.code == 125 and run.out == "" and "pyarrow" in run.err and os.listdir(folder.path) == [], run


tap.main(globals())
