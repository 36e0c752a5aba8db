/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of foreign SQLite files: what is read off their pages is what SQLite itself says, and in the order that was
 * asked for, whatever lies in memory and whatever in the temporary folder. */

#include <sqlite3.h>
#include <unistd.h>

#include "src/import/lns-foreign-pages.h"
#include "src/import/lns-foreign-sort.h"
#include "src/import/lns-foreign.h"
#include "tests/lns-tap.h"
#include "tests/unit/report-fixture.h"

static char path[512];

static void
run (sqlite3 *db, const char *statement)
{
  char *message = NULL;
  if (sqlite3_exec (db, statement, NULL, NULL, &message) != SQLITE_OK)
    LNS_FAIL ("%s: %s", statement, message);
}

/* Every width of number and text, rows on one page and on many. */
static const char rows_of_all_kinds[] =
    "CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB, e, f INTEGER PRIMARY KEY, g VARCHAR);"
    "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)"
    "INSERT INTO t SELECT CASE i % 5 WHEN 4 THEN NULL ELSE (1 << (i % 63)) * CASE i % 2 WHEN 0 "
    "THEN 1 ELSE -1 END END, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i / 7.0 END, "
    "CASE WHEN i % 500 = 7 THEN replace (hex (zeroblob (i * 5)), '00', 'ä') ELSE 'text ' || i END, "
    "zeroblob (i % 300), CASE i % 4 WHEN 0 THEN i % 2 WHEN 1 THEN 1e999 WHEN 2 THEN x'00ff' ELSE "
    "'' END, i * 3 - 1000, 'g' FROM n;"
    "DELETE FROM t WHERE f % 7 = 0; ALTER TABLE t ADD COLUMN h TEXT;"
    "INSERT INTO t VALUES (-1, -0.0, '', x'', 0, -5000, NULL, 'late'), (127, 128, 'z', NULL, 1, "
    "999999999999, 'y', 'x');";

static sqlite3 *
make (const char *settings, const char *statements)
{
  sqlite3 *db;
  unlink (path);
  LNS_CHECK_INT (sqlite3_open (path, &db), SQLITE_OK);
  run (db, settings);
  run (db, statements);
  return db;
}

/* SQLite's own rows, one after the other. */
typedef struct
{
  sqlite3_stmt *rows;
  unsigned n_columns, n_rows;
} Expected;

static bool
compare_cb (void *data, const LnsKeptValue *values)
{
  static const LnsKeptType types[] = { [SQLITE_INTEGER] = LNS_KEPT_INTEGER,
                                       [SQLITE_FLOAT] = LNS_KEPT_REAL,
                                       [SQLITE_TEXT] = LNS_KEPT_TEXT,
                                       [SQLITE_BLOB] = LNS_KEPT_BLOB,
                                       [SQLITE_NULL] = LNS_KEPT_NULL };
  Expected *expected = data;

  LNS_CHECK_INT (sqlite3_step (expected->rows), SQLITE_ROW);
  expected->n_rows++;
  for (int i = 0; i < (int)expected->n_columns; i++)
    {
      LNS_CHECK_INT (values[i].type, types[sqlite3_column_type (expected->rows, i)]);
      if (values[i].type == LNS_KEPT_INTEGER)
        LNS_CHECK_INT (values[i].integer, sqlite3_column_int64 (expected->rows, i));
      else if (values[i].type == LNS_KEPT_REAL)
        LNS_CHECK (values[i].real == sqlite3_column_double (expected->rows, i));
      else if (values[i].type != LNS_KEPT_NULL)
        {
          const void *bytes = values[i].type == LNS_KEPT_TEXT
                                  ? (const void *)sqlite3_column_text (expected->rows, i)
                                  : sqlite3_column_blob (expected->rows, i);
          LNS_CHECK_INT (values[i].size_bytes, sqlite3_column_bytes (expected->rows, i));
          LNS_CHECK (values[i].size_bytes == 0 ||
                     memcmp (values[i].bytes, bytes, values[i].size_bytes) == 0);
        }
    }
  return true;
}

