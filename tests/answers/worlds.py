# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Makes reports of programs that never ran, each slow for one cause that was planted; with decoys; healthy; or recorded in part.
What happens follows from a small world: threads with clocks, a GPU that does what was queued, in order. Names, sizes and times
are drawn at random.

World.write() makes an export of nsys; World.wanted is what the first sentence must say."""

import os
import random
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "golden"))
import export_layout  # noqa: E402
import make_exports  # noqa: E402

US, MS = 1000, 1000000
PAGEABLE, PINNED, DEVICE = 0, 1, 2

# Reports of our own tell who woke a thread.
export_layout.LAYOUT["SCHED_EVENTS"] += " wakerTid wakeLatency"

SYLLABLES = ["ba", "re", "ti", "mo", "ku", "za", "shi", "lon", "ver", "qua", "ix", "tor", "pel", "du", "fen"]


class World:
    """One program: a launching thread, perhaps others, one GPU."""

    def __init__(self, seed, kind, has_ranges=True, has_os=True, has_states=True):
        self.random = random.Random(seed)
        self.kind, self.has_ranges, self.has_os, self.has_states = kind, has_ranges, has_os, has_states
        self.export = make_exports.Export(2025)
        make_exports.machine(self.export, 1)
        self.pid = self.random.randrange(1000, 90000)
        self.process = make_exports.Process(self.export, self.pid, self.name())
        self.process.describe()
        self.now0 = self.random.randrange(1, 50) * MS
        self.main = make_exports.Thread(self.process, self.pid, self.name(), self.now0)
        self.others = 0
        self.states = {}
        self.wanted = {"cause": None, "names": [], "thread": self.pid}
        self.step_name = self.name()
        self.kernels = [self.random.randrange(20) for _ in range(self.random.randrange(3, 9))]
        self.kernel_ns = self.random.randrange(60, 400) * US
        self.n_steps = self.random.randrange(20, 50)
        self.running_from = self.now0

    def name(self):
        return "".join(self.random.choice(SYLLABLES) for _ in range(self.random.randrange(2, 5)))

    def other(self, name=None):
        self.others += 1
        thread = make_exports.Thread(self.process, self.pid + self.others, name or self.name(), self.main.now)
        return thread

    # What threads do ----------------------------------------------------------------------------------------------

    def state(self, thread, start, is_in, state=0, waker=None, latency=None):
        if self.has_states:
            self.export.add("SCHED_EVENTS", start=start, cpu=3 if thread is self.main else 5, isSchedIn=int(is_in), globalTid=thread.global_tid,
                            threadState=state, threadBlock=0, wakerTid=waker.global_tid if waker else None, wakeLatency=latency)

    def begin(self, thread):
        self.state(thread, thread.now, True)

    def blocked(self, thread, lasts, waker=None, state=2):
        """THREAD is off its CPU for LASTS; its clock goes on."""
        latency = min(3 * US, lasts // 4)
        self.state(thread, thread.now, False, state)
        thread.now += lasts
        self.state(thread, thread.now, True, 0, waker, latency)
        thread.now += 200

    def call(self, thread, name, lasts, waker=None, state=2):
        """THREAD is in the OS call NAME, blocked."""
        start = thread.now
        self.blocked(thread, lasts, waker, state)
        if self.has_os:
            self.export.add("OSRT_API", start=start - 300, end=thread.now + 300, eventClass=27, globalTid=thread.global_tid, nameId=self.export.string(name),
                            returnValue=0, nestingLevel=0, callchainId=0)
        thread.now += 700

    def short_call(self, thread, name, lasts=500):
        if self.has_os:
            self.export.add("OSRT_API", start=thread.now, end=thread.now + lasts, eventClass=27, globalTid=thread.global_tid,
                            nameId=self.export.string(name), returnValue=0, nestingLevel=0, callchainId=0)
        thread.now += lasts + 100

    def compute(self, thread, lasts):
        thread.now += lasts

    def push(self, text, thread=None):
        thread = thread or self.main
        if self.has_ranges:
            thread.push(text)

    def pop(self, thread=None):
        thread = thread or self.main
        if self.has_ranges:
            thread.pop()

    def work(self, scale=1.0, sync=True):
        """The GPU work of a step."""
        for kernel in self.kernels:
            self.main.launch(kernel, int(self.kernel_ns * scale * self.random.uniform(0.8, 1.2)), grid=(400, 1, 1))
        if sync:
            self.main.wait()

    def steps(self, before=lambda i: None, after=lambda i: None, work=None, sync=True):
        self.begin(self.main)
        for i in range(self.n_steps):
            self.push(self.step_name)
            before(i)
            (work or (lambda: self.work(sync=sync)))()
            after(i)
            self.pop()
        self.main.wait("cudaDeviceSynchronize_v3020")
        self.end()

    def end(self):
        """The threads end."""
        self.main.now += 20 * US
        self.state(self.main, self.main.now, False, 5)

    def lasts(self):
        """How long a cause lasts in a step: of the same order as the step's GPU work."""
        return int(len(self.kernels) * self.kernel_ns * self.random.uniform(1.0, 3.0))

    def want(self, cause, *names, thread=None):
        self.wanted["cause"] = cause
        self.wanted["names"] = [n for n in names if n]
        self.wanted["thread"] = thread

    def in_range(self, name):
        return name if self.has_ranges else None

    def write(self, path, drop=lambda table, row: False):
        for table, rows in self.export.rows.items():
            self.export.rows[table] = [row for row in rows if not drop(table, row)]
            if "start" in (rows[0] if rows else {}):
                self.export.rows[table].sort(key=lambda row: row["start"])
        for table in [table for table, rows in self.export.rows.items() if not rows]:
            del self.export.rows[table]
        self.export.write(path)


