/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is kept of a view: as JSON, and of rows that stand elsewhere or come later. */

#include <string.h>

#include "ui/model/kept-view.h"
#include "ui/model/row-identity.h"
#include "ui/timeline/row-state.h"

#include "tests/tap.h"

static const char *known_path, *cuda_path;

static LnsKeptView *
parse (const char *json, char **ret_problem)
{
  *ret_problem = NULL;
  return lns_kept_view_from_json (json, strlen (json), ret_problem);
}

static void
a_view_is_the_same_afterwards (void)
{
  g_autoptr (LnsKeptView) view = lns_kept_view_new ();
  g_autofree char *problem = NULL;
  *lns_kept_view_row (view, "process a/thread b#2") =
      (LnsKeptRow){ .pin = 3, .folding = -1, .is_hidden = TRUE, .lanes = 2, .place = 7 };
  lns_kept_view_row (view, "process a")->folding = 1;
  view->has_span = TRUE;
  view->start_ns = -5;
  view->end_ns = INT64_MAX;
  const LnsMark mark = { INT64_MIN, 12, g_strdup ("two\nlines “ü”") };
  const LnsMark selected = { 3, 4, NULL };
  g_array_append_val (view->bookmarks, mark);
  g_array_append_val (view->selected, selected);

  g_autofree char *json = lns_kept_view_to_json (view, FALSE);
  g_autoptr (LnsKeptView) again = parse (json, &problem);
  LNS_CHECK (again != NULL);
  g_autofree char *same = lns_kept_view_to_json (again, FALSE);
  LNS_CHECK_STR (same, json);
  const LnsKeptRow *row = lns_kept_view_row (again, "process a/thread b#2");
  LNS_CHECK (row->pin == 3 && row->folding == -1 && row->is_hidden && row->lanes == 2 &&
             row->place == 7);
  LNS_CHECK_STR (g_array_index (again->bookmarks, LnsMark, 0).name, "two\nlines “ü”");
  LNS_CHECK (again->has_span && again->start_ns == -5 && again->end_ns == INT64_MAX);

  /* What is kept for another capture has no times. */
  g_autofree char *rows = lns_kept_view_to_json (view, TRUE);
  g_autoptr (LnsKeptView) other = parse (rows, &problem);
  LNS_CHECK (other != NULL && !other->has_span && other->bookmarks->len == 0);
  LNS_CHECK_INT (g_hash_table_size (other->rows), 2);
}

