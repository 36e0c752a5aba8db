# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Shared by the golden tests: writes a report of fixed content, and runs commands."""

import atexit
import os
import shutil
import subprocess
import tempfile

import tap

FOLDER = tempfile.mkdtemp(prefix="lanescope-golden-")
atexit.register(shutil.rmtree, FOLDER, True)
MAKE_REPORT = os.path.join(tap.BUILD, "tests", "golden", "make-report")


def path(name):
    return os.path.join(FOLDER, name)


def make_report(name="demo.rep", events=None, more=()):
    """The path of a report as make-report.c writes it; MORE is ["gaps"] for one with many, ["make"] for one with many processes."""
    subprocess.run([MAKE_REPORT, path(name)] + ([str(events)] if events else []) + list(more), check=True)
    return path(name)


def run(*words, code=0, **environment):
    """Runs lanescope in the folder of reports; stdout and stderr as bytes. Fails unless it exits with CODE."""
    env = dict(os.environ, **{"LC_ALL": "C.UTF-8", "TZ": "UTC", "XDG_CACHE_HOME": path("cache"), **environment})
    done = subprocess.run([tap.LANESCOPE, *words], cwd=FOLDER, env=env, capture_output=True, timeout=60)
    assert done.returncode == code, f"{words} exited with {done.returncode}: {done.stderr.decode(errors='replace')}"
    return done.stdout, done.stderr


def check(actual, expected):
    """Compares bytes, and shows the first line that differs."""
    if actual == expected:
        return
    lines = zip(actual.split(b"\n") + [b"(end)"], expected.split(b"\n") + [b"(end)"])
    for number, (a, e) in enumerate(lines, 1):
        assert a == e, f"line {number} is\n{a!r}\nnot\n{e!r}"
    raise AssertionError("the texts differ in length")
