/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which steps of a program a report keeps (--keep-steps), and which time around them and around what asks for it (--keep-on). */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_STEP_TEXT_BYTES 256

/* A step is kept if it takes longer than a limit: `factor` times the `quantile` of the steps before it, or `limit_ns`. The step is a
 * push/pop range that repeats. Plain value. */
typedef struct
{
  bool has_steps; /* else the report keeps only the time around what asks for it */
  int64_t
      around_ns; /* so much before a slow step, or what asks for it, is kept as well, and after it */
  double quantile, factor; /* quantile: more than 0 and less than 1; 0: the limit is `limit_ns` */
  int64_t limit_ns;
  uint64_t max_bytes; /* for events that wait until steps end; 0: a quarter of the memory */
  char range[LNS_STEP_TEXT_BYTES]; /* its name; numbers in names do not count. "": it is found */
  char domain
      [LNS_STEP_TEXT_BYTES]; /* "": the default domain, "*": any; of no meaning without `range` */
  char text[LNS_STEP_TEXT_BYTES]; /* the condition, as the user gave it, for the report */
} LnsStepRule;

/* What came of it in a report. */
typedef struct
{
  uint64_t n_steps, n_kept,
      n_slow;         /* slow: longer than the limit; others are kept for comparison */
  uint64_t n_dropped; /* events that were counted and not kept */
  uint64_t n_asked;   /* times that were asked for (lns_decoder_keep_around ()) */
  bool is_found;      /* there are steps */
  bool is_named;      /* … or would be, if `range` were there: nothing else is one */
  bool is_asked_only; /* the rule has no steps */
  bool is_short;      /* not all that was to be kept did */
  char range
      [LNS_STEP_TEXT_BYTES]; /* the steps' name: of the first process that has some, or the one that was wanted */
} LnsKeptSteps;
