/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the reader's files. */

#pragma once

#include "src/base/array.h"
#include "src/store/read/chunk-cache.h"
#include "src/store/format/chunk-format.h"
#include "src/store/format/definition-codec.h"
#include "src/store/format/node.h"
#include "src/store/read/report-file.h"
#include "src/store/read/report.h"

/* A chunk of a lane's level, from lns_chunk_index. The last one may be the tail. */
typedef struct
{
  uint64_t first; /* ordinal of its first event or node */
  int64_t start_ns, end_ns;
  int64_t row;    /* lns_chunk.id, or LNS_ROW_TAIL */
  uint64_t up_to; /* the largest correlation in this chunk and those before it */
  uint64_t from;  /* the least one in this chunk and those behind it */
  uint32_t n;
} LnsIndexEntry;

typedef LNS_ARRAY (LnsIndexEntry) LnsIndexEntries;

#define LNS_ROW_TAIL INT64_MIN

/* The bytes of a tail, not decoded. */
typedef struct
{
  uint8_t *bytes; /* NULL = none */
  size_t size_bytes;
} LnsBlob;

typedef struct
{
  LnsIndexEntries entries; /* fewer than UINT32_MAX */
  uint64_t n;              /* events (without the open one) or nodes of them all */
  LnsBlob tail;            /* its bytes are LnsLaneState.tails' if there are these */
} LnsLevelIndex;

/* A lane's index. Immutable. */
typedef struct
{
  uint32_t n_levels; /* levels[0] are the events, then nodes; the top ones are LnsLaneState.top */
  LnsLevelIndex levels[LNS_NODE_LEVELS + 1];
} LnsLaneIndex;

/* What a lane holds. Snapshots share those that are the same in both. */
typedef struct
{
  atomic_uint refs;
  LnsLaneInfo info;
  LnsLaneKind kind;
  uint64_t n_closed;  /* events without the open one */
  uint32_t n_chunks;  /* event chunks without the open event's */
  uint32_t top_level; /* 0 = no events */
  uint32_t n_top;
  LnsNode *top; /* the nodes of top_level; owned */
  LnsBlob
      *tails; /* by slot, LNS_N_TAIL_SLOTS: those of the snapshot, if the report was live; owned */
  LnsEvent open;                  /* where info.has_open */
  int64_t end_ns;                 /* of the last closed event */
  _Atomic (LnsLaneIndex *) index; /* NULL until the first query; owned */
} LnsLaneState;

/* Slots of a lane's tail: the open event, events, nodes of level 1, 2, …. */
#define LNS_TAIL_OPEN    0
#define LNS_TAIL_EVENTS  1
#define LNS_N_TAIL_SLOTS (LNS_TAIL_EVENTS + 1 + LNS_NODE_LEVELS)

/* The records of one kind of definition. */
typedef struct
{
  void *records;
  uint32_t n;
  size_t n_allocated;
} LnsDefinitionTable;

typedef struct
{
  char *key, *value; /* owned */
} LnsReportMeta;

/* Breaks each circle of parents by removing one process's parent. PROCESSES are N records, STRIDE_BYTES apart, that begin
 * with an LnsProcess, whose parents are below N or LNS_ID_NONE. *RET_N_ENDED gets the number of circles. Returns false if
 * memory runs out. O(N). */
bool
_lns_report_end_circles (void *processes, size_t stride_bytes, uint32_t n, uint32_t *ret_n_ended);

/* A string that was read. */
typedef struct
{
  uint32_t size_bytes;
  char bytes[]; /* and a NUL */
} LnsReportString;

#define LNS_STRINGS_PER_PAGE 4096
typedef struct
{
  _Atomic (const LnsReportString *) strings[LNS_STRINGS_PER_PAGE]; /* NULL: not read yet */
} LnsStringPage;

/* Pages of consecutive ids. They are found through shelves, so that ids can be added while others are looked up. */
#define LNS_PAGES_PER_SHELF 1024
typedef struct
{
  _Atomic (LnsStringPage *) pages[LNS_PAGES_PER_SHELF];
} LnsStringShelf;
#define LNS_STRING_SHELVES (UINT32_MAX / LNS_STRINGS_PER_PAGE / LNS_PAGES_PER_SHELF + 1)

/* What the strings of pages point into. */
typedef struct LnsStringBlock
{
  struct LnsStringBlock *next;
  _Alignas(8) char bytes[];
} LnsStringBlock;

