/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/lns-options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- Lists ------------------------------------------------------------------------------------ */

static bool
list_push (LnsOptionList *list, const char *bytes, size_t n_bytes)
{
  while (n_bytes > 0 && isspace ((unsigned char)bytes[0]))
    bytes++, n_bytes--;
  while (n_bytes > 0 && isspace ((unsigned char)bytes[n_bytes - 1]))
    n_bytes--;
  if (n_bytes == 0)
    return true;
  char **items = realloc (list->items, (list->n_items + 1) * sizeof *items);
  char *item = items ? malloc (n_bytes + 1) : NULL;
  if (items != NULL)
    list->items = items;
  if (item == NULL)
    return false;
  size_t n = 0;
  char quote = 0;
  for (size_t i = 0; i < n_bytes; i++)
    if (bytes[i] == quote)
      quote = 0;
    else if (quote == 0 && (bytes[i] == '"' || bytes[i] == '\''))
      quote = bytes[i];
    else
      item[n++] = bytes[i];
  item[n] = '\0';
  list->items[list->n_items++] = item;
  return true;
}

bool
lns_option_list_add (LnsOptionList *list, const char *text)
{
  char quote = 0;
  const char *from = text;
  for (const char *at = text;; at++)
    {
      if (*at == '\0' || (*at == ',' && quote == 0))
        {
          if (!list_push (list, from, (size_t)(at - from)))
            return false;
          from = at + 1;
        }
      if (*at == '\0')
        return true;
      if (*at == quote)
        quote = 0;
      else if (quote == 0 && (*at == '"' || *at == '\''))
        quote = *at;
    }
}

void
lns_option_list_clear (LnsOptionList *list)
{
  for (size_t i = 0; i < list->n_items; i++)
    free (list->items[i]);
  free (list->items);
  *list = (LnsOptionList){ 0 };
}

bool
lns_option_list_has (const LnsOptionList *list, const char *item)
{
  for (size_t i = 0; i < list->n_items; i++)
    if (strcmp (list->items[i], item) == 0)
      return true;
  return false;
}

/* --- Names ------------------------------------------------------------------------------------ */

#define NAME_MAX_BYTES 40

/* Edits (insert, drop, change, swap two neighbours) that turn A into B: Damerau's distance over
 * three rows. Names longer than NAME_MAX_BYTES are far from everything. */
static size_t
edit_distance (const char *a, const char *b)
{
  size_t n_a = strlen (a), n_b = strlen (b);
  if (n_a > NAME_MAX_BYTES || n_b > NAME_MAX_BYTES)
    return SIZE_MAX;
  size_t rows[3][NAME_MAX_BYTES + 1];
  for (size_t j = 0; j <= n_b; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= n_a; i++)
    {
      size_t *now = rows[i % 3], *last = rows[(i - 1) % 3];
      now[0] = i;
      for (size_t j = 1; j <= n_b; j++)
        {
          size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
          if (last[j] + 1 < best)
            best = last[j] + 1;
          if (now[j - 1] + 1 < best)
            best = now[j - 1] + 1;
          if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
              rows[(i - 2) % 3][j - 2] + 1 < best)
            best = rows[(i - 2) % 3][j - 2] + 1;
          now[j] = best;
        }
    }
  return rows[n_a % 3][n_b];
}

const char *
lns_nearest_name (const char *text, const char *const *names, size_t n)
{
  const char *nearest = NULL;
  size_t least = strlen (text) / 3 + 1;
  for (size_t i = 0; i < n; i++)
    {
      size_t distance = edit_distance (text, names[i]);
      if (distance < least || (distance == least && nearest == NULL))
        {
          nearest = names[i];
          least = distance;
        }
    }
  return nearest;
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool
is_choice (const LnsOption *option, const char *item)
{
  if (option->choices == NULL || option->open_choices)
    return true;
  size_t n = strlen (item);
  for (const char *at = option->choices; *at != '\0';)
    {
      size_t length = strcspn (at, ",");
      if (length == n && strncasecmp (at, item, n) == 0)
        return true;
      at += length + (at[length] == ',');
    }
  return false;
}

static bool
bad_value (const LnsOption *option, const char *text, const char *wanted, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_USAGE, 0, "--%s: “%s” is not %s", option->name, text,
                        wanted);
}

static bool
parse_bytes (const LnsOption *option, const char *text, int64_t *ret_bytes, LnsError *error)
{
  static const struct
  {
    const char *unit;
    double bytes;
  } units[] = { { "", 0x1p20 },    { "k", 0x1p10 },  { "m", 0x1p20 },  { "g", 0x1p30 },
                { "kb", 0x1p10 },  { "mb", 0x1p20 }, { "gb", 0x1p30 }, { "kib", 0x1p10 },
                { "mib", 0x1p20 }, { "gib", 0x1p30 } };
  char *end;
  double number = strtod (text, &end);
  for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
    if (strcasecmp (end, units[i].unit) == 0 && number > 0 && number * units[i].bytes < 0x1p50)
      {
        *ret_bytes = (int64_t)(number * units[i].bytes);
        return true;
      }
  return bad_value (option, text,
                    "a size: write a number of MiB, or one with a unit, as 512K or 2G", error);
}

