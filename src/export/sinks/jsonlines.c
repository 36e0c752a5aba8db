/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes rows as JSON objects, one on each line: {"table":"StringIds","id":1,"value":"step"}. Columns that are NULL are
 * left out; bytes are written as hexadecimal digits. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/export/text.h"

typedef struct
{
  LnsExportText *text;
  unsigned n_columns;
  /* What is written before each value of the table that was begun last: pieces of `names` that end at `ends`. The first
   * one is `{"table":"…"`. */
  char *names;
  size_t ends[LNS_SINK_MAX_COLUMNS + 1];
} Sink;

static bool
jsonl_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  free (sink->names);
  free (sink);
  return good;
}

static void *
jsonl_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = lns_calloc (1, sizeof *sink);

  sink->text = job->text;
  return sink;
}

static bool
jsonl_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;
  size_t size;

  free (sink->names);
  sink->names = NULL;
  sink->n_columns = table->n_columns;
  FILE *names = lns_memory_stream (&sink->names, &size);
  fputs ("{\"table\":", names);
  lns_json_write_string (names, table->name, strlen (table->name));
  for (unsigned i = 0; i <= table->n_columns; i++)
    {
      fflush (names);
      sink->ends[i] = size;
      if (i == table->n_columns)
        break;
      putc (',', names);
      lns_json_write_string (names, table->columns[i].name, strlen (table->columns[i].name));
      putc (':', names);
    }
  lns_memory_stream_end (names);
  return true;
}

static bool
jsonl_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  Sink *sink = data;

  lns_export_put (sink->text, sink->names, sink->ends[0]);
  for (unsigned i = 0; i < sink->n_columns; i++)
    if (row->values[i].type != LNS_VALUE_NULL)
      {
        lns_export_put (sink->text, sink->names + sink->ends[i], sink->ends[i + 1] - sink->ends[i]);
        lns_export_put_json (sink->text, &row->values[i]);
      }
  lns_export_put (sink->text, "}\n", 2);
  return lns_export_text_is_good (sink->text, error);
}

const LnsExportType lns_sink_jsonlines = {
  .name = "jsonlines",
  .ending = ".jsonl",
  .is_stream = true,
  .open = jsonl_open,
  .begin = jsonl_begin,
  .row = jsonl_row,
  .close = jsonl_close,
};
