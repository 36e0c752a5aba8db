# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What a sample of Python stacks costs, and what being sampled costs the program, with each CPython found: ./run bench
python-reader [SAMPLES]

A sample of 1 and 16 threads with 10 and 100 frames each: of threads that stand, which is what most threads do, and with one
that calls all the time. The program that is sampled up to 1,000 times a second counts its own work: runs with and without
being sampled alternate, and the ratio of the medians is printed."""

import json
import os
import statistics
import subprocess
import sys
import threading

import tap

ROUNDS = 7
DUMP = os.path.join(tap.BUILD, "tests", "e2e", "python-stacks")
STANDING = """
import os, sys, threading
names, n_threads, depth, busy = {}, *map(int, sys.argv[1:])
exec("".join(f"def f{i}():\\n f{i - 1}()\\n" for i in range(1, depth)), names)
def wait():
    started.release()
    os.read(pipe[0], 1)
def spin():
    started.release()
    while True:
        leaf()
def leaf():
    pass
started, pipe = threading.Semaphore(0), os.pipe()
for i in range(n_threads - 1):
    mine = dict(names, f0=spin if i == 0 and busy else wait)
    exec("".join(f"def f{k}():\\n f{k - 1}()\\n" for k in range(1, depth)), mine)
    threading.Thread(target=mine[f"f{depth - 1}"], daemon=True).start()
for i in range(n_threads - 1):
    started.acquire()
def main():
    print("ready", flush=True)
    if n_threads == 1 and busy:
        while True:
            leaf()
    sys.stdin.readline()
names["f0"] = main
names[f"f{depth - 1}"]()
"""
WORK = """
import sys, time
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print("ready", flush=True)
for line in sys.stdin:
    start = time.process_time()
    fib(24)
    print(time.process_time() - start, flush=True)
"""


def start(path, text, *arguments):
    process = subprocess.Popen([path, "-c", text, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def ask(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def dump(pid):
    process = subprocess.Popen([DUMP, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    begun = json.loads(process.stdout.readline())
    assert begun["state"] == "ready", begun
    return process


def stop(*processes):
    for process in processes:
        process.kill()
        process.communicate()


def cost(path, n_threads, depth, busy, samples):
    """Microseconds for a sample: least, median and greatest of ROUNDS runs; frames a sample."""
    target = start(path, STANDING, n_threads, depth, busy)
    reader = dump(target.pid)
    before = json.loads(ask(reader, "t10"))
    times = [json.loads(ask(reader, f"t{samples}")) for _ in range(ROUNDS)]
    stop(reader, target)
    counted = times[-1]["samples"] - before["samples"]
    return (tap.spread([each["ns"] / samples / 1000 for each in times]), round((times[-1]["frames"] - before["frames"]) / counted, 1),
            round((times[-1]["cut"] - before["cut"]) / counted, 4))


def effect(path):
    """CPU time of the work while it is sampled up to 1,000 times a second, against alone."""
    target = start(path, WORK)
    reader = dump(target.pid)
    times = {False: [], True: []}
    for number in range(2 * 3 * ROUNDS):
        is_sampled = number % 2 == 1
        ended = threading.Event()

        def sample(ended=ended):
            while not ended.wait(0.001):
                ask(reader, "t1")

        thread = threading.Thread(target=sample)
        if is_sampled:
            thread.start()
        times[is_sampled].append(float(ask(target, "go")))
        ended.set()
        if is_sampled:
            thread.join()
    stop(reader, target)
    return round(statistics.median(times[True]) / statistics.median(times[False]), 3)


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    result = {}
    for version, path in sorted(tap.pythons().items(), key=lambda item: int(item[0].split(".")[1])):
        if int(version.split(".")[1]) < 9:
            continue
        for n_threads in (1, 16):
            for depth in (10, 100):
                for busy in (0, 1):
                    spread, frames, cut = cost(path, n_threads, depth, busy, samples)
                    key = f"{version}_{n_threads}_threads_{depth}_frames{'_one_busy' if busy else ''}"
                    result[key] = spread[1]
                    print(f"{key}: {spread[0]} {spread[1]} {spread[2]} µs a sample of {frames} frames, {cut} threads cut", flush=True)
        result[f"{version}_sampled_work_ratio"] = effect(path)
        print(f"{version}: work while sampled takes {result[f'{version}_sampled_work_ratio']} times as long", flush=True)
    print(json.dumps(result))


main()
