/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The clock of all events, and CUPTI's clock if it has one of its own. */

#pragma once

#include "capture/inject/cuda/engine.h"
#include "capture/wire/compact.h"

/* Gives CUPTI our clock, or follows CUPTI's own if it cannot use ours well. Returns false and writes a problem if neither
 * works. */
bool lns_cuda_share_clock (void);

/* Reads both clocks, if there are two. Call it now and then, and before times of records are converted. Cheap. */
void lns_cuda_read_clocks (void);

/* Writes that CUPTI's clock was set, if it was. Another client's clock looks the same, so call it when CUPTI is known to be
 * ours. */
void lns_cuda_tell_clock (void);

/* Notes that CUDA is initialised. CUPTI's own clock may run by another time before. */
void lns_cuda_start_clocks (void);

/* The lines that convert CUPTI's times up to now into ticks: fills and returns RET_LINES, or NULL if the times are ticks. */
const LnsWireCuptiLines *lns_cuda_lines (LnsWireCuptiLines *ret_lines);
