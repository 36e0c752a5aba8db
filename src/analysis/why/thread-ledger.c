/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The ledger of a report without GPU work: of the thread that the program waits for. */

#include <stdlib.h>

#include "src/analysis/why/maker.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* --- Which thread ----------------------------------------------------------------------------- */

/* What THREAD did that a ledger could be made of: the span of its events, and how many they are. */
static uint64_t
span_of_thread (LnsWhyMaker *maker, uint32_t thread, const LnsFilterSpan *within, LnsSpan *ret_span)
{
  const uint64_t n =
      lns_thread_facts_span (maker->facts, thread, &ret_span->start_ns, &ret_span->end_ns);

  if (ret_span->start_ns < within->start_ns)
    ret_span->start_ns = within->start_ns;
  if (ret_span->end_ns > within->end_ns)
    ret_span->end_ns = within->end_ns;
  return ret_span->start_ns < ret_span->end_ns ? n : 0;
}

/* The main thread of PROCESS, or the one with the most events if that has none; LNS_ID_NONE if none has any. */
static uint32_t
main_thread (LnsWhyMaker *maker, uint32_t process, const LnsFilterSpan *within)
{
  uint32_t n, found = LNS_ID_NONE;
  const LnsThread *threads = lns_report_threads (maker->report, &n);
  const int32_t pid = lns_report_processes (maker->report, NULL)[process].pid;
  uint64_t most = 0;
  LnsSpan span;

  for (uint32_t i = 0; i < n; i++)
    {
      if (threads[i].process != process)
        continue;
      const uint64_t n_events = span_of_thread (maker, i, within, &span);
      if (n_events > 0 && threads[i].tid == pid)
        return i;
      if (n_events > most)
        {
          most = n_events;
          found = i;
        }
    }
  return found;
}

typedef struct
{
  int64_t waiting_ns, all_ns;
} Waiting;

static bool
add_waiting (void *data, const LnsDeed *deed)
{
  Waiting *waiting = data;
  const int64_t ns = deed->end_ns - deed->start_ns;

  waiting->all_ns += ns;
  if (deed->doing == LNS_DOING_BLOCKED ||
      (deed->doing == LNS_DOING_OS && deed->class == LNS_CALL_LOCK))
    waiting->waiting_ns += ns;
  return true;
}

/* How long the threads of each process ran, as far as that was recorded. To be freed. O(lanes). */
static int64_t *
cpu_times (LnsReport *report, uint32_t n_processes)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  int64_t *ns = lns_calloc ((size_t)n_processes + 1, sizeof *ns);

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const uint32_t process = lns_track_of (report, i)->process;
      if (lanes[i].kind == LNS_LANE_SCHED && process < n_processes)
        ns[process] = lns_sum (ns[process], lns_report_lane_info (report, i)->busy_ns);
    }
  return ns;
}

/* The child of PROCESS that THREAD waited for, if it did nothing else: a launcher's program, or of a pipeline the part that ran
 * most; or LNS_ID_NONE. */
static uint32_t
awaited_child (
    LnsWhyMaker *maker, uint32_t process, uint32_t thread, const LnsSpan *span, LnsError *error)
{
  uint32_t n, found = LNS_ID_NONE;
  const LnsProcess *processes = lns_report_processes (maker->report, &n);
  Waiting waiting = { 0 };
  int64_t most_ns = -1, *cpu_ns = cpu_times (maker->report, n);

  for (uint32_t i = 0; i < n; i++)
    {
      const int64_t start_ns = processes[i].start_ns != LNS_TIME_UNKNOWN ? processes[i].start_ns
                                                                         : span->start_ns,
                    end_ns = processes[i].end_ns != LNS_TIME_UNKNOWN ? processes[i].end_ns
                                                                     : span->end_ns;
      if (i == process || processes[i].parent != process ||
          end_ns - start_ns < (span->end_ns - span->start_ns) / 2)
        continue;
      /* One that runs less than its parent is no answer to why that waits: more likely it waits for the parent. */
      if (cpu_ns[i] > most_ns && cpu_ns[i] >= cpu_ns[process])
        {
          most_ns = cpu_ns[i];
          found = i;
        }
    }
  free (cpu_ns);
  if (found == LNS_ID_NONE ||
      !lns_thread_facts_walk (maker->facts, thread, span->start_ns, span->end_ns, false,
                              add_waiting, &waiting, error))
    return LNS_ID_NONE;
  return waiting.waiting_ns > waiting.all_ns / 10 * 8 ? found : LNS_ID_NONE;
}

/* --- What it did ------------------------------------------------------------------------------ */

