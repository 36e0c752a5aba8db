/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The list that the events table shows: what it holds, and what it tells GTK of changes. */

#include "tests/lns-tap.h"
#include "tests/unit/event-fixture.h"
#include "ui/lns-events-model.h"

static LnsReport *report;
static LnsEventSet *set;

typedef struct
{
  guint changes[8][3]; /* position, removed, added */
  int n;
} Told;

static void
changed_cb (GListModel *model, guint position, guint removed, guint added, Told *told)
{
  guint change[3] = { position, removed, added };
  memcpy (told->changes[told->n++], change, sizeof change);
  /* What GTK would do: ask for something of the new list at once. */
  g_autoptr (GObject) item = g_list_model_get_item (model, position);
  if (added > 0 && item == NULL)
    told->n = 100;
}

static void
check_told (const Told *told, int i, guint position, guint removed, guint added)
{
  LNS_CHECK (i < told->n);
  LNS_CHECK_INT (told->changes[i][0], position);
  LNS_CHECK_INT (told->changes[i][1], removed);
  LNS_CHECK_INT (told->changes[i][2], added);
}

static int64_t
row_at (LnsEventsModel *model, guint index)
{
  g_autoptr (LnsEventItem) item = g_list_model_get_item (G_LIST_MODEL (model), index);
  LnsEventSet *of;
  uint32_t row;
  if (item == NULL)
    return -2;
  return lns_event_item_get (item, &of, &row) ? (int64_t)row : -1;
}

static LnsEventOrder *
reversed (uint32_t n, uint32_t n_known)
{
  LnsEventOrder *order = lns_event_order_new_identity (n);
  order->rows = g_new (uint32_t, n);
  order->n_known = n_known;
  for (uint32_t i = 0; i < n; i++)
    order->rows[i] = n - 1 - i;
  return order;
}

static void
a_change_empties_before_it_fills (void)
{
  g_autoptr (LnsEventsModel) model = lns_events_model_new ();
  g_autoptr (LnsEventOrder) all = lns_event_order_new_identity (set->n);
  g_autoptr (LnsEventOrder) other = reversed (100, 100);
  Told told = { 0 };
  g_signal_connect (model, "items-changed", G_CALLBACK (changed_cb), &told);
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)), 0);
  LNS_CHECK_INT (lns_events_model_n_pages (model), 1);

  lns_events_model_set (model, set, all, FALSE);
  LNS_CHECK_INT (told.n, 1);
  check_told (&told, 0, 0, 0, set->n);
  LNS_CHECK_INT (row_at (model, 17), 17);
  LNS_CHECK_INT (row_at (model, set->n), -2);

  lns_events_model_set (model, set, other, FALSE);
  LNS_CHECK_INT (told.n, 3);
  check_told (&told, 1, 0, set->n, 0);
  check_told (&told, 2, 0, 0, 100);
  LNS_CHECK_INT (row_at (model, 0), 99);

  lns_events_model_set (model, NULL, NULL, FALSE);
  LNS_CHECK_INT (told.n, 4);
  check_told (&told, 3, 0, 100, 0);
}

static void
the_whole_completes_a_first_page (void)
{
  g_autoptr (LnsEventsModel) model = lns_events_model_new ();
  g_autoptr (LnsEventOrder) first = reversed (1000, 64);
  g_autoptr (LnsEventOrder) whole = reversed (1000, 1000);
  Told told = { 0 };
  lns_events_model_set (model, set, first, FALSE);
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)), 1000);
  LNS_CHECK_INT (row_at (model, 63), 936);
  LNS_CHECK_INT (row_at (model, 64), -1);

  g_signal_connect (model, "items-changed", G_CALLBACK (changed_cb), &told);
  lns_events_model_set (model, set, whole, TRUE);
  LNS_CHECK_INT (told.n, 2);
  check_told (&told, 0, 64, 936, 0);
  check_told (&told, 1, 64, 0, 936);
  LNS_CHECK_INT (row_at (model, 64), 935);
  LNS_CHECK_INT (row_at (model, 999), 0);
}

static void
pages_hold_what_one_list_cannot (void)
{
  g_autoptr (LnsEventsModel) model = lns_events_model_new ();
  g_autoptr (LnsEventOrder) order = reversed (1000, 1000);
  lns_events_model_set_page_rows (model, 300);
  lns_events_model_set (model, set, order, FALSE);
  LNS_CHECK_INT (lns_events_model_n_pages (model), 4);
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)), 300);
  lns_events_model_set_page (model, 3);
  LNS_CHECK_INT (lns_events_model_get_page (model), 3);
  LNS_CHECK_INT (lns_events_model_get_first (model), 900);
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)), 100);
  LNS_CHECK_INT (row_at (model, 0), 99);
  LNS_CHECK_INT (row_at (model, 99), 0);
  lns_events_model_set_page (model, 4);
  LNS_CHECK_INT (lns_events_model_get_page (model), 3);

  /* Another order begins at its first page; what completes one stays where it is. */
  lns_events_model_set (model, set, order, TRUE);
  LNS_CHECK_INT (lns_events_model_get_page (model), 3);
  lns_events_model_set (model, set, order, FALSE);
  LNS_CHECK_INT (lns_events_model_get_page (model), 0);
}

int
main (void)
{
  static const uint32_t lanes[] = { 0 };
  report = lns_test_report_new ();
  set = lns_event_set_load (report, lanes, 1, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_TEST (a_change_empties_before_it_fills);
  LNS_TEST (the_whole_completes_a_first_page);
  LNS_TEST (pages_hold_what_one_list_cannot);
  lns_event_set_unref (set);
  lns_test_report_free (report);
  return lns_tap_done ();
}
