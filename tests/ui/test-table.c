/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The events table in its window, where it takes more than what can be seen from outside: pages, and
 * what the clipboard gets; run by harness.py.
 *
 * usage: test-table REPORT (of known-report) */

#include <glib/gstdio.h>

#include "src/base/format.h"
#include "ui/shell/application.h"
#include "ui/events/event-cell.h"
#include "ui/events/events-table-private.h"
#include "ui/model/text-cell.h"
#include "ui/shell/report-page.h"
#include "ui/shell/window.h"

#include "tests/ui/widget-test.h"

#define N_EVENTS 21308
#define PAGE     6000

static LnsEventsTable *table;

/* The row that is chosen, counted from 0 over all pages, or -1. */
static gint64
chosen (void)
{
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (table->selection));

  return gtk_bitset_get_size (selected) == 1
             ? (gint64)lns_events_model_get_first (table->model) + gtk_bitset_get_minimum (selected)
             : -1;
}

/* Whether the focus is in the table and the row of the page that is chosen can be seen. */
static gboolean
is_settled (void)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (table)));
  GtkAdjustment *adjustment = gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (table->columns));
  guint n = g_list_model_get_n_items (G_LIST_MODEL (table->model));
  double row_px = gtk_adjustment_get_upper (adjustment) / n;
  double y = (double)(chosen () - lns_events_model_get_first (table->model)) * row_px;
  double top = gtk_adjustment_get_value (adjustment);

  return table->tick == 0 && focus != NULL &&
         gtk_widget_is_ancestor (focus, GTK_WIDGET (table->columns)) && y >= top - 1 &&
         y + row_px <= top + gtk_adjustment_get_page_size (adjustment) + 1;
}

static void
end_is_the_last_event_of_all_pages (void)
{
  WAIT_FOR (lns_events_model_n_pages (table->model) == (N_EVENTS + PAGE - 1) / PAGE);
  gtk_widget_grab_focus (GTK_WIDGET (table->columns));
  press ("Down");
  WAIT_FOR (chosen () >= 0 && is_settled ());
  press ("End");
  WAIT_FOR (chosen () == N_EVENTS - 1 && is_settled ());
  LNS_CHECK_INT (lns_view_get_selected_event (table->view, NULL).ordinal,
                 lns_event_set_place (table->set, N_EVENTS - 1) -
                     table->set->first_place[lns_event_set_lane (table->set, N_EVENTS - 1)]);
  press ("Up");
  WAIT_FOR (chosen () == N_EVENTS - 2 && is_settled ());
  press ("Home");
  WAIT_FOR (chosen () == 0 && is_settled ());
  press ("Down");
  WAIT_FOR (chosen () == 1 && is_settled ());
}

static void
read_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  GError *error = NULL;

  *(char **)data = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (source), result, &error);
  LNS_CHECK (error == NULL);
}

/* Every selected row is copied, and later changes of the selection change nothing. */
static void
all_selected_rows_are_copied (void)
{
  GdkClipboard *clipboard = gtk_widget_get_clipboard (GTK_WIDGET (table));
  GtkSelectionModel *selection = GTK_SELECTION_MODEL (table->selection);
  char *text = NULL;

  gtk_selection_model_select_all (selection);
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), "events.copy", NULL));
  gtk_selection_model_select_item (selection, 3, TRUE);
  gdk_clipboard_read_text_async (clipboard, NULL, read_cb, &text);
  WAIT_FOR (text != NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n_lines = g_strv_length (lines);
  LNS_CHECK (g_str_has_prefix (lines[0], "#\tName\t"));
  LNS_CHECK (g_str_has_prefix (lines[1], "1\t"));
  /* Titles, a page of rows, nothing after the last line's end. One name of this page has a line end. */
  LNS_CHECK_STR (lines[n_lines - 1], "");
  g_autofree char *last = g_strdup_printf ("%d\t", PAGE);
  LNS_CHECK (g_str_has_prefix (lines[n_lines - 2], last));
  guint n_rows = 0;
  for (guint i = 1; i < n_lines; i++)
    {
      g_autofree char *number = g_strdup_printf ("%u\t", n_rows + 1);
      n_rows += g_str_has_prefix (lines[i], number);
    }
  LNS_CHECK_INT (n_rows, PAGE);
  g_free (text);
}

