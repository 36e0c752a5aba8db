/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/lns-export-text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 20)

FILE *
lns_export_text_open (const LnsExportJob *job, const char *path, LnsError *error)
{
  bool is_stdout = strcmp (path, "-") == 0;
  int fd = is_stdout ? dup (STDOUT_FILENO) : -1;
  FILE *stream = is_stdout ? (fd >= 0 ? fdopen (fd, "w") : NULL) : fopen (path, "wxe");

  if (stream == NULL)
    lns_export_fail (job, errno, error);
  else
    setvbuf (stream, NULL, _IOFBF, BUFFER_BYTES);
  return stream;
}

bool
lns_export_text_close (const LnsExportJob *job, FILE *stream, bool good, LnsError *error)
{
  if (stream == NULL)
    return true;
  bool failed = ferror (stream) != 0;
  int code = errno;
  if (fclose (stream) != 0)
    {
      code = failed ? code : errno;
      failed = true;
    }
  return !good || !failed || lns_export_fail (job, code, error);
}

void
lns_export_put_integer (FILE *stream, int64_t value)
{
  char text[24], *at = text + sizeof text;
  uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

  do
    *--at = (char)('0' + left % 10);
  while ((left /= 10) != 0);
  if (value < 0)
    *--at = '-';
  fwrite_unlocked (at, 1, (size_t)(text + sizeof text - at), stream);
}

void
lns_export_put_text (FILE *stream, const char *text)
{
  fwrite_unlocked (text, 1, strlen (text), stream);
}

void
lns_export_put_hex (FILE *stream, const void *bytes, size_t size_bytes)
{
  for (const uint8_t *at = bytes, *end = at + size_bytes; at < end; at++)
    {
      putc_unlocked ("0123456789ABCDEF"[*at >> 4], stream);
      putc_unlocked ("0123456789ABCDEF"[*at & 15], stream);
    }
}
