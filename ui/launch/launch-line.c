/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-line.h"

#include <string.h>

#include "ui/launch/launch-command.h"

gboolean
lns_launch_line_is_setting (const char *text)
{
  const char *at = text;

  while (g_ascii_isalnum (*at) || *at == '_')
    at++;
  return at > text && !g_ascii_isdigit (*text) && *at == '=';
}

/* Whether WORDS begin with "lanescope profile", or the like of another profiler, whatever folder they are called in. */
static gboolean
is_tool (const char *const *words)
{
  static const char *const tools[] = { "lanescope", "nsys", NULL };

  if (words[0] == NULL || g_strcmp0 (words[1], "profile") != 0)
    return FALSE;
  g_autofree char *name = g_path_get_basename (words[0]);
  return g_strv_contains (tools, name);
}

/* Finds what stands before the switches. */
static void
find_beginning (LnsLaunchLine *self)
{
  const char *const *words = (const char *const *)self->words;
  guint at = 0, n_sudo = 0;

  if (g_strcmp0 (words[at], "sudo") == 0)
    at = n_sudo = 1;
  if (g_strcmp0 (words[at], "env") == 0 && words[at + 1] != NULL &&
      lns_launch_line_is_setting (words[at + 1]))
    at++;
  self->setting = at;
  while (words[at] != NULL && lns_launch_line_is_setting (words[at]))
    at++;
  self->n_settings = at - self->setting;
  if (n_sudo == 0 && g_strcmp0 (words[at], "sudo") == 0)
    {
      n_sudo = 1;
      at++;
    }
  if (is_tool (words + at))
    {
      self->first = at + 2;
      self->has_sudo = n_sudo > 0;
    }
  else if (n_sudo == 0)
    self->first = at;
  else
    /* Sudo is the program. */
    {
      self->first = g_strcmp0 (words[0], "sudo") == 0 ? 0 : at - 1;
      if (self->first == 0)
        self->setting = self->n_settings = 0;
    }
}

LnsLaunchLine *
lns_launch_line_parse (const char *text, const char *const *flags, GError **error)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (LnsLaunchPlace));
  GStrv words = lns_launch_command_split_places (text, places, error);

  if (words == NULL)
    return NULL;
  LnsLaunchLine *self = g_new0 (LnsLaunchLine, 1);
  self->text = g_strdup (text);
  self->words = words;
  self->places = g_steal_pointer (&places);
  self->flags = flags;
  find_beginning (self);
  self->program =
      self->first + lns_launch_command_find_program (lns_launch_line_get_arguments (self), flags);
  return self;
}

void
lns_launch_line_free (LnsLaunchLine *self)
{
  if (self == NULL)
    return;
  g_free (self->text);
  g_strfreev (self->words);
  g_array_unref (self->places);
  g_free (self);
}

const char *const *
lns_launch_line_get_arguments (const LnsLaunchLine *self)
{
  return (const char *const *)self->words + self->first;
}

GStrv
lns_launch_line_get_settings (const LnsLaunchLine *self)
{
  GStrv settings = g_new0 (char *, self->n_settings + 1);

  for (guint i = 0; i < self->n_settings; i++)
    settings[i] = g_strdup (self->words[self->setting + i]);
  return settings;
}

const char *
lns_launch_line_get_switch (const LnsLaunchLine *self, char letter, const char *name)
{
  return lns_launch_command_get_switch (lns_launch_line_get_arguments (self), self->flags, letter,
                                        name);
}

/* --- Editing ------------------------------------------------------------------------------- */

static const LnsLaunchPlace *
place_of (const LnsLaunchLine *self, guint word)
{
  return &g_array_index (self->places, LnsLaunchPlace, word);
}

static void
replace (GString *text, gsize start, gsize end, const char *words)
{
  g_string_erase (text, (gssize)start, (gssize)(end - start));
  g_string_insert (text, (gssize)start, words);
}

/* Takes the words [FROM, TO) out of TEXT, with the blanks behind them. */
static void
erase_words (const LnsLaunchLine *self, GString *text, guint from, guint to)
{
  const gsize end =
      to < self->places->len ? place_of (self, to)->start : place_of (self, to - 1)->end;

  replace (text, place_of (self, from)->start, end, "");
}

/* Inserts WORDS before word AT, or at the end. */
static void
insert_words (const LnsLaunchLine *self, GString *text, guint at, const char *words)
{
  if (at < self->places->len)
    {
      g_autofree char *parted = g_strconcat (words, " ", NULL);
      g_string_insert (text, (gssize)place_of (self, at)->start, parted);
      return;
    }
  if (text->len > 0 && !g_ascii_isspace (text->str[text->len - 1]))
    g_string_append_c (text, ' ');
  g_string_append (text, words);
  g_string_append_c (text, ' ');
}