/* Whether a label or a cell at or below WIDGET can be seen and says TEXT. */
static bool
says (GtkWidget *widget, const char *text)
{
  if (!gtk_widget_get_mapped (widget))
    return false;
  const char *said = GTK_IS_LABEL (widget)       ? gtk_label_get_text (GTK_LABEL (widget))
                     : LNS_IS_TEXT_CELL (widget) ? lns_text_cell_get (LNS_TEXT_CELL (widget))
                                                 : NULL;
  if (said != NULL && strstr (said, text) != NULL)
    return true;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (says (child, text))
      return true;
  return false;
}

/* Filters by TEXT, which must leave more or fewer rows than there are. */
static void
filter_by (const char *text)
{
  const uint32_t n = lns_events_model_get_order (table->model)->n;

  gtk_editable_set_text (table->filter, text);
  WAIT_FOR (lns_events_model_get_order (table->model)->n != n && table->querying == NULL &&
            lns_place_list_is_told (LNS_PLACE_LIST (table->model)));
}

static void
count_cb (GtkSignalListItemFactory *factory, GtkListItem *item, guint *n_cells)
{
  ++*n_cells;
}

/* What the table's first row that can be seen tells in COLUMN's cell, by what GTK bound there. */
static const char *
first_text (LnsEventColumn column)
{
  GHashTableIter iter;
  gpointer item, of;

  g_hash_table_iter_init (&iter, table->event_columns->cells);
  while (g_hash_table_iter_next (&iter, &item, &of))
    if (gtk_list_item_get_position (item) == 0 && of == GUINT_TO_POINTER (column))
      return lns_text_cell_get (LNS_TEXT_CELL (gtk_list_item_get_child (item)));
  return NULL;
}

/* Every cell that GTK keeps belongs to a row of the list and tells what stands there. */
static void
check_cells (void)
{
  const guint n = g_list_model_get_n_items (G_LIST_MODEL (table->model));
  GHashTableIter iter;
  gpointer item, column;

  g_hash_table_iter_init (&iter, table->event_columns->cells);
  while (g_hash_table_iter_next (&iter, &item, &column))
    {
      LnsEventSet *set;
      uint32_t row;
      g_autoptr (LnsPlace) place =
          g_list_model_get_item (G_LIST_MODEL (table->model), gtk_list_item_get_position (item));
      LNS_CHECK (gtk_list_item_get_position (item) < n);
      LNS_CHECK (lns_events_model_get_row (place, &set, &row));
      g_autofree char *text = lns_event_cell_text (set, row, GPOINTER_TO_UINT (column));
      LNS_CHECK_STR (lns_text_cell_get (LNS_TEXT_CELL (gtk_list_item_get_child (item))), text);
    }
}

/* The focus keeps a row of widgets at the list's end, which must go when the rows become fewer. */
static void
no_cell_stays_without_a_row (void)
{
  static const char *const filters[] = { "aten::op3", "layer", "epoch" };

  gtk_widget_grab_focus (GTK_WIDGET (table->columns));
  press ("Down");
  WAIT_FOR (chosen () >= 0 && is_settled ());
  for (size_t i = 0; i < G_N_ELEMENTS (filters); i++)
    {
      press ("End");
      WAIT_FOR (chosen () == (gint64)lns_events_model_get_order (table->model)->n - 1 &&
                is_settled ());
      check_cells ();
      filter_by (filters[i]);
      check_cells ();
    }
  filter_by ("");
  check_cells ();
}

/* The column at POSITION of the table, which owns it, or NULL. */
static GtkColumnViewColumn *
column_at (guint position)
{
  g_autoptr (GtkColumnViewColumn) column =
      g_list_model_get_item (gtk_column_view_get_columns (table->columns), position);
  return column;
}

/* Other rows come to the same places, on the page of the event that is selected. GTK needs more than
 * a millisecond for each row of widgets that it makes, and has two hundred of them. */
