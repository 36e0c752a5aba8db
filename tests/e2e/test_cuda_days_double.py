# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests CUDA programs that fail, on the double: their output and exit are those they have without Lanescope, the
report opens, and one sentence says what is missing. This shows nothing about a real GPU."""

import collections
import os
import re
import shutil
import subprocess
import time

import profiling
import tap
from test_cuda_double import WITH, expect_links, kernels, program

GENERATIONS = os.path.join(tap.BUILD, "tests", "double", "generations")
Day = collections.namedtuple("Day", "report err codes")


def environment(env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
    return {**clean, **env}


def day(name, *arguments, switches=(), env=None, trace="cuda,nvtx"):
    """A run of program NAME that is as it is without Lanescope."""
    env = environment(env or {})
    command = [program(name), *arguments]
    alone = subprocess.run([WITH, *command], env=env, capture_output=True, timeout=60, check=False)
    with profiling.Folder() as folder:
        run = folder.profile("-t", trace, *switches, *command, before=[WITH], env=env)
        own = [line for line in run.err.splitlines() if line in alone.stderr.decode().splitlines()]
        assert run.code == (alone.returncode if alone.returncode >= 0 else 128 - alone.returncode), run
        assert run.out == alone.stdout.decode() and own == alone.stderr.decode().splitlines(), run
        report = folder.report()
    assert report.info["state"] == profiling.COMPLETE
    said = [line for line in run.err.splitlines() if line.startswith("lanescope: ")
            and not any(code in line for code in (*profiling.OF_THE_DOUBLE, "LNS-DOCTOR"))]
    assert len(said) == len(report.codes()), (said, report.diagnostics)
    return Day(report, run.err, report.codes())


def n_missing(report):
    """How many operations REPORT says that it lacks, as they had not ended or CUPTI gave them no times."""
    told = {d["code"]: int(d["text"].split()[0]) for d in report.diagnostics if d["code"] in ("LNS-CUDA-014", "LNS-CUDA-025")}
    assert report.info["lost"] == told.get("LNS-CUDA-025", 0), (report.info, told)
    return sum(told.values())


def text_of(done, code):
    text, = [d["text"] for d in done.report.diagnostics if d["code"] == code]
    assert text in done.err
    return text


def test_no_libcuda():
    if os.path.exists("/proc/driver/nvidia/version"):
        raise tap.Skip("this machine has a driver of its own")
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_LIBCUDA": "no"}, trace="cuda")
    assert done.codes == ["LNS-CUDA-011"] and not done.report.events
    assert "no process initialised CUDA" in text_of(done, "LNS-CUDA-011")


def test_no_device():
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_DEVICES": "0"}, trace="cuda")
    assert done.codes == ["LNS-CUDA-011"] and not done.report.events


def test_without_cuda_being_asked_for_nobody_wonders():
    with profiling.Folder() as folder:
        run = folder.profile(profiling.ACT, "push", "a", "pop")
        assert run.code == 0 and "lanescope:" not in run.err and folder.report().named("a"), run.err
        run = folder.profile("-t", "cuda,nvtx", "-o", "b", profiling.ACT, "push", "a", "pop")
        assert folder.report("b.rep").codes() == ["LNS-CUDA-011"], run.err


def test_a_session_that_answers_late():
    # It is stopped for twice as long as NVTX would wait; cuInit has more patience.
    script = 'kill -STOP $PPID; (sleep 0.4; kill -CONT $PPID) & exec "$@"'
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "sh", "-c", script, "sh", program("cuda-vectoradd"),
                             before=[WITH], env=environment({}))
        report = folder.report()
    assert run.code == 0 and not report.codes() and len(kernels(report)) == 100, run


def test_a_program_that_drops_our_variable():
    with profiling.Folder() as folder:
        driver = os.path.join(tap.BUILD, "tests", "double", "cuda-driver")
        run = folder.profile("-t", "cuda", "--sample=process-tree", "-o", "r", "sh", "-c", f"env -u CUDA_INJECTION64_PATH {driver}",
                             before=[WITH], env=environment({}))
        if not re.search(r"LNS-CPU-00[1-4]", run.err):
            told = [d["text"] for d in folder.report("r.rep").diagnostics if d["code"] == "LNS-CUDA-034"]
            assert run.code == 0 and len(told) == 1 and told[0].startswith("CUDA is not recorded in 1 program") and "“cuda-driver”" in told[0], run


def test_cupti_is_missing():
    # None lies in the folder that is named, and the loader finds none either.
    with profiling.Folder() as nowhere:
        done = day("cuda-vectoradd", switches=["--cupti-path", nowhere.path],
                   env={"LNS_DOUBLE_LIBCUPTI": "no", "LNS_DOUBLE_DRIVER_VERSION": "10020"})
    assert done.codes == ["LNS-CUDA-001"] and not done.report.of("cuda-kernel")
    assert "--cupti-path" in text_of(done, "LNS-CUDA-001")
    with profiling.Folder() as nowhere:
        done = day("cuda-vectoradd", switches=["--cupti-path", nowhere.path],
                   env={"LNS_DOUBLE_LIBCUPTI": "no", "LNS_DOUBLE_DRIVER_VERSION": "12040"})
    assert "`pip install 'nvidia-cuda-cupti-cu12<12.5'`" in text_of(done, "LNS-CUDA-001"), done
    assert text_of(done, "LNS-CUDA-001").endswith("or name its folder with --cupti-path")


def machine(folder, **copies):
    """Lays out copies of the double's CUPTI in FOLDER, by path and generation; no other is newer than the driver's."""
    for path, generation in copies.items():
        place = folder.file(path.replace("__", "/"))
        os.makedirs(place)
        name, = [n for n in os.listdir(os.path.join(GENERATIONS, generation)) if re.fullmatch(r"libcupti\.so\.[\d.]+", n)]
        shutil.copy(os.path.join(GENERATIONS, generation, name), place)
    return {"LNS_DOUBLE_LIBCUPTI": "no", "LNS_DOUBLE_CUPTI_VERSION": "18", "LNS_DOUBLE_DRIVER_VERSION": "11080",
            "CUDA_HOME": "", "CUDA_PATH": "", "CONDA_PREFIX": "", "VIRTUAL_ENV": "", "PYTHONPATH": "", "HOME": folder.path}


def test_cupti_lies_in_an_environment():
    packages = "env/lib/python3.12/site-packages/nvidia/cuda_cupti/lib"
    target = "sbsa" if os.uname().machine == "aarch64" else "x86_64"
    for variable, value, place in (("CUDA_HOME", "cuda", "cuda/extras/CUPTI/lib64"), ("CUDA_PATH", "cuda", "cuda/lib64"),
                                   ("CONDA_PREFIX", "conda", f"conda/targets/{target}-linux/lib"),
                                   ("VIRTUAL_ENV", "env", packages)):
        with profiling.Folder() as folder:
            env = {**machine(folder, **{place: "11.8"}), variable: folder.file(value)}
            done = day("cuda-vectoradd", env=env)
            assert not done.codes and len(kernels(done.report)) == 100, (variable, done)
            assert done.report.info["cupti_path"] == folder.file(f"{place}/libcupti.so.11.8"), (variable, done)


def test_the_next_cupti_is_used_if_the_first_refuses():
    with profiling.Folder() as folder:
        env = machine(folder, broken="11.0", refusing__lib64="11.8", conda__lib="11.2")
        os.rename(folder.file("broken/libcupti.so.11.0"), folder.file("broken/libcupti.so.11.7"))
        with open(folder.file("broken/libcupti.so.11.7"), "w", encoding="ascii") as file:
            file.write("no library")
        env |= {"LD_LIBRARY_PATH": folder.file("broken"), "CUDA_HOME": folder.file("refusing"),
                "CONDA_PREFIX": folder.file("conda"), "LNS_DOUBLE_CUPTI_VERSION": "16",
                "LNS_DOUBLE_REFUSES": "/refusing/"}
        done = day("cuda-vectoradd", env=env)
        assert not done.codes and len(kernels(done.report)) == 100, done
        assert done.report.info["cupti_path"] == folder.file("conda/lib/libcupti.so.11.2"), done.report.info
        # The sentence tells of the one that suits best, not of the last that was tried.
        done = day("cuda-vectoradd", env={**env, "LNS_DOUBLE_REFUSES": "/"})
        assert done.codes == ["LNS-CUDA-004"] and "result 15" in text_of(done, "LNS-CUDA-004"), done


def test_cupti_is_too_old():
    env = {"LNS_DOUBLE_CUPTI_VERSION": "12", "LNS_DOUBLE_DRIVER_VERSION": "11000"}
    done = day("cuda-vectoradd", env=env)
    assert done.codes == ["LNS-CUDA-002"] and "CUPTI 12 " in text_of(done, "LNS-CUDA-002")
    assert not done.report.of("cuda-kernel")


def test_truncated_generations():
    for version, driver in ((13, 11000), (14, 11010), (16, 11050), (18, 11080), (22, 12040), (28, 12090), (130001, 13000)):
        env = {"LNS_DOUBLE_CUPTI_VERSION": str(version), "LNS_DOUBLE_DRIVER_VERSION": str(driver)}
        done = day("cuda-vectoradd", env=env)
        assert not done.codes and len(kernels(done.report)) == 100, (version, done)
        assert {(k["short"], k["grid"][0], k["block"][0]) for k in kernels(done.report)} == {("add", 16, 256)}
        assert done.report.info["cupti_version"] == str(version)
        expect_links(done.report)


def test_a_clock_of_cuptis_own():
    # cuda-days.cu: ROUNDS = 24 ranges around one call each, over a second. CUPTI's clock is an hour ahead. It wins 2 ms
    # in one half second and loses them in the next, so that its rate changes by 0.8 %: from 1 % on, Lanescope takes a
    # change for a clock that was set. A line through two readings is wrong by at most half of what the clock drifts
    # between them. There is a reading at each round's end, however long a busy machine takes for a round.
    for version, driver in (("13", "11000"), ("130001", "13000")):
        follow_a_clock({"LNS_DOUBLE_CUPTI_VERSION": version, "LNS_DOUBLE_DRIVER_VERSION": driver,
                        "LNS_DOUBLE_CUPTI_CLOCK": "3600000000000:4000"})


def follow_a_clock(env):
    done = day("cuda-days", "clock", env=env, switches=["--flush-on-cudaprofilerstop=true"])
    rounds = done.report.named("round")
    calls = [c for c in done.report.of("cuda-api") if c["name"].startswith("cudaMemset")]
    sets = done.report.of("cuda-memset")
    assert not done.codes and len(rounds) == len(calls) == len(sets) == 24, done
    edges = [0] + [r["start"] for r in rounds] + [done.report.info["end"]]
    for i, (r, c, s) in enumerate(zip(rounds, calls, sets)):
        error = max(r["start"] - c["start"], c["start"] + c["duration"] - r["start"] - r["duration"], 0)
        assert error <= (edges[i + 2] - edges[i]) * 4000 // 1_000_000, (i, error, r, c)
        assert s["correlation"] == c["correlation"] and s["start"] > c["start"]
    # By then, an offset alone would be wrong by 2 ms.
    assert rounds[-1]["start"] - rounds[0]["start"] > 500_000_000, rounds


def test_another_tool_holds_cupti():
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_OTHER_TOOL": "torch.profiler"})
    assert done.codes == ["LNS-CUDA-003"] and "torch.profiler" in text_of(done, "LNS-CUDA-003")


def test_what_cupti_answers_is_said_in_words():
    # By CUptiResult, from subscribing and from enabling kernels.
    for result, words in ((8, "not enough memory"), (15, "too old"), (27, "does not support it"), (33, "virtual GPU"),
                          (35, "NVreg_RestrictProfilingToAdminUsers=0"), (36, "another tool"), (40, "on its host"),
                          (41, "Confidential Computing"), (42, "mining"), (43, "MIG"), (44, "SLI"), (45, "Windows Subsystem"),
                          (999, "no driver")):
        done = day("cuda-driver", env={"LNS_DOUBLE_FAIL": f"cuptiSubscribe={result}"})
        assert done.codes == ["LNS-CUDA-004"] and not done.report.of("cuda-api"), done.codes
        assert words in text_of(done, "LNS-CUDA-004") and f"result {result})" in done.err, done.err
        done = day("cuda-driver", env={"LNS_DOUBLE_FAIL": f"cuptiActivityEnable:10={result}"})
        assert done.codes == ["LNS-CUDA-005"] and not kernels(done.report) and done.report.of("cuda-api"), done.codes
        assert words in text_of(done, "LNS-CUDA-005") and "kernels" in done.err, done.err


def test_times_of_events_where_they_are_free():
    # cuda-streams.cu records events. By themselves they are timed from CUDA 12.8 on, and not on one connection.
    for value, env, timed, codes in (("true", {}, True, []), ("auto", {}, True, []), ("false", {}, False, []),
                                     ("auto", {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, False, []),
                                     ("true", {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, True, []),
                                     ("auto", {"LNS_DOUBLE_DRIVER_VERSION": "12040", "LNS_DOUBLE_CUPTI_VERSION": "22"}, False, []),
                                     ("true", {"LNS_DOUBLE_DRIVER_VERSION": "12040", "LNS_DOUBLE_CUPTI_VERSION": "22"}, False,
                                      ["LNS-CUDA-005"])):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda", f"--cuda-event-trace={value}", program("cuda-streams"), before=[WITH],
                                 env=environment(env))
            report = folder.report()
        assert run.code == 0 and bool(report.of("cuda-event")) == timed and report.codes() == codes, (value, env, run)


def test_what_an_old_cupti_cannot_record():
    done = day("cuda-driver", switches=["--cuda-memory-usage=true"],
               env={"LNS_DOUBLE_CUPTI_VERSION": "13", "LNS_DOUBLE_DRIVER_VERSION": "11000"})
    assert done.codes == ["LNS-CUDA-005"] * 2 and kernels(done.report)
    assert "without memory usage: this CUPTI is too old" in done.err, done.err


def test_managed_memory_under_mps():
    done = day("cuda-memory", "managed", switches=["--cuda-um-gpu-page-faults=true"],
               env={"LNS_DOUBLE_FAIL": "cuptiActivityConfigureUnifiedMemoryCounter=31"})
    assert "Multi-Process Service (MPS)" in text_of(done, "LNS-CUDA-020") and done.codes == ["LNS-CUDA-020"]


def test_a_runtime_of_the_programs_own():
    done = day("cuda-static", trace="cuda")
    assert done.codes == ["LNS-CUDA-011"] and not done.report.events


def test_a_kind_that_is_refused():
    done = day("cuda-memory", "copies", env={"LNS_DOUBLE_FAIL": "cuptiActivityEnable:2=15"})
    assert done.codes == ["LNS-CUDA-005"] and "memory sets" in text_of(done, "LNS-CUDA-005")
    assert not done.report.of("cuda-memset") and len(done.report.of("cuda-memcpy")) == 10


def test_what_cupti_drops_is_lost():
    # cuda-vectoradd.cu makes 110 calls, 100 kernels and 3 copies; what is dropped may be a definition, too.
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_DROP": "10"})
    n = int(text_of(done, "LNS-CUDA-013").split()[0])
    assert done.codes == ["LNS-CUDA-013"] and n == done.report.info["lost"]
    kept = sum(len(done.report.of(kind)) for kind in ("cuda-api", "cuda-kernel", "cuda-memcpy"))
    assert 213 // 12 <= 213 - kept <= n, (kept, n)


def test_times_that_cupti_loses_by_our_clock():
    # cuda-vectoradd.cu: 100 kernels. CUPTI 12.6 to 13.0 loses the times of some kernels if it is given a clock.
    for version, driver in (("23", 12050), ("24", 12060), ("28", 12090), ("130001", 13000), ("130100", 13010)):
        done = day("cuda-vectoradd", env={"LNS_DOUBLE_CUPTI_VERSION": version, "LNS_DOUBLE_DRIVER_VERSION": str(driver),
                                          "LNS_DOUBLE_ZERO_TIMES": "3"})
        assert len(kernels(done.report)) == 100 and done.report.info["lost"] == 0, (version, done.report.info)
        assert not done.codes, (version, done.codes)
        expect_links(done.report)


def test_another_profiler_takes_over():
    # cuda-days.cu launches KERNELS = 20 and waits for them, again and again. With one of the calls another client of CUPTI gets the
    # buffers, or disables the kinds: so late that Lanescope's own thread has run before, on a busy machine, too. It is noticed after
    # five flushes and two seconds.
    for takeover in ("690", "0:690"):
        done = day("cuda-days", "loop", "4", env={"LNS_DOUBLE_TAKEOVER": takeover}, switches=["--cuda-flush-interval=100"])
        # Kernels that were running are told of by themselves.
        assert "LNS-CUDA-026" in done.codes and set(done.codes) <= {"LNS-CUDA-026", "LNS-CUDA-014"}, (takeover, done.codes)
        assert kernels(done.report) and done.report.info["lost"] == 0, done.report.info
        assert "torch.profiler" in text_of(done, "LNS-CUDA-026")


def test_kernels_that_had_ended_are_lost():
    # CUPTI gives every third of 103 operations back without times when it must give back everything. The program has waited for
    # all of them, and they are kernels.
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_HELD": "3"})
    assert len(kernels(done.report)) == 66 and done.report.info["lost"] == 34, done.report.info
    assert done.codes == ["LNS-CUDA-025"] and text_of(done, "LNS-CUDA-025").startswith("34 "), done.codes


def test_copies_that_had_ended_are_lost():
    # CUPTI gives everything back without times. The program has waited for its 100 kernels and, with them, for its copies to the GPU. No
    # record tells that it has waited for the last copy, to the host: the call itself did.
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_HELD": "1"})
    assert done.report.info["lost"] == 102 and sorted(done.codes) == ["LNS-CUDA-014", "LNS-CUDA-025"], (done.report.info, done.codes)
    assert text_of(done, "LNS-CUDA-025").startswith("102 ") and text_of(done, "LNS-CUDA-014").startswith("1 "), done


def test_times_that_cannot_be_are_lost():
    # Every fourth kernel gets no times, or an end before its start.
    done = day("cuda-vectoradd", env={"LNS_DOUBLE_WRONG_TIMES": "4"})
    assert len(kernels(done.report)) == 75 and done.report.info["lost"] == 25, done.report.info
    assert done.codes == ["LNS-CUDA-025"] and text_of(done, "LNS-CUDA-025").startswith("25 "), done.codes


def test_out_of_order():
    for env in ({"LNS_DOUBLE_REORDER": "64"}, {"LNS_DOUBLE_PER_THREAD": "1"}):
        done = day("cuda-threads", env=env)
        assert not done.codes and len(kernels(done.report)) == 1000, (env, done.codes)
        assert {k["lane"] for k in kernels(done.report)} == {0}, "each stream is in order in one lane"
        expect_links(done.report)


def test_later_than_the_end():
    # What CUPTI has not finished when the process ends is told of: 4 × 250 kernels and 8 copies in all. The program has waited for
    # kernels, so these are lost.
    done = day("cuda-threads", env={"LNS_DOUBLE_LATE_MS": "300"})
    n = n_missing(done.report)
    assert n > 0 and n + len(kernels(done.report)) + len(done.report.of("cuda-memcpy")) == 1008
    assert set(done.codes) <= {"LNS-CUDA-014", "LNS-CUDA-025"} and "LNS-CUDA-025" in done.codes, done.codes


def test_two_gpus_of_one_name():
    done = day("cuda-memory", "copies", env={"LNS_DOUBLE_DEVICES": "2", "LNS_DOUBLE_NAMES": "Twin"})
    assert not done.codes and [d["name"] for d in done.report.devices] == ["Twin"] * 2
    assert len({d["bus"] for d in done.report.devices}) == 2


def test_graphs_that_begin_on_the_host():
    # cuda-graphs.cu: one graph launched 10 times and one launched 5 times, on the only GPU.
    for host in ("1", "2"):
        done = day("cuda-graphs", env={"LNS_DOUBLE_HOST_GRAPHS": host})
        assert len(done.report.of("cuda-graph")) == 15 and not done.codes, (host, done.codes)
        assert [d["number"] for d in done.report.devices] == [0], done.report.devices
        streams = {e["stream"] for e in done.report.of("cuda-graph")}
        assert streams <= {e["stream"] for e in done.report.of("cuda-sync")} | {e["stream"] for e in kernels(done.report)}, streams


def test_fork_after_init():
    done = day("cuda-days", "fork")
    assert len(kernels(done.report)) == 40 and done.codes == ["LNS-CUDA-007"]
    assert "after a fork" in text_of(done, "LNS-CUDA-007")
    parent, child = done.report.processes
    assert parent["exit"] == 0, (parent, child)


def test_reset():
    done = day("cuda-days", "reset")
    assert not done.codes and len(kernels(done.report)) == 40
    expect_links(done.report)


def test_a_kernel_that_faults():
    done = day("cuda-days", "fault")
    assert [k["short"] for k in kernels(done.report)].count("step") == 20
    # The kernel itself never ends.
    assert sorted(done.codes) == ["LNS-CUDA-009", "LNS-CUDA-014"] and "illegally" in text_of(done, "LNS-CUDA-009")
    assert text_of(done, "LNS-CUDA-014").startswith("1 CUDA call or GPU operation is left out, as it had not ended when the report or its")


def test_out_of_device_memory():
    done = day("cuda-days", "memory", env={"LNS_DOUBLE_MEMORY_MIB": "512"},
               switches=["--cuda-memory-usage=true", "--cupti-device-buffer=512K"])
    failed = [e for e in done.report.of("cuda-api") if e["return-value"] == 2]
    assert done.codes == ["LNS-CUDA-016"] and "--cupti-device-buffer" in text_of(done, "LNS-CUDA-016")
    assert len(failed) == 1 and failed[0]["name"].startswith("cudaMalloc")
    assert len(kernels(done.report)) == 20
    taken = [m for m in done.report.of("cuda-memory") if m["operation"] & 0xff == 1]
    assert sum(m["bytes"] for m in taken) <= 512 << 20


def test_underscore_exit_from_a_thread():
    # 20 kernels long done, 20 under way: of those, what had ended is there.
    done = day("cuda-days", "exit")
    assert 20 <= len(kernels(done.report)) <= 40
    assert done.report.processes[0]["exit"] == 3
    expect_links(done.report)


def test_an_end_without_waiting():
    done = day("cuda-days", "long")
    n = int(text_of(done, "LNS-CUDA-014").split()[0]) if done.codes else 0
    assert n + len(kernels(done.report)) == 3 and done.report.info["lost"] == 0 and len([e for e in done.report.of("cuda-api") if "Launch" in e["name"]]) == 3


def test_libraries_are_loaded_first_where_asked_for():
    library = os.path.join(tap.BUILD, "capture", "inject", "liblanescope-libraries.so")
    if not os.path.exists(library):
        raise tap.Skip("there is no cublas_v2.h here, so calls of cuBLAS cannot be recorded")
    with profiling.Folder() as folder:
        for trace, expected in (("cublas", library), ("cudnn", library + ":/other.so"), ("cusparse", library),
                                ("cusparse-verbose", library), ("cusolver", library), ("cusolver-verbose", library), ("cuda", "")):
            env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
            given = ["-e", "LD_PRELOAD=/other.so"] if ":" in expected else []
            run = folder.profile("-t", trace, *given, "sh", "-c", "printf %s \"$LD_PRELOAD\"", env=env)
            assert run.out == expected, (trace, run)


def test_killed_midway():
    killed_midway({})


def test_killed_midway_by_a_clock_of_cuptis_own():
    killed_midway({"LNS_DOUBLE_CUPTI_VERSION": "13", "LNS_DOUBLE_DRIVER_VERSION": "11000",
                   "LNS_DOUBLE_CUPTI_CLOCK": "-3600000000000:1000"})


def killed_midway(env):
    # The loop launches KERNELS = 20 a round, and waits for them: what it waited for is there, or told of.
    with profiling.Folder() as folder:
        tool = folder.start("-t", "cuda,nvtx", "-o", "run", program("cuda-days"), "loop", "60", before=[WITH],
                            env=environment(env))
        assert tool.stdout.readline() == b"ready\n"
        target, = profiling.children(tool.pid)
        seen = profiling.wait_for(lambda: len(folder.report("run.rep").of("cuda-kernel")), "kernels in the report")
        os.kill(target, 9)
        err = tool.communicate(timeout=60)[1].decode()
        assert tool.returncode == -9, err
        report = folder.report("run.rep")
    assert report.info["state"] == profiling.COMPLETE and report.info["lost"] == 0, report.info
    assert set(report.codes()) <= {"LNS-CUDA-014"}
    done = report.of("cuda-kernel")
    ids = sorted(k["grid-id"] for k in done)
    assert ids == list(range(1, len(ids) + 1)), "none is missing between the first and the last"
    assert {k["name"] for k in done} == {"step(int*)"}
    told = sum(int(d["text"].split()[0]) for d in report.diagnostics if d["code"] == "LNS-CUDA-014")
    calls = {e["correlation"] for e in report.of("cuda-api")}
    waits = report.of("cuda-sync")
    assert len(done) >= seen and len(done) + told >= 20 * len(waits) > 0, (seen, len(done), told, len(waits))
    # CUPTI writes the record of a launch when the call returns: a kernel may have ended, and be there, before its call is.
    # Such calls are the last ones.
    assert calls and all(k["correlation"] in calls or k["correlation"] > max(calls) for k in done)


def test_stopped_before_its_end():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "-d", "1", "-o", "run", program("cuda-days"), "loop", "20",
                             before=[WITH], env=environment({}))
        assert run.code == 128 + 15, run
        report = folder.report("run.rep")
    assert set(report.codes()) <= {"LNS-CUDA-014"} and report.info["lost"] == 0, (report.diagnostics, report.losses)
    done = report.of("cuda-kernel")
    # What CUPTI held was handed over when the session ended: the last call's kernels are there.
    last = max(e["start"] for e in report.of("cuda-api") if "Launch" in e["name"])
    assert last - max(k["start"] for k in done) < 100_000_000
    ids = sorted(k["grid-id"] for k in done)
    assert ids == list(range(1, len(ids) + 1))


def test_ranges_of_the_profiler_api():
    # cuda-ranges.cu: REPEATS = 3 ranges of INSIDE = 10 kernels, OUTSIDE = 4 before each.
    for end, expected in (("stop", {"run.rep": 10}), ("none", {"run.rep": 38}),
                          ("repeat", {f"run.{n}.rep": 10 for n in (1, 2, 3)}),
                          ("repeat:2", {f"run.{n}.rep": 10 for n in (1, 2)}),
                          ("repeat-shutdown:2", {f"run.{n}.rep": 10 for n in (1, 2)})):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda,nvtx", "-c", "cudaProfilerApi", f"--capture-range-end={end}", "-o", "run",
                                 program("cuda-ranges"), before=[WITH], env=environment({}))
            assert run.code in (0, 128 + 15), run
            counts = {name: len(folder.report(name).of("cuda-kernel")) for name in os.listdir(folder.path)}
            assert counts == expected, (end, counts, run.err)
            for name in counts:
                report = folder.report(name)
                assert not report.codes() and report.devices and report.info["cupti_version"] == "130001"
                expect_links(report)


def test_ranges_of_the_profiler_api_without_cuda():
    # cuda-steady.cu: the first ten of each fifty steps, which are NVTX ranges, are a range by cudaProfilerStart().
    with profiling.Folder() as folder:
        run = folder.profile("-t", "nvtx", "-c", "cudaProfilerApi", "--capture-range-end=repeat-shutdown:2", "-o", "run",
                             program("cuda-steady"), "60000", before=[WITH], env=environment({}))
        assert run.code == 128 + 15, run
        for name, first in (("run.1.rep", 0), ("run.2.rep", 50)):
            report = folder.report(name)
            assert [e["name"] for e in report.events] == [f"step {n}" for n in range(first, first + 10)], (name, report.events)
            assert not report.codes() and report.info["lost"] == 0 and not report.devices, report.diagnostics


def test_kernels_belong_to_the_range_that_launched_them():
    # cuda-ranges.cu with "async": 2 ms a kernel, so that all run when their range, and mostly the next, has ended.
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "-o", "run",
                             program("cuda-ranges"), "async", before=[WITH], env=environment({}))
        assert run.code == 0, run
        for n in (1, 2, 3):
            report = folder.report(f"run.{n}.rep")
            blocks = [k["grid"][0] for k in kernels(report) if k["short"] == "inside"]
            assert blocks == [(1 << 18) + n] * 10, (n, blocks, [len(folder.report(f"run.{i}.rep").of("cuda-kernel")) for i in (1, 2, 3)])
            assert len(kernels(report)) == 10 and not report.codes(), (n, report.codes())
            expect_links(report)


def test_a_range_after_a_warm_up():
    # cuda-warm.cu: a graph of two kernels that was instantiated and launched before the range, 7 launches in it, a kernel just before
    # it, which runs when it begins, and one just before its end, which runs when it has ended.
    for mode, n_graphs, n_steps in (("graph", 7, 0), ("node", 0, 14)):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda", "-c", "cudaProfilerApi", f"--cuda-graph-trace={mode}", "-o", "run", program("cuda-warm"),
                                 before=[WITH], env=environment({"LNS_DOUBLE_DISABLE_HOLDS": "1"}))
            assert run.code == 0, run
            report = folder.report("run.rep")
        names = sorted(k["short"] for k in kernels(report))
        within = [k for k in kernels(report) if k["short"] == "within"]
        # On a busy machine, the last kernel may end too late for its report, which says so.
        late = sum(int(d["text"].split()[0]) for d in report.diagnostics if d["code"] == "LNS-CUDA-014")
        assert len(report.of("cuda-graph")) == n_graphs and names + ["within"] * late == ["step"] * n_steps + ["within"], \
            (mode, names, report.diagnostics)
        assert all(abs(k["duration"] - 2_000_000) < 200_000 for k in within), within
        assert len([c for c in report.of("cuda-api") if "cudaGraphLaunch" in c["name"]]) == 7
        assert report.info["lost"] == 0 and set(report.codes()) <= {"LNS-CUDA-014"}, report.diagnostics
        expect_links(report)


def ranges_with_missing(*arguments, env, switches=(), codes=frozenset()):
    """Of each of the ranges of cuda-ranges.cu, which launch INSIDE = 10 kernels: how many are in its report, and how many
    its report says that it lacks, besides its CODES."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "-o", "run",
                             *switches, program("cuda-ranges"), *arguments, before=[WITH], env=environment(env))
        assert run.code == 0, run
        reports = [folder.report(f"run.{n}.rep") for n in (1, 2, 3)]
        for report in reports:
            assert set(report.codes()) - {"LNS-CUDA-014", "LNS-CUDA-025"} == codes, report.codes()
            assert len([c for c in report.of("cuda-api") if "Launch" in c["name"]]) == 10
    return [(len(kernels(report)), n_missing(report)) for report in reports]


