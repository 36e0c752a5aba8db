/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mutate-export [MUTATIONS [SEED]]: breaks nsys exports in random ways, imports each, and reads
 * every row of the report. The import may succeed or fail with a sentence; it may not crash, leak
 * or take a minute. Breaks an export of its own and, if the corpus is there, small exports of the
 * corpus. */

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/import/nsys/import.h"
#include "src/tables/row-cursor.h"
#include "tests/fuzz/mutations.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define MAX_ORIGINALS 4

/* Rows of every kind of owner, with each kind of value. */
static const char own_export[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
    "rangeId INTEGER,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId "
    "INTEGER,"
    " domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value "
    "INTEGER,"
    " int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "eventClass INTEGER,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId "
    "INTEGER);"
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId "
    "INTEGER, contextId INTEGER,"
    " address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, "
    "name TEXT,"
    " correlationId INTEGER, streamId INTEGER);"
    "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid INTEGER,"
    " nameId INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER);"
    "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId "
    "INTEGER, value INTEGER);"
    "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, "
    "metricId INTEGER, metricName TEXT);"
    "CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, "
    "commHandle INTEGER,"
    " tag INTEGER, remoteRank INTEGER, size INTEGER, requestHandle INTEGER);"
    "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER, "
    "threadState INTEGER, threadBlock INTEGER);"
    "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
    "nameId INTEGER,"
    " returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER, processId "
    "INTEGER,"
    " contextId INTEGER, priority INTEGER, flag INTEGER);"
    "CREATE TABLE NOBODY_KNOWS_IT (a INTEGER, b REAL, c TEXT, d BLOB);"
    "CREATE TABLE n (i INTEGER); WITH RECURSIVE c (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM c "
    "WHERE k < 39) INSERT INTO n SELECT k FROM c;"
    "INSERT INTO StringIds SELECT i, 'string ' || i FROM n;"
    "INSERT INTO PROCESSES SELECT (1 << 48) + (i << 24), i, 'p' || i FROM n WHERE i < 3;"
    "INSERT INTO ThreadNames SELECT i, 20, (1 << 48) + (1 << 24) + i FROM n WHERE i < 5;"
    "INSERT INTO NVTX_EVENTS SELECT i * 100 - 500, CASE WHEN i % 7 THEN i * 100 + 50 + i % 3 * 200 "
    "END,"
    " CASE i % 8 WHEN 0 THEN 60 WHEN 1 THEN 34 WHEN 2 THEN 33 WHEN 3 THEN 39 WHEN 4 THEN 75 WHEN 5 "
    "THEN 76 ELSE 59 END, i, i % 3, i,"
    " CASE i % 2 WHEN 0 THEN 'text ' || i END, (1 << 48) + (1 << 24) + i % 3, (1 << 48) + (1 << "
    "24) + 1,"
    " CASE i % 2 WHEN 1 THEN i END, i % 3, i, -i, i / 3.0, i, -i, i / 2.0, i, '{}', x'00ff' FROM n;"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100, i * 100 + 80, i % 3 * 33, (1 << 48) + "
    "(1 << 24) + i % 2, i / 2, i, 0, i FROM n;"
    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS SELECT i, (1 << 48) + (1 << 24), i % 2, 1, i, i, i, "
    "i % 8, i % 2, 'n', i, 7 FROM n;"
    "INSERT INTO CUDA_GRAPH_NODE_EVENTS SELECT i, i + 1, 77, (1 << 48) + (1 << 24), i, i + 1, i "
    "FROM n;"
    "INSERT INTO GPU_METRICS SELECT i + 3, i, i % 2, i % 3, i FROM n;"
    "INSERT INTO TARGET_INFO_GPU_METRICS SELECT i % 2, 0, 'GPU', i % 3, 'metric ' || i FROM n "
    "WHERE i < 6;"
    "INSERT INTO MPI_P2P_EVENTS SELECT i * 10, i * 10 + 9, (1 << 48) + (1 << 24), i, i, i, i % 4, "
    "i * 8, i FROM n;"
    "INSERT INTO SCHED_EVENTS SELECT i * 10, i % 4, i % 2, (1 << 48) + (1 << 24) + 1, 0, NULL FROM "
    "n;"
    "INSERT INTO OSRT_API SELECT i * 10, i * 10 + 25, 27 + i % 5, (1 << 48) + (1 << 24) + 1, i, 0, "
    "i % 2, i FROM n;"
    "INSERT INTO TARGET_INFO_CUDA_STREAM SELECT i, 0, 1, 1, 1, 4294967291, 1 FROM n WHERE i < 9;"
    "INSERT INTO NOBODY_KNOWS_IT SELECT i, i / 7.0, 'c' || i, zeroblob (i) FROM n;"
    "DROP TABLE n";

typedef struct
{
  uint8_t *bytes;
  size_t n_bytes;
} Original;

static Original originals[MAX_ORIGINALS];
static unsigned n_originals, n_mutations = 200;
static uint64_t seed = 1;
static const char *path, *out_path;
static unsigned n_tried, n_imported;
static uint64_t n_rows;

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

/* ---- Originals ------------------------------------------------------------------------------- */

static void
add_original (const char *file)
{
  struct stat status;
  int fd = open (file, O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    return;
  LNS_CHECK (fstat (fd, &status) == 0 && n_originals < MAX_ORIGINALS);
  Original *original = &originals[n_originals++];
  original->n_bytes = (size_t)status.st_size;
  original->bytes = malloc (original->n_bytes);
  LNS_CHECK (read (fd, original->bytes, original->n_bytes) == status.st_size);
  close (fd);
}

static void
make_original (void)
{
  sqlite3 *db;

  path = strdup (fixture_path ("mutated.sqlite"));
  out_path = strdup (fixture_path ("imported.rep"));
  LNS_CHECK (sqlite3_open (path, &db) == SQLITE_OK);
  if (sqlite3_exec (db, own_export, NULL, NULL, NULL) != SQLITE_OK)
    LNS_FAIL ("%s", sqlite3_errmsg (db));
  sqlite3_close (db);
  add_original (path);
}

static void
add_corpus (void)
{
  static const char *const names[] = { "rtx3080-tiny", "a100-cuda-graphs", "a100-mpi-saxpy" };
  const char *source = getenv ("LNS_SOURCE_ROOT");

  for (size_t i = 0; source != NULL && i < sizeof names / sizeof *names; i++)
    {
      char file[4096];
      snprintf (file, sizeof file, "%s/../shared/corpus/nsys-sqlite/%s.sqlite", source, names[i]);
      add_original (file);
    }
}

static void
write_file (const uint8_t *bytes, size_t n_bytes)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  LNS_CHECK (fd >= 0 && write (fd, bytes, n_bytes) == (ssize_t)n_bytes);
  close (fd);
}

/* ---- One mutation ---------------------------------------------------------------------------- */

static void
flip_bits (uint8_t *bytes, size_t *n_bytes)
{
  for (uint64_t n = 1 + draw (64); n > 0; n--)
    bytes[draw (*n_bytes)] ^= (uint8_t)(1 << draw (8));
}

static void
cut (uint8_t *bytes, size_t *n_bytes)
{
  *n_bytes = draw (2) == 0 ? (1 + draw (*n_bytes / 4096)) * 4096 : draw (*n_bytes);
}

static void
swap_pages (uint8_t *bytes, size_t *n_bytes)
{
  for (uint64_t n = 1 + draw (3); n > 0; n--)
    memmove (bytes + 4096 * draw (*n_bytes / 4096), bytes + 4096 * draw (*n_bytes / 4096), 4096);
}

/* The name of a random table, or of a random column of TABLE, to be freed by sqlite3_free (). */
static char *
pick (sqlite3 *db, const char *table)
{
  char *query = table == NULL
                    ? sqlite3_mprintf ("SELECT name FROM sqlite_master WHERE type = 'table'")
                    : sqlite3_mprintf ("SELECT name FROM pragma_table_info (%Q)", table),
       *name = NULL;
  sqlite3_stmt *rows = NULL;

  LNS_CHECK (sqlite3_prepare_v2 (db, query, -1, &rows, NULL) == SQLITE_OK);
  for (uint64_t n = 1; sqlite3_step (rows) == SQLITE_ROW; n++)
    if (draw (n) == 0)
      {
        sqlite3_free (name);
        name = sqlite3_mprintf ("%s", sqlite3_column_text (rows, 0));
      }
  sqlite3_finalize (rows);
  sqlite3_free (query);
  return name;
}

/* Whatever may stand in a cell. */
static const char *const cells[] = {
  "NULL",
  "0",
  "-1",
  "9223372036854775807",
  "-9223372036854775808",
  "4294967295",
  "1e300",
  "'text'",
  "x'0102'",
  "''",
  "random ()",
  "-start",
  "rowid",
  "rowid * 1000003 % 997",
  "end",
  "start + 1",
  "abs (random () % 1000)",
  "281474976710656 + random () % 100000",
  "CASE WHEN rowid < 9 THEN zeroblob (70000) END",
  "(SELECT max (id) FROM StringIds)",
};

/* Changes rows, columns and tables as a person or program with SQL could. */
static void
change_rows (void)
{
  sqlite3 *db;

  LNS_CHECK (sqlite3_open (path, &db) == SQLITE_OK);
  sqlite3_exec (db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
  for (uint64_t n = 1 + draw (6); n > 0; n--)
    {
      char *table = pick (db, NULL), *column = table != NULL ? pick (db, table) : NULL, *sql = NULL;
      if (column == NULL)
        {
          sqlite3_free (table);
          break;
        }
      const uint64_t what = draw (20);
      if (what == 0)
        sql = sqlite3_mprintf ("DROP TABLE \"%w\"", table);
      else if (what == 1)
        sql = sqlite3_mprintf ("ALTER TABLE \"%w\" DROP COLUMN \"%w\"", table, column);
      else if (what == 2)
        sql = sqlite3_mprintf ("ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO \"other \"\"one\"",
                               table, column);
      else if (what == 3)
        sql =
            sqlite3_mprintf ("CREATE TEMP TABLE t AS SELECT * FROM \"%w\" ORDER BY random ();"
                             "DELETE FROM \"%w\"; INSERT INTO \"%w\" SELECT * FROM t; DROP TABLE t",
                             table, table, table);
      else if (what == 4)
        sql = sqlite3_mprintf ("INSERT OR IGNORE INTO \"%w\" SELECT * FROM \"%w\"", table, table);
      else if (what == 5)
        sql = sqlite3_mprintf (
            "CREATE VIEW v AS SELECT * FROM \"%w\"; DROP TABLE \"%w\"; CREATE VIEW \"%w\" AS "
            "WITH RECURSIVE c (k) AS (SELECT 1 UNION ALL SELECT k FROM c) SELECT k FROM c",
            table, table, table);
      else
        sql = sqlite3_mprintf ("UPDATE OR IGNORE \"%w\" SET \"%w\" = %s WHERE random () %% %d = 0",
                               table, column, cells[draw (sizeof cells / sizeof *cells)],
                               (int)(1 + draw (4)));
      sqlite3_exec (db, sql, NULL, NULL, NULL);
      sqlite3_free (sql);
      sqlite3_free (column);
      sqlite3_free (table);
    }
  sqlite3_close (db);
}

/* ---- What comes of it ------------------------------------------------------------------------ */

static void
read_all (void)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (out_path, NULL, &error);
  if (report == NULL)
    LNS_FAIL ("what was imported does not open: %s", error.message);
  LnsTables *tables = lns_tables_new (report, &error);
  unsigned n;
  const LnsTable *all = lns_tables_all (tables, &n);

  for (unsigned i = 0; i < n; i++)
    {
      LnsRowCursor *cursor = lns_row_cursor_new (tables, &all[i]);
      bool is_row = true;
      LNS_CHECK (lns_row_cursor_start (cursor, NULL, 0, draw (2) == 0, &error));
      while (lns_row_cursor_next (cursor, &is_row, &error) && is_row)
        {
          n_rows++;
          for (unsigned c = 0; c < all[i].n_columns; c++)
            lns_row_cursor_value (cursor, c);
        }
      if (error.domain != LNS_ERROR_NONE)
        LNS_FAIL ("%s: %s", all[i].name, error.message);
      lns_row_cursor_free (cursor);
    }
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
try_import (void)
{
  LnsError error = { 0 };
  LnsImportResult result = { 0 };
  const LnsImportOptions options = { .overwrite = true };

  alarm ((unsigned)(60 * lns_tap_patience ()));
  n_tried++;
  if (lns_import_sqlite (path, out_path, &options, &result, &error))
    {
      n_imported++;
      free (result.left_out);
      read_all ();
    }
  else
    LNS_CHECK (error.domain != LNS_ERROR_NONE && error.message[0] != '\0' &&
               strchr (error.message, '\n') == NULL);
  unlink (out_path);
  alarm (0);
}

/* Tries a fourth of the mutations with MUTATE (NULL = rows changed by SQL). */
static void
repeat (void (*mutate) (uint8_t *, size_t *))
{
  for (unsigned i = 0; i < n_mutations / 4; i++)
    {
      const Original *original =
          &originals[draw (4) == 0 ? draw (n_originals) : draw (2) % n_originals];
      size_t n_bytes = original->n_bytes;
      uint8_t *bytes = malloc (n_bytes);
      memcpy (bytes, original->bytes, n_bytes);
      if (mutate != NULL)
        mutate (bytes, &n_bytes);
      write_file (bytes, n_bytes);
      free (bytes);
      if (mutate == NULL)
        change_rows ();
      try_import ();
    }
}

static void
check_originals (unsigned first)
{
  for (unsigned i = first; i < n_originals; i++)
    {
      write_file (originals[i].bytes, originals[i].n_bytes);
      try_import ();
      LNS_CHECK (n_imported == i + 1);
    }
}

static void
test_original (void)
{
  make_original ();
  check_originals (0);
}

static void
test_originals_of_the_corpus (void)
{
  add_corpus ();
  if (n_originals == 1)
    LNS_SKIP ("../shared/corpus is not there");
  check_originals (1);
}

static void
test_flipped_bits (void)
{
  repeat (flip_bits);
}

static void
test_cut (void)
{
  repeat (cut);
}

static void
test_swapped_pages (void)
{
  repeat (swap_pages);
}

static void
test_changed_rows (void)
{
  repeat (NULL);
}

int
main (int argc, char **argv)
{
  read_mutations (argc, argv, &n_mutations, &seed);
  LNS_TEST (test_original);
  LNS_TEST (test_originals_of_the_corpus);
  LNS_TEST (test_flipped_bits);
  LNS_TEST (test_cut);
  LNS_TEST (test_swapped_pages);
  LNS_TEST (test_changed_rows);
  printf ("# %u of %u imported, %llu rows read\n", n_imported, n_tried, (unsigned long long)n_rows);
  for (unsigned i = 0; i < n_originals; i++)
    free (originals[i].bytes);
  free ((char *)path);
  free ((char *)out_path);
  return lns_tap_done ();
}
