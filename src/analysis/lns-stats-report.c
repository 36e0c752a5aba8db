/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/lns-pushpop-trace.h"
#include "src/analysis/lns-range-stats.h"
#include "src/analysis/lns-stats-report.h"

#define NO_NVTX "NV Tools Extension (NVTX) data"

enum
{
  NVTX_SUM,
  NVTX_PUSHPOP_SUM,
  NVTX_STARTEND_SUM,
  NVTX_PUSHPOP_TRACE
};

static const LnsStatsReport reports[] = {
  [NVTX_SUM] = { "nvtx_sum", "NVTX Range Summary", NO_NVTX, "ranges of both styles by name" },
  [NVTX_PUSHPOP_SUM] = { "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", NO_NVTX,
                         "push/pop ranges by name" },
  [NVTX_STARTEND_SUM] = { "nvtx_startend_sum", "NVTX Start/End Range Summary", NO_NVTX,
                          "start/end ranges by name" },
  [NVTX_PUSHPOP_TRACE] = { "nvtx_pushpop_trace", "NVTX Push/Pop Range Trace", NO_NVTX,
                           "push/pop ranges one by one, with their parents" },
};

struct LnsStatsResult
{
  const LnsStatsReport *stats;
  LnsTables *tables;
  LnsRangeStat *sums;
  LnsTraceRange *ranges;
  size_t n;
};

const LnsStatsReport *
lns_stats_reports (size_t *ret_n)
{
  *ret_n = sizeof reports / sizeof reports[0];
  return reports;
}

const LnsStatsReport *
lns_stats_report_find (const char *name)
{
  for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++)
    if (strcmp (reports[i].name, name) == 0)
      return &reports[i];
  return NULL;
}

LnsStatsResult *
lns_stats_report_run (const LnsStatsReport *stats,
                      LnsTables *tables,
                      const atomic_bool *cancel,
                      LnsError *error)
{
  LnsStatsResult *result = calloc (1, sizeof *result);
  LnsReport *report = lns_tables_report (tables);
  uint32_t n_ranges = 0;
  bool good;

  if (result == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                     "not enough memory for statistics; close other programs");
      return NULL;
    }
  *result = (LnsStatsResult){ .stats = stats, .tables = tables };
  if (stats == &reports[NVTX_PUSHPOP_TRACE])
    {
      good = lns_pushpop_trace (tables, cancel, &result->ranges, &n_ranges, error);
      result->n = n_ranges;
    }
  else
    {
      unsigned styles = stats == &reports[NVTX_PUSHPOP_SUM] ? LNS_STYLE_PUSH_POP
                        : stats == &reports[NVTX_STARTEND_SUM]
                            ? LNS_STYLE_START_END
                            : LNS_STYLE_PUSH_POP | LNS_STYLE_START_END;
      good = lns_range_stats (report, styles, cancel, &result->sums, &result->n, error);
    }
  if (good)
    return result;
  lns_stats_result_free (result);
  return NULL;
}

void
lns_stats_result_free (LnsStatsResult *result)
{
  if (result == NULL)
    return;
  free (result->sums);
  free (result->ranges);
  free (result);
}

size_t
lns_stats_result_n_rows (const LnsStatsResult *result)
{
  return result->n;
}

static LnsStatsCell
number (int64_t value)
{
  return (LnsStatsCell){ .number = value };
}

static LnsStatsCell
text (const char *bytes, size_t size)
{
  return (LnsStatsCell){ .bytes = bytes, .size_bytes = size };
}

