/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/python/text.h"

#include <stdlib.h>
#include <string.h>

static char *
put_utf8 (char *to, uint32_t c)
{
  if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
    c = 0xfffd; /* a lone surrogate, or torn */
  if (c < 0x80)
    *to++ = (char)c;
  else if (c < 0x800)
    {
      *to++ = (char)(0xc0 | c >> 6);
      *to++ = (char)(0x80 | (c & 63));
    }
  else
    {
      if (c >= 0x10000)
        {
          *to++ = (char)(0xf0 | c >> 18);
          *to++ = (char)(0x80 | (c >> 12 & 63));
        }
      else
        *to++ = (char)(0xe0 | c >> 12);
      *to++ = (char)(0x80 | (c >> 6 & 63));
      *to++ = (char)(0x80 | (c & 63));
    }
  return to;
}

char *
_lns_python_text_utf8 (const uint8_t *data, uint64_t n, unsigned kind, bool is_cut)
{
  char *utf8 = malloc (4 * n + 4), *to = utf8;

  if (utf8 == NULL)
    return NULL;
  for (uint64_t i = 0; i < n; i++)
    {
      uint32_t c = 0;
      memcpy (&c, data + i * kind, kind);
      to = put_utf8 (to, c);
    }
  if (is_cut)
    to = put_utf8 (to, 0x2026);
  *to = '\0';
  return utf8;
}
