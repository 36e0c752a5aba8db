# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""launch, start, stop, cancel, shutdown, sessions, status: each command is a process of its own, as in
other terminals. --keep, and the commands that run when reports are ready."""

import contextlib
import ctypes
import fcntl
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import time

import tap
from profiling import ACT, COMPLETE, CUT_OFF, Report, alive, children, wait_for
from terminals import Place, wait_for_catch

BEAT = os.path.join(tap.BUILD, "tests", "programs", "nvtx-beat")


def beats(report):
    return {int(event["name"].split()[1]) for event in report.events if event["name"].startswith("beat ")}


@contextlib.contextmanager
def adopted():
    """Orphans become children of this process, which sees their exit codes."""
    libc = ctypes.CDLL(None)
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    try:
        yield
    finally:
        libc.prctl(36, 0, 0, 0, 0)


def test_what_another_version_left_of_a_session_is_no_obstacle():
    """A file of another size, whose owner had the process id that a new run gets."""
    with Place() as place:
        script = f"""folder=$XDG_RUNTIME_DIR/lanescope-sessions-$(id -u); mkdir -p -m 700 $folder
            echo old >$folder/$$.session; exec "{tap.LANESCOPE}" profile --strict -t none true"""
        run = subprocess.run(["sh", "-c", script], cwd=place.path, env=place.environment, capture_output=True, timeout=60, check=False)
        assert run.returncode == 0 and b"warning" not in run.stderr and place.sessions() == [], run
        script = script.replace("exec", "exec 9<$folder/$$.session; flock -s 9; exec")
        run = subprocess.run(["sh", "-c", script], cwd=place.path, env=place.environment, capture_output=True, timeout=60, check=False)
        assert run.returncode == 0 and b"warning" not in run.stderr and len(os.listdir(place.file("run/" + os.listdir(place.file("run"))[0]))) == 1, run


def test_start_and_stop_from_other_terminals():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        assert [s["state"] for s in place.sessions()] == ["Launched"]
        assert "Collecting data..." in place.ok("start").err
        assert [s["state"] for s in place.sessions()] == ["Collection"]
        time.sleep(0.2)
        stop = place.ok("stop")
        assert f"Generated:\n    {place.file('report1.rep')}\n" in stop.err, stop
        first = Report(place.file("report1.rep"))
        time.sleep(0.1)
        os.mkdir(place.file("else"))
        place.ok("start", "-o", "second", cwd=place.file("else"))
        time.sleep(0.2)
        place.ok("stop")
        second = Report(place.file("else/second.rep"))
        place.ok("start")
        time.sleep(0.2)
        os.kill(children(launch.pid)[0], signal.SIGTERM)  # the program's end is the report's
        code, err = place.end(launch)
        assert code == -signal.SIGTERM and err.count("Generated:") == 3, err
        third = Report(place.file("report2.rep"))
        reports = [beats(report) for report in (first, second, third)]
        assert all(reports) and not reports[0] & reports[1] and not reports[1] & reports[2], reports
        assert max(reports[0]) < min(reports[1]) - 10 and max(reports[1]) < min(reports[2])
        assert all(report.info["state"] == COMPLETE for report in (first, second, third))
        assert len(second.named("work")) >= 100 * (len(reports[1]) - 2)


def test_start_may_come_before_launch():
    with Place() as place:
        assert "waits for `lanescope launch`" in place.ok("start", "-o", "early").err
        assert [s["state"] for s in place.sessions()] == ["WaitingForLaunch"]
        place.refused("already waits for `lanescope launch`", "start")
        place.refused("is not collecting yet", "stop")
        launch = place.begin("launch", ACT, "mark", "first", "exit", "5")
        code, _ = place.end(launch)
        assert code == 5 and len(place.report("early.rep").named("first")) == 1
        place.ok("start", "--session-new=later")
        place.ok("start", "--session-new=and another")
        place.refused("several sessions \\(later, and another\\)", "launch", ACT)
        place.ok("shutdown", "--session=later")
        place.ok("cancel")
        assert place.sessions() == []
        # What cannot begin leaves the request as it was.
        place.ok("start", "-o", "kept")
        assert place.run("launch", "/nothing/here").code == 127
        place.ok("launch", ACT, "mark", "again")
        assert len(place.report("kept.rep").named("again")) == 1


def test_a_delay_counts_from_start():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        place.ok("start", "--delay=0.3", "--duration=0.2", "-o", "r")
        assert [s["state"] for s in place.sessions()] == ["DelayedCollection"]
        wait_for(lambda: [s["reports"] for s in place.sessions()] == [1], "the report")
        report = place.report("r.rep")
        assert beats(report) and report.info["state"] == COMPLETE
        place.ok("start", "--delay=60", "-o", "q")
        place.ok("cancel")
        place.ok("start", "--delay=60", "-o", "q")
        os.kill(children(launch.pid)[0], signal.SIGTERM)
        code, err = place.end(launch)
        assert code == -signal.SIGTERM and "no report was written" in err and not os.path.exists(place.file("q.rep")), err


def test_capture_ranges_of_start():
    with Place() as place:
        place.refused("is not none, cudaProfilerApi or nvtx", "start", "-c", "sometimes")
        place.ok("start", "-c", "nvtx", "-p", "beat 30", "--capture-range-end=stop", "-o", "range")
        # By number, not by time: a busy machine lets a program of 400 ms make no 30 of them.
        launch = place.begin("launch", ACT, *[word for number in range(60) for word in ("push", f"beat {number}", "pop")], "exit", "7")
        assert place.end(launch)[0] == 7
        assert beats(place.report("range.rep")) == {30}
        # After a stop no further range makes a report.
        place.ok("start", "-c", "nvtx", "-p", "spin@*", "--capture-range-end=repeat", "-o", "many")
        launch = place.begin("launch", ACT, "spin", "3", "catch", "10", "pause", "spin", "5")
        wait_for(lambda: os.path.exists(place.file("many.3.rep")), "the third report")
        wait_for_catch(children(launch.pid)[0], 10)
        place.ok("stop")
        os.kill(children(launch.pid)[0], signal.SIGUSR1)
        assert place.end(launch)[0] == 0 and not os.path.exists(place.file("many.4.rep"))


def test_capture_ranges_while_the_program_runs():
    """Each pause ends with a signal, so that nothing comes before it was asked for."""
    with Place() as place:
        def ranges(name):
            return [word for number in range(3) for word in ("push", f"{name} {number}", "mark", f"in {name}", "pop")]
        launch = place.begin("launch", "-t", "nvtx", ACT, "catch", "12", "catch", "10", "pause", *ranges("a"), "pause",
                             *ranges("a"), "pause", "push", "b", "mark", "left", "pause", "pop", *ranges("a"), "pause", "exit", "7")
        target, = children(launch.pid)
        wait_for_catch(target, 10, 12)
        place.refused("--capture-range=cudaProfilerApi needs --trace=cuda, without which `lanescope launch`", "start", "-c",
                      "cudaProfilerApi")
        caught = iter([signal.SIGUSR2] + 4 * [signal.SIGUSR1])

        def go_on():
            os.kill(target, next(caught))
        place.ok("start", "-c", "nvtx", "-p", "a 1", "--capture-range-end=stop", "-o", "one")
        assert [s["state"] for s in place.sessions()] == ["DelayedCollection"]
        go_on()
        wait_for(lambda: [s["reports"] for s in place.sessions()] == [1], "the first report")
        assert dict(place.report("one.rep").names()) == {"a 1": 1, "in a": 1}
        # Another range, and more of them.
        place.ok("start", "-c", "nvtx", "-p", "a 0@*", "--capture-range-end=repeat:2", "-o", "two")
        go_on()
        wait_for(lambda: [s["reports"] for s in place.sessions()] == [2], "the second report")
        assert dict(place.report("two.1.rep").names()) == {"a 0": 1, "in a": 1}
        place.ok("stop")
        # One that is open when it is not looked for any more.
        place.ok("start", "-c", "nvtx", "-p", "b", "--capture-range-end=stop", "-o", "three")
        go_on()
        wait_for(lambda: [s["state"] for s in place.sessions()] == ["Collection"], "the third range")
        place.ok("stop")
        assert dict(place.report("three.rep").names()) == {"b": 1, "left": 1}
        place.ok("start", "-c", "nvtx", "-p", "a 2", "--capture-range-end=stop", "-o", "four")
        go_on()
        wait_for(lambda: [s["reports"] for s in place.sessions()] == [4], "the fourth report")
        # "b" ended while nothing was recorded.
        assert dict(place.report("four.rep").names()) == {"a 2": 1, "in a": 1}
        # None again.
        place.ok("start", "-o", "five")
        go_on()
        code, err = place.end(launch)
        assert code == 7 and place.report("five.rep").info["state"] == COMPLETE, err
        assert not place.report("five.rep").names(), err


def test_a_range_that_start_begins_to_look_for():
    with Place() as place:
        profile = place.begin("profile", "-t", "nvtx", "--start-later=true", "-c", "nvtx", "-p", "a", "--capture-range-end=stop",
                              "-o", "r", ACT, "push", "a", "mark", "early", "pop", "catch", "12", "pause", "push", "a", "mark",
                              "late", "pop", "exit", "7")
        wait_for_catch(children(profile.pid)[0], 12)
        place.ok("start")
        os.kill(children(profile.pid)[0], signal.SIGUSR2)
        assert place.end(profile)[0] == 7 and dict(place.report("r.rep").names()) == {"a": 1, "late": 1}


def test_exports_and_statistics_of_sessions():
    with Place() as place:
        launch = place.begin("launch", ACT, "catch", "12", "pause", "push", "seen", "pop", "catch", "10", "pause", "exit", "7")
        target, = children(launch.pid)
        place.refused("unknown format “bogus”", "start", "--export=bogus")
        place.ok("start", "--stats=true", "--export=sqlite", "--export=jsonlines", "-o", "s")
        wait_for_catch(target, 12)
        os.kill(target, signal.SIGUSR2)
        wait_for(lambda: place.report("s.rep").named("seen"), "the range in the report")
        stop = place.ok("stop")
        made = "".join(f"    {place.file(name)}\n" for name in ("s.rep", "s.sqlite", "s.jsonl"))
        assert f"Generated:\n{made}" in stop.err and f"(process {launch.pid})" in stop.err, stop
        # What cannot be made fails the command that asked for it, and no other.
        place.ok("start", "--export=sqlite", "-o", "e")
        os.mkdir(place.file("e.sqlite"))
        stop = place.run("stop")
        assert stop.code == 125 and re.search(r"^lanescope: error: .*e\.sqlite", stop.err, re.M), stop
        assert f"    {place.file('e.rep')}\n" in stop.err and place.report("e.rep").info["state"] == COMPLETE
        place.ok("start", "-o", "f")
        os.rename(place.file("f.rep"), place.file("gone"))
        stop = place.run("stop")
        assert stop.code == 125 and "f.rep" in stop.err and "Generated" not in stop.err, stop
        place.ok("start", "-o", "g")
        place.ok("stop")
        wait_for_catch(target, 10)
        os.kill(target, signal.SIGUSR1)
        out, err = launch.communicate(timeout=60)
        place.running.remove(launch)
        assert launch.returncode == 7 and out.count("(nvtx_sum):") == 1 and "SKIPPED: " in out, out
        assert re.search(r"^\[2/\d+\] s.sqlite\n\[3/\d+\] s.jsonl\n\[4/\d+\] Executing 'nvtx_sum' stats report$", err, re.M), err


def test_several_sessions_by_name():
    with Place() as place:
        one = place.begin("launch", "--session-new=one", BEAT, "beats1", "20000")
        two = place.begin("launch", "--session-new=number two", BEAT, "beats2", "20000")
        place.refused("several sessions \\(one, number two\\)", "start")
        place.refused("no session “three”", "start", "--session=three")
        place.environment["WHICH"] = "one"
        assert "Session: one\n" in place.ok("status", "--session=%q{WHICH}").out
        place.refused("is not a session name", "status", "--session=%z")
        place.refused("session “one” exists already", "launch", "--session-new=one", ACT)
        place.ok("start", "--session=one", "-o", "a")
        place.ok("start", "--session", "number two", "-o", "b")
        names = {session["name"]: session for session in place.sessions()}
        assert names["one"]["report"] == place.file("a.rep") and names["number two"]["state"] == "Collection"
        place.ok("stop", "--defer-report", f"--session={names['one']['id']}")
        place.ok("cancel", "--session=number two")
        assert os.path.exists(place.file("a.rep")) and not os.path.exists(place.file("b.rep"))
        assert "has ended" in place.ok("shutdown", "--session=one", "--kill=sigkill").err
        assert place.end(one)[0] == 137
        place.ok("shutdown", "--kill", "10")
        assert place.end(two)[0] == 128 + 10


def test_interrupts_are_the_programs_while_nothing_is_collected():
    with Place() as place:
        launch = place.begin("launch", ACT, "catch", "2", "pause", "print", "1", "pause", "print", "2", "pause", "print", "3",
                             "pause", "exit", "3")
        wait_for_catch(children(launch.pid)[0], 2)
        for number in (1, 2, 3):
            launch.send_signal(signal.SIGINT)
            wait_for(lambda: launch.stdout.readline() == f"{number}\n", "the program")
        place.ok("start", "-o", "r")
        launch.send_signal(signal.SIGINT)  # it ends in time, and the report with it
        assert place.end(launch)[0] == 3 and place.report("r.rep").info["state"] == COMPLETE


def test_lost_sessions_do_not_pile_up():
    with Place() as place:
        machine = place.ok("status").out
        assert "There is no session" in machine and "\nDATA " in machine, machine
        for number in range(6):
            launch = place.begin("launch", f"--session-new=lost{number}", ACT, "pause")
            target = children(launch.pid)[0]
            launch.kill()
            launch.wait()
            os.kill(target, signal.SIGKILL)
            place.end(launch)
        names = [session["name"] for session in place.sessions()]
        assert names == ["lost2", "lost3", "lost4", "lost5"], names
        assert place.ok("status").out == machine  # a lost one is told to who names it
        assert "State: Lost" in place.ok("status", "--session=lost5").out


def test_shutdown_without_kill_leaves_the_program():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        place.ok("start", "-o", "r")
        assert "Generated:" in place.ok("shutdown", "--kill=none").err
        assert place.sessions() == [] and launch.poll() is None
        os.kill(children(launch.pid)[0], signal.SIGTERM)
        assert place.end(launch)[0] == -signal.SIGTERM and place.report("r.rep").info["state"] == COMPLETE


def test_a_session_is_gone_when_its_end_is_told():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        session, = place.sessions()
        folder = place.file("run/lanescope-sessions-%d" % os.geteuid())
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)  # the session cannot leave the folder
            client.connect(os.path.join(folder, f"{session['id']}.socket"))
            client.send(b"/\0shutdown\0--kill=none\0")
            wait_for(lambda: waits_for_a_lock(launch.pid), "the session's end")
            try:
                raise AssertionError(f"told before: {client.recv(1000, socket.MSG_DONTWAIT)}")
            except BlockingIOError:
                os.close(lock)
            assert client.recv(1000).startswith(struct.pack("i", 0)) and place.sessions() == []
        os.kill(children(launch.pid)[0], signal.SIGTERM)
        assert place.end(launch)[0] == -signal.SIGTERM


def waits_for_a_lock(pid):
    with open("/proc/locks", encoding="ascii") as file:
        return any(" -> " in line and f" {pid} " in line for line in file)


def test_a_profile_is_a_session():
    with Place() as place:
        profile = place.begin("profile", "-o", "p", BEAT, "beats", "20000")
        name = f"profile-{profile.pid}"
        assert place.sessions()[0]["name"] == f"{name}-nvtx-beat"
        place.refused("is already collecting", "start", f"--session={name}")
        assert "Generated:" in place.ok("stop", f"--session={name}").err
        assert place.end(profile)[0] == 143 and beats(place.report("p.rep"))
        later = place.begin("profile", "--start-later=true", "--session-new=late", "--kill=none", "-o", "q", BEAT,
                            "beats", "20000")
        assert place.sessions()[0]["state"] == "DelayedCollection"
        time.sleep(0.3)
        place.ok("start", "--session=late")
        time.sleep(0.1)
        place.ok("stop", "--session=late")
        os.kill(children(later.pid)[0], signal.SIGTERM)
        assert place.end(later)[0] == -signal.SIGTERM
        assert min(beats(place.report("q.rep"))) > 20


def test_the_owner_may_be_killed():
    with Place() as place, adopted():
        words = [word for number in range(40) for word in ("push", f"beat {number}", "sleep", "5", "pop")]
        launch = place.begin("launch", "--session-new=web", ACT, "catch", "12", "pause", *words, "catch", "10", "pause",
                             "exit", "7")
        target = children(launch.pid)[0]
        place.ok("start", "-o", "cut")
        wait_for_catch(target, 12)
        os.kill(target, signal.SIGUSR2)
        wait_for(lambda: beats(place.report("cut.rep")), "beats in the report")
        launch.kill()
        launch.wait()
        assert [s["state"] for s in place.sessions()] == ["Lost"], place.sessions()
        assert not [name for _, _, names in os.walk(place.file("run/lanescope-sessions-%d" % os.geteuid()))
                    for name in names if name.endswith(".socket")]
        place.refused("owner of session “web” .* was killed; the program runs on.*/cut.rep", "stop")
        place.refused("there is no session", "stop")
        assert alive(target)
        report = place.report("cut.rep")
        assert report.info["state"] == CUT_OFF and beats(report)
        wait_for_catch(target, 10)
        os.kill(target, signal.SIGUSR1)
        assert os.waitstatus_to_exitcode(os.waitpid(target, 0)[1]) == 7
        # Its name is free again.
        place.ok("launch", "--session-new=web", ACT, "mark", "x")
        assert os.listdir(place.file("run/lanescope-sessions-%d" % os.geteuid()))[0].endswith(".session")


def test_what_was_kept_goes_with_its_owner_and_that_is_told():
    with Place() as place, adopted():
        launch = place.begin("launch", BEAT, "beats", "20000")
        target = children(launch.pid)[0]
        place.ok("start", "--keep=30", "-o", "k")
        wait_for(lambda: "kept: the last 30.000 s, in memory, until" in place.ok("info", "k.rep").out, "the report")
        launch.kill()
        launch.wait()
        place.refused("the seconds that --keep held in its memory are lost; .*/k.rep is empty", "stop")
        assert alive(target) and "missing: all: what --keep held" in place.ok("info", "k.rep").out
        assert "LNS-DOCTOR-009" in place.ok("analyze", "k.rep").out
        os.kill(target, signal.SIGTERM)
        os.waitpid(target, 0)


def test_who_asks_too_late_is_told():
    with Place() as place:
        assert "note: --stop-on-exit=false" in place.ok("start", "-x", "false", "-o", "done").err
        place.ok("launch", "--session-new=s", ACT, "mark", "unseen")
        place.ok("launch", ACT, "mark", "seen")
        assert place.file("done.rep") in place.ok("stop").err
        place.refused("session “s” has ended with its program, and nothing was collected", "stop")
        place.refused("there is no session", "stop")
        assert os.listdir(place.file("run")) == []


def test_a_folder_that_others_may_enter_is_not_trusted():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        folder = place.file(f"run/lanescope-sessions-{os.geteuid()}")
        for mode in (0o701, 0o710, 0o704, 0o755, 0o1777):
            os.chmod(folder, mode)
            place.refused("other users can enter the folder for sessions", "start")
            place.refused("other users can enter the folder for sessions", "launch", ACT)
        os.chmod(folder, 0o700)
        assert [s["state"] for s in place.sessions()] == ["Launched"] and launch.poll() is None


def test_others_are_refused():
    if os.geteuid() != 0:
        raise tap.Skip("only root can become another user")
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        folder = place.file(f"run/lanescope-sessions-{os.geteuid()}")
        path, = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".socket"))
        assert os.stat(folder).st_mode & 0o777 == 0o700 and os.stat(path).st_mode & 0o777 == 0o600

        def ask():
            """What another user gets."""
            script = (f"import os, socket\nos.setgid(65534); os.setuid(65534)\n"
                      f"s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                      f"try:\n s.connect({path!r}); s.send(b'/\\0shutdown\\0'); print(len(s.recv(100)))\n"
                      f"except OSError as error: print(type(error).__name__)")
            return subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True).stdout.strip()

        assert ask() == "PermissionError"
        # With all doors open, the owner itself looks at who it is.
        os.chmod(place.path, 0o755)
        os.chmod(place.file("run"), 0o755)
        os.chmod(folder, 0o755)
        os.chmod(path, 0o666)
        assert ask() in ("0", "ConnectionResetError", "BrokenPipeError")
        assert launch.poll() is None
        place.environment["XDG_RUNTIME_DIR"] = place.file("run")
        os.chmod(folder, 0o700)
        assert [s["state"] for s in place.sessions()] == ["Launched"]


def test_nonsense_on_the_socket_does_no_harm():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "20000")
        folder = place.file(f"run/lanescope-sessions-{os.geteuid()}")
        path, = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".socket"))
        for message in (b"", b"\0", b"/", b"/\0", b"/\0\0", b"/\0nothing\0", b"/\0start", b"/\0stop\0--nothing\0",
                        b"\0" * 5000, os.urandom(100000), b"/\0start\0--output\0"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                client.connect(path)
                if message:
                    client.send(message)
        silent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        silent.connect(path)
        place.ok("start", "-o", "r")
        silent.close()
        place.ok("stop")
        assert launch.poll() is None and place.report("r.rep").info["state"] == COMPLETE


def test_wrong_order_and_words():
    with Place() as place:
        place.refused("there is no session", "stop")
        place.refused("there is no session", "cancel")
        place.refused("there is no session", "shutdown")
        place.refused("start does not run a program", "start", "program")
        place.refused("launch needs a program", "launch")
        place.refused("is not a valid session name", "launch", "--session-new=12", ACT)
        place.refused("is not a valid session name", "start", "--session-new=" + "x" * 128)
        place.refused("takes one argument", "sessions")
        place.refused("takes one argument", "sessions", "kill")
        place.refused("a signal number", "shutdown", "--kill=gently")
        place.refused("--keep and --capture-range", "profile", "--keep=1", "-c", "cudaProfilerApi", ACT)
        launch = place.begin("launch", BEAT, "beats", "20000")
        place.refused("is not collecting", "stop")
        place.refused("is not collecting", "cancel")
        place.ok("start", "-o", "r")
        place.refused("is already collecting", "start")
        place.ok("stop")
        place.refused("r.rep exists", "start", "-o", "r")
        place.refused("is a folder|cannot", "start", "-o", "/proc/nothing/r")
        place.ok("start", "-o", "r", "-f", "true")
        place.ok("stop")
        assert launch.poll() is None


def test_commands_at_moments_of_a_session():
    with Place() as place:
        launch = place.begin("launch", "--session-new=s", BEAT, "beats", "20000")
        place.ok("start", "-o", "r", "--after-collection-start", "echo begun $NSYS_SESSION_NAME > begun",
                 "--after-report-ready", "cp $LANESCOPE_REPORT_PATH ready.rep; echo $NSYS_CALLBACK_NAME; exit 3")
        wait_for(lambda: os.path.exists(place.file("begun")), "the first command")
        place.ok("stop")
        wait_for(lambda: os.path.exists(place.file("ready.rep")), "the second command")
        place.ok("start", "-o", "q")  # without commands
        place.ok("shutdown")
        code, err = place.end(launch)
        assert code == 143 and "a command that the session ran exited with code 3" in err, err
        assert Report(place.file("ready.rep")).info["state"] == COMPLETE
        run = place.ok("profile", "-o", "p", "--after-report-ready", "echo $NSYS_REPORT_PATH", ACT, "print", "own")
        assert run.out == f"own\n{place.file('p.rep')}\n", run


def test_lists_and_status():
    with Place() as place:
        assert place.ok("sessions", "list", "--show-header=false").out == "" and place.sessions() == []
        assert "There is no session" in place.ok("status").out
        place.begin("launch", "--session-new=s", BEAT, "beats", "20000")
        head, row = place.ok("sessions", "list").out.splitlines()
        assert head.split() == ["ID", "TIME", "STATE", "LAUNCH", "NAME"]
        assert re.fullmatch(r" +\d+ +00:\d\d +Launched +1 s", row), row
        place.ok("start", "-o", "r")
        status = place.ok("status", "--session=s").out
        assert "State: Collection\n" in status and f"Collecting into: {place.file('r.rep')}\n" in status
        text = place.ok("status", "-e").out
        assert re.search(r"^Linux kernel paranoid level: (-?\d+|unknown)$", text, re.M) and "Recording: OK\n" in text
        assert "Network" in place.ok("status", "--all").out


def test_status_lists_the_copies_of_cupti():
    with Place() as place:
        files = {"CUDA_HOME": ("home", "home/extras/CUPTI/lib64/libcupti.so.15"), "LD_LIBRARY_PATH": ("named", "named/libcupti.so.12"),
                 "CONDA_PREFIX": ("conda", "conda/lib/libcupti.so.11.2")}
        for variable, (folder, file) in files.items():
            os.makedirs(os.path.dirname(place.file(file)))
            with open(place.file(file), "w", encoding="ascii"):
                place.environment[variable] = place.file(folder)
        text = place.ok("status", "-e").out
        copies = [line for line in text.splitlines() if line.startswith("CUPTI")]
        version = re.search(r"^CUDA of the driver: (\d+)\.", text, re.M)
        if version is None or int(version.group(1)) >= 12:
            assert copies[0] == f"CUPTI: {place.file(files['LD_LIBRARY_PATH'][1])} (CUDA 12, from LD_LIBRARY_PATH): " \
                                "first, as LD_LIBRARY_PATH names it", text
        newest, = [line for line in copies if place.file(files["CUDA_HOME"][1]) in line]
        oldest, = [line for line in copies if place.file(files["CONDA_PREFIX"][1]) in line]
        assert oldest.endswith("(CUDA 11.2, from CONDA_PREFIX): used if those above do not work"), text
        label, why = ("CUPTI, next choice", "used if those above do not work") if version is None else \
            ("CUPTI, not used", "newer than the driver")
        assert newest == f"{label}: {place.file(files['CUDA_HOME'][1])} (CUDA 15, from CUDA_HOME): {why}", text
        assert version is not None or copies.index(newest) == 1, text


def ends_of_beats(place):
    """When the beats of the program that writes the file `beats` ended, in ns; 0 of one that has not."""
    with open(place.file("beats"), "rb") as file:
        data = file.read()
    return struct.unpack(f"{len(data) // 8}q", data)


def kept(place, keep_s, stop):
    """Ends a report that keeps KEEP_S seconds by STOP (), and checks that these are in it and no others. False where STOP
    took longer than that, so that no beat must be in it."""
    before_ns = time.monotonic_ns() - int(keep_s * 1e9)
    until_ns = time.monotonic_ns()
    stop()
    after_ns = time.monotonic_ns() - int(keep_s * 1e9)
    ended = ends_of_beats(place)
    report = place.report("k.rep")
    there = beats(report)
    must = {beat for beat, end_ns in enumerate(ended) if after_ns < end_ns < until_ns}
    may = {beat for beat, end_ns in enumerate(ended) if end_ns > before_ns or end_ns == 0}
    assert (must or after_ns >= until_ns) and must <= there <= may, (len(must), len(must - there), len(there - may))
    assert len(report.named("work")) >= 100 * (len(must) - 2) and report.info["lost"] == 0
    return bool(must)


def test_keep_holds_the_last_seconds_and_no_more():
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "120000")

        def stopped():
            place.ok("start", "--keep=1", "-o", "k", "-f", "true")
            wait_for(lambda: "kept: the last 1.000 s, in memory" in place.ok("info", "k.rep").out, "the report")
            size = os.stat(place.file("k.rep")).st_size
            time.sleep(1.5)
            assert os.stat(place.file("k.rep")).st_size == size  # nothing is written until the end
            assert "Keeps: the last seconds" in place.ok("status", f"--session={launch.pid}").out
            return kept(place, 1, lambda: place.ok("stop"))
        wait_for(stopped, "a stop in less than a second", 120)
        assert re.search(r"^kept: the last 1.000 s, in \d.*iB$", place.ok("info", "k.rep").out, re.M)

        def stopped_with_less():
            place.ok("start", "--keep=30", "-o", "k", "-f", "true")
            time.sleep(1.2)
            return kept(place, 0.8, lambda: place.ok("stop", "--keep=0.8"))
        wait_for(stopped_with_less, "a stop in less than 0.8 s", 120)
        place.ok("start", "--keep=1", "-o", "b")
        place.ok("cancel")
        assert not os.path.exists(place.file("b.rep"))
        place.ok("start", "--keep=1", "-o", "k", "-f", "true")
        time.sleep(1.5)

        def end():
            os.kill(children(launch.pid)[0], signal.SIGTERM)
            assert place.end(launch)[0] == -signal.SIGTERM
        kept(place, 1, end)


def test_a_stop_may_be_the_first_to_ask_for_the_last_seconds():
    """The report is cut when it is whole: what lies before is gone, and the report and its numbers say so."""
    with Place() as place:
        launch = place.begin("launch", BEAT, "beats", "120000")

        def stopped():
            place.ok("start", "-o", "k", "-f", "true", "--export=jsonlines")
            begun_ns = max(ends_of_beats(place))
            wait_for(lambda: max(ends_of_beats(place)) > begun_ns + 1200000000, "more beats than are kept")
            os.chmod(place.file("k.rep"), 0o640)
            stops = []
            is_sharp = kept(place, 0.5, lambda: stops.append(place.ok("stop", "--keep=0.5")))
            report, (stop,) = place.report("k.rep"), stops
            first = min(event["start"] for event in report.events)
            said = "the report holds the last 500.000 ms of what was recorded, as `lanescope stop --keep` asked; "
            assert f"note: {said}" in stop.err and f"{len(report.events):,} events, 0 lost, 1 process" in stop.err, stop
            assert [d["text"][:len(said)] for d in report.diagnostics if d["code"] == "LNS-KEEP-002"] == [said], report.diagnostics
            meta = dict(sqlite3.connect(place.file("k.rep")).execute("SELECT key, value FROM lns_meta"))
            assert report.info["state"] == COMPLETE and meta["keep_ns"] == "500000000" and int(meta["start_ns"]) <= first, (meta, first)
            assert not [e for e in report.events if (e["start"] == int(meta["start_ns"])) != (e["flags"] & 1)]  # began before that
            assert os.stat(place.file("k.rep")).st_mode & 0o777 == 0o640
            return is_sharp
        wait_for(stopped, "a stop in less than 0.5 s", 120)
        text = place.ok("info", "k.rep").out
        assert re.search(r"^kept: the last 500.000 ms$", text, re.M) and re.search(r"^duration: 500.000 ms$", text, re.M), text
        assert re.search(r"^command line: .*nvtx-beat", text, re.M), text
        assert sorted(os.listdir(place.path)) == ["beats", "k.jsonl", "k.rep", "run"]

        # There is less than is asked for.
        place.ok("start", "-o", "all")
        stop = place.ok("stop", "--keep=1000")
        assert "LNS-KEEP-002" not in stop.err and "kept:" not in place.ok("info", "all.rep").out, stop

        # What comes next is whole again.
        place.ok("start", "-o", "next")
        place.ok("stop")
        assert "kept:" not in place.ok("info", "next.rep").out
        assert launch.poll() is None


def test_keep_knows_what_is_open():
    with Place() as place:
        run = place.ok("profile", "--keep=0.5", "-o", "k", ACT, "name-thread", "me", "push", "outer", "mark", "old",
                       "sleep", "900", "push", "inner", "mark", "new", "pop", "pop")
        assert run.code == 0
        report = place.report("k.rep")
        assert dict(report.names()) == {"outer": 1, "inner": 1, "new": 1}, report.names()
        outer, = report.named("outer")
        assert outer["flags"] & 1 and outer["duration"] < 520000000, outer
        assert report.threads[outer["thread"]]["name"] == "me"


tap.main(globals(), gate=(test_start_and_stop_from_other_terminals, test_several_sessions_by_name))