typedef struct
{
  LnsWhyMaker *maker;
  uint32_t thread;
  uint32_t lane; /* of the deed before                                                           */
  uint64_t ordinal;
  /* A call may be told in pieces, as its thread lacked a CPU in between. */
  uint32_t call_lane;
  uint64_t call_ordinal, call_gap, last_gap;
  int64_t not_recorded_ns;
} Telling;

static bool
take_deed (void *data, const LnsDeed *deed)
{
  Telling *telling = data;
  LnsPart part = { .start_ns = deed->start_ns,
                   .end_ns = deed->end_ns,
                   .thread = telling->thread,
                   .call = deed->name,
                   .range = deed->range,
                   .lane = deed->lane,
                   .ordinal = deed->ordinal,
                   .waker = deed->waker,
                   .is_for_python = deed->is_for_python };

  if (deed->name != 0 && deed->lane != LNS_ID_NONE && deed->lane == telling->call_lane &&
      deed->ordinal == telling->call_ordinal)
    telling->maker->gap = telling->call_gap;
  else if (deed->lane == LNS_ID_NONE || deed->lane != telling->lane ||
           deed->ordinal != telling->ordinal)
    telling->maker->gap = ++telling->last_gap;
  if (deed->name != 0)
    {
      telling->call_lane = deed->lane;
      telling->call_ordinal = deed->ordinal;
      telling->call_gap = telling->maker->gap;
    }
  telling->lane = deed->lane;
  telling->ordinal = deed->ordinal;
  switch (deed->doing)
    {
    case LNS_DOING_OVERHEAD:
      part.cause = _lns_why_cause_of_overhead (deed->overhead);
      if (part.cause == LNS_CAUSE_PROFILER) /* whatever the call was */
        part.call = 0;
      break;
    case LNS_DOING_CUDA:
      part.cause = deed->class == LNS_CALL_SYNC || deed->class == LNS_CALL_SYNC_COPY
                       ? LNS_CAUSE_GPU_SYNC
                   : deed->class == LNS_CALL_ALLOCATION ? LNS_CAUSE_ALLOCATION
                   : deed->class == LNS_CALL_MODULE     ? LNS_CAUSE_MODULE_LOAD
                                                        : LNS_CAUSE_DRIVER;
      break;
    case LNS_DOING_MPI:
    case LNS_DOING_OS:
      part.cause = _lns_why_cause_of_call (deed->class);
      break;
    case LNS_DOING_RUNNABLE:
      part.cause = LNS_CAUSE_CPU_CONTENTION;
      part.is_any_place = true;
      break;
    case LNS_DOING_BLOCKED:
      part.cause = _lns_why_cause_of_block (deed);
      break;
    case LNS_DOING_UNKNOWN:
      part.cause = deed->range != 0 ? LNS_CAUSE_CPU_WORK : LNS_CAUSE_NOT_RECORDED;
      part.confidence = LNS_CONFIDENCE_GUESS;
      part.lane = deed->range_lane;
      part.ordinal = deed->range_ordinal;
      telling->not_recorded_ns += deed->end_ns - deed->start_ns;
      break;
    default:
      /* It ran: that is what a thread is for, and what it may do less of. Reports of other tools have MPI calls as ranges. */
      part.cause = deed->range != 0 ? _lns_why_cause_of_call (lns_call_class_of (
                                          lns_thread_facts_classes (telling->maker->facts),
                                          LNS_LANE_MPI_CALL, deed->range))
                                    : LNS_CAUSE_UNKNOWN;
      if (part.cause == LNS_CAUSE_UNKNOWN)
        part.cause = LNS_CAUSE_CPU_WORK;
      part.confidence =
          deed->doing == LNS_DOING_RUNNING ? LNS_CONFIDENCE_CERTAIN : LNS_CONFIDENCE_LIKELY;
      part.lane = deed->range_lane;
      part.ordinal = deed->range_ordinal;
    }
  if (deed->is_likely && part.cause == LNS_CAUSE_LOCK_WAIT)
    part.confidence = LNS_CONFIDENCE_LIKELY;
  _lns_why_add (telling->maker, &part);
  return lns_go_on (telling->maker->cancel, NULL);
}

