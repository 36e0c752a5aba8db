/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <stddef.h>

/* Bytes that become part of a record, zero-padded to N_PADDED_BYTES where that is more. */
typedef struct
{
  const void *bytes;
  size_t n_bytes;
  size_t n_padded_bytes;
} LnsPart;

static inline size_t
lns_part_bytes (const LnsPart *part)
{
  return part->n_padded_bytes > part->n_bytes ? part->n_padded_bytes : part->n_bytes;
}
