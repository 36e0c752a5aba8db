/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-sums.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/saturate.h"
#include "ui/events/event-cell.h"
#include "ui/model/event-text.h"
#include "ui/model/lane-look.h"

#define CANCEL_ROWS (1u << 18)
#define BIN_BITS    11
#define N_BINS      (1u << BIN_BITS)

/* --- Lengths ---------------------------------------------------------------------------------- */

/* Which lanes of a set, by index, have events without a length. Free with g_free (). */
static bool *
find_marks (const LnsEventSet *set)
{
  bool *are_marks = g_new0 (bool, MAX (set->n_lanes, 1));
  const LnsLane *lanes = lns_report_lanes (set->report, NULL);

  for (uint32_t i = 0; i < set->n_lanes; i++)
    are_marks[i] = lns_lane_look (lanes[set->lanes[i]].kind)->form != LNS_LOOK_BARS;
  return are_marks;
}

static bool
has_length (const LnsEventSet *set, const bool *are_marks, uint32_t row)
{
  if (set->flags != NULL && (set->flags[row] & LNS_EVENT_END_UNKNOWN) != 0)
    return false;
  return lns_event_set_duration (set, row) != 0 || !are_marks[lns_event_set_lane (set, row)];
}

/* --- The one in the middle -------------------------------------------------------------------- */

static int
compare_lengths (const void *a, const void *b)
{
  const int64_t *x = a, *y = b;
  return LNS_COMPARE (*x, *y);
}

/* The value that RANK < n others stand before in ascending order; all are from LOW to HIGH. O(n), as each pass leaves
 * a bin of many. Replaces: ORDER BY value LIMIT 1 OFFSET rank. */
static int64_t
find_rank (const LnsEventNumbers *values, uint64_t rank, int64_t low, int64_t high)
{
  g_autofree uint32_t *bins = g_new (uint32_t, N_BINS);

  while (low < high)
    {
      const uint64_t range = (uint64_t)high - (uint64_t)low;
      const unsigned bits = 64 - (unsigned)__builtin_clzll (range);
      const unsigned shift = bits > BIN_BITS ? bits - BIN_BITS : 0;
      unsigned bin = 0;
      memset (bins, 0, N_BINS * sizeof *bins);
      for (uint32_t i = 0; i < values->n; i++)
        {
          const int64_t value = lns_event_numbers_get (values, i);
          if (value >= low && value <= high)
            bins[((uint64_t)value - (uint64_t)low) >> shift]++;
        }
      for (; rank >= bins[bin]; bin++)
        rank -= bins[bin];
      low += (int64_t)((uint64_t)bin << shift);
      high = MIN (high, low + (int64_t)((UINT64_C (1) << shift) - 1));
    }
  return low;
}

static int64_t
find_median (const LnsEventNumbers *values, int64_t low, int64_t high)
{
  const int64_t below = find_rank (values, (values->n - 1) / 2, low, high);
  const int64_t above = values->n % 2 != 0 ? below : find_rank (values, values->n / 2, low, high);

  return below + (above - below) / 2;
}

/* --- Adding up -------------------------------------------------------------------------------- */

/* So few lengths are sorted: most names have few events. */
#define FEW 1024

typedef struct
{
  LnsEventSums sums;
  int64_t few[FEW];
  LnsEventNumbers many; /* all of them, once they are more */
} Tally;

static void
tally_begin (Tally *self)
{
  self->sums = (LnsEventSums){ .shortest_ns = INT64_MAX };
}

static void
tally_add (Tally *self, int64_t length_ns)
{
  const uint64_t n = self->sums.n++;

  self->sums.sum_ns = lns_sum (self->sums.sum_ns, length_ns);
  self->sums.shortest_ns = MIN (self->sums.shortest_ns, length_ns);
  self->sums.longest_ns = MAX (self->sums.longest_ns, length_ns);
  if (n < FEW)
    self->few[n] = length_ns;
  for (uint32_t i = 0; n == FEW && i < FEW; i++)
    lns_event_numbers_add (&self->many, self->few[i]);
  if (n >= FEW)
    lns_event_numbers_add (&self->many, length_ns);
}

