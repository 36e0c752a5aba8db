# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Checks of programs in C++ and CUDA. What a report must hold follows from the source of the recorded program. A check's
first line says what must hold."""

import collections
import contextlib
import json
import os
import re
import signal
import statistics
import threading
import time

from expect import calls_of, expect_complete, expect_links, expect_order, expect_whole
from machine import BARE_CLIENT, BUILD, LANESCOPE, CouldNot, children, tail

MIB = 1 << 20
HTOD, DTOH = 1, 2
UM_HTOD = 11
DOUBLES = {"12.4": "12.4", "12.8": "12.9", "13.2": "13.0", "13.5": "13.0"}  # the double's CUPTI that is nearest
LAG_S = 2  # how far the GPU's rows of a growing report may be behind


def vector_add(machine, program="cuda-vectoradd"):
    """100 kernels and 3 copies, their shapes and bytes; GPU, CUPTI and driver version as the driver gives them"""
    report, _ = machine.record([machine.program(program)])
    expect_whole(machine, report, {"add": 100})
    assert {(k["gridX"], k["blockX"]) for k in report.kernels()} == {(16, 256)}
    copies = [(c["copyKind"], c["bytes"]) for c in report.rows("MEMCPY", rest="ORDER BY start")]
    assert copies == [(HTOD, 16384)] * 2 + [(DTOH, 16384)], copies
    devices = report.sql("SELECT name FROM TARGET_INFO_GPU")
    assert devices and devices[0]["name"] == machine.gpu == report.fact("GPU"), devices
    assert report.fact("CUPTI") and report.fact("CUDA driver") == machine.driver
    machine.measured(kernels=100, copies=3, cupti=report.fact("CUPTI"))


def million(machine):
    """1,000,000 launches: as many kernels, each with times, after its call and after the kernel before it; nothing dropped"""
    count_launches(machine, machine.size(1_000_000, 20_000), every=1)


def ten_million(machine):
    """10,000,000 launches: as many kernels, each with times; nothing dropped. One in 16 is compared with its call"""
    count_launches(machine, machine.size(10_000_000, 40_000), every=16)


def clocks(machine):
    """A client that only counts gets 300,000 kernels, all with times, if CUPTI's clock is its own; and if it is the client's?"""
    count_with_clocks(machine, machine.size(300_000, 20_000), double_folder() if machine.is_double else None)


def graphs_before_range(machine):
    """A graph made and launched before cudaProfilerStart: its 7 launches in the range, and the range's one kernel"""
    report = record_range(machine, "graph")
    assert report.count("GRAPH_TRACE") == 7, report.count("GRAPH_TRACE")
    expect_whole(machine, report, {"within": 1})


def graphs_before_range_by_node(machine):
    """By node, a graph made and launched before cudaProfilerStart: its 14 kernels in the range, and the range's one kernel"""
    report = record_range(machine, "node")
    assert report.count("GRAPH_TRACE") == 0
    expect_whole(machine, report, {"step": 14, "within": 1})


def repeats(machine):
    """3 ranges by cudaProfilerStart: 3 reports of 10 kernels each, and no kernel from outside"""
    machine.execute([*machine.profile_command("report", "-c", "cudaProfilerApi", "--capture-range-end=repeat"),
                     machine.program("cuda-ranges")])
    for number in (1, 2, 3):
        expect_whole(machine, machine.report(f"report.{number}"), {"inside": 10})
    assert not os.path.exists(machine.file("report.4.rep")), "there is a fourth report"


