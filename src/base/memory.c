/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/memory.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_WITHOUT_MEMORY 125

_Noreturn void
lns_out_of_memory (void)
{
  static const char MESSAGE[] =
      "lanescope: error: out of memory; close other programs and try again\n";
  static atomic_flag is_said = ATOMIC_FLAG_INIT;

  /* Neither stdio nor exit handlers: they may allocate, and other threads may be in them. */
  if (!atomic_flag_test_and_set (&is_said) &&
      write (STDERR_FILENO, MESSAGE, sizeof MESSAGE - 1) < 0)
    _exit (EXIT_WITHOUT_MEMORY);
  _exit (EXIT_WITHOUT_MEMORY);
}

void *
lns_calloc (size_t n, size_t size_bytes)
{
  void *items = calloc (n > 0 ? n : 1, size_bytes > 0 ? size_bytes : 1);

  if (items == NULL)
    lns_out_of_memory ();
  return items;
}

void *
lns_realloc (void *items, size_t n, size_t size_bytes)
{
  void *larger = reallocarray (items, n > 0 ? n : 1, size_bytes > 0 ? size_bytes : 1);

  if (larger == NULL)
    lns_out_of_memory ();
  return larger;
}

char *
lns_strdup (const char *text)
{
  return lns_memdup (text, strlen (text));
}

void *
lns_memdup (const void *bytes, size_t size_bytes)
{
  char *copy = malloc (size_bytes + 1);

  if (copy == NULL)
    lns_out_of_memory ();
  if (size_bytes > 0)
    memcpy (copy, bytes, size_bytes);
  copy[size_bytes] = '\0';
  return copy;
}

char *
lns_asprintf (const char *format, ...)
{
  char *text;
  va_list arguments;

  va_start (arguments, format);
  if (vasprintf (&text, format, arguments) < 0)
    lns_out_of_memory ();
  va_end (arguments);
  return text;
}

FILE *
lns_memory_stream (char **ret_text, size_t *ret_n_bytes)
{
  FILE *stream = open_memstream (ret_text, ret_n_bytes);

  if (stream == NULL)
    lns_out_of_memory ();
  return stream;
}

void
lns_memory_stream_end (FILE *stream)
{
  if (fclose (stream) != 0)
    lns_out_of_memory ();
}
