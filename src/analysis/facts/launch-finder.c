/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/launch-finder.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/device-work.h"
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
  bool has_index;                  /* the rest is ready                                          */
  uint64_t least_id;
  size_t n_ids;
  uint32_t
      *call_of; /* by correlation - least_id: 1 + index of its lane in calls, 0 = none; or NULL */
} Process;

struct LnsLaunchFinder
{
  LnsReport *report;
  LnsCallClasses *classes;
  Process *processes;
  uint32_t n_processes;
  LnsLaneCursor *work; /* by lane: of operations                                                 */
  uint32_t n_lanes;
  const atomic_bool *cancel;
};

/* Outermost calls first. */
static int
compare_calls (const void *a, const void *b, void *report)
{
  const LnsLaneCursor *ca = a, *cb = b;
  const LnsLane *lanes = lns_report_lanes (report, NULL);

  return LNS_COMPARE (lanes[ca->lane].ordinal, lanes[cb->lane].ordinal)
             ?: LNS_COMPARE (ca->lane, cb->lane);
}

LnsLaunchFinder *
lns_launch_finder_new (LnsReport *report, LnsCallClasses *classes, const atomic_bool *cancel)
{
  LnsLaunchFinder *finder = lns_calloc (1, sizeof *finder);
  const LnsLane *lanes = lns_report_lanes (report, &finder->n_lanes);

  finder->report = report;
  finder->classes = classes;
  finder->cancel = cancel;
  lns_report_processes (report, &finder->n_processes);
  finder->processes = lns_calloc ((size_t)finder->n_processes + 1, sizeof *finder->processes);
  finder->work = lns_calloc ((size_t)finder->n_lanes + 1, sizeof *finder->work);
  for (uint32_t i = 0; i < finder->n_lanes; i++)
    {
      const uint32_t process = lns_track_of (report, i)->process;
      if (lanes[i].kind == LNS_LANE_CUDA_API && process < finder->n_processes &&
          lns_report_lane_info (report, i)->n_events > 0)
        *lns_array_add (&finder->processes[process].calls) =
            (LnsLaneCursor){ .report = report,
                             .lane = i,
                             .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                        LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) };
    }
  for (uint32_t i = 0; i < finder->n_processes; i++)
    if (finder->processes[i].calls.n > 1)
      qsort_r (finder->processes[i].calls.items, finder->processes[i].calls.n,
               sizeof (LnsLaneCursor), compare_calls, report);
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
      free (process->call_of);
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

/* From so many lanes of calls on, an index tells which of them has a correlation. */
#define MANY_LANES 32

/* The index has at most this many places for each call. */
#define PLACES_A_CALL 8

/* An index in the making. */
typedef struct
{
  Process *process;
  uint32_t call; /* index of the lane at hand in the process's calls                             */
  uint64_t least, most, n;
} Indexing;

static void
span_calls (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Indexing *indexing = data;
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t id = lns_chunk_extra (chunk, column, i);
      if (id == 0)
        continue;
      indexing->least = indexing->n == 0 || id < indexing->least ? id : indexing->least;
      indexing->most = id > indexing->most ? id : indexing->most;
      indexing->n++;
    }
}

static void
index_calls (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  const Indexing *indexing = data;
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t id = lns_chunk_extra (chunk, column, i);
      if (id != 0 && indexing->process->call_of[id - indexing->least] == 0)
        indexing->process->call_of[id - indexing->least] = indexing->call + 1;
    }
}

/* Has FUNCTION look at the correlations of all calls. */
static bool
read_calls (LnsLaunchFinder *finder, Indexing *indexing, LnsChunkFunc function, LnsError *error)
{
  const Process *process = indexing->process;
  bool good = true;

  for (indexing->call = 0; good && indexing->call < process->calls.n; indexing->call++)
    good = lns_read_lane (finder->report, process->calls.items[indexing->call].lane,
                          LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION), function, indexing,
                          finder->cancel, error);
  return good;
}

