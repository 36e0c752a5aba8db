/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a thread does from one switch of a CPU to the next: a lane of scheduling has an event for each time that the
 * thread runs, and one without length where it stops. What it does between two of the former, the latter tells. */

#pragma once

#include "src/base/array.h"
#include "src/store/read/pixels.h"

typedef enum
{
  LNS_STATE_NONE,            /* it has not begun, or has ended                       */
  LNS_STATE_RUNNING,         /* on a CPU                                             */
  LNS_STATE_RUNNABLE,        /* it could run, but others have the CPUs               */
  LNS_STATE_BLOCKED,         /* it waits for something: a lock, data, a time         */
  LNS_STATE_UNINTERRUPTIBLE, /* the same, and no signal ends that: a disk, …   */
  LNS_STATE_OFF,             /* it does not run; the report does not tell why        */
  LNS_STATE_UNKNOWN,         /* nothing was recorded that tells                      */
  LNS_N_STATES
} LnsThreadState;

typedef struct
{
  LnsThreadState state;
  uint64_t ordinal; /* of the event that says so                                        */
  int64_t start_ns, end_ns;
  uint32_t cpu;       /* that it has, or had last                                         */
  uint32_t call_lane; /* of the call of the OS runtime that it is in, or LNS_ID_NONE       */
  uint64_t call;      /* the call's ordinal in it                                          */
  uint32_t call_name; /* string id, 0 = no call is known                                   */
  uint32_t function;  /* string id of what it ran by most of its samples, 0 = not known    */
} LnsThreadSpan;

typedef LNS_ARRAY (LnsThreadSpan) LnsThreadSpans;

static inline bool
lns_thread_state_is_blocked (LnsThreadState state)
{
  return state == LNS_STATE_BLOCKED || state == LNS_STATE_UNINTERRUPTIBLE;
}

/* The end of an event of KIND with FLAGS from START_NS to END_NS, as far as it is known: another one where a thread was on a
 * CPU when recording stopped, as older reports may have it. */
int64_t lns_states_known_end (
    LnsReport *report, LnsLaneKind kind, uint32_t flags, int64_t start_ns, int64_t end_ns);

/* Cuts what RESULT, which QUERY gave for a lane of KIND, has after what is known of threads and CPUs. Other kinds stay. */
void lns_states_cut (LnsReport *report,
                     LnsLaneKind kind,
                     const LnsPixelQuery *query,
                     LnsPixelResult *result);

/* The state of a thread from an event with FLAGS on: IS_IN if it got a CPU then, or else STATE tells, one of
 * ENUM_SAMPLING_THREAD_STATE. */
static inline LnsThreadState
lns_thread_state_of (bool is_in, uint64_t state, uint32_t flags)
{
  if (is_in)
    return LNS_STATE_RUNNING;
  if (flags & LNS_EVENT_END_UNKNOWN) /* recording stopped, or records were lost */
    return LNS_STATE_UNKNOWN;
  switch (state)
    {
    case 0: /* unknown */
      return LNS_STATE_OFF;
    case 3:
      return LNS_STATE_UNINTERRUPTIBLE;
    case 5: /* terminated */
      return LNS_STATE_NONE;
    case 6: /* unscheduled */
      return LNS_STATE_RUNNABLE;
    default:
      return LNS_STATE_BLOCKED;
    }
}

/* The state of a thread when an event of scheduling with FLAGS is over: STATE tells, as above. If the event was that it got a
 * CPU (IS_IN), nothing says how it left that. */
static inline LnsThreadState
lns_thread_state_after (bool is_in, uint64_t state, uint32_t flags)
{
  if (flags & (LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN))
    return LNS_STATE_UNKNOWN; /* recording stopped, or records were lost */
  return is_in ? LNS_STATE_OFF : lns_thread_state_of (false, state, flags);
}

/* Finds what the thread of LANE, which is one of scheduling, does at TIME_NS, LNS_STATE_UNKNOWN where nothing tells, without
 * the call that it is in. A thread that was blocked is runnable from when it was woken, where that was recorded. Reads at
 * most two chunks. Returns false if one is damaged. O(log events). Any thread. */
bool lns_thread_span_at (
    LnsReport *report, uint32_t lane, int64_t time_ns, LnsThreadSpan *ret_span, LnsError *error);

/* Appends to SPANS what the thread of LANE does where RESULT, which QUERY gave, shows nothing for at least a pixel:
 * ascending, each once, also those that reach out of the window. Returns false if a chunk is damaged. O(pixels × log events),
 * however many switches there are. */
bool lns_thread_spans_query (LnsReport *report,
                             uint32_t lane,
                             const LnsPixelQuery *query,
                             const LnsPixelResult *result,
                             LnsThreadSpans *spans,
                             LnsError *error);

/* Finds the innermost call of the OS runtime that the thread of LANE is in for most of SPAN. Without one, or where it
 * cannot be read, call_name stays 0. O(lanes + log calls). Any thread. */
void lns_thread_span_find_call (LnsReport *report, uint32_t lane, LnsThreadSpan *span);

/* lns_thread_span_at (), with the call that the thread is blocked in. Returns false also if LANE is not one of scheduling, or
 * the thread is not there. Any thread. */
bool lns_thread_span_described (LnsReport *report,
                                uint32_t lane,
                                int64_t time_ns,
                                LnsThreadSpan *ret_span);

/* The state that EVENT of LANE, which is one of scheduling, is called by: that of the thread at TIME_NS or, where that is none,
 * what the event says of it. Any thread. */
LnsThreadState
lns_thread_state_told (LnsReport *report, uint32_t lane, const LnsEvent *event, int64_t time_ns);
