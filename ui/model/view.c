/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/view.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "ui/model/axis.h"
#include "ui/model/linked-events.h"

/* A snapshot, and what was worked out of it. Shared with the workers that read it. */
typedef struct
{
  LnsReport *report;   /* owned */
  LnsCudaLinks *links; /* owned */
} Source;

struct _LnsView
{
  GObject parent_instance;

  Source *source;            /* a reference */
  LnsReport *report;         /* the source's */
  LnsReport *opened;         /* owned; the first snapshot: with it, all strings stay */
  GFile *file;               /* owned; or NULL: the report's */
  int64_t first_ns, last_ns; /* what there is to see */

  guint source_number; /* that ids of its events carry */
  LnsAxis *axis;       /* owned */
  int64_t shift_ns;    /* what is on the axis for time 0 */
  LnsScale scale;      /* that of the axis, for times of the report */

  gboolean has_band;
  int64_t band_start_ns, band_end_ns;
  GArray *further; /* of int64_t, two a span: selected beside the band */

  LnsEventId selected;
  LnsEvent selected_event;
  int64_t selected_start_ns, selected_end_ns;
  LnsLinkedEvents *linked; /* owned; the selected event's other ends, or NULL */
  GArray *walk;            /* of LnsEventId: where the walk through tied events began, then these */
  LnsEventId hovered;
  GCancellable *selecting; /* of the read under way, or NULL */
};

G_DEFINE_FINAL_TYPE (LnsView, lns_view, G_TYPE_OBJECT)

static Source *
source_new (LnsReport *report)
{
  Source *source = g_atomic_rc_box_new0 (Source);
  source->report = report;
  source->links = lns_cuda_links_new (report);
  return source;
}

static void
source_clear (gpointer data)
{
  Source *source = data;
  lns_cuda_links_free (source->links);
  lns_report_close (source->report);
}

static void
source_unref (Source *source)
{
  g_atomic_rc_box_release_full (source, source_clear);
}

enum
{
  GROWN,
  SPAN_CHANGED,
  TIME_SELECTION_CHANGED,
  EVENT_SELECTED,
  EVENT_FAILED,
  EVENT_HOVERED,
  SHOW_IN_EVENTS,
  SHOW_IN_FUNCTIONS,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

typedef struct
{
  Source *source; /* a reference */
  LnsEventId id;
  int64_t time_ns; /* of the state that is wanted, if HAS_TIME, or else of the event's start */
  gboolean has_time;
  gboolean reveal;
  gboolean other_end; /* ID is only where to begin */
  LnsEvent event;
  int64_t start_ns, end_ns;
  LnsLinkedEvent from; /* where one came from, as an end of the event, if HAS_FROM */
  gboolean has_from;
  LnsLinkedEvents *linked; /* owned */
} Selecting;

static void
selecting_free (gpointer data)
{
  Selecting *wanted = data;
  lns_linked_events_free (wanted->linked);
  source_unref (wanted->source);
  g_free (wanted);
}

/* --- The span in view ---------------------------------------------------------------------- */

/* From the first event to the end of the last: a report may go on for minutes after it, unless it is being recorded. What a profiler
 * tells of itself, of before the program and after it, stretches nothing. A part of a report is its span: events that reach into it say
 * nothing of the time outside. */
static void
measure (LnsView *self)
{
  if (lns_part_of_report (self->report, &self->first_ns, &self->last_ns))
    return;
  const LnsReportInfo *info = lns_report_info (self->report);
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  bool has_profiler = false;
  uint32_t n_lanes;
  lns_report_lanes (self->report, &n_lanes);
  self->first_ns = info->start_ns;
  self->last_ns = info->n_events > 0 ? info->start_ns : info->end_ns;
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      const LnsLaneInfo *it = lns_report_lane_info (self->report, lane);
      if (it == NULL || it->n_events == 0)
        continue;
      self->last_ns = MAX (self->last_ns, it->end_ns);
      if (lns_process_is_of_profiler (self->report, lns_track_of (self->report, lane)->process))
        {
          has_profiler = true;
          continue;
        }
      first_ns = MIN (first_ns, it->start_ns);
      last_ns = MAX (last_ns, it->end_ns);
    }
  if (has_profiler && first_ns <= last_ns)
    {
      self->first_ns = first_ns;
      self->last_ns = last_ns;
    }
  if (info->state == LNS_STATE_RECORDING)
    self->last_ns = MAX (self->last_ns, info->end_ns);
}

