/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/database/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "src/store/format/chunk-format.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"

#define BUSY_TRIES     2500 /* of BUSY_TRY_NS each: 5 s; a commit holds the lock for milliseconds */
#define BUSY_TRY_NS    2000000
#define STEPS_PER_POLL 10000

static const char *const query_texts[LNS_N_QUERIES] = {
  [LNS_QUERY_META] = "SELECT key, value FROM lns_meta",
  [LNS_QUERY_STAND] = "SELECT key, value FROM lns_meta "
                      "WHERE key IN ('uuid', 'commit', 'state', 'writer')",
  [LNS_QUERY_DEFS] = "SELECT id, data FROM lns_def WHERE id > ?1 ORDER BY id",
  [LNS_QUERY_LANES] = "SELECT lane, n_events, n_chunks, n_open, start_ns, end_ns, busy_ns, "
                      "top_level, top FROM lns_lane ORDER BY lane",
  [LNS_QUERY_TAILS] = "SELECT id, data FROM lns_tail WHERE id >= ?1 AND id < ?2 ORDER BY id",
  [LNS_QUERY_STRING] = "SELECT first, data FROM lns_string WHERE first <= ?1 "
                       "ORDER BY first DESC LIMIT 1",
  [LNS_QUERY_INDEX] = "SELECT level, seq, first, n, start_ns, end_ns, id, correlation_min, "
                      "correlation_max FROM lns_chunk "
                      "WHERE lane = ?1 ORDER BY level, seq",
  [LNS_QUERY_CHUNK] = "SELECT data FROM lns_chunk WHERE id = ?1",
};

static int
cancel_cb (void *data)
{
  const LnsConnection *connection = data;

  return connection->cancel != NULL &&
         atomic_load_explicit (connection->cancel, memory_order_relaxed);
}

/* Called when SQLite cannot get a lock; nonzero makes it try again. SQLite also calls this if the file system has no locks
 * to give (ENOLCK), where waiting does not help. errno is still that of its fcntl () here. */
static int
busy_cb (void *data, int n_tries)
{
  if (errno == ENOLCK || n_tries >= BUSY_TRIES)
    return 0;
  nanosleep (&(struct timespec){ .tv_nsec = BUSY_TRY_NS }, NULL);
  return 1;
}

LnsConnection *
_lns_connection_open (const char *path, const char *vfs, int flags, int *ret_code)
{
  LnsConnection *connection = calloc (1, sizeof *connection);

  if (connection == NULL)
    return NULL;
  *ret_code = sqlite3_open_v2 (path, &connection->db, flags | SQLITE_OPEN_NOMUTEX,
                               vfs != NULL ? vfs : lns_guarded_vfs (LNS_GUARDED_REPORT));
  if (connection->db == NULL)
    {
      free (connection);
      return NULL;
    }
  if (*ret_code != SQLITE_OK)
    return connection;

  lns_sql_distrust (connection->db);
  sqlite3_extended_result_codes (connection->db, 1);
  sqlite3_busy_handler (connection->db, busy_cb, NULL);
  sqlite3_progress_handler (connection->db, STEPS_PER_POLL, cancel_cb, connection);
  /* The caller runs the first statement that reads the file, because it reports errors. */
  sqlite3_exec (connection->db, "PRAGMA cell_size_check = ON; PRAGMA cache_size = -2048", NULL,
                NULL, NULL);
  return connection;
}

void
_lns_connection_close (LnsConnection *connection)
{
  if (connection == NULL)
    return;
  for (int i = 0; i < LNS_N_QUERIES; i++)
    sqlite3_finalize (connection->statements[i]);
  sqlite3_close (connection->db);
  free (connection);
}

sqlite3_stmt *
_lns_connection_query (LnsConnection *connection, LnsQuery query)
{
  sqlite3_stmt **statement = &connection->statements[query];

  if (*statement == NULL)
    sqlite3_prepare_v3 (connection->db, query_texts[query], -1, SQLITE_PREPARE_PERSISTENT,
                        statement, NULL);
  else
    sqlite3_reset (*statement);
  return *statement;
}

uint64_t
_lns_connection_take_bytes (LnsConnection *connection)
{
  int pages = 0, highest = 0;

  sqlite3_db_status (connection->db, SQLITE_DBSTATUS_CACHE_MISS, &pages, &highest, 1);
  return (uint64_t)pages * LNS_SQL_PAGE_BYTES;
}

bool
_lns_connection_blob (sqlite3_stmt *statement,
                      int index,
                      const uint8_t **ret_bytes,
                      size_t *ret_size_bytes)
{
  if (sqlite3_column_type (statement, index) != SQLITE_BLOB)
    return false;
  *ret_bytes = sqlite3_column_blob (statement, index);
  *ret_size_bytes = (size_t)sqlite3_column_bytes (statement, index);
  return *ret_bytes != NULL && *ret_size_bytes <= LNS_CHUNK_MAX_BYTES;
}