/* Makes the index of PROCESS, unless its correlations are far apart. O(calls of the process), once. */
static bool
make_index (LnsLaunchFinder *finder, Process *process, LnsError *error)
{
  Indexing indexing = { .process = process };

  process->has_index = true;
  if (!read_calls (finder, &indexing, span_calls, error))
    return false;
  if (indexing.n == 0 || (indexing.most - indexing.least) / PLACES_A_CALL >= indexing.n)
    return true;
  process->least_id = indexing.least;
  process->n_ids = (size_t)(indexing.most - indexing.least) + 1;
  process->call_of = lns_calloc (process->n_ids, sizeof *process->call_of);
  return read_calls (finder, &indexing, index_calls, error);
}

/* Looks for CORRELATION among the calls of CURSOR, to which it goes. */
static bool
find_in_lane (LnsLaunchFinder *finder,
              LnsLaneCursor *cursor,
              uint64_t correlation,
              bool *ret_found,
              LnsError *error)
{
  uint64_t ordinal;

  *ret_found = false;
  if (!lns_report_find_correlation (finder->report, cursor->lane, correlation, 0, &ordinal, error))
    return false;
  if (ordinal >= lns_report_lane_info (finder->report, cursor->lane)->n_events)
    return true;
  if (!lns_lane_cursor_go (cursor, ordinal, error))
    return false;
  *ret_found = lns_lane_cursor_has (cursor);
  return true;
}

/* Looks for CORRELATION among the calls of PROCESS: RET_AT gets the index of the lane of which the cursor is at it. */
static bool
find_call (LnsLaunchFinder *finder,
           Process *process,
           uint64_t correlation,
           bool *ret_found,
           size_t *ret_at,
           LnsError *error)
{
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  const size_t n = process->calls.n;

  *ret_found = false;
  for (size_t k = 0; k < n && !*ret_found; k++)
    {
      *ret_at = (process->last + k) % n;
      LnsLaneCursor *cursor = &process->calls.items[*ret_at];
      if (lns_lane_cursor_has (cursor) && find_near (cursor, column, correlation))
        *ret_found = true;
      else if (n >= MANY_LANES && !process->has_index && !make_index (finder, process, error))
        return false;
      else if (process->call_of != NULL)
        {
          const uint64_t place = correlation - process->least_id;
          const uint32_t at = place < process->n_ids ? process->call_of[place] : 0;
          *ret_at = at > 0 ? at - 1 : 0;
          return at == 0 || find_in_lane (finder, &process->calls.items[*ret_at], correlation,
                                          ret_found, error);
        }
      else if (!find_in_lane (finder, cursor, correlation, ret_found, error))
        return false;
    }
  return true;
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
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);
  const uint32_t number = lns_track_of (finder->report, lane)->process;
  LnsLaneCursor *work = &finder->work[lane];
  size_t at;

  *ret_found = false;
  work->report = finder->report;
  work->lane = lane;
  work->columns = LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION);
  if (!lns_lane_cursor_go (work, ordinal, error))
    return false;
  const uint64_t correlation =
      lns_lane_cursor_has (work) ? lns_chunk_extra (work->chunk, column, work->i) : 0;
  if (correlation == 0 || number >= finder->n_processes)
    return true;
  Process *process = &finder->processes[number];
  if (!find_call (finder, process, correlation, ret_found, &at, error))
    return false;
  if (!*ret_found)
    return true;
  const LnsLaneCursor *cursor = &process->calls.items[at];
  process->last = at;
  *ret_call = (LnsLaunchCall){ .start_ns = lns_lane_cursor_start (cursor),
                               .end_ns = lns_lane_cursor_end (cursor),
                               .thread = lns_track_of (finder->report, cursor->lane)->thread,
                               .name = cursor->chunk->name[cursor->i],
                               .lane = cursor->lane,
                               .ordinal = lns_lane_cursor_ordinal (cursor) };
  return true;
}

/* --- Launches without work -------------------------------------------------------------------- */

/* The correlations of operations: a bit for each number from the least to the greatest, or where these are far apart, the
 * numbers. */
