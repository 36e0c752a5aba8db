/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx_gpu_proj_trace, nvtx_gpu_proj_sum and nvtx_kern_sum: what ranges did on GPUs. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* What is summed up under one name, or one name and kernel. */
typedef struct
{
  uint32_t style; /* LnsLaneKind                                                                */
  uint32_t domain_name, name, kernel, thread;
} Key;

static LnsLaneKind
kind_of (const LnsStatsResult *result, uint32_t lane)
{
  return lns_report_lanes (lns_tables_report (result->tables), NULL)[lane].kind;
}

static LnsResultCell
style_of (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP ? _lns_stats_text ("PushPop", 7)
                                        : _lns_stats_text ("StartEnd", 8);
}

/* ---- One by one ------------------------------------------------------------------------------ */

/* What encloses a projected range is projected itself. */
static bool
run (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsTable *table = lns_table_find ("NVTX_EVENTS");
  LnsTrace trace = { 0 };

  if (!lns_projection (report, cancel, &result->projected, &result->n, error))
    return false;
  for (size_t i = 0; i < result->n; i++)
    {
      const LnsProjectedRange *it = &result->projected[i];
      const LnsTraceRange range = {
        .start_ns = it->range_start_ns,
        .duration_ns = it->range_duration_ns,
        .id = lns_tables_rowid (result->tables, table, it->lane, it->ordinal),
        .global_tid = lns_tables_global_tid (result->tables, it->thread),
        .name = it->name,
        .lane = it->lane,
        .parent = LNS_TRACE_NO_PARENT,
      };
      if (kind_of (result, it->lane) == LNS_LANE_NVTX_PUSH_POP)
        lns_trace_add (&trace, report, it->thread, range);
      else
        *lns_array_add (&trace.ranges) = range;
    }
  lns_id_map_clear (&trace.tops);
  result->ranges = trace.ranges.items;
  return lns_trace_number (&trace, result->tables, cancel, error);
}

static uint32_t
domain_of (const LnsStatsResult *result, uint32_t lane)
{
  return lns_domain_name_of (lns_tables_report (result->tables), lane);
}

static void
add_projected (const LnsStatsResult *result, size_t i, LnsRows *rows, LnsBuffer *text)
{
  const LnsProjectedRange *projected = &result->projected[i];
  const LnsTraceRange *range = &result->ranges[i];

  _lns_stats_append_stack (result, text, range);
  const size_t name_at = text->size_bytes;
  _lns_stats_append_range (result, text, domain_of (result, range->lane), range->name);
  LnsResultCell stack = _lns_stats_appended (text, 0);
  stack.size_bytes = name_at;
  const LnsResultCell cells[] = {
    _lns_stats_appended (text, name_at),         _lns_stats_number (projected->start_ns),
    _lns_stats_number (projected->duration_ns),  _lns_stats_number (range->start_ns),
    _lns_stats_number (range->duration_ns),      style_of (kind_of (result, range->lane)),
    _lns_stats_pid (range->global_tid),          _lns_stats_tid (range->global_tid),
    _lns_stats_number (projected->n_operations), _lns_stats_number (range->level),
    _lns_stats_number (range->n_children),       _lns_stats_number (range->id),
    _lns_stats_parent (result, range),           stack,
  };
  const LnsPlace place =
      lns_place (projected->lane, projected->ordinal, range->start_ns, range->duration_ns);

  lns_rows_add (rows, cells, &place);
}

static const LnsResultColumn columns[] = {
  { "Name", LNS_RESULT_TEXT },
  { N_ ("Projected Start"), LNS_RESULT_TIME },
  { N_ ("Projected Duration"), LNS_RESULT_TIME },
  { N_ ("Orig Start"), LNS_RESULT_TIME },
  { N_ ("Orig Duration"), LNS_RESULT_TIME },
  { N_ ("Style"), LNS_RESULT_TEXT },
  { "PID", LNS_RESULT_ID },
  { "TID", LNS_RESULT_ID },
  { "NumGPUOps", LNS_RESULT_COUNT },
  { "Lvl", LNS_RESULT_NUMBER },
  { "NumChild", LNS_RESULT_COUNT },
  { "RangeId", LNS_RESULT_ID },
  { "ParentId", LNS_RESULT_ID },
  { "RangeStack", LNS_RESULT_TEXT },
};

