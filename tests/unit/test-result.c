/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests tables as data, and on the sample report that whatever statistics and rules write is what they collect. */

#include "src/analysis/rules/rule.h"
#include "src/analysis/stats/report.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

/* A cell of the characters of a literal, which may have NULs. */
#define TEXT(literal)                                                                              \
 {                                                                                                 \
  .bytes = literal, .size_bytes = sizeof literal - 1                                               \
 }

static const LnsResultColumn columns[] = { { "Time", LNS_RESULT_TIME, 1 },
                                           { "Name", LNS_RESULT_TEXT },
                                           { "Calls", LNS_RESULT_COUNT } };

#define N_COLUMNS 3

static void
add (LnsResult *result, LnsResultCell name, int64_t number, const LnsPlace *place)
{
  const LnsResultCell cells[N_COLUMNS] = { { .number = number }, name, { .is_empty = true } };

  lns_rows_add (lns_result_rows (result), cells, place);
}

/* What is given need not last, titles included. */
static void
test_columns_are_copied (void)
{
  char title[] = "Bytes (MB)";
  unsigned n;
  LnsResult *result =
      lns_result_new (&(LnsResultColumn){ title, LNS_RESULT_MEGABYTES, 3 }, 1, SIZE_MAX);

  memset (title, 'x', sizeof title - 1);
  const LnsResultColumn *copied = lns_result_columns (result, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_STR (copied->title, "Bytes (MB)");
  LNS_CHECK_INT (copied->type, LNS_RESULT_MEGABYTES);
  LNS_CHECK_INT (copied->decimals, 3);
  LNS_CHECK_INT (lns_result_n_rows (result), 0);
  LNS_CHECK_INT (lns_result_n_left_out (result), 0);
  lns_result_free (result);
  lns_result_free (NULL);
}

static void
test_cells (void)
{
  static const LnsResultCell names[] = { TEXT ("a\0b"),
                                         TEXT ("two\nlines\r\n"),
                                         TEXT (""),
                                         { .is_empty = true },
                                         { .is_written = true, .bytes = "-1.5", .size_bytes = 4 } };
  enum
  {
    N_NAMES = sizeof names / sizeof *names,
    N = 3000 * N_NAMES
  };
  LnsResult *result = lns_result_new (columns, N_COLUMNS, SIZE_MAX);
  char room[16];

  for (int64_t i = 0; i < N; i++)
    {
      LnsResultCell name = names[i % N_NAMES];
      if (name.bytes != NULL)
        name.bytes = memcpy (room, name.bytes, name.size_bytes);
      add (result, name, i == 0 ? INT64_MIN : -i, NULL);
      memset (room, 'x', sizeof room);
    }
  LNS_CHECK_INT (lns_result_n_rows (result), N);
  for (size_t i = 0; i < N; i++)
    {
      const LnsResultCell *wanted = &names[i % N_NAMES], cell = lns_result_cell (result, i, 1);
      LNS_CHECK_INT (lns_result_cell (result, i, 0).number, i == 0 ? INT64_MIN : -(int64_t)i);
      LNS_CHECK (!lns_result_cell (result, i, 0).is_empty);
      LNS_CHECK (lns_result_cell (result, i, 2).is_empty);
      LNS_CHECK_INT (cell.is_empty, wanted->is_empty);
      LNS_CHECK_INT (cell.is_written, wanted->is_written);
      LNS_CHECK_INT (cell.size_bytes, wanted->size_bytes);
      LNS_CHECK (cell.is_empty || memcmp (cell.bytes, wanted->bytes, cell.size_bytes) == 0);
      LNS_CHECK (lns_result_place (result, i) == NULL);
    }
  lns_result_free (result);
}

/* Texts of no bytes are texts, also where nothing else was ever kept. */
static void
test_text_without_bytes (void)
{
  LnsResult *result = lns_result_new (columns, N_COLUMNS, SIZE_MAX);

  add (result, (LnsResultCell){ 0 }, 0, NULL);
  LNS_CHECK (!lns_result_cell (result, 0, 1).is_empty);
  LNS_CHECK (lns_result_cell (result, 0, 1).bytes != NULL);
  LNS_CHECK_INT (lns_result_cell (result, 0, 1).size_bytes, 0);
  lns_result_free (result);
}

static void
test_places (void)
{
  LnsResult *result = lns_result_new (columns, N_COLUMNS, SIZE_MAX);
  LnsPlace place = lns_place (7, UINT64_C (1) << 40, -5, 25);

  LNS_CHECK_INT (place.lane, 7);
  LNS_CHECK_INT (place.ordinal, UINT64_C (1) << 40);
  LNS_CHECK_INT (place.start_ns, -5);
  LNS_CHECK_INT (place.end_ns, 20);
  LNS_CHECK_INT (lns_place (0, 0, 8, -3).end_ns, 8);
  LNS_CHECK_INT (lns_place (0, 0, INT64_MAX - 1, 3).end_ns, INT64_MAX);
  add (result, (LnsResultCell)TEXT ("event"), 1, &place);
  add (result, (LnsResultCell)TEXT ("sum"), 2, NULL);
  place = lns_place (LNS_ID_NONE, 0, 100, 50);
  add (result, (LnsResultCell)TEXT ("time"), 3, &place);
  memset (&place, 0xFF, sizeof place);
  LNS_CHECK_INT (lns_result_place (result, 0)->lane, 7);
  LNS_CHECK_INT (lns_result_place (result, 0)->end_ns, 20);
  LNS_CHECK (lns_result_place (result, 1) == NULL);
  LNS_CHECK_INT (lns_result_place (result, 2)->lane, LNS_ID_NONE);
  LNS_CHECK_INT (lns_result_place (result, 2)->start_ns, 100);
  lns_result_free (result);
}

/* Empty cells, texts and rows that are left out have no numbers. */
static void
test_ranges (void)
{
  LnsResult *result = lns_result_new (columns, N_COLUMNS, 3);
  static const int64_t numbers[] = { 5, -7, 3, 1000 };
  int64_t least, most;

  LNS_CHECK (!lns_result_range (result, 0, &least, &most));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    add (result, (LnsResultCell)TEXT ("row"), numbers[i], NULL);
  LNS_CHECK (lns_result_range (result, 0, &least, &most));
  LNS_CHECK_INT (least, -7);
  LNS_CHECK_INT (most, 5);
  LNS_CHECK (!lns_result_range (result, 1, &least, &most));
  LNS_CHECK (!lns_result_range (result, 2, &least, &most));
  lns_result_free (result);
}

static void
test_limit (void)
{
  for (size_t max_rows = 0; max_rows < 4; max_rows++)
    {
      LnsResult *result = lns_result_new (columns, N_COLUMNS, max_rows);
      for (int64_t i = 0; i < 3; i++)
        add (result, (LnsResultCell)TEXT ("row"), i, NULL);
      const size_t n_kept = max_rows < 3 ? max_rows : 3;
      LNS_CHECK_INT (lns_result_n_rows (result), n_kept);
      LNS_CHECK_INT (lns_result_n_left_out (result), 3 - n_kept);
      for (size_t i = 0; i < n_kept; i++)
        LNS_CHECK_INT (lns_result_cell (result, i, 0).number, i);
      lns_result_free (result);
    }
}

/* ---- Collected and written ------------------------------------------------------------------- */

static const LnsStatsStyle style = { .format = LNS_STATS_CSV, .separator = "" };

/* RESULT as CSV. The caller frees it. */
static char *
write_collected (const LnsResult *result)
{
  char *text;
  size_t size;
  unsigned n;
  FILE *stream = lns_memory_stream (&text, &size);
  const LnsResultColumn *of_result = lns_result_columns (result, &n);
  LnsStatsTable *table = lns_stats_table_new (stream, &style, of_result, n);

  lns_result_give (result, lns_stats_table_rows (table));
  lns_stats_table_finish (table);
  lns_memory_stream_end (stream);
  return text;
}

/* What is given from one result to another is the same, places included. */
static void
test_rows_are_given_on (void)
{
  LnsResult *from = lns_result_new (columns, N_COLUMNS, SIZE_MAX),
            *to = lns_result_new (columns, N_COLUMNS, SIZE_MAX);
  const LnsPlace place = lns_place (1, 2, 3, 4);

  add (from, (LnsResultCell)TEXT ("a,\"b\"\n"), 105, &place);
  add (from, (LnsResultCell){ .is_empty = true }, -7, NULL);
  lns_result_give (from, lns_result_rows (to));
  char *text = write_collected (to);
  LNS_CHECK_STR (text, "Time (ns),Name,Calls\n10.5,\"a,\"\"b\"\"\n\",\n-0.7,,\n");
  LNS_CHECK_INT (lns_result_place (to, 0)->ordinal, 2);
  LNS_CHECK (lns_result_place (to, 1) == NULL);
  free (text);
  lns_result_free (from);
  lns_result_free (to);
}

/* Columns of one title have one type wherever they are, and only numbers have decimals. */
static void
check_columns (const LnsResult *result, const char *name)
{
  unsigned n;
  const LnsResultColumn *all = lns_result_columns (result, &n);

  for (unsigned i = 0; i < n; i++)
    {
      const char *title = all[i].title;
      const LnsResultType type = all[i].type;
      const bool is_share = strstr (title, "(%)") != NULL, is_mb = strstr (title, "(MB)") != NULL;
      if (is_share != (type == LNS_RESULT_SHARE) || is_mb != (type == LNS_RESULT_MEGABYTES) ||
          (strstr (title, "(B)") != NULL && type != LNS_RESULT_BYTES) ||
          ((strcasecmp (title, "PID") == 0 || strcasecmp (title, "TID") == 0) &&
           type != LNS_RESULT_ID) ||
          (type == LNS_RESULT_TEXT && all[i].decimals > 0))
        LNS_FAIL ("%s: the column “%s” has the type %d", name, title, (int)type);
    }
}

/* The events at the places of RESULT are there and begin when these say. Returns how many rows have an event. */
static size_t
check_places (LnsReport *report, const LnsResult *result, const char *name)
{
  size_t n_events = 0;

  for (size_t row = 0; row < lns_result_n_rows (result); row++)
    {
      const LnsPlace *place = lns_result_place (result, row);
      LnsEvent event;
      if (place == NULL || place->lane == LNS_ID_NONE)
        continue;
      n_events++;
      if (!lns_report_event (report, place->lane, place->ordinal, &event, NULL) ||
          event.start_ns != place->start_ns || place->end_ns < place->start_ns ||
          (event.duration_ns > 0 && place->end_ns != event.start_ns + event.duration_ns))
        LNS_FAIL ("%s: row %zu is not the event %" PRIu64 " of lane %u", name, row, place->ordinal,
                  place->lane);
    }
  return n_events;
}

/* What the report of statistics NAME collects. The caller frees it. */
static LnsResult *
collect (LnsTables *tables, const char *name, size_t max_rows)
{
  LnsStatsResult *stats =
      lns_stats_report_run (lns_stats_report_find (name, NULL), name, tables, NULL, NULL);
  LnsResult *result = stats != NULL ? lns_stats_result_collect (stats, max_rows, NULL) : NULL;

  lns_stats_result_free (stats);
  if (result == NULL)
    LNS_FAIL ("%s is not collected", name);
  return result;
}

/* What it writes. The caller frees it. */
static char *
write_directly (LnsTables *tables, const char *name)
{
  LnsStatsResult *stats =
      lns_stats_report_run (lns_stats_report_find (name, NULL), name, tables, NULL, NULL);
  char *text;
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);
  const bool good = stats != NULL && lns_stats_result_write (stats, stream, &style, NULL);

  lns_memory_stream_end (stream);
  lns_stats_result_free (stats);
  if (!good)
    LNS_FAIL ("%s is not written", name);
  return text;
}

