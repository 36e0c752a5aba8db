/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/summary.h"
#include "ui/tiles/tile-painter-private.h"

/* Up to so many marks of a tile are drawn and found one by one. */
#define MAX_LISTED_MARKS (LNS_TILE_PX / 2)
/* Narrower events are told by coverage: their hues would blend to noise. */
#define MIN_EVENT_PX 2

typedef enum
{
  OUTCOME_DONE,
  OUTCOME_DAMAGED,
  OUTCOME_CANCELLED
} Outcome;

static Outcome
outcome_of (const LnsError *error)
{
  return error->domain == LNS_ERROR_CANCELLED ? OUTCOME_CANCELLED : OUTCOME_DAMAGED;
}

static Outcome
query_lane (LnsTilePainter *self, uint32_t lane)
{
  LnsError error = { 0 };
  if (!lns_report_query_pixels (self->report, lane, &self->query, &self->result, &error))
    return outcome_of (&error);
  if (self->result.coarse)
    self->tile->state = LNS_TILE_COARSE;
  return OUTCOME_DONE;
}

/* --- Lanes --------------------------------------------------------------------------------- */

static void
keep_result (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  tile->pixels = g_memdup2 (self->result.pixels, (gsize)self->n_px * sizeof *tile->pixels);
  tile->n_events = self->result.n_events;
  tile->events = g_memdup2 (self->result.events, tile->n_events * sizeof *tile->events);
}

/* The tile's strip of several lanes drawn as one: of the row's facet, or, until that has been read,
 * of the lanes' sum. */
static Outcome
query_merged (LnsTilePainter *self)
{
  LnsError error = { 0 };
  bool coarse = false;
  if (!lns_work_query (self->report, self->tree, self->tile->key.strip.row, &self->query,
                       &self->result, &coarse, &error))
    return outcome_of (&error);
  if (coarse)
    self->tile->state = LNS_TILE_COARSE;
  return OUTCOME_DONE;
}

static Outcome
load_ranges (LnsTilePainter *self)
{
  uint32_t lane = self->tile->key.strip.lane;
  Outcome outcome = lane == LNS_ID_NONE ? query_merged (self) : query_lane (self, lane);
  if (outcome == OUTCOME_DONE)
    keep_result (self);
  return outcome;
}

/* Marks have no width, so the query lists none: where there are few, they are read one by one. */
static Outcome
list_marks (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  uint32_t lane = tile->key.strip.lane;
  LnsError error = { 0 };
  uint64_t ordinal, n = lns_report_lane_info (self->report, lane)->n_events;
  if (!lns_report_find (self->report, lane, self->origin_ns, &ordinal, &error))
    return outcome_of (&error);
  int64_t end_ns = lns_sum (self->origin_ns, tile->key.ns_per_tile);
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (LnsPixelEvent));
  uint32_t n_lanes;
  LnsLaneKind kind = lns_report_lanes (self->report, &n_lanes)[lane].kind;
  int color = lns_lane_kind_extra (kind, LNS_COLUMN_COLOR);
  for (gboolean more = TRUE; more && ordinal < n;)
    {
      uint32_t index = lns_report_chunk_of (self->report, lane, ordinal);
      LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
                              LNS_COLUMN_BIT (LNS_COLUMN_COLOR);
      const LnsChunk *chunk = lns_report_chunk (self->report, lane, index, columns, &error);
      if (chunk == NULL)
        return outcome_of (&error);
      uint64_t before = ordinal;
      for (uint64_t i = ordinal - chunk->first; i < chunk->n && more; i++, ordinal++)
        {
          LnsPixelEvent event = { .ordinal = ordinal,
                                  .start_ns = chunk->start_ns[i],
                                  .name = chunk->name[i],
                                  .flags = chunk->flags[i],
                                  .lane = lane };
          if (color >= 0 && chunk->extra[color] != NULL)
            event.color = (uint32_t)chunk->extra[color][i];
          more = event.start_ns < end_ns;
          if (more)
            g_array_append_val (events, event);
        }
      lns_chunk_unref (chunk);
      if (ordinal == before)
        break; /* a chunk that does not hold what the directory says */
    }
  tile->n_events = events->len;
  tile->events = (LnsPixelEvent *)(void *)g_array_free (g_steal_pointer (&events), FALSE);
  return OUTCOME_DONE;
}

