/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What GPUs did for steps: an operation belongs to the step in which it was launched. */

#include <stdlib.h>

#include "src/analysis/compare/reader.h"
#include "src/analysis/kernel-keys.h"
#include "src/base/compare.h"
#include "src/base/hash.h"
#include "src/tables/lanes.h"

/* Operations of the typical step beyond do not tell more. */
#define MOST_ORDERED 8192

typedef struct
{
  LnsPartReader *reader;
  LnsLaunchFinder *finder;
  size_t near;
} Devices;

static uint32_t
device_number (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  const uint32_t device = lns_track_of (report, lane)->device;
  return device < n ? devices[device].number : LNS_ID_NONE;
}

static uint64_t
shape_of (LnsReport *report, uint64_t launch)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (report, &n);

  if (launch >= n)
    return 0;
  uint32_t sizes[6];
  for (unsigned i = 0; i < 3; i++)
    {
      sizes[i] = launches[launch].grid[i];
      sizes[3 + i] = launches[launch].block[i];
    }
  return lns_hash (sizes, sizeof sizes) | 1;
}

/* Adds a kernel of PART to those of its short name that any range launched. Returns 1 + the index of their part, or 0. */
static uint32_t
add_to_total (LnsPartReader *reader, size_t step, const LnsStepPart *part, const LnsEvidence *event)
{
  const LnsStepPart one = *part;
  const uint64_t keys[] = { LNS_PART_KERNEL, _lns_part_whole_key (reader, one.name), 1, one.device,
                            1 };
  bool is_new;
  LnsStepPart *total = _lns_step_part (reader->times, lns_hash (keys, sizeof keys), &is_new);

  if (total == NULL)
    return 0;
  total->kind = LNS_PART_KERNEL;
  total->name = one.name;
  total->device = one.device;
  total->is_total = true;
  _lns_step_part_add (total, step, (double)(event->end_ns - event->start_ns), event);
  return (uint32_t)(total - reader->times->parts.items) + 1;
}

/* Adds the operation of CURSOR to STEP. RANGE, a string id, is the one that launched it. */
static void
add_operation (Devices *devices, const LnsLaneCursor *cursor, size_t step, uint32_t range)
{
  LnsPartReader *reader = devices->reader;
  LnsStepTimes *times = reader->times;
  const LnsLaneKind kind = lns_report_lanes (reader->report, NULL)[cursor->lane].kind;
  const bool is_kernel = kind == LNS_LANE_CUDA_KERNEL;
  const uint64_t launch =
      lns_chunk_extra (cursor->chunk, lns_lane_kind_extra (kind, LNS_COLUMN_LAUNCH), cursor->i);
  const uint32_t name = is_kernel ? cursor->chunk->name[cursor->i] : 0,
                 short_name = is_kernel ? lns_kernel_name (reader->report, LNS_KERNEL_SHORT_NAME,
                                                           name, launch)
                                        : 0,
                 device = device_number (reader->report, cursor->lane);
  const uint32_t copy =
      kind == LNS_LANE_CUDA_MEMSET ? LNS_PART_SET
      : kind == LNS_LANE_CUDA_GRAPH
          ? LNS_PART_GRAPH
          : (uint32_t)lns_chunk_extra (cursor->chunk,
                                       lns_lane_kind_extra (kind, LNS_COLUMN_COPY_KIND), cursor->i);
  const uint64_t range_key = lns_name_key (reader->report, &reader->names, range),
                 keys[] = { is_kernel ? LNS_PART_KERNEL : LNS_PART_COPY,
                            is_kernel ? _lns_part_whole_key (reader, name) : copy, range_key,
                            device };
  bool is_new;
  LnsStepPart *part = _lns_step_part (times, lns_hash (keys, sizeof keys), &is_new);
  if (part == NULL)
    return;
  if (is_new)
    {
      part->kind = is_kernel ? LNS_PART_KERNEL : LNS_PART_COPY;
      part->name = short_name;
      part->range = range;
      part->device = device;
      part->copy = is_kernel ? 0 : copy;
    }
  const LnsEvidence event = { lns_lane_cursor_start (cursor), lns_lane_cursor_end (cursor),
                              cursor->lane, lns_lane_cursor_ordinal (cursor) };
  _lns_step_part_add (part, step, (double)(event.end_ns - event.start_ns), &event);
  const uint32_t at = (uint32_t)(part - times->parts.items);
  const uint32_t total = is_kernel ? add_to_total (reader, step, part, &event) : 0;
  if (step == times->typical && times->order.n < MOST_ORDERED)
    *lns_array_add (&times->order) = (LnsStepOperation){
      .start_ns = event.start_ns,
      .part = at,
      .total = total,
      .name = is_kernel ? _lns_part_whole_key (reader, name) : copy + 1,
      .short_name = is_kernel ? _lns_part_whole_key (reader, short_name) : copy + 1,
      .shape = is_kernel ? shape_of (reader->report, launch) : 0,
      .range = range_key,
    };
}

