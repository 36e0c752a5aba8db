/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that sum up: ranges, calls and what GPUs did, by name. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"

#define MEMORY_STYLES (LNS_STYLE_COPY | LNS_STYLE_SET)
#define RANGE_STYLES  (LNS_STYLE_PUSH_POP | LNS_STYLE_START_END)

/* ---- Summing up ------------------------------------------------------------------------------ */

/* Adds what QUERY finds to the sums. */
static bool
add_sums (LnsStatsResult *result,
          const LnsRangeQuery *query,
          const atomic_bool *cancel,
          LnsError *error)
{
  LnsRangeStat *sums;
  size_t n;

  if (!lns_range_stats (lns_tables_report (result->tables), query, cancel, &sums, &n, error))
    return false;
  LnsRangeStat *all = realloc (result->sums, (result->n + n + 1) * sizeof *all);
  if (all != NULL)
    {
      memcpy (all + result->n, sums, n * sizeof *all);
      result->sums = all;
      result->n += n;
    }
  free (sums);
  return all != NULL || lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                                       "not enough memory for statistics; close other programs");
}

static int
compare_totals (const void *a, const void *b)
{
  const LnsRangeStat *sa = a, *sb = b;
  return sa->total_ns > sb->total_ns ? -1 : sa->total_ns < sb->total_ns;
}

bool
_lns_stats_run_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  unsigned styles = result->maker->styles;
  LnsRangeQuery query = { .by_bytes = _lns_stats_is_called (result, "cuda_gpu_mem_size_sum") };

  /* Calls go by other keys than kernels do: they are summed up apart.                            */
  if ((styles & LNS_STYLE_CALL) != 0)
    {
      LnsCudaKeys keys;
      if (!lns_cuda_call_keys (report, &keys, error))
        return false;
      query.styles = LNS_STYLE_CALL;
      query.keys = (LnsRangeKeys){ .calls = keys.keys, .n_calls = keys.n };
      bool good = add_sums (result, &query, cancel, error);
      lns_cuda_keys_clear (&keys);
      if (!good)
        return false;
    }
  size_t n_calls = result->n;
  query.styles = styles & ~(unsigned)LNS_STYLE_CALL;
  query.keys = (LnsRangeKeys){ 0 };
  if (query.styles == 0)
    return true;
  if (result->kernels.n > 0)
    query.keys.kernels = &result->kernels;
  bool by_range = result->arguments.by_range;
  if (by_range && (query.styles & LNS_STYLE_KERNEL) != 0)
    {
      query.styles &= ~(unsigned)LNS_STYLE_KERNEL;
      query.keys = (LnsRangeKeys){ 0 };
      if (!_lns_stats_add_kernel_sums (result, cancel, error))
        return false;
    }
  if (query.styles != 0 && !add_sums (result, &query, cancel, error))
    return false;
  if ((n_calls > 0 || by_range) && result->n > 0)
    qsort (result->sums, result->n, sizeof *result->sums, compare_totals);
  return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Which columns stand before the name, and what it is called. */
typedef struct
{
  const char *count; /* title                                                                   */
  const char *name;  /* title                                                                   */
  bool style, category, shape, size;
} Layout;

static Layout
layout_of (const LnsStatsResult *result)
{
  unsigned styles = result->maker->styles;
  bool both = (styles & MEMORY_STYLES) != 0 && (styles & LNS_STYLE_KERNEL) != 0;

  return (Layout){
    .count = styles == LNS_STYLE_CALL || styles == LNS_STYLE_ROW ? "Num Calls"
             : styles == MEMORY_STYLES                           ? "Count"
                                                                 : "Instances",
    .name = (styles & RANGE_STYLES) != 0    ? "Range"
            : (styles & MEMORY_STYLES) != 0 ? "Operation"
                                            : "Name",
    .style = styles == RANGE_STYLES,
    .category = both,
    .shape = _lns_stats_is_called (result, "cuda_gpu_kern_gb_sum"),
    .size = _lns_stats_is_called (result, "cuda_gpu_mem_size_sum"),
  };
}

/* Fills COLUMNS. Returns how many there are. */
static unsigned
make_columns (const Layout *layout, LnsStatsColumn columns[12])
{
  static const char *const titles[] = { "Total", "Avg", "Med", "Min", "Max", "StdDev" };
  static const char *const sizes[] = { "Total (MB)", "Avg (MB)", "Med (MB)",
                                       "Min (MB)",   "Max (MB)", "StdDev (MB)" };
  unsigned n = 0;

  if (!layout->size)
    columns[n++] = (LnsStatsColumn){ "Time (%)", .decimals = 1 };
  for (unsigned i = 0; i < 6; i++)
    {
      bool whole = i == 0 || i == 3 || i == 4;
      columns[n++] = layout->size ? (LnsStatsColumn){ sizes[i], .decimals = 3 }
                                  : (LnsStatsColumn){ i == 0 ? "Total Time" : titles[i], true,
                                                      false, whole ? 0 : 1 };
      if (i == 0)
        columns[n++] = (LnsStatsColumn){ layout->count };
    }
  if (layout->style)
    columns[n++] = (LnsStatsColumn){ "Style", .is_text = true };
  if (layout->category)
    columns[n++] = (LnsStatsColumn){ "Category", .is_text = true };
  if (layout->shape)
    {
      columns[n++] = (LnsStatsColumn){ "GridXYZ", .is_text = true };
      columns[n++] = (LnsStatsColumn){ "BlockXYZ", .is_text = true };
    }
  columns[n++] = (LnsStatsColumn){ layout->name, .is_text = true };
  return n;
}

