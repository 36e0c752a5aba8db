#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""make_traces.py FOLDER: writes the golden tests' own traces, laid out as PyTorch's profiler lays out its own: calls with their
operations on a GPU, arrows between both, operators, steps, copies and synchronizations. The same files every time."""

import gzip
import json
import os
import random
import sys

import make_exports


class Trace:
    """The events of one file; times are in microseconds: since the machine started, with three decimals, where FINE, else since 1970."""

    def __init__(self, seed, fine):
        self.random, self.fine, self.events, self.now, self.last, self.busy_until = random.Random(seed), fine, [], 0, 100, {}
        self.begin = 4200000000.25 if fine else 1700000000000000

    def time(self, us):
        return round(us, 3) if self.fine else int(us)

    def at(self, us):
        return self.time(self.begin + us)

    def add(self, phase, **values):
        self.events.append({"ph": phase, **values})

    def slice(self, category, name, pid, tid, start, lasts, **arguments):
        self.add("X", cat=category, name=name, pid=pid, tid=tid, ts=self.at(start), dur=self.time(lasts), args=arguments)

    def arrow(self, category, number, begin, end):
        for phase, (pid, tid, ts), more in (("s", begin, {}), ("f", end, {"bp": "e"})):
            self.add(phase, cat=category, name=category, id=number, pid=pid, tid=tid, ts=self.at(ts), **more)

    def work(self, category, name, lasts, stream, call, has_arrow=True, **arguments):
        """A call of thread 4000 and what it begins on the GPU."""
        self.last += 1
        start = self.now
        self.slice("cuda_driver" if call.startswith("cu") and call[2].isupper() else "cuda_runtime", call, 4000, 4000, start, 7, cbid=211, correlation=self.last)
        begins = max(start + 9, self.busy_until.get(stream, 0))
        self.busy_until[stream] = begins + int(lasts) + 1
        self.slice(category, name, 0, stream, begins, lasts, device=0, context=1, stream=stream, correlation=self.last, **arguments)
        if has_arrow:
            self.arrow("ac2g", self.last, (4000, 4000, start), (0, stream, begins))
        self.now += 8 + self.random.randrange(4)


def training(fine=True, steps=8):
    """Steps of operators with kernels, copies of each direction, memsets, and arrows from forward to backward."""
    trace = Trace(steps, fine)
    trace.add("M", name="process_name", pid=4000, tid=0, ts=trace.at(0), args={"name": "python"})
    trace.add("M", name="thread_name", pid=4000, tid=4000, ts=trace.at(0), args={"name": "thread 4000 (python)"})
    trace.add("M", name="process_labels", pid=0, tid=0, ts=trace.at(0), args={"labels": "GPU 0"})
    kinds = [("Memcpy HtoD (Pageable -> Device)", 4096), ("Memcpy HtoD (Pinned -> Device)", 80000), ("Memcpy DtoH (Device -> Pageable)", 12),
             ("Memcpy DtoH (Device -> Pinned)", 512), ("Memcpy DtoD (Device -> Device)", 65536)]
    for step in range(steps):
        begin = trace.now
        for number, phase in enumerate(("forward", "backward")):
            for layer in range(4):
                start = trace.now
                for part in range(3):
                    _, name, _ = make_exports.KERNELS[(5 * layer + 3 * part + step) % len(make_exports.KERNELS)]
                    shape = {} if part == 2 and layer == 3 else {"grid": [8 << part, 1 + layer, 1], "block": [128, 1 + number, 1],
                                                                 "registers per thread": 20 + part, "shared memory": 1024 * part}
                    trace.work("kernel", name, 2 + trace.random.random() * 30, (7, 20)[part % 2], "cuLaunchKernelEx" if part == 1 else "cudaLaunchKernel", **shape)
                trace.now += 2
                trace.slice("cpu_op", f"demo::{phase}_{layer}", 4000, 4000, start - 1, trace.now - start, **{"Sequence number": 10 * step + layer})
                if phase == "backward":
                    trace.arrow("fwdbwd", 1000 * steps + 4 * step + layer, (4000, 4000, begin + 3 * layer), (4000, 4000, start - 1))
                trace.now += 3
        name, size = kinds[step % len(kinds)]
        trace.work("gpu_memcpy", name, 3.5, 7, "cudaMemcpyAsync", bytes=size + step)
        trace.work("gpu_memset", "Memset (Device)", 1.25, 20, "cudaMemsetAsync", bytes=256 * step)
        trace.last += 1
        trace.slice("cuda_runtime", "cudaStreamSynchronize", 4000, 4000, trace.now, 30, correlation=trace.last)
        trace.slice("cuda_sync", "Stream Sync", 0, 7, trace.now + 1, 28, cuda_sync_kind="Stream Sync", stream=7, correlation=trace.last, device=0, context=1)
        trace.now += 40
        trace.slice("user_annotation", f"step#{step}", 4000, 4000, begin - 2, trace.now - begin, note='quoted "text", é')
        trace.now += 5
    trace.add("i", name="Record Window End", pid="", tid="", ts=trace.at(trace.now), s="g")
    return trace


FILES = {
    "fine.json.gz": lambda: {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Paper GPU"}], "traceEvents": training().events, "traceName": "fine.json"},
    "whole.json": lambda: {"traceEvents": training(fine=False, steps=5).events},
    "list.json": lambda: training(fine=False, steps=3).events,
    "shuffled.json.gz": lambda: {"traceEvents": shuffled(training(steps=6).events)},
}


def shuffled(events):
    """In another order, but for the first one with a time, from which times count."""
    n = next(i for i, event in enumerate(events) if event["ph"] == "X") + 1
    rest = events[n:]
    random.Random(3).shuffle(rest)
    return events[:n] + rest


def make(folder):
    """Writes all files into FOLDER; their paths."""
    paths = [os.path.join(folder, name) for name in FILES]
    for path, trace in zip(paths, FILES.values()):
        with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
            json.dump(trace(), file)
    return paths


if __name__ == "__main__":
    make(sys.argv[1])