/* SCALE, which is of the axis, for times of the report. */
static LnsScale
own_scale (LnsView *self, const LnsScale *scale)
{
  LnsScale own = *scale;
  own.first_px = lns_difference (own.first_px, lns_scale_px_of (scale, self->shift_ns));
  return own;
}

/* Says when the report is on the axis. */
static void
tell_whole (LnsView *self)
{
  lns_axis_set_whole (self->axis, self, lns_sum (self->first_ns, self->shift_ns),
                      lns_sum (self->last_ns, self->shift_ns));
}

static void
axis_changed_cb (LnsView *self)
{
  self->scale = own_scale (self, lns_axis_get_scale (self->axis));
  g_signal_emit (self, signals[SPAN_CHANGED], 0);
}

static void
set_axis (LnsView *self, LnsAxis *axis)
{
  if (self->axis != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->axis, self);
      lns_axis_remove (self->axis, self);
    }
  g_set_object (&self->axis, axis);
  g_signal_connect_object (axis, "changed", G_CALLBACK (axis_changed_cb), self, G_CONNECT_SWAPPED);
}

void
lns_view_share_axis (LnsView *self, LnsView *other, int64_t shift_ns)
{
  if (self->axis != other->axis)
    set_axis (self, other->axis);
  self->shift_ns = shift_ns;
  tell_whole (self);
  lns_axis_refit (self->axis, FALSE);
  axis_changed_cb (self);
}

void
lns_view_leave_axis (LnsView *self)
{
  g_autoptr (LnsAxis) shared = g_object_ref (self->axis), own = lns_axis_new ();

  set_axis (self, own);
  self->shift_ns = 0;
  tell_whole (self);
  lns_axis_refit (own, FALSE);
  lns_axis_refit (shared, FALSE);
}

guint
lns_view_get_source (LnsView *self)
{
  return self->source_number;
}

void
lns_view_set_source (LnsView *self, guint source)
{
  self->source_number = source;
}

int64_t
lns_view_get_shift_ns (LnsView *self)
{
  return self->shift_ns;
}

void
lns_view_fit_width (LnsView *self, int width_px, LnsScale *ret_scale)
{
  lns_axis_fit_width (self->axis, width_px, ret_scale);
  *ret_scale = own_scale (self, ret_scale);
}

const LnsScale *
lns_view_get_scale (LnsView *self)
{
  return &self->scale;
}

int
lns_view_get_width_px (LnsView *self)
{
  return lns_axis_get_width_px (self->axis);
}

int64_t
lns_view_get_start_ns (LnsView *self)
{
  return lns_scale_time_of (&self->scale, self->scale.first_px);
}

void
lns_view_get_whole (LnsView *self, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
  *ret_first_ns = self->first_ns;
  *ret_last_ns = self->last_ns;
}

int64_t
lns_view_get_duration_ns (LnsView *self)
{
  return MIN (lns_recorded_ns (self->report), lns_difference (self->last_ns, self->first_ns));
}

int64_t
lns_view_get_end_ns (LnsView *self)
{
  return lns_scale_time_of (&self->scale, self->scale.first_px + lns_view_get_width_px (self));
}

void
lns_view_set_width_px (LnsView *self, int width_px)
{
  lns_axis_set_width_px (self->axis, width_px);
}

void
lns_view_zoom_at (LnsView *self, double x_px, double factor)
{
  lns_axis_zoom_at (self->axis, x_px, factor);
}

void
lns_view_set_clock (LnsView *self, gint64 (*now_usec) (void))
{
  lns_axis_set_clock (self->axis, now_usec);
}

void
lns_view_pan (LnsView *self, int64_t dx_px)
{
  lns_axis_pan (self->axis, dx_px);
}

void
lns_view_show_span (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  lns_axis_show_span (self->axis, lns_sum (start_ns, self->shift_ns),
                      lns_sum (end_ns, self->shift_ns));
}

void
lns_view_open_at (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  lns_axis_open_at (self->axis, lns_sum (start_ns, self->shift_ns),
                    lns_sum (end_ns, self->shift_ns));
}

