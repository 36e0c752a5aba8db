/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/terminal/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/terminal/terminal.h"

/* Columns of the bar, and of the number at its end. */
#define BAR    24
#define NUMBER 4

LnsCliSteps
lns_cli_steps_of (unsigned n)
{
  const char *terminal = getenv ("TERM");
  return (LnsCliSteps){ .n = n,
                        .has_bar = isatty (STDERR_FILENO) &&
                                   (terminal == NULL || strcmp (terminal, "dumb") != 0) };
}

void
lns_cli_step_show (double fraction, void *data)
{
  static const char full[] = "========================";
  const LnsCliSteps *steps = data;
  char number[NUMBER + 2];
  if (!steps->has_bar)
    return;
  snprintf (number, sizeof number, "%d%%", (int)(fraction * 100));
  const int n = (int)(fraction * BAR);
  lns_cli_draw ("[%u/%u] [%.*s%-*s] %s", steps->at, steps->n, n, full, BAR + NUMBER - n, number,
                steps->text);
}

void
lns_cli_step_begin (LnsCliSteps *steps, const char *text)
{
  steps->at++;
  steps->text = text;
  lns_cli_step_show (0, steps);
  if (!steps->has_bar && steps->n > 1)
    fprintf (stderr, "[%u/%u] %s\n", steps->at, steps->n, text);
}

void
lns_cli_step_end (LnsCliSteps *steps, bool is_done)
{
  if (is_done)
    lns_cli_step_show (1, steps);
  if (steps->has_bar)
    fputc ('\n', stderr);
}

void
lns_cli_step_tell (LnsCliSteps *steps, const char *format, ...)
{
  va_list arguments;
  fprintf (stderr, "[%u/%u] ", ++steps->at, steps->n);
  va_start (arguments, format);
  vfprintf (stderr, format, arguments);
  va_end (arguments);
  fputc ('\n', stderr);
}
