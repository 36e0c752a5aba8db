/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/thread-facts.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/thread-ends.h"
#include "src/analysis/facts/thread-states.h"
#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/kept-fields.h"
#include "src/tables/lanes.h"

/* Sources of calls, the strongest first. Of nested calls the outermost tells. */
enum
{
  CUDA_CALLS,
  MPI_CALLS,
  OS_CALLS,
  SYSTEM_CALLS,
  N_CALLS
};

static const LnsLaneKind call_kinds[N_CALLS] = { LNS_LANE_CUDA_API, LNS_LANE_MPI_CALL,
                                                 LNS_LANE_OS_CALL, LNS_LANE_SYSTEM_CALL };
static const LnsDoing call_doings[N_CALLS] = { LNS_DOING_CUDA, LNS_DOING_MPI, LNS_DOING_OS,
                                               LNS_DOING_OS };

/* Overhead of a process lies in as many lanes as there are at one time: in one for each thread at most. Of more lanes, which
 * only a made-up report has, the rest is not read: each takes a call of walk_overhead (). */
#define MOST_OVERHEADS 1024

typedef struct
{
  LnsLaneKind kind;
  uint32_t lane;
} KindLane;

/* The ranges of a thread in one domain: a lane for each depth. */
typedef struct
{
  uint32_t track;
  LNS_ARRAY (LnsLaneCursor) depths;
  size_t depth; /* how many ranges were open when they were last looked at                       */
} Stack;

typedef struct
{
  LNS_ARRAY (KindLane) lanes;
  bool is_ready; /* the cursors are                                                              */
  LnsLaneCursor calls[N_CALLS];
  LnsLaneCursor states;
  LnsLaneCursor samples;
  LnsLaneCursor python; /* samples of Python                                                     */
  int64_t period_ns; /* between two samples of a thread that runs, or 0                          */
  LNS_ARRAY (LnsLaneCursor) overheads; /* of its process                                         */
  LNS_ARRAY (Stack) stacks;
  bool has_ranges;
  LNS_ARRAY (LnsLaneCursor) open_ranges; /* start/end ranges of its process                      */
  LNS_ARRAY (uint32_t) found; /* by lns_thread_facts_lanes ()                                    */
} Thread;

/* What a process has as a whole. */
typedef struct
{
  LNS_ARRAY (KindLane) lanes; /* of start/end ranges and of overhead                             */
  bool has_os;                /* OS calls of it were recorded                                    */
  bool has_states;            /* when its threads ran was recorded                               */
} OfProcess;

struct LnsThreadFacts
{
  LnsReport *report;
  LnsCallClasses *classes;
  Thread *threads;
  uint32_t n_threads;
  OfProcess *processes;
  uint32_t n_processes;
  LnsThreadEnds *ends;
  /* Of reports of other tools, which may go on without what they say of the system: INT64_MAX in all others. */
  bool has_ends;
  int64_t os_until_ns; /* when the last OS call ended, if calls are known to be missing      */
  int64_t
      system_until_ns; /* when the last OS call, or event of scheduling, did, if long before the end */
};

/* What is told of the system ends early if the rest of the report is longer than this, and than this share of all. */
#define LEAST_REST_NS INT64_C (50000000)
#define LEAST_REST    0.2

/* The domain of what NCCL's plug-in tells (LNS_WIRE_NCCL_DOMAIN): operations that go on after the thread has begun them. It is
 * not in them. */
#define NCCL_DOMAIN "NCCL trace"

/* --- Which lanes ------------------------------------------------------------------------------ */

LnsThreadFacts *
lns_thread_facts_new (LnsReport *report)
{
  LnsThreadFacts *facts = lns_calloc (1, sizeof *facts);
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  facts->report = report;
  facts->classes = lns_call_classes_new (report);
  facts->ends = lns_thread_ends_new (report);
  lns_report_threads (report, &facts->n_threads);
  lns_report_processes (report, &facts->n_processes);
  facts->threads = lns_calloc ((size_t)facts->n_threads + 1, sizeof *facts->threads);
  facts->processes = lns_calloc ((size_t)facts->n_processes + 1, sizeof *facts->processes);
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (report, i);
      OfProcess *process =
          track->process < facts->n_processes ? &facts->processes[track->process] : NULL;
      if (lns_report_lane_info (report, i)->n_events == 0)
        continue;
      if (process != NULL &&
          (lanes[i].kind == LNS_LANE_NVTX_START_END || lanes[i].kind == LNS_LANE_CUDA_OVERHEAD))
        *lns_array_add (&process->lanes) = (KindLane){ lanes[i].kind, i };
      if (track->thread >= facts->n_threads)
        continue;
      *lns_array_add (&facts->threads[track->thread].lanes) = (KindLane){ lanes[i].kind, i };
      if (process != NULL && lanes[i].kind == LNS_LANE_OS_CALL)
        process->has_os = true;
      if (process != NULL && lanes[i].kind == LNS_LANE_SCHED)
        process->has_states = true;
    }
  return facts;
}

