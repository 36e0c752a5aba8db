/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Prints tables of switches: as --help for people, and as JSON for programs. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/cli/options/options.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"

/* --- Help ------------------------------------------------------------------------------------- */

/* Writes the value of OPTION as --help shows it, with its =, into ROOM bytes of TEXT; "" for a flag. */
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

/* Where help is printed. */
typedef struct
{
  FILE *file;
  int columns; /* 0: for programs, in no language and not filled */
} Page;

/* The width of the list in what programs read. */
#define LINE_COLUMNS 100

/* Prints TEXT. Lines are joined into paragraphs and filled, except empty ones and those that begin with a space. A page of 0
 * columns is not filled. */
static void
print_paragraphs (const Page *page, const char *text)
{
  while (*text != '\0')
    {
      size_t length = strcspn (text, "\n");
      const bool is_verbatim = *text == ' ' || *text == '\n';
      while (!is_verbatim && text[length] == '\n' && strchr (" \n", text[length + 1]) == NULL)
        length += 1 + strcspn (text + length + 1, "\n");
      if (is_verbatim)
        fprintf (page->file, "%.*s\n", (int)length, text);
      else if (page->columns == 0)
        fprintf (page->file, "%.*s\n", (int)length, text);
      else
        lns_cli_print_filled (page->file, text, length, 0, page->columns);
      text += length + (text[length] == '\n');
    }
}

/* TEXT for PAGE: what programs read is in no language. */
static const char *
text_for (const Page *page, const char *text)
{
  return page->columns == 0 ? text : _ (text);
}

/* Prints the rows of LIST, in two columns. */
static void
print_list (const Page *page, const LnsCommandList *list)
{
  LnsChoice row;
  int width = 0;

  if (list->title != NULL)
    print_paragraphs (page, text_for (page, list->title));
  for (size_t i = 0; list->each (i, &row); i++)
    width = (int)strlen (row.name) > width ? (int)strlen (row.name) : width;
  for (size_t i = 0; list->each (i, &row); i++)
    {
      const char *help = text_for (page, row.help);
      char *lines;
      size_t size;
      FILE *stream = lns_memory_stream (&lines, &size);
      lns_cli_print_filled (stream, help, strlen (help), width + 4,
                            page->columns == 0 ? LINE_COLUMNS : page->columns);
      lns_memory_stream_end (stream);
      /* The name stands where the first line is indented. */
      fprintf (page->file, "  %-*s  %s", width, row.name, lines + width + 4);
      free (lines);
    }
}

static void
print_option (const Page *page, const LnsOption *option)
{
  char value[160], letter[8] = "    ", text[1024];
  value_text (option, value, sizeof value);
  if (option->letter != 0)
    snprintf (letter, sizeof letter, "-%c, ", option->letter);
  fprintf (page->file, "  %s--%s%s\n", letter, option->name, value);
  size_t n = (size_t)snprintf (text, sizeof text, "%s", _ (option->help));
  if (option->old != NULL)
    n += (size_t)snprintf (text + n, sizeof text - n, _ (" Formerly --%s."), option->old);
  if (option->instead != NULL)
    {
      const char *instead = _ (option->instead);
      n +=
          (size_t)snprintf (text + n, sizeof text - n, " %c%s.", toupper (instead[0]), instead + 1);
    }
  if (option->default_text != NULL)
    n += (size_t)snprintf (text + n, sizeof text - n, _ (" (default: %s)"),
                           _ (option->default_text));
  lns_cli_print_filled (page->file, text, strlen (text), 10, page->columns);
}

/* Which switches are printed. */
typedef struct
{
  const char *part; /* that their names contain */
  bool is_all;      /* also those without an effect */
} Choice;

static bool
is_chosen (const LnsOption *option, const Choice *choice)
{
  return strstr (option->name, choice->part) != NULL && (choice->is_all || option->instead == NULL);
}

/* Prints those switches of GROUP that CHOICE selects, under its title. */
static void
print_group (const Page *page, const LnsOptionGroup *group, const Choice *choice)
{
  bool any = false;
  for (size_t i = 0; i < group->n_options; i++)
    {
      if (!is_chosen (&group->options[i], choice))
        continue;
      if (!any && group->tag != NULL)
        fprintf (page->file, "\n%s (--help=%s):\n", _ (group->title), group->tag);
      else if (!any)
        fprintf (page->file, "\n%s:\n", _ (group->title));
      any = true;
      print_option (page, &group->options[i]);
    }
}

static bool
has_group (const LnsCommand *command, const char *tag)
{
  LnsOptionGroup group;
  for (size_t i = 1; lns_command_group (command, i, &group); i++)
    if (strcmp (group.tag, tag) == 0)
      return true;
  return false;
}

static unsigned
count_without_effect (const LnsCommand *command)
{
  unsigned n = 0;
  const LnsOption *option;
  for (size_t i = 0; (option = lns_command_option (command, i)) != NULL; i++)
    n += option->instead != NULL;
  return n;
}

