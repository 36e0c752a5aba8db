# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope stats: tests the layout, compares the numbers with independent SQL, and tests the switches."""

import csv
import decimal
import html.parser
import io
import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess

import exports
import golden
import tap

REPORT = golden.make_report()
STATS = os.path.join(tap.SHARED, "corpus", "nsys-stats")
FORMAT_TABLE = os.path.join(tap.BUILD, "tests", "golden", "format-table")

SUM = """\
 ** NVTX Start/End Range Summary (nvtx_startend_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)   Range  
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  --------
    100.0             2000          2    1000.0    1000.0      1000      1000          0.0  :request

"""

PUSHPOP = b"""\
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Range
77.5,40000,1,40000.0,40000.0,40000,40000,0.0,:never ended
15.5,8000,2,4000.0,4000.0,0,8000,5656.9,:step
1.4,700,2,350.0,350.0,300,400,70.7,compute:load
1.0,500,1,500.0,500.0,500,500,0.0,:bad \xff\xfe byte
1.0,500,1,500.0,500.0,500,500,0.0,:gr\xc3\xbc\xc3\x9f \xe2\x82\xac
1.0,500,1,500.0,500.0,500,500,0.0,":quo""ted, 'too'"
1.0,500,1,500.0,500.0,500,500,0.0,:tab\there
1.0,500,1,500.0,500.0,500,500,0.0,":two
lines"
0.7,350,7,50.0,50.0,50,50,0.0,compute:payload
0.1,57,1,57.0,57.0,57,57,0.0,:
"""

TRACE = b"""\
Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree
-50,7,57,0,57,:,2000,2000,0,0,1,,:1,:
1000,9000,8000,2500,5500,:step,1000,1000,0,5,6,,:6,:step
1000,1500,500,0,500,":two
lines",1000,1000,1,0,7,6,:6:7,"--:two
lines"
2000,2500,500,400,100,:tab\there,1000,1000,1,1,8,6,:6:8,--:tab\there
2000,2400,400,0,400,compute:load,1000,1000,2,0,9,8,:6:8:9,----compute:load
3000,3500,500,0,500,":quo""ted, 'too'",1000,1000,1,0,10,6,:6:10,"--:quo""ted, 'too'"
3000,3300,300,0,300,compute:load,1000,1001,0,0,11,,:11,compute:load
4000,4500,500,0,500,:gr\xc3\xbc\xc3\x9f \xe2\x82\xac,1000,1000,1,0,12,6,:6:12,--:gr\xc3\xbc\xc3\x9f \xe2\x82\xac
5000,5500,500,0,500,:bad \xff\xfe byte,1000,1000,1,0,13,6,:6:13,--:bad \xff\xfe byte
10000,10000,0,0,0,:step,1000,1000,0,0,19,,:19,:step
"""


def stats(*words, **arguments):
    return golden.run("stats", *words, **arguments)[0]


def test_console_look():
    golden.check(stats("-q", "--report", "nvtx_startend_sum", REPORT), SUM.encode())
    golden.check(stats("-r", "nvtx_startend_sum", REPORT),
                 f"Processing [{REPORT}] with [nvtx_startend_sum]... \n\n".encode() + SUM.encode())


def test_csv():
    golden.check(stats("--report", "nvtx_pushpop_sum", "--format", "csv", REPORT), PUSHPOP)


def test_the_report_may_be_a_switch():
    golden.check(stats("--input", REPORT, "--report", "nvtx_pushpop_sum", "--format", "csv"), PUSHPOP)
    golden.check(stats("--report", "nvtx_pushpop_sum", f"--input={REPORT}", "--format", "csv"), PUSHPOP)
    golden.check(golden.run("analyze", "--input", REPORT)[0], golden.run("analyze", REPORT)[0])
    assert b"export takes one report" in golden.run("export", "--input", REPORT, REPORT, code=125)[1]


def test_trace():
    golden.check(stats("-r", "nvtx_pushpop_trace", "-f", "csv", REPORT)[:len(TRACE)], TRACE)


