/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/steps/step-parts.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/span-compare.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/table/result-view.h"

/* Parts that differ less than the first so many are left out. */
#define MAX_ROWS 200

struct _LnsStepParts
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  LnsAnswer *answer;     /* owned */
  GCancellable *running; /* or NULL */
  size_t shown;          /* the step that is there or under way, or SIZE_MAX */
  GtkLabel *title;
  LnsResultView *table;
};

G_DEFINE_FINAL_TYPE (LnsStepParts, lns_step_parts, ADW_TYPE_BIN)

/* --- The job ---------------------------------------------------------------------------------- */

typedef struct
{
  size_t steps[2];  /* the step, and the median one */
  LnsSpan spans[2]; /* of both */
  LnsSpanParts parts;
  bool is_good;
  LnsError error;
} Comparing;

static void
comparing_free (gpointer data)
{
  lns_array_clear (&((Comparing *)data)->parts);
  g_free (data);
}

static void
compare_work (LnsWorker *worker, gpointer data)
{
  Comparing *it = data;

  it->is_good =
      lns_span_compare (worker->report, it->spans, &worker->cancelled, &it->parts, &it->error);
}

/* --- The table -------------------------------------------------------------------------------- */

/* A row of the table. */
typedef struct
{
  char *name; /* owned */
  int64_t ns[2];
} Part;

static void
clear_part (gpointer part)
{
  g_free (((Part *)part)->name);
}

/* What differs most first. */
static int
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *x = a, *y = b;
  const int64_t of_x = llabs (lns_difference (x->ns[0], x->ns[1])),
                of_y = llabs (lns_difference (y->ns[0], y->ns[1]));

  return LNS_COMPARE (of_y, of_x);
}

/* Adds how long the first GPU, or the thread of a report without, was idle for each cause in the steps numbered STEPS. */
static void
add_idle (LnsStepParts *self, GArray *rows, const size_t steps[2])
{
  const LnsWhy *why = lns_answer_get_why (self->answer);
  const gboolean is_device = why->ledgers.n > 0 && why->ledgers.items[0].is_device;
  const char *subject = lns_answer_get_subject (self->answer, 0);

  for (LnsCause cause = 0; cause < LNS_N_IDLE_CAUSES; cause++)
    {
      Part part = { 0 };
      for (unsigned side = 0; side < 2; side++)
        part.ns[side] = why->steps.ns[steps[side] * (1 + LNS_N_IDLE_CAUSES) + 1 + cause];
      /* A thread always does something; what of it was lost are its waits. */
      if ((part.ns[0] == 0 && part.ns[1] == 0) || (!is_device && cause == LNS_CAUSE_CPU_WORK))
        continue;
      /* Translators: a GPU, and the word for why it was idle: "GPU 0 idle: lock-wait" */
      part.name = is_device
                      ? g_strdup_printf (_ ("%s idle: %s"), subject, lns_cause_name (cause))
                      : g_strdup_printf (_ ("%s: %s"), subject, _ (lns_why_cause_label (cause)));
      g_array_append_val (rows, part);
    }
}

/* ROWS as the table shows them. To be freed. */
static LnsResult *
result_of (const GArray *rows)
{
  const LnsResultColumn columns[] = {
    { _ ("Part"), LNS_RESULT_TEXT, 0 },
    { _ ("Difference"), LNS_RESULT_CHANGE, 0 },
    { _ ("This Step"), LNS_RESULT_TIME, 0 },
    { _ ("Median Step"), LNS_RESULT_TIME, 0 },
  };
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), MAX_ROWS);

  for (guint i = 0; i < rows->len; i++)
    {
      const Part *part = &g_array_index (rows, Part, i);
      const LnsResultCell cells[] = {
        { .bytes = part->name, .size_bytes = strlen (part->name) },
        { .number = lns_difference (part->ns[0], part->ns[1]) },
        { .number = part->ns[0] },
        { .number = part->ns[1] },
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

static void
compare_done (gpointer data, gpointer owner)
{
  const Comparing *it = data;
  LnsStepParts *self = owner;
  LnsReport *report = lns_view_get_report (self->view);

  if (!it->is_good)
    {
      gtk_label_set_text (self->title, it->error.message);
      lns_result_view_set (self->table, NULL);
      return;
    }
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Part));
  g_array_set_clear_func (rows, clear_part);
  add_idle (self, rows, it->steps);
  for (size_t i = 0; i < it->parts.n; i++)
    {
      const LnsSpanPart *of = &it->parts.items[i];
      const Part part = { lns_event_text_part (report, of), { of->ns[0], of->ns[1] } };
      g_array_append_val (rows, part);
    }
  g_array_sort (rows, compare_parts);
  lns_result_view_set (self->table, result_of (rows));
}

