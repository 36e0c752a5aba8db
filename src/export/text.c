/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/json.h"
#include "src/base/memory.h"

LnsExportText *
lns_export_text_open (const LnsExportJob *job, const char *path, LnsError *error)
{
  LnsExportText *text = lns_realloc (NULL, 1, sizeof *text);

  /* An export to a folder opens a text for each table, so the large buffer is not cleared. */
  memset (text, 0, offsetof (LnsExportText, bytes));
  text->job = job;
  text->fd = strcmp (path, "-") == 0
                 ? fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                 : open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, job->mode);
  text->terminal.fd = text->fd;
  text->is_terminal = text->fd >= 0 && isatty (text->fd);
  if (text->fd >= 0)
    return text;
  lns_export_fail (job, errno, error);
  free (text);
  return NULL;
}

/* Nothing is written after a failure. */
static void
write_all (LnsExportText *text, const char *bytes, size_t size_bytes)
{
  if (text->code == 0)
    text->code = text->is_terminal ? lns_terminal_write (&text->terminal, bytes, size_bytes)
                                   : lns_write_all (text->fd, bytes, size_bytes);
}

static void
flush (LnsExportText *text)
{
  write_all (text, text->bytes, text->n_bytes);
  text->n_bytes = 0;
}

void
_lns_export_put_slowly (LnsExportText *text, const void *bytes, size_t size_bytes)
{
  flush (text);
  if (size_bytes > LNS_EXPORT_TEXT_BYTES)
    write_all (text, bytes, size_bytes);
  else
    lns_export_put (text, bytes, size_bytes);
}

bool
lns_export_text_is_good (const LnsExportText *text, LnsError *error)
{
  return text->code == 0 || lns_export_fail (text->job, text->code, error);
}

bool
lns_export_text_close (LnsExportText *text, bool good, LnsError *error)
{
  if (text == NULL)
    return true;
  if (good)
    flush (text);
  if (close (text->fd) != 0 && text->code == 0)
    text->code = errno;
  good = !good || lns_export_text_is_good (text, error);
  free (text);
  return good;
}

void
lns_export_put_integer (LnsExportText *text, int64_t value)
{
  char digits[24], *at = digits + sizeof digits;
  uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

  do
    *--at = (char)('0' + left % 10);
  while ((left /= 10) != 0);
  if (value < 0)
    *--at = '-';
  lns_export_put (text, at, (size_t)(digits + sizeof digits - at));
}

void
lns_export_put_real (LnsExportText *text, double value)
{
  char digits[32];

  lns_export_put (text, digits, (size_t)snprintf (digits, sizeof digits, "%.17g", value));
}

void
lns_export_put_hex (LnsExportText *text, const void *bytes, size_t size_bytes)
{
  for (const uint8_t *at = bytes, *end = at + size_bytes; at < end; at++)
    {
      lns_export_put_byte (text, "0123456789ABCDEF"[*at >> 4]);
      lns_export_put_byte (text, "0123456789ABCDEF"[*at & 15]);
    }
}

void
lns_export_put_json_string (LnsExportText *text, const void *bytes, size_t size_bytes)
{
  const uint8_t *at = bytes, *end = at + size_bytes;
  char escape[LNS_JSON_ESCAPE_SIZE];

  lns_export_put_byte (text, '"');
  while (at < end)
    {
      size_t n = lns_json_plain_length (at, (size_t)(end - at));
      lns_export_put (text, at, n);
      at += n;
      if (at < end)
        lns_export_put_text (text, lns_json_escape (*at++, escape));
    }
  lns_export_put_byte (text, '"');
}

void
lns_export_put_json (LnsExportText *text, const LnsValue *value)
{
  if (value->type == LNS_VALUE_INTEGER)
    lns_export_put_integer (text, value->integer);
  else if (value->type == LNS_VALUE_REAL && isfinite (value->real))
    lns_export_put_real (text, value->real);
  else if (value->type == LNS_VALUE_TEXT)
    lns_export_put_json_string (text, value->bytes, value->size_bytes);
  else if (value->type == LNS_VALUE_BLOB)
    {
      lns_export_put_byte (text, '"');
      lns_export_put_hex (text, value->bytes, value->size_bytes);
      lns_export_put_byte (text, '"');
    }
  else
    lns_export_put_text (text, "null");
}
