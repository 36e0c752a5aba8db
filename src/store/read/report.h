/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The reader of .rep files (FORMAT.md). A report is a snapshot of the last commit. Opening reads the definitions, the lane
 * directory and each lane's top nodes, so its cost does not depend on the number of events. Events and finer nodes are
 * read on demand, through a cache bounded in bytes. A report that is being recorded stays as it was when it was opened;
 * lns_report_refresh () makes a newer snapshot.
 *
 * After lns_report_open () any thread may call any function at any time. What is returned as `const` is valid as long as
 * somebody has a reference on the report. Files may be hostile: a damaged chunk makes the query that needs it fail with LNS_ERROR_FORMAT.
 *
 * Where memory runs out, lns_report_open () fails with LNS_ERROR_NO_MEMORY, and lns_report_aside () returns NULL: the
 * writer calls them while a program is recorded. The other functions end the process (src/base/memory.h). */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/store/format/definitions.h"

typedef struct LnsReport LnsReport;

typedef struct
{
  const char *path; /* as given */
  LnsState state;
  uint64_t n_events; /* closed, tail and open events */
  uint64_t n_open;   /* of them, open ones */
  uint64_t n_lost; /* lns_loss_events () of all losses; while the report is not finished, also lost
                    * events that no loss counts yet */
  uint64_t n_waiting; /* live or cut off: events that were recorded and had no place in it yet */
  bool is_least;      /* there may be more: samples are not counted */
  int64_t reached_ns; /* live or cut off: up to where all that was recorded is in it */
  int64_t seen_ns;    /* live or cut off: up to where n_lost and n_waiting are counted */
  uint64_t file_bytes;
  uint64_t n_commits;
  int64_t start_ns; /* report clock: the earliest event's start (0 if there is none) */
  int64_t end_ns;   /* to where the report reaches: ≥ the latest end, the last commit's now */
  int64_t
      known_ns; /* to where all is recorded, start_ns to end_ns: with a capture range, work and ranges may end later */
  int64_t t0_monotonic_ns, t0_realtime_ns;
  uint64_t t0_tsc;
  uint8_t uuid[16];
  uint64_t unknown_compatible; /* feature bits that were ignored: say so */
} LnsReportInfo;

/* Progress of opening: FRACTION is 0–1. Called on the opening thread. */
typedef void (*LnsProgressFunc) (double fraction, void *data);

typedef struct
{
  size_t cache_bytes;        /* 0 = 128 MiB */
  const atomic_bool *cancel; /* or NULL; true makes the call end with LNS_ERROR_CANCELLED */
  LnsProgressFunc progress;  /* or NULL */
  void *progress_data;
} LnsOpenOptions;

/* Opens the report at PATH, read-only. OPTIONS may be NULL. On failure returns NULL and sets ERROR; LNS_ERROR_FORMAT means
 * that lns_recover () may be able to rebuild it. */
