# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the life of programs under `lanescope profile`: children, signals, kills, times, control."""

import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap
from profiling import (ACT, COMPLETE, CUT_OFF, END_UNKNOWN, OPEN_END, OPEN_START, Folder, Report, alive,
                       children, wait_for)


def started(process):
    """The pid of the program that PROCESS, a running lanescope, has started."""
    return wait_for(lambda: children(process.pid), "the program's start")[0]


def finished(process, seconds=30):
    out, err = process.communicate(timeout=seconds)
    return process.returncode, (out or b"").decode(), (err or b"").decode()


# --- While Lanescope is stopped ---------------------------------------------------------------

# The program would wait so many milliseconds for an answer.
STOPPED_PATIENCE = {**os.environ, "LNS_TEST_PATIENCE": "100"}
STOPPED_MS = 100 * 1000


def begin_stopped(folder, *words, switches=(), stdin=subprocess.DEVNULL):
    """Starts ACT, which does WORDS once Lanescope is stopped; until it has made the file `made`. Returns the tool,
    the program, and how many descriptors of it the tool had meanwhile."""
    tool = folder.start("-t", "nvtx", *switches, "-o", "r", ACT, "catch", int(signal.SIGUSR1), "print", "ready", "pause", *words,
                        env=STOPPED_PATIENCE, stdin=stdin)
    assert tool.stdout.readline() == b"ready\n"
    target = started(tool)
    tool.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(tool.pid) == "T", "the tool to stop")
    n_pidfds = pidfds_of(tool.pid, target)
    os.kill(target, signal.SIGUSR1)
    try:
        wait_for(lambda: os.path.exists(folder.file("made")), "the program, which waits for the tool", STOPPED_MS / 2000 / tap.PATIENCE)
    finally:
        tool.send_signal(signal.SIGCONT)
    return tool, target, n_pidfds


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def pidfds_of(pid, target):
    """How many descriptors of the process TARGET the process PID has."""
    count = 0
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                count += f"\nPid:\t{target}\n" in file.read()
        except FileNotFoundError:
            pass
    return count


def lost_while_stopped(report):
    """How many events REPORT says were lost as Lanescope had not answered; all that it says were lost."""
    told = [d["text"] for d in report.diagnostics if d["code"] == "LNS-POOL-012"]
    assert len(told) == 1 and int(told[0].split()[0]) == report.info["lost"], (told, report.info)
    return report.info["lost"]


def test_a_stopped_tool_is_not_waited_for():
    """What the program makes before the tool goes on is lost and counted; then it is recorded."""
    with Folder() as folder:
        tool, target, n_pidfds = begin_stopped(folder, "timed", "first", "push", "outer", "spin", "5", "touch", "made", "await", "pop",
                                     *("mark", "later", "sleep", "20") * 50, "exit", "3", stdin=subprocess.PIPE)
        wait_for(lambda: pidfds_of(tool.pid, target) > n_pidfds, "the answer")
        out, err = tool.communicate(b"\n", timeout=60 * tap.PATIENCE)
        assert tool.returncode == 3, err
        took_ms = int(out.decode().splitlines()[-1])
        assert took_ms < STOPPED_MS / 10, took_ms
        report = folder.report("r.rep")
        recorded = report.names()
        assert set(recorded) == {"later"} and recorded["later"] + lost_while_stopped(report) == 1 + 1 + 5 + 50, (recorded, err)


def test_who_ends_while_the_tool_is_stopped_tells_what_is_lost():
    with Folder() as folder:
        tool, _, _ = begin_stopped(folder, "mark", "first", "fork", "4", "mark", "child", "spin", "20", "touch", "made", "exit", "3")
        _, err = tool.communicate(timeout=60 * tap.PATIENCE)
        report = folder.report("r.rep")
        assert tool.returncode == 3 and not report.names() and lost_while_stopped(report) == 1 + 1 + 20, (report.names(), err)
        assert report.codes().count("LNS-POOL-003") == 2, report.codes()


# --- Children ----------------------------------------------------------------------------------

def test_children_are_processes_of_their_own():
    with Folder() as folder:
        run = folder.profile("-f", "true", "-o", "r", ACT, "push", "before", "fork", "3", "push", "child",
                             "pop", "pop", "mark", "after")
        assert run.code == 0 and "2 processes" in run.err, run
        report = folder.report("r.rep")
        assert report.named("before")[0]["process"] == report.named("after")[0]["process"] == 0
        assert report.named("child")[0]["process"] == 1 and len(report.named("before")) == 1
        assert report.processes[1]["parent"] == 0 and report.processes[1]["pid"] != report.processes[0]["pid"]


def test_a_shell_between_does_not_hide_the_parent():
    with Folder() as folder:
        run = folder.profile("sh", "-c", f"sh -c '{ACT} mark deep; true'; true")
        assert run.code == 0, run
        report = folder.report()
        deep = report.processes[report.named("deep")[0]["process"]]
        assert report.processes[0]["name"] == "sh" and deep["name"] == "nvtx-act" and deep["parent"] == 0


def test_waits_for_children_or_not():
    with Folder() as folder:
        words = [ACT, "mark", "parent", "orphan", "6", "mark", "early", "sleep", "700", "mark", "late",
                 "sleep", "100", "exit", "3"]
        run = folder.profile("-o", "all", *words)
        assert run.code == 3, run
        assert set(folder.report("all.rep").names()) == {"parent", "early", "late"}
        run = folder.profile("-o", "primary", "--wait=primary", *words)
        assert run.code == 3 and "late" not in folder.report("primary.rep").names(), run


def until(stream, text):
    """Reads lines of STREAM until one has TEXT; that line."""
    for line in stream:
        if text in line:
            return line
    raise AssertionError(f"no line with {text}")


def test_waits_for_a_process_that_has_made_no_call_yet():
    with Folder() as folder:
        # As a script does that sets up a server: the server outlives it, and begins its work later.
        process = folder.start("sh", "-c", f"{ACT} catch {int(signal.SIGUSR1)} pause mark late 2>/dev/null & exit 3", text=True,
                               stdout=subprocess.DEVNULL)
        told = until(process.stderr, "waiting for processes that it left running")
        server = int(re.search(r"nvtx-act \(process (\d+)\)", told).group(1))
        wait_for(lambda: caught_by(server, signal.SIGUSR1), "the handler")
        os.kill(server, signal.SIGUSR1)
        process.stderr.read()
        assert process.wait(20) == 3 and folder.report().named("late")


