# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope stats about CUDA: what the reference printed, character by character, and independent SQL."""

import csv
import decimal
import io
import os
import re
import statistics

import cuda_corpus
import golden
import tap

PRINTED = os.path.join(tap.SHARED, "corpus", "nsys-stats")


def stats(report, name, *switches):
    return golden.run("stats", "-q", "-r", name, *switches, report)[0]


def rows(report, name):
    return list(csv.DictReader(io.StringIO(stats(report, name, "-f", "csv").decode())))


def printed(name):
    """Of each report, what the reference printed for it: its table with the title, or why there is none."""
    sections, name = {}, os.path.join(PRINTED, name + ".txt")
    for part in open(name, encoding="utf-8").read().split("Processing [")[1:]:
        head, _, text = part.partition("\n")
        sections[re.search(r"(\w+)\.py", head)[1]] = text.strip("\n")
    return sections


def test_tables_are_those_that_the_reference_printed():
    cuda_corpus.need()
    compared = 0
    for name in ("a100-cuda-graphs", "a100-pytorch-lm"):
        wanted = printed(name)
        for report in ("cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum"):
            ours = stats(cuda_corpus.report(name), report).strip(b"\n")
            if wanted[report].startswith("SKIPPED"):
                assert ours.endswith(wanted[report].partition(" does not")[2].encode()), (ours, wanted[report])
                continue
            golden.check(ours, wanted[report].encode())
            compared += len(wanted[report].split("\n"))
    assert compared > 60, compared


def test_what_is_not_there_is_said_as_the_reference_says_it():
    cuda_corpus.need()
    wanted = printed("a100-cuda-graphs")
    for report in ("cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum"):
        ours = stats(cuda_corpus.report("a100-cuda-graphs"), report).decode().strip("\n")
        assert ours.partition(" does ")[2] == wanted[report].partition(" does ")[2], ours


