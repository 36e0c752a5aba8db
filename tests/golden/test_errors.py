# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Each command says of files that are not reports in one sentence why it cannot read them, and exits with 125."""

import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time

import golden
import tap

REPORT = golden.make_report()
COMMANDS = [["info"], ["stats"], ["analyze"], ["export"], ["sql"], ["recover"]]


def words_for(command, path):
    return command + [path] + (["SELECT 1"] if command == ["sql"] else [])


def errors_of(path, commands=None, program=tap.LANESCOPE, **options):
    """The sentence that each command says of PATH: they agree."""
    sentences = set()
    before = set(os.listdir(golden.FOLDER))
    for command in commands or COMMANDS[:-1]:
        words = words_for(command, path)
        done = subprocess.run([program, *words], cwd=golden.FOLDER, capture_output=True, timeout=20,
                              env=dict(os.environ, LC_ALL="C.UTF-8", XDG_CACHE_HOME=golden.path("cache")), **options)
        assert done.returncode == 125 and done.stdout == b"", (words, done)
        lines = done.stderr.split(b"\n")
        assert len(lines) == 2 and lines[0].startswith(b"lanescope: error: "), (words, done.stderr)
        # What went wrong, and after it what to do.
        assert b";" in lines[0], (words, done.stderr)
        sentences.add(lines[0])
    assert len(sentences) == 1, sentences
    assert set(os.listdir(golden.FOLDER)) - before <= {"cache"}
    return sentences.pop()


def make_faults():
    """Files that are no reports, or not to be had, by name; all but the last for each command."""
    open(golden.path("empty.rep"), "wb").close()
    os.mkdir(golden.path("folder.rep"))
    os.mkfifo(golden.path("pipe.rep"))
    os.symlink("circle.rep", golden.path("circle.rep"))
    with open(golden.path("text.rep"), "w", encoding="utf-8") as file:
        file.write("This is a text.\n" * 10000)
    other = sqlite3.connect(golden.path("other.rep"))
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    with open(golden.path("begun.rep"), "wb") as file:
        file.write(open(REPORT, "rb").read()[:50000])
    newer = golden.make_report("newer.rep")
    database = sqlite3.connect(newer)
    database.execute("UPDATE lns_meta SET value = '4611686018427387904' WHERE key = 'incompatible'")
    database.commit()
    database.close()
    earlier = sqlite3.connect(golden.make_report("earlier.rep"))
    earlier.executescript("DROP INDEX lns_chunk_index; ALTER TABLE lns_chunk DROP COLUMN correlation_min; "
                          "ALTER TABLE lns_chunk DROP COLUMN correlation_max")
    earlier.close()
    return ["missing.rep", "empty.rep", "folder.rep", "pipe.rep", "circle.rep", "text.rep", "other.rep", "begun.rep", "newer.rep",
            "earlier.rep"]


def test_each_fault_has_its_own_sentence():
    faults = make_faults()
    sentences = {}
    for name in faults:
        sentence = errors_of(golden.path(name))
        assert golden.path(name).encode() in sentence, sentence
        sentences[name] = sentence.replace(golden.path(name).encode(), b"X")
    assert len(set(sentences.values())) == len(faults), sentences
    assert b"written by an earlier version of Lanescope" in sentences["earlier.rep"], sentences
    # What the file system tells, recover tells in the same words.
    for name in ["missing.rep", "empty.rep", "folder.rep", "pipe.rep", "circle.rep"]:
        assert errors_of(golden.path(name), [["recover"]]).replace(golden.path(name).encode(), b"X") == sentences[name]
    for name in ["text.rep", "other.rep", "begun.rep"]:
        assert b"cannot recover anything; the file is not a Lanescope report" in errors_of(golden.path(name), [["recover"]])


def test_what_may_not_be_read():
    path = golden.make_report("secret.rep")
    os.chmod(path, 0)
    os.chmod(golden.FOLDER, 0o755)
    nobody = {"user": 65534} if os.geteuid() == 0 else {}
    # Somebody who may not read a report may not see into our home either.
    program = shutil.copy(tap.LANESCOPE, golden.path("lanescope"))
    assert b"secret.rep: you do not have permission to read this file; change its permissions" in errors_of(path, COMMANDS, program, **nobody)
    os.remove(program)


