/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/folders.h"
#include "src/base/memory.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"

bool
lns_cli_print_formats (const char *name, LnsError *error)
{
  bool any = false;

  for (unsigned i = 0; i < LNS_STATS_N_FORMATS; i++)
    {
      const LnsStatsFormatInfo *format = lns_stats_format_info ((LnsStatsFormat)i);
      if (strcmp (name, "ALL") != 0 && strcmp (name, format->name) != 0)
        continue;
      printf ("  %s%s\n      %s\n", format->name, format->arguments, format->help);
      any = true;
    }
  return any ? lns_cli_flush (error)
             : lns_cli_usage (
                   error,
                   "--help-formats: unknown format “%s”; leave out the name to list all formats",
                   name);
}

/* ---- Which output ---------------------------------------------------------------------------- */

/* Item I of LIST, or its last one if LIST is shorter; NULL if LIST is empty. */
static const char *
item (const LnsOptionList *list, size_t i)
{
  return list->n_items == 0 ? NULL : list->items[i < list->n_items ? i : list->n_items - 1];
}

/* The separator of thousands in the user's locale. Numbers are otherwise formatted as in the C locale. */
static const char *
thousands_separator (void)
{
  static char separator[8];
  locale_t locale = newlocale (LC_NUMERIC_MASK, "", (locale_t)0);

  if (locale != (locale_t)0)
    {
      snprintf (separator, sizeof separator, "%s", nl_langinfo_l (THOUSEP, locale));
      freelocale (locale);
    }
  return separator;
}

/* Reads a unit, or an unambiguous beginning of its name. NULL is ns. */
static bool
read_unit (const char *text, LnsStatsUnit *ret_unit, LnsError *error)
{
  static const struct
  {
    const char *name;
    LnsStatsUnit unit;
  } names[] = { { "nsec", LNS_STATS_NS },  { "nanoseconds", LNS_STATS_NS },
                { "usec", LNS_STATS_US },  { "microseconds", LNS_STATS_US },
                { "msec", LNS_STATS_MS },  { "milliseconds", LNS_STATS_MS },
                { "seconds", LNS_STATS_S } };
  unsigned units = 0; /* mask of the units that TEXT may mean */

  *ret_unit = LNS_STATS_NS;
  for (size_t i = 0; text != NULL && i < sizeof names / sizeof *names; i++)
    if (strncmp (names[i].name, text, strlen (text)) == 0)
      {
        units |= 1u << names[i].unit;
        *ret_unit = names[i].unit;
      }
  return text == NULL || __builtin_popcount (units) == 1 ||
         lns_cli_usage (error, "--timeunit: unknown unit “%s”; use nsec, usec, msec or seconds",
                        text);
}

/* BASE_NAME.ENDING or BASE_NAME_nvtx=RANGE.ENDING. Colons before arguments become underscores. If NAME is the path of
 * a file, its folder and ending are left out. Owned. */
static char *
make_path (const char *base, const char *name, const char *range, const char *ending)
{
  size_t n = strcspn (name, ":");
  const char *slash = memrchr (name, '/', n);

  if (slash != NULL)
    {
      n -= (size_t)(slash + 1 - name);
      name = slash + 1;
    }
  const char *arguments = name + n;
  n -= n > 4 && strncmp (name + n - 4, ".sql", 4) == 0 ? 4 : 0;
  char *path = lns_asprintf ("%s_%.*s%s%s%s.%s", base, (int)n, name, arguments,
                             range != NULL ? "_nvtx=" : "", range != NULL ? range : "", ending);
  for (char *at = path + strlen (base); *at != '\0'; at++)
    if (*at == ':' || *at == '/')
      *at = *at == ':' ? '_' : '-';
  return path;
}

bool
lns_cli_table_output_init (LnsCliTableOutput *output,
                           const LnsCliTableValues *values,
                           size_t k,
                           const char *input,
                           const char *name,
                           const char *range,
                           LnsError *error)
{
  const char *format = item (&values->formats, k), *where = item (&values->outputs, k);
  bool is_printed = where == NULL || strcmp (where, "-") == 0;

  *output = (LnsCliTableOutput){
    .style = { .format = is_printed ? LNS_STATS_COLUMN : LNS_STATS_CSV,
               .is_terminal = is_printed && lns_cli_is_terminal (stdout),
               .separator = thousands_separator () },
  };
  if (!read_unit (values->unit, &output->style.unit, error))
    return false;
  if (format != NULL && strcmp (format, ".") != 0 &&
      !lns_stats_style_parse (&output->style, format, error))
    return false;
  if (is_printed)
    return true;
  if (where[0] == '@')
    {
      output->command = lns_strdup (where + 1);
      return true;
    }
  char *base = strcmp (where, ".") == 0 ? lns_cli_replace_ending (input, "") : lns_strdup (where);
  output->path =
      make_path (base, name, range, lns_stats_format_info (output->style.format)->ending);
  free (base);
  output->mode = lns_mode_like (input);
  if (!values->overwrite && access (output->path, F_OK) == 0)
    return lns_error_set (
        error, LNS_ERROR_IO, EEXIST,
        "%s exists; use --force-overwrite=true to replace it, or choose another --output",
        output->path);
  return true;
}

