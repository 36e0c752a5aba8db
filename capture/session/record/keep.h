/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that hold only their last seconds (--keep). */

#pragma once

#include "capture/session/record/batch-pack.h"
#include "capture/session/record/recording.h"

/* The batches of such a report: they wait in memory, packed, until they are too old or the report stops. */
typedef struct
{
  void (*play) (void *data, LnsBatch *batch); /* is given batches, in order, to own */
  void *data;
  atomic_size_t *queued_bytes; /* of the recorder; packed bytes are taken off */
  int64_t t0_ns;               /* CLOCK_MONOTONIC of report time 0 */
  int64_t keep_ns;             /* 0: there is no such report */
  int64_t start_ns;            /* CLOCK_MONOTONIC when the report was asked for */
  LnsWriter *writer;           /* of the report; NULL once it has begun */
  LnsBatch *first, *last;      /* the ring, the oldest first */
  size_t n_bytes;              /* memory of the ring */
  size_t max_bytes;            /* that all may take */
  LnsKeptOutcome outcome;      /* of the last such report */
  int priority;                /* that the thread had before */
  LnsPacker *packer;
} LnsKept;

/* Takes BATCH over: plays it, or keeps it if the report holds only its last seconds. */
void _lns_kept_take (LnsKept *kept, LnsBatch *batch);

void _lns_kept_free (LnsKept *kept);
