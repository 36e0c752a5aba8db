# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--python-sampling on each CPython found: samples name the functions that threads are in, of whatever process of the program
runs Python, and the programs do not notice."""

import collections
import contextlib
import os
import re
import sqlite3
import subprocess
import sys

import profiling
import tap
from sampling import REFUSAL

DENY = os.path.join(tap.BUILD, "tests", "e2e", "deny-call")
PYTHONS = {version: path for version, path in tap.pythons().items() if 9 <= int(version.split(".")[1]) <= 14}
OLD = [path for version, path in tap.pythons().items() if version == "3.8"]
# A tenth of the default, as tests read all of it.
SAMPLING = ("-t", "none", "-s", "none", "-o", "r.rep", "--python-sampling=true",
            "--python-sampling-frequency=100")
# ENUM_SAMPLING_THREAD_STATE
RUNNING, WAITING = 1, 7
# LnsPythonLock
NEITHER, HOLDS, WAITS = 1, 2, 3

Sample = collections.namedtuple("Sample", "id start pid tid state lock calls n_calls")

# Threads in known functions, until a line comes.
THREADS = '''
import os, sys, threading, time
pipe = os.pipe()
ended = False
def reads():
    os.read(pipe[0], 1)
def spins():
    while not ended:
        leaf()
def leaf():
    for i in range(1000):
        pass
def deep(n):
    if n > 0:
        deep(n - 1)
    else:
        os.read(pipe[0], 1)
sys.setrecursionlimit(10000)
threading.stack_size(256 << 20)
threads = [threading.Thread(target=reads), threading.Thread(target=spins), threading.Thread(target=deep, args=(3000,))]
for thread in threads:
    thread.start()
def main():
    print("ready", os.getpid(), flush=True)
    sys.stdin.readline()
main()
ended = True
os.write(pipe[1], b"ab")
for thread in threads:
    thread.join()
print("done")
sys.exit(7)
'''


def query(folder, text):
    """The rows that a report, which may be written meanwhile, answers TEXT with; none while there is no report."""
    if not os.path.exists(folder.file("r.rep")):
        return []
    out = subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"), text], capture_output=True, text=True)
    # Reports without chains have no table of them.
    assert out.returncode == 0 or "no such table: LNS_PYTHON_CALLCHAINS" in out.stderr, out
    return [line.split("\t") for line in out.stdout.splitlines()]


def samples(folder):
    """The samples of a report, with their six innermost calls as (function, file, line) and how many there are."""
    chains, lengths = collections.defaultdict(list), {}
    for at, function, file, line in query(folder, "SELECT c.id, f.value, coalesce(m.value, ''), coalesce(c.sourceLine, 0) FROM LNS_PYTHON_CALLCHAINS c "
                                            "JOIN StringIds f ON f.id = c.symbol LEFT JOIN StringIds m ON m.id = c.sourceFile "
                                            "WHERE c.stackDepth < 6 ORDER BY c.id, c.stackDepth"):
        chains[int(at)].append((function, file, int(line)))
    for at, n in query(folder, "SELECT id, count(*) FROM LNS_PYTHON_CALLCHAINS GROUP BY id"):
        lengths[int(at)] = int(n)
    return [Sample(*map(int, row), chains[int(row[0])], lengths.get(int(row[0]), 0))
            for row in query(folder, "SELECT id, start, globalTid >> 24 & 0xffffff, globalTid & 0xffffff, threadState, lock "
                                     "FROM LNS_PYTHON_SAMPLES ORDER BY start")]


def names(sample):
    return [function for function, _, _ in sample.calls]


def processes(folder, function):
    """The pids of the processes that were sampled in FUNCTION."""
    return {row[0] for row in query(folder, "SELECT DISTINCT globalTid >> 24 & 0xffffff FROM LNS_PYTHON_CALLCHAINS c "
                                            "JOIN StringIds f ON f.id = c.symbol JOIN LNS_PYTHON_SAMPLES s ON s.id = c.id "
                                            f"WHERE c.stackDepth = 0 AND f.value = '{function}'")}


def sampled(folder, function, n=1):
    """Waits until N processes were sampled in FUNCTION."""
    profiling.wait_for(lambda: len(processes(folder, function)) == n, f"samples in {function}", 60)


def end(run, line=b"go\n"):
    out, err = run.communicate(line)
    return profiling.Run(run.returncode, out.decode(), err.decode(), None)


def write(folder, text):
    with open(folder.file("program.py"), "w", encoding="utf-8") as file:
        file.write(text)
    return folder.file("program.py")


def on_each(check):
    assert PYTHONS
    for version, path in PYTHONS.items():
        with profiling.Folder() as folder:
            try:
                check(folder, path)
            except AssertionError as error:
                told = subprocess.run([tap.LANESCOPE, "info", folder.file("r.rep")], capture_output=True, text=True).stdout
                raise AssertionError(f"{version}: {error}\n{told}") from error


def test_threads_are_where_they_are():
    def check(folder, path):
        program = write(folder, THREADS)
        run = folder.start(*SAMPLING, path, program, stdin=subprocess.PIPE)
        for name in ("reads", "leaf", "deep", "main"):
            sampled(folder, name)
        run = end(run)
        assert run.code == 7 and re.fullmatch(r"ready \d+\ndone\n", run.out), run
        found = samples(folder)
        by_thread = collections.defaultdict(list)
        for sample in found:
            by_thread[sample.tid].append(sample)
            assert sample.pid == int(run.out.split()[1]) and sample.calls, sample
        inner = {name: [s for s in found if s.calls[0][:2] == (name, program)] for name in ("reads", "leaf", "spins", "deep", "main")}
        # A thread that waits in the kernel neither runs nor holds the lock; all of its callers are there.
        for name, starts in (("reads", "run"), ("main", "<module>")):
            # It may have got there, or left, between the readings of its state and of the lock.
            waits = collections.Counter(s.lock for s in inner[name] if s.state == WAITING)
            assert waits[NEITHER] > 0.9 * sum(waits.values()), (name, waits)
            assert all(any(function.rsplit(".")[-1] == starts for function in names(s)[1:3]) for s in inner[name]), names(inner[name][0])
            assert len({s.tid for s in inner[name]}) == 1
        lines = THREADS.splitlines()
        for name, at in (("reads", "os.read(pipe[0], 1)"), ("main", "sys.stdin.readline()")):
            assert any(lines[s.calls[0][2] - 1].strip() == at for s in inner[name]), inner[name][0]
        assert {lines[s.calls[0][2] - 1].strip() for s in inner["leaf"]} <= {"for i in range(1000):", "pass", "def leaf():"}, inner["leaf"][0]
        # One that spins is the only one that has it.
        assert any(s.state == RUNNING and s.lock == HOLDS for s in inner["leaf"] + inner["spins"])
        assert all("spins" in names(s) for s in inner["leaf"])
        holders = collections.Counter(s.start for s in found if s.lock == HOLDS)
        assert max(holders.values()) == 1, holders.most_common(2)
        # A chain that is too long keeps its innermost calls, and says so.
        cut = query(folder, "SELECT DISTINCT stackDepth FROM LNS_PYTHON_CALLCHAINS c JOIN StringIds f ON f.id = c.symbol "
                            "WHERE f.value = '[outer functions left out]'")
        assert cut == [["1024"]] and any(s.n_calls == 1025 for s in inner["deep"]), cut
        for thread in by_thread.values():
            starts = [s.start for s in thread]
            assert starts == sorted(set(starts)), [(i, n, thread[i][:4], thread[n][:4]) for i, n in zip(range(len(thread)), range(1, len(thread))) if thread[i].start >= thread[n].start][:5]

    on_each(check)


def test_threads_have_their_names_of_python():
    """A name that a thread has in the system, such as by PR_SET_NAME, is not replaced."""
    text = '''
import ctypes, sys, threading
ended = threading.Event()
def fetch():
    while not ended.wait(0.001):
        pass
def renamed():
    ctypes.CDLL(None).prctl(15, b"in the system", 0, 0, 0)
    fetch()
threads = [threading.Thread(target=fetch), threading.Thread(target=fetch, name="loader/größe"), threading.Thread(target=renamed, name="hidden")]
for thread in threads:
    thread.start()
def main():
    print(threads[0].name, flush=True)
    sys.stdin.readline()
main()
ended.set()
for thread in threads:
    thread.join()
'''

    def check(folder, path):
        for more in (("-t", "none", "-s", "none", "--python-sampling=true"), ("-t", "osrt", "-s", "none", "--python-sampling=true"),
                     ("-t", "none", "-s", "process-tree"), ("-t", "none", "-s", "process-tree", "--python-sampling=false")):
            if "process-tree" in more and REFUSAL is not None:
                continue
            run = folder.start("-f", "true", "-o", "r.rep", *more, path, write(folder, text), stdin=subprocess.PIPE)
            default = run.stdout.readline().decode().strip()
            profiling.wait_for(lambda: query(folder, "SELECT 1 FROM ThreadNames JOIN StringIds ON id = nameId WHERE value = 'loader/größe'"), "the name")
            code = end(run).code
            named = collections.Counter(name for name, in query(folder, "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId"))
            main = query(folder, "SELECT substr(name, 1, 15) FROM PROCESSES")[0][0]
            assert code == 0 and default.startswith("Thread-1"), (code, default)
            assert named == collections.Counter([default, "loader/größe", "in the system", main]), (more, named)
            if "--python-sampling=false" in more:
                assert "LNS_PYTHON_SAMPLES" not in [name for name, in query(folder, ".tables")]
                assert not [code for code in folder.report("r.rep").codes() if code.startswith("LNS-PYTHON")]

    on_each(check)


def test_python_is_sampled_where_cpus_are():
    """Without a switch. Programs that are no Python are told nothing about it."""
    if REFUSAL is not None:
        raise tap.Skip(REFUSAL)
    text = "def spins():\n    for i in range(8_000_000):\n        pass\nspins()\n"

    def check(folder, path):
        for more, expected in ((("-s", "process-tree"), True), (("-s", "none", "-t", "osrt"), False),
                               (("-s", "process-tree", "--python-sampling=false"), False)):
            run = folder.profile(*(() if "-t" in more else ("-t", "none")), *more, "-f", "true", "-o", "r.rep", path, write(folder, text))
            has = "LNS_PYTHON_SAMPLES" in [name for name, in query(folder, ".tables")]
            assert run.code == 0 and has == expected and "LNS-PYTHON" not in run.err, (more, run)
            assert not has or query(folder, "SELECT count(*) FROM LNS_PYTHON_CALLCHAINS JOIN StringIds ON StringIds.id = symbol WHERE value = 'spins'")[0][0] != "0"

    on_each(check)
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", "-s", "process-tree", "-o", "r.rep", "sleep", "0.3")
        assert run.code == 0 and "LNS-PYTHON" not in run.err and not [c for c in folder.report("r.rep").codes() if "PYTHON" in c], run


def test_samples_of_ended_threads_stay_in_their_row():
    """What the thread did is known to have ended before its last samples are read."""
    text = """
