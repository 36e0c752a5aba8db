/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests tables that are kept as they were imported, and the values of rows that their events have
 * no column for: through SQL, after a recovery, and in damaged files. */

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "src/tables/sql-module.h"
#include "src/store/write/kept-table.h"
#include "src/store/recover/recover.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/table-fixture.h"

#define INTEGER(number)                                                                            \
 {                                                                                                 \
  .type = LNS_KEPT_INTEGER, .integer = number                                                      \
 }
#define STRING(id)                                                                                 \
 {                                                                                                 \
  .type = LNS_KEPT_STRING, .integer = id                                                           \
 }
#define REAL(number)                                                                               \
 {                                                                                                 \
  .type = LNS_KEPT_REAL, .real = number                                                            \
 }
#define TEXT(text)                                                                                 \
 {                                                                                                 \
  .type = LNS_KEPT_TEXT, .bytes = text, .size_bytes = sizeof text - 1                              \
 }
#define NOTHING                                                                                    \
 {                                                                                                 \
  .type = LNS_KEPT_NULL                                                                            \
 }
#define UNSET                                                                                      \
 {                                                                                                 \
  .type = LNS_KEPT_UNSET                                                                           \
 }

/* Whether a query on COLUMN of TABLE is answered without a look at all rows. */
static bool
can_use (const LnsTables *tables, const LnsTable *table, int column)
{
  bool only_equal;

  return lns_row_cursor_can_use (tables, table, column, &only_equal);
}

static void
add_table (LnsWriter *writer,
           const char *name,
           const LnsKeptColumn *columns,
           unsigned n_columns,
           const LnsKeptValue *values,
           unsigned n_rows)
{
  LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, name, columns, n_columns, false);

  for (unsigned i = 0; i < n_rows; i++)
    lns_kept_table_maker_add (maker, values + (size_t)i * n_columns);
  lns_kept_table_maker_free (maker);
}

/* Many rows of call chains: (id, symbol, stackDepth), a few to an id. */
#define N_CHAIN_ROWS 5000

static void
add_chains (LnsWriter *writer)
{
  static const LnsKeptColumn columns[] = { { "id", "INTEGER", true },
                                           { "symbol", "INTEGER", true },
                                           { "stackDepth", "INTEGER", true } };
  LnsKeptTableMaker *maker =
      lns_kept_table_maker_new (writer, "OSRT_CALLCHAINS", columns, 3, false);

  for (int i = 0; i < N_CHAIN_ROWS; i++)
    {
      char symbol[32];
      int n = snprintf (symbol, sizeof symbol, "function %d", i % 100);
      lns_kept_table_maker_add (
          maker,
          (LnsKeptValue[]){ INTEGER (i / 4), STRING (lns_writer_string (writer, symbol, (size_t)n)),
                            INTEGER (i % 4) });
    }
  lns_kept_table_maker_free (maker);
}

static void
add_events (LnsWriter *writer)
{
  static const LnsKeptColumn columns[] = { { "nestingLevel", "INTEGER", false },
                                           { "file", "TEXT", false },
                                           { "start", "INTEGER", true } };
  LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, "OSRT_API", columns, 3, true);
  uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_OS_CALLS,
                                                              .domain = LNS_ID_NONE,
                                                              .device = LNS_ID_NONE,
                                                              .stream = LNS_ID_NONE });
  uint32_t lane =
      lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_OS_CALL });
  uint64_t null =
      lns_kept_table_maker_remainder (maker, (LnsKeptValue[]){ NOTHING, TEXT ("/tmp/a"), UNSET });
  uint64_t again =
      lns_kept_table_maker_remainder (maker, (LnsKeptValue[]){ NOTHING, TEXT ("/tmp/a"), UNSET });
  uint64_t seven =
      lns_kept_table_maker_remainder (maker, (LnsKeptValue[]){ INTEGER (7), UNSET, UNSET });

  LNS_CHECK (null != 0 && null == again && seven != null);
  for (int i = 0; i < 4; i++)
    table_append (writer, lane, LNS_LANE_OS_CALL, 100 * i, 10,
                  (LnsTableValue[]){
                      { LNS_COLUMN_REMAINDER, (uint64_t[]){ 0, null, seven, 999 }[i] }, { 0 } });
  lns_kept_table_maker_free (maker);
}

