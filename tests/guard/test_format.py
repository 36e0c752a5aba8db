# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Every C file is formatted by clang-format."""

import os
import shutil
import subprocess

import tap


def test_clang_format():
    if shutil.which("clang-format") is None:
        raise tap.Skip("clang-format is not installed")
    listed = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
                            capture_output=True, text=True, check=True).stdout.split()
    files = [f for f in listed if os.path.exists(os.path.join(tap.SOURCE, f))]
    result = subprocess.run(["clang-format", "--dry-run", "-Werror"] + files, cwd=tap.SOURCE,
                            capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error:" in line})
    assert result.returncode == 0, "run clang-format -i on: " + " ".join(wrong)


tap.main(globals())
