#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""make_exports.py FOLDER: writes the golden tests' own SQLite exports of nsys, as if programs had been recorded that
never ran. The same files every time; what the tests expect of them, they work out from the rows themselves.

Each file has the columns of one year (export_layout.py) and what one kind of recording has in it: see PROGRAMS."""

import os
import random
import sys

from export_layout import Export

VM = 1 << 48  # in the ids of processes and threads, what tells the machine
PAGEABLE, PINNED, DEVICE, ARRAY, MANAGED = range(5)
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 8
US, MS = 1000, 1000000
NO_ID = 4294967295

# (mangled, demangled, short) of functions that were written for this list; g++ and c++filt made the first two.
KERNELS = [
    ("_Z5saxpyifPKfPf", "saxpy(int, float, float const*, float*)", "saxpy"),
    ("_Z12stencil_stepPdPKdii", "stencil_step(double*, double const*, int, int)", "stencil_step"),
    ("_Z12no_argumentsv", "no_arguments()", "no_arguments"),
    ("plain_c_kernel", "plain_c_kernel", "plain_c_kernel"),
    ("_leading_underscore", "_leading_underscore", "_leading_underscore"),
    ("_ZN4lane6reduceILi128EEEvPfi", "void lane::reduce<128>(float*, int)", "reduce"),
    ("_ZN4lane6reduceILi256EEEvPfi", "void lane::reduce<256>(float*, int)", "reduce"),
    ("_ZN4lane6reduceILi512EEEvPfi", "void lane::reduce<512>(float*, int)", "reduce"),
    ("_ZN4lane4fillIfEEvPT_S1_i", "void lane::fill<float>(float*, float, int)", "fill"),
    ("_ZN4lane4fillIdEEvPT_S1_i", "void lane::fill<double>(double*, double, int)", "fill"),
    ("_ZN4lane4fillI7ComplexEEvPT_S2_i", "void lane::fill<Complex>(Complex*, Complex, int)", "fill"),
    ("_ZN4lane7scatterIiLb0EEEv4SpanIT_ES1_IKS2_E", "void lane::scatter<int, false>(Span<int>, Span<int const>)", "scatter"),
    ("_ZN4lane7scatterIiLb1EEEv4SpanIT_ES1_IKS2_E", "void lane::scatter<int, true>(Span<int>, Span<int const>)", "scatter"),
    ("_ZN4lane11gather_rowsEPKiPKfPfm", "lane::gather_rows(int const*, float const*, float*, unsigned long)", "gather_rows"),
    ("_ZN4lane12_GLOBAL__N_113hidden_kernelEPc", "lane::(anonymous namespace)::hidden_kernel(char*)", "hidden_kernel"),
    ("_ZL15internal_kernels", "internal_kernel(short)", "internal_kernel"),
    ("_ZN4lane2v216versioned_kernelEi", "lane::v2::versioned_kernel(int)", "versioned_kernel"),
    ("_ZN5outer6middle5inner13deeply_nestedEPVKiRiOi", "outer::middle::inner::deeply_nested(int const volatile*, int&, int&&)", "deeply_nested"),
    ("_ZN4lane6detail3mapIL6Layout0ENS0_6SquareEEEvT0_i",
     "void lane::detail::map<(Layout)0, lane::detail::Square>(lane::detail::Square, int)", "map"),
    ("_ZN4lane6detail3mapIL6Layout0ENS0_4ThenINS0_6SquareENS0_6NegateEEEEEvT0_i",
     "void lane::detail::map<(Layout)0, lane::detail::Then<lane::detail::Square, lane::detail::Negate> >"
     "(lane::detail::Then<lane::detail::Square, lane::detail::Negate>, int)", "map"),
    ("_ZN4lane9transposeIfLm32EEEvPAT0__T_PS1_", "void lane::transpose<float, 32ul>(float (*) [32ul], float*)", "transpose"),
    ("_ZN4lane5applyIXadL_ZNS_3oneEPiEEEEvS1_", "void lane::apply<&lane::one>(int*)", "apply"),
    ("_ZN4lane8for_eachIZNS_11with_lambdaEvEUliE_EEvT_i",
     "void lane::for_each<lane::with_lambda()::{lambda(int)#1}>(lane::with_lambda()::{lambda(int)#1}, int)", "for_each"),
    ("_ZN4lane9constantsILin3ELj7ELln9ELc120EEEvPi", "void lane::constants<-3, 7u, -9l, (char)120>(int*)", "constants"),
    ("_ZN4lane9print_allIJifcEEEvDpT_", "void lane::print_all<int, float, char>(int, float, char)", "print_all"),
    ("_ZN4lane11of_templateI4SpandEEvT_IT0_E", "void lane::of_template<Span, double>(Span<double>)", "of_template"),
    ("_Z14takes_functionPFifdEM7ComplexFviE", "takes_function(int (*)(float, double), void (Complex::*)(int))", "takes_function"),
]


class Process:
    """A process with one CUDA context on one GPU."""

    def __init__(self, export, pid, name, device=0, gpu=0):
        self.export, self.pid, self.device, self.context, self.gpu = export, pid, device, device + 1, gpu
        self.global_pid = VM | pid << 24
        self.last_correlation, self.last_grid, self.busy_until = 100 * device, 0, {}
        export.add("PROCESSES", globalPid=self.global_pid, pid=pid, name=name)

    def describe(self, streams=(7,)):
        """Adds what the file says of the process's GPU, context and streams."""
        self.export.add("TARGET_INFO_CUDA_DEVICE", gpuId=self.gpu, cudaId=self.device, pid=self.pid, numMultiprocessors=40)
        self.export.add("TARGET_INFO_CUDA_CONTEXT_INFO", nullStreamId=7, hwId=0, vmId=1, processId=self.pid, deviceId=self.device,
                        contextId=self.context, parentContextId=0, isGreenContext=0, numMultiprocessors=40)
        for number in streams:
            self.export.add("TARGET_INFO_CUDA_STREAM", streamId=number, hwId=0, vmId=1, processId=self.pid, contextId=self.context,
                            priority=0 if number == 7 else -1, flag=3 if number == 7 else 1)

    def on_gpu(self, table, begins, lasts, correlation, stream, **values):
        """Adds an operation that begins as soon as its stream has ended the one before it; the end."""
        start = max(begins, self.busy_until.get(stream, 0))
        self.export.add("CUPTI_ACTIVITY_KIND_" + table, start=start, end=start + lasts, deviceId=self.device, contextId=self.context, greenContextId=0,
                        streamId=stream, correlationId=correlation, globalPid=self.global_pid, **values)
        self.busy_until[stream] = start + lasts
        return start + lasts


