# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Which test programs a change can break: those that are built of a changed file, or run a program or a script that is.
The build knows: its arrows between files are those between houses, and the headers that compilers read."""

import collections
import json
import os
import re
import subprocess

# Whoever changes these may break any test.
OF_ALL = re.compile(r"^(run|meson\.build|meson_options\.txt|(src|capture|ui|tests)/meson\.build|tests/tap\.(py|h)|tests/runner/.*)$")


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def changed_paths(source, since):
    """Paths below SOURCE that differ from the commit SINCE; without one, from the last commit or, where nothing does, from
    the one before."""
    def differing(commit):
        return set(lines("git", "-C", source, "diff", "--name-only", commit))
    new = set(lines("git", "-C", source, "ls-files", "--others", "--exclude-standard"))
    if since is not None:
        return differing(since) | new
    return differing("HEAD") | new or differing("HEAD^")


def headers_of_objects(build):
    """{object: [file]}: what the compiler read for each object of BUILD, relative to it."""
    found, name = collections.defaultdict(list), None
    for line in lines("ninja", "-C", build, "--quiet", "-t", "deps"):
        if line.startswith("    "):
            found[name].append(line.strip())
        else:
            name = line.partition(":")[0]
    return found


def targets(build):
    """{id: [file]}: what each target of the build makes."""
    return {target["id"]: target["filename"] for target in json.loads("\n".join(lines("meson", "introspect", "--targets", build)))}


def inputs_of(program, source, build, made, headers):
    """Paths below SOURCE that PROGRAM depends on."""
    outputs = [os.path.relpath(name, build) for target in program.depends for name in made.get(target, ())]
    files = set(lines("ninja", "-C", build, "--quiet", "-t", "inputs", *outputs)) if outputs else set()
    for name in list(files):
        files.update(headers.get(name, ()))
    files.update(word for word in program.command if word.startswith(source + os.sep))
    return {os.path.relpath(os.path.join(build, name), source) for name in files}


def can_break(program, inputs, changed):
    """Whether a change of the paths CHANGED can break PROGRAM, which depends on the paths INPUTS."""
    if "guard" in program.suites or any(OF_ALL.match(path) for path in changed) or inputs & changed:
        return True
    # What scripts import and read lies beside them.
    folders = {os.path.dirname(path) for path in inputs if path.startswith("tests/") and path.endswith(".py")}
    return any(os.path.dirname(path) in folders and not re.match(r"(test_.*\.py|.*\.[ch])$", os.path.basename(path)) for path in changed)


def choose(programs, source, build, since):
    """Those of PROGRAMS that the change since SINCE can break."""
    changed = changed_paths(source, since)
    made, headers = targets(build), headers_of_objects(build)
    return [program for program in programs if can_break(program, inputs_of(program, source, build, made, headers), changed)]