/* Fills in the other thread of THREAD's process that ran most in SPAN, and what it did, if it ran for much of it. */
static bool
find_meanwhile (LnsWhyMaker *maker,
                uint32_t thread,
                const LnsSpan *span,
                LnsOccupation *ret_meanwhile,
                LnsError *error)
{
  uint32_t n_lanes, found = LNS_ID_NONE;
  const LnsLane *lanes = lns_report_lanes (maker->report, &n_lanes);
  const uint32_t process = lns_report_threads (maker->report, NULL)[thread].process;
  const LnsPart part = { .start_ns = span->start_ns, .end_ns = span->end_ns };
  int64_t most_ns = (span->end_ns - span->start_ns) / 4;

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (maker->report, i);
      const int64_t busy_ns = lns_report_lane_info (maker->report, i)->busy_ns;
      if (lanes[i].kind != LNS_LANE_SCHED || track->process != process || track->thread == thread ||
          busy_ns <= most_ns)
        continue;
      most_ns = busy_ns;
      found = track->thread;
    }
  return found == LNS_ID_NONE ||
         _lns_why_find_occupation (maker, found, &part, 1, ret_meanwhile, error);
}

/* The program that PROCESS became by exec and was for longest: each is a process of the report, with the same pid. */
static uint32_t
longest_program (LnsWhyMaker *maker, uint32_t process, const LnsFilterSpan *within)
{
  uint32_t n, found = process;
  const LnsProcess *processes = lns_report_processes (maker->report, &n);
  int64_t most_ns = -1;

  for (uint32_t i = 0; i < n; i++)
    {
      LnsSpan span = { 0 };
      if (processes[i].pid != processes[process].pid || within->process != LNS_ID_NONE)
        continue;
      const uint32_t thread = main_thread (maker, i, within);
      if (thread != LNS_ID_NONE && span_of_thread (maker, thread, within, &span) > 0 &&
          span.end_ns - span.start_ns > most_ns)
        {
          most_ns = span.end_ns - span.start_ns;
          found = i;
        }
    }
  return found;
}

bool
_lns_why_thread (LnsWhyMaker *maker,
                 const LnsFilterSpan *within,
                 const char *step_range,
                 LnsError *error)
{
  uint32_t n, thread = LNS_ID_NONE, process = 0;
  LnsSpan span = { 0 };
  char text[LNS_WHY_NS_SIZE];

  lns_report_processes (maker->report, &n);
  if (within->process != LNS_ID_NONE)
    process = within->process;
  for (; process < n && thread == LNS_ID_NONE; process++)
    {
      thread = main_thread (maker, process, within);
      if (thread != LNS_ID_NONE || within->process != LNS_ID_NONE)
        break;
    }
  if (thread == LNS_ID_NONE)
    return true;
  process = longest_program (maker, process, within);
  thread = main_thread (maker, process, within);
  span_of_thread (maker, thread, within, &span);
  for (unsigned depth = 0; depth < 4; depth++)
    {
      const uint32_t child = awaited_child (maker, process, thread, &span, error);
      const uint32_t next = child != LNS_ID_NONE ? main_thread (maker, child, within) : LNS_ID_NONE;
      if (next == LNS_ID_NONE)
        break;
      process = longest_program (maker, child, within);
      thread = main_thread (maker, process, within);
      span_of_thread (maker, thread, within, &span);
    }
  if (!_lns_why_find_steps (maker, thread, within, &span, step_range, error))
    return false;
  LnsLedger *ledger = _lns_why_begin_ledger (maker, &span);
  ledger->process = process;
  ledger->thread = thread;
  ledger->n_processes = 1;
  Telling telling = { .maker = maker,
                      .thread = thread,
                      .lane = LNS_ID_NONE,
                      .call_lane = LNS_ID_NONE,
                      .last_gap = maker->gap };
  if (!_lns_why_walk (maker, thread, span.start_ns, span.end_ns, take_deed, &telling, error) ||
      !lns_go_on (maker->cancel, error))
    return false;
  const int64_t unknown_ns = maker->why->ledgers.items[maker->ledger].cause_ns[LNS_CAUSE_UNKNOWN];
  if (unknown_ns > (span.end_ns - span.start_ns) / 2 &&
      !find_meanwhile (maker, thread, &span, &maker->why->meanwhile, error))
    return false;
  if (unknown_ns > (span.end_ns - span.start_ns) / 20)
    _lns_why_abstain (
        maker, &span, N_ ("Record with -t osrt."),
        N_ ("For %s the thread was blocked, and what it waited for was not recorded."),
        _lns_why_ns (unknown_ns, text));
  if (telling.not_recorded_ns > (span.end_ns - span.start_ns) / 100)
    _lns_why_abstain (maker, &span, N_ ("Record with -t osrt,nvtx and --cpuctxsw=process-tree."),
                      N_ ("Whether the thread ran or waited was not recorded for %s."),
                      _lns_why_ns (telling.not_recorded_ns, text));
  return true;
}
