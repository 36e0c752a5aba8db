/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/time-dialog.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/filter.h"
#include "src/base/saturate.h"

/* Where the user wants to go, as TEXT: "1.204 s", "37.4ms", or a number of ns. False if it is no time. */
static gboolean
parse_time (const char *text, int64_t *ret_ns)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autofree char *plain = g_strjoinv ("", words);
  g_autofree char *span_text = g_strdup_printf ("%s/", plain);
  LnsFilterSpan span;
  const gboolean good = *plain != '\0' && strchr (plain, '/') == NULL &&
                        lns_filter_parse_time (span_text, &span, NULL);

  if (good)
    *ret_ns = span.start_ns;
  return good;
}

static void
changed_cb (GtkEditable *entry, AdwMessageDialog *dialog)
{
  int64_t time_ns;

  adw_message_dialog_set_response_enabled (dialog, "go",
                                           parse_time (gtk_editable_get_text (entry), &time_ns));
}

/* Has the time that was asked for in the middle of the view, at the zoom at hand. */
static void
response_cb (AdwMessageDialog *dialog, const char *response, LnsView *view)
{
  GtkEditable *entry = GTK_EDITABLE (adw_message_dialog_get_extra_child (dialog));
  int64_t time_ns;

  if (strcmp (response, "go") != 0 || !parse_time (gtk_editable_get_text (entry), &time_ns))
    return;
  const int64_t half_ns =
      lns_difference (lns_view_get_end_ns (view), lns_view_get_start_ns (view)) / 2;
  lns_view_show_span (view, lns_difference (time_ns, half_ns), lns_sum (time_ns, half_ns));
}

void
lns_time_dialog_show (GtkWindow *parent, LnsView *view)
{
  GtkWidget *dialog = adw_message_dialog_new (
      parent, _ ("Go to a Time"), _ ("A time on the ruler, such as “1.204 s” or “37.4 ms”."));
  GtkWidget *entry = gtk_entry_new ();

  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Time"),
                                  -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), entry);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "go",
                                    _ ("_Go"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "go",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "go");
  adw_message_dialog_set_response_enabled (ADW_MESSAGE_DIALOG (dialog), "go", FALSE);
  g_signal_connect (entry, "changed", G_CALLBACK (changed_cb), dialog);
  g_signal_connect_object (dialog, "response", G_CALLBACK (response_cb), view, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}
