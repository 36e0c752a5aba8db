# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Shared by the tests of what is sampled: the switches, the program, and whether this machine refuses samples."""

import os
import re
import subprocess

import profiling
import tap

WORK = os.path.join(tap.BUILD, "tests", "programs", "cpu-work")
SAMPLING = ("-t", "none", "-o", "r.rep", "--sample=process-tree")

# What keeps this machine from it, in Lanescope's words; "" if nothing does.
with profiling.Folder() as probe:
    REFUSAL = re.search(r"\[(LNS-CPU-00[1-4])\]", probe.profile(*SAMPLING, "true").err)


def is_refused(run):
    """Whether this machine refuses samples, as RUN then must have said; the program ran in any case."""
    if REFUSAL is None:
        assert not re.search(r"LNS-CPU-00[1-4]", run.err), run.err
        return False
    assert f"[{REFUSAL.group(1)}]" in run.err, run.err
    return True


def rows(folder, query, name="r.rep"):
    out = subprocess.run([tap.LANESCOPE, "sql", folder.file(name), query], capture_output=True, text=True, check=True).stdout
    return [tuple(int(cell) if re.fullmatch(r"-?\d+", cell) else cell for cell in line.split("\t")) for line in out.splitlines()]
