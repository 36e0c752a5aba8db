/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Selects the kinds of activity that CUPTI records, and what of them is kept. */

#pragma once

#include "capture/inject/cuda/engine.h"
#include "capture/wire/compact.h"

/* Sets CUPTI's options for all records. Called before the first context is made. */
void lns_cuda_set_attributes (void);

/* Whether kernels are recorded whenever calls are, as CUPTI has not refused them. */
bool lns_cuda_has_kernels (void);

/* Begins or ends the range of calls whose records are kept, as the pool's RECORDING says. Any thread that is not in a
 * callback of CUPTI's buffers. If another thread is doing so, that one checks again. Does nothing before the engine
 * starts, which checks itself. */
void lns_cuda_follow_recording (void);

/* The ranges so far. */
const LnsWireCuptiRanges *lns_cuda_ranges (void);

/* What CUPTI's callback tells of the call CORRELATION that this thread makes: a thread in a callback must not call the
 * driver to learn the correlation at which a range begins. */
typedef enum
{
  LNS_CUDA_CALL_ENTERED,
  LNS_CUDA_CALL_LEFT,
  LNS_CUDA_CALL_IS_OURS /* made to learn its correlation, if the engine has made it */
} LnsCudaCallSite;
void lns_cuda_in_call (LnsCudaCallSite site, uint32_t correlation);

/* Makes a call of the driver, of which CUPTI has a record, and returns its correlation; 0 if CUPTI does not tell it. IS_MARK:
 * its record is to be known by lns_cuda_engine.mark. Not in a callback of CUPTI. */
uint32_t lns_cuda_make_call (bool is_mark);

/* Enables all kinds that are asked for. They stay enabled: CUPTI loses the graphs that were instantiated before their
 * kind was enabled, gives kernels that run while theirs is disabled a wrong end, and up to 13.1 gives graph launches
 * wrong correlations after it was enabled again. */
void lns_cuda_enable_kinds (bool is_late);

/* Disables all kinds, for good. */
void lns_cuda_disable_kinds (void);

/* Enables counters of unified memory on the device of CONTEXT, if they are asked for. */
void lns_cuda_configure_unified (CUcontext context);
