/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the parts of the writer share. Everything that is to be written waits in memory until a
 * commit has succeeded, so that a failed one is simply done again: closed chunks as rows, the
 * changed lanes as a list. */

#pragma once

#include <sqlite3.h>

#include "src/base/string-table.h"
#include "src/store/write/chunk-builder.h"
#include "src/store/format/definition-codec.h"
#include "src/store/write/node-sum.h"
#include "src/store/write/writer.h"

/* What may wait while commits fail; beyond it events are dropped and counted. */
#define LNS_WRITER_MAX_WAITING_BYTES ((size_t)256 * 1024 * 1024)

/* One level of detail of a lane. */
typedef struct
{
  LnsNodeSum sum; /* the node in the making                                                     */
  LnsChunkBuilder builder;
} LnsWriterLevel;

typedef struct
{
  LnsLaneKind kind;
  LnsPayloadType value_type; /* of counters, else LNS_PAYLOAD_NONE                              */
  int8_t color_at;           /* index of the column COLOR in LnsEvent.extra, or −1              */
  uint8_t n_extra;
  uint8_t n_levels;
  bool is_dirty;  /* in `dirty`                                                                 */
  bool is_closed; /* nothing comes any more; what it owned may be gone                          */
  bool is_open;   /* `open` says what                                                           */
  uint32_t tails; /* bit = slot that the file may have a row of                                 */
  uint64_t n_events;
  int64_t start_ns;
  int64_t busy_ns;
  LnsChunkBuilder events; /* its end_ns is the lane's                                           */
  LnsWriterLevel *levels; /* n_levels, from level 1 on                                          */
  LnsEvent *open;         /* owned; NULL until the first one                                    */
} LnsWriterLane;

/* A row that waits for a commit. */
typedef struct
{
  LnsChunkHeader header;
  int64_t end_ns;
  LnsBuffer blob; /* owned                                                                      */
} LnsWriterRow;

typedef struct
{
  sqlite3_stmt *begin, *commit, *rollback;
  sqlite3_stmt *chunk, *definition, *string, *lane, *tail, *no_tail, *meta, *n_pages;
} LnsWriterStatements;

struct LnsWriter
{
  char *path;
  char *aside_path; /* where the overwritten file waits, or NULL                                */
  bool is_whole_or_none;
  int lock_fd;    /* of the file, by which others see that it is written, or −1                */
  int reserve_fd; /* a nameless file that keeps room for the last commit, or −1                */
  sqlite3 *database;
  LnsWriterStatements statements;
  uint8_t uuid[16];
  LnsState state;
  uint64_t n_commits;
  int64_t n_chunk_rows, n_definition_rows; /* inserted so far                                    */
  uint64_t file_bytes;

  LnsStringTable *string_table;
  uint32_t n_strings; /* ids given out                                                          */
  uint32_t first_waiting_string;
  uint32_t n_waiting_strings;
  uint64_t *waiting_lengths; /* LNS_STRING_CHUNK_MAX of them                                    */
  LnsBuffer waiting_strings;
  uint32_t string_sequence;

  LnsBuffer waiting_definitions;
  uint32_t n_waiting_definitions;
  uint32_t definition_sequence;
  uint32_t n_defined[LNS_N_DEFINITION_KINDS]; /* ids given out, per kind                        */

  LnsBuffer waiting_meta; /* key NUL value NUL …                                                */

  LnsTrack *tracks; /* what was defined: lanes look at their track's value type                 */
  LnsWriterLane *lanes;
  uint32_t n_lanes_allocated, n_tracks_allocated;
  uint32_t *dirty; /* lanes that changed since the last commit                                  */
  uint32_t n_dirty, n_dirty_allocated;

  LnsWriterRow *rows;
  uint32_t n_rows, n_rows_allocated;
  uint32_t n_rows_inserted; /* in the transaction that is open                                  */
  int finish_busy_ms; /* how long the last commit waits for readers                             */
  size_t max_waiting_bytes;
  size_t waiting_bytes; /* of the rows' blobs                                               */
  bool failed; /* memory ran out: what is here is not whole, and nothing of it is committed      */

  uint64_t n_events, n_lost, n_dropped;
  LnsError trouble;     /* why the first commit failed that did, if any */
  uint64_t n_committed; /* events in the file                                                   */
  int64_t committed_ns; /* to where the file reaches                                            */
  LnsWriterBacklog backlog;
  bool has_backlog; /* to be written with each commit */
  LnsLoss dropped;  /* events dropped since the last commit that succeeded (others)              */
};

/* Queues BLOB, of which it takes the contents. */
void _lns_writer_queue (LnsWriter *writer,
                        const LnsChunkHeader *header,
                        int64_t end_ns,
                        LnsBuffer *blob);

/* Turns the waiting strings and definitions into rows. */
void _lns_writer_queue_definitions (LnsWriter *writer);

/* A definition without a struct of its own in the public interface. */
uint32_t _lns_writer_define (LnsWriter *writer, LnsDefinitionKind kind, const void *definition);

/* Frees what a lane owns. */
void _lns_writer_lane_clear (LnsWriterLane *lane);
bool _lns_writer_lane_init (LnsWriter *writer, uint32_t id, const LnsLane *lane);
void _lns_writer_mark_dirty (LnsWriter *writer, uint32_t lane);

/* Writes the tails and the directory row of a lane within the open transaction. False where SQLite
 * refused: its database says why. */
bool _lns_writer_put_lane (LnsWriter *writer, uint32_t id, LnsBuffer *scratch);

/* Binds BLOB, which must live until the step; false where it failed to be built. Steps STATEMENT to
 * its end and resets it. */
bool _lns_writer_put_blob (sqlite3_stmt *statement, int at, const LnsBuffer *blob);
bool _lns_writer_step (sqlite3_stmt *statement);

/* Drops the events that wait, once nothing can be done for them, and counts them as lost up to
 * END_NS. What is defined stays; lanes stay as the last commit left them. */
void _lns_writer_leave_out (LnsWriter *writer, int64_t end_ns);
/* Drops the waiting rows of KIND. Without its chunk a string is "" to readers. */
void _lns_writer_leave_out_kind (LnsWriter *writer, LnsChunkKind kind);

/* Prepares all statements; finalises them. */
bool _lns_writer_prepare (LnsWriter *writer);
void _lns_writer_finalize (LnsWriter *writer);

/* Takes room on the file system of PATH that is given back by closing the descriptor, also where
 * this process dies: the file has no name. −1 where there is none, or no such files. */
int _lns_writer_reserve (const char *path);
/* Moves what is at PATH (and its journal) to a free name beside it, of which RET_ASIDE_PATH (owned
 * by the caller) tells; NULL where there is nothing to move. Refuses what another process
 * records. What a killed writer had moved aside without recording anything since comes back first. RET_CLAIM_FD (owned by the caller, -1 for none) keeps others from it until it is closed. */
bool _lns_writer_move_aside (const char *path,
                             int *ret_claim_fd,
                             char **ret_aside_path,
                             LnsError *error);
/* Brings it back, or removes it. Both free ASIDE_PATH; NULL is fine. */
void _lns_writer_bring_back (const char *path, char *aside_path);
void _lns_writer_remove_aside (char *aside_path);