void
lns_thread_facts_free (LnsThreadFacts *facts)
{
  if (facts == NULL)
    return;
  for (uint32_t i = 0; i < facts->n_threads; i++)
    {
      Thread *thread = &facts->threads[i];
      for (unsigned k = 0; k < N_CALLS; k++)
        lns_lane_cursor_clear (&thread->calls[k]);
      lns_lane_cursor_clear (&thread->states);
      lns_lane_cursor_clear (&thread->samples);
      lns_lane_cursor_clear (&thread->python);
      for (size_t k = 0; k < thread->stacks.n; k++)
        {
          Stack *stack = &thread->stacks.items[k];
          for (size_t d = 0; d < stack->depths.n; d++)
            lns_lane_cursor_clear (&stack->depths.items[d]);
          lns_array_clear (&stack->depths);
        }
      for (size_t k = 0; k < thread->open_ranges.n; k++)
        lns_lane_cursor_clear (&thread->open_ranges.items[k]);
      for (size_t k = 0; k < thread->overheads.n; k++)
        lns_lane_cursor_clear (&thread->overheads.items[k]);
      lns_array_clear (&thread->open_ranges);
      lns_array_clear (&thread->overheads);
      lns_array_clear (&thread->lanes);
      lns_array_clear (&thread->stacks);
      lns_array_clear (&thread->found);
    }
  for (uint32_t i = 0; i < facts->n_processes; i++)
    lns_array_clear (&facts->processes[i].lanes);
  lns_call_classes_free (facts->classes);
  lns_thread_ends_free (facts->ends);
  free (facts->threads);
  free (facts->processes);
  free (facts);
}

LnsCallClasses *
lns_thread_facts_classes (LnsThreadFacts *facts)
{
  return facts->classes;
}

const uint32_t *
lns_thread_facts_lanes (LnsThreadFacts *facts, uint32_t thread, LnsLaneKind kind, size_t *ret_n)
{
  *ret_n = 0;
  if (thread >= facts->n_threads)
    return NULL;
  Thread *self = &facts->threads[thread];
  self->found.n = 0;
  for (size_t i = 0; i < self->lanes.n; i++)
    if (self->lanes.items[i].kind == kind)
      *lns_array_add (&self->found) = self->lanes.items[i].lane;
  *ret_n = self->found.n;
  return self->found.items;
}

uint64_t
lns_thread_facts_span (LnsThreadFacts *facts,
                       uint32_t thread,
                       int64_t *ret_start_ns,
                       int64_t *ret_end_ns)
{
  uint64_t n = 0;

  *ret_start_ns = INT64_MAX;
  *ret_end_ns = INT64_MIN;
  for (size_t i = 0; thread < facts->n_threads && i < facts->threads[thread].lanes.n; i++)
    {
      const KindLane *lane = &facts->threads[thread].lanes.items[i];
      const LnsLaneInfo *info = lns_report_lane_info (facts->report, lane->lane);
      if (lane->kind == LNS_LANE_COUNTER)
        continue;
      n += info->n_events;
      *ret_start_ns = info->start_ns < *ret_start_ns ? info->start_ns : *ret_start_ns;
      *ret_end_ns = info->end_ns > *ret_end_ns ? info->end_ns : *ret_end_ns;
    }
  return n;
}

/* The outermost lane of KIND that THREAD has, or LNS_ID_NONE. */
static uint32_t
outermost (const LnsThreadFacts *facts, const Thread *thread, LnsLaneKind kind)
{
  const LnsLane *lanes = lns_report_lanes (facts->report, NULL);
  uint32_t found = LNS_ID_NONE;

  for (size_t i = 0; i < thread->lanes.n; i++)
    {
      const uint32_t lane = thread->lanes.items[i].lane;
      if (thread->lanes.items[i].kind == kind &&
          (found == LNS_ID_NONE || lanes[lane].ordinal < lanes[found].ordinal))
        found = lane;
    }
  return found;
}

/* Whether the ranges of LANE tell where their thread is. */
static bool
is_of_thread (const LnsThreadFacts *facts, uint32_t lane)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (facts->report, &n);
  const LnsTrack *track = lns_track_of (facts->report, lane);

  return track->domain >= n ||
         strcmp (lns_report_string (facts->report, domains[track->domain].name, NULL),
                 NCCL_DOMAIN) != 0;
}

/* Adds cursors over what the process of thread NUMBER has as a whole. */
static void
add_of_process (LnsThreadFacts *facts, Thread *thread, uint32_t number)
{
  const OfProcess *process =
      &facts->processes[lns_report_threads (facts->report, NULL)[number].process];

  for (size_t i = 0; i < process->lanes.n; i++)
    if (process->lanes.items[i].kind == LNS_LANE_NVTX_START_END &&
        !is_of_thread (facts, process->lanes.items[i].lane))
      continue;
    else if (process->lanes.items[i].kind == LNS_LANE_NVTX_START_END)
      *lns_array_add (&thread->open_ranges) =
          (LnsLaneCursor){ .report = facts->report,
                           .lane = process->lanes.items[i].lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_THREAD) };
    else if (thread->overheads.n < MOST_OVERHEADS)
      *lns_array_add (&thread->overheads) =
          (LnsLaneCursor){ .report = facts->report,
                           .lane = process->lanes.items[i].lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_OVERHEAD_KIND) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_THREAD) };
}

static int
compare_depths (const void *a, const void *b, void *report)
{
  const KindLane *ka = a, *kb = b;
  const LnsLane *lanes = lns_report_lanes (report, NULL);

  return LNS_COMPARE (lanes[ka->lane].track, lanes[kb->lane].track)
             ?: LNS_COMPARE (lanes[ka->lane].ordinal, lanes[kb->lane].ordinal);
}

/* Adds cursors over the ranges of THREAD, by domain and depth. O(n log n). */
static void
add_stacks (LnsThreadFacts *facts, Thread *thread)
{
  const LnsLane *lanes = lns_report_lanes (facts->report, NULL);

  qsort_r (thread->lanes.items, thread->lanes.n, sizeof *thread->lanes.items, compare_depths,
           facts->report);
  for (size_t i = 0; i < thread->lanes.n; i++)
    {
      const KindLane *lane = &thread->lanes.items[i];
      if (lane->kind != LNS_LANE_NVTX_PUSH_POP)
        continue;
      if (thread->stacks.n == 0 ||
          thread->stacks.items[thread->stacks.n - 1].track != lanes[lane->lane].track)
        *lns_array_add (&thread->stacks) = (Stack){ .track = lanes[lane->lane].track };
      *lns_array_add (&thread->stacks.items[thread->stacks.n - 1].depths) = (LnsLaneCursor){
        .report = facts->report, .lane = lane->lane, .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME)
      };
    }
}

