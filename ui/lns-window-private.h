/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files of LnsWindow share: lns-window.c (life and layout), lns-window-actions.c (its
 * actions), lns-window-open.c (opening a report), lns-window-drop.c (drag and drop). */

#pragma once

#include "ui/lns-window.h"

G_BEGIN_DECLS

struct _LnsWindow
{
  AdwApplicationWindow parent_instance;

  GSettings *settings; /* owned */
  GFile *file;         /* owned; what is shown, being opened, or could not be opened; or NULL */

  GtkPopoverMenuBar *menu_bar;
  AdwWindowTitle *title;
  GtkStack *stack; /* pages "start", "loading", "error", "report" */
  AdwStatusPage *loading_page;
  GtkProgressBar *progress;
  AdwStatusPage *error_page;
  GtkWidget *recover_button;
};

/* Installs the "win." actions. Called once, from init. */
void _lns_window_add_actions (LnsWindow *self);

/* Enables the actions that apply to what the window now shows, and no others. */
void _lns_window_update_actions (LnsWindow *self);

/* Shows page NAME of the stack and updates title and actions. */
void _lns_window_show_page (LnsWindow *self, const char *name);

G_END_DECLS
