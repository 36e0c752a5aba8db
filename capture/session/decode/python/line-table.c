/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/python/line-table.h"

static bool
add (LnsPythonLines *lines, uint32_t end, int32_t line)
{
  if (lines->n > 0 && lines->items[lines->n - 1].line == line)
    {
      lines->items[lines->n - 1].end = end;
      return true;
    }
  LnsPythonLineRange *range = lns_array_try_add (lines);
  if (range != NULL)
    *range = (LnsPythonLineRange){ end, line > 0 ? line : 0 };
  return range != NULL;
}

/* Objects/lnotab_notes.txt of 3.9: pairs of an unsigned step in bytes and a signed step in lines. */
static bool
decode_deltas (int32_t line, const uint8_t *bytes, size_t n, LnsPythonLines *lines)
{
  uint32_t offset = 0;

  for (size_t i = 0; i + 1 < n; i += 2)
    {
      offset += bytes[i];
      if (bytes[i] > 0 && !add (lines, offset, line))
        return false;
      line = (int32_t)((uint32_t)line + (uint32_t)(int8_t)bytes[i + 1]);
    }
  return add (lines, UINT32_MAX, line);
}

/* Objects/lnotab_notes.txt of 3.10: the length of a range in bytes, and the step to its line; -128 means no line. */
static bool
decode_ranges (int32_t line, const uint8_t *bytes, size_t n, LnsPythonLines *lines)
{
  uint32_t end = 0;

  for (size_t i = 0; i + 1 < n; i += 2)
    {
      const int8_t step = (int8_t)bytes[i + 1];
      end += bytes[i];
      if (step != -128)
        line = (int32_t)((uint32_t)line + (uint32_t)step);
      if (bytes[i] > 0 && !add (lines, end, step == -128 ? 0 : line))
        return false;
    }
  return true;
}

/* A signed number in groups of six bits, the lowest first; bit 6 says that another follows, and the lowest bit of the whole
 * is the sign. */
static int32_t
signed_number (const uint8_t *bytes, size_t n)
{
  uint32_t number = 0;

  for (size_t i = 0; i < n && i < 6; i++)
    {
      number |= (uint32_t)(bytes[i] & 63) << (6 * i);
      if ((bytes[i] & 64) == 0)
        break;
    }
  return (number & 1) != 0 ? -(int32_t)(number >> 1) : (int32_t)(number >> 1);
}

/* Objects/locations.md (3.11: Objects/locations.md): an entry begins with a byte whose highest bit is set, which has its
 * form in bits 3 to 6 and in bits 0 to 2 its length in instructions of two bytes, less one. */
static bool
decode_locations (int32_t line, const uint8_t *bytes, size_t n, LnsPythonLines *lines)
{
  uint32_t end = 0;

  for (size_t i = 0; i < n;)
    {
      const unsigned form = bytes[i] >> 3 & 15;
      end += 2 * ((bytes[i] & 7u) + 1);
      size_t next = i + 1;
      while (next < n && (bytes[next] & 128) == 0)
        next++;
      if (form == 13 || form == 14) /* without columns, or long: the step comes first */
        line = (int32_t)((uint32_t)line + (uint32_t)signed_number (bytes + i + 1, next - i - 1));
      else if (form >= 10 && form <= 12) /* on one line: the step is in the form */
        line = (int32_t)((uint32_t)line + (form - 10));
      if (!add (lines, end, form == 15 ? 0 : line))
        return false;
      i = next;
    }
  return true;
}

bool
_lns_python_lines_decode (LnsPythonLineFormat format,
                          int32_t first_line,
                          const uint8_t *bytes,
                          size_t n,
                          LnsPythonLines *lines)
{
  switch (format)
    {
    case LNS_PYTHON_LINES_DELTAS:
      return decode_deltas (first_line, bytes, n, lines);
    case LNS_PYTHON_LINES_RANGES:
      return decode_ranges (first_line, bytes, n, lines);
    case LNS_PYTHON_LINES_LOCATIONS:
      return decode_locations (first_line, bytes, n, lines);
    }
  return true;
}

int32_t
_lns_python_line_at (const LnsPythonLines *lines, int32_t first_line, int64_t offset)
{
  size_t low = 0, high = lines->n;

  if (offset < 0)
    return first_line;
  while (low < high)
    {
      const size_t middle = low + (high - low) / 2;
      if (offset < lines->items[middle].end)
        high = middle;
      else
        low = middle + 1;
    }
  return low < lines->n ? lines->items[low].line : 0;
}