static int
compare_times (const void *a, const void *b)
{
  const int64_t *ta = a, *tb = b;
  return LNS_COMPARE (*ta, *tb);
}

/* How far the samples of THREAD lie apart while it runs: what a tenth of the first ones are apart at most. 0 = not known. */
static int64_t
sample_period (LnsThreadFacts *facts, Thread *thread)
{
  int64_t gaps[256];
  LnsLaneCursor cursor = { .report = facts->report, .lane = thread->samples.lane };
  size_t n = 0;

  if (cursor.lane == LNS_ID_NONE || !lns_lane_cursor_go (&cursor, 0, NULL))
    return 0;
  while (lns_lane_cursor_has (&cursor) && n < sizeof gaps / sizeof *gaps)
    {
      const int64_t before_ns = lns_lane_cursor_start (&cursor);
      if (!lns_lane_cursor_next (&cursor, NULL) || !lns_lane_cursor_has (&cursor))
        break;
      gaps[n++] = lns_lane_cursor_start (&cursor) - before_ns;
    }
  lns_lane_cursor_clear (&cursor);
  if (n < 4)
    return 0;
  qsort (gaps, n, sizeof *gaps, compare_times);
  return gaps[n / 10];
}

/* The thread of this number with its cursors, or NULL. */
static Thread *
thread_of (LnsThreadFacts *facts, uint32_t number)
{
  if (number >= facts->n_threads)
    return NULL;
  Thread *thread = &facts->threads[number];
  if (thread->is_ready)
    return thread;
  thread->is_ready = true;
  for (unsigned i = 0; i < N_CALLS; i++)
    thread->calls[i] = (LnsLaneCursor){ .report = facts->report,
                                        .lane = outermost (facts, thread, call_kinds[i]),
                                        .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
  thread->states = (LnsLaneCursor){ .report = facts->report,
                                    .lane = outermost (facts, thread, LNS_LANE_SCHED),
                                    .columns = LNS_COLUMN_BIT (LNS_COLUMN_SCHED_IN) |
                                               LNS_COLUMN_BIT (LNS_COLUMN_THREAD_STATE) };
  thread->samples = (LnsLaneCursor){ .report = facts->report,
                                     .lane = outermost (facts, thread, LNS_LANE_CPU_SAMPLE) };
  thread->python = (LnsLaneCursor){ .report = facts->report,
                                    .lane = outermost (facts, thread, LNS_LANE_PYTHON_SAMPLE),
                                    .columns = LNS_COLUMN_BIT (LNS_COLUMN_OPERATION) };
  thread->period_ns = sample_period (facts, thread);
  add_of_process (facts, thread, number);
  add_stacks (facts, thread);
  thread->has_ranges = thread->stacks.n + thread->open_ranges.n > 0;
  return thread;
}

/* A thread that waited for the GPU is on a CPU again after so long at most, unless others have the CPUs. */
#define WAKING_NS INT64_C (100000)

/* A thread that asks whether the GPU is done so often in a row, with pauses no longer than this, waits for it. */
#define LEAST_QUERIES  6
#define QUERY_PAUSE_NS INT64_C (100000)

/* More samples tell no more. */
#define MOST_LOCK_SAMPLES 1000

bool
lns_thread_facts_python_lock (LnsThreadFacts *facts,
                              uint32_t thread,
                              LnsPythonLock lock,
                              int64_t from_ns,
                              int64_t to_ns,
                              unsigned *ret_n,
                              LnsError *error)
{
  const int column = lns_lane_kind_extra (LNS_LANE_PYTHON_SAMPLE, LNS_COLUMN_OPERATION);
  Thread *self = thread_of (facts, thread);

  *ret_n = 0;
  if (self == NULL || self->python.lane == LNS_ID_NONE)
    return true;
  LnsLaneCursor *cursor = &self->python;
  if (!lns_lane_cursor_seek (cursor, from_ns, error))
    return false;
  for (unsigned i = 0; i < MOST_LOCK_SAMPLES && lns_lane_cursor_has (cursor) &&
                       lns_lane_cursor_start (cursor) < to_ns;
       i++)
    {
      *ret_n += lns_chunk_extra (cursor->chunk, column, cursor->i) == (uint64_t)lock;
      if (!lns_lane_cursor_next (cursor, error))
        return false;
    }
  return true;
}

/* --- Walking ---------------------------------------------------------------------------------- */

typedef struct
{
  LnsThreadFacts *facts;
  Thread *thread;
  uint32_t number; /* of the thread                                                              */
  bool with_ranges, has_os, is_over;
  LnsDeedFunc function;
  void *data;
  LnsError *error;
} Walk;

/* Takes the range at which CURSOR is for DEED, if it holds TIME_NS and began after the one that DEED has, or with it and ends
 * before it; and when that may change. */
static void
take_range (const LnsLaneCursor *cursor, int64_t time_ns, LnsDeed *deed, int64_t *until_ns)
{
  const int64_t start_ns = lns_lane_cursor_start (cursor), end_ns = lns_lane_cursor_end (cursor);
  const int64_t change_ns = start_ns > time_ns ? start_ns : end_ns;

  *until_ns = change_ns < *until_ns ? change_ns : *until_ns;
  if (start_ns > time_ns || start_ns < deed->range_start_ns ||
      (deed->range_lane != LNS_ID_NONE && start_ns == deed->range_start_ns &&
       end_ns > deed->range_end_ns))
    return;
  deed->range = cursor->chunk->name[cursor->i];
  deed->range_lane = cursor->lane;
  deed->range_ordinal = lns_lane_cursor_ordinal (cursor);
  deed->range_start_ns = start_ns;
  deed->range_end_ns = end_ns;
}

/* Goes to the first event of CURSOR that is not over at TIME_NS; what has no length is over at once. */
static bool
seek_open (LnsLaneCursor *cursor, int64_t time_ns, LnsError *error)
{
  if (!lns_lane_cursor_seek (cursor, time_ns, error))
    return false;
  while (lns_lane_cursor_has (cursor) && lns_lane_cursor_end (cursor) <= time_ns)
    if (!lns_lane_cursor_next (cursor, error))
      return false;
  return true;
}

/* Sets RET_COVERS to whether a range of depth D of STACK is open at TIME_NS; its cursor is at that, or at the next one. */
static bool
is_open (Stack *stack, size_t d, int64_t time_ns, bool *ret_covers, LnsError *error)
{
  LnsLaneCursor *cursor = &stack->depths.items[d];

  if (!seek_open (cursor, time_ns, error))
    return false;
  *ret_covers = lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) <= time_ns;
  return true;
}

