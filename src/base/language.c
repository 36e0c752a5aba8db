/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/language.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/memory.h"

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

#include "src/base/messages-generated.h"

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

static _Thread_local bool stays_english;

/* The languages that the person reads, between colons, the best first; "" where English is as good as any. */
static const char *
languages (void)
{
  const char *locale = locale_name ("LC_MESSAGES"), *list = getenv ("LANGUAGE");

  if (stays_english || *locale == '\0' || is_of (locale, "C") || is_of (locale, "POSIX") ||
      !locale_is_utf8 ())
    return "";
  return list != NULL && *list != '\0' ? list : locale;
}

/* The catalogue of the best language in the list *AT, which then begins behind it; NULL if the best is English or none is
 * left. */
static const Catalogue *
next_catalogue (const char **at)
{
  while (**at != '\0' && !is_of (*at, "en"))
    {
      const char *name = *at;
      *at += strcspn (*at, ":");
      *at += **at == ':';
      for (size_t i = 0; i < sizeof catalogues / sizeof *catalogues; i++)
        if (is_of (name, catalogues[i].language))
          return &catalogues[i];
    }
  return NULL;
}

bool
lns_text_in_english (bool is_english)
{
  const bool before = stays_english;

  stays_english = is_english;
  return before;
}

void
lns_text_stay_english (void)
{
  stays_english = true;
}

/* --- Messages --------------------------------------------------------------------------------- */

static int
compare_messages (const void *a, const void *b)
{
  return strcmp (((const Message *)a)->text, ((const Message *)b)->text);
}

const char *
lns_text (const char *text)
{
  const Message wanted = { .text = text };
  const Catalogue *catalogue;

  for (const char *at = languages (); (catalogue = next_catalogue (&at)) != NULL;)
    {
      const Message *found =
          bsearch (&wanted, catalogue->messages, catalogue->n, sizeof wanted, compare_messages);
      if (found != NULL)
        return found->translation;
    }
  return text;
}

/* --- Sentences -------------------------------------------------------------------------------- */

#define VALUES_MAX 12

/* A sentence shares at least so many bytes with the message that it was made of. With fewer it may be another's. */
#define OWN_LEAST 20

/* Longer sentences, such as those of hostile files, stay English: each message would be looked for in them. */
#define SENTENCE_MAX 4096

typedef struct
{
  struct
  {
    const char *bytes;
    size_t size;
  } values[VALUES_MAX];
  size_t n;
  size_t n_own; /* bytes that are the message's own */
} Match;

/* The length of the conversion "%5.1f" or "%2$s" at AT. */
static size_t
conversion_bytes (const char *at)
{
  const size_t n = 1 + strspn (at + 1, "0123456789$-+ #.*hjlqtz");
  return n + (at[n] != '\0');
}

/* Whether SENTENCE was made of MESSAGE, and with which values. A value ends where the text behind it first occurs. */
static bool
match (const char *sentence, const char *message, Match *ret_match)
{
  bool is_open = false; /* the last value has no end yet */

  *ret_match = (Match){ 0 };
  for (;;)
    {
      size_t n = strcspn (message, "%");
      const bool is_percent = message[n] == '%' && message[n + 1] == '%',
                 is_last = message[n] == '\0';
      const size_t n_left = strlen (sentence);
      n += is_percent;
      if (n > n_left)
        return false;
      const char *found = !is_open  ? sentence
                          : is_last ? sentence + n_left - n
                                    : memmem (sentence, n_left, message, n);
      if (found == NULL || memcmp (found, message, n) != 0)
        return false;
      if (is_open)
        ret_match->values[ret_match->n - 1].size = (size_t)(found - sentence);
      sentence = found + n;
      ret_match->n_own += n;
      if (is_last)
        return *sentence == '\0';
      message += n + is_percent;
      is_open = !is_percent;
      if (is_percent)
        continue;
      if (ret_match->n == VALUES_MAX)
        return false;
      message += conversion_bytes (message);
      ret_match->values[ret_match->n++].bytes = sentence;
    }
}

/* Writes MESSAGE with the values of MATCH into the ROOM > 0 bytes at RET_TEXT, cut if it does not fit. */
static void
fill_in (const char *message, const Match *match, char *ret_text, size_t room)
{
  size_t next = 0, used = 0;

  for (size_t n; *message != '\0'; message += n)
    {
      const char *bytes = message;
      size_t size = 1;
      n = 1;
      if (*message == '%' && message[1] == '%')
        n = 2;
      else if (*message == '%')
        {
          char *end;
          const size_t number = strtoul (message + 1, &end, 10);
          const size_t i = end > message + 1 && *end == '$' ? number - 1 : next++;
          bytes = i < match->n ? match->values[i].bytes : "";
          size = i < match->n ? match->values[i].size : 0;
          n = conversion_bytes (message);
        }
      if (size > room - 1 - used)
        size = room - 1 - used;
      memcpy (ret_text + used, bytes, size);
      used += size;
    }
  ret_text[used] = '\0';
}

void
lns_text_copy_sentence (char *ret_text, size_t room, const char *sentence)
{
  const Catalogue *catalogue;
  const char *at = strnlen (sentence, SENTENCE_MAX + 1) <= SENTENCE_MAX ? languages () : "";

  while ((catalogue = next_catalogue (&at)) != NULL)
    {
      Match best = { .n_own = OWN_LEAST - 1 }, made;
      const Message *found = NULL;
      for (size_t i = 0; i < catalogue->n; i++)
        if (match (sentence, catalogue->messages[i].text, &made) && made.n_own > best.n_own)
          {
            best = made;
            found = &catalogue->messages[i];
          }
      if (found != NULL)
        {
          fill_in (found->translation, &best, ret_text, room);
          return;
        }
    }
  snprintf (ret_text, room, "%s", sentence);
}

char *
lns_text_of_sentence (const char *sentence)
{
  char text[2 * SENTENCE_MAX];

  if (strnlen (sentence, SENTENCE_MAX + 1) > SENTENCE_MAX)
    return lns_strdup (sentence);
  lns_text_copy_sentence (text, sizeof text, sentence);
  return lns_strdup (text);
}

/* --- Letters ---------------------------------------------------------------------------------- */

void
lns_text_make_plain (char *text)
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
