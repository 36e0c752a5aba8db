/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx_gpu_proj_trace, nvtx_gpu_proj_sum and nvtx_kern_sum: what ranges did on GPUs. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"

#define NO_PARENT UINT32_MAX

/* A range's place among those that are projected. */
typedef struct
{
  uint32_t parent; /* number, or NO_PARENT                                                      */
  uint32_t level, n_children;
} Place;

/* What is summed up under one name, or one name and kernel. */
typedef struct
{
  uint32_t style; /* LnsLaneKind                                                                */
  uint32_t domain_name, name, kernel, thread;
} Key;

static LnsLaneKind
kind_of (const LnsStatsResult *result, uint32_t lane)
{
  uint32_t n;
  return lns_report_lanes (lns_tables_report (result->tables), &n)[lane].kind;
}

static LnsStatsCell
style_of (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP ? _lns_stats_text ("PushPop", 7)
                                        : _lns_stats_text ("StartEnd", 8);
}

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory for statistics; close other programs");
}

static bool
is_cancelled (const atomic_bool *cancel, LnsError *error)
{
  return cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed) &&
         !lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Whether push/pop range INNER, which does not start before OUTER, is within it. */
static bool
encloses (const LnsStatsResult *result,
          const LnsProjectedRange *outer,
          const LnsProjectedRange *inner)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (lns_tables_report (result->tables), &n);

  if (lanes[outer->lane].track == lanes[inner->lane].track &&
      lanes[outer->lane].ordinal >= lanes[inner->lane].ordinal)
    return false;
  return outer->range_start_ns + outer->range_duration_ns >=
         inner->range_start_ns + inner->range_duration_ns;
}

/* What encloses a projected range is projected itself: parents are among the ranges before it. */
static Place *
find_places (const LnsStatsResult *result, size_t n)
{
  const LnsProjectedRange *ranges = result->projected;
  Place *places = calloc (n + 1, sizeof *places);
  uint32_t top = NO_PARENT;

  for (uint32_t i = 0; places != NULL && i < n; i++)
    {
      places[i].parent = NO_PARENT;
      if (i > 0 && ranges[i - 1].thread != ranges[i].thread)
        top = NO_PARENT;
      if (kind_of (result, ranges[i].lane) != LNS_LANE_NVTX_PUSH_POP)
        continue;
      uint32_t parent = top;
      while (parent != NO_PARENT && !encloses (result, &ranges[parent], &ranges[i]))
        parent = places[parent].parent;
      places[i].parent = parent;
      if (parent != NO_PARENT)
        {
          places[i].level = places[parent].level + 1;
          places[parent].n_children++;
        }
      top = i;
    }
  return places;
}

static bool
project (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  if (!lns_projection (lns_tables_report (result->tables), LNS_ID_NONE, cancel, &result->projected,
                       &result->n_items, error))
    return false;
  result->rows = find_places (result, result->n_items);
  return result->rows != NULL || no_memory (error);
}

/* ---- One by one ------------------------------------------------------------------------------ */

bool
_lns_stats_run_projection (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  bool good = project (result, cancel, error);

  result->n = result->n_items;
  return good;
}

static int64_t
rowid_of (const LnsStatsResult *result, const LnsProjectedRange *range)
{
  return lns_tables_rowid (result->tables, lns_table_find ("NVTX_EVENTS"), range->lane,
                           range->ordinal);
}

static void
write_stack (const LnsStatsResult *result, FILE *stream, uint32_t i)
{
  const Place *places = result->rows;

  if (places[i].parent != NO_PARENT)
    write_stack (result, stream, places[i].parent);
  fprintf (stream, ":%" PRId64, rowid_of (result, &result->projected[i]));
}

