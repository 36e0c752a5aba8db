/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/capabilities.h"

#include <jansson.h>
#include <string.h>

#include "ui/launch/recorder.h"

static void
free_switch (gpointer data)
{
  LnsSwitch *option = data;

  g_free (option->name);
  g_free (option->kind);
  g_free (option->group);
  g_free (option->value);
  g_free (option->default_text);
  g_free (option->help);
  g_strfreev (option->choices);
  g_free (option);
}

void
lns_capabilities_free (LnsCapabilities *self)
{
  g_ptr_array_unref (self->switches);
  g_strfreev (self->flags);
  g_free (self);
}

/* The object of ARRAY whose KEY is TEXT, or NULL. Borrowed. */
static json_t *
find_object (json_t *array, const char *key, const char *text)
{
  size_t i;
  json_t *object;

  json_array_foreach (array, i, object)
  {
    if (text != NULL && g_strcmp0 (json_string_value (json_object_get (object, key)), text) == 0)
      return object;
  }
  return NULL;
}

static char *
copy_text (json_t *object, const char *key)
{
  return g_strdup (json_string_value (json_object_get (object, key)));
}

/* The switch that OBJECT describes; GROUPS have the titles of what switches are about. */
static LnsSwitch *
read_switch (json_t *object, json_t *groups)
{
  LnsSwitch *option = g_new0 (LnsSwitch, 1);
  g_autoptr (GStrvBuilder) choices = g_strv_builder_new ();
  const char *letter = json_string_value (json_object_get (object, "letter"));
  json_t *choice;
  size_t i;

  option->name = copy_text (object, "name");
  option->kind = copy_text (object, "kind");
  option->value = copy_text (object, "value");
  option->default_text = copy_text (object, "default");
  option->help = copy_text (object, "help");
  option->letter = letter != NULL ? letter[0] : '\0';
  option->group = copy_text (
      find_object (groups, "tag", json_string_value (json_object_get (object, "tag"))), "title");
  json_array_foreach (json_object_get (object, "choices"), i, choice)
  {
    if (json_is_string (choice))
      g_strv_builder_add (choices, json_string_value (choice));
  }
  option->choices = g_strv_builder_end (choices);
  return option;
}

LnsCapabilities *
lns_capabilities_parse (const char *text)
{
  json_t *root = json_loads (text, 0, NULL);
  json_t *profile = find_object (json_object_get (root, "commands"), "name", "profile");
  g_autoptr (GStrvBuilder) flags = g_strv_builder_new ();
  LnsCapabilities *self = NULL;
  json_t *object;
  size_t i;

  if (profile != NULL)
    {
      self = g_new (LnsCapabilities, 1);
      self->switches = g_ptr_array_new_with_free_func (free_switch);
      json_array_foreach (json_object_get (profile, "switches"), i, object)
      {
        LnsSwitch *option = read_switch (object, json_object_get (profile, "groups"));
        gboolean has_effect = json_object_get (object, "instead") == NULL;
        if (g_strcmp0 (option->kind, "flag") == 0 && option->name != NULL)
          g_strv_builder_add (flags, option->name);
        if (has_effect && option->name != NULL && option->kind != NULL)
          g_ptr_array_add (self->switches, option);
        else
          free_switch (option);
      }
      self->flags = g_strv_builder_end (flags);
    }
  json_decref (root);
  return self;
}

const LnsSwitch *
lns_capabilities_find (const LnsCapabilities *self, const char *name)
{
  for (guint i = 0; i < self->switches->len; i++)
    {
      const LnsSwitch *option = g_ptr_array_index (self->switches, i);
      if (strcmp (option->name, name) == 0)
        return option;
    }
  return NULL;
}

static void
answered_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (!g_subprocess_communicate_utf8_finish (G_SUBPROCESS (source), result, &text, NULL, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  LnsCapabilities *self = lns_capabilities_parse (text);
  if (self != NULL)
    g_task_return_pointer (task, self, (GDestroyNotify)lns_capabilities_free);
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "No capabilities");
}

void
lns_capabilities_load_async (GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, data);
  g_autofree char *tool = lns_launch_recorder_find_tool ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = NULL;

  if (tool != NULL)
    process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                &error, tool, "--capabilities=json", NULL);
  if (process != NULL)
    g_subprocess_communicate_utf8_async (process, NULL, cancellable, answered_cb,
                                         g_steal_pointer (&task));
  else if (error != NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "No lanescope binary");
}

LnsCapabilities *
lns_capabilities_load_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
