/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/lns-error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Ends MESSAGE, of which LENGTH bytes were wanted, with "…" where it did not fit, without leaving
 * half a character before it; and makes one line of it that no terminal takes for commands. */
static void
finish_message (char *message, size_t room, size_t length)
{
  static const char ellipsis[] = "…";
  if (length >= room)
    {
      size_t end = room - sizeof ellipsis;
      while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80)
        end--;
      memcpy (message + end, ellipsis, sizeof ellipsis);
    }
  for (char *c = message; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F)
      *c = ' ';
}

static void __attribute__ ((format (printf, 4, 0)))
fill (LnsError *error, LnsErrorDomain domain, int code, const char *format, va_list arguments)
{
  error->domain = domain;
  error->code = code;
  int length = vsnprintf (error->message, sizeof error->message, format, arguments);
  finish_message (error->message, sizeof error->message, length < 0 ? 0 : (size_t)length);
}

/* Puts AFTER behind the message, cut like every message. */
static void
append (LnsError *error, const char *after)
{
  size_t length = strlen (error->message);
  snprintf (error->message + length, sizeof error->message - length, "%s", after);
  finish_message (error->message, sizeof error->message, length + strlen (after));
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

/* What somebody can do about ERRNO_CODE, or "". */
static const char *
advice_for (int errno_code)
{
  switch (errno_code)
    {
    case ENOENT:
      return "; check the path";
    case EACCES:
    case EPERM:
      return "; check its permissions";
    case ENOSPC:
    case EDQUOT:
      return "; make room there, or choose another place";
    case EROFS:
      return "; choose another place";
    case ENAMETOOLONG:
      return "; choose a shorter one";
    case EISDIR:
      return "; name a file";
    case ENOTDIR:
      return "; a part of the path is a file";
    case EMFILE:
    case ENFILE:
      return "; raise the limit of open files (ulimit -n)";
    case EFBIG:
      return "; raise the limit of file sizes (ulimit -f)";
    case ENOMEM:
      return "; free memory, or raise its limit (ulimit -v)";
    default:
      return "";
    }
}

bool
lns_error_set_errno (LnsError *error, int errno_code, const char *format, ...)
{
  if (error == NULL || error->domain != LNS_ERROR_NONE)
    return false;
  va_list arguments;
  va_start (arguments, format);
  fill (error, LNS_ERROR_IO, errno_code, format, arguments);
  va_end (arguments);
  char reason[128];
  append (error, ": ");
  append (error, strerror_r (errno_code, reason, sizeof reason));
  append (error, advice_for (errno_code));
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
