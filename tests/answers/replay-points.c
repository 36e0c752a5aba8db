/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* replay-points: replays a graph that was written down. Stdin has how many points and steps there are, and how many values each of the N_KEYS
 * keys has; then a line for each point but the first: BEFORE SOURCE OWN IDEAL KEY… STEP. It comes when both BEFORE + OWN and SOURCE are
 * over, −1: there is no source; the piece would ideally take IDEAL; it ends step STEP − 1, 0: none. Prints how long all steps take
 * together as they were, ideally, and ideally but for what has one value of a key, for each value of each key. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/analysis/graph/replay.h"
#include "src/base/memory.h"

#define N_KEYS 3

typedef struct
{
  int64_t own, ideal;
  int values[N_KEYS];
} Piece;

typedef struct
{
  LnsGraph graph;
  Piece *pieces; /* by point                                                                     */
  uint32_t *ends, *steps;
  uint32_t n_ends, n_steps;
  LnsGraphChange *changes; /* by label, of which each piece has its own                          */
  int64_t *times, *step_ends;
} Replay;

/* Prints how long the steps take if all is ideal, but for what has VALUE of KEY; KEY N_KEYS: as it was, −1: all is ideal. */
static void
replay (Replay *replay, int key, int value)
{
  const LnsGraph *graph = &replay->graph;
  int64_t sum = 0;

  for (uint32_t i = 1; i < graph->n; i++)
    {
      const Piece *piece = &replay->pieces[i];
      const bool stays =
          key == N_KEYS || (key >= 0 && piece->values[key] == value) || piece->own == 0;
      replay->changes[graph->label[i]].factor =
          stays ? 1 : (double)piece->ideal / (double)piece->own;
    }
  lns_graph_replay (graph, &(LnsGraphChanges){ .of_labels = replay->changes }, replay->times);
  for (uint32_t i = 0; i < replay->n_steps; i++)
    replay->step_ends[i] = 0;
  for (uint32_t i = 0; i < replay->n_ends; i++)
    {
      int64_t *end = &replay->step_ends[replay->steps[i]];
      if (replay->times[replay->ends[i]] > *end)
        *end = replay->times[replay->ends[i]];
    }
  for (uint32_t i = 0; i < replay->n_steps; i++)
    sum += replay->step_ends[i];
  printf ("%" PRId64 "\n", sum);
}

int
main (void)
{
  Replay all = { 0 };
  uint32_t n;
  int n_values[N_KEYS];

  if (scanf ("%" SCNu32 " %" SCNu32 " %d %d %d", &n, &all.n_steps, &n_values[0], &n_values[1],
             &n_values[2]) != 5)
    return 1;
  all.pieces = lns_calloc (n, sizeof *all.pieces);
  all.ends = lns_calloc (n, sizeof *all.ends);
  all.steps = lns_calloc (n, sizeof *all.steps);
  all.times = lns_calloc (n, sizeof *all.times);
  all.step_ends = lns_calloc (all.n_steps, sizeof *all.step_ends);
  all.changes = lns_calloc (n, sizeof *all.changes);
  for (uint32_t i = 0; i < n; i++)
    all.changes[i].factor = 1;
  lns_graph_add (&all.graph, LNS_POINT_NONE, 0,
                 lns_graph_label (&all.graph, LNS_PIECE_JOIN, 0, 0, 0));
  for (uint32_t i = 1; i < n; i++)
    {
      Piece *piece = &all.pieces[i];
      uint32_t before, step;
      int64_t source;
      if (scanf ("%" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %d %d %" SCNu32, &before,
                 &source, &piece->own, &piece->ideal, &piece->values[0], &piece->values[1],
                 &piece->values[2], &step) != 8)
        return 1;
      lns_graph_add (&all.graph, before, piece->own,
                     lns_graph_label (&all.graph, LNS_PIECE_RUN, 0, i, 0));
      if (source >= 0)
        lns_graph_set_source (&all.graph, i, (uint32_t)source, 0, LNS_EDGE_WAKE);
      if (step > 0)
        {
          all.ends[all.n_ends] = i;
          all.steps[all.n_ends++] = step - 1;
        }
    }
  replay (&all, N_KEYS, 0);
  replay (&all, -1, 0);
  for (int key = 0; key < N_KEYS; key++)
    for (int value = 0; value < n_values[key]; value++)
      replay (&all, key, value);
  return 0;
}
