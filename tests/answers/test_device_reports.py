# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope why of reports that were recorded on an NVIDIA H200 (tests/answers/device): programs of PyTorch without an annotation,
each slow for a reason that slow_programs.py of tests/device makes itself. Device: the reports, not the machine of this test."""

import json
import lzma
import os
import sys
import tempfile

import tap

for room in ("answers", "golden"):
    sys.path.insert(0, os.path.join(tap.SOURCE, "tests", room))
import answers  # noqa: E402
import golden  # noqa: E402

REPORTS = os.path.join(tap.SOURCE, "tests", "answers", "device")


def ask(name):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, f"{name}.rep")
        with lzma.open(os.path.join(REPORTS, f"{name}.rep.xz")) as packed, open(report, "wb") as file:
            file.write(packed.read())
        answer = json.loads(golden.run("why", "--format=json", report)[0])
    answers.check_ledgers(answer, name)
    return answer


def check(name, cause, *said, unsaid=()):
    """The first finding of the report NAME is CAUSE, its sentence has all that is SAID, and the verdict nothing UNSAID."""
    answer = ask(name)
    first = answer["findings"][0]
    lacks = [text for text in said if text not in answer["verdict"]] + [text for text in unsaid if text in answer["verdict"]]
    assert first["cause"] == cause and not lacks, (lacks, answer["verdict"], [(f["cause"], f["ns"]) for f in answer["findings"]])
    return answer


def test_work_between_steps():
    answer = check("work", "cpu-work", "between its first and last work", "in all 40 steps", "augment > compute (slow_programs.py:45)",
                   "most of it in import torch._dynamo (slow_programs.py:19)")
    assert answer["steps"]["count"] == 40, answer["steps"]


def test_a_loader_whose_workers_compute():
    # A worker's thread that hands over tensors waits for the interpreter's lock, which its main thread has as it decodes.
    check("loader", "lock-wait", "finally for process ", "Pictures.decode > compute (slow_programs.py:45)")


def test_the_lock_of_the_interpreter():
    answer = check("gil", "lock-wait", "for Python's interpreter lock (GIL), held by thread 870 “statistics” in statistics > compute")
    assert "another process" in answer["next"], answer["next"]


def test_a_few_steps_that_evaluate():
    # Another thread launches the backward pass, which is most of the launches: it is not the one that was slow.
    check("sometimes", "cpu-work", "most in 10 of 99 steps", "evaluate > compute", unsaid=("pt_autograd",))


def test_polling_by_sleep():
    # No call of the C library was recorded: where it was blocked is known, by what it is not.
    check("sleeps", "unknown", "was blocked for 1.46 s, mostly in train > poll", "what it waited for was not recorded")


def test_a_server_that_waits_for_requests():
    # Recorded without samples of Python.
    check("server", "lock-wait", "in 39 of 40 steps, for process 1638")


def test_graphs_are_not_missing():
    # The 400 launches of a capture make a graph; that nothing ran of them is as it should be.
    for name, busy in (("replays", "it was busy 97 %"), ("cuda-graph", "")):
        answer = check(name, "start-up", busy)
        assert not [f for f in answer["findings"] if f["cause"] == "not-recorded"], answer["findings"]
        assert not any("no GPU work was recorded" in a["reason"] for a in answer["abstained"]), answer["abstained"]


def test_a_program_that_ends_at_once():
    check("exit", "start-up", "cudaLaunchKernel")


tap.main(globals())
