/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/visible.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"

/* The code point of the LENGTH bytes of valid UTF-8 at BYTES. */
static uint32_t
decode (const uint8_t *bytes, size_t length)
{
  static const uint8_t masks[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
  uint32_t code = bytes[0] & masks[length];

  for (size_t i = 1; i < length; i++)
    code = code << 6 | (bytes[i] & 0x3F);
  return code;
}

/* C1 controls, which begin commands as ESC does; line and paragraph separators; embeddings, overrides and
 * isolates of direction, and what ends them. */
static bool
is_hidden (uint32_t code)
{
  return (code >= 0x80 && code <= 0x9F) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

size_t
lns_visible_next (const char *bytes, size_t size, char ret_escape[LNS_VISIBLE_SIZE])
{
  uint8_t first = (uint8_t)bytes[0];
  size_t length = lns_utf8_sequence_length ((const uint8_t *)bytes, size);

  ret_escape[0] = '\0';
  if (length == 1 && first >= 0x20 && first != 0x7F)
    return 1;
  if (length > 1)
    {
      uint32_t code = decode ((const uint8_t *)bytes, length);
      if (is_hidden (code))
        snprintf (ret_escape, LNS_VISIBLE_SIZE, "\\u%04X", (unsigned)code);
      return length;
    }
  if (first == '\n' || first == '\t' || first == '\r')
    snprintf (ret_escape, LNS_VISIBLE_SIZE, "\\%c",
              first == '\n'   ? 'n'
              : first == '\t' ? 't'
                              : 'r');
  else
    snprintf (ret_escape, LNS_VISIBLE_SIZE, "\\x%02X", first);
  return 1;
}

bool
lns_visible_is_begun (const char *bytes, size_t size)
{
  static const char rest[2][3] = { { '\x80', '\x80', '\x80' }, { '\xBF', '\xBF', '\xBF' } };
  uint8_t first = (uint8_t)bytes[0];
  size_t length = first < 0xC2 || first > 0xF4 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;

  if (size >= length)
    return false;
  /* Some end makes it whole: the least or the greatest of each byte's range does, if any.           */
  for (unsigned i = 0; i < 2; i++)
    {
      uint8_t whole[4];
      memcpy (whole, bytes, size);
      memcpy (whole + size, rest[i], length - size);
      if (lns_utf8_sequence_length (whole, length) == length)
        return true;
    }
  return false;
}

void
lns_visible_write (FILE *stream, const char *bytes, size_t size)
{
  char escape[LNS_VISIBLE_SIZE];

  for (size_t length; size > 0; bytes += length, size -= length)
    {
      length = lns_visible_next (bytes, size, escape);
      if (escape[0] != '\0')
        fputs (escape, stream);
      else
        fwrite (bytes, 1, length, stream);
    }
}

char *
lns_visible_text (const char *bytes, size_t size)
{
  char least[1];
  size_t room = lns_visible_copy (least, sizeof least, bytes, size) + 1;
  char *text = malloc (room);

  if (text != NULL)
    lns_visible_copy (text, room, bytes, size);
  return text;
}

size_t
lns_visible_copy (char *ret_text, size_t room, const char *bytes, size_t size)
{
  char escape[LNS_VISIBLE_SIZE];
  size_t n = 0, n_written = 0;

  for (size_t length; size > 0; bytes += length, size -= length)
    {
      length = lns_visible_next (bytes, size, escape);
      const char *shown = escape[0] != '\0' ? escape : bytes;
      size_t n_shown = escape[0] != '\0' ? strlen (escape) : length;
      if (n == n_written && n + n_shown < room)
        {
          memcpy (ret_text + n, shown, n_shown);
          n_written += n_shown;
        }
      n += n_shown;
    }
  ret_text[n_written] = '\0';
  return n;
}
