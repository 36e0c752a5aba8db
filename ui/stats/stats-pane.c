/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/stats/stats-pane.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "src/analysis/filter.h"
#include "src/analysis/stats/report.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/model/job.h"
#include "ui/model/scope.h"
#include "ui/table/result-view.h"

/* Of traces, the first so many rows: the Events View has all. */
#define MAX_ROWS 10000

#define BUSY_OPACITY 0.4

struct _LnsStatsPane
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  LnsScope *scope;       /* owned */
  GPtrArray *choices;    /* owned; of LnsStatsReport, in the order of `reports` */
  GCancellable *running; /* or NULL */
  gboolean is_asked;     /* a table is there or under way */
  LnsResultView *table;  /* the page "table" of `stack` */

  GtkDropDown *reports;
  GtkLabel *count;
  GtkStack *stack; /* pages "text", "table" */
  GtkLabel *text;
};

G_DEFINE_FINAL_TYPE (LnsStatsPane, lns_stats_pane, ADW_TYPE_BIN)

/* --- Computing -------------------------------------------------------------------------------- */

typedef struct
{
  const LnsStatsReport *stats;
  LnsScopeKind scope; /* of the time of `span` unless it is of the whole */
  LnsFilterSpan span;
  LnsResult *result; /* owned, or NULL */
  const char *lacks; /* what the report does not contain, or NULL */
  LnsError error;
} Run;

static void
run_free (gpointer data)
{
  Run *run = data;

  lns_result_free (run->result);
  g_free (run);
}

/* Takes rows about a part of the report: their events have other numbers there, so that only their times lead anywhere. */
typedef struct
{
  LnsRows rows;
  LnsRows *to;
} Timed;

static void
add_timed (LnsRows *rows, const LnsResultCell *cells, const LnsPlace *place)
{
  LnsPlace timed;

  if (place != NULL)
    timed = lns_place (LNS_ID_NONE, 0, place->start_ns, place->end_ns - place->start_ns);
  lns_rows_add (((Timed *)rows)->to, cells, place != NULL ? &timed : NULL);
}

/* RESULT, which is taken over, with places that are times. */
static LnsResult *
with_times (LnsResult *result)
{
  unsigned n;
  const LnsResultColumn *columns = lns_result_columns (result, &n);
  LnsResult *timed = lns_result_new (columns, n, MAX_ROWS);
  Timed rows = { .rows = { .add = add_timed, .wants_places = true },
                 .to = lns_result_rows (timed) };

  lns_result_give (result, &rows.rows);
  lns_result_free (result);
  return timed;
}

/* Runs RUN over REPORT, or over SPAN of it unless that is NULL. */
static void
sum_up (Run *run, LnsReport *report, const LnsFilterSpan *span, const atomic_bool *cancel)
{
  const char *name = run->stats->name;
  LnsTables *tables = lns_tables_new (report, &run->error);
  LnsStatsResult *result =
      tables == NULL ? NULL
      : span != NULL
          ? lns_stats_report_run_between (run->stats, name, tables, span, cancel, &run->error)
          : lns_stats_report_run (run->stats, name, tables, cancel, &run->error);

  if (result != NULL && lns_stats_result_n_rows (result) > 0)
    run->result = lns_stats_result_collect (result, MAX_ROWS, &run->error);
  else if (result != NULL)
    run->lacks = lns_stats_result_lacks (result);
  lns_stats_result_free (result);
  lns_tables_free (tables);
}

/* Runs RUN, which does not take spans, over its time: over a report of its events, as --filter-time does. */
static void
sum_up_part (Run *run, LnsReport *report, const atomic_bool *cancel)
{
  g_autofree char *folder = g_dir_make_tmp ("lanescope-part-XXXXXX", NULL);
  LnsReport *part = NULL;

  if (folder == NULL)
    {
      lns_error_set (&run->error, LNS_ERROR_IO, 0,
                     "cannot make a folder for the selected time in %s (TMPDIR)", g_get_tmp_dir ());
      return;
    }
  g_autofree char *path = g_build_filename (folder, "part.rep", NULL);
  if (lns_filter_write (report, &run->span, path, cancel, &run->error))
    part = lns_report_open (path, NULL, &run->error);
  if (part != NULL)
    sum_up (run, part, NULL, cancel);
  lns_report_close (part);
  g_unlink (path);
  g_rmdir (folder);
  if (run->result != NULL)
    run->result = with_times (run->result);
}

