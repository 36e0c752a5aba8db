/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one writer of .rep files (FORMAT.md). It appends events to lanes, cuts lanes into chunks,
 * grows each lane's level of detail, and commits: after each lns_writer_commit () the file on disk
 * is a readable report of everything appended so far.
 *
 * Not thread-safe: one thread owns a writer. Every function but create, commit and finish cannot
 * fail: a failed write is kept, reported by the next commit, and the writer goes on accepting (and
 * discarding) events, so that a capture never stops in the middle. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/store/format/definitions.h"

typedef struct LnsWriter LnsWriter;

typedef struct
{
  bool overwrite;        /* an existing PATH is replaced at the first commit with data          */
  bool is_whole_or_none; /* what cannot be finished is removed, and what it replaced comes back  */
  unsigned
      mode; /* permissions of the file, whatever the umask is; 0: only its owner may read it  */
  int64_t t0_monotonic_ns; /* the report clock's 0 in CLOCK_MONOTONIC                             */
  int64_t t0_realtime_ns;  /* the same moment in CLOCK_REALTIME                                   */
  uint64_t t0_tsc;         /* the same moment in TSC ticks, or 0                                  */
} LnsWriterOptions;

/* Creates the report at PATH (missing folders are made). NULL and ERROR where PATH exists without
 * `overwrite`, or cannot be created. Owned by the caller: lns_writer_finish () or _abandon (). */
