# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The repository holds what the project wrote, and small reports: nothing that was downloaded or built."""

import os
import subprocess

import tap

# The largest report among the tests has 0.9 MB.
LIMIT_BYTES = 1 << 20
FETCHED = (".whl", ".deb", ".rpm", ".zip", ".gz", ".so", ".a", ".o")


def files():
    listed = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=True).stdout.split("\0")
    return [file for file in listed if file and os.path.isfile(os.path.join(tap.SOURCE, file))]


def test_no_file_is_large():
    large = [file for file in files() if os.path.getsize(os.path.join(tap.SOURCE, file)) > LIMIT_BYTES]
    assert not large, "larger than 1 MiB, take out of the repository: " + " ".join(large)


def test_no_file_was_downloaded_or_built():
    fetched = [file for file in files() if file.endswith(FETCHED)]
    assert not fetched, "downloaded or built, take out of the repository: " + " ".join(fetched)


tap.main(globals())
