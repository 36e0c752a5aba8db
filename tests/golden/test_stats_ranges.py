# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope stats REPORT:nvtx-name: kernels by the innermost range around their call, compared with plain SQL."""

import bisect
import collections
import csv
import io

import exports
import golden
import tap

EXPORTS = [["pair", "old", "graphs", "loop", "system"], ["h100x2-nccl", "h100x2-after", "h100x2-before", "a100-mpi-saxpy", "a100-pytorch-lm"]]


def stats(name, report):
    return list(csv.DictReader(io.StringIO(golden.run("stats", "-q", "-r", report, "-f", "csv", exports.report(name))[0].decode())))


def ranges(database):
    """By globalTid: start, end and name of push/pop ranges, by start and the outer ones first."""
    found = collections.defaultdict(list)
    if not exports.has(database, "NVTX_EVENTS"):
        return found
    texts = "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))"
    # Tables of domains are a process's own.
    domains = {(tid >> 24, domain): text for tid, domain, text in
               database.execute(f"SELECT globalTid, domainId, {texts} FROM NVTX_EVENTS WHERE eventType = 75")}
    for tid, domain, start, end, text in database.execute(
            f"SELECT globalTid, domainId, start, end, {texts} FROM NVTX_EVENTS WHERE eventType = 59 AND end IS NOT NULL ORDER BY start, end DESC"):
        prefix = domains.get((tid >> 24, domain), "")
        found[tid].append((start, end, f"{prefix}:{text}/" if prefix else f"{text}/"))
    return found


def kernels(name):
    """(name with its range, grid and block, start, duration) of each kernel."""
    database = exports.source(name)
    around = ranges(database)
    starts = {tid: [r[0] for r in rows] for tid, rows in around.items()}
    calls = {}
    for tid, correlation, start, end in database.execute(
            "SELECT globalTid, correlationId, start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass < 2 ORDER BY start DESC"):
        calls[tid >> 24, correlation] = (tid, start, end)
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    for pid, correlation, short, full, start, end, *shape in database.execute(
            "SELECT globalPid, correlationId, shortName, demangledName, start, end, gridX, gridY, gridZ, blockX, blockY, blockZ"
            " FROM CUPTI_ACTIVITY_KIND_KERNEL"):
        prefix = ""
        if (pid >> 24, correlation) in calls:
            tid, first, last = calls[pid >> 24, correlation]
            rows = around.get(tid, [])
            for i in range(bisect.bisect_right(starts.get(tid, []), first) - 1, -1, -1):
                if rows[i][1] >= last:
                    prefix = rows[i][2]
                    break
        yield prefix, strings[short], strings[full], tuple("%4d %4d %4d" % tuple(shape[i:i + 3]) for i in (0, 3)), start, end - start


@exports.on_each(*EXPORTS, least=(900, 1000))
def test_sums(names, least):
    n_prefixed = 0
    for name in names:
        wanted, short, shaped = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
        for prefix, base, full, shape, _, duration in kernels(name):
            wanted[prefix + full].append(duration)
            short[prefix + base].append(duration)
            shaped[(*shape, prefix + base)].append(duration)
            n_prefixed += prefix != ""
        for report, groups, key in (("cuda_gpu_kern_sum:nvtx-name", wanted, lambda r: r["Name"]),
                                    ("cuda_gpu_kern_sum:nvtx-name:base", short, lambda r: r["Name"]),
                                    ("cuda_gpu_kern_gb_sum:base:nvtx-name", shaped, lambda r: (r["GridXYZ"], r["BlockXYZ"], r["Name"])),
                                    ("cuda_gpu_sum:nvtx-name:base", short, lambda r: r["Operation"] if r["Category"] == "CUDA_KERNEL" else None),
                                    ("cuda_api_gpu_sum:nvtx-name:base", short, lambda r: r["Operation"] if r["Category"] == "CUDA_KERNEL" else None)):
            rows = stats(name, report)
            totals = [int(r["Total Time (ns)"]) for r in rows]
            assert totals == sorted(totals, reverse=True) and abs(sum(float(r["Time (%)"]) for r in rows) - 100) < 0.06 * len(rows) + 1
            ours = {key(r): (int(r["Total Time (ns)"]), int(r["Instances"]), int(r["Min (ns)"]), int(r["Max (ns)"])) for r in rows if key(r) is not None}
            assert ours == {k: (sum(v), len(v), min(v), max(v)) for k, v in groups.items()}, (name, report)
    assert n_prefixed > least, n_prefixed


