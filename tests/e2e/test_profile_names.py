# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests --output: macros, numbers, folders, and names that are taken."""

import json
import os
import re
import socket
import subprocess

import profiling
import tap
from profiling import ACT

HOST = socket.gethostname()


def named(*arguments, program=("/bin/true",), **environment):
    """Names of the files that `profile` with ARGUMENTS makes in a folder of its own, and the run."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", *arguments, *program, env=dict(os.environ, **environment))
        found = [os.path.relpath(os.path.join(path, name), folder.path)
                 for path, _, names in os.walk(folder.path) for name in names]
        return sorted(found), run


def test_macros():
    for output, expected in (("a_%h", f"a_{HOST}.rep"), ("%q{RANK}of%{SIZE}", "3of8.rep"), ("50%%", "50%.rep"),
                             ("x%n-%n", "x1-1.rep"), ("{PROCESS_NAME}-{other}", "true-{other}.rep"),
                             ("profile.42", "profile.42.rep"), ("a.rep", "a.rep"), ("%h/%q{RANK}/r", f"{HOST}/3/r.rep")):
        found, run = named("-o", output, RANK="3", SIZE="8")
        assert found == [expected] and run.code == 0, (output, found, run)
    found, _ = named("-o", "auto_{PROCESS_NAME}_%{POD}_{TIMESTAMP}_{UID}", POD="default_worker-7_pytorch")
    assert re.fullmatch(r"auto_true_default_worker-7_pytorch_\d{13}_[0-9a-f]{8}\.rep", found[0]), found


def test_the_pid_is_the_programs():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", "-o", "%p", "sh", "-c", "echo $$")
        assert os.listdir(folder.path) == [run.out.strip() + ".rep"], run


def test_a_variable_that_is_not_set():
    found, run = named("-o", "r%q{LNS_NOT_SET}x%q{LNS_NOT_SET}")
    assert found == ["rx.rep"] and run.err.count("the environment variable LNS_NOT_SET is not set") == 1 and "[LNS-NAME-001]" in run.err, run


def test_other_endings_are_told_once():
    for ending in (".nsys-rep", ".qdrep"):
        found, run = named("-o", "base" + ending)
        assert found == ["base.rep"] and run.err.count(f"base.rep, because {ending} is another format") == 1, run


def test_folders():
    assert named("--output-dir=./reports")[0] == ["reports/report1.rep"]
    assert named("--output-dir", "reports/%h", "-o", "x")[0] == [f"reports/{HOST}/x.rep"]
    assert named("-o", "new/deep/")[0] == ["new/deep/report1.rep"]
    found, run = named("--output-dir=x", "-o", "/y")
    assert run.code == 125 and "cannot be combined with an absolute path" in run.err and not found, run


def test_what_is_no_name():
    for output, text in (("a%d", "unknown macro “%d”"), ("a%", "unknown macro “%”"), ("%q{", "unknown macro “%q{”"),
                         ("%{}", "unknown macro “%{}”"), ("%q{LNS_NOT_SET}", "does not name a file")):
        found, run = named("-o", output)
        assert run.code == 125 and text in run.err and not found, (output, run)


def test_numbers_are_shared_by_writers():
    with profiling.Folder() as folder:
        with open(folder.file("r2.rep"), "w", encoding="ascii") as file:
            file.write("mine")
        runs = [subprocess.Popen([tap.LANESCOPE, "profile", "-t", "none", "-f", "true", "-o", "r%n", "/bin/true"], cwd=folder.path,
                                 stderr=subprocess.DEVNULL) for _ in range(6)]
        assert [run.wait(timeout=60) for run in runs] == [0] * 6
        assert sorted(os.listdir(folder.path)) == [f"r{n}.rep" for n in range(1, 8)]
        with open(folder.file("r2.rep"), encoding="ascii") as file:
            assert file.read() == "mine"


def test_a_name_is_one_writers():
    """Whether or not the second may overwrite: the first has it as long as it records."""
    with profiling.Folder() as folder:
        first = folder.start("-t", "nvtx", "-o", "same", ACT, "mark", "first", "print", "marked", "sleep", "20000")
        assert first.stdout.readline() == b"marked\n"
        for force, text in (("false", "same.rep exists; use --force-overwrite=true"), ("true", "another process is recording into")):
            run = folder.profile("-t", "nvtx", "-f", force, "-o", "same", ACT, "mark", "second")
            assert run.code == 125 and text in run.err, run
        first.terminate()
        first.communicate(timeout=30)
        assert dict(folder.report("same.rep").names()) == {"first": 1}


def test_a_range_whose_name_was_taken_meanwhile():
    with profiling.Folder() as folder:
        script = f'echo mine >run.rep; exec "{ACT}" push step mark in pop'
        run = folder.profile("-t", "nvtx", "-c", "nvtx", "-p", "step", "--capture-range-end=stop", "-o", "run", "sh", "-c", script)
        assert run.code == 0 and sorted(os.listdir(folder.path)) == ["run.1.rep", "run.rep"], run
        assert "in" in dict(folder.report("run.1.rep").names())


def test_a_name_that_is_taken_is_told_to_programs():
    with profiling.Folder() as folder:
        open(folder.file("a.rep"), "wb").close()
        read, write = os.pipe()
        subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", f"--progress-fd={write}", "-o", "a", "true"], cwd=folder.path, pass_fds=[write],
                       capture_output=True, timeout=60, check=False)
        os.close(write)
        with os.fdopen(read) as told:
            codes = [json.loads(line).get("code") for line in told]
        assert codes == ["LNS-RUN-002"], codes


tap.main(globals())
