/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/replay.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"

/* Of a thread that does what is in marks of one edit, in place of the one that did, and puts it into a queue with room for one. */
typedef struct
{
  uint32_t thread, edit;
  bool has_done;       /* something already                                                      */
  int64_t entry_ns;    /* when the other thread came for the last one                            */
  int64_t free_ns;     /* when it was done with the last one                                     */
  int64_t taken_ns[2]; /* when the other thread took the last but one, and the last              */
} Helper;

typedef struct
{
  const LnsGraph *graph;
  const LnsGraphChanges *changes;
  int64_t *times;
  size_t overlap, move; /* the next ones                                                         */
  LNS_ARRAY (Helper) helpers;
} Replay;

static Helper *
helper_of (Replay *replay, const LnsGraphMove *move)
{
  for (size_t i = 0; i < replay->helpers.n; i++)
    if (replay->helpers.items[i].thread == move->thread &&
        replay->helpers.items[i].edit == move->edit)
      return &replay->helpers.items[i];
  Helper *helper = lns_array_add (&replay->helpers);
  *helper =
      (Helper){ .thread = move->thread, .edit = move->edit, .taken_ns = { INT64_MIN, INT64_MIN } };
  return helper;
}

/* The time of point I, which the thread comes to at TIME_NS and with which what another one does begins or ends. That one begins when it
 * could put what it did before into the queue, as the one before that was taken; the thread goes on when it is there and so is what it came for. */
static int64_t
move (Replay *replay, uint32_t i, int64_t time_ns)
{
  const LnsGraph *graph = replay->graph;
  int64_t moved_ns = time_ns;

  for (; replay->move < graph->moves.n && graph->moves.items[replay->move].point == i;
       replay->move++)
    {
      const LnsGraphMove *it = &graph->moves.items[replay->move];
      if (it->edit >= replay->changes->n_edits || !replay->changes->moves[it->edit])
        continue;
      Helper *helper = helper_of (replay, it);
      if (it->is_end)
        {
          helper->free_ns = time_ns;
          moved_ns = time_ns > helper->entry_ns ? time_ns : helper->entry_ns;
          helper->taken_ns[0] = helper->taken_ns[1];
          helper->taken_ns[1] = moved_ns;
          continue;
        }
      if (helper->has_done)
        moved_ns = helper->free_ns > helper->taken_ns[0] ? helper->free_ns : helper->taken_ns[0];
      helper->has_done = true;
      helper->entry_ns = time_ns;
    }
  return moved_ns;
}

/* What the piece of point I loses by changes of marks. RET_WHOLE_NS gets how long it was with its waits, if it does not wait any more, and else
 * −1. */
static int64_t
lost_in_marks (Replay *replay, uint32_t i, int64_t *ret_whole_ns)
{
  const LnsGraph *graph = replay->graph;
  const LnsGraphChanges *changes = replay->changes;
  double lost_ns = 0;

  *ret_whole_ns = -1;
  for (; replay->overlap < graph->overlaps.n && graph->overlaps.items[replay->overlap].point <= i;
       replay->overlap++)
    {
      const LnsGraphOverlap *it = &graph->overlaps.items[replay->overlap];
      if (it->point != i || it->edit >= changes->n_edits)
        continue;
      const LnsGraphChange *change = &changes->of_marks[it->edit];
      lost_ns += (1 - change->factor) * (double)it->ns;
      if (change->drops_waits)
        *ret_whole_ns = it->whole_ns;
    }
  return (int64_t)lost_ns;
}

