/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads the chunks of the events that statistics sum up (ranges, calls or GPU operations) on all cores. One walk over all
 * chunks is a pass. */

#pragma once

#include "src/analysis/filter.h"
#include "src/analysis/kernel-keys.h"
#include "src/base/array.h"

typedef enum
{
  LNS_STYLE_PUSH_POP = 1 << 0,
  LNS_STYLE_START_END = 1 << 1,
  LNS_STYLE_CALL = 1 << 2, /* of the CUDA API                                                    */
  LNS_STYLE_KERNEL = 1 << 3,
  LNS_STYLE_COPY = 1 << 4,
  LNS_STYLE_SET = 1 << 5,
} LnsRangeStyle;

/* The LnsRangeStyle of the events of lanes of KIND, or 0. */
unsigned lns_range_style (LnsLaneKind kind);

/* Keys by which calls and kernels are summed up, if not by name. Both are borrowed; either may be NULL. */
typedef struct
{
  const uint32_t *calls; /* keys by string id of the name, for all of the report's               */
  const LnsKernelKeys *kernels;
} LnsRangeKeys;

/* What is summed up. */
typedef struct
{
  unsigned styles; /* mask of LnsRangeStyle                                                      */
  bool by_bytes;   /* sizes instead of durations                                                 */
  LnsRangeKeys keys;
  const LnsFilterSpan *
      span; /* borrowed: only events that overlap it, at full length, as lns_filter_write () has them; NULL = all */
} LnsRangeQuery;

/* Ranges that are summed up together: of one style, in domains of one name. */
typedef struct
{
  LnsRangeStyle style;
  uint32_t domain_name; /* string id; 0 = the default domain                                     */
} LnsRangeFamily;

#define LNS_RANGE_MAX_WORKERS 16

typedef struct LnsRangeWalk LnsRangeWalk;

/* Prepares passes over what QUERY asks of REPORT (both borrowed). CANCEL may be NULL. NULL and ERROR where a chunk at an end of the
 * query's span is damaged. O(lanes × families), and O(log n) a lane for a span. */
LnsRangeWalk *lns_range_walk_new (LnsReport *report,
                                  const LnsRangeQuery *query,
                                  const atomic_bool *cancel,
                                  LnsError *error);
void lns_range_walk_free (LnsRangeWalk *walk); /* NULL is fine                                  */

const LnsRangeFamily *lns_range_walk_families (const LnsRangeWalk *walk, uint32_t *ret_n);
unsigned lns_range_walk_n_workers (const LnsRangeWalk *walk); /* 1 – LNS_RANGE_MAX_WORKERS */

/* Looks at CHUNK (start, duration, name and flags; keys and sizes take the places of names and durations
 * where the query asks for them) of FAMILY. Called by worker WORKER (0 up to
 * n_workers - 1), each of which is a thread. */
typedef void (*LnsRangeWalkFunc) (void *data,
                                  unsigned worker,
                                  uint32_t family,
                                  const LnsChunk *chunk);

/* Has FUNCTION look at each chunk once, in no order, and waits. False and ERROR where a chunk is damaged, or
 * cancelled. */
bool
lns_range_walk_run (LnsRangeWalk *walk, LnsRangeWalkFunc function, void *data, LnsError *error);

/* Whether the duration of event I of CHUNK is known. An event that was still running when the report or its process ended
 * lasts until then, as in the statistics of nsys. An event whose end was lost has no known duration. */
static inline bool
lns_range_is_whole (const LnsChunk *chunk, uint32_t i)
{
  return lns_event_has_length (chunk->flags[i]) && chunk->duration_ns[i] >= 0;
}
