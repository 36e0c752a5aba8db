/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Bytes that grow. Where memory runs out the buffer turns `failed`, keeps what it holds and ignores
 * what comes, so that a builder checks once at its end. Zero it before first use. Not thread-safe.
 */

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

/* Makes room for SIZE_BYTES more and returns where they go; NULL (and `failed`) where memory ran
 * out. The room becomes part of the buffer only when `size_bytes` is raised. Amortised O(1). */
uint8_t *lns_buffer_reserve (LnsBuffer *buffer, size_t size_bytes);

/* Appends copies: bytes, or integers of which the low WIDTH_BYTES (1–8) go little-endian. */
void lns_buffer_append (LnsBuffer *buffer, const void *bytes, size_t size_bytes);
void lns_buffer_append_int (LnsBuffer *buffer, uint64_t value, unsigned width_bytes);

/* Forgets the contents (and `failed`) but keeps the room. */
void lns_buffer_reset (LnsBuffer *buffer);

/* Frees the room; the buffer may be used again. */
void lns_buffer_clear (LnsBuffer *buffer);
