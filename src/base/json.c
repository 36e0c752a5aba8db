/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "src/base/json.h"

size_t
lns_utf8_sequence_length (const uint8_t *bytes, size_t size)
{
  uint8_t lead = bytes[0];
  size_t length = lead < 0x80   ? 1
                  : lead < 0xC2 ? 0
                  : lead < 0xE0 ? 2
                  : lead < 0xF0 ? 3
                  : lead < 0xF5 ? 4
                                : 0;
  if (length == 0 || length > size)
    return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xC0) != 0x80)
      return 0;
  if ((lead == 0xE0 && bytes[1] < 0xA0) || (lead == 0xED && bytes[1] > 0x9F) ||
      (lead == 0xF0 && bytes[1] < 0x90) || (lead == 0xF4 && bytes[1] > 0x8F))
    return 0;
  return length;
}

size_t
lns_json_plain_length (const uint8_t *bytes, size_t size)
{
  size_t n = 0;

  for (size_t length = 1; n < size && length > 0; n += length)
    {
      uint8_t byte = bytes[n];
      length = byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7F ? 0
               : byte < 0x80                                              ? 1
                             : lns_utf8_sequence_length (bytes + n, size - n);
    }
  return n;
}

const char *
lns_json_escape (uint8_t byte, char ret_escape[LNS_JSON_ESCAPE_SIZE])
{
  /* Not by printf(): a name may have nothing but such bytes. */
  strcpy (ret_escape, byte < 0x80 ? "\\u0000" : "\\ufffd");
  if (byte == '"' || byte == '\\')
    {
      ret_escape[1] = (char)byte;
      ret_escape[2] = '\0';
    }
  else if (byte < 0x80)
    {
      ret_escape[4] = "0123456789abcdef"[byte >> 4];
      ret_escape[5] = "0123456789abcdef"[byte & 0xF];
    }
  return ret_escape;
}

void
lns_json_write_string (FILE *stream, const void *bytes, size_t size_bytes)
{
  const uint8_t *at = bytes, *end = at + size_bytes;
  char escape[LNS_JSON_ESCAPE_SIZE];

  putc_unlocked ('"', stream);
  while (at < end)
    {
      size_t n = lns_json_plain_length (at, (size_t)(end - at));
      fwrite_unlocked (at, 1, n, stream);
      at += n;
      if (at < end)
        fputs_unlocked (lns_json_escape (*at++, escape), stream);
    }
  putc_unlocked ('"', stream);
}

void
lns_json_write_double (FILE *stream, double value)
{
  if (isfinite (value))
    fprintf (stream, "%.17g", value);
  else
    fputs ("null", stream);
}
