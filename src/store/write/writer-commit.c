/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Commits: one transaction each, which holds all rows that wait and all lanes that changed. What a
 * failed one has not written still waits for the next. */

#include "src/store/write/writer-private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "src/store/read/correlation.h"
#include "src/store/database/sql.h"

void
_lns_writer_queue (LnsWriter *writer, const LnsChunkHeader *header, int64_t end_ns, LnsBuffer *blob)
{
  if (writer->n_rows == writer->n_rows_allocated)
    {
      uint32_t n = writer->n_rows_allocated == 0 ? 64 : writer->n_rows_allocated * 2;
      LnsWriterRow *rows = realloc (writer->rows, n * sizeof *rows);
      if (rows != NULL)
        {
          writer->rows = rows;
          writer->n_rows_allocated = n;
        }
    }
  if (blob->failed || writer->n_rows == writer->n_rows_allocated)
    {
      writer->failed = true;
      return;
    }
  writer->waiting_bytes += blob->size_bytes;
  writer->rows[writer->n_rows++] = (LnsWriterRow){ *header, end_ns, *blob };
  *blob = (LnsBuffer){ 0 };
}

bool
_lns_writer_put_blob (sqlite3_stmt *statement, int at, const LnsBuffer *blob)
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
prepare (LnsWriter *writer, const char *sql, sqlite3_stmt **ret_statement)
{
  return sqlite3_prepare_v3 (writer->database, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement,
                             NULL) == SQLITE_OK;
}