def test_default_is_the_sum_of_both_styles():
    out, err = golden.run("stats", "-f", "csv", REPORT)
    assert len(err.splitlines()) == 2 * 19 and err.count(b"SKIPPED: ") == 19, err
    rows = list(csv.DictReader(io.StringIO(out.decode("utf-8", "replace"))))
    assert [r["Style"] for r in rows[1:3]] == ["PushPop", "StartEnd"] and len(rows) == 11
    assert abs(sum(float(r["Time (%)"]) for r in rows) - 100) < 1


def half_up(value):
    """One decimal of a double, halves away from zero, as the reference rounds."""
    return str(decimal.Decimal(value).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP))


def test_numbers_against_sql():
    """50,000 ranges of 5,000 names: each figure from the exported tables, by other means."""
    report = golden.make_report("many.rep", 50000)
    golden.run("export", "-q", "-f", "true", report)
    database = sqlite3.connect(golden.path("many.sqlite"))
    groups = {}
    for name, duration in database.execute(
            "SELECT ':' || text, end - start FROM NVTX_EVENTS WHERE eventType = 59 AND end IS NOT NULL AND domainId = 0"):
        groups.setdefault(name, []).append(duration)
    total = sum(map(sum, groups.values()))
    rows = list(csv.DictReader(io.StringIO(stats("-r", "nvtx_sum", "-f", "csv", report).decode())))
    assert len(rows) == len(groups) > 4900
    totals = [int(r["Total Time (ns)"]) for r in rows]
    assert totals == sorted(totals, reverse=True)
    for row in rows:
        values = groups[row["Range"]]
        assert row["Time (%)"] == half_up(100 * sum(values) / total), row
        assert int(row["Total Time (ns)"]) == sum(values) and int(row["Instances"]) == len(values), row
        assert row["Avg (ns)"] == half_up(sum(values) / len(values)), row
        assert float(row["Med (ns)"]) == statistics.median(values), row
        assert (int(row["Min (ns)"]), int(row["Max (ns)"])) == (min(values), max(values)), row
        deviation = statistics.stdev(values) if len(values) > 1 else 0
        assert abs(float(row["StdDev (ns)"]) - deviation) <= 0.0501, (row, deviation)


def test_trace_against_sql():
    """Parents and children of each range, found by comparing all ranges of its thread."""
    report = golden.make_report("few.rep", 2000)
    golden.run("export", "-q", "-f", "true", report)
    ranges = sqlite3.connect(golden.path("few.sqlite")).execute(
        "SELECT rowid, start, end, globalTid FROM NVTX_EVENTS WHERE eventType = 59 AND end IS NOT NULL").fetchall()
    rows = {int(r["RangeId"]): r for r in csv.DictReader(io.StringIO(stats("-r", "nvtx_pushpop_trace", "-f", "csv", report).decode()))}
    assert len(rows) == len(ranges) == 2000
    threads = {}
    for r in ranges:
        threads.setdefault(r[3], []).append(r)
    for rowid, start, end, tid in ranges[::7]:
        around = [r for r in threads[tid] if r[1] <= start and r[2] >= end and r[0] != rowid]
        parent = min(around, key=lambda r: r[2] - r[1])[0] if around else ""
        row = rows[rowid]
        assert row["ParentId"] == str(parent) and int(row["Lvl"]) == len(around), row
        assert int(row["DurChild (ns)"]) + int(row["DurNonChild (ns)"]) == end - start
        assert row["NameTree"] == "--" * len(around) + row["Name"] and row["RangeStack"].endswith(f":{rowid}")


def test_tables_of_any_cells():
    """Columns as wide as their longest cell, titles in the middle, numbers at the right, names at the left."""
    seed = random.Random(5)
    for _ in range(20):
        n_columns = seed.randrange(2, 9)
        title = ["".join(seed.choices("abc (d)", k=seed.randrange(3, 14))).strip() or "x" for _ in range(n_columns)]
        rows = [[str(seed.randrange(10 ** seed.randrange(1, 15))) for _ in range(n_columns - 1)] + ["name" + "é" * seed.randrange(20)]
                for _ in range(seed.randrange(1, 60))]
        widths = [max(map(len, column)) for column in zip(title, *rows)]
        lines = [[f"{text:^{w}}" for text, w in zip(title, widths)], ["-" * w for w in widths]]
        lines += [[f"{text:>{w}}" for text, w in zip(row[:-1], widths)] + [f"{row[-1]:<{widths[-1]}}"] for row in rows]
        done = subprocess.run([FORMAT_TABLE], input="\n".join("\t".join(row) for row in [title] + rows) + "\n", capture_output=True, text=True, check=True)
        golden.check(done.stdout.encode(), "".join(" " + "  ".join(line) + "\n" for line in lines).encode())