/* Takes the innermost range of STACK at TIME_NS. Where one is open, all that hold it are, so that the depth is found step by
 * step from where it was: mostly it is the same, or one more or less. */
static bool
take_innermost (Stack *stack, int64_t time_ns, LnsDeed *deed, int64_t *until_ns, LnsError *error)
{
  bool covers = true;

  while (stack->depth > 0)
    {
      if (!is_open (stack, stack->depth - 1, time_ns, &covers, error))
        return false;
      if (covers)
        break;
      stack->depth--;
    }
  while (stack->depth < stack->depths.n)
    {
      if (!is_open (stack, stack->depth, time_ns, &covers, error))
        return false;
      if (!covers)
        break;
      stack->depth++;
    }
  /* The range changes when it ends, or when one within it begins. */
  if (stack->depth > 0)
    take_range (&stack->depths.items[stack->depth - 1], time_ns, deed, until_ns);
  if (stack->depth < stack->depths.n && lns_lane_cursor_has (&stack->depths.items[stack->depth]))
    take_range (&stack->depths.items[stack->depth], time_ns, deed, until_ns);
  return true;
}

bool
lns_thread_facts_range (LnsThreadFacts *facts,
                        uint32_t thread,
                        int64_t time_ns,
                        LnsDeed *deed,
                        int64_t *ret_until_ns,
                        LnsError *error)
{
  Thread *self = thread_of (facts, thread);

  deed->range = 0;
  deed->range_lane = LNS_ID_NONE;
  deed->range_start_ns = INT64_MIN;
  *ret_until_ns = INT64_MAX;
  for (size_t i = 0; self != NULL && i < self->stacks.n; i++)
    if (!take_innermost (&self->stacks.items[i], time_ns, deed, ret_until_ns, error))
      return false;
  const int column = lns_lane_kind_extra (LNS_LANE_NVTX_START_END, LNS_COLUMN_THREAD);
  for (size_t i = 0; self != NULL && i < self->open_ranges.n; i++)
    {
      LnsLaneCursor *cursor = &self->open_ranges.items[i];
      if (!seek_open (cursor, time_ns, error))
        return false;
      if (!lns_lane_cursor_has (cursor))
        continue;
      if (lns_chunk_extra (cursor->chunk, column, cursor->i) == thread)
        take_range (cursor, time_ns, deed, ret_until_ns);
      else if (lns_lane_cursor_end (cursor) < *ret_until_ns)
        *ret_until_ns = lns_lane_cursor_end (cursor);
    }
  return true;
}

/* Takes the range at which CURSOR is for DEED if it holds TIME_NS and lasts for LEAST_NS. */
static void
take_long_range (
    const LnsLaneCursor *cursor, int64_t time_ns, int64_t least_ns, LnsDeed *deed, bool *ret_taken)
{
  int64_t until_ns = INT64_MAX;

  *ret_taken = lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) <= time_ns &&
               lns_lane_cursor_end (cursor) - lns_lane_cursor_start (cursor) >= least_ns;
  if (*ret_taken)
    take_range (cursor, time_ns, deed, &until_ns);
}

bool
lns_thread_facts_long_range (LnsThreadFacts *facts,
                             uint32_t thread,
                             int64_t time_ns,
                             int64_t least_ns,
                             LnsDeed *deed,
                             LnsError *error)
{
  Thread *self = thread_of (facts, thread);
  bool is_taken;

  deed->range = 0;
  deed->range_lane = LNS_ID_NONE;
  deed->range_start_ns = INT64_MIN;
  for (size_t i = 0; self != NULL && i < self->stacks.n; i++)
    {
      Stack *stack = &self->stacks.items[i];
      is_taken = false;
      for (size_t d = stack->depths.n; d > 0 && !is_taken; d--)
        {
          if (!seek_open (&stack->depths.items[d - 1], time_ns, error))
            return false;
          take_long_range (&stack->depths.items[d - 1], time_ns, least_ns, deed, &is_taken);
        }
    }
  const int column = lns_lane_kind_extra (LNS_LANE_NVTX_START_END, LNS_COLUMN_THREAD);
  for (size_t i = 0; self != NULL && i < self->open_ranges.n; i++)
    {
      LnsLaneCursor *cursor = &self->open_ranges.items[i];
      if (!seek_open (cursor, time_ns, error))
        return false;
      if (lns_lane_cursor_has (cursor) &&
          lns_chunk_extra (cursor->chunk, column, cursor->i) == thread)
        take_long_range (cursor, time_ns, least_ns, deed, &is_taken);
    }
  return true;
}

