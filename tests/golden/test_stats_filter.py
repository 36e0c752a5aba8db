# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope stats --filter-nvtx and --filter-time: what overlaps a range or a time, compared with plain SQL."""

import collections
import csv
import decimal
import glob
import io
import os
import random
import re
import sqlite3

import exports
import golden
import tap

REPORT = golden.make_report()


def stats(report, name, *switches):
    out = golden.run("stats", "-q", "-r", name, "-f", "csv", *switches, report, TMPDIR=golden.path("tmp"))[0]
    assert os.listdir(golden.path("tmp")) == []
    return list(csv.DictReader(io.StringIO(out.decode("utf-8", "replace"))))


os.makedirs(golden.path("tmp"))
TABLES = {"KERNEL": ("cuda_gpu_kern_sum", "globalPid", "demangledName"), "RUNTIME": ("cuda_api_sum", "globalTid", "nameId")}


def check(name, start, end, pid, *switches):
    """That what is summed up of export NAME overlaps START to END, and is of PID where that is not None."""
    database, n = exports.source(name), 0
    for table, (report, process, text) in TABLES.items():
        groups = collections.defaultdict(list)
        for value, duration in database.execute(
                f"SELECT value, k.end - k.start FROM CUPTI_ACTIVITY_KIND_{table} k JOIN StringIds ON id = {text}"
                " WHERE k.end >= ? AND k.start <= ?" + (f" AND {process} >> 24 & 16777215 = {pid}" if pid is not None else "") +
                (" AND eventClass < 2" if table == "RUNTIME" else ""), (start, end)):
            groups[re.sub(r"_v\d{4}$", "", value) if table == "RUNTIME" else value].append(duration)
        rows = stats(exports.report(name), report, *switches)
        assert {r["Name"]: int(r["Total Time (ns)"]) for r in rows} == {k: sum(v) for k, v in groups.items()}, (name, report, switches)
        n += sum(map(len, groups.values()))
    return n


@exports.on_each([("pair", "%r%"), ("old", "%"), ("graphs", "%")],
                 [("h100x2-nccl", "aten::%"), ("h100x2-after", "%"), ("h100x2-before", "%")], least=(200, 300))
def test_ranges(names, least):
    """Each by name, domain and number, among those of its name by start."""
    n = 0
    for name, pattern in names:
        database = exports.source(name)
        text = "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))"
        domains = {(tid >> 24, domain): value for tid, domain, value in
                   database.execute(f"SELECT globalTid, domainId, {text} FROM NVTX_EVENTS WHERE eventType = 75")}
        found = collections.defaultdict(list)
        for tid, domain, start, end, value in database.execute(
                f"SELECT globalTid, domainId, start, end, {text} AS t FROM NVTX_EVENTS"
                f" WHERE eventType IN (59, 60) AND end IS NOT NULL AND t LIKE ? ORDER BY start", (pattern,)):
            found[value, domains.get((tid >> 24, domain), "")].append((start, end, tid >> 24 & 0xFFFFFF))
        # Of the longest ones of different names.
        longest = sorted(found, key=lambda key: -max(end - start for start, end, _ in found[key]))[:3]
        assert len(longest) == 3
        for value, domain in longest:
            word = re.sub(r"([@/])", r"\\\1", value) + ("@" + domain if domain else "")
            for number, (start, end, pid) in list(enumerate(found[value, domain]))[:2]:
                n += check(name, start, end, pid, f"--filter-nvtx={word}/{number}")
                if number == 0:
                    assert stats(exports.report(name), "cuda_api_sum", "--filter-nvtx", word) == \
                        stats(exports.report(name), "cuda_api_sum", f"--filter-nvtx={word}/0")
    assert n > least, n


