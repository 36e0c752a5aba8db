/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/diagnostics-pane.h"

#include <glib/gi18n.h>
#include <stdlib.h>

#include "src/base/format.h"
#include "src/base/language.h"
#include "src/analysis/rules/doctor.h"
#include "ui/model/column-view.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/tooltip.h"

struct _LnsDiagnosticsPane
{
  AdwBin parent_instance;

  LnsView *view;           /* owned */
  GCancellable *examining; /* owned; or NULL */
  GArray *problems;        /* owned; of Problem */
  GtkStringList *list;     /* borrowed from the columns; an item for each problem */
  LnsFinding *findings;    /* owned; whose texts the list shows, or NULL */

  GtkStack *stack; /* pages "empty", "list" */
  GtkColumnView *columns;
};

G_DEFINE_FINAL_TYPE (LnsDiagnosticsPane, lns_diagnostics_pane, ADW_TYPE_BIN)

enum
{
  PROPERTY_COUNT = 1,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

/* --- The list -------------------------------------------------------------------------------- */

/* A problem of a report: a diagnostic, or a finding of the doctor. Its texts belong to the report or to the findings. */
typedef struct
{
  const char *code;
  const char *text;
  LnsSeverity severity;
  int64_t time_ns;  /* LNS_TIME_UNKNOWN = of the whole session */
  uint32_t process; /* or LNS_ID_NONE */
} Problem;

static void
append (LnsDiagnosticsPane *self, Problem problem)
{
  g_array_append_val (self->problems, problem);
  gtk_string_list_append (self->list, "");
}

/* Appends the diagnostics of the report, the most severe first, otherwise in the report's order. */
static void
append_diagnostics (LnsDiagnosticsPane *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  uint32_t n;
  const LnsDiagnostic *all = lns_report_diagnostics (report, &n);

  /* A diagnostic of unknown severity is not shown. */
  for (int severity = LNS_SEVERITY_ERROR; severity >= LNS_SEVERITY_INFO; severity--)
    for (uint32_t i = 0; i < n; i++)
      if ((int)all[i].severity == severity)
        append (self, (Problem){ lns_report_string (report, all[i].code, NULL),
                                 lns_report_string (report, all[i].text, NULL), all[i].severity,
                                 all[i].time_ns, all[i].process });
}

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
  { COLUMN_PROCESS, N_ ("Process"), 160 },   { COLUMN_CODE, N_ ("Code"), 140 },
  { COLUMN_MESSAGE, N_ ("Message"), 0 },
};

/* The text of a cell: valid UTF-8. Free with g_free (). */
static char *
cell_text (LnsReport *report, const Problem *problem, ColumnId id)
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
  const Problem *problem =
      &g_array_index (self->problems, Problem, gtk_list_item_get_position (item));
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
  const int64_t time_ns = g_array_index (self->problems, Problem, position).time_ns;
  if (time_ns == LNS_TIME_UNKNOWN)
    return;
  span_ns = MIN (span_ns, report_ns / 20);
  lns_view_show_span (self->view, time_ns - span_ns / 2, time_ns + span_ns / 2);
}

/* --- The doctor ----------------------------------------------------------------------------- */

typedef struct
{
  LnsFinding *findings; /* owned */
  size_t n;
} Examining;

static void
examining_free (gpointer data)
{
  Examining *examining = data;

  free (examining->findings);
  g_free (examining);
}

static void
examine (LnsWorker *worker, gpointer job)
{
  Examining *examining = job;

  /* What cannot be read is told where it is needed. */
  lns_doctor_examine (worker->report, &examining->findings, &examining->n, NULL);
}

static void
examined_cb (gpointer job, gpointer owner)
{
  Examining *examining = job;
  LnsDiagnosticsPane *self = owner;

  if (examining->n == 0)
    return;
  self->findings = g_steal_pointer (&examining->findings);
  for (size_t i = 0; i < examining->n; i++)
    append (self,
            (Problem){ self->findings[i].code, self->findings[i].text, self->findings[i].severity,
                       LNS_TIME_UNKNOWN, self->findings[i].process });
  gtk_stack_set_visible_child_name (self->stack, "list");
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROPERTY_COUNT]);
}

static const LnsJobFuncs examine_funcs = { examine, examined_cb, examining_free };

/* --- Life ----------------------------------------------------------------------------------- */

/* Fills the list. What the doctor finds comes when the report is whole. */
static void
fill (LnsDiagnosticsPane *self)
{
  append_diagnostics (self);
  gtk_stack_set_visible_child_name (self->stack, self->problems->len == 0 ? "empty" : "list");
  if (!lns_view_is_live (self->view))
    lns_job_start (&self->examining, self->view, &examine_funcs, g_new0 (Examining, 1), self);
}

/* Fills the list anew if there are other diagnostics, and when the recording has ended. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsDiagnosticsPane *self)
{
  uint32_t n, n_before;

  lns_report_diagnostics (before, &n_before);
  lns_report_diagnostics (lns_view_get_report (view), &n);
  if (n == n_before && lns_view_is_live (view))
    return;
  g_array_set_size (self->problems, 0);
  gtk_string_list_splice (self->list, 0, g_list_model_get_n_items (G_LIST_MODEL (self->list)),
                          NULL);
  g_clear_pointer (&self->findings, free);
  fill (self);
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
  g_signal_connect_object (rows, "notify::selected-item", G_CALLBACK (selected_cb), self, 0);
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    lns_column_view_add (self->columns, &columns[i], G_CALLBACK (setup_cb), G_CALLBACK (bind_cb),
                         self);
  gtk_column_view_set_model (self->columns, GTK_SELECTION_MODEL (rows));
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  fill (self);
  return GTK_WIDGET (self);
}

static void
lns_diagnostics_pane_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_uint (value, LNS_DIAGNOSTICS_PANE (object)->problems->len);
}

static void
lns_diagnostics_pane_dispose (GObject *object)
{
  LnsDiagnosticsPane *self = LNS_DIAGNOSTICS_PANE (object);

  lns_job_cancel (&self->examining);
  /* The items' texts are the findings' and the report's, which goes with the view's last reference. */
  if (self->columns != NULL)
    gtk_column_view_set_model (self->columns, NULL);
  g_clear_pointer (&self->problems, g_array_unref);
  g_clear_pointer (&self->findings, free);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_diagnostics_pane_parent_class)->dispose (object);
}

static void
lns_diagnostics_pane_class_init (LnsDiagnosticsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_diagnostics_pane_dispose;
  G_OBJECT_CLASS (klass)->get_property = lns_diagnostics_pane_get_property;
  properties[PROPERTY_COUNT] = g_param_spec_uint ("count", NULL, NULL, 0, G_MAXUINT, 0,
                                                  G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPERTIES, properties);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/io/github/lanescope/Lanescope/diagnostics-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsDiagnosticsPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsDiagnosticsPane, columns);
}

static void
lns_diagnostics_pane_init (LnsDiagnosticsPane *self)
{
  self->problems = g_array_new (FALSE, FALSE, sizeof (Problem));
  gtk_widget_init_template (GTK_WIDGET (self));
}
