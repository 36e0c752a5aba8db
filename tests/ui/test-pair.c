/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests two reports beside each other: which rows have the same role, in which order they stand, their one axis, and where the second one
 * lies on it. */

#include <math.h>

#include "ui/model/pair.h"
#include "ui/timeline/row-plan.h"

#include "tests/ui/pair-fixture.h"

/* Two reports and their rows. */
typedef struct
{
  LnsReport *reports[2];
  LnsRowTree *trees[2];
  LnsRowPairs pairs;
} Both;

static Both
open_both (const Made *a, size_t n_a, const Made *b, size_t n_b)
{
  g_autofree char *path_a = make ("a.rep", a, n_a, 1000), *path_b = make ("b.rep", b, n_b, 5000);
  Both both = { .reports = { fixture_open (path_a, NULL), fixture_open (path_b, NULL) } };

  for (int side = 0; side < 2; side++)
    both.trees[side] = lns_row_tree_new (both.reports[side]);
  both.pairs = lns_row_pairs_find ((const LnsRowTree *const[]){ both.trees[0], both.trees[1] },
                                   both.reports);
  return both;
}

static void
close_both (Both *both)
{
  lns_row_pairs_clear (&both->pairs);
  for (int side = 0; side < 2; side++)
    {
      lns_row_tree_unref (both->trees[side]);
      lns_report_close (both->reports[side]);
    }
}

/* The row of SIDE that is called LABEL, below PARENT, or at the top for LNS_ID_NONE. */
static uint32_t
row_called (const Both *both, int side, uint32_t parent, const char *label)
{
  const LnsRowTree *tree = both->trees[side];

  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    if (lns_row_tree_row (tree, row)->parent == parent &&
        g_str_has_prefix (lns_row_tree_row (tree, row)->label, label))
      return row;
  LNS_FAIL ("no row %s", label);
}

static void
processes_are_paired_by_name_and_gpu (void)
{
  const Made a[] = { { 10, "train", 0 }, { 11, "train", 1 }, { 12, "helper", -1 } };
  const Made b[] = { { 20, "train", 1 }, { 21, "train", 0 }, { 22, "helper", -1 } };
  Both both = open_both (a, G_N_ELEMENTS (a), b, G_N_ELEMENTS (b));
  static const char *const expected[][2] = { { "train (10)", "train (21)" },
                                             { "train (11)", "train (20)" },
                                             { "helper (12)", "helper (22)" } };

  for (size_t i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      const uint32_t row = row_called (&both, 0, LNS_ID_NONE, expected[i][0]),
                     other = row_called (&both, 1, LNS_ID_NONE, expected[i][1]);
      LNS_CHECK_INT (lns_row_pairs_other (&both.pairs, 0, row), other);
      LNS_CHECK_INT (lns_row_pairs_other (&both.pairs, 1, other), row);
      LNS_CHECK_INT (lns_row_pairs_other (&both.pairs, 0, row_called (&both, 0, row, "main")),
                     row_called (&both, 1, other, "main"));
    }
  close_both (&both);
}

static void
what_numbers_alone_tell_apart_is_paired_by_order (void)
{
  const Made a[] = { { 10, "before", 0 } }, b[] = { { 20, "after", 3 } };
  Both both = open_both (a, 1, b, 1);
  const uint32_t row = row_called (&both, 0, LNS_ID_NONE, "before"),
                 other = row_called (&both, 1, LNS_ID_NONE, "after");

  LNS_CHECK_INT (lns_row_pairs_other (&both.pairs, 0, row), other);
  LNS_CHECK_INT (lns_row_pairs_other (&both.pairs, 0, row_called (&both, 0, row, "CUDA HW")),
                 row_called (&both, 1, other, "CUDA HW"));
  close_both (&both);
}

