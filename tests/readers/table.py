#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""table.py REPORT… [EXPORT.sqlite…]: prints a Markdown table of each reader on each file. An export is read as it is
and, imported, as our export of it."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import readers
import tap

COPY = '#!/bin/sh\ncp "$5" "$4"\n'  # an `nsys export --type=sqlite --output OUT IN` of what is an export


def verdict(name, database, report, nsys=None):
    with tempfile.TemporaryDirectory() as folder:
        try:
            readers.READERS[name](database, report, folder, **({"nsys": nsys} if nsys and name == "collapse" else {}))
            return "pass"
        except readers.Failed as error:
            return str(error).replace("|", "/")


def main():
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "nsys")
        with open(copy, "w", encoding="utf-8") as file:
            file.write(COPY)
        os.chmod(copy, 0o755)
        print("| file | reader | as it is | our export |\n|---|---|---|---|")
        for path in sys.argv[1:]:
            own = os.path.join(folder, os.path.basename(path) + ".export.sqlite")
            done = subprocess.run([tap.LANESCOPE, "export", "-q", "-o", own, path], capture_output=True, text=True)
            subprocess.run([tap.LANESCOPE, "export", "-q", "--lazy=true", "-o", own + ".lazy", path], capture_output=True)
            for name in readers.READERS:
                if not readers.is_here(name):
                    continue
                is_export = path.endswith(".sqlite") and name != "gputrc2graph"  # nobody else has its stats
                before = verdict(name, path, path, copy) if is_export else "–"
                mine = own + ".lazy" * (name in readers.WANTS_FILLED_TABLES)
                after = verdict(name, mine, path) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
                print(f"| {os.path.basename(path)} | {name} | {before} | {after} |", flush=True)


main()
