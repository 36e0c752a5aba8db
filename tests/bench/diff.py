# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures lanescope diff on real programs beside others that want the CPUs: pairs of runs of one program, which must not give alarms
(at most 1 in 100), and pairs in which one range does more work, which should be found and named. Then the same of folders of GROUP runs a side.
./run bench diff [RUNS [PLANTED [RIVALS [FOLDER]]]]

Each program runs RUNS times, and all pairs of these runs are compared; then PLANTED times with each change, which is compared with the
first PLANTED runs. Beside each run, 0 to RIVALS other programs are at work, drawn anew. With FOLDER, reports stay there, and those that are there are not
recorded again: the same runs can be compared by another version.

`loop` is diff-loop.c, and `unseen` the same without the scheduling of threads: of that, only runs that had a CPU can be compared. `python`
is a program in Python whose functions are ranges; `cuda` is tests/programs/cuda-steady.cu on the stand-ins of CUDA, which has no change."""

import concurrent.futures
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

import tap

os.environ.pop("LANESCOPE_SAMPLE", None)  # when threads had no CPU is what this is about
STEPS = 40
GROUP = 5
GROUPS = 40  # pairs of folders, drawn anew from the runs that there are
LOOP = os.path.join(tap.BUILD, "tests", "bench", "diff-loop")
WITH_DOUBLE = os.path.join(tap.SOURCE, "tests", "double", "with")
FUNCTIONS = """
import json
def load(n):
    text = ""
    for i in range(n):
        text = (text + str(i))[-40:]
def count(n):
    found = {}
    for i in range(n):
        found[i % 97] = found.get(i % 97, 0) + 1
def sort(n):
    sorted([(i * 7919) % 10007 for i in range(n)], key=lambda value: -value)
def parse(n):
    json.loads(json.dumps({str(i): [i, i + 1] for i in range(n)}))
def train(n):
    value = 0.0
    for i in range(n):
        value = value * 0.99 + i
def step(factors):
    for function, n in ((load, 6000), (count, 12000), (sort, 4000), (parse, 900), (train, 40000)):
        function(int(n * factors.get(function.__name__, 1)))
"""
PROGRAM = """
import sys
import parts
factors = {name: float(times) for name, times in (word.split("=") for word in sys.argv[2:])}
for _ in range(int(sys.argv[1])):
    parts.step(factors)
