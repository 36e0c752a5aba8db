# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what recording costs: without a tool, with Lanescope, with a CUPTI client that discards its records, and with
PyTorch's profiler, in turn; of the turns, the median counts. Figures of the double mean nothing."""

import json
import statistics

from checks import expect_bare_client
from expect import expect_complete
from machine import CouldNot

TURNS = 3
WAYS = ("base", "us", "bare", "kineto")


def launches(machine):
    """A launch costs at most 1.2 of what it does with a bare CUPTI client, and adds at most half of what PyTorch's profiler
    adds, at 0 to 5 s and after 8 s"""
    ways = WAYS[:3] if machine.torch.startswith("cannot") else WAYS
    command = ["python3", "launches.py", machine.program("liblaunches.so"), "times", machine.size("12", "0.5")]
    measure(machine, command, ways, machine.size(TURNS, 1))
    machine.rehearse("times of the double mean nothing")
    expect_cheap(machine, ways)


def training(machine):
    """A step of training costs and adds at most as much, in proportion, at the same times"""
    machine.expect_torch()
    measure(machine, ["python3", "train.py", "times", "12"], WAYS, 2, machine.torch_env)
    expect_cheap(machine, WAYS)


def measure(machine, command, ways, turns, env=None):
    """Adds the figures <way>_<window>_p<part> in nanoseconds, as COMMAND prints them."""
    found = {}
    for turn in range(turns):
        for way in ways[turn % len(ways):] + ways[:turn % len(ways)]:
            machine.expect_time()
            words, variables = command_of(machine, way, command)
            for name, ns in json.loads(machine.execute(words, env={**(env or {}), **variables}).splitlines()[-1]).items():
                found.setdefault(f"{way}_{name}", []).append(ns)
            machine.measured(**{name: round(statistics.median(values)) for name, values in found.items()})
    expect_complete(machine.report())


def command_of(machine, way, command):
    """The command line and the environment that run COMMAND in WAY."""
    if way == "us":
        return machine.profile_command("report") + command, {}
    if way == "bare":
        return command, {"CUDA_INJECTION64_PATH": expect_bare_client()}
    return command + ["kineto"] * (way == "kineto"), {}


def expect_cheap(machine, ways):
    for window in ("early_p50", "late_p50"):
        base, us, bare = (machine.figures[f"{way}_{window}"] for way in ("base", "us", "bare"))
        assert machine.is_double or us <= 1.2 * bare, f"{window}: {us} ns, with a bare client {bare} ns"
        if "kineto" in ways:
            added = machine.figures[f"kineto_{window}"] - base
            assert us - base <= 0.5 * added, f"{window}: {us - base} ns are added, {added} ns by PyTorch's profiler"
    if "kineto" not in ways and not machine.is_double:
        raise CouldNot(f"measured, but not against PyTorch's profiler: PyTorch {machine.torch}")
