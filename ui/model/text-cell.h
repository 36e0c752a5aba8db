/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A cell of a table: one line of text, which its tooltip has whole. */

#pragma once

#include <gtk/gtk.h>

/* Writes TEXT, a label or an inscription of a number, a time or a share, from left to right in any language: "1.8 %" would be "% 1.8" else.
 * Where the window goes from right to left it stands at the right of its place, so that units stand below each other. */
void lns_text_set_numeric (GtkWidget *text);

/* Where text from left to right begins in an inscription in WIDGET's place: its xalign. GTK 4.8 turns that of labels round, where the window
 * goes from right to left, and not that of inscriptions. */
float lns_text_start (GtkWidget *widget);

/* A new cell, which is a GtkInscription: one is several times cheaper to fill than a label, as it is measured by its font alone.
 * Numbers stand at the right. The cell is at least MIN_CHARS wide; 0: as its column is. */
GtkWidget *lns_text_cell_new (gboolean is_number, guint min_chars);

/* Shows TEXT (copied). */
void lns_text_cell_set (GtkWidget *cell, const char *text);
