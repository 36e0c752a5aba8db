/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads chunks of events and nodes through the cache, checks them against the index and decodes them. Finds events by
 * ordinal, time and correlation id. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/store/format/event-codec.h"
#include "src/store/read/report-private.h"

/* An LnsChunk that the cache holds. */
typedef struct
{
  LnsCacheItem item;
  LnsChunk chunk;
  _Alignas(8) uint8_t memory[];
} EventChunk;

/* The correlation ids of a chunk of events. They are cached without the other columns, so that the cache has room for those
 * of many chunks: a search reads few events of many. */
typedef struct
{
  LnsCacheItem item;
  uint64_t first;
  uint32_t n;
  bool ascend; /* mostly, as calls are counted */
  uint64_t ids[];
} IdChunk;

/* Where a key has the level, as the events of the chunk may be in the cache, too. */
#define LEVEL_OF_IDS UINT32_MAX

/* The columns of COLUMN_MASK (0 = all) that KIND has, start and duration among them. */
static LnsColumnMask
lane_kind_mask (LnsLaneKind kind, LnsColumnMask column_mask)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  LnsColumnMask all = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS);

  for (unsigned i = 0; info != NULL && info->extra[i] != 0; i++)
    all |= LNS_COLUMN_BIT (info->extra[i]);
  return (column_mask == 0 ? all : column_mask & all) | LNS_COLUMN_BIT (LNS_COLUMN_START) |
         LNS_COLUMN_BIT (LNS_COLUMN_DURATION);
}

/* Divides MEMORY (NULL: only measures) among the columns of COLUMN_MASK that CHUNK gets: of the kind's own columns only
 * those that the chunk has. Returns how many bytes they take. */
static size_t
place_columns (const LnsChunkView *view,
               LnsColumnMask column_mask,
               uint8_t *memory,
               LnsChunk *chunk)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info ((LnsLaneKind)view->header.lane_kind);
  const size_t n = view->header.n, wide_bytes = 8 * n, narrow_bytes = 8 * ((n + 1) / 2);
  size_t at = 0;

  *chunk =
      (LnsChunk){ view->header.lane, view->header.n, view->header.first, NULL, NULL, NULL, NULL,
                  { NULL } };
#define PLACE(field, bytes)                                                                        \
 do                                                                                                \
  {                                                                                                \
   if (memory != NULL)                                                                             \
    chunk->field = (const void *)(memory + at);                                                    \
   at += (bytes);                                                                                  \
  }                                                                                                \
 while (0)
  PLACE (start_ns, wide_bytes);
  PLACE (duration_ns, wide_bytes);
  if (column_mask & LNS_COLUMN_BIT (LNS_COLUMN_NAME))
    PLACE (name, narrow_bytes);
  if (column_mask & LNS_COLUMN_BIT (LNS_COLUMN_FLAGS))
    PLACE (flags, narrow_bytes);
  for (unsigned i = 0; info != NULL && info->extra[i] != 0; i++)
    if (column_mask & LNS_COLUMN_BIT (info->extra[i]) &&
        lns_chunk_column (view, info->extra[i]) != NULL)
      PLACE (extra[i], wide_bytes);
#undef PLACE
  return at;
}

/* Bytes that the columns of VIEW in COLUMN_MASK take decoded, with each array aligned to 8. */
static size_t
columns_bytes (const LnsChunkView *view, LnsColumnMask column_mask)
{
  LnsChunk chunk;

  return place_columns (view, column_mask, NULL, &chunk);
}

/* Decodes the columns of VIEW in COLUMN_MASK into MEMORY, of that many bytes, and points RET_CHUNK to them. */
static bool
decode_columns (const LnsChunkView *view,
                LnsColumnMask column_mask,
                void *memory,
                LnsChunk *ret_chunk,
                LnsError *error)
{
  place_columns (view, column_mask, memory, ret_chunk);
  /* The arrays are const for everyone but this function, which fills them. */
  LnsEventColumns columns = { (int64_t *)ret_chunk->start_ns,
                              (int64_t *)ret_chunk->duration_ns,
                              (uint32_t *)ret_chunk->name,
                              (uint32_t *)ret_chunk->flags,
                              { NULL } };
  for (int i = 0; i < LNS_EXTRA_MAX; i++)
    columns.extra[i] = (uint64_t *)ret_chunk->extra[i];
  return lns_events_decode (view, &columns, error);
}

