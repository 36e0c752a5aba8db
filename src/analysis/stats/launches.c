/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda_kern_exec_trace and cuda_kern_exec_sum: from the call through the queue to the kernel's end; and
 * nvtx_kern_sum: the kernels that ranges launched. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"

#define NO_QUEUE (-1)

/* Between the call's end and the kernel's start, or NO_QUEUE where the kernel began within the call. */
static int64_t
queue_ns (const LnsLaunch *launch)
{
  return launch->start_ns > launch->call_end_ns ? launch->start_ns - launch->call_end_ns : NO_QUEUE;
}

/* The range that LAUNCH goes by, too, or NULL. */
static const LnsCallRange *
range_of (const LnsStatsResult *result, const LnsLaunch *launch)
{
  return result->call_ranges != NULL
             ? lns_call_ranges_find (result->call_ranges, launch->process, launch->correlation)
             : NULL;
}

static int64_t
device_number (const LnsStatsResult *result, uint32_t device)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (lns_tables_report (result->tables), &n);
  return device < n ? devices[device].number : 0;
}

static LnsStatsCell
call_name (const LnsStatsResult *result, uint32_t name)
{
  LnsStatsCell cell = _lns_stats_string (result, name);
  cell.size_bytes = lns_cuda_call_name_size (cell.bytes, cell.size_bytes);
  return cell;
}

/* ---- One by one ------------------------------------------------------------------------------ */

static int
compare_by_call (const void *a, const void *b)
{
  const LnsLaunch *la = a, *lb = b;

  if (la->call_start_ns != lb->call_start_ns)
    return la->call_start_ns < lb->call_start_ns ? -1 : 1;
  return la->start_ns < lb->start_ns ? -1 : la->start_ns > lb->start_ns;
}

bool
_lns_stats_run_launches (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsLaunch *launches;

  if (!lns_launches (lns_tables_report (result->tables), cancel, &launches, &result->n, error))
    return false;
  qsort (launches, result->n, sizeof *launches, compare_by_call);
  result->rows = launches;
  return true;
}

static bool
add_launch (const LnsStatsResult *result, LnsStatsTable *table, const LnsLaunch *launch)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (lns_tables_report (result->tables), &n);
  static const LnsCudaLaunch unknown = { 0 };
  const LnsCudaLaunch *shape = launch->launch < n ? &launches[launch->launch] : &unknown;
  int64_t tid = lns_tables_global_tid (result->tables, launch->thread), queue = queue_ns (launch);
  char grid[LNS_STATS_SHAPE_SIZE], block[LNS_STATS_SHAPE_SIZE];
  LnsStatsCell cells[] = {
    _lns_stats_number (launch->call_start_ns),
    _lns_stats_number (launch->call_end_ns - launch->call_start_ns),
    { .is_empty = queue == NO_QUEUE, .number = launch->call_end_ns },
    { .is_empty = queue == NO_QUEUE, .number = queue },
    _lns_stats_number (launch->start_ns),
    _lns_stats_number (launch->end_ns - launch->start_ns),
    _lns_stats_number (launch->end_ns - launch->call_start_ns),
    _lns_stats_number (tid >> 24 & 0xFFFFFF),
    _lns_stats_number (tid & 0xFFFFFF),
    _lns_stats_number (device_number (result, launch->device)),
    call_name (result, launch->call_name),
    _lns_stats_shape (shape->grid, grid),
    _lns_stats_shape (shape->block, block),
    { 0 },
  };
  char *text = NULL;
  bool good =
      _lns_stats_name_in_range (result, range_of (result, launch),
                                _lns_stats_kernel_name (result, launch->name, launch->launch),
                                &cells[13], &text) &&
      lns_stats_table_add (table, cells);
  free (text);
  return good;
}

