# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests `lanescope profile --gpu-metrics-devices` on the double of CUPTI, whose metrics are ramps (tests/double/README.md). This
shows nothing about a real GPU, its driver or CUPTI."""

import csv
import glob
import io
import os
import re
import shutil
import signal
import statistics
import subprocess

import profiling
import tap
from profiling import wait_for
from terminals import Place

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")

# Waits for a line.
WAITS = "import sys; print('ready', flush=True); sys.stdin.readline()"

SLEEPS = "import time; print('ready', flush=True); time.sleep(60)"

# The metrics of the double's chip: those of a set, by their numbers in the list of the double (tests/double/cupti/pm.c).
SMS, ISSUE, TENSOR, GR = ("SMs Active [%]", 0), ("SM Issue [%]", 3), ("Tensor Active [%]", 4), ("GR Active [%]", 5)
READ, WRITE, RX, TX = ("DRAM Read Bandwidth [%]", 13), ("DRAM Write Bandwidth [%]", 14), ("PCIe RX Throughput [%]", 7), ("PCIe TX Throughput [%]", 8)
LINK_RX, LINK_TX = ("NVLink RX Bandwidth [%]", 9), ("NVLink TX Bandwidth [%]", 10)
CACHE, HITS = ("L2 Throughput [%]", 15), ("L2 Hit Rate [%]", 12)
CLOCK, DISPATCH = ("GPC Clock Frequency [Hz]", 11), ("Dispatch Started [%]", 6)
COMPUTE = [SMS, ISSUE, TENSOR, GR, CLOCK, DISPATCH]
MEMORY = [READ, WRITE, RX, TX, LINK_RX, LINK_TX, CACHE, HITS]
GENERAL = dict(COMPUTE + MEMORY)


def environment(**variables):
    """Without the variables of the machine's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_") and k != "CUDA_VISIBLE_DEVICES"}
    return {**kept, **variables}


