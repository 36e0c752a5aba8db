# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Replays three public traces of large trainings (ByteDance-Seed/StragglerAnalysis), where tests/answers/fetch has brought them: the
slowdowns are those that their authors found."""

import json
import os
import subprocess

import tap

FOLDER = os.path.join(tap.SOURCE, ".deps", "stragglers")
SCRIPT = os.path.join(tap.SOURCE, "tests", "answers", "stragglers.py")
REPLAY = os.path.join(tap.BUILD, "tests", "answers", "replay-points")
CLOSE = 0.01


def check(name):
    if not os.path.exists(os.path.join(FOLDER, ".complete")):
        raise tap.Skip("tests/answers/fetch has not brought the traces")
    run = subprocess.run([os.path.join(FOLDER, "venv", "bin", "python"), SCRIPT, os.path.join(FOLDER, "data"), name, REPLAY], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    with open(os.path.join(FOLDER, "data", f"result-{name}.json"), encoding="utf-8") as file:
        wanted = json.load(file)
    pairs = {"S": (found["S"], wanted["blocking_slowdown"])}
    for ours, theirs in (("S_t", "optype"), ("S_dp", "dp_rank"), ("S_pp", "stage")):
        assert set(found[ours]) == set(wanted[f"blocking_decompose_by_{theirs}"]), (ours, found[ours])
        pairs |= {f"{ours} {key}": (value, wanted[f"blocking_decompose_by_{theirs}"][key]) for key, value in found[ours].items()}
    # The slowdown by one worker, S_w, is taken to be the lesser one of its copy's and its stage's.
    for dp in found["S_dp"]:
        for stage in found["S_pp"]:
            pairs[f"S_w {dp} {stage}"] = (min(found["S_dp"][dp], found["S_pp"][stage]),
                                          min(wanted["blocking_decompose_by_dp_rank"][dp], wanted["blocking_decompose_by_stage"][stage]))
    errors = {what: abs(ours / theirs - 1) for what, (ours, theirs) in pairs.items()}
    worst = max(errors, key=errors.get)
    print(f"# {name}: {found['points']} points, S {found['S']:.4f} ({wanted['blocking_slowdown']:.4f}), {len(pairs)} slowdowns, "
          f"worst {worst}: {100 * errors[worst]:.3f} %")
    assert errors[worst] < CLOSE, {what: pairs[what] for what, error in errors.items() if error >= CLOSE}


def test_one_slow_worker():
    check("AR")


def test_sequences_of_different_length():
    check("SE")


def test_stages_of_different_length():
    check("ST")


tap.main(globals())
