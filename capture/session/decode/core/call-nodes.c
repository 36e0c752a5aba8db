/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/call-nodes.h"

/* So many calls may wait, or never have an event, before the oldest are forgotten. */
#define GENERATION_CALLS (1u << 20)

void
_lns_call_nodes_keep (LnsCallNodes *nodes, uint32_t report, uint64_t call, uint32_t node)
{
  if (nodes->report != report)
    _lns_call_nodes_clear (nodes);
  nodes->report = report;
  if (nodes->young.n >= GENERATION_CALLS)
    {
      lns_id_map_clear (&nodes->old);
      nodes->old = nodes->young;
      nodes->young = (LnsIdMap){ 0 };
    }
  lns_id_map_set (&nodes->young, call, (void *)(uintptr_t)(1 + (uint64_t)node));
}

uint64_t
_lns_call_nodes_take (LnsCallNodes *nodes, uint32_t report, uint64_t call)
{
  if (nodes->report != report)
    return 0;
  const void *found = lns_id_map_take (&nodes->young, call);
  if (found == NULL)
    found = lns_id_map_take (&nodes->old, call);
  return (uint64_t)(uintptr_t)found;
}

void
_lns_call_nodes_clear (LnsCallNodes *nodes)
{
  lns_id_map_clear (&nodes->young);
  lns_id_map_clear (&nodes->old);
}