const LnsStatsWay _lns_stats_projection = { run, add_projected, NULL, columns,
                                            sizeof columns / sizeof *columns };

/* ---- Summed up by name ----------------------------------------------------------------------- */

/* A value under a key. */
typedef struct
{
  Key key;
  uint32_t range; /* number of the projected range, or an id of the range                       */
  int64_t value_ns;
} Keyed;

static int
compare_keys (const void *a, const void *b)
{
  return memcmp (&((const Keyed *)a)->key, &((const Keyed *)b)->key, sizeof (Key));
}

static int64_t
value_ns (const void *item)
{
  return ((const Keyed *)item)->value_ns;
}

static int
compare_keyed (const void *a, const void *b)
{
  const Keyed *ka = a, *kb = b;

  return compare_keys (a, b) ?: LNS_COMPARE (ka->range, kb->range);
}

/* What the range that KEYED is of is called; TEXT gets it. */
static LnsResultCell
name_of (const LnsStatsResult *result, const Keyed *keyed, LnsBuffer *text)
{
  _lns_stats_append_range (result, text, keyed->key.domain_name, keyed->key.name);
  return _lns_stats_appended (text, 0);
}

static void
add_projection_sum (const LnsStatsResult *result,
                    LnsRows *rows,
                    const void *items,
                    const LnsStatsGroup *group,
                    int64_t *values,
                    LnsBuffer *text)
{
  const Keyed *keyed = items;
  int64_t range_ns = 0, n_operations = 0, levels = 0, children = 0;
  const double n = (double)group->n;
  LnsResultCell cells[14] = { name_of (result, keyed, text),
                              style_of ((LnsLaneKind)keyed->key.style) };

  for (size_t i = 0; i < group->n; i++)
    {
      const LnsProjectedRange *range = &result->projected[keyed[i].range];
      values[i] = range->duration_ns;
      range_ns = lns_sum (range_ns, range->range_duration_ns);
      n_operations += range->n_operations;
      levels += result->ranges[keyed[i].range].level;
      children += result->ranges[keyed[i].range].n_children;
    }
  cells[2] = _lns_stats_number (group->total_ns);
  cells[3] = _lns_stats_number (range_ns);
  cells[4] = _lns_stats_number ((int64_t)group->n);
  _lns_stats_spread (values, group->n, &cells[5]);
  cells[10] = _lns_stats_number (n_operations);
  cells[11] = _lns_stats_number (_lns_stats_rounded ((double)n_operations / n, 1));
  cells[12] = _lns_stats_number (_lns_stats_rounded ((double)levels / n, 1));
  cells[13] = _lns_stats_number (_lns_stats_rounded ((double)children / n, 1));
  lns_rows_add (rows, cells, NULL);
}

static bool
write_sums (const LnsStatsResult *result, LnsRows *rows, LnsError *error)
{
  Keyed *keyed = lns_calloc (result->n, sizeof *keyed);

  for (uint32_t i = 0; i < result->n; i++)
    {
      const LnsProjectedRange *range = &result->projected[i];
      keyed[i] = (Keyed){ .key = { .style = kind_of (result, range->lane),
                                   .domain_name = domain_of (result, range->lane),
                                   .name = range->name },
                          .range = i,
                          .value_ns = range->duration_ns };
    }
  qsort (keyed, result->n, sizeof *keyed, compare_keyed);
  _lns_stats_write_groups (result, rows, keyed, result->n, sizeof *keyed, compare_keys, value_ns,
                           add_projection_sum);
  free (keyed);
  return true;
}

static const LnsResultColumn sum_columns[] = {
  { "Range", LNS_RESULT_TEXT },
  { N_ ("Style"), LNS_RESULT_TEXT },
  { N_ ("Total Proj Time"), LNS_RESULT_TIME },
  { N_ ("Total Range Time"), LNS_RESULT_TIME },
  { N_ ("Range Instances"), LNS_RESULT_COUNT },
  LNS_STATS_SPREAD_COLUMNS ("Proj "),
  { N_ ("Total GPU Ops"), LNS_RESULT_COUNT },
  { N_ ("Avg GPU Ops"), LNS_RESULT_NUMBER, 1 },
  { N_ ("Avg Range Lvl"), LNS_RESULT_NUMBER, 1 },
  { N_ ("Avg Num Child"), LNS_RESULT_NUMBER, 1 },
};

