/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which kinds of activity CUPTI records, and when. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* Tells CUPTI what holds for all records. Before the first context is made. */
void lns_cuda_set_attributes (void);

/* Whether kernels are recorded wherever calls are: CUPTI has not refused them. */
bool lns_cuda_has_kernels (void);

/* Lets CUPTI record, or not, as the pool's RECORDING says by now; from any thread that is in no callback of
 * CUPTI's buffers. Where another thread is at it, that one looks again. Nothing happens where the engine has
 * not started: it looks when it does. */
void lns_cuda_follow_recording (void);

/* Those that tell of devices, contexts and streams: always on. */
void lns_cuda_enable_definitions (void);

/* Has unified memory counted on the device of CONTEXT, where that is asked for. */
void lns_cuda_configure_unified (CUcontext context);
