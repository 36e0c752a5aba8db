/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/export/place.h"
#include "src/export/text.h"
#include "src/tables/row-cursor.h"

/* Rows between two looks at `cancel` and calls of `progress`. */
#define STRETCH 65536

static const LnsExportType *const types[] = {
  &lns_sink_sqlite,     &lns_sink_jsonlines,   &lns_sink_csv,   &lns_sink_chrome,
  &lns_sink_folded,     &lns_sink_perf_script, &lns_sink_pprof, &lns_sink_speedscope,
  &lns_sink_firefox,    &lns_sink_svg,         &lns_sink_arrow, &lns_sink_arrowdir,
  &lns_sink_parquetdir,
};

typedef struct
{
  LnsExportJob job;
  void *sink;
  uint64_t n_done, n_all;
  bool *chosen; /* by table                                                                     */
  LnsSinkRow row;
} Export;

/* The columns of a table that --times and --ts-shift take as times. */
typedef struct
{
  int start, end; /* of events, or -1                                                           */
  uint64_t times; /* 1 << column                                                                */
} TimeColumns;

const LnsExportType *
lns_export_type_find (const char *name)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp (types[i]->name, name) == 0)
      return types[i];
  return NULL;
}

const char *
lns_export_type_ending (const LnsExportType *type)
{
  return type->ending;
}

bool
lns_export_type_check (const LnsExportType *type, LnsError *error)
{
  return type->check == NULL || type->check (error);
}

/* Reports progress and looks at `cancel`, now and then while rows are copied. */
static bool
look_up (Export *export, LnsError *error)
{
  const LnsExportOptions *options = export->job.options;

  if (options->cancel != NULL && atomic_load_explicit (options->cancel, memory_order_relaxed))
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0,
                          "%s was not written: the export was interrupted", export->job.path);
  if (options->progress != NULL && export->n_all > 0)
    options->progress ((double)export->n_done / (double)export->n_all, options->progress_data);
  return true;
}

/* ---- Which tables, which times ---------------------------------------------------------------- */

/* Adds the tables whose names PATTERN matches to those that are chosen. */
static bool
choose (Export *export, const char *pattern, LnsError *error)
{
  unsigned n, n_found = 0;
  const LnsTable *tables = lns_tables_all (export->job.tables, &n);
  char *whole = lns_asprintf ("^\\(%s\\)$", pattern);
  regex_t regex;

  int bad = regcomp (&regex, whole, REG_ICASE | REG_NOSUB);
  free (whole);
  if (bad != 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--tables: “%s” is not a basic regular expression", pattern);
  for (unsigned i = 0; i < n; i++)
    if (regexec (&regex, tables[i].name, 0, NULL, 0) == 0)
      {
        export->chosen[i] = true;
        n_found++;
      }
  regfree (&regex);
  return n_found > 0 ||
         lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "--tables: no table matches “%s”; `lanescope sql REPORT 'SELECT name FROM "
                        "sqlite_temp_master'` lists them",
                        pattern);
}

static bool
choose_tables (Export *export, LnsError *error)
{
  const LnsExportOptions *options = export->job.options;
  unsigned n;
  const LnsTable *tables = lns_tables_all (export->job.tables, &n);

  export->chosen = lns_calloc (n, sizeof *export->chosen);
  for (size_t i = 0; i < options->n_tables; i++)
    if (!choose (export, options->tables[i], error))
      return false;
  for (unsigned i = 0; i < n; i++)
    {
      if (options->n_tables == 0)
        export->chosen[i] = true;
      uint64_t n_rows = lns_tables_n_rows (export->job.tables, &tables[i]);
      if ((export->job.type->takes != NULL && !export->job.type->takes (&tables[i])) ||
          (tables[i].is_optional && n_rows == 0 && options->extent != LNS_EXPORT_ALL_TABLES))
        export->chosen[i] = false;
      if (export->chosen[i])
        export->n_all += n_rows;
    }
  return true;
}

