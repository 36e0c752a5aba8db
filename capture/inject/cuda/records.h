/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the engine's own records into the stream of the thread that it runs on. */

#pragma once

#include "capture/inject/cuda/engine.h"
#include "capture/wire/cuda-layout.h"

#include <stddef.h>

/* Writes a problem that keeps something from being recorded, once for each PROBLEM and DETAIL. WORDS may be null. */
void
lns_cuda_problem (LnsWireCudaProblem problem, uint32_t result, uint32_t detail, const char *words);

/* The same for the RESULT of CUPTI's function NAME. Returns whether it is success. */
bool lns_cuda_check (CUptiResult result, const char *name);

/* Calls a function that the loaded CUPTI may lack. True on success, or if it is missing or CUPTI has failed. */
#define LNS_CUPTI_TRY(name, ...)                                                                   \
 (lns_cuda_is_silent () || lns_cupti.name == NULL ||                                               \
  lns_cuda_check (lns_cupti.name (__VA_ARGS__), "cupti" #name))

/* Writes the versions of CUPTI, the driver and the headers. */
void lns_cuda_tell_info (void);