/* Sets RET_IS_POLLED to whether the calls up to the one at CURSOR are queries called NAME, one after the other. */
static bool
is_polled (LnsLaneCursor *cursor, uint32_t name, bool *ret_is_polled, LnsError *error)
{
  unsigned n = 1;
  int64_t start_ns = lns_lane_cursor_start (cursor);

  for (uint64_t at = lns_lane_cursor_ordinal (cursor); at > 0 && n < LEAST_QUERIES; n++)
    {
      if (!lns_lane_cursor_go (cursor, --at, error))
        return false;
      if (cursor->chunk->name[cursor->i] != name ||
          lns_difference (start_ns, lns_lane_cursor_end (cursor)) > QUERY_PAUSE_NS)
        break;
      start_ns = lns_lane_cursor_start (cursor);
    }
  *ret_is_polled = n == LEAST_QUERIES;
  return true;
}

bool
lns_thread_facts_last_sync (LnsThreadFacts *facts,
                            uint32_t thread,
                            int64_t time_ns,
                            int64_t *ret_end_ns,
                            uint32_t *ret_name,
                            LnsError *error)
{
  Thread *self = thread_of (facts, thread);
  LnsLaneCursor *cursor = self != NULL ? &self->calls[CUDA_CALLS] : NULL;

  if (cursor == NULL || cursor->lane == LNS_ID_NONE ||
      !lns_lane_cursor_seek (cursor, time_ns, error))
    return cursor == NULL || cursor->lane == LNS_ID_NONE;
  const uint64_t n = lns_report_lane_info (facts->report, cursor->lane)->n_events;
  const uint64_t at = lns_lane_cursor_has (cursor) ? lns_lane_cursor_ordinal (cursor) : n;
  if (at == 0 || (lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) < time_ns))
    return true;
  if (!lns_lane_cursor_go (cursor, at - 1, error))
    return false;
  const uint32_t name = cursor->chunk->name[cursor->i];
  const int64_t end_ns = lns_lane_cursor_end (cursor);
  const LnsCallClass class = lns_call_class_of (facts->classes, LNS_LANE_CUDA_API, name);
  bool waited = class == LNS_CALL_SYNC || class == LNS_CALL_SYNC_COPY;
  if (class == LNS_CALL_QUERY && !is_polled (cursor, name, &waited, error))
    return false;
  if (waited)
    {
      *ret_end_ns = end_ns;
      *ret_name = name;
    }
  return at == n || lns_lane_cursor_go (cursor, at, error); /* where whoever walks was */
}

/* Has the function look at DEED, range by range. */
static bool
tell (Walk *walk, LnsDeed *deed)
{
  const int64_t end_ns = deed->end_ns;
  int64_t until_ns = INT64_MAX;

  deed->whole_ns = end_ns - deed->start_ns;
  deed->range_lane = LNS_ID_NONE;
  while (!walk->is_over && deed->start_ns < end_ns)
    {
      if (walk->with_ranges && !lns_thread_facts_range (walk->facts, walk->number, deed->start_ns,
                                                        deed, &until_ns, walk->error))
        return false;
      deed->end_ns = until_ns < end_ns ? until_ns : end_ns;
      walk->is_over = !walk->function (walk->data, deed);
      deed->start_ns = deed->end_ns;
    }
  return true;
}

/* Sets RET_RUNS to whether samples found the thread on a CPU for most of the time from FROM_NS to TO_NS. */
static bool
is_sampled (Walk *walk, int64_t from_ns, int64_t to_ns, bool *ret_runs)
{
  LnsLaneCursor *cursor = &walk->thread->samples;
  const int64_t period_ns = walk->thread->period_ns;

  *ret_runs = false;
  if (period_ns <= 0 || (to_ns - from_ns) / 2 < period_ns)
    return true;
  if (!lns_lane_cursor_seek (cursor, from_ns, walk->error))
    return false;
  const uint64_t first = lns_lane_cursor_has (cursor) ? lns_lane_cursor_ordinal (cursor) : 0;
  if (!lns_lane_cursor_has (cursor) || !lns_lane_cursor_seek (cursor, to_ns, walk->error))
    return lns_lane_cursor_has (cursor) || walk->error == NULL ||
           walk->error->domain == LNS_ERROR_NONE;
  const uint64_t end = lns_lane_cursor_has (cursor)
                           ? lns_lane_cursor_ordinal (cursor)
                           : lns_report_lane_info (walk->facts->report, cursor->lane)->n_events;
  *ret_runs = (double)(end - first) * (double)period_ns >= 0.5 * (double)(to_ns - from_ns);
  return true;
}

/* When the last event of LANE ends, as far as it tells. */
static int64_t
last_of (LnsReport *report, uint32_t lane)
{
  const uint64_t n = lns_report_lane_info (report, lane)->n_events;
  LnsEvent event;

  if (n == 0 || !lns_report_event (report, lane, n - 1, &event, NULL))
    return INT64_MIN;
  return (event.flags & LNS_EVENT_OPEN_END) != 0 ? event.start_ns
                                                 : lns_sum (event.start_ns, event.duration_ns);
}

/* Whether a diagnostic says that calls of the OS may be missing. */
static bool
lacks_os_calls (LnsReport *report)
{
  uint32_t n;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (strstr (lns_report_string (report, diagnostics[i].text, NULL), "OS runtime") != NULL)
      return true;
  return false;
}

