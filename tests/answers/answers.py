# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What holds for every answer of lanescope why."""

IDLE = {"lock-wait", "io-wait", "sleep", "cpu-contention", "cpu-work", "gpu-sync", "launch-rate", "allocation", "module-load", "driver", "start-up",
        "tear-down", "collective-wait", "dependency", "profiler", "not-recorded"}
ENDS = {"start-up", "tear-down"}
BUSY = {"pageable-copy", "copy-bound", "under-filled", "slow-clocks", "slow-step"}


def check_ledgers(answer, what):
    """Each nanosecond is busy, or has one cause."""
    ledgers = answer["devices"] + answer["threads"]
    for ledger in ledgers:
        causes = {row["cause"]: row["ns"] for row in ledger["causes"]}
        assert set(causes) <= IDLE and all(ns > 0 for ns in causes.values()), (what, causes)
        assert ledger["span_ns"] == ledger["end"] - ledger["start"] == ledger["busy_ns"] + ledger["idle_ns"], (what, ledger)
        assert sum(causes.values()) + ledger["unknown_ns"] == ledger["idle_ns"], (what, ledger)
    for finding in answer["findings"]:
        assert finding["cause"] in IDLE | BUSY | {"unknown"} and finding["ns"] >= 0 and finding["sentence"].endswith("."), (what, finding)
        assert finding["events"] or finding["cause"] == "not-recorded", (what, finding)
        # What was lost so many times was lost to the longest of them at least in part, and to none more than in all.
        longest_ns = finding["longest_ns"]
        assert finding["cause"] == "unknown" or 0 < longest_ns <= finding["ns"], (what, finding)
        if finding["cause"] in IDLE:
            assert finding["ns"] <= finding["count"] * longest_ns, (what, finding)
    # What the verdict is about comes first, and then what costs most, but slow steps behind their reason. Where the program started for
    # longer than it worked and the verdict is on its work, start and end come last.
    costs = [(finding["cause"] in ENDS, finding["ns"]) for finding in answer["findings"][1:] if finding["cause"] != "slow-step"]
    in_order = sorted(costs, key=lambda cost: -cost[1])
    assert costs in (in_order, sorted(in_order, key=lambda cost: cost[0])), (what, costs)
    return len(ledgers)
