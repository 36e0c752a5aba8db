# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Writes the names of callback ids and results, read from CUPTI's headers.

Usage: generate-names.py OUTPUT INCLUDE-DIR…
"""

import os
import re
import sys

TABLES = [
    ("runtime_names", "cupti_runtime_cbid.h", r"CUPTI_RUNTIME_TRACE_CBID_(\w+)\s*=\s*(\d+)"),
    ("driver_names", "cupti_driver_cbid.h", r"CUPTI_DRIVER_TRACE_CBID_(\w+)\s*=\s*(\d+)"),
    ("result_names", "cupti_result.h", r"(CUPTI_\w+)\s*=\s*(\d+)\s*,"),
]

# Sentinels, and two results that NVIDIA's library has no name for either.
UNNAMED = ("SIZE", "FORCE_INT", "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", "CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE")


def read(folders, name):
    """Returns the text of header NAME in the first of FOLDERS that has it."""
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
    raise SystemExit(f"generate-names.py: {name} is in none of {' '.join(folders)}")


def main():
    output, folders = sys.argv[1], sys.argv[2:]
    with open(output, "w", encoding="utf-8") as file:
        for table, header, pattern in TABLES:
            file.write(f"static const char *const {table}[] = {{\n")
            for name, number in re.findall(pattern, read(folders, header)):
                if name not in UNNAMED:
                    file.write(f'  [{number}] = "{name}",\n')
            file.write("};\n")


main()
