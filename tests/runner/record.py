# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What a run leaves in the build folder: the times of its cases, a JUnit file, and the cases that are unsteady."""

import datetime
import json
import os
import xml.etree.ElementTree as ElementTree


class Times:
    """Seconds of each case, by tier ("gate" or "all") and program, as the last runs measured them."""

    def __init__(self, build):
        self.path = os.path.join(build, "test-times.json")
        try:
            with open(self.path, encoding="utf-8") as file:
                self.seconds = json.load(file)
        except (OSError, ValueError):
            self.seconds = {}

    def expected_s(self, tier, program):
        """How long PROGRAM took in TIER; None if it is not known."""
        cases = self.seconds.get(tier, {}).get(program)
        return sum(cases.values()) if cases else None

    def take(self, tier, results):
        for (program, cases) in results:
            known = self.seconds.setdefault(tier, {}).setdefault(program, {})
            known.update((case.name, round(case.seconds, 3)) for case in cases)

    def store(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.seconds, file)
        os.replace(self.path + ".new", self.path)


def write_junit(build, results):
    """Writes RESULTS, pairs of a program's name and its cases, where meson would and other tools look."""
    root = ElementTree.Element("testsuites")
    for program, cases in results:
        suite = ElementTree.SubElement(root, "testsuite", name=program, tests=str(len(cases)))
        for case in cases:
            element = ElementTree.SubElement(suite, "testcase", name=case.name, classname=program, time=f"{case.seconds:.3f}")
            if case.outcome != "passed":
                text = "".join(c if c >= " " or c in "\n\t" else "?" for c in case.text)
                ElementTree.SubElement(element, "failure" if case.outcome == "failed" else "skipped", message=text)
    folder = os.path.join(build, "meson-logs")
    os.makedirs(folder, exist_ok=True)
    ElementTree.ElementTree(root).write(os.path.join(folder, "testlog.junit.xml"), encoding="utf-8", xml_declaration=True)


def add_flaky(build, program, case, load):
    """Adds CASE, which failed among others and passed alone, to flaky.txt. LOAD is what os.getloadavg() then said."""
    with open(os.path.join(build, "flaky.txt"), "a", encoding="utf-8") as file:
        now = datetime.datetime.now().isoformat(timespec="seconds")
        file.write(f"{now} {program}:{case.name} after {case.seconds:.1f} s, load {load[0]:.1f} of {os.cpu_count()} CPUs\n")
        file.writelines(f"    {line}\n" for line in case.text.splitlines())
