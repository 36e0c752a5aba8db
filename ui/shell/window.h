/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#define LNS_TYPE_WINDOW (lns_window_get_type ())

/* One window: a tab for each report (report-tab.h), or the start page while there is none. Its title and its actions are those of the tab
 * that is selected. Has the application open the files that the user chooses or drops. */
G_DECLARE_FINAL_TYPE (LnsWindow, lns_window, LNS, WINDOW, AdwApplicationWindow)

/* A window of APPLICATION, on its start page. SETTINGS give size and panes, and are told of
 * changes. The application owns it. */
LnsWindow *lns_window_new (GtkApplication *application, GSettings *settings);

/* Opens FILE in a new tab, or in that which is selected if nothing could be opened there, and selects the tab. If a tab of the window has
 * FILE, that is selected, and shows what FILE holds now. */
void lns_window_open_file (LnsWindow *self, GFile *file);

/* The same, and shows OTHER, which may be NULL, on the same axis once it is open, and compares both if COMPARES. With OTHER, always in a
 * tab of its own. */
void lns_window_open_pair (LnsWindow *self, GFile *file, GFile *other, gboolean compares);