bool
_lns_writer_prepare (LnsWriter *writer)
{
  LnsWriterStatements *all = &writer->statements;
  return prepare (writer, "BEGIN IMMEDIATE", &all->begin) &&
         prepare (writer, "COMMIT", &all->commit) && prepare (writer, "ROLLBACK", &all->rollback) &&
         prepare (writer, "INSERT INTO lns_chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  &all->chunk) &&
         prepare (writer, "INSERT INTO lns_def VALUES (?, ?)", &all->definition) &&
         prepare (writer, "INSERT INTO lns_string VALUES (?, ?)", &all->string) &&
         prepare (writer, "REPLACE INTO lns_lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", &all->lane) &&
         prepare (writer, "REPLACE INTO lns_tail VALUES (?, ?)", &all->tail) &&
         prepare (writer, "DELETE FROM lns_tail WHERE id = ?", &all->no_tail) &&
         prepare (writer, "REPLACE INTO lns_meta VALUES (?, ?)", &all->meta) &&
         prepare (writer, "PRAGMA page_count", &all->n_pages);
}

void
_lns_writer_finalize (LnsWriter *writer)
{
  LnsWriterStatements *all = &writer->statements;
  sqlite3_stmt *const statements[] = { all->begin,      all->commit, all->rollback, all->chunk,
                                       all->definition, all->string, all->lane,     all->tail,
                                       all->no_tail,    all->meta,   all->n_pages };
  for (unsigned i = 0; i < sizeof statements / sizeof statements[0]; i++)
    sqlite3_finalize (statements[i]);
  *all = (LnsWriterStatements){ 0 };
}

/* Values stay bound from row to row. */
static void
bind_correlations (sqlite3_stmt *statement, int at, const LnsBuffer *blob)
{
  const LnsCorrelationSpan span = lns_correlation_span (blob->bytes, blob->size_bytes);
  sqlite3_bind_null (statement, at);
  sqlite3_bind_null (statement, at + 1);
  if (span.min > span.max)
    return;
  sqlite3_bind_int64 (statement, at, (int64_t)span.min);
  sqlite3_bind_int64 (statement, at + 1, (int64_t)span.max);
}

static bool
insert_row (LnsWriter *writer, const LnsWriterRow *row)
{
  const LnsChunkHeader *header = &row->header;
  sqlite3_stmt *statement = writer->statements.chunk;
  int blob_at = 2;
  switch (header->kind)
    {
    case LNS_CHUNK_STRINGS:
      statement = writer->statements.string;
      sqlite3_bind_int64 (statement, 1, header->lane);
      break;
    case LNS_CHUNK_DEFINITIONS:
      statement = writer->statements.definition;
      sqlite3_bind_int64 (statement, 1, writer->n_definition_rows++);
      break;
    default:
      sqlite3_bind_int64 (statement, 1, writer->n_chunk_rows++);
      sqlite3_bind_int64 (statement, 2, header->lane);
      sqlite3_bind_int64 (statement, 3, header->level);
      sqlite3_bind_int64 (statement, 4, header->sequence);
      sqlite3_bind_int64 (statement, 5, (int64_t)header->first);
      sqlite3_bind_int64 (statement, 6, header->n);
      sqlite3_bind_int64 (statement, 7, header->start_ns);
      sqlite3_bind_int64 (statement, 8, row->end_ns);
      bind_correlations (statement, 9, &row->blob);
      blob_at = 11;
    }
  return _lns_writer_put_blob (statement, blob_at, &row->blob) && _lns_writer_step (statement);
}

static bool
put_meta (LnsWriter *writer, const char *key, const char *value)
{
  sqlite3_stmt *statement = writer->statements.meta;
  return sqlite3_bind_text (statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
         sqlite3_bind_text (statement, 2, value, -1, SQLITE_STATIC) == SQLITE_OK &&
         _lns_writer_step (statement);
}

static bool
put_meta_int (LnsWriter *writer, const char *key, int64_t value)
{
  char text[32];
  snprintf (text, sizeof text, "%" PRId64, value);
  return put_meta (writer, key, text);
}

static bool
put_waiting_meta (LnsWriter *writer)
{
  const LnsBuffer *waiting = &writer->waiting_meta;
  bool good = true;
  for (size_t at = 0; good && at < waiting->size_bytes;)
    {
      const char *key = (const char *)waiting->bytes + at, *value = key + strlen (key) + 1;
      good = put_meta (writer, key, value);
      at += strlen (key) + strlen (value) + 2;
    }
  return good;
}

static bool
put_backlog (LnsWriter *writer)
{
  const LnsWriterBacklog *backlog = &writer->backlog;
  return !writer->has_backlog || (put_meta_int (writer, "reached_ns", backlog->reached_ns) &&
                                  put_meta_int (writer, "seen_ns", backlog->seen_ns) &&
                                  put_meta_int (writer, "waiting", (int64_t)backlog->n_waiting) &&
                                  put_meta_int (writer, "untold", (int64_t)backlog->n_untold));
}

/* What a report lacks that could not be written whole. */
static bool
put_missing (LnsWriter *writer)
{
  char text[sizeof writer->trouble.message + 80];
  snprintf (text, sizeof text, "%" PRIu64 " event%s, which could not be written: %s",
            writer->n_dropped, lns_plural (writer->n_dropped, "", "s"), writer->trouble.message);
  return writer->state != LNS_STATE_INCOMPLETE || put_meta (writer, "missing", text);
}

static bool
put_state (LnsWriter *writer, int64_t now_ns)
{
  const char *state = writer->state == LNS_STATE_COMPLETE     ? "complete"
                      : writer->state == LNS_STATE_RECOVERED  ? "recovered"
                      : writer->state == LNS_STATE_INCOMPLETE ? "incomplete"
                                                              : "recording";
  return put_meta (writer, "state", state) &&
         put_meta_int (writer, "commit", (int64_t)writer->n_commits + 1) &&
         put_meta_int (writer, "now_ns", now_ns) &&
         put_meta_int (writer, "events", (int64_t)writer->n_events) &&
         put_meta_int (writer, "next_string", writer->n_strings) && put_backlog (writer) &&
         put_missing (writer);
}

/* Everything that waits, within the transaction, which may be one that an earlier commit had to
 * leave open. */
static bool
put_everything (LnsWriter *writer, int64_t now_ns)
{
  LnsBuffer scratch = { 0 };
  bool good = true;
  for (; good && writer->n_rows_inserted < writer->n_rows; writer->n_rows_inserted += good)
    good = insert_row (writer, &writer->rows[writer->n_rows_inserted]);
  for (uint32_t i = 0; good && i < writer->n_dirty; i++)
    good = _lns_writer_put_lane (writer, writer->dirty[i], &scratch);
  lns_buffer_clear (&scratch);
  return good && put_waiting_meta (writer) && put_state (writer, now_ns);
}

/* The transaction is in the file: forget what waited. */
static void
settle (LnsWriter *writer, int64_t now_ns)
{
  writer->n_committed = writer->n_events;
  writer->committed_ns = now_ns;
  for (uint32_t i = 0; i < writer->n_rows; i++)
    lns_buffer_clear (&writer->rows[i].blob);
  writer->n_rows = writer->n_rows_inserted = 0;
  writer->waiting_bytes = 0;
  lns_buffer_reset (&writer->waiting_meta);
  for (uint32_t i = 0; i < writer->n_dirty; i++)
    {
      LnsWriterLane *lane = &writer->lanes[writer->dirty[i]];
      lane->is_dirty = false;
      if (lane->is_closed)
        _lns_writer_lane_clear (lane);
    }
  writer->n_dirty = 0;
  writer->n_commits++;
  if (sqlite3_step (writer->statements.n_pages) == SQLITE_ROW)
    writer->file_bytes =
        (uint64_t)sqlite3_column_int64 (writer->statements.n_pages, 0) * LNS_SQL_PAGE_BYTES;
  sqlite3_reset (writer->statements.n_pages);
  if (writer->n_events > 0 && !writer->is_whole_or_none)
    {
      _lns_writer_remove_aside (writer->aside_path);
      writer->aside_path = NULL;
    }
}

/* Ends a transaction that failed, unless SQLite has done so. Its rows wait again. */
static void
roll_back (LnsWriter *writer)
{
  if (!sqlite3_get_autocommit (writer->database))
    _lns_writer_step (writer->statements.rollback);
  for (uint32_t i = 0; i < writer->n_rows_inserted; i++)
    {
      writer->n_definition_rows -= writer->rows[i].header.kind == LNS_CHUNK_DEFINITIONS;
      writer->n_chunk_rows -= writer->rows[i].header.kind == LNS_CHUNK_EVENTS ||
                              writer->rows[i].header.kind == LNS_CHUNK_NODES;
    }
  writer->n_rows_inserted = 0;
}

void
_lns_writer_leave_out_kind (LnsWriter *writer, LnsChunkKind kind)
{
  uint32_t n_kept = 0;
  for (uint32_t i = 0; i < writer->n_rows; i++)
    if (writer->rows[i].header.kind == kind)
      lns_buffer_clear (&writer->rows[i].blob);
    else
      writer->rows[n_kept++] = writer->rows[i];
  writer->n_rows = n_kept;
}

void
_lns_writer_leave_out (LnsWriter *writer, int64_t end_ns)
{
  _lns_writer_leave_out_kind (writer, LNS_CHUNK_EVENTS);
  _lns_writer_leave_out_kind (writer, LNS_CHUNK_NODES);
  writer->n_dirty = 0;
  LnsLoss loss = { .process = LNS_ID_NONE,
                   .thread = LNS_ID_NONE,
                   .first_ns = writer->committed_ns,
                   .last_ns = end_ns,
                   .others = writer->n_events - writer->n_committed };
  if (loss.others > 0)
    lns_writer_add_loss (writer, &loss);
  writer->n_dropped += loss.others;
  writer->n_events = writer->n_committed;
}

/* A report that is finished without events that were there is not complete. */
static void
mark_incomplete (LnsWriter *writer)
{
  if (writer->state == LNS_STATE_COMPLETE && writer->n_dropped > 0)
    writer->state = LNS_STATE_INCOMPLETE;
}

/* Keeps the reason of the first commit that fails; a reader that is waited for is none. */
static void
keep_trouble (LnsWriter *writer, const LnsError *cause)
{
  if (cause->code != EBUSY && writer->trouble.domain == LNS_ERROR_NONE)
    writer->trouble = *cause;
}

bool
lns_writer_commit (LnsWriter *writer, int64_t now_ns, LnsError *error)
{
  LnsError cause = { 0 };
  mark_incomplete (writer);
  if (writer->dropped.others > 0)
    {
      _lns_writer_define (writer, LNS_DEFINITION_LOSS, &writer->dropped);
      writer->dropped.others = 0;
    }
  _lns_writer_queue_definitions (writer);

  bool begun =
      !sqlite3_get_autocommit (writer->database) || _lns_writer_step (writer->statements.begin);
  if (begun && put_everything (writer, now_ns) && !writer->failed &&
      _lns_writer_step (writer->statements.commit))
    {
      settle (writer, now_ns);
      return true;
    }
  if (writer->failed)
    lns_error_set (&cause, LNS_ERROR_NO_MEMORY, 0,
                   "cannot write “%s” any further: memory ran out; it ends with the last commit",
                   writer->path);
  else
    lns_sql_error (&cause, writer->database, writer->path, "write");
  keep_trouble (writer, &cause);
  /* Where readers hold the lock the transaction stays open, and the next commit goes on with it. */
  if (begun && (writer->failed || sqlite3_errcode (writer->database) != SQLITE_BUSY))
    roll_back (writer);
  return lns_error_set (error, cause.domain, cause.code, "%s", cause.message);
}
