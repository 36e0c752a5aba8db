# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Shared by the tests of sessions: runs commands as other terminals do."""

import json
import os
import re
import signal
import subprocess

import tap
from profiling import Folder, Run, children, wait_for


def wait_for_catch(pid, *numbers):
    """Until process PID would not die of the signals NUMBERS any more."""
    def caught():
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            mask = int(re.search(r"^SigCgt:\s+(\S+)", file.read(), re.M).group(1), 16)
        return all(mask >> (number - 1) & 1 for number in numbers)
    wait_for(caught, "the program to catch signals")


class Place(Folder):
    """A folder with a place for sessions of its own."""

    def __enter__(self):
        super().__enter__()
        os.mkdir(self.file("run"), 0o700)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.file("run"))
        self.running = []
        return self

    def __exit__(self, *unused):
        for process in self.running:
            for pid in children(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.kill()
            process.communicate()
        super().__exit__(*unused)

    def run(self, *words, **options):
        run = subprocess.run([tap.LANESCOPE, *(str(word) for word in words)], cwd=options.pop("cwd", self.path),
                             env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, **options)
        return Run(run.returncode, run.stdout.decode(), run.stderr.decode(), self)

    def ok(self, *words, **options):
        run = self.run(*words, **options)
        assert run.code == 0, run
        return run

    def refused(self, sentence, *words):
        run = self.run(*words)
        lines = [line for line in run.err.splitlines() if line.startswith("lanescope: error: ")]
        assert run.code == 125 and len(lines) == 1 and re.search(sentence, lines[0]), run

    def begin(self, *words, before=()):
        """Begins a session in the background; returns when its program runs. BEFORE is what runs it."""
        process = subprocess.Popen([*before, tap.LANESCOPE, *(str(word) for word in words)], cwd=self.path, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.append(process)
        wait_for(lambda: process.poll() is not None or any(session["owner"] == process.pid and session["program"]
                                                           for session in self.sessions()), "the session")
        return process

    def end(self, process):
        """The exit code and stderr of PROCESS."""
        _, err = process.communicate(timeout=60)
        self.running.remove(process)
        return process.returncode, err

    def sessions(self):
        return json.loads(self.ok("sessions", "list", "-f", "json").out)
