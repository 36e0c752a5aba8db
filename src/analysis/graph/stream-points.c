/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/stream-points.h"

#include <stdlib.h>

#include "src/analysis/facts/call-class.h"
#include "src/analysis/graph/mark-cursor.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* Clocks of the GPU and the CPU differ by as much: what was launched is looked for this much later. */
#define CLOCK_NS INT64_C (2000)

/* Work of a stream that begins within so long after the end of other work of its process, and later than what is recorded explains,
 * waited for that. */
#define AFTER_NS INT64_C (15000)

/* An operation that takes so long has a point for its start. */
#define LONG_NS INT64_C (1000000000)

/* An operation of another stream that one waits for, or should have: by an event, or for the engine that copies. */
typedef struct
{
  LnsEnded ended;
  bool is_inferred;
  uint32_t wait; /* of an event of which it is not known yet what it stands for, or LNS_ID_NONE  */
  bool is_engine;
} Other;

#define MOST_OTHERS (LNS_MOST_UNKNOWN_WAITS + 2)

/* An operation that was begun. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t before,
      launch; /* points: that it comes after in its stream, and of the call, or LNS_POINT_NONE */
  Other others[MOST_OTHERS];
  unsigned n_others;
  uint32_t label;
  /* Of a collective: which, and the point at which it began. */
  const LnsCollective *collective;
  uint32_t start;
} Running;

struct LnsStreamPoints
{
  uint32_t number, agent;
  LnsStreamWork work;
  LnsStreamOperation next;
  bool has_next;
  LNS_ARRAY (Running) running;
};

LnsStreamPoints *
lns_stream_points_new (LnsReport *report, uint32_t number, uint32_t agent)
{
  LnsStreamPoints *stream = lns_calloc (1, sizeof *stream);

  stream->number = number;
  stream->agent = agent;
  stream->work.report = report;
  return stream;
}

void
lns_stream_points_free (LnsStreamPoints *stream)
{
  if (stream == NULL)
    return;
  lns_stream_work_clear (&stream->work);
  lns_array_clear (&stream->running);
  free (stream);
}

uint32_t
lns_stream_points_number (const LnsStreamPoints *stream)
{
  return stream->number;
}

void
lns_stream_points_add_lane (LnsStreamPoints *stream, uint32_t lane)
{
  lns_stream_work_add (&stream->work, lane);
}

bool
lns_stream_points_begin (LnsStreamPoints *stream, LnsError *error)
{
  return lns_stream_work_next (&stream->work, &stream->next, &stream->has_next, error);
}

/* The operation of another stream of the process of STREAM that ended last, if START_NS is right after that, or NULL. */
static const LnsEnded *
find_other (const LnsStreamPlace *place, const LnsStreamPoints *stream, int64_t start_ns)
{
  uint32_t number;
  const LnsEnded *ended = lns_gpu_order_last_of_all (place->gpu, &number);

  return ended != NULL && number != stream->number && ended->ns <= start_ns &&
                 start_ns - ended->ns <= AFTER_NS
             ? ended
             : NULL;
}

/* When the operation RUNNING could begin by its stream and its call; INT64_MIN: neither is known. */
static int64_t
known_start (const LnsPoints *points, const Running *running)
{
  const int64_t ended_ns = running->before != LNS_POINT_NONE
                               ? lns_points_time (points, running->before)
                               : INT64_MIN,
                launch_ns = running->launch != LNS_POINT_NONE
                                ? lns_points_time (points, running->launch)
                                : INT64_MIN;
  return ended_ns > launch_ns ? ended_ns : launch_ns;
}

/* The edge of POINT, a start of RUNNING, or its end where it has one point, from the call that launched it. */
static void
set_launch (LnsPoints *points, const Running *running, uint32_t point)
{
  if (running->before != LNS_POINT_NONE && running->launch != LNS_POINT_NONE)
    lns_graph_set_source (
        points->graph, point, running->launch,
        lns_difference (lns_points_time (points, point), lns_points_time (points, running->launch)),
        LNS_EDGE_LAUNCH);
  else
    points->graph->marks[point] =
        running->launch != LNS_POINT_NONE ? LNS_EDGE_LAUNCH : LNS_EDGE_NONE;
}

/* What RUNNING begins after. */
static uint32_t
before_of (const Running *running)
{
  return running->before != LNS_POINT_NONE   ? running->before
         : running->launch != LNS_POINT_NONE ? running->launch
                                             : 0;
}

/* The one of what RUNNING waited for that ended last, if that was after all else, or NULL. */
static const Other *
bound_by (const LnsPoints *points, const Running *running)
{
  const Other *last = NULL;

  for (unsigned i = 0; i < running->n_others; i++)
    if (running->others[i].wait == LNS_ID_NONE &&
        running->others[i].ended.ns > known_start (points, running) &&
        (last == NULL || running->others[i].ended.ns > last->ended.ns))
      last = &running->others[i];
  return last;
}

