/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/why/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

#define MAX_PATTERN_BYTES 500

static void
free_regex (void *data)
{
  regfree (data);
  free (data);
}

/* What PATTERN must not have; NULL: nothing. */
static const char *
forbidden_in (const char *pattern)
{
  unsigned n_repeats = 0;

  for (const char *c = pattern; *c != '\0'; c++)
    if (*c == '\\' && c[1] >= '0' && c[1] <= '9')
      return "has a back-reference";
    else if (*c == '\\' && c[1] != '\0')
      c++;
    else
      n_repeats += *c == '{';
  return n_repeats > 1                          ? "has more than one {"
         : strlen (pattern) > MAX_PATTERN_BYTES ? "is longer than 500 bytes"
                                                : NULL;
}

bool
lns_pattern_compile (const char *pattern,
                     int flags,
                     regex_t *ret_regex,
                     LnsPatternReason ret_reason)
{
  const char *forbidden = forbidden_in (pattern);
  const int code = forbidden == NULL ? regcomp (ret_regex, pattern, flags) : 0;

  if (forbidden != NULL)
    snprintf (ret_reason, sizeof (LnsPatternReason), "it %s", forbidden);
  else if (code != 0)
    regerror (code, ret_regex, ret_reason, sizeof (LnsPatternReason));
  return forbidden == NULL && code == 0;
}

/* PATTERN compiled with FLAGS; NULL, and an error of CONTEXT, if it is none. */
static regex_t *
compile (sqlite3_context *context, const char *pattern, int flags)
{
  regex_t *regex = lns_calloc (1, sizeof *regex);
  LnsPatternReason reason;
  char message[300];

  if (lns_pattern_compile (pattern, flags, regex, reason))
    return regex;
  free (regex);
  sqlite3_snprintf (sizeof message, message, "the regular expression is not valid: %s", reason);
  sqlite3_result_error (context, message, -1);
  return NULL;
}

/* regexp (PATTERN, TEXT); the function's data are flags of regcomp(3). */
static void
match (sqlite3_context *context, int argc, sqlite3_value **argv)
{
  const char *pattern = (const char *)sqlite3_value_text (argv[0]),
             *text = (const char *)sqlite3_value_text (argv[1]);
  regex_t *regex = sqlite3_get_auxdata (context, 0);

  if (pattern == NULL || text == NULL)
    return;
  if (regex != NULL)
    {
      sqlite3_result_int (context, regexec (regex, text, 0, NULL, 0) == 0);
      return;
    }
  regex = compile (context, pattern, *(const int *)sqlite3_user_data (context));
  if (regex == NULL)
    return;
  sqlite3_result_int (context, regexec (regex, text, 0, NULL, 0) == 0);
  /* SQLite may free it at once. */
  sqlite3_set_auxdata (context, 0, regex, free_regex);
}

bool
lns_pattern_attach (sqlite3 *db, LnsError *error)
{
  static int exact = REG_EXTENDED | REG_NOSUB, folded = REG_EXTENDED | REG_NOSUB | REG_ICASE;
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  const bool good =
      sqlite3_create_function (db, "regexp", 2, flags, &exact, match, NULL, NULL) == SQLITE_OK &&
      sqlite3_create_function (db, "regexpi", 2, flags, &folded, match, NULL, NULL) == SQLITE_OK;

  return good ||
         lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "cannot register the report's tables with SQLite; this is a defect, "
                        "please report it");
}
