/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/exchange.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* No more calls than this are kept: 12 MB; and no more pairs of threads. */
#define MOST_CALLS 1000000
#define MOST_PAIRS 1000

/* Fewer calls tell nothing. */
#define LEAST_CALLS 4

/* Calls of one name, of a thread. */
typedef struct
{
  uint32_t name;
  bool writes;
  LNS_ARRAY (uint32_t) points;
} Calls;

typedef struct
{
  LNS_ARRAY (Calls) calls;
} OfThread;

typedef struct
{
  uint32_t a, b;
} Pair;

struct LnsExchange
{
  OfThread *threads;
  uint32_t n_threads;
  size_t n_calls;
  LnsIdMap is_pair; /* the lesser thread << 32 | the other -> 1                                  */
  LNS_ARRAY (Pair) pairs;
};

LnsExchange *
lns_exchange_new (uint32_t n_threads)
{
  LnsExchange *exchange = lns_calloc (1, sizeof *exchange);

  exchange->threads = lns_calloc ((size_t)n_threads + 1, sizeof *exchange->threads);
  exchange->n_threads = n_threads;
  return exchange;
}

void
lns_exchange_free (LnsExchange *exchange)
{
  if (exchange == NULL)
    return;
  for (uint32_t i = 0; i < exchange->n_threads; i++)
    {
      for (size_t k = 0; k < exchange->threads[i].calls.n; k++)
        lns_array_clear (&exchange->threads[i].calls.items[k].points);
      lns_array_clear (&exchange->threads[i].calls);
    }
  lns_id_map_clear (&exchange->is_pair);
  lns_array_clear (&exchange->pairs);
  free (exchange->threads);
  free (exchange);
}

void
lns_exchange_add (
    LnsExchange *exchange, uint32_t thread, uint32_t name, bool writes, uint32_t point)
{
  OfThread *self = &exchange->threads[thread];
  size_t i = 0;

  if (exchange->n_calls++ >= MOST_CALLS)
    return;
  while (i < self->calls.n && self->calls.items[i].name != name)
    i++;
  if (i == self->calls.n)
    *lns_array_add (&self->calls) = (Calls){ .name = name, .writes = writes };
  *lns_array_add (&self->calls.items[i].points) = point;
}

void
lns_exchange_woke (LnsExchange *exchange, uint32_t thread, uint32_t other)
{
  const uint32_t a = thread < other ? thread : other, b = thread < other ? other : thread;
  const uint64_t key = (uint64_t)a << 32 | b;

  if (exchange->pairs.n >= MOST_PAIRS || lns_id_map_number (&exchange->is_pair, key) != 0)
    return;
  lns_id_map_set_number (&exchange->is_pair, key, 1);
  *lns_array_add (&exchange->pairs) = (Pair){ a, b };
}

/* Adds edges from WRITES to READS, if each of these comes after the one of the same number. */
static void
apply (LnsGraph *graph, const int64_t *times, const Calls *writes, const Calls *reads)
{
  const size_t n = reads->points.n;

  if (n < LEAST_CALLS || writes->points.n < n || writes->points.n > n + 1)
    return;
  for (size_t i = 0; i < n; i++)
    if (times[writes->points.items[i]] > times[reads->points.items[i]])
      return;
  for (size_t i = 0; i < n; i++)
    {
      const uint32_t source = writes->points.items[i], point = reads->points.items[i];
      if (graph->source[point] == LNS_POINT_NONE && source < point)
        lns_graph_set_source (graph, point, source, 0,
                              LNS_EDGE_WAKE | LNS_POINT_INFERRED | LNS_POINT_NOT_BOUND);
    }
}

void
lns_exchange_apply (LnsExchange *exchange, LnsGraph *graph, const int64_t *times)
{
  if (exchange->n_calls > MOST_CALLS)
    return;
  for (size_t i = 0; i < exchange->pairs.n; i++)
    for (int turn = 0; turn < 2; turn++)
      {
        const Pair pair = exchange->pairs.items[i];
        const OfThread *writer = &exchange->threads[turn == 0 ? pair.a : pair.b],
                       *reader = &exchange->threads[turn == 0 ? pair.b : pair.a];
        for (size_t w = 0; w < writer->calls.n; w++)
          for (size_t r = 0; r < reader->calls.n; r++)
            if (writer->calls.items[w].writes && !reader->calls.items[r].writes)
              apply (graph, times, &writer->calls.items[w], &reader->calls.items[r]);
      }
}
