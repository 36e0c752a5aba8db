/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of NVTX ranges on the GPU, which are added when their lanes have been computed. */

#include <stdlib.h>

#include "ui/model/row-tree-private.h"

/* Whether ROW is to show TRACK, of one stream or of all of a context. */
static bool
shows (const LnsRow *row, const LnsTrack *track)
{
  return track->kind == LNS_TRACK_NVTX_PROJECTED && track->stream == row->stream &&
         track->number == row->context;
}

static int
compare_domains (const void *a, const void *b, void *data)
{
  LnsReport *report = data;
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  uint32_t da = tracks[*(const uint32_t *)a].domain, db = tracks[*(const uint32_t *)b].domain, n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  uint32_t na = da < n ? domains[da].number : 0, nb = db < n ? domains[db].number : 0;
  return na != nb ? (na < nb ? -1 : 1) : da < db ? -1 : da > db;
}

/* The tracks for ROW, by the numbers of their domains. */
static GArray *
tracks_of (LnsReport *report, const LnsRow *row)
{
  uint32_t n;
  const LnsTrack *all = lns_report_tracks (report, &n);
  GArray *tracks = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (uint32_t track = 0; track < n; track++)
    if (shows (row, &all[track]))
      g_array_append_val (tracks, track);
  g_array_sort_with_data (tracks, compare_domains, report);
  return tracks;
}

/* Gives ROW the lanes of TRACK. */
static void
fill (LnsRowTree *tree, LnsReport *report, uint32_t row, uint32_t track)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  LnsRow *it = &g_array_index (tree->rows, LnsRow, row);
  it->lanes = tree->lanes->len;
  it->domain = lns_report_tracks (report, NULL)[track].domain;
  for (uint32_t lane = 0; lane < n; lane++)
    if (lanes[lane].track == track)
      {
        g_array_append_val (tree->lanes, lane);
        tree->row_of_lane[lane] = row;
        it->n_own++;
        it->n_lanes++;
        it->n_events += lns_report_lane_info (report, lane)->n_events;
      }
  g_free (it->label);
  it->label = _lns_row_label (report, it, LNS_ID_NONE);
}

/* The row at RANK gets its lanes, rows of further domains stand below it, or it goes. */
static void
place_tracks (LnsRowTree *tree, LnsReport *report, uint32_t rank)
{
  uint32_t row = g_array_index (tree->order, uint32_t, rank);
  const LnsRow waiting = *lns_row_tree_row (tree, row);
  g_autoptr (GArray) tracks = tracks_of (report, &waiting);
  if (tracks->len == 0)
    g_array_remove_index (tree->order, rank);
  for (uint32_t i = 0; i < tracks->len; i++)
    {
      if (i > 0)
        {
          LnsRow more = waiting;
          row = tree->rows->len;
          more.label = NULL;
          g_array_append_val (tree->rows, more);
          g_array_insert_val (tree->order, rank + i, row);
        }
      fill (tree, report, row, g_array_index (tracks, uint32_t, i));
    }
  for (uint32_t up = waiting.parent; up != LNS_ID_NONE; up = lns_row_tree_row (tree, up)->parent)
    g_array_index (tree->rows, LnsRow, up).n_below += tracks->len - 1;
}

LnsRowTree *
lns_row_tree_with_projections (const LnsRowTree *self, LnsReport *report)
{
  LnsRowTree *tree = _lns_row_tree_copy (self);
  lns_report_lanes (report, &tree->n_report_lanes);
  tree->row_of_lane = g_renew (uint32_t, tree->row_of_lane, tree->n_report_lanes + 1);
  for (uint32_t lane = self->n_report_lanes; lane < tree->n_report_lanes; lane++)
    tree->row_of_lane[lane] = LNS_ID_NONE;
  for (uint32_t rank = tree->order->len; rank > 0; rank--)
    if (lns_row_is_waiting (
            lns_row_tree_row (tree, g_array_index (tree->order, uint32_t, rank - 1))))
      place_tracks (tree, report, rank - 1);
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  return tree;
}
