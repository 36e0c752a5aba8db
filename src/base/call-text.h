/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names of CUDA calls and copies. Pure; any thread. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* CUPTI reports a launch by <<<>>> as "__cudaLaunchKernel_v13000" from CUDA 13 on; before, it was
 * "cudaLaunchKernel_v7000". Returns the public function for such an internal entry point: the SIZE_BYTES at SYMBOL are
 * CUPTI's name, and the result has a version if SYMBOL has one. NULL where SYMBOL itself is public, or no public function
 * does the same. Static. */
const char *lns_call_text_public (const char *symbol, size_t size_bytes);

/* "[CUDA memcpy Host-to-Device]" for KIND 1 of CUpti_ActivityMemcpyKind, and so on; 11 to 13 are nsys' kinds of unified
 * memory. "[CUDA memcpy Unknown]" for a kind that is not known. The same as ENUM_CUDA_MEMCPY_OPER. Static. O(1). */
const char *lns_call_text_copy (uint64_t kind);
