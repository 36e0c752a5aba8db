/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/text.h"

/* A byte of a text. */
static void
follow_inside (LnsTraceText *text, uint8_t byte)
{
  text->n_bytes++;
  if (text->after_backslash)
    {
      text->after_backslash = false;
      text->n_hex = byte == 'u' ? 4 : 0;
    }
  else if (text->n_hex > 0)
    text->n_hex--;
  else if (byte == '\\')
    text->after_backslash = true;
  else if (byte == '"')
    *text = (LnsTraceText){ 0 };
}

static bool
divides_tokens (uint8_t byte)
{
  return byte <= ' ' || byte == ',' || byte == ':' || byte == '[' || byte == ']' || byte == '{' ||
         byte == '}';
}

void
_lns_trace_text_follow (LnsTraceText *text, const uint8_t *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (text->in_text)
      follow_inside (text, bytes[i]);
    else if (divides_tokens (bytes[i]))
      text->n_bytes = 0;
    else
      {
        text->n_bytes++;
        text->in_text = bytes[i] == '"';
      }
}

const char *
_lns_trace_text_escape_end (const LnsTraceText *text)
{
  static const char zeros[] = "0000";

  return text->after_backslash ? "n" : zeros + sizeof zeros - 1 - text->n_hex;
}

size_t
_lns_trace_text_rest (LnsTraceText *text, const uint8_t *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      if (bytes[i] == '"' && !text->after_backslash)
        {
          *text = (LnsTraceText){ 0 };
          return i;
        }
      text->after_backslash = !text->after_backslash && bytes[i] == '\\';
    }
  return n;
}
