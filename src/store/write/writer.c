/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "src/base/folders.h"
#include "src/base/format.h"
#include "src/store/database/sql.h"
#include "src/store/format/identity.h"
#include "src/store/format/definition-codec.h"
#include "src/store/format/event-codec.h"
#include "src/store/write/writer-file.h"
#include "src/store/write/writer-private.h"

/* How long a commit waits for readers. It keeps new readers out meanwhile and afterwards, so that the next commit succeeds
 * unless a reader holds its lock all the time. */
#define BUSY_MS        200
#define FINISH_BUSY_MS 10000 /* the last commit */

/* Frees everything but the file. */
static void
writer_free (LnsWriter *writer)
{
  _lns_writer_statements_finalize (&writer->statements);
  sqlite3_close (writer->database);
  if (writer->lock_fd >= 0)
    lns_sql_let_go (writer->lock_fd);
  if (writer->reserve_fd >= 0)
    close (writer->reserve_fd);
  for (size_t i = 0; i < writer->lanes.n; i++)
    _lns_writer_lane_clear (&writer->lanes.items[i]);
  _lns_writer_rows_clear (&writer->rows);
  lns_buffer_clear (&writer->waiting_strings);
  lns_buffer_clear (&writer->waiting_definitions);
  lns_buffer_clear (&writer->waiting_meta);
  lns_string_table_free (writer->string_table);
  free (writer->waiting_lengths);
  lns_array_clear (&writer->tracks);
  lns_array_clear (&writer->lanes);
  lns_array_clear (&writer->dirty);
  free (writer->path);
  free (writer);
}

void
lns_writer_abandon (LnsWriter *writer)
{
  char *aside_path = writer->aside_path, *path = writer->path;
  const bool created = writer->database != NULL && !writer->is_amendment;
  writer->path = NULL;
  writer_free (writer);
  if (created)
    lns_sql_remove (path);
  _lns_writer_bring_back (path, aside_path);
  free (path);
}

static LnsWriter *
writer_new (const char *path)
{
  LnsWriter *writer = calloc (1, sizeof *writer);
  if (writer == NULL)
    return NULL;
  writer->n_strings = 1;
  writer->lock_fd = writer->reserve_fd = -1;
  writer->finish_busy_ms = FINISH_BUSY_MS;
  writer->max_waiting_bytes = LNS_WRITER_MAX_WAITING_BYTES;
  writer->dropped.process = writer->dropped.thread = LNS_ID_NONE;
  writer->path = strdup (path);
  writer->string_table = lns_string_table_new ();
  writer->waiting_lengths = calloc (LNS_STRING_CHUNK_MAX, sizeof *writer->waiting_lengths);
  if (writer->path != NULL && writer->string_table != NULL && writer->waiting_lengths != NULL)
    return writer;
  writer_free (writer);
  return NULL;
}

/* Creates PATH's folders. If PATH exists, moves it aside, or fails if it must not be overwritten. */
static bool
clear_path (LnsWriter *writer, const char *path, bool overwrite, int *ret_claim_fd, LnsError *error)
{
  struct stat status;
  if (!lns_make_folders (path, 0777, error))
    return false;
  if (lstat (path, &status) != 0)
    return true;
  if (S_ISDIR (status.st_mode))
    return lns_error_set_errno (error, EISDIR, "cannot create “%s”", path);
  if (!overwrite)
    return lns_error_set (error, LNS_ERROR_IO, EEXIST,
                          "“%s” exists; choose another name, or allow it to be overwritten", path);
  return _lns_writer_move_aside (path, ret_claim_fd, &writer->aside_path, error);
}

