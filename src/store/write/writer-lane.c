/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer-lane.h"

#include <stdlib.h>
#include <string.h>

/* The limit of starts and durations, so that their sum is at most LNS_TIME_MAX. */
#define MAX_TIME_NS (-LNS_TIME_MIN)

#define COMMON_COLUMNS 4
#define EVENT_COLUMNS  (COMMON_COLUMNS + LNS_EXTRA_MAX)
#define BOTH           (LNS_CODEC_TRY_DELTA | LNS_CODEC_TRY_DICTIONARY)

static const LnsBuilderColumnKind node_columns[] = {
  { LNS_NODE_COLUMN_GAP, 0 },
  { LNS_NODE_COLUMN_SPAN, 0 },
  { LNS_NODE_COLUMN_IDLE, 0 },
  { LNS_NODE_COLUMN_LONGEST, 0 },
  { LNS_NODE_COLUMN_LONGEST_AT, 0 },
  { LNS_NODE_COLUMN_NAME, LNS_CODEC_TRY_DICTIONARY },
  { LNS_NODE_COLUMN_COLOR, LNS_CODEC_TRY_DICTIONARY },
  { LNS_NODE_COLUMN_FLAGS, 0 },
  { LNS_NODE_COLUMN_HOLE, LNS_CODEC_TRY_DICTIONARY },
  { LNS_NODE_COLUMN_HOLE_AT, LNS_CODEC_TRY_DICTIONARY },
};
static const LnsBuilderColumnKind sample_node_columns[] = {
  { LNS_NODE_COLUMN_GAP, 0 },     { LNS_NODE_COLUMN_SPAN, 0 },   { LNS_NODE_COLUMN_IDLE, 0 },
  { LNS_NODE_COLUMN_FLAGS, 0 },   { LNS_NODE_COLUMN_MIN, BOTH }, { LNS_NODE_COLUMN_MAX, BOTH },
  { LNS_NODE_COLUMN_LAST, BOTH },
};
#define NODE_COLUMNS        (sizeof node_columns / sizeof node_columns[0])
#define SAMPLE_NODE_COLUMNS (sizeof sample_node_columns / sizeof sample_node_columns[0])

static void
queue_chunk (void *data, const LnsChunkHeader *header, int64_t end_ns, LnsBuffer *blob)
{
  _lns_writer_rows_add (data, header, end_ns, blob);
}

bool
_lns_writer_lane_init (LnsWriterLane *lane,
                       const uint8_t uuid[16],
                       uint32_t id,
                       LnsLaneKind kind,
                       LnsPayloadType value_type)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  LnsBuilderColumnKind columns[EVENT_COLUMNS] = { { LNS_COLUMN_START, 0 },
                                                  { LNS_COLUMN_DURATION, 0 },
                                                  { LNS_COLUMN_NAME, LNS_CODEC_TRY_DICTIONARY },
                                                  { LNS_COLUMN_FLAGS, 0 } };
  *lane = (LnsWriterLane){ .kind = kind };
  lane->color_at = (int8_t)lns_lane_kind_extra (kind, LNS_COLUMN_COLOR);
  if (kind == LNS_LANE_COUNTER)
    lane->value_type = value_type == LNS_PAYLOAD_NONE ? LNS_PAYLOAD_UINT64 : value_type;
  for (; info != NULL && info->extra[lane->n_extra] != 0; lane->n_extra++)
    columns[COMMON_COLUMNS + lane->n_extra] =
        (LnsBuilderColumnKind){ (uint16_t)info->extra[lane->n_extra], BOTH };
  LnsChunkHeader header = { .kind = LNS_CHUNK_EVENTS, .lane = id, .lane_kind = (uint8_t)kind };
  memcpy (header.uuid, uuid, sizeof header.uuid);
  lns_chunk_builder_init (&lane->events, &header, columns, COMMON_COLUMNS + lane->n_extra);
  return !lane->events.failed;
}

