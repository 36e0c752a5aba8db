#!/usr/bin/env python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0
#
# Writes the names of Linux's system calls by their numbers, as the headers of this machine have them:
# generate-system-calls.py OUTPUT COMPILER…. Those of programs of 32 bits have a header of their own on x86 alone.

import re
import subprocess
import sys


def calls(compiler, header):
    """{number: name} of the macros of HEADER, or nothing if there is no such header. A macro may be the name of another one."""
    run = subprocess.run([*compiler, '-E', '-dM', '-x', 'c', '-'], input=f'#include <{header}>\n', capture_output=True, text=True)
    if run.returncode != 0:
        return {}
    macros = dict(re.findall(r'^#define (__NR\w+) (\w+)$', run.stdout, re.M))
    found = {}
    for name, value in macros.items():
        while value in macros:
            value = macros[value]
        if name.startswith('__NR_') and value.isdigit() and name != '__NR_syscalls':
            found[int(value)] = name.removeprefix('__NR_')
    return found


def table(name, found):
    lines = ''.join(f'  [{number}] = "{found[number]}",\n' for number in sorted(found)) or '  NULL\n'
    return f'static const char *const {name}[] = {{\n{lines}}};\n'


if __name__ == '__main__':
    compiler = sys.argv[2:]
    own = calls(compiler, 'asm/unistd.h')
    if not own:
        sys.exit('the headers of Linux are missing; install linux-libc-dev or the like')
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        file.write(table('names', own) + table('names_of_32_bits', calls(compiler, 'asm/unistd_32.h')))
