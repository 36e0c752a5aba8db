/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Pixels of counter lanes: extremes where there are samples, the last value carried on where there
 * are none. Replaces: for each pixel, the minimum, maximum and last of the samples in it. A node
 * that lies in two pixels lends its extremes to both, so that they are at most a pixel off. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/read/detail-walk.h"
#include "src/store/read/pixels-private.h"

typedef struct
{
  LnsPixelScale scale;
  LnsCounterPixel *pixels;
  LnsPayloadType type;
  int value_at;
  bool has_before; /* a sample before the window                                                */
  int64_t before_ns;
  double before;
} Paint;

static double
value_of (LnsPayloadType type, uint64_t bits)
{
  double wide;
  float narrow;
  uint32_t low = (uint32_t)bits;

  switch (type)
    {
    case LNS_PAYLOAD_INT64:
      return (double)(int64_t)bits;
    case LNS_PAYLOAD_DOUBLE:
      memcpy (&wide, &bits, sizeof wide);
      return wide;
    case LNS_PAYLOAD_UINT32:
      return low;
    case LNS_PAYLOAD_INT32:
      return (int32_t)low;
    case LNS_PAYLOAD_FLOAT:
      memcpy (&narrow, &low, sizeof narrow);
      return narrow;
    default:
      return (double)bits;
    }
}

static void
widen (LnsCounterPixel *pixel, double min, double max)
{
  /* NaN compares false: the first value replaces it. */
  if (!(pixel->min <= min))
    pixel->min = min;
  if (!(pixel->max >= max))
    pixel->max = max;
}

/* Adds samples between START_NS and END_NS that lie in the window or before it. */
static void
add (Paint *paint, int64_t start_ns, int64_t end_ns, double min, double max, double last)
{
  if (end_ns < paint->scale.from_ns)
    {
      if (!paint->has_before || end_ns >= paint->before_ns)
        {
          paint->has_before = true;
          paint->before_ns = end_ns;
          paint->before = last;
        }
      return;
    }
  const double x0 = _lns_pixel_x (&paint->scale, start_ns);
  const double x1 = _lns_pixel_x (&paint->scale, end_ns);
  if (x0 >= paint->scale.n_px)
    return;
  const uint32_t p0 = x0 > 0 ? (uint32_t)x0 : 0;
  const uint32_t p1 = x1 < paint->scale.n_px ? (uint32_t)x1 : paint->scale.n_px - 1;
  for (uint32_t p = p0; p <= p1; p++)
    widen (&paint->pixels[p], min, max);
  paint->pixels[p1].last = last;
}

static bool
node_cb (void *data, const LnsNode *node, uint64_t n_events)
{
  Paint *paint = data;

  (void)n_events;
  if (node->start_ns >= paint->scale.to_ns)
    return false;
  if (node->end_ns >= paint->scale.from_ns &&
      _lns_pixel_x (&paint->scale, node->end_ns) - _lns_pixel_x (&paint->scale, node->start_ns) > 1)
    return true;
  add (paint, node->start_ns, node->end_ns, value_of (paint->type, node->min),
       value_of (paint->type, node->max), value_of (paint->type, node->last));
  return false;
}

static void
rest_cb (void *data, const LnsNode *node, uint64_t n_events, int64_t from_ns)
{
  Paint *paint = data;

  (void)n_events;
  add (paint, from_ns, node->end_ns, value_of (paint->type, node->min),
       value_of (paint->type, node->max), value_of (paint->type, node->last));
}

static void
events_cb (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  Paint *paint = data;
  const uint64_t *bits = chunk->extra[paint->value_at];

  for (uint32_t i = first; i < end; i++)
    {
      const double value = value_of (paint->type, bits != NULL ? bits[i] : 0);
      if (chunk->start_ns[i] < paint->scale.to_ns)
        add (paint, chunk->start_ns[i], chunk->start_ns[i], value, value, value);
    }
}

/* Carries the last value into the pixels without samples. */
static void
carry (Paint *paint)
{
  double last = paint->has_before ? paint->before : NAN;

  for (uint32_t p = 0; p < paint->scale.n_px; p++)
    {
      LnsCounterPixel *pixel = &paint->pixels[p];
      if (isnan (pixel->last))
        pixel->last = last;
      if (isnan (pixel->min) || isnan (pixel->max))
        pixel->min = pixel->max = last;
      last = pixel->last;
    }
}

bool
lns_report_query_counter (LnsReport *report,
                          uint32_t lane,
                          const LnsPixelQuery *query,
                          LnsCounterPixel *ret_pixels,
                          LnsError *error)
{
  Paint paint = { .pixels = ret_pixels };
  uint32_t n_tracks, n_lanes;

  if (!_lns_pixel_scale_init (&paint.scale, report, query, error))
    return false;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  if (lane >= n_lanes || lanes[lane].kind != LNS_LANE_COUNTER)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: lane %u is not a counter",
                          report->file.path, lane);
  paint.type = (LnsPayloadType)lns_report_tracks (report, &n_tracks)[lanes[lane].track].value_type;
  paint.value_at = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
  for (uint32_t p = 0; p < query->n_px; p++)
    ret_pixels[p] = (LnsCounterPixel){ NAN, NAN, NAN };

  const LnsDetailVisitor visitor = {
    .node = node_cb,
    .events = events_cb,
    .rest = rest_cb,
    .data = &paint,
    .column_mask = LNS_COLUMN_BIT (LNS_COLUMN_VALUE),
    .cached_only = query->cached_only,
    .generation = query->generation,
    .expected_generation = query->expected_generation,
  };
  if (!_lns_detail_walk (report, lane, &visitor, error))
    return false;
  carry (&paint);
  return true;
}
