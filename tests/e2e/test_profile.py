# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests `lanescope profile`: switches, names, sentences and exit codes."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

import tap
from profiling import ACT, COMPLETE, Folder, Run, wait_for

WORK = ("push", "outer", "push", "inner", "pop", "pop", "mark", "here")


def test_records_a_program():
    with Folder() as folder:
        run = folder.profile(ACT, *WORK, "print", "output")
        assert run.code == 0 and run.out == "output\n", run
        lines = run.err.splitlines()
        assert lines[0] == "Collecting data...", run.err
        assert lines[1] == f"Generating '{folder.file('report1.rep')}'", run.err
        assert lines[2:4] == ["Generated:", "    " + folder.file("report1.rep")], run.err
        assert lines[4] == "3 events, 0 lost, 1 process", run.err
        report = folder.report()
        assert report.info["state"] == COMPLETE and report.info["lost"] == 0
        assert dict(report.names()) == {"outer": 1, "inner": 1, "here": 1}
        outer, inner = report.named("outer")[0], report.named("inner")[0]
        assert (outer["lane"], inner["lane"]) == (0, 1)
        assert outer["start"] <= inner["start"]
        assert inner["start"] + inner["duration"] <= outer["start"] + outer["duration"]
        process = report.processes[0]
        assert process["name"] == "nvtx-act" and process["exit"] == 0 and process["ended"]
        assert process["command_line"].endswith("push outer push inner pop pop mark here print output")
        # What the kernel counted of its main thread, which needs no rights.
        with open("/proc/self/schedstat", encoding="ascii") as file:
            counts = int(file.read().split()[0]) > 0
        assert not counts or (int(report.info["main_thread_on_cpu_ns"]) > 0 and int(report.info["main_thread_waited_ns"]) >= 0), report.info


def test_output_is_the_same_with_and_without():
    with Folder() as folder:
        words = [ACT, "state", "print", "one", "push", "a", "pop", "print", "two", "warn", "three"]
        plain = subprocess.run(words, cwd=folder.path, stdin=subprocess.DEVNULL, capture_output=True)
        run = folder.profile(*words)
        assert run.out == plain.stdout.decode(), (run.out, plain.stdout.decode())
        ours = ("Collecting", "Generat", "    ", "1 event, ", "Why: ")
        assert [line for line in run.err.splitlines() if not line.startswith(ours)] == ["three"]


def test_closed_streams_stay_closed():
    with Folder() as folder:
        script = f'"{ACT}" push a pop state >plain; "{tap.LANESCOPE}" profile "{ACT}" push a pop state >ours'
        for closing in ("<&-", "2>&-", "<&- 2>&-"):
            done = subprocess.run(["sh", "-c", f"({script}) {closing}"], cwd=folder.path, capture_output=True)
            assert done.returncode == 0, done
            with open(folder.file("plain"), encoding="ascii") as plain, open(folder.file("ours"), encoding="ascii") as ours:
                assert plain.read() == ours.read(), closing
            report = folder.report()
            assert report.info["state"] == COMPLETE and len(report.named("a")) == 1
            os.remove(folder.file("report1.rep"))


def test_what_killed_sessions_left_is_swept():
    with Folder() as folder:
        for name, age in (("lanescope-aaaaaa", 100), ("lanescope-bbbbbb", 0), ("lanescope-other1", 100)):
            os.mkdir(folder.file(name))
            if name != "lanescope-other1":
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
                    dead.bind(folder.file(name + "/session"))
            past = time.time() - age
            os.utime(folder.file(name), (past, past))
        process = folder.start("-o", "r", "cat", env=dict(os.environ, XDG_RUNTIME_DIR=folder.path), stdin=subprocess.PIPE)
        wait_for(lambda: not os.path.exists(folder.file("lanescope-aaaaaa")), "the dead session's folder to go")
        process.communicate(timeout=20)
        assert process.returncode == 0
        assert sorted(os.listdir(folder.path)) == ["lanescope-bbbbbb", "lanescope-other1", "r.rep"]


def test_exit_codes_are_the_programs():
    with Folder() as folder:
        for words, code in (("exit 7", 7), ("_exit 9", 9), ("raise 15", -15), ("raise 9", -9)):
            run = folder.profile("-f", "true", "-o", "r", ACT, "mark", "m", *words.split())
            assert run.code == code, run
            report = folder.report("r.rep")
            assert report.processes[0]["exit"] == (code if code >= 0 else 128 - code) and len(report.named("m")) == 1


