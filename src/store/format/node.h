/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Level of detail (FORMAT.md, "Nodes"): each lane has a tree of nodes. A node of level 1 stands for 16 consecutive events,
 * a node of level k + 1 for 4 nodes of level k; the last node of each level stands for the remaining ones. So node i of
 * level k covers the events from i × lns_node_events (k) on, and their number is not stored. */

#pragma once

#include "src/store/format/chunk-format.h"

#define LNS_NODE_LEAF   16 /* events in a node of level 1 */
#define LNS_NODE_FANOUT 4
#define LNS_NODE_TOP    64 /* nodes in a lane's directory row at most */
#define LNS_NODE_LEVELS 30 /* the highest level */

typedef enum
{
  LNS_NODE_COLUMN_GAP = 1,        /* start − end of the node before */
  LNS_NODE_COLUMN_SPAN = 2,       /* end − start */
  LNS_NODE_COLUMN_IDLE = 3,       /* span − busy */
  LNS_NODE_COLUMN_LONGEST = 4,    /* duration of the longest event */
  LNS_NODE_COLUMN_LONGEST_AT = 5, /* its ordinal − that of the node's first event */
  LNS_NODE_COLUMN_NAME = 6,
  LNS_NODE_COLUMN_COLOR = 7,
  LNS_NODE_COLUMN_FLAGS = 8,
  LNS_NODE_COLUMN_MIN = 9, /* counters, instead of 3–7: bits of the track's value type */
  LNS_NODE_COLUMN_MAX = 10,
  LNS_NODE_COLUMN_LAST = 11,
  LNS_NODE_COLUMN_HOLE = 12,    /* 1 + idle − length of the hole; 0 = none */
  LNS_NODE_COLUMN_HOLE_AT = 13, /* its begin − start */
  LNS_N_NODE_COLUMNS = 14
} LnsNodeColumnId;

typedef struct
{
  int64_t start_ns; /* of the first event */
  int64_t end_ns;   /* of the last one */
  int64_t busy_ns;  /* sum of durations: exact, as a lane's events do not overlap */
  int64_t longest_ns;
  uint64_t longest_at;     /* from the node's first event */
  uint32_t name;           /* covers most of the time, according to the children's dominant names */
  uint32_t color;          /* the dominant one's */
  uint32_t flags;          /* of all events, or-ed */
  int64_t hole_ns;         /* longest time without an event, if at least half of the span; else 0 */
  int64_t hole_at_ns;      /* from the start */
  uint64_t min, max, last; /* counters only */
} LnsNode;

/* Events that a full node of LEVEL (1–LNS_NODE_LEVELS) stands for. */
static inline uint64_t
lns_node_events (unsigned level)
{
  return (uint64_t)LNS_NODE_LEAF << 2 * (level - 1);
}

/* Decodes the header.n nodes of VIEW, of kind LNS_CHUNK_NODES, into RET_NODES. Checks that starts ascend, nodes do not
 * overlap, end ≥ start, busy_ns and longest_ns are within the span, longest_at is within the node, and the level is valid.
 * O(n). */
bool lns_nodes_decode (const LnsChunkView *view, LnsNode *ret_nodes, LnsError *error);
