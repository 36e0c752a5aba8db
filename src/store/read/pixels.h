/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Pixel queries: what a row shows in a window, at a cost that grows with pixels, not events.
 *
 * The plain query: for each pixel, the sum of overlaps with all events of the lane, and the name that covers most of it.
 * Instead this walks the lane's level-of-detail tree from the top. A node that fits under one pixel adds its busy time and
 * dominant name to it; a wider one is opened. Chunks are read only where an event is at least a pixel wide. Cost:
 * O(pixels × fan-out × log n) nodes. */

#pragma once

#include "src/store/read/report.h"

/* Pixel p covers [p, p + 1) × ns_per_px from origin_ns on. These are real numbers: at the deepest zoom levels a nanosecond
 * takes many pixels. */
typedef struct
{
  int64_t origin_ns;
  double ns_per_px;    /* > 0; < 1 at the deepest zooms */
  uint32_t n_px;       /* 1–16,384 */
  double min_event_px; /* events at least this wide are listed one by one (≥ 1; 0 = 1) */
  bool cached_only;    /* read nothing from the file: coarser if finer data is not in memory */
  const atomic_uint *generation; /* or NULL; the query ends with LNS_ERROR_CANCELLED … */
  uint32_t expected_generation; /* … as soon as *generation is not this                         */
} LnsPixelQuery;

typedef struct
{
  float busy;     /* 0–1: the share of the pixel's time that events cover */
  uint32_t count; /* events that start in it (saturates; counts of nodes are spread) */
  uint32_t name;  /* dominant: of the event or node that covers most of it */
  uint32_t color; /* the dominant one's column COLOR, or 0 */
  uint32_t flags; /* or of LnsEventFlags seen */
} LnsPixel;

/* An event wide enough to be drawn by itself. */
typedef struct
{
  uint64_t ordinal;
  int64_t start_ns;
  int64_t duration_ns;
  uint32_t name;
  uint32_t color;
  uint32_t flags;
  uint32_t lane;
} LnsPixelEvent;

/* The result of a query. It may be reused for further queries, which keep its arrays. Zero it before first use. */
typedef struct
{
  LnsPixel *pixels; /* n_px of them; those under listed events hold their busy share too */
  uint32_t n_px;
  LnsPixelEvent *events; /* ascending by start */
  uint32_t n_events;
  bool coarse; /* cached_only left something out: query again on a worker thread */
  uint32_t n_px_allocated, n_events_allocated;
} LnsPixelResult;

/* Fills RESULT with what LANE shows in QUERY's window, including its open event. Returns false and sets ERROR if QUERY is
 * not valid, a chunk is damaged, the listed events do not fit into memory, or the query was cancelled; RESULT is then
 * undefined but can be reused. Any thread, each with its own RESULT. */
bool lns_report_query_pixels (LnsReport *report,
                              uint32_t lane,
                              const LnsPixelQuery *query,
                              LnsPixelResult *result,
                              LnsError *error);
void lns_pixel_result_clear (LnsPixelResult *result);

/* The same for a counter lane: for each pixel the samples' extremes and the value at its end. A pixel without samples has
 * the last value before it. */
typedef struct
{
  double min, max, last; /* NaN where no sample has come yet */
} LnsCounterPixel;

/* RET_PIXELS has room for query->n_px. Extremes may be off by one pixel where nodes stand for samples. Ignores
 * min_event_px. */
bool lns_report_query_counter (LnsReport *report,
                               uint32_t lane,
                               const LnsPixelQuery *query,
                               LnsCounterPixel *ret_pixels,
                               LnsError *error);
