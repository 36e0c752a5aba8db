/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The time that is in view, which all views of a page share: zoom, position, width, and the way back. Each owner, a view, says when its
 * report is on the axis; the axis shows no more than all of them. Main thread only.
 *
 * Signal: "changed" (): the zoom, the position or the width. */

#pragma once

#include <glib-object.h>

#include "ui/model/scale.h"

#define LNS_TYPE_AXIS (lns_axis_get_type ())
G_DECLARE_FINAL_TYPE (LnsAxis, lns_axis, LNS, AXIS, GObject)

/* Without owners, and 1,000 px wide. */
LnsAxis *lns_axis_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* OWNER, which is borrowed, is from FIRST_NS to LAST_NS. Nothing moves before lns_axis_refit (). */
void lns_axis_set_whole (LnsAxis *self, gpointer owner, int64_t first_ns, int64_t last_ns);
void lns_axis_remove (LnsAxis *self, gpointer owner);

/* From the first to the last time of all owners. */
void lns_axis_get_whole (LnsAxis *self, int64_t *ret_first_ns, int64_t *ret_last_ns);

/* Shows all again if the axis showed all so far, or the end again if FOLLOWS, and nothing that lies outside. */
void lns_axis_refit (LnsAxis *self, gboolean follows);

/* Whether the end is in view, because somebody moved there or all is. */
gboolean lns_axis_shows_end (LnsAxis *self);

const LnsScale *lns_axis_get_scale (LnsAxis *self);
int lns_axis_get_width_px (LnsAxis *self);

/* The scale at which WIDTH_PX pixels show all, and a margin. */
void lns_axis_fit_width (LnsAxis *self, int width_px, LnsScale *ret_scale);

/* What shows all, or a span that was asked for, goes on doing so. */
void lns_axis_set_width_px (LnsAxis *self, int width_px);

/* FACTOR > 1 is closer; what is at X_PX from the left edge stays there. Steps in one direction without a pause of a second are one
 * step to undo. */
void lns_axis_zoom_at (LnsAxis *self, double x_px, double factor);
void lns_axis_pan (LnsAxis *self, int64_t dx_px); /* > 0: later                                */
void lns_axis_show_span (LnsAxis *self, int64_t start_ns, int64_t end_ns);

/* The same, for the part that is looked at first; and which that is, as long as nobody moves. */
void lns_axis_open_at (LnsAxis *self, int64_t start_ns, int64_t end_ns);
gboolean lns_axis_get_opening (LnsAxis *self, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* Moves to START_NS … END_NS: closer if that is too narrow to see, and to the middle if it is not in view. */
void lns_axis_reveal (LnsAxis *self, int64_t start_ns, int64_t end_ns);
void lns_axis_fit (LnsAxis *self);
gboolean lns_axis_shows_all (LnsAxis *self);

/* Undoes the last zoom, fit or reveal, or the last undoing since which nothing was zoomed. FALSE if there is none. */
gboolean lns_axis_undo (LnsAxis *self);
gboolean lns_axis_redo (LnsAxis *self);
gboolean lns_axis_can_undo (LnsAxis *self);
gboolean lns_axis_can_redo (LnsAxis *self);

/* For tests: replaces g_get_monotonic_time (). */
void lns_axis_set_clock (LnsAxis *self, gint64 (*now_usec) (void));
