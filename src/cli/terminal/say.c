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

#include "src/base/visible.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/terminal.h"

/* What was said; it stays for the process's life. */
static char **lines;
static size_t n_lines;
static unsigned n_warnings;

/* Keeps LINE, which becomes ours. False where it is known already. */
static bool
keep (char *line)
{
  for (size_t i = 0; i < n_lines; i++)
    if (strcmp (lines[i], line) == 0)
      return false;
  char **more = realloc (lines, (n_lines + 1) * sizeof *lines);
  if (more == NULL)
    return true;
  lines = more;
  lines[n_lines++] = line;
  return true;
}

void
lns_cli_say (const char *word, const char *format, ...)
{
  char *said = NULL, *text = NULL;
  va_list arguments;
  va_start (arguments, format);
  if (vasprintf (&said, _ (format), arguments) >= 0)
    text = lns_visible_text (said, strlen (said));
  va_end (arguments);
  free (said);
  if (text == NULL)
    return;
  lns_cli_plain_text (text);
  if (!keep (text))
    {
      free (text);
      return;
    }
  n_warnings += strcmp (word, "note") != 0;
  fprintf (stderr, "lanescope: %s: %s\n", word, text);
}

void
lns_cli_tell (const char *format, ...)
{
  char *text = NULL;
  va_list arguments;
  va_start (arguments, format);
  if (vasprintf (&text, _ (format), arguments) < 0)
    text = NULL;
  va_end (arguments);
  if (text == NULL)
    return;
  lns_cli_plain_text (text);
  fprintf (stderr, "%s\n", text);
  free (text);
}

bool
lns_cli_usage (LnsError *error, const char *format, ...)
{
  char text[2 * sizeof error->message]; /* what is too long is cut where it is kept */
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, _ (format), arguments);
  va_end (arguments);
  return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s", text);
}

unsigned
lns_cli_n_warnings (void)
{
  return n_warnings;
}
