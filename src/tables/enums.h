/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The ENUM_* tables of the nsys SQLite export, from enums.tsv: the names of CUPTI's and nsys' constants. Ascending by
 * table name; values in the order of the file. */

#pragma once

#include <stdint.h>

typedef struct
{
  int64_t id;
  const char *name;
  const char *label;
} LnsEnumValue;

typedef struct
{
  const char *name; /* of the table                                                             */
  unsigned n_values;
  const LnsEnumValue *values;
} LnsEnum;

#define LNS_N_ENUMS 63

/* ids of ENUM_CUDA_MEM_KIND */
#define LNS_MEMORY_KIND_UNKNOWN 7

/* ids of ENUM_NSYS_EVENT_CLASS */
#define LNS_CLASS_RUNTIME     0
#define LNS_CLASS_DRIVER      1
#define LNS_CLASS_BACKTRACE   67
#define LNS_CLASS_GRAPH_EXEC  94
#define LNS_CLASS_GRAPH       95
#define LNS_CLASS_GRAPH_CLONE 96

extern const LnsEnum lns_enums[LNS_N_ENUMS];

/* The table called NAME (as SQL compares), or NULL. Static. O(tables). */
const LnsEnum *lns_enum_find (const char *name);

/* What the table called NAME calls ID, such as "Host-to-Device" for 1 of ENUM_CUDA_MEMCPY_OPER; NULL where it has no
 * such id. Static. O(tables + values). */
const char *lns_enum_label (const char *name, int64_t id);