/* A chunk whose bytes are SQLite's, until end_chunk (). */
typedef struct
{
  LnsConnection *connection; /* NULL for a tail */
  LnsChunkView view;
} Reading;

static void
end_chunk (Reading *reading)
{
  if (reading->connection != NULL)
    sqlite3_reset (reading->connection->statements[LNS_QUERY_CHUNK]);
  reading->connection = NULL;
}

/* Reads chunk INDEX of LEVEL of LANE by CONNECTION, and checks that it is the one that the index means. end_chunk ()
 * after success; before it the connection serves nothing else. */
static bool
begin_chunk (LnsReport *report,
             LnsConnection *connection,
             uint32_t lane,
             uint32_t level,
             uint32_t index,
             Reading *ret_reading,
             LnsError *error)
{
  const LnsLaneIndex *lane_index = _lns_report_lane_index (report, lane, error);
  const uint8_t *bytes = NULL;
  size_t size_bytes = 0;
  LnsError cause = { 0 };

  if (lane_index == NULL)
    return false;
  const LnsLevelIndex *level_index = &lane_index->levels[level];
  const LnsIndexEntry *entry = &level_index->entries.items[index];
  *ret_reading = (Reading){ .connection = NULL };
  if (entry->row == LNS_ROW_TAIL)
    {
      bytes = level_index->tail.bytes;
      size_bytes = level_index->tail.size_bytes;
    }
  else
    {
      sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_CHUNK);
      if (statement == NULL)
        return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
      sqlite3_bind_int64 (statement, 1, entry->row);
      int step = sqlite3_step (statement);
      if (step != SQLITE_ROW && step != SQLITE_DONE)
        {
          _lns_report_file_sqlite_error (&report->shared->file, connection, error);
          sqlite3_reset (statement);
          return false;
        }
      ret_reading->connection = connection;
      if (step == SQLITE_ROW)
        _lns_connection_blob (statement, 0, &bytes, &size_bytes);
    }

  const LnsChunkHeader *header = &ret_reading->view.header;
  bool right = bytes != NULL && lns_chunk_parse (bytes, size_bytes, &ret_reading->view, &cause);
  if (right)
    right = header->kind == (level == 0 ? LNS_CHUNK_EVENTS : LNS_CHUNK_NODES) &&
            header->lane == lane && header->level == level && header->first == entry->first &&
            header->n == entry->n && header->start_ns == entry->start_ns &&
            header->lane_kind == report->lanes[lane]->kind &&
            memcmp (header->uuid, report->info.uuid, sizeof header->uuid) == 0;
  if (!right)
    {
      end_chunk (ret_reading);
      return _lns_report_file_damaged (
          &report->shared->file, error, "chunk %u of level %u of lane %u: %s", index, level, lane,
          cause.message[0] != '\0' ? cause.message : "it is another one or missing");
    }
  atomic_fetch_add_explicit (&report->shared->chunks_decoded, 1, memory_order_relaxed);
  return true;
}

/* Adds the report's path to an error of the codecs. */
static bool
decode_failed (const LnsReport *report, const LnsError *cause, LnsError *error)
{
  return _lns_report_file_damaged (&report->shared->file, error, "%s", cause->message);
}

static bool
times_fit (const LnsIndexEntry *entry, int64_t last_end_ns)
{
  return entry->row == LNS_ROW_TAIL ? last_end_ns <= entry->end_ns : last_end_ns == entry->end_ns;
}

static EventChunk *
load_events (LnsReport *report,
             LnsConnection *connection,
             uint32_t lane,
             uint32_t index,
             LnsColumnMask column_mask,
             LnsError *error)
{
  Reading reading;
  LnsError cause = { 0 };

  if (!begin_chunk (report, connection, lane, 0, index, &reading, error))
    return NULL;
  const size_t memory_bytes = columns_bytes (&reading.view, column_mask);
  EventChunk *chunk = lns_realloc (NULL, sizeof *chunk + memory_bytes, 1);
  bool ok = decode_columns (&reading.view, column_mask, chunk->memory, &chunk->chunk, &cause) ||
            decode_failed (report, &cause, error);
  end_chunk (&reading);
  if (ok)
    {
      const LnsIndexEntry *entry = &report->lanes[lane]->index->levels[0].entries.items[index];
      const uint32_t last = chunk->chunk.n - 1;
      if (!times_fit (entry, chunk->chunk.start_ns[last] + chunk->chunk.duration_ns[last]))
        ok = _lns_report_file_damaged (&report->shared->file, error,
                                       "chunk %u of lane %u ends at another time", index, lane);
    }
  if (!ok)
    {
      free (chunk);
      return NULL;
    }
  chunk->item = (LnsCacheItem){ .column_mask = column_mask,
                                .size_bytes = sizeof *chunk + memory_bytes,
                                .refs = 1 };
  return chunk;
}

