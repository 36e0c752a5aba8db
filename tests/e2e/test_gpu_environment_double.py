# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests what `lanescope profile` samples of GPUs, on the doubles of CUDA and NVML, whose values are ramps
(tests/double/README.md). This shows nothing about a real GPU or its driver."""

import csv
import glob
import io
import os
import re
import signal
import subprocess
import time

import profiling
import tap
from profiling import wait_for
from terminals import Place

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
SAMPLER = "lanescope-sampler"

# Uses the GPUs whose numbers are given, then waits for a line.
USES = """
import ctypes, sys
runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
for device in sys.argv[1:]:
    assert runtime.cudaSetDevice(int(device)) == 0 and runtime.cudaMalloc(ctypes.byref(pointer), 1024) == 0
print("used", flush=True)
sys.stdin.readline()
"""

# Value number n of each metric of GPU g.
RAMPS = {
    "Power [mW]": lambda n, g: 100000 * (1 + g) + n,
    "SM clock [MHz]": lambda n, g: 1980 - n,
    "Memory clock [MHz]": lambda n, g: 2619,
    "Temperature [°C]": lambda n, g: 40 + n,
    "Memory temperature [°C]": lambda n, g: 50 + n,
    "Memory in use [B]": lambda n, g: (1 << 30) + (n << 20),
    "PCIe sent [KB/s]": lambda n, g: 1000 + n,
    "PCIe received [KB/s]": lambda n, g: 2000 + n,
    "NVLink sent [KiB/s]": lambda n, g: 1000 * (n + 1),
    "NVLink received [KiB/s]": lambda n, g: 1400 * (n + 1),
    "Corrected memory errors": lambda n, g: n,
    "Uncorrected memory errors": lambda n, g: 0,
}


def environment(**variables):
    """Without the variables of the machine's, with NVML unless LNS_DOUBLE_NVML says otherwise."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_") and k != "CUDA_VISIBLE_DEVICES"}
    return {**kept, "LNS_DOUBLE_NVML": "yes", **variables}