void
lns_cli_table_output_clear (LnsCliTableOutput *output)
{
  free (output->path);
  free (output->command);
  *output = (LnsCliTableOutput){ 0 };
}

bool
lns_cli_table_output_is_for_people (const LnsCliTableOutput *output)
{
  return output->path == NULL && output->command == NULL &&
         lns_stats_format_info (output->style.format)->is_for_people;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Writes to the file of OUTPUT, which gets its name once it is complete. */
static bool
write_file (const LnsCliTableOutput *output, LnsCliTableFunc function, void *data, LnsError *error)
{
  if (!lns_make_folders (output->path, 0777, error))
    return false;
  char *temporary = lns_asprintf ("%s.%ld.part", output->path, (long)getpid ());
  const int fd = open (temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, output->mode);
  FILE *file = fd >= 0 ? fdopen (fd, "w") : NULL;
  bool good = file != NULL || lns_error_set_errno (error, errno, "cannot write %s", output->path);
  good = good && function (data, file, &output->style, error);
  if (file != NULL && (ferror (file) | fclose (file)) != 0 && good)
    good = lns_error_set_errno (error, errno, "cannot write %s", output->path);
  if (good && rename (temporary, output->path) != 0)
    good = lns_error_set_errno (error, errno, "cannot write %s", output->path);
  if (!good && file != NULL)
    unlink (temporary);
  free (temporary);
  return good;
}

/* Splits TEXT at its spaces into at most 63 words and a NULL. */
static void
split_words (char *text, char *ret_words[64])
{
  size_t n = 0;
  char *rest = NULL;

  for (char *word = strtok_r (text, " ", &rest); word != NULL && n < 63;
       word = strtok_r (NULL, " ", &rest))
    ret_words[n++] = word;
  ret_words[n] = NULL;
}

/* Writes to a command and waits for its end. A command may stop reading early, as `head` does. */
static bool
write_command (const LnsCliTableOutput *output,
               LnsCliTableFunc function,
               void *data,
               LnsError *error)
{
  char *words[64], *text = lns_strdup (output->command);
  int fds[2], status = 0, code;
  pid_t pid = 0;

  split_words (text, words);
  code = words[0] == NULL ? ENOENT : pipe2 (fds, O_CLOEXEC) != 0 ? errno : 0;
  if (code == 0)
    {
      void (*before) (int) = signal (SIGPIPE, SIG_IGN);
      code = lns_cli_start (words, fds[0], STDIN_FILENO, &pid);
      close (fds[0]);
      FILE *stream = fdopen (fds[1], "w");
      bool good = code != 0 || stream == NULL || function (data, stream, &output->style, error);
      if (stream == NULL)
        close (fds[1]);
      else
        fclose (stream);
      signal (SIGPIPE, before);
      while (code == 0 && waitpid (pid, &status, 0) < 0 && errno == EINTR)
        ;
      if (!good)
        {
          free (text);
          return false;
        }
    }
  free (text);
  if (code != 0)
    return lns_error_set_errno (error, code, "--output=@%s: cannot start the command",
                                output->command);
  return status == 0 ||
         lns_error_set (
             error, LNS_ERROR_IO, 0,
             WIFEXITED (status) ? _ ("--output=@%s: the command failed with exit code %d")
                                : _ ("--output=@%s: the command was killed by signal %d"),
             output->command, WIFEXITED (status) ? WEXITSTATUS (status) : WTERMSIG (status));
}

bool
lns_cli_table_output_write (LnsCliTableOutput *output,
                            const char *title,
                            LnsCliTableFunc function,
                            void *data,
                            LnsError *error)
{
  if (output->style.title == NULL)
    {
      output->style.title = title;
      output->style.title_size = strlen (title);
    }
  if (output->path != NULL)
    return write_file (output, function, data, error);
  if (output->command != NULL)
    return lns_cli_flush (error) && write_command (output, function, data, error);
  return function (data, stdout, &output->style, error);
}