bool
_lns_stats_write_launches (const LnsStatsResult *result,
                           FILE *stream,
                           const LnsStatsStyle *style,
                           LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "API Start", .is_time = true },
    { "API Dur", .is_time = true },
    { "Queue Start", .is_time = true },
    { "Queue Dur", .is_time = true },
    { "Kernel Start", .is_time = true },
    { "Kernel Dur", .is_time = true },
    { "Total Dur", .is_time = true },
    { "PID" },
    { "TID" },
    { "DevId" },
    { "API Function", .is_text = true },
    { "GridXYZ", .is_text = true },
    { "BlockXYZ", .is_text = true },
    { "Kernel Name", .is_text = true },
  };
  const LnsLaunch *launches = result->rows;
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  bool good = table != NULL;

  (void)error;
  for (size_t i = 0; good && i < result->n; i++)
    good = add_launch (result, table, &launches[i]);
  lns_stats_table_finish (table);
  return good;
}

/* ---- Summed up ------------------------------------------------------------------------------- */

/* A launch and what it is summed up under. */
typedef struct
{
  LnsLaunch launch;
  uint32_t call_key, kernel_key;
  const LnsCallRange *range; /* or NULL                                                         */
} Keyed;

static int
compare_keys (const void *a, const void *b)
{
  static const LnsCallRange none = { LNS_ID_NONE, LNS_ID_NONE };
  const Keyed *la = a, *lb = b;
  const LnsCallRange *ra = la->range != NULL ? la->range : &none,
                     *rb = lb->range != NULL ? lb->range : &none;
  const uint32_t ka[] = { la->launch.thread, la->launch.device, la->call_key,
                          la->kernel_key,    ra->domain_name,   ra->name },
                 kb[] = { lb->launch.thread, lb->launch.device, lb->call_key,
                          lb->kernel_key,    rb->domain_name,   rb->name };

  for (unsigned i = 0; i < 6; i++)
    if (ka[i] != kb[i])
      return ka[i] < kb[i] ? -1 : 1;
  return 0;
}

static int
compare_keyed (const void *a, const void *b)
{
  const Keyed *ka = a, *kb = b;
  int order = compare_keys (ka, kb);
  return order != 0 ? order : compare_by_call (&ka->launch, &kb->launch);
}

static int64_t
total_ns (const void *item)
{
  const LnsLaunch *launch = &((const Keyed *)item)->launch;

  return launch->end_ns - launch->call_start_ns;
}

bool
_lns_stats_run_launch_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsCudaKeys calls = { 0 };
  LnsLaunch *launches;
  size_t n;

  if (!lns_launches (report, cancel, &launches, &n, error))
    return false;
  Keyed *keyed = calloc (n + 1, sizeof *keyed);
  bool good = keyed != NULL || lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                                              "not enough memory for statistics; close other "
                                              "programs");
  good = good && lns_cuda_call_keys (report, &calls, error);
  for (size_t i = 0; good && i < n; i++)
    {
      uint32_t name = launches[i].call_name;
      keyed[i] = (Keyed){ launches[i], name < calls.n ? calls.keys[name] : name,
                          _lns_stats_kernel_name (result, launches[i].name, launches[i].launch),
                          range_of (result, &launches[i]) };
    }
  if (good)
    qsort (keyed, n, sizeof *keyed, compare_keyed);
  result->n = n;
  result->rows = keyed;
  lns_cuda_keys_clear (&calls);
  free (launches);
  return good;
}

static int
compare_values (const void *a, const void *b)
{
  int64_t va = *(const int64_t *)a, vb = *(const int64_t *)b;
  return va < vb ? -1 : va > vb;
}