/* Finds up to when the report tells of the system. Once. O(lanes). */
static void
find_ends (LnsThreadFacts *facts)
{
  const LnsReportInfo *info = lns_report_info (facts->report);
  const double all_ns = (double)info->end_ns - (double)info->start_ns;
  int64_t os_ns = INT64_MIN, states_ns = INT64_MIN;
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (facts->report, &n_lanes);

  if (facts->has_ends)
    return;
  facts->has_ends = true;
  facts->os_until_ns = facts->system_until_ns = INT64_MAX;
  if (lns_report_meta (facts->report, "imported_from") == NULL)
    return;
  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_SCHED || lanes[i].kind == LNS_LANE_OS_CALL)
      {
        int64_t *last_ns = lanes[i].kind == LNS_LANE_SCHED ? &states_ns : &os_ns;
        const int64_t ns = last_of (facts->report, i);
        *last_ns = ns > *last_ns ? ns : *last_ns;
      }
  const int64_t system_ns = os_ns > states_ns ? os_ns : states_ns;
  const double rest_ns = (double)info->end_ns - (double)system_ns;
  if (lacks_os_calls (facts->report))
    facts->os_until_ns = os_ns;
  if (system_ns != INT64_MIN && rest_ns > LEAST_REST_NS && rest_ns > LEAST_REST * all_ns)
    facts->system_until_ns = system_ns;
}

/* What is told where no state is known: that the thread was in CALL, or in none. */
static LnsDeed
without_state (const Walk *walk, const LnsDeed *call, int64_t start_ns, int64_t end_ns)
{
  LnsDeed deed = { .doing = walk->has_os ? LNS_DOING_OUTSIDE : LNS_DOING_UNKNOWN,
                   .lane = LNS_ID_NONE,
                   .waker = LNS_ID_NONE };

  if (call != NULL)
    deed = *call;
  else if (deed.doing == LNS_DOING_OUTSIDE)
    {
      find_ends (walk->facts);
      if (start_ns >= walk->facts->system_until_ns)
        deed.doing = LNS_DOING_UNKNOWN;
    }
  deed.start_ns = start_ns;
  deed.end_ns = end_ns;
  return deed;
}

/* The whole of a thread without states from FROM_NS to TO_NS. */
static bool
walk_without_states (Walk *walk, int64_t from_ns, int64_t to_ns, const LnsDeed *call)
{
  LnsDeed deed = without_state (walk, call, from_ns, to_ns);
  bool runs = false;

  if (call == NULL && !is_sampled (walk, from_ns, to_ns, &runs))
    return false;
  if (runs)
    deed.doing = LNS_DOING_OUTSIDE;
  else if (call == NULL && deed.doing == LNS_DOING_OUTSIDE)
    {
      find_ends (walk->facts);
      const int64_t until_ns = walk->facts->os_until_ns;
      if (from_ns < until_ns && until_ns < to_ns)
        {
          deed.end_ns = until_ns;
          if (!tell (walk, &deed))
            return false;
          deed = without_state (walk, NULL, until_ns, to_ns);
        }
      if (until_ns < to_ns)
        deed.doing = LNS_DOING_UNKNOWN;
    }
  return tell (walk, &deed);
}

/* Goes to the event that tells what the thread did at TIME_NS: the last that began by then, or else the first. */
static bool
go_to_state (Walk *walk, int64_t time_ns)
{
  LnsLaneCursor *cursor = &walk->thread->states;
  const uint64_t n = lns_report_lane_info (walk->facts->report, cursor->lane)->n_events;

  if (!lns_lane_cursor_seek (cursor, time_ns, walk->error))
    return false;
  if (!lns_lane_cursor_has (cursor))
    return n == 0 || lns_lane_cursor_go (cursor, n - 1, walk->error);
  return lns_lane_cursor_start (cursor) <= time_ns || lns_lane_cursor_ordinal (cursor) == 0 ||
         lns_lane_cursor_go (cursor, lns_lane_cursor_ordinal (cursor) - 1, walk->error);
}

/* What the thread does after the event at hand. */
static LnsThreadState
state_after (const LnsLaneCursor *cursor)
{
  const uint32_t flags = cursor->chunk->flags != NULL ? cursor->chunk->flags[cursor->i] : 0;
  const int in = lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN),
            state = lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE);

  return lns_thread_state_after (lns_chunk_extra (cursor->chunk, in, cursor->i) != 0,
                                 lns_chunk_extra (cursor->chunk, state, cursor->i), flags);
}

bool
lns_thread_facts_next_run (LnsThreadFacts *facts,
                           uint32_t thread,
                           int64_t time_ns,
                           uint32_t *ret_lane,
                           uint64_t *ret_ordinal,
                           int64_t *ret_start_ns,
                           LnsError *error)
{
  Thread own = { 0 }, *self = thread_of (facts, thread);
  Walk walk = { .facts = facts, .thread = &own, .error = error };
  LnsLaneCursor *cursor = &own.states; /* whoever walks is at the thread's */
  bool good;

  *ret_lane = LNS_ID_NONE;
  if (self == NULL || self->states.lane == LNS_ID_NONE)
    return true;
  *cursor = (LnsLaneCursor){ .report = facts->report,
                             .lane = self->states.lane,
                             .columns = self->states.columns };
  good = go_to_state (&walk, time_ns);
  if (good && lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) <= time_ns &&
      lns_lane_cursor_end (cursor) <= time_ns && state_after (cursor) != LNS_STATE_RUNNING)
    {
      good = lns_lane_cursor_next (cursor, error);
      if (good && lns_lane_cursor_has (cursor))
        {
          *ret_lane = cursor->lane;
          *ret_ordinal = lns_lane_cursor_ordinal (cursor);
          *ret_start_ns = lns_lane_cursor_start (cursor);
        }
    }
  lns_lane_cursor_clear (cursor);
  return good;
}

/* Fills in what the thread did after the event at hand, from the start of DEED to the next event or to its end; and goes to the
 * next event, if the deed lasts until then. RET_IS_EMPTY: the next event begins at once. */
