/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions pane in a window, over samples whose chains are known, and over GPU time whose ranges are; run by harness.py.
 *
 * usage: test-functions SAMPLES GPU CUDA (of known-report and known-cuda) */

#include "src/analysis/facts/sampled-function.h"
#include "ui/functions/flame-graph.h"
#include "ui/functions/function-table.h"
#include "ui/functions/functions-pane.h"
#include "ui/model/event-text.h"
#include "ui/model/text-cell.h"

#include "tests/ui/widget-test.h"

#define SECOND INT64_C (1000000000)
#define ROW_PX 20 /* of a flame graph */

static LnsView *view;
static GSettings *settings;
static GtkWidget *pane;
static LnsFunctionTable *table;
static LnsFlameGraph *flame;
static LnsFunctionsSource source; /* what it counts */
static char **report_paths;

/* The text of the label of the pane that starts with BEGINNING, or NULL. */
static const char *
label_with (GtkWidget *widget, const char *beginning)
{
  if (!gtk_widget_get_child_visible (widget) || !gtk_widget_get_visible (widget))
    return NULL;
  if (GTK_IS_LABEL (widget) &&
      g_str_has_prefix (gtk_label_get_text (GTK_LABEL (widget)), beginning))
    return gtk_label_get_text (GTK_LABEL (widget));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      const char *text = label_with (child, beginning);
      if (text != NULL)
        return text;
    }
  return NULL;
}

/* All texts of the cells of WIDGET's cells, a space between two. */
static void
append_cells (GtkWidget *widget, GString *text)
{
  if (LNS_IS_TEXT_CELL (widget))
    {
      const char *own = lns_text_cell_get (LNS_TEXT_CELL (widget));
      g_string_append_printf (text, "%s%s", text->len > 0 && *own != '\0' ? " " : "", own);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    append_cells (child, text);
}

/* The name, total, self and samples of row I as its cells show them, indented by its depth: "  solve 40.0 % 0.0 % …"; NULL
 * if there is none. Free with g_free (). */
static char *
row_text (guint i)
{
  GtkWidget *list = find_widget (GTK_WIDGET (table), GTK_TYPE_LIST_VIEW);
  const LnsFunctionRow *row = lns_function_rows_get (lns_function_table_get_rows (table), i);
  GtkWidget *widget = gtk_widget_get_first_child (list);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint k = 0; k < i && widget != NULL; k++)
    widget = gtk_widget_get_next_sibling (widget);
  if (row == NULL || widget == NULL)
    return NULL;
  append_cells (widget, text);
  return g_strdup_printf ("%*s%s", 2 * (int)row->depth, "", text->str);
}

/* The rows, a line each. Free with g_free (). */
static char *
rows_text (void)
{
  g_autoptr (GString) all = g_string_new (NULL);
  char *row;

  for (guint i = 0; (row = row_text (i)) != NULL; i++)
    {
      g_string_append_printf (all, "%s\n", row);
      g_free (row);
    }
  return g_string_free (g_steal_pointer (&all), FALSE);
}

static gboolean
rows_are (const char *wanted)
{
  g_autofree char *rows = rows_text ();

  return g_str_equal (rows, wanted);
}

/* Waits for the rows of the table to become WANTED. */
#define WAIT_FOR_ROWS(wanted)                                                                      \
 do                                                                                                \
  {                                                                                                \
   gint64 end_us = g_get_monotonic_time () + (gint64)(30 * lns_tap_patience () * G_USEC_PER_SEC);  \
   while (!rows_are (wanted) && g_get_monotonic_time () < end_us)                                  \
    g_main_context_iteration (NULL, FALSE);                                                        \
   g_autofree char *shown = rows_text ();                                                          \
   LNS_CHECK_STR (shown, wanted);                                                                  \
  }                                                                                                \
 while (0)

static void
show (const char *how)
{
  g_settings_set_string (settings, "functions-view", how);
}

