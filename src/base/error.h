/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Errors: a stable domain and code, and one sentence for the user that names the file or switch, the cause and the next
 * step. An LnsError is a plain value that the caller owns. A function that fails sets it and returns false or NULL; one
 * that succeeds leaves it alone. Every function accepts a NULL LnsError. Threads must not share one. */

#pragma once

#include <stdbool.h>

typedef enum
{
  LNS_ERROR_NONE,
  LNS_ERROR_IO,         /* the system refused: `code` is an errno value */
  LNS_ERROR_FORMAT,     /* not a report, or damaged */
  LNS_ERROR_VERSION,    /* written by a newer Lanescope: an unknown incompatible feature bit */
  LNS_ERROR_USAGE,      /* an argument is wrong */
  LNS_ERROR_CANCELLED,  /* the caller cancelled the operation */
  LNS_ERROR_NO_MEMORY,  /* an allocation failed */
  LNS_ERROR_UNSUPPORTED /* the argument is right; this build or machine cannot do it */
} LnsErrorDomain;

typedef struct
{
  LnsErrorDomain domain;
  int code;           /* an errno value in LNS_ERROR_IO, else 0 */
  char message[1024]; /* UTF-8, terminated, one line as visible.h has it, cut with "…" if longer */
} LnsError;

/* Sets ERROR (if not NULL) unless it is set already, so that it keeps the first cause. Returns false, so that a caller can
 * `return lns_error_set (…)`. */
bool lns_error_set (LnsError *error, LnsErrorDomain domain, int code, const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));

/* The same, with the message followed by ": " and the text of ERRNO_CODE. */
bool lns_error_set_errno (LnsError *error, int errno_code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Puts the result of FORMAT and ": " before the message that ERROR already has. Returns false. */
bool lns_error_prefix (LnsError *error, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
