# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--nccl-trace, on a stand-in for NCCL (double): what the plug-in is told of are ranges, with their numbers."""

import collections
import json
import os
import subprocess
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "e2e"))
import profiling  # noqa: E402

CALLS = os.path.join(tap.BUILD, "tests", "e2e", "nccl-calls")
N = 6

# What the stand-in does, by the part of the switch that asks for it: the ranges of an operation.
PARTS = {
    "api-group": ["group call"],
    "api-coll": ["AllReduce (Float32)"],
    "api-p2p": ["Send (Bfloat16)"],
    "group": ["group"],
    "coll": ["AllReduce (Float32, RING, SIMPLE)"],
    "p2p": ["Send (Bfloat16)"],
    "kernel-launch": ["kernel launch"],
    "ce-batch": ["copies"],
    "proxy-op": ["send to rank 3, channel 2"],
    "proxy-step": ["send to rank 3, channel 2", "step", "send waits for the GPU", "send waits for the network"],
}
GROUPS = {
    "api": ["api-group", "api-coll", "api-p2p"],
    "rt": ["group", "coll", "p2p", "kernel-launch"],
    "default": ["api-group", "api-coll", "api-p2p", "group"],
    "all": ["api-group", "api-coll", "api-p2p", "group", "coll", "p2p", "kernel-launch", "ce-batch"],
    "api-coll,proxy-step": ["api-coll", "proxy-step"],
}


def expected(parts):
    names = collections.Counter()
    for part in parts:
        for name in PARTS[part]:
            names[name] += N
    return names


def check(folder, asked, parts, version):
    run = folder.profile("-f", "true", "-o", "r", f"--nccl-trace={asked}", CALLS, version, str(N))
    report = folder.report("r.rep")
    assert run.code == 0 and not run.err.count("warning"), (asked, run)
    assert report.names() == expected(parts), (asked, report.names())
    n = sum(count for name, count in report.names().items() if "waits for" not in name)
    assert f", {n} handles" in run.out, (run.out, n)
    return report


def test_each_part_is_recorded():
    with profiling.Folder() as folder:
        for version in ("5", "6"):
            for part in PARTS:
                check(folder, part, [part], version)
            for asked, parts in GROUPS.items():
                check(folder, asked, parts, version)


def rows(folder, sql):
    return [line.split("\t") for line in subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"), sql], check=True, capture_output=True, text=True).stdout.splitlines()]


def test_ranges_have_their_numbers():
    with profiling.Folder() as folder:
        check(folder, "coll,p2p,proxy-op,ce-batch", ["coll", "p2p", "proxy-op", "ce-batch"], "6")
        found = collections.defaultdict(list)
        for name, text in rows(folder, "SELECT coalesce(e.text, s.value), jsonText FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
                                       "WHERE eventType IN (59, 60) ORDER BY start"):
            found[name].append(next(iter(json.loads(text).values())) if "NCCL operation" in text else json.loads(text))
        reduce = found["AllReduce (Float32, RING, SIMPLE)"]
        assert [row["sequence number"] for row in reduce] == list(range(N)), reduce
        assert {row["communicator"] for row in reduce} == {0xabc0, 0xabc1}, reduce
        assert all((row["bytes"], row["elements"], row["rank"], row["channels"]) == (4000, 1000, 5, 8) for row in reduce), reduce
        assert all((row["bytes"], row["peer or root"]) == (20, 3) for row in found["Send (Bfloat16)"]), found
        assert all((row["bytes"], row["step"]) == (524288, 4) for row in found["send to rank 3, channel 2"]), found
        assert all((row["bytes"], row["elements"]) == (4096, 6) for row in found["copies"]), found


def test_a_range_ends_on_another_thread():
    """As NCCL ends a collective on the proxy's."""
    with profiling.Folder() as folder:
        report = check(folder, "coll,p2p", ["coll", "p2p"], "6")
        ranges = [event for event in report.events if event["name"].startswith("AllReduce")]
        assert len(ranges) == N and all(event["duration"] > 0 for event in ranges), ranges


def test_nothing_changes_where_nobody_asks():
    with profiling.Folder() as folder:
        for words in ([], ["--nccl-trace=none"], ["-t", "nccl"], ["--nccl-trace=gpu"]):
            run = folder.profile("-f", "true", "-o", "r", *words, CALLS, "6", "1")
            assert run.code == 0 and run.out.startswith("no plug-in") and not folder.report("r.rep").events, (words, run)


def test_another_plug_in_is_told():
    with profiling.Folder() as folder:
        run = folder.profile("-o", "r", "-e", "NCCL_PROFILER_PLUGIN=/nowhere/mine.so", "--nccl-trace=coll", CALLS, "6", str(N))
        assert run.code == 0 and "[LNS-NCCL-001]" in run.err and folder.report("r.rep").names() == expected(["coll"]), run


def test_domains_are_kept_apart():
    """What NVTX is to leave out stays out, and the plug-in's ranges stay in."""
    words = [profiling.ACT, "mark", "m", "domain", "other", "push", "o", "pop"]
    for switches, left in ((["--nvtx-domain-include=other"], {"o": 1}), (["-t", "cuda"], {}), ([], {"m": 1, "o": 1})):
        with profiling.Folder() as folder:
            run = folder.profile("-o", "r", "--nccl-trace=coll", *switches, "sh", "-c", f"{CALLS} 6 {N}; " + " ".join(words))
            names = folder.report("r.rep").names()
            assert run.code == 0 and names == expected(["coll"]) + collections.Counter(left), (switches, names, run)


tap.main(globals())