void
_lns_writer_lane_clear (LnsWriterLane *lane)
{
  lns_chunk_builder_clear (&lane->events);
  for (unsigned i = 0; i < lane->n_levels; i++)
    lns_chunk_builder_clear (&lane->levels[i].builder);
  free (lane->levels);
  free (lane->open);
  lane->n_levels = 0;
  lane->levels = NULL;
  lane->open = NULL;
}

/* Adds a level above the highest one. */
static bool
add_level (LnsWriterLane *lane)
{
  LnsWriterLevel *levels = realloc (lane->levels, (lane->n_levels + 1u) * sizeof *levels);
  if (levels == NULL)
    return false;
  lane->levels = levels;
  LnsWriterLevel *level = &levels[lane->n_levels];
  LnsChunkHeader header = { .kind = LNS_CHUNK_NODES,
                            .lane = lane->events.header.lane,
                            .lane_kind = (uint8_t)lane->kind,
                            .level = lane->n_levels + 1u };
  memcpy (header.uuid, lane->events.header.uuid, sizeof header.uuid);
  lns_node_sum_reset (&level->sum);
  if (lane->kind == LNS_LANE_COUNTER)
    lns_chunk_builder_init (&level->builder, &header, sample_node_columns, SAMPLE_NODE_COLUMNS);
  else
    lns_chunk_builder_init (&level->builder, &header, node_columns, NODE_COLUMNS);
  lane->n_levels++;
  return !level->builder.failed;
}

static bool
add_node_row (LnsWriterLevel *level, LnsLaneKind kind, const LnsNode *node)
{
  uint64_t span_ns = (uint64_t)(node->end_ns - node->start_ns);
  uint64_t idle_ns = span_ns - (uint64_t)node->busy_ns;
  if (kind == LNS_LANE_COUNTER)
    {
      uint64_t values[SAMPLE_NODE_COLUMNS] = { 0,         span_ns,   idle_ns,   node->flags,
                                               node->min, node->max, node->last };
      return lns_chunk_builder_add (&level->builder, node->start_ns, node->end_ns, values);
    }
  const bool has_hole =
      node->hole_ns > 0 && (uint64_t)node->hole_ns >= span_ns - (uint64_t)node->hole_ns;
  uint64_t values[NODE_COLUMNS] = { 0,
                                    span_ns,
                                    idle_ns,
                                    (uint64_t)node->longest_ns,
                                    node->longest_at,
                                    node->name,
                                    node->color,
                                    node->flags,
                                    has_hole ? 1 + idle_ns - (uint64_t)node->hole_ns : 0,
                                    has_hole ? (uint64_t)node->hole_at_ns : 0 };
  return lns_chunk_builder_add (&level->builder, node->start_ns, node->end_ns, values);
}

/* Stores the finished node of LEVEL (an index) and adds it to the node of the level above, which may be finished too, and so
 * on. */
static void
close_nodes (LnsWriterLane *lane, unsigned level, uint64_t revision, LnsWriterRows *rows)
{
  for (;; level++)
    {
      if (level + 1 == lane->n_levels && !add_level (lane))
        {
          rows->failed = true;
          return;
        }
      LnsWriterLevel *here = &lane->levels[level], *above = &lane->levels[level + 1];
      lns_node_sum_finish (&here->sum);
      add_node_row (here, lane->kind, &here->sum.node);
      if (lns_chunk_builder_block_is_full (&here->builder))
        lns_chunk_builder_close_block (&here->builder, revision, queue_chunk, rows);
      rows->failed |= here->builder.failed;
      lns_node_sum_add_node (&above->sum, &here->sum, lane->value_type);
      lns_node_sum_reset (&here->sum);
      if (above->sum.n_children < LNS_NODE_FANOUT)
        return;
    }
}

static int64_t
clamp_time (int64_t time_ns)
{
  return time_ns < -MAX_TIME_NS ? -MAX_TIME_NS : time_ns > MAX_TIME_NS ? MAX_TIME_NS : time_ns;
}

