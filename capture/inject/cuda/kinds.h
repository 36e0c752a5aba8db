/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Selects the kinds of activity that CUPTI records. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* Sets CUPTI's options for all records. Called before the first context is made. */
void lns_cuda_set_attributes (void);

/* Whether kernels are recorded whenever calls are, as CUPTI has not refused them. */
bool lns_cuda_has_kernels (void);

/* Lets CUPTI record or not, as the pool's RECORDING says. Any thread that is not in a callback of CUPTI's buffers. If
 * another thread is doing so, that one checks again. Does nothing before the engine starts, which checks itself. */
void lns_cuda_follow_recording (void);

/* Enables the kinds about devices, contexts and streams, which are always on. */
void lns_cuda_enable_definitions (void);

/* Enables counters of unified memory on the device of CONTEXT, if they are asked for. */
void lns_cuda_configure_unified (CUcontext context);
