/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The clock of all events, and CUPTI's where it has one of its own. */

#pragma once

#include "capture/inject/cuda/engine.h"
#include "capture/wire/compact.h"

/* Gives CUPTI our clock; where it takes none, its own is followed. False, and a problem, where neither
 * can be. */
bool lns_cuda_share_clock (void);

/* Reads both clocks, if there are two. Cheap; to be called now and then, and before records whose times
 * are to be converted. */
void lns_cuda_read_clocks (void);

/* By what CUPTI's times become ticks: RET_READINGS, filled; or NULL, if they are ticks. */
const LnsWireCuptiReadings *lns_cuda_readings (LnsWireCuptiReadings *ret_readings);
