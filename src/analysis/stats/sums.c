/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that sum up: ranges, calls and what GPUs did, by name. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"

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
  result->sums = lns_realloc (result->sums, result->n + n, sizeof *sums);
  memcpy (result->sums + result->n, sums, n * sizeof *sums);
  result->n += n;
  free (sums);
  return true;
}

typedef struct
{
  const LnsStatsResult *result;
  LnsStatsValues values;
} Kernels;

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Kernels *kernels = data;
  const LnsStatsResult *result = kernels->result;
  const int correlation = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION),
            launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  for (uint32_t i = 0; i < chunk->n; i++)
    *lns_array_add (&kernels->values) = (LnsStatsValue){
      .range = chunk->extra[correlation] != NULL
                   ? lns_call_ranges_find (result->call_ranges, track->process,
                                           chunk->extra[correlation][i])
                   : NULL,
      .name = result->kernels.kinds.n > 0
                  ? lns_kernel_keys_find (&result->kernels, chunk->name[i],
                                          lns_chunk_extra (chunk, launch, i))
                  : chunk->name[i],
      .value = chunk->duration_ns[i],
      .lane = chunk->lane,
      .ordinal = chunk->first + i,
    };
}

/* Adds the sums of kernels by the ranges that their calls were in, and by name. */
static bool
add_kernel_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  Kernels kernels = { .result = result };
  const bool good =
      lns_read_lanes (lns_tables_report (result->tables), LNS_LANE_CUDA_KERNEL,
                      LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) |
                          LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH),
                      add_kernels, &kernels, cancel, error);

  if (good)
    _lns_stats_add_sums (result, &kernels.values, LNS_STYLE_KERNEL);
  lns_array_clear (&kernels.values);
  return good;
}

static int
compare_totals (const void *a, const void *b)
{
  const LnsRangeStat *sa = a, *sb = b;
  return LNS_COMPARE (sb->total_ns, sa->total_ns);
}

bool
_lns_stats_run_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  const unsigned styles = result->maker->styles;
  const bool kernels_by_range = result->arguments.by_range && (styles & LNS_STYLE_KERNEL) != 0;
  uint32_t *calls = (styles & LNS_STYLE_CALL) != 0
                        ? lns_cuda_call_keys (lns_tables_report (result->tables))
                        : NULL;
  const LnsRangeQuery query = {
    .styles = kernels_by_range ? styles & ~(unsigned)LNS_STYLE_KERNEL : styles,
    .by_bytes = _lns_stats_is_called (result, "cuda_gpu_mem_size_sum"),
    .keys = { calls, result->kernels.kinds.n > 0 ? &result->kernels : NULL },
    .span = result->part,
  };
  const bool good = (!kernels_by_range || add_kernel_sums (result, cancel, error)) &&
                    (query.styles == 0 || add_sums (result, &query, cancel, error));

  free (calls);
  if (good && kernels_by_range && result->n > 0)
    qsort (result->sums, result->n, sizeof *result->sums, compare_totals);
  return good;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The columns of a report, and their titles. */
typedef struct
{
  const char *const *values; /* titles of total, average, median, least, greatest and deviation */
  const unsigned *decimals;  /* of these */
  LnsResultType type;
  const char *count, *name; /* titles */
  const char *kind;         /* title of the column that tells kinds apart, or NULL */
  bool shape;
} Layout;

