/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The timeline over the report of known-cuda.c: which rows there are and what share each has, and
 * what rows show that are read first. Run by harness.py.
 *
 * usage: test-timeline-cuda CUDA.rep */

#include "ui/details/details-fields.h"
#include "ui/events/event-cell.h"
#include "ui/events/event-write.h"
#include "ui/events/event-order.h"
#include "ui/model/row-tree-private.h"

#include "tests/ui/known-cuda.h"
#include "tests/ui/timeline-fixture.h"

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
                       "  CUDA HW (0000:b2:00.0 - Tesla V100-SXM2-32GB)\n"
                       "    All Streams\n"
                       "      96.9% Kernels\n"
                       "      2.4% Memory\n"
                       "      NVTX\n"
                       "    Default stream 7\n"
                       "      96.7% Kernels\n"
                       "      3.3% Memory\n"
                       "        14.3% Memset\n"
                       "      NVTX\n"
                       "      Synchronization\n"
                       "      CUDA events\n"
                       "    Stream 14 (side)\n"
                       "      97.6% Kernels\n"
                       "      NVTX\n"
                       "      2.4% CUDA graphs\n"
                       "    Device memory\n"
                       "  CUDA HW (0000:b3:00.0 - Tesla V100-SXM2-32GB) (second)\n"
                       "    Context 2\n"
                       "      Default stream 7\n"
                       "        100.0% Kernels\n"
                       "        NVTX\n"
                       "      Whole context\n"
                       "        Synchronization\n"
                       "    Context 3\n"
                       "      Stream 21\n"
                       "        100.0% Memory\n"
                       "        NVTX\n"
                       "  main (5001)\n"
                       "    NVTX\n"
                       "    NVTX: io\n"
                       "    CUDA API\n"
                       "    cuBLAS\n"
                       "  loader (5002)\n"
                       "    NVTX\n");
  /* All Streams borrow their lanes: the process still has each event once. */
  LNS_CHECK_INT (lns_row_tree_row (tree, 0)->n_events, lns_report_info (report)->n_events);
  LNS_CHECK_INT (lns_row_tree_row (tree, row_called (tree, "96.9% Kernels", 0))->n_events,
                 11 * LNS_KNOWN_STEPS);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* What ROW wants, read at once. */
static LnsRowTree *
read_row (LnsReport *report, LnsRowTree *tree, uint32_t row)
{
  lns_row_tree_unfold_to (tree, row);
  lns_row_tree_set_expanded (tree, row, true);
  LnsRowWant want;
  uint32_t lanes[64];
  LnsError error = { 0 };
  LNS_CHECK_INT (lns_row_tree_wanted (tree, report, &want, 1), 1);
  LNS_CHECK_INT (want.row, row);
  uint32_t n = lns_row_tree_wanted_lanes (tree, report, &want, lanes);
  LnsFacetSet *set = lns_facet_set_new (report, lanes, n, want.by, NULL, &error);
  LNS_CHECK (set != NULL);
  LnsRowTree *read = lns_row_tree_with (tree, report, &want, &set, 1);
  lns_facet_set_unref (set);
  lns_row_tree_unref (tree);
  return read;
}

/* TREE with all that it wants when all rows are unfolded, of which at most MAX are read at once; takes TREE over. */
static LnsRowTree *
read_all (LnsReport *report, LnsRowTree *tree, uint32_t max)
{
  LnsRowWant wants[64];
  LnsFacetSet *sets[64];
  uint32_t lanes[64], n;

  lns_row_tree_set_all_expanded (tree, true);
  while ((n = lns_row_tree_wanted (tree, report, wants, max)) > 0)
    {
      for (uint32_t i = 0; i < n; i++)
        sets[i] = lns_facet_set_new (report, lanes,
                                     lns_row_tree_wanted_lanes (tree, report, &wants[i], lanes),
                                     wants[i].by, NULL, NULL);
      LnsRowTree *read = lns_row_tree_with (tree, report, wants, sets, n);
      for (uint32_t i = 0; i < n; i++)
        lns_facet_set_unref (sets[i]);
      lns_row_tree_unref (tree);
      tree = read;
      lns_row_tree_set_all_expanded (tree, true);
    }
  return tree;
}