def repeats_ahead(machine):
    """3 ranges whose kernels run after them: each of the 10 kernels is in the report of its range"""
    machine.execute([*machine.profile_command("report", "-c", "cudaProfilerApi", "--capture-range-end=repeat"),
                     machine.program("cuda-ranges"), "async"])
    n_missing = 0
    for number in (1, 2, 3):
        report = machine.report(f"report.{number}")
        blocks = collections.Counter((k["name"], k["gridX"]) for k in report.kernels())
        missing = sum(int(n) for n in re.findall(r"LNS-CUDA-014 \w+: (\d+) ", report.info))
        assert blocks == {("inside", (1 << 18) + number): 10 - missing} or missing == 10 and not blocks, \
            f"range {number} has {dict(blocks)}, and says that {missing} are missing"
        if blocks:
            expect_links(machine, report)
        n_missing += missing
    machine.measured(missing=n_missing)
    # On a busy machine without a GPU the last records may come too late, which the report tells.
    assert n_missing == 0 or machine.is_double, f"{n_missing} kernels are told as missing"


def launch_start(machine):
    """`launch`, then `start` and `stop` twice: each report has kernels, and launches of the graph made before the first"""
    session = f"device-{os.getpid()}"
    tool = machine.start([LANESCOPE, "launch", f"--session-new={session}", "-t", "cuda", machine.program("served")])
    with ended(machine, tool, signal.SIGTERM):
        assert tool.stdout.readline() == "ready\n", tail(tool.stderr.read())
        for name in ("one", "two"):
            machine.execute([LANESCOPE, "start", f"--session={session}", "-f", "true", "-o", machine.file(name)])
            wait_for(machine, lambda at=name: is_served(machine, at))
            machine.execute([LANESCOPE, "stop", f"--session={session}"])
    for name in ("one", "two"):
        report = machine.report(name)
        expect_whole(machine, report, {"answer": report.count("KERNEL")}, goes_on=True)
        machine.measured(**{f"{name}_kernels": report.count("KERNEL"), f"{name}_graphs": report.count("GRAPH_TRACE")})


def never_idle(machine):
    """A GPU that is never idle for 30 s: the report's rows are at most 2 s behind, streams have one lane each, and after
    kill -9 of the program it opens and has all but the last 2 s"""
    limit_s = machine.size(LAG_S, 20)  # the double's machine may be busy
    seconds = machine.size(30, 2)
    tool = machine.start([*machine.profile_command("report", trace="cuda"), *busy_command(machine, seconds + 30)])
    with ended(machine, tool, signal.SIGKILL):
        assert tool.stdout.readline() == "ready\n", tail(tool.stderr.read())
        lags_s = follow(machine, seconds)
        killed_ns = time.monotonic_ns()
    report = machine.report()
    machine.measured(lag_median_s=round(statistics.median(lags_s), 2), lag_worst_s=round(max(lags_s), 2),
                     kernels=report.count("KERNEL"), lost_s=round(behind_s(report, killed_ns), 2), lost_records=report.fact("lost"))
    troubles = [line for line in report.told(r"LNS-\S+ (?:warning|error)") if "LNS-CUDA-008" not in line]
    assert not troubles, " ".join(troubles)
    expect_links(machine, report, every=8, goes_on=True)
    expect_order(report)
    expect_lanes(machine, report)
    assert machine.figures["lag_median_s"] <= limit_s and machine.figures["lost_s"] <= limit_s, machine.figures


def exits(machine, how, code):
    """A program that ends by {} with work under way: its 101 launches, and each of the 100 kernels that had ended, or it is counted"""
    report, _ = machine.record([machine.program("exits"), how], trace="cuda", code=code)
    kernels, lost = report.names().get("step", 0), int(report.fact("lost"))
    launches = report.count("RUNTIME", "AS c JOIN StringIds AS s ON s.id = c.nameId WHERE s.value LIKE 'cudaLaunchKernel%'")
    machine.measured(kernels=kernels, lost=lost, launches=launches)
    assert (kernels + lost, launches, report.fact("state")) == (100, 101, "complete"), machine.figures
    expect_order(report)