static bool
parse_seconds (const LnsOption *option, const char *text, int64_t *ret_ns, LnsError *error)
{
  char *end;
  double seconds = strtod (text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0 && seconds < 1e9))
    return bad_value (option, text, "a time: write a number of seconds, as 10 or 0.5", error);
  *ret_ns = llround (seconds * 1e9);
  return true;
}

static bool
parse_integer (const LnsOption *option, const char *text, int64_t *ret_number, LnsError *error)
{
  char *end;
  errno = 0;
  long long number = strtoll (text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < 0)
    return bad_value (option, text, "a whole number from 0", error);
  *ret_number = number;
  return true;
}

static bool
parse_list (const LnsOption *option, const char *text, LnsOptionList *list, LnsError *error)
{
  size_t before = list->n_items;
  if (!lns_option_list_add (list, text))
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "--%s: memory is short", option->name);
  for (size_t i = before; i < list->n_items; i++)
    if (!is_choice (option, list->items[i]))
      return lns_error_set (error, LNS_ERROR_USAGE, 0, "--%s: “%s” is not one of %s", option->name,
                            list->items[i], option->choices);
  return true;
}

static bool
set_value (const LnsOption *option, const char *text, void *values, LnsError *error)
{
  void *value = (char *)values + option->offset;
  /* A script's variable that holds nothing: what was meant is not what holds without the switch. */
  if (text != NULL && *text == '\0')
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--%s: its value is empty: give one, or leave the switch out",
                          option->name);
  switch (option->kind)
    {
    case LNS_OPTION_FLAG:
      *(bool *)value = true;
      return true;
    case LNS_OPTION_BOOL:
      if (strcasecmp (text, "true") != 0 && strcasecmp (text, "false") != 0)
        return bad_value (option, text, "true or false", error);
      *(bool *)value = strcasecmp (text, "true") == 0;
      return true;
    case LNS_OPTION_CHOICE:
      if (!is_choice (option, text))
        return lns_error_set (error, LNS_ERROR_USAGE, 0, "--%s: “%s” is not one of %s",
                              option->name, text, option->choices);
      *(const char **)value = text;
      return true;
    case LNS_OPTION_TEXT:
      *(const char **)value = text;
      return true;
    case LNS_OPTION_LIST:
      return parse_list (option, text, value, error);
    case LNS_OPTION_INTEGER:
      return parse_integer (option, text, value, error);
    case LNS_OPTION_SECONDS:
      return parse_seconds (option, text, value, error);
    case LNS_OPTION_BYTES:
      return parse_bytes (option, text, value, error);
    }
  return false;
}

/* --- Switches --------------------------------------------------------------------------------- */

static const LnsOption *
find_long (const LnsCommand *command, const char *name, size_t n_bytes)
{
  for (size_t i = 0; i < command->n_options; i++)
    if (strlen (command->options[i].name) == n_bytes &&
        memcmp (command->options[i].name, name, n_bytes) == 0)
      return &command->options[i];
  return NULL;
}

static const LnsOption *
find_short (const LnsCommand *command, char letter)
{
  for (size_t i = 0; i < command->n_options; i++)
    if (command->options[i].letter == letter)
      return &command->options[i];
  return NULL;
}

static bool
unknown_switch (const LnsCommand *command, const char *word, LnsError *error)
{
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; i < command->n_options && n < 64; i++)
    names[n++] = command->options[i].name;
  char name[NAME_MAX_BYTES + 1] = "";
  if (word[1] == '-')
    snprintf (name, sizeof name, "%.*s", (int)strcspn (word + 2, "="), word + 2);
  const char *nearest = *name != '\0' ? lns_nearest_name (name, names, n) : NULL;
  if (nearest != NULL)
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "%s has no switch %s: did you mean --%s? `lanescope %s --help` lists them", command->name,
        word, nearest, command->name);
  return lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "%s has no switch %s: `lanescope %s --help` lists them", command->name,
                        word, command->name);
}

/* Finds the option of WORD (which begins with a dash) and where its value begins in the word, NULL
 * where the value is the next word. */
static const LnsOption *
find_option (const LnsCommand *command, const char *word, const char **ret_value)
{
  *ret_value = NULL;
  if (word[1] == '-')
    {
      size_t n = strcspn (word + 2, "=");
      if (word[2 + n] == '=')
        *ret_value = word + 2 + n + 1;
      return find_long (command, word + 2, n);
    }
  if (word[2] != '\0')
    *ret_value = word[2] == '=' ? word + 3 : word + 2;
  return find_short (command, word[1]);
}

