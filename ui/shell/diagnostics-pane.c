/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/diagnostics-pane.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/language.h"
#include "ui/model/column-view.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/tooltip.h"
#include "ui/shell/problems.h"

struct _LnsDiagnosticsPane
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  LnsProblems *problems; /* owned */
  GtkStringList *list;   /* borrowed from the columns; an item for each problem */

  GtkStack *stack; /* pages "empty", "list" */
  GtkColumnView *columns;
};

G_DEFINE_FINAL_TYPE (LnsDiagnosticsPane, lns_diagnostics_pane, ADW_TYPE_BIN)

/* --- Cells ------------------------------------------------------------------------------------ */

typedef enum
{
  COLUMN_SEVERITY,
  COLUMN_TIME,
  COLUMN_PROCESS,
  COLUMN_CODE,
  COLUMN_MESSAGE
} ColumnId;

static const LnsColumn columns[] = {
  { COLUMN_SEVERITY, N_ ("Severity"), 130 }, { COLUMN_TIME, N_ ("Time"), 130 },
  { COLUMN_PROCESS, N_ ("Process"), 190 },   { COLUMN_CODE, N_ ("Code"), 140 },
  { COLUMN_MESSAGE, N_ ("Message"), 0 },
};

static const LnsProblem *
problem_at (LnsDiagnosticsPane *self, guint position)
{
  guint n;
  return &lns_problems_get (self->problems, &n)[position];
}

/* The text of a cell: valid UTF-8. Free with g_free (). */
static char *
cell_text (LnsReport *report, const LnsProblem *problem, ColumnId id)
{
  static const char *const severities[] = { N_ ("Information"), N_ ("Warning"), N_ ("Error") };
  g_autofree char *message = NULL;

  switch (id)
    {
    case COLUMN_SEVERITY:
      return g_strdup (_ (severities[problem->severity]));
    case COLUMN_TIME:
      return problem->time_ns != LNS_TIME_UNKNOWN ? lns_event_text_time (problem->time_ns)
                                                  : g_strdup ("—");
    case COLUMN_PROCESS:
      return lns_event_text_process (report, problem->process);
    case COLUMN_CODE:
      return lns_display_text (problem->code, strlen (problem->code), TRUE);
    case COLUMN_MESSAGE:
      message = lns_text_of_sentence (problem->text);
      return lns_display_text (message, strlen (message), FALSE);
    }
  return NULL;
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  GtkWidget *label = g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "yalign", 0.0, NULL);

  /* A message ends with what to do. */
  if (column->id == COLUMN_MESSAGE)
    g_object_set (label, "wrap", TRUE, "wrap-mode", PANGO_WRAP_WORD_CHAR, NULL);
  else
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (item, label);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  static const char *const classes[] = { "numeric", "warning", "error" };
  LnsDiagnosticsPane *self = lns_column_owner (factory);
  GtkWidget *label = gtk_list_item_get_child (item);
  const LnsProblem *problem = problem_at (self, gtk_list_item_get_position (item));
  g_autofree char *text = cell_text (lns_view_get_report (self->view), problem, column->id);

  gtk_label_set_text (GTK_LABEL (label), text);
  lns_tooltip_set (label, text);
  if (column->id == COLUMN_SEVERITY)
    gtk_widget_set_css_classes (label, (const char *[]){ classes[problem->severity], NULL });
}

/* Moves the timeline to where the chosen diagnostic came up, close enough to see what it is about. */
static void
selected_cb (GtkSingleSelection *rows, GParamSpec *pspec, LnsDiagnosticsPane *self)
{
  guint position = gtk_single_selection_get_selected (rows);
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));
  int64_t report_ns = info->end_ns - info->start_ns;
  int64_t span_ns = lns_view_get_end_ns (self->view) - lns_view_get_start_ns (self->view);

  if (position == GTK_INVALID_LIST_POSITION)
    return;
  const int64_t time_ns = problem_at (self, position)->time_ns;
  if (time_ns == LNS_TIME_UNKNOWN)
    return;
  span_ns = MIN (span_ns, report_ns / 20);
  lns_view_show_span (self->view, time_ns - span_ns / 2, time_ns + span_ns / 2);
}

/* --- Life ----------------------------------------------------------------------------------- */

/* The problems from number FROM on are other ones. */
static void
changed_cb (LnsProblems *problems, guint from, LnsDiagnosticsPane *self)
{
  const guint n_before = g_list_model_get_n_items (G_LIST_MODEL (self->list));
  guint n;

  lns_problems_get (problems, &n);
  gtk_string_list_splice (self->list, from, n_before - from, NULL);
  for (guint i = from; i < n; i++)
    gtk_string_list_append (self->list, "");
  gtk_stack_set_visible_child_name (self->stack, n == 0 ? "empty" : "list");
}

GtkWidget *
lns_diagnostics_pane_new (LnsView *view)
{
  LnsDiagnosticsPane *self = g_object_new (LNS_TYPE_DIAGNOSTICS_PANE, NULL);
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  g_autoptr (GtkSingleSelection) rows = g_object_new (
      GTK_TYPE_SINGLE_SELECTION, "autoselect", FALSE, "can-unselect", TRUE, "model", list, NULL);

  self->list = list;
  self->view = g_object_ref (view);
  self->problems = lns_problems_of (view);
  g_signal_connect_object (rows, "notify::selected-item", G_CALLBACK (selected_cb), self, 0);
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    lns_column_view_add (self->columns, &columns[i], G_CALLBACK (setup_cb), G_CALLBACK (bind_cb),
                         self);
  gtk_column_view_set_model (self->columns, GTK_SELECTION_MODEL (rows));
  g_signal_connect_object (self->problems, "changed", G_CALLBACK (changed_cb), self, 0);
  changed_cb (self->problems, 0, self);
  return GTK_WIDGET (self);
}

static void
lns_diagnostics_pane_dispose (GObject *object)
{
  LnsDiagnosticsPane *self = LNS_DIAGNOSTICS_PANE (object);

  /* The items' texts are the problems' and the report's, which goes with the view's last reference. */
  if (self->columns != NULL)
    gtk_column_view_set_model (self->columns, NULL);
  g_clear_object (&self->problems);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_diagnostics_pane_parent_class)->dispose (object);
}

static void
lns_diagnostics_pane_class_init (LnsDiagnosticsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_diagnostics_pane_dispose;
  gtk_widget_class_set_template_from_resource (
      widget_class, "/io/github/lanescope/Lanescope/diagnostics-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsDiagnosticsPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsDiagnosticsPane, columns);
}

static void
lns_diagnostics_pane_init (LnsDiagnosticsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
