/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* By what calls and kernels are summed up: LnsRangeKeys. */

#pragma once

#include "src/analysis/lns-range-walk.h"

/* What kernels are called. */
typedef enum
{
  LNS_KERNEL_NAME, /* with template arguments and parameters                                     */
  LNS_KERNEL_SHORT_NAME,
  LNS_KERNEL_MANGLED_NAME,
} LnsKernelName;

/* To be cleared; an empty one is { 0 }. */
typedef struct
{
  uint32_t *keys;
  uint32_t *names; /* string ids by key, or NULL where keys are string ids                       */
  uint32_t n;
} LnsCudaKeys;

/* The size of the call's name NAME without the version that its symbol bears: "_v3020", but not
 * "_v10000". O(1). */
size_t lns_cuda_call_name_size (const char *name, size_t size_bytes);

/* Keys by string id under which calls go that differ in their versions alone: a string id of theirs.
 * False and ERROR without memory. O(strings). */
bool lns_cuda_call_keys (LnsReport *report, LnsCudaKeys *ret_keys, LnsError *error);

/* Keys by launch id of kernels that have one NAME and, BY_SHAPE, one grid and block: the first launch that
 * has them. LNS_KERNEL_NAME reads the kernels' names: O(kernels), else O(launches). False and ERROR
 * without memory or where a chunk is damaged. */
bool lns_cuda_kernel_keys (
    LnsReport *report, LnsKernelName name, bool by_shape, LnsCudaKeys *ret_keys, LnsError *error);

void lns_cuda_keys_clear (LnsCudaKeys *keys);