/* Adds the operation of CURSOR to its step, if it has one. */
static bool
read_operation (Devices *devices, const LnsLaneCursor *cursor, LnsError *error)
{
  LnsPartReader *reader = devices->reader;
  const LnsStepTimes *times = reader->times;
  LnsLaunchCall call;
  LnsDeed around = { .range = 0 };
  bool found;
  int64_t until_ns;

  if (!lns_launch_finder_find (devices->finder, cursor->lane, lns_lane_cursor_ordinal (cursor),
                               &found, &call, error))
    return false;
  /* Of a run that is told by some of its steps, only what the GPU did in these is read. */
  const bool by_launch = found && times->n == times->n_all;
  const size_t step = _lns_step_at (
      times, by_launch ? call.start_ns : lns_lane_cursor_start (cursor), devices->near);
  if (step == SIZE_MAX)
    return true;
  devices->near = step;
  if (found && !lns_thread_facts_range (reader->facts, call.thread, call.start_ns, &around,
                                        &until_ns, error))
    return false;
  /* The range that is the step is where everything is. */
  if (times->are_ranges && around.range != 0 &&
      around.range_start_ns == times->spans[step].start_ns &&
      around.range_end_ns == times->spans[step].end_ns)
    around.range = 0;
  add_operation (devices, cursor, step, around.range);
  return true;
}

static bool
read_lane (Devices *devices, uint32_t lane, LnsError *error)
{
  LnsPartReader *reader = devices->reader;
  const LnsStepTimes *times = reader->times;
  const bool is_whole = times->n == times->n_all;
  LnsLaneCursor cursor = { .report = reader->report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_COPY_KIND) };
  bool good = true;

  devices->near = 0;
  for (size_t step = 0; good && step < (is_whole ? 1 : times->n); step++)
    {
      const int64_t end_ns = is_whole ? INT64_MAX : times->spans[step].end_ns;
      good = lns_lane_cursor_seek (&cursor, times->spans[step].start_ns, error);
      for (unsigned n = 0;
           good && lns_lane_cursor_has (&cursor) && lns_lane_cursor_start (&cursor) < end_ns; n++)
        good = (n % 1024 != 0 || lns_go_on (reader->cancel, error)) &&
               (lns_lane_cursor_start (&cursor) < times->spans[step].start_ns ||
                read_operation (devices, &cursor, error)) &&
               lns_lane_cursor_next (&cursor, error);
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

static int
compare_operations (const void *a, const void *b)
{
  const LnsStepOperation *oa = a, *ob = b;
  return LNS_COMPARE (oa->start_ns, ob->start_ns) ?: LNS_COMPARE (oa->part, ob->part);
}

/* Adds the causes of idle time of the first ledger. */
static void
add_gaps (LnsPartReader *reader)
{
  const LnsWhy *why = reader->why;
  LnsStepTimes *times = reader->times;
  const LnsLedger *ledger = &why->ledgers.items[0];
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (reader->report, &n_devices);

  for (LnsCause cause = 0; cause < LNS_N_IDLE_CAUSES; cause++)
    {
      const uint64_t keys[] = { LNS_PART_GAP, cause };
      LnsStepPart *part = NULL;
      /* What others take, and what nobody knows, is no part of the program. */
      if (cause == LNS_CAUSE_CPU_CONTENTION || cause == LNS_CAUSE_NOT_RECORDED ||
          cause == LNS_CAUSE_UNKNOWN || cause == LNS_CAUSE_PROFILER)
        continue;
      for (size_t step = 0; step < times->n; step++)
        {
          const int64_t ns =
              why->steps.ns[times->indices[step] * (1 + LNS_N_IDLE_CAUSES) + 1 + cause];
          bool is_new;
          if (ns == 0 ||
              (part = _lns_step_part (times, lns_hash (keys, sizeof keys), &is_new)) == NULL)
            continue;
          part->kind = LNS_PART_GAP;
          part->cause = cause;
          part->device = ledger->device < n_devices ? devices[ledger->device].number : LNS_ID_NONE;
          part->ns[step] = (double)ns;
          part->n_events++;
        }
      for (size_t i = 0; part != NULL && i < why->findings.n; i++)
        if (why->findings.items[i].ledger == 0 && why->findings.items[i].cause == cause)
          {
            part->events[0] = why->findings.items[i].longest;
            part->n_events_kept = 1;
            part->range = why->findings.items[i].own.range;
            break;
          }
    }
}

bool
_lns_part_read_devices (LnsPartReader *reader, LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (reader->report, &n_lanes);
  Devices devices = { .reader = reader,
                      .finder =
                          lns_launch_finder_new (reader->report, reader->classes, reader->cancel) };
  LnsStepTimes *times = reader->times;
  bool good = true;

  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (lns_is_gpu_operation (lanes[i].kind))
      good = read_lane (&devices, i, error);
  lns_launch_finder_free (devices.finder);
  if (times->order.n > 0)
    qsort (times->order.items, times->order.n, sizeof *times->order.items, compare_operations);
  if (good && reader->why->ledgers.n > 0 && reader->why->ledgers.items[0].is_device &&
      reader->why->steps.ns != NULL)
    add_gaps (reader);
  return good;
}
