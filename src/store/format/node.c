/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/node.h"

#include "src/store/format/lane-kind.h"

/* Decodes column ID of VIEW into FIELD of the nodes. */
#define SCATTER(field, id)                                                                         \
 do                                                                                                \
  {                                                                                                \
   if (lns_chunk_column (view, id) == NULL)                                                        \
    break;                                                                                         \
   if (!lns_chunk_decode_u64 (view, id, values))                                                   \
    return false;                                                                                  \
   for (uint32_t i = 0; i < n; i++)                                                                \
    ret_nodes[i].field = (__typeof__ (ret_nodes[i].field))values[i];                               \
  }                                                                                                \
 while (0)

static bool
decode_columns (const LnsChunkView *view, LnsNode *ret_nodes)
{
  uint64_t values[LNS_CHUNK_MAX_EVENTS];
  const uint32_t n = view->header.n;
  for (uint32_t i = 0; i < n; i++)
    ret_nodes[i] = (LnsNode){ 0 };
  SCATTER (start_ns, LNS_NODE_COLUMN_GAP);
  SCATTER (end_ns, LNS_NODE_COLUMN_SPAN);
  SCATTER (busy_ns, LNS_NODE_COLUMN_IDLE);
  SCATTER (longest_ns, LNS_NODE_COLUMN_LONGEST);
  SCATTER (longest_at, LNS_NODE_COLUMN_LONGEST_AT);
  SCATTER (name, LNS_NODE_COLUMN_NAME);
  SCATTER (color, LNS_NODE_COLUMN_COLOR);
  SCATTER (flags, LNS_NODE_COLUMN_FLAGS);
  SCATTER (hole_ns, LNS_NODE_COLUMN_HOLE);
  SCATTER (hole_at_ns, LNS_NODE_COLUMN_HOLE_AT);
  SCATTER (min, LNS_NODE_COLUMN_MIN);
  SCATTER (max, LNS_NODE_COLUMN_MAX);
  SCATTER (last, LNS_NODE_COLUMN_LAST);
  return true;
}

/* Turns the value of column HOLE into the hole's length. Returns false if it is not possible in the node. */
static bool
resolve_hole (LnsNode *node, int64_t span_ns, int64_t idle_ns)
{
  if (node->hole_ns == 0)
    return node->hole_at_ns == 0;
  if (node->hole_ns < 0 || node->hole_ns > idle_ns || node->hole_at_ns < 0)
    return false;
  node->hole_ns = idle_ns - (node->hole_ns - 1);
  return node->hole_ns >= span_ns - node->hole_ns && node->hole_at_ns <= span_ns - node->hole_ns;
}

/* Turns the gaps, spans and idle times, which were decoded into start_ns, end_ns and busy_ns, into these. */
static bool
resolve (const LnsChunkView *view, LnsNode *nodes)
{
  const uint64_t events = lns_node_events (view->header.level);
  int64_t end_ns = view->header.start_ns;
  bool damaged = false;
  nodes[0].start_ns = 0;
  for (uint32_t i = 0; i < view->header.n; i++)
    {
      LnsNode *node = &nodes[i];
      int64_t gap_ns = node->start_ns, span_ns = node->end_ns, idle_ns = node->busy_ns;
      damaged |= (gap_ns | span_ns | idle_ns | node->longest_ns) < 0;
      damaged |= idle_ns > span_ns || node->longest_ns > span_ns || node->longest_at >= events;
      damaged |= !resolve_hole (node, span_ns, idle_ns);
      damaged |= __builtin_add_overflow (end_ns, gap_ns, &node->start_ns);
      damaged |= __builtin_add_overflow (node->start_ns, span_ns, &end_ns);
      node->end_ns = end_ns;
      node->busy_ns = span_ns - idle_ns;
    }
  return !damaged && view->header.start_ns >= LNS_TIME_MIN && end_ns <= LNS_TIME_MAX;
}

bool
lns_nodes_decode (const LnsChunkView *view, LnsNode *ret_nodes, LnsError *error)
{
  if (view->header.kind != LNS_CHUNK_NODES || view->header.n == 0 || view->header.level == 0 ||
      view->header.level > LNS_NODE_LEVELS || !decode_columns (view, ret_nodes) ||
      !resolve (view, ret_nodes))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "a level-of-detail chunk of lane %u is damaged", view->header.lane);
  return true;
}
