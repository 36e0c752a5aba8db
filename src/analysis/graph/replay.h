/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs a graph again: as it was, or with changes. */

#pragma once

#include "src/analysis/graph/graph.h"

/* What becomes of a piece. */
typedef struct
{
  double factor;    /* of what it takes itself                                                   */
  bool drops_waits; /* it waits for nothing                                                      */
} LnsGraphChange;

/* All are borrowed. */
typedef struct
{
  const LnsGraphChange *of_labels; /* by label, or NULL: none changes                            */
  /* By edit of marks, or NULL: what becomes of the time of pieces in its marks. One that drops waits ends them earlier. */
  const LnsGraphChange *of_marks;
  const bool *moves; /* by edit of marks, or NULL: whether another thread does what is in them   */
  uint32_t n_edits;
} LnsGraphChanges;

/* Sets RET_TIMES, of so many as GRAPH has points, to when each would come with CHANGES (NULL: none; then as was measured). Any thread.
 * O(points). */
void lns_graph_replay (const LnsGraph *graph, const LnsGraphChanges *changes, int64_t *ret_times);

/* How long the run takes by TIMES: from point 0 to the last point of what it ends with. O(agents). */
int64_t lns_graph_length (const LnsGraph *graph, const int64_t *times);

/* The point that the run ends with by TIMES. O(agents). */
uint32_t lns_graph_end (const LnsGraph *graph, const int64_t *times);

/* Sets RET_LATEST, as long as TIMES, to when each point may come at the latest, so that the run ends no later; INT64_MAX where the end
 * does not depend on it. O(points). */
void lns_graph_latest (const LnsGraph *graph, const int64_t *times, int64_t *ret_latest);
