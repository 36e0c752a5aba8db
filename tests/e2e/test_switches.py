# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests every switch of `lanescope profile`: a test sees its effect, or the command says in one line that it has
none."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess

import profiling
import tap
from profiling import ACT

CAPABILITIES = json.loads(subprocess.run([tap.LANESCOPE, "--capabilities=json"], capture_output=True, check=True).stdout)
PROFILE = next(command for command in CAPABILITIES["commands"] if command["name"] == "profile")
SWITCHES = {switch["name"]: switch for switch in PROFILE["switches"]}
UNHONOURED = {name: switch for name, switch in SWITCHES.items() if "instead" in switch}

# Where the effect of each other switch is seen: FILE TEST.
EFFECTS = {
    "after-collection-start": "e2e/test_switches.py test_commands_are_run",
    "after-report-ready": "e2e/test_switches.py test_commands_are_run",
    "backtrace": "e2e/test_cpu_samples.py test_samples_without_callers",
    "buffer-size": "e2e/test_profile_scale.py test_fifty_threads_kept_or_counted",
    "capture-range": "e2e/test_ranges.py test_one_range",
    "capture-range-end": "e2e/test_ranges.py test_each_range_has_a_report",
    "command-file": "e2e/test_switches.py test_files_of_switches",
    "control-fd": "e2e/test_profile_life.py test_control_stop",
    "cpu-buffer-size": "e2e/test_cpu_samples.py test_rings_are_as_large_as_asked_for",
    "cpuctxsw": "e2e/test_cpu_samples.py test_either_without_the_other",
    "cudabacktrace": "e2e/test_cuda_callers_double.py test_classes_of_calls",
    "cuda-event-trace": "e2e/test_cuda_double.py test_streams_and_events",
    "cuda-flush-interval": "e2e/test_switches_double.py test_records_are_taken_now_and_then",
    "cuda-graph-trace": "e2e/test_cuda_double.py test_graphs_by_node",
    "cuda-memory-usage": "e2e/test_cuda_double.py test_pools_are_counted_where_asked_for",
    "cuda-trace-all-apis": "e2e/test_switches_double.py test_calls_that_only_ask",
    "cuda-um-cpu-page-faults": "e2e/test_cuda_double.py test_managed_memory_moves",
    "cuda-um-gpu-page-faults": "e2e/test_cuda_double.py test_managed_memory_moves",
    "cupti-host-buffers": "e2e/test_switches_double.py test_buffers_may_lie_on_the_host",
    "cupti-sharing": "e2e/test_switches_double.py test_another_profiler_may_share_cupti",
    "cupti-device-buffer": "e2e/test_cuda_days_double.py test_out_of_device_memory",
    "cupti-path": "e2e/test_cuda_days_double.py test_cupti_is_missing",
    "dask": "e2e/test_switches.py test_functions_of_dask",
    "debug-symbols": "e2e/test_sampled_names.py test_names_of_a_stripped_program",
    "delay": "e2e/test_profile_life.py test_delay_leaves_out_what_ended_before",
    "discard-environment": "e2e/test_switches.py test_the_environment_may_be_left_out",
    "duration": "e2e/test_profile_life.py test_duration_ends_the_program",
    "env-record": "e2e/test_profile.py test_environment_in_the_report",
    "env-var": "e2e/test_profile.py test_environment_switches",
    "export": "e2e/test_profile_after.py test_exports_lie_beside_the_report",
    "flush-on-cudaprofilerstop": "e2e/test_cuda_days_double.py test_a_clock_of_cuptis_own",
    "force-overwrite": "e2e/test_profile.py test_an_existing_report_is_kept_unless_forced",
    "gpu-environment": "e2e/test_gpu_environment_double.py test_each_value_is_in_the_report",
    "gpu-metrics-devices": "e2e/test_gpu_metrics_double.py test_each_value_is_in_the_report",
    "gpu-metrics-frequency": "e2e/test_gpu_metrics_double.py test_each_value_is_in_the_report",
    "cuda-kernel-latency": "e2e/test_cuda_details_double.py test_kernel_latencies",
    "cuda-allocation-source": "e2e/test_cuda_details_double.py test_sources_of_allocations",
    "cuda-trace": "e2e/test_cuda_details_double.py test_hardware_trace",
    "gpuctxsw": "e2e/test_cuda_details_double.py test_context_switches",
    "gpu-metrics-set": "e2e/test_gpu_metrics_double.py test_sets",
    "inherit-environment": "e2e/test_profile.py test_environment_switches",
    "keep": "e2e/test_sessions.py test_keep_holds_the_last_seconds_and_no_more",
    "keep-on": "e2e/test_keep_steps.py test_a_signal_keeps_the_time_around_it",
    "keep-steps": "e2e/test_keep_steps.py test_each_slow_step_is_whole_and_the_rest_is_counted",
    "kill": "e2e/test_ranges.py test_shutdown_ends_the_program",
    "mode": "e2e/test_profile.py test_a_report_is_its_owners",
    "mpi-impl": "e2e/test_mpi.py",
    "mpi": "e2e/test_switches.py test_shorthands_of_trace",
    "nvtx": "e2e/test_switches.py test_shorthands_of_trace",
    "nvtx-capture": "e2e/test_ranges.py test_plain_strings_match_by_domain",
    "nccl-trace": "e2e/test_nccl.py test_each_part_is_recorded",
    "nvtx-domain-exclude": "e2e/test_switches.py test_domains_are_left_out",
    "nvtx-domain-include": "e2e/test_switches.py test_domains_are_left_out",
    "osrt-backtrace-depth": "e2e/test_osrt.py test_how_many_callers",
    "osrt-backtrace-stack-size": "e2e/test_osrt.py test_how_many_callers",
    "osrt-backtrace-threshold": "e2e/test_osrt.py test_which_calls_have_callers",
    "osrt-file-access": "e2e/test_osrt.py test_files",
    "osrt-threshold": "e2e/test_osrt.py test_the_threshold",
    "output": "e2e/test_profile_names.py test_macros",
    "output-dir": "e2e/test_profile_names.py test_folders",
    "progress-fd": "e2e/test_profile_life.py test_progress_lines",
    "python-backtrace": "e2e/test_python_callers_double.py test_callers_are_those_that_the_interpreter_tells",
    "python-functions-trace": "e2e/test_python_functions.py",
    "python-sampling": "e2e/test_python_samples.py test_threads_are_where_they_are",
    "python-sampling-frequency": "e2e/test_python_samples.py test_the_frequency_is_an_upper_bound",
    "pytorch": "e2e/test_python_functions.py test_presets_name_functions_of_modules",
    "run-as": "e2e/test_switches.py test_another_user_is_refused",
    "resolve-symbols": "e2e/test_sampled_names.py test_names_may_be_left_out",
    "sample": "e2e/test_cpu_samples.py test_samples_have_their_callers",
    "samples-per-backtrace": "e2e/test_cpu_samples.py test_callers_of_some_samples",
    "sampling-frequency": "e2e/test_cpu_samples.py test_frequency_and_period",
    "sampling-period": "e2e/test_cpu_samples.py test_frequency_and_period",
    "session-new": "e2e/test_switches.py test_another_terminal_starts",
    "show-output": "e2e/test_profile.py test_show_output_false",
    "stack-size": "e2e/test_cpu_samples.py test_callers_beyond_what_is_copied_of_the_stack",
    "start-later": "e2e/test_switches.py test_another_terminal_starts",
    "show-source-info": "e2e/test_sampled_names.py test_lines_may_be_left_out",
    "steps": "e2e/test_keep_steps.py test_each_slow_step_is_whole_and_the_rest_is_counted",
    "stats": "e2e/test_profile_after.py test_statistics_go_into_the_log",
    "stop-on-exit": "e2e/test_profile_life.py test_the_report_may_outlive_the_program",
    "stop-on-range-end": "e2e/test_ranges.py test_shutdown_ends_the_program",
    "strict": "e2e/test_profile_after.py test_strict_tells_by_its_code",
    "syscall": "e2e/test_system_calls.py test_each_call_with_its_thread_and_result",
    "trace": "e2e/test_profile.py test_trace_none_and_others",
    "wait": "e2e/test_profile_life.py test_waits_for_children_or_not",
    "why": "e2e/test_profile_after.py test_the_end_says_why",
}


