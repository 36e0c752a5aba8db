/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* footprint THREADS: each thread launches LAUNCHES kernels in a stream of its own. Prints, while all threads are there,
 * how many KiB of the GPU's memory are in use, and how many the process has resident. */

#include "tests/programs/cuda-program.h"

#include <pthread.h>

#define LAUNCHES 200

static pthread_barrier_t all_ran, may_end;

__global__ void
step (void)
{
}

static void *
work (void *data)
{
  cudaStream_t stream;
  CHECK (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking));
  for (int i = 0; i < LAUNCHES; i++)
    step<<<1, 32, 0, stream>>> ();
  CHECK (cudaStreamSynchronize (stream));
  pthread_barrier_wait (&all_ran);
  pthread_barrier_wait (&may_end);
  return NULL;
}

static long
resident_kib (void)
{
  char line[256];
  long kib = -1;
  FILE *status = fopen ("/proc/self/status", "r");
  while (status != NULL && fgets (line, sizeof line, status) != NULL)
    if (sscanf (line, "VmRSS: %ld", &kib) == 1)
      break;
  if (status != NULL)
    fclose (status);
  return kib;
}

int
main (int argc, char **argv)
{
  const int n = argc > 1 ? atoi (argv[1]) : 1;
  pthread_t *threads = (pthread_t *) calloc (n, sizeof *threads);
  size_t free_bytes, all_bytes;
  pthread_barrier_init (&all_ran, NULL, n + 1);
  pthread_barrier_init (&may_end, NULL, n + 1);
  for (int i = 0; i < n; i++)
    pthread_create (&threads[i], NULL, work, NULL);
  pthread_barrier_wait (&all_ran);
  CHECK (cudaMemGetInfo (&free_bytes, &all_bytes));
  printf ("%zu %ld\n", (all_bytes - free_bytes) >> 10, resident_kib ());
  pthread_barrier_wait (&may_end);
  for (int i = 0; i < n; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