static void
put_format_meta (LnsWriter *writer, const LnsWriterOptions *options)
{
  char text[LNS_IDENTITY_SIZE];
  snprintf (text, sizeof text, "%" PRIu64, LNS_FEATURES_COMPATIBLE);
  lns_writer_set_meta (writer, "compatible", text);
  snprintf (text, sizeof text, "%" PRIu64, LNS_FEATURES_INCOMPATIBLE);
  lns_writer_set_meta (writer, "incompatible", text);
  for (unsigned i = 0; i < sizeof writer->uuid; i++)
    snprintf (text + 2 * i, 3, "%02x", writer->uuid[i]);
  lns_writer_set_meta (writer, "uuid", text);
  if (lns_identity_of (getpid (), text))
    lns_writer_set_meta (writer, "writer", text);
  if (writer->aside_path != NULL)
    {
      const char *slash = strrchr (writer->aside_path, '/');
      lns_writer_set_meta (writer, "aside", slash != NULL ? slash + 1 : writer->aside_path);
    }
  snprintf (text, sizeof text, "%" PRId64, options->t0_monotonic_ns);
  lns_writer_set_meta (writer, "t0_monotonic_ns", text);
  snprintf (text, sizeof text, "%" PRId64, options->t0_realtime_ns);
  lns_writer_set_meta (writer, "t0_realtime_ns", text);
  snprintf (text, sizeof text, "%" PRIu64, options->t0_tsc);
  lns_writer_set_meta (writer, "t0_tsc", text);
}

LnsWriter *
lns_writer_create (const char *path, const LnsWriterOptions *options, LnsError *error)
{
  static const uint8_t no_uuid[16];
  LnsWriter *writer = writer_new (path);
  int old_fd = -1;
  if (writer == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "cannot create “%s”: out of memory", path);
      return NULL;
    }
  writer->is_whole_or_none = options->is_whole_or_none;
  memcpy (writer->uuid, options->uuid, sizeof writer->uuid);
  if (memcmp (writer->uuid, no_uuid, sizeof no_uuid) == 0 &&
      getrandom (writer->uuid, sizeof writer->uuid, 0) != sizeof writer->uuid)
    {
      lns_error_set_errno (error, errno, "cannot create a UUID for “%s”", path);
      goto failed;
    }
  if (!clear_path (writer, path, options->overwrite, &old_fd, error))
    goto failed;
  writer->database = lns_sql_create (path, options->mode, &writer->lock_fd, error);
  if (writer->database == NULL)
    goto failed;
  sqlite3_busy_timeout (writer->database, BUSY_MS);
  if (!_lns_writer_statements_prepare (&writer->statements, writer->database))
    {
      lns_sql_error (error, writer->database, path, "create");
      goto failed;
    }
  put_format_meta (writer, options);
  if (!lns_writer_commit (writer, 0, error))
    goto failed;
  if (!lns_sql_made (writer->database, writer->lock_fd))
    {
      lns_sql_error (error, writer->database, path, "create");
      goto failed;
    }
  if (old_fd >= 0)
    close (old_fd);
  /* Else the first commit of events reserves it, which a short program never comes to. */
  if (_lns_writer_is_space_short (path))
    writer->reserve_fd = _lns_writer_reserve (path);
  return writer;

failed:
  lns_writer_abandon (writer);
  if (old_fd >= 0)
    close (old_fd);
  return NULL;
}

/* ---- Strings and definitions --------------------------------------------------------------------- */

/* They are collected as records, and become chunks when there are enough of them, or at a commit. */

static LnsChunkHeader
header_of (const LnsWriter *writer, LnsChunkKind kind, uint32_t sequence)
{
  LnsChunkHeader header = { .kind = kind, .sequence = sequence, .revision = writer->n_commits + 1 };
  memcpy (header.uuid, writer->uuid, sizeof header.uuid);
  return header;
}

/* Queues the waiting strings as one chunk; TOTAL_BYTES as in lns_strings_build (). */
static void
queue_strings (LnsWriter *writer, uint64_t total_bytes)
{
  if (writer->n_waiting_strings == 0)
    return;
  LnsChunkHeader header = header_of (writer, LNS_CHUNK_STRINGS, writer->string_sequence++);
  LnsBuffer blob = { 0 };
  header.lane = writer->first_waiting_string;
  writer->rows.failed |= writer->waiting_strings.failed;
  lns_strings_build (&blob, header, writer->first_waiting_string, writer->n_waiting_strings,
                     writer->waiting_lengths, writer->waiting_strings.bytes,
                     writer->waiting_strings.size_bytes, total_bytes);
  _lns_writer_rows_add (&writer->rows, &header, 0, &blob);
  lns_buffer_clear (&blob);
  lns_buffer_reset (&writer->waiting_strings);
  writer->n_waiting_strings = 0;
}