def check_switches(*arguments):
    """Runs `profile` with ARGUMENTS on a program that does nothing, in a folder of its own."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", *arguments)
        return run, os.listdir(folder.path)


def a_value(switch, of_nothing=False):
    """A value that SWITCH takes, and that asks for something, or not."""
    if of_nothing:
        return "false" if switch["kind"] == "bool" else "none"
    if switch["kind"] == "bool":
        return "true"
    if switch["kind"] == "integer":
        return "500" if "interval" in switch["name"] else "20"
    choices = [choice for choice in switch.get("choices", ["value"]) if choice not in ("none", "false")]
    return choices[-1]


def test_each_switch_has_a_row():
    known = set(EFFECTS) | set(UNHONOURED)
    assert set(SWITCHES) <= known, f"without a test: {set(SWITCHES) - known}"
    for name in set(SWITCHES) - set(UNHONOURED):
        file, _, test = EFFECTS[name].partition(" ")
        with open(os.path.join(tap.SOURCE, "tests", file), encoding="utf-8") as source:
            text = source.read()
        assert not test or f"def {test}(" in text, EFFECTS[name]
        letter = SWITCHES[name].get("letter")
        assert f"--{name}" in text or (letter and f'"-{letter}"' in text), f"{file} does not use --{name}"


def test_switches_of_the_reference_are_known():
    """Those that nsys has on Linux with NVIDIA's GPUs."""
    for name, letter in {"trace": "t", "output": "o", "capture-range": "c", "nvtx-capture": "p", "delay": "y", "duration": "d",
                         "start-later": "Y", "stop-on-exit": "x", "force-overwrite": "f", "show-output": "w", "env-var": "e",
                         "inherit-environment": "n", "sample": "s", "backtrace": "b"}.items():
        assert SWITCHES[name]["letter"] == letter, name
    for name in ("cuda-trace-scope cudabacktrace python-backtrace python-sampling python-sampling-frequency mpi-impl nccl-trace "
                 "osrt-threshold osrt-backtrace-threshold osrt-backtrace-depth osrt-backtrace-stack-size osrt-file-access syscall "
                 "trace-fork-before-exec gds-metrics gds-libs-path cpuctxsw samples-per-backtrace sampling-period event-sample "
                 "event-sampling-interval event-sampling-multiplex-interval cpu-metrics cpu-core-events cpu-core-metrics "
                 "cpu-socket-events cpu-socket-metrics os-events ftrace ftrace-keep-user-config gpu-metrics-devices "
                 "gpu-metrics-frequency gpu-metrics-set gpuctxsw gpu-video-devices nic-metrics dts-api-port "
                 "ib-switch-metrics-devices ib-switch-metrics-nic-device ib-switch-congestion-devices "
                 "ib-switch-congestion-nic-device ib-switch-congestion-percent ib-switch-congestion-threshold-high "
                 "ib-net-info-devices ib-net-info-files ib-net-info-output storage-metrics enable resolve-symbols "
                 "show-source-info debug-symbols").split():
        assert name in SWITCHES, name


