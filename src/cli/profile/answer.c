/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a run prints: on stderr, and to the terminal that asked for what is done now. */

#include "src/cli/profile/profile.h"

#include <stdarg.h>

#include "src/cli/terminal/language.h"
#include "src/cli/terminal/terminal.h"

/* Room for a line, on the stack: a program is recorded, which a lack of memory must not end. Diagnostics may name the
 * longest paths. */
#define TEXT_BYTES 8192

void
lns_profile_print (LnsProfile *profile, const char *format, ...)
{
  FILE *streams[] = { stderr, profile->answer };
  for (int i = 0; i < 2 && streams[i] != NULL; i++)
    {
      va_list arguments;
      va_start (arguments, format);
      vfprintf (streams[i], format, arguments);
      va_end (arguments);
    }
}

/* Prints a line of text to STREAM, unless that is NULL, as the locale can show it. */
static void
print_line (FILE *stream, const char *word, const char *text)
{
  char plain[TEXT_BYTES];
  snprintf (plain, sizeof plain, "%s", text);
  lns_text_make_plain (plain);
  if (stream != NULL && word != NULL)
    fprintf (stream, "lanescope: %s: %s\n", word, plain);
  else if (stream != NULL)
    fprintf (stream, "%s\n", plain);
}

void
lns_profile_tell (LnsProfile *profile, const char *word, const char *format, ...)
{
  char text[TEXT_BYTES];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, _ (format), arguments);
  va_end (arguments);
  print_line (stderr, word, text);
  print_line (profile->answer, word, text);
}

void
lns_profile_fail (LnsProfile *profile, const LnsError *error)
{
  lns_cli_fail (error);
  print_line (profile->answer, "error", error->message);
  profile->report_failed = true;
}

void
lns_profile_say (LnsProfile *profile, LnsSeverity severity, const char *code, const char *text)
{
  static const char *const words[] = { "note", "warning", "error" };
  char shown[TEXT_BYTES - 64], line[TEXT_BYTES]; /* a code is shorter */
  lns_text_copy_sentence (shown, sizeof shown, text);
  lns_cli_say (words[severity], "%s [%s]", shown, code);
  snprintf (line, sizeof line, "%s [%s]", shown, code);
  print_line (profile->answer, words[severity], line);
  lns_progress_diagnostic (profile, code, severity, text);
}
