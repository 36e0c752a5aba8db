/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Records that are put together from parts. */

#pragma once

#include "capture/wire/layout.h"

#include <stddef.h>
#include <stdint.h>

/* The longest text that one record takes. */
#define LNS_TEXT_MAX_BYTES                                                                         \
 (LNS_WIRE_RECORD_MAX_BYTES - sizeof (LnsWireTextBytes) - LNS_WIRE_ALIGN_BYTES)

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

/* The size of the record that PARTS make, with its padding. */
size_t lns_parts_bytes (const LnsPart *parts, size_t n_parts);

/* Copies up to N_MAX bytes of the record that PARTS make, from its byte OFFSET on, to RET_BYTES. Padding follows the
 * last part. */
void lns_parts_copy (
    const LnsPart *parts, size_t n_parts, size_t offset, uint8_t *ret_bytes, size_t n_max);
