/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The hash of the project: XXH3, 64 bits, seed 0. The file format fixes it too. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t
lns_hash (const void *bytes, size_t size_bytes)
{
  return XXH3_64bits (bytes, size_bytes);
}
