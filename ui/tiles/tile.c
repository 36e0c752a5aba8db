/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile.h"

#include <math.h>

#include "src/base/search.h"
#include "ui/model/lane-look.h"
#include "ui/model/palette.h"

guint
lns_tile_key_hash (gconstpointer key)
{
  const LnsTileKey *k = key;
  guint64 hash = (guint64)k->index * UINT64_C (0x9e3779b97f4a7c15);
  hash ^= (guint64)k->ns_per_tile * UINT64_C (0xc2b2ae3d27d4eb4f);
  hash ^= ((guint64)k->strip.row << 32 | k->strip.lane) * UINT64_C (0x165667b19e3779f9);
  hash += (guint64)k->scale << 4 | (guint64)k->strip.quiet << 3 | (guint64)k->strip.odd << 2 |
          (guint64)k->theme;
  hash += k->coloring.only_name + (guint64)k->coloring.mode;
  return (guint)(hash ^ hash >> 32);
}

gboolean
lns_tile_key_equal (gconstpointer a, gconstpointer b)
{
  const LnsTileKey *x = a, *y = b;
  return x->index == y->index && x->ns_per_tile == y->ns_per_tile &&
         x->strip.lane == y->strip.lane && x->strip.row == y->strip.row &&
         x->strip.kind == y->strip.kind && x->strip.odd == y->strip.odd &&
         x->strip.quiet == y->strip.quiet && x->scale == y->scale &&
         x->strip.lane_px == y->strip.lane_px && x->theme == y->theme &&
         x->coloring.mode == y->coloring.mode && x->coloring.only_name == y->coloring.only_name;
}

/* --- Strips -------------------------------------------------------------------------------- */

bool
lns_row_is_odd (const LnsRowTree *tree, uint32_t row)
{
  return lns_row_tree_place_of (tree, row) & 1;
}

uint32_t
lns_strip_count (const LnsRowTree *tree, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (tree, row);
  bool is_one =
      lns_row_is_chart (it) || lns_row_is_combined (it) || lns_row_kind_is_merged (it->kind);
  return is_one || it->kind == LNS_ROW_COUNTER ? 1 : lns_row_tree_n_shown_lanes (tree, row);
}

LnsStrip
lns_strip_of (LnsReport *report, const LnsRowTree *tree, uint32_t row, uint32_t i)
{
  const LnsRow *it = lns_row_tree_row (tree, row);
  const uint32_t *lanes = lns_row_tree_lanes (tree) + it->lanes;
  LnsStrip strip = { .kind = LNS_STRIP_SUMMARY,
                     .row = row,
                     .lane = LNS_ID_NONE,
                     .odd = lns_row_is_odd (tree, row),
                     .quiet = it->kind == LNS_ROW_PROCESS && it->expanded,
                     .lane_px = lns_row_tree_row_lane_px (tree, row) };
  if (lns_row_is_chart (it))
    return strip;
  if (lns_row_is_combined (it))
    {
      strip.kind = LNS_STRIP_COMBINED;
      strip.lane = it->n_own > 0 ? lanes[0] : LNS_ID_NONE;
      return strip;
    }
  strip.kind = LNS_STRIP_RANGES;
  if (lns_row_is_waiting (it))
    return strip;
  /* One lane is drawn as it is; several have to be merged. */
  if (lns_row_kind_is_merged (it->kind))
    {
      strip.lane = it->n_lanes == 1 && it->set == NULL ? lanes[0] : LNS_ID_NONE;
      return strip;
    }
  strip.lane = lanes[i];
  uint32_t n_lanes;
  LnsLaneKind kind = lns_report_lanes (report, &n_lanes)[strip.lane].kind;
  LnsLookForm form = lns_lane_look (kind)->form;
  if (form == LNS_LOOK_MARKS || form == LNS_LOOK_TICKS)
    strip.kind = LNS_STRIP_MARKS;
  else if (form == LNS_LOOK_STATES)
    strip.kind = LNS_STRIP_STATES;
  else if (form == LNS_LOOK_CURVE)
    strip.kind = LNS_STRIP_COUNTER;
  return strip;
}

LnsActivity
lns_strip_activity (LnsReport *report, const LnsRowTree *tree, const LnsStrip *strip)
{
  const bool is_of_thread = strip->kind == LNS_STRIP_STATES || strip->kind == LNS_STRIP_COMBINED;
  return is_of_thread && strip->lane != LNS_ID_NONE ? LNS_ACTIVITY_ON_CPU
         : is_of_thread || strip->kind == LNS_STRIP_SUMMARY
             ? lns_summary_activity (report, tree, strip->row)
             : LNS_ACTIVITY_NONE;
}

int
lns_strip_height_px (const LnsStrip *strip)
{
  return strip->lane_px - LNS_LANE_PX +
         (strip->kind == LNS_STRIP_SUMMARY   ? LNS_SUMMARY_PX
          : strip->kind == LNS_STRIP_COUNTER ? LNS_COUNTER_PX
                                             : LNS_LANE_PX);
}

int
lns_strip_top_px (const LnsStrip *strip, uint32_t i)
{
  const bool is_lane = strip->kind != LNS_STRIP_SUMMARY && strip->kind != LNS_STRIP_COUNTER;
  return is_lane ? LNS_ROW_PAD_PX + (int)i * strip->lane_px : 0;
}

/* --- Tiles --------------------------------------------------------------------------------- */