def query(folder, report, statement):
    run = subprocess.run([tap.LANESCOPE, "sql", folder.file(report), statement], capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return [line.split("\t") for line in run.stdout.decode().splitlines()]


def samples(folder, report="r.rep"):
    """{(number of the GPU, metric): [(time, value), …]}"""
    values = {}
    if not os.path.exists(folder.file(report)):
        return values
    for kind, name, time, value in query(folder, report, "SELECT typeId, metricName, timestamp, value FROM GPU_METRICS "
                                         "JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId) WHERE metricId >= 128 ORDER BY timestamp"):
        values.setdefault((int(kind) & 0xff, name), []).append((int(time), float(value)))
    return values


def is_sampled(folder, n, report="r.rep"):
    values = samples(folder, report)
    return values and all(len(value) >= n for value in values.values())


def record(folder, *switches, n=5, until=None, variables=None, program=WAITS, devices="all", hz=200, traces="none"):
    """Records a program until each metric has N values, or UNTIL () is true. Returns the outcome and stderr."""
    running = folder.start("-t", traces, "-f", "true", "-o", "r", f"--gpu-metrics-devices={devices}", f"--gpu-metrics-frequency={hz}", *switches,
                           "/usr/bin/python3", "-c", program,
                           before=[WITH], env=environment(**(variables or {})), stdin=subprocess.PIPE)
    assert running.stdout.readline() == b"ready\n"
    if until is not None or n > 0:
        wait_for(until or (lambda: is_sampled(folder, n)), "samples in the report")
    _, err = running.communicate(b"\n", timeout=60)
    return running.returncode, err.decode()


def numbers(values, metric, gpu=0):
    """The numbers of the samples that VALUES are of, by the ramp of METRIC."""
    found = [(value - metric - 1000 * gpu) * 64 for _, value in values]
    assert all(number == int(number) for number in found), found
    return [int(number) for number in found]


def test_each_value_is_in_the_report():
    """From the beginning of the report on, one interval apart."""
    with profiling.Folder() as folder:
        code, err = record(folder, hz=1000, n=300)
        assert code == 0 and "LNS-GPU" not in err, err
        values = samples(folder)
        assert {metric for _, metric in values} == set(GENERAL) and {gpu for gpu, _ in values} == {0}, values.keys()
        for (gpu, metric), found in values.items():
            step = 2 if metric == HITS[0] else 1  # it is undefined in every second sample
            first = numbers(found[:1], GENERAL[metric])[0]
            assert first > 0 and numbers(found, GENERAL[metric]) == list(range(first, first + len(found) * step, step)), (metric, found[:20])
            assert all(abs(b - a - 1000000 * step) <= 2 for (a, _), (b, _) in zip(found, found[1:])), (metric, found[:20])
        # They lie under the GPU, whose name is known without a program that uses it.
        assert query(folder, "r.rep", "SELECT busLocation, name FROM TARGET_INFO_GPU") == [["0000:1B:00.0", "Lanescope Double GPU"]]
        # The report says how wrong the times may be.
        info = subprocess.run([tap.LANESCOPE, "info", folder.file("r.rep")], capture_output=True, check=True).stdout.decode()
        assert re.search(r"^metrics of GPU 0: times at most [\d.,]+ \w+ too early or [\d.,]+ \w+ too late$", info, re.M), info
        assert not set(folder.report("r.rep").codes()) - {"LNS-NVTX-002"}, folder.report("r.rep").codes()


def test_the_next_cupti_is_used_if_the_first_refuses():
    with profiling.Folder() as folder:
        os.makedirs(folder.file("cuda/lib64"))
        shutil.copy(os.path.join(tap.BUILD, "tests", "double", "generations", "13.0", "libcupti.so.13"), folder.file("cuda/lib64/libcupti.so.13"))
        variables = {"CUDA_HOME": folder.file("cuda"), "LNS_DOUBLE_REFUSES": "/generations/"}
        code, err = record(folder, variables=variables)
        assert code == 0 and "LNS-GPU" not in err, err
        # If all refuse, the sentence is as ever.
        code, err = record(folder, n=0, variables={**variables, "LNS_DOUBLE_REFUSES": "/"})
        assert code == 0 and "LNS-GPU" in err and not samples(folder), err


def test_help_lists_gpus_and_sets():
    """No program is needed for that."""
    def shown(*switches, **variables):
        done = subprocess.run([WITH, tap.LANESCOPE, "profile", *switches], capture_output=True, text=True, env=environment(**variables), timeout=60)
        return done.returncode, done.stdout, done.stderr

    code, out, err = shown("--gpu-metrics-devices=help", LNS_DOUBLE_DEVICES="2", LNS_DOUBLE_NAMES="First;Second", CUDA_VISIBLE_DEVICES="1")
    lines = out.splitlines()
    assert code == 0 and not err and [re.sub(r"\(.*\)", "(BUS)", line) for line in lines[:2]] == ["0: First (BUS)", "1: Second (BUS)"], (out, err)
    assert len({re.search(r"\((.*)\)", line)[1] for line in lines[:2]}) == 2 and [line.split(":")[0] for line in lines[2:]] == ["all", "cuda-visible", "none"], out
    code, out, err = shown("--gpu-metrics-device", "help", LNS_DOUBLE_DEVICES="0")
    assert code == 125 and not out and err.endswith("--gpu-metrics-devices: the CUDA driver finds no GPU; `nvidia-smi -L` lists those of the machine\n"), (out, err)
    code, out, err = shown("--gpu-metrics-set=help")
    names = [name for line in out.splitlines() for name in line.split(":")[0].split(", ")]
    assert code == 0 and names[:3] == ["general", "compute", "memory"] and "gh100" in names, out


def test_sums():
    """`stats` has what the samples give."""
    with profiling.Folder() as folder:
        code, err = record(folder, variables={"LNS_DOUBLE_DEVICES": "2"})
        assert code == 0, err
        values = samples(folder)
        out = subprocess.run([tap.LANESCOPE, "stats", "-r", "gpu_metrics_sum", "-f", "csv", folder.file("r.rep")], capture_output=True, check=True)
        rows = list(csv.DictReader(io.StringIO(out.stdout.decode())))
        assert {(int(row["GPU"]), row["Metric"]) for row in rows} == set(values) and {gpu for gpu, _ in values} == {0, 1}, out.stdout
        for row in rows:
            numbers_of = [value for _, value in values[int(row["GPU"]), row["Metric"]]]
            assert int(row["Samples"]) == len(numbers_of) and row["Name"] == "Lanescope Double GPU", row
            for title, value in (("Avg", statistics.fmean(numbers_of)), ("Min", min(numbers_of)), ("Max", max(numbers_of))):
                assert abs(float(row[title]) - value) <= 0.0051, (row, title, value)


def test_sets():
    with profiling.Folder() as folder:
        for name, metrics in (("compute", COMPUTE), ("memory", MEMORY), ("gh100", GENERAL.items())):
            code, err = record(folder, f"--gpu-metrics-set={name}")
            assert code == 0 and {metric for _, metric in samples(folder)} == {metric for metric, _ in metrics}, (name, err, samples(folder).keys())


def test_a_set_is_what_the_chip_can_count_at_once():
    """Metrics that the chip lacks are left out, and then those that are asked for least, as one pass has no room for them."""
    with profiling.Folder() as folder:
        for variables, metrics in (({"LNS_DOUBLE_PM_WITHOUT": "sm__pipe_tensor_cycles_active_realtime,nvlrx__bytes_packet_request_data_user"},
                                    set(GENERAL) - {TENSOR[0], LINK_RX[0]}),
                                   ({"LNS_DOUBLE_PM_ROOM": "5"}, {metric for metric, _ in (SMS, ISSUE, TENSOR, GR, READ)}),
                                   # another group, and none: L2 throughput then needs several passes
                                   ({"LNS_DOUBLE_PM_GROUP": "TriageAC"}, set(GENERAL)),
                                   ({"LNS_DOUBLE_PM_GROUP": "Other"}, {metric for metric, _ in (SMS, CLOCK)})):
            code, err = record(folder, variables=variables)
            assert code == 0 and {metric for _, metric in samples(folder)} == metrics, (variables, err, samples(folder).keys())


def test_chips_that_sample_by_cycles():
    with profiling.Folder() as folder:
        for chip in ("TU102", "GA100"):
            code, err = record(folder, hz="1k", variables={"LNS_DOUBLE_PM_CHIP": chip})
            found = numbers(samples(folder)[0, SMS[0]], SMS[1])
            assert code == 0 and found == list(range(found[0], found[0] + len(found))), (chip, err)


def test_which_gpus():
    with profiling.Folder() as folder:
        for devices, visible, gpus in (("all", "1", {0, 1, 2}), ("0,2", "1", {0, 2}), ("1", None, {1}), ("cuda-visible", "0", {0})):
            variables = {"LNS_DOUBLE_DEVICES": "3", **({"CUDA_VISIBLE_DEVICES": visible} if visible else {})}
            code, err = record(folder, variables=variables, devices=devices)
            values = samples(folder)
            assert code == 0 and {gpu for gpu, _ in values} == gpus and "LNS-GPU" not in err, (devices, err, values.keys())
            for gpu in gpus:
                assert numbers(values[gpu, SMS[0]], SMS[1], gpu)[0] in range(1, 100000), (devices, gpu)
        code, err = record(folder, variables={"LNS_DOUBLE_DEVICES": "2"}, devices="0,5")
        assert code == 0 and err.count("[LNS-GPU-006]") == 1 and "GPU 5 of --gpu-metrics-devices is not there" in err, err
        assert {gpu for gpu, _ in samples(folder)} == {0}


def test_none_is_the_default():
    with profiling.Folder() as folder:
        code, err = record(folder, n=0, devices="none")
        assert code == 0 and not samples(folder) and "LNS-GPU" not in err, err


# Uses the GPU, then waits for a line.
USES = """
import ctypes, sys
runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), 1024) == 0
print("ready", flush=True)
sys.stdin.readline()
"""


def test_beside_a_trace_of_cuda():
    """Metrics lie under the GPU of the process that uses it, though they begin before it does; and beside those of NVML."""
    with profiling.Folder() as folder:
        code, err = record(folder, traces="cuda", program=USES, variables={"LNS_DOUBLE_NVML": "yes"},
                           until=lambda: is_sampled(folder, 5) and query(folder, "r.rep", "SELECT 1 FROM GPU_METRICS WHERE metricId < 128 LIMIT 1"))
        assert code == 0 and "LNS-GPU" not in err, err
        assert query(folder, "r.rep", "SELECT count(*) FROM TARGET_INFO_GPU") == [["1"]]
        assert query(folder, "r.rep", "SELECT count(*) FROM TARGET_INFO_CUDA_DEVICE") == [["1"]]
        assert query(folder, "r.rep", "SELECT count(DISTINCT typeId) FROM GPU_METRICS") == [["1"]]


def has_gap(folder):
    found = samples(folder).get((0, SMS[0]), [])
    return found and numbers(found[-1:], SMS[1])[0] > 450


def test_samples_that_are_overwritten():
    """What a GPU overwrites is lost, counted and told; the samples around the gap are there."""
    with profiling.Folder() as folder:
        code, err = record(folder, hz=1000, until=lambda: has_gap(folder), variables={"LNS_DOUBLE_PM_OVERWRITTEN": "400-439"})
        assert code == 0 and err.count("[LNS-GPU-013]") == 1 and "40 samples of GPU metrics are lost" in err, err
        found = numbers(samples(folder)[0, SMS[0]], SMS[1])
        assert found == [*range(found[0], 400), *range(440, found[0] + len(found) + 40)], found
        report = folder.report("r.rep")
        assert sum(loss["others"] for loss in report.losses) == 40 and "LNS-GPU-013" in report.codes(), report.losses


# What keeps counters from being sampled: variables, the diagnostic, and a part of its sentence.
REFUSALS = [
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingEnable=35"}, "LNS-GPU-007", "NVreg_RestrictProfilingToAdminUsers=0"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingGetCounterAvailability=35"}, "LNS-GPU-007", "run Lanescope as root"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingEnable=26"}, "LNS-GPU-008", "0000:1B:00.0 are not recorded, as another program holds its counters"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingEnable=7"}, "LNS-GPU-008", "dcgmi profile --pause"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingStart=26"}, "LNS-GPU-008", "dcgmi profile --pause"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingEnable=43"}, "LNS-GPU-009", "MIG mode"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingEnable=33"}, "LNS-GPU-009", "CUPTI error 33"),
    ({"LNS_DOUBLE_PM_CHIP": "GV100"}, "LNS-GPU-009", "CUPTI error 46"),
    ({"LNS_DOUBLE_PM_ROOM": "0"}, "LNS-GPU-009", "none of the set for the chip GH100"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingSetConfig=999"}, "LNS-GPU-010", "CUPTI refuses"),
    ({"LNS_DOUBLE_FAIL": "cuptiPmSamplingDecodeData@1=999"}, "LNS-GPU-011", "end early"),
    ({"LNS_DOUBLE_NVPERF": "no"}, "LNS-GPU-005", "libnvperf_host.so"),
    ({"LNS_DOUBLE_FAIL": "cuInit=100"}, "LNS-GPU-005", "CUDA_ERROR_NO_DEVICE"),
    ({"LNS_DOUBLE_FAIL": "cuptiProfilerInitialize=999"}, "LNS-GPU-010", "CUPTI refuses"),
    # ahead of the clock, behind it, and not of it
    ({"LNS_DOUBLE_PM_CLOCK": "5000000000"}, "LNS-GPU-012", "cannot be right"),
    ({"LNS_DOUBLE_PM_CLOCK": "-5000000000"}, "LNS-GPU-012", "cannot be right"),
    ({"LNS_DOUBLE_FAIL": "cuptiActivityRegisterTimestampCallback=1"}, "LNS-GPU-010", "CUPTI refuses"),
]


