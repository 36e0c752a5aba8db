/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "ui/model/lane-look.h"
#include "ui/model/row-tree-private.h"

#define MAX_LEVELS 8

/* A thread that ran for less than this share of what the busiest one of its process did, and has no ranges and no calls of CUDA, is
 * quiet. So many of them have a row together. */
#define QUIET_SHARE 0.03
#define MANY_QUIET  3

/* A process is quiet if it ran for less than that share of what the busiest one did, and was there for less than this share of the time:
 * one that is there for longer may be what others wait for. */
#define SHORT_SHARE 0.1

/* The order of the rows below a parent, or at the top: GPUs, whose idleness is what is looked for, and the threads that give them
 * work; what waits for something, and what the machine did, last. */
typedef enum
{
  PART_DEVICE,
  PART_OF_PROCESS,
  PART_THREAD,
  PART_OTHER_THREAD,
  PART_QUIET_THREADS,
  PART_OVERHEAD,
  PART_CPUS
} Part;

/* One row on the way from the process down to a lane's. */
typedef struct
{
  LnsRowKind kind;
  uint64_t order[3]; /* among its siblings; says which row it is, too */
} Level;

/* A lane with events, and the rows that it stands under. */
typedef struct
{
  uint32_t lane;
  uint32_t track, ordinal;
  unsigned n_levels;
  Level levels[MAX_LEVELS];
  uint32_t context; /* or LNS_ID_NONE */
  uint64_t n_events;
} Leaf;

typedef struct
{
  LnsReport *report;
  const LnsProcess *processes;
  const LnsThread *threads;
  const LnsDomain *domains;
  const LnsTrack *tracks;
  const LnsLane *lanes;
  const LnsCudaDevice *devices;
  const LnsCudaContext *contexts;
  const LnsCudaStream *streams;
  uint32_t n_processes, n_threads, n_domains, n_tracks, n_lanes, n_devices, n_contexts, n_streams;
  uint32_t *n_contexts_of;        /* per device: contexts with events */
  uint32_t *n_streams_of;         /* per context: streams with kernels or memory operations … */
  bool *has_kernels, *has_memory; /* … and whether there is any of either */
  uint32_t *work_lane_of;         /* per stream: a lane of what ranges may have begun, or none */
  bool *has_ranges, *has_calls;   /* per process */
  bool *has_gpu;                  /* per process */
  bool *calls_cuda;               /* per thread */
  bool *drives;                   /* per thread: it has NVTX ranges or calls CUDA */
  bool any_drives;
  bool *is_quiet;         /* per thread */
  uint32_t *n_quiet;      /* per process */
  bool *is_quiet_process; /* per process */
  uint32_t n_quiet_processes;
  bool is_live;               /* the report is being recorded */
  uint32_t *first_counter_of; /* per device and kind of counters: the track of the first, or none */
  LnsRowTree *tree;
} Builder;

/* --- Where lanes stand ------------------------------------------------------------------------- */

static uint64_t
thread_rank (const Builder *builder, uint32_t thread)
{
  const LnsThread *it = &builder->threads[thread];
  if (it->process < builder->n_processes && it->tid == builder->processes[it->process].pid)
    return 1;
  return UINT64_C (2) + thread;
}

/* The threads that give GPUs their work stand next to them, so that a line from a call to a kernel is
 * short; dozens that wait for something stand below. */
static Part
thread_part (const Builder *builder, const LnsTrack *track)
{
  bool is_other = track->process < builder->n_processes && builder->has_gpu[track->process] &&
                  !builder->calls_cuda[track->thread] && thread_rank (builder, track->thread) > 1;
  return is_other ? PART_OTHER_THREAD : PART_THREAD;
}

/* Whether PROCESS is none of the program's: what a profiler says of itself, or what it copied to a GPU of its own making, of which the
 * GPU's rows tell, too. */
static bool
is_aside (const Builder *builder, uint32_t process)
{
  const LnsProcess *it = &builder->processes[process];
  return lns_process_is_of_profiler (builder->report, process) ||
         (it->pid >= LNS_FIRST_MADE_UP_ID &&
          g_str_has_prefix (lns_report_string (builder->report, it->name, NULL), "GPU "));
}

#define QUIET_RANK 5
#define ASIDE_RANK 6

/* Whether PROCESS is one of the quiet ones, which have a row together where they are many. */
static bool
is_in_quiet_processes (const Builder *builder, uint32_t process)
{
  return process < builder->n_processes && builder->is_quiet_process[process] &&
         builder->n_quiet_processes >= MANY_QUIET;
}

