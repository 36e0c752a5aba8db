/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the parts of a report's page share: the report, the span in view, the selected time, the
 * selected and the hovered event. Main thread only. A report that is being recorded grows: the view's is another snapshot
 * then, so a worker gets a reference on the one that it starts with (model/job.h).
 *
 * Signals, all on the main thread:
 *
 *   grown (LnsReport *before)
 *       the view's report is a newer snapshot of what BEFORE, which is still open, is one of; lanes and their events
 *       have kept their ids
 *   span-changed ()
 *       the zoom, the position or the width
 *   time-selection-changed ()
 *       the band
 *   event-selected (gboolean reveal)
 *       the selected event's values are known; REVEAL: its row is wanted in view
 *   event-failed (const char *message)
 *       the event that was to be selected could not be read
 *   event-hovered ()
 *       the pointer went to another event, or to none
 *   show-in-events (const char *title, GArray *lanes, LnsFacetSet *set, guint facet)
 *       a row's events are wanted in the table; LANES holds uint32_t ids; SET (may be NULL): only
 *       those of its FACET
 *   show-in-functions (const char *title, const bool *threads)
 *       the functions of some threads are wanted; THREADS: by thread instance, whether it is one
 */

#pragma once

#include <gio/gio.h>

#include "src/store/read/facet.h"
#include "src/store/read/report.h"
#include "ui/model/scale.h"

/* One event of one of the reports of a page; lane LNS_ID_NONE means none. */
typedef struct
{
  uint32_t lane;
  uint64_t ordinal;
  guint source; /* number of the report (lns_view_get_source ()): 0 where there is one */
} LnsEventId;

#define LNS_EVENT_NONE ((LnsEventId){ LNS_ID_NONE, 0, 0 })

static inline gboolean
lns_event_id_equal (LnsEventId a, LnsEventId b)
{
  return a.lane == b.lane &&
         (a.lane == LNS_ID_NONE || (a.ordinal == b.ordinal && a.source == b.source));
}

#define LNS_TYPE_VIEW (lns_view_get_type ())
G_DECLARE_FINAL_TYPE (LnsView, lns_view, LNS, VIEW, GObject)

/* A view of REPORT that shows all of it. Takes the report over: it is closed with the view's last
 * reference, so strings of it are valid as long. */
LnsView *lns_view_new (LnsReport *report);

/* Owned by the view, until it grows. */
LnsReport *lns_view_get_report (LnsView *self);

/* What the person opened: FILE (a reference is kept), of which the report may be an import or a copy that was recovered. Until it is set
 * it is the report's own. */
void lns_view_set_file (LnsView *self, GFile *file);

/* A new reference. */
GFile *lns_view_get_file (LnsView *self);

/* Whether the report is being recorded. */
gboolean lns_view_is_live (LnsView *self);

/* Goes on with NEWER, a later snapshot of the view's report, which is taken over. Zoom and selections stay. What shows all shows
 * all of it, and what shows the end of a report that is being recorded moves with the end. */
void lns_view_grow (LnsView *self, LnsReport *newer);

/* --- The span in view ---------------------------------------------------------------------- */

/* The number of the view's report among those of its page, which ids of its events carry: 0 at first. */
guint lns_view_get_source (LnsView *self);
void lns_view_set_source (LnsView *self, guint source);

/* Shows SELF on the axis of OTHER from now on, so that both show the same pixels of it: time 0 of SELF's report is where SHIFT_NS of
 * OTHER's is. */
void lns_view_share_axis (LnsView *self, LnsView *other, int64_t shift_ns);
int64_t lns_view_get_shift_ns (LnsView *self);

/* Gives SELF an axis of its own again. */
void lns_view_leave_axis (LnsView *self);

/* The zoom and position now; WIDTH_PX pixels from scale->first_px on are in view. */
const LnsScale *lns_view_get_scale (LnsView *self);
int lns_view_get_width_px (LnsView *self);

