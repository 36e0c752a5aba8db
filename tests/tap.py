# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The harness of the Python tests: runs each test_* function of a module and prints TAP.

A test file ends with `tap.main(globals())`. A test that raises has failed; one that raises
Skip is skipped, with its reason. Paths of the tree under test come from the environment, as
tests/meson.build sets it.
"""

import os
import sys
import traceback

SOURCE = os.environ.get("LNS_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LNS_BUILD_ROOT", os.path.join(SOURCE, "build"))
LANESCOPE = os.path.join(BUILD, "src", "cli", "lanescope")
SHARED = os.path.join(os.path.dirname(SOURCE), "shared")


class Skip(Exception):
    """Ends a test as skipped; the argument says what is missing."""


def main(names):
    """Runs every test_* function of NAMES, in the order of the file, or those named in argv."""
    wanted = sys.argv[1:]
    tests = [(n, f) for n, f in names.items() if n.startswith("test_") and callable(f)]
    if wanted:
        tests = [t for t in tests if t[0] in wanted]
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except BaseException:
            failed += 1
            traceback.print_exc()  # to stderr: comments of TAP are kept from who reads the log
            print(f"not ok {number} - {name}", flush=True)
    print(f"1..{len(tests)}", flush=True)
    sys.exit(1 if failed else 0)