/* Prints what follows the switches. */
static void
print_end (const Page *page, const LnsCommand *command, bool is_all)
{
  const bool is_grouped = command->groups != NULL;
  const char *text = is_grouped ? _ ("Print this text; with TOPIC, the switches of that section, "
                                     "those with TOPIC in their names, or all.")
                                : _ ("Print this text.");
  const unsigned n = is_all ? 0 : count_without_effect (command);

  if (command->n_options == 0)
    fprintf (page->file, "\n%s:\n", is_grouped ? _ ("Help") : _ ("Switches"));
  fprintf (page->file, "  -h, --help%s\n", is_grouped ? "[=TOPIC]" : "");
  lns_cli_print_filled (page->file, text, strlen (text), 10, page->columns);
  if (n > 0)
    {
      char note[256];
      snprintf (note, sizeof note,
                _ ("Scripts written for nsys may also use %u switches that have no effect; "
                   "`lanescope %s --help=all` lists them."),
                n, command->name);
      fputc ('\n', page->file);
      lns_cli_print_filled (page->file, note, strlen (note), 0, page->columns);
    }
  if (command->list.each != NULL || command->details != NULL)
    fputc ('\n', page->file);
  if (command->list.each != NULL)
    print_list (page, &command->list);
  if (command->details != NULL)
    {
      print_paragraphs (page, _ (command->details));
    }
}

bool
lns_command_has_topic (const LnsCommand *command, const char *topic)
{
  const LnsOption *option;
  for (size_t i = 0; (option = lns_command_option (command, i)) != NULL; i++)
    if (strstr (option->name, topic) != NULL)
      return true;
  return has_group (command, topic);
}

bool
lns_command_print_help (
    const LnsCommand *command, const char *topic, int columns, FILE *file, LnsError *error)
{
  const Page page = { file, columns };
  const bool is_all = strcmp (topic, "all") == 0, is_whole = is_all || topic[0] == '\0';
  const bool is_group = has_group (command, topic);
  const Choice choice = { .part = is_whole || is_group ? "" : topic, .is_all = topic[0] != '\0' };
  LnsOptionGroup group;
  if (!is_whole && !lns_command_has_topic (command, topic))
    return lns_cli_usage (
        error, "--help: %s has no switches about “%s”; `lanescope %s --help` lists all switches",
        command->name, topic, command->name);
  fprintf (file, _ ("Usage: lanescope %s %s\n\n%s\n"), command->name, _ (command->usage),
           _ (command->summary));
  for (size_t i = 0; lns_command_group (command, i, &group); i++)
    if (!is_group || (i > 0 && strcmp (group.tag, topic) == 0))
      print_group (&page, &group, &choice);
  if (is_whole)
    print_end (&page, command, is_all);
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

/* Prints the details of COMMAND with its list above them. */
static void
print_details (const LnsCommand *command, FILE *file)
{
  char *text;
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);
  const Page page = { stream, 0 };

  if (command->list.each != NULL)
    print_list (&page, &command->list);
  if (command->details != NULL)
    fputs (command->details, stream);
  lns_memory_stream_end (stream);
  print_text (file, "details", size > 0 ? text : NULL);
  free (text);
}

/* Prints the names of the rows of EACH as an array. */
static void
print_rows (FILE *file, const char *key, LnsChoiceFunc each)
{
  LnsChoice row;

  fprintf (file, ",\"%s\":[", key);
  for (size_t i = 0; each (i, &row); i++)
    fprintf (file, "%s\"%s\"", i > 0 ? "," : "", row.name);
  fputc (']', file);
}

/* Prints NAMES, which commas separate, as an array. */
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
                                       "integer", "seconds", "bytes", "word",   "file" };
  fprintf (file, "{\"name\":\"%s\",\"kind\":\"%s\"", option->name, kinds[option->kind]);
  if (option->letter != 0)
    fprintf (file, ",\"letter\":\"%c\"", option->letter);
  print_text (file, "old", option->old);
  print_text (file, "tag", tag);
  print_text (file, "value", option->value_name);
  print_names (file, "choices", option->choices);
  if (option->each_choice != NULL)
    print_rows (file, "choices", option->each_choice);
  print_text (file, "implied", option->implied);
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
  print_details (command, file);
  fprintf (file, ",\"program\":%s", command->words_end_it ? "true" : "false");
  LnsOptionGroup group;
  fputs (",\"groups\":[", file);
  for (size_t i = 1; lns_command_group (command, i, &group); i++)
    {
      fprintf (file, "%s{\"tag\":\"%s\"", i > 1 ? "," : "", group.tag);
      print_text (file, "title", group.title);
      fputc ('}', file);
    }
  fputs ("],\"switches\":[", file);
  for (size_t i = 0; lns_command_group (command, i, &group); i++)
    for (size_t k = 0; k < group.n_options; k++, comma = ",")
      {
        fputs (comma, file);
        print_json_option (&group.options[k], group.tag, file);
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