def test_kernels_that_outlive_their_range_for_long_are_told_of():
    # CUPTI has them 5 s late, and a second after the range's end nobody waits any more.
    assert ranges_with_missing("async", "2", env={"LNS_DOUBLE_LATE_MS": "5000"}) == [(0, 10)] * 3


def test_copies_that_outlive_the_last_range_are_told_of():
    for end, n_ranges in (("stop", 1), ("repeat:2", 2), ("repeat", 3)):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda,nvtx", "-c", "cudaProfilerApi", f"--capture-range-end={end}", "-o", "run", program("cuda-ranges"),
                                 "async", "2", "copies", before=[WITH], env=environment({"LNS_DOUBLE_LATE_MS": "5000"}))
            assert run.code == 0, run
            reports = [folder.report(name) for name in sorted(os.listdir(folder.path))]
            recorded = sum(len(report.of("cuda-memcpy")) + len(kernels(report)) for report in reports)
        # By its own report where that still waited for its process when it ended, as on a busy machine, or by the run.
        told = sum(map(n_missing, reports)) + sum(
            int(n) for n in re.findall(r"(\d+) CUDA calls or GPU operations of earlier capture ranges are left out", run.err))
        assert len(reports) == n_ranges and recorded + told == 20 * n_ranges and told >= 10, (end, recorded, told, run.err)