static bool
add_projected (const LnsStatsResult *result, LnsStatsTable *table, uint32_t i)
{
  const LnsProjectedRange *range = &result->projected[i];
  const Place *place = (const Place *)result->rows + i;
  int64_t tid = lns_tables_global_tid (result->tables, range->thread);
  char *text = NULL;
  size_t size, stack_at;
  FILE *stream = open_memstream (&text, &size);

  if (stream == NULL)
    return false;
  _lns_stats_write_range (result, stream, range->lane, range->name);
  fflush (stream);
  stack_at = size;
  write_stack (result, stream, i);
  bool good = fclose (stream) == 0;
  LnsStatsCell cells[] = {
    _lns_stats_text (text, stack_at),
    _lns_stats_number (range->start_ns),
    _lns_stats_number (range->duration_ns),
    _lns_stats_number (range->range_start_ns),
    _lns_stats_number (range->range_duration_ns),
    style_of (kind_of (result, range->lane)),
    _lns_stats_number (tid >> 24 & 0xFFFFFF),
    _lns_stats_number (tid & 0xFFFFFF),
    _lns_stats_number (range->n_operations),
    _lns_stats_number (place->level),
    _lns_stats_number (place->n_children),
    _lns_stats_number (rowid_of (result, range)),
    { .is_empty = true },
    _lns_stats_text (text + stack_at, size - stack_at),
  };
  if (place->parent != NO_PARENT)
    cells[12] = _lns_stats_number (rowid_of (result, &result->projected[place->parent]));
  good = good && lns_stats_table_add (table, cells);
  free (text);
  return good;
}

bool
_lns_stats_write_projection (const LnsStatsResult *result,
                             FILE *stream,
                             const LnsStatsStyle *style,
                             LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Name", .is_text = true },
    { "Projected Start", .is_time = true },
    { "Projected Duration", .is_time = true },
    { "Orig Start", .is_time = true },
    { "Orig Duration", .is_time = true },
    { "Style", .is_text = true },
    { "PID" },
    { "TID" },
    { "NumGPUOps" },
    { "Lvl" },
    { "NumChild" },
    { "RangeId" },
    { "ParentId" },
    { "RangeStack", .is_text = true },
  };
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  bool good = table != NULL;

  (void)error;
  for (uint32_t i = 0; good && i < result->n; i++)
    good = add_projected (result, table, i);
  lns_stats_table_finish (table);
  return good;
}

/* ---- Summed up by name ----------------------------------------------------------------------- */

static uint32_t
domain_of (const LnsStatsResult *result, uint32_t lane)
{
  LnsReport *report = lns_tables_report (result->tables);
  uint32_t n_lanes, n_tracks, n_domains;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsDomain *domains = lns_report_domains (report, &n_domains);
  uint32_t domain = tracks[lanes[lane].track].domain;

  return domain < n_domains ? domains[domain].name : 0;
}

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
  int order = compare_keys (a, b);
  return order != 0 ? order : ka->range < kb->range ? -1 : ka->range > kb->range;
}

/* Sorts KEYED by key; the groups, the largest first, are to be freed. NULL without memory. */
static LnsStatsGroup *
group_keyed (Keyed *keyed, size_t n, size_t *ret_n_groups)
{
  qsort (keyed, n, sizeof *keyed, compare_keyed);
  return _lns_stats_groups (keyed, n, sizeof *keyed, compare_keys, value_ns, ret_n_groups);
}

/* The text of "domain:name", to be freed. */
static char *
range_name (const LnsStatsResult *result, const Key *key, size_t *ret_size)
{
  LnsStatsCell domain = _lns_stats_string (result, key->domain_name),
               name = _lns_stats_string (result, key->name);
  char *text = malloc (domain.size_bytes + name.size_bytes + 1);

  if (text == NULL)
    return NULL;
  memcpy (text, domain.bytes, domain.size_bytes);
  text[domain.size_bytes] = ':';
  memcpy (text + domain.size_bytes + 1, name.bytes, name.size_bytes);
  *ret_size = domain.size_bytes + 1 + name.size_bytes;
  return text;
}

