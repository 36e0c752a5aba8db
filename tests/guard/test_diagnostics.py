# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""DIAGNOSTICS.md lists each code that the source can say, once, and a test that provokes it."""

import os
import re

import tap

CODE = r"LNS-[A-Z]+-\d{3}"


def read(path):
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        return file.read()


def sources(*folders):
    for folder in folders:
        for place, _, names in os.walk(os.path.join(tap.SOURCE, folder)):
            yield from (os.path.join(place, name) for name in names if name.endswith((".c", ".h", ".py")))


def code_of(path):
    """The text of a file without its comments."""
    text = read(path)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M) if path.endswith(".py") else re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def said():
    """The codes in the texts of the source: those that it says, or looks for."""
    return {code for path in sources("src", "capture") for code in re.findall(CODE, code_of(path))}


def table():
    """[code, cause, what to do, provoked by] of each row."""
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| LNS-.*$", read("src/cli/DIAGNOSTICS.md"), re.M)]


def test_the_table_is_the_source():
    codes = [row[0] for row in table()]
    assert codes == sorted(codes) and len(codes) == len(set(codes)), [code for code in codes if codes.count(code) > 1]
    assert set(codes) == said(), (set(codes) ^ said())
    assert all(re.fullmatch(CODE, row[0]) and len(row) == 4 and all(row) for row in table())


def test_each_code_is_provoked():
    for code, _, _, test in table():
        named = re.fullmatch(r"`(tests/\w+/[\w-]+\.(?:py|c))`", test)
        assert named is not None, f"{code} needs a test"
        path = named.group(1)
        assert code in code_of(os.path.join(tap.SOURCE, path)), f"{path} does not provoke {code}"


tap.main(globals())