def test_says_that_it_waits_for_a_process_that_others_started():
    """Whoever has the program's variables is recorded, and waited for."""
    with Folder() as folder:
        process = folder.start("sh", "-c", "env; echo the end; read line; exit 3", text=True, stdin=subprocess.PIPE)
        lines = iter(process.stdout.readline, "the end\n")
        variables = dict(line.rstrip("\n").split("=", 1) for line in lines if "=" in line)
        env = {name: variables[name] for name in ("LANESCOPE_SESSION", "NVTX_INJECTION64_PATH")}
        other = subprocess.Popen([ACT, "mark", "other", "print", "joined", "await"], env=env, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        until(other.stdout, "joined")
        process.stdin.write("\n")
        process.stdin.flush()
        told = until(process.stderr, "waiting for recorded processes that others started")
        assert f"nvtx-act (process {other.pid})" in told, told
        other.communicate("\n")
        process.stderr.read()
        assert process.wait(20) == 3 and folder.report().named("other")


def test_ends_without_what_is_not_the_programs():
    with Folder() as folder:
        run = folder.profile("--after-collection-start", "sleep 1000 > /dev/null 2>&1 & echo $! > sleeper", ACT,
                             "mark", "m", "fork", "2", "mark", "child")
        assert run.code == 0 and "waiting" not in run.err, run
        with open(folder.file("sleeper"), encoding="ascii") as sleeper:
            os.kill(int(sleeper.read()), signal.SIGKILL)


def test_exec_goes_on_in_another_image():
    with Folder() as folder:
        run = folder.profile(ACT, "push", "first", "exec", "push", "second", "pop", "exit", "5")
        assert run.code == 5, run
        report = folder.report()
        assert report.named("first")[0]["flags"] == OPEN_END | END_UNKNOWN
        assert report.named("second")[0]["flags"] == 0
        assert report.processes[0]["pid"] == report.processes[1]["pid"]


def test_a_scrubbed_environment_is_only_silence():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "first", "bare-exec", "mark", "second", "print", "ran", "exit", "6")
        assert run.code == 6 and run.out == "ran\n", run
        assert dict(folder.report().names()) == {"first": 1}


def test_closed_descriptors_do_no_harm():
    with Folder() as folder:
        run = folder.profile(ACT, "spin", "10", "close-all", "spin", "100000", "print", "ran")
        assert run.code == 0 and run.out == "ran\n", run
        report = folder.report(counts=True)
        assert report.info["events"] + report.info["lost"] >= 100010, report.info
        assert report.info["state"] == COMPLETE


NOBODY = 65534


def needs_root():
    if os.geteuid() != 0:
        raise tap.Skip("only root gives up privileges")


def test_a_server_that_gives_up_privileges():
    needs_root()
    worker = ["mark", "worker", "fork", "2", "mark", "its child"]
    for lost in (["setuid", "65534"], ["chroot", "/proc"]):
        with Folder() as folder:
            run = folder.profile(ACT, "spin", "10", "fork", len(lost + worker), *lost, *worker, "mark", "root",
                                 *lost, "spin", "10", "fork", "2", "mark", "late child")
            assert run.code == 0 and "4 processes" in run.err, run
            report = folder.report()
            assert report.codes() == [] and report.info["lost"] == 0 and len(report.named("spin")) == 20, report.info
            process = {name: report.named(name)[0]["process"]
                       for name in ("root", "worker", "its child", "late child")}
            assert len(set(process.values())) == 4, process
            parents = {name: report.processes[number]["parent"] for name, number in process.items()}
            assert parents["worker"] == parents["late child"] == process["root"], (parents, process)
            assert parents["its child"] == process["worker"], (parents, process)


def needs_a_nobody():
    """Skips where a program that has become another user could not load what we built."""
    needs_root()
    library = os.path.join(tap.BUILD, "capture", "inject", "liblanescope-inject.so")
    if subprocess.run(["test", "-r", library], user=NOBODY, group=NOBODY, extra_groups=[]).returncode != 0:
        raise tap.Skip("other users cannot read the build folder")


def test_a_first_call_after_privileges_are_given_up():
    needs_a_nobody()
    as_nobody = ["setuid", str(NOBODY)]
    daemon = [*as_nobody, "outlive", "mark", "daemon", "touch", "done"]
    for words, names in (([*as_nobody, "mark", "dropped"], ["dropped"]),
                         (["mark", "root", *as_nobody, "exec", "mark", "executed"], ["root", "executed"]),
                         (["mark", "root", "fork", str(len(as_nobody) + 3), *as_nobody, "exec", "mark", "child"],
                          ["root", "child"]),
                         (["orphan", str(len(daemon)), *daemon], ["daemon"])):
        with Folder() as folder, tempfile.TemporaryDirectory() as runtime:
            os.chmod(folder.path, 0o777)
            environment = dict(os.environ, XDG_RUNTIME_DIR=runtime)  # others cannot enter root's
            run = folder.profile(ACT, *words, env=environment)
            assert run.code == 0, run
            report = folder.report()
            assert dict(report.names()) == dict.fromkeys(names, 1) and report.codes() == [], (run, report.codes())


def needs_namespaces(*words):
    if subprocess.run(["unshare", *words, "true"], capture_output=True).returncode != 0:
        raise tap.Skip(f"`unshare {' '.join(words)}` is not permitted")


# Runs the command in its arguments where the session's folder is empty.
ELSEWHERE = 'mount -t tmpfs none "${LANESCOPE_SESSION%/*}" && exec "$@"'


def test_a_first_call_where_the_socket_s_folder_is_not():
    for namespaces in (["-m"], ["-m", "-p", "-f"], ["-U", "-r", "-m"]):
        needs_namespaces(*namespaces)
        elsewhere = ["unshare", *namespaces, "sh", "-c", ELSEWHERE, "-"]
        with Folder() as folder:
            run = folder.profile(*elsewhere, ACT, "mark", "first", "fork", "2", "mark", "child")
            assert run.code == 0, run
            report = folder.report()
            assert dict(report.names()) == {"first": 1, "child": 1} and report.codes() == [], (namespaces, run)
            assert report.named("child")[0]["process"] != report.named("first")[0]["process"], report.events


