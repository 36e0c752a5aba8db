/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/overlap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "src/store/format/definitions.h"

#define FIRST_LEAVES 8

void
lns_overlap_clear (LnsOverlap *overlap)
{
  free (overlap->ends_ns);
  *overlap = (LnsOverlap){ 0 };
}

static int64_t
smaller (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void
set_end (LnsOverlap *overlap, uint32_t ordinal, int64_t end_ns)
{
  uint32_t at = overlap->n_leaves + ordinal;
  overlap->ends_ns[at] = end_ns;
  for (at /= 2; at > 0; at /= 2)
    overlap->ends_ns[at] = smaller (overlap->ends_ns[2 * at], overlap->ends_ns[2 * at + 1]);
}

/* Doubles the leaves; the new ones belong to lanes that were never used. */
static bool
grow (LnsOverlap *overlap)
{
  uint32_t n_leaves = overlap->n_leaves == 0 ? FIRST_LEAVES : overlap->n_leaves * 2;
  int64_t *ends_ns = n_leaves > overlap->n_leaves ? calloc (n_leaves, 2 * sizeof *ends_ns) : NULL;
  if (ends_ns == NULL)
    return false;
  for (uint32_t i = 0; i < n_leaves; i++)
    ends_ns[n_leaves + i] = i < overlap->n ? overlap->ends_ns[overlap->n_leaves + i] : INT64_MIN;
  for (uint32_t i = n_leaves - 1; i > 0; i--)
    ends_ns[i] = smaller (ends_ns[2 * i], ends_ns[2 * i + 1]);
  free (overlap->ends_ns);
  overlap->ends_ns = ends_ns;
  overlap->n_leaves = n_leaves;
  return true;
}

uint32_t
lns_overlap_take (LnsOverlap *overlap, int64_t start_ns)
{
  if (overlap->n == overlap->n_leaves && (overlap->n == 0 || overlap->ends_ns[1] > start_ns) &&
      !grow (overlap))
    return LNS_ID_NONE;
  uint32_t at = 1;
  while (at < overlap->n_leaves)
    at = 2 * at + (overlap->ends_ns[2 * at] > start_ns);
  uint32_t ordinal = at - overlap->n_leaves;
  if (ordinal == overlap->n)
    overlap->n++;
  set_end (overlap, ordinal, INT64_MAX);
  return ordinal;
}

void
lns_overlap_release (LnsOverlap *overlap, uint32_t ordinal, int64_t end_ns)
{
  if (ordinal < overlap->n)
    set_end (overlap, ordinal, end_ns);
}