static void
queue_definitions (LnsWriter *writer)
{
  if (writer->n_waiting_definitions == 0)
    return;
  LnsChunkHeader header = header_of (writer, LNS_CHUNK_DEFINITIONS, writer->definition_sequence++);
  header.n = writer->n_waiting_definitions;
  LnsBuffer *records = &writer->waiting_definitions, blob = { 0 };
  const LnsChunkColumn column = { LNS_DEFINITION_COLUMN_RECORDS, LNS_ENCODING_BYTES, records->bytes,
                                  records->size_bytes };
  writer->rows.failed |= records->failed;
  lns_chunk_build (&blob, &header, &column, 1);
  _lns_writer_rows_add (&writer->rows, &header, 0, &blob);
  lns_buffer_clear (&blob);
  lns_buffer_reset (records);
  writer->n_waiting_definitions = 0;
}

/* Appends one string, or piece, to the waiting ones. */
static void
add_waiting (LnsWriter *writer, const uint8_t *bytes, size_t size_bytes)
{
  if (writer->n_waiting_strings == LNS_STRING_CHUNK_MAX ||
      writer->waiting_strings.size_bytes + size_bytes > LNS_STRING_PIECE_BYTES)
    queue_strings (writer, 0);
  if (writer->n_waiting_strings == 0)
    writer->first_waiting_string = writer->n_strings;
  lns_buffer_append (&writer->waiting_strings, bytes, size_bytes);
  lns_buffer_append_int (&writer->waiting_strings, 0, 1);
  writer->waiting_lengths[writer->n_waiting_strings++] = size_bytes;
  writer->n_strings++;
}

/* Gives the bytes the next id, or one id per piece. */
static void
add_string (LnsWriter *writer, const uint8_t *bytes, size_t size_bytes)
{
  if (size_bytes <= LNS_STRING_PIECE_BYTES)
    {
      add_waiting (writer, bytes, size_bytes);
      return;
    }
  queue_strings (writer, 0);
  for (size_t at = 0; at < size_bytes; at += LNS_STRING_PIECE_BYTES)
    {
      size_t left = size_bytes - at;
      add_waiting (writer, bytes + at,
                   left < LNS_STRING_PIECE_BYTES ? left : LNS_STRING_PIECE_BYTES);
      queue_strings (writer, at == 0 ? size_bytes : 0);
    }
}

uint32_t
lns_writer_string (LnsWriter *writer, const void *bytes, size_t size_bytes)
{
  if (size_bytes == 0)
    return 0;
  uint32_t new_id = writer->n_strings;
  uint32_t id = lns_string_table_intern (writer->string_table, bytes, size_bytes, new_id);
  if (id == new_id)
    add_string (writer, bytes, size_bytes);
  return id;
}

uint32_t
lns_writer_bytes (LnsWriter *writer, const void *bytes, size_t size_bytes)
{
  if (size_bytes == 0)
    return 0;
  uint32_t id = writer->n_strings;
  add_string (writer, bytes, size_bytes);
  return id;
}

uint32_t
lns_writer_n_strings (const LnsWriter *writer)
{
  return writer->n_strings;
}

static void
put_record (LnsWriter *writer, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  lns_definition_encode (&writer->waiting_definitions, kind, id, definition);
  writer->n_waiting_definitions++;
  if (writer->waiting_definitions.size_bytes > LNS_STRING_PIECE_BYTES)
    queue_definitions (writer);
}

/* Gives DEFINITION the next id of its KIND. */
static uint32_t
define (LnsWriter *writer, LnsDefinitionKind kind, const void *definition)
{
  uint32_t id = writer->n_defined[kind]++;
  put_record (writer, kind, id, definition);
  return id;
}

void
lns_writer_redefine (LnsWriter *writer, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  if (id < writer->n_defined[kind])
    put_record (writer, kind, id, definition);
}

static bool
keep_track (LnsWriter *writer, const LnsTrack *track)
{
  LnsTrack *kept = lns_array_try_add (&writer->tracks);
  if (kept != NULL)
    *kept = *track;
  return kept != NULL;
}

