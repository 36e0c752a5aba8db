/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-total.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/events/event-sums.h"
#include "ui/model/job.h"
#include "ui/model/tooltip.h"

struct _LnsEventsTotal
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GCancellable *summing; /* or NULL */
  LnsEventOrder *all; /* owned; all of it is told of or being summed up; NULL: something else is */
  GtkLabel *label;
};

G_DEFINE_FINAL_TYPE (LnsEventsTotal, lns_events_total, ADW_TYPE_BIN)

typedef struct
{
  LnsEventRows *rows; /* owned */
  LnsEventSums sums;
  bool is_done;
} Summing;

static void
summing_free (gpointer data)
{
  Summing *summing = data;

  lns_event_rows_free (summing->rows);
  g_free (summing);
}

static void
sum_up (LnsWorker *worker, gpointer job)
{
  Summing *it = job;

  it->is_done = lns_event_sums_find (it->rows, &it->sums, worker->cancellable);
}

/* How long the events are. Free with g_free (). */
static char *
lengths_text (const LnsEventSums *sums)
{
  char sum[LNS_FORMAT_SIZE], mean[LNS_FORMAT_SIZE], median[LNS_FORMAT_SIZE],
      longest[LNS_FORMAT_SIZE];

  return g_strdup_printf (_ ("sum %s · mean %s · p50 %s · longest %s"),
                          lns_format_duration (sums->sum_ns, sum),
                          lns_format_duration (sums->sum_ns / (int64_t)sums->n, mean),
                          lns_format_duration (sums->median_ns, median),
                          lns_format_duration (sums->longest_ns, longest));
}

static char *
text_of (const Summing *summing)
{
  char n[LNS_FORMAT_SIZE], bytes[LNS_FORMAT_SIZE];
  const LnsEventSums *sums = &summing->sums;
  GString *text = g_string_new (NULL);

  if (summing->rows->positions != NULL)
    g_string_printf (text, ngettext ("%s selected", "%s selected", summing->rows->n),
                     lns_format_unsigned (summing->rows->n, n));
  else
    g_string_printf (text, ngettext ("%s event", "%s events", summing->rows->n),
                     lns_format_unsigned (summing->rows->n, n));
  if (sums->n > 0)
    {
      g_autofree char *lengths = lengths_text (sums);
      g_string_append_printf (text, ": %s", lengths);
    }
  if (sums->bytes > 0)
    g_string_append_printf (text, " · %s", lns_format_bytes (sums->bytes, bytes));
  if (sums->n > 0 && sums->n_others > 0)
    {
      g_autofree char *others =
          g_strdup_printf (ngettext ("%s has no length", "%s have no length", sums->n_others),
                           lns_format_unsigned (sums->n_others, n));
      g_string_append_printf (text, " · %s", others);
    }
  return g_string_free (text, FALSE);
}

static void
summed_cb (gpointer job, gpointer owner)
{
  const Summing *it = job;
  LnsEventsTotal *self = owner;
  g_autofree char *text =
      it->is_done ? text_of (it) : g_strdup (_ ("Not enough memory to sum these events up"));

  gtk_label_set_text (self->label, text);
  lns_tooltip_set (GTK_WIDGET (self->label), text);
}

static const LnsJobFuncs summing_funcs = { sum_up, summed_cb, summing_free };

void
lns_events_total_show (LnsEventsTotal *self, LnsEventRows *rows)
{
  if (rows != NULL && rows->positions == NULL && rows->order == self->all)
    {
      lns_event_rows_free (rows);
      return;
    }
  g_clear_pointer (&self->all, lns_event_order_unref);
  lns_job_cancel (&self->summing);
  gtk_label_set_text (self->label, "");
  lns_tooltip_set (GTK_WIDGET (self->label), NULL);
  if (rows == NULL)
    return;
  if (rows->positions == NULL)
    self->all = lns_event_order_ref (rows->order);
  Summing *job = g_new0 (Summing, 1);
  job->rows = rows;
  lns_job_start (&self->summing, self->view, &summing_funcs, job, self);
}

void
lns_events_total_set_view (LnsEventsTotal *self, LnsView *view)
{
  g_set_object (&self->view, view);
}

static void
lns_events_total_dispose (GObject *object)
{
  LnsEventsTotal *self = LNS_EVENTS_TOTAL (object);

  lns_job_cancel (&self->summing);
  g_clear_pointer (&self->all, lns_event_order_unref);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_events_total_parent_class)->dispose (object);
}

static void
lns_events_total_class_init (LnsEventsTotalClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_events_total_dispose;
}

static void
lns_events_total_init (LnsEventsTotal *self)
{
  self->label = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_ellipsize (self->label, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (self->label, 0);
  gtk_widget_add_css_class (GTK_WIDGET (self->label), "numeric");
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->label));
}