bool
lns_options_parse (const LnsCommand *command,
                   int *argc,
                   char **argv,
                   void *values,
                   bool *ret_help,
                   LnsError *error)
{
  int n_words = 1;
  bool ended = false;
  *ret_help = false;
  for (int i = 1; i < *argc; i++)
    {
      char *word = argv[i];
      if (ended || word[0] != '-' || word[1] == '\0')
        {
          argv[n_words++] = word;
          ended = ended || command->words_end_it;
          continue;
        }
      if (strcmp (word, "--") == 0)
        {
          ended = true;
          continue;
        }
      if (strcmp (word, "--help") == 0 || strcmp (word, "-h") == 0)
        {
          *ret_help = true;
          return true;
        }
      const char *value;
      const LnsOption *option = find_option (command, word, &value);
      if (option == NULL)
        return unknown_switch (command, word, error);
      if (option->kind == LNS_OPTION_FLAG && value != NULL)
        return lns_error_set (error, LNS_ERROR_USAGE, 0, "--%s takes no value", option->name);
      if (option->kind != LNS_OPTION_FLAG && value == NULL)
        {
          if (i + 1 == *argc)
            return lns_error_set (error, LNS_ERROR_USAGE, 0,
                                  "%s needs a value: `lanescope %s --help` tells which", word,
                                  command->name);
          value = argv[++i];
        }
      if (!set_value (option, value, values, error))
        return false;
    }
  *argc = n_words;
  argv[n_words] = NULL;
  return true;
}

/* --- What the tables say ---------------------------------------------------------------------- */

/* What --help shows behind the =, in ROOM bytes of TEXT; "" for a flag. */
static void
value_text (const LnsOption *option, char *text, size_t room)
{
  const char *name = option->value_name != NULL ? option->value_name : option->choices;
  if (option->kind == LNS_OPTION_BOOL)
    name = "true|false";
  snprintf (text, room, "%s%s", name != NULL ? "=" : "", name != NULL ? name : "");
  for (; option->kind == LNS_OPTION_CHOICE && *text != '\0'; text++)
    if (*text == ',')
      *text = '|';
}

/* Prints TEXT from column AT on, filled to 100 columns, each line from COLUMN. */
static void
print_filled (FILE *file, const char *text, int at, int column)
{
  while (*text != '\0')
    {
      int length = (int)strcspn (text, " ");
      if (at > column && at + 1 + length > 100)
        {
          fprintf (file, "\n%*s", column, "");
          at = column;
        }
      at += fprintf (file, at > column ? " %.*s" : "%.*s", length, text);
      text += length + (text[length] == ' ');
    }
  fputc ('\n', file);
}

void
lns_command_print_help (const LnsCommand *command, FILE *file)
{
  fprintf (file, "lanescope %s %s\n\n%s\n", command->name, command->usage, command->summary);
  fprintf (file, "\nSwitches:\n");
  for (size_t i = 0; i < command->n_options; i++)
    {
      const LnsOption *option = &command->options[i];
      char value[80];
      value_text (option, value, sizeof value);
      char letter[8] = "    ";
      if (option->letter != 0)
        snprintf (letter, sizeof letter, "-%c, ", option->letter);
      fprintf (file, "  %s--%s%s\n%*s", letter, option->name, value, 10, "");
      char text[1024];
      snprintf (text, sizeof text, "%s%s%s%s", option->help,
                option->default_text ? " Default: " : "",
                option->default_text ? option->default_text : "", option->default_text ? "." : "");
      print_filled (file, text, 10, 10);
    }
  fprintf (file, "  -h, --help\n          Print this text.\n");
  if (command->details != NULL)
    fprintf (file, "\n%s\n", command->details);
}

static void
print_json_text (FILE *file, const char *key, const char *text)
{
  fprintf (file, ",\"%s\":\"", key);
  for (; *text != '\0'; text++)
    if (*text == '"' || *text == '\\')
      fprintf (file, "\\%c", *text);
    else if (*text == '\n')
      fputs ("\\n", file);
    else
      fputc (*text, file);
  fputc ('"', file);
}

void
lns_command_print_json (const LnsCommand *command, FILE *file)
{
  static const char *const kinds[] = { "flag", "bool",    "text",    "choice",
                                       "list", "integer", "seconds", "bytes" };
  fprintf (file, "{\"name\":\"%s\"", command->name);
  print_json_text (file, "usage", command->usage);
  print_json_text (file, "summary", command->summary);
  fputs (",\"switches\":[", file);
  for (size_t i = 0; i < command->n_options; i++)
    {
      const LnsOption *option = &command->options[i];
      fprintf (file, "%s{\"name\":\"%s\",\"kind\":\"%s\"", i > 0 ? "," : "", option->name,
               kinds[option->kind]);
      if (option->letter != 0)
        fprintf (file, ",\"letter\":\"%c\"", option->letter);
      if (option->choices != NULL)
        {
          fputs (",\"choices\":[", file);
          for (const char *at = option->choices; *at != '\0';)
            {
              int length = (int)strcspn (at, ",");
              fprintf (file, "\"%.*s\"%s", length, at, at[length] == ',' ? "," : "");
              at += length + (at[length] == ',');
            }
          fputc (']', file);
        }
      if (option->default_text != NULL)
        print_json_text (file, "default", option->default_text);
      print_json_text (file, "help", option->help);
      fputc ('}', file);
    }
  fputs ("]}", file);
}
