/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/several.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "ui/model/display-text.h"

/* The ways: their responses, which stand in hints before the number of a window, too. */
static const struct
{
  const char *name;
  LnsSeveral how;
} ways[] = {
  { "separate", LNS_SEVERAL_SEPARATE },
  { "together", LNS_SEVERAL_TOGETHER },
  { "compare", LNS_SEVERAL_COMPARE },
};

/* Longer lists of names are cut. */
#define MAX_NAMES 6

typedef struct
{
  GPtrArray *files; /* owned */
  void (*chosen) (LnsSeveral how, GPtrArray *files, gpointer data);
  GObject *data;
} Asking;

static void
asking_free (gpointer data, GClosure *closure)
{
  Asking *it = data;

  g_ptr_array_unref (it->files);
  g_free (it);
}

static void
response_cb (AdwMessageDialog *dialog, const char *response, Asking *it)
{
  GtkWindow *window = gtk_window_get_transient_for (GTK_WINDOW (dialog));

  if (window == NULL)
    return;
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++)
    if (strcmp (response, ways[i].name) == 0)
      it->chosen (ways[i].how, it->files, it->data);
}

/* The names of FILES, a line each, with the letters that a comparison gives them if HAS_LETTERS. Free with g_free (). */
static char *
names_of (GPtrArray *files, gboolean has_letters)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < MIN (files->len, MAX_NAMES); i++)
    {
      g_autofree char *name = lns_display_file (g_ptr_array_index (files, i), FALSE);
      g_string_append_printf (names, "%s%s%s", i > 0 ? "\n" : "",
                              !has_letters ? ""
                              : i == 0     ? "A: "
                                           : "B: ",
                              name);
    }
  if (files->len > MAX_NAMES)
    g_string_append (names, "\n…");
  return g_string_free (names, FALSE);
}

void
lns_several_ask (GtkWindow *window,
                 GPtrArray *files,
                 void (*chosen) (LnsSeveral how, GPtrArray *files, gpointer data),
                 gpointer data)
{
  const gboolean is_pair = files->len == 2;
  g_autofree char *title =
      g_strdup_printf (ngettext ("Open %u Report", "Open %u Reports", files->len), files->len);
  g_autofree char *names = names_of (files, is_pair);
  const char *const losses[] = {
    _ ("Separate: a tab each, with all panes. Their times are not on one axis."),
    is_pair ? _ ("Together: one tab and one axis, by the time of day where both ran then. The "
                 "panes tell of A alone.")
            : _ ("Together or compared: only two reports can be on one axis."),
    is_pair ? _ ("Compare: the same, by steps, and the pane Compare tells why B is slower.") : NULL,
  };
  GtkWidget *dialog = adw_message_dialog_new (window, title, names),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  Asking *it = g_new0 (Asking, 1);

  *it = (Asking){ g_ptr_array_ref (files), chosen, data };
  for (size_t i = 0; i < G_N_ELEMENTS (losses) && losses[i] != NULL; i++)
    gtk_box_append (GTK_BOX (box), g_object_new (GTK_TYPE_LABEL, "label", losses[i], "wrap", TRUE,
                                                 "xalign", 0.0, NULL));
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), box);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"),
                                    "separate", _ ("_Separate"), NULL);
  if (is_pair)
    adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "together", _ ("_Together"),
                                      "compare", _ ("C_ompare"), NULL);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog),
                                           is_pair ? "compare" : "separate");
  adw_message_dialog_set_response_appearance (
      ADW_MESSAGE_DIALOG (dialog), is_pair ? "compare" : "separate", ADW_RESPONSE_SUGGESTED);
  g_signal_connect_data (dialog, "response", G_CALLBACK (response_cb), it, asking_free, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* --- Hints ------------------------------------------------------------------------------------ */

char *
lns_several_hint (LnsSeveral how, guint id)
{
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++)
    if (ways[i].how == how)
      return g_strdup_printf ("%s %u", ways[i].name, id);
  return g_strdup ("");
}

LnsSeveral
lns_several_of_hint (const char *hint, guint *ret_id)
{
  g_auto (GStrv) words = g_strsplit (hint, " ", 2);

  *ret_id =
      words[0] != NULL ? (guint)strtoul (words[1] != NULL ? words[1] : words[0], NULL, 10) : 0;
  for (size_t i = 0; i < G_N_ELEMENTS (ways) && words[0] != NULL; i++)
    if (strcmp (words[0], ways[i].name) == 0)
      return ways[i].how;
  return LNS_SEVERAL_SEPARATE;
}
