/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Ranges and calls of threads, as they are nested in steps. */

#include <math.h>
#include <stdlib.h>

#include "src/analysis/compare/reader.h"
#include "src/analysis/facts/thread-states.h"
#include "src/base/compare.h"
#include "src/base/hash.h"
#include "src/base/saturate.h"
#include "src/base/search.h"
#include "src/tables/kept-fields.h"
#include "src/tables/lanes.h"

/* Deeper ranges count to the one around them. */
#define MOST_DEPTH 64

/* --- Time without a CPU ----------------------------------------------------------------------- */

/* A time in which a thread could have run and had no CPU. */
typedef struct
{
  int64_t start_ns, end_ns;
  int64_t before_ns; /* of all before it */
} Wait;

typedef LNS_ARRAY (Wait) Waits;

/* How much of the time up to TIME_NS is in WAITS. */
static int64_t
waited_until (const Waits *waits, int64_t time_ns)
{
  const size_t n = LNS_LOWER_BOUND (waits->n, i, waits->items[i].start_ns < time_ns);

  if (n == 0)
    return 0;
  const Wait *last = &waits->items[n - 1];
  return last->before_ns + (time_ns < last->end_ns ? time_ns : last->end_ns) - last->start_ns;
}

static int64_t
waited (const Waits *waits, int64_t from_ns, int64_t to_ns)
{
  return waits->n == 0 ? 0 : waited_until (waits, to_ns) - waited_until (waits, from_ns);
}

static void
add_wait (Waits *waits, int64_t from_ns, int64_t to_ns)
{
  const Wait *last = waits->n > 0 ? &waits->items[waits->n - 1] : NULL;

  if (last != NULL && from_ns < last->end_ns)
    from_ns = last->end_ns;
  /* Before one is added, which may move the last one. */
  const int64_t before_ns = last == NULL ? 0 : last->before_ns + last->end_ns - last->start_ns;
  if (to_ns > from_ns)
    *lns_array_add (waits) = (Wait){ from_ns, to_ns, before_ns };
}

