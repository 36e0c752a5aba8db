#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs the suite and ends with one line: N passed, N failed, N skipped.

Each meson test prints TAP (its cases are counted one by one) or only exits (counted as one).
"""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def junit_cases(path):
    """Yields (suite, case, outcome, text) of each case in meson's JUnit file at PATH."""
    for suite in ElementTree.parse(path).getroot():
        for case in suite.iter("testcase"):
            name = f'{suite.get("name")}: {case.get("name")}'
            failure = case.find("failure")
            if failure is None:
                failure = case.find("error")
            skipped = case.find("skipped")
            if failure is not None:
                yield name, "failed", failure.get("message") or failure.text or ""
            elif skipped is not None:
                yield name, "skipped", skipped.get("message") or skipped.text or ""
            else:
                yield name, "passed", ""


def run_suites(build, arguments):
    """Runs `meson test` in BUILD; returns its exit status and counts of outcomes."""
    # One more than there are CPUs, as many tests wait for the program that they watch. Limits of time only end what hangs: a busy
    # machine may take ten times as long as an idle one.
    command = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--num-processes",
               str((os.cpu_count() or 1) + 1), "--timeout-multiplier", "10"]
    junit = os.path.join(build, "meson-logs", "testlog.junit.xml")
    if os.path.exists(junit):
        os.remove(junit)
    status = subprocess.run(command + arguments).returncode
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    lines = []
    if not os.path.exists(junit):
        return status or 1, counts, lines
    for name, outcome, text in junit_cases(junit):
        counts[outcome] += 1
        if outcome != "passed":
            lines.append(f"{outcome}: {name}{': ' + text.strip() if text.strip() else ''}")
    return status, counts, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--full", action="store_true", help="also the stages that take long (tests/README.md)")
    parser.add_argument("--stage", action="append", help="only this stage of what takes long")
    options, rest = parser.parse_known_args()
    full = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "full.py"), "--build", options.build]
    if options.stage:
        sys.exit(subprocess.run(full + [word for name in options.stage for word in ("--stage", name)]).returncode)
    status, counts, lines = run_suites(options.build, rest)
    if options.full:
        status = subprocess.run(full).returncode or status
    for line in lines:
        print(line)
    print(f'{counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped')
    if status != 0 and counts["failed"] == 0:
        print("run_tests: meson test itself failed", file=sys.stderr)
    sys.exit(0 if status == 0 and counts["failed"] == 0 and counts["passed"] > 0 else 1)


if __name__ == "__main__":
    main()
