/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/steps/steps-pane.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/tables/lanes.h"
#include "ui/model/answer.h"
#include "ui/model/job.h"
#include "ui/steps/step-chart.h"
#include "ui/steps/step-parts.h"
#include "ui/table/result-view.h"

struct _LnsStepsPane
{
  AdwBin parent_instance;

  LnsView *view;     /* owned */
  LnsAnswer *answer; /* owned */
  GtkStack *stack;   /* pages "text", "table" */
  GtkWidget *text, *ask;
  GtkPaned *paned;
  LnsResultView *table;
  LnsStepChart *chart;
  LnsStepParts *parts;
  GCancellable *listing; /* the job that makes the table's rows, or NULL */
};

G_DEFINE_FINAL_TYPE (LnsStepsPane, lns_steps_pane, ADW_TYPE_BIN)

/* Whether it was recorded when THREAD was on a CPU. O(lanes). */
static gboolean
knows_states (LnsReport *report, uint32_t thread)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);

  for (uint32_t lane = 0; lane < n; lane++)
    if (lanes[lane].kind == LNS_LANE_SCHED && lns_track_of (report, lane)->thread == thread &&
        lns_report_lane_info (report, lane)->n_events > 0)
      return TRUE;
  return FALSE;
}

/* How much of STEP the GPU was busy, or the thread on a CPU where there is none. */
static int64_t
busy_ns (const LnsWhy *why, const LnsStep *step, gboolean is_device)
{
  return is_device ? step->busy_ns
                   : why->steps.ns[step->index * (1 + LNS_N_IDLE_CAUSES) + 1 + LNS_CAUSE_CPU_WORK];
}

typedef struct
{
  LnsWhy *why;       /* owned */
  LnsResult *result; /* owned, or NULL */
} Listing;

static void
listing_free (gpointer data)
{
  Listing *it = data;

  lns_result_free (it->result);
  lns_why_free (it->why);
  g_free (it);
}

/* On a worker: there may be hundreds of thousands of steps. */
static void
list_work (LnsWorker *worker, gpointer data)
{
  Listing *it = data;
  LnsReport *report = worker->report;
  const LnsWhy *why = it->why;
  const gboolean is_device = why->ledgers.n > 0 && why->ledgers.items[0].is_device;
  const LnsResultColumn columns[] = {
    { _ ("Step"), LNS_RESULT_COUNT, 0 },
    { _ ("Most of It"), LNS_RESULT_TEXT, 0 },
    { _ ("Start"), LNS_RESULT_TIME, 0 },
    { _ ("Duration"), LNS_RESULT_TIME, 0 },
    { _ ("× Median"), LNS_RESULT_NUMBER, 1 },
    { is_device ? _ ("GPU Busy") : _ ("On a CPU"), LNS_RESULT_TIME, 0 },
  };
  const gboolean is_busy_known =
      is_device || (why->ledgers.n > 0 && knows_states (report, why->ledgers.items[0].thread));
  const char *work = is_device ? _ ("the GPU's work") : _ ("work");
  it->result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);
  LnsRows *rows = lns_result_rows (it->result);

  for (size_t i = 0; i < why->steps.all.n && !atomic_load (&worker->cancelled); i++)
    {
      const LnsStep *step = &why->steps.all.items[i];
      const int64_t ns = lns_difference (step->end_ns, step->start_ns);
      const char *cause = step->is_busy ? work : lns_cause_name (step->cause);
      const LnsResultCell cells[] = {
        { .number = (int64_t)step->index + 1 },
        { .bytes = cause, .size_bytes = strlen (cause) },
        { .number = step->start_ns },
        { .number = ns },
        { .number = llround (10.0 * (double)ns / (double)MAX (why->steps.p50_ns, 1)) },
        { .number = is_busy_known ? busy_ns (why, step, is_device) : 0,
          .is_empty = !is_busy_known },
      };
      const LnsPlace place = lns_place (LNS_ID_NONE, 0, step->start_ns, ns);
      lns_rows_add (rows, cells, &place);
    }
}

static void
list_done (gpointer data, gpointer owner)
{
  Listing *it = data;

  LnsStepsPane *self = owner;
  const gboolean is_first = lns_result_view_whole_px (self->table) == 0;

  lns_result_view_set (self->table, g_steal_pointer (&it->result));
  /* What is left is for the other table, which has longer names. */
  if (is_first)
    gtk_paned_set_position (self->paned, lns_result_view_whole_px (self->table));
}

static const LnsJobFuncs list_funcs = { list_work, list_done, listing_free, NULL };

/* Lists the steps of WHY in the table. */
static void
list (LnsStepsPane *self, const LnsWhy *why)
{
  Listing *it = g_new0 (Listing, 1);

  it->why = lns_why_ref (why);
  lns_job_start (&self->listing, self->view, &list_funcs, it, self);
}

