# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope why on reports that were not made for it: its ledgers close, its evidence is in the report, its forms agree."""

import csv
import io
import json
import os
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "golden"))
sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "answers"))
import answers  # noqa: E402
import exports  # noqa: E402
import golden  # noqa: E402

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")

def why(report, *switches):
    return json.loads(golden.run("why", "--format=json", *switches, report)[0])


def check_sql(report, answer, what):
    """The statement of each finding gives its time again, and the tables are the answer."""
    for finding in answer["findings"]:
        assert int(golden.run("sql", report, finding["sql"])[0]) == finding["ns"], (what, finding)
    rows = golden.run("sql", report, "SELECT cause, ns, sentence FROM LNS_FINDINGS ORDER BY finding")[0].decode().splitlines()
    assert rows == [f"{f['cause']}\t{f['ns']}\t{f['sentence']}" for f in answer["findings"]], what
    rows = golden.run("sql", report, 'SELECT start, "end", busy, idle FROM LNS_LEDGERS ORDER BY ledger')[0].decode().splitlines()
    assert rows == ["\t".join(str(ledger[key]) for key in ("start", "end", "busy_ns", "idle_ns"))
                    for ledger in answer["devices"] + answer["threads"]], what
    idle = sum(ledger["idle_ns"] for ledger in answer["devices"] + answer["threads"])
    assert int(golden.run("sql", report, 'SELECT coalesce(sum("end" - start), 0) FROM LNS_GAPS')[0]) == idle, what
    assert int(golden.run("sql", report, "SELECT count(*) FROM LNS_STEPS")[0]) == answer["steps"]["count"], what
    return len(answer["findings"])


def check_events(report, answer, what):
    """Evidence is where it is said to be."""
    n = 0
    for finding in answer["findings"]:
        for event in finding["events"]:
            if "table" not in event:
                continue
            columns = golden.run("sql", report, f"SELECT start FROM {event['table']} WHERE rowid = {event['row']}")[0].split()
            assert columns and int(columns[0]) == event["start"] <= event["end"] and event["from"] <= event["to"], (what, event, columns)
            n += 1
    return n


@exports.on_each(least=(4, 9))
def test_ledgers_close(names, least):
    n = 0
    for name in names:
        report = exports.report(name)
        answer = why(report)
        n += answers.check_ledgers(answer, name)
        check_events(report, answer, name)
        check_sql(report, answer, name)
        for part in ("200ms/700ms", "1s/", "/50ms"):
            done = golden.run("info", report)  # the report is there
            assert done
            try:
                n += answers.check_ledgers(why(report, "--filter-time=" + part), (name, part))
            except AssertionError as error:
                assert "exited with 125" in str(error), error
    assert n >= least, n


def test_ledgers_of_traces_close():
    folder = os.path.join(tap.SHARED, "corpus", "kineto")
    if not os.path.isdir(folder):
        raise tap.Skip("../shared/corpus is not there")
    n = 0
    for trace in sorted(os.listdir(folder)):
        report = golden.path(trace + ".rep")
        golden.run("import", "-q", "-o", report, os.path.join(folder, trace))
        answer = why(report)
        n += answers.check_ledgers(answer, trace)
        check_events(report, answer, trace)
        check_sql(report, answer, trace)
    assert n >= 6, n


def test_the_sample_names_what_it_waited_for():
    answer = why(SAMPLE)
    answers.check_ledgers(answer, "sample")
    assert "“load”" in answer["verdict"] and answer["findings"][0]["names"] == ["load"], answer["verdict"]
    assert answer["findings"][0]["confidence"] == "guess", "whether the thread ran was not recorded"
    assert check_events(SAMPLE, answer, "sample") > 8 and check_sql(SAMPLE, answer, "sample") > 3
    assert answer["steps"]["source"] == "nvtx:step" and answer["steps"]["count"] == 8
    text = golden.run("why", SAMPLE)[0].decode()
    assert " ".join(text.split("\n  1")[0].split()) == answer["verdict"] and len(text.splitlines()) <= 12, text


def trace_of_frames(name, order):
    """A trace of PyTorch's profiler: in each step, a Python function computes; all that is around it begins with it."""
    events, now = [], 5_000_000
    for i in range(8):
        begin = now
        kernel = now + 9020
        spans = [("python_function", "train.py(88): train_step", begin, 12_000), ("python_function", "data/batch.py(31): make_batch", begin, 9000),
                 ("user_annotation", f"ProfilerStep#{i}", begin, 12_000), ("cpu_op", "aten::mm", begin + 9000, 20), ("cuda_runtime", "cudaLaunchKernel", begin + 9010, 5),
                 ("cuda_runtime", "cudaDeviceSynchronize", begin + 9040, kernel + 2500 - begin - 9040)]
        spans = spans[order:3] + spans[:order] + spans[3:]
        events += [{"ph": "X", "cat": cat, "name": text, "ts": at, "dur": lasts, "pid": 77, "tid": 77, "args": {"correlation": i + 1} if cat == "cuda_runtime" and "Launch" in text else {}}
                   for cat, text, at, lasts in spans]
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "ts": kernel, "dur": 2500, "pid": 0, "tid": 7,
                       "args": {"device": 0, "context": 1, "stream": 7, "correlation": i + 1, "grid": [400, 1, 1], "block": [128, 1, 1]}})
        now += 12_050
    path = golden.path(name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return path


def test_the_innermost_of_ranges_that_begin_together():
    for order in range(3):
        answer = why(trace_of_frames(f"frames{order}.json", order))
        assert "make_batch" in answer["verdict"] and answer["findings"][0]["cause"] == "cpu-work", (order, answer["verdict"])


def test_the_range_of_steps_is_named_without_numbers():
    path = trace_of_frames("named.json", 0)
    for given in ("ProfilerStep", "ProfilerStep#", "ProfilerStep#3", "ProfilerStep#99"):
        assert "Steps: 8 × “ProfilerStep" in golden.run("why", f"--steps={given}", path)[0].decode(), given
    # What has the very name and is no range of the thread does not stand before what is.
    data = json.load(open(path, encoding="utf-8"))
    data["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "ProfilerStep", "ts": 5_000_100, "dur": 5, "pid": 0, "tid": 9,
                                "args": {"device": 0, "context": 1, "stream": 9, "grid": [1, 1, 1], "block": [1, 1, 1]}})
    other = golden.path("named-too.json")
    with open(other, "w", encoding="utf-8") as file:
        json.dump(data, file)
    assert "Steps: 8 × “ProfilerStep" in golden.run("why", "--steps=ProfilerStep", other)[0].decode()
    assert "no range “Profiler”" in golden.run("why", "--steps=Profiler", path, code=125)[1].decode()


