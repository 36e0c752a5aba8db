/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What threads would have waited for, learned from where they did: places that repeat, locks, questions and answers. */

#include "src/analysis/graph/exchange.h"
#include "src/analysis/graph/lock-order.h"
#include "src/analysis/graph/points.h"
#include "src/analysis/graph/repeats.h"

#include "src/base/memory.h"
#include "tests/tap.h"

#define N_TIMES 6

/* A graph of points that come after one another, ten apart, as COUNT threads pass places by turns. */
static LnsGraph *
row_of_points (uint32_t n, int64_t *times)
{
  LnsGraph *graph = lns_calloc (1, sizeof *graph);

  *lns_array_add (&graph->agents) = (LnsGraphAgent){ .last = LNS_POINT_NONE };
  const uint32_t label = lns_graph_label (graph, LNS_PIECE_RUN, 0, 0, 0);
  for (uint32_t i = 0; i < n; i++)
    {
      lns_graph_add (graph, i == 0 ? LNS_POINT_NONE : i - 1, i == 0 ? 0 : 10, label);
      times[i] = 10 * (int64_t)i;
    }
  return graph;
}

enum
{
  NAME_LOAD = 1,
  NAME_TRAIN,
  NAME_WORK,
  NAME_STEP
};

/* Thread 0 trains when thread 1 has loaded, the how many-th time both; it waited once, and passed at other times without. BROKEN: the
 * last time it did so before. */
static void
check_repeats (bool broken)
{
  int64_t times[2 * N_TIMES + 2];
  LnsGraph *graph = row_of_points (2 * N_TIMES + 2, times);
  LnsRepeats *repeats = lns_repeats_new (2);

  for (uint32_t i = 0; i < N_TIMES; i++)
    {
      const bool is_early = broken && i == N_TIMES - 1;
      const uint32_t load = 2 * i + (is_early ? 2 : 1), train = 2 * i + (is_early ? 1 : 2);
      if (is_early)
        lns_repeats_pass (repeats, 0, NAME_TRAIN, true, train, 1);
      lns_repeats_pass (repeats, 1, NAME_LOAD, false, load, 1);
      if (i == 0)
        lns_repeats_wait (repeats, 0, 1, times[load], times[load], times);
      if (!is_early)
        lns_repeats_pass (repeats, 0, NAME_TRAIN, true, train, 1);
    }
  /* Times lie far apart against the tolerance for clocks. */
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    times[i] *= 1000000;
  const size_t n = lns_repeats_apply (repeats, graph, times);
  LNS_CHECK_INT (n, broken ? 0 : N_TIMES - 1);
  for (uint32_t i = 1; !broken && i < N_TIMES; i++)
    {
      LNS_CHECK_INT (graph->source[2 * i + 2], 2 * i + 1);
      LNS_CHECK (graph->marks[2 * i + 2] & LNS_POINT_INFERRED);
    }
  LNS_CHECK (graph->source[2] == LNS_POINT_NONE);
  lns_repeats_free (repeats);
  lns_graph_free (graph);
}

static void
waits_that_were_none_are_learned_from_one_that_was (void)
{
  check_repeats (false);
  check_repeats (true);
}

/* Thread 0 begins a step, waits right then, the first time, until thread 1 has loaded, and works for long until it passes the next place. */
static void
a_wait_is_where_it_was_and_not_what_followed (void)
{
  int64_t times[3 * N_TIMES + 4];
  LnsGraph *graph = row_of_points (3 * N_TIMES + 4, times);
  LnsRepeats *repeats = lns_repeats_new (2);

  for (uint32_t i = 0; i < N_TIMES; i++)
    {
      const uint32_t load = 3 * i + (i == 0 ? 2 : 1), step = 3 * i + (i == 0 ? 1 : 2);
      if (i == 0)
        lns_repeats_pass (repeats, 0, NAME_STEP, true, step, 1);
      lns_repeats_pass (repeats, 1, NAME_LOAD, false, load, 1);
      if (i == 0)
        lns_repeats_wait (repeats, 0, 1, times[step] + 1, times[load] + 3, times);
      else
        lns_repeats_pass (repeats, 0, NAME_STEP, true, step, 1);
      lns_repeats_pass (repeats, 0, NAME_TRAIN, true, 3 * i + 3, 1);
    }
  LNS_CHECK_INT (lns_repeats_apply (repeats, graph, times), N_TIMES - 1);
  for (uint32_t i = 1; i < N_TIMES; i++)
    {
      LNS_CHECK_INT (graph->source[3 * i + 2], 3 * i + 1);
      LNS_CHECK_INT (graph->lag[3 * i + 2], 2); /* 3 until it is woken, 1 to the wait */
      LNS_CHECK (graph->source[3 * i + 3] == LNS_POINT_NONE);
    }
  lns_repeats_free (repeats);
  lns_graph_free (graph);
}