LnsWriter *lns_writer_create (const char *path, const LnsWriterOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

/* The id of a string of SIZE_BYTES arbitrary bytes (not NUL-terminated; may hold NUL); equal bytes
 * give equal ids, "" is 0. O(size). */
uint32_t lns_writer_string (LnsWriter *writer, const void *bytes, size_t size_bytes);

/* A new id for the bytes without looking for equal ones: for payloads, of which few repeat. */
uint32_t lns_writer_bytes (LnsWriter *writer, const void *bytes, size_t size_bytes);

/* One more than the highest id of a string so far. */
uint32_t lns_writer_n_strings (const LnsWriter *writer);

/* Defines an object of KIND: DEFINITION points to the kind's struct. Returns its id; ids count up from 0 per kind.
 * LNS_ID_NONE without memory for a track or lane. */
uint32_t lns_writer_define (LnsWriter *writer, LnsDefinitionKind kind, const void *definition);

/* Replaces the definition of object ID of KIND. */
void lns_writer_redefine (LnsWriter *writer,
                          LnsDefinitionKind kind,
                          uint32_t id,
                          const void *definition);

/* The same for each kind, with the type of its struct: lns_writer_add_process (writer, process) and so on. */
#define LNS_WRITER_ADD(name, Type, kind)                                                           \
 static inline uint32_t lns_writer_add_##name (LnsWriter *writer, const Type *name)                \
 {                                                                                                 \
  return lns_writer_define (writer, LNS_DEFINITION_##kind, name);                                  \
 }
LNS_WRITER_ADD (process, LnsProcess, PROCESS)
LNS_WRITER_ADD (thread, LnsThread, THREAD)
LNS_WRITER_ADD (domain, LnsDomain, DOMAIN)
LNS_WRITER_ADD (category, LnsCategory, CATEGORY)
LNS_WRITER_ADD (resource, LnsResource, RESOURCE)
LNS_WRITER_ADD (schema, LnsSchema, SCHEMA)
LNS_WRITER_ADD (schema_entry, LnsSchemaEntry, SCHEMA_ENTRY)
LNS_WRITER_ADD (track, LnsTrack, TRACK)
LNS_WRITER_ADD (lane, LnsLane, LANE)
LNS_WRITER_ADD (diagnostic, LnsDiagnostic, DIAGNOSTIC)
LNS_WRITER_ADD (loss, LnsLoss, LOSS)
LNS_WRITER_ADD (device, LnsCudaDevice, DEVICE)
LNS_WRITER_ADD (context, LnsCudaContext, CONTEXT)
LNS_WRITER_ADD (stream, LnsCudaStream, STREAM)
LNS_WRITER_ADD (launch, LnsCudaLaunch, LAUNCH)
LNS_WRITER_ADD (kept_table, LnsKeptTable, KEPT_TABLE)
LNS_WRITER_ADD (kept_rows, LnsKeptRows, KEPT_ROWS)

/* lns_writer_set_process (writer, id, process) and so on. */
#define LNS_WRITER_SET(name, Type, kind)                                                           \
 static inline void lns_writer_set_##name (LnsWriter *writer, uint32_t id, const Type *name)       \
 {                                                                                                 \
  lns_writer_redefine (writer, LNS_DEFINITION_##kind, id, name);                                   \
 }
LNS_WRITER_SET (process, LnsProcess, PROCESS)
LNS_WRITER_SET (thread, LnsThread, THREAD)
LNS_WRITER_SET (domain, LnsDomain, DOMAIN)
LNS_WRITER_SET (category, LnsCategory, CATEGORY)
LNS_WRITER_SET (resource, LnsResource, RESOURCE)
LNS_WRITER_SET (device, LnsCudaDevice, DEVICE)
LNS_WRITER_SET (context, LnsCudaContext, CONTEXT)
LNS_WRITER_SET (stream, LnsCudaStream, STREAM)

/* Sets a meta value (UTF-8 key, arbitrary text): host name, command line, clock pairs, …. The keys
 * that the format itself uses are in FORMAT.md. */
void lns_writer_set_meta (LnsWriter *writer, const char *key, const char *value);

/* Appends EVENT to LANE, after any event that is there: start_ns ≥ the end of the last one (an
 * earlier start is moved there and flagged LNS_EVENT_CLIPPED). Removes the lane's open event.
 * Amortised O(1). */
void lns_writer_append (LnsWriter *writer, uint32_t lane, const LnsEvent *event);

/* Remembers EVENT (duration ignored) as begun but not ended in LANE: readers see it as the lane's
 * last event, flagged LNS_EVENT_OPEN_END. lns_writer_append () to the lane replaces it. NULL
 * removes it. */
void lns_writer_set_open (LnsWriter *writer, uint32_t lane, const LnsEvent *event);

/* Says that LANE is over (its thread ended): the next commit that succeeds frees what the writer
 * keeps for it, and events that still come for it are ignored. Without it a lane costs 1–40 KB until
 * the end. */
void lns_writer_close_lane (LnsWriter *writer, uint32_t lane);

/* What happened and is in no commit: what the file says of itself once the writer was killed. */
typedef struct
{
  int64_t reached_ns; /* report time up to which all that was recorded is in the file            */
  int64_t seen_ns;    /* report time up to which the next two are counted                        */
  uint64_t n_waiting; /* events that were recorded, and were not appended yet                     */
  uint64_t n_untold;  /* events that are lost, and of which no loss tells yet                     */
} LnsWriterBacklog;

/* Has the next commits write BACKLOG, which the last one, of lns_writer_finish (), clears. */
void lns_writer_set_backlog (LnsWriter *writer, const LnsWriterBacklog *backlog);

/* Makes everything so far durable against the death of this process. NOW_NS (report clock) is to
 * where the report reaches: open events are drawn up to it. False and ERROR where a write failed
 * since the last commit; later commits try again (a full disk may have room again). */
bool lns_writer_commit (LnsWriter *writer, int64_t now_ns, LnsError *error);

/* Bytes of chunks that wait for the next commit: commit each second, or when these are 32 MiB. */
size_t lns_writer_waiting_bytes (const LnsWriter *writer);

typedef struct
{
  uint64_t n_events;
  uint64_t n_lost;
  uint64_t n_dropped; /* of the lost ones: dropped by the writer, as too much waited for commits */
  uint64_t n_processes;
  uint64_t file_bytes; /* as of the last commit */
} LnsWriterCounts;

/* What was written so far. Owned by WRITER. */
const LnsWriterCounts *lns_writer_counts (const LnsWriter *writer);

/* Commits a last time with STATE (LNS_STATE_INCOMPLETE in place of _COMPLETE where events were dropped),
 * closes the file and frees WRITER (also on failure). Waits up to
 * 10 s for readers. False and ERROR where not everything is in the file: it is valid then and, where
 * the disk is full, counts what it lacks as lost; without any event in it, an overwritten file comes
 * back instead. */
bool lns_writer_finish (LnsWriter *writer, LnsState state, int64_t end_ns, LnsError *error);

/* The same, and tells in RET_COUNTS (may be NULL) what became of it. */
bool lns_writer_finish_counted (LnsWriter *writer,
                                LnsState state,
                                int64_t end_ns,
                                LnsWriterCounts *ret_counts,
                                LnsError *error);

/* Frees WRITER and removes its file (an overwritten one comes back): nothing was worth keeping. */
void lns_writer_abandon (LnsWriter *writer);
