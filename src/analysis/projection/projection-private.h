/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by projection.c, which makes ranges of lanes, and projection-streams.c, which does so by stream. */

#pragma once

#include "src/analysis/projection/projection.h"
#include "src/analysis/lanes.h"
#include "src/base/array.h"

typedef struct LnsProjection LnsProjection;

/* What one correlation began in one stream. */
typedef struct
{
  uint64_t correlation;
  int64_t start_ns, end_ns;
  uint32_t n, stream;
} LnsProjectionWork;

/* A call that began some, and what. */
typedef struct
{
  uint64_t correlation;
  uint32_t thread, n, stream;
  int64_t call_start_ns, call_end_ns;
  int64_t start_ns, end_ns;
} LnsProjectionLaunch;

struct LnsProjection
{
  LnsReport *report;
  const LnsLane *lanes;
  uint32_t stream;
  const atomic_bool *cancel;
  atomic_uint *permille; /* or NULL                                                              */
  uint64_t n_chunks, n_chunks_read;
  uint32_t *by_process; /* lanes, ascending by process                                           */
  LNS_ARRAY (LnsProjectionWork)
  work; /* of a process, ascending by correlation and stream, one each */
  LNS_ARRAY (LnsProjectionLaunch)
  launches; /* of a process, ascending by thread and start of the call */

  LnsChunkFunc function; /* of the walk under way */

  /* Adds what RANGE, whose start, duration and thread are set, began to the caller's results. */
  void (*add_range) (LnsProjection *projection, LnsProjectedRange *range, uint32_t color);
};

/* The first launch of THREAD whose call does not start before START_NS. O(log n). */
size_t _lns_projection_first (const LnsProjection *projection, uint32_t thread, int64_t start_ns);

/* By thread, then by start of the range, outer ones first. */
int _lns_projection_compare (const void *a, const void *b);

/* Calls `add_range` for the ranges of all processes, in no order. The caller sets report, stream, add_range and, if it
 * likes, cancel and permille. False and ERROR where a chunk is damaged, or cancelled. */
bool _lns_projection_run (LnsProjection *projection, LnsError *error);
