/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mpi_event_sum, mpi_event_trace and mpi_msg_size_sum: calls of MPI and the sizes of their messages. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"
#include "src/tables/row-cursor.h"

/* What only some calls have. */
typedef enum
{
  TAG,
  PEER,
  ROOT,
  SIZE,
  SENT,
  RECEIVED,
  N_FACTS
} Fact;

/* Which column of a table tells it. */
typedef struct
{
  const char *table, *source;
  const char *columns[N_FACTS];
} Source;

static const Source sources[] = {
  { "MPI_P2P_EVENTS", "p2p", { [TAG] = "tag", [PEER] = "remoteRank", [SIZE] = "size" } },
  { "MPI_COLLECTIVES_EVENTS",
    "coll",
    { [ROOT] = "rootRank", [SENT] = "size", [RECEIVED] = "recvSize" } },
  { "MPI_START_WAIT_EVENTS", "start_wait", { 0 } },
  { "MPI_OTHER_EVENTS", "other", { 0 } },
};
#define N_SOURCES (sizeof sources / sizeof *sources)

typedef struct
{
  int64_t start_ns, end_ns, tid;
  int64_t facts[N_FACTS];
  unsigned has; /* mask of Fact                                                                  */
  unsigned source;
  uint32_t name;
} Call;

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
add_call (LnsStatsResult *result, Call call, LnsError *error)
{
  Call *calls = result->rows;

  /* The number allocated is the power of two that is not below n.                               */
  if ((result->n & (result->n - 1)) == 0)
    calls = realloc (calls, (result->n == 0 ? 1 : 2 * result->n) * sizeof *calls);
  if (calls == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for statistics; close other programs");
  result->rows = calls;
  calls[result->n++] = call;
  return true;
}

/* Adds the calls of table SOURCE that have an end. */
static bool
read_calls (LnsStatsResult *result, unsigned source, const atomic_bool *cancel, LnsError *error)
{
  const LnsTable *table = lns_tables_find (result->tables, sources[source].table);
  LnsRowCursor *rows = lns_row_cursor_new (result->tables, table, error);
  int start = find_column (table, "start"), end = find_column (table, "end"),
      tid = find_column (table, "globalTid"), name = find_column (table, "textId");
  bool row = true, good = rows != NULL && lns_row_cursor_start (rows, NULL, 0, false, error);

  while (good && row && (good = lns_row_cursor_next (rows, &row, error)) && row)
    {
      LnsValue until = lns_row_cursor_value (rows, (unsigned)end);
      Call call = { .start_ns = lns_row_cursor_value (rows, (unsigned)start).integer,
                    .end_ns = until.integer,
                    .tid = lns_row_cursor_value (rows, (unsigned)tid).integer,
                    .source = source,
                    .name = (uint32_t)lns_row_cursor_value (rows, (unsigned)name).integer };
      for (unsigned i = 0; i < N_FACTS; i++)
        {
          int column = find_column (table, sources[source].columns[i]);
          LnsValue value = column >= 0 ? lns_row_cursor_value (rows, (unsigned)column)
                                       : (LnsValue){ .type = LNS_VALUE_NULL };
          if (value.type == LNS_VALUE_INTEGER)
            {
              call.facts[i] = value.integer;
              call.has |= 1u << i;
            }
        }
      if (cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed))
        good = lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
      good = good && (until.type != LNS_VALUE_INTEGER || add_call (result, call, error));
    }
  lns_row_cursor_free (rows);
  return good;
}

static int
compare_starts (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  if (ca->start_ns != cb->start_ns)
    return ca->start_ns < cb->start_ns ? -1 : 1;
  return ca->tid < cb->tid ? -1 : ca->tid > cb->tid;
}

bool
_lns_stats_run_mpi (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  bool good = true;

  for (unsigned i = 0; good && i < N_SOURCES; i++)
    good = read_calls (result, i, cancel, error);
  if (good && result->n > 0)
    qsort (result->rows, result->n, sizeof (Call), compare_starts);
  return good;
}

/* ---- One by one ------------------------------------------------------------------------------ */

