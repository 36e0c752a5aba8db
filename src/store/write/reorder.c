/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/reorder.h"

#include <stdlib.h>

#include "src/base/heap.h"
#include "src/store/format/definitions.h"
#include "src/store/write/overlap.h"

typedef struct
{
  LnsEvent event;
  uint64_t arrival;
} Item;

struct LnsReorder
{
  Item *heap; /* the earliest on top */
  size_t n, n_allocated, n_max;
  uint64_t n_arrived;
  int64_t last_ns; /* the latest start of the events that have left */
  LnsOverlap overlap;
};

LnsReorder *
lns_reorder_new (size_t max_bytes)
{
  LnsReorder *reorder = calloc (1, sizeof *reorder);
  if (reorder == NULL)
    return NULL;
  reorder->n_max = max_bytes / sizeof (Item) > 0 ? max_bytes / sizeof (Item) : 1;
  reorder->last_ns = INT64_MIN;
  return reorder;
}

void
lns_reorder_free (LnsReorder *reorder)
{
  if (reorder == NULL)
    return;
  lns_overlap_clear (&reorder->overlap);
  free (reorder->heap);
  free (reorder);
}

static bool
is_before (const Item *a, const Item *b)
{
  return a->event.start_ns < b->event.start_ns ||
         (a->event.start_ns == b->event.start_ns && a->arrival < b->arrival);
}

bool
lns_reorder_push (LnsReorder *reorder, const LnsEvent *event)
{
  if (reorder->n == reorder->n_allocated)
    {
      size_t n = reorder->n_allocated == 0 ? 64 : reorder->n_allocated * 2;
      Item *heap = reallocarray (reorder->heap, n, sizeof *heap);
      if (heap == NULL)
        return false;
      reorder->heap = heap;
      reorder->n_allocated = n;
    }
  const Item item = { *event, reorder->n_arrived++ };
  size_t at = reorder->n++;
  for (; at > 0 && is_before (&item, &reorder->heap[(at - 1) / 2]); at = (at - 1) / 2)
    reorder->heap[at] = reorder->heap[(at - 1) / 2];
  reorder->heap[at] = item;
  return true;
}

size_t
lns_reorder_waiting (const LnsReorder *reorder, int64_t *ret_start_ns)
{
  if (reorder->n > 0)
    *ret_start_ns = reorder->heap[0].event.start_ns;
  return reorder->n;
}

bool
lns_reorder_pop (LnsReorder *reorder,
                 int64_t watermark_ns,
                 LnsEvent *ret_event,
                 uint32_t *ret_ordinal)
{
  if (reorder->n == 0)
    return false;
  const LnsEvent *first = &reorder->heap[0].event;
  const int64_t end_ns = first->start_ns + (first->duration_ns > 0 ? first->duration_ns : 0);
  if (end_ns > watermark_ns && reorder->n < reorder->n_max)
    return false;
  /* Takes the lane first: if memory runs out, the event stays. */
  const int64_t start_ns = first->start_ns;
  uint32_t ordinal = lns_overlap_take (&reorder->overlap, start_ns);
  if (ordinal == LNS_ID_NONE)
    return false;
  LnsEvent event = *first;
  reorder->heap[0] = reorder->heap[--reorder->n];
  LNS_HEAP_SINK (reorder->heap, reorder->n, 0, a, b, is_before (a, b));
  lns_overlap_release (&reorder->overlap, ordinal, end_ns);
  if (start_ns < reorder->last_ns)
    event.flags |= LNS_EVENT_LATE;
  else
    reorder->last_ns = start_ns;
  *ret_event = event;
  *ret_ordinal = ordinal;
  return true;
}