/* EVENT, changed so that it is in bounds and does not overlap the events that LANE has. */
static LnsEvent
fit_event (const LnsWriterLane *lane, const LnsEvent *event)
{
  LnsEvent fitted = *event;
  fitted.start_ns = clamp_time (event->start_ns);
  fitted.duration_ns = event->duration_ns < 0 ? 0 : clamp_time (event->duration_ns);
  if (lane->n_events > 0 && fitted.start_ns < lane->events.end_ns)
    {
      int64_t cut_ns = lane->events.end_ns - fitted.start_ns;
      fitted.start_ns = lane->events.end_ns;
      fitted.duration_ns -= cut_ns < fitted.duration_ns ? cut_ns : fitted.duration_ns;
      fitted.flags |= LNS_EVENT_CLIPPED;
    }
  return fitted;
}

static unsigned
event_values (const LnsWriterLane *lane, const LnsEvent *event, uint64_t values[EVENT_COLUMNS])
{
  values[0] = 0;
  values[1] = (uint64_t)event->duration_ns;
  values[2] = event->name;
  values[3] = event->flags;
  for (unsigned i = 0; i < lane->n_extra; i++)
    values[COMMON_COLUMNS + i] = event->extra[i];
  return COMMON_COLUMNS + lane->n_extra;
}

bool
_lns_writer_lane_append (LnsWriterLane *lane,
                         const LnsEvent *event,
                         uint64_t revision,
                         LnsWriterRows *rows)
{
  lane->is_open = false;
  if (lane->n_levels == 0 && !add_level (lane))
    return false;
  const LnsEvent fitted = fit_event (lane, event);
  uint64_t values[EVENT_COLUMNS];
  event_values (lane, &fitted, values);
  if (!lns_chunk_builder_add (&lane->events, fitted.start_ns, fitted.start_ns + fitted.duration_ns,
                              values))
    {
      rows->failed = true;
      return false;
    }
  if (lane->n_events++ == 0)
    lane->start_ns = fitted.start_ns;
  lane->busy_ns += fitted.duration_ns;

  LnsNodeSum *sum = &lane->levels[0].sum;
  if (lane->kind == LNS_LANE_COUNTER)
    lns_node_sum_add_sample (sum, &fitted, lane->value_type, fitted.extra[0]);
  else
    lns_node_sum_add_event (sum, &fitted,
                            lane->color_at < 0 ? 0 : (uint32_t)fitted.extra[lane->color_at]);
  if (lns_chunk_builder_block_is_full (&lane->events))
    lns_chunk_builder_close_block (&lane->events, revision, queue_chunk, rows);
  rows->failed |= lane->events.failed;
  if (sum->n_children == LNS_NODE_LEAF)
    close_nodes (lane, 0, revision, rows);
  return true;
}

bool
_lns_writer_lane_set_open (LnsWriterLane *lane, const LnsEvent *event)
{
  if (event != NULL && lane->open == NULL)
    lane->open = malloc (sizeof *lane->open);
  lane->is_open = event != NULL && lane->open != NULL;
  if (!lane->is_open)
    return event == NULL;
  *lane->open = *event;
  lane->open->duration_ns = 0;
  return true;
}

/* Builds the chunk of the open event of LANE. */
static void
build_open (const LnsWriterLane *lane, uint64_t revision, LnsBuffer *out)
{
  LnsEvent event = fit_event (lane, lane->open);
  LnsChunkHeader header = lane->events.header;
  header.kind = LNS_CHUNK_OPEN_EVENT;
  header.sequence = 0;
  header.first = lane->n_events;
  header.n = 0;
  uint64_t values[EVENT_COLUMNS];
  LnsBuilderColumnKind columns[EVENT_COLUMNS];
  unsigned n = event_values (lane, &event, values);
  for (unsigned i = 0; i < n; i++)
    columns[i] = (LnsBuilderColumnKind){ lane->events.columns[i].kind.id, 0 };

  LnsChunkBuilder builder;
  lns_chunk_builder_init (&builder, &header, columns, n);
  bool added = lns_chunk_builder_add (&builder, event.start_ns, event.start_ns, values);
  if (added)
    lns_chunk_builder_tail (&builder, revision, out);
  out->failed |= !added;
  lns_chunk_builder_clear (&builder);
}