class Thread:
    """A thread, whose clock goes on with each thing it does."""

    def __init__(self, process, tid, name, now):
        self.process, self.export, self.now, self.open = process, process.export, now, []
        self.global_tid = process.global_pid | tid
        self.export.add("ThreadNames", nameId=self.export.string(name), priority=20, globalTid=self.global_tid)

    # Ranges ------------------------------------------------------------------------------------------------------

    def nvtx(self, text, kind, start, end=None, is_registered=False, **values):
        words = {"textId": self.export.string(text)} if is_registered else {"text": text}
        self.export.add("NVTX_EVENTS", start=start, end=end, eventType=kind, globalTid=self.global_tid, **{"domainId": 0, **words, **values})

    def push(self, text, **values):
        self.open.append((text, self.now, values))
        self.now += 150

    def pop(self):
        text, start, values = self.open.pop()
        self.nvtx(text, 59, start, self.now, **values)
        self.now += 50

    # CUDA --------------------------------------------------------------------------------------------------------

    def call(self, name, lasts, result=0):
        """A call of the CUDA runtime or driver; (its start, its correlation)."""
        start, process = self.now, self.process
        process.last_correlation += 1
        self.export.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=start + lasts, eventClass=1 if name.startswith("cu") and name[2].isupper() else 0,
                        globalTid=self.global_tid, correlationId=process.last_correlation, nameId=self.export.string(name), returnValue=result)
        self.now += lasts + 400
        return start, process.last_correlation

    def launch(self, kernel, lasts, stream=7, grid=(1, 1, 1), block=(128, 1, 1), call="cudaLaunchKernel_v7000", **values):
        mangled, demangled, short = KERNELS[kernel]
        start, correlation = self.call(call, 4 * US + kernel)
        self.process.last_grid += 1
        return self.process.on_gpu(
            "KERNEL", start + 6 * US, lasts, correlation, stream, demangledName=self.export.string(demangled), shortName=self.export.string(short),
            mangledName=self.export.string(mangled), launchType=1, cacheConfig=1, registersPerThread=16 + kernel, gridX=grid[0], gridY=grid[1],
            gridZ=grid[2], blockX=block[0], blockY=block[1], blockZ=block[2], staticSharedMemory=1024 * (kernel % 3), dynamicSharedMemory=256 * (kernel % 2),
            localMemoryPerThread=0, localMemoryTotal=1 << 20, gridId=self.process.last_grid, sharedMemoryExecuted=8192, sharedMemoryLimitConfig=0,
            qmdLastCtaDone=None, clusterX=0, clusterY=0, clusterZ=0, clusterSchedulingPolicy=0, maxPotentialClusterSize=0, maxActiveClusters=0,
            tensorSizeMinusOneElements="[]", **values)

    def copy(self, kind, size, source, target, stream=7, call="cudaMemcpyAsync_v3020"):
        start, correlation = self.call(call, 3 * US)
        end = self.process.on_gpu("MEMCPY", start + 2 * US, 1500 + size // 12, correlation, stream, bytes=size, copyKind=kind, srcKind=source,
                                  dstKind=target, copyCount=1)
        if "Async" not in call:
            self.now = max(self.now, end + 500)
        return end

    def set_memory(self, size, kind=DEVICE, stream=7, call="cudaMemsetAsync_v3020"):
        start, correlation = self.call(call, 2 * US)
        return self.process.on_gpu("MEMSET", start + 2 * US, 900 + size // 400, correlation, stream, value=0, bytes=size, memKind=kind)

    def wait(self, name="cudaStreamSynchronize_v3020", stream=7):
        """Waits until STREAM, or the whole GPU where the call names none, has nothing left to do."""
        process = self.process
        whole = "Device" in name or "Ctx" in name
        until = max([self.now + US, *(process.busy_until.values() if whole else [process.busy_until.get(stream, 0)])])
        start, correlation = self.call(name, until + 700 - self.now)
        self.export.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=start + 200, end=until + 200, deviceId=process.device, contextId=process.context,
                        streamId=NO_ID if whole else stream, correlationId=correlation, globalPid=process.global_pid, syncType=4 if whole else 3,
                        eventId=NO_ID, eventSyncId=NO_ID)

    def overhead(self, name, lasts, kind=1):
        self.export.add("PROFILER_OVERHEAD", start=self.now, end=self.now + lasts, globalTid=self.global_tid, nameId=self.export.string(name),
                        returnValue=0, overheadType=kind)
        self.now += lasts

    # The system --------------------------------------------------------------------------------------------------

    def os_call(self, name, lasts, chain=0, nesting=0):
        self.export.add("OSRT_API", start=self.now, end=self.now + lasts, eventClass=27, globalTid=self.global_tid, nameId=self.export.string(name),
                        returnValue=0, nestingLevel=nesting, callchainId=chain)
        self.now += lasts + 300


