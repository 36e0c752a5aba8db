/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The timeline over the report of known-cuda.c: which rows there are and what share each has, and
 * what rows show that are read first. Run by harness.py.
 *
 * usage: test-timeline-cuda CUDA.rep */

#include "tests/ui/known-cuda.h"
#include "tests/ui/lns-timeline-fixture.h"

static const char *cuda_path;

static uint32_t
row_called (const LnsRowTree *tree, const char *label, int nth)
{
  for (uint32_t rank = 0; rank < lns_row_tree_n_rows (tree); rank++)
    {
      uint32_t row = lns_row_tree_at_rank (tree, rank);
      if (strcmp (lns_row_tree_row (tree, row)->label, label) == 0 && nth-- == 0)
        return row;
    }
  LNS_FAIL ("no row %s", label);
}

/* The labels of TREE's rows in their order, indented by two spaces a depth. */
static char *
outline (const LnsRowTree *tree)
{
  GString *text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < lns_row_tree_n_rows (tree); rank++)
    {
      const LnsRow *row = lns_row_tree_row (tree, lns_row_tree_at_rank (tree, rank));
      g_string_append_printf (text, "%*s%s\n", 2 * (int)row->depth, "", row->label);
    }
  return g_string_free (text, FALSE);
}

static void
rows_stand_in_their_order (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  g_autofree char *text = outline (tree);
  LNS_CHECK_STR (text, "train (5001)\n"
                       "  train (5001)\n"
                       "    NVTX\n"
                       "    CUDA API\n"
                       "    cuBLAS\n"
                       "  CUDA HW (0000:b2:00.0 - Tesla V100-SXM2-32GB)\n"
                       "    All Streams\n"
                       "      97.6% Kernels\n"
                       "      2.4% Memory\n"
                       "    Default stream 7\n"
                       "      96.7% Kernels\n"
                       "      3.3% Memory\n"
                       "        14.3% Memset\n"
                       "      Synchronization\n"
                       "      CUDA events\n"
                       "    Stream 14\n"
                       "      100.0% Kernels\n"
                       "      CUDA graphs\n"
                       "    Device memory\n"
                       "  CUDA HW (0000:b3:00.0 - Tesla V100-SXM2-32GB)\n"
                       "    Context 2\n"
                       "      Default stream 7\n"
                       "        100.0% Kernels\n"
                       "    Context 3\n"
                       "      Stream 21\n"
                       "        100.0% Memory\n");
  /* All Streams borrow their lanes: the process still has each event once. */
  LNS_CHECK_INT (lns_row_tree_row (tree, 0)->n_events, lns_report_info (report)->n_events);
  LNS_CHECK_INT (lns_row_tree_row (tree, row_called (tree, "97.6% Kernels", 0))->n_events,
                 11 * LNS_KNOWN_STEPS);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* What ROW wants, read at once. */
static LnsRowTree *
read_row (LnsReport *report, LnsRowTree *tree, uint32_t row)
{
  lns_row_tree_unfold_to (tree, row);
  LnsRowWant want;
  uint32_t lanes[64];
  LnsError error = { 0 };
  LNS_CHECK (lns_row_tree_wanted (tree, report, &want));
  LNS_CHECK_INT (want.row, row);
  uint32_t n = lns_row_tree_wanted_lanes (tree, report, &want, lanes);
  LnsFacetSet *set = lns_facet_set_new (report, lanes, n, want.by, NULL, &error);
  LNS_CHECK (set != NULL);
  LnsRowTree *read = lns_row_tree_with (tree, report, &want, set);
  lns_facet_set_unref (set);
  lns_row_tree_unref (tree);
  return read;
}

/* Kernel k of a step lasts 512 >> k µs of 1,023. */
static void
kernels_have_their_shares (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t kernels = row_called (tree, "96.7% Kernels", 0), n_rows = lns_row_tree_n_rows (tree);
  tree = read_row (report, tree, kernels);
  LNS_CHECK_INT (lns_row_tree_n_rows (tree), n_rows + 10);
  const LnsRow *owner = lns_row_tree_row (tree, kernels);
  LNS_CHECK_INT (owner->n_below, 10);
  for (uint32_t k = 0; k < 10; k++)
    {
      const LnsRow *row = lns_row_tree_row (tree, lns_row_tree_at_rank (tree, owner->rank + 1 + k));
      g_autofree char *label =
          g_strdup_printf ("%.1f%% %s", 100.0 * (512 >> k) / 1023, lns_known_kernels[k].short_name);
      LNS_CHECK_STR (row->label, label);
      LNS_CHECK_INT (row->n_events, LNS_KNOWN_STEPS);
      LNS_CHECK_INT (row->parent, kernels);
      const LnsFacet *facet = &lns_facet_set_facets (row->set, NULL)[row->facet];
      LNS_CHECK_INT (facet->total_ns, (512 >> k) * LNS_KNOWN_US * LNS_KNOWN_STEPS);
    }
  /* Rows keep their numbers, and stand where they stood. */
  LNS_CHECK_INT (row_called (tree, "96.7% Kernels", 0), kernels);
  LNS_CHECK_INT (lns_row_tree_place_of (tree, row_called (tree, "3.3% Memory", 0)),
                 lns_row_tree_place_of (tree, kernels) + 11);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
copies_have_their_shares (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  tree = read_row (report, tree, row_called (tree, "3.3% Memory", 0));
  uint32_t first = lns_row_tree_row (tree, row_called (tree, "3.3% Memory", 0))->rank + 1;
  static const char *const labels[] = { "57.1% HtoD", "28.6% DtoH", "14.3% Memset" };
  for (uint32_t i = 0; i < 3; i++)
    LNS_CHECK_STR (lns_row_tree_row (tree, lns_row_tree_at_rank (tree, first + i))->label,
                   labels[i]);
  tree = read_row (report, tree, row_called (tree, "100.0% Memory", 0));
  row_called (tree, "100.0% PtoP", 0);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* GPU 1 has 100 names, of which name k takes 100 × (k + 1) ns: the 64 longest are rows. */
static void
the_64_busiest_and_others (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t kernels = row_called (tree, "100.0% Kernels", 1);
  tree = read_row (report, tree, kernels);
  uint32_t first = lns_row_tree_row (tree, kernels)->rank + 1;
  LNS_CHECK_INT (lns_row_tree_row (tree, kernels)->n_below, 65);
  LNS_CHECK_STR (lns_row_tree_row (tree, lns_row_tree_at_rank (tree, first))->label,
                 "2.0% small_99");
  /* 1 + 2 + … + 36 of 1 + … + 100. */
  LNS_CHECK_STR (lns_row_tree_row (tree, lns_row_tree_at_rank (tree, first + 64))->label,
                 "13.2% others (36)");
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* --- The widget ---------------------------------------------------------------------------- */

static void
expand (LnsTimeline *timeline, const char *label)
{
  uint32_t row = row_called (timeline->context.tree, label, 0);
  lns_row_tree_unfold_to (timeline->context.tree, row);
  _lns_timeline_rows_changed (timeline);
  wait_for (is_complete, timeline);
}

/* Stream 7 is busy 1,058 of 1,200 µs of a step; stream 14's 400 µs lie within them. */
static void
streams_together_count_time_once (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  gtk_window_maximize (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (timeline))));
  wait_for (is_complete, timeline);
  uint32_t device =
      row_called (timeline->context.tree, "CUDA HW (0000:b2:00.0 - Tesla V100-SXM2-32GB)", 0);
  const LnsRow *row = lns_row_tree_row (timeline->context.tree, device);
  LNS_CHECK (row->set != NULL);
  LNS_CHECK_INT (lns_facet_set_facets (row->set, NULL)->busy_ns,
                 1058 * LNS_KNOWN_US * LNS_KNOWN_STEPS);
  LnsStrip strip = { LNS_STRIP_SUMMARY, device, LNS_ID_NONE };
  double busy = 0, tile_x;
  for (int x = 200; x < 600; x++)
    {
      const LnsTile *tile = lns_tile_set_at (timeline->context.tiles, &strip, x, &tile_x);
      LNS_CHECK (tile != NULL);
      busy += tile->pixels[(int)tile_x].busy / 400;
    }
  LNS_CHECK (busy > 0.87 && busy < 0.893);
  close_timeline (timeline);
}

static void
kernels_are_rows_once_unfolded (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  uint32_t kernels = row_called (timeline->context.tree, "96.7% Kernels", 0);
  LNS_CHECK (lns_row_tree_can_fold (timeline->context.tree, kernels));
  expand (timeline, "96.7% Kernels");
  uint32_t half = row_called (timeline->context.tree, "50.0% volta_sgemm_128x64_nn", 0);
  LNS_CHECK (lns_row_tree_place_of (timeline->context.tree, half) != LNS_ID_NONE);
  LNS_CHECK (!lns_row_tree_can_fold (timeline->context.tree, half));
  lns_row_tree_set_expanded (timeline->context.tree, kernels, false);
  LNS_CHECK_INT (lns_row_tree_place_of (timeline->context.tree, half), LNS_ID_NONE);
  close_timeline (timeline);
}

int
main (int argc, char **argv)
{
  if (argc != 2)
    return 2;
  cuda_path = argv[1];
  adw_init ();
  LNS_TEST (rows_stand_in_their_order);
  LNS_TEST (kernels_have_their_shares);
  LNS_TEST (copies_have_their_shares);
  LNS_TEST (the_64_busiest_and_others);
  LNS_TEST (streams_together_count_time_once);
  LNS_TEST (kernels_are_rows_once_unfolded);
  return lns_tap_done ();
}
