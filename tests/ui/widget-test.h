/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* For tests of widgets in a window, which harness.py runs. */

#pragma once

#include <gtk/gtk.h>

#include "tests/tap.h"

/* The first widget of TYPE at or below WIDGET. */
static inline GtkWidget *
find_widget (GtkWidget *widget, GType type)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_widget (child, type);
      if (found != NULL)
        return found;
    }
  return NULL;
}

/* Runs the main loop until CONDITION is true. */
#define WAIT_FOR(condition)                                                                        \
 do                                                                                                \
  {                                                                                                \
   gint64 end_us = g_get_monotonic_time () + (gint64)(30 * lns_tap_patience () * G_USEC_PER_SEC);  \
   while (!(condition))                                                                            \
    {                                                                                              \
     LNS_CHECK (g_get_monotonic_time () < end_us);                                                 \
     g_main_context_iteration (NULL, FALSE);                                                       \
    }                                                                                              \
  }                                                                                                \
 while (0)

/* Presses KEY as a person does. */
static inline void
press (const char *key)
{
  const char *command[] = { "xdotool", "key", key, NULL };

  LNS_CHECK (g_spawn_sync (NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                           NULL, NULL, NULL));
}
