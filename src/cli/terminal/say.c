/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/terminal/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/visible.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/terminal.h"

/* Room for a text, on the stack: a program may be recorded, which a lack of memory must not end. Longer ones, as of two of
 * the longest paths, are cut. */
#define TEXT_BYTES 8192

/* What was said; it stays for the process's life. */
static LNS_ARRAY (char *) lines;
static unsigned n_warnings;

/* Writes the text that the translation of FORMAT gives, in letters that the locale can show. */
static void __attribute__ ((format (printf, 3, 0)))
make_text (char *ret_text, size_t room, const char *format, va_list arguments)
{
  vsnprintf (ret_text, room, _ (format), arguments);
  lns_text_make_plain (ret_text);
}

/* Whether TEXT was said before. Remembers it; without memory for that, it may be said again. */
static bool
was_said (const char *text)
{
  for (size_t i = 0; i < lines.n; i++)
    if (strcmp (lines.items[i], text) == 0)
      return true;
  char *copy = strdup (text), **item = copy != NULL ? lns_array_try_add (&lines) : NULL;
  if (item != NULL)
    *item = copy;
  else
    free (copy);
  return false;
}

void
lns_cli_say (const char *word, const char *format, ...)
{
  char said[TEXT_BYTES], text[TEXT_BYTES];
  va_list arguments;
  va_start (arguments, format);
  make_text (said, sizeof said, format, arguments);
  va_end (arguments);
  lns_visible_copy (text, sizeof text, said, strlen (said));
  if (was_said (text))
    return;
  n_warnings += strcmp (word, "note") != 0;
  fprintf (stderr, "lanescope: %s: %s\n", word, text);
}

void
lns_cli_tell (const char *format, ...)
{
  char text[TEXT_BYTES];
  va_list arguments;
  va_start (arguments, format);
  make_text (text, sizeof text, format, arguments);
  va_end (arguments);
  fprintf (stderr, "%s\n", text);
}

unsigned
lns_cli_n_warnings (void)
{
  return n_warnings;
}