def test_names_of_any_bytes_are_told_on_one_line():
    for name, told in [("two\nlines.rep", rb"two\nlines.rep"), (b"bad\xff.rep", rb"bad\xFF.rep"), ("clear\x1b[2J.rep", rb"clear\x1B[2J.rep"),
                       ("-dash.rep", b"-dash.rep"), ("long" * 60 + ".rep", b"long" * 60)]:
        path = os.path.join(golden.FOLDER.encode(), name if isinstance(name, bytes) else name.encode())
        assert told in errors_of(path, COMMANDS), name
        with open(path, "wb") as file:
            file.write(b"x")
        assert told in errors_of(path), name
        os.remove(path)
    for command in COMMANDS:
        _, err = golden.run(*words_for(command, ""), code=125)
        assert b" needs one report" in err or b" takes a report" in err, err


def test_each_fault_of_a_statement_has_its_own_sentence():
    faults = [("SELEC 1", 'near "SELEC": syntax error; correct the statement'),
              ("SELECT * FROM NVTX_EVENT", "no such table: NVTX_EVENT; `lanescope sql REPORT .tables`"),
              ("SELECT nowhere FROM NVTX_EVENTS", "no such column: nowhere; `lanescope sql REPORT '.schema TABLE'`"),
              ("SELECT percentile(1)", "no such function: percentile; use the functions of SQLite"),
              ("SELECT abs(-9223372036854775808)", "integer overflow; correct the statement")]
    for statement, wanted in faults:
        out, err = golden.run("sql", REPORT, statement, code=125)
        assert out == b"" and err.startswith(b"lanescope: error: the query failed: " + wanted.encode()), (statement, err)
    for statement in ["", " \n", "-- nothing", ";;"]:
        words = ["--", REPORT, statement]
        out, err = golden.run("sql", *words, code=125)
        assert out == b"" and err.startswith(b"lanescope: error: the statement is empty"), (statement, err)
    for words in ([], [REPORT, "SELECT 1", "SELECT 2"]):
        _, err = golden.run("sql", *words, code=125)
        assert b"sql takes a report and at most one statement" in err, err


def test_reports_are_found_by_the_names_that_nsys_would_have_given():
    shutil.copy(REPORT, golden.path("run.rep"))
    for ending in (".nsys-rep", ".qdrep"):
        name, told = "run" + ending, f"lanescope: note: run{ending} does not exist; opening run.rep, as which it was written\n".encode()
        for words in (["info", name], ["stats", "-q", name], ["analyze", "-q", name], ["sql", name, "SELECT count(*) FROM NVTX_EVENTS"]):
            out, err = golden.run(*words)
            assert err.startswith(told) and out == golden.run(words[0], *[w.replace(name, "run.rep") for w in words[1:]])[0], (words, err)
        assert golden.run("export", "-q", "--type=sqlite", "-f", "true", name) == (b"", told) and os.path.exists(golden.path("run.sqlite"))
        assert golden.run("recover", "-f", "true", name)[1] == told and os.path.exists(golden.path("run-recovered.rep"))
        assert golden.run("import", "-o", "again.rep", name, code=125)[1].startswith(told + b"lanescope: error: run.rep is already a Lanescope report")
    # A file that is there is what is meant.
    with open(golden.path("run.nsys-rep"), "wb") as file:
        file.write(b"of nsys")
    assert b"only nsys can read it" in golden.run("info", "run.nsys-rep", code=125, PATH="/nowhere")[1]
    assert b"does not exist" in golden.run("info", "none.nsys-rep", code=125)[1]


