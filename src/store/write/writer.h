/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The writer of .rep files (FORMAT.md). It appends events to lanes, divides lanes into chunks, builds each lane's level of
 * detail, and commits: after each lns_writer_commit () the file on disk is a readable report of everything appended so
 * far.
 *
 * Not thread-safe: one thread at a time may use a writer. Only create, commit and finish can fail. Other errors are
 * reported by the next commit, and the writer continues to accept (and discard) events, so that they never interrupt a
 * recording. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/store/database/tally.h"
#include "src/store/format/definitions.h"
#include "src/store/read/report.h"

typedef struct LnsWriter LnsWriter;

typedef struct
{
  bool overwrite; /* an existing PATH is replaced at the first commit with data */
  bool
      is_whole_or_none; /* a report that cannot be finished is removed, and the file that it replaced comes back */
  unsigned mode; /* permissions of the file, whatever the umask is; 0: only its owner may read it */
  int64_t t0_monotonic_ns; /* the report clock's 0 in CLOCK_MONOTONIC */
  int64_t t0_realtime_ns;  /* the same moment in CLOCK_REALTIME */
  uint64_t t0_tsc;         /* the same moment in TSC ticks, or 0 */
  uint8_t uuid[16]; /* all 0: the writer makes one; tests give one so that reports are equal */
} LnsWriterOptions;

/* Creates the report at PATH, and missing folders. Returns NULL and sets ERROR if PATH exists and `overwrite` is not set, or
 * it cannot be created. End it with lns_writer_finish () or lns_writer_abandon (). */
