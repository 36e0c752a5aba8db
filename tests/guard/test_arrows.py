# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Which house and which room may include which, read from the #include lines."""

import os
import re
import subprocess

import tap

# Each house, and the houses that it may include.
HOUSES = {
    "capture/wire": [],
    "capture/inject": ["capture/wire"],
    "capture/python": ["capture/wire"],
    "capture/sampler": ["capture/wire"],
    "capture/session": ["capture/wire", "src/base", "src/store", "src/symbols"],
    "src/base": [],
    "src/symbols": ["src/base"],
    "src/store": ["src/base"],
    "src/tables": ["src/base", "src/store"],
    "src/import": ["src/base", "src/store", "src/tables"],
    "src/export": ["src/base", "src/store", "src/tables"],
    "src/analysis": ["src/base", "src/store", "src/tables"],
    "src/extract": ["src/base", "src/store", "src/tables", "src/export", "src/analysis"],
    "src/cli": ["src/base", "src/symbols", "src/store", "src/tables", "src/import", "src/export", "src/analysis", "src/extract",
                "capture/session"],
    "ui": ["src/base", "src/store", "src/tables", "src/import", "src/export", "src/analysis", "src/extract"],
}
# The rooms of a house, from the bottom to the top: each may include those before it. "." is the house's own folder.
ROOMS = {
    "capture/inject": ["core", "cuda", "nvtx", "preload", "."],
    "capture/session": ["system", "decode/core", "decode/nvtx", "decode/cuda", "decode/mpi", "decode/os", "decode/python", "decode/gpu",
                        "decode/cpu", "decode", "record", "collect", "gpu", "cpu", "python", "control"],
    "src/store": ["format", "database", "read", "write", "recover"],
    "src/import": ["nsys", "trace", "."],
    "src/export": [".", "sinks"],
    "src/analysis": [".", "facts", "graph", "projection", "stats", "rules", "why", "compare", "what-if"],
    "src/cli": ["terminal", "options", "reports", "profile", "sessions", "mcp", "."],
    "ui": ["model", "table", "tiles", "details", "events", "files", "functions", "findings", "stats", "steps", "critical", "compare", "sql", "timeline", "launch", "shell"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
TOOLKIT = re.compile(r'^\s*#\s*include\s*<(glib|gtk|gio|adwaita|gdk|cairo)')


def sources():
    listed = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
                            capture_output=True, text=True, check=True).stdout.split()
    return [path for path in listed if os.path.exists(os.path.join(tap.SOURCE, path))]


def house_of(path):
    return next((house for house in HOUSES if path.startswith(house + "/")), None)


def room_of(path):
    """(house, room) of a file; the room is "." for a file that lies in the house's own folder."""
    house = house_of(path)
    return house, os.path.relpath(os.path.dirname(path), house) if house else None


def may_include(path, target):
    (house, room), (other_house, other_room) = room_of(path), room_of(target)
    if house != other_house:
        return other_house in HOUSES[house]
    rooms = ROOMS.get(house, ["."])
    return rooms.index(other_room) <= rooms.index(room)


def test_every_source_has_a_room():
    stray = [path for path in sources() if not path.startswith("tests/")
             and (house_of(path) is None or room_of(path)[1] not in ROOMS.get(house_of(path), ["."]))]
    assert not stray, f"no room for {stray}"


def test_no_other_arrows():
    wrong = []
    for path in sources():
        house = house_of(path)
        if house is None:
            continue
        with open(os.path.join(tap.SOURCE, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if TOOLKIT.match(line) and house != "ui":
                    wrong.append(f"{path}:{number}: {line.strip()} outside ui")
                match = INCLUDE.match(line)
                if match is None:
                    continue
                target = match.group(1)
                if house_of(target) is not None and not may_include(path, target):
                    wrong.append(f"{path}:{number}: may not include {target}")
    assert not wrong, "\n".join(wrong)


def test_includes_are_written_from_the_root():
    wrong = []
    for path in sources():
        if house_of(path) is None:
            continue
        with open(os.path.join(tap.SOURCE, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if match and "/" not in match.group(1) and match.group(1) != "lns-config.h" \
                        and not match.group(1).endswith("-generated.h") \
                        and not match.group(1).endswith("-resources.h"):
                    wrong.append(f"{path}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_licence_headers():
    without = []
    for path in sources():
        with open(os.path.join(tap.SOURCE, path), encoding="utf-8", errors="replace") as file:
            if "SPDX-License-Identifier: Apache-2.0" not in file.read(400):
                without.append(path)
    assert not without, "\n".join(without)


tap.main(globals())