/* Who gives GPUs work is looked at first; what only waits for others, or helps, stands below. */
static uint64_t
process_rank (const Builder *builder, uint32_t process)
{
  if (process >= builder->n_processes)
    return 4;
  if (is_aside (builder, process))
    return ASIDE_RANK;
  if (is_in_quiet_processes (builder, process))
    return QUIET_RANK;
  return builder->has_gpu[process]      ? 0
         : builder->has_calls[process]  ? 1
         : builder->has_ranges[process] ? 2
                                        : 3;
}

static uint64_t
domain_rank (const Builder *builder, uint32_t domain)
{
  return domain < builder->n_domains ? builder->domains[domain].number : 0;
}

static void
push (Leaf *leaf, LnsRowKind kind, uint64_t first, uint64_t second, uint64_t third)
{
  leaf->levels[leaf->n_levels++] = (Level){ kind, { first, second, third } };
}

/* The row of a lane of the whole process, or of one thread. */
static void
push_own (const Builder *builder, Leaf *leaf)
{
  const LnsTrack *track = &builder->tracks[leaf->track];
  switch (track->kind)
    {
    case LNS_TRACK_NVTX_RANGES:
    case LNS_TRACK_NVTX_MARKS:
      push (leaf, LNS_ROW_RANGES, LNS_TRACK_NVTX_RANGES, domain_rank (builder, track->domain),
            track->domain);
      break;
    case LNS_TRACK_NVTX_START_END:
      push (leaf, LNS_ROW_START_END, track->kind, domain_rank (builder, track->domain),
            track->domain);
      break;
    case LNS_TRACK_COUNTER:
      push (leaf, LNS_ROW_COUNTER, track->kind, domain_rank (builder, track->domain), leaf->track);
      break;
    case LNS_TRACK_GPU_METRIC:
      push (leaf, LNS_ROW_COUNTER, track->kind, track->metric, leaf->track);
      break;
    case LNS_TRACK_CUDA_API:
    case LNS_TRACK_CUDA_BACKTRACES:
    case LNS_TRACK_CUBLAS:
    case LNS_TRACK_CUDNN:
    case LNS_TRACK_CUSPARSE:
    case LNS_TRACK_CUSOLVER:
      push (leaf, LNS_ROW_CALLS, track->kind, 0, 0);
      break;
    case LNS_TRACK_CPU_SAMPLES: /* where it was is looked at before what it calls */
      push (leaf, LNS_ROW_GPU, 0, track->kind, 0);
      break;
    default:
      push (leaf, LNS_ROW_GPU, track->kind, 0, 0);
    }
}

/* The row of a lane of CONTEXT's STREAM. */
static void
push_stream (const Builder *builder, Leaf *leaf, uint32_t stream)
{
  const LnsTrack *track = &builder->tracks[leaf->track];
  const LnsStreamRole role =
      _lns_row_stream_role (builder->report, stream, builder->work_lane_of[stream] != LNS_ID_NONE);
  push (leaf, LNS_ROW_STREAM, role, builder->streams[stream].number, stream);
  switch (track->kind)
    {
    case LNS_TRACK_CUDA_KERNELS:
      push (leaf, LNS_ROW_KERNELS, 0, 0, 0);
      break;
    case LNS_TRACK_CUDA_MEMCPY: /* the memory row's own; its kinds are read later */
      push (leaf, LNS_ROW_MEMORY, 1, 0, 0);
      break;
    case LNS_TRACK_CUDA_MEMSET:
      push (leaf, LNS_ROW_MEMORY, 1, 0, 0);
      push (leaf, LNS_ROW_GPU, track->kind, 0, 0);
      break;
    default:
      push (leaf, LNS_ROW_GPU, 3, track->kind, 0);
    }
}

/* Where the first counter of TRACK's device and kind is in `first_counter_of`. */
static size_t
counter_place (const LnsTrack *track)
{
  return (size_t)track->device * 2 + (track->kind == LNS_TRACK_GPU_METRIC);
}

/* The row of a counter of a GPU. There are many, and all but the first one of their kind are folded below it. */
static void
push_counter (const Builder *builder, Leaf *leaf)
{
  const LnsTrack *track = &builder->tracks[leaf->track];
  const uint32_t first = builder->first_counter_of[counter_place (track)];
  push (leaf, LNS_ROW_COUNTER, 2, track->kind, first);
  if (leaf->track != first)
    push (leaf, LNS_ROW_COUNTER, 2, track->metric, leaf->track);
}