/* The filter of the pane; a drop-down has an entry of its own. */
static GtkWidget *
find_filter (GtkWidget *widget)
{
  GtkWidget *found = GTK_IS_SEARCH_ENTRY (widget) ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget);
       child != NULL && found == NULL && !GTK_IS_DROP_DOWN (widget);
       child = gtk_widget_get_next_sibling (child))
    found = find_filter (child);
  return found;
}

static void
set_filter (const char *text)
{
  gtk_editable_set_text (GTK_EDITABLE (find_filter (pane)), text);
}

static void
a_flat_table_counts_each_function_once (void)
{
  show ("flat");
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 66.7 % 26.7 % 1,000 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 73.3 % 6.7 % 1,100 solver\n"
                 "main 66.0 % 6.0 % 990 solver\n"
                 "start 33.3 % 500 solver\n"
                 "report 20.0 % 300 solver\n");
  LNS_CHECK (label_with (pane, "All threads") != NULL);
  LNS_CHECK_STR (label_with (pane, "1,500"),
                 "1,500 samples, 10 without a call chain, call chains complete: 93.9 %");
}

static void
trees_show_the_heaviest_path_first (void)
{
  show ("top-down");
  WAIT_FOR_ROWS ("main 66.0 % 6.0 % 990 solver\n"
                 "  solve 40.0 % 600 solver\n"
                 "    step 40.0 % 600 solver\n"
                 "      sin 40.0 % 40.0 % 600 libm.so\n"
                 "  report 20.0 % 300 solver\n"
                 "start 33.3 % 500 solver\n");
  show ("bottom-up");
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 26.7 % 26.7 % 400 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 6.7 % 6.7 % 100 solver\n"
                 "main 6.0 % 6.0 % 90 solver\n");
}

/* Rows that are unfolded stay so with other sums. */
static void
what_is_unfolded_stays_so (void)
{
  LnsFunctionRows *rows = lns_function_table_get_rows (table);

  show ("bottom-up");
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 26.7 % 26.7 % 400 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 6.7 % 6.7 % 100 solver\n"
                 "main 6.0 % 6.0 % 90 solver\n");
  lns_function_rows_set_expanded (rows, 3, TRUE);
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 26.7 % 26.7 % 400 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 6.7 % 6.7 % 100 solver\n"
                 "  solve 6.7 % 100 solver\n"
                 "main 6.0 % 6.0 % 90 solver\n");
  /* 8 s to 10 s: 100 of report, 90 of main, 10 without chain, 100 of solve. */
  lns_view_set_time_selection (view, 8 * SECOND, 10 * SECOND);
  WAIT_FOR_ROWS ("solve 33.3 % 33.3 % 100 solver\n"
                 "  solve 33.3 % 100 solver\n"
                 "format 33.3 % 33.3 % 100\n"
                 "main 30.0 % 30.0 % 90 solver\n");
  LNS_CHECK_STR (label_with (pane, "All threads"), "All threads");
  lns_function_rows_expand_heaviest (rows, 0);
  WAIT_FOR_ROWS ("solve 33.3 % 33.3 % 100 solver\n"
                 "  solve 33.3 % 100 solver\n"
                 "    start 33.3 % 100 solver\n"
                 "format 33.3 % 33.3 % 100\n"
                 "main 30.0 % 30.0 % 90 solver\n");
  lns_function_rows_set_expanded (rows, 0, FALSE);
  lns_view_clear_time_selection (view);
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 26.7 % 26.7 % 400 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 6.7 % 6.7 % 100 solver\n"
                 "main 6.0 % 6.0 % 90 solver\n");
}

static void
a_filter_keeps_the_chains_that_match (void)
{
  show ("top-down");
  set_filter ("STEP");
  WAIT_FOR_ROWS ("main 40.0 % 600 solver\n"
                 "  solve 40.0 % 600 solver\n"
                 "    step 40.0 % 600 solver\n"
                 "      sin 40.0 % 40.0 % 600 libm.so\n"
                 "start 26.7 % 400 solver\n");
  LNS_CHECK_STR (label_with (pane, "1,000"), "1,000 of 1,500 samples");
  show ("flat");
  WAIT_FOR_ROWS ("step 66.7 % 26.7 % 1,000 solver\n");
  set_filter ("<none>");
  WAIT_FOR (label_with (pane, "No call chain") != NULL);
  LNS_CHECK_STR (label_with (pane, "No call chain"),
                 "No call chain has a function or module whose name contains “<none>”.");
  set_filter ("");
  WAIT_FOR (label_with (pane, "1,500 samples") != NULL);
}

