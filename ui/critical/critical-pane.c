/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/critical/critical-pane.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/critical.h"
#include "ui/model/event-text.h"
#include "ui/model/tooltip.h"
#include "ui/table/result-view.h"

typedef enum
{
  PARTS,
  LINKS,
  FUNCTIONS,
  RANGES,
  N_TABLES
} Table;

static const char *const titles[N_TABLES] = { N_ ("What It Is In"), N_ ("Longest Links"),
                                              N_ ("Functions"), N_ ("Ranges") };

struct _LnsCriticalPane
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  LnsCritical *critical; /* owned */
  LnsResultView *views[N_TABLES];
  GtkStack *pages[N_TABLES]; /* pages "table", "text" */
  GtkLabel *texts[N_TABLES]; /* what there is instead of rows */

  GtkStack *stack; /* pages "text", "told" */
  GtkLabel *text;
  GtkWidget *ask;
  GtkLabel *sentence, *doubts;
  GtkStack *tables;
};

G_DEFINE_FINAL_TYPE (LnsCriticalPane, lns_critical_pane, ADW_TYPE_BIN)

/* --- Tables ----------------------------------------------------------------------------------- */

static LnsResultCell
text_cell (const char *text)
{
  return (LnsResultCell){ .bytes = text, .size_bytes = strlen (text) };
}

/* The share that NS has of PATH, in tenths of a percent. */
static LnsResultCell
share_cell (const LnsPath *path, int64_t ns)
{
  const double all_ns = (double)MAX (path->end_ns - path->start_ns, 1);

  return (LnsResultCell){ .number = llround (1000 * (double)ns / all_ns) };
}

