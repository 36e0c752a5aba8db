/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Files of switches: words as in a shell, on any number of lines. A `#` at the beginning of a word begins a comment; a
 * backslash at the end of a line continues the line. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/options/options.h"
#include "src/cli/terminal/say.h"

#define FILE_MAX_BYTES (1 << 20)

/* The files that were read. They stay in memory, because values of switches point into them. */
static struct Kept
{
  struct Kept *next;
  char **words;
  char text[];
} * kept;

/* Moves *AT behind blanks and comments. */
static void
skip_blank (char **at)
{
  while (isspace ((unsigned char)**at) || **at == '#' || (**at == '\\' && (*at)[1] == '\n'))
    *at += **at == '#' ? strcspn (*at, "\n") : **at == '\\' ? 2 : 1;
}

/* Terminates the word that begins at *AT, removes its quotes, and moves *AT behind it. False if a quote is not closed. */
static bool
end_word (char **at)
{
  char *in = *at, *out = *at, quote = 0;
  for (; *in != '\0' && (quote != 0 || !isspace ((unsigned char)*in)); in++)
    if (*in == quote)
      quote = 0;
    else if (quote == 0 && (*in == '"' || *in == '\''))
      quote = *in;
    else if (*in == '\\' && quote != '\'' && in[1] != '\0')
      {
        if (*++in != '\n')
          *out++ = *in;
      }
    else
      *out++ = *in;
  *at = *in != '\0' ? in + 1 : in;
  *out = '\0';
  return quote == 0;
}

/* Reads all of FILE into a new item of `kept`. NULL with ERROR if it cannot be read or is not text. */
static struct Kept *
keep (FILE *file, const char *path, LnsError *error)
{
  struct Kept *item = malloc (sizeof *item + FILE_MAX_BYTES + 1);
  if (item == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, _ ("not enough memory to read %s"), path);
      return NULL;
    }
  const size_t n = fread (item->text, 1, FILE_MAX_BYTES + 1, file);
  const bool is_text = n <= FILE_MAX_BYTES && memchr (item->text, 0, n) == NULL;
  if (ferror (file))
    lns_error_set_errno (error, errno, _ ("--command-file: cannot read %s"), path);
  else if (!is_text)
    lns_cli_usage (error, "--command-file: %s is not a text file of at most 1 MiB", path);
  if (ferror (file) || !is_text)
    {
      free (item);
      return NULL;
    }
  item->text[n] = '\0';
  item->words = calloc (n / 2 + 2, sizeof *item->words); /* a word and a blank are two bytes */
  item->next = kept;
  kept = item;
  return item;
}

char **
lns_option_file_read (const char *path, LnsError *error)
{
  FILE *file = fopen (path, "re");
  if (file == NULL)
    {
      lns_error_set_errno (error, errno, _ ("--command-file: cannot read %s"), path);
      return NULL;
    }
  struct Kept *item = keep (file, path, error);
  fclose (file);
  if (item == NULL || item->words == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, _ ("not enough memory to read %s"), path);
      return NULL;
    }
  char *at = item->text;
  for (size_t n = 0;; n++)
    {
      skip_blank (&at);
      if (*at == '\0')
        return item->words;
      item->words[n] = at;
      if (!end_word (&at))
        {
          lns_cli_usage (error, "--command-file: %s has an opening quote without a closing one",
                         path);
          return NULL;
        }
    }
}