/* The scale at which WIDTH_PX pixels show all events of all reports on the axis, from the first to the last, and a margin. */
void lns_view_fit_width (LnsView *self, int width_px, LnsScale *ret_scale);
int64_t lns_view_get_start_ns (LnsView *self);
int64_t lns_view_get_end_ns (LnsView *self);

/* The span of all events, which the view shows with a margin where it shows everything. */
void lns_view_get_whole (LnsView *self, int64_t *ret_first_ns, int64_t *ret_last_ns);

/* How long the report is, wherever that is told: the time of all events, or that of the recording if it is shorter. */
int64_t lns_view_get_duration_ns (LnsView *self);

/* Sets the width in pixels of the area that shows time. A view that shows all of the report, or a span that was asked for, goes on
 * doing so. */
void lns_view_set_width_px (LnsView *self, int width_px);

/* FACTOR > 1 is closer; what is at X_PX from the left edge stays there. Steps in one direction
 * without a pause of a second are one step to undo. */
void lns_view_zoom_at (LnsView *self, double x_px, double factor);
void lns_view_pan (LnsView *self, int64_t dx_px); /* > 0: later. Never leaves the report       */
void lns_view_show_span (LnsView *self, int64_t start_ns, int64_t end_ns);
/* The same, for the part of a report that is looked at first: what lies before and after it is pointed at until the view moves; and which
 * part that is, as long as it is in view. */
void lns_view_open_at (LnsView *self, int64_t start_ns, int64_t end_ns);
gboolean lns_view_get_opening (LnsView *self, int64_t *ret_start_ns, int64_t *ret_end_ns);
void lns_view_fit (LnsView *self);
gboolean lns_view_shows_all (LnsView *self);
/* Undoes the last zoom, fit or reveal. Returns false if there is none. */
gboolean lns_view_undo_zoom (LnsView *self);
/* Undoes the last lns_view_undo_zoom () since which nothing was zoomed. Returns false if there is none. */
gboolean lns_view_redo_zoom (LnsView *self);
/* For tests: replaces g_get_monotonic_time (). */
void lns_view_set_clock (LnsView *self, gint64 (*now_usec) (void));
gboolean lns_view_can_undo_zoom (LnsView *self);
gboolean lns_view_can_redo_zoom (LnsView *self);

/* --- The selected time --------------------------------------------------------------------- */

/* True and the band [*RET_START_NS, *RET_END_NS] (either may be NULL) where there is one. */
gboolean lns_view_get_time_selection (LnsView *self, int64_t *ret_start_ns, int64_t *ret_end_ns);
void lns_view_set_time_selection (LnsView *self, int64_t start_ns, int64_t end_ns);
/* The same, with what was selected so far beside it, up to LNS_FURTHER_SPANS_MAX spans, the oldest of which go. */
#define LNS_FURTHER_SPANS_MAX 7
void lns_view_add_time_selection (LnsView *self, int64_t start_ns, int64_t end_ns);
/* Span I of those that are selected beside the band, in the order in which they were (either pointer may be NULL); FALSE behind the last
 * one. */
gboolean
lns_view_get_further_span (LnsView *self, guint i, int64_t *ret_start_ns, int64_t *ret_end_ns);
/* Moves the band and leaves the further spans alone. */
void lns_view_move_time_selection (LnsView *self, int64_t start_ns, int64_t end_ns);
void lns_view_clear_time_selection (LnsView *self); /* and the further spans */
/* Zooms to the band and removes it. */
void lns_view_zoom_to_selection (LnsView *self);

/* --- Events -------------------------------------------------------------------------------- */

/* Event ORDINAL of LANE of the view's report. */
static inline LnsEventId
lns_view_event (LnsView *self, uint32_t lane, uint64_t ordinal)
{
  return (LnsEventId){ lane, ordinal, lns_view_get_source (self) };
}

/* Selects event ID of the view's own report (or LNS_EVENT_NONE). A worker reads it; then it is the selected event and
 * event-selected is emitted. A later call replaces one that has not come back. */
void lns_view_select_event (LnsView *self, LnsEventId id);