@exports.on_each(["loop", "system", "pair"], ["a100-pytorch-lm", "a100x4-cloverleaf"], least=(1500, 10000))
def test_times(names, least):
    n = 0
    for name in names:
        first, last = exports.source(name).execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        for start, end in ((first, first + (last - first) // 7), (first + (last - first) // 3, last), (last + 10 ** 6, last + 10 ** 9)):
            n += check(name, start, end, None, f"--filter-time={start}/{end}")
        middle = (first + last) // 2000000 * 1000000
        n += check(name, middle, 1 << 62, None, f"--filter-time={middle // 1000000}ms/")
        n += check(name, -1 << 62, middle, None, f"--filter-time=/{middle / 1e9:.3f}s")
    assert n > least, n


def test_all_reports_see_the_part():
    """Ranges that overlap 4.2 to 5.2 µs of the report of fixed content; also for queries, and with both switches."""
    rows = stats(REPORT, "nvtx_pushpop_trace", "--filter-time=4200/5200")
    assert [r["Start (ns)"] for r in rows] == ["1000", "4000", "5000"], rows
    assert rows[1]["ParentId"] == rows[0]["RangeId"]
    with open(golden.path("count.sql"), "w", encoding="utf-8") as file:
        file.write("SELECT count(*) AS n FROM NVTX_EVENTS WHERE eventType = 59")
    assert stats(REPORT, "./count.sql", "--filter-time=4200/5200") == [{"n": "3"}]
    assert [r["Start (ns)"] for r in stats(REPORT, "nvtx_pushpop_trace", "--filter-nvtx=step", "--filter-time=4.2us/5.2us")] == ["1000", "4000", "5000"]
    assert [r["Start (ns)"] for r in stats(REPORT, "nvtx_pushpop_trace", "--filter-nvtx=load@compute")] == ["1000", "2000", "2000"]
    assert [r["Start (ns)"] for r in stats(REPORT, "nvtx_pushpop_trace", "--filter-nvtx=load@*/1")] == ["1000", "3000", "3000"]


UNITS = {"ns": 1, "µs": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}


def told_times(text):
    """Between which times TEXT, one line, says that the report has such events, in ns."""
    found = re.search(r"Counted from the session's start, such events begin at (\S+) (\S+) and end at (\S+) (\S+)\.$", text.strip())
    number = [decimal.Decimal(word.replace(",", "")) for word in found.group(1, 3)]
    return [int(value * UNITS[unit]) for value, unit in zip(number, found.group(2, 4))]


@exports.on_each(["loop"], ["a100-pytorch-lm"])
def test_part_without_events(names, _):
    """A part without events of a kind does not make the report one without such events."""
    report, database = exports.report(names[0]), exports.source(names[0])
    name = golden.path("kernels.sql")
    with open(name, "w", encoding="utf-8") as file:
        file.write("SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL")
    cases = (["stats", "-q", "-r", "cuda_gpu_kern_sum"], "KERNEL", "CUDA kernel data"), (["stats", "-q", "-r", "cuda_api_trace"], "RUNTIME", "CUDA trace data"), \
        (["analyze", "-q", "-r", "cuda_api_sync"], "RUNTIME", "the required CUDA data")
    for command, table, what in cases:
        first, last = database.execute(f"SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_{table}").fetchone()
        for words, told in (f"{first - 10}/{first - 5}", " from .* to .*"), (f"/{first - 5}", " before .*"), (f"{last + 5}/", " after .*"):
            out = golden.run(*command, f"--filter-time={words}", report)[0].decode()
            assert re.match(re.escape(f"SKIPPED: {report} contains {what}, but none") + told + r"\. ", out) and out.endswith(".\n\n"), out
            assert told_times(out) == [first, last], (out, first, last)
        assert golden.run(*command, "-f", "csv", f"--filter-time=/{first - 5}", report)[0] == b""
    out = golden.run("stats", "-q", "-r", name, "--filter-time=/1ns", report)[0].decode()
    assert out.startswith(f"SKIPPED: {report} contains what the query asks for, but none before 1 ns. Counted from the session's start, the report's events "), out
    assert f"SKIPPED: {report} does not contain MPI event data.\n" in golden.run("stats", "-q", "-r", "mpi_event_sum", "--filter-time=/1ns", report)[0].decode()


def all_reports():
    """The names of all reports of stats."""
    return re.findall(r"^[* ] (\w+)", golden.run("stats", "--help-reports")[0].decode(), re.M)


def durations(report, *switches):
    """(report, column, value) of each duration and each share that any report of stats gives for REPORT."""
    text = golden.run("stats", "-q", "-r", ",".join(all_reports()), "-f", "csv", "-o", golden.path("all"), "--force-overwrite=true", *switches, report)[0]
    for path in glob.glob(golden.path("all_*.csv")):
        with open(path, encoding="utf-8", errors="replace") as file:
            for row in csv.DictReader(file):
                for title, value in row.items():
                    if re.search(r"\((ns|%)\)$", title) and not re.search(r"Start|End", title) and value:
                        yield os.path.basename(path), title, float(value)
        os.remove(path)


def switches_of_threads():
    """A report of threads that switch, wait and end at random; what each does last, nothing tells the end of."""
    path, draw = golden.path("switches.sqlite"), random.Random(tap.SEED)
    if not os.path.exists(golden.path("switches.rep")):
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE SCHED_EVENTS (start INT, cpu INT, isSchedIn INT, globalTid INT, threadState INT, threadBlock INT, wakerTid INT, wakeLatency INT)")
        for tid in range(1, 9):
            now = draw.randrange(1000)
            for number in range(draw.randrange(1, 60)):
                latency = draw.randrange(100) if number % 3 else None
                state = draw.choice((2, 3, 4, 6, 7)) if number % 2 else 1
                database.execute("INSERT INTO SCHED_EVENTS VALUES (?, ?, ?, ?, ?, 0, NULL, ?)", (now, draw.randrange(4), 1 - number % 2, 10 << 24 | tid, state, latency))
                now += draw.randrange(100, 3000)
        database.commit()
        exports.make(path, golden.path("switches.rep"))
    return golden.path("switches.rep")


def no_report_is_negative(reports, n_filters, least):
    """That no duration or share of any report is below 0, without a filter and with random ones."""
    draw, n = random.Random(tap.SEED), 0
    for report in reports:
        tables = re.findall(r'CREATE TABLE ("\w+") \([^;]*"start"', golden.run("sql", report, ".schema")[0].decode())
        starts = " UNION ALL ".join(f"SELECT start FROM {table}" for table in tables)
        first, last = map(int, golden.run("sql", report, f"SELECT min(start), max(start) FROM ({starts})")[0].split())
        filters = [f"--filter-time={a}/{b}" for a, b in (sorted(draw.randint(first - 5, last + 5) for _ in "ab") for _ in range(n_filters))]
        for switches in ([], *([each] for each in filters)):
            found = list(durations(report, *switches))
            assert all(value >= 0 for *_, value in found), (report, switches, [row for row in found if row[2] < 0])
            n += len(found)
    assert n > least, n


def test_no_report_is_negative():
    no_report_is_negative([REPORT, switches_of_threads(), *map(exports.report, exports.OWN), *glob.glob(os.path.join(tap.SOURCE, "data/samples/*.rep"))], 3, 1000)


def test_no_report_is_negative_of_the_corpus():
    exports.need()
    no_report_is_negative(map(exports.report, exports.corpus()), 4, 1000)


def test_names_of_files():
    golden.run("stats", "-r", "nvtx_sum,um_sum:rows=5", "--filter-nvtx=load@compute/0", "-o", golden.path("part"), REPORT)
    assert os.path.exists(golden.path("part_nvtx_sum_nvtx=load@compute-0.csv"))


def test_what_is_no_part():
    for words in (["--filter-time", "5"], ["--filter-time", "x/5"], ["--filter-time", "5/x"], ["--filter-time", "5/4"], ["--filter-time", "/"],
                  ["--filter-time", "1h/2h"], ["--filter-time", "1e400/"], ["--filter-time=1/2/3"], ["--filter-nvtx=nothing"], ["--filter-nvtx=load"],
                  ["--filter-nvtx=load@compute/99"], ["--filter-nvtx=load@other"], ["--filter-nvtx="],
                  ["--filter-nvtx=load@compute", "--filter-time=1s/2s"]):
        for command in (["stats"], ["analyze"]):
            out, err = golden.run(*command, *words, REPORT, code=125)
            assert out == b"" and len(err.splitlines()) == 1 and b"--filter-" in err, (words, err)


@exports.on_each(["loop"], ["a100-pytorch-lm"])
def test_rules_see_the_part(names, _):
    report, database = exports.report(names[0]), exports.source(names[0])
    first, last = database.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
    middle = (first + last) // 2
    wanted = database.execute(
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE end >= ? AND start <= ? AND"
        " (value LIKE 'cudaDeviceSync%' OR value LIKE 'cu%StreamSynchronize%')", (middle, last)).fetchone()[0]
    out = golden.run("analyze", "-r", "cuda_api_sync", "--rows=0", "-f", "csv:nohdr", f"--filter-time={middle}/{last}", report)[0]
    assert 0 < len(out.splitlines()) == wanted, (len(out.splitlines()), wanted)


tap.main(globals(), long=(test_no_report_is_negative_of_the_corpus,))
