/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* By what calls are summed up. */

#pragma once

#include "src/analysis/range-walk.h"

/* Keys by string id; to be cleared, an empty one is { 0 }. */
typedef struct
{
  uint32_t *keys;
  uint32_t n;
} LnsCudaKeys;

/* The size of the call's name NAME without the version that its symbol bears: "_v3020", but not
 * "_v10000". O(1). */
size_t lns_cuda_call_name_size (const char *name, size_t size_bytes);

/* Keys by string id under which calls go that differ in their versions alone: a string id of theirs.
 * False and ERROR without memory. O(strings). */
bool lns_cuda_call_keys (LnsReport *report, LnsCudaKeys *ret_keys, LnsError *error);

void lns_cuda_keys_clear (LnsCudaKeys *keys);
