# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Short names of kernels are those that real reports of Nsight Systems give the same kernels."""

import glob
import os
import sqlite3
import subprocess

import tap

CORPUS = os.path.join(tap.SHARED, "corpus", "nsys-sqlite")
NAMES = os.path.join(tap.BUILD, "tests", "golden", "kernel-names")


def test_short_names_of_the_corpus():
    paths = sorted(glob.glob(os.path.join(CORPUS, "*.sqlite")))
    if not paths:
        raise tap.Skip("../shared/corpus is not there")
    expected = {}
    for path in paths:
        file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master")}
        if "CUPTI_ACTIVITY_KIND_KERNEL" in tables:
            expected.update(file.execute(
                "SELECT DISTINCT m.value, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                " JOIN StringIds m ON m.id = k.mangledName JOIN StringIds s ON s.id = k.shortName"))
        file.close()
    assert len(expected) > 150, len(expected)
    run = subprocess.run([NAMES], input="\n".join(expected) + "\n", capture_output=True, text=True, check=True)
    wrong = [(m, got, want) for (m, want), got in zip(expected.items(), run.stdout.splitlines()) if got != want]
    assert not wrong, wrong


if __name__ == "__main__":
    tap.main(globals())
