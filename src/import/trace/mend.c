/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/mend.h"

#include <string.h>
#include <strings.h>

static bool
is_of_word (uint8_t byte)
{
  return byte == '-' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Ends the word: true, false and null stay, and so do signs and exponents of numbers. */
static void
end_word (LnsTraceMend *mend, LnsBuffer *out)
{
  static const char *const numbers[] = { "nan", "inf", "infinity" };
  const char *word = mend->word;
  size_t n = mend->n_word;
  const bool is_negative = n > 1 && word[0] == '-';

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strlen (numbers[i]) == n - is_negative &&
        strncasecmp (word + is_negative, numbers[i], n - is_negative) == 0)
      {
        word = "null";
        n = strlen (word);
        break;
      }
  lns_buffer_append (out, word, n);
  mend->n_word = 0;
}

/* A byte outside texts. */
static void
mend_outside (LnsTraceMend *mend, uint8_t byte, LnsBuffer *out)
{
  if (is_of_word (byte))
    {
      /* Too long for any that is known.                                                           */
      if (mend->n_word == sizeof mend->word)
        end_word (mend, out);
      mend->word[mend->n_word++] = (char)byte;
      return;
    }
  if (mend->n_word > 0)
    end_word (mend, out);
  mend->in_text = byte == '"';
  lns_buffer_append (out, &byte, 1);
}

void
_lns_trace_mend (LnsTraceMend *mend, const uint8_t *bytes, size_t n, LnsBuffer *out)
{
  for (size_t i = 0; i < n; i++)
    {
      const uint8_t byte = bytes[i] < ' ' && mend->in_text ? ' ' : bytes[i];
      if (!mend->in_text)
        {
          mend_outside (mend, byte, out);
          continue;
        }
      lns_buffer_append (out, &byte, 1);
      mend->in_text = mend->is_escaped || byte != '"';
      mend->is_escaped = !mend->is_escaped && byte == '\\';
    }
}
