# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests calls of the C library. Expected values follow from the source of programs/os-calls.c."""

import csv
import json
import os
import re
import shutil
import subprocess

import tap
from profiling import Folder, wait_for

PROGRAM = os.path.join(tap.BUILD, "tests/programs/os-calls")


def rows(report, statement):
    out = subprocess.run([tap.LANESCOPE, "sql", report, statement], capture_output=True, text=True, check=True).stdout
    return [tuple(line.split("\t")) for line in out.splitlines()]


def calls(report, condition="1"):
    """Calls by name."""
    return {name: int(n) for name, n in rows(report, "SELECT value, count(*) FROM OSRT_API JOIN StringIds ON id = nameId "
                                                     f"WHERE {condition} GROUP BY value")}


def sums(report, name="osrt_sum"):
    """{name: row} of a report of `stats`."""
    out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", name, report], capture_output=True, text=True, check=True).stdout
    return {row["Name"]: row for row in csv.DictReader(line for line in out.splitlines() if line)}


def record(folder, *arguments, switches=(), **options):
    """The report of the program, which must do the same as without us."""
    bare = subprocess.run([PROGRAM, *arguments], cwd=folder.path, capture_output=True, text=True, timeout=60, **options)
    run = folder.profile("-t", "osrt", "-f", "true", "-o", "os.rep", *switches, PROGRAM, *arguments, **options)
    assert (run.code, run.out) == (bare.returncode, bare.stdout) and run.code == 0, (run, bare)
    return folder.file("os.rep")


CALLERS = os.path.join(tap.BUILD, "tests/programs/os-callers")
DENY = os.path.join(tap.BUILD, "tests", "e2e", "deny-call")
CUT = "[callers not recorded]"


def chains(folder, where, *switches, before=()):
    """The run of the program, and the chains of its calls of nanosleep, [name] each, the innermost first."""
    run = folder.profile("-t", "osrt", "-s", "none", "-f", "true", "-o", "os.rep", *switches, *before, CALLERS, where)
    report = folder.file("os.rep")
    assert run.code == 7 and folder.report("os.rep").info["lost"] == 0, run
    nodes = [row[0] for row in rows(report, "SELECT callchainId FROM OSRT_API JOIN StringIds ON id = nameId WHERE value = 'nanosleep' ORDER BY start")]
    assert len(nodes) == 5, run
    if set(nodes) == {"0"}:
        return run, [None] * len(nodes)
    return run, [[name for name, in rows(report, "SELECT s.value FROM OSRT_CALLCHAINS c JOIN StringIds s ON s.id = symbol "
                                                 f"WHERE c.id = {node} ORDER BY stackDepth")] for node in nodes]


def test_callers_of_calls():
    """Of a program without frame pointers, up to the start of the thread. Nothing of Lanescope is among them."""
    # Without symbols of the C library, its own functions have no names.
    for where, outer, start in (("plain", "main", "_start"), ("thread", "run_thread", ("clone", "libc.so"))):
        with Folder() as folder:
            _, found = chains(folder, where)
            for chain in found:
                assert chain[:3] == ["sleeper", "outer", outer] and chain[-1].startswith(start) and CUT not in chain, (where, chain)
            # One chain, which an export has as well.
            done = subprocess.run([tap.LANESCOPE, "export", "-t", "jsonlines", "--tables", "OSRT_CALLCHAINS", "-o", "-", folder.file("os.rep")],
                                  capture_output=True, check=True)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            assert len([line for line in lines if line["stackDepth"] == 0]) == len(rows(folder.file("os.rep"), "SELECT DISTINCT callchainId FROM OSRT_API WHERE callchainId > 0")), lines
    with Folder() as folder: # what the handler interrupted lies on another stack
        _, found = chains(folder, "alternate")
        for chain in found:
            assert chain[:3] == ["sleeper", "outer", "run_handler"] and chain[-1] == CUT, chain


