/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/launch-finder.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/lane-cursor.h"
#include "src/analysis/ordering.h"
#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

typedef struct
{
  LNS_ARRAY (LnsLaneCursor) calls; /* outermost calls first                                      */
  size_t last;                     /* where the one before was found                             */
} Process;

struct LnsLaunchFinder
{
  LnsReport *report;
  LnsCallClasses *classes;
  Process *processes;
  uint32_t n_processes;
  LnsLaneCursor *work; /* by lane: of operations                                                 */
  uint32_t n_lanes;
};

LnsLaunchFinder *
lns_launch_finder_new (LnsReport *report, LnsCallClasses *classes)
{
  LnsLaunchFinder *finder = lns_calloc (1, sizeof *finder);
  const LnsLane *lanes = lns_report_lanes (report, &finder->n_lanes);
  uint32_t deepest = 0;

  finder->report = report;
  finder->classes = classes;
  lns_report_processes (report, &finder->n_processes);
  finder->processes = lns_calloc ((size_t)finder->n_processes + 1, sizeof *finder->processes);
  finder->work = lns_calloc ((size_t)finder->n_lanes + 1, sizeof *finder->work);
  for (uint32_t i = 0; i < finder->n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_CUDA_API && lanes[i].ordinal > deepest)
      deepest = lanes[i].ordinal;
  for (uint32_t depth = 0; depth <= deepest; depth++)
    for (uint32_t i = 0; i < finder->n_lanes; i++)
      {
        const uint32_t process = lns_track_of (report, i)->process;
        if (lanes[i].kind == LNS_LANE_CUDA_API && lanes[i].ordinal == depth &&
            process < finder->n_processes && lns_report_lane_info (report, i)->n_events > 0)
          *lns_array_add (&finder->processes[process].calls) =
              (LnsLaneCursor){ .report = report,
                               .lane = i,
                               .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                          LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) };
      }
  return finder;
}

void
lns_launch_finder_free (LnsLaunchFinder *finder)
{
  if (finder == NULL)
    return;
  for (uint32_t i = 0; i < finder->n_processes; i++)
    {
      Process *process = &finder->processes[i];
      for (size_t k = 0; k < process->calls.n; k++)
        lns_lane_cursor_clear (&process->calls.items[k]);
      lns_array_clear (&process->calls);
    }
  for (uint32_t i = 0; i < finder->n_lanes; i++)
    lns_lane_cursor_clear (&finder->work[i]);
  free (finder->processes);
  free (finder->work);
  free (finder);
}

/* How far ahead the next call of a stream's operations is looked for before the index is asked. */
#define NEAR 64

/* Looks for CORRELATION from the event of CURSOR on, in few steps. */
static bool
find_near (LnsLaneCursor *cursor, int column, uint64_t correlation)
{
  for (uint32_t i = cursor->i; i < cursor->chunk->n && i < cursor->i + NEAR; i++)
    if (lns_chunk_extra (cursor->chunk, column, i) == correlation)
      {
        cursor->i = i;
        return true;
      }
  return false;
}

bool
lns_launch_finder_find (LnsLaunchFinder *finder,
                        uint32_t lane,
                        uint64_t ordinal,
                        bool *ret_found,
                        LnsLaunchCall *ret_call,
                        LnsError *error)
{
  const LnsLaneKind kind = lns_report_lanes (finder->report, NULL)[lane].kind;
  const int of_work = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION),
            of_call = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  const uint32_t number = lns_track_of (finder->report, lane)->process;
  LnsLaneCursor *work = &finder->work[lane];

  *ret_found = false;
  work->report = finder->report;
  work->lane = lane;
  work->columns = LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION);
  if (!lns_lane_cursor_go (work, ordinal, error))
    return false;
  const uint64_t correlation =
      lns_lane_cursor_has (work) ? lns_chunk_extra (work->chunk, of_work, work->i) : 0;
  if (correlation == 0 || number >= finder->n_processes)
    return true;
  Process *process = &finder->processes[number];
  for (size_t k = 0; k < process->calls.n && !*ret_found; k++)
    {
      const size_t at = (process->last + k) % process->calls.n;
      LnsLaneCursor *cursor = &process->calls.items[at];
      uint64_t found;
      if (lns_lane_cursor_has (cursor) && find_near (cursor, of_call, correlation))
        *ret_found = true;
      else if (!lns_report_find_correlation (finder->report, cursor->lane, correlation, 0, &found,
                                             error))
        return false;
      else if (found < lns_report_lane_info (finder->report, cursor->lane)->n_events)
        {
          if (!lns_lane_cursor_go (cursor, found, error))
            return false;
          *ret_found = lns_lane_cursor_has (cursor);
        }
      if (!*ret_found)
        continue;
      process->last = at;
      *ret_call = (LnsLaunchCall){ .start_ns = lns_lane_cursor_start (cursor),
                                   .end_ns = lns_lane_cursor_end (cursor),
                                   .thread = lns_track_of (finder->report, cursor->lane)->thread,
                                   .name = cursor->chunk->name[cursor->i],
                                   .lane = cursor->lane,
                                   .ordinal = lns_lane_cursor_ordinal (cursor) };
    }
  return true;
}

/* --- Launches without work -------------------------------------------------------------------- */