def chain(export, table, number, symbols, **values):
    """A call chain, the innermost function first."""
    for depth, symbol in enumerate(symbols):
        export.add(table, id=number, symbol=export.string(symbol), module=export.string("/opt/demo/libdemo.so"), originalIP=0x400000 + 16 * depth,
                   stackDepth=depth, **values)


def machine(export, gpus):
    """What a file says of the machine and of the recording."""
    for number in range(gpus):
        export.add("TARGET_INFO_GPU", vmId=VM, deviceId=number, id=number, name=f"Paper GPU {number}", busLocation=f"0000:0{number + 1}:00.0", isDiscrete=1,
                   l2CacheSize=4 << 20, totalMemory=(8 + number) << 30, memoryBandwidth=448000000000, clockRate=1500000000, smCount=40,
                   uuid=f"a0000000-0000-4000-8000-00000000000{number}", chipName="P100", cuDevice=number, threadsPerWarp=32, computeMajor=7, computeMinor=5,
                   smMajor=7, smMinor=5)
    export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1700000000000000000 + export.year, utcTime="2023-11-14T22:13:20",
               localTime="2023-11-14T23:13:20", systemClockNs=10 ** 12)
    if export.year > 2021:
        export.add("META_DATA_EXPORT", name="EXPORT_PRODUCT_NAME", value="made by tests/golden/make_exports.py")
        export.add("META_DATA_CAPTURE", name="COMMAND", value="demo --steps 3")