static LnsStatsCell
constant (const char *text)
{
  return _lns_stats_text (text, strlen (text));
}

/* A size in thousandths of a MB. */
static LnsStatsCell
megabytes (double bytes)
{
  return _lns_stats_number (_lns_stats_rounded (bytes / 1e6, 3));
}

/* The numbers of SUM; returns how many cells they take. */
static unsigned
make_numbers (const Layout *layout,
              const LnsRangeStat *sum,
              unsigned __int128 all,
              LnsStatsCell cells[12])
{
  double total = (double)sum->total_ns, average = total / (double)sum->n,
         median = (double)sum->doubled_median_ns / 2;
  unsigned n = 0;

  if (layout->size)
    {
      cells[n++] = megabytes (total);
      cells[n++] = _lns_stats_number ((int64_t)sum->n);
      cells[n++] = megabytes (average);
      cells[n++] = megabytes (median);
      cells[n++] = megabytes ((double)sum->min_ns);
      cells[n++] = megabytes ((double)sum->max_ns);
      cells[n++] = megabytes (sum->deviation_ns);
      return n;
    }
  cells[n++] =
      _lns_stats_number (all == 0 ? 0 : _lns_stats_rounded (100.0 * total / (double)all, 1));
  cells[n++] = _lns_stats_number ((int64_t)sum->total_ns);
  cells[n++] = _lns_stats_number ((int64_t)sum->n);
  cells[n++] = _lns_stats_number (_lns_stats_rounded (average, 1));
  cells[n++] = _lns_stats_number (_lns_stats_rounded (median, 1));
  cells[n++] = _lns_stats_number (sum->min_ns);
  cells[n++] = _lns_stats_number (sum->max_ns);
  cells[n++] = _lns_stats_number (_lns_stats_rounded (sum->deviation_ns, 1));
  return n;
}

/* The string id of what SUM is of. */
static uint32_t
kernel_name (const LnsStatsResult *result, const LnsRangeStat *sum)
{
  return sum->style == LNS_STYLE_KERNEL && sum->name < result->kernels.n
             ? result->kernels.kinds[sum->name].shown
             : sum->name;
}

/* The name of what SUM is of. */
static LnsStatsCell
make_name (const LnsStatsResult *result, const LnsRangeStat *sum)
{
  LnsStatsCell cell = _lns_stats_string (result, kernel_name (result, sum));
  if (sum->style == LNS_STYLE_CALL)
    cell.size_bytes = lns_cuda_call_name_size (cell.bytes, cell.size_bytes);
  return cell;
}

/* The shape of the launches that SUM is of. */
static const LnsCudaLaunch *
shape_of (const LnsStatsResult *result, const LnsRangeStat *sum)
{
  static const LnsCudaLaunch unknown = { 0 };
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (lns_tables_report (result->tables), &n);
  const bool has_key = sum->style == LNS_STYLE_KERNEL && sum->name < result->kernels.n;
  const uint32_t launch = has_key ? result->kernels.kinds[sum->name].launch : n;

  return launch < n ? &launches[launch] : &unknown;
}

static bool
add_row (const LnsStatsResult *result,
         LnsStatsTable *table,
         const Layout *layout,
         const LnsRangeStat *sum,
         unsigned __int128 all)
{
  LnsStatsCell cells[12];
  unsigned n = make_numbers (layout, sum, all, cells);
  char grid[LNS_STATS_SHAPE_SIZE], block[LNS_STATS_SHAPE_SIZE], *range = NULL;
  size_t size;
  LnsStatsCell name = make_name (result, sum);

  if (sum->range != NULL &&
      !_lns_stats_name_in_range (result, sum->range, kernel_name (result, sum), &name, &range))
    return false;

  if ((result->maker->styles & RANGE_STYLES) != 0)
    {
      LnsStatsCell domain = _lns_stats_string (result, sum->domain_name);
      FILE *stream = open_memstream (&range, &size);
      if (stream == NULL)
        return false;
      fwrite (domain.bytes, 1, domain.size_bytes, stream);
      putc (':', stream);
      fwrite (name.bytes, 1, name.size_bytes, stream);
      if (fclose (stream) != 0)
        return false;
      name = _lns_stats_text (range, size);
    }
  if (layout->style)
    cells[n++] = constant (sum->style == LNS_STYLE_PUSH_POP ? "PushPop" : "StartEnd");
  if (layout->category)
    cells[n++] = constant (sum->style == LNS_STYLE_CALL     ? "CUDA_API"
                           : sum->style == LNS_STYLE_KERNEL ? "CUDA_KERNEL"
                                                            : "MEMORY_OPER");
  if (layout->shape)
    {
      const LnsCudaLaunch *shape = shape_of (result, sum);
      cells[n++] = _lns_stats_shape (shape->grid, grid);
      cells[n++] = _lns_stats_shape (shape->block, block);
    }
  cells[n++] = name;
  bool good = lns_stats_table_add (table, cells);
  free (range);
  return good;
}

bool
_lns_stats_write_sums (const LnsStatsResult *result,
                       FILE *stream,
                       const LnsStatsStyle *style,
                       LnsError *error)
{
  Layout layout = layout_of (result);
  LnsStatsColumn columns[12];
  unsigned n_columns = make_columns (&layout, columns);
  LnsStatsTable *table = lns_stats_table_new (stream, style, columns, n_columns);
  unsigned __int128 all = 0;
  bool good = table != NULL;

  (void)error;
  for (size_t i = 0; i < result->n; i++)
    all += result->sums[i].total_ns;
  for (size_t i = 0; good && i < result->n; i++)
    good = add_row (result, table, &layout, &result->sums[i], all);
  lns_stats_table_finish (table);
  return good;
}
