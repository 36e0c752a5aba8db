/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the tables say: to people as --help, to programs as JSON. */

#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "src/cli/options/options.h"

/* --- Help ------------------------------------------------------------------------------------- */

/* What --help shows behind the =, in ROOM bytes of TEXT; "" for a flag. */
static void
value_text (const LnsOption *option, char *text, size_t room)
{
  const char *name = option->value_name != NULL ? option->value_name : option->choices;
  if (option->kind == LNS_OPTION_BOOL)
    name = "true|false";
  snprintf (text, room,
            option->implied != NULL ? "[=%.*s]"
            : name != NULL          ? "=%.*s"
                                    : "%.*s",
            (int)room - 4, name != NULL ? name : "");
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

static void
print_option (const LnsOption *option, FILE *file)
{
  char value[160], letter[8] = "    ", text[1024];
  value_text (option, value, sizeof value);
  if (option->letter != 0)
    snprintf (letter, sizeof letter, "-%c, ", option->letter);
  fprintf (file, "  %s--%s%s\n%*s", letter, option->name, value, 10, "");
  const bool says_default = option->default_text != NULL, says_other = option->instead != NULL;
  snprintf (text, sizeof text, "%s%s%s%s%s%s%s%s%s%s", option->help,
            says_default ? " Default: " : "", says_default ? option->default_text : "",
            says_default ? "." : "", option->old != NULL ? " Formerly --" : "",
            option->old != NULL ? option->old : "", option->old != NULL ? "." : "",
            says_other ? " But " : "", says_other ? option->instead : "", says_other ? "." : "");
  print_filled (file, text, 10, 10);
}

/* Prints those of the N OPTIONS whose names hold PART ("": all), under TITLE. */
static void
print_options (const LnsOption *options, size_t n, const char *title, const char *part, FILE *file)
{
  bool any = false;
  for (size_t i = 0; i < n; i++)
    {
      if (strstr (options[i].name, part) == NULL)
        continue;
      if (!any)
        fprintf (file, "\n%s:\n", title);
      any = true;
      print_option (&options[i], file);
    }
}

/* The group that TAG names, or NULL. */
static const LnsOptionGroup *
find_group (const LnsCommand *command, const char *tag)
{
  for (const LnsOptionGroup *const *group = command->groups; group != NULL && *group != NULL;
       group++)
    if (strcmp ((*group)->tag, tag) == 0)
      return *group;
  return NULL;
}

static bool
has_option_like (const LnsCommand *command, const char *part)
{
  const LnsOption *option;
  for (size_t i = 0; (option = lns_command_option (command, i)) != NULL; i++)
    if (strstr (option->name, part) != NULL)
      return true;
  return part[0] == '\0';
}

static void
print_group (const LnsOptionGroup *group, const char *part, FILE *file)
{
  char title[128];
  snprintf (title, sizeof title, "%s (--help=%s)", group->title, group->tag);
  print_options (group->options, group->n_options, title, part, file);
}

bool
lns_command_print_help (const LnsCommand *command, const char *tag, FILE *file, LnsError *error)
{
  const bool is_grouped = command->groups != NULL;
  const LnsOptionGroup *only = find_group (command, tag);
  if (only == NULL && !has_option_like (command, tag))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--help: %s has no switches about “%s”: `lanescope %s --help` lists all",
                          command->name, tag, command->name);
  fprintf (file, "lanescope %s %s\n\n%s\n", command->name, command->usage, command->summary);
  if (only != NULL)
    print_group (only, "", file);
  else
    print_options (command->options, command->n_options, "Switches", tag, file);
  for (const LnsOptionGroup *const *group = command->groups;
       only == NULL && is_grouped && *group != NULL; group++)
    print_group (*group, tag, file);
  if (tag[0] != '\0')
    return true;
  if (command->n_options == 0)
    fputs (is_grouped ? "\nHelp:\n" : "\nSwitches:\n", file);
  fprintf (file, "  -h, --help%s\n          ", is_grouped ? "[=TAG]" : "");
  print_filled (file,
                is_grouped
                    ? "Print this text; with TAG, what it says of a subject, or the switches "
                      "that have TAG in their names."
                    : "Print this text.",
                10, 10);
  if (command->details != NULL)
    fprintf (file, "\n%s\n", command->details);
  return true;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void
print_text (FILE *file, const char *key, const char *text)
{
  if (text == NULL)
    return;
  fprintf (file, ",\"%s\":", key);
  lns_json_write_string (file, text, strlen (text));
}

/* NAMES, parted by commas, as an array. */
static void
print_names (FILE *file, const char *key, const char *names)
{
  if (names == NULL)
    return;
  fprintf (file, ",\"%s\":[", key);
  for (const char *at = names; *at != '\0';)
    {
      const size_t length = strcspn (at, ",");
      lns_json_write_string (file, at, length);
      at += length;
      if (*at == ',')
        fputc (*at++, file);
    }
  fputc (']', file);
}

static void
print_json_option (const LnsOption *option, const char *tag, FILE *file)
{
  static const char *const kinds[] = { "flag",    "bool",    "text",  "choice", "list",
                                       "integer", "seconds", "bytes", "file" };
  fprintf (file, "{\"name\":\"%s\",\"kind\":\"%s\"", option->name, kinds[option->kind]);
  if (option->letter != 0)
    fprintf (file, ",\"letter\":\"%c\"", option->letter);
  print_text (file, "old", option->old);
  print_text (file, "tag", tag);
  print_text (file, "value", option->value_name);
  print_names (file, "choices", option->choices);
  print_text (file, "default", option->default_text);
  print_text (file, "help", option->help);
  print_text (file, "instead", option->instead);
  fputc ('}', file);
}

void
lns_command_print_json (const LnsCommand *command, FILE *file)
{
  const char *comma = "";
  fprintf (file, "{\"name\":\"%s\"", command->name);
  print_text (file, "usage", command->usage);
  print_text (file, "summary", command->summary);
  print_text (file, "details", command->details);
  fprintf (file, ",\"program\":%s", command->words_end_it ? "true" : "false");
  fputs (",\"groups\":[", file);
  for (const LnsOptionGroup *const *group = command->groups; group != NULL && *group != NULL;
       group++, comma = ",")
    {
      fprintf (file, "%s{\"tag\":\"%s\"", comma, (*group)->tag);
      print_text (file, "title", (*group)->title);
      fputc ('}', file);
    }
  fputs ("],\"switches\":[", file);
  comma = "";
  for (size_t i = 0; i < command->n_options; i++, comma = ",")
    {
      fputs (comma, file);
      print_json_option (&command->options[i], NULL, file);
    }
  for (const LnsOptionGroup *const *group = command->groups; group != NULL && *group != NULL;
       group++)
    for (size_t i = 0; i < (*group)->n_options; i++, comma = ",")
      {
        fputs (comma, file);
        print_json_option (&(*group)->options[i], (*group)->tag, file);
      }
  fputs ("],\"refused\":[", file);
  for (size_t i = 0; i < command->n_refusals; i++)
    {
      fprintf (file, "%s{\"why\":", i > 0 ? "," : "");
      lns_json_write_string (file, command->refusals[i].why, strlen (command->refusals[i].why));
      print_names (file, "names", command->refusals[i].names);
      fputc ('}', file);
    }
  fputs ("]}", file);
}
