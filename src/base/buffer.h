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
  uint8_t *bytes; /* owned; NULL while nothing was put in                                       */
  size_t size_bytes;
  size_t allocated_bytes;
  bool failed;
} LnsBuffer;

/* Makes room for SIZE_BYTES more and returns where they go; NULL (and `failed`) if memory runs out. The room becomes part
 * of the buffer when the caller raises `size_bytes`. Amortised O(1). */
uint8_t *lns_buffer_reserve (LnsBuffer *buffer, size_t size_bytes);

/* Appends copies: bytes, or integers of which the low WIDTH_BYTES (1–8) go little-endian. */
void lns_buffer_append (LnsBuffer *buffer, const void *bytes, size_t size_bytes);
void lns_buffer_append_int (LnsBuffer *buffer, uint64_t value, unsigned width_bytes);

/* Forgets the contents (and `failed`) but keeps the room. */
void lns_buffer_reset (LnsBuffer *buffer);

/* Frees the room; the buffer may be used again. */
void lns_buffer_clear (LnsBuffer *buffer);