static void
write_report (const char *path)
{
  LnsWriter *writer = fixture_writer (path);
  static const LnsKeptColumn pairs[] = { { "name", "TEXT", true }, { "value", "TEXT", false } };
  static const LnsKeptColumn odd[] = { { "a \"b\"", "INTEGER", false },
                                       { "c", "REAL", true },
                                       { "d", "x'; DROP", false } };
  static const LnsKeptColumn gpu[] = { { "id", "INTEGER", true },
                                       { "name", "TEXT", false },
                                       { "extra", "INTEGER", false } };

  add_table (writer, "META_DATA_EXPORT", pairs, 2,
             (LnsKeptValue[]){ TEXT ("EXPORT_USER"), TEXT ("somebody"),
                               TEXT ("EXPORT_PRODUCT_NAME"), TEXT ("another"),
                               TEXT ("EXPORT_EMPTY"), NOTHING },
             3);
  add_table (writer, "strange table", odd, 3,
             (LnsKeptValue[]){ INTEGER (INT64_MIN),
                               REAL (1.5),
                               NOTHING,
                               TEXT ("it's"),
                               REAL (-0.25),
                               { .type = LNS_KEPT_BLOB, .bytes = "\0x", .size_bytes = 2 } },
             2);
  add_table (writer, "TARGET_INFO_GPU", gpu, 3,
             (LnsKeptValue[]){ INTEGER (3), TEXT ("GPU"), INTEGER (42) }, 1);
  add_table (writer, "ENUM_OPENMP_MUTEX", (LnsKeptColumn[]){ { "id", "INTEGER", true } }, 1,
             (LnsKeptValue[]){ INTEGER (5), INTEGER (5) }, 2);
  /* Names that SQL does not offer, or that are of events.                                        */
  add_table (writer, "sqlite_stat1", pairs, 2, (LnsKeptValue[]){ NOTHING, NOTHING }, 1);
  add_table (writer, "OSRT_API", pairs, 2, (LnsKeptValue[]){ NOTHING, NOTHING }, 1);
  add_table (writer, "", pairs, 2, (LnsKeptValue[]){ NOTHING, NOTHING }, 1);
  add_chains (writer);
  add_events (writer);
  fixture_finish (writer, 1000);
}

static int
count_cb (void *data, int n, char **values, char **names)
{
  (void)n, (void)names;
  snprintf (data, 2048, "%s", values[0] != NULL ? values[0] : "-");
  return 0;
}

static const char *
ask (LnsReport *report, const char *sql)
{
  static char answer[2048];
  sqlite3 *db;
  char *problem = NULL;
  LnsError error = { 0 };

  answer[0] = '\0';
  if (sqlite3_open (":memory:", &db) == SQLITE_OK && !lns_sql_attach (db, report, &error))
    snprintf (answer, sizeof answer, "%s", error.message);
  else if (sqlite3_exec (db, sql, count_cb, answer, &problem) != SQLITE_OK)
    snprintf (answer, sizeof answer, "%s", problem);
  sqlite3_free (problem);
  sqlite3_close (db);
  return answer;
}