def query(folder, report, statement):
    run = subprocess.run([tap.LANESCOPE, "sql", folder.file(report), statement], capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return [line.split("\t") for line in run.stdout.decode().splitlines()]


def samples(folder, report="r.rep"):
    """{(number of the GPU, metric): [(time, value), …]}"""
    values = {}
    for kind, name, time, value in query(folder, report, "SELECT typeId, metricName, timestamp, value FROM GPU_METRICS "
                                         "JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId) ORDER BY timestamp"):
        values.setdefault((int(kind) & 0xff, name), []).append((int(time), int(value)))
    return values


def is_sampled(folder, n, report="r.rep"):
    """Whether each GPU in the report has N values of each metric."""
    values = samples(folder, report) if os.path.exists(folder.file(report)) else {}
    return values and all(len(value) >= n for value in values.values())


def record(folder, *switches, gpus="0", n=5, code=None, until=None, variables=None, traces="cuda"):
    """Records a program until each metric has N values, there is a diagnostic with CODE, or UNTIL () is true. Returns the outcome
    and stderr."""
    running = folder.start("-t", traces, "-f", "true", "-o", "r", *switches, "/usr/bin/python3", "-c", USES, *gpus.split(),
                           before=[WITH], env=environment(**(variables or {})), stdin=subprocess.PIPE)
    assert running.stdout.readline() == b"used\n"
    if code is not None:
        wait_for(lambda: code in [d["code"] for d in folder.report("r.rep").diagnostics], code)
    elif until is not None:
        wait_for(until, "samples in the report")
    elif n > 0:
        wait_for(lambda: is_sampled(folder, n), "samples in the report")
    _, err = running.communicate(b"\n", timeout=30)
    return running.returncode, err.decode()


def test_each_value_is_in_the_report():
    with profiling.Folder() as folder:
        code, err = record(folder, "--gpu-environment=50", n=40)
        assert code == 0 and "LNS-GPU" not in err, err
        values = samples(folder)
        assert {metric for _, metric in values} == set(RAMPS) and {gpu for gpu, _ in values} == {0}, values.keys()
        for (gpu, metric), found in values.items():
            assert [value for _, value in found] == [RAMPS[metric](n, gpu) for n in range(len(found))], (metric, found)
            assert all(a < b for (a, _), (b, _) in zip(found, found[1:])), metric
        # They lie under the GPU that the program uses.
        assert query(folder, "r.rep", "SELECT cuDevice, busLocation FROM TARGET_INFO_GPU") == [["0", "0000:1B:00.0"]]
        assert not folder.report("r.rep").codes()


def test_clocks_that_are_held_down():
    """Readings 5 to 9 at the power limit, 8 to 11 too hot; idle, which is bit 0, holds nothing."""
    with profiling.Folder() as folder:
        code, err = record(folder, "--gpu-environment=50", n=0, until=lambda: len(samples(folder).get((0, "Power [mW]"), [])) > 20,
                           variables={"LNS_DOUBLE_NVML_REASONS": "0-4=1,5-9=4,8-11=20"})
        assert code == 0, err
        values = samples(folder)
        times = [time for time, _ in values[0, "Power [mW]"]]
        limit, heat = values[0, "Clocks held: power limit"], values[0, "Clocks held: temperature (software)"]
        assert {metric for _, metric in values} - set(RAMPS) == {"Clocks held: power limit", "Clocks held: temperature (software)"}
        assert limit == [(time, int(n < 10)) for n, time in enumerate(times) if n >= 5], limit
        assert heat == [(time, int(n < 12)) for n, time in enumerate(times) if n >= 8], heat
        out = subprocess.run([tap.LANESCOPE, "analyze", "-r", "gpu_clocks", "-f", "csv", folder.file("r.rep")], capture_output=True, check=True)
        found = {row["Reason"]: row for row in csv.DictReader(io.StringIO(out.stdout.decode()))}
        for name, first, end in (("Clocks held: power limit", 5, 10), ("Clocks held: temperature (software)", 8, 12)):
            row = found.pop(name)
            assert (int(row["Start (ns)"]), int(row["Duration (ns)"])) == (times[first], times[end] - times[first]), row
            # The clock falls by 1 MHz a reading.
            assert (row["Lowest SM Clock (MHz)"], row["Highest of All (MHz)"], row["Device ID"]) == (str(1980 - end), "1980", "0"), row
        assert not found


def test_only_gpus_in_use_are_sampled():
    with profiling.Folder() as folder:
        code, err = record(folder, gpus="1 2", variables={"LNS_DOUBLE_DEVICES": "4"})
        assert code == 0, err
        values = samples(folder)
        assert {gpu for gpu, _ in values} == {1, 2}, values.keys()
        assert [value for _, value in values[2, "Power [mW]"]][:3] == [300000, 300001, 300002]


def test_a_driver_that_does_not_tell_its_bus_at_once():
    for failure in ("cuDeviceGetCount@1=3", "cuDeviceGetPCIBusId@1=3", "cuDeviceGetPCIBusId@2=3"):
        with profiling.Folder() as folder:
            code, err = record(folder, "--cuda-flush-interval=20", gpus="0 1", variables={"LNS_DOUBLE_DEVICES": "2", "LNS_DOUBLE_FAIL": failure},
                               until=lambda: {gpu for gpu, _ in samples(folder)} == {0, 1} if os.path.exists(folder.file("r.rep")) else False)
            assert code == 0, err


def test_none_samples_nothing():
    with profiling.Folder() as folder:
        code, err = record(folder, "--gpu-environment=none", n=0)
        assert code == 0 and not samples(folder) and SAMPLER not in err, err


# Uses a GPU. Then each line begins or ends a capture range.
RANGES = """
import ctypes, sys
runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), 1024) == 0
print("used", flush=True)
for i, _ in enumerate(sys.stdin):
    assert (runtime.cudaProfilerStop if i % 2 else runtime.cudaProfilerStart)() == 0
    print("done", flush=True)
"""


def test_each_range_has_the_samples_of_its_time():
    with profiling.Folder() as folder:
        running = folder.start("-t", "cuda", "-o", "r", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "--gpu-environment=50",
                               "/usr/bin/python3", "-c", RANGES, before=[WITH], env=environment(), stdin=subprocess.PIPE)

        def step():
            running.stdin.write(b"\n")
            running.stdin.flush()
            assert running.stdout.readline() == b"done\n"

        assert running.stdout.readline() == b"used\n"
        for number in (1, 2):
            step()
            wait_for(lambda: is_sampled(folder, 20, f"r.{number}.rep"), f"samples in report {number}")
            step()
        _, err = running.communicate(timeout=30)
        assert running.returncode == 0, err
        last = None
        for number in (1, 2):
            report, values = folder.report(f"r.{number}.rep"), samples(folder, f"r.{number}.rep")
            start = int(report.info.get("start_ns", 0))
            for metric in ("Power [mW]", "PCIe sent [KB/s]"):
                times, readings = zip(*values[0, metric])
                assert start <= times[0] and list(readings) == list(range(readings[0], readings[0] + len(readings))), (metric, readings)
            # Between the ranges, and at their edges, no more is missing than what was read outside.
            power = [value for _, value in values[0, "Power [mW]"]]
            assert last is None or power[0] > last, (power, last)
            last = power[-1]


def test_the_last_seconds_are_kept_with_their_samples():
    with profiling.Folder() as folder:
        running = folder.start("-t", "cuda", "-o", "r", "--keep=1", "--gpu-environment=50", "/usr/bin/python3", "-c",
                               USES.replace("sys.stdin.readline()", "import time; time.sleep(2.5)"), "0",
                               before=[WITH], env=environment(), stdin=subprocess.DEVNULL)
        _, err = running.communicate(timeout=30)
        assert running.returncode == 0, err
        times, readings = zip(*samples(folder)[0, "Power [mW]"])
        assert len(readings) > 10 and readings[0] > 100000, readings
        assert list(readings) == list(range(readings[0], readings[0] + len(readings))), readings


def test_what_a_gpu_does_not_support_is_left_out():
    with profiling.Folder() as folder:
        # 3: not supported; 138 and 139 are what NVLink sent and received
        code, err = record(folder, variables={"LNS_DOUBLE_FAIL": "nvmlDeviceGetTotalEccErrors=3,nvmlDeviceGetFieldValues:138=3,"
                                                                 "nvmlDeviceGetFieldValues:139=3,nvmlDeviceGetPcieThroughput=3"})
        assert code == 0 and "LNS-GPU" not in err, err
        left_out = {name for name in RAMPS if name.startswith(("NVLink", "PCIe")) or "memory errors" in name}
        assert {metric for _, metric in samples(folder)} == set(RAMPS) - left_out


def test_a_gpu_is_lost_midway():
    with profiling.Folder() as folder:
        code, err = record(folder, "--gpu-environment=50", code="LNS-GPU-003", variables={"LNS_DOUBLE_FAIL": "nvmlDeviceGetTemperature@20=15"})
        assert code == 0 and err.count("[LNS-GPU-003]") == 1 and "0000:1B:00.0 stopped answering (GPU is lost, NVML error 15)" in err, err
        power = [value for _, value in samples(folder)[0, "Power [mW]"]]
        assert power == [100000 + n for n in range(19)], power
        assert "LNS-GPU-003" in folder.report("r.rep").codes()


def test_a_gpu_hangs():
    """Neither the others wait for it, nor what of it is read elsewhere, nor the end of the recording."""
    with profiling.Folder() as folder:
        code, err = record(folder, gpus="0 1", variables={"LNS_DOUBLE_DEVICES": "2", "LNS_DOUBLE_NVML_HANGS": "0"},
                           until=lambda: len(samples(folder).get((1, "Power [mW]"), [])) > 5)
        values = samples(folder)
        assert code == 0 and folder.report("r.rep").info["state"] == profiling.COMPLETE, err
        assert {metric for gpu, metric in values if gpu == 0} == {"PCIe sent [KB/s]", "PCIe received [KB/s]"}, values.keys()
        assert {metric for gpu, metric in values if gpu == 1} == set(RAMPS), values.keys()


def test_nothing_is_read_while_nothing_is_collected():
    """Between two reports of a session, and before the first."""
    with Place() as place:
        place.environment = {**environment(), "XDG_RUNTIME_DIR": place.file("run")}
        launch = place.begin("launch", "-t", "cuda", "--gpu-environment=50", "/usr/bin/python3", "-c",
                             USES.replace("sys.stdin.readline()", "import time; time.sleep(60)"), "0", before=[WITH])
        assert launch.stdout.readline() == "used\n" and not samplers(launch.pid)
        power = []
        for name in ("first", "second"):
            place.ok("start", "-o", name)
            wait_for(lambda: is_sampled(place, 10, f"{name}.rep"), "samples in the report")
            place.ok("stop")
            power.append([value - 100000 for _, value in samples(place, f"{name}.rep")[0, "Power [mW]"]])
            # Meanwhile another session reads its GPU 30 times.
            with profiling.Folder() as folder:
                assert record(folder, "--gpu-environment=50", n=30)[0] == 0
        os.kill(profiling.children(launch.pid)[0], signal.SIGTERM)
        place.end(launch)
        first, second = power
        # Values are numbers of readings. Some may be under way when the pause begins.
        assert first[0] == 0 and second[0] - first[-1] < 30, power


def test_no_library():
    """A note, as a program may use a GPU without NVML; a warning where samples were asked for."""
    with profiling.Folder() as folder:
        for switches, word in (([], "note"), (["--gpu-environment=10"], "warning")):
            code, err = record(folder, *switches, code="LNS-GPU-001", variables={"LNS_DOUBLE_NVML": "no"})
            told = [line for line in err.splitlines() if "LNS-GPU" in line]
            assert code == 0 and len(told) == 1, err
            assert re.match(rf"lanescope: {word}: .*libnvidia-ml\.so\.1.*\[LNS-GPU-001\]", told[0]), told


def test_nvml_answers_an_error():
    with profiling.Folder() as folder:
        for failing, text in (("nvmlInit_v2=9", "cannot be initialised (Driver Not Loaded, NVML error 9)"),
                              ("nvmlDeviceGetHandleByPciBusId_v2=6", "0000:1B:00.0 are not recorded")):
            code, err = record(folder, code="LNS-GPU-002", variables={"LNS_DOUBLE_FAIL": failing})
            assert code == 0 and err.count("[LNS-GPU-002]") == 1 and text in err, err
            assert not samples(folder)


def samplers(pid):
    """Pids of the samplers that the lanescope PID started."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += [int(word) for word in file.read().split()]
    return [pid for pid in found if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == SAMPLER]


def start(folder):
    """Begins a recording that has samples. Returns it and its sampler."""
    running = folder.start("-t", "cuda", "-f", "true", "-o", "r", "/usr/bin/python3", "-c", USES, "0", before=[WITH],
                           env=environment(LD_PRELOAD="/nowhere/libx.so"), stdin=subprocess.PIPE)
    assert running.stdout.readline() == b"used\n"
    wait_for(lambda: is_sampled(folder, 2), "samples in the report")
    sampler, = samplers(running.pid)
    return running, sampler


def test_the_sampler_is_killed():
    """The recording goes on without it, and says so."""
    with profiling.Folder() as folder:
        running, sampler = start(folder)
        with open(f"/proc/{sampler}/environ", "rb") as file:
            assert b"LD_PRELOAD" not in file.read()
        os.kill(sampler, signal.SIGKILL)
        wait_for(lambda: "LNS-GPU-004" in folder.report("r.rep").codes(), "LNS-GPU-004")
        _, err = running.communicate(b"\n", timeout=30)
        assert running.returncode == 0 and err.count(b"[LNS-GPU-004]") == 1, err
        assert folder.report("r.rep").info["state"] == profiling.COMPLETE and len(samples(folder)) == len(RAMPS)


def test_the_sampler_ends_with_lanescope():
    with profiling.Folder() as folder:
        for kill in (False, True):
            running, sampler = start(folder)
            if kill:
                running.kill()
            running.communicate(b"\n", timeout=30)
            wait_for(lambda: not profiling.alive(sampler), "the end of the sampler")


def test_without_the_trace_of_cuda():
    """Which GPUs the program uses is not known: nothing is sampled, or what CUDA_VISIBLE_DEVICES allows."""
    with profiling.Folder() as folder:
        variables = {"LNS_DOUBLE_DEVICES": "4", "CUDA_VISIBLE_DEVICES": "3,GPU-6c616e65-7363-6f70-652d-000000000001,9,0"}
        code, err = record(folder, n=0, variables=variables, traces="none")
        assert code == 0 and not samples(folder), err
        code, err = record(folder, "--gpu-environment=20", variables=variables, traces="none")
        assert code == 0 and {gpu for gpu, _ in samples(folder)} == {1, 3}, (err, samples(folder).keys())


def test_a_program_without_a_gpu_has_no_sampler():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "-o", "r", "true", before=[WITH], env=environment())
        assert run.code == 0 and "LNS-GPU" not in run.err and not samples(folder), run.err


def test_bad_values():
    with profiling.Folder() as folder:
        for value in ("0", "101", "x", "10x", "-1"):
            run = folder.profile(f"--gpu-environment={value}", "true")
            assert run.code == 125 and "is not none or a number from 1 to 100" in run.err, run


tap.main(globals(), gate=(test_each_value_is_in_the_report,))
