# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what recording costs: without a tool, with Lanescope, with a CUPTI client that discards its records, and with
PyTorch's profiler, in turn; keeps the best of each. Figures from the double mean nothing and are not kept."""

import os

from machine import BUILD, CouldNot, Recording

TURNS = 5
WAYS = ("base", "us", "bare", "kineto")


def command_of(machine, way, report, command):
    """The command line and the environment that run COMMAND in WAY."""
    if way == "us":
        return machine.profile_command(report) + command, {}
    if way == "kineto":
        return command + ["kineto"], {}
    if way == "bare":
        client = os.path.join(BUILD, "tests", "device", "libbare-client.so")
        if not os.path.exists(client):
            raise CouldNot(f"{client} was not built")
        return command, {"CUDA_INJECTION64_PATH": client}
    return command, {}


def measure(machine, name, command, turns, ways, env=None):
    """The best of TURNS figures that COMMAND prints, for each way."""
    best = {}
    for _ in range(turns):
        for way in ways:
            machine.expect_time()
            words, variables = command_of(machine, way, f"cost-{name}", command)
            figure = float(machine.execute(words, env={**variables, **(env or {})}).split()[-1])
            best[way] = min(figure, best.get(way, figure))
    assert Recording(machine, f"cost-{name}").fact("lost") == "0", "records were lost"
    return best


def keep(machine, name, best):
    machine.cost.update({f"{name}_ns_{way}": figure for way, figure in best.items()})
    return ", ".join(f"{way} {figure:.0f} ns" for way, figure in best.items())


def launches(machine):
    command = ["python3", "launch_cost.py", machine.program("liblaunches.so")]
    if machine.is_double:
        measure(machine, "launch", command + ["2"], 1, WAYS[:3])
        raise CouldNot("nothing is shown about cost on the double; its three ways without PyTorch ran")
    ways = WAYS[:3] if machine.torch.startswith("cannot") else WAYS
    said = keep(machine, "launch", measure(machine, "launch", command + ["40"], TURNS, ways))
    machine.expect_torch()
    return said


def training(machine):
    machine.expect_torch()
    return keep(machine, "step", measure(machine, "step", ["python3", "train.py", "100"], 3, WAYS, machine.torch_env))


ALL = {"cost of a launch": launches, "cost of a step of training": training}
