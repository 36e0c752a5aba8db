/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long steps take: exactly over the last LNS_STEP_WINDOW of them, to judge the next one by, and in classes over all of them, to
 * be told in the report. Zero it before first use. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LNS_STEP_WINDOW 1000

/* From so many steps on, quantiles of the window mean something. */
#define LNS_STEP_LEAST 4

/* Classes are 1/16 of their lower bound wide: 16 for each power of two. */
#define LNS_STEP_CLASS_BITS 4
#define LNS_STEP_CLASSES    ((64 - LNS_STEP_CLASS_BITS) << LNS_STEP_CLASS_BITS)

typedef struct
{
  int64_t
      recent[LNS_STEP_WINDOW]; /* a ring: the step with the number N is at N % LNS_STEP_WINDOW */
  int64_t sorted[LNS_STEP_WINDOW]; /* the same lengths, in order */
  size_t n_recent;
  uint64_t n; /* steps so far */
  int64_t sum_ns, most_ns;
  uint64_t n_of[LNS_STEP_CLASSES];
} LnsStepLengths;

/* Adds a step of LENGTH_NS ≥ 0. O(LNS_STEP_WINDOW): it moves up to 8 KB. */
void _lns_step_lengths_add (LnsStepLengths *lengths, int64_t length_ns);

/* The least length that QUANTILE (0 < QUANTILE ≤ 1) of the last LNS_STEP_WINDOW steps do not exceed. Returns false if there are fewer
 * than LNS_STEP_LEAST. O(1). */
bool _lns_step_lengths_recent (const LnsStepLengths *lengths, double quantile, int64_t *ret_ns);

/* The same over all steps, at most 1/16 too long, and 0 if there are none. O(LNS_STEP_CLASSES). */
int64_t _lns_step_lengths_all (const LnsStepLengths *lengths, double quantile);
