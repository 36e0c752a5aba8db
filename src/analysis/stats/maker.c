/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/maker.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

LnsKernelName
_lns_stats_naming (const LnsStatsResult *result)
{
  return result->arguments.is_base      ? LNS_KERNEL_SHORT_NAME
         : result->arguments.is_mangled ? LNS_KERNEL_MANGLED_NAME
                                        : LNS_KERNEL_NAME;
}

bool
_lns_stats_is_called (const LnsStatsResult *result, const char *name)
{
  return strcmp (result->maker->report.name, name) == 0;
}

LnsResultCell
_lns_stats_shape (const uint32_t three[3], char text[LNS_STATS_SHAPE_SIZE])
{
  const int size = snprintf (text, LNS_STATS_SHAPE_SIZE, "%4" PRIu32 " %4" PRIu32 " %4" PRIu32,
                             three[0], three[1], three[2]);

  return three[0] != 0 ? _lns_stats_text (text, (size_t)size) : (LnsResultCell){ .is_empty = true };
}

uint32_t
_lns_stats_kernel_name (const LnsStatsResult *result, uint32_t name, uint64_t launch)
{
  return lns_kernel_name (lns_tables_report (result->tables), _lns_stats_naming (result), name,
                          launch);
}

const LnsCudaLaunch *
_lns_stats_launch (const LnsStatsResult *result, uint64_t launch)
{
  static const LnsCudaLaunch unknown = { 0 };
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (lns_tables_report (result->tables), &n);

  return launch < n ? &launches[launch] : &unknown;
}

LnsResultCell
_lns_stats_string (const LnsStatsResult *result, uint32_t id)
{
  size_t size;
  const char *bytes = lns_report_string (lns_tables_report (result->tables), id, &size);
  return _lns_stats_text (bytes, size);
}

/* The double itself, halves away from zero, so that 841.15, which no double is, becomes 841.1. A
 * thousand times a double fits a long double. */
int64_t
_lns_stats_rounded (double value, unsigned decimals)
{
  long double scaled = value;

  for (unsigned i = 0; i < decimals; i++)
    scaled *= 10;
  return (int64_t)roundl (fminl (scaled, 9e18L));
}

LnsResultCell
_lns_stats_megabytes (double bytes)
{
  return _lns_stats_number (_lns_stats_rounded (bytes / 1e6, 3));
}

/* ---- Names ----------------------------------------------------------------------------------- */

LnsResultCell
_lns_stats_call_name (const LnsStatsResult *result, uint32_t id)
{
  LnsResultCell cell = _lns_stats_string (result, id);

  cell.size_bytes = lns_cuda_call_name_size (cell.bytes, cell.size_bytes);
  return cell;
}

LnsResultCell
_lns_stats_pid (int64_t tid)
{
  return _lns_stats_number (tid >> 24 & 0xFFFFFF);
}

LnsResultCell
_lns_stats_tid (int64_t tid)
{
  return _lns_stats_number (tid & 0xFFFFFF);
}

static void
append (LnsBuffer *text, LnsResultCell cell)
{
  lns_buffer_append (text, cell.bytes, cell.size_bytes);
}

void
_lns_stats_append_range (const LnsStatsResult *result,
                         LnsBuffer *text,
                         uint32_t domain_name,
                         uint32_t name)
{
  append (text, _lns_stats_string (result, domain_name));
  lns_buffer_append (text, ":", 1);
  append (text, _lns_stats_string (result, name));
}

void
_lns_stats_append_stack (const LnsStatsResult *result, LnsBuffer *text, const LnsTraceRange *range)
{
  char id[32];

  if (range->parent != LNS_TRACE_NO_PARENT)
    _lns_stats_append_stack (result, text, &result->ranges[range->parent]);
  lns_buffer_append (text, id, (size_t)snprintf (id, sizeof id, ":%" PRId64, range->id));
}

LnsResultCell
_lns_stats_parent (const LnsStatsResult *result, const LnsTraceRange *range)
{
  return range->parent == LNS_TRACE_NO_PARENT
             ? (LnsResultCell){ .is_empty = true }
             : _lns_stats_number (result->ranges[range->parent].id);
}

LnsResultCell
_lns_stats_appended (const LnsBuffer *text, size_t from)
{
  if (text->failed)
    lns_out_of_memory ();
  return _lns_stats_text ((const char *)text->bytes + from, text->size_bytes - from);
}

