# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What `lanescope status` says that this machine lets be recorded. A refusal is what a recording would say, in the same words."""

import json
import os
import re
import shutil
import subprocess

import tap
from profiling import OWN_RIGHTS, covered
from terminals import Place

DENY = os.path.join(tap.BUILD, "tests", "e2e", "deny-call")
WORK = os.path.join(tap.BUILD, "tests", "programs", "cpu-work")
CPUS = ("cpu-samples", "cpu-scheduling")
LIBRARIES = ("nvtx", "cuda", "cuda-backtraces", "cuda-libraries", "mpi", "osrt", "python-functions")
WITH_PRIVILEGES = ("kernel-samples", "wakers", "system-calls")
KINDS = (*LIBRARIES, "python-samples", *CPUS, *WITH_PRIVILEGES, "gpu-environment", "gpu-metrics")


def status(place, *words, before=(), lanescope=tap.LANESCOPE, **variables):
    """The output of `lanescope status`, which never fails."""
    run = subprocess.run([*before, lanescope, "status", *words], cwd=place.path, env={**place.environment, **variables},
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=60, text=True, check=False)
    assert run.returncode == 0 and run.stderr == "", run
    return run.stdout


def kinds(place, **options):
    """{kind of data: its row}"""
    rows = json.loads(status(place, "--output-format=json", **options))["data"]
    assert tuple(row["data"] for row in rows) == KINDS, rows
    assert all(row["recordable"] in ("yes", "limited", "no") and (row["reason"] or row["recordable"] == "yes") for row in rows), rows
    return {row["data"]: row for row in rows}


def said_by_profile(place, *words, before=()):
    """{code: sentence} of a recording."""
    run = subprocess.run([*before, tap.LANESCOPE, "profile", "-f", "true", "-o", "r.rep", *words, "true"], cwd=place.path,
                         env=place.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, text=True, check=False)
    return {code: text for text, code in re.findall(r"^lanescope: (?:warning|note): (.*) \[(LNS-\w+-\d+)\]$", run.stderr, re.M)}


def check_cpus(place, rows, before=()):
    """What is said of CPUs is what a recording says."""
    said = said_by_profile(place, "-t", "none", "-s", "process-tree", before=before)
    for kind in CPUS:
        row = rows[kind]
        if "LNS-CPU-003" in (row["code"], *said):  # other recordings of the user, which share the memory, come and go
            continue
        if row["recordable"] == "no":
            assert said == {row["code"]: row["reason"]}, (row, said)
        else:
            assert not any(code in said for code in ("LNS-CPU-001", "LNS-CPU-002", "LNS-CPU-003", "LNS-CPU-004")), (row, said)
    if rows[CPUS[0]]["recordable"] == "no":
        assert all(rows[kind]["reason"] == rows[CPUS[0]]["reason"] for kind in WITH_PRIVILEGES), rows
    return rows["cpu-samples"]["code"]


def test_a_row_for_each_kind():
    with Place() as place:
        rows = kinds(place)
        for kind in ("nvtx", "mpi", "osrt"):
            assert rows[kind]["recordable"] == "yes" and rows[kind]["reason"] is None, rows
        check_cpus(place, rows)
        text = status(place)
        assert text.startswith("There is no session") and "\nDATA " in text, text
        table = text[text.index("\nDATA ") + 1:]
        for row in rows.values():
            line = rf"^{re.escape(row['title'])} +{row['recordable']} +{re.escape(row['switch'])}$"
            assert re.search(line, table, re.M), (line, table)
            if row["reason"]:  # filled into lines of the terminal's width
                assert row["reason"] in re.sub(r"\n +", " ", table), (row, table)
        assert max(map(len, table.splitlines())) <= 80, table
        assert status(place, COLUMNS="40") != text


def test_facts_come_with_the_table():
    with Place() as place:
        facts = json.loads(status(place, "-e", "-f", "json"))["machine"]
        text = status(place, "-e")
        for fact in facts:
            assert re.search(rf"^{re.escape(fact['name'])}: ", text, re.M), (fact, text)
        names = {fact["name"]: fact["value"] for fact in facts}
        assert names["Recording"] == "OK" and {"Seccomp filter", "Container", "Counter of CPU cycles", "NVIDIA driver"} <= set(names), names
        assert json.loads(status(place, "-f", "json")).keys() == {"data"}
        filtered = {fact["name"]: fact["value"] for fact in json.loads(status(place, "-e", "-f", "json", before=[DENY, "pidfd_open"]))["machine"]}
        assert filtered["Seccomp filter"].startswith("yes"), filtered


