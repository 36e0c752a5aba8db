/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* State that all parts of the CUDA engine share. During a call of CUPTI no lock is held and no stream is entered, as
 * CUPTI may give a buffer back, on the same thread, inside any of its functions.
 *
 * The engine's layers above library.h, which loads CUPTI; each calls only those before it:
 *   records    holds this state; writes records, and problems that keep something from being recorded
 *   subscriber calls of CUPTI that are made for a subscriber
 *   names      of kernels, calls and devices
 *   clock      the clock of all events, and CUPTI's own if it has one
 *   kinds      the kinds of activity that CUPTI records
 *   calls      the calls of the program for which CUPTI calls back
 *   python     the Python functions among their callers
 *   backtraces their callers
 *   buffers    the buffers that CUPTI fills
 *   topology   how the GPUs of the machine are connected
 *   owner      notices that another client gets what CUPTI records
 *   control    the thread that empties them and obeys the session
 *   cuda       starts the engine, and handles what CUPTI calls on the program's threads */

#pragma once

#include "capture/inject/core/process.h"
#include "capture/inject/cuda/library.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  uint64_t generation; /* of the process that the engine runs in; 0: it does not run */
  CUpti_SubscriberHandle subscriber;
  uint32_t control_tid; /* 0: the thread has not started */
  bool has_thread;      /* the control thread was made */
  uint32_t n_modules;   /* loaded so far; each brings names of kernels */
  uint32_t names_epoch; /* grows when names that CUPTI returned may be gone */
  uint32_t n_visiting; /* threads that are in CUPTI without a call of the program, or about to be */
  uint32_t n_forcing;  /* threads that have CUPTI give back what has not ended … */
  uint64_t asked_ticks; /* … of which the first began then, or a little later; 0: none ever did */
  uint32_t n_compacting; /* threads that are compacting */
  /* The correlation of the last call that another thread than the control thread made to see its record; 0: none. */
  uint32_t mark;
  uint32_t mark_seen;   /* that of the last record of a call of ours */
  uint64_t n_running;   /* launched kernels that are not known to have ended … */
  uint64_t running_sum; /* … and the sum of their correlation ids */
  bool is_shared;       /* other clients of CUPTI can record at the same time: subscriber.h */
  bool has_own_clock;   /* CUPTI's times are by a clock of its own: clock.c */
  bool is_set_up;       /* CUPTI records */
  bool is_disabled;     /* no kind is recorded any more */
  bool is_silent;       /* CUPTI has failed for good: any call would initialise it again */
  bool is_over;         /* the session is gone or the process is ending */
} LnsCudaEngine;

extern LnsCudaEngine lns_cuda_engine;

/* Lets the caller call CUPTI without a call of the program around it, until lns_cuda_leave(); false: the process is ending,
 * and CUPTI is being torn down. The end of the process waits for those who are inside. */
static inline bool
lns_cuda_visit (void)
{
  __atomic_fetch_add (&lns_cuda_engine.n_visiting, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n (&lns_cuda_engine.is_over, __ATOMIC_SEQ_CST))
    return true;
  __atomic_fetch_sub (&lns_cuda_engine.n_visiting, 1, __ATOMIC_SEQ_CST);
  return false;
}

static inline void
lns_cuda_leave (void)
{
  __atomic_fetch_sub (&lns_cuda_engine.n_visiting, 1, __ATOMIC_SEQ_CST);
}

/* Whether the engine runs in this process rather than in the one that it was forked from. */
static inline bool
lns_cuda_is_here (void)
{
  return lns_cuda_engine.generation != 0 && lns_cuda_engine.generation == lns_process_generation ();
}

static inline bool
lns_cuda_is_silent (void)
{
  return __atomic_load_n (&lns_cuda_engine.is_silent, __ATOMIC_ACQUIRE);
}

static inline const LnsWireOptions *
lns_cuda_options (void)
{
  return &lns_process.pool.header->options;
}