/* Reads a time, the sum of numbers with units. Moves *TEXT behind it. */
static bool
parse_time (const char **text, int64_t *ret_ns)
{
  static const struct
  {
    const char *name;
    int64_t ns;
  } units[] = { { "ns", 1 },         { "us", 1000 },       { "µs", 1000 },        { "ms", 1000000 },
                { "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 } };
  const char *at = *text;
  bool is_negative = *at == '-';
  int64_t sum = 0;

  at += is_negative;
  do
    {
      char *end;
      errno = 0;
      uintmax_t number = strtoumax (at, &end, 10);
      int64_t unit_ns = 1000000000, part;
      if (*at < '0' || *at > '9' || errno != 0)
        return false;
      at = end;
      for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp (at, units[i].name, strlen (units[i].name)) == 0)
          {
            unit_ns = units[i].ns;
            at += strlen (units[i].name);
            break;
          }
      if (__builtin_mul_overflow (number, unit_ns, &part) ||
          __builtin_add_overflow (sum, part, &sum))
        return false;
    }
  while (*at >= '0' && *at <= '9');
  *text = at;
  *ret_ns = is_negative ? -sum : sum;
  return true;
}

bool
lns_export_times_parse (const char *text, LnsExportTimes *ret_times, LnsError *error)
{
  LnsExportTimes times = { .min_ns = INT64_MIN, .max_ns = INT64_MAX };
  const char *at = text;

  times.may_begin_before = *at == ':';
  at += times.may_begin_before;
  bool good = *at == '/' || parse_time (&at, &times.min_ns);
  good = good && *at++ == '/';
  good = good && (*at == '\0' || *at == ':' || parse_time (&at, &times.max_ns));
  times.may_end_after = good && *at == ':';
  at += times.may_end_after;
  if (!good || *at != '\0' || times.min_ns > times.max_ns)
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "--times: “%s” is not a time range; write start/end, such as 1s/2s500ms, /10ms or :3s/, "
        "where a colon includes events that cross that end",
        text);
  *ret_times = times;
  return true;
}

static TimeColumns
time_columns (const LnsTable *table)
{
  static const char *const names[] = { "start",        "end",       "timestamp",
                                       "rawTimestamp", "startTime", "stopTime" };
  TimeColumns result = { .start = -1, .end = -1 };

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      LnsColumnRole role = lns_table_column_role (table, (int)i);
      if (role == LNS_ROLE_START && result.start < 0)
        result.start = (int)i;
      if (role == LNS_ROLE_END && result.end < 0)
        result.end = (int)i;
      for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp (table->columns[i].name, names[k]) == 0 && table->columns[i].type[0] == 'I')
          result.times |= UINT64_C (1) << i;
    }
  return result;
}

/* Constrains a table's events to TIMES. Returns the number of CONSTRAINTS. */
static unsigned
constrain (const LnsExportTimes *times, TimeColumns columns, LnsRowConstraint constraints[2])
{
  int end = columns.end >= 0 ? columns.end : columns.start;

  if (times == NULL || columns.start < 0)
    return 0;
  constraints[0] = (LnsRowConstraint){ .column = times->may_begin_before ? end : columns.start,
                                       .min = times->min_ns,
                                       .max = INT64_MAX };
  constraints[1] = (LnsRowConstraint){ .column = times->may_end_after ? columns.start : end,
                                       .min = INT64_MIN,
                                       .max = times->max_ns };
  return 2;
}

/* ---- Rows ------------------------------------------------------------------------------------- */

typedef struct
{
  Export *export;
  const LnsTable *table;
  LnsTable shown; /* `table` without the columns that exports lack                           */
  LnsRowCursor *rows;
  TimeColumns columns;
  uint64_t left_out; /* 1 << column that is NULL in all rows                                      */
  bool has_begun;
  bool by_start; /* the rows are numbered as they come                                        */
  int key;       /* the column that has the rowid, or -1                                      */
  int64_t n_rows;
} Copy;