def short_processes(machine):
    """200 short processes, 8 at once, at a flush interval of 10 ms: 100 kernels of each"""
    n = machine.size(200, 16)
    begin = time.monotonic()
    report, _ = machine.record(["sh", "-c", f"seq {n} | xargs -P 8 -I {{}} '{machine.program('cuda-vectoradd')}'"],
                               "--cuda-flush-interval=10")
    machine.measured(seconds=round(time.monotonic() - begin, 1))
    expect_whole(machine, report, {"add": 100 * n})
    by_process = [row["n"] for row in report.rows("KERNEL", "count(*) AS n", "GROUP BY globalPid")]
    assert by_process == [100] * n, f"{len(by_process)} processes with kernels, not {n}"


def static_runtime(machine):
    """100 kernels and 3 copies of a program with a static runtime"""
    expect_real(machine, "a static runtime finds no driver on the double")
    vector_add(machine, "cuda-static")


def static_library(machine):
    """10,000 kernels of a library with a static runtime that Python opens"""
    expect_real(machine, "a static runtime finds no driver on the double")
    report, _ = machine.record(["python3", "launches.py", machine.program("liblaunches-static.so"), "count", "10000"])
    expect_whole(machine, report, {"empty": 10_000})


def priorities(machine):
    """20 kernels in two streams, whose priorities the report has"""
    report, out = machine.record([machine.program("priorities")])
    expect_whole(machine, report, {"least": 10, "greatest": 10})
    # The table has the bits of a negative number as a positive one, as the nsys export does.
    found = {row["name"]: (row["priority"] ^ 1 << 31) - (1 << 31) for row in report.sql(
        "SELECT DISTINCT n.value AS name, s.priority FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS n ON n.id = k.shortName"
        " JOIN TARGET_INFO_CUDA_STREAM AS s ON s.streamId = k.streamId AND s.contextId = k.contextId")}
    least, greatest = (int(word) for word in out.split())
    machine.measured(least=least, greatest=greatest)
    assert found == {"least": least, "greatest": greatest}, found


def green(machine):
    """10 kernels in a green context, which the report knows with its multiprocessors, and 10 outside"""
    expect_real(machine, "the double has no green contexts")
    report, out = machine.record([machine.program("green")])
    if int(out) == 0:
        raise CouldNot("the driver has no green contexts")
    expect_whole(machine, report, {"inside": 10, "outside": 10})
    inside = report.sql("SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = k.shortName"
                        " WHERE s.value = 'inside' AND coalesce(k.greenContextId, 0) > 0")[0]["n"]
    contexts = report.sql("SELECT contextId, numMultiprocessors FROM TARGET_INFO_CUDA_CONTEXT_INFO WHERE isGreenContext")
    machine.measured(multiprocessors=int(out), contexts=len(contexts), kernels_inside=inside)
    assert inside == 10 and [row["numMultiprocessors"] for row in contexts] == [int(out)], contexts


def footprint(machine):
    """With 256 threads, at most 32 MiB of the GPU and 64 MiB of the CPU beyond what a bare CUPTI client takes"""
    n = machine.size(256, 32)
    command = [machine.program("footprint"), str(n)]
    out = {"base": machine.execute(command)}
    out["bare"] = machine.execute(command, env={"CUDA_INJECTION64_PATH": expect_bare_client()})
    report, out["us"] = machine.record(command, trace="cuda")
    expect_whole(machine, report, {"step": n * 200})
    gpu, cpu = ({way: int(text.split()[i]) / 1024 for way, text in out.items()} for i in (0, 1))
    machine.measured(**{f"{what}_mib_{way}": round(mib[way] - mib["base"], 1)
                        for what, mib in (("gpu", gpu), ("cpu", cpu)) for way in ("bare", "us")})
    machine.rehearse("on the double CUPTI takes no memory of the GPU")
    assert gpu["us"] <= gpu["bare"] + 32 and cpu["us"] <= cpu["bare"] + 64, machine.figures