static void
threads_may_be_chosen (void)
{
  bool threads[2] = { false, true };

  show ("flat");
  lns_functions_pane_show_threads (LNS_FUNCTIONS_PANE (pane), "worker (78)", threads);
  WAIT_FOR_ROWS ("step 80.0 % 80.0 % 400 solver\n"
                 "solve 100.0 % 20.0 % 500 solver\n"
                 "start 100.0 % 500 solver\n");
  LNS_CHECK (label_with (pane, "worker (78)") != NULL);
  lns_view_set_time_selection (view, 9995 * SECOND / 1000, 9999 * SECOND / 1000);
  WAIT_FOR (label_with (pane, "No Samples Here") != NULL);
  /* From 9.9 s to 9.99 s the first thread has samples without chains. */
  threads[0] = true;
  threads[1] = false;
  lns_view_set_time_selection (view, 9905 * SECOND / 1000, 9985 * SECOND / 1000);
  lns_functions_pane_show_threads (LNS_FUNCTIONS_PANE (pane), "main (77)", threads);
  WAIT_FOR (label_with (pane, "No Call Chains") != NULL);
  lns_view_clear_time_selection (view);
  threads[1] = true;
  lns_functions_pane_show_threads (LNS_FUNCTIONS_PANE (pane), "solver (77)", threads);
  WAIT_FOR (label_with (pane, "1,500 samples") != NULL);
}

static void
rows_may_be_left_out_or_be_modules (void)
{
  show ("flat");
  g_settings_set_double (settings, "functions-hide-below", 50);
  WAIT_FOR_ROWS ("step 66.7 % 26.7 % 1,000 solver\n"
                 "solve 73.3 % 6.7 % 1,100 solver\n"
                 "main 66.0 % 6.0 % 990 solver\n"
                 "(4 smaller ones) 60.0 %\n");
  show ("top-down");
  WAIT_FOR_ROWS ("main 66.0 % 6.0 % 990 solver\n"
                 "  (2 smaller ones) 60.0 % 60.0 % 900\n"
                 "(1 smaller one) 33.3 % 33.3 % 500\n");
  g_settings_reset (settings, "functions-hide-below");
  g_settings_set_boolean (settings, "functions-by-module", TRUE);
  WAIT_FOR_ROWS ("solver 99.3 % 39.3 % 1,490 solver\n"
                 "  libm.so 40.0 % 40.0 % 600 libm.so\n"
                 "  (no module) 20.0 % 20.0 % 300\n");
  g_settings_reset (settings, "functions-by-module");
}

/* The name of the bar in ROW at SHARE of the width, or "". Free with g_free (). */
static char *
bar_name (unsigned row, double share)
{
  const uint32_t function = lns_flame_graph_function_at (
      flame, share * gtk_widget_get_width (GTK_WIDGET (flame)), (row + 0.5) * ROW_PX);
  static LnsFunctions *names;
  if (names == NULL || lns_functions_get_view (names) != view)
    {
      g_clear_object (&names);
      names = lns_functions_new (view);
      lns_functions_set_source (names, source);
      lns_functions_set_active (names, TRUE);
      WAIT_FOR (lns_functions_get_sums (names) != NULL);
    }
  return function != LNS_ID_NONE ? lns_functions_name (names, function) : g_strdup ("");
}

static gboolean
bar_is (unsigned row, double share, const char *wanted)
{
  g_autofree char *name = bar_name (row, share);

  return g_str_equal (name, wanted);
}

