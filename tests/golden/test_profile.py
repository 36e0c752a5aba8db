# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""`lanescope profile`: its help and what it prints about a run, byte for byte."""

import json

import golden
import tap


def test_help_of_a_subject():
    profile = next(command for command in json.loads(golden.run("--capabilities=json")[0])["commands"] if command["name"] == "profile")
    assert len(profile["groups"]) > 5
    for group in profile["groups"]:
        text = golden.run("profile", f"--help={group['tag']}")[0].decode()
        lines = text.splitlines()
        assert lines[0] == "Usage: lanescope profile " + profile["usage"] and lines[4] == f"{group['title']} (--help={group['tag']}):", lines[:5]
        told = [line.split("--")[1].split("=")[0] for line in lines if line.startswith(("  -", "      --"))]
        assert told == [switch["name"] for switch in profile["switches"] if switch["tag"] == group["tag"]], (group, told)
    out = golden.run("profile", "--help=overwrite")[0].decode()
    assert out.count("--") == 2 and "-f, --force-overwrite" in out, out
    _, err = golden.run("profile", "--help=xyzzy", code=125)
    golden.check(err, "lanescope: error: --help: profile has no switches about “xyzzy”; `lanescope profile --help` lists all switches\n".encode())


def test_a_run():
    out, err = golden.run("profile", "-o", "run", "/bin/echo", "hello")
    golden.check(out, b"hello\n")
    golden.check(err.replace(golden.FOLDER.encode(), b"FOLDER"), b"""\
Collecting data...
Generating 'FOLDER/run.rep'
lanescope: note: no NVTX events were seen: no process made an NVTX call [LNS-NVTX-002]
Generated:
    FOLDER/run.rep
0 events, 0 lost, 1 process
""")


def test_capabilities_are_those_of_the_help():
    commands = json.loads(golden.run("--capabilities=json")[0])["commands"]
    profile = next(command for command in commands if command["name"] == "profile")
    assert profile["usage"] == "[switches] PROGRAM [ARGUMENTS…]"
    trace = next(switch for switch in profile["switches"] if switch["name"] == "trace")
    assert (trace["kind"], trace["letter"], trace["tag"], trace["default"]) == ("list", "t", "trace", "cuda,nvtx"), trace
    assert trace["choices"][:2] == ["cuda", "nvtx"] and trace["choices"][-1] == "none" and "CUDA calls" in trace["help"], trace


def test_errors():
    for words, code, text in (
            (["profile"], 125, "profile needs a program to run; `lanescope profile --help` lists the switches"),
            (["profile", "--trce", "nvtx", "true"], 125,
             "profile: unknown switch --trce; did you mean --trace? `lanescope profile --help` lists all switches"),
            (["profile", "no-such-program"], 127, "cannot find program “no-such-program”; check the name "
             "or give its full path"),
            (["profile", "/"], 126, "/ is a folder; name a program in it")):
        out, err = golden.run(*words, code=code)
        golden.check(out, b"")
        golden.check(err, f"lanescope: error: {text}\n".encode())


tap.main(globals())
