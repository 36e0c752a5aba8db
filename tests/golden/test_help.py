# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--help of each command lists everything that --capabilities=json knows; tests what is said about mistyped words."""

import json
import re
import shutil
import subprocess

import golden
import tap

COMMANDS = json.loads(golden.run("--capabilities=json")[0])["commands"]


def described_in(text):
    """The switches that a help describes."""
    return {line.strip().split("--", 1)[1].split("=")[0].split("[")[0] for line in text.decode().splitlines()
            if line.startswith(("  -", "      --"))}


def test_help_is_whole_and_fits():
    listed = golden.run("--help")[0].decode()
    for command in COMMANDS:
        name = command["name"]
        out, err = golden.run(name, "--help")
        assert err == b"" and out == golden.run(name, "-h")[0] == golden.run("help", name)[0] == golden.run(f"--help={name}")[0]
        assert described_in(out) == {option["name"] for option in command["switches"] if "instead" not in option} | {"help"}, name
        out = golden.run(name, "--help=all")[0]
        lines = out.decode().splitlines()
        assert lines[0] == f"Usage: lanescope {name} {command['usage']}" and lines[2] and lines[2] in listed, lines[:3]
        assert f"\n  {name:<10} {lines[2]}\n" in listed, listed
        assert max(map(len, lines)) <= 100 and not [line for line in lines if line != line.rstrip()], lines
        described, wanted = described_in(out), {option["name"] for option in command["switches"]}
        assert described == wanted | {"help"}, (name, described ^ wanted)
        for i, line in enumerate(lines):
            if line.startswith(("  -", "      --")):
                assert lines[i + 1].startswith(" " * 10) and lines[i + 1][10] != " ", (name, line)


def test_without_words_the_usage_is_shown():
    out, err = golden.run(code=125)
    listed = golden.run("--help")[0]
    assert out == b"" and err == listed + b"\nlanescope: error: no command given; `lanescope --help` lists all commands\n", err
    assert listed == golden.run("help")[0] == golden.run("-h")[0] and listed.startswith(b"Usage: lanescope COMMAND ")


def test_help_about_a_topic():
    """A section of switches, or part of a switch's name, whichever command has it."""
    out = golden.run("--help=cuda")[0].decode()
    assert out == golden.run("help", "cuda")[0].decode() and "--cuda-graph-trace" in out and "--capture-range" not in out, out
    assert out.endswith("\nSee also: lanescope launch --help=cuda\n" + "\nSee also: lanescope start --help=cuda\n" * ("start --help=cuda" in out)), out
    out = golden.run("--help=timeunit")[0].decode()
    assert out.startswith("Usage: lanescope stats ") and "--timeunit=" in out, out
    every = golden.run("--help=all")[0].decode()
    assert all(f"Usage: lanescope {command['name']} {command['usage']}\n" in every for command in COMMANDS)
    _, err = golden.run("--help=xyzzy", code=125)
    assert "unknown command “xyzzy”" in err.decode()
    _, err = golden.run("help", "stats", "sql", code=125)
    assert err.decode().endswith("remove the extra argument “sql”\n"), err


def test_text_fills_the_columns_there_are():
    for columns, most in [("60", 60), ("120", 120), ("nonsense", 80), (None, 80)]:
        environment = {"COLUMNS": columns} if columns else {}
        lines = [line for line in golden.run("profile", "--help=all", **environment)[0].decode().splitlines()
                 if line.startswith(" " * 10)]  # a switch itself is not broken
        assert most - 20 < max(map(len, lines)) <= most, (columns, max(map(len, lines)))


def test_locales_without_utf_8_get_ascii():
    for locale in ("C", "de_DE", "de_DE.ISO-8859-1"):
        for words, code in [(["profile", "--help=all"], 0), (["stat"], 125), (["export", "--type=x", "y.rep"], 125)]:
            out, err = golden.run(*words, code=code, LC_ALL=locale)
            assert (out + err).isascii(), (locale, words, out + err)
    assert b'unknown command "stat"' in golden.run("stat", code=125, LC_ALL="", LC_CTYPE="", LANG="C")[1]
    for locale in ("C.UTF-8", "en_GB.utf8@euro"):
        assert "“stat”" in golden.run("stat", code=125, LC_ALL=locale)[1].decode()


