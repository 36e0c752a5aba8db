/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Divides the time in which a GPU was idle: each gap has an operation that ends it, that one a call, the call a thread; and
 * what the thread did from the beginning of the gap to the call is why the GPU waited. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/ordering.h"
#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* From one launch to the next without a wait, a thread takes up to this long: what lies between is the pace of launching. */
#define PAUSE_NS INT64_C (100000)

/* From a wait for the GPU to the next launch, up to this long is the way, and what is lost with the wait. */
#define WAY_NS INT64_C (1000000)

/* If the work of more than one in so many launches was not recorded, nothing is said of idle time. */
#define FEW_MISSING 20

/* A launch that takes longer with an idle GPU loads the kernel's code first. */
#define LOADING_NS INT64_C (1000000)

/* From the end of a launch, its work needs up to this long to reach the GPU: what is idle then was not queued early enough. */
#define REACH_NS INT64_C (10000)

/* A thread that the GPU let go on runs again sooner than this, unless others have the CPUs. */
#define LACK_NS INT64_C (1000000)

/* Work that was queued begins within this after what was before it, unless something holds it back. */
#define QUEUED_NS INT64_C (50000)

typedef struct
{
  LnsWhyMaker *maker;
  const LnsDeviceWork *work;
  int64_t *missing; /* when calls queued work that was not recorded, ascending                   */
  size_t n_missing, n_missing_graphs, n_launches, next_missing;
  LnsIdMap
      first_starts; /* name of kernels -> 1 + when the first one began, from the span's start on */
  uint64_t n_waits; /* calls that have a stream wait for an event, or host functions        */
  int64_t last_launch_ns; /* when the operation was launched that began the busy span at hand    */
  LnsSpans lost; /* times of which records were dropped: in order, apart                         */
  size_t next_lost; /* the first of them that may reach into the gap at hand                     */
  /* A process that used the GPU without a call that was recorded, where others have theirs, or LNS_ID_NONE; and when such did. */
  uint32_t stranger;
  LnsSpan strange;
  LnsIdMap n_calls_of; /* thread + 1 -> in how many gaps it made the call                        */
  int64_t without_call_ns, lost_ns, missing_ns, away_ns, guessed_ns, held_ns, strange_ns;
  int64_t cut_ns; /* what ended it is behind the end of the part that the report is             */
} Device;

/* A gap whose parts are being told. */
typedef struct
{
  Device *device;
  uint32_t thread;
  int64_t start_ns;
  int64_t before_ns;    /* when what ran before it began                                         */
  int64_t last_sync_ns; /* when the last wait for the GPU in it or before ended, or INT64_MIN    */
  uint32_t sync, sync_range; /* that call's name, and the range that it was in                   */
  bool is_first; /* the operation that ends it is the first kernel of its name                   */
  const LnsLaunchCall *call; /* that launched the operation that ends it                          */
  uint32_t range; /* in which the operation that ends it was launched                      */
} Gap;

static void
add (Device *device, int64_t start_ns, int64_t end_ns, LnsCause cause, LnsPart part)
{
  part.start_ns = start_ns;
  part.end_ns = end_ns;
  part.cause = cause;
  if (start_ns < end_ns)
    _lns_why_add (device->maker, &part);
}

static const LnsPart nothing = { .thread = LNS_ID_NONE, .lane = LNS_ID_NONE, .waker = LNS_ID_NONE };

/* --- What a thread did, as a cause ------------------------------------------------------------ */

LnsCause
_lns_why_cause_of_overhead (uint32_t kind)
{
  switch (kind >> 16)
    {
    case 1: /* buffers, instrumentation, resources */
    case 2:
    case 3:
    case 7: /* the client's answer to CUPTI's request for a buffer */
      return LNS_CAUSE_PROFILER;
    case 4: /* modules, functions that are loaded when they are needed */
    case 5:
      return LNS_CAUSE_MODULE_LOAD;
    case 6: /* no room for commands */
      return LNS_CAUSE_DRIVER;
    default:
      /* 1 is the compiler of the driver; what has no kind is told by profilers of themselves. */
      return kind == 1 ? LNS_CAUSE_MODULE_LOAD : LNS_CAUSE_PROFILER;
    }
}

static LnsCause
cause_of_cuda (LnsCallClass class)
{
  switch (class)
    {
    case LNS_CALL_SYNC:
    case LNS_CALL_SYNC_COPY:
      return LNS_CAUSE_GPU_SYNC;
    case LNS_CALL_LAUNCH:
      return LNS_CAUSE_LAUNCH_RATE;
    case LNS_CALL_ALLOCATION:
      return LNS_CAUSE_ALLOCATION;
    case LNS_CALL_MODULE:
      return LNS_CAUSE_MODULE_LOAD;
    default:
      return LNS_CAUSE_DRIVER;
    }
}

