/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the GPU did in steps, and for steps. */

#include <stdlib.h>

#include "src/analysis/facts/lane-cursor.h"
#include "src/analysis/why/maker.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* The launches of more operations are not looked up. */
#define MOST_OPERATIONS 4000000

/* --- How long it worked for each -------------------------------------------------------------- */

/* The step that TIME_NS is in, or SIZE_MAX. NEAR is one that it may be in. O(log steps), or O(1) if it is in that or the next. */
static size_t
step_at (const LnsWhyMaker *maker, int64_t time_ns, size_t near)
{
  const LnsSpan *steps = maker->steps.items;
  size_t low = 0, high = maker->steps.n;

  for (size_t i = near; i < near + 2 && i < maker->steps.n; i++)
    if (time_ns >= steps[i].start_ns && time_ns < steps[i].end_ns)
      return i;
  while (low < high)
    {
      const size_t middle = low + (high - low) / 2;
      if (steps[middle].end_ns <= time_ns)
        low = middle + 1;
      else
        high = middle;
    }
  return low < maker->steps.n && time_ns >= steps[low].start_ns ? low : SIZE_MAX;
}

bool
_lns_why_step_work (LnsWhyMaker *maker,
                    const LnsDeviceWork *work,
                    int64_t *own_ns,
                    bool *ret_known,
                    LnsError *error)
{
  LnsWorkWalk *walk = lns_work_walk_new (maker->report, work, UINT32_MAX, maker->cancel);
  LnsOperation operation;
  LnsLaunchCall call;
  size_t near = 0, n = 0, n_told = 0;
  bool good = true, found = true;

  while (good && found && n <= MOST_OPERATIONS)
    {
      bool is_told = false;
      good = lns_work_walk_next (walk, &operation, &found, error) &&
             (!found || lns_launch_finder_find (maker->finder, operation.lane, operation.ordinal,
                                                &is_told, &call, error));
      if (!good || !found)
        break;
      n++;
      n_told += is_told;
      const size_t step = is_told ? step_at (maker, call.start_ns, near) : SIZE_MAX;
      if (step != SIZE_MAX)
        own_ns[near = step] += operation.end_ns - operation.start_ns;
    }
  lns_work_walk_free (walk);
  *ret_known = good && n <= MOST_OPERATIONS && n_told >= n - n / 20;
  return good;
}

/* --- What made steps slow --------------------------------------------------------------------- */

/* Adds to NS_OF, by name, how long kernels of WORK ran within SPAN. */
static bool
add_kernels (LnsWhyMaker *maker,
             const LnsDeviceWork *work,
             const LnsSpan *span,
             LnsIdMap *ns_of,
             LnsError *error)
{
  const LnsLane *lanes = lns_report_lanes (maker->report, NULL);
  bool good = true;

  for (size_t i = 0; good && i < work->lanes.n; i++)
    {
      LnsLaneCursor cursor = { .report = maker->report,
                               .lane = work->lanes.items[i],
                               .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
      if (lanes[cursor.lane].kind != LNS_LANE_CUDA_KERNEL)
        continue;
      good =
          lns_go_on (maker->cancel, error) && lns_lane_cursor_seek (&cursor, span->start_ns, error);
      while (good && lns_lane_cursor_has (&cursor) &&
             lns_lane_cursor_start (&cursor) < span->end_ns)
        {
          const int64_t start_ns = lns_lane_cursor_start (&cursor),
                        end_ns = lns_lane_cursor_end (&cursor);
          const int64_t from_ns = start_ns > span->start_ns ? start_ns : span->start_ns,
                        to_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
          const uint32_t name = cursor.chunk->name[cursor.i];
          if (to_ns > from_ns)
            lns_id_map_set_number (ns_of, name,
                                   lns_id_map_number (ns_of, name) + (uint64_t)(to_ns - from_ns));
          good = lns_lane_cursor_next (&cursor, error);
        }
      lns_lane_cursor_clear (&cursor);
    }
  return good;
}

/* The step that is nearest to the median. */
static const LnsSpan *
typical_step (const LnsWhyMaker *maker)
{
  const LnsSpan *found = NULL;
  int64_t least_ns = INT64_MAX;

  for (size_t i = 0; i < maker->steps.n; i++)
    {
      const LnsSpan *step = &maker->steps.items[i];
      const int64_t off_ns = llabs (step->end_ns - step->start_ns - maker->why->steps.p50_ns);
      if (off_ns < least_ns)
        {
          least_ns = off_ns;
          found = step;
        }
    }
  return found;
}

bool
_lns_why_find_slow_kernels (LnsWhyMaker *maker,
                            const LnsDeviceWork *work,
                            LnsWhyFinding *finding,
                            LnsError *error)
{
  const LnsSpan *typical = typical_step (maker);
  LnsIdMap slow = { 0 }, usual = { 0 };
  int64_t most_ns = 0;
  bool good = typical != NULL && add_kernels (maker, work, typical, &usual, error);

  for (unsigned i = 0; good && i < finding->n_evidence; i++)
    good = add_kernels (maker, work,
                        &(LnsSpan){ finding->evidence[i].start_ns, finding->evidence[i].end_ns },
                        &slow, error);
  for (size_t i = 0; good && i < slow.n_places; i++)
    {
      const LnsIdMapEntry *entry = &slow.entries[i];
      const int64_t excess_ns =
          (int64_t)(uintptr_t)entry->value -
          (int64_t)lns_id_map_number (&usual, entry->key) * finding->n_evidence;
      if (entry->value != NULL && excess_ns > most_ns)
        {
          most_ns = excess_ns;
          finding->own.call = (uint32_t)entry->key;
        }
    }
  lns_id_map_clear (&slow);
  lns_id_map_clear (&usual);
  return good || typical == NULL;
}
