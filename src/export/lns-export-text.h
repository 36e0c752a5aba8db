/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Text files of exports: numbers fast, and errors once. The stream is written by one thread. */

#pragma once

#include <stdio.h>

#include "src/export/lns-sink.h"

/* Opens PATH ("-": standard output) for writing through a large buffer. To be closed by
 * lns_export_text_close (). NULL and ERROR. */
FILE *lns_export_text_open (const LnsExportJob *job, const char *path, LnsError *error);

/* Closes STREAM, if any. False and ERROR where GOOD and something could not be written. */
bool lns_export_text_close (const LnsExportJob *job, FILE *stream, bool good, LnsError *error);

void lns_export_put_integer (FILE *stream, int64_t value);
void lns_export_put_text (FILE *stream, const char *text);
/* Two upper-case digits a byte. */
void lns_export_put_hex (FILE *stream, const void *bytes, size_t size_bytes);
