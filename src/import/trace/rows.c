/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/rows.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/kernel-text.h"
#include "src/tables/table.h"

/* --- CUDA calls and GPU work ------------------------------------------------------------------ */

void
_lns_trace_put_call (LnsTraceTables *tables,
                     const LnsTraceEvent *event,
                     bool is_driver,
                     int64_t start_ns,
                     int64_t end_ns)
{
  const LnsTraceValue *fields = event->fields;
  const int64_t tid = lns_trace_thread (tables, fields[LNS_TRACE_PID], fields[LNS_TRACE_TID]),
                name = lns_trace_intern_value (tables, fields[LNS_TRACE_NAME]);

  lns_trace_count_call (tables, tid);
  lns_trace_put (tables, LNS_TRACE_ROW_CALL,
                 (int64_t[]){ start_ns, end_ns,
                              _lns_trace_integer_or (fields[LNS_TRACE_CLASS], is_driver), tid,
                              _lns_trace_integer_or (fields[LNS_TRACE_CORRELATION], 0), name,
                              _lns_trace_integer_or (fields[LNS_TRACE_RESULT], LNS_TRACE_NULL) },
                 7);
}

/* ENUM_CUDA_MEM_KIND of the N bytes of TEXT, "Pageable" or the like. */
static int64_t
memory_kind (const char *text, size_t n)
{
  static const char *const names[] = { "Pageable", "Pinned", "Device", "Array", "Managed" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen (names[i]) == n && strncasecmp (names[i], text, n) == 0)
      return (int64_t)i;
  return strncasecmp (text, "Host", n) == 0 ? 0 : LNS_TRACE_NULL;
}

/* ENUM_CUDA_MEMCPY_OPER and the kinds of memory that the name tells: "Memcpy HtoD (Pinned -> Device)". */
static void
read_copy (LnsTraceValue name, int64_t *ret_kind, int64_t *ret_from, int64_t *ret_to)
{
  static const struct
  {
    const char *name;
    int64_t kind;
  } kinds[] = { { "HtoD", 1 }, { "DtoH", 2 }, { "DtoD", 8 }, { "HtoH", 9 }, { "PtoP", 10 } };
  const char *text = name.text != NULL ? name.text : "", *from = strchr (text, '(');
  const char *arrow = from != NULL ? strstr (from, " -> ") : NULL;
  const char *end = arrow != NULL ? strchr (arrow, ')') : NULL;
  *ret_kind = 0;
  *ret_from = *ret_to = LNS_TRACE_NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strstr (text, kinds[i].name) != NULL)
      *ret_kind = kinds[i].kind;
  if (end == NULL)
    return;
  *ret_from = memory_kind (from + 1, (size_t)(arrow - from - 1));
  *ret_to = memory_kind (arrow + 4, (size_t)(end - arrow - 4));
}

/* ENUM_CUPTI_SYNC_TYPE by PyTorch's name. */
static int64_t
sync_type (LnsTraceValue name)
{
  static const char *const names[] = { "", "Event Sync", "Stream Wait Event", "Stream Sync",
                                       "Context Sync" };
  for (size_t i = 1; i < sizeof names / sizeof *names; i++)
    if (name.text != NULL && strcmp (name.text, names[i]) == 0)
      return (int64_t)i;
  return 0;
}

/* The columns that kernels have beyond those of all work, from VALUES[7] on. */
static void
describe_kernel (LnsTraceTables *tables, const LnsTraceValue *fields, int64_t *values)
{
  const LnsTraceValue name = fields[LNS_TRACE_NAME];
  size_t n_short;
  const char *text = lns_kernel_text_short (name.text != NULL ? name.text : "", &n_short);
  values[7] = lns_trace_intern_value (tables, name);
  values[8] = lns_trace_intern (tables, text, n_short);
  for (int i = 0; i < 6; i++)
    values[9 + i] = _lns_trace_integer_or (fields[LNS_TRACE_GRID + i], LNS_TRACE_NULL);
  values[15] = _lns_trace_integer_or (fields[LNS_TRACE_REGISTERS], LNS_TRACE_NULL);
  values[16] = _lns_trace_integer_or (fields[LNS_TRACE_SHARED_BYTES], LNS_TRACE_NULL);
  values[17] = _lns_trace_integer_or (fields[LNS_TRACE_DYNAMIC_BYTES], LNS_TRACE_NULL);
}

