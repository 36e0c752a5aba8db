/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the text files of exports through a buffer that fits into the processor's cache. The first error is kept and
 * reported later. One thread writes a text. */

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

/* Opens PATH ("-": the standard output) for writing. lns_export_text_close () closes it. Returns NULL and fills ERROR
 * if that fails. */
LnsExportText *lns_export_text_open (const LnsExportJob *job, const char *path, LnsError *error);

/* Returns false and fills ERROR once something could not be written. O(1). */
bool lns_export_text_is_good (const LnsExportText *text, LnsError *error);

/* Writes the rest if GOOD, then closes and frees TEXT, which may be NULL. Returns false and fills ERROR if GOOD and
 * something could not be written. */
bool lns_export_text_close (LnsExportText *text, bool good, LnsError *error);

/* Puts bytes that do not fit into the buffer, which is written first. */
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
/* Puts a number that reads back as the same double. */
void lns_export_put_real (LnsExportText *text, double value);
/* Puts two upper-case digits for each byte. */
void lns_export_put_hex (LnsExportText *text, const void *bytes, size_t size_bytes);
/* Puts a string as JSON, with its quotes. Bytes that are not valid UTF-8 become U+FFFD. */
void lns_export_put_json_string (LnsExportText *text, const void *bytes, size_t size_bytes);
/* Puts VALUE as JSON. Numbers that JSON cannot represent become null; bytes become a string of hexadecimal digits. */
void lns_export_put_json (LnsExportText *text, const LnsValue *value);