@exports.on_each(*EXPORTS)
def test_one_by_one(names, _):
    for name in names:
        wanted = sorted((start, duration, prefix + base) for prefix, base, _, _, start, duration in kernels(name))
        rows = stats(name, "cuda_gpu_trace:nvtx-name:base")
        assert sorted((int(r["Start (ns)"]), int(r["Duration (ns)"]), r["Name"]) for r in rows if r["GrdX"]) == wanted, name
        named = collections.Counter((start, duration, text) for start, duration, text in wanted)
        traced = stats(name, "cuda_kern_exec_trace:nvtx-name:base")
        ours = collections.Counter((int(r["Kernel Start (ns)"]), int(r["Kernel Dur (ns)"]), r["Kernel Name"]) for r in traced)
        assert not ours - named, (name, ours - named)
        sums = stats(name, "cuda_kern_exec_sum:nvtx-name:base")
        counted = collections.Counter()
        for row in sums:
            counted[row["Kernel Name"]] += int(row["Count"])
        assert counted == collections.Counter(r["Kernel Name"] for r in traced) and len(sums) >= len(counted), name


@exports.on_each(least=(800, 40000))
def test_sums_of_ranges_of_each_export(names, least):
    """nvtx_sum and its parts; nvtx_pushpop_trace: each range once, its times and what lies around it."""
    n = 0
    for name in names:
        database = exports.source(name)
        groups = collections.defaultdict(list)
        if exports.has(database, "NVTX_EVENTS"):
            text = "coalesce(text, (SELECT value FROM StringIds WHERE id = textId), '')"
            domains = {(tid >> 24, domain): value for tid, domain, value in
                       database.execute(f"SELECT globalTid, domainId, {text} FROM NVTX_EVENTS WHERE eventType = 75")}
            last, = database.execute("SELECT coalesce(max(end), 0) FROM NVTX_EVENTS").fetchone()  # how far ranges go that nothing ended
            for kind, tid, domain, duration, value in database.execute(
                    f"SELECT eventType, globalTid, domainId, max(coalesce(end, {last}) - start, 0), {text} FROM NVTX_EVENTS WHERE eventType IN (59, 60)"):
                groups[{59: "PushPop", 60: "StartEnd"}[kind], domains.get((tid >> 24, domain), "") + ":" + value].append(duration)
        whole = sum(map(sum, groups.values()))
        rows = stats(name, "nvtx_sum")
        totals = [int(r["Total Time (ns)"]) for r in rows]
        assert totals == sorted(totals, reverse=True) and len(rows) == len(groups), (name, len(rows), len(groups))
        for row in rows:
            values = sorted(groups[row["Style"], row["Range"]])
            assert (int(row["Total Time (ns)"]), int(row["Instances"]), int(row["Min (ns)"]), int(row["Max (ns)"])) == \
                (sum(values), len(values), values[0], values[-1]), (name, row)
            assert float(row["Med (ns)"]) == (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2, (name, row)
            assert abs(float(row["Time (%)"]) - 100 * sum(values) / whole) <= 0.0501, (name, row)
        for report, style in (("nvtx_pushpop_sum", "PushPop"), ("nvtx_startend_sum", "StartEnd")):
            ours = {r["Range"]: int(r["Total Time (ns)"]) for r in stats(name, report)}
            assert ours == {key[1]: sum(v) for key, v in groups.items() if key[0] == style}, (name, report)
        trace = stats(name, "nvtx_pushpop_trace")
        assert len(trace) == sum(len(v) for key, v in groups.items() if key[0] == "PushPop"), name
        by_id = {r["RangeId"]: r for r in trace}
        for row in trace:
            assert int(row["DurChild (ns)"]) + int(row["DurNonChild (ns)"]) == int(row["Duration (ns)"]) == int(row["End (ns)"]) - int(row["Start (ns)"])
            parent = by_id.get(row["ParentId"])
            assert (parent is None) == (row["Lvl"] == "0"), (name, row)
            assert parent is None or (int(parent["Start (ns)"]) <= int(row["Start (ns)"]) and int(row["End (ns)"]) <= int(parent["End (ns)"])), (name, row)
        n += len(trace)
    assert n > least, n


tap.main(globals())
