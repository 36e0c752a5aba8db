/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Times are subtracted from the query's origin as integers before they become doubles, so that windows of any width at any
 * time of the report are exact. */

#include "src/store/read/pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/store/read/detail-walk.h"
#include "src/store/read/pixels-private.h"

#define PIXELS_MAX 16384

typedef struct
{
  int64_t from_ns, to_ns; /* the window */
  double ns_per_px;
  uint32_t n_px;
} Scale;

/* The distance of TIME_NS from the window's left edge in pixels; saturates at 292 years. */
static inline double
pixel_x (const Scale *scale, int64_t time_ns)
{
  return (double)lns_difference (time_ns, scale->from_ns) / scale->ns_per_px;
}

/* How a span is drawn. */
typedef struct
{
  uint32_t name, color, flags;
} Look;

typedef struct
{
  Scale scale;
  double min_event_px;
  LnsPixelResult *result;
  float *weights; /* by pixel: the share of the dominant name so far; < 0 = none yet */
  int color_at;   /* index of COLOR among the lane kind's columns, or -1 */
  bool no_memory;
} Paint;

/* Returns false and sets ERROR if QUERY is not valid. */
static bool
scale_init (Scale *scale, const LnsReport *report, const LnsPixelQuery *query, LnsError *error)
{
  if (query->n_px < 1 || query->n_px > PIXELS_MAX || !(query->ns_per_px > 0) ||
      !isfinite (query->ns_per_px))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s: a pixel query needs 1 to %d pixels of a positive width",
                          report->shared->file.path, PIXELS_MAX);
  const double width_ns = ceil (query->ns_per_px * query->n_px);

  scale->from_ns = query->origin_ns;
  scale->ns_per_px = query->ns_per_px;
  scale->n_px = query->n_px;
  if (width_ns >= 0x1p63 ||
      __builtin_add_overflow (query->origin_ns, (int64_t)width_ns, &scale->to_ns))
    scale->to_ns = INT64_MAX;
  return true;
}

static uint32_t
saturated_sum (uint32_t a, uint64_t b)
{
  return b > UINT32_MAX - a ? UINT32_MAX : a + (uint32_t)b;
}

/* Adds a span that covers SHARE of pixel P. */
static inline void
cover (Paint *paint, uint32_t p, float share, const Look *look)
{
  LnsPixel *pixel = &paint->result->pixels[p];

  pixel->busy += share;
  pixel->flags |= look->flags;
  if (share > paint->weights[p])
    {
      paint->weights[p] = share;
      pixel->name = look->name;
      pixel->color = look->color;
    }
}

/* Covers DENSITY of each pixel between X0 and X1 ≥ X0, both clipped to the window, and adds EVENTS_PER_PX to their
 * counts. */
static void
cover_span (
    Paint *paint, double x0, double x1, double density, const Look *look, double events_per_px)
{
  const uint32_t n_px = paint->scale.n_px;
  const double from = x0 > 0 ? x0 : 0, to = x1 < n_px ? x1 : n_px;

  for (uint32_t p = from < n_px ? (uint32_t)from : n_px; p < n_px; p++)
    {
      const double left = p > from ? p : from, right = p + 1.0 < to ? p + 1.0 : to;
      if (right < left || (right == left && p > from))
        break;
      cover (paint, p, (float)((right - left) * density), look);
      if (events_per_px > 0)
        paint->result->pixels[p].count =
            saturated_sum (paint->result->pixels[p].count,
                           (uint64_t)fmin (events_per_px * (right - left) + 0.5, UINT32_MAX));
    }
}

/* Whether the span overlaps the window; zero-length spans at its origin do. */
static bool
is_inside (const Paint *paint, int64_t start_ns, int64_t end_ns)
{
  return start_ns < paint->scale.to_ns &&
         (end_ns > paint->scale.from_ns || start_ns >= paint->scale.from_ns);
}

/* Draws NODE in place of its N_EVENTS events, from FROM_NS to its end. */
static void
cover_node (Paint *paint, const LnsNode *node, uint64_t n_events, int64_t from_ns)
{
  const double x0 = pixel_x (&paint->scale, from_ns);
  const double x1 = pixel_x (&paint->scale, node->end_ns);
  const double span_ns = (double)((uint64_t)node->end_ns - (uint64_t)node->start_ns);
  const double span_px = span_ns / paint->scale.ns_per_px;
  const Look look = { node->name, node->color, node->flags };

  if (x1 - x0 > 0)
    cover_span (paint, x0, x1, (double)node->busy_ns / span_ns, &look, (double)n_events / span_px);
  else if (x0 >= 0 && x0 < paint->scale.n_px)
    {
      cover (paint, (uint32_t)x0, 0, &look);
      paint->result->pixels[(uint32_t)x0].count =
          saturated_sum (paint->result->pixels[(uint32_t)x0].count, n_events);
    }
}