static bool
begin_lane (LnsWriter *writer, const LnsLane *lane)
{
  const LnsPayloadType value_type =
      lane->track < writer->tracks.n ? (LnsPayloadType)writer->tracks.items[lane->track].value_type
                                     : LNS_PAYLOAD_UINT64;
  const uint32_t id = (uint32_t)writer->lanes.n;
  LnsWriterLane *begun = lns_array_try_add (&writer->lanes);
  if (begun != NULL && _lns_writer_lane_init (begun, writer->uuid, id, lane->kind, value_type))
    return true;
  writer->lanes.n = id;
  return false;
}

uint32_t
lns_writer_define (LnsWriter *writer, LnsDefinitionKind kind, const void *definition)
{
  if ((kind == LNS_DEFINITION_TRACK && !keep_track (writer, definition)) ||
      (kind == LNS_DEFINITION_LANE && !begin_lane (writer, definition)))
    {
      writer->rows.failed = true;
      return LNS_ID_NONE;
    }
  if (kind == LNS_DEFINITION_LOSS)
    writer->counts.n_lost += lns_loss_events (definition);
  writer->counts.n_processes += kind == LNS_DEFINITION_PROCESS;
  return define (writer, kind, definition);
}

void
lns_writer_repeat (LnsWriter *writer, const LnsReport *report, LnsDefinitionKind kind)
{
  uint32_t n;
  const char *records = lns_report_definitions (report, kind, &n);
  for (uint32_t i = 0; i < n; i++)
    lns_writer_define (writer, kind, records + i * lns_definition_size (kind));
}

void
lns_writer_set_meta (LnsWriter *writer, const char *key, const char *value)
{
  /* Strings of their own, so that readers can tell them from strings of events. */
  LnsMetaDefinition meta = { .key = lns_writer_bytes (writer, key, strlen (key)),
                             .value = lns_writer_bytes (writer, value, strlen (value)) };
  define (writer, LNS_DEFINITION_META, &meta);
  lns_buffer_append (&writer->waiting_meta, key, strlen (key) + 1);
  lns_buffer_append (&writer->waiting_meta, value, strlen (value) + 1);
  writer->rows.failed |= writer->waiting_meta.failed;
}

bool
lns_writer_has_meta (const char *key)
{
  static const char *const keys[] = {
    "compatible",    "incompatible", "uuid",       "state",           "writer",
    "commit",        "now_ns",       "t0_tsc",     "t0_monotonic_ns", "t0_realtime_ns",
    "next_string",   "events",       "reached_ns", "seen_ns",         "waiting",
    "waiting_least", "untold",       "missing",    "seen_begun",      "seen_lost"
  };

  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp (key, keys[i]) == 0)
      return true;
  return false;
}

void
lns_writer_set_backlog (LnsWriter *writer, const LnsWriterBacklog *backlog)
{
  writer->backlog = *backlog;
  writer->has_backlog = true;
}

void
lns_writer_tell (const LnsWriter *writer, const LnsTally *tally)
{
  lns_tally_write (writer->lock_fd, tally);
}

size_t
lns_writer_waiting_bytes (const LnsWriter *writer)
{
  return writer->rows.bytes;
}

uint64_t
lns_writer_room_bytes (const LnsWriter *writer)
{
  struct statvfs status;
  return statvfs (writer->path, &status) == 0 ? (uint64_t)status.f_bavail * status.f_frsize
                                              : UINT64_MAX;
}

const LnsWriterCounts *
lns_writer_counts (const LnsWriter *writer)
{
  return &writer->counts;
}

/* ---- Events -------------------------------------------------------------------------------------- */

/* Not inlined, so that not every event saves registers that are needed once per commit. */
static __attribute__ ((noinline)) void
add_dirty (LnsWriter *writer, uint32_t lane)
{
  uint32_t *dirty = lns_array_try_add (&writer->dirty);
  if (dirty == NULL)
    {
      writer->rows.failed = true;
      return;
    }
  *dirty = lane;
  writer->lanes.items[lane].is_dirty = true;
}

static void
mark_dirty (LnsWriter *writer, uint32_t lane)
{
  if (!writer->lanes.items[lane].is_dirty)
    add_dirty (writer, lane);
}

