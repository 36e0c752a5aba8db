# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""messages.py OUTPUT CATALOGUE…

Writes the translations that the catalogues (LANGUAGE.po) have as tables of C for language.c. Texts stay escaped
throughout, as .po files and C escape alike.
"""

import os
import re
import sys

LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
# What xgettext writes for PRIu64 and the like, where long has 64 bits.
MACROS = {f"%<PRI{letter}{bits}>": f"%{'l' if bits == 64 else ''}{letter}" for letter in "diux" for bits in (32, 64)}


def join(text):
    return re.sub(r"%(\d+\$)?(<\w+>)", lambda match: "%" + (match[1] or "") + MACROS["%" + match[2]][1:],
                  "".join(re.findall(LITERAL, text)))


def translations_of(path):
    """The translations in a catalogue, by text; without fuzzy ones and plurals."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for entry in file.read().split("\n\n"):
            match = re.search(r"^msgid ((?:\".*\"\s*)+)^msgstr ((?:\".*\"\s*)+)", entry, re.M)
            if match and not re.search(r"^(#,.*fuzzy|msgctxt)", entry, re.M) and join(match.group(1)) and join(match.group(2)):
                found[join(match.group(1))] = join(match.group(2))
    return found


def key(text):
    """By the bytes that C makes of it: the order of strcmp()."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match.group(1), match.group(1)), text).encode()


def main(output, *catalogues):
    text, names = "", []
    for path in catalogues:
        language = os.path.splitext(os.path.basename(path))[0]
        found = translations_of(path)
        rows = "".join(f'  {{ "{message}",\n    "{found[message]}" }},\n' for message in sorted(found, key=key))
        text += f"static const Message messages_{language}[] = {{\n{rows}}};\n\n"
        names.append(f'  {{ "{language}", messages_{language}, sizeof messages_{language} / sizeof *messages_{language} }},\n')
    with open(output, "w", encoding="utf-8") as file:
        file.write(text + "static const Catalogue catalogues[] = {\n" + "".join(names) + "};\n")


main(*sys.argv[1:])