static void
rows_stand_in_pairs (void)
{
  const Made a[] = { { 10, "train", 0 }, { 12, "only", -1 } };
  const Made b[] = { { 20, "train", 0 }, { 22, "other", 1 }, { 23, "another", -1 } };
  Both both = open_both (a, G_N_ELEMENTS (a), b, G_N_ELEMENTS (b));
  const LnsRowContext context_a = { .tree = both.trees[0] },
                      context_b = { .side = 1, .tree = both.trees[1] };
  LnsRowPlan plan;

  lns_row_plan_init (&plan);
  lns_row_plan_fill (&plan, &context_a, &context_b, &both.pairs);
  LNS_CHECK_INT (lns_row_plan_n (&plan),
                 lns_row_tree_n_visible (both.trees[0]) + lns_row_tree_n_visible (both.trees[1]));
  int top_px = 0;
  for (guint i = 0; i < lns_row_plan_n (&plan); i++)
    {
      const LnsPlannedRow *it = lns_row_plan_at (&plan, i);
      const uint32_t other = lns_row_pairs_other (&both.pairs, it->side, it->row);
      LNS_CHECK_INT (it->top_px, top_px);
      LNS_CHECK_INT (lns_row_plan_place_of (&plan, it->side, it->row), i);
      LNS_CHECK_INT (lns_row_plan_at_px (&plan, top_px), i);
      LNS_CHECK (other == LNS_ID_NONE ? it->partner == LNS_ID_NONE
                                      : it->partner == (it->side == 0 ? i + 1 : i - 1) &&
                                            lns_row_plan_at (&plan, it->partner)->row == other);
      top_px += lns_row_tree_height_px (both.trees[it->side], it->row);
    }
  LNS_CHECK_INT (plan.total_px, top_px);
  /* What B alone has stands behind. */
  const uint32_t last = row_called (&both, 1, LNS_ID_NONE, "another");
  LNS_CHECK (lns_row_plan_place_of (&plan, 1, last) >
             lns_row_plan_place_of (&plan, 0, row_called (&both, 0, LNS_ID_NONE, "only")));
  /* Folded rows have no place. */
  const uint32_t process = row_called (&both, 0, LNS_ID_NONE, "train");
  const uint32_t below = row_called (&both, 0, process, "main");
  lns_row_tree_set_expanded (both.trees[0], process, false);
  lns_row_plan_fill (&plan, &context_a, NULL, NULL);
  LNS_CHECK_INT (lns_row_plan_place_of (&plan, 0, below), LNS_ID_NONE);
  LNS_CHECK_INT (lns_row_plan_n (&plan), lns_row_tree_n_visible (both.trees[0]));
  lns_row_plan_clear (&plan);
  close_both (&both);
}

/* Whether TIME_A of A and TIME_B of B are at one pixel. */
static bool
are_together (LnsView *a, LnsView *b, int64_t time_a, int64_t time_b)
{
  return fabs (lns_scale_x_of (lns_view_get_scale (a), time_a) -
               lns_scale_x_of (lns_view_get_scale (b), time_b)) <= 1;
}

static void
views_share_an_axis (void)
{
  const Made made[] = { { 10, "train", 0 } };
  g_autofree char *path_a = make ("a.rep", made, 1, 1000), *path_b = make ("b.rep", made, 1, 5000);
  g_autoptr (LnsView) a = lns_view_new (fixture_open (path_a, NULL)),
                      b = lns_view_new (fixture_open (path_b, NULL));
  const int64_t second = 1000000000;
  LnsScale alone = *lns_view_get_scale (a);

  lns_view_share_axis (b, a, second / 2);
  LNS_CHECK (lns_view_shows_all (a) && lns_view_shows_all (b));
  LNS_CHECK (are_together (a, b, second, second / 2));
  /* All of both is in view. */
  LNS_CHECK (lns_view_get_start_ns (a) <= 1000 && lns_view_get_end_ns (b) >= second + 5000);
  lns_view_zoom_at (b, 300, 4);
  LNS_CHECK (!lns_view_shows_all (a) && are_together (a, b, second, second / 2));
  LNS_CHECK_INT (lns_view_get_scale (a)->ns_per_tile, lns_view_get_scale (b)->ns_per_tile);
  LNS_CHECK (lns_view_undo_zoom (a) && lns_view_shows_all (b));
  lns_view_show_span (b, second / 2, second);
  LNS_CHECK (lns_view_get_start_ns (a) <= second && lns_view_get_start_ns (a) > second * 9 / 10);
  lns_view_fit (a);
  lns_view_leave_axis (b);
  LNS_CHECK_INT (lns_view_get_scale (a)->ns_per_tile, alone.ns_per_tile);
  LNS_CHECK_INT (lns_view_get_shift_ns (b), 0);
}

