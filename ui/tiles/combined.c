/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/combined.h"

#include <math.h>

#include "src/analysis/facts/call-class.h"
#include "src/base/saturate.h"
#include "ui/model/lane-look.h"

/* Of narrower events, those are shown in place of what they lie in that take at least this much of a pixel. */
#define MOST_OF_PIXEL 0.5f

#define NOTHING UINT32_MAX

typedef struct
{
  const LnsPixelQuery *query;
  GArray *events;      /* of LnsPixelEvent: those that may be seen                              */
  uint32_t *innermost; /* per pixel: which of them, or NOTHING                                  */
  bool *in_call;       /* per pixel: whether a call of CUDA, a library or MPI is there          */
  LnsCombinedPixel *narrow;
} Walk;

/* Whether lanes of KIND are of calls into the system, which others may be made of. */
static bool
is_of_system (LnsLaneKind kind)
{
  return kind == LNS_LANE_OS_CALL || kind == LNS_LANE_SYSTEM_CALL;
}

static bool
is_of_call (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_API || kind == LNS_LANE_LIBRARY_CALL || kind == LNS_LANE_MPI_CALL;
}

static int
pixel_of (const LnsPixelQuery *query, int64_t time_ns)
{
  const double x = (double)lns_difference (time_ns, query->origin_ns) / query->ns_per_px;
  return (int)lround (CLAMP (x, 0.0, (double)query->n_px));
}

/* Puts EVENT of KIND where nothing shorter is. */
static void
lay_event (Walk *walk, const LnsPixelEvent *event, LnsLaneKind kind, bool *under)
{
  const int x0 = pixel_of (walk->query, event->start_ns);
  const int x1 = pixel_of (walk->query, lns_sum (event->start_ns, event->duration_ns));
  const uint32_t own = walk->events->len;
  for (int p = x0; p < x1; p++)
    {
      under[p] = true;
      if (is_of_system (kind) && walk->in_call[p])
        continue;
      const uint32_t other = walk->innermost[p];
      if (walk->narrow[p].busy >= MOST_OF_PIXEL ||
          (other != NOTHING &&
           g_array_index (walk->events, LnsPixelEvent, other).duration_ns < event->duration_ns))
        continue;
      walk->innermost[p] = own;
    }
  for (int p = x0; p < x1; p++)
    walk->in_call[p] |= is_of_call (kind);
  g_array_append_val (walk->events, *event);
}

/* Puts what LANE of KIND has beside its listed events, which are UNDER, where it takes most of a pixel or nothing else is. */
static void
lay_narrow (Walk *walk, const LnsPixelResult *result, uint32_t lane, LnsLaneKind kind, bool *under)
{
  for (uint32_t p = 0; p < result->n_px; p++)
    {
      const LnsPixel *pixel = &result->pixels[p];
      LnsCombinedPixel *narrow = &walk->narrow[p];
      if (under[p] || (pixel->busy <= 0 && pixel->count == 0) ||
          (is_of_system (kind) && walk->in_call[p]) ||
          (pixel->busy < MOST_OF_PIXEL && pixel->busy < narrow->busy))
        continue;
      *narrow = (LnsCombinedPixel){ lane, pixel->name, pixel->color, pixel->count, pixel->busy };
      walk->in_call[p] |= is_of_call (kind) && pixel->busy >= MOST_OF_PIXEL;
    }
}

/* Joins the pixels in which an event is the innermost one. */
static void
make_bars (const Walk *walk, LnsCombined *ret_combined)
{
  g_autoptr (GArray) bars = g_array_new (FALSE, FALSE, sizeof (LnsCombinedBar));
  for (int p = 0, next; p < (int)walk->query->n_px; p = next)
    {
      const uint32_t own = walk->innermost[p];
      const bool is_bar = own != NOTHING && walk->narrow[p].busy < MOST_OF_PIXEL;
      for (next = p + 1; next < (int)walk->query->n_px && is_bar; next++)
        if (walk->innermost[next] != own || walk->narrow[next].busy >= MOST_OF_PIXEL)
          break;
      if (!is_bar)
        continue;
      for (int q = p; q < next; q++)
        walk->narrow[q].lane = LNS_ID_NONE;
      g_array_append_val (
          bars, ((LnsCombinedBar){ g_array_index (walk->events, LnsPixelEvent, own), p, next }));
    }
  ret_combined->n_bars = bars->len;
  ret_combined->bars = (LnsCombinedBar *)(void *)g_array_free (g_steal_pointer (&bars), FALSE);
}

/* Adds what LANE has in the window. */
static bool
add_lane (Walk *walk,
          LnsReport *report,
          uint32_t lane,
          LnsPixelResult *scratch,
          bool *coarse,
          LnsError *error)
{
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[lane].kind;
  if (!lns_report_query_pixels (report, lane, walk->query, scratch, error))
    return false;
  g_autofree bool *under = g_new0 (bool, walk->query->n_px + 1);
  *coarse |= scratch->coarse;
  for (uint32_t i = 0; i < scratch->n_events; i++)
    lay_event (walk, &scratch->events[i], kind, under);
  lay_narrow (walk, scratch, lane, kind, under);
  return true;
}

