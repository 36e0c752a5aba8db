#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""./run bench NAME [ARGS]: runs tests/bench/NAME.py. Each bench prints its figures as it measures them, and
one JSON object as its last line. Figures that are compared come from one run."""

import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def names():
    return sorted(name[:-3] for name in os.listdir(HERE) if name.endswith(".py") and name != "bench.py")


def main():
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("name", choices=names(), help="one of: " + ", ".join(names()))
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    tests = os.path.dirname(HERE)
    environment = dict(os.environ, LNS_SOURCE_ROOT=os.path.dirname(tests), LNS_BUILD_ROOT=options.build,
                       PYTHONPATH=os.pathsep.join([tests, os.path.join(tests, "ui")]), PYTHONUNBUFFERED="1")
    script = os.path.join(HERE, options.name + ".py")
    sys.exit(subprocess.run([sys.executable, script] + options.arguments, env=environment).returncode)


if __name__ == "__main__":
    main()
