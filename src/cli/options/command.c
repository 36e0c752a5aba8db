/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/options/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/terminal.h"

int
lns_cli_fail (const LnsError *error)
{
  char text[sizeof error->message];
  strcpy (text, error->message);
  lns_text_make_plain (text);
  fprintf (stderr, "lanescope: error: %s\n", text);
  return LNS_EXIT_FAILED;
}

int
lns_cli_refuse (const char *format, ...)
{
  LnsError error = { 0 };
  char text[sizeof error.message];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, _ (format), arguments);
  va_end (arguments);
  lns_error_set (&error, LNS_ERROR_USAGE, 0, "%s", text);
  return lns_cli_fail (&error);
}

int
lns_cli_printed (void)
{
  LnsError error = { 0 };
  return lns_cli_flush (&error) ? 0 : lns_cli_fail (&error);
}

bool
lns_cli_print_help (const LnsCommand *command, const char *topic, LnsError *error)
{
  char *text = NULL;
  size_t n_bytes;
  FILE *file = lns_memory_stream (&text, &n_bytes);
  const bool good = lns_command_print_help (command, topic, lns_cli_columns (stdout), file, error);
  lns_memory_stream_end (file);
  if (good)
    {
      lns_text_make_plain (text);
      fputs (text, stdout);
    }
  free (text);
  return good;
}

void
lns_cli_clear_lists (const LnsCommand *command, void *values)
{
  const LnsOption *option;
  for (size_t i = 0; (option = lns_command_option (command, i)) != NULL; i++)
    if (option->kind == LNS_OPTION_LIST && option->instead == NULL)
      lns_option_list_clear ((LnsOptionList *)((char *)values + option->offset));
}

bool
lns_cli_parse (const LnsCommand *command, int *argc, char **argv, void *values, int *ret_exit)
{
  LnsError error = { 0 };
  const char *help = NULL;
  const bool good = lns_options_parse (command, argc, argv, values, &help, &error);
  if (good && help == NULL)
    return true;
  lns_cli_clear_lists (command, values);
  *ret_exit = good && lns_cli_print_help (command, help, &error) ? lns_cli_printed ()
                                                                 : lns_cli_fail (&error);
  return false;
}
