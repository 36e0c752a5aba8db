/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda_kern_exec_trace and cuda_kern_exec_sum: the times of launch calls, of queueing and of kernels. */

#include <stdlib.h>

#include "src/analysis/stats/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

#define NO_QUEUE (-1)

/* Between the call's end and the kernel's start, or NO_QUEUE where the kernel began within the call. */
static int64_t
queue_ns (const LnsLaunch *launch)
{
  return launch->start_ns > launch->call_end_ns ? launch->start_ns - launch->call_end_ns : NO_QUEUE;
}

/* The range that the kernel of LAUNCH goes by, too, or NULL. */
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

/* ---- One by one ------------------------------------------------------------------------------ */

static int
compare_by_call (const void *a, const void *b)
{
  const LnsLaunch *la = a, *lb = b;

  return LNS_COMPARE (la->call_start_ns, lb->call_start_ns)
             ?: LNS_COMPARE (la->start_ns, lb->start_ns);
}

static bool
run_launches (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsLaunch *launches;

  if (!lns_launches (lns_tables_report (result->tables), cancel, &launches, &result->n, error))
    return false;
  if (result->n > 0)
    qsort (launches, result->n, sizeof *launches, compare_by_call);
  result->rows = launches;
  return true;
}

static void
add_launch (const LnsStatsResult *result, size_t i, LnsRows *rows, LnsBuffer *text)
{
  const LnsLaunch *launch = (const LnsLaunch *)result->rows + i;
  const LnsCudaLaunch *shape = _lns_stats_launch (result, launch->launch);
  const uint32_t name = _lns_stats_kernel_name (result, launch->name, launch->launch);
  const int64_t tid = lns_tables_global_tid (result->tables, launch->thread),
                queue = queue_ns (launch);
  char grid[LNS_STATS_SHAPE_SIZE], block[LNS_STATS_SHAPE_SIZE];
  const LnsResultCell cells[] = {
    _lns_stats_number (launch->call_start_ns),
    _lns_stats_number (launch->call_end_ns - launch->call_start_ns),
    { .is_empty = queue == NO_QUEUE, .number = launch->call_end_ns },
    { .is_empty = queue == NO_QUEUE, .number = queue },
    _lns_stats_number (launch->start_ns),
    _lns_stats_number (launch->end_ns - launch->start_ns),
    _lns_stats_number (launch->end_ns - launch->call_start_ns),
    _lns_stats_pid (tid),
    _lns_stats_tid (tid),
    _lns_stats_number (device_number (result, launch->device)),
    _lns_stats_call_name (result, launch->call_name),
    _lns_stats_shape (shape->grid, grid),
    _lns_stats_shape (shape->block, block),
    _lns_stats_name_in_range (result, range_of (result, launch), name, text),
  };

  const LnsPlace place = lns_place (launch->lane, launch->ordinal, launch->start_ns,
                                    lns_difference (launch->end_ns, launch->start_ns));

  lns_rows_add (rows, cells, &place);
}

static const LnsResultColumn columns[] = {
  { N_ ("API Start"), LNS_RESULT_TIME },
  { N_ ("API Dur"), LNS_RESULT_TIME },
  { N_ ("Queue Start"), LNS_RESULT_TIME },
  { N_ ("Queue Dur"), LNS_RESULT_TIME },
  { N_ ("Kernel Start"), LNS_RESULT_TIME },
  { N_ ("Kernel Dur"), LNS_RESULT_TIME },
  { N_ ("Total Dur"), LNS_RESULT_TIME },
  { "PID", LNS_RESULT_ID },
  { "TID", LNS_RESULT_ID },
  { "DevId", LNS_RESULT_ID },
  { N_ ("API Function"), LNS_RESULT_TEXT },
  { "GridXYZ", LNS_RESULT_TEXT },
  { "BlockXYZ", LNS_RESULT_TEXT },
  { N_ ("Kernel Name"), LNS_RESULT_TEXT },
};

const LnsStatsWay _lns_stats_launches = { run_launches, add_launch, NULL, columns,
                                          sizeof columns / sizeof *columns };

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
  const Keyed *la = a, *lb = b;

  return LNS_COMPARE (la->launch.thread, lb->launch.thread)
             ?: LNS_COMPARE (la->launch.device, lb->launch.device)
             ?: LNS_COMPARE (la->call_key, lb->call_key)
             ?: LNS_COMPARE (la->kernel_key, lb->kernel_key)
             ?: _lns_stats_compare_ranges (la->range, lb->range);
}

