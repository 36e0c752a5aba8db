/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-presets.h"

#include <glib/gi18n.h>
#include <string.h>

struct LnsLaunchPresets
{
  const LnsCapabilities
      *capabilities; /* borrowed                                                   */
  GPtrArray
      *titles; /* borrowed strings, then NULL                                                  */
  GPtrArray
      *values; /* owned; of each preset a GHashTable: name of a switch → its value, both owned */
  GHashTable
      *names; /* owned; a set of the switches of all, borrowed from CAPABILITIES              */
};

static const struct
{
  const char *title, *switches;
} presets[] = {
  { N_ ("CUDA and NVTX"), "--trace=cuda,nvtx" },
  { N_ ("PyTorch"), "--trace=cuda,nvtx,cublas,cudnn --pytorch=autograd-nvtx --cudabacktrace=kernel "
                    "--python-backtrace=cuda" },
  { N_ ("CPU program"), "--trace=nvtx,osrt" },
};

static const char *
default_of (const LnsSwitch *option)
{
  return option->default_text != NULL ? option->default_text : "";
}

/* VALUE of OPTION without what this recorder does not know. */
static char *
known_value (const LnsSwitch *option, const char *value)
{
  g_auto (GStrv) words = g_strsplit (value, ",", -1);
  GString *known = g_string_new (NULL);

  for (gsize i = 0; words[i] != NULL; i++)
    if (option->choices[0] == NULL || g_strv_contains (option->choices, words[i]))
      g_string_append_printf (known, "%s%s", known->len > 0 ? "," : "", words[i]);
  return g_string_free (known, FALSE);
}

/* Adds VALUE to what a preset has of OPTION already. */
static void
add_value (LnsLaunchPresets *self, GHashTable *values, const LnsSwitch *option, const char *value)
{
  const char *before = g_hash_table_lookup (values, option->name);
  char *whole =
      before != NULL && *before != '\0' ? g_strconcat (before, ",", value, NULL) : g_strdup (value);

  g_hash_table_insert (values, g_strdup (option->name), whole);
  g_hash_table_add (self->names, (gpointer)option->name);
}

/* Adds WORD, "--name=value". WORDS of the recorder itself are taken as they are. */
static void
add_word (LnsLaunchPresets *self, GHashTable *values, const char *word, gboolean is_own)
{
  g_auto (GStrv) parts = g_strsplit (word, "=", 2);
  const LnsSwitch *option = g_str_has_prefix (word, "--") && parts[1] != NULL
                                ? lns_capabilities_find (self->capabilities, parts[0] + 2)
                                : NULL;

  if (option == NULL)
    return;
  g_autofree char *value = is_own ? g_strdup (parts[1]) : known_value (option, parts[1]);
  if (*value != '\0')
    add_value (self, values, option, value);
}

static GHashTable *
new_preset (LnsLaunchPresets *self, const char *title)
{
  GHashTable *values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  g_ptr_array_add (self->titles, (gpointer)title);
  g_ptr_array_add (self->values, values);
  return values;
}

/* Whether WORD asks for something that a person has to name, such as a FILE. */
static gboolean
has_gap (const char *word)
{
  const char *value = strchr (word, '=');

  return value == NULL || g_ascii_isupper (value[1]);
}

/* All that MACHINE can record: what is recorded by default, and what takes a switch. */
static void
add_everything (LnsLaunchPresets *self, const LnsMachine *machine)
{
  GHashTable *values = new_preset (self, _ ("Everything this machine can record"));
  const LnsSwitch *trace = lns_capabilities_find (self->capabilities, "trace");
  g_auto (GStrv) words = g_strsplit (trace != NULL ? default_of (trace) : "", ",", -1);

  for (gsize i = 0; trace != NULL && words[i] != NULL; i++)
    {
      const LnsMachineData *data = lns_machine_find_trace (machine, words[i]);
      if (data == NULL || lns_machine_can_record (data))
        add_value (self, values, trace, words[i]);
    }
  for (guint i = 0; i < machine->data->len; i++)
    {
      const LnsMachineData *data = &g_array_index (machine->data, LnsMachineData, i);
      if (lns_machine_can_record (data) && !has_gap (data->given_by))
        add_word (self, values, data->given_by, TRUE);
    }
}

