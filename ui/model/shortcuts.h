/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Every key and gesture of the application is in one table in shortcuts.c. The accelerators, the key bindings of
 * widgets and the Keyboard Shortcuts window are built from it. */

#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

/* Binds the keys of "app." and "win." actions for the whole application. */
void lns_shortcuts_add_to_application (GtkApplication *application);

/* Binds the keys of the actions whose name begins with PREFIX ("timeline.") to widgets of the
 * class: they act while the focus is inside such a widget. For keys without Ctrl or Alt, which an
 * application-wide accelerator would take away from text entries. Called from class_init. */
void lns_shortcuts_add_to_class (GtkWidgetClass *widget_class, const char *prefix);

/* The keys of ACTION ("win.find"), between spaces; NULL if it has none. Static. */
const char *lns_shortcuts_keys (const char *action);

/* Has the keys of ACTION do it in WIDGET before anything else, where what has the focus would take them. */
void lns_shortcuts_capture (GtkWidget *widget, const char *action);

/* Line I of the table, from 0 on: its group and title, to be translated, and its action and keys (between spaces), which may be NULL. All
 * static. Returns false behind the last. */
bool lns_shortcuts_at (size_t i,
                       const char **ret_group,
                       const char **ret_title,
                       const char **ret_action,
                       const char **ret_keys);

/* The Keyboard Shortcuts window, floating. */
GtkWidget *lns_shortcuts_window_new (void) G_GNUC_WARN_UNUSED_RESULT;
