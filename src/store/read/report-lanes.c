/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The directory of lanes, which opening reads, and each lane's index, which the first query of the lane reads: the lane's
 * chunks and their time spans. */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/store/format/event-codec.h"
#include "src/store/read/report-private.h"

const LnsLaneInfo *
lns_report_lane_info (const LnsReport *report, uint32_t lane)
{
  report = _lns_report_of (report, lane);
  return lane < report->n_lanes ? &report->lanes[lane]->info : NULL;
}

static void
free_index (const LnsLaneState *state, LnsLaneIndex *index)
{
  if (index == NULL)
    return;
  for (unsigned level = 0; level <= LNS_NODE_LEVELS; level++)
    {
      lns_array_clear (&index->levels[level].entries);
      if (state->tails == NULL)
        free (index->levels[level].tail.bytes);
    }
  free (index);
}

static void
free_tails (LnsBlob *tails)
{
  for (unsigned slot = 0; tails != NULL && slot < LNS_N_TAIL_SLOTS; slot++)
    free (tails[slot].bytes);
  free (tails);
}

static void
unref_state (LnsLaneState *state)
{
  if (state == NULL || atomic_fetch_sub_explicit (&state->refs, 1, memory_order_acq_rel) != 1)
    return;
  free_index (state, state->index);
  free (state->top);
  free_tails (state->tails);
  free (state);
}

void
_lns_report_free_lanes (LnsReport *report)
{
  for (uint32_t lane = 0; report->lanes != NULL && lane < report->n_lanes; lane++)
    unref_state (report->lanes[lane]);
  free (report->lanes);
}

/* Nodes of LEVEL ≥ 1 that N_EVENTS need. */
static uint64_t
nodes_for (uint64_t n_events, unsigned level)
{
  const uint64_t each = lns_node_events (level);

  return n_events / each + (n_events % each > 0);
}

/* Copies the rows of LANE's tail with slots from FIRST_SLOT to END_SLOT - 1 into TAILS. */
static bool
read_tails (LnsReport *report,
            LnsConnection *connection,
            uint32_t lane,
            unsigned first_slot,
            unsigned end_slot,
            LnsBlob *tails,
            LnsError *error)
{
  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_TAILS);
  int step = SQLITE_ERROR;

  if (statement == NULL)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  sqlite3_bind_int64 (statement, 1, (int64_t)lane << 8 | first_slot);
  sqlite3_bind_int64 (statement, 2, (int64_t)lane << 8 | end_slot);
  while ((step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      const uint8_t *bytes;
      size_t size_bytes;
      int64_t id = sqlite3_column_int64 (statement, 0);
      unsigned slot = (unsigned)(id & 0xff);
      if (id >> 8 != lane || slot < first_slot || slot >= end_slot || tails[slot].bytes != NULL ||
          !_lns_connection_blob (statement, 1, &bytes, &size_bytes) || size_bytes == 0)
        return _lns_report_file_damaged (&report->shared->file, error, "the tail of lane %u", lane);
      tails[slot] = (LnsBlob){ malloc (size_bytes), size_bytes };
      if (tails[slot].bytes == NULL)
        return _lns_report_file_no_memory (&report->shared->file, error);
      memcpy (tails[slot].bytes, bytes, size_bytes);
    }
  if (step != SQLITE_DONE)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  return true;
}

static bool
parse_top (
    LnsReport *report, uint32_t lane, const uint8_t *bytes, size_t size_bytes, LnsError *error)
{
  LnsLaneState *state = report->lanes[lane];
  LnsChunkView view;
  LnsError cause = { 0 };

  if (!lns_chunk_parse (bytes, size_bytes, &view, &cause))
    return _lns_report_file_damaged (&report->shared->file, error, "the top nodes of lane %u: %s",
                                     lane, cause.message);
  const LnsChunkHeader *header = &view.header;
  if (header->kind != LNS_CHUNK_NODES || header->lane != lane ||
      header->level != state->top_level || header->n > LNS_NODE_TOP ||
      header->n != nodes_for (state->n_closed, state->top_level))
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "the top nodes of lane %u are others", lane);
  state->top = calloc (header->n, sizeof *state->top);
  if (state->top == NULL)
    return _lns_report_file_no_memory (&report->shared->file, error);
  if (!lns_nodes_decode (&view, state->top, &cause))
    return _lns_report_file_damaged (&report->shared->file, error, "%s", cause.message);
  state->n_top = header->n;
  return true;
}

/* Whether a row of the directory with VALUES says that LANE holds what it held in the snapshot OLDER (may be NULL). An open event is
 * another one with each commit, as it gets longer. */
