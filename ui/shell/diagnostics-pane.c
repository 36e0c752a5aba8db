/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/diagnostics-pane.h"

#include <glib/gi18n.h>
#include <stdlib.h>

#include "src/base/format.h"
#include "ui/shell/diagnostics-model.h"
#include "ui/model/display-text.h"

struct _LnsDiagnosticsPane
{
  AdwBin parent_instance;

  LnsView *view;           /* owned */
  GCancellable *examining; /* owned; or NULL */
  LnsFinding *findings;    /* owned; whose texts the list shows, or NULL */

  GtkStack *stack; /* pages "empty", "list" */
  GtkColumnView *columns;
};

G_DEFINE_FINAL_TYPE (LnsDiagnosticsPane, lns_diagnostics_pane, ADW_TYPE_BIN)

/* The texts of a cell are the caller's to free and valid UTF-8. */
typedef char *(*CellText) (LnsReport *report, const LnsDiagnosticRow *diagnostic);

static char *
report_string (LnsReport *report, uint32_t id)
{
  size_t size_bytes;
  const char *bytes = lns_report_string (report, id, &size_bytes);

  return lns_display_text (bytes, size_bytes, TRUE);
}

static char *
severity_text (LnsReport *report, const LnsDiagnosticRow *diagnostic)
{
  static const char *const names[] = { N_ ("Information"), N_ ("Warning"), N_ ("Error") };

  return g_strdup (_ (names[diagnostic->severity]));
}

static char *
time_text (LnsReport *report, const LnsDiagnosticRow *diagnostic)
{
  char text[LNS_FORMAT_SIZE];

  if (diagnostic->time_ns == LNS_TIME_UNKNOWN)
    return g_strdup ("—");
  return g_strdup (lns_format_duration (diagnostic->time_ns, text));
}

static char *
process_text (LnsReport *report, const LnsDiagnosticRow *diagnostic)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);

  if (diagnostic->process >= n)
    return g_strdup ("—");
  const LnsProcess *process = &processes[diagnostic->process];
  g_autofree char *name = report_string (report, process->name);
  return lns_display_numbered (name, process->pid);
}

static char *
code_text (LnsReport *report, const LnsDiagnosticRow *diagnostic)
{
  return lns_display_text (diagnostic->code, strlen (diagnostic->code), TRUE);
}

static char *
message_text (LnsReport *report, const LnsDiagnosticRow *diagnostic)
{
  return lns_display_text (diagnostic->text, strlen (diagnostic->text), FALSE);
}

typedef struct
{
  const char *title;
  int width_px; /* 0: what is left */
  CellText text;
} Column;

static const Column columns[] = {
  { N_ ("Severity"), 130, severity_text }, { N_ ("Time"), 110, time_text },
  { N_ ("Process"), 160, process_text },   { N_ ("Code"), 140, code_text },
  { N_ ("Message"), 0, message_text },
};

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const Column *column)
{
  GtkWidget *label = g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "yalign", 0.0, NULL);

  /* A message ends with what to do. */
  if (column->text == message_text)
    g_object_set (label, "wrap", TRUE, "wrap-mode", PANGO_WRAP_WORD_CHAR, NULL);
  else
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (item, label);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const Column *column)
{
  static const char *const classes[] = { "numeric", "warning", "error" };
  LnsReport *report = g_object_get_data (G_OBJECT (factory), "report");
  GtkWidget *label = gtk_list_item_get_child (item);
  const LnsDiagnosticRow *diagnostic = lns_diagnostic_item_get (gtk_list_item_get_item (item));
  g_autofree char *text = column->text (report, diagnostic);

  gtk_label_set_text (GTK_LABEL (label), text);
  gtk_widget_set_tooltip_text (label, text);
  if (column->text == severity_text)
    gtk_widget_set_css_classes (label, (const char *[]){ classes[diagnostic->severity], NULL });
}

static void
add_column (LnsDiagnosticsPane *self, const Column *column)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *view_column = gtk_column_view_column_new (_ (column->title), factory);

  g_object_set_data (G_OBJECT (factory), "report", lns_view_get_report (self->view));
  g_signal_connect (factory, "setup", G_CALLBACK (setup_cb), (gpointer)column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cb), (gpointer)column);
  gtk_column_view_column_set_resizable (view_column, TRUE);
  if (column->width_px > 0)
    gtk_column_view_column_set_fixed_width (view_column, column->width_px);
  else
    gtk_column_view_column_set_expand (view_column, TRUE);
  gtk_column_view_append_column (self->columns, view_column);
  g_object_unref (view_column);
}