/* What all snapshots of a file share. Any thread. */
typedef struct
{
  atomic_uint refs;
  LnsReportFile file;
  LnsChunkCache *cache;
  atomic_uint_fast64_t chunks_decoded, nodes_visited;
  _Atomic (LnsStringShelf *) string_shelves[LNS_STRING_SHELVES];
  _Atomic (LnsStringBlock *) string_blocks;
} LnsReportShared;

/* A snapshot: immutable, but for what is attached, and for the indexes of lanes, which are read when they are needed. */
struct LnsReport
{
  atomic_uint refs;
  LnsReportShared *shared;
  LnsReportInfo info;

  LNS_ARRAY (LnsReportMeta) meta; /* ascending */
  LnsDefinitionTable definitions[LNS_N_DEFINITION_KINDS];
  int64_t last_definitions; /* the lns_def.id of the last chunk of definitions */
  LnsLaneState **lanes;     /* n_lanes: as many as there are LnsLane */
  uint32_t n_lanes;
  bool is_live; /* it is being recorded: everything but closed chunks will change */
  uint32_t n_strings;

  _Atomic (LnsReport *) derived; /* attached: has the lanes from n_lanes on; owned; or NULL */
};

/* The report that has LANE: REPORT, or the one that is attached to it. */
static inline LnsReport *
_lns_report_of (const LnsReport *report, uint32_t lane)
{
  LnsReport *derived =
      lane < report->n_lanes ? NULL : atomic_load_explicit (&report->derived, memory_order_acquire);
  return derived != NULL ? derived : (LnsReport *)(uintptr_t)report;
}

/* LANE's index, which the first call reads. NULL and ERROR if it is damaged. Any thread. */
const LnsLaneIndex *_lns_report_lane_index (LnsReport *report, uint32_t lane, LnsError *error);

/* Reads every lane's index, which opening does not, and returns false if one is damaged. One read transaction.
 * O(chunks). */
bool _lns_report_check_lanes (LnsReport *report, LnsError *error);

/* The decoded nodes of a chunk. */
typedef struct
{
  LnsCacheItem item;
  uint64_t first;
  uint32_t n;
  LnsNode nodes[];
} LnsNodeChunk;

/* Chunk INDEX of LEVEL ≥ 1 of LANE; release it with _lns_cache_item_unref (). NULL and ERROR if it is damaged. NULL without
 * ERROR if CACHED_ONLY and it is not in the cache. */
LnsNodeChunk *_lns_report_node_chunk (LnsReport *report,
                                      uint32_t lane,
                                      uint32_t level,
                                      uint32_t index,
                                      bool cached_only,
                                      LnsError *error);

/* lns_report_chunk (), but NULL without ERROR if CACHED_ONLY and it is not in the cache. */
const LnsChunk *_lns_report_event_chunk (LnsReport *report,
                                         uint32_t lane,
                                         uint32_t index,
                                         LnsColumnMask column_mask,
                                         bool cached_only,
                                         LnsError *error);

/* The index of the entry with ORDINAL < n. O(log entries). */
uint32_t _lns_level_index_of (const LnsLevelIndex *level, uint64_t ordinal);

/* A snapshot without anything, of SHARED, which it takes over with one reference. NULL if memory runs out. */
LnsReport *_lns_report_new (LnsReportShared *shared);

/* Reads REPORT, which is empty, within a read transaction of CONNECTION: what is new since OLDER, an earlier snapshot of the
 * same report, or all of it if that is NULL. */
bool _lns_report_read (LnsReport *report,
                       const LnsReport *older,
                       LnsConnection *connection,
                       const LnsOpenOptions *options,
                       LnsError *error);

/* The steps of that, in order. */
bool _lns_report_read_meta (LnsReport *report, LnsConnection *connection, LnsError *error);
bool _lns_report_read_definitions (LnsReport *report,
                                   const LnsReport *older,
                                   LnsConnection *connection,
                                   const LnsOpenOptions *options,
                                   LnsError *error);
bool _lns_report_read_lanes (LnsReport *report,
                             const LnsReport *older,
                             LnsConnection *connection,
                             const LnsOpenOptions *options,
                             LnsError *error);

/* Reads 32 hexadecimal digits. False for any other TEXT, and for NULL. */
bool _lns_report_parse_uuid (const char *text, uint8_t ret_uuid[16]);

/* Whether somebody writes the report of PATH, whose meta value "writer" is WRITER (or NULL). */
bool _lns_report_is_written (const char *path, const char *writer);

void _lns_report_free_definitions (LnsReport *report);
void _lns_report_free_lanes (LnsReport *report);
void _lns_report_free_strings (LnsReportShared *shared);