static bool
is_as_before (const LnsReport *report,
              const LnsReport *older,
              uint32_t lane,
              const int64_t values[8])
{
  if (older == NULL || lane >= older->n_lanes || report->is_live != older->is_live)
    return false;
  const LnsLaneState *before = older->lanes[lane];

  return !before->info.has_open && values[3] == 0 && before->n_closed == (uint64_t)values[1] &&
         before->n_chunks == (uint32_t)values[2] && before->info.start_ns == values[4] &&
         before->info.end_ns == values[5] && before->info.busy_ns == values[6] &&
         before->top_level == (uint32_t)values[7];
}

static bool
parse_directory_row (LnsReport *report,
                     const LnsReport *older,
                     sqlite3_stmt *statement,
                     LnsError *error)
{
  int64_t values[8];

  for (int i = 0; i < 8; i++)
    values[i] = sqlite3_column_int64 (statement, i);
  const int64_t n_events = values[1], n_chunks = values[2], n_open = values[3];
  if (values[0] < 0 || values[0] >= report->n_lanes)
    return _lns_report_file_damaged (&report->shared->file, error, "lane %lld is not defined",
                                     (long long)values[0]);
  const uint32_t lane = (uint32_t)values[0];
  if (n_events < 0 || n_chunks < 0 || n_chunks > n_events || (n_chunks == 0) != (n_events == 0) ||
      n_chunks >= UINT32_MAX || n_open < 0 || n_open > 1 || values[4] < LNS_TIME_MIN ||
      values[4] > values[5] || values[5] > LNS_TIME_MAX || values[6] < 0 ||
      values[6] > values[5] - values[4] || values[7] < 0 || values[7] > LNS_NODE_LEVELS)
    return _lns_report_file_damaged (&report->shared->file, error, "the directory of lane %u",
                                     lane);
  if (n_events > 0 && values[7] == 0)
    return _lns_report_file_damaged (&report->shared->file, error, "lane %u has no level of detail",
                                     lane);

  if (is_as_before (report, older, lane, values))
    {
      LnsLaneState *before = older->lanes[lane];
      atomic_fetch_add_explicit (&before->refs, 1, memory_order_relaxed);
      unref_state (report->lanes[lane]);
      report->lanes[lane] = before;
      return true;
    }
  LnsLaneState *state = report->lanes[lane];
  state->n_closed = (uint64_t)n_events;
  state->n_chunks = (uint32_t)n_chunks;
  state->top_level = (uint32_t)values[7];
  state->end_ns = values[5];
  state->info = (LnsLaneInfo){
    .n_events = (uint64_t)(n_events + n_open),
    .n_chunks = (uint32_t)(n_chunks + n_open),
    .has_open = n_open == 1,
    .start_ns = values[4],
    .end_ns = values[5],
    .busy_ns = values[6],
  };
  const uint8_t *bytes;
  size_t size_bytes;
  if (n_events == 0)
    return true;
  if (!_lns_connection_blob (statement, 8, &bytes, &size_bytes))
    return _lns_report_file_damaged (&report->shared->file, error, "lane %u has no level of detail",
                                     lane);
  return parse_top (report, lane, bytes, size_bytes, error);
}

/* Decodes BLOB into LANE's open event. finish_directory () sets its duration. */
static bool
parse_open (LnsReport *report, uint32_t lane, LnsBlob blob, LnsError *error)
{
  LnsLaneState *state = report->lanes[lane];
  LnsEvent *open = &state->open;
  LnsChunkView view;
  LnsError cause = { 0 };
  LnsEventColumns columns = {
    &open->start_ns, &open->duration_ns, &open->name, &open->flags, { NULL }
  };

  for (int i = 0; i < LNS_EXTRA_MAX; i++)
    columns.extra[i] = &open->extra[i];
  if (blob.bytes == NULL)
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "the open event of lane %u is missing", lane);
  if (!lns_chunk_parse (blob.bytes, blob.size_bytes, &view, &cause))
    return _lns_report_file_damaged (&report->shared->file, error, "the open event of lane %u: %s",
                                     lane, cause.message);
  if (view.header.kind != LNS_CHUNK_OPEN_EVENT || view.header.lane != lane || view.header.n != 1 ||
      view.header.lane_kind != state->kind || !lns_events_decode (&view, &columns, &cause) ||
      (state->n_closed > 0 && open->start_ns < state->end_ns))
    return _lns_report_file_damaged (&report->shared->file, error, "the open event of lane %u",
                                     lane);
  open->flags |= LNS_EVENT_OPEN_END;
  return true;
}