def test_a_filter_that_denies_samples():
    with Place() as place:
        for call, code in (("perf_event_open", "LNS-CPU-002"), ("perf_event_open:ENOSYS", "LNS-CPU-004")):
            rows = kinds(place, before=[DENY, call])
            assert check_cpus(place, rows, before=[DENY, call]) == code, rows
            assert rows["nvtx"]["recordable"] == "yes", rows


def test_a_paranoid_kernel():
    with Place() as place:
        before = covered(place, "perf_event_paranoid", 3, DENY, "perf_event_open:EACCES")
        rows = kinds(place, before=before)
        assert check_cpus(place, rows, before=before) == "LNS-CPU-001", rows
        assert "sudo sysctl kernel.perf_event_paranoid=2" in rows["cpu-samples"]["reason"], rows


def test_a_kernel_that_allows_few_samples():
    with Place() as place:
        before = covered(place, "perf_event_max_sample_rate", 100)
        row = kinds(place, before=before)["cpu-samples"]
        if row["recordable"] != "no":
            assert row["recordable"] == "limited" and row["code"] == "LNS-CPU-005", row
            assert row["reason"].startswith("CPU samples are taken 100 times a second instead of 1000"), row


def test_a_user_without_privileges():
    with Place() as place:
        rows = kinds(place, before=OWN_RIGHTS)
        check_cpus(place, rows, before=OWN_RIGHTS)
        assert rows["nvtx"]["recordable"] == "yes", rows


def test_what_needs_privileges():
    """The kernel's own code in samples, and who wakes threads: a report of this machine has it, or the row says how to get it."""
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        is_paranoid = int(file.read()) > 1
    with Place() as place:
        rows = kinds(place, before=OWN_RIGHTS)
        for kind, words in (("kernel-samples", "sudo sysctl kernel.perf_event_paranoid=1"), ("wakers", "as root"), ("system-calls", "as root")):
            row = rows[kind]
            if is_paranoid and (OWN_RIGHTS or os.getuid() != 0):
                assert row["recordable"] == "no", row
            assert row["recordable"] == "yes" or words in row["reason"] or rows["cpu-samples"]["recordable"] == "no", row
        rows = kinds(place)
        run = subprocess.run([tap.LANESCOPE, "profile", "-t", "none", "-s", "process-tree", "-o", "r.rep", WORK, "wake", "50"], cwd=place.path,
                             env=place.environment, capture_output=True, timeout=60, check=False)
        assert run.returncode == 7, run
        found = subprocess.run([tap.LANESCOPE, "sql", place.file("r.rep"), "SELECT count(wakerTid) > 0 FROM SCHED_EVENTS"],
                               capture_output=True, text=True, check=False)
        if rows["wakers"]["recordable"] == "yes":
            assert found.stdout == "1\n", (found, rows)
        elif rows["cpu-scheduling"]["recordable"] != "no":
            assert "no such column" in found.stderr, (found, rows)


