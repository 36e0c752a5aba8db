/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx_pushpop_trace */

#include <inttypes.h>
#include <stdlib.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"

static void
write_stack (const LnsStatsResult *result, FILE *stream, const LnsTraceRange *range)
{
  if (range->parent != LNS_TRACE_NO_PARENT)
    write_stack (result, stream, &result->ranges[range->parent]);
  fprintf (stream, ":%" PRId64, range->rowid);
}

static bool
add_trace_row (const LnsStatsResult *result, LnsStatsTable *table, const LnsTraceRange *range)
{
  char *texts = NULL;
  size_t size = 0, name_at, stack_at;
  FILE *stream = open_memstream (&texts, &size);

  if (stream == NULL)
    return false;
  for (uint32_t i = 0; i < range->level; i++)
    fputs ("--", stream);
  _lns_stats_write_range (result, stream, range->lane, range->name);
  fflush (stream);
  name_at = 2 * (size_t)range->level;
  stack_at = size;
  write_stack (result, stream, range);
  bool good = fclose (stream) == 0;
  LnsStatsCell cells[] = {
    _lns_stats_number (range->start_ns),
    _lns_stats_number (range->start_ns + range->duration_ns),
    _lns_stats_number (range->duration_ns),
    _lns_stats_number (range->children_ns),
    _lns_stats_number (lns_difference (range->duration_ns, range->children_ns)),
    _lns_stats_text (texts + name_at, stack_at - name_at),
    _lns_stats_number (range->global_tid >> 24 & 0xFFFFFF),
    _lns_stats_number (range->global_tid & 0xFFFFFF),
    _lns_stats_number (range->level),
    _lns_stats_number (range->n_children),
    _lns_stats_number (range->rowid),
    range->parent == LNS_TRACE_NO_PARENT ? (LnsStatsCell){ .is_empty = true }
                                         : _lns_stats_number (result->ranges[range->parent].rowid),
    _lns_stats_text (texts + stack_at, size - stack_at),
    _lns_stats_text (texts, stack_at),
  };
  good = good && lns_stats_table_add (table, cells);
  free (texts);
  return good;
}

bool
_lns_stats_run_ranges (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  uint32_t n = 0;
  bool good = lns_pushpop_trace (result->tables, cancel, &result->ranges, &n, error);

  result->n = n;
  return good;
}

bool
_lns_stats_write_ranges (const LnsStatsResult *result,
                         FILE *stream,
                         const LnsStatsStyle *style,
                         LnsError *error)
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
