/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/detail-walk.h"

#include "src/base/array.h"

/* An opened node, and the range of its children. */
typedef struct
{
  LnsNode node;
  uint64_t n_events;
  uint64_t first, end; /* nodes of the level below, or events */
} Opened;

typedef LNS_ARRAY (Opened) OpenedList;

typedef struct
{
  LnsReport *report;
  uint32_t lane;
  const LnsDetailVisitor *visitor;
  bool cached_only;
  const LnsLaneState *state;
  const LnsLaneIndex *index; /* NULL = not in memory, and must not be read */
  OpenedList opened;         /* of the level above: their children are visited now */
  OpenedList opened_here;
  uint64_t n_visited;
  LnsError *error;
} Walk;

bool
_lns_detail_is_cancelled (const LnsReport *report, const LnsDetailVisitor *visitor, LnsError *error)
{
  const LnsPixelQuery *query = visitor->query;
  if (query == NULL || query->generation == NULL ||
      atomic_load_explicit (query->generation, memory_order_relaxed) == query->expected_generation)
    return false;
  lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: the query was cancelled",
                 report->shared->file.path);
  return true;
}

static bool
is_cancelled (Walk *walk)
{
  return _lns_detail_is_cancelled (walk->report, walk->visitor, walk->error);
}

/* Handles children of OPENED, from FROM_NS on, that could not be had: the node stands for them if only the cache may be
 * used. Returns false if the chunk could not be read, or the walk was cancelled. */
static bool
visit_rest (Walk *walk, const Opened *opened, int64_t from_ns)
{
  if (!walk->cached_only || is_cancelled (walk))
    return false;
  walk->visitor->rest (walk->visitor->data, &opened->node, opened->n_events, from_ns);
  return true;
}

/* Visits node ORDINAL of LEVEL. */
static bool
visit (Walk *walk, const LnsNode *node, uint32_t level, uint64_t ordinal)
{
  const uint64_t full = lns_node_events (level);
  const uint64_t n_left = walk->state->n_closed - ordinal * full;
  const uint64_t n_events = n_left < full ? n_left : full;

  walk->n_visited++;
  if (!walk->visitor->node (walk->visitor->data, node, n_events))
    return true;
  const uint64_t each = level > 1 ? LNS_NODE_FANOUT : LNS_NODE_LEAF;
  const uint64_t n_children =
      level > 1 ? (n_events - 1) / lns_node_events (level - 1) + 1 : n_events;
  /* A small file may have more nodes to open than fit into memory, so this must not end the process. */
  Opened *opened = lns_array_try_add (&walk->opened_here);
  if (opened == NULL)
    return _lns_report_file_no_memory (&walk->report->shared->file, walk->error);
  *opened = (Opened){ *node, n_events, ordinal * each, ordinal * each + n_children };
  return true;
}

/* Visits the children of the opened nodes, which are nodes of LEVEL ≥ 1. */
static bool
visit_nodes (Walk *walk, uint32_t level)
{
  const LnsLevelIndex *nodes = &walk->index->levels[level];
  LnsNodeChunk *chunk = NULL;
  bool ok = true;

  for (size_t i = 0; ok && i < walk->opened.n; i++)
    {
      const Opened *opened = &walk->opened.items[i];
      int64_t done_ns = opened->node.start_ns;
      for (uint64_t ordinal = opened->first; ok && ordinal < opened->end; ordinal++)
        {
          if (chunk == NULL || ordinal < chunk->first || ordinal - chunk->first >= chunk->n)
            {
              _lns_cache_item_unref (chunk != NULL ? &chunk->item : NULL);
              chunk = is_cancelled (walk)
                          ? NULL
                          : _lns_report_node_chunk (walk->report, walk->lane, level,
                                                    _lns_level_index_of (nodes, ordinal),
                                                    walk->cached_only, walk->error);
              if (chunk == NULL)
                {
                  ok = visit_rest (walk, opened, done_ns);
                  break;
                }
            }
          const LnsNode *node = &chunk->nodes[ordinal - chunk->first];
          ok = visit (walk, node, level, ordinal);
          done_ns = node->end_ns;
        }
    }
  _lns_cache_item_unref (chunk != NULL ? &chunk->item : NULL);
  return ok;
}

