/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A cell of a table: one line of text, which its tooltip has whole. */

#pragma once

#include <gtk/gtk.h>

/* A new cell, which is a GtkInscription: one is several times cheaper to fill than a label, as it is measured by its font alone.
 * Numbers stand at the right. The cell is at least MIN_CHARS wide; 0: as its column is. */
GtkWidget *lns_text_cell_new (gboolean is_number, guint min_chars);

/* Shows TEXT (copied). */
void lns_text_cell_set (GtkWidget *cell, const char *text);
