/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* From a link of the critical path to the event that shows it, and from an event to what a graph knows of it. */

#pragma once

#include "src/analysis/graph/path.h"

/* An event of a report. */
typedef struct
{
  uint32_t lane;
  uint64_t ordinal;
} LnsPathEvent;

/* Finds the event of REPORT that shows LINK, of GRAPH, of which only the labels and agents are read: the operation, or the one that a launch led to; the
 * call; or what the thread did. False: there is none, as what was done was not recorded, or it cannot be read. Any thread.
 * O(lanes × log events). */
bool lns_path_event_of (LnsReport *report,
                        const LnsGraph *graph,
                        const LnsPathLink *link,
                        LnsPathEvent *ret_event);

/* Finds the point of GRAPH, with TIMES, that is the end of event ORDINAL of LANE of REPORT: of an operation of a GPU, or of a call of CUDA or MPI. LNS_POINT_NONE:
 * the graph has no such event, or it cannot be read. Any thread. O(points). */
uint32_t lns_path_point_of (LnsReport *report,
                            const LnsGraph *graph,
                            const int64_t *times,
                            uint32_t lane,
                            uint64_t ordinal);