def test_a_first_call_after_the_root_folder_has_changed():
    needs_root()
    needs_namespaces("-m")
    with Folder() as folder, tempfile.TemporaryDirectory() as jail:
        library = os.path.join(tap.BUILD, "capture", "inject")
        bind = "".join(f'mkdir -p "$JAIL{path}"; test ! -e {path} || mount --rbind {path} "$JAIL{path}"; '
                       for path in ("/usr", "/lib", "/lib64", library))
        run = folder.profile(ACT, "chroot", jail, "mark", "first", "fork", "2", "mark", "child",
                             before=["unshare", "-m", "sh", "-ec", bind + 'exec "$@"', "-"], env=dict(os.environ, JAIL=jail))
        assert run.code == 0, run
        report = folder.report()
        assert dict(report.names()) == {"first": 1, "child": 1} and report.codes() == [], run


def test_only_root_s_programs_find_the_socket_as_others():
    with Folder() as folder:
        look = 'stat -c "%a %u" "${LANESCOPE_SESSION%/*}"; echo "$LANESCOPE_SESSION"'
        os.mkdir(folder.file("run"), 0o700)
        for runtime in ({}, {"XDG_RUNTIME_DIR": folder.file("run")}):
            environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"} | runtime
            run = folder.profile("-f", "true", "-o", "r", "sh", "-c", look, env=environment, umask=0)
            mode, path = run.out.splitlines()
            assert run.code == 0 and mode == ("711 0" if os.geteuid() == 0 else f"700 {os.geteuid()}"), run
            assert len(os.path.basename(path)) == 22, path
    with Folder() as folder:  # nor does the system tell the secret to all: only the folder, and its abstract name
        run = folder.profile("sh", "-c", 'grep -o "@*${LANESCOPE_SESSION%/*}.*" /proc/net/unix; echo "${LANESCOPE_SESSION%/*}"')
        *names, path = run.out.splitlines()
        assert sorted(names) == [f"{path}/session", f"@{path}"], run


BECOME_NOBODY = (f"import os, socket\nos.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})\n"
                 "c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n")


def test_a_stranger_is_not_recorded():
    needs_a_nobody()
    with Folder() as folder:
        process = folder.start("-f", "true", "-o", "r", "sh", "-c", 'echo "$LANESCOPE_SESSION"; read line', stdin=subprocess.PIPE)
        path = process.stdout.readline().decode().strip()
        library = os.path.join(tap.BUILD, "capture", "inject", "liblanescope-inject.so")
        stranger = subprocess.run([ACT, "mark", "strange"], user=NOBODY, group=NOBODY, extra_groups=[],
                                  env=dict(os.environ, LANESCOPE_SESSION=path, NVTX_INJECTION64_PATH=library))
        by_name = subprocess.run([sys.executable, "-c", BECOME_NOBODY + f"c.connect('\\0{os.path.dirname(path)}')\nprint(c.recv(64))"],
                                 capture_output=True, text=True)
        assert by_name.stdout == "b''\n", by_name  # everybody can connect, but is dropped without a word
        listed = subprocess.run(["ls", os.path.dirname(path)], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True)
        assert stranger.returncode == 0 and listed.returncode != 0 and listed.stdout == b"", listed
        out, err = process.communicate(b"\n", timeout=30)
        report = folder.report("r.rep")
        assert report.codes() == ["LNS-POOL-009"] and report.info["events"] == 0 and b"does not descend from Lanescope" in err, err


def test_a_session_of_another_user_is_not_trusted():
    """Names of sockets are not protected: after a session has ended, anybody can take its name."""
    needs_a_nobody()
    script = BECOME_NOBODY + (f"c.bind('\\0/tmp/lanescope-{os.getpid()}')\nc.listen()\nprint('ready', flush=True)\n"
                              "input()\nc.setblocking(False)\nwhile True:\n    print(c.accept()[0].recv(64), flush=True)\n")
    library = os.path.join(tap.BUILD, "capture", "inject", "liblanescope-inject.so")
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        assert other.stdout.readline() == b"ready\n"
        run = subprocess.run([ACT, "mark", "secret"], env=dict(os.environ, NVTX_INJECTION64_PATH=library,
                                                               LANESCOPE_SESSION=f"/tmp/lanescope-{os.getpid()}/key"))
        heard = other.communicate(b"\n")[0].split()
        assert run.returncode == 0 and set(heard) == {b"b''"}, heard


def test_the_library_of_another_build():
    """Its hello is shorter than ours, of another layout, and nothing of it is recorded. Its long path hides no advice."""
    with Folder() as folder:
        copy = folder.file(os.path.join(*["deep" * 50] * 12, "liblanescope-inject.so"))
        os.makedirs(os.path.dirname(copy))
        shutil.copy(os.path.join(tap.BUILD, "capture", "inject", "liblanescope-inject.so"), copy)
        script = (f"import ctypes, os, socket, struct\nctypes.CDLL({copy!r})\n"
                  "connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                  "connection.connect(os.environ['LANESCOPE_SESSION'])\n"
                  "connection.send(struct.pack('<8s5I', b'LNSWIRE1', 1, os.getpid(), 0, 0, 0))\n"
                  "connection.recv(64)\n")
        run = folder.profile(sys.executable, "-c", script)
        report = folder.report()
        text, = [d["text"] for d in report.diagnostics if d["code"] == "LNS-POOL-010"]
        assert run.code == 0 and text in run.err and f'"{copy}"' in text and report.info["events"] == 0, (run, text)


def test_a_child_without_our_variable():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "first", "fork", "3", "forget-session", "mark", "child", "mark", "last")
        assert run.code == 0, run
        report = folder.report()
        assert dict(report.names()) == {"first": 1, "child": 1, "last": 1} and len(report.processes) == 2
        assert report.named("child")[0]["process"] == 1


