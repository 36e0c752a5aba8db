# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests what `lanescope profile -t cuda` records of the programs cuda-* on the double. Expected values follow from
the programs' sources. This shows nothing about a real GPU or its driver."""

import collections
import json
import os
import re
import subprocess

import profiling
import tap

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
MIB = 1 << 20
RUNTIME = 1 << 32  # a callback id of the runtime's
HTOD, DTOH, DTOD, HTOH, PTOP = 1, 2, 8, 9, 10
PAGEABLE, PINNED, DEVICE = 1, 2, 3


def program(name):
    folder = "double" if name == "cuda-driver" else "programs"
    path = os.path.join(tap.BUILD, "tests", folder, name)
    if not os.path.exists(path):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")
    return path


def record(name, *arguments, switches=(), env=None):
    """The run of program NAME, and its report."""
    with profiling.Folder() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
        run = folder.profile("-t", "cuda,nvtx", *switches, program(name), *arguments, before=[WITH],
                             env={**environment, **(env or {})})
        assert run.code == 0, f"{name}: {run.code}: {run.err}"
        report = folder.report()
    assert report.info["lost"] == 0 and not report.codes(), (report.info, report.diagnostics)
    return run, report


def kernels(report, **fields):
    return [dict(event, **{k: v for k, v in report.launches[event["launch"]].items() if k != "launch"})
            for event in report.of("cuda-kernel", **fields)]


def calls(report, base=None):
    """How often each thread made each call, without the number that CUPTI puts behind its name."""
    count = collections.Counter()
    for event in report.of("cuda-api"):
        count[event["thread"], re.sub(r"(_ptsz|_ptds)?_v\d+$", "", event["name"])] += 1
    return count if base is None else sum(n for (_, name), n in count.items() if name == base)


def expect_links(report):
    """Each event of a GPU leads to its one call, and that call back to it."""
    assert report.links
    for row in report.links:
        assert row["calls"] == row["events"] == row["back"], row


def expect_order(report, kind):
    """No stream does two things at once, and none before its call."""
    called = {event["correlation"]: event["start"] for event in report.of("cuda-api")}
    last = collections.defaultdict(int)
    for event in report.of(kind):
        assert event["start"] >= last[event["stream"]], event
        last[event["stream"]] = event["start"] + event["duration"]
        assert event["start"] >= called[event["correlation"]], event
        assert event["lane"] == 0, event


def near(actual_ns, expected_ns):
    """Equal but for what lies between two readings of a clock."""
    return abs(actual_ns - expected_ns) <= 300 + expected_ns // 1000


def test_launches_go_by_their_public_name():
    # What nvcc 13 makes of <<<>>> is __cudaLaunchKernel of the runtime, which nobody calls by that name.
    with profiling.Folder() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
        run = folder.profile("-t", "cuda", program("cuda-vectoradd"), before=[WITH], env=environment)
        n = len(folder.report().of("cuda-kernel"))
        path = folder.file("report1.rep")

        def lanescope(*words):
            return subprocess.run([tap.LANESCOPE, *words], capture_output=True, check=True, timeout=60, cwd=folder.path).stdout.decode()
        counted = lanescope("sql", path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON nameId = id "
                            "WHERE value LIKE 'cudaLaunch%'").split()[-1]
        summed = [line.split() for line in lanescope("stats", "-q", "-r", "cuda_api_sum", path).splitlines() if "Launch" in line]
        lanescope("export", "-t", "chrome", "-o", "out.json", path)
        with open(folder.file("out.json"), encoding="utf-8") as file:
            arrows = [e["ph"] for e in json.load(file)["traceEvents"] if e.get("cat") == "ac2g"]
    assert run.code == 0 and n == 100 and int(counted) == n, (n, counted)
    assert [row[-1] for row in summed] == ["cudaLaunchKernel"] and str(n) in summed[0], summed
    assert arrows.count("s") >= n and arrows.count("f") >= n, collections.Counter(arrows)


