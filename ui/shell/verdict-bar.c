/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/verdict-bar.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/why/why.h"
#include "ui/model/display-text.h"
#include "ui/model/job.h"

/* Of larger reports the answer takes long, and much memory: it is made when it is asked for. */
#define MOST_EVENTS 20000000

/* How much more than an event is shown around it: as much again on each side. */
#define AROUND 1

struct _LnsVerdictBar
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GCancellable *running; /* the job's, or NULL */
  GtkWidget *box, *label, *ask, *show;
  LnsEvidence longest; /* of the first finding */
};

G_DEFINE_FINAL_TYPE (LnsVerdictBar, lns_verdict_bar, ADW_TYPE_BIN)

/* The reports for which the user closed the bar, by their unique ids. */
static GHashTable *closed;

static char *
key_of (LnsReport *report)
{
  const uint8_t *uuid = lns_report_info (report)->uuid;
  GString *key = g_string_new (NULL);

  for (size_t i = 0; i < sizeof lns_report_info (report)->uuid; i++)
    g_string_append_printf (key, "%02x", uuid[i]);
  return g_string_free (key, FALSE);
}

/* --- The answer ------------------------------------------------------------------------------- */

typedef struct
{
  char *lead, *rest; /* owned: the verdict in two parts; NULL: there is no answer */
  gboolean is_slow;
  LnsEvidence longest;
  LnsError error; /* why there is no answer */
} Answer;

static void
answer_free (gpointer data)
{
  Answer *answer = data;

  g_free (answer->lead);
  g_free (answer->rest);
  g_free (answer);
}

/* On a worker. */
static void
answer_work (LnsWorker *worker, gpointer data)
{
  Answer *answer = data;
  LnsTables *tables = lns_tables_new (worker->report, &answer->error);
  const LnsWhyOptions options = { .span = lns_filter_span (worker->report), .in_language = true };
  LnsWhy *why =
      tables != NULL ? lns_why_run (tables, &options, &worker->cancelled, &answer->error) : NULL;

  if (why != NULL)
    {
      const char *rest = why->verdict + why->lead_size;
      answer->lead = lns_display_text (why->verdict, why->lead_size, TRUE);
      answer->rest = lns_display_text (rest, strlen (rest), TRUE);
      answer->is_slow = why->is_slow;
      answer->longest = why->findings.n > 0 && why->next != NULL
                            ? why->findings.items[0].longest
                            : (LnsEvidence){ .lane = LNS_ID_NONE };
    }
  lns_why_free (why);
  lns_tables_free (tables);
}

/* Shows TEXT in grey: it is no answer. */
static void
say_dimly (LnsVerdictBar *self, const char *text)
{
  gtk_widget_add_css_class (self->label, "dim-label");
  gtk_label_set_attributes (GTK_LABEL (self->label), NULL);
  gtk_label_set_text (GTK_LABEL (self->label), text);
}

static void
answer_done (gpointer data, gpointer owner)
{
  const Answer *answer = data;
  LnsVerdictBar *self = owner;

  if (answer->lead == NULL)
    {
      g_autofree char *text = g_strdup_printf (_ ("What the time was lost to cannot be told: %s"),
                                               answer->error.message);
      say_dimly (self, text);
      return;
    }
  g_autofree char *text = g_strconcat (answer->lead, answer->rest, NULL);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  PangoAttribute *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);
  bold->end_index = (guint)strlen (answer->lead);
  pango_attr_list_insert (attributes, bold);
  gtk_widget_remove_css_class (self->label, "dim-label");
  gtk_label_set_attributes (GTK_LABEL (self->label), attributes);
  gtk_label_set_text (GTK_LABEL (self->label), text);
  self->longest = answer->longest;
  gtk_widget_set_visible (self->show, answer->longest.end_ns > answer->longest.start_ns);
  if (answer->is_slow)
    gtk_widget_add_css_class (self->box, "accused");
}

static const LnsJobFuncs answer_funcs = { answer_work, answer_done, answer_free, NULL };

static void
find_out (LnsVerdictBar *self)
{
  gtk_widget_set_visible (self->ask, FALSE);
  say_dimly (self, _ ("Looking for what the time was lost to…"));
  lns_job_start (&self->running, self->view, &answer_funcs, g_new0 (Answer, 1), self);
}

/* --- The bar ---------------------------------------------------------------------------------- */

static void
show_cb (GtkButton *button, LnsVerdictBar *self)
{
  const LnsEvidence *longest = &self->longest;
  const int64_t around_ns = AROUND * (longest->end_ns - longest->start_ns);

  lns_view_show_span (self->view, longest->start_ns - around_ns, longest->end_ns + around_ns);
  lns_view_set_time_selection (self->view, longest->start_ns, longest->end_ns);
}

static void
close_cb (GtkButton *button, LnsVerdictBar *self)
{
  if (closed == NULL)
    closed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_add (closed, key_of (lns_view_get_report (self->view)));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

GtkWidget *
lns_verdict_bar_new (LnsView *view)
{
  LnsVerdictBar *self = g_object_new (LNS_TYPE_VERDICT_BAR, NULL);
  LnsReport *report = lns_view_get_report (view);
  g_autofree char *key = key_of (report);

  const uint64_t n_events = lns_report_info (report)->n_events;

  self->view = g_object_ref (view);
  if (closed != NULL && g_hash_table_contains (closed, key))
    gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  else if (n_events <= MOST_EVENTS)
    find_out (self);
  else
    {
      g_autofree char *text =
          g_strdup_printf (_ ("What the time was lost to takes a while to find: the report has "
                              "%.0f million events."),
                           (double)n_events / 1e6);
      say_dimly (self, text);
      gtk_widget_set_visible (self->ask, TRUE);
    }
  return GTK_WIDGET (self);
}

static void
lns_verdict_bar_dispose (GObject *object)
{
  LnsVerdictBar *self = LNS_VERDICT_BAR (object);

  lns_job_cancel (&self->running);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_verdict_bar_parent_class)->dispose (object);
}

static void
lns_verdict_bar_class_init (LnsVerdictBarClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_verdict_bar_dispose;
}

static void
lns_verdict_bar_init (LnsVerdictBar *self)
{
  GtkWidget *close = gtk_button_new_from_icon_name ("window-close-symbolic");

  self->box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  self->label =
      g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "hexpand", TRUE, "wrap", TRUE, "wrap-mode",
                    PANGO_WRAP_WORD_CHAR, "selectable", TRUE, "focusable", FALSE, NULL);
  self->ask = gtk_button_new_with_label (_ ("Find Out"));
  self->show = gtk_button_new_with_label (_ ("Show the Longest"));
  gtk_widget_add_css_class (self->box, "verdict");
  gtk_widget_add_css_class (close, "flat");
  gtk_widget_set_visible (self->ask, FALSE);
  gtk_widget_set_visible (self->show, FALSE);
  gtk_widget_set_valign (self->ask, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->show, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (close, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (close, _ ("Close"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Close"), -1);
  gtk_box_append (GTK_BOX (self->box), self->label);
  gtk_box_append (GTK_BOX (self->box), self->ask);
  gtk_box_append (GTK_BOX (self->box), self->show);
  gtk_box_append (GTK_BOX (self->box), close);
  adw_bin_set_child (ADW_BIN (self), self->box);
  g_signal_connect_swapped (self->ask, "clicked", G_CALLBACK (find_out), self);
  g_signal_connect (self->show, "clicked", G_CALLBACK (show_cb), self);
  g_signal_connect (close, "clicked", G_CALLBACK (close_cb), self);
}