/* Three threads take turns in rounds of four points: thread 1 loads; thread 0 passes STEP, and is told of what was loaded, at once or as thread 2
 * works, too, which happens in round STRAY alone and means nothing; then it trains. */
static void
check_stray (bool takes_back)
{
  int64_t times[4 * N_TIMES + 5];
  LnsGraph *graph = row_of_points (4 * N_TIMES + 5, times);
  LnsRepeats *repeats = lns_repeats_new (3);
  const uint32_t stray = 2;

  for (uint32_t i = 0; i < 4 * N_TIMES + 5; i++)
    times[i] *= 1000;
  for (uint32_t i = 0; i < N_TIMES; i++)
    {
      const uint32_t step = 4 * i + 1, load = 4 * i + 2, work = 4 * i + 3, train = 4 * i + 4;
      lns_repeats_pass (repeats, 0, NAME_STEP, true, step, 1);
      lns_repeats_pass (repeats, 1, NAME_LOAD, false, load, 1);
      if (i == stray && takes_back)
        lns_repeats_wait (repeats, 0, 2, times[step], times[load], times);
      if (i == stray && takes_back)
        {
          /* Another thread waits before it is known that this wait was none. */
          lns_repeats_wait (repeats, 2, 1, times[load], times[work], times);
          lns_repeats_take_back (repeats, 0);
        }
      lns_repeats_pass (repeats, 2, NAME_WORK, true, work, 1);
      if (i != N_TIMES - 1)
        lns_repeats_wait (repeats, 0, i == stray && !takes_back ? 2 : 1, times[step],
                          i == stray && !takes_back ? times[work] : times[load] + 1, times);
      lns_repeats_pass (repeats, 0, NAME_TRAIN, true, train, 1);
    }
  /* In the last round thread 0 did not wait: it has an edge from what was loaded, and from nothing else; where thread 2 waited once, that has others. */
  const size_t n = lns_repeats_apply (repeats, graph, times);
  LNS_CHECK_INT (n, takes_back ? 1 + N_TIMES - 1 : 1 + 1);
  LNS_CHECK_INT (graph->source[4 * N_TIMES], 4 * N_TIMES - 2);
  for (uint32_t i = 1; i < 4 * N_TIMES; i++)
    if (lns_graph_edge (graph, i) != LNS_EDGE_NONE && i % 4 == 0)
      LNS_CHECK_INT (graph->source[i], i - 2);
  lns_repeats_free (repeats);
  lns_graph_free (graph);
}

static void
who_told_a_thread_last_need_not_be_whom_it_waited_for (void)
{
  check_stray (false);
  check_stray (true);
}

/* Thread 1 has thread 0 go on long after one place, and passes the next one right then. */
static void
what_a_thread_comes_to_tells_when_it_had_another_go_on (void)
{
  int64_t times[4 * N_TIMES + 2];
  LnsGraph *graph = row_of_points (4 * N_TIMES + 2, times);
  LnsRepeats *repeats = lns_repeats_new (2);

  for (uint32_t i = 0; i < 4 * N_TIMES + 2; i++)
    times[i] *= 100000;
  for (uint32_t i = 0; i < N_TIMES; i++)
    {
      lns_repeats_pass (repeats, 1, NAME_WORK, true, 4 * i + 1, 1);
      if (i != N_TIMES - 1)
        lns_repeats_wait (repeats, 0, 1, times[4 * i + 2], times[4 * i + 3] - 1000, times);
      lns_repeats_pass (repeats, 1, NAME_LOAD, true, 4 * i + 3, 1);
      lns_repeats_pass (repeats, 0, NAME_TRAIN, true, 4 * i + 4, 1);
    }
  LNS_CHECK_INT (lns_repeats_apply (repeats, graph, times), 1);
  LNS_CHECK_INT (graph->source[4 * N_TIMES], 4 * N_TIMES - 1);
  lns_repeats_free (repeats);
  lns_graph_free (graph);
}