static void
sorting_and_filtering_keep_the_cells (void)
{
  guint n_made = 0;
  LNS_CHECK (column_at (0) != NULL);
  for (guint i = 0; column_at (i) != NULL; i++)
    g_signal_connect (gtk_column_view_column_get_factory (column_at (i)), "setup",
                      G_CALLBACK (count_cb), &n_made);

  for (int i = 0; i < 2; i++)
    {
      gtk_column_view_sort_by_column (table->columns, column_at (0),
                                      i == 0 ? GTK_SORT_DESCENDING : GTK_SORT_ASCENDING);
      WAIT_FOR (table->querying == NULL && lns_place_list_is_told (LNS_PLACE_LIST (table->model)));
      LNS_CHECK_STR (first_text (LNS_EVENT_COLUMN_NUMBER), i == 0 ? "3,308" : "1");
    }
  filter_by ("e");
  LNS_CHECK (lns_events_model_get_order (table->model)->n > 400);
  filter_by ("");
  LNS_CHECK_STR (first_text (LNS_EVENT_COLUMN_NUMBER), "1");
  LNS_CHECK_INT (n_made, 0);
  for (guint i = 0; column_at (i) != NULL; i++)
    g_signal_handlers_disconnect_by_func (gtk_column_view_column_get_factory (column_at (i)),
                                          count_cb, &n_made);
}

/* What is typed is no markup. */
static void
a_filter_without_match_is_told_as_it_was_typed (void)
{
  gtk_editable_set_text (table->filter, "<b>&amp;</i>");
  WAIT_FOR (says (GTK_WIDGET (table->stack), "“<b>&amp;</i>”"));
  _lns_events_table_show_error (table, "“a<b>&.rep” was damaged");
  WAIT_FOR (says (GTK_WIDGET (table->stack), "“a<b>&.rep” was damaged"));
  gtk_editable_set_text (table->filter, "");
  WAIT_FOR (lns_events_model_get_order (table->model)->n == N_EVENTS && table->querying == NULL &&
            lns_place_list_is_told (LNS_PLACE_LIST (table->model)));
}

static void
any_rows_are_selected (void)
{
  GtkSelectionModel *selection = GTK_SELECTION_MODEL (table->selection);
  g_autoptr (GtkBitset) some = gtk_bitset_new_range (10, 5);
  g_autoptr (GtkBitset) mask = gtk_bitset_new_range (8, 1000000);
  const guint last = g_list_model_get_n_items (G_LIST_MODEL (table->model)) - 1;

  gtk_selection_model_unselect_all (selection);
  gtk_selection_model_select_range (selection, 2, 8, FALSE);
  gtk_bitset_add_range (some, last, 100);
  LNS_CHECK (gtk_selection_model_set_selection (selection, some, mask));
  g_autoptr (GtkBitset) selected = gtk_selection_model_get_selection (selection);
  g_autoptr (GtkBitset) expected = gtk_bitset_new_range (2, 6);
  gtk_bitset_add_range (expected, 10, 5);
  gtk_bitset_add (expected, last); /* there are no more */
  LNS_CHECK (gtk_bitset_equals (selected, expected));
  LNS_CHECK (gtk_selection_model_is_selected (selection, 14));
  LNS_CHECK (!gtk_selection_model_is_selected (selection, 9));

  /* Rows that go take their selection with them. */
  filter_by ("epoch 3");
  g_autoptr (GtkBitset) left = gtk_selection_model_get_selection (selection);
  LNS_CHECK (gtk_bitset_is_empty (left));
  LNS_CHECK (gtk_bitset_equals (selected, expected));
  filter_by ("");
}

/* The number of rows that are shown. */
static uint32_t
n_shown (void)
{
  return lns_events_model_get_order (table->model)->n;
}

static void
conditions_filter (void)
{
  const uint32_t n_all = N_EVENTS;
  uint32_t n = 0;

  WAIT_FOR (n_shown () == n_all);
  filter_by ("duration > 1ms and name ~ ^EPOCH");
  for (uint32_t row = 0; row < table->set->n; row++)
    {
      g_autofree char *name = lns_event_cell_text (table->set, row, LNS_EVENT_COLUMN_NAME);
      n += lns_event_set_duration (table->set, row) > 1000000 && g_str_has_prefix (name, "epoch");
    }
  LNS_CHECK (n > 0);
  LNS_CHECK_INT (n_shown (), n);

  /* What is wrong is told above the rows, which stay there. */
  gtk_editable_set_text (table->filter, "duration > 5");
  WAIT_FOR (says (GTK_WIDGET (table->wrong), "“5” is not a time"));
  LNS_CHECK (gtk_widget_has_css_class (GTK_WIDGET (table->filter), "error"));
  LNS_CHECK_STR (gtk_stack_get_visible_child_name (table->stack), "table");
  gtk_editable_set_text (table->filter, "duration > 1000s");
  WAIT_FOR (says (GTK_WIDGET (table->stack), "No event meets the condition “duration > 1000s”."));
  LNS_CHECK (!gtk_widget_has_css_class (GTK_WIDGET (table->filter), "error"));

  gtk_toggle_button_set_active (table->regex, TRUE);
  gtk_editable_set_text (table->filter, "^epoch [0-4]$");
  WAIT_FOR (n_shown () == 5);
  gtk_toggle_button_set_active (table->regex, FALSE);
  gtk_editable_set_text (table->filter, "");
  WAIT_FOR (n_shown () == n_all && table->querying == NULL);
}

