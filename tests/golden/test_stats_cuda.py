# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope stats about CUDA, compared with independent SQL and, with the corpus, with what nsys printed."""

import csv
import decimal
import glob
import gzip
import io
import json
import os
import re
import sqlite3
import statistics

import exports
import golden
import make_traces
import tap

PRINTED = os.path.join(tap.SHARED, "corpus", "nsys-stats")


def stats(report, name, *switches):
    return golden.run("stats", "-q", "-r", name, *switches, report)[0]


def rows(report, name):
    return list(csv.DictReader(io.StringIO(stats(report, name, "-f", "csv").decode())))


# What the default reports with data show of the export "loop": their titles, how their times and their last columns are called, and from where.
SUMMARIES = {
    "osrt_sum": ("OS Runtime Summary", "Num Calls", "Name", "SELECT '', value, end - start FROM OSRT_API JOIN StringIds ON id = nameId WHERE eventClass = 27"),
    "cuda_api_sum": ("CUDA API Summary", "Num Calls", "Name", "{calls}"),
    "cuda_gpu_kern_sum": ("CUDA GPU Kernel Summary", "Instances", "Name", "{kernels}"),
    "cuda_gpu_mem_time_sum": ("CUDA GPU MemOps Summary (by Time)", "Count", "Operation", "{memory}"),
    "cuda_gpu_mem_size_sum": ("CUDA GPU MemOps Summary (by Size)", "Count", "Operation", "{sizes}"),
}


def summary(database, name):
    """The titles of the columns and the cells of each row, the largest sum first."""
    _, count, last, select = SUMMARIES[name]
    select = select.format(calls=CALLS, kernels=KERNELS.format(name="demangledName"), memory=MEMORY, sizes=MEMORY.replace("end - start", "bytes"))
    groups = {}
    for _, text, value in database.execute(select):
        groups.setdefault(re.sub(r"_v\d{4,5}$", "", text) if name == "cuda_api_sum" else text, []).append(value)
    whole, of_sizes = sum(map(sum, groups.values())), name == "cuda_gpu_mem_size_sum"
    number = (lambda value: half_up(value / 1e6, "0.001")) if of_sizes else half_up
    integer = number if of_sizes else str
    unit = "(MB)" if of_sizes else "(ns)"
    yield ([f"Total {unit}"] if of_sizes else ["Time (%)", "Total Time (ns)"]) + [count, *(f"{what} {unit}" for what in ("Avg", "Med", "Min", "Max", "StdDev")), last]
    for text, values in sorted(groups.items(), key=lambda group: -sum(group[1])):
        share = [] if of_sizes else [half_up(100 * sum(values) / whole)]
        yield share + [integer(sum(values)), str(len(values)), number(sum(values) / len(values)), number(statistics.median(values)), integer(min(values)),
                       integer(max(values)), number(statistics.stdev(values) if len(values) > 1 else 0), text]


def page(database, report):
    """The lines that `stats` prints of REPORT by default, worked out from the rows of the export DATABASE."""
    for name, lacking in DEFAULT.items():
        yield f"Processing [{report}] with [{name}]... "
        if lacking is not None:
            yield from [f"SKIPPED: {report} does not contain {lacking}.", ""]
            continue
        titles, *cells = summary(database, name)
        widths = [max(map(len, column)) for column in zip(titles, *cells)]
        yield from ["", f" ** {SUMMARIES[name][0]} ({name}):", ""]
        yield " " + "  ".join(f"{text:^{width}}" for text, width in zip(titles, widths))
        yield " " + "  ".join("-" * width for width in widths)
        for row in cells:
            yield " " + "  ".join([*(f"{text:>{width}}" for text, width in zip(row[:-1], widths)), f"{row[-1]:<{widths[-1]}}"])
        yield ""