# --- The programs ------------------------------------------------------------------------------------------------

def tiny(random):
    """Two kernels and a copy: small enough to say what each column of each row must be."""
    export = Export(2025)
    machine(export, 1)
    process = Process(export, 4100, "saxpy-demo")
    process.describe()
    main = Thread(process, 4100, "saxpy-demo", 10 * MS)
    Thread(process, 4101, "cuda-EvtHandlr", 10 * MS)
    main.call("cudaMalloc_v3020", 80 * US)
    main.overhead("Module loading", 40 * US, 4)
    main.launch(0, 1440, grid=(2, 1, 1), block=(128, 1, 1), graphId=0)
    main.launch(1, 2690, grid=(1, 3, 1), block=(16, 8, 1), graphId=0)
    main.copy(TO_HOST, 4000, DEVICE, PINNED)
    main.wait()
    export.add("CUPTI_ACTIVITY_KIND_OVERHEAD", start=main.now, end=main.now + 8 * US, eventClass=103, globalTid=main.global_tid, correlationId=104,
               nameId=export.string("Activity buffer request"), overheadType=6)
    main.now += 10 * US
    main.call("cudaFree_v3020", 30 * US, result=1)
    export.add("DIAGNOSTIC_EVENT", timestamp=MS, timestampType=1, source=1, severity=1, text="The demo was made up.", globalPid=process.global_pid)
    return export