def refused(run, code, *words):
    """RUN ended with CODE, one sentence that holds all WORDS, and left nothing behind."""
    assert run.code == code, run
    lines = [line for line in run.err.splitlines() if line.startswith("lanescope: error: ")]
    assert len(lines) == 1, run.err
    for word in words:
        assert word in lines[0], (word, lines[0])


def test_what_cannot_run_is_refused():
    with Folder() as folder:
        refused(folder.profile("no-such-program"), 127, "no-such-program", "name")
        refused(folder.profile("./no/such/program"), 127, "./no/such/program")
        with open(folder.file("text"), "w", encoding="ascii") as file:
            file.write("no program\n")
        refused(folder.profile("./text"), 126, "./text", "chmod +x")
        refused(folder.profile("/"), 126, "/")
        refused(folder.profile("x" * 300), 126, "File name too long")
        assert os.listdir(folder.path) == ["text"], os.listdir(folder.path)


def test_wrong_switches_are_refused():
    with Folder() as folder:
        refused(folder.profile("--trce=nvtx", ACT), 125, "--trce", "--trace")
        refused(folder.profile("--trace"), 125, "--trace needs a value")
        refused(folder.profile("-q", ACT), 125, "-q")
        refused(folder.profile("-t", "nvtxx", ACT), 125, "nvtxx")
        refused(folder.profile("-f", "maybe", ACT), 125, "maybe", "true or false")
        refused(folder.profile("-d", "soon", ACT), 125, "--duration", "soon", "seconds")
        refused(folder.profile("-d", "0", ACT), 125, "--duration")
        refused(folder.profile("-x", "false", ACT), 125, "--duration")
        refused(folder.profile("--kill=sigfoo", ACT), 125, "sigfoo")
        refused(folder.profile("--wait=some", ACT), 125, "some", "primary,all")
        refused(folder.profile("-e", "A", ACT), 125, "NAME=VALUE")
        refused(folder.profile("--buffer-size=-1", ACT), 125, "--buffer-size")
        refused(folder.profile("--progress-fd=77", ACT), 125, "77", "not open")
        refused(folder.profile(), 125, "program")
        refused(folder.profile("-o", "r"), 125, "program")
        refused(folder.profile("-o", "", ACT), 125, "--output", "empty")
        assert os.listdir(folder.path) == []


def test_limits_of_memory_and_files():
    """Where only little may be mapped, or no large file be made, a smaller pool does."""
    for limit in ((resource.RLIMIT_AS, 1 << 30), (resource.RLIMIT_FSIZE, 20 << 20)):
        with Folder() as folder:
            run = folder.profile("-o", "r", ACT, "mark", "m",
                                 preexec_fn=lambda: resource.setrlimit(limit[0], (limit[1], limit[1])))
            assert "LNS-POOL" not in run.err, run.err
            assert len(folder.report("r.rep").named("m")) == 1


def test_spellings_of_switches():
    with Folder() as folder:
        for number, switches in enumerate((["--output=a", "--trace=nvtx"], ["--output", "a", "-t", "nvtx"],
                                           ["-o", "a", "-t", " 'nvtx' , nvtx"], ["-oa", "-tnvtx"],
                                           ["-o=a", "-t=nvtx"], ["-o", "a.rep"], ["-o", "./a"])):
            force = ["-f", "TRUE"] if number % 2 else ["--force-overwrite=True"]
            run = folder.profile(*switches, *force, ACT, "mark", "m")
            assert run.code == 0 and os.listdir(folder.path) == ["a.rep"], (switches, run)
            assert f"    {folder.file('a.rep')}\n" in run.err, run.err


def test_switches_end_at_the_program():
    with Folder() as folder:
        run = folder.profile("-o", "a", "--", ACT, "print", "--help")
        assert run.code == 0 and run.out == "--help\n", run


