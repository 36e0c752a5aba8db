/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/cli/terminal/language.h"

/* A message and its translation. */
typedef struct
{
  const char *text, *translation;
} Message;

/* The messages of a language, in the order of strcmp(). */
typedef struct
{
  const char *language; /* "de" */
  const Message *messages;
  size_t n;
} Catalogue;

#include "messages-generated.h"

/* --- The locale ------------------------------------------------------------------------------- */

/* The name of the locale for CATEGORY, "LC_MESSAGES" or the like; "" where none is set. */
static const char *
locale_name (const char *category)
{
  const char *const variables[] = { "LC_ALL", category, "LANG" };
  const char *name = NULL;

  for (size_t i = 0; i < sizeof variables / sizeof *variables && (name == NULL || *name == '\0');
       i++)
    name = getenv (variables[i]);
  return name != NULL ? name : "";
}

static bool
locale_is_utf8 (void)
{
  const char *charset = strchr (locale_name ("LC_CTYPE"), '.');

  return charset != NULL &&
         (strncasecmp (charset, ".UTF-8", 6) == 0 || strncasecmp (charset, ".UTF8", 5) == 0);
}

/* Whether the locale or language NAME ("de_DE.UTF-8", and what follows a colon) is of LANGUAGE. */
static bool
is_of (const char *name, const char *language)
{
  const size_t n = strlen (language);

  return strncmp (name, language, n) == 0 && strchr ("_.@:", name[n]) != NULL;
}

/* The languages that the person reads, between colons, the best first; "" where English is as good as any. */
static const char *
languages (void)
{
  const char *locale = locale_name ("LC_MESSAGES"), *list = getenv ("LANGUAGE");

  if (*locale == '\0' || is_of (locale, "C") || is_of (locale, "POSIX") || !locale_is_utf8 ())
    return "";
  return list != NULL && *list != '\0' ? list : locale;
}

/* --- Translation ------------------------------------------------------------------------------ */

static int
compare_messages (const void *a, const void *b)
{
  return strcmp (((const Message *)a)->text, ((const Message *)b)->text);
}

const char *
lns_cli_text (const char *text)
{
  const Message wanted = { .text = text };

  for (const char *name = languages (); *name != '\0' && !is_of (name, "en");)
    {
      for (size_t i = 0; i < sizeof catalogues / sizeof *catalogues; i++)
        {
          const Message *found = is_of (name, catalogues[i].language)
                                     ? bsearch (&wanted, catalogues[i].messages, catalogues[i].n,
                                                sizeof wanted, compare_messages)
                                     : NULL;
          if (found != NULL)
            return found->translation;
        }
      name += strcspn (name, ":");
      name += *name == ':';
    }
  return text;
}

/* --- Letters ---------------------------------------------------------------------------------- */

void
lns_cli_plain_text (char *text)
{
  static const struct
  {
    const char *mark, *plain;
  } marks[] = { { "“", "\"" }, { "”", "\"" }, { "‘", "'" }, { "’", "'" },  { "…", "..." },
                { "–", "-" },  { "—", "-" },  { "×", "x" }, { "≥", ">=" }, { "≤", "<=" } };
  char *out = text;

  if (locale_is_utf8 ())
    return;
  for (const char *in = text; *in != '\0';)
    {
      size_t i = 0, n = sizeof marks / sizeof *marks;
      while (i < n && strncmp (in, marks[i].mark, strlen (marks[i].mark)) != 0)
        i++;
      const char *plain = i < n ? marks[i].plain : in;
      const size_t length = i < n ? strlen (plain) : 1;
      in += i < n ? strlen (marks[i].mark) : 1;
      memmove (out, plain, length);
      out += length;
    }
  *out = '\0';
}