/* Rows that come into the tree together stand where they stand if they come one after the other. */
static void
rows_may_be_read_together (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsRowTree *one = read_all (report, lns_row_tree_new (report), 1),
             *all = read_all (report, lns_row_tree_new (report), 64);
  LnsRowWant wants[64];
  LnsRowTree *unread = lns_row_tree_new (report);

  lns_row_tree_set_all_expanded (unread, true);
  LNS_CHECK (lns_row_tree_wanted (unread, report, wants, 64) > 2);
  LNS_CHECK_INT (lns_row_tree_n_visible (all), lns_row_tree_n_visible (one));
  LNS_CHECK (lns_row_tree_n_visible (all) > lns_row_tree_n_visible (unread) + 4);
  for (uint32_t v = 0; v < lns_row_tree_n_visible (all); v++)
    {
      const LnsRow *a = lns_row_tree_row (all, lns_row_tree_visible (all, v)),
                   *b = lns_row_tree_row (one, lns_row_tree_visible (one, v));
      LNS_CHECK_STR (a->label, b->label);
      LNS_CHECK_INT (a->depth, b->depth);
      LNS_CHECK_INT (a->n_below, b->n_below);
      LNS_CHECK_INT (a->set != NULL, b->set != NULL);
    }
  lns_row_tree_unref (one);
  lns_row_tree_unref (all);
  lns_row_tree_unref (unread);
  lns_report_close (report);
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

static void
small_shares_are_not_nothing (void)
{
  char *labels[] = { _lns_row_share_label (0, 1000, "none"),
                     _lns_row_share_label (1, 10000, "some"),
                     _lns_row_share_label (5, 10000, "a tenth"),
                     _lns_row_share_label (982, 1000, "most") };
  static const char *const wanted[] = { "0.0% none", "<0.1% some", "0.1% a tenth", "98.2% most" };
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      LNS_CHECK_STR (labels[i], wanted[i]);
      g_free (labels[i]);
    }
}

/* GPU 1 has 100 names, of which name k takes 100 × (k + 1) ns: the 64 longest are rows. */
static void
the_64_busiest_and_others (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t kernels = row_called (tree, "100.0% Kernels", 0);
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
  lns_row_tree_set_expanded (timeline->context.tree, row, true);
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
  LnsStrip strip = lns_strip_of (lns_view_get_report (timeline->context.view),
                                 timeline->context.tree, device, 0);
  LNS_CHECK_INT (lns_strip_activity (lns_view_get_report (timeline->context.view),
                                     timeline->context.tree, &strip),
                 LNS_ACTIVITY_WORK);
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

/* --- Calls and what they began ------------------------------------------------------------- */

/* The Nth lane of KIND. */
static uint32_t
lane_of (LnsReport *report, LnsLaneKind kind, int nth)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (uint32_t lane = 0; lane < n; lane++)
    if (lanes[lane].kind == kind && nth-- == 0)
      return lane;
  LNS_FAIL ("no lane of kind %d", kind);
}

typedef struct
{
  LnsView *view;
  LnsEventId id;
} Awaited;

static gboolean
is_selected (gpointer data)
{
  Awaited *awaited = data;
  return lns_event_id_equal (lns_view_get_selected_event (awaited->view, NULL), awaited->id);
}

static void
select_event (LnsView *view, LnsEventId id)
{
  lns_view_select_event (view, id);
  wait_for (is_selected, &(Awaited){ view, id });
}

