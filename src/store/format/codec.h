/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The block codec (FORMAT.md, "Blocks"): integers in blocks of 128, each bit-packed in the way that
 * makes it smallest: frame of reference, deltas, or a dictionary. Values are 64-bit patterns; the
 * codec takes them for signed where that makes a difference. Thread-safe, no state. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"

#define LNS_BLOCK           128
#define LNS_BLOCK_MAX_BYTES (11 + 16 * 64) /* the largest block */

/* What the encoder may try besides frame of reference. It chooses the smallest result. */
typedef enum
{
  LNS_CODEC_PLAIN = 0,
  LNS_CODEC_TRY_DELTA = 1 << 0,     /* for values that ascend */
  LNS_CODEC_TRY_DICTIONARY = 1 << 1 /* for few distinct values */
} LnsCodecTries;

/* Appends N (1–128) values to OUT as one block. All blocks of a column but its last hold 128.
 * O(n). */
void
lns_codec_encode_block (LnsBuffer *out, const uint64_t *values, unsigned n, LnsCodecTries tries);

/* Decodes the N values of a column, which must fill the SIZE_BYTES at BYTES exactly. Otherwise the bytes are damaged:
 * returns false, and the values are undefined. The 32-bit function keeps the low halves. */
bool lns_codec_decode_u64 (const uint8_t *bytes, size_t size_bytes, uint64_t *ret_values, size_t n);
bool lns_codec_decode_u32 (const uint8_t *bytes, size_t size_bytes, uint32_t *ret_values, size_t n);

/* Bit packing alone: value i takes bits [i × width, (i + 1) × width), least significant first. */
typedef void (*LnsUnpackFunc) (const uint8_t *bytes, uint64_t *ret_values);
typedef void (*LnsPackFunc) (const uint64_t *values, uint8_t *ret_bytes);

/* By width, 0–64: 128 values from or to 16 × width bytes. Packed values must be < 2^width. */
extern const LnsUnpackFunc lns_codec_unpack[65];
extern const LnsPackFunc lns_codec_pack[65];