static bool
add_projection_sum (const LnsStatsResult *result,
                    LnsStatsTable *table,
                    const Keyed *keyed,
                    const LnsStatsGroup *group,
                    int64_t *values)
{
  const Place *places = result->rows;
  int64_t range_ns = 0, n_operations = 0, levels = 0, children = 0;
  double n = (double)group->n;
  size_t size;
  char *name = range_name (result, &keyed->key, &size);
  LnsStatsCell cells[14];

  if (name == NULL)
    return false;
  for (size_t i = 0; i < group->n; i++)
    {
      const LnsProjectedRange *range = &result->projected[keyed[i].range];
      values[i] = range->duration_ns;
      range_ns = lns_sum (range_ns, range->range_duration_ns);
      n_operations += range->n_operations;
      levels += places[keyed[i].range].level;
      children += places[keyed[i].range].n_children;
    }
  cells[0] = _lns_stats_text (name, size);
  cells[1] = style_of ((LnsLaneKind)keyed->key.style);
  cells[2] = _lns_stats_number (group->total_ns);
  cells[3] = _lns_stats_number (range_ns);
  cells[4] = _lns_stats_number ((int64_t)group->n);
  _lns_stats_spread (values, group->n, &cells[5]);
  cells[10] = _lns_stats_number (n_operations);
  cells[11] = _lns_stats_number (_lns_stats_rounded ((double)n_operations / n, 1));
  cells[12] = _lns_stats_number (_lns_stats_rounded ((double)levels / n, 1));
  cells[13] = _lns_stats_number (_lns_stats_rounded ((double)children / n, 1));
  bool good = lns_stats_table_add (table, cells);
  free (name);
  return good;
}

bool
_lns_stats_write_projection_sums (const LnsStatsResult *result,
                                  FILE *stream,
                                  const LnsStatsStyle *style,
                                  LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Range", .is_text = true },
    { "Style", .is_text = true },
    { "Total Proj Time", .is_time = true },
    { "Total Range Time", .is_time = true },
    { "Range Instances" },
    { "Proj Avg", .is_time = true, .decimals = 1 },
    { "Proj Med", .is_time = true, .decimals = 1 },
    { "Proj Min", .is_time = true },
    { "Proj Max", .is_time = true },
    { "Proj StdDev", .is_time = true, .decimals = 1 },
    { "Total GPU Ops" },
    { "Avg GPU Ops", .decimals = 1 },
    { "Avg Range Lvl", .decimals = 1 },
    { "Avg Num Child", .decimals = 1 },
  };
  size_t n_groups = 0;
  Keyed *keyed = calloc (result->n + 1, sizeof *keyed);
  int64_t *values = calloc (result->n + 1, sizeof *values);
  LnsStatsGroup *groups = NULL;

  (void)error;
  for (uint32_t i = 0; keyed != NULL && i < result->n; i++)
    {
      const LnsProjectedRange *range = &result->projected[i];
      keyed[i].key = (Key){ .style = kind_of (result, range->lane),
                            .domain_name = domain_of (result, range->lane),
                            .name = range->name };
      keyed[i].range = i;
      keyed[i].value_ns = range->duration_ns;
    }
  if (keyed != NULL && values != NULL)
    groups = group_keyed (keyed, result->n, &n_groups);
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  bool good = table != NULL && groups != NULL;
  for (size_t i = 0; good && i < n_groups; i++)
    good = add_projection_sum (result, table, keyed + groups[i].first, &groups[i], values);
  lns_stats_table_finish (table);
  free (groups);
  free (values);
  free (keyed);
  return good;
}

/* ---- Kernels of ranges ----------------------------------------------------------------------- */

