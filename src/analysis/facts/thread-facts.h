/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What one thread did from one time to another, as far as the report tells. Each nanosecond gets the strongest thing that was
 * recorded: a CUDA call, an MPI call, an OS call, a system call, that it waited for a CPU or for something else, that it
 * ran; and which NVTX range it was in. */

#pragma once

#include "src/analysis/facts/call-class.h"
#include "src/analysis/facts/lane-cursor.h"

typedef enum
{
  LNS_DOING_OVERHEAD, /* work of the driver or the profiler that CUPTI tells apart               */
  LNS_DOING_CUDA,     /* a call of the CUDA API                                                  */
  LNS_DOING_MPI,      /* a call of MPI                                                           */
  LNS_DOING_OS, /* a call of the OS runtime, or a system call, that explains where time goes */
  LNS_DOING_RUNNABLE, /* it could have run, and had no CPU                                       */
  LNS_DOING_BLOCKED,  /* it was off its CPU, in no call that was recorded                        */
  LNS_DOING_RUNNING,  /* it was on a CPU, in no such call                                        */
  LNS_DOING_OUTSIDE,  /* in no such call; whether it ran was not recorded                        */
  LNS_DOING_UNKNOWN,  /* not known: neither its OS calls nor its states were recorded            */
} LnsDoing;

/* What a thread did without a change. */
typedef struct
{
  int64_t start_ns, end_ns;
  int64_t whole_ns; /* how long it did so, in whatever ranges                                    */
  LnsDoing doing;
  LnsCallClass class; /* of the call                                                             */
  uint32_t overhead;  /* of LNS_DOING_OVERHEAD: CUpti_ActivityOverheadKind                       */
  uint32_t lane;      /* of the event that tells, or LNS_ID_NONE                                 */
  uint64_t ordinal;   /* the event                                                               */
  uint32_t name; /* string id of the call, or of the CUDA call that overhead is in, or 0         */
  int64_t call_start_ns; /* when the call began                                                  */
  bool is_disk; /* blocked where no signal ends that                                       */
  /* Blocked, or in a call, until the thread gets the lock of Python's interpreter. */
  bool is_for_python;
  uint32_t waker; /* thread that ended the wait, where scheduling tells, or LNS_ID_NONE …    */
  bool is_likely; /* … or whose own end did, as far as times tell (thread-ends.h)            */
  uint32_t range; /* string id of the innermost NVTX range, or 0                             */
  uint32_t range_lane; /* its lane, or LNS_ID_NONE                                               */
  uint64_t range_ordinal;
  int64_t range_start_ns, range_end_ns;
} LnsDeed;

/* Looks at DEED, which is borrowed. Returns whether to go on. */
typedef bool (*LnsDeedFunc) (void *data, const LnsDeed *deed);

typedef struct LnsThreadFacts LnsThreadFacts;

/* The facts of the threads of REPORT (borrowed). To be freed. O(lanes). One thread at a time. */
LnsThreadFacts *lns_thread_facts_new (LnsReport *report);
void lns_thread_facts_free (LnsThreadFacts *facts); /* NULL is fine                             */

LnsCallClasses *lns_thread_facts_classes (LnsThreadFacts *facts);

/* Sets RET_N to in how many samples from FROM_NS to TO_NS THREAD had LOCK to do with the lock of Python's interpreter: 0 as well where
 * Python was not sampled. */
bool lns_thread_facts_python_lock (LnsThreadFacts *facts,
                                   uint32_t thread,
                                   LnsPythonLock lock,
                                   int64_t from_ns,
                                   int64_t to_ns,
                                   unsigned *ret_n,
                                   LnsError *error);

/* How many events of THREAD there are, counters left out, and from when to when; 0: the times mean nothing. O(its lanes). */
uint64_t lns_thread_facts_span (LnsThreadFacts *facts,
                                uint32_t thread,
                                int64_t *ret_start_ns,
                                int64_t *ret_end_ns);

/* Has FUNCTION look at all that THREAD did from FROM_NS to TO_NS, in order, without a hole and without an overlap. With
 * WITH_RANGES deeds are split where the innermost NVTX range changes, too. False and ERROR where a chunk is damaged. Fast
 * where times ascend from call to call. */
bool lns_thread_facts_walk (LnsThreadFacts *facts,
                            uint32_t thread,
                            int64_t from_ns,
                            int64_t to_ns,
                            bool with_ranges,
                            LnsDeedFunc function,
                            void *data,
                            LnsError *error);

/* Finds the innermost NVTX range of THREAD at TIME_NS: DEED gets it, and RET_UNTIL_NS until when it stays the innermost. */
bool lns_thread_facts_range (LnsThreadFacts *facts,
                             uint32_t thread,
                             int64_t time_ns,
                             LnsDeed *deed,
                             int64_t *ret_until_ns,
                             LnsError *error);

/* Finds the innermost NVTX range of THREAD at TIME_NS that lasts for LEAST_NS, so that short ones do not hide what they are in:
 * DEED gets it, or none. Times need not ascend. */
bool lns_thread_facts_long_range (LnsThreadFacts *facts,
                                  uint32_t thread,
                                  int64_t time_ns,
                                  int64_t least_ns,
                                  LnsDeed *deed,
                                  LnsError *error);

/* If the last CUDA call of THREAD that ended before TIME_NS waited for the GPU, or asked again and again whether it is done, RET_END_NS gets when it ended and RET_NAME its
 * name; else they stay as they are. */
bool lns_thread_facts_last_sync (LnsThreadFacts *facts,
                                 uint32_t thread,
                                 int64_t time_ns,
                                 int64_t *ret_end_ns,
                                 uint32_t *ret_name,
                                 LnsError *error);

/* If THREAD was on no CPU at TIME_NS, RET_LANE and RET_ORDINAL get its next event of scheduling, which begins at RET_START_NS; else
 * RET_LANE gets LNS_ID_NONE. */
bool lns_thread_facts_next_run (LnsThreadFacts *facts,
                                uint32_t thread,
                                int64_t time_ns,
                                uint32_t *ret_lane,
                                uint64_t *ret_ordinal,
                                int64_t *ret_start_ns,
                                LnsError *error);

/* The lanes of KIND that THREAD has, RET_N of them. Borrowed. */
const uint32_t *
lns_thread_facts_lanes (LnsThreadFacts *facts, uint32_t thread, LnsLaneKind kind, size_t *ret_n);
