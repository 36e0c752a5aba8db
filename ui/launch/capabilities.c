/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/capabilities.h"

#include <jansson.h>
#include <string.h>

static void
free_switch (gpointer data)
{
  g_free (((LnsSwitch *)data)->choices);
  g_free (data);
}

void
lns_capabilities_free (LnsCapabilities *self)
{
  g_ptr_array_unref (self->switches);
  g_strfreev (self->flags);
  json_decref (self->json);
  g_free (self);
}

static const char *
text_of (json_t *object, const char *key)
{
  return json_string_value (json_object_get (object, key));
}

/* The object of ARRAY whose KEY is TEXT, or NULL. Borrowed. */
static json_t *
find_object (json_t *array, const char *key, const char *text)
{
  size_t i;
  json_t *object;

  json_array_foreach (array, i, object)
  {
    if (text != NULL && g_strcmp0 (text_of (object, key), text) == 0)
      return object;
  }
  return NULL;
}

/* The switch that OBJECT describes; GROUPS have the titles of what switches are about. */
static LnsSwitch *
read_switch (json_t *object, json_t *groups)
{
  LnsSwitch *option = g_new0 (LnsSwitch, 1);
  json_t *choices = json_object_get (object, "choices");
  const char *letter = text_of (object, "letter");

  option->name = text_of (object, "name");
  option->kind = text_of (object, "kind");
  option->value = text_of (object, "value");
  option->default_text = text_of (object, "default");
  option->help = text_of (object, "help");
  option->letter = letter != NULL ? letter[0] : '\0';
  option->group = text_of (find_object (groups, "tag", text_of (object, "tag")), "title");
  option->choices = g_new0 (const char *, json_array_size (choices) + 1);
  for (size_t i = 0, n = 0; i < json_array_size (choices); i++)
    if (json_is_string (json_array_get (choices, i)))
      option->choices[n++] = json_string_value (json_array_get (choices, i));
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
      self->json = json_incref (root);
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