def test_names_of_reports():
    with Folder() as folder:
        for expected in ("report1.rep", "report2.rep", "report3.rep"):
            run = folder.profile(ACT)
            assert run.code == 0 and folder.file(expected) in run.err, run
        os.remove(folder.file("report2.rep"))
        assert folder.file("report2.rep") in folder.profile(ACT).err
        assert "deep/er/x.rep" in folder.profile("-o", "deep/er/x", ACT).err
        assert "deep/report1.rep" in folder.profile("-o", "deep", ACT).err
        run = folder.profile("-o", "y.nsys-rep", ACT)
        notes = [line for line in run.err.splitlines() if "note:" in line and "LNS-NVTX-002" not in line]
        assert len(notes) == 1 and folder.file("y.rep") in notes[0], run.err
        assert "v1.2.rep" in folder.profile("-o", "v1.2", ACT).err
        name = "quote ' and space é"
        assert folder.file(name + ".rep") in folder.profile("-o", name, ACT).err
        assert folder.report(name + ".rep").info["state"] == COMPLETE


def test_bytes_in_names_are_kept():
    with Folder() as folder:
        run = subprocess.run([tap.LANESCOPE.encode(), b"profile", b"-o", b"\xff\xfe", ACT.encode()],
                             cwd=folder.path, capture_output=True)
        assert run.returncode == 0 and os.listdir(folder.path.encode()) == [b"\xff\xfe.rep"], run


def test_a_report_is_its_owners():
    """Whatever the umask lets others do; what was there before has no say either."""
    for switches, wanted in (([], 0o600), (["--mode=640"], 0o640), (["--mode=0644"], 0o644)):
        for umask in (0, 0o77):
            with Folder() as folder:
                with open(folder.file("r.rep"), "wb"):
                    os.chmod(folder.file("r.rep"), 0o666)
                run = folder.profile("-f", "true", "-o", "r", *switches, ACT, "mark", "x", umask=umask)
                assert run.code == 0 and os.stat(folder.file("r.rep")).st_mode & 0o777 == wanted, (switches, run)
    with Folder() as folder:
        for mode in ("", "9", "0x1ff", "440", "1000", "-1", "u+r"):
            run = folder.profile("-o", "r", f"--mode={mode}", ACT, "print", "x")
            assert run.code == 125 and run.out == "" and "--mode" in run.err and not os.listdir(folder.path), (mode, run)


def test_an_existing_report_is_kept_unless_forced():
    with Folder() as folder:
        with open(folder.file("old.rep"), "w", encoding="ascii") as file:
            file.write("precious")
        run = folder.profile("-o", "old", ACT, "print", "ran")
        refused(run, 125, "old.rep exists", "--force-overwrite")
        assert run.out == ""
        refused(folder.profile("-f", "true", "-o", "old", "no-such-program"), 127, "no-such-program")
        with open(folder.file("old.rep"), encoding="ascii") as file:
            assert file.read() == "precious"
        assert folder.profile("-f", "true", "-o", "old", ACT, "mark", "m").code == 0
        assert len(folder.report("old.rep").named("m")) == 1
        assert os.listdir(folder.path) == ["old.rep"], os.listdir(folder.path)


def test_places_that_cannot_hold_a_report():
    with Folder() as folder:
        refused(folder.profile("-o", "n" * 260, ACT), 125, "File name too long")
        refused(folder.profile("-o", "/proc/nothing/here", ACT), 125, "/proc/nothing")
        with open(folder.file("file"), "w", encoding="ascii"):
            pass
        refused(folder.profile("-o", "file/x", ACT), 125, "file")
        os.mkdir(folder.file("folder.rep"))
        refused(folder.profile("-o", "folder.rep/../folder", ACT), 125, "folder")
        assert sorted(os.listdir(folder.path)) == ["file", "folder.rep"]


def test_environment_switches():
    with Folder() as folder:
        script = "import os,sys; print(sorted(k+'='+v for k,v in os.environ.items() if k[0]=='L' or k=='A'))"
        given = dict(os.environ, LNS_TEST="caller")
        run = folder.profile("-e", "LNS_TEST=x,LNS_B='1,2'", "--env-var=LNS_C=a=b", sys.executable, "-S",
                             "-c", script, env=given)
        assert "'LNS_TEST=x'" in run.out and "'LNS_B=1,2'" in run.out and "'LNS_C=a=b'" in run.out, run
        run = folder.profile("-n", "false", "-e", "A=only", ACT, "exec", "print", "x", env=given)
        assert run.code == 0, run
        run = folder.profile("-n", "false", "-e", "A=only", "/usr/bin/env", env=given)
        names = [line.split("=")[0] for line in run.out.splitlines()]
        assert sorted(names) == ["A", "CUDA_INJECTION64_PATH", "LANESCOPE_SESSION", "NSYS_PROFILING_SESSION_ID",
                                 "NVTX_INJECTION64_PATH"], run.out
        run = folder.profile("-t", "none", "-n", "false", "/usr/bin/env", env=given)
        assert run.out == "", run.out