def test_kernels_that_cupti_never_finishes_are_told_of_by_their_range():
    # They run one after the other: every third of 30, and it has no more to say of them than that at the program's end.
    for arguments in ((), ("async",)):
        assert ranges_with_missing(*arguments, env={"LNS_DOUBLE_HELD": "3"}) == [(7, 3), (7, 3), (6, 4)], arguments
    assert ranges_with_missing(env={"LNS_DOUBLE_HELD": "1"}) == [(0, 10)] * 3


def test_ranges_of_a_process_that_hears_no_command():
    # It cannot be asked to hand over what it has at a range's end, which waits 100 ms, and then counts what it lacks.
    library = os.path.join(tap.BUILD, "tests", "e2e", "libno-control-thread.so")
    deaf = {"switches": ("-e", f"LD_PRELOAD={library}"), "codes": {"LNS-CUDA-021"}}
    assert ranges_with_missing(env={}, **deaf) == [(10, 0)] * 3
    assert ranges_with_missing("async", "2", env={"LNS_DOUBLE_LATE_MS": "5000"}, **deaf) == [(0, 10)] * 3
    # 7, 7 and 6 are recorded, unless the machine is so busy that more of them end too late.
    found = ranges_with_missing("async", env={"LNS_DOUBLE_HELD": "3"}, **deaf)
    assert all(recorded + told == 10 and told >= 3 for recorded, told in found), found
    for late_ms in (0, 40, 400):
        found = ranges_with_missing("async", env={"LNS_DOUBLE_LATE_MS": str(late_ms)}, **deaf)
        assert [recorded + told for recorded, told in found] == [10] * 3, (late_ms, found)


