/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Takes integers from bytes that may end anywhere. Once something is missing, `is_broken` is set and all further integers
 * are 0, so that a reader checks once, after a few of them. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"

typedef struct
{
  const uint8_t *bytes; /* not owned */
  size_t at, n;         /* at ≤ n */
  bool is_broken;
} LnsByteCursor;

static inline uint64_t
lns_cursor_take (LnsByteCursor *cursor, unsigned width_bytes)
{
  if (cursor->is_broken || cursor->n - cursor->at < width_bytes)
    {
      cursor->is_broken = true;
      return 0;
    }
  cursor->at += width_bytes;
  return lns_load_int (cursor->bytes + cursor->at - width_bytes, width_bytes);
}

static inline void
lns_cursor_skip (LnsByteCursor *cursor, uint64_t n_bytes)
{
  if (cursor->is_broken || cursor->n - cursor->at < n_bytes)
    cursor->is_broken = true;
  else
    cursor->at += n_bytes;
}

static inline uint64_t
lns_cursor_take_uleb (LnsByteCursor *cursor)
{
  uint64_t value = 0;
  const uint8_t *at = cursor->bytes + cursor->at;
  if (cursor->is_broken || !lns_take_varint (&at, cursor->bytes + cursor->n, &value))
    cursor->is_broken = true;
  else
    cursor->at = (size_t)(at - cursor->bytes);
  return value;
}

static inline int64_t
lns_cursor_take_sleb (LnsByteCursor *cursor)
{
  const size_t start = cursor->at;
  uint64_t value = lns_cursor_take_uleb (cursor);
  const unsigned n_bits = 7 * (unsigned)(cursor->at - start);
  if (n_bits > 0 && n_bits < 64 && (value >> (n_bits - 1) & 1) != 0)
    value |= UINT64_MAX << n_bits;
  return (int64_t)value;
}

/* The text up to the next NUL, or NULL and `is_broken` if there is none. */
static inline const char *
lns_cursor_take_text (LnsByteCursor *cursor)
{
  const size_t start = cursor->at;
  if (!cursor->is_broken)
    for (size_t i = start; i < cursor->n; i++)
      if (cursor->bytes[i] == '\0')
        {
          cursor->at = i + 1;
          return (const char *)cursor->bytes + start;
        }
  cursor->is_broken = true;
  return NULL;
}