def managed(machine):
    """3 MiB of managed memory migrate to the device, with faults of the GPU"""
    report, _ = machine.record([machine.program("cuda-memory"), "managed"],
                               "--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true")
    expect_whole(machine, report, {"touch": 1})
    moved = sum(c["bytes"] for c in report.rows("MEMCPY", rest=f"WHERE copyKind = {UM_HTOD}"))
    faults = {kind: report.sql(f"SELECT count(*) AS n FROM CUDA_UM_{kind}_PAGE_FAULT_EVENTS")[0]["n"] for kind in ("GPU", "CPU")}
    machine.measured(moved_mib=moved / MIB, gpu_faults=faults["GPU"], cpu_faults=faults["CPU"])
    # A driver may move more than the pages that are touched.
    assert 3 * MIB <= moved <= machine.size(8, 3) * MIB, f"{moved} bytes of managed memory went to the device, not {3 * MIB}"
    assert faults["GPU"] > 0, "no fault of the GPU"


def version(machine, wanted):
    """CUPTI {} by --cupti-path: vector add, graphs and 100,000 launches as with the machine's own, or a sentence"""
    folder = cupti_folder(machine, wanted)
    switch = f"--cupti-path={folder}"
    report, _ = machine.record([machine.program("cuda-vectoradd")], switch)
    refused = report.told(r"LNS-CUDA-00[1-5] (?:warning|error)")
    if refused and report.count("KERNEL") == 0:
        machine.measured(refused=refused[0][:12])
        raise CouldNot(f"the driver or the engine refuses it, and the report says so: {refused[0]}")
    expect_whole(machine, report, {"add": 100})
    machine.measured(version=report.fact("CUPTI"))
    report, _ = machine.record([machine.program("cuda-graphs")], switch)
    expect_whole(machine, report, {})
    assert report.count("GRAPH_TRACE") == 15, report.count("GRAPH_TRACE")
    n = machine.size(100_000, 10_000)
    report, _ = machine.record(launches_command(machine, n), switch, trace="cuda")
    expect_whole(machine, report, {"empty": n})
    count_with_clocks(machine, n, folder)


def gpu_metrics(machine):
    """Counters of a busy GPU at 10 kHz: its multiprocessors are active, at half as many moments as were asked for, or more"""
    report, _ = machine.record(busy_command(machine, machine.size(3, 1)), "--gpu-metrics-devices=all", "--gpu-metrics-frequency=10000",
                               "--gpu-environment=none", trace="cuda")
    rows = metrics(report)
    told = report.told(r"LNS-GPU-\d+ \w+")
    if told and not rows:
        raise CouldNot(told[0])
    assert rows, "the report has no counters, and does not say why"
    machine.measured(metrics=len(rows), samples_per_s=round(max(row["n"] for row in rows.values()) / duration_s(report)))
    active = [row["most"] for name, row in rows.items() if re.search(r"\bSMs?\b.*active", name, re.I)]
    machine.measured(active_most=max(active, default=None))
    assert machine.figures["samples_per_s"] > machine.size(5000, 0) and machine.figures["active_most"], machine.figures


def gpu_environment(machine):
    """Power, clocks and temperature of a busy GPU, ten times a second"""
    report, _ = machine.record(busy_command(machine, machine.size(4, 2)), "--gpu-environment=10", trace="cuda")
    rows = metrics(report)
    told = report.told(r"LNS-GPU-001 \w+")
    if told and not rows:
        raise CouldNot(told[0])
    troubles = report.told(r"LNS-GPU-\d+ (?:warning|error|info)")
    assert not troubles, " ".join(troubles)
    power, clock, heat = (rows.get(name, {"n": 0, "most": 0}) for name in ("Power [mW]", "SM clock [MHz]", "Temperature [°C]"))
    machine.measured(metrics=len(rows), samples=power["n"], power_most_w=power["most"] // 1000, clock_most_mhz=clock["most"],
                     temperature_most=heat["most"])
    assert power["n"] >= machine.size(20, 1) and min(power["most"], clock["most"], heat["most"]) > 0, rows