def test_what_is_not_honoured_is_told_once():
    words = []
    for name, switch in UNHONOURED.items():
        words += [f"--{name}", "false" if name == "trace-fork-before-exec" else a_value(switch)]
    run, _ = check_switches(*words, "true")
    told = [line for line in run.err.splitlines() if "[LNS-SWITCH-001]" in line]
    sentences = {switch["instead"] for switch in UNHONOURED.values()}
    assert run.code == 0 and len(told) == len(sentences), run.err
    for name, switch in UNHONOURED.items():
        assert len([line for line in told if re.search(rf"--{name}[,:]", line) and switch["instead"] in line]) == 1, (name, run.err)


def test_what_may_be_given_several_times():
    """As scripts for nsys give it: --enable for each plugin, lists in parts, the same twice."""
    run, files = check_switches("--enable=nvml_metrics,-i100", "--enable", "network_interface", "--export=sqlite", "--export=jsonlines", "-e", "A=1", "-e", "B=2",
                                "-w", "true", "--show-output=true", "sh", "-c", 'echo "$A$B"')
    assert run.code == 0 and run.out == "12\n" and run.err.count("--enable: ") == 1, run
    assert set(files) == {"report1.rep", "report1.sqlite", "report1.jsonl"}, files


def test_what_asks_for_nothing_is_silent():
    words = []
    for name, switch in UNHONOURED.items():
        if switch["kind"] == "bool" or "none" in switch.get("choices", ()) or switch.get("default") == "none":
            words += [f"--{name}=" + ("true" if name == "trace-fork-before-exec" else a_value(switch, True))]
    run, _ = check_switches(*words, "--cuda-trace-scope=process-tree", "true")
    assert run.code == 0 and "LNS-SWITCH" not in run.err and len(words) > 5, run.err


