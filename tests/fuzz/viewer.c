/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/viewer.h"

#include <stdio.h>
#include <stdlib.h>

#include "src/analysis/facts/gpu-time.h"
#include "src/analysis/projection/projection-file.h"
#include "src/store/read/pixels.h"
#include "src/store/recover/recover.h"
#ifdef LNS_HAVE_UI
# include "ui/events/event-set.h"
# include "ui/model/event-text.h"
# include "ui/timeline/find-search.h"
# include "ui/model/row-tree.h"
# include "ui/model/summary.h"
#endif

#define N_PX 300

/* From everything in one window down to a nanosecond a pixel. */
#define N_ZOOMS 4

static LnsPixelQuery
zoomed (int64_t start_ns, int64_t end_ns, int zoom)
{
  const double span_ns = (double)end_ns - (double)start_ns;
  LnsPixelQuery query = { .origin_ns = zoom < 2 ? start_ns : start_ns / 2 + end_ns / 2,
                          .ns_per_px = span_ns / N_PX,
                          .n_px = N_PX };

  for (int i = 0; i < zoom; i++)
    query.ns_per_px /= 100;
  if (!(query.ns_per_px > 1e-3))
    query.ns_per_px = 1;
  return query;
}

static void
ask_lanes (LnsReport *report, const uint32_t *lanes, uint32_t n_lanes)
{
  const LnsReportInfo *info = lns_report_info (report);
  LnsPixelResult result = { 0 };
  LnsCounterPixel counter[N_PX];
  uint32_t n;
  const LnsLane *all = lns_report_lanes (report, &n);

  for (uint32_t i = 0; i < n_lanes; i++)
    for (int zoom = 0; zoom < N_ZOOMS; zoom++)
      {
        const LnsPixelQuery query = zoomed (info->start_ns, info->end_ns, zoom);
        if (all[lanes[i]].kind == LNS_LANE_COUNTER)
          lns_report_query_counter (report, lanes[i], &query, counter, NULL);
        else
          lns_report_query_pixels (report, lanes[i], &query, &result, NULL);
      }
  lns_pixel_result_clear (&result);
}

#ifdef LNS_HAVE_UI

static void
ask_facets (LnsFacetSet *set)
{
  LnsPixelResult result = { 0 };
  LnsFacetEvent events[LNS_FACET_BLOCK];
  uint32_t n;
  const LnsFacet *facets = lns_facet_set_facets (set, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      for (int zoom = 0; zoom < N_ZOOMS; zoom++)
        {
          const LnsPixelQuery query = zoomed (facets[i].start_ns, facets[i].end_ns, zoom);
          lns_facet_query_pixels (set, i, &query, &result, NULL);
        }
      lns_facet_events (set, i, lns_facet_find (set, i, facets[i].end_ns), events);
    }
  lns_pixel_result_clear (&result);
}

/* Unfolds the rows as what they wait for comes. */
static LnsRowTree *
read_rows (LnsReport *report)
{
  LnsRowTree *tree = lns_row_tree_new (report);
  LnsRowWant want;

  lns_row_tree_set_all_expanded (tree, true);
  for (int i = 0; i < 40 && lns_row_tree_wanted (tree, report, &want, 1) > 0; i++)
    {
      const LnsRow *row = lns_row_tree_row (tree, want.row);
      uint32_t *lanes = g_new (uint32_t, row->n_lanes + 1);
      const uint32_t n = lns_row_tree_wanted_lanes (tree, report, &want, lanes);
      LnsFacetSet *set = lns_facet_set_new (report, lanes, n, want.by, NULL, NULL);
      g_free (lanes);
      if (set == NULL)
        break;
      ask_facets (set);
      LnsRowTree *next = lns_row_tree_with (tree, report, &want, &set, 1);
      lns_facet_set_unref (set);
      lns_row_tree_unref (tree);
      tree = next;
      lns_row_tree_set_all_expanded (tree, true);
    }
  return tree;
}

static void
ask_row (LnsReport *report, const LnsRowTree *tree, uint32_t number)
{
  const LnsRow *row = lns_row_tree_row (tree, number);

  g_free (lns_event_text_process (report, row->process));
  g_free (lns_event_text_thread (report, row->thread));
  g_free (lns_event_text_domain (report, row->domain));
  lns_row_tree_height_px (tree, number);
  ask_lanes (report, lns_row_tree_lanes (tree) + row->lanes, row->n_own);
}

