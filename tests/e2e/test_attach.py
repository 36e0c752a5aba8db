# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""`lanescope attach`: programs that run already are recorded, and not disturbed. Where the machine refuses samples, the refusal is
tested."""

import collections
import ctypes
import os
import re
import signal
import subprocess

import profiling
import tap
from profiling import OWN_RIGHTS, wait_for
from sampling import REFUSAL, WORK, is_refused, rows

PLAIN = WORK + "-plain" # -O2, without frame pointers
DENY = os.path.join(tap.BUILD, "tests", "e2e", "deny-call")
SAMPLING = ("-f", "true", "-o", "r.rep", "--sample=process-tree")


class Server:
    """`cpu-work serve`, which has begun to work."""

    def __init__(self, n_threads=2, program=PLAIN):
        self.process = subprocess.Popen([program, "serve", str(n_threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def do(self, what):
        self.process.stdin.write(what)
        self.process.stdin.flush()

    def end(self):
        """Ends it; it must have come to its end as without Lanescope."""
        out = self.process.communicate()[0]
        assert out == "done\n" and self.process.returncode == 7, (out, self.process.returncode)


def attach(folder, *words, before=(), **options):
    """Runs `lanescope attach` with WORDS to its end."""
    run = subprocess.run([*before, tap.LANESCOPE, "attach", *map(str, words)], cwd=folder.path, stdin=subprocess.DEVNULL, capture_output=True,
                         timeout=60, text=True, **options)
    return profiling.Run(run.returncode, run.stdout, run.stderr, folder)


class Attached:
    """The same, which runs until it is told to end."""

    def __init__(self, folder, *words, before=()):
        self.folder = folder
        self.process = subprocess.Popen([*before, tap.LANESCOPE, "attach", *map(str, words)], cwd=folder.path, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = ""
        while "Collecting data..." not in self.said:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line

    def end(self, number=None):
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return profiling.Run(self.process.returncode, out, self.said + err, self.folder)


def samples_by_name(folder):
    try:
        return dict(rows(folder, "SELECT n.value, count(*) FROM COMPOSITE_EVENTS e JOIN ThreadNames t ON t.globalTid = e.globalTid "
                                 "JOIN StringIds n ON n.id = t.nameId GROUP BY 1"))
    except subprocess.CalledProcessError:
        return {} # there is no sample yet


def chains_by_name(folder):
    """{name of the thread: [its chains, the leaf first]}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for thread, sample, function in rows(
            folder, "SELECT n.value, c.id, s.value FROM SAMPLING_CALLCHAINS c JOIN COMPOSITE_EVENTS e ON e.id = c.id "
                    "JOIN ThreadNames t ON t.globalTid = e.globalTid JOIN StringIds n ON n.id = t.nameId "
                    "JOIN StringIds s ON s.id = c.symbol ORDER BY c.id, stackDepth"):
        found[thread][sample].append(function)
    return {thread: list(chains.values()) for thread, chains in found.items()}


def check_no_event_is_there_twice(folder, path="r.rep"):
    for table, columns in ("COMPOSITE_EVENTS", "start, globalTid"), ("SCHED_EVENTS", "start, globalTid, isSchedIn"):
        if rows(folder, f"SELECT count(*) FROM sqlite_temp_master WHERE name = '{table}'", path) != [(0,)]:
            twice = rows(folder, f"SELECT {columns}, count(*) FROM {table} GROUP BY {columns} HAVING count(*) > 1", path)
            assert not twice, (table, twice[:5])


