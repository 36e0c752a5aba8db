/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Parses the values of switches: lists, numbers, times and sizes. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/memory.h"
#include "src/cli/options/options.h"
#include "src/cli/terminal/say.h"

/* --- Lists ------------------------------------------------------------------------------------ */

/* Adds the N_BYTES of BYTES to LIST, without the blanks and quotes around them, unless nothing is left. */
static void
list_push (LnsOptionList *list, const char *bytes, size_t n_bytes)
{
  while (n_bytes > 0 && isspace ((unsigned char)bytes[0]))
    bytes++, n_bytes--;
  while (n_bytes > 0 && isspace ((unsigned char)bytes[n_bytes - 1]))
    n_bytes--;
  if (n_bytes == 0)
    return;
  char *item = lns_memdup (bytes, n_bytes);
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
  list->items = lns_realloc (list->items, list->n_items + 1, sizeof *list->items);
  list->items[list->n_items++] = item;
}

void
lns_option_list_add (LnsOptionList *list, const char *text)
{
  char quote = 0;
  const char *from = text;
  for (const char *at = text;; at++)
    {
      if (*at == '\0' || (*at == ',' && quote == 0))
        {
          list_push (list, from, (size_t)(at - from));
          from = at + 1;
        }
      if (*at == '\0')
        return;
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

/* --- Values ----------------------------------------------------------------------------------- */

const char *
lns_option_choice (const char *choices, const char *text)
{
  const size_t n = strlen (text);
  for (const char *at = choices; *at != '\0';)
    {
      const size_t length = strcspn (at, ",");
      if (length == n && strncasecmp (at, text, n) == 0)
        return at;
      at += length + (at[length] == ',');
    }
  return NULL;
}

/* Gives TEXT the spelling of the table. ERROR if the table does not have it. */
static bool
make_choice (const LnsOption *option, char *text, LnsError *error)
{
  LnsChoice row;
  for (size_t i = 0; option->each_choice != NULL && option->each_choice (i, &row); i++)
    if (strcasecmp (row.name, text) == 0)
      memcpy (text, row.name, strlen (text));
  if (option->choices == NULL)
    return true;
  const char *choice = lns_option_choice (option->choices, text);
  /* The implied value of a switch is constant, and already spelled like the table. */
  if (choice != NULL && memcmp (text, choice, strlen (text)) != 0)
    memcpy (text, choice, strlen (text));
  return choice != NULL || option->open_choices ||
         lns_cli_usage (error, "--%s: “%s” is not one of %s", option->name, text, option->choices);
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
  return lns_cli_usage (
      error,
      "--%s: “%s” is not a size; give a number of MiB, or one with a unit, such as 512K or 2G",
      option->name, text);
}

static bool
parse_seconds (const LnsOption *option, const char *text, int64_t *ret_ns, LnsError *error)
{
  char *end;
  double seconds = strtod (text, &end);
  if (end != text && strcmp (end, "s") == 0)
    end++;
  if (end == text || *end != '\0' || !(seconds >= 0 && seconds < 1e9))
    return lns_cli_usage (error,
                          "--%s: “%s” is not a time; give a number of seconds, such as 10 or 0.5",
                          option->name, text);
  *ret_ns = llround (seconds * 1e9);
  return true;
}

static bool
parse_integer (const LnsOption *option, const char *text, int64_t *ret_number, LnsError *error)
{
  char *end;
  errno = 0;
  long long number = strtoll (text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < option->least ||
      (option->most > 0 && number > option->most))
    {
      const long long least = option->least, most = option->most;
      return most > 0 ? lns_cli_usage (error, "--%s: “%s” is not a whole number from %lld to %lld",
                                       option->name, text, least, most)
                      : lns_cli_usage (error, "--%s: “%s” is not a whole number of at least %lld",
                                       option->name, text, least);
    }
  *ret_number = number;
  return true;
}

static bool
parse_list (const LnsOption *option, const char *text, LnsOptionList *list, LnsError *error)
{
  size_t before = list->n_items;
  lns_option_list_add (list, text);
  for (size_t i = before; i < list->n_items; i++)
    if (!make_choice (option, list->items[i], error))
      return false;
  return true;
}

bool
lns_option_set (const LnsOption *option, char *text, void *values, LnsError *error)
{
  union
  {
    bool truth;
    const char *text;
    LnsOptionList list;
    int64_t number;
  } nowhere = { 0 };
  void *value = values != NULL ? (char *)values + option->offset : (void *)&nowhere;
  bool good = true;
  /* Most likely an empty variable of a script, whose author did not mean the default. */
  if (text != NULL && *text == '\0')
    return lns_cli_usage (error, "--%s has an empty value; give it a value or leave it out",
                          option->name);
  switch (option->kind)
    {
    case LNS_OPTION_FLAG:
      *(bool *)value = true;
      break;
    case LNS_OPTION_BOOL:
      if (strcasecmp (text, "true") != 0 && strcasecmp (text, "false") != 0)
        return lns_cli_usage (error, "--%s: “%s” is not true or false", option->name, text);
      *(bool *)value = strcasecmp (text, "true") == 0;
      break;
    case LNS_OPTION_CHOICE:
    case LNS_OPTION_TEXT:
      good = make_choice (option, text, error);
      *(const char **)value = text;
      break;
    case LNS_OPTION_LIST:
      good = parse_list (option, text, value, error);
      break;
    case LNS_OPTION_INTEGER:
      good = parse_integer (option, text, value, error);
      break;
    case LNS_OPTION_SECONDS:
      good = parse_seconds (option, text, value, error);
      break;
    case LNS_OPTION_BYTES:
      good = parse_bytes (option, text, value, error);
      break;
    case LNS_OPTION_WORD:
    case LNS_OPTION_FILE:
      break;
    }
  if (values == NULL && option->kind == LNS_OPTION_LIST)
    lns_option_list_clear (&nowhere.list);
  return good;
}