static bool
take_wait (Walk *walk, const LnsDeed *call, LnsDeed *deed, bool *ret_is_empty)
{
  LnsLaneCursor *cursor = &walk->thread->states;
  const uint32_t lane = cursor->lane;
  const uint64_t ordinal = lns_lane_cursor_ordinal (cursor);
  const int64_t at_ns = deed->start_ns, since_ns = lns_lane_cursor_start (cursor);
  LnsThreadState state = state_after (cursor);
  int64_t woken_ns = INT64_MAX;
  LnsWaking waking;
  LnsEvent run;

  if (!lns_lane_cursor_next (cursor, walk->error))
    return false;
  const bool has_next = lns_lane_cursor_has (cursor);
  const int64_t next_ns = has_next ? lns_lane_cursor_start (cursor) : INT64_MAX;
  *ret_is_empty = next_ns <= at_ns;
  if (*ret_is_empty)
    return true;
  const bool is_off =
      has_next && state == LNS_STATE_OFF; /* whatever for                          */
  if (!has_next)
    state = LNS_STATE_UNKNOWN; /* nothing tells how long it lasted */
  unsigned n_for_python = 0;
  if (lns_thread_state_is_blocked (state) && (call == NULL || call->class == LNS_CALL_LOCK) &&
      !lns_thread_facts_python_lock (walk->facts, walk->number, LNS_PYTHON_LOCK_WAITED_FOR, at_ns,
                                     next_ns, &n_for_python, walk->error))
    return false;
  deed->end_ns = next_ns < deed->end_ns ? next_ns : deed->end_ns;
  if (state == LNS_STATE_RUNNABLE)
    woken_ns = INT64_MIN; /* it never stopped being able to run */
  else if (is_off && call == NULL)
    {
      deed->doing = LNS_DOING_BLOCKED;
      deed->lane = lane;
      deed->ordinal = ordinal;
    }
  else if (lns_thread_state_is_blocked (state))
    {
      if (lns_waking_find (walk->facts->report, lane, ordinal, &waking, &run))
        {
          woken_ns = lns_difference (run.start_ns, waking.latency_ns);
          deed->waker = waking.thread;
        }
      else if (state == LNS_STATE_BLOCKED && has_next &&
               (call == NULL || call->class == LNS_CALL_LOCK))
        {
          deed->waker = lns_thread_ends_find (walk->facts->ends, walk->number, since_ns, next_ns);
          deed->is_likely = deed->waker != LNS_ID_NONE;
        }
      deed->is_for_python = n_for_python > 0;
      if (call == NULL)
        {
          deed->doing = LNS_DOING_BLOCKED;
          deed->is_disk = state == LNS_STATE_UNINTERRUPTIBLE;
          deed->lane = lane;
          deed->ordinal = ordinal;
        }
    }
  const bool is_waking = call != NULL && call->doing == LNS_DOING_CUDA &&
                         lns_difference (deed->end_ns, at_ns) < WAKING_NS;
  if (woken_ns <= at_ns && !is_waking)
    {
      *deed = without_state (walk, NULL, at_ns, deed->end_ns);
      deed->doing = LNS_DOING_RUNNABLE;
      deed->lane = lane;
      deed->ordinal = ordinal;
    }
  else if (woken_ns > at_ns && woken_ns < deed->end_ns)
    deed->end_ns = woken_ns;
  return !has_next || deed->end_ns >= next_ns || lns_lane_cursor_go (cursor, ordinal, walk->error);
}

/* Up to when it is known that the thread ran in the event at hand, which ends at END_NS. */
static int64_t
known_until (Walk *walk, int64_t end_ns)
{
  const LnsLaneCursor *cursor = &walk->thread->states;

  if (cursor->chunk->flags == NULL || (cursor->chunk->flags[cursor->i] & LNS_EVENT_OPEN_END) == 0)
    return end_ns;
  find_ends (walk->facts);
  return walk->facts->system_until_ns;
}

/* The states of a thread from FROM_NS to TO_NS, in which it was in no call; or, in CALL, whether it only lacked a CPU. */
static bool
walk_states (Walk *walk, int64_t from_ns, int64_t to_ns, const LnsDeed *call)
{
  LnsLaneCursor *cursor = &walk->thread->states;

  if (cursor->lane == LNS_ID_NONE)
    return walk_without_states (walk, from_ns, to_ns, call);
  if (!go_to_state (walk, from_ns))
    return false;
  for (int64_t at_ns = from_ns; at_ns < to_ns && !walk->is_over;)
    {
      LnsDeed deed = without_state (walk, call, at_ns, to_ns);
      bool is_empty = false;
      if (!lns_lane_cursor_has (cursor))
        return tell (walk, &deed);
      const int64_t start_ns = lns_lane_cursor_start (cursor),
                    end_ns = lns_lane_cursor_end (cursor);
      if (at_ns < start_ns) /* nothing was recorded before */
        deed.end_ns = start_ns < to_ns ? start_ns : to_ns;
      else if (at_ns < end_ns)
        {
          const int64_t until_ns = known_until (walk, end_ns);
          deed.end_ns = end_ns < to_ns ? end_ns : to_ns;
          if (at_ns < until_ns && until_ns < deed.end_ns)
            deed.end_ns = until_ns;
          if (call == NULL)
            deed.doing = at_ns < until_ns ? LNS_DOING_RUNNING : LNS_DOING_UNKNOWN;
        }
      else if (!take_wait (walk, call, &deed, &is_empty))
        return false;
      if (is_empty)
        continue;
      at_ns = deed.end_ns;
      if (!tell (walk, &deed))
        return false;
    }
  return true;
}

