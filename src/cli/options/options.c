/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/array.h"
#include "src/cli/terminal/say.h"

/* --- Names ------------------------------------------------------------------------------------ */

#define NAME_MAX_BYTES 40

/* The number of edits (insert, delete, change, swap two neighbours) that turn A into B: the Damerau-Levenshtein
 * distance, computed in three rows. SIZE_MAX for names longer than NAME_MAX_BYTES. */
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
  const size_t n_text = strlen (text);
  size_t least = n_text / 3 + 1;
  for (size_t i = 0; i < n; i++)
    {
      size_t distance = edit_distance (text, names[i]);
      /* Among equally near names, one that begins with TEXT wins. */
      if (distance < least ||
          (distance == least && (nearest == NULL || (strncmp (names[i], text, n_text) == 0 &&
                                                     strncmp (nearest, text, n_text) != 0))))
        {
          nearest = names[i];
          least = distance;
        }
    }
  return nearest;
}

/* --- Switches --------------------------------------------------------------------------------- */

bool
lns_command_group (const LnsCommand *command, size_t i, LnsOptionGroup *ret_group)
{
  if (i == 0)
    *ret_group = (LnsOptionGroup){ .title = N_ ("Switches"),
                                   .options = command->options,
                                   .n_options = command->n_options };
  else if (command->groups == NULL || command->groups[i - 1] == NULL)
    return false;
  else
    *ret_group = *command->groups[i - 1];
  return true;
}

const LnsOption *
lns_command_option (const LnsCommand *command, size_t i)
{
  LnsOptionGroup group;
  for (size_t k = 0; lns_command_group (command, k, &group); i -= group.n_options, k++)
    if (i < group.n_options)
      return &group.options[i];
  return NULL;
}

static size_t
count_options (const LnsCommand *command)
{
  size_t n = 0;
  while (lns_command_option (command, n) != NULL)
    n++;
  return n;
}

/* What was given for a switch. */
typedef struct
{
  const char *text; /* its last value; NULL = not given */
  bool is_fixed;    /* given on the command line, which takes precedence over files */
  bool asks;        /* for something, though the switch has no effect */
} Given;

typedef struct
{
  const LnsCommand *command;
  void *values;
  size_t n_options;
  Given *given;                   /* by the switch's number */
  LNS_ARRAY (const char *) files; /* of switches, to be read */
  char *word;                     /* the value of the last switch, if that is one of the words */
  const char *origin;             /* the file that is being read; NULL = the command line */
} Parser;

static bool
is_name (const char *name, const char *text, size_t n_bytes)
{
  return name != NULL && strlen (name) == n_bytes && memcmp (name, text, n_bytes) == 0;
}

/* The number of the switch that WORD (which begins with a dash) names, or n_options. *RET_VALUE is where its value begins
 * in WORD; NULL if WORD has none. */
static size_t
find_option (const Parser *parser, const char *word, const char **ret_value)
{
  const bool is_long = word[1] == '-';
  const size_t n = strcspn (word + 2, "=");
  *ret_value = NULL;
  if (is_long && word[2 + n] == '=')
    *ret_value = word + 2 + n + 1;
  if (!is_long && word[2] != '\0')
    *ret_value = word[2] == '=' ? word + 3 : word + 2;
  for (size_t i = 0; i < parser->n_options; i++)
    {
      const LnsOption *option = lns_command_option (parser->command, i);
      if (is_long ? is_name (option->name, word + 2, n) || is_name (option->old, word + 2, n)
                  : option->letter == word[1])
        return i;
    }
  return parser->n_options;
}

/* Whether WORD is certainly a switch, not a value that begins with a dash. */
static bool
names_switch (const Parser *parser, const char *word)
{
  const char *value;
  return word[0] == '-' && (word[1] == '-' || (word[1] != '\0' && word[2] == '\0')) &&
         find_option (parser, word, &value) < parser->n_options;
}