LnsReport *lns_report_open (const char *path, const LnsOpenOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Another reference on REPORT, for a thread that uses it beside those that may give theirs back. Any thread. */
LnsReport *lns_report_ref (LnsReport *report);

/* Gives a reference back: NULL is fine, no query of it may be running. The last one closes the report. Any thread. */
void lns_report_close (LnsReport *report);

/* Looks whether the file has a newer commit than REPORT. If so, *RET_NEWER gets a snapshot of it, owned by the caller, else NULL.
 * The ids of strings, definitions and lanes are the same in both, and so are the events that REPORT has, by lane and ordinal; but
 * the newer one may have more of each, an event that was open may have ended, and a definition may say more (when a process
 * ended). Files, caches and strings are shared, and lanes that did not change; what is attached to REPORT is attached to
 * the newer one, unless that has more lanes. REPORT stays as it is: both may be used at once, from any threads, and closed in any order.
 *
 * A report whose writer has ended without finishing it gets a newer snapshot with the state LNS_STATE_CUT_OFF.
 *
 * Returns false and sets ERROR if the file was removed, replaced, cut short or damaged, or cannot be read. REPORT can be read
 * further as far as the file is there. Any thread, but a worker: it reads the file. O(definitions + lanes); if nothing is
 * newer, three system calls and a page. The writer cannot commit meanwhile, so call it no more often than each second. */
bool lns_report_refresh (LnsReport *report, LnsReport **ret_newer, LnsError *error)
    __attribute__ ((warn_unused_result));

const LnsReportInfo *lns_report_info (const LnsReport *report);

/* If the writer was killed before it recorded anything: the path of the report that this one was to overwrite, which still
 * exists. Otherwise NULL. Owned by the caller. */
char *lns_report_aside (const LnsReport *report);

/* The value of meta KEY, or NULL. Owned by the report. */
const char *lns_report_meta (const LnsReport *report, const char *key);

/* The I-th key, from 0 on, of those that begin with PREFIX, in the order of strcmp(), and its value in RET_VALUE. After the
 * last one returns NULL and leaves RET_VALUE alone. Both are owned by the report. O(log n). */
const char *
lns_report_meta_at (const LnsReport *report, const char *prefix, size_t i, const char **ret_value);

/* The bytes of string ID, followed by a NUL that RET_SIZE_BYTES (may be NULL) does not count. Never NULL: unknown ids and
 * unreadable chunks give "". The first access to a string chunk reads it. */
const char *lns_report_string (LnsReport *report, uint32_t id, size_t *ret_size_bytes);
uint32_t lns_report_n_strings (const LnsReport *report);

/* The definitions of KIND: an array of the kind's structs, by id. RET_N (may be NULL) gets their number. O(1). */
const void *
lns_report_definitions (const LnsReport *report, LnsDefinitionKind kind, uint32_t *ret_n);

/* The same with the type of each kind's struct: lns_report_processes (report, ret_n), lns_report_threads (), … */
#define LNS_REPORT_DEFINITIONS(name, Type, kind)                                                   \
 static inline const Type *lns_report_##name (const LnsReport *report, uint32_t *ret_n)            \
 {                                                                                                 \
  return lns_report_definitions (report, LNS_DEFINITION_##kind, ret_n);                            \
 }
LNS_REPORT_DEFINITIONS (processes, LnsProcess, PROCESS)
LNS_REPORT_DEFINITIONS (threads, LnsThread, THREAD)
LNS_REPORT_DEFINITIONS (domains, LnsDomain, DOMAIN)
LNS_REPORT_DEFINITIONS (categories, LnsCategory, CATEGORY)
LNS_REPORT_DEFINITIONS (resources, LnsResource, RESOURCE)
LNS_REPORT_DEFINITIONS (schemas, LnsSchema, SCHEMA)
LNS_REPORT_DEFINITIONS (schema_entries, LnsSchemaEntry, SCHEMA_ENTRY)
LNS_REPORT_DEFINITIONS (tracks, LnsTrack, TRACK)
LNS_REPORT_DEFINITIONS (lanes, LnsLane, LANE)
LNS_REPORT_DEFINITIONS (diagnostics, LnsDiagnostic, DIAGNOSTIC)
LNS_REPORT_DEFINITIONS (metas, LnsMetaDefinition, META)
LNS_REPORT_DEFINITIONS (losses, LnsLoss, LOSS)
LNS_REPORT_DEFINITIONS (devices, LnsCudaDevice, DEVICE)
LNS_REPORT_DEFINITIONS (contexts, LnsCudaContext, CONTEXT)
LNS_REPORT_DEFINITIONS (streams, LnsCudaStream, STREAM)
LNS_REPORT_DEFINITIONS (launches, LnsCudaLaunch, LAUNCH)
LNS_REPORT_DEFINITIONS (kept_tables, LnsKeptTable, KEPT_TABLE)
LNS_REPORT_DEFINITIONS (kept_rows, LnsKeptRows, KEPT_ROWS)
LNS_REPORT_DEFINITIONS (modules, LnsModule, MODULE)
LNS_REPORT_DEFINITIONS (frames, LnsStackFrame, FRAME)
LNS_REPORT_DEFINITIONS (call_nodes, LnsCallNode, CALL_NODE)
LNS_REPORT_DEFINITIONS (omissions, LnsOmission, OMISSION)

/* Counts the events that had not ended when the report, or their process, did. Returns false and sets ERROR if a chunk is
 * damaged. O(lanes + nodes above such events). */
bool lns_report_count_open (LnsReport *report, uint64_t *ret_n, LnsError *error);

/* What the lane directory says about a lane. Its last event may be open. */
typedef struct
{
  uint64_t n_events; /* the open one included */
  uint32_t n_chunks; /* the tail counts as one, the open event as one more */
  bool has_open;
  int64_t start_ns, end_ns;
  int64_t busy_ns; /* sum of the durations */
} LnsLaneInfo;

const LnsLaneInfo *lns_report_lane_info (const LnsReport *report, uint32_t lane);

/* Consecutive events of one lane, decoded into columns: arrays of `n` values. Reference-counted and immutable. Columns that
 * were not asked for are NULL; `extra[i]` is also NULL if all values are 0. The open event is a chunk of its own, with the
 * flag LNS_EVENT_OPEN_END and a duration up to the report's end_ns. */
typedef struct
{
  uint32_t lane;
  uint32_t n;
  uint64_t first; /* ordinal of its first event within the lane */
  const int64_t *start_ns;
  const int64_t *duration_ns;
  const uint32_t *name;
  const uint32_t *flags;
  const uint64_t *extra[LNS_EXTRA_MAX];
} LnsChunk;

/* Chunk INDEX (0 … n_chunks-1) of LANE, from the cache or the file, with at least the columns of COLUMN_MASK (bit = column
 * id; 0 = all; start and duration are always included). If it is damaged, returns NULL and sets ERROR. */
const LnsChunk *lns_report_chunk (
    LnsReport *report, uint32_t lane, uint32_t index, LnsColumnMask column_mask, LnsError *error);
void lns_chunk_unref (const LnsChunk *chunk); /* NULL is fine */

/* The index of the chunk with event ORDINAL < n_events. O(log n_chunks); reads no chunk. */
uint32_t lns_report_chunk_of (const LnsReport *report, uint32_t lane, uint64_t ordinal);

/* Finds the ordinal of LANE's first event that ends after TIME_NS, or starts at or after it (for zero-length events);
 * n_events if there is none. Reads at most one chunk. Returns false if that is damaged. O(log n). */
bool lns_report_find (
    LnsReport *report, uint32_t lane, int64_t time_ns, uint64_t *ret_ordinal, LnsError *error);

/* Finds the ordinal of LANE's first event with CORRELATION (not 0), from ordinal FROM on; n_events if there is none, as in
 * lanes of kinds without correlations. Reads the ids of the chunks whose span of ids includes it, usually one. Returns
 * false if one is damaged. O(log n) besides. */
bool lns_report_find_correlation (LnsReport *report,
                                  uint32_t lane,
                                  uint64_t correlation,
                                  uint64_t from,
                                  uint64_t *ret_ordinal,
                                  LnsError *error);

/* The correlation id of event ORDINAL of LANE; 0: it has none. Returns false if its chunk is damaged. O(log n_chunks). */
bool lns_report_correlation (
    LnsReport *report, uint32_t lane, uint64_t ordinal, uint64_t *ret_correlation, LnsError *error);

/* Event I of CHUNK, which has all columns. */
LnsEvent lns_chunk_event (const LnsChunk *chunk, uint32_t i);

/* Event ORDINAL of LANE, whole. */
bool lns_report_event (
    LnsReport *report, uint32_t lane, uint64_t ordinal, LnsEvent *ret_event, LnsError *error);

/* Adds the lanes and tracks of DERIVED to REPORT. DERIVED begins with REPORT's own lanes and tracks; the others are added.
 * Every function that takes a lane then takes these too, and lns_report_lanes () and _tracks () include them; arrays that
 * were returned before stay valid. REPORT takes ownership of DERIVED. Returns false and sets ERROR, without taking
 * ownership, if DERIVED was made from another report or something is attached already. Any thread. */
bool lns_report_attach (LnsReport *report, LnsReport *derived, LnsError *error);

/* Reads the chunks of LANE one after the other without filling the cache: for statistics and exports. Each call reuses the
 * walker's buffers. One thread at a time may use a walker; many walkers may exist at once. */
typedef struct LnsChunkWalker LnsChunkWalker;
LnsChunkWalker *lns_chunk_walker_new (LnsReport *report, uint32_t lane, LnsColumnMask column_mask);
/* The next chunk. NULL at the end; NULL and ERROR if the chunk is damaged, and the next call continues after it. */
const LnsChunk *lns_chunk_walker_next (LnsChunkWalker *walker, LnsError *error);
void lns_chunk_walker_seek (LnsChunkWalker *walker, uint32_t index);
void lns_chunk_walker_free (LnsChunkWalker *walker);

/* How much this reader has done so far: for tests and budgets. */
typedef struct
{
  uint64_t bytes_read; /* from the file, definitions included */
  uint64_t chunks_decoded;
  uint64_t nodes_visited;
  uint64_t cache_bytes; /* held now */
} LnsReportCounters;

LnsReportCounters lns_report_counters (LnsReport *report);