static __attribute__ ((noinline)) void
drop_event (LnsWriter *writer, const LnsEvent *event)
{
  LnsLoss *dropped = &writer->dropped;
  if (dropped->others == 0 || event->start_ns < dropped->first_ns)
    dropped->first_ns = event->start_ns;
  if (dropped->others == 0 || event->start_ns > dropped->last_ns)
    dropped->last_ns = event->start_ns;
  dropped->others++;
  writer->counts.n_lost++;
  writer->counts.n_dropped++;
}

void
lns_writer_append (LnsWriter *writer, uint32_t id, const LnsEvent *event)
{
  if (id >= writer->lanes.n || writer->lanes.items[id].is_closed)
    return;
  LnsWriterLane *lane = &writer->lanes.items[id];
  mark_dirty (writer, id);
  const bool has_room = !writer->rows.failed && writer->rows.bytes <= writer->max_waiting_bytes;
  if (has_room && _lns_writer_lane_append (lane, event, writer->n_commits + 1, &writer->rows))
    {
      writer->counts.n_events++;
      return;
    }
  lane->is_open = false;
  drop_event (writer, event);
}

void
lns_writer_set_open (LnsWriter *writer, uint32_t id, const LnsEvent *event)
{
  if (id >= writer->lanes.n || writer->lanes.items[id].is_closed)
    return;
  LnsWriterLane *lane = &writer->lanes.items[id];
  if (event == NULL && !lane->is_open)
    return;
  mark_dirty (writer, id);
  writer->rows.failed |= !_lns_writer_lane_set_open (lane, event);
}

void
lns_writer_close_lane (LnsWriter *writer, uint32_t id)
{
  if (id >= writer->lanes.n || writer->lanes.items[id].is_closed)
    return;
  mark_dirty (writer, id);
  writer->lanes.items[id].is_closed = true;
}

/* ---- Commits ------------------------------------------------------------------------------------- */

/* A commit is one transaction with all waiting rows and all changed lanes. If it fails, they wait for the next one. */

/* Binds NULL too, because values stay bound from row to row. */
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
  return _lns_writer_bind_blob (statement, blob_at, &row->blob) && _lns_writer_step (statement);
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
                                  put_meta_int (writer, "waiting_least", backlog->is_least) &&
                                  put_meta_int (writer, "untold", (int64_t)backlog->n_untold) &&
                                  put_meta_int (writer, "seen_begun", (int64_t)backlog->n_begun) &&
                                  put_meta_int (writer, "seen_lost", (int64_t)backlog->n_lost));
}

/* Writes what is missing in a report that could not be written completely. */
static bool
put_missing (LnsWriter *writer)
{
  char text[sizeof writer->trouble.message + 80];
  snprintf (text, sizeof text, "%" PRIu64 " event%s, which could not be written: %s",
            writer->counts.n_dropped, lns_plural (writer->counts.n_dropped, "", "s"),
            writer->trouble.message);
  return writer->state != LNS_STATE_INCOMPLETE || put_meta (writer, "missing", text);
}

static bool
put_state (LnsWriter *writer, int64_t now_ns)
{
  const char *state = writer->state == LNS_STATE_COMPLETE     ? "complete"
                      : writer->state == LNS_STATE_RECOVERED  ? "recovered"
                      : writer->state == LNS_STATE_INCOMPLETE ? "incomplete"
                                                              : "recording";
  if (writer->is_amendment)
    return put_meta_int (writer, "commit", (int64_t)writer->n_commits + 1) &&
           put_meta_int (writer, "next_string", writer->n_strings);
  return put_meta (writer, "state", state) &&
         put_meta_int (writer, "commit", (int64_t)writer->n_commits + 1) &&
         put_meta_int (writer, "now_ns", now_ns) &&
         put_meta_int (writer, "events", (int64_t)writer->counts.n_events) &&
         put_meta_int (writer, "next_string", writer->n_strings) && put_backlog (writer) &&
         put_missing (writer);
}

