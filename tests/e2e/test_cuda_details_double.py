# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests what CUPTI tells beside calls, kernels and copies, on the double. This shows nothing about a real GPU or its driver."""

import json
import os
import subprocess

import profiling
import tap

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")

# Two functions on the host between sets of memory, and one more within a graph that is launched twice.
HOST = """
import ctypes, threading
runtime, pointer, graph, exec_, node = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
called = []
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append(threading.get_native_id()))
class Parameters(ctypes.Structure):
    _fields_ = [("function", type(function)), ("data", ctypes.c_void_p)]
def check(result):
    assert result == 0, result
check(runtime.cudaMalloc(ctypes.byref(pointer), 1024))
for _ in range(2):
    check(runtime.cudaMemsetAsync(pointer, 0, 1024, None))
    check(runtime.cudaLaunchHostFunc(None, function, None))
check(runtime.cudaGraphCreate(ctypes.byref(graph), 0))
check(runtime.cudaGraphAddHostNode(ctypes.byref(node), graph, None, ctypes.c_size_t(0), ctypes.byref(Parameters(function, None))))
check(runtime.cudaGraphInstantiate(ctypes.byref(exec_), graph, ctypes.c_ulonglong(0)))
for _ in range(2):
    check(runtime.cudaGraphLaunch(exec_, None))
check(runtime.cudaDeviceSynchronize())
print(len(called), called[0])
"""


