/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Builds a level-of-detail node: the sum of up to 16 events, or of up to 4 nodes. */

#pragma once

#include "src/store/format/lane-kind.h"
#include "src/store/format/node.h"

typedef struct
{
  LnsNode node; /* name and color are not set yet; the hole may be less than half of the span */
  uint64_t n_events;   /* that it stands for */
  uint16_t n_children; /* events or nodes added */
  uint16_t n_keys;
  int64_t dominant_ns;          /* time of the dominant name; after lns_node_sum_finish () */
  uint64_t keys[LNS_NODE_LEAF]; /* name << 32 | color, in order of appearance */
  int64_t times_ns[LNS_NODE_LEAF];
} LnsNodeSum;

static inline void
lns_node_sum_reset (LnsNodeSum *sum)
{
  sum->n_children = sum->n_keys = 0;
  sum->n_events = 0;
}

/* Adds an event of a lane that is not a counter; COLOR is its column COLOR. Events of length 0
 * count as 1 ns of their name. O(16). */
void lns_node_sum_add_event (LnsNodeSum *sum, const LnsEvent *event, uint32_t color);

/* Adds a sample VALUE of TYPE, whose event is EVENT. */
void lns_node_sum_add_sample (LnsNodeSum *sum,
                              const LnsEvent *event,
                              LnsPayloadType type,
                              uint64_t value);

/* Adds CHILD, which is finished. TYPE is LNS_PAYLOAD_NONE unless the lane is a counter. */
void lns_node_sum_add_node (LnsNodeSum *sum, const LnsNodeSum *child, LnsPayloadType type);

/* Sets name, color and dominant_ns. Further children may be added afterwards. */
void lns_node_sum_finish (LnsNodeSum *sum);
