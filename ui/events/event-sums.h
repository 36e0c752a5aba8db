/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long events are: together, on average and in the middle. Pure functions; any thread. */

#pragma once

#include "src/analysis/result.h"
#include "ui/events/event-rows.h"

typedef struct
{
  uint64_t n;        /* events that have a length                                                */
  uint64_t n_others; /* those that have none: marks, states, and what had not ended              */
  int64_t sum_ns;    /* INT64_MAX if it is more */
  int64_t shortest_ns, longest_ns;
  int64_t median_ns; /* the mean of the two in the middle if N is even                           */
  uint64_t bytes;    /* of those that move or hold any; UINT64_MAX if it is more                 */
} LnsEventSums;

/* Sums up ROWS. Blocks, so call it on a worker. Returns false if it was cancelled or memory ran out. O(rows), in less than 9 bytes a row
 * of its own, mostly 4. */
bool
lns_event_sums_find (const LnsEventRows *rows, LnsEventSums *ret_sums, GCancellable *cancellable);

/* The rows' events by name, as a table: name; if the set has several kinds, the kind, which is empty if the name's events are of several;
 * how many, sum, mean, p50, longest, and the share of the sum of all. What has the largest sum stands first. Keeps MAX_NAMES of them, and sets *RET_N_NAMES to how many there are. LABELS[i] becomes the label
 * (lns_event_set_label ()) of row i of the result; it has room for MAX_NAMES. Returns NULL if it was cancelled or memory ran out. O(rows +
 * names × log names), in 13 bytes a row at most. */
LnsResult *lns_event_sums_by_name (const LnsEventRows *rows,
                                   uint32_t max_names,
                                   uint32_t *ret_labels,
                                   uint32_t *ret_n_names,
                                   GCancellable *cancellable) G_GNUC_WARN_UNUSED_RESULT;