/* Reads LANE's open event, and, if the report is being recorded, its tails, which later commits change; but not what an earlier
 * snapshot has read. */
static bool
read_state_now (LnsReport *report, LnsConnection *connection, uint32_t lane, LnsError *error)
{
  LnsLaneState *state = report->lanes[lane];
  if (state->tails != NULL || (!report->is_live && !state->info.has_open))
    return true;
  const unsigned end_slot = report->is_live ? LNS_N_TAIL_SLOTS : LNS_TAIL_OPEN + 1;
  LnsBlob *tails = calloc (LNS_N_TAIL_SLOTS, sizeof *tails);

  if (tails == NULL)
    return _lns_report_file_no_memory (&report->shared->file, error);
  bool ok = read_tails (report, connection, lane, LNS_TAIL_OPEN, end_slot, tails, error);
  if (ok && state->info.has_open)
    ok = parse_open (report, lane, tails[LNS_TAIL_OPEN], error);
  if (report->is_live)
    state->tails = tails;
  else
    free_tails (tails);
  return ok;
}

/* Until when the report, whose span is known, tells what happened; NOW_NS is what it says itself. */
static int64_t
find_known (const LnsReportInfo *info, bool has_now, int64_t now_ns)
{
  const int64_t known_ns = info->reached_ns != 0 ? info->reached_ns
                           : has_now             ? now_ns
                                                 : info->end_ns;
  return known_ns < info->start_ns ? info->start_ns
         : known_ns > info->end_ns ? info->end_ns
                                   : known_ns;
}

/* Computes what depends on all lanes: the report's span, and the durations of open events. */
static void
finish_directory (LnsReport *report)
{
  const char *now = lns_report_meta (report, "now_ns");
  LnsReportInfo *info = &report->info;
  bool any = false;

  const int64_t now_ns = now != NULL ? strtoll (now, NULL, 10) : 0;
  info->end_ns = now_ns < LNS_TIME_MIN   ? LNS_TIME_MIN
                 : now_ns > LNS_TIME_MAX ? LNS_TIME_MAX
                                         : now_ns;
  for (uint32_t lane = 0; lane < report->n_lanes; lane++)
    {
      LnsLaneState *state = report->lanes[lane];
      if (state->info.n_events == 0)
        continue;
      if (state->n_closed == 0)
        state->info.start_ns = state->open.start_ns;
      if (!any || state->info.start_ns < info->start_ns)
        info->start_ns = state->info.start_ns;
      any = true;
      if (state->n_closed > 0 && state->end_ns > info->end_ns)
        info->end_ns = state->end_ns;
      if (state->info.has_open && state->open.start_ns > info->end_ns)
        info->end_ns = state->open.start_ns;
      info->n_events += state->info.n_events;
      info->n_open += state->info.has_open;
    }
  for (uint32_t lane = 0; lane < report->n_lanes; lane++)
    {
      LnsLaneState *state = report->lanes[lane];
      if (!state->info.has_open)
        continue;
      state->open.duration_ns = info->end_ns - state->open.start_ns;
      state->info.end_ns = info->end_ns;
      state->info.busy_ns += state->open.duration_ns;
    }
  info->known_ns = find_known (info, now != NULL, now_ns);
}

bool
_lns_report_read_lanes (LnsReport *report,
                        const LnsReport *older,
                        LnsConnection *connection,
                        const LnsOpenOptions *options,
                        LnsError *error)
{
  const LnsLane *lanes = lns_report_lanes (report, &report->n_lanes);

  report->lanes = calloc (report->n_lanes > 0 ? report->n_lanes : 1, sizeof *report->lanes);
  if (report->lanes == NULL)
    return _lns_report_file_no_memory (&report->shared->file, error);
  for (uint32_t lane = 0; lane < report->n_lanes; lane++)
    {
      LnsLaneState *state = calloc (1, sizeof *state);
      if (state == NULL)
        return _lns_report_file_no_memory (&report->shared->file, error);
      atomic_init (&state->refs, 1);
      state->kind = lanes[lane].kind;
      report->lanes[lane] = state;
    }

  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_LANES);
  int step = SQLITE_ERROR;
  int64_t last = -1;
  while (statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      const int64_t lane = sqlite3_column_int64 (statement, 0);
      if (lane <= last)
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "its directory of lanes is out of order");
      last = lane;
      if (options->cancel != NULL && atomic_load_explicit (options->cancel, memory_order_relaxed))
        return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: opening was cancelled",
                              report->shared->file.path);
      if (!parse_directory_row (report, older, statement, error) ||
          !read_state_now (report, connection, (uint32_t)lane, error))
        return false;
      if (options->progress != NULL && lane % 64 == 0)
        options->progress ((double)lane / report->n_lanes, options->progress_data);
    }
  if (step != SQLITE_DONE)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  finish_directory (report);
  return true;
}