def test_tables_look_as_the_reference_prints_them_of_the_corpus():
    """The tables of its own outputs, taken apart and written again by our formatter."""
    exports.need()
    compared = 0
    for file in ["a100-cuda-graphs.txt", "a100-pytorch-lm.txt"]:
        lines = open(os.path.join(STATS, file), encoding="utf-8").read().split("\n")
        for i, rule in enumerate(lines):
            if not re.fullmatch(r"( -+)( {2}-+)*", rule):
                continue
            ends = [m.span() for m in re.finditer(r"-+", rule)]
            end = next(j for j in range(i + 1, len(lines)) if lines[j] == "")
            table = [lines[i - 1]] + lines[i + 1:end]
            # Its columns take their widths from all rows; ours from the first hundred.
            assert len(table) < 100
            cells = [[line[a:b].strip() for a, b in ends] for line in table]
            if "(MB)" in lines[i - 1] or any(len(row[-1]) >= 100 for row in cells):
                continue
            done = subprocess.run([FORMAT_TABLE], input="\n".join("\t".join(row) for row in cells) + "\n",
                                  capture_output=True, text=True, check=True)
            golden.check(done.stdout.encode(), "\n".join([lines[i - 1], rule] + lines[i + 1:end] + [""]).encode())
            compared += 1
    assert compared >= 4, compared


# The reference's summaries of calls and kernels have the columns of its summaries of ranges; where the
# rows of each come from in its export.
REFERENCE = {
    "osrt_sum": "SELECT start, end, value FROM OSRT_API JOIN StringIds ON id = nameId WHERE eventClass = 27 ORDER BY start",
    "cuda_api_sum": "SELECT start, end, value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId ORDER BY start",
    "cuda_gpu_kern_sum": "SELECT start, end, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName ORDER BY start",
}


def reference_table(lines, report, names):
    """The table of REPORT as the reference printed it, its last column as it would be for ranges called NAMES."""
    title = next((i for i, line in enumerate(lines) if line.endswith(f"({report}):")), None)
    if title is None:
        return None
    end = next(i for i in range(title + 4, len(lines)) if lines[i] == "")
    header, rule, *rows = lines[title + 2:end]
    cut = rule.rindex(" ") + 1
    texts = [":" + row[cut:].rstrip() for row in rows]
    # Names that were cut come from the file.
    texts = [next(n for n in names if n[:99] == t[:99])[:99] + "…" if t.endswith("…") else t for t in texts]
    width = max(len(t) for t in texts)
    return [header[:cut].replace("Num Calls", "Instances") + f"{'Range':^{width}}", rule[:cut] + "-" * width] + \
        [row[:cut] + f"{text:<{width}}" for row, text in zip(rows, texts)]


def test_numbers_are_those_that_the_reference_printed_of_the_corpus():
    """Calls and kernels of its own files as ranges of ours: rows, order, rounding and layout, character by character."""
    exports.need()
    compared = 0
    for name in ["a100-cuda-graphs", "a100-pytorch-lm"]:
        lines = open(os.path.join(STATS, name + ".txt"), encoding="utf-8").read().split("\n")
        database = exports.source(name)
        for report, select in REFERENCE.items():
            rows = [(start, end, re.sub(r"_v\d{4}$", "", text) if report == "cuda_api_sum" else text)
                    for start, end, text in database.execute(select)]
            wanted = reference_table(lines, report, {":" + text for _, _, text in rows})
            if wanted is None:
                continue
            file = golden.path(f"{name}-{report}.sqlite")
            with sqlite3.connect(file) as ranges:
                ranges.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT)")
                ranges.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 60, ?)", rows)
            golden.check(stats("-q", "-r", "nvtx_startend_sum", file).split(b"\n\n")[1] + b"\n", "\n".join(wanted + [""]).encode())
            compared += len(wanted) - 2
    assert compared > 90, compared