/* Writes everything that waits, within the transaction, which an earlier commit may have left open. */
static bool
put_everything (LnsWriter *writer, int64_t now_ns)
{
  LnsBuffer scratch = { 0 };
  bool good = true;
  for (; good && writer->rows.n_inserted < writer->rows.list.n; writer->rows.n_inserted += good)
    good = insert_row (writer, &writer->rows.list.items[writer->rows.n_inserted]);
  for (uint32_t i = 0; good && i < writer->dirty.n; i++)
    good =
        _lns_writer_lane_put (&writer->lanes.items[writer->dirty.items[i]], writer->n_commits + 1,
                              &writer->statements, &scratch, &writer->rows.failed);
  lns_buffer_clear (&scratch);
  return good && put_waiting_meta (writer) && put_state (writer, now_ns);
}

/* After a successful transaction: drops what it has written. */
static void
settle (LnsWriter *writer, int64_t now_ns)
{
  writer->n_committed = writer->counts.n_events;
  writer->committed_ns = now_ns;
  _lns_writer_rows_reset (&writer->rows);
  lns_buffer_reset (&writer->waiting_meta);
  for (uint32_t i = 0; i < writer->dirty.n; i++)
    {
      LnsWriterLane *lane = &writer->lanes.items[writer->dirty.items[i]];
      lane->is_dirty = false;
      if (lane->is_closed)
        _lns_writer_lane_clear (lane);
    }
  writer->dirty.n = 0;
  writer->n_commits++;
  if (sqlite3_step (writer->statements.n_pages) == SQLITE_ROW)
    writer->counts.file_bytes =
        (uint64_t)sqlite3_column_int64 (writer->statements.n_pages, 0) * LNS_SQL_PAGE_BYTES;
  sqlite3_reset (writer->statements.n_pages);
  if (writer->counts.n_events > 0 && !writer->is_whole_or_none)
    {
      _lns_writer_remove_aside (writer->aside_path);
      writer->aside_path = NULL;
    }
}

/* Ends a failed transaction, unless SQLite has done so. Its rows wait for the next one. */
static void
roll_back (LnsWriter *writer)
{
  if (!sqlite3_get_autocommit (writer->database))
    _lns_writer_step (writer->statements.rollback);
  for (uint32_t i = 0; i < writer->rows.n_inserted; i++)
    {
      writer->n_definition_rows -= writer->rows.list.items[i].header.kind == LNS_CHUNK_DEFINITIONS;
      writer->n_chunk_rows -= writer->rows.list.items[i].header.kind == LNS_CHUNK_EVENTS ||
                              writer->rows.list.items[i].header.kind == LNS_CHUNK_NODES;
    }
  writer->rows.n_inserted = 0;
}

/* A report without events that were dropped is not complete. */
static void
mark_incomplete (LnsWriter *writer)
{
  if (writer->state == LNS_STATE_COMPLETE && writer->counts.n_dropped > 0)
    writer->state = LNS_STATE_INCOMPLETE;
}

/* Remembers why the first failed commit failed. Waiting for a reader is not a failure. */
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
  if (writer->n_commits == 1 && writer->reserve_fd < 0 && writer->state == LNS_STATE_RECORDING)
    writer->reserve_fd = _lns_writer_reserve (writer->path);
  mark_incomplete (writer);
  if (writer->dropped.others > 0)
    {
      define (writer, LNS_DEFINITION_LOSS, &writer->dropped);
      writer->dropped.others = 0;
    }
  queue_strings (writer, 0);
  queue_definitions (writer);

  bool begun =
      !sqlite3_get_autocommit (writer->database) || _lns_writer_step (writer->statements.begin);
  if (begun && put_everything (writer, now_ns) && !writer->rows.failed &&
      _lns_writer_step (writer->statements.commit))
    {
      settle (writer, now_ns);
      return true;
    }
  if (writer->rows.failed)
    lns_error_set (
        &cause, LNS_ERROR_NO_MEMORY, 0,
        "cannot continue to write “%s”: out of memory; the report ends with its last commit",
        writer->path);
  else
    lns_sql_error (&cause, writer->database, writer->path, "write");
  keep_trouble (writer, &cause);
  /* If readers hold the lock, the transaction stays open, and the next commit continues it. */
  if (begun && (writer->rows.failed || sqlite3_errcode (writer->database) != SQLITE_BUSY))
    roll_back (writer);
  return lns_error_set (error, cause.domain, cause.code, "%s", cause.message);
}

