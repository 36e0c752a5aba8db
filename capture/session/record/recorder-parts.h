/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The parts of a recorder, for the recorder and for its test, which plays batches without the thread. */

#pragma once

#include "capture/session/record/keep.h"
#include "capture/session/record/ranges.h"
#include "capture/session/record/recorder.h"

struct LnsRecorder
{
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  LnsBatch *first, *last; /* under the lock: the batches to be done */
  bool is_ending;         /* under the lock */
  bool has_result;        /* under the lock */
  LnsReportResult result; /* under the lock while has_result */
  atomic_size_t queued_bytes;

  /* Used by the thread alone, except where a part says otherwise. */
  LnsBatch *
      waiting; /* their definitions are known; the oldest first. A batch is played when the next one is known */
  LnsRecording recording;
  LnsCaptureRanges ranges;
  LnsKept kept;
};

/* Prepares RECORDER, which is all zero, without its thread. */
void _lns_recorder_init (LnsRecorder *recorder,
                         const LnsWireClockPair *first,
                         const LnsDomainFilter *filter);