static Outcome
load_marks (LnsTilePainter *self)
{
  Outcome outcome = query_lane (self, self->tile->key.strip.lane);
  if (outcome != OUTCOME_DONE)
    return outcome;
  keep_result (self);
  uint64_t n_marks = 0;
  for (int p = 0; p < self->n_px; p++)
    n_marks += self->result.pixels[p].count;
  if (n_marks > MAX_LISTED_MARKS)
    return OUTCOME_DONE;
  if (self->query.cached_only)
    {
      self->tile->state = LNS_TILE_COARSE;
      return OUTCOME_DONE;
    }
  g_clear_pointer (&self->tile->events, g_free);
  return list_marks (self);
}

static Outcome
load_summary (LnsTilePainter *self, float *ret_shares)
{
  LnsError error = { 0 };
  bool coarse = false;
  if (lns_row_kind_is_merged (lns_row_tree_row (self->tree, self->tile->key.strip.row)->kind))
    {
      Outcome outcome = query_merged (self);
      for (int p = 0; outcome == OUTCOME_DONE && p < self->n_px; p++)
        ret_shares[p] = self->result.pixels[p].busy;
      if (outcome == OUTCOME_DONE)
        self->tile->pixels =
            g_memdup2 (self->result.pixels, (gsize)self->n_px * sizeof *self->tile->pixels);
      return outcome;
    }
  if (!lns_summary_query (self->report, self->tree, self->tile->key.strip.row, &self->query,
                          &self->result, ret_shares, &coarse, &error))
    return outcome_of (&error);
  if (coarse)
    self->tile->state = LNS_TILE_COARSE;
  self->tile->pixels = g_new0 (LnsPixel, self->n_px);
  for (int p = 0; p < self->n_px; p++)
    self->tile->pixels[p].busy = ret_shares[p];
  return OUTCOME_DONE;
}

/* --- Counters ------------------------------------------------------------------------------ */

static Outcome
load_counter (LnsTilePainter *self, double *ret_low, double *ret_high)
{
  LnsTile *tile = self->tile;
  uint32_t lane = tile->key.strip.lane;
  LnsError error = { 0 };
  tile->samples = g_new (LnsCounterPixel, self->n_px);
  if (!lns_report_query_counter (self->report, lane, &self->query, tile->samples, &error))
    return outcome_of (&error);

  /* The scale is the whole counter's, so that tiles meet. */
  const LnsLaneInfo *info = lns_report_lane_info (self->report, lane);
  LnsPixelQuery whole = self->query;
  LnsCounterPixel extremes;
  whole.origin_ns = info->start_ns;
  whole.ns_per_px = (double)info->end_ns - (double)info->start_ns + 1;
  whole.n_px = 1;
  if (!lns_report_query_counter (self->report, lane, &whole, &extremes, &error))
    return outcome_of (&error);
  *ret_low = extremes.min;
  *ret_high = extremes.max;
  if (self->query.cached_only)
    tile->state = LNS_TILE_COARSE; /* the query does not say whether it left something out */
  return OUTCOME_DONE;
}

/* --- Tiles --------------------------------------------------------------------------------- */

static Outcome
paint_strip (LnsTilePainter *self)
{
  Outcome outcome = OUTCOME_DONE;
  switch (self->tile->key.strip.kind)
    {
    case LNS_STRIP_RANGES:
      outcome = load_ranges (self);
      if (outcome == OUTCOME_DONE)
        _lns_tile_paint_ranges (self);
      break;
    case LNS_STRIP_MARKS:
      outcome = load_marks (self);
      if (outcome == OUTCOME_DONE)
        _lns_tile_paint_marks (self);
      break;
    case LNS_STRIP_SUMMARY:
      {
        g_autofree float *shares = g_new0 (float, self->n_px);
        outcome = load_summary (self, shares);
        if (outcome == OUTCOME_DONE)
          _lns_tile_paint_chart (self, shares);
        break;
      }
    case LNS_STRIP_COUNTER:
      {
        double low = 0, high = 0;
        outcome = load_counter (self, &low, &high);
        if (outcome == OUTCOME_DONE)
          _lns_tile_paint_counter (self, low, high);
        break;
      }
    }
  return outcome;
}