def test_time_units():
    row = stats("-q", "-r", "nvtx_startend_sum", "-f", "csv:nohdr", "--timeunit", "usec", REPORT)
    golden.check(row, b"100.0,2.000,2,1.0000,1.0000,1.000,1.000,0.0000,:request\n")
    assert b"Total Time (ms)" in stats("-f", "csv", "--timeunit", "msec", REPORT)
    assert b"Total Time (s)" in stats("-f", "csv", "--timeunit=seconds", REPORT)
    for word, unit in (("n", "ns"), ("ns", "ns"), ("us", "us"), ("micro", "us"), ("ms", "ms"), ("mil", "ms"), ("s", "s"), ("nanoseconds", "ns")):
        assert f"Total Time ({unit})".encode() in stats("-f", "csv", f"--timeunit={word}", REPORT), word
    for word in ("m", "mi", "secs", "x"):
        _, err = golden.run("stats", f"--timeunit={word}", REPORT, code=125)
        assert b"--timeunit" in err and len(err.splitlines()) == 1, err


def test_files():
    stats("-r", "nvtx_sum,nvtx_pushpop_sum", "-f", "csv", "-o", golden.path("out"), REPORT)
    golden.check(open(golden.path("out_nvtx_pushpop_sum.csv"), "rb").read(), PUSHPOP)
    stats("-r", "nvtx_pushpop_sum", "-o", golden.path("new/folders/out"), REPORT)
    golden.check(open(golden.path("new/folders/out_nvtx_pushpop_sum.csv"), "rb").read(), PUSHPOP)
    assert os.path.exists(golden.path("out_nvtx_sum.csv"))
    _, err = golden.run("stats", "-r", "nvtx_sum", "-o", golden.path("out"), REPORT, code=125)
    assert b"out_nvtx_sum.csv exists" in err, err
    stats("-r", "nvtx_pushpop_sum", "-o", ".", "--force-overwrite=true", REPORT)
    golden.check(open(golden.path("demo_nvtx_pushpop_sum.csv"), "rb").read(), PUSHPOP)


def test_lists_of_formats():
    out = stats("-q", "-r", "nvtx_startend_sum,nvtx_pushpop_sum", "-f", "column,csv", REPORT)
    golden.check(out, SUM.encode() + PUSHPOP)


def test_a_report_without_ranges_is_skipped():
    skipped = stats("-q", golden.make_report("none.rep", "none")).decode().split("\n\n")
    assert skipped[0] == f"SKIPPED: {golden.path('none.rep')} does not contain NV Tools Extension (NVTX) data."
    assert len(skipped) == 21 and all(s.startswith("SKIPPED: ") for s in skipped[:-1]), skipped


TABLE = """\
+----------+-----------------+-----------+----------+----------+----------+----------+-------------+----------+
| Time (%) | Total Time (ns) | Instances | Avg (ns) | Med (ns) | Min (ns) | Max (ns) | StdDev (ns) |  Range   |
+----------+-----------------+-----------+----------+----------+----------+----------+-------------+----------+
|    100.0 |            2000 |         2 |   1000.0 |   1000.0 |     1000 |     1000 |         0.0 | :request |
+----------+-----------------+-----------+----------+----------+----------+----------+-------------+----------+
"""


def test_tables_in_boxes():
    golden.check(stats("-q", "-r", "nvtx_startend_sum", "-f", "table", REPORT).split(b"\n\n", 1)[1],
                 TABLE.encode() + b"\n")
    out = stats("-q", "-r", "nvtx_startend_sum", "-f", "table:nohdr", REPORT).decode()
    assert "Time (%)" not in out and out.count("+---") == 2 * 9, out


def test_widths_of_columns():
    out = stats("-q", "-r", "nvtx_startend_sum", "-f", "column:nohdr:0:.:0:0:0:0:0:0:5", REPORT).split(b"\n\n")[1]
    golden.check(out, "            2000  :req…".encode())
    out = stats("-q", "-r", "nvtx_startend_sum", "-f", "column:8:3:0:0:0:0:0:0:12", REPORT).decode().split("\n")[2:5]
    assert out == [" Time (%)  To…     Range    ", " --------  ---  ------------", "    100.0  20…  :request    "], out


