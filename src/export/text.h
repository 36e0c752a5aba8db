/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the text files of exports through a buffer that stays in the processor's cache. The first error is kept and
 * told at the end. One thread writes a text. */

#pragma once

#include <string.h>

#include "src/base/terminal.h"
#include "src/export/sink.h"

#define LNS_EXPORT_TEXT_BYTES ((size_t)1 << 17)

struct LnsExportText
{
  const LnsExportJob *job;
  int fd;
  bool is_terminal; /* control characters are shown: through `terminal`                          */
  LnsTerminal terminal;
  int code; /* errno of the first write that failed, or 0                                        */
  size_t n_bytes;
  char bytes[LNS_EXPORT_TEXT_BYTES];
};

/* Opens PATH ("-": standard output) for writing. To be closed by lns_export_text_close (). NULL and ERROR. */
LnsExportText *lns_export_text_open (const LnsExportJob *job, const char *path, LnsError *error);

/* False and ERROR once something could not be written. O(1). */
bool lns_export_text_is_good (const LnsExportText *text, LnsError *error);

/* Closes and frees TEXT, if any. False and ERROR where GOOD and something could not be written. */
bool lns_export_text_close (LnsExportText *text, bool good, LnsError *error);

/* What does not fit into the buffer: writes that first. */
void _lns_export_put_slowly (LnsExportText *text, const void *bytes, size_t size_bytes);

static inline void
lns_export_put (LnsExportText *text, const void *bytes, size_t size_bytes)
{
  if (size_bytes > LNS_EXPORT_TEXT_BYTES - text->n_bytes)
    {
      _lns_export_put_slowly (text, bytes, size_bytes);
      return;
    }
  memcpy (text->bytes + text->n_bytes, bytes, size_bytes);
  text->n_bytes += size_bytes;
}

static inline void
lns_export_put_byte (LnsExportText *text, char byte)
{
  lns_export_put (text, &byte, 1);
}

static inline void
lns_export_put_text (LnsExportText *text, const char *string)
{
  lns_export_put (text, string, strlen (string));
}

void lns_export_put_integer (LnsExportText *text, int64_t value);
/* So that it reads back as the same double. */
void lns_export_put_real (LnsExportText *text, double value);
/* Two upper-case digits a byte. */
void lns_export_put_hex (LnsExportText *text, const void *bytes, size_t size_bytes);
/* As JSON, quotes included; what is no UTF-8 becomes U+FFFD. */
void lns_export_put_json_string (LnsExportText *text, const void *bytes, size_t size_bytes);
/* As JSON: numbers that it has no form for are null, and bytes a string of hexadecimal digits. */
void lns_export_put_json (LnsExportText *text, const LnsValue *value);
