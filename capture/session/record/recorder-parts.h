/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a recorder is made of: for itself, and for its test, which plays batches without the thread. */

#pragma once

#include "capture/session/record/keep.h"
#include "capture/session/record/ranges.h"
#include "capture/session/record/recorder.h"

struct LnsRecorder
{
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  LnsBatch *first, *last; /* under the lock: what is to be done */
  bool is_ending;         /* under the lock */
  bool has_result;        /* under the lock */
  LnsReportResult result; /* under the lock while has_result */
  atomic_size_t queued_bytes;

  /* Of the thread alone, but for what says otherwise. */
  LnsBatch *waiting; /* known, the oldest first; each is played when the next one is known */
  LnsRecording recording;
  LnsCaptureRanges ranges;
  LnsKept kept;
};

/* Makes RECORDER, all 0, ready to take batches, but for its thread. False if memory is short. */
bool _lns_recorder_init (LnsRecorder *recorder, const LnsWireClockPair *first);
