/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Pushes and pops a range with a name of 18 letters and prints what a pair costs. The cost depends on the library
 * that NVTX_INJECTION64_PATH names: none, the floor, or Lanescope's.
 *
 *   nvtx-loop [--threads N] [--pairs N] [--rounds N] [--registered] [--pause-ms N]
 *
 * Each thread makes all pairs in each round. Between rounds, all threads pause, so that the records can be drained.
 * Prints one JSON object: the ns per pair in the best round, and the number of pairs that all threads made. */

#include <nvtx3/nvToolsExt.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long n_threads = 1, n_pairs = 1000000, n_rounds = 9, pause_ms = 100;
static bool registered;
static pthread_barrier_t barrier;

static double
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void
push_names (void)
{
  for (long i = 0; i < n_pairs; i++)
    {
      nvtxRangePushA ("forward_step_conv1");
      nvtxRangePop ();
    }
}

static void
push_registered (void)
{
  nvtxDomainHandle_t domain = nvtxDomainCreateA ("bench");
  nvtxEventAttributes_t attributes = {
    .version = NVTX_VERSION,
    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
    .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
    .message.registered = nvtxDomainRegisterStringA (domain, "forward_step_conv1"),
  };
  for (long i = 0; i < n_pairs; i++)
    {
      nvtxDomainRangePushEx (domain, &attributes);
      nvtxDomainRangePop (domain);
    }
}

/* Stores the ns per pair of this thread's best round in *ARGUMENT. */
static void *
run_thread (void *argument)
{
  double best = 1e18;
  for (long round = 0; round < n_rounds; round++)
    {
      pthread_barrier_wait (&barrier);
      double start = now_ns ();
      if (registered)
        push_registered ();
      else
        push_names ();
      double spent = now_ns () - start;
      if (spent < best)
        best = spent;
      pthread_barrier_wait (&barrier);
      struct timespec pause = { pause_ms / 1000, pause_ms % 1000 * 1000000 };
      nanosleep (&pause, NULL);
    }
  *(double *)argument = best;
  return NULL;
}

int
main (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    {
      const char *option = argv[i];
      long value = i + 1 < argc ? atol (argv[i + 1]) : 0;
      if (strcmp (option, "--registered") == 0)
        {
          registered = true;
          continue;
        }
      i++;
      if (strcmp (option, "--threads") == 0 && value > 0 && value <= 64)
        n_threads = value;
      else if (strcmp (option, "--pairs") == 0 && value > 0)
        n_pairs = value;
      else if (strcmp (option, "--rounds") == 0 && value > 0)
        n_rounds = value;
      else if (strcmp (option, "--pause-ms") == 0 && value >= 0)
        pause_ms = value;
      else
        {
          fprintf (stderr, "nvtx-loop: %s is no switch of mine, or its number is missing\n",
                   option);
          return 2;
        }
    }
  pthread_t threads[64];
  double spent[64];
  pthread_barrier_init (&barrier, NULL, (unsigned)n_threads);
  for (long i = 0; i < n_threads; i++)
    pthread_create (&threads[i], NULL, run_thread, &spent[i]);
  double slowest = 0;
  for (long i = 0; i < n_threads; i++)
    {
      pthread_join (threads[i], NULL);
      if (spent[i] > slowest)
        slowest = spent[i];
    }
  printf ("{\"pair_ns\": %.2f, \"pairs\": %ld}\n", slowest / (double)n_pairs,
          n_threads * n_rounds * n_pairs);
  return 0;
}