/* The same in the report and in one that was recovered from it. */
static void
check_report (const char *path)
{
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);

  LNS_CHECK_STR (
      ask (report,
           "SELECT quote (\"a \"\"b\"\"\") || quote (c) || quote (d) FROM \"strange table\""),
      "'it''s'-0.25X'0078'");
  LNS_CHECK (strncmp (table_text (tables, "TARGET_INFO_GPU"), "1:-,3,GPU,-,", 12) == 0);
  LNS_CHECK_STR (ask (report, "SELECT extra FROM TARGET_INFO_GPU WHERE id = 3"), "42");
  LNS_CHECK_STR (table_text (tables, "ENUM_OPENMP_MUTEX"), "1:5,-,- 2:5,-,- ");
  LNS_CHECK_STR (ask (report, "SELECT group_concat (name || '=' || ifnull (value, '-'), ' ') FROM "
                              "META_DATA_EXPORT WHERE name IN ('EXPORT_USER', 'EXPORT_EMPTY', "
                              "'EXPORT_PRODUCT_NAME')"),
                 "EXPORT_PRODUCT_NAME=Lanescope EXPORT_USER=somebody EXPORT_EMPTY=-");
  LNS_CHECK_INT (lns_tables_n_rows (tables, lns_tables_find (tables, "OSRT_CALLCHAINS")),
                 N_CHAIN_ROWS);
  LNS_CHECK_STR (ask (report, "SELECT value FROM OSRT_CALLCHAINS c JOIN StringIds s ON s.id = "
                              "c.symbol WHERE c.id = 777 AND stackDepth = 2"),
                 "function 10");
  LNS_CHECK_STR (ask (report, "SELECT count (*) FROM OSRT_CALLCHAINS c JOIN StringIds s ON s.id = "
                              "c.symbol WHERE s.value = 'function ' || ((c.rowid - 1) % 100)"),
                 "5000");
  /* What an event's remainder says, and what its lane does.                                       */
  LNS_CHECK_STR (ask (report, "SELECT group_concat (start || ':' || ifnull (nestingLevel, '-') || "
                              "ifnull (file, '')) FROM OSRT_API"),
                 "0:0,100:-/tmp/a,200:7,300:0");
  LNS_CHECK_STR (ask (report,
                      "SELECT count (*) FROM StringIds WHERE value LIKE '%/tmp/a%' OR value "
                      "LIKE '%EXPORT_USER%' OR value LIKE '%DROP%'"),
                 "0");
  LNS_CHECK_STR (ask (report, "SELECT * FROM sqlite_stat1"), "no such table: sqlite_stat1");
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_rows (void)
{
  char path[256], recovered[256];
  LnsError error = { 0 };

  snprintf (path, sizeof path, "%s", fixture_path ("kept.rep"));
  snprintf (recovered, sizeof recovered, "%s", fixture_path ("recovered.rep"));
  write_report (path);
  check_report (path);
  LNS_CHECK (lns_recover (path, recovered, true, NULL, NULL, &error));
  check_report (recovered);
}

static void
test_large_table (void)
{
  const char *path = fixture_path ("large.rep");
  LnsWriter *writer = fixture_writer (path);
  static const LnsKeptColumn columns[] = { { "id", "INTEGER", true }, { "ip", "INTEGER", true } };
  LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, "CHAINS", columns, 2, false);

  for (int64_t i = 0; i < 1200000; i++)
    lns_kept_table_maker_add (maker, (LnsKeptValue[]){ INTEGER (i / 2), INTEGER (i * i) });
  lns_kept_table_maker_free (maker);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK (lns_report_info (report)->file_bytes > 2000000);
  LNS_CHECK (lns_report_counters (report).bytes_read < 400000);
  /* Two blocks hold what is asked for.                                                            */
  LNS_CHECK_STR (ask (report,
                      "SELECT group_concat (rowid || '=' || ip, ' ') FROM CHAINS WHERE id = "
                      "300000"),
                 "600001=360000000000 600002=360001200001");
  LNS_CHECK (lns_report_counters (report).bytes_read < 1000000);
  /* No plan of a query is built on a search that would look at all rows.                          */
  LnsTables *tables = lns_tables_new (report, NULL);
  const LnsTable *table = lns_tables_find (tables, "CHAINS");
  LNS_CHECK (can_use (tables, table, -1) && can_use (tables, table, 0));
  LNS_CHECK (!can_use (tables, table, 1));
  LNS_CHECK (can_use (tables, lns_table_find ("PROCESSES"), 1));
  lns_tables_free (tables);
  LNS_CHECK_STR (ask (report, "SELECT rowid FROM CHAINS WHERE ip = 1439997600001"), "1200000");
  LNS_CHECK_STR (ask (report, "SELECT ip FROM CHAINS WHERE rowid = 1200000"), "1439997600001");
  LNS_CHECK_STR (ask (report, "SELECT count (*) FROM CHAINS WHERE id BETWEEN 100 AND 100099"),
                 "200000");
  LNS_CHECK_STR (ask (report, "SELECT count (*) FROM CHAINS WHERE id < 0 OR rowid > 1200000"), "0");
  LNS_CHECK_STR (ask (report, "SELECT count (*) || ' ' || max (id) || ' ' || max (ip) FROM CHAINS"),
                 "1200000 599999 1439997600001");
  LNS_CHECK_STR (ask (report, "SELECT count (*) FROM CHAINS a JOIN CHAINS b ON b.id = a.id WHERE "
                              "a.id < 1000"),
                 "4000");
  lns_report_close (report);
}

