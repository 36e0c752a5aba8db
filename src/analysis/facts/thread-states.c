/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/thread-states.h"

#include <math.h>

#include "src/base/saturate.h"
#include "src/tables/kept-fields.h"

#define CLAMP(value, least, most)                                                                  \
 ((value) > (most) ? (most) : (value) < (least) ? (least) : (value))

static int64_t
earlier (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t
later (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* --- What is known --------------------------------------------------------------------------- */

int64_t
lns_states_known_end (
    LnsReport *report, LnsLaneKind kind, uint32_t flags, int64_t start_ns, int64_t end_ns)
{
  if ((kind != LNS_LANE_SCHED && kind != LNS_LANE_CPU_RUN) || !(flags & LNS_EVENT_OPEN_END))
    return end_ns;
  return CLAMP (lns_report_info (report)->known_ns, start_ns, end_ns);
}

void
lns_states_cut (LnsReport *report,
                LnsLaneKind kind,
                const LnsPixelQuery *query,
                LnsPixelResult *result)
{
  if (kind != LNS_LANE_SCHED && kind != LNS_LANE_CPU_RUN)
    return;
  const int64_t known_ns = lns_report_info (report)->known_ns;
  for (uint32_t i = 0; i < result->n_events; i++)
    {
      LnsPixelEvent *event = &result->events[i];
      const int64_t end_ns = lns_sum (event->start_ns, event->duration_ns);
      event->duration_ns = lns_difference (
          lns_states_known_end (report, kind, event->flags, event->start_ns, end_ns),
          event->start_ns);
    }
  const double known_px =
      ceil ((double)lns_difference (known_ns, query->origin_ns) / query->ns_per_px);
  for (uint32_t p = (uint32_t)CLAMP (known_px, 0.0, (double)query->n_px); p < query->n_px; p++)
    {
      result->pixels[p].busy = 0;
      result->pixels[p].count = 0;
    }
}

/* --- Spans ------------------------------------------------------------------------------------ */

static uint64_t
extra_of (const LnsEvent *event, LnsColumnId column)
{
  return event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, column)];
}

/* What the thread does after EVENT. */
static LnsThreadState
state_after (const LnsEvent *event)
{
  return lns_thread_state_after (extra_of (event, LNS_COLUMN_SCHED_IN) != 0,
                                 extra_of (event, LNS_COLUMN_THREAD_STATE), event->flags);
}

/* When LANE's thread was there, within the report. */
static void
find_life (LnsReport *report, uint32_t lane, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  uint32_t n_threads, n_processes;
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const uint32_t thread = tracks[lns_report_lanes (report, NULL)[lane].track].thread;
  *ret_start_ns = lns_report_info (report)->start_ns;
  *ret_end_ns = lns_report_info (report)->end_ns;
  if (thread >= n_threads)
    return;
  const LnsThread *it = &threads[thread];
  /* An import knows when a thread was named, which is later: it may have run for long. */
  if (it->start_ns != LNS_TIME_UNKNOWN && lns_report_meta (report, "imported_from") == NULL)
    *ret_start_ns = later (*ret_start_ns, it->start_ns);
  if (it->end_ns != LNS_TIME_UNKNOWN)
    *ret_end_ns = earlier (*ret_end_ns, it->end_ns);
  if (it->process < n_processes && processes[it->process].end_ns != LNS_TIME_UNKNOWN)
    *ret_end_ns = earlier (*ret_end_ns, processes[it->process].end_ns);
}

/* When LANE's thread ended in the last program that its process ran before this one, by exec, up to UNTIL_NS: each program is a
 * process of the report. Returns INT64_MIN if there is none. O(threads). */
static int64_t
end_of_last_program (LnsReport *report, uint32_t lane, int64_t until_ns)
{
  uint32_t n_threads, n_processes;
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const uint32_t thread = tracks[lns_report_lanes (report, NULL)[lane].track].thread;
  int64_t last_ns = INT64_MIN;
  if (thread >= n_threads || threads[thread].process >= n_processes)
    return last_ns;
  const LnsProcess *own = &processes[threads[thread].process];
  for (uint32_t i = 0; i < n_threads; i++)
    {
      const LnsThread *it = &threads[i];
      if (i == thread || it->process >= n_processes || it->end_ns == LNS_TIME_UNKNOWN ||
          it->end_ns > until_ns || it->tid != threads[thread].tid ||
          it->target_tid != threads[thread].target_tid || processes[it->process].pid != own->pid ||
          processes[it->process].machine != own->machine)
        continue;
      last_ns = later (last_ns, it->end_ns);
    }
  return last_ns;
}

