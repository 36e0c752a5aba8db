/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Notices when another client of CUPTI takes over, such as torch.profiler: the last one to register buffers gets all
 * records, and CUPTI does not tell the one before. So we make a call now and then whose record must come back to us. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* Makes the call. Not in a callback of CUPTI. */
void lns_cuda_mark (void);

/* Looks for its record, after a flush. IS_LAST: there will be no other flush, and that was a forced one. */
void lns_cuda_look_for_mark (bool is_last);