def test_which_calls_have_callers():
    for switch, has_callers in (("--osrt-backtrace-threshold=100000", True), ("--osrt-backtrace-threshold=900000000", False), ("--osrt-backtrace-depth=0", False)):
        with Folder() as folder:
            _, found = chains(folder, "plain", switch)
            assert [chain is not None for chain in found] == [has_callers] * 5, (switch, found)
    with Folder() as folder: # all calls, also short ones
        chains(folder, "plain", "--osrt-threshold=0", "--osrt-backtrace-threshold=0")
        assert rows(folder.file("os.rep"), "SELECT count(*) FROM OSRT_API WHERE callchainId = 0") == [("0",)]


def test_how_many_callers():
    with Folder() as folder:
        _, found = chains(folder, "deep")
        for chain in found:
            assert chain == ["sleeper", "outer"] + ["deeper"] * 22 + [CUT], chain
        _, found = chains(folder, "deep", "--osrt-backtrace-depth=1000")
        for chain in found:
            assert chain[2:64] == ["deeper"] * 61 + ["main"] and chain[-1] == "_start", chain
        # Of a stack that is too small to find the first of them, callers are missing, not wrong.
        _, found = chains(folder, "deep", "--osrt-backtrace-stack-size=1024")
        for chain in found:
            assert chain[:2] == ["sleeper", "outer"] and chain[-1] == CUT, chain


def test_the_kernel_may_refuse_to_read_stacks():
    for where, is_told in (("plain", False), ("alternate", True)):
        with Folder() as folder:
            run, found = chains(folder, where, before=[DENY, "process_vm_readv"])
            assert [chain is None for chain in found] == [is_told] * 5 and ("[LNS-OSRT-005]" in run.err) == is_told, (found, run)


def test_valgrind_finds_nothing_of_ours():
    """Words of the stack that the program has not set are not for it to find; its exit code is the program's."""
    if shutil.which("valgrind") is None:
        raise tap.Skip("there is no valgrind")
    for where, outer in (("plain", "main"), ("thread", "run_thread"), ("alternate", "run_handler"), ("deep", "deeper")):
        with Folder() as folder:
            run, found = chains(folder, where, before=["valgrind", "-q", "--error-exitcode=9"])
            assert "==" not in run.err, run
            for chain in found:
                assert chain[:3] == ["sleeper", "outer", outer], (where, chain)


def test_a_lock_convoy():
    """Of 40 locks, all but the first find another thread before them; a thread may get the lock twice in a row."""
    with Folder() as folder:
        report = record(folder, "convoy")
        row = sums(report)["pthread_mutex_lock"]
        assert 1 < int(row["Num Calls"]) < 40 and int(row["Total Time (ns)"]) > 40 * 2000000 / 2, row
        locks = rows(report, "SELECT DISTINCT lockAddress FROM OSRT_API JOIN StringIds ON id = nameId WHERE value = 'pthread_mutex_lock'")
        assert len(locks) == 1 and int(locks[0][0]) > 0, locks
        # Who held it was another thread of the four; a lock may be free again when that is asked.
        held = rows(report, "SELECT count(*), sum(lockHolder = globalTid), sum(lockHolder IN (SELECT globalTid FROM OSRT_API JOIN StringIds "
                            "ON id = nameId WHERE value = 'nanosleep')) FROM OSRT_API WHERE lockHolder NOT NULL")[0]
        assert int(held[0]) > 0 and held[1] == "0" and held[2] == held[0], held
        assert calls(report)["nanosleep"] == 40


COUNTING = """
import os, sys, time
parent, fd, times = os.getppid(), os.open("/dev/zero", os.O_RDONLY), []
while os.getppid() == parent:
    os.read(fd, len(times) % 1000 + 1)
    times.append(time.monotonic_ns())
print(*times)
"""