def traced(file):
    """(start, end, name, bytes) of the calls or operations in a trace of entries and exits."""
    with open(os.path.join(PRINTED, file), encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["Event Type"] == "Enter":
                yield int(row["Timestamp (ns)"]), int(row["_matching_timestamp"]), row["Name"], row


def test_the_trace_of_calls():
    cuda_corpus.need()
    wanted = [(start, end, re.sub(r"_v\d{4}$", "", name), int(row["Process"]), int(row["Thread"]))
              for start, end, name, row in traced("a100x4-cloverleaf.cuda_api_trace.csv")]
    ours = [(int(r["Start (ns)"]), int(r["Start (ns)"]) + int(r["Duration (ns)"]), r["Name"], int(r["Pid"]), int(r["Tid"]))
            for r in rows(cuda_corpus.report("a100x4-cloverleaf"), "cuda_api_trace")]
    assert ours == sorted(ours, key=lambda r: r[0]) and len(ours) > 3000
    assert sorted(ours) == sorted(wanted), [p for p in zip(sorted(ours), sorted(wanted)) if p[0] != p[1]][:2]


def test_the_trace_of_the_gpu():
    cuda_corpus.need()
    wanted = [(start, end, int(row["streamId"]), name if row["type"] == "kernel" else None,
               row["bytes"] and f"{decimal.Decimal(float(row['bytes']) / 1e6).quantize(decimal.Decimal('0.001'), decimal.ROUND_HALF_UP)}")
              for start, end, name, row in traced("a100x4-cloverleaf.cuda_gpu_trace.csv")]
    ours = [(int(r["Start (ns)"]), int(r["Start (ns)"]) + int(r["Duration (ns)"]), int(r["Strm"]),
             r["Name"] if r["GrdX"] else None, r["Bytes (MB)"])
            for r in rows(cuda_corpus.report("a100x4-cloverleaf"), "cuda_gpu_trace:base")]
    assert ours == sorted(ours, key=lambda r: r[0]) and len(ours) == 1591
    assert sorted(ours, key=repr) == sorted(wanted, key=repr), \
        [p for p in zip(sorted(ours, key=repr), sorted(wanted, key=repr)) if p[0] != p[1]][:2]


def test_each_column_of_the_gpu_trace():
    cuda_corpus.need()
    ours = rows(cuda_corpus.report("rtx3080-tiny"), "cuda_gpu_trace")
    assert [r["Strm"] for r in ours] == ["7"] * 3 and [r["Device"] for r in ours] == ["NVIDIA GeForce RTX 3080 (0)"] * 3
    assert [(r["GrdX"], r["BlkX"], r["Reg/Trd"], r["StcSMem (MB)"]) for r in ours] == \
        [("1", "128", "16", "0.000"), ("1", "16", "28", "0.000"), ("", "", "", "")]
    copy = ours[2]
    assert (copy["Name"], copy["SrcMemKd"], copy["DstMemKd"], copy["Bytes (MB)"], copy["Throughput (MB/s)"]) == \
        ("[CUDA memcpy Device-to-Host]", "Device", "Pinned", "0.000", "2.451"), copy


def half_up(value, digits="0.1"):
    return str(decimal.Decimal(value).quantize(decimal.Decimal(digits), decimal.ROUND_HALF_UP))


KERNELS = "SELECT 'CUDA_KERNEL', value, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = {name}"
MEMORY = ("SELECT 'MEMORY_OPER', '[CUDA memcpy ' || label || ']', end - start FROM CUPTI_ACTIVITY_KIND_MEMCPY"
          " JOIN ENUM_CUDA_MEMCPY_OPER ON id = copyKind"
          " UNION ALL SELECT 'MEMORY_OPER', '[CUDA memset]', end - start FROM CUPTI_ACTIVITY_KIND_MEMSET")
CALLS = "SELECT 'CUDA_API', value, end - start FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"


def check_sums(report, groups, keys):
    """That the rows of REPORT are GROUPS: durations by the texts in the columns KEYS."""
    total = sum(map(sum, groups.values()))
    assert len(report) == len(groups) > 0
    times = [int(r["Total Time (ns)"]) for r in report]
    assert times == sorted(times, reverse=True)
    for row in report:
        values = groups[tuple(row[key] for key in keys)]
        assert int(row["Total Time (ns)"]) == sum(values), row
        assert row["Time (%)"] == half_up(100 * sum(values) / total), row
        assert row["Avg (ns)"] == half_up(sum(values) / len(values)), row
        assert float(row["Med (ns)"]) == statistics.median(values), row
        assert (int(row["Min (ns)"]), int(row["Max (ns)"])) == (min(values), max(values)), row
        assert abs(float(row["StdDev (ns)"]) - (statistics.stdev(values) if len(values) > 1 else 0)) <= 0.0501, row


def test_sums_of_all_that_happened():
    """cuda_gpu_sum and cuda_api_gpu_sum, kernels by each of their names, against SQL over the published file."""
    cuda_corpus.need()
    for corpus in ("h100x2-nccl", "a100-pytorch-lm", "a100x4-cloverleaf"):
        database, report = cuda_corpus.exported(corpus), cuda_corpus.report(corpus)
        for argument, name in (("", "demangledName"), (":base", "shortName"), (":mangled", "mangledName")):
            for stat, selects in (("cuda_gpu_sum", [KERNELS, MEMORY]), ("cuda_api_gpu_sum", [CALLS, KERNELS, MEMORY])):
                groups = {}
                for category, text, duration in database.execute(" UNION ALL ".join(selects).format(name=name)):
                    text = re.sub(r"_v\d{4}$", "", text) if category == "CUDA_API" else text
                    groups.setdefault((category, text), []).append(duration)
                check_sums(rows(report, stat + argument), groups, ["Category", "Operation"])


def test_kernels_by_grid_and_block():
    cuda_corpus.need()
    groups = {}
    for *shape, text, duration in cuda_corpus.source("h100x2-nccl").execute(
            "SELECT gridX, gridY, gridZ, blockX, blockY, blockZ, value, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL"
            " JOIN StringIds ON id = demangledName"):
        grid, block = ("%4d %4d %4d" % tuple(shape[i:i + 3]) for i in (0, 3))
        groups.setdefault((grid, block, text), []).append(duration)
    check_sums(rows(cuda_corpus.report("h100x2-nccl"), "cuda_gpu_kern_gb_sum"), groups, ["GridXYZ", "BlockXYZ", "Name"])


def test_sizes():
    cuda_corpus.need()
    groups = {}
    for text, size in cuda_corpus.source("h100x2-nccl").execute(
            "SELECT '[CUDA memcpy ' || label || ']', bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER ON id = copyKind"
            " UNION ALL SELECT '[CUDA memset]', bytes FROM CUPTI_ACTIVITY_KIND_MEMSET"):
        groups.setdefault(text, []).append(size / 1e6)
    report = rows(cuda_corpus.report("h100x2-nccl"), "cuda_gpu_mem_size_sum")
    assert len(report) == len(groups) > 2
    for row in report:
        values = groups[row["Operation"]]
        assert row["Total (MB)"] == half_up(sum(round(v * 1e6) for v in values) / 1e6, "0.001"), row
        assert int(row["Count"]) == len(values) and row["Max (MB)"] == half_up(max(values), "0.001"), row
        assert row["Med (MB)"] == half_up(statistics.median(values), "0.001"), row


def test_files_are_named_after_reports_and_arguments():
    cuda_corpus.need()
    golden.run("stats", "-r", "cuda_gpu_kern_sum:base", "-o", golden.path("by"), cuda_corpus.report("rtx3080-tiny"))
    assert os.path.exists(golden.path("by_cuda_gpu_kern_sum_base.csv"))
    for wrong in ("cuda_gpu_kern_sum:all", "cuda_api_sum:base"):
        _, err = golden.run("stats", "-r", wrong, cuda_corpus.report("rtx3080-tiny"), code=125)
        assert b"--report knows no" in err, err


tap.main(globals())
