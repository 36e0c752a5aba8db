/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/device-work.h"

#include <stdlib.h>

#include "src/analysis/facts/lane-cursor.h"
#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* --- Which GPUs ------------------------------------------------------------------------------- */

bool
lns_is_same_gpu (LnsReport *report, uint32_t a, uint32_t b)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  if (a >= n || b >= n)
    return a == b;
  const LnsCudaDevice *da = &devices[a], *db = &devices[b];
  if (da->process == db->process)
    return da->number == db->number;
  return da->uuid != 0 && db->uuid != 0 ? da->uuid == db->uuid : da->bus != 0 && da->bus == db->bus;
}

static LnsDeviceWork *
find_work (LnsReport *report, LnsDeviceWorks *works, const LnsTrack *track, bool by_process)
{
  LnsDeviceWork *work = NULL;

  for (size_t i = 0; i < works->n && work == NULL; i++)
    if (lns_is_same_gpu (report, works->items[i].device, track->device) &&
        ((track->device != LNS_ID_NONE && !by_process) ||
         works->items[i].process == track->process))
      work = &works->items[i];
  if (work == NULL)
    {
      work = lns_array_add (works);
      *work = (LnsDeviceWork){ .device = track->device,
                               .process = track->process,
                               .work = { INT64_MAX, INT64_MIN } };
    }
  for (size_t i = 0; i < work->processes.n; i++)
    if (work->processes.items[i] == track->process)
      return work;
  *lns_array_add (&work->processes) = track->process;
  return work;
}

#define CLAMP(value, least, most)                                                                  \
 ((value) < (least) ? (least) : (value) > (most) ? (most) : (value))

/* --- Spans ------------------------------------------------------------------------------------ */

/* Whether lanes of KIND tell that a process was there and recorded. Counters and what the kernel tells of CPUs go on without it,
 * graphs may have been made before, and overhead is the recording's own. */
static bool
tells_of_process (LnsLaneKind kind)
{
  return kind != LNS_LANE_COUNTER && kind != LNS_LANE_CPU_RUN && kind != LNS_LANE_GPU_SWITCH &&
         kind != LNS_LANE_CUDA_GRAPH_NODE && kind != LNS_LANE_CUDA_OVERHEAD;
}

/* Sets the span of each of WORKS: from the first event of its processes to the last, within SPAN. O(lanes × GPUs). */
static void
set_spans (LnsReport *report, const LnsFilterSpan *span, LnsDeviceWorks *works)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  for (size_t w = 0; w < works->n; w++)
    {
      LnsDeviceWork *work = &works->items[w];
      int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
      for (uint32_t i = 0; i < n_lanes; i++)
        {
          const LnsLaneInfo *info = lns_report_lane_info (report, i);
          const uint32_t process = lns_track_of (report, i)->process;
          bool is_of_it = false;
          for (size_t p = 0; p < work->processes.n; p++)
            is_of_it |= work->processes.items[p] == process;
          if (!is_of_it || info->n_events == 0 || !tells_of_process (lanes[i].kind))
            continue;
          start_ns = info->start_ns < start_ns ? info->start_ns : start_ns;
          end_ns = info->end_ns > end_ns ? info->end_ns : end_ns;
        }
      work->span.start_ns = start_ns > span->start_ns ? start_ns : span->start_ns;
      work->span.end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
      if (work->span.end_ns < work->span.start_ns)
        work->span.end_ns = work->span.start_ns;
      work->work.start_ns = CLAMP (work->work.start_ns, work->span.start_ns, work->span.end_ns);
      work->work.end_ns = CLAMP (work->work.end_ns, work->span.start_ns, work->span.end_ns);
    }
}

static int
compare_works (const void *a, const void *b)
{
  const LnsDeviceWork *wa = a, *wb = b;
  return LNS_COMPARE (wb->sum_ns, wa->sum_ns) ?: LNS_COMPARE (wa->device, wb->device);
}

static LnsDeviceWorks
find_works (LnsReport *report, const LnsFilterSpan *span, bool by_process)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  LnsDeviceWorks works = { 0 };

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, i);
      const LnsTrack *track = lns_track_of (report, i);
      if (!lns_is_gpu_operation (lanes[i].kind) || info->n_events == 0 ||
          (span->process != LNS_ID_NONE && track->process != span->process))
        continue;
      LnsDeviceWork *work = find_work (report, &works, track, by_process);
      *lns_array_add (&work->lanes) = i;
      work->sum_ns = lns_sum (work->sum_ns, info->busy_ns);
      if (info->start_ns < work->work.start_ns)
        work->work.start_ns = info->start_ns;
      if (info->end_ns > work->work.end_ns)
        work->work.end_ns = info->end_ns;
    }
  set_spans (report, span, &works);
  if (works.n > 1)
    qsort (works.items, works.n, sizeof *works.items, compare_works);
  return works;
}

LnsDeviceWorks
lns_device_works (LnsReport *report, const LnsFilterSpan *span)
{
  return find_works (report, span, false);
}

LnsDeviceWorks
lns_device_works_by_process (LnsReport *report, const LnsFilterSpan *span)
{
  return find_works (report, span, true);
}

void
lns_device_works_clear (LnsDeviceWorks *works)
{
  for (size_t i = 0; i < works->n; i++)
    {
      lns_array_clear (&works->items[i].processes);
      lns_array_clear (&works->items[i].lanes);
    }
  lns_array_clear (works);
}

