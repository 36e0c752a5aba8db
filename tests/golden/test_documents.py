# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Manual pages and completions: made of the tables of switches, they are whole, and programs read them."""

import json
import os
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
        # Pages do not depend on the day of the build.
        told = [line for line in done.stdout.decode().splitlines() if "missing date" not in line]
        assert not told, told[:5]


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
    assert trace.endswith(": _sequence compadd - cuda nvtx cublas cublas-verbose cudnn mpi none"), trace


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