static void
test_damaged_blocks (void)
{
  const LnsKeptValue values[] = {
    INTEGER (1), TEXT ("abc"), NOTHING, INTEGER (2), REAL (2), UNSET
  };
  LnsBuffer block = { 0 };
  uint32_t n_rows, n_columns;
  uint64_t state = 7;

  lns_kept_encode (&block, values, 2, 3);
  LnsKeptValue *good =
      lns_kept_decode ((const char *)block.bytes, block.size_bytes, &n_rows, &n_columns);
  LNS_CHECK (good != NULL && n_rows == 2 && n_columns == 3);
  LNS_CHECK (good[1].size_bytes == 3 && memcmp (good[1].bytes, "abc", 3) == 0);
  LNS_CHECK (good[4].real == 2 && good[5].type == LNS_KEPT_UNSET);
  free (good);
  for (size_t cut = 0; cut < block.size_bytes; cut++)
    LNS_CHECK (lns_kept_decode ((const char *)block.bytes, cut, &n_rows, &n_columns) == NULL);
  /* Whatever stands there, nothing beyond the block is read: for the sanitizers.                   */
  for (int i = 0; i < 20000; i++)
    {
      uint8_t *bytes = malloc (block.size_bytes);
      memcpy (bytes, block.bytes, block.size_bytes);
      for (int k = 0; k < 3; k++)
        bytes[fixture_random (&state) % block.size_bytes] = (uint8_t)fixture_random (&state);
      free (lns_kept_decode ((const char *)bytes, block.size_bytes, &n_rows, &n_columns));
      free (bytes);
    }
  lns_buffer_clear (&block);
}

/* ---- What a small file makes of itself ------------------------------------------------------- */

#define N_BLOCK_ROWS 1000

/* Writes a block of N_BLOCK_ROWS rows with a NULL in each column. */
static uint32_t
add_block (LnsWriter *writer, uint32_t n_columns)
{
  LnsKeptValue *values = calloc ((size_t)N_BLOCK_ROWS * n_columns, sizeof *values);
  LnsBuffer block = { 0 };

  lns_kept_encode (&block, values, N_BLOCK_ROWS, n_columns);
  uint32_t id = lns_writer_bytes (writer, block.bytes, block.size_bytes);
  lns_buffer_clear (&block);
  free (values);
  return id;
}

static void
add_rows (LnsWriter *writer, uint32_t table, uint32_t block, uint32_t n_rows)
{
  lns_writer_add_kept_rows (
      writer,
      &(LnsKeptRows){
          .table = table, .rows = block, .n_rows = n_rows, .min = INT64_MIN, .max = INT64_MAX });
}

static const LnsKeptColumn two_columns[] = { { "id", "INTEGER", false }, { "x", "", false } };

/* Whether tables can be made of the report at PATH, whose kept table 0 is T; *RET_N_ROWS gets the rows of it
 * that SQL finds. */
static bool
opens (const char *path, int *ret_n_rows)
{
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  bool good = tables != NULL;

  *ret_n_rows = good ? atoi (ask (report, "SELECT count (*) FROM T")) : -1;
  lns_tables_free (tables);
  lns_report_close (report);
  return good;
}

static void
test_shared_blocks (void)
{
  for (int shared = 0; shared < 2; shared++)
    {
      const char *path = fixture_path ("shared.rep");
      LnsWriter *writer = fixture_writer (path);
      int n_rows;
      lns_kept_table_maker_free (lns_kept_table_maker_new (writer, "T", two_columns, 2, false));
      uint32_t block = add_block (writer, 2);
      add_rows (writer, 0, block, N_BLOCK_ROWS);
      add_rows (writer, 0, shared ? block : add_block (writer, 2), N_BLOCK_ROWS);
      /* What a recovery did not find is one string for all.                                       */
      uint32_t lost = lns_writer_string (writer, "(lost)", 6);
      add_rows (writer, 0, lost, N_BLOCK_ROWS);
      add_rows (writer, 0, lost, N_BLOCK_ROWS);
      fixture_finish (writer, 0);
      LNS_CHECK (opens (path, &n_rows) == !shared);
      LNS_CHECK_INT (n_rows, shared ? -1 : 2 * N_BLOCK_ROWS);
    }
}

