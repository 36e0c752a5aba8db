# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The official Python client of the Model Context Protocol asks a hundred questions about twenty reports; each number of the answers comes
out again when the statement beside it is run. tests/agents/fetch brings the client; without it the tests skip."""

import collections
import functools
import json
import lzma
import os
import subprocess
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "golden"))
import agent  # noqa: E402
import exports  # noqa: E402
import golden  # noqa: E402
import make_traces  # noqa: E402

PYTHON = os.path.join(tap.SOURCE, ".deps", "agents", "bin", "python")
LEAST_REPORTS, LEAST_QUESTIONS = 20, 100


def unpacked(path):
    target = golden.path(os.path.basename(path)[:-len(".xz")])
    if not os.path.exists(target):
        with lzma.open(path) as packed, open(target, "wb") as file:
            file.write(packed.read())
    return target


@functools.cache
def reports():
    """Real ones where they are there: of GPUs, of nsys, of PyTorch; then the sample, and made ones up to twenty."""
    device = os.path.join(tap.SOURCE, "tests", "answers", "device")
    paths = [unpacked(os.path.join(device, name)) for name in sorted(os.listdir(device)) if name.endswith(".rep.xz")]
    paths += [exports.path(name) for name in exports.corpus()]
    kineto = os.path.join(tap.SHARED, "corpus", "kineto")
    paths += [os.path.join(kineto, name) for name in sorted(os.listdir(kineto))] if os.path.isdir(kineto) else []
    paths.append(os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep"))
    if len(paths) < LEAST_REPORTS:
        folder = golden.path("traces")
        os.mkdir(folder)
        paths += [exports.path(name) for name in exports.OWN] + make_traces.make(folder)
    return paths


def ask(mode):
    if not os.path.exists(PYTHON):
        raise tap.Skip("the official client is not here: tests/agents/fetch brings it")
    done = subprocess.run([PYTHON, os.path.join(tap.SOURCE, "tests", "agents", "ask.py"), tap.LANESCOPE, mode, *reports()],
                          cwd=golden.FOLDER, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return json.loads(done.stdout)


def check(asked):
    """Counts of questions, refusals, rows and numbers. Each number comes out again."""
    counts, paths = collections.Counter(), {}
    for question in asked:
        counts["questions"] += question["tool"] != "open"
        counts["bytes"] += len(question["text"])
        answer = question["answer"]
        if answer is None:
            # There is no finding where nothing is wrong, no part of a time that was not recorded, and nothing to change where there is none.
            assert question["tool"] in ("findings", "why") or "names nothing in the report" in question["text"], question
            counts["refused"] += 1
            continue
        if question["tool"] == "open":
            paths[answer["report"]] = os.path.realpath(question["report"])
        assert answer["answer"] and len(answer["rows"]) <= 50, question
        counts["rows"] += len(answer["rows"])
        counts["numbers"] += agent.check(answer, paths.get(answer.get("report")))
        counts["proposals"] += len(answer.get("next", []))
    counts["reports"] = len(paths)
    return dict(counts)


def check_mode(mode, version):
    told = ask(mode)
    assert told["version"] == version, told["version"]
    counts = check(told["asked"])
    print("#", mode, json.dumps(counts), flush=True)
    assert counts["reports"] >= LEAST_REPORTS and counts["questions"] >= LEAST_QUESTIONS and counts["numbers"] > 1000, counts
    assert counts.get("refused", 0) < counts["questions"] / 20, counts


def test_a_hundred_questions():
    check_mode("auto", agent.STATELESS)


def test_a_hundred_questions_after_a_handshake():
    check_mode("legacy", agent.VERSIONS[-1])


tap.main(globals())
