/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where calls come from, between the record that tells of that and the event of the call, which comes in another stream, often
 * much later: the nodes (LnsCallNode) of the present report, by call. */

#pragma once

#include "src/base/id-map.h"

#include <stdint.h>

typedef struct
{
  uint32_t report;     /* of which the nodes are */
  LnsIdMap young, old; /* 1 + node */
} LnsCallNodes;

/* Notes that CALL comes from NODE of REPORT. Calls whose event never comes are forgotten in time. */
void _lns_call_nodes_keep (LnsCallNodes *nodes, uint32_t report, uint64_t call, uint32_t node);

/* Takes the node of CALL in REPORT out of NODES. Returns 1 + the node; 0: none is known. */
uint64_t _lns_call_nodes_take (LnsCallNodes *nodes, uint32_t report, uint64_t call);
void _lns_call_nodes_clear (LnsCallNodes *nodes);
