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

/* Of the calls that read, so many follow a question and its answer. */
#define LEAST_ANSWERED 0.8

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

static void
add_edge (LnsGraph *graph, uint32_t source, uint32_t point)
{
  if (graph->source[point] == LNS_POINT_NONE && source < point)
    lns_graph_set_source (graph, point, source, 0,
                          LNS_EDGE_WAKE | LNS_POINT_INFERRED | LNS_POINT_NOT_BOUND);
}

/* Adds edges from WRITES to READS, if each of these comes after the one of the same number. Returns whether that is so. */
static bool
apply_by_number (LnsGraph *graph, const int64_t *times, const Calls *writes, const Calls *reads)
{
  const size_t n = reads->points.n;

  if (n < LEAST_CALLS || writes->points.n < n || writes->points.n > n + 1)
    return false;
  for (size_t i = 0; i < n; i++)
    if (times[writes->points.items[i]] > times[reads->points.items[i]])
      return false;
  for (size_t i = 0; i < n; i++)
    add_edge (graph, writes->points.items[i], reads->points.items[i]);
  return true;
}

/* Where calls are missing, as short ones are not recorded: adds edges from WRITES to READS if the thread that reads asks before, in ASKS, and
 * gets one answer in between, almost always. In a first pass only counts. */
static void
apply_by_question (LnsGraph *graph,
                   const int64_t *times,
                   const Calls *writes,
                   const Calls *reads,
                   const Calls *asks)
{
  size_t n_answered = 0;

  for (int pass = 0; pass < 2; pass++)
    {
      size_t ask = 0, answer = 0;
      for (size_t i = 0; i < reads->points.n; i++)
        {
          const int64_t read_ns = times[reads->points.items[i]];
          while (ask < asks->points.n && times[asks->points.items[ask]] <= read_ns)
            ask++;
          if (ask == 0)
            continue;
          const int64_t asked_ns = times[asks->points.items[ask - 1]];
          while (answer < writes->points.n && times[writes->points.items[answer]] <= asked_ns)
            answer++;
          const bool is_one =
              answer < writes->points.n && times[writes->points.items[answer]] <= read_ns &&
              (answer + 1 == writes->points.n || times[writes->points.items[answer + 1]] > read_ns);
          n_answered += pass == 0 && is_one;
          if (pass == 1 && is_one)
            add_edge (graph, writes->points.items[answer], reads->points.items[i]);
        }
      if (n_answered < LEAST_CALLS || (double)n_answered < LEAST_ANSWERED * (double)reads->points.n)
        return;
    }
}

static void
apply (LnsGraph *graph,
       const int64_t *times,
       const OfThread *reader,
       const Calls *writes,
       const Calls *reads)
{
  if (apply_by_number (graph, times, writes, reads))
    return;
  for (size_t i = 0; i < reader->calls.n; i++)
    if (reader->calls.items[i].writes)
      apply_by_question (graph, times, writes, reads, &reader->calls.items[i]);
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
              apply (graph, times, reader, &writer->calls.items[w], &reader->calls.items[r]);
      }
}
