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
#include "ui/model/linked-events.h"

#define PAD_PX             12 /* beyond the report's ends, so that its first event has an edge */
#define REVEAL_MIN_PX      8
#define REVEAL_PX          96 /* how wide a revealed event becomes if it was under the minimum */
#define UNDO_DEPTH         256
#define BURST_PAUSE_USEC   G_USEC_PER_SEC
#define WIDTH_PX_UNTIL_SET 1000

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
  int64_t first_ns, last_ns; /* what there is to see */

  LnsScale scale;
  int width_px;
  gboolean shows_all; /* refitted when the width changes … */
  gboolean is_framed; /* … as is this span, until the view is moved */
  int64_t frame_start_ns, frame_end_ns;
  int64_t opening_start_ns, opening_end_ns; /* of lns_view_open_at (); empty: none */
  GArray *undo;                             /* of LnsScale, the latest last */
  GArray *redo;                             /* the same, of what was undone */
  int burst; /* direction of the zoom steps that share an undo step: 1, -1, or 0 */
  gint64 burst_usec;
  gint64 (*now_usec) (void);

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

void
lns_view_fit_width (LnsView *self, int width_px, LnsScale *ret_scale)
{
  int inner_px = MAX (width_px - 2 * PAD_PX, 1);
  lns_scale_fit (ret_scale, self->first_ns, self->last_ns, inner_px);
  ret_scale->first_px -= (width_px - inner_px) / 2;
}

/* The report stays in view: neither end can be pulled further in than PAD_PX. */
static void
clamp (LnsView *self, LnsScale *scale)
{
  LnsScale all;
  lns_view_fit_width (self, self->width_px, &all);
  if (scale->ns_per_tile >= all.ns_per_tile)
    {
      *scale = all;
      return;
    }
  int64_t low = lns_scale_px_of (scale, self->first_ns) - PAD_PX;
  int64_t high = lns_scale_px_of (scale, self->last_ns) + PAD_PX - self->width_px;
  scale->first_px = high < low ? (low + high) / 2 : CLAMP (scale->first_px, low, high);
}

static gboolean
scales_equal (const LnsScale *a, const LnsScale *b)
{
  return a->ns_per_tile == b->ns_per_tile && a->first_px == b->first_px;
}

/* FRAMES: the scale shows the span of the frame. */
static void
set_scale (LnsView *self, LnsScale scale, gboolean frames)
{
  LnsScale all;
  clamp (self, &scale);
  lns_view_fit_width (self, self->width_px, &all);
  self->shows_all = scales_equal (&scale, &all);
  self->is_framed = frames && !self->shows_all;
  if (scales_equal (&scale, &self->scale))
    return;
  self->scale = scale;
  g_signal_emit (self, signals[SPAN_CHANGED], 0);
}

static void
push_undo (LnsView *self)
{
  if (self->undo->len == UNDO_DEPTH)
    g_array_remove_index (self->undo, 0);
  g_array_append_val (self->undo, self->scale);
  g_array_set_size (self->redo, 0);
}

/* Goes to SCALE as one step that can be undone. */
static void
jump (LnsView *self, LnsScale scale, gboolean frames)
{
  clamp (self, &scale);
  self->burst = 0;
  if (scales_equal (&scale, &self->scale))
    return;
  push_undo (self);
  set_scale (self, scale, frames);
}

const LnsScale *
lns_view_get_scale (LnsView *self)
{
  return &self->scale;
}

int
lns_view_get_width_px (LnsView *self)
{
  return self->width_px;
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
  return lns_scale_time_of (&self->scale, self->scale.first_px + self->width_px);
}

void
lns_view_set_width_px (LnsView *self, int width_px)
{
  if (width_px < 1 || width_px == self->width_px)
    return;
  self->width_px = width_px;
  LnsScale scale = self->scale;
  if (self->shows_all)
    lns_view_fit_width (self, self->width_px, &scale);
  else if (self->is_framed)
    lns_scale_fit (&scale, self->frame_start_ns, self->frame_end_ns, self->width_px);
  const LnsScale wanted = scale;
  clamp (self, &scale);
  self->shows_all = self->shows_all || scale.ns_per_tile != wanted.ns_per_tile;
  self->scale = scale;
  g_signal_emit (self, signals[SPAN_CHANGED], 0);
}

void
lns_view_zoom_at (LnsView *self, double x_px, double factor)
{
  g_return_if_fail (factor > 0);
  LnsScale scale = self->scale;
  lns_scale_zoom_by (&scale, factor, x_px);
  clamp (self, &scale);
  if (scales_equal (&scale, &self->scale))
    return;

  gint64 now_usec = self->now_usec ();
  int direction = factor > 1 ? 1 : -1;
  if (self->burst != direction || now_usec - self->burst_usec > BURST_PAUSE_USEC)
    push_undo (self);
  self->burst = direction;
  self->burst_usec = now_usec;
  set_scale (self, scale, FALSE);
}

void
lns_view_set_clock (LnsView *self, gint64 (*now_usec) (void))
{
  self->now_usec = now_usec;
}

void
lns_view_pan (LnsView *self, int64_t dx_px)
{
  LnsScale scale = self->scale;
  if (!__builtin_add_overflow (scale.first_px, dx_px, &scale.first_px))
    set_scale (self, scale, FALSE);
  self->burst = 0;
}

void
lns_view_show_span (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  LnsScale scale;
  lns_scale_fit (&scale, MIN (start_ns, end_ns), MAX (start_ns, end_ns), self->width_px);
  self->frame_start_ns = MIN (start_ns, end_ns);
  self->frame_end_ns = MAX (start_ns, end_ns);
  jump (self, scale, TRUE);
}

