/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/build.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/graph/exchange.h"
#include "src/analysis/graph/launched.h"
#include "src/analysis/graph/lock-order.h"
#include "src/analysis/graph/mark-cursor.h"
#include "src/analysis/graph/messages.h"
#include "src/analysis/graph/points.h"
#include "src/analysis/graph/releases.h"
#include "src/analysis/graph/repeats.h"
#include "src/analysis/graph/stream-points.h"
#include "src/analysis/graph/thread-pieces.h"
#include "src/analysis/graph/timed-waits.h"
#include "src/analysis/graph/typical.h"
#include "src/base/heap.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* Clocks of the GPU and the CPU differ by as much: what comes first is looked at this much later. */
#define CLOCK_NS INT64_C (2000)

/* A wait of less than this needs no reason. */
#define AFTER_NS INT64_C (15000)

/* A launch that takes so long waits for room in the queue, if the GPU was at work all the time. */
#define QUEUE_NS INT64_C (50000)

/* A wait that begins with a release of another thread within so long was ended by that. */
#define RELEASE_NS INT64_C (200000)

/* Ranges of which there are more in one lane do not tell where a program is: they are of single operations. */
#define MOST_RANGES 20000

/* What a thread does at a place of its program may depend on so many others. */
#define EDGES_A_PLACE 3

typedef struct
{
  LnsThreadPieces *pieces;
  LnsThreadPiece piece; /* to be told next                                                       */
  bool has_piece, has_begun;
  bool is_told; /* it is being told right now                                                    */
  uint32_t process, agent;
  bool may_extend; /* its last point is a call that nothing comes after                          */
  uint32_t last; /* its last point                                                               */
  uint32_t waited; /* the point at which its last wait ended                                 */
  const LnsCollective *collective; /* that its piece is one of, or NULL                          */
  int64_t over_ns; /* when it finishes as a rank of MPI                                          */
  LnsMessageCall message; /* what of a message its piece is                             */
  uint64_t waited_for; /* address of the condition, or 0                                         */
  LnsTimedWaits timed; /* since it last had another one go on                        */
  LnsMarkCursor marks;
} Thread;

typedef struct
{
  uint32_t process;
  LnsStreamPoints *points;
} Stream;

typedef struct
{
  LnsLaunched launched;
  LnsReleases releases;
  LnsGpuOrder *gpu; /* or NULL: it has no work                                                   */
  LnsEventStreams *events; /* where it has                                                       */
  LnsCopyEngines engines;
  uint32_t main;   /* its main thread, or the first that began                                  */
  uint32_t runner; /* the thread that went on last, or LNS_ID_NONE                              */
} Process;

typedef enum
{
  OF_THREAD,
  OF_STREAM,
  OF_CALLS,
  OF_SYNCS,
  OF_EVENTS,
  OF_RELEASES,
  OF_RANGES
} ActorSort;

/* Something that has a next time at which it does something. */
typedef struct
{
  int64_t ns;
  ActorSort sort;
  uint32_t index; /* of the thread, the stream, or the cursor                                    */
  bool is_in;     /* a range, whose end comes next                                               */
} Actor;

typedef struct
{
  LnsReport *report;
  LnsThreadFacts *facts;
  LnsGraph *graph;
  const LnsGraphMark *marks;
  size_t n_marks;
  const atomic_bool *cancel;
  LnsError *error;
  bool failed;
  Thread *threads; /* by instance                                                                */
  uint32_t n_threads;
  Process *processes;
  uint32_t n_processes;
  LNS_ARRAY (Stream) streams;
  LNS_ARRAY (LnsLaneCursor) cursors;
  LnsRepeats *repeats;
  LnsExchange *exchange;
  LnsLockOrder *locks;
  LNS_ARRAY (Actor) actors;
  LnsCollectives collectives, mpi; /* of GPUs and of ranks                                       */
  LnsMessages messages;
  LnsPoints points;
} Builder;

static int64_t
time_of (const Builder *builder, uint32_t point)
{
  return lns_points_time (&builder->points, point);
}