static void
bars_are_as_wide_as_their_samples (void)
{
  show ("flame");
  WAIT_FOR (gtk_widget_get_mapped (GTK_WIDGET (flame)) && bar_is (1, 0.1, "main"));
  /* Of 1,490: main 990 of it, solve 600, report 300; then start and its solve. */
  WAIT_FOR (bar_is (1, 0.66, "main") && bar_is (1, 0.67, "start"));
  LNS_CHECK (bar_is (2, 0.4, "solve") && bar_is (2, 0.41, "report") && bar_is (2, 0.62, ""));
  LNS_CHECK (bar_is (3, 0.4, "step") && bar_is (4, 0.4, "sin") && bar_is (5, 0.4, ""));
  /* Samples in the program itself 590, in libm 600, in none 300. */
  LNS_CHECK (strstr (label_with (pane, "■"),
                     "libm.so 40.0 %   ■ solver 39.3 %   ■ (no module) 20.0 %") != NULL);
  LNS_CHECK (bar_is (2, 0.99, "solve") && bar_is (3, 0.9, "step") && bar_is (3, 0.95, "solve"));
}

static void
a_bar_fills_the_width_and_back (void)
{
  show ("flame");
  WAIT_FOR (gtk_widget_get_mapped (GTK_WIDGET (flame)) && bar_is (1, 0.67, "start"));
  WAIT_FOR (gtk_window_is_active (GTK_WINDOW (gtk_widget_get_root (pane))));
  gtk_widget_grab_focus (GTK_WIDGET (flame));
  /* Nothing has the focus yet: nothing to zoom to. */
  gtk_widget_activate_action (GTK_WIDGET (flame), "flame.zoom-in", NULL);
  LNS_CHECK_INT (lns_flame_graph_get_zoom (flame), 0);
  /* All, main, solve, report. */
  for (int i = 0; i < 3; i++)
    press ("Down");
  press ("Right");
  press ("Return");
  WAIT_FOR (bar_is (1, 0.99, "main") && bar_is (2, 0.99, "report") && bar_is (3, 0.99, "format"));
  press ("BackSpace");
  WAIT_FOR (bar_is (1, 0.99, "main") && bar_is (2, 0.6, "solve") && bar_is (2, 0.61, "report"));
  press ("0");
  WAIT_FOR (bar_is (1, 0.67, "start"));
}

/* The sample that is selected, by thread and time. */
static gboolean
sample_is (uint32_t thread, int64_t start_ns)
{
  LnsEvent event;
  const LnsEventId id = lns_view_get_selected_event (view, &event);

  return id.lane != LNS_ID_NONE &&
         lns_event_thread (lns_view_get_report (view), id.lane, &event) == thread &&
         event.start_ns == start_ns;
}

static void
samples_are_shown_one_after_the_other (void)
{
  GtkSelectionModel *selection;

  show ("flat");
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 66.7 % 26.7 % 1,000 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 73.3 % 6.7 % 1,100 solver\n"
                 "main 66.0 % 6.0 % 990 solver\n"
                 "start 33.3 % 500 solver\n"
                 "report 20.0 % 300 solver\n");
  selection = gtk_column_view_get_model (
      GTK_COLUMN_VIEW (find_widget (GTK_WIDGET (table), GTK_TYPE_COLUMN_VIEW)));
  gtk_selection_model_select_item (selection, 2, TRUE);
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (sample_is (0, 6 * SECOND));
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (sample_is (0, 6 * SECOND + SECOND / 100));
  /* solve, of worker, called by solve: bottom-up. */
  show ("bottom-up");
  WAIT_FOR (rows_are ("sin 40.0 % 40.0 % 600 libm.so\n"
                      "step 26.7 % 26.7 % 400 solver\n"
                      "format 20.0 % 20.0 % 300\n"
                      "solve 6.7 % 6.7 % 100 solver\n"
                      "main 6.0 % 6.0 % 90 solver\n"));
  gtk_selection_model_select_item (selection, 3, TRUE);
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (sample_is (1, 8 * SECOND));
  /* Behind the last one is the first one. */
  lns_view_set_time_selection (view, 9980 * SECOND / 1000, 10 * SECOND);
  WAIT_FOR_ROWS ("solve 33.3 % 33.3 % 1 solver\n");
  gtk_selection_model_select_item (selection, 0, TRUE);
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (sample_is (1, 9980 * SECOND / 1000));
  lns_view_clear_time_selection (view);
  WAIT_FOR (label_with (pane, "1,500 samples") != NULL);
}

