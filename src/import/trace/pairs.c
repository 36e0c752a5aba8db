/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/pairs.h"

/* Of the column "kind" */
enum
{
  IS_END = 1,
  IS_ARROW = 2
};

/* Puts a row into the table WHERE of moments. */
static bool
note (LnsTracePairs *pairs,
      LnsTraceRow where,
      const LnsTraceMoment *moment,
      bool is_end,
      int64_t row,
      LnsError *error)
{
  const int64_t values[] = { moment->time_ns,
                             (int64_t)moment->key,
                             (int64_t)moment->any_key,
                             (is_end ? IS_END : 0) | (moment->is_arrow ? IS_ARROW : 0),
                             row,
                             moment->tid };

  pairs->is_noted = true;
  return lns_trace_put (pairs->tables, where, values, 6, error);
}

static LnsTraceMoment
begin_of (const LnsOpenRange *range)
{
  return (LnsTraceMoment){ .time_ns = range->start_ns,
                           .key = range->key,
                           .any_key = range->any_key,
                           .tid = range->tid,
                           .is_arrow = range->is_arrow };
}

/* Whether nothing more is paired; counts what is not. */
static bool
is_full (LnsTracePairs *pairs)
{
  const bool is_full = pairs->n_unpaired > 0 || pairs->open.n_open >= LNS_TRACE_OPEN_MAX;

  pairs->n_unpaired += is_full;
  return is_full;
}

static bool
open_range (LnsTracePairs *pairs, const LnsTraceMoment *moment, int64_t row, LnsError *error)
{
  const LnsOpenRange range = { .key = moment->key,
                               .any_key = moment->any_key,
                               .row = row,
                               .start_ns = moment->time_ns,
                               .last_ns = moment->time_ns,
                               .tid = moment->tid,
                               .is_arrow = moment->is_arrow };

  if (is_full (pairs))
    return true;
  return _lns_open_ranges_add (&pairs->open, &range) ||
         lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to import it",
                        pairs->tables->path);
}

static bool
end_row (LnsTracePairs *pairs, const LnsTraceMoment *moment, int64_t row, LnsError *error)
{
  return lns_trace_put (pairs->tables,
                        moment->is_arrow ? LNS_TRACE_ROW_ARROW_END : LNS_TRACE_ROW_RANGE_END,
                        (int64_t[]){ moment->time_ns, row, moment->tid }, 3, error);
}

bool
lns_trace_pairs_begin (LnsTracePairs *pairs, const LnsTraceMoment *moment, LnsError *error)
{
  const int64_t row = sqlite3_last_insert_rowid (pairs->tables->db);

  if (pairs->sorts)
    return note (pairs, LNS_TRACE_ROW_MOMENT, moment, false, row, error);
  const LnsOpenRange *last = _lns_open_ranges_last (&pairs->open, moment->key);
  /* It may be what an end that came before is of.                                                 */
  pairs->is_unordered |= (last != NULL && moment->time_ns < last->last_ns) ||
                         (pairs->has_lone && moment->time_ns < pairs->last_lone_ns);
  return !pairs->is_unordered && open_range (pairs, moment, row, error);
}

bool
lns_trace_pairs_end (LnsTracePairs *pairs, const LnsTraceMoment *moment, LnsError *error)
{
  LnsOpenRange range;

  if (pairs->sorts)
    return note (pairs, LNS_TRACE_ROW_MOMENT, moment, true, 0, error);
  if (pairs->n_unpaired > 0)
    return is_full (pairs);
  if (!_lns_open_ranges_take (&pairs->open, moment->key, &range))
    {
      if (!pairs->has_lone || moment->time_ns > pairs->last_lone_ns)
        pairs->last_lone_ns = moment->time_ns;
      pairs->has_lone = true;
      return note (pairs, LNS_TRACE_ROW_MOMENT, moment, true, 0, error);
    }
  pairs->is_unordered |= moment->time_ns < range.last_ns;
  LnsOpenRange *below = _lns_open_ranges_last (&pairs->open, moment->key);
  if (below != NULL)
    below->last_ns = moment->time_ns;
  return !pairs->is_unordered && end_row (pairs, moment, range.row, error);
}