/* A block that has other rows than its record says would pass all that counts the records' rows. */
static void
test_blocks_of_other_sizes (void)
{
  const char *path = fixture_path ("other.rep");
  LnsWriter *writer = fixture_writer (path);
  int n_rows;

  lns_kept_table_maker_free (lns_kept_table_maker_new (writer, "T", two_columns, 2, false));
  add_rows (writer, 0, add_block (writer, 2), N_BLOCK_ROWS);
  for (int i = 0; i < 2; i++)
    add_rows (writer, 0, add_block (writer, 2), 1);
  add_rows (writer, 0, add_block (writer, 63), N_BLOCK_ROWS);
  fixture_finish (writer, 0);
  LNS_CHECK (opens (path, &n_rows));
  LNS_CHECK_INT (n_rows, N_BLOCK_ROWS);
}

static void
test_remainder_of_many_rows (void)
{
  static const LnsKeptColumn columns[] = { { "nestingLevel", "INTEGER", false } };
  const char *path = fixture_path ("remainder.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_OS_CALLS,
                                                              .domain = LNS_ID_NONE,
                                                              .device = LNS_ID_NONE,
                                                              .stream = LNS_ID_NONE });
  uint32_t lane =
      lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_OS_CALL });

  lns_kept_table_maker_free (lns_kept_table_maker_new (writer, "OSRT_API", columns, 1, true));
  add_rows (writer, 0, add_block (writer, 1), 1);
  table_append (writer, lane, LNS_LANE_OS_CALL, 100, 10,
                (LnsTableValue[]){ { LNS_COLUMN_REMAINDER, 1 }, { 0 } });
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_STR (ask (report, "SELECT quote (nestingLevel) FROM OSRT_API"), "0");
  lns_report_close (report);
}

