# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the stand-in for CUPTI: versions, dropped records, errors, and the variables that README.md lists."""

import ctypes
import os
import signal
import subprocess
import tempfile
import time

import bare
import tap

REAL = [os.path.join(folder, "libcupti.so.13") for folder in
        ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64")]

# Sizes of the records of each version in bytes, from NVIDIA's headers.
GENERATIONS = {
    # CUPTI_API_VERSION: (library, kernel, copy, peer copy, set, context, synchronisation, event)
    13: ("libcupti.so.11.0", 160, 72, 80, 72, 16, 40, 24),
    14: ("libcupti.so.11.0", 160, 80, 88, 80, 16, 40, 24),
    15: ("libcupti.so.11.2", 168, 80, 88, 80, 16, 40, 24),
    17: ("libcupti.so.11.8", 176, 88, 96, 88, 16, 40, 24),
    18: ("libcupti.so.11.8", 200, 88, 96, 88, 16, 40, 24),
    21: ("libcupti.so.12", 208, 88, 96, 88, 16, 40, 24),
    24: ("libcupti.so.12", 208, 88, 96, 88, 24, 40, 24),
    28: ("libcupti.so.12", 208, 96, 96, 88, 32, 56, 56),
    130001: ("libcupti.so.13", 216, 96, 96, 88, 32, 56, 56),
}


def real_cupti():
    for path in REAL:
        if os.path.exists(path):
            return path
    raise tap.Skip("NVIDIA's libcupti.so.13 is not here")


def test_generations():
    for version, (library, kernel, copy, peer, memset, context, sync, event) in GENERATIONS.items():
        done = bare.run("cuda-vectoradd", env={"LNS_DOUBLE_CUPTI_VERSION": str(version), "LNS_CLIENT_CUPTI": library})
        sizes = next(line["sizes"] for line in done.lines if "sizes" in line)
        found = tuple(sizes[k] for k in (bare.KERNEL, bare.MEMCPY, bare.PEER, bare.MEMSET, bare.CONTEXT, bare.SYNC, bare.EVENT))
        assert found == (kernel, copy, peer, memset, context, sync, event), (version, found)
        kernels = done.records(bare.KERNEL)
        assert len(kernels) == 100 and {k["gridX"] for k in kernels} == {16}, version
        assert ("clusterX" in kernels[0]) == (version >= 18), "later fields are not there"
        refused = {line["argument"] for line in done.lines if line.get("failed") == "cuptiActivityEnable"}
        assert refused == {k for k in (bare.JIT, bare.MEMORY, bare.POOL) if sizes[k] == 0}, (version, refused)


def test_a_clock_of_its_own():
    # Before 11.6 there is no timestamp callback: times are CLOCK_REALTIME's.
    done = bare.run("cuda-vectoradd", env={"LNS_DOUBLE_CUPTI_VERSION": "15", "LNS_CLIENT_CUPTI": "libcupti.so.11.2"})
    now = time.time_ns()
    assert all(now - 60e9 < k["start"] < now for k in done.records(bare.KERNEL))
    monotonic = time.monotonic_ns()
    done = bare.run("cuda-vectoradd")
    assert all(monotonic < k["start"] < time.monotonic_ns() for k in done.records(bare.KERNEL))


def walked(library, buffers):
    with tempfile.NamedTemporaryFile() as file:
        file.write(buffers)
        file.flush()
        done = subprocess.run([os.path.join(bare.DOUBLE, "walk"), library, file.name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_real_library_walks_every_buffer():
    real = real_cupti()
    double = os.path.join(bare.DOUBLE, "generations", "13.0", "libcupti.so.13")
    kinds = set()
    for name, arguments, devices in [("cuda-vectoradd", [], "1"), ("cuda-streams", [], "1"), ("cuda-threads", [], "1"),
                                     ("cuda-memory", ["copies"], "2"), ("cuda-memory", ["pools"], "1"),
                                     ("cuda-memory", ["managed"], "1"), ("cuda-driver", [], "1")]:
        done = bare.run(name, arguments, buffers=True, env={"LNS_DOUBLE_DEVICES": devices, "LNS_CLIENT_CALLBACKS": "0",
                                                            "LNS_CLIENT_BUFFER_BYTES": "8192"})
        ours, theirs = walked(double, done.buffers), walked(real, done.buffers)
        assert ours == theirs, f"{name}: the walks differ"
        lines = [line.split() for line in theirs.splitlines()]
        assert {line[3] for line in lines if line[1] == "ends"} == {"12"}, "each walk ends with the buffer"
        assert len([line for line in lines if line[1] != "ends"]) == len([r for r in done.lines if "kind" in r])
        kinds |= {int(line[2]) for line in lines if line[1] != "ends"}
    graphs = bare.run("cuda-graphs", kinds=[5, 10, 51], buffers=True)
    assert walked(double, graphs.buffers) == walked(real, graphs.buffers)
    kinds |= {r["kind"] for r in graphs.lines if "kind" in r}
    assert kinds == {1, 2, 4, 5, 8, 9, 10, 17, 22, 25, 36, 37, 38, 49, 50, 51, 52}, kinds


NAMES = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
text = ctypes.c_char_p()
for domain in (1, 2):
    for cbid in range(0, 1000):
        text.value = None
        result = library.cuptiGetCallbackName(domain, cbid, ctypes.byref(text))
        print(domain, cbid, result, text.value)
for result in range(0, 48):
    text.value = None
    print(result, library.cuptiGetResultString(result, ctypes.byref(text)), text.value)
"""


def names_of(library):
    done = subprocess.run([bare.WITH, "python3", "-c", NAMES, library], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_names_are_those_of_the_real_library():
    path, version = real_cupti(), ctypes.c_uint32()
    ctypes.CDLL(path).cuptiGetVersion(ctypes.byref(version))
    if str(version.value) != os.environ.get("LNS_CUPTI_HEADERS"):
        raise tap.Skip("the CUPTI headers of this build are of another version than the library here")
    real, ours = names_of(path), names_of("libcupti.so.13")
    differing = [pair for pair in zip(real, ours) if pair[0] != pair[1]]
    assert not differing, differing[:10]


def test_drops_are_counted():
    # cuda-vectoradd makes 100 kernels, 3 copies and 110 calls; every 7th of them all is dropped.
    whole = bare.run("cuda-vectoradd", kinds=[1, 5, 10])
    some = bare.run("cuda-vectoradd", kinds=[1, 5, 10], env={"LNS_DOUBLE_DROP": "7"})
    n_whole, n_some = (sum("kind" in line for line in done.lines) for done in (whole, some))
    assert whole.dropped() == 0 and n_some + some.dropped() == n_whole and some.dropped() == n_whole // 7


def test_no_buffer_no_record():
    done = bare.run("cuda-vectoradd", kinds=[10], env={"LNS_CLIENT_BUFFER_BYTES": "0"})
    assert not done.records(bare.KERNEL) and done.dropped() == 100


def test_small_buffers():
    done = bare.run("cuda-vectoradd", kinds=[10], env={"LNS_CLIENT_BUFFER_BYTES": "1000"})
    assert len(done.records(bare.KERNEL)) == 100 and done.dropped() == 0
    assert [b["valid"] for b in done.lines if "buffer" in b] == [4 * 216] * 25
    done = bare.run("cuda-vectoradd", kinds=[10], env={"LNS_CLIENT_MAX_RECORDS": "3"})
    # The worker may still have one in its hands when the flush has handed over the rest.
    assert sorted(b["valid"] // 216 for b in done.lines if "buffer" in b) == [1] + [3] * 33


def test_buffers_by_thread_or_shared():
    def mixed(value):
        done = bare.run("cuda-vectoradd", kinds=[5, 10], env={"LNS_DOUBLE_PER_THREAD": value})
        kinds, found = set(), 0
        for line in done.lines:
            if "kind" in line:
                kinds.add(line["kind"])
            elif "buffer" in line:
                found += len(kinds) > 1
                kinds = set()
        return found
    assert mixed("1") == 0 and mixed("0") > 0


def test_order_of_completion():
    done = bare.run("cuda-vectoradd", kinds=[10], env={"LNS_DOUBLE_REORDER": "10"})
    starts = [k["start"] for k in done.records(bare.KERNEL)]
    assert len(set(starts)) == 100 and starts != sorted(starts)


def test_late_records_have_no_times():
    done = bare.run("cuda-vectoradd", kinds=[10], env={"LNS_DOUBLE_LATE_MS": "60000"})
    kernels = done.records(bare.KERNEL)
    assert len(kernels) == 100 and {(k["start"], k["end"]) for k in kernels} == {(0, 0)}


def test_the_clock_of_the_gpu():
    done = bare.run("cuda-vectoradd", kinds=[5, 10], env={"LNS_DOUBLE_GPU_CLOCK": "5000000000"})
    calls = {c["correlationId"]: c for c in done.records(bare.RUNTIME)}
    for kernel in done.records(bare.KERNEL):
        assert 5e9 <= kernel["start"] - calls[kernel["correlationId"]]["start"] < 35e9
    # A drift of -50 % makes each kernel look half as long.
    done = bare.run("cuda-vectoradd", kinds=[10], env={"LNS_DOUBLE_GPU_CLOCK": "0:-500000"})
    length = bare.kernel_ns(16, 256)
    assert all(abs(k["end"] - k["start"] - length / 2) <= 500 for k in done.records(bare.KERNEL))


def test_errors_by_name():
    done = bare.run("cuda-vectoradd", env={"LNS_DOUBLE_FAIL": "cuptiSubscribe=39"})
    assert [line for line in done.lines if "failed" in line] == [{"failed": "cuptiSubscribe", "argument": 0, "result": 39}]
    done = bare.run("cuda-vectoradd", env={"LNS_DOUBLE_FAIL": "cuptiActivityEnable:10=27,cuptiActivityEnable:38=35"})
    failed = [(line["argument"], line["result"]) for line in done.lines if "failed" in line]
    assert failed == [(10, 27), (38, 35)] and not done.records(bare.KERNEL) and done.records(bare.MEMCPY)
    done = bare.Run([bare.program("cuda-vectoradd")], env={"LNS_DOUBLE_FAIL": "cudaMalloc@3=2"})
    assert done.status == 1 and "out of memory" in done.stderr
    assert [c["returnValue"] for c in done.records(bare.RUNTIME, cbid=20)] == [0, 0, 2]


OTHER = """
import ctypes
library = ctypes.CDLL("libcupti.so.13")
class Params(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("other", ctypes.c_char_p), ("room", ctypes.c_size_t)]
handle, other = ctypes.c_void_p(), ctypes.create_string_buffer(64)
params = Params(ctypes.sizeof(Params), b"test", ctypes.cast(other, ctypes.c_char_p), 64)
print(library.cuptiSubscribe(ctypes.byref(handle), None, None))
print(library.cuptiSubscribe_v2(ctypes.byref(handle), None, None, ctypes.byref(params)), other.value.decode())
"""


def test_another_tool():
    environment = dict(os.environ, LNS_DOUBLE_OTHER_TOOL="Other Profiler")
    done = subprocess.run([bare.WITH, "python3", "-c", OTHER], env=environment, capture_output=True, text=True)
    assert done.stdout == "39\n39 CUPTI for Other Profiler\n", done.stdout + done.stderr


def test_no_driver_and_no_device():
    path = bare.program("cuda-vectoradd")
    done = bare.Run([path], env={"LNS_DOUBLE_LIBCUDA": "no"})
    assert done.status == 1 and "driver version is insufficient" in done.stderr and not done.lines
    done = bare.Run([path], env={"LNS_DOUBLE_DEVICES": "0"})
    assert done.status == 1 and "no CUDA-capable device" in done.stderr and not done.lines
    call = "import ctypes; print(ctypes.CDLL('libcupti.so.13').cuptiActivityEnable(10))"
    done = subprocess.run([bare.WITH, "python3", "-c", call], env=dict(os.environ, LNS_DOUBLE_LIBCUDA="no"),
                          capture_output=True, text=True)
    assert done.stdout == "999\n", "as NVIDIA's own without a driver"


def test_equal_names():
    done = bare.run("cuda-memory", ["copies"], env={"LNS_DOUBLE_DEVICES": "3", "LNS_DOUBLE_NAMES": "First;Same Name"})
    assert [d["name"] for d in done.records(bare.DEVICE)] == ["First", "Same Name", "Same Name"]


def test_kinds_enabled_in_a_range():
    # cuda-ranges.cu: 3 ranges of 10 kernels; what is outside is not recorded, what exists is dumped.
    done = bare.run("cuda-ranges", env={"LNS_CLIENT_RANGE": "1"})
    assert [k["name"] for k in done.records(bare.KERNEL)] == ["_Z6insidePi"] * 30
    assert len(done.records(bare.CONTEXT)) == len(done.records(bare.DEVICE)) == 3
    assert {c["cbid"] for c in done.records(bare.RUNTIME)} == {505, 165}, "launches and cudaDeviceSynchronize"
    assert len(done.records(bare.RUNTIME)) == 3 * 11


def test_the_worker_delivers_while_the_program_runs():
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        environment = dict(os.environ, CUDA_INJECTION64_PATH=bare.CLIENT, LNS_CLIENT_OUT=out, LNS_CLIENT_BUFFER_BYTES="4096",
                           LNS_CLIENT_PERIOD_MS="20", LNS_CLIENT_CALLBACKS="0")
        process = subprocess.Popen([bare.WITH, bare.program("cuda-days"), "loop", "30"], env=environment,
                                   stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        for _ in range(1000):
            with open(out, encoding="utf-8") as file:
                if '"kind":10,' in file.read():
                    break
            time.sleep(0.01)
        else:
            raise AssertionError("no buffer came within 10 s")
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


tap.main(globals(), long=(test_kinds_enabled_in_a_range,))
