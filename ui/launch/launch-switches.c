/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-switches.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/launch/launch-command.h"

typedef struct
{
  const LnsSwitch *option; /* borrowed */
  GtkWidget *widget;       /* borrowed: a GtkCheckButton, an AdwComboRow or an AdwEntryRow */
  char *initial;           /* owned; what it shows while the switch is not set             */
  gboolean is_given;       /* the command line sets it */
  char *own;               /* owned; the user's choice meanwhile */
} Row;

static void
row_free (gpointer data)
{
  Row *row = data;
  g_free (row->initial);
  g_free (row->own);
  g_free (row);
}

/* Switches that the dialog shows in other places or sets itself. */
static const char *const elsewhere[] = { "trace",       "nvtx",       "mpi", "env-var",
                                         "progress-fd", "control-fd", NULL };

static GtkWidget *
new_check_row (const LnsSwitch *option, GtkWidget **ret_widget)
{
  GtkWidget *button = gtk_check_button_new ();
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "activatable-widget", button, NULL);

  gtk_check_button_set_active (GTK_CHECK_BUTTON (button),
                               g_strcmp0 (option->default_text, "true") == 0);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), button);
  *ret_widget = button;
  return row;
}

static GtkWidget *
new_choice_row (const LnsSwitch *option, GtkWidget **ret_widget)
{
  g_autoptr (GtkStringList) model = gtk_string_list_new ((const char *const *)option->choices);
  guint chosen = 0;

  while (option->choices[chosen] != NULL &&
         g_strcmp0 (option->choices[chosen], option->default_text) != 0)
    chosen++;
  if (option->choices[chosen] == NULL)
    {
      gtk_string_list_splice (model, 0, 0, (const char *[]){ _ ("Not set"), NULL });
      chosen = 0;
    }
  *ret_widget = g_object_new (ADW_TYPE_COMBO_ROW, "model", model, "selected", chosen, NULL);
  return *ret_widget;
}

/* The row of OPTION. */
static GtkWidget *
new_row (const LnsSwitch *option, GtkWidget **ret_widget)
{
  g_autofree char *name = g_strconcat ("--", option->name, NULL);
  gboolean has_two = strcmp (option->kind, "bool") == 0 || strcmp (option->kind, "flag") == 0;
  GtkWidget *row;

  if (!has_two && strcmp (option->kind, "choice") != 0)
    {
      g_autofree char *title =
          g_strconcat (name, option->value != NULL ? "=" : "", option->value, NULL);
      *ret_widget = g_object_new (ADW_TYPE_ENTRY_ROW, "use-markup", FALSE, "title", title, NULL);
      gtk_widget_set_tooltip_text (*ret_widget, option->help);
      return *ret_widget;
    }
  row = has_two ? new_check_row (option, ret_widget) : new_choice_row (option, ret_widget);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), name);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), option->help != NULL ? option->help : "");
  return row;
}

/* The value that the widget of ROW shows, as a word. */
static char *
get_shown (const Row *row)
{
  if (GTK_IS_CHECK_BUTTON (row->widget))
    return g_strdup (gtk_check_button_get_active (GTK_CHECK_BUTTON (row->widget)) ? "true"
                                                                                  : "false");
  if (!ADW_IS_COMBO_ROW (row->widget))
    return g_strdup (gtk_editable_get_text (GTK_EDITABLE (row->widget)));
  gpointer chosen = adw_combo_row_get_selected_item (ADW_COMBO_ROW (row->widget));
  return g_strdup (chosen != NULL ? gtk_string_object_get_string (chosen) : "");
}

