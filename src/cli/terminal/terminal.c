/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/terminal/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/terminal.h"
#include "src/base/visible.h"
#include "src/cli/terminal/language.h"

/* What stdout and stderr are where they are terminals, or NULL. */
static FILE *guarded[2];

void
lns_cli_guard_terminals (void)
{
  static LnsTerminal terminals[] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };
  FILE **const streams[] = { &stdout, &stderr };

  for (unsigned i = 0; i < 2; i++)
    {
      if (!isatty (terminals[i].fd))
        continue;
      guarded[i] = lns_terminal_stream (&terminals[i]);
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
  lns_write_all (STDERR_FILENO, bytes, size);
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

/* --- Text for people -------------------------------------------------------------------------- */

#define COLUMNS_DEFAULT 80
#define COLUMNS_LEAST   40 /* descriptions begin in column 10 */
#define COLUMNS_MOST    100

int
lns_cli_columns (FILE *stream)
{
  const char *text = getenv ("COLUMNS");
  char *end = NULL;
  const long wanted = text != NULL ? strtol (text, &end, 10) : 0;
  struct winsize size;

  if (wanted > 0 && *end == '\0')
    return wanted < COLUMNS_LEAST ? COLUMNS_LEAST : wanted > 1000 ? 1000 : (int)wanted;
  if (!lns_cli_is_terminal (stream) ||
      ioctl (stream == guarded[0] ? STDOUT_FILENO : STDERR_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0)
    return COLUMNS_DEFAULT;
  return size.ws_col < COLUMNS_LEAST  ? COLUMNS_LEAST
         : size.ws_col > COLUMNS_MOST ? COLUMNS_MOST
                                      : size.ws_col;
}

void
lns_cli_print_filled (FILE *stream, const char *text, size_t size, int indent, int columns)
{
  const char *const end = text + size;
  int at = 0;
  for (; text < end; text++)
    {
      const size_t length = strcspn (text, " \n");
      const int width = (int)lns_visible_width (text, length);
      if (at > 0 && at + 1 + width > columns)
        {
          fputc ('\n', stream);
          at = 0;
        }
      at += fprintf (stream, "%*s", at > 0 ? 1 : indent, "") + width;
      fwrite (text, 1, length, stream);
      text += length;
    }
  fputc ('\n', stream);
}

bool
lns_cli_flush (LnsError *error)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return true;
  return lns_error_set_errno (error, errno, "cannot write the output");
}