def test_threads_and_children_that_ran_before():
    """And those that they start later; with the names of functions, and callers by unwind tables of libraries mapped before."""
    expected = {"one": "serve_thread", "two": "serve_thread", "child": "serve_process", "three": "serve_thread", "later": "serve_process"}
    with profiling.Folder() as folder, Server() as server:
        attached = Attached(folder, "-p", server.pid, *SAMPLING)
        server.do("tf")
        if REFUSAL is None:
            wait_for(lambda: all(samples_by_name(folder).get(name, 0) >= 20 for name in expected), "samples of all threads")
        assert server.process.poll() is None
        run = attached.end(signal.SIGINT)
        assert run.code == 0 and run.out == "", run
        assert run.err.count("note: NVTX and CUDA are not recorded") == 1, run.err
        server.end()
        report = folder.report("r.rep")
        main = next(process for process in report.processes if process["pid"] == server.pid)
        assert main["command_line"] == f"{PLAIN} serve 2" and main["start"] < 0 and main["executable"] == PLAIN, main
        if is_refused(run):
            return
        chains = chains_by_name(folder)
        for name, function in expected.items():
            of_leaf = [chain[chain.index("leaf"):] for chain in chains[name] if "leaf" in chain] # behind calls of the kernel
            # Where the C library has no debug symbols, what starts a thread has no name.
            whole = [chain for chain in of_leaf if chain[:3] == ["leaf", "middle", function]
                     and re.fullmatch(r"_start|clone3?|__clone|libc\.so\.6\+0x[0-9a-f]+", chain[-1])]
            assert len(whole) >= 5 and len(whole) > 0.8 * len(of_leaf), (name, chains[name][:5])
        child = next(process for process in report.processes if process["name"] == "child")
        assert report.processes[child["parent"]]["pid"] == server.pid and child["start"] < 0, child
        later = [process for process in report.processes if process["start"] > 0]
        assert len(later) == 1 and report.processes[later[0]["parent"]]["pid"] == server.pid, report.processes
        threads = {thread["name"]: thread for thread in report.threads}
        assert set(expected) <= set(threads) and threads["one"]["start"] < 0 < threads["three"]["start"], threads
        check_no_event_is_there_twice(folder)


def test_the_report_ends_with_the_processes():
    with profiling.Folder() as folder, Server(1) as one, Server(1) as two:
        attached = Attached(folder, "--pid", f"{one.pid},{two.pid}", "-p", one.pid, *SAMPLING)
        one.end()
        assert attached.process.poll() is None
        two.end()
        run = attached.end()
        assert run.code == 0, run
        if not is_refused(run):
            ends = {process["pid"]: process["end"] for process in folder.report("r.rep").processes}
            assert ends[one.pid] is not None and ends[two.pid] is not None, ends


def test_ends_without_descriptors_for_processes():
    """As in some sandboxes, and before Linux 5.3."""
    with profiling.Folder() as folder, Server(1) as server:
        attached = Attached(folder, "-p", server.pid, *SAMPLING, before=[DENY, "pidfd_open"])
        server.end()
        assert attached.end().code == 0


def test_a_time_and_signals_end_it():
    with profiling.Folder() as folder, Server(1) as server:
        assert attach(folder, "-p", server.pid, "-d", "0.2", *SAMPLING).code == 0
        assert attach(folder, "-p", server.pid, "-d", "0.2", "-y", "0.1", "--stats=true", *SAMPLING).code == 0
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            run = Attached(folder, "-p", server.pid, *SAMPLING).end(number)
            assert run.code == 0 and "Generated:" in run.err, (number, run)
        assert server.process.poll() is None
        server.end()


def test_a_program_that_calls_exec():
    with profiling.Folder() as folder, Server() as server:
        attached = Attached(folder, "-p", server.pid, *SAMPLING)
        server.do("e")
        run = attached.end()
        assert run.code == 0, run
        assert server.process.wait() == 7
        if not is_refused(run):
            chains = [chain for found in chains_by_name(folder).values() for chain in found]
            assert sum("leaf" in chain and "main" in chain for chain in chains) >= 10, chains[:5]


STORM = """
import os, threading
def work():
    sum(range(20000))
print("ready", flush=True)
while os.read(0, 0) == b"" and not is_over():
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        for _ in range(3):
            if os.fork() == 0:
                work()
                os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
    for thread in threads:
        thread.join()
"""


