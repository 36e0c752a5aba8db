/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/device-work.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* --- Which GPUs ------------------------------------------------------------------------------- */

/* Whether devices A and B, of processes that may differ, are one GPU. */
static bool
is_same_device (LnsReport *report, uint32_t a, uint32_t b)
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
find_work (LnsReport *report, LnsDeviceWorks *works, const LnsTrack *track)
{
  LnsDeviceWork *work = NULL;

  for (size_t i = 0; i < works->n && work == NULL; i++)
    if (is_same_device (report, works->items[i].device, track->device) &&
        (track->device != LNS_ID_NONE || works->items[i].process == track->process))
      work = &works->items[i];
  if (work == NULL)
    {
      work = lns_array_add (works);
      *work = (LnsDeviceWork){ .device = track->device, .process = track->process };
    }
  for (size_t i = 0; i < work->processes.n; i++)
    if (work->processes.items[i] == track->process)
      return work;
  *lns_array_add (&work->processes) = track->process;
  return work;
}

/* --- Spans ------------------------------------------------------------------------------------ */

/* Sets the span of each of WORKS: from the first event of its processes to the last, within SPAN. Counters and what the kernel
 * tells of CPUs may go on without the program. O(lanes × GPUs). */
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
          if (!is_of_it || info->n_events == 0 || lanes[i].kind == LNS_LANE_COUNTER ||
              lanes[i].kind == LNS_LANE_CPU_RUN || lanes[i].kind == LNS_LANE_GPU_SWITCH)
            continue;
          start_ns = info->start_ns < start_ns ? info->start_ns : start_ns;
          end_ns = info->end_ns > end_ns ? info->end_ns : end_ns;
        }
      work->span.start_ns = start_ns > span->start_ns ? start_ns : span->start_ns;
      work->span.end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
      if (work->span.end_ns < work->span.start_ns)
        work->span.end_ns = work->span.start_ns;
    }
}

/* --- Busy ------------------------------------------------------------------------------------- */

typedef struct
{
  LnsDeviceWork *work;
  LnsSpans spans; /* of all lanes, one lane after the other                                      */
  size_t first;   /* of the lane at hand                                                         */
} Reading;

static void
add_busy (LnsSpans *spans, size_t first, int64_t start_ns, int64_t end_ns)
{
  LnsSpan *last = spans->n > first ? &spans->items[spans->n - 1] : NULL;

  if (last != NULL && start_ns <= last->end_ns)
    last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
  else
    *lns_array_add (spans) = (LnsSpan){ start_ns, end_ns };
}

static void
add_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Reading *reading = data;
  const LnsSpan *span = &reading->work->span;

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const bool is_whole = chunk->flags == NULL || lns_event_has_length (chunk->flags[i]);
      int64_t start_ns = chunk->start_ns[i],
              end_ns = start_ns + (is_whole ? chunk->duration_ns[i] : 0);
      start_ns = start_ns > span->start_ns ? start_ns : span->start_ns;
      end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
      if (start_ns < end_ns)
        add_busy (&reading->spans, reading->first, start_ns, end_ns);
    }
}

static int
compare_starts (const void *a, const void *b)
{
  const LnsSpan *sa = a, *sb = b;
  return LNS_COMPARE (sa->start_ns, sb->start_ns);
}

static bool
find_busy (LnsReport *report, LnsDeviceWork *work, const atomic_bool *cancel, LnsError *error)
{
  Reading reading = { .work = work };
  bool good = true;

  for (size_t i = 0; good && i < work->lanes.n; i++)
    {
      reading.first = reading.spans.n;
      good = lns_read_lane (report, work->lanes.items[i], LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                            add_chunk, &reading, cancel, error);
    }
  lns_order (reading.spans.items, reading.spans.n, sizeof (LnsSpan), compare_starts);
  /* In place: what is merged never reaches what is still to be read. */
  LnsSpans merged = { .items = reading.spans.items, .n_allocated = reading.spans.n_allocated };
  for (size_t i = 0; i < reading.spans.n; i++)
    {
      const LnsSpan span = reading.spans.items[i];
      add_busy (&merged, 0, span.start_ns, span.end_ns);
    }
  work->busy = merged;
  for (size_t i = 0; i < merged.n; i++)
    work->busy_ns += merged.items[i].end_ns - merged.items[i].start_ns;
  return good;
}

/* --- What ends the gaps ----------------------------------------------------------------------- */

static void
find_starts (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsDeviceWork *work = data;
  const LnsSpans *busy = &work->busy;
  size_t at = 0;

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t start_ns = chunk->start_ns[i];
      /* Events ascend: mostly it is the next one. */
      for (size_t step = 1; at < busy->n && busy->items[at].start_ns < start_ns; step *= 2)
        {
          const size_t to = at + step < busy->n ? at + step : busy->n;
          if (to == busy->n || busy->items[to].start_ns >= start_ns)
            {
              at += LNS_LOWER_BOUND (to - at, k, busy->items[at + k].start_ns < start_ns);
              break;
            }
          at = to;
        }
      if (at == busy->n)
        return;
      if (busy->items[at].start_ns != start_ns || work->next_lane[at] != LNS_ID_NONE ||
          chunk->first + i > UINT32_MAX)
        continue;
      work->next_lane[at] = chunk->lane;
      work->next_ordinal[at] = (uint32_t)(chunk->first + i);
      work->is_after_loss[at] =
          chunk->flags != NULL && (chunk->flags[i] & LNS_EVENT_LOST_BEFORE) != 0;
    }
}

static bool
find_next (LnsReport *report, LnsDeviceWork *work, const atomic_bool *cancel, LnsError *error)
{
  const size_t n = work->busy.n;
  bool good = true;

  work->next_lane = lns_calloc (n + 1, sizeof *work->next_lane);
  work->next_ordinal = lns_calloc (n + 1, sizeof *work->next_ordinal);
  work->is_after_loss = lns_calloc (n + 1, sizeof *work->is_after_loss);
  for (size_t i = 0; i < n; i++)
    work->next_lane[i] = LNS_ID_NONE;
  for (size_t i = 0; good && i < work->lanes.n; i++)
    good = lns_read_lane (report, work->lanes.items[i], LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                          find_starts, work, cancel, error);
  return good;
}

/* --- All -------------------------------------------------------------------------------------- */

bool
lns_device_works_find (LnsReport *report,
                       const LnsFilterSpan *span,
                       const atomic_bool *cancel,
                       LnsDeviceWorks *works,
                       LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  bool good = true;

  *works = (LnsDeviceWorks){ 0 };
  for (uint32_t i = 0; i < n_lanes; i++)
    if (lns_is_gpu_operation (lanes[i].kind) && lns_report_lane_info (report, i)->n_events > 0 &&
        (span->process == LNS_ID_NONE || lns_track_of (report, i)->process == span->process))
      *lns_array_add (&find_work (report, works, lns_track_of (report, i))->lanes) = i;
  set_spans (report, span, works);
  for (size_t i = 0; good && i < works->n; i++)
    good = find_busy (report, &works->items[i], cancel, error) &&
           find_next (report, &works->items[i], cancel, error);
  return good;
}

void
lns_device_works_clear (LnsDeviceWorks *works)
{
  for (size_t i = 0; i < works->n; i++)
    {
      LnsDeviceWork *work = &works->items[i];
      lns_array_clear (&work->processes);
      lns_array_clear (&work->lanes);
      lns_array_clear (&work->busy);
      free (work->next_lane);
      free (work->next_ordinal);
      free (work->is_after_loss);
    }
  lns_array_clear (works);
}
