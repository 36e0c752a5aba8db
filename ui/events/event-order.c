/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-order.h"

#include <glib/gi18n.h>

#include "ui/events/event-keys.h"
#include "ui/events/event-sort.h"
#include "ui/model/name-match.h"

#define CANCEL_ROWS (1u << 18)

LnsEventOrder *
lns_event_order_new_identity (uint32_t n)
{
  LnsEventOrder *self = g_atomic_rc_box_new0 (LnsEventOrder);
  self->n = n;
  self->n_known = n;
  return self;
}

/* Takes over ROWS. */
static LnsEventOrder *
new_with_rows (uint32_t *rows, uint32_t n_known, uint32_t n)
{
  LnsEventOrder *self = lns_event_order_new_identity (n);
  self->n_known = n_known;
  self->rows = rows;
  return self;
}

LnsEventOrder *
lns_event_order_ref (LnsEventOrder *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear (gpointer data)
{
  g_free (((LnsEventOrder *)data)->rows);
}

void
lns_event_order_unref (LnsEventOrder *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

bool
lns_event_order_find (const LnsEventOrder *self, uint32_t row, uint32_t *ret_position)
{
  if (self->rows == NULL)
    {
      *ret_position = row;
      return row < self->n_known;
    }
  for (uint32_t position = 0; position < self->n_known; position++)
    if (self->rows[position] == row)
      {
        *ret_position = position;
        return true;
      }
  return false;
}

typedef struct
{
  const LnsEventSet *set;
  const LnsEventQuery *query;
  LnsFirstPageFunc first;
  void *data;
  GCancellable *cancellable;
  uint8_t *matches; /* per name of the set; NULL = all match */
  uint32_t n;       /* rows that match                       */
} Querying;

static bool
row_matches (uint32_t row, const void *data)
{
  const Querying *querying = data;
  return querying->matches[querying->set->name[row]];
}

/* Finds the names that match and counts the rows that have one. */
static bool
match_names (Querying *querying, GError **error)
{
  const LnsEventSet *set = querying->set;
  const char *filter = querying->query->filter;
  querying->n = set->n;
  if (filter == NULL || *filter == '\0')
    return true;

  g_autoptr (LnsNameMatch) match = lns_name_match_new (filter, false, false, error);
  querying->matches = g_new0 (uint8_t, MAX (set->n_names, 1));
  for (uint32_t i = 0; i < set->n_names; i++)
    {
      size_t size_bytes;
      const char *name = lns_report_string (set->report, set->names[i], &size_bytes);
      querying->matches[i] = lns_name_match_test (match, name, size_bytes);
      if (i % 1024 == 0 && g_cancellable_set_error_if_cancelled (querying->cancellable, error))
        return false;
    }
  querying->n = 0;
  for (uint32_t row = 0; row < set->n; row++)
    querying->n += querying->matches[set->name[row]];
  return true;
}

/* The rows of SORTED that match, at most MAX_ROWS of them. Returns NULL if it was cancelled or memory ran out. */
static LnsEventOrder *
keep_matching (const Querying *querying, const LnsEventOrder *sorted, uint32_t max_rows)
{
  uint32_t n = MIN (querying->n, max_rows);
  g_autofree uint32_t *rows = g_try_new (uint32_t, MAX (n, 1));
  uint32_t kept = 0;
  if (rows == NULL)
    return NULL;
  for (uint32_t position = 0; position < sorted->n && kept < n; position++)
    {
      uint32_t row = lns_event_order_row (sorted, position);
      if (querying->matches[querying->set->name[row]])
        rows[kept++] = row;
      if (position % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (querying->cancellable))
        return NULL;
    }
  return new_with_rows (g_steal_pointer (&rows), kept, querying->n);
}

static void
tell_first (const Querying *querying, LnsEventOrder *first)
{
  if (first != NULL && querying->first != NULL)
    querying->first (first, querying->data);
  lns_event_order_unref (first);
}

/* Sorts all rows, without the filter, and reports the first page on the way. Returns NULL if it was cancelled or
 * memory ran out. */
static LnsEventOrder *
sort_all (const Querying *querying)
{
  const LnsEventSet *set = querying->set;
  const LnsEventQuery *query = querying->query;
  bool in_time =
      query->column == LNS_EVENT_COLUMN_NUMBER || query->column == LNS_EVENT_COLUMN_START;
  if (in_time && !query->descending)
    return lns_event_order_new_identity (set->n);

  g_autofree uint64_t *keys = lns_event_keys_new (set, query->column);
  if (keys == NULL)
    return NULL;
  if (query->descending)
    for (uint32_t row = 0; row < set->n; row++)
      keys[row] = ~keys[row];
  if (g_cancellable_is_cancelled (querying->cancellable))
    return NULL;

  if (querying->first != NULL)
    {
      uint32_t *page = g_new (uint32_t, LNS_EVENT_FIRST_MAX);
      uint32_t n_page =
          lns_event_sort_first (keys, set->n, querying->matches != NULL ? row_matches : NULL,
                                querying, LNS_EVENT_FIRST_MAX, page);
      tell_first (querying, new_with_rows (page, n_page, querying->n));
    }
  g_autofree uint32_t *rows = g_try_new (uint32_t, MAX (set->n, 1));
  if (rows == NULL || !lns_event_sort (keys, set->n, rows, querying->cancellable))
    return NULL;
  return new_with_rows (g_steal_pointer (&rows), set->n, set->n);
}

static LnsEventOrder *
answer (Querying *querying, LnsEventOrder **ret_sorted)
{
  LnsEventOrder *known = querying->query->sorted;
  g_autoptr (LnsEventOrder) sorted =
      known != NULL ? lns_event_order_ref (known) : sort_all (querying);
  g_autoptr (LnsEventOrder) shown = NULL;
  if (sorted == NULL)
    return NULL;
  if (querying->matches == NULL)
    shown = lns_event_order_ref (sorted);
  else
    {
      /* If it had to sort, sort_all () has reported a first page already. */
      if (known != NULL || sorted->rows == NULL)
        tell_first (querying, keep_matching (querying, sorted, LNS_EVENT_FIRST_MAX));
      shown = keep_matching (querying, sorted, UINT32_MAX);
    }
  if (shown != NULL)
    *ret_sorted = g_steal_pointer (&sorted);
  return g_steal_pointer (&shown);
}

LnsEventOrder *
lns_event_order_query (const LnsEventSet *set,
                       const LnsEventQuery *query,
                       LnsFirstPageFunc first,
                       void *data,
                       LnsEventOrder **ret_sorted,
                       GCancellable *cancellable,
                       GError **error)
{
  Querying querying = {
    .set = set, .query = query, .first = first, .data = data, .cancellable = cancellable
  };
  LnsEventOrder *shown = NULL;
  if (match_names (&querying, error))
    {
      shown = answer (&querying, ret_sorted);
      if (shown == NULL && !g_cancellable_set_error_if_cancelled (cancellable, error))
        g_set_error_literal (
            error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
            _ ("Not enough memory to sort this many events; choose a smaller row"));
    }
  g_free (querying.matches);
  return shown;
}
