/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/pairs.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* Bits of the column "kind". */
enum
{
  IS_END = 1,
  IS_ARROW = 2
};

/* A range or arrow that has begun and not ended. */
typedef struct OpenRange
{
  LnsTraceMoment begin;
  int64_t row;
  int64_t last_ns;         /* when the last range of its key began or ended                      */
  struct OpenRange *below; /* the one of its key that began before                               */
} OpenRange;

/* ---- Open ranges ----------------------------------------------------------------------------- */

static void
set_last (LnsTracePairs *pairs, uint64_t key, OpenRange *range)
{
  if (!lns_id_map_set (&pairs->open, key, range))
    lns_out_of_memory ();
}

/* Takes the open range of KEY that began last. Returns false if there is none. */
static bool
take_last (LnsTracePairs *pairs, uint64_t key, OpenRange *ret_range)
{
  OpenRange *last = lns_id_map_get (&pairs->open, key);

  if (last == NULL)
    return false;
  if (last->below != NULL)
    set_last (pairs, key, last->below);
  else
    lns_id_map_take (&pairs->open, key);
  *ret_range = *last;
  free (last);
  pairs->n_open--;
  return true;
}

/* Takes any open range, from *PLACE of the map on. *PLACE must be 0 at first. */
static bool
take_any (LnsTracePairs *pairs, size_t *place, OpenRange *ret_range)
{
  while (*place < pairs->open.n_places && pairs->open.entries[*place].value == NULL)
    ++*place;
  return *place < pairs->open.n_places &&
         take_last (pairs, pairs->open.entries[*place].key, ret_range);
}

/* Returns whether pairing has been given up. Counts what is not paired. */
static bool
is_full (LnsTracePairs *pairs)
{
  const bool is_full = pairs->n_unpaired > 0 || pairs->n_open >= LNS_TRACE_OPEN_MAX;

  pairs->n_unpaired += is_full;
  return is_full;
}

static void
open_range (LnsTracePairs *pairs, const LnsTraceMoment *moment, int64_t row)
{
  if (is_full (pairs))
    return;
  OpenRange *range = lns_calloc (1, sizeof *range);
  *range = (OpenRange){ .begin = *moment,
                        .row = row,
                        .last_ns = moment->time_ns,
                        .below = lns_id_map_get (&pairs->open, moment->key) };
  set_last (pairs, moment->key, range);
  pairs->n_open++;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Writes a row into WHERE, one of the two tables of moments. */
static void
note (
    LnsTracePairs *pairs, LnsTraceRow where, const LnsTraceMoment *moment, bool is_end, int64_t row)
{
  const int64_t values[] = { moment->time_ns,
                             (int64_t)moment->key,
                             (int64_t)moment->any_key,
                             (is_end ? IS_END : 0) | (moment->is_arrow ? IS_ARROW : 0),
                             row,
                             moment->tid };

  lns_trace_put (pairs->tables, where, values, 6);
}

/* Takes a moment that found no partner in its process. It is noted under the key of all processes, or counted if it has
 * no such key or IS_LAST is set. */
static void
leave (LnsTracePairs *pairs, const LnsTraceMoment *moment, bool is_end, int64_t row, bool is_last)
{
  LnsTraceMoment shared = *moment;

  shared.key = moment->any_key;
  if (!is_last && moment->any_key != moment->key)
    {
      note (pairs, LNS_TRACE_ROW_LONE_MOMENT, &shared, is_end, row);
      return;
    }
  pairs->n_lone_arrows += moment->is_arrow;
  pairs->n_lone_ends += is_end && !moment->is_arrow;
}

static void
leave_open (LnsTracePairs *pairs, bool is_last)
{
  OpenRange range;

  for (size_t place = 0; take_any (pairs, &place, &range);)
    leave (pairs, &range.begin, false, range.row, is_last);
}

static void
end_row (LnsTracePairs *pairs, const LnsTraceMoment *moment, int64_t row)
{
  lns_trace_put (pairs->tables,
                 moment->is_arrow ? LNS_TRACE_ROW_ARROW_END : LNS_TRACE_ROW_RANGE_END,
                 (int64_t[]){ moment->time_ns, row, moment->tid }, 3);
}

void
lns_trace_pairs_begin (LnsTracePairs *pairs, const LnsTraceMoment *moment)
{
  const int64_t row = sqlite3_last_insert_rowid (pairs->tables->db);

  if (pairs->sorts)
    {
      note (pairs, LNS_TRACE_ROW_MOMENT, moment, false, row);
      return;
    }
  const OpenRange *last = lns_id_map_get (&pairs->open, moment->key);
  /* An end that came earlier in the file may belong to this beginning. */
  pairs->is_unordered |= (last != NULL && moment->time_ns < last->last_ns) ||
                         (pairs->has_lone && moment->time_ns < pairs->last_lone_ns);
  if (!pairs->is_unordered)
    open_range (pairs, moment, row);
}

void
lns_trace_pairs_end (LnsTracePairs *pairs, const LnsTraceMoment *moment)
{
  OpenRange range;

  if (pairs->sorts)
    note (pairs, LNS_TRACE_ROW_MOMENT, moment, true, 0);
  else if (pairs->n_unpaired > 0)
    pairs->n_unpaired++;
  else if (take_last (pairs, moment->key, &range))
    {
      pairs->is_unordered |= moment->time_ns < range.last_ns;
      if (range.below != NULL)
        range.below->last_ns = moment->time_ns;
      end_row (pairs, moment, range.row);
    }
  else
    {
      if (!pairs->has_lone || moment->time_ns > pairs->last_lone_ns)
        pairs->last_lone_ns = moment->time_ns;
      pairs->has_lone = true;
      leave (pairs, moment, true, 0, false);
    }
}

/* ---- The end of the file --------------------------------------------------------------------- */

/* Pairs the moments that the query QUESTION returns in order. */
static void
pair_all (LnsTracePairs *pairs, const char *question, bool is_last)
{
  sqlite3_stmt *rows = NULL;
  int code = sqlite3_prepare_v2 (pairs->tables->db, question, -1, &rows, NULL);
  OpenRange range;

  while (lns_trace_is_well (pairs->tables) && rows != NULL &&
         (code = sqlite3_step (rows)) == SQLITE_ROW)
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
        open_range (pairs, &moment, sqlite3_column_int64 (rows, 4));
      else if (take_last (pairs, moment.key, &range))
        end_row (pairs, &moment, range.row);
      else
        leave (pairs, &moment, true, 0, is_last);
    }
  if (code != SQLITE_DONE)
    lns_trace_fail (pairs->tables);
  sqlite3_finalize (rows);
  leave_open (pairs, is_last);
}

void
lns_trace_pairs_finish (LnsTracePairs *pairs)
{
  /* Open ranges stay open if pairing was given up. */
  if (pairs->n_unpaired == 0)
    {
      /* Moments of equal times come in the order of the file. */
      if (pairs->sorts)
        pair_all (pairs, "SELECT * FROM temp.MOMENTS ORDER BY time, rowid", false);
      else
        leave_open (pairs, false);
      pair_all (pairs, "SELECT * FROM temp.LONE_MOMENTS ORDER BY time, kind & 1, rowid", true);
    }
  if (pairs->n_unpaired > 0 || pairs->n_lone_arrows > 0)
    lns_trace_run (pairs->tables, "DELETE FROM LNS_FLOWS WHERE end IS NULL");
}

void
lns_trace_pairs_clear (LnsTracePairs *pairs)
{
  OpenRange range;

  for (size_t place = 0; take_any (pairs, &place, &range);)
    ;
  lns_id_map_clear (&pairs->open);
}
