# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope why of programs whose cause is known, as it was planted: worlds.py. The gate always has the same; others are drawn anew.
Prints a score by kind."""

import json
import os
import random
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "golden"))
sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "answers"))
import answers  # noqa: E402
import golden  # noqa: E402
import worlds  # noqa: E402

# How much each kind must get right, in percent.
WANTED = 98


def seeds(n):
    return [random.Random(tap.SEED).randrange(1 << 30) + i for i in range(n)]


def ask(world, name, drop=lambda table, row: False):
    path = golden.path(name + ".sqlite")
    world.write(path, drop)
    answer = json.loads(golden.run("why", "--format=json", path)[0])
    answers.check_ledgers(answer, name)
    os.unlink(path)
    return answer


def faults(world, answer):
    """What the first sentence lacks."""
    wanted, first = world.wanted, answer["findings"][0] if answer["findings"] else {"cause": None}
    causes = wanted["cause"] if isinstance(wanted["cause"], tuple) else (wanted["cause"],)
    wrong = [] if first["cause"] in causes else [f"cause {first['cause']}, not {wanted['cause']}"]
    wrong += [f"lacks {name}" for name in wanted["names"] if name not in answer["verdict"]]
    if wanted["thread"] and str(wanted["thread"]) not in answer["verdict"]:
        wrong.append(f"lacks thread {wanted['thread']}")
    if len(answer["verdict"].split()) > 40:
        wrong.append(f"{len(answer['verdict'].split())} words")
    return wrong


def recordings(kind):
    """With what a world of KIND may be recorded so that its cause can be told."""
    needs = worlds.NEEDS.get(kind, "states or os or ranges")
    for ranges, os_calls, states in ((True, True, True), (False, True, True), (True, True, False), (True, False, True)):
        has = {"ranges": ranges, "os": os_calls, "states": states}
        if needs == "" or any(has[word] for word in needs.split(" or ")):
            yield has


def play(kind, n, with_decoy):
    """How many of the worlds of KIND are told rightly: (right, all, what is wrong)."""
    right, total, wrong = 0, 0, []
    for number, seed in enumerate(seeds(n)):
        ways = list(recordings(kind))
        has = ways[number % len(ways)]
        world = worlds.World(f"{kind}/{seed}", kind, has["ranges"], has["os"], has["states"])
        worlds.CAUSES[kind](world)
        if with_decoy:
            worlds.decoy(world)
        answer = ask(world, f"{kind}-{number}")
        lacks = faults(world, answer)
        total += 1
        right += not lacks
        if lacks:
            wrong.append((kind, seed, has, lacks, answer["verdict"]))
    return right, total, wrong


def check(scores):
    wrong = []
    for kind, (right, total, lacks) in scores.items():
        print(f"# {kind}: {right} of {total}")
        wrong += lacks
    right, total = sum(s[0] for s in scores.values()), sum(s[1] for s in scores.values())
    print(f"# all: {right} of {total}")
    assert 100 * right >= WANTED * total, "\n".join(map(str, wrong))


def test_causes_are_named():
    check({kind: play(kind, int(os.environ.get("LNS_ANSWERS", "2")), False) for kind in worlds.CAUSES})


def test_decoys_are_not():
    check({kind: play(kind, 1, True) for kind in worlds.CAUSES})


def test_healthy_programs_are_not_accused():
    accused = []
    for seed in seeds(20):
        world = worlds.World(f"healthy/{seed}", "healthy")
        worlds.healthy(world)
        if seed % 2:
            worlds.decoy(world)
        answer = ask(world, f"healthy-{seed}")
        loud = [f for f in answer["findings"] if f["severity"] != "info"]
        if loud or "idle" in answer["verdict"]:
            accused.append((seed, answer["verdict"], [(f["cause"], f["share"]) for f in loud]))
    print(f"# healthy: {20 - len(accused)} of 20")
    assert not accused, accused


def test_a_thread_that_waits_now_and_then_is_not_accused():
    """It queues a few steps, and waits for all of them at once: its range is long then, the GPU's work is as ever."""
    accused = []
    for seed in seeds(12):
        world = worlds.World(f"ahead/{seed}", "healthy")
        worlds.healthy(world, 5)
        answer = ask(world, f"ahead-{seed}")
        accused += [(seed, answer["verdict"]) for f in answer["findings"] if f["severity"] != "info"]
    assert not accused, accused


# Worlds of which each step has the same kernels.
REGULAR = ["lock-wait", "lock-chain", "io-wait", "sleep", "cpu-contention", "cpu-work", "gpu-sync", "allocation", "driver", "copy-bound", "dependency"]


def test_steps_without_ranges():
    wrong, n = [], 0
    for kind in REGULAR:
        for seed in seeds(3):
            world = worlds.World(f"{kind}/{seed}", kind, has_ranges=False)
            # Names may come more than once in a step; one does not, or the step might be two.
            world.kernels = [kernel % 19 for kernel in world.kernels[1:]]
            world.kernels.insert(world.random.randrange(len(world.kernels) + 1), 19)
            worlds.CAUSES[kind](world)
            steps = ask(world, f"steps-{kind}")["steps"]
            n += 1
            if abs(steps["count"] - world.n_steps) > 1 or not (steps["source"] or "").startswith("kernels:"):
                wrong.append((kind, seed, world.n_steps, world.kernels, steps))
    print(f"# steps: {n - len(wrong)} of {n}")
    assert not wrong, "\n".join(map(str, wrong))


