# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Turns enums.tsv (table, id, name, label) into the C of src/tables/enums.h: enums.py IN OUT."""

import itertools
import json
import sys

source, target = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    rows = [line.rstrip("\n").split("\t") for line in file]
tables = [(name, list(group)) for name, group in itertools.groupby(rows, key=lambda row: row[0])]
with open(target, "w", encoding="utf-8") as out:
    out.write('#include "src/tables/enums.h"\n')
    for name, group in tables:
        values = "".join(f"  {{ {row[1]}, {json.dumps(row[2])}, {json.dumps(row[3])} }},\n" for row in group)
        out.write(f"static const LnsEnumValue {name}[] = {{\n{values}}};\n")
    entries = "".join(f'  {{ "{name}", {len(group)}, {name} }},\n' for name, group in tables)
    out.write(f"const LnsEnum lns_enums[LNS_N_ENUMS] = {{\n{entries}}};\n")
    out.write(f'_Static_assert (LNS_N_ENUMS == {len(tables)}, "LNS_N_ENUMS is not that of enums.tsv");\n')
