# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export --type=rep: a part of a report says what the whole says of that time."""

import json
import lzma
import os

import golden
import tap

PACKED = os.path.join(tap.SOURCE, "tests", "answers", "device", "loader.rep.xz")


def whole():
    """A recording of an H200, with GPU work, samples and scheduling."""
    path = golden.path("loader.rep")
    if not os.path.exists(path):
        with lzma.open(PACKED) as packed, open(path, "wb") as file:
            file.write(packed.read())
    return path


def part(name, *words):
    golden.run("export", "-q", "-t", "rep", "-f", "true", *words, "-o", golden.path(name), whole())
    return golden.path(name)


def query(report, statement):
    return golden.run("sql", report, statement)[0]


def facts(report):
    lines = golden.run("info", report)[0].decode().splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith(" ") and ": " in line)


def middle():
    """The time of the middle fifth of the GPU's work, ns."""
    start, end = map(int, query(whole(), "SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").split(b"\t"))
    return start + 2 * (end - start) // 5, start + 3 * (end - start) // 5


def test_events_that_overlap_are_there_whole():
    start, end = middle()
    report = part("middle.rep", "--times", f"{start}ns/{end}ns")
    for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY"):
        statement = f"SELECT start, end, correlationId FROM {table} WHERE end > {start} AND start <= {end} ORDER BY start, end"
        expected = query(whole(), statement)
        assert expected.count(b"\n") > 10, (table, expected)
        golden.check(query(report, statement), expected)
        golden.check(query(report, f"SELECT count(*) FROM {table}"), b"%d\n" % expected.count(b"\n"))
    assert os.path.getsize(report) < os.path.getsize(whole()) / 2, os.path.getsize(report)


def test_samples_have_their_call_chains():
    report = part("early.rep", "--times", "2s/4s")
    for stacks in ("folded", "perf-script"):
        words = ("-q", "-t", stacks, *(("--stacks", "cpu") if stacks == "folded" else ()), "-f", "true", "-o", "-")
        expected = golden.run("export", *words, "--times", "2s/4s", whole())[0]
        assert expected.count(b"\n") > 100
        golden.check(golden.run("export", *words, report)[0], expected)


def test_all_of_it_says_the_same():
    report = part("all.rep")
    golden.check(golden.run("why", report)[0], golden.run("why", whole())[0])
    golden.check(golden.run("stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", report)[0].split(b"\n", 1)[1],
                 golden.run("stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", whole())[0].split(b"\n", 1)[1])


def test_what_is_outside_is_not_idle():
    start, end = middle()
    report = part("middle.rep", "--times", f"{start}ns/{end}ns")
    answer = json.loads(golden.run("why", "--format=json", report)[0])
    same = json.loads(golden.run("why", "--format=json", f"--filter-time={start}/{end}", whole())[0])
    # The span of a GPU's ledger ends with the last event of its process that there is.
    assert answer["span"]["start"] == start and end - 1000000 < answer["span"]["end"] <= end, answer["span"]
    assert [device["busy_ns"] for device in answer["devices"]] == [device["busy_ns"] for device in same["devices"]]
    assert answer["verdict"] == same["verdict"], (answer["verdict"], same["verdict"])
    assert facts(report)["part"].startswith("from ")
    assert "part" not in facts(whole())


def test_it_tells_of_itself():
    start, end = middle()
    report = part("middle.rep", "--times", f"{start}ns/{end}ns")
    told = golden.run("info", report)[0].decode()
    assert "LNS-PART-001 info: this report is the part from" in told and "of loader.rep" in told, told
    assert facts(report)["command line"] == facts(whole())["command line"]
    assert facts(report)["problems"] == "0", told
    german = golden.run("info", report, LC_ALL="de_DE.UTF-8")[0].decode()
    assert "LNS-PART-001 info: dieser Bericht ist der Teil von" in german, german


def test_rows():
    pid = query(whole(), "SELECT pid FROM PROCESSES LIMIT 1").decode().strip()
    report = part("process.rep", "--processes", pid)
    golden.check(query(report, "SELECT count(DISTINCT globalTid >> 24 & 0xffffff) FROM SCHED_EVENTS"), b"1\n")
    _, err = golden.run("export", "-t", "rep", "--devices", "7", "-o", golden.path("no.rep"), whole(), code=125)
    assert b"has no GPU 7" in err
    _, err = golden.run("export", "-t", "rep", "--devices", "x", "-o", golden.path("no.rep"), whole(), code=125)
    assert b"is not a number" in err
    assert not os.path.exists(golden.path("no.rep"))


def test_a_name_of_its_own():
    """Without --output, the report is not where the whole one is."""
    golden.run("export", "-q", "-t", "rep", whole())
    assert os.path.exists(golden.path("loader.part.rep"))
    _, err = golden.run("export", "-q", "-t", "rep", "-f", "true", "-o", whole(), whole(), code=125)
    assert b"a report cannot be replaced by its export" in err


tap.main(globals())
