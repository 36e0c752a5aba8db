/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/kept-codec.h"

#include <stdlib.h>

#include "src/store/format/codec.h"

/* The byte of a column whose values have several types. Otherwise it is the type of all of them. */
#define MIXED LNS_N_KEPT_TYPES

static bool
has_number (LnsKeptType type)
{
  return type != LNS_KEPT_NULL && type != LNS_KEPT_UNSET;
}

static bool
has_bytes (LnsKeptType type)
{
  return type == LNS_KEPT_TEXT || type == LNS_KEPT_BLOB;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

/* Appends the N VALUES as blocks, preceded by the blocks' length in bytes. */
static void
put_numbers (LnsBuffer *out, const uint64_t *values, uint32_t n)
{
  const size_t at = out->size_bytes;

  lns_buffer_append_int (out, 0, 4);
  for (uint32_t i = 0; i < n; i += LNS_BLOCK)
    lns_codec_encode_block (out, values + i, n - i < LNS_BLOCK ? n - i : LNS_BLOCK,
                            LNS_CODEC_TRY_DELTA | LNS_CODEC_TRY_DICTIONARY);
  lns_buffer_set_int (out, at, out->size_bytes - at - 4, 4);
}

static void
put_column (LnsBuffer *out, const LnsKeptValue *values, uint32_t n_rows, uint32_t n_columns)
{
  uint64_t types[LNS_KEPT_MAX_ROWS], numbers[LNS_KEPT_MAX_ROWS];
  const LnsKeptType first = values[0].type;
  uint32_t n_numbers = 0;
  bool mixed = false;

  for (uint32_t i = 0; i < n_rows; i++)
    {
      const LnsKeptValue *value = &values[(size_t)i * n_columns];
      types[i] = value->type;
      mixed |= value->type != first;
      if (has_number (value->type))
        numbers[n_numbers++] =
            has_bytes (value->type) ? value->size_bytes : (uint64_t)value->integer;
    }
  lns_buffer_append_int (out, mixed ? MIXED : first, 1);
  if (mixed)
    put_numbers (out, types, n_rows);
  if (n_numbers > 0)
    put_numbers (out, numbers, n_numbers);
  for (uint32_t i = 0; i < n_rows; i++)
    if (has_bytes (values[(size_t)i * n_columns].type))
      lns_buffer_append (out, values[(size_t)i * n_columns].bytes,
                         values[(size_t)i * n_columns].size_bytes);
}

void
lns_kept_encode (LnsBuffer *out, const LnsKeptValue *values, uint32_t n_rows, uint32_t n_columns)
{
  lns_buffer_append_int (out, n_rows, 4);
  lns_buffer_append_int (out, n_columns, 4);
  for (uint32_t column = 0; n_rows > 0 && column < n_columns; column++)
    put_column (out, values + column, n_rows, n_columns);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

typedef struct
{
  const uint8_t *at, *end;
} Rest;

static bool
take_int (Rest *rest, unsigned width_bytes, uint32_t *ret_value)
{
  if ((size_t)(rest->end - rest->at) < width_bytes)
    return false;
  *ret_value = (uint32_t)lns_load_int (rest->at, width_bytes);
  rest->at += width_bytes;
  return true;
}

static bool
take_numbers (Rest *rest, uint64_t *ret_values, uint32_t n)
{
  uint32_t length;

  if (!take_int (rest, 4, &length) || length > (size_t)(rest->end - rest->at) ||
      !lns_codec_decode_u64 (rest->at, length, ret_values, n))
    return false;
  rest->at += length;
  return true;
}

static bool
take_column (Rest *rest, LnsKeptValue *ret_values, uint32_t n_rows, uint32_t n_columns)
{
  uint64_t types[LNS_KEPT_MAX_ROWS], numbers[LNS_KEPT_MAX_ROWS];
  uint32_t type, n_numbers = 0, number = 0;

  if (!take_int (rest, 1, &type) || type > MIXED ||
      (type == MIXED && !take_numbers (rest, types, n_rows)))
    return false;
  for (uint32_t i = 0; i < n_rows; i++)
    {
      types[i] = type != MIXED ? type : types[i];
      if (types[i] >= LNS_N_KEPT_TYPES)
        return false;
      n_numbers += has_number ((LnsKeptType)types[i]);
    }
  if (n_numbers > 0 && !take_numbers (rest, numbers, n_numbers))
    return false;
  for (uint32_t i = 0; i < n_rows; i++)
    {
      LnsKeptValue *value = &ret_values[(size_t)i * n_columns];
      *value = (LnsKeptValue){ .type = (LnsKeptType)types[i] };
      if (!has_number (value->type))
        continue;
      value->integer = (int64_t)numbers[number++];
      if (!has_bytes (value->type))
        continue;
      value->size_bytes = (size_t)value->integer;
      if (value->size_bytes > (size_t)(rest->end - rest->at))
        return false;
      value->bytes = (const char *)rest->at;
      rest->at += value->size_bytes;
    }
  return true;
}

bool
lns_kept_shape (const char *bytes, size_t size_bytes, uint32_t *ret_n_rows, uint32_t *ret_n_columns)
{
  Rest rest = { (const uint8_t *)bytes, (const uint8_t *)bytes + size_bytes };

  return take_int (&rest, 4, ret_n_rows) && take_int (&rest, 4, ret_n_columns) &&
         *ret_n_rows <= LNS_KEPT_MAX_ROWS && *ret_n_columns <= LNS_KEPT_MAX_COLUMNS &&
         *ret_n_columns <= size_bytes;
}

LnsKeptValue *
lns_kept_decode (const char *bytes,
                 size_t size_bytes,
                 uint32_t *ret_n_rows,
                 uint32_t *ret_n_columns)
{
  uint32_t n_rows, n_columns;

  if (!lns_kept_shape (bytes, size_bytes, &n_rows, &n_columns))
    return NULL;
  Rest rest = { (const uint8_t *)bytes + 8, (const uint8_t *)bytes + size_bytes };
  LnsKeptValue *values = calloc ((size_t)n_rows * n_columns + 1, sizeof *values);
  bool good = values != NULL;
  for (uint32_t column = 0; good && n_rows > 0 && column < n_columns; column++)
    good = take_column (&rest, values + column, n_rows, n_columns);
  if (!good || rest.at != rest.end)
    {
      free (values);
      return NULL;
    }
  *ret_n_rows = n_rows;
  *ret_n_columns = n_columns;
  return values;
}

LnsKeptValue *
lns_kept_decode_as (const char *bytes, size_t size_bytes, uint32_t n_rows, uint32_t n_columns)
{
  uint32_t has_rows, has_columns;

  return lns_kept_shape (bytes, size_bytes, &has_rows, &has_columns) && has_rows == n_rows &&
                 has_columns == n_columns
             ? lns_kept_decode (bytes, size_bytes, &has_rows, &has_columns)
             : NULL;
}
