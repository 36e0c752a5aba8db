# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""make_man.py LANESCOPE COMMAND METAINFO: writes the manual page of a command, or with COMMAND "lanescope" of the
whole, in man(7), from what `LANESCOPE --capabilities=json` says and what pages.py has in addition. METAINFO tells
the date of the version."""

import datetime
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import pages

FAILURES = {
    124: "The program succeeded, and something that was asked for is not in the report.",
    125: "Lanescope failed. A line on the standard error that begins with `lanescope: error: ` says why and what to do.",
    126: "The program cannot be executed. A line as with 125 says why.",
    127: "The program was not found. A line as with 125 says so.",
}


def date_of(version):
    """The day that the pages bear: that of SOURCE_DATE_EPOCH; else of VERSION's release. Not that of the build."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc).date().isoformat()
    for release in xml.etree.ElementTree.parse(sys.argv[3]).iter("release"):
        if release.get("version") == version:
            return release.get("date")
    raise SystemExit(f"make_man.py: {sys.argv[3]} has no release {version}")


def escaped(text):
    """TEXT for a line of its own: no byte of it means anything to roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def sentence(text):
    return escaped(text[0].upper() + text[1:] + ("" if text.endswith(".") else "."))


def filled(text):
    """Paragraphs of TEXT; lines that begin with a space stay as they are."""
    parts = []
    for block in re.findall(r"(?:^ .*\n?)+|(?:^[^ \n].*\n?)+", text, re.M):
        is_verbatim = block.startswith(" ")
        parts.append((".PP\n.nf\n" if is_verbatim else ".PP\n") + escaped(block.rstrip("\n")) + ("\n.fi\n" if is_verbatim else "\n"))
    return "".join(parts)


def items(pairs):
    """A list of words, each with what it is."""
    return "".join(f".TP\n.B {escaped(name)}\n{escaped(text)}\n" for name, text in pairs)


def example(text, command):
    return f".PP\n{escaped(text)}\n.RS 4\n.nf\n{escaped(command)}\n.fi\n.RE\n"


def switch(option):
    """One item of a list of switches."""
    value = option.get("value") or ("true|false" if option["kind"] == "bool" else
                                    "|".join(option.get("choices", ())) if option["kind"] == "choice" else ",".join(option.get("choices", ())))
    names = [f"\\fB\\-{option['letter']}\\fR"] if "letter" in option else []
    names.append(f"\\fB{escaped('--' + option['name'])}\\fR" + (f"{'[' if 'implied' in option else ''}=\\fI{escaped(value)}\\fR{']' if 'implied' in option else ''}" if value else ""))
    text = option["help"]
    text += f" Formerly --{option['old']}." if "old" in option else ""
    text += f" {option['instead'][0].upper()}{option['instead'][1:]}." if "instead" in option else ""
    text += f" (default: {option['default']})" if "default" in option else ""
    return f".TP\n{', '.join(names)}\n{escaped(text)}\n"


def head(name, version, summary):
    return (f".TH {name.upper()} 1 \"{date_of(version)}\" \"Lanescope {version}\" \"Lanescope\"\n"
            f".SH NAME\n{escaped(name)} \\- {escaped(summary)}\n")


def section(title, text):
    return f".SH {title}\n{text.removeprefix('.PP' + chr(10))}" if text else ""


def exit_status(command):
    """That of COMMAND alone."""
    codes = command.get("exit", [(0, "Success.")])
    return section("EXIT STATUS", items([(str(code), text) for code, text in codes] +
                                        [(str(code), FAILURES[code]) for code in command.get("failures", [125])]))


def rest(name, also):
    """What stands behind the switches."""
    more = pages.COMMANDS[name]
    variables = [(variable, pages.ENVIRONMENT[variable]) for variable in more.get("environment", []) + ["COLUMNS", "LC_ALL, LC_CTYPE, LANG"]]
    text = section("EXAMPLES", "".join(example(*pair) for pair in more["examples"]))
    text += section("ENVIRONMENT", items(variables))
    text += section("FILES", items([(path, pages.FILES[path]) for path in more.get("files", [])]))
    text += exit_status(more)
    return text + section("SEE ALSO", " ,\n".join(f".BR {escaped(other)} (1)" for other in also) + "\n")


def page_of_command(command, version):
    name = "lanescope-" + command["name"]
    more = pages.COMMANDS[command["name"]]
    text = head(name, version, command["summary"])
    text += f".SH SYNOPSIS\n\\fBlanescope {command['name']}\\fR {escaped(command['usage'])}\n"
    text += section("DESCRIPTION", filled(more["description"] + "\n\n" + (command.get("details", "") if more.get("details", True) else "")))
    groups = [{"tag": None, "title": None}] + command["groups"]
    text += ".SH OPTIONS\n"
    for group in groups:
        options = [option for option in command["switches"] if option.get("tag") == group["tag"]]
        if group["title"] and options:
            text += f".SS {escaped(group['title'])}\n"
        text += "".join(map(switch, options))
    text += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR" + ("[=\\fITOPIC\\fR]" if command["groups"] else "") + "\nPrint the switches.\n"
    if command["refused"]:
        text += ".SS Refused\n" + ".PP\n".join(
            f"{escaped(', '.join('--' + name for name in refused['names']))}: each {escaped(refused['why'])}.\n" for refused in command["refused"])
    return text + rest(command["name"], ["lanescope"] + ["lanescope-" + other for other in more.get("also", [])])


def page_of_all(capabilities, version):
    text = head("lanescope", version, "record what a program does, and show it as timelines")
    text += ".SH SYNOPSIS\n\\fBlanescope\\fR \\fICOMMAND\\fR [switches] \\[u2026]\n"
    text += section("DESCRIPTION", filled(pages.COMMANDS["lanescope"]["description"]))
    text += ".SH COMMANDS\n"
    for command in capabilities["commands"]:
        text += f".TP\n\\fB{command['name']}\\fR\n{sentence(command['summary'])}\n"
    text += """.SH OPTIONS
.TP
\\fB\\-h\\fR, \\fB\\-\\-help\\fR[=\\fITOPIC\\fR]
Print the commands; or the help of a command, of a topic such as cuda, or of all commands (all).
.TP
\\fB\\-v\\fR, \\fB\\-\\-version\\fR
Print the version.
.TP
\\fB\\-\\-capabilities=json\\fR
Print commands and switches for programs.
"""
    return text + rest("lanescope", [f"lanescope-{command['name']}" for command in capabilities["commands"]])


def main():
    answer = subprocess.run([sys.argv[1], "--capabilities=json"], stdout=subprocess.PIPE, check=True).stdout
    capabilities = json.loads(answer)
    commands = {command["name"]: command for command in capabilities["commands"]}
    if sys.argv[2] == "lanescope":
        text = page_of_all(capabilities, capabilities["version"])
    else:
        text = page_of_command(commands[sys.argv[2]], capabilities["version"])
    sys.stdout.buffer.write(('.\\" Made from the tables of switches.\n' + text).encode())


main()
