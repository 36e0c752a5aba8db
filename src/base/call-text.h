/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What people call a function of CUDA's APIs. Pure; any thread. */

#pragma once

#include <stddef.h>

/* The public function that the SIZE_BYTES at SYMBOL, as CUPTI names a call, stand for where that is an entry
 * point of the runtime's own: a launch by <<<>>> is "__cudaLaunchKernel_v13000" from CUDA 13 on and was
 * "cudaLaunchKernel_v7000" before. With a version if SYMBOL has one. NULL where SYMBOL is public itself, or
 * no public function does the same. Static. */
const char *lns_call_text_public (const char *symbol, size_t size_bytes);