static const char *
find_refusal (const LnsCommand *command, const char *name)
{
  for (size_t i = 0; i < command->n_refusals; i++)
    if (lns_option_choice (command->refusals[i].names, name) != NULL)
      return command->refusals[i].why;
  return NULL;
}

/* The switch that the unknown NAME may mean: the only one that begins with NAME, or the nearest; NULL if none is near, or
 * if memory is short. */
static const char *
guess_switch (const Parser *parser, const char *name)
{
  const char **names = calloc (parser->n_options, sizeof *names), *begun = NULL;
  size_t n_begun = 0;
  for (size_t i = 0; names != NULL && i < parser->n_options; i++)
    {
      names[i] = lns_command_option (parser->command, i)->name;
      if (strncmp (names[i], name, strlen (name)) != 0)
        continue;
      begun = names[i];
      n_begun++;
    }
  if (names != NULL && n_begun != 1)
    begun = lns_nearest_name (name, names, parser->n_options);
  free (names);
  return begun;
}

static bool
unknown_switch (const Parser *parser, const char *word, LnsError *error)
{
  const char *command = parser->command->name, *nearest = NULL, *why = NULL;
  if (word[1] == '-')
    {
      char name[2 * NAME_MAX_BYTES]; /* longer ones are like none that there is */
      snprintf (name, sizeof name, "%.*s", (int)strcspn (word + 2, "="), word + 2);
      why = find_refusal (parser->command, name);
      nearest = *name != '\0' ? guess_switch (parser, name) : NULL;
    }
  if (why != NULL)
    return lns_cli_usage (error, "%.*s %s", (int)strcspn (word, "="), word, _ (why));
  if (nearest != NULL)
    return lns_cli_usage (
        error, "%s: unknown switch %s; did you mean --%s? `lanescope %s --help` lists all switches",
        command, word, nearest, command);
  return lns_cli_usage (error, "%s: unknown switch %s; `lanescope %s --help` lists all switches",
                        command, word, command);
}

/* Whether TEXT, the value of an OPTION without an effect, asks for something. */
static bool
asks_for_something (const LnsOption *option, const char *text)
{
  return lns_option_choice (option->nothing != NULL ? option->nothing : "none,false", text) == NULL;
}

/* Gives the switch number I the value TEXT, NULL for a flag. */
static bool
take (Parser *parser, size_t i, char *text, LnsError *error)
{
  const LnsOption *option = lns_command_option (parser->command, i);
  Given *given = &parser->given[i];
  const bool adds_up = (option->kind == LNS_OPTION_LIST && !option->is_whole) ||
                       option->kind == LNS_OPTION_WORD || option->kind == LNS_OPTION_FILE;
  if (option->kind == LNS_OPTION_FILE && parser->origin != NULL)
    return lns_cli_usage (error, "a file of switches cannot name another file of switches");
  if (given->is_fixed && parser->origin != NULL)
    return true;
  if (!lns_option_set (option, text, option->instead != NULL ? NULL : parser->values, error))
    return false;
  if (given->text != NULL && text != NULL && !adds_up &&
      (option->kind == LNS_OPTION_BOOL ? strcasecmp : strcmp) (given->text, text) != 0)
    return lns_cli_usage (error, "--%s is given twice, as “%s” and as “%s”; give it once",
                          option->name, given->text, text);
  if (option->kind == LNS_OPTION_FILE)
    *lns_array_add (&parser->files) = text;
  if (option->kind == LNS_OPTION_WORD)
    parser->word = text;
  given->text = text != NULL ? text : "";
  given->is_fixed = parser->origin == NULL;
  given->asks |= option->instead != NULL && (text == NULL || asks_for_something (option, text));
  return true;
}

