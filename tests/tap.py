# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The harness of the Python tests: runs each test_* function of a module and prints TAP.

A test file ends with `tap.main(globals())`. A test that raises has failed; one that raises
Skip is skipped, with its reason. Paths of the tree under test come from the environment, as
tests/meson.build sets it; which cases are run, as tests/runner does.
"""

import glob
import os
import shutil
import signal
import statistics
import subprocess
import sys
import traceback

SOURCE = os.environ.get("LNS_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LNS_BUILD_ROOT", os.path.join(SOURCE, "build"))
# Runs of which samples of CPUs are not the subject do without: reports hold what a test is about, and no more.
os.environ.setdefault("LANESCOPE_SAMPLE", "none")
# How many times as long as on an idle machine a test waits before it gives up.
PATIENCE = float(os.environ.get("LNS_TEST_PATIENCE", "1"))
# What a test draws at random comes from this number; the runner prints it.
SEED = int(os.environ.get("LNS_SEED", "1"))
LANESCOPE = os.path.join(BUILD, "src", "cli", "lanescope")
SHARED = os.path.join(os.path.dirname(SOURCE), "shared")


class PatientProcess(subprocess.Popen):
    """Gives a process PATIENCE times as long as the caller says, who thinks of an idle machine."""

    def wait(self, timeout=None):
        return super().wait(timeout if timeout is None else timeout * PATIENCE)

    def communicate(self, input=None, timeout=None):
        return super().communicate(input, timeout if timeout is None else timeout * PATIENCE)


subprocess.Popen = PatientProcess


class Skip(Exception):
    """Ends a test as skipped; the argument says what is missing."""


def program(name):
    """The path of a program of tests/programs, some of which are built only where the CUDA and NVTX headers are."""
    path = os.path.join(BUILD, "tests", "programs", name)
    if not os.path.exists(path):
        raise Skip(f"{name} is built where the CUDA and NVTX headers are")
    return path


def pythons():
    """The CPythons that are here, by version: the system's, those of pyenv, and those whose names are in PATH."""
    found = {}
    named = [shutil.which(f"python3.{minor}") for minor in range(8, 30)]
    for path in ["/usr/bin/python3"] + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))) + named:
        if path is not None and os.access(path, os.X_OK):
            told = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
            if told.returncode == 0:  # pyenv has names for versions that it does not run
                found.setdefault(told.stdout.strip(), path)
    return found


def spread(samples):
    """The least, the median and the greatest of them, as benches print."""
    return [round(value, 1) for value in (min(samples), statistics.median(samples), max(samples))]


def choose(tests, gate, long):
    """Those of TESTS, pairs of a name and a function, that argv or the runner asks for. GATE and LONG are those of main()."""
    wanted = sys.argv[1:] or os.environ.get("LNS_CASES", "").split()
    if wanted:
        return [test for test in tests if test[0] in wanted]
    left_out = os.environ.get("LNS_CASES_LEFT_OUT", "").split()
    if os.environ.get("LNS_TIER") == "gate":
        tests = [test for test in tests if (gate is None or test[1] in gate) and test[1] not in long]
    part, n_parts = (int(word) for word in os.environ.get("LNS_SHARD", "0/1").split("/"))
    return [test for test in tests if test[0] not in left_out][part::n_parts]


def main(names, gate=None, long=()):
    """Runs every test_* function of NAMES, in the order of the file, or those named in argv. The gate runs those of GATE (all,
    without it) but for those of LONG."""
    # What nohup and background jobs of scripts leave ignored, programs under test would find so too.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    tests = choose([(n, f) for n, f in names.items() if n.startswith("test_") and callable(f)], gate, long)
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except BaseException:
            failed += 1
            traceback.print_exc()  # to stderr: comments of TAP are kept from who reads the log
            print(f"not ok {number} - {name}", flush=True)
    print(f"1..{len(tests)}", flush=True)
    sys.exit(1 if failed else 0)
