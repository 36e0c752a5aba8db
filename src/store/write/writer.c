/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer-private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/folders.h"
#include "src/base/format.h"
#include "src/store/format/identity.h"
#include "src/store/database/sql.h"

/* How long a commit waits for readers. It keeps their successors out meanwhile and after, so that the
 * next commit succeeds unless somebody sits on the file. */
#define BUSY_MS        200
#define FINISH_BUSY_MS 10000 /* the last commit                                                  */

/* Frees everything but the file. */
static void
writer_free (LnsWriter *writer)
{
  _lns_writer_finalize (writer);
  sqlite3_close (writer->database);
  if (writer->lock_fd >= 0)
    close (writer->lock_fd);
  if (writer->reserve_fd >= 0)
    close (writer->reserve_fd);
  for (uint32_t i = 0; i < writer->n_defined[LNS_DEFINITION_LANE]; i++)
    _lns_writer_lane_clear (&writer->lanes[i]);
  for (uint32_t i = 0; i < writer->n_rows; i++)
    lns_buffer_clear (&writer->rows[i].blob);
  lns_buffer_clear (&writer->waiting_strings);
  lns_buffer_clear (&writer->waiting_definitions);
  lns_buffer_clear (&writer->waiting_meta);
  lns_string_table_free (writer->string_table);
  free (writer->waiting_lengths);
  free (writer->tracks);
  free (writer->lanes);
  free (writer->dirty);
  free (writer->rows);
  free (writer->path);
  free (writer);
}

/* Removes the new file, brings the overwritten one back, frees the writer. */
static void
undo (LnsWriter *writer)
{
  char *aside_path = writer->aside_path, *path = writer->path;
  const bool created = writer->database != NULL;
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

/* Refuses a path that is taken, makes room for one that may be overwritten. */
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
                          "“%s” exists: choose another name, or allow it to be overwritten", path);
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
      lns_error_set_errno (error, errno, "cannot make a UUID for “%s”", path);
      goto failed;
    }
  if (!clear_path (writer, path, options->overwrite, &old_fd, error))
    goto failed;
  writer->database = lns_sql_create (path, options->mode, &writer->lock_fd, error);
  if (writer->database == NULL)
    goto failed;
  sqlite3_busy_timeout (writer->database, BUSY_MS);
  if (!_lns_writer_prepare (writer))
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
  writer->reserve_fd = _lns_writer_reserve (path);
  return writer;

failed:
  undo (writer);
  if (old_fd >= 0)
    close (old_fd);
  return NULL;
}

void
lns_writer_set_meta (LnsWriter *writer, const char *key, const char *value)
{
  /* With ids of their own, these are told from strings that events have. */
  LnsMetaDefinition meta = { .key = lns_writer_bytes (writer, key, strlen (key)),
                             .value = lns_writer_bytes (writer, value, strlen (value)) };
  _lns_writer_define (writer, LNS_DEFINITION_META, &meta);
  lns_buffer_append (&writer->waiting_meta, key, strlen (key) + 1);
  lns_buffer_append (&writer->waiting_meta, value, strlen (value) + 1);
  writer->failed |= writer->waiting_meta.failed;
}

void
lns_writer_set_backlog (LnsWriter *writer, const LnsWriterBacklog *backlog)
{
  writer->backlog = *backlog;
  writer->has_backlog = true;
}

size_t
lns_writer_waiting_bytes (const LnsWriter *writer)
{
  return writer->waiting_bytes;
}

uint64_t
lns_writer_file_bytes (const LnsWriter *writer)
{
  return writer->file_bytes;
}

uint64_t
lns_writer_events (const LnsWriter *writer)
{
  return writer->n_events;
}

uint64_t
lns_writer_lost (const LnsWriter *writer)
{
  return writer->n_lost;
}

uint64_t
lns_writer_dropped (const LnsWriter *writer)
{
  return writer->n_dropped;
}

/* The last commit has failed: makes the file tell at least what it lacks, in the room that was kept
 * for this. Fills ERROR in any case. */
static void
finish_without_the_rest (LnsWriter *writer, int64_t end_ns, const LnsError *cause, LnsError *error)
{
  const bool is_busy = cause->code == EBUSY;
  if (cause->code == ENOENT)
    {
      lns_error_set (error, cause->domain, cause->code,
                     "%s; there is no report of that name any more: record again", cause->message);
      return;
    }
  if (writer->reserve_fd >= 0)
    close (writer->reserve_fd);
  writer->reserve_fd = -1;
  _lns_writer_leave_out (writer, end_ns);
  bool is_told = !is_busy && lns_writer_commit (writer, end_ns, NULL);
  if (!is_told && !is_busy)
    {
      _lns_writer_leave_out_kind (writer, LNS_CHUNK_STRINGS);
      is_told = lns_writer_commit (writer, end_ns, NULL);
    }
  lns_error_set (error, cause->domain, cause->code,
                 "%s; %" PRIu64 " %s in the report, %" PRIu64 " %s lost%s%s", cause->message,
                 writer->n_events, lns_plural (writer->n_events, "event is", "events are"),
                 writer->n_lost, lns_plural (writer->n_lost, "is", "are"),
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
  /* Without a single commit with data the overwritten file is worth more than this one. */
  const bool is_kept = is_whole || (writer->aside_path == NULL && !writer->is_whole_or_none);
  if (!is_kept)
    lns_error_set (error, cause.domain, cause.code, "%s%s", cause.message,
                   writer->is_whole_or_none ? "" : "; nothing was recorded");
  else if (!is_whole)
    finish_without_the_rest (writer, end_ns, &cause, error);
  if (ret_counts != NULL)
    *ret_counts =
        (LnsWriterCounts){ writer->n_events, writer->n_lost,
                           writer->n_defined[LNS_DEFINITION_PROCESS], writer->file_bytes };
  if (!is_kept)
    {
      undo (writer);
      return false;
    }
  /* A finished report is one file: these remove the journal. */
  if (!sqlite3_get_autocommit (writer->database))
    _lns_writer_step (writer->statements.rollback);
  sqlite3_exec (writer->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  /* SQLite leaves a journal alone whose file is gone. */
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

void
lns_writer_abandon (LnsWriter *writer)
{
  undo (writer);
}
