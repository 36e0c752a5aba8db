/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The recorder's rooms: shared by its files alone. */

#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "capture/session/record/batch-pack.h"
#include "capture/session/decode/core/id-map.h"
#include "capture/session/record/recorder.h"

/* Where a capture range began or ended, in a batch that waits. */
typedef struct
{
  uint64_t ticks;
  uint32_t process;
  bool is_end;
  const LnsBatch *batch;
  const LnsBatch
      *ready; /* of an end: with this batch all is here that CUPTI had by then; or NULL */
} LnsRangeEdge;

typedef struct
{
  LnsRangeReports reports; /* create is NULL: there are no ranges */
  LnsRangeEdge *edges;     /* not passed yet */
  size_t n_edges;
  LnsIdMap open;          /* by process: its range is open */
  unsigned n_begun;       /* reports */
  bool is_over;           /* none will begin any more */
  unsigned n_early_ready; /* words that an end is ready which came before it */
  LnsRangeNews *news;     /* under the recorder's lock, as the next */
  size_t n_news;
} LnsCaptureRanges;

/* What a report that holds only its last seconds is made of. */
typedef struct
{
  int64_t keep_ns;              /* 0: there is none such */
  int64_t start_ns;             /* CLOCK_MONOTONIC of when it was asked for */
  LnsWriter *writer;            /* its own; NULL when it has begun */
  LnsBatch *first, *last;       /* the ring, the oldest first */
  LnsByteQueue queue;           /* their records */
  size_t n_bytes;               /* beside the queue */
  size_t max_bytes, most_bytes; /* of all: allowed, and had so far */
  bool is_short;                /* the last seconds did not fit */
  int priority;                 /* of the thread before */
  LnsPacker *packer;
} LnsKept;

struct LnsRecorder
{
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  LnsBatch *first, *last; /* under the lock: what is to be done */
  bool is_ending;         /* under the lock */
  bool has_result;        /* under the lock */
  LnsReportResult result; /* under the lock while has_result */
  LnsError trouble;       /* under the lock: to be told */
  atomic_size_t queued_bytes;
  atomic_ullong n_events, n_lost, n_bytes;
  atomic_ullong n_begun, n_pool_lost; /* of the session, up to seen_ns (CLOCK_MONOTONIC) */
  atomic_llong seen_ns;

  /* Of the thread alone. */
  LnsDecoder *decoder;
  LnsWriter *writer;
  int trouble_fd;
  bool has_told_trouble; /* of this report */
  LnsBatch *waiting;     /* known, the oldest first; each is played when the next one is known */
  LnsError
      commit_error; /* the first that a later commit made good, as the next two of the report */
  LnsReportDiagnostic *diagnostics;
  size_t n_diagnostics;
  int64_t t0_ns, committed_at_ns, pair_at_ns;
  int64_t commit_took_ns;
  int64_t reached_ns; /* report time up to which all is in the writer */
  uint64_t n_played;  /* events that have begun and are in the writer, or in no report */
  unsigned n_pairs;
  size_t bytes_since_commit;
  LnsCaptureRanges ranges;
  LnsKept kept;
  void (*describe) (void *data, LnsWriter *report); /* may be NULL */
  void *describe_data;
};

/* --- recorder.c ---------------------------------------------------------------------------------- */

/* Takes WRITER over: the report begins at START_NS, in report time. */
void _lns_recorder_start_report (LnsRecorder *recorder,
                                 LnsWriter *writer,
                                 int64_t start_ns,
                                 const LnsWireClockPair *pair);

/* Ends the report, if there is one, at END_NS as EVENT, a STOP or CANCEL that came at EVENT's time, says. */
void _lns_recorder_stop_report (LnsRecorder *recorder,
                                const LnsBatchEvent *event,
                                int64_t end_ns,
                                const LnsWireClockPair *pair,
                                LnsReportResult *ret_result);

/* Takes BATCH over, the next one to be played when all its definitions are known. */
void _lns_recorder_take (LnsRecorder *recorder, LnsBatch *batch);

/* --- recorder-keep.c ---------------------------------------------------------------------- */

/* Takes BATCH over, and puts it off where only the last seconds are kept. */
void _lns_recorder_keep (LnsRecorder *recorder, LnsBatch *batch);

void _lns_recorder_free_kept (LnsRecorder *recorder);

/* --- recorder-ranges.c -------------------------------------------------------------------- */

/* From here on reports begin and end where the ranges of REPORTS do. */
void _lns_recorder_set_ranges (LnsRecorder *recorder, const LnsRangeReports *reports);

/* Takes in which ranges begin or end in BATCH, the newest, whose definitions are known. */
void _lns_recorder_find_edges (LnsRecorder *recorder, const LnsBatch *batch);

/* Passes all beginnings and ends of ranges in batches but the newest. False: one must wait. */
bool _lns_recorder_pass_edges (LnsRecorder *recorder);

/* PROCESS is gone. A report of its range goes on to the end of the session, or the next range. */
void _lns_recorder_leave_range (LnsRecorder *recorder, uint32_t process);

void _lns_recorder_free_ranges (LnsRecorder *recorder);