/* The open event as a chunk of its own. */
static EventChunk *
make_open (const LnsReport *report, uint32_t lane)
{
  const LnsLaneState *state = report->lanes[lane];
  EventChunk *chunk = lns_calloc (1, sizeof *chunk + sizeof (LnsEvent));
  LnsEvent *copy = (void *)chunk->memory;

  *copy = state->open;
  chunk->item = (LnsCacheItem){ .size_bytes = sizeof *chunk + sizeof *copy, .refs = 1 };
  chunk->chunk = (LnsChunk){
    lane,         1,       state->n_closed, &copy->start_ns, &copy->duration_ns, &copy->name,
    &copy->flags, { NULL }
  };
  for (int i = 0; i < LNS_EXTRA_MAX; i++)
    chunk->chunk.extra[i] = copy->extra[i] != 0 ? &copy->extra[i] : NULL;
  return chunk;
}

/* Where the cache, which snapshots share, has chunk INDEX of LEVEL of LANE. The tail of a lane with so many events is in no other
 * snapshot another one. Returns false if the lane's index is damaged. */
static bool
find_key (LnsReport *report,
          uint32_t lane,
          uint32_t level,
          uint32_t index,
          LnsChunkKey *ret_key,
          LnsError *error)
{
  const LnsLaneIndex *lane_index = _lns_report_lane_index (report, lane, error);

  if (lane_index == NULL)
    return false;
  const LnsIndexEntry *entry =
      &lane_index->levels[level == LEVEL_OF_IDS ? 0 : level].entries.items[index];
  *ret_key = (LnsChunkKey){ lane, level, index,
                            entry->row == LNS_ROW_TAIL ? report->lanes[lane]->n_closed : 0 };
  return true;
}

const LnsChunk *
_lns_report_event_chunk (LnsReport *report,
                         uint32_t lane,
                         uint32_t index,
                         LnsColumnMask column_mask,
                         bool cached_only,
                         LnsError *error)
{
  if (lane >= report->n_lanes || index >= report->lanes[lane]->info.n_chunks)
    {
      lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: there is no chunk %u in lane %u",
                     report->shared->file.path, index, lane);
      return NULL;
    }
  if (index == report->lanes[lane]->n_chunks)
    return &make_open (report, lane)->chunk;
  LnsChunkKey key;
  if (!find_key (report, lane, 0, index, &key, error))
    return NULL;
  column_mask = lane_kind_mask (report->lanes[lane]->kind, column_mask);
  EventChunk *chunk =
      (EventChunk *)_lns_chunk_cache_get (report->shared->cache, key, column_mask, &column_mask);
  if (chunk == NULL && !cached_only)
    {
      LnsConnection *connection = _lns_report_file_take (&report->shared->file, error);
      if (connection == NULL)
        return NULL;
      chunk = load_events (report, connection, lane, index, column_mask, error);
      _lns_report_file_give (&report->shared->file, connection);
      if (chunk != NULL)
        {
          chunk->item.key = key;
          _lns_chunk_cache_put (report->shared->cache, &chunk->item);
        }
    }
  return chunk != NULL ? &chunk->chunk : NULL;
}

const LnsChunk *
lns_report_chunk (
    LnsReport *report, uint32_t lane, uint32_t index, LnsColumnMask column_mask, LnsError *error)
{
  return _lns_report_event_chunk (_lns_report_of (report, lane), lane, index, column_mask, false,
                                  error);
}

void
lns_chunk_unref (const LnsChunk *chunk)
{
  if (chunk != NULL)
    _lns_cache_item_unref (
        &((EventChunk *)((uintptr_t)chunk - offsetof (EventChunk, chunk)))->item);
}

/* A new item of the chunk VIEW, without its key; NULL and ERROR if the chunk is damaged. */
typedef LnsCacheItem *(*DecodeFunc) (const LnsChunkView *view, LnsError *error);

/* The item of chunk INDEX of LEVEL of LANE, from the cache or the file. NULL and ERROR if it is damaged. NULL without ERROR if CACHED_ONLY and it is
 * not in the cache. */
