/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* sample-loop STEPS THREADS [BYTES]: each thread does the same work, STEPS times, in ten functions that call one another, above
 * BYTES of stack that it has in use. Prints how many milliseconds of processor time a thread took, the mean of the threads. */

#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 10

static long n_steps, n_bytes;

static double
now_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__ ((noinline, noclone)) static uint64_t
work (unsigned depth, uint64_t seed)
{
  volatile uint64_t own = seed;
  for (int i = 0; i < 200; i++)
    own = own * UINT64_C (6364136223846793005) + 1442695040888963407;
  return depth > 0 ? own + work (depth - 1, own) : own;
}

static void *
run (void *data)
{
  double *took_ms = data;
  volatile char *used = alloca ((size_t)n_bytes + 1);
  for (long i = 0; i <= n_bytes; i++)
    used[i] = 1;
  const double start_ms = now_ms ();
  uint64_t sum = 1;
  for (long i = 0; i < n_steps; i++)
    sum = work (DEPTH - 1, sum) + (uint64_t)used[n_bytes];
  *took_ms = now_ms () - start_ms;
  return (void *)(uintptr_t)sum;
}

int
main (int argc, char **argv)
{
  n_steps = argc > 1 ? strtol (argv[1], NULL, 10) : 100000;
  const long n = argc > 2 ? strtol (argv[2], NULL, 10) : 1;
  n_bytes = argc > 3 ? strtol (argv[3], NULL, 10) : 0;
  pthread_t threads[64];
  double took_ms[64], sum_ms = 0;
  for (long i = 0; i < n && i < 64; i++)
    if (pthread_create (&threads[i], NULL, run, &took_ms[i]) != 0)
      return 1;
  for (long i = 0; i < n && i < 64; i++)
    {
      pthread_join (threads[i], NULL);
      sum_ms += took_ms[i];
    }
  printf ("%.3f\n", sum_ms / (double)n);
  return 0;
}