/* Sets SPAN to what the thread of LANE, whose first event is FIRST, does at TIME_NS before that. */
static void
span_before (
    LnsReport *report, uint32_t lane, int64_t time_ns, const LnsEvent *first, LnsThreadSpan *span)
{
  int64_t start_ns, end_ns;
  find_life (report, lane, &start_ns, &end_ns);
  start_ns = later (start_ns, end_of_last_program (report, lane, first->start_ns));
  span->state = time_ns < start_ns ? LNS_STATE_NONE : LNS_STATE_UNKNOWN;
  span->start_ns = time_ns < start_ns ? INT64_MIN : start_ns;
  span->end_ns = earlier (time_ns < start_ns ? start_ns : INT64_MAX, first->start_ns);
}

/* Cuts SPAN, which nothing ended, to what is known, or to what is not if TIME_NS is there. */
static void
cut_span (LnsReport *report, int64_t time_ns, LnsThreadSpan *span)
{
  const int64_t known_ns = lns_report_info (report)->known_ns;
  if (span->state == LNS_STATE_NONE || known_ns >= span->end_ns)
    return;
  if (time_ns < known_ns)
    span->end_ns = known_ns;
  else
    {
      span->state = LNS_STATE_UNKNOWN;
      span->start_ns = later (span->start_ns, known_ns);
    }
}

/* Sets SPAN to what follows event ORDINAL of LANE, which is BEFORE, at TIME_NS. */
static bool
span_after (LnsReport *report,
            uint32_t lane,
            uint64_t ordinal,
            const LnsEvent *before,
            int64_t time_ns,
            LnsThreadSpan *span,
            LnsError *error)
{
  LnsEvent next;
  const bool is_last = ordinal + 1 >= lns_report_lane_info (report, lane)->n_events;
  if (!is_last && !lns_report_event (report, lane, ordinal + 1, &next, error))
    return false;
  span->state = state_after (before);
  span->ordinal = ordinal;
  span->cpu = (uint32_t)extra_of (before, LNS_COLUMN_CPU);
  span->start_ns = before->start_ns + before->duration_ns;
  int64_t unused;
  if (is_last)
    find_life (report, lane, &unused, &span->end_ns);
  else
    span->end_ns = next.start_ns;
  if (span->end_ns <= span->start_ns)
    span->state = LNS_STATE_NONE;
  if (is_last)
    cut_span (report, time_ns, span);
  return true;
}

/* lns_thread_span_at (), in which a thread is blocked until it runs again, whoever woke it before. */
static bool
whole_span_at (
    LnsReport *report, uint32_t lane, int64_t time_ns, LnsThreadSpan *ret_span, LnsError *error)
{
  const uint64_t n = lns_report_lane_info (report, lane)->n_events;
  uint64_t ordinal;
  LnsEvent event = { 0 };
  *ret_span = (LnsThreadSpan){ .call_lane = LNS_ID_NONE };
  if (!lns_report_find (report, lane, time_ns, &ordinal, error) ||
      (ordinal < n && !lns_report_event (report, lane, ordinal, &event, error)))
    return false;
  const bool is_here = ordinal < n && event.start_ns <= time_ns;
  if (is_here && event.duration_ns > 0)
    {
      ret_span->state = LNS_STATE_RUNNING;
      ret_span->ordinal = ordinal;
      ret_span->cpu = (uint32_t)extra_of (&event, LNS_COLUMN_CPU);
      ret_span->start_ns = event.start_ns;
      ret_span->end_ns = event.start_ns + event.duration_ns;
      if (event.flags & LNS_EVENT_OPEN_END)
        cut_span (report, time_ns, ret_span);
      return true;
    }
  if (!is_here && ordinal == 0)
    {
      if (ordinal < n)
        span_before (report, lane, time_ns, &event, ret_span);
      return true;
    }
  if (!is_here && !lns_report_event (report, lane, --ordinal, &event, error))
    return false;
  if (!span_after (report, lane, ordinal, &event, time_ns, ret_span, error))
    return false;
  if (ret_span->end_ns <= time_ns)
    ret_span->state = LNS_STATE_NONE;
  return true;
}

