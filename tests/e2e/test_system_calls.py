# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests system calls, which need privileges: where the kernel tells of them they are in the report, else a warning says why not.
Expected values follow from the source of programs/os-calls.c."""

import collections
import csv
import json
import os
import signal
import subprocess

import profiling
import tap
from profiling import OWN_RIGHTS
from sampling import REFUSAL, rows

PROGRAM = os.path.join(tap.BUILD, "tests/programs/os-calls")
ROW = next(row for row in json.loads(subprocess.run([tap.LANESCOPE, "status", "--output-format=json"], capture_output=True, check=True).stdout)["data"]
           if row["data"] == "system-calls")
CALLS = "SYSCALL JOIN StringIds ON id = nameId"


def tables(folder):
    return [name for name, in rows(folder, ".tables")]


def is_refused(run):
    """Whether this machine refuses system calls, as RUN then must have said."""
    if ROW["recordable"] == "yes":
        assert "[LNS-CPU-0" not in run.err, run.err
        return False
    assert f"[{REFUSAL.group(1) if REFUSAL else 'LNS-CPU-009'}]" in run.err, run.err
    return True


def test_each_call_with_its_thread_and_result():
    for switches in (["-t", "syscall"], ["-t", "none", "--syscall=process-tree", "-s", "none"]):
        with profiling.Folder() as folder:
            run = folder.profile(*switches, "-o", "r.rep", PROGRAM, "slow-file", "slow")
            assert run.code == 0, run
            if is_refused(run):
                return
            assert folder.report("r.rep").info["lost"] == 0, run
            found = collections.Counter(name for name, in rows(folder, f"SELECT value FROM {CALLS}"))
            assert found["fsync"] == 16 and found["write"] >= 16 and "exit_group" not in found, found
            bad = rows(folder, f"SELECT count(*) FROM {CALLS} WHERE end - start < 2000 OR eventClass <> 107 OR callchainId <> 0 "
                               "OR globalTid NOT IN (SELECT globalTid FROM ThreadNames)")
            assert bad == [(0,)], bad
            results = collections.Counter(result for result, in rows(folder, f"SELECT returnValue FROM {CALLS} WHERE value = 'write'"))
            assert results[65536] == 16, results
            out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", "syscall_sum", folder.file("r.rep")], capture_output=True, text=True, check=True).stdout
            sums = {row["Name"]: int(row["Num Calls"]) for row in csv.DictReader(line for line in out.splitlines() if line)}
            assert sums == found, (sums, found)


def test_a_call_that_lasts_is_seen_before_it_ends():
    """The report may be read while it is written; the call began long ago and has not ended."""
    with profiling.Folder() as folder:
        program = folder.start("-t", "syscall", "-o", "r.rep", "sleep", "1000", start_new_session=True)
        try:
            refused = ROW["recordable"] != "yes"
            if not refused:
                profiling.wait_for(lambda: os.path.exists(folder.file("r.rep")), "the report")
                profiling.wait_for(lambda: "SYSCALL" in tables(folder) and ("clock_nanosleep",) in rows(folder, f"SELECT value FROM {CALLS}"), "the call")
        finally:
            os.killpg(program.pid, signal.SIGTERM)
            program.communicate(timeout=60)


def test_an_interrupted_call():
    """A signal ends it early. The program goes on."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "syscall", "-o", "r.rep", "perl", "-e", '$SIG{ALRM} = sub { print "woken\\n"; exit 4 }; alarm 1; sleep 100')
        assert (run.code, run.out) == (4, "woken\n"), run
        if not is_refused(run):
            (name, result), = rows(folder, f"SELECT value, returnValue FROM {CALLS} ORDER BY end - start DESC LIMIT 1")
            # What the kernel has for itself (ERESTART_RESTARTBLOCK, ERESTARTNOHAND); the program sees EINTR.
            assert "sleep" in name and result in (-516, -514), (name, result)


def test_calls_of_our_own_are_left_out():
    """Loading the library and the handshake with the session are no calls of the program, whose own are all there."""
    for trace in ("osrt,syscall", "nvtx,syscall", "syscall"):
        with profiling.Folder() as folder:
            run = folder.profile("-t", trace, "-o", "r.rep", "perl", "-e", "select undef, undef, undef, 0.1")
            assert run.code == 0, run
            if is_refused(run):
                return
            found = collections.Counter(name for name, in rows(folder, f"SELECT value FROM {CALLS}"))
            assert not found.keys() & {"socket", "connect", "sendto", "ppoll", "recvmsg"}, (trace, found)
            assert found["select"] + found["pselect6"] >= 1, (trace, found)


def test_without_privileges():
    """One sentence says so, and the rest is recorded."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "syscall,nvtx", "-o", "r.rep", PROGRAM, "slow-file", "slow", before=OWN_RIGHTS)
        assert run.code == 0 and run.err.count("system calls are not recorded") == (REFUSAL is None), run
        assert "SYSCALL" not in tables(folder), run


tap.main(globals(), gate=(test_each_call_with_its_thread_and_result, test_calls_of_our_own_are_left_out))