def event_times(machine):
    """8 kernels take as long as cudaEventElapsedTime says, within 2 %"""
    report, out = machine.record([machine.program("event-times")])
    expect_whole(machine, report, {"spin": 9})
    told_us = [float(line) for line in out.split()]
    kernels = report.kernels()[1:]
    assert len(told_us) == 8 == len(kernels)
    worst = max(abs((k["end"] - k["start"]) / 1000 / us - 1) for k, us in zip(kernels, told_us))
    machine.rehearse("one clock plays both sides")
    machine.measured(worst_percent=round(worst * 100, 2))
    assert worst <= 0.02 or machine.is_double, f"{worst:.2%} beside cudaEventElapsedTime"


def streams(machine):
    """104 kernels, 25 in each of 4 streams, some at the same time"""
    report, _ = machine.record([machine.program("cuda-streams")])
    expect_whole(machine, report, {"busy": 4 * 25 + 3, "join": 1})
    wide = [k for k in report.kernels() if k["gridX"] == 65536]
    assert sorted(collections.Counter(k["streamId"] for k in wide).values()) == [25] * 4
    overlaps = sum(a["end"] > b["start"] and a["streamId"] != b["streamId"] for a, b in zip(wide, wide[1:]))
    machine.measured(neighbours_overlap=overlaps)
    assert overlaps > 0, "no two kernels of different streams overlap"


def graphs(machine):
    """15 launches of two graphs; by node, their 40 kernels, 15 memsets and 5 copies"""
    report, _ = machine.record([machine.program("cuda-graphs")])
    expect_whole(machine, report, {})
    launched = collections.Counter(row["graphId"] for row in report.rows("GRAPH_TRACE"))
    assert sorted(launched.values()) == [5, 10], launched
    report, _ = machine.record([machine.program("cuda-graphs")], "--cuda-graph-trace=node")
    expect_whole(machine, report, {"left": 15, "right": 10, "merge": 15})
    found = {kind: report.count(kind) for kind in ("MEMSET", "MEMCPY", "GRAPH_TRACE")}
    assert found == {"MEMSET": 15, "MEMCPY": 5, "GRAPH_TRACE": 0}, found


def pools(machine):
    """Each block of each pool, allocated and freed"""
    report, _ = machine.record([machine.program("cuda-memory"), "pools"], "--cuda-memory-usage=true")
    expect_whole(machine, report, {"touch": 1})
    # Allocations of cudaMalloc and of the driver are there too; these are the program's, from pools.
    memory = collections.defaultdict(list)
    for row in report.sql("SELECT memoryOperationType, bytes FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE localMemoryPoolAddress > 0"):
        memory[row["memoryOperationType"]].append(row["bytes"])
    expected = sorted([MIB * (i + 1) for i in range(10)] + [3 * MIB])
    assert sorted(memory[0]) == sorted(memory[1]) == expected, dict(memory)


def cublas(machine):
    """12 calls of cuBLAS, each with a kernel launched inside it"""
    expect_real(machine, "cuBLAS does not run on the double")
    report, _ = machine.record([machine.program("matrices")], trace="cuda,nvtx,cublas")
    expect_whole(machine, report)
    calls = report.sql("SELECT e.start, e.end, e.globalTid FROM CUBLAS_EVENTS e JOIN StringIds s ON s.id = e.nameId"
                       " WHERE s.value LIKE 'cublasSgemm%'")
    assert len(calls) == 12, f"{len(calls)} calls of cublasSgemm, not 12"
    api = calls_of(report)
    launched = [api[k["globalPid"], k["correlationId"]] for k in report.kernels()]
    for call in calls:
        assert any(call["start"] <= one["start"] <= call["end"] for one in launched), "a product without a kernel"


