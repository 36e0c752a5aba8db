/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/sql/sql-pane.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/why/query.h"
#include "src/base/format.h"
#include "src/tables/tables.h"
#include "ui/model/job.h"
#include "ui/model/shortcuts.h"
#include "ui/table/result-view.h"

/* The first so many rows are shown. */
#define MAX_ROWS 10000

/* So many statements are kept, the last one first, and so much of one is shown in the menu. */
#define MAX_KEPT        30
#define MAX_SHOWN_CHARS 80

/* What the pane shows before somebody asks. */
#define FIRST "SELECT cause, ns, share, sentence FROM LNS_FINDINGS"

struct _LnsSqlPane
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GSettings *settings;   /* owned */
  GCancellable *running; /* or NULL */
  GCancellable *listing; /* or NULL */
  gboolean is_asked;     /* something was run, or is */
  LnsResultView *table;  /* the page "table" of `stack` */

  GtkTextView *statement;
  GtkMenuButton *tables;
  GtkMenuButton *history;
  GtkLabel *count;
  GtkStack *stack; /* pages "text", "table" */
  GtkLabel *text;
};

G_DEFINE_FINAL_TYPE (LnsSqlPane, lns_sql_pane, ADW_TYPE_BIN)

/* --- Running ---------------------------------------------------------------------------------- */

typedef struct
{
  char *statement;   /* owned */
  LnsResult *result; /* owned, or NULL */
  char *failure;     /* owned, or NULL: why there is none */
  int64_t took_ns;
} Run;

static void
run_free (gpointer data)
{
  Run *run = data;

  g_free (run->statement);
  g_free (run->failure);
  lns_result_free (run->result);
  g_free (run);
}

/* What to tell where QUERY gave no result, for a reason of SQLite's or of ERROR's. Free with g_free (). */
static char *
failure_of (const LnsQuery *query, const LnsError *error)
{
  const char *message = sqlite3_errmsg (query->db);

  if (error->domain != LNS_ERROR_NONE)
    return g_strdup (error->message);
  switch (lns_query_failure (query))
    {
    case LNS_QUERY_WRITES:
      return g_strdup (_ ("Statements only read here, and this one would change something."));
    case LNS_QUERY_NO_MEMORY:
      return g_strdup (_ ("There is not enough memory for this; ask for fewer rows or columns."));
    case LNS_QUERY_WRONG:
      return g_strdup_printf (
          _ ("SQLite says: %s. The menu of tables has the names of all that hold something."),
          message);
    default:
      return g_strdup (message);
    }
}

/* On a worker. */
static void
run_work (LnsWorker *worker, gpointer data)
{
  Run *run = data;
  LnsError error = { 0 };
  const gint64 begun_usec = g_get_monotonic_time ();
  LnsQuery *query =
      lns_query_new (worker->report, &(LnsQueryOptions){ .cancel = &worker->cancelled }, &error);

  if (query != NULL)
    run->result = lns_query_collect (query, run->statement, MAX_ROWS, &error);
  if (run->result == NULL)
    run->failure = query != NULL ? failure_of (query, &error) : g_strdup (error.message);
  lns_query_free (query);
  run->took_ns = (g_get_monotonic_time () - begun_usec) * 1000;
}

static void
show_text (LnsSqlPane *self, const char *text)
{
  gtk_label_set_text (self->text, text);
  gtk_stack_set_visible_child_name (self->stack, "text");
  gtk_label_set_text (self->count, "");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "sql.copy", FALSE);
}

static void
run_done (gpointer data, gpointer owner)
{
  Run *run = data;
  LnsSqlPane *self = owner;
  char number[LNS_FORMAT_SIZE], time[LNS_FORMAT_SIZE];

  gtk_widget_action_set_enabled (GTK_WIDGET (self), "sql.stop", FALSE);
  if (run->result == NULL)
    {
      show_text (self, run->failure);
      return;
    }
  const uint64_t n = lns_result_n_rows (run->result) + lns_result_n_left_out (run->result);
  lns_format_duration (run->took_ns, time);
  g_autofree char *rows = g_strdup_printf (ngettext ("%s row in %s", "%s rows in %s", n),
                                           lns_format_unsigned (n, number), time);
  lns_format_unsigned (lns_result_n_rows (run->result), number);
  g_autofree char *shown = g_strdup_printf (_ ("%s; the first %s are shown"), rows, number);
  const gboolean is_all = lns_result_n_left_out (run->result) == 0;
  if (n == 0)
    show_text (self, _ ("The statement gave no rows."));
  else
    {
      lns_result_view_set (self->table, g_steal_pointer (&run->result));
      gtk_stack_set_visible_child_name (self->stack, "table");
      gtk_widget_action_set_enabled (GTK_WIDGET (self), "sql.copy", TRUE);
    }
  gtk_label_set_text (self->count, is_all ? rows : shown);
}

