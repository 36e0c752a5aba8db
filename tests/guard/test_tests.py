# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The rules of the tests themselves: no clocks, a short quarantine, and a gate that the build knows."""

import collections
import datetime
import os
import re
import subprocess

import tap
from runner import programs

# How many lines of a file sleep or read a clock. A new test waits for what it wants to see, and counts instead of measuring:
# a number here may only become smaller.
CLOCKS = {
    "tests/double/client.c": 1,
    "tests/double/test-calls.c": 1,
    "tests/double/test_cupti.py": 4,
    "tests/e2e/embedded-python.c": 1,
    "tests/e2e/python-stacks.c": 2,
    "tests/e2e/test_cpu_samples.py": 3,
    "tests/e2e/test_cuda_details_double.py": 1,
    "tests/e2e/test_gpu_environment_double.py": 2,
    "tests/e2e/test_gpu_metrics_double.py": 1,
    "tests/e2e/test_kill.py": 6,
    "tests/e2e/test_osrt.py": 1,
    "tests/e2e/test_profile.py": 1,
    "tests/e2e/test_profile_disk.py": 1,
    "tests/e2e/test_profile_life.py": 4,
    "tests/e2e/test_python_reader.py": 5,
    "tests/e2e/test_python_samples.py": 5,
    "tests/e2e/test_sampled_names.py": 1,
    "tests/e2e/test_sessions.py": 12,
    "tests/e2e/test_status.py": 1,
    "tests/e2e/test_switches_double.py": 2,
    "tests/e2e/test_topology_double.py": 1,
    "tests/e2e/test_use_cases_double.py": 1,
    "tests/golden/test_errors.py": 3,
    "tests/golden/test_export.py": 1,
    "tests/golden/test_import.py": 1,
    "tests/golden/test_stats_sql.py": 1,
    "tests/ui/test-functions.c": 2,
    "tests/ui/test-labels.c": 3,
    "tests/ui/test-timeline.c": 2,
    "tests/ui/test-window.c": 3,
    "tests/unit/mini-session.c": 2,
    "tests/unit/test-clock.c": 3,
    "tests/unit/test-inject-cuda-cupti-double.c": 5,
    "tests/unit/test-inject-cuda-life-double.c": 5,
    "tests/unit/test-inject-cuda-range-double.c": 3,
    "tests/unit/test-inject-edges.c": 1,
    "tests/unit/test-inject-forks.c": 2,
    "tests/unit/test-inject-life.c": 2,
    "tests/unit/test-inject-threads.c": 2,
    "tests/unit/test-keep.c": 1,
    "tests/unit/test-report-errors.c": 1,
}
CLOCK = re.compile(r"\b(time\.(sleep|monotonic|monotonic_ns|time|time_ns|perf_counter|perf_counter_ns) ?\(|(usleep|nanosleep|sleep|"
                   r"clock_gettime|clock_nanosleep|g_usleep|g_get_monotonic_time|lns_monotonic_ns) \()")
# The harnesses wait, and what is recorded, measured or stands in for a library may do what it likes.
FREE = re.compile(r"^tests/(bench|device|programs|nvtx_project\.py|runner|full\.py|mutate\.py|readers|e2e/nvtx_suite"
                  r"|double/(gpu|cupti|driver|runtime|nvml|nvperf)|e2e/profiling\.py|tap\.h|ui/(harness\.py|widget-test\.h|timeline-fixture\.h))\b")
LONGEST_DAYS, MOST = 60, 10


def files():
    listed = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "tests"], capture_output=True, text=True,
                            check=True).stdout.split()
    return [path for path in listed if re.search(r"\.(c|h|py)$", path) and os.path.exists(os.path.join(tap.SOURCE, path))]


def read(path):
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        return file.read()


def test_no_new_clocks():
    found = collections.Counter()
    for path in files():
        if not FREE.match(path) and path != "tests/guard/test_tests.py":
            found[path] += sum(bool(CLOCK.search(line)) for line in read(path).splitlines())
    wrong = [f"{path}: {found[path]} lines sleep or read a clock, {CLOCKS.get(path, 0)} are known"
             for path in sorted(found) if found[path] != CLOCKS.get(path, 0)]
    wrong += [f"{path}: there is no such file" for path in CLOCKS if path not in found]
    assert not wrong, "\n".join(wrong)


def test_the_quarantine_is_short():
    rows = programs.quarantine_rows(tap.SOURCE)
    assert len(rows) <= MOST, f"{len(rows)} cases are in quarantine; mend some before you add more than {MOST}"
    known = {program.name for program in programs.load(tap.BUILD)}
    for name, cause, date, owner in rows:
        days = (datetime.date.today() - datetime.date.fromisoformat(date)).days
        assert days <= LONGEST_DAYS, f"{name} has been in quarantine for {days} days; mend {owner}"
        assert name.partition(":")[0] in known and name.partition(":")[2], f"there is no case {name}"
        assert cause and os.path.exists(os.path.join(tap.SOURCE, owner)), f"{name}: {owner} is to be mended"


def test_cases_of_the_gate_are_in_its_suite():
    """A file that names its cases of the gate is of no use to it if meson does not know that."""
    in_gate = {os.path.relpath(word, tap.SOURCE) for program in programs.load(tap.BUILD) if "gate" in program.suites
               for word in program.command if word.endswith(".py")}
    named = {path for path in files() if path.endswith(".py") and re.search(r"^(tap|harness)\.main\(globals\(\), gate=", read(path), re.M)}
    assert not named - in_gate, f"not in the suite gate: {sorted(named - in_gate)}"


tap.main(globals())
