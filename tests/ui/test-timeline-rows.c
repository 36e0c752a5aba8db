/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What people do with the rows of a timeline, and groups that stay at the top. */

#include <string.h>

#include "src/base/format.h"

#include "ui/model/text-cell.h"

#include "tests/ui/timeline-fixture.h"

static const char *known_path, *threads_path, *hundreds_path;

/* The labels of the rows that show, in their order. Free with g_free (). */
static char *
shown (LnsTimeline *timeline)
{
  GString *text = g_string_new (NULL);
  const LnsRowTree *tree = timeline->context.tree;
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    g_string_append_printf (text, "%s\n",
                            lns_row_tree_row (tree, lns_row_tree_visible (tree, v))->label);
  return g_string_free (text, FALSE);
}

/* The first visible row of KIND. */
static uint32_t
row_of_kind (LnsTimeline *timeline, LnsRowKind kind)
{
  const LnsRowTree *tree = timeline->context.tree;
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    if (lns_row_tree_row (tree, lns_row_tree_visible (tree, v))->kind == kind)
      return lns_row_tree_visible (tree, v);
  LNS_FAIL ("no row of kind %d", (int)kind);
}

static void
act (LnsTimeline *timeline, uint32_t row, const char *action)
{
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.change-row", "(sui)",
                                         action, row, 0));
}

static void
rows_are_hidden_and_come_back (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  g_autofree char *all = shown (timeline);
  const uint32_t thread = row_of_kind (timeline, LNS_ROW_THREAD);
  LNS_CHECK (!lns_timeline_has_hidden_rows (timeline));
  act (timeline, thread, "row.hide");
  LNS_CHECK (lns_timeline_has_hidden_rows (timeline));
  LNS_CHECK_INT (lns_row_tree_place_of (timeline->context.tree, thread), LNS_ID_NONE);
  LNS_CHECK_STR (gtk_inscription_get_text (timeline->hidden), "1 row is hidden");

  /* Who goes to an event of it sees it. */
  lns_timeline_reveal_row (timeline, thread);
  LNS_CHECK (lns_row_tree_place_of (timeline->context.tree, thread) != LNS_ID_NONE);

  act (timeline, thread, "row.hide-others");
  const LnsRowTree *tree = timeline->context.tree;
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    {
      const LnsRow *it = lns_row_tree_row (tree, lns_row_tree_visible (tree, v));
      LNS_CHECK (it->kind == LNS_ROW_PROCESS || lns_row_tree_visible (tree, v) == thread ||
                 it->parent == thread);
    }
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.show-hidden", NULL);
  g_autofree char *again = shown (timeline);
  LNS_CHECK_STR (again, all);
  close_timeline (timeline);
}

static void
rows_move_among_their_siblings (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  g_autofree char *at_first = shown (timeline);
  const uint32_t first = row_of_kind (timeline, LNS_ROW_THREAD);
  act (timeline, first, "row.move-down");
  g_autofree char *moved = shown (timeline);
  LNS_CHECK (strcmp (moved, at_first) != 0);
  LNS_CHECK (strlen (moved) == strlen (at_first));
  /* What is below it came with it. */
  const LnsRowTree *tree = timeline->context.tree;
  const uint32_t place = lns_row_tree_place_of (tree, first);
  LNS_CHECK_INT (lns_row_tree_row (tree, lns_row_tree_visible (tree, place + 1))->parent, first);
  act (timeline, first, "row.move-up");
  g_autofree char *back = shown (timeline);
  LNS_CHECK_STR (back, at_first);

  /* The first one cannot move up. */
  const uint32_t process = row_of_kind (timeline, LNS_ROW_PROCESS);
  act (timeline, process, "row.move-up");
  g_autofree char *same = shown (timeline);
  LNS_CHECK_STR (same, at_first);
  close_timeline (timeline);
}

static void
rows_get_higher_and_lower (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  const uint32_t row = row_of_kind (timeline, LNS_ROW_RANGES);
  const int height_px = lns_row_tree_height_px (timeline->context.tree, row);
  for (int i = 0; i < 9; i++)
    act (timeline, row, "row.higher");
  LNS_CHECK_INT (lns_row_tree_height_px (timeline->context.tree, row),
                 (height_px - 2 * LNS_ROW_PAD_PX) * LNS_LANES_HIGH_MAX + 2 * LNS_ROW_PAD_PX);
  wait_for (is_complete, timeline);
  /* The strips lie where they are looked for. */
  const uint32_t lane = lns_row_tree_lanes (
      timeline->context.tree)[lns_row_tree_row (timeline->context.tree, row)->lanes];
  graphene_rect_t area;
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, lane, &area));
  LNS_CHECK_INT ((int)area.size.height, LNS_LANE_PX * LNS_LANES_HIGH_MAX);
  const LnsTimelineHit hit = lns_timeline_layout_hit (&timeline->layout, area.origin.x + 300,
                                                      area.origin.y + area.size.height - 2);
  LNS_CHECK (hit.has_strip && hit.strip.lane == lane);
  for (int i = 0; i < 9; i++)
    act (timeline, row, "row.lower");
  LNS_CHECK_INT (lns_row_tree_height_px (timeline->context.tree, row), height_px);
  close_timeline (timeline);
}