static void
push_device (const Builder *builder, Leaf *leaf)
{
  const LnsTrack *track = &builder->tracks[leaf->track];
  push (leaf, LNS_ROW_DEVICE, PART_DEVICE, builder->devices[track->device].number, track->device);
  if (leaf->context != LNS_ID_NONE)
    {
      if (builder->n_contexts_of[track->device] > 1)
        push (leaf, LNS_ROW_CONTEXT, 0, builder->contexts[leaf->context].number, leaf->context);
      push_stream (builder, leaf, track->stream);
    }
  else if (track->kind == LNS_TRACK_COUNTER || track->kind == LNS_TRACK_GPU_METRIC)
    push_counter (builder, leaf);
  else
    push (leaf, LNS_ROW_GPU, 3, track->kind, 0);
}

/* Whether the thread of TRACK is one of the quiet ones, which have a row together where they are many. */
static bool
is_in_quiet (const Builder *builder, const LnsTrack *track)
{
  return track->process < builder->n_processes && builder->is_quiet[track->thread] &&
         builder->n_quiet[track->process] >= MANY_QUIET;
}

static void
place (const Builder *builder, Leaf *leaf)
{
  const LnsTrack *track = &builder->tracks[leaf->track];
  if (track->kind == LNS_TRACK_CPU)
    {
      push (leaf, LNS_ROW_CPUS, 0, 0, 0);
      push (leaf, LNS_ROW_GPU, 0, track->number, leaf->track);
      return;
    }
  const uint64_t rank = process_rank (builder, track->process);
  if (rank == ASIDE_RANK)
    push (leaf, LNS_ROW_ASIDE, rank, 0, 0);
  else if (rank == QUIET_RANK)
    push (leaf, LNS_ROW_PROCESSES, rank, 0, 0);
  push (leaf, LNS_ROW_PROCESS, rank, track->process, 0);
  if (track->device < builder->n_devices)
    push_device (builder, leaf);
  else if (track->thread < builder->n_threads)
    {
      if (is_in_quiet (builder, track))
        push (leaf, LNS_ROW_THREADS, PART_QUIET_THREADS, 0, 0);
      push (leaf, LNS_ROW_THREAD, thread_part (builder, track),
            thread_rank (builder, track->thread), track->thread);
      if (track->kind != LNS_TRACK_SCHED) /* the thread's row draws its states itself */
        push_own (builder, leaf);
    }
  else
    push_own (builder, leaf);
}

/* The row for ranges on a stream, below those for what it did. */
static void
push_projection (const Builder *builder, Leaf *leaf)
{
  place (builder, leaf);
  while (leaf->levels[leaf->n_levels - 1].kind != LNS_ROW_STREAM)
    leaf->n_levels--;
  push (leaf, LNS_ROW_PROJECTION, 2, 0, 0);
}

/* Siblings that are no threads or GPUs come before the threads. What the capture itself cost is the last that somebody looks for. */
static uint64_t
part_of (const Level *level)
{
  return level->kind == LNS_ROW_THREAD || level->kind == LNS_ROW_THREADS ? level->order[0]
         : level->kind == LNS_ROW_CPUS                                   ? PART_CPUS
         : level->kind == LNS_ROW_DEVICE                                 ? PART_DEVICE
         : level->kind == LNS_ROW_GPU && level->order[0] == LNS_TRACK_CUDA_OVERHEAD
             ? PART_OVERHEAD
             : PART_OF_PROCESS;
}

static int
compare_levels (const Level *x, const Level *y)
{
  return LNS_COMPARE (part_of (x), part_of (y))
             ?: LNS_COMPARE (x->order[0], y->order[0])
             ?: LNS_COMPARE (x->order[1], y->order[1])
             ?: LNS_COMPARE (x->order[2], y->order[2])
             ?: LNS_COMPARE (x->kind, y->kind);
}

static int
compare_leaves (const void *a, const void *b)
{
  const Leaf *x = a, *y = b;
  for (unsigned i = 0; i < x->n_levels && i < y->n_levels; i++)
    {
      int order = compare_levels (&x->levels[i], &y->levels[i]);
      if (order != 0)
        return order;
    }
  /* What a row draws itself comes before what is below it. */
  return LNS_COMPARE (x->n_levels, y->n_levels)
             ?: LNS_COMPARE (x->track, y->track)
             ?: LNS_COMPARE (x->ordinal, y->ordinal)
             ?: LNS_COMPARE (x->lane, y->lane);
}

/* The context of the stream that TRACK is of, or LNS_ID_NONE. */
static uint32_t
context_of (const Builder *builder, const LnsTrack *track)
{
  if (track->stream >= builder->n_streams || track->device >= builder->n_devices)
    return LNS_ID_NONE;
  uint32_t context = builder->streams[track->stream].context;
  return context < builder->n_contexts ? context : LNS_ID_NONE;
}

