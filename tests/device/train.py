# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""train.py train STEPS [kineto]: trains a small residual network in PyTorch for STEPS steps, after WARM steps that do not
count. Each step is an NVTX range `step` with `forward`, `backward` and `optimizer` inside, and one kernel of
torch.cuda._sleep. With `kineto`, PyTorch's profiler records the steps that count, and the number of its kernels is printed.
train.py times SECONDS [kineto]: does so for SECONDS, and prints what a step took, as windows() of launches.py does."""

import contextlib
import json
import os
import sys
import tempfile
import time

import torch

from launches import windows

WARM = 5


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False), torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(), torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def steps():
    """Trains; yields the nanoseconds of each step."""
    torch.manual_seed(0)
    nvtx = torch.cuda.nvtx.range
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, padding=1), *(Block(32) for _ in range(6)),
                                torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(32, 3, 32, 32, device="cuda")
    labels = torch.randint(10, (32,), device="cuda")
    while True:
        begin_ns = time.monotonic_ns()
        with nvtx("step"):
            torch.cuda._sleep(1000)
            with nvtx("forward"):
                loss = torch.nn.functional.cross_entropy(model(images), labels)
            with nvtx("backward"):
                loss.backward()
            with nvtx("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            torch.cuda.synchronize()
        yield time.monotonic_ns() - begin_ns


def kernels_of(profiler):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return sum(event.get("cat") == "kernel" for event in json.load(file)["traceEvents"])


def main(what, number, *how):
    step = steps()
    for _ in range(WARM):
        next(step)
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) if how == ("kineto",) \
        else contextlib.nullcontext()
    with profiler:
        if what == "train":
            for _ in range(int(number)):
                next(step)
        else:
            begin, samples, seconds = time.monotonic(), [], float(number)
            while (at := time.monotonic() - begin) < seconds:
                samples.append((at, next(step)))
            print(json.dumps(windows(samples, seconds)), flush=True)
            os._exit(0)  # what the profiler would then make of its records, in minutes, is of no use here
    if how:
        print(json.dumps({"kernels": kernels_of(profiler)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