static void
all_rows_of_a_kind_change_together (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  const LnsRowTree *tree = timeline->context.tree;
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  guint n_threads = 0;
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    n_threads += lns_row_tree_row (tree, row)->kind == LNS_ROW_THREAD;
  LNS_CHECK (n_threads > 1);
  const uint32_t thread = row_of_kind (timeline, LNS_ROW_THREAD);
  act (timeline, thread, "row.fold-alike");
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    LNS_CHECK (lns_row_tree_row (tree, row)->kind != LNS_ROW_THREAD ||
               !lns_row_tree_row (tree, row)->expanded);
  act (timeline, thread, "row.pin-alike");
  LNS_CHECK_INT (timeline->rows_of.pinned->len, n_threads);
  act (timeline, thread, "row.hide-alike");
  LNS_CHECK_INT (lns_timeline_tree_n_hidden (&timeline->rows_of), n_threads);

  /* Reset brings everything back. */
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.reset-view", NULL);
  LNS_CHECK_INT (timeline->rows_of.pinned->len, 0);
  LNS_CHECK (!lns_timeline_has_hidden_rows (timeline));
  close_timeline (timeline);
}

static void
settle (void)
{
  for (int i = 0; i < 200 && g_main_context_iteration (NULL, FALSE); i++)
    ;
}

static gboolean
is_scrolled (gpointer timeline)
{
  LnsTimelineRow *row;
  double y;
  settle ();
  row = lns_timeline_rows_row_at (LNS_TIMELINE (timeline)->rows, 2, &y);
  return row != NULL && gtk_widget_has_css_class (GTK_WIDGET (row), "sticky");
}

static uint32_t wanted_row;
static int found_top_px;

static gboolean
is_in_view (gpointer timeline)
{
  settle ();
  return lns_timeline_rows_find (LNS_TIMELINE (timeline)->rows, 0, wanted_row, &found_top_px) !=
         NULL;
}

/* Scrolled far down, the process still stands at the top, and the thread of the first row below it. */
static void
groups_stay_at_the_top (void)
{
  LnsTimeline *timeline = show_timeline (threads_path);
  const LnsRowTree *tree = timeline->context.tree;
  double y;
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  LNS_CHECK (!is_scrolled (timeline));
  const uint32_t n = lns_row_tree_n_visible (tree), place = n / 2;
  gtk_adjustment_set_value (timeline->adjustment, lns_row_tree_top_px (tree, place));
  wait_for (is_scrolled, timeline);
  LnsTimelineRow *outer = lns_timeline_rows_row_at (timeline->rows, 2, &y);
  const LnsRow *group = lns_row_tree_row (tree, lns_timeline_row_get_row (outer));
  LNS_CHECK_INT (group->kind, LNS_ROW_PROCESS);
  LNS_CHECK_INT ((int)y, 2);
  /* A row that is gone to is not covered. */
  wanted_row = lns_row_tree_visible (tree, place - 20);
  LNS_CHECK (!is_in_view (timeline));
  lns_timeline_reveal_row (timeline, wanted_row);
  wait_for (is_in_view, timeline);
  LNS_CHECK (found_top_px >= lns_row_tree_height_px (tree, lns_row_tree_visible (tree, 0)));
  close_timeline (timeline);
}

static gboolean
has_pinned (gpointer timeline)
{
  settle ();
  return gtk_widget_get_first_child (GTK_WIDGET (LNS_TIMELINE (timeline)->pinned)) != NULL;
}

/* A pinned row says whose it is. */
static void
pinned_rows_keep_their_path (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.expand-all", NULL);
  const uint32_t row = row_of_kind (timeline, LNS_ROW_RANGES);
  const LnsRow *it = lns_row_tree_row (timeline->context.tree, row);
  act (timeline, row, "row.pin");
  wait_for (has_pinned, timeline);
  GtkWidget *widget = gtk_widget_get_first_child (GTK_WIDGET (timeline->pinned));
  GtkWidget *label = gtk_widget_get_first_child (gtk_widget_get_first_child (widget));
  while (!LNS_IS_TEXT_CELL (label))
    label = gtk_widget_get_next_sibling (label);
  const char *text = lns_text_cell_get (LNS_TEXT_CELL (label));
  LNS_CHECK (g_str_has_prefix (text, it->label));
  LNS_CHECK (strstr (text, lns_row_tree_row (timeline->context.tree, it->parent)->label) != NULL);
  close_timeline (timeline);
}

