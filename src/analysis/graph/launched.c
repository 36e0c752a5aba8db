/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/launched.h"

/* So many places a correlation, and some at first, are not too many; what is further off is kept apart. */
#define PLACES_A_CALL 16
#define FIRST_PLACES  4096

void
lns_launched_set (LnsLaunched *launched, uint64_t correlation, uint32_t point)
{
  if (launched->dense.n == 0)
    launched->base = correlation;
  const uint64_t place = correlation - launched->base;
  launched->n++;
  if (correlation < launched->base || place > FIRST_PLACES + PLACES_A_CALL * launched->n)
    {
      lns_id_map_set_number (&launched->sparse, correlation, (uint64_t)point + 1);
      return;
    }
  while (launched->dense.n <= place)
    *lns_array_add (&launched->dense) = 0;
  launched->dense.items[place] = point + 1;
}

bool
lns_launched_find (const LnsLaunched *launched, uint64_t correlation, uint32_t *ret_point)
{
  const uint64_t place = correlation - launched->base;
  uint64_t found = place < launched->dense.n ? launched->dense.items[place] : 0;

  if (found == 0)
    found = lns_id_map_number (&launched->sparse, correlation);
  *ret_point = (uint32_t)(found - 1);
  return found != 0;
}

void
lns_launched_clear (LnsLaunched *launched)
{
  lns_array_clear (&launched->dense);
  lns_id_map_clear (&launched->sparse);
}