static bool
is_memory (LnsTrackKind kind)
{
  return kind == LNS_TRACK_CUDA_MEMCPY || kind == LNS_TRACK_CUDA_MEMSET;
}

/* Counts what decides whether contexts and All Streams are rows. */
static void
count_contexts (Builder *builder)
{
  g_autofree bool *context_seen = g_new0 (bool, builder->n_contexts + 1);
  g_autofree bool *stream_seen = g_new0 (bool, builder->n_streams + 1);
  builder->n_contexts_of = g_new0 (uint32_t, builder->n_devices + 1);
  builder->n_streams_of = g_new0 (uint32_t, builder->n_contexts + 1);
  builder->has_kernels = g_new0 (bool, builder->n_contexts + 1);
  builder->has_memory = g_new0 (bool, builder->n_contexts + 1);
  builder->has_ranges = g_new0 (bool, builder->n_processes + 1);
  builder->has_calls = g_new0 (bool, builder->n_processes + 1);
  builder->has_gpu = g_new0 (bool, builder->n_processes + 1);
  builder->calls_cuda = g_new0 (bool, builder->n_threads + 1);
  builder->drives = g_new0 (bool, builder->n_threads + 1);
  builder->first_counter_of = g_new (uint32_t, 2 * (builder->n_devices + 1));
  memset (builder->first_counter_of, 0xff, 2 * (builder->n_devices + 1) * sizeof (uint32_t));
  builder->work_lane_of = g_new (uint32_t, builder->n_streams + 1);
  memset (builder->work_lane_of, 0xff, (builder->n_streams + 1) * sizeof (uint32_t));
  for (uint32_t lane = 0; lane < builder->n_lanes; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (builder->report, lane);
      if (info == NULL || info->n_events == 0 || builder->lanes[lane].track >= builder->n_tracks)
        continue;
      const LnsTrack *track = &builder->tracks[builder->lanes[lane].track];
      uint32_t context = context_of (builder, track);
      if (track->process < builder->n_processes)
        {
          LnsLaneKind kind = builder->lanes[lane].kind;
          builder->has_ranges[track->process] |=
              kind == LNS_LANE_NVTX_PUSH_POP || kind == LNS_LANE_NVTX_START_END;
          builder->has_calls[track->process] |= kind == LNS_LANE_CUDA_API;
          builder->has_gpu[track->process] |= track->device < builder->n_devices;
          if (track->thread < builder->n_threads)
            {
              const bool drives = kind == LNS_LANE_CUDA_API || kind == LNS_LANE_NVTX_PUSH_POP;
              builder->calls_cuda[track->thread] |= kind == LNS_LANE_CUDA_API;
              builder->drives[track->thread] |= drives;
              builder->any_drives |= drives;
            }
        }
      if (context == LNS_ID_NONE && track->device < builder->n_devices &&
          (track->kind == LNS_TRACK_COUNTER || track->kind == LNS_TRACK_GPU_METRIC))
        {
          uint32_t *first = &builder->first_counter_of[counter_place (track)];
          if (*first == LNS_ID_NONE || track->metric < builder->tracks[*first].metric)
            *first = builder->lanes[lane].track;
        }
      if (context == LNS_ID_NONE)
        continue;
      if (_lns_row_is_work (builder->report, lane))
        builder->work_lane_of[track->stream] = lane;
      if (!context_seen[context])
        builder->n_contexts_of[track->device]++;
      context_seen[context] = true;
      if (!_lns_row_is_work (builder->report, lane))
        continue;
      if (!stream_seen[track->stream])
        builder->n_streams_of[context]++;
      stream_seen[track->stream] = true;
      builder->has_kernels[context] |= track->kind == LNS_TRACK_CUDA_KERNELS;
      builder->has_memory[context] |= is_memory (track->kind);
    }
}

/* What the calls of the C library tell of a thread of which it was not recorded when it ran. */
typedef struct
{
  int64_t start_ns, end_ns; /* of all that was recorded of it */
  int64_t called_ns;        /* in calls of the C library      */
  bool is_seen;
} Calls;

/* Whether a thread was in calls of the C library for all of its time but QUIET_SHARE of it. */
static bool
is_in_calls (const Calls *calls)
{
  const double whole_ns = (double)calls->end_ns - (double)calls->start_ns;
  return calls->is_seen && whole_ns > 0 && (double)calls->called_ns >= (1 - QUIET_SHARE) * whole_ns;
}

/* Finds the quiet threads. Where it was not recorded when threads ran, those are that were in calls of the C library all the time; and none
 * is as long as it may still become busy. */