LnsCause
_lns_why_cause_of_call (LnsCallClass class)
{
  switch (class)
    {
    case LNS_CALL_LOCK:
      return LNS_CAUSE_LOCK_WAIT;
    case LNS_CALL_IO:
    case LNS_CALL_OUTPUT:
      return LNS_CAUSE_IO_WAIT;
    case LNS_CALL_SLEEP:
      return LNS_CAUSE_SLEEP;
    case LNS_CALL_MODULE:
      return LNS_CAUSE_MODULE_LOAD;
    case LNS_CALL_ALLOCATION:
      return LNS_CAUSE_ALLOCATION;
    case LNS_CALL_DEVICE:
      return LNS_CAUSE_DRIVER;
    case LNS_CALL_COLLECTIVE:
    case LNS_CALL_PEER:
      return LNS_CAUSE_COLLECTIVE_WAIT;
    default:
      return LNS_CAUSE_UNKNOWN;
    }
}

LnsCause
_lns_why_cause_of_block (const LnsDeed *deed)
{
  return deed->is_disk                                       ? LNS_CAUSE_IO_WAIT
         : deed->waker != LNS_ID_NONE || deed->is_for_python ? LNS_CAUSE_LOCK_WAIT
                                                             : LNS_CAUSE_UNKNOWN;
}

/* The cause of time in which the thread was in no call that explains it, and its confidence. */
static LnsCause
cause_of_way (const Gap *gap, const LnsDeed *deed, LnsPart *part)
{
  const int64_t ns = deed->end_ns - deed->start_ns;
  const bool is_own_range =
      deed->range_lane != LNS_ID_NONE && deed->range_start_ns >= gap->last_sync_ns;

  part->confidence = deed->doing == LNS_DOING_RUNNING   ? LNS_CONFIDENCE_CERTAIN
                     : deed->doing == LNS_DOING_OUTSIDE ? LNS_CONFIDENCE_LIKELY
                                                        : LNS_CONFIDENCE_GUESS;
  if (deed->range != 0)
    {
      /* Reports of other tools have MPI calls as ranges. */
      const LnsCallClass class = lns_call_class_of (
          lns_thread_facts_classes (gap->device->maker->facts), LNS_LANE_MPI_CALL, deed->range);
      if (class != LNS_CALL_OTHER)
        return _lns_why_cause_of_call (class);
    }
  if (ns <= PAUSE_NS && deed->whole_ns > WAY_NS &&
      (deed->doing != LNS_DOING_UNKNOWN || deed->range != 0))
    {
      part->is_any_place = true; /* no range of many short ones has it …                         */
      return LNS_CAUSE_CPU_WORK;
    }
  if (ns <= PAUSE_NS)
    return gap->last_sync_ns != INT64_MIN ? LNS_CAUSE_GPU_SYNC : LNS_CAUSE_LAUNCH_RATE;
  if (deed->doing == LNS_DOING_UNKNOWN && deed->range == 0)
    return LNS_CAUSE_NOT_RECORDED;
  if (gap->last_sync_ns != INT64_MIN && ns <= WAY_NS && !is_own_range)
    return LNS_CAUSE_GPU_SYNC;
  return LNS_CAUSE_CPU_WORK;
}

/* Whether time of CAUSE is one finding of a thread, wherever it is. */
static bool
is_of_any_place (LnsCause cause)
{
  return cause == LNS_CAUSE_GPU_SYNC || cause == LNS_CAUSE_LAUNCH_RATE ||
         cause == LNS_CAUSE_CPU_CONTENTION;
}

/* The name of the call that queued what ends the gap, if that is a copy, a set or a graph; else 0. */
static uint32_t
special_call (const Gap *gap)
{
  const char *name = lns_report_string (gap->device->maker->report, gap->call->name, NULL);
  return strstr (name, "Memcpy") != NULL || strstr (name, "Memset") != NULL ||
                 strstr (name, "GraphLaunch") != NULL
             ? gap->call->name
             : 0;
}

/* Whether DEED is in the call that launched what ends the gap. */
static bool
is_call_of (const Gap *gap, const LnsDeed *deed)
{
  return deed->lane == gap->call->lane && deed->ordinal == gap->call->ordinal;
}

