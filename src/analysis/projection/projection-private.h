/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What projection.c (lanes to launches and ranges) and projection-streams.c (the same by stream)
 * share. */

#pragma once

#include "src/analysis/projection/projection.h"

typedef struct LnsProjection LnsProjection;

/* A call that began some, and what. */
typedef struct
{
  uint64_t correlation;
  uint32_t thread, n, stream;
  int64_t call_start_ns, call_end_ns;
  int64_t start_ns, end_ns;
} LnsProjectionLaunch;

/* An array that grows. */
typedef struct
{
  void *items;
  size_t n, n_allocated;
} LnsArray;

struct LnsProjection
{
  LnsReport *report;
  const LnsLane *lanes;
  const LnsTrack *tracks;
  uint32_t n_lanes, n_tracks;
  uint32_t stream;
  const atomic_bool *cancel;
  atomic_uint *permille; /* or NULL                                                              */
  uint64_t n_chunks, n_chunks_read;
  uint32_t *by_process; /* lanes, ascending by process                                           */
  LnsArray work; /* Work of a process, ascending by correlation and stream, one each            */
  LnsArray
      launches;    /* Launch of a process, ascending by (thread, start of the call)               */
  LnsArray ranges; /* LnsProjectedRange, the result, or LnsStreamProjection where by stream       */

  /* Adds what RANGE, whose start, duration and thread are set, began to `ranges`. False without memory. */
  bool (*add_range) (LnsProjection *projection, LnsProjectedRange *range, uint32_t color);
};

/* Room for one more item of SIZE bytes, or NULL without memory. */
void *_lns_array_add (LnsArray *array, size_t size);

/* The first launch of THREAD whose call does not start before START_NS. O(log n). */
size_t _lns_projection_first (const LnsProjection *projection, uint32_t thread, int64_t start_ns);

/* By thread, then by start of the range, outer ones first. */
int _lns_projection_compare (const void *a, const void *b);

/* Fills `ranges` from all processes, in no order; the caller sets report, stream, add_range and, if it
 * likes, cancel and permille. False with ERROR leaves nothing to be freed. */
bool _lns_projection_run (LnsProjection *projection, LnsError *error);