const LnsStatsWay _lns_stats_projection_sums = { run, NULL, write_sums, sum_columns,
                                                 sizeof sum_columns / sizeof *sum_columns };

/* ---- Kernels of ranges ----------------------------------------------------------------------- */

typedef LNS_ARRAY (Keyed) KeyedArray;

/* Adds a value for each kernel that RANGE, the NUMBER-th, launched. */
static void
add_kernels (const LnsStatsResult *result,
             const LnsLaunch *launches,
             size_t n_launches,
             uint32_t number,
             KeyedArray *keyed)
{
  const LnsProjectedRange *range = &result->projected[number];
  const int64_t end_ns = range->range_start_ns + range->range_duration_ns;

  for (size_t i = lns_launches_from (launches, n_launches, range->thread, range->range_start_ns);
       i < n_launches && launches[i].thread == range->thread && launches[i].call_start_ns <= end_ns;
       i++)
    if (launches[i].call_end_ns <= end_ns)
      *lns_array_add (keyed) = (Keyed){ .key = { .style = kind_of (result, range->lane),
                                                 .domain_name = domain_of (result, range->lane),
                                                 .name = range->name,
                                                 .kernel = _lns_stats_kernel_name (
                                                     result, launches[i].name, launches[i].launch),
                                                 .thread = range->thread },
                                        .range = number,
                                        .value_ns = launches[i].end_ns - launches[i].start_ns };
}

static bool
run_kernels (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsLaunch *launches = NULL;
  size_t n_launches = 0, n_ranges = 0;
  KeyedArray keyed = { 0 };
  bool good = lns_projection (report, cancel, &result->projected, &n_ranges, error) &&
              lns_launches (report, cancel, &launches, &n_launches, error);

  for (uint32_t i = 0; good && i < n_ranges; i++)
    {
      add_kernels (result, launches, n_launches, i, &keyed);
      good = lns_go_on (cancel, error);
    }
  free (launches);
  if (keyed.n > 0)
    qsort (keyed.items, keyed.n, sizeof *keyed.items, compare_keyed);
  result->rows = keyed.items;
  result->n = keyed.n;
  return good;
}

static void
add_kernel_sum (const LnsStatsResult *result,
                LnsRows *rows,
                const void *items,
                const LnsStatsGroup *group,
                int64_t *values,
                LnsBuffer *text)
{
  const Keyed *keyed = items;
  const int64_t tid = lns_tables_global_tid (result->tables, keyed->key.thread);
  int64_t n_ranges = 0;
  LnsResultCell cells[13] = { name_of (result, keyed, text),
                              style_of ((LnsLaneKind)keyed->key.style), _lns_stats_pid (tid),
                              _lns_stats_tid (tid) };

  for (size_t i = 0; i < group->n; i++)
    {
      values[i] = keyed[i].value_ns;
      n_ranges += i == 0 || keyed[i - 1].range != keyed[i].range;
    }
  cells[4] = _lns_stats_number (n_ranges);
  cells[5] = _lns_stats_number ((int64_t)group->n);
  cells[6] = _lns_stats_number (group->total_ns);
  _lns_stats_spread (values, group->n, &cells[7]);
  cells[12] = _lns_stats_string (result, keyed->key.kernel);
  lns_rows_add (rows, cells, NULL);
}

static bool
write_kernels (const LnsStatsResult *result, LnsRows *rows, LnsError *error)
{
  _lns_stats_write_groups (result, rows, result->rows, result->n, sizeof (Keyed), compare_keys,
                           value_ns, add_kernel_sum);
  return true;
}

static const LnsResultColumn kernel_columns[] = {
  { N_ ("NVTX Range"), LNS_RESULT_TEXT },
  { N_ ("Style"), LNS_RESULT_TEXT },
  { "PID", LNS_RESULT_ID },
  { "TID", LNS_RESULT_ID },
  { N_ ("NVTX Inst"), LNS_RESULT_COUNT },
  { N_ ("Kern Inst"), LNS_RESULT_COUNT },
  { N_ ("Total Time"), LNS_RESULT_TIME },
  LNS_STATS_SPREAD_COLUMNS (""),
  { N_ ("Kernel Name"), LNS_RESULT_TEXT },
};

const LnsStatsWay _lns_stats_projection_kernels = {
  run_kernels, NULL, write_kernels, kernel_columns, sizeof kernel_columns / sizeof *kernel_columns
};