/* Adds a value for each kernel that RANGE, the NUMBER-th, launched. */
static bool
add_kernels (LnsStatsResult *result,
             const LnsLaunch *launches,
             size_t n_launches,
             uint32_t number,
             size_t *n_allocated)
{
  const LnsProjectedRange *range = &result->projected[number];
  int64_t end_ns = range->range_start_ns + range->range_duration_ns;

  for (size_t i = lns_launches_from (launches, n_launches, range->thread, range->range_start_ns);
       i < n_launches && launches[i].thread == range->thread && launches[i].call_start_ns <= end_ns;
       i++)
    {
      if (launches[i].call_end_ns > end_ns)
        continue;
      if (result->n_items == *n_allocated)
        {
          size_t n = *n_allocated * 2 + 1024;
          Keyed *larger = realloc (result->rows, n * sizeof *larger);
          if (larger == NULL)
            return false;
          result->rows = larger;
          *n_allocated = n;
        }
      ((Keyed *)result->rows)[result->n_items++] = (Keyed){
        .key = { .style = kind_of (result, range->lane),
                 .domain_name = domain_of (result, range->lane),
                 .name = range->name,
                 .kernel = _lns_stats_kernel_name (result, launches[i].name, launches[i].launch),
                 .thread = range->thread },
        .range = number,
        .value_ns = launches[i].end_ns - launches[i].start_ns
      };
    }
  return true;
}

bool
_lns_stats_run_range_kernels (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsLaunch *launches = NULL;
  size_t n_launches = 0, n_ranges = 0, n_allocated = 0;
  bool good = lns_projection (report, LNS_ID_NONE, cancel, &result->projected, &n_ranges, error) &&
              lns_launches (report, cancel, &launches, &n_launches, error);

  for (uint32_t i = 0; good && i < n_ranges; i++)
    good = !is_cancelled (cancel, error) &&
           (add_kernels (result, launches, n_launches, i, &n_allocated) || no_memory (error));
  free (launches);
  result->n = result->n_items;
  return good;
}

static bool
add_kernel_sum (const LnsStatsResult *result,
                LnsStatsTable *table,
                const Keyed *keyed,
                const LnsStatsGroup *group,
                int64_t *values)
{
  int64_t tid = lns_tables_global_tid (result->tables, keyed->key.thread), n_ranges = 0;
  size_t size;
  char *name = range_name (result, &keyed->key, &size);
  LnsStatsCell cells[13];

  if (name == NULL)
    return false;
  for (size_t i = 0; i < group->n; i++)
    {
      values[i] = keyed[i].value_ns;
      n_ranges += i == 0 || keyed[i - 1].range != keyed[i].range;
    }
  cells[0] = _lns_stats_text (name, size);
  cells[1] = style_of ((LnsLaneKind)keyed->key.style);
  cells[2] = _lns_stats_number (tid >> 24 & 0xFFFFFF);
  cells[3] = _lns_stats_number (tid & 0xFFFFFF);
  cells[4] = _lns_stats_number (n_ranges);
  cells[5] = _lns_stats_number ((int64_t)group->n);
  cells[6] = _lns_stats_number (group->total_ns);
  _lns_stats_spread (values, group->n, &cells[7]);
  cells[12] = _lns_stats_string (result, keyed->key.kernel);
  bool good = lns_stats_table_add (table, cells);
  free (name);
  return good;
}

bool
_lns_stats_write_range_kernels (const LnsStatsResult *result,
                                FILE *stream,
                                const LnsStatsStyle *style,
                                LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "NVTX Range", .is_text = true },
    { "Style", .is_text = true },
    { "PID" },
    { "TID" },
    { "NVTX Inst" },
    { "Kern Inst" },
    { "Total Time", .is_time = true },
    { "Avg", .is_time = true, .decimals = 1 },
    { "Med", .is_time = true, .decimals = 1 },
    { "Min", .is_time = true },
    { "Max", .is_time = true },
    { "StdDev", .is_time = true, .decimals = 1 },
    { "Kernel Name", .is_text = true },
  };
  size_t n_groups = 0;
  Keyed *keyed = result->rows;
  LnsStatsGroup *groups = group_keyed (keyed, result->n_items, &n_groups);
  int64_t *values = calloc (result->n_items + 1, sizeof *values);
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  bool good = groups != NULL && values != NULL && table != NULL;

  (void)error;
  for (size_t i = 0; good && i < n_groups; i++)
    good = add_kernel_sum (result, table, keyed + groups[i].first, &groups[i], values);
  lns_stats_table_finish (table);
  free (groups);
  free (values);
  return good;
}