def strays(folder, *words):
    """Profiles a program that makes one mark, and whose children cannot join; (report, what is told)."""
    run = folder.profile(ACT, "mark", "first", *words)
    assert run.code == 0, run
    report = folder.report(counts=True)
    assert report.info["events"] == 1, report.info
    told = [d["text"] for d in report.diagnostics if d["code"] == "LNS-POOL-006"]
    assert report.codes() == ["LNS-POOL-006"] * len(told) and f"{report.info['lost']} lost" in run.err, (report.codes(), run)
    return report, told


def test_children_that_cannot_join_are_counted():
    with Folder() as folder:  # who may open no file can send no socket either
        child = ["files", "3", "spin", "12", "domain", "own", "start", "open"]
        report, told = strays(folder, "fork", len(child), *child, "fork", len(child), *child)
        assert report.info["lost"] == 26 and "2 processes forked by" in told[0] and "ulimit -n" in told[0], told
        assert sum(int(re.search(r"and (\d+) NVTX events", text).group(1)) for text in told) == 26, told
    with Folder() as folder:  # the way through the parent is closed
        child = ["forget-session", "close-all", "spin", "5"]
        report, told = strays(folder, "fork", len(child), *child)
        assert report.info["lost"] == 5 and len(told) == 1 and "close descriptors" in told[0], told


def test_the_first_call_in_a_child_of_vfork():
    with Folder() as folder:
        run = folder.profile(ACT, "vfork", "child", "sleep", "100", "mark", "parent", "thread", "2", "vfork", "its",
                             "fork", "2", "mark", "forked", "sleep", "100", "mark", "last")
        assert run.code == 0 and "0 lost" in run.err, run
        report = folder.report()
        assert dict(report.names()) == {"child": 1, "parent": 1, "its": 1, "forked": 1, "last": 1}, report.names()
        process, = {event["process"] for event in report.events if event["name"] != "forked"}
        assert report.processes[process]["name"] == "nvtx-act" and report.named("forked")[0]["process"] != process
        thread = report.threads[report.named("child")[0]["thread"]]
        assert thread["tid"] == report.processes[process]["pid"], (thread, report.processes)


def test_events_in_signal_handlers_are_lost_for_that():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "first", "nest", "nest")
        assert run.code == 0 and "3 events, 2 lost" in run.err and "signal" in run.err, run
        report = folder.report()
        assert dict(report.names()) == {"first": 1, "outer": 2} and report.codes() == ["LNS-POOL-007"]


def test_events_of_a_thread_without_memory_are_lost_for_that():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "first", "thread", "4", "memory", "0", "mark", "none", "mark", "last")
        assert run.code == 0 and "2 events, 1 lost" in run.err and "ulimit -v" in run.err, run
        assert folder.report().codes() == ["LNS-POOL-008"]


def test_a_program_at_its_limits_is_not_recorded_for_that():
    with Folder() as folder:
        for words, cause in ((("files", "4"), "ulimit -n"), (("memory", "0"), "Cannot allocate memory")):
            run = folder.profile("-f", "true", ACT, *words, "mark", "none", "print", "ran")
            assert run.code == 0 and run.out == "ran\n", run
            assert cause in run.err and "busy" not in run.err, run
            report = folder.report(counts=True)
            assert report.codes() == ["LNS-POOL-002"], (report.codes(), run)


def test_a_program_that_has_taken_all_keys_is_not_recorded():
    with Folder() as folder:
        words = ("keys", "mark", "none", "fork", "2", "mark", "its", "thread", "2", "mark", "another")
        # The library has a key before the program that Lanescope starts itself.
        run = folder.profile("-o", "direct", ACT, *words)
        assert run.code == 0 and "3 events, 0 lost" in run.err, run
        # Nothing of ours comes into a program that posix_spawn() executes before its first call.
        spawn = "import os, sys; os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)"
        run = folder.profile(sys.executable, "-c", spawn, ACT, *words)
        assert run.code == 0 and "0 events" in run.err and "pthread keys" in run.err, run
        report = folder.report(counts=True)
        assert report.codes() == ["LNS-POOL-011"] and report.info["lost"] == 0, (report.codes(), report.info)


def test_records_that_the_program_overwrites():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "first", "scribble", "sleep", "200", "mark", "last")
        assert run.code == 0 and "overwrote memory that holds records" in run.err, run
        report = folder.report(counts=True)
        assert report.codes() == ["LNS-POOL-004"], report.codes()
        told, = (int(d["text"].split()[0]) for d in report.diagnostics)
        assert 0 < report.info["lost"] == told <= 102 - report.info["events"], report.info
        assert f"{told} lost" in run.err, run


