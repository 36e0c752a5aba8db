# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""stragglers.py FOLDER NAME REPLAY-POINTS: the slowdowns of a training of many GPUs, by a replay of trace-NAME.parquet in FOLDER, as JSON:
S, of all; S_t by type of operation, S_dp and S_pp by rank.

Megatron trains in steps. Its ranks are a grid: stages of a pipeline, and copies of it that share the data. Each does its forward and
backward passes one after the other, sends to the next stage and receives from the one before, and at the end of a step adds up gradients with all copies.
An operation of several ranks is over so long after the last of them came as it took from there. Ideally each operation takes what
such operations take: passes their mean, transfers their median."""

import collections
import json
import statistics
import subprocess
import sys

import pyarrow.parquet as parquet

FORWARD, BACKWARD = "forward-compute", "backward-compute"
TRANSFERS = {"forward-send": (FORWARD, +1), "forward-recv": (FORWARD, -1), "backward-send": (BACKWARD, -1), "backward-recv": (BACKWARD, +1)}
PEERS = {"forward-send": "forward-recv", "forward-recv": "forward-send", "backward-send": "backward-recv", "backward-recv": "backward-send"}
GATHER, SCATTER, CLIP = "params-all-gather", "grads-reduce-scatter", "optimizer-clip-main-grad"
NORM, EMBEDDING, OPTIMIZER, COLLECT = "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "optimizer", "gc"
# What all copies of a stage do together, and what is taken to be a transfer.
BY_ALL_COPIES = {GATHER, SCATTER, CLIP}
MEDIANS = {*TRANSFERS, *BY_ALL_COPIES, NORM, EMBEDDING}
# In the results both ends of a pipeline's transfer are one type.
TOGETHER = {name: name.split("-", maxsplit=1)[0] + "-pp-comm" for name in TRANSFERS}
USEC = 1e6


def read(path):
    """The operations, by (step, copy, stage, type, number)."""
    table = parquet.read_table(path).to_pydict()
    return {(step, dp, stage, kind, number): (start, start + duration)
            for step, dp, stage, kind, number, start, duration in zip(*(table[name] for name in (
                "step", "dp_rank", "stage", "optype", "seq_id", "start_ts", "duration")))}


def order_of(operations, last_stage):
    """What each (stage, type, number) comes after, in the order of the first copy's first step: the same for all."""
    first = min(key[0] for key in operations)
    mine = {key[2:]: times for key, times in operations.items() if key[:2] == (first, 0)}
    after = {key: [] for key in mine}
    for stage in range(last_stage + 1):
        passes = sorted((key for key in mine if key[0] == stage and key[1] in (FORWARD, BACKWARD)), key=lambda key: mine[key][0])
        chains = [passes]
        for kind in TRANSFERS:
            chains.append(sorted((key for key in mine if key[:2] == (stage, kind)), key=lambda key: key[2]))
            for _, _, number in chains[-1]:
                transfer, done = (stage, kind, number), (stage, TRANSFERS[kind][0], number)
                if kind.endswith("send"):
                    after[transfer].append(done)
                else:
                    after[done].append(transfer)
                    if number > 0:
                        after[transfer].append((stage, done[1], number - 1))
        # The pipeline turns: what is sent back first has nothing to wait for but the pass before the last that went forward.
        turn = next(i for i, key in enumerate(passes) if key[1] == BACKWARD)
        for kind in ("backward-send", "backward-recv"):
            if turn >= 2 and (stage, kind, 0) in after:
                after[(stage, kind, 0)].append(passes[turn - 2])
        ends = [(stage, NORM, 0), *([(stage, EMBEDDING, 0)] if (stage, EMBEDDING, 0) in mine else []),
                *sorted(key for key in mine if key[:2] == (stage, SCATTER)), (stage, CLIP, 0), (stage, OPTIMIZER, 0)]
        chains.append([max(passes, key=lambda key: mine[key][1]), (stage, COLLECT, 0), *ends])
        gathers = sorted(key for key in mine if key[:2] == (stage, GATHER))
        after[(stage, FORWARD, 0)].extend(gathers)
        chains.append([*gathers, *sorted(key for key in mine if key[:2] == (stage, SCATTER))])
        for chain in chains:
            for before, key in zip(chain, chain[1:]):
                after[key].append(before)
    return after