/* Draws the two sides of NODE's hole in place of its events, each with its share of the time. */
static void
cover_sides (Paint *paint, const LnsNode *node, uint64_t n_events)
{
  const int64_t left_ns = node->hole_at_ns;
  const int64_t right_ns = node->end_ns - node->start_ns - node->hole_at_ns - node->hole_ns;
  const double share =
      left_ns + right_ns > 0 ? (double)left_ns / ((double)left_ns + (double)right_ns) : 0.5;
  const uint64_t n_left = n_events > 2 ? (uint64_t)((double)(n_events - 2) * share + 0.5) + 1 : 1;
  LnsNode left = *node, right = *node;

  left.end_ns = node->start_ns + left_ns;
  right.start_ns = node->end_ns - right_ns;
  left.busy_ns = (int64_t)((double)node->busy_ns * share);
  right.busy_ns = node->busy_ns - left.busy_ns;
  if (is_inside (paint, left.start_ns, left.end_ns))
    cover_node (paint, &left, n_left, left.start_ns);
  if (is_inside (paint, right.start_ns, right.end_ns))
    cover_node (paint, &right, n_events - n_left, right.start_ns);
}

/* Whether NODE has a hole with less than a pixel on either side, so that opening it would not show more. */
static bool
has_narrow_sides (const Paint *paint, const LnsNode *node)
{
  const int64_t right_ns = node->end_ns - node->start_ns - node->hole_at_ns - node->hole_ns;

  return node->hole_ns > 0 && (double)node->hole_at_ns < paint->scale.ns_per_px &&
         (double)right_ns < paint->scale.ns_per_px;
}

static bool
node_cb (void *data, const LnsNode *node, uint64_t n_events)
{
  Paint *paint = data;

  if (!is_inside (paint, node->start_ns, node->end_ns))
    return false;
  const double x0 = pixel_x (&paint->scale, node->start_ns);
  const double x1 = pixel_x (&paint->scale, node->end_ns);
  if (x1 - x0 >= 1)
    {
      if (!has_narrow_sides (paint, node))
        return true;
      cover_sides (paint, node, n_events);
      return false;
    }
  /* Within one pixel the node is exact. */
  if (x0 >= 0 && (uint32_t)x0 == (uint32_t)x1 && x1 < paint->scale.n_px)
    {
      const Look look = { node->name, node->color, node->flags };
      cover (paint, (uint32_t)x0, (float)((double)node->busy_ns / paint->scale.ns_per_px), &look);
      paint->result->pixels[(uint32_t)x0].count =
          saturated_sum (paint->result->pixels[(uint32_t)x0].count, n_events);
    }
  else
    cover_node (paint, node, n_events, node->start_ns);
  return false;
}

static void
rest_cb (void *data, const LnsNode *node, uint64_t n_events, int64_t from_ns)
{
  Paint *paint = data;

  paint->result->coarse = true;
  if (node->hole_ns > 0 && from_ns == node->start_ns)
    cover_sides (paint, node, n_events);
  else if (is_inside (paint, from_ns, node->end_ns))
    cover_node (paint, node, n_events, from_ns);
}

/* Appends to the listed events. A small file may contain more events than fit into memory, so this must not end the
 * process. */
static void
list_event (Paint *paint, const LnsPixelEvent *event)
{
  LnsPixelResult *result = paint->result;

  if (result->n_events == result->n_events_allocated)
    {
      uint32_t n_allocated = result->n_events_allocated > 0 ? 2 * result->n_events_allocated : 256;
      LnsPixelEvent *events = reallocarray (result->events, n_allocated, sizeof *events);
      if (events == NULL)
        {
          paint->no_memory = true;
          return;
        }
      result->events = events;
      result->n_events_allocated = n_allocated;
    }
  result->events[result->n_events++] = *event;
}

/* Draws EVENT, of which the part before FROM_NS does not count as busy. */
static void
paint_event (Paint *paint, const LnsPixelEvent *event, int64_t from_ns)
{
  const int64_t end_ns = event->start_ns + event->duration_ns;

  if (!is_inside (paint, event->start_ns, end_ns))
    return;
  const double x0 = pixel_x (&paint->scale, event->start_ns);
  const double x1 = pixel_x (&paint->scale, end_ns);
  const double from = from_ns > event->start_ns ? pixel_x (&paint->scale, from_ns) : x0;
  const Look look = { event->name, event->color, event->flags };
  if (from <= x1)
    cover_span (paint, from, x1, 1, &look, 0);
  if (x0 >= 0 && x0 < paint->scale.n_px)
    paint->result->pixels[(uint32_t)x0].count =
        saturated_sum (paint->result->pixels[(uint32_t)x0].count, 1);
  if (x1 - x0 >= paint->min_event_px)
    list_event (paint, event);
}