# --- Causes -------------------------------------------------------------------------------------------------------

LOCKS = ["sem_wait", "pthread_cond_wait", "pthread_mutex_lock", "pthread_barrier_wait", "sem_timedwait", "pthread_cond_timedwait"]
RELEASES = {"sem_wait": "sem_post", "pthread_cond_wait": "pthread_cond_signal", "pthread_mutex_lock": "pthread_mutex_unlock",
            "sem_timedwait": "sem_post", "pthread_cond_timedwait": "pthread_cond_broadcast"}
READS = ["read", "recv", "poll", "pread64", "recvmsg", "fsync", "epoll_wait", "fread"]
SLEEPS = ["usleep", "nanosleep", "clock_nanosleep"]


def lock_wait(w, has_beat=False):
    call, place, doing = w.random.choice([call for call in LOCKS if call in RELEASES or not has_beat]), w.name(), w.name()
    other = w.other()
    beating = w.other() if has_beat else None
    w.begin(other)

    def before(i):
        lasts = w.lasts()
        other.now = max(other.now, w.main.now)
        w.push(doing, other)
        w.compute(other, lasts - 20 * US)
        w.pop(other)
        w.short_call(other, RELEASES.get(call, "sem_post"))
        if beating:
            beating.now = max(beating.now, w.main.now)
            while beating.now < other.now:
                w.short_call(beating, RELEASES[call])
                beating.now += w.random.randrange(20, 60) * US
            beating.now = other.now - 300
            w.short_call(beating, RELEASES[call])
        w.push(place)
        w.call(w.main, call, max(lasts, other.now - w.main.now), other)
        w.pop()
    w.steps(before)
    w.want("lock-wait", call if w.has_os else None, w.in_range(place), w.in_range(doing), thread=w.pid + 1)


def lock_beat(w):
    """Only calls tell who ended the wait, and a third thread makes the same call all the time, which ends nobody's wait."""
    w.has_states = False
    lock_wait(w, has_beat=True)


def chain(w):
    """The launching thread waits for a second one, which waits for a third."""
    call, place, doing = "sem_wait", w.name(), w.name()
    second, third = w.other(), w.other()
    w.begin(second)
    w.begin(third)

    def before(i):
        lasts = w.lasts()
        start = max(w.main.now, second.now, third.now)
        w.main.now = second.now = third.now = start
        w.push(doing, third)
        w.compute(third, lasts - 50 * US)
        w.pop(third)
        w.short_call(third, "sem_post")
        w.call(second, call, third.now - second.now, third)
        w.short_call(second, "sem_post")
        w.push(place)
        w.call(w.main, call, second.now - w.main.now, second)
        w.pop()
    w.steps(before)
    w.want("lock-wait", w.in_range(place), w.in_range(doing), thread=w.pid + 2)


def waits(cause, names, state=2):
    def plant(w):
        call, place = w.random.choice(names), w.name()

        def before(i):
            w.push(place)
            w.call(w.main, call, w.lasts(), state=state)
            w.pop()
        w.steps(before)
        w.want(cause, call, w.in_range(place), thread=w.pid)
    return plant


