/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one reader of .rep files (FORMAT.md): a snapshot of what the last commit held. Opening reads
 * the definitions, the lane directory and each lane's top nodes, whatever the size of the report;
 * events and finer nodes are read when asked for, through a cache bounded in bytes.
 *
 * After lns_report_open () every function may be called from any thread at once; what is returned
 * as `const` lives until lns_report_close (). Files are hostile: a damaged chunk makes the one
 * query fail with LNS_ERROR_FORMAT, never the process.
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
  const char *path; /* as given                                                            */
  LnsState state;
  uint64_t n_events;  /* closed, tail and open events                                        */
  uint64_t n_open;    /* of them, open ones                                                  */
  uint64_t n_lost;    /* events that nobody has: lns_loss_events () over lns_report_losses (), and
                    * while the report is not finished those that no loss tells of yet          */
  uint64_t n_waiting; /* live or cut off: events that were recorded and had no place in it yet  */
  int64_t reached_ns; /* live or cut off: up to where all that was recorded is in it            */
  int64_t seen_ns;    /* live or cut off: up to where n_lost and n_waiting are counted          */
  uint64_t file_bytes;
  uint64_t n_commits;
  int64_t start_ns; /* report clock: the earliest event's start (0 where there is none)     */
  int64_t end_ns;   /* to where the report reaches: ≥ the latest end, the last commit's now */
  int64_t t0_monotonic_ns, t0_realtime_ns;
  uint64_t t0_tsc;
  uint8_t uuid[16];
  uint64_t unknown_compatible; /* feature bits that were ignored: say so                        */
} LnsReportInfo;

/* What the viewer shows while it waits. FRACTION is 0–1. Called on the opening thread. */
typedef void (*LnsProgressFunc) (double fraction, void *data);

typedef struct
{
  size_t cache_bytes;        /* 0 = 128 MiB                                                      */
  const atomic_bool *cancel; /* or NULL; true makes the call end with LNS_ERROR_CANCELLED        */
  LnsProgressFunc progress;  /* or NULL                                                          */
  void *progress_data;
} LnsOpenOptions;

/* Opens the report at PATH for reading (read-only; OPTIONS may be NULL). NULL and ERROR if it
 * cannot: LNS_ERROR_FORMAT means that lns_recover () may still get it back. */
LnsReport *lns_report_open (const char *path, const LnsOpenOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));
void lns_report_close (LnsReport *report); /* NULL is fine; nobody may be inside a query         */

const LnsReportInfo *lns_report_info (const LnsReport *report);

/* The path of the report that this one was to overwrite, which is still there, as the writer was
 * killed before it had recorded anything. NULL in all other cases. Owned by the caller. */
char *lns_report_aside (const LnsReport *report);

/* The value of meta KEY, or NULL. Owned by the report. */
const char *lns_report_meta (const LnsReport *report, const char *key);

/* The key of number I, from 0 on, of those that begin with PREFIX, in the order of strcmp(), with its value in
 * RET_VALUE; NULL behind the last, which leaves RET_VALUE as it was. Both are owned by the report. O(log n). */
const char *
lns_report_meta_at (const LnsReport *report, const char *prefix, size_t i, const char **ret_value);

/* The bytes of string ID, followed by a NUL that RET_SIZE_BYTES (may be NULL) does not count.
 * Unknown ids and unreadable chunks give "". Never NULL. Thread-safe; the first look at a string
 * chunk reads it. */
const char *lns_report_string (LnsReport *report, uint32_t id, size_t *ret_size_bytes);
uint32_t lns_report_n_strings (const LnsReport *report);

/* The definitions of KIND: an array of its structs, by id. RET_N (may be NULL) gets their number. O(1). */
const void *
lns_report_definitions (const LnsReport *report, LnsDefinitionKind kind, uint32_t *ret_n);

/* The same for each kind, with the type of its struct: lns_report_processes (report, ret_n) and so on. */
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

/* How many events had not ended when the report, or their process, did. False and ERROR where a chunk is
 * damaged. O(lanes + nodes above such events). */
bool lns_report_count_open (LnsReport *report, uint64_t *ret_n, LnsError *error);

/* What the directory knows of a lane without reading it. Its last event may be open. */
typedef struct
{
  uint64_t n_events; /* the open one included                                                   */
  uint32_t n_chunks; /* the tail counts as one, the open event as one more                      */
  bool has_open;
  int64_t start_ns, end_ns;
  int64_t busy_ns; /* sum of the durations                                                    */
} LnsLaneInfo;