static void
a_thread_is_where_it_was_when_it_had_another_go_on (void)
{
  LnsPoints points = { .graph = lns_calloc (1, sizeof (LnsGraph)) };

  for (unsigned i = 0; i < 2; i++)
    *lns_array_add (&points.graph->agents) = (LnsGraphAgent){ .last = LNS_POINT_NONE };
  const uint32_t other = lns_graph_label (points.graph, LNS_PIECE_RUN, 0, 0, 0),
                 own = lns_graph_label (points.graph, LNS_PIECE_RUN, 1, 0, 0);
  const uint32_t birth = lns_points_add (&points, LNS_POINT_NONE, 0, other),
                 a = lns_points_add (&points, birth, 500000, own),
                 b = lns_points_add (&points, a, 513000, own),
                 c = lns_points_add (&points, b, 530000, own);
  LNS_CHECK_INT (lns_points_back (&points, c, 530000), c);
  LNS_CHECK_INT (lns_points_back (&points, c, 540000), c);
  LNS_CHECK_INT (lns_points_back (&points, c, 515000), b);
  LNS_CHECK_INT (lns_points_back (&points, c, 502000), a);
  LNS_CHECK_INT (lns_points_back (&points, a, 400000), a); /* before it is another thread */
  /* It runs, and waits on in the call; then it passes a place, or is in another call. */
  const uint32_t wait = lns_graph_label (points.graph, LNS_PIECE_WAIT, 1, 7, 0),
                 join = lns_graph_label (points.graph, LNS_PIECE_JOIN, 1, 0, 0),
                 call = lns_graph_label (points.graph, LNS_PIECE_RUN, 1, 8, 0);
  const uint32_t waited = lns_points_add (&points, c, 600000, wait),
                 rest = lns_points_add (&points, waited, 605000, wait),
                 ran = lns_points_add (&points, rest, 610000, own),
                 passed = lns_points_add (&points, ran, 610000, join),
                 called = lns_points_add (&points, ran, 620000, call);
  LNS_CHECK (lns_points_only_ran (&points, waited, ran));
  LNS_CHECK (!lns_points_only_ran (&points, waited, passed));
  LNS_CHECK (!lns_points_only_ran (&points, waited, called));
  lns_array_clear (&points.times);
  lns_graph_free (points.graph);
}

/* Two threads take a lock by turns between the begin and the end of work. BROKEN: one time both have it. */
static void
check_locks (bool broken)
{
  int64_t times[4 * N_TIMES + 2];
  LnsGraph *graph = row_of_points (4 * N_TIMES + 2, times);
  LnsRepeats *repeats = lns_repeats_new (2);
  LnsLockOrder *locks = lns_lock_order_new (repeats);

  for (uint32_t i = 0; i < 2 * N_TIMES; i++)
    {
      const uint32_t thread = i % 2, takes = 2 * i + 1, lets_go = 2 * i + 2;
      if (i > 0 && i <= 3)
        lns_lock_order_wait (locks, 77, thread, 1 - thread, times[2 * i], times);
      lns_repeats_pass (repeats, thread, NAME_WORK, true, takes, 1);
      if (broken && i == N_TIMES)
        lns_repeats_pass (repeats, 1 - thread, NAME_WORK, true, takes, 1);
      lns_repeats_pass (repeats, thread, NAME_WORK, false, lets_go, 1);
    }
  lns_lock_order_apply (locks, graph, times);
  for (uint32_t i = 0; i < 2 * N_TIMES; i++)
    LNS_CHECK_INT (graph->source[2 * i + 1], broken || i == 0 ? LNS_POINT_NONE : 2 * i);
  lns_lock_order_free (locks);
  lns_repeats_free (repeats);
  lns_graph_free (graph);
}

static void
a_lock_is_held_from_one_place_to_the_other (void)
{
  check_locks (false);
  check_locks (true);
}

/* Thread 1 writes what thread 0 reads, in time; MISSING: one of the calls that read was too short to be recorded, but thread 0 asks each
 * time. */
static void
check_exchange (bool missing)
{
  int64_t times[3 * N_TIMES + 2];
  LnsGraph *graph = row_of_points (3 * N_TIMES + 2, times);
  LnsExchange *exchange = lns_exchange_new (2);

  lns_exchange_woke (exchange, 0, 1);
  for (uint32_t i = 0; i < N_TIMES; i++)
    {
      lns_exchange_add (exchange, 0, NAME_WORK, true, 3 * i + 1);
      lns_exchange_add (exchange, 1, NAME_LOAD, true, 3 * i + 2);
      if (!missing || (i != 2 && i != 3))
        lns_exchange_add (exchange, 0, NAME_TRAIN, false, 3 * i + 3);
    }
  lns_exchange_apply (exchange, graph, times);
  for (uint32_t i = 0; i < N_TIMES; i++)
    LNS_CHECK_INT (graph->source[3 * i + 3],
                   missing && (i == 2 || i == 3) ? LNS_POINT_NONE : 3 * i + 2);
  lns_exchange_free (exchange);
  lns_graph_free (graph);
}

static void
what_is_read_was_written (void)
{
  check_exchange (false);
  check_exchange (true);
}

int
main (void)
{
  LNS_TEST (waits_that_were_none_are_learned_from_one_that_was);
  LNS_TEST (a_wait_is_where_it_was_and_not_what_followed);
  LNS_TEST (who_told_a_thread_last_need_not_be_whom_it_waited_for);
  LNS_TEST (what_a_thread_comes_to_tells_when_it_had_another_go_on);
  LNS_TEST (a_thread_is_where_it_was_when_it_had_another_go_on);
  LNS_TEST (a_lock_is_held_from_one_place_to_the_other);
  LNS_TEST (what_is_read_was_written);
  return lns_tap_done ();
}
