/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The thread that keeps in the report how many events the session has recorded and lost. The recorder says so with each
 * commit, but has to decode and write before it comes to the next one, which takes long where it gets little CPU time.
 * This thread has nothing else to do. */

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/store/write/writer.h"

typedef struct
{
  pthread_t thread;
  bool is_running;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_ending;          /* under the lock, as the next two */
  const LnsWriter *writer; /* of the report that is told; NULL: none */
  LnsTally before;         /* the counts when that report began */
  int64_t t0_ns;           /* CLOCK_MONOTONIC at report time 0 */
  const atomic_ullong *n_begun, *n_lost;
  const atomic_llong *seen_ns; /* CLOCK_MONOTONIC up to which these are counted */
} LnsTeller;

/* Starts the thread of TELLER, which is all zero but for T0_NS and what is counted. Without one, only commits tell. */
void _lns_teller_start (LnsTeller *teller);

/* Ends it. Does nothing if it was not started. */
void _lns_teller_end (LnsTeller *teller);

/* From now on the thread tells the report of WRITER, or none if that is NULL, of what is counted beyond BEFORE. When this has
 * returned, it does not use the former writer any more. */
void _lns_teller_set_report (LnsTeller *teller, const LnsWriter *writer, const LnsTally *before);
