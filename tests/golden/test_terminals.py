# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Names come from recorded programs: on a terminal, commands show control characters and never send them; pipes get
the bytes."""

import csv
import io
import json
import os
import pty
import re
import sqlite3
import subprocess

import golden
import tap

# What each name holds: a title set by ESC and BEL, another by U+009D, a line that is overwritten, a new one, text whose order is
# reversed, text that hides in an isolate, bytes that are not UTF-8, and characters that nobody sees.
HOSTILE = b"a\x1b]0;owned\x07b\xc2\x9d0;owned\xc2\x9cc\rd\ne\xe2\x80\xaef\xe2\x81\xa7g\xffh\xe2\x82i\x7fj\xe2\x80\x8bk\xc2\xadl\xef\xbb\xbf"
SHOWN = r"a\x1B]0;owned\x07b\u009D0;owned\u009Cc\rd\ne\u202Ef\u2067g\xFFh\xE2\x82i\x7Fj\u200Bk\u00ADl\uFEFF"
# Everything that a terminal may be sent besides printable characters.
SENT = {"\n", "\t"}
HIDDEN = "[\u0080-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"


def hostile_export():
    """The path of an export, all of whose names are HOSTILE with something before them."""
    path = golden.path("hostile.sqlite")
    if os.path.exists(path):
        return path
    names = ["range", "kernel", "short", "call_v3020", "thread", "domain", "mark"]
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
        CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT, uuid TEXT);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
            globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
            contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
            shortName INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
        """)
    for number, name in enumerate(names, 1):
        database.execute("INSERT INTO StringIds VALUES (?, CAST(? AS TEXT))", (number, name.encode() + HOSTILE))
    pid, tid = 281543712964608, 281543712968705
    database.execute("INSERT INTO PROCESSES VALUES (?, 4096, CAST(? AS TEXT))", (pid, b"process" + HOSTILE))
    database.execute("INSERT INTO ThreadNames VALUES (5, 0, ?)", (tid,))
    database.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, CAST(? AS TEXT), CAST(? AS TEXT), 'x')", (b"gpu" + HOSTILE, b"bus" + HOSTILE))
    database.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, CAST(? AS TEXT), ?, NULL, 1)", (b"domain" + HOSTILE, tid))
    for start, end, kind, domain in ((0, 1000, 59, 1), (100, 200, 59, 0), (300, None, 34, 0)):
        database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, NULL, ?, 1, ?)", (start, end, kind, tid, domain))
    database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (110, 120, 0, ?, 7, 4, 0)", (tid,))
    database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (130, 190, 0, 1, 7, 7, ?, 2, 3, 4, 1, 1, 32, 1, 1)", (pid,))
    database.commit()
    database.close()
    return path


def hostile_report():
    path = golden.path("hostile.rep")
    if not os.path.exists(path):
        golden.run("import", "-q", "-o", path, hostile_export())
    return path