# The default reports in their order, and what the export lacks for those without data.
DEFAULT = {
    "nvtx_sum": "NV Tools Extension (NVTX) data", "osrt_sum": None, "cuda_api_sum": None, "cuda_gpu_kern_sum": None, "cuda_gpu_mem_time_sum": None,
    "cuda_gpu_mem_size_sum": None, "openmp_sum": "OpenMP event data", "opengl_khr_range_sum": "KHR Extension (KHR_DEBUG) data",
    "opengl_khr_gpu_range_sum": "GPU KHR Extension (KHR_DEBUG) data", "vulkan_marker_sum": "Vulkan Debug Extension (Vulkan Debug Util) data",
    "vulkan_gpu_marker_sum": "GPU Vulkan Debug Extension (GPU Vulkan Debug markers) data", "dx11_pix_sum": "DX11 CPU debug markers",
    "dx12_gpu_marker_sum": "DX12 GPU debug markers", "dx12_pix_sum": "DX12 CPU debug markers", "wddm_queue_sum": "WDDM context data",
    "um_sum": "CUDA Unified Memory CPU page faults data", "um_total_sum": "CUDA Unified Memory CPU page faults data",
    "um_cpu_page_faults_sum": "CUDA Unified Memory CPU page faults data", "openacc_sum": "OpenACC event data", "syscall_sum": "syscall data"}


def test_all_that_is_printed_by_default():
    """Character by character: tables, titles, order, rounding, and what is said of what is not there."""
    report = exports.report("loop")
    golden.check(golden.run("stats", report)[0], "\n".join(page(exports.exported("loop"), report)).encode() + b"\n")


def test_all_that_the_reference_printed_of_the_corpus():
    """Its whole output for two files, character by character: tables, titles, order, and what is said of what is not there."""
    exports.need()
    for name, length in (("a100-cuda-graphs", 91), ("a100-pytorch-lm", 176)):
        with open(os.path.join(PRINTED, name + ".txt"), encoding="utf-8") as file:
            wanted = file.read().split("Processing", 1)[1]
        report = exports.report(name)
        # But for the path of the file and those of its scripts.
        wanted = re.sub(r"with \[\S*/(\w+)\.py\]", r"with [\1]", "Processing" + wanted)
        wanted = re.sub(r"\[\S+\.sqlite\]|(?<=SKIPPED: )\S+", lambda m: f"[{report}]" if m[0][0] == "[" else report, wanted)
        ours = golden.run("stats", report)[0]
        golden.check(ours.strip(b"\n"), wanted.strip("\n").encode())
        assert len(ours.strip(b"\n").splitlines()) == length


