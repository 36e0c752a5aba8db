/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-shortcuts.h"
#include "ui/lns-window-private.h"

static void
close_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_close (GTK_WINDOW (data));
}

static void
show_help_overlay_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWidget *window = lns_shortcuts_window_new ();

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (data));
  gtk_window_present (GTK_WINDOW (window));
}

void
_lns_window_add_actions (LnsWindow *self)
{
  static const GActionEntry entries[] = {
    { "close", close_cb },
    { "show-help-overlay", show_help_overlay_cb },
  };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}

void
_lns_window_update_actions (LnsWindow *self)
{
}