/* ---- Amendments ---------------------------------------------------------------------------------- */

/* Runs QUERY for the last row of a table, its id and a chunk of KIND. Sets both to what follows them. False if it cannot be
 * read; a table without rows is fine. */
static bool
follow (LnsWriter *writer,
        const char *query,
        LnsChunkKind kind,
        int64_t *ret_id,
        uint32_t *ret_sequence)
{
  sqlite3_stmt *statement = NULL;
  LnsChunkView view;
  bool good = sqlite3_prepare_v2 (writer->database, query, -1, &statement, NULL) == SQLITE_OK;
  const int step = good ? sqlite3_step (statement) : SQLITE_ERROR;
  if (step == SQLITE_ROW)
    {
      const void *bytes = sqlite3_column_blob (statement, 1);
      const int n_bytes = sqlite3_column_bytes (statement, 1);
      good = bytes != NULL && lns_chunk_parse (bytes, (size_t)n_bytes, &view, NULL) &&
             view.header.kind == kind;
      *ret_id = sqlite3_column_int64 (statement, 0) + 1;
      *ret_sequence = good ? view.header.sequence + 1 : 0;
    }
  sqlite3_finalize (statement);
  return good && (step == SQLITE_ROW || step == SQLITE_DONE);
}

/* Whether the file's last commit is still the one that WRITER continues. */
static bool
is_unchanged (LnsWriter *writer)
{
  sqlite3_stmt *statement = NULL;
  const bool is_same =
      sqlite3_prepare_v2 (writer->database, "SELECT value FROM lns_meta WHERE key = 'commit'", -1,
                          &statement, NULL) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW &&
      (uint64_t)sqlite3_column_int64 (statement, 0) == writer->n_commits;
  sqlite3_finalize (statement);
  return is_same;
}

LnsWriter *
lns_writer_amend (const LnsReport *report, bool is_safe, LnsError *error)
{
  const LnsReportInfo *info = lns_report_info (report);
  LnsWriter *writer = writer_new (info->path);
  int64_t next_string;
  if (writer == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "cannot write “%s”: out of memory", info->path);
      return NULL;
    }
  writer->is_amendment = true;
  writer->state = LNS_STATE_COMPLETE;
  writer->n_commits = info->n_commits;
  writer->n_strings = lns_report_n_strings (report);
  memcpy (writer->uuid, info->uuid, sizeof writer->uuid);
  for (int kind = 0; kind < LNS_N_DEFINITION_KINDS; kind++)
    lns_report_definitions (report, (LnsDefinitionKind)kind, &writer->n_defined[kind]);
  if (info->state == LNS_STATE_RECORDING)
    lns_error_set (error, LNS_ERROR_IO, EBUSY, "“%s” is being recorded; wait until that ends",
                   info->path);
  else
    writer->database = lns_sql_reopen (info->path, is_safe, &writer->lock_fd, error);
  if (writer->database == NULL)
    goto failed;
  sqlite3_busy_timeout (writer->database, FINISH_BUSY_MS);
  if (!is_unchanged (writer))
    lns_error_set (error, LNS_ERROR_IO, EBUSY, "“%s” has changed meanwhile; try again", info->path);
  else if (!_lns_writer_statements_prepare (&writer->statements, writer->database) ||
           !follow (writer, "SELECT id, data FROM lns_def ORDER BY id DESC LIMIT 1",
                    LNS_CHUNK_DEFINITIONS, &writer->n_definition_rows,
                    &writer->definition_sequence) ||
           !follow (writer, "SELECT first, data FROM lns_string ORDER BY first DESC LIMIT 1",
                    LNS_CHUNK_STRINGS, &next_string, &writer->string_sequence))
    lns_sql_error (error, writer->database, info->path, "write");
  else
    return writer;

failed:
  lns_writer_abandon (writer);
  return NULL;
}

bool
lns_writer_finish_amendment (LnsWriter *writer, LnsError *error)
{
  const bool is_done = lns_writer_commit (writer, 0, error);
  if (!sqlite3_get_autocommit (writer->database))
    _lns_writer_step (writer->statements.rollback);
  writer_free (writer);
  return is_done;
}

