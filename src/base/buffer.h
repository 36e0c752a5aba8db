/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A buffer of bytes that grows. If memory runs out it sets `failed`, keeps its contents and ignores further bytes, so that
 * a caller checks once at the end. Zero it before first use. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint8_t *bytes; /* owned; NULL until something is appended */
  size_t size_bytes;
  size_t allocated_bytes;
  bool failed;
} LnsBuffer;

/* Makes room for SIZE_BYTES more and returns a pointer to it. Returns NULL and sets `failed` if memory runs out. The room
 * becomes part of the buffer when the caller increases `size_bytes`. Amortised O(1). */
uint8_t *lns_buffer_reserve (LnsBuffer *buffer, size_t size_bytes);

/* Appends a copy of bytes, or the low WIDTH_BYTES (1–8) of VALUE, little-endian. */
void lns_buffer_append (LnsBuffer *buffer, const void *bytes, size_t size_bytes);
void lns_buffer_append_int (LnsBuffer *buffer, uint64_t value, unsigned width_bytes);

/* Appends VALUE as LEB128: seven bits a byte, the lowest first, the top bit set on all but the last. */
void lns_buffer_append_varint (LnsBuffer *buffer, uint64_t value);

/* Overwrites the WIDTH_BYTES from AT on, which are there unless the buffer has failed. */
void lns_buffer_set_int (LnsBuffer *buffer, size_t at, uint64_t value, unsigned width_bytes);

/* Empties the buffer and clears `failed`, but keeps the memory. */
void lns_buffer_reset (LnsBuffer *buffer);

/* Frees the memory. The buffer may be used again. */
void lns_buffer_clear (LnsBuffer *buffer);

/* The little-endian integer in the WIDTH_BYTES (0–8) at BYTES. */
static inline uint64_t
lns_load_int (const uint8_t *bytes, unsigned width_bytes)
{
  uint64_t value = 0;
  for (unsigned i = 0; i < width_bytes; i++)
    value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

/* Reads the LEB128 at *AT and moves *AT past it. Returns false if there is none before END. */
static inline bool
lns_take_varint (const uint8_t **at, const uint8_t *end, uint64_t *ret_value)
{
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7)
    {
      const uint8_t byte = *(*at)++;
      value |= (uint64_t)(byte & 0x7F) << shift;
      if (byte < 0x80)
        {
          *ret_value = value;
          return true;
        }
    }
  return false;
}
