/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares sums of ranges with sums over sorted events, and tests the functions that they use. */

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/analysis/facts/call-class.h"
#include "src/analysis/filter.h"
#include "src/analysis/stats/pushpop-trace.h"
#include "src/analysis/stats/range-medians.h"
#include "src/analysis/stats/range-stats.h"
#include "src/analysis/stats/report.h"
#include "src/base/memory.h"
#include "src/store/write/kept-table.h"
#include "src/tables/lanes.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/table-fixture.h"

#define N_SETS   8
#define N_EVENTS 30000

static int64_t values[N_SETS][N_EVENTS];
static uint32_t n_values[N_SETS], names[N_SETS];

static int
compare (const void *a, const void *b)
{
  int64_t va = *(const int64_t *)a, vb = *(const int64_t *)b;
  return va < vb ? -1 : va > vb;
}

/* Durations that are hard on medians: all alike, two far apart, one only, wide, narrow, huge. */
static int64_t
draw (unsigned set, uint32_t i, uint64_t *state)
{
  uint64_t random = fixture_random (state);

  switch (set)
    {
    case 0:
      return 1000;
    case 1:
      return i % 2 == 0 ? 10 : 1000000000;
    case 2:
      return 77;
    case 3:
      return (int64_t)(random % 1000000);
    case 4:
      return 5000000 + (int64_t)(random % 100);
    case 5:
      return (int64_t)(random % 3);
    case 6:
      return (int64_t)1 << (random % 40);
    default:
      return (INT64_C (1) << 44) + (int64_t)(random % (UINT64_C (1) << 43));
    }
}

static LnsReport *
report_of_values (void)
{
  const char *path = fixture_path ("values.rep");
  LnsWriter *writer = fixture_writer (path);
  uint64_t state = 7;
  char name[16];

  for (unsigned set = 0; set < N_SETS; set++)
    {
      uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      int64_t now = 0;
      snprintf (name, sizeof name, "set %u", set);
      names[set] = lns_writer_string (writer, name, strlen (name));
      n_values[set] = set == 2 ? 1 : set % 2 == 0 ? N_EVENTS : N_EVENTS - (set == 7 ? 1 : 0);
      for (uint32_t i = 0; i < n_values[set]; i++)
        {
          values[set][i] = draw (set, i, &state);
          LnsEvent event = { .start_ns = now, .duration_ns = values[set][i], .name = names[set] };
          lns_writer_append (writer, lane, &event);
          now += values[set][i] + 5;
        }
      /* An end that nobody knows counts nowhere. */
      lns_writer_append (
          writer, lane,
          &(LnsEvent){ .start_ns = now, .name = names[set], .flags = LNS_EVENT_END_UNKNOWN });
      qsort (values[set], n_values[set], sizeof values[set][0], compare);
    }
  fixture_finish (writer, INT64_C (1) << 60);
  return fixture_open (path, NULL);
}

static int64_t
doubled_median (unsigned set)
{
  return values[set][(n_values[set] - 1) / 2] + values[set][n_values[set] / 2];
}

static void
test_stats_against_sorting (void)
{
  LnsReport *report = report_of_values ();
  LnsRangeStat *stats = NULL;
  size_t n = 0;

  LNS_CHECK (lns_range_stats (report, &(LnsRangeQuery){ .styles = LNS_STYLE_PUSH_POP }, NULL,
                              &stats, &n, NULL));
  LNS_CHECK_INT (n, N_SETS);
  for (size_t i = 0; i < n; i++)
    {
      unsigned set = 0;
      while (names[set] != stats[i].name)
        set++;
      long double sum = 0, squares = 0;
      for (uint32_t v = 0; v < n_values[set]; v++)
        sum += (long double)values[set][v];
      for (uint32_t v = 0; v < n_values[set]; v++)
        squares += ((long double)values[set][v] - sum / n_values[set]) *
                   ((long double)values[set][v] - sum / n_values[set]);
      double deviation = n_values[set] > 1 ? (double)sqrtl (squares / (n_values[set] - 1)) : 0;
      LNS_CHECK_INT (stats[i].n, n_values[set]);
      LNS_CHECK_INT (stats[i].total_ns, (int64_t)sum);
      LNS_CHECK_INT (stats[i].min_ns, values[set][0]);
      LNS_CHECK_INT (stats[i].max_ns, values[set][n_values[set] - 1]);
      LNS_CHECK_INT (stats[i].doubled_median_ns, doubled_median (set));
      LNS_CHECK (fabs (stats[i].deviation_ns - deviation) <= 1e-9 * deviation + 1e-6);
      LNS_CHECK (i == 0 || stats[i - 1].total_ns >= stats[i].total_ns);
    }
  free (stats);
  LNS_CHECK (lns_range_stats (report, &(LnsRangeQuery){ .styles = LNS_STYLE_START_END }, NULL,
                              &stats, &n, NULL));
  LNS_CHECK_INT (n, 0);
  free (stats);
  lns_report_close (report);
}