GPtrArray *
lns_launch_switches_new (AdwPreferencesGroup *group,
                         const LnsCapabilities *capabilities,
                         GCallback changed,
                         gpointer owner)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (row_free);
  const char *subject = NULL;
  GtkWidget *folder = NULL;

  for (guint i = 0; i < capabilities->switches->len; i++)
    {
      const LnsSwitch *option = g_ptr_array_index (capabilities->switches, i);
      if (g_strv_contains (elsewhere, option->name))
        continue;
      if (folder == NULL || g_strcmp0 (subject, option->group) != 0)
        {
          subject = option->group;
          folder = g_object_new (ADW_TYPE_EXPANDER_ROW, "use-markup", FALSE, "title",
                                 subject != NULL ? subject : _ ("Switches"), NULL);
          adw_preferences_group_add (group, folder);
        }
      Row *row = g_new0 (Row, 1);
      row->option = option;
      adw_expander_row_add_row (ADW_EXPANDER_ROW (folder), new_row (option, &row->widget));
      row->initial = get_shown (row);
      g_signal_connect_object (row->widget,
                               GTK_IS_CHECK_BUTTON (row->widget) ? "toggled"
                               : ADW_IS_COMBO_ROW (row->widget)  ? "notify::selected"
                                                                 : "changed",
                               changed, owner, G_CONNECT_SWAPPED);
      g_ptr_array_add (rows, row);
    }
  return rows;
}

static void
show (const Row *row, const char *word)
{
  static const char *const on[] = { "", "true", "yes", "on", "1", NULL }; /* "" is a flag */
  if (GTK_IS_CHECK_BUTTON (row->widget))
    {
      g_autofree char *lower = g_ascii_strdown (word, -1);
      gtk_check_button_set_active (GTK_CHECK_BUTTON (row->widget), g_strv_contains (on, lower));
    }
  else if (!ADW_IS_COMBO_ROW (row->widget))
    {
      g_autofree char *text = g_utf8_make_valid (word, -1);
      if (strcmp (gtk_editable_get_text (GTK_EDITABLE (row->widget)), text) != 0)
        gtk_editable_set_text (GTK_EDITABLE (row->widget), text);
    }
  else
    {
      GtkStringList *model =
          GTK_STRING_LIST (adw_combo_row_get_model (ADW_COMBO_ROW (row->widget)));
      const char *choice;
      for (guint i = 0; (choice = gtk_string_list_get_string (model, i)) != NULL; i++)
        if (g_ascii_strcasecmp (choice, word) == 0)
          adw_combo_row_set_selected (ADW_COMBO_ROW (row->widget), i);
    }
}

void
lns_launch_switches_show_given (GPtrArray *rows, const char *const *given, const char *const *flags)
{
  for (guint i = 0; i < rows->len; i++)
    {
      Row *row = g_ptr_array_index (rows, i);
      const char *word =
          given != NULL
              ? lns_launch_command_get_switch (given, flags, row->option->letter, row->option->name)
              : NULL;
      if (word != NULL && !row->is_given)
        row->own = get_shown (row);
      if (word != NULL || row->is_given)
        show (row, word != NULL ? word : row->own);
      row->is_given = word != NULL;
      if (!row->is_given)
        g_clear_pointer (&row->own, g_free);
      gtk_widget_set_sensitive (gtk_widget_get_ancestor (row->widget, ADW_TYPE_PREFERENCES_ROW),
                                !row->is_given);
      /* GTK 4.8 tells assistive technology only the state of the widget itself. */
      gtk_widget_set_sensitive (row->widget, !row->is_given);
    }
}

void
lns_launch_switches_add_words (GPtrArray *rows,
                               const char *const *given,
                               const char *const *flags,
                               GStrvBuilder *words)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      const LnsSwitch *option = row->option;
      g_autofree char *shown = get_shown (row);
      if (strcmp (shown, row->initial) == 0 ||
          lns_launch_command_get_switch (given, flags, option->letter, option->name) != NULL)
        continue;
      g_autofree char *word = strcmp (option->kind, "flag") == 0
                                  ? g_strconcat ("--", option->name, NULL)
                                  : g_strconcat ("--", option->name, "=", shown, NULL);
      g_strv_builder_add (words, word);
    }
}