/* The same, where the event says what a thread does after it, for what the thread does at TIME_NS: it may be blocked, and
 * then, once it was woken, runnable. Other events are selected as they are. */
void lns_view_select_event_at (LnsView *self, LnsEventId id, int64_t time_ns);

/* Selects the event, zooms until it is at least 8 px wide, moves to it, unfolds its row and scrolls the row into
 * view. */
void lns_view_reveal_event (LnsView *self, LnsEventId id);

/* The same for what a thread does at TIME_NS, as lns_view_select_event_at () has it. */
void lns_view_reveal_event_at (LnsView *self, LnsEventId id, int64_t time_ns);

/* Selects and reveals the other end of event ID: the first one that lns_view_get_linked_events () would return. From what a
 * thread did that woke another, the way back is known to where one came from. */
void lns_view_reveal_other_end (LnsView *self, LnsEventId id);

/* What an event is to another one. */
typedef enum
{
  LNS_LINK_LAUNCH, /* the API call that began it, what the call began, or a range and its work  */
  LNS_LINK_WAKER,  /* what a thread did when it woke the other one's                            */
  LNS_LINK_WOKEN   /* the wait that it ended                                                    */
} LnsLinkKind;

/* An event that is tied to the selected one. */
typedef struct
{
  LnsEventId id;
  LnsEvent event;
  int64_t start_ns, end_ns; /* when it is; of a wait the time from START_NS to END_NS           */
  LnsLinkKind kind;
  int64_t woken_ns; /* when the thread was woken, unless KIND is LNS_LINK_LAUNCH                */
} LnsLinkedEvent;

/* The other ends of one event. */
#define LNS_LINKED_EVENTS_MAX 64
typedef struct
{
  GArray
      *events; /* of LnsLinkedEvent: up to LNS_LINKED_EVENTS_MAX, the one looked for first first */
  uint64_t n_all; /* how many there are                                                         */
  bool is_call;   /* the event itself: they are what it began                                   */
  char *words;    /* what they are, "500 × Kernel, 2 × Copy", or which call; or NULL            */
} LnsLinkedEvents;

/* The other ends of the selected event, or NULL if none is selected. Owned by the view, until another event is
 * selected. */
const LnsLinkedEvents *lns_view_get_linked (LnsView *self);

/* Their array, and how many it has, which may be 0. */
const LnsLinkedEvent *lns_view_get_linked_events (LnsView *self, guint *ret_n);

/* Selects and reveals the next one of the events that are tied to the one with which a walk began, or that one itself: DIRECTION is 1 or
 * -1. A walk begins with the selected event, unless that is on the way of the last walk. */
void lns_view_walk_linked (LnsView *self, int direction);

/* Selects and reveals the one that leads from the selected event by KIND, if there is one. */
void lns_view_reveal_linked (LnsView *self, LnsLinkKind kind);

/* The selected event's id, or LNS_EVENT_NONE. RET_EVENT (may be NULL) gets its values. */
LnsEventId lns_view_get_selected_event (LnsView *self, LnsEvent *ret_event);

/* When the selected event is: its own times or, where it says what a thread does after it, the times of that. */
void lns_view_get_selected_times (LnsView *self, int64_t *ret_start_ns, int64_t *ret_end_ns);

LnsEventId lns_view_get_hovered_event (LnsView *self);
void lns_view_set_hovered_event (LnsView *self, LnsEventId id);

/* --- Rows ---------------------------------------------------------------------------------- */

/* Asks for the events of LANES in the table, headed TITLE ("NVTX — main (4711)"); where SET is not NULL,
 * for those of its FACET alone. */
void lns_view_show_in_events (LnsView *self,
                              const char *title,
                              const uint32_t *lanes,
                              unsigned n_lanes,
                              const LnsFacetSet *set,
                              uint32_t facet);

/* Asks for the functions of THREADS (by thread instance), headed TITLE ("main (4711)"). */
void lns_view_show_in_functions (LnsView *self, const char *title, const bool *threads);