typedef struct
{
  uint64_t least, most;
  size_t n;
  uint64_t *bits; /* or NULL                                                                     */
  LNS_ARRAY (uint64_t) ids;
} IdSet;

/* Far apart: more bits than this for a number. */
#define BITS_AN_ID 64

/* A call that queued work of which none was found. */
typedef struct
{
  int64_t start_ns, end_ns;
  bool has_work, is_graph;
} Launch;

typedef struct
{
  LnsLaunchFinder *finder;
  uint32_t process;
  IdSet set;
  LnsLaunchCounts counts;
  LNS_ARRAY (Launch) missing;
  /* In which launches of the process make graphs; the last may be open. */
  LNS_ARRAY (LnsSpan) captures;
} Missing;

static bool
has_id (const IdSet *set, uint64_t id)
{
  if (set->n == 0 || id < set->least || id > set->most)
    return false;
  if (set->bits != NULL)
    return set->bits[(id - set->least) / 64] >> (id - set->least) % 64 & 1;
  const size_t i = LNS_LOWER_BOUND (set->ids.n, k, set->ids.items[k] < id);
  return i < set->ids.n && set->ids.items[i] == id;
}

static void
span_ids (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Missing *missing = data;
  IdSet *set = &missing->set;
  const LnsLaneKind kind = lns_report_lanes (missing->finder->report, NULL)[chunk->lane].kind;
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t id = lns_chunk_extra (chunk, column, i);
      if (id == 0)
        continue;
      set->least = set->n == 0 || id < set->least ? id : set->least;
      set->most = id > set->most ? id : set->most;
      set->n++;
    }
}

static void
add_ids (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Missing *missing = data;
  IdSet *set = &missing->set;
  const LnsLaneKind kind = lns_report_lanes (missing->finder->report, NULL)[chunk->lane].kind;
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t id = lns_chunk_extra (chunk, column, i);
      if (id == 0)
        continue;
      if (set->bits != NULL)
        set->bits[(id - set->least) / 64] |= UINT64_C (1) << (id - set->least) % 64;
      else
        *lns_array_add (&set->ids) = id;
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
      const LnsCallClass class =
          lns_call_class_of (missing->finder->classes, LNS_LANE_CUDA_API, chunk->name[i]);
      missing->counts.n_waits += class == LNS_CALL_STREAM_WAIT;
      if (class == LNS_CALL_CAPTURE)
        *lns_array_add (&missing->captures) = (LnsSpan){ chunk->start_ns[i], INT64_MAX };
      else if (class == LNS_CALL_CAPTURE_END && missing->captures.n > 0)
        missing->captures.items[missing->captures.n - 1].end_ns = chunk->start_ns[i];
      if (id == 0 || lns_chunk_extra (chunk, result, i) != 0 ||
          (chunk->flags[i] & LNS_EVENT_OPEN_END) != 0 ||
          (class != LNS_CALL_LAUNCH && class != LNS_CALL_SYNC_COPY))
        continue;
      missing->counts.n_launches++;
      if (!has_id (&missing->set, id))
        *lns_array_add (&missing->missing) =
            (Launch){ .start_ns = chunk->start_ns[i],
                      .end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                      .is_graph =
                          strstr (lns_report_string (missing->finder->report, chunk->name[i], NULL),
                                  "GraphLaunch") != NULL };
    }
}

static int
compare_launches (const void *a, const void *b)
{
  const Launch *la = a, *lb = b;
  return LNS_COMPARE (la->start_ns, lb->start_ns);
}

/* Says of the outermost calls in which calls of CHUNK were made that have work, that these have it: CUPTI may give work the
 * number of the inner call. Other threads' calls at that time are taken for such at worst. */
static void
find_in_inner (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Missing *missing = data;
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t start_ns = chunk->start_ns[i];
      if (!has_id (&missing->set, lns_chunk_extra (chunk, column, i)))
        continue;
      const size_t at =
          LNS_LOWER_BOUND (missing->missing.n, k, missing->missing.items[k].start_ns <= start_ns);
      for (size_t k = at; k > 0 && k + 16 > at; k--)
        if (missing->missing.items[k - 1].end_ns >= start_ns)
          missing->missing.items[k - 1].has_work = true;
    }
}

