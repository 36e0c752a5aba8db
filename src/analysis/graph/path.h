/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The critical path of a run: the chain of pieces from its beginning to its end of which none can be shortened without the run being
 * over earlier, unless another chain takes over. */

#pragma once

#include "src/analysis/graph/graph.h"

/* A link: what one agent does on the path without a break. 24 bytes, as there may be as many as pieces. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t label; /* what it is                                                                */
  uint8_t
      edge; /* LnsEdgeKind by which the path came to its end; LNS_EDGE_NONE: the agent goes on */
  bool is_inferred; /* the edge is assumed                                                       */
  bool is_unknown;  /* what took the time was not recorded                                       */
} LnsPathLink;

/* What pieces of one label have on the path. */
typedef struct
{
  uint32_t label;
  uint64_t n;
  int64_t ns;
} LnsPathPart;

typedef struct
{
  int64_t start_ns, end_ns;
  LNS_ARRAY (LnsPathPart) parts; /* what has most first                                          */
  LNS_ARRAY (LnsPathLink) longest; /* the longest first, at most as many as were asked for       */
  LNS_ARRAY (LnsPathLink)
  links;      /* all that take time, in order and without a hole, if they were asked for */
  uint64_t n; /* links that take time                                         */
  int64_t
      inferred_ns;    /* waits of which the report does not tell what they were for: times do     */
  int64_t unknown_ns; /* in which nobody knows what was done or waited for                        */
} LnsPath;

/* Finds the path by TIMES, of a replay of GRAPH without changes, that leads to point END; of it what lies between FROM_NS and TO_NS. The N_LONGEST
 * longest links are kept, and with KEEPS_LINKS all. To be cleared. O(points of the path). */
void lns_path_find (const LnsGraph *graph,
                    const int64_t *times,
                    uint32_t end,
                    int64_t from_ns,
                    int64_t to_ns,
                    size_t n_longest,
                    bool keeps_links,
                    LnsPath *ret_path);
void lns_path_clear (LnsPath *path);

/* The link of PATH, which kept them, that is at TIME_NS: its index, or SIZE_MAX where the path is not there. O(log links). */
size_t lns_path_link_at (const LnsPath *path, int64_t time_ns);

/* How much of a run is known, as shares of the whole, 0 – 1. */
typedef struct
{
  double inferred;   /* of the path whose waits are known by their times alone                   */
  double unknown;    /* of the path of which nobody knows what was done or waited for            */
  double unlaunched; /* of the operations of GPUs whose call was not recorded                    */
  double
      branches; /* of the path that nodes of CUDA graphs with branches take: not known if they take more or less */
  bool is_known; /* enough to foretell something                                             */
} LnsPathShares;

/* What PATH, the whole path of GRAPH, says of that. O(1). */
LnsPathShares lns_path_shares (const LnsGraph *graph, const LnsPath *path);

/* The same where nodes of graphs with branches are to take more or less. */
LnsPathShares lns_path_shares_without_branches (const LnsPathShares *shares);
