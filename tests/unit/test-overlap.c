/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/overlap.h"
#include "src/store/write/reorder.h"

#include "tests/tap.h"
#include "tests/unit/random.h"

static uint64_t random_state = 7;

static void
test_lowest_free_lane (void)
{
  LnsOverlap overlap = { 0 };
  LNS_CHECK_INT (lns_overlap_take (&overlap, 10), 0);
  LNS_CHECK_INT (lns_overlap_take (&overlap, 11), 1);
  LNS_CHECK_INT (lns_overlap_take (&overlap, 12), 2);
  lns_overlap_release (&overlap, 1, 20);
  lns_overlap_release (&overlap, 0, 30);
  LNS_CHECK_INT (lns_overlap_take (&overlap, 19), 3); /* free, but not from 19 on               */
  LNS_CHECK_INT (lns_overlap_take (&overlap, 20), 1);
  LNS_CHECK_INT (lns_overlap_take (&overlap, 30), 0);
  LNS_CHECK_INT (lns_overlap_take (&overlap, INT64_MIN), 4);
  LNS_CHECK_INT (overlap.n, 5);
  lns_overlap_release (&overlap, 99, 0); /* no such lane: nothing happens                       */
  LNS_CHECK_INT (overlap.n, 5);
  lns_overlap_clear (&overlap);
}

/* The same choices as the scan that it replaces. */
static void
test_as_the_scan (void)
{
  enum
  {
    MAX_LANES = 4096
  };
  static int64_t ends_ns[MAX_LANES];
  static bool taken[MAX_LANES];
  LnsOverlap overlap = { 0 };
  uint32_t n = 0, n_taken = 0;
  int64_t now_ns = 0;
  for (unsigned round = 0; round < 20000; round++)
    {
      now_ns += (int64_t)(test_random (&random_state) % 20);
      if (n_taken > 0 && test_random (&random_state) % 100 < 45)
        {
          uint32_t ordinal = (uint32_t)(test_random (&random_state) % n);
          while (!taken[ordinal])
            ordinal = (ordinal + 1) % n;
          ends_ns[ordinal] = now_ns;
          taken[ordinal] = false;
          n_taken--;
          lns_overlap_release (&overlap, ordinal, now_ns);
          continue;
        }
      int64_t start_ns = now_ns - (int64_t)(test_random (&random_state) % 50);
      uint32_t expected = 0;
      while (expected < n && (taken[expected] || ends_ns[expected] > start_ns))
        expected++;
      n += expected == n;
      LNS_CHECK (n <= MAX_LANES);
      taken[expected] = true;
      n_taken++;
      LNS_CHECK_INT (lns_overlap_take (&overlap, start_ns), expected);
    }
  LNS_CHECK (n > 100);
  LNS_CHECK_INT (overlap.n, n);
  lns_overlap_clear (&overlap);
}

/* Whatever comes in comes out once; no lane overlaps; without late events starts ascend. */
static void
check_reorder (size_t max_bytes, int64_t disorder_ns, int64_t lag_ns, bool may_be_late)
{
  enum
  {
    N = 20000
  };
  static int64_t lane_end_ns[N];
  LnsReorder *reorder = lns_reorder_new (max_bytes);
  uint64_t sum_in = 0, sum_out = 0, n_out = 0, n_late = 0;
  int64_t last_ns = INT64_MIN;
  for (unsigned i = 0; i < N; i++)
    lane_end_ns[i] = INT64_MIN;
  for (unsigned i = 0; i <= N; i++)
    {
      int64_t now_ns = 10 * (int64_t)i;
      if (i < N)
        {
          LnsEvent event = { .start_ns = now_ns - (int64_t)(test_random (&random_state) %
                                                            (uint64_t)disorder_ns),
                             .duration_ns = (int64_t)(test_random (&random_state) % 200),
                             .name = i };
          sum_in += (uint64_t)event.start_ns * 3 + (uint64_t)event.duration_ns + event.name;
          LNS_CHECK (lns_reorder_push (reorder, &event));
        }
      LnsEvent event;
      uint32_t ordinal;
      while (lns_reorder_pop (reorder, i < N ? now_ns - lag_ns : INT64_MAX, &event, &ordinal))
        {
          LNS_CHECK (ordinal < N);
          LNS_CHECK (event.start_ns >= lane_end_ns[ordinal]);
          lane_end_ns[ordinal] = event.start_ns + event.duration_ns;
          LNS_CHECK_INT ((event.flags & LNS_EVENT_LATE) != 0, event.start_ns < last_ns);
          n_late += (event.flags & LNS_EVENT_LATE) != 0;
          last_ns = event.start_ns > last_ns ? event.start_ns : last_ns;
          sum_out += (uint64_t)event.start_ns * 3 + (uint64_t)event.duration_ns + event.name;
          n_out++;
        }
    }
  LNS_CHECK_INT (n_out, N);
  LNS_CHECK_INT (sum_out, sum_in);
  LNS_CHECK_INT (n_late > 0, may_be_late);
  lns_reorder_free (reorder);
}

static void
test_reorder_within_the_watermark (void)
{
  check_reorder (SIZE_MAX, 1000, 1000, false);
}

static void
test_reorder_late_events (void)
{
  check_reorder (SIZE_MAX, 1000, 100, true);
}

static void
test_reorder_at_its_bound (void)
{
  check_reorder (2000, 1000, 1000, true);
  check_reorder (0, 1000, 1000, true);
}

static void
test_reorder_keeps_arrival_order (void)
{
  LnsReorder *reorder = lns_reorder_new (SIZE_MAX);
  for (uint32_t i = 0; i < 1000; i++)
    {
      LnsEvent event = { .start_ns = 5, .name = i };
      LNS_CHECK (lns_reorder_push (reorder, &event));
    }
  LnsEvent event;
  uint32_t ordinal;
  LNS_CHECK (!lns_reorder_pop (reorder, 4, &event, &ordinal));
  for (uint32_t i = 0; i < 1000; i++)
    {
      LNS_CHECK (lns_reorder_pop (reorder, 5, &event, &ordinal));
      LNS_CHECK_INT (event.name, i);
      LNS_CHECK_INT (ordinal, 0);
    }
  LNS_CHECK (!lns_reorder_pop (reorder, INT64_MAX, &event, &ordinal));
  lns_reorder_free (reorder);
  lns_reorder_free (NULL);
}

int
main (void)
{
  LNS_TEST (test_lowest_free_lane);
  LNS_TEST (test_as_the_scan);
  LNS_TEST (test_reorder_within_the_watermark);
  LNS_TEST (test_reorder_late_events);
  LNS_TEST (test_reorder_at_its_bound);
  LNS_TEST (test_reorder_keeps_arrival_order);
  return lns_tap_done ();
}