static void
find_quiet (Builder *builder)
{
  g_autofree int64_t *busy_ns = g_new0 (int64_t, builder->n_threads + 1);
  g_autofree int64_t *most_ns = g_new0 (int64_t, builder->n_processes + 1);
  g_autofree bool *is_known = g_new0 (bool, builder->n_threads + 1);
  g_autofree Calls *calls = g_new0 (Calls, builder->n_threads + 1);
  builder->is_quiet = g_new0 (bool, builder->n_threads + 1);
  builder->n_quiet = g_new0 (uint32_t, builder->n_processes + 1);
  for (uint32_t lane = 0; lane < builder->n_lanes; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (builder->report, lane);
      if (info == NULL || info->n_events == 0 || builder->lanes[lane].track >= builder->n_tracks)
        continue;
      const LnsTrack *track = &builder->tracks[builder->lanes[lane].track];
      const LnsLaneKind kind = builder->lanes[lane].kind;
      if (track->thread >= builder->n_threads || track->process >= builder->n_processes)
        continue;
      Calls *own = &calls[track->thread];
      own->start_ns = own->is_seen ? MIN (own->start_ns, info->start_ns) : info->start_ns;
      own->end_ns = own->is_seen ? MAX (own->end_ns, info->end_ns) : info->end_ns;
      own->is_seen = true;
      if (kind == LNS_LANE_OS_CALL && builder->lanes[lane].ordinal == 0)
        own->called_ns += info->busy_ns;
      if (kind == LNS_LANE_SCHED)
        {
          is_known[track->thread] = true;
          busy_ns[track->thread] = info->busy_ns;
          most_ns[track->process] = MAX (most_ns[track->process], info->busy_ns);
        }
      else if (kind == LNS_LANE_NVTX_PUSH_POP || kind == LNS_LANE_NVTX_START_END ||
               kind == LNS_LANE_CUDA_API)
        busy_ns[track->thread] = INT64_MAX / 2;
    }
  for (uint32_t thread = 0; thread < builder->n_threads; thread++)
    {
      const uint32_t process = builder->threads[thread].process;
      if (builder->is_live || process >= builder->n_processes || thread_rank (builder, thread) == 1)
        continue;
      if (is_known[thread] ? (double)busy_ns[thread] >= QUIET_SHARE * (double)most_ns[process]
                           : busy_ns[thread] > 0 || !is_in_calls (&calls[thread]))
        continue;
      builder->is_quiet[thread] = true;
      builder->n_quiet[process]++;
    }
}

/* What was recorded of a process. */
typedef struct
{
  int64_t start_ns, end_ns;
  int64_t ran_ns;
  bool is_seen, is_known; /* of which the latter: when it ran */
} Life;

/* Finds the quiet processes, such as the commands that a shell starts. None is as long as it may still become busy. */
static void
find_quiet_processes (Builder *builder)
{
  g_autofree Life *lives = g_new0 (Life, builder->n_processes + 1);
  Life all = { 0 };
  builder->is_quiet_process = g_new0 (bool, builder->n_processes + 1);
  for (uint32_t lane = 0; lane < builder->n_lanes; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (builder->report, lane);
      if (info == NULL || info->n_events == 0 || builder->lanes[lane].track >= builder->n_tracks)
        continue;
      const LnsTrack *track = &builder->tracks[builder->lanes[lane].track];
      if (track->process >= builder->n_processes)
        continue;
      Life *life = &lives[track->process];
      life->start_ns = life->is_seen ? MIN (life->start_ns, info->start_ns) : info->start_ns;
      life->end_ns = life->is_seen ? MAX (life->end_ns, info->end_ns) : info->end_ns;
      life->is_seen = true;
      if (builder->lanes[lane].kind != LNS_LANE_SCHED)
        continue;
      life->is_known = true;
      life->ran_ns = lns_sum (life->ran_ns, info->busy_ns);
    }
  for (uint32_t process = 0; process < builder->n_processes; process++)
    if (lives[process].is_seen)
      {
        const Life *life = &lives[process];
        all.start_ns = all.is_seen ? MIN (all.start_ns, life->start_ns) : life->start_ns;
        all.end_ns = all.is_seen ? MAX (all.end_ns, life->end_ns) : life->end_ns;
        all.ran_ns = MAX (all.ran_ns, life->ran_ns);
        all.is_seen = true;
      }
  const double short_ns = SHORT_SHARE * ((double)all.end_ns - (double)all.start_ns);
  for (uint32_t process = 0; !builder->is_live && process < builder->n_processes; process++)
    {
      const Life *life = &lives[process];
      builder->is_quiet_process[process] =
          life->is_known && !builder->has_gpu[process] && !builder->has_calls[process] &&
          !builder->has_ranges[process] && !is_aside (builder, process) &&
          (double)life->ran_ns < QUIET_SHARE * (double)all.ran_ns &&
          (double)life->end_ns - (double)life->start_ns < short_ns;
      builder->n_quiet_processes += builder->is_quiet_process[process];
    }
}

