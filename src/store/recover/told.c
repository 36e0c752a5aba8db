/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a damaged report says of itself: the one part of a recovery that asks its tables. */

#include "src/store/recover/recover-private.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/database/connection.h"
#include "src/store/database/sql.h"

/* Which a hostile schema could otherwise make endless. */
#define STEPS_MAX 1000000

static int
stop_cb (void *data)
{
  (void)data;
  return 1;
}

static bool
ask (sqlite3 *database, const char *query, uint64_t *ret_number)
{
  sqlite3_stmt *statement = NULL;
  bool told = sqlite3_prepare_v2 (database, query, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step (statement) == SQLITE_ROW &&
              sqlite3_column_type (statement, 0) == SQLITE_INTEGER &&
              sqlite3_column_int64 (statement, 0) >= 0;

  if (told)
    *ret_number = (uint64_t)sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return told;
}

bool
_lns_recover_told_events (const char *path, uint64_t *ret_n_events)
{
  int code;
  char *uri = lns_sql_immutable_uri (path);
  LnsConnection *connection =
      uri != NULL ? _lns_connection_open (uri, NULL, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, &code)
                  : NULL;
  bool told = false;

  free (uri);
  if (connection == NULL)
    return false;
  sqlite3_progress_handler (connection->db, STEPS_MAX, stop_cb, NULL);
  /* With this, a file that is shorter than it should be is read as far as it goes. */
  sqlite3_db_config (connection->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
  if (sqlite3_exec (connection->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL) == SQLITE_OK)
    told = ask (connection->db,
                "SELECT CAST(events.value AS INTEGER)"
                " + IFNULL((SELECT SUM(MAX(0, MIN(1 << 60, CAST(value AS INTEGER)))) FROM lns_meta"
                " WHERE key IN ('waiting', 'untold')), 0)"
                " FROM lns_meta AS events WHERE events.key = 'events'",
                ret_n_events) ||
           ask (connection->db, "SELECT IFNULL(SUM(n_events), 0) FROM lns_lane", ret_n_events);
  _lns_connection_close (connection);
  return told;
}
