/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Notices when another client of CUPTI takes over, such as torch.profiler: the last one to register buffers gets all
 * records, and CUPTI does not tell the one before. So we make a call now and then whose record must come back to us. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* Makes the call. Not in a callback of CUPTI. Returns its correlation, 0 if it could not be made. */
uint32_t lns_cuda_mark (void);

/* Looks for the record of MARK, of a call that was made before the flush just now; another thread may have made a later one
 * since. IS_LAST: there will be no other flush, and that was a forced one. */
void lns_cuda_look_for_mark (uint32_t mark, bool is_last);