static bool
begin (Copy *copy, LnsError *error)
{
  copy->has_begun = true;
  return copy->export->job.type->begin (copy->export->sink, &copy->shown, error);
}

static bool
copy_row (Copy *copy, LnsError *error)
{
  Export *export = copy->export;
  LnsSinkRow *row = &export->row;
  int64_t shift_ns = export->job.options->shift_ns;

  if (!copy->has_begun && !begin (copy, error))
    return false;
  unsigned n = 0;
  for (unsigned i = 0; i < copy->table->n_columns; i++)
    {
      LnsValue *value = &row->values[n];
      if (copy->table->columns[i].rule == LNS_COLUMN_OURS)
        continue;
      *value = (copy->left_out >> i & 1) ? (LnsValue){ 0 } : lns_row_cursor_value (copy->rows, i);
      if ((copy->columns.times >> i & 1) && value->type == LNS_VALUE_INTEGER)
        value->integer = (int64_t)((uint64_t)value->integer + (uint64_t)shift_ns);
      n++;
    }
  copy->n_rows++;
  row->values[n] =
      (LnsValue){ .type = LNS_VALUE_INTEGER,
                  .integer = copy->by_start ? copy->n_rows : lns_row_cursor_rowid (copy->rows) };
  if (copy->key >= 0)
    row->values[copy->key] = row->values[n];
  row->lane = lns_row_cursor_lane (copy->rows);
  return export->job.type->row (export->sink, row, error) &&
         (++export->n_done % STRETCH != 0 || look_up (export, error));
}

/* Copies the rows that meet the constraints, those of definitions only if WITH_DEFINITIONS. */
static bool
copy_rows (Copy *copy,
           const LnsRowConstraint *constraints,
           unsigned n,
           bool with_definitions,
           LnsError *error)
{
  bool row, good = lns_row_cursor_start (copy->rows, constraints, n, copy->by_start, error);

  while (good && (good = lns_row_cursor_next (copy->rows, &row, error)) && row)
    if (with_definitions || lns_row_cursor_lane (copy->rows) != LNS_ID_NONE)
      good = copy_row (copy, error);
  return good;
}

/* Whether rows of TABLE are written in the order of their starts, as nsys does. It groups calls and samples by thread, as we
 * do. */
static bool
is_by_start (const LnsTable *table)
{
  const uint32_t kinds =
      1u << LNS_LANE_NVTX_PUSH_POP | 1u << LNS_LANE_NVTX_START_END | 1u << LNS_LANE_NVTX_MARK |
      1u << LNS_LANE_CUDA_KERNEL | 1u << LNS_LANE_CUDA_MEMCPY | 1u << LNS_LANE_CUDA_MEMSET |
      1u << LNS_LANE_CUDA_SYNC | 1u << LNS_LANE_CUDA_EVENT | 1u << LNS_LANE_CUDA_GRAPH;
  return (table->kinds & kinds) != 0;
}

/* The column of TABLE that has the rowid, or -1. */
static int
key_column (const LnsTable *table)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    if (table->columns[i].rule == LNS_COLUMN_KEY)
      return (int)i;
  return -1;
}

/* The rows of NVTX_EVENTS that name something are exported whatever their time. */
static bool
copy_names (Copy *copy, LnsError *error)
{
  static const int names[] = { LNS_EVENT_TYPE_CATEGORY, LNS_EVENT_TYPE_THREAD_NAME,
                               LNS_EVENT_TYPE_DOMAIN_CREATE, LNS_EVENT_TYPE_DOMAIN_DESTROY };
  bool good = true;

  for (size_t i = 0; good && i < sizeof names / sizeof *names; i++)
    good = copy_rows (
        copy,
        &(LnsRowConstraint){ .column = LNS_NVTX_EVENT_TYPE, .min = names[i], .max = names[i] }, 1,
        true, error);
  return good;
}