def test_each_refusal_has_one_sentence():
    """On the terminal and in the report; the program runs as ever, and no sample is in the report."""
    with profiling.Folder() as folder:
        for variables, code, text in REFUSALS:
            result, err = record(folder, n=0, variables=variables)
            assert result == 0 and err.count(f"[{code}]") == 1 and err.count("LNS-GPU") == 1 and text in err, (variables, err)
            assert not samples(folder) and folder.report("r.rep").codes().count(code) == 1, (variables, samples(folder))


def test_cupti_is_too_old_or_not_there():
    with profiling.Folder() as folder:
        for path, text in ((os.path.join(tap.BUILD, "tests", "double", "generations", "12.4"), "CUPTI is too old (API version 22)"),
                           ("/dev/null", "libcupti cannot be loaded (/dev/null: ")):
            code, err = record(folder, f"--cupti-path={path}", n=0, variables={"LNS_DOUBLE_CUPTI_VERSION": "22"})
            assert code == 0 and err.count("[LNS-GPU-005]") == 1 and text in err, err


def test_a_refusal_is_told_before_the_program_runs():
    """Of several GPUs, too: one sentence."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", "-o", "r", "--gpu-metrics-devices=all", "sh", "-c", "echo PROGRAM >&2", before=[WITH],
                             env=environment(LNS_DOUBLE_DEVICES="4", LNS_DOUBLE_FAIL="cuptiPmSamplingEnable=35"))
        assert run.code == 0 and run.err.count("[LNS-GPU-007]") == 1 and run.err.index("[LNS-GPU-007]") < run.err.index("PROGRAM"), run.err


def test_every_report_of_a_session_says_what_is_missing():
    with Place() as place:
        place.environment = {**environment(LNS_DOUBLE_FAIL="cuptiPmSamplingEnable=26"), "XDG_RUNTIME_DIR": place.file("run")}
        launch = place.begin("launch", "-t", "none", "--gpu-metrics-devices=all", "/usr/bin/python3", "-c", SLEEPS, before=[WITH])
        assert launch.stdout.readline() == "ready\n"
        for name in ("first", "second"):
            place.ok("start", "-o", name)
            place.ok("stop")
            assert place.report(f"{name}.rep").codes().count("LNS-GPU-008") == 1, place.report(f"{name}.rep").codes()
        os.kill(profiling.children(launch.pid)[0], signal.SIGTERM)
        place.end(launch)


def test_each_report_has_the_samples_of_its_time():
    """The GPU is not sampled between two reports: the ramp goes on where it was. The last samples of a report are in it, and the
    first one after each start is dropped."""
    with Place() as place:
        place.environment = {**environment(), "XDG_RUNTIME_DIR": place.file("run")}
        launch = place.begin("launch", "-t", "none", "--gpu-metrics-devices=all", "--gpu-metrics-frequency=1000", "/usr/bin/python3", "-c", SLEEPS,
                             before=[WITH])
        assert launch.stdout.readline() == "ready\n"
        last, is_late = -1, False
        for name in ("first", "second", "third"):
            place.ok("start", "-o", name)
            wait_for(lambda: is_sampled(place, 20, f"{name}.rep"), "samples in the report")
            place.ok("stop")
            found = numbers(samples(place, f"{name}.rep")[0, SMS[0]], SMS[1])
            assert found == list(range(found[0], found[0] + len(found))), found
            assert found[0] == last + 2 or (found[0] > last + 2 and is_late), (last, found[:3], found[-1])
            last, is_late = found[-1], "LNS-GPU-015" in place.report(f"{name}.rep").codes()
        os.kill(profiling.children(launch.pid)[0], signal.SIGTERM)
        place.end(launch)


# Each line begins or ends a capture range.
RANGES = """
import ctypes, sys
runtime = ctypes.CDLL("libcudart.so.13")
print("ready", flush=True)
for i, _ in enumerate(sys.stdin):
    assert (runtime.cudaProfilerStop if i % 2 else runtime.cudaProfilerStart)() == 0
    print("done", flush=True)