/* ---- What is left ---------------------------------------------------------------------------- */

/* Counts what found no partner; the FIRST time, it is noted once more, by the key that all processes share. */
static bool
leave (LnsTracePairs *pairs,
       const LnsTraceMoment *moment,
       bool is_end,
       int64_t row,
       bool first,
       LnsError *error)
{
  LnsTraceMoment shared = *moment;

  shared.key = moment->any_key;
  if (first && moment->any_key != moment->key)
    return note (pairs, LNS_TRACE_ROW_LONE_MOMENT, &shared, is_end, row, error);
  pairs->n_lone_arrows += moment->is_arrow;
  pairs->n_lone_ends += is_end && !moment->is_arrow;
  return true;
}

/* Pairs the moments that QUESTION gives in order. */
static bool
pair_all (LnsTracePairs *pairs, const char *question, bool first, LnsError *error)
{
  sqlite3_stmt *rows = NULL;
  int code = sqlite3_prepare_v2 (pairs->tables->db, question, -1, &rows, NULL);
  LnsOpenRange range;
  bool good = true;

  while (good && rows != NULL && (code = sqlite3_step (rows)) == SQLITE_ROW)
    {
      const int kind = sqlite3_column_int (rows, 3);
      const LnsTraceMoment moment = { .time_ns = sqlite3_column_int64 (rows, 0),
                                      .key = (uint64_t)sqlite3_column_int64 (rows, 1),
                                      .any_key = (uint64_t)sqlite3_column_int64 (rows, 2),
                                      .tid = sqlite3_column_int64 (rows, 5),
                                      .is_arrow = (kind & IS_ARROW) != 0 };
      if (pairs->n_unpaired > 0)
        pairs->n_unpaired++;
      else if ((kind & IS_END) == 0)
        good = open_range (pairs, &moment, sqlite3_column_int64 (rows, 4), error);
      else if (_lns_open_ranges_take (&pairs->open, moment.key, &range))
        good = end_row (pairs, &moment, range.row, error);
      else
        good = leave (pairs, &moment, true, 0, first, error);
    }
  if (good && code != SQLITE_DONE)
    good = lns_trace_fail (pairs->tables, error);
  sqlite3_finalize (rows);
  while (good && _lns_open_ranges_take_any (&pairs->open, &range))
    {
      const LnsTraceMoment begin = begin_of (&range);
      good = leave (pairs, &begin, false, range.row, first, error);
    }
  return good;
}

bool
lns_trace_pairs_finish (LnsTracePairs *pairs, LnsError *error)
{
  static const char drop_open[] = "DELETE FROM LNS_FLOWS WHERE end IS NULL";
  LnsOpenRange range;

  if (pairs->n_unpaired > 0) /* what is open stays open                                           */
    return lns_trace_run (pairs->tables, error, drop_open);
  while (_lns_open_ranges_take_any (&pairs->open, &range))
    {
      const LnsTraceMoment begin = begin_of (&range);
      if (!note (pairs, LNS_TRACE_ROW_MOMENT, &begin, false, range.row, error))
        return false;
    }
  if (!pairs->is_noted)
    return true;
  /* Of equal times the one that the file has first comes first.                                   */
  return pair_all (pairs, "SELECT * FROM temp.MOMENTS ORDER BY time, rowid", true, error) &&
         pair_all (pairs, "SELECT * FROM temp.LONE_MOMENTS ORDER BY time, kind & 1, rowid", false,
                   error) &&
         lns_trace_run (pairs->tables, error, drop_open);
}

void
lns_trace_pairs_clear (LnsTracePairs *pairs)
{
  _lns_open_ranges_clear (&pairs->open);
}
