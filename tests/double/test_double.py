# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Compares the double's records with what the programs do: counts, shapes and bytes follow from their sources."""

import bare
import tap


def durations(records):
    return [r["end"] - r["start"] for r in records]


def test_vector_add():
    # cuda-vectoradd.cu: N = 4096 floats, REPEATS = 100 launches of N / 256 blocks.
    n, repeats = 4096, 100
    done = bare.run("cuda-vectoradd")
    kernels = done.records(bare.KERNEL)
    assert len(kernels) == repeats
    for kernel in kernels:
        assert kernel["name"] == "_Z3addPKfS0_Pfi"
        assert (kernel["gridX"], kernel["gridY"], kernel["gridZ"]) == (n // 256, 1, 1)
        assert (kernel["blockX"], kernel["blockY"], kernel["blockZ"]) == (256, 1, 1)
        assert kernel["registersPerThread"] == 16 + len(kernel["name"]) % 64
    assert set(durations(kernels)) == {bare.kernel_ns(n // 256, 256)}
    starts = [k["start"] for k in kernels]
    assert all(a["end"] <= b["start"] for a, b in zip(kernels, kernels[1:])), "one stream is in order"
    assert starts == sorted(starts)
    copies = done.records(bare.MEMCPY)
    assert [(c["copyKind"], c["bytes"], c["srcKind"], c["dstKind"]) for c in copies] \
        == [(1, 4 * n, 1, 3), (1, 4 * n, 1, 3), (2, 4 * n, 3, 1)]
    assert set(durations(copies)) == {bare.copy_ns(4 * n, "pageable")}


def test_every_operation_has_its_call():
    done = bare.run("cuda-vectoradd")
    calls = {call["correlationId"]: call for call in done.records(bare.RUNTIME)}
    assert len(calls) == len(done.records(bare.RUNTIME)), "ids are unique"
    for kernel in done.records(bare.KERNEL):
        call = calls[kernel["correlationId"]]
        assert call["cbid"] == 505, "__cudaLaunchKernel_v13000"
        assert call["start"] <= kernel["queued"] <= call["end"] and kernel["start"] >= kernel["queued"]
    assert {calls[c["correlationId"]]["cbid"] for c in done.records(bare.MEMCPY)} == {31}, "cudaMemcpy"
    launches = done.callbacks(2, 505)
    assert len(launches) == 200 and {c["symbol"] for c in launches} == {"_Z3addPKfS0_Pfi"}
    for call in done.callbacks(2, exit=1):
        assert call["tag"] == 1000000 + call["correlationId"] and call["result"] == 0


def test_streams():
    # cuda-streams.cu: STREAMS = 4, LAUNCHES = 25 of 65536 blocks of 512 threads, PER_THREAD = 3.
    done = bare.run("cuda-streams")
    busy = done.records(bare.KERNEL, name="_Z4busyPi")
    wide = [k for k in busy if k["gridX"] == 65536]
    small = [k for k in busy if k["gridX"] == 1]
    assert len(wide) == 4 * 25 and len(small) == 3
    assert set(durations(wide)) == {bare.kernel_ns(65536, 512)}
    by_stream = {}
    for kernel in wide:
        by_stream.setdefault(kernel["streamId"], []).append(kernel)
    assert [len(k) for k in by_stream.values()] == [25] * 4
    assert sorted({k["dynamicSharedMemory"] for k in wide}) == [0, 1024, 2048, 3072]
    for kernels in by_stream.values():
        kernels.sort(key=lambda k: k["start"])
        assert all(a["end"] <= b["start"] for a, b in zip(kernels, kernels[1:])), "a stream is in order"
    ordered = sorted(wide, key=lambda k: k["start"])
    assert any(a["end"] > b["start"] for a, b in zip(ordered, ordered[1:])), "streams overlap"
    join = done.records(bare.KERNEL, name="_Z4joinPii")
    assert len(join) == 1 and join[0]["start"] >= max(k["end"] for k in wide), "the null stream waited for the events"
    flags = {s["streamId"]: (s["flag"], s["priority"]) for s in done.records(bare.STREAM)}
    assert sorted(flags[s] for s in by_stream) == [(1, 0), (1, 0), (2, -5), (2, 0)]
    assert flags[join[0]["streamId"]][0] == 3, "the null stream"
    assert {k["streamId"] for k in small}.isdisjoint(list(by_stream) + [join[0]["streamId"]])
    # The events around the first stream's work: its kernels and nothing else lie between them.
    first = by_stream[min(by_stream)]
    events = {e["eventId"]: e["deviceTimestamp"] for e in done.records(bare.EVENT)}
    microseconds = float(done.stdout)
    assert abs((events[2] - events[1]) / 1000 - microseconds) < 0.01
    assert events[1] <= first[0]["start"] and events[2] == first[-1]["end"]
    syncs = done.records(bare.SYNC)
    assert [len([s for s in syncs if s["type"] == t]) for t in (1, 2, 3, 4)] == [1, 4, 1 + 4, 1]


def graph_nodes(done, records=(bare.KERNEL, bare.MEMSET, bare.MEMCPY)):
    return [r for kind in records for r in done.records(kind) if r["graphId"] != 0]


def test_graphs_by_node():
    # cuda-graphs.cu: CAPTURED = 10 of 4 nodes, BUILT = 5 of 3 nodes and a child's kernel.
    done = bare.run("cuda-graphs")
    nodes = graph_nodes(done)
    assert len(nodes) == 10 * 4 + 5 * 4
    launches = [c["correlationId"] for c in done.records(bare.RUNTIME, cbid=311)]
    assert len(launches) == 15 and {n["correlationId"] for n in nodes} == set(launches)
    for correlation in launches[:10]:
        own = {n.get("name", "set"): n for n in nodes if n["correlationId"] == correlation}
        left, right, merge = own["_Z4leftPi"], own["_Z5rightPi"], own["_Z5mergePi"]
        assert own["set"]["end"] <= min(left["start"], right["start"])
        assert left["start"] == right["start"], "side by side"
        assert merge["start"] >= max(left["end"], right["end"])
        assert (left["gridX"], right["gridX"], merge["gridX"]) == (2, 4, 8)
    for correlation in launches[10:]:
        own = sorted((n for n in nodes if n["correlationId"] == correlation), key=lambda n: n["start"])
        assert [n["kind"] for n in own] == [bare.MEMSET, bare.KERNEL, bare.MEMCPY, bare.KERNEL]
        assert [n.get("gridX") for n in own] == [None, 5, None, 3] and own[2]["bytes"] == 4096
        assert all(a["end"] <= b["start"] for a, b in zip(own, own[1:]))
    assert len({n["graphId"] for n in nodes}) == 2 and len({n["graphNodeId"] for n in nodes}) == 8
    created, cloned, instances = (done.callbacks(3, cbid) for cbid in (13, 20, 18))
    # The child's node is cloned with the graph around it, and that node stands for the child itself.
    assert (len(created), len(cloned), len(instances)) == (4 + 1 + 4, 4 + 5, 2)


def test_graphs_as_a_whole():
    done = bare.run("cuda-graphs", kinds=[1, 2, 5, 10, 51])
    graphs = done.records(bare.GRAPH)
    assert len(graphs) == 15 and not graph_nodes(done)
    launches = [c["correlationId"] for c in done.records(bare.RUNTIME, cbid=311)]
    assert [g["correlationId"] for g in graphs] == launches
    assert all(a["end"] <= b["start"] for a, b in zip(graphs, graphs[1:]))
    whole = bare.kernel_ns(4, 128) + bare.kernel_ns(8, 64) + bare.set_ns(4096)
    assert set(durations(graphs[:10])) == {whole - bare.kernel_ns(4, 128) + bare.kernel_ns(2, 256)}


def test_copies():
    # cuda-memory.cu, copies: BYTES = 1 MiB, 100 rows of 400 bytes.
    mib = 1 << 20
    done = bare.run("cuda-memory", ["copies"], env={"LNS_DOUBLE_DEVICES": "2"})
    copies = [(c["copyKind"], c["srcKind"], c["dstKind"], c["flags"], c["bytes"], c["end"] - c["start"])
              for c in done.records(bare.MEMCPY)]
    assert copies == [
        (1, 1, 3, 0, mib, bare.copy_ns(mib, "pageable")),
        (8, 3, 3, 0, mib, bare.copy_ns(mib, "device")),
        (2, 3, 1, 0, mib, bare.copy_ns(mib, "pageable")),
        (1, 2, 3, 1, mib // 2, bare.copy_ns(mib // 2, "pinned")),
        (2, 3, 2, 1, mib // 2, bare.copy_ns(mib // 2, "pinned")),
        (9, 2, 2, 0, mib // 4, bare.copy_ns(mib // 4, "host")),
        (1, 1, 3, 0, 40000, bare.copy_ns(40000, "pageable")),
        (2, 3, 1, 0, 40000, bare.copy_ns(40000, "pageable")),
        (1, 1, 6, 0, 1024, bare.copy_ns(1024, "pageable")),
        (2, 3, 1, 0, 64, bare.copy_ns(64, "pageable")),
    ], copies
    sets = [(s["value"], s["bytes"], s["memoryKind"], s["flags"]) for s in done.records(bare.MEMSET)]
    assert sorted(sets) == [(0, mib // 8, 3, 1), (0x5a, mib, 3, 0)]
    peers = done.records(bare.PEER)
    assert [(p["copyKind"], p["bytes"], p["srcDeviceId"], p["dstDeviceId"]) for p in peers] == [(10, mib, 0, 1)]
    devices = done.records(bare.DEVICE)
    assert [d["id"] for d in devices] == [0, 1] and len({d["name"] for d in devices}) == 1
    assert {c["deviceId"] for c in done.records(bare.CONTEXT)} == {0, 1}


def test_pools():
    # cuda-memory.cu, pools: 10 blocks of 1 to 10 MiB from the default pool, 3 MiB from an own one.
    mib = 1 << 20
    done = bare.run("cuda-memory", ["pools"])
    memory = done.records(bare.MEMORY)
    blocks = [(m["memoryOperationType"], m["bytes"]) for m in memory]
    sizes = [mib * (i + 1) for i in range(10)]
    assert blocks == [(1, s) for s in sizes] + [(2, s) for s in sizes] + [(1, 3 * mib), (2, 3 * mib)]
    assert all(m["isAsync"] == 1 and m["memoryPoolConfig.memoryPoolType"] == 1 for m in memory)
    assert memory[9]["memoryPoolConfig.utilizedSize"] == sum(sizes)
    pools = done.records(bare.POOL)
    assert [p["memoryPoolOperationType"] for p in pools] == [1, 1, 3, 2] and len({p["address"] for p in pools}) == 2
    assert memory[20]["memoryPoolConfig.address"] == pools[1]["address"]
    assert done.records(bare.KERNEL)[0]["gridX"] == mib // 256


def test_managed_memory():
    # cuda-memory.cu, managed: 1 MiB that a kernel faults in and 2 MiB prefetched; the first goes back.
    mib = 1 << 20
    done = bare.run("cuda-memory", ["managed"])
    counters = [(c["counterKind"], c["value"]) for c in done.records(bare.MANAGED)]
    assert counters == [(1, 2 * mib), (4, 256), (1, mib), (2, mib)]
    moved = done.records(bare.MANAGED, counterKind=2)[0]
    assert moved["end"] - moved["start"] == 1000 + mib // 12
    assert [m["memoryKind"] for m in done.records(bare.MEMORY)] == [5, 5, 5, 5]


def test_threads():
    # cuda-threads.cu: THREADS = 4 with LAUNCHES = 250 of number + 1 blocks on a stream of their own.
    done = bare.run("cuda-threads")
    kernels = done.records(bare.KERNEL)
    calls = {c["correlationId"]: c for c in done.records(bare.RUNTIME)}
    assert len(kernels) == 1000 and len({k["correlationId"] for k in kernels}) == 1000
    seen = {(calls[k["correlationId"]]["threadId"], k["streamId"], k["gridX"]) for k in kernels}
    assert sorted(s[2] for s in seen) == [1, 2, 3, 4], "one stream and one grid to a thread"
    assert len({s[0] for s in seen}) == 4 and len({s[1] for s in seen}) == 4
    assert {calls[k["correlationId"]]["cbid"] for k in kernels} == {506}, "the per-thread launch"
    assert not {s[1] for s in seen} & {c["nullStreamId"] for c in done.records(bare.CONTEXT)}
    ids = [c["correlationId"] for c in done.records(bare.RUNTIME)]
    assert len(ids) == len(set(ids)) == 4 * (2 + 250 + 3)


def test_profiler_ranges():
    # cuda-ranges.cu: REPEATS = 3 ranges of INSIDE = 10 kernels, OUTSIDE = 4 before each.
    done = bare.run("cuda-ranges")
    assert len(done.callbacks(2, 171, exit=1)) == 3 and len(done.callbacks(2, 172, exit=0)) == 3
    starts = [c["end"] for c in done.records(bare.RUNTIME, cbid=171)]
    stops = [c["start"] for c in done.records(bare.RUNTIME, cbid=172)]
    assert len(starts) == len(stops) == 3
    for start, stop in zip(starts, stops):
        within = [k["name"] for k in done.records(bare.KERNEL) if start <= k["start"] < stop]
        assert within == ["_Z6insidePi"] * 10
    assert len(done.records(bare.KERNEL, name="_Z7outsidePi")) == 12


def test_launches():
    done = bare.run("cuda-launches")
    calls = {c["correlationId"]: c["cbid"] for c in done.records(bare.RUNTIME)}
    shapes = [(calls[k["correlationId"]], k["name"], k["gridX"], k["gridY"], k["gridZ"], k["blockX"], k["blockY"],
               k["blockZ"], k["dynamicSharedMemory"], k["launchType"], k["clusterX"])
              for k in done.records(bare.KERNEL)]
    plain = "_Z5plainPi"
    assert shapes == [
        (505, "_ZN6shapes4fillIiLi4EEEvPT_S1_", 1, 1, 1, 32, 1, 1, 0, 0, 0),
        (505, "_ZN6shapes4fillIdLi2EEEvPT_S1_", 2, 1, 1, 64, 1, 1, 0, 0, 0),
        (505, plain, 4, 3, 2, 8, 4, 2, 2048, 0, 0),
        (211, plain, 5, 1, 1, 96, 1, 1, 4096, 0, 0),
        (269, plain, 6, 1, 1, 64, 1, 1, 512, 1, 0),
        (430, plain, 8, 1, 1, 128, 1, 1, 1024, 0, 2),
    ], shapes
    assert done.stdout == f"{16 + len(plain) % 64} {2048 // 256}\n", "what a program asks agrees with the records"
    assert done.records(bare.KERNEL, name=plain)[0]["registersPerThread"] == 16 + len(plain) % 64
    # Each kernel is loaded when it is first launched.
    assert len(done.records(bare.OVERHEAD, overheadKind=5 << 16)) == 3


def test_driver_calls_inside_the_runtime():
    done = bare.run("cuda-vectoradd", env={"LNS_DOUBLE_NESTED_DRIVER": "1"})
    inner = sorted(done.records(bare.DRIVER, cbid=307), key=lambda c: c["start"])
    outer = sorted(done.records(bare.RUNTIME, cbid=505), key=lambda c: c["start"])
    assert len(inner) == len(outer) == 100
    for call, around in zip(inner, outer):
        assert around["start"] <= call["start"] <= call["end"] <= around["end"]
    assert {k["correlationId"] for k in done.records(bare.KERNEL)} == {c["correlationId"] for c in outer}


def test_driver_api():
    # cuda-driver.c: LAUNCHES = 10 of each of two ways, N = 2048 cells of 4 bytes.
    done = bare.run("cuda-driver")
    assert done.stdout == "Lanescope Double GPU\n"
    calls = {c["correlationId"]: c["cbid"] for c in done.records(bare.DRIVER)}
    assert not done.records(bare.RUNTIME)
    kernels = [(calls[k["correlationId"]], k["contextId"], k["gridX"], k["gridY"], k["blockX"], k["graphId"] != 0)
               for k in done.records(bare.KERNEL, name="scale")]
    assert kernels == [(307, 1, 8, 1, 256, False), (652, 1, 3, 2, 64, False)] * 10 \
        + [(477, 1, 4, 1, 32, False)] + [(514, 1, 2, 1, 32, True)] * 3 + [(307, 2, 1, 1, 96, False)], kernels
    copies = [(calls[c["correlationId"]], c["copyKind"], c["srcKind"], c["bytes"]) for c in done.records(bare.MEMCPY)]
    assert sorted(copies) == [(276, 1, 1, 8192), (277, 1, 2, 8192), (278, 2, 3, 8192), (281, 8, 3, 8192)], copies
    assert sorted((s["value"], s["bytes"]) for s in done.records(bare.MEMSET)) == [(7, 2048), (0xabcd, 8192)]
    assert len(done.records(bare.JIT)) == 2, "each load of PTX compiles"
    assert [c["contextId"] for c in done.records(bare.CONTEXT)] == [1, 2]
    assert len(done.callbacks(3, 6)) == 2 and len(done.callbacks(3, 7)) == 1, "modules loaded, unloaded"
    assert [c["result"] for c in done.callbacks(1, 23, exit=1)] == [0, 500, 0], "cuModuleGetFunction"
    for launch in done.callbacks(1, 307):
        assert launch["symbol"] == "scale"


def day(name, **options):
    return bare.Run([bare.program("cuda-days"), *name.split()], **options)


def test_a_kernel_that_faults():
    # cuda-days.cu: KERNELS = 20 before it; its own record never comes, and the error sticks.
    done = day("fault")
    assert (done.status, done.stdout) == (4, "700 700\n")
    assert len(done.records(bare.KERNEL)) == 20
    assert [c["returnValue"] for c in done.records(bare.RUNTIME)][-2:] == [700, 700]
    assert done.callbacks(6, 2), "CUPTI tells the tool"


def test_no_more_memory():
    done = day("memory", env={"LNS_DOUBLE_MEMORY_MIB": "1024"})
    assert (done.status, done.stdout) == (0, "15 2\n"), "16 times 64 MiB, less what the program holds"
    failed = [c for c in done.records(bare.RUNTIME, cbid=20) if c["returnValue"] == 2]
    assert len(failed) == 1 and len(done.records(bare.MEMORY)) == 1 + 2 * 15


def test_reset():
    done = day("reset")
    assert done.status == 0 and len(done.records(bare.KERNEL)) == 40
    assert [c["contextId"] for c in done.records(bare.CONTEXT)] == [1, 2]
    assert [k["contextId"] for k in done.records(bare.KERNEL)] == [1] * 20 + [2] * 20
    assert len(done.callbacks(3, 2)) == 1, "the first context is destroyed"


def test_fork_after_init():
    done = day("fork")
    assert (done.status, done.stdout) == (0, "3\n"), "cudaErrorInitializationError in the child"
    assert len(done.records(bare.KERNEL)) == 40


def test_end_by_exit_from_a_thread():
    done = day("exit")
    assert done.status == 3
    assert not done.records(bare.KERNEL), "nothing was flushed: buffers were not full"
    flushed = day("exit", env={"LNS_CLIENT_BUFFER_BYTES": "512"})
    assert flushed.status == 3 and flushed.records(bare.RUNTIME), "full ones were"


def test_work_that_outlives_the_program():
    # cuda-days.cu, long: 3 kernels of 2^20 blocks of 512 threads, and no wait for them.
    done = day("long")
    kernels = done.records(bare.KERNEL)
    assert done.status == 0 and len(kernels) == 3
    assert kernels[-1]["start"] == 0 and kernels[-1]["end"] == 0, "forced out without times"


def test_a_queue_that_is_full():
    # cuda-days.cu, many: 40 kernels of 2^22 blocks of 512 threads, in all more than 250 ms.
    done = day("many")
    assert done.status == 0 and 40 * bare.kernel_ns(1 << 22, 512) > 250e6
    assert set(durations(done.records(bare.KERNEL))) == {bare.kernel_ns(1 << 22, 512)}
    assert done.records(bare.OVERHEAD, overheadKind=6 << 16)


tap.main(globals())
