/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/linked-events.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "src/tables/kept-fields.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/lane-look.h"

typedef struct
{
  LnsEventRun run;
  int rank;
} Ranked;

/* How soon a person looks for an event of LANE: the smallest first. */
static int
rank_of (LnsReport *report, uint32_t lane)
{
  const LnsLane *it = &lns_report_lanes (report, NULL)[lane];
  /* Calls by how deep they are nested. */
  return it->kind == LNS_LANE_CUDA_API ? (int)MIN (it->ordinal, 100)
                                       : LNS_LINK_RANK_MAX - lns_lane_look (it->kind)->link_rank;
}

static int
compare_ranked (const void *a, const void *b)
{
  const Ranked *x = a, *y = b;
  return LNS_COMPARE (x->rank, y->rank)
             ?: LNS_COMPARE (x->run.lane, y->run.lane)
             ?: LNS_COMPARE (x->run.ordinal, y->run.ordinal);
}

/* Adds LINKED, whose times are those of its event. */
static void
add (GArray *events, LnsLinkedEvent linked)
{
  linked.start_ns = linked.event.start_ns;
  linked.end_ns = lns_sum (linked.event.start_ns, linked.event.duration_ns);
  g_array_append_val (events, linked);
}

/* --- Ranges and their work on the GPU -------------------------------------------------------- */

LnsEventId
lns_projected_range (LnsReport *report, uint32_t lane, const LnsEvent *event)
{
  uint64_t place = lns_event_extra (report, lane, event, LNS_COLUMN_CORRELATION);
  uint64_t range_lane = lns_event_extra (report, lane, event, LNS_COLUMN_ORIGINAL);
  return place == 0 || range_lane >= LNS_ID_NONE
             ? LNS_EVENT_NONE
             : (LnsEventId){ (uint32_t)range_lane, place - 1, 0 };
}

/* Adds where RANGE was on the GPU according to the projections in LANE. */
static void
add_projected (GArray *events, LnsReport *report, uint32_t lane, LnsEventId range)
{
  uint64_t ordinal = 0, n = lns_report_lane_info (report, lane)->n_events;
  for (LnsLinkedEvent it = { .id = { lane, 0 } };
       lns_report_find_correlation (report, lane, range.ordinal + 1, ordinal, &ordinal, NULL) &&
       ordinal < n;
       ordinal++)
    {
      it.id.ordinal = ordinal;
      if (lns_report_event (report, lane, ordinal, &it.event, NULL) &&
          lns_event_id_equal (lns_projected_range (report, lane, &it.event), range))
        add (events, it);
    }
}

/* Streams before all of them, of streams the one with the most work first. */
static int
compare_projected (gconstpointer a, gconstpointer b, gpointer data)
{
  const LnsLinkedEvent *x = a, *y = b;
  bool x_is_all = lns_event_track (data, x->id.lane)->stream == LNS_ID_NONE;
  bool y_is_all = lns_event_track (data, y->id.lane)->stream == LNS_ID_NONE;
  uint64_t nx = lns_event_extra (data, x->id.lane, &x->event, LNS_COLUMN_COPY_COUNT);
  uint64_t ny = lns_event_extra (data, y->id.lane, &y->event, LNS_COLUMN_COPY_COUNT);
  return LNS_COMPARE (x_is_all, y_is_all)
             ?: LNS_COMPARE (ny, nx)
             ?: LNS_COMPARE (x->id.lane, y->id.lane);
}

static bool
is_range (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP || kind == LNS_LANE_NVTX_START_END;
}

static void
add_projections (GArray *events, LnsReport *report, LnsEventId range)
{
  const LnsTrack *of = lns_event_track (report, range.lane);
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (uint32_t lane = 0; lane < n; lane++)
    {
      const LnsTrack *track = lns_event_track (report, lane);
      if (lanes[lane].kind == LNS_LANE_NVTX_PROJECTED && track->process == of->process &&
          track->domain == of->domain)
        add_projected (events, report, lane, range);
    }
  g_array_sort_with_data (events, compare_projected, report);
}

