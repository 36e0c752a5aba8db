/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The clock of all events, and CUPTI's clock if it has one of its own. */

#pragma once

#include "capture/inject/cuda/engine.h"
#include "capture/wire/compact.h"

/* Gives CUPTI our clock, or follows CUPTI's own if it does not take ours. Returns false and writes a problem if neither
 * works. */
bool lns_cuda_share_clock (void);

/* Reads both clocks, if there are two. Call it now and then, and before times of records are converted. Cheap. */
void lns_cuda_read_clocks (void);

/* The readings that convert CUPTI's times into ticks: fills and returns RET_READINGS, or NULL if the times are ticks. */
const LnsWireCuptiReadings *lns_cuda_readings (LnsWireCuptiReadings *ret_readings);
