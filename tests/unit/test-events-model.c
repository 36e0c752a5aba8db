/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the list model of the events table: its items, and the changes that it announces to GTK. */

#include "tests/tap.h"
#include "tests/unit/event-fixture.h"
#include "ui/events/events-model.h"

static LnsReport *report;
static LnsEventSet *set;

/* What GTK makes widgets of, and how many of them it makes or ends at a time without being seen to
 * halt: it keeps those of about 200 items, at the list's beginning after it was filled. */
#define WIDGETS 200
#define AT_ONCE 16

typedef struct
{
  guint n;        /* items that the list was told of */
  guint at_once;  /* of the first WIDGETS, the most that came or went in one turn */
  bool only_ends; /* nothing came or went but at the end */
  int n_changes;
  int n_completed; /* of "rows-changed" */
  int n_others;
} Told;

static void
changed_cb (GListModel *model, guint position, guint removed, guint added, Told *told)
{
  guint n = told->n - removed + added;

  told->only_ends = told->only_ends && (removed == 0 || added == 0) &&
                    position + removed == told->n && n == g_list_model_get_n_items (model);
  guint low = MIN (MIN (n, told->n), WIDGETS), high = MIN (MAX (n, told->n), WIDGETS);
  told->at_once = MAX (told->at_once, high - low);
  told->n = n;
  told->n_changes++;
}

static void
rows_changed_cb (LnsEventsModel *model, gboolean completes, Told *told)
{
  *(completes ? &told->n_completed : &told->n_others) += 1;
}

static LnsEventsModel *
model_new (Told *told)
{
  LnsEventsModel *model = lns_events_model_new ();

  *told = (Told){ .only_ends = true };
  g_signal_connect (model, "items-changed", G_CALLBACK (changed_cb), told);
  g_signal_connect (model, "rows-changed", G_CALLBACK (rows_changed_cb), told);
  return model;
}

/* Runs the main loop until MODEL has told of all. */
static void
tell_all (LnsEventsModel *model)
{
  while (!lns_place_list_is_told (LNS_PLACE_LIST (model)))
    g_main_context_iteration (NULL, TRUE);
  LNS_CHECK (!g_main_context_pending (NULL));
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)),
                 lns_place_list_get_n (LNS_PLACE_LIST (model)));
}

static int64_t
row_at (LnsEventsModel *model, guint index)
{
  g_autoptr (LnsPlace) item = g_list_model_get_item (G_LIST_MODEL (model), index);
  LnsEventSet *of;
  uint32_t row;
  if (item == NULL)
    return -2;
  return lns_events_model_get_row (item, &of, &row) ? (int64_t)row : -1;
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

/* Items that stay keep their widgets; the others come and go in turns that GTK is quick with. */
static void
a_change_keeps_the_items_that_it_can (void)
{
  Told told;
  g_autoptr (LnsEventsModel) model = model_new (&told);
  g_autoptr (LnsEventOrder) all = lns_event_order_new_identity (set->n);
  g_autoptr (LnsEventOrder) other = reversed (set->n, set->n);
  g_autoptr (LnsEventOrder) some = reversed (100, 100);
  LNS_CHECK (set->n > 2 * WIDGETS);
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)), 0);
  LNS_CHECK_INT (lns_events_model_n_pages (model), 1);

  lns_events_model_set (model, set, all, FALSE);
  LNS_CHECK (told.n > 0 && told.n <= AT_ONCE);
  tell_all (model);
  LNS_CHECK_INT (told.n, set->n);
  LNS_CHECK_INT (row_at (model, 17), 17);
  LNS_CHECK_INT (row_at (model, set->n), -2);

  /* As many rows in another order: the same items. */
  g_autoptr (LnsPlace) item = g_list_model_get_item (G_LIST_MODEL (model), 500);
  LnsEventSet *of;
  uint32_t row;
  const int n_changes = told.n_changes;
  lns_events_model_set (model, set, other, FALSE);
  LNS_CHECK (lns_place_list_is_told (LNS_PLACE_LIST (model)));
  LNS_CHECK (lns_events_model_get_row (item, &of, &row) && of == set && row == set->n - 1 - 500);
  LNS_CHECK_INT (told.n_changes, n_changes);

  /* Fewer: what has no row any more says so at once, and goes. */
  lns_events_model_set (model, set, some, FALSE);
  LNS_CHECK (!lns_events_model_get_row (item, &of, &row));
  LNS_CHECK_INT (row_at (model, 0), 99);
  LNS_CHECK_INT (row_at (model, 100), -1);
  tell_all (model);
  LNS_CHECK_INT (row_at (model, 99), 0);
  LNS_CHECK_INT (row_at (model, 100), -2);

  /* On the way to no row, to all. */
  lns_events_model_set (model, NULL, NULL, FALSE);
  LNS_CHECK (told.n > 0);
  LNS_CHECK_INT (row_at (model, 0), -1);
  lns_events_model_set (model, set, all, FALSE);
  tell_all (model);
  lns_events_model_set (model, NULL, NULL, FALSE);
  tell_all (model);
  LNS_CHECK_INT (told.n, 0);
  LNS_CHECK_INT (told.n_others, 6);
  LNS_CHECK (told.only_ends);
  LNS_CHECK (told.at_once <= AT_ONCE);
}

