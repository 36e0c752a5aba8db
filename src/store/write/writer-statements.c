/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer-statements.h"

bool
_lns_writer_bind_blob (sqlite3_stmt *statement, int at, const LnsBuffer *blob)
{
  return !blob->failed && sqlite3_bind_blob (statement, at, blob->bytes, (int)blob->size_bytes,
                                             SQLITE_STATIC) == SQLITE_OK;
}

bool
_lns_writer_step (sqlite3_stmt *statement)
{
  int code = sqlite3_step (statement);
  sqlite3_reset (statement);
  return code == SQLITE_DONE;
}

static bool
prepare (sqlite3 *database, const char *sql, sqlite3_stmt **ret_statement)
{
  return sqlite3_prepare_v3 (database, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL) ==
         SQLITE_OK;
}

bool
_lns_writer_statements_prepare (LnsWriterStatements *all, sqlite3 *database)
{
  return prepare (database, "BEGIN IMMEDIATE", &all->begin) &&
         prepare (database, "COMMIT", &all->commit) &&
         prepare (database, "ROLLBACK", &all->rollback) &&
         prepare (database, "INSERT INTO lns_chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  &all->chunk) &&
         prepare (database, "INSERT INTO lns_def VALUES (?, ?)", &all->definition) &&
         prepare (database, "INSERT INTO lns_string VALUES (?, ?)", &all->string) &&
         prepare (database, "REPLACE INTO lns_lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  &all->lane) &&
         prepare (database, "REPLACE INTO lns_tail VALUES (?, ?)", &all->tail) &&
         prepare (database, "DELETE FROM lns_tail WHERE id = ?", &all->no_tail) &&
         prepare (database, "REPLACE INTO lns_meta VALUES (?, ?)", &all->meta) &&
         prepare (database, "PRAGMA page_count", &all->n_pages);
}

void
_lns_writer_statements_finalize (LnsWriterStatements *all)
{
  sqlite3_stmt *const statements[] = { all->begin,      all->commit, all->rollback, all->chunk,
                                       all->definition, all->string, all->lane,     all->tail,
                                       all->no_tail,    all->meta,   all->n_pages };
  for (unsigned i = 0; i < sizeof statements / sizeof statements[0]; i++)
    sqlite3_finalize (statements[i]);
  *all = (LnsWriterStatements){ 0 };
}
