/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/collectives.h"

#include <stdlib.h>

#include "src/base/memory.h"

void
lns_collectives_clear (LnsCollectives *collectives)
{
  void *collective;
  size_t at = 0;

  while ((collective = lns_id_map_next (&collectives->collectives, &at)) != NULL)
    free (collective);
  lns_id_map_clear (&collectives->collectives);
  lns_id_map_clear (&collectives->times);
}

const LnsCollective *
lns_collectives_begin (
    LnsCollectives *collectives, uint32_t agent, uint32_t name, uint32_t start, int64_t start_ns)
{
  const uint64_t of_agent = (uint64_t)agent << 32 | name;
  const uint64_t time = lns_id_map_number (&collectives->times, of_agent);
  const uint64_t key = (uint64_t)name << 32 | (uint32_t)time;
  LnsCollective *collective = lns_id_map_get (&collectives->collectives, key);

  lns_id_map_set_number (&collectives->times, of_agent, time + 1);
  if (collective == NULL)
    {
      collective = lns_calloc (1, sizeof *collective);
      if (!lns_id_map_set (&collectives->collectives, key, collective))
        lns_out_of_memory ();
    }
  if (collective->n < LNS_MOST_MEMBERS)
    collective->members[collective->n++] = (LnsCollectiveMember){ agent, start, start_ns };
  return collective;
}
