# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Short names of kernels are the identifiers in their sources and, with the corpus, the short names of nsys."""

import os
import subprocess

import exports
import make_exports
import tap

NAMES = os.path.join(tap.BUILD, "tests", "golden", "kernel-names")


def check(expected):
    """EXPECTED: short names by mangled ones."""
    run = subprocess.run([NAMES], input="\n".join(expected) + "\n", capture_output=True, text=True, check=True)
    wrong = [(m, got, want) for (m, want), got in zip(expected.items(), run.stdout.splitlines(), strict=True) if got != want]
    assert not wrong, wrong


def test_short_names():
    check({mangled: short for mangled, _, short in make_exports.KERNELS})


def test_short_names_of_the_corpus():
    exports.need()
    expected = {}
    for name in exports.corpus():
        database = exports.source(name)
        if exports.has(database, "CUPTI_ACTIVITY_KIND_KERNEL"):
            expected.update(database.execute(
                "SELECT DISTINCT m.value, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                " JOIN StringIds m ON m.id = k.mangledName JOIN StringIds s ON s.id = k.shortName"))
    assert len(expected) > 150, len(expected)
    check(expected)


if __name__ == "__main__":
    tap.main(globals())