static uint32_t
label (Builder *builder, LnsPieceKind kind, uint32_t agent, uint32_t name)
{
  return lns_graph_label (builder->graph, kind, agent, name, 0);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static uint32_t
label_of_piece (Builder *builder, const Thread *thread)
{
  return label (builder, thread->piece.kind, thread->agent, thread->piece.name);
}

/* Has THREAD go on as its piece says until TIME_NS: a call of CUDA that nothing comes after lasts until then, with what the thread does after
 * it. Returns the point then. */
static uint32_t
go_on (Builder *builder, Thread *thread, int64_t time_ns)
{
  const int64_t before_ns = time_of (builder, thread->last);

  if (thread->may_extend && thread->piece.kind == LNS_PIECE_RUN &&
      lns_graph_extend (builder->graph, thread->last, time_ns - before_ns,
                        builder->graph->agents.items[thread->agent].rest))
    builder->points.times.items[thread->last] = time_ns;
  else
    thread->last =
        lns_points_add (&builder->points, thread->last, time_ns, label_of_piece (builder, thread));
  thread->may_extend = false;
  lns_mark_cursor_note (&thread->marks, builder->graph, thread->last, before_ns, time_ns);
  return thread->last;
}

/* Thread NUMBER comes into a mark that is moved, or out of it. */
static void
add_move (Builder *builder, uint32_t number)
{
  Thread *thread = &builder->threads[number];

  thread->last = lns_points_add (&builder->points, thread->last, time_of (builder, thread->last),
                                 label (builder, LNS_PIECE_JOIN, thread->agent, 0));
  lns_mark_cursor_move (&thread->marks, builder->graph, number, thread->last);
}

static uint32_t point_of_thread (Builder *builder, uint32_t number, int64_t time_ns);

static bool
read_piece (Builder *builder, Thread *thread)
{
  if (!lns_thread_pieces_next (thread->pieces, &thread->piece, &thread->has_piece, builder->error))
    builder->failed = true;
  return !builder->failed;
}

/* Whether THREAD serves others and waits for what they ask of it by ways that are not recorded. */
static bool
is_served (const Builder *builder, const Thread *thread)
{
  const uint32_t main = builder->processes[thread->process].main;

  return thread->piece.kind == LNS_PIECE_OUTSIDE && main != LNS_ID_NONE &&
         thread != &builder->threads[main] &&
         lns_thread_piece_is_blind (builder->report, &thread->piece);
}

/* Whether how long the piece of THREAD is follows from something else: it is not cut. */
static bool
is_whole (const Builder *builder, const Thread *thread)
{
  const LnsPieceKind kind = thread->piece.kind;

  return kind == LNS_PIECE_WAIT || kind == LNS_PIECE_SYNC || kind == LNS_PIECE_CALL ||
         kind == LNS_PIECE_MPI || is_served (builder, thread);
}

/* Has THREAD, which begins with a piece, meet others in it, if it is one in which ranks do so. */
static void
meet (Builder *builder, Thread *thread)
{
  thread->collective = NULL;
  thread->message.channel = 0;
  if (!thread->has_piece || thread->piece.kind != LNS_PIECE_MPI)
    return;
  if (thread->piece.class == LNS_CALL_COLLECTIVE)
    thread->collective = lns_collectives_begin (&builder->mpi, thread->agent, thread->piece.name,
                                                thread->last, time_of (builder, thread->last));
  else if (thread->piece.class == LNS_CALL_PEER)
    thread->message = lns_messages_begin (&builder->messages, builder->report, &thread->piece,
                                          thread->process, thread->last);
}

/* Begins with the point from which THREAD goes on: its creator's, as far as that is known. */
static void
begin_thread (Builder *builder, uint32_t number)
{
  Thread *thread = &builder->threads[number];
  Process *process = &builder->processes[thread->process];
  const uint32_t parent = lns_report_processes (builder->report, NULL)[thread->process].parent;
  const int64_t start_ns = thread->piece.start_ns;
  uint32_t creator = process->main;

  thread->has_begun = true;
  if (creator == number || creator == LNS_ID_NONE || !builder->threads[creator].has_begun)
    creator = parent < builder->n_processes ? builder->processes[parent].main : LNS_ID_NONE;
  const bool is_born = creator != LNS_ID_NONE && creator != number &&
                       builder->threads[creator].has_begun &&
                       time_of (builder, builder->threads[creator].last) <= start_ns;
  const uint32_t before = is_born ? point_of_thread (builder, creator, start_ns) : 0;
  thread->last = lns_points_add (&builder->points, before, start_ns,
                                 label (builder, LNS_PIECE_JOIN, thread->agent, 0));
  if (is_born)
    builder->graph->marks[thread->last] = LNS_EDGE_BIRTH | LNS_POINT_INFERRED;
  if (process->main == LNS_ID_NONE)
    process->main = number;
  meet (builder, thread);
}

/* A thread that waits for a condition looks whether it is so when it was woken, and if not waits again within so long and does nothing else. */
#define AGAIN_NS INT64_C (100000)

/* Thread NUMBER waited until POINT, from START_NS on: drops the edge of the wait before, if that was for nothing. */
static void
drop_again (Builder *builder, uint32_t number, uint32_t point, int64_t start_ns)
{
  Thread *thread = &builder->threads[number];
  const uint64_t lock =
      strstr (lns_report_string (builder->report, thread->piece.name, NULL), "cond") != NULL
          ? lns_thread_piece_lock (builder->report, &thread->piece)
          : 0;

  if (lock != 0 && thread->waited_for == lock &&
      start_ns - time_of (builder, thread->waited) < AGAIN_NS &&
      lns_points_only_ran (&builder->points, thread->waited, builder->graph->before[point]))
    {
      builder->graph->source[thread->waited] = LNS_POINT_NONE;
      builder->graph->marks[thread->waited] = LNS_EDGE_NONE;
      lns_repeats_take_back (builder->repeats, number);
    }
  thread->waited = point;
  thread->waited_for = lock;
}

/* The last point of the thread of the process of thread NUMBER that ended last from START_NS to END_NS, or LNS_POINT_NONE. */
static uint32_t
joined (Builder *builder, uint32_t number, int64_t start_ns, int64_t end_ns)
{
  uint32_t found = LNS_POINT_NONE;

  for (uint32_t i = 0; i < builder->n_threads; i++)
    {
      const Thread *other = &builder->threads[i];
      if (i == number || !other->has_begun || other->process != builder->threads[number].process)
        continue;
      const uint32_t last = point_of_thread (builder, i, end_ns);
      const int64_t ns = time_of (builder, last);
      if (!other->has_piece && ns >= start_ns && ns <= end_ns &&
          (found == LNS_POINT_NONE || ns > time_of (builder, found)))
        found = last;
    }
  return found;
}

/* A point of PROCESS between START_NS and END_NS, when thread NUMBER waited: of the main thread, or where that waits, too, of the one that
 * went on last. LNS_POINT_NONE: none went on. */
static uint32_t
progress_of (
    Builder *builder, const Process *process, uint32_t number, int64_t start_ns, int64_t end_ns)
{
  const uint32_t threads[] = { process->main, process->runner };

  for (int i = 0; i < 2; i++)
    if (threads[i] != LNS_ID_NONE && threads[i] != number && builder->threads[threads[i]].has_begun)
      {
        const uint32_t point = point_of_thread (builder, threads[i], end_ns);
        if (time_of (builder, point) > start_ns)
          return point;
      }
  return LNS_POINT_NONE;
}

/* Adds the end of the wait of thread NUMBER, of which nobody knows what it was for: that is taken to have come when the others, where one went on
 * meanwhile, were where they were then. RET_IS_ANCHORED gets whether that is so; else it takes as long as it did. */
static uint32_t
add_with_others (Builder *builder, uint32_t number, bool *ret_is_anchored)
{
  Thread *thread = &builder->threads[number];
  const LnsThreadPiece *piece = &thread->piece;
  const uint32_t start = thread->last, kind = label_of_piece (builder, thread);
  const int64_t start_ns = time_of (builder, start);
  const uint32_t source =
      progress_of (builder, &builder->processes[thread->process], number, start_ns, piece->end_ns);

  *ret_is_anchored = source != LNS_POINT_NONE;
  if (source == LNS_POINT_NONE)
    return lns_points_add (&builder->points, start, piece->end_ns, kind);
  const uint32_t point = lns_points_add (&builder->points, start, start_ns, kind);
  builder->graph->labels.items[kind].ns += piece->end_ns - start_ns;
  builder->points.times.items[point] = piece->end_ns;
  lns_graph_set_source (builder->graph, point, source, piece->end_ns - time_of (builder, source),
                        LNS_EDGE_WAKE | LNS_POINT_INFERRED | LNS_POINT_BY_SOURCE);
  return point;
}

/* The end of a wait for another thread. */
static uint32_t
add_wait (Builder *builder, uint32_t number)
{
  Thread *thread = &builder->threads[number];
  LnsThreadPiece *piece = &thread->piece;
  const uint32_t start = thread->last;
  const int64_t start_ns = time_of (builder, start);
  const char *name = lns_report_string (builder->report, piece->name, NULL);
  uint32_t waker = piece->waker, source = LNS_POINT_NONE;
  unsigned marks =
      LNS_EDGE_WAKE | LNS_POINT_BY_SOURCE | (piece->is_likely ? LNS_POINT_INFERRED : 0);

  if (waker < builder->n_threads && waker != number && builder->threads[waker].has_begun)
    {
      /* It may have gone on until this one had a CPU. */
      source = lns_points_back (&builder->points, point_of_thread (builder, waker, piece->woken_ns),
                                piece->woken_ns);
      builder->threads[waker].timed.points.n = 0;
    }
  else
    {
      /* Where wakers are recorded, one without was ended by time. */
      const int64_t near_ns = lns_difference (piece->end_ns, RELEASE_NS);
      const LnsRelease *release =
          builder->graph->has_wakers
              ? NULL
              : lns_releases_find (&builder->processes[thread->process].releases, number, name,
                                   near_ns > start_ns ? near_ns : start_ns, piece->end_ns);
      source = release != NULL                  ? release->point
               : strstr (name, "_join") != NULL ? joined (builder, number, start_ns, piece->end_ns)
                                                : LNS_POINT_NONE;
      marks |= LNS_POINT_INFERRED;
    }
  if (source == LNS_POINT_NONE || time_of (builder, source) < start_ns)
    {
      /* How long it was is all that is known: where its time was over, a thread that serves others looks whether there is something to do. */
      const bool is_timed = lns_thread_piece_is_timed (builder->report, piece) &&
                            number != builder->processes[thread->process].main;
      bool is_anchored = false;
      const uint32_t point = is_timed ? add_with_others (builder, number, &is_anchored)
                                      : lns_points_add (&builder->points, start, piece->end_ns,
                                                        label_of_piece (builder, thread));
      if (!is_anchored && piece->end_ns - start_ns > AFTER_NS)
        builder->graph->marks[point] = LNS_POINT_LATE;
      lns_timed_waits_add (&thread->timed, piece->name, point,
                           lns_thread_piece_is_timed (builder->report, piece));
      return point;
    }
  lns_timed_waits_forget (&thread->timed, piece->name, builder->graph);
  const uint32_t kind = label_of_piece (builder, thread);
  const uint32_t point = lns_points_add (&builder->points, start, start_ns, kind);
  builder->graph->labels.items[kind].ns += piece->end_ns - start_ns;
  builder->points.times.items[point] = piece->end_ns;
  lns_graph_set_source (builder->graph, point, source, piece->end_ns - time_of (builder, source),
                        marks);
  drop_again (builder, number, point, start_ns);
  if (waker >= builder->n_threads)
    return point;
  if (strstr (name, "mutex") == NULL)
    lns_repeats_wait (builder->repeats, number, waker, start_ns, piece->woken_ns,
                      builder->points.times.items);
  else
    lns_lock_order_wait (builder->locks, lns_thread_piece_lock (builder->report, piece), number,
                         waker, piece->woken_ns, builder->points.times.items);
  return point;
}

/* The end of a call that waits for the GPU. */
static uint32_t
add_sync (Builder *builder, uint32_t number)
{
  Thread *thread = &builder->threads[number];
  const LnsThreadPiece *piece = &thread->piece;
  const LnsGpuOrder *gpu = builder->processes[thread->process].gpu;
  const uint32_t call = thread->last, sync = label_of_piece (builder, thread);
  uint32_t point = lns_points_add (&builder->points, call, piece->end_ns, sync);

  if (gpu == NULL)
    return point;
  const LnsAwaited awaited = lns_gpu_order_awaited (
      gpu, piece->class, lns_report_string (builder->report, piece->name, NULL), piece->correlation,
      call);
  for (unsigned i = 0; i < awaited.n; i++)
    {
      const LnsEnded *ended = &awaited.ends[i];
      if (i > 0 && ended->ns < piece->start_ns)
        continue;
      /* What else it waits for stands in points of the same label, which are no calls. */
      if (i > 0)
        {
          point = lns_points_add (&builder->points, point, piece->end_ns, sync);
          builder->graph->labels.items[sync].n--;
        }
      lns_graph_set_source (builder->graph, point, ended->end, piece->end_ns - ended->ns,
                            LNS_EDGE_SYNC | (awaited.is_inferred ? LNS_POINT_INFERRED : 0) |
                                (i > 0 ? LNS_POINT_NOT_BOUND : 0));
    }
  return point;
}

/* The end of a call of CUDA that does not wait by its name. */
static uint32_t
add_call (Builder *builder, uint32_t number)
{
  Thread *thread = &builder->threads[number];
  const LnsThreadPiece *piece = &thread->piece;
  const LnsGpuOrder *gpu = builder->processes[thread->process].gpu;
  const uint32_t call = thread->last;
  const int64_t start_ns = time_of (builder, call);
  uint32_t unused;
  const LnsEnded *ended = gpu != NULL ? lns_gpu_order_last_of_all (gpu, &unused) : NULL;
  const bool is_in = ended != NULL && ended->ns > start_ns && ended->ns <= piece->end_ns;
  /* A copy of pageable memory is over when the call returns; a launch that found no room returns when there is some. */
  const bool is_own = is_in && ended->launch == call;
  const bool has_waited =
      is_own ||
      (is_in && piece->class == LNS_CALL_LAUNCH && piece->end_ns - start_ns > QUEUE_NS &&
       lns_gpu_order_busy_since (gpu) <= start_ns && piece->end_ns - ended->ns < AFTER_NS);

  if (has_waited)
    thread->piece.kind = LNS_PIECE_SYNC;
  const uint32_t point =
      lns_points_add (&builder->points, call, piece->end_ns, label_of_piece (builder, thread));
  if (has_waited)
    lns_graph_set_source (builder->graph, point, ended->end, piece->end_ns - ended->ns,
                          is_own ? LNS_EDGE_SYNC : LNS_EDGE_QUEUE | LNS_POINT_INFERRED);
  return point;
}

/* Tells the rest of the piece of thread NUMBER, and reads the next one. */
static void
tell_piece (Builder *builder, uint32_t number)
{
  Thread *thread = &builder->threads[number];
  LnsThreadPiece *piece = &thread->piece;
  const uint32_t before = thread->last, n_before = builder->graph->n;
  const int64_t before_ns = time_of (builder, before);
  const bool is_lone = piece->kind == LNS_PIECE_MPI && thread->collective == NULL &&
                       thread->message.channel == 0,
             goes_on = is_lone || !is_whole (builder, thread);
  bool is_anchored;
  thread->is_told = true;
  if (piece->kind == LNS_PIECE_WAIT)
    thread->last = add_wait (builder, number);
  else if (piece->kind == LNS_PIECE_SYNC)
    thread->last = add_sync (builder, number);
  else if (piece->kind == LNS_PIECE_CALL)
    thread->last = add_call (builder, number);
  else if (thread->collective != NULL)
    thread->last = lns_collective_end (thread->collective, &builder->points, thread->agent, before,
                                       piece->end_ns, label_of_piece (builder, thread));
  else if (thread->message.channel != 0)
    thread->last = lns_messages_end (&builder->messages, &thread->message, &builder->points, before,
                                     piece->end_ns, label_of_piece (builder, thread));
  else if (is_served (builder, thread))
    thread->last = add_with_others (builder, number, &is_anchored);
  else if (goes_on && piece->end_ns > before_ns)
    go_on (builder, thread, piece->end_ns);
  thread->may_extend = piece->kind == LNS_PIECE_CALL;
  if (piece->kind == LNS_PIECE_RUN || piece->kind == LNS_PIECE_CALL)
    builder->processes[thread->process].runner = number;
  /* One that waits for several streams has several points. */
  for (uint32_t i = piece->kind == LNS_PIECE_SYNC || piece->kind == LNS_PIECE_MPI ? n_before
                                                                                  : thread->last;
       !goes_on && i <= thread->last && piece->end_ns > before_ns; i++)
    lns_mark_cursor_note (&thread->marks, builder->graph, i, before_ns, piece->end_ns);
  if (piece->class == LNS_CALL_OUTPUT && piece->name != 0)
    lns_exchange_add (builder->exchange, number, piece->name, true, before);
  else if (piece->class == LNS_CALL_IO && piece->name != 0 && thread->last != before)
    lns_exchange_add (builder->exchange, number, piece->name, false, thread->last);
  if (piece->waker < builder->n_threads && piece->kind == LNS_PIECE_WAIT)
    lns_exchange_woke (builder->exchange, piece->waker, number);
  builder->graph->has_wakers |= piece->waker != LNS_ID_NONE && !piece->is_likely;
  const bool is_wait = piece->kind == LNS_PIECE_WAIT || piece->kind == LNS_PIECE_OUTSIDE ||
                       piece->kind == LNS_PIECE_UNKNOWN;
  const uint32_t whole = thread->last;
  /* A wait that nothing ended does not hold the run. */
  const bool was_over = piece->start_ns >= thread->over_ns;
  if (read_piece (builder, thread) && !was_over &&
      (thread->has_piece || !is_wait || builder->graph->source[whole] != LNS_POINT_NONE))
    builder->graph->agents.items[thread->agent].last = whole;
  while (lns_mark_cursor_next_move (&thread->marks) <= time_of (builder, thread->last))
    add_move (builder, number);
  meet (builder, thread);
  thread->is_told = false;
}

/* The point of thread NUMBER at TIME_NS: its last one where it waits then, or where it is further. */
static uint32_t
point_of_thread (Builder *builder, uint32_t number, int64_t time_ns)
{
  Thread *thread = &builder->threads[number];

  if (!thread->has_begun || thread->is_told)
    return thread->last;
  while (!builder->failed && thread->has_piece && thread->piece.end_ns <= time_ns)
    tell_piece (builder, number);
  while (thread->has_piece && !is_whole (builder, thread))
    {
      const int64_t move_ns = lns_mark_cursor_next_move (&thread->marks),
                    before_ns = time_of (builder, thread->last);
      const int64_t cut_ns = move_ns < time_ns ? move_ns : time_ns;
      if (cut_ns > before_ns)
        go_on (builder, thread, cut_ns);
      if (move_ns > time_ns)
        break;
      add_move (builder, number);
    }
  thread->may_extend = false;
  return thread->last;
}

/* --- What is looked up ------------------------------------------------------------------------ */

static uint64_t
extra_of (const LnsLaneCursor *cursor, LnsLaneKind kind, LnsColumnId column)
{
  return lns_chunk_extra (cursor->chunk, lns_lane_kind_extra (kind, column), cursor->i);
}

/* A call of CUDA begins. */
static void
note_call (Builder *builder, const LnsLaneCursor *cursor)
{
  const LnsTrack *track = lns_track_of (builder->report, cursor->lane);
  const uint64_t correlation = extra_of (cursor, LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  Process *process = &builder->processes[track->process];

  if (correlation == 0 || !builder->threads[track->thread].has_begun)
    return;
  const uint32_t point = point_of_thread (builder, track->thread, lns_lane_cursor_start (cursor));
  lns_launched_set (&process->launched, correlation, point);
  if (process->gpu != NULL)
    lns_gpu_order_call (process->gpu,
                        lns_report_string (builder->report, cursor->chunk->name[cursor->i], NULL),
                        point);
}

/* A wait for the GPU begins, of a call or of a stream. */
static void
note_sync (Builder *builder, const LnsLaneCursor *cursor)
{
  const LnsTrack *track = lns_track_of (builder->report, cursor->lane);

  if (builder->processes[track->process].gpu != NULL)
    lns_gpu_order_wait (
        builder->processes[track->process].gpu,
        &(LnsGpuWait){ .correlation = extra_of (cursor, LNS_LANE_CUDA_SYNC, LNS_COLUMN_CORRELATION),
                       .event = extra_of (cursor, LNS_LANE_CUDA_SYNC, LNS_COLUMN_CUDA_EVENT),
                       .type =
                           (uint32_t)extra_of (cursor, LNS_LANE_CUDA_SYNC, LNS_COLUMN_SYNC_TYPE),
                       .stream = track->stream,
                       .point = builder->graph->n });
}

/* An event was recorded. */
static void
note_event (Builder *builder, const LnsLaneCursor *cursor)
{
  const LnsTrack *track = lns_track_of (builder->report, cursor->lane);
  const Process *process = &builder->processes[track->process];
  uint32_t launch;

  if (process->gpu != NULL &&
      lns_launched_find (&process->launched,
                         extra_of (cursor, LNS_LANE_CUDA_EVENT, LNS_COLUMN_CORRELATION), &launch))
    lns_gpu_order_record (process->gpu,
                          extra_of (cursor, LNS_LANE_CUDA_EVENT, LNS_COLUMN_CUDA_EVENT),
                          track->stream, launch);
}

/* A call of the OS runtime begins that may have another thread go on. */
static void
note_release (Builder *builder, const LnsLaneCursor *cursor)
{
  const LnsTrack *track = lns_track_of (builder->report, cursor->lane);
  const uint32_t name = cursor->chunk->name[cursor->i];
  const int64_t start_ns = lns_lane_cursor_start (cursor);

  if (builder->threads[track->thread].has_begun &&
      lns_call_class_of (lns_thread_facts_classes (builder->facts), LNS_LANE_OS_CALL, name) ==
          LNS_CALL_RELEASE)
    lns_releases_add (&builder->processes[track->process].releases, track->thread,
                      lns_report_string (builder->report, name, NULL), start_ns,
                      point_of_thread (builder, track->thread, start_ns));
}

/* A range begins or ends. */
static void
note_range (Builder *builder, const LnsLaneCursor *cursor, int64_t time_ns, bool begins)
{
  const uint32_t number = lns_track_of (builder->report, cursor->lane)->thread;
  Thread *thread = &builder->threads[number];

  if (!thread->has_begun)
    return;
  const uint32_t point = point_of_thread (builder, number, time_ns);
  const bool may_join = thread->has_piece && !is_whole (builder, thread);
  for (unsigned i = 1; may_join && i < EDGES_A_PLACE; i++)
    thread->last = lns_points_add (&builder->points, thread->last, time_of (builder, point),
                                   label (builder, LNS_PIECE_JOIN, thread->agent, 0));
  lns_repeats_pass (builder->repeats, number, cursor->chunk->name[cursor->i], begins, point,
                    may_join ? EDGES_A_PLACE : 1);
}

/* --- All in order of time --------------------------------------------------------------------- */

/* Sets when ACTOR does something next; false where it is done. */
static bool
set_time (const Builder *builder, Actor *actor)
{
  if (actor->sort == OF_THREAD)
    {
      const Thread *thread = &builder->threads[actor->index];
      actor->ns = thread->has_begun ? thread->piece.end_ns : thread->piece.start_ns;
      if (thread->has_begun && thread->piece.kind == LNS_PIECE_SYNC)
        actor->ns = lns_sum (actor->ns, CLOCK_NS);
      return thread->has_piece;
    }
  if (actor->sort == OF_STREAM)
    return lns_stream_points_next (builder->streams.items[actor->index].points, &actor->ns);
  const LnsLaneCursor *cursor = &builder->cursors.items[actor->index];
  if (lns_lane_cursor_has (cursor))
    actor->ns = actor->is_in ? lns_lane_cursor_end (cursor) : lns_lane_cursor_start (cursor);
  return lns_lane_cursor_has (cursor);
}

static void
go_on_in_stream (Builder *builder, const Stream *stream)
{
  Process *process = &builder->processes[stream->process];

  if (!lns_stream_points_go (stream->points,
                             &(LnsStreamPlace){ .points = &builder->points,
                                                .gpu = process->gpu,
                                                .events = process->events,
                                                .engines = &process->engines,
                                                .launched = &process->launched,
                                                .collectives = &builder->collectives,
                                                .marks = builder->marks,
                                                .n_marks = builder->n_marks },
                             builder->error))
    builder->failed = true;
}

static void
act (Builder *builder, Actor *actor)
{
  LnsLaneCursor *cursor = actor->sort > OF_STREAM ? &builder->cursors.items[actor->index] : NULL;

  switch (actor->sort)
    {
    case OF_THREAD:
      if (!builder->threads[actor->index].has_begun)
        begin_thread (builder, actor->index);
      else
        tell_piece (builder, actor->index);
      break;
    case OF_STREAM:
      go_on_in_stream (builder, &builder->streams.items[actor->index]);
      break;
    case OF_CALLS:
      note_call (builder, cursor);
      break;
    case OF_SYNCS:
      note_sync (builder, cursor);
      break;
    case OF_EVENTS:
      note_event (builder, cursor);
      break;
    case OF_RELEASES:
      note_release (builder, cursor);
      break;
    case OF_RANGES:
      note_range (builder, cursor, actor->ns, !actor->is_in);
      actor->is_in = !actor->is_in;
      break;
    }
  if (cursor != NULL && !actor->is_in && !lns_lane_cursor_next (cursor, builder->error))
    builder->failed = true;
}

/* Whether A acts before B: of those at one time, what is looked up comes last, when threads are there. */
static inline bool
is_before (const Actor *a, const Actor *b)
{
  return a->ns != b->ns ? a->ns < b->ns : a->sort < b->sort;
}

static bool
run (Builder *builder)
{
  Actor *actors = builder->actors.items;
  size_t n = builder->actors.n;

  for (size_t i = n / 2; i > 0; i--)
    LNS_HEAP_SINK (actors, n, i - 1, a, b, is_before (a, b));
  for (uint64_t turn = 0; n > 0 && !builder->failed; turn++)
    {
      const Actor was = actors[0];
      if (turn % 4096 == 0 && !lns_go_on (builder->cancel, builder->error))
        return false;
      /* Others may have had it go on. */
      if (set_time (builder, &actors[0]) && actors[0].ns <= was.ns && !builder->graph->is_full)
        {
          act (builder, &actors[0]);
          if (!set_time (builder, &actors[0]))
            actors[0] = actors[--n];
        }
      else if (!set_time (builder, &actors[0]) || builder->graph->is_full)
        actors[0] = actors[--n];
      if (n > 0)
        LNS_HEAP_SINK (actors, n, 0, a, b, is_before (a, b));
    }
  return !builder->failed;
}

/* --- Beginning -------------------------------------------------------------------------------- */

static void
add_actor (Builder *builder, ActorSort sort, uint32_t index)
{
  Actor actor = { .sort = sort, .index = index };

  if (set_time (builder, &actor))
    *lns_array_add (&builder->actors) = actor;
}

static uint32_t
add_agent (Builder *builder, const LnsGraphAgent *agent)
{
  const uint32_t number = (uint32_t)builder->graph->agents.n;

  *lns_array_add (&builder->graph->agents) = *agent;
  builder->graph->agents.items[number].rest =
      label (builder, agent->thread != LNS_ID_NONE ? LNS_PIECE_RUN : LNS_PIECE_QUEUED, number, 0);
  return number;
}

static void
add_threads (Builder *builder)
{
  const LnsThread *threads = lns_report_threads (builder->report, NULL);
  const LnsProcess *processes = lns_report_processes (builder->report, NULL);
  size_t mark = 0;

  for (uint32_t i = 0; i < builder->n_threads && !builder->failed; i++)
    {
      Thread *thread = &builder->threads[i];
      thread->process = threads[i].process;
      thread->last = 0;
      thread->waited = LNS_POINT_NONE;
      thread->over_ns = INT64_MAX;
      thread->marks = lns_mark_cursor (builder->marks, builder->n_marks, mark, i);
      mark = thread->marks.end;
      if (thread->process >= builder->n_processes ||
          lns_process_is_of_profiler (builder->report, thread->process))
        continue;
      thread->agent = add_agent (builder, &(LnsGraphAgent){ .thread = i,
                                                            .stream = LNS_ID_NONE,
                                                            .device = LNS_ID_NONE,
                                                            .process = thread->process,
                                                            .last = LNS_POINT_NONE });
      thread->pieces = lns_thread_pieces_new (builder->report, builder->facts, i);
      if (!read_piece (builder, thread))
        return;
      if (thread->has_piece && threads[i].tid == processes[thread->process].pid)
        builder->processes[thread->process].main = i;
      add_actor (builder, OF_THREAD, i);
    }
}

/* Adds LANE, of operations, to its stream. */
static void
add_to_stream (Builder *builder, uint32_t lane)
{
  const LnsTrack *track = lns_track_of (builder->report, lane);
  Process *process = &builder->processes[track->process];
  size_t i = 0;

  if (process->gpu == NULL)
    {
      process->gpu = lns_gpu_order_new ();
      process->events = lns_event_streams_new ();
    }
  const uint32_t number = lns_gpu_order_stream (process->gpu, track->stream, true);
  while (i < builder->streams.n &&
         (builder->streams.items[i].process != track->process ||
          lns_stream_points_number (builder->streams.items[i].points) != number))
    i++;
  if (i == builder->streams.n)
    {
      const uint32_t agent = add_agent (builder, &(LnsGraphAgent){ .thread = LNS_ID_NONE,
                                                                   .stream = track->stream,
                                                                   .device = track->device,
                                                                   .process = track->process,
                                                                   .last = LNS_POINT_NONE });
      *lns_array_add (&builder->streams) =
          (Stream){ track->process, lns_stream_points_new (builder->report, number, agent) };
    }
  lns_stream_points_add_lane (builder->streams.items[i].points, lane);
}

/* Adds a cursor over LANE, which is looked up. */
static void
add_cursor (Builder *builder, ActorSort sort, uint32_t lane, LnsColumnMask columns)
{
  LnsLaneCursor cursor = { .report = builder->report, .lane = lane, .columns = columns };

  if (!lns_lane_cursor_go (&cursor, 0, builder->error))
    builder->failed = true;
  *lns_array_add (&builder->cursors) = cursor;
  add_actor (builder, sort, (uint32_t)builder->cursors.n - 1);
}

static void
add_lanes (Builder *builder)
{
  const LnsColumnMask correlation = LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION);
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (builder->report, &n_lanes);

  for (uint32_t i = 0; i < n_lanes && !builder->failed; i++)
    {
      const LnsTrack *track = lns_track_of (builder->report, i);
      if (track->process >= builder->n_processes ||
          lns_report_lane_info (builder->report, i)->n_events == 0)
        continue;
      if (lns_is_gpu_operation (lanes[i].kind) || lanes[i].kind == LNS_LANE_CUDA_HOST)
        add_to_stream (builder, i);
      else if (lanes[i].kind == LNS_LANE_CUDA_API && track->thread < builder->n_threads)
        add_cursor (builder, OF_CALLS, i, correlation | LNS_COLUMN_BIT (LNS_COLUMN_NAME));
      else if (lanes[i].kind == LNS_LANE_MPI_CALL && track->thread < builder->n_threads)
        builder->threads[track->thread].over_ns = lns_messages_over (builder->report, i);
      else if (lanes[i].kind == LNS_LANE_CUDA_SYNC)
        add_cursor (builder, OF_SYNCS, i,
                    correlation | LNS_COLUMN_BIT (LNS_COLUMN_SYNC_TYPE) |
                        LNS_COLUMN_BIT (LNS_COLUMN_CUDA_EVENT));
      else if (lanes[i].kind == LNS_LANE_CUDA_EVENT)
        add_cursor (builder, OF_EVENTS, i, correlation | LNS_COLUMN_BIT (LNS_COLUMN_CUDA_EVENT));
      else if (lanes[i].kind == LNS_LANE_OS_CALL && track->thread < builder->n_threads)
        add_cursor (builder, OF_RELEASES, i, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
      else if (lanes[i].kind == LNS_LANE_NVTX_PUSH_POP && track->thread < builder->n_threads &&
               lns_report_lane_info (builder->report, i)->n_events <= MOST_RANGES)
        add_cursor (builder, OF_RANGES, i, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
    }
  for (uint32_t i = 0; i < builder->streams.n && !builder->failed; i++)
    {
      builder->failed |=
          !lns_stream_points_begin (builder->streams.items[i].points, builder->error);
      add_actor (builder, OF_STREAM, i);
    }
}

static void
choose_ends (Builder *builder)
{
  uint32_t *mains = lns_calloc ((size_t)builder->n_processes + 1, sizeof *mains);

  for (uint32_t i = 0; i < builder->n_processes; i++)
    mains[i] = builder->processes[i].main;
  lns_graph_choose_ends (builder->graph, mains, builder->n_processes, builder->points.times.items);
  free (mains);
}

/* Adds what was learned of the streams of PROCESS, and takes back what was not so. */
static void
apply_streams (Builder *builder, Process *process)
{
  if (process->events != NULL)
    lns_event_streams_apply (process->events, builder->graph, builder->points.times.items);
  lns_copy_engines_settle (&process->engines, builder->graph);
}

static void
clear (Builder *builder)
{
  for (uint32_t i = 0; i < builder->n_threads; i++)
    {
      lns_thread_pieces_free (builder->threads[i].pieces);
      lns_array_clear (&builder->threads[i].timed.points);
    }
  for (uint32_t i = 0; i < builder->n_processes; i++)
    {
      lns_launched_clear (&builder->processes[i].launched);
      lns_gpu_order_free (builder->processes[i].gpu);
      lns_event_streams_free (builder->processes[i].events);
      lns_copy_engines_clear (&builder->processes[i].engines);
    }
  for (size_t i = 0; i < builder->streams.n; i++)
    lns_stream_points_free (builder->streams.items[i].points);
  for (size_t i = 0; i < builder->cursors.n; i++)
    lns_lane_cursor_clear (&builder->cursors.items[i]);
  lns_array_clear (&builder->streams);
  lns_array_clear (&builder->cursors);
  lns_array_clear (&builder->actors);
  lns_array_clear (&builder->points.times);
  lns_lock_order_free (builder->locks);
  lns_repeats_free (builder->repeats);
  lns_collectives_clear (&builder->collectives);
  lns_collectives_clear (&builder->mpi);
  lns_messages_clear (&builder->messages);
  lns_exchange_free (builder->exchange);
  lns_thread_facts_free (builder->facts);
  free (builder->threads);
  free (builder->processes);
}

/* When the run began. What a profiler says of itself may begin long before the program, and is no part of it. O(lanes). */
static int64_t
start_of_run (LnsReport *report)
{
  const int64_t first_ns = lns_report_info (report)->start_ns;
  int64_t start_ns = INT64_MAX;
  bool has_profiler = false;
  uint32_t n_lanes;

  lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, i);
      if (info == NULL || info->n_events == 0)
        continue;
      if (lns_process_is_of_profiler (report, lns_track_of (report, i)->process))
        has_profiler = true;
      else
        start_ns = info->start_ns < start_ns ? info->start_ns : start_ns;
    }
  return has_profiler && start_ns < INT64_MAX ? start_ns : first_ns;
}

LnsGraph *
lns_graph_build (LnsReport *report,
                 const LnsGraphMark *marks,
                 size_t n,
                 const atomic_bool *cancel,
                 LnsError *error)
{
  LnsError unused = { 0 };
  Builder builder = { .report = report,
                      .facts = lns_thread_facts_new (report),
                      .graph = lns_calloc (1, sizeof (LnsGraph)),
                      .marks = marks,
                      .n_marks = n,
                      .cancel = cancel,
                      .error = error != NULL ? error : &unused };

  builder.points.graph = builder.graph;
  builder.graph->report = report;
  builder.graph->start_ns = start_of_run (report);
  builder.graph->has_states = lns_count_events (report, LNS_LANE_SCHED) > 0;
  /* Of imported ones, as soon as there is one. */
  builder.graph->has_wakers =
      builder.graph->has_states && lns_report_meta (report, "imported_from") == NULL;
  lns_report_threads (report, &builder.n_threads);
  lns_report_processes (report, &builder.n_processes);
  builder.repeats = lns_repeats_new (builder.n_threads);
  builder.exchange = lns_exchange_new (builder.n_threads);
  builder.locks = lns_lock_order_new (builder.repeats);
  builder.threads = lns_calloc ((size_t)builder.n_threads + 1, sizeof *builder.threads);
  builder.processes = lns_calloc ((size_t)builder.n_processes + 1, sizeof *builder.processes);
  for (uint32_t i = 0; i < builder.n_processes; i++)
    builder.processes[i].main = builder.processes[i].runner = LNS_ID_NONE;
  const uint32_t origin =
      add_agent (&builder, &(LnsGraphAgent){ LNS_ID_NONE, LNS_ID_NONE, LNS_ID_NONE, LNS_ID_NONE,
                                             LNS_POINT_NONE, false });
  lns_graph_add (builder.graph, LNS_POINT_NONE, 0, label (&builder, LNS_PIECE_JOIN, origin, 0));
  *lns_array_add (&builder.points.times) = builder.graph->start_ns;
  add_threads (&builder);
  if (!builder.failed)
    add_lanes (&builder);
  const bool good = !builder.failed && run (&builder);
  if (good)
    {
      choose_ends (&builder);
      for (uint32_t i = 0; i < builder.n_processes; i++)
        apply_streams (&builder, &builder.processes[i]);
      lns_repeats_apply (builder.repeats, builder.graph, builder.points.times.items);
      lns_exchange_apply (builder.exchange, builder.graph, builder.points.times.items);
      lns_lock_order_apply (builder.locks, builder.graph, builder.points.times.items);
      lns_graph_sort_overlaps (builder.graph);
      lns_graph_settle (builder.graph);
    }
  clear (&builder);
  if (good)
    return builder.graph;
  lns_graph_free (builder.graph);
  return NULL;
}