gboolean
lns_view_get_opening (LnsView *self, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  const gboolean is_there = lns_axis_get_opening (self->axis, ret_start_ns, ret_end_ns);
  *ret_start_ns = lns_difference (*ret_start_ns, self->shift_ns);
  *ret_end_ns = lns_difference (*ret_end_ns, self->shift_ns);
  return is_there;
}

gboolean
lns_view_shows_all (LnsView *self)
{
  return lns_axis_shows_all (self->axis);
}

void
lns_view_fit (LnsView *self)
{
  lns_axis_fit (self->axis);
}

gboolean
lns_view_can_undo_zoom (LnsView *self)
{
  return lns_axis_can_undo (self->axis);
}

gboolean
lns_view_can_redo_zoom (LnsView *self)
{
  return lns_axis_can_redo (self->axis);
}

gboolean
lns_view_undo_zoom (LnsView *self)
{
  return lns_axis_undo (self->axis);
}

gboolean
lns_view_redo_zoom (LnsView *self)
{
  return lns_axis_redo (self->axis);
}

/* --- The selected time --------------------------------------------------------------------- */

gboolean
lns_view_get_time_selection (LnsView *self, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  if (!self->has_band)
    return FALSE;
  if (ret_start_ns != NULL)
    *ret_start_ns = self->band_start_ns;
  if (ret_end_ns != NULL)
    *ret_end_ns = self->band_end_ns;
  return TRUE;
}

void
lns_view_move_time_selection (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  self->has_band = TRUE;
  self->band_start_ns = MIN (start_ns, end_ns);
  self->band_end_ns = MAX (start_ns, end_ns);
  g_signal_emit (self, signals[TIME_SELECTION_CHANGED], 0);
}

void
lns_view_set_time_selection (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  g_array_set_size (self->further, 0);
  lns_view_move_time_selection (self, start_ns, end_ns);
}

void
lns_view_add_time_selection (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  if (self->further->len == 2 * LNS_FURTHER_SPANS_MAX)
    g_array_remove_range (self->further, 0, 2);
  if (self->has_band)
    {
      g_array_append_val (self->further, self->band_start_ns);
      g_array_append_val (self->further, self->band_end_ns);
    }
  lns_view_move_time_selection (self, start_ns, end_ns);
}

gboolean
lns_view_get_further_span (LnsView *self, guint i, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  if (2 * i >= self->further->len)
    return FALSE;
  if (ret_start_ns != NULL)
    *ret_start_ns = g_array_index (self->further, int64_t, 2 * i);
  if (ret_end_ns != NULL)
    *ret_end_ns = g_array_index (self->further, int64_t, 2 * i + 1);
  return TRUE;
}

void
lns_view_clear_time_selection (LnsView *self)
{
  if (!self->has_band)
    return;
  self->has_band = FALSE;
  g_array_set_size (self->further, 0);
  g_signal_emit (self, signals[TIME_SELECTION_CHANGED], 0);
}

void
lns_view_zoom_to_selection (LnsView *self)
{
  if (!self->has_band)
    return;
  lns_view_show_span (self, self->band_start_ns, self->band_end_ns);
  lns_view_clear_time_selection (self);
}

/* --- Events -------------------------------------------------------------------------------- */

/* Sets the times of the event, and reads into memory what the main thread shows of what a thread does. */
static void
find_times (LnsReport *report, Selecting *wanted)
{
  LnsThreadSpan span;
  if (!wanted->has_time)
    wanted->time_ns = wanted->event.start_ns;
  if (lns_thread_span_described (report, wanted->id.lane, wanted->time_ns, &span))
    {
      wanted->start_ns = span.start_ns;
      wanted->end_ns = span.end_ns;
      return;
    }
  wanted->start_ns = wanted->event.start_ns;
  wanted->end_ns = lns_states_known_end (
      report, lns_report_lanes (report, NULL)[wanted->id.lane].kind, wanted->event.flags,
      wanted->start_ns, lns_sum (wanted->start_ns, wanted->event.duration_ns));
}

