/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the reader of other programs' SQLite files: the rows that it reads from the pages must be
 * those that SQLite reads, in the order that was requested, whether they fit in memory or need the
 * temporary folder. */

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "src/import/nsys/foreign-pages.h"
#include "src/import/nsys/foreign-sort.h"
#include "src/import/nsys/foreign.h"
#include "tests/tap.h"
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
  /* A connection of its own: that of FOREIGN is in use by another thread meanwhile. */
  sqlite3 *db;
  LNS_CHECK_INT (sqlite3_open (path, &db), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_prepare_v2 (db, query, -1, &expected.rows, NULL), SQLITE_OK);
  const bool good =
      lns_foreign_read (foreign, table, columns, 8, order, compare_cb, &expected, &error);
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK (good && expected.n_rows > 0);
  LNS_CHECK_INT (sqlite3_step (expected.rows), SQLITE_DONE);
  sqlite3_finalize (expected.rows);
  sqlite3_close (db);
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

#define SMALL_PAGE 512

static void
put_be32 (uint8_t *bytes, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Writes PAGE over page NUMBER of the file. */
static void
put_page (uint32_t number, const uint8_t page[SMALL_PAGE])
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  LNS_CHECK (fd >= 0 &&
             pwrite (fd, page, SMALL_PAGE, (off_t)(number - 1) * SMALL_PAGE) == SMALL_PAGE);
  close (fd);
}

/* Reads table t to its end: the code that ends it, and how many pages were read for it. */
static int
read_pages (uint64_t *ret_n_read, uint64_t *ret_n_pages)
{
  LnsForeign *foreign = lns_foreign_open (path, path, NULL, NULL);
  LnsForeignPages pages;
  LnsForeignRow row;
  int code = SQLITE_CORRUPT;

  LNS_CHECK (foreign != NULL);
  if (_lns_foreign_pages_begin (&pages, foreign, lns_foreign_find (foreign, "t")))
    while ((code = _lns_foreign_pages_next (&pages, &row)) == SQLITE_ROW)
      continue;
  *ret_n_read = pages.n_read;
  *ret_n_pages = pages.n_pages;
  _lns_foreign_pages_clear (&pages);
  lns_foreign_close (foreign);
  return code;
}

/* Makes a file of small pages with table t. Returns t's first page. */
static uint32_t
make_small (const char *rows)
{
  sqlite3_stmt *find;
  sqlite3 *db = make ("PRAGMA page_size = 512", rows);

  LNS_CHECK_INT (sqlite3_prepare_v2 (db, "SELECT rootpage FROM sqlite_master WHERE name = 't'", -1,
                                     &find, NULL),
                 SQLITE_OK);
  LNS_CHECK_INT (sqlite3_step (find), SQLITE_ROW);
  const uint32_t root = (uint32_t)sqlite3_column_int (find, 0);
  sqlite3_finalize (find);
  sqlite3_close (db);
  return root;
}

/* A row says that it has 64 MiB, on pages that lead to themselves, to where the file has none, or to the file's
 * head, which is no page of a row. */
static void
test_overflow_pages_that_lead_astray (void)
{
  static const char rows[] = "CREATE TABLE t (a, b, c, d, e, f, g, h); INSERT INTO t (a) "
                             "VALUES (zeroblob (20000))";
  static const uint32_t to[] = { 1 << 30, 0, 1, UINT32_MAX };
  uint64_t n_read, n_pages;

  for (size_t i = 0; i < 1 + sizeof to / sizeof *to; i++)
    {
      const uint32_t root = make_small (rows), overflow = root + 1;
      uint8_t leaf[SMALL_PAGE] = { 0x0D, 0, 0, 0, 1, 1, 0, 0, 0, 12 }, link[SMALL_PAGE] = { 0 };
      /* A cell at 12: 2^26 bytes as a varint, rowid 1; of them as many here as SQLite leaves. */
      memcpy (leaf + 12, "\xA0\x80\x80\x00\x01", 5);
      const unsigned usable = SMALL_PAGE, least = (usable - 12) * 32 / 255 - 23;
      unsigned here = least + ((1u << 26) - least) % (usable - 4);
      here = here <= usable - 35 ? here : least;
      put_be32 (leaf + 17 + here, overflow);
      put_page (root, leaf);
      put_be32 (link, i == 0 ? overflow : to[i - 1]);
      put_page (overflow, link);
      LNS_CHECK_INT (read_pages (&n_read, &n_pages), SQLITE_CORRUPT);
      LNS_CHECK (n_read <= n_pages + 2);
      LNS_CHECK (i == 0 || n_read == 2);
    }
}

/* Each inner page names the next one twice: 2^17 ways lead to the one leaf of 19 levels. */
static void
test_pages_that_are_met_again (void)
{
  const uint32_t root = make_small ("CREATE TABLE t (a, b, c, d, e, f, g, h); INSERT INTO t (a) "
                                    "VALUES (zeroblob (20000))");
  const uint8_t leaf[SMALL_PAGE] = { 0x0D };
  uint64_t n_read, n_pages;

  for (uint32_t level = 0; level < 17; level++)
    {
      uint8_t inner[SMALL_PAGE] = { 0x05, 0, 0, 0, 1, 1, 244, 0, 0, 0, 0, 0, 1, 244 };
      put_be32 (inner + 8, root + level + 1);
      put_be32 (inner + 500, root + level + 1);
      put_page (root + level, inner);
    }
  put_page (root + 17, leaf);
  LNS_CHECK_INT (read_pages (&n_read, &n_pages), SQLITE_CORRUPT);
  LNS_CHECK (n_read <= n_pages + 2);
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
  LNS_CHECK (strstr (error.message, "foreign-test.sqlite: cannot write to the temporary folder") !=
             NULL);
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
  LNS_TEST (test_overflow_pages_that_lead_astray);
  LNS_TEST (test_pages_that_are_met_again);
  LNS_TEST (test_tables_that_are_in_order_nearly_or_not);
  LNS_TEST (test_readings_that_end_early);
  LNS_TEST (test_no_room_for_what_is_sorted);
  return lns_tap_done ();
}
