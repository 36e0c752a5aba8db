/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Walks the functions of a call chain from the innermost to the outermost, inlined calls among them:
 *
 *   LnsCallWalk walk = lns_call_walk (report, node);
 *   while ((frame = lns_call_walk_next (&walk)) != NULL) … frame->symbol, frame->inlined_in != 0 …
 *
 * A step is O(1), and a walk ends in every report that can be opened. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  const LnsCallNode *nodes;
  const LnsStackFrame *frames;
  uint32_t node;  /* of the function to come, or LNS_ID_NONE */
  uint32_t frame; /* its LnsStackFrame */
} LnsCallWalk;

/* Goes to the call NODE and to the innermost function at its place. */
static inline void
lns_call_walk_enter (LnsCallWalk *walk, uint32_t node)
{
  walk->node = node;
  if (node == LNS_ID_NONE)
    return;
  walk->frame = walk->nodes[node].frame;
  const uint32_t innermost = walk->frames[walk->frame].innermost;
  if (innermost != 0)
    walk->frame = innermost - 1;
}

/* A walk over the chain that ends with NODE; over none if the report has no such node. */
static inline LnsCallWalk
lns_call_walk (const LnsReport *report, uint32_t node)
{
  uint32_t n;
  LnsCallWalk walk = { .nodes = lns_report_call_nodes (report, &n),
                       .frames = lns_report_frames (report, NULL) };
  lns_call_walk_enter (&walk, node < n ? node : LNS_ID_NONE);
  return walk;
}

/* The next function, or NULL after the last. Valid as long as the report. */
static inline const LnsStackFrame *
lns_call_walk_next (LnsCallWalk *walk)
{
  if (walk->node == LNS_ID_NONE)
    return NULL;
  const LnsStackFrame *frame = &walk->frames[walk->frame];
  if (frame->inlined_in != 0)
    walk->frame = frame->inlined_in - 1;
  else
    lns_call_walk_enter (walk, walk->nodes[walk->node].parent);
  return frame;
}
