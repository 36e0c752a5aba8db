# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Checks of programs that use PyTorch. On the double, stand-in.cu plays them. A check's first line says what must hold."""

import json

from checks import MIB, expect_real
from expect import expect_alike, expect_complete, expect_links, expect_whole

STEPS, WARM = 20, 5
N = 20


def kineto_inside(machine):
    """torch.profiler inside a recorded program: both have its kernels, or the report says in a sentence what is missing"""
    command, env = machine.pytorch("train.py", "train", str(STEPS), "kineto")
    report, out = machine.record(command, env=env)
    machine.measured(kernels=report.count("KERNEL"), kineto_kernels=json.loads(out.splitlines()[-1])["kernels"])
    missing = report.told(r"LNS-CUDA-\d+ (?:warning|error)")
    if missing:
        machine.measured(told=missing[0])
        expect_links(machine, report)
    else:
        expect_steps(machine, report)
    assert machine.figures["kineto_kernels"] > 0, "PyTorch's profiler has no kernel"


def training(machine):
    """25 steps of training: their NVTX ranges, and the same number of kernels in each step"""
    command, env = machine.pytorch("train.py", "train", str(STEPS))
    report, _ = machine.record(command, env=env)
    expect_steps(machine, report)


def cuda_graph(machine):
    """torch.cuda.graph replayed 20 times: 20 graphs; by node, the same number of kernels in each"""
    command, env = machine.pytorch("torch_programs.py", "graph", str(N))
    report, _ = machine.record(command, env=env)
    expect_whole(machine, report)
    assert report.count("GRAPH_TRACE") == N, f"{report.count('GRAPH_TRACE')} graphs, not {N}"
    report, _ = machine.record(command, "--cuda-graph-trace=node", env=env)
    expect_whole(machine, report)
    nodes = report.count("KERNEL", "WHERE coalesce(graphNodeId, 0) != 0")
    machine.measured(kernels_of_nodes=nodes)
    assert nodes > 0 and nodes % N == 0, f"{nodes} kernels of {N} replays"


def compiled(machine):
    """torch.compile: 20 calls with the same number of Triton's kernels in each"""
    report = record(machine, "compiled")
    expect_whole(machine, report)
    machine.measured(kernels_per_call=expect_alike(report, "compiled", N, pattern="triton"))


def nccl(machine):
    """NCCL on one rank: 20 of its NVTX ranges, and of NCCL 2.28 and later what its profiler plug-in is told"""
    report = record(machine, "nccl")
    expect_complete(report)
    ranges = report.sql("SELECT count(*) AS n FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId"
                        " WHERE e.eventType = 59 AND coalesce(e.text, s.value) LIKE '%nccl%AllReduce%'")[0]["n"]
    machine.measured(ranges=ranges, kernels=report.count("KERNEL"))
    if not machine.is_double:
        assert ranges == N, f"{ranges} ranges of ncclAllReduce, not {N}"
    expect_links(machine, report)
    command, env = machine.pytorch("torch_programs.py", "nccl", str(N))
    report, _ = machine.record(command, "--nccl-trace=all", env=env)
    told = report.sql("SELECT coalesce(e.text, s.value) AS name, count(*) AS n FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId"
                      " WHERE e.eventType = 60 GROUP BY name")
    machine.measured(nccl_trace={row["name"]: row["n"] for row in told})
    assert all(row["n"] % N == 0 for row in told if row["name"].startswith("AllReduce")), told


def loader(machine):
    """A DataLoader whose workers are forked after CUDA began: 20 batches, each with the same number of kernels"""
    report = record(machine, "loader")
    expect_whole(machine, report)
    machine.measured(kernels_per_batch=expect_alike(report, "loader", N), processes=report.fact("processes"))


def libraries(machine):
    """cuDNN and cuBLAS in PyTorch: calls of both, each within the NVTX range of its operation"""
    expect_real(machine, "cuBLAS and cuDNN do not run on the double")
    report = record(machine, "libraries", trace="cuda,nvtx,cublas,cudnn")
    expect_whole(machine, report)
    for library, name in (("CUBLAS", "product"), ("CUDNN", "convolution")):
        inside = report.sql(f"SELECT count(DISTINCT n.start) AS n FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS s ON s.id = n.textId"
                            f" JOIN {library}_EVENTS AS c ON c.start >= n.start AND c.end <= n.end"
                            f" WHERE n.eventType = 59 AND coalesce(n.text, s.value) = '{name}'")[0]["n"]
        machine.measured(**{f"{library.lower()}_ranges": inside})
        assert inside == N, f"{inside} of {N} ranges `{name}` have a call of {library}"


def allocator(machine):
    """PyTorch's allocator on pools (cudaMallocAsync): 20 tensors of 2 MiB, allocated and freed"""
    command, env = machine.pytorch("torch_programs.py", "allocator", str(N))
    report, _ = machine.record(command, "--cuda-memory-usage=true",
                               env={**env, "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
    expect_complete(report)
    found = {row["what"]: row["n"] for row in report.sql(
        "SELECT memoryOperationType AS what, count(*) AS n FROM CUDA_GPU_MEMORY_USAGE_EVENTS"
        f" WHERE localMemoryPoolAddress > 0 AND bytes = {2 * MIB} GROUP BY memoryOperationType")}
    machine.measured(allocated=found.get(0, 0), freed=found.get(1, 0))
    assert found == {0: N, 1: N}, found


def record(machine, program, trace="cuda,nvtx"):
    command, env = machine.pytorch("torch_programs.py", program, str(N))
    return machine.record(command, env=env, trace=trace)[0]


def expect_steps(machine, report):
    expect_whole(machine, report)
    sleeps = sum(n for name, n in report.names().items() if "spin_kernel" in name)
    assert sleeps == STEPS + WARM, f"{sleeps} kernels of torch.cuda._sleep, not one in each of {STEPS + WARM} steps"
    for name in ("step", "forward", "backward", "optimizer"):
        machine.measured(**{f"kernels_per_{name}": expect_alike(report, name, STEPS + WARM, WARM)})
