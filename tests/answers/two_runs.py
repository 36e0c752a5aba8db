# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs of one program that differ in what is known, to be compared."""

import worlds

LOAD_NS, AUGMENT_NS, TRAIN_NS = 2_000_000, 3_000_000, 4_000_000


def work(world, lasts, has_rivals):
    """The thread computes for LASTS, with noise; HAS_RIVALS: caches are cold after each of the times in which another program has the CPU."""
    if not has_rivals:
        world.main.now += int(lasts * (1 + 0.004 * world.random.gauss(0, 1)))
        return
    left = int(lasts * (1 + 0.004 * world.random.gauss(0, 1) + world.random.expovariate(1 / 0.08)))
    while left > 0:
        ran = min(left, world.random.randrange(500_000, 4_000_000))
        world.compute(world.main, ran)
        left -= ran
        if left > 0:
            world.blocked(world.main, world.random.randrange(1, 9) * 4_000_000, state=6)


def write(path, seed, times=1.0, n_steps=30, has_rivals=False):
    """Writes an SQLite export of N_STEPS steps of a program, in which the range `augment` takes TIMES as long; SEED is of the machine's
    noise, and HAS_RIVALS says whether other programs have its CPUs. Returns the steps, as (start, end)."""
    world = worlds.World(7, "diff", has_os=False, has_states=has_rivals)
    world.random.seed(seed)
    main, steps = world.main, []
    world.begin(main)
    for _ in range(n_steps):
        start = main.now
        for name, lasts in (("load", LOAD_NS), ("augment", AUGMENT_NS * times), ("train", TRAIN_NS)):
            begin = main.now
            work(world, lasts, has_rivals)
            world.export.add("NVTX_EVENTS", start=begin, end=main.now, eventType=59, text=name, globalTid=main.global_tid, domainId=0)
        main.now += 3000
        steps.append((start, main.now))
        world.export.add("NVTX_EVENTS", start=start, end=main.now, eventType=59, text="step", globalTid=main.global_tid, domainId=0)
        main.now += 2000
    world.end()
    world.write(path)
    return steps
