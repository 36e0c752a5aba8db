/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Aligns the operations of two steps: those of one name and place are the same, and those that others surround in the same way may be,
 * whatever they are called. */

#pragma once

#include "src/analysis/compare/parts.h"

/* Of operation A and B of two steps: which they are, one of them SIZE_MAX where the other one was inserted. */
typedef struct
{
  size_t a, b;
} LnsAligned;

typedef LNS_ARRAY (LnsAligned) LnsAlignment;

/* Aligns the N_A operations at A with the N_B at B so that as many as possible are the same, in order: of one name and range
 * best, else of one short name, else of one shape and range, which are the same under a new name. To be cleared. Hirschberg's algorithm
 * (Communications of the ACM 18, 1975): O(N_A × N_B) in time, without what both begin and end with; O(N_A + N_B) in memory. */
LnsAlignment
lns_align (const LnsStepOperation *a, size_t n_a, const LnsStepOperation *b, size_t n_b);