/* The step that the selected time is in, or else the slowest. */
static size_t
chosen_step (LnsStepsPane *self, const LnsWhySteps *steps)
{
  int64_t start_ns, end_ns;
  size_t slowest = 0;
  const gboolean has_band = lns_view_get_time_selection (self->view, &start_ns, &end_ns);

  for (size_t i = 0; i < steps->all.n; i++)
    {
      const LnsStep *step = &steps->all.items[i], *longest = &steps->all.items[slowest];
      const int64_t middle_ns = has_band ? start_ns + (end_ns - start_ns) / 2 : 0;
      if (has_band && step->start_ns <= middle_ns && middle_ns < step->end_ns)
        return i;
      if (lns_difference (step->end_ns, step->start_ns) >
          lns_difference (longest->end_ns, longest->start_ns))
        slowest = i;
    }
  return slowest;
}

/* Compares the step that is selected, once somebody looks. */
static void
compare (LnsStepsPane *self)
{
  const LnsWhy *why = lns_answer_get_why (self->answer);

  if (why == NULL || why->steps.all.n < 2 || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  const size_t step = chosen_step (self, &why->steps);
  lns_step_chart_mark (self->chart, step);
  lns_step_parts_show (self->parts, step);
}

static void
changed_cb (LnsAnswer *answer, LnsStepsPane *self)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  g_autofree char *excuse = lns_answer_get_excuse (answer);

  lns_job_cancel (&self->listing);
  gtk_widget_set_visible (self->ask, lns_answer_get_state (answer) == LNS_ANSWER_UNASKED);
  if (why != NULL && why->steps.all.n > 0)
    {
      list (self, why);
      gtk_stack_set_visible_child_name (self->stack, "table");
      gtk_widget_set_visible (GTK_WIDGET (self->parts), why->steps.all.n > 1);
      compare (self);
      return;
    }
  gtk_label_set_text (GTK_LABEL (self->text),
                      excuse != NULL
                          ? excuse
                          : _ ("No steps were found: no range or kernel comes again and again, one "
                               "after the other."));
  gtk_stack_set_visible_child_name (self->stack, "text");
}

/* The chart, and below it the steps beside the parts of one. */
static GtkWidget *
page_new (LnsStepsPane *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0),
            *paned = g_object_new (GTK_TYPE_PANED, "start-child", self->table, "end-child",
                                   self->parts, "resize-start-child", FALSE, "vexpand", TRUE, NULL);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self->chart), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Durations of the steps"), -1);
  gtk_widget_add_css_class (GTK_WIDGET (self->chart), "step-chart");
  gtk_widget_add_css_class (paned, "panes");
  self->paned = GTK_PANED (paned);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->chart));
  gtk_box_append (GTK_BOX (box), paned);
  return box;
}

static void
lns_steps_pane_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lns_steps_pane_parent_class)->map (widget);
  compare (LNS_STEPS_PANE (widget));
}

GtkWidget *
lns_steps_pane_new (LnsView *view)
{
  LnsStepsPane *self = g_object_new (LNS_TYPE_STEPS_PANE, NULL);

  self->view = g_object_ref (view);
  self->answer = lns_answer_of (view);
  self->table = LNS_RESULT_VIEW (lns_result_view_new (view, _ ("Steps")));
  lns_result_view_make_narrow (self->table);
  self->chart = LNS_STEP_CHART (lns_step_chart_new (self->answer));
  self->parts = LNS_STEP_PARTS (lns_step_parts_new (view, self->answer));
  gtk_stack_add_named (self->stack, page_new (self), "table");
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (compare), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (self->ask, "clicked", G_CALLBACK (lns_answer_ask), self->answer,
                           G_CONNECT_SWAPPED);
  changed_cb (self->answer, self);
  return GTK_WIDGET (self);
}

static void
lns_steps_pane_dispose (GObject *object)
{
  LnsStepsPane *self = LNS_STEPS_PANE (object);

  lns_job_cancel (&self->listing);
  g_clear_object (&self->answer);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_steps_pane_parent_class)->dispose (object);
}

static void
lns_steps_pane_class_init (LnsStepsPaneClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_steps_pane_dispose;
  GTK_WIDGET_CLASS (klass)->map = lns_steps_pane_map;
}

static void
lns_steps_pane_init (LnsStepsPane *self)
{
  GtkWidget *stack = gtk_stack_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);

  self->stack = GTK_STACK (stack);
  self->text = g_object_new (GTK_TYPE_LABEL, "wrap", TRUE, "justify", GTK_JUSTIFY_CENTER, NULL);
  self->ask = gtk_button_new_with_label (_ ("Find Out"));
  gtk_widget_add_css_class (self->text, "dim-label");
  gtk_widget_set_halign (self->ask, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), self->text);
  gtk_box_append (GTK_BOX (box), self->ask);
  gtk_stack_add_named (self->stack, box, "text");
  adw_bin_set_child (ADW_BIN (self), stack);
}
