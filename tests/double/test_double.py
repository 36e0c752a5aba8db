# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What the double records is what the programs did: counts, shapes and bytes from their sources."""

import bare
import tap


def durations(records):
    return [r["end"] - r["start"] for r in records]


def test_vector_add():
    # cuda-vectoradd.cu: N = 4096 floats, REPEATS = 100 launches of N / 256 blocks.
    n, repeats = 4096, 100
    done = bare.run("cuda-vectoradd")
    kernels = done.records(bare.KERNEL)
    assert len(kernels) == repeats
    for kernel in kernels:
        assert kernel["name"] == "_Z3addPKfS0_Pfi"
        assert (kernel["gridX"], kernel["gridY"], kernel["gridZ"]) == (n // 256, 1, 1)
        assert (kernel["blockX"], kernel["blockY"], kernel["blockZ"]) == (256, 1, 1)
        assert kernel["registersPerThread"] == 16 + len(kernel["name"]) % 64
    assert set(durations(kernels)) == {bare.kernel_ns(n // 256, 256)}
    starts = [k["start"] for k in kernels]
    assert all(a["end"] <= b["start"] for a, b in zip(kernels, kernels[1:])), "one stream is in order"
    assert starts == sorted(starts)
    copies = done.records(bare.MEMCPY)
    assert [(c["copyKind"], c["bytes"], c["srcKind"], c["dstKind"]) for c in copies] \
        == [(1, 4 * n, 1, 3), (1, 4 * n, 1, 3), (2, 4 * n, 3, 1)]
    assert set(durations(copies)) == {bare.copy_ns(4 * n, "pageable")}


def test_every_operation_has_its_call():
    done = bare.run("cuda-vectoradd")
    calls = {call["correlationId"]: call for call in done.records(bare.RUNTIME)}
    assert len(calls) == len(done.records(bare.RUNTIME)), "ids are unique"
    for kernel in done.records(bare.KERNEL):
        call = calls[kernel["correlationId"]]
        assert call["cbid"] == 505, "__cudaLaunchKernel_v13000"
        assert call["start"] <= kernel["queued"] <= call["end"] and kernel["start"] >= kernel["queued"]
    assert {calls[c["correlationId"]]["cbid"] for c in done.records(bare.MEMCPY)} == {31}, "cudaMemcpy"
    launches = done.callbacks(2, 505)
    assert len(launches) == 200 and {c["symbol"] for c in launches} == {"_Z3addPKfS0_Pfi"}
    for call in done.callbacks(2, exit=1):
        assert call["tag"] == 1000000 + call["correlationId"] and call["result"] == 0


tap.main(globals())