def test_system_calls_of_the_engine_are_left_out():
    """Those of our thread, of CUPTI's start and of its end. What the program calls is recorded."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,osrt,syscall", "--osrt-threshold=0", "-o", "r.rep", program("cuda-vectoradd"), before=[WITH])
        assert run.code == 0, run
        if "[LNS-CPU-0" in run.err:
            raise tap.Skip("system calls are not recorded here")

        def rows(query):
            return subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"), query], capture_output=True, text=True, check=True).stdout.splitlines()
        ours = "globalTid IN (SELECT globalTid FROM ThreadNames JOIN StringIds ON id = nameId WHERE value = 'lanescope')"
        for table in ("SYSCALL", "OSRT_API"):
            assert rows(f"SELECT value FROM {table} JOIN StringIds ON id = nameId WHERE {ours}") == [], table
            assert int(rows(f"SELECT count(*) FROM {table}")[0]) > 0, table
        assert rows("SELECT DISTINCT value FROM SYSCALL JOIN StringIds ON id = nameId WHERE value IN ('connect', 'ppoll', 'recvmsg')") == []
        assert len(rows("SELECT 1 FROM ThreadNames JOIN StringIds ON id = nameId WHERE value = 'lanescope'")) == 1


def test_vector_add():
    # cuda-vectoradd.cu: N = 4096 floats, REPEATS = 100 launches of N / 256 blocks.
    n, repeats = 4096, 100
    _, report = record("cuda-vectoradd")
    done = kernels(report)
    assert len(done) == repeats
    assert {(k["name"], k["short"], k["mangled"]) for k in done} \
        == {("add(float const*, float const*, float*, int)", "add", "_Z3addPKfS0_Pfi")}
    assert {(tuple(k["grid"]), tuple(k["block"])) for k in done} == {((n // 256, 1, 1), (256, 1, 1))}
    assert len(report.launches) == 1, "a hundred launches of one shape"
    assert all(near(k["duration"], 2000 + 1 * (1000 + 256)) for k in done)
    copies = report.of("cuda-memcpy")
    assert [(c["copy-kind"], c["bytes"], c["memory-kinds"]) for c in copies] == [
        (HTOD, 4 * n, PAGEABLE | DEVICE << 8)] * 2 + [(DTOH, 4 * n, DEVICE | PAGEABLE << 8)]
    assert copies[0]["name"] == "[CUDA memcpy Host-to-Device]"
    made = {call: n for (_, call), n in calls(report).items()}
    assert made == {"cudaMalloc": 3, "cudaMemcpy": 3, "cudaLaunchKernel": repeats,
                    "cudaDeviceSynchronize": 1, "cudaFree": 3}, calls(report)
    assert {e["return-value"] for e in report.of("cuda-api")} == {0}
    expect_links(report)
    expect_order(report, "cuda-kernel")
    expect_order(report, "cuda-memcpy")


def test_ways_to_launch():
    # cuda-launches.cu, in the order of its main ().
    _, report = record("cuda-launches")
    done = [(k["name"], k["short"], k["grid"], k["block"], k["dynamic"], k["cluster"]) for k in kernels(report)]
    plain = ("plain(int*)", "plain")
    assert done[0][:4] == ("void shapes::fill<int, 4>(int*, int)", "fill", [1, 1, 1], [32, 1, 1])
    assert done[1][:4] == ("void shapes::fill<double, 2>(double*, double)", "fill", [2, 1, 1], [64, 1, 1])
    assert done[2:] == [
        (*plain, [4, 3, 2], [8, 4, 2], 2048, [0, 0, 0]),
        (*plain, [5, 1, 1], [96, 1, 1], 4096, [0, 0, 0]),
        (*plain, [6, 1, 1], [64, 1, 1], 512, [0, 0, 0]),
        (*plain, [8, 1, 1], [128, 1, 1], 1024, [2, 1, 1])], done
    assert calls(report, "cudaLaunchKernel") == 4
    assert calls(report, "cudaLaunchCooperativeKernel") == calls(report, "cudaLaunchKernelExC") == 1
    expect_links(report)


def test_streams_and_events():
    # cuda-streams.cu: STREAMS = 4, LAUNCHES = 25, PER_THREAD = 3; busy on 65536 blocks of 512.
    run, report = record("cuda-streams", switches=["--cuda-event-trace=true"])
    done = kernels(report)
    wide = [k for k in done if k["grid"][0] == 65536]
    by_stream = collections.defaultdict(list)
    for kernel in wide:
        by_stream[kernel["stream"]].append(kernel)
    assert [len(k) for k in by_stream.values()] == [25] * 4
    assert sorted({k["dynamic"] for k in wide}) == [0, 1024, 2048, 3072]
    flags = {s["stream"]: (s["flags"], s["priority"]) for s in report.streams}
    assert sorted(flags[s] for s in by_stream) == [(1, 0), (1, 0), (2, -5), (2, 0)]
    join, = [k for k in done if k["short"] == "join"]
    assert flags[join["stream"]][0] == 3 and join["start"] >= max(k["start"] + k["duration"] for k in wide)
    small = [k for k in done if k["short"] == "busy" and k["grid"][0] == 1]
    assert len(small) == 3 and len(done) == 100 + 1 + 3
    assert collections.Counter(s["sync-type"] for s in report.of("cuda-sync")) == {1: 1, 2: 4, 3: 5, 4: 1}
    assert calls(report, "cudaStreamCreate") + calls(report, "cudaStreamCreateWithFlags") \
        + calls(report, "cudaStreamCreateWithPriority") == 4
    # What the program measured with its first two events, in microseconds, lies between them here.
    events = {e["cuda-event"]: e["start"] for e in report.of("cuda-event")}
    assert len(events) == 2 + 4
    assert near(events[2] - events[1], int(float(run.out) * 1000)), (events, run.out)
    last, = [e for e in report.of("cuda-event") if e["cuda-event"] == 2]
    end = max(k["start"] + k["duration"] for k in by_stream[last["stream"]])
    asked, = [c for c in report.of("cuda-api") if c["correlation"] == last["correlation"]]
    # Times of CUPTI's own clock may have been converted by different readings of it, which differ by some us. Where the machine
    # was busy, the event was asked for when the kernel had ended.
    assert abs(events[2] - end) <= min(k["duration"] for k in wide) // 8 or (events[2] > end and asked["start"] + asked["duration"] > end), (end, last, asked)
    expect_links(report)
    expect_order(report, "cuda-kernel")


def test_threads():
    # cuda-threads.cu: THREADS = 4, LAUNCHES = 250 each, BYTES = 4096; grids by thread.
    _, report = record("cuda-threads")
    count = calls(report)
    workers = [t for (t, name), n in count.items() if name == "cudaLaunchKernel" and n == 250]
    assert len(workers) == 4
    assert all(count[t, "cudaMalloc"] == count[t, "cudaFree"] == count[t, "cudaMemcpy"] == 1 for t in workers)
    assert collections.Counter((k["grid"][0], k["short"]) for k in kernels(report)) \
        == {(n + 1, "step"): 250 for n in range(4)}
    thread_of = {e["correlation"]: e["thread"] for e in report.of("cuda-api")}
    for stream in {k["stream"] for k in kernels(report)}:
        own = kernels(report, stream=stream)
        assert len(own) == 250 and len({k["grid"][0] for k in own}) == 1
        assert len({thread_of[k["correlation"]] for k in own}) == 1
    assert sorted(c["copy-kind"] for c in report.of("cuda-memcpy")) == [HTOD] * 4 + [DTOH] * 4
    assert {c["bytes"] for c in report.of("cuda-memcpy")} == {4096}
    expect_links(report)
    expect_order(report, "cuda-kernel")


def test_copies_and_sets():
    # cuda-memory.cu, copies: BYTES = 1 MiB, 100 rows of 400 bytes, a table of 256 integers.
    _, report = record("cuda-memory", "copies", env={"LNS_DOUBLE_DEVICES": "2"})
    done = [(c["copy-kind"], c["bytes"]) for c in sorted(report.of("cuda-memcpy"), key=lambda c: c["correlation"])]
    assert done == [(HTOD, MIB), (DTOD, MIB), (DTOH, MIB), (HTOD, MIB // 2), (DTOH, MIB // 2), (HTOH, MIB // 4),
                    (HTOD, 40000), (DTOH, 40000), (HTOD, 1024), (DTOH, 64), (PTOP, MIB)], done
    peer, = report.of("cuda-memcpy", **{"copy-kind": PTOP})
    assert peer["peers"] & 0xff == 0 and peer["peers"] >> 32 & 0xff == 1, "from device 0 to device 1"
    sets = [(s["bytes"], s["set-value"]) for s in sorted(report.of("cuda-memset"), key=lambda s: s["correlation"])]
    assert sets == [(MIB, 0x5a), (MIB // 8, 0)]
    assert len(report.devices) == 2 and report.devices[0]["bus"] != report.devices[1]["bus"]
    expect_links(report)


def test_graphs_as_a_whole():
    # cuda-graphs.cu: CAPTURED = 10 and BUILT = 5 launches.
    _, report = record("cuda-graphs")
    assert len(report.of("cuda-graph")) == 15 and not report.of("cuda-kernel")
    # What was made: two graphs and what runs of them.
    made = report.of("cuda-graph-node")
    assert {m["name"] for m in made} == {"Graph creation", "Graph instantiation"} and not any(m["graph-node"] for m in made), made
    assert {m["graph-exec"] for m in made if m["name"] == "Graph instantiation"} == {g["graph"] for g in report.of("cuda-graph")}, made
    assert calls(report, "cudaGraphLaunch") == 15
    assert collections.Counter(g["graph"] for g in report.of("cuda-graph")).most_common()[0][1] == 10
    expect_links(report)


def test_graphs_by_node():
    # Of the captured one a set and three kernels; of the built one a set, two kernels and a copy.
    _, report = record("cuda-graphs", switches=["--cuda-graph-trace=node"])
    assert not report.of("cuda-graph")
    assert collections.Counter(k["short"] for k in kernels(report)) \
        == {"left": 10 + 5, "right": 10, "merge": 10 + 5}
    assert len(report.of("cuda-memset")) == 15 and len(report.of("cuda-memcpy")) == 5
    assert len({k["graph-node"] for k in kernels(report)}) == 5 and all(k["graph"] for k in kernels(report))
    # The nodes of a launch are all of the one call.
    launched = [e["correlation"] for e in report.of("cuda-api") if "GraphLaunch" in e["name"]]
    by_call = collections.Counter(k["correlation"] for k in kernels(report))
    assert [by_call[c] for c in launched] == [3] * 10 + [2] * 5
    assert report.of("cuda-graph-node")


def test_pools_are_counted_where_asked_for():
    # cuda-memory.cu, pools: ten blocks of 1 to 10 MiB from the default pool, 3 MiB from its own.
    _, report = record("cuda-memory", "pools", switches=["--cuda-memory-usage=true"])
    taken = [m["bytes"] for m in report.of("cuda-memory") if m["operation"] & 0xff == 1]
    freed = [m["bytes"] for m in report.of("cuda-memory") if m["operation"] & 0xff == 2]
    assert sorted(taken) == sorted(freed) == sorted([MIB * (i + 1) for i in range(10)] + [3 * MIB])
    used = [e["extra0"] for e in report.of("counter", name="Device memory")]
    assert max(used) == MIB * 55 and used[-1] == 0
    assert {p["name"] for p in report.of("cuda-pool")} >= {"Pool creation", "Pool trimming", "Pool destruction"}
    _, report = record("cuda-memory", "pools")
    assert not report.of("cuda-memory") and not report.of("counter")


def test_managed_memory_moves():
    # cuda-memory.cu, managed: 2 MiB prefetched to the device, 1 MiB faulted there and back.
    switches = ["--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true"]
    _, report = record("cuda-memory", "managed", switches=switches)
    moved = collections.Counter()
    for copy in report.of("cuda-memcpy"):
        moved[copy["copy-kind"]] += copy["bytes"]
    assert moved == {11: 3 * MIB, 12: MIB}, moved


def names_by_nvtx(report_path):
    def rows(table):
        asked = subprocess.run([tap.LANESCOPE, "sql", "-j", report_path, f"SELECT * FROM TARGET_INFO_NVTX_CUDA_{table}"],
                               capture_output=True, check=True)
        return json.loads(asked.stdout)
    return rows("DEVICE"), rows("CONTEXT"), rows("STREAM")


def test_names_of_cuda_objects():
    # cuda-driver.c names a device, a context and two streams of it; cuda-streams.cu two streams, one of them twice.
    for program_name, devices, contexts, streams in (
            ("cuda-driver", ["the first"], ["main"], ["Strom für Arbeit", "default"]),
            ("cuda-streams", [], [], ["non-blocking", "urgent"])):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda,nvtx", program(program_name), before=[WITH],
                                 env={k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")})
            report = folder.report()
            named = names_by_nvtx(folder.file("report1.rep"))
        assert not report.codes() and [sorted(row["name"] for row in rows) for rows in named] == [devices, contexts, streams], named
        known = {s["number"]: report.contexts[s["context"]]["number"] for s in report.streams}
        pids = {p["pid"] for p in report.processes}
        for row in named[2]:
            assert known[row["streamId"]] == row["contextId"] and row["processId"] in pids, (row, known)
        assert all(row["contextId"] == named[2][0]["contextId"] for row in named[1])
        assert not any("cuStreamGetCtx" in e["name"] for e in report.of("cuda-api")), "what we ask is not the program's"
        # The kernels of a named stream are on it.
        assert all(any(report.streams[k["stream"]]["number"] == row["streamId"] for k in report.of("cuda-kernel"))
                   for row in named[2] if row["name"] in ("urgent", "non-blocking", "Strom für Arbeit"))


def test_green_contexts_of_cuda_13_2():
    # cuda-driver.c makes two contexts; on the double the second one is green.
    _, report = record("cuda-driver", env={"LNS_DOUBLE_GREEN": "1", "LNS_DOUBLE_CUPTI_VERSION": "130200", "LNS_DOUBLE_DRIVER_VERSION": "13020"})
    assert [(c["green"], c["multiprocessors"]) for c in report.contexts] == [(0, 132), (1, 66)], report.contexts
    assert report.contexts[1]["parent"] == report.contexts[0]["number"]
    assert {report.streams[k["stream"]]["context"] for k in kernels(report)} == {0, 1}


def test_the_driver_alone():
    # cuda-driver.c: LAUNCHES = 10 of two ways each and a cooperative one, a graph of one kernel
    # thrice, one kernel in the second context; N = 2048 cells of 4 bytes.
    run, report = record("cuda-driver")
    assert run.out == "Lanescope Double GPU\n"
    done = kernels(report)
    assert collections.Counter((tuple(k["grid"]), k["block"][0], k["short"]) for k in done) == {
        ((8, 1, 1), 256, "scale"): 10, ((3, 2, 1), 64, "scale"): 10, ((4, 1, 1), 32, "scale"): 1,
        ((1, 1, 1), 96, "scale"): 1}
    assert len(report.of("cuda-graph")) == 3
    assert sorted((c["copy-kind"], c["bytes"]) for c in report.of("cuda-memcpy")) == [
        (HTOD, 8192), (HTOD, 8192), (DTOH, 8192), (DTOD, 8192)]
    assert sorted((s["set-value"], s["bytes"]) for s in report.of("cuda-memset")) == [(7, 2048), (0xabcd, 8192)]
    assert len({report.streams[k["stream"]]["context"] for k in done}) == 2
    assert all(e["callback"] < RUNTIME for e in report.of("cuda-api"))
    assert calls(report, "cuLaunchKernel") == 10 + 1 + 1 and calls(report, "cuLaunchKernelEx") == 10
    expect_links(report)


def test_training_and_the_sample():
    # cuda-training.cu: STEPS = 8, LAYERS = 4; the sample is a run of it.
    _, fresh = record("cuda-training")
    for report in (fresh, profiling.Report(os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep"))):
        assert report.info["state"] == profiling.COMPLETE and not report.codes()
        assert [d["text"][:22] for d in report.diagnostics if d["code"] == "LNS-CUDA-015"] == ["recorded without a GPU"]
        assert collections.Counter(k["short"] for k in kernels(report)) \
            == {"gemm": 8 * 4 * 3, "layer_norm": 8 * 4, "relu": 8 * 4, "adam_step": 8}
        assert collections.Counter(c["copy-kind"] for c in report.of("cuda-memcpy")) == {HTOD: 8, DTOH: 8}
        ranges = collections.Counter(e["name"] for e in report.of("range"))
        assert ranges == {"step": 8, "load": 8, "forward": 8, "backward": 8, "optimizer": 8, "layer": 32}
        expect_links(report)


def test_what_the_report_says_of_the_machine():
    _, report = record("cuda-vectoradd", env={"LNS_DOUBLE_DEVICES": "2", "LNS_DOUBLE_NAMES": "Same"})
    assert [d["name"] for d in report.devices] == ["Same", "Same"], report.devices
    assert len({(d["bus"], d["uuid"]) for d in report.devices}) == 2, "two GPUs of one name"
    assert {d["code"] for d in report.diagnostics} <= {"LNS-CUDA-015", "LNS-GPU-001"}, report.diagnostics
    assert "LNS-CUDA-015" in [d["code"] for d in report.diagnostics]
    assert report.info["cupti_version"] == "130001" and report.info["cuda_driver_version"] == "13.0"


if __name__ == "__main__":
    tap.main(globals())