LnsLaunchPresets *
lns_launch_presets_new (const LnsCapabilities *capabilities, const LnsMachine *machine)
{
  LnsLaunchPresets *self = g_new0 (LnsLaunchPresets, 1);

  self->capabilities = capabilities;
  self->titles = g_ptr_array_new ();
  self->values = g_ptr_array_new_with_free_func ((GDestroyNotify)g_hash_table_unref);
  self->names = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; i < G_N_ELEMENTS (presets); i++)
    {
      GHashTable *values = new_preset (self, _ (presets[i].title));
      g_auto (GStrv) words = g_strsplit (presets[i].switches, " ", -1);
      for (gsize k = 0; words[k] != NULL; k++)
        add_word (self, values, words[k], FALSE);
    }
  if (machine != NULL)
    add_everything (self, machine);
  g_ptr_array_add (self->titles, NULL);
  return self;
}

void
lns_launch_presets_free (LnsLaunchPresets *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->titles);
  g_ptr_array_unref (self->values);
  g_hash_table_unref (self->names);
  g_free (self);
}

const char *const *
lns_launch_presets_get_titles (const LnsLaunchPresets *self)
{
  return (const char *const *)self->titles->pdata;
}

static int
compare_words (const void *a, const void *b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Whether A and B name the same things, in any order. */
static gboolean
is_same_value (const char *a, const char *b)
{
  g_auto (GStrv) words_a = g_strsplit (a, ",", -1), words_b = g_strsplit (b, ",", -1);

  qsort (words_a, g_strv_length (words_a), sizeof *words_a, compare_words);
  qsort (words_b, g_strv_length (words_b), sizeof *words_b, compare_words);
  return g_strv_equal ((const char *const *)words_a, (const char *const *)words_b);
}

/* The value that a preset with VALUES gives OPTION. */
static const char *
value_in (GHashTable *values, const LnsSwitch *option)
{
  const char *value = g_hash_table_lookup (values, option->name);

  return value != NULL ? value : default_of (option);
}

static gboolean
has_values (const LnsLaunchPresets *self, GHashTable *values, const LnsLaunchLine *line)
{
  GHashTableIter names;
  gpointer name;

  g_hash_table_iter_init (&names, self->names);
  while (g_hash_table_iter_next (&names, &name, NULL))
    {
      const LnsSwitch *option = lns_capabilities_find (self->capabilities, name);
      const char *given = lns_launch_line_get_switch (line, option->letter, option->name);
      if (!is_same_value (given != NULL ? given : default_of (option), value_in (values, option)))
        return FALSE;
    }
  return TRUE;
}

guint
lns_launch_presets_find (const LnsLaunchPresets *self, const LnsLaunchLine *line)
{
  guint preset = 0;

  while (preset < self->values->len &&
         !has_values (self, g_ptr_array_index (self->values, preset), line))
    preset++;
  return preset;
}

char *
lns_launch_presets_apply (const LnsLaunchPresets *self, guint preset, const LnsLaunchLine *line)
{
  GHashTable *values = g_ptr_array_index (self->values, preset);
  char *text = g_strdup (line->text);

  /* In the order of the recorder's help, whatever that of the set. */
  for (guint i = 0; i < self->capabilities->switches->len; i++)
    {
      const LnsSwitch *option = g_ptr_array_index (self->capabilities->switches, i);
      const char *value = g_hash_table_lookup (values, option->name);
      if (!g_hash_table_contains (self->names, option->name))
        continue;
      g_autoptr (LnsLaunchLine) before = lns_launch_line_parse (text, line->flags, NULL);
      g_free (text);
      text = lns_launch_line_set_switch (
          before, option->letter, option->name,
          value != NULL && !is_same_value (value, default_of (option)) ? value : NULL);
    }
  return text;
}