static LnsResult *
parts_of (LnsCritical *critical, const LnsCriticalPath *path)
{
  const LnsResultColumn columns[] = {
    { _ ("Name"), LNS_RESULT_TEXT, 0 },
    { _ ("Where"), LNS_RESULT_TEXT, 0 },
    { _ ("Time on Path"), LNS_RESULT_TIME, 0 },
    { _ ("Share"), LNS_RESULT_SHARE, 1 },
    { _ ("Links"), LNS_RESULT_COUNT, 0 },
    { _ ("Time in the Report"), LNS_RESULT_TIME, 0 },
    { _ ("Slack of Others"), LNS_RESULT_TIME, 0 },
  };
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);

  for (size_t i = 0; i < path->parts.n; i++)
    {
      const LnsCriticalPart *part = &path->parts.items[i];
      g_autofree char *what = lns_critical_what (critical, path, part->label, FALSE),
                      *who = lns_critical_who (critical, path, part->label);
      const LnsResultCell cells[] = {
        text_cell (what),
        text_cell (who),
        { .number = part->ns },
        share_cell (&path->path, part->ns),
        { .number = (int64_t)part->n },
        { .number = part->all_ns },
        { .number = part->slack_ns, .is_empty = part->slack_ns < 0 },
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

static LnsResult *
links_of (LnsReport *report, LnsCritical *critical, const LnsCriticalPath *path)
{
  const LnsResultColumn columns[] = {
    { _ ("Name"), LNS_RESULT_TEXT, 0 },      { _ ("Where"), LNS_RESULT_TEXT, 0 },
    { _ ("Mostly In"), LNS_RESULT_TEXT, 0 }, { _ ("Start"), LNS_RESULT_TIME, 0 },
    { _ ("Duration"), LNS_RESULT_TIME, 0 },  { _ ("Share"), LNS_RESULT_SHARE, 1 },
    { _ ("Doubt"), LNS_RESULT_TEXT, 0 },
  };
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);

  for (size_t i = 0; i < path->path.longest.n; i++)
    {
      const LnsPathLink *link = &path->path.longest.items[i];
      const int64_t ns = link->end_ns - link->start_ns;
      const char *doubt = lns_critical_doubt (link);
      g_autofree char *what = lns_critical_what (critical, path, link->label, FALSE),
                      *who = lns_critical_who (critical, path, link->label),
                      *function = lns_event_text_string (
                          report, lns_critical_function_in (critical, path, link), TRUE);
      const LnsResultCell cells[] = {
        text_cell (what),
        text_cell (who),
        text_cell (function),
        { .number = link->start_ns },
        { .number = ns },
        share_cell (&path->path, ns),
        text_cell (doubt != NULL ? doubt : ""),
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

/* NAMES of REPORT, functions if ARE_FUNCTIONS, of PATH. */
static LnsResult *
names_of (LnsReport *report, const LnsPath *path, const LnsPathNames *names, gboolean are_functions)
{
  const LnsResultColumn columns[] = {
    { are_functions ? _ ("Function") : _ ("Range"), LNS_RESULT_TEXT, 0 },
    { _ ("Time on Path"), LNS_RESULT_TIME, 0 },
    { _ ("Share"), LNS_RESULT_SHARE, 1 },
    { are_functions ? _ ("Samples") : _ ("Links"), LNS_RESULT_COUNT, 0 },
  };
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);

  for (size_t i = 0; i < names->n; i++)
    {
      const LnsPathName *name = &names->items[i];
      const char *none = !are_functions ? _ ("in no range")
                         : name->n > 0  ? _ ("not known")
                                        : _ ("not sampled");
      g_autofree char *text =
          name->name != 0 ? lns_event_text_string (report, name->name, TRUE) : g_strdup (none);
      const LnsResultCell cells[] = {
        text_cell (text),
        { .number = name->ns },
        share_cell (path, name->ns),
        { .number = (int64_t)name->n },
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

/* The table that is shown. */
static Table
shown_table (LnsCriticalPane *self)
{
  const GtkWidget *shown = gtk_stack_get_visible_child (self->tables);
  Table table = 0;

  while (table < N_TABLES - 1 && GTK_WIDGET (self->pages[table]) != shown)
    table++;
  return table;
}

/* --- Showing ---------------------------------------------------------------------------------- */

/* How much of CRITICAL nobody knows, and of the time that was asked for is not in it, in a line; NULL: it is all known, and in it. Free with
 * g_free (). */
static char *
doubts_of (const LnsCriticalPath *critical)
{
  const LnsPath *path = &critical->path;
  const double all_ns = (double)MAX (path->end_ns - path->start_ns, 1);
  const double inferred = 100 * (double)path->inferred_ns / all_ns,
               unknown = 100 * (double)path->unknown_ns / all_ns;
  g_autoptr (GStrvBuilder) sentences = g_strv_builder_new ();
  char rest[LNS_FORMAT_SIZE];
  g_autofree char *later = NULL, *first = NULL, *second = NULL;

  if ((double)critical->rest_ns >= all_ns / 100)
    {
      later = g_strdup_printf (
          _ ("It ends %s before this time does: nothing that is recorded ends in between."),
          lns_format_duration (critical->rest_ns, rest));
      g_strv_builder_add (sentences, later);
    }
  if (inferred >= 0.1)
    {
      first = g_strdup_printf (_ ("Timing alone tells what %.1f %% of it waited for."), inferred);
      g_strv_builder_add (sentences, first);
    }
  if (unknown >= 0.1)
    {
      second = g_strdup_printf (_ ("%.1f %% of it is not known."), unknown);
      g_strv_builder_add (sentences, second);
    }
  g_auto (GStrv) all = g_strv_builder_end (sentences);
  return *all != NULL ? g_strjoinv (" ", all) : NULL;
}

/* Whether NAMES has nothing but time of which no name is known. */
static gboolean
has_none (const LnsPathNames *names)
{
  return names->n == 0 || (names->n == 1 && names->items[0].name == 0 && names->items[0].n == 0);
}

/* What there is to say in place of the names of TABLE, of PATH, or NULL. Static, or owned by what was found. */
static const char *
excuse_of (LnsCriticalPane *self, Table table)
{
  const char *error;
  const LnsPathNames *names = table == FUNCTIONS
                                  ? lns_critical_get_functions (self->critical, &error)
                                  : lns_critical_get_ranges (self->critical, &error);

  if (error != NULL)
    return error;
  if (names == NULL)
    return _ ("Looking for the functions and ranges of the critical path…");
  if (table == FUNCTIONS && has_none (names))
    return _ ("No samples were taken while threads ran on the critical path.");
  if (table == RANGES && (names->n == 0 || (names->n == 1 && names->items[0].name == 0)))
    return _ ("The critical path is in no NVTX range.");
  return NULL;
}

/* Fills TABLE with what is known. */
static void
fill (LnsCriticalPane *self, Table table, const LnsCriticalPath *path)
{
  LnsReport *report = lns_view_get_report (self->view);
  const char *excuse = table >= FUNCTIONS ? excuse_of (self, table) : NULL;
  LnsResult *result = NULL;

  if (table == PARTS)
    result = parts_of (self->critical, path);
  else if (table == LINKS)
    result = links_of (report, self->critical, path);
  else if (excuse == NULL)
    result = names_of (report, &path->path,
                       table == FUNCTIONS ? lns_critical_get_functions (self->critical, NULL)
                                          : lns_critical_get_ranges (self->critical, NULL),
                       table == FUNCTIONS);
  lns_result_view_set (self->views[table], result);
  gtk_label_set_text (self->texts[table], excuse != NULL ? excuse : "");
  gtk_stack_set_visible_child_name (self->pages[table], excuse != NULL ? "text" : "table");
}

static void
show (LnsCriticalPane *self)
{
  const LnsCriticalPath *path = lns_critical_get_path (self->critical);
  g_autofree char *excuse = lns_critical_get_excuse (self->critical), *sentence = NULL;

  if (path != NULL)
    sentence = lns_critical_get_sentence (self->critical, path);
  gtk_widget_set_visible (self->ask,
                          lns_critical_get_state (self->critical) == LNS_CRITICAL_UNASKED);
  if (path == NULL || path->parts.n == 0)
    {
      gtk_label_set_text (self->text, excuse != NULL ? excuse : sentence);
      gtk_stack_set_visible_child_name (self->stack, "text");
      return;
    }
  g_autofree char *doubts = doubts_of (path);
  gtk_label_set_text (self->sentence, sentence);
  lns_tooltip_set (GTK_WIDGET (self->sentence), sentence);
  gtk_label_set_text (self->doubts, doubts != NULL ? doubts : "");
  gtk_widget_set_visible (GTK_WIDGET (self->doubts), doubts != NULL);
  for (Table table = 0; table < N_TABLES; table++)
    fill (self, table, path);
  gtk_stack_set_visible_child_name (self->stack, "told");
}

/* Only what is seen is filled. */
static void
changed_cb (LnsCriticalPane *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    show (self);
}

static void
named_cb (LnsCriticalPane *self)
{
  const LnsCriticalPath *path = lns_critical_get_path (self->critical);

  if (!gtk_widget_get_mapped (GTK_WIDGET (self)) || path == NULL)
    return;
  for (Table table = FUNCTIONS; table < N_TABLES; table++)
    fill (self, table, path);
}

static void
table_chosen_cb (LnsCriticalPane *self)
{
  if (shown_table (self) >= FUNCTIONS && gtk_widget_get_mapped (GTK_WIDGET (self)))
    lns_critical_want_names (self->critical);
}

/* --- Where rows lead -------------------------------------------------------------------------- */

static void
row_activated_cb (LnsResultView *view, guint row, LnsCriticalPane *self)
{
  const LnsCriticalPath *path = lns_critical_get_path (self->critical);
  const LnsPathLink *link = NULL;

  if (path == NULL)
    return;
  if (view == self->views[LINKS] && row < path->path.longest.n)
    link = &path->path.longest.items[row];
  else if (view == self->views[PARTS] && row < path->parts.n)
    link = lns_critical_longest_of (self->critical, path, path->parts.items[row].label);
  if (link != NULL)
    lns_critical_go (self->critical, path, link);
}

static void
copy_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsCriticalPane *self = LNS_CRITICAL_PANE (widget);

  lns_result_view_copy (self->views[shown_table (self)]);
}

static void
ask_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_critical_ask (LNS_CRITICAL_PANE (widget)->critical);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
lns_critical_pane_map (GtkWidget *widget)
{
  LnsCriticalPane *self = LNS_CRITICAL_PANE (widget);

  GTK_WIDGET_CLASS (lns_critical_pane_parent_class)->map (widget);
  lns_critical_want (self->critical);
  table_chosen_cb (self);
  show (self);
}

static void
lns_critical_pane_unmap (GtkWidget *widget)
{
  lns_critical_leave (LNS_CRITICAL_PANE (widget)->critical);
  GTK_WIDGET_CLASS (lns_critical_pane_parent_class)->unmap (widget);
}

/* Adds the page of TABLE, which is called NAME. */
static void
add_table (LnsCriticalPane *self, Table table, const char *name)
{
  GtkWidget *page = gtk_stack_new (), *text = g_object_new (GTK_TYPE_LABEL, "wrap", TRUE, "justify",
                                                            GTK_JUSTIFY_CENTER, NULL);

  self->views[table] = LNS_RESULT_VIEW (lns_result_view_new (self->view, _ (titles[table])));
  self->pages[table] = GTK_STACK (page);
  self->texts[table] = GTK_LABEL (text);
  gtk_widget_add_css_class (text, "dim-label");
  lns_result_view_keep_columns (self->views[table]);
  g_signal_connect_object (self->views[table], "row-activated", G_CALLBACK (row_activated_cb), self,
                           0);
  gtk_stack_add_named (self->pages[table], GTK_WIDGET (self->views[table]), "table");
  gtk_stack_add_named (self->pages[table], text, "text");
  gtk_stack_add_titled (self->tables, page, name, _ (titles[table]));
}

GtkWidget *
lns_critical_pane_new (LnsView *view)
{
  static const char *const names[N_TABLES] = { "parts", "links", "functions", "ranges" };
  LnsCriticalPane *self = g_object_new (LNS_TYPE_CRITICAL_PANE, NULL);

  self->view = g_object_ref (view);
  self->critical = lns_critical_of (view);
  for (Table table = 0; table < N_TABLES; table++)
    add_table (self, table, names[table]);
  g_signal_connect_object (self->tables, "notify::visible-child", G_CALLBACK (table_chosen_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->critical, "named", G_CALLBACK (named_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->critical, "changed", G_CALLBACK (changed_cb), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
lns_critical_pane_dispose (GObject *object)
{
  LnsCriticalPane *self = LNS_CRITICAL_PANE (object);

  g_clear_object (&self->critical);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_critical_pane_parent_class)->dispose (object);
}

static void
lns_critical_pane_class_init (LnsCriticalPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_critical_pane_dispose;
  widget_class->map = lns_critical_pane_map;
  widget_class->unmap = lns_critical_pane_unmap;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/critical-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsCriticalPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsCriticalPane, text);
  gtk_widget_class_bind_template_child (widget_class, LnsCriticalPane, ask);
  gtk_widget_class_bind_template_child (widget_class, LnsCriticalPane, sentence);
  gtk_widget_class_bind_template_child (widget_class, LnsCriticalPane, doubts);
  gtk_widget_class_bind_template_child (widget_class, LnsCriticalPane, tables);
  gtk_widget_class_install_action (widget_class, "critical.copy", NULL, copy_cb);
  gtk_widget_class_install_action (widget_class, "critical.ask", NULL, ask_cb);
}

static void
lns_critical_pane_init (LnsCriticalPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