/* Whether DEED, which asks whether the GPU is done, is one of many that do. */
static bool
is_of_wait (const Gap *gap, const LnsDeed *deed)
{
  int64_t end_ns = gap->last_sync_ns;
  uint32_t name = gap->sync;

  return name == deed->name ||
         (lns_thread_facts_last_sync (gap->device->maker->facts, gap->thread, deed->call_start_ns,
                                      &end_ns, &name, NULL) &&
          name == deed->name);
}

/* Where DEED waits for the GPU, which is idle: the GPU had let the thread go on. If that got no CPU, tells so, as reports say that do not
 * have who woke whom. Returns up to when something was told. */
static int64_t
tell_lack_of_cpu (Gap *gap, const LnsDeed *deed, LnsCause cause)
{
  LnsPart part = nothing;
  bool lacks = false;

  part.thread = gap->thread;
  part.start_ns = deed->start_ns;
  part.end_ns = deed->end_ns;
  if (cause != LNS_CAUSE_GPU_SYNC || deed->doing != LNS_DOING_CUDA ||
      deed->end_ns - deed->start_ns < LACK_NS ||
      !_lns_why_lacks_cpu (gap->device->maker, &part, &lacks, NULL) || !lacks ||
      part.end_ns - part.start_ns < LACK_NS)
    return deed->start_ns;
  part.is_any_place = true;
  part.range = deed->range;
  part.confidence = LNS_CONFIDENCE_LIKELY;
  add (gap->device, part.start_ns, part.end_ns, LNS_CAUSE_CPU_CONTENTION, part);
  return part.end_ns;
}

static bool
take_deed (void *data, const LnsDeed *deed)
{
  Gap *gap = data;
  LnsCause cause;
  LnsPart part = { .thread = gap->thread,
                   .call = deed->name,
                   .range = deed->range,
                   .lane = deed->lane,
                   .ordinal = deed->ordinal,
                   .waker = deed->waker,
                   .is_for_python = deed->is_for_python };

  switch (deed->doing)
    {
    case LNS_DOING_OVERHEAD:
      cause = _lns_why_cause_of_overhead (deed->overhead);
      if (cause == LNS_CAUSE_PROFILER) /* whatever the call was */
        part.call = 0;
      break;
    case LNS_DOING_CUDA:
      cause = cause_of_cuda (deed->class);
      if (deed->class == LNS_CALL_QUERY && is_of_wait (gap, deed))
        cause = LNS_CAUSE_GPU_SYNC;
      if (cause == LNS_CAUSE_LAUNCH_RATE && deed->end_ns - deed->start_ns > LOADING_NS)
        {
          cause =
              is_call_of (gap, deed) && gap->is_first ? LNS_CAUSE_MODULE_LOAD : LNS_CAUSE_DRIVER;
          part.confidence = LNS_CONFIDENCE_LIKELY;
        }
      if (cause == LNS_CAUSE_GPU_SYNC)
        {
          gap->last_sync_ns = deed->end_ns;
          gap->sync = deed->name;
          gap->sync_range = deed->range;
        }
      if (cause == LNS_CAUSE_LAUNCH_RATE && is_call_of (gap, deed) &&
          gap->last_sync_ns != INT64_MIN)
        {
          /* The first launch after a wait is part of the way. */
          cause = LNS_CAUSE_GPU_SYNC;
          part.call = gap->sync;
          part.range = gap->sync_range;
        }
      else if (cause == LNS_CAUSE_LAUNCH_RATE)
        part.call = special_call (gap);
      break;
    case LNS_DOING_MPI:
    case LNS_DOING_OS:
      cause = _lns_why_cause_of_call (deed->class);
      break;
    case LNS_DOING_RUNNABLE:
      cause = LNS_CAUSE_CPU_CONTENTION;
      break;
    case LNS_DOING_BLOCKED:
      cause = _lns_why_cause_of_block (deed);
      break;
    default:
      cause = cause_of_way (gap, deed, &part);
      if (cause == LNS_CAUSE_NOT_RECORDED)
        gap->device->away_ns += deed->end_ns - deed->start_ns;
      else if (cause == LNS_CAUSE_CPU_WORK && deed->doing == LNS_DOING_UNKNOWN)
        gap->device->guessed_ns += deed->end_ns - deed->start_ns;
      if (cause == LNS_CAUSE_LAUNCH_RATE)
        part.call = special_call (gap);
      if (cause == LNS_CAUSE_GPU_SYNC)
        {
          part.call = gap->sync;
          part.range = gap->sync_range;
        }
      else if (part.is_any_place)
        {
          /* … but one around them may. */
          LnsDeed around = { .range_lane = LNS_ID_NONE };
          lns_thread_facts_long_range (gap->device->maker->facts, gap->thread, deed->start_ns,
                                       WAY_NS, &around, NULL);
          part.is_any_place = around.range == 0;
          part.range = around.range;
          part.inner = deed->range;
          part.lane = around.range_lane;
          part.ordinal = around.range_ordinal;
        }
      else if (part.lane == LNS_ID_NONE)
        {
          part.lane = deed->range_lane;
          part.ordinal = deed->range_ordinal;
        }
    }
  if (part.lane == LNS_ID_NONE && deed->end_ns >= gap->call->start_ns)
    {
      part.lane = gap->call->lane;
      part.ordinal = gap->call->ordinal;
    }
  part.is_any_place |= is_of_any_place (cause);
  if (deed->is_likely && cause == LNS_CAUSE_LOCK_WAIT)
    part.confidence = LNS_CONFIDENCE_LIKELY;
  const int64_t told_ns = tell_lack_of_cpu (gap, deed, cause);
  add (gap->device, told_ns, deed->end_ns, cause, part);
  return lns_go_on (gap->device->maker->cancel, NULL);
}

