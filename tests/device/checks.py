# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The checks. What a report must hold follows from the source of the recorded program."""

import collections
import os
import re
import signal
import subprocess
import threading
import time

from machine import CouldNot, Recording, tail

MIB = 1 << 20
HTOD, DTOH = 1, 2
UM_HTOD = 11
WORK = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")


def process_of(thread):
    return thread >> 24 << 24


def called(report):
    """CUDA calls by process and correlation."""
    return {(process_of(call["globalTid"]), call["correlationId"]): call
            for call in report.rows("RUNTIME", "start, end, globalTid, correlationId")}


def expect_links(report):
    """Checks that each GPU operation has the call that requested it, and that the call began first."""
    calls = called(report)
    n = 0
    for kind in WORK:
        unified = "WHERE copyKind < 11" if kind == "MEMCPY" else ""  # the driver moves pages by itself
        for row in report.rows(kind, "start, globalPid, correlationId", unified):
            call = calls.get((row["globalPid"], row["correlationId"]))
            assert call is not None, f"no call for {kind.lower()} {row['correlationId']}"
            assert row["start"] >= call["start"], f"{kind.lower()} {row['correlationId']} began before its call"
            n += 1
    assert n > 0, "nothing of a GPU is in the report"


def expect_order(report):
    """Checks that no stream runs two kernels at once. Nodes of a graph may overlap."""
    ends = collections.defaultdict(int)
    for kernel in report.kernels():
        assert kernel["end"] > kernel["start"], f"kernel {kernel['correlationId']} takes {kernel['end'] - kernel['start']} ns"
        if not kernel["graphNodeId"]:
            stream = kernel["globalPid"], kernel["contextId"], kernel["streamId"]
            assert kernel["start"] >= ends[stream], f"two kernels at once in stream {kernel['streamId']}"
            ends[stream] = kernel["end"]


def expect_whole(report, kernels):
    """Checks that the report is complete, lost nothing, and has the KERNELS expected by name, in order. KERNELS is None
    for a library's kernels, which may begin before the previous kernel ends."""
    troubles = [line.strip() for line in report.info.splitlines() if re.match(r"  LNS-\S+ (warning|error): ", line)]
    assert not troubles, " ".join(troubles)
    assert (report.fact("state"), report.fact("lost")) == ("complete", "0"), f"{report.fact('state')}, {report.fact('lost')} lost"
    count = collections.Counter(kernel["name"] for kernel in report.kernels())
    expect_links(report)
    if kernels is not None:
        assert count == kernels, f"kernels {dict(count)}, not {kernels}"
        expect_order(report)


def vector_add(machine, program="cuda-vectoradd"):
    report, _ = machine.record(program, [machine.program(program)])
    expect_whole(report, {"add": 100})
    assert {(k["gridX"], k["blockX"]) for k in report.kernels()} == {(16, 256)}
    copies = [(c["copyKind"], c["bytes"]) for c in report.rows("MEMCPY", rest="ORDER BY start")]
    assert copies == [(HTOD, 16384)] * 2 + [(DTOH, 16384)], copies
    devices = report.sql("SELECT name FROM TARGET_INFO_GPU")
    assert devices and devices[0]["name"] == machine.gpu == report.fact("GPU"), devices
    assert report.fact("CUPTI") and report.fact("CUDA driver") == machine.driver
    return "100 kernels, 3 copies"


def vector_add_static(machine):
    if machine.is_double:
        raise CouldNot("a static runtime finds no driver on the double")
    return vector_add(machine, "vectoradd-static")


def event_times(machine):
    report, out = machine.record("event-times", [machine.program("event-times")])
    expect_whole(report, {"spin": 9})
    told_us = [float(line) for line in out.split()]
    kernels = report.kernels()[1:]
    assert len(told_us) == 8 == len(kernels)
    worst = max(abs((k["end"] - k["start"]) / 1000 / us - 1) for k, us in zip(kernels, told_us))
    if machine.is_double:
        raise CouldNot("on the double one clock plays both sides")
    assert worst <= 0.02, f"{worst:.2%} beside cudaEventElapsedTime"
    return f"at most {worst:.2%} beside cudaEventElapsedTime, over 8 kernels"


def streams(machine):
    report, _ = machine.record("cuda-streams", [machine.program("cuda-streams")])
    expect_whole(report, {"busy": 4 * 25 + 3, "join": 1})
    wide = [k for k in report.kernels() if k["gridX"] == 65536]
    assert sorted(collections.Counter(k["streamId"] for k in wide).values()) == [25] * 4
    overlaps = sum(a["end"] > b["start"] and a["streamId"] != b["streamId"] for a, b in zip(wide, wide[1:]))
    assert overlaps > 0, "no two kernels of different streams overlap"
    return f"104 kernels, {overlaps} neighbours overlap"


