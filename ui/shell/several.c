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

/* In hints, before the number of a window. */
#define COMPARE "compare "

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
  if (strcmp (response, "separate") == 0)
    it->chosen (LNS_SEVERAL_SEPARATE, it->files, it->data);
  else if (strcmp (response, "compare") == 0)
    it->chosen (LNS_SEVERAL_COMPARE, it->files, it->data);
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
  const gboolean can_compare = files->len == 2;
  g_autofree char *title =
      g_strdup_printf (ngettext ("Open %u Report", "Open %u Reports", files->len), files->len);
  g_autofree char *names = names_of (files, can_compare);
  g_autofree char *body = g_strconcat (
      names, "\n\n",
      _ ("Separate: a window each, with all panes; their times are not on one axis."), "\n",
      can_compare ? _ ("Compare: one window, B below A on the axis of A; its panes tell of A "
                       "alone, but for Compare.")
                  : _ ("Only two reports can be compared."),
      NULL);
  GtkWidget *dialog = adw_message_dialog_new (window, title, body);
  Asking *it = g_new0 (Asking, 1);

  *it = (Asking){ g_ptr_array_ref (files), chosen, data };
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"),
                                    "separate", _ ("_Separate"), NULL);
  if (can_compare)
    adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "compare", _ ("_Compare"));
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog),
                                           can_compare ? "compare" : "separate");
  adw_message_dialog_set_response_appearance (
      ADW_MESSAGE_DIALOG (dialog), can_compare ? "compare" : "separate", ADW_RESPONSE_SUGGESTED);
  g_signal_connect_data (dialog, "response", G_CALLBACK (response_cb), it, asking_free, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* --- Hints ------------------------------------------------------------------------------------ */

char *
lns_several_hint (LnsSeveral how, guint id)
{
  return g_strdup_printf ("%s%u", how == LNS_SEVERAL_COMPARE ? COMPARE : "", id);
}

LnsSeveral
lns_several_of_hint (const char *hint, guint *ret_id)
{
  const gboolean compares = g_str_has_prefix (hint, COMPARE);

  *ret_id = (guint)strtoul (hint + (compares ? strlen (COMPARE) : 0), NULL, 10);
  return compares ? LNS_SEVERAL_COMPARE : LNS_SEVERAL_SEPARATE;
}