/* Whether table t is read off its pages; all its rows are compared with those of QUERY. */
static bool
check_table (const char *query, LnsForeignOrder order)
{
  static const char *const columns[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
  LnsError error = { 0 };
  LnsForeign *foreign = lns_foreign_open (path, path, NULL, &error);
  LNS_CHECK_STR (error.message, "");
  LnsForeignTable *table = lns_foreign_find (foreign, "t");
  Expected expected = { .n_columns = 8 };
  LnsForeignPages pages;
  const bool is_off_pages = _lns_foreign_pages_begin (&pages, foreign, table);
  _lns_foreign_pages_clear (&pages);
  LNS_CHECK_INT (sqlite3_prepare_v2 (foreign->db, query, -1, &expected.rows, NULL), SQLITE_OK);
  const bool good =
      lns_foreign_read (foreign, table, columns, 8, order, compare_cb, &expected, &error);
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK (good && expected.n_rows > 0);
  LNS_CHECK_INT (sqlite3_step (expected.rows), SQLITE_DONE);
  sqlite3_finalize (expected.rows);
  lns_foreign_close (foreign);
  return is_off_pages;
}

static void
test_values_of_every_kind (void)
{
  static const char *const settings[] = { "PRAGMA page_size = 512", "PRAGMA page_size = 4096",
                                          "PRAGMA page_size = 65536",
                                          "PRAGMA page_size = 1024; PRAGMA auto_vacuum = FULL" };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    {
      sqlite3_close (make (settings[i], rows_of_all_kinds));
      LNS_CHECK (check_table ("SELECT * FROM t", LNS_FOREIGN_AS_IT_LIES));
    }
}

static void
test_files_that_are_left_to_sqlite (void)
{
  static const struct
  {
    const char *settings, *more;
  } files[] = {
    { "PRAGMA encoding = 'UTF-16le'", "" },
    { "PRAGMA journal_mode = WAL", "" },
    { "", "ALTER TABLE t RENAME COLUMN h TO k; ALTER TABLE t ADD COLUMN h TEXT DEFAULT 'why'" },
    { "", "ALTER TABLE t RENAME COLUMN h TO k; ALTER TABLE t ADD COLUMN h AS (a + 1)" },
    { "", "CREATE TABLE u (a, b, c, d, e, f, g, h, PRIMARY KEY (f DESC, a)) WITHOUT ROWID;"
          "INSERT INTO u SELECT coalesce (a, 0), b, c, d, e, f, g, h FROM t; DROP TABLE t; "
          "ALTER TABLE u RENAME TO t" },
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    {
      sqlite3 *db = make (files[i].settings, rows_of_all_kinds);
      run (db, files[i].more);
      LNS_CHECK (!check_table (i == 3 ? "SELECT a, b, c, d, e, f, g, NULL FROM t"
                                      : "SELECT a, b, c, d, e, f, g, h FROM t",
                               LNS_FOREIGN_AS_IT_LIES));
      sqlite3_close (db);
    }
}

static void
test_tables_that_are_in_order_nearly_or_not (void)
{
  /* The last ones do not fit into memory.                                                         */
  static const struct
  {
    const char *number, *blob;
    unsigned n;
    uint32_t window;
  } tables[] = {
    { "i / 3", "NULL", 100000, 0 },
    { "i / 3 + CASE i % 1000 WHEN 0 THEN 10000 END", "NULL", 1000, 0 },
    { "i / 2 + i % 777 * 20", "NULL", 300000, 31744 },
    { "i * 1000003 % 99991 / 3", "NULL", 300000, UINT32_MAX },
    { "i / 2 + i % 7 * 20", "zeroblob (300000 + i)", 450, 1024 },
    { "i * 1009 % 79999", "zeroblob (900 + i % 100)", 80000, UINT32_MAX },
  };
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    {
      char statements[1024];
      snprintf (statements, sizeof statements,
                "CREATE TABLE t (a INTEGER, b INTEGER, c, d, e, f, g, h);"
                "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
                "INSERT INTO t SELECT %s, CASE i %% 10 WHEN 9 THEN NULL ELSE -i %% 11 END, i, %s, "
                "NULL, NULL, NULL, NULL FROM n",
                tables[i].n - 1, tables[i].number, tables[i].blob);
      sqlite3 *db = make ("PRAGMA synchronous = OFF", statements);
      if (i <
          2) /* and so they lie in the file                                                     */
        run (db, "CREATE TABLE u AS SELECT * FROM t ORDER BY a, b IS NOT NULL, b DESC, rowid; "
                 "DROP TABLE t; ALTER TABLE u RENAME TO t");
      LnsRowsLook look = { 0 };
      sqlite3_stmt *keys;
      sqlite3_prepare_v2 (db, "SELECT a, ifnull (b, 9223372036854775807) FROM t", -1, &keys, NULL);
      while (sqlite3_step (keys) == SQLITE_ROW)
        _lns_rows_look (&look, (LnsForeignKey){ sqlite3_column_int64 (keys, 0),
                                                sqlite3_column_int64 (keys, 1) });
      sqlite3_finalize (keys);
      LNS_CHECK_INT (look.window, tables[i].window);
      LNS_CHECK (check_table ("SELECT * FROM t ORDER BY a, b IS NOT NULL, b DESC, rowid",
                              LNS_FOREIGN_BY_START_AND_END));
      LNS_CHECK (check_table ("SELECT * FROM t ORDER BY a, rowid", LNS_FOREIGN_BY_START));
      sqlite3_close (db);
    }
}

/* Ends the reading behind so many rows. */
static bool
few_cb (void *data, const LnsKeptValue *values)
{
  return --*(int *)data > 0;
}

static void
test_readings_that_end_early (void)
{
  static const char *const columns[] = { "f", "a" };
  static const LnsForeignOrder orders[] = { LNS_FOREIGN_AS_IT_LIES, LNS_FOREIGN_BY_START_AND_END };
  sqlite3_close (make ("", rows_of_all_kinds));
  for (int i = 0; i < 2; i++)
    for (int n = 1; n < 3000; n *= 7)
      {
        LnsError error = { 0 };
        int left = n;
        LnsForeign *foreign = lns_foreign_open (path, path, NULL, &error);
        LNS_CHECK (!lns_foreign_read (foreign, lns_foreign_find (foreign, "t"), columns + i, 1,
                                      orders[i] > 1 ? LNS_FOREIGN_BY_START : orders[i], few_cb,
                                      &left, &error));
        LNS_CHECK_STR (error.message, "");
        LNS_CHECK_INT (left, 0);
        lns_foreign_close (foreign);
      }
}

static void
test_no_room_for_what_is_sorted (void)
{
  static const char *const columns[] = { "a", "d" };
  LnsError error = { 0 };
  int left = 1000;
  sqlite3_close (make ("PRAGMA synchronous = OFF",
                       "CREATE TABLE t (a, d); WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT "
                       "i + 1 FROM n WHERE i < 250) INSERT INTO t SELECT -i, zeroblob (300000) "
                       "FROM n; INSERT INTO t SELECT i, NULL FROM (SELECT 1 AS i)"));
  const char *folder = getenv ("TMPDIR");
  char *before = folder != NULL ? strdup (folder) : NULL;
  setenv ("TMPDIR", "/nowhere", 1);
  LnsForeign *foreign = lns_foreign_open (path, path, NULL, &error);
  /* These are no more than a window, but more than may be in memory.                              */
  LNS_CHECK (!lns_foreign_read (foreign, lns_foreign_find (foreign, "t"), columns, 2,
                                LNS_FOREIGN_BY_START, few_cb, &left, &error));
  LNS_CHECK (strstr (error.message, "foreign-test.sqlite: its rows are out of order") != NULL);
  LNS_CHECK (strstr (error.message, "TMPDIR") != NULL);
  lns_foreign_close (foreign);
  if (before != NULL)
    setenv ("TMPDIR", before, 1);
  else
    unsetenv ("TMPDIR");
  free (before);
}

int
main (void)
{
  snprintf (path, sizeof path, "%s", fixture_path ("foreign-test.sqlite"));
  LNS_TEST (test_values_of_every_kind);
  LNS_TEST (test_files_that_are_left_to_sqlite);
  LNS_TEST (test_tables_that_are_in_order_nearly_or_not);
  LNS_TEST (test_readings_that_end_early);
  LNS_TEST (test_no_room_for_what_is_sorted);
  return lns_tap_done ();
}
