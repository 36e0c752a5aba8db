/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums by name of what only tables tell apart: calls of the operating system's libraries. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"
#include "src/tables/row-cursor.h"

/* Which rows of which tables a report sums up. */
typedef struct
{
  const char *report;
  const char *prefix; /* what the names of its tables begin with                                */
  const char *filter; /* a column, or NULL                                                      */
  int64_t passes;     /* its value                                                              */
} RowSource;

static const RowSource sources[] = {
  /* Rows of other classes say when the tracing began and ended: nobody called anything. */
  { "osrt_sum", "OSRT_API", "eventClass", 27 },
  { "openacc_sum", "CUPTI_ACTIVITY_KIND_OPENACC_", NULL, 0 },
  { "openmp_sum", "OPENMP_EVENT_KIND_", NULL, 0 },
  { "syscall_sum", "SYSCALL", NULL, 0 },
};

typedef struct
{
  uint32_t name;
  int64_t duration_ns;
} Call;

typedef struct
{
  Call *calls;
  size_t n, n_allocated;
} Calls;

static const RowSource *
source_of (const LnsStatsResult *result)
{
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    if (strcmp (sources[i].report, result->maker->report.name) == 0)
      return &sources[i];
  return NULL;
}

/* The position of the column called NAME, or -1. */
static int
find_column (const LnsTable *table, const char *name)
{
  for (unsigned i = 0; name != NULL && i < table->n_columns; i++)
    if (strcmp (table->columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

static bool
add_call (Calls *calls, Call call)
{
  if (calls->n == calls->n_allocated)
    {
      size_t n = 2 * calls->n_allocated + 1024;
      Call *larger = realloc (calls->calls, n * sizeof *larger);
      if (larger == NULL)
        return false;
      calls->calls = larger;
      calls->n_allocated = n;
    }
  calls->calls[calls->n++] = call;
  return true;
}

static bool
read_calls (const LnsStatsResult *result,
            const RowSource *source,
            const LnsTable *table,
            Calls *calls,
            const atomic_bool *cancel,
            LnsError *error)
{
  int start = find_column (table, "start"), end = find_column (table, "end"),
      name = find_column (table, "nameId"), filter = find_column (table, source->filter);
  if (start < 0 || end < 0 || name < 0)
    return true;
  LnsRowCursor *rows = lns_row_cursor_new (result->tables, table, error);
  bool row = true;

  if (rows != NULL)
    lns_row_cursor_set_columns (rows, UINT64_C (1) << start | UINT64_C (1) << end |
                                          UINT64_C (1) << name |
                                          (filter >= 0 ? UINT64_C (1) << filter : 0));
  bool good = rows != NULL && lns_row_cursor_start (rows, NULL, 0, false, error);
  while (good && row && (good = lns_row_cursor_next (rows, &row, error)) && row)
    {
      LnsValue until = lns_row_cursor_value (rows, (unsigned)end);
      if (cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed))
        good = lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
      if (until.type != LNS_VALUE_INTEGER ||
          (filter >= 0 && lns_row_cursor_value (rows, (unsigned)filter).integer != source->passes))
        continue;
      Call call = { (uint32_t)lns_row_cursor_value (rows, (unsigned)name).integer,
                    lns_difference (until.integer,
                                    lns_row_cursor_value (rows, (unsigned)start).integer) };
      good = good && (add_call (calls, call) ||
                      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                                     "not enough memory for statistics; close other programs"));
    }
  lns_row_cursor_free (rows);
  return good;
}

static int
compare_calls (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  if (ca->name != cb->name)
    return ca->name < cb->name ? -1 : 1;
  return ca->duration_ns < cb->duration_ns ? -1 : ca->duration_ns > cb->duration_ns;
}

static int
compare_totals (const void *a, const void *b)
{
  const LnsRangeStat *sa = a, *sb = b;

  if (sa->total_ns != sb->total_ns)
    return sa->total_ns > sb->total_ns ? -1 : 1;
  return sa->name < sb->name ? -1 : sa->name > sb->name;
}

bool
_lns_stats_run_row_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  const RowSource *source = source_of (result);
  unsigned n_tables;
  const LnsTable *tables = lns_tables_all (result->tables, &n_tables);
  Calls calls = { 0 };
  bool good = true;

  for (unsigned i = 0; good && i < n_tables; i++)
    if (strncmp (tables[i].name, source->prefix, strlen (source->prefix)) == 0)
      good = read_calls (result, source, &tables[i], &calls, cancel, error);
  if (!good)
    {
      free (calls.calls);
      return false;
    }
  if (calls.n > 0)
    qsort (calls.calls, calls.n, sizeof *calls.calls, compare_calls);
  size_t n_names = 0;
  for (size_t i = 0; i < calls.n; i++)
    n_names += i == 0 || calls.calls[i].name != calls.calls[i - 1].name;
  result->sums = calloc (n_names + 1, sizeof *result->sums);
  for (size_t from = 0, to; result->sums != NULL && from < calls.n; from = to)
    {
      for (to = from + 1; to < calls.n && calls.calls[to].name == calls.calls[from].name; to++)
        ;
      result->sums[result->n] = _lns_stats_sum_sorted (
          &calls.calls[from].duration_ns, sizeof *calls.calls, to - from, LNS_STYLE_ROW);
      result->sums[result->n++].name = calls.calls[from].name;
    }
  free (calls.calls);
  if (result->sums == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for statistics; close other programs");
  qsort (result->sums, result->n, sizeof *result->sums, compare_totals);
  return true;
}