def threads(machine):
    """4 threads with 250 kernels each, in a stream per thread"""
    report, _ = machine.record([machine.program("cuda-threads")])
    expect_whole(machine, report, {"step": 1000})
    calls = calls_of(report)
    by_thread = collections.Counter((calls[k["globalPid"], k["correlationId"]]["globalTid"], k["gridX"], k["streamId"])
                                    for k in report.kernels())
    assert sorted(by_thread.values()) == [250] * 4, by_thread


def reset(machine):
    """20 kernels before and 20 after cudaDeviceReset"""
    report, _ = machine.record([machine.program("cuda-days"), "reset"])
    expect_whole(machine, report, {"step": 40})


def forked(machine):
    """The error of a forked child, and the parent's 40 kernels"""
    report, out = machine.record([machine.program("cuda-days"), "fork"])
    assert out.strip() == "3", f"the child's cudaMalloc gave {out.strip()}, not cudaErrorInitializationError"
    assert report.names() == {"step": 40}, report.names()
    expect_links(machine, report)
    machine.measured(told=codes_of(report))


def faulting(machine):
    """20 kernels before an illegal access, which the program sees as without Lanescope"""
    report, out = machine.record([machine.program("cuda-days"), "fault"], code=4)
    assert out.split()[0] not in ("0", ""), out
    assert report.names().get("step") == 20, f"{report.names()} before the kernel that faults, not 20"
    machine.measured(told=codes_of(report))


def workers(machine):
    """`python3 -m` with 3 processes of 100, 200 and 300 kernels"""
    report, _ = machine.record(["python3", "-m", "workers", machine.program("liblaunches.so")])
    expect_whole(machine, report, {"empty": 600})
    by_process = sorted(row["n"] for row in report.rows("KERNEL", "count(*) AS n", "GROUP BY globalPid"))
    assert by_process == [100, 200, 300], by_process


def expect_real(machine, why):
    if machine.is_double:
        raise CouldNot(why)


def expect_bare_client():
    if not os.path.exists(BARE_CLIENT):
        raise CouldNot(f"{os.path.relpath(BARE_CLIENT, BUILD)} was not built")
    return BARE_CLIENT


def launches_command(machine, n):
    return ["python3", "launches.py", machine.program("liblaunches.so"), "count", str(n)]


def count_launches(machine, n, every):
    begin = time.monotonic()
    report, _ = machine.record(launches_command(machine, n), trace="cuda")
    machine.measured(launches=n, recorded_s=round(time.monotonic() - begin, 1), kernels=report.count("KERNEL"),
                     timeless=report.count("KERNEL", "WHERE end <= start"), lost=report.fact("lost"),
                     bytes_per_launch=round(os.path.getsize(report.path) / n, 1))
    expect_whole(machine, report, {"empty": n} if every == 1 else None, every)
    assert (machine.figures["kernels"], machine.figures["timeless"]) == (n, 0), machine.figures


def record_range(machine, mode):
    report, _ = machine.record([machine.program("cuda-warm")], "-c", "cudaProfilerApi", "--capture-range-end=stop",
                               f"--cuda-graph-trace={mode}", trace="cuda")
    return report


def is_served(machine, name):
    """Whether the growing report NAME has kernels and graphs."""
    if not os.path.exists(machine.file(f"{name}.rep")):
        return False
    report = machine.report(name)
    return report.count("KERNEL") > 20 and report.count("GRAPH_TRACE") > 20


def wait_for(machine, condition):
    end = time.monotonic() + machine.size(20, 100)  # the double's machine may be busy
    while not condition():
        assert time.monotonic() < end, "the report has nothing of the GPU"
        time.sleep(0.2)


@contextlib.contextmanager
def ended(machine, tool, number):
    """Ends the program that TOOL runs by signal NUMBER, of which TOOL must then die, too."""
    watchdog = threading.Timer(machine.left_s(), tool.kill)
    watchdog.start()
    try:
        yield
        for pid in children(tool.pid):
            os.kill(pid, number)
        machine.end(tool, -number)
    finally:
        watchdog.cancel()
        if tool.poll() is None:
            os.killpg(tool.pid, signal.SIGKILL)


