/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A cell of a table: one line of text, which its tooltip has whole. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A list keeps some two hundred rows of widgets and fills them anew at each move, of which a few dozen are in view. So a cell is measured
 * once, by its font and not by its text, and shapes its text when it is drawn: a GtkInscription of GTK 4.8 shapes a text at each of both. */
#define LNS_TYPE_TEXT_CELL (lns_text_cell_get_type ())
G_DECLARE_FINAL_TYPE (LnsTextCell, lns_text_cell, LNS, TEXT_CELL, GtkWidget)

/* Writes TEXT, a label, an inscription or a cell of a number, a time or a share, from left to right in any language: "1.8 %" would be
 * "% 1.8" else. Where the window goes from right to left it stands at the right of its place, so that units stand below each other. */
void lns_text_set_numeric (GtkWidget *text);

/* Where text from left to right begins in an inscription in WIDGET's place: its xalign. GTK 4.8 turns that of labels round, where the window
 * goes from right to left, and not that of inscriptions. */
float lns_text_start (GtkWidget *widget);

/* A new cell. Numbers stand at the right, with digits of one width. The cell is at least MIN_CHARS wide; 0: as its column is. */
GtkWidget *lns_text_cell_new (gboolean is_number, guint min_chars);

/* The cell is CHARS wide where there is room; 0: as wide as it must be. */
void lns_text_cell_set_natural_chars (LnsTextCell *self, guint chars);

/* Shows TEXT (copied; NULL: none) on one line, its end cut off where it is too long. Never changes the size of the cell. */
void lns_text_cell_set (LnsTextCell *self, const char *text);

/* What it shows, or NULL. Borrowed until the next lns_text_cell_set (). */
const char *lns_text_cell_get (LnsTextCell *self);

/* Whether its text ends at the right of its place: numbers do, and where lines begin at the right, all do. */
gboolean lns_text_cell_is_at_right (LnsTextCell *self);

G_END_DECLS