"""
# One keeps to its registers, the other one takes the caches.
RIVALS = ("while True: pass", "cells = bytearray(1 << 25)\nwhile True: cells[:] = cells[::-1]")
CHANGES = {"loop": ("train=1.02", "train=1.1", "sort=1.1", "find=1.3", "augment=1.3", "sort=1.3", "train=1.3"),
           "python": ("train=1.1", "parse=1.3", "train=1.3", "sort=1.5", "train=1.5"),
           "cuda": (),
          "unseen": ()}
# What a change is in, or what does its work.
AROUND = ("step", "prepare", "compute")


def make_programs(folder):
    for name, text in (("parts.py", FUNCTIONS), ("program.py", PROGRAM),
                       ("functions.json", json.dumps([{"module": "parts", "functions": ["step", "load", "count", "sort", "parse", "train"]}]))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def words_of(program, folder, change):
    given = [change] if change else []
    if program in ("loop", "unseen"):
        return [], ["-t", "nvtx", *(["-s", "none", "--cpuctxsw=none"] if program == "unseen" else [])], [LOOP, str(STEPS), *given]
    if program == "python":
        return ([], ["-t", "nvtx", "--python-functions-trace=" + os.path.join(folder, "functions.json")],
                [sys.executable, os.path.join(folder, "program.py"), str(STEPS), *given])
    return [WITH_DOUBLE], ["-t", "cuda,nvtx"], [os.path.join(tap.BUILD, "tests", "programs", "cuda-steady"), "300"]


def record(folder, program, change, number, rivals):
    report = os.path.join(folder, f"{program}-{change or 'same'}-{number}.rep")
    if os.path.exists(report):
        return report
    before, switches, words = words_of(program, folder, change)
    others = [subprocess.Popen([sys.executable, "-c", random.choice(RIVALS)]) for _ in range(random.randrange(rivals + 1))]
    try:
        subprocess.run([*before, tap.LANESCOPE, "profile", *switches, "--why=false", "-f", "true", "-o", report, *words], capture_output=True, check=program == "loop")
    finally:
        for other in others:
            other.kill()
            other.wait()
    return report


def diff(pair):
    # Its steps are a small part of the run, which nobody would take for steps unasked.
    switches = ["--steps=step 0"] if "/cuda-" in pair[0] else []
    run = subprocess.run([tap.LANESCOPE, "diff", "--format=json", *switches, *pair], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"bench diff: {' '.join(pair)}: {run.stderr}")
    return json.loads(run.stdout)


def group_pairs(folder, a, b):
    """GROUPS pairs of folders with GROUP runs each, drawn from A and, without those, from B."""
    made = tempfile.mkdtemp(dir=folder, prefix=os.path.basename(a[0]).split("-")[0] + "-groups-")
    for number in range(GROUPS):
        first = random.sample(a, GROUP)
        for side, paths in (("a", first), ("b", random.sample([path for path in b if path not in first], GROUP))):
            os.makedirs(os.path.join(made, str(number), side))
            for path in paths:
                os.symlink(path, os.path.join(made, str(number), side, os.path.basename(path)))
        yield os.path.join(made, str(number), "a"), os.path.join(made, str(number), "b")


def names(answer, change):
    return any(c["name"] == change.split("=")[0] and c["change_ns"] > 0 for c in answer["changes"])


def names_another(answer, change):
    return any(c["name"] not in (change.split("=")[0], *AROUND) or c["change_ns"] < 0 for c in answer["changes"])


def is_alarm(answer):
    return bool(answer["changes"]) or (answer["steps"]["p"] or 1) < 0.01


def main():
    given = sys.argv[1:] + ["26", "8", "8", ""][len(sys.argv) - 1:]
    runs, planted, rivals = (int(word) for word in given[:3])
    random.seed(tap.SEED)
    figures = {}
    with tempfile.TemporaryDirectory() as own, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = given[3] or own
        os.makedirs(folder, exist_ok=True)
        make_programs(folder)
        for program, changes in CHANGES.items():
            same = [record(folder, program, None, number, rivals) for number in range(runs)]
            pairs = list(itertools.combinations(same, 2))
            answers = list(pool.map(diff, pairs))
            alarms = [(pair, answer) for pair, answer in zip(pairs, answers) if is_alarm(answer)]
            for pair, answer in alarms:
                print(" ".join(os.path.basename(path) for path in pair), answer["verdict"])
            unknown = sum(answer["steps"]["p"] is None for answer in answers)
            print(f"{program}: {len(alarms)} alarms in {len(pairs)} pairs, {unknown} of them not known", flush=True)
            figures[program] = {"pairs": len(pairs), "alarms": len(alarms), "not_known": unknown}
            if runs >= 2 * GROUP:
                answers = list(pool.map(diff, group_pairs(folder, same, same)))
                alarms = sum(map(is_alarm, answers))
                print(f"{program}: {alarms} alarms in {len(answers)} pairs of {GROUP} runs each", flush=True)
                figures[program].update(groups=len(answers), group_alarms=alarms)
            for change in changes:
                other = [record(folder, program, change, number, rivals) for number in range(planted)]
                answers = list(pool.map(diff, itertools.product(same[:planted], other)))
                named, wrong = (sum(of(answer, change) for answer in answers) for of in (names, names_another))
                print(f"{program}: {change}: found and named in {named} of {len(answers)}, and another one in {wrong}", flush=True)
                figures[program][change] = {"pairs": len(answers), "named": named, "another": wrong}
                if min(runs, planted) >= GROUP:
                    answers = list(pool.map(diff, group_pairs(folder, same, other)))
                    named, wrong = (sum(of(answer, change) for answer in answers) for of in (names, names_another))
                    print(f"{program}: {change}: of {GROUP} runs each, in {named} of {len(answers)}, and another one in {wrong}", flush=True)
                    figures[program][change].update(groups=len(answers), named_in_groups=named, another_in_groups=wrong)
    print(json.dumps(figures))
    alarms, pairs = (sum(figure[key] for figure in figures.values()) for key in ("alarms", "pairs"))
    return 0 if alarms * 100 <= pairs else f"bench diff: {alarms} alarms in {pairs} pairs"


sys.exit(main())
