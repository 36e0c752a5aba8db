/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows as JSON objects, one a line: {"table":"StringIds","id":1,"value":"step"}. Columns that are NULL are
 * left out; bytes that are no text are hexadecimal digits. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/lns-json.h"
#include "src/export/lns-export-text.h"

typedef struct
{
  const LnsExportJob *job;
  FILE *stream;
  unsigned n_columns;
  /* What stands before each value of the table that was begun last, `{"table":"…"` first: the pieces of `text`
   * that end at `ends`. */
  char *text;
  size_t ends[LNS_SINK_MAX_COLUMNS + 1];
} Sink;

static bool
jsonl_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  good = lns_export_text_close (sink->job, sink->stream, good, error) && good;
  free (sink->text);
  free (sink);
  return good;
}

static void *
jsonl_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = calloc (1, sizeof *sink);

  if (sink == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                     "not enough memory for an export; close other programs");
      return NULL;
    }
  sink->job = job;
  sink->stream = lns_export_text_open (job, job->temporary, error);
  if (sink->stream != NULL)
    return sink;
  free (sink);
  return NULL;
}

static bool
jsonl_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;
  size_t size;

  free (sink->text);
  sink->text = NULL;
  sink->n_columns = table->n_columns;
  FILE *text = open_memstream (&sink->text, &size);
  if (text == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for an export; close other programs");
  fputs ("{\"table\":", text);
  lns_json_write_string (text, table->name, strlen (table->name));
  for (unsigned i = 0; i <= table->n_columns; i++)
    {
      fflush (text);
      sink->ends[i] = size;
      if (i == table->n_columns)
        break;
      putc (',', text);
      lns_json_write_string (text, table->columns[i].name, strlen (table->columns[i].name));
      putc (':', text);
    }
  return fclose (text) == 0 || lns_export_fail (sink->job, errno, error);
}

static void
put_value (FILE *stream, const LnsValue *value)
{
  switch (value->type)
    {
    case LNS_VALUE_INTEGER:
      lns_export_put_integer (stream, value->integer);
      return;
    case LNS_VALUE_REAL:
      lns_json_write_double (stream, value->real);
      return;
    case LNS_VALUE_TEXT:
      lns_json_write_string (stream, value->bytes, value->size_bytes);
      return;
    default:
      putc_unlocked ('"', stream);
      lns_export_put_hex (stream, value->bytes, value->size_bytes);
      putc_unlocked ('"', stream);
    }
}

static bool
jsonl_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  Sink *sink = data;

  fwrite_unlocked (sink->text, 1, sink->ends[0], sink->stream);
  for (unsigned i = 0; i < sink->n_columns; i++)
    if (row->values[i].type != LNS_VALUE_NULL)
      {
        fwrite_unlocked (sink->text + sink->ends[i], 1, sink->ends[i + 1] - sink->ends[i],
                         sink->stream);
        put_value (sink->stream, &row->values[i]);
      }
  lns_export_put_text (sink->stream, "}\n");
  return !ferror_unlocked (sink->stream) || lns_export_fail (sink->job, errno, error);
}

static bool
jsonl_end (void *data, LnsError *error)
{
  return true;
}

const LnsExportType lns_sink_jsonlines = {
  .name = "jsonlines",
  .ending = ".jsonl",
  .is_stream = true,
  .open = jsonl_open,
  .begin = jsonl_begin,
  .row = jsonl_row,
  .end = jsonl_end,
  .close = jsonl_close,
};
