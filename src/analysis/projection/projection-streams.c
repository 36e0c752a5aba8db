/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/projection-private.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/memory.h"

/* What a range began in one stream, or in the streams of one context. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t n;
} Part;

typedef struct
{
  LnsProjection base;
  const LnsCudaStream *streams;
  uint32_t n_streams, n_contexts;
  uint32_t *n_streams_of; /* per context: streams with work                                      */
  Part *parts;            /* per stream, then per context; n = 0 but in add_range ()             */
  uint32_t *touched;      /* those with n > 0                                                    */
  LNS_ARRAY (LnsStreamProjection) ranges; /* the result */
} ByStream;

static void
add_to_part (ByStream *self, uint32_t at, const LnsProjectionLaunch *launch, uint32_t *n_touched)
{
  Part *part = &self->parts[at];

  if (part->n == 0)
    {
      *part = (Part){ INT64_MAX, INT64_MIN, 0 };
      self->touched[(*n_touched)++] = at;
    }
  part->start_ns = launch->start_ns < part->start_ns ? launch->start_ns : part->start_ns;
  part->end_ns = launch->end_ns > part->end_ns ? launch->end_ns : part->end_ns;
  part->n += launch->n;
}

/* Adds a result for each stream and context that RANGE began something in. */
static void
add_range (LnsProjection *projection, LnsProjectedRange *range, uint32_t color)
{
  ByStream *self = (ByStream *)projection; /* whose first member it is */
  const LnsProjectionLaunch *launches = projection->launches.items;
  const uint32_t n_streams = self->n_streams;
  int64_t range_end_ns = range->range_start_ns + range->range_duration_ns;
  uint32_t n_touched = 0;

  for (size_t i = _lns_projection_first (projection, range->thread, range->range_start_ns);
       i < projection->launches.n && launches[i].thread == range->thread &&
       launches[i].call_start_ns <= range_end_ns;
       i++)
    {
      if (launches[i].call_end_ns > range_end_ns || launches[i].stream >= n_streams)
        continue;
      uint32_t context = self->streams[launches[i].stream].context;
      add_to_part (self, launches[i].stream, &launches[i], &n_touched);
      if (context < self->n_contexts && self->n_streams_of[context] > 1)
        add_to_part (self, n_streams + context, &launches[i], &n_touched);
    }
  for (uint32_t i = 0; i < n_touched; i++)
    {
      const uint32_t at = self->touched[i];
      Part *part = &self->parts[at];
      LnsStreamProjection *added = lns_array_add (&self->ranges);
      *added = (LnsStreamProjection){ *range, at < n_streams ? at : LNS_ID_NONE, 0, color };
      added->context = at < n_streams ? self->streams[at].context : at - n_streams;
      added->range.start_ns = part->start_ns;
      added->range.duration_ns = part->end_ns - part->start_ns;
      added->range.n_operations = part->n;
      part->n = 0;
    }
}

static int
compare_by_stream (const void *a, const void *b)
{
  const LnsStreamProjection *pa = a, *pb = b;

  if (pa->context != pb->context)
    return pa->context < pb->context ? -1 : 1;
  if (pa->stream != pb->stream)
    return pa->stream < pb->stream ? -1 : 1;
  return _lns_projection_compare (&pa->range, &pb->range);
}

/* Counts the streams with work of each context. */
static void
count_streams (ByStream *self)
{
  const uint32_t n_streams = self->n_streams;
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (self->base.report, &n_lanes);
  bool *seen = lns_calloc (n_streams, sizeof *seen);

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const uint32_t stream = lns_track_of (self->base.report, i)->stream;
      if (stream >= n_streams || seen[stream] || !lns_is_gpu_operation (lanes[i].kind))
        continue;
      seen[stream] = true;
      if (self->streams[stream].context < self->n_contexts)
        self->n_streams_of[self->streams[stream].context]++;
    }
  free (seen);
}

bool
lns_projection_by_stream (LnsReport *report,
                          const atomic_bool *cancel,
                          atomic_uint *ret_permille,
                          LnsStreamProjection **ret_ranges,
                          size_t *ret_n,
                          LnsError *error)
{
  ByStream self = { .base = { .report = report,
                              .stream = LNS_ID_NONE,
                              .cancel = cancel,
                              .permille = ret_permille,
                              .add_range = add_range } };

  lns_report_contexts (report, &self.n_contexts);
  self.streams = lns_report_streams (report, &self.n_streams);
  const size_t n_parts = (size_t)self.n_streams + self.n_contexts;
  self.n_streams_of = lns_calloc (self.n_contexts, sizeof (uint32_t));
  self.touched = lns_calloc (n_parts, sizeof (uint32_t));
  self.parts = lns_calloc (n_parts, sizeof (Part));
  count_streams (&self);
  const bool good = _lns_projection_run (&self.base, error);
  free (self.n_streams_of);
  free (self.touched);
  free (self.parts);
  if (!good)
    {
      lns_array_clear (&self.ranges);
      return false;
    }
  lns_order (self.ranges.items, self.ranges.n, sizeof *self.ranges.items, compare_by_stream);
  *ret_ranges = self.ranges.items;
  *ret_n = self.ranges.n;
  return true;
}