def check_missing_calls(*switches):
    """Lanescope is killed. Every call before the time up to which it counted them is in the report, or told to be missing. Whether
    there may be more: where CPUs are sampled, as nobody counts samples."""
    with Folder() as folder:
        path = folder.file("cut.rep")
        process = folder.start(*switches, "-t", "osrt", "--osrt-threshold=0", "-o", "cut", "/usr/bin/python3", "-c", COUNTING)
        wait_for(lambda: os.path.exists(path) and len(rows(path, "SELECT start FROM OSRT_API LIMIT 10000")) == 10000, "the calls")
        process.kill()
        times = [int(word) for word in process.communicate()[0].split()]
        said = subprocess.run([tap.LANESCOPE, "info", path], capture_output=True, text=True, check=True).stdout
        is_least, n_missing, *between = re.search(r"missing: (at least )?(\d+) events recorded between ([\d.]+) (m?)s and ([\d.]+) (m?)s", said).groups()
        reached, seen = (float(value) * (1e6 if is_milli else 1e9) for value, is_milli in (between[:2], between[2:]))
        found = rows(path, "SELECT start, returnValue FROM OSRT_API JOIN StringIds ON id = nameId WHERE value = 'read' AND start > (SELECT max(o.start) FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId WHERE s.value LIKE 'open%') ORDER BY start")
        assert [int(place) for _, place in found] == [i % 1000 + 1 for i in range(len(found))]
        begun = min(time - int(start) for time, (start, _) in zip(times, found))  # the program may wait between the two
        made = sum(time - begun < seen for time in times)
        # Python makes others for each, and before the first.
        n_events, n_before = map(int, rows(path, f"SELECT count(*), sum(start < {found[0][0]}) FROM OSRT_API")[0])
        expected = n_before + made * (n_events - n_before) / len(found)
        assert int(found[-1][0]) < reached + 1e6 and 0.97 * expected < n_events + int(n_missing) < 1.03 * expected, (expected, n_events, said)
        return is_least is not None


def test_calls_that_wait_for_their_order_are_missing_too():
    assert not check_missing_calls("-s", "none")


def test_calls_are_counted_where_samples_are_not():
    told = subprocess.run([tap.LANESCOPE, "status", "-f", "json"], capture_output=True, text=True, check=True).stdout
    here = {row["data"]: row["recordable"] != "no" for row in json.loads(told)["data"]}
    assert check_missing_calls("-s", "process-tree") == here["cpu-samples"]


def test_locks_that_are_free_are_not_calls():
    with Folder() as folder:
        assert not set(calls(record(folder, "free-lock"))) & {"pthread_mutex_lock", "pthread_rwlock_rdlock", "sem_wait"}


def test_a_read_that_blocks():
    with Folder() as folder:
        report = record(folder, "blocking-read")
        assert max(int(ns) for ns, in rows(report, "SELECT end - start FROM OSRT_API JOIN StringIds ON id = nameId WHERE value = 'read'")) > 10000000
        assert rows(report, "SELECT returnValue FROM OSRT_API JOIN StringIds ON id = nameId WHERE value = 'read' ORDER BY end - start DESC LIMIT 1") == [("1",)]


def test_a_loop_of_sleeps():
    with Folder() as folder:
        row = sums(record(folder, "sleep-loop"))["usleep"]
        assert int(row["Num Calls"]) == 20 and int(row["Min (ns)"]) >= 1000000, row


def test_a_slow_file():
    with Folder() as folder:
        report = record(folder, "slow-file", "slow")
        assert calls(report)["fsync"] == 16


def test_the_threshold():
    with Folder() as folder:
        assert not calls(record(folder, "sleep-loop", switches=["--osrt-threshold=4000000000"]))
        report = record(folder, "slow-file", "slow", switches=["--osrt-threshold=0"])
        assert calls(report)["fread"] == 1025, calls(report)