static void
add_entry (LnsLevelIndex *level, LnsIndexEntry entry)
{
  *lns_array_add (&level->entries) = entry;
  level->n += entry.n;
}

/* Reads the rows of LANE in lns_chunk_index up to LIMITS, the ordinals where the tails begin. Later rows were committed
 * after the report was opened. */
static bool
read_entries (LnsReport *report,
              LnsConnection *connection,
              uint32_t lane,
              const uint64_t *limits,
              LnsLaneIndex *index,
              LnsError *error)
{
  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_INDEX);
  int step = SQLITE_ERROR;
  int64_t last_level = 0, last_sequence = -1;

  if (statement == NULL)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  sqlite3_bind_int64 (statement, 1, lane);
  while ((step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      const int64_t level_number = sqlite3_column_int64 (statement, 0);
      const int64_t sequence = sqlite3_column_int64 (statement, 1);
      const int64_t first = sqlite3_column_int64 (statement, 2);
      const int64_t n = sqlite3_column_int64 (statement, 3);
      const int64_t start_ns = sqlite3_column_int64 (statement, 4);
      const int64_t end_ns = sqlite3_column_int64 (statement, 5);
      if (level_number < last_level || level_number > LNS_NODE_LEVELS ||
          (level_number == last_level && sequence <= last_sequence))
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "the index of lane %u is out of order", lane);
      last_level = level_number;
      last_sequence = sequence;
      LnsLevelIndex *level = &index->levels[level_number];
      if (first >= 0 && (uint64_t)first >= limits[level_number])
        continue;
      const LnsIndexEntry *last =
          level->entries.n > 0 ? &level->entries.items[level->entries.n - 1] : NULL;
      if (sequence != (int64_t)level->entries.n || sequence >= UINT32_MAX - 2 || first < 0 ||
          (uint64_t)first != level->n || n < 1 || n > LNS_CHUNK_MAX_EVENTS ||
          start_ns < LNS_TIME_MIN || start_ns > end_ns || end_ns > LNS_TIME_MAX ||
          (last != NULL && start_ns < last->end_ns))
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "chunk %zu of level %lld of lane %u is missing",
                                         level->entries.n, (long long)level_number, lane);
      LnsIndexEntry entry = {
        (uint64_t)first, start_ns,   end_ns, sqlite3_column_int64 (statement, 6), 0,
        UINT64_MAX,      (uint32_t)n
      };
      if (sqlite3_column_type (statement, 7) == SQLITE_INTEGER)
        {
          entry.from = (uint64_t)sqlite3_column_int64 (statement, 7);
          entry.up_to = (uint64_t)sqlite3_column_int64 (statement, 8);
        }
      add_entry (level, entry);
    }
  if (step != SQLITE_DONE)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  return true;
}

/* Adds the tail of LEVEL as its last entry, and checks that the level is complete. */
static bool
finish_level (
    LnsReport *report, uint32_t lane, uint32_t level_number, LnsLevelIndex *level, LnsError *error)
{
  const LnsLaneState *state = report->lanes[lane];
  const uint64_t n_needed =
      level_number == 0 ? state->n_closed : nodes_for (state->n_closed, level_number);
  LnsIndexEntries *entries = &level->entries;
  LnsChunkHeader header;

  if (level->tail.bytes != NULL &&
      lns_chunk_parse_header (level->tail.bytes, level->tail.size_bytes, &header) && header.n > 0)
    {
      LnsCorrelationSpan span = lns_correlation_span (level->tail.bytes, level->tail.size_bytes);
      LnsIndexEntry entry = { header.first, header.start_ns, state->end_ns, LNS_ROW_TAIL,
                              span.max,     span.min,        header.n };
      if (header.first != level->n)
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "level %u of lane %u is incomplete", level_number, lane);
      if (header.n > LNS_CHUNK_MAX_EVENTS || header.start_ns < LNS_TIME_MIN ||
          header.start_ns > state->end_ns ||
          (entries->n > 0 && header.start_ns < entries->items[entries->n - 1].end_ns))
        return _lns_report_file_damaged (&report->shared->file, error, "the tail of lane %u", lane);
      add_entry (level, entry);
    }
  for (size_t i = 1; i < entries->n; i++)
    if (entries->items[i].up_to < entries->items[i - 1].up_to)
      entries->items[i].up_to = entries->items[i - 1].up_to;
  for (size_t i = entries->n; i > 1; i--)
    if (entries->items[i - 2].from > entries->items[i - 1].from)
      entries->items[i - 2].from = entries->items[i - 1].from;
  if (level->n != n_needed || (level_number == 0 && entries->n != state->n_chunks))
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "level %u of lane %u is incomplete", level_number, lane);
  return true;
}

