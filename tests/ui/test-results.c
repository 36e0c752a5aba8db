/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The table of a result of the analysis, in a window of its own; run by harness.py with the path of a report. */

#include <adwaita.h>
#include <math.h>

#include "ui/model/column-view.h"
#include "ui/model/text-cell.h"
#include "ui/model/text-size.h"
#include "ui/table/result-view.h"

#include "tests/ui/widget-test.h"

static LnsView *report_view;

/* Whether a cell at or below WIDGET can be seen and says TEXT. */
static bool
says (GtkWidget *widget, const char *text)
{
  if (!gtk_widget_get_mapped (widget))
    return false;
  if (LNS_IS_TEXT_CELL (widget))
    {
      const char *said = lns_text_cell_get (LNS_TEXT_CELL (widget));
      return said != NULL && strstr (said, text) != NULL;
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (says (child, text))
      return true;
  return false;
}

/* A result of N rows, "A 0" to "A N-1" beside their numbers from N down. */
static LnsResult *
result_of (char a, unsigned n)
{
  const LnsResultColumn columns[] = { { "Number", LNS_RESULT_COUNT, 0 },
                                      { "Name", LNS_RESULT_TEXT, 0 } };
  LnsResult *result = lns_result_new (columns, 2, SIZE_MAX);

  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%c %u", a, i);
      const LnsResultCell cells[] = { { .number = n - i },
                                      { .bytes = name, .size_bytes = strlen (name) } };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

static guint
n_listed (GtkWidget *results)
{
  GtkColumnView *view = GTK_COLUMN_VIEW (find_widget (results, GTK_TYPE_COLUMN_VIEW));
  return g_list_model_get_n_items (G_LIST_MODEL (gtk_column_view_get_model (view)));
}

/* A table does not make all its rows in one frame, and makes no others for a result with the columns of the one before. */
static void
results_fill_the_rows_that_are_there (void)
{
  GtkWidget *results = lns_result_view_new (report_view, "results"), *window = gtk_window_new ();
  LnsResultView *view = LNS_RESULT_VIEW (results);

  gtk_window_set_default_size (GTK_WINDOW (window), 500, 400);
  gtk_window_set_child (GTK_WINDOW (window), results);
  gtk_window_present (GTK_WINDOW (window));
  lns_result_view_set (view, result_of ('a', 1000));
  LNS_CHECK (n_listed (results) < 100);
  WAIT_FOR (n_listed (results) == 1000 && says (results, "a 3"));
  GtkWidget *cell = find_widget (results, LNS_TYPE_TEXT_CELL);
  GtkColumnView *columns = GTK_COLUMN_VIEW (find_widget (results, GTK_TYPE_COLUMN_VIEW));
  lns_column_view_sort_next (columns);
  lns_column_view_sort_next (columns); /* by number: from the last row of the result on */
  LNS_CHECK (says (results, "a 999") && !says (results, "a 3"));
  LNS_CHECK (find_widget (results, LNS_TYPE_TEXT_CELL) == cell);

  /* It does not free them in one frame, either; those that are no more say nothing, and lead nowhere. */
  lns_result_view_set (view, result_of ('b', 4));
  LNS_CHECK (n_listed (results) > 100);
  LNS_CHECK (says (results, "b 3") && !says (results, "a "));
  g_signal_emit_by_name (columns, "activate", 4);
  WAIT_FOR (n_listed (results) == 4);
  LNS_CHECK (says (results, "b 3") && !says (results, "a "));
  LNS_CHECK (find_widget (results, LNS_TYPE_TEXT_CELL) == cell);
  LNS_CHECK_STR (lns_text_cell_get (LNS_TEXT_CELL (cell)), "b 3");
  lns_result_view_go_to (view, 0); /* which stands last */
  LNS_CHECK_INT (gtk_single_selection_get_selected (
                     GTK_SINGLE_SELECTION (gtk_column_view_get_model (columns))),
                 3);

  /* Nor does it make any while nobody sees them. */
  gtk_widget_set_visible (results, FALSE);
  lns_result_view_set (view, result_of ('c', 300));
  while (g_main_context_iteration (NULL, FALSE))
    ;
  LNS_CHECK_INT (n_listed (results), 4);
  gtk_widget_set_visible (results, TRUE);
  WAIT_FOR (n_listed (results) == 300);
  LNS_CHECK (says (results, "c 299"));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* The fixed width of column number I of RESULTS. */
static int
column_px (GtkWidget *results, guint i)
{
  GtkColumnView *view = GTK_COLUMN_VIEW (find_widget (results, GTK_TYPE_COLUMN_VIEW));
  g_autoptr (GtkColumnViewColumn) column =
      g_list_model_get_item (gtk_column_view_get_columns (view), i);
  return gtk_column_view_column_get_fixed_width (column);
}

/* A result of one row with NUMBER, below TITLE. */
static LnsResult *
number_result (const char *title, int64_t number)
{
  const LnsResultColumn column = { title, LNS_RESULT_COUNT, 0 };
  const LnsResultCell cell = { .number = number };
  LnsResult *result = lns_result_new (&column, 1, SIZE_MAX);

  lns_rows_add (lns_result_rows (result), &cell, NULL);
  return result;
}

/* Titles and numbers are not cut, whatever the size of text is, and a further result with larger numbers widens its columns. */
static void
columns_of_numbers_are_as_wide_as_they_must (void)
{
  static const char title[] = "Python Samples of a Thread";
  GtkWidget *results = lns_result_view_new (report_view, "results"), *window = gtk_window_new ();
  LnsResultView *view = LNS_RESULT_VIEW (results);
  g_autoptr (PangoLayout) text = gtk_widget_create_pango_layout (results, title);
  int title_px;

  g_object_ref_sink (results);
  gtk_window_set_child (GTK_WINDOW (window), results);
  pango_layout_get_pixel_size (text, &title_px, NULL);
  lns_result_view_set (view, number_result (title, 1));
  LNS_CHECK (column_px (results, 0) > title_px);
  lns_result_view_set (view, number_result ("n", 1));
  const int narrow_px = column_px (results, 0);
  LNS_CHECK (narrow_px > 0 && narrow_px < title_px);
  lns_result_view_set (view, number_result ("n", INT64_MAX));
  LNS_CHECK (column_px (results, 0) > narrow_px);

  GtkColumnView *table = GTK_COLUMN_VIEW (find_widget (results, GTK_TYPE_COLUMN_VIEW));
  g_object_set (gtk_settings_get_default (), "gtk-font-name", "Sans 22", NULL);
  LNS_CHECK (lns_text_scaled_px (GTK_WIDGET (table), 100) >= 199);
  gtk_settings_reset_property (gtk_settings_get_default (), "gtk-font-name");
  gtk_window_destroy (GTK_WINDOW (window));
  g_object_unref (results);
}

/* The widget of TYPE at or below WIDGET that says TEXT, or NULL. */
static GtkWidget *
find_text (GtkWidget *widget, GType type, const char *text)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    {
      const char *said = GTK_IS_LABEL (widget) ? gtk_label_get_text (GTK_LABEL (widget))
                                               : lns_text_cell_get (LNS_TEXT_CELL (widget));
      return said != NULL && strcmp (said, text) == 0 ? widget : NULL;
    }
  GtkWidget *found = NULL;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_text (child, type, text);
  return found;
}

/* Where the text of LABEL ends at the right, in IN. */
static double
right_of_text (GtkWidget *label, GtkWidget *in)
{
  graphene_point_t point;
  int x_px, width_px;

  gtk_label_get_layout_offsets (GTK_LABEL (label), &x_px, NULL);
  pango_layout_get_pixel_size (gtk_label_get_layout (GTK_LABEL (label)), &width_px, NULL);
  LNS_CHECK (gtk_widget_compute_point (label, in,
                                       &GRAPHENE_POINT_INIT ((float)(x_px + width_px), 0), &point));
  return point.x;
}

/* Where the window goes from right to left, "37.5 %" is no "% 37.5", and stands below the end of its title. */
static void
numbers_go_from_left_to_right (void)
{
  const LnsResultColumn columns[] = { { "Part", LNS_RESULT_TEXT, 0 },
                                      { "Share", LNS_RESULT_SHARE, 1 },
                                      { "n", LNS_RESULT_NUMBER, 1 } };
  const LnsResultCell cells[] = { { .bytes = "a", .size_bytes = 1 },
                                  { .number = 375 },
                                  { .number = 21 } };
  static const char *const texts[][2] = { { "Share", "37.5 %" }, { "n", "2.1" } };

  gtk_widget_set_default_direction (GTK_TEXT_DIR_RTL);
  GtkWidget *results = lns_result_view_new (report_view, "results"), *window = gtk_window_new ();
  LnsResult *result = lns_result_new (columns, 3, SIZE_MAX);
  lns_rows_add (lns_result_rows (result), cells, NULL);
  gtk_window_set_default_size (GTK_WINDOW (window), 600, 300);
  gtk_window_set_child (GTK_WINDOW (window), results);
  gtk_window_present (GTK_WINDOW (window));
  lns_result_view_set (LNS_RESULT_VIEW (results), result);
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      WAIT_FOR (find_text (results, LNS_TYPE_TEXT_CELL, texts[i][1]) != NULL &&
                gtk_widget_get_width (find_text (results, LNS_TYPE_TEXT_CELL, texts[i][1])) > 0);
      GtkWidget *cell = find_text (results, LNS_TYPE_TEXT_CELL, texts[i][1]),
                *title = find_text (results, GTK_TYPE_LABEL, texts[i][0]);
      g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (cell, texts[i][1]);
      graphene_point_t right;
      PangoRectangle first, last;

      pango_layout_index_to_pos (layout, 0, &first);
      pango_layout_index_to_pos (layout, (int)strlen (texts[i][1]) - 1, &last);
      LNS_CHECK (first.x < last.x);
      LNS_CHECK (lns_text_cell_is_at_right (LNS_TEXT_CELL (cell)));
      LNS_CHECK (gtk_widget_compute_point (
          cell, results, &GRAPHENE_POINT_INIT ((float)gtk_widget_get_width (cell), 0), &right));
      LNS_CHECK (fabs (right_of_text (title, results) - (double)right.x) <= 2);
    }
  gtk_window_destroy (GTK_WINDOW (window));
  gtk_widget_set_default_direction (GTK_TEXT_DIR_LTR);
}

int
main (int argc, char **argv)
{
  LnsError error = { 0 };

  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  LnsReport *report = lns_report_open (argv[argc - 1], NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  report_view = lns_view_new (report);
  LNS_TEST (results_fill_the_rows_that_are_there);
  LNS_TEST (columns_of_numbers_are_as_wide_as_they_must);
  LNS_TEST (numbers_go_from_left_to_right);
  g_object_unref (report_view);
  return lns_tap_done ();
}
