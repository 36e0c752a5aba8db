# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests what a program tells NVTX besides its ranges: names, resources, and what is not recorded."""

import os
import re
import shutil
import subprocess
import sys

import tap
from profiling import ACT, Folder

CALLS = os.path.join(tap.BUILD, "tests", "programs", "calls")
FORKS = os.path.join(tap.BUILD, "tests", "programs", "nvtx-forks")
INJECTION, EARLY = "liblanescope-inject.so", "liblanescope-early.so"


def ask(folder, query, report="report1.rep"):
    """What `lanescope sql` answers to QUERY: rows of words."""
    run = subprocess.run([tap.LANESCOPE, "sql", folder.file(report), query], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return [line.split("\t") for line in run.stdout.splitlines()]


def test_resources_are_in_the_report_and_its_export():
    with Folder() as folder:
        run = folder.profile(CALLS)
        assert run.code == 0, run
        query = ("SELECT domainId, identifierTypeName, text, \"end\" IS NOT NULL FROM LNS_NVTX_RESOURCES"
                 " ORDER BY identifierType")
        rows = ask(folder, query)
        assert rows[:2] == [["1", "GENERIC_POINTER", "a resource", "1"],
                            ["1", "GENERIC_HANDLE", "registered", "0"]], rows
        if len(rows) > 2:  # there are CUDA's headers
            assert rows[2:] == [["0", "CUDA_DEVICE", "the device", "0"],
                                ["0", "CUDA_STREAM", "Stream ü", "0"]], rows
            assert ask(folder, "SELECT identifier FROM LNS_NVTX_RESOURCES WHERE identifierType = 0x40003") == [["4660"]]
        exported = subprocess.run([tap.LANESCOPE, "export", "--type", "sqlite", "-o", folder.file("out.sqlite"),
                                   folder.file("report1.rep")], capture_output=True, text=True)
        assert exported.returncode == 0, exported.stderr
        plain = subprocess.run(["sqlite3", "-separator", "\t", folder.file("out.sqlite"), query],
                               capture_output=True, text=True)
        assert [line.split("\t") for line in plain.stdout.splitlines()] == rows, plain


PLAIN = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
PRINT_MAPS = [sys.executable, "-c", "print(open('/proc/self/maps').read())"]


def test_the_library_is_there_before_the_first_call():
    """A fork beside a first call that has to load it would have a child that waits for ever. Programs have the environment
    that they would have without Lanescope."""
    with Folder() as folder:
        for number, before in enumerate((None, "libm.so.6", "libm.so.6:libdl.so.2", "libm.so.6 libdl.so.2")):
            env = PLAIN if before is None else {**PLAIN, "LD_PRELOAD": before}
            for name, launcher in (("maps", []), ("child", ["sh", "-c", '"$@"; :', "sh"]), ("env", ["env"]),
                                   ("python", [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])"])):
                run = folder.profile("-o", f"{name}{number}", *launcher, *PRINT_MAPS, env=env)
                assert run.code == 0 and INJECTION in run.out and EARLY in run.out, (name, before, run)
                run = folder.profile("-o", f"{name}-variables{number}", *launcher, "env", env=env)
                found = [line for line in run.out.splitlines() if line.startswith("LD_PRELOAD")]
                assert found == ([] if before is None else [f"LD_PRELOAD={before}"]), (name, run)


def test_programs_that_cannot_call_nvtx_do_not_load_the_library():
    """What contains NVTX calls dlopen(), or was loaded by it."""
    with Folder() as folder:
        run = folder.profile("cat", "/proc/self/maps", env=PLAIN)
        assert run.code == 0 and EARLY in run.out and INJECTION not in run.out, run


def test_programs_that_take_no_preloads_start_without():
    cc = shutil.which("cc") or shutil.which("gcc")
    with Folder() as folder:
        run = folder.profile("-o", "variables", "sh", "-c", f"env -u NVTX_INJECTION64_PATH cat /proc/self/maps; : {ACT}", env=PLAIN)
        assert run.code == 0 and "lanescope" not in run.out, run
        with open(folder.file("asan.c"), "w", encoding="ascii") as file:
            file.write('#include <stdio.h>\nint main (void) { return puts ("sound") < 0; }\n')
        if cc is None or subprocess.run([cc, "-fsanitize=address", "-o", "asan", "asan.c"], cwd=folder.path,
                                        capture_output=True).returncode != 0:
            raise tap.Skip("no compiler with AddressSanitizer is here")
        run = folder.profile("-o", "asan", "sh", "-c", "./asan; :", env=PLAIN)
        assert run.code == 0 and "sound\n" in run.out and "ASan" not in run.err, run


# Calls each function that executes a program, in a child, with words that work and that do not.
EXECUTE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def pointers(*words):
    return (ctypes.c_char_p * (len(words) + 1))(*words, None)
variables = pointers(*(b"%s=%s" % item for item in os.environb.items() if item[0] != b"PATH"), b"IS_OURS=yes")
for file in (b"script", b"plain", b"empty", b"missing", b"denied", b"folder", b"chain", b"", b"x" * 5000, b"sh"):
    path = b"./" + file if file != b"sh" else b"/bin/sh"
    words = (b"name", b"-c", b"echo sh $0 $IS_OURS", b"third") if file == b"sh" else (b"name", b"first", b"", b"third")
    for name, arguments in (("execv", (path, pointers(*words))), ("execve", (path, pointers(*words), variables)),
                            ("execvp", (file, pointers(*words))), ("execvpe", (file, pointers(*words), variables)),
                            ("execvp", (path, pointers(*words))), ("execl", (path, *words, None)), ("execlp", (file, *words, None)),
                            ("execle", (path, *words, None, variables))):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            getattr(libc, name)(*arguments)
            print(name, file[:10], "errno", ctypes.get_errno(), flush=True)
            os._exit(9)
        print(name, file[:10], os.waitpid(child, 0)[1])
"""


def test_programs_are_executed_as_without_lanescope():
    with Folder() as folder:
        for name, text, mode in (("script", '#!/bin/sh\necho script "$#" "$@" $IS_OURS\n', 0o755), ("plain", 'echo plain "$#" "$@" $IS_OURS\n', 0o755),
                                 ("empty", "", 0o755), ("denied", "#!/bin/sh\n", 0o644), ("chain", "#!./script of\n", 0o755),
                                 ("execute.py", EXECUTE, 0o644)):
            with open(folder.file(name), "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(folder.file(name), mode)
        os.mkdir(folder.file("folder"))
        os.mkdir(folder.file("first"))
        os.mkdir(folder.file("first/sh"))  # in the way
        env = {**PLAIN, "PATH": f"first:nowhere:{folder.file('script')}::{os.environ['PATH']}"}
        words = [sys.executable, "execute.py"]
        bare = subprocess.run(words, cwd=folder.path, env=env, capture_output=True, text=True, timeout=60)
        assert bare.returncode == 0 and bare.stdout.count("errno") > 30 and "yes" in bare.stdout, bare
        run = folder.profile(*words, env=env)
        different = [lines for lines in zip(run.out.splitlines(), bare.stdout.splitlines()) if lines[0] != lines[1]]
        assert not different, different
        assert run.code == 0 and run.out == bare.stdout and bare.stderr in run.err, (run.code, run.err, bare.stderr)


def test_forks_beside_a_first_call_are_recorded():
    with Folder() as folder:
        run = folder.profile("sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do {FORKS}; done; :")
        assert run.code == 0, run
        n_lost = sum(map(int, run.out.splitlines()))
        names = folder.report().names()
        assert names == {"first": 10, "child": 200 - n_lost} and n_lost < 150, (names, run)


def test_domains_with_one_name_are_one_domain():
    with Folder() as folder:
        run = folder.profile(ACT, "domain", "same", "push", "a", "domain", "other", "push", "b", "pop", "domain", "same",
                             "push", "c", "pop", "pop")
        assert run.code == 0, run
        rows = ask(folder, "SELECT text, domainId FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start")
        assert rows == [["a", "1"], ["b", "2"], ["c", "1"]], rows
        lanes = {event["name"]: event["lane"] for event in folder.report().events}
        assert lanes == {"a": 0, "b": 0, "c": 1}, lanes


def test_a_server_that_leaves_its_starter_is_recorded_to_its_end():
    with Folder() as folder:
        words = ["mark", "parent", "orphan", 10, "session", 0, "mark", "server", "sleep", 300, "mark", "served",
                 "print", "from the server", "exit", "4"]
        plain = subprocess.run([ACT] + [str(word) for word in words], capture_output=True, text=True)
        run = folder.profile(*[ACT] + words)
        assert (run.code, run.out) == (plain.returncode, plain.stdout) == (4, "from the server\n"), (run, plain)
        report = folder.report()
        assert set(report.names()) == {"parent", "server", "served"} and len(report.processes) == 2


def test_what_is_not_recorded_is_said_once():
    with Folder() as folder:
        run = folder.profile(CALLS)
        assert run.err.count("locks, which is not recorded [LNS-NVTX-005]") == 1, run.err
        assert run.err.count("of its own in NVTX, which is not recorded [LNS-NVTX-005]") == 1, run.err
        codes = folder.report().codes()
        assert codes.count("LNS-NVTX-005") == 2 and codes.count("LNS-NVTX-008") == 1, codes


def test_samples_of_a_counter_that_is_not_registered():
    with Folder() as folder:
        run = folder.profile(ACT, "sample", "77", "mark", "m", "sample", "78")
        assert run.code == 0 and "2 samples or batches are left out" in run.err and "nvtxCounterRegister" in run.err, run
        report = folder.report()
        assert report.codes() == ["LNS-NVTX-006"] and dict(report.names()) == {"m": 1}, (report.codes(), report.names())


def test_deferred_events_have_their_own_times():
    with Folder() as folder:
        run = folder.profile(CALLS)
        rows = {row[0]: row[1:] for row in
                ask(folder, "SELECT text, start, \"end\", eventType, binaryData FROM NVTX_EVENTS WHERE text LIKE 'deferred%'")}
        assert set(rows) == {f"deferred {number}" for number in (1, 2, 3, 4)}, (rows, run.err)
        start, length = {}, {}
        for name, (begin, end, kind, data) in rows.items():
            assert kind == "60" and data != "", (name, kind, data)
            start[name[-1]], length[name[-1]] = int(begin), int(end) - int(begin)
        assert (length["1"], length["2"], length["3"]) == (1000, 2000, 30000), length
        assert start["2"] - start["1"] == 500 and length["4"] >= 0, start
        # By the wall clock: read a moment after the other one.
        assert -20000000 < start["3"] - start["1"] < 20000000 and 0 <= start["4"] - start["1"] < 60000000000, start


def test_only_what_nvtx_named_is_an_nvtx_name():
    with Folder() as folder:
        run = folder.profile(ACT, "rename", "main-os", "mark", "m", "thread", "4", "rename", "os-only", "mark", "a",
                             "thread", "6", "rename", "hidden", "name-thread", "by nvtx", "mark", "b")
        assert run.code == 0, run
        assert ask(folder, "SELECT text FROM NVTX_EVENTS WHERE eventType = 39") == [["by nvtx"]]
        names = {row[0] for row in ask(folder, "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId")}
        assert names == {"main-os", "os-only", "by nvtx"}, names


def test_a_thread_that_others_name_is_in_the_report():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "m", "name-tid", "4711")
        assert run.code == 0, run
        rows = ask(folder, "SELECT text, globalTid & 0xFFFFFF FROM NVTX_EVENTS WHERE eventType = 39")
        assert rows == [["named by another", "4711"]], rows


def test_the_last_name_of_the_system_counts():
    with Folder() as folder:
        run = folder.profile("-o", "ended", ACT, "rename", "first", "mark", "m", "rename", "last", "thread", "6",
                             "rename", "young", "mark", "n", "rename", "old")
        assert run.code == 0, run
        names = {thread["name"] for thread in folder.report("ended.rep").threads}
        assert names == {"last", "old"}, names
        # One that is killed: what it was called a second before.
        run = folder.profile("-o", "killed", ACT, "rename", "first", "mark", "m", "rename", "last", "sleep", "2500",
                             "raise", "9")
        assert [thread["name"] for thread in folder.report("killed.rep").threads] == ["last"], run


def test_pushes_without_a_pop():
    """Beyond 65,536 ranges that are open at once, further ones are counted and the reason is told."""
    with Folder() as folder:
        run = folder.profile(ACT, *["push", "x"] * 65546)
        assert run.code == 0 and "10 ranges are lost" in run.err and "look for pushes without a pop [LNS-NVTX-007]" in run.err, run.err
        report = folder.report()
        assert report.codes().count("LNS-NVTX-007") == 1, report.codes()
        run = folder.profile(ACT, *["push", "x"] * 65537)
        assert run.code == 0 and "1 range is lost, as it was nested" in run.err, run.err


def test_more_domains_than_a_process_may_make():
    with Folder() as folder:
        words = [word for i in range(65600) for word in ("domain", f"d{i}")]
        run = folder.profile(ACT, *words, "push", "x", "pop")
        assert run.code == 0 and re.search(r"made more than 65,535 NVTX domains; events of the last \d+ are in its default domain \[LNS-NVTX-004\]", run.err), run.err
        report = folder.report()
        assert report.codes() == ["LNS-NVTX-004"] and list(report.names()) == ["x"], (report.codes(), report.names())


tap.main(globals(), gate=(test_resources_are_in_the_report_and_its_export, test_domains_with_one_name_are_one_domain))
