/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The ENUM_* tables of the nsys SQLite export, from enums.tsv: what programs that read such files
 * look numbers up in. Ascending by table name; values in the order of the file. */

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

extern const LnsEnum lns_enums[LNS_N_ENUMS];
