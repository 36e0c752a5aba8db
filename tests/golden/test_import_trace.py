# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Traces of PyTorch and Chrome: compares the report of a trace with the JSON as Python reads it."""

import collections
import csv
import decimal
import glob
import gzip
import io
import json
import os
import random
import re
import subprocess
import tempfile

import make_traces
import tap

KINETO = os.path.join(tap.SHARED, "corpus", "kineto")
OWN = tempfile.TemporaryDirectory(prefix="lanescope-traces-")
OWN_FILES = make_traces.make(OWN.name)
GPU = {"kernel": "CUPTI_ACTIVITY_KIND_KERNEL", "gpu_memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memset": "CUPTI_ACTIVITY_KIND_MEMSET",
       "cuda_sync": "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"}


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    return trace if isinstance(trace, list) else trace["traceEvents"]


def ns(value):
    return int(decimal.Decimal(value) * 1000)


def convert(work, path, cut_off=False):
    report = os.path.join(work, "trace.rep")
    run = subprocess.run([tap.LANESCOPE, "import", "-q", "-f", "true", "-o", report, path], capture_output=True, text=True,
                         env={**os.environ, "TMPDIR": work})
    assert run.returncode == (125 if cut_off else 0) and (" to its end: " in run.stderr) == cut_off, run.stderr
    assert os.listdir(work) == ["trace.rep"] or "lanescope-import" not in " ".join(os.listdir(work)), os.listdir(work)
    return report