static void
functions_stand_below_their_threads (void)
{
  static const char *const whole = "solver (77) 99.3 % 1,490\n"
                                   "  main (77) 66.0 % 990\n"
                                   "    main 66.0 % 6.0 % 990 solver\n"
                                   "      solve 40.0 % 600 solver\n"
                                   "        step 40.0 % 600 solver\n"
                                   "          sin 40.0 % 40.0 % 600 libm.so\n"
                                   "      report 20.0 % 300 solver\n"
                                   "  worker (78) 33.3 % 500\n";
  GtkSelectionModel *selection = gtk_column_view_get_model (
      GTK_COLUMN_VIEW (find_widget (GTK_WIDGET (table), GTK_TYPE_COLUMN_VIEW)));

  show ("top-down");
  g_settings_set_boolean (settings, "functions-by-thread", TRUE);
  WAIT_FOR_ROWS (whole);
  /* 8 s to 10 s: 100 of report, 90 of main, 10 without chain; 100 of worker. What is unfolded stays so. */
  lns_view_set_time_selection (view, 8 * SECOND, 10 * SECOND);
  WAIT_FOR_ROWS ("solver (77) 96.7 % 290\n"
                 "  main (77) 63.3 % 190\n"
                 "    main 63.3 % 30.0 % 190 solver\n"
                 "      report 33.3 % 100 solver\n"
                 "  worker (78) 33.3 % 100\n");
  lns_view_clear_time_selection (view);
  WAIT_FOR_ROWS (whole);
  /* The first sample of worker. */
  gtk_selection_model_select_item (selection, 7, TRUE);
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (sample_is (1, 0));
  set_filter ("worker");
  WAIT_FOR (label_with (pane, "500 of 1,500 samples") != NULL);
  WAIT_FOR_ROWS ("solver (77) 33.3 % 500\n"
                 "  worker (78) 33.3 % 500\n");
  set_filter ("");
  WAIT_FOR_ROWS (whole);
  /* Threads are no modules of their functions, nor of each other. */
  g_settings_set_boolean (settings, "functions-by-module", TRUE);
  WAIT_FOR_ROWS ("solver (77) 99.3 % 1,490\n"
                 "  main (77) 66.0 % 990\n"
                 "    solver 66.0 % 6.0 % 990 solver\n"
                 "      libm.so 40.0 % 40.0 % 600 libm.so\n"
                 "      (no module) 20.0 % 20.0 % 300\n"
                 "  worker (78) 33.3 % 500\n");
  g_settings_reset (settings, "functions-by-module");
  show ("flat");
  WAIT_FOR_ROWS ("sin 40.0 % 40.0 % 600 libm.so\n"
                 "step 66.7 % 26.7 % 1,000 solver\n"
                 "format 20.0 % 20.0 % 300\n"
                 "solve 73.3 % 6.7 % 1,100 solver\n"
                 "main 66.0 % 6.0 % 990 solver\n"
                 "solver (77) 99.3 % 1,490\n"
                 "main (77) 66.0 % 990\n"
                 "start 33.3 % 500 solver\n"
                 "worker (78) 33.3 % 500\n"
                 "report 20.0 % 300 solver\n");
  show ("flame");
  /* Of 1,490: main 990, then worker, each above its functions. */
  WAIT_FOR (gtk_widget_get_mapped (GTK_WIDGET (flame)) && bar_is (4, 0.4, "solve"));
  LNS_CHECK (bar_is (3, 0.66, "main") && bar_is (3, 0.67, "start") && bar_is (6, 0.4, "sin"));
  g_settings_reset (settings, "functions-by-thread");
  WAIT_FOR (bar_is (1, 0.66, "main") && bar_is (1, 0.67, "start"));
}

