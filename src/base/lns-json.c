/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/lns-json.h"

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

void
lns_json_write_string (FILE *stream, const void *bytes, size_t size_bytes)
{
  const uint8_t *at = bytes, *end = at + size_bytes, *unwritten = at;

  putc_unlocked ('"', stream);
  while (at < end)
    {
      bool is_special = *at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7F;
      size_t length = is_special   ? 1
                      : *at < 0x80 ? 1
                                   : lns_utf8_sequence_length (at, (size_t)(end - at));
      if (!is_special && length > 0)
        {
          at += length;
          continue;
        }
      fwrite_unlocked (unwritten, 1, (size_t)(at - unwritten), stream);
      if (length == 0)
        fputs ("\\ufffd", stream);
      else if (*at == '"' || *at == '\\')
        fprintf (stream, "\\%c", *at);
      else
        fprintf (stream, "\\u%04x", *at);
      unwritten = ++at;
    }
  fwrite_unlocked (unwritten, 1, (size_t)(at - unwritten), stream);
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
