/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The thread that turns batches into a report: it decodes, writes, and commits each second. The collector
 * feeds it and never waits for it, and drains less while lns_recorder_queued_bytes () is large. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/record/batch.h"
#include "capture/session/record/result.h"
#include "src/base/error.h"

typedef struct LnsRecorder LnsRecorder;

typedef struct
{
  uint64_t n_events, n_lost, n_bytes; /* in the file, as of the last batch */
} LnsRecorderCounters;

/* Starts the thread. Report time 0 is FIRST. NEWS_FD, an eventfd, becomes readable with each news and trouble. */
LnsRecorder *lns_recorder_new (const LnsWireClockPair *first,
                               const LnsDomainFilter *filter,
                               int news_fd,
                               LnsError *error);

/* Ends the thread once all batches are done. Accepts NULL. */
void lns_recorder_free (LnsRecorder *recorder);

/* Takes over BATCH. Any one thread. */
void lns_recorder_push (LnsRecorder *recorder, LnsBatch *batch);

/* Tells how many events of the session were recorded (N_BEGUN), pushed or not, and lost (N_LOST) up to NOW_NS
 * (CLOCK_MONOTONIC). Both only grow. The report keeps them with each commit, so that it tells what it lacks if this
 * process is killed. Any one thread. */
void
lns_recorder_tell_made (LnsRecorder *recorder, int64_t now_ns, uint64_t n_begun, uint64_t n_lost);

/* Has DESCRIBE called with DATA, on the recorder's thread, for each report that is about to end. Call this before
 * the first report begins. */
void lns_recorder_set_describe (LnsRecorder *recorder,
                                void (*describe) (void *data, LnsWriter *report),
                                void *data);

/* Has USED called with DATA, on the recorder's thread, for each GPU that a process uses (lns_decoder_set_gpu_used ()). Call
 * this before any process is recorded. */
void lns_recorder_set_gpu_used (LnsRecorder *recorder,
                                void (*used) (void *data, const char *bus),
                                void *data);

size_t lns_recorder_queued_bytes (const LnsRecorder *recorder);

/* Any thread. */
LnsRecorderCounters lns_recorder_counters (LnsRecorder *recorder);

/* Takes the oldest news. Returns false if there are none. Any thread. */
bool lns_recorder_next_range (LnsRecorder *recorder, LnsRangeNews *ret_news);

/* Takes the error that keeps the report from being written; meanwhile the recorder tries again. There is one for
 * each report at most. Returns false if there is none. Any thread. */
bool lns_recorder_next_trouble (LnsRecorder *recorder, LnsError *ret_trouble);

/* Waits until the recorder has come past an LNS_BATCH_STOP or _CANCEL, and takes its result. */
void lns_recorder_wait (LnsRecorder *recorder, LnsReportResult *ret_result);
