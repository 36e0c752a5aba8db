/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that hold only their last seconds. */

#pragma once

#include "capture/session/record/batch-pack.h"
#include "capture/session/record/recording.h"

/* What a report that holds only its last seconds is made of. */
typedef struct
{
  void (*play) (void *data, LnsBatch *batch); /* gets batches in their order, to be owned */
  void *data;
  atomic_size_t *queued_bytes; /* what is packed counts no more in it */
  int64_t t0_ns;               /* CLOCK_MONOTONIC of report time 0 */
  int64_t keep_ns;             /* 0: there is none such */
  int64_t start_ns;            /* CLOCK_MONOTONIC of when it was asked for */
  LnsWriter *writer;           /* its own; NULL when it has begun */
  LnsBatch *first, *last;      /* the ring, the oldest first */
  LnsByteQueue queue;          /* their records */
  size_t n_bytes;              /* beside the queue */
  size_t max_bytes;            /* of all: allowed */
  LnsKeptOutcome outcome;      /* of the last one so far */
  int priority;                /* of the thread before */
  LnsPacker *packer;
} LnsKept;

/* Takes BATCH over, and puts it off where only the last seconds are kept. */
void _lns_kept_take (LnsKept *kept, LnsBatch *batch);

void _lns_kept_free (LnsKept *kept);
