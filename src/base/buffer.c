/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/buffer.h"

#include <stdlib.h>
#include <string.h>

uint8_t *
lns_buffer_reserve (LnsBuffer *buffer, size_t size_bytes)
{
  if (buffer->failed)
    return NULL;
  if (size_bytes > buffer->allocated_bytes - buffer->size_bytes)
    {
      size_t needed, grown = buffer->allocated_bytes + buffer->allocated_bytes / 2;
      uint8_t *bytes = NULL;
      if (!__builtin_add_overflow (buffer->size_bytes, size_bytes, &needed))
        bytes = realloc (buffer->bytes, needed > grown ? needed : grown);
      if (bytes == NULL)
        {
          buffer->failed = true;
          return NULL;
        }
      buffer->bytes = bytes;
      buffer->allocated_bytes = needed > grown ? needed : grown;
    }
  return buffer->bytes + buffer->size_bytes;
}

void
lns_buffer_append (LnsBuffer *buffer, const void *bytes, size_t size_bytes)
{
  if (size_bytes == 0)
    return;
  uint8_t *room = lns_buffer_reserve (buffer, size_bytes);
  if (room == NULL)
    return;
  memcpy (room, bytes, size_bytes);
  buffer->size_bytes += size_bytes;
}

void
lns_buffer_append_int (LnsBuffer *buffer, uint64_t value, unsigned width_bytes)
{
  uint8_t bytes[8];
  for (unsigned i = 0; i < width_bytes; i++)
    bytes[i] = (uint8_t)(value >> 8 * i);
  lns_buffer_append (buffer, bytes, width_bytes);
}

void
lns_buffer_append_varint (LnsBuffer *buffer, uint64_t value)
{
  uint8_t bytes[10];
  unsigned n = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (uint8_t)(value | 0x80);
  bytes[n++] = (uint8_t)value;
  lns_buffer_append (buffer, bytes, n);
}

void
lns_buffer_set_int (LnsBuffer *buffer, size_t at, uint64_t value, unsigned width_bytes)
{
  for (unsigned i = 0; i < width_bytes && !buffer->failed; i++)
    buffer->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

void
lns_buffer_reset (LnsBuffer *buffer)
{
  buffer->size_bytes = 0;
  buffer->failed = false;
}

void
lns_buffer_clear (LnsBuffer *buffer)
{
  free (buffer->bytes);
  *buffer = (LnsBuffer){ 0 };
}
