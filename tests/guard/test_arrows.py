# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The arrows of the house: which folder may include which. Read from the #include lines."""

import os
import re
import subprocess

import tap

# folder -> folders that it may include besides itself
ARROWS = {
    "capture/wire": [],
    "capture/inject": ["capture/wire"],
    "capture/python": ["capture/wire"],
    "capture/session": ["capture/wire", "src/base", "src/store"],
    "src/base": [],
    "src/store": ["src/base"],
    "src/schema": ["src/base", "src/store"],
    "src/symbols": ["src/base", "src/store"],
    "src/sql": ["src/base", "src/store", "src/schema"],
    "src/import": ["src/base", "src/store", "src/schema"],
    "src/export": ["src/base", "src/store", "src/schema"],
    "src/analysis": ["src/base", "src/store", "src/schema"],
    "src/cli": ["src/base", "src/store", "src/schema", "src/symbols", "src/sql", "src/import",
                "src/export", "src/analysis", "capture/session"],
    "ui": ["src/base", "src/store", "src/schema", "src/symbols", "src/sql", "src/import",
           "src/export", "src/analysis"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
TOOLKIT = re.compile(r'^\s*#\s*include\s*<(glib|gtk|gio|adwaita|gdk|cairo)')


def sources():
    listed = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
                            capture_output=True, text=True, check=True).stdout.split()
    return [path for path in listed if os.path.exists(os.path.join(tap.SOURCE, path))]


def folder_of(path):
    for folder in ARROWS:
        if path.startswith(folder + "/"):
            return folder
    return None


def test_every_source_has_a_room():
    stray = [p for p in sources() if folder_of(p) is None and not p.startswith("tests/")]
    assert not stray, f"no room in DESIGN.md for {stray}"


def test_no_arrow_against_the_design():
    wrong = []
    for path in sources():
        room = folder_of(path)
        if room is None:
            continue
        with open(os.path.join(tap.SOURCE, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if TOOLKIT.match(line) and room != "ui":
                    wrong.append(f"{path}:{number}: {line.strip()} outside ui")
                match = INCLUDE.match(line)
                if match is None:
                    continue
                target = folder_of(match.group(1))
                if target is not None and target != room and target not in ARROWS[room]:
                    wrong.append(f"{path}:{number}: {room} may not include {target}")
    assert not wrong, "\n".join(wrong)


def test_includes_are_written_from_the_root():
    wrong = []
    for path in sources():
        if folder_of(path) is None:
            continue
        with open(os.path.join(tap.SOURCE, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if match and "/" not in match.group(1) and match.group(1) != "lns-config.h" \
                        and not match.group(1).endswith("-generated.h") \
                        and not match.group(1).endswith("-resources.h"):
                    wrong.append(f"{path}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_files_stay_under_1000_lines():
    """A class that is one thing stays in one file; this many lines are more than one thing."""
    long = []
    for path in sources():
        with open(os.path.join(tap.SOURCE, path), "rb") as file:
            lines = sum(1 for _ in file)
        if lines >= 1000:
            long.append(f"{path}: {lines} lines")
    assert not long, "\n".join(long)


def test_licence_headers():
    without = []
    for path in sources():
        with open(os.path.join(tap.SOURCE, path), encoding="utf-8", errors="replace") as file:
            if "SPDX-License-Identifier: Apache-2.0" not in file.read(400):
                without.append(path)
    assert not without, "\n".join(without)


tap.main(globals())
