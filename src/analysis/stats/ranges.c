/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx_pushpop_trace */

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"

static void
add_range (const LnsStatsResult *result, size_t i, LnsRows *rows, LnsBuffer *text)
{
  const LnsTraceRange *range = &result->ranges[i];

  _lns_stats_append_stack (result, text, range);
  const size_t tree_at = text->size_bytes, name_at = tree_at + 2 * (size_t)range->level;
  for (uint32_t level = 0; level < range->level; level++)
    lns_buffer_append (text, "--", 2);
  _lns_stats_append_range (result, text,
                           lns_domain_name_of (lns_tables_report (result->tables), range->lane),
                           range->name);
  LnsResultCell stack = _lns_stats_appended (text, 0);
  stack.size_bytes = tree_at;
  const LnsResultCell cells[] = {
    _lns_stats_number (range->start_ns),
    _lns_stats_number (range->start_ns + range->duration_ns),
    _lns_stats_number (range->duration_ns),
    _lns_stats_number (range->children_ns),
    _lns_stats_number (lns_difference (range->duration_ns, range->children_ns)),
    _lns_stats_appended (text, name_at),
    _lns_stats_pid (range->global_tid),
    _lns_stats_tid (range->global_tid),
    _lns_stats_number (range->level),
    _lns_stats_number (range->n_children),
    _lns_stats_number (range->id),
    _lns_stats_parent (result, range),
    stack,
    _lns_stats_appended (text, tree_at),
  };
  const LnsPlace place =
      lns_place (range->lane, range->ordinal, range->start_ns, range->duration_ns);

  lns_rows_add (rows, cells, &place);
}

static bool
run (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  uint32_t n = 0;
  const bool good = lns_pushpop_trace (result->tables, cancel, &result->ranges, &n, error);

  result->n = n;
  return good;
}

static const LnsResultColumn columns[] = {
  { "Start", LNS_RESULT_TIME },       { "End", LNS_RESULT_TIME },
  { "Duration", LNS_RESULT_TIME },    { "DurChild", LNS_RESULT_TIME },
  { "DurNonChild", LNS_RESULT_TIME }, { "Name", LNS_RESULT_TEXT },
  { "PID", LNS_RESULT_ID },           { "TID", LNS_RESULT_ID },
  { "Lvl", LNS_RESULT_NUMBER },       { "NumChild", LNS_RESULT_COUNT },
  { "RangeId", LNS_RESULT_ID },       { "ParentId", LNS_RESULT_ID },
  { "RangeStack", LNS_RESULT_TEXT },  { "NameTree", LNS_RESULT_TEXT },
};

const LnsStatsWay _lns_stats_ranges = { run, add_range, NULL, columns,
                                        sizeof columns / sizeof *columns };
