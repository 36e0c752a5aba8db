/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* An array of numbers in as few bits as they need, because neighbours are close to each other: each block of them is told by its
 * smallest, and how far the others are above it. Immutable once it is finished; any thread then. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LNS_EVENT_NUMBERS_BITS 7 /* 128 numbers in a block */
#define LNS_EVENT_NUMBERS_MASK ((1u << LNS_EVENT_NUMBERS_BITS) - 1)

typedef struct
{
  int64_t lowest;
  uint64_t place_width; /* where in `bytes` its numbers begin, << 8; bits of each: 0 to 57, or 64 */
} LnsEventBlock;

typedef struct
{
  uint8_t *bytes;        /* and 8 more, so that a number is read at once */
  LnsEventBlock *blocks; /* of `n` numbers */
  uint32_t n;
  uint64_t n_bytes, room_bytes;
  uint32_t room_blocks;
  bool failed;      /* memory ran out */
  int64_t *waiting; /* those of the block that is being filled; NULL: it is finished */
} LnsEventNumbers;

/* Appends VALUE. Amortised O(1). */
void lns_event_numbers_add (LnsEventNumbers *self, int64_t value);

/* No more numbers come. Returns false if memory ran out; then there are none. */
bool lns_event_numbers_finish (LnsEventNumbers *self);

void lns_event_numbers_clear (LnsEventNumbers *self);

/* Bytes held. */
uint64_t lns_event_numbers_bytes (const LnsEventNumbers *self);

/* Number I < n, of an array that is finished. O(1). */
static inline int64_t
lns_event_numbers_get (const LnsEventNumbers *self, uint32_t i)
{
  const LnsEventBlock block = self->blocks[i >> LNS_EVENT_NUMBERS_BITS];
  const unsigned width = block.place_width & 0xff;
  const uint64_t bit = (uint64_t)(i & LNS_EVENT_NUMBERS_MASK) * width;
  uint64_t word;
  memcpy (&word, self->bytes + (block.place_width >> 8) + bit / 8, sizeof word);
  /* Up to 57 bits are in the word wherever in its first byte they begin; 64 begin with it. */
  word = width == 64 ? word : word >> bit % 8 & ((UINT64_C (1) << width) - 1);
  return (int64_t)((uint64_t)block.lowest + word);
}
