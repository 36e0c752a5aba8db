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