/* What is written onto the time that a thread runs. */
static void
a_stretch_is_called_by_most_of_its_samples (void)
{
  static const struct
  {
    uint32_t thread;
    int64_t start_ns, end_ns;
    const char *name;
    uint32_t n_in, n_read;
  } wanted[] = {
    { 0, 0, 6 * SECOND, "sin", LNS_SAMPLED_MAX, LNS_SAMPLED_MAX },
    { 0, 5 * SECOND, 8 * SECOND, "format", 11, LNS_SAMPLED_MAX }, /* 100 of sin, 200 of format */
    { 0, 0, SECOND / 20, "sin", 5, 5 },
    { 0, 99 * SECOND / 10 + 1, 10 * SECOND, "", 0, 9 }, /* no call chains */
    { 0, 20 * SECOND, 30 * SECOND, "", 0, 0 },
    { 1, 0, 10 * SECOND, "step", 13, LNS_SAMPLED_MAX },
    { 2, 0, 10 * SECOND, "", 0, 0 },
  };
  LnsReport *report = lns_view_get_report (view);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    {
      const LnsSampledFunction found =
          lns_sampled_function (report, wanted[i].thread, wanted[i].start_ns, wanted[i].end_ns);
      LNS_CHECK_STR (lns_report_string (report, found.name, NULL), wanted[i].name);
      LNS_CHECK_INT (found.n_in, wanted[i].n_in);
      LNS_CHECK_INT (found.n_read, wanted[i].n_read);
    }
}

static LnsView *
open_view (const char *path)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);

  if (report == NULL)
    g_error ("%s", error.message);
  return lns_view_new (report);
}

/* Shows the functions of the report at PATH in WINDOW. */
static void
open_pane (GtkWindow *window, const char *path)
{
  view = open_view (path);
  pane = lns_functions_pane_new (view, settings);
  table = LNS_FUNCTION_TABLE (find_widget (pane, LNS_TYPE_FUNCTION_TABLE));
  flame = LNS_FLAME_GRAPH (find_widget (pane, LNS_TYPE_FLAME_GRAPH));
  gtk_window_set_child (window, pane);
}

/* --- GPU time --------------------------------------------------------------------------------------- */

static void
choose (guint at)
{
  gtk_drop_down_set_selected (GTK_DROP_DOWN (find_widget (pane, GTK_TYPE_DROP_DOWN)), at);
}

static void
gpu_time_is_chosen_beside_samples (void)
{
  show ("top-down");
  WAIT_FOR (label_with (pane, "10 samples") != NULL);
  WAIT_FOR_ROWS ("main 100.0 % 100.0 % 10\n");
  source = LNS_FUNCTIONS_OF_GPU;
  choose (1);
  WAIT_FOR_ROWS ("step 1 40.0 % 40.000 ms NVTX ranges\n"
                 "step 2 40.0 % 40.000 ms NVTX ranges\n"
                 "loader (92): no range 15.0 % 15.000 ms Outside of ranges\n"
                 "trainer (90): launch not recorded 5.0 % 5.000 ms Launch not recorded\n");
  LNS_CHECK_STR (label_with (pane, "100.000"),
                 "100.000 ms of GPU time, launch not recorded: 5.0 %");
  choose (0);
  WAIT_FOR_ROWS ("main 100.0 % 100.0 % 10\n");
  choose (1);
  show ("bottom-up");
  WAIT_FOR_ROWS ("gemm 70.0 % 70.0 % 70.000 ms Kernels\n"
                 "  forward 70.0 % 70.000 ms NVTX ranges\n"
                 "    step 2 40.0 % 40.000 ms NVTX ranges\n"
                 "    step 1 30.0 % 30.000 ms NVTX ranges\n"
                 "augment 15.0 % 15.0 % 15.000 ms Kernels\n"
                 "[CUDA memcpy HtoD] 10.0 % 10.0 % 10.000 ms Copies\n"
                 "orphan 5.0 % 5.0 % 5.000 ms Kernels\n");
}