/* Kernel 0 of step 3 is event 30 of its lane, launched by its step's first call. */
static void
a_kernel_and_its_call_find_each_other (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  LnsView *view = timeline->context.view;
  LnsReport *report = lns_view_get_report (view);
  LnsEventId kernel = { lane_of (report, LNS_LANE_CUDA_KERNEL, 0), 30 };
  guint n;
  select_event (view, kernel);
  const LnsLinkedEvent *linked = lns_view_get_linked_events (view, &n);
  LNS_CHECK_INT (n, 2); /* the runtime's call, and the driver's within it */
  LNS_CHECK_INT (linked[0].id.lane, lane_of (report, LNS_LANE_CUDA_API, 0));
  LNS_CHECK_INT (linked[0].event.start_ns, 3 * LNS_KNOWN_STEP_NS);
  LNS_CHECK_INT (linked[1].id.lane, lane_of (report, LNS_LANE_CUDA_API, 1));
  LnsEventId call = linked[0].id;

  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.go-to-other-end", NULL);
  wait_for (is_selected, &(Awaited){ view, call });
  linked = lns_view_get_linked_events (view, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK (lns_event_id_equal (linked[0].id, kernel));
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.go-to-other-end", NULL);
  wait_for (is_selected, &(Awaited){ view, kernel });
  close_timeline (timeline);
}

static void
many_kernels_of_one_call_are_counted (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  LnsView *view = timeline->context.view;
  LnsReport *report = lns_view_get_report (view);
  uint32_t calls = lane_of (report, LNS_LANE_CUDA_API, 0);
  uint32_t kernels = lane_of (report, LNS_LANE_CUDA_KERNEL, 2);
  LnsEventId call = { calls, lns_report_lane_info (report, calls)->n_events - 1 };
  guint n;
  select_event (view, call);
  LNS_CHECK_STR (lns_view_get_linked (view)->words, "100 × Kernel");
  LNS_CHECK (lns_view_get_linked (view)->is_call);
  LNS_CHECK_INT (lns_view_get_linked (view)->n_all, 100);
  const LnsLinkedEvent *linked = lns_view_get_linked_events (view, &n);
  LNS_CHECK_INT (n, LNS_LINKED_EVENTS_MAX);
  LNS_CHECK (lns_event_id_equal (linked[0].id, (LnsEventId){ kernels, 0 }));
  /* From the last of them it is the call again. */
  select_event (view, (LnsEventId){ kernels, 99 });
  LNS_CHECK_STR (lns_view_get_linked (view)->words, "cudaGraphLaunch_v10000, at 1.200000000 s");
  LNS_CHECK (!lns_view_get_linked (view)->is_call);
  linked = lns_view_get_linked_events (view, &n);
  LNS_CHECK (n == 1 && lns_event_id_equal (linked[0].id, call));
  close_timeline (timeline);
}

static void
going_there_unfolds_rows (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  LnsView *view = timeline->context.view;
  LnsReport *report = lns_view_get_report (view);
  LnsRowTree *tree = timeline->context.tree;
  uint32_t copies = lane_of (report, LNS_LANE_CUDA_MEMCPY, 0);
  lns_row_tree_set_expanded (
      tree, row_called (tree, "CUDA HW (0000:b2:00.0 - Tesla V100-SXM2-32GB)", 0), false);
  _lns_timeline_rows_changed (timeline);
  graphene_rect_t area;
  LNS_CHECK (!lns_timeline_layout_lane_area (&timeline->layout, copies, &area));
  /* A step has 15 calls; the copy to the device is the twelfth. */
  lns_view_reveal_other_end (view, (LnsEventId){ lane_of (report, LNS_LANE_CUDA_API, 0), 15 + 11 });
  wait_for (is_selected, &(Awaited){ view, { copies, 2 } });
  wait_for (is_complete, timeline);
  uint32_t row = lns_row_tree_row_of_lane (timeline->context.tree, copies);
  LNS_CHECK (lns_row_tree_place_of (timeline->context.tree, row) != LNS_ID_NONE);
  LNS_CHECK (lns_view_get_start_ns (view) < LNS_KNOWN_STEP_NS + 1130 * LNS_KNOWN_US);
  LNS_CHECK (lns_view_get_end_ns (view) > LNS_KNOWN_STEP_NS + 1150 * LNS_KNOWN_US);
  close_timeline (timeline);
}

/* Whether the first linked event of TIMELINE's view has a line: rows that have been unfolded are laid out. */
static gboolean
has_line (gpointer timeline)
{
  guint n;
  LnsLinkLine line;
  LnsTimeline *self = timeline;
  const LnsLinkedEvent *linked = lns_view_get_linked_events (self->context.view, &n);
  return n > 0 && lns_timeline_overlay_link_line (&self->layout, &linked[0], &line);
}

/* The line begins right below the call and ends at the top of the kernel, near where that begins. */
static void
a_line_leads_from_the_call_to_the_kernel (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  LnsView *view = timeline->context.view;
  LnsReport *report = lns_view_get_report (view);
  LnsEventId kernel = { lane_of (report, LNS_LANE_CUDA_KERNEL, 0), 31 };
  int64_t from_ns = 3 * LNS_KNOWN_STEP_NS, start_ns = from_ns + (100 + 512) * LNS_KNOWN_US;
  LnsRowTree *tree = timeline->context.tree;
  lns_row_tree_unfold_to (tree, lns_row_tree_row_of_lane (tree, kernel.lane));
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++) /* so that both are in view */
    if (lns_row_tree_row (tree, row)->kind == LNS_ROW_ALL_STREAMS ||
        lns_row_tree_row (tree, row)->device == 1)
      lns_row_tree_set_expanded (tree, row, false);
  _lns_timeline_rows_changed (timeline);
  lns_view_show_span (view, from_ns, from_ns + LNS_KNOWN_STEP_NS);
  select_event (view, kernel);
  wait_for (has_line, timeline);
  guint n;
  const LnsLinkedEvent *linked = lns_view_get_linked_events (view, &n);
  LnsLinkLine line;
  graphene_rect_t call_area, kernel_area;
  LNS_CHECK (lns_timeline_overlay_link_line (&timeline->layout, &linked[0], &line));
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, linked[0].id.lane, &call_area));
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, kernel.lane, &kernel_area));
  const LnsScale *scale = lns_view_get_scale (view);
  double call_x = timeline->context.header_px + lns_scale_x_of (scale, linked[0].event.start_ns);
  double call_end = call_x + (double)(6 * LNS_KNOWN_US) / lns_scale_ns_per_px (scale);
  double kernel_x = timeline->context.header_px + lns_scale_x_of (scale, start_ns);
  LNS_CHECK (line.x_px >= call_x - 2 && line.x_px <= call_end + 2);
  LNS_CHECK (line.from_px == call_area.origin.y - 1); /* up to the GPU */
  LNS_CHECK (line.to_px == kernel_area.origin.y + kernel_area.size.height - 1);
  LNS_CHECK (line.end_px >= kernel_x && line.end_px <= kernel_x + 8);

  /* Where the kernel is out of view there is no line. */
  lns_view_show_span (view, from_ns, from_ns + 90 * LNS_KNOWN_US);
  LNS_CHECK (!lns_timeline_overlay_link_line (&timeline->layout, &linked[0], &line));
  close_timeline (timeline);
}

