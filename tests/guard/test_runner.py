# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The runner of the tests, on a build that is a stand-in: which cases count, what is run again, and what is printed."""

import json
import os
import re
import subprocess
import sys
import tempfile

import tap

RUNNER = os.path.join(tap.SOURCE, "tests", "runner")
# A test program of four cases. Those in FAILS fail, those in ONCE fail the first time.
PROGRAM = """
import os, sys
sys.path.insert(0, {tests!r})
import tap
def case(name):
    def run():
        if os.environ["LNS_TIER"] == "gate" and name == "test_long":
            sys.exit("not in the gate")
        if name in {fails!r}:
            raise AssertionError("always")
        mark = os.path.join({folder!r}, name)
        if name in {once!r} and not os.path.exists(mark):
            open(mark, "w").close()
            raise AssertionError("once")
    return run
names = {{name: case(name) for name in ("test_a", "test_b", "test_c", "test_long")}}
tap.main(names, long=(names["test_long"],))
"""


class Build:
    """A folder with a `meson` that tells of the programs in it."""

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.tests = []
        return self

    def __exit__(self, *unused):
        self.temporary.cleanup()

    def add(self, name, command, suites=("gate",), **more):
        self.tests.append({"name": name, "cmd": command, "env": {}, "timeout": 30, "suite": [f"lanescope:{suite}" for suite in suites],
                           "is_parallel": True, "priority": 0, "protocol": "tap", "depends": [], **more})

    def add_program(self, name, fails=(), once=(), suites=("gate",)):
        path = os.path.join(self.folder, name + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(tests=os.path.join(tap.SOURCE, "tests"), fails=fails, once=once, folder=self.folder))
        self.add(name, [sys.executable, path], suites)

    def add_shell(self, name, script, **more):
        self.add(name, ["sh", "-c", script], **more)

    def run(self, *words):
        meson = os.path.join(self.folder, "meson")
        with open(meson, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat <<'END'\n{json.dumps(self.tests)}\nEND\n")
        os.chmod(meson, 0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LNS_")}
        environment["PATH"] = self.folder + ":" + environment["PATH"]
        done = subprocess.run([sys.executable, RUNNER, "--build", self.folder, *words], env=environment, capture_output=True, text=True)
        assert re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", done.stdout.splitlines()[-1]), done
        return done.returncode, done.stdout.splitlines()


def test_what_passes_is_counted_by_case():
    with Build() as build:
        build.add_program("four")
        build.add_program("outside", suites=("other",))
        assert build.run()[1][-1] == "3 passed, 0 failed, 0 skipped"
        assert build.run("--all")[1][-1] == "8 passed, 0 failed, 0 skipped"
        assert build.run("outside")[1][-1] == "4 passed, 0 failed, 0 skipped"
        assert build.run("four:test_b", "four:test_c")[1][-1] == "2 passed, 0 failed, 0 skipped"
        code, lines = build.run("--suite", "other", "--times")
        assert code == 0 and lines[-1] == "4 passed, 0 failed, 0 skipped" and sum("outside:test_" in line for line in lines) == 4


def test_a_case_that_fails_twice_is_red():
    with Build() as build:
        build.add_program("bad", fails=("test_b",))
        code, lines = build.run()
        assert code == 1 and lines[-1] == "2 passed, 1 failed, 0 skipped", lines
        assert "failed: bad:test_b: AssertionError: always" in lines and not any(line.startswith("flaky") for line in lines), lines


def test_a_case_that_fails_once_is_flaky():
    with Build() as build:
        build.add_program("unsteady", once=("test_a", "test_c"))
        code, lines = build.run()
        assert code == 0 and lines[-3:] == ["flaky: unsteady:test_a", "flaky: unsteady:test_c", "3 passed, 0 failed, 0 skipped"], lines
        with open(os.path.join(build.folder, "flaky.txt"), encoding="utf-8") as file:
            text = file.read()
        assert text.count("AssertionError: once") == 2 and "unsteady:test_a after" in text and " load " in text, text


def test_programs_that_end_early_are_red():
    with Build() as build:
        build.add_shell("crash", "echo 'ok 1 - first'; kill -SEGV $$")
        build.add_shell("short", "echo 'ok 1 - first'; echo 1..2")
        build.add_shell("code", "echo 'ok 1 - first'; echo 1..1; exit 3")
        build.add_shell("late", "echo 'ok 1 - first'; sleep 60; echo 1..1", timeout=0.01)
        build.add("missing", ["/nonexistent"])
        code, lines = build.run()
        red = sorted(line.split(":")[1] for line in lines if line.startswith("failed: "))
        assert code == 1 and red == [" code", " crash", " late", " missing", " short"], lines
        assert lines[-1] == "4 passed, 5 failed, 0 skipped", lines


def test_a_crash_that_does_not_come_again_is_flaky():
    with Build() as build:
        build.add_shell("crash", f"echo 'ok 1 - first'; [ -e {build.folder}/mark ] || {{ touch {build.folder}/mark; kill -SEGV $$; }}; "
                                 "echo 'ok 2 - second'; echo 1..2")
        code, lines = build.run()
        assert code == 0 and lines[-1] == "2 passed, 0 failed, 0 skipped" and lines[-2].startswith("flaky: crash:"), lines


def test_skips_have_their_reasons():
    with Build() as build:
        build.add_shell("some", "echo 'ok 1 - first # SKIP no first'; echo 'ok 2 - second'; echo 1..2")
        build.add_shell("all", "echo '1..0 # SKIP nothing here'")
        code, lines = build.run()
        assert code == 0 and lines[-1] == "1 passed, 0 failed, 2 skipped", lines
        assert {"skipped: some:first: no first", "skipped: all:(the program itself): nothing here"} <= set(lines), lines


def test_long_programs_are_shared_out():
    with Build() as build:
        build.add_program("four")
        with open(os.path.join(build.folder, "test-times.json"), "w", encoding="utf-8") as file:
            json.dump({"all": {"four": {"test_a": 40.0}}}, file)
        code, lines = build.run("--all")
        assert code == 0 and lines[-1] == "4 passed, 0 failed, 0 skipped" and any("four (1 of 3)" in line for line in lines), lines


def test_what_a_program_leaves_running_is_ended():
    with Build() as build:
        build.add_shell("parent", f"sleep 1000 & echo $! >{build.folder}/pid; echo 'ok 1 - first'; echo 1..1")
        assert build.run()[0] == 0
        with open(os.path.join(build.folder, "pid"), encoding="ascii") as file:
            pid = int(file.read())
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                assert file.read().rsplit(")", 1)[1].split()[0] in "ZX"
        except FileNotFoundError:
            pass


def test_unknown_names_are_refused():
    with Build() as build:
        build.add_program("four")
        assert build.run()[0] == 0
        for words in (("fore",), ("--suite", "none")):
            done = subprocess.run([sys.executable, RUNNER, "--build", build.folder, *words], capture_output=True, text=True,
                                  env={**os.environ, "PATH": f"{build.folder}:{os.environ['PATH']}"})
            assert done.returncode == 1 and re.search("^run: no (test program|suite) is called", done.stderr), done


tap.main(globals())