static void
steps_are_one_without_their_numbers (void)
{
  show ("top-down");
  g_settings_set_boolean (settings, "functions-strip-numbers", TRUE);
  WAIT_FOR (label_with (pane, "100.000 ms of GPU time") != NULL);
  WAIT_FOR_ROWS ("step N 80.0 % 80.000 ms NVTX ranges\n"
                 "  forward 70.0 % 70.000 ms NVTX ranges\n"
                 "    gemm 70.0 % 70.0 % 70.000 ms Kernels\n"
                 "  [CUDA memcpy HtoD] 10.0 % 10.0 % 10.000 ms Copies\n"
                 "loader (92): no range 15.0 % 15.000 ms Outside of ranges\n"
                 "trainer (90): launch not recorded 5.0 % 5.000 ms Launch not recorded\n");
  show ("flat");
  set_filter ("step n");
  WAIT_FOR_ROWS ("step N 80.0 % 80.000 ms NVTX ranges\n");
  LNS_CHECK_STR (label_with (pane, "80.000"), "80.000 ms of 100.000 ms of GPU time");
  set_filter ("nothing");
  WAIT_FOR (label_with (pane, "No range and no operation") != NULL);
  set_filter ("");
  g_settings_reset (settings, "functions-strip-numbers");
  WAIT_FOR_ROWS ("gemm 70.0 % 70.0 % 70.000 ms Kernels\n"
                 "augment 15.0 % 15.0 % 15.000 ms Kernels\n"
                 "[CUDA memcpy HtoD] 10.0 % 10.0 % 10.000 ms Copies\n"
                 "orphan 5.0 % 5.0 % 5.000 ms Kernels\n"
                 "forward 70.0 % 70.000 ms NVTX ranges\n"
                 "step 1 40.0 % 40.000 ms NVTX ranges\n"
                 "step 2 40.0 % 40.000 ms NVTX ranges\n"
                 "loader (92): no range 15.0 % 15.000 ms Outside of ranges\n"
                 "trainer (90): launch not recorded 5.0 % 5.000 ms Launch not recorded\n");
}

static void
gpu_time_is_of_a_time_and_of_threads (void)
{
  show ("flat");
  lns_functions_pane_show_threads (LNS_FUNCTIONS_PANE (pane), "loader (92)",
                                   (const bool[]){ false, true });
  WAIT_FOR_ROWS ("augment 100.0 % 100.0 % 15.000 ms Kernels\n"
                 "loader (92): no range 100.0 % 15.000 ms Outside of ranges\n");
  lns_view_set_time_selection (view, 0, SECOND);
  WAIT_FOR (label_with (pane, "No GPU Time Here") != NULL);
  lns_functions_pane_show_threads (LNS_FUNCTIONS_PANE (pane), "trainer (90)",
                                   (const bool[]){ true, true });
  /* The first 20 of its 30 ms. */
  lns_view_set_time_selection (view, 0, 32 * SECOND / 100);
  WAIT_FOR_ROWS ("gemm 100.0 % 100.0 % 20.000 ms Kernels\n"
                 "step 1 100.0 % 20.000 ms NVTX ranges\n"
                 "forward 100.0 % 20.000 ms NVTX ranges\n");
  lns_view_clear_time_selection (view);
  WAIT_FOR (label_with (pane, "100.000 ms of GPU time") != NULL);
}

static void
bars_are_as_wide_as_their_gpu_time (void)
{
  show ("flame");
  WAIT_FOR (gtk_widget_get_mapped (GTK_WIDGET (flame)) && bar_is (1, 0.1, "step 1"));
  LNS_CHECK (bar_is (1, 0.39, "step 1") && bar_is (1, 0.41, "step 2") &&
             bar_is (1, 0.79, "step 2"));
  LNS_CHECK (bar_is (1, 0.81, "loader (92): no range") &&
             bar_is (1, 0.96, "trainer (90): launch not recorded"));
  LNS_CHECK (bar_is (2, 0.29, "forward") && bar_is (2, 0.31, "[CUDA memcpy HtoD]"));
  LNS_CHECK (bar_is (3, 0.29, "gemm") && bar_is (3, 0.31, "") && bar_is (2, 0.81, "augment"));
  LNS_CHECK (strstr (label_with (pane, "■"),
                     "Kernels 90.0 %   ■ Copies 10.0 %   |   ■ NVTX ranges 80.0 %   "
                     "■ Outside of ranges 15.0 %   ■ Launch not recorded 5.0 %") != NULL);
}