/* --- Words --------------------------------------------------------------------------------- */

/* What the details say of event ORDINAL of LANE under TITLE, or NULL. */
static char *
said_of (LnsReport *report, uint32_t lane, uint64_t ordinal, const char *title)
{
  LnsEvent event;
  char *text = NULL;
  LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
  g_autoptr (GArray) fields = lns_details_fields_new (report, NULL, lane, ordinal, &event, 0);
  for (guint i = 0; i < fields->len; i++)
    if (strcmp (g_array_index (fields, LnsDetailsField, i).title, title) == 0)
      text = g_strdup (g_array_index (fields, LnsDetailsField, i).text);
  return text;
}

static void
check_said (LnsReport *report, uint32_t lane, uint64_t ordinal, const char *title, const char *text)
{
  g_autofree char *said = said_of (report, lane, ordinal, title);
  LNS_CHECK (said != NULL);
  LNS_CHECK_STR (said, text);
}

static void
details_tell_what_cuda_did (void)
{
  LnsReport *report = open_report (cuda_path);
  uint32_t kernels = lane_of (report, LNS_LANE_CUDA_KERNEL, 0);
  check_said (report, kernels, 1, "Kind", "Kernel");
  check_said (report, kernels, 1, "Short name", "vectorized_elementwise_kernel");
  check_said (report, kernels, 1, "Grid", "160 × 2 × 1 (320 blocks)");
  check_said (report, kernels, 1, "Block", "256 × 1 × 1 (256 threads)");
  check_said (report, kernels, 1, "Registers", "40 per thread");
  check_said (report, kernels, 1, "Shared memory", "4.0 KiB static and 1.0 KiB dynamic per block");
  check_said (report, kernels, 1, "Warps per block", "8 of the 64 that a multiprocessor can hold");
  check_said (report, kernels, 1, "Blocks per multiprocessor", "4.0");
  check_said (report, kernels, 1, "Stream", "7 (default)");
  check_said (report, kernels, 1, "GPU", "0: Tesla V100-SXM2-32GB (0000:b2:00.0)");
  check_said (report, kernels, 1, "Correlation", "2");
  LNS_CHECK (said_of (report, kernels, 1, "Domain") == NULL);

  uint32_t copies = lane_of (report, LNS_LANE_CUDA_MEMCPY, 0);
  check_said (report, copies, 0, "Direction", "HtoD");
  check_said (report, copies, 0, "Bytes", "240,000 B (234.4 KiB)");
  check_said (report, copies, 0, "Throughput", "12.00 GB/s");
  check_said (report, copies, 0, "Memory", "from pinned to device");
  uint32_t sets = lane_of (report, LNS_LANE_CUDA_MEMSET, 0);
  check_said (report, sets, 0, "Value", "255");
  check_said (report, lane_of (report, LNS_LANE_CUDA_SYNC, 0), 0, "Waits for", "Stream");
  LNS_CHECK (said_of (report, lane_of (report, LNS_LANE_CUDA_SYNC, 0), 0, "CUDA event") == NULL);
  check_said (report, lane_of (report, LNS_LANE_CUDA_EVENT, 0), 0, "CUDA event", "5");
  check_said (report, lane_of (report, LNS_LANE_CUDA_EVENT, 0), 1, "CUDA event", "4,294,967,295");
  check_said (report, lane_of (report, LNS_LANE_CUDA_GRAPH, 0), 0, "Executable graph", "4");
  /* nsys gives its graphs no name: what they are is known. */
  LNS_CHECK_STR (lns_event_text_nameless (report, lane_of (report, LNS_LANE_CUDA_GRAPH, 0)),
                 "CUDA graph");
  LNS_CHECK_STR (lns_event_text_nameless (report, lane_of (report, LNS_LANE_CUDA_KERNEL, 0)),
                 "(no name)");

  uint32_t calls = lane_of (report, LNS_LANE_CUDA_API, 0);
  check_said (report, calls, 0, "Result", "cudaErrorMemoryAllocation (2)");
  check_said (report, calls, 1, "Result", "success");
  check_said (report, calls, 1, "Purpose", "launch");
  check_said (report, calls, 1, "Interface", "runtime");
  check_said (report, calls, 14, "Purpose", "synchronization");
  lns_report_close (report);
}

