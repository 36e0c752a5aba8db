#!/usr/bin/env python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0
#
# Writes a report without rows, as SQLite makes it, as C: generate-empty-report.py TABLES.sql OUTPUT.c.
# To have SQLite parse the tables at each recording took a tenth of the time that `profile` adds to a
# program that does nothing.

import os
import re
import sqlite3
import sys
import tempfile

# So many zeros between two stretches of bytes are cheaper to write than to leave out.
GAP = 64


def empty_report(tables):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'empty.rep')
        database = sqlite3.connect(path, isolation_level=None)
        database.executescript(f'PRAGMA page_size = 65536; PRAGMA auto_vacuum = NONE; BEGIN; {tables} COMMIT;')
        database.close()
        with open(path, 'rb') as file:
            return file.read()


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        image = empty_report(re.sub(r'^--.*\n', '', file.read(), flags=re.M))
    # The first page comes last: without it the file is none of SQLite's.
    runs = [m.span() for m in re.finditer(rb'[^\0](?:\0{0,%d}[^\0])*' % GAP, image, flags=re.S)][::-1]
    with open(sys.argv[2], 'w', encoding='utf-8') as out:
        out.write('#include "src/store/database/empty-report.h"\n\n')
        for i, (start, end) in enumerate(runs):
            data = ', '.join(str(byte) for byte in image[start:end])
            out.write(f'static const uint8_t run_{i}[] = {{ {data} }};\n')
        out.write('\nconst LnsFileRun lns_empty_report[] = {\n')
        for i, (start, _) in enumerate(runs):
            out.write(f'  {{ {start}, sizeof run_{i}, run_{i} }},\n')
        out.write(f'}};\nconst unsigned lns_empty_report_n_runs = {len(runs)};\n'
                  f'const int64_t lns_empty_report_bytes = {len(image)};\n')


main()