/* TABLE without columns that are Lanescope's own, in COLUMNS. */
static LnsTable
without_ours (const LnsTable *table, LnsTableColumn columns[static LNS_SINK_MAX_COLUMNS])
{
  LnsTable shown = *table;

  shown.n_columns = 0;
  shown.columns = columns;
  for (unsigned i = 0; i < table->n_columns; i++)
    if (table->columns[i].rule != LNS_COLUMN_OURS)
      columns[shown.n_columns++] = table->columns[i];
  return shown;
}

static bool
export_table (Export *export, const LnsTable *table, LnsError *error)
{
  /* Types that take only some tables do not write tables. */
  Copy copy = { .export = export,
                .table = table,
                .columns = time_columns (table),
                .by_start = export->job.type->takes == NULL && is_by_start (table),
                .key = -1 };
  LnsTableColumn columns[LNS_SINK_MAX_COLUMNS];
  LnsRowConstraint constraints[2];
  const LnsExportOptions *options = export->job.options;
  copy.shown = without_ours (table, columns);
  if (copy.by_start)
    copy.key = key_column (&copy.shown);
  if (table->source == LNS_ROWS_NVTX && options->no_json)
    copy.left_out |= UINT64_C (1) << LNS_NVTX_JSON_TEXT | UINT64_C (1) << LNS_NVTX_JSON_TEXT_ID;
  if (table->source == LNS_ROWS_NVTX && options->no_blobs)
    copy.left_out |= UINT64_C (1) << LNS_NVTX_BINARY_DATA;
  unsigned n = constrain (options->times, copy.columns, constraints);
  bool good = options->extent == LNS_EXPORT_FILLED_TABLES || begin (&copy, error);

  if (good && table->source != LNS_ROWS_NONE)
    {
      copy.rows = lns_row_cursor_new (export->job.tables, table);
      good = copy_rows (&copy, constraints, n, n == 0, error) &&
             (n == 0 || table->source != LNS_ROWS_NVTX || copy_names (&copy, error));
    }
  lns_row_cursor_free (copy.rows);
  return good && (!copy.has_begun || export->job.type->end == NULL ||
                  export->job.type->end (export->sink, error));
}

static bool
export_tables (Export *export, LnsError *error)
{
  unsigned n;
  const LnsTable *tables = lns_tables_all (export->job.tables, &n);

  if (!choose_tables (export, error))
    return false;
  if (export->job.type->is_stream)
    {
      export->job.text = lns_export_text_open (&export->job, export->job.temporary, error);
      if (export->job.text == NULL)
        return false;
    }
  export->sink = export->job.type->open (&export->job, error);
  bool good = export->sink != NULL;
  for (unsigned i = 0; good && i < n; i++)
    if (export->chosen[i])
      good = export_table (export, &tables[i], error);
  good = good && look_up (export, error);
  if (export->sink != NULL)
    good = export->job.type->close (export->sink, good, error) && good;
  return lns_export_text_close (export->job.text, good, error) && good;
}

bool
lns_export (LnsReport *report,
            const LnsExportType *type,
            const char *path,
            const LnsExportOptions *options,
            LnsError *error)
{
  static const LnsExportOptions none;
  LnsExportPlace place;
  Export export = { 0 };
  LnsExportCode code = { 0 };

  options = options != NULL ? options : &none;
  if (!lns_export_place_open (&place, report, type, path, options, error))
    return lns_export_place_close (&place, false, NULL);
  export.job = (LnsExportJob){ .report = report,
                               .type = type,
                               .options = options,
                               .path = path,
                               .temporary = place.temporary,
                               .mode = place.mode,
                               .tables = lns_tables_new (report, error) };
  if (type->has_chains)
    lns_export_code_list (report, &code);
  export.job.code = &code;
  bool good = export.job.tables != NULL && export_tables (&export, error);
  lns_export_code_clear (&code);
  lns_tables_free (export.job.tables);
  free (export.chosen);
  return lns_export_place_close (&place, good, error);
}