def test_environment_in_the_report():
    with Folder() as folder:
        given = dict(os.environ, LNS_TEST="secret", OMP_NUM_THREADS="3")
        for switch, kept in (([], False), (["--env-record=none"], False), (["--env-record=all"], True)):
            run = folder.profile("-f", "true", "-o", "r", *switch, ACT, env=given)
            assert run.code == 0, run
            assert (folder.report("r.rep").info.get("env.LNS_TEST") == "secret") == kept, switch


def recorded_names():
    """The names that --env-record=list keeps, as the source lists them."""
    with open(os.path.join(tap.SOURCE, "src", "cli", "profile", "environment.c"), encoding="utf-8") as file:
        table = re.search(r"recorded\[\] = \{(.*?)\};", file.read(), re.DOTALL).group(1)
    return re.findall(r'"([^"]*)"', table)


def test_kept_variables_are_exact_names_without_secrets():
    names = recorded_names()
    assert len(names) > 100 and names == sorted(set(names))
    for name in names:
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and not re.search("KEY|TOKEN|SECRET|PASS|CRED|AUTH", name), name
    near = [change for name in names for change in (name + "_KEY", name[:-1], "X" + name, name.lower())]
    secrets = ["NVIDIA_API_KEY", "TF_VAR_region", "OMPI_MCA_x", "PYTHONX", "NCCL_X", "CUDA_X", "MALLOC_X", *near]
    given = {name: "kept" for name in names if name not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                                            "LC_ALL", "LANG", "LD_LIBRARY_PATH")}
    with Folder() as folder:
        environment = {"PATH": os.environ["PATH"], **{name: "secret" for name in secrets if name not in names}, **given}
        run = folder.profile("-t", "none", "/bin/true", env=environment)
        assert run.code == 0, run
        lines = info(folder, "--print=env", "report1.rep").decode().splitlines()
        assert lines == [f"{name}=kept" for name in sorted(given)], (lines, run.err)
        # All of it, also what is more than one, or has lines and bytes that a terminal would obey.
        many = {f"LNS_{i}": str(i) for i in range(5000)}
        run = folder.profile("-t", "none", "--env-record=all", "-o", "all", "/bin/true",
                             env={"PATH": "/", **many, "ODD": "a\nb\x1b[31m"})
        assert run.code == 0, run
        lines = info(folder, "--print=env", "all.rep").decode().splitlines()
        kept = {**many, "PATH": "/", "ODD": r"a\nb\x1B[31m"}
        assert lines == [f"{name}={kept[name]}" for name in sorted(kept)], lines[:3]


def test_another_injection_is_named():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "m", env=dict(os.environ, NVTX_INJECTION64_PATH="/other.so"))
        assert "/other.so" in run.err and "LNS-NVTX-003" in run.err, run.err
        assert len(folder.report().named("m")) == 1
        # That of CUDA is replaced by the trace of CUDA alone, and that of NVTX by NVTX.
        both = dict(os.environ, NVTX_INJECTION64_PATH="/nvtx.so", CUDA_INJECTION64_PATH="/cuda.so")
        script = "echo $NVTX_INJECTION64_PATH; echo $CUDA_INJECTION64_PATH"
        codes = {"CUDA": "LNS-CUDA-030", "NVTX": "LNS-NVTX-003"}
        for trace, kept, replaced in (("cuda", "NVTX", "CUDA"), ("nvtx", "CUDA", "NVTX"), ("cuda,nvtx", None, "CUDA"), ("cuda,nvtx", None, "NVTX")):
            run = folder.profile("-t", trace, "-o", "x", "--force-overwrite=true", "sh", "-c", script, env=both)
            ours = f"{replaced}_INJECTION64_PATH is set to /{replaced.lower()}.so; Lanescope replaces it in this run [{codes[replaced]}]"
            assert ours in run.err and f"/{replaced.lower()}.so" not in run.out, run
            assert kept is None or (f"/{kept.lower()}.so" in run.out and f"{kept}_INJECTION64_PATH is set" not in run.err), run


