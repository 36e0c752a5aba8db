# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""make_man.py LANESCOPE COMMAND: writes the manual page of a command, or with COMMAND "lanescope" of the
whole, in man(7), from what `LANESCOPE --capabilities=json` says."""

import json
import subprocess
import sys

EXIT_STATUS = """.SH EXIT STATUS
.TP
.B 0
Done. Of
.BR profile :
what the program returned; signal N that ended it ends Lanescope too (128+N in a shell).
.TP
.B 124
.BR "profile \\-\\-strict" :
the program succeeded, and something that was asked for is not in the report.
.TP
.B 125
Lanescope failed; of
.BR profile ,
before the program started, or its report is not whole although the program succeeded.
.TP
.B 126
The program cannot be executed.
.TP
.B 127
There is no such program.
.PP
From 125 on, the standard error holds a line that begins with
.BR "lanescope: error: " .
"""


def escaped(text):
    """TEXT for a line of its own: no byte of it means anything to roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def sentence(text):
    return escaped(text[0].upper() + text[1:] + ("" if text.endswith(".") else "."))


def switch(option):
    """One item of a list of switches."""
    value = option.get("value") or ("true|false" if option["kind"] == "bool" else
                                    "|".join(option.get("choices", ())) if option["kind"] == "choice" else ",".join(option.get("choices", ())))
    names = [f"\\fB\\-{option['letter']}\\fR"] if "letter" in option else []
    names.append(f"\\fB{escaped('--' + option['name'])}\\fR" + (f"{'[' if 'implied' in option else ''}=\\fI{escaped(value)}\\fR{']' if 'implied' in option else ''}" if value else ""))
    text = option["help"] + (f" Default: {option['default']}." if "default" in option else "")
    text += f" Formerly --{option['old']}." if "old" in option else ""
    text += f" But {option['instead']}." if "instead" in option else ""
    return f".TP\n{', '.join(names)}\n{escaped(text)}\n"


def head(name, version, summary):
    return (f".TH {name.upper()} 1 \"\" \"Lanescope {version}\" \"Lanescope\"\n.SH NAME\n{escaped(name)} \\- {escaped(summary)}\n")


def page_of_command(command, version):
    name = "lanescope-" + command["name"]
    text = head(name, version, command["summary"])
    text += f".SH SYNOPSIS\n\\fBlanescope {command['name']}\\fR {escaped(command['usage'])}\n"
    groups = [{"tag": None, "title": None}] + command["groups"]
    text += ".SH OPTIONS\n"
    for group in groups:
        options = [option for option in command["switches"] if option.get("tag") == group["tag"]]
        if group["title"] and options:
            text += f".SS {escaped(group['title'])}\n"
        text += "".join(map(switch, options))
    text += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint the switches.\n"
    if "details" in command:
        text += f".SH NOTES\n.nf\n{escaped(command['details'])}\n.fi\n"
    for refused in command["refused"]:
        text += f".PP\nRefused: {escaped(', '.join('--' + name for name in refused['names']))}: each {escaped(refused['why'])}.\n"
    return text + EXIT_STATUS + ".SH SEE ALSO\n.BR lanescope (1)\n"


def page_of_all(capabilities, version):
    text = head("lanescope", version, "record what a program does, and show it as timelines")
    text += ".SH SYNOPSIS\n\\fBlanescope\\fR \\fICOMMAND\\fR [switches] \\[u2026]\n.SH COMMANDS\n"
    for command in capabilities["commands"]:
        text += f".TP\n\\fB{command['name']}\\fR\n{sentence(command['summary'])}\n"
    text += """.SH OPTIONS
.TP
\\fB\\-h\\fR, \\fB\\-\\-help\\fR
Print the commands; behind one, its switches.
.TP
\\fB\\-v\\fR, \\fB\\-\\-version\\fR
Print the version.
.TP
\\fB\\-\\-capabilities=json\\fR
Print commands and switches for programs.
"""
    text += EXIT_STATUS + ".SH SEE ALSO\n"
    return text + ",\n".join(f".BR lanescope\\-{command['name']} (1)" for command in capabilities["commands"]).replace(",\n", " ,\n") + "\n"


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