void
lns_view_open_at (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  self->opening_start_ns = start_ns;
  self->opening_end_ns = end_ns;
  lns_view_show_span (self, start_ns, end_ns);
}

gboolean
lns_view_is_at_opening (LnsView *self)
{
  return self->is_framed && self->opening_start_ns < self->opening_end_ns &&
         self->frame_start_ns == self->opening_start_ns &&
         self->frame_end_ns == self->opening_end_ns;
}

gboolean
lns_view_shows_all (LnsView *self)
{
  return self->shows_all;
}

void
lns_view_fit (LnsView *self)
{
  LnsScale scale;
  lns_view_fit_width (self, self->width_px, &scale);
  jump (self, scale, FALSE);
}

gboolean
lns_view_can_undo_zoom (LnsView *self)
{
  return self->undo->len > 0;
}

gboolean
lns_view_can_redo_zoom (LnsView *self)
{
  return self->redo->len > 0;
}

/* Goes back to the last scale of FROM; the way there again is the last one of TO. */
static gboolean
step_back (LnsView *self, GArray *from, GArray *to)
{
  if (from->len == 0)
    return FALSE;
  LnsScale scale = g_array_index (from, LnsScale, from->len - 1);
  g_array_set_size (from, from->len - 1);
  g_array_append_val (to, self->scale);
  self->burst = 0;
  set_scale (self, scale, FALSE);
  return TRUE;
}

gboolean
lns_view_undo_zoom (LnsView *self)
{
  return step_back (self, self->undo, self->redo);
}

gboolean
lns_view_redo_zoom (LnsView *self)
{
  return step_back (self, self->redo, self->undo);
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
  *ret_start_ns = g_array_index (self->further, int64_t, 2 * i);
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

/* Moves to START_NS … END_NS: closer if that is under REVEAL_MIN_PX wide, and to the middle if it is not seen. */
static void
move_to (LnsView *self, int64_t start_ns, int64_t end_ns)
{
  LnsScale scale = self->scale;
  double width_px = lns_scale_x_of (&scale, end_ns) - lns_scale_x_of (&scale, start_ns);
  if (end_ns > start_ns && width_px < REVEAL_MIN_PX)
    {
      double zoom = (double)lns_difference (end_ns, start_ns) * LNS_TILE_PX / REVEAL_PX;
      lns_scale_zoom_to (&scale, (int64_t)CLAMP (zoom, 1.0, (double)LNS_NS_PER_TILE_MAX), 0);
      width_px = 0;
    }
  double left_px = lns_scale_x_of (&scale, start_ns);
  double right_px = lns_scale_x_of (&scale, end_ns);
  gboolean seen =
      width_px > 0 && left_px < self->width_px - REVEAL_MIN_PX && right_px > REVEAL_MIN_PX;
  if (!seen)
    {
      int64_t first = lns_scale_px_of (&scale, start_ns);
      int64_t last = lns_scale_px_of (&scale, end_ns);
      int64_t event_px = MIN (last - first, self->width_px / 2);
      scale.first_px = first - (self->width_px - event_px) / 2;
    }
  jump (self, scale, FALSE);
}

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
  self->selected = wanted->id;
  self->selected_event = wanted->event;
  self->selected_start_ns = wanted->start_ns;
  self->selected_end_ns = wanted->end_ns;
  g_clear_pointer (&self->linked, lns_linked_events_free);
  self->linked = g_steal_pointer (&wanted->linked);
  if (wanted->reveal)
    move_to (self, wanted->start_ns, wanted->end_ns);
  g_signal_emit (self, signals[EVENT_SELECTED], 0, wanted->reveal);
}

/* Selects what WANTED says. */
static void
select_event (LnsView *self, Selecting wanted)
{
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
  LnsScale scale = self->scale;
  const int64_t end_px = scale.first_px + self->width_px;
  const gboolean follows = lns_view_is_live (self) && !self->is_framed &&
                           end_px >= lns_scale_px_of (&scale, self->last_ns);

  self->source = source_new (newer);
  self->report = newer;
  measure (self);
  if (self->shows_all)
    lns_view_fit_width (self, self->width_px, &scale);
  else if (follows)
    scale.first_px = lns_scale_px_of (&scale, self->last_ns) + PAD_PX - self->width_px;
  g_signal_emit (self, signals[GROWN], 0, before->report);
  source_unref (before);
  if (self->shows_all || follows)
    set_scale (self, scale, FALSE);
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
  lns_view_fit_width (self, self->width_px, &self->scale);
  return self;
}

static void
lns_view_finalize (GObject *object)
{
  LnsView *self = LNS_VIEW (object);
  g_clear_object (&self->selecting);
  g_clear_pointer (&self->undo, g_array_unref);
  g_clear_pointer (&self->redo, g_array_unref);
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
  self->now_usec = g_get_monotonic_time;
  self->width_px = WIDTH_PX_UNTIL_SET;
  self->shows_all = TRUE;
  self->undo = g_array_new (FALSE, FALSE, sizeof (LnsScale));
  self->redo = g_array_new (FALSE, FALSE, sizeof (LnsScale));
  self->further = g_array_new (FALSE, FALSE, sizeof (int64_t));
  self->walk = g_array_new (FALSE, FALSE, sizeof (LnsEventId));
  self->selected = LNS_EVENT_NONE;
  self->hovered = LNS_EVENT_NONE;
}