def test_irregular_steps_do_not_shift_others():
    for seed in seeds(4):
        world = worlds.World(f"irregular/{seed}", "irregular", has_ranges=False)
        world.n_steps = 40
        odd = set(world.random.sample(range(40), 6))
        kernels, at = list(range(8)), iter(range(40))

        def work():
            i = next(at)
            world.kernels = kernels + [12] if i in odd and i % 2 else kernels[:5] + kernels[6:] if i in odd else kernels
            world.work()
        world.steps(lambda i: world.compute(world.main, world.random.randrange(100, 300) * worlds.US), work=work)
        starts = sorted(row["start"] for row in world.export.rows["CUPTI_ACTIVITY_KIND_RUNTIME"])
        answer = ask(world, "irregular")
        assert abs(answer["steps"]["count"] - 40) <= 1, (seed, odd, answer["steps"])
        assert all(outlier["start"] in starts for outlier in answer["steps"]["outliers"]), answer["steps"]


def test_steps_without_ranges_that_are_slow():
    for seed in seeds(4):
        world = worlds.World(f"slow/{seed}", "slow", has_ranges=False)
        world.kernels, world.n_steps = list(range(6)), 40
        slow, spans = set(world.random.sample(range(5, 38), 2)), []

        def after(i):
            start = world.main.now
            if i in slow:
                world.call(world.main, "read", 12 * 6 * world.kernel_ns)
                spans.append((start, world.main.now))
            else:
                world.short_call(world.main, "read")
        world.steps(after=after)
        path = golden.path("slow.sqlite")
        world.write(path)
        steps = json.loads(golden.run("why", "--format=json", path)[0])["steps"]
        assert abs(steps["count"] - 40) <= 1 and len(steps["outliers"]) == 2, steps
        for (start, end), outlier in zip(sorted(spans), sorted(steps["outliers"], key=lambda outlier: outlier["start"])):
            assert outlier["start"] < start and end <= outlier["end"] and outlier["cause"] == "io-wait", (start, end, outlier)
        assert {outlier["index"] for outlier in steps["outliers"]} == slow, (slow, steps)
        name = steps["source"].split(":", 1)[1]
        text = golden.run("why", path)[0].decode()
        assert f"Steps: {steps['count']} × from kernel “{name}”, median" in text, text
        said = golden.run("why", "--steps", path)[0].decode()
        assert said.count("more than usual of io-wait") == 2, said
        os.unlink(path)


def test_steps_of_graphs_that_are_recorded_as_a_whole():
    """All is queued at once: neither does the second step begin when it was launched, nor the last one end before its graph."""
    for seed in seeds(4):
        world = worlds.World(f"graphs/{seed}", "graphs", has_ranges=False)
        graph_ns, world.n_steps = world.random.randrange(2, 30) * worlds.MS, world.random.randrange(8, 20)

        def work():
            for kernel in (3, 5, 7):
                world.main.launch(kernel, 3 * worlds.US)
            start, correlation = world.main.call("cudaGraphLaunch_v10000", 9 * worlds.US)
            world.process.on_gpu("GRAPH_TRACE", start + 12 * worlds.US, graph_ns, correlation, 7, graphId=1, graphExecId=2)
        world.steps(work=work)
        path = golden.path("graphs.sqlite")
        world.write(path)
        steps = json.loads(golden.run("why", "--format=json", path)[0])["steps"]
        lengths = [int(row.split("\t")[0]) for row in golden.run("sql", path, 'SELECT "end" - start FROM LNS_STEPS')[0].decode().split("\n")[:-1]]
        assert steps["count"] == len(lengths) == world.n_steps and not steps["outliers"], (seed, world.n_steps, steps)
        assert all(graph_ns <= length <= 1.1 * graph_ns for length in lengths), (seed, graph_ns, lengths)
        os.unlink(path)


def test_programs_without_steps_have_none():
    found = []
    for seed in seeds(6):
        world = worlds.World(f"aperiodic/{seed}", "aperiodic", has_ranges=False)
        names = world.random.randrange(4, 20)

        def work():
            world.kernels = [world.random.randrange(names) for _ in range(world.random.randrange(1, 20))]
            world.work()
        world.steps(work=work)
        answer = ask(world, "aperiodic")
        if answer["steps"]["source"] is not None or answer["steps"]["count"] != 0:
            found.append((seed, answer["steps"]))
        if seed % 2:
            world = worlds.World(f"rate/{seed}", "launch-rate", has_ranges=False)
            worlds.launch_rate(world)
            answer = ask(world, "rate")
            if answer["steps"]["source"] is not None:
                found.append((seed, answer["steps"]))
    assert not found, found


def test_what_was_not_recorded_accuses_nobody():
    accused = []
    for seed in seeds(20):
        part = worlds.PARTS[seed % len(worlds.PARTS)]
        world = worlds.World(f"part/{seed}", "part")
        drop = part(world)
        answer = ask(world, f"part-{seed}", drop)
        loud = [f for f in answer["findings"] if f["severity"] != "info" and f["cause"] not in ("not-recorded", "unknown", "start-up", "tear-down")]
        # Without GPU work the thread has the ledger: that is recorded, and that the GPU is not is said.
        if (loud and answer["devices"]) or not answer["abstained"] or not all(a["advice"] for a in answer["abstained"]):
            accused.append((seed, part.__name__, answer["verdict"], [(f["cause"], f["share"]) for f in loud], answer["abstained"]))
    print(f"# recorded in part: {20 - len(accused)} of 20")
    assert not accused, "\n".join(map(str, accused))


tap.main(globals())
