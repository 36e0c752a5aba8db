# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""messages.py OUTPUT CATALOGUE… -- SOURCE…

Writes the translations that the catalogues (LANGUAGE.po) have of the texts in the C sources, as tables of C for
language.c. Texts stay escaped throughout, as .po files and C escape alike.
"""

import os
import re
import sys

LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
LITERALS = re.compile(LITERAL + r"(?:\s*\\?\s*" + LITERAL + ")*")


def join(text):
    return "".join(re.findall(LITERAL, text))


def texts_of(path):
    with open(path, encoding="utf-8") as file:
        return {join(match.group()) for match in LITERALS.finditer(file.read())}


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


def main(output, *words):
    catalogues, sources = words[:words.index("--")], words[words.index("--") + 1:]
    texts = set().union(*map(texts_of, sources))
    with open(output, "w", encoding="utf-8") as file:
        names = []
        for path in catalogues:
            language = os.path.splitext(os.path.basename(path))[0]
            found = {text: translation for text, translation in translations_of(path).items() if text in texts}
            file.write(f"static const Message messages_{language}[] = {{\n")
            for text in sorted(found, key=key):
                file.write(f'  {{ "{text}",\n    "{found[text]}" }},\n')
            file.write("};\n\n")
            names.append(f'  {{ "{language}", messages_{language}, sizeof messages_{language} / sizeof *messages_{language} }},\n')
        file.write("static const Catalogue catalogues[] = {\n" + "".join(names) + "};\n")


main(*sys.argv[1:])
