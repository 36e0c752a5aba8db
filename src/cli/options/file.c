/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Texts of switches, in files and elsewhere: words as in a shell, on any number of lines. A `#` at the beginning of a word begins a comment; a
 * backslash at the end of a line continues the line. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/cli/options/options.h"
#include "src/cli/terminal/say.h"

#define FILE_MAX_BYTES (1 << 20)

/* The texts of files and their lists of words. They stay in memory, because values of switches point into them. */
static LNS_ARRAY (void *) kept;

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

char *
lns_option_read_text (const char *path, const char *name, LnsError *error)
{
  FILE *file = fopen (path, "re");
  char *text = lns_calloc (FILE_MAX_BYTES + 2, 1);
  const size_t n = file != NULL ? fread (text, 1, FILE_MAX_BYTES + 1, file) : 0;
  const bool is_read = file != NULL && !ferror (file), is_text = strlen (text) == n;
  if (!is_read)
    lns_error_set_errno (error, errno, "--%s: cannot read %s", name, path);
  else if (n > FILE_MAX_BYTES || !is_text)
    lns_cli_usage (error, "--%s: %s is not a text file of at most 1 MiB", name, path);
  if (file != NULL)
    fclose (file);
  if (is_read && is_text && n <= FILE_MAX_BYTES)
    return text;
  free (text);
  return NULL;
}

char **
lns_option_split (char *text)
{
  *lns_array_add (&kept) = text;
  char **words = *lns_array_add (&kept) =
      lns_calloc (strlen (text) / 2 + 2, sizeof *words); /* a word and a blank are two bytes */
  for (size_t n = 0;; n++)
    {
      skip_blank (&text);
      if (*text == '\0')
        return words;
      words[n] = text;
      if (!end_word (&text))
        return NULL;
    }
}

char **
lns_option_file_read (const char *path, LnsError *error)
{
  char *text = lns_option_read_text (path, "command-file", error);
  char **words = text != NULL ? lns_option_split (text) : NULL;
  if (text != NULL && words == NULL)
    lns_cli_usage (error, "--command-file: %s has an opening quote without a closing one", path);
  return words;
}
