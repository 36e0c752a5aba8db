/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-command.h"

#include <glib/gi18n.h>
#include <string.h>

G_DEFINE_QUARK (lns - launch - command - error - quark, lns_launch_command_error)

static gboolean
refuse_quote (GError **error)
{
  g_set_error_literal (error, LNS_LAUNCH_COMMAND_ERROR, LNS_LAUNCH_COMMAND_ERROR_QUOTE,
                       _ ("A quoted part of the command line does not end; close the quote, or "
                          "write \\ before a quote that belongs to an argument"));
  return FALSE;
}

static gboolean
refuse_operator (char operator, GError ** error)
{
  g_set_error (error, LNS_LAUNCH_COMMAND_ERROR, LNS_LAUNCH_COMMAND_ERROR_SHELL,
               _ ("No shell runs the command line, so %c has no special meaning in it; quote it, "
                  "or launch sh -c '…'"),
               operator);
  return FALSE;
}

/* Reads a number of up to N_MAX digits of BASE at *CURSOR and moves *CURSOR after it. */
static guint
take_number (const char **cursor, guint base, int n_max)
{
  guint value = 0;

  for (int i = 0; i < n_max; i++, (*cursor)++)
    {
      int digit = g_ascii_xdigit_value (**cursor);
      if (digit < 0 || (guint)digit >= base)
        break;
      value = value * base + (guint)digit;
    }
  return value;
}

/* Reads the escape at *CURSOR, after the backslash within $'…'. Returns false if the byte would be NUL, which no
 * argument can hold. */
static gboolean
take_escape (const char **cursor, GString *word)
{
  static const char names[] = "abefnrtv\\'\"?";
  static const char bytes[] = "\a\b\033\f\n\r\t\v\\'\"?";
  const char *name = **cursor != '\0' ? strchr (names, **cursor) : NULL;
  guint value;

  if (name != NULL)
    {
      (*cursor)++;
      g_string_append_c (word, bytes[name - names]);
      return TRUE;
    }
  if (**cursor == 'x')
    {
      (*cursor)++;
      value = take_number (cursor, 16, 2);
    }
  else
    value = take_number (cursor, 8, 3);
  g_string_append_c (word, (char)value);
  return (value & 0xff) != 0;
}

/* Reads a quoted part. *CURSOR is after the opening quote, and then after the closing one. */
static gboolean
take_quoted (const char **cursor, char quote, gboolean escapes, GString *word, GError **error)
{
  for (; **cursor != quote;)
    {
      if (**cursor == '\0')
        return refuse_quote (error);
      if (escapes && **cursor == '\\')
        {
          (*cursor)++;
          if (!take_escape (cursor, word))
            return refuse_quote (error);
        }
      else if (quote == '"' && **cursor == '\\' && (*cursor)[1] != '\0' &&
               strchr ("\\\"$`\n", (*cursor)[1]) != NULL)
        {
          if ((*cursor)[1] != '\n')
            g_string_append_c (word, (*cursor)[1]);
          *cursor += 2;
        }
      else
        g_string_append_c (word, *(*cursor)++);
    }
  (*cursor)++;
  return TRUE;
}

