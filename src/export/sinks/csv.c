/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes rows as comma-separated values, as RFC 4180 has them except that lines end in \n: a folder with one file for
 * each table, which begins with the columns' names. NULL is an empty field, an empty text is "". */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/export/text.h"

typedef struct
{
  const LnsExportJob *job;
  LnsExportText
      *text; /* of the table that was begun last, or NULL                                     */
  unsigned n_columns;
} Sink;

static void *
csv_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = lns_calloc (1, sizeof *sink);

  sink->job = job;
  return sink;
}

static void
put_field (LnsExportText *text, const char *bytes, size_t size_bytes)
{
  const char *end = bytes + size_bytes;
  bool needs_quotes = size_bytes == 0;

  for (const char *at = bytes; at < end && !needs_quotes; at++)
    needs_quotes = *at == ',' || *at == '"' || *at == '\n' || *at == '\r';
  if (needs_quotes)
    lns_export_put_byte (text, '"');
  for (const char *quote;
       needs_quotes && (quote = memchr (bytes, '"', (size_t)(end - bytes))) != NULL;
       bytes = quote + 1)
    {
      lns_export_put (text, bytes, (size_t)(quote + 1 - bytes));
      lns_export_put_byte (text, '"');
    }
  lns_export_put (text, bytes, (size_t)(end - bytes));
  if (needs_quotes)
    lns_export_put_byte (text, '"');
}

static bool
csv_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;
  char *path = lns_asprintf ("%s/%s.csv", sink->job->temporary, table->name);

  /* An imported table may have any name. */
  for (char *at = path + strlen (sink->job->temporary) + 1; *at != '\0'; at++)
    if (*at == '/')
      *at = '_';
  sink->text = lns_export_text_open (sink->job, path, error);
  free (path);
  if (sink->text == NULL)
    return false;
  sink->n_columns = table->n_columns;
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      lns_export_put_text (sink->text, i > 0 ? "," : "");
      put_field (sink->text, table->columns[i].name, strlen (table->columns[i].name));
    }
  lns_export_put_byte (sink->text, '\n');
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
        lns_export_put_byte (sink->text, ',');
      if (value->type == LNS_VALUE_INTEGER)
        lns_export_put_integer (sink->text, value->integer);
      else if (value->type == LNS_VALUE_REAL)
        lns_export_put_real (sink->text, value->real);
      else if (value->type == LNS_VALUE_TEXT)
        put_field (sink->text, value->bytes, value->size_bytes);
      else if (value->type == LNS_VALUE_BLOB)
        lns_export_put_hex (sink->text, value->bytes, value->size_bytes);
    }
  lns_export_put_byte (sink->text, '\n');
  return lns_export_text_is_good (sink->text, error);
}

static bool
csv_end (void *data, LnsError *error)
{
  Sink *sink = data;
  LnsExportText *text = sink->text;

  sink->text = NULL;
  return lns_export_text_close (text, true, error);
}

static bool
csv_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  lns_export_text_close (sink->text, false, NULL);
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