static void
selected_rows_are_summed_up (void)
{
  GtkSelectionModel *selection = GTK_SELECTION_MODEL (table->selection);
  char sum[LNS_FORMAT_SIZE], n[LNS_FORMAT_SIZE];
  int64_t sum_ns = 0;

  gtk_selection_model_unselect_all (selection);
  g_autofree char *all = g_strdup_printf ("%s events", lns_format_unsigned (n_shown (), n));
  WAIT_FOR (says (table->footer, all));
  gtk_selection_model_select_range (selection, 0, 3, TRUE);
  for (guint i = 0; i < 3; i++)
    sum_ns += lns_event_set_duration (
        table->set, lns_event_order_row (lns_events_model_get_order (table->model), i));
  g_autofree char *some =
      g_strdup_printf ("3 selected: sum %s · mean ", lns_format_duration (sum_ns, sum));
  WAIT_FOR (says (table->footer, some));
  gtk_selection_model_unselect_all (selection);
  WAIT_FOR (says (table->footer, all));
}

/* The events of a name are shown as they are asked for, and the filter says so. */
static void
names_are_summed_up (void)
{
  const uint32_t n_all = n_shown ();

  filter_by ("duration >= 0 and name ~ epoch");
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), "events.group", NULL));
  LNS_CHECK_STR (gtk_stack_get_visible_child_name (table->stack), "groups");
  WAIT_FOR (says (GTK_WIDGET (table->groups), "epoch 3"));
  LNS_CHECK (!says (GTK_WIDGET (table->groups), "aten::op3"));
  uint32_t label = 0;
  for (uint32_t row = 0; row < table->set->n; row++)
    {
      g_autofree char *name = lns_event_cell_text (table->set, row, LNS_EVENT_COLUMN_NAME);
      if (strcmp (name, "epoch 3") == 0)
        label = lns_event_set_label (table->set, row);
    }
  g_signal_emit_by_name (table->groups, "name-chosen", label);
  LNS_CHECK_STR (gtk_editable_get_text (table->filter),
                 "(duration >= 0 and name ~ epoch) and name = \"epoch 3\"");
  WAIT_FOR (n_shown () == 1 && table->querying == NULL);
  LNS_CHECK_STR (gtk_stack_get_visible_child_name (table->stack), "table");
  gtk_editable_set_text (table->filter, "");
  WAIT_FOR (n_shown () == n_all && table->querying == NULL);
}

static void
columns_are_chosen (void)
{
  LnsEventColumnList columns;
  g_autofree char *action = g_strdup_printf ("column.show-%d", LNS_EVENT_COLUMN_START);

  lns_events_columns_list (table->event_columns, &columns);
  const unsigned n = columns.n;
  LNS_CHECK_INT (columns.of[0], LNS_EVENT_COLUMN_NUMBER);
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), action, NULL));
  lns_events_columns_list (table->event_columns, &columns);
  LNS_CHECK_INT (columns.n, n - 1);
  for (unsigned i = 0; i < columns.n; i++)
    LNS_CHECK (columns.of[i] != LNS_EVENT_COLUMN_START);

  /* As a drag does; the one that is hidden comes back where it was. */
  g_autoptr (GtkColumnViewColumn) first = g_object_ref (column_at (0));
  gtk_column_view_insert_column (table->columns, 1, first);
  lns_events_columns_list (table->event_columns, &columns);
  LNS_CHECK_INT (columns.of[0], LNS_EVENT_COLUMN_NAME);
  LNS_CHECK_INT (columns.of[1], LNS_EVENT_COLUMN_NUMBER);
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), action, NULL));
  lns_events_columns_list (table->event_columns, &columns);
  LNS_CHECK_INT (columns.n, n);
  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *title = NULL;
      g_object_get (column_at (i), "title", &title, NULL);
      LNS_CHECK_STR (title, lns_event_column_info (columns.of[i])->title);
    }

  /* The one that the rows are sorted by moves by keys, too. */
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), "events.move-column-left", NULL));
  lns_events_columns_list (table->event_columns, &columns);
  LNS_CHECK_INT (columns.of[0], LNS_EVENT_COLUMN_NUMBER);
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), "events.move-column-left", NULL));
  lns_events_columns_list (table->event_columns, &columns);
  LNS_CHECK_INT (columns.of[0], LNS_EVENT_COLUMN_NUMBER);

  /* Another table has the columns so. */
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), "events.move-column-right", NULL));
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), action, NULL));
  GtkColumnView *view = GTK_COLUMN_VIEW (g_object_ref_sink (gtk_column_view_new (NULL)));
  LnsEventsColumns *other =
      lns_events_columns_new (view, table->event_columns->settings, NULL, NULL);
  lns_events_columns_show_used (other, table->set);
  LnsEventColumnList others;
  lns_events_columns_list (table->event_columns, &columns);
  lns_events_columns_list (other, &others);
  LNS_CHECK_INT (others.n, columns.n);
  LNS_CHECK (memcmp (others.of, columns.of, columns.n * sizeof *columns.of) == 0);
  lns_events_columns_free (other);
  g_object_unref (view);
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (table), action, NULL));
  gtk_column_view_insert_column (table->columns, 0, first);
}