static LnsCacheItem *
get_item (LnsReport *report,
          uint32_t lane,
          uint32_t level,
          uint32_t index,
          DecodeFunc decode,
          bool cached_only,
          LnsError *error)
{
  LnsChunkKey key;
  LnsColumnMask column_mask;
  LnsConnection *connection;
  Reading reading;
  LnsError cause = { 0 };

  if (!find_key (report, lane, level, index, &key, error))
    return NULL;
  LnsCacheItem *item = _lns_chunk_cache_get (report->shared->cache, key, 0, &column_mask);
  if (item != NULL || cached_only ||
      (connection = _lns_report_file_take (&report->shared->file, error)) == NULL)
    return item;
  if (begin_chunk (report, connection, lane, level == LEVEL_OF_IDS ? 0 : level, index, &reading,
                   error))
    {
      item = decode (&reading.view, &cause);
      if (item == NULL)
        decode_failed (report, &cause, error);
      end_chunk (&reading);
    }
  _lns_report_file_give (&report->shared->file, connection);
  if (item != NULL)
    {
      item->key = key;
      _lns_chunk_cache_put (report->shared->cache, item);
    }
  return item;
}

static LnsCacheItem *
decode_nodes (const LnsChunkView *view, LnsError *error)
{
  const uint32_t n = view->header.n;
  LnsNodeChunk *chunk;
  const size_t size_bytes = sizeof *chunk + n * sizeof *chunk->nodes;

  chunk = lns_realloc (NULL, size_bytes, 1);
  chunk->item = (LnsCacheItem){ .size_bytes = size_bytes, .refs = 1 };
  chunk->first = view->header.first;
  chunk->n = n;
  if (lns_nodes_decode (view, chunk->nodes, error))
    return &chunk->item;
  free (chunk);
  return NULL;
}

LnsNodeChunk *
_lns_report_node_chunk (LnsReport *report,
                        uint32_t lane,
                        uint32_t level,
                        uint32_t index,
                        bool cached_only,
                        LnsError *error)
{
  return (LnsNodeChunk *)get_item (report, lane, level, index, decode_nodes, cached_only, error);
}

uint32_t
_lns_level_index_of (const LnsLevelIndex *level, uint64_t ordinal)
{
  const LnsIndexEntry *entries = level->entries.items;

  return (uint32_t)LNS_LOWER_BOUND (level->entries.n, i, entries[i].first <= ordinal) - 1;
}

uint32_t
lns_report_chunk_of (const LnsReport *report, uint32_t lane, uint64_t ordinal)
{
  report = _lns_report_of (report, lane);
  const LnsLaneState *state = report->lanes[lane];

  if (ordinal >= state->n_closed)
    return state->n_chunks;
  /* The index is a cache: loading it does not change the report for callers. */
  const LnsLaneIndex *index = _lns_report_lane_index ((LnsReport *)(uintptr_t)report, lane, NULL);
  return index != NULL ? _lns_level_index_of (&index->levels[0], ordinal) : 0;
}

bool
lns_report_find (
    LnsReport *report, uint32_t lane, int64_t time_ns, uint64_t *ret_ordinal, LnsError *error)
{
  report = _lns_report_of (report, lane);
  const LnsLaneIndex *index = _lns_report_lane_index (report, lane, error);

  if (index == NULL)
    return false;
  const LnsLaneState *state = report->lanes[lane];
  const LnsIndexEntries *events = &index->levels[0].entries;
  /* The first chunk that ends at TIME_NS or later. */
  const uint64_t at = LNS_LOWER_BOUND (events->n, i, events->items[i].end_ns < time_ns);
  *ret_ordinal = state->n_closed;
  if (at < events->n)
    {
      const LnsChunk *chunk =
          lns_report_chunk (report, lane, (uint32_t)at, LNS_COLUMN_BIT (LNS_COLUMN_START), error);
      if (chunk == NULL)
        return false;
      *ret_ordinal = chunk->first +
                     LNS_LOWER_BOUND (chunk->n, i,
                                      chunk->start_ns[i] < time_ns &&
                                          chunk->start_ns[i] + chunk->duration_ns[i] <= time_ns);
      lns_chunk_unref (chunk);
    }
  if (*ret_ordinal == state->n_closed && state->info.has_open && state->open.start_ns < time_ns &&
      state->info.end_ns <= time_ns)
    *ret_ordinal = state->info.n_events;
  return true;
}

