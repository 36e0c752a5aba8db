/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/terminal/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/terminal.h"
#include "src/base/visible.h"

/* What stdout and stderr are where they are terminals, or NULL. */
static FILE *guarded[2];

void
lns_cli_guard_terminals (void)
{
  static const int fds[] = { STDOUT_FILENO, STDERR_FILENO };
  FILE **const streams[] = { &stdout, &stderr };

  for (unsigned i = 0; i < 2; i++)
    {
      if (!isatty (fds[i]) || (guarded[i] = lns_terminal_stream (fds[i])) == NULL)
        continue;
      setvbuf (guarded[i], NULL, i == 0 ? _IOLBF : _IONBF, 0);
      *streams[i] = guarded[i]; /* glibc lets them be replaced (its manual, "Standard Streams") */
    }
}

bool
lns_cli_is_terminal (const FILE *stream)
{
  return stream != NULL && (stream == guarded[0] || stream == guarded[1]);
}

void
lns_cli_print_name (FILE *stream, const char *bytes, size_t size)
{
  if (lns_cli_is_terminal (stream))
    lns_visible_write (stream, bytes, size);
  else
    fwrite (bytes, 1, size, stream);
}

/* Our own control characters go past the stream that would show them. */
static void
write_past (const char *bytes, size_t size)
{
  fflush (stderr);
  while (size > 0)
    {
      ssize_t n = write (STDERR_FILENO, bytes, size);
      if (n <= 0)
        return;
      bytes += n;
      size -= (size_t)n;
    }
}

void
lns_cli_draw (const char *format, ...)
{
  char text[1024], line[2048] = "\r";
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  lns_visible_copy (line + 1, sizeof line - 1, text, strlen (text));
  write_past (line, strlen (line));
}

void
lns_cli_draw_nothing (void)
{
  static const char nothing[] = "\r\033[K";
  write_past (nothing, sizeof nothing - 1);
}

bool
lns_cli_flush (LnsError *error)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return true;
  return lns_error_set_errno (error, errno, "what was to be printed cannot be written");
}
