/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a run prints: on stderr, and to the terminal that has asked for what is done now. */

#include "src/cli/profile/profile.h"

#include <stdarg.h>

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

void
lns_profile_say (LnsProfile *profile, LnsSeverity severity, const char *code, const char *text)
{
  static const char *const words[] = { "note", "warning", "error" };
  const char *word = words[severity];
  lns_cli_say (word, "%s [%s]", text, code);
  if (profile->answer != NULL)
    fprintf (profile->answer, "lanescope: %s: %s [%s]\n", word, text, code);
  lns_progress_diagnostic (profile, code, severity, text);
}
