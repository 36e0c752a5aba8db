/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions of CUPTI's PM sampling and of the CUDA driver, found in their libraries. */

#pragma once

#include <stdbool.h>

#include "capture/sampler/cupti-abi.h"
#include "capture/wire/gpu.h"

typedef struct
{
#define LNS_CUPTI_MEMBER(name, ...) int (*name) (__VA_ARGS__);
  LNS_CUPTI_PM_FUNCTIONS (LNS_CUPTI_MEMBER)
} LnsCuptiPm;

typedef struct
{
  LNS_CUDA_FUNCTIONS (LNS_CUPTI_MEMBER)
#undef LNS_CUPTI_MEMBER
} LnsCuda;

extern LnsCuptiPm lns_cupti_pm;
extern LnsCuda lns_cuda;

/* Loads and initialises the driver, which reads CUDA_VISIBLE_DEVICES. Returns false and FAILURE. */
bool lns_cuda_load (LnsWireGpuFailure *failure);

/* Loads a libcupti that has PM sampling and that START can start: the one at PATH, which is a library or a folder, or else of the
 * copies on this machine the one that suits the driver best (wire/cupti-search.h). Call it after lns_cuda_load (). START returns
 * CUPTI's result, which goes to RET_RESULT; of copies that cannot be used with this driver, that of the first. Returns false
 * and FAILURE if there is no such copy. */
bool lns_cupti_pm_load (const char *path,
                        int (*start) (void),
                        int *ret_result,
                        LnsWireGpuFailure *failure);

/* CUPTI's words for RESULT. */
const char *lns_cupti_text (int result);