/* Adds points for all that RUNNING waited for after START, the last of them at TIME_NS, no earlier than its start, with the label LABEL. Returns that. */
static uint32_t
add_after_others (const LnsStreamPlace *place,
                  const Running *running,
                  uint32_t start,
                  int64_t time_ns,
                  uint32_t label)
{
  LnsGraph *graph = place->points->graph;
  const Other *bound = bound_by (place->points, running);
  uint32_t point = start;

  if (bound != NULL)
    graph->marks[start] |= LNS_POINT_NOT_BOUND;
  for (unsigned i = 0; i < running->n_others; i++)
    {
      const Other *other = &running->others[i];
      const bool is_last = i + 1 == running->n_others;
      const int64_t ns = is_last ? time_ns : running->start_ns;
      point = lns_points_add (place->points, point, ns, is_last ? label : graph->label[start]);
      if (other->wait != LNS_ID_NONE)
        lns_event_streams_set_point (place->events, other->wait, point);
      else
        lns_graph_set_source (graph, point, other->ended.end, ns - other->ended.ns,
                              LNS_EDGE_EVENT | (other->is_inferred ? LNS_POINT_INFERRED : 0) |
                                  (other == bound ? LNS_POINT_BY_SOURCE : LNS_POINT_NOT_BOUND));
      if (other->is_engine)
        lns_copy_engines_set_point (
            place->engines, graph->agents.items[lns_graph_label_of (graph, point)->agent].device,
            graph->labels.items[running->label].more, point);
    }
  return point;
}

/* Adds the start of RUNNING, of STREAM. Returns it. */
static uint32_t
add_start (const LnsStreamPlace *place, const LnsStreamPoints *stream, const Running *running)
{
  const uint32_t queued = place->points->graph->agents.items[stream->agent].rest;
  const uint32_t start =
      lns_points_add (place->points, before_of (running), running->start_ns, queued);

  set_launch (place->points, running, start);
  return add_after_others (place, running, start, running->start_ns, queued);
}

/* Adds the points of RUNNING, which has ended: one, unless it waited for another stream or took long. Returns its end. */
static uint32_t
add_operation (const LnsStreamPlace *place, const LnsStreamPoints *stream, const Running *running)
{
  LnsPoints *points = place->points;
  const uint32_t queued = points->graph->agents.items[stream->agent].rest;
  const int64_t own_ns = running->end_ns - running->start_ns;

  if (running->n_others == 0 && own_ns <= LONG_NS)
    {
      const uint32_t point = lns_points_add_own (points, before_of (running), running->end_ns,
                                                 own_ns, running->label, queued);
      set_launch (points, running, point);
      return point;
    }
  const uint32_t start = lns_points_add (points, before_of (running), running->start_ns, queued);
  set_launch (points, running, start);
  return running->n_others > 0
             ? add_after_others (place, running, start, running->end_ns, running->label)
             : lns_points_add (points, start, running->end_ns, running->label);
}

/* Finds what RUNNING, the OPERATION that STREAM has next, has to wait for in other streams. */
static void
find_others (const LnsStreamPoints *stream,
             const LnsStreamPlace *place,
             const LnsStreamOperation *operation,
             Running *running)
{
  const int64_t start_ns = running->start_ns, known_ns = known_start (place->points, running);
  const uint32_t device = place->points->graph->agents.items[stream->agent].device;
  LnsUnknownWaits unknown;
  const LnsEnded *other =
      lns_gpu_order_take_waits (place->gpu, stream->number, running->launch, &unknown);
  const LnsEnded *engine = operation->kind == LNS_PIECE_COPY
                               ? lns_copy_engines_begin (place->engines, device, operation->more,
                                                         stream->number, start_ns, running->end_ns)
                               : NULL;

  for (unsigned i = 0; i < unknown.n; i++)
    {
      const uint32_t wait = lns_event_streams_add (place->events, place->gpu, &unknown.items[i],
                                                   stream->number, start_ns, known_ns);
      if (wait != LNS_ID_NONE)
        running->others[running->n_others++] = (Other){ .wait = wait };
    }
  if (engine != NULL)
    running->others[running->n_others++] =
        (Other){ *engine, .is_inferred = true, .wait = LNS_ID_NONE, .is_engine = true };
  bool is_inferred = false;
  if (other == NULL && known_ns != INT64_MIN && start_ns - known_ns > AFTER_NS &&
      (engine == NULL || start_ns - engine->ns > AFTER_NS))
    {
      other = find_other (place, stream, start_ns);
      is_inferred = other != NULL;
    }
  if (other != NULL && other->ns <= start_ns)
    running->others[running->n_others++] = (Other){ *other, is_inferred, LNS_ID_NONE, false };
}