/* What the calls of SOURCE, and weaker things, tell from FROM_NS to TO_NS. */
static bool
walk_calls (Walk *walk, unsigned source, int64_t from_ns, int64_t to_ns)
{
  while (source < N_CALLS && walk->thread->calls[source].lane == LNS_ID_NONE)
    source++;
  if (source == N_CALLS)
    return from_ns >= to_ns || walk_states (walk, from_ns, to_ns, NULL);
  LnsLaneCursor *cursor = &walk->thread->calls[source];
  if (!lns_lane_cursor_seek (cursor, from_ns, walk->error))
    return false;
  while (lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) < to_ns && !walk->is_over)
    {
      const int64_t start_ns = lns_lane_cursor_start (cursor),
                    end_ns = lns_lane_cursor_end (cursor);
      const int64_t begin_ns = start_ns > from_ns ? start_ns : from_ns,
                    finish_ns = end_ns < to_ns ? end_ns : to_ns;
      LnsDeed deed = { .start_ns = begin_ns,
                       .end_ns = finish_ns,
                       .doing = call_doings[source],
                       .lane = cursor->lane,
                       .ordinal = lns_lane_cursor_ordinal (cursor),
                       .name = cursor->chunk->name[cursor->i],
                       .call_start_ns = start_ns,
                       .waker = LNS_ID_NONE };
      deed.class = lns_call_class_of (walk->facts->classes, call_kinds[source], deed.name);
      /* A call that explains nothing is as if it were not there. */
      const bool tells = finish_ns > begin_ns &&
                         (source == CUDA_CALLS ||
                          (deed.class != LNS_CALL_OTHER && deed.class != LNS_CALL_RELEASE));
      if (tells)
        {
          if (from_ns < begin_ns && !walk_calls (walk, source + 1, from_ns, begin_ns))
            return false;
          const bool may_lack_cpu = source != CUDA_CALLS || deed.class == LNS_CALL_SYNC ||
                                    deed.class == LNS_CALL_SYNC_COPY;
          if (!(may_lack_cpu ? walk_states (walk, begin_ns, finish_ns, &deed) : tell (walk, &deed)))
            return false;
          from_ns = finish_ns;
        }
      if (!lns_lane_cursor_next (cursor, walk->error))
        return false;
    }
  return from_ns >= to_ns || walk->is_over || walk_calls (walk, source + 1, from_ns, to_ns);
}

/* Sets RET_NAME to the name of the CUDA call that holds the time from FROM_NS to TO_NS, or to 0. */
static bool
find_call (Walk *walk, int64_t from_ns, int64_t to_ns, uint32_t *ret_name)
{
  LnsLaneCursor *cursor = &walk->thread->calls[CUDA_CALLS];

  *ret_name = 0;
  if (cursor->lane == LNS_ID_NONE)
    return true;
  if (!lns_lane_cursor_seek (cursor, from_ns, walk->error))
    return false;
  if (lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) <= from_ns &&
      lns_lane_cursor_end (cursor) >= to_ns)
    *ret_name = cursor->chunk->name[cursor->i];
  return true;
}

/* What CUPTI tells apart from calls of CUDA, from overhead lane I of the process on; and calls, from FROM_NS to TO_NS. */
static bool
walk_overhead (Walk *walk, size_t i, int64_t from_ns, int64_t to_ns)
{
  const int of_thread = lns_lane_kind_extra (LNS_LANE_CUDA_OVERHEAD, LNS_COLUMN_THREAD),
            of_kind = lns_lane_kind_extra (LNS_LANE_CUDA_OVERHEAD, LNS_COLUMN_OVERHEAD_KIND);

  if (i == walk->thread->overheads.n)
    return from_ns >= to_ns || walk_calls (walk, CUDA_CALLS, from_ns, to_ns);
  LnsLaneCursor *cursor = &walk->thread->overheads.items[i];
  if (!lns_lane_cursor_seek (cursor, from_ns, walk->error))
    return false;
  while (lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) < to_ns && !walk->is_over)
    {
      const int64_t start_ns = lns_lane_cursor_start (cursor),
                    end_ns = lns_lane_cursor_end (cursor);
      LnsDeed deed = { .start_ns = start_ns > from_ns ? start_ns : from_ns,
                       .end_ns = end_ns < to_ns ? end_ns : to_ns,
                       .doing = LNS_DOING_OVERHEAD,
                       .overhead = (uint32_t)lns_chunk_extra (cursor->chunk, of_kind, cursor->i),
                       .lane = cursor->lane,
                       .ordinal = lns_lane_cursor_ordinal (cursor),
                       .call_start_ns = start_ns,
                       .waker = LNS_ID_NONE };
      const int64_t end = deed.end_ns;
      if (deed.start_ns < deed.end_ns &&
          lns_chunk_extra (cursor->chunk, of_thread, cursor->i) == walk->number)
        {
          if (!walk_overhead (walk, i + 1, from_ns, deed.start_ns) ||
              !find_call (walk, deed.start_ns, deed.end_ns, &deed.name) || !tell (walk, &deed))
            return false;
          from_ns = end;
        }
      if (!lns_lane_cursor_next (cursor, walk->error))
        return false;
    }
  return from_ns >= to_ns || walk->is_over || walk_overhead (walk, i + 1, from_ns, to_ns);
}

bool
lns_thread_facts_walk (LnsThreadFacts *facts,
                       uint32_t thread,
                       int64_t from_ns,
                       int64_t to_ns,
                       bool with_ranges,
                       LnsDeedFunc function,
                       void *data,
                       LnsError *error)
{
  Walk walk = { .facts = facts,
                .thread = thread_of (facts, thread),
                .number = thread,
                .function = function,
                .data = data,
                .error = error };

  if (walk.thread == NULL || from_ns >= to_ns)
    return true;
  const uint32_t process = lns_report_threads (facts->report, NULL)[thread].process;
  /* A thread of which nothing of the system was recorded, beside others that have their states, was not recorded. */
  walk.has_os = facts->processes[process].has_os &&
                (!facts->processes[process].has_states || walk.thread->states.lane != LNS_ID_NONE ||
                 walk.thread->calls[OS_CALLS].lane != LNS_ID_NONE);
  walk.with_ranges = with_ranges && walk.thread->has_ranges;
  return walk_overhead (&walk, 0, from_ns, to_ns);
}
