/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What all parts of the CUDA engine look at. No lock is held across a call of CUPTI's, and no stream
 * stays entered: CUPTI may give a buffer back, on the same thread, inside of any of its functions.
 *
 * The engine's layers above library.h, which loads CUPTI; each calls only those before it:
 *   engine     this state
 *   records    writes records, and says what keeps something from being recorded
 *   names      of kernels, calls and devices
 *   clock      that of all events, and CUPTI's own where it has one
 *   kinds      which activity CUPTI records
 *   calls      which calls of the program CUPTI tells of
 *   buffers    what CUPTI fills
 *   control    the thread that empties them and obeys the session
 *   callbacks  what CUPTI calls on the program's threads
 *   cuda       starts all of it */

#pragma once

#include "capture/inject/core/process.h"
#include "capture/inject/cuda/library.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  uint64_t generation; /* of the process that the engine runs in; 0: it does not run */
  CUpti_SubscriberHandle subscriber;
  uint32_t control_tid;  /* 0: the thread has not started */
  bool has_thread;       /* of our own: it was made */
  uint32_t n_modules;    /* that were loaded: with each come names of kernels */
  uint32_t names_epoch;  /* grows when names that CUPTI gave out may have gone */
  uint32_t n_compacting; /* threads that are at it */
  uint64_t n_running;    /* kernels that were launched, and are not known to have ended … */
  uint64_t running_sum;  /* … and the sum of their correlations */
  bool has_own_clock;    /* CUPTI's times are not ours: clock.c */
  bool is_over;          /* the session is gone, or the process is at its end */
} LnsCudaEngine;

extern LnsCudaEngine lns_cuda_engine;

/* Whether the engine runs in this very process, not in the one it was forked from. */
static inline bool
lns_cuda_is_here (void)
{
  return lns_cuda_engine.generation != 0 && lns_cuda_engine.generation == lns_process_generation ();
}

static inline const LnsWireOptions *
lns_cuda_options (void)
{
  return &lns_process.pool.header->options;
}