/* Reads one word at *CURSOR and appends it to WORD. */
static gboolean
take_word (const char **cursor, GString *word, GError **error)
{
  while (**cursor != '\0' && !g_ascii_isspace (**cursor))
    {
      const char *at = *cursor;
      gboolean ok = TRUE;

      if (at[0] == '\\' && at[1] == '\0')
        return refuse_quote (error);
      if (strchr ("|&;<>`", at[0]) != NULL)
        return refuse_operator (at[0], error);
      if (at[0] == '$' && at[1] == '\'')
        {
          *cursor += 2;
          ok = take_quoted (cursor, '\'', TRUE, word, error);
        }
      else if (at[0] == '\'' || at[0] == '"')
        {
          (*cursor)++;
          ok = take_quoted (cursor, at[0], FALSE, word, error);
        }
      else if (at[0] == '\\')
        {
          if (at[1] != '\n')
            g_string_append_c (word, at[1]);
          *cursor += 2;
        }
      else
        g_string_append_c (word, *(*cursor)++);
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

GStrv
lns_launch_command_split_places (const char *line, GArray *places, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  const char *cursor = line;

  for (;;)
    {
      while (g_ascii_isspace (*cursor) || (cursor[0] == '\\' && cursor[1] == '\n'))
        cursor += *cursor == '\\' ? 2 : 1;
      if (*cursor == '\0')
        break;
      g_autoptr (GString) word = g_string_new (NULL);
      LnsLaunchPlace place = { .start = (gsize)(cursor - line) };
      if (!take_word (&cursor, word, error))
        return NULL;
      place.end = (gsize)(cursor - line);
      if (places != NULL)
        g_array_append_val (places, place);
      g_ptr_array_add (words, g_strndup (word->str, word->len));
    }
  g_ptr_array_add (words, NULL);
  return (GStrv)g_ptr_array_free (g_steal_pointer (&words), FALSE);
}

GStrv
lns_launch_command_split (const char *line, GError **error)
{
  g_auto (GStrv) words = lns_launch_command_split_places (line, NULL, error);

  if (words != NULL && words[0] == NULL)
    {
      g_set_error_literal (error, LNS_LAUNCH_COMMAND_ERROR, LNS_LAUNCH_COMMAND_ERROR_EMPTY,
                           _ ("Enter the program to launch, with its arguments."));
      return NULL;
    }
  return g_steal_pointer (&words);
}

char *
lns_launch_command_quote (const char *word)
{
  static const char plain[] = "%+,-./:=@_"; /* besides letters and digits */
  gboolean bare = word[0] != '\0';

  for (const char *byte = word; *byte != '\0'; byte++)
    bare = bare && (g_ascii_isalnum (*byte) || strchr (plain, *byte) != NULL);
  if (bare)
    return g_strdup (word);
  if (g_utf8_validate (word, -1, NULL) && strpbrk (word, "\n\r\t") == NULL)
    return g_shell_quote (word);

  GString *quoted = g_string_new ("$'");
  for (const char *byte = word; *byte != '\0'; byte++)
    if (g_ascii_isprint (*byte) && *byte != '\'' && *byte != '\\')
      g_string_append_c (quoted, *byte);
    else
      g_string_append_printf (quoted, "\\%03o", (guint8)*byte);
  g_string_append_c (quoted, '\'');
  return g_string_free (quoted, FALSE);
}

guint
lns_launch_command_switch_length (const char *const *words, const char *const *flags)
{
  static const char *const alone[] = { "-h", "--help", "-v", "--version" };
  const char *word = words[0];

  if (word[0] != '-' || word[1] == '\0' || strcmp (word, "--") == 0)
    return 0;
  for (gsize i = 0; i < G_N_ELEMENTS (alone); i++)
    if (strcmp (word, alone[i]) == 0)
      return 1;
  if (flags != NULL && word[1] == '-' && g_strv_contains (flags, word + 2))
    return 1;
  gboolean attached = word[1] == '-' ? strchr (word, '=') != NULL : word[2] != '\0';
  return attached || words[1] == NULL ? 1 : 2;
}

guint
lns_launch_command_find_program (const char *const *words, const char *const *flags)
{
  guint at = 0;

  while (words[at] != NULL && lns_launch_command_switch_length (words + at, flags) > 0)
    at += lns_launch_command_switch_length (words + at, flags);
  if (words[at] != NULL && strcmp (words[at], "--") == 0)
    at++;
  return at;
}

gboolean
lns_launch_command_is_switch (const char *word,
                              char short_name,
                              const char *long_name,
                              gsize *ret_at)
{
  gsize length = strlen (long_name);
  gboolean is_long = word[1] == '-' && strncmp (word + 2, long_name, length) == 0 &&
                     (word[2 + length] == '=' || word[2 + length] == '\0');

  *ret_at = is_long ? 2 + length + (word[2 + length] == '=') : 2;
  return is_long || (short_name != '\0' && word[1] == short_name);
}

const char *
lns_launch_command_get_switch (const char *const *words,
                               const char *const *flags,
                               char short_name,
                               const char *long_name)
{
  const char *value = NULL;
  gsize value_at;

  for (guint at = 0, step;
       words[at] != NULL && (step = lns_launch_command_switch_length (words + at, flags)) > 0;
       at += step)
    if (lns_launch_command_is_switch (words[at], short_name, long_name, &value_at))
      value = step == 2 ? words[at + 1] : words[at] + value_at;
  return value;
}

char *
lns_launch_command_number_output (const char *value)
{
  static const char *const endings[] = { ".nsys-rep", ".rep" };
  gsize length;

  if (value == NULL)
    return NULL;
  if (strstr (value, "%n") != NULL)
    return g_strdup (value);
  length = strlen (value);
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (value, endings[i]))
      {
        length -= strlen (endings[i]);
        break;
      }
  return g_strdup_printf ("%.*s-%%n%s", (int)length, value, value + length);
}