/* --- The events table ---------------------------------------------------------------------- */

static void
check_cell (const LnsEventSet *set, uint32_t row, LnsEventColumn column, const char *text)
{
  g_autofree char *cell = lns_event_cell_text (set, row, column);
  LNS_CHECK_STR (cell, text);
}

static void
the_table_has_columns_of_its_rows (void)
{
  LnsReport *report = open_report (cuda_path);
  const uint32_t lanes[] = { lane_of (report, LNS_LANE_CUDA_KERNEL, 0),
                             lane_of (report, LNS_LANE_CUDA_MEMCPY, 0) };
  const uint32_t calls = lane_of (report, LNS_LANE_CUDA_API, 0);
  LnsEventSet *set =
      lns_event_set_load (report, lanes, 2, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_CHECK_INT (set->n, 12 * LNS_KNOWN_STEPS);
  LNS_CHECK (lns_event_column_is_used (set, LNS_EVENT_COLUMN_STREAM));
  LNS_CHECK (!lns_event_column_is_used (set, LNS_EVENT_COLUMN_THREAD));
  LNS_CHECK (!lns_event_column_is_used (set, LNS_EVENT_COLUMN_DOMAIN));
  LNS_CHECK (!lns_event_column_is_used (set, LNS_EVENT_COLUMN_PAYLOAD));
  LNS_CHECK (!lns_event_column_is_used (set, LNS_EVENT_COLUMN_RESULT));
  check_cell (set, 0, LNS_EVENT_COLUMN_STREAM, "7 (default)");
  check_cell (set, 1, LNS_EVENT_COLUMN_SHAPE, "160 × 2 × 1, 256 × 1 × 1");
  check_cell (set, 1, LNS_EVENT_COLUMN_BYTES, "");
  check_cell (set, 10, LNS_EVENT_COLUMN_BYTES, "240,000");
  check_cell (set, 10, LNS_EVENT_COLUMN_SHAPE, "");
  g_autoptr (LnsEventKeys) keys = lns_event_keys_new (set, LNS_EVENT_COLUMN_BYTES, false);
  LNS_CHECK (lns_event_keys_get (keys, 9) == 0 &&
             lns_event_keys_get (keys, 11) > lns_event_keys_get (keys, 9) &&
             lns_event_keys_get (keys, 10) > lns_event_keys_get (keys, 11));
  lns_event_set_unref (set);

  set = lns_event_set_load (report, &calls, 1, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_CHECK (!lns_event_column_is_used (set, LNS_EVENT_COLUMN_STREAM));
  check_cell (set, 0, LNS_EVENT_COLUMN_RESULT, "cudaErrorMemoryAllocation (2)");
  check_cell (set, 1, LNS_EVENT_COLUMN_RESULT, "");
  lns_event_set_unref (set);
  lns_report_close (report);
}

/* Versions are for who asks: the details and copies have them. */
static void
calls_go_without_their_versions (void)
{
  LnsReport *report = open_report (cuda_path);
  const uint32_t calls = lane_of (report, LNS_LANE_CUDA_API, 0);
  LnsEventSet *set =
      lns_event_set_load (report, &calls, 1, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  check_cell (set, 0, LNS_EVENT_COLUMN_NAME, "cudaLaunchKernel");
  g_autoptr (GOutputStream) copy = g_memory_output_stream_new_resizable ();
  g_autoptr (LnsEventOrder) order = lns_event_order_new_identity (set->n);
  g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, order, 0, NULL);
  const LnsEventColumnList columns = { .of = { LNS_EVENT_COLUMN_NUMBER, LNS_EVENT_COLUMN_NAME },
                                       .n = 2 };
  LNS_CHECK (lns_event_rows_write (rows, &columns, '\t', copy, NULL, NULL, NULL));
  LNS_CHECK (g_str_has_prefix (g_memory_output_stream_get_data (G_MEMORY_OUTPUT_STREAM (copy)),
                               "#\tName\n1\tcudaLaunchKernel_v7000\n"));
  lns_event_set_unref (set);

  PangoFontDescription *font = pango_font_description_from_string ("Sans");
  LnsTileLabels *labels = lns_tile_labels_new (report, font);
  LnsEvent event;
  int unused;
  LNS_CHECK (lns_report_event (report, calls, 0, &event, NULL));
  PangoLayout *layout =
      lns_tile_labels_layout (labels, event.name, LNS_NAMES_CALLS, 500, &unused, &unused);
  LNS_CHECK_STR (pango_layout_get_text (layout), "LaunchKernel");
  layout = lns_tile_labels_layout (labels, event.name, LNS_NAMES_OWN, 500, &unused, &unused);
  LNS_CHECK_STR (pango_layout_get_text (layout), "cudaLaunchKernel_v7000");
  lns_tile_labels_free (labels);
  pango_font_description_free (font);
  lns_report_close (report);
}

static void
the_table_shows_one_kernel_alone (void)
{
  LnsReport *report = open_report (cuda_path);
  LnsError error = { 0 };
  const uint32_t lanes[] = { lane_of (report, LNS_LANE_CUDA_KERNEL, 0),
                             lane_of (report, LNS_LANE_CUDA_KERNEL, 1) };
  LnsFacetSet *facets = lns_facet_set_new (report, lanes, 2, LNS_FACET_BY_KERNEL, NULL, &error);
  /* Kernel 10 takes 400 µs a step: less than kernel 0, more than kernel 1. */
  LnsEventSet *set =
      lns_event_set_load (report, lanes, 2, INT64_MIN, INT64_MAX, facets, 1, NULL, NULL, NULL);
  LNS_CHECK_INT (set->n, LNS_KNOWN_STEPS);
  LNS_CHECK_INT (set->n_damaged, 0);
  for (uint32_t row = 0; row < set->n; row++)
    {
      uint32_t lane;
      uint64_t ordinal;
      lns_event_set_id (set, row, &lane, &ordinal);
      LNS_CHECK_INT (lane, lanes[1]);
      LNS_CHECK_INT (ordinal, row);
    }
  check_cell (set, 7, LNS_EVENT_COLUMN_NAME, lns_known_kernels[10].name);
  lns_event_set_unref (set);
  lns_facet_set_unref (facets);
  lns_report_close (report);
}

/* Whether the hint is X pixels from the left edge of the area that shows time. */
static bool
is_hint_at (LnsTimeline *timeline, int x)
{
  const graphene_rect_t body = lns_timeline_layout_body (&timeline->layout);
  for (int y = 0; y < (int)body.size.height; y += 4)
    if (lns_timeline_overlay_is_hint (&timeline->layout, body.origin.x + (float)x,
                                      body.origin.y + (float)y))
      return true;
  return false;
}

/* The left edge of the hint, in such pixels; or -1 if there is none. */
static int
hint_px (LnsTimeline *timeline)
{
  for (int x = 0; x < (int)lns_timeline_layout_body (&timeline->layout).size.width; x++)
    if (is_hint_at (timeline, x))
      return x;
  return -1;
}

/* Where the other end of the selected event is out of view, the edge of the picture says so. */
static void
what_is_out_of_view_is_hinted_at (void)
{
  LnsTimeline *timeline = show_timeline (cuda_path);
  LnsView *view = timeline->context.view;
  LnsReport *report = lns_view_get_report (view);
  LNS_CHECK_INT (hint_px (timeline), -1);
  select_event (view, (LnsEventId){ lane_of (report, LNS_LANE_CUDA_KERNEL, 0), 30 });
  guint n;
  const LnsLinkedEvent to = lns_view_get_linked_events (view, &n)[0];
  LNS_CHECK (n > 0);
  lns_view_show_span (view, lns_sum (to.end_ns, LNS_KNOWN_STEP_NS),
                      lns_sum (to.end_ns, 2 * LNS_KNOWN_STEP_NS));
  const int earlier_px = hint_px (timeline);
  LNS_CHECK (earlier_px >= 0 && earlier_px < 10);
  LNS_CHECK (!is_hint_at (timeline, lns_view_get_width_px (view) - 10));
  lns_view_show_span (view, lns_difference (to.start_ns, 2 * LNS_KNOWN_STEP_NS),
                      lns_difference (to.start_ns, LNS_KNOWN_STEP_NS));
  LNS_CHECK (hint_px (timeline) > 10);
  LNS_CHECK (is_hint_at (timeline, lns_view_get_width_px (view) - 10));
  /* What is in another row is above or below the event, unless the event's own row is not to be seen. */
  lns_view_show_span (view, lns_difference (to.start_ns, LNS_KNOWN_STEP_NS),
                      lns_sum (to.end_ns, LNS_KNOWN_STEP_NS));
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.collapse-all", NULL);
  wait_for (is_complete, timeline);
  LNS_CHECK_INT (hint_px (timeline), -1);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  lns_view_select_event (view, LNS_EVENT_NONE);
  LNS_CHECK_INT (hint_px (timeline), -1);
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
  LNS_TEST (rows_may_be_read_together);
  LNS_TEST (copies_have_their_shares);
  LNS_TEST (small_shares_are_not_nothing);
  LNS_TEST (the_64_busiest_and_others);
  LNS_TEST (streams_together_count_time_once);
  LNS_TEST (kernels_are_rows_once_unfolded);
  LNS_TEST (what_is_out_of_view_is_hinted_at);
  LNS_TEST (a_kernel_and_its_call_find_each_other);
  LNS_TEST (many_kernels_of_one_call_are_counted);
  LNS_TEST (going_there_unfolds_rows);
  LNS_TEST (a_line_leads_from_the_call_to_the_kernel);
  LNS_TEST (details_tell_what_cuda_did);
  LNS_TEST (the_table_has_columns_of_its_rows);
  LNS_TEST (calls_go_without_their_versions);
  LNS_TEST (the_table_shows_one_kernel_alone);
  return lns_tap_done ();
}