/* The events at the places of RESULT, which are the longest of their sums, are as long as these say. */
static void
check_longest (const LnsResult *result, const char *name)
{
  unsigned n_columns, max = 0;
  const LnsResultColumn *titles = lns_result_columns (result, &n_columns);

  while (max < n_columns && strcmp (titles[max].title, "Max") != 0)
    max++;
  for (size_t row = 0; max < n_columns && row < lns_result_n_rows (result); row++)
    {
      const LnsPlace *place = lns_result_place (result, row);
      if (place != NULL && place->lane != LNS_ID_NONE &&
          place->end_ns - place->start_ns != lns_result_cell (result, row, max).number)
        LNS_FAIL ("%s: row %zu does not lead to its longest event", name, row);
    }
}

/* Of how many of the N_ROWS rows of the report of statistics NAME there should be an event: all, where they are events, or sums of what
 * has a name of its own; none of other sums. */
static size_t
n_with_events (const char *name, size_t n_rows)
{
  static const char *const sums[] = { "cuda_api_sum",
                                      "cuda_gpu_kern_sum",
                                      "cuda_gpu_kern_gb_sum",
                                      "cuda_gpu_mem_time_sum",
                                      "cuda_gpu_mem_size_sum",
                                      "cuda_gpu_sum",
                                      "cuda_api_gpu_sum",
                                      "nvtx_sum",
                                      "nvtx_pushpop_sum",
                                      "nvtx_startend_sum",
                                      "osrt_sum",
                                      "mpi_event_sum",
                                      "mpi_msg_size_sum" };

  const size_t size = strcspn (name, ":");
  bool is_listed = strstr (name, "_trace") != NULL;

  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    is_listed |= strlen (sums[i]) == size && strncmp (name, sums[i], size) == 0;
  return is_listed ? n_rows : 0;
}