def test_bad_values_are_one_sentence():
    wrong = {"bool": "maybe", "choice": "xyzzy", "integer": "x", "seconds": "-1", "bytes": "0"}
    with profiling.Folder() as folder:
        for name, switch in SWITCHES.items():
            kind = switch["kind"]
            cases = [] if kind == "flag" else [([f"--{name}"], "needs a value"), ([f"--{name}="], "has an empty value"),
                                              ([f"--{name}", "--show-output=true", "true"], "needs a value")]
            if kind in wrong:
                cases.append(([f"--{name}={wrong[kind]}", "true"], f"--{name}: “{wrong[kind]}” is not"))
            if kind in ("bool", "choice", "integer", "text"):
                first = {"bool": "true", "integer": a_value(switch)}.get(kind, a_value(switch))
                other = {"bool": "false", "integer": "600" if "interval" in name else "31"}.get(kind)
                other = other or next((choice for choice in switch.get("choices", ["another"]) if choice != first))
                cases.append(([f"--{name}", first, f"--{name}={other}", "true"], f"--{name} is given twice, as “{first}” and as “{other}”"))
            if kind == "flag":
                cases.append(([f"--{name}=true", "true"], "takes no value"))
            for words, text in cases:
                run = folder.profile(*words)
                assert run.code == 125 and run.out == "" and len(run.err.splitlines()) == 1 and text in run.err, (words, run)
        assert os.listdir(folder.path) == []


def test_contradictions_are_one_sentence():
    for words, text in (
            (["-c", "cuda"], "-t cuda to record CUDA"),
            (["-c", "hotkey"], "“hotkey” is about graphics"),
            (["--delay=1", "-c", "cudaProfilerApi"], "both say when the report begins"),
            (["--stop-on-range-end=true", "--capture-range-end=stop", "-c", "cudaProfilerApi"], "both say what happens at the end of a range"),
            (["-x", "false"], "--stop-on-exit=false needs --duration"),
            (["-d", "0"], "--duration must be more than 0"),
            (["-t", "cuda"], "--trace is given twice"),
            (["-t", "nvtx", "-t", "none"], "--trace is given twice"),
            (["-o", "a{FOO}"], "unknown macro “{FOO}”"),
            (["--nvtx"], "“none” cannot be combined"),
            (["--nvtx-domain-include=a", "--nvtx-domain-exclude=b"], "both say which domains"),
            (["--discard-environment=true", "--env-record=all"], "contradict each other"),
            (["--output-dir=x", "-o", "/tmp/y"], "cannot be combined"),
            (["--cuda-flush-interval=3600001"], "at most 3600000"),
            (["--cuda-graph-trace=edge"], "“edge” is not graph or node"),
            (["--python-sampling-frequency=2001"], "a whole number from 1 to 2000")):
        run, files = check_switches(*words, "true")
        assert run.code == 125 and len(run.err.splitlines()) == 1 and text in run.err and not files, (words, run)


def test_forms_that_differ_here_are_told():
    for value, told in (("graph", 0), ("graph:host-only", 0), ("node:nvtx-live", 0), ("graph:host-and-device", 0), ("node:host-and-device", 1), ("node:nvtx-precapture", 0),
                        ("node:nvtx-precapture -cnvtx -pa", 1), ("node:nvtx-precapture -y1", 1)):
        run, _ = check_switches(*f"--cuda-graph-trace={value}".split(), "true")
        assert run.code == 0 and run.err.count("--cuda-graph-trace: ") == told, (value, run)


def test_a_blank_is_no_program():
    """What a shell makes of a backslash with a remark behind it."""
    with profiling.Folder() as folder:
        run = folder.profile("-w", "true", " ")
        assert run.code == 127 and "the backslash that joins two lines" in run.err and len(run.err.splitlines()) == 1, run


def test_ranges_without_a_range_are_told():
    for words in (["--nvtx-capture=x"], ["--capture-range-end=stop"], ["--stop-on-range-end=true"]):
        run, files = check_switches(*words, "true")
        assert run.code == 0 and run.err.count(words[0].split("=")[0] + ": there is no range without --capture-range") == 1 and files, run


def test_switches_of_others_are_refused():
    for refusal in PROFILE["refused"]:
        for name in refusal["names"]:
            run, files = check_switches(f"--{name}=true", "true")
            assert run.code == 125 and run.err == f"lanescope: error: --{name} {refusal['why']}\n" and not files, run
    names = [name for refusal in PROFILE["refused"] for name in refusal["names"]]
    assert {"isr", "wddm-backtraces", "xhv-trace", "vulkan-gpu-workload", "qnx-kernel-events"} <= set(names) and not set(names) & set(SWITCHES)