static void
ask_event (const LnsEventSet *set, uint32_t row)
{
  uint32_t lane, found;
  uint64_t ordinal;
  LnsReport *report = set->report;
  LnsEvent event;

  lns_event_set_id (set, row, &lane, &ordinal);
  lns_event_set_find (set, lane, ordinal, lns_event_set_start (set, row), &found);
  if (!lns_report_event (report, lane, ordinal, &event, NULL))
    return;
  const LnsTrack *track = lns_event_track (report, lane);
  g_free (lns_event_text_string (report, event.name, true));
  g_free (lns_event_text_time (event.start_ns));
  g_free (lns_event_text_duration (event.duration_ns, event.flags));
  if (track != NULL)
    {
      g_free (lns_event_text_stream (report, track));
      g_free (lns_event_text_category (
          report, track->domain,
          (uint32_t)lns_event_extra (report, lane, &event, LNS_COLUMN_CATEGORY)));
    }
  g_free (lns_event_text_payload (
      report, (LnsPayloadType)lns_event_extra (report, lane, &event, LNS_COLUMN_PAYLOAD_TYPE),
      lns_event_extra (report, lane, &event, LNS_COLUMN_PAYLOAD)));
}

static void
ask_table (LnsReport *report, const uint32_t *lanes, uint32_t n_lanes)
{
  const LnsReportInfo *info = lns_report_info (report);
  LnsEventSet *set =
      lns_event_set_load (report, lanes, n_lanes, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);

  for (uint32_t row = 0; set != NULL && row < set->n; row += 1 + set->n / 500)
    ask_event (set, row);
  lns_event_set_unref (set);
  lns_event_set_unref (lns_event_set_load (report, lanes, n_lanes, info->start_ns,
                                           info->start_ns / 2 + info->end_ns / 2, NULL, 0, NULL,
                                           NULL, NULL));
}

static void
search (LnsReport *report)
{
  LnsNameMatch *match = lns_name_match_new ("(a+)+[^<]", true, false, NULL);
  LnsFindSearch *found = lns_find_search_new (report, match, NULL, NULL);
  LnsFindPlace place = { INT64_MIN, 0, 0 };
  uint64_t number;

  for (int i = 0; found != NULL && i < 20; i++)
    if (!lns_find_search_step (found, &place, i % 5 != 4, &place, &number))
      break;
  lns_find_search_unref (found);
  lns_name_match_free (match);
}

static void
ask_viewer (LnsReport *report)
{
  LnsRowTree *tree = read_rows (report);
  LnsReport *derived = lns_projection_open (report, "projections", NULL, NULL, NULL);

  if (derived != NULL && lns_report_attach (report, derived, NULL))
    {
      LnsRowTree *next = lns_row_tree_with_projections (tree, report);
      lns_row_tree_unref (tree);
      tree = next;
    }
  else
    lns_report_close (derived);
  const uint32_t n_rows = lns_row_tree_n_rows (tree);
  for (uint32_t row = 0; row < n_rows; row++)
    ask_row (report, tree, row);
  if (n_rows > 0)
    ask_table (report, lns_row_tree_lanes (tree), lns_row_tree_row (tree, 0)->n_lanes);
  search (report);
  lns_row_tree_unref (tree);
}

#else

static void
ask_viewer (LnsReport *report)
{
  LnsReport *derived = lns_projection_open (report, "projections", NULL, NULL, NULL);
  uint32_t n;

  lns_report_lanes (report, &n);
  uint32_t *lanes = calloc (n + 1, sizeof *lanes);
  for (uint32_t i = 0; i < n; i++)
    lanes[i] = i;
  ask_lanes (report, lanes, n);
  free (lanes);
  lns_report_close (derived);
}

#endif

/* GPU time below ranges, told apart and not. */
static void
ask_gpu_time (LnsReport *report)
{
  const LnsCallQuery query = { .start_ns = INT64_MIN, .end_ns = INT64_MAX };

  for (int strips_numbers = 0; strips_numbers < 2; strips_numbers++)
    {
      LnsCallSums sums = { 0 };
      LnsGpuTime *time = lns_gpu_time_new (report, strips_numbers != 0, NULL, NULL);
      if (time != NULL && lns_gpu_time_sum (time, &query, NULL, &sums, NULL))
        lns_call_sums_clear (&sums);
      lns_gpu_time_free (time);
    }
}

void
viewer_read (const char *path)
{
  LnsError error = { 0 };
  bool recovered;
  LnsReport *report = lns_report_open_or_recover (path, NULL, &recovered, &error);

  if (report == NULL)
    {
      fprintf (stderr, "lanescope: error: %s\n", error.message);
      exit (125);
    }
  ask_viewer (report);
  ask_gpu_time (report);
  lns_report_close (report);
}
