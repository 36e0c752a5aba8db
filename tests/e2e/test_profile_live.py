# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests that each command reads a report that is still being recorded, and that its numbers agree with each other."""

import csv
import os
import re
import signal
import sqlite3
import subprocess

import tap
from profiling import ACT, Folder, wait_for

STEPS, RANGES = 4, 5000


def facts(path):
    """What `info` prints alone on a line each, by name."""
    text = subprocess.run([tap.LANESCOPE, "info", path], capture_output=True, check=True, text=True).stdout
    return dict(re.findall(r"^(\w+): (.*)$", text, re.MULTILINE)), text


def query(path, statement):
    out = subprocess.run([tap.LANESCOPE, "sql", path, statement], capture_output=True, check=True, text=True).stdout
    return [[int(v) if v else None for v in line.split("\t")] for line in out.splitlines()]


def agree(folder, path):
    """Reads PATH with every command; returns its state, and the events each saw."""
    told, text = facts(path)
    tracks = sum(int(n) for n in re.findall(r"^  NVTX .*: (\d+) events? in", text, re.MULTILINE))
    assert tracks == int(told["events"]), text
    # The same rows by three plans: counted, merged by start, grouped.
    scan, merge, group = query(path, """
        SELECT count(*), count("end") FROM NVTX_EVENTS WHERE eventType = 59;
        SELECT count(*), count("end") FROM (SELECT * FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start);
        SELECT coalesce(sum(n), 0), coalesce(sum(m), 0) FROM (SELECT count(*) AS n, count("end") AS m FROM NVTX_EVENTS WHERE eventType = 59 GROUP BY textId)""")
    assert scan == merge == group, (scan, merge, group)
    out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-r", "nvtx_sum", "-f", "csv", path], capture_output=True, check=True, text=True).stdout
    spins = sum(int(row["Instances"]) for row in csv.DictReader(out.splitlines()) if row["Range"] == ":spin")
    copy = folder.file("copy.sqlite")
    subprocess.run([tap.LANESCOPE, "export", "-q", "-f", "true", "-o", copy, path], check=True)
    rows = sqlite3.connect(copy).execute("SELECT count(*), count(end), coalesce(max(rowid) - min(rowid) + 1, 0) FROM NVTX_EVENTS WHERE eventType = 59").fetchone()
    assert rows[0] == rows[2], rows
    assert sorted([int(told["events"]), scan[0], rows[0]]) == [int(told["events"]), scan[0], rows[0]], "time ran backwards"
    return told["state"], [int(told["events"]), scan[0], spins, rows[0]]


def words():
    """A program that makes RANGES and waits to be told, STEPS times."""
    return ["push", "open"] + ["spin", str(RANGES), "await"] * STEPS + ["pop"]


def start(folder, name):
    process = folder.start("-o", name, ACT, *words(), stdin=subprocess.PIPE)
    path = folder.file(name + ".rep")
    wait_for(lambda: os.path.exists(path), path)
    return process, path


def test_commands_read_what_is_being_recorded():
    with Folder() as folder:
        process, path = start(folder, "live")
        last = [0] * 4
        for step in range(1, STEPS + 1):
            # What it has made is in the report soon, and the report is read all the while.
            while last[1] < step * RANGES + 1:
                assert process.poll() is None, process.stderr.read()
                state, counts = agree(folder, path)
                assert state == "recording" and counts[2] <= step * RANGES, (state, counts)
                assert all(now >= before for now, before in zip(counts, last)), (counts, last)
                last = counts
            process.stdin.write(b"\n")
            process.stdin.flush()
        assert process.wait(60) == 0, process.stderr.read()
        state, counts = agree(folder, path)
        assert state == "complete" and counts == [STEPS * RANGES + 1, STEPS * RANGES + 1, STEPS * RANGES, STEPS * RANGES + 1], counts


def test_a_report_is_live_from_another_pid_namespace():
    """A container's report, say: its writer's pid means nothing here, or somebody else."""
    apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        raise tap.Skip("a PID namespace needs root")
    with Folder() as folder:
        path = folder.file("apart.rep")
        process = folder.start("-o", "apart", ACT, "spin", "10", "sleep", "60000", before=apart)
        try:
            wait_for(lambda: os.path.exists(path) and int(facts(path)[0]["events"]) >= 10, "the first commit")
            assert facts(path)[0]["state"] == "recording"
            before = os.stat(path).st_ino
            run = folder.profile("-f", "true", "-o", "apart", ACT, "mark", "mine")
            assert run.code == 125 and "another process is recording into" in run.err, run
            assert os.stat(path).st_ino == before and facts(path)[0]["state"] == "recording"
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(20)
        # With its last process the namespace's lock is gone.
        wait_for(lambda: facts(path)[0]["state"] == "cut off", "the writer's end")
        assert folder.profile("-f", "true", "-o", "apart", ACT, "mark", "mine").code == 0


def test_a_zombie_records_nothing():
    with Folder() as folder:
        path = folder.file("undead.rep")
        process = folder.start("-o", "undead", ACT, *words(), stdin=subprocess.PIPE)
        wait_for(lambda: os.path.exists(path) and int(facts(path)[0]["events"]) >= 2, "the first commit")
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert facts(path)[0]["state"] == "cut off"
        process.wait(20)


def test_a_report_whose_writer_was_killed_is_cut_off():
    with Folder() as folder:
        process, path = start(folder, "cut")
        wait_for(lambda: int(facts(path)[0]["events"]) >= 2, "events")
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        process.stdin.close()
        state, counts = agree(folder, path)
        assert state == "cut off" and counts[0] == counts[1] == counts[2] + 1 == counts[3] > 1, (state, counts)
        assert facts(path)[0]["lost"] == "0" and facts(path)[0]["open"] == "1"


def test_a_fact_is_a_line_whatever_programs_are_called():
    with Folder() as folder:
        run = folder.profile("-o", "odd\nstate: name", ACT, "print", "x\nevents: 7\nlost: 9\x1b[2J")
        assert run.code == 0, run
        told, text = facts(folder.file("odd\nstate: name.rep"))
        assert told["events"] == told["lost"] == "0" and told["state"] == "complete", text
        for name in ("events", "lost", "state"):
            assert len(re.findall(f"^{name}: ", text, re.MULTILINE)) == 1, text
        assert r"x\nevents: 7\nlost: 9\x1B[2J" in text and r"odd\nstate: name.rep" in text, text


tap.main(globals())