/* On a worker. */
static void
run_work (LnsWorker *worker, gpointer data)
{
  Run *run = data;

  const LnsFilterSpan *span = run->scope != LNS_SCOPE_WHOLE ? &run->span : NULL;

  if (span != NULL && !lns_stats_report_takes_spans (run->stats, run->stats->name))
    sum_up_part (run, worker->report, &worker->cancelled);
  else
    sum_up (run, worker->report, span, &worker->cancelled);
}

/* Tells that the table is of what was asked for before, until IS_BUSY is false. It stays: to take it away and bring it back would lay out
 * all of its cells twice. */
static void
set_busy (LnsStatsPane *self, gboolean is_busy)
{
  GtkWidget *table = GTK_WIDGET (self->table);

  gtk_widget_set_opacity (table, is_busy ? BUSY_OPACITY : 1);
  gtk_widget_set_can_target (table, !is_busy);
  gtk_accessible_update_state (GTK_ACCESSIBLE (table), GTK_ACCESSIBLE_STATE_BUSY, is_busy, -1);
}

static void
show_text (LnsStatsPane *self, const char *text)
{
  set_busy (self, FALSE);
  gtk_label_set_text (self->text, text);
  gtk_stack_set_visible_child_name (self->stack, "text");
  gtk_label_set_text (self->count, "");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "stats.copy", FALSE);
}

static void
run_done (gpointer data, gpointer owner)
{
  Run *run = data;
  LnsStatsPane *self = owner;
  char number[LNS_FORMAT_SIZE];

  if (run->result == NULL || lns_result_n_rows (run->result) == 0)
    {
      const char *lacks = _ (run->lacks != NULL ? run->lacks : run->stats->lacks);
      g_autofree char *text =
          run->result == NULL && run->lacks == NULL ? g_strdup (run->error.message)
          : run->scope == LNS_SCOPE_SELECTION
              ? g_strdup_printf (_ ("The selected time does not contain %s."), lacks)
          : run->scope == LNS_SCOPE_VIEW
              ? g_strdup_printf (_ ("The time in view does not contain %s."), lacks)
              : g_strdup_printf (_ ("The report does not contain %s."), lacks);
      show_text (self, text);
      return;
    }
  const size_t n = lns_result_n_rows (run->result);
  const uint64_t n_more = lns_result_n_left_out (run->result);
  lns_format_unsigned (n + n_more, number);
  g_autofree char *rows = g_strdup_printf (ngettext ("%s row", "%s rows", n + n_more), number);
  lns_format_unsigned (n, number);
  g_autofree char *shown = g_strdup_printf (_ ("%s; the first %s are shown"), rows, number);
  gtk_label_set_text (self->count, n_more > 0 ? shown : rows);
  set_busy (self, FALSE);
  lns_result_view_set (self->table, g_steal_pointer (&run->result));
  gtk_stack_set_visible_child_name (self->stack, "table");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "stats.copy", TRUE);
}

static const LnsJobFuncs run_funcs = { run_work, run_done, run_free, NULL };

static void
ask (LnsStatsPane *self)
{
  Run *run = g_new0 (Run, 1);

  self->is_asked = TRUE;
  run->stats = g_ptr_array_index (self->choices, gtk_drop_down_get_selected (self->reports));
  run->span.process = LNS_ID_NONE;
  run->scope = lns_scope_get (self->scope, &run->span.start_ns, &run->span.end_ns);
  /* What only touches the time is not of it, as in other panes; the filter takes it in. */
  if (run->scope != LNS_SCOPE_WHOLE && lns_difference (run->span.end_ns, run->span.start_ns) > 1)
    {
      run->span.start_ns++;
      run->span.end_ns--;
    }
  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "table") != 0)
    show_text (self, _ ("Summing up…"));
  else
    {
      set_busy (self, TRUE);
      gtk_label_set_text (self->count, _ ("Summing up…"));
      gtk_widget_action_set_enabled (GTK_WIDGET (self), "stats.copy", FALSE);
    }
  lns_job_start (&self->running, self->view, &run_funcs, run, self);
}