/* Gives the switch at word AT, of N words, a VALUE, in the way in which it was typed. */
static void
replace_value (const LnsLaunchLine *self,
               GString *text,
               guint at,
               guint n,
               gsize value_at,
               const char *name,
               const char *value)
{
  const char *word = self->words[at];
  g_autofree char *quoted = lns_launch_command_quote (value);
  const gboolean is_attached = word[1] == '-' ? strchr (word, '=') != NULL : word[2] != '\0';

  if (n == 2)
    replace (text, place_of (self, at + 1)->start, place_of (self, at + 1)->end, quoted);
  else if (is_attached)
    {
      g_autofree char *whole = g_strdup_printf ("%.*s%s", (int)value_at, word, quoted);
      replace (text, place_of (self, at)->start, place_of (self, at)->end, whole);
    }
  else if (self->flags == NULL || !g_strv_contains (self->flags, name))
    {
      g_autofree char *whole = g_strconcat ("--", name, "=", quoted, NULL);
      replace (text, place_of (self, at)->start, place_of (self, at)->end, whole);
    }
}

char *
lns_launch_line_set_switch (const LnsLaunchLine *self,
                            char letter,
                            const char *name,
                            const char *value)
{
  const char *const *words = (const char *const *)self->words;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
  GString *text = g_string_new (self->text);
  guint at = self->first, n;
  gsize value_at;

  for (; words[at] != NULL && (n = lns_launch_command_switch_length (words + at, self->flags)) > 0;
       at += n)
    if (lns_launch_command_is_switch (words[at], letter, name, &value_at))
      g_array_append_val (found, at);
  if (found->len == 0 && value != NULL)
    {
      const gboolean is_flag = self->flags != NULL && g_strv_contains (self->flags, name);
      g_autofree char *quoted = lns_launch_command_quote (value);
      g_autofree char *word =
          g_strconcat ("--", name, is_flag ? "" : "=", is_flag ? "" : quoted, NULL);
      insert_words (self, text, at, word);
    }
  /* From the end on, so that places hold. */
  for (guint i = found->len; i-- > 0;)
    {
      at = g_array_index (found, guint, i);
      n = lns_launch_command_switch_length (words + at, self->flags);
      lns_launch_command_is_switch (words[at], letter, name, &value_at);
      if (value != NULL && i == found->len - 1)
        replace_value (self, text, at, n, value_at, name, value);
      else
        erase_words (self, text, at, at + n);
    }
  return g_string_free (text, FALSE);
}

/* SETTINGS as words of a shell, each followed by a blank. */
static char *
quote_settings (const char *const *settings)
{
  GString *words = g_string_new (NULL);

  for (guint i = 0; settings[i] != NULL; i++)
    {
      const char *value = strchr (settings[i], '=') + 1;
      g_autofree char *quoted = *value != '\0' ? lns_launch_command_quote (value) : g_strdup ("");
      g_string_append_printf (words, "%.*s%s ", (int)(value - settings[i]), settings[i], quoted);
    }
  return g_string_free (words, FALSE);
}

char *
lns_launch_line_set_settings (const LnsLaunchLine *self, const char *const *settings)
{
  GString *text = g_string_new (self->text);
  g_autofree char *words = quote_settings (settings);

  if (self->n_settings > 0)
    erase_words (self, text, self->setting, self->setting + self->n_settings);
  const gsize at =
      self->setting < self->places->len ? place_of (self, self->setting)->start : text->len;
  g_string_insert (text, (gssize)at, words);
  return g_string_free (text, FALSE);
}

char *
lns_launch_line_find_folder (const char *text, const char **ret_rest)
{
  for (const char *at = text; (at = strstr (at, "&&")) != NULL; at++)
    {
      g_autofree char *first = g_strndup (text, (gsize)(at - text));
      g_auto (GStrv) words = lns_launch_command_split (first, NULL);
      if (words == NULL) /* these are in quotes */
        continue;
      if (g_strv_length (words) != 2 || strcmp (words[0], "cd") != 0)
        return NULL;
      for (at += 2; g_ascii_isspace (*at);)
        at++;
      *ret_rest = at;
      return g_strdup (words[1]);
    }
  return NULL;
}

char *
lns_launch_line_write_command (const LnsLaunchLine *self, const char *folder)
{
  g_auto (GStrv) settings = lns_launch_line_get_settings (self);
  g_autofree char *words = quote_settings ((const char *const *)settings);
  g_autofree char *place = folder != NULL ? lns_launch_command_quote (folder) : NULL;
  const char *rest =
      self->first < self->places->len ? self->text + place_of (self, self->first)->start : "";

  return g_strconcat (place != NULL ? "cd " : "", place != NULL ? place : "",
                      place != NULL ? " && " : "", words, "lanescope profile ", rest, NULL);
}
