# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""No circles between files: of two object files, only one may need what the other defines, directly or through others.

Read from the object files of the build with nm. A table of parts stands above its parts, and what they share below them, so
that each file can be understood from those that it needs."""

import collections
import os
import re
import subprocess

import tap

# As nm names them: what a file defines for others. U is what it needs.
DEFINED = set("TDBRVWC")


def source_of(object_path):
    """The source of an object file, or None: meson names it FOLDER/TARGET.p/PATH_FROM_FOLDER.c.o, with .._ for each ../"""
    match = re.fullmatch(r"(.*)/[^/]+\.p/([^/]+\.c)\.o", object_path)
    if match is None:
        return None
    folder, name = match.groups()
    while name.startswith(".._"):
        folder, name = os.path.dirname(folder), name[3:]
    for path in (name, *(name[:i] + "/" + name[i + 1:] for i, letter in enumerate(name) if letter == "_"),
                 name.replace("_", "/")):
        if os.path.exists(os.path.join(tap.SOURCE, folder, path)):
            return os.path.join(folder, path)
    return None  # generated


def read_symbols():
    """{target: {source: (symbols that it defines, symbols that it needs)}} of all targets of the product."""
    objects = []
    for house in ("src", "capture", "ui"):
        for place, _, names in os.walk(os.path.join(tap.BUILD, house)):
            objects += [os.path.relpath(os.path.join(place, name), tap.BUILD) for name in names if name.endswith(".c.o")]
    listed = subprocess.run(["nm", "-A", "--extern-only", *sorted(objects)], cwd=tap.BUILD, capture_output=True, text=True, check=True).stdout
    targets = collections.defaultdict(lambda: collections.defaultdict(lambda: (set(), set())))
    sources = {path: source_of(path) for path in objects}
    for line in listed.splitlines():
        path, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if sources[path] is not None:
            defined, needed = targets[os.path.dirname(path)][sources[path]]
            if kind in DEFINED:
                defined.add(symbol)
            elif kind == "U":
                needed.add(symbol)
    return targets


def read_needs():
    """{source: {source that it needs: symbols}}. A symbol is looked for in the same target first, as linkers do."""
    targets = read_symbols()
    anywhere = {symbol: source for files in targets.values() for source, (defined, _) in files.items() for symbol in defined}
    needs = collections.defaultdict(lambda: collections.defaultdict(set))
    for files in targets.values():
        here = {symbol: source for source, (defined, _) in files.items() for symbol in defined}
        for source, (_, needed) in files.items():
            for symbol in needed:
                target = here.get(symbol, anywhere.get(symbol))
                if target not in (None, source):
                    needs[source][target].add(symbol)
    return needs


def find_circles(needs):
    """The sets of files of which each needs each other one, by Tarjan's algorithm."""
    index, low, stack, circles = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(needs.get(file, ())):
            if other not in index:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], index[other])
        if low[file] == index[file]:
            circle = stack[stack.index(file):]
            del stack[-len(circle):]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for file in sorted(needs):
        if file not in index:
            visit(file)
    return circles


def describe(circle, needs):
    lines = [f"circle of {len(circle)} files:"]
    for file in circle:
        for other in sorted(set(circle) & set(needs[file])):
            lines.append(f"  {file} needs {other} for {', '.join(sorted(needs[file][other])[:3])}")
    return "\n".join(lines)


def test_circles_are_found():
    needs = {"a": {"b": {"x"}}, "b": {"c": {"y"}, "d": {"z"}}, "c": {"a": {"w"}}, "d": {}}
    assert find_circles(needs) == [["a", "b", "c"]]
    assert find_circles({"a": {"b": {"x"}}, "b": {}}) == []


def test_no_file_needs_another_that_needs_it():
    needs = read_needs()
    assert len(needs) > 200, f"only {len(needs)} object files were read"
    wrong = [describe(circle, needs) for circle in find_circles(needs)]
    assert not wrong, "\n".join(wrong)


tap.main(globals())