def test_each_line_says_when():
    findings = why(SAMPLE)["findings"]
    lines = [line for line in golden.run("why", SAMPLE)[0].decode().splitlines() if line.startswith("  ") and "×" in line]
    once = [line for line in lines if " 1× " in line]
    assert once and len(lines) <= len(findings)
    assert all(" at " in line for line in lines), lines


def test_forms_agree():
    answer = why(SAMPLE)
    rows = list(csv.DictReader(io.StringIO(golden.run("why", "--format=csv", SAMPLE)[0].decode())))
    assert [(row["Cause"], row["Time (ns)"], row["Finding"]) for row in rows] == [(f["cause"], str(f["ns"]), f["sentence"]) for f in answer["findings"]]
    markdown = golden.run("why", "--format=markdown", SAMPLE)[0].decode()
    assert markdown.startswith(f"**{answer['verdict']}**") and all(f["sentence"] in markdown for f in answer["findings"][:5])
    assert golden.run("why", "--format=table", SAMPLE)[0].decode().count(answer["findings"][0]["sentence"]) == 1
    steps = golden.run("why", "--steps", SAMPLE)[0].decode()
    assert "Steps: 8 × “step”" in steps, steps
    assert "Steps: 8 × “load”" in golden.run("why", "--steps=load", SAMPLE)[0].decode()


def test_a_gap_is_told_piece_by_piece():
    answer = why(SAMPLE)
    longest = max(answer["findings"][0]["events"], key=lambda event: event["to"] - event["from"])
    said = golden.run("why", SAMPLE)[0].decode().split("longest: ")[1].split(" at ")[1].split("\n")[0].replace(" ", "")
    for at in (said, f"{longest['from']}ns", f"{longest['from'] / 1e9:.6f}s"):
        gap = json.loads(golden.run("why", "--gap=" + at, "--format=json", SAMPLE)[0])
        assert gap["start"] <= longest["from"] and longest["to"] <= gap["end"] and gap["device"] == 0, (at, gap)
        ends = [gap["start"]] + [part["end"] for part in gap["parts"]]
        assert ends[:-1] == [part["start"] for part in gap["parts"]] and ends[-1] == gap["end"], gap
        most = max(gap["parts"], key=lambda part: part["end"] - part["start"])
        assert (most["cause"], most["range"], most["finding"]) == ("cpu-work", "load", 1), most
        text = golden.run("why", "--gap=" + at, SAMPLE)[0].decode()
        assert text.startswith("GPU 0 was idle for ") and text.count("\n") == 1 + len(gap["parts"]) and ": load  (finding 1)" in text, text
    for wrong, said in (("--gap=soon", "is no time"), ("--gap=9s", "no gap at 9s or after it"), ("--gap=1s/2s", "is no time")):
        assert said in golden.run("why", wrong, SAMPLE, code=125)[1].decode(), wrong
    for other in ("--format=csv", "--steps"):
        golden.run("why", "--gap=1ms", other, SAMPLE, code=125)


def test_people_read_it_in_their_language():
    """What programs read stays English."""
    german = {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": ""}
    text = " ".join(golden.run("why", SAMPLE, **german)[0].decode().split())
    assert text.startswith("GPU 0 war ") and "in „load“ in 7 von 8 Schritten; ob er rechnete oder wartete, wurde nicht aufgezeichnet. " in text, text
    assert "Schritte: 8 × „step“" in text and "Was hilft: diese Arbeit in einem anderen Thread tun" in text, text
    assert golden.run("why", "--gap=38ms", SAMPLE, **german)[0].decode().startswith("GPU 0 war ")
    for words in (("--format=json",), ("--format=csv",), ("--gap=38ms", "--format=json")):
        assert golden.run("why", *words, SAMPLE, **german)[0] == golden.run("why", *words, SAMPLE)[0], words
    assert golden.run("sql", SAMPLE, "SELECT sentence FROM LNS_FINDINGS", **german)[0] == golden.run("sql", SAMPLE, "SELECT sentence FROM LNS_FINDINGS")[0]


def test_limits():
    golden.run("why", "--fail-on=io-wait", SAMPLE)
    golden.run("why", "--fail-on=cpu-work>90", SAMPLE)
    assert golden.run("why", "--fail-on=io-wait,cpu-work>10", SAMPLE, code=3)[0] == golden.run("why", SAMPLE)[0]
    for wrong, said in (("--fail-on=magic", "unknown cause “magic”"), ("--fail-on=sleep>x", "write CAUSE or CAUSE>PERCENT"), ("--steps=nothing", "no range “nothing”"),
                        ("--filter-time=90s/91s", "nothing in that time")):
        assert said in golden.run("why", wrong, SAMPLE, code=125)[1].decode(), wrong


tap.main(globals())