/* Where little may be collected, bins are counted again in parts. */
static void
test_medians_in_little_memory (void)
{
  LnsReport *report = report_of_values ();
  LnsRangeWalk *walk =
      lns_range_walk_new (report, &(LnsRangeQuery){ .styles = LNS_STYLE_PUSH_POP }, NULL, NULL);
  LnsRangeGroups groups;
  int64_t doubled[N_SETS];
  uint32_t n_families;

  LNS_CHECK (lns_range_walk_families (walk, &n_families) != NULL);
  LNS_CHECK_INT (n_families, 1);
  lns_range_groups_init (&groups, 1, lns_report_n_strings (report) + 1);
  for (unsigned set = 0; set < N_SETS; set++)
    {
      LNS_CHECK_INT (lns_range_groups_find (&groups, 0, names[set]), LNS_GROUP_NONE);
      LNS_CHECK_INT (lns_range_groups_add (&groups, 0, names[set]), set);
      LnsRangeGroup numbers = { .n = n_values[set],
                                .min_ns = values[set][0],
                                .max_ns = values[set][n_values[set] - 1] };
      lns_range_group_merge (&groups.array.items[set], &numbers);
      LNS_CHECK_INT (lns_range_groups_find (&groups, 0, names[set]), set);
    }
  for (uint64_t max_collected = 1; max_collected <= 100000; max_collected *= 100)
    {
      LNS_CHECK (lns_range_medians (walk, &groups, max_collected, doubled, NULL));
      for (unsigned set = 0; set < N_SETS; set++)
        LNS_CHECK_INT (doubled[set], doubled_median (set));
    }
  lns_range_groups_clear (&groups);
  lns_range_walk_free (walk);
  lns_report_close (report);
}

static void
test_bins_ascend (void)
{
  uint32_t last = 0;

  for (int64_t value = 0; value < INT64_MAX / 3; value += value / 64 + 1)
    {
      uint32_t bin = lns_range_bin (value);
      LNS_CHECK (bin >= last && bin <= last + 1 && bin < LNS_RANGE_BINS);
      last = bin;
    }
  LNS_CHECK (lns_range_bin (INT64_MAX) < LNS_RANGE_BINS);
}

static void
test_groups_count_bins (void)
{
  LnsRangeGroup group = { 0 }, sum = { .min_ns = INT64_MAX };

  lns_range_group_count (&group, 100, 1);
  lns_range_group_count (&group, 3, 2);
  lns_range_group_count (&group, 100, 1);
  lns_range_group_count (&group, 511, 7);
  lns_range_group_merge (&sum, &group);
  lns_range_group_merge (&sum, &group);
  LNS_CHECK_INT (sum.bins[100 - sum.first_bin], 4);
  LNS_CHECK_INT (sum.bins[3 - sum.first_bin], 4);
  LNS_CHECK_INT (sum.bins[511 - sum.first_bin], 14);
  lns_range_group_widen (&sum, 0);
  LNS_CHECK_INT (sum.first_bin, 0);
  LNS_CHECK_INT (sum.bins[100], 4);
  free (group.bins);
  free (sum.bins);
}

/* More groups than fit into pages, and names of a damaged report. */
static void
test_groups_of_many_families (void)
{
  enum
  {
    N_FAMILIES = 6000,
    N_NAMES = 200000
  };
  LnsRangeGroups groups;

  lns_range_groups_init (&groups, N_FAMILIES, N_NAMES);
  LNS_CHECK (groups.n_families > 4096 && groups.n_families < N_FAMILIES);
  for (uint32_t family = 0; family < N_FAMILIES; family++)
    {
      LNS_CHECK_INT (lns_range_groups_add (&groups, family, family * 33 + 1), 2 * family);
      LNS_CHECK_INT (lns_range_groups_add (&groups, family, N_NAMES + family), 2 * family + 1);
    }
  for (uint32_t family = 0; family < N_FAMILIES; family++)
    {
      LNS_CHECK_INT (lns_range_groups_find (&groups, family, family * 33 + 1), 2 * family);
      LNS_CHECK_INT (lns_range_groups_find (&groups, family, N_NAMES), 2 * family + 1);
      LNS_CHECK_INT (lns_range_groups_find (&groups, family, family * 33 + 2), LNS_GROUP_NONE);
      LNS_CHECK_INT (groups.array.items[2 * family + 1].name, 0);
    }
  LNS_CHECK_INT (groups.n_made, 4096);
  lns_range_groups_clear (&groups);
}