static void
what_is_hostile_is_refused (void)
{
  static const char *const bad[] = {
    "",
    "nonsense",
    "[]",
    "{}",
    "{\"version\": \"1\"}",
    "{\"version\": 2}",
    "{\"version\": 1, \"version\": 1}",
    "{\"version\": 1, \"rows\": []}",
    "{\"version\": 1, \"rows\": {\"a\": 5}}",
    "{\"version\": 1, \"rows\": {\"a\": {\"pinned\": -1}}}",
    "{\"version\": 1, \"rows\": {\"a\": {\"pinned\": 1e300}}}",
    "{\"version\": 1, \"rows\": {\"a\": {\"pinned\": 99999999}}}",
    "{\"version\": 1, \"rows\": {\"a\": {\"height\": 1000000}}}",
    "{\"version\": 1, \"rows\": {\"a\": {\"hidden\": 1}}}",
    "{\"version\": 1, \"rows\": {\"a\": {\"unfolded\": null}}}",
    "{\"version\": 1, \"view\": {\"start_ns\": 5, \"end_ns\": 4}}",
    "{\"version\": 1, \"view\": {\"start_ns\": 5}}",
    "{\"version\": 1, \"view\": {\"start_ns\": 5, \"end_ns\": 99999999999999999999}}",
    "{\"version\": 1, \"selected\": {}}",
    "{\"version\": 1, \"selected\": [7]}",
    "{\"version\": 1, \"bookmarks\": [{\"start_ns\": 1, \"end_ns\": 2}]}",
    "{\"version\": 1, \"bookmarks\": [{\"start_ns\": 1, \"end_ns\": 2, \"name\": \"\\ud800\"}]}",
    "{\"version\": 1, \"bookmarks\": [{\"start_ns\": 1, \"end_ns\": 2, \"name\": \"a\\u0000b\"}]}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *problem = NULL;
      g_autoptr (LnsKeptView) view = parse (bad[i], &problem);
      if (view != NULL || problem == NULL || !g_utf8_validate (problem, -1, NULL))
        LNS_FAIL ("taken: %s", bad[i]);
    }
  g_autofree char *problem = NULL;
  g_autoptr (LnsKeptView) empty = parse ("{\"version\": 1}", &problem);
  LNS_CHECK (empty != NULL && problem == NULL);

  /* Too many of a thing, and too much of one. */
  GString *json = g_string_new ("{\"version\": 1, \"rows\": {");
  for (int i = 0; i <= LNS_KEPT_MAX_ROWS; i++)
    g_string_append_printf (json, "%s\"%d\": {}", i > 0 ? "," : "", i);
  g_string_append (json, "}}");
  LNS_CHECK (parse (json->str, &problem) == NULL);
  g_clear_pointer (&problem, g_free);
  g_string_assign (
      json, "{\"version\": 1, \"bookmarks\": [{\"start_ns\": 1, \"end_ns\": 2, \"name\": \"");
  for (int i = 0; i <= LNS_BOOKMARK_MAX_CHARS; i++)
    g_string_append_c (json, 'x');
  g_string_append (json, "\"}]}");
  LNS_CHECK (parse (json->str, &problem) == NULL);
  g_clear_pointer (&problem, g_free);
  g_string_assign (json, "");
  for (int i = 0; i < 100000; i++)
    g_string_append_c (json, '[');
  LNS_CHECK (parse (json->str, &problem) == NULL);
  g_string_free (json, TRUE);
}

typedef struct
{
  LnsReport *report;
  LnsRowTree *tree;
  LnsRowState state;
  GArray *pinned;
} Rows;

static Rows
open_rows (const char *path)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  Rows rows = { .report = report,
                .tree = lns_row_tree_new (report),
                .pinned = g_array_new (FALSE, FALSE, sizeof (uint32_t)) };
  LNS_CHECK (lns_row_state_follow (&rows.state, rows.tree, report, rows.pinned) == NULL);
  return rows;
}

static void
put_tree (Rows *rows, LnsRowTree *tree)
{
  LNS_CHECK (tree != NULL);
  lns_row_tree_unref (rows->tree);
  rows->tree = tree;
}

static void
close_rows (Rows *rows)
{
  lns_row_state_clear (&rows->state);
  lns_row_tree_unref (rows->tree);
  lns_report_close (rows->report);
  g_array_unref (rows->pinned);
}

static LnsKeptView *
tell (Rows *rows)
{
  LnsKeptView *view = lns_kept_view_new ();
  lns_row_state_tell (&rows->state, rows->tree, rows->report, rows->pinned, view);
  return view;
}

/* The labels of the rows in their order, as they show. */
static char *
shown (const Rows *rows)
{
  GString *text = g_string_new (NULL);
  for (uint32_t v = 0; v < lns_row_tree_n_visible (rows->tree); v++)
    {
      const uint32_t row = lns_row_tree_visible (rows->tree, v);
      g_string_append_printf (text, "%s %d\n", lns_row_tree_row (rows->tree, row)->label,
                              lns_row_tree_height_px (rows->tree, row));
    }
  return g_string_free (text, FALSE);
}

static void
no_two_rows_are_called_alike (void)
{
  const char *const paths[] = { known_path, cuda_path };
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      Rows rows = open_rows (paths[i]);
      g_autoptr (GPtrArray) identities = lns_row_identities (rows.tree, rows.report);
      g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
      LNS_CHECK_INT (identities->len, lns_row_tree_n_rows (rows.tree));
      for (guint row = 0; row < identities->len; row++)
        if (!g_hash_table_add (seen, g_ptr_array_index (identities, row)))
          LNS_FAIL ("twice: %s", (char *)g_ptr_array_index (identities, row));
      /* Numbers of processes and threads differ from run to run. */
      LNS_CHECK (strstr (g_ptr_array_index (identities, 0), "(") == NULL);
      close_rows (&rows);
    }
}

