/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Read-only SQLite connections to one report. One thread at a time uses a connection. Each statement is a read transaction
 * of its own, so that a live writer never waits for a reader longer than one row takes. */

#pragma once

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

typedef enum
{
  LNS_QUERY_META,   /* key, value */
  LNS_QUERY_STAND,  /* the same, of those that tell of the last commit */
  LNS_QUERY_DEFS,   /* ?1 < id: id, data; ascending */
  LNS_QUERY_LANES,  /* lane, n_events, n_chunks, n_open, start, end, busy, top_level, top */
  LNS_QUERY_TAILS,  /* ?1 ≤ id < ?2: id, data; ascending */
  LNS_QUERY_STRING, /* ?1 = string id: first, data of the last chunk that begins at or before */
  LNS_QUERY_INDEX,  /* ?1 = lane: level, seq, first, n, start, end, id; by level, seq */
  LNS_QUERY_CHUNK,  /* ?1 = id: data */
  LNS_N_QUERIES
} LnsQuery;

typedef struct LnsConnection
{
  sqlite3 *db;
  sqlite3_stmt *statements[LNS_N_QUERIES];
  const atomic_bool *cancel; /* or NULL; polled inside statements */
  struct LnsConnection *next;
} LnsConnection;

/* Opens PATH through the SQLite file system VFS (NULL = lns_guarded_vfs (LNS_GUARDED_REPORT)). FLAGS are
 * SQLITE_OPEN_READONLY or _READWRITE. *RET_CODE gets SQLite's result. Returns a connection even if SQLite failed, so that
 * the caller can ask it for the reason; NULL if memory runs out. */
LnsConnection *_lns_connection_open (const char *path, const char *vfs, int flags, int *ret_code);
void _lns_connection_close (LnsConnection *connection);

/* The prepared statement of QUERY, reset; NULL if it cannot be prepared (see sqlite3_errcode ()). Owned by the connection.
 * It holds the read lock until it is done or reset, or the connection is given back. */
sqlite3_stmt *_lns_connection_query (LnsConnection *connection, LnsQuery query);

/* How many bytes the connection has read from the file since the last call. */
uint64_t _lns_connection_take_bytes (LnsConnection *connection);

/* Gets column INDEX, which must be a blob of at most 65,000 bytes. Returns false if it is anything else. */
bool _lns_connection_blob (sqlite3_stmt *statement,
                           int index,
                           const uint8_t **ret_bytes,
                           size_t *ret_size_bytes);
