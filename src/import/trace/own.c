/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/own.h"

#include <stdio.h>
#include <string.h>

#include "src/tables/table.h"

static const char *const names[LNS_TRACE_N_OWN_TABLES] = {
  "CUBLAS_EVENTS",
  "CUDNN_EVENTS",
  "OSRT_API",
  "MPI_P2P_EVENTS",
  "MPI_COLLECTIVES_EVENTS",
  "MPI_START_WAIT_EVENTS",
  "MPI_OTHER_EVENTS",
  "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
};

/* Returns the position of the table that EVENT names, or LNS_TRACE_N_OWN_TABLES if it is not one of these. */
static unsigned
table_of (const LnsTraceEvent *event)
{
  const LnsTraceValue name = event->fields[LNS_TRACE_TABLE];
  unsigned i = name.text != NULL ? 0 : LNS_TRACE_N_OWN_TABLES;

  while (i < LNS_TRACE_N_OWN_TABLES && strcmp (names[i], name.text) != 0)
    i++;
  return i;
}

bool
_lns_trace_is_own (const LnsTraceEvent *event)
{
  return table_of (event) < LNS_TRACE_N_OWN_TABLES;
}

/* Adds COLUMN of SCHEMA to the table unless it is there. Columns that no event has a value for are not added, and are
 * NULL in the report. */
static void
add_column (LnsTraceTables *tables, LnsTraceOwnTable *table, const LnsTable *schema, int column)
{
  const char *name = schema->columns[column].name, *type = schema->columns[column].type;

  if (table->place[column] != 0)
    return;
  table->place[column] = ++table->n_columns;
  sqlite3_finalize (table->row);
  table->row = NULL;
  if (table->n_columns == 1)
    lns_trace_run (tables, "CREATE TABLE %s (%s %s)", schema->name, name, type);
  else
    lns_trace_run (tables, "ALTER TABLE %s ADD COLUMN %s %s", schema->name, name, type);
}

/* Prepares the statement that inserts a row, with as many values as the table has columns. */
static void
prepare (LnsTraceTables *tables, LnsTraceOwnTable *table, const LnsTable *schema)
{
  char text[256];
  size_t n = (size_t)snprintf (text, sizeof text, "INSERT INTO %s VALUES (?", schema->name);

  for (unsigned i = 1; i < table->n_columns; i++)
    n += (size_t)snprintf (text + n, sizeof text - n, ",?");
  snprintf (text + n, sizeof text - n, ")");
  if (table->row == NULL &&
      sqlite3_prepare_v2 (tables->db, text, -1, &table->row, NULL) != SQLITE_OK)
    lns_trace_fail (tables);
}

/* Adds the columns that ARGUMENTS have values for. */
static void
add_told (LnsTraceTables *tables,
          LnsTraceOwnTable *table,
          const LnsTable *schema,
          LnsTraceValue arguments)
{
  LnsJsonReader json;

  lns_json_reader_init_text (&json, arguments.text, arguments.size_bytes);
  for (lns_json_next (&json); lns_json_next (&json) == LNS_JSON_KEY;)
    {
      const int column = lns_table_column (schema, json.text);
      lns_json_skip (&json, lns_json_next (&json));
      if (column >= 0)
        add_column (tables, table, schema, column);
    }
  lns_json_reader_clear (&json);
}

static void
bind_told (LnsTraceOwnTable *table, const LnsTable *schema, LnsTraceValue arguments)
{
  LnsJsonReader json;

  lns_json_reader_init_text (&json, arguments.text, arguments.size_bytes);
  for (lns_json_next (&json); lns_json_next (&json) == LNS_JSON_KEY;)
    {
      const int column = lns_table_column (schema, json.text);
      const LnsJsonToken token = lns_json_next (&json);
      lns_trace_bind (table->row, column >= 0 ? table->place[column] : 0, &json, token);
      lns_json_skip (&json, token);
    }
  lns_json_reader_clear (&json);
}

/* A column and its value, from the event itself. */
typedef struct
{
  int column; /* -1: the table does not have it */
  int64_t value;
} Cell;

static void
put_row (LnsTraceTables *tables,
         unsigned which,
         const LnsTable *schema,
         const Cell cells[4],
         LnsTraceValue arguments)
{
  LnsTraceOwnTable *table = &tables->own[which];

  for (unsigned i = 0; i < 4; i++)
    if (cells[i].column >= 0)
      add_column (tables, table, schema, cells[i].column);
  add_told (tables, table, schema, arguments);
  prepare (tables, table, schema);
  if (!lns_trace_is_well (tables))
    return;
  sqlite3_clear_bindings (table->row);
  bind_told (table, schema, arguments);
  for (unsigned i = 0; i < 4; i++)
    if (cells[i].column >= 0 && cells[i].value != LNS_TRACE_NULL)
      sqlite3_bind_int64 (table->row, table->place[cells[i].column], cells[i].value);
  if (sqlite3_step (table->row) != SQLITE_DONE)
    lns_trace_fail (tables);
  sqlite3_reset (table->row);
}

void
_lns_trace_put_own (LnsTraceTables *tables,
                    const LnsTraceEvent *event,
                    int64_t start_ns,
                    const int64_t *end_ns)
{
  const LnsTraceValue *fields = event->fields;
  const unsigned which = table_of (event);
  const LnsTable *schema = lns_table_find (names[which]);
  const int thread = lns_table_column (schema, "globalTid"),
            call = lns_table_column (schema, "nameId"), text = lns_table_column (schema, "textId"),
            name = call >= 0 ? call : text;
  /* Work on a GPU has no thread. The "tid" of its event is a row of the trace. */
  const int64_t tid = lns_trace_thread (tables, fields[LNS_TRACE_PID],
                                        fields[thread >= 0 ? LNS_TRACE_TID : LNS_TRACE_PID]),
                name_id = lns_trace_intern_value (tables, fields[LNS_TRACE_NAME]);
  const Cell cells[4] = {
    { lns_table_column (schema, "start"), start_ns },
    { lns_table_column (schema, "end"), end_ns != NULL ? *end_ns : LNS_TRACE_NULL },
    { thread >= 0 ? thread : lns_table_column (schema, "globalPid"),
      thread >= 0 ? tid : tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS },
    { name, name_id },
  };
  put_row (tables, which, schema, cells, event->arguments);
}