static gboolean
has_event (gpointer timeline)
{
  return lns_view_get_selected_event (((LnsTimeline *)timeline)->context.view, NULL).lane !=
         LNS_ID_NONE;
}

/* The same item, or Escape, ends it. Escape then clears the selection. */
static void
one_name_is_coloured_and_all_again (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  GtkWidget *widget = GTK_WIDGET (timeline);
  const LnsColoring *coloring = &timeline->context.coloring;
  const LnsRow *row =
      lns_row_tree_row (timeline->context.tree, row_of_kind (timeline, LNS_ROW_RANGES));
  const uint32_t lane = lns_row_tree_lanes (timeline->context.tree)[row->lanes];

  gtk_widget_activate_action (widget, "timeline.gray-others", NULL);
  LNS_CHECK_INT (coloring->only_name, 0);
  lns_view_select_event (timeline->context.view, (LnsEventId){ lane, 0 });
  wait_for (has_event, timeline);
  LNS_CHECK (gtk_widget_activate_action (widget, "timeline.gray-others", NULL));
  const uint64_t first = coloring->only_name;
  LNS_CHECK (first != 0);
  gtk_widget_activate_action (widget, "timeline.gray-others", NULL);
  LNS_CHECK_INT (coloring->only_name, 0);

  lns_timeline_set_color_mode (timeline, LNS_COLORS_BY_DURATION);
  gtk_widget_activate_action (widget, "timeline.gray-others", NULL);
  LNS_CHECK_INT (coloring->only_name, first);
  gtk_widget_activate_action (widget, "timeline.clear-selection", NULL);
  LNS_CHECK_INT (coloring->only_name, 0);
  LNS_CHECK_INT (coloring->mode, LNS_COLORS_BY_DURATION);
  LNS_CHECK (has_event (timeline));
  gtk_widget_activate_action (widget, "timeline.gray-others", NULL);
  gtk_widget_activate_action (widget, "timeline.color-all", NULL);
  LNS_CHECK_INT (coloring->only_name, 0);
  gtk_widget_activate_action (widget, "timeline.clear-selection", NULL);
  LNS_CHECK (!has_event (timeline));
  close_timeline (timeline);
}

/* The event's time is selected and shown; and what was shown before comes back. */
static void
an_event_filters_the_panes (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  GtkWidget *widget = GTK_WIDGET (timeline);
  LnsView *view = timeline->context.view;
  const LnsRow *row =
      lns_row_tree_row (timeline->context.tree, row_of_kind (timeline, LNS_ROW_RANGES));
  const uint32_t lane = lns_row_tree_lanes (timeline->context.tree)[row->lanes];
  const int64_t before_ns = lns_view_get_end_ns (view);
  int64_t start_ns, end_ns;

  lns_view_select_event (view, (LnsEventId){ lane, 3 });
  wait_for (has_event, timeline);
  gtk_widget_activate_action (widget, "timeline.filter", NULL);
  LNS_CHECK (lns_view_get_time_selection (view, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, INT64_C (3000000000));
  LNS_CHECK_INT (end_ns, INT64_C (3900000000));
  /* To a pixel of a thousand. */
  LNS_CHECK (llabs (lns_view_get_start_ns (view) - start_ns) < (end_ns - start_ns) / 500);
  LNS_CHECK (llabs (lns_view_get_end_ns (view) - end_ns) < (end_ns - start_ns) / 500);
  gtk_widget_activate_action (widget, "timeline.undo-filter", NULL);
  LNS_CHECK (!lns_view_get_time_selection (view, NULL, NULL));
  LNS_CHECK_INT (lns_view_get_end_ns (view), before_ns);

  /* The selected time comes first. Who went elsewhere stays there. */
  lns_view_set_time_selection (view, INT64_C (5000000000), INT64_C (6000000000));
  gtk_widget_activate_action (widget, "timeline.filter", NULL);
  LNS_CHECK (lns_view_get_start_ns (view) > INT64_C (4000000000));
  lns_view_show_span (view, 0, INT64_C (1000000000));
  gtk_widget_activate_action (widget, "timeline.undo-filter", NULL);
  LNS_CHECK (!lns_view_get_time_selection (view, NULL, NULL));
  LNS_CHECK (lns_view_get_end_ns (view) < INT64_C (2000000000));
  close_timeline (timeline);
}

/* Lanes, and names on bars with them, are as much higher as text is; and what stands in the corner is shown whole. */
static void
all_text_follows_its_size (void)
{
  int line_px;
  g_object_set (gtk_settings_get_default (), "gtk-font-name", "Sans 33", NULL);
  LnsTimeline *timeline = show_timeline (known_path);
  GtkWidget *corner = GTK_WIDGET (timeline->corner);
  g_autoptr (PangoLayout) layout =
      gtk_widget_create_pango_layout (corner, gtk_inscription_get_text (timeline->corner));
  pango_layout_get_pixel_size (layout, NULL, &line_px);
  LNS_CHECK (pango_layout_get_line_count (layout) > 1);
  LNS_CHECK (gtk_widget_get_height (corner) >= line_px);
  LNS_CHECK (lns_row_tree_lane_px (timeline->context.tree) >= 3 * LNS_LANE_PX);
  close_timeline (timeline);
  gtk_settings_reset_property (gtk_settings_get_default (), "gtk-font-name");
}

/* How many widgets of rows are there for assistive technology. */
static guint
n_widgets (LnsTimeline *timeline)
{
  guint n = 0;
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += gtk_widget_get_visible (child) && !gtk_widget_has_css_class (child, "sticky");
  return n;
}

/* How many of them are described as if not WORDS were in view. */
static guint
n_described_without (LnsTimeline *timeline, const char *words)
{
  guint n = 0;
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      g_autofree char *description = gtk_test_accessible_check_property (
          GTK_ACCESSIBLE (child), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "");
      n += gtk_widget_get_visible (child) && !gtk_widget_has_css_class (child, "sticky") &&
           (description == NULL || strstr (description, words) == NULL);
    }
  return n;
}