/* Collected, the report of statistics NAME is what it writes. Where it lists events, each row is one of them; where it sums them up,
 * each leads to the longest. */
static void
check_stats (LnsTables *tables, const char *name)
{
  LnsResult *result = collect (tables, name, SIZE_MAX);
  char *text = write_collected (result), *wanted = write_directly (tables, name);
  const size_t n_rows = lns_result_n_rows (result);

  LNS_CHECK_STR (text, wanted);
  check_columns (result, name);
  const size_t n_events = check_places (lns_tables_report (tables), result, name);
  check_longest (result, name);
  if (n_events != n_with_events (name, n_rows))
    LNS_FAIL ("%s: %zu of %zu rows are events", name, n_events, n_rows);
  LnsResult *part = collect (tables, name, 2);
  LNS_CHECK_INT (lns_result_n_rows (part), n_rows < 2 ? n_rows : 2);
  LNS_CHECK_INT (lns_result_n_rows (part) + lns_result_n_left_out (part), n_rows);
  lns_result_free (part);
  lns_result_free (result);
  free (text);
  free (wanted);
}

static LnsTables *
open_sample (void)
{
  char *path = lns_asprintf ("%s/data/samples/cuda-double.rep", getenv ("LNS_SOURCE_ROOT"));
  LnsTables *tables = lns_tables_new (fixture_open (path, NULL), NULL);

  free (path);
  LNS_CHECK (tables != NULL);
  return tables;
}