/* --- A gap ------------------------------------------------------------------------------------ */

/* The time from START_NS to END_NS, in which OPERATION, which ends the gap, had been launched by CALL and did not begin. */
static void
add_latency (Device *device,
             const Gap *gap,
             int64_t start_ns,
             int64_t end_ns,
             const LnsLaunchCall *call,
             const LnsOperation *operation)
{
  const bool is_sync = gap->last_sync_ns != INT64_MIN;
  LnsCause cause = is_sync ? LNS_CAUSE_GPU_SYNC : LNS_CAUSE_LAUNCH_RATE;
  LnsPart part = { .thread = call->thread,
                   .call = is_sync ? gap->sync : special_call (gap),
                   .range = is_sync ? gap->sync_range : gap->range,
                   .lane = call->lane,
                   .ordinal = call->ordinal,
                   .waker = LNS_ID_NONE,
                   .is_any_place = true };

  /* Whether it had been queued when the gap began: it was when what ran before the gap began, or long before that ended. */
  if (call->end_ns <= gap->start_ns &&
      (call->end_ns <= gap->before_ns || gap->start_ns - call->end_ns > REACH_NS ||
       end_ns - start_ns > QUEUED_NS))
    {
      cause = end_ns - start_ns <= QUEUED_NS ? LNS_CAUSE_DRIVER
              : device->n_waits > 0          ? LNS_CAUSE_DEPENDENCY
                                             : LNS_CAUSE_NOT_RECORDED;
      if (cause == LNS_CAUSE_NOT_RECORDED)
        device->held_ns += end_ns - start_ns;
      part.call = 0;
      part.range = gap->range;
      part.confidence = LNS_CONFIDENCE_LIKELY;
      if (cause == LNS_CAUSE_DEPENDENCY)
        {
          /* What waited tells more than who launched it. */
          LnsEvent event;
          part.lane = operation->lane;
          part.ordinal = operation->ordinal;
          if (lns_report_event (device->maker->report, part.lane, part.ordinal, &event, NULL))
            part.call = event.name;
        }
    }
  add (device, start_ns, end_ns, cause, part);
}

/* From when on the gap from START_NS to END_NS may have been work that was not recorded: END_NS if it was not. Work that was
 * launched after what began the busy span before may come behind that. */
static int64_t
missing_from (Device *device, int64_t start_ns, int64_t end_ns)
{
  int64_t from_ns = end_ns;

  while (device->next_missing < device->n_missing && device->missing[device->next_missing] < end_ns)
    {
      const int64_t time_ns = device->missing[device->next_missing++];
      if (time_ns >= device->last_launch_ns && time_ns < from_ns)
        from_ns = time_ns;
    }
  return from_ns < start_ns ? start_ns : from_ns;
}

/* Whether records of the time from START_NS to END_NS were dropped. Times ascend. */
static bool
is_lost (Device *device, int64_t start_ns, int64_t end_ns)
{
  const LnsSpan *lost = device->lost.items;

  while (device->next_lost < device->lost.n && lost[device->next_lost].end_ns < start_ns)
    device->next_lost++;
  return device->next_lost < device->lost.n && lost[device->next_lost].start_ns < end_ns;
}

static void
add_first_starts (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Device *device = data;

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t at = 1 + (uint64_t)lns_difference (chunk->start_ns[i], LNS_TIME_MIN);
      const uint64_t known = lns_id_map_number (&device->first_starts, chunk->name[i]);
      if (known == 0 || at < known)
        lns_id_map_set_number (&device->first_starts, chunk->name[i], at);
    }
}

