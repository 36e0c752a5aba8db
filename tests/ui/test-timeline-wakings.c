/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A wait of a thread and what ended it, in a timeline and in the details; run by harness.py.
 *
 * usage: test-timeline-wakings REPORT (of known-report, wakings) */

#include "ui/details/details-pane.h"
#include "ui/events/event-cell.h"
#include "ui/model/linked-events.h"

#include "tests/ui/timeline-fixture.h"

#define MS     INT64_C (1000000)
#define SECOND (1000 * MS)

/* The second event of the consumer, which says that it waits, and what the others did. */
static const LnsEventId wait = { 0, 1 }, producer = { 1, 0 }, ticks = { 2, 0 };

static const char *path;

typedef struct
{
  LnsView *view;
  LnsEventId id;
} Awaited;

static gboolean
is_selected (gpointer data)
{
  const Awaited *wanted = data;
  return lns_event_id_equal (lns_view_get_selected_event (wanted->view, NULL), wanted->id);
}

static void
wait_until_selected (LnsView *view, LnsEventId id)
{
  wait_for (is_selected, &(Awaited){ view, id });
}

static void
check_times (LnsView *view, int64_t wanted_start_ns, int64_t wanted_end_ns)
{
  int64_t start_ns, end_ns;
  lns_view_get_selected_times (view, &start_ns, &end_ns);
  LNS_CHECK_INT (start_ns, wanted_start_ns);
  LNS_CHECK_INT (end_ns, wanted_end_ns);
}

/* The x of TIME_NS in TIMELINE. */
static double
x_at (LnsTimeline *timeline, int64_t time_ns)
{
  return timeline->context.header_px +
         lns_scale_x_of (lns_view_get_scale (timeline->context.view), time_ns);
}

/* Clicks at TIME_NS of the consumer's row of states. */
static void
click_at (LnsTimeline *timeline, int64_t time_ns)
{
  graphene_rect_t area;
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, wait.lane, &area));
  lns_view_select_event (timeline->context.view, LNS_EVENT_NONE);
  LnsTimelineHit hit = lns_timeline_layout_hit (&timeline->layout, x_at (timeline, time_ns),
                                                area.origin.y + area.size.height / 2);
  LNS_CHECK (hit.has_event);
  lns_view_select_event_at (timeline->context.view,
                            (LnsEventId){ hit.event.lane, hit.event.ordinal }, hit.event.start_ns);
}

static void
all_of_a_wait_is_selected (void)
{
  LnsTimeline *timeline = show_timeline (path);
  LnsView *view = timeline->context.view;
  click_at (timeline, 3 * SECOND);
  wait_until_selected (view, wait);
  check_times (view, SECOND, 5 * SECOND);
  click_at (timeline, 5500 * MS);
  wait_until_selected (view, wait);
  check_times (view, 5 * SECOND, 6 * SECOND);
  /* From elsewhere, such as the table of events. */
  lns_view_select_event (view, producer);
  wait_until_selected (view, producer);
  check_times (view, 4 * SECOND, 5500 * MS);
  lns_view_select_event (view, wait);
  wait_until_selected (view, wait);
  check_times (view, SECOND, 5 * SECOND);
  close_timeline (timeline);
}

/* It begins at the producer's row at the time of the waking, and ends at the lower edge of the wait. */
static void
the_arrow_ends_where_the_wait_ends (void)
{
  LnsTimeline *timeline = show_timeline (path);
  LnsView *view = timeline->context.view;
  graphene_rect_t from, to;
  LnsLinkLine line;
  guint n;
  lns_view_select_event (view, wait);
  wait_until_selected (view, wait);
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, producer.lane, &from));
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, wait.lane, &to));
  for (int end = 0; end < 2; end++)
    {
      /* Once from the wait, once from what woke it. */
      const LnsLinkedEvent *linked = lns_view_get_linked_events (view, &n);
      LNS_CHECK_INT (n, 1 + end);
      LNS_CHECK (lns_timeline_overlay_link_line (&timeline->layout, &linked[0], &line));
      const double x = x_at (timeline, 5 * SECOND);
      LNS_CHECK (line.x_px == line.end_px && line.end_px <= x && line.end_px >= x - 2);
      LNS_CHECK (line.from_px == from.origin.y - 1);
      LNS_CHECK (line.to_px == to.origin.y + to.size.height - 1);
      if (end == 1)
        break;
      gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.go-to-other-end", NULL);
      wait_until_selected (view, producer);
      wait_for (is_complete, timeline);
      LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, producer.lane, &from));
      LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, wait.lane, &to));
    }
  close_timeline (timeline);
}

static void
one_comes_back_from_the_waker (void)
{
  LnsTimeline *timeline = show_timeline (path);
  LnsView *view = timeline->context.view;
  GtkWidget *widget = GTK_WIDGET (timeline);
  lns_view_select_event (view, wait);
  wait_until_selected (view, wait);
  for (int round = 0; round < 2; round++)
    {
      gtk_widget_activate_action (widget, "timeline.go-to-other-end", NULL);
      wait_until_selected (view, producer);
      gtk_widget_activate_action (widget, "timeline.go-to-other-end", NULL);
      wait_until_selected (view, wait);
      check_times (view, SECOND, 5 * SECOND);
    }
  /* Who comes from nowhere goes to what woke it. */
  lns_view_select_event (view, producer);
  wait_until_selected (view, producer);
  gtk_widget_activate_action (widget, "timeline.go-to-other-end", NULL);
  wait_until_selected (view, ticks);
  close_timeline (timeline);
}