GERMAN = {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": ""}


def test_people_are_told_in_their_language():
    """By the variables alone, with no file of locales or translations: a copy of the program in a bare container speaks
    it, too."""
    german = "unbekannter Befehl „stat“; war „stats“ gemeint?"
    for environment, told in (({"LC_ALL": "de_DE.UTF-8"}, german), ({"LC_ALL": "", "LC_MESSAGES": "de", "LANG": "en_US.UTF-8"}, german),
                              ({"LC_ALL": "fr_FR.UTF-8", "LANGUAGE": "fr:de_AT:en"}, german), ({"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "en:de"}, "unknown"),
                              ({"LC_ALL": "C.UTF-8", "LANGUAGE": "de"}, "unknown"), ({"LC_ALL": "de_DE"}, "unknown"),
                              ({"LC_ALL": "dev_XX.UTF-8"}, "unknown")):
        err = golden.run("stat", code=125, **{"LANGUAGE": "", **environment})[1].decode()
        assert err.startswith(f"lanescope: error: {told}"), (environment, err)
    copy = shutil.copy(tap.LANESCOPE, golden.path("copy"))
    done = subprocess.run([copy, "stat"], env={"LANG": "de_DE.UTF-8"}, capture_output=True, text=True)
    assert german in done.stderr, done


def test_errors_of_libraries_are_translated():
    for words, told in ((["info", "/no/such.rep"], "/no/such.rep gibt es nicht; prüfen Sie den Pfad"),
                        (["stats", "-r", "nosuch", "x.rep"], "--report: unbekannte Übersicht „nosuch“; --help-reports listet die Übersichten auf"),
                        (["export", "--tables=*[", "-o", "/no/such/x", "/no/such.rep"], "/no/such.rep gibt es nicht; prüfen Sie den Pfad")):
        assert golden.run(*words, code=125, **GERMAN)[1].decode() == f"lanescope: error: {told}\n", words


def test_every_help_is_translated():
    for command in COMMANDS:
        out = " ".join(golden.run(command["name"], "--help=all", **GERMAN)[0].decode().split())
        assert out.startswith(f"Aufruf: lanescope {command['name']}"), out
        texts = [command["summary"], command.get("details"), *(option["help"] for option in command["switches"])]
        english = [text for text in texts if text and " ".join(text.split()) in out]
        assert not english, (command["name"], english)


def test_what_programs_read_is_in_no_language():
    assert golden.run("--capabilities=json", **GERMAN) == golden.run("--capabilities=json")
    golden.make_report()
    sentence = re.compile(rb"(LNS-[A-Z]+-\d+ \w+: ).*")  # of a diagnostic, for people
    facts = [sentence.sub(rb"\1", golden.run("info", "demo.rep", **language)[0]) for language in (GERMAN, {})]
    assert facts[0] == facts[1] and b"LNS-" in facts[0], facts
    for words in (["stats", "-r", "nvtx_sum", "demo.rep"], ["stats", "-f", "csv", "-r", "nvtx_sum", "demo.rep"],
                  ["sql", "--header", "demo.rep", "SELECT 1 AS one"], ["sessions", "list"], ["analyze", "demo.rep"]):
        assert golden.run(*words, **GERMAN) == golden.run(*words), words



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
        assert done.returncode == 125 and b"cannot write the output" in done.stderr, (words, done)


def wrong_uses(option):
    """(words, what is said) of uses of a switch that are refused, whatever stands behind it."""
    name, kind, choices = f"--{option['name']}", option["kind"], option.get("choices", [])
    if kind == "flag":
        yield [name + "=x"], "takes no value"
        return
    if "implied" not in option:
        yield [name], "needs a value"
    yield [name + "="], "has an empty value"
    bad = {"bool": "maybe", "choice": "xyzzy", "integer": "x", "seconds": "-1", "bytes": "0"}.get(kind)
    if bad:
        yield [f"{name}={bad}"], f"“{bad}” is "
    if kind in ("bool", "choice", "integer", "text"):
        first, other = ("true", "false") if kind == "bool" else ("1", "2") if kind == "integer" else (choices * 2 + ["aa", "bb"])[:2]
        yield [f"{name}={first}", f"{name}={other if other != first else 'bb'}"], "given twice" if kind != "choice" or other != first else "“bb” is "


def test_wrong_uses_of_every_switch_are_one_sentence():
    """Those of `profile` have a test of their own, e2e/test_switches.py; `launch`, `attach` and `start` share its table."""
    n = 0
    golden.make_report()
    for command in COMMANDS:
        tail = {"stats": ["demo.rep"], "analyze": ["demo.rep"], "sql": ["demo.rep", "SELECT 1"], "export": ["demo.rep"], "sessions": ["list"]}
        for option in command["switches"] if command["name"] not in ("profile", "launch", "attach", "start", "ui") else []:
            for words, told in wrong_uses(option):
                needs_none = told == "needs a value"
                out, err = golden.run(command["name"], *words, *tail.get(command["name"], []) * (not needs_none), code=125)
                lines = err.decode().splitlines()
                assert out == b"" and len(lines) == 1 and lines[0].startswith("lanescope: error: "), (command["name"], words, err)
                assert told in lines[0] or "unknown" in lines[0], (command["name"], words, err)
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
        assert f"unknown command “{name}”; ".encode() in err and b"did you mean" not in err and len(err.splitlines()) == 1, err
    for words in [["xyzzy"], ["--halp"], ["info", "--frobnicate", "x"], ["stats", "-z", "x"]]:
        _, err = golden.run(*words, code=125)
        assert b"--help` lists all " in err and b"did you mean" not in err and len(err.splitlines()) == 1, (words, err)


tap.main(globals())
