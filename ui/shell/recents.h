/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The reports that were opened recently, from the desktop's list of recent files. */

#pragma once

#include <gtk/gtk.h>

/* How many are offered. */
#define LNS_RECENTS_MAX 10

/* Puts FILE at the top of the list. */
void lns_recents_add (GFile *file);

/* The GtkRecentInfo of reports that still exist, latest first, at most LNS_RECENTS_MAX. */
GPtrArray *lns_recents_list (void) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps SECTION of a menu, which begins with "Open…", filled: below that a submenu "Open Recent" whose
 * items activate "win.open-uri", or nothing while there is no recent report. SECTION must live as long as the process. */
void lns_recents_fill_menu (GMenu *section);
