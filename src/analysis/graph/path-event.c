/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/path-event.h"

#include <stdlib.h>

#include "src/analysis/facts/lane-cursor.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* The kind of the lanes that tell of operations of KIND; LNS_LANE_NONE: all such lanes. */
static LnsLaneKind
lanes_of (LnsPieceKind kind)
{
  return kind == LNS_PIECE_KERNEL  ? LNS_LANE_CUDA_KERNEL
         : kind == LNS_PIECE_COPY  ? LNS_LANE_CUDA_MEMCPY
         : kind == LNS_PIECE_SET   ? LNS_LANE_CUDA_MEMSET
         : kind == LNS_PIECE_GRAPH ? LNS_LANE_CUDA_GRAPH
         : kind == LNS_PIECE_HOST  ? LNS_LANE_CUDA_HOST
                                   : LNS_LANE_NONE;
}

/* Whether LANE of REPORT tells what AGENT did in pieces of KIND. */
static bool
is_of (LnsReport *report, uint32_t lane, const LnsGraphAgent *agent, LnsPieceKind kind)
{
  const LnsTrack *track = lns_track_of (report, lane);
  const LnsLaneKind lane_kind = lns_report_lanes (report, NULL)[lane].kind;

  if (agent->thread == LNS_ID_NONE)
    return track->process == agent->process && track->stream == agent->stream &&
           (lanes_of (kind) != LNS_LANE_NONE
                ? lane_kind == lanes_of (kind)
                : lns_is_gpu_operation (lane_kind) || lane_kind == LNS_LANE_CUDA_HOST);
  if (track->thread != agent->thread)
    return false;
  switch (kind)
    {
    case LNS_PIECE_CALL:
    case LNS_PIECE_SYNC:
      return lane_kind == LNS_LANE_CUDA_API;
    case LNS_PIECE_MPI:
      return lane_kind == LNS_LANE_MPI_CALL;
    default:
      return lane_kind == LNS_LANE_SCHED || lane_kind == LNS_LANE_OS_CALL ||
             lane_kind == LNS_LANE_SYSTEM_CALL || lane_kind == LNS_LANE_LIBRARY_CALL;
    }
}

/* The same in pieces of any kind. */
static bool
is_of_any (LnsReport *report, uint32_t lane, const LnsGraphAgent *agent)
{
  return is_of (report, lane, agent, LNS_PIECE_RUN) ||
         (agent->thread != LNS_ID_NONE && (is_of (report, lane, agent, LNS_PIECE_CALL) ||
                                           is_of (report, lane, agent, LNS_PIECE_MPI)));
}

struct LnsPathEvents
{
  LnsReport *report;
  const LnsGraph *graph;
  LNS_ARRAY (LnsLaneCursor) cursors; /* of the lanes that agents have, by agent                  */
  size_t *first; /* of the cursors of each agent, and their end                                  */
};

LnsPathEvents *
lns_path_events_new (LnsReport *report, const LnsGraph *graph)
{
  LnsPathEvents *events = lns_calloc (1, sizeof *events);
  uint32_t n;

  lns_report_lanes (report, &n);
  events->report = report;
  events->graph = graph;
  events->first = lns_calloc (graph->agents.n + 1, sizeof *events->first);
  for (size_t i = 0; i < graph->agents.n; i++)
    {
      events->first[i] = events->cursors.n;
      for (uint32_t lane = 0; lane < n; lane++)
        if (is_of_any (report, lane, &graph->agents.items[i]))
          *lns_array_add (&events->cursors) = (LnsLaneCursor){
            .report = report, .lane = lane, .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME)
          };
    }
  events->first[graph->agents.n] = events->cursors.n;
  return events;
}

void
lns_path_events_free (LnsPathEvents *events)
{
  if (events == NULL)
    return;
  for (size_t i = 0; i < events->cursors.n; i++)
    lns_lane_cursor_clear (&events->cursors.items[i]);
  lns_array_clear (&events->cursors);
  free (events->first);
  free (events);
}

/* Looks with CURSOR for an event that is there at TIME_NS and, unless NAME is 0, is called that. Where the lane tells of states, it is the last one that began by
 * then: what a thread does after it left a CPU. */
