/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows a timeline in its own window, for the tests of its parts. */

#pragma once

#include <adwaita.h>

#include "ui/timeline/timeline-private.h"
#include "ui/timeline/timeline.h"
#include "ui/model/view.h"

#include "tests/tap.h"

static inline LnsReport *
open_report (const char *path)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  return report;
}

static inline LnsView *
new_view (const char *path)
{
  return lns_view_new (open_report (path));
}

/* Runs the main loop until CONDITION is true. */
static inline void
wait_for (gboolean (*condition) (gpointer data), gpointer data)
{
  gint64 end_usec = g_get_monotonic_time () + (gint64)(15 * lns_tap_patience () * G_USEC_PER_SEC);
  while (!condition (data))
    {
      LNS_CHECK (g_get_monotonic_time () < end_usec);
      g_main_context_iteration (NULL, FALSE);
    }
}

static inline gboolean
is_complete (gpointer timeline)
{
  return lns_timeline_is_complete (timeline);
}

static inline LnsTimeline *
show_timeline (const char *path)
{
  g_autoptr (LnsView) view = new_view (path);
  GtkWidget *window = gtk_window_new (), *timeline = lns_timeline_new (view);
  gtk_window_set_default_size (GTK_WINDOW (window), 1200, 700);
  gtk_window_set_child (GTK_WINDOW (window), timeline);
  gtk_window_present (GTK_WINDOW (window));
  wait_for (is_complete, timeline);
  return LNS_TIMELINE (timeline);
}

static inline void
close_timeline (LnsTimeline *timeline)
{
  gtk_window_destroy (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (timeline))));
}

static inline gboolean
has_tooltip (gpointer data)
{
  LnsTimeline *timeline = data;
  return gtk_widget_get_child_visible (timeline->tooltip);
}
