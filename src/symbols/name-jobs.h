/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the worker of name-worker.h does: names the addresses of one module. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/name-stream.h"

typedef struct
{
  const char
      *image; /* the module's ELF file, or "[vdso]"; of other kinds of modules the map's path */
  const char *debug;    /* the file with the best names; NULL: the image */
  bool uses_debug_info; /* false: only symbol tables, because DWARF was too much once */
  bool
      wants_spans; /* after the addresses, write the spans of an ELF file that have the same frames */
  bool
      wants_all_spans; /* of all its code if it is not too much, not only of what is near the addresses */
  const uint64_t *
      addresses; /* ascending; file offsets of an ELF file, addresses of the process for the others */
  size_t n;
} LnsNameJobInput;

/* Each takes an LnsNameJobInput. Addresses without names are left out. */
void lns_name_job_elf (const void *input, LnsNameWriter *writer);
void lns_name_job_perf_map (const void *input, LnsNameWriter *writer);
void lns_name_job_jitdump (const void *input, LnsNameWriter *writer);
