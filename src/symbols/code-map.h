/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Code that lies in no ELF file, named by who made it: perf maps and jitdump files of just-in-time compilers. Addresses are those of the process. Their readers check every size. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/span-list.h"

typedef struct
{
  uint64_t address; /* of the first instruction of the line */
  uint64_t file;    /* the place of its name in `text` */
  uint32_t line;
} LnsCodeLine;

/* The lines of a piece of code, in any order. */
typedef struct
{
  size_t first, n; /* in `lines` */
} LnsCodeLines;

/* Zero it before it is read, and clear it afterwards. */
typedef struct
{
  LnsSpanList
      functions; /* sorted; `name` is the place of the name in `text`; what came later has the higher rank */
  char *text; /* owned; names end with a NUL */
  LNS_ARRAY (LnsCodeLine) lines;
  LNS_ARRAY (LnsCodeLines) lines_of; /* by rank; empty where nothing has lines */
} LnsCodeMap;

/* Reads a perf map (/tmp/perf-PID.map): lines with start, size (both hexadecimal) and name. Broken lines are left out.
 * False if the file cannot be read or is over 1 GiB. */
bool lns_code_map_read_perf (const char *path, LnsCodeMap *ret_map);

/* Reads a jitdump file (tools/perf/Documentation/jitdump-specification.txt of Linux) of this machine's byte order, up to the
 * end or to the first broken record. False if it is not one. */
bool lns_code_map_read_jitdump (const char *path, LnsCodeMap *ret_map);

void lns_code_map_clear (LnsCodeMap *map);

/* The line of ADDRESS, which function number SPAN has, or NULL. O(lines of the function). */
const LnsCodeLine *lns_code_map_line (const LnsCodeMap *map, uint32_t span, uint64_t address);
