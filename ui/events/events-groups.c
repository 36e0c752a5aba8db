/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-groups.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/events/event-sums.h"
#include "ui/model/job.h"
#include "ui/table/result-view.h"

/* The names with the largest sums; all others are short of them. */
#define MAX_NAMES 10000

struct _LnsEventsGroups
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GCancellable *summing; /* or NULL */
  LnsEventOrder *order;  /* owned; what is shown or being summed up, or NULL */
  uint32_t *labels;      /* owned; of the rows that are shown */
  LnsResultView *table;
  GtkLabel *note;
  GtkWidget *box;
};

enum
{
  NAME_CHOSEN,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LnsEventsGroups, lns_events_groups, ADW_TYPE_BIN)

typedef struct
{
  LnsEventRows *rows; /* owned */
  uint32_t *labels;   /* owned */
  uint32_t n_names;
  LnsResult *result; /* owned; NULL: memory ran out */
} Grouping;

static void
grouping_free (gpointer data)
{
  Grouping *grouping = data;

  lns_result_free (grouping->result);
  lns_event_rows_free (grouping->rows);
  g_free (grouping->labels);
  g_free (grouping);
}

static void
group (LnsWorker *worker, gpointer job)
{
  Grouping *it = job;

  it->labels = g_new (uint32_t, MAX_NAMES);
  it->result =
      lns_event_sums_by_name (it->rows, MAX_NAMES, it->labels, &it->n_names, worker->cancellable);
}

static void
grouped_cb (gpointer job, gpointer owner)
{
  Grouping *it = job;
  LnsEventsGroups *self = owner;
  char shown[LNS_FORMAT_SIZE], all[LNS_FORMAT_SIZE];
  g_autofree char *note = NULL;

  if (it->result == NULL)
    note = g_strdup (_ ("Not enough memory to sum these events up"));
  else if (it->n_names > MAX_NAMES)
    note = g_strdup_printf (_ ("The %s names with the largest sums, of %s"),
                            lns_format_unsigned (MAX_NAMES, shown),
                            lns_format_unsigned (it->n_names, all));
  gtk_label_set_text (self->note, note != NULL ? note : "");
  gtk_widget_set_visible (GTK_WIDGET (self->note), note != NULL);
  g_free (self->labels);
  self->labels = g_steal_pointer (&it->labels);
  lns_result_view_set (self->table, g_steal_pointer (&it->result));
}

static const LnsJobFuncs grouping_funcs = { group, grouped_cb, grouping_free };

void
lns_events_groups_show (LnsEventsGroups *self, LnsEventRows *rows)
{
  if (rows != NULL && rows->order == self->order)
    {
      lns_event_rows_free (rows);
      return;
    }
  lns_job_cancel (&self->summing);
  g_clear_pointer (&self->order, lns_event_order_unref);
  if (rows == NULL)
    {
      if (self->table != NULL)
        lns_result_view_set (self->table, NULL);
      return;
    }
  Grouping *job = g_new0 (Grouping, 1);
  job->rows = rows;
  self->order = lns_event_order_ref (rows->order);
  lns_job_start (&self->summing, self->view, &grouping_funcs, job, self);
}

void
lns_events_groups_copy (LnsEventsGroups *self)
{
  lns_result_view_copy (self->table);
}

static void
row_activated_cb (LnsResultView *table, guint row, LnsEventsGroups *self)
{
  g_signal_emit (self, signals[NAME_CHOSEN], 0, self->labels[row]);
}

void
lns_events_groups_set_view (LnsEventsGroups *self, LnsView *view)
{
  self->view = g_object_ref (view);
  self->table = LNS_RESULT_VIEW (lns_result_view_new (view, _ ("Events by name")));
  gtk_box_append (GTK_BOX (self->box), GTK_WIDGET (self->table));
  g_signal_connect_object (self->table, "row-activated", G_CALLBACK (row_activated_cb), self, 0);
}

static void
lns_events_groups_dispose (GObject *object)
{
  LnsEventsGroups *self = LNS_EVENTS_GROUPS (object);

  lns_job_cancel (&self->summing);
  g_clear_pointer (&self->order, lns_event_order_unref);
  g_clear_pointer (&self->labels, g_free);
  self->table = NULL;
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_events_groups_parent_class)->dispose (object);
}

static void
lns_events_groups_class_init (LnsEventsGroupsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_events_groups_dispose;
  signals[NAME_CHOSEN] = g_signal_new ("name-chosen", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                                       0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
lns_events_groups_init (LnsEventsGroups *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->note = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_xalign (self->note, 0);
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "pane-header");
  gtk_widget_set_visible (GTK_WIDGET (self->note), FALSE);
  gtk_box_append (GTK_BOX (self->box), GTK_WIDGET (self->note));
  adw_bin_set_child (ADW_BIN (self), self->box);
}
