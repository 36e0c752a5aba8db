/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The test harness of the C tests: TAP on stdout, one line a case. A failed check says where and
 * what on stderr, and ends its case; the next case goes on. Single-threaded: checks in other threads must be
 * joined and judged in the case's own thread. */

#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf lns_tap_jump;
static int lns_tap_number, lns_tap_failed, lns_tap_candidates;
static const char *lns_tap_skip_reason;

/* How many times as long as on an idle machine a test waits before it gives up: LNS_TEST_PATIENCE, 1 without it. */
static inline double
lns_tap_patience (void)
{
  const char *text = getenv ("LNS_TEST_PATIENCE");
  return text != NULL && atof (text) > 0 ? atof (text) : 1;
}

/* What a test draws at random comes from this number: LNS_SEED, which the runner prints. Never 0. */
static inline uint64_t
lns_tap_seed (void)
{
  const char *text = getenv ("LNS_SEED");
  const uint64_t seed = text != NULL ? strtoull (text, NULL, 10) : 0;
  return seed != 0 ? seed : 1;
}

/* Whether WORD is among the words of the environment variable VARIABLE. */
static inline bool
lns_tap_is_listed (const char *variable, const char *word)
{
  const size_t length = strlen (word);
  const char *at = getenv (variable);
  for (; at != NULL && *at != '\0'; at = strchr (at, ' ') ? strchr (at, ' ') + 1 : NULL)
    if (strncmp (at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* Whether the runner (tests/runner) asks for the case NAME, which IS_LONG keeps out of the gate. */
static inline bool
lns_tap_wants (const char *name, bool is_long)
{
  const char *tier = getenv ("LNS_TIER"), *shard = getenv ("LNS_SHARD");
  if (getenv ("LNS_CASES") != NULL)
    return lns_tap_is_listed ("LNS_CASES", name);
  if (lns_tap_is_listed ("LNS_CASES_LEFT_OUT", name) || (is_long && tier && !strcmp (tier, "gate")))
    return false;
  int part = 0, n_parts = 1;
  if (shard != NULL && (sscanf (shard, "%d/%d", &part, &n_parts) != 2 || n_parts < 1))
    n_parts = 1;
  return lns_tap_candidates++ % n_parts == part;
}

/* Ends the case as failed, after one line that says where and why. */
#define LNS_FAIL(...)                                                                              \
 do                                                                                                \
  {                                                                                                \
   fprintf (stderr, "%s:%d: ", __FILE__, __LINE__);                                                \
   fprintf (stderr, __VA_ARGS__);                                                                  \
   fputc ('\n', stderr);                                                                           \
   longjmp (lns_tap_jump, 1);                                                                      \
  }                                                                                                \
 while (0)

#define LNS_CHECK(condition)                                                                       \
 do                                                                                                \
  {                                                                                                \
   if (!(condition))                                                                               \
    LNS_FAIL ("%s is false", #condition);                                                          \
  }                                                                                                \
 while (0)

/* Compares two integers of up to 64 bits, signed or not, and prints both. */
#define LNS_CHECK_INT(actual, expected)                                                            \
 do                                                                                                \
  {                                                                                                \
   int64_t lns_a = (int64_t)(actual), lns_e = (int64_t)(expected);                                 \
   if (lns_a != lns_e)                                                                             \
    LNS_FAIL ("%s is %" PRId64 ", not %" PRId64, #actual, lns_a, lns_e);                           \
  }                                                                                                \
 while (0)

#define LNS_CHECK_STR(actual, expected)                                                            \
 do                                                                                                \
  {                                                                                                \
   const char *lns_a = (actual), *lns_e = (expected);                                              \
   if (lns_a == NULL || strcmp (lns_a, lns_e) != 0)                                                \
    LNS_FAIL ("%s is \"%s\", not \"%s\"", #actual, lns_a ? lns_a : "(null)", lns_e);               \
  }                                                                                                \
 while (0)

/* Waits until CONDITION is true: five seconds at most on an idle machine. What follows must check it. */
#define LNS_WAIT_FOR(condition)                                                                    \
 do                                                                                                \
  {                                                                                                \
   for (int lns_i = 0; lns_i < (int)(5000 * lns_tap_patience ()) && !(condition); lns_i++)         \
    usleep (1000);                                                                                 \
  }                                                                                                \
 while (0)

/* Ends the case as skipped; REASON is a string literal that says what is missing. */
#define LNS_SKIP(reason)                                                                           \
 do                                                                                                \
  {                                                                                                \
   lns_tap_skip_reason = (reason);                                                                 \
   longjmp (lns_tap_jump, 2);                                                                      \
  }                                                                                                \
 while (0)

/* Runs FUNCTION as LNS_TEST() does, but not in the gate if IS_LONG. */
#define LNS_TEST_IF(function, is_long)                                                             \
 do                                                                                                \
  {                                                                                                \
   if (!lns_tap_wants (#function, is_long))                                                        \
    break;                                                                                         \
   lns_tap_number++;                                                                               \
   int lns_how = setjmp (lns_tap_jump);                                                            \
   if (lns_how == 0)                                                                               \
    function ();                                                                                   \
   if (lns_how == 1)                                                                               \
    lns_tap_failed++;                                                                              \
   printf ("%s %d - %s%s%s\n", lns_how == 1 ? "not ok" : "ok", lns_tap_number, #function,          \
           lns_how == 2 ? " # SKIP " : "", lns_how == 2 ? lns_tap_skip_reason : "");               \
   fflush (stdout);                                                                                \
  }                                                                                                \
 while (0)

/* Runs FUNCTION, of type void (void), as one case. */
#define LNS_TEST(function) LNS_TEST_IF (function, false)

/* The same, of a case that takes long or depends on the machine: the gate leaves it out. */
#define LNS_TEST_LONG(function) LNS_TEST_IF (function, true)

/* Closes the plan; main returns this. */
static inline int
lns_tap_done (void)
{
  printf ("1..%d\n", lns_tap_number);
  return lns_tap_failed != 0;
}