static void
event_cb (void *data, const LnsChunk *chunk, uint32_t i, int64_t from_ns)
{
  Paint *paint = data;
  const uint64_t *colors = paint->color_at >= 0 ? chunk->extra[paint->color_at] : NULL;
  const LnsPixelEvent event = { chunk->first + i,
                                chunk->start_ns[i],
                                chunk->duration_ns[i],
                                chunk->name[i],
                                colors != NULL ? (uint32_t)colors[i] : 0,
                                chunk->flags[i],
                                chunk->lane };
  paint_event (paint, &event, from_ns);
}

static void
events_cb (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  Paint *paint = data;
  const uint64_t *colors = paint->color_at >= 0 ? chunk->extra[paint->color_at] : NULL;

  for (uint32_t i = first; i < end; i++)
    {
      const int64_t start_ns = chunk->start_ns[i], duration_ns = chunk->duration_ns[i];
      const uint32_t color = colors != NULL ? (uint32_t)colors[i] : 0;
      const double x0 = pixel_x (&paint->scale, start_ns);
      const double x1 = pixel_x (&paint->scale, start_ns + duration_ns);
      /* Most lie within one pixel. */
      if (x0 >= 0 && x1 < paint->scale.n_px && (uint32_t)x0 == (uint32_t)x1)
        {
          const Look look = { chunk->name[i], color, chunk->flags[i] };
          LnsPixel *pixel = &paint->result->pixels[(uint32_t)x0];
          cover (paint, (uint32_t)x0, (float)(x1 - x0), &look);
          pixel->count += pixel->count < UINT32_MAX;
        }
      else
        event_cb (paint, chunk, i, start_ns);
    }
}

/* Empties the result, gives it N_PX pixels, and allocates their weights. */
static void
prepare (Paint *paint, uint32_t n_px)
{
  LnsPixelResult *result = paint->result;

  if (n_px > result->n_px_allocated)
    {
      result->pixels = lns_realloc (result->pixels, n_px, sizeof *result->pixels);
      result->n_px_allocated = n_px;
    }
  paint->weights = lns_realloc (NULL, n_px, sizeof *paint->weights);
  memset (result->pixels, 0, n_px * sizeof *result->pixels);
  for (uint32_t p = 0; p < n_px; p++)
    paint->weights[p] = -1;
  result->n_px = n_px;
  result->n_events = 0;
  result->coarse = false;
}

bool
_lns_pixels_fill (LnsReport *report,
                  const LnsPixelQuery *query,
                  int color_at,
                  LnsPixelWalk walk,
                  void *source,
                  LnsPixelResult *result,
                  LnsError *error)
{
  Paint paint = { .result = result,
                  .min_event_px = query->min_event_px > 1 ? query->min_event_px : 1,
                  .color_at = color_at };

  if (!scale_init (&paint.scale, report, query, error))
    return false;
  prepare (&paint, query->n_px);
  const LnsDetailVisitor visitor = {
    .node = node_cb,
    .events = events_cb,
    .event = event_cb,
    .rest = rest_cb,
    .data = &paint,
    .column_mask = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
                   LNS_COLUMN_BIT (LNS_COLUMN_COLOR),
    .query = query,
  };
  bool ok = walk (source, &visitor, error);
  for (uint32_t p = 0; ok && p < result->n_px; p++)
    if (result->pixels[p].busy > 1)
      result->pixels[p].busy = 1;
  if (ok && paint.no_memory)
    ok = _lns_report_file_no_memory (&report->shared->file, error);
  free (paint.weights);
  return ok;
}

typedef struct
{
  LnsReport *report;
  uint32_t lane;
} Source;

static bool
walk_lane (void *data, const LnsDetailVisitor *visitor, LnsError *error)
{
  const Source *source = data;
  const LnsLaneState *state = source->report->lanes[source->lane];
  if (!_lns_detail_walk (source->report, source->lane, visitor, error))
    return false;
  if (!state->info.has_open)
    return true;
  const LnsChunk *open =
      _lns_report_event_chunk (source->report, source->lane, state->n_chunks, 0, true, error);
  event_cb (visitor->data, open, 0, open->start_ns[0]);
  lns_chunk_unref (open);
  return true;
}

bool
lns_report_query_pixels (LnsReport *report,
                         uint32_t lane,
                         const LnsPixelQuery *query,
                         LnsPixelResult *result,
                         LnsError *error)
{
  report = _lns_report_of (report, lane);
  Source source = { report, lane };
  if (lane >= report->n_lanes)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: there is no lane %u",
                          report->shared->file.path, lane);
  return _lns_pixels_fill (report, query,
                           lns_lane_kind_extra (report->lanes[lane]->kind, LNS_COLUMN_COLOR),
                           walk_lane, &source, result, error);
}