/* A call that queued work. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint64_t correlation;
  bool has_work;
} Launch;

typedef struct
{
  LnsLaunchFinder *finder;
  LNS_ARRAY (uint64_t) ids; /* of operations                                                     */
  LNS_ARRAY (Launch) launches;
  size_t n_outermost; /* of the launches: those not made within another call of CUDA             */
  bool is_outermost;
} Missing;

static void
add_ids (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Missing *missing = data;
  const LnsLaneKind kind = lns_report_lanes (missing->finder->report, NULL)[chunk->lane].kind;
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t id = lns_chunk_extra (chunk, column, i);
      if (id != 0 && (missing->ids.n == 0 || missing->ids.items[missing->ids.n - 1] != id))
        *lns_array_add (&missing->ids) = id;
    }
}

static void
add_launches (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Missing *missing = data;
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION),
            result = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_RETURN_VALUE);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t id = lns_chunk_extra (chunk, column, i);
      if (id != 0 && lns_chunk_extra (chunk, result, i) == 0 &&
          (chunk->flags[i] & LNS_EVENT_OPEN_END) == 0 &&
          lns_call_class_of (missing->finder->classes, LNS_LANE_CUDA_API, chunk->name[i]) ==
              LNS_CALL_LAUNCH)
        *lns_array_add (&missing->launches) =
            (Launch){ .start_ns = chunk->start_ns[i],
                      .end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                      .correlation = id };
    }
}

static int
compare_ids (const void *a, const void *b)
{
  const uint64_t *ia = a, *ib = b;
  return LNS_COMPARE (*ia, *ib);
}

static int
compare_launches (const void *a, const void *b)
{
  const Launch *la = a, *lb = b;
  return LNS_COMPARE (la->start_ns, lb->start_ns);
}

static bool
has_id (const Missing *missing, uint64_t id)
{
  const size_t i =
      lns_lower_bound (missing->ids.items, missing->ids.n, sizeof id, &id, compare_ids);
  return i < missing->ids.n && missing->ids.items[i] == id;
}

/* Says of the outermost call in which the call at START_NS was made that its work is there: CUPTI may give work the number of
 * the inner call. Other threads' calls at that time are taken for it at worst. */
static void
tell_outer (Missing *missing, int64_t start_ns)
{
  const Launch wanted = { .start_ns = start_ns };
  size_t i = lns_lower_bound (missing->launches.items, missing->n_outermost, sizeof wanted, &wanted,
                              compare_launches);

  for (unsigned k = 0; k < 16 && i + 1 > k; k++)
    {
      if (i - k >= missing->n_outermost)
        continue;
      Launch *launch = &missing->launches.items[i - k];
      if (launch->start_ns <= start_ns && launch->end_ns >= start_ns)
        launch->has_work = true;
    }
}

bool
lns_launch_finder_missing (LnsLaunchFinder *finder,
                           uint32_t process,
                           const atomic_bool *cancel,
                           int64_t **ret_times_ns,
                           size_t *ret_n,
                           size_t *ret_n_launches,
                           LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (finder->report, &n_lanes);
  Missing missing = { .finder = finder };
  bool good = true;

  *ret_times_ns = NULL;
  *ret_n = 0;
  for (uint32_t i = 0; good && i < n_lanes; i++)
    if ((lns_is_gpu_operation (lanes[i].kind) || lanes[i].kind == LNS_LANE_CUDA_HOST) &&
        lns_track_of (finder->report, i)->process == process)
      good = lns_read_lane (finder->report, i, LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION), add_ids,
                            &missing, cancel, error);
  lns_order (missing.ids.items, missing.ids.n, sizeof (uint64_t), compare_ids);
  for (int pass = 0; pass < 2; pass++)
    {
      for (uint32_t i = 0; good && i < n_lanes; i++)
        if (lanes[i].kind == LNS_LANE_CUDA_API && (lanes[i].ordinal == 0) == (pass == 0) &&
            lns_track_of (finder->report, i)->process == process)
          good = lns_read_lane (
              finder->report, i,
              LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) | LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                  LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) | LNS_COLUMN_BIT (LNS_COLUMN_RETURN_VALUE),
              add_launches, &missing, cancel, error);
      if (pass == 0)
        {
          missing.n_outermost = missing.launches.n;
          lns_order (missing.launches.items, missing.launches.n, sizeof (Launch), compare_launches);
        }
    }
  for (size_t i = 0; i < missing.n_outermost; i++)
    missing.launches.items[i].has_work = has_id (&missing, missing.launches.items[i].correlation);
  for (size_t i = missing.n_outermost; i < missing.launches.n; i++)
    if (has_id (&missing, missing.launches.items[i].correlation))
      tell_outer (&missing, missing.launches.items[i].start_ns);
  size_t n = 0;
  for (size_t i = 0; i < missing.n_outermost; i++)
    n += !missing.launches.items[i].has_work;
  if (n > 0)
    *ret_times_ns = lns_calloc (n, sizeof **ret_times_ns);
  for (size_t i = 0; i < missing.n_outermost; i++)
    if (!missing.launches.items[i].has_work)
      (*ret_times_ns)[(*ret_n)++] = missing.launches.items[i].start_ns;
  if (ret_n_launches != NULL)
    *ret_n_launches = missing.n_outermost;
  lns_array_clear (&missing.ids);
  lns_array_clear (&missing.launches);
  return good;
}