def test_every_kernel_of_a_range_is_recorded_or_told_of():
    # However late, with the program's end before and after that.
    for late_ms, arguments in ((0, ("async",)), (40, ()), (400, ("async",)), (990, ("async", "2")), (1010, ("async", "2")),
                               (1300, ("async", "2"))):
        found = ranges_with_missing(*arguments, env={"LNS_DOUBLE_LATE_MS": str(late_ms)})
        assert [recorded + told for recorded, told in found] == [10] * 3, (late_ms, found)


# As NVIDIA's library: a record is put into the buffer of its thread at the launch, is complete some time after its end, and keeps
# the buffer from being handed over until then.
WITHHELD = {"LNS_DOUBLE_WITHHOLD": "1"}


def test_ranges_have_what_cupti_withholds():
    for late_ms in (1, 5, 50):
        env = environment({**WITHHELD, "LNS_DOUBLE_LATE_MS": str(late_ms)})
        # cuda-ranges.cu ends just after its last range, cuda-steady.cu goes on: the first 10 of each 50 steps are a range.
        for name, arguments, end, expected, code in (
                ("cuda-ranges", (), "stop", {"run.rep": 10}, 0),
                ("cuda-ranges", (), "none", {"run.rep": 38}, 0),
                ("cuda-ranges", (), "repeat", {f"run.{n}.rep": 10 for n in (1, 2, 3)}, 0),
                ("cuda-ranges", (), "repeat-shutdown:2", {f"run.{n}.rep": 10 for n in (1, 2)}, 0),  # it may end first
                ("cuda-steady", ("500",), "stop", {"run.rep": 10}, 7),
                ("cuda-steady", ("60000",), "stop-shutdown", {"run.rep": 10}, 143),
                ("cuda-steady", ("60000",), "repeat-shutdown:3", {f"run.{n}.rep": 10 for n in (1, 2, 3)}, 143)):
            with profiling.Folder() as folder:
                run = folder.profile("--strict", "-t", "cuda,nvtx", "-c", "cudaProfilerApi", f"--capture-range-end={end}", "-o", "run",
                                     program(name), *arguments, before=[WITH], env=env)
                reports = {file: folder.report(file) for file in os.listdir(folder.path)}
                assert run.code in (code, 143 if code == 0 else code), run
                assert {file: len(r.of("cuda-kernel")) for file, r in reports.items()} == expected, (late_ms, name, end, run.err)
                for report in reports.values():
                    assert not report.codes() and report.info["lost"] == 0, (late_ms, name, end, report.diagnostics)
                    expect_links(report)