uint32_t
lns_strip_row_of (const LnsRowTree *tree, const LnsStrip *strip, uint32_t lane)
{
  const uint32_t row =
      strip->kind == LNS_STRIP_COMBINED ? lns_row_tree_row_of_lane (tree, lane) : LNS_ID_NONE;
  return row != LNS_ID_NONE ? row : strip->row;
}

LnsNames
lns_row_names (const LnsRow *row)
{
  if (row->kind == LNS_ROW_CALLS)
    return LNS_NAMES_CALLS;
  bool is_kernels =
      row->kind == LNS_ROW_KERNELS ||
      (row->kind == LNS_ROW_FACET && lns_facet_set_by (row->set) == LNS_FACET_BY_KERNEL);
  return is_kernels ? LNS_NAMES_KERNELS : LNS_NAMES_OWN;
}

unsigned
lns_event_hue (LnsReport *report, const LnsRowTree *tree, const LnsRow *row, uint32_t name)
{
  uint32_t n_domains, n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  LnsLaneKind kind = row->n_lanes > 0 ? lanes[lns_row_tree_lanes (tree)[row->lanes]].kind : 0;
  const LnsDomain *domains = lns_report_domains (report, &n_domains);
  uint32_t domain_name = row->domain < n_domains ? domains[row->domain].name : 0;
  size_t name_bytes, domain_bytes;
  unsigned hue;
  const char *bytes = lns_report_string (report, name, &name_bytes);
  if (lns_lane_find_hue (kind, bytes, name_bytes, &hue))
    return hue;
  bytes = lns_event_short_name (lns_row_names (row), bytes, &name_bytes);
  const char *prefix = lns_report_string (report, domain_name, &domain_bytes);
  return lns_palette_hue (lns_hues_get (lns_row_tree_hues (tree), bytes, name_bytes), prefix,
                          domain_bytes);
}

void
lns_tile_edges_of (const LnsTile *tile, const LnsPixelEvent *event, int *ret_x0, int *ret_x1)
{
  const int64_t origin_ns = lns_tile_origin_ns (&tile->key);
  const double ns_per_px = (double)tile->key.ns_per_tile / (LNS_TILE_PX * tile->key.scale);
  const int64_t end_ns = lns_sum (event->start_ns, event->duration_ns);
  const double x0 = (double)lns_difference (event->start_ns, origin_ns) / ns_per_px;
  const double x1 = (double)lns_difference (end_ns, origin_ns) / ns_per_px;
  *ret_x0 = (int)lround (CLAMP (x0, -1e6, 1e6));
  *ret_x1 = MAX ((int)lround (CLAMP (x1, -1e6, 1e6)), *ret_x0 + 1);
}

gsize
lns_tile_bytes (const LnsTile *tile)
{
  gsize n_px = (gsize)LNS_TILE_PX * tile->key.scale;
  gsize height_px = (gsize)lns_strip_height_px (&tile->key.strip) * tile->key.scale;
  return sizeof *tile + (tile->surface != NULL ? n_px * height_px * 4 : 0) +
         tile->n_events * sizeof *tile->events +
         (tile->spans != NULL ? tile->n_events * sizeof *tile->spans : 0) +
         (tile->edges != NULL ? tile->n_events * sizeof *tile->edges : 0) +
         (tile->narrow != NULL ? n_px * sizeof *tile->narrow : 0) +
         (tile->pixels != NULL ? n_px * sizeof *tile->pixels : 0) +
         (tile->samples != NULL ? n_px * sizeof *tile->samples : 0);
}

void
lns_tile_free (LnsTile *tile)
{
  if (tile == NULL)
    return;
  g_clear_pointer (&tile->surface, cairo_surface_destroy);
  g_free (tile->events);
  g_free (tile->spans);
  g_free (tile->edges);
  g_free (tile->narrow);
  g_free (tile->pixels);
  g_free (tile->samples);
  g_free (tile);
}

/* The same where TILE says where each event shows. */
static const LnsPixelEvent *
piece_at (const LnsTile *tile, double x_px)
{
  const double x = x_px * tile->key.scale;
  const uint64_t i = LNS_LOWER_BOUND (tile->n_events, piece, tile->edges[piece].x0 <= x);
  return i > 0 && x < tile->edges[i - 1].x1 ? &tile->events[i - 1] : NULL;
}

const LnsPixelEvent *
lns_tile_event_at (const LnsTile *tile, double x_px, double slack_px)
{
  if (tile->edges != NULL)
    return piece_at (tile, x_px);
  double ns_per_px = (double)tile->key.ns_per_tile / LNS_TILE_PX;
  int64_t origin_ns = lns_tile_origin_ns (&tile->key);
  const LnsPixelEvent *best = NULL;
  double best_px = slack_px;
  bool may_overlap = tile->key.strip.lane == LNS_ID_NONE;
  /* From the last event that does not start right of X_PX + SLACK_PX. */
  for (uint64_t i = LNS_LOWER_BOUND (
           tile->n_events, event,
           (double)lns_difference (tile->events[event].start_ns, origin_ns) / ns_per_px <=
               x_px + slack_px);
       i > 0; i--)
    {
      const LnsPixelEvent *event = &tile->events[i - 1];
      double left_px = (double)lns_difference (event->start_ns, origin_ns) / ns_per_px;
      double right_px = left_px + (double)event->duration_ns / ns_per_px;
      double away_px = x_px < left_px ? left_px - x_px : x_px > right_px ? x_px - right_px : 0;
      bool is_nearer = away_px < best_px || (away_px == best_px && best == NULL);
      if (!is_nearer && !may_overlap)
        break; /* those further left are further away */
      if (!is_nearer)
        continue;
      best = event;
      best_px = away_px;
    }
  return best;
}