typedef struct
{
  LnsTimeline *timeline;
  guint (*count) (LnsTimeline *timeline, const char *words);
  const char *words;
  guint goal, most;
  guint before; /* the last turn of the main loop */
} Approach;

static gboolean
has_arrived (gpointer data)
{
  Approach *it = data;
  const guint n = it->count (it->timeline, it->words);
  LNS_CHECK (it->before <= n || it->before - n <= it->most);
  it->before = n;
  return n == it->goal;
}

/* Runs the main loop until COUNT is GOAL, from which no turn of it may go nearer by more than MOST. */
static void
check_approach (LnsTimeline *timeline,
                guint (*count) (LnsTimeline *timeline, const char *words),
                const char *words,
                guint goal,
                guint most)
{
  Approach approach = { timeline, count, words, goal, most, count (timeline, words) };
  wait_for (has_arrived, &approach);
}

static guint
count_widgets (LnsTimeline *timeline, const char *unused)
{
  return n_widgets (timeline);
}

/* Each one that changes costs messages to assistive technology. */
static void
many_rows_change_a_few_at_a_time (void)
{
  LnsTimeline *timeline = show_timeline (hundreds_path);
  GtkWidget *widget = GTK_WIDGET (timeline);
  const LnsRowTree *tree = timeline->context.tree;
  gtk_widget_activate_action (widget, "timeline.expand-all", NULL);
  const guint n_rows = lns_row_tree_n_visible (tree);
  LNS_CHECK (n_rows > 300);
  check_approach (timeline, count_widgets, NULL, n_rows, 0);

  lns_view_show_span (timeline->context.view, 0, INT64_C (1000000000));
  char end[LNS_FORMAT_SIZE];
  g_autofree char *words = g_strdup_printf (
      "– %s", lns_format_duration_exact (lns_view_get_end_ns (timeline->context.view), end));
  LNS_CHECK_INT (n_described_without (timeline, words), n_rows);
  check_approach (timeline, n_described_without, words, 0, 96);

  gtk_widget_activate_action (widget, "timeline.collapse-all", NULL);
  LNS_CHECK (n_widgets (timeline) >= n_rows - 64);
  check_approach (timeline, count_widgets, NULL, lns_row_tree_n_visible (timeline->context.tree),
                  64);
  close_timeline (timeline);
}

int
main (int argc, char **argv)
{
  if (argc != 4)
    return 2;
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  known_path = argv[1];
  threads_path = argv[2];
  hundreds_path = argv[3];
  LNS_TEST (rows_are_hidden_and_come_back);
  LNS_TEST (rows_move_among_their_siblings);
  LNS_TEST (rows_get_higher_and_lower);
  LNS_TEST (all_rows_of_a_kind_change_together);
  LNS_TEST (groups_stay_at_the_top);
  LNS_TEST (pinned_rows_keep_their_path);
  LNS_TEST (one_name_is_coloured_and_all_again);
  LNS_TEST (an_event_filters_the_panes);
  LNS_TEST (all_text_follows_its_size);
  LNS_TEST (many_rows_change_a_few_at_a_time);
  return lns_tap_done ();
}