static void
rows_are_saved (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lns-test-save-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "rows.csv", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  LnsEventColumnList columns;
  g_autofree char *text = NULL;

  lns_events_columns_list (table->event_columns, &columns);
  LnsEventOrder *order = lns_events_model_get_order (table->model);
  lns_events_save_start (table->save, file, lns_event_rows_new (table->set, order, 0, NULL),
                         &columns);
  WAIT_FOR (says (GTK_WIDGET (table->save), "rows saved in"));
  LNS_CHECK (g_file_get_contents (path, &text, NULL, NULL));
  LNS_CHECK (g_str_has_prefix (text, "#,Name,"));
  g_autofree char *last = g_strdup_printf ("\n%d,", N_EVENTS);
  LNS_CHECK (strstr (text, last) != NULL && g_str_has_suffix (text, "\n"));

  /* What fails is told, and leaves nothing behind. */
  g_autofree char *nowhere = g_build_filename (folder, "none", "rows.csv", NULL);
  g_autoptr (GFile) missing = g_file_new_for_path (nowhere);
  lns_events_save_start (table->save, missing, lns_event_rows_new (table->set, order, 0, NULL),
                         &columns);
  WAIT_FOR (says (GTK_WIDGET (table->save), "could not be saved"));
  g_unlink (path);
  LNS_CHECK_INT (g_rmdir (folder), 0);
}

/* Without what begins where the time ends, or ends where it begins. */
static gboolean
touches (const LnsEventSet *set, uint32_t row, int64_t from_ns, int64_t to_ns)
{
  const int64_t start_ns = lns_event_set_start (set, row);

  return start_ns < to_ns &&
         (start_ns >= from_ns || start_ns + lns_event_set_duration (set, row) > from_ns);
}

/* The events that touch the selected time, as a look at every event says; none of them is told as damaged. */
static void
the_selected_time_restricts_the_events (void)
{
  static const int64_t spans[][2] = { { 2000000000, 4000000000 }, { 2000000000, 2000000000 } };
  g_autoptr (LnsEventSet) all = lns_event_set_ref (table->set);
  LNS_CHECK_INT (all->n, N_EVENTS);

  for (size_t i = 0; i < G_N_ELEMENTS (spans); i++)
    {
      uint32_t n = 0;
      lns_view_set_time_selection (table->view, spans[i][0], spans[i][1]);
      if (!lns_view_get_time_selection (table->view, NULL, NULL))
        continue;
      for (uint32_t row = 0; row < all->n; row++)
        n += touches (all, row, spans[i][0], spans[i][1]);
      LNS_CHECK (n > 0 && n < all->n / 2);
      lns_events_table_show_lanes (table, "some", all->lanes, all->n_lanes, NULL, 0);
      WAIT_FOR (table->set != NULL && table->querying == NULL);
      LNS_CHECK_INT (table->set->n, n);
      LNS_CHECK_INT (table->set->n_damaged, 0);
    }
  lns_view_clear_time_selection (table->view);
  WAIT_FOR (table->set != NULL && table->set->n == N_EVENTS && table->querying == NULL);
}

