/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/verdict-bar.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/model/answer.h"
#include "ui/model/display-text.h"
#include "ui/model/tooltip.h"
#include "ui/model/width-first.h"

struct _LnsVerdictBar
{
  AdwBin parent_instance;

  LnsView *view;     /* owned */
  LnsAnswer *answer; /* owned */
  GtkWidget *box, *sign, *label, *ask, *show, *findings;
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

/* Shows what there is instead of an answer, in grey. */
static void
show_excuse (LnsVerdictBar *self)
{
  g_autofree char *text = lns_answer_get_excuse (self->answer);

  gtk_widget_add_css_class (self->label, "dim-label");
  gtk_label_set_text (GTK_LABEL (self->label), text);
}

static void
show_why (LnsVerdictBar *self, const LnsWhy *why)
{
  const char *verdict = why->verdict + why->lead_size;
  g_autofree char *lead = lns_display_text (why->verdict, why->lead_size, TRUE);
  g_autofree char *rest = lns_display_text (verdict, strlen (verdict), TRUE);
  g_autofree char *text = g_strconcat (lead, rest, NULL);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  PangoAttribute *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);

  bold->end_index = (guint)strlen (lead);
  pango_attr_list_insert (attributes, bold);
  gtk_widget_remove_css_class (self->label, "dim-label");
  gtk_label_set_attributes (GTK_LABEL (self->label), attributes);
  gtk_label_set_text (GTK_LABEL (self->label), text);
  if (why->findings.n > 0 && why->next != NULL)
    self->longest = why->findings.items[0].longest;
  gtk_widget_set_visible (self->show, self->longest.end_ns > self->longest.start_ns);
  if (why->is_slow)
    gtk_widget_add_css_class (self->box, "accused");
  gtk_widget_set_visible (self->sign, why->is_slow);
  if (why->findings.n > 0)
    {
      g_autofree char *found = g_strdup_printf (
          ngettext ("%zu Finding", "%zu Findings", why->findings.n), why->findings.n);
      /* Translators: how many findings there are, and how many things are not known: "2 Findings, 1 Not Known" */
      g_autofree char *words =
          why->abstained.n > 0 ? g_strdup_printf (_ ("%s, %zu Not Known"), found, why->abstained.n)
                               : g_strdup (found);
      gtk_button_set_label (GTK_BUTTON (self->findings), words);
      gtk_widget_set_visible (self->findings, TRUE);
    }
}

static void
changed_cb (LnsAnswer *answer, LnsVerdictBar *self)
{
  const LnsWhy *why = lns_answer_get_why (answer);

  gtk_widget_set_visible (self->ask, lns_answer_get_state (answer) == LNS_ANSWER_UNASKED);
  if (why != NULL)
    show_why (self, why);
  else
    show_excuse (self);
}

/* --- The bar ---------------------------------------------------------------------------------- */

static void
show_cb (GtkButton *button, LnsVerdictBar *self)
{
  lns_answer_show (self->answer, &self->longest);
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

  self->view = g_object_ref (view);
  self->answer = lns_answer_of (view);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (self->ask, "clicked", G_CALLBACK (lns_answer_ask), self->answer,
                           G_CONNECT_SWAPPED);
  changed_cb (self->answer, self);
  if (closed != NULL && g_hash_table_contains (closed, key))
    gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  return GTK_WIDGET (self);
}

static void
lns_verdict_bar_dispose (GObject *object)
{
  LnsVerdictBar *self = LNS_VERDICT_BAR (object);

  g_clear_object (&self->answer);
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
  self->sign = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
  self->label =
      g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "hexpand", TRUE, "wrap", TRUE, "wrap-mode",
                    PANGO_WRAP_WORD_CHAR, "selectable", TRUE, "focusable", FALSE, NULL);
  self->ask = gtk_button_new_with_label (_ ("Find Out"));
  self->show = gtk_button_new_with_label (_ ("Show the Longest"));
  self->findings = g_object_new (GTK_TYPE_BUTTON, "action-name", "win.show-findings", NULL);
  gtk_widget_add_css_class (self->box, "verdict");
  gtk_widget_add_css_class (close, "flat");
  gtk_widget_set_visible (self->ask, FALSE);
  gtk_widget_set_visible (self->show, FALSE);
  gtk_widget_set_visible (self->findings, FALSE);
  gtk_widget_set_visible (self->sign, FALSE);
  gtk_widget_set_valign (self->findings, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->ask, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->show, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (close, GTK_ALIGN_CENTER);
  lns_tooltip_set (close, _ ("Close"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Close"), -1);
  gtk_box_append (GTK_BOX (self->box), self->sign);
  gtk_box_append (GTK_BOX (self->box), lns_width_first_wrap (self->label));
  gtk_box_append (GTK_BOX (self->box), self->ask);
  gtk_box_append (GTK_BOX (self->box), self->show);
  gtk_box_append (GTK_BOX (self->box), self->findings);
  gtk_box_append (GTK_BOX (self->box), close);
  adw_bin_set_child (ADW_BIN (self), self->box);
  g_signal_connect (self->show, "clicked", G_CALLBACK (show_cb), self);
  g_signal_connect (close, "clicked", G_CALLBACK (close_cb), self);
}