/* Adds when the thread of LANE, one of scheduling, had no CPU, from FROM_NS to TO_NS. */
static bool
read_waits (LnsPartReader *reader,
            uint32_t lane,
            int64_t from_ns,
            int64_t to_ns,
            Waits *waits,
            LnsError *error)
{
  const int in = lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN),
            state_of = lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE);
  LnsLaneCursor cursor = { .report = reader->report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_SCHED_IN) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_THREAD_STATE) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) };
  bool good = lns_lane_cursor_seek (&cursor, from_ns, error);

  /* What the one before says holds until the next. */
  if (good && lns_lane_cursor_has (&cursor) && lns_lane_cursor_ordinal (&cursor) > 0)
    good = lns_lane_cursor_go (&cursor, lns_lane_cursor_ordinal (&cursor) - 1, error);
  while (good && lns_lane_cursor_has (&cursor) && lns_lane_cursor_start (&cursor) < to_ns)
    {
      const uint32_t flags = cursor.chunk->flags == NULL ? 0 : cursor.chunk->flags[cursor.i];
      const LnsThreadState state =
          lns_thread_state_after (lns_chunk_extra (cursor.chunk, in, cursor.i) != 0,
                                  lns_chunk_extra (cursor.chunk, state_of, cursor.i), flags);
      const int64_t end_ns = lns_lane_cursor_end (&cursor);
      const uint64_t ordinal = lns_lane_cursor_ordinal (&cursor);
      good = lns_lane_cursor_next (&cursor, error);
      if (!good || !lns_lane_cursor_has (&cursor))
        break;
      const int64_t next_ns = lns_lane_cursor_start (&cursor);
      LnsWaking waking;
      LnsEvent run;
      if (state == LNS_STATE_RUNNABLE)
        add_wait (waits, end_ns, next_ns);
      else if (lns_thread_state_is_blocked (state) &&
               lns_waking_find (reader->report, lane, ordinal, &waking, &run))
        {
          const int64_t woken_ns = lns_difference (run.start_ns, waking.latency_ns);
          add_wait (waits, woken_ns > end_ns ? woken_ns : end_ns, next_ns);
        }
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

static bool
waits_of (
    LnsPartReader *reader, uint32_t thread, Waits *ret_waits, bool *ret_known, LnsError *error)
{
  const LnsStepTimes *times = reader->times;
  size_t n;
  const uint32_t *lanes = lns_thread_facts_lanes (reader->facts, thread, LNS_LANE_SCHED, &n);
  bool good = true;

  *ret_waits = (Waits){ 0 };
  *ret_known = false;
  for (size_t i = 0; good && i < n; i++)
    if (lns_report_lane_info (reader->report, lanes[i])->n_events > 0)
      {
        *ret_known = true;
        for (size_t step = 0; good && step < times->n; step++)
          good = lns_go_on (reader->cancel, error) &&
                 read_waits (reader, lanes[i], times->spans[step].start_ns,
                             times->spans[step].end_ns, ret_waits, error);
      }
  return good;
}

/* The share of the run for which the main thread of the program had no CPU, by its sums. */
static double
unseen_share (LnsReport *report)
{
  const char *on_cpu = lns_report_meta (report, "main_thread_on_cpu_ns"),
             *no_cpu = lns_report_meta (report, "main_thread_waited_ns");
  const double on_cpu_ns = on_cpu != NULL ? fmax (0, strtod (on_cpu, NULL)) : 0,
               waited_ns = no_cpu != NULL ? fmax (0, strtod (no_cpu, NULL)) : 0;
  return waited_ns > 0 ? waited_ns / (on_cpu_ns + waited_ns) : 0;
}

bool
_lns_part_find_waits (LnsPartReader *reader, LnsError *error)
{
  LnsStepTimes *times = reader->times;
  double sum_ns = 0, waited_ns = 0;
  Waits waits;
  const bool good =
      waits_of (reader, reader->why->steps.thread, &waits, &times->knows_waits, error);

  for (size_t i = 0; good && i < times->n; i++)
    {
      sum_ns += times->ns[i];
      times->waited_ns[i] =
          (double)waited (&waits, times->spans[i].start_ns, times->spans[i].end_ns);
      waited_ns += times->waited_ns[i];
      times->ns[i] -= times->waited_ns[i];
    }
  times->waited_share = sum_ns > 0 ? waited_ns / sum_ns : 0;
  times->unseen_share = times->knows_waits ? 0 : unseen_share (reader->report);
  lns_array_clear (&waits);
  return good;
}

/* --- Ranges and calls ------------------------------------------------------------------------- */

typedef struct
{
  int64_t end_ns;
  uint64_t key;
  uint32_t part;  /* 1 + index, or 0                                                              */
  uint32_t range; /* string id                                                                    */
  bool is_call;
} Open;

/* A thread whose events are read. */
typedef struct
{
  LnsPartReader *reader;
  uint32_t thread;
  uint64_t role;
  bool is_of_steps;
  Waits waits;
  LNS_ARRAY (LnsLaneCursor) cursors;
  Open open[MOST_DEPTH];
  unsigned depth;
} Nesting;

static bool
is_nested (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP || kind == LNS_LANE_CUDA_API ||
         kind == LNS_LANE_LIBRARY_CALL || kind == LNS_LANE_OS_CALL || kind == LNS_LANE_MPI_CALL;
}

static LnsLaneKind
kind_of (const LnsPartReader *reader, const LnsLaneCursor *cursor)
{
  return lns_report_lanes (reader->report, NULL)[cursor->lane].kind;
}

/* The cursor whose event comes first, the longer one of two that begin together; or NULL. */
static LnsLaneCursor *
first_of (Nesting *nesting, int64_t until_ns)
{
  LnsLaneCursor *first = NULL;

  for (size_t i = 0; i < nesting->cursors.n; i++)
    {
      LnsLaneCursor *cursor = &nesting->cursors.items[i];
      if (!lns_lane_cursor_has (cursor) || lns_lane_cursor_start (cursor) >= until_ns)
        continue;
      if (first == NULL || lns_lane_cursor_start (cursor) < lns_lane_cursor_start (first) ||
          (lns_lane_cursor_start (cursor) == lns_lane_cursor_start (first) &&
           lns_lane_cursor_end (cursor) > lns_lane_cursor_end (first)))
        first = cursor;
    }
  return first;
}

/* Adds a call of PART to those of its name in any range. */
static void
add_to_total (
    Nesting *nesting, size_t step, const LnsStepPart *part, double ns, const LnsEvidence *event)
{
  LnsPartReader *reader = nesting->reader;
  const LnsStepPart one = *part;
  const uint64_t keys[] = { LNS_PART_CALL, nesting->role, 1,
                            lns_name_key (reader->report, &reader->names, one.name) };
  bool is_new;
  LnsStepPart *total = _lns_step_part (reader->times, lns_hash (keys, sizeof keys), &is_new);

  if (total == NULL)
    return;
  total->kind = LNS_PART_CALL;
  total->name = one.name;
  total->thread = one.thread;
  total->is_wait = one.is_wait;
  total->is_total = true;
  _lns_step_part_add (total, step, ns, event);
}

/* Adds the event of CURSOR, which begins in STEP. */
static void
add_event (Nesting *nesting, size_t step, const LnsLaneCursor *cursor)
{
  LnsPartReader *reader = nesting->reader;
  const LnsSpan *span = &reader->times->spans[step];
  const bool is_call = kind_of (reader, cursor) != LNS_LANE_NVTX_PUSH_POP;
  const uint32_t name = cursor->chunk->name == NULL ? 0 : cursor->chunk->name[cursor->i];
  const int64_t start_ns = lns_lane_cursor_start (cursor);
  int64_t end_ns = lns_lane_cursor_end (cursor);

  while (nesting->depth > 0 && nesting->open[nesting->depth - 1].end_ns <= start_ns)
    nesting->depth--;
  const Open *around = nesting->depth > 0 ? &nesting->open[nesting->depth - 1] : NULL;
  const bool is_step = reader->times->are_ranges && nesting->is_of_steps && !is_call &&
                       start_ns == span->start_ns && end_ns == span->end_ns;
  if (name == 0 || is_step || start_ns < span->start_ns || nesting->depth == MOST_DEPTH ||
      (around != NULL && around->is_call))
    return;
  const int64_t limit_ns = around != NULL              ? around->end_ns
                           : reader->times->are_ranges ? span->end_ns
                                                       : end_ns;
  end_ns = end_ns < limit_ns ? end_ns : limit_ns;
  const uint64_t keys[] = { is_call ? LNS_PART_CALL : LNS_PART_RANGE, nesting->role,
                            around != NULL ? around->key : 0,
                            lns_name_key (reader->report, &reader->names, name) };
  const uint64_t key = lns_hash (keys, sizeof keys);
  bool is_new;
  LnsStepPart *part = _lns_step_part (reader->times, key, &is_new);
  nesting->open[nesting->depth++] = (Open){ end_ns, key, 0, is_call ? 0 : name, is_call };
  if (part == NULL)
    return;
  nesting->open[nesting->depth - 1].part = (uint32_t)(part - reader->times->parts.items) + 1;
  if (is_new)
    {
      part->kind = is_call ? LNS_PART_CALL : LNS_PART_RANGE;
      part->name = name;
      part->thread = nesting->thread;
      part->parent = around != NULL ? around->part : 0;
      part->range = around != NULL ? around->range : 0;
      part->is_on_thread = nesting->is_of_steps;
      const LnsCallClass class =
          is_call ? lns_call_class_of (reader->classes, kind_of (reader, cursor), name)
                  : LNS_CALL_OTHER;
      part->is_wait = class == LNS_CALL_SYNC || class == LNS_CALL_SYNC_COPY;
    }
  part->is_many_names |= part->name != name;
  const LnsEvidence event = { start_ns, end_ns, cursor->lane, lns_lane_cursor_ordinal (cursor) };
  const double own_ns = (double)(end_ns - start_ns - waited (&nesting->waits, start_ns, end_ns));
  _lns_step_part_add (part, step, own_ns, &event);
  if (is_call)
    add_to_total (nesting, step, part, own_ns, &event);
}

static bool
read_thread (Nesting *nesting, LnsError *error)
{
  LnsPartReader *reader = nesting->reader;
  const LnsStepTimes *times = reader->times;
  LnsLaneCursor *first;
  bool good = true;

  for (size_t step = 0; good && step < times->n; step++)
    {
      good = lns_go_on (reader->cancel, error);
      for (size_t i = 0; good && i < nesting->cursors.n; i++)
        good =
            lns_lane_cursor_seek (&nesting->cursors.items[i], times->spans[step].start_ns, error);
      nesting->depth = 0;
      while (good && (first = first_of (nesting, times->spans[step].end_ns)) != NULL)
        {
          add_event (nesting, step, first);
          good = lns_lane_cursor_next (first, error);
        }
    }
  return good;
}

/* How many of the processes that did anything have a lower number than PROCESS: which rank of several it is. */
static uint32_t
rank_of (LnsPartReader *reader, uint32_t process)
{
  uint32_t n, n_lanes, rank = 0;
  const LnsProcess *processes = lns_report_processes (reader->report, &n);

  lns_report_lanes (reader->report, &n_lanes);
  for (uint32_t i = 0; process < n && i < n; i++)
    {
      bool is_active = false;
      for (uint32_t lane = 0; !is_active && lane < n_lanes; lane++)
        is_active = lns_track_of (reader->report, lane)->process == i &&
                    lns_report_lane_info (reader->report, lane)->n_events > 0;
      rank += is_active && processes[i].pid < processes[process].pid;
    }
  return rank;
}

/* What the thread is, whatever its number: that of the steps, or one of a name in a process that comes so many after that of the
 * steps. */
static uint64_t
role_of (LnsPartReader *reader, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (reader->report, &n);
  const uint32_t of_steps = reader->why->steps.thread;

  if (thread == of_steps || thread >= n)
    return 0;
  const uint64_t parts[] = { rank_of (reader, threads[thread].process) -
                                 (of_steps < n ? rank_of (reader, threads[of_steps].process) : 0),
                             lns_name_key (reader->report, &reader->names, threads[thread].name) };
  return lns_hash (parts, sizeof parts) | 1;
}

bool
_lns_part_read_threads (LnsPartReader *reader, LnsError *error)
{
  uint32_t n_lanes, n_threads;
  const LnsLane *lanes = lns_report_lanes (reader->report, &n_lanes);
  bool good = true;

  lns_report_threads (reader->report, &n_threads);
  for (uint32_t thread = 0; good && thread < n_threads; thread++)
    {
      Nesting nesting = { .reader = reader,
                          .thread = thread,
                          .is_of_steps = thread == reader->why->steps.thread };
      bool is_known;
      for (uint32_t i = 0; i < n_lanes; i++)
        if (is_nested (lanes[i].kind) && lns_track_of (reader->report, i)->thread == thread &&
            lns_report_lane_info (reader->report, i)->n_events > 0)
          *lns_array_add (&nesting.cursors) =
              (LnsLaneCursor){ .report = reader->report,
                               .lane = i,
                               .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                          LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) };
      if (nesting.cursors.n > 0)
        nesting.role = role_of (reader, thread);
      if (nesting.cursors.n > 0)
        good = waits_of (reader, thread, &nesting.waits, &is_known, error) &&
               read_thread (&nesting, error);
      for (size_t i = 0; i < nesting.cursors.n; i++)
        lns_lane_cursor_clear (&nesting.cursors.items[i]);
      lns_array_clear (&nesting.cursors);
      lns_array_clear (&nesting.waits);
    }
  return good;
}
