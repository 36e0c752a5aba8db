/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/lock-order.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/memory.h"

/* Fewer waits do not tell where a lock is taken; of more locks nothing is told. */
#define LEAST_WAITS 3
#define MOST_LOCKS  256

/* More than this share of times at which two would have the lock: it is not as it seems. */
#define MOST_BROKEN 0.02

typedef struct
{
  uint64_t lock;
  uint32_t thread, other;
  uint32_t place, other_place; /* indices: the next of the one, the last of the other            */
} Wait;

struct LnsLockOrder
{
  const LnsRepeats *places;
  LNS_ARRAY (Wait) waits;
};

/* A thread takes a lock, or lets it go. */
typedef struct
{
  int64_t ns;
  uint32_t thread, place;
  bool lets_go;
} Use;

typedef LNS_ARRAY (Use) Uses;

LnsLockOrder *
lns_lock_order_new (const LnsRepeats *places)
{
  LnsLockOrder *order = lns_calloc (1, sizeof *order);

  order->places = places;
  return order;
}

void
lns_lock_order_free (LnsLockOrder *order)
{
  if (order == NULL)
    return;
  lns_array_clear (&order->waits);
  free (order);
}

void
lns_lock_order_wait (LnsLockOrder *order,
                     uint64_t lock,
                     uint32_t thread,
                     uint32_t other,
                     int64_t woken_ns,
                     const int64_t *times)
{
  size_t n;
  uint32_t last;

  lns_repeats_places (order->places, thread, &n);
  if (lns_repeats_last_place (order->places, other, woken_ns, times, &last))
    *lns_array_add (&order->waits) = (Wait){ lock, thread, other, (uint32_t)n, last };
}

static int
compare_waits (const void *a, const void *b)
{
  const Wait *wa = a, *wb = b;
  return LNS_COMPARE (wa->lock, wb->lock);
}

static int
compare_uses (const void *a, const void *b)
{
  const Use *ua = a, *ub = b;
  return LNS_COMPARE (ua->ns, ub->ns)
             ?: LNS_COMPARE (ub->lets_go, ua->lets_go) ?: LNS_COMPARE (ua->thread, ub->thread);
}

/* The names of the places most of the N WAITS were before, and that others had passed: RET_TAKES and RET_LETS_GO. */
static void
name_places (const LnsLockOrder *order,
             const Wait *waits,
             size_t n,
             uint32_t *ret_takes,
             uint32_t *ret_lets_go)
{
  uint32_t names[2] = { 0 };
  int64_t votes[2] = { 0 };

  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 2; k++)
      {
        size_t n_places;
        const LnsPlace *places = lns_repeats_places (
            order->places, k == 0 ? waits[i].thread : waits[i].other, &n_places);
        const uint32_t at = k == 0 ? waits[i].place : waits[i].other_place;
        if (at >= n_places)
          continue;
        /* Boyer and Moore's majority vote. */
        if (votes[k] == 0)
          names[k] = places[at].name;
        votes[k] += names[k] == places[at].name ? 1 : -1;
      }
  *ret_takes = names[0];
  *ret_lets_go = names[1];
}

/* All times at which the N threads of THREADS pass TAKES or LETS_GO, in order. To be cleared. */
static Uses
find_uses (const LnsLockOrder *order, uint32_t takes, uint32_t lets_go, const int64_t *times)
{
  Uses uses = { 0 };

  for (uint32_t i = 0; i < lns_repeats_n_threads (order->places); i++)
    {
      size_t n;
      const LnsPlace *places = lns_repeats_places (order->places, i, &n);
      for (size_t k = 0; k < n; k++)
        if (places[k].name == takes || places[k].name == lets_go)
          *lns_array_add (&uses) =
              (Use){ times[places[k].point], i, (uint32_t)k, places[k].name == lets_go };
    }
  if (uses.n > 0)
    qsort (uses.items, uses.n, sizeof *uses.items, compare_uses);
  return uses;
}

/* Whether no two threads have the lock at a time in USES, but for few. */
static bool
is_exclusive (const Uses *uses)
{
  uint32_t holder = LNS_ID_NONE;
  size_t n_broken = 0, n_taken = 0;

  for (size_t i = 0; i < uses->n; i++)
    {
      const Use *use = &uses->items[i];
      n_taken += !use->lets_go;
      n_broken += !use->lets_go && holder != LNS_ID_NONE && holder != use->thread;
      if (!use->lets_go)
        holder = use->thread;
      else if (holder == use->thread)
        holder = LNS_ID_NONE;
    }
  return n_taken > 0 && (double)n_broken <= MOST_BROKEN * (double)n_taken;
}

static void
apply_lock (
    const LnsLockOrder *order, LnsGraph *graph, const int64_t *times, const Wait *waits, size_t n)
{
  uint32_t takes, lets_go;

  name_places (order, waits, n, &takes, &lets_go);
  if (takes == lets_go)
    return;
  Uses uses = find_uses (order, takes, lets_go, times);
  const Use *last = NULL;
  for (size_t i = 0; is_exclusive (&uses) && i < uses.n; i++)
    {
      const Use *use = &uses.items[i];
      size_t n_places;
      if (use->lets_go)
        last = use;
      if (use->lets_go || last == NULL || last->thread == use->thread)
        continue;
      const uint32_t source =
          lns_repeats_places (order->places, last->thread, &n_places)[last->place].point;
      const uint32_t point = lns_place_free_point (
          &lns_repeats_places (order->places, use->thread, &n_places)[use->place], graph);
      if (point != LNS_POINT_NONE && source < point)
        lns_graph_set_source (graph, point, source, 0,
                              LNS_EDGE_WAKE | LNS_POINT_INFERRED | LNS_POINT_NOT_BOUND);
    }
  lns_array_clear (&uses);
}

void
lns_lock_order_apply (LnsLockOrder *order, LnsGraph *graph, const int64_t *times)
{
  unsigned n_locks = 0;

  if (order->waits.n == 0)
    return;
  qsort (order->waits.items, order->waits.n, sizeof *order->waits.items, compare_waits);
  for (size_t i = 0, n; i < order->waits.n && n_locks < MOST_LOCKS; i += n, n_locks++)
    {
      for (n = 1;
           i + n < order->waits.n && order->waits.items[i + n].lock == order->waits.items[i].lock;
           n++)
        ;
      if (n >= LEAST_WAITS)
        apply_lock (order, graph, times, &order->waits.items[i], n);
    }
}