def busy_command(machine, seconds):
    """Kernels of about 0.1 ms, on the double 1 ms, two of which fill the GPU."""
    return [machine.program("busy"), str(seconds), *machine.size(("132", "200000"), ("66000", "1"))]


def behind_s(report, now_ns):
    """How many seconds before NOW_NS the report's last kernel ended."""
    row, = report.sql("SELECT systemClockNs + (SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL) AS last"
                      " FROM TARGET_INFO_SESSION_START_TIME")
    return (now_ns - (row["last"] or 0)) / 1e9


def follow(machine, seconds):
    """Reads the growing report each second, once it has rows; how many seconds it was behind each time."""
    end = time.monotonic() + seconds
    lags_s = []
    wait_for(machine, lambda: os.path.exists(machine.file("report.rep")) and machine.report().count("KERNEL"))
    while time.monotonic() < end or not lags_s:
        now_ns = time.monotonic_ns()
        lags_s.append(behind_s(machine.report(), now_ns))
        time.sleep(1)
    return lags_s


def expect_lanes(machine, report):
    """Checks that no kernel came so late that it needed a lane of its own. Calls within calls have lanes, too."""
    lanes, tracks = int(report.fact("lanes")), int(report.fact("tracks"))
    nested = int(re.search(r"CUDA API calls: .* in (\d+) track", report.info)[1])
    machine.measured(lanes=lanes, tracks=tracks)
    assert lanes <= tracks + nested, f"{lanes} lanes in {tracks} tracks"


def codes_of(report):
    return " ".join(sorted(set(re.findall(r"LNS-CUDA-\d+", report.info)) - {"LNS-CUDA-015"})) or "nothing"


def cupti_folder(machine, wanted):
    """The folder of CUPTI WANTED: what tests/device/carry put into the build folder, or on the double what is nearest."""
    if machine.is_double:
        folder = double_folder()
        if DOUBLES[wanted] != os.path.basename(folder):
            raise CouldNot(f"the double plays CUPTI {os.path.basename(folder)} here")
        machine.rehearse(f"the double's CUPTI {os.path.basename(folder)} ran in its place")
        return folder
    folder = os.path.join(BUILD, "cupti", wanted)
    if not os.path.isdir(folder):
        raise CouldNot(f"tests/device/carry did not bring CUPTI {wanted}")
    return folder


def double_folder():
    """Where tests/double/with has the double's CUPTI."""
    return next(part for part in os.environ["LD_LIBRARY_PATH"].split(":") if "/generations/" in part)


def count_with_clocks(machine, n, folder):
    """Has the bare client count kernels of N launches under both clocks, with the CUPTI in FOLDER or the first that it finds."""
    for clock in ("own", "callback"):
        told = machine.file("told.json")
        env = {"CUDA_INJECTION64_PATH": expect_bare_client(), "LNS_BARE_OUT": told, "LNS_BARE_CLOCK": clock}
        machine.execute(launches_command(machine, n), env={**env, **({"LNS_BARE_CUPTI": folder} if folder else {})})
        with open(told, encoding="utf-8") as file:
            machine.measured(**{f"{clock}_{name}": value for name, value in json.load(file).items()})
    found = {name: machine.figures[name] for name in ("own_kernels", "own_timeless", "callback_kernels")}
    assert list(found.values()) == [n, 0, n], found


def metrics(report):
    """Of each metric of GPUs, how many values there are and the greatest."""
    return {row["name"]: row for row in report.sql(
        "SELECT metricName AS name, count(*) AS n, max(value) AS most FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS"
        " USING (typeId, metricId) GROUP BY metricName")}


def duration_s(report):
    """How long kernels ran, from the first to the last."""
    row, = report.rows("KERNEL", "(max(end) - min(start)) / 1e9 AS seconds")
    return row["seconds"]
