/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-capabilities.h"

#include <jansson.h>
#include <string.h>

#include "ui/lns-recorder.h"

void
lns_capabilities_free (LnsCapabilities *self)
{
  g_strfreev (self->choices);
  g_strfreev (self->defaults);
  g_free (self);
}

/* The object of ARRAY whose "name" is NAME, or NULL. Borrowed. */
static json_t *
find_named (json_t *array, const char *name)
{
  size_t i;
  json_t *object;

  json_array_foreach (array, i,
                      object) if (g_strcmp0 (json_string_value (json_object_get (object, "name")),
                                             name) == 0) return object;
  return NULL;
}

LnsCapabilities *
lns_capabilities_parse (const char *text)
{
  json_t *root = json_loads (text, 0, NULL);
  json_t *profile = find_named (json_object_get (root, "commands"), "profile");
  json_t *trace = find_named (json_object_get (profile, "switches"), "trace");
  const char *defaults = json_string_value (json_object_get (trace, "default"));
  g_autoptr (GStrvBuilder) choices = g_strv_builder_new ();
  LnsCapabilities *self = NULL;
  size_t i;
  json_t *choice;

  json_array_foreach (json_object_get (trace, "choices"), i,
                      choice) if (json_is_string (choice) &&
                                  strcmp (json_string_value (choice), "none") != 0)
      g_strv_builder_add (choices, json_string_value (choice));
  if (trace != NULL)
    {
      self = g_new (LnsCapabilities, 1);
      self->choices = g_strv_builder_end (choices);
      self->defaults = g_strsplit (defaults != NULL ? defaults : "", ",", -1);
    }
  json_decref (root);
  return self;
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
  g_autofree char *tool = lns_recorder_find_tool ();
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