void
_lns_stats_spread (int64_t *values, size_t n, LnsStatsCell cells[5])
{
  long double sum = 0, squares = 0;

  for (unsigned i = 0; i < 5; i++)
    cells[i] = (LnsStatsCell){ .is_empty = n == 0 };
  if (n == 0)
    return;
  qsort (values, n, sizeof *values, compare_values);
  for (size_t i = 0; i < n; i++)
    sum += (long double)values[i];
  for (size_t i = 0; i < n; i++)
    squares += ((long double)values[i] - sum / (long double)n) *
               ((long double)values[i] - sum / (long double)n);
  double median = ((double)values[(n - 1) / 2] + (double)values[n / 2]) / 2;
  cells[0].number = _lns_stats_rounded ((double)sum / (double)n, 1);
  cells[1].number = _lns_stats_rounded (median, 1);
  cells[2].number = values[0];
  cells[3].number = values[n - 1];
  cells[4].number =
      n > 1 ? _lns_stats_rounded ((double)sqrtl (squares / (long double)(n - 1)), 1) : 0;
}

static bool
add_sum (const LnsStatsResult *result,
         LnsStatsTable *table,
         const Keyed *launches,
         size_t n,
         int64_t *values)
{
  const Keyed *first = launches;
  int64_t tid = lns_tables_global_tid (result->tables, first->launch.thread);
  LnsStatsCell cells[27] = { _lns_stats_number (tid >> 24 & 0xFFFFFF),
                             _lns_stats_number (tid & 0xFFFFFF),
                             _lns_stats_number (device_number (result, first->launch.device)),
                             _lns_stats_number ((int64_t)n) };

  for (unsigned what = 0; what < 4; what++)
    {
      size_t n_values = 0;
      for (size_t i = 0; i < n; i++)
        {
          const LnsLaunch *launch = &launches[i].launch;
          int64_t value = what == 0   ? launch->end_ns - launch->call_start_ns
                          : what == 1 ? launch->call_end_ns - launch->call_start_ns
                          : what == 2 ? queue_ns (launch)
                                      : launch->end_ns - launch->start_ns;
          if (value != NO_QUEUE)
            values[n_values++] = value;
        }
      if (what == 2)
        cells[4] = _lns_stats_number ((int64_t)n_values);
      _lns_stats_spread (values, n_values, &cells[5 + 5 * what]);
    }
  cells[25] = call_name (result, first->call_key);
  char *text = NULL;
  bool good =
      _lns_stats_name_in_range (result, first->range, first->kernel_key, &cells[26], &text) &&
      lns_stats_table_add (table, cells);
  free (text);
  return good;
}

bool
_lns_stats_write_launch_sums (const LnsStatsResult *result,
                              FILE *stream,
                              const LnsStatsStyle *style,
                              LnsError *error)
{
  static const char *const titles[20] = { "TAvg", "TMed", "TMin", "TMax", "TStdDev",
                                          "AAvg", "AMed", "AMin", "AMax", "AStdDev",
                                          "QAvg", "QMed", "QMin", "QMax", "QStdDev",
                                          "KAvg", "KMed", "KMin", "KMax", "KStdDev" };
  LnsStatsColumn columns[27] = { { "PID" }, { "TID" }, { "DevId" }, { "Count" }, { "QCount" } };
  const Keyed *launches = result->rows;
  size_t n_groups;
  LnsStatsGroup *groups =
      _lns_stats_groups (launches, result->n, sizeof *launches, compare_keys, total_ns, &n_groups);
  int64_t *values = calloc (result->n + 1, sizeof *values);

  (void)error;
  for (unsigned i = 0; i < 20; i++)
    columns[5 + i] = (LnsStatsColumn){ titles[i], true, false, i % 5 == 2 || i % 5 == 3 ? 0u : 1u };
  columns[25] = (LnsStatsColumn){ "API Name", .is_text = true };
  columns[26] = (LnsStatsColumn){ "Kernel Name", .is_text = true };
  LnsStatsTable *table = lns_stats_table_new (stream, style, columns, 27);
  bool good = table != NULL && groups != NULL && values != NULL;
  for (size_t i = 0; good && i < n_groups; i++)
    good = add_sum (result, table, launches + groups[i].first, groups[i].n, values);
  free (values);
  free (groups);
  lns_stats_table_finish (table);
  return good;
}
