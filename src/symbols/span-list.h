/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Named ranges of addresses, which may overlap: functions of a symbol table, and code that a just-in-time compiler put
 * where other code was before. Zero a list before first use. Not thread-safe. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/array.h"

#define LNS_SPAN_NONE UINT32_MAX

typedef struct
{
  uint64_t start, end; /* end > start */
  uint64_t rank;       /* where spans overlap, the one of the highest rank has the address */
  uint64_t name;       /* whatever the owner knows it by */
} LnsSpan;

typedef LNS_ARRAY (LnsSpan) LnsSpanList;

/* Sorts SPANS by start, and by rank where that is equal. O(n log n), O(n) if they are sorted. */
void lns_span_list_sort (LnsSpanList *spans);

/* Finds the spans of ascending addresses. Set `spans`, which are sorted as lns_span_list_sort() does it and stay as they
 * are, and zero the rest; clear it at the end. */
typedef struct
{
  const LnsSpanList *spans;
  size_t n_seen; /* spans that have begun */
  LNS_ARRAY (uint32_t)
  open; /* of those, the ones that may not have ended: a heap, the highest rank on top */
} LnsSpanSweep;

/* The number of the span that has ADDRESS, which is not below that of the call before, or LNS_SPAN_NONE. All calls
 * together are O(calls + spans log spans). */
uint32_t lns_span_sweep_find (LnsSpanSweep *sweep, uint64_t address);
void lns_span_sweep_clear (LnsSpanSweep *sweep);
