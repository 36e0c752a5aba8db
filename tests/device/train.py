# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""train.py STEPS [kineto]: trains a small residual network in PyTorch for STEPS steps, after WARM steps that do not
count. Each step is an NVTX range `step` with `forward`, `backward` and `optimizer` inside, and one kernel of
torch.cuda._sleep in each of these. Prints the median time of a step in nanoseconds."""

import contextlib
import statistics
import sys
import time

import torch

WARM = 5
RANGES = ("forward", "backward", "optimizer")


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False), torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(), torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def main(steps, is_kineto):
    torch.manual_seed(0)
    nvtx = torch.cuda.nvtx.range
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, padding=1), *(Block(32) for _ in range(6)),
                                torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(32, 3, 32, 32, device="cuda")
    labels = torch.randint(10, (32,), device="cuda")
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) if is_kineto \
        else contextlib.nullcontext()
    took_ns = []
    with profiler:
        for _ in range(WARM + steps):
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
            took_ns.append(time.monotonic_ns() - begin_ns)
    print(f"{statistics.median(took_ns[WARM:]):.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] == ["kineto"])