/* The rank of the process of TID as table MPI_RANKS has it; RET_RANK stays where it does not. */
static bool
find_rank (const LnsStatsResult *result, int64_t tid, LnsStatsCell *ret_rank, LnsError *error)
{
  const LnsTable *table = lns_tables_find (result->tables, "MPI_RANKS");
  bool row = true, good = true;

  *ret_rank = (LnsStatsCell){ .is_empty = true };
  if (table == NULL || find_column (table, "rank") < 0 || find_column (table, "globalTid") < 0)
    return true;
  LnsRowCursor *rows = lns_row_cursor_new (result->tables, table, error);
  good = rows != NULL && lns_row_cursor_start (rows, NULL, 0, false, error);
  while (good && row && ret_rank->is_empty && (good = lns_row_cursor_next (rows, &row, error)))
    if (row &&
        lns_row_cursor_value (rows, (unsigned)find_column (table, "globalTid")).integer >> 24 ==
            tid >> 24)
      *ret_rank = _lns_stats_number (
          lns_row_cursor_value (rows, (unsigned)find_column (table, "rank")).integer);
  lns_row_cursor_free (rows);
  return good;
}

static LnsStatsCell
fact (const Call *call, Fact which)
{
  return (LnsStatsCell){ .is_empty = (call->has >> which & 1) == 0, .number = call->facts[which] };
}

bool
_lns_stats_write_mpi (const LnsStatsResult *result,
                      FILE *stream,
                      const LnsStatsStyle *style,
                      LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Start", .is_time = true },
    { "End", .is_time = true },
    { "Duration", .is_time = true },
    { "Event", .is_text = true },
    { "Pid" },
    { "Tid" },
    { "Tag" },
    { "Rank" },
    { "PeerRank" },
    { "RootRank" },
    { "Size" },
    { "CollSendSize" },
    { "CollRecvSize" },
  };
  const Call *calls = result->rows;
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof *columns);
  bool good = table != NULL;
  LnsStatsCell rank = { .is_empty = true };

  for (size_t i = 0; good && i < result->n; i++)
    {
      const Call *call = &calls[i];
      /* Neighbours are mostly of one process. */
      if (i == 0 || call[-1].tid >> 24 != call->tid >> 24)
        good = find_rank (result, call->tid, &rank, error);
      LnsStatsCell cells[] = { _lns_stats_number (call->start_ns),
                               _lns_stats_number (call->end_ns),
                               _lns_stats_number (lns_difference (call->end_ns, call->start_ns)),
                               _lns_stats_string (result, call->name),
                               _lns_stats_number (call->tid >> 24 & 0xFFFFFF),
                               _lns_stats_number (call->tid & 0xFFFFFF),
                               fact (call, TAG),
                               rank,
                               fact (call, PEER),
                               fact (call, ROOT),
                               fact (call, SIZE),
                               fact (call, SENT),
                               fact (call, RECEIVED) };
      good = good && lns_stats_table_add (table, cells);
    }
  lns_stats_table_finish (table);
  return good;
}

/* ---- Summed up ------------------------------------------------------------------------------- */

/* A value, and what it is summed up under. */
typedef struct
{
  unsigned source;
  uint32_t name;
  int64_t value;
} Value;

typedef struct
{
  unsigned source;
  uint32_t name;
  LnsRangeStat sum;
} Sum;

static int
compare_values (const void *a, const void *b)
{
  const Value *va = a, *vb = b;

  if (va->source != vb->source)
    return va->source < vb->source ? -1 : 1;
  if (va->name != vb->name)
    return va->name < vb->name ? -1 : 1;
  return va->value < vb->value ? -1 : va->value > vb->value;
}

static int
compare_sums (const void *a, const void *b)
{
  const Sum *sa = a, *sb = b;

  if (sa->sum.total_ns != sb->sum.total_ns)
    return sa->sum.total_ns > sb->sum.total_ns ? -1 : 1;
  if (sa->source != sb->source)
    return sa->source < sb->source ? -1 : 1;
  return sa->name < sb->name ? -1 : sa->name > sb->name;
}

/* Sorts the N VALUES into sums, to be freed: RET_N of them. NULL without memory. */
static Sum *
sum_up (Value *values, size_t n, size_t *ret_n)
{
  Sum *sums = calloc (n + 1, sizeof *sums);

  *ret_n = 0;
  if (sums == NULL)
    return NULL;
  if (n > 0)
    qsort (values, n, sizeof *values, compare_values);
  for (size_t from = 0, to; from < n; from = to)
    {
      const Value *first = &values[from];
      for (to = from + 1;
           to < n && values[to].source == first->source && values[to].name == first->name; to++)
        ;
      sums[(*ret_n)++] =
          (Sum){ first->source, first->name,
                 _lns_stats_sum_sorted (&first->value, sizeof *first, to - from, LNS_STYLE_ROW) };
    }
  qsort (sums, *ret_n, sizeof *sums, compare_sums);
  return sums;
}