def info(folder, *words):
    return subprocess.run([tap.LANESCOPE, "info", *words], cwd=folder.path, capture_output=True, check=True).stdout


def test_show_output_false():
    with Folder() as folder:
        run = folder.profile("-w", "false", ACT, "print", "hidden", "warn", "hidden", *WORK)
        assert run.code == 0 and run.out == "" and "hidden" not in run.err, run
        assert folder.report().info["events"] == 3
        facts = info(folder, "report1.rep")
        assert b"\nstdout: 7 B, which" in facts and b"\nstderr: 7 B, which" in facts, facts
        assert info(folder, "--print=stdout", "report1.rep") == info(folder, "--print", "stderr", "report1.rep") == b"hidden\n"
        # Much of it: the end is kept. Bytes that are no text, and a file that is taken away.
        run = folder.profile("-w", "false", "-t", "none", "-o", "much", "sh", "-c",
                             "yes äöüß | head -n 2000000; printf 'a\\0b\\377c'; printf >&2 '\\303'; exit 9")
        assert run.code == 9 and run.out == "", run
        out = info(folder, "--print=stdout", "much.rep")
        assert len(out) == 262144 and out.endswith("äöüß\na b".encode() + b"\377c"), out[-30:]
        # Where it cannot be kept, that is said, and the program runs.
        run = folder.profile("-w", "false", "-o", "not", ACT, "print", "hidden", *WORK, env=dict(os.environ, TMPDIR="/nothing"))
        assert run.code == 0 and run.out == "" and "does not keep the output of the program: cannot make a file in /nothing" in run.err, run
        assert b"stdout" not in info(folder, "not.rep")


def test_trace_none_and_others():
    with Folder() as folder:
        run = folder.profile("-t", "none", "-o", "none", ACT, *WORK)
        assert run.code == 0 and folder.report("none.rep").info["events"] == 0, run
        assert "NVTX" not in run.err and folder.report("none.rep").codes() == [], run
        run = folder.profile("-t", "cuda,nvtx,opengl", "-o", "some", ACT, *WORK)
        assert run.code == 0 and run.err.count("LNS-TRACE-001") == 1, run.err
        assert "--trace: opengl: Lanescope does not record graphics" in run.err and folder.report("some.rep").info["events"] == 3


def test_the_summary_counts_the_processes_of_the_report():
    with Folder() as folder:
        for words, summary in (
                (["/bin/true"], "0 events, 0 lost, 1 process"),
                ([ACT, "mark", "m", "exec", "mark", "n"], "2 events, 0 lost, 2 processes"),
                (["sh", "-c", f"{ACT} mark m; {ACT} mark n; true"], "2 events, 0 lost, 3 processes")):
            run = folder.profile("-f", "true", "-o", "r", *words)
            info = subprocess.run([tap.LANESCOPE, "info", folder.file("r.rep")], capture_output=True)
            n = summary.rsplit(", ", 1)[1].split()[0]
            assert summary + "\n" in run.err and f"processes: {n}\n" in info.stdout.decode(), (run, info)


def test_why_a_report_is_empty():
    with Folder() as folder:
        # What nobody asked for is a note, and nothing that --strict minds.
        for switches, word, code in (((), "note", 0), (("-t", "nvtx"), "warning", 124)):
            run = folder.profile("-f", "true", "-o", "a", "--strict", *switches, "/bin/true")
            assert run.code == code and f"lanescope: {word}: no NVTX events were seen" in run.err, (switches, run)
            assert folder.report("a.rep").codes() == ["LNS-NVTX-002"], run.err
        run = folder.profile("-o", "b", ACT, "name-thread", "t")
        assert "LNS-NVTX-001" in run.err and folder.report("b.rep").codes() == ["LNS-NVTX-001"], run.err