static const LnsJobFuncs run_funcs = { run_work, run_done, run_free, NULL };

/* The statement as it stands. Free with g_free (). */
static char *
statement_of (LnsSqlPane *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->statement);
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  return g_strstrip (gtk_text_buffer_get_text (buffer, &start, &end, FALSE));
}

static void
run (LnsSqlPane *self)
{
  Run *run = g_new0 (Run, 1);

  self->is_asked = TRUE;
  run->statement = statement_of (self);
  lns_result_view_set (self->table, NULL);
  show_text (self, _ ("Asking…"));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "sql.stop", TRUE);
  lns_job_start (&self->running, self->view, &run_funcs, run, self);
}

/* --- History ---------------------------------------------------------------------------------- */

/* Fills the menu with the statements that were run last. */
static void
fill_history (LnsSqlPane *self)
{
  g_autoptr (GMenu) menu = g_menu_new ();
  g_auto (GStrv) kept = g_settings_get_strv (self->settings, "sql-history");

  for (gsize i = 0; kept[i] != NULL; i++)
    {
      g_autofree char *line = g_strdelimit (g_strdup (kept[i]), "\n\t_", ' ');
      g_autofree char *shown =
          g_utf8_substring (line, 0, MIN (g_utf8_strlen (line, -1), (glong)MAX_SHOWN_CHARS));
      g_autoptr (GMenuItem) item = g_menu_item_new (shown, NULL);
      /* Mnemonics would take underscores. */
      g_autofree char *label = g_strdelimit (g_strndup (kept[i], strlen (shown)), "\n\t", ' ');
      g_auto (GStrv) parts = g_strsplit (label, "_", -1);
      g_autofree char *escaped = g_strjoinv ("__", parts);
      g_menu_item_set_label (item, g_utf8_validate (escaped, -1, NULL) ? escaped : shown);
      g_menu_item_set_action_and_target (item, "sql.use", "s", kept[i]);
      g_menu_append_item (menu, item);
    }
  gtk_menu_button_set_menu_model (self->history, G_MENU_MODEL (menu));
  gtk_widget_set_sensitive (GTK_WIDGET (self->history), kept[0] != NULL);
}

/* Keeps STATEMENT as the last that was run. */
static void
keep (LnsSqlPane *self, const char *statement)
{
  g_auto (GStrv) kept = g_settings_get_strv (self->settings, "sql-history");
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  if (*statement == '\0')
    return;
  g_ptr_array_add (all, (gpointer)statement);
  for (gsize i = 0; kept[i] != NULL && all->len < MAX_KEPT; i++)
    if (strcmp (kept[i], statement) != 0)
      g_ptr_array_add (all, kept[i]);
  g_ptr_array_add (all, NULL);
  g_settings_set_strv (self->settings, "sql-history", (const char *const *)all->pdata);
  fill_history (self);
}

/* --- Tables ----------------------------------------------------------------------------------- */

typedef struct
{
  GPtrArray *names; /* owned, of strings */
} Listing;

static void
listing_free (gpointer data)
{
  Listing *listing = data;

  g_ptr_array_unref (listing->names);
  g_free (listing);
}

/* On a worker. */
static void
list_work (LnsWorker *worker, gpointer data)
{
  Listing *listing = data;
  LnsError error = { 0 };
  LnsTables *tables = lns_tables_new (worker->report, &error);
  unsigned n = 0;
  const LnsTable *all = tables != NULL ? lns_tables_all (tables, &n) : NULL;

  for (unsigned i = 0; i < n; i++)
    if (lns_tables_n_rows (tables, &all[i]) > 0)
      g_ptr_array_add (listing->names, g_strdup (all[i].name));
  lns_tables_free (tables);
}

static void
add_tables (GMenu *menu, const char *const *names, gsize n)
{
  g_autoptr (GMenu) section = g_menu_new ();

  for (gsize i = 0; i < n; i++)
    {
      g_auto (GStrv) parts = g_strsplit (names[i], "_", -1);
      g_autofree char *label = g_strjoinv ("__", parts);
      g_autofree char *statement = g_strdup_printf ("SELECT * FROM %s LIMIT 1000", names[i]);
      g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);
      g_menu_item_set_action_and_target (item, "sql.use", "s", statement);
      g_menu_append_item (section, item);
    }
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
}