def loop(random):
    """A loop of copies, kernels and waits, without ranges: gaps, pageable memory, system calls with stacks, overhead, warnings."""
    export = Export(2024)
    machine(export, 1)
    process = Process(export, 5200, "loop")
    process.describe((7, 13, 14))
    main, helper = Thread(process, 5200, "loop", 2 * MS), Thread(process, 5201, "loader", 2 * MS)
    for number in range(6):
        chain(export, "OSRT_CALLCHAINS", number + 1, ["poll", f"wait_for_{number}", "run", "main"], unwindMethod=7)
    main.call("cudaMalloc_v3020", 90 * US)
    for step in range(60):
        main.copy(TO_DEVICE, 4096 * (1 + step % 40), PAGEABLE if step % 3 else PINNED, DEVICE)
        main.copy(TO_DEVICE, 32768 << step % 4, PAGEABLE, DEVICE, call="cudaMemcpy_v3020")
        for part in range(6):
            kernel = (step + 4 * part) % 13
            main.launch(kernel, 5 * US + random.randrange(60 * US), stream=(7, 13)[part % 2], grid=(8 * (part // 3 + 1), 1, 1),
                        block=(64, 1, 1), call="cuLaunchKernel" if part == 5 else "cudaLaunchKernel_v7000")
        main.wait(*[("cudaStreamSynchronize_v3020", 13), ("cudaDeviceSynchronize_v3020",), ("cuStreamSynchronize", 7)][step % 3])
        main.copy(TO_HOST, 8000 + step, DEVICE, PAGEABLE if step % 2 else PINNED, call="cudaMemcpy_v3020" if step % 2 else "cudaMemcpyAsync_v3020")
        main.copy(ON_DEVICE, 1 << 16, DEVICE, DEVICE, stream=14)
        main.wait("cudaDeviceSynchronize_v3020")
        if step % 9 == 4:
            main.overhead("Buffer flush", (1 + step // 9) * 300 * US)
        main.os_call("usleep", (3 if step % 5 else 8) * MS, chain=1 + step % 6)
        if step % 25 == 20:
            main.os_call("poll", 610 * MS, chain=2)
        helper.os_call(f"helper_call_{step % 7}", 20 * US + 7 * step, nesting=step % 2)
        helper.now = main.now
    for event in (1, 2):
        _, correlation = main.call("cudaEventRecord_v3020", 2 * US)
        export.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", deviceId=0, contextId=1, greenContextId=0, streamId=7, correlationId=correlation,
                   globalPid=process.global_pid, eventId=event)
    for severity, text in ((1, "Everything is invented."), (2, "The loop was slow."), (3, "The loop lost its way."), (2, "The loop was slow.")):
        export.add("DIAGNOSTIC_EVENT", timestamp=0, timestampType=1, source=1, severity=severity, text=text, globalPid=process.global_pid)
    return export


def pair(random):
    """Two processes with a GPU each, two threads each, ranges of two domains around most of what they do; schemas of payloads."""
    export = Export(2026)
    machine(export, 2)
    for number in range(2):
        process = Process(export, 6300 + number, "trainer", device=number, gpu=number)
        process.describe((7, 15, 22))
        main, other = Thread(process, 6300 + number, "trainer", 5 * MS + number * 333), Thread(process, 6350 + number, "autograd", 5 * MS)
        main.nvtx("comm", 75, MS, domainId=1)
        export.add("NVTX_PAYLOAD_SCHEMAS", domainId=1, schemaId=16777216 + number, name=f"reduction {number}", type=1, flags=0, numEntries=1, payloadSize=8)
        export.add("NVTX_PAYLOAD_SCHEMA_ENTRIES", domainId=1, schemaId=16777216 + number, idx=0, flags=0, type=17, name="bytes", offset=0)
        for step in range(14):
            main.push(f"step {step}")
            main.push("load / augment")
            main.copy(TO_DEVICE, 100000 + step, PINNED, DEVICE, stream=15)
            main.pop()
            for phase in ("forward", "backward"):
                thread = main if phase == "forward" else other
                thread.now = max(thread.now, main.now)
                thread.push(phase, is_registered=phase == "backward")
                for layer in range(5):
                    thread.push(f"layer {layer}", color=0xff000000 | layer << 8, category=layer % 2)
                    for kernel in (5, 6, 8, 9, 11, 13 + layer):
                        thread.launch(kernel, 2 * US + random.randrange(30 * US), stream=(7, 22)[layer % 2], grid=(32, 1 + layer % 2, 1), block=(256, 1, 1))
                    thread.pop()
                thread.set_memory(1024 * (step + 1), MANAGED if step % 3 == 0 else DEVICE)
                thread.pop()
                main.now = max(main.now, thread.now)
            main.push("all_reduce", domainId=1)
            main.launch(7, 40 * US, stream=22, grid=(4, 1, 1), block=(512, 1, 1), call="cudaLaunchKernelExC_v11060")
            main.wait(stream=22)
            main.pop()
            main.push("optimizer")
            main.launch(10, 9 * US)
            main.wait("cudaDeviceSynchronize_v3020")
            main.pop()
            main.pop()
            main.launch(2, 3 * US)  # within no range
            export.add("CUPTI_ACTIVITY_KIND_OVERHEAD", start=main.now, end=main.now + 12 * US, eventClass=103, globalTid=main.global_tid,
                       correlationId=process.last_correlation, nameId=export.string("Buffer switch"), overheadType=8)
            main.now += 20 * US + (2 * MS if step % 5 == 4 else 0)
    return export


def graphs(random):
    """Executions of graphs, as a whole; memory of the program, page faults of unified memory."""
    export = Export(2025)
    machine(export, 1)
    process = Process(export, 7400, "graphs")
    process.describe((7, 18))
    main = Thread(process, 7400, "graphs", 4 * MS)
    for event, name in ((93, "cudaStreamBeginCapture_v10000"), (94, "cudaGraphInstantiate_v12000")):
        main.call(name, 10 * US)
        export.add("CUDA_GRAPH_EVENTS", start=main.now, end=main.now, eventClass=event, globalTid=main.global_tid, nameId=export.string("graph " + name),
                   graphId=1, graphExecId=2 if event == 94 else None)
    for node in range(3):
        export.add("CUDA_GRAPH_NODE_EVENTS", start=main.now + node, end=main.now + node, eventClass=91, globalTid=main.global_tid,
                   nameId=export.string("node"), graphNodeId=10 + node, originalGraphNodeId=None if node == 0 else 9 + node)
    for step in range(12):
        main.push(f"replay {step % 4}")
        start, correlation = main.call("cudaGraphLaunch_v10000", 9 * US)
        process.on_gpu("GRAPH_TRACE", start + 12 * US, 200 * US + random.randrange(90 * US), correlation, 18, graphId=1, graphExecId=2)
        main.launch(12, 10 * US, graphNodeId=None)
        main.pop()
        main.wait(stream=18)
        export.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=main.now, globalPid=process.global_pid, deviceId=0, contextId=1, address=0x7f0000000000 + 4096 * step,
                   pc=0, bytes=4096 + step, memKind=2 + step % 2, memoryOperationType=step % 2, correlationId=correlation, streamId=7)
        export.add("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=main.now + 1, globalPid=process.global_pid, address=0x200000 + 4096 * step,
                   CpuInstruction=export.string(f"touch_{step % 3}"), module=export.string("demo"), unresolvedFaultPc=0)
        export.add("CUDA_UM_GPU_PAGE_FAULT_EVENTS", start=main.now + 2, end=main.now + 900 + step, globalPid=process.global_pid, deviceId=0,
                   address=0x400000 + 4096 * step, numberOfPageFaults=1 + step % 4, faultAccessType=step % 3)
    return export


def system(random):
    """MPI, samples of stacks, times on CPUs, system calls, metrics of the GPU, stacks of CUDA calls; one process whose GPU work is missing."""
    export = Export(2023)
    machine(export, 1)
    worker, lone = Process(export, 8500, "rank0"), Process(export, 8600, "lone")
    for number in range(3, 30):
        Process(export, number, f"kworker/{number}")
    worker.describe()
    main = Thread(worker, 8500, "rank0", 3 * MS)
    stranger = Thread(lone, 8600, "lone", 3 * MS)
    export.add("MPI_RANKS", globalTid=main.global_tid, rank=3)
    for number in range(40):
        chain(export, "OSRT_CALLCHAINS", 100 + number, ["read", f"read_block_{number}", *["descend"] * (number % 5), "main"])
        chain(export, "SAMPLING_CALLCHAINS", 1 + number, [f"hot_{number % 6}", "compute", *["descend"] * (number % 4), "main"], unwindMethod=7)
    for number in range(4):
        chain(export, "CUDA_CALLCHAINS", 1 + number, ["cudaLaunchKernel", f"launch_{number}", "main"])
    cpu, texts = 2, {name: export.string(name) for name in ("MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Wait", "MPI_Init")}
    common = {"globalTid": main.global_tid}
    export.add("MPI_OTHER_EVENTS", start=MS, end=2 * MS, textId=texts["MPI_Init"], **common)
    for step in range(40):
        export.add("SCHED_EVENTS", start=main.now, cpu=cpu, isSchedIn=1, threadState=0, **common)
        export.add("COMPOSITE_EVENTS", id=1 + step, start=main.now + 100, cpu=cpu, threadState=1, cpuCycles=1000 + step, **common)
        main.os_call("read", 20 * US + step * step, chain=100 + step)
        export.add("MPI_P2P_EVENTS", start=main.now, end=main.now + 5 * US + 13 * step * step % 997, textId=texts["MPI_Send" if step % 3 else "MPI_Recv"],
                   commHandle=1, tag=step, remoteRank=step % 4, size=8 * step, **common)
        main.now += 10 * US
        if step % 4 == 0:
            export.add("MPI_COLLECTIVES_EVENTS", start=main.now, end=main.now + 9 * US - step, textId=texts["MPI_Bcast"], commHandle=1, rootRank=0,
                       size=64 * step, recvSize=128 * step, **common)
            main.now += 10 * US
            start, correlation = main.call("cudaLaunchKernel_v7000", 4 * US)
            worker.on_gpu("KERNEL", start + 6 * US, 30 * US + step, correlation, 7, demangledName=export.string(KERNELS[0][1]),
                          shortName=export.string(KERNELS[0][2]), mangledName=export.string(KERNELS[0][0]), registersPerThread=32, gridX=1, gridY=1, gridZ=1,
                          blockX=32, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0, localMemoryPerThread=0, localMemoryTotal=0, gridId=step)
            if step < 16:  # once more, with the stack
                export.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=start + 4 * US, eventClass=67, correlationId=correlation,
                           nameId=export.string("cudaLaunchKernel_v7000"), returnValue=0, callchainId=1 + step // 4, **common)
        export.add("SCHED_EVENTS", start=main.now, cpu=cpu, isSchedIn=0, threadState=0, **common)
        main.now, cpu = main.now + 30 * US, (cpu + step) % 8
        stranger.call("cuLaunchKernel", 5 * US)
    export.add("MPI_START_WAIT_EVENTS", start=main.now, end=main.now + 777, textId=texts["MPI_Wait"], requestHandle=7, **common)
    for name, table in (("gemm", "CUBLAS_EVENTS"), ("convolve", "CUDNN_EVENTS")):
        for number in range(4):
            export.add(table, start=main.now + 100 * number, end=main.now + 100 * number + 60, eventClass=29 if table == "CUBLAS_EVENTS" else 28,
                       nameId=export.string(f"{name}_{number % 2}"), **common)
    for number in range(2):
        export.add("TARGET_INFO_GPU_METRICS", typeId=VM | 0xff00, sourceId=1, typeName="Paper GPU", metricId=number, metricName=f"Unit {number} Active")
    for number in range(50):
        export.add("GPU_METRICS", rawTimestamp=10 ** 6 + number, timestamp=MS + 10 * US * (number // 2), typeId=VM | 0xff00, metricId=number % 2, value=number % 101)
    for number in range(9):
        export.add("SITE_NOTES", written=number, note=f"note {number}" if number % 2 else None, weight=number / 3)
    export.add("ProcessStreams", globalPid=worker.global_pid, filenameId=export.string("stdout"), contentId=export.string("hello\n"))
    export.add("DIAGNOSTIC_EVENT", timestamp=5, timestampType=1, source=1, severity=2, text="Ranks are few.", globalPid=worker.global_pid)
    export.add("DIAGNOSTIC_EVENT", timestamp=6, timestampType=1, source=1, severity=3, text="Ranks are lost.", globalPid=None)
    return export


def ranges(random):
    """Ranges alone: deep ones, ones that cross, ones without an end; marks, categories, domains, payloads."""
    export = Export(2022)
    process = Process(export, 9600, "ranges")
    threads = [Thread(process, 9600 + number, f"ranges {number}", MS + number) for number in range(3)]
    for domain in (1, 2):
        threads[0].nvtx(f"domain {domain}", 75, domain, domainId=domain)
    threads[0].nvtx("group A", 33, 1, category=1, domainId=1)  # a report keeps no time of its own for a category
    for thread in threads:
        for step in range(120):
            thread.push(f"range {random.randrange(30)}", domainId=step % 3, is_registered=step % 4 == 0,
                        **{("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue")[step % 6]: step / 2 if step % 3 == 2 else step})
            thread.now += random.randrange(5 * US)
            while len(thread.open) > random.randrange(1, 12):
                thread.pop()
        while thread.open:
            thread.pop()
        thread.nvtx("never ends", 59, thread.now)
    for number in range(60):
        start = MS + 50 * number
        threads[number % 3].nvtx(f"request {number % 8}", 60, start, start + 2 * US + random.randrange(9 * US), rangeId=number + 1,
                                 endGlobalTid=threads[(number + number // 20) % 3].global_tid, domainId=number % 3)
        threads[number % 3].nvtx(f"mark {number % 5}", 34, start + 7, color=number, category=1, domainId=1, jsonText='{"n": %d}' % number)
    return export


def old(random):
    """A file of 2020: no mangled names, GPUs numbered in a column called deviceId, domains that end, starts below 0."""
    export = Export(2020)
    machine(export, 2)
    process = Process(export, 3100, "old", device=1)
    main = Thread(process, 3100, "old", -2 * MS)
    main.nvtx("solver", 75, -3 * MS, domainId=1)
    for step in range(25):
        main.push("solve", domainId=step % 2, is_registered=True)
        main.copy(TO_DEVICE, 1 << 18, PAGEABLE, DEVICE, call="cudaMemcpyAsync_v3020")
        main.push(f"sweep {step % 3}")
        for kernel in (1, 5, 6):
            main.launch(kernel, 8 * US + random.randrange(9 * US), grid=(16, 16, 1), block=(16, 16, 1))
        main.pop()
        main.wait("cudaThreadSynchronize_v3020")
        main.pop()
    for number in range(2):
        _, correlation = main.call("cudaEventRecord_v3020", 2 * US)
        export.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", deviceId=1, contextId=2, streamId=7, correlationId=correlation, globalPid=process.global_pid, eventId=number)
    main.overhead("CUPTI setup", 50 * US)
    main.export.add("NVTX_EVENTS", start=main.now, eventType=76, globalTid=main.global_tid, domainId=1)
    return export


PROGRAMS = [graphs, loop, old, pair, ranges, system, tiny]


def make(folder):
    """Writes all files into FOLDER."""
    for program in PROGRAMS:
        program(random.Random(program.__name__)).write(os.path.join(folder, program.__name__ + ".sqlite"))


if __name__ == "__main__":
    make(sys.argv[1])