/* ---- The end ------------------------------------------------------------------------------------- */

/* Drops the waiting events, which cannot be written, and counts them as lost up to END_NS. Definitions stay; lanes stay as
 * the last commit left them. */
static void
leave_out (LnsWriter *writer, int64_t end_ns)
{
  _lns_writer_rows_drop (&writer->rows, LNS_CHUNK_EVENTS);
  _lns_writer_rows_drop (&writer->rows, LNS_CHUNK_NODES);
  writer->dirty.n = 0;
  LnsLoss loss = { .process = LNS_ID_NONE,
                   .thread = LNS_ID_NONE,
                   .first_ns = writer->committed_ns,
                   .last_ns = end_ns,
                   .others = writer->counts.n_events - writer->n_committed };
  if (loss.others > 0)
    lns_writer_add_loss (writer, &loss);
  writer->counts.n_dropped += loss.others;
  writer->counts.n_events = writer->n_committed;
}

/* After the last commit has failed: tries to write at least how much is missing, in the disk space that was reserved for
 * this. Always sets ERROR. */
static void
finish_without_the_rest (LnsWriter *writer, int64_t end_ns, const LnsError *cause, LnsError *error)
{
  const bool is_busy = cause->code == EBUSY;
  if (cause->code == ENOENT)
    {
      lns_error_set (error, cause->domain, cause->code,
                     "%s; the report no longer exists under that name; record again",
                     cause->message);
      return;
    }
  if (writer->reserve_fd >= 0)
    close (writer->reserve_fd);
  writer->reserve_fd = -1;
  leave_out (writer, end_ns);
  bool is_told = !is_busy && lns_writer_commit (writer, end_ns, NULL);
  if (!is_told && !is_busy)
    {
      _lns_writer_rows_drop (&writer->rows, LNS_CHUNK_STRINGS);
      is_told = lns_writer_commit (writer, end_ns, NULL);
    }
  lns_error_set (error, cause->domain, cause->code,
                 "%s; %" PRIu64 " %s in the report, %" PRIu64 " %s lost%s%s", cause->message,
                 writer->counts.n_events,
                 lns_plural (writer->counts.n_events, "event is", "events are"),
                 writer->counts.n_lost, lns_plural (writer->counts.n_lost, "is", "are"),
                 is_told ? "" : " (which it cannot tell)", is_busy ? "" : ": record again");
}

bool
lns_writer_finish_counted (
    LnsWriter *writer, LnsState state, int64_t end_ns, LnsWriterCounts *ret_counts, LnsError *error)
{
  LnsError cause = { 0 };
  writer->state = state;
  writer->backlog = (LnsWriterBacklog){ .reached_ns = end_ns, .seen_ns = end_ns };
  sqlite3_busy_timeout (writer->database, writer->finish_busy_ms);
  const bool is_whole = lns_writer_commit (writer, end_ns, &cause);
  /* If no commit wrote data, the overwritten file is worth more than this one. */
  const bool is_kept = is_whole || (writer->aside_path == NULL && !writer->is_whole_or_none);
  if (!is_kept)
    lns_error_set (error, cause.domain, cause.code, "%s%s", cause.message,
                   writer->is_whole_or_none ? "" : "; nothing was recorded");
  else if (!is_whole)
    finish_without_the_rest (writer, end_ns, &cause, error);
  if (ret_counts != NULL)
    *ret_counts = writer->counts;
  if (!is_kept)
    {
      lns_writer_abandon (writer);
      return false;
    }
  lns_tally_remove (writer->lock_fd);
  /* A finished report is a single file, so the journal is removed. */
  if (!sqlite3_get_autocommit (writer->database))
    _lns_writer_step (writer->statements.rollback);
  sqlite3_exec (writer->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  /* SQLite does not remove the journal of a file that no longer exists. */
  if (access (writer->path, F_OK) != 0)
    lns_sql_remove (writer->path);
  _lns_writer_remove_aside (writer->aside_path);
  writer_free (writer);
  return is_whole;
}

bool
lns_writer_finish (LnsWriter *writer, LnsState state, int64_t end_ns, LnsError *error)
{
  return lns_writer_finish_counted (writer, state, end_ns, NULL, error);
}
