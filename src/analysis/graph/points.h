/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The points of a graph as it is built: when each was. */

#pragma once

#include "src/analysis/graph/graph.h"

/* Zero, with the graph set, before first use. */
typedef struct
{
  LnsGraph *graph;           /* borrowed                                                        */
  LNS_ARRAY (int64_t) times; /* by point, ns of the report's clock                              */
} LnsPoints;

/* Adds a point at TIME_NS after BEFORE (LNS_POINT_NONE: the first one). Returns it; one that took more than some seconds has others before. */
uint32_t lns_points_add (LnsPoints *points, uint32_t before, int64_t time_ns, uint32_t label);

/* The same for a piece of which OWN_NS are its own, and the rest has the label REST. */
uint32_t lns_points_add_own (LnsPoints *points,
                             uint32_t before,
                             int64_t time_ns,
                             int64_t own_ns,
                             uint32_t label,
                             uint32_t rest);

/* Where the agent of POINT was at TIME_NS, if it has come to POINT since: its last point until then, unless that is more than some µs earlier; else
 * POINT. O(points between). */
uint32_t lns_points_back (const LnsPoints *points, uint32_t point, int64_t time_ns);

/* Whether a thread did nothing but run from point FROM to point TO of it, and was in no call but what it waited in at FROM: it has passed no place of its
 * program. O(points between). */
bool lns_points_only_ran (const LnsPoints *points, uint32_t from, uint32_t to);

static inline int64_t
lns_points_time (const LnsPoints *points, uint32_t point)
{
  return points->times.items[point];
}