/* Whether ranges of PROCESS may have begun work. They are found when the report is whole. */
static bool
may_project (const Builder *builder, uint32_t process)
{
  return !builder->is_live && process < builder->n_processes && builder->has_ranges[process] &&
         builder->has_calls[process];
}

/* Adds the rows for ranges, whose lanes are not known yet. */
static void
collect_projections (const Builder *builder, GArray *leaves)
{
  for (uint32_t stream = 0; stream < builder->n_streams; stream++)
    {
      uint32_t lane = builder->work_lane_of[stream];
      if (lane == LNS_ID_NONE)
        continue;
      Leaf leaf = { .lane = LNS_ID_NONE, .track = builder->lanes[lane].track };
      leaf.context = context_of (builder, &builder->tracks[leaf.track]);
      if (!may_project (builder, builder->tracks[leaf.track].process))
        continue;
      push_projection (builder, &leaf);
      g_array_append_val (leaves, leaf);
    }
}

static GArray *
collect_leaves (const Builder *builder)
{
  GArray *leaves = g_array_new (FALSE, TRUE, sizeof (Leaf));
  for (uint32_t lane = 0; lane < builder->n_lanes; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (builder->report, lane);
      if (info == NULL || info->n_events == 0 || builder->lanes[lane].track >= builder->n_tracks)
        continue;
      Leaf leaf = { .lane = lane,
                    .track = builder->lanes[lane].track,
                    .ordinal = builder->lanes[lane].ordinal,
                    .n_events = info->n_events };
      leaf.context = context_of (builder, &builder->tracks[leaf.track]);
      place (builder, &leaf);
      g_array_append_val (leaves, leaf);
    }
  collect_projections (builder, leaves);
  if (leaves->len > 0)
    qsort (leaves->data, leaves->len, sizeof (Leaf), compare_leaves);
  return leaves;
}

/* --- Rows ---------------------------------------------------------------------------------- */

static LnsRow *
row_at (LnsRowTree *tree, uint32_t row)
{
  return &g_array_index (tree->rows, LnsRow, row);
}

/* Whether the stream of LEAF is unfolded by those who look for it alone: where all streams together have a row, and where it has no
 * kernels and copies. */
static bool
is_folded_stream (const Builder *builder, const Leaf *leaf)
{
  const LnsTrack *track = &builder->tracks[leaf->track];
  return leaf->context != LNS_ID_NONE &&
         (builder->n_streams_of[leaf->context] > 1 || track->stream >= builder->n_streams ||
          builder->work_lane_of[track->stream] == LNS_ID_NONE);
}

/* Whether the thread of TRACK is one of those that only help others, which are folded: their one lane says what they do. */
static bool
is_helper (const Builder *builder, const LnsTrack *track)
{
  return builder->any_drives && track->thread < builder->n_threads &&
         !builder->drives[track->thread];
}

/* Appends a row of KIND for LEAF under PARENT. */
static uint32_t
add_row (Builder *builder, LnsRowKind kind, uint32_t parent, const Leaf *leaf)
{
  LnsRowTree *tree = builder->tree;
  const LnsTrack *track = &builder->tracks[leaf->track];
  bool of_stream = (kind == LNS_ROW_STREAM || kind >= LNS_ROW_KERNELS) &&
                   (parent == LNS_ID_NONE || row_at (tree, parent)->kind != LNS_ROW_ALL_STREAMS);
  LnsRow row = {
    .kind = kind,
    .expanded = kind != LNS_ROW_ASIDE && !(kind == LNS_ROW_THREAD && is_helper (builder, track)) &&
                kind != LNS_ROW_CPUS && kind != LNS_ROW_PROCESSES && kind != LNS_ROW_THREADS &&
                kind != LNS_ROW_KERNELS && kind != LNS_ROW_MEMORY && kind != LNS_ROW_PROJECTION &&
                kind != LNS_ROW_COUNTER &&
                !(kind == LNS_ROW_GPU && track->kind == LNS_TRACK_CUDA_OVERHEAD) &&
                !(kind == LNS_ROW_STREAM && is_folded_stream (builder, leaf)),
    .depth = parent == LNS_ID_NONE ? 0 : row_at (tree, parent)->depth + 1,
    .parent = parent,
    .process = kind == LNS_ROW_ASIDE || kind == LNS_ROW_PROCESSES ? LNS_ID_NONE : track->process,
    .thread = kind <= LNS_ROW_THREADS ? LNS_ID_NONE : track->thread,
    .domain = kind <= LNS_ROW_THREAD ? LNS_ID_NONE : track->domain,
    .device = kind <= LNS_ROW_THREAD ? LNS_ID_NONE : track->device,
    .context = kind >= LNS_ROW_CONTEXT ? leaf->context : LNS_ID_NONE,
    .stream = of_stream ? track->stream : LNS_ID_NONE,
    .splits = kind == LNS_ROW_KERNELS || kind == LNS_ROW_MEMORY,
    .lanes = tree->lanes->len,
  };
  g_array_append_val (tree->rows, row);
  uint32_t id = tree->rows->len - 1;
  g_array_append_val (tree->order, id);
  for (uint32_t up = parent; up != LNS_ID_NONE; up = row_at (tree, up)->parent)
    row_at (tree, up)->n_below++;
  return id;
}