def test_memory_that_cannot_be_read():
    """A row has another process id than a recording."""
    program = ("/usr/bin/python3", "-c", "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass")
    with Place() as place:
        assert kinds(place)["python-samples"]["recordable"] == "yes"
        row = kinds(place, before=[DENY, "process_vm_readv"])["python-samples"]
        assert row["recordable"] == "no" and row["code"] == "LNS-PYTHON-003", row
        run = subprocess.run([DENY, "process_vm_readv", tap.LANESCOPE, "profile", "-t", "none", "-s", "none", "-o", "r.rep", "--python-sampling=true",
                              *program], cwd=place.path, env=place.environment, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run
        said = re.sub(r"process \d+", "process", run.stderr)
        assert re.sub(r"process \d+", "process", row["reason"]) + " [LNS-PYTHON-003]" in said, (row, run)


def beside_another_recording(place):
    """What status says while another recording of the user runs that may lock as little: (rows by kind, what that recording said)."""
    before = [*OWN_RIGHTS, "sh", "-c", 'ulimit -l 0; exec "$@"', "sh"]
    other = subprocess.Popen([*before, tap.LANESCOPE, "profile", "-f", "true", "-t", "none", "-s", "process-tree", "sh", "-c", "echo ready; cat"],
                             cwd=place.path, env=place.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"ready\n"
        rows = kinds(place, before=before)
    finally:
        _, err = other.communicate()
    return rows, err.decode()


def test_no_memory_may_be_locked():
    """While another recording of the user has all that the kernel allows. The kernel counts for all recordings of the user: one of
    somebody else may have had it all when the other began, and returned it before status looked."""
    with Place() as place:
        for _ in range(20):
            rows, err = beside_another_recording(place)
            if rows["cpu-samples"]["recordable"] == "no" or "LNS-CPU-003" not in err:
                break
        assert rows["cpu-samples"]["recordable"] == "no", (rows, err)
        assert rows["cpu-samples"]["code"] == "LNS-CPU-003" or rows["cpu-samples"]["code"] in err, (rows, err)


def test_no_memory_can_be_shared():
    """Then nothing can be recorded at all, and each kind says so; the table says it once."""
    with Place() as place:
        rows = kinds(place, before=[DENY, "memfd_create"])
        run = subprocess.run([DENY, "memfd_create", tap.LANESCOPE, "profile", "true"], cwd=place.path, env=place.environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 125, run
        for row in rows.values():
            assert row["recordable"] == "no" and row["reason"] in run.stderr, (row, run)
        assert status(place, before=[DENY, "memfd_create"]).count("memfd_create:") == 1


def test_an_installation_without_its_libraries():
    with Place() as place:
        os.mkdir(place.file("bin"))
        lanescope = shutil.copy(tap.LANESCOPE, place.file("bin/lanescope"))
        rows = kinds(place, lanescope=lanescope)
        for kind in LIBRARIES:
            assert rows[kind]["recordable"] == "no" and "install all of Lanescope" in rows[kind]["reason"], rows
        assert rows["gpu-metrics"]["code"] == "LNS-GPU-004", rows
        check_cpus(place, rows)


def with_driver(place, version):
    """The command that runs another one where NVIDIA's driver of VERSION (None: no driver) is loaded."""
    os.makedirs(place.file("driver/nvidia"), exist_ok=True)
    with open(place.file("driver/nvidia/version"), "w", encoding="ascii") as file:
        file.write(f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Mon Jan  1 00:00:00 UTC 2026\n" if version else "")
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", f"mount --bind {place.file('driver')} /proc/driver && exec \"$@\"", "sh"]


def test_the_driver_and_its_cupti():
    with Place() as place:
        row = kinds(place, before=with_driver(place, None))["cuda"]
        assert row["recordable"] == "no" and re.search("no NVIDIA driver.*; (install it|start it with `docker run --gpus=all`)", row["reason"]), row
        # of a major version that the driver does not support
        variables = {"CUDA_HOME": place.file("home"), "LD_LIBRARY_PATH": ""}
        file = place.file("home/extras/CUPTI/lib64/libcupti.so.12")
        os.makedirs(os.path.dirname(file))
        with open(file, "w", encoding="ascii"):
            pass
        rows = kinds(place, before=with_driver(place, "550.54.15"), **variables)
        facts = status(place, "-e", before=with_driver(place, "550.54.15"), **variables)
        chosen = re.search(r"^CUPTI: (\S+) ", facts, re.M).group(1)
        assert rows["cuda"]["recordable"] == "yes" and rows["cuda"]["reason"] == f"by {chosen}", rows
        # The other one is built where cuBLAS's headers are.
        is_built = os.path.exists(os.path.join(tap.BUILD, "capture", "inject", "liblanescope-libraries.so"))
        assert rows["cuda-libraries"]["recordable"] == ("yes" if is_built else "no"), rows
        assert chosen == file, facts
        rows = kinds(place, before=with_driver(place, "450.51.06"), **variables)
        facts = status(place, "-e", before=with_driver(place, "450.51.06"), **variables)
        assert f"CUPTI, not used: {file} " in facts, facts
        if re.search("^CUPTI: /", facts, re.M) is None:
            assert rows["cuda"]["recordable"] == "no" and rows["cuda"]["code"] == "LNS-CUDA-001" and "cupti" in rows["cuda"]["reason"], rows


def test_a_session_comes_first():
    with Place() as place:
        place.begin("launch", "--session-new=s", "sleep", "100")
        assert "Session: s\n" in status(place) and "DATA" not in status(place)
        assert "DATA" in status(place, "-e") and "Session:" not in status(place, "-e")
        assert kinds(place)["nvtx"]["recordable"] == "yes"
        place.refused("sessions list --output-format=json", "status", "-f", "json", "--session=s")
        place.refused("sessions list --output-format=json", "status", "-f", "json", "-n")


tap.main(globals(), gate=(test_a_row_for_each_kind,))