static void
add_range (GArray *events, LnsReport *report, LnsEventId id)
{
  LnsEvent event;
  if (!lns_report_event (report, id.lane, id.ordinal, &event, NULL))
    return;
  LnsLinkedEvent range = { .id = lns_projected_range (report, id.lane, &event) };
  if (lns_report_event (report, range.id.lane, range.id.ordinal, &range.event, NULL))
    add (events, range);
}

/* --- Threads and who woke them ---------------------------------------------------------------- */

/* The lane in which the states of THREAD are, or LNS_ID_NONE. */
static uint32_t
state_lane (LnsReport *report, uint32_t thread)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (uint32_t lane = 0; lane < n; lane++)
    if (lanes[lane].kind == LNS_LANE_SCHED && lns_event_track (report, lane)->thread == thread)
      return lane;
  return LNS_ID_NONE;
}

/* Adds what the thread did that woke the one of event ID. */
static void
add_waker (GArray *events, LnsReport *report, LnsEventId id)
{
  LnsWaking waking;
  LnsEvent run;
  LnsThreadSpan span;
  if (!lns_waking_find (report, id.lane, id.ordinal, &waking, &run) || waking.thread == LNS_ID_NONE)
    return;
  LnsLinkedEvent waker = { .id = { state_lane (report, waking.thread), 0 },
                           .kind = LNS_LINK_WAKER,
                           .woken_ns = lns_difference (run.start_ns, waking.latency_ns) };
  if (waker.id.lane == LNS_ID_NONE ||
      !lns_thread_span_at (report, waker.id.lane, waker.woken_ns, &span, NULL) ||
      span.state != LNS_STATE_RUNNING)
    return;
  waker.id.ordinal = span.ordinal;
  if (lns_report_event (report, waker.id.lane, waker.id.ordinal, &waker.event, NULL))
    add (events, waker);
}

bool
lns_linked_events_possible (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  /* Projections stand last. */
  return is_range (lanes[lane].kind) ? lanes[n - 1].kind == LNS_LANE_NVTX_PROJECTED
         : lanes[lane].kind == LNS_LANE_SCHED
             ? true /* whether wakers were recorded is told event by event */
             : lns_lane_kind_extra (lanes[lane].kind, LNS_COLUMN_CORRELATION) >= 0;
}

/* --- Calls and what they began --------------------------------------------------------------- */

/* "500 × Kernel, 2 × Copy": what RUNS hold, in their order. */
static char *
count_words (LnsReport *report, const Ranked *runs, size_t n_runs)
{
  uint64_t counts[LNS_N_LANE_KINDS] = { 0 };
  char number[LNS_FORMAT_SIZE];
  GString *words = g_string_new (NULL);
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (size_t i = 0; i < n_runs; i++)
    counts[lanes[runs[i].run.lane].kind] += runs[i].run.n;
  for (size_t i = 0; i < n_runs; i++)
    {
      LnsLaneKind kind = lanes[runs[i].run.lane].kind;
      const char *name = lns_event_kind_name (kind);
      if (counts[kind] == 0 || name == NULL)
        continue;
      g_string_append_printf (words, "%s%s × %s", words->len > 0 ? ", " : "",
                              lns_format_unsigned (counts[kind], number), name);
      counts[kind] = 0;
    }
  return g_string_free (words, FALSE);
}

static char *
call_words (LnsReport *report, const LnsLinkedEvent *call)
{
  g_autofree char *start = lns_event_text_time (call->event.start_ns);
  size_t size_bytes;
  const char *name = lns_report_string (report, call->event.name, &size_bytes);
  name = lns_event_short_name (LNS_NAMES_CALLS, name, &size_bytes);
  g_autofree char *text = lns_display_text (name, size_bytes, TRUE);
  /* Translators: a call and when it was, "cudaLaunchKernel, at 0.001052000 s" */
  return g_strdup_printf (_ ("%s, at %s"), text, start);
}

