/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/span-list.h"

#include <stdlib.h>

#include "src/base/heap.h"
#include "src/base/memory.h"

static int
compare (const void *a, const void *b)
{
  const LnsSpan *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

void
lns_span_list_sort (LnsSpanList *spans)
{
  for (size_t i = 1; i < spans->n; i++)
    if (compare (&spans->items[i - 1], &spans->items[i]) > 0)
      {
        qsort (spans->items, spans->n, sizeof *spans->items, compare);
        return;
      }
}

static void
push (LnsSpanSweep *sweep, uint32_t span)
{
  const LnsSpan *items = sweep->spans->items;
  size_t at = sweep->open.n;
  *lns_array_add (&sweep->open) = 0;
  for (; at > 0 && items[sweep->open.items[(at - 1) / 2]].rank < items[span].rank;
       at = (at - 1) / 2)
    sweep->open.items[at] = sweep->open.items[(at - 1) / 2];
  sweep->open.items[at] = span;
}

/* A span that has ended is removed when it comes to the top, so each goes in and out once. */
uint32_t
lns_span_sweep_find (LnsSpanSweep *sweep, uint64_t address)
{
  const LnsSpan *items = sweep->spans->items;
  for (; sweep->n_seen < sweep->spans->n && items[sweep->n_seen].start <= address; sweep->n_seen++)
    if (items[sweep->n_seen].end > address)
      push (sweep, (uint32_t)sweep->n_seen);
  while (sweep->open.n > 0 && items[sweep->open.items[0]].end <= address)
    {
      sweep->open.items[0] = sweep->open.items[--sweep->open.n];
      if (sweep->open.n > 0)
        LNS_HEAP_SINK (sweep->open.items, sweep->open.n, 0, a, b, items[*a].rank > items[*b].rank);
    }
  return sweep->open.n > 0 ? sweep->open.items[0] : LNS_SPAN_NONE;
}

void
lns_span_sweep_clear (LnsSpanSweep *sweep)
{
  lns_array_clear (&sweep->open);
}