def terminal(*words, code=0, cwd=None):
    """Runs lanescope on a terminal of its own, stdout and stderr. What the terminal got, but for the driver's \\r\\n."""
    master, slave = pty.openpty()
    env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", XDG_CACHE_HOME=golden.path("cache"), TERM="xterm")
    process = subprocess.Popen([tap.LANESCOPE, *words], cwd=cwd or golden.FOLDER, env=env, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    got = b""
    try:
        while piece := os.read(master, 65536):
            got += piece
    except OSError:  # the last to have it open closed it
        pass
    os.close(master)
    assert process.wait() == code, (words, code, got)
    return got.replace(b"\r\n", b"\n")


def check(got, words, drawn=False):
    """That GOT sends nothing to the terminal but text. DRAWN: our own line of progress may be there."""
    if drawn:
        got = re.sub(rb"\r\x1b\[K|\r(?=\[)", b"", got)
    text = got.decode()  # fails on what is not UTF-8
    sent = {c for c in text if (ord(c) < 0x20 or ord(c) == 0x7f) and c not in SENT} | set(re.findall(HIDDEN, text))
    assert not sent, (words, sent, [line for line in text.splitlines() if sent & set(line)][:3])
    return text


TABLES = ["nvtx_sum", "nvtx_pushpop_trace", "cuda_api_sum", "cuda_api_trace", "cuda_gpu_kern_sum", "cuda_gpu_kern_sum:base", "cuda_gpu_kern_gb_sum:nvtx-name",
          "cuda_gpu_trace", "cuda_kern_exec_sum", "cuda_kern_exec_trace", "nvtx_kern_sum", "nvtx_gpu_proj_sum", "nvtx_gpu_proj_trace"]


def test_tables():
    """Each table has a row a line, in columns that stand one below the other, and names that show what they hold."""
    report = hostile_report()
    for name in TABLES:
        for style in ("column:nolimit", "table:nolimit"):
            lines = check(terminal("stats", "-q", "-r", name, "-f", style, report), name).splitlines()
            rows = [line for line in lines if SHOWN in line]
            printed = golden.run("stats", "-q", "-r", name, "-f", style, report)[0].split(b"\n")
            assert rows and len(lines) + 1 == len(printed), (name, lines, printed)
            if style.startswith("table"):
                assert len({len(line) for line in lines[2:-1]}) == 1, (name, lines)
            # A pipe gets the bytes, but for newlines: a row stays a line.
            assert any(HOSTILE.replace(b"\n", b"\\n") in line for line in printed), (name, printed)
            assert not any(HOSTILE.split(b"\n")[0] in line and b"\\n" not in line for line in printed), (name, printed)
        for style in ("csv", "tsv", "json", "hdoc", "htable"):
            check(terminal("stats", "-q", "-r", name, "-f", style, report), (name, style))
        ours = golden.run("stats", "-q", "-r", name, "-f", "csv", report)[0]
        assert HOSTILE in ours and len(list(csv.reader(io.StringIO(ours.decode(errors="replace"), newline="")))) == len(rows) + 1, (name, ours)


def test_files_are_written_as_from_a_pipe():
    """A terminal beside them changes nothing of files, commands' input and exports."""
    report = hostile_report()
    golden.run("stats", "-q", "-r", "nvtx_sum", "-f", "column,csv", "-o", golden.path("piped"), report)
    check(terminal("stats", "-r", "nvtx_sum", "-f", "column,csv", "-o", golden.path("shown"), report), "stats -o")
    assert HOSTILE in terminal("stats", "-q", "-r", "nvtx_sum", "-o", "@cat", report), "a command's output is its own"
    assert read(golden.path("piped_nvtx_sum.txt")) == read(golden.path("shown_nvtx_sum.txt")) != b""
    for type_ in ("jsonlines", "csv", "chrome", "info"):
        made = golden.path(f"shown-{type_}")
        got = check(terminal("export", "-q", "-f", "true", "--type", type_, "-o", made, report), type_)
        assert got == "", got
        want = golden.path(f"piped-{type_}")
        golden.run("export", "-q", "-f", "true", "--type", type_, "-o", want, report)
        assert read(made) == read(want), type_


def read(path):
    """The bytes of a file, or of a folder's files by name."""
    if os.path.isdir(path):
        return {name: read(os.path.join(path, name)) for name in os.listdir(path)}
    with open(path, "rb") as file:
        return file.read()


def test_each_command_that_prints_names():
    report = hostile_report()
    for words in (["info", report], ["stats", report], ["analyze", report], ["stats", "-r", "nvtx_sum", hostile_export()],
                  ["export", "-f", "true", "--type", "info", report], ["import", "-f", "true", "-o", golden.path("again.rep"), hostile_export()],
                  ["sql", "--header", report, "SELECT value AS name, 1 FROM StringIds WHERE value LIKE 'range%'"],
                  ["sql", "--json", report, "SELECT value FROM StringIds WHERE value LIKE 'range%'"]):
        text = check(terminal(*words), words, drawn=True)
        if words[0] in ("info", "stats", "sql") and "--json" not in words:
            assert "owned" in text, (words, text)
    text = check(terminal("sql", report, "SELECT value, 1 FROM StringIds WHERE value LIKE 'range%'"), "sql")
    assert text == f"value\t1\nrange{SHOWN}\t1\n", text
    text = check(terminal("sql", "--header=false", report, "SELECT value, 1 FROM StringIds WHERE value LIKE 'range%'"), "sql")
    assert text == f"range{SHOWN}\t1\n", text
    assert golden.run("sql", report, "SELECT value FROM StringIds WHERE value LIKE 'range%'")[0] == b"range" + HOSTILE + b"\n"


def test_exports_to_the_terminal():
    report = hostile_report()
    for type_ in ("jsonlines", "chrome", "folded", "svg"):
        text = check(terminal("export", "-q", "--type", type_, "-o", "-", report), type_)
        assert "owned" in text, (type_, text)
        if type_ == "jsonlines":
            for line in text.splitlines():
                json.loads(line)
    stacks = golden.run("export", "-q", "--type", "folded", "-o", "-", report)[0]
    assert re.sub(b"[;\r\n]", b"_", HOSTILE) in stacks, stacks


def test_paths_and_words():
    """What a person typed, or a file is called, in errors, notes and where something was written."""
    folder = os.fsencode(golden.path("folder"))
    os.makedirs(folder, exist_ok=True)
    name = b"r" + HOSTILE.replace(b"/", b"") + b".rep"
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(read(hostile_report()))
    for words, code in ((["info", path + b"x"], 125), (["stats", path], 0), (["analyze", path], 0), (["stats", "-r", b"no" + HOSTILE, path], 125),
                        (["export", "-f", "true", "--type", "csv", path], 0), (["stats", "-o", path + b"/x", path], 125),
                        (["stats", "-r", "nvtx_sum", "--filter-nvtx", b"x" + HOSTILE, path], 125), ([b"no" + HOSTILE], 125),
                        (["recover", "-f", "true", path], 0), (["sql", path, b"SELECT '" + HOSTILE], 125), (["sessions", "list"], 0),
                        (["status", "--session", b"no" + HOSTILE], 125)):
        text = check(terminal(*words, code=code, cwd=folder), words, drawn=True)
        if code == 125:
            assert text.count("\n") == 1 and "\\x1B" in text, (words, text)
        piped = subprocess.run([tap.LANESCOPE, *words], cwd=folder, capture_output=True, timeout=60, check=False,
                               env=dict(os.environ, XDG_CACHE_HOME=golden.path("cache")))
        if code == 125:  # one line, in a pipe too
            assert piped.stderr.count(b"\n") == 1 and b"\x1b" not in piped.stderr, (words, piped.stderr)
        elif words[0] == "stats":
            assert b"Processing [" + path + b"]" in piped.stdout, piped.stdout


def test_a_program_keeps_its_terminal():
    """What the program under us prints reaches the terminal as it is."""
    got = terminal("profile", "-t", "nvtx", "-f", "true", "-o", golden.path("colours"), "printf", "\\033[1mbold\\033[0m\\n")
    assert b"\x1b[1mbold\x1b[0m\n" in got, got
    golden.run("profile", "-w", "false", "-t", "nvtx", "-f", "true", "-o", golden.path("kept"), "printf", "\\033]0;owned\\007x\\n")
    assert golden.run("info", "--print=stdout", golden.path("kept.rep"))[0] == b"\x1b]0;owned\x07x\n"
    assert terminal("info", "--print=stdout", golden.path("kept.rep")) == b"\\x1B]0;owned\\x07x\n"


tap.main(globals())
