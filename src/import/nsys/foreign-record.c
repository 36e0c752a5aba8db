/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/foreign-record.h"

#include <endian.h>
#include <math.h>
#include <string.h>

/* Types of values. Those from FIRST_TEXT on include the size: even numbers are blobs, odd ones are texts. */
enum
{
  TYPE_NULL = 0,
  TYPE_WIDE = 6, /* a whole number of 8 bytes; 1 to 5 are narrower                             */
  TYPE_REAL = 7,
  TYPE_ZERO = 8,
  TYPE_ONE = 9,
  FIRST_TEXT = 12
};

bool
_lns_record_varint (const uint8_t **at, const uint8_t *end, uint64_t *ret_number)
{
  uint64_t number = 0;

  for (unsigned i = 0; i < 9 && *at < end; i++)
    {
      const uint8_t byte = *(*at)++;
      if (i == 8)
        number = number << 8 | byte;
      else
        number = number << 7 | (byte & 0x7F);
      if (i == 8 || byte < 0x80)
        {
          *ret_number = number;
          return true;
        }
    }
  return false;
}

/* Reads a signed big-endian number of SIZE_BYTES (1 to 8). */
static int64_t
get_integer (const uint8_t *bytes, size_t size_bytes)
{
  uint64_t number = (uint64_t)(int64_t)(int8_t)bytes[0];

  for (size_t i = 1; i < size_bytes; i++)
    number = number << 8 | bytes[i];
  return (int64_t)number;
}

/* Reads a value of TYPE from the SIZE_BYTES at BYTES. */
static void
get_value (LnsKeptValue *value, uint64_t type, const uint8_t *bytes, size_t size_bytes)
{
  if (type >= FIRST_TEXT)
    {
      value->type = type % 2 != 0 ? LNS_KEPT_TEXT : LNS_KEPT_BLOB;
      value->size_bytes = size_bytes;
      value->bytes = (const char *)bytes;
    }
  else if (type == TYPE_NULL)
    value->type = LNS_KEPT_NULL;
  else
    {
      value->type = LNS_KEPT_INTEGER;
      value->integer = size_bytes > 0 ? get_integer (bytes, size_bytes) : type == TYPE_ONE;
    }
  /* The integer's bits are those of the real number. SQLite has NULL in place of NaN. */
  if (type == TYPE_REAL)
    value->type = isnan (value->real) ? LNS_KEPT_NULL : LNS_KEPT_REAL;
}

bool
_lns_record_decode (const LnsRecordPlan *plan,
                    const uint8_t *record,
                    size_t size_bytes,
                    int64_t rowid,
                    LnsKeptValue *values)
{
  static const uint8_t sizes[FIRST_TEXT] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };
  const uint8_t *types = record, *end = record + size_bytes;
  uint64_t header_bytes;

  if (!_lns_record_varint (&types, end, &header_bytes) || header_bytes > size_bytes)
    return false;
  const uint8_t *types_end = record + header_bytes, *bytes = types_end;
  for (unsigned i = 0; i < plan->n_stored; i++)
    {
      /* Rows that are older than a column do not have a value for it. */
      uint64_t type = TYPE_NULL;
      if (types < types_end && *types < 0x80)
        type = *types++;
      else if (types < types_end && !_lns_record_varint (&types, types_end, &type))
        return false;
      const uint64_t n = type < FIRST_TEXT ? sizes[type] : (type - FIRST_TEXT) / 2;
      if (n > (uint64_t)(end - bytes) || type == FIRST_TEXT - 1 || type == FIRST_TEXT - 2)
        return false;
      if (plan->place[i] >= 0)
        {
          LnsKeptValue *value = &values[plan->place[i]];
          get_value (value, type, bytes, n);
          if (plan->is_rowid[i] && type == TYPE_NULL)
            *value = (LnsKeptValue){ .type = LNS_KEPT_INTEGER, .integer = rowid };
          else if (plan->is_real[i] && value->type == LNS_KEPT_INTEGER)
            *value = (LnsKeptValue){ .type = LNS_KEPT_REAL, .real = (double)value->integer };
        }
      bytes += n;
    }
  return true;
}

/* --- Encoding --------------------------------------------------------------------------------- */

static uint64_t
type_of (const LnsKeptValue *value)
{
  switch (value->type)
    {
    case LNS_KEPT_INTEGER:
      return TYPE_WIDE;
    case LNS_KEPT_REAL:
      return TYPE_REAL;
    case LNS_KEPT_TEXT:
      return FIRST_TEXT + 1 + 2 * (uint64_t)value->size_bytes;
    case LNS_KEPT_BLOB:
      return FIRST_TEXT + 2 * (uint64_t)value->size_bytes;
    default:
      return TYPE_NULL;
    }
}

/* Writes NUMBER, which is below 2⁵⁶, to TO. Returns the end of what it wrote. */
static uint8_t *
put_varint (uint8_t *to, uint64_t number)
{
  unsigned n = 1;

  while (n < 8 && number >> 7 * n != 0)
    n++;
  for (unsigned i = n; i > 0; i--)
    *to++ = (uint8_t)((number >> 7 * (i - 1) & 0x7F) | (i > 1 ? 0x80 : 0));
  return to;
}

void
_lns_record_encode (LnsBuffer *out, const LnsKeptValue *values, unsigned n)
{
  uint8_t header[2 + LNS_RECORD_VALUES_MAX * 8], *at = header + 2;

  for (unsigned i = 0; i < n; i++)
    at = put_varint (at, type_of (&values[i]));
  /* The header's size, always in two bytes. */
  header[0] = (uint8_t)(0x80 | (at - header) >> 7);
  header[1] = (at - header) & 0x7F;
  lns_buffer_append (out, header, (size_t)(at - header));
  for (unsigned i = 0; i < n; i++)
    {
      const uint64_t word = htobe64 ((uint64_t)values[i].integer);
      if (values[i].type == LNS_KEPT_TEXT || values[i].type == LNS_KEPT_BLOB)
        lns_buffer_append (out, values[i].bytes, values[i].size_bytes);
      else if (values[i].type != LNS_KEPT_NULL)
        lns_buffer_append (out, &word, sizeof word);
    }
}