/* Total, count, average, median, least, greatest and deviation of SUM. */
static void
make_numbers (const LnsRangeStat *sum, LnsStatsCell cells[7])
{
  cells[0] = _lns_stats_number ((int64_t)sum->total_ns);
  cells[1] = _lns_stats_number ((int64_t)sum->n);
  cells[2] = _lns_stats_number (_lns_stats_rounded ((double)sum->total_ns / (double)sum->n, 1));
  cells[3] = _lns_stats_number (_lns_stats_rounded ((double)sum->doubled_median_ns / 2, 1));
  cells[4] = _lns_stats_number (sum->min_ns);
  cells[5] = _lns_stats_number (sum->max_ns);
  cells[6] = _lns_stats_number (_lns_stats_rounded (sum->deviation_ns, 1));
}

static LnsStatsCell
text (const char *bytes)
{
  return _lns_stats_text (bytes, strlen (bytes));
}

bool
_lns_stats_write_mpi_sums (const LnsStatsResult *result,
                           FILE *stream,
                           const LnsStatsStyle *style,
                           LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Time (%)", .decimals = 1 },
    { "Total Time", .is_time = true },
    { "Instances" },
    { "Avg", .is_time = true, .decimals = 1 },
    { "Med", .is_time = true, .decimals = 1 },
    { "Min", .is_time = true },
    { "Max", .is_time = true },
    { "StdDev", .is_time = true, .decimals = 1 },
    { "Source", .is_text = true },
    { "Name", .is_text = true },
  };
  const Call *calls = result->rows;
  Value *values = calloc (result->n + 1, sizeof *values);
  double all_ns = 0;
  size_t n = 0;

  (void)error;
  for (size_t i = 0; values != NULL && i < result->n; i++)
    {
      values[i] = (Value){ calls[i].source, calls[i].name,
                           lns_difference (calls[i].end_ns, calls[i].start_ns) };
      all_ns += (double)values[i].value;
    }
  Sum *sums = values != NULL ? sum_up (values, result->n, &n) : NULL;
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof *columns);
  bool good = sums != NULL && table != NULL;
  for (size_t i = 0; good && i < n; i++)
    {
      double share = all_ns > 0 ? 100 * (double)sums[i].sum.total_ns / all_ns : 0;
      LnsStatsCell cells[10] = { _lns_stats_number (_lns_stats_rounded (share, 1)) };
      make_numbers (&sums[i].sum, &cells[1]);
      cells[8] = text (sources[sums[i].source].source);
      cells[9] = _lns_stats_string (result, sums[i].name);
      good = lns_stats_table_add (table, cells);
    }
  lns_stats_table_finish (table);
  free (values);
  free (sums);
  return good;
}

bool
_lns_stats_write_mpi_sizes (const LnsStatsResult *result,
                            FILE *stream,
                            const LnsStatsStyle *style,
                            LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Total Message Volume (B)" },
    { "Instances" },
    { "Avg (B)", .decimals = 1 },
    { "Med (B)", .decimals = 1 },
    { "Min (B)" },
    { "Max (B)" },
    { "StdDev (B)", .decimals = 1 },
    { "Source", .is_text = true },
    { "Name", .is_text = true },
  };
  static const struct
  {
    const char *name;
    Fact fact;
  } kinds[] = { { "p2p", SIZE }, { "coll_send", SENT }, { "coll_recv", RECEIVED } };
  const Call *calls = result->rows;
  Value *values = calloc (3 * result->n + 1, sizeof *values);
  size_t n_values = 0, n = 0;

  (void)error;
  for (size_t i = 0; values != NULL && i < result->n; i++)
    for (unsigned kind = 0; kind < 3; kind++)
      if ((calls[i].has >> kinds[kind].fact & 1) != 0)
        values[n_values++] = (Value){ kind, calls[i].name, calls[i].facts[kinds[kind].fact] };
  Sum *sums = values != NULL ? sum_up (values, n_values, &n) : NULL;
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof *columns);
  bool good = sums != NULL && table != NULL;
  for (size_t i = 0; good && i < n; i++)
    {
      LnsStatsCell cells[9];
      make_numbers (&sums[i].sum, cells);
      cells[7] = text (kinds[sums[i].source].name);
      cells[8] = _lns_stats_string (result, sums[i].name);
      good = lns_stats_table_add (table, cells);
    }
  lns_stats_table_finish (table);
  free (values);
  free (sums);
  return good;
}