def group_of(key, last_stage):
    """Those of one copy that do KEY together."""
    stage, kind, number = key
    if kind in TRANSFERS:
        return tuple(sorted((key, (stage + TRANSFERS[kind][1], PEERS[kind], number))))
    if kind == EMBEDDING and last_stage > 0:
        return ((0, kind, number), (last_stage, kind, number))
    if kind == CLIP:
        return tuple((other, kind, number) for other in range(last_stage + 1))
    return (key,)


class Graph:
    """Points, as replay-points reads them."""

    def __init__(self, n_values):
        self.lines, self.n_values = [], n_values

    def add(self, before, source=-1, own=0, ideal=0, keys=(0, 0, 0), step=0):
        self.lines.append(f"{before} {source} {own} {ideal} {keys[0]} {keys[1]} {keys[2]} {step}")
        return len(self.lines)

    def join(self, points):
        """The point at which all POINTS are over."""
        points = list(dict.fromkeys(points)) or [0]
        point = points[0]
        for other in points[1:]:
            point = self.add(point, other)
        return point

    def run(self, program, n_steps):
        head = f"{len(self.lines) + 1} {n_steps} {' '.join(map(str, self.n_values))}\n"
        return list(map(int, subprocess.run([program], input=head + "\n".join(self.lines), capture_output=True, text=True, check=True).stdout.split()))


def durations_of(operations, groups, copies):
    """How long each operation takes itself: what ranks do together counts from when the last of them came."""
    taken = {}
    for (step, dp, *key), (start, end) in operations.items():
        key = tuple(key)
        if key[1] in MEDIANS - {NORM}:
            others = copies if key[1] in BY_ALL_COPIES else [dp]
            start = max(operations[(step, other, *member)][0] for other in others for member in groups[key])
            taken[(step, dp, *key)] = end - start if end - start > -0.01 else 0
        else:
            taken[(step, dp, *key)] = end - start
    return taken


def main():
    folder, name, program = sys.argv[1:]
    operations = read(f"{folder}/trace-{name}.parquet")
    steps, copies = sorted({key[0] for key in operations}), sorted({key[1] for key in operations})
    last_stage = max(key[2] for key in operations)
    after = order_of(operations, last_stage)
    groups = {key: group_of(key, last_stage) for key in after}
    taken = durations_of(operations, groups, copies)
    by_kind = collections.defaultdict(list)
    for key, seconds in taken.items():
        by_kind[key[3]].append(seconds)
    ideal = {kind: statistics.median(all_) if kind in MEDIANS else statistics.fmean(all_) for kind, all_ in by_kind.items()}
    kinds = sorted({TOGETHER.get(kind, kind) for kind in by_kind})
    graph = Graph((len(kinds), len(copies), last_stage + 1))

    # Groups become points when all that their members come after are.
    waiting = {group: {before for key in group for before in after[key]} for group in set(groups.values())}
    order, done = [], set()
    while waiting:
        ready = [group for group, before in waiting.items() if before <= done]
        assert ready, "the order has a circle"
        for group in sorted(ready):
            order.append(group)
            done.update(group)
            del waiting[group]
    for number, step in enumerate(steps):
        ends = {}
        for group in order:
            starts = {dp: graph.join([ends[(dp, before)] for key in group for before in after[key]]) for dp in copies}
            if group[0][1] in BY_ALL_COPIES:
                starts = dict.fromkeys(copies, graph.join(starts.values()))
            for dp in copies:
                for key in group:
                    stage, kind, _ = key
                    # A pass of a pair does not wait for its peer: only transfers have one.
                    ends[(dp, key)] = graph.add(starts[dp], own=max(1, round(taken[(step, dp, *key)] * USEC)), ideal=max(0, round(ideal[kind] * USEC)),
                                                keys=(kinds.index(TOGETHER.get(kind, kind)), dp, stage), step=number + 1 if kind == OPTIMIZER else 0)
    was, best, *rest = graph.run(program, len(steps))
    slowdowns = [time / best for time in rest]
    n = len(kinds)
    print(json.dumps({"S": was / best, "S_t": dict(zip(kinds, slowdowns)), "S_dp": dict(enumerate(slowdowns[n:n + len(copies)])),
                      "S_pp": dict(enumerate(slowdowns[n + len(copies):])), "points": len(graph.lines)}))


main()