static Layout
layout_of (const LnsStatsResult *result)
{
  static const char *const times[] = { N_ ("Total Time"), N_ ("Avg"), N_ ("Med"),
                                       N_ ("Min"),        N_ ("Max"), N_ ("StdDev") },
                           *const megabytes[] = { "Total (MB)", "Avg (MB)", "Med (MB)",
                                                  "Min (MB)",   "Max (MB)", "StdDev (MB)" },
                           *const messages[] = { "Total Message Volume (B)",
                                                 "Avg (B)",
                                                 "Med (B)",
                                                 "Min (B)",
                                                 "Max (B)",
                                                 "StdDev (B)" };
  static const unsigned tenths[] = { 0, 1, 1, 0, 0, 1 }, thousandths[] = { 3, 3, 3, 3, 3, 3 };
  const unsigned styles = result->maker->styles;
  const bool both = (styles & MEMORY_STYLES) != 0 && (styles & LNS_STYLE_KERNEL) != 0,
             has_sources = result->maker->way->sources != NULL,
             is_of_sizes = _lns_stats_is_called (result, "cuda_gpu_mem_size_sum"),
             is_of_messages = _lns_stats_is_called (result, "mpi_msg_size_sum"),
             is_of_calls = styles == LNS_STYLE_CALL || (styles == LNS_STYLE_ROW && !has_sources);

  return (Layout){
    .values = is_of_sizes      ? megabytes
              : is_of_messages ? messages
                               : times,
    .decimals = is_of_sizes ? thousandths : tenths,
    .type = is_of_sizes      ? LNS_RESULT_MEGABYTES
            : is_of_messages ? LNS_RESULT_BYTES
                             : LNS_RESULT_TIME,
    .count = is_of_calls               ? "Num Calls"
             : styles == MEMORY_STYLES ? N_ ("Count")
                                       : N_ ("Instances"),
    .name = (styles & RANGE_STYLES) != 0    ? "Range"
            : (styles & MEMORY_STYLES) != 0 ? "Operation"
                                            : "Name",
    .kind = styles == RANGE_STYLES ? "Style"
            : both                 ? "Category"
            : has_sources          ? "Source"
                                   : NULL,
    .shape = _lns_stats_is_called (result, "cuda_gpu_kern_gb_sum"),
  };
}

unsigned
_lns_stats_sum_columns (const LnsStatsResult *result,
                        LnsResultColumn ret_columns[LNS_STATS_MAX_SUM_COLUMNS])
{
  const Layout layout = layout_of (result);
  unsigned n = 0;

  if (layout.type == LNS_RESULT_TIME)
    ret_columns[n++] = (LnsResultColumn){ N_ ("Time (%)"), LNS_RESULT_SHARE, 1 };
  for (unsigned i = 0; i < 6; i++)
    {
      ret_columns[n++] = (LnsResultColumn){ layout.values[i], layout.type, layout.decimals[i] };
      if (i == 0)
        ret_columns[n++] = (LnsResultColumn){ layout.count, LNS_RESULT_COUNT };
    }
  if (layout.kind != NULL)
    ret_columns[n++] = (LnsResultColumn){ layout.kind, LNS_RESULT_TEXT };
  if (layout.shape)
    {
      ret_columns[n++] = (LnsResultColumn){ "GridXYZ", LNS_RESULT_TEXT };
      ret_columns[n++] = (LnsResultColumn){ "BlockXYZ", LNS_RESULT_TEXT };
    }
  ret_columns[n++] = (LnsResultColumn){ layout.name, LNS_RESULT_TEXT };
  return n;
}

/* The numbers of SUM; returns how many cells they take. */
static unsigned
make_numbers (const Layout *layout,
              const LnsRangeStat *sum,
              unsigned __int128 all,
              LnsResultCell cells[LNS_STATS_MAX_SUM_COLUMNS])
{
  const double total = (double)sum->total_ns;
  const bool is_in_megabytes = layout->type == LNS_RESULT_MEGABYTES;
  unsigned n = 0;

  if (layout->type == LNS_RESULT_TIME)
    cells[n++] =
        _lns_stats_number (all == 0 ? 0 : _lns_stats_rounded (100.0 * total / (double)all, 1));
  cells[n++] =
      is_in_megabytes ? _lns_stats_megabytes (total) : _lns_stats_number ((int64_t)sum->total_ns);
  cells[n++] = _lns_stats_number ((int64_t)sum->n);
  if (!is_in_megabytes)
    _lns_stats_fill (sum, total, &cells[n]);
  else
    {
      cells[n] = _lns_stats_megabytes (total / (double)sum->n);
      cells[n + 1] = _lns_stats_megabytes ((double)sum->doubled_median_ns / 2);
      cells[n + 2] = _lns_stats_megabytes ((double)sum->min_ns);
      cells[n + 3] = _lns_stats_megabytes ((double)sum->max_ns);
      cells[n + 4] = _lns_stats_megabytes (sum->deviation_ns);
    }
  return n + 5;
}