def graphs_whole(machine):
    report, _ = machine.record("cuda-graphs", [machine.program("cuda-graphs")])
    expect_whole(report, {})
    graphs = collections.Counter(row["graphId"] for row in report.rows("GRAPH_TRACE"))
    assert sorted(graphs.values()) == [5, 10], graphs
    return "15 launches of 2 graphs"


def graphs_by_node(machine):
    report, _ = machine.record("cuda-graphs-node", [machine.program("cuda-graphs")], "--cuda-graph-trace=node")
    expect_whole(report, {"left": 15, "right": 10, "merge": 15})
    assert len(report.rows("MEMSET")) == 15 and len(report.rows("MEMCPY")) == 5 and not report.rows("GRAPH_TRACE")
    return "40 kernels, 15 sets, 5 copies"


def pools(machine):
    report, _ = machine.record("cuda-memory-pools", [machine.program("cuda-memory"), "pools"], "--cuda-memory-usage=true")
    expect_whole(report, {"touch": 1})
    # Allocations of cudaMalloc and of the driver are there too; these are the program's, from pools.
    memory = collections.defaultdict(list)
    for row in report.sql("SELECT memoryOperationType, bytes FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE localMemoryPoolAddress > 0"):
        memory[row["memoryOperationType"]].append(row["bytes"])
    expected = sorted([MIB * (i + 1) for i in range(10)] + [3 * MIB])
    assert sorted(memory[0]) == sorted(memory[1]) == expected, dict(memory)
    return "11 blocks from 2 pools, each freed"


def managed(machine):
    report, _ = machine.record("cuda-memory-managed", [machine.program("cuda-memory"), "managed"],
                               "--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true")
    expect_whole(report, {"touch": 1})
    moved = sum(c["bytes"] for c in report.rows("MEMCPY", rest=f"WHERE copyKind = {UM_HTOD}"))
    # A driver may move more than the pages that are touched.
    assert 3 * MIB <= moved <= (3 if machine.is_double else 8) * MIB, f"{moved} bytes of managed memory went to the device, not {3 * MIB}"
    return f"{moved / MIB:g} MiB moved to the device"


def cublas(machine):
    if machine.is_double:
        raise CouldNot("cuBLAS does not run on the double")
    report, _ = machine.record("matrices", [machine.program("matrices")], trace="cuda,nvtx,cublas")
    expect_whole(report, None)
    calls = report.sql("SELECT e.start, e.end, e.globalTid FROM CUBLAS_EVENTS e JOIN StringIds s ON s.id = e.nameId"
                       " WHERE s.value LIKE 'cublasSgemm%'")
    assert len(calls) == 12, f"{len(calls)} calls of cublasSgemm, not 12"
    api = called(report)
    launched = [api[k["globalPid"], k["correlationId"]] for k in report.kernels()]
    for call in calls:
        assert any(call["start"] <= one["start"] <= call["end"] for one in launched), "a product without a kernel"
    return f"12 products, {len(launched)} kernels"


def threads(machine):
    report, _ = machine.record("cuda-threads", [machine.program("cuda-threads")])
    expect_whole(report, {"step": 1000})
    calls = called(report)
    by_thread = collections.Counter((calls[k["globalPid"], k["correlationId"]]["globalTid"], k["gridX"], k["streamId"])
                                    for k in report.kernels())
    assert sorted(n for n in by_thread.values()) == [250] * 4, by_thread
    return "4 threads of 250 kernels"


def ranges(machine):
    machine.execute([machine.program("cuda-ranges")], before=machine.profile_command(
        "cuda-ranges", "-c", "cudaProfilerApi", "--capture-range-end=repeat"))
    for number in (1, 2, 3):
        expect_whole(Recording(machine, f"cuda-ranges.{number}"), {"inside": 10})
    assert not os.path.exists(machine.file("cuda-ranges.4.rep")), "there is a fourth report"
    return "3 reports of 10 kernels"


def ranges_ahead(machine):
    machine.execute([machine.program("cuda-ranges"), "async"], before=machine.profile_command(
        "cuda-ranges-ahead", "-c", "cudaProfilerApi", "--capture-range-end=repeat"))
    n_missing = 0
    for number in (1, 2, 3):
        report = Recording(machine, f"cuda-ranges-ahead.{number}")
        blocks = collections.Counter((k["name"], k["gridX"]) for k in report.kernels())
        # On a busy machine the last records may come too late for the report, which then counts them as lost.
        missing = sum(int(n) for n in re.findall(r"LNS-CUDA-014 \w+: (\d+) ", report.info))
        assert blocks == {("inside", (1 << 18) + number): 10 - missing} or missing == 10 and not blocks, \
            f"range {number} has {dict(blocks)}, and says that {missing} are missing"
        if blocks:
            expect_links(report)
        n_missing += missing
    return f"3 reports of 10 kernels, most of which ran after their range; {n_missing} were told as missing"


