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

/* Finds events of links. One thread at a time. */
typedef struct LnsPathEvents LnsPathEvents;

/* For links of GRAPH, of which only the labels and agents are read; both are borrowed. To be freed. O(lanes). */
LnsPathEvents *lns_path_events_new (LnsReport *report, const LnsGraph *graph);
void lns_path_events_free (LnsPathEvents *events); /* NULL is fine                                */

/* Finds the event that shows LINK: the operation, or the one that a launch led to; the call; or what the thread did. False: there is none, as what was done
 * was not recorded, or it cannot be read. O(lanes of the agent), where times ascend slowly; else × log events. */
bool lns_path_events_find (LnsPathEvents *events, const LnsPathLink *link, LnsPathEvent *ret_event);

/* Finds the point of GRAPH, with TIMES, that is the end of event ORDINAL of LANE of REPORT: of an operation of a GPU, or of a call of CUDA or MPI. LNS_POINT_NONE:
 * the graph has no such event, or it cannot be read. Any thread. O(points). */
uint32_t lns_path_point_of (LnsReport *report,
                            const LnsGraph *graph,
                            const int64_t *times,
                            uint32_t lane,
                            uint64_t ordinal);