/* Takes the switch at WORDS[*AT] and its value. If the value is the next word, moves *AT there. */
static bool
take_switch (Parser *parser, char **words, int *at, LnsError *error)
{
  const char *word = words[*at], *value;
  const size_t i = find_option (parser, word, &value);
  if (i == parser->n_options)
    return unknown_switch (parser, word, error);
  const bool is_flag = lns_command_option (parser->command, i)->kind == LNS_OPTION_FLAG;
  if (value == NULL)
    value = lns_command_option (parser->command, i)->implied;
  if (is_flag && value != NULL)
    return lns_cli_usage (error, "--%s takes no value",
                          lns_command_option (parser->command, i)->name);
  if (!is_flag && value == NULL)
    {
      value = words[*at + 1];
      if (value == NULL || strcmp (value, "--") == 0 || names_switch (parser, value))
        return lns_cli_usage (error, "%s needs a value; `lanescope %s --help` lists the values",
                              word, parser->command->name);
      ++*at;
    }
  return take (parser, i, (char *)value, error);
}

static bool
take_files (Parser *parser, LnsError *error)
{
  for (size_t i = 0; i < parser->files.n; i++)
    {
      parser->origin = parser->files.items[i];
      char **words = lns_option_file_read (parser->origin, error);
      for (int at = 0; words != NULL && words[at] != NULL; at++)
        {
          if (words[at][0] != '-')
            return lns_cli_usage (
                error,
                "%s: “%s” is not a switch; the file of --command-file may hold only switches",
                parser->origin, words[at]);
          if (!take_switch (parser, words, &at, error))
            return lns_error_prefix (error, "%s", parser->origin);
        }
      if (words == NULL)
        return false;
    }
  return true;
}

/* Warns about switches without an effect: one line for all that have the same reason. */
static void
tell_what_does_not_happen (const Parser *parser)
{
  for (size_t i = 0; i < parser->n_options; i++)
    {
      char names[1024] = "";
      const char *instead = lns_command_option (parser->command, i)->instead;
      for (size_t k = i; parser->given[i].asks && k < parser->n_options; k++)
        {
          const LnsOption *option = lns_command_option (parser->command, k);
          if (!parser->given[k].asks || strcmp (option->instead, instead) != 0)
            continue;
          const size_t n = strlen (names);
          snprintf (names + n, sizeof names - n, "%s--%s", n > 0 ? ", " : "", option->name);
          parser->given[k].asks = k == i;
        }
      if (names[0] != '\0')
        lns_cli_say ("warning", "%s: %s [LNS-SWITCH-001]", names, _ (instead));
    }
}

static bool
parse (Parser *parser, int *argc, char **argv, const char **ret_help, LnsError *error)
{
  int n_words = 1;
  bool ended = false;
  for (int i = 1; i < *argc; i++)
    {
      char *word = argv[i];
      if (ended || word[0] != '-' || word[1] == '\0')
        {
          argv[n_words++] = word;
          ended = ended || parser->command->words_end_it;
        }
      else if (strcmp (word, "--") == 0)
        ended = true;
      else if (strcmp (word, "--help") == 0 || strcmp (word, "-h") == 0 ||
               strncmp (word, "--help=", 7) == 0)
        {
          *ret_help = word[1] == '-' && word[6] == '=' ? word + 7 : "";
          return true;
        }
      else if (!take_switch (parser, argv, &i, error))
        return false;
      else if (parser->word != NULL)
        {
          argv[n_words++] = parser->word; /* in the place of the switch, or before */
          parser->word = NULL;
        }
    }
  *argc = n_words;
  argv[n_words] = NULL;
  return take_files (parser, error);
}

bool
lns_options_parse (const LnsCommand *command,
                   int *argc,
                   char **argv,
                   void *values,
                   const char **ret_help,
                   LnsError *error)
{
  Parser parser = { .command = command, .values = values, .n_options = count_options (command) };
  *ret_help = NULL;
  /* Requests of other terminals come while a program is recorded, which a lack of memory must not end. */
  if ((parser.given = calloc (parser.n_options + 1, sizeof *parser.given)) == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "cannot read the switches: out of memory");
  const bool good = parse (&parser, argc, argv, ret_help, error);
  if (good && *ret_help == NULL)
    tell_what_does_not_happen (&parser);
  lns_array_clear (&parser.files);
  free (parser.given);
  return good;
}