/* Tables each of which would be held are not held all together. */
static void
test_tables_held_together (void)
{
  enum
  {
    N_TABLES = 8,
    N_COLUMNS = 60,
    N_BLOCKS = 30
  };
  const char *path = fixture_path ("together.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsKeptColumn columns[N_COLUMNS];
  char names[N_COLUMNS][4], name[16], sql[64];

  for (int i = 0; i < N_COLUMNS; i++)
    {
      snprintf (names[i], sizeof names[i], "c%d", i);
      columns[i] = (LnsKeptColumn){ names[i], "INTEGER", false };
    }
  for (uint32_t table = 0; table < N_TABLES; table++)
    {
      snprintf (name, sizeof name, "T%u", table);
      lns_kept_table_maker_free (
          lns_kept_table_maker_new (writer, name, columns, N_COLUMNS, false));
      for (int i = 0; i < (table == 0 ? 1 : N_BLOCKS); i++)
        add_rows (writer, table, add_block (writer, N_COLUMNS), N_BLOCK_ROWS);
    }
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  for (int table = 0; table < N_TABLES; table++)
    {
      snprintf (name, sizeof name, "T%d", table);
      LNS_CHECK_INT (lns_tables_n_rows (tables, lns_tables_find (tables, name)),
                     table == 0 ? N_BLOCK_ROWS : N_BLOCKS * N_BLOCK_ROWS);
      snprintf (sql, sizeof sql, "SELECT count (*) FROM T%d", table);
      LNS_CHECK_INT (atoi (ask (report, sql)), table == 0 ? N_BLOCK_ROWS : N_BLOCKS * N_BLOCK_ROWS);
    }
  LNS_CHECK (can_use (tables, lns_tables_find (tables, "T0"), 1));
  const struct mallinfo2 memory = mallinfo2 ();
  LNS_CHECK (memory.uordblks + memory.hblkhd < (size_t)128 << 20);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* What SQL finds by a column of integers that has other values, too. */
static void
test_other_values_in_columns_of_integers (void)
{
  static const LnsKeptColumn columns[] = { { "a", "INTEGER", false } };
  const LnsKeptValue values[] = { INTEGER (3), NOTHING,       INTEGER (INT64_MIN),
                                  REAL (2.5),  TEXT ("text"), INTEGER (1) };
  const struct
  {
    const char *where, *rows;
  } cases[] = {
    { "a = 2.5", "4" },   { "a = 'text'", "5" },    { "a = -9223372036854775807 - 1", "3" },
    { "a > 2", "1,4,5" }, { "a < 2.7", "3,4,6" },   { "a >= 'm'", "5" },
    { "a = 3", "1" },     { "a < 'm'", "1,3,4,6" }, { "a = 7", "-" },
  };
  const char *path = fixture_path ("values.rep");
  LnsWriter *writer = fixture_writer (path);
  char sql[128];

  add_table (writer, "T", columns, 1, values, 6);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      snprintf (sql, sizeof sql,
                "SELECT group_concat (r) FROM (SELECT rowid AS r FROM T WHERE %s ORDER BY r)",
                cases[i].where);
      LNS_CHECK_STR (ask (report, sql), cases[i].rows);
    }
  lns_report_close (report);
}

/* Definitions that name one long string do not take a copy of it each. */
static void
test_long_texts_of_definitions (void)
{
  enum
  {
    N_ROWS = 3000,
    N_BYTES = 100000
  };
  const char *path = fixture_path ("long.rep");
  LnsWriter *writer = fixture_writer (path);
  char *text = malloc (N_BYTES);
  memset (text, 'x', N_BYTES);
  const uint32_t string = lns_writer_bytes (writer, text, N_BYTES),
                 word = lns_writer_string (writer, "word", 4);

  for (int i = 0; i < N_ROWS; i++)
    {
      lns_writer_add_diagnostic (
          writer, &(LnsDiagnostic){ .code = word, .process = LNS_ID_NONE, .text = string });
      lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_GPU_METRIC,
                                                 .process = LNS_ID_NONE,
                                                 .thread = LNS_ID_NONE,
                                                 .domain = LNS_ID_NONE,
                                                 .name = string,
                                                 .unit = word,
                                                 .device = LNS_ID_NONE,
                                                 .stream = LNS_ID_NONE });
    }
  free (text);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_STR (ask (report, "SELECT (sum (substr (text, 1, 6) = 'word: ') BETWEEN 1 AND 2999)"
                              " || ',' || sum (substr (text, -3) = 'xxx') FROM DIAGNOSTIC_EVENT"),
                 "1,3000");
  LNS_CHECK_STR (ask (report,
                      "SELECT (sum (substr (metricName, -7) = ' [word]') BETWEEN 1 AND 2999)"
                      " || ',' || sum (metricName >= 'xxx') FROM TARGET_INFO_GPU_METRICS"),
                 "1,3000");
  LnsTables *tables = lns_tables_new (report, NULL);
  lns_tables_n_rows (tables, lns_table_find ("DIAGNOSTIC_EVENT"));
  lns_tables_n_rows (tables, lns_table_find ("TARGET_INFO_GPU_METRICS"));
  const struct mallinfo2 memory = mallinfo2 ();
  LNS_CHECK (memory.uordblks + memory.hblkhd < (size_t)128 << 20);
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_many_tables (void)
{
  for (unsigned more = 0; more < 2; more++)
    {
      const char *path = fixture_path ("many.rep");
      LnsWriter *writer = fixture_writer (path);
      int n_rows;
      lns_kept_table_maker_free (lns_kept_table_maker_new (writer, "T", two_columns, 2, false));
      for (unsigned i = 1; i < LNS_KEPT_MAX_TABLES + more; i++)
        lns_writer_add_kept_table (writer, &(LnsKeptTable){ .name = 1, .columns = 2 });
      fixture_finish (writer, 0);
      LNS_CHECK (opens (path, &n_rows) == (more == 0));
    }
}

int
main (void)
{
  LNS_TEST (test_rows);
  LNS_TEST (test_large_table);
  LNS_TEST (test_damaged_blocks);
  LNS_TEST (test_shared_blocks);
  LNS_TEST (test_blocks_of_other_sizes);
  LNS_TEST (test_remainder_of_many_rows);
  LNS_TEST (test_tables_held_together);
  LNS_TEST (test_other_values_in_columns_of_integers);
  LNS_TEST (test_long_texts_of_definitions);
  LNS_TEST (test_many_tables);
  return lns_tap_done ();
}
