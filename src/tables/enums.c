/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/enums.h"

#include <stddef.h>
#include <strings.h>

const LnsEnum *
lns_enum_find (const char *name)
{
  for (unsigned i = 0; i < LNS_N_ENUMS; i++)
    if (strcasecmp (lns_enums[i].name, name) == 0)
      return &lns_enums[i];
  return NULL;
}

const char *
lns_enum_label (const char *name, int64_t id)
{
  const LnsEnum *constants = lns_enum_find (name);

  for (unsigned i = 0; constants != NULL && i < constants->n_values; i++)
    if (constants->values[i].id == id)
      return constants->values[i].label;
  return NULL;
}