"""


def test_each_range_has_the_samples_of_its_time():
    with profiling.Folder() as folder:
        running = folder.start("-t", "cuda", "-o", "r", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "--gpu-metrics-devices=all",
                               "--gpu-metrics-frequency=1000", "/usr/bin/python3", "-c", RANGES, before=[WITH], env=environment(), stdin=subprocess.PIPE)

        def step():
            running.stdin.write(b"\n")
            running.stdin.flush()
            assert running.stdout.readline() == b"done\n"

        assert running.stdout.readline() == b"ready\n"
        for number in (1, 2):
            step()
            wait_for(lambda: is_sampled(folder, 20, f"r.{number}.rep"), f"samples in report {number}")
            step()
        _, err = running.communicate(timeout=60)
        assert running.returncode == 0, err
        last = 0
        for number in (1, 2):
            found = samples(folder, f"r.{number}.rep")[0, SMS[0]]
            end_ns = folder.report(f"r.{number}.rep").info["end"]
            assert found[-1][0] <= end_ns, (end_ns, found[-1])
            found = numbers(found, SMS[1])
            assert found == list(range(found[0], found[0] + len(found))) and found[0] > last, (last, found)
            last = found[-1]


def test_the_last_seconds_are_kept_with_their_samples():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", "-o", "r", "--keep=1", "--gpu-metrics-devices=all", "--gpu-metrics-frequency=1000", "sleep", "2.5",
                             before=[WITH], env=environment())
        assert run.code == 0, run.err
        found = numbers(samples(folder)[0, SMS[0]], SMS[1])
        assert found == list(range(found[0], found[0] + len(found))) and 0 < found[0] and len(found) > 100, found


def test_cupti_hangs():
    """Wherever it does, the program runs, and the recording ends as ever."""
    with profiling.Folder() as folder:
        now = folder.file("now")

        def begin_to_hang():
            """Once there are samples, as those from before the program are not recorded."""
            if not is_sampled(folder, 1):
                return False
            with open(now, "w", encoding="ascii"):
                return True

        for function in ("cuptiPmSamplingDecodeData", "cuptiPmSamplingStop"):
            if os.path.exists(now):
                os.remove(now)
            code, err = record(folder, until=begin_to_hang, variables={"LNS_DOUBLE_FAIL": f"{function}=hang", "LNS_DOUBLE_FAIL_FILE": now})
            assert code == 0 and folder.report("r.rep").info["state"] == profiling.COMPLETE, err
            assert err.count("[LNS-GPU-015]") == 1, err
        for function in ("cuInit", "cuptiPmSamplingEnable"):
            code, err = record(folder, n=0, variables={"LNS_DOUBLE_FAIL": f"{function}=hang"})
            assert code == 0 and err.count("[LNS-GPU-014]") == 1 and "LNS-GPU-014" in folder.report("r.rep").codes(), err


def test_a_gpu_that_hangs_does_not_delay_the_others():
    with profiling.Folder() as folder:
        code, err = record(folder, until=lambda: any(len(found) > 100 for found in samples(folder).values()),
                           variables={"LNS_DOUBLE_DEVICES": "2", "LNS_DOUBLE_FAIL": "cuptiPmSamplingDecodeData@5=hang"})
        assert code == 0 and folder.report("r.rep").info["state"] == profiling.COMPLETE, err


def samplers(pid):
    """Pids of the samplers that the lanescope PID started."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += [int(word) for word in file.read().split()]
    return [child for child in found if os.readlink(f"/proc/{child}/exe").endswith("lanescope-sampler")]


