/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Says of its own functions where they are: see symbols-note.h. */

#include "tests/programs/symbols-note.h"

static volatile int sink;

static inline __attribute__ ((always_inline)) int
leaf (int caller_line, int outer_line)
{
  SYMBOLS_NOTE ("leaf;middle;outer", 3, caller_line, outer_line);
  return sink + 1;
}

static inline __attribute__ ((always_inline)) int
middle (int outer_line)
{
  if (sink > 1000)
    return 3;
  return leaf (__LINE__, outer_line) + 1;
}

static __attribute__ ((noinline)) int
outer (void)
{
  int sum = sink;
  sum += middle (__LINE__);
  SYMBOLS_NOTE ("outer", 1, 0, 0);
  sum += middle (__LINE__);
  return sum;
}

static __attribute__ ((noinline)) int
count_up (int n)
{
  for (int i = 0; i < n; i++)
    sink += i;
  SYMBOLS_NOTE ("count_up", 1, 0, 0);
  return sink;
}

__attribute__ ((noinline, cold)) static int
rare (void)
{
  SYMBOLS_NOTE ("rare", 1, 0, 0);
  return 7;
}

int
main (void)
{
  sink += outer ();
  sink += count_up (sink);
  sink += rare ();
  symbols_note_self ();
  SYMBOLS_NOTE ("main", 1, 0, 0);
  return sink < 0;
}