def test_files():
    """Each call about a file, however short."""
    with Folder() as folder:
        report = record(folder, "slow-file", "slow", switches=["--osrt-file-access=true", "--osrt-threshold=4000000000"])
        path = os.path.realpath(folder.file("slow"))
        told = rows(report, "SELECT value, count(*), sum(fileBytes) FROM OSRT_API JOIN StringIds ON id = nameId "
                            f"WHERE filePath = '{path}' GROUP BY value")
        n = str(16 * 65536)
        assert {name: rest for name, *rest in told} == {"open64": ["1", "0"], "write": ["16", n], "pread64": ["1", "1000"], "close": ["1", "0"],
                                                        "fopen64": ["1", "0"], "fread": ["1025", n], "fclose": ["1", "0"]}, told
        out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", "osrt_file_sum", report], capture_output=True, text=True, check=True).stdout
        row, = (row for row in csv.DictReader(line for line in out.splitlines() if line) if row["File"] == path)
        assert [row[name] for name in ("Opens", "Reads", "Read (B)", "Writes", "Written (B)")] == ["2", "1026", str(int(n) + 1000), "16", n], row
        # Reports without files have none of this.
        report = record(folder, "slow-file", "slow")
        assert not subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", "osrt_file_sum", report], capture_output=True, text=True, check=True).stdout.strip()


def test_condition_variables():
    with Folder() as folder:
        report = record(folder, "ping-pong")
        assert calls(report)["pthread_cond_wait"] > 100


def test_threads_are_cancelled_in_calls():
    """A gate that stays shut would lose the events of the next thread that gets the stream."""
    with Folder() as folder:
        for _ in range(5):
            report = record(folder, "cancel", switches=["--osrt-threshold=0"])
            assert folder.report("os.rep", counts=True).info["lost"] == 0
            assert calls(report)["pthread_join"] == 50


def test_what_interrupts_and_ends_threads():
    with Folder() as folder:
        for what in ("handler", "destructors", "close-all", "leave", "strict"):
            assert calls(record(folder, what, switches=["--osrt-threshold=100"])), what


def test_children():
    """The child of a fork is a process; those of vfork() and posix_spawn() are, when they run another program."""
    with Folder() as folder:
        report = record(folder, "children")
        sleeps = rows(report, "SELECT count(DISTINCT globalTid), count(*) FROM OSRT_API JOIN StringIds ON id = nameId WHERE value = 'usleep'")
        assert sleeps == [("1", "1")], sleeps
        assert calls(report)["waitpid"] >= 4


def refused(folder, program, code, *arguments):
    """The program PROGRAM runs as without us, and one sentence says why its calls are missing."""
    bare = subprocess.run([program, *arguments], cwd=folder.path, capture_output=True, text=True, timeout=60)
    run = folder.profile("-t", "osrt", "-f", "true", "-o", "os.rep", program, *arguments)
    assert (run.code, run.out) == (bare.returncode, bare.stdout), (run, bare)
    assert run.err.count("--trace: osrt: ") == 1 and run.err.count(f"[{code}]") == 1 and os.path.basename(program) in run.err, run.err
    assert not calls(folder.file("os.rep"))


def elf_with(folder, name, change):
    """A copy of the program whose bytes CHANGE has changed."""
    with open(PROGRAM, "rb") as file:
        data = bytearray(file.read())
    change(data)
    with open(folder.file(name), "wb") as file:
        file.write(data)
    os.chmod(folder.file(name), 0o755)
    return folder.file(name)


def test_a_static_program_is_refused():
    """The program `lanescope` is one, unless it was built with sanitizers."""
    with Folder() as folder:
        headers = subprocess.run(["readelf", "-lW", tap.LANESCOPE], capture_output=True, text=True, check=True).stdout
        if "INTERP" not in headers:
            refused(folder, tap.LANESCOPE, "LNS-OSRT-001", "--version")


def test_a_program_with_other_rights_is_refused():
    """Root owns such programs, and may make one for another user."""
    with Folder() as folder:
        program = shutil.which("su") or "/bin/su"
        if os.geteuid() == 0:
            program = folder.file("other")
            shutil.copy(shutil.which("true"), program)
            os.chmod(folder.path, 0o755)
            os.chown(program, 65534, 65534)
            os.chmod(program, 0o4755)
        refused(folder, program, "LNS-OSRT-002", "--help")


