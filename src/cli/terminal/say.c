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
#include "src/base/memory.h"
#include "src/base/visible.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/terminal.h"

/* What was said; it stays for the process's life. */
static LNS_ARRAY (char *) lines;
static unsigned n_warnings;

/* The text that the translation of FORMAT gives, in letters that the locale can show. Owned. */
static char *__attribute__ ((format (printf, 1, 0)))
make_text (const char *format, va_list arguments)
{
  char *text;
  if (vasprintf (&text, _ (format), arguments) < 0)
    lns_out_of_memory ();
  lns_text_make_plain (text);
  return text;
}

void
lns_cli_say (const char *word, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  char *said = make_text (format, arguments), *text = lns_visible_text (said, strlen (said));
  va_end (arguments);
  free (said);
  for (size_t i = 0; i < lines.n; i++)
    if (strcmp (lines.items[i], text) == 0)
      {
        free (text);
        return;
      }
  *lns_array_add (&lines) = text;
  n_warnings += strcmp (word, "note") != 0;
  fprintf (stderr, "lanescope: %s: %s\n", word, text);
}

void
lns_cli_tell (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  char *text = make_text (format, arguments);
  va_end (arguments);
  fprintf (stderr, "%s\n", text);
  free (text);
}

unsigned
lns_cli_n_warnings (void)
{
  return n_warnings;
}