static void
close_tables (LnsTables *tables)
{
  LnsReport *report = lns_tables_report (tables);

  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_each_report (void)
{
  static const char *const with_arguments[] = { "cuda_gpu_kern_sum:nvtx-name:base",
                                                "cuda_gpu_trace:nvtx-name:mangled",
                                                "cuda_kern_exec_trace:nvtx-name", "um_sum:rows=-1",
                                                "sample_tree:bottom-up:min=5" };
  LnsTables *tables = open_sample ();
  const LnsStatsReport *stats;

  for (size_t i = 0; (stats = lns_stats_report_at (i)) != NULL; i++)
    check_stats (tables, stats->name);
  for (size_t i = 0; i < sizeof with_arguments / sizeof *with_arguments; i++)
    check_stats (tables, with_arguments[i]);
  close_tables (tables);
}

/* Of what the reports list, the sample has all but calls of MPI. */
static void
test_sample_has_events (void)
{
  static const char *const names[] = { "nvtx_pushpop_trace", "cuda_api_trace", "cuda_gpu_trace",
                                       "cuda_kern_exec_trace", "nvtx_gpu_proj_trace" };
  LnsTables *tables = open_sample ();

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      LnsResult *result = collect (tables, names[i], SIZE_MAX);
      if (lns_result_n_rows (result) == 0)
        LNS_FAIL ("%s has no rows", names[i]);
      lns_result_free (result);
    }
  close_tables (tables);
}