def environment(version, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
    return {**kept, "LNS_DOUBLE_CUPTI_VERSION": str(version), "LNS_DOUBLE_DRIVER_VERSION": str(version // 10 if version >= 130000 else 13000), **variables}


class Recorded:
    """The report of a run."""

    def __init__(self, folder, *command, version=130500, trace="cuda", switches=(), variables=None):
        self.folder = folder
        self.run = folder.profile("-t", trace, "-f", "true", "-o", "r", *switches, *command, before=[WITH],
                                  env=environment(version, **(variables or {})))
        assert self.run.code == 0, self.run
        self.report = folder.report("r.rep")
        assert self.report.info["lost"] == 0, self.report.info

    def sql(self, statement):
        done = subprocess.run([tap.LANESCOPE, "sql", "-j", self.folder.file("r.rep"), statement], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout or b"[]")

    def exported(self, table):
        done = subprocess.run([tap.LANESCOPE, "export", "-t", "jsonlines", "--tables", table, "-o", "-", self.folder.file("r.rep")], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]


def test_host_functions():
    with profiling.Folder() as folder:
        recorded = Recorded(folder, "/usr/bin/python3", "-c", HOST)
        n, tid = map(int, recorded.run.out.split())
        rows = recorded.sql("SELECT f.*, value AS name FROM LNS_CUDA_HOST_FUNCTIONS f JOIN StringIds ON id = nameId ORDER BY start")
        assert n == 4 and [row["name"] for row in rows] == ["Host function"] * 2 + ["Host node"] * 2, rows
        assert {row["globalTid"] & 0xffffff for row in rows} == {tid} and len({row["streamId"] for row in rows}) == 1, rows
        assert [row["graphNodeId"] is not None for row in rows] == [False, False, True, True], rows
        assert len({(row["graphNodeId"], row["graphId"]) for row in rows[2:]}) == 1, rows
        # Each lies within the call that it is linked to.
        calls = recorded.sql("SELECT value AS name, c.start, c.end FROM LNS_CUDA_HOST_FUNCTIONS f JOIN CUPTI_ACTIVITY_KIND_RUNTIME c USING (correlationId) "
                             "JOIN StringIds ON id = c.nameId WHERE c.start <= f.start AND f.end <= c.end ORDER BY c.start")
        assert [call["name"].split("_")[0] for call in calls] == ["cudaLaunchHostFunc"] * 2 + ["cudaGraphLaunch"] * 2, calls
        assert len(recorded.exported("LNS_CUDA_HOST_FUNCTIONS")) == 4 and not recorded.report.codes(), recorded.report.diagnostics


def test_older_versions_have_no_host_functions():
    """They are not asked for, so nothing is said."""
    with profiling.Folder() as folder:
        recorded = Recorded(folder, "/usr/bin/python3", "-c", HOST, version=130001)
        assert not recorded.sql("SELECT * FROM LNS_CUDA_HOST_FUNCTIONS") and not recorded.report.codes(), recorded.report.diagnostics


# Calls of the stand-ins of test-inject-libraries.c.
CALLS_OF_LIBRARIES = """
import ctypes, sys
sparse = ctypes.CDLL(sys.argv[1] + "/libcusparse.so.12", ctypes.RTLD_GLOBAL)
solver = ctypes.CDLL(sys.argv[1] + "/libcusolver.so.12")
handle, number, to = ctypes.create_string_buffer(8), ctypes.c_int(5), ctypes.c_int()
for _ in range(3):
    print(sparse.cusparseGather(handle, ctypes.byref(number), ctypes.byref(to)), to.value)
print(solver.cusolverRfRefactor(handle))
"""


def test_calls_of_libraries():
    if not os.path.exists(os.path.join(tap.BUILD, "capture", "inject", "liblanescope-libraries.so")):
        raise tap.Skip("there is no cublas_v2.h here, so calls of libraries cannot be recorded")
    tables = {"cusparse": ("LNS_CUSPARSE_EVENTS", [("cusparseGather", 10)] * 3), "cusolver": ("LNS_CUSOLVER_EVENTS", [("cusolverRfRefactor", 9)])}
    for trace in ("cuda", "cusparse", "cusolver", "cusparse,cusolver-verbose"):
        with profiling.Folder() as folder:
            recorded = Recorded(folder, "/usr/bin/python3", "-c", CALLS_OF_LIBRARIES, os.path.join(tap.BUILD, "tests", "unit"), trace=trace)
            assert recorded.run.out == "10 5\n" * 3 + "9\n", recorded.run
            for name, (table, expected) in tables.items():
                wanted = expected if name in trace else []
                rows = recorded.sql(f'SELECT value, returnValue, "end" - start AS duration FROM {table} JOIN StringIds ON id = nameId ORDER BY start')
                assert [(row["value"], row["returnValue"]) for row in rows] == wanted and all(row["duration"] >= 0 for row in rows), (trace, table, rows)
                assert len(recorded.exported(table)) == len(wanted), (trace, table)


def driver():
    return os.path.join(tap.BUILD, "tests", "double", "cuda-driver")


def test_context_switches():
    """cuda-driver.c uses two contexts, one after the other. Another process has the GPU before."""
    with profiling.Folder() as folder:
        recorded = Recorded(folder, driver(), switches=["--gpuctxsw=true"], variables={"LNS_DOUBLE_NEIGHBOUR": "4711"})
        rows = recorded.sql("SELECT s.*, label FROM GPU_CONTEXT_SWITCH_EVENTS s JOIN ENUM_GPU_CTX_SWITCH e ON e.id = tag ORDER BY timestamp, tag")
        contexts = [c["contextId"] for c in recorded.sql("SELECT contextId FROM TARGET_INFO_CUDA_CONTEXT_INFO WHERE contextId < 1000 ORDER BY 1")]
        own = recorded.sql("SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL")[0]["globalPid"]
        other = own >> 48 << 48 | 4711 << 24
        held = [(row["contextId"], row["globalPid"]) for row in rows if row["label"] == "Context start"]
        assert held == [(1000, other)] + [(context, own) for context in contexts] and len(contexts) == 2, rows
        assert sorted((row["contextId"], row["globalPid"]) for row in rows if row["label"] == "Save end") == sorted(held), rows
        assert {row["gpuId"] for row in rows} == {0} and len({row["seqNo"] for row in rows}) == 6, rows
        # The GPU works for one context at a time, and all work of a context lies where it works for that.
        spans = {event["name"]: (event["start"], event["start"] + event["duration"]) for event in recorded.report.of("gpu-switch") if event["operation"] == 9}
        assert len(spans) == 3 and all(a[1] <= b[0] for a, b in zip(sorted(spans.values()), sorted(spans.values())[1:])), spans
        for context in contexts:
            (span,) = [span for name, span in spans.items() if name.startswith(f"Context {context} of process ")]
            work = recorded.sql(f"SELECT min(start) AS first, max(end) AS last FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE contextId = {context}")[0]
            assert span[0] <= work["first"] and work["last"] <= span[1], (context, span, work)
        assert not recorded.report.codes(), recorded.report.diagnostics


def test_context_switches_are_asked_for():
    with profiling.Folder() as folder:
        recorded = Recorded(folder, driver())
        assert not recorded.sql("SELECT * FROM GPU_CONTEXT_SWITCH_EVENTS"), "nobody asked for them"
        recorded = Recorded(folder, driver(), switches=["--gpuctxsw=true"], version=130001)
        said = [d["text"] for d in recorded.report.diagnostics if d["code"] == "LNS-CUDA-005"]
        assert said == ["CUDA is recorded without GPU context switches: this CUPTI is too old for it (CUPTI result 21)"], recorded.report.diagnostics


# 60 kernels of 8 ms each, more than the command buffer holds, each of 2^20 blocks of 1024 threads.
KERNELS = """
import ctypes
driver, module, function, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
def check(result):
    assert result == 0, result
check(driver.cuInit(0))
check(driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
check(driver.cuModuleLoadData(ctypes.byref(module), b".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry work()\\n{\\nret;\\n}\\n\\0"))
check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"work"))
for _ in range(60):
    check(driver.cuLaunchKernel(function, 1 << 20, 1, 1, 1024, 1, 1, 0, None, None, None))
check(driver.cuCtxSynchronize())
"""


def test_kernel_latencies():
    """A kernel is submitted 500 ns after it is queued, within its call, and starts when the one before has ended."""
    with profiling.Folder() as folder:
        for version in (130001, 11):  # with a clock of ours, and CUPTI's own
            version = 14 if version == 11 else version
            recorded = Recorded(folder, "/usr/bin/python3", "-c", KERNELS, switches=["--cuda-kernel-latency=true"], version=version)
            rows = recorded.sql("SELECT l.*, c.start AS called, c.end AS returned FROM LNS_CUDA_KERNEL_LATENCIES l "
                                "JOIN CUPTI_ACTIVITY_KIND_RUNTIME c USING (correlationId) ORDER BY l.start")
            assert len(rows) == 60, (version, len(rows))
            for row in rows:
                assert abs(row["submitted"] - row["queued"] - 500) <= 2 and row["queued"] < row["start"], row
                assert row["called"] - 300 <= row["queued"] <= row["returned"] + 300, row
            assert rows[-1]["start"] - rows[-1]["queued"] > 100000000 > rows[0]["start"] - rows[0]["queued"], rows[-1]
            assert len(recorded.exported("LNS_CUDA_KERNEL_LATENCIES")) == 60 and not recorded.report.codes(), recorded.report.diagnostics
        recorded = Recorded(folder, "/usr/bin/python3", "-c", KERNELS)
        assert not recorded.sql("SELECT * FROM LNS_CUDA_KERNEL_LATENCIES"), "nobody asked for them"


def test_latencies_of_a_range():
    """Kernels of a capture range keep theirs, however late they run."""
    with profiling.Folder() as folder:
        program = KERNELS.replace("check(driver.cuInit(0))", "runtime = ctypes.CDLL('libcudart.so.13')\ncheck(driver.cuInit(0))")
        program = program.replace("for _ in range(60):", "check(runtime.cudaProfilerStart())\nfor _ in range(60):")
        program = program.replace("check(driver.cuCtxSynchronize())", "check(runtime.cudaProfilerStop())\ncheck(driver.cuCtxSynchronize())")
        recorded = Recorded(folder, "/usr/bin/python3", "-c", program, switches=["--cuda-kernel-latency=true", "--capture-range=cudaProfilerApi", "--capture-range-end=stop"])
        n = recorded.sql("SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL")[0]["n"]
        rows = recorded.sql("SELECT * FROM LNS_CUDA_KERNEL_LATENCIES")
        assert n > 0 and len(rows) == n and all(row["queued"] < row["submitted"] < row["start"] for row in rows), (n, rows)


def test_full_command_buffers():
    """The channel whose command buffer was full."""
    with profiling.Folder() as folder:
        recorded = Recorded(folder, "/usr/bin/python3", "-c", KERNELS)
        rows = recorded.sql("SELECT * FROM CUPTI_ACTIVITY_KIND_OVERHEAD WHERE overheadType = 8")
        assert rows and {(row["channelId"], row["channelType"]) for row in rows} == {(7, 1)}, rows
        others = recorded.sql("SELECT * FROM CUPTI_ACTIVITY_KIND_OVERHEAD WHERE overheadType <> 8")
        assert others and all(row["channelId"] is None for row in others), others
        assert {row.get("channelId") for row in recorded.exported("CUPTI_ACTIVITY_KIND_OVERHEAD")} == {7, None}


def test_sources_of_allocations():
    with profiling.Folder() as folder:
        for version in (130001, 130500):
            recorded = Recorded(folder, "/usr/bin/python3", "-c", HOST, switches=["--cuda-allocation-source=true"], version=version)
            rows = recorded.sql("SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS")
            assert rows and {row["source"] for row in rows} == {"/usr/lib/liballocator.so.1"}, (version, rows)
            assert {row["source"] for row in recorded.exported("CUDA_GPU_MEMORY_USAGE_EVENTS")} == {"/usr/lib/liballocator.so.1"}
        recorded = Recorded(folder, "/usr/bin/python3", "-c", HOST, switches=["--cuda-memory-usage=true"])
        assert all("source" not in row for row in recorded.sql("SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS")), "nobody asked for it"


def memory():
    path = os.path.join(tap.BUILD, "tests", "programs", "cuda-memory")
    if not os.path.exists(path):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")
    return path


def test_contention_for_unified_memory():
    """cuda-memory.cu, managed: 1 MiB is faulted to the device and back."""
    with profiling.Folder() as folder:
        recorded = Recorded(folder, memory(), "managed", switches=["--cuda-um-gpu-page-faults=true"], variables={"LNS_DOUBLE_CONTENTION": "1"})
        rows = recorded.sql("SELECT u.*, s.value AS name FROM LNS_CUDA_UM_EVENTS u JOIN StringIds s ON id = nameId ORDER BY start, counterKind")
        moved = recorded.sql("SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE migrationCause = 2")
        assert moved and len(rows) == 3 * len(moved), (moved, rows)
        for thrashing, throttling, mapping in zip(*[iter(sorted(rows, key=lambda row: (row["address"], row["start"], row["counterKind"])))] * 3):
            assert [row["name"] for row in (thrashing, throttling, mapping)] == ["Thrashing", "Throttling", "Remote mapping"], rows
            assert (thrashing["value"], thrashing["srcId"], thrashing["flags"], thrashing["end"]) == (1 << 20, 1, 1, thrashing["start"]), thrashing
            assert throttling["end"] > throttling["start"] == thrashing["start"], throttling
            assert (mapping["value"], mapping["flags"], mapping["end"]) == (4096, 2, mapping["start"]) and {mapping["srcId"], mapping["dstId"]} == {0, 0xffffffff}, mapping
        assert not recorded.report.codes(), recorded.report.diagnostics


def test_hardware_trace():
    """The double's GPU is 200 ms fast, so that kernels begin before their calls, which come later than that, unless the GPU itself takes the times."""
    def is_fast(recorded):
        rows = recorded.sql("SELECT min(k.start - c.start) AS delay FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME c USING (correlationId)")
        return rows[0]["delay"] < 0

    with profiling.Folder() as folder:
        fast = {"LNS_DOUBLE_GPU_CLOCK": "-200000000"}
        able = {**fast, "LNS_DOUBLE_HARDWARE": "1"}
        command = ["/usr/bin/python3", "-c", KERNELS.replace("1 << 20, 1, 1, 1024", "1, 1, 1, 32").replace("None, None, None))", "None, None, None)); check(driver.cuCtxSynchronize())").replace("import ctypes", "import ctypes, time; time.sleep(0.4)")]
        assert is_fast(Recorded(folder, *command, variables=able)), "nobody asked for it"
        for trace, switch in (("cuda", "--cuda-trace=hw"), ("cuda-hw", "--cuda-trace-all-apis=false")):
            for version in (130401, 130500):
                recorded = Recorded(folder, *command, trace=trace, switches=[switch], version=version, variables=able)
                assert not is_fast(recorded) and not recorded.report.codes(), (switch, version, recorded.report.diagnostics)
        for version, variables, why in ((130500, fast, "this GPU or its driver does not support it (CUPTI result 27)"),
                                        (130400, able, "this CUPTI is too old for it (CUPTI result 21)")):
            recorded = Recorded(folder, *command, switches=["--cuda-trace=hw"], version=version, variables=variables)
            said = [d["text"] for d in recorded.report.diagnostics if d["code"] == "LNS-CUDA-027"]
            assert len(said) == 1 and said[0].endswith(why) and is_fast(recorded), recorded.report.diagnostics
        refused = folder.profile("-t", "cuda", "--cuda-trace=hw", "--cuda-kernel-latency=true", *command, before=[WITH], env=environment(130500))
        assert refused.code == 125 and "leave out --cuda-trace=hw" in refused.err, refused


tap.main(globals())
