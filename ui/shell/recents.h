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

/* Is told the URIs of reports that exist, latest first: N of them, at most LNS_RECENTS_MAX. */
typedef void (*LnsRecentsFunc) (gpointer owner, char **uris, guint n);

/* Calls SHOW for OWNER on the main thread, soon and whenever the list changes, until OWNER is gone. A worker looks which
 * reports exist, since a disk may not answer; until it has, SHOW is not called. */
void lns_recents_follow (GObject *owner, LnsRecentsFunc show);

/* Keeps SECTION of a menu, which begins with "Open…", filled: below that a submenu "Open Recent" whose
 * items activate "win.open-uri", or nothing while there is no recent report. SECTION must live as long as the process. */
void lns_recents_fill_menu (GMenu *section);