def test_misspelt_switches_are_understood():
    for word, meant in (("--trce", "trace"), ("--force-overwite", "force-overwrite"), ("--capture-rang", "capture-range"),
                        ("--gpu-metrics-device", None), ("--ouput", "output"), ("--expo", "export"), ("--cuda-mem", "cuda-memory-usage")):
        run, _ = check_switches(f"{word}=none", "true")
        if meant is None:
            assert run.code == 0, run
        elif meant in SWITCHES:
            assert run.code == 125 and f"did you mean --{meant}?" in run.err and len(run.err.splitlines()) == 1, run


def test_older_spellings():
    run, files = check_switches("-s", "cpu", "--cudabacktrace=true", "--gpu-metrics-device=all", "--python-backtrace=cuda", "-w", "TRUE",
                                "-fFALSE", "-x=True", "true")
    assert run.code == 0 and files == ["report1.rep"], run
    assert run.err.count("GPU metrics are not recorded") == 1 and "--python-backtrace" not in run.err, run.err


def test_calls_of_nccl_are_the_ranges_that_it_makes():
    """In its own domain; without the trace of NVTX, those of others are left out."""
    words = (ACT, "mark", "m", "domain", "other", "push", "o", "pop", "domain", "NCCL", "push", "ncclAllReduce", "pop")
    for trace, expected in (("nccl", {"ncclAllReduce": 1}), ("nccl,nvtx", {"m": 1, "o": 1, "ncclAllReduce": 1})):
        with profiling.Folder() as folder:
            run = folder.profile("-t", trace, *words)
            assert run.code == 0 and "nccl" not in run.err, run
            assert dict(folder.report().names()) == expected, (trace, folder.report().names())


def test_values_of_trace_are_told():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "ucx", ACT, "print", "ran")  # a report without events is not what was asked for
        assert run.code == 125 and run.out == "" and "add nvtx or cuda" in run.err and os.listdir(folder.path) == [], run
        run = folder.profile("-t", "none", "-o", "a{x}", ACT, "print", "ran")
        assert run.code == 0 and os.path.exists(folder.file("a{x}.rep")), run
        run = folder.profile("--trace='nvtx', \"ucx\",opengl,wddm,nccl", ACT, "mark", "m")
        for name in ("ucx", "opengl", "wddm"):
            assert len(re.findall(rf"--trace: {name}: .*\[LNS-TRACE-001\]", run.err)) == 1, run.err
        assert run.code == 0 and dict(folder.report().names()) == {"m": 1}
        run = folder.profile("-t", "nvtx,xyzzy", "true")
        assert run.code == 125 and "unknown name “xyzzy”" in run.err, run


def test_an_installation_that_lacks_a_library_is_told():
    with profiling.Folder() as folder:
        for path in ("src/cli/lanescope", "capture/inject/liblanescope-inject.so"):
            os.makedirs(folder.file(os.path.dirname(path)))
            shutil.copy(os.path.join(tap.BUILD, path), folder.file(path))
        run = subprocess.run([folder.file("src/cli/lanescope"), "profile", "-t", "nvtx,mpi", ACT, "mark", "m"], cwd=folder.path,
                             capture_output=True, text=True)
        told, = (line for line in run.stderr.splitlines() if "LNS-TRACE-002" in line)
        assert run.returncode == 0 and "mpi: " in told and "liblanescope-mpi.so" in told and "install all of Lanescope" in told, run
        assert dict(folder.report().names()) == {"m": 1}


def test_shorthands_of_trace():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "opengl", "--nvtx", "--mpi", ACT, "mark", "m")
        assert run.code == 0 and dict(folder.report().names()) == {"m": 1}, run
        assert {"nvtx", "mpi"} <= set(folder.report().info["trace"].split(",")), folder.report().info


def test_files_of_switches():
    with profiling.Folder() as folder:
        with open(folder.file("a"), "w", encoding="utf-8") as file:
            file.write("# what this is\n-t nvtx \\\n  --output='from file'  # the name\n--env-var A=1\n")
        with open(folder.file("b"), "w", encoding="utf-8") as file:
            file.write('--force-overwrite "true"\n')
        run = folder.profile("--command-file", "a", "--command-file=b", "-e", "A=2", "sh", "-c", "echo $A")
        assert run.code == 0 and run.out == "2\n" and "from file.rep" in os.listdir(folder.path), run
        for text, sentence in (("--trce=nvtx", "did you mean --trace?"), ("python x.py", "“python” is not a switch"),
                               ("--command-file=a", "cannot name another"), ("-o 'x", "c has an opening quote without"),
                               ("-w false -w true", "is given twice"), ("-o", "needs a value")):
            with open(folder.file("c"), "w", encoding="utf-8") as file:
                file.write(text)
            run = folder.profile("--command-file=c", "true")
            assert run.code == 125 and sentence in run.err and len(run.err.splitlines()) == 1, (text, run)
        run = folder.profile("--command-file=missing", "true")
        assert run.code == 125 and "cannot read missing: No such file" in run.err, run