/* Sets RET_IS_FIRST to whether OPERATION is the first kernel of its name on the GPU: its code may have to be loaded. */
static bool
find_first (Device *device, const LnsOperation *operation, bool *ret_is_first, LnsError *error)
{
  LnsReport *report = device->maker->report;
  const LnsLane *lanes = lns_report_lanes (report, NULL);
  LnsEvent event;

  if (lanes[operation->lane].kind != LNS_LANE_CUDA_KERNEL)
    return true;
  for (size_t i = 0; device->first_starts.n == 0 && i < device->work->lanes.n; i++)
    if (lanes[device->work->lanes.items[i]].kind == LNS_LANE_CUDA_KERNEL &&
        !lns_read_lane (report, device->work->lanes.items[i], LNS_COLUMN_BIT (LNS_COLUMN_NAME),
                        add_first_starts, device, device->maker->cancel, error))
      return false;
  if (!lns_report_event (report, operation->lane, operation->ordinal, &event, error))
    return false;
  *ret_is_first = lns_id_map_number (&device->first_starts, event.name) ==
                  1 + (uint64_t)lns_difference (event.start_ns, LNS_TIME_MIN);
  return true;
}

/* Tells the gap between two times in which the GPU was busy. */
static bool
tell_gap (Device *device, const LnsOperation *before, const LnsOperation *after, LnsError *error)
{
  LnsWhyMaker *maker = device->maker;
  const int64_t start_ns = before->end_ns, end_ns = after->start_ns,
                kept_ns =
                    end_ns - start_ns - lns_omitted_ns (&maker->why->omissions, start_ns, end_ns);
  LnsLaunchCall call;
  bool found = false;

  maker->gap++;
  if (device->n_missing > device->n_launches / FEW_MISSING)
    {
      /* Any time may have been work. */
      device->missing_ns += kept_ns;
      add (device, start_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
      return true;
    }
  if (after->is_after_loss || is_lost (device, start_ns, end_ns))
    {
      device->lost_ns += kept_ns;
      add (device, start_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
      return true;
    }
  if (device->stranger != LNS_ID_NONE && start_ns < device->strange.end_ns &&
      end_ns > device->strange.start_ns)
    {
      device->strange_ns += kept_ns;
      add (device, start_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
      return true;
    }
  const int64_t known_ns = missing_from (device, start_ns, end_ns);
  if (!lns_launch_finder_find (maker->finder, after->lane, after->ordinal, &found, &call, error))
    return false;
  if (!found)
    {
      device->without_call_ns += kept_ns;
      add (device, start_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
      return true;
    }
  lns_id_map_set_number (&device->n_calls_of, (uint64_t)call.thread + 1,
                         1 + lns_id_map_number (&device->n_calls_of, (uint64_t)call.thread + 1));
  device->last_launch_ns = call.start_ns;
  Gap gap = { .device = device,
              .thread = call.thread,
              .start_ns = start_ns,
              .before_ns = before->start_ns,
              .call = &call,
              .last_sync_ns = INT64_MIN };
  LnsDeed at_launch = { 0 };
  int64_t until_ns;
  if (!lns_thread_facts_last_sync (maker->facts, call.thread, start_ns, &gap.last_sync_ns,
                                   &gap.sync, error) ||
      !lns_thread_facts_range (maker->facts, call.thread, call.start_ns, &at_launch, &until_ns,
                               error))
    return false;
  gap.range = at_launch.range;
  if (gap.last_sync_ns != INT64_MIN)
    {
      if (!lns_thread_facts_range (maker->facts, call.thread, gap.last_sync_ns - 1, &at_launch,
                                   &until_ns, error))
        return false;
      gap.sync_range = at_launch.range;
    }
  if (call.end_ns - call.start_ns > LOADING_NS && !find_first (device, after, &gap.is_first, error))
    return false;
  int64_t launch_ns = call.end_ns > start_ns ? call.end_ns : start_ns;
  launch_ns = launch_ns < end_ns ? launch_ns : end_ns;
  const int64_t told_ns = launch_ns < known_ns ? launch_ns : known_ns;
  if (!_lns_why_walk (maker, call.thread, start_ns, told_ns, take_deed, &gap, error) ||
      !lns_go_on (maker->cancel, error))
    return false;
  if (known_ns < end_ns)
    {
      device->missing_ns += end_ns - known_ns;
      if (told_ns < known_ns)
        add_latency (device, &gap, told_ns, known_ns, &call, after);
      add (device, known_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
    }
  else
    add_latency (device, &gap, launch_ns, end_ns, &call, after);
  return true;
}

/* --- What was not recorded -------------------------------------------------------------------- */

static bool
is_of_work (const LnsDeviceWork *work, uint32_t process)
{
  for (size_t i = 0; i < work->processes.n; i++)
    if (work->processes.items[i] == process)
      return true;
  return false;
}

static int
compare_spans (const void *a, const void *b)
{
  const LnsSpan *sa = a, *sb = b;
  return LNS_COMPARE (sa->start_ns, sb->start_ns);
}

/* Finds the times in which records of calls or of the GPU were dropped. NVTX ranges that are lost hide names, no work. */
static void
find_losses (Device *device)
{
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (device->maker->report, &n);
  LnsSpan *lost;
  size_t n_apart = 0;

  for (uint32_t i = 0; i < n; i++)
    if (losses[i].others > 0 &&
        (losses[i].process == LNS_ID_NONE || is_of_work (device->work, losses[i].process)))
      *lns_array_add (&device->lost) =
          losses[i].first_ns != LNS_TIME_UNKNOWN && losses[i].last_ns != LNS_TIME_UNKNOWN
              ? (LnsSpan){ losses[i].first_ns, losses[i].last_ns }
              : device->work->span;
  lost = device->lost.items;
  lns_order (lost, device->lost.n, sizeof *lost, compare_spans);
  for (size_t i = 0; i < device->lost.n; i++)
    if (n_apart > 0 && lost[i].start_ns <= lost[n_apart - 1].end_ns)
      lost[n_apart - 1].end_ns =
          lost[i].end_ns > lost[n_apart - 1].end_ns ? lost[i].end_ns : lost[n_apart - 1].end_ns;
    else
      lost[n_apart++] = lost[i];
  device->lost.n = n_apart;
}

static int
compare_times (const void *a, const void *b)
{
  const int64_t *ta = a, *tb = b;
  return LNS_COMPARE (*ta, *tb);
}

/* Notes that PROCESS used the GPU and that none of its calls were recorded. */
static void
note_stranger (Device *device, uint32_t process)
{
  LnsReport *report = device->maker->report;

  if (device->stranger == LNS_ID_NONE)
    device->strange = (LnsSpan){ INT64_MAX, INT64_MIN };
  device->stranger = process;
  for (size_t i = 0; i < device->work->lanes.n; i++)
    {
      const uint32_t lane = device->work->lanes.items[i];
      const LnsLaneInfo *info = lns_report_lane_info (report, lane);
      if (lns_track_of (report, lane)->process != process || info->n_events == 0)
        continue;
      if (info->start_ns < device->strange.start_ns)
        device->strange.start_ns = info->start_ns;
      if (info->end_ns > device->strange.end_ns)
        device->strange.end_ns = info->end_ns;
    }
}

static bool
find_missing (Device *device, LnsError *error)
{
  const LnsDeviceWork *work = device->work;

  for (size_t i = 0; i < work->processes.n; i++)
    {
      int64_t *times;
      LnsLaunchCounts counts;
      size_t n;
      if (!lns_launch_finder_missing (device->maker->finder, work->processes.items[i], &times, &n,
                                      &counts, error))
        {
          free (times);
          return false;
        }
      if (n > 0)
        {
          device->missing = lns_realloc (device->missing, device->n_missing + n, sizeof *times);
          memcpy (&device->missing[device->n_missing], times, n * sizeof *times);
        }
      device->n_missing += n;
      device->n_missing_graphs += counts.n_missing_graphs;
      device->n_waits += counts.n_waits;
      device->n_launches += counts.n_launches;
      if (counts.n_launches == 0)
        note_stranger (device, work->processes.items[i]);
      free (times);
    }
  if (device->n_launches == 0) /* then all are */
    device->stranger = LNS_ID_NONE;
  if (work->processes.n > 1)
    lns_order (device->missing, device->n_missing, sizeof *device->missing, compare_times);
  return true;
}

/* How long the graphs of the work were that are recorded as a whole. */
static int64_t
whole_graphs_ns (const Device *device)
{
  const LnsLane *lanes = lns_report_lanes (device->maker->report, NULL);
  int64_t ns = 0;

  for (size_t i = 0; i < device->work->lanes.n; i++)
    {
      const uint32_t lane = device->work->lanes.items[i];
      if (lanes[lane].kind == LNS_LANE_CUDA_GRAPH)
        ns = lns_sum (ns, lns_report_lane_info (device->maker->report, lane)->busy_ns);
    }
  return ns;
}

static void
abstain (Device *device)
{
  LnsWhyMaker *maker = device->maker;
  const LnsSpan *span = &device->work->span;
  const int64_t least_ns = (span->end_ns - span->start_ns) / 100;
  const int64_t graphs_ns = whole_graphs_ns (device);
  maker->why->ledgers.items[maker->ledger].graphs_ns = graphs_ns;
  char text[LNS_WHY_NS_SIZE];

  if (device->lost_ns > 0)
    _lns_why_abstain (maker, span,
                      N_ ("Record again with a larger --buffer-size, or record less (see "
                          "`lanescope info`)."),
                      N_ ("Records were dropped: %s without known work is not taken for idleness."),
                      _lns_why_ns (device->lost_ns, text));
  if (device->n_missing_graphs > 0 && device->n_missing_graphs * 2 >= device->n_missing)
    _lns_why_abstain (
        maker, span, N_ ("Record with --cuda-graph-trace=node."),
        N_ ("Of %zu launches of CUDA graphs no GPU work was recorded: %s after them is not "
            "taken for idleness."),
        device->n_missing_graphs, _lns_why_ns (device->missing_ns, text));
  else if (device->missing_ns > least_ns || device->n_missing > device->n_launches / FEW_MISSING)
    _lns_why_abstain (
        maker, span, N_ ("Record GPU work as well as calls: -t cuda, in one capture range."),
        N_ ("Of %zu of %zu launches no GPU work was recorded: %s after them is not taken "
            "for idleness."),
        device->n_missing, device->n_launches, _lns_why_ns (device->missing_ns, text));
  if (device->without_call_ns > least_ns)
    _lns_why_abstain (
        maker, span,
        N_ ("Record with -t cuda,nvtx,osrt, so that the calls of the program are there."),
        N_ ("The calls that launched the work after %s of idle time were not recorded."),
        _lns_why_ns (device->without_call_ns, text));
  if (device->cut_ns > least_ns)
    _lns_why_abstain (maker, span, N_ ("Look at a longer part of the report."),
                      N_ ("The work after %s of idle time is behind the end of this part."),
                      _lns_why_ns (device->cut_ns, text));
  if (device->strange_ns > least_ns)
    _lns_why_abstain (
        maker, span, N_ ("Record all processes that use this GPU, with -t cuda."),
        N_ ("Process %d used this GPU as well, and its calls were not recorded: nobody is accused "
            "of %s of idle time."),
        lns_report_processes (maker->report, NULL)[device->stranger].pid,
        _lns_why_ns (device->strange_ns, text));
  if (device->held_ns > least_ns)
    _lns_why_abstain (
        maker, span, N_ ("Record with -t cuda and --cuda-event-trace=true."),
        N_ ("Queued work began %s after all work before it, and nothing that it may have "
            "waited for was recorded."),
        _lns_why_ns (device->held_ns, text));
  if (device->away_ns > least_ns)
    _lns_why_abstain (
        maker, span, N_ ("Record with -t cuda,nvtx,osrt and CPU samples (-s process-tree)."),
        N_ ("For %s of idle time the launching thread was in no call of CUDA; what else it "
            "did was not recorded."),
        _lns_why_ns (device->away_ns, text));
  if (device->guessed_ns > 5 * least_ns)
    _lns_why_abstain (
        maker, span, N_ ("Record with -t cuda,nvtx,osrt and CPU samples (-s process-tree)."),
        N_ ("Whether the launching thread computed or waited was not recorded for %s of idle "
            "time."),
        _lns_why_ns (device->guessed_ns, text));
  const int64_t unknown_ns = maker->why->ledgers.items[maker->ledger].cause_ns[LNS_CAUSE_UNKNOWN];
  if (unknown_ns > 5 * least_ns)
    _lns_why_abstain (
        maker, span, N_ ("Record with -t cuda,nvtx,osrt."),
        N_ ("For %s of idle time the launching thread was blocked, and what it waited for "
            "was not recorded."),
        _lns_why_ns (unknown_ns, text));
  if (graphs_ns > least_ns)
    _lns_why_abstain (maker, span, N_ ("Record with --cuda-graph-trace=node."),
                      N_ ("CUDA graphs are recorded as a whole (%s): idle time within them is not "
                          "known."),
                      _lns_why_ns (graphs_ns, text));
  if (device->work->processes.n > 1)
    _lns_why_abstain (
        maker, span, N_ ("Record each process alone to tell them apart."),
        N_ ("%zu processes used this GPU: it counts as busy while any of them had work."),
        (size_t)device->work->processes.n);
}

/* The thread that launched most of what ended gaps. */
static uint32_t
busiest_thread (const Device *device)
{
  uint32_t thread = LNS_ID_NONE;
  uint64_t most = 0;

  for (size_t i = 0; i < device->n_calls_of.n_places; i++)
    {
      const LnsIdMapEntry *entry = &device->n_calls_of.entries[i];
      const uint64_t n = (uintptr_t)entry->value;
      if (n > most)
        {
          most = n;
          thread = (uint32_t)(entry->key - 1);
        }
    }
  return thread;
}

/* Tells the time before the first work, FIRST. */
static bool
tell_start (Device *device, const LnsOperation *first, LnsError *error)
{
  const LnsSpan *span = &device->work->span;
  LnsLaunchCall call;
  LnsPart part = nothing;
  bool found = false;

  /* What came before a part of a report is no start. */
  if (lns_part_is_cut_at_start (device->maker->report))
    return tell_gap (device,
                     &(LnsOperation){ .start_ns = span->start_ns, .end_ns = span->start_ns }, first,
                     error);
  if (!lns_launch_finder_find (device->maker->finder, first->lane, first->ordinal, &found, &call,
                               error))
    return false;
  part.lane = first->lane;
  part.ordinal = first->ordinal;
  if (found)
    part.thread = call.thread;
  device->last_launch_ns = found ? call.start_ns : first->start_ns;
  /* What was launched before it and is not there may fill the time from then on. */
  int64_t known_ns = first->start_ns;
  while (device->next_missing < device->n_missing &&
         device->missing[device->next_missing] < first->start_ns)
    {
      const int64_t time_ns = device->missing[device->next_missing++];
      known_ns = time_ns < known_ns ? time_ns : known_ns;
    }
  known_ns = known_ns > device->work->span.start_ns ? known_ns : device->work->span.start_ns;
  device->maker->gap++;
  add (device, device->work->span.start_ns, known_ns, LNS_CAUSE_START_UP, part);
  add (device, known_ns, first->start_ns, LNS_CAUSE_NOT_RECORDED, nothing);
  device->missing_ns += first->start_ns - known_ns;
  return true;
}

/* Tells the time after the last work, LAST: what was launched then and is not there may fill it. */
static void
tell_end (Device *device, const LnsOperation *last)
{
  const int64_t end_ns = device->work->span.end_ns,
                known_ns = missing_from (device, last->end_ns, end_ns);
  LnsPart part = nothing;

  device->maker->gap++;
  if (lns_part_is_cut_at_end (device->maker->report))
    {
      device->cut_ns += end_ns - last->end_ns;
      add (device, last->end_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
      return;
    }
  part.thread = busiest_thread (device);
  part.lane = last->lane;
  part.ordinal = last->ordinal;
  add (device, last->end_ns, known_ns, LNS_CAUSE_TEAR_DOWN, part);
  add (device, known_ns, end_ns, LNS_CAUSE_NOT_RECORDED, nothing);
  device->missing_ns += end_ns - known_ns;
}

/* Tells the whole span of the work. */
static bool
tell_all (Device *device, LnsError *error)
{
  const LnsDeviceWork *work = device->work;
  LnsWorkWalk *walk =
      lns_work_walk_new (device->maker->report, work, UINT32_MAX, device->maker->cancel);
  LnsOperation before = { 0 }, busy;
  bool any = false, found = true, good = true;

  while (good && found)
    {
      good = lns_work_walk_busy (walk, &busy, &found, error);
      if (!good || !found)
        break;
      good = any ? tell_gap (device, &before, &busy, error) : tell_start (device, &busy, error);
      _lns_why_add_busy (device->maker, busy.start_ns, busy.end_ns);
      before = busy;
      any = true;
    }
  lns_work_walk_free (walk);
  if (good && any)
    tell_end (device, &before);
  else if (good)
    {
      device->maker->gap++;
      add (device, work->span.start_ns, work->span.end_ns, LNS_CAUSE_UNKNOWN, nothing);
    }
  return good;
}

bool
_lns_why_device (LnsWhyMaker *maker, const LnsDeviceWork *work, LnsError *error)
{
  Device device = { .maker = maker, .work = work, .stranger = LNS_ID_NONE };
  LnsLedger *ledger = _lns_why_begin_ledger (maker, &work->span);

  ledger->is_device = true;
  ledger->device = work->device;
  ledger->process = work->process;
  ledger->n_processes = (unsigned)work->processes.n;
  find_losses (&device);
  const bool good = find_missing (&device, error) && tell_all (&device, error);
  ledger = &maker->why->ledgers.items[maker->ledger];
  ledger->thread = busiest_thread (&device);
  ledger->n_launches = device.n_launches;
  ledger->n_missing = device.n_missing;
  if (good)
    abstain (&device);
  free (device.missing);
  lns_array_clear (&device.lost);
  lns_id_map_clear (&device.n_calls_of);
  lns_id_map_clear (&device.first_starts);
  return good;
}