bool
lns_thread_span_at (
    LnsReport *report, uint32_t lane, int64_t time_ns, LnsThreadSpan *ret_span, LnsError *error)
{
  LnsWaking waking;
  LnsEvent run;
  if (!whole_span_at (report, lane, time_ns, ret_span, error))
    return false;
  if (!lns_thread_state_is_blocked (ret_span->state) ||
      !lns_waking_find (report, lane, ret_span->ordinal, &waking, &run))
    return true;
  const int64_t woken_ns = lns_difference (run.start_ns, waking.latency_ns);
  if (woken_ns < ret_span->start_ns || woken_ns >= ret_span->end_ns)
    return true;
  if (time_ns < woken_ns)
    ret_span->end_ns = woken_ns;
  else
    {
      ret_span->state = LNS_STATE_RUNNABLE;
      ret_span->start_ns = woken_ns;
    }
  return true;
}

bool
lns_thread_spans_query (LnsReport *report,
                        uint32_t lane,
                        const LnsPixelQuery *query,
                        const LnsPixelResult *result,
                        LnsThreadSpans *spans,
                        LnsError *error)
{
  for (uint32_t p = 0; p < query->n_px; p++)
    {
      LnsThreadSpan span;
      if (result->pixels[p].count > 0 || result->pixels[p].busy > 0)
        continue;
      const double middle_ns = floor ((p + 0.5) * query->ns_per_px);
      const int64_t time_ns = lns_sum (query->origin_ns, (int64_t)middle_ns);
      if (!lns_thread_span_at (report, lane, time_ns, &span, error))
        return false;
      if (span.state == LNS_STATE_NONE && span.end_ns <= time_ns)
        {
          /* Until the thread does something, or to the end. */
          while (p + 1 < query->n_px && result->pixels[p + 1].count == 0 &&
                 result->pixels[p + 1].busy <= 0)
            p++;
          continue;
        }
      /* Where times take many pixels, a stretch that is listed may have rounded pixels beside it. */
      if (span.state != LNS_STATE_RUNNING && span.state != LNS_STATE_NONE)
        *lns_array_add (spans) = span;
      const double end_px =
          (double)lns_difference (span.end_ns, query->origin_ns) / query->ns_per_px;
      p = (uint32_t)CLAMP (floor (end_px), (double)p, (double)query->n_px);
    }
  return true;
}

/* Sets the call of SPAN, of LANE, to the innermost one of KIND in which the thread was then, if there is one. */
static void
find_call_of (LnsReport *report, uint32_t lane, LnsLaneKind kind, LnsThreadSpan *span)
{
  uint32_t n_lanes, depth = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  const uint32_t thread = tracks[lanes[lane].track].thread;
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      uint64_t ordinal;
      LnsEvent call;
      if (lanes[i].kind != kind || tracks[lanes[i].track].thread != thread ||
          (span->call_name != 0 && lanes[i].ordinal <= depth))
        continue;
      const int64_t middle_ns = span->start_ns + (span->end_ns - span->start_ns) / 2;
      if (!lns_report_find (report, i, middle_ns, &ordinal, NULL) ||
          ordinal >= lns_report_lane_info (report, i)->n_events ||
          !lns_report_event (report, i, ordinal, &call, NULL) || call.start_ns > middle_ns)
        continue;
      span->call_lane = i;
      span->call = ordinal;
      span->call_name = call.name;
      depth = lanes[i].ordinal;
    }
}

void
lns_thread_span_find_call (LnsReport *report, uint32_t lane, LnsThreadSpan *span)
{
  find_call_of (report, lane, LNS_LANE_OS_CALL, span);
  if (span->call_name == 0)
    find_call_of (report, lane, LNS_LANE_SYSTEM_CALL, span);
}

bool
lns_thread_span_described (LnsReport *report,
                           uint32_t lane,
                           int64_t time_ns,
                           LnsThreadSpan *ret_span)
{
  if (lns_report_lanes (report, NULL)[lane].kind != LNS_LANE_SCHED ||
      !lns_thread_span_at (report, lane, time_ns, ret_span, NULL) ||
      ret_span->state == LNS_STATE_NONE)
    return false;
  if (lns_thread_state_is_blocked (ret_span->state))
    lns_thread_span_find_call (report, lane, ret_span);
  return true;
}

LnsThreadState
lns_thread_state_told (LnsReport *report, uint32_t lane, const LnsEvent *event, int64_t time_ns)
{
  LnsThreadSpan span;
  return lns_thread_span_at (report, lane, time_ns, &span, NULL) && span.state != LNS_STATE_NONE
             ? span.state
             : lns_thread_state_of (extra_of (event, LNS_COLUMN_SCHED_IN) != 0,
                                    extra_of (event, LNS_COLUMN_THREAD_STATE), event->flags);
}
