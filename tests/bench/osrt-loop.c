/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* osrt-loop CALLS THREADS: each thread reads a byte of /dev/zero, locks and unlocks a mutex of its own, and reads the clock
 * that recorded programs read, CALLS times each. Prints how many nanoseconds of processor time a read, a pair and a reading
 * took: the least of five rounds, the mean of the threads. */

#include "capture/wire/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

static int n_calls;
static pthread_barrier_t begin;

/* The threads may outnumber the processors. */
static double
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *
run (void *data)
{
  double *least = data;
  const int fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  char byte;
  if (fd < 0)
    exit (1);
  for (int round = 0; round < ROUNDS; round++)
    {
      pthread_barrier_wait (&begin);
      const double begun = now_ns ();
      for (int i = 0; i < n_calls; i++)
        if (read (fd, &byte, 1) != 1)
          exit (1);
      const double between = now_ns ();
      for (int i = 0; i < n_calls; i++)
        {
          pthread_mutex_lock (&mutex);
          pthread_mutex_unlock (&mutex);
        }
      const double locked = now_ns ();
      uint64_t sum = 0;
      for (int i = 0; i < n_calls; i++)
        sum += lns_wire_clock_ticks (LNS_WIRE_CLOCK_TSC);
      if (sum == 0)
        exit (1);
      const double ended = now_ns ();
      if ((between - begun) / n_calls < least[0])
        least[0] = (between - begun) / n_calls;
      if ((locked - between) / n_calls < least[1])
        least[1] = (locked - between) / n_calls;
      if ((ended - locked) / n_calls < least[2])
        least[2] = (ended - locked) / n_calls;
    }
  close (fd);
  return NULL;
}

int
main (int argc, char **argv)
{
  n_calls = argc > 2 ? atoi (argv[1]) / ROUNDS : 0;
  const int n_threads = argc > 2 ? atoi (argv[2]) : 0;
  if (n_calls < 1 || n_threads < 1 || n_threads > 64)
    return 1;
  pthread_t threads[64];
  double least[64][3], sums[3] = { 0, 0, 0 };
  pthread_barrier_init (&begin, NULL, (unsigned)n_threads);
  for (int i = 0; i < n_threads; i++)
    {
      least[i][0] = least[i][1] = least[i][2] = 1e18;
      if (pthread_create (&threads[i], NULL, run, least[i]) != 0)
        return 1;
    }
  for (int i = 0; i < n_threads; i++)
    {
      pthread_join (threads[i], NULL);
      sums[0] += least[i][0];
      sums[1] += least[i][1];
      sums[2] += least[i][2];
    }
  printf ("%.2f %.2f %.2f\n", sums[0] / n_threads, sums[1] / n_threads, sums[2] / n_threads);
  return 0;
}