void
lns_pixel_result_clear (LnsPixelResult *result)
{
  free (result->pixels);
  free (result->events);
  *result = (LnsPixelResult){ 0 };
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* The plain query: for each pixel, the minimum, maximum and last of the samples in it, or the last value before it. A node
 * that lies in two pixels adds its extremes to both, so that they are at most a pixel off. */

typedef struct
{
  Scale scale;
  LnsCounterPixel *pixels;
  LnsPayloadType type;
  int value_at;
  bool has_before; /* a sample before the window */
  int64_t before_ns;
  double before;
} Curve;

static void
widen (LnsCounterPixel *pixel, double min, double max)
{
  /* NaN compares false: the first value replaces it. */
  if (!(pixel->min <= min))
    pixel->min = min;
  if (!(pixel->max >= max))
    pixel->max = max;
}

/* Adds samples between START_NS and END_NS that are in the window or before it. */
static void
add_samples (Curve *curve, int64_t start_ns, int64_t end_ns, double min, double max, double last)
{
  if (end_ns < curve->scale.from_ns)
    {
      if (!curve->has_before || end_ns >= curve->before_ns)
        {
          curve->has_before = true;
          curve->before_ns = end_ns;
          curve->before = last;
        }
      return;
    }
  const double x0 = pixel_x (&curve->scale, start_ns);
  const double x1 = pixel_x (&curve->scale, end_ns);
  if (x0 >= curve->scale.n_px)
    return;
  const uint32_t p0 = x0 > 0 ? (uint32_t)x0 : 0;
  const uint32_t p1 = x1 < curve->scale.n_px ? (uint32_t)x1 : curve->scale.n_px - 1;
  for (uint32_t p = p0; p <= p1; p++)
    widen (&curve->pixels[p], min, max);
  curve->pixels[p1].last = last;
}

static bool
sample_node_cb (void *data, const LnsNode *node, uint64_t n_events)
{
  Curve *curve = data;

  if (node->start_ns >= curve->scale.to_ns)
    return false;
  if (node->end_ns >= curve->scale.from_ns &&
      pixel_x (&curve->scale, node->end_ns) - pixel_x (&curve->scale, node->start_ns) > 1)
    return true;
  add_samples (curve, node->start_ns, node->end_ns, lns_payload_number (curve->type, node->min),
               lns_payload_number (curve->type, node->max),
               lns_payload_number (curve->type, node->last));
  return false;
}

static void
sample_rest_cb (void *data, const LnsNode *node, uint64_t n_events, int64_t from_ns)
{
  Curve *curve = data;

  add_samples (curve, from_ns, node->end_ns, lns_payload_number (curve->type, node->min),
               lns_payload_number (curve->type, node->max),
               lns_payload_number (curve->type, node->last));
}

static void
samples_cb (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  Curve *curve = data;
  const uint64_t *bits = chunk->extra[curve->value_at];

  for (uint32_t i = first; i < end; i++)
    {
      const double value = lns_payload_number (curve->type, bits != NULL ? bits[i] : 0);
      if (chunk->start_ns[i] < curve->scale.to_ns)
        add_samples (curve, chunk->start_ns[i], chunk->start_ns[i], value, value, value);
    }
}

/* Gives pixels without samples the last value before them. */
static void
carry (Curve *curve)
{
  double last = curve->has_before ? curve->before : NAN;

  for (uint32_t p = 0; p < curve->scale.n_px; p++)
    {
      LnsCounterPixel *pixel = &curve->pixels[p];
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
  Curve curve = { .pixels = ret_pixels };
  uint32_t n_tracks, n_lanes;

  if (!scale_init (&curve.scale, report, query, error))
    return false;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  if (lane >= n_lanes || lanes[lane].kind != LNS_LANE_COUNTER)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: lane %u is not a counter",
                          report->shared->file.path, lane);
  curve.type = (LnsPayloadType)lns_report_tracks (report, &n_tracks)[lanes[lane].track].value_type;
  curve.value_at = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
  for (uint32_t p = 0; p < query->n_px; p++)
    ret_pixels[p] = (LnsCounterPixel){ NAN, NAN, NAN };

  const LnsDetailVisitor visitor = {
    .node = sample_node_cb,
    .events = samples_cb,
    .rest = sample_rest_cb,
    .data = &curve,
    .column_mask = LNS_COLUMN_BIT (LNS_COLUMN_VALUE),
    .query = query,
  };
  if (!_lns_detail_walk (report, lane, &visitor, error))
    return false;
  carry (&curve);
  return true;
}