def test_domains_are_left_out():
    words = ["push", "plain", "pop", "domain", "a,b", "push", "in a", "mark", "m", "pop", "domain", "other", "push", "in other", "pop"]
    with profiling.Folder() as folder:
        for switch, expected in (("--nvtx-domain-include=a\\,b", {"in a", "m"}), ("--nvtx-domain-include=default,other", {"plain", "in other"}),
                                 ("--nvtx-domain-exclude=default,a\\,b", {"in other"}), ("--nvtx-domain-exclude=none", {"plain", "in a", "m", "in other"}),
                                 ("--nvtx-domain-include=\\default", set())):
            run = folder.profile("-t", "nvtx", "-f", "true", "-o", "r", switch, ACT, *words)
            assert run.code == 0 and set(folder.report("r.rep").names()) == expected, (switch, run)


def test_the_environment_may_be_left_out():
    with profiling.Folder() as folder:
        for value, count in (("false", 1), ("true", 0)):
            folder.profile("-t", "none", "-f", "true", "-o", "r", f"--discard-environment={value}", "true", env=dict(os.environ, LANG="C"))
            database = sqlite3.connect(folder.file("r.rep"))
            assert database.execute("SELECT count(*) FROM lns_meta WHERE key = 'env.LANG'").fetchone() == (count,)
            database.close()


def test_commands_are_run():
    with profiling.Folder() as folder:
        run = folder.profile("-t", "none", "-o", "r", "--session-new", "mine", "--after-collection-start", 'echo "$LANESCOPE_SESSION_NAME" >begun',
                             "--after-report-ready", 'echo "$LANESCOPE_REPORT_PATH" >ready', "true")
        assert run.code == 0, run
        for name, text in (("begun", "mine\n"), ("ready", folder.file("r.rep") + "\n")):
            with open(folder.file(name), encoding="utf-8") as file:
                assert file.read() == text, name


def test_commands_inherit_what_the_caller_ignores_alone():
    with profiling.Folder() as folder:
        tool = folder.start("-t", "none", "-o", "r", "--after-collection-start", "grep -h ^Sig[BI] /proc/self/status >begun", "true",
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        err = tool.communicate(timeout=60)[1]
        assert tool.returncode == 0, err
        with open(folder.file("begun"), encoding="ascii") as file:
            masks = {line.split(":")[0]: int(line.split()[1], 16) for line in file}
        assert masks["SigBlk"] == 0 and masks["SigIgn"] & 0x7fffffff == 1 << (signal.SIGHUP - 1), masks


def test_another_terminal_starts():
    with profiling.Folder() as folder:
        name = f"later-{os.getpid()}"
        waiting = folder.start("-t", "nvtx", "-o", "r", "-Y", "true", f"--session-new={name}", ACT, "mark", "early", "print", "ready", "sleep", "20000")
        assert waiting.stdout.readline() == b"ready\n"
        start = profiling.wait_for(lambda: (done := subprocess.run([tap.LANESCOPE, "start", f"--session={name}"], capture_output=True)).returncode == 0
                                   and done, "the session")
        profiling.wait_for(lambda: folder.report("r.rep").processes, "the report")
        stop = subprocess.run([tap.LANESCOPE, "shutdown", f"--session={name}"], capture_output=True, check=False)
        waiting.communicate(timeout=30)
        assert stop.returncode == 0 and not folder.report("r.rep").named("early"), (start, stop)


def test_functions_of_dask():
    with profiling.Folder() as folder:
        for value, is_there in (("none", False), ("functions-trace", True)):
            run = folder.profile("-f", "true", "-o", "r", "--dask", value, "sh", "-c", 'echo "$LANESCOPE_PYTHON_FUNCTIONS"')
            assert run.code == 0 and ("dask" in run.out) == is_there, run


def test_another_user_is_refused():
    run, files = check_switches("--run-as=nobody", "true")
    assert run.code == 125 and "sudo -u nobody lanescope profile" in run.err and not files, run
    assert check_switches("--run-as=none", "true")[0].code == 0


tap.main(globals(), long=(test_another_terminal_starts,))