static void
add_lane (const Builder *builder, uint32_t row, const Leaf *leaf)
{
  LnsRowTree *tree = builder->tree;
  if (leaf->lane == LNS_ID_NONE)
    return;
  g_array_append_val (tree->lanes, leaf->lane);
  tree->row_of_lane[leaf->lane] = row;
  row_at (tree, row)->n_own++;
  const bool is_bars = lns_lane_look (builder->lanes[leaf->lane].kind)->form == LNS_LOOK_BARS;
  for (uint32_t up = row; up != LNS_ID_NONE; up = row_at (tree, up)->parent)
    {
      row_at (tree, up)->combines |= is_bars && row_at (tree, up)->kind == LNS_ROW_THREAD;
      row_at (tree, up)->n_lanes++;
      row_at (tree, up)->n_events += leaf->n_events;
    }
}

/* The streams together, before the first one: their lanes are those of their own rows, and are
 * filled in once these are known. */
static void
add_all_streams (Builder *builder, uint32_t parent, const Leaf *leaf)
{
  uint32_t all = add_row (builder, LNS_ROW_ALL_STREAMS, parent, leaf);
  if (builder->has_kernels[leaf->context])
    add_row (builder, LNS_ROW_KERNELS, all, leaf);
  if (builder->has_memory[leaf->context])
    add_row (builder, LNS_ROW_MEMORY, all, leaf);
  if (may_project (builder, builder->tracks[leaf->track].process))
    add_row (builder, LNS_ROW_PROJECTION, all, leaf);
}

static void
add_rows (Builder *builder, const Leaf *leaves, uint32_t n_leaves)
{
  uint32_t rows[MAX_LEVELS];
  for (uint32_t i = 0; i < n_leaves; i++)
    {
      const Leaf *leaf = &leaves[i];
      unsigned same = 0;
      if (i > 0)
        while (same < leaf->n_levels && same < leaves[i - 1].n_levels &&
               compare_levels (&leaf->levels[same], &leaves[i - 1].levels[same]) == 0)
          same++;
      for (unsigned level = same; level < leaf->n_levels; level++)
        {
          LnsRowKind kind = leaf->levels[level].kind;
          uint32_t parent = level > 0 ? rows[level - 1] : LNS_ID_NONE;
          bool is_first = kind == LNS_ROW_STREAM && row_at (builder->tree, parent)->n_below == 0;
          if (is_first && builder->n_streams_of[leaf->context] > 1)
            add_all_streams (builder, parent, leaf);
          rows[level] = add_row (builder, kind, parent, leaf);
        }
      add_lane (builder, rows[leaf->n_levels - 1], leaf);
    }
}

/* --- Streams together ------------------------------------------------------------------------ */

/* Gives ROW, of all streams, the lanes with work that are below OWNER. */
static void
borrow_lanes (Builder *builder, uint32_t row, uint32_t owner)
{
  LnsRowTree *tree = builder->tree;
  LnsRow *it = row_at (tree, row);
  const LnsRow *from = row_at (tree, owner);
  it->lanes = tree->lanes->len;
  for (uint32_t i = 0; i < from->n_lanes; i++)
    {
      uint32_t lane = g_array_index (tree->lanes, uint32_t, from->lanes + i);
      const LnsTrackKind kind = builder->tracks[builder->lanes[lane].track].kind;
      bool is_wanted =
          it->kind == LNS_ROW_ALL_STREAMS ||
          (it->kind == LNS_ROW_KERNELS ? kind == LNS_TRACK_CUDA_KERNELS : is_memory (kind));
      if (!is_wanted || it->kind == LNS_ROW_PROJECTION || !_lns_row_is_work (builder->report, lane))
        continue;
      g_array_append_val (tree->lanes, lane);
      it->n_own++;
      it->n_lanes++;
      it->n_events += lns_report_lane_info (builder->report, lane)->n_events;
    }
}