/* --- Choosing --------------------------------------------------------------------------------- */

/* The report that tells most of what was recorded. */
static const char *
first_choice (LnsReport *report)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  gboolean has_ranges = FALSE, has_states = FALSE;

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      if (lanes[i].kind == LNS_LANE_CUDA_KERNEL)
        return "cuda_gpu_kern_sum";
      has_ranges |= lanes[i].kind == LNS_LANE_NVTX_PUSH_POP;
      has_states |= lanes[i].kind == LNS_LANE_SCHED;
    }
  return has_ranges ? "nvtx_sum" : has_states ? "thread_sum" : "sample_sum";
}

static void
choose_first (LnsStatsPane *self)
{
  const char *wanted = first_choice (lns_view_get_report (self->view));

  for (guint i = 0; i < self->choices->len; i++)
    {
      const LnsStatsReport *stats = g_ptr_array_index (self->choices, i);
      if (strcmp (stats->name, wanted) == 0)
        gtk_drop_down_set_selected (self->reports, i);
    }
}

static void
fill_reports (LnsStatsPane *self)
{
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  const LnsStatsReport *stats;

  self->choices = g_ptr_array_new ();
  for (size_t i = 0; (stats = lns_stats_report_at (i)) != NULL; i++)
    {
      if (!lns_stats_report_is_made (stats))
        continue;
      g_ptr_array_add (self->choices, (gpointer)stats);
      gtk_string_list_append (titles, _ (stats->title));
    }
  gtk_drop_down_set_model (self->reports, G_LIST_MODEL (titles));
  gtk_drop_down_set_expression (
      self->reports, gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string"));
  choose_first (self);
}

/* The table is of another time, which has stopped changing. */
static void
rested_cb (LnsScope *scope, LnsStatsPane *self)
{
  if (self->is_asked && gtk_widget_get_mapped (GTK_WIDGET (self)))
    ask (self);
  else
    self->is_asked = FALSE; /* once it is seen */
}

/* The table stays as it is while the report is being recorded. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsStatsPane *self)
{
  if (!self->is_asked)
    choose_first (self);
  else if (!lns_view_is_live (view))
    rested_cb (self->scope, self);
}

static void
chosen_cb (GtkDropDown *reports, GParamSpec *pspec, LnsStatsPane *self)
{
  if (self->is_asked && gtk_drop_down_get_selected (reports) < self->choices->len)
    ask (self);
}

static void
copy_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_result_view_copy (LNS_STATS_PANE (widget)->table);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
lns_stats_pane_map (GtkWidget *widget)
{
  LnsStatsPane *self = LNS_STATS_PANE (widget);

  GTK_WIDGET_CLASS (lns_stats_pane_parent_class)->map (widget);
  if (!self->is_asked)
    ask (self);
}

GtkWidget *
lns_stats_pane_new (LnsView *view)
{
  LnsStatsPane *self = g_object_new (LNS_TYPE_STATS_PANE, NULL);

  self->view = g_object_ref (view);
  self->scope = lns_scope_of (view);
  self->table = LNS_RESULT_VIEW (lns_result_view_new (view, _ ("Stats")));
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->table), "table");
  fill_reports (self);
  g_signal_connect_object (self->scope, "rested", G_CALLBACK (rested_cb), self, 0);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  g_signal_connect (self->reports, "notify::selected", G_CALLBACK (chosen_cb), self);
  return GTK_WIDGET (self);
}

static void
lns_stats_pane_dispose (GObject *object)
{
  LnsStatsPane *self = LNS_STATS_PANE (object);

  lns_job_cancel (&self->running);
  g_clear_pointer (&self->choices, g_ptr_array_unref);
  g_clear_object (&self->scope);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_stats_pane_parent_class)->dispose (object);
}

static void
lns_stats_pane_class_init (LnsStatsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_stats_pane_dispose;
  widget_class->map = lns_stats_pane_map;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/stats-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsStatsPane, reports);
  gtk_widget_class_bind_template_child (widget_class, LnsStatsPane, count);
  gtk_widget_class_bind_template_child (widget_class, LnsStatsPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsStatsPane, text);
  gtk_widget_class_install_action (widget_class, "stats.copy", NULL, copy_cb);
}

static void
lns_stats_pane_init (LnsStatsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