/* The time of point I with changes. */
static int64_t
changed_time (Replay *replay, uint32_t i)
{
  const LnsGraph *graph = replay->graph;
  const LnsGraphChanges *changes = replay->changes;
  const LnsGraphChange *change =
      changes->of_labels != NULL ? &changes->of_labels[graph->label[i]] : NULL;
  bool waits = graph->source[i] != LNS_POINT_NONE && (change == NULL || !change->drops_waits);
  int64_t ns = graph->ns[i];

  /* An operation takes its own time after whatever it waited for, and what ranks do together after the last of them came. */
  const bool is_operation = lns_graph_label_of (graph, i)->kind > LNS_PIECE_QUEUED ||
                            lns_graph_edge (graph, i) == LNS_EDGE_COLLECTIVE;
  int64_t lag_ns = graph->lag[i];
  if (change != NULL && change->factor != 1)
    {
      const int64_t more_ns = (int64_t)(round ((double)graph->own[i] * (change->factor - 1)));
      ns += more_ns;
      lag_ns += is_operation ? more_ns : 0;
    }
  if (changes->of_marks != NULL)
    {
      int64_t whole_ns;
      const int64_t lost_ns = lost_in_marks (replay, i, &whole_ns);
      /* Of a wait that is over earlier the rest stays: what it was for came whenever that was needed. */
      if (waits && whole_ns >= 0 && !is_operation)
        {
          waits = false;
          ns = whole_ns;
        }
      ns -= lost_ns;
      lag_ns -= is_operation ? lost_ns : 0;
    }
  int64_t time_ns = lns_sum (replay->times[graph->before[i]], ns > 0 ? ns : 0);
  if (waits)
    {
      const int64_t after_ns = lns_sum (replay->times[graph->source[i]], lag_ns);
      time_ns = after_ns > time_ns ? after_ns : time_ns;
    }
  return changes->moves != NULL ? move (replay, i, time_ns) : time_ns;
}

void
lns_graph_replay (const LnsGraph *graph, const LnsGraphChanges *changes, int64_t *ret_times)
{
  Replay replay = { .graph = graph, .changes = changes, .times = ret_times };

  ret_times[0] = graph->start_ns;
  for (uint32_t i = 1; i < graph->n && changes != NULL; i++)
    ret_times[i] = changed_time (&replay, i);
  for (uint32_t i = 1; i < graph->n && changes == NULL; i++)
    {
      const uint32_t source = graph->source[i];
      int64_t time_ns = lns_sum (ret_times[graph->before[i]], graph->ns[i]);
      if (source != LNS_POINT_NONE && lns_sum (ret_times[source], graph->lag[i]) > time_ns)
        time_ns = lns_sum (ret_times[source], graph->lag[i]);
      ret_times[i] = time_ns;
    }
  lns_array_clear (&replay.helpers);
}

uint32_t
lns_graph_end (const LnsGraph *graph, const int64_t *times)
{
  uint32_t end = 0;

  for (size_t i = 0; i < graph->agents.n; i++)
    if (graph->agents.items[i].ends_run && times[graph->agents.items[i].last] > times[end])
      end = graph->agents.items[i].last;
  return end;
}

int64_t
lns_graph_length (const LnsGraph *graph, const int64_t *times)
{
  return lns_difference (times[lns_graph_end (graph, times)], times[0]);
}

void
lns_graph_latest (const LnsGraph *graph, const int64_t *times, int64_t *ret_latest)
{
  const int64_t end_ns = times[lns_graph_end (graph, times)];

  for (uint32_t i = 0; i < graph->n; i++)
    ret_latest[i] = INT64_MAX;
  for (size_t i = 0; i < graph->agents.n; i++)
    if (graph->agents.items[i].ends_run)
      ret_latest[graph->agents.items[i].last] = end_ns;
  for (uint32_t i = graph->n; i-- > 1;)
    {
      if (ret_latest[i] == INT64_MAX)
        continue;
      const uint32_t before = graph->before[i], source = graph->source[i];
      const int64_t latest_ns = lns_difference (ret_latest[i], graph->ns[i]);
      if (latest_ns < ret_latest[before])
        ret_latest[before] = latest_ns;
      if (source != LNS_POINT_NONE &&
          lns_difference (ret_latest[i], graph->lag[i]) < ret_latest[source])
        ret_latest[source] = lns_difference (ret_latest[i], graph->lag[i]);
    }
}