static void
the_whole_completes_a_first_page (void)
{
  Told told;
  g_autoptr (LnsEventsModel) model = model_new (&told);
  g_autoptr (LnsEventOrder) first = reversed (1000, 64);
  g_autoptr (LnsEventOrder) whole = reversed (1000, 1000);
  lns_events_model_set (model, set, first, FALSE);
  tell_all (model);
  LNS_CHECK_INT (told.n, 1000);
  LNS_CHECK_INT (row_at (model, 63), 936);
  LNS_CHECK_INT (row_at (model, 64), -1);

  lns_events_model_set (model, set, whole, TRUE);
  LNS_CHECK (lns_place_list_is_told (LNS_PLACE_LIST (model)));
  LNS_CHECK_INT (told.n, 1000);
  LNS_CHECK_INT (told.n_completed, 1);
  LNS_CHECK_INT (told.n_others, 1);
  LNS_CHECK_INT (row_at (model, 64), 935);
  LNS_CHECK_INT (row_at (model, 999), 0);
}

/* A model that goes while it tells tells nothing more. */
static void
a_model_ends_between_steps (void)
{
  Told told;
  LnsEventsModel *model = model_new (&told);
  g_autoptr (LnsEventOrder) all = lns_event_order_new_identity (set->n);

  lns_events_model_set (model, set, all, FALSE);
  LNS_CHECK (!lns_place_list_is_told (LNS_PLACE_LIST (model)));
  g_object_unref (model);
  LNS_CHECK (!g_main_context_pending (NULL));
}

static void
pages_hold_what_one_list_cannot (void)
{
  g_autoptr (LnsEventsModel) model = lns_events_model_new ();
  g_autoptr (LnsEventOrder) order = reversed (1000, 1000);
  lns_events_model_set_page_rows (model, 300);
  lns_events_model_set (model, set, order, FALSE);
  tell_all (model);
  LNS_CHECK_INT (lns_events_model_n_pages (model), 4);
  LNS_CHECK_INT (g_list_model_get_n_items (G_LIST_MODEL (model)), 300);
  LNS_CHECK_INT (lns_events_model_page_of (model, 899), 2);
  LNS_CHECK_INT (lns_events_model_page_of (model, 900), 3);
  lns_events_model_set_page (model, 3);
  tell_all (model);
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

/* GTK lays rows out when they are seen, however many were made before. */
static void
rows_wait_until_they_are_seen (void)
{
  Told told;
  g_autoptr (LnsEventsModel) model = model_new (&told);
  g_autoptr (LnsEventOrder) all = lns_event_order_new_identity (set->n);
  LnsPlaceList *list = LNS_PLACE_LIST (model);

  lns_place_list_set_seen (list, FALSE);
  lns_events_model_set (model, set, all, FALSE);
  lns_events_model_set (model, set, all, FALSE);
  LNS_CHECK (told.n > 0 && told.n <= AT_ONCE);
  LNS_CHECK (!g_main_context_pending (NULL));
  lns_place_list_set_seen (list, TRUE);
  g_main_context_iteration (NULL, TRUE);
  lns_place_list_set_seen (list, FALSE);
  LNS_CHECK (told.n <= 2 * AT_ONCE);
  LNS_CHECK (!g_main_context_pending (NULL));
  lns_place_list_set_seen (list, TRUE);
  tell_all (model);
  LNS_CHECK_INT (told.n, set->n);
  LNS_CHECK (told.at_once <= AT_ONCE);
}

int
main (void)
{
  static const uint32_t lanes[] = { 0 };
  report = lns_test_report_new ();
  set = lns_event_set_load (report, lanes, 1, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_TEST (a_change_keeps_the_items_that_it_can);
  LNS_TEST (the_whole_completes_a_first_page);
  LNS_TEST (a_model_ends_between_steps);
  LNS_TEST (pages_hold_what_one_list_cannot);
  LNS_TEST (rows_wait_until_they_are_seen);
  lns_event_set_unref (set);
  lns_test_report_free (report);
  return lns_tap_done ();
}
