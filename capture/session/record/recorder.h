/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The thread that turns batches into a report: decodes, writes, commits each second. The collector
 * feeds it and never waits for it; what it has not done yet is bounded by the caller, who looks at
 * lns_recorder_queued_bytes (). */

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

/* Starts the thread; report time 0 is FIRST. */
LnsRecorder *
lns_recorder_new (const LnsWireClockPair *first, const LnsDomainFilter *filter, LnsError *error);

/* Ends the thread when all batches are done. Accepts NULL. */
void lns_recorder_free (LnsRecorder *recorder);

/* Takes over BATCH. Any one thread. */
void lns_recorder_push (LnsRecorder *recorder, LnsBatch *batch);

/* Says that of all that happened up to NOW_NS (CLOCK_MONOTONIC) N_BEGUN events were recorded, whether
 * they have been pushed or not, and N_LOST are lost: both of the session, and only growing. The report
 * keeps these with each commit, so that it tells what it lacks when this process is killed. Any one
 * thread. */
void
lns_recorder_tell_made (LnsRecorder *recorder, int64_t now_ns, uint64_t n_begun, uint64_t n_lost);

/* Has DESCRIBE called on the recorder's thread, with DATA, for each report that is about to end. To be
 * called before the first one begins. */
void lns_recorder_set_describe (LnsRecorder *recorder,
                                void (*describe) (void *data, LnsWriter *report),
                                void *data);

size_t lns_recorder_queued_bytes (const LnsRecorder *recorder);

/* Any thread. */
LnsRecorderCounters lns_recorder_counters (LnsRecorder *recorder);

/* The next of the news; false if there are none. Any thread. */
bool lns_recorder_next_range (LnsRecorder *recorder, LnsRangeNews *ret_news);

/* Has FD, an eventfd, made readable when there is trouble to be told. To be called before the first report
 * begins. */
void lns_recorder_set_trouble_fd (LnsRecorder *recorder, int fd);

/* What keeps the report from being written, once it is known: the recorder goes on and tries again. Each
 * report tells of it once; false if there is no more to tell. Any thread. */
bool lns_recorder_next_trouble (LnsRecorder *recorder, LnsError *ret_trouble);

/* Waits until the recorder has come past an LNS_BATCH_STOP or _CANCEL, and takes its result. */
void lns_recorder_wait (LnsRecorder *recorder, LnsReportResult *ret_result);
