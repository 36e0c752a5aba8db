/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Dialogs that name, change and list the bookmarks of a report. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/bookmarks.h"

/* Asks for the name and a note of a bookmark of the selected time, or else of the selected event, or else of the middle of VIEW. */
void lns_bookmark_dialog_add (GtkWindow *parent, LnsView *view);

/* Asks for another name or note of bookmark I of VIEW, or whether to remove it. */
void lns_bookmark_dialog_edit (GtkWindow *parent, LnsView *view, guint i);

/* Lists the bookmarks of VIEW: to go to one, and to change or remove them. */
void lns_bookmark_dialog_list (GtkWindow *parent, LnsView *view);