/* Puts the run that begins first before the others of its rank. */
static void
find_first (LnsReport *report, Ranked *runs, size_t n_runs)
{
  LnsEvent event;
  int64_t first_ns = INT64_MAX;
  size_t first = 0;
  for (size_t i = 0; i < MIN (n_runs, LNS_LINKED_EVENTS_MAX) && runs[i].rank == runs[0].rank; i++)
    if (lns_report_event (report, runs[i].run.lane, runs[i].run.ordinal, &event, NULL) &&
        event.start_ns < first_ns)
      {
        first_ns = event.start_ns;
        first = i;
      }
  if (first > 0)
    {
      Ranked moved = runs[first];
      memmove (&runs[1], &runs[0], first * sizeof *runs);
      runs[0] = moved;
    }
}

/* Adds what the call began, or which calls began what is no call. */
static void
add_correlated (LnsLinkedEvents *self,
                LnsReport *report,
                const LnsCudaLinks *links,
                LnsEventId id,
                bool is_call)
{
  LnsEventRun *runs = NULL;
  size_t n_runs = 0;
  LnsError error = { 0 };
  /* Where a chunk is damaged, its own row says so; there is no other end then. */
  if (!lns_cuda_links_find (links, id.lane, id.ordinal, &runs, &n_runs, &error) || n_runs == 0)
    return;
  g_autofree Ranked *ranked = g_new (Ranked, n_runs);
  for (size_t i = 0; i < n_runs; i++)
    {
      ranked[i] = (Ranked){ runs[i], rank_of (report, runs[i].lane) };
      self->n_all += runs[i].n;
    }
  free (runs);
  qsort (ranked, n_runs, sizeof *ranked, compare_ranked);
  if (is_call)
    find_first (report, ranked, n_runs);
  for (size_t i = 0; i < n_runs; i++)
    for (uint64_t k = 0; k < ranked[i].run.n && self->events->len < LNS_LINKED_EVENTS_MAX; k++)
      {
        LnsLinkedEvent linked = { .id = { ranked[i].run.lane, ranked[i].run.ordinal + k } };
        if (lns_report_event (report, linked.id.lane, linked.id.ordinal, &linked.event, NULL))
          add (self->events, linked);
      }
  if (is_call)
    self->words = count_words (report, ranked, n_runs);
  else if (self->events->len > 0)
    self->words = call_words (report, &g_array_index (self->events, LnsLinkedEvent, 0));
}

LnsLinkedEvents *
lns_linked_events_new (LnsReport *report, const LnsCudaLinks *links, LnsEventId id)
{
  LnsLinkedEvents *self = g_new0 (LnsLinkedEvents, 1);
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  LnsLaneKind kind = id.lane < n_lanes ? lanes[id.lane].kind : LNS_LANE_NONE;
  self->events = g_array_new (FALSE, FALSE, sizeof (LnsLinkedEvent));
  self->is_call = kind == LNS_LANE_CUDA_API;
  if (kind == LNS_LANE_NVTX_PROJECTED)
    add_range (self->events, report, id);
  else if (is_range (kind))
    add_projections (self->events, report, id);
  else if (kind == LNS_LANE_SCHED)
    add_waker (self->events, report, id);
  else
    add_correlated (self, report, links, id, self->is_call);
  self->n_all = MAX (self->n_all, self->events->len);
  return self;
}

void
lns_linked_events_put_first (LnsLinkedEvents *self, const LnsLinkedEvent *linked)
{
  for (guint i = self->events->len; i > 0; i--)
    {
      const LnsLinkedEvent *it = &g_array_index (self->events, LnsLinkedEvent, i - 1);
      if (it->kind == linked->kind && lns_event_id_equal (it->id, linked->id))
        g_array_remove_index (self->events, i - 1);
    }
  g_array_prepend_val (self->events, *linked);
  self->n_all = MAX (self->n_all, self->events->len);
}

void
lns_linked_events_free (LnsLinkedEvents *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->events);
  g_free (self->words);
  g_free (self);
}
