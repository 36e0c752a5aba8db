/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

bool
lns_go_on (const atomic_bool *cancel, LnsError *error)
{
  return cancel == NULL || !atomic_load_explicit (cancel, memory_order_relaxed) ||
         lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
}

/* Has FUNCTION look at the chunks of LANE from the one with the number FIRST on, until one begins at *BEFORE_NS. */
static bool
read_chunks (LnsReport *report,
             uint32_t lane,
             LnsColumnMask columns,
             uint32_t first,
             const int64_t *before_ns,
             LnsChunkFunc function,
             void *data,
             const atomic_bool *cancel,
             LnsError *error)
{
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, columns);
  const LnsTrack *track = lns_track_of (report, lane);
  const LnsChunk *chunk;
  LnsError local = { 0 };

  lns_chunk_walker_seek (walker, first);
  while (lns_go_on (cancel, &local) && (chunk = lns_chunk_walker_next (walker, &local)) != NULL &&
         (chunk->n == 0 || chunk->start_ns[0] < *before_ns))
    function (data, track, chunk);
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

bool
lns_read_lane (LnsReport *report,
               uint32_t lane,
               LnsColumnMask columns,
               LnsChunkFunc function,
               void *data,
               const atomic_bool *cancel,
               LnsError *error)
{
  const int64_t never_ns = INT64_MAX;

  return read_chunks (report, lane, columns, 0, &never_ns, function, data, cancel, error);
}

bool
lns_read_lane_between (LnsReport *report,
                       uint32_t lane,
                       LnsColumnMask columns,
                       int64_t from_ns,
                       const int64_t *before_ns,
                       LnsChunkFunc function,
                       void *data,
                       const atomic_bool *cancel,
                       LnsError *error)
{
  uint64_t first;

  if (!lns_report_find (report, lane, from_ns, &first, error))
    return false;
  return first >= lns_report_lane_info (report, lane)->n_events ||
         read_chunks (report, lane, columns, lns_report_chunk_of (report, lane, first), before_ns,
                      function, data, cancel, error);
}

bool
lns_read_lanes (LnsReport *report,
                LnsLaneKind kind,
                LnsColumnMask columns,
                LnsChunkFunc function,
                void *data,
                const atomic_bool *cancel,
                LnsError *error)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (lanes[i].kind == kind && !lns_read_lane (report, i, columns, function, data, cancel, error))
      return false;
  return true;
}

uint64_t
lns_count_events (LnsReport *report, LnsLaneKind kind)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  uint64_t n = 0;

  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].kind == kind)
      n += lns_report_lane_info (report, i)->n_events;
  return n;
}

/* The meta value KEY of REPORT, a time; 0 if there is none. */
static int64_t
meta_ns (const LnsReport *report, const char *key)
{
  const char *text = lns_report_meta (report, key);
  return text != NULL ? strtoll (text, NULL, 10) : 0;
}

bool
lns_process_is_of_profiler (LnsReport *report, uint32_t process)
{
  static const char *const names[] = { "Spans", "Traces", "" };
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);

  if (process >= n || processes[process].pid < LNS_FIRST_MADE_UP_ID ||
      lns_report_meta (report, "imported_from") == NULL)
    return false;
  const char *name = lns_report_string (report, processes[process].name, NULL);
  bool is_named_so = false, has_program = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    is_named_so |= strcmp (name, names[i]) == 0;
  for (uint32_t i = 0; is_named_so && i < n && !has_program; i++)
    has_program = processes[i].pid < LNS_FIRST_MADE_UP_ID;
  return has_program;
}

bool
lns_part_of_report (const LnsReport *report, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  if (lns_report_meta (report, LNS_PART_START_KEY) == NULL ||
      lns_report_meta (report, LNS_PART_END_KEY) == NULL)
    return false;
  *ret_start_ns = meta_ns (report, LNS_PART_START_KEY);
  *ret_end_ns = meta_ns (report, LNS_PART_END_KEY);
  return *ret_start_ns <= *ret_end_ns;
}

bool
lns_part_is_cut_at_start (const LnsReport *report)
{
  const char *cut = lns_report_meta (report, LNS_PART_CUT_KEY);
  return cut != NULL && strstr (cut, "start") != NULL;
}

bool
lns_part_is_cut_at_end (const LnsReport *report)
{
  const char *cut = lns_report_meta (report, LNS_PART_CUT_KEY);
  return cut != NULL && strstr (cut, "end") != NULL;
}

int64_t
lns_recorded_ns (const LnsReport *report)
{
  const LnsReportInfo *info = lns_report_info (report);
  int64_t part_start_ns, part_end_ns;
  const int64_t keep_ns = meta_ns (report, "keep_ns");
  int64_t start_ns = meta_ns (report, "start_ns"), duration_ns;
  if (lns_part_of_report (report, &part_start_ns, &part_end_ns))
    return lns_difference (part_end_ns, part_start_ns);
  if (info->n_events > 0 && info->start_ns < start_ns)
    start_ns = info->start_ns;
  if (__builtin_sub_overflow (info->end_ns, start_ns, &duration_ns))
    duration_ns = INT64_MAX;
  return keep_ns > 0 && keep_ns < duration_ns ? keep_ns : duration_ns;
}

bool
lns_span_of_events (LnsReport *report, uint32_t kinds, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
  bool any = false;

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, i);
      if (info->n_events == 0 ||
          (kinds != 0 && (lanes[i].kind >= LNS_N_LANE_KINDS || (kinds >> lanes[i].kind & 1) == 0)))
        continue;
      any = true;
      start_ns = info->start_ns < start_ns ? info->start_ns : start_ns;
      end_ns = info->end_ns > end_ns ? info->end_ns : end_ns;
    }
  if (any)
    {
      *ret_start_ns = start_ns;
      *ret_end_ns = end_ns;
    }
  return any;
}

static int
compare_lanes (const void *a, const void *b, void *report)
{
  const uint32_t la = *(const uint32_t *)a, lb = *(const uint32_t *)b;
  const uint32_t pa = lns_track_of (report, la)->process, pb = lns_track_of (report, lb)->process;

  return LNS_COMPARE (pa, pb) ?: LNS_COMPARE (la, lb);
}

uint32_t *
lns_lanes_by_process (LnsReport *report,
                      bool (*is_asked) (const void *data, uint32_t lane),
                      const void *data,
                      uint32_t *ret_n)
{
  uint32_t n_lanes;

  lns_report_lanes (report, &n_lanes);
  uint32_t *lanes = lns_calloc (n_lanes, sizeof *lanes);
  *ret_n = 0;
  for (uint32_t i = 0; i < n_lanes; i++)
    if (is_asked (data, i))
      lanes[(*ret_n)++] = i;
  qsort_r (lanes, *ret_n, sizeof *lanes, compare_lanes, report);
  return lanes;
}

const LnsTrack *
lns_track_of (LnsReport *report, uint32_t lane)
{
  return &lns_report_tracks (report, NULL)[lns_report_lanes (report, NULL)[lane].track];
}

uint32_t
lns_domain_name_of (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  const uint32_t domain = lns_track_of (report, lane)->domain;

  return domain < n ? domains[domain].name : 0;
}