/* Moves the timeline to where the chosen diagnostic came up, close enough to see what it is about. */
static void
selected_cb (GtkSingleSelection *rows, GParamSpec *pspec, LnsDiagnosticsPane *self)
{
  LnsDiagnosticItem *item = gtk_single_selection_get_selected_item (rows);
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));
  int64_t report_ns = info->end_ns - info->start_ns;
  int64_t span_ns = lns_view_get_end_ns (self->view) - lns_view_get_start_ns (self->view);

  if (item == NULL || lns_diagnostic_item_get (item)->time_ns == LNS_TIME_UNKNOWN)
    return;
  int64_t time_ns = lns_diagnostic_item_get (item)->time_ns;
  span_ns = MIN (span_ns, report_ns / 20);
  lns_view_show_span (self->view, time_ns - span_ns / 2, time_ns + span_ns / 2);
}

/* --- The doctor ----------------------------------------------------------------------------- */

typedef struct
{
  LnsView *view; /* owned: its report is read */
  LnsFinding *findings;
  size_t n;
} Examining;

static void
examining_free (gpointer data)
{
  Examining *examining = data;

  g_clear_object (&examining->view);
  free (examining->findings);
  g_free (examining);
}

static void
examine_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Examining *examining = data;

  /* What cannot be read is told where it is needed. */
  lns_doctor_examine (lns_view_get_report (examining->view), &examining->findings, &examining->n,
                      NULL);
  g_task_return_boolean (task, TRUE);
}

static void
examined_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Examining *examining = g_task_get_task_data (G_TASK (result));
  g_autoptr (LnsView) view = g_steal_pointer (&examining->view);

  if (!g_task_propagate_boolean (G_TASK (result), NULL))
    return; /* cancelled: the pane may be gone */
  LnsDiagnosticsPane *self = LNS_DIAGNOSTICS_PANE (data);
  GtkSelectionModel *rows = gtk_column_view_get_model (self->columns);
  GListModel *model = gtk_single_selection_get_model (GTK_SINGLE_SELECTION (rows));
  g_clear_object (&self->examining);
  if (examining->n == 0)
    return;
  self->findings = g_steal_pointer (&examining->findings);
  lns_diagnostics_append (G_LIST_STORE (model), self->findings, examining->n);
  gtk_stack_set_visible_child_name (self->stack, "list");
}

/* Has the doctor look at the report, on a thread of its own. */
static void
examine (LnsDiagnosticsPane *self)
{
  Examining *examining = g_new0 (Examining, 1);

  examining->view = g_object_ref (self->view);
  self->examining = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->examining, examined_cb, self);
  g_task_set_task_data (task, examining, examining_free);
  g_task_run_in_thread (task, examine_thread);
}

/* --- Life ----------------------------------------------------------------------------------- */

GtkWidget *
lns_diagnostics_pane_new (LnsView *view)
{
  LnsDiagnosticsPane *self = g_object_new (LNS_TYPE_DIAGNOSTICS_PANE, NULL);
  GListStore *model = lns_diagnostics_new (lns_view_get_report (view));
  gboolean empty = g_list_model_get_n_items (G_LIST_MODEL (model)) == 0;
  g_autoptr (GtkSingleSelection) rows = g_object_new (
      GTK_TYPE_SINGLE_SELECTION, "autoselect", FALSE, "can-unselect", TRUE, "model", model, NULL);

  g_object_unref (model);
  self->view = g_object_ref (view);
  g_signal_connect_object (rows, "notify::selected-item", G_CALLBACK (selected_cb), self, 0);
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    add_column (self, &columns[i]);
  gtk_column_view_set_model (self->columns, GTK_SELECTION_MODEL (rows));
  gtk_stack_set_visible_child_name (self->stack, empty ? "empty" : "list");
  examine (self);
  return GTK_WIDGET (self);
}

static void
lns_diagnostics_pane_dispose (GObject *object)
{
  LnsDiagnosticsPane *self = LNS_DIAGNOSTICS_PANE (object);

  g_cancellable_cancel (self->examining);
  g_clear_object (&self->examining);
  /* The items' texts are the findings' and the report's, which goes with the view's last reference. */
  if (self->columns != NULL)
    gtk_column_view_set_model (self->columns, NULL);
  g_clear_pointer (&self->findings, free);
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
