/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Assigns lanes to events that overlap: each event goes to the lowest lane that is free from its start on, so that the
 * events of a lane never overlap and stay in order.
 *
 * The plain query: a scan of all lanes for the first with end ≤ start. Instead the lanes' ends are kept in a tree of
 * minima: O(log lanes). Zero it before first use. Not thread-safe. */

#pragma once

#include <stdint.h>

typedef struct
{
  uint32_t n;        /* lanes opened so far: ordinals 0 … n − 1 */
  uint32_t n_leaves; /* a power of two, or 0 */
  int64_t *ends_ns;  /* owned; a heap-shaped tree: node i is the least of 2i and 2i + 1, leaf k */
                     /* is at n_leaves + k: when lane k is free, INT64_MAX while it is taken */
} LnsOverlap;

void lns_overlap_clear (LnsOverlap *overlap);

/* Takes the lowest lane that is free and whose last event ended at START_NS or before, or a new lane if there is none.
 * Returns its ordinal, or LNS_ID_NONE if memory runs out. The lane stays taken until lns_overlap_release (). */
uint32_t lns_overlap_take (LnsOverlap *overlap, int64_t start_ns);

/* Frees lane ORDINAL, whose event ended at END_NS (≥ its start). */
void lns_overlap_release (LnsOverlap *overlap, uint32_t ordinal, int64_t end_ns);