/* Whether the selected event begins at START_NS. */
static gboolean
event_is_at (int64_t start_ns)
{
  LnsEvent event;

  return lns_view_get_selected_event (view, &event).lane != LNS_ID_NONE &&
         event.start_ns == start_ns;
}

static void
operations_are_shown_one_after_the_other (void)
{
  show ("flat");
  WAIT_FOR (row_text (8) != NULL);
  GtkSelectionModel *selection = gtk_column_view_get_model (
      GTK_COLUMN_VIEW (find_widget (GTK_WIDGET (table), GTK_TYPE_COLUMN_VIEW)));
  gtk_selection_model_select_item (selection, 4, TRUE); /* forward */
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (event_is_at (300 * SECOND / 1000));
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (event_is_at (2300 * SECOND / 1000));
  gtk_widget_activate_action (GTK_WIDGET (table), "functions.show-next", NULL);
  WAIT_FOR (event_is_at (300 * SECOND / 1000));
}

static void
a_report_without_samples_opens_on_gpu_time (void)
{
  LnsView *cuda = open_view (report_paths[2]);
  g_autoptr (LnsFunctions) functions = lns_functions_new (cuda);

  LNS_CHECK_INT (lns_functions_get_source (functions), LNS_FUNCTIONS_OF_GPU);
  LNS_CHECK (!lns_functions_has_source (functions, LNS_FUNCTIONS_OF_CPU));
  lns_functions_set_source (functions, LNS_FUNCTIONS_OF_CPU);
  LNS_CHECK_INT (lns_functions_get_source (functions), LNS_FUNCTIONS_OF_GPU);
  lns_functions_set_active (functions, TRUE);
  WAIT_FOR (lns_functions_get_state (functions) == LNS_FUNCTIONS_READY);
  LNS_CHECK (lns_functions_get_sums (functions)->n_samples > 0);
  g_clear_object (&functions);
  g_object_unref (cuda);
}

int
main (int argc, char **argv)
{
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  report_paths = argv + argc - 3;
  settings = g_settings_new ("io.github.lanescope.Lanescope");
  GtkWidget *window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (window), 1000, 500);
  open_pane (GTK_WINDOW (window), report_paths[0]);
  gtk_window_present (GTK_WINDOW (window));
  LNS_TEST (a_flat_table_counts_each_function_once);
  LNS_TEST (trees_show_the_heaviest_path_first);
  LNS_TEST (what_is_unfolded_stays_so);
  LNS_TEST (a_filter_keeps_the_chains_that_match);
  LNS_TEST (threads_may_be_chosen);
  LNS_TEST (rows_may_be_left_out_or_be_modules);
  LNS_TEST (bars_are_as_wide_as_their_samples);
  LNS_TEST (a_bar_fills_the_width_and_back);
  LNS_TEST (samples_are_shown_one_after_the_other);
  LNS_TEST (functions_stand_below_their_threads);
  LNS_TEST (a_stretch_is_called_by_most_of_its_samples);
  open_pane (GTK_WINDOW (window), report_paths[1]);
  LNS_TEST (gpu_time_is_chosen_beside_samples);
  LNS_TEST (steps_are_one_without_their_numbers);
  LNS_TEST (gpu_time_is_of_a_time_and_of_threads);
  LNS_TEST (bars_are_as_wide_as_their_gpu_time);
  LNS_TEST (operations_are_shown_one_after_the_other);
  LNS_TEST (a_report_without_samples_opens_on_gpu_time);
  return lns_tap_done ();
}
