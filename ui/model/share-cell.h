/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A cell of a table with a share: a bar as long as the share, and the share as text upon it. */

#pragma once

#include <gtk/gtk.h>

#define LNS_TYPE_SHARE_CELL (lns_share_cell_get_type ())
G_DECLARE_FINAL_TYPE (LnsShareCell, lns_share_cell, LNS, SHARE_CELL, GtkWidget)

GtkWidget *lns_share_cell_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* SHARE is from 0 to 1; TEXT is copied. */
void lns_share_cell_set (LnsShareCell *self, double share, const char *text);