def test_the_duration_is_that_of_what_was_collected():
    with Folder() as folder:
        run = folder.profile("-y", "0.5", "-o", "r", ACT, "sleep", "700", "mark", "m")
        assert run.code == 0, run
        database = sqlite3.connect(folder.file("r.rep"))
        meta = dict(database.execute("SELECT key, value FROM lns_meta WHERE key IN ('start_ns', 'now_ns')"))
        assert int(meta["start_ns"]) >= 500_000_000, meta
        info = subprocess.run([tap.LANESCOPE, "info", folder.file("r.rep")], capture_output=True, text=True).stdout
        number, unit = re.search(r"^duration: ([\d.,]+) (\S+)$", info, re.M).groups()
        duration_ns = float(number.replace(",", "")) * {"µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
        assert abs(duration_ns - (int(meta["now_ns"]) - int(meta["start_ns"]))) <= 1e6, (info, meta)


def test_a_program_sees_that_it_is_profiled():
    with Folder() as folder:
        run = folder.profile("sh", "-c", 'echo "$NSYS_PROFILING_SESSION_ID"; echo $PPID')
        session, tool = run.out.split()
        assert session == tool, run  # a session is called by the pid of who began it, where that is free


def test_an_mpi_rank_is_told():
    ranks = {"OMPI_COMM_WORLD_RANK": "3", "PMIX_RANK": "4", "PMI_RANK": "5", "MV2_COMM_WORLD_RANK": "6"}
    bare = {name: value for name, value in os.environ.items() if not re.search("RANK|PROCID", name)}
    cases = [({name: rank}, rank) for name, rank in ranks.items()]
    cases += [({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None), ({}, None),
              ({"SLURM_PROCID": "7", "SLURM_STEP_NUM_TASKS": "8"}, "7")]
    with Folder() as folder:
        for variables, rank in cases:
            run = folder.profile("-f", "true", "-o", "r", ACT, "mark", "m", env=bare | variables)
            assert run.code == 0, run
            info = subprocess.run([tap.LANESCOPE, "info", folder.file("r.rep")], capture_output=True, text=True).stdout
            told = re.search(r"nvtx-act, 1 thread(?:, MPI rank (\d+))?, exit code 0", info)
            assert told and told.group(1) == rank, (variables, info)


def test_a_read_only_tmp():
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        raise tap.Skip("only root can make /tmp read-only")
    bare = {name: value for name, value in os.environ.items() if name not in ("XDG_RUNTIME_DIR", "TMPDIR")}
    place = tempfile.mkdtemp(prefix="lns", dir="/var/tmp")
    try:
        def run(folders, env):
            """Records with FOLDERS read-only."""
            mounts = " && ".join(f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}" for folder in folders)
            words = ["unshare", "-m", "sh", "-c", mounts + ' && exec "$@"', "-", tap.LANESCOPE, "profile", "-f", "true",
                     "-o", os.path.join(place, "r"), ACT, "mark", "m", "print", "ran"]
            done = subprocess.run(words, cwd=place, env=bare | env, capture_output=True, text=True)
            return Run(done.returncode, done.stdout, done.stderr, None)

        # Memory serves where /tmp does not.
        for folders, env in ((["/tmp"], {}), (["/tmp", "/dev/shm"], {"TMPDIR": place})):
            done = run(folders, env)
            assert done.code == 0 and done.out == "ran\n" and "1 event" in done.err, done
        done = run(["/tmp", "/dev/shm"], {})
        refused(done, 125, "TMPDIR", "Read-only")
        assert done.out == ""
    finally:
        shutil.rmtree(place)


def test_what_outlives_the_program_is_named():
    """A daemon that has made no call when its starter ends, for which --wait=primary does not wait."""
    with Folder() as folder:
        words = ["sh", "-c", f"(setsid sh -c 'sleep 1; exec {ACT} mark late' &) >/dev/null 2>&1; exit 9"]
        run = folder.profile("-o", "a", "--wait=primary", *words)
        assert run.code == 9 and "still ran when the report ended" in run.err, run
        assert "no process made an NVTX call" not in run.err, run
        assert "--stop-on-exit=false --duration=SECONDS" in run.err and "--wait=all" in run.err, run
        run = folder.profile("-o", "b", "--stop-on-exit=false", "--duration=3", *words)
        assert run.code == 9 and dict(folder.report("b.rep").names()) == {"late": 1}, run


def test_help_version_and_capabilities():
    def ask(*words):
        return subprocess.run([tap.LANESCOPE, *words], capture_output=True, text=True)
    assert ask("--version").stdout.startswith("lanescope ") and ask("-v").returncode == 0
    assert "profile" in ask("--help").stdout
    text = ask("profile", "--help=all").stdout
    commands = json.loads(ask("--capabilities=json").stdout)["commands"]
    profile = next(command for command in commands if command["name"] == "profile")
    names = [switch["name"] for switch in profile["switches"]]
    for name in names:
        assert f"--{name}" in text, name
    assert {"trace", "output", "force-overwrite", "show-output", "duration", "delay", "stop-on-exit",
            "env-var", "inherit-environment", "kill", "wait"} <= set(names)
    assert ask().returncode == 125 and ask("profil").returncode == 125
    assert "profile" in ask("profil").stderr


def test_a_full_disk_costs_the_report_alone():
    if os.geteuid() != 0:
        raise tap.Skip("only root can mount a small file system")
    with Folder() as folder:
        small = folder.file("small")
        os.mkdir(small)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", small], capture_output=True)
        if mount.returncode != 0:
            raise tap.Skip("this system mounts no tmpfs")
        try:
            run = folder.profile("-o", small + "/full", ACT, "distinct", 6000, "sleep", 1500, "print", "the end")
            assert run.out == "the end\n", run
            refused(run, 125, "full.rep")
            assert "No space left" in run.err or "full" in run.err, run.err
        finally:
            subprocess.run(["umount", "-l", small], check=True)


def test_a_limit_on_files_is_an_error_like_others():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    with Folder() as folder:
        run = folder.profile("-o", "limited", ACT, "print", "ran", preexec_fn=limit)
        refused(run, 125, "File too large", "ulimit")
        assert run.out == "" and os.listdir(folder.path) == []
        assert folder.profile("sh", "-c", "kill -XFSZ $$").code == -signal.SIGXFSZ


def without(call):
    """The command that runs another in which the system call CALL is refused."""
    if os.uname().machine != "x86_64":
        raise tap.Skip("the filter is for x86-64")
    return [os.path.join(tap.BUILD, "tests", "e2e", "deny-call"), call]


def test_what_is_refused_before_the_start_is_named():
    for call in ("memfd_create", "fcntl", "eventfd"):
        with Folder() as folder:
            run = folder.profile(ACT, "print", "ran", before=without(call))
            refused(run, 125, call, "seccomp", "Operation not permitted")
            others = {"memfd_create", "fcntl", "eventfd", "No such file"} - {call}
            assert not [other for other in others if other in run.err], run
            assert run.out == "" and os.listdir(folder.path) == [], run


def test_without_waitid_nothing_starts():
    """Without it, nobody would notice the end of the program."""
    with Folder() as folder:
        for command in ("profile", "launch"):
            run = subprocess.run([*without("waitid"), tap.LANESCOPE, command, ACT, "print", "ran"], cwd=folder.path,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            assert run.returncode == 125 and "waitid" in run.stderr and "seccomp" in run.stderr, run
            assert run.stdout == "" and os.listdir(folder.path) == [], run


def test_refused_calls_of_newer_kernels_do_no_harm():
    for call in ("signalfd", "pidfd_open"):
        with Folder() as folder:
            run = folder.profile(ACT, "mark", "m", "fork", "2", "mark", "child", "exit", "3", before=without(call))
            assert run.code == 3, (call, run)
            assert set(folder.report().names()) == {"m", "child"}, (call, run)


def test_runs_without_any_library():
    if shutil.which("chroot") is None or os.geteuid() != 0:
        raise tap.Skip("only root can change its root folder")
    told = subprocess.run(["file", "-L", tap.LANESCOPE], capture_output=True, text=True).stdout
    if "static-pie" not in told:
        raise tap.Skip("this lanescope is not a static one")
    with Folder() as folder:
        shutil.copy(tap.LANESCOPE, folder.file("lanescope"))
        run = subprocess.run(["chroot", folder.path, "/lanescope", "--version"], capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout.startswith("lanescope "), run


tap.main(globals(), long=(test_what_outlives_the_program_is_named, test_a_full_disk_costs_the_report_alone,
                          test_the_duration_is_that_of_what_was_collected))
