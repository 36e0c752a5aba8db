/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files of LnsWindow share: window.c (life and layout), window-actions.c (its
 * actions), window-open.c (opening a report), window-drop.c (drag and drop). */

#pragma once

#include "src/store/read/report.h"
#include "ui/shell/report-page.h"
#include "ui/shell/window.h"

G_BEGIN_DECLS

struct _LnsWindow
{
  AdwApplicationWindow parent_instance;

  GSettings *settings;        /* owned                                                        */
  GFile *file;                /* owned; shown, being opened, or not to be opened; or NULL      */
  GCancellable *opening;      /* owned; NULL while nothing is being opened                     */
  guint progress_timer;       /* until the opening has taken long enough to show its progress */
  gboolean recoverable;       /* the error page's file                                        */
  LnsReportPage *report_page; /* child of stack, or NULL                                      */

  GtkWidget *launch_dialog; /* weak; or NULL                                                */

  GtkPopoverMenuBar *menu_bar;
  GtkWidget *open_button;
  GtkWidget *launch_button;
  GtkWidget *find_button;
  AdwWindowTitle *title;
  GtkStack *stack; /* pages "start", "loading", "error", "report" */
  AdwStatusPage *loading_page;
  GtkProgressBar *progress;
  AdwStatusPage *error_page;
  GtkWidget *recover_button;
  GtkWidget *another_button;
  GtkWidget *diagnostics_button;
  AdwButtonContent *diagnostics_content;
};

/* --- window.c */

/* Shows page NAME of the stack, and enables the actions that apply to it. */
void _lns_window_show_page (LnsWindow *self, const char *name);

/* Shows REPORT, which is the window's from now on. */
void _lns_window_show_report (LnsWindow *self, LnsReport *report);

/* Lets go of what is shown or being opened; the caller shows another page. */
void _lns_window_drop_report (LnsWindow *self);

/* --- window-actions.c */

/* Installs the "win." actions. Called once, from init. */
void _lns_window_add_actions (LnsWindow *self);

/* Enables the actions that apply to what the window now shows, and no others. */
void _lns_window_update_actions (LnsWindow *self);

/* --- window-open.c */

/* Opens the error page's file again, rebuilt into a copy. */
void _lns_window_recover (LnsWindow *self);

/* Forgets the opening that runs, if one does. */
void _lns_window_cancel_opening (LnsWindow *self);

void _lns_window_show_start_page (LnsWindow *self);

/* --- window-drop.c */

/* Lets files be dropped anywhere on the window. Called once, from init. */
void _lns_window_add_drop_target (LnsWindow *self);

G_END_DECLS