LnsResultCell
_lns_stats_name_in_range (const LnsStatsResult *result,
                          const LnsCallRange *range,
                          uint32_t name,
                          LnsBuffer *text)
{
  if (range == NULL)
    return _lns_stats_string (result, name);
  lns_buffer_reset (text);
  if (_lns_stats_string (result, range->domain_name).size_bytes > 0)
    _lns_stats_append_range (result, text, range->domain_name, range->name);
  else
    append (text, _lns_stats_string (result, range->name));
  lns_buffer_append (text, "/", 1);
  append (text, _lns_stats_string (result, name));
  return _lns_stats_appended (text, 0);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The numbers of N durations, the shortest first, STRIDE_BYTES apart. */
static LnsRangeStat
sum_sorted (const int64_t *first_ns, size_t stride_bytes, size_t n, LnsRangeStyle style)
{
#define DURATION(i) (*(const int64_t *)((const char *)first_ns + (i)*stride_bytes))
  LnsRangeStat sum = { .style = style,
                       .max_lane = LNS_ID_NONE,
                       .n = n,
                       .min_ns = DURATION (0),
                       .max_ns = DURATION (n - 1),
                       .doubled_median_ns = lns_sum (DURATION ((n - 1) / 2), DURATION (n / 2)) };
  long double total = 0, squares = 0;

  for (size_t i = 0; i < n; i++)
    {
      sum.total_ns += (uint64_t)DURATION (i);
      total += (long double)DURATION (i);
    }
  for (size_t i = 0; i < n; i++)
    {
      const long double distance = (long double)DURATION (i) - total / (long double)n;
      squares += distance * distance;
    }
  sum.deviation_ns = n > 1 ? (double)sqrtl (squares / (long double)(n - 1)) : 0;
  return sum;
#undef DURATION
}

static int
compare_keys (const LnsStatsValue *a, const LnsStatsValue *b)
{
  return _lns_stats_compare_ranges (a->range, b->range)
             ?: LNS_COMPARE (a->source, b->source)
             ?: LNS_COMPARE (a->name, b->name);
}

static int
compare_keyed (const void *a, const void *b)
{
  const LnsStatsValue *va = a, *vb = b;

  return compare_keys (va, vb) ?: LNS_COMPARE (va->value, vb->value);
}

void
_lns_stats_add_sums (LnsStatsResult *result, LnsStatsValues *values, LnsRangeStyle style)
{
  LnsStatsValue *items = values->items;
  size_t n_sums = 0;

  if (values->n > 0)
    qsort (items, values->n, sizeof *items, compare_keyed);
  for (size_t i = 0; i < values->n; i++)
    n_sums += i == 0 || compare_keys (&items[i - 1], &items[i]) != 0;
  result->sums = lns_realloc (result->sums, result->n + n_sums, sizeof *result->sums);
  for (size_t from = 0, to; from < values->n; from = to)
    {
      for (to = from + 1; to < values->n && compare_keys (&items[from], &items[to]) == 0;)
        to++;
      LnsRangeStat *sum = &result->sums[result->n++];
      *sum = sum_sorted (&items[from].value, sizeof *items, to - from, style);
      sum->range = items[from].range;
      sum->source = items[from].source;
      sum->name = items[from].name;
      sum->max_lane = items[to - 1].lane;
      sum->max_ordinal = items[to - 1].ordinal;
    }
}

void
_lns_stats_fill (const LnsRangeStat *sum, double total, LnsResultCell cells[5])
{
  cells[0] = _lns_stats_number (_lns_stats_rounded (total / (double)sum->n, 1));
  cells[1] = _lns_stats_number (_lns_stats_rounded ((double)sum->doubled_median_ns / 2, 1));
  cells[2] = _lns_stats_number (sum->min_ns);
  cells[3] = _lns_stats_number (sum->max_ns);
  cells[4] = _lns_stats_number (_lns_stats_rounded (sum->deviation_ns, 1));
}

static int
compare_values (const void *a, const void *b)
{
  const int64_t va = *(const int64_t *)a, vb = *(const int64_t *)b;
  return LNS_COMPARE (va, vb);
}

void
_lns_stats_spread (int64_t *values, size_t n, LnsResultCell cells[5])
{
  for (unsigned i = 0; i < 5; i++)
    cells[i] = (LnsResultCell){ .is_empty = true };
  if (n == 0)
    return;
  qsort (values, n, sizeof *values, compare_values);
  const LnsRangeStat sum = sum_sorted (values, sizeof *values, n, LNS_STYLE_KERNEL);
  _lns_stats_fill (&sum, (double)(int64_t)sum.total_ns, cells);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static int
compare_groups (const void *a, const void *b)
{
  const LnsStatsGroup *ga = a, *gb = b;

  return LNS_COMPARE (gb->total_ns, ga->total_ns) ?: LNS_COMPARE (ga->first, gb->first);
}

void
_lns_stats_write_groups (const LnsStatsResult *result,
                         LnsRows *rows,
                         const void *items,
                         size_t n,
                         size_t size,
                         int (*compare) (const void *a, const void *b),
                         int64_t (*value_ns) (const void *item),
                         LnsStatsAddGroup add)
{
  LnsStatsGroup *groups = lns_calloc (n, sizeof *groups);
  int64_t *values = lns_calloc (n, sizeof *values);
  LnsBuffer text = { 0 };
  size_t n_groups = 0;

  for (size_t i = 0; i < n; i++)
    {
      const char *item = (const char *)items + i * size;
      if (i == 0 || compare (item - size, item) != 0)
        groups[n_groups++] = (LnsStatsGroup){ .first = i };
      groups[n_groups - 1].n++;
      groups[n_groups - 1].total_ns = lns_sum (groups[n_groups - 1].total_ns, value_ns (item));
    }
  qsort (groups, n_groups, sizeof *groups, compare_groups);
  for (size_t i = 0; i < n_groups; i++)
    {
      lns_buffer_reset (&text);
      add (result, rows, (const char *)items + groups[i].first * size, &groups[i], values, &text);
    }
  lns_buffer_clear (&text);
  free (values);
  free (groups);
}