static void
borrow_all_lanes (Builder *builder)
{
  LnsRowTree *tree = builder->tree;
  for (uint32_t row = 0; row < tree->rows->len; row++)
    if (row_at (tree, row)->kind == LNS_ROW_ALL_STREAMS)
      for (uint32_t i = 0; i <= row_at (tree, row)->n_below; i++)
        borrow_lanes (builder, row + i, row_at (tree, row)->parent);
}

/* Shares are of the work of what the row stands under. */
static void
label_rows (Builder *builder)
{
  LnsRowTree *tree = builder->tree;
  for (uint32_t i = 0; i < tree->rows->len; i++)
    {
      LnsRow *row = row_at (tree, i);
      uint32_t lane =
          row->n_lanes > 0 ? g_array_index (tree->lanes, uint32_t, row->lanes) : LNS_ID_NONE;
      row->label = _lns_row_label (builder->report, row, lane);
      if (row->kind == LNS_ROW_THREADS)
        {
          g_free (row->label);
          row->label = g_strdup_printf (
              ngettext ("%u quiet thread", "%u quiet threads", builder->n_quiet[row->process]),
              builder->n_quiet[row->process]);
        }
      if (row->kind == LNS_ROW_PROCESSES)
        {
          g_free (row->label);
          row->label = g_strdup_printf (
              ngettext ("%u quiet process", "%u quiet processes", builder->n_quiet_processes),
              builder->n_quiet_processes);
        }
      bool is_memset = row->kind == LNS_ROW_GPU && _lns_row_is_work (builder->report, lane);
      row->splits = row->splits && row->n_own > 0 && !builder->is_live;
      if (row->kind != LNS_ROW_KERNELS && row->kind != LNS_ROW_MEMORY && !is_memset)
        continue;
      g_autofree char *name = row->label;
      row->label = _lns_row_share_label (
          _lns_row_busy_ns (tree, builder->report, row),
          _lns_row_busy_ns (tree, builder->report, row_at (tree, row->parent)), name);
    }
}

/* --- The tree -------------------------------------------------------------------------------- */

LnsRowTree *
lns_row_tree_new (LnsReport *report)
{
  Builder builder = { .report = report,
                      .tree = g_atomic_rc_box_new0 (LnsRowTree),
                      .is_live = lns_report_info (report)->state == LNS_STATE_RECORDING };
  LnsRowTree *tree = builder.tree;
  builder.processes = lns_report_processes (report, &builder.n_processes);
  builder.threads = lns_report_threads (report, &builder.n_threads);
  builder.domains = lns_report_domains (report, &builder.n_domains);
  builder.tracks = lns_report_tracks (report, &builder.n_tracks);
  builder.lanes = lns_report_lanes (report, &builder.n_lanes);
  builder.devices = lns_report_devices (report, &builder.n_devices);
  builder.contexts = lns_report_contexts (report, &builder.n_contexts);
  builder.streams = lns_report_streams (report, &builder.n_streams);

  tree->hues = lns_hues_new (report);
  tree->rows = g_array_new (FALSE, FALSE, sizeof (LnsRow));
  tree->order = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->sets = g_ptr_array_new_with_free_func ((GDestroyNotify)lns_facet_set_unref);
  tree->lanes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->visible = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->tops = g_array_new (FALSE, FALSE, sizeof (int));
  tree->n_report_lanes = builder.n_lanes;
  tree->lane_px = LNS_LANE_PX;
  tree->is_live = builder.is_live;
  tree->row_of_lane = g_new (uint32_t, tree->n_report_lanes + 1);
  for (uint32_t lane = 0; lane < tree->n_report_lanes; lane++)
    tree->row_of_lane[lane] = LNS_ID_NONE;

  count_contexts (&builder);
  find_quiet (&builder);
  find_quiet_processes (&builder);
  g_autoptr (GArray) leaves = collect_leaves (&builder);
  add_rows (&builder, (const Leaf *)(void *)leaves->data, leaves->len);
  borrow_all_lanes (&builder);
  label_rows (&builder);
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  g_free (builder.n_contexts_of);
  g_free (builder.n_streams_of);
  g_free (builder.has_kernels);
  g_free (builder.has_memory);
  g_free (builder.work_lane_of);
  g_free (builder.has_ranges);
  g_free (builder.has_calls);
  g_free (builder.has_gpu);
  g_free (builder.calls_cuda);
  g_free (builder.drives);
  g_free (builder.first_counter_of);
  g_free (builder.is_quiet);
  g_free (builder.n_quiet);
  g_free (builder.is_quiet_process);
  return tree;
}