def allow_memory(pid, n_bytes):
    """Lets process PID map no more than N_BYTES beside what it has."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        limit = int(file.read().split()[0]) * resource.getpagesize() + n_bytes
    resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def run_out_of_memory(folder, n_bytes, *words):
    """Profiles a program that makes a mark, and WORDS once lanescope may map no more than N_BYTES beside what it has; its report."""
    process = folder.start("-f", "true", "-o", "r", ACT, "mark", "first", "print", "ready", "await", *words, stdin=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    wait_for(lambda: os.path.exists(folder.file("r.rep")) and folder.report("r.rep").named("first"), "the first mark")
    allow_memory(process.pid, n_bytes)
    out, err = process.communicate(b"\n", timeout=60)
    assert (process.returncode, out) == (0, b"done\n"), (process.returncode, out, err)
    return folder.report("r.rep", counts=True), err.decode()


def test_nothing_is_lost_in_silence_where_lanescope_has_no_memory():
    words = ["spin", "100000", "mark", "last", "print", "done"]
    with Folder() as folder:  # not for one block of records
        report, err = run_out_of_memory(folder, -(8 << 20), *words)
        assert (report.info["events"], report.info["lost"]) == (1, 100001), (report.info, err)
        assert report.codes() == ["LNS-POOL-005"] and "ulimit -v" in err, (report.codes(), err)
    with Folder() as folder:  # for some of them at a time: it reads the rest when it has written those
        report, err = run_out_of_memory(folder, 3 << 20, *words)
        assert report.info["events"] + report.info["lost"] == 100002, (report.info, err)
        assert report.codes() == ["LNS-POOL-005"] * (report.info["lost"] > 0), (report.codes(), err)


def test_a_range_that_lanescope_has_no_memory_to_read():
    """The program does make the call that begins it."""
    with Folder() as folder:
        process = folder.start("-t", "nvtx", "-c", "nvtx", "-p", "a", "-o", "r", ACT, "mark", "first", "print", "ready", "await", "push",
                               "a", "pop", "print", "done", stdin=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        allow_memory(process.pid, -(8 << 20))
        out, err = process.communicate(b"\n", timeout=60)
        assert (process.returncode, out) == (0, b"done\n") and not os.path.exists(folder.file("r.rep")), (process.returncode, out, err)
        assert b"events are lost" in err and b"LNS-RANGE-001" in err and b"did not make that call" not in err, err


def test_what_a_report_lacks_for_want_of_memory_is_told_when_the_program_lives_on():
    with Folder() as folder:
        read_end, control = os.pipe()
        process = folder.start("-o", "r", "--kill=none", f"--control-fd={read_end}", ACT, "mark", "first", "print", "ready", "await",
                               "spin", "100000", "mark", "last", "print", "done", "await", "exit", "3", stdin=subprocess.PIPE,
                               pass_fds=[read_end])
        assert process.stdout.readline() == b"ready\n"
        wait_for(lambda: os.path.exists(folder.file("r.rep")) and folder.report("r.rep").named("first"), "the first mark")
        allow_memory(process.pid, -(8 << 20))
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"done\n"
        os.write(control, b"stop\n")
        wait_for(lambda: folder.report("r.rep", counts=True).info["state"] == COMPLETE, "the report's end")
        report = folder.report("r.rep", counts=True)
        resource.prlimit(process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        _, err = process.communicate(b"\n", timeout=60)
        os.close(read_end)
        os.close(control)
        assert process.returncode == 3 and report.codes() == ["LNS-POOL-005"], (process.returncode, report.codes(), err)
        assert (report.info["events"], report.info["lost"]) == (1, 100001), (report.info, err)


def test_strays_of_a_process_that_has_ended():
    with Folder() as folder:
        daemon = "files 3 outlive spin 7 print done"
        run = folder.profile("sh", "-c", f"{ACT} mark parent orphan {len(daemon.split())} {daemon} > out; "
                             "until grep -q done out; do sleep 0.05; done")
        assert run.code == 0 and "1 event, 7 lost" in run.err, run
        assert folder.report().codes() == ["LNS-POOL-006"]


def test_a_daemon_whose_parent_has_ended():
    with Folder() as folder:
        daemon = "forget-session outlive mark daemon fork 2 mark grandchild print done"
        run = folder.profile("sh", "-c", f"{ACT} mark parent orphan {len(daemon.split())} {daemon} > out; "
                             "until grep -q done out; do sleep 0.05; done")
        assert run.code == 0, run
        report = folder.report()
        assert dict(report.names()) == {"parent": 1, "daemon": 1, "grandchild": 1}, report.events
        assert len({event["process"] for event in report.events}) == 3


def test_threads_have_names():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "main", "thread", "4", "name-thread", "worker", "mark", "in worker")
        assert run.code == 0, run
        report = folder.report()
        worker = report.named("in worker")[0]["thread"]
        assert report.threads[worker]["name"] == "worker"
        assert report.threads[report.named("main")[0]["thread"]]["name"] == "nvtx-act"


def test_start_end_ranges_and_domains():
    with Folder() as folder:
        run = folder.profile(ACT, "domain", "mine", "start", "a", "sleep", "2", "start", "b", "sleep", "2",
                             "thread", "1", "end", "end", "push", "c", "pop")
        assert run.code == 0, run
        report = folder.report()
        a, b, c = (report.named(name)[0] for name in "abc")
        assert (a["lane"], b["lane"]) == (0, 1) and {a["domain"], b["domain"], c["domain"]} == {"mine"}
        assert a["event"] == "start-end" and a["duration"] > b["duration"] > 1000000


# --- Deaths ------------------------------------------------------------------------------------

def test_a_crash_leaves_what_was_open():
    with Folder() as folder:
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT):
            run = folder.profile("-f", "true", "-o", "r", ACT, "spin", "1000", "push", "open", "push", "inner",
                                 "start", "range", "raise", int(number))
            assert run.code == -number, run
            report = folder.report("r.rep")
            assert report.info["state"] == COMPLETE and len(report.named("spin")) == 1000
            for name in ("open", "inner", "range"):
                assert report.named(name)[0]["flags"] == OPEN_END | END_UNKNOWN, name


def tool(folder, *words):
    """What `lanescope` WORDS prints in FOLDER."""
    run = subprocess.run([tap.LANESCOPE, *words], cwd=folder.path, capture_output=True, text=True)
    assert run.returncode == 0, run
    return run.stdout


def summed(folder, style):
    """{name: (instances, total)} of the ranges of the report, as `stats` sums them."""
    rows = tool(folder, "stats", "-q", "-r", f"nvtx_{style}_sum", "-f", "json", "report1.rep")
    return {row["Range"].lstrip(":"): (row["Instances"], row["Total Time (ns)"]) for row in json.loads(rows)}


def test_what_was_open_at_the_death_counts_up_to_it():
    with Folder() as folder:
        run = folder.profile(ACT, "push", "outer", "push", "inner", "pop", "push", "inner", "start", "range",
                             "sleep", "20", "raise", int(signal.SIGKILL))
        assert "killed by signal 9 (SIGKILL)" in run.err, run
        info = tool(folder, "info", "report1.rep")
        assert "killed by signal 9 (SIGKILL)" in info and "exit code" not in info, info
        assert re.search(r"^open: 3$", info, re.M), info
        report, sums = folder.report(), summed(folder, "pushpop")
        assert sums == {name: (len(report.named(name)), sum(event["duration"] for event in report.named(name)))
                        for name in ("outer", "inner")}, sums
        assert sums["inner"][0] == 2 and sums["inner"][1] > 20_000_000
        assert summed(folder, "startend")["range"] == (1, report.named("range")[0]["duration"])
        trace = json.loads(tool(folder, "stats", "-q", "-r", "nvtx_pushpop_trace", "-f", "json", "report1.rep"))
        assert sorted(row["Name"] for row in trace) == [":inner", ":inner", ":outer"], trace


def test_an_exit_code_is_no_signal():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "m", "exit", "137")
        assert run.code == 137 and "killed" not in run.err, run
        assert "exit code 137" in tool(folder, "info", "report1.rep")


def beat_program():
    """A program that makes ranges `beat N` and prints N after each."""
    words = [ACT]
    for number in range(400):
        words += ["push", f"beat {number}", "sleep", "10", "pop", "print", str(number)]
    return words + ["exit", "7"]


def killed(folder, who):
    """Kills WHO ("target", "tool", "both") when the report holds the first hundred beats and more; returns
    lanescope's process, the target's pid and the number of beats that it held. copy.rep is the report alone."""
    with open(folder.file("out"), "wb") as out:
        process = folder.start(*beat_program(), stdout=out)
        target = started(process)
        wait_for(lambda: os.path.exists(folder.file("report1.rep")), "the report")
        ended = len(wait_for(lambda: sorted(beats(folder.report()))[100:], "beats in the report")) + 100
        if who in ("tool", "both"):
            process.kill()
        if who in ("target", "both"):
            os.kill(target, signal.SIGKILL)
        process.wait(20)
    shutil.copy(folder.file("report1.rep"), folder.file("copy.rep"))
    return process, target, ended


def beats(report):
    return {int(event["name"].split()[1]) for event in report.events
            if event["name"].startswith("beat") and not event["flags"] & (END_UNKNOWN | OPEN_END)}


def test_kill_of_the_target():
    with Folder() as folder:
        process, _, ended = killed(folder, "target")
        assert process.returncode == -signal.SIGKILL
        report = folder.report()
        assert report.info["state"] == COMPLETE and beats(report) >= set(range(ended)), ended


def test_kill_of_the_tool():
    with Folder() as folder:
        process, target, ended = killed(folder, "tool")
        assert process.returncode == -signal.SIGKILL
        report = Report(folder.file("copy.rep"))
        assert report.info["state"] == CUT_OFF and beats(report) >= set(range(ended)), ended
        assert ended > 100 and all(event["flags"] == 0 for event in report.events
                                   if event["name"] == f"beat {ended - 1}")
        wait_for(lambda: not alive(target), "the target's own end")
        with open(folder.file("out"), encoding="ascii") as out:
            assert len(out.read().split()) == 400


def test_kill_of_both():
    with Folder() as folder:
        _, target, ended = killed(folder, "both")
        report = Report(folder.file("copy.rep"))
        assert report.info["state"] == CUT_OFF and beats(report) >= set(range(ended)), ended
        assert not alive(target)


def recording(pid):
    """The pool's flag in the memory of PID: does it record?"""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        address = next(int(line.split("-")[0], 16) for line in maps if "memfd:" in line)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(address + 128)
        return int.from_bytes(memory.read(4), "little")


