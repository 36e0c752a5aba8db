/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows as comma-separated values (RFC 4180, but for lines that end in \n): a folder with one file a table
 * that begins with the columns' names. NULL is an empty field, an empty text is "". */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/export/lns-export-text.h"

typedef struct
{
  const LnsExportJob *job;
  FILE *stream; /* of the table that was begun last, or NULL                                     */
  unsigned n_columns;
} Sink;

static void *
csv_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = calloc (1, sizeof *sink);

  if (sink == NULL)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                   "not enough memory for an export; close other programs");
  else
    sink->job = job;
  return sink;
}

static void
put_text (FILE *stream, const char *bytes, size_t size_bytes)
{
  const char *end = bytes + size_bytes;
  bool needs_quotes = size_bytes == 0;

  for (const char *at = bytes; at < end && !needs_quotes; at++)
    needs_quotes = *at == ',' || *at == '"' || *at == '\n' || *at == '\r';
  if (!needs_quotes)
    {
      fwrite_unlocked (bytes, 1, size_bytes, stream);
      return;
    }
  putc_unlocked ('"', stream);
  for (const char *quote; (quote = memchr (bytes, '"', (size_t)(end - bytes))) != NULL;
       bytes = quote + 1)
    {
      fwrite_unlocked (bytes, 1, (size_t)(quote + 1 - bytes), stream);
      putc_unlocked ('"', stream);
    }
  fwrite_unlocked (bytes, 1, (size_t)(end - bytes), stream);
  putc_unlocked ('"', stream);
}

static bool
csv_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;
  char *path = NULL;

  if (asprintf (&path, "%s/%s.csv", sink->job->temporary, table->name) < 0)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for an export; close other programs");
  /* Tables that came from elsewhere are called as they please.                                   */
  for (char *at = path + strlen (sink->job->temporary) + 1; *at != '\0'; at++)
    if (*at == '/')
      *at = '_';
  sink->stream = lns_export_text_open (sink->job, path, error);
  free (path);
  if (sink->stream == NULL)
    return false;
  sink->n_columns = table->n_columns;
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      lns_export_put_text (sink->stream, i > 0 ? "," : "");
      put_text (sink->stream, table->columns[i].name, strlen (table->columns[i].name));
    }
  putc_unlocked ('\n', sink->stream);
  return true;
}

static bool
csv_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  Sink *sink = data;

  for (unsigned i = 0; i < sink->n_columns; i++)
    {
      const LnsValue *value = &row->values[i];
      if (i > 0)
        putc_unlocked (',', sink->stream);
      if (value->type == LNS_VALUE_INTEGER)
        lns_export_put_integer (sink->stream, value->integer);
      else if (value->type == LNS_VALUE_REAL)
        fprintf (sink->stream, "%.17g", value->real);
      else if (value->type == LNS_VALUE_TEXT)
        put_text (sink->stream, value->bytes, value->size_bytes);
      else if (value->type == LNS_VALUE_BLOB)
        lns_export_put_hex (sink->stream, value->bytes, value->size_bytes);
    }
  putc_unlocked ('\n', sink->stream);
  return !ferror_unlocked (sink->stream) || lns_export_fail (sink->job, errno, error);
}

static bool
csv_end (void *data, LnsError *error)
{
  Sink *sink = data;
  FILE *stream = sink->stream;

  sink->stream = NULL;
  return lns_export_text_close (sink->job, stream, true, error);
}

static bool
csv_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  lns_export_text_close (sink->job, sink->stream, false, NULL);
  free (sink);
  return good;
}

const LnsExportType lns_sink_csv = {
  .name = "csv",
  .ending = "_csvdir",
  .file_ending = ".csv",
  .open = csv_open,
  .begin = csv_begin,
  .row = csv_row,
  .end = csv_end,
  .close = csv_close,
};
