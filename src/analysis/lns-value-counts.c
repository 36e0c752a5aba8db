/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/lns-value-counts.h"

#define FIRST_BITS 10
#define MAX_BITS   30

bool
lns_value_counts_grow (LnsValueCounts *counts)
{
  LnsValueCounts larger = { .bits = counts->slots != NULL ? counts->bits + 1 : FIRST_BITS };

  if (larger.bits > MAX_BITS ||
      (larger.slots = calloc (UINT64_C (1) << larger.bits, sizeof *larger.slots)) == NULL)
    return false;
  for (uint64_t i = 0; counts->slots != NULL && i < UINT64_C (1) << counts->bits; i++)
    if (counts->slots[i].count != 0)
      lns_value_counts_add (&larger, counts->slots[i].key, counts->slots[i].count);
  free (counts->slots);
  *counts = larger;
  return true;
}

void
lns_value_counts_clear (LnsValueCounts *counts)
{
  free (counts->slots);
  *counts = (LnsValueCounts){ 0 };
}