def test_without_a_session_events_cost_nothing():
    with Folder() as folder:
        process = folder.start("--buffer-size=1M", ACT, "spin", "10", "catch", int(signal.SIGUSR1), "pause",
                               "spin", "600000", "sleep", "60000", stdout=subprocess.DEVNULL)
        target = started(process)
        wait_for(lambda: caught_by(target, signal.SIGUSR1), "the handler")
        try:
            assert recording(target) == 1
        except PermissionError as reason:
            process.kill()
            os.kill(target, signal.SIGKILL)
            raise tap.Skip("this system shows nobody another process's memory") from reason
        process.kill()
        process.wait(20)
        os.kill(target, signal.SIGUSR1)
        wait_for(lambda: recording(target) == 0, "the target to see that nobody reads")
        os.kill(target, signal.SIGKILL)


# --- Signals -----------------------------------------------------------------------------------

def on_a_terminal(folder, *arguments):
    """Starts `lanescope profile` in the foreground of a terminal; returns (pid, the terminal)."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder.path)
        os.execv(tap.LANESCOPE, [tap.LANESCOPE, "profile", *arguments])
    return pid, terminal


def read_until(terminal, *texts):
    seen = b""
    end = time.monotonic() + 20
    while not all(text in seen for text in texts) and time.monotonic() < end:
        try:
            seen += os.read(terminal, 4096)
        except OSError:
            break
    assert all(text in seen for text in texts), seen
    return seen


def exit_code(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_ctrl_c_ends_the_run_and_keeps_the_report():
    with Folder() as folder:
        pid, terminal = on_a_terminal(folder, ACT, "spin", "50", "push", "open", "print", "ready", "sleep", "60000")
        read_until(terminal, b"Collecting", b"ready")
        os.write(terminal, b"\x03")
        read_until(terminal, b"Generated")
        assert exit_code(pid) == -signal.SIGINT
        os.close(terminal)
        report = folder.report()
        assert report.info["state"] == COMPLETE and len(report.named("spin")) == 50
        assert report.named("open")[0]["flags"] == OPEN_END | END_UNKNOWN


def test_ctrl_c_reaches_the_program_once():
    with Folder() as folder:
        pid, terminal = on_a_terminal(folder, ACT, "catch", "2", "print", "ready", "pause", "sleep", "300",
                                      "mark", "m", "exit", "4")
        read_until(terminal, b"Collecting", b"ready")
        os.write(terminal, b"\x03")
        seen = read_until(terminal, b"Generated")
        assert seen.count(b"caught 02") == 1, seen
        assert exit_code(pid) == 4 and len(folder.report().named("m")) == 1
        os.close(terminal)


def test_a_second_ctrl_c_does_not_wait_for_the_program():
    with Folder() as folder:
        pid, terminal = on_a_terminal(folder, ACT, "ignore", "2", "mark", "m", "print", "ready", "sleep", "60000")
        read_until(terminal, b"Collecting", b"ready")
        target = children(pid)[0]
        os.write(terminal, b"\x03")
        read_until(terminal, b"^C")
        wait_for(lambda: not signal_is(pid, "ShdPnd", signal.SIGINT), "lanescope to take the first one")
        assert alive(target)
        os.write(terminal, b"\x03")
        read_until(terminal, b"Generated")
        assert exit_code(pid) == -signal.SIGINT and not alive(target)
        assert len(folder.report().named("m")) == 1
        os.close(terminal)


def shell_loop(folder, *words, press=lambda terminal, pid: os.write(terminal, b"\x03")):
    """Runs two rounds of `lanescope profile` WORDS in a loop of bash, in the foreground of a terminal, has PRESS
    press Ctrl-C when the program says that it is ready, and returns what was printed. PRESS gets the pid of
    lanescope."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder.path)
        os.execvp("bash", ["bash", "-c", 'for i in 1 2; do "$@"; echo "code $?"; done', "-", tap.LANESCOPE,
                           "profile", *[str(word) for word in words]])
    seen = read_until(terminal, b"Collecting", b"ready")
    press(terminal, children(pid)[0])
    try:
        while more := os.read(terminal, 4096):
            seen += more
    except OSError:  # what a terminal says when nobody is left on it
        pass
    exit_code(pid)
    os.close(terminal)
    return seen


