# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""torch_programs.py PROGRAM N: programs of PyTorch that record what users run. Each has N ranges, replays or tensors."""

import os
import sys
import tempfile

import torch

nvtx = torch.cuda.nvtx.range


def graph(n):
    """A graph of torch.cuda.graph, replayed N times."""
    x = torch.randn(1 << 16, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            (x * 2 + 1).sin()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        (x * 2 + 1).sin()
    for _ in range(n):
        captured.replay()
    torch.cuda.synchronize()


def compiled(n):
    """A function of torch.compile, which Triton makes a kernel of. The first call compiles and does not count."""
    function = torch.compile(lambda x: torch.sin(x) * 2 + x)
    x = torch.randn(1 << 16, device="cuda")
    function(x)
    torch.cuda.synchronize()
    for _ in range(n):
        with nvtx("compiled"):
            function(x)
    torch.cuda.synchronize()


def nccl(n):
    """N means over a group of one rank."""
    x = torch.ones(1 << 16, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        for _ in range(n):
            torch.distributed.all_reduce(x, op=torch.distributed.ReduceOp.AVG)
        torch.cuda.synchronize()
        torch.distributed.destroy_process_group()


class Numbers(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.full((256,), float(i))


def loader(n):
    """N batches from two workers that are forked after CUDA has begun."""
    total = torch.zeros(256, device="cuda")
    for batch in torch.utils.data.DataLoader(Numbers(n), batch_size=1, num_workers=2, multiprocessing_context="fork"):
        batch = batch.cuda()
        with nvtx("loader"):
            total += batch[0]
    torch.cuda.synchronize()
    assert total[0].item() == n * (n - 1) / 2


def libraries(n):
    """N convolutions by cuDNN and N products by cuBLAS."""
    convolution = torch.nn.Conv2d(16, 16, 3, padding=1).cuda()
    images, matrix = torch.randn(8, 16, 32, 32, device="cuda"), torch.randn(512, 512, device="cuda")
    with torch.no_grad():
        for _ in range(n):
            with nvtx("convolution"):
                convolution(images)
            with nvtx("product"):
                matrix @ matrix
    torch.cuda.synchronize()


def allocator(n):
    """N tensors of 2 MiB, one after the other."""
    for _ in range(n):
        tensor = torch.empty(2 << 20, dtype=torch.uint8, device="cuda")
        del tensor
    torch.cuda.synchronize()


PROGRAMS = {"graph": graph, "compiled": compiled, "nccl": nccl, "loader": loader, "libraries": libraries, "allocator": allocator}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](int(sys.argv[2]))
