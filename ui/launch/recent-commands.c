/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/recent-commands.h"

#include <glib/gi18n.h>
#include <jansson.h>
#include <string.h>

#include "ui/model/display-text.h"

#define WIDTH_PX      480
#define MAX_HEIGHT_PX 400

struct _LnsRecentCommands
{
  GtkPopover parent_instance;
  GtkListBox *list;
  GtkStack *stack;       /* "list" or "none" */
  GFile *file;           /* owned */
  json_t *commands;      /* owned; an array of {"line", "folder"}, newest first */
  GCancellable *reading; /* owned; cancels the reading */
  gboolean is_writing;   /* a worker writes the file */
  gboolean is_dirty;     /* and has to do so again */
};

G_DEFINE_FINAL_TYPE (LnsRecentCommands, lns_recent_commands, GTK_TYPE_POPOVER)

static guint chosen_signal;

static const char *
text_of (json_t *command, const char *key)
{
  return json_string_value (json_object_get (command, key));
}

static void fill_list (LnsRecentCommands *self);

/* --- The file ------------------------------------------------------------------------------ */

static void write_file (LnsRecentCommands *self);

static void
write_contents (GTask *task, gpointer source, gpointer contents, GCancellable *cancellable)
{
  LnsRecentCommands *self = source;
  g_autoptr (GFile) folder = g_file_get_parent (self->file);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (g_file_peek_path (folder), 0700);
  if (g_file_replace_contents (
          self->file, g_bytes_get_data (contents, NULL), g_bytes_get_size (contents), NULL, FALSE,
          G_FILE_CREATE_PRIVATE | G_FILE_CREATE_REPLACE_DESTINATION, NULL, NULL, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
written_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LnsRecentCommands *self = LNS_RECENT_COMMANDS (source);
  g_autoptr (GError) error = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    g_message (_ ("Recent commands are not kept: %s"), error->message);
  self->is_writing = FALSE;
  if (self->is_dirty)
    write_file (self);
  g_application_release (g_application_get_default ());
}

/* Has a worker write the commands, after what it writes already. The application does not end before. */
static void
write_file (LnsRecentCommands *self)
{
  self->is_dirty = self->is_writing;
  if (self->is_writing)
    return;
  char *text = json_dumps (self->commands, JSON_INDENT (1));
  GBytes *contents = g_bytes_new_with_free_func (text, strlen (text), (GDestroyNotify)free, text);
  g_autoptr (GTask) task = g_task_new (self, NULL, written_cb, NULL);

  self->is_writing = TRUE;
  g_application_hold (g_application_get_default ());
  g_task_set_task_data (task, contents, (GDestroyNotify)g_bytes_unref);
  g_task_run_in_thread (task, write_contents);
}

static void
append_command (LnsRecentCommands *self, const char *line, const char *folder)
{
  size_t i;
  json_t *command;

  json_array_foreach (self->commands, i, command)
  {
    if (g_strcmp0 (text_of (command, "line"), line) == 0 &&
        g_strcmp0 (text_of (command, "folder"), folder) == 0)
      return;
  }
  if (line == NULL || json_array_size (self->commands) == LNS_RECENT_COMMANDS_MAX)
    return;
  command = json_pack ("{s:s, s:s*}", "line", line, "folder", folder);
  json_array_append_new (self->commands, command);
}

/* What was launched meanwhile stays above what the file had. */
static void
read_cb (GObject *file, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsRecentCommands) self = data;
  g_autofree char *text = NULL;
  gsize length, i;
  json_t *command;

  if (!g_file_load_contents_finish (G_FILE (file), result, &text, &length, NULL, NULL))
    return;
  json_t *commands = json_loadb (text, length, 0, NULL);
  json_array_foreach (commands, i, command)
  {
    append_command (self, text_of (command, "line"), text_of (command, "folder"));
  }
  json_decref (commands);
  fill_list (self);
}

void
lns_recent_commands_add (LnsRecentCommands *self, const char *line, GFile *folder)
{
  json_t *before = self->commands, *command;
  g_autofree char *uri = folder != NULL ? g_file_get_uri (folder) : NULL;
  size_t i;

  self->commands = json_array ();
  append_command (self, line, uri);
  json_array_foreach (before, i, command)
  {
    append_command (self, text_of (command, "line"), text_of (command, "folder"));
  }
  json_decref (before);
  fill_list (self);
  write_file (self);
}

/* --- The list ------------------------------------------------------------------------------ */

static void
remove_row (LnsRecentCommands *self, GtkListBoxRow *row)
{
  const int index = gtk_list_box_row_get_index (row);

  json_array_remove (self->commands, (size_t)index);
  fill_list (self);
  write_file (self);
  GtkListBoxRow *next = gtk_list_box_get_row_at_index (
      self->list, MIN (index, (int)json_array_size (self->commands) - 1));
  if (next != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (next));
}

static void
remove_cb (GtkWidget *button, LnsRecentCommands *self)
{
  remove_row (self, GTK_LIST_BOX_ROW (gtk_widget_get_ancestor (button, GTK_TYPE_LIST_BOX_ROW)));
}

static gboolean
remove_key_cb (GtkWidget *widget, GVariant *args, gpointer data)
{
  LnsRecentCommands *self = data;
  GtkWidget *row = gtk_root_get_focus (gtk_widget_get_root (widget));

  if (!GTK_IS_LIST_BOX_ROW (row))
    return FALSE;
  remove_row (self, GTK_LIST_BOX_ROW (row));
  return TRUE;
}

static GtkWidget *
new_label (const char *text, PangoEllipsizeMode ellipsize)
{
  return g_object_new (GTK_TYPE_LABEL, "label", text, "xalign", 0.0, "ellipsize", ellipsize, NULL);
}

static GtkWidget *
new_row (LnsRecentCommands *self, json_t *command)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *button = gtk_button_new_from_icon_name ("list-remove-symbolic");
  const char *line = text_of (command, "line"), *uri = text_of (command, "folder");
  g_autofree char *shown = g_strdelimit (lns_display_text (line, strlen (line), FALSE), "\n", ' ');
  GtkWidget *title = new_label (shown, PANGO_ELLIPSIZE_END);

  gtk_widget_add_css_class (title, "monospace");
  gtk_box_append (GTK_BOX (texts), title);
  if (uri != NULL)
    {
      g_autoptr (GFile) folder = g_file_new_for_uri (uri);
      g_autofree char *path = lns_display_file (folder, TRUE);
      GtkWidget *below = new_label (path, PANGO_ELLIPSIZE_START);
      gtk_widget_add_css_class (below, "caption");
      gtk_widget_add_css_class (below, "dim-label");
      gtk_box_append (GTK_BOX (texts), below);
    }
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, _ ("Forget the command"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Forget the command"), -1);
  g_signal_connect (button, "clicked", G_CALLBACK (remove_cb), self);
  gtk_box_append (GTK_BOX (box), texts);
  gtk_box_append (GTK_BOX (box), button);
  GtkWidget *row = g_object_new (GTK_TYPE_LIST_BOX_ROW, "child", box, "tooltip-text", line, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, shown, -1);
  return row;
}

static void
fill_list (LnsRecentCommands *self)
{
  size_t i;
  json_t *command;
  GtkListBoxRow *row;

  while ((row = gtk_list_box_get_row_at_index (self->list, 0)) != NULL)
    gtk_list_box_remove (self->list, GTK_WIDGET (row));
  json_array_foreach (self->commands, i, command)
  {
    gtk_list_box_append (self->list, new_row (self, command));
  }
  gtk_stack_set_visible_child_name (self->stack,
                                    json_array_size (self->commands) > 0 ? "list" : "none");
}

static void
row_activated_cb (LnsRecentCommands *self, GtkListBoxRow *row)
{
  json_t *command = json_array_get (self->commands, (size_t)gtk_list_box_row_get_index (row));
  const char *uri = text_of (command, "folder");
  g_autoptr (GFile) folder = uri != NULL ? g_file_new_for_uri (uri) : NULL;
  g_autofree char *line = g_strdup (text_of (command, "line"));

  gtk_popover_popdown (GTK_POPOVER (self));
  g_signal_emit (self, chosen_signal, 0, line, folder);
}

/* --- Life ---------------------------------------------------------------------------------- */

static void
lns_recent_commands_dispose (GObject *object)
{
  LnsRecentCommands *self = LNS_RECENT_COMMANDS (object);

  g_cancellable_cancel (self->reading);
  g_clear_object (&self->reading);
  G_OBJECT_CLASS (lns_recent_commands_parent_class)->dispose (object);
}

static void
lns_recent_commands_finalize (GObject *object)
{
  LnsRecentCommands *self = LNS_RECENT_COMMANDS (object);

  g_object_unref (self->file);
  json_decref (self->commands);
  G_OBJECT_CLASS (lns_recent_commands_parent_class)->finalize (object);
}

static void
lns_recent_commands_class_init (LnsRecentCommandsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_recent_commands_dispose;
  G_OBJECT_CLASS (klass)->finalize = lns_recent_commands_finalize;
  chosen_signal = g_signal_new ("chosen", LNS_TYPE_RECENT_COMMANDS, G_SIGNAL_RUN_LAST, 0, NULL,
                                NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_FILE);
}

static void
lns_recent_commands_init (LnsRecentCommands *self)
{
  g_autofree char *path =
      g_build_filename (g_get_user_state_dir (), "lanescope", "commands.json", NULL);
  GtkWidget *none = gtk_label_new (_ ("No command was launched yet"));
  GtkWidget *scroller;
  GtkEventController *keys = gtk_shortcut_controller_new ();

  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "background");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Recent commands"), -1);
  g_signal_connect_swapped (self->list, "row-activated", G_CALLBACK (row_activated_cb), self);
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_Delete, 0),
                        gtk_callback_action_new (remove_key_cb, self, NULL)));
  gtk_widget_add_controller (GTK_WIDGET (self->list), keys);
  scroller = g_object_new (GTK_TYPE_SCROLLED_WINDOW, "child", self->list, "hscrollbar-policy",
                           GTK_POLICY_NEVER, "propagate-natural-height", TRUE, "max-content-height",
                           MAX_HEIGHT_PX, NULL);
  self->stack = GTK_STACK (gtk_stack_new ());
  gtk_widget_set_size_request (GTK_WIDGET (self->stack), WIDTH_PX, -1);
  gtk_stack_set_vhomogeneous (self->stack, FALSE);
  gtk_widget_add_css_class (none, "dim-label");
  gtk_stack_add_named (self->stack, none, "none");
  gtk_stack_add_named (self->stack, scroller, "list");
  gtk_popover_set_child (GTK_POPOVER (self), GTK_WIDGET (self->stack));
  self->commands = json_array ();
  self->reading = g_cancellable_new ();
  self->file = g_file_new_for_path (path);
  g_file_load_contents_async (self->file, self->reading, read_cb, g_object_ref (self));
}