static bool
has_event (const LnsReport *report, uint32_t lane, uint64_t ordinal, LnsError *error)
{
  if (lane < report->n_lanes && ordinal < report->lanes[lane]->info.n_events)
    return true;
  return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: lane %u has no event %llu",
                        report->shared->file.path, lane, (unsigned long long)ordinal);
}

static LnsCacheItem *
decode_ids (const LnsChunkView *view, LnsError *error)
{
  const uint32_t n = view->header.n;
  IdChunk *chunk;
  const size_t size_bytes = sizeof *chunk + n * sizeof *chunk->ids;

  chunk = lns_realloc (NULL, size_bytes, 1);
  chunk->item = (LnsCacheItem){ .size_bytes = size_bytes, .refs = 1 };
  chunk->first = view->header.first;
  chunk->n = n;
  if (!lns_chunk_decode_u64 (view, LNS_COLUMN_CORRELATION, chunk->ids))
    {
      lns_error_set (error, LNS_ERROR_FORMAT, 0, "an event chunk of lane %u is damaged",
                     view->header.lane);
      free (chunk);
      return NULL;
    }
  chunk->ascend = true;
  for (uint32_t i = 1; i < n; i++)
    chunk->ascend &= chunk->ids[i - 1] <= chunk->ids[i];
  return &chunk->item;
}

/* The ids of chunk INDEX of LANE, whose kind has correlations; release it with _lns_cache_item_unref (). NULL and ERROR if
 * it is damaged. */
static IdChunk *
ids_of (LnsReport *report, uint32_t lane, uint32_t index, LnsError *error)
{
  return (IdChunk *)get_item (report, lane, LEVEL_OF_IDS, index, decode_ids, false, error);
}

/* Searches chunk INDEX of LANE for CORRELATION, from ordinal FROM on. Returns false if it is damaged. */
static bool
find_in_chunk (LnsReport *report,
               uint32_t lane,
               uint32_t index,
               uint64_t correlation,
               uint64_t from,
               uint64_t *ret_ordinal,
               LnsError *error)
{
  IdChunk *chunk = ids_of (report, lane, index, error);
  if (chunk == NULL)
    return false;
  uint32_t i = from > chunk->first ? (uint32_t)(from - chunk->first) : 0;
  if (chunk->ascend && i < chunk->n)
    i += (uint32_t)LNS_LOWER_BOUND (chunk->n - i, k, chunk->ids[i + k] < correlation);
  else
    while (i < chunk->n && chunk->ids[i] != correlation)
      i++;
  if (i < chunk->n && chunk->ids[i] == correlation)
    *ret_ordinal = chunk->first + i;
  _lns_cache_item_unref (&chunk->item);
  return true;
}

bool
lns_report_correlation (
    LnsReport *report, uint32_t lane, uint64_t ordinal, uint64_t *ret_correlation, LnsError *error)
{
  report = _lns_report_of (report, lane);
  if (!has_event (report, lane, ordinal, error))
    return false;
  const LnsLaneState *state = report->lanes[lane];
  const int at = lns_lane_kind_extra (state->kind, LNS_COLUMN_CORRELATION);
  if (at < 0 || ordinal >= state->n_closed)
    {
      *ret_correlation = at < 0 ? 0 : state->open.extra[at];
      return true;
    }
  const LnsLaneIndex *index = _lns_report_lane_index (report, lane, error);
  IdChunk *chunk =
      index != NULL ? ids_of (report, lane, _lns_level_index_of (&index->levels[0], ordinal), error)
                    : NULL;
  if (chunk == NULL)
    return false;
  *ret_correlation = chunk->ids[ordinal - chunk->first];
  _lns_cache_item_unref (&chunk->item);
  return true;
}

bool
lns_report_find_correlation (LnsReport *report,
                             uint32_t lane,
                             uint64_t correlation,
                             uint64_t from,
                             uint64_t *ret_ordinal,
                             LnsError *error)
{
  report = _lns_report_of (report, lane);
  const LnsLaneIndex *index = _lns_report_lane_index (report, lane, error);
  if (index == NULL)
    return false;
  const uint64_t n_events = report->lanes[lane]->info.n_events;
  *ret_ordinal = n_events;
  if (correlation == 0 || from >= n_events ||
      lns_lane_kind_extra (report->lanes[lane]->kind, LNS_COLUMN_CORRELATION) < 0)
    return true;
  /* The first chunk up to which ids reach CORRELATION. */
  const LnsIndexEntries *events = &index->levels[0].entries;
  const uint32_t first = lns_report_chunk_of (report, lane, from);
  uint32_t at = first + (uint32_t)LNS_LOWER_BOUND (events->n - first, i,
                                                   events->items[first + i].up_to < correlation);
  for (; at < events->n && events->items[at].from <= correlation; at++)
    if (!find_in_chunk (report, lane, at, correlation, from, ret_ordinal, error) ||
        *ret_ordinal != n_events)
      return *ret_ordinal != n_events;
  return true;
}