static void
test_cancel (void)
{
  LnsReport *report = report_of_values ();
  LnsTables *tables = lns_tables_new (report, NULL);
  atomic_bool cancel = true;
  LnsRangeStat *stats = NULL;
  LnsTraceRange *ranges = NULL;
  LnsError error = { 0 };
  size_t n;
  uint32_t n_ranges;

  LNS_CHECK (!lns_range_stats (report, &(LnsRangeQuery){ .styles = LNS_STYLE_PUSH_POP }, &cancel,
                               &stats, &n, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  error.domain = LNS_ERROR_NONE;
  LNS_CHECK (!lns_pushpop_trace (tables, &cancel, &ranges, &n_ranges, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_reports_by_name (void)
{
  LnsReport *report = report_of_values ();
  LnsTables *tables = lns_tables_new (report, NULL);
  LnsStatsStyle style = { .format = LNS_STATS_CSV, .separator = "" };
  size_t size;
  const LnsStatsReport *stats;
  char *text = NULL;

  LNS_CHECK (lns_stats_report_find ("nvtx", NULL) == NULL);
  LNS_CHECK (lns_stats_report_find ("nvtx_sum:base", NULL) == NULL);
  LNS_CHECK (lns_stats_report_find ("cuda_gpu_sum:mangled", NULL) ==
             lns_stats_report_find ("cuda_gpu_sum", NULL));
  for (size_t i = 0; (stats = lns_stats_report_at (i)) != NULL; i++)
    {
      LNS_CHECK (lns_stats_report_find (stats->name, NULL) == stats);
      LnsStatsResult *result = lns_stats_report_run (stats, stats->name, tables, NULL, NULL);
      FILE *stream = open_memstream (&text, &size);
      size_t n_lines = 0;
      LNS_CHECK (result != NULL && lns_stats_result_write (result, stream, &style, NULL));
      fclose (stream);
      for (size_t c = 0; c < size; c++)
        n_lines += text[c] == '\n';
      /* Queries do not know how many rows they have before these are written. */
      if (lns_stats_result_n_rows (result) == SIZE_MAX)
        LNS_CHECK (n_lines > 1);
      else
        LNS_CHECK_INT (n_lines, lns_stats_result_n_rows (result) + 1);
      free (text);
      lns_stats_result_free (result);
    }
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_tables_of_text (void)
{
  const LnsResultColumn columns[] = { { "Time", LNS_RESULT_TIME, 1 }, { "Name", LNS_RESULT_TEXT } };
  LnsStatsStyle style = { .separator = "," };
  char text[8192];
  char wide[201];

  memset (wide, 'w', 200);
  wide[200] = '\0';
  for (int no_limit = 0; no_limit < 2; no_limit++)
    {
      FILE *stream = fmemopen (text, sizeof text, "w");
      style.no_limit = no_limit;
      LnsStatsTable *table = lns_stats_table_new (stream, &style, columns, 2);
      LnsResultCell cells[] = { { .number = -12345678 }, { .bytes = wide, .size_bytes = 200 } };
      lns_rows_add (lns_stats_table_rows (table), cells, NULL);
      cells[0].is_empty = true;
      lns_rows_add (lns_stats_table_rows (table), cells, NULL);
      lns_stats_table_finish (table);
      fclose (stream);
      LNS_CHECK (strncmp (text, "  Time (ns)  ", 13) == 0);
      LNS_CHECK (strstr (text, " -1,234,567.8  www") != NULL &&
                 strstr (text, "              www") != NULL);
      LNS_CHECK ((strstr (text, "w…\n") != NULL) == !no_limit);
      LNS_CHECK ((strstr (text, wide) != NULL) == no_limit);
    }
}

/* Digits are in groups for people alone, and not where that is asked for; also those of written numbers. */
static void
test_groups_of_digits (void)
{
  const struct
  {
    const char *format, *wanted;
  } cases[] = { { "column:nohdr", " 1,234,567  -2,345,678.25\n" },
                { "column:nohdr:nofmt", " 1234567  -2345678.25\n" },
                { "csv:nohdr", "1234567,-2345678.25\n" },
                { "json", "[{\"Size\":1234567,\"Value\":-2345678.25}]\n" } };
  const LnsResultColumn columns[] = { { "Size", LNS_RESULT_BYTES }, { "Value", LNS_RESULT_TEXT } };
  const LnsResultCell cells[] = {
    { .number = 1234567 }, { .is_written = true, .bytes = "-2345678.25", .size_bytes = 11 }
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsStatsStyle style = { .separator = "," };
      char text[256];
      FILE *stream = fmemopen (text, sizeof text, "w");
      LNS_CHECK (lns_stats_style_parse (&style, cases[i].format, NULL));
      LnsStatsTable *table = lns_stats_table_new (stream, &style, columns, 2);
      lns_rows_add (lns_stats_table_rows (table), cells, NULL);
      lns_stats_table_finish (table);
      fclose (stream);
      LNS_CHECK_STR (text, cases[i].wanted);
    }
}

/* The rows of the report of statistics called NAME as CSV without a header. The caller frees them. */
static char *
stats_text (LnsReport *report, const char *name)
{
  LnsTables *tables = lns_tables_new (report, NULL);
  const LnsStatsStyle style = { .format = LNS_STATS_CSV, .separator = ",", .no_header = true };
  LnsStatsResult *result =
      lns_stats_report_run (lns_stats_report_find (name, NULL), name, tables, NULL, NULL);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream (&text, &size);

  LNS_CHECK (result != NULL && lns_stats_result_write (result, stream, &style, NULL));
  fclose (stream);
  lns_stats_result_free (result);
  lns_tables_free (tables);
  lns_report_close (report);
  return text;
}

/* Systems give processes and threads ids of ones that have ended: each event has the name and the rank of its own. */
static void
test_ids_that_are_used_again (void)
{
  static const LnsKeptColumn columns[] = { { "globalTid", "INTEGER", true },
                                           { "rank", "INTEGER", true } };
  const char *path = fixture_path ("reused.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsKeptTableMaker *ranks =
      lns_kept_table_maker_new (writer, "MPI_RANKS", columns, 2, /* is_remainder */ false);

  for (int i = 0; i < 3; i++)
    {
      const uint32_t process = lns_writer_add_process (
          writer, &(LnsProcess){ .pid = 4711, .parent = LNS_ID_NONE, .mpi_rank = 5 + (uint32_t)i });
      const uint32_t thread = lns_writer_add_thread (
          writer, &(LnsThread){ .process = process,
                                .tid = 4711,
                                .name = lns_writer_string (writer, "abc" + i, 1) });
      LnsTrack track = { .process = process,
                         .thread = thread,
                         .domain = LNS_ID_NONE,
                         .device = LNS_ID_NONE,
                         .stream = LNS_ID_NONE };
      const LnsLaneKind kinds[] = { LNS_LANE_CUDA_API, LNS_LANE_MPI_CALL, LNS_LANE_NVTX_PUSH_POP };
      for (size_t k = 0; k < 3; k++)
        {
          track.kind = lns_lane_kind_info (kinds[k])->track;
          table_append (writer,
                        lns_writer_add_lane (
                            writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                .kind = kinds[k] }),
                        kinds[k], 100 * i, k < 2 ? 10 : 500 - 100 * i, (LnsTableValue[]){ { 0 } });
        }
      lns_kept_table_maker_add (
          ranks,
          (LnsKeptValue[]){ { .type = LNS_KEPT_INTEGER, .integer = INT64_C (4711) << 24 | 4711 },
                            { .type = LNS_KEPT_INTEGER, .integer = 4 + i } });
    }
  lns_kept_table_maker_free (ranks);
  fixture_finish (writer, 1000);
  char *text = stats_text (fixture_open (path, NULL), "cuda_api_trace");
  LNS_CHECK_STR (text, "0,10,name,0,0,4711,4711,,a\n100,10,name,0,0,4711,4711,,b\n"
                       "200,10,name,0,0,4711,4711,,c\n");
  free (text);
  text = stats_text (fixture_open (path, NULL), "mpi_event_trace");
  LNS_CHECK_STR (text, "0,10,10,name,4711,4711,,4,,,,,\n100,110,10,name,4711,4711,,5,,,,,\n"
                       "200,210,10,name,4711,4711,,6,,,,,\n");
  free (text);
  /* Ranges that were open when their process ended last until then. */
  text = stats_text (fixture_open (path, NULL), "nvtx_pushpop_trace");
  LNS_CHECK_STR (text, "0,500,500,0,500,:name,4711,4711,0,0,1,,:1,:name\n"
                       "100,500,400,0,400,:name,4711,4711,0,0,2,,:2,:name\n"
                       "200,500,300,0,300,:name,4711,4711,0,0,3,,:3,:name\n");
  free (text);
}

/* A file may have more tables of a kind than SQLite joins in one statement. */
static void
test_sums_of_many_tables (void)
{
  static const LnsKeptColumn columns[] = { { "start", "INTEGER", true },
                                           { "end", "INTEGER", true },
                                           { "nameId", "INTEGER", true } };
  enum
  {
    N_TABLES = 1200
  };
  const char *path = fixture_path ("tables.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t name = lns_writer_string (writer, "parallel", 8);

  for (int i = 0; i < N_TABLES; i++)
    {
      char table[64];
      snprintf (table, sizeof table, "OPENMP_EVENT_KIND_%d", i);
      LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, table, columns, 3, false);
      lns_kept_table_maker_add (maker,
                                (LnsKeptValue[]){ { .type = LNS_KEPT_INTEGER, .integer = 100 },
                                                  { .type = LNS_KEPT_INTEGER, .integer = 101 + i },
                                                  { .type = LNS_KEPT_STRING, .integer = name } });
      lns_kept_table_maker_free (maker);
    }
  fixture_finish (writer, 10000);
  char *text = stats_text (fixture_open (path, NULL), "openmp_sum");
  LNS_CHECK_STR (text, "100.0,720600,1200,600.5,600.5,1,1200,346.6,parallel\n");
  free (text);
}

/* ---- Scheduling ------------------------------------------------------------------------------ */

static LnsWriter *sched_writer;

/* Adds a thread, which ended at END_NS, with the TID. Returns its lane of scheduling. */
static uint32_t
add_thread (int tid, int64_t end_ns)
{
  const uint32_t thread = lns_writer_add_thread (
      sched_writer, &(LnsThread){ .process = 0,
                                  .tid = tid,
                                  .name = lns_writer_string (sched_writer, "t", 1),
                                  .start_ns = LNS_TIME_UNKNOWN,
                                  .end_ns = end_ns });
  const LnsTrack track = { .kind = LNS_TRACK_SCHED,
                           .process = 0,
                           .thread = thread,
                           .domain = LNS_ID_NONE,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE };
  return lns_writer_add_lane (
      sched_writer,
      &(LnsLane){ .track = lns_writer_add_track (sched_writer, &track), .kind = LNS_LANE_SCHED });
}

static LnsEvent
got_cpu (int64_t start_ns, int64_t duration_ns, uint32_t flags)
{
  LnsEvent event = { .start_ns = start_ns, .duration_ns = duration_ns, .flags = flags };
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 1;
  return event;
}

/* Notes that nothing is known of the thread of LANE from TIME_NS on. */
static void
forget (uint32_t lane, int64_t time_ns)
{
  lns_writer_append (sched_writer, lane,
                     &(LnsEvent){ .start_ns = time_ns, .flags = LNS_EVENT_END_UNKNOWN });
}

/* Has the thread of LANE run from START_NS to END_NS, and then do what STATE says. */
static void
run_until (uint32_t lane, int64_t start_ns, int64_t end_ns, uint64_t state)
{
  LnsEvent left = { .start_ns = end_ns };
  left.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = state;
  const LnsEvent got = got_cpu (start_ns, end_ns - start_ns, 0);
  lns_writer_append (sched_writer, lane, &got);
  lns_writer_append (sched_writer, lane, &left);
}

/* Checks the rows of sched_sum of the part of the report at PATH from START_NS to END_NS; of all of it for the whole int64_t. */
static void
check_sched (const char *path, int64_t start_ns, int64_t end_ns, const char *wanted)
{
  const LnsFilterSpan span = { start_ns, end_ns, LNS_ID_NONE };
  LnsReport *report = fixture_open (path, NULL);
  if (start_ns > INT64_MIN)
    {
      const char *part = fixture_path ("part.rep");
      LNS_CHECK (lns_filter_write (report, &span, part, NULL, NULL));
      lns_report_close (report);
      report = fixture_open (part, NULL);
      unlink (part);
    }
  char *text = stats_text (report, "sched_sum");
  LNS_CHECK_STR (text, wanted);
  free (text);
}

/* What a thread does last goes on to the end of the report, or of its part, if it is known; and what it does first in a part
 * begins with that. */
static void
test_scheduling_at_the_ends (void)
{
  const char *path = fixture_path ("sched.rep");
  sched_writer = fixture_writer (path);
  lns_writer_set_process (
      sched_writer, 0,
      &(LnsProcess){ .pid = 1234, .parent = LNS_ID_NONE, .end_ns = LNS_TIME_UNKNOWN });
  const LnsEvent spins = got_cpu (100, 0, 0), lost = got_cpu (100, 0, LNS_EVENT_END_UNKNOWN);
  lns_writer_set_open (sched_writer, add_thread (1, LNS_TIME_UNKNOWN), &spins);
  const uint32_t blocked = add_thread (2, LNS_TIME_UNKNOWN);
  run_until (blocked, 100, 200, 2);
  run_until (blocked, 300, 400, 3);
  run_until (add_thread (3, LNS_TIME_UNKNOWN), 200, 300, 6);
  run_until (add_thread (4, 600), 100, 200, 7);
  run_until (add_thread (5, 500), 100, 500, 5);
  const uint32_t gap = add_thread (6, LNS_TIME_UNKNOWN);
  lns_writer_append (sched_writer, gap, &lost);
  run_until (gap, 700, 800, 2);
  lns_writer_append (sched_writer, add_thread (7, LNS_TIME_UNKNOWN), &lost);
  fixture_finish (sched_writer, 1000);

#define THREAD(tid) ",,t," #tid ",1234\n"
  check_sched (
      path, INT64_MIN, INT64_MAX,
      "50.0,900,,,,,,1,,0" THREAD (1) "22.2,400,0,0,,,,1,0,0" THREAD (
          5) "11.1,200,0,700,600,,,"
             "2,0,0" THREAD (2) "5.6,100,700,0,,,700,1,1,0" THREAD (
                 3) "5.6,100,0,400,,,,1,0,0" THREAD (4) "5.6,100,0,200,"
                                                        "0,,,2,0,"
                                                        "0" THREAD (6) "0.0,0,,,,,,1,,0" THREAD (
                                                            7));
  check_sched (
      path, 350, 450,
      "40.0,100,,,,,,1,,0" THREAD (1) "40.0,100,,,,,,1,,0" THREAD (
          5) "20.0,50,0,50,50,,,1,0,0" THREAD (2) "0.0,0,100,0,,,100,0,1,0" THREAD (3) "0.0,0,"
                                                                                       "0,100,,"
                                                                                       ",,0,0,"
                                                                                       "0" THREAD (
                                                                                           4));
  check_sched (
      path, 590, 750,
      "76.2,160,,,,,,1,,0" THREAD (1) "23.8,50,,,,,,1,,0" THREAD (
          6) "0.0,0,0,160,160,,,0,0,0" THREAD (2) "0.0,0,160,0,,,160,0,1,0" THREAD (3) "0.0,0,"
                                                                                       "0,10,,,"
                                                                                       ",0,0,"
                                                                                       "0" THREAD (
                                                                                           4));
  check_sched (path, 900, INT64_MAX,
               "100.0,100,,,,,,1,,0" THREAD (1) "0.0,0,0,100,100,,,0,0,0" THREAD (
                   2) "0.0,0,100,0,,,100,0,1,0" THREAD (3) "0.0,0,0,100,0,,,0,0,0" THREAD (6));
  check_sched (path, 1000, INT64_MAX, "");
}

/* Threads are recorded up to 1000 ns, the end of a capture range, and a range of another kind ends at 3000. Thread 1 ran to the end,
 * which reports had at 2900 once; 2 waits. Of threads 3 and 4 nothing is known from 300 and 500 on, as records are missing, until
 * they run again. */
static void
test_scheduling_that_is_not_known (void)
{
  const char *path = fixture_path ("sched.rep");
  sched_writer = fixture_writer (path);
  lns_writer_set_process (
      sched_writer, 0,
      &(LnsProcess){ .pid = 1234, .parent = LNS_ID_NONE, .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_append (sched_writer, fixture_lane (sched_writer, LNS_LANE_NVTX_PUSH_POP),
                     &(LnsEvent){ .start_ns = 100, .duration_ns = 2900 });
  const LnsEvent on = got_cpu (100, 2800, LNS_EVENT_OPEN_END),
                 seen = got_cpu (100, 200, LNS_EVENT_OPEN_END);
  lns_writer_append (sched_writer, add_thread (1, LNS_TIME_UNKNOWN), &on);
  run_until (add_thread (2, LNS_TIME_UNKNOWN), 100, 200, 2);
  const uint32_t ran = add_thread (3, LNS_TIME_UNKNOWN), waited = add_thread (4, LNS_TIME_UNKNOWN);
  lns_writer_append (sched_writer, ran, &seen);
  forget (ran, 300);
  run_until (ran, 700, 800, 2);
  run_until (waited, 100, 200, 2);
  forget (waited, 500);
  run_until (waited, 800, 900, 2);
  fixture_finish (sched_writer, 1000);
  check_sched (path, INT64_MIN, INT64_MAX,
               "60.0,900,,,,,,1,,0" THREAD (1) "20.0,300,0,200,0,,,2,0,0" THREAD (
                   3) "13.3,200,0,400,0,,,2,0,0" THREAD (4) "6.7,100,0,800,0,,,1,0,0" THREAD (2));
}

/* Adds to LANE of WRITER an event from START_NS to END_NS. */
static void
add_event (LnsWriter *writer, uint32_t lane, int64_t start_ns, int64_t end_ns, uint32_t flags)
{
  const LnsEvent event = {
    .start_ns = start_ns, .duration_ns = end_ns - start_ns, .name = 1, .flags = flags
  };
  lns_writer_append (writer, lane, &event);
}

/* Checks event I of LANE. */
static void
check_event (
    LnsReport *report, uint32_t lane, uint64_t i, int64_t start_ns, int64_t end_ns, uint32_t flags)
{
  LnsEvent event = { 0 };
  LNS_CHECK (lns_report_event (report, lane, i, &event, NULL));
  LNS_CHECK_INT (event.start_ns, start_ns);
  LNS_CHECK_INT (event.start_ns + event.duration_ns, end_ns);
  LNS_CHECK_INT (event.flags, flags);
}

/* A report of 1,000 ns that has three lanes, losses, and what tells of the recording. */
static void
write_to_cut (const char *path)
{
  LnsWriter *writer = fixture_writer (path);
  const uint32_t ended = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP),
                 lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP),
                 open = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  add_event (writer, ended, 100, 200, 0);
  add_event (writer, lane, 100, 599, 0);
  add_event (writer, lane, 599, 700, LNS_EVENT_LOST_BEFORE);
  add_event (writer, lane, 700, 800, 0);
  lns_writer_set_open (writer, open, &(LnsEvent){ .start_ns = 50, .name = 1 });
  for (int64_t at_ns = 200; at_ns <= 700; at_ns += 500)
    lns_writer_add_loss (
        writer,
        &(LnsLoss){
            .process = 0, .thread = 0, .first_ns = at_ns, .last_ns = at_ns + 10, .marks = 3 });
  lns_writer_set_meta (writer, "start_ns", "20");
  lns_writer_set_meta (writer, "command_line", "work");
  lns_writer_add_diagnostic (writer,
                             &(LnsDiagnostic){ .code = 2, .process = LNS_ID_NONE, .text = 3 });
  fixture_finish (writer, 1000);
}

/* A report that is cut to its last 400 ns holds these alone, and all that tells of the recording. */
static void
test_a_report_is_cut (void)
{
  const char *path = fixture_path ("cut.rep");
  const LnsFilterCut cut = { 600, 400, "LNS-KEEP-002", "it is cut" };
  LnsWriterCounts counts;
  struct stat status;
  bool is_cut;
  uint32_t n;
  write_to_cut (path);
  LNS_CHECK_INT (chmod (path, 0640), 0);
  LnsReport *whole = fixture_open (path, NULL);
  LNS_CHECK (lns_filter_cut (path, &cut, &counts, &is_cut, NULL));
  LNS_CHECK (is_cut);
  LNS_CHECK_INT (counts.n_events, 3);
  LNS_CHECK_INT (counts.n_lost, 3);
  LNS_CHECK_INT (stat (path, &status), 0);
  LNS_CHECK_INT (status.st_mode & 0777, 0640);
  LNS_CHECK_INT (status.st_size, (int64_t)counts.file_bytes);

  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_lane_info (report, 0)->n_events, 0);
  LNS_CHECK_INT (lns_report_lane_info (report, 1)->n_events, 2);
  LNS_CHECK_INT (lns_report_lane_info (report, 2)->n_events, 1);
  check_event (report, 1, 0, 600, 700, LNS_EVENT_OPEN_START | LNS_EVENT_LOST_BEFORE);
  check_event (report, 1, 1, 700, 800, 0);
  check_event (report, 2, 0, 600, 1000, LNS_EVENT_OPEN_START | LNS_EVENT_OPEN_END);
  LNS_CHECK_INT (lns_report_info (report)->end_ns, 1000);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_COMPLETE);
  LNS_CHECK_INT (lns_recorded_ns (report), 400);
  LNS_CHECK_STR (lns_report_meta (report, "start_ns"), "600");
  LNS_CHECK_STR (lns_report_meta (report, "keep_ns"), "400");
  LNS_CHECK_STR (lns_report_meta (report, "command_line"), "work");
  LNS_CHECK_INT (lns_report_losses (report, &n)[0].first_ns, 700);
  LNS_CHECK_INT (n, 1);
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (diagnostics[0].code, 2);
  LNS_CHECK_STR (lns_report_string (report, diagnostics[1].text, NULL), cut.text);
  lns_report_close (report);

  /* Who had it open still has the whole one. */
  check_event (whole, 1, 0, 100, 599, 0);
  lns_report_close (whole);

  /* Nothing lies before, so nothing is written. */
  LNS_CHECK (lns_filter_cut (path, &cut, &counts, &is_cut, NULL));
  LNS_CHECK (!is_cut);
}

/* A report that cannot be cut stays whole, and nothing else is left beside it. */
static void
test_a_report_that_cannot_be_cut (void)
{
  const char *path = fixture_path ("whole.rep");
  const LnsFilterCut cut = { 600, 400, "LNS-KEEP-002", "it is cut" };
  char *beside = lns_asprintf ("%s.%d", path, getpid ());
  LnsError error = { 0 };
  bool is_cut;
  write_to_cut (path);
  LNS_CHECK_INT (mkdir (beside, 0700), 0);
  LNS_CHECK (!lns_filter_cut (path, &cut, NULL, &is_cut, &error));
  LNS_CHECK (strstr (error.message, beside) != NULL);
  LNS_CHECK_INT (rmdir (beside), 0);
  LnsReport *report = fixture_open (path, NULL);
  check_event (report, 1, 0, 100, 599, 0);
  lns_report_close (report);
  free (beside);
}

static void
calls_that_only_wait_are_known (void)
{
  static const char *const waits[] = { "sem_timedwait", "pthread_cond_wait", "poll", "epoll_pwait2",
                                       "select",        "nanosleep" };
  static const char *const others[] = { "read", "write", "open", "ioctl", "mmap", "policy", "" };
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
    if (!lns_call_only_waits (LNS_LANE_OS_CALL, waits[i]))
      LNS_FAIL ("%s does not wait", waits[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (lns_call_only_waits (LNS_LANE_OS_CALL, others[i]))
      LNS_FAIL ("%s waits", others[i]);
  LNS_CHECK (!lns_call_only_waits (LNS_LANE_NVTX_PUSH_POP, "poll"));
}

int
main (void)
{
  LNS_TEST (test_bins_ascend);
  LNS_TEST (test_stats_against_sorting);
  LNS_TEST (test_medians_in_little_memory);
  LNS_TEST (test_groups_count_bins);
  LNS_TEST (test_groups_of_many_families);
  LNS_TEST (test_cancel);
  LNS_TEST (test_reports_by_name);
  LNS_TEST (test_tables_of_text);
  LNS_TEST (test_groups_of_digits);
  LNS_TEST (test_ids_that_are_used_again);
  LNS_TEST (test_sums_of_many_tables);
  LNS_TEST (test_scheduling_at_the_ends);
  LNS_TEST (test_scheduling_that_is_not_known);
  LNS_TEST (test_a_report_is_cut);
  LNS_TEST (test_a_report_that_cannot_be_cut);
  LNS_TEST (calls_that_only_wait_are_known);
  return lns_tap_done ();
}
