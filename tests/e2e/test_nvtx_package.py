# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs the own tests of the nvtx Python package while it is recorded. Every call that an independent library counts
in the same run must be in the report."""

import collections
import os
import shutil
import subprocess
import tempfile

import tap

PACKAGE = os.path.join(tap.SOURCE, ".deps", "nvtx")
PYTHON = os.path.join(PACKAGE, "venv", "bin", "python3")
COUNTER = os.path.join(tap.BUILD, "tests", "e2e", "libnvtx-count.so")

# Callback ids of the modules, from nvtxDetail/nvtxTypes.h and the extensions' headers.
MARKS = [("core", 1), ("core", 2), ("core", 3), ("core2", 1)]
STARTS = [("core", 4), ("core", 5), ("core", 6), ("core2", 2)]
PUSHES = [("core", 8), ("core", 9), ("core", 10), ("core2", 4)]
DOMAINS = [("core2", 12), ("core2", 13)]
SCHEMAS = [("payload", 0)]
SAMPLES = [("counters", 1), ("counters", 2)]


def suite(work):
    """Lays the package's tests into WORK beside our fixtures; returns the command that runs them."""
    if not os.path.exists(os.path.join(PACKAGE, ".complete")):
        raise tap.Skip("the nvtx package is not there (./run test fetches it)")
    version = next(n for n in os.listdir(PACKAGE) if n.startswith("nvtx-") and not n.endswith(".gz"))
    tests = os.path.join(work, "tests")
    shutil.copytree(os.path.join(PACKAGE, version, "tests"), tests)
    shutil.copy(os.path.join(tap.SOURCE, "tests", "e2e", "nvtx_suite", "conftest.py"), tests)
    open(os.path.join(tests, "__init__.py"), "w").close()
    return [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", tests]


def counted(command, work):
    """Runs COMMAND under the counting injection; returns (calls by (module, id), passed line)."""
    path = os.path.join(work, "counts")
    environment = dict(os.environ, NVTX_INJECTION64_PATH=COUNTER, NVTX_COUNT_FILE=path)
    run = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    counts = collections.Counter()
    with open(path, encoding="ascii") as file:
        for line in file:
            module, slot, calls = line.split()
            counts[module, int(slot)] += int(calls)
    return counts, run.stdout.rstrip().splitlines()[-1].split(" in ")[0]


def query(report, statement):
    run = subprocess.run([tap.LANESCOPE, "sql", report, statement], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_every_call_of_the_packages_own_suite():
    with tempfile.TemporaryDirectory() as work:
        command = suite(work)
        counts, passed = counted(command, work)
        report = os.path.join(work, "suite.rep")
        run = subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", "-o", report] + command, cwd=work,
                             capture_output=True, text=True)
        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
        assert passed in run.stdout, f"{passed!r} is not in {run.stdout[-300:]!r}"

        info = subprocess.run([tap.LANESCOPE, "info", report], capture_output=True, text=True).stdout.splitlines()
        assert "lost: 0" in info and "state: complete" in info, info

        def made(calls):
            total = sum(counts[call] for call in calls)
            assert total > 0, f"the suite makes none of {calls}"
            return total

        by_type = dict(line.split("\t") for line in query(
            report, "SELECT eventType, count(*) FROM NVTX_EVENTS GROUP BY eventType"))
        assert int(by_type["59"]) == made(PUSHES), (by_type, counts)
        assert int(by_type["60"]) == made(STARTS), (by_type, counts)
        assert int(by_type["34"]) == made(MARKS), (by_type, counts)
        assert int(by_type["75"]) == made(DOMAINS), (by_type, counts)
        samples = int(query(report, "SELECT count(*) FROM LNS_COUNTERS")[0])
        assert samples >= made(SAMPLES), (samples, counts)
        schemas = int(query(report, "SELECT count(*) FROM NVTX_PAYLOAD_SCHEMAS")[0])
        assert schemas == made(SCHEMAS), (schemas, counts)
        typed = int(query(report, "SELECT count(*) FROM NVTX_EVENTS WHERE binaryData IS NOT NULL")[0])
        assert typed > 0, "no typed payload came through"


tap.main(globals())
