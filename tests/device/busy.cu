/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* busy SECONDS BLOCKS CYCLES: two threads keep a stream each full of kernels for SECONDS, so that the GPU is never idle.
 * A thread is AHEAD kernels ahead of its stream and waits for an event, never for the device. Prints "ready" when both
 * have begun, and at the end how many kernels ran. */

#include "tests/programs/cuda-program.h"

#include <pthread.h>
#include <time.h>

#define STREAMS 2
#define AHEAD   16
#define THREADS 1024

__global__ void
spin (long long cycles)
{
  const long long begin = clock64 ();
  while (clock64 () - begin < cycles)
    ;
}

static double end_s;
static int blocks;
static long long cycles, launched[STREAMS];
static pthread_barrier_t begun;

static double
now_s (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static void *
keep_busy (void *data)
{
  long long *n = (long long *) data;
  cudaEvent_t ends[AHEAD];
  cudaStream_t stream;
  CHECK (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking));
  for (int i = 0; i < AHEAD; i++)
    CHECK (cudaEventCreateWithFlags (&ends[i], cudaEventDisableTiming));
  for (; now_s () < end_s; (*n)++)
    {
      if (*n >= AHEAD)
        CHECK (cudaEventSynchronize (ends[*n % AHEAD]));
      spin<<<blocks, THREADS, 0, stream>>> (cycles);
      CHECK (cudaEventRecord (ends[*n % AHEAD], stream));
      if (*n == AHEAD)
        pthread_barrier_wait (&begun);
    }
  CHECK (cudaStreamSynchronize (stream));
  return NULL;
}

int
main (int argc, char **argv)
{
  pthread_t threads[STREAMS];
  if (argc != 4)
    return 125;
  end_s = now_s () + atof (argv[1]);
  blocks = atoi (argv[2]);
  cycles = atoll (argv[3]);
  pthread_barrier_init (&begun, NULL, STREAMS + 1);
  for (int i = 0; i < STREAMS; i++)
    pthread_create (&threads[i], NULL, keep_busy, &launched[i]);
  pthread_barrier_wait (&begun);
  printf ("ready\n");
  fflush (stdout);
  for (int i = 0; i < STREAMS; i++)
    pthread_join (threads[i], NULL);
  printf ("%lld\n", launched[0] + launched[1]);
  return 0;
}
