/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/language.h"
#include "src/base/visible.h"

/* Makes TEXT the message, which should have LENGTH bytes and has at most SIZE - 1: one line without control characters.
 * If it does not fit it ends with "…" behind a whole character. */
static void
set_message (LnsError *error, const char *text, size_t size, size_t length)
{
  static const char ellipsis[] = "…";
  const size_t room = sizeof error->message;
  size_t n = length < size ? length : size - 1;

  for (size_t half = 1; n < length && half < 4 && half <= n; half++)
    if (lns_visible_is_begun (text + n - half, half))
      n -= half;
  if (lns_visible_copy (error->message, room, text, n) < room && n == length)
    return;
  size_t end = strlen (error->message);
  if (end > room - sizeof ellipsis)
    end = room - sizeof ellipsis;
  while (end > 0 && ((unsigned char)error->message[end] & 0xC0) == 0x80)
    end--;
  memcpy (error->message + end, ellipsis, sizeof ellipsis);
}

static void __attribute__ ((format (printf, 4, 0)))
fill (LnsError *error, LnsErrorDomain domain, int code, const char *format, va_list arguments)
{
  char text[sizeof error->message];

  error->domain = domain;
  error->code = code;
  int length = vsnprintf (text, sizeof text, lns_text (format), arguments);
  set_message (error, text, sizeof text, length < 0 ? 0 : (size_t)length);
}

/* Appends AFTER to the message. */
static void
append (LnsError *error, const char *after)
{
  char text[2 * sizeof error->message];
  int length = snprintf (text, sizeof text, "%s%s", error->message, after);

  set_message (error, text, sizeof text, (size_t)length);
}

bool
lns_error_set (LnsError *error, LnsErrorDomain domain, int code, const char *format, ...)
{
  if (error == NULL || error->domain != LNS_ERROR_NONE)
    return false;
  va_list arguments;
  va_start (arguments, format);
  fill (error, domain, code, format, arguments);
  va_end (arguments);
  return false;
}

/* What the system says of errors that people meet, and what they can do about them. The reasons are those of strerror(3),
 * which a static program cannot translate. */
static const struct
{
  int code;
  const char *reason, *advice;
} known[] = {
  { ENOENT, N_ ("No such file or directory"), N_ ("check the path") },
  { EACCES, N_ ("Permission denied"), N_ ("check its permissions") },
  { EPERM, N_ ("Operation not permitted"), N_ ("check its permissions") },
  { ENOSPC, N_ ("No space left on device"), N_ ("make room there, or choose another place") },
  { EDQUOT, N_ ("Disk quota exceeded"), N_ ("make room there, or choose another place") },
  { EROFS, N_ ("Read-only file system"), N_ ("choose another place") },
  { EIO, N_ ("Input/output error"), N_ ("check the disk") },
  { ENAMETOOLONG, N_ ("File name too long"), N_ ("choose a shorter one") },
  { EISDIR, N_ ("Is a directory"), N_ ("name a file") },
  { ENOTDIR, N_ ("Not a directory"), N_ ("a part of the path is a file") },
  { EMFILE, N_ ("Too many open files"), N_ ("raise the limit of open files (ulimit -n)") },
  { ENFILE, N_ ("Too many open files in system"),
    N_ ("raise the limit of open files (ulimit -n)") },
  { EFBIG, N_ ("File too large"), N_ ("raise the limit of file sizes (ulimit -f)") },
  { ENOMEM, N_ ("Cannot allocate memory"), N_ ("free memory, or raise its limit (ulimit -v)") },
};

bool
lns_error_set_errno (LnsError *error, int errno_code, const char *format, ...)
{
  if (error == NULL || error->domain != LNS_ERROR_NONE)
    return false;
  va_list arguments;
  va_start (arguments, format);
  fill (error, LNS_ERROR_IO, errno_code, format, arguments);
  va_end (arguments);
  size_t i = 0;
  while (i < sizeof known / sizeof *known && known[i].code != errno_code)
    i++;
  const bool is_known = i < sizeof known / sizeof *known;
  char reason[128];
  append (error, ": ");
  append (error,
          is_known ? lns_text (known[i].reason) : strerror_r (errno_code, reason, sizeof reason));
  append (error, is_known ? "; " : "");
  append (error, is_known ? lns_text (known[i].advice) : "");
  return false;
}

bool
lns_error_prefix (LnsError *error, const char *format, ...)
{
  if (error == NULL || error->domain == LNS_ERROR_NONE)
    return false;
  LnsError old = *error;
  va_list arguments;
  va_start (arguments, format);
  fill (error, old.domain, old.code, format, arguments);
  va_end (arguments);
  append (error, ": ");
  append (error, old.message);
  return false;
}