def test_threads_that_begin_meanwhile():
    """Each is recorded once, whether it began before, after or while events were opened."""
    program = "import select\ndef is_over(): return bool(select.select([0], [], [], 0)[0])\n" + STORM
    with profiling.Folder() as folder:
        storm = subprocess.Popen(["/usr/bin/python3", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert storm.stdout.readline() == b"ready\n"
        counts = []
        for _ in range(4):
            run = attach(folder, "-p", storm.pid, "-d", "0.5", *SAMPLING)
            assert run.code == 0, run
            if not is_refused(run):
                check_no_event_is_there_twice(folder)
                pids = [(process["pid"], process["start"]) for process in folder.report("r.rep").processes]
                assert len(set(pids)) == len(pids), pids
                counts.append((len(pids), rows(folder, "SELECT count(*) FROM SCHED_EVENTS")[0][0]))
        # How many there are in half a second is up to the machine.
        assert REFUSAL is not None or (sum(n for n, _ in counts) > 8 and sum(n for _, n in counts) > 100), counts
        storm.communicate(b"end", timeout=20)
        assert storm.returncode == 0


def test_many_threads():
    with profiling.Folder() as folder, Server(500) as server:
        run = attach(folder, "-p", server.pid, "-d", "0.5", "-s", "none", "--cpuctxsw=process-tree", "-f", "true", "-o", "r.rep")
        assert run.code == 0, run
        if not is_refused(run) and "LNS-CPU-008" not in run.err: # unless there are too many CPUs for the limit of descriptors
            assert len(folder.report("r.rep").threads) >= 502
        server.end()


def test_few_descriptors():
    with profiling.Folder() as folder, Server(60) as server:
        # Enough for ten to fifteen threads, with two or three events of each for each CPU.
        limit = int((30 + 3 * 10 * os.sysconf("SC_NPROCESSORS_ONLN")) * 4 / 3)
        run = attach(folder, "-p", server.pid, "-d", "0.3", *SAMPLING, before=["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"])
        assert run.code == 0, run
        if not is_refused(run):
            left_out = int(re.search(r"; (\d+) left out; raise `ulimit -n` \[LNS-CPU-008\]", run.err).group(1))
            assert 30 <= left_out < 60 and "LNS-CPU-008" in folder.report("r.rep").codes(), run.err
        server.end()


def test_a_refusal():
    with profiling.Folder() as folder, Server() as server:
        run = attach(folder, "-p", server.pid, "-d", "0.2", *SAMPLING, before=[DENY, "perf_event_open"])
        assert run.code == 0 and run.err.count("[LNS-CPU-002]") == 1, run
        report = folder.report("r.rep")
        assert report.codes() == ["LNS-CPU-002"] and {process["name"] for process in report.processes} == {"cpu-work-plain", "child"}, report.processes
        server.end()


def test_a_process_that_must_not_be_looked_at():
    """It says so itself, as programs with secrets do. The other one is recorded."""
    secret = "import ctypes, sys\nctypes.CDLL(None).prctl(4, 0)\nprint('ready', flush=True)\nsys.stdin.read()"
    with profiling.Folder() as folder:
        hidden = subprocess.Popen([*OWN_RIGHTS, "/usr/bin/python3", "-c", secret], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        other = subprocess.Popen([*OWN_RIGHTS, PLAIN, "serve", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert hidden.stdout.readline() == other.stdout.readline() == b"ready\n"
        run = attach(folder, "-p", f"{hidden.pid},{other.pid}", "-d", "0.5", *SAMPLING, before=OWN_RIGHTS)
        refused = REFUSAL is not None or "[LNS-CPU-00" in run.err.replace("[LNS-CPU-007]", "")
        assert run.code == 0, run
        if not refused:
            assert f"process {hidden.pid} is not sampled" in run.err and run.err.count("[LNS-CPU-007]") == 1, run.err
            assert samples_by_name(folder).get("one", 0) > 0
        assert {hidden.pid, other.pid} <= {process["pid"] for process in folder.report("r.rep").processes}
        for process, code in (hidden, 0), (other, 7):
            process.communicate(timeout=20)
            assert process.returncode == code


def test_many_processes_that_must_not_be_looked_at():
    """Four are named."""
    secrets = "import ctypes, os, sys\nctypes.CDLL(None).prctl(4, 0)\n[os.fork() for _ in range(3)]\nos.write(1, b'.')\nsys.stdin.read()"
    with profiling.Folder() as folder:
        hidden = subprocess.Popen([*OWN_RIGHTS, "/usr/bin/python3", "-c", secrets], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert hidden.stdout.read(8) == b"." * 8
        run = attach(folder, "-p", hidden.pid, "-d", "0.1", *SAMPLING, before=OWN_RIGHTS)
        assert run.code == 0, run
        if REFUSAL is None and "LNS-CPU-001" not in run.err:
            assert run.err.count("[LNS-CPU-007]") == 5 and "for the same reason: 4 [LNS-CPU-007]" in run.err, run.err
        assert len(folder.report("r.rep").processes) == 8
        hidden.communicate(timeout=20)


def test_what_cannot_be_attached_to():
    with profiling.Folder() as folder:
        dead = subprocess.Popen(["true"])
        dead.wait()
        cases = [([], "attach needs a process"), (["-p", "x"], "“x” is not a process id"), (["-p", "-1"], "is not a process id"),
                 (["-p", dead.pid], f"--pid={dead.pid}: there is no such process"), (["--match=("], "is not an extended regular expression"),
                 (["--match=^no such program$"], "no process of yours"), (["true"], "attach starts no program"),
                 (["-p", os.getpid(), "-d", "0"], "must be more than 0")]
        with open("/proc/2/comm" if os.path.exists("/proc/2/comm") else "/dev/null", encoding="utf-8") as file:
            if file.read() == "kthreadd\n":
                cases.append((["-p", "2"], "thread of the kernel"))
        for words, told in cases:
            run = attach(folder, *words)
            assert run.code == 125 and run.out == "" and told in run.err and len(run.err.splitlines()) == 1, (words, run)
        own = subprocess.run(["sh", "-c", f'exec {tap.LANESCOPE} attach -p $$'], capture_output=True, text=True, cwd=folder.path)
        assert own.returncode == 125 and "this is Lanescope itself" in own.stderr, own
        assert os.listdir(folder.path) == []
        with Server(1) as server:
            run = attach(folder, "-p", f"{dead.pid},{server.pid}", "-d", "0.1", *SAMPLING)
            assert run.code == 0 and f"warning: --pid={dead.pid}: there is no such process" in run.err, run
            assert attach(folder, "-p", f"{dead.pid},{server.pid}", "-d", "0.1", "--strict", *SAMPLING).code == 124


def test_a_match_of_command_lines():
    with profiling.Folder() as folder, Server(1) as one, Server(3) as two, Server(1) as other:
        link = folder.file("a-name-of-its-own")
        os.symlink(PLAIN, link)
        with Server(1, link) as first, Server(2, link) as second:
            run = attach(folder, "--match=a-name-of-its-own serve (1|2)($| )", "-d", "0.1", *SAMPLING,
                         before=["sh", "-c", '"$@"; exit $?', "a-name-of-its-own serve 1 sh"])
            assert run.code == 0, run
            # And their children, which have the same command lines. The shell has them, too, and waits for Lanescope.
            assert "--match: 4 processes" in run.err, run.err
            pids = {process["pid"] for process in folder.report("r.rep").processes}
            assert {first.pid, second.pid} <= pids and not {one.pid, two.pid, other.pid} & pids and len(pids) == 4, pids


def test_python_functions():
    program = "import sys\ndef named():\n    return sum(range(3000))\nprint('ready', flush=True)\nimport select\nwhile not select.select([0], [], [], 0)[0]: named()"
    with profiling.Folder() as folder:
        process = subprocess.Popen(["/usr/bin/python3", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        run = attach(folder, "-p", process.pid, "-s", "none", "--python-sampling=true", "-d", "1", "-o", "r.rep")
        assert run.code == 0 and ctypes.sizeof(ctypes.c_void_p) == 8, run
        names = {name for name, in rows(folder, "SELECT DISTINCT s.value FROM LNS_PYTHON_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol")}
        assert "named" in names, (names, run)
        process.communicate(b"end", timeout=20)
        assert process.returncode == 0


tap.main(globals(), gate=(test_the_report_ends_with_the_processes, test_a_program_that_calls_exec))
