# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests large numbers of everything under `lanescope profile`: each event is kept or counted as lost."""

import contextlib
import os
import re
import resource
import signal
import sqlite3
import subprocess

import tap
from profiling import ACT, COMPLETE, END_UNKNOWN, OPEN_END, Folder, wait_for

MANY = os.path.join(tap.BUILD, "tests", "programs", "nvtx-many")


def record(folder, *words, switches=()):
    """Records nvtx-many; returns (ranges pushed, the report without its events)."""
    run = folder.profile(*switches, MANY, *words)
    assert run.code == 0, run
    return int(run.out), folder.report(counts=True)


def ask(folder, query):
    """What `lanescope sql` answers to QUERY: rows of words."""
    run = subprocess.run([tap.LANESCOPE, "sql", folder.file("report1.rep"), query], capture_output=True)
    assert run.returncode == 0, run.stderr
    return [line.split(b"\t") for line in run.stdout.splitlines()]


def test_fifty_threads_kept_or_counted():
    with Folder() as folder:
        made, report = record(folder, "threads", 50, 100000, switches=("--buffer-size=1M",))
        lost = sum(loss["pushes"] for loss in report.losses)
        assert made == 5000100 and report.info["events"] + lost == made, (made, report.info, lost)
        assert (lost > 0) == ("LNS-POOL-001" in report.codes())
        # Whatever is missing, what is there hangs together: inner within middle within outer.
        names = {row[0]: (int(row[1]), int(row[2])) for row in
                 ask(folder, "SELECT text, count(*), count(DISTINCT globalTid) FROM NVTX_EVENTS GROUP BY text")}
        assert set(names) - {b"", b"NULL"} == {b"outer", b"middle", b"inner"}, names
        assert len(report.threads) <= 50


def test_two_thousand_threads_at_once():
    with Folder() as folder:
        made, report = record(folder, "live", 2000)
        lost = sum(loss["pushes"] for loss in report.losses)
        assert made == 2000 == report.info["events"] + lost, report.info
        # On a busy machine some lose their only event, and are known all the same.
        assert 2000 - lost <= len(report.threads) <= 2000


def test_a_hundred_thousand_short_threads():
    with Folder() as folder:
        made, report = record(folder, "short", 100000)
        lost = sum(loss["pushes"] for loss in report.losses)
        assert made == 100000 == report.info["events"] + lost, report.info
        assert 100000 - lost <= len(report.threads) <= 100000