/* Notes that FROM led to WANTED by THERE, unless the way back is in the report. */
static void
set_from (Selecting *wanted, const Selecting *from, const LnsLinkedEvent *there)
{
  wanted->has_from = there->kind != LNS_LINK_LAUNCH;
  wanted->from = (LnsLinkedEvent){
    .id = from->id,
    .event = from->event,
    .start_ns = from->start_ns,
    .end_ns = from->end_ns,
    .kind = there->kind == LNS_LINK_WAKER ? LNS_LINK_WOKEN : LNS_LINK_WAKER,
    .woken_ns = there->woken_ns,
  };
}

static void
read_event (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Selecting *wanted = data;
  LnsReport *report = wanted->source->report;
  const LnsCudaLinks *links = wanted->source->links;
  LnsError error = { 0 };
  wanted->linked = lns_linked_events_new (report, links, wanted->id);
  if (wanted->other_end && wanted->linked->events->len == 0)
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                               _ ("The event that this one is linked to was not recorded."));
      return;
    }
  if (wanted->other_end)
    {
      const LnsLinkedEvent there = g_array_index (wanted->linked->events, LnsLinkedEvent, 0);
      Selecting from = { .id = wanted->id };
      if (lns_report_event (report, from.id.lane, from.id.ordinal, &from.event, NULL))
        {
          find_times (report, &from);
          set_from (wanted, &from, &there);
        }
      wanted->id = there.id;
      lns_linked_events_free (wanted->linked);
      wanted->linked = lns_linked_events_new (report, links, wanted->id);
    }
  if (wanted->has_from)
    lns_linked_events_put_first (wanted->linked, &wanted->from);
  if (lns_report_event (report, wanted->id.lane, wanted->id.ordinal, &wanted->event, &error))
    {
      find_times (report, wanted);
      g_task_return_boolean (task, TRUE);
    }
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", error.message);
}

static void
event_read_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LnsView *self = LNS_VIEW (source);
  g_autoptr (GError) error = NULL;
  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_signal_emit (self, signals[EVENT_FAILED], 0, error->message);
      return;
    }
  g_clear_object (&self->selecting);
  Selecting *wanted = g_task_get_task_data (G_TASK (result));
  self->selected = lns_view_event (self, wanted->id.lane, wanted->id.ordinal);
  self->selected_event = wanted->event;
  self->selected_start_ns = wanted->start_ns;
  self->selected_end_ns = wanted->end_ns;
  g_clear_pointer (&self->linked, lns_linked_events_free);
  self->linked = g_steal_pointer (&wanted->linked);
  for (guint i = 0; i < self->linked->events->len; i++)
    g_array_index (self->linked->events, LnsLinkedEvent, i).id.source = self->source_number;
  if (wanted->reveal)
    lns_axis_reveal (self->axis, lns_sum (wanted->start_ns, self->shift_ns),
                     lns_sum (wanted->end_ns, self->shift_ns));
  g_signal_emit (self, signals[EVENT_SELECTED], 0, wanted->reveal);
}

/* Selects what WANTED says. */
static void
select_event (LnsView *self, Selecting wanted)
{
  g_return_if_fail (wanted.id.lane == LNS_ID_NONE || wanted.id.source == self->source_number);
  g_cancellable_cancel (self->selecting);
  g_clear_object (&self->selecting);
  if (wanted.id.lane == LNS_ID_NONE)
    {
      self->selected = LNS_EVENT_NONE;
      g_clear_pointer (&self->linked, lns_linked_events_free);
      g_signal_emit (self, signals[EVENT_SELECTED], 0, FALSE);
      return;
    }
  self->selecting = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->selecting, event_read_cb, NULL);
  wanted.source = g_atomic_rc_box_acquire (self->source);
  g_task_set_task_data (task, g_memdup2 (&wanted, sizeof wanted), selecting_free);
  g_task_run_in_thread (task, read_event);
}

void
lns_view_select_event (LnsView *self, LnsEventId id)
{
  select_event (self, (Selecting){ .id = id });
}

void
lns_view_select_event_at (LnsView *self, LnsEventId id, int64_t time_ns)
{
  select_event (self, (Selecting){ .id = id, .time_ns = time_ns, .has_time = TRUE });
}

void
lns_view_reveal_event (LnsView *self, LnsEventId id)
{
  select_event (self, (Selecting){ .id = id, .reveal = TRUE });
}