def test_json_escapes():
    rows = json.loads(stats("-r", "nvtx_pushpop_sum", "-f", "json", REPORT))
    assert [r["Range"] for r in rows[3:8]] == [":bad \ufffd\ufffd byte", ":gr\u00fc\u00df \u20ac", ":quo\"ted, 'too'", ":tab\there", ":two\nlines"]
    assert rows[1] == {"Time (%)": 15.5, "Total Time (ns)": 8000, "Instances": 2, "Avg (ns)": 4000, "Med (ns)": 4000, "Min (ns)": 0,
                       "Max (ns)": 8000, "StdDev (ns)": 5656.9, "Range": ":step"}, rows[1]
    trace = json.loads(stats("-r", "nvtx_pushpop_trace", "-f", "json", REPORT))
    assert trace[0]["ParentId"] is None and trace[2]["ParentId"] == trace[1]["RangeId"]


def test_tabs():
    lines = stats("-r", "nvtx_pushpop_sum", "-f", "tsv", REPORT).split(b"\n")
    assert lines[0].split(b"\t")[0] == b"Time (%)" and all(line.count(b"\t") == 8 for line in lines[:-1]), lines
    assert lines[7].endswith(b"\t:tab here") and lines[8].endswith(b"\t:two lines")
    lines = stats("-r", "nvtx_pushpop_sum", "-f", "tsv:nohdr:esc", REPORT).split(b"\n")
    assert lines[6].endswith(b"\t:tab\\there") and lines[7].endswith(b"\t:two\\nlines") and lines[0].startswith(b"77.5\t")