static uint32_t
n_touching (const LnsEventSet *set, int64_t from_ns, int64_t to_ns)
{
  uint32_t n = 0;

  for (uint32_t row = 0; row < set->n; row++)
    n += touches (set, row, from_ns, to_ns);
  return n;
}

/* The events change with the selected time, and with the view if that is wanted; the filter stays. */
static void
the_events_follow_the_time (void)
{
  g_autoptr (LnsEventSet) all = lns_event_set_ref (table->set);
  int64_t from_ns, to_ns;

  gtk_editable_set_text (table->filter, "name ~ .");
  lns_view_set_time_selection (table->view, 2000000000, 4000000000);
  lns_view_get_time_selection (table->view, &from_ns, &to_ns);
  WAIT_FOR (table->set != NULL && table->set->n == n_touching (all, from_ns, to_ns) &&
            table->querying == NULL);
  LNS_CHECK_STR (gtk_editable_get_text (table->filter), "name ~ .");
  lns_view_clear_time_selection (table->view);
  WAIT_FOR (table->set != NULL && table->set->n == N_EVENTS && table->querying == NULL);

  lns_view_show_span (table->view, 2000000000, 2500000000);
  lns_scope_set_is_of_view (table->scope, TRUE);
  WAIT_FOR (table->set != NULL && table->set->n < N_EVENTS && table->querying == NULL);
  LNS_CHECK_INT (table->set->n, n_touching (table->set, lns_view_get_start_ns (table->view),
                                            lns_view_get_end_ns (table->view)));
  /* Choosing an event does not move the view, which would change the events. */
  const int64_t start_ns = lns_view_get_start_ns (table->view);
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (table->selection), 0, TRUE);
  WAIT_FOR (lns_view_get_selected_event (table->view, NULL).lane != LNS_ID_NONE);
  LNS_CHECK_INT (lns_view_get_start_ns (table->view), start_ns);
  lns_view_fit (table->view);
  WAIT_FOR (table->set != NULL && table->set->n == N_EVENTS && table->querying == NULL);
  lns_scope_set_is_of_view (table->scope, FALSE);
  gtk_editable_set_text (table->filter, "");
}

int
main (int argc, char **argv)
{
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  LnsApplication *application = lns_application_new ();
  g_autoptr (GFile) file = g_file_new_for_path (argv[argc - 1]);

  g_application_set_flags (G_APPLICATION (application),
                           g_application_get_flags (G_APPLICATION (application)) |
                               G_APPLICATION_NON_UNIQUE);
  if (!g_application_register (G_APPLICATION (application), NULL, NULL))
    return 1;
  g_application_open (G_APPLICATION (application), &file, 1, "");
  GtkWidget *window =
      GTK_WIDGET (gtk_application_get_active_window (GTK_APPLICATION (application)));
  WAIT_FOR (find_widget (window, LNS_TYPE_REPORT_PAGE) != NULL);
  WAIT_FOR (gtk_window_is_active (GTK_WINDOW (window)));
  g_action_group_change_action_state (G_ACTION_GROUP (window), "show-events",
                                      g_variant_new_boolean (TRUE));
  table = LNS_EVENTS_TABLE (find_widget (window, LNS_TYPE_EVENTS_TABLE));
  WAIT_FOR (gtk_widget_get_mapped (GTK_WIDGET (table)));

  uint32_t n_lanes;
  lns_report_lanes (lns_view_get_report (table->view), &n_lanes);
  g_autofree uint32_t *lanes = g_new (uint32_t, n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    lanes[i] = i;
  lns_events_model_set_page_rows (table->model, PAGE);
  lns_events_table_show_lanes (table, "everything", lanes, n_lanes, NULL, 0);
  LNS_TEST (end_is_the_last_event_of_all_pages);
  LNS_TEST (all_selected_rows_are_copied);
  LNS_TEST (sorting_and_filtering_keep_the_cells);
  LNS_TEST (no_cell_stays_without_a_row);
  LNS_TEST (a_filter_without_match_is_told_as_it_was_typed);
  LNS_TEST (any_rows_are_selected);
  LNS_TEST (conditions_filter);
  LNS_TEST (selected_rows_are_summed_up);
  LNS_TEST (names_are_summed_up);
  LNS_TEST (columns_are_chosen);
  LNS_TEST (rows_are_saved);
  LNS_TEST (the_selected_time_restricts_the_events);
  LNS_TEST (the_events_follow_the_time);
  return lns_tap_done ();
}
