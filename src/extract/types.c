/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "src/extract/types.h"

static const LnsExtractType types[] = {
  { &_lns_extract_rep, lns_extract_report },
  { &_lns_extract_html, lns_extract_page },
};

const LnsExtractType *
lns_extract_type_find (const char *name)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp (types[i].place->name, name) == 0)
      return &types[i];
  return NULL;
}
