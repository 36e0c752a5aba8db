# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Generators and asynchronous generators made at random are driven at random, as they are and as lanescope_generators runs them:
both must do the same in each step. generators.py FOLDER-OF-THE-MODULE N"""

import asyncio
import random
import sys
import types

sys.path.insert(0, sys.argv[1])
N = int(sys.argv[2])
depth = n_ranges = 0


def push(number):
    global depth, n_ranges
    depth += 1
    n_ranges += 1


def pop(number):
    global depth
    depth -= 1


sys.modules["_lanescope_functions"] = types.SimpleNamespace(push=push, pop=pop)
import lanescope_generators  # noqa: E402


class Thrown(Exception):
    pass


def inner(log, i):
    try:
        got = yield ("inner", i)
    except Thrown:
        log.append("inner caught")
        got = "caught"
    return got


def make(seed):
    def numbers(log):
        dice, got = random.Random(seed), None
        for i in range(dice.randrange(1, 7)):
            kind = dice.randrange(6)
            try:
                if kind == 0:
                    got = yield (i, got)
                elif kind == 1:
                    try:
                        got = yield i
                    finally:
                        log.append(("finally", i, sys.exc_info()[0]))
                elif kind == 2:
                    got = yield from inner(log, i)
                elif kind == 3:
                    raise Thrown("its own")
                elif kind == 4:
                    try:
                        got = yield i
                    except GeneratorExit:
                        log.append("exit")
                        if dice.random() < .5:
                            return "at the exit"
                        raise
                else:
                    return ("early", got)
            except Thrown as error:
                log.append((str(error), type(error.__context__)))
                if dice.random() < .5:
                    raise
        return "end"

    return numbers


def make_asynchronous(seed):
    async def numbers(log):
        dice, got = random.Random(seed), None
        for i in range(dice.randrange(1, 6)):
            try:
                if dice.random() < .5:
                    await asyncio.sleep(0)
                got = yield (i, got)
            except Thrown as error:
                log.append(str(error))
                if dice.random() < .5:
                    raise
            finally:
                if dice.random() < .2:
                    await asyncio.sleep(0)
                    log.append("finally")

    return numbers


def told(error):
    return type(error), str(error), getattr(error, "value", None), type(error.__cause__)


def drive(generator, seed):
    dice, steps = random.Random(seed), []
    for i in range(dice.randrange(1, 9)):
        step = dice.choice((generator.__next__, generator.__next__, lambda: generator.send(i if steps else None),
                            lambda: generator.throw(Thrown("thrown")), lambda: generator.throw(StopIteration("thrown")), generator.close))
        try:
            steps.append(step())
        except BaseException as error:
            steps.append(told(error))
    return steps


async def drive_asynchronous(generator, seed):
    dice, steps = random.Random(seed), []
    for i in range(dice.randrange(1, 8)):
        step = dice.choice((generator.__anext__, generator.__anext__, lambda: generator.asend(i if steps else None),
                            lambda: generator.athrow(Thrown("thrown")), generator.aclose))
        try:
            steps.append(await step())
        except BaseException as error:
            steps.append(told(error))
    del step, generator
    for _ in range(9):  # what is left over is closed by the event loop
        await asyncio.sleep(0)
    return steps


async def main():
    for seed in range(N):
        function, logs = make(seed), ([], [])
        bare = drive(function(logs[0]), seed)
        traced = drive(lanescope_generators.runner(function, 0)(function(logs[1])), seed)
        assert (bare, logs[0]) == (traced, logs[1]) and depth == 0, (seed, bare, traced, logs)
        function, logs = make_asynchronous(seed), ([], [])
        bare = await drive_asynchronous(function(logs[0]), seed)
        traced = await drive_asynchronous(lanescope_generators.runner(function, 0)(function(logs[1])), seed)
        assert (bare, logs[0]) == (traced, logs[1]) and depth == 0, (seed, bare, traced, logs)
    print("alike", n_ranges > 4 * N)


asyncio.run(main())