def test_calls_are_kept_of_kernels_that_cupti_withholds():
    """A program that ends at once: nothing tells when its kernels ran, but the calls behind their unfinished records are there."""
    exits = os.path.join(tap.BUILD, "tests", "device", "exits")
    for how, code in (("_exit", 3), ("abort", -6), ("kill", -9)):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda", "-o", "run", exits, how, before=[WITH],
                                 env=environment({**WITHHELD, "LNS_DOUBLE_LATE_MS": "1000000"}))
            report = folder.report("run.rep")
            launches = [e for e in report.of("cuda-api") if e["name"].startswith("cudaLaunchKernel")]
            assert (run.code, len(launches), len(report.of("cuda-kernel"))) == (code, 101, 0), (how, run, report.diagnostics)
            assert report.info["lost"] == 100 and {"LNS-CUDA-014", "LNS-CUDA-025"} <= {d["code"] for d in report.diagnostics}, run


def test_ranges_of_nvtx_have_what_cupti_withholds():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda,nvtx", "-c", "nvtx", "-p", "step 20", "--capture-range-end=stop-shutdown", "-o", "run",
                             "--env-var=NVTX_PROFILER_REGISTER_ONLY=0", program("cuda-steady"), "60000", before=[WITH],
                             env=environment({**WITHHELD, "LNS_DOUBLE_LATE_MS": "20"}))
        report = folder.report("run.rep")
        assert run.code == 143 and len(report.of("cuda-kernel")) == 1 and report.named("step 20") and report.info["lost"] == 0, run
        assert {"cudaLaunchKernel_v7000", "cudaDeviceSynchronize_v3020"} <= set(report.names()), report.names()