/* The label beside that of TITLE in the details, or NULL. */
static GtkWidget *
value_of (GtkWidget *widget, const char *title)
{
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      if (!gtk_widget_get_visible (
              child)) /* what is told of the report while nothing is selected */
        continue;
      if (GTK_IS_LABEL (child) && strcmp (gtk_label_get_text (GTK_LABEL (child)), title) == 0)
        return gtk_widget_get_next_sibling (child);
      GtkWidget *found = value_of (child, title);
      if (found != NULL)
        return found;
    }
  return NULL;
}

/* Follows the link of the details' line TITLE. */
static void
follow (GtkWidget *details, const char *title, const char *text)
{
  GtkWidget *label = value_of (details, title);
  gboolean is_followed = FALSE;
  LNS_CHECK (label != NULL);
  LNS_CHECK_STR (gtk_label_get_text (GTK_LABEL (label)), text);
  const char *markup = strstr (gtk_label_get_label (GTK_LABEL (label)), "<a href=\"");
  LNS_CHECK (markup != NULL);
  g_autofree char *uri = g_strndup (markup + strlen ("<a href=\""), 1);
  g_signal_emit_by_name (label, "activate-link", uri, &is_followed);
  LNS_CHECK (is_followed);
}

static void
the_details_lead_to_the_waker_and_back (void)
{
  LnsTimeline *timeline = show_timeline (path);
  LnsView *view = timeline->context.view;
  GtkWidget *details = g_object_ref_sink (lns_details_pane_new (view));
  lns_view_select_event (view, wait);
  wait_until_selected (view, wait);
  follow (details, "Woken by", "producer (11)");
  wait_until_selected (view, producer);
  follow (details, "Woke", "consumer (10)");
  wait_until_selected (view, wait);
  follow (details, "Woken by", "producer (11)");
  wait_until_selected (view, producer);
  follow (details, "Woken by", "clock (12)");
  wait_until_selected (view, ticks);
  LNS_CHECK (value_of (details, "Woken by") == NULL);
  g_object_unref (details);
  close_timeline (timeline);
}

static gboolean
tells_waker (gpointer timeline)
{
  return strstr (gtk_label_get_text (((LnsTimeline *)timeline)->tooltip_label), "Woken by") != NULL;
}

/* The tooltip, the details and the table have one name for a state, and one way to write its times. */
static void
a_state_is_told_alike (void)
{
  LnsTimeline *timeline = show_timeline (path);
  LnsView *view = timeline->context.view;
  GtkWidget *details = g_object_ref_sink (lns_details_pane_new (view));
  graphene_rect_t area;
  GError *error = NULL;
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, wait.lane, &area));
  for (int is_woken = 0; is_woken < 2; is_woken++)
    {
      const int64_t time_ns = is_woken ? 5500 * MS : 3 * SECOND;
      const char *state = is_woken ? "Runnable" : "Blocked";
      lns_timeline_pointer_point (&timeline->pointer, x_at (timeline, time_ns),
                                  area.origin.y + area.size.height / 2);
      wait_for (has_tooltip, timeline);
      wait_for (tells_waker, timeline);
      const char *text = gtk_label_get_text (timeline->tooltip_label);
      g_autofree char *wanted = g_strdup_printf ("■ %s\n", state);
      LNS_CHECK (g_str_has_prefix (text, wanted));
      click_at (timeline, time_ns);
      wait_until_selected (view, wait);
      static const char *const titles[] = { "Start", "Duration" };
      static const char *const values[][2] = { { "1.000000000 s", "4 s" },
                                               { "5.000000000 s", "1 s" } };
      for (int i = 0; i < 2; i++)
        {
          g_autofree char *line = g_strdup_printf ("\n%s  %s\n", titles[i], values[is_woken][i]);
          LNS_CHECK (strstr (text, line) != NULL);
          LNS_CHECK_STR (gtk_label_get_text (GTK_LABEL (value_of (details, titles[i]))),
                         values[is_woken][i]);
        }
      LNS_CHECK_STR (gtk_label_get_text (GTK_LABEL (value_of (details, "State"))), state);
      lns_timeline_pointer_point (&timeline->pointer, -1, -1);
    }
  LnsEventSet *set = lns_event_set_load (lns_view_get_report (view), &wait.lane, 1, INT64_MIN,
                                         INT64_MAX, NULL, 0, NULL, NULL, &error);
  g_autofree char *name = lns_event_cell_text (set, (uint32_t)wait.ordinal, LNS_EVENT_COLUMN_NAME);
  LNS_CHECK_STR (name, "Blocked");
  lns_event_set_unref (set);
  g_object_unref (details);
  close_timeline (timeline);
}

int
main (int argc, char **argv)
{
  if (argc != 2)
    return 2;
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  path = argv[1];
  LNS_TEST (all_of_a_wait_is_selected);
  LNS_TEST (the_arrow_ends_where_the_wait_ends);
  LNS_TEST (one_comes_back_from_the_waker);
  LNS_TEST (the_details_lead_to_the_waker_and_back);
  LNS_TEST (a_state_is_told_alike);
  return lns_tap_done ();
}