/* Puts the tails of LANE into INDEX: those of the snapshot, which the lane's state owns, or else those in the file. */
static bool
take_tails (LnsReport *report,
            LnsConnection *connection,
            uint32_t lane,
            LnsLaneIndex *index,
            LnsError *error)
{
  LnsBlob read[LNS_N_TAIL_SLOTS] = { 0 };
  const LnsBlob *kept = report->lanes[lane]->tails, *tails = kept != NULL ? kept : read;

  bool ok = kept != NULL ||
            read_tails (report, connection, lane, LNS_TAIL_EVENTS, LNS_N_TAIL_SLOTS, read, error);
  for (unsigned level = 0; level <= LNS_NODE_LEVELS; level++)
    index->levels[level].tail = tails[LNS_TAIL_EVENTS + level];
  return ok;
}

static LnsLaneIndex *
load_index (LnsReport *report, LnsConnection *connection, uint32_t lane, LnsError *error)
{
  const LnsLaneState *state = report->lanes[lane];
  LnsLaneIndex *index = lns_calloc (1, sizeof *index);
  uint64_t limits[LNS_NODE_LEVELS + 1] = { 0 };

  index->n_levels = state->top_level > 0 ? state->top_level : 1;
  bool ok = state->n_closed == 0 || take_tails (report, connection, lane, index, error);
  for (uint32_t level = 0; level < index->n_levels; level++)
    {
      LnsChunkHeader header;
      const LnsBlob *tail = &index->levels[level].tail;
      limits[level] = level == 0 ? state->n_closed : nodes_for (state->n_closed, level);
      if (tail->bytes != NULL && lns_chunk_parse_header (tail->bytes, tail->size_bytes, &header) &&
          header.first < limits[level])
        limits[level] = header.first;
    }
  ok =
      ok && (state->n_closed == 0 || read_entries (report, connection, lane, limits, index, error));
  for (uint32_t level = 0; ok && level < index->n_levels; level++)
    ok = finish_level (report, lane, level, &index->levels[level], error);
  if (!ok)
    {
      free_index (state, index);
      return NULL;
    }
  return index;
}

/* LANE's index, read through CONNECTION if necessary. */
static const LnsLaneIndex *
get_index (LnsReport *report, LnsConnection *connection, uint32_t lane, LnsError *error)
{
  _Atomic (LnsLaneIndex *) *at = &report->lanes[lane]->index;
  LnsLaneIndex *index = atomic_load_explicit (at, memory_order_acquire);

  if (index != NULL)
    return index;
  LnsLaneIndex *loaded = load_index (report, connection, lane, error);
  if (loaded == NULL || atomic_compare_exchange_strong (at, &index, loaded))
    return loaded;
  free_index (report->lanes[lane], loaded);
  return index;
}

const LnsLaneIndex *
_lns_report_lane_index (LnsReport *report, uint32_t lane, LnsError *error)
{
  if (lane >= report->n_lanes)
    {
      lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: there is no lane %u",
                     report->shared->file.path, lane);
      return NULL;
    }
  const LnsLaneIndex *index =
      atomic_load_explicit (&report->lanes[lane]->index, memory_order_acquire);
  LnsConnection *connection =
      index == NULL ? _lns_report_file_take (&report->shared->file, error) : NULL;
  if (connection == NULL)
    return index;
  index = get_index (report, connection, lane, error);
  _lns_report_file_give (&report->shared->file, connection);
  return index;
}

bool
_lns_report_check_lanes (LnsReport *report, LnsError *error)
{
  LnsConnection *connection = _lns_report_file_take (&report->shared->file, error);
  bool ok = true;

  if (connection == NULL)
    return false;
  sqlite3_exec (connection->db, "BEGIN", NULL, NULL, NULL);
  for (uint32_t lane = 0; ok && lane < report->n_lanes; lane++)
    ok = get_index (report, connection, lane, error) != NULL;
  sqlite3_exec (connection->db, "ROLLBACK", NULL, NULL, NULL);
  _lns_report_file_give (&report->shared->file, connection);
  return ok;
}
