/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Begins and ends a report for each capture range. */

#pragma once

#include "src/base/id-map.h"
#include "capture/session/record/recording.h"

/* The beginning or end of a capture range in a batch that waits. */
typedef struct
{
  uint64_t ticks;
  uint32_t process;
  bool is_end;
  const LnsBatch *batch;
  const LnsBatch
      *ready; /* of an end: the batch by which all is here that CUPTI had then; or NULL */
} LnsRangeEdge;

typedef struct
{
  LnsRecording *recording;
  LnsBatch **waiting; /* batches that are known, the oldest first */
  pthread_mutex_t lock;
  LnsRangeReports reports;        /* create is NULL: there are no ranges */
  LNS_ARRAY (LnsRangeEdge) edges; /* not passed yet */
  LnsIdMap open;                  /* by process: its range is open */
  unsigned n_begun;               /* number of reports */
  bool is_over;                   /* no further report begins */
  unsigned n_early_ready;         /* ends that were said to be ready before they were seen */
  LNS_ARRAY (LnsRangeNews) news;  /* under the lock */
} LnsCaptureRanges;

/* Has reports begin and end with the ranges of REPORTS from here on. */
void _lns_ranges_set (LnsCaptureRanges *ranges, const LnsRangeReports *reports);

/* Finds the ranges that begin or end in BATCH, the newest, whose definitions are known. */
void _lns_ranges_find_edges (LnsCaptureRanges *ranges, const LnsBatch *batch);

/* Passes all beginnings and ends of ranges in all batches but the newest. Returns false if one must wait. */
bool _lns_ranges_pass_edges (LnsCaptureRanges *ranges);

/* Notes that PROCESS is gone. A report of its range goes on to the end of the session or the next range. */
void _lns_ranges_leave (LnsCaptureRanges *ranges, uint32_t process);

/* Takes the oldest news. Returns false if there are none. Any thread. */
bool _lns_ranges_next (LnsCaptureRanges *ranges, LnsRangeNews *ret_news);

void _lns_ranges_free (LnsCaptureRanges *ranges);
