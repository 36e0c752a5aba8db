/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-variables.h"

#include <string.h>

struct LnsLaunchVariables
{
  AdwPreferencesGroup *group; /* borrowed */
  GPtrArray *rows;            /* owned; of AdwEntryRow, borrowed */
  LnsLaunchVariablesFunc changed;
  gpointer owner;
  gboolean is_showing; /* what changes does so by the line */
};

static const char *
text_at (const LnsLaunchVariables *self, guint row)
{
  return gtk_editable_get_text (g_ptr_array_index (self->rows, row));
}

static void
changed_cb (LnsLaunchVariables *self)
{
  g_autoptr (GStrvBuilder) settings = g_strv_builder_new ();

  if (self->is_showing)
    return;
  for (guint i = 0; i < self->rows->len; i++)
    if (lns_launch_line_is_setting (text_at (self, i)))
      g_strv_builder_add (settings, text_at (self, i));
  g_auto (GStrv) all = g_strv_builder_end (settings);
  self->changed (self->owner, (const char *const *)all);
}

static void
remove_row (LnsLaunchVariables *self, GtkWidget *row)
{
  g_ptr_array_remove (self->rows, row);
  adw_preferences_group_remove (self->group, row);
}

static void
remove_cb (GtkButton *button, LnsLaunchVariables *self)
{
  remove_row (self, gtk_widget_get_ancestor (GTK_WIDGET (button), ADW_TYPE_ENTRY_ROW));
  changed_cb (self);
}

static GtkWidget *
add_row (LnsLaunchVariables *self)
{
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/lanescope/Lanescope/variable-row.ui");
  GtkWidget *row = GTK_WIDGET (gtk_builder_get_object (builder, "row"));

  g_signal_connect (gtk_builder_get_object (builder, "remove"), "clicked", G_CALLBACK (remove_cb),
                    self);
  g_signal_connect_swapped (row, "changed", G_CALLBACK (changed_cb), self);
  adw_preferences_group_add (self->group, row);
  g_ptr_array_add (self->rows, row);
  return row;
}

LnsLaunchVariables *
lns_launch_variables_new (AdwPreferencesGroup *group,
                          LnsLaunchVariablesFunc changed,
                          gpointer owner)
{
  LnsLaunchVariables *self = g_new0 (LnsLaunchVariables, 1);

  self->group = group;
  self->rows = g_ptr_array_new ();
  self->changed = changed;
  self->owner = owner;
  return self;
}

void
lns_launch_variables_free (LnsLaunchVariables *self)
{
  g_ptr_array_unref (self->rows);
  g_free (self);
}

void
lns_launch_variables_add (LnsLaunchVariables *self)
{
  gtk_widget_grab_focus (add_row (self));
}

/* Shows SETTINGS in the rows that are whole, in their order, and makes or removes rows at the end. */
static void
show_settings (LnsLaunchVariables *self, const char *const *settings)
{
  guint n = 0;

  for (guint i = 0; i < self->rows->len; i++)
    {
      GtkWidget *row = g_ptr_array_index (self->rows, i);
      if (!lns_launch_line_is_setting (text_at (self, i)))
        continue;
      if (settings[n] == NULL)
        {
          remove_row (self, row);
          i--;
          continue;
        }
      if (strcmp (text_at (self, i), settings[n]) != 0)
        gtk_editable_set_text (GTK_EDITABLE (row), settings[n]);
      n++;
    }
  for (; settings[n] != NULL; n++)
    gtk_editable_set_text (GTK_EDITABLE (add_row (self)), settings[n]);
}

gboolean
lns_launch_variables_show (LnsLaunchVariables *self, const LnsLaunchLine *line)
{
  gboolean are_whole = TRUE;

  if (line != NULL)
    {
      g_auto (GStrv) settings = lns_launch_line_get_settings (line);
      self->is_showing = TRUE;
      show_settings (self, (const char *const *)settings);
      self->is_showing = FALSE;
    }
  for (guint i = 0; i < self->rows->len; i++)
    {
      GtkWidget *row = g_ptr_array_index (self->rows, i);
      const gboolean is_whole =
          *text_at (self, i) == '\0' || lns_launch_line_is_setting (text_at (self, i));
      if (is_whole)
        gtk_widget_remove_css_class (row, "error");
      else
        gtk_widget_add_css_class (row, "error");
      are_whole = are_whole && is_whole;
      gtk_widget_set_sensitive (row, line != NULL);
    }
  return are_whole;
}