/* False: memory ran out. */
static bool
tally_end (Tally *self)
{
  LnsEventSums *sums = &self->sums;
  const uint64_t n = sums->n;

  if (n == 0)
    sums->shortest_ns = 0;
  else if (n <= FEW)
    {
      qsort (self->few, n, sizeof *self->few, compare_lengths);
      const int64_t below = self->few[(n - 1) / 2];
      sums->median_ns = below + (self->few[n / 2] - below) / 2;
    }
  else if (lns_event_numbers_finish (&self->many))
    {
      sums->median_ns = find_median (&self->many, sums->shortest_ns, sums->longest_ns);
      lns_event_numbers_clear (&self->many);
    }
  else
    return false;
  return true;
}

bool
lns_event_sums_find (const LnsEventRows *rows, LnsEventSums *ret_sums, GCancellable *cancellable)
{
  const LnsEventSet *set = rows->set;
  g_autofree bool *are_marks = find_marks (set);
  g_autofree Tally *tally = g_new0 (Tally, 1);
  LnsEventRowsWalk walk = { 0 };
  uint64_t n_others = 0, bytes = 0;
  bool alive = true;

  tally_begin (tally);
  for (uint32_t row; alive && lns_event_rows_next (rows, &walk, &row);)
    {
      if (has_length (set, are_marks, row))
        tally_add (tally, lns_event_set_duration (set, row));
      else
        n_others++;
      if (set->payload_type != NULL && set->payload_type[row] == LNS_EVENT_SET_BYTES &&
          __builtin_add_overflow (bytes, lns_event_set_payload (set, row), &bytes))
        bytes = UINT64_MAX;
      alive = walk.n_done % CANCEL_ROWS != 0 || !g_cancellable_is_cancelled (cancellable);
    }
  alive = alive && tally_end (tally);
  lns_event_numbers_clear (&tally->many);
  *ret_sums = tally->sums;
  ret_sums->n_others = n_others;
  ret_sums->bytes = bytes;
  return alive;
}

/* --- By name ---------------------------------------------------------------------------------- */

/* The events of a label. */
typedef struct
{
  uint32_t label;
  uint32_t n, end; /* of its rows in the array of all: how many, and behind the last one */
  int64_t sum_ns;
} Group;

static int
compare_groups (const void *a, const void *b)
{
  const Group *x = a, *y = b;
  return LNS_COMPARE (y->sum_ns, x->sum_ns) ?: LNS_COMPARE (y->n, x->n)
                                           ?: LNS_COMPARE (x->label, y->label);
}

/* Puts the rows of each of N GROUPS, which are by label, beside each other. NULL: it was cancelled, or memory ran out. */
static uint32_t *
gather (const LnsEventRows *rows,
        const bool *are_marks,
        Group *groups,
        uint32_t n,
        GCancellable *cancellable)
{
  const LnsEventSet *set = rows->set;
  g_autofree uint32_t *all = g_try_new (uint32_t, MAX (rows->n, 1));
  LnsEventRowsWalk counted = { 0 }, put = { 0 };
  uint32_t total = 0;

  if (all == NULL)
    return NULL;
  for (uint32_t row; lns_event_rows_next (rows, &counted, &row);)
    {
      Group *group = &groups[lns_event_set_label (set, row)];
      group->n++;
      if (has_length (set, are_marks, row))
        group->sum_ns = lns_sum (group->sum_ns, lns_event_set_duration (set, row));
      if (counted.n_done % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (cancellable))
        return NULL;
    }
  for (uint32_t i = 0; i < n; i++)
    {
      groups[i].label = i;
      groups[i].end = total;
      total += groups[i].n;
    }
  for (uint32_t row; lns_event_rows_next (rows, &put, &row);)
    {
      all[groups[lns_event_set_label (set, row)].end++] = row;
      if (put.n_done % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (cancellable))
        return NULL;
    }
  return g_steal_pointer (&all);
}

/* The name of the event ROW, as the table shows it. Free with g_free (). */
static char *
name_of (const LnsEventSet *set, uint32_t row)
{
  g_autofree char *name = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_NAME);

  return *name != '\0' ? g_steal_pointer (&name)
                       : g_strdup (lns_event_text_nameless (
                             set->report, set->lanes[lns_event_set_lane (set, row)]));
}

#define KIND 1 /* the column that is there only where kinds mix */

/* What kind of event all N ROWS are, or NULL if they are of several. Static. */
static const char *
kind_of (const LnsEventSet *set, const uint32_t *rows, uint32_t n)
{
  const LnsLane *lanes = lns_report_lanes (set->report, NULL);
  const LnsLaneKind kind = lanes[set->lanes[lns_event_set_lane (set, rows[0])]].kind;

  for (uint32_t i = 1; i < n; i++)
    if (lanes[set->lanes[lns_event_set_lane (set, rows[i])]].kind != kind)
      return NULL;
  return lns_event_kind_name (kind);
}

