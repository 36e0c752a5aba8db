/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/codec.h"

#include <endian.h>
#include <string.h>

/* The high bits of a block's second byte; the low four are the size of the base in bytes. */
enum
{
  MODE_PLAIN,
  MODE_DELTA,
  MODE_DICTIONARY
};

#define DICTIONARY_MAX 64

static unsigned
bits_of (uint64_t value)
{
  return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll (value);
}

/* How many bytes hold VALUE in two's complement; 0 for 0. */
static unsigned
bytes_of (int64_t value)
{
  return value == 0 ? 0 : bits_of ((uint64_t)(value < 0 ? ~value : value)) / 8 + 1;
}

static size_t
packed_bytes (unsigned n, unsigned width)
{
  return ((size_t)n * width + 7) / 8;
}

/* What packing needs to know of the values: the smallest one, and how many bits the largest distance from it has. */
typedef struct
{
  int64_t base;
  unsigned width;
} Frame;

static Frame
frame_of (const uint64_t *values, unsigned n)
{
  int64_t low = (int64_t)values[0], high = low;
  for (unsigned i = 1; i < n; i++)
    {
      int64_t value = (int64_t)values[i];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
  return (Frame){ low, bits_of ((uint64_t)high - (uint64_t)low) };
}

static size_t
frame_bytes (Frame frame, unsigned n)
{
  return 2 + bytes_of (frame.base) + packed_bytes (n, frame.width);
}

static void
put_frame (LnsBuffer *out, unsigned mode, Frame frame, const uint64_t *values, unsigned n)
{
  uint8_t *room = lns_buffer_reserve (out, LNS_BLOCK_MAX_BYTES);
  if (room == NULL)
    return;
  unsigned base_bytes = bytes_of (frame.base);
  uint64_t base = htole64 ((uint64_t)frame.base), offsets[LNS_BLOCK];
  room[0] = (uint8_t)frame.width;
  room[1] = (uint8_t)(mode << 4 | base_bytes);
  memcpy (room + 2, &base, sizeof base);
  for (unsigned i = 0; i < n; i++)
    offsets[i] = values[i] - (uint64_t)frame.base;
  memset (offsets + n, 0, (LNS_BLOCK - n) * sizeof *offsets);
  lns_codec_pack[frame.width](offsets, room + 2 + base_bytes);
  out->size_bytes += frame_bytes (frame, n);
}

/* Finds the distinct values, in order of appearance, and each value's place among them. Returns how many there are, or 0
 * if there are more than DICTIONARY_MAX. */
static unsigned
find_distinct (const uint64_t *values, unsigned n, uint64_t *ret_distinct, uint64_t *ret_places)
{
  uint8_t slots[4 * DICTIONARY_MAX] = { 0 }; /* place + 1 */
  unsigned n_distinct = 0;
  for (unsigned i = 0; i < n; i++)
    {
      unsigned at = (unsigned)(values[i] * UINT64_C (0x9E3779B97F4A7C15) >> 56);
      while (slots[at] != 0 && ret_distinct[slots[at] - 1] != values[i])
        at = (at + 1) % sizeof slots;
      if (slots[at] == 0)
        {
          if (n_distinct == DICTIONARY_MAX)
            return 0;
          ret_distinct[n_distinct] = values[i];
          slots[at] = (uint8_t)++n_distinct;
        }
      ret_places[i] = slots[at] - 1u;
    }
  return n_distinct;
}

void
lns_codec_encode_block (LnsBuffer *out, const uint64_t *values, unsigned n, LnsCodecTries tries)
{
  Frame plain = frame_of (values, n);
  size_t smallest = frame_bytes (plain, n);
  unsigned mode = MODE_PLAIN;

  uint64_t deltas[LNS_BLOCK] = { 0 };
  Frame delta = { 0 };
  if (tries & LNS_CODEC_TRY_DELTA && plain.width > 0 && n > 1)
    {
      for (unsigned i = 1; i < n; i++)
        deltas[i - 1] = values[i] - values[i - 1];
      delta = frame_of (deltas, n - 1);
      if (frame_bytes (delta, n - 1) + 8 < smallest)
        {
          smallest = frame_bytes (delta, n - 1) + 8;
          mode = MODE_DELTA;
        }
    }

  uint64_t distinct[DICTIONARY_MAX], places[LNS_BLOCK];
  unsigned n_distinct = 0;
  Frame words = { 0 };
  if (tries & LNS_CODEC_TRY_DICTIONARY && plain.width > 4 &&
      (n_distinct = find_distinct (values, n, distinct, places)) > 0)
    {
      words = frame_of (distinct, n_distinct);
      unsigned width = bits_of (n_distinct - 1);
      if (3 + frame_bytes (words, n_distinct) + packed_bytes (n, width) < smallest)
        mode = MODE_DICTIONARY;
    }

  switch (mode)
    {
    case MODE_PLAIN:
      put_frame (out, MODE_PLAIN, plain, values, n);
      break;
    case MODE_DELTA:
      put_frame (out, MODE_DELTA, delta, deltas, n - 1);
      lns_buffer_append_int (out, values[0], 8);
      break;
    case MODE_DICTIONARY:
      put_frame (out, MODE_DICTIONARY, (Frame){ 0, bits_of (n_distinct - 1) }, places, n);
      lns_buffer_append_int (out, n_distinct, 1);
      put_frame (out, MODE_PLAIN, words, distinct, n_distinct);
      break;
    }
}

/* Bytes not yet decoded. */
typedef struct
{
  const uint8_t *bytes;
  size_t size_bytes;
} Cursor;

static const uint8_t *
take (Cursor *cursor, size_t size_bytes)
{
  if (size_bytes > cursor->size_bytes)
    return NULL;
  const uint8_t *bytes = cursor->bytes;
  cursor->bytes += size_bytes;
  cursor->size_bytes -= size_bytes;
  return bytes;
}

/* Reads the mode, the base and N offsets from the base. RET_OFFSETS has room for LNS_BLOCK, all of which are written. */
static bool
take_frame (
    Cursor *cursor, unsigned n, unsigned *ret_mode, uint64_t *ret_base, uint64_t *ret_offsets)
{
  const uint8_t *head = take (cursor, 2);
  if (head == NULL)
    return false;
  unsigned width = head[0], base_bytes = head[1] & 15;
  const uint8_t *base = take (cursor, base_bytes);
  const uint8_t *packed = take (cursor, packed_bytes (n, width));
  if (width > 64 || base_bytes > 8 || base == NULL || packed == NULL)
    return false;

  uint64_t word = lns_load_int (base, base_bytes);
  if (base_bytes > 0 && base_bytes < 8)
    word = (uint64_t)((int64_t)(word << (64 - 8 * base_bytes)) >> (64 - 8 * base_bytes));
  *ret_base = word;
  *ret_mode = head[1] >> 4;

  /* The unpack functions read whole blocks, so a short one is padded. */
  uint8_t padded[16 * 64];
  if (n < LNS_BLOCK)
    {
      memset (padded, 0, sizeof padded);
      memcpy (padded, packed, packed_bytes (n, width));
      packed = padded;
    }
  lns_codec_unpack[width](packed, ret_offsets);
  return true;
}

/* Decodes one block of N values; RET_VALUES has room for LNS_BLOCK. */
static bool
take_block (Cursor *cursor, unsigned n, uint64_t *ret_values)
{
  if (cursor->size_bytes < 2)
    return false;
  unsigned mode = cursor->bytes[1] >> 4;
  uint64_t base;
  if (!take_frame (cursor, n - (mode == MODE_DELTA), &mode, &base, ret_values))
    return false;
  if (mode == MODE_PLAIN)
    {
      for (unsigned i = 0; i < LNS_BLOCK; i++)
        ret_values[i] += base;
      return true;
    }
  if (mode == MODE_DELTA)
    {
      const uint8_t *first = take (cursor, 8);
      if (first == NULL)
        return false;
      uint64_t value = lns_load_int (first, 8);
      for (unsigned i = 0; i < n; i++)
        {
          uint64_t step = ret_values[i] + base;
          ret_values[i] = value;
          value += step;
        }
      return true;
    }
  const uint8_t *count = take (cursor, 1);
  uint64_t words[LNS_BLOCK];
  if (mode != MODE_DICTIONARY || base != 0 || count == NULL || *count == 0 ||
      *count > DICTIONARY_MAX || !take_frame (cursor, *count, &mode, &base, words) ||
      mode != MODE_PLAIN)
    return false;
  for (unsigned i = 0; i < n; i++)
    {
      if (ret_values[i] >= *count)
        return false;
      ret_values[i] = words[ret_values[i]] + base;
    }
  return true;
}

bool
lns_codec_decode_u64 (const uint8_t *bytes, size_t size_bytes, uint64_t *ret_values, size_t n)
{
  Cursor cursor = { bytes, size_bytes };
  for (; n >= LNS_BLOCK; n -= LNS_BLOCK, ret_values += LNS_BLOCK)
    if (!take_block (&cursor, LNS_BLOCK, ret_values))
      return false;
  if (n > 0)
    {
      uint64_t values[LNS_BLOCK];
      if (!take_block (&cursor, (unsigned)n, values))
        return false;
      memcpy (ret_values, values, n * sizeof *values);
    }
  return cursor.size_bytes == 0;
}

bool
lns_codec_decode_u32 (const uint8_t *bytes, size_t size_bytes, uint32_t *ret_values, size_t n)
{
  Cursor cursor = { bytes, size_bytes };
  while (n > 0)
    {
      uint64_t values[LNS_BLOCK];
      unsigned here = n < LNS_BLOCK ? (unsigned)n : LNS_BLOCK;
      if (!take_block (&cursor, here, values))
        return false;
      for (unsigned i = 0; i < here; i++)
        ret_values[i] = (uint32_t)values[i];
      ret_values += here;
      n -= here;
    }
  return cursor.size_bytes == 0;
}