def reset(machine):
    report, _ = machine.record("cuda-days-reset", [machine.program("cuda-days"), "reset"])
    expect_whole(report, {"step": 40})
    return "20 kernels before and after cudaDeviceReset"


def forked(machine):
    report, out = machine.record("cuda-days-fork", [machine.program("cuda-days"), "fork"])
    assert out.strip() == "3", f"the child's cudaMalloc gave {out.strip()}, not cudaErrorInitializationError"
    assert collections.Counter(k["name"] for k in report.kernels()) == {"step": 40}
    expect_links(report)
    return f"the parent's 40 kernels; that the child is not recorded is {'' if 'LNS-CUDA-007' in report.info else 'not '}told"


def faulting(machine):
    report, out = machine.record("cuda-days-fault", [machine.program("cuda-days"), "fault"], code=4)
    assert out.split()[0] not in ("0", ""), out
    steps = sum(k["name"] == "step" for k in report.kernels())
    assert steps == 20, f"{steps} kernels before the one that faults, not 20"
    codes = sorted(set(re.findall(r"LNS-CUDA-\d+", report.info)))
    return f"20 kernels before a fault; told: {', '.join(codes) or 'nothing'}"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def killed(machine):
    tool = subprocess.Popen([*machine.profile_command("cuda-killed", "--cuda-flush-interval=100"),
                             machine.program("cuda-days"), "loop", "30"],
                            env=machine.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watchdog = threading.Timer(60, tool.kill)
    watchdog.start()
    try:
        assert tool.stdout.readline() == "ready\n", tail(tool.stderr.read())
        time.sleep(0.5)  # by then some records are in the report, some in shared memory, and some still in CUPTI's buffers
        target, = children(tool.pid)
        os.kill(target, signal.SIGKILL)
        _, err = tool.communicate()
    finally:
        watchdog.cancel()
    assert tool.returncode == -signal.SIGKILL, f"{tool.returncode}: {tail(err)}"
    report = Recording(machine, "cuda-killed")
    kernels = report.kernels()
    # The program waits for 21 rounds of 20 before it prints "ready".
    assert {k["name"] for k in kernels} == {"step"} and len(kernels) >= 420, len(kernels)
    expect_links(report)
    expect_order(report)
    return f"{len(kernels)} kernels kept"


def workers(machine):
    report, _ = machine.record("workers", ["python3", "-m", "workers", machine.program("liblaunches.so")])
    expect_whole(report, {"empty": 600})
    by_process = sorted(collections.Counter(k["globalPid"] for k in report.kernels()).values())
    assert by_process == [100, 200, 300], by_process
    return "3 processes of 100, 200 and 300 kernels"


def training(machine):
    machine.expect_torch()
    steps, warm = 20, 5
    report, _ = machine.record("training", ["python3", "train.py", str(steps)], env=machine.torch_env)
    expect_whole(report, None)
    kernels = report.kernels()
    assert sum("spin_kernel" in k["name"] for k in kernels) == steps + warm, "not one torch.cuda._sleep in each step"
    spans = collections.defaultdict(list)
    for row in report.sql("SELECT COALESCE(n.text, s.value) AS name, n.start, n.end FROM NVTX_EVENTS n"
                          " LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType = 59 ORDER BY n.start"):
        spans[row["name"]].append((row["start"], row["end"]))
    calls = called(report)
    at = [calls[k["globalPid"], k["correlationId"]]["start"] for k in kernels]
    for name in ("step", "forward", "backward", "optimizer"):
        assert len(spans[name]) == steps + warm, f"{len(spans[name])} ranges `{name}`, not {steps + warm}"
        inside = [sum(start <= t <= end for t in at) for start, end in spans[name][warm:]]
        # Each step does the same work, so it has the same number of kernels.
        assert inside[0] > 0 and len(set(inside)) == 1, f"kernels launched in `{name}`: {inside}"
    return f"{len(kernels)} kernels, {inside[0]} of them in each `optimizer`"


ALL = {
    "vector add": vector_add,
    "vector add, static runtime": vector_add_static,
    "times against CUDA events": event_times,
    "streams overlap": streams,
    "graphs as a whole": graphs_whole,
    "graphs by node": graphs_by_node,
    "memory pools": pools,
    "managed memory": managed,
    "cuBLAS": cublas,
    "threads": threads,
    "cudaProfilerStart and Stop, repeated": ranges,
    "ranges that kernels outlive": ranges_ahead,
    "cudaDeviceReset": reset,
    "fork after cuInit": forked,
    "kernel that faults": faulting,
    "kill -9 midway": killed,
    "python3 -m with workers": workers,
    "PyTorch training": training,
}
