# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The test programs that meson knows, and which of them a run is about."""

import collections
import json
import os
import subprocess

# NAME is unique. SUITES are words such as "unit" and "gate". COMMAND is a list of words, ENVIRONMENT a dict of what it
# adds. TIMEOUT_S is for a machine of this kind that is idle. DEPENDS are ids of the build's targets.
Program = collections.namedtuple("Program", "name suites command environment timeout_s is_parallel priority is_tap depends")


class Unknown(Exception):
    """A name or a suite that no program has; the argument is a sentence for people."""


def load(build):
    """All test programs of the folder BUILD, in meson's order."""
    text = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True).stdout
    return [Program(test["name"], {suite.rpartition(":")[2] for suite in test["suite"]}, test["cmd"], test["env"],
                    test["timeout"], test["is_parallel"], test["priority"], test["protocol"] == "tap", test["depends"])
            for test in json.loads(text)]


def choose(programs, names, suites, is_whole):
    """Returns [(program, cases)]: those of NAMES, each "PROGRAM" or "PROGRAM:CASE", and of SUITES; without either, all of
    PROGRAMS if IS_WHOLE, else those of the gate. CASES is empty where all cases of the program are meant."""
    if not names and not suites:
        return [(program, ()) for program in programs if is_whole or "gate" in program.suites]
    by_name = {program.name: program for program in programs}
    known_suites = set().union(*(program.suites for program in programs))
    for suite in suites:
        if suite not in known_suites:
            raise Unknown(f"no suite is called {suite}; use one of: {', '.join(sorted(known_suites))}")
    cases = collections.OrderedDict()
    for name in names:
        program, _, case = name.partition(":")
        if program not in by_name:
            raise Unknown(f"no test program is called {program}; ./run test --list names them")
        cases.setdefault(program, []).append(case)
    chosen = [(by_name[name], () if "" in wanted else tuple(wanted)) for name, wanted in cases.items()]
    return chosen + [(program, ()) for program in programs if program.suites & set(suites) and program.name not in cases]


def quarantined(source):
    """{program: [case]} of tests/quarantine.txt below the folder SOURCE."""
    found = collections.defaultdict(list)
    for name, _cause, _date, _owner in quarantine_rows(source):
        program, _, case = name.partition(":")
        found[program].append(case)
    return found


def quarantine_rows(source):
    """The rows of tests/quarantine.txt as lists of four texts: PROGRAM:CASE, cause, date, owner file."""
    with open(os.path.join(source, "tests", "quarantine.txt"), encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [[cell.strip() for cell in line.split("|")] for line in lines if line and not line.startswith("#")]
