# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs of one program that differ in what is known, to be compared."""

import worlds

LOAD_NS, AUGMENT_NS, TRAIN_NS = 2_000_000, 3_000_000, 4_000_000


def write(path, seed, times=1.0, n_steps=30):
    """Writes an SQLite export of N_STEPS steps of a program, in which the range `augment` takes TIMES as long; SEED is of the machine's
    noise. Returns the steps, as (start, end)."""
    world = worlds.World(7, "diff", has_os=False, has_states=False)
    world.random.seed(seed)
    main, steps = world.main, []
    for _ in range(n_steps):
        start = main.now
        for name, lasts in (("load", LOAD_NS), ("augment", AUGMENT_NS * times), ("train", TRAIN_NS)):
            begin = main.now
            main.now += int(lasts * (1 + 0.004 * world.random.gauss(0, 1)))
            world.export.add("NVTX_EVENTS", start=begin, end=main.now, eventType=59, text=name, globalTid=main.global_tid, domainId=0)
        main.now += 3000
        steps.append((start, main.now))
        world.export.add("NVTX_EVENTS", start=start, end=main.now, eventType=59, text="step", globalTid=main.global_tid, domainId=0)
        main.now += 2000
    world.write(path)
    return steps