/* Notes which operations of STREAM are at work when one that LAUNCH launched, with LABEL, begins, and were launched by the same: a stream has
 * one after the other, but for the nodes of a graph. */
static void
note_branches (LnsGraph *graph, const LnsStreamPoints *stream, uint32_t launch, uint32_t label)
{
  for (size_t i = 0; i < stream->running.n && launch != LNS_POINT_NONE; i++)
    if (stream->running.items[i].launch == launch)
      graph->labels.items[label].has_branches =
          graph->labels.items[stream->running.items[i].label].has_branches = true;
}

/* The operation that STREAM has next begins. */
static bool
begin_operation (LnsStreamPoints *stream, const LnsStreamPlace *place, LnsError *error)
{
  LnsGraph *graph = place->points->graph;
  const LnsStreamOperation *operation = &stream->next;
  const int64_t start_ns = operation->start_ns;
  LnsGpuOrder *gpu = place->gpu;
  const LnsEnded *ended = lns_gpu_order_last (gpu, stream->number);
  uint32_t launch;

  if (operation->correlation == 0 ||
      !lns_launched_find (place->launched, operation->correlation, &launch))
    launch = LNS_POINT_NONE;
  graph->n_operations++;
  graph->n_unlaunched += launch == LNS_POINT_NONE;
  Running running = { .start_ns = start_ns,
                      .end_ns = operation->end_ns > start_ns ? operation->end_ns : start_ns,
                      .before = ended != NULL ? ended->end : LNS_POINT_NONE,
                      .launch = launch,
                      .label = lns_graph_label (graph, operation->kind, stream->agent,
                                                operation->name, operation->more) };
  find_others (stream, place, operation, &running);
  lns_gpu_order_begin (gpu, stream->number, launch);
  note_branches (graph, stream, launch, running.label);
  LnsGraphLabel *label = &graph->labels.items[running.label];
  label->bytes += operation->bytes;
  if (label->n == 0 && operation->kind == LNS_PIECE_KERNEL)
    label->is_collective =
        lns_is_collective (lns_report_string (graph->report, operation->name, NULL));
  if (label->is_collective)
    {
      running.start = add_start (place, stream, &running);
      running.collective = lns_collectives_begin (place->collectives, stream->agent,
                                                  operation->name, running.start, start_ns);
    }
  *lns_array_add (&stream->running) = running;
  return lns_stream_work_next (&stream->work, &stream->next, &stream->has_next, error);
}

/* The index in `running` of what of STREAM ends first. */
static size_t
first_to_end (const LnsStreamPoints *stream)
{
  size_t first = 0;

  for (size_t i = 1; i < stream->running.n; i++)
    if (stream->running.items[i].end_ns < stream->running.items[first].end_ns)
      first = i;
  return first;
}

static void
end_operation (LnsStreamPoints *stream, const LnsStreamPlace *place)
{
  LnsGraph *graph = place->points->graph;
  const size_t at = first_to_end (stream);
  const Running running = stream->running.items[at];

  stream->running.items[at] = stream->running.items[--stream->running.n];
  const uint32_t end = running.collective != NULL
                           ? lns_collective_end (running.collective, place->points, stream->agent,
                                                 running.start, running.end_ns, running.label)
                           : add_operation (place, stream, &running);
  graph->agents.items[stream->agent].last = end;
  lns_marks_note_operation (place->marks, place->n_marks, graph, end, running.start_ns,
                            running.end_ns);
  const LnsEnded ended = { .end = end, .launch = running.launch, .ns = running.end_ns };
  lns_gpu_order_end (place->gpu, stream->number, running.start_ns, &ended);
  if (lns_graph_label_of (graph, end)->kind == LNS_PIECE_COPY)
    lns_copy_engines_end (place->engines, graph->agents.items[stream->agent].device,
                          lns_graph_label_of (graph, end)->more, stream->number, &ended);
}

bool
lns_stream_points_next (const LnsStreamPoints *stream, int64_t *ret_ns)
{
  const int64_t end_ns = stream->running.n > 0 ? stream->running.items[first_to_end (stream)].end_ns
                                               : INT64_MAX,
                start_ns = stream->has_next ? lns_sum (stream->next.start_ns, CLOCK_NS) : INT64_MAX;

  *ret_ns = end_ns < start_ns ? end_ns : start_ns;
  return stream->has_next || stream->running.n > 0;
}

bool
lns_stream_points_go (LnsStreamPoints *stream, const LnsStreamPlace *place, LnsError *error)
{
  const bool may_end = stream->running.n > 0;

  if (!may_end || (stream->has_next &&
                   stream->running.items[first_to_end (stream)].end_ns > stream->next.start_ns))
    return !stream->has_next || begin_operation (stream, place, error);
  end_operation (stream, place);
  return true;
}
