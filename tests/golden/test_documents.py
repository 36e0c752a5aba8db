# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Manual pages and completions, which are made from the tables of switches, are complete, and programs read them."""

import json
import os
import re
import shlex
import shutil
import subprocess

import golden
import tap

COMMANDS = json.loads(golden.run("--capabilities=json")[0])["commands"]
MAN = os.path.join(tap.BUILD, "data", "man")
COMPLETIONS = os.path.join(tap.BUILD, "data", "completions")


def needed(program):
    if shutil.which(program) is None:
        raise tap.Skip(f"{program} is not installed")


def page(name):
    """The page as groff lays it out, without emphasis and line ends."""
    done = subprocess.run(["groff", "-man", "-Kutf8", "-Tutf8", "-P-cbou", "-rHY=0", os.path.join(MAN, name + ".1")], capture_output=True, check=True)
    return " ".join(done.stdout.decode().replace("\u2010", "-").replace("\u2212", "-").split())


def test_each_command_has_a_manual_page():
    assert sorted(os.listdir(MAN)) == sorted(["lanescope.1"] + [f"lanescope-{command['name']}.1" for command in COMMANDS])
    needed("groff")
    whole = page("lanescope")
    for command in COMMANDS:
        assert f"lanescope-{command['name']}(1)" in whole
        text = page("lanescope-" + command["name"])
        assert f"lanescope-{command['name']} - {command['summary']}" in text and "EXIT STATUS" in text, text[:300]
        for option in command["switches"]:
            assert (f"-{option['letter']}, " if "letter" in option else "") + f"--{option['name']}" in text, (command["name"], option["name"])


def test_manual_pages_are_well_formed():
    needed("mandoc")
    for name in os.listdir(MAN):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(MAN, name)], capture_output=True, check=False)
        assert done.stdout == b"", done.stdout.decode().splitlines()[:5]


def source(name):
    with open(os.path.join(MAN, name + ".1"), encoding="utf-8") as file:
        return file.read()


def section(text, title):
    """The lines of a section of a page."""
    return re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", text, re.M | re.S).group(1)


def test_each_page_has_the_sections_that_readers_look_for():
    for name in ["lanescope"] + ["lanescope-" + command["name"] for command in COMMANDS]:
        text = source(name)
        titles = re.findall(r"^\.SH (.*)$", text, re.M)
        wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "ENVIRONMENT", "FILES", "EXIT STATUS", "SEE ALSO"]
        assert [title for title in titles if title != "COMMANDS"] == [title for title in wanted if title in titles], titles
        assert set(wanted) - set(titles) <= {"FILES"}, titles
        # A command's own codes: that of the program is no business of a command that runs none.
        codes = re.findall(r"^\.B (\w+)$", section(text, "EXIT STATUS"), re.M)
        runs = name in ("lanescope", "lanescope-profile", "lanescope-launch")
        assert ("CODE" in codes and "127" in codes) == runs and ("124" in codes) == (runs and name != "lanescope-launch" or name == "lanescope-attach") and "125" in codes, (name, codes)


def test_examples_are_commands_that_there_are():
    """Each word that looks like a switch is one of its command's."""
    known = {command["name"]: {"--" + option["name"] for option in command["switches"]} | {"-" + option.get("letter", "-help") for option in command["switches"]}
             for command in COMMANDS}
    n = 0
    for name in ["lanescope"] + ["lanescope-" + command["name"] for command in COMMANDS]:
        for line in section(source(name), "EXAMPLES").replace("\\-", "-").replace("\\(aq", "'").splitlines():
            words = shlex.split(line) if "lanescope " in line and not line.startswith(".") else []
            words = words[words.index("lanescope") + 1:] if "lanescope" in words else []
            if words and words[0] in known:
                n += 1
                switches = [word.split("=")[0] for word in words[1:] if word.startswith("-") and word != "-"]
                assert set(switches) <= known[words[0]], (name, line, set(switches) - known[words[0]])
    assert n > 20, n