/* Rows that were pinned, folded, hidden, made higher and moved are so when the report is opened again, and as at first after a reset. */
static void
rows_are_as_they_were_left (void)
{
  const char *const paths[] = { known_path, cuda_path };
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      Rows rows = open_rows (paths[i]);
      g_autofree char *at_first = shown (&rows);
      const uint32_t n = lns_row_tree_n_rows (rows.tree);
      const uint32_t pins[] = { n - 1, 1 };
      g_array_append_vals (rows.pinned, pins, 2);
      LNS_CHECK (lns_row_tree_set_hidden (rows.tree, n - 1, true));
      LNS_CHECK (lns_row_tree_set_lanes_high (rows.tree, 1, 3));
      for (uint32_t row = 2; row < n; row++)
        if (lns_row_tree_can_fold (rows.tree, row))
          {
            lns_row_tree_set_expanded (rows.tree, row,
                                       !lns_row_tree_row (rows.tree, row)->expanded);
            break;
          }
      put_tree (&rows, lns_row_state_move (&rows.state, rows.tree, 1, 1));
      g_autofree char *left = shown (&rows);
      LNS_CHECK (strcmp (left, at_first) != 0);

      Rows again = open_rows (paths[i]);
      lns_row_state_restore (&again.state, tell (&rows));
      put_tree (&again,
                lns_row_state_follow (&again.state, again.tree, again.report, again.pinned));
      g_autofree char *restored = shown (&again);
      LNS_CHECK_STR (restored, left);
      LNS_CHECK_INT (again.pinned->len, 2);
      LNS_CHECK_INT (g_array_index (again.pinned, uint32_t, 0), n - 1);
      LNS_CHECK_INT (g_array_index (again.pinned, uint32_t, 1), 1);
      /* … and are told the same. */
      g_autoptr (LnsKeptView) once = tell (&rows);
      g_autoptr (LnsKeptView) twice = tell (&again);
      g_autofree char *once_json = lns_kept_view_to_json (once, TRUE);
      g_autofree char *twice_json = lns_kept_view_to_json (twice, TRUE);
      LNS_CHECK_STR (twice_json, once_json);

      put_tree (&again, lns_row_state_reset (&again.state, again.tree, again.pinned));
      g_autofree char *reset = shown (&again);
      LNS_CHECK_STR (reset, at_first);
      g_autoptr (LnsKeptView) nothing = tell (&again);
      LNS_CHECK_INT (g_hash_table_size (nothing->rows), 0);
      close_rows (&again);
      close_rows (&rows);
    }
}

/* Another capture may lack a row; what was kept of it waits for the next. */
static void
absent_rows_are_remembered (void)
{
  Rows rows = open_rows (known_path);
  LnsKeptView *kept = lns_kept_view_new ();
  lns_kept_view_row (kept, "process elsewhere")->pin = 1;
  lns_row_state_restore (&rows.state, kept);
  LNS_CHECK (lns_row_state_follow (&rows.state, rows.tree, rows.report, rows.pinned) == NULL);
  LNS_CHECK_INT (rows.pinned->len, 0);
  g_autoptr (LnsKeptView) told = tell (&rows);
  LNS_CHECK_INT (g_hash_table_size (told->rows), 1);
  LNS_CHECK_INT (lns_kept_view_row (told, "process elsewhere")->pin, 1);
  close_rows (&rows);
}

int
main (int argc, char **argv)
{
  if (argc != 3)
    return 2;
  known_path = argv[1];
  cuda_path = argv[2];
  LNS_TEST (a_view_is_the_same_afterwards);
  LNS_TEST (what_is_hostile_is_refused);
  LNS_TEST (no_two_rows_are_called_alike);
  LNS_TEST (rows_are_as_they_were_left);
  LNS_TEST (absent_rows_are_remembered);
  return lns_tap_done ();
}