def test_what_cupti_withholds_for_too_long_is_counted():
    """Records that never come while the program runs. The calls are in the report of their range, the kernels are lost."""
    env = environment({**WITHHELD, "LNS_DOUBLE_LATE_MS": "1000000", "LNS_TEST_PATIENCE": "1"})
    for name, arguments, code in (("cuda-ranges", (), 124), ("cuda-steady", ("3500",), 7)):
        with profiling.Folder() as folder:
            run = folder.profile("--strict", "-t", "cuda,nvtx", "-c", "cudaProfilerApi", "--capture-range-end=repeat:3", "-o", "run",
                                 program(name), *arguments, before=[WITH], env=env)
            assert run.code == code, run
            for n in (1, 2, 3):
                report = folder.report(f"run.{n}.rep")
                launches = [e for e in report.of("cuda-api") if e["name"].startswith("cudaLaunchKernel")]
                assert (len(launches), report.info["lost"], len(report.of("cuda-kernel"))) == (10, 10, 0), (name, n, len(launches), report.diagnostics)
                assert report.codes() == ["LNS-CUDA-025"], (name, n, report.diagnostics)


def test_ranges_of_two_processes():
    # One after the other, each has its reports; at once, a report goes on until none is in its range, and records both.
    for script, least in (('"$0"; "$0"', 6), ('"$0" & "$0"; wait', 1)):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda,nvtx", "-c", "cudaProfilerApi", "--capture-range-end=repeat", "-o", "run",
                                 "sh", "-c", script, program("cuda-ranges"), before=[WITH], env=environment({}))
            assert run.code == 0, run
            reports = [folder.report(name) for name in sorted(os.listdir(folder.path))]
        # At once, another may be in a call, or its work outside of its range run, when the report ends that this is in, too.
        codes = {code for r in reports for code in r.codes()}
        assert least <= len(reports) <= 6 and codes <= ({"LNS-CUDA-014", "LNS-CUDA-024"} if least == 1 else set()), (script, len(reports), codes)
        for report in reports if least == 6 else []: # what another's range begins may be amid a call
            expect_links(report)
        inside = [sum(k["short"] == "inside" for k in kernels(r)) for r in reports]
        assert sum(inside) == 60 and min(inside) >= 10, (script, inside)
        assert least == 1 or inside == [10] * 6 and len(kernels(reports[0])) == 10, (script, inside)
        assert len({r.processes[r.threads[e["thread"]]["process"]]["pid"] for r in reports for e in r.of("cuda-api")}) == 2


tap.main(globals(), gate=(test_no_libcuda, test_another_tool_holds_cupti, test_a_kernel_that_faults, test_ranges_of_the_profiler_api,
                          test_ranges_have_what_cupti_withholds, test_ranges_of_nvtx_have_what_cupti_withholds, test_kernels_belong_to_the_range_that_launched_them))
