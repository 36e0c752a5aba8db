/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which call chains, and which names of functions, the events of a part of a report use: in reports of CPU samples, all others take
 * most of the room. */

#pragma once

#include "src/store/write/writer.h"

/* Zero it before first use, and then nothing is left out. */
typedef struct
{
  uint32_t *
      node_of; /* by call node of the whole: 1 + its id in the part, 0 = not there; or NULL: the ids stay */
  uint32_t
      *frame_of; /* the same by frame                                                           */
  uint32_t n_nodes;
  bool
      *has_string; /* by string: whether it is more than a stand-in; or NULL: all are             */
} LnsUsed;

/* Begins to collect what events of REPORT use, if it has call chains of its own. To be cleared. */
void lns_used_begin (LnsUsed *used, LnsReport *report);

/* Notes what EVENT of a lane of KIND uses. O(depth of its call chain), and O(1) for a chain that was met. */
void lns_used_add (LnsUsed *used, LnsReport *report, LnsLaneKind kind, const LnsEvent *event);

/* Ends it: gives ids to what was noted. */
void lns_used_end (LnsUsed *used, LnsReport *report);

/* Defines the frames and call nodes of REPORT that USED has in WRITER, which has none. */
void lns_used_define (const LnsUsed *used, LnsReport *report, LnsWriter *writer);

/* Gives EVENT of a lane of KIND the ids of the part. */
void lns_used_translate (const LnsUsed *used, LnsLaneKind kind, LnsEvent *event);

void lns_used_clear (LnsUsed *used);