const LnsLaneInfo *lns_report_lane_info (const LnsReport *report, uint32_t lane);

/* Some consecutive events of one lane, decoded into columns: arrays of `n` values.
 * Reference-counted and immutable. `name` and `flags` are NULL where they were not asked for,
 * `extra[i]` is NULL also where the whole column is 0. The open event
 * is a chunk of its own, with flags LNS_EVENT_OPEN_END and a duration up to the report's end_ns. */
typedef struct
{
  uint32_t lane;
  uint32_t n;
  uint64_t first; /* ordinal of its first event within the lane                                 */
  const int64_t *start_ns;
  const int64_t *duration_ns;
  const uint32_t *name;
  const uint32_t *flags;
  const uint64_t *extra[LNS_EXTRA_MAX];
} LnsChunk;

/* Chunk INDEX (0 … n_chunks-1) of LANE with at least the columns of COLUMN_MASK (bit = column id;
 * start and duration always come; 0 = all), from the cache or the file. NULL and ERROR if damaged.
 */
const LnsChunk *lns_report_chunk (
    LnsReport *report, uint32_t lane, uint32_t index, LnsColumnMask column_mask, LnsError *error);
void lns_chunk_unref (const LnsChunk *chunk); /* NULL is fine                                   */

/* The index of the chunk that holds event ORDINAL. ORDINAL < n_events. O(log n_chunks), no reading.
 */
uint32_t lns_report_chunk_of (const LnsReport *report, uint32_t lane, uint64_t ordinal);

/* The ordinal of LANE's first event that ends after TIME_NS or starts at or after it (for
 * zero-length events); n_events where there is none. O(log n), reads at most one chunk. False if
 * that is damaged. */
bool lns_report_find (
    LnsReport *report, uint32_t lane, int64_t time_ns, uint64_t *ret_ordinal, LnsError *error);

/* The ordinal of LANE's first event with CORRELATION (not 0) from ordinal FROM on; n_events where there
 * is none, as in lanes of kinds without correlations. O(log n) and the reading of the chunks, one or few, whose span of ids
 * holds it. False if one is damaged. */
bool lns_report_find_correlation (LnsReport *report,
                                  uint32_t lane,
                                  uint64_t correlation,
                                  uint64_t from,
                                  uint64_t *ret_ordinal,
                                  LnsError *error);

/* Event ORDINAL of LANE, whole. */
bool lns_report_event (
    LnsReport *report, uint32_t lane, uint64_t ordinal, LnsEvent *ret_event, LnsError *error);

/* Gives REPORT the lanes and tracks of DERIVED that stand behind its own, which DERIVED repeats: from now
 * on every function that takes a lane takes these too, and lns_report_lanes () and _tracks () have them all
 * (arrays that were handed out before stay as they are). DERIVED is REPORT's then, and closed with it.
 * False and ERROR, with DERIVED the caller's, where it was made from another report or something is
 * attached already. Any thread. */
bool lns_report_attach (LnsReport *report, LnsReport *derived, LnsError *error);

/* Walks chunks INDEX, INDEX+1, … of LANE once, without filling the cache: for statistics and
 * exports. The buffers are the walker's; each call overwrites the last one's. Not thread-safe by
 * itself; many walkers may live at once. */
typedef struct LnsChunkWalker LnsChunkWalker;
LnsChunkWalker *lns_chunk_walker_new (LnsReport *report, uint32_t lane, LnsColumnMask column_mask);
/* NULL at the end, or (with ERROR filled) where a chunk is damaged: the next call goes on after it.
 */
const LnsChunk *lns_chunk_walker_next (LnsChunkWalker *walker, LnsError *error);
void lns_chunk_walker_seek (LnsChunkWalker *walker, uint32_t index);
void lns_chunk_walker_free (LnsChunkWalker *walker);

/* What this report's reader has done so far: for tests and budgets. */
typedef struct
{
  uint64_t bytes_read; /* from the file, definitions included                              */
  uint64_t chunks_decoded;
  uint64_t nodes_visited;
  uint64_t cache_bytes; /* held now                                                         */
} LnsReportCounters;

LnsReportCounters lns_report_counters (LnsReport *report);