/* Writes "domain:name" to STREAM. */
static void
write_name (LnsReport *report, FILE *stream, uint32_t domain_name, uint32_t name)
{
  size_t size;
  const char *bytes = lns_report_string (report, domain_name, &size);

  fwrite (bytes, 1, size, stream);
  putc (':', stream);
  bytes = lns_report_string (report, name, &size);
  fwrite (bytes, 1, size, stream);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* VALUE in tenths as the reference rounds: the double itself, halves away from zero, so that 841.15,
 * which no double is, becomes 841.1. Ten times a double fits a long double. */
static int64_t
tenths (double value)
{
  return (int64_t)roundl (fminl ((long double)value * 10, 9e18L));
}

static bool
write_sums (const LnsStatsResult *result, FILE *stream, const LnsStatsStyle *style)
{
  static const LnsStatsColumn with_style[] = {
    { "Time (%)", .decimals = 1 },
    { "Total Time", .is_time = true },
    { "Instances" },
    { "Avg", .is_time = true, .decimals = 1 },
    { "Med", .is_time = true, .decimals = 1 },
    { "Min", .is_time = true },
    { "Max", .is_time = true },
    { "StdDev", .is_time = true, .decimals = 1 },
    { "Style", .is_text = true },
    { "Range", .is_text = true },
  };
  LnsStatsColumn columns[10];
  bool both = result->stats == &reports[NVTX_SUM], good = true;
  LnsReport *report = lns_tables_report (result->tables);
  unsigned __int128 all_ns = 0;

  memcpy (columns, with_style, sizeof columns);
  if (!both)
    columns[8] = columns[9];
  LnsStatsTable *table = lns_stats_table_new (stream, style, columns, both ? 10 : 9);
  for (size_t i = 0; i < result->n; i++)
    all_ns += result->sums[i].total_ns;
  for (size_t i = 0; table != NULL && good && i < result->n; i++)
    {
      const LnsRangeStat *sum = &result->sums[i];
      const char *style_name = sum->style == LNS_STYLE_PUSH_POP ? "PushPop" : "StartEnd";
      char *name = NULL;
      size_t size;
      FILE *name_stream = open_memstream (&name, &size);
      if (name_stream == NULL)
        break;
      write_name (report, name_stream, sum->domain_name, sum->name);
      good = fclose (name_stream) == 0;
      LnsStatsCell cells[] = {
        number (all_ns == 0 ? 0 : tenths (100.0 * (double)sum->total_ns / (double)all_ns)),
        number ((int64_t)sum->total_ns),
        number ((int64_t)sum->n),
        number (tenths ((double)sum->total_ns / (double)sum->n)),
        number (tenths ((double)sum->doubled_median_ns / 2)),
        number (sum->min_ns),
        number (sum->max_ns),
        number (tenths (sum->deviation_ns)),
        both ? text (style_name, strlen (style_name)) : text (name, size),
        text (name, size),
      };
      good = good && lns_stats_table_add (table, cells);
      free (name);
    }
  good = good && table != NULL;
  lns_stats_table_finish (table);
  return good;
}

/* ---- Trace ----------------------------------------------------------------------------------- */

static void
write_stack (const LnsStatsResult *result, FILE *stream, const LnsTraceRange *range)
{
  if (range->parent != LNS_TRACE_NO_PARENT)
    write_stack (result, stream, &result->ranges[range->parent]);
  fprintf (stream, ":%" PRId64, range->rowid);
}

static uint32_t
domain_name (LnsReport *report, uint32_t lane)
{
  uint32_t n_lanes, n_tracks, n_domains;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsDomain *domains = lns_report_domains (report, &n_domains);
  uint32_t domain = lane < n_lanes && lanes[lane].track < n_tracks
                        ? tracks[lanes[lane].track].domain
                        : LNS_ID_NONE;

  return domain < n_domains ? domains[domain].name : 0;
}

static bool
add_trace_row (const LnsStatsResult *result, LnsStatsTable *table, const LnsTraceRange *range)
{
  LnsReport *report = lns_tables_report (result->tables);
  char *texts = NULL;
  size_t size = 0, name_at, stack_at;
  FILE *stream = open_memstream (&texts, &size);

  if (stream == NULL)
    return false;
  for (uint32_t i = 0; i < range->level; i++)
    fputs ("--", stream);
  write_name (report, stream, domain_name (report, range->lane), range->name);
  fflush (stream);
  name_at = 2 * (size_t)range->level;
  stack_at = size;
  write_stack (result, stream, range);
  bool good = fclose (stream) == 0;
  LnsStatsCell cells[] = {
    number (range->start_ns),
    number (range->start_ns + range->duration_ns),
    number (range->duration_ns),
    number (range->children_ns),
    number (range->duration_ns - range->children_ns),
    text (texts + name_at, stack_at - name_at),
    number (range->global_tid >> 24 & 0xFFFFFF),
    number (range->global_tid & 0xFFFFFF),
    number (range->level),
    number (range->n_children),
    number (range->rowid),
    range->parent == LNS_TRACE_NO_PARENT ? (LnsStatsCell){ .is_empty = true }
                                         : number (result->ranges[range->parent].rowid),
    text (texts + stack_at, size - stack_at),
    text (texts, stack_at),
  };
  good = good && lns_stats_table_add (table, cells);
  free (texts);
  return good;
}

static bool
write_trace (const LnsStatsResult *result, FILE *stream, const LnsStatsStyle *style)
{
  static const LnsStatsColumn columns[] = {
    { "Start", .is_time = true },
    { "End", .is_time = true },
    { "Duration", .is_time = true },
    { "DurChild", .is_time = true },
    { "DurNonChild", .is_time = true },
    { "Name", .is_text = true },
    { "PID" },
    { "TID" },
    { "Lvl" },
    { "NumChild" },
    { "RangeId" },
    { "ParentId" },
    { "RangeStack", .is_text = true },
    { "NameTree", .is_text = true },
  };
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  bool good = table != NULL;

  for (size_t i = 0; good && i < result->n; i++)
    good = add_trace_row (result, table, &result->ranges[i]);
  lns_stats_table_finish (table);
  return good;
}

bool
lns_stats_result_write (const LnsStatsResult *result,
                        FILE *stream,
                        const LnsStatsStyle *style,
                        LnsError *error)
{
  if (result->stats == &reports[NVTX_PUSHPOP_TRACE] ? write_trace (result, stream, style)
                                                    : write_sums (result, stream, style))
    return true;
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory to write %s; close other programs", result->stats->name);
}