/* Has FUNCTION look at the columns COLUMNS of the operations of the process, or of its calls of CUDA, those outermost or not. */
static bool
read (Missing *missing,
      bool is_work,
      bool is_outermost,
      LnsColumnMask columns,
      LnsChunkFunc function,
      LnsError *error)
{
  LnsReport *report = missing->finder->report;
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  bool good = true;

  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (lns_track_of (report, i)->process == missing->process &&
        (is_work ? lns_is_gpu_operation (lanes[i].kind) || lanes[i].kind == LNS_LANE_CUDA_HOST
                 : lanes[i].kind == LNS_LANE_CUDA_API && (lanes[i].ordinal == 0) == is_outermost))
      good = lns_read_lane (report, i, columns, function, missing, missing->finder->cancel, error);
  return good;
}

static int
compare_ids (const void *a, const void *b)
{
  const uint64_t *ia = a, *ib = b;
  return LNS_COMPARE (*ia, *ib);
}

/* Says of launches that only made a graph that nothing of them is missing. Threads may launch into the capture of another one. */
static void
leave_out_captured (Missing *missing)
{
  for (size_t i = 0; i < missing->captures.n; i++)
    {
      const LnsSpan *capture = &missing->captures.items[i];
      size_t k = LNS_LOWER_BOUND (missing->missing.n, m,
                                  missing->missing.items[m].start_ns < capture->start_ns);
      for (; k < missing->missing.n && missing->missing.items[k].start_ns < capture->end_ns; k++)
        if (!missing->missing.items[k].has_work)
          {
            missing->missing.items[k].has_work = true;
            missing->counts.n_launches--;
          }
    }
}

static bool
find_missing (Missing *missing, LnsError *error)
{
  const LnsColumnMask id = LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION);
  IdSet *set = &missing->set;

  if (!read (missing, true, false, id, span_ids, error))
    return false;
  if (set->n > 0 && set->most - set->least < set->n * (uint64_t)BITS_AN_ID)
    set->bits = lns_calloc ((size_t)((set->most - set->least) / 64 + 1), sizeof *set->bits);
  if (!read (missing, true, false, id, add_ids, error))
    return false;
  lns_order (set->ids.items, set->ids.n, sizeof (uint64_t), compare_ids);
  if (!read (missing, false, true,
             id | LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
                 LNS_COLUMN_BIT (LNS_COLUMN_RETURN_VALUE),
             add_launches, error))
    return false;
  lns_order (missing->missing.items, missing->missing.n, sizeof (Launch), compare_launches);
  leave_out_captured (missing);
  return missing->missing.n == 0 || read (missing, false, false, id, find_in_inner, error);
}

bool
lns_launch_finder_missing (LnsLaunchFinder *finder,
                           uint32_t process,
                           int64_t **ret_times_ns,
                           size_t *ret_n,
                           LnsLaunchCounts *ret_counts,
                           LnsError *error)
{
  Missing missing = { .finder = finder, .process = process };
  const bool good = process >= finder->n_processes || finder->processes[process].calls.n == 0 ||
                    find_missing (&missing, error);

  *ret_n = 0;
  *ret_counts = missing.counts;
  *ret_times_ns =
      missing.missing.n > 0 ? lns_calloc (missing.missing.n, sizeof **ret_times_ns) : NULL;
  for (size_t i = 0; i < missing.missing.n; i++)
    if (!missing.missing.items[i].has_work)
      {
        (*ret_times_ns)[(*ret_n)++] = missing.missing.items[i].start_ns;
        ret_counts->n_missing_graphs += missing.missing.items[i].is_graph;
      }
  free (missing.set.bits);
  lns_array_clear (&missing.set.ids);
  lns_array_clear (&missing.missing);
  lns_array_clear (&missing.captures);
  return good;
}
