/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A writer. Everything to be written stays in memory until a commit has succeeded, so that a failed commit can be repeated:
 * closed chunks as rows, and a list of the changed lanes. */

#pragma once

#include <sqlite3.h>

#include "src/base/array.h"
#include "src/base/string-table.h"
#include "src/store/write/writer-lane.h"
#include "src/store/write/writer-rows.h"
#include "src/store/write/writer-statements.h"
#include "src/store/write/writer.h"

/* The limit of what waits while commits fail. Further events are dropped and counted. */
#define LNS_WRITER_MAX_WAITING_BYTES ((size_t)256 * 1024 * 1024)

struct LnsWriter
{
  char *path;
  char *aside_path; /* of the overwritten file, until it is removed; or NULL */
  bool is_whole_or_none;
  bool is_amendment; /* of a finished report, whose events and state stay as they are */
  int lock_fd;       /* holds the lock that tells others that the file is being written, or −1 */
  int reserve_fd;    /* reserves disk space for the last commit, or −1 */
  sqlite3 *database;
  LnsWriterStatements statements;
  uint8_t uuid[16];
  LnsState state;
  uint64_t n_commits;
  int64_t n_chunk_rows, n_definition_rows; /* inserted so far */

  LnsStringTable *string_table;
  uint32_t n_strings; /* ids given out */
  uint32_t first_waiting_string;
  uint32_t n_waiting_strings;
  uint64_t *waiting_lengths; /* LNS_STRING_CHUNK_MAX of them */
  LnsBuffer waiting_strings;
  uint32_t string_sequence;

  LnsBuffer waiting_definitions;
  uint32_t n_waiting_definitions;
  uint32_t definition_sequence;
  uint32_t n_defined[LNS_N_DEFINITION_KINDS]; /* ids given out, per kind */

  LnsBuffer waiting_meta; /* key NUL value NUL … */

  LNS_ARRAY (LnsTrack) tracks;     /* by id, for the value types of their lanes */
  LNS_ARRAY (LnsWriterLane) lanes; /* by id */
  LNS_ARRAY (uint32_t) dirty;      /* lanes that changed since the last commit */

  LnsWriterRows rows;
  int finish_busy_ms; /* how long the last commit waits for readers */
  size_t max_waiting_bytes;

  LnsWriterCounts counts;
  LnsError trouble;     /* why the first commit failed that did, if any */
  uint64_t n_committed; /* events in the file */
  int64_t committed_ns; /* to where the file reaches */
  LnsWriterBacklog backlog;
  bool has_backlog; /* to be written with each commit */
  LnsLoss dropped;  /* events dropped since the last commit that succeeded (others) */
};