LnsWriter *lns_writer_create (const char *path, const LnsWriterOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

/* The id of a string of SIZE_BYTES arbitrary bytes, which may include NUL and need not end with it. Equal strings get equal
 * ids; "" is 0. O(size). */
uint32_t lns_writer_string (LnsWriter *writer, const void *bytes, size_t size_bytes);

/* A new id for the bytes, without a search for equal ones: for payloads, which rarely repeat. */
uint32_t lns_writer_bytes (LnsWriter *writer, const void *bytes, size_t size_bytes);

/* One more than the highest string id so far. */
uint32_t lns_writer_n_strings (const LnsWriter *writer);

/* Defines an object of KIND: DEFINITION points to the kind's struct. Returns its id; ids count up from 0 per kind.
 * LNS_ID_NONE without memory for a track or lane. */
uint32_t lns_writer_define (LnsWriter *writer, LnsDefinitionKind kind, const void *definition);

/* Defines all objects of KIND that REPORT has, under the ids that they have there if WRITER has none of this kind. */
void lns_writer_repeat (LnsWriter *writer, const LnsReport *report, LnsDefinitionKind kind);

/* Replaces the definition of object ID of KIND. */
void lns_writer_redefine (LnsWriter *writer,
                          LnsDefinitionKind kind,
                          uint32_t id,
                          const void *definition);

/* The same with the type of each kind's struct: lns_writer_add_process (writer, process), lns_writer_add_thread (), … */
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
LNS_WRITER_ADD (module, LnsModule, MODULE)
LNS_WRITER_ADD (frame, LnsStackFrame, FRAME)
LNS_WRITER_ADD (call_node, LnsCallNode, CALL_NODE)
LNS_WRITER_ADD (omission, LnsOmission, OMISSION)

/* lns_writer_redefine () likewise: lns_writer_set_process (writer, id, process), lns_writer_set_thread (), … */
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
LNS_WRITER_SET (frame, LnsStackFrame, FRAME)
LNS_WRITER_SET (omission, LnsOmission, OMISSION)

/* Sets a meta value (UTF-8 key, arbitrary text): host name, command line, clock pairs, …. FORMAT.md lists the keys that the
 * format itself uses. */
void lns_writer_set_meta (LnsWriter *writer, const char *key, const char *value);

/* Whether KEY is of a meta value that describes the file itself, which the writer sets in each file. */
bool lns_writer_has_meta (const char *key);

/* Appends EVENT to LANE, after any event that is there: start_ns ≥ the end of the last one (an
 * earlier start is moved there and flagged LNS_EVENT_CLIPPED). Removes the lane's open event.
 * Amortised O(1). */
void lns_writer_append (LnsWriter *writer, uint32_t lane, const LnsEvent *event);

/* Sets LANE's open event: EVENT has begun and not ended. Ignores its duration. Readers see it as the lane's last event,
 * flagged LNS_EVENT_OPEN_END. lns_writer_append () to the lane replaces it; NULL removes it. */
void lns_writer_set_open (LnsWriter *writer, uint32_t lane, const LnsEvent *event);

/* Closes LANE, for example because its thread ended: the next successful commit frees its memory, 1–40 KB, and further
 * events for it are ignored. */
void lns_writer_close_lane (LnsWriter *writer, uint32_t lane);

/* What is in no commit yet. If the writer is killed, readers learn from this how much is missing. */
typedef struct
{
  int64_t reached_ns; /* report time up to which everything that was recorded is in the file */
  int64_t seen_ns;    /* report time up to which the next two are counted */
  uint64_t n_waiting; /* events that were recorded but not appended yet */
  bool is_least;     /* there may be more of them: nobody counts samples before they are appended */
  uint64_t n_untold; /* lost events that no loss counts yet */
  uint64_t n_begun, n_lost; /* the tally (database/tally.h) that the two above are counted to */
} LnsWriterBacklog;

/* Sets the BACKLOG that the next commits write. lns_writer_finish () clears it. */
void lns_writer_set_backlog (LnsWriter *writer, const LnsWriterBacklog *backlog);

/* Tells how many events there are since the last commit, in the file, at once. Any thread, beside all other functions but
 * those that end the writer. */
void lns_writer_tell (const LnsWriter *writer, const LnsTally *tally);

/* Writes everything so far to the file, so that it survives the death of this process. NOW_NS (report clock) is the end of
 * the report: open events are drawn up to it. Returns false and sets ERROR if a write has failed since the last commit;
 * later commits try again, because a full disk may have space again. */
bool lns_writer_commit (LnsWriter *writer, int64_t now_ns, LnsError *error);

/* How many bytes of chunks wait for the next commit. Commit each second, or when they exceed 32 MiB. */
size_t lns_writer_waiting_bytes (const LnsWriter *writer);

/* How many bytes the file system of the report has left for this user; UINT64_MAX if it does not say. A commit that does not fit
 * writes nothing, so that smaller ones are due where this is little. One system call. */
uint64_t lns_writer_room_bytes (const LnsWriter *writer);

typedef struct
{
  uint64_t n_events;
  uint64_t n_lost;
  uint64_t n_dropped; /* of the lost ones: dropped by the writer, as too much waited for commits */
  uint64_t n_processes;
  uint64_t file_bytes; /* as of the last commit */
} LnsWriterCounts;

/* How much was appended and written so far. Owned by WRITER. */
const LnsWriterCounts *lns_writer_counts (const LnsWriter *writer);

/* Commits a last time with STATE (LNS_STATE_INCOMPLETE instead of LNS_STATE_COMPLETE if events were dropped), closes the
 * file and frees WRITER, also on failure. Waits up to 10 s for readers. Returns false and sets ERROR if not everything is
 * in the file. The file is valid then; if the disk is full, it counts the missing events as lost. If it has no events at
 * all, the overwritten file comes back. */
bool lns_writer_finish (LnsWriter *writer, LnsState state, int64_t end_ns, LnsError *error);

/* The same. RET_COUNTS (may be NULL) gets what the file contains. */
bool lns_writer_finish_counted (LnsWriter *writer,
                                LnsState state,
                                int64_t end_ns,
                                LnsWriterCounts *ret_counts,
                                LnsError *error);

/* Opens the report that REPORT is a snapshot of, and that is not being recorded, to add strings, frames and call nodes, and
 * to replace frames. All of it becomes part of the file, with the permissions and the owner that it has, in one commit:
 * readers see the report as it was or as it will be, also if this process is killed; if IS_SAFE, also if the machine crashes,
 * which is no use for a report that is not on the disk yet. Meanwhile other processes cannot do the same. Returns NULL and sets ERROR if the file cannot be written, or has changed since it was opened. End it with
 * lns_writer_finish_amendment (), or with lns_writer_abandon (), which leaves the file as it is. */
LnsWriter *lns_writer_amend (const LnsReport *report, bool is_safe, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Commits and frees WRITER, also on failure. Waits up to 10 s for readers. Returns false and sets ERROR if the report stayed
 * as it was. */
bool lns_writer_finish_amendment (LnsWriter *writer, LnsError *error);

/* Frees WRITER and removes its file, unless it is an amendment. An overwritten file comes back. */
void lns_writer_abandon (LnsWriter *writer);