void
lns_view_reveal_event_at (LnsView *self, LnsEventId id, int64_t time_ns)
{
  select_event (self,
                (Selecting){ .id = id, .time_ns = time_ns, .has_time = TRUE, .reveal = TRUE });
}

void
lns_view_reveal_other_end (LnsView *self, LnsEventId id)
{
  const LnsLinkedEvent *first = self->linked != NULL && self->linked->events->len > 0
                                    ? &g_array_index (self->linked->events, LnsLinkedEvent, 0)
                                    : NULL;
  /* Of the selected event more is known than the report says: where one came from. */
  if (first != NULL && lns_event_id_equal (id, self->selected))
    lns_view_reveal_linked (self, first->kind);
  else
    select_event (self, (Selecting){ .id = id, .reveal = TRUE, .other_end = TRUE });
}

void
lns_view_reveal_linked (LnsView *self, LnsLinkKind kind)
{
  for (guint i = 0; self->linked != NULL && i < self->linked->events->len; i++)
    {
      const LnsLinkedEvent *it = &g_array_index (self->linked->events, LnsLinkedEvent, i);
      if (it->kind != kind)
        continue;
      const Selecting from = { .id = self->selected,
                               .event = self->selected_event,
                               .start_ns = self->selected_start_ns,
                               .end_ns = self->selected_end_ns };
      Selecting wanted = { .id = it->id, .reveal = TRUE };
      wanted.has_time = kind == LNS_LINK_WOKEN;
      wanted.time_ns = it->start_ns;
      set_from (&wanted, &from, it);
      select_event (self, wanted);
      return;
    }
}

/* The place of the selected event on the way of the last walk, or -1. */
static int
place_on_walk (LnsView *self)
{
  for (guint i = 0; i < self->walk->len; i++)
    if (lns_event_id_equal (g_array_index (self->walk, LnsEventId, i), self->selected))
      return (int)i;
  return -1;
}

void
lns_view_walk_linked (LnsView *self, int direction)
{
  int at = self->selected.lane != LNS_ID_NONE ? place_on_walk (self) : -1;
  if (at < 0)
    {
      guint n;
      const LnsLinkedEvent *linked = lns_view_get_linked_events (self, &n);
      g_array_set_size (self->walk, 0);
      if (self->selected.lane == LNS_ID_NONE || n == 0)
        return;
      g_array_append_val (self->walk, self->selected);
      for (guint i = 0; i < n; i++)
        g_array_append_val (self->walk, linked[i].id);
      at = 0;
    }
  const int n_walk = (int)self->walk->len;
  lns_view_reveal_event (
      self, g_array_index (self->walk, LnsEventId, (at + n_walk + direction) % n_walk));
}

const LnsLinkedEvent *
lns_view_get_linked_events (LnsView *self, guint *ret_n)
{
  *ret_n = self->linked != NULL ? self->linked->events->len : 0;
  return self->linked != NULL ? (const LnsLinkedEvent *)(void *)self->linked->events->data : NULL;
}

const LnsLinkedEvents *
lns_view_get_linked (LnsView *self)
{
  return self->linked;
}

LnsEventId
lns_view_get_selected_event (LnsView *self, LnsEvent *ret_event)
{
  if (ret_event != NULL && self->selected.lane != LNS_ID_NONE)
    *ret_event = self->selected_event;
  return self->selected;
}

void
lns_view_get_selected_times (LnsView *self, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  *ret_start_ns = self->selected_start_ns;
  *ret_end_ns = self->selected_end_ns;
}

LnsEventId
lns_view_get_hovered_event (LnsView *self)
{
  return self->hovered;
}

void
lns_view_set_hovered_event (LnsView *self, LnsEventId id)
{
  if (lns_event_id_equal (self->hovered, id))
    return;
  self->hovered = id;
  g_signal_emit (self, signals[EVENT_HOVERED], 0);
}

/* --- Rows ---------------------------------------------------------------------------------- */

void
lns_view_show_in_events (LnsView *self,
                         const char *title,
                         const uint32_t *lanes,
                         unsigned n_lanes,
                         const LnsFacetSet *set,
                         uint32_t facet)
{
  g_autoptr (GArray) ids = g_array_sized_new (FALSE, FALSE, sizeof *lanes, n_lanes);
  if (n_lanes > 0)
    g_array_append_vals (ids, lanes, n_lanes);
  g_signal_emit (self, signals[SHOW_IN_EVENTS], 0, title, ids, set, facet);
}