def test_only_reports_are_resolved():
    for name in "empty.rep", "folder.rep", "text.rep", "none.rep":
        assert errors_of(golden.path(name), [["resolve"]]), name
    assert b"is not a Lanescope report; only addresses that Lanescope recorded" in errors_of(golden.path("other.rep"), [["resolve"]])
    # What other programs recorded has no build-ids, once imported, too.
    database = sqlite3.connect(golden.path("samples.sqlite"))
    database.executescript("CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, end)")
    database.close()
    golden.run("import", "-o", "samples.rep", "samples.sqlite")
    with open(golden.path("samples.rep"), "rb") as file:
        before = file.read()
    assert golden.run("resolve", "samples.rep")[0] == b"The report has no addresses that can be resolved.\n"
    with open(golden.path("samples.rep"), "rb") as file:
        assert file.read() == before


def read_only():
    """A mount namespace's command line whose folder read-only/ cannot be written to."""
    os.makedirs(golden.path("read-only"), exist_ok=True)
    words = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none read-only && exec "$@"', "sh"]
    if subprocess.run([*words, "true"], cwd=golden.FOLDER, capture_output=True, check=False).returncode != 0:
        raise tap.Skip("mounts need root")
    return words


def test_what_cannot_be_written_says_so():
    mounted = read_only()
    database = sqlite3.connect(golden.path("foreign.sqlite"))
    database.executescript("CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, end)")
    database.close()
    for words, cache in ((["export", "-t", "sqlite", "-o", "read-only/x.sqlite", REPORT], "cache"), (["export", "-t", "csv", "-o", "read-only/x", REPORT], "cache"),
                         (["stats", "-o", "read-only/x", REPORT], "cache"), (["analyze", "-o", "read-only/x", REPORT], "cache"),
                         (["recover", "-o", "read-only/x.rep", REPORT], "cache"), (["import", "-o", "read-only/x.rep", "foreign.sqlite"], "cache"),
                         (["stats", "-q", "foreign.sqlite"], "read-only"), (["info", "foreign.sqlite"], "read-only")):
        done = subprocess.run([*mounted, tap.LANESCOPE, *words], cwd=golden.FOLDER, capture_output=True, timeout=60, check=False,
                              env=dict(os.environ, LC_ALL="C.UTF-8", XDG_CACHE_HOME=golden.path(cache)))
        errors = [line for line in done.stderr.splitlines() if line.startswith(b"lanescope: error: ")]
        assert done.returncode == 125 and len(errors) == 1 and b"read-only/" in errors[0] and b"Read-only file system" in errors[0], (words, done)
        assert cache == "cache" or b"XDG_CACHE_HOME" in errors[0], (words, done)


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


def put_journal(path, victim):
    """A journal as SQLite leaves it where a transaction over several databases was cut off: its rollback deletes VICTIM."""
    name, magic = victim.encode(), bytes.fromhex("d9d505f920a163d7")
    pages = os.path.getsize(path) // 65536
    with open(path + "-journal", "wb") as file:
        file.write((magic + struct.pack(">5I", 0, 0, pages, 512, 65536)).ljust(512, b"\0"))
        file.write(struct.pack(">I", 1) + name + struct.pack(">2I", len(name), sum(name)) + magic)


def test_a_journal_that_names_another_file_is_refused():
    for name in ("victim", "victim-journal"):
        report, victim = golden.make_report("trap.rep"), golden.path(name)
        with open(victim, "wb") as file:
            file.write(b"precious")
        put_journal(report, victim)
        before = open(report + "-journal", "rb").read()
        assert b"names another file to delete" in errors_of(report), name
        assert golden.path("trap.rep-journal").encode() in errors_of(report), name
        assert golden.run("recover", "-f", "true", "-o", "untrapped.rep", report) and os.path.exists(victim)
        assert b"state: recovered" in golden.run("info", "untrapped.rep")[0]
        # From where nothing can be written, where a copy would be rolled back.
        folder = golden.path("trap")
        os.makedirs(folder, exist_ok=True)
        os.chmod(golden.FOLDER, 0o755)
        for ending in ("", "-journal"):
            shutil.copy(report + ending, folder)
            os.chmod(os.path.join(folder, "trap.rep" + ending), 0o644)
        os.chmod(folder, 0o555)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        program = shutil.copy(tap.LANESCOPE, golden.path("lanescope"))
        cache = tempfile.mkdtemp(prefix="lanescope-cache-")
        os.chmod(cache, 0o777)
        done = subprocess.run([program, "info", os.path.join(folder, "trap.rep")], capture_output=True, timeout=60, check=False,
                              env=dict(os.environ, LC_ALL="C.UTF-8", XDG_CACHE_HOME=cache), **nobody)
        assert done.returncode == 125 and b"names another file to delete" in done.stderr, done
        assert "trap" not in str(list(os.walk(cache))), list(os.walk(cache))
        shutil.rmtree(cache)
        os.chmod(folder, 0o755)
        os.remove(program)
        assert open(victim, "rb").read() == b"precious" and open(report + "-journal", "rb").read() == before
        os.remove(victim)
    os.remove(golden.path("untrapped.rep"))