/* Those of copies. */
static void
describe_copy (const LnsTraceValue *fields, int64_t *values)
{
  values[7] = _lns_trace_integer_or (fields[LNS_TRACE_BYTES], LNS_TRACE_NULL);
  read_copy (fields[LNS_TRACE_NAME], &values[8], &values[9], &values[10]);
  for (int i = 0; i < 3; i++)
    values[8 + i] = _lns_trace_integer_or (fields[LNS_TRACE_COPY_KIND + i], values[8 + i]);
}

/* Those of sets. */
static void
describe_set (const LnsTraceValue *fields, int64_t *values)
{
  const char *name = fields[LNS_TRACE_NAME].text != NULL ? fields[LNS_TRACE_NAME].text : "";
  const char *place = strchr (name, '('), *end = place != NULL ? strchr (place, ')') : NULL;
  values[7] = _lns_trace_integer_or (fields[LNS_TRACE_BYTES], LNS_TRACE_NULL);
  values[8] = _lns_trace_integer_or (
      fields[LNS_TRACE_MEMORY_KIND],
      end != NULL ? memory_kind (place + 1, (size_t)(end - place - 1)) : LNS_TRACE_NULL);
}

void
_lns_trace_put_work (LnsTraceTables *tables,
                     const LnsTraceEvent *event,
                     LnsTraceRow which,
                     int64_t start_ns,
                     int64_t end_ns)
{
  static const int n_values[] = { [LNS_TRACE_ROW_KERNEL] = 18,
                                  [LNS_TRACE_ROW_COPY] = 11,
                                  [LNS_TRACE_ROW_SET] = 9,
                                  [LNS_TRACE_ROW_SYNC] = 8 };
  const LnsTraceValue *fields = event->fields;
  int64_t tid = 0;
  /* Where "pid" is no GPU, it is the process.                                                     */
  if (fields[LNS_TRACE_OWN_DEVICE].text != NULL)
    tid = lns_trace_thread (tables, fields[LNS_TRACE_PID], fields[LNS_TRACE_PID]);
  int64_t values[18] = { start_ns,
                         end_ns,
                         _lns_trace_integer_or (
                             fields[LNS_TRACE_OWN_DEVICE],
                             _lns_trace_integer_or (
                                 fields[LNS_TRACE_DEVICE],
                                 _lns_trace_integer_or (fields[LNS_TRACE_PID], 0))),
                         _lns_trace_integer_or (fields[LNS_TRACE_CONTEXT], 1),
                         _lns_trace_integer_or (fields[LNS_TRACE_STREAM],
                                                _lns_trace_integer_or (fields[LNS_TRACE_TID], 0)),
                         _lns_trace_integer_or (fields[LNS_TRACE_CORRELATION], 0),
                         tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS };
  if (which == LNS_TRACE_ROW_KERNEL)
    describe_kernel (tables, fields, values);
  else if (which == LNS_TRACE_ROW_COPY)
    describe_copy (fields, values);
  else if (which == LNS_TRACE_ROW_SET)
    describe_set (fields, values);
  else if (which == LNS_TRACE_ROW_SYNC)
    values[7] =
        _lns_trace_integer_or (fields[LNS_TRACE_SYNC_TYPE], sync_type (fields[LNS_TRACE_NAME]));
  lns_trace_put (tables, which, values, n_values[which]);
}

/* --- Events of our own traces -------------------------------------------------------------------
 *
 * The members of their "args" have the names of the table's columns. */

static const char *const own_tables[LNS_TRACE_N_OWN_TABLES] = {
  "CUBLAS_EVENTS",
  "CUDNN_EVENTS",
  "LNS_CUSPARSE_EVENTS",
  "LNS_CUSOLVER_EVENTS",
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

  while (i < LNS_TRACE_N_OWN_TABLES && strcmp (own_tables[i], name.text) != 0)
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
  const LnsTable *schema = lns_table_find (own_tables[which]);
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