/* Two lanes of calls of MPI of all classes, which are rows of four tables, by their starts. */
static void
test_mpi_places (void)
{
  const char *path = fixture_path ("mpi.rep");
  LnsWriter *writer = fixture_writer (path);
  const int class = lns_lane_kind_extra (LNS_LANE_MPI_CALL, LNS_COLUMN_EVENT_CLASS);

  for (uint32_t i = 0; i < 2; i++)
    {
      const uint32_t lane = fixture_lane (writer, LNS_LANE_MPI_CALL);
      for (uint32_t k = 0; k < 8; k++)
        {
          LnsEvent event = { .start_ns = 100 * k + 10 * i, .duration_ns = 5 + i };
          event.extra[class] = k % 4;
          lns_writer_append (writer, lane, &event);
        }
    }
  fixture_finish (writer, 1000);
  LnsTables *tables = lns_tables_new (fixture_open (path, NULL), NULL);
  LnsResult *result = collect (tables, "mpi_event_trace", SIZE_MAX);
  LNS_CHECK_INT (lns_result_n_rows (result), 16);
  for (size_t row = 0; row < 16; row++)
    {
      LNS_CHECK_INT (lns_result_place (result, row)->lane, row % 2);
      LNS_CHECK_INT (lns_result_place (result, row)->ordinal, row / 2);
    }
  lns_result_free (result);
  check_stats (tables, "mpi_event_trace");
  close_tables (tables);
}