def test_nothing_beside_an_export_is_deleted():
    """SQLite takes the journal and the log beside a database for its own, whoever put them there."""
    victim = golden.path("victim")
    with open(victim, "wb") as file:
        file.write(b"precious")
    for ending, content in (("-journal", None), ("-wal", b"no log"), ("-shm", b"x" * 65536)):
        export = golden.path("trap.sqlite")
        database = sqlite3.connect(export)
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, end)")
        database.close()
        if content is None:
            sqlite3.connect(export).execute("PRAGMA journal_mode = DELETE").fetchall()
            put_journal(export, victim)
        else:
            with open(export + ending, "wb") as file:
                file.write(content)
        for command in ("info", "stats"):
            subprocess.run([tap.LANESCOPE, command, export], cwd=golden.FOLDER, capture_output=True, timeout=60, check=False,
                           env=dict(os.environ, XDG_CACHE_HOME=golden.path("cache")))
        assert open(victim, "rb").read() == b"precious" and os.path.exists(export + ending), ending
        for file in os.listdir(golden.FOLDER):
            if file.startswith("trap.sqlite"):
                os.remove(golden.path(file))


def test_what_another_user_put_beside_a_file_is_not_used():
    """In a sticky folder anybody can put a journal beside a report of somebody else."""
    if os.geteuid() != 0:
        raise tap.Skip("only root can give a file to another user")
    report = golden.make_report("shared.rep")
    put_journal(report, golden.path("nothing"))
    os.chown(report + "-journal", 65534, -1)
    before = open(report, "rb").read(), open(report + "-journal", "rb").read()
    for words in (["info", report], ["stats", "-q", report], ["export", report], ["sql", report, "SELECT 1"], ["resolve", report]):
        out, err = golden.run(*words, code=125)
        assert out == b"" and b"shared.rep-journal" in err and b"belongs to another user (65534)" in err, (words, err)
        assert before == (open(report, "rb").read(), open(report + "-journal", "rb").read()), words
    golden.run("recover", "-f", "true", "-o", "unshared.rep", report)
    os.remove(report + "-journal")
    golden.check(golden.run("sql", "unshared.rep", "SELECT count(*) FROM NVTX_EVENTS")[0],
                 golden.run("sql", report, "SELECT count(*) FROM NVTX_EVENTS")[0])

    export = golden.path("logged.sqlite")
    database = sqlite3.connect(export)
    database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, end)")
    for ending in ("-wal", "-shm"):
        os.chown(export + ending, 65534, -1)
        err = golden.run("info", export, code=125)[1]
        assert f"logged.sqlite{ending}".encode() in err and b"belongs to another user" in err, err
        os.chown(export + ending, 0, -1)
    database.close()


def test_what_is_no_regular_file_is_taken_for_no_journal():
    """A pipe would be waited for, a link would lead elsewhere."""
    for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
        report = golden.make_report("beside.rep")
        if os.path.lexists(report + "-journal"):
            os.remove(report + "-journal")
        make(report + "-journal")
        assert b"is not a regular file" in errors_of(report)
        golden.run("recover", "-f", "true", "-o", "without.rep", report)
        os.remove(golden.path("without.rep"))