static int
compare_keyed (const void *a, const void *b)
{
  const Keyed *ka = a, *kb = b;

  return compare_keys (ka, kb) ?: compare_by_call (&ka->launch, &kb->launch);
}

static int64_t
total_ns (const void *item)
{
  const LnsLaunch *launch = &((const Keyed *)item)->launch;

  return launch->end_ns - launch->call_start_ns;
}

static bool
run_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsLaunch *launches;
  size_t n;

  if (!lns_launches (report, cancel, &launches, &n, error))
    return false;
  Keyed *keyed = lns_calloc (n, sizeof *keyed);
  uint32_t *calls = lns_cuda_call_keys (report);
  for (size_t i = 0; i < n; i++)
    keyed[i] = (Keyed){ launches[i],
                        launches[i].call_name < lns_report_n_strings (report)
                            ? calls[launches[i].call_name]
                            : launches[i].call_name,
                        _lns_stats_kernel_name (result, launches[i].name, launches[i].launch),
                        range_of (result, &launches[i]) };
  qsort (keyed, n, sizeof *keyed, compare_keyed);
  result->n = n;
  result->rows = keyed;
  free (calls);
  free (launches);
  return true;
}

/* The four spans of LAUNCH that are summed up; the third one may be NO_QUEUE. */
static int64_t
span_of (const LnsLaunch *launch, unsigned what)
{
  return what == 0   ? launch->end_ns - launch->call_start_ns
         : what == 1 ? launch->call_end_ns - launch->call_start_ns
         : what == 2 ? queue_ns (launch)
                     : launch->end_ns - launch->start_ns;
}

static void
add_sum (const LnsStatsResult *result,
         LnsRows *rows,
         const void *items,
         const LnsStatsGroup *group,
         int64_t *values,
         LnsBuffer *text)
{
  const Keyed *launches = items, *first = items;
  const int64_t tid = lns_tables_global_tid (result->tables, first->launch.thread);
  LnsResultCell cells[27] = { _lns_stats_pid (tid), _lns_stats_tid (tid),
                              _lns_stats_number (device_number (result, first->launch.device)),
                              _lns_stats_number ((int64_t)group->n) };

  for (unsigned what = 0; what < 4; what++)
    {
      size_t n_values = 0;
      for (size_t i = 0; i < group->n; i++)
        {
          const int64_t value = span_of (&launches[i].launch, what);
          if (value != NO_QUEUE)
            values[n_values++] = value;
        }
      if (what == 2)
        cells[4] = _lns_stats_number ((int64_t)n_values);
      _lns_stats_spread (values, n_values, &cells[5 + 5 * what]);
    }
  cells[25] = _lns_stats_call_name (result, first->call_key);
  cells[26] = _lns_stats_name_in_range (result, first->range, first->kernel_key, text);
  lns_rows_add (rows, cells, NULL);
}

static bool
write_sums (const LnsStatsResult *result, LnsRows *rows, LnsError *error)
{
  _lns_stats_write_groups (result, rows, result->rows, result->n, sizeof (Keyed), compare_keys,
                           total_ns, add_sum);
  return true;
}

static const LnsResultColumn sum_columns[] = { { "PID", LNS_RESULT_ID },
                                               { "TID", LNS_RESULT_ID },
                                               { "DevId", LNS_RESULT_ID },
                                               { N_ ("Count"), LNS_RESULT_COUNT },
                                               { "QCount", LNS_RESULT_COUNT },
                                               LNS_STATS_SPREAD_COLUMNS ("T"),
                                               LNS_STATS_SPREAD_COLUMNS ("A"),
                                               LNS_STATS_SPREAD_COLUMNS ("Q"),
                                               LNS_STATS_SPREAD_COLUMNS ("K"),
                                               { N_ ("API Name"), LNS_RESULT_TEXT },
                                               { N_ ("Kernel Name"), LNS_RESULT_TEXT } };

const LnsStatsWay _lns_stats_launch_sums = { run_sums, NULL, write_sums, sum_columns,
                                             sizeof sum_columns / sizeof *sum_columns };