/* --- The object ---------------------------------------------------------------------------- */

void
lns_view_show_in_functions (LnsView *self, const char *title, const bool *threads)
{
  g_signal_emit (self, signals[SHOW_IN_FUNCTIONS], 0, title, threads);
}

LnsReport *
lns_view_get_report (LnsView *self)
{
  return self->report;
}

gboolean
lns_view_is_live (LnsView *self)
{
  return lns_report_info (self->report)->state == LNS_STATE_RECORDING;
}

void
lns_view_grow (LnsView *self, LnsReport *newer)
{
  Source *before = self->source;
  const gboolean follows = lns_view_is_live (self) && lns_axis_shows_end (self->axis);

  self->source = source_new (newer);
  self->report = newer;
  measure (self);
  tell_whole (self);
  g_signal_emit (self, signals[GROWN], 0, before->report);
  source_unref (before);
  if (follows || lns_axis_shows_all (self->axis))
    lns_axis_refit (self->axis, follows);
}

LnsView *
lns_view_new (LnsReport *report)
{
  g_return_val_if_fail (report != NULL, NULL);
  LnsView *self = g_object_new (LNS_TYPE_VIEW, NULL);
  self->opened = lns_report_ref (report);
  self->source = source_new (report);
  self->report = report;
  measure (self);
  tell_whole (self);
  lns_axis_refit (self->axis, FALSE);
  axis_changed_cb (self);
  return self;
}

void
lns_view_set_file (LnsView *self, GFile *file)
{
  g_set_object (&self->file, file);
}

GFile *
lns_view_get_file (LnsView *self)
{
  return self->file != NULL ? g_object_ref (self->file)
                            : g_file_new_for_path (lns_report_info (self->report)->path);
}

static void
lns_view_finalize (GObject *object)
{
  LnsView *self = LNS_VIEW (object);
  g_clear_object (&self->file);
  g_clear_object (&self->selecting);
  lns_axis_remove (self->axis, self);
  g_clear_object (&self->axis);
  g_clear_pointer (&self->further, g_array_unref);
  g_clear_pointer (&self->walk, g_array_unref);
  g_clear_pointer (&self->linked, lns_linked_events_free);
  source_unref (self->source);
  lns_report_close (self->opened);
  G_OBJECT_CLASS (lns_view_parent_class)->finalize (object);
}

static void
lns_view_class_init (LnsViewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_view_finalize;

  GType type = G_TYPE_FROM_CLASS (klass);
  const GSignalFlags flags = G_SIGNAL_RUN_LAST;
#define SIGNAL(name, n, ...)                                                                       \
 g_signal_new (name, type, flags, 0, NULL, NULL, NULL, G_TYPE_NONE, n, ##__VA_ARGS__)
  signals[SPAN_CHANGED] = SIGNAL ("span-changed", 0);
  signals[TIME_SELECTION_CHANGED] = SIGNAL ("time-selection-changed", 0);
  signals[GROWN] = SIGNAL ("grown", 1, G_TYPE_POINTER);
  signals[EVENT_SELECTED] = SIGNAL ("event-selected", 1, G_TYPE_BOOLEAN);
  signals[EVENT_FAILED] = SIGNAL ("event-failed", 1, G_TYPE_STRING);
  signals[EVENT_HOVERED] = SIGNAL ("event-hovered", 0);
  signals[SHOW_IN_EVENTS] =
      SIGNAL ("show-in-events", 4, G_TYPE_STRING, G_TYPE_ARRAY, G_TYPE_POINTER, G_TYPE_UINT);
  signals[SHOW_IN_FUNCTIONS] = SIGNAL ("show-in-functions", 2, G_TYPE_STRING, G_TYPE_POINTER);
#undef SIGNAL
}

static void
lns_view_init (LnsView *self)
{
  g_autoptr (LnsAxis) axis = lns_axis_new ();
  set_axis (self, axis);
  self->further = g_array_new (FALSE, FALSE, sizeof (int64_t));
  self->walk = g_array_new (FALSE, FALSE, sizeof (LnsEventId));
  self->selected = LNS_EVENT_NONE;
  self->hovered = LNS_EVENT_NONE;
}
