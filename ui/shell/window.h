/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#define LNS_TYPE_WINDOW (lns_window_get_type ())

/* One window: the start page, or one report that is being opened, could not be opened, or is shown. Has the application
 * open the files that the user chooses or drops: in this window if it is empty, or else in another one. */
G_DECLARE_FINAL_TYPE (LnsWindow, lns_window, LNS, WINDOW, AdwApplicationWindow)

/* A window of APPLICATION, on its start page. SETTINGS give size and panes, and are told of
 * changes. The application owns it. */
LnsWindow *lns_window_new (GtkApplication *application, GSettings *settings);

/* Whether the window holds no report and is not opening one: another may be opened in it. */
gboolean lns_window_is_empty (LnsWindow *self);

/* Opens FILE in this window, in place of what it holds. Failures are shown on its error page. */
void lns_window_open_file (LnsWindow *self, GFile *file);

/* The same, and shows OTHER, which may be NULL, on the same axis once it is open, and compares both if COMPARES. */
void lns_window_open_pair (LnsWindow *self, GFile *file, GFile *other, gboolean compares);
