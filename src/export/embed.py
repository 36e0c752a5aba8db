# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Turns text files into C strings, flame-graph.css into flame_graph_css: embed.py IN… OUT. The licence comment stays out."""

import json
import os
import sys

*sources, target = sys.argv[1:]
with open(target, "w", encoding="utf-8") as out:
    for source in sources:
        with open(source, encoding="utf-8") as file:
            text = file.read()
        end = "*/\n" if text.startswith("/*") else "Apache-2.0\n"
        lines = text.split(end, 1)[1].lstrip("\n").splitlines(True)
        name = os.path.basename(source).replace("-", "_").replace(".", "_")
        literals = "".join(f"\n  {json.dumps(line, ensure_ascii=False)}" for line in lines)
        out.write(f"static const char {name}[] ={literals};\n")