/* Adds the events of GROUP, whose rows are ROWS, to RESULT. False: memory ran out. */
static bool
add_group (LnsResult *result,
           const LnsEventSet *set,
           const bool *are_marks,
           const uint32_t *rows,
           const Group *group,
           int64_t total_ns,
           Tally *tally)
{
  tally_begin (tally);
  for (uint32_t i = 0; i < group->n; i++)
    if (has_length (set, are_marks, rows[i]))
      tally_add (tally, lns_event_set_duration (set, rows[i]));
  if (!tally_end (tally))
    return false;
  const LnsEventSums *sums = &tally->sums;
  const bool is_empty = sums->n == 0;
  g_autofree char *name = name_of (set, rows[0]);
  const char *kind = set->has_kinds ? kind_of (set, rows, group->n) : NULL;
  LnsResultCell cells[] = {
    { .bytes = name, .size_bytes = strlen (name) },
    { .is_empty = kind == NULL, .bytes = kind, .size_bytes = kind != NULL ? strlen (kind) : 0 },
    { .number = group->n },
    { .is_empty = is_empty, .number = sums->sum_ns },
    { .is_empty = is_empty, .number = is_empty ? 0 : sums->sum_ns / (int64_t)sums->n },
    { .is_empty = is_empty, .number = sums->median_ns },
    { .is_empty = is_empty, .number = sums->longest_ns },
    { .is_empty = total_ns == 0,
      .number = total_ns == 0 ? 0 : (int64_t)(1000.0 * (double)sums->sum_ns / (double)total_ns) },
  };
  if (!set->has_kinds)
    memmove (&cells[KIND], &cells[KIND + 1], sizeof cells - (KIND + 1) * sizeof *cells);
  lns_rows_add (lns_result_rows (result), cells, NULL);
  return true;
}

LnsResult *
lns_event_sums_by_name (const LnsEventRows *rows,
                        uint32_t max_names,
                        uint32_t *ret_labels,
                        uint32_t *ret_n_names,
                        GCancellable *cancellable)
{
  static const LnsResultColumn columns[] = {
    { N_ ("Name"), LNS_RESULT_TEXT },    { N_ ("Kind"), LNS_RESULT_TEXT },
    { N_ ("Count"), LNS_RESULT_COUNT },  { N_ ("Sum"), LNS_RESULT_TIME },
    { N_ ("Mean"), LNS_RESULT_TIME },    { "p50", LNS_RESULT_TIME },
    { N_ ("Longest"), LNS_RESULT_TIME }, { N_ ("Share"), LNS_RESULT_SHARE, 1 },
  };
  const LnsEventSet *set = rows->set;
  const uint32_t n = lns_event_set_n_labels (set);
  g_autofree bool *are_marks = find_marks (set);
  g_autofree Group *groups = g_new0 (Group, n);
  g_autofree uint32_t *all = gather (rows, are_marks, groups, n, cancellable);
  g_autofree Tally *tally = g_new0 (Tally, 1);
  int64_t total_ns = 0;

  if (all == NULL)
    return NULL;
  *ret_n_names = 0;
  for (uint32_t i = 0; i < n; i++)
    {
      total_ns = lns_sum (total_ns, groups[i].sum_ns);
      *ret_n_names += groups[i].n > 0;
    }
  qsort (groups, n, sizeof *groups, compare_groups);
  LnsResultColumn shown[G_N_ELEMENTS (columns)];
  unsigned n_shown = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS (columns); i++)
    if (i != KIND || set->has_kinds)
      shown[n_shown++] = columns[i];
  LnsResult *result = lns_result_new (shown, n_shown, max_names);
  bool alive = true;
  uint32_t n_kept = 0;
  for (uint32_t i = 0; i < n && n_kept < max_names && alive; i++)
    {
      if (groups[i].n == 0)
        continue;
      ret_labels[n_kept++] = groups[i].label;
      alive = !g_cancellable_is_cancelled (cancellable) &&
              add_group (result, set, are_marks, all + (groups[i].end - groups[i].n), &groups[i],
                         total_ns, tally);
    }
  lns_event_numbers_clear (&tally->many);
  if (alive)
    return result;
  lns_result_free (result);
  return NULL;
}