def traced(file):
    """(start, end, name, bytes) of the calls or operations in a trace of entries and exits."""
    with open(os.path.join(PRINTED, file), encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["Event Type"] == "Enter":
                yield int(row["Timestamp (ns)"]), int(row["_matching_timestamp"]), row["Name"], row


def test_the_trace_of_calls_of_the_corpus():
    exports.need()
    wanted = [(start, end, re.sub(r"_v\d{4}$", "", name), int(row["Process"]), int(row["Thread"]))
              for start, end, name, row in traced("a100x4-cloverleaf.cuda_api_trace.csv")]
    ours = [(int(r["Start (ns)"]), int(r["Start (ns)"]) + int(r["Duration (ns)"]), r["Name"], int(r["Pid"]), int(r["Tid"]))
            for r in rows(exports.report("a100x4-cloverleaf"), "cuda_api_trace")]
    assert ours == sorted(ours, key=lambda r: r[0]) and len(ours) > 3000
    assert sorted(ours) == sorted(wanted), [p for p in zip(sorted(ours), sorted(wanted)) if p[0] != p[1]][:2]


def test_the_trace_of_the_gpu_of_the_corpus():
    exports.need()
    wanted = [(start, end, int(row["streamId"]), name if row["type"] == "kernel" else None,
               row["bytes"] and f"{decimal.Decimal(float(row['bytes']) / 1e6).quantize(decimal.Decimal('0.001'), decimal.ROUND_HALF_UP)}")
              for start, end, name, row in traced("a100x4-cloverleaf.cuda_gpu_trace.csv")]
    ours = [(int(r["Start (ns)"]), int(r["Start (ns)"]) + int(r["Duration (ns)"]), int(r["Strm"]),
             r["Name"] if r["GrdX"] else None, r["Bytes (MB)"])
            for r in rows(exports.report("a100x4-cloverleaf"), "cuda_gpu_trace:base")]
    assert ours == sorted(ours, key=lambda r: r[0]) and len(ours) == 1591
    assert sorted(ours, key=repr) == sorted(wanted, key=repr), \
        [p for p in zip(sorted(ours, key=repr), sorted(wanted, key=repr)) if p[0] != p[1]][:2]


def test_each_column_of_the_gpu_trace():
    ours = rows(exports.report("tiny"), "cuda_gpu_trace")
    assert [r["Strm"] for r in ours] == ["7"] * 3 and [r["Device"] for r in ours] == ["Paper GPU 0 (0)"] * 3
    assert [tuple(r[c] for c in ("GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Name")) for r in ours] == \
        [("2", "1", "1", "128", "1", "1", "16", "0.000", "0.000", "saxpy(int, float, float const*, float*)"),
         ("1", "3", "1", "16", "8", "1", "17", "0.001", "0.000", "stencil_step(double*, double const*, int, int)"),
         *[("",) * 9 + ("[CUDA memcpy Device-to-Host]",)]]
    copy = ours[2]  # of 4000 bytes in 1500 + 4000 // 12 ns
    assert (copy["SrcMemKd"], copy["DstMemKd"], copy["Bytes (MB)"], copy["Throughput (MB/s)"]) == ("Device", "Pinned", "0.004", half_up(4000 / 1833 * 1e3, "0.001")), copy


def half_up(value, digits="0.1"):
    return str(decimal.Decimal(value).quantize(decimal.Decimal(digits), decimal.ROUND_HALF_UP))


KERNELS = "SELECT 'CUDA_KERNEL', value, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = {name}"
MANGLED = "coalesce(mangledName, demangledName)"
MEMORY = ("SELECT 'MEMORY_OPER', '[CUDA memcpy ' || label || ']', end - start FROM CUPTI_ACTIVITY_KIND_MEMCPY"
          " JOIN ENUM_CUDA_MEMCPY_OPER ON id = copyKind"
          " UNION ALL SELECT 'MEMORY_OPER', '[CUDA memset]', end - start FROM CUPTI_ACTIVITY_KIND_MEMSET")
# Rows of class 67 repeat calls of which a stack was taken.
CALLS = "SELECT 'CUDA_API', value, end - start FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE eventClass < 2"


def check_sums(report, groups, keys):
    """That the rows of REPORT are GROUPS: durations by the texts in the columns KEYS."""
    total = sum(map(sum, groups.values()))
    assert len(report) == len(groups)
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


@exports.on_each()
def test_sums_of_all_that_happened(names, _):
    """cuda_gpu_sum and cuda_api_gpu_sum, kernels by each of their names, against SQL over the export."""
    for export in names:
        database, report = exports.exported(export), exports.report(export)
        for argument, name in (("", "demangledName"), (":base", "shortName"), (":mangled", MANGLED)):
            for stat, selects in (("cuda_gpu_sum", [KERNELS, MEMORY]), ("cuda_api_gpu_sum", [CALLS, KERNELS, MEMORY])):
                groups = {}
                for category, text, duration in database.execute(" UNION ALL ".join(selects).format(name=name)):
                    text = re.sub(r"_v\d{4}$", "", text) if category == "CUDA_API" else text
                    groups.setdefault((category, text), []).append(duration)
                check_sums(rows(report, stat + argument), groups, ["Category", "Operation"])


@exports.on_each()
def test_calls_kernels_and_memory_of_each_export(names, _):
    for export in names:
        database, report = exports.exported(export), exports.report(export)
        for stat, select, key in (("cuda_api_sum", CALLS, "Name"), ("cuda_gpu_kern_sum", KERNELS.format(name="demangledName"), "Name"),
                                  ("cuda_gpu_kern_sum:base", KERNELS.format(name="shortName"), "Name"),
                                  ("cuda_gpu_kern_sum:mangled", KERNELS.format(name=MANGLED), "Name"),
                                  ("cuda_gpu_mem_time_sum", MEMORY, "Operation")):
            groups = {}
            for category, text, duration in database.execute(select):
                text = re.sub(r"_v\d{4}$", "", text) if category == "CUDA_API" else text
                groups.setdefault((text,), []).append(duration)
            check_sums(rows(report, stat), groups, [key])


NAMES = {"": "demangledName", ":base": "shortName", ":mangled": "mangledName"}


def without_mangled_names(export):
    """A report of the same export, as tools write it that know no symbols: nothing in a launch tells its kernel's name."""
    report, copy = golden.path(export + "-unmangled.rep"), golden.path(export + "-unmangled.sqlite")
    if not os.path.exists(report):
        with sqlite3.connect(copy) as database:
            exports.source(export).backup(database)
            database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN mangledName")
        exports.make(copy, report)
    return report


def shaped(export, column):
    """(grid, block, name, short name, duration) of the kernels of the published file."""
    for *shape, text, short, duration in exports.source(export).execute(
            "SELECT gridX, gridY, gridZ, blockX, blockY, blockZ, n.value, s.value, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL"
            f" JOIN StringIds AS n ON n.id = {column} JOIN StringIds AS s ON s.id = shortName"):
        yield (*("%4d %4d %4d" % tuple(shape[i:i + 3]) for i in (0, 3)), text, short, duration)


def grouped(kernels):
    groups = {}
    for grid, block, text, _, duration in kernels:
        groups.setdefault((grid, block, text), []).append(duration)
    return groups


def has_kernels(export):
    """Whether there are kernels, and their mangled names."""
    return any(row[1] == "mangledName" for row in exports.source(export).execute("PRAGMA table_info (CUPTI_ACTIVITY_KIND_KERNEL)"))


@exports.on_each(least=(3, 20))
def test_kernels_by_grid_and_block(names, least):
    """With mangled names and without them: kernels of one short name, grid and block stay apart by their names."""
    shared = 0
    for export in filter(has_kernels, names):
        plain = without_mangled_names(export)
        for argument, column in NAMES.items():
            check_sums(rows(exports.report(export), "cuda_gpu_kern_gb_sum" + argument), grouped(shaped(export, column)), ["GridXYZ", "BlockXYZ", "Name"])
            there = "demangledName" if argument == ":mangled" else column
            check_sums(rows(plain, "cuda_gpu_kern_gb_sum" + argument), grouped(shaped(export, there)), ["GridXYZ", "BlockXYZ", "Name"])
        kernels = list(shaped(export, "demangledName"))
        shared += len({kernel[:3] for kernel in kernels}) - len({(*kernel[:2], kernel[3]) for kernel in kernels})
    assert shared > least, shared


def traced_kernels(path):
    """(grid, block, name, duration) of the kernels of a trace, as JSON has them; "" where it does not tell the shape."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    for event in trace if isinstance(trace, list) else trace["traceEvents"]:
        if event.get("cat") == "kernel" and event["ph"] == "X":
            shape = ("%4d %4d %4d" % tuple(map(int, event["args"][key])) if key in event["args"] else "" for key in ("grid", "block"))
            yield (*shape, event["name"], int(event["dur"] * 1000))


def trace_reports(paths):
    """Each trace of PATHS with the path of a report of it."""
    for path in paths:
        report = golden.path(os.path.basename(path) + ".rep")
        if not os.path.exists(report):
            exports.make(path, report)
        yield path, report


def test_kernels_of_traces():
    os.mkdir(golden.path("traces"))
    check_kernels_of_traces(make_traces.make(golden.path("traces")), 100)


def test_kernels_of_traces_of_the_corpus():
    exports.need()
    check_kernels_of_traces(sorted(glob.glob(os.path.join(tap.SHARED, "corpus", "kineto", "*.json.gz"))), 300)


def check_kernels_of_traces(paths, least):
    """Which have no mangled names: each sum by name, and by name, grid and block, against the JSON."""
    n = 0
    for path, report in trace_reports(paths):
        kernels, shapes, names = list(traced_kernels(path)), {}, {}
        for grid, block, text, duration in kernels:
            shapes.setdefault((grid, block, text), []).append(duration)
            names.setdefault((text,), []).append(duration)
        n += len(shapes) if kernels else 0
        for argument in ("", ":mangled"):
            check_sums(rows(report, "cuda_gpu_kern_gb_sum" + argument), shapes, ["GridXYZ", "BlockXYZ", "Name"])
            check_sums(rows(report, "cuda_gpu_kern_sum" + argument), names, ["Name"])
        for stat in ("cuda_gpu_sum", "cuda_api_gpu_sum", "cuda_gpu_sum:mangled", "cuda_api_gpu_sum:mangled"):
            ours = {r["Operation"]: int(r["Total Time (ns)"]) for r in rows(report, stat) if r["Category"] == "CUDA_KERNEL"}
            assert ours == {name: sum(values) for (name,), values in names.items()}, (path, stat)
        ours = [(*("%4s %4s %4s" % tuple(r[axis + i] for i in "XYZ") if r[axis + "X"] else "" for axis in ("Grd", "Blk")),
                 r["Name"], int(r["Duration (ns)"]))
                for r in rows(report, "cuda_gpu_trace:mangled") if not r["Name"].startswith("[CUDA mem")]
        assert sorted(ours) == sorted(kernels), path
    assert n > least, n


@exports.on_each(["loop"], ["a100-pytorch-lm"])
def test_names_that_are_not_there_are_told(names, _):
    """Where mangled names were asked for and there are none, the sums are those by the names that are there."""
    plain = without_mangled_names(names[0])
    n_kernels, = exports.source(names[0]).execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
    stats_with_names = ["cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_sum", "cuda_api_gpu_sum", "cuda_gpu_trace", "cuda_kern_exec_sum",
                        "cuda_kern_exec_trace", "nvtx_kern_sum"]
    for name in stats_with_names:
        ours, said = golden.run("stats", "-q", "-r", name + ":mangled", "-f", "csv", plain)
        assert ours == golden.run("stats", "-q", "-r", name, "-f", "csv", plain)[0], name
        if name == "nvtx_kern_sum":  # the file has no ranges
            continue
        assert f"lacks mangled names of kernels ({n_kernels:,}); {name}:mangled shows their demangled names" in said.decode(), (name, said)
        _, said = golden.run("stats", "-q", "-r", name + ":mangled", "-f", "csv", exports.report(names[0]))
        assert said == b"", (name, said)


@exports.on_each(least=(6, 10))
def test_sizes(names, least):
    n = 0
    for export in names:
        groups = {}
        for text, size in exports.exported(export).execute(
                "SELECT '[CUDA memcpy ' || label || ']', bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER ON id = copyKind"
                " UNION ALL SELECT '[CUDA memset]', bytes FROM CUPTI_ACTIVITY_KIND_MEMSET"):
            groups.setdefault(text, []).append(size / 1e6)
        report = rows(exports.report(export), "cuda_gpu_mem_size_sum")
        assert len(report) == len(groups)
        totals = [float(row["Total (MB)"]) for row in report]
        assert totals == sorted(totals, reverse=True)
        for row in report:
            values = groups[row["Operation"]]
            assert row["Total (MB)"] == half_up(sum(round(v * 1e6) for v in values) / 1e6, "0.001"), row
            assert int(row["Count"]) == len(values) and row["Max (MB)"] == half_up(max(values), "0.001"), row
            assert row["Med (MB)"] == half_up(statistics.median(values), "0.001"), row
            n += 1
    assert n > least, n


@exports.on_each()
def test_traces_of_each_export(names, _):
    for export in names:
        database, report = exports.exported(export), exports.report(export)
        wanted = [(start, end - start, re.sub(r"_v\d{4}$", "", name), result, correlation, tid >> 24 & 0xFFFFFF, tid & 0xFFFFFF)
                  for start, end, name, result, correlation, tid in database.execute(
                      "SELECT start, end, value, returnValue, correlationId, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId")]
        ours = [(int(r["Start (ns)"]), int(r["Duration (ns)"]), r["Name"], int(r["Result"]), int(r["CorrID"]), int(r["Pid"]), int(r["Tid"]))
                for r in rows(report, "cuda_api_trace")]
        assert [r[0] for r in ours] == sorted(r[0] for r in ours) and sorted(ours) == sorted(wanted), export
        wanted = database.execute(
            "SELECT start, end - start, correlationId, contextId, streamId, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName"
            " UNION ALL SELECT start, end - start, correlationId, contextId, streamId, '[CUDA memcpy ' || label || ']'"
            " FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER ON id = copyKind"
            " UNION ALL SELECT start, end - start, correlationId, contextId, streamId, '[CUDA memset]' FROM CUPTI_ACTIVITY_KIND_MEMSET").fetchall()
        ours = [tuple(int(r[c]) for c in ("Start (ns)", "Duration (ns)", "CorrId", "Ctx", "Strm")) + (r["Name"],) for r in rows(report, "cuda_gpu_trace")]
        assert [r[0] for r in ours] == sorted(r[0] for r in ours) and sorted(ours) == sorted(wanted), export


def launched(database, tables=("KERNEL",)):
    """(globalTid, call's start, end and name, start, end, rowid, row) of what calls began, by the correlation alone."""
    calls = {}
    for tid, start, end, correlation, name in database.execute(
            "SELECT globalTid, start, end, correlationId, value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"):
        calls.setdefault((tid >> 24, correlation), (tid, start, end, re.sub(r"_v\d{4}$", "", name)))
    found = []
    for table in tables:
        for pid, correlation, start, end, *rest in database.execute(
                f"SELECT globalPid, correlationId, start, end, deviceId{', demangledName' if table == 'KERNEL' else ''}"
                f" FROM CUPTI_ACTIVITY_KIND_{table}"):
            if (pid >> 24, correlation) in calls:
                found.append((*calls[pid >> 24, correlation], start, end, *rest))
    return found


@exports.on_each(least=({"pair": 1700, "loop": 360, "old": 75, "system": 10}, {"h100x2-nccl": 1500, "a100-pytorch-lm": 7000, "a100-mpi-saxpy": 1}))
def test_from_calls_to_kernels(names, least):
    for export in names:
        wanted = [(call_start, call_end - call_start, call_end if start > call_end else None, start - call_end if start > call_end else None,
                   start, end - start, end - call_start, tid >> 24 & 0xFFFFFF, tid & 0xFFFFFF, device, name)
                  for tid, call_start, call_end, name, start, end, device, _ in launched(exports.exported(export))]
        trace = rows(exports.report(export), "cuda_kern_exec_trace")
        columns = ["API Start (ns)", "API Dur (ns)", "Queue Start (ns)", "Queue Dur (ns)", "Kernel Start (ns)", "Kernel Dur (ns)",
                   "Total Dur (ns)", "PID", "TID", "DevId"]
        ours = [tuple(int(r[c]) if r[c] else None for c in columns) + (r["API Function"],) for r in trace]
        assert [r[0] for r in ours] == sorted(r[0] for r in ours)
        assert sorted(ours, key=repr) == sorted(wanted, key=repr) and len(ours) >= least.get(export, 0), (export, len(ours), len(wanted))
        groups = {}
        for row in trace:
            groups.setdefault(tuple(row[c] for c in ("PID", "TID", "DevId", "API Function", "Kernel Name")), []).append(row)
        sums = rows(exports.report(export), "cuda_kern_exec_sum")
        assert len(sums) == len(groups)
        for row in sums:
            group = groups[tuple(row[c] for c in ("PID", "TID", "DevId", "API Name", "Kernel Name"))]
            for letter, column in (("T", "Total Dur (ns)"), ("A", "API Dur (ns)"), ("Q", "Queue Dur (ns)"), ("K", "Kernel Dur (ns)")):
                values = [int(r[column]) for r in group if r[column]]
                assert int(row["QCount" if letter == "Q" else "Count"]) == len(values)
                if values:
                    assert row[letter + "Avg (ns)"] == half_up(sum(values) / len(values)), (row, letter)
                    assert float(row[letter + "Med (ns)"]) == statistics.median(values), (row, letter)
                    assert (int(row[letter + "Min (ns)"]), int(row[letter + "Max (ns)"])) == (min(values), max(values))


def named_ranges(database):
    """(rowid, start, end, globalTid, "domain:name") of each push/pop range."""
    text = "coalesce(e.text, (SELECT value FROM StringIds WHERE id = e.textId), '')"
    domains = {(tid >> 24, number): name for tid, number, name in
               database.execute(f"SELECT globalTid, domainId, {text} FROM NVTX_EVENTS AS e WHERE eventType = 75")}
    for *place, tid, number, name in database.execute(
            f"SELECT rowid, start, end, globalTid, domainId, {text} FROM NVTX_EVENTS AS e WHERE eventType = 59 AND end IS NOT NULL"):
        yield (*place, tid, domains.get((tid >> 24, number), "") + ":" + name)


def projected(database):
    """By rowid of each range: name, tid, start, duration and operations of what it began, by comparing all with all."""
    begun = {}
    for launch in launched(database, ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")):
        begun.setdefault(launch[0], []).append(launch)
    for rowid, start, end, tid, name in named_ranges(database):
        inside = [b for b in begun.get(tid, []) if b[1] >= start and b[2] <= end]
        if inside:
            first, last = min(b[4] for b in inside), max(b[5] for b in inside)
            yield rowid, (name, first, last - first, start, end - start, tid >> 24 & 0xFFFFFF, tid & 0xFFFFFF, len(inside))


@exports.on_each(least=({"pair": 300, "old": 50}, {"h100x2-nccl": 500, "h100x2-after": 500}))
def test_ranges_on_the_gpu(names, least):
    for export in names:
        wanted = dict(projected(exports.exported(export)))
        trace = rows(exports.report(export), "nvtx_gpu_proj_trace")
        columns = ["Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)", "Orig Duration (ns)", "PID", "TID", "NumGPUOps"]
        ours = {int(r["RangeId"]): (r["Name"], *(int(r[c]) for c in columns)) for r in trace}
        assert len(ours) == len(trace) >= least.get(export, 0) and ours == wanted, (export, len(ours), len(wanted))
        places = {r["RangeId"]: r for r in trace}
        for row in trace:
            stack = row["RangeStack"].split(":")[1:]
            assert stack[-1] == row["RangeId"] and len(stack) == int(row["Lvl"]) + 1
            assert row["ParentId"] == (stack[-2] if len(stack) > 1 else "")
            if row["ParentId"]:
                parent = places[row["ParentId"]]
                assert int(parent["Orig Start (ns)"]) <= int(row["Orig Start (ns)"])
                assert int(parent["NumGPUOps"]) >= int(row["NumGPUOps"])
            assert int(row["NumChild"]) == sum(r["ParentId"] == row["RangeId"] for r in trace) if int(row["RangeId"]) % 50 == 0 else True
        groups = {}
        for row in trace:
            groups.setdefault((row["Name"], row["Style"]), []).append(row)
        sums = rows(exports.report(export), "nvtx_gpu_proj_sum")
        assert len(sums) == len(groups)
        for row in sums:
            group = groups[row["Range"], row["Style"]]
            values = [int(r["Projected Duration (ns)"]) for r in group]
            assert int(row["Total Proj Time (ns)"]) == sum(values) and int(row["Range Instances"]) == len(values)
            assert int(row["Total Range Time (ns)"]) == sum(int(r["Orig Duration (ns)"]) for r in group)
            assert row["Proj Avg (ns)"] == half_up(sum(values) / len(values))
            assert float(row["Proj Med (ns)"]) == statistics.median(values)
            operations = sum(int(r["NumGPUOps"]) for r in group)
            assert int(row["Total GPU Ops"]) == operations and row["Avg GPU Ops"] == half_up(operations / len(group))
            assert row["Avg Range Lvl"] == half_up(sum(int(r["Lvl"]) for r in group) / len(group))
            assert row["Avg Num Child"] == half_up(sum(int(r["NumChild"]) for r in group) / len(group))


@exports.on_each(least=({"pair": 100, "old": 6}, {"h100x2-nccl": 500}))
def test_kernels_of_ranges(names, least):
    for export in names:
        check_kernels_of_ranges(export, least.get(export, 0))


def check_kernels_of_ranges(export, least):
    database = exports.exported(export)
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    begun, groups = {}, {}
    for tid, start, end, _, first, last, _, name in launched(database):
        begun.setdefault(tid, []).append((start, end, last - first, strings[name]))
    for rowid, start, end, tid, text in named_ranges(database):
        for call_start, call_end, duration, name in begun.get(tid, []):
            if call_start >= start and call_end <= end:
                groups.setdefault((text, str(tid >> 24 & 0xFFFFFF), str(tid & 0xFFFFFF), name), []).append((rowid, duration))
    report = rows(exports.report(export), "nvtx_kern_sum")
    assert len(report) == len(groups) >= least
    for row in report:
        group = groups[row["NVTX Range"], row["PID"], row["TID"], row["Kernel Name"]]
        values = [duration for _, duration in group]
        assert (int(row["NVTX Inst"]), int(row["Kern Inst"])) == (len({rowid for rowid, _ in group}), len(values))
        assert int(row["Total Time (ns)"]) == sum(values) and row["Avg (ns)"] == half_up(sum(values) / len(values))
        assert float(row["Med (ns)"]) == statistics.median(values)


def test_files_are_named_after_reports_and_arguments():
    golden.run("stats", "-r", "cuda_gpu_kern_sum:base", "-o", golden.path("by"), exports.report("tiny"))
    assert os.path.exists(golden.path("by_cuda_gpu_kern_sum_base.csv"))
    for wrong in ("cuda_gpu_kern_sum:all", "cuda_api_sum:base"):
        _, err = golden.run("stats", "-r", wrong, exports.report("tiny"), code=125)
        assert b"is not valid; write cuda_" in err, err


tap.main(globals())