import threading, time
def spins():
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        pass
for _ in range(3):
    threads = [threading.Thread(target=spins) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""

    with profiling.Folder() as folder:
        path = list(PYTHONS.values())[-1]
        run = folder.profile("-t", "osrt", "-s", "none", "-o", "r.rep", "--python-sampling=true", path, "-c", text)
        assert run.code == 0, run
        lanes = [lane["thread"] for lane in folder.report("r.rep").lanes if lane["kind"] == "python-sample"]
        assert len(lanes) > 1 and len(lanes) == len(set(lanes)), lanes


def test_all_processes_that_run_python_are_found():
    """Forks, programs that find no variable of ours, what a shell runs, and what a program becomes by exec."""
    text = '''
import os, subprocess, sys
def forked():
    sys.stdin.readline()
def waits():
    for pid in pids:
        os.waitpid(pid, 0)
pids = []
end = os.pipe()
for i in range(2):
    pids.append(os.fork())
    if pids[-1] == 0:
        os.close(end[1])
        def forked_child():
            os.read(end[0], 1)
        forked_child()
        os._exit(0)
code = "def plain():\\n import os\\n os.read(0, 1)\\nplain()"
bare = [subprocess.Popen(["env", "-i", sys.executable, "-c", code], stdin=subprocess.PIPE),
        subprocess.Popen(["sh", "-c", '"$@"; :', "sh", sys.executable, "-c", code], stdin=subprocess.PIPE)]
def main():
    sys.stdin.readline()
main()
os.close(end[1])
for process in bare:
    process.communicate(b"x")
waits()
os.execv(sys.executable, [sys.executable, "-c", "def replaced():\\n import sys\\n sys.stdin.readline()\\nreplaced()"])
'''

    def check(folder, path):
        run = folder.start(*SAMPLING, path, write(folder, text), stdin=subprocess.PIPE)

        for name, n in (("forked_child", 2), ("plain", 2), ("main", 1)):
            sampled(folder, name, n)
        run.stdin.write(b"go\n")
        run.stdin.flush()
        sampled(folder, "replaced")
        run = end(run)
        assert run.code == 0, run
        assert processes(folder, "replaced") == processes(folder, "main")
        # Each thread is one of its own process, also while a child still has its parent's memory.
        assert all(s.tid == s.pid for s in samples(folder))
        assert "LNS-PYTHON-003" not in run.err, run.err

    on_each(check)


def test_an_interpreter_may_look_strange_while_it_begins():
    """Also if it begins late, and has long been looked for."""
    program = os.path.join(tap.BUILD, "tests", "e2e", "embedded-python")
    if not os.path.exists(program):
        raise tap.Skip("libpython was not there to build against")
    # The first thread has another one before it, which cannot be.
    text = """
import ctypes, sys, time
get = ctypes.pythonapi.PyThreadState_Get
get.restype = ctypes.c_void_p
before = ctypes.c_size_t.from_address(get())
assert before.value == 0
before.value = 64
time.sleep(0.6)
before.value = 0
def waits():
    sys.stdin.readline()
waits()
"""
    with profiling.Folder() as folder:
        run = folder.start(*SAMPLING, program, text, "300", stdin=subprocess.PIPE)
        sampled(folder, "waits")
        run = end(run)
        assert run.code == 0 and "LNS-PYTHON-003" not in run.err, run


def test_sub_interpreters_get_no_thread_that_may_be_wrong():
    """Up to 3.12, the state of a sub-interpreter has the id of the thread that made it, and another one runs it."""
    text = '''
import os, sys, threading
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
inner = interpreters.create()
end = os.pipe()
def outer():
    getattr(interpreters, "run_string", None)(inner, f"def within():\\n import os\\n os.read({end[0]}, 1)\\nwithin()")
thread = threading.Thread(target=outer)
thread.start()
def main():
    sys.stdin.readline()
main()
os.write(end[1], b"x")
thread.join()
'''

    def check(folder, path):
        run = folder.start(*SAMPLING, path, write(folder, text), stdin=subprocess.PIPE)
        for name in ("outer", "main"):
            sampled(folder, name)
        run = end(run)
        assert run.code == 0 and run.err.count("LNS-PYTHON-003") == 1 and "sub-interpreters" in run.err, run
        found = samples(folder)
        assert len({(s.tid, s.start) for s in found}) == len(found)
        assert not [s for s in found if s.calls[0][0] == "within"]
        threads = [{s.tid for s in found if s.calls[0][0] == name} for name in ("outer", "main")]
        assert len(threads[0]) == len(threads[1]) == 1 and threads[0] != threads[1], threads

    on_each(check)


def test_the_frequency_is_an_upper_bound():
    with profiling.Folder() as folder:
        run = folder.start(*SAMPLING[:-1], "--python-sampling-frequency=50", sys.executable, write(folder, THREADS), stdin=subprocess.PIPE)
        times = "SELECT DISTINCT start FROM LNS_PYTHON_SAMPLES ORDER BY start"
        profiling.wait_for(lambda: len(query(folder, times)) > 20, "samples", 60)
        assert end(run).code == 7
        found = [int(row[0]) for row in query(folder, times)]
        assert len(found) <= (found[-1] - found[0]) / 20e6 + 2, (len(found), found[-1] - found[0])


def test_what_costs_too_much_is_left_out_and_counted():
    """A thread that runs in 900 functions cannot be read 2,000 times a second in a twentieth of a core."""
    text = '''
import sys, threading
names = {"ended": False}
exec("".join(f"def f{i}():\\n f{i - 1}()\\n" for i in range(1, 900)) + "def f0():\\n while not ended: pass\\n", names)
thread = threading.Thread(target=names["f899"])
thread.start()
sys.stdin.readline()
names["ended"] = True
thread.join()
'''
    with profiling.Folder() as folder:
        run = folder.start(*SAMPLING[:-1], "--python-sampling-frequency=2000", sys.executable, write(folder, text), stdin=subprocess.PIPE)
        sampled(folder, "f0")
        run = end(run)
        assert run.code == 0 and "LNS-PYTHON-004" in run.err, run
        assert "LNS-PYTHON-004" in folder.report("r.rep").codes(), run


def test_refusals_are_told_once_and_hurt_nobody():
    with profiling.Folder() as folder:
        text = "import subprocess, sys\nfor i in range(3):\n subprocess.run([sys.executable, '-c', 'import time; time.sleep(0.3)'])\nprint(1)"
        run = folder.profile(*SAMPLING, sys.executable, write(folder, text), before=[DENY, "process_vm_readv"])
        assert run.code == 0 and run.out == "1\n", run
        assert run.err.count("LNS-PYTHON-003") == 1 and "--cap-add=SYS_PTRACE" in run.err, run.err
        assert samples(folder) == []


def test_other_versions_are_told_once():
    if not OLD:
        raise tap.Skip("CPython 3.8 is not here")
    with profiling.Folder() as folder:
        text = "import subprocess, sys\nfor i in range(3):\n subprocess.run([sys.executable, '-c', 'import time; time.sleep(0.5)'])\nprint(1)"
        run = folder.profile(*SAMPLING, OLD[0], write(folder, text))
        assert run.code == 0 and run.out == "1\n", run
        assert run.err.count("LNS-PYTHON-003") == 1 and "runs Python 3.8" in run.err, run.err


def test_other_programs_have_nothing_to_sample():
    with profiling.Folder() as folder:
        run = folder.profile(*SAMPLING, "sh", "-c", "exit 5")
        assert run.code == 5 and "LNS-PYTHON-005" in run.err and "LNS-PYTHON-003" not in run.err, run


def test_exports_have_the_samples():
    with profiling.Folder() as folder:
        run = folder.start(*SAMPLING, sys.executable, write(folder, THREADS), stdin=subprocess.PIPE)
        sampled(folder, "leaf")
        end(run)
        out = subprocess.run([tap.LANESCOPE, "export", "-t", "sqlite", "-o", folder.file("out.sqlite"), folder.file("r.rep")],
                             capture_output=True, text=True)
        assert out.returncode == 0, out
        with contextlib.closing(sqlite3.connect(folder.file("out.sqlite"))) as database:
            for table in ("LNS_PYTHON_SAMPLES", "LNS_PYTHON_CALLCHAINS"):
                count = f"SELECT count(*) FROM {table}"
                assert database.execute(count).fetchone()[0] == int(query(folder, count)[0][0]) > 0, table


tap.main(globals(), gate=(test_exports_have_the_samples,))