/* Lanes of more than one chunk: calls that each launch a kernel, within a range. */
static void
test_places_in_later_chunks (void)
{
  enum
  {
    N = 200000
  };
  static const char *const names[] = { "nvtx_pushpop_trace", "cuda_api_trace", "cuda_gpu_trace",
                                       "cuda_kern_exec_trace", "nvtx_gpu_proj_trace" };
  static const LnsLaneKind kinds[] = { LNS_LANE_NVTX_PUSH_POP, LNS_LANE_CUDA_API,
                                       LNS_LANE_CUDA_KERNEL };
  const char *path = fixture_path ("chunks.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t lanes[3];

  for (unsigned k = 0; k < 3; k++)
    lanes[k] = fixture_lane (writer, kinds[k]);
  for (uint32_t i = 0; i < N; i++)
    for (unsigned k = 0; k < 3; k++)
      {
        const int correlation = lns_lane_kind_extra (kinds[k], LNS_COLUMN_CORRELATION);
        LnsEvent event = { .start_ns = 100 * i + 10 * k, .duration_ns = k == 0 ? 90 : 10 };
        if (correlation >= 0)
          event.extra[correlation] = i + 1;
        lns_writer_append (writer, lanes[k], &event);
      }
  fixture_finish (writer, 100 * N);
  LnsTables *tables = lns_tables_new (fixture_open (path, NULL), NULL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      LnsResult *result = collect (tables, names[i], SIZE_MAX);
      LNS_CHECK_INT (lns_result_n_rows (result), N);
      LNS_CHECK_INT (check_places (lns_tables_report (tables), result, names[i]), N);
      LNS_CHECK_INT (lns_result_place (result, N - 1)->ordinal, N - 1);
      lns_result_free (result);
    }
  /* What is read only when it is collected may be cancelled then. */
  atomic_bool cancel = false;
  LnsError error = { 0 };
  LnsStatsResult *stats = lns_stats_report_run (lns_stats_report_find (names[1], NULL), names[1],
                                                tables, &cancel, NULL);
  atomic_store (&cancel, true);
  LNS_CHECK (stats != NULL && lns_stats_result_collect (stats, SIZE_MAX, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_stats_result_free (stats);
  close_tables (tables);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

/* Collected, what RULE finds with OPTIONS is what it writes, and each row has a place. Returns how many rows there are. */
static size_t
check_rule (LnsTables *tables, const LnsRule *rule, const LnsRuleOptions *options)
{
  LnsRuleResult *found = lns_rule_run (rule, options, tables, NULL, NULL);
  char *wanted;
  size_t size;
  FILE *stream = lns_memory_stream (&wanted, &size);
  const bool good = found != NULL && lns_rule_result_write (found, stream, &style, NULL);

  lns_memory_stream_end (stream);
  LNS_CHECK (good);
  LnsResult *result = lns_rule_result_collect (found, SIZE_MAX, NULL),
            *part = lns_rule_result_collect (found, 1, NULL);
  LNS_CHECK (result != NULL && part != NULL);
  char *text = write_collected (result);
  LNS_CHECK_STR (text, wanted);
  const size_t n_rows = lns_result_n_rows (result);
  LNS_CHECK_INT (n_rows, lns_rule_result_n_rows (found));
  LNS_CHECK_INT (lns_result_n_rows (part) + lns_result_n_left_out (part), n_rows);
  check_columns (result, rule->name);
  const size_t n_events = check_places (lns_tables_report (tables), result, rule->name);
  LNS_CHECK_INT (n_events, strncmp (rule->name, "cuda_", 5) == 0 ? n_rows : 0);
  for (size_t row = 0; row < n_rows; row++)
    LNS_CHECK (lns_result_place (result, row) != NULL);
  free (text);
  free (wanted);
  lns_result_free (part);
  lns_result_free (result);
  lns_rule_result_free (found);
  return n_rows;
}

static void
test_each_rule (void)
{
  LnsTables *tables = open_sample ();
  LnsRuleOptions options = LNS_RULE_DEFAULTS;
  const LnsRule *rule;
  size_t n_events = 0, n_times = 0;

  options.gap_ns = 0;
  options.busy_percent = 100;
  options.n_rows = -1;
  for (size_t i = 0; (rule = lns_rule_at (i)) != NULL; i++)
    {
      const size_t n = check_rule (tables, rule, &options);
      *(strncmp (rule->name, "cuda_", 5) == 0 ? &n_events : &n_times) += n;
    }
  LNS_CHECK (n_events > 0);
  LNS_CHECK (n_times > 0);
  close_tables (tables);
}

int
main (void)
{
  LNS_TEST (test_columns_are_copied);
  LNS_TEST (test_cells);
  LNS_TEST (test_text_without_bytes);
  LNS_TEST (test_places);
  LNS_TEST (test_ranges);
  LNS_TEST (test_limit);
  LNS_TEST (test_rows_are_given_on);
  LNS_TEST (test_each_report);
  LNS_TEST (test_sample_has_events);
  LNS_TEST (test_mpi_places);
  LNS_TEST (test_places_in_later_chunks);
  LNS_TEST (test_each_rule);
  return lns_tap_done ();
}