def test_ctrl_c_ends_a_shell_loop_as_without_us():
    with Folder() as folder:
        seen = shell_loop(folder, ACT, "print", "ready", "sleep", "60000")
        assert seen.count(b"Generated") == 1 and b"code" not in seen, seen
    with Folder() as folder:  # a program that ignores it, and is ended in its place
        def twice(terminal, pid):
            os.write(terminal, b"\x03")
            read_until(terminal, b"^C")
            wait_for(lambda: not signal_is(pid, "ShdPnd", signal.SIGINT), "lanescope to take the first one")
            os.write(terminal, b"\x03")
        seen = shell_loop(folder, ACT, "ignore", "2", "print", "ready", "sleep", "60000", press=twice)
        assert seen.count(b"Generated") == 1 and b"code" not in seen, seen
    with Folder() as folder:  # a program that has a use of its own for it
        seen = shell_loop(folder, ACT, "catch", "2", "print", "ready", "sleep", "100", "exit", "4")
        assert seen.count(b"code 4") == 2, seen
    with Folder() as folder:  # and has ended before the machine lets us look
        def unseen(terminal, pid):
            target, = children(pid)
            os.kill(pid, signal.SIGSTOP)
            os.write(terminal, b"\x03")
            wait_for(lambda: not alive(target), "the program's end")
            os.kill(pid, signal.SIGCONT)
        seen = shell_loop(folder, ACT, "catch", "2", "print", "ready", "sleep", "100", "exit", "4", press=unseen)
        assert seen.count(b"code 4") == 2, seen