static void
begin (LnsTilePainter *self, const LnsTileKey *key)
{
  int height_px = lns_strip_height_px (key->strip.kind) * key->scale;
  self->n_px = LNS_TILE_PX * key->scale;
  self->tile = g_new0 (LnsTile, 1);
  self->tile->key = *key;
  self->tile->state = LNS_TILE_EXACT;
  self->tile->surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, self->n_px, height_px);
  cairo_surface_flush (self->tile->surface);
  self->raster = (LnsRaster){
    .pixels = (uint32_t *)(void *)cairo_image_surface_get_data (self->tile->surface),
    .stride = cairo_image_surface_get_stride (self->tile->surface) / 4,
    .width_px = self->n_px,
    .height_px = height_px,
  };
  self->palette = lns_palette_get (key->dark);
  self->background = self->palette->background[key->strip.odd];
  self->tile->background = self->background;
  self->origin_ns = lns_tile_origin_ns (key);
  self->ns_per_px = (double)key->ns_per_tile / self->n_px;
  lns_raster_fill (&self->raster, 0, self->n_px, 0, height_px, self->background);
}

/* Most tiles of sparse rows show nothing: a colour is cheaper to keep and to draw than a picture. */
static void
drop_blank_surface (LnsTilePainter *self, LnsTile *tile)
{
  for (int y = 0; y < self->raster.height_px; y++)
    for (int x = 0; x < self->raster.width_px; x++)
      if ((self->raster.pixels[y * self->raster.stride + x] & 0xffffff) != self->background)
        return;
  g_clear_pointer (&tile->surface, cairo_surface_destroy);
}

LnsTile *
lns_tile_painter_paint (LnsTilePainter *self,
                        const LnsTileKey *key,
                        gboolean exact,
                        const atomic_uint *generation,
                        unsigned expected)
{
  begin (self, key);
  self->query = (LnsPixelQuery){
    .origin_ns = self->origin_ns,
    .ns_per_px = self->ns_per_px,
    .n_px = (uint32_t)self->n_px,
    .min_event_px = MIN_EVENT_PX,
    .cached_only = !exact,
    .generation = generation,
    .expected_generation = expected,
  };
  Outcome outcome = paint_strip (self);
  LnsTile *tile = g_steal_pointer (&self->tile);
  if (outcome == OUTCOME_CANCELLED)
    {
      lns_tile_free (tile);
      return NULL;
    }
  if (outcome == OUTCOME_DAMAGED)
    {
      tile->state = LNS_TILE_DAMAGED;
      lns_raster_hatch (&self->raster, 0, self->n_px, 2 * key->scale,
                        self->raster.height_px - 2 * key->scale, self->palette->damaged, key->scale,
                        0);
    }
  cairo_surface_mark_dirty (tile->surface);
  cairo_surface_set_device_scale (tile->surface, key->scale, key->scale);
  drop_blank_surface (self, tile);
  return tile;
}

LnsTilePainter *
lns_tile_painter_new (LnsReport *report, const LnsRowTree *tree, const PangoFontDescription *font)
{
  LnsTilePainter *self = g_new0 (LnsTilePainter, 1);
  self->report = report;
  self->tree = tree;
  self->labels = lns_tile_labels_new (report, font);
  return self;
}

void
lns_tile_painter_free (LnsTilePainter *self)
{
  if (self == NULL)
    return;
  lns_tile_labels_free (self->labels);
  lns_pixel_result_clear (&self->result);
  g_free (self);
}