def test_the_date_is_that_of_the_version():
    make = os.path.join(tap.SOURCE, "data", "man", "make_man.py")
    metainfo = os.path.join(tap.SOURCE, "data", "io.github.lanescope.Lanescope.metainfo.xml.in")
    def dated(**environment):
        env = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | environment
        out = subprocess.run(["/usr/bin/python3", make, tap.LANESCOPE, "sql", metainfo], env=env, capture_output=True, check=True, text=True).stdout
        return re.search(r'^\.TH LANESCOPE-SQL 1 "([^"]*)"', out, re.M).group(1)
    version = golden.run("--version")[0].decode().split()[1]
    with open(metainfo, encoding="utf-8") as file:
        assert f'version="{version}" date="{dated()}"' in file.read()
    assert dated(SOURCE_DATE_EPOCH="86400") == "1970-01-02"


def bash_completes(*words):
    script = f"""source '{COMPLETIONS}/lanescope'
compopt () {{ :; }}
COMP_WORDS=({' '.join("'" + word + "'" for word in words)}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_lanescope; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stderr == b"", done.stderr
    return set(done.stdout.decode().split())


def test_bash_completes():
    assert bash_completes("lanescope", "prof") == {"profile"}
    assert bash_completes("lanescope", "") == {command["name"] for command in COMMANDS} | {"--help", "--version"}
    profile = next(command for command in COMMANDS if command["name"] == "profile")
    assert bash_completes("lanescope", "profile", "--") == {"--" + option["name"] for option in profile["switches"]} | {"--help"}
    assert bash_completes("lanescope", "profile", "--stop-on") == {"--stop-on-exit", "--stop-on-range-end"}
    assert bash_completes("lanescope", "profile", "-t", "none", "--force-overwrite", "=", "t") == {"true"}
    assert bash_completes("lanescope", "profile", "--force-overwrite", "=") == {"true", "false"}
    assert bash_completes("lanescope", "profile", "-c", "cuda") == {"cudaProfilerApi"}
    assert bash_completes("lanescope", "profile", "--trace", "=", "cuda,cub") == {"cuda,cublas", "cuda,cublas-verbose"}
    assert bash_completes("lanescope", "sessions", "") == {"list"} and "--show-header" in bash_completes("lanescope", "sessions", "list", "--s")
    # Behind the program are its own words, whatever they look like.
    assert bash_completes("lanescope", "profile", "--nvtx", "-t", "cuda", "python3", "--stop-on") == set()


def test_zsh_completes():
    needed("zsh")
    script = f"""autoload -U compinit; compinit -D -u; fpath=('{COMPLETIONS}' $fpath); autoload _lanescope
_arguments () {{ print -rl -- "$@"; }}; _describe () {{ print -rl -- $commands; }}
words=(lanescope); CURRENT=2; _lanescope; words=(lanescope profile ''); CURRENT=3; _lanescope"""
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, check=False)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and done.stderr == b"", done
    for command in COMMANDS:
        assert f"{command['name']}:{command['summary']}" in lines, command
    profile = next(command for command in COMMANDS if command["name"] == "profile")
    for option in profile["switches"]:
        assert any(line.lstrip("*").startswith(f"--{option['name']}") for line in lines), option["name"]
    trace = next(line for line in lines if line.startswith("*--trace="))
    assert trace.endswith(": _sequence compadd - cuda nvtx cublas cublas-verbose cudnn cusparse cusparse-verbose cusolver cusolver-verbose "
                          "mpi nccl osrt none"), trace


def test_fish_completes():
    needed("fish")
    def completes(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source '{COMPLETIONS}/lanescope.fish'; complete -C '{line}'"],
                              capture_output=True, check=True, env=dict(os.environ, HOME=golden.FOLDER))
        assert done.stderr == b"", done.stderr
        return {word.split("\t")[0] for word in done.stdout.decode().splitlines()}
    assert {command["name"] for command in COMMANDS} <= completes("lanescope ")
    assert {"--stop-on-exit=", "--stop-on-range-end="} <= completes("lanescope profile --stop-on") | {
        word + "=" for word in completes("lanescope profile --stop-on")}
    assert {"true", "false"} <= completes("lanescope profile --stop-on-exit ")
    assert completes("lanescope profile -t cuda,nv") == {"cuda,nvtx"} and "list" in completes("lanescope sessions ")


tap.main(globals())