bool
lns_combined_query (LnsReport *report,
                    const LnsRowTree *tree,
                    uint32_t row,
                    const LnsPixelQuery *query,
                    LnsPixelResult *scratch,
                    LnsCombined *ret_combined,
                    LnsError *error)
{
  const LnsRow *it = lns_row_tree_row (tree, row);
  const LnsLane *all = lns_report_lanes (report, NULL);
  const uint32_t *lanes = lns_row_tree_lanes (tree) + it->lanes;
  const int64_t end_ns = lns_sum (query->origin_ns, (int64_t)ceil (query->n_px * query->ns_per_px));
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (LnsPixelEvent));
  g_autofree uint32_t *innermost = g_new (uint32_t, query->n_px + 1);
  g_autofree bool *in_call = g_new0 (bool, query->n_px + 1);
  lns_combined_clear (ret_combined);
  ret_combined->narrow = g_new0 (LnsCombinedPixel, query->n_px + 1);
  for (uint32_t p = 0; p < query->n_px; p++)
    {
      innermost[p] = NOTHING;
      ret_combined->narrow[p].lane = LNS_ID_NONE;
    }
  Walk walk = { query, events, innermost, in_call, ret_combined->narrow };
  for (uint32_t i = 0; i < it->n_lanes; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, lanes[i]);
      if (lns_lane_look (all[lanes[i]].kind)->form != LNS_LOOK_BARS || info == NULL ||
          info->end_ns < query->origin_ns || info->start_ns >= end_ns)
        continue;
      if (!add_lane (&walk, report, lanes[i], scratch, &ret_combined->coarse, error))
        return false;
    }
  make_bars (&walk, ret_combined);
  return true;
}

/* --- With the states ------------------------------------------------------------------------- */

/* What shows, as it comes together. */
typedef struct
{
  LnsTile *tile; /* with the states */
  int n_px;
  GArray *events, *spans, *edges; /* of LnsPixelEvent, LnsThreadSpan, LnsTileEdges */
  uint32_t next;                  /* the first state that may not have been shown to its end */
} Join;

static void
add_piece (Join *join, const LnsPixelEvent *event, const LnsThreadSpan *span, int x0, int x1)
{
  if (x1 <= x0)
    return;
  g_array_append_val (join->events, *event);
  g_array_append_val (join->spans, *span);
  g_array_append_val (join->edges, ((LnsTileEdges){ x0, x1 }));
}

/* Adds the states between FROM and TO, where no bar is. */
static void
add_states (Join *join, int from, int to)
{
  const LnsTile *tile = join->tile;
  for (uint32_t i = join->next; i < tile->n_events && tile->spans != NULL; i++)
    {
      int x0, x1;
      lns_tile_edges_of (tile, &tile->events[i], &x0, &x1);
      if (x0 >= to)
        break;
      add_piece (join, &tile->events[i], &tile->spans[i], MAX (x0, from), MIN (x1, to));
      join->next = x1 <= to ? i + 1 : i;
    }
}

/* Whether the thread was on a CPU for less than half of [X0, X1), as far as that is in the tile. */
static bool
waits_between (const Join *join, int x0, int x1)
{
  double sum = 0;
  x0 = MAX (x0, 0);
  x1 = MIN (x1, join->n_px);
  for (int p = x0; p < x1; p++)
    sum += join->tile->pixels[p].busy;
  return x1 > x0 && sum < 0.5 * (x1 - x0);
}

void
lns_combined_join (
    const LnsCombined *self, LnsReport *report, int beside, uint32_t waiting, LnsTile *tile)
{
  const LnsThreadSpan none = { .state = LNS_STATE_NONE };
  Join join = { .tile = tile,
                .n_px = LNS_TILE_PX * tile->key.scale,
                .events = g_array_new (FALSE, FALSE, sizeof (LnsPixelEvent)),
                .spans = g_array_new (FALSE, FALSE, sizeof (LnsThreadSpan)),
                .edges = g_array_new (FALSE, FALSE, sizeof (LnsTileEdges)) };
  int last = -beside;
  for (uint32_t i = 0; i < self->n_bars; i++)
    {
      LnsPixelEvent event = self->bars[i].event;
      const int x0 = self->bars[i].x0 - beside, x1 = self->bars[i].x1 - beside;
      const LnsLaneKind kind = lns_report_lanes (report, NULL)[event.lane].kind;
      if (kind == LNS_LANE_OS_CALL &&
          (tile->spans != NULL
               ? waits_between (&join, x0, x1)
               : lns_call_only_waits (kind, lns_report_string (report, event.name, NULL))))
        event.color = 0xff000000 | waiting;
      add_states (&join, last, x0);
      add_piece (&join, &event, &none, x0, x1);
      last = x1;
    }
  add_states (&join, last, join.n_px + beside);
  g_free (tile->events);
  g_free (tile->spans);
  tile->n_events = join.events->len;
  tile->events = (LnsPixelEvent *)(void *)g_array_free (join.events, FALSE);
  tile->spans = (LnsThreadSpan *)(void *)g_array_free (join.spans, FALSE);
  tile->edges = (LnsTileEdges *)(void *)g_array_free (join.edges, FALSE);
}

void
lns_combined_clear (LnsCombined *self)
{
  g_clear_pointer (&self->bars, g_free);
  g_clear_pointer (&self->narrow, g_free);
  *self = (LnsCombined){ 0 };
}