class Cells(html.parser.HTMLParser):
    """Rows of the tables of a document; names of its elements."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.names, self.attributes, self.inside = [], [], {}, False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.attributes[tag] = dict(attributes)
        self.inside = tag in ("td", "th", "title")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside and self.rows:
            self.rows[-1][-1] += data
        elif self.inside:
            self.title = data


def test_html():
    wanted = list(csv.reader(io.StringIO(stats("-r", "nvtx_pushpop_sum", "-f", "csv", REPORT).decode("utf-8", "replace"))))
    bare = Cells(stats("-r", "nvtx_pushpop_sum", "-f", "htable", REPORT).decode("utf-8", "replace"))
    assert bare.rows == wanted and bare.names[0] == "table"
    document = Cells(stats("-r", "nvtx_pushpop_sum", "-f", "hdoc:title=A < B:css=https://x.y/z.css?a&b", REPORT).decode("utf-8", "replace"))
    assert document.rows == wanted and document.names[:4] == ["html", "head", "meta", "title"]
    assert document.title == "A < B" and document.attributes["link"] == {"rel": "stylesheet", "href": "https://x.y/z.css?a&b"}
    assert Cells(stats("-r", "nvtx_pushpop_sum", "-f", "hdoc", REPORT).decode("utf-8", "replace")).title == "NVTX Push/Pop Range Summary"


def test_commands():
    out = stats("-r", "nvtx_pushpop_sum,nvtx_startend_sum", "-o", "@sort -r", REPORT)
    assert out.startswith(b"two") or out.split(b"\n")[0] == sorted(PUSHPOP.split(b"\n"), reverse=True)[0], out
    golden.check(stats("-r", "nvtx_startend_sum", "-o", "@head -n 1", REPORT), PUSHPOP.split(b"\n")[0] + b"\n")
    # One that reads nothing of much is no failure; one that fails is, as is one that is not there.
    big = golden.make_report("big.rep", 50000)
    golden.check(stats("-r", "nvtx_pushpop_trace", "-o", "@true", big), b"")
    for command in ("@false", "@no-such-command", "@"):
        _, err = golden.run("stats", "-r", "nvtx_startend_sum", "-o", command, REPORT, code=125)
        assert b"--output=" + command.encode() in err and len(err.splitlines()) == 1, err


def test_triples():
    """Report k has format k and output k, the last ones where lists are shorter."""
    stats("-r", "nvtx_sum", "--report=nvtx_pushpop_sum,nvtx_startend_sum", "-f", "json,csv", "-o", golden.path("a"), "-o", golden.path("b"), REPORT)
    assert {f for f in os.listdir(golden.FOLDER) if f.startswith(("a_", "b_"))} == \
        {"a_nvtx_sum.json", "b_nvtx_pushpop_sum.csv", "b_nvtx_startend_sum.csv"}
    golden.check(open(golden.path("b_nvtx_pushpop_sum.csv"), "rb").read(), PUSHPOP)


def test_several_reports():
    """The tables of each, under its name, as it would be alone; one that fails is told of, and the others are there."""
    other = golden.make_report("other-demo.rep")
    shutil.copy(REPORT, other)
    for words in ([], ["-r", "nvtx_sum,nvtx_pushpop_sum"], ["-r", "nvtx_sum", "-f", "csv"], ["-r", "cuda_api_sum,nvtx_sum", "-f", "table,column:nohdr"]):
        assert stats(*words, REPORT, other) == stats(*words, REPORT) + stats(*words, other), words
    # Where nothing but tables is asked for, each still says whose it is.
    out = stats("-q", "-r", "nvtx_sum", REPORT, other).decode(errors="replace")
    assert [line for line in out.splitlines() if line.startswith("Processing")] == [f"Processing [{path}] with [nvtx_sum]... " for path in (REPORT, other)]
    out, err = golden.run("stats", "-r", "nvtx_sum", REPORT, golden.path("missing.rep"), other, code=125)
    assert out == stats("-r", "nvtx_sum", REPORT, other) and err.count(b"\n") == 1 and b"missing.rep" in err, err
    _, err = golden.run("stats", "-r", "nvtx_sum", "-o", golden.path("one"), REPORT, other, code=125)
    assert b"use --output=. to name each after its report" in err and not os.path.exists(golden.path("one_nvtx_sum.csv")), err
    golden.run("stats", "-r", "nvtx_sum", "-o", ".", REPORT, other)
    for path in (REPORT, other):
        with open(path[:-4] + "_nvtx_sum.csv", "rb") as file:
            assert file.read() == stats("-r", "nvtx_sum", "-f", "csv", path)
    _, err = golden.run("stats", "-r", "nothing", REPORT, other, code=125)
    assert err.count(b"\n") == 1, err


def test_what_can_be_asked_for():
    lines = stats("--help-reports").decode().splitlines()
    assert sum(line.startswith("* ") for line in lines) == 20 and any("cuda_gpu_kern_sum[:nvtx-name][:base|:mangled] -- " in line for line in lines)
    assert stats("--help-reports=nvtx_sum").decode() == "* nvtx_sum -- NVTX Range Summary\n      ranges of both styles by name\n"
    assert [line.split("[")[0].strip() for line in stats("--help-formats").decode().splitlines()[::2]] == \
        ["column", "table", "csv", "tsv", "json", "hdoc", "htable"]
    for words in (["--help-reports=x"], ["--help-formats=x"], ["-f", "column:x"], ["-f", "csv:nolimit"], ["-f", "json:nohdr"], ["-f", "column:-3"],
                  ["-r", "nvtx_sum:base"], ["-r", "cuda_gpu_kern_sum:base:mangled"], ["-r", "um_sum:rows="], ["-r", "cuda_gpu_kern_sum:"]):
        _, err = golden.run("stats", *words, REPORT, code=125)
        assert len(err.splitlines()) == 1 and words[-1].split("=")[-1].split(":")[-1].encode() in err, (words, err)


def test_older_names():
    """Files have the name that was asked for, by which scripts find them."""
    for older, name in (("nvtxsum", "nvtx_sum"), ("nvtxppsum", "nvtx_pushpop_sum"), ("nvtxpptrace", "nvtx_pushpop_trace"), ("nvtxssesum", "nvtx_startend_sum"),
                        ("gpukernsum:base", "cuda_gpu_kern_sum:base"), ("cudaapisum", "cuda_api_sum"), ("gputrace", "cuda_gpu_trace")):
        assert golden.run("stats", "-q", "-r", older, "-f", "csv", REPORT) == golden.run("stats", "-q", "-r", name, "-f", "csv", REPORT), older
    golden.run("stats", "-q", "-r", "nvtxsum", "-o", "by-older", REPORT)
    assert os.path.exists(golden.path("by-older_nvtxsum.csv"))


def test_unknown_names():
    for words, wanted in [(["-r", "cuda_api_sum2"], b"--report"), (["-f", "xml"], b"--format"), (["--timeunit", "weeks"], b"--timeunit")]:
        _, err = golden.run("stats", *words, REPORT, code=125)
        assert err.startswith(b"lanescope: error: ") and wanted in err, err


tap.main(globals())