static void
list_done (gpointer data, gpointer owner)
{
  static const char *const answers[] = { "LNS_LEDGERS", "LNS_FINDINGS", "LNS_GAPS", "LNS_COSTS",
                                         "LNS_STEPS" };
  Listing *listing = data;
  LnsSqlPane *self = owner;
  g_autoptr (GMenu) menu = g_menu_new ();

  add_tables (menu, answers, G_N_ELEMENTS (answers));
  add_tables (menu, (const char *const *)listing->names->pdata, listing->names->len);
  gtk_menu_button_set_menu_model (self->tables, G_MENU_MODEL (menu));
  gtk_widget_set_sensitive (GTK_WIDGET (self->tables), TRUE);
}

static const LnsJobFuncs list_funcs = { list_work, list_done, listing_free, NULL };

/* --- Actions ---------------------------------------------------------------------------------- */

static void
run_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsSqlPane *self = LNS_SQL_PANE (widget);
  g_autofree char *statement = statement_of (self);

  keep (self, statement);
  run (self);
}

static void
stop_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsSqlPane *self = LNS_SQL_PANE (widget);

  lns_job_cancel (&self->running);
  gtk_widget_action_set_enabled (widget, "sql.stop", FALSE);
  show_text (self, _ ("Stopped."));
}

static void
use_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_sql_pane_run (LNS_SQL_PANE (widget), g_variant_get_string (parameter, NULL));
}

static void
copy_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_result_view_copy (LNS_SQL_PANE (widget)->table);
}

void
lns_sql_pane_run (LnsSqlPane *self, const char *statement)
{
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->statement), statement, -1);
  keep (self, statement);
  run (self);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
lns_sql_pane_map (GtkWidget *widget)
{
  LnsSqlPane *self = LNS_SQL_PANE (widget);

  GTK_WIDGET_CLASS (lns_sql_pane_parent_class)->map (widget);
  if (gtk_menu_button_get_menu_model (self->tables) == NULL && self->listing == NULL)
    {
      Listing *listing = g_new0 (Listing, 1);
      listing->names = g_ptr_array_new_with_free_func (g_free);
      lns_job_start (&self->listing, self->view, &list_funcs, listing, self);
    }
  if (!self->is_asked)
    run (self);
}

static gboolean
lns_sql_pane_grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (LNS_SQL_PANE (widget)->statement));
}

GtkWidget *
lns_sql_pane_new (LnsView *view, GSettings *settings)
{
  LnsSqlPane *self = g_object_new (LNS_TYPE_SQL_PANE, NULL);

  self->view = g_object_ref (view);
  self->settings = g_object_ref (settings);
  self->table = LNS_RESULT_VIEW (lns_result_view_new (view, "SQL"));
  lns_result_view_keep_columns (self->table);
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->table), "table");
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->statement), FIRST, -1);
  fill_history (self);
  return GTK_WIDGET (self);
}

static void
lns_sql_pane_dispose (GObject *object)
{
  LnsSqlPane *self = LNS_SQL_PANE (object);

  lns_job_cancel (&self->running);
  lns_job_cancel (&self->listing);
  g_clear_object (&self->view);
  g_clear_object (&self->settings);
  G_OBJECT_CLASS (lns_sql_pane_parent_class)->dispose (object);
}

static void
lns_sql_pane_class_init (LnsSqlPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_sql_pane_dispose;
  widget_class->map = lns_sql_pane_map;
  widget_class->grab_focus = lns_sql_pane_grab_focus;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/sql-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsSqlPane, statement);
  gtk_widget_class_bind_template_child (widget_class, LnsSqlPane, tables);
  gtk_widget_class_bind_template_child (widget_class, LnsSqlPane, history);
  gtk_widget_class_bind_template_child (widget_class, LnsSqlPane, count);
  gtk_widget_class_bind_template_child (widget_class, LnsSqlPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsSqlPane, text);
  gtk_widget_class_install_action (widget_class, "sql.run", NULL, run_cb);
  gtk_widget_class_install_action (widget_class, "sql.stop", NULL, stop_cb);
  gtk_widget_class_install_action (widget_class, "sql.use", "s", use_cb);
  gtk_widget_class_install_action (widget_class, "sql.copy", NULL, copy_cb);
  lns_shortcuts_add_to_class (widget_class, "sql.");
}

static void
lns_sql_pane_init (LnsSqlPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "sql.stop", FALSE);
  /* While it is written, too, where the keys would be a line break. */
  lns_shortcuts_capture (GTK_WIDGET (self->statement), "sql.run");
}