def test_an_ignored_interrupt_is_nothing_to_us():
    with Folder() as folder:
        process = folder.start(ACT, "mark", "m", "print", "ready", "catch", int(signal.SIGUSR1), "pause",
                               "exit", "4", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        target = started(process)
        wait_for(lambda: caught_by(target, signal.SIGUSR1), "the handler")
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            wait_for(lambda: not signal_is(process.pid, "ShdPnd", signal.SIGINT), "lanescope to take it")
        process.send_signal(signal.SIGUSR1)
        assert finished(process)[0] == 4 and folder.report().info["state"] == COMPLETE


def test_a_request_to_end_ends_the_wait_for_children():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with Folder() as folder:
            process = folder.start(ACT, "mark", "parent", "orphan", "4", "mark", "child", "sleep", "60000",
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # not the orphan's pipes
            wait_for(lambda: os.path.exists(folder.file("report1.rep")) and folder.report().named("child"),
                     "the orphan's mark")
            report = folder.report()
            orphan = report.processes[report.named("child")[0]["process"]]["pid"]
            wait_for(lambda: children(process.pid) == [orphan], "the program's end")
            process.send_signal(number)
            assert process.wait(20) == -number
            os.kill(orphan, signal.SIGKILL)
            assert folder.report().info["state"] == COMPLETE

def test_signals_that_are_sent_are_forwarded_once():
    with Folder() as folder:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            process = folder.start("-f", "true", "-o", "r", ACT, "catch", int(number), "mark", "m", "pause",
                                   "sleep", "200", "exit", "5")
            target = started(process)
            wait_for(lambda: caught_by(target, number), "the handler")
            process.send_signal(number)
            code, out, err = finished(process)
            assert code == 5 and out == f"caught {int(number):02}\n", (number, code, out, err)
            assert len(folder.report("r.rep").named("m")) == 1


def signal_is(pid, what, number):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        mask = int(re.search(what + r":\s*([0-9a-f]+)", file.read()).group(1), 16)
    return mask >> (number - 1) & 1


def caught_by(pid, number):
    return signal_is(pid, "SigCgt", number)


def test_stop_and_continue():
    def state(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    with Folder() as folder:
        # A group of its own whose leader has a parent in the session: not an orphaned one.
        process = folder.start(ACT, "catch", int(signal.SIGUSR1), "pause", "exit", "3", process_group=0)
        target = started(process)
        wait_for(lambda: caught_by(target, signal.SIGUSR1), "the handler")
        process.send_signal(signal.SIGTSTP)
        wait_for(lambda: state(process.pid) == "T" and state(target) == "T", "both to stop")
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGUSR1)
        assert finished(process)[0] == 3


# --- Times -------------------------------------------------------------------------------------

def marks(count, pause):
    words = []
    for number in range(count):
        words += ["mark", f"m{number}", "sleep", str(pause)]
    return words


def test_duration_ends_the_program():
    with Folder() as folder:
        run = folder.profile("-d", "0.5", ACT, "push", "open", *marks(100, 100), "print", "never")
        assert run.code == 143 and run.out == "", run
        report = folder.report()
        assert 3 <= len(report.events) - 1 <= 8, report.names()
        assert report.named("open")[0]["flags"] & OPEN_END


def test_duration_without_kill():
    with Folder() as folder:
        run = folder.profile("-d", "0.3", "--kill=none", ACT, *marks(10, 100), "print", "end", "exit", "2")
        assert run.code == 2 and run.out == "end\n", run
        assert 2 <= len(folder.report().events) <= 6
        run = folder.profile("-d", "0.3", "--kill", "9", ACT, *marks(10, 100))
        assert run.code == 137, run


def test_delay_leaves_out_what_ended_before():
    with Folder() as folder:
        run = folder.profile("-y", "0.45", ACT, "push", "outer", *marks(10, 100), "pop", "print", "end")
        assert run.code == 0 and run.out == "end\n", run
        report = folder.report()
        names = report.names()
        assert "m0" not in names and "m2" not in names and "m9" in names, names
        assert report.named("outer")[0]["flags"] == OPEN_START
        assert report.named("outer")[0]["start"] <= min(event["start"] for event in report.events)


def test_the_report_may_outlive_the_program():
    with Folder() as folder:
        begin = time.monotonic()
        run = folder.profile("-x", "false", "-d", "1", ACT, "mark", "m", "exit", "3")
        assert run.code == 3 and time.monotonic() - begin >= 1, run
        assert len(folder.report().named("m")) == 1


# --- Progress and control ----------------------------------------------------------------------

# What a program does until a signal ends it.
FOR_EVER = ["catch", str(int(signal.SIGUSR1)), "pause"]


class Driver:
    """A lanescope driven by descriptors, as the viewer does it."""

    def __init__(self, folder, *arguments):
        progress, write_end = os.pipe()
        read_end, self.control = os.pipe()
        self.process = folder.start(f"--progress-fd={write_end}", f"--control-fd={read_end}", *arguments,
                                    pass_fds=(write_end, read_end))
        os.close(write_end)
        os.close(read_end)
        self.lines = os.fdopen(progress, "r", encoding="utf-8")
        self.seen = []

    def until(self, kind):
        for line in self.lines:
            self.seen.append(json.loads(line))
            if self.seen[-1]["type"] == kind:
                return self.seen[-1]
        raise AssertionError(f"no {kind} in {self.seen}")

    def until_recorded(self, n):
        """Waits until the report has N events."""
        while self.until("tick")["events"] < n:
            pass

    def say(self, word):
        os.write(self.control, word.encode() + b"\n")

    def finish(self):
        for line in self.lines:
            self.seen.append(json.loads(line))
        result = finished(self.process)
        self.lines.close()
        os.close(self.control)
        return result

    def kinds(self):
        return [line["type"] for line in self.seen]


def test_progress_lines():
    with Folder() as folder:
        driver = Driver(folder, ACT, "spin", "1000", *FOR_EVER, "exit", "3")
        target = driver.until("started")["pid"]
        driver.until_recorded(1000)
        driver.until("tick")
        wait_for(lambda: caught_by(target, signal.SIGUSR1), "the handler")
        os.kill(target, signal.SIGUSR1)
        code, _, err = driver.finish()
        assert code == 3, err
        kinds = driver.kinds()
        assert kinds[0] == "hello" and kinds[-1] == "finished" and "generated" in kinds, kinds
        by_kind = {line["type"]: line for line in driver.seen}
        assert by_kind["hello"]["report"] == folder.file("report1.rep")
        assert by_kind["hello"]["pid"] == driver.process.pid and by_kind["started"]["pid"] > 0
        assert by_kind["generated"]["path"] == folder.file("report1.rep")
        assert by_kind["finished"]["exit"] == 3 and by_kind["finished"]["signal"] == 0
        assert {"lag_ms", "drain_ms", "commit_ms"} <= set(by_kind["finished"])
        ticks = [line for line in driver.seen if line["type"] == "tick"]
        assert ticks[-1]["events"] == 1000 == folder.report(counts=True).info["events"], ticks
        # Four a second, or fewer where the machine is busy.
        assert ticks[-1]["bytes"] > 0 and ticks[-1]["elapsed_ns"] >= (len(ticks) - 1) * 250_000_000 > 0, ticks


def test_the_reader_of_progress_may_go():
    with Folder() as folder:
        read_end, write_end = os.pipe()
        process = folder.start(f"--progress-fd={write_end}", ACT, "mark", "m", "sleep", "600", "exit", "3",
                               pass_fds=(write_end,))
        os.close(write_end)
        os.close(read_end)
        assert finished(process)[0] == 3 and len(folder.report().named("m")) == 1


def test_control_stop():
    with Folder() as folder:
        driver = Driver(folder, ACT, "push", "open", "mark", "early", *FOR_EVER, "mark", "late")
        driver.until_recorded(1)
        driver.say("stop")
        assert driver.finish()[0] == 143
        assert driver.seen[-1]["type"] == "finished" and driver.seen[-1]["signal"] == 15, driver.seen[-1]
        report = folder.report()
        assert report.info["state"] == COMPLETE and report.named("early") and not report.named("late")


def test_control_cancel():
    with Folder() as folder:
        driver = Driver(folder, ACT, "mark", "early", *FOR_EVER)
        driver.until_recorded(1)
        driver.say("cancel")
        assert driver.finish()[0] == 143
        assert os.listdir(folder.path) == [] and "generated" not in driver.kinds()


def test_control_kill():
    with Folder() as folder:
        driver = Driver(folder, ACT, "ignore", "15", "mark", "early", *FOR_EVER)
        driver.until_recorded(1)
        driver.say("kill")
        assert driver.finish()[0] == 137
        assert folder.report().info["state"] == COMPLETE


def test_control_start():
    with Folder() as folder:
        driver = Driver(folder, "-y", "1000", ACT, "push", "outer", "mark", "early", "catch", int(signal.SIGUSR1),
                        "pause", "mark", "late", "pop")
        target = driver.until("started")["pid"]
        wait_for(lambda: caught_by(target, signal.SIGUSR1), "the handler")
        driver.say("start")
        driver.until("range")
        os.kill(target, signal.SIGUSR1)
        assert driver.finish()[0] == 0
        report = folder.report()
        assert not report.named("early") and report.named("late")
        assert report.named("outer")[0]["flags"] == OPEN_START


tap.main(globals(), gate=(test_children_are_processes_of_their_own, test_exec_goes_on_in_another_image,
                          test_a_crash_leaves_what_was_open, test_kill_of_the_target, test_kill_of_both,
                          test_ctrl_c_ends_the_run_and_keeps_the_report))