static const LnsJobFuncs compare_funcs = { compare_work, compare_done, comparing_free, NULL };

/* --- Choosing --------------------------------------------------------------------------------- */

static int64_t
length_of (const LnsStep *step)
{
  return lns_difference (step->end_ns, step->start_ns);
}

/* The step that is most like the median, and not STEP. */
static const LnsStep *
find_median (const LnsWhySteps *steps, size_t step)
{
  const LnsStep *best = NULL;

  for (size_t i = 0; i < steps->all.n; i++)
    if (i != step && (best == NULL || llabs (length_of (&steps->all.items[i]) - steps->p50_ns) <
                                          llabs (length_of (best) - steps->p50_ns)))
      best = &steps->all.items[i];
  return best;
}

void
lns_step_parts_show (LnsStepParts *self, size_t step)
{
  const LnsWhySteps *steps = &lns_answer_get_why (self->answer)->steps;
  char own[LNS_FORMAT_SIZE], times[LNS_FORMAT_SIZE], median[LNS_FORMAT_SIZE];

  if (step == self->shown)
    return;
  self->shown = step;
  const LnsStep *chosen = &steps->all.items[step], *other = find_median (steps, step);
  Comparing *it = g_new0 (Comparing, 1);
  it->steps[0] = step;
  it->steps[1] = (size_t)(other - steps->all.items);
  it->spans[0] = (LnsSpan){ chosen->start_ns, chosen->end_ns };
  it->spans[1] = (LnsSpan){ other->start_ns, other->end_ns };
  lns_format_fixed ((double)length_of (chosen) / (double)MAX (steps->p50_ns, 1), 1, times);
  /* Translators: "Step 3: 12.873 ms, 2.1 × the median. Beside step 5 of 6.157 ms:" */
  g_autofree char *title =
      g_strdup_printf (_ ("Step %zu: %s, %s × the median. Beside step %zu of %s:"),
                       chosen->index + 1, lns_format_duration (length_of (chosen), own), times,
                       other->index + 1, lns_format_duration (length_of (other), median));
  gtk_label_set_text (self->title, title);
  lns_job_start (&self->running, self->view, &compare_funcs, it, self);
}

/* --- Life ------------------------------------------------------------------------------------- */

GtkWidget *
lns_step_parts_new (LnsView *view, LnsAnswer *answer)
{
  LnsStepParts *self = g_object_new (LNS_TYPE_STEP_PARTS, NULL);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  self->view = g_object_ref (view);
  self->answer = g_object_ref (answer);
  self->table = LNS_RESULT_VIEW (lns_result_view_new (view, _ ("Parts of the Step")));
  lns_result_view_keep_columns (self->table);
  lns_result_view_make_narrow (self->table);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->table));
  adw_bin_set_child (ADW_BIN (self), box);
  return GTK_WIDGET (self);
}

static void
lns_step_parts_dispose (GObject *object)
{
  LnsStepParts *self = LNS_STEP_PARTS (object);

  lns_job_cancel (&self->running);
  g_clear_object (&self->answer);
  G_OBJECT_CLASS (lns_step_parts_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_step_parts_class_init (LnsStepPartsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_step_parts_dispose;
}

static void
lns_step_parts_init (LnsStepParts *self)
{
  self->shown = SIZE_MAX;
  self->title = GTK_LABEL (
      g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "ellipsize", PANGO_ELLIPSIZE_END, NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->title), "pane-header");
}