static bool
look (LnsLaneCursor *cursor, int64_t time_ns, uint32_t name, LnsPathEvent *ret_event)
{
  const bool is_states =
      lns_report_lanes (cursor->report, NULL)[cursor->lane].kind == LNS_LANE_SCHED;
  bool is_found = lns_lane_cursor_seek (cursor, time_ns, NULL);

  if (is_found && is_states &&
      (!lns_lane_cursor_has (cursor) || lns_lane_cursor_start (cursor) > time_ns))
    {
      const uint64_t ordinal = lns_lane_cursor_has (cursor)
                                   ? lns_lane_cursor_ordinal (cursor)
                                   : lns_report_lane_info (cursor->report, cursor->lane)->n_events;
      is_found = ordinal > 0 && lns_lane_cursor_go (cursor, ordinal - 1, NULL);
    }
  is_found = is_found && lns_lane_cursor_has (cursor) &&
             lns_lane_cursor_start (cursor) <= time_ns &&
             (name == 0 || cursor->chunk->name[cursor->i] == name);
  if (is_found)
    *ret_event = (LnsPathEvent){ cursor->lane, lns_lane_cursor_ordinal (cursor) };
  return is_found;
}

bool
lns_path_events_find (LnsPathEvents *events, const LnsPathLink *link, LnsPathEvent *ret_event)
{
  const LnsGraphLabel *label = &events->graph->labels.items[link->label];
  const LnsGraphAgent *agent = &events->graph->agents.items[label->agent];
  const size_t first = events->first[label->agent], end = events->first[label->agent + 1];
  const bool is_named = label->name != 0 && label->kind != LNS_PIECE_COPY;
  /* What waits to begin is not there before. */
  const int64_t time_ns = label->kind == LNS_PIECE_QUEUED
                              ? link->end_ns
                              : link->start_ns + (link->end_ns - link->start_ns) / 2;

  if (label->kind == LNS_PIECE_UNKNOWN || label->kind == LNS_PIECE_JOIN)
    return false;
  for (size_t i = first; i < end; i++)
    {
      LnsLaneCursor *cursor = &events->cursors.items[i];
      if (is_of (events->report, cursor->lane, agent, label->kind) &&
          look (cursor, time_ns, is_named ? label->name : 0, ret_event))
        return true;
    }
  /* The call may not be there by itself; the state of the thread is. */
  for (size_t i = first; is_named && i < end; i++)
    {
      LnsLaneCursor *cursor = &events->cursors.items[i];
      if (lns_report_lanes (events->report, NULL)[cursor->lane].kind == LNS_LANE_SCHED &&
          look (cursor, time_ns, 0, ret_event))
        return true;
    }
  return false;
}

uint32_t
lns_path_point_of (
    LnsReport *report, const LnsGraph *graph, const int64_t *times, uint32_t lane, uint64_t ordinal)
{
  LnsLaneCursor cursor = { .report = report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
  uint32_t found = LNS_POINT_NONE;

  if (lns_lane_cursor_go (&cursor, ordinal, NULL) && lns_lane_cursor_has (&cursor))
    {
      const int64_t end_ns = lns_lane_cursor_end (&cursor);
      const uint32_t name = cursor.chunk->name[cursor.i];
      for (uint32_t i = 1; i < graph->n; i++)
        {
          const LnsGraphLabel *label = lns_graph_label_of (graph, i);
          const bool is_operation = label->kind > LNS_PIECE_QUEUED,
                     is_call = label->kind == LNS_PIECE_CALL || label->kind == LNS_PIECE_SYNC ||
                               label->kind == LNS_PIECE_MPI;
          /* Of a call, what its thread does after it follows in the same piece. */
          const bool has_rest = !is_operation && graph->own[i] < graph->ns[i];
          const int64_t at_ns = has_rest ? times[i] - (graph->ns[i] - graph->own[i]) : times[i];
          if ((is_operation || is_call) && at_ns == end_ns &&
              (label->name == name || label->kind == LNS_PIECE_COPY) &&
              is_of (report, lane, &graph->agents.items[label->agent], label->kind))
            found = i;
        }
    }
  lns_lane_cursor_clear (&cursor);
  return found;
}