def cpu_contention(w):
    """Another thread of the program has the CPU."""
    rival = w.other()

    def before(i):
        for _ in range(4):
            begun = w.main.now
            w.blocked(w.main, w.lasts() // 4, state=6)
            for at, is_in in ((begun + 50, 1), (w.main.now - 300, 0)):
                w.export.add("SCHED_EVENTS", start=at, cpu=3, isSchedIn=is_in, globalTid=rival.global_tid, threadState=6, threadBlock=0, wakerTid=None, wakeLatency=None)
            w.compute(w.main, 30 * US)
    w.steps(before)
    w.want("cpu-contention", f"while thread {w.pid + 1}", " ran there", thread=w.pid)


def no_cpu_after_sync(w):
    """The GPU lets the launching thread go on, and others have the CPU. Who woke whom was not recorded."""
    rival, lasts = w.other(), w.lasts() + 1200 * US

    def after(i):
        begun = w.main.now
        until = max(w.process.busy_until.values()) + lasts
        start, correlation = w.main.call("cudaStreamSynchronize_v3020", until - begun)
        w.state(w.main, start + 2 * US, False, 2)
        w.state(rival, start + 3 * US, True)
        w.export.rows["SCHED_EVENTS"][-1]["cpu"] = 3
        w.state(rival, until - 2 * US, False, 6)
        w.export.rows["SCHED_EVENTS"][-1]["cpu"] = 3
        w.state(w.main, until - US, True)
    w.steps(after=after, sync=False)
    w.want("cpu-contention", f"while thread {w.pid + 1}", thread=w.pid)


def cpu_work(w):
    place = w.name()

    def before(i):
        w.push(place)
        # Less, without a range of its own, is the way from a wait for the GPU to the next launch.
        w.compute(w.main, w.lasts() + 1200 * US)
        w.pop()
    w.steps(before)
    w.want("cpu-work", w.in_range(place), thread=w.pid)


def short_ranges(w):
    """A long pause of many short ranges, as PyTorch's operators are, and under a tool that makes a range of each call."""
    names = [w.name() for _ in range(5)]

    def before(i):
        for k in range((w.lasts() + 1200 * US) // (25 * US)):
            w.push(names[k % len(names)])
            w.compute(w.main, 25 * US)
            w.pop()
    w.steps(before)
    w.want("cpu-work", w.in_range(w.step_name), thread=w.pid)


def timed_waits(w):
    """As Python's interpreter waits for its lock: 5 ms at a time, until another thread gives it. Only calls tell who did."""
    w.has_states = False
    place, doing, other = w.name(), w.name(), w.other()
    call, release = w.random.choice([("pthread_cond_timedwait", "pthread_cond_signal"), ("sem_timedwait", "sem_post"), ("sem_clockwait", "sem_post")])

    def before(i):
        other.now = max(other.now, w.main.now)
        w.push(doing, other)
        w.compute(other, w.lasts() + 12 * MS)
        w.pop(other)
        w.short_call(other, release)
        w.push(place)
        while w.main.now < other.now:
            w.call(w.main, call, min(5 * MS, max(other.now - w.main.now, 10 * US)))
        w.pop()
    w.steps(before)
    w.want("lock-wait", call if w.has_os else None, w.in_range(place), w.in_range(doing), thread=w.pid + 1)


def polls(w):
    """The launching thread asks again and again whether the GPU is done."""
    call = w.random.choice(["cudaEventQuery_v3020", "cudaStreamQuery_v3020", "cuEventQuery"])

    def work():
        for kernel in w.kernels:
            w.main.launch(kernel, 30 * US, grid=(400, 1, 1))
            while w.main.now < w.process.busy_until[7]:
                w.main.call(call, 1500)
            w.compute(w.main, w.random.randrange(20, 40) * US)
    w.steps(work=work)
    w.want("gpu-sync", call.split("_")[0], thread=w.pid)


def gpu_sync(w):
    call = w.random.choice(["cudaStreamSynchronize_v3020", "cudaDeviceSynchronize_v3020"])
    way = w.random.randrange(80, 300) * US

    def work():
        for kernel in w.kernels:
            w.main.launch(kernel, int(way * w.random.uniform(0.6, 1.2)), grid=(400, 1, 1))
            w.main.wait(call)
            w.compute(w.main, way)
    w.steps(work=work)
    w.want("gpu-sync", thread=w.pid)


def launch_rate(w):
    def work():
        for _ in range(w.random.randrange(60, 120)):
            w.main.launch(w.random.choice(w.kernels), w.random.randrange(1500, 4000), grid=(400, 1, 1))
            w.compute(w.main, w.random.randrange(2, 25) * US)
    w.steps(work=work)
    w.want("launch-rate", thread=w.pid)


def calls(cause, names):
    def plant(w):
        call, place = w.random.choice(names), w.name()

        def before(i):
            w.push(place)
            w.main.call(call, w.lasts())
            w.pop()
        w.steps(before)
        w.want(cause, call.split("_v")[0], w.in_range(place), thread=w.pid)
    return plant


def start_up(w):
    place = w.name()
    w.begin(w.main)
    w.push(place)
    w.call(w.main, "read", 400 * MS)
    w.compute(w.main, 300 * MS)
    w.pop()
    w.n_steps = 10
    w.steps()
    w.want("start-up", w.in_range(place))


def tear_down(w):
    place = w.name()
    w.n_steps = 10
    w.steps()
    w.push(place)
    w.begin(w.main)
    w.compute(w.main, 600 * MS)
    w.pop()
    w.end()
    w.want("tear-down", w.in_range(place))


def collective(w):
    call = w.random.choice(["MPI_Allreduce", "MPI_Barrier", "MPI_Bcast"])
    w.has_ranges = True

    def before(i):
        w.push(call)
        w.compute(w.main, w.lasts())
        w.pop()
    w.steps(before)
    w.want("collective-wait", call, thread=w.pid)


def copies(cause, memory):
    def plant(w):
        def before(i):
            for _ in range(4):
                w.main.copy(1, int(w.lasts() * 3), memory, DEVICE, call="cudaMemcpyAsync_v3020")
        w.steps(before)
        w.want(cause)
    return plant


def under_filled(w):
    def work():
        for kernel in w.kernels:
            w.main.launch(kernel, w.kernel_ns, grid=(w.random.randrange(1, 8), 1, 1))
        w.main.wait()
    w.steps(work=work)
    w.want("under-filled")


def slow_step(w):
    call, place = w.random.choice(READS), w.name()
    slow = set(w.random.sample(range(w.n_steps), 2))
    w.has_ranges = True

    def before(i):
        w.push(place)
        if i in slow:
            w.call(w.main, call, 12 * len(w.kernels) * w.kernel_ns)
        else:
            w.short_call(w.main, call)
        w.pop()
    w.steps(before)
    w.want(("slow-step", "io-wait"))


def dependency(w):
    def work():
        for kernel in w.kernels:
            busy = w.process.busy_until.get(7, 0)
            w.main.call("cudaStreamWaitEvent_v3020", 900)
            w.process.busy_until[7] = max(busy, w.main.now) + w.kernel_ns
            w.main.launch(kernel, w.kernel_ns, grid=(400, 1, 1))
        w.main.wait()
    w.steps(work=work)
    w.want("dependency")


CAUSES = {
    "lock-wait": lock_wait,
    "lock-beat": lock_beat,
    "lock-chain": chain,
    "io-wait": waits("io-wait", READS),
    "disk": waits("io-wait", ["read", "pread64", "fsync"], 3),
    "sleep": waits("sleep", SLEEPS),
    "cpu-contention": cpu_contention,
    "no-cpu-after-sync": no_cpu_after_sync,
    "timed-waits": timed_waits,
    "polls": polls,
    "cpu-work": cpu_work,
    "short-ranges": short_ranges,
    "gpu-sync": gpu_sync,
    "launch-rate": launch_rate,
    "allocation": calls("allocation", ["cudaMalloc_v3020", "cudaFree_v3020", "cudaHostAlloc_v3020", "cudaHostRegister_v4000", "cuMemAlloc_v2"]),
    "module-load": calls("module-load", ["cuModuleLoadData", "cuLibraryLoadData", "cuLinkAddData_v2", "cuModuleLoadDataEx"]),
    "driver": calls("driver", ["cudaStreamCreate_v3020", "cudaGetDeviceProperties_v2_v12000", "cudaEventQuery_v3020", "cudaIpcOpenMemHandle_v4010"]),
    "start-up": start_up,
    "tear-down": tear_down,
    "collective-wait": collective,
    "pageable-copy": copies("pageable-copy", PAGEABLE),
    "copy-bound": copies("copy-bound", PINNED),
    "under-filled": under_filled,
    "slow-step": slow_step,
    "dependency": dependency,
}

# What must be recorded for a cause to be told.
NEEDS = {"lock-wait": "states or os", "lock-chain": "states or os", "io-wait": "os", "disk": "states or os", "sleep": "os", "cpu-contention": "states",
         "no-cpu-after-sync": "states", "timed-waits": "os", "polls": "",
         "lock-beat": "os", "cpu-work": "states or os or ranges", "short-ranges": "states or os or ranges", "slow-step": "os", "gpu-sync": "", "launch-rate": ""}


# --- Decoys: loud, and harmless -----------------------------------------------------------------------------------

def decoy(w):
    """Things that look bad and cost nothing, in threads and copies beside the work."""
    end, other = w.main.now, w.other()
    other.now = w.now0
    w.begin(other)
    call = w.random.choice(["poll", "usleep", "sem_wait", "epoll_wait", "pthread_cond_timedwait"])
    while other.now < end - 3 * MS:
        w.call(other, call, min(w.random.randrange(5, 40) * MS, end - 2 * MS - other.now))
    third = w.other()
    third.now = w.now0
    for _ in range(2000):
        w.short_call(third, "pthread_mutex_lock", 80)
        third.now += (end - w.now0) // 2500
    # Copies of pageable memory that are over at once, beside kernels.
    for row in w.export.rows["CUPTI_ACTIVITY_KIND_KERNEL"][:300]:
        at = row["start"] + 200
        w.export.add("CUPTI_ACTIVITY_KIND_MEMCPY", start=at, end=at + 800, deviceId=0, contextId=1, greenContextId=0, streamId=13, correlationId=0,
                     globalPid=w.process.global_pid, bytes=64, copyKind=1, srcKind=PAGEABLE, dstKind=DEVICE, copyCount=1)


def healthy(w, what=None):
    """Work is queued ahead: the GPU is busy, whatever threads do meanwhile."""
    what, every = w.random.randrange(6) if what is None else what, w.random.randrange(8, 13)
    w.kernel_ns = w.random.randrange(400, 900) * US

    def before(i):
        place = "load"
        w.push(place)
        if what == 0:
            w.call(w.main, "sem_wait", int(0.3 * w.kernel_ns))
        elif what == 1:
            w.call(w.main, "read", int(0.3 * w.kernel_ns))
        elif what == 2:
            w.main.call("cudaMalloc_v3020", int(0.3 * w.kernel_ns))
        elif what == 3:
            w.compute(w.main, int(0.4 * w.kernel_ns))
        elif what == 5:  # the queue takes no more than a few steps
            w.compute(w.main, max(0, w.process.busy_until.get(7, 0) - 4 * len(w.kernels) * w.kernel_ns - w.main.now))
        elif i % 9 == 8:  # the queue is full, and lets the thread go on when the GPU is nearly through
            w.compute(w.main, max(0, w.process.busy_until.get(7, 0) - 3 * w.kernel_ns - w.main.now))
        w.pop()

    def after(i):
        if what == 5 and i % every == every - 1:  # the loss is printed: the one long range has the work of all that were queued
            w.main.wait()
    w.n_steps = max(w.n_steps, 30)
    w.steps(before, after, sync=False)


# --- Recorded in part ---------------------------------------------------------------------------------------------

def without_kernels(w):
    lock_wait(w)
    return lambda table, row: table.endswith("KERNEL")


def without_calls(w):
    lock_wait(w)
    return lambda table, row: table.endswith("RUNTIME") or table.endswith("SYNCHRONIZATION")


def without_some_kernels(w):
    w.steps(lambda i: w.compute(w.main, 100 * US))
    chance = w.random.uniform(0.4, 0.8)
    return lambda table, row: table.endswith("KERNEL") and w.random.random() < chance


def without_calls_of_another(w):
    """A process that was not recorded shares the GPU."""
    waits("sleep", SLEEPS)(w)
    stranger = make_exports.Process(w.export, w.pid + 77, w.name())
    stranger.describe()
    thread = make_exports.Thread(stranger, stranger.pid, w.name(), w.now0)
    while thread.now < w.main.now:
        thread.launch(w.kernels[0], w.kernel_ns, stream=9, grid=(400, 1, 1))
        thread.now += w.lasts()
    return lambda table, row: table.endswith("RUNTIME") and row["globalTid"] == thread.global_tid


def without_host(w):
    """Only CUDA was recorded: that the thread was away is known, and no more."""
    w.has_ranges = w.has_os = w.has_states = False
    waits("io-wait", READS)(w)
    return lambda table, row: False


def without_gpu_tables(w):
    lock_wait(w)
    return lambda table, row: table.startswith("CUPTI")  and not table.endswith("RUNTIME")


def without_a_stretch(w):
    """Two steps have work that was dropped: they are long, and nobody knows why."""
    slow = set(w.random.sample(range(2, w.n_steps - 2), 2))
    holes = []

    def before(i):
        if i in slow:
            begin = w.main.now
            for _ in range(12):
                w.work()
            holes.append((begin, w.main.now))
    w.steps(before)
    return lambda table, row: table.endswith("KERNEL") and any(begin <= row["start"] < end for begin, end in holes)


PARTS = [without_calls_of_another, without_a_stretch, without_kernels, without_calls, without_some_kernels, without_host, without_gpu_tables]
