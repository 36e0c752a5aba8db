# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Checks of `lanescope why` on programs of PyTorch that are slow for a known reason (slow_programs.py), recorded as a user does:
with no switch. The first line of a check's function says what must hold."""

import functools

from checks import expect_real

# What each program must be told: the cause of its first finding (one of these), and words of that finding's sentence.
REASONS = {
    "loader": ("lock-wait", "decode"),
    "work": ("cpu-work", "augment"),
    "item": ("gpu-sync", "item"),
    "pageable": ("pageable-copy", "cudaMemcpyAsync"),
    "launches": ("launch-rate", "launches"),
    "cache": ("allocation", "cudaMalloc"),
    "checkpoint": ("io-wait cpu-work slow-step", "save"),
    "producer": ("lock-wait", "tokenize"),
    "gil": ("lock-wait cpu-contention", "statistics"),
    "garbage": ("cpu-work", "garbage"),
    "server": ("lock-wait io-wait", "server"),
    "sometimes": ("slow-step cpu-work", "evaluate"),
    "sleeps": ("sleep unknown", "poll"),
    "compiles": ("module-load cpu-work lock-wait", "compile"),
    "downloads": ("pageable-copy", "cudaMemcpyAsync"),
    "busy": (None, "busy"),
    "replays": (None, "busy"),
    "generate": ("launch-rate", "generate"),
}
# Before a program's first work PyTorch starts for seconds, which is true and not what a program is slow for.
BESIDE = {"start-up", "tear-down"}


def explained(machine, program, cause, word):
    """`why` of {} is told {} and `{}`"""
    expect_real(machine, "PyTorch does not run on the double")
    machine.expect_torch()
    report, _ = machine.record(["python3", "slow_programs.py", program], trace=None, env=machine.torch_env)
    answer = report.why()
    findings = [finding for finding in answer["findings"] if finding["cause"] not in BESIDE]
    machine.measured(says=answer["verdict"], finds=[(finding["cause"], finding["ns"] // 1_000_000) for finding in answer["findings"]])
    said = findings[0]["sentence"] if cause else answer["verdict"]
    assert (not cause or findings[0]["cause"] in cause.split()) and word in said, f"{[finding['sentence'] for finding in findings[:3]]}"


CHECKS = {f"why: {program}": functools.partial(explained, program=program, cause=cause, word=word)
          for program, (cause, word) in REASONS.items()}