/* Visits the events of the opened nodes. */
static bool
visit_events (Walk *walk)
{
  const LnsLevelIndex *events = &walk->index->levels[0];
  const LnsChunk *chunk = NULL;
  bool ok = true;

  for (size_t i = 0; ok && i < walk->opened.n; i++)
    {
      const Opened *opened = &walk->opened.items[i];
      int64_t done_ns = opened->node.start_ns;
      for (uint64_t ordinal = opened->first; ordinal < opened->end;)
        {
          if (chunk == NULL || ordinal < chunk->first || ordinal - chunk->first >= chunk->n)
            {
              lns_chunk_unref (chunk);
              chunk = is_cancelled (walk)
                          ? NULL
                          : _lns_report_event_chunk (
                                walk->report, walk->lane, _lns_level_index_of (events, ordinal),
                                walk->visitor->column_mask, walk->cached_only, walk->error);
              if (chunk == NULL)
                {
                  ok = visit_rest (walk, opened, done_ns);
                  break;
                }
            }
          const uint64_t first = ordinal - chunk->first, n_wanted = opened->end - ordinal;
          const uint64_t end = n_wanted < chunk->n - first ? first + n_wanted : chunk->n;
          walk->visitor->events (walk->visitor->data, chunk, (uint32_t)first, (uint32_t)end);
          done_ns = chunk->start_ns[end - 1] + chunk->duration_ns[end - 1];
          ordinal = chunk->first + end;
        }
    }
  lns_chunk_unref (chunk);
  return ok;
}

/* Continues with the nodes that were opened at this level. */
static void
descend (Walk *walk)
{
  OpenedList visited = walk->opened;

  walk->opened = walk->opened_here;
  walk->opened_here = visited;
  walk->opened_here.n = 0;
}

static bool
visit_top (Walk *walk)
{
  const LnsLaneState *state = walk->state;
  bool ok = true;

  for (uint32_t i = 0; ok && i < state->n_top; i++)
    ok = visit (walk, &state->top[i], state->top_level, i);
  return ok;
}

bool
_lns_detail_walk (LnsReport *report,
                  uint32_t lane,
                  const LnsDetailVisitor *visitor,
                  LnsError *error)
{
  if (lane >= report->n_lanes)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: there is no lane %u",
                          report->shared->file.path, lane);
  Walk walk = { .report = report,
                .lane = lane,
                .visitor = visitor,
                .cached_only = visitor->query != NULL && visitor->query->cached_only,
                .state = report->lanes[lane],
                .error = error };
  if (walk.state->n_closed == 0)
    return true;
  if (is_cancelled (&walk))
    return false;

  bool ok = visit_top (&walk);
  descend (&walk);
  walk.index = atomic_load_explicit (&report->lanes[lane]->index, memory_order_acquire);
  if (ok && walk.opened.n > 0 && walk.index == NULL && !walk.cached_only)
    ok = (walk.index = _lns_report_lane_index (report, lane, error)) != NULL;
  if (ok && walk.index == NULL)
    {
      for (size_t i = 0; i < walk.opened.n; i++)
        visitor->rest (visitor->data, &walk.opened.items[i].node, walk.opened.items[i].n_events,
                       walk.opened.items[i].node.start_ns);
      walk.opened.n = 0;
    }
  for (uint32_t level = walk.state->top_level; ok && level > 1 && walk.opened.n > 0; level--)
    {
      ok = visit_nodes (&walk, level - 1);
      descend (&walk);
    }
  if (ok && walk.opened.n > 0)
    ok = visit_events (&walk);

  atomic_fetch_add_explicit (&report->shared->nodes_visited, walk.n_visited, memory_order_relaxed);
  lns_array_clear (&walk.opened);
  lns_array_clear (&walk.opened_here);
  return ok;
}

/* ---- Open events ------------------------------------------------------------------------------- */

static bool
opens_node (void *data, const LnsNode *node, uint64_t n_events)
{
  return (node->flags & LNS_EVENT_OPEN_END) != 0;
}

static void
count_events (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  uint64_t *n = data;

  for (uint32_t i = first; i < end; i++)
    *n += (chunk->flags[i] & LNS_EVENT_OPEN_END) != 0;
}

/* A node's flags are those of its events, or-ed, so only nodes that have an open event are read. */
bool
lns_report_count_open (LnsReport *report, uint64_t *ret_n, LnsError *error)
{
  const LnsDetailVisitor visitor = { .node = opens_node,
                                     .events = count_events,
                                     .data = ret_n,
                                     .column_mask = LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) };

  *ret_n = report->info.n_open;
  for (uint32_t lane = 0; lane < report->n_lanes; lane++)
    if (!_lns_detail_walk (report, lane, &visitor, error))
      return false;
  return true;
}
