/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The timeline of a report: overview, ruler, pinned rows, rows. It shows an LnsView and changes it.
 *
 * Actions, for menus and keys (model/shortcuts.c): timeline.zoom-in, .zoom-out, .zoom-fit,
 * .zoom-to-selection, .zoom-to-event, .undo-zoom, .redo-zoom, .pan-left, .pan-right, .go-start, .go-end,
 * .expand-all, .collapse-all, .show-hidden, .reset-view, .clear-selection, .copy-name, .filter, .undo-filter, .gray-others, .color-all. They are enabled while they can do
 * something.
 *
 * Signal "rows-changed" (): rows were folded, pinned, hidden, moved, or have another height.
 * Signal "colors-changed" (): events have other colours. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/kept-view.h"
#include "ui/model/palette.h"
#include "ui/model/row-tree.h"
#include "ui/model/view.h"

#define LNS_TYPE_TIMELINE (lns_timeline_get_type ())
G_DECLARE_FINAL_TYPE (LnsTimeline, lns_timeline, LNS, TIMELINE, GtkWidget)

/* Shows VIEW. Holds a reference on it. */
GtkWidget *lns_timeline_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* The rows as they are now: until the timeline's next turn on the main loop. */
const LnsRowTree *lns_timeline_get_tree (LnsTimeline *self);

/* Gives the rows what was kept of them in VIEW, which is taken over. */
void lns_timeline_restore_rows (LnsTimeline *self, LnsKeptView *view);

/* Does what takes longest of lns_timeline_tell_rows (), for a turn of the main loop of its own. FALSE: that was done. O(rows). */
gboolean lns_timeline_identify_rows (LnsTimeline *self);

/* Adds what is to be kept of the rows to VIEW. */
void lns_timeline_tell_rows (LnsTimeline *self, LnsKeptView *view);

/* Has events coloured as MODE says. */
void lns_timeline_set_color_mode (LnsTimeline *self, LnsColorMode mode);

/* Shows the critical path below the ruler, or not. */
void lns_timeline_set_shows_path (LnsTimeline *self, gboolean shows_path);

/* Whether rows are hidden. */
gboolean lns_timeline_has_hidden_rows (LnsTimeline *self);

/* Unfolds what ROW is below, scrolls it into view, and gives it the focus. */
void lns_timeline_reveal_row (LnsTimeline *self, uint32_t row);

/* Whether all tiles in view are there and exact, so that a frame drawn now is complete. */
gboolean lns_timeline_is_complete (LnsTimeline *self);