/* Writes BLOB as the tail of SLOT, or with NULL removes that tail. */
static bool
put_tail (const LnsWriterStatements *statements,
          LnsWriterLane *lane,
          unsigned slot,
          const LnsBuffer *blob)
{
  const uint32_t bit = UINT32_C (1) << slot;
  sqlite3_stmt *statement = blob != NULL ? statements->tail : statements->no_tail;
  if (blob == NULL && !(lane->tails & bit))
    return true;
  lane->tails |= bit;
  sqlite3_bind_int64 (statement, 1, (int64_t)lane->events.header.lane << 8 | slot);
  return (blob == NULL || _lns_writer_bind_blob (statement, 2, blob)) &&
         _lns_writer_step (statement);
}

static bool
put_directory (const LnsWriterStatements *statements,
               const LnsWriterLane *lane,
               unsigned top_level,
               const LnsBuffer *top)
{
  sqlite3_stmt *statement = statements->lane;
  sqlite3_bind_int64 (statement, 1, lane->events.header.lane);
  sqlite3_bind_int64 (statement, 2, (int64_t)lane->n_events);
  sqlite3_bind_int64 (statement, 3,
                      lane->events.header.sequence + (lns_chunk_builder_n (&lane->events) > 0));
  sqlite3_bind_int64 (statement, 4, lane->is_open);
  sqlite3_bind_null (statement, 5);
  sqlite3_bind_null (statement, 6);
  sqlite3_bind_null (statement, 9);
  if (lane->n_events > 0)
    {
      sqlite3_bind_int64 (statement, 5, lane->start_ns);
      sqlite3_bind_int64 (statement, 6, lane->events.end_ns);
    }
  sqlite3_bind_int64 (statement, 7, lane->busy_ns);
  sqlite3_bind_int64 (statement, 8, top_level);
  return (top_level == 0 || _lns_writer_bind_blob (statement, 9, top)) &&
         _lns_writer_step (statement);
}

/* Writes the tails of the levels below the top one, and the directory row with the nodes of the top level. The last node of
 * each level, which stands for the remaining events, is added only for this. */
static bool
put_levels (const LnsWriterStatements *statements,
            LnsWriterLane *lane,
            uint64_t revision,
            LnsBuffer *scratch,
            bool *failed)
{
  if (lane->n_events == 0)
    return put_directory (statements, lane, 0, NULL);
  LnsNodeSum rest = { 0 }; /* the events for which the level below has no full node */
  for (unsigned i = 0; i < lane->n_levels; i++)
    {
      LnsWriterLevel *level = &lane->levels[i];
      LnsNodeSum sum = level->sum;
      if (rest.n_children > 0)
        lns_node_sum_add_node (&sum, &rest, lane->value_type);
      lns_node_sum_finish (&sum);
      rest = sum;

      const int64_t end_ns = level->builder.end_ns;
      const bool has_rest = sum.n_children > 0 && add_node_row (level, lane->kind, &sum.node);
      *failed |= level->builder.failed;
      const uint32_t n = lns_chunk_builder_n (&level->builder);
      const bool is_top = level->builder.header.first + n <= LNS_NODE_TOP;
      if (n > 0)
        lns_chunk_builder_tail (&level->builder, revision, scratch);
      if (has_rest)
        lns_chunk_builder_remove (&level->builder, end_ns);
      if (is_top)
        return put_directory (statements, lane, i + 1, scratch);
      if (!put_tail (statements, lane, i + 2, n > 0 ? scratch : NULL))
        return false;
    }
  return false; /* memory ran out for the top level */
}

bool
_lns_writer_lane_put (LnsWriterLane *lane,
                      uint64_t revision,
                      const LnsWriterStatements *statements,
                      LnsBuffer *scratch,
                      bool *failed)
{
  if (lane->is_open)
    build_open (lane, revision, scratch);
  if (!put_tail (statements, lane, 0, lane->is_open ? scratch : NULL))
    return false;
  bool has_tail = lns_chunk_builder_n (&lane->events) > 0;
  if (has_tail)
    lns_chunk_builder_tail (&lane->events, revision, scratch);
  if (!put_tail (statements, lane, 1, has_tail ? scratch : NULL))
    return false;
  return put_levels (statements, lane, revision, scratch, failed);
}