def rows(report, statement):
    run = subprocess.run([tap.LANESCOPE, "sql", report, statement], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return [tuple(line.split("\t")) for line in run.stdout.split("\n")[:-1]]


def first_ns(events):
    return next(ns(event["ts"]) for event in events if event.get("ph") not in ("M", None) and "ts" in event)


def check_gpu(report, events, base):
    for category, table in GPU.items():
        expected = collections.Counter()
        for event in events:
            if event.get("cat") == category and event["ph"] == "X":
                arguments = event["args"]
                expected[ns(event["ts"]) - base, ns(event["ts"]) - base + ns(event["dur"]), arguments.get("correlation", 0),
                         arguments["stream"] & 0xffffffff] += 1
        got = collections.Counter(tuple(map(int, row)) for row in
                                  rows(report, f"SELECT start, end, correlationId, streamId & 0xffffffff FROM {table}"))
        assert got == expected, (category, list((expected - got).items())[:3], list((got - expected).items())[:3])


def check_kernels(report, events):
    expected = collections.Counter((event["name"], *map(str, event["args"].get("grid", ("",) * 3)), *map(str, event["args"].get("block", ("",) * 3)),
                                    str(event["args"].get("registers per thread", "")))
                                   for event in events if event.get("cat") == "kernel")
    got = collections.Counter(rows(report, "SELECT s.value, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread "
                                           "FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds AS s ON s.id = demangledName"))
    assert got == expected, (list((expected - got).items())[:3], list((got - expected).items())[:3])


def check_calls(report, events, base):
    expected = collections.Counter((event["name"], str(event["pid"]), str(event["tid"]) if 0 <= event["tid"] < 1 << 23 else "other", str(ns(event["ts"]) - base), str(ns(event["dur"])),
                                    str(event["args"]["correlation"]))
                                   for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver"))
    got = collections.Counter(rows(report, "SELECT s.value, globalTid >> 24, CASE WHEN globalTid & 0xffffff < 1 << 23 THEN globalTid & 0xffffff ELSE 'other' END, start, end - start, correlationId "
                                           "FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds AS s ON s.id = nameId"))
    assert got == expected, (list((expected - got).items())[:3], list((got - expected).items())[:3])


def check_ranges(report, events, base):
    """All else is ranges, in a domain called as the category."""
    expected = collections.Counter()
    for event in events:
        if event.get("ph") == "X" and event.get("cat") not in (*GPU, "cuda_runtime", "cuda_driver"):
            start = ns(event["ts"]) - base
            expected[event["name"], event["cat"], str(start), str(start + ns(event["dur"]))] += 1
    got = collections.Counter(rows(report, "SELECT coalesce(e.text, s.value), d.text, e.start, e.end FROM NVTX_EVENTS AS e "
                                           "LEFT JOIN StringIds AS s ON s.id = e.textId "
                                           "JOIN NVTX_EVENTS AS d ON d.eventType = 75 AND d.domainId = e.domainId "
                                           "AND d.globalTid >> 24 = e.globalTid >> 24 WHERE e.eventType = 59"))
    assert got == expected, (list((expected - got).items())[:3], list((got - expected).items())[:3])


def corpus(name="*"):
    """The paths of the public traces of that name."""
    files = sorted(glob.glob(os.path.join(KINETO, name + ".json.gz")))
    if not files:
        raise tap.Skip("../shared/corpus is not there")
    return files


def test_traces_of_pytorch():
    assert check_traces(OWN_FILES) > 400


def test_traces_of_pytorch_of_the_corpus():
    assert check_traces(corpus()) > 5000


def check_traces(files):
    """Compares all of each; how many kernels are tied to their calls."""
    n_linked = 0
    for path in files:
        with tempfile.TemporaryDirectory() as work:
            events, report = load(path), convert(work, path)
            base = first_ns(events)
            check_gpu(report, events, base)
            check_kernels(report, events)
            check_calls(report, events, base)
            check_ranges(report, events, base)
            launched = {event["args"]["correlation"] for event in events if event.get("cat") == "kernel"} & \
                       {event["args"]["correlation"] for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")}
            linked = rows(report, "SELECT count(DISTINCT k.correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
                                  "JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24")
            assert linked == [(str(len(launched)),)], (path, linked, len(launched))
            n_linked += len(launched)
    return n_linked


def test_copies_tell_where_from_and_to():
    assert sum(check_copies(OWN_FILES[0]).values()) == 8


def test_copies_tell_where_from_and_to_of_the_corpus():
    assert sum(check_copies(*corpus("sampled_rank-1")).values()) == 40


def check_copies(path):
    with tempfile.TemporaryDirectory() as work:
        report = convert(work, path)
        kinds = {"HtoD": 1, "DtoH": 2, "DtoD": 8}
        memory = {"Pageable": 0, "Pinned": 1, "Device": 2}
        expected = collections.Counter()
        for event in load(path):
            if event.get("cat") == "gpu_memcpy":
                oper, places = event["name"].split(" ", 2)[1:]
                source, target = places.strip("()").split(" -> ")
                expected[str(event["args"]["bytes"]), str(kinds[oper]), str(memory[source]), str(memory[target])] += 1
        got = collections.Counter(rows(report, "SELECT bytes, copyKind, srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY"))
        assert got == expected, (got, expected)
        return got


def test_what_a_trace_does_not_tell_is_empty():
    """A zero would pass for something that was measured. The first kernel and copy tell nothing, the second all."""
    events = [{"ph": "X", "pid": 1, "tid": 2, "ts": 10 + i, "dur": 1, "name": name, "cat": "cuda_runtime", "args": {"correlation": i + 1}}
              for i, name in enumerate(("cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpyAsync"))]
    told = [{}, {"grid": [2, 3, 4], "block": [32, 1, 1], "registers per thread": 16, "shared memory": 2000, "dynamicSharedMemory": 0},
            {}, {"bytes": 5000, "srcKind": 1, "dstKind": 2}]
    for i, (category, name) in enumerate((("kernel", "k"), ("kernel", "k"), ("gpu_memcpy", "Memcpy HtoD"), ("gpu_memcpy", "Memcpy HtoD"))):
        events.append({"ph": "X", "pid": 0, "tid": 7, "ts": 20 + 2 * i, "dur": 1, "name": name, "cat": category,
                       "args": {"device": 0, "stream": 7, "correlation": i + 1, **told[i]}})
    with tempfile.TemporaryDirectory() as work:
        report = convert(work, write(work, "t.json", json.dumps({"traceEvents": events})))
        columns = "gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory"
        assert rows(report, f"SELECT {columns} FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start") == \
            [("",) * 9, ("2", "3", "4", "32", "1", "1", "16", "2000", "0")]
        assert rows(report, "SELECT bytes, srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start") == [("",) * 3, ("5000", "1", "2")]
        assert rows(report, "SELECT DISTINCT returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME") == [("",)]

        def stats(name):
            out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", name, report], capture_output=True, text=True, check=True).stdout
            return list(csv.DictReader(io.StringIO(out)))
        operations = [[r[c] for c in ("GrdX", "BlkZ", "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)", "SrcMemKd", "DstMemKd")]
                      for r in stats("cuda_gpu_trace")]
        assert operations == [[""] * 9, ["2", "1", "16", "0.002", "0.000", "", "", "", ""],
                              [""] * 9, ["", "", "", "", "", "0.005", "5000.000", "Pinned", "Device"]], operations
        assert [r["Result"] for r in stats("cuda_api_trace")] == [""] * 4
        assert sorted((r["GridXYZ"], r["BlockXYZ"]) for r in stats("cuda_gpu_kern_gb_sum")) == [("", ""), ("   2    3    4", "  32    1    1")]
        assert [(r["GridXYZ"], r["BlockXYZ"]) for r in stats("cuda_kern_exec_trace")] == [("", ""), ("   2    3    4", "  32    1    1")]


SMALL = [
    {"ph": "M", "name": "process_name", "pid": 10, "tid": 0, "args": {"name": "worker"}},
    {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "main \"loop\"\n"}},
    {"ph": "B", "pid": 10, "tid": 11, "ts": 1700000000000000.001, "name": "outer", "cat": "a"},
    {"ph": "B", "pid": 10, "tid": 11, "ts": 1700000000000001.5, "name": "inner", "cat": "a", "args": {"x": [1, {"y": None}], "z": "q\"q"}},
    {"ph": "X", "pid": 10, "tid": 11, "ts": 1700000000000002, "dur": 5, "name": "overlaps", "cat": "b"},
    {"ph": "X", "pid": 10, "tid": 11, "ts": 1700000000000004, "dur": 5, "name": "overlapping", "cat": "b"},
    {"ph": "E", "pid": 10, "tid": 11, "ts": 1700000000000010.25},
    {"ph": "E", "pid": 10, "tid": 99, "ts": 1700000000000011},
    {"ph": "b", "pid": 10, "tid": 11, "ts": 1700000000000012, "id": "0x7", "name": "request", "cat": "net"},
    {"ph": "b", "pid": 10, "tid": 11, "ts": 1700000000000013, "id": "0x8", "name": "request", "cat": "net"},
    {"ph": "e", "pid": 10, "tid": 12, "ts": 1700000000000014, "id": "0x7", "name": "request", "cat": "net"},
    {"ph": "X", "pid": "Spans", "tid": "text thread", "ts": 1700000000000020, "dur": 1, "name": "span", "cat": "Trace"},
    {"ph": "i", "pid": 10, "tid": 11, "ts": 1700000000000021, "name": "mark", "s": "t"},
    {"ph": "C", "pid": 10, "ts": 1700000000000022, "name": "memory", "args": {"bytes": 7}},
    {"ph": "C", "pid": 10, "ts": 1700000000000022.5, "name": "memory", "args": {"bytes": 9, "share": 1, "value": 3, "text": "x"}},
    {"ph": "C", "pid": 10, "ts": 1700000000000024, "name": "memory", "args": {"share": 0.5}},
    {"ph": "s", "pid": 10, "tid": 11, "ts": 1700000000000023, "id": 5, "name": "fwdbwd", "cat": "fwdbwd"},
    {"ph": "f", "pid": 10, "tid": 12, "ts": 1700000000000025, "id": 5, "name": "fwdbwd", "cat": "fwdbwd", "bp": "e"},
    {"ph": "s", "pid": 10, "tid": 11, "ts": 1700000000000025, "id": 6, "name": "launch", "cat": "ac2g"},
    {"name": "no phase"}, {"ph": "X", "name": "no time", "pid": 1, "tid": 1},
]


def write(work, name, text):
    path = os.path.join(work, name)
    with (gzip.open if name.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


def decimals(value):
    """As JSON with times to the nanosecond, which a double of these times does not hold."""
    return json.dumps(value).replace("1700000000000000.0", "1700000000000000.001").replace("1700000000000010.2", "1700000000000010.25")


def check_small(report):
    got = sorted(rows(report, "SELECT coalesce(text, value), eventType, start, coalesce(end, 'open'), globalTid >> 24, globalTid & 0xffffff "
                              "FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE eventType IN (34, 59, 60)"))
    own = {"span": got[-1][4:] if got[-1][0] == "span" else None}
    assert got == sorted([
        ("outer", "59", "0", "open", "10", "11"), ("inner", "59", "1499", "10249", "10", "11"), ("overlaps", "59", "1999", "6999", "10", "11"),
        ("overlapping", "59", "3999", "8999", "10", "11"), ("request", "60", "11999", "13999", "10", "11"), ("request", "60", "12999", "open", "10", "11"),
        ("span", "59", "19999", "20999", *own["span"]), ("mark", "34", "20999", "open", "10", "11")]), got
    assert rows(report, "SELECT value, category, flowId, start, end, globalTid & 0xffffff, endGlobalTid & 0xffffff FROM LNS_FLOWS JOIN StringIds ON id = nameId") == \
        [("fwdbwd", "fwdbwd", "5", "22999", "24999", "11", "12")]
    got = rows(report, "SELECT name, timestamp, value, globalPid >> 24 FROM LNS_COUNTERS ORDER BY 1, 2")
    assert got == [("memory", "22499", "3", "10"), ("memory: bytes", "21999", "7", "10"), ("memory: bytes", "22499", "9", "10"),
                   ("memory: share", "22499", "1.0", "10"), ("memory: share", "23999", "0.5", "10")], got
    names = rows(report, "SELECT globalTid >> 24, replace(value, char(10), '/') FROM ThreadNames JOIN StringIds ON id = nameId ORDER BY 1")
    assert ("10", 'main "loop"/') in names and "text thread" in [name for _, name in names], names
    assert ("10", "worker") in rows(report, "SELECT pid, name FROM PROCESSES") and "Spans" in [name for _, name in rows(report, "SELECT pid, name FROM PROCESSES")]
    (arguments,) = rows(report, "SELECT jsonText FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE value = 'inner'")
    assert json.loads(arguments[0]) == {"x": [1, {"y": None}], "z": "q\"q"}, arguments


def launch_events():
    """Calls and work that arrows alone tie together, and arrows of which it is not certain what they mean."""
    def call(ts, name="cudaLaunchKernel", **arguments):
        return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 10, "tid": 11, "ts": ts, "dur": 5, "args": arguments}

    def kernel(ts, name, dur=5, cat="kernel", **arguments):
        return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": {"device": 0, "stream": 7, **arguments}}

    def arrow(number, begin, *ends):
        common = {"cat": "ac2g", "name": "ac2g", "id": number}
        return [{"ph": "s", "pid": 10, "tid": 11, "ts": begin, **common}] + \
            [{"ph": "f", "pid": 0, "tid": 7, "ts": end, "bp": "e", **common} for end in ends]
    return [
        {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 10, "tid": 11, "ts": 0, "dur": 100},
        call(10), *arrow(1, 10, 20), kernel(20, "first", dur=10),
        call(30, "cudaMemcpyAsync"), *arrow(2, 31, 42), kernel(40, "Memcpy HtoD (Pinned -> Device)", cat="gpu_memcpy"),  # amid both
        call(50, "cudaGraphLaunch"), *arrow(3, 50, 60, 61), kernel(60, "of graph", dur=1), kernel(61, "of graph", dur=1),
        call(70), call(76), *arrow(4, 70), *arrow(4, 76, 82), kernel(82, "of one of two calls"),
        *arrow(5, 97, 99), kernel(99, "of no call"),
        call(110), *arrow(6, 110, 200),  # of no work
        call(300, correlation=77), *arrow(7, 300, 310), kernel(310, "known", correlation=77),
        call(400, correlation=78), *arrow(8, 400, 410), kernel(410, "half known"),
    ]


def test_work_that_arrows_alone_tie_to_its_call():
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as source:
        report = convert(work, write(source, "arrows.json", json.dumps(launch_events())))
        links = dict(rows(report, "SELECT s.value, r.start FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k "
                          "ON k.correlationId = r.correlationId AND r.correlationId != 0 AND k.globalPid = r.globalTid >> 24 << 24 JOIN StringIds AS s ON s.id = demangledName"))
        assert links == {"first": "10000", "of graph": "50000", "known": "300000", "half known": "400000"}, links
        assert rows(report, "SELECT r.start, c.start FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUPTI_ACTIVITY_KIND_MEMCPY AS c USING (correlationId)") == [("30000", "40000")]
        assert rows(report, "SELECT correlationId, start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IN (0, 77, 78)") == \
            [("0", "70000"), ("0", "76000"), ("0", "110000"), ("77", "300000"), ("78", "400000")]
        # What is not certain is kept as it is told.
        assert rows(report, "SELECT flowId, start, end FROM LNS_FLOWS ORDER BY flowId") == \
            [("4", "76000", "82000"), ("5", "97000", "99000"), ("6", "110000", "200000")]
        table = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", "nvtx_gpu_proj_sum", report], capture_output=True, text=True).stdout
        assert re.search(r"user_annotation:step,PushPop,42000,100000,1,.*,4,4.0,", table), table


def test_events_of_each_phase():
    for name, text in (("list.json", decimals(SMALL)), ("object.json.gz", '{"otherData": [{"traceEvents": 1}], "traceEvents": ' + decimals(SMALL) + ', "baseTimeNanoseconds": 5}'),
                       ("spaced.json", "\n \t" + decimals(SMALL).replace(",", " ,\n"))):
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as source:
            path = write(source, name, text)
            report = convert(work, path)
            check_small(report)
            told = subprocess.run([tap.LANESCOPE, "info", report], capture_output=True, text=True).stdout
            # Who has a name alone has no number.
            assert "\n  10 worker, " in told and "\n  Spans, 1 thread\n" in told, told
            left_out = [line.split("left out: ")[1] for line in told.splitlines() if "left out" in line]
            assert sorted(left_out) == ["1 end of a range that has no beginning", "1 event without a phase"], told


def test_beginnings_and_ends_find_each_other():
    """The last that began ends first, by thread, or by what asynchronous ones are called."""
    random.seed(4)
    events, expected, stacks = [], collections.Counter(), collections.defaultdict(list)
    for ts in range(10000):
        nested, key = random.random() < .5, random.randrange(1000)
        begins = random.random() < .6
        event = {"ph": ("B" if begins else "E") if nested else ("b" if begins else "e"), "pid": 1, "tid": key if nested else 7, "ts": ts}
        if begins or not nested:
            event["name"] = f"r{ts}" if nested else f"a{key}"
        if not nested:
            event |= {"cat": "c", "id": str(key % 9)}
        stack = stacks[nested, key, key % 9]
        if begins:
            stack.append((event["name"], ts))
        elif stack:
            name, start = stack.pop()
            expected[name, str(start * 1000), str(ts * 1000)] += 1
        events.append(event)
    for stack in stacks.values():
        expected.update((name, str(start * 1000), "open") for name, start in stack)
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as source:
        report = convert(work, write(source, "pairs.json", json.dumps([{"ph": "i", "pid": 1, "tid": 1, "ts": 0, "name": "first"}] + events)))
        got = collections.Counter(rows(report, "SELECT value, start, coalesce(end, 'open') FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType IN (59, 60)"))
        assert got == expected, (list((expected - got).items())[:3], list((got - expected).items())[:3])


def told_of(source, events, code=0):
    """What `import` and `info` say is left out of the trace EVENTS, and the report."""
    path, report = write(source, "told.json", json.dumps(events)), os.path.join(source, "told.rep")
    run = subprocess.run([tap.LANESCOPE, "import", "-f", "true", "-o", report, path], capture_output=True, text=True)
    assert run.returncode == code, run
    if code != 0:
        return run.stderr, None
    said = [line.split("left out: ")[1] for line in run.stderr.splitlines() if "left out: " in line]
    info = subprocess.run([tap.LANESCOPE, "info", report], capture_output=True, text=True).stdout
    kept = [line.split("left out: ")[1] for line in info.splitlines() if "left out: " in line]
    assert sorted(said) == sorted(kept), (said, kept)
    return sorted(said), report


def test_every_phase_has_a_place_or_is_counted():
    """Asynchronous operations of the old kind, objects and samples; what has no place is counted by its phase."""
    at = lambda ph, ts, name, tid=11, **more: {"ph": ph, "pid": 10, "tid": tid, "ts": ts, "name": name, "cat": "c", **more}
    events = [at("S", 0, "load", id="0x1"), at("T", 1, "load", id="0x1", args={"step": "parse"}), at("p", 2, "load", id="0x1", args={"step": "paint"}),
              at("F", 3, "load", tid=12, id="0x1"), at("N", 1, "Tab", id="0xA"), at("O", 2, "Tab", id="0xA", args={"snapshot": {"url": "x"}}),
              at("D", 9, "Tab", id="0xA"), at("P", 4, "sample", args={"data": [1]}), at("n", 5, "hit", id="0x2"), at("R", 6, "paint"), at("I", 7, "old"),
              at("C", 8, "heap", id="0x1", args={"value": 1}), at("C", 8, "heap", id="0x2", args={"value": 2}),
              at("c", 8, "clock_sync", args={"sync_id": "x"}), at("c", 9, "clock_sync"), at("v", 9, "dump", id="1"), at("(", 9, "context"), at("Z", 9, "what"),
              at("long", 9, "what"), at("e", 9, "no beginning", id="7"), at("D", 9, "no beginning", id="7"), at("f", 9, "no beginning", id="7")]
    with tempfile.TemporaryDirectory() as source:
        said, report = told_of(source, events)
        assert said == ["1 end of an arrow that has no other end", "1 event of phase ( (context)", "1 event of phase Z", "1 event of phase v (memory dump)",
                        "1 event of phases that no viewer knows", "2 ends of ranges that have no beginning", "2 events of phase c (clock synchronization)"], said
        got = rows(report, "SELECT value, eventType, start, coalesce(end, 'open'), globalTid & 0xffffff, coalesce(endGlobalTid & 0xffffff, ''), coalesce(uint64Value, ''), "
                           "coalesce(jsonText, '') FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType IN (34, 59, 60)")
        assert sorted(got) == sorted([
            ("load", "60", "0", "3000", "11", "12", "1", ""), ("load: parse", "34", "1000", "open", "11", "", "1", '{"step":"parse"}'),
            ("load: paint", "34", "2000", "open", "11", "", "1", '{"step":"paint"}'), ("Tab", "60", "1000", "9000", "11", "", "10", ""),
            ("Tab", "34", "2000", "open", "11", "", "10", '{"snapshot":{"url":"x"}}'), ("sample", "34", "4000", "open", "11", "", "", '{"data":[1]}'),
            ("hit", "34", "5000", "open", "11", "", "2", ""), ("paint", "34", "6000", "open", "11", "", "", ""), ("old", "34", "7000", "open", "11", "", "", "")]), got
        assert rows(report, "SELECT name, value FROM LNS_COUNTERS ORDER BY 1") == [("heap[0x1]", "1"), ("heap[0x2]", "2")]


def test_a_trace_without_anything_to_show_is_an_error():
    for events, reason in (([{"ph": "c", "pid": 1, "tid": 1, "ts": 1, "name": "clock_sync"}] * 3, "none of its 3 events can be shown: 3 events of phase c"),
                           ([{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "p"}}], "its only event cannot be shown;"),
                           ([{"ph": "E", "pid": 1, "tid": 1, "ts": 1}], "its only event cannot be shown: 1 end of a range"),
                           ([{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "x" * (17 << 20)}], "each event has more than 16 MiB of text")):
        with tempfile.TemporaryDirectory() as source:
            said, _ = told_of(source, events, code=125)
            assert reason in said and said.count("\n") == 1 and os.listdir(source) == ["told.json"], (said, os.listdir(source))


def ranges_of(report):
    return sorted(rows(report, "SELECT value, start, coalesce(end, 'open'), globalTid >> 24, coalesce(endGlobalTid >> 24, '') FROM NVTX_EVENTS JOIN StringIds ON id = textId "
                               "WHERE eventType IN (59, 60)"))


def test_asynchronous_ids_hold_in_a_process_or_in_all():
    at = lambda ph, pid, ts, **more: {"ph": ph, "pid": pid, "tid": 1, "ts": ts, "name": "r", "cat": "net", **more}
    cases = [
        # Two requests of 100 and 990 us: their ids are of their processes.
        ([at("b", 1, 0, id2={"local": "0x1"}), at("b", 2, 5, id2={"local": "0x1"}), at("e", 1, 100, id2={"local": "0x1"}), at("e", 2, 995, id2={"local": "0x1"})],
         [("r", "0", "100000", "1", ""), ("r", "5000", "995000", "2", "")]),
        ([at("b", 1, 0, id2={"local": "0x1"}), at("e", 2, 10, id2={"local": "0x1"})], [("r", "0", "open", "1", "")]),
        # One that goes from process to process.
        ([at("b", 1, 0, id2={"global": "0x1"}), at("e", 2, 10, id2={"global": "0x1"})], [("r", "0", "10000", "1", "2")]),
        ([at("b", 1, 0, id=7), at("e", 2, 10, id=7)], [("r", "0", "10000", "1", "2")]),
        # Many programs count from 1 in each process, and write plain ids.
        ([at("b", 1, 0, id=1), at("b", 2, 5, id=1), at("e", 1, 100, id=1), at("e", 2, 995, id=1)], [("r", "0", "100000", "1", ""), ("r", "5000", "995000", "2", "")]),
        # Scopes, categories and kinds of ids have nothing in common.
        ([at("b", 1, 0, id=1, scope="a"), at("b", 1, 1, id=1, scope="b"), at("e", 1, 2, id=1, scope="a"), at("e", 1, 4, id=1, scope="b")],
         [("r", "0", "2000", "1", ""), ("r", "1000", "4000", "1", "")]),
        ([at("b", 1, 0, id=1), at("F", 1, 2, id=1), at("e", 1, 3, id2={"local": 1})], [("r", "0", "open", "1", "")]),
    ]
    for events, expected in cases:
        for order in (events, events[::-1]):  # a file need not be in order
            with tempfile.TemporaryDirectory() as source:
                _, report = told_of(source, order)
                first = order[0]["ts"]
                shift = lambda time: time if time == "open" else str(int(time) - first * 1000)
                assert ranges_of(report) == sorted((name, shift(start), shift(end), *pids) for name, start, end, *pids in expected), (order, ranges_of(report))


def test_ranges_of_a_file_in_any_order():
    """Nested ranges come back the same however the file's events lie."""
    random.seed(6)
    events, expected, depth = [{"ph": "i", "pid": 1, "tid": 1, "ts": 0, "name": "first"}], [], 0
    stack = []
    for ts in range(1, 2001):
        if stack and (random.random() < .5 or len(stack) > 20):
            name, start = stack.pop()
            expected.append((name, str(start * 1000), str(ts * 1000), "1", ""))
            events.append({"ph": "E", "pid": 1, "tid": 1, "ts": ts})
        else:
            stack.append((f"r{ts}", ts))
            events.append({"ph": "B", "pid": 1, "tid": 1, "ts": ts, "name": f"r{ts}"})
    expected += [(name, str(start * 1000), "open", "1", "") for name, start in stack]
    rest = events[1:]
    random.shuffle(rest)
    with tempfile.TemporaryDirectory() as source:
        _, report = told_of(source, events[:1] + rest)
        assert ranges_of(report) == sorted(expected)


def test_arrows_are_rows_from_end_to_end():
    """Arrows that no correlation tells of, over several steps and processes; nothing of them is a mark."""
    at = lambda ph, pid, ts, **more: {"ph": ph, "pid": pid, "tid": 1, "ts": ts, "name": "send", "cat": "ipc", "id": 3, **more}
    with tempfile.TemporaryDirectory() as source:
        said, report = told_of(source, [at("s", 1, 0), at("t", 2, 10), at("f", 1, 30, bp="e"), at("s", 1, 40), at("s", 1, 50, id=9)])
        assert said == ["2 ends of arrows that have no other end"], said
        assert rows(report, "SELECT start, end, globalTid >> 24, endGlobalTid >> 24, category, flowId FROM LNS_FLOWS ORDER BY start") == \
            [("0", "10000", "1", "2", "ipc", "3"), ("10000", "30000", "2", "1", "ipc", "3")]
        assert rows(report, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34") == [("0",)]


def check_arrows(path, n, n_marks):
    """That the N arrows from forward to backward are rows, and that no mark but the file's own N_MARKS came of them."""
    with tempfile.TemporaryDirectory() as work:
        report, events = convert(work, path), load(path)
        ends = {event["id"]: event for event in events if event["ph"] == "f" and event["cat"] == "fwdbwd"}
        base = first_ns(events)
        expected = sorted((str(ns(event["ts"]) - base), str(ns(ends[event["id"]]["ts"]) - base), str(event["id"]))
                          for event in events if event["ph"] == "s" and event["cat"] == "fwdbwd")
        assert len(expected) == n and sorted(rows(report, "SELECT start, end, flowId FROM LNS_FLOWS")) == expected
        assert rows(report, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34") == [(str(n_marks),)]


def test_arrows_from_forward_to_backward():
    check_arrows(OWN_FILES[0], 8 * 4, 1)


def test_arrows_from_forward_to_backward_of_the_corpus():
    check_arrows(*corpus("rank-0.Apr_03_18_51_38.1102.pt.trace"), 905, 2)


def test_traces_that_are_cut_off():
    """Whole events are kept, and the report, the exit code and a line say that there were more."""
    events = [{"ph": "X", "pid": 1, "tid": 2, "ts": i, "dur": 1, "name": "n%d" % random.randrange(1 << 30)} for i in range(10000)]
    texts = json.dumps({"traceEvents": events}), json.dumps(events)
    with tempfile.TemporaryDirectory() as source:
        # Between two events: within a name it would be part of that.
        wrong = texts[0].index(", {", len(texts[0]) // 2) + 1
        cut = [write(source, "cut.json", texts[0][:len(texts[0]) // 2]), write(source, "wrong.json", texts[0][:wrong] + " oops " + texts[0][wrong:])]
        for i, text in enumerate(texts):
            with open(write(source, "whole.json.gz", text), "rb") as file:
                packed = file.read()
            for n in (len(packed) // 2, len(packed) - 4):  # in the middle, and in the checksum at the end
                cut.append(os.path.join(source, f"cut{i}-{n}.json.gz"))
                with open(cut[-1], "wb") as file:
                    file.write(packed[:n])
        # A list needs no end, so only the compressed data tell that there was one.
        cut.append(os.path.join(source, "list.json.gz"))
        with open(write(source, "whole.json.gz", "[" + json.dumps(events[0]) + "," * 1), "rb") as file, open(cut[-1], "wb") as half:
            half.write(file.read()[:-8])
        for path in cut:
            with tempfile.TemporaryDirectory() as work:
                report = convert(work, path, cut_off=True)
                (count,) = rows(report, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")
                assert 0 < int(count[0]) <= len(events), (path, count)
                told = subprocess.run([tap.LANESCOPE, "info", report], capture_output=True, text=True).stdout
                assert "LNS-IMPORT-002" in told and "\nstate: recovered\nmissing: what follows in " + path in told, told
                if path.endswith("/wrong.json"):
                    assert f'{path}: invalid value "oops" at byte {wrong + 1}\n' in told, told


def test_long_texts_are_left_out_and_told():
    """What is more than one event may have: all else is read. The parser holds no more than that of any text, even where the bytes at which it stops are
    those of an escape."""
    event = lambda name, more="": '{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "%s"%s}' % (name, more)
    whole = '{"otherData": {"LONG": ["x"]}, "traceEvents": [%s, %s, %s, %s]}' % (event("first"), event("LONG"), event("args", ', "args": {"x": "LONG"}'), event("last"))
    with tempfile.TemporaryDirectory() as source:
        path, report = os.path.join(source, "long.json"), os.path.join(source, "long.rep")
        with open(path, "w") as file:
            # Piece by piece: what Python holds when it starts a program counts as the program's memory.
            for part, escape in zip(whole.split("LONG"), ("\\\\", "\\u00e4", "y", None)):
                file.write(part)
                for _ in range(26 if escape else 0):
                    file.write(escape * ((1 << 20) // len(escape)))
        run = subprocess.Popen([tap.LANESCOPE, "import", "-o", report, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        assert status == 0 and said == "lanescope: left out: 2 events of more than 16 MiB\n", (status, said)
        assert rows(report, "SELECT value FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType = 59 ORDER BY 1") == [("first",), ("last",)]
        assert usage.ru_maxrss < 200 << 10, usage.ru_maxrss


def test_lists_without_an_end():
    """A compressed MiB says a thousand times as many; what came before is kept."""
    event = '{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "a"%s}'
    for opening in ("[", '{"a":'):
        with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as work:
            path, report = os.path.join(source, "deep.json.gz"), os.path.join(work, "deep.rep")
            with gzip.open(path, "wb", 1) as file:
                file.write(('{"traceEvents": [%s, %s' % (event % "", event % ', "args": {"x": ')).rstrip("}").encode())
                for _ in range(256):
                    file.write(opening.encode() * ((1 << 20) // len(opening)))
            run = subprocess.Popen([tap.LANESCOPE, "import", "-o", report, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = run.stderr.read()
            _, status, usage = os.wait4(run.pid, 0)
            assert os.waitstatus_to_exitcode(status) == 125 and " to its end: " in said, (status, said)
            assert rows(report, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59") == [("1",)]
            assert usage.ru_maxrss < 128 << 10, usage.ru_maxrss


def compressed(path, parts):
    """Writes the trace whose list of events PARTS, any number of texts, are. Piece by piece, as Python's memory counts as the program's."""
    with gzip.open(path, "wb", 1) as file:
        file.write(b'{"traceEvents": [')
        for part in parts:
            file.write(part.encode())
        file.write(b'{"ph": "X", "pid": 1, "tid": 1, "ts": 9, "dur": 1, "name": "last"}]}')


def test_a_file_that_is_made_to_take_long_is_refused():
    """20 million events in 0.4 MB. As large, but compressed as traces are, or not at all, they are imported."""
    event = '{"ph": "X", "ts": 1},'
    with tempfile.TemporaryDirectory() as source:
        path, report = os.path.join(source, "bomb.json.gz"), os.path.join(source, "bomb.rep")
        compressed(path, (event * 100000 for _ in range(200)))
        run = subprocess.run([tap.LANESCOPE, "import", "-o", report, path], capture_output=True, text=True)
        assert run.returncode == 125 and run.stderr.endswith(
            "bomb.json.gz holds over 100 times its compressed size, which traces do not; if you trust it, decompress it with gunzip first\n"), run
        assert not os.path.exists(report)
        small = os.path.join(source, "small.json.gz")
        compressed(small, (event * 100000 for _ in range(20)))  # 42 MB
        assert subprocess.run([tap.LANESCOPE, "import", "-q", "-o", report, small]).returncode == 0


def test_a_small_file_takes_little_memory():
    """A compressed MiB says a million threads, counters or open ranges, or a GB of text: what is not kept is told."""
    event = '{"ph": "X", "pid": %s, "tid": %s, "ts": %d, "dur": 1, "name": "%s", "cat": "%s", "args": {"device": 0, "stream": %s}},'
    # As much as traces are compressed, or more.
    megabyte = random.Random(1).randbytes(16 << 10).hex() + "x" * ((1 << 20) - (32 << 10))
    shapes = {
        "threads": ((event % (1, i, 1, "a", "c", 0) for i in range(120000)), r"8723\d events of threads, domains, counters or streams beyond 32,768"),
        "domains": ((event % (1, 1, 1, "a", f"c{i}", 0) for i in range(120000)), r"8723\d events of threads, domains, counters or streams beyond 32,768"),
        "streams": ((event % (1, 1, 1, "a", "kernel", i) for i in range(120000)), r"8723\d events of threads, domains, counters or streams beyond 32,768"),
        "counters": (('{"ph": "C", "pid": 1, "ts": 1, "name": "%d", "args": {"v": 1}},' % i for i in range(120000)),
                     r"87\d\d\d events of threads, domains, counters or streams beyond 32,768"),
        "open": (('{"ph": "B", "ts": 1},' * 10000 for _ in range(200)), "951424 beginnings and ends after 1,048,576 ranges were open at one time: they are not paired"),
        "texts": ((part for i in range(40) for part in (f'{{"ph": "X", "ts": 1, "name": "{i}', *[megabyte] * 14, '"},')), None),
        "rows": ((part for i in range(40) for part in (f'{{"ph": "X", "ts": {100 - i}, "name": "a", "args": {{"x": "', *[megabyte] * 14, '"}},')), None),
    }
    for name, (parts, told) in shapes.items():
        with tempfile.TemporaryDirectory() as source:
            path, report = os.path.join(source, "small.json.gz"), os.path.join(source, "small.rep")
            compressed(path, parts)
            run = subprocess.Popen([tap.LANESCOPE, "import", "-o", report, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = run.stderr.read()
            _, status, usage = os.wait4(run.pid, 0)
            assert status == 0 and (re.search(told, said) if told else said == ""), (name, status, said)
            # A sanitizer needs memory of its own for each allocation.
            assert usage.ru_maxrss < (512 if "ASAN_OPTIONS" in os.environ else 256) << 10, (name, usage.ru_maxrss)
            if name == "streams":  # which the rules read all along each other
                run = subprocess.Popen([tap.LANESCOPE, "analyze", "-q", report], stdout=subprocess.DEVNULL)
                _, status, usage = os.wait4(run.pid, 0)
                assert status == 0 and usage.ru_maxrss < 256 << 10, (status, usage.ru_maxrss)
            assert rows(report, "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE value = 'last'") == \
                [("0" if name in ("threads", "domains", "streams", "counters") else "1",)], name


def test_arguments_that_nest_too_deep_are_left_out_and_told():
    """What is kept of "args" is JSON, whatever comes within them and behind."""
    event = '{"ph": "X", "pid": 1, "tid": 1, "ts": %d, "dur": 1, "name": "%s", "args": {"before": 1, "deep": %s, "behind": {"x": [2]}}}'
    lists = lambda n: event % (n, f"lists {n}", "[" * n + "3" + "]" * n)
    objects = lambda n: event % (5000 + n, f"objects {n}", '{"a":' * n + "3" + "}" * n)
    depths = (1, 125, 126, 127, 128, 129, 1000, 9000)
    with tempfile.TemporaryDirectory() as source:
        path, report = write(source, "deep.json", "[" + ",".join(make(n) for make in (lists, objects) for n in depths) + "]"), os.path.join(source, "deep.rep")
        run = subprocess.run([tap.LANESCOPE, "import", "-o", report, path], capture_output=True, text=True)
        assert run.returncode == 0 and "left out: 10 events' \"args\", which nest more than 127 lists and objects\n" in run.stderr, run
        got = dict(rows(report, "SELECT value, coalesce(jsonText, '') FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType = 59"))
        assert len(got) == 2 * len(depths)
        for name, text in got.items():
            kind, n = name.split()
            if int(n) > 126:
                assert text == "", (name, text)
                continue
            deep = 3
            for _ in range(int(n)):
                deep = [deep] if kind == "lists" else {"a": deep}
            assert json.loads(text) == {"before": 1, "deep": deep, "behind": {"x": [2]}}, name


def test_the_name_of_a_report():
    with tempfile.TemporaryDirectory() as source:
        for name, report in (("a.json", "a.rep"), ("b.pt.trace.json.gz", "b.pt.trace.rep"), ("c.gz", "c.rep"), ("d", "d.rep"), (".json.gz", ".json.rep")):
            run = subprocess.run([tap.LANESCOPE, "import", "-q", write(source, name, json.dumps(SMALL))], capture_output=True, text=True)
            assert run.returncode == 0 and os.path.exists(os.path.join(source, report)), (name, run, os.listdir(source))


def test_what_json_does_not_know():
    """Numbers that are none, control characters in texts, a mark in front, a list without an end."""
    events = ",".join('{"ph": "X", "pid": 1, "tid": 2, "ts": %d, "dur": 1, "name": "tab\tinf: NaN, %d", "args": {"gb": %s, "x": [%s], "l": true, "n": 1e-5}}' %
                      (i, i, ("inf", "-Infinity", "NaN", "-nan", "2.5")[i % 5], ("nan,-inf", "null")[i % 2]) for i in range(9000))
    for name, text in (("list.json", "[" + events + "]"), ("open.json", "[" + events), ("comma.json", "[" + events + ",\n"),
                       ("mark.json.gz", "\ufeff" + '{"traceEvents": [' + events + "]}")):
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as source:
            report = convert(work, write(source, name, text))
            got = rows(report, "SELECT value, start, jsonText FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType = 59 ORDER BY start")
            assert len(got) == 9000, (name, len(got))
            for i, (text_of, start, arguments) in enumerate(got):
                assert text_of == f"tab inf: NaN, {i}" and int(start) == i * 1000, (name, i, text_of, start)
                expected = {"gb": 2.5 if i % 5 == 4 else None, "x": [None, None] if i % 2 == 0 else [None], "l": True, "n": 1e-5}
                assert json.loads(arguments) == expected, (name, arguments)
            told = subprocess.run([tap.LANESCOPE, "info", report], capture_output=True, text=True).stdout
            assert "LNS-IMPORT" not in told, told


def test_events_that_do_not_tell_when_are_counted():
    with tempfile.TemporaryDirectory() as source:
        path = write(source, "when.json", json.dumps([{"ph": "X", "pid": 1, "tid": 2, "ts": ts, "dur": 1, "name": "n"} for ts in (1, "soon", 1e30, None, 5)]))
        run = subprocess.run([tap.LANESCOPE, "import", path], capture_output=True, text=True)
        assert run.returncode == 0 and "left out: 3 rows without a usable time or place" in run.stderr, run


def test_a_report_does_not_take_the_place_of_its_source():
    with tempfile.TemporaryDirectory() as source:
        path = write(source, "own.json", json.dumps(SMALL))
        os.link(path, path + ".rep")
        for out in (path, path + ".rep"):
            run = subprocess.run([tap.LANESCOPE, "import", "-f", "true", "-o", out, path], capture_output=True, text=True)
            assert run.returncode == 125 and "would replace it" in run.stderr and run.stderr.count("\n") == 1, run
            assert load(path), path


def test_what_is_no_trace():
    for text in ("[]", "{}", '{"traceEvents": []}', "[1, 2", '{"traceEvents": 5}', "{" * 100, '{"a": "' + "x" * 100000):
        with tempfile.TemporaryDirectory() as source:
            path = write(source, "no.json", text)
            run = subprocess.run([tap.LANESCOPE, "import", "-o", os.path.join(source, "out.rep"), path], capture_output=True, text=True)
            assert run.returncode == 125 and run.stderr.count("lanescope: error:") == 1 and "no trace events" in run.stderr, run
            assert os.listdir(source) == ["no.json"], os.listdir(source)


def test_stats_opens_one():
    with tempfile.TemporaryDirectory() as work:
        run = subprocess.run([tap.LANESCOPE, "stats", "-q", "-r", "cuda_gpu_kern_sum", "--format", "csv", OWN_FILES[0]], capture_output=True, text=True,
                             env={**os.environ, "XDG_CACHE_HOME": work})
        assert run.returncode == 0 and "void lane::reduce<256>(float*, int)" in run.stdout, run


tap.main(globals(), long=(test_a_small_file_takes_little_memory, test_a_file_that_is_made_to_take_long_is_refused))
