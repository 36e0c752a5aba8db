/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which timers are told that fired while a thread was in a kernel that gives no samples. */

#include "capture/session/cpu/hidden.h"

#include "src/base/array.h"
#include "tests/tap.h"

#define MS     INT64_C (1000000)
#define PERIOD MS

enum
{
  PROCESS = 3,
  TID = 10,
  OTHER,
};

typedef struct
{
  uint32_t process, tid, cpu;
  int64_t time_ns;
} Told;

typedef LNS_ARRAY (Told) AllTold;

static void
take (void *data, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns)
{
  *lns_array_add ((AllTold *)data) = (Told){ process, tid, cpu, time_ns };
}

static LnsCpuHidden
hidden_of (AllTold *told)
{
  return (LnsCpuHidden){ .period_ns = PERIOD, .take = take, .data = told };
}

static void
finish (LnsCpuHidden *hidden, AllTold *told)
{
  lns_cpu_hidden_clear (hidden);
  lns_array_clear (told);
}

static void
test_nothing_is_told_of_samples_that_come (void)
{
  AllTold told = { 0 };
  LnsCpuHidden hidden = hidden_of (&told);
  lns_cpu_hidden_begin (&hidden, PROCESS, TID, 0, 0);
  for (int i = 1; i <= 100; i++)
    {
      /* Early and late by a third of a period. */
      const int64_t at_ns = i * PERIOD + (i % 3 - 1) * PERIOD / 3;
      lns_cpu_hidden_tell (&hidden, at_ns - 1);
      lns_cpu_hidden_sample (&hidden, PROCESS, TID, 0, at_ns);
    }
  lns_cpu_hidden_exit (&hidden, TID, 101 * PERIOD);
  LNS_CHECK (told.n == 0);
  finish (&hidden, &told);
}

static void
test_what_does_not_come_is_told_where_it_was_due (void)
{
  AllTold told = { 0 };
  LnsCpuHidden hidden = hidden_of (&told);
  lns_cpu_hidden_begin (&hidden, PROCESS, TID, 4, 0);
  lns_cpu_hidden_sample (&hidden, PROCESS, TID, 4, PERIOD);
  lns_cpu_hidden_sample (&hidden, PROCESS, TID, 4, 5 * PERIOD);
  LNS_CHECK (told.n == 3);
  for (size_t i = 0; i < told.n; i++)
    {
      LNS_CHECK (told.items[i].time_ns == (int64_t)(i + 2) * PERIOD);
      LNS_CHECK (told.items[i].process == PROCESS && told.items[i].tid == TID &&
                 told.items[i].cpu == 4);
    }
  finish (&hidden, &told);
}

static void
test_only_time_on_a_cpu_counts (void)
{
  AllTold told = { 0 };
  LnsCpuHidden hidden = hidden_of (&told);
  /* A third of a period each, with long waits between. */
  for (int i = 0; i < 300; i++)
    {
      lns_cpu_hidden_begin (&hidden, PROCESS, TID, 0, i * 100 * PERIOD);
      lns_cpu_hidden_end (&hidden, TID, i * 100 * PERIOD + PERIOD / 3);
      lns_cpu_hidden_tell (&hidden, i * 100 * PERIOD + 50 * PERIOD);
    }
  LNS_CHECK (told.n == 99); /* the last is not sure yet */
  finish (&hidden, &told);
}

static void
test_each_cpu_has_its_own_timer (void)
{
  AllTold told = { 0 };
  LnsCpuHidden hidden = hidden_of (&told);
  /* Half a period on each of 8 CPUs: no timer has fired. */
  for (uint32_t cpu = 0; cpu < 8; cpu++)
    {
      lns_cpu_hidden_begin (&hidden, PROCESS, TID, cpu, cpu * PERIOD);
      lns_cpu_hidden_end (&hidden, TID, cpu * PERIOD + PERIOD / 2);
    }
  LNS_CHECK (told.n == 0);
  /* On one of them it goes on. */
  lns_cpu_hidden_begin (&hidden, PROCESS, TID, 2, 10 * PERIOD);
  lns_cpu_hidden_end (&hidden, TID, 11 * PERIOD);
  LNS_CHECK (told.n == 1 && told.items[0].cpu == 2 &&
             told.items[0].time_ns == 10 * PERIOD + PERIOD / 2);
  finish (&hidden, &told);
}

static void
test_what_is_not_known_is_not_told (void)
{
  AllTold told = { 0 };
  LnsCpuHidden hidden = hidden_of (&told);
  lns_cpu_hidden_begin (&hidden, PROCESS, TID, 0, 0);
  lns_cpu_hidden_sample (&hidden, PROCESS, OTHER, 1, 0);
  lns_cpu_hidden_tell (&hidden, 3 * PERIOD);
  LNS_CHECK (told.n == 4);
  lns_cpu_hidden_forget (&hidden);
  lns_cpu_hidden_tell (&hidden, 100 * PERIOD);
  lns_cpu_hidden_end (&hidden, TID, 100 * PERIOD);
  LNS_CHECK (told.n == 4);
  /* A sample shows that it runs again. */
  lns_cpu_hidden_sample (&hidden, PROCESS, TID, 0, 200 * PERIOD);
  lns_cpu_hidden_exit (&hidden, TID, 202 * PERIOD);
  LNS_CHECK (told.n == 5);
  LNS_CHECK (told.items[4].time_ns == 201 * PERIOD);
  lns_cpu_hidden_tell (&hidden, 300 * PERIOD);
  LNS_CHECK (told.n == 5);
  finish (&hidden, &told);
}

static void
test_nothing_without_a_period (void)
{
  AllTold told = { 0 };
  LnsCpuHidden hidden = { .take = take, .data = &told };
  lns_cpu_hidden_begin (&hidden, PROCESS, TID, 0, 0);
  lns_cpu_hidden_sample (&hidden, PROCESS, TID, 0, 9 * PERIOD);
  lns_cpu_hidden_tell (&hidden, 20 * PERIOD);
  lns_cpu_hidden_exit (&hidden, TID, 30 * PERIOD);
  LNS_CHECK (told.n == 0);
  finish (&hidden, &told);
}

int
main (void)
{
  LNS_TEST (test_nothing_is_told_of_samples_that_come);
  LNS_TEST (test_what_does_not_come_is_told_where_it_was_due);
  LNS_TEST (test_only_time_on_a_cpu_counts);
  LNS_TEST (test_each_cpu_has_its_own_timer);
  LNS_TEST (test_what_is_not_known_is_not_told);
  LNS_TEST (test_nothing_without_a_period);
  return lns_tap_done ();
}
