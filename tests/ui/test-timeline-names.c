/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names that are hard to show, in the timeline: what is cut or no text is told by a tooltip. Run by
 * harness.py.
 *
 * usage: test-timeline-names NAMES.rep (known-report.c) */

#include "tests/ui/timeline-fixture.h"
#include "ui/model/text-cell.h"
#include "ui/model/tooltip.h"

#define SECOND INT64_C (1000000000)

static const char *names_path;

/* Rests the pointer on event I of the first lane of NAMES and gives what the tooltip says then. */
static const char *
tooltip_of (LnsTimeline *timeline, int i)
{
  LnsView *view = timeline->context.view;
  uint32_t lane = lns_row_tree_lanes (timeline->context.tree)[0];
  graphene_rect_t area;
  lns_timeline_pointer_point (&timeline->pointer, -1, -1);
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, lane, &area));
  double x = lns_scale_x_of (lns_view_get_scale (view), i * SECOND + SECOND / 2);
  lns_timeline_pointer_point (&timeline->pointer, area.origin.x + x, area.origin.y + 5);
  wait_for (has_tooltip, timeline);
  return gtk_label_get_text (timeline->tooltip_label);
}

static void
a_tooltip_loses_nothing_of_a_name (void)
{
  static const char *const names[] = { "\"double\" & 'single' <quotes>\n",
                                       "two\nlines\tand a tab\n",
                                       "bytes \\xFF\\xFE\\x80 that are no text\n",
                                       "Zażółć gęślą 日本語 🚀\n",
                                       "0123456789abcdef 0123456789",
                                       "(no name)\n" };
  LnsTimeline *timeline = show_timeline (names_path);
  for (int i = 0; i < (int)G_N_ELEMENTS (names); i++)
    {
      const char *text = tooltip_of (timeline, i);
      if (!g_str_has_prefix (text, names[i]))
        LNS_FAIL ("the tooltip of “%s” says “%s”", names[i], text);
    }
  LNS_CHECK (strstr (tooltip_of (timeline, 4), "… (65,536 characters)") != NULL);
  close_timeline (timeline);
}

static GtkWidget *
label_below (GtkWidget *widget)
{
  if (LNS_IS_TEXT_CELL (widget))
    return widget;
  GtkWidget *label = NULL;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && label == NULL;
       child = gtk_widget_get_next_sibling (child))
    label = label_below (child);
  return label;
}

static void
a_cut_row_label_is_told_whole (void)
{
  LnsTimeline *timeline = show_timeline (names_path);
  GtkWidget *row = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows));
  GtkWidget *label = label_below (row);
  g_autoptr (PangoLayout) layout =
      gtk_widget_create_pango_layout (label, lns_text_cell_get (LNS_TEXT_CELL (label)));
  int needed_px;
  pango_layout_get_pixel_size (layout, &needed_px, NULL);
  LNS_CHECK (needed_px > gtk_widget_get_width (label) && gtk_widget_get_width (label) > 0);
  LNS_CHECK_STR (lns_tooltip_get (label),
                 "a_program_with_a_name_that_is_much_wider_than_the_widest_header (31)");
  close_timeline (timeline);
}

int
main (int argc, char **argv)
{
  if (argc != 2)
    return 2;
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  names_path = argv[1];
  LNS_TEST (a_tooltip_loses_nothing_of_a_name);
  LNS_TEST (a_cut_row_label_is_told_whole);
  return lns_tap_done ();
}
