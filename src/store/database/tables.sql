-- Copyright the Lanescope authors
--
-- SPDX-License-Identifier: Apache-2.0
--
-- The tables of a report; FORMAT.md says what is in them, sql.h has the numbers.

PRAGMA application_id = 0x4C4E5352;
PRAGMA user_version = 1;
CREATE TABLE lns_meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE lns_def (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE lns_string (first INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE lns_chunk (id INTEGER PRIMARY KEY,
 lane INTEGER NOT NULL, level INTEGER NOT NULL, seq INTEGER NOT NULL,
 first INTEGER NOT NULL, n INTEGER NOT NULL,
 start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
 correlation_min INTEGER, correlation_max INTEGER, data BLOB NOT NULL);
CREATE INDEX lns_chunk_index
 ON lns_chunk (lane, level, seq, first, n, start_ns, end_ns, correlation_min, correlation_max);
CREATE TABLE lns_lane (lane INTEGER PRIMARY KEY, n_events INTEGER NOT NULL,
 n_chunks INTEGER NOT NULL, n_open INTEGER NOT NULL,
 start_ns INTEGER, end_ns INTEGER, busy_ns INTEGER NOT NULL,
 top_level INTEGER NOT NULL, top BLOB);
CREATE TABLE lns_tail (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
