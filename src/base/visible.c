/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/visible.h"

#include <stdint.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/memory.h"

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

/* Whether a terminal acts on CODE or shows nothing for it. The second list is Default_Ignorable_Code_Point of Unicode's
 * DerivedCoreProperties.txt, with the embeddings, overrides and isolates of direction in it. Joiners (U+200C and U+200D)
 * and variation selectors (U+FE00 to U+FE0F) are not in it: the spelling of several languages needs them, and emoji. */
static bool
is_hidden (uint32_t code)
{
  static const struct
  {
    uint32_t first, last;
  } hidden[] = {
    { 0x80, 0x9F },     /* C1 controls, which begin commands as ESC does */
    { 0x2028, 0x2029 }, /* line and paragraph separators */
    { 0xAD, 0xAD },       { 0x34F, 0x34F },   { 0x61C, 0x61C },     { 0x115F, 0x1160 },
    { 0x17B4, 0x17B5 },   { 0x180B, 0x180F }, { 0x200B, 0x200B },   { 0x200E, 0x200F },
    { 0x202A, 0x202E },   { 0x2060, 0x206F }, { 0x3164, 0x3164 },   { 0xFEFF, 0xFEFF },
    { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFF8 }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A },
    { 0xE0000, 0xE0FFF },
  };

  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (code >= hidden[i].first && code <= hidden[i].last)
      return true;
  return false;
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
        snprintf (ret_escape, LNS_VISIBLE_SIZE, code > 0xFFFF ? "\\U%08X" : "\\u%04X", code);
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
  /* If any bytes complete it, the smallest or the greatest of each byte's range do. */
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

size_t
lns_visible_width (const char *bytes, size_t size)
{
  size_t n = 0;
  for (size_t i = 0; i < size; i++)
    n += ((unsigned char)bytes[i] & 0xC0) != 0x80; /* the other bytes continue a character */
  return n;
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
  char *text = lns_calloc (room, 1);

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