static void
the_opening_is_known_until_somebody_moves (void)
{
  const Made made[] = { { 10, "train", 0 } };
  g_autofree char *path = make ("a.rep", made, 1, 1000);
  g_autoptr (LnsView) view = lns_view_new (fixture_open (path, NULL));
  int64_t start_ns, end_ns;

  lns_view_show_span (view, 1200, 1300);
  LNS_CHECK (!lns_view_get_opening (view, &start_ns, &end_ns));
  lns_view_fit (view);
  lns_view_open_at (view, 1100, 1500);
  LNS_CHECK (lns_view_get_opening (view, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 1100);
  LNS_CHECK_INT (end_ns, 1500);
  lns_view_set_width_px (view, lns_view_get_width_px (view) + 100);
  LNS_CHECK (lns_view_get_opening (view, &start_ns, &end_ns));
  lns_view_pan (view, 3);
  LNS_CHECK (!lns_view_get_opening (view, &start_ns, &end_ns));
  lns_view_open_at (view, 1100, 1500);
  lns_view_fit (view);
  LNS_CHECK (!lns_view_get_opening (view, &start_ns, &end_ns));
}

static void
wait_for_state (LnsPair *pair, LnsPairState state)
{
  while (lns_pair_get_state (pair) != state)
    g_main_context_iteration (NULL, TRUE);
}

static void
the_other_report_is_moved (void)
{
  const Made made[] = { { 10, "train", 0 } };
  g_autofree char *path_a = make ("a.rep", made, 1, 1000), *path_b = make ("b.rep", made, 1, 5000);
  g_autoptr (GFile) file = g_file_new_for_path (path_b),
                    missing = g_file_new_for_path ("/nowhere.rep");
  g_autoptr (LnsView) a = lns_view_new (fixture_open (path_a, NULL));
  g_autoptr (LnsPair) pair = lns_pair_of (a);
  int64_t first_a, first_b, last, start_ns, end_ns;

  lns_pair_open (pair, missing, FALSE);
  wait_for_state (pair, LNS_PAIR_FAILED);
  LNS_CHECK (lns_pair_get_view (pair, 1) == NULL);
  lns_pair_open (pair, file, FALSE);
  wait_for_state (pair, LNS_PAIR_BESIDE);
  LnsView *b = lns_pair_get_view (pair, 1);
  lns_view_get_whole (a, &first_a, &last);
  lns_view_get_whole (b, &first_b, &last);
  LNS_CHECK_INT (lns_view_get_source (a), 0);
  LNS_CHECK_INT (lns_view_get_source (b), 1);
  lns_pair_align (pair, LNS_ALIGN_START);
  LNS_CHECK_INT (lns_view_get_shift_ns (b), first_a - first_b);
  LNS_CHECK_INT (lns_pair_get_offset_ns (pair), 0);
  LNS_CHECK (!lns_pair_can_align (pair, LNS_ALIGN_STEP) &&
             !lns_pair_can_align (pair, LNS_ALIGN_EVENTS) &&
             !lns_pair_can_align (pair, LNS_ALIGN_SPANS));

  /* By hand, with the selected time, which is one of the axis. */
  lns_view_set_time_selection (a, 2000, 3000);
  LNS_CHECK (lns_view_get_time_selection (b, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 2000 - (first_a - first_b));
  lns_pair_set_offset_ns (pair, 700);
  LNS_CHECK_INT (lns_pair_get_align (pair), LNS_ALIGN_HAND);
  LNS_CHECK_INT (lns_view_get_shift_ns (b), first_a - first_b + 700);
  LNS_CHECK (lns_view_get_time_selection (b, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 2000 - (first_a - first_b + 700));
  lns_view_set_time_selection (b, 0, 10);
  LNS_CHECK (lns_view_get_time_selection (a, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, first_a - first_b + 700);

  /* Two times of one report. */
  lns_view_set_time_selection (a, 1000, 2000);
  lns_view_add_time_selection (a, 500000000, 500003000);
  lns_pair_open_spans (pair);
  wait_for_state (pair, LNS_PAIR_THERE);
  LNS_CHECK_INT (lns_view_get_shift_ns (lns_pair_get_view (pair, 1)), 1000 - 500000000);
  LNS_CHECK (strstr (lns_pair_get_facts (pair)->verdict, "+200.0 %") != NULL);

  lns_pair_close (pair);
  LNS_CHECK (lns_pair_get_view (pair, 1) == NULL && lns_pair_get_facts (pair) == NULL);
}

/* Opens B of PATH beside A, to be looked at together. */
static void
open_together (LnsPair *pair, const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  lns_pair_open (pair, file, FALSE);
  wait_for_state (pair, LNS_PAIR_BESIDE);
}

static void
what_ran_at_one_time_is_aligned_by_the_clock (void)
{
  const Made made[] = { { 10, "rank", 0 } };
  const int64_t utc_ns = INT64_C (1700000000000000000), half = 500000000;
  g_autofree char *path_a = make_at ("a.rep", made, 1, 1000, utc_ns),
                  *then = make_at ("then.rep", made, 1, 1000, utc_ns + half),
                  *later = make_at ("later.rep", made, 1, 1000, utc_ns + 100 * half);
  g_autoptr (LnsView) a = lns_view_new (fixture_open (path_a, NULL));
  g_autoptr (LnsPair) pair = lns_pair_of (a);

  open_together (pair, then);
  LNS_CHECK_INT (lns_pair_get_align (pair), LNS_ALIGN_CLOCK);
  LNS_CHECK_INT (lns_view_get_shift_ns (lns_pair_get_view (pair, 1)), half);
  open_together (pair, later);
  LNS_CHECK (!lns_pair_can_align (pair, LNS_ALIGN_CLOCK));
  LNS_CHECK_INT (lns_pair_get_align (pair), LNS_ALIGN_START);
  LNS_CHECK_INT (lns_view_get_shift_ns (lns_pair_get_view (pair, 1)), 0);
}

int
main (void)
{
  LNS_TEST (processes_are_paired_by_name_and_gpu);
  LNS_TEST (what_numbers_alone_tell_apart_is_paired_by_order);
  LNS_TEST (rows_stand_in_pairs);
  LNS_TEST (views_share_an_axis);
  LNS_TEST (the_opening_is_known_until_somebody_moves);
  LNS_TEST (the_other_report_is_moved);
  LNS_TEST (what_ran_at_one_time_is_aligned_by_the_clock);
  return lns_tap_done ();
}
