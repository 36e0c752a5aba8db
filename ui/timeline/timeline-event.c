/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is done to the event of the open menu or the selected one, and the colours that depend on it. */

#include "ui/model/display-text.h"
#include "ui/tiles/event-color.h"
#include "ui/timeline/timeline-private.h"

LnsView *
_lns_timeline_active_view (LnsTimeline *self)
{
  return _lns_timeline_context_of (self, self->active)->view;
}

LnsEventId
_lns_timeline_subject (LnsTimeline *self)
{
  return self->menu_event.lane != LNS_ID_NONE
             ? self->menu_event
             : lns_view_get_selected_event (_lns_timeline_active_view (self), NULL);
}

LnsView *
_lns_timeline_subject_view (LnsTimeline *self)
{
  return _lns_timeline_context_of (self, _lns_timeline_subject (self).source)->view;
}

/* Its name, a string id. */
static uint32_t
subject_name (LnsTimeline *self)
{
  LnsEvent event;
  return self->menu_name == 0 &&
                 lns_view_get_selected_event (_lns_timeline_active_view (self), &event).lane !=
                     LNS_ID_NONE
             ? event.name
             : self->menu_name;
}

void
_lns_timeline_copy_name (LnsTimeline *self, double unused)
{
  size_t size_bytes;
  const char *bytes = lns_report_string (lns_view_get_report (_lns_timeline_subject_view (self)),
                                         subject_name (self), &size_bytes);
  /* The clipboard holds UTF-8 without NUL; other bytes are escaped. */
  g_autofree char *text = g_utf8_validate_len (bytes, size_bytes, NULL)
                              ? g_strndup (bytes, size_bytes)
                              : lns_display_text (bytes, size_bytes, FALSE);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
}

/* ---- Filter ----------------------------------------------------------------------------------- */

/* The times of the subject, on the clock of A. */
static LnsSpan
subject_times (LnsTimeline *self)
{
  LnsView *view = _lns_timeline_subject_view (self);
  const int64_t shift_ns =
      lns_difference (lns_view_get_shift_ns (view), lns_view_get_shift_ns (self->context.view));
  LnsSpan times = { self->menu_start_ns, self->menu_end_ns };

  if (self->menu_event.lane == LNS_ID_NONE)
    lns_view_get_selected_times (view, &times.start_ns, &times.end_ns);
  return (LnsSpan){ lns_sum (times.start_ns, shift_ns), lns_sum (times.end_ns, shift_ns) };
}

/* Puts the time that is meant into RET_START_NS and RET_END_NS. */
static void
find_time (LnsTimeline *self, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  const LnsSpan times = subject_times (self);
  const gboolean has_band =
      lns_view_get_time_selection (self->context.view, ret_start_ns, ret_end_ns);

  if (has_band && (self->menu_event.lane == LNS_ID_NONE ||
                   (times.start_ns < *ret_end_ns && times.end_ns > *ret_start_ns)))
    return;
  *ret_start_ns = times.start_ns;
  *ret_end_ns = times.end_ns;
}

void
_lns_timeline_filter (LnsTimeline *self, double unused)
{
  LnsView *view = self->context.view;
  int64_t start_ns, end_ns;

  find_time (self, &start_ns, &end_ns);
  lns_view_set_time_selection (view, start_ns, end_ns);
  lns_view_show_span (view, start_ns, end_ns);
  self->filter_start_ns = lns_view_get_start_ns (view);
  self->filter_end_ns = lns_view_get_end_ns (view);
}

void
_lns_timeline_undo_filter (LnsTimeline *self, double unused)
{
  LnsView *view = self->context.view;

  lns_view_clear_time_selection (view);
  /* Who went elsewhere meanwhile stays there. */
  if (lns_view_get_start_ns (view) == self->filter_start_ns &&
      lns_view_get_end_ns (view) == self->filter_end_ns)
    lns_view_undo_zoom (view);
}

/* ---- Colours ---------------------------------------------------------------------------------- */

static void
set_coloring (LnsTimeline *self, LnsColoring coloring)
{
  self->context.coloring = coloring;
  if (self->guest != NULL)
    self->guest->context.coloring = coloring;
  g_signal_emit_by_name (self, "colors-changed");
}

void
lns_timeline_set_color_mode (LnsTimeline *self, LnsColorMode mode)
{
  if (self->context.coloring.mode != mode)
    set_coloring (self, (LnsColoring){ mode, self->context.coloring.only_name });
}

void
_lns_timeline_color_all (LnsTimeline *self, double unused)
{
  set_coloring (self, (LnsColoring){ .mode = self->context.coloring.mode });
}

void
_lns_timeline_gray_others (LnsTimeline *self, double unused)
{
  LnsReport *report = lns_view_get_report (_lns_timeline_subject_view (self));
  const LnsEventId id = _lns_timeline_subject (self);
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[id.lane].kind;
  const uint64_t key = lns_event_name_key (report, lns_event_names (kind), subject_name (self));

  if (self->context.coloring.only_name == key)
    _lns_timeline_color_all (self, 0);
  else
    set_coloring (self, (LnsColoring){ self->context.coloring.mode, key });
}
