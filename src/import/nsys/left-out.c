/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes diagnostics about the import itself: what was left out, and what could not be read. */

#include "src/import/nsys/import-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

void
_lns_import_tell (
    LnsImport *import, LnsSeverity severity, const char *code, const char *what, const char *text)
{
  char *sentence = lns_asprintf ("%s: %s", what, text);
  lns_writer_add_diagnostic (
      import->writer,
      &(LnsDiagnostic){ .code = lns_writer_string (import->writer, code, strlen (code)),
                        .severity = severity,
                        .time_ns = LNS_TIME_UNKNOWN,
                        .process = LNS_ID_NONE,
                        .text = lns_writer_string (import->writer, sentence, strlen (sentence)) });
  free (sentence);
}

void
_lns_import_leave_out (LnsImport *import, const char *format, ...)
{
  char line[512];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (line, sizeof line - 1, format, arguments);
  va_end (arguments);
  _lns_import_tell (import, LNS_SEVERITY_INFO, "LNS-IMPORT-001", "left out", line);
  strcat (line, "\n");
  lns_buffer_append (&import->left_out, line, strlen (line));
}