LnsEvent
lns_chunk_event (const LnsChunk *chunk, uint32_t i)
{
  LnsEvent event = {
    chunk->start_ns[i], chunk->duration_ns[i], chunk->name[i], chunk->flags[i], { 0 }
  };

  for (int e = 0; e < LNS_EXTRA_MAX; e++)
    event.extra[e] = chunk->extra[e] != NULL ? chunk->extra[e][i] : 0;
  return event;
}

bool
lns_report_event (
    LnsReport *report, uint32_t lane, uint64_t ordinal, LnsEvent *ret_event, LnsError *error)
{
  report = _lns_report_of (report, lane);
  if (!has_event (report, lane, ordinal, error))
    return false;
  /* If the index is damaged, lns_report_chunk () fails for any chunk. */
  const LnsChunk *chunk =
      lns_report_chunk (report, lane, lns_report_chunk_of (report, lane, ordinal), 0, error);
  if (chunk == NULL)
    return false;
  *ret_event = lns_chunk_event (chunk, (uint32_t)(ordinal - chunk->first));
  lns_chunk_unref (chunk);
  return true;
}

/* ---- Walks ------------------------------------------------------------------------------------- */

struct LnsChunkWalker
{
  LnsReport *report;
  uint32_t lane;
  LnsColumnMask column_mask;
  uint32_t index;
  void *memory;
  size_t memory_bytes;
  LnsChunk chunk;
  const LnsChunk *open; /* the reference to the open event's chunk */
};

LnsChunkWalker *
lns_chunk_walker_new (LnsReport *report, uint32_t lane, LnsColumnMask column_mask)
{
  LnsChunkWalker *walker = lns_calloc (1, sizeof *walker);

  report = _lns_report_of (report, lane);
  walker->report = report;
  walker->lane = lane;
  walker->column_mask = lane_kind_mask (
      lane < report->n_lanes ? report->lanes[lane]->kind : LNS_LANE_NONE, column_mask);
  return walker;
}

static bool
decode_here (LnsChunkWalker *walker, const Reading *reading, LnsError *error)
{
  const size_t needed_bytes = columns_bytes (&reading->view, walker->column_mask);
  LnsError cause = { 0 };

  if (needed_bytes > walker->memory_bytes)
    {
      walker->memory = lns_realloc (walker->memory, needed_bytes, 1);
      walker->memory_bytes = needed_bytes;
    }
  if (!decode_columns (&reading->view, walker->column_mask, walker->memory, &walker->chunk, &cause))
    return decode_failed (walker->report, &cause, error);
  return true;
}

const LnsChunk *
lns_chunk_walker_next (LnsChunkWalker *walker, LnsError *error)
{
  LnsReport *report = walker->report;
  Reading reading;

  if (walker->lane >= report->n_lanes ||
      walker->index >= report->lanes[walker->lane]->info.n_chunks)
    return NULL;
  const uint32_t index = walker->index++;
  if (index == report->lanes[walker->lane]->n_chunks)
    {
      if (walker->open == NULL)
        walker->open = lns_report_chunk (report, walker->lane, index, 0, error);
      return walker->open;
    }
  /* Borrowed for one chunk only: merging thousands of lanes takes as many walkers, and each connection is an open file with
   * a cache of its own. */
  LnsConnection *connection = _lns_report_file_take (&report->shared->file, error);
  bool ok = connection != NULL &&
            begin_chunk (report, connection, walker->lane, 0, index, &reading, error);
  if (ok)
    {
      ok = decode_here (walker, &reading, error);
      end_chunk (&reading);
    }
  if (connection != NULL)
    _lns_report_file_give (&report->shared->file, connection);
  return ok ? &walker->chunk : NULL;
}

void
lns_chunk_walker_seek (LnsChunkWalker *walker, uint32_t index)
{
  walker->index = index;
}

void
lns_chunk_walker_free (LnsChunkWalker *walker)
{
  if (walker == NULL)
    return;
  lns_chunk_unref (walker->open);
  free (walker->memory);
  free (walker);
}