def test_a_report_that_asks_for_a_log_makes_none():
    folder = golden.path("logs")
    os.makedirs(folder, exist_ok=True)
    report = golden.make_report("logs/log.rep")
    with open(report, "r+b") as file:
        file.seek(18)
        file.write(b"\2\2")
    assert b"damaged: what follows was recovered" in golden.run("info", report)[0]
    assert os.listdir(folder) == ["log.rep"]


def interrupt(words, number=signal.SIGINT):
    """Starts a command that would go on for long, sends it signal NUMBER, and gives its code and stderr."""
    process = subprocess.Popen([tap.LANESCOPE, *words], cwd=golden.FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None)
    # Its handler is in place once the signal is caught: /proc tells. Handlers of other signals come before it, and before
    # the program is executed those of Python are there.
    awaited = number if number != signal.SIGKILL else signal.SIGINT
    deadline = time.monotonic() + 20 * tap.PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
            caught = next(line for line in status if line.startswith("SigCgt")).split()[1]
        if int(caught, 16) & 1 << awaited - 1:
            break
        time.sleep(0.002)
    process.send_signal(number)
    return process.wait(20), process.stderr.read()


def test_ctrl_c_ends_a_query():
    code, err = interrupt(["sql", REPORT, "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"])
    assert code == -signal.SIGINT and err == b"lanescope: error: the query was interrupted\n", (code, err)


def test_an_export_that_is_ended_leaves_nothing():
    report = golden.make_report("long.rep", 1500000)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        code, err = interrupt(["export", report], number)
        assert code == -number and err == f"lanescope: error: {golden.path('long.sqlite')} was not written: the export was interrupted\n".encode(), err
        assert not [n for n in os.listdir(golden.FOLDER) if n.startswith("long.") and n != "long.rep"]


def test_a_recovery_that_is_ended_leaves_nothing():
    code, err = interrupt(["recover", golden.path("long.rep")])
    assert code == -signal.SIGINT and err == b"lanescope: error: recovery was cancelled\n", (code, err)
    assert not os.path.exists(golden.path("long-recovered.rep"))


def test_a_killed_export_leaves_no_output():
    report = golden.path("long.rep")
    code, _ = interrupt(["export", report], signal.SIGKILL)
    assert code == -signal.SIGKILL and not os.path.exists(golden.path("long.sqlite"))


def test_an_output_that_cannot_grow():
    """As on a full disk: writing fails midway."""
    for words in (["export", "-o", "limited.sqlite"], ["stats", "-r", "nvtx_pushpop_trace", "-o", "limited"], ["recover", "-o", "limited.rep"]):
        done = subprocess.run(["prlimit", "--fsize=400000", tap.LANESCOPE, *words, golden.path("whole.rep")], cwd=golden.FOLDER,
                              capture_output=True, timeout=60)
        assert done.returncode == 125 and len(done.stderr.splitlines()) == 1, (words, done)
        assert b"limited" in done.stderr and done.stdout == b"", (words, done)
        assert not [n for n in os.listdir(golden.FOLDER) if n.startswith("limited")], (words, os.listdir(golden.FOLDER))


def test_unknown_switches():
    for command in COMMANDS:
        _, err = golden.run(*command, "--nonsense", REPORT, code=125)
        assert err.startswith(b"lanescope: error: ") and b"--nonsense" in err, err


def test_a_full_disk_is_told():
    """/dev/full takes nothing."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([tap.LANESCOPE, "sql", REPORT, "SELECT * FROM NVTX_EVENTS"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 125 and b"No space left on device" in done.stderr, done.stderr


def test_a_missing_file_of_functions():
    """What cannot be opened has no line that is wrong."""
    err = golden.run("profile", "-o", "functions.rep", "--python-functions-trace", "missing.json", "true", code=125)[1].decode()
    assert err == 'lanescope: error: --python-functions-trace: cannot read "missing.json": No such file or directory; check the path\n', err


tap.main(globals())
