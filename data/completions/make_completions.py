# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""make_completions.py LANESCOPE SHELL: writes how bash, zsh or fish complete `lanescope`, from what
`LANESCOPE --capabilities=json` says."""

import json
import subprocess
import sys


def choices(option):
    return ["true", "false"] if option["kind"] == "bool" else option.get("choices", [])


def word(command):
    """The one word that COMMAND begins with, as in `sessions list`; "" where it takes any."""
    first = command["usage"].split(" ")[0]
    return first if first.isalpha() and first.islower() else ""


def quoted(text):
    """TEXT as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def first_sentence(text):
    """For a line beside the switch."""
    return text.split(". ")[0].split(": ")[0].rstrip(".")


BASH = """# Made from the tables of switches.
_lanescope ()
{
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} values= at word
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '@COMMANDS@ --help --version' -- "$current")
    return
  fi
  case $command in
@SWITCHES@
    *) return ;;
  esac
  # Behind the program come its own words.
  for ((at = 2; at < COMP_CWORD && program; at++)); do
    word=${COMP_WORDS[at]}
    case $word in
      --) break ;;
      -*) [ "${COMP_WORDS[at + 1]}" = = ] && ((at += 2)) || { [[ " $flags " = *" $word "* ]] || ((at++)); } ;;
      *) break ;;
    esac
  done
  if ((program && at < COMP_CWORD)); then
    declare -F _command_offset >/dev/null && _command_offset "$at" || compopt -o default
    return
  fi
  if [ "$COMP_CWORD" -eq 2 ] && [[ $current != -* ]] && [ -n "$first" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$first" -- "$current")
    return
  fi
  [ "$current" = = ] && current= || { [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}; }
  case $command$before in
@VALUES@
  esac
  if [ -n "$values" ]; then
    local done=
    [[ $current = *,* ]] && done=${current%,*},
    mapfile -t COMPREPLY < <(compgen -P "$done" -W "$values" -- "${current##*,}")
  elif [[ $current = -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$switches --help" -- "$current")
  else
    compopt -o default
  fi
}
complete -F _lanescope lanescope
"""


def bash(commands):
    switches, values = [], []
    for command in commands:
        names = " ".join("--" + option["name"] for option in command["switches"])
        flags = " ".join("--" + option["name"] for option in command["switches"] if option["kind"] == "flag")
        switches.append(f"    {command['name']}) local program={int(command['program'])} first='{word(command)}' flags='{flags}' switches='{names}' ;;")
        for option in command["switches"]:
            if choices(option):
                words = [f"{command['name']}--{option['name']}"]
                words += [f"{command['name']}-{option['letter']}"] if "letter" in option else []
                values.append(f"    {'|'.join(words)}) values='{' '.join(choices(option))}' ;;")
    text = BASH.replace("@COMMANDS@", " ".join(command["name"] for command in commands))
    return text.replace("@SWITCHES@", "\n".join(switches)).replace("@VALUES@", "\n".join(values))


def zsh(commands):
    text = "#compdef lanescope\n# Made from the tables of switches.\n_lanescope ()\n{\n  local -a commands\n  commands=(\n"
    text += "".join("    " + quoted(command["name"] + ":" + command["summary"]) + "\n" for command in commands)
    text += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n  shift words\n  ((CURRENT--))\n  case $words[1] in\n"
    for command in commands:
        text += f"    {command['name']})\n      _arguments -s \\\n"
        for option in command["switches"]:
            about = "[" + first_sentence(option["help"]).replace("]", "\\]").replace("[", "\\[") + "]"
            what = ":" + (option.get("value") or "value").replace(":", "\\:") + ":"
            if choices(option):
                what += " _sequence compadd - " + " ".join(choices(option)) if option["kind"] == "list" else "(" + " ".join(choices(option)) + ")"
            else:
                what += "_files"
            value = "" if option["kind"] == "flag" else what
            again = "*" if option["kind"] in ("list", "word", "file") else ""
            text += "        " + quoted(f"{again}--{option['name']}{'=' if value else ''}{about}{value}") + " \\\n"
            if "letter" in option:
                text += "        " + quoted(f"{again}-{option['letter']}{'+' if value else ''}{about}{value}") + " \\\n"
        text += "        '(- *)--help[Print the switches]' \\\n"
        text += "        " + ("'*::program:_normal'" if command["program"] else f"'1:what:({word(command)})'" if word(command) else "'*:file:_files'") + "\n"
        text += "      ;;\n"
    return text + "  esac\n}\n_lanescope \"$@\"\n"


def fish(commands):
    names = " ".join(command["name"] for command in commands)
    text = "# Made from the tables of switches.\n"
    for command in commands:
        text += (f"complete -c lanescope -n 'not __fish_seen_subcommand_from {names}' -f -a {command['name']} "
                 f"-d {quoted(command['summary'])}\n")
        if word(command):
            text += f"complete -c lanescope -n '__fish_seen_subcommand_from {command['name']}' -f -a {word(command)}\n"
        for option in command["switches"]:
            words = ["complete -c lanescope -n", quoted("__fish_seen_subcommand_from " + command["name"]), "-l", option["name"]]
            if "letter" in option:
                words += ["-s", option["letter"]]
            if option["kind"] != "flag":
                given = " ".join(choices(option))
                given = f"(__fish_complete_list , 'string split \" \" \"{given}\"')" if option["kind"] == "list" else given
                words += ["-x", "-a", '"' + given.replace('"', '\\"') + '"'] if choices(option) else ["-r"]
            text += " ".join(words + ["-d", quoted(first_sentence(option["help"]))]) + "\n"
    return text


def main():
    answer = subprocess.run([sys.argv[1], "--capabilities=json"], stdout=subprocess.PIPE, check=True).stdout
    text = {"bash": bash, "zsh": zsh, "fish": fish}[sys.argv[2]](json.loads(answer)["commands"])
    sys.stdout.buffer.write(text.encode())


main()