/* --- Walking ---------------------------------------------------------------------------------- */

/* So many operations are read at once, if they are spread evenly. */
#define WINDOW 100000

/* Where a walk is in a lane. */
typedef struct
{
  uint32_t lane;
  uint64_t next; /* ordinal of the first operation that was not read yet                         */
} Place;

struct LnsWorkWalk
{
  LnsReport *report;
  const LnsDeviceWork *work;
  const atomic_bool *cancel;
  bool keeps_empty;
  LNS_ARRAY (Place) places;
  int64_t window_ns, until_ns; /* length of a window; up to where operations were read           */
  LNS_ARRAY (LnsOperation) read; /* of this window, by start                                     */
  size_t at;
  LnsOperation ahead; /* of lns_work_walk_busy (): read, and not part of what was given          */
  bool has_ahead;
};

LnsWorkWalk *
lns_work_walk_new (LnsReport *report,
                   const LnsDeviceWork *work,
                   uint32_t kinds,
                   const atomic_bool *cancel)
{
  LnsWorkWalk *walk = lns_calloc (1, sizeof *walk);
  const LnsLane *lanes = lns_report_lanes (report, NULL);
  uint64_t n = 0;

  walk->report = report;
  walk->work = work;
  walk->cancel = cancel;
  for (size_t i = 0; i < work->lanes.n; i++)
    {
      const uint32_t lane = work->lanes.items[i];
      if ((kinds >> lanes[lane].kind & 1) == 0)
        continue;
      *lns_array_add (&walk->places) = (Place){ .lane = lane };
      n += lns_report_lane_info (report, lane)->n_events;
    }
  walk->until_ns = work->work.start_ns;
  walk->window_ns = (work->work.end_ns - work->work.start_ns) / (int64_t)(n / WINDOW + 1) + 1;
  return walk;
}

void
lns_work_walk_keep_empty (LnsWorkWalk *walk)
{
  walk->keeps_empty = true;
}

void
lns_work_walk_free (LnsWorkWalk *walk)
{
  if (walk == NULL)
    return;
  lns_array_clear (&walk->places);
  lns_array_clear (&walk->read);
  free (walk);
}

static int
compare_operations (const void *a, const void *b)
{
  const LnsOperation *oa = a, *ob = b;
  return LNS_COMPARE (oa->start_ns, ob->start_ns);
}

/* Reads what begins in the lane of PLACE before the window's end. */
static bool
read_lane (LnsWorkWalk *walk, Place *place, LnsError *error)
{
  const LnsSpan *span = &walk->work->span;
  LnsLaneCursor cursor = { .report = walk->report, .lane = place->lane };
  bool good = lns_lane_cursor_go (&cursor, place->next, error);

  while (good && lns_lane_cursor_has (&cursor) && lns_lane_cursor_start (&cursor) < walk->until_ns)
    {
      const int64_t start_ns = lns_lane_cursor_start (&cursor),
                    end_ns = lns_lane_cursor_end (&cursor);
      const LnsOperation operation = {
        .start_ns = start_ns > span->start_ns ? start_ns : span->start_ns,
        .end_ns = end_ns < span->end_ns ? end_ns : span->end_ns,
        .lane = place->lane,
        .ordinal = place->next,
        .is_after_loss =
            cursor.chunk->flags != NULL && (cursor.chunk->flags[cursor.i] & LNS_EVENT_LOST_BEFORE)
      };
      if (operation.start_ns < operation.end_ns ||
          (walk->keeps_empty && operation.start_ns == operation.end_ns))
        *lns_array_add (&walk->read) = operation;
      place->next++;
      good = lns_lane_cursor_next (&cursor, error);
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

bool
lns_work_walk_next (LnsWorkWalk *walk,
                    LnsOperation *ret_operation,
                    bool *ret_found,
                    LnsError *error)
{
  *ret_found = false;
  while (walk->at == walk->read.n)
    {
      if (walk->until_ns > walk->work->work.end_ns)
        return true;
      walk->at = walk->read.n = 0;
      walk->until_ns += walk->window_ns;
      for (size_t i = 0; i < walk->places.n; i++)
        if (!lns_go_on (walk->cancel, error) || !read_lane (walk, &walk->places.items[i], error))
          return false;
      lns_order (walk->read.items, walk->read.n, sizeof (LnsOperation), compare_operations);
    }
  *ret_operation = walk->read.items[walk->at++];
  *ret_found = true;
  return true;
}

bool
lns_work_walk_busy (LnsWorkWalk *walk, LnsOperation *ret_busy, bool *ret_found, LnsError *error)
{
  LnsOperation next;
  bool found = true;

  if (!walk->has_ahead && !lns_work_walk_next (walk, &walk->ahead, &walk->has_ahead, error))
    return false;
  *ret_found = walk->has_ahead;
  if (!walk->has_ahead)
    return true;
  *ret_busy = walk->ahead;
  walk->has_ahead = false;
  while (found)
    {
      if (!lns_work_walk_next (walk, &next, &found, error))
        return false;
      if (found && next.start_ns > ret_busy->end_ns)
        {
          walk->ahead = next;
          walk->has_ahead = true;
          return true;
        }
      if (found && next.end_ns > ret_busy->end_ns)
        ret_busy->end_ns = next.end_ns;
    }
  return true;
}
