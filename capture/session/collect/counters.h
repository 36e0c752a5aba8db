/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <stdint.h>

/* What the collector has counted since the session began. */
typedef struct
{
  uint64_t n_processes;           /* in the report: those that joined, and the session's root */
  uint64_t n_joined;              /* processes whose hello was answered in time */
  uint64_t n_alive;               /* of n_joined: those that have not ended */
  uint64_t n_late;                /* processes whose hello was answered too late */
  uint64_t n_refused;             /* processes that were refused a pool */
  uint64_t n_without_descriptors; /* of n_refused: for want of descriptors; no diagnostic each */
  uint64_t n_untold;              /* processes without a diagnostic, as enough others have one */
  uint64_t n_lost;     /* events lost so far, as the pools count them: see lns_loss_events () */
  int64_t last_end_ns; /* CLOCK_MONOTONIC when the last process ended; 0: none has ended */
} LnsCollectorCounters;
