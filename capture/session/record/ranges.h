/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports of capture ranges. */

#pragma once

#include "src/base/id-map.h"
#include "capture/session/record/recording.h"

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
  LnsRecording *recording;
  LnsBatch **waiting; /* batches that are known, the oldest first */
  pthread_mutex_t lock;
  LnsRangeReports reports;        /* create is NULL: there are no ranges */
  LNS_ARRAY (LnsRangeEdge) edges; /* not passed yet */
  LnsIdMap open;                  /* by process: its range is open */
  unsigned n_begun;               /* reports */
  bool is_over;                   /* none will begin any more */
  unsigned n_early_ready;         /* words that an end is ready which came before it */
  LNS_ARRAY (LnsRangeNews) news;  /* under the lock */
} LnsCaptureRanges;

/* From here on reports begin and end where the ranges of REPORTS do. */
void _lns_ranges_set (LnsCaptureRanges *ranges, const LnsRangeReports *reports);

/* Takes in which ranges begin or end in BATCH, the newest, whose definitions are known. */
void _lns_ranges_find_edges (LnsCaptureRanges *ranges, const LnsBatch *batch);

/* Passes all beginnings and ends of ranges in batches but the newest. False: one must wait. */
bool _lns_ranges_pass_edges (LnsCaptureRanges *ranges);

/* PROCESS is gone. A report of its range goes on to the end of the session, or the next range. */
void _lns_ranges_leave (LnsCaptureRanges *ranges, uint32_t process);

/* The next of the news; false if there are none. Any thread. */
bool _lns_ranges_next (LnsCaptureRanges *ranges, LnsRangeNews *ret_news);

void _lns_ranges_free (LnsCaptureRanges *ranges);