def test_a_sanitized_program_is_refused():
    """Such a program names the function that begins the sanitizer; this one has the name in place of another symbol's."""
    def change(data):
        at = data.index(b"\0pthread_setspecific\0")
        data[at:at + 13] = b"\0__asan_init\0"
    with Folder() as folder:
        program = elf_with(folder, "sanitized", change)
        run = folder.profile("-t", "osrt", "-o", "os.rep", program, "sleep-loop")
        assert run.err.count("[LNS-OSRT-003]") == 1 and "AddressSanitizer" in run.err, run.err


def test_a_program_of_another_library_is_refused():
    """A loader that is not glibc's; that it is not there is what the system says with and without us."""
    def change(data):
        at = data.index(b"/lib64/ld-linux")
        data[at:at + 15] = b"/lib64/ld-musl-"
    with Folder() as folder:
        program = elf_with(folder, "musl", change)
        run = folder.profile("-t", "osrt", "-o", "os.rep", program, "sleep-loop")
        assert run.code == 127 and run.err.count("[LNS-OSRT-004]") == 1, run


def test_children_with_other_rights_are_told():
    """The loader preloads nothing into them, and the kernel tells nothing of what they map."""
    if os.geteuid() != 0:
        raise tap.Skip("only root makes programs that run as another user")
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    for mode, n in ((0o4755, 1), (0o755, 0)):
        with Folder() as folder:
            os.chmod(folder.path, 0o777)
            if os.statvfs(folder.path).f_flag & os.ST_NOSUID:
                raise tap.Skip("the folder for temporary files is mounted nosuid")
            shutil.copy(os.path.join(tap.BUILD, "tests", "programs", "cpu-work-plain"), folder.file("other"))
            os.chmod(folder.file("other"), mode)
            if subprocess.run([*as_nobody, "test", "-x", tap.LANESCOPE]).returncode != 0:
                raise tap.Skip("other users cannot execute what we built")
            run = folder.profile("-t", "osrt", "--sample=process-tree", "-o", "r", "sh", "-c", "./other spin 100; true", before=as_nobody)
            assert run.code == 0, run
            if re.search(r"LNS-CPU-00[1-4]", run.err):
                return
            told = [d["text"] for d in folder.report("r.rep").diagnostics if d["code"] == "LNS-OSRT-007"]
            assert len(told) == n and all("in 1 program that" in text and "“other”" in text for text in told), (mode, run)


def test_programs_that_the_library_does_not_reach():
    """Their environment is not ours. What they map tells, so samples of CPUs are needed."""
    for script, n in (("env -i /bin/true; env -i /bin/true; /bin/true", 2), ("/bin/true; /bin/true", 0)):
        with Folder() as folder:
            run = folder.profile("--strict", "-t", "osrt", "--sample=process-tree", "-o", "r", "sh", "-c", script)
            if re.search(r"LNS-CPU-00[1-4]", run.err):
                return
            assert run.code == (124 if n > 0 else 0), run
            told = [d["text"] for d in folder.report("r.rep").diagnostics if d["code"] == "LNS-OSRT-007"]
            assert [text.startswith(f"calls of the C library are not recorded in {n} programs") and "“true”" in text
                    for text in told] == [True] * (n > 0), told


def test_a_script_is_its_interpreter():
    with Folder() as folder:
        script = folder.file("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#! {PROGRAM} sleep-loop\n")
        os.chmod(script, 0o755)
        run = folder.profile("-t", "osrt", "-o", "os.rep", "./script")
        assert run.code == 0 and "LNS-OSRT" not in run.err and calls(folder.file("os.rep"))["usleep"] == 20, run


def test_another_preloaded_library_is_called():
    """deny-call is not one; MPI's library of ours is, and has no function of these."""
    with Folder() as folder:
        other = os.path.join(tap.BUILD, "capture/inject/liblanescope-mpi.so")
        report = record(folder, "sleep-loop", env={**os.environ, "LD_PRELOAD": other})
        assert calls(report)["usleep"] == 20


tap.main(globals(), gate=(test_callers_of_calls, test_a_lock_convoy, test_files))