/* The string id of what SUM is of. */
static uint32_t
kernel_name (const LnsStatsResult *result, const LnsRangeStat *sum)
{
  return sum->style == LNS_STYLE_KERNEL && sum->name < result->kernels.kinds.n
             ? result->kernels.kinds.items[sum->name].shown
             : sum->name;
}

/* What the name of SUM is; texts that are put together go into TEXT. */
static LnsResultCell
make_name (const LnsStatsResult *result, const LnsRangeStat *sum, LnsBuffer *text)
{
  if (sum->style == LNS_STYLE_CALL)
    return _lns_stats_call_name (result, sum->name);
  if ((result->maker->styles & RANGE_STYLES) == 0)
    return _lns_stats_name_in_range (result, sum->range, kernel_name (result, sum), text);
  lns_buffer_reset (text);
  _lns_stats_append_range (result, text, sum->domain_name, sum->name);
  return _lns_stats_appended (text, 0);
}

/* What tells SUM from others of its name. */
static const char *
kind_of (const LnsStatsResult *result, const LnsRangeStat *sum)
{
  switch (sum->style)
    {
    case LNS_STYLE_PUSH_POP:
      return "PushPop";
    case LNS_STYLE_START_END:
      return "StartEnd";
    case LNS_STYLE_CALL:
      return "CUDA_API";
    case LNS_STYLE_KERNEL:
      return "CUDA_KERNEL";
    case LNS_STYLE_COPY:
    case LNS_STYLE_SET:
      return "MEMORY_OPER";
    default:
      return result->maker->way->sources[sum->source];
    }
}

/* Finds the longest of what SUM is of. False where it is not known, or damaged. */
static bool
find_longest (const LnsStatsResult *result, const LnsRangeStat *sum, LnsPlace *ret_place)
{
  LnsEvent event;

  if (sum->max_lane == LNS_ID_NONE ||
      !lns_report_event (lns_tables_report (result->tables), sum->max_lane, sum->max_ordinal,
                         &event, NULL))
    return false;
  *ret_place = lns_place (sum->max_lane, sum->max_ordinal, event.start_ns, event.duration_ns);
  return true;
}

bool
_lns_stats_write_sums (const LnsStatsResult *result, LnsRows *rows, LnsError *error)
{
  const Layout layout = layout_of (result);
  unsigned __int128 all = 0;
  LnsBuffer text = { 0 };

  for (size_t i = 0; i < result->n; i++)
    all += result->sums[i].total_ns;
  for (size_t i = 0; i < result->n; i++)
    {
      const LnsRangeStat *sum = &result->sums[i];
      LnsResultCell cells[LNS_STATS_MAX_SUM_COLUMNS];
      unsigned n = make_numbers (&layout, sum, all, cells);
      char grid[LNS_STATS_SHAPE_SIZE], block[LNS_STATS_SHAPE_SIZE];
      if (layout.kind != NULL)
        {
          const char *kind = kind_of (result, sum);
          cells[n++] = _lns_stats_text (kind, strlen (kind));
        }
      if (layout.shape)
        {
          const bool has_key = sum->name < result->kernels.kinds.n;
          const LnsCudaLaunch *launch = _lns_stats_launch (
              result, has_key ? result->kernels.kinds.items[sum->name].launch : LNS_ID_NONE);
          cells[n++] = _lns_stats_shape (launch->grid, grid);
          cells[n++] = _lns_stats_shape (launch->block, block);
        }
      cells[n++] = make_name (result, sum, &text);
      LnsPlace place;
      const bool has_place = rows->wants_places && find_longest (result, sum, &place);
      lns_rows_add (rows, cells, has_place ? &place : NULL);
    }
  lns_buffer_clear (&text);
  return true;
}
