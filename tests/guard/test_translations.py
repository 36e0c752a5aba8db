# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Every text that users see can be translated, and the translations are complete."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

PO = os.path.join(tap.SOURCE, "po")
# Functions that translate their formats, and which argument that is; po/meson.build has them too.
FORMATS = {"lns_error_set": 4, "lns_error_set_errno": 3, "lns_error_prefix": 2, "_lns_report_file_damaged": 3,
           "lns_cli_usage": 2, "lns_cli_refuse": 1, "lns_cli_say": 2, "lns_cli_tell": 1, "lns_profile_tell": 3}
# Functions that make diagnostics, which are translated when they are shown; `add` is that of the doctor.
SENTENCES = {"LNS_SENTENCE": 1, "lns_batch_diagnostic": 4, "_lns_decoder_tell": 4, "_lns_recording_diagnose": 5, "add": 5}
CALLS = "|".join([*FORMATS, *(name for name in SENTENCES if name != "add")])
TRANSLATED = [re.compile(rb'\b(N?_|ngettext|C_) ?\(\s*"'), re.compile(rb"\b(" + CALLS.encode() + rb') \([^;{]*"'), re.compile(rb'translatable="yes"'),
              re.compile(rb"gettext-domain="), re.compile(rb"<component type=|^\[Desktop Entry\]", re.M)]


def listed():
    with open(os.path.join(PO, "POTFILES.in")) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def test_potfiles_is_complete():
    names = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "ui", "data", "src", "capture/session"],
                           capture_output=True, text=True, check=True).stdout.split()
    with_text = set()
    for name in names:
        if not name.endswith((".c", ".h", ".ui", ".xml", ".in")) or not os.path.exists(os.path.join(tap.SOURCE, name)):
            continue
        with open(os.path.join(tap.SOURCE, name), "rb") as file:
            text = file.read()
        if any(pattern.search(text) for pattern in TRANSLATED):
            with_text.add(name)
    assert with_text == set(listed()), f"po/POTFILES.in lacks {sorted(with_text - set(listed()))} " \
                                       f"and lists in vain {sorted(set(listed()) - with_text)}"
    assert listed() == sorted(listed()), "po/POTFILES.in is not sorted"


def test_translations_are_complete():
    if shutil.which("xgettext") is None:
        raise tap.Skip("gettext is not installed")
    with tempfile.TemporaryDirectory() as folder:
        template = os.path.join(folder, "lanescope.pot")
        # meson's "glib" preset, which makes the template of `ninja lanescope-pot`
        extract = ["xgettext", "--from-code=UTF-8", "--add-comments", "--keyword=_", "--keyword=N_", "--keyword=C_:1c,2",
                   "--keyword=ngettext:1,2", *(f"--keyword={name}:{number}" for name, number in FORMATS.items()), "-f", "po/POTFILES.in", "-o"]
        subprocess.run([*extract, template, *(f"--keyword={name}:{number}" for name, number in SENTENCES.items())],
                       cwd=tap.SOURCE, check=True, capture_output=True)
        formats = os.path.join(folder, "formats.pot")
        subprocess.run([*extract, formats], cwd=tap.SOURCE, check=True, capture_output=True)
        with open(os.path.join(PO, "LINGUAS")) as file:
            languages = file.read().split()
        assert languages, "po/LINGUAS is empty"
        for language in languages:
            catalogue = os.path.join(PO, language + ".po")
            subprocess.run(["msgfmt", "--check", "-o", os.devnull, catalogue], check=True)
            merged = os.path.join(folder, language + ".po")
            # Fuzzy is a format whose translation takes other values, which printf() would crash on. Sentences may leave values out.
            for texts, switches in ((formats, ("--untranslated", "--only-fuzzy")), (template, ("--untranslated",))):
                subprocess.run(["msgmerge", "--quiet", "--no-fuzzy-matching", "-o", merged, catalogue, texts], check=True)
                for switch in switches:
                    missing = subprocess.run(["msgattrib", switch, "--no-obsolete", "--no-wrap", merged], check=True,
                                             capture_output=True, text=True).stdout
                    # The header is the only message that is empty; others begin with an empty line if they have several.
                    wrong = [text for text in re.findall(r'^msgid (".*"(?:\n".*")*)', missing, re.M) if text != '""']
                    assert not wrong, f"{language}.po: {switch}: {wrong}"


def test_one_thing_has_one_word():
    """A report of statistics is an "Übersicht"; "Auswertung" was a second word for it."""
    with open(os.path.join(PO, "de.po"), encoding="utf-8") as file:
        assert "auswertung" not in file.read().lower()


def test_the_table_of_the_command_line_has_formats_of_c():
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "messages.h")
        subprocess.run([sys.executable, os.path.join(tap.SOURCE, "src", "base", "messages.py"), table, os.path.join(PO, "de.po")], check=True)
        with open(table, encoding="utf-8") as file:
            assert "<PRI" not in file.read(), "src/base/messages.py does not know how po/de.po writes a 64-bit number"


tap.main(globals())
