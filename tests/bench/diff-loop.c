/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* diff-loop STEPS [RANGE=FACTOR]…: makes STEPS ranges "step" of the same work each: sums ("train"), copies that leave the caches ("load"),
 * walks through memory ("find"), branches that nobody foretells ("sort"), and one range in another ("augment" in "prepare"). RANGE does
 * FACTOR times its work. No clock is read: what a step takes is up to the machine. */

#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NODES  (1u << 16)
#define N_COPIED (1u << 22)

enum
{
  LOAD,
  PREPARE,
  AUGMENT,
  FIND,
  SORT,
  TRAIN,
  N_RANGES
};

static const char *const names[N_RANGES] = {
  "load", "prepare", "augment", "find", "sort", "train"
};
static double factors[N_RANGES] = { 1, 1, 1, 1, 1, 1 };
static uint32_t next[N_NODES];
static char from[N_COPIED], to[N_COPIED];
static volatile double sink;

/* Arithmetic of N rounds, each after the one before. */
static void
compute (double n)
{
  double value = 1;
  for (uint64_t i = 0; i < (uint64_t)n; i++)
    value = value * 1.000000001 + 1e-9 * (double)(i & 7);
  sink = value;
}

static void
copy (double n_bytes)
{
  for (uint64_t left = (uint64_t)n_bytes; left > 0;)
    {
      const size_t n = left < N_COPIED ? left : N_COPIED;
      memcpy (to, from, n);
      from[left % N_COPIED] ^= to[left % n];
      left -= n;
    }
}

static void
walk (double n)
{
  uint32_t at = 0;
  for (uint64_t i = 0; i < (uint64_t)n; i++)
    at = next[at];
  sink = at;
}

static int
compare (const void *a, const void *b)
{
  const uint32_t na = *(const uint32_t *)a, nb = *(const uint32_t *)b;
  return (na > nb) - (na < nb);
}

static void
sort (double n)
{
  static uint32_t values[1u << 16];
  uint32_t state = 1;
  const size_t n_values = n < (1u << 16) ? (size_t)n : 1u << 16;
  for (size_t i = 0; i < n_values; i++)
    values[i] = state = state * 1664525 + 1013904223;
  qsort (values, n_values, sizeof *values, compare);
  sink = values[0];
}

static void
step (void)
{
  nvtxRangePushA ("step");
  nvtxRangePushA (names[LOAD]);
  copy (12e6 * factors[LOAD]);
  nvtxRangePop ();
  nvtxRangePushA (names[PREPARE]);
  compute (3e5 * factors[PREPARE]);
  nvtxRangePushA (names[AUGMENT]);
  compute (9e5 * factors[AUGMENT]);
  nvtxRangePop ();
  nvtxRangePop ();
  nvtxRangePushA (names[FIND]);
  walk (6e4 * factors[FIND]);
  nvtxRangePop ();
  nvtxRangePushA (names[SORT]);
  sort (12e3 * factors[SORT]);
  nvtxRangePop ();
  nvtxRangePushA (names[TRAIN]);
  compute (2e6 * factors[TRAIN]);
  nvtxRangePop ();
  nvtxRangePop ();
}

/* Fills `next` with one circle through all nodes, in no order. */
static void
make_nodes (void)
{
  static uint32_t order[N_NODES];
  uint32_t state = 7;
  for (uint32_t i = 0; i < N_NODES; i++)
    order[i] = i;
  for (uint32_t i = N_NODES - 1; i > 0; i--)
    {
      state = state * 1664525 + 1013904223;
      const uint32_t other = (uint32_t)((uint64_t)state * (i + 1) >> 32), own = order[i];
      order[i] = order[other];
      order[other] = own;
    }
  for (uint32_t i = 0; i < N_NODES; i++)
    next[order[i]] = order[(i + 1) % N_NODES];
}

int
main (int argc, char **argv)
{
  for (int i = 2; i < argc; i++)
    for (int range = 0; range < N_RANGES; range++)
      if (strncmp (argv[i], names[range], strlen (names[range])) == 0 &&
          argv[i][strlen (names[range])] == '=')
        factors[range] = atof (argv[i] + strlen (names[range]) + 1);
  const int n = argc > 1 ? atoi (argv[1]) : 0;
  if (n <= 0)
    return 2;
  make_nodes ();
  for (int i = 0; i < n; i++)
    step ();
  return 0;
}
