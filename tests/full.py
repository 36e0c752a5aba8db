#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs the stages that take too long for every change: all with `./run test --full`, one with `./run test --stage
NAME`. Prints a table of stages at the end; fails if one failed."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import nvtx_project
import package as debian_package

TESTS = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(TESTS)


class Unavailable(Exception):
    """The stage needs something that this machine does not have."""


def run(command, **options):
    print("+ " + " ".join(command), flush=True)
    subprocess.run(command, check=True, **options)


def sanitized(name, suite, without=None, **environment):
    """Runs SUITE in a build of its own with the sanitizer NAME, but for tests whose names begin with WITHOUT."""
    build = os.path.join(SOURCE, "build-" + name.split(",")[0])
    if not os.path.exists(os.path.join(build, "build.ninja")):
        run(["meson", "setup", build, SOURCE, f"-Db_sanitize={name}", "-Dstatic_cli=false", "-Dui=disabled",
             "-Db_lundef=false"])
    run(["ninja", "-C", build])
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True).stdout)
    names = [test["name"] for test in listed if any(name.endswith(":" + suite) for name in test["suite"])
             and not (without and test["name"].startswith(without))]
    run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--timeout-multiplier", "6"] + names,
        env=dict(os.environ, **environment))


def address(_build):
    sanitized("address,undefined", "unit")
    # Some of these measure memory, which the sanitizer holds back to find what is used after its end.
    sanitized("address,undefined", "golden", ASAN_OPTIONS="quarantine_size_mb=1:thread_local_quarantine_size_kb=64")


def thread(_build):
    # The injection is never built with sanitizers, so that this one could not see how its threads agree. The unwinder's
    # test stops itself with a trap, whose handler this sanitizer would delay.
    sanitized("thread", "unit", without=("inject-", "unwinder"))


def mutations(build):
    for name, said in (("mutate-report", " of 10000 opened"), ("mutate-export", " of 100"),
                       ("mutate-trace", " of 10000 imported"), ("mutate-json", " of 10000 valid"),
                       ("mutate-request", " of 10000 lines")):
        program = os.path.join(build, "tests", "fuzz", name)
        print("+ LNS_MUTATIONS=10000 " + program, flush=True)
        environment = dict(os.environ, LNS_MUTATIONS="10000", LNS_SOURCE_ROOT=os.path.dirname(TESTS))
        output = subprocess.run([program], env=environment, check=True, capture_output=True, text=True).stdout
        print(output)
        assert said in output, "it did not run 10,000"
    run([os.path.join(build, "tests", "fuzz", "mutate-symbols"), "2000"], env=dict(os.environ, LNS_BUILD_ROOT=build))


def structure(build):
    """A quarter of an hour on an idle machine: each file is handed to every command and to what the viewer does before it draws."""
    run([os.path.join(build, "tests", "fuzz", "structure")], env=dict(os.environ, LNS_MUTATIONS="100"))


def kills(build):
    run(["meson", "test", "-C", build, "kill", "--timeout-multiplier", "40"],
        env=dict(os.environ, LNS_KILL_ROUNDS="200"))


def nvtx_suite(build):
    """The NVTX project's own tests."""
    if shutil.which("cmake") is None:
        raise Unavailable("it needs cmake")
    nvtx_project.main(SOURCE, os.path.abspath(build))


def large(build):
    """A report of 100 million events, through the budgets of opening, frames and statistics; and the
    bytes that opening one of more than 1 GB reads."""
    run([os.path.join(build, "tests", "unit", "test-report-bytes")], env=dict(os.environ, LNS_EVENTS="100000000"))
    bench = [sys.executable, os.path.join(TESTS, "bench", "bench.py"), "--build", build]
    print("+ bench store 100000000", flush=True)
    output = subprocess.run(bench + ["store", "100000000"], check=True, capture_output=True, text=True).stdout
    result = json.loads(output.splitlines()[-1])
    print(json.dumps(result))
    lanescope = os.path.join(build, "src", "cli", "lanescope")
    try:
        start = time.monotonic()
        run([lanescope, "stats", "--report", "nvtx_sum", "--format", "csv", "-o", "-", result["file"]],
            stdout=subprocess.DEVNULL)
        print(f"  stats over 100 million events: {time.monotonic() - start:.2f} s")
    finally:
        os.remove(result["file"])


def mutate(_build):
    run([sys.executable, os.path.join(TESTS, "mutate.py")])


def package(build):
    """Needs root, for the Debian that it makes."""
    missing = [program for program in ("lintian", "mmdebstrap") if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        raise Unavailable(f"it needs {' and '.join(missing) or 'root'}")
    debian_package.main(SOURCE, build)


def images(_build):
    """Needs root, for their Debian and their containers."""
    missing = [program for program in ("buildah", "mmdebstrap", "openssl", "nsenter") if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        raise Unavailable(f"it needs {' and '.join(missing) or 'root'}")
    import images as container_images # it loads what sets variables for tests, which other stages do without
    container_images.main(SOURCE)


STAGES = {
    "address": (address, "unit and golden tests under address and undefined-behaviour sanitizers"),
    "thread": (thread, "unit tests under the thread sanitizer"),
    "mutations": (mutations, "10,000 mutated reports, as many exports of nsys, traces and JSON texts, under sanitizers"),
    "structure": (structure, "300 well-formed, hostile files through all that reads files, under sanitizers"),
    "kills": (kills, "200 rounds of kill -9 of target, tool, or both"),
    "nvtx": (nvtx_suite, "the NVTX project's own suite at " + nvtx_project.COMMIT),
    "package": (package, "Debian's packages, installed on a Debian that has nothing else"),
    "images": (images, "the images of data/kubernetes, built without a daemon and run in a restricted pod"),
    "large": (large, "a report of 100 million events"),
    "mutate": (mutate, "two small breakages of each of eleven rooms, of which the suite must notice four in five"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--stage", choices=STAGES, action="append", help="only this one (may be repeated)")
    options = parser.parse_args()
    rows, failed = [], False
    for name in options.stage or STAGES:
        function, what = STAGES[name]
        start = time.monotonic()
        try:
            function(options.build)
            outcome = "passed"
        except Unavailable as reason:
            outcome = f"skipped: {reason}"
        except (subprocess.CalledProcessError, AssertionError) as error:
            outcome, failed = f"FAILED: {error}", True
        rows.append((name, what, f"{time.monotonic() - start:.0f} s", outcome))
    for row in rows:
        print("{:10} {:75} {:>7}  {}".format(*row))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