def test_more_processes_than_descriptors():
    """Processes that run all at once need none for long. However few there are: who is not recorded is counted,
    in one sentence."""
    with Folder() as folder:
        os.mkdir(folder.file("here"))
        # Each child lives until all have made their mark, and makes another one then.
        child = f"{ACT} mark child touch $$ gather 100 mark late spin 5"
        run = folder.profile("sh", "-c", f"for i in $(seq 100); do sh -c 'cd here && exec {child}' & done; wait",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        assert run.code == 0 and "LNS-" not in run.err, run
        report = folder.report()
        assert report.info["state"] == COMPLETE and report.info["lost"] == 0, report.info
        assert dict(report.names()) == {"child": 100, "late": 100, "spin": 500}, report.names()
        assert len({event["process"] for event in report.named("late")}) == 100
        assert all(process["ended"] for process in report.processes)
    with Folder() as folder:
        for limit in (24, 20):
            run = folder.profile("-o", "few", "-f", "true", "sh", "-c", f"{ACT} mark m;" * 12 + "exit 3",
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
            assert run.code == 3 and "12 processes are not recorded" in run.err, (limit, run)
            assert re.findall(r"\[(LNS-.*)\]", run.err) == ["LNS-POOL-002"] and folder.report("few.rep").info["state"] == COMPLETE, run


def count_unaccepted():
    """How many connections nobody has accepted: they have no inode yet."""
    with open("/proc/net/unix") as table:
        return sum(fields[6] == "0" for fields in map(str.split, table) if len(fields) > 7 and "lanescope" in fields[7])


def test_a_burst_leaves_descriptors_to_the_report():
    """100 processes connect at once. Each that Lanescope accepts takes two descriptors until it can do without."""
    limit, n = 100, 100
    with Folder() as folder:
        os.mkdir(folder.file("here"))
        child = f"{ACT} touch $$ gather {n + 1} mark child touch x$$ gather {2 * n + 1} mark late"
        process = folder.start("sh", "-c", f"cd here; for i in $(seq {n}); do sh -c 'exec {child}' & done; wait",
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        wait_for(lambda: len(os.listdir(folder.file("here"))) == n, "the children")
        process.send_signal(signal.SIGSTOP)
        open(folder.file("here/go"), "w").close()
        wait_for(lambda: count_unaccepted() >= limit * 3 // 4, "the connections")
        process.send_signal(signal.SIGCONT)
        most = 0
        while len(os.listdir(folder.file("here"))) < 2 * n + 1 and process.poll() is None:
            most = max(most, len(os.listdir(f"/proc/{process.pid}/fd")))
        _, err = process.communicate()
        assert process.returncode == 0 and b"LNS-REP" not in err and 0 < most <= limit - 12, (most, err)


def pools_at_hand(pid):
    """How many pools the session PID has a descriptor of: it closes that of one that is handed over."""
    folder = f"/proc/{pid}/fd"
    count = 0
    for name in os.listdir(folder):
        try:
            count += "lanescope-pool" in os.readlink(f"{folder}/{name}")
        except FileNotFoundError:
            pass
    return count


def test_forked_children_find_a_pool_ready():
    """Where a program forks, some pools are kept for the next children, and given back when none come."""
    with Folder() as folder:
        process = folder.start("-o", "forks", ACT, "mark", "a", "await", "fork", "2", "mark", "b", "await",
                               stdin=subprocess.PIPE)
        path = folder.file("forks.rep")
        info = [tap.LANESCOPE, "info", path]
        wait_for(lambda: os.path.exists(path) and "events: 1\n" in subprocess.run(
            info, capture_output=True, text=True, check=True).stdout, "the parent's event")
        assert pools_at_hand(process.pid) == 0
        process.stdin.write(b"\n")
        process.stdin.flush()
        wait_for(lambda: pools_at_hand(process.pid) == 4, "spare pools")
        wait_for(lambda: pools_at_hand(process.pid) == 0, "spare pools to be given back")
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.wait(60) == 0, process.stderr.read()
        assert folder.report("forks.rep").names() == {"a": 1, "b": 1}


def test_children_that_end_at_once_are_described():
    with Folder() as folder:
        run = folder.profile(ACT, "mark", "a", *["fork", "2", "mark", "b"] * 50)
        assert run.code == 0 and "LNS-" not in run.err, run
        report = folder.report()
        assert dict(report.names()) == {"a": 1, "b": 50} and report.info["lost"] == 0, report.info
        assert len(report.processes) == 51
        assert len({(each["name"], each["command_line"]) for each in report.processes}) == 1
        assert all(each["ended"] for each in report.processes)


def test_a_million_names():
    with Folder() as folder:
        made, report = record(folder, "names", 1000000)
        lost = sum(loss["pushes"] for loss in report.losses)
        assert made == 1000000 == report.info["events"] + lost, report.info
        if lost == 0:
            assert ask(folder, "SELECT count(*) FROM StringIds WHERE value LIKE 'name number %'") == [[b"1000000"]]


def test_long_names_come_back_whole():
    with Folder() as folder:
        made, _ = record(folder, "long", 65536)
        assert made == 3
        narrow = bytes(ord("a") + i % 26 for i in range(65536))
        wide = "".join(chr(ord("α") + i % 20) for i in range(65536)).encode()
        found = folder.report().names()
        assert found == {narrow.decode(): 1, wide.decode(): 1, "A" + narrow[1:].decode(): 1}, list(found)[0][:20]


def test_odd_names_come_back_byte_for_byte():
    with Folder() as folder:
        record(folder, "odd")
        values = {bytes.fromhex(row[0].decode()) for row in
                  ask(folder, "SELECT hex(coalesce(text, (SELECT value FROM StringIds WHERE id = textId))) FROM NVTX_EVENTS")
                  if row[0]}
        odd = {b"\xff\xfe bytes \x80", b"say \"it's\"", b"line\none\ttab", "grüße ☃".encode()}
        assert odd <= values, values
        stats = subprocess.run([tap.LANESCOPE, "stats", "--report", "nvtx_sum", "--format", "csv", "-o", "-",
                                folder.file("report1.rep")], capture_output=True)
        assert stats.returncode == 0, stats.stderr
        for name in odd:
            quoted = name.replace(b'"', b'""')
            assert b":" + quoted in stats.stdout, (name, stats.stdout)
        export = subprocess.run([tap.LANESCOPE, "export", "--type", "sqlite", "-o", folder.file("out.sqlite"),
                                 folder.file("report1.rep")], capture_output=True)
        assert export.returncode == 0, export.stderr
        with contextlib.closing(sqlite3.connect(folder.file("out.sqlite"))) as exported:
            rows = exported.execute("SELECT CAST(text AS BLOB) FROM NVTX_EVENTS").fetchall()
            assert odd <= {row[0] for row in rows}, rows
        report = folder.report()
        assert report.named("unclosed")[0]["flags"] == OPEN_END | END_UNKNOWN
        assert len(report.events) == 6 and all(event["flags"] == 0 for event in report.events
                                               if event["name"] != "unclosed")


tap.main(globals())