def test_cupti_crashes():
    with profiling.Folder() as folder:
        running = folder.start("-t", "none", "-o", "r", "--gpu-metrics-devices=all", "--gpu-metrics-frequency=200", "/usr/bin/python3", "-c", WAITS,
                               before=[WITH], env=environment(), stdin=subprocess.PIPE)
        assert running.stdout.readline() == b"ready\n"
        wait_for(lambda: is_sampled(folder, 5), "samples in the report")
        sampler, = samplers(running.pid)
        os.kill(sampler, signal.SIGSEGV)
        wait_for(lambda: "LNS-GPU-004" in folder.report("r.rep").codes(), "LNS-GPU-004")
        _, err = running.communicate(b"\n", timeout=60)
        assert running.returncode == 0 and err.count(b"[LNS-GPU-004]") == 1, err


def test_bad_values():
    with profiling.Folder() as folder:
        for switch, text in (("devices=x", "is not none, all, cuda-visible or a list"), ("devices=0,", "is not none"),
                             ("frequency=9", "is not a number from 10 to 200000"), ("frequency=200001", "is not a number"),
                             ("frequency=300k", "is not a number"), ("frequency=10x", "is not a number"), ("set=nothing", "--gpu-metrics-set")):
            run = folder.profile(f"--gpu-metrics-{switch}", "true")
            assert run.code == 125 and text in run.err, (switch, run)


tap.main(globals(), gate=(test_each_value_is_in_the_report,))
