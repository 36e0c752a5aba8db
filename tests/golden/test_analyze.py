# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope analyze: compares each rule on each export with plain SQL; tests switches and layout."""

import csv
import io
import json
import os
import shutil
import sqlite3

import exports
import golden
import tap

RULES = ["doctor", "findings", "cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "cuda_api_sync", "gpu_gaps", "gpu_time_util", "gpu_clocks"]
KINDS = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"]


def rows(name, rule, *switches):
    """What RULE finds in the report of export NAME: None where it lacks what it needs."""
    out, err = golden.run("analyze", "-r", rule, "-f", "csv", *switches, exports.report(name))
    if out == b"":
        assert b"SKIPPED: " in err and b"does not contain the required CUDA data" in err, err
        return None
    return list(csv.DictReader(io.StringIO(out.decode())))


def select(database, statement):
    """The rows of STATEMENT; none where its table is not there."""
    try:
        return database.execute(statement).fetchall()
    except sqlite3.OperationalError as error:
        assert "no such" in str(error), error
        return None


def calls(database):
    """The first of the calls with one correlation, by (pid, correlation): its name."""
    found = {}
    for tid, correlation, start, name in select(database, "SELECT globalTid, correlationId, start, value FROM CUPTI_ACTIVITY_KIND_RUNTIME"
                                                " JOIN StringIds ON id = nameId WHERE eventClass < 2 ORDER BY start DESC") or []:
        found[tid >> 24 & 0xFFFFFF, correlation] = name
    return found


def check(name, rule, wanted, columns):
    """WANTED rows (duration, start, …), or None: all of them, and by default the 50 that last longest."""
    ours = rows(name, rule, "--rows=0")
    if wanted is None:
        assert ours is None, (name, rule)
        return 0
    texts = [tuple(row[c] for c in columns) for row in ours]
    durations = [(-int(row["Duration (ns)"]), int(row["Start (ns)"])) for row in ours]
    assert durations == sorted(durations), (name, rule)
    wanted = sorted(tuple(map(str, w)) for w in wanted)
    assert sorted(texts) == wanted, (name, rule, len(texts), len(wanted), set(texts) ^ set(wanted))
    assert [tuple(row[c] for c in columns)[:2] for row in rows(name, rule)] == [t[:2] for t in texts[:50]], (name, rule)
    return len(ours)


COPY = ["Duration (ns)", "Start (ns)", "Src Kind", "Dst Kind", "Bytes (MB)", "PID", "Device ID", "Context ID", "Stream ID", "API Name"]


def copies(name, is_asked):
    """Copies of which IS_ASKED (copyKind, bytes, srcKind, dstKind, name of the call) holds."""
    database = exports.source(name)
    by = calls(database)
    found = select(database, "SELECT end - start, start, srcKind, dstKind, bytes, globalPid, deviceId, contextId, streamId, correlationId, copyKind"
                   " FROM CUPTI_ACTIVITY_KIND_MEMCPY")
    return found and [(duration, start, KINDS[source], KINDS[target], f"{size / 1e6:.3f}", pid >> 24 & 0xFFFFFF, device, context, stream,
                       by[pid >> 24 & 0xFFFFFF, correlation])
                      for duration, start, source, target, size, pid, device, context, stream, correlation, kind in found
                      if is_asked(kind, size, source, target, by.get((pid >> 24 & 0xFFFFFF, correlation), ""))]


@exports.on_each(least=(60, 350))
def test_asynchronous_copies_of_pageable_memory(names, least):
    n = sum(check(name, "cuda_memcpy_async", copies(name, lambda kind, size, source, target, call:
                                                    0 in (source, target) and "emcpy" in call and "Async" in call), COPY)
            for name in names)
    assert n > least, n


@exports.on_each(least=(50, 200))
def test_synchronous_copies(names, least):
    n = sum(check(name, "cuda_memcpy_sync", copies(name, lambda kind, size, source, target, call:
                                                   kind in (1, 2, 3, 4, 9) and "emcpy" in call and "Async" not in call
                                                   and (kind != 1 or size > 65536)), COPY)
            for name in names)
    assert n > least, n


@exports.on_each(["pair"], ["h100x2-nccl"])
def test_synchronous_memsets(names, _):
    """No export has one: a file where the memory of every second memset is managed, and their calls synchronous, does."""
    for name in exports.OWN + exports.corpus():
        found = select(exports.source(name), "SELECT memKind FROM CUPTI_ACTIVITY_KIND_MEMSET")
        check(name, "cuda_memset_sync", [] if found else None, COPY)
    changed = golden.path(names[0] + "-memset.sqlite")
    shutil.copy(exports.path(names[0]), changed)
    database = sqlite3.connect(changed)
    database.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET memKind = 4 WHERE rowid % 2")
    database.execute("UPDATE StringIds SET value = 'cudaMemset_v3020' WHERE value LIKE 'cudaMemsetAsync%'")
    database.commit()
    by = calls(database)
    wanted = sorted((duration, start, f"{size / 1e6:.3f}", pid >> 24 & 0xFFFFFF)
                    for duration, start, size, pid, correlation in
                    database.execute("SELECT end - start, start, bytes, globalPid, correlationId FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE memKind = 4")
                    if by.get((pid >> 24 & 0xFFFFFF, correlation)) == "cudaMemset_v3020")
    exports.make(changed, changed + ".rep")
    out = golden.run("analyze", "-r", "cuda_memset_sync:rows=-1", "-f", "csv", changed + ".rep")[0]
    ours = list(csv.DictReader(io.StringIO(out.decode())))
    assert {(r["Memory Kind"], r["API Name"]) for r in ours} == {("Managed", "cudaMemset_v3020")}
    assert sorted((int(r["Duration (ns)"]), int(r["Start (ns)"]), r["Bytes (MB)"], int(r["PID"])) for r in ours) == wanted and len(wanted) > 5


@exports.on_each(least=(150, 1000))
def test_waits(names, least):
    n = 0
    for name in names:
        found = select(exports.source(name), "SELECT end - start, start, globalTid, value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId")
        wanted = found and [(duration, start, tid >> 24 & 0xFFFFFF, tid & 0xFFFFFF, call) for duration, start, tid, call in found
                            if call.startswith(("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaThreadSynchronize",
                                                "cuCtxSynchronize", "cuStreamSynchronize"))]
        n += check(name, "cuda_api_sync", wanted, ["Duration (ns)", "Start (ns)", "PID", "TID", "API Name"])
    assert n > least, n


SPAN = ("Duration (ns)", "Start (ns)", "PID", "Device ID", "Overhead (ns)")


def gpus(name):
    """By (pid, device): (start, end) of its operations, and of the profiler's overhead."""
    database, found = exports.source(name), {}
    for table in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"):
        for pid, device, start, end in select(database, f"SELECT globalPid, deviceId, start, end FROM CUPTI_ACTIVITY_KIND_{table}") or []:
            found.setdefault((pid >> 24 & 0xFFFFFF, device), ([], []))[0].append((start, end))
    for table in ("PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"):
        for tid, start, end in select(database, f"SELECT globalTid, start, end FROM {table}") or []:
            for key in found:
                if key[0] == tid >> 24 & 0xFFFFFF:
                    found[key][1].append((start, end))
    return found


def union(spans):
    """The same times as spans that do not touch."""
    joined = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def within(spans, start, end):
    """How long SPANS, which do not touch, last from START to END."""
    return sum(max(0, min(b, end) - max(a, start)) for a, b in spans)


@exports.on_each(least=((40, 2), (40, 2)))
def test_gaps(names, least):
    """A gap is as long as the GPU had nothing to do, whatever the profiler did meanwhile: that is told beside it."""
    n = told = 0
    for name in names:
        for limit_ms in (500, 1):
            wanted = []
            for (pid, device), (operations, overhead) in gpus(name).items():
                overhead, busy = union(overhead), union(operations)
                # Between neighbouring ends and starts nothing else is there.
                for (_, until), (start, _) in zip(busy, busy[1:]):
                    if start - until > limit_ms * 1000000:
                        wanted.append((start - until, until, pid, device, within(overhead, until, start)))
            wanted = wanted if gpus(name) else None
            found = rows(name, f"gpu_gaps:gap={limit_ms}:rows=-1")
            ours = found and [tuple(int(r[c]) for c in SPAN) for r in found]
            assert (ours or []) == sorted(wanted or [], key=lambda w: (-w[0], w[1])) and (ours is None) == (wanted is None), (name, ours, wanted)
            assert found is None or [r["Row#"] for r in found] == [str(i + 1) for i in range(len(found))]
            assert found == rows(name, "gpu_gaps", f"--gap={limit_ms}", "--rows=0")
            n += len(ours or [])
            told += sum(row[4] > 0 for row in ours or [])
    assert n > least[0] and told > least[1], (n, told)


@exports.on_each(least=(15, 10))
def test_default_gap(names, least):
    """Without a limit, the limit is 1 % of the time from the GPU's first to its last operation, or 500 ms in long runs."""
    n = 0
    for name in names:
        wanted = []
        for operations, _ in gpus(name).values():
            busy = union(operations)
            limit = min(500 * 10 ** 6, (busy[-1][1] - busy[0][0]) // 100)
            wanted += [start - until for (_, until), (start, _) in zip(busy, busy[1:]) if start - until > limit]
        found = rows(name, "gpu_gaps", "--rows=0") or []
        assert sorted(int(r["Duration (ns)"]) for r in found) == sorted(wanted), name
        n += len(wanted)
    assert n > least, n


def test_gaps_of_a_short_run():
    """The sample's GPU works at eight moments of 47 ms."""
    out = golden.run("analyze", "-r", "gpu_gaps", "-f", "csv", os.path.join(tap.SOURCE, "data/samples/cuda-double.rep"))[0].decode()
    found = list(csv.DictReader(io.StringIO(out)))
    assert len(found) >= 7 and all(int(row["Duration (ns)"]) > 467085 for row in found), out


@exports.on_each(least=((20, 5), (50, 5)))
def test_little_use(names, least):
    """How busy a GPU was, of which the profiler's overhead is no part."""
    n = told = 0
    for name in names:
        for percent, parts in ((50, 30), (90, 100)):
            wanted = []
            for (pid, device), (operations, overhead) in gpus(name).items():
                first, last = min(start for start, _ in operations), max(end for _, end in operations)
                edges = [first + (last - first) * i // parts for i in range(parts + 1)]
                low = []
                for a, b in zip(edges, edges[1:]):
                    busy = within(operations, a, b)
                    if b > a and 100 * busy / (b - a) < percent:
                        if low and low[-1][1] == a:
                            low[-1] = (low[-1][0], b, low[-1][2] + busy)
                        else:
                            low.append((a, b, busy))
                overhead = union(overhead)
                wanted += [(100 * busy / (b - a), b - a, a, pid, device, within(overhead, a, b)) for a, b, busy in low]
            wanted.sort(key=lambda w: (w[0], w[2]))
            found = rows(name, f"gpu_time_util:threshold={percent}:chunks={parts}:rows=-1") or []
            assert [tuple(int(r[c]) for c in SPAN) for r in found] == [w[1:] for w in wanted], (name, found, wanted)
            for row, (share, *_) in zip(found, wanted):
                assert abs(float(row["In-Use (%)"]) - share) <= 0.0501, (row, share)
            assert found == (rows(name, "gpu_time_util", f"--threshold={percent}", f"--chunks={parts}", "--rows=0") or [])
            n += len(wanted)
            told += sum(w[5] > 0 for w in wanted)
    assert n > least[0] and told > least[1], (n, told)


def span_of(name):
    """From the first event to the last."""
    times = [select(exports.source(name), f"SELECT min(start), max(end) FROM {table}") for table in
             ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS", "OSRT_API")]
    times = [row[0] for row in times if row and row[0][0] is not None]
    return max(end for _, end in times) - min(start for start, _ in times)


def test_looks():
    report = exports.report("old")
    out = golden.run("analyze", "--rows=1", report)[0].decode()
    titles = [line[:-2].rpartition("(")[2] for line in out.splitlines() if line.startswith(" ** ")]
    # It has no sets and no clocks. Of the rules, what costs most comes first; what costs nothing is a line.
    assert titles[:2] == RULES[:2] and sorted(titles) == sorted(set(RULES) - {"cuda_memset_sync", "gpu_clocks"}), titles
    costs = {name: sum(int(row["Duration (ns)"]) for row in rows("old", name, "--rows=1")) for name in titles[2:]}
    assert [costs[name] for name in titles[2:]] == sorted(costs.values(), reverse=True), (titles, costs)
    assert "Nothing is wrong with this report." in golden.run("analyze", "-r", "doctor", exports.report("tiny"))[0].decode()
    assert out.count("Processing [") == len(RULES) and "SKIPPED: " in out and "Does the program set memory with CUDA?" in out
    assert "Use pinned memory" in out.replace("\n", " ") and "No GPU was idle for longer at a time than the limit" in out
    assert max(len(line) for line in out.splitlines() if not line.startswith((" ", "Processing", "SKIPPED"))) <= 80
    assert golden.run("analyze", "-q", "-r", "gpu_gaps", report)[0].startswith(b" ** GPU Gaps (gpu_gaps):\n\n")


def test_what_costs_nothing_is_a_line():
    out = golden.run("analyze", "--rows=0", exports.report("loop"))[0].decode()
    found = {}
    for part in out.split(" ** ")[3:]:
        name = part.partition(")")[0].partition("(")[2]
        listed = rows("loop", name, "--rows=0") or []
        found[name] = "in all: less than a thousandth of the time. `-r " + name in " ".join(part.split())
        assert found[name] == (0 < sum(int(row["Duration (ns)"]) for row in listed) < span_of("loop") // 1000), (name, listed[:3])
    assert True in found.values() and False in found.values(), found


def test_outputs():
    report = exports.report("loop")
    golden.run("analyze", "-r", "gpu_gaps:gap=5000,cuda_api_sync", "-f", "json,csv", "-o", golden.path("rule"), report)
    assert json.load(open(golden.path("rule_gpu_gaps_gap=5000.json"), encoding="utf-8")) == []
    with open(golden.path("rule_cuda_api_sync.csv"), encoding="utf-8") as file:
        assert len(file.readlines()) == 51
    assert b"Duration (ms)" in golden.run("analyze", "-r", "cuda_api_sync", "-f", "csv", "--timeunit=msec", report)[0]


@exports.on_each(least=(1, 0))
def test_what_is_wrong_with_reports(names, least):
    """Each export: launches of graphs that hide their kernels, and processes of which the GPU's side is missing."""
    n = 0
    for name in names:
        database = exports.source(name)
        out = golden.run("analyze", "-r", "doctor", "-f", "json", exports.report(name))[0]
        found = {row["Code"]: row for row in json.loads(out) if row["Code"].startswith("LNS-DOCTOR")}
        wanted = set()
        graphs = select(database, "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
        if graphs and graphs[0][0]:
            wanted.add("LNS-DOCTOR-003")
            row = found["LNS-DOCTOR-003"]
            busy = sum((select(database, f"SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_{table}") or [(0,)])[0][0] or 0
                       for table in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"))
            assert row["Severity"] == "info" and row["Finding"].startswith(f"{graphs[0][0]} launches of CUDA graphs, {100 * graphs[0][1] / busy:.1f} % "), row
            assert "--cuda-graph-trace=node" in row["Finding"]
        launching = {tid >> 24 & 0xFFFFFF for tid, in select(database, "SELECT DISTINCT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"
                                                             " WHERE value LIKE '%LaunchKernel%' OR value LIKE '%GraphLaunch%'") or []}
        working = {pid for pid, _ in gpus(name)}
        if launching - working:
            wanted.add("LNS-DOCTOR-002")
            assert found["LNS-DOCTOR-002"]["PID"] in launching - working
        assert set(found) == wanted, (name, found, wanted)
        info = golden.run("info", exports.report(name))[0].decode()
        assert f"problems: {len(found)}\n" in info and all(f"  {code} {row['Severity']}: {row['Finding']}\n" in info for code, row in found.items())
        n += len(found)
    assert n > least, n


def test_its_own_diagnostics_are_findings():
    rows = list(csv.DictReader(io.StringIO(golden.run("analyze", "-r", "doctor", "-f", "csv", golden.make_report())[0].decode())))
    assert [(r["Severity"], r["Code"], r["PID"]) for r in rows] == [("warning", "LNS-NVTX-003", "1000"), ("warning", "LNS-DOCTOR-004", "")], rows
    assert rows[1]["Finding"].startswith("4 events are lost: record with a larger --buffer-size"), rows


@exports.on_each(["loop", "system"], ["a100-pytorch-lm", "a100-julia-cg"])
def test_what_another_tool_said(names, _):
    """Warnings and errors of an export's own, each once, the gravest first."""
    for name in names:
        wanted = exports.source(name).execute("SELECT DISTINCT severity, text FROM DIAGNOSTIC_EVENT WHERE severity > 1").fetchall()
        out = golden.run("analyze", "-r", "doctor", "-f", "json", exports.report(name))[0]
        rows = [row for row in json.loads(out) if row["Code"] == "NSYS"]
        assert sorted(row["Finding"] for row in rows) == sorted(text for _, text in wanted) and len(rows) > 1, (name, rows, wanted)
        order = ["error", "warning"]
        assert [order.index(row["Severity"]) for row in rows] == sorted(order.index(row["Severity"]) for row in rows), rows


def test_what_can_be_asked_for():
    out = golden.run("analyze", "--help-rules")[0].decode()
    assert [line.split("[")[0] for line in out.replace(" --", "[").splitlines() if "[" in line] == RULES
    assert "gpu_gaps[:gap=MILLISECONDS][:rows=N] -- GPU Gaps\n" in golden.run("analyze", "--help-rules=gpu_gaps")[0].decode()
    for words in (["-r", "gpu_gap"], ["-r", "gpu_gaps:gap"], ["-r", "gpu_gaps:gap=x"], ["-r", "gpu_gaps:gap=-1"], ["-r", "gpu_gaps:threshold=5"], ["-r", "gpu_time_util:chunks=0"],
                  ["-r", "gpu_time_util:rows=-2"], ["--help-rules=x"], ["--chunks=0"], ["--chunks=10001"], ["--gap=-1"]):
        _, err = golden.run("analyze", *words, golden.make_report(), code=125)
        assert len(err.splitlines()) == 1 and err.startswith(b"lanescope: error: "), (words, err)


def test_switches_about_a_file_that_is_not_made():
    """Scripts that name the SQLite file of nsys, or have it made again, go on working."""
    report = golden.make_report("switches.rep")
    for command in ("analyze", "stats"):
        before = set(os.listdir(golden.FOLDER))
        out, err = golden.run(command, "--sqlite", golden.path("x.sqlite"), "--force-export=true", report)
        assert out == golden.run(command, report)[0] and out != b""
        assert err.count(b"\n") == 1 and b"--sqlite, --force-export: ignored; reports are read directly" in err and b"[LNS-SWITCH-001]" in err, err
        assert golden.run(command, "--force-export=false", report) == (out, b"")
        assert set(os.listdir(golden.FOLDER)) == before


tap.main(globals())
