/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/machine.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/language.h"

static const char *
text_of (json_t *object, const char *key)
{
  return json_string_value (json_object_get (object, key));
}

static void
clear_data (gpointer data)
{
  free (((LnsMachineData *)data)->reason);
}

LnsMachine *
lns_machine_parse (const char *text)
{
  json_t *root = json_loads (text, 0, NULL), *data = json_object_get (root, "data"), *object;
  size_t i;

  if (json_array_size (data) == 0)
    {
      json_decref (root);
      return NULL;
    }
  LnsMachine *self = g_new (LnsMachine, 1);
  self->json = root;
  self->data = g_array_new (FALSE, FALSE, sizeof (LnsMachineData));
  g_array_set_clear_func (self->data, clear_data);
  json_array_foreach (data, i, object)
  {
    const LnsMachineData one = { text_of (object, "data"), text_of (object, "title"),
                                 text_of (object, "switch"), text_of (object, "recordable"), NULL };
    const char *reason = text_of (object, "reason");
    if (one.data == NULL || one.title == NULL || one.given_by == NULL || one.recordable == NULL)
      continue;
    g_array_append_val (self->data, one);
    if (reason != NULL)
      g_array_index (self->data, LnsMachineData, self->data->len - 1).reason =
          lns_text_of_sentence (reason);
  }
  return self;
}

void
lns_machine_free (LnsMachine *self)
{
  json_decref (self->json);
  g_array_unref (self->data);
  g_free (self);
}

gboolean
lns_machine_can_record (const LnsMachineData *data)
{
  return strcmp (data->recordable, "no") != 0;
}

const LnsMachineData *
lns_machine_find_trace (const LnsMachine *self, const char *word)
{
  static const char prefix[] = "--trace=";

  for (guint i = 0; i < self->data->len; i++)
    {
      const LnsMachineData *data = &g_array_index (self->data, LnsMachineData, i);
      const gboolean is_trace = g_str_has_prefix (data->given_by, prefix);
      g_auto (GStrv) words =
          g_strsplit (is_trace ? data->given_by + strlen (prefix) : data->data, ",", -1);
      if (g_strv_contains ((const char *const *)words, word))
        return data;
    }
  return NULL;
}

/* The command between backticks in REASON, or NULL. */
static char *
find_command (const char *reason)
{
  const char *start = reason != NULL ? strchr (reason, '`') : NULL;
  const char *end = start != NULL ? strchr (start + 1, '`') : NULL;

  /* One word is a name more often than a command. */
  if (end == NULL || memchr (start, ' ', (size_t)(end - start)) == NULL)
    return NULL;
  return g_strndup (start + 1, (gsize)(end - start - 1));
}

static void
copy_cb (GtkWidget *button)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (button),
                          g_object_get_data (G_OBJECT (button), "command"));
}

/* Takes COMMAND over. */
static GtkWidget *
new_copy_button (char *command)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("edit-copy-symbolic");
  g_autofree char *tooltip = g_strdup_printf (_ ("Copy “%s”"), command);

  g_object_set_data_full (G_OBJECT (button), "command", command, g_free);
  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip,
                                  -1);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  g_signal_connect (button, "clicked", G_CALLBACK (copy_cb), NULL);
  return button;
}

static GtkWidget *
new_row (const LnsMachineData *data)
{
  const gboolean can = lns_machine_can_record (data);
  const gboolean is_whole = strcmp (data->recordable, "yes") == 0;
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "use-markup", FALSE, NULL);
  char *command = find_command (data->reason);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), gettext (data->title));
  if (data->reason != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), data->reason);
  if (command != NULL)
    adw_action_row_add_suffix (ADW_ACTION_ROW (row), new_copy_button (command));
  GtkWidget *label = gtk_label_new (is_whole ? C_ ("can be recorded", "Yes")
                                    : can    ? C_ ("can be recorded", "Limited")
                                             : C_ ("can be recorded", "No"));
  if (!is_whole)
    gtk_widget_add_css_class (label, can ? "warning" : "error");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
  return row;
}

void
lns_machine_show (const LnsMachine *self, AdwExpanderRow *expander)
{
  guint n = 0;

  for (guint i = 0; i < self->data->len; i++)
    {
      const LnsMachineData *data = &g_array_index (self->data, LnsMachineData, i);
      n += lns_machine_can_record (data);
      adw_expander_row_add_row (expander, new_row (data));
    }
  g_autofree char *sums = g_strdup_printf (
      _ ("%u of %u kinds of data; unfold to see the others and what to do"), n, self->data->len);
  adw_expander_row_set_subtitle (expander, n < self->data->len ? sums : _ ("All kinds of data"));
}
