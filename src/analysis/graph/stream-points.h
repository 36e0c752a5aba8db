/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes points of the operations of one stream of a GPU: each comes after the one before it, the call that launched it, and what of other streams
 * it had to wait for. */

#pragma once

#include "src/analysis/graph/collectives.h"
#include "src/analysis/graph/copy-engines.h"
#include "src/analysis/graph/event-streams.h"
#include "src/analysis/graph/gpu-order.h"
#include "src/analysis/graph/launched.h"
#include "src/analysis/graph/points.h"
#include "src/analysis/graph/stream-work.h"

typedef struct LnsStreamPoints LnsStreamPoints;

/* What the streams of a process share. All are borrowed. */
typedef struct
{
  LnsPoints *points;
  LnsGpuOrder *gpu;
  LnsEventStreams *events;
  LnsCopyEngines *engines;
  const LnsLaunched *launched;
  LnsCollectives *collectives; /* of all processes                                               */
  const LnsGraphMark *marks;
  size_t n_marks;
} LnsStreamPlace;

/* The stream with this NUMBER in the process's LnsGpuOrder, whose points are of AGENT. To be freed. */
LnsStreamPoints *lns_stream_points_new (LnsReport *report, uint32_t number, uint32_t agent);
void lns_stream_points_free (LnsStreamPoints *stream); /* NULL is fine                            */

uint32_t lns_stream_points_number (const LnsStreamPoints *stream);

/* Adds LANE to those of STREAM, which was not begun. */
void lns_stream_points_add_lane (LnsStreamPoints *stream, uint32_t lane);

/* Reads the first operation. False and ERROR where a chunk is damaged. */
bool lns_stream_points_begin (LnsStreamPoints *stream, LnsError *error);

/* When an operation of STREAM begins or ends next in RET_NS. False if none does. O(operations at a time). */
bool lns_stream_points_next (const LnsStreamPoints *stream, int64_t *ret_ns);

/* Has an operation of STREAM, in PLACE, begin, or end: then its points are added. False and ERROR where a chunk is damaged. O(operations at a time). */
bool lns_stream_points_go (LnsStreamPoints *stream, const LnsStreamPlace *place, LnsError *error);
