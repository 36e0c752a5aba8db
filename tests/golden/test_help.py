# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--help of each command tells all that --capabilities=json knows, and slips of the pen are understood."""

import json
import re
import subprocess

import golden
import tap

COMMANDS = json.loads(golden.run("--capabilities=json")[0])["commands"]


def test_help_is_whole_and_fits():
    listed = golden.run("--help")[0].decode()
    for command in COMMANDS:
        name = command["name"]
        out, err = golden.run(name, "--help")
        lines = out.decode().splitlines()
        assert err == b"" and out == golden.run(name, "-h")[0]
        assert lines[0].startswith(f"lanescope {name} ") and lines[2] and lines[2] in listed, lines[:3]
        assert f"\n  {name:<10} {lines[2]}\n" in listed, listed
        assert max(map(len, lines)) <= 100 and not [line for line in lines if line != line.rstrip()], lines
        described = {line.strip().split("--", 1)[1].split("=")[0].split("[")[0] for line in lines if line.startswith("  ") and line[2:].startswith(("-", "    --"))}
        wanted = {option["name"] for option in command["switches"]}
        assert described == wanted | {"help"}, (name, described ^ wanted)
        for i, line in enumerate(lines):
            if line.startswith(("  -", "      --")):
                assert lines[i + 1].startswith(" " * 10) and lines[i + 1][10] != " ", (name, line)


def test_every_report_is_explained():
    out = golden.run("stats", "--help")[0].decode()
    names = next(o for c in COMMANDS if c["name"] == "stats" for o in c["switches"] if o["name"] == "report")["choices"]
    listed = golden.run("stats", "--help-reports")[0].decode()
    assert set(names) == set(re.findall(r"^[* ] (\w+)", listed, re.M)) and len(names) >= 40, names
    for name in names:
        assert f"\n  {name:<22} " in out, (name, out)


def test_texts_that_cannot_be_printed():
    for words in (["--help"], ["--version"], ["--capabilities=json"], ["profile", "--help"], ["export", "--help=output"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([tap.LANESCOPE, *words], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 125 and b"what was to be printed cannot be written" in done.stderr, (words, done)


def wrong_uses(option):
    """(words, what is said) of uses of a switch that are refused, whatever stands behind it."""
    name, kind, choices = f"--{option['name']}", option["kind"], option.get("choices", [])
    if kind == "flag":
        yield [name + "=x"], "takes no value"
        return
    if not option["name"].startswith("help"):
        yield [name], "needs a value"
    yield [name + "="], "its value is empty"
    bad = {"bool": "maybe", "choice": "xyzzy", "integer": "x", "seconds": "-1", "bytes": "0"}.get(kind)
    if bad:
        yield [f"{name}={bad}"], f"“{bad}” is "
    if kind in ("bool", "choice", "integer", "text"):
        first, other = ("true", "false") if kind == "bool" else ("1", "2") if kind == "integer" else (choices * 2 + ["aa", "bb"])[:2]
        yield [f"{name}={first}", f"{name}={other if other != first else 'bb'}"], "given twice" if kind != "choice" or other != first else "“bb” is "


def test_wrong_uses_of_every_switch_are_one_sentence():
    """Those of `profile` have a test of their own, e2e/test_switches.py; `launch` and `start` share its table."""
    n = 0
    golden.make_report()
    for command in COMMANDS:
        tail = {"stats": ["demo.rep"], "analyze": ["demo.rep"], "sql": ["demo.rep", "SELECT 1"], "export": ["demo.rep"], "sessions": ["list"]}
        for option in command["switches"] if command["name"] not in ("profile", "launch", "start", "ui") else []:
            for words, told in wrong_uses(option):
                needs_none = told == "needs a value"
                out, err = golden.run(command["name"], *words, *tail.get(command["name"], []) * (not needs_none), code=125)
                lines = err.decode().splitlines()
                assert out == b"" and len(lines) == 1 and lines[0].startswith("lanescope: error: ") and told in lines[0], (command["name"], words, err)
                n += 1
    assert n > 150, n


def test_slips_are_understood():
    for words, meant in [(["stat"], "“stats”"), (["exprot", "x.rep"], "“export”"), (["sql", "--heade", "x", "y"], "--header"),
                         (["stats", "--reprot", "nvtx_sum", "x"], "--report"), (["export", "--typ=sqlite", "x"], "--type"),
                         (["recover", "--outptu=x", "y"], "--output"), (["profile", "--trase=nvtx", "true"], "--trace")]:
        out, err = golden.run(*words, code=125)
        assert out == b"" and f"did you mean {meant}?" in err.decode(), (words, err)
    for name in ("finalize", "nvprof", "plugins", "recipe"):  # of nsys, and not misspelt
        _, err = golden.run(name, "x", code=125)
        assert f"there is no command “{name}”: ".encode() in err and b"did you mean" not in err and len(err.splitlines()) == 1, err
    for words in [["xyzzy"], ["--halp"], ["info", "--frobnicate", "x"], ["stats", "-z", "x"]]:
        _, err = golden.run(*words, code=125)
        assert b"--help` lists them" in err and b"did you mean" not in err and len(err.splitlines()) == 1, (words, err)


tap.main(globals())
