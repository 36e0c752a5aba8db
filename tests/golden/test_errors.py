# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What commands say of files that are no reports: one sentence each, different ones, exit code 125."""

import os
import signal
import sqlite3
import subprocess
import time

import golden
import tap

REPORT = golden.make_report()
COMMANDS = [["info"], ["stats"], ["export"], ["sql"]]


def errors_of(path):
    """The sentence that each command says of PATH."""
    sentences = set()
    for command in COMMANDS:
        words = command + [path] + (["SELECT 1"] if command == ["sql"] else [])
        out, err = golden.run(*words, code=125)
        assert out == b"", (words, out)
        lines = err.decode().splitlines()
        assert len(lines) == 1 and lines[0].startswith("lanescope: error: "), (words, err)
        assert os.path.basename(path) in lines[0], (words, err)
        sentences.add(lines[0])
    assert len(sentences) == 1, sentences
    return sentences.pop()


def test_each_fault_has_its_own_sentence():
    open(golden.path("empty.rep"), "wb").close()
    os.mkdir(golden.path("folder.rep"))
    with open(golden.path("text.rep"), "w", encoding="utf-8") as file:
        file.write("This is a text.\n" * 10000)
    other = sqlite3.connect(golden.path("other.rep"))
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    newer = golden.path("newer.rep")
    golden.make_report("newer.rep")
    database = sqlite3.connect(newer)
    database.execute("UPDATE lns_meta SET value = '4611686018427387904' WHERE key = 'incompatible'")
    database.commit()
    database.close()
    faults = ["missing.rep", "empty.rep", "folder.rep", "text.rep", "other.rep", "newer.rep"]
    sentences = {errors_of(golden.path(name)).replace(name, "") for name in faults}
    assert len(sentences) == len(faults), sentences
    assert not [n for n in os.listdir(golden.FOLDER) if n.endswith(".sqlite")]


def test_each_fault_of_a_statement_has_its_own_sentence():
    faults = [("SELEC 1", 'near "SELEC": syntax error; correct the statement'),
              ("SELECT * FROM NVTX_EVENT", "no such table: NVTX_EVENT; SELECT name FROM sqlite_temp_master"),
              ("SELECT nowhere FROM NVTX_EVENTS", "no such column: nowhere; PRAGMA table_info(TABLE)"),
              ("SELECT percentile(1)", "no such function: percentile; the functions are those of SQLite"),
              ("SELECT abs(-9223372036854775808)", "integer overflow; correct the statement")]
    for statement, wanted in faults:
        out, err = golden.run("sql", REPORT, statement, code=125)
        assert out == b"" and err.startswith(b"lanescope: error: the query failed: " + wanted.encode()), (statement, err)
    for statement in ["", " \n", "-- nothing", ";;"]:
        words = ["--", REPORT, statement]
        out, err = golden.run("sql", *words, code=125)
        assert out == b"" and err.startswith(b"lanescope: error: the statement is empty"), (statement, err)
    _, err = golden.run("sql", REPORT, code=125)
    assert b"sql needs a report and a statement" in err, err


def test_a_damaged_chunk_is_told_as_what_it_is():
    damaged = golden.path("chunk.rep")
    with open(golden.make_report("whole.rep", 200000), "rb") as file:
        content = bytearray(file.read())
    for offset in range(6 * 65536 + 30000, len(content), 65536):
        content[offset] ^= 4
    with open(damaged, "wb") as file:
        file.write(content)
    for words in (["sql", damaged, "SELECT sum(start) FROM NVTX_EVENTS"], ["export", damaged],
                  ["stats", "-q", damaged], ["stats", "-o", "out", damaged]):
        out, err = golden.run(*words, code=125)
        assert out == b"" and len(err.splitlines()) == 1, (words, out, err)
        assert err.startswith(b"lanescope: error: " + damaged.encode()), (words, err)
        assert b"checksum" in err and b"lanescope recover" in err, (words, err)
    assert not [n for n in os.listdir(golden.FOLDER) if n.startswith(("chunk.sqlite", "out_"))]


def interrupt(words):
    """Starts a command that would go on for long, presses Ctrl-C, and gives its code and stderr."""
    process = subprocess.Popen([tap.LANESCOPE, *words], cwd=golden.FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    # Its handler is in place once the signal is caught: /proc tells.
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
            caught = next(line for line in status if line.startswith("SigCgt")).split()[1]
        if int(caught, 16) & 1 << signal.SIGINT - 1:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    return process.wait(20), process.stderr.read()


def test_ctrl_c_ends_a_query():
    code, err = interrupt(["sql", REPORT, "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"])
    assert code == 125 and err == b"lanescope: error: the query was interrupted\n", (code, err)


def test_ctrl_c_ends_an_export_and_leaves_nothing():
    report = golden.make_report("long.rep", 3000000)
    code, err = interrupt(["export", report])
    assert code == 125 and b"interrupted" in err, (code, err)
    assert not [n for n in os.listdir(golden.FOLDER) if n.startswith("long.") and n != "long.rep"]


def test_unknown_switches():
    for command in COMMANDS:
        _, err = golden.run(*command, "--nonsense", REPORT, code=125)
        assert err.startswith(b"lanescope: error: ") and b"--nonsense" in err, err


def test_a_full_disk_is_told():
    """/dev/full takes nothing."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([tap.LANESCOPE, "sql", REPORT, "SELECT * FROM NVTX_EVENTS"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 125 and b"No space left on device" in done.stderr, done.stderr


tap.main(globals())
