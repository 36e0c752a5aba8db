# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What every report must hold, whatever was recorded."""

import bisect

WORK = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
EARLY_IN = 10_000  # one operation of so many may begin before its call: the clocks of CPU and GPU are compared, not shared


def expect_whole(machine, report, kernels=None, every=1, goes_on=False):
    """Checks that the report is complete, lost nothing and left nothing out, that its work has calls, and that it has the
    KERNELS expected by name. KERNELS is None for a library's kernels, which may begin before the previous kernel ends.
    Of a great report, one operation of EVERY is compared with its call. GOES_ON: see expect_links()."""
    expect_complete(report)
    expect_links(machine, report, every, goes_on)
    expect_devices(report)
    if kernels is not None:
        found = report.names()
        assert found == kernels, f"kernels {found}, not {kernels}"
        expect_order(report)


def expect_complete(report):
    """Checks that nothing is missing, by what the report tells itself."""
    troubles = report.told(r"LNS-\S+ (?:warning|error)|LNS-CUDA-014 info")
    assert not troubles, " ".join(troubles)
    assert (report.fact("state"), report.fact("lost")) == ("complete", "0"), f"{report.fact('state')}, {report.fact('lost')} lost"


def expect_links(machine, report, every=1, goes_on=False):
    """Checks that each GPU operation has the call that requested it, and that the call began first. The driver moves
    managed memory by itself. If the program GOES_ON when its report ends, its last call may end later than its operation."""
    calls = "CUPTI_ACTIVITY_KIND_RUNTIME"
    is_late = f"w.correlationId > (SELECT max(correlationId) FROM {calls} WHERE globalTid >> 24 = w.globalPid >> 24)" if goes_on else "FALSE"
    n = early = 0
    least = None
    for kind in WORK:
        row, = report.rows(kind, f"count(*) AS n, sum(c.start IS NULL AND NOT {is_late}) AS alone, total(w.start < c.start) AS early,"
                           " min(w.start - c.start) AS least",
                           f"AS w LEFT JOIN {calls} AS c ON c.correlationId = w.correlationId"
                           " AND c.globalTid >> 24 = w.globalPid >> 24"
                           f" WHERE w.correlationId % {every} = 0" + (" AND w.copyKind < 11" if kind == "MEMCPY" else ""))
        assert not row["alone"], f"{row['alone']} of {row['n']} rows of {kind} have no call"
        n, early = n + row["n"], early + int(row["early"])
        least = min((value for value in (least, row["least"]) if value is not None), default=None)
    assert n > 0, "nothing of a GPU is in the report"
    machine.measured(operations=n, early=early, least_delay_ns=least)
    assert early * EARLY_IN <= n, f"{early} of {n} operations began before their calls, the worst {-least} ns"


def expect_devices(report):
    """Checks that kernels ran on GPUs that the report knows."""
    strange = report.sql("SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId NOT IN"
                         " (SELECT cuDevice FROM TARGET_INFO_GPU)")
    assert not strange, f"kernels of unknown GPUs: {strange}"


def expect_order(report):
    """Checks that kernels take time, and that no stream runs two at once. Nodes of a graph may overlap."""
    row, = report.sql("SELECT sum(end <= start) AS timeless, sum(start < previous) AS crowded, max(previous - start) AS most"
                      " FROM (SELECT start, end, lag(end) OVER (PARTITION BY globalPid, contextId, streamId ORDER BY start) AS previous"
                      " FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE coalesce(graphNodeId, 0) = 0)")
    assert not row["timeless"], f"{row['timeless']} kernels take no time"
    assert not row["crowded"], f"{row['crowded']} kernels begin before their stream's previous one ends, by up to {row['most']} ns"


def calls_of(report):
    """CUDA calls by process and correlation."""
    return {(call["globalTid"] >> 24 << 24, call["correlationId"]): call
            for call in report.rows("RUNTIME", "start, end, globalTid, correlationId")}


def kernels_by_range(report, name, pattern=""):
    """For each NVTX range NAME, how many kernels whose name contains PATTERN were launched in it."""
    calls = calls_of(report)
    launches = sorted(calls[k["globalPid"], k["correlationId"]]["start"] for k in report.kernels() if pattern in k["name"])
    return [bisect.bisect(launches, row["end"]) - bisect.bisect_left(launches, row["start"]) for row in report.sql(
        "SELECT n.start, n.end FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId"
        f" WHERE n.eventType = 59 AND coalesce(n.text, s.value) = '{name}' ORDER BY n.start")]


def expect_alike(report, name, n, warm=0, pattern=""):
    """Checks that there are N ranges NAME with the same number of kernels in each after the first WARM. Returns that."""
    inside = kernels_by_range(report, name, pattern)
    assert len(inside) == n, f"{len(inside)} ranges `{name}`, not {n}"
    inside = inside[warm:]
    assert inside[0] > 0 and len(set(inside)) == 1, f"kernels launched in `{name}`: {inside}"
    return inside[0]
