/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Built with one default stream per thread. Each of THREADS threads launches LAUNCHES kernels on
 * it, with grid sizes of its own, between a copy to the device and a copy back. */

#include "cuda-program.h"

#include <pthread.h>

#define THREADS 4
#define LAUNCHES 250
#define BYTES 4096

__global__ void
step (int *cells)
{
  cells[threadIdx.x] += blockIdx.x;
}

static void *
work (void *data)
{
  int number = *(int *) data;
  int host[BYTES / sizeof (int)] = {};
  int *cells;
  CHECK (cudaMalloc (&cells, BYTES));
  CHECK (cudaMemcpy (cells, host, BYTES, cudaMemcpyHostToDevice));
  for (int i = 0; i < LAUNCHES; i++)
    step<<<number + 1, 128>>> (cells);
  CHECK (cudaMemcpyAsync (host, cells, BYTES, cudaMemcpyDeviceToHost));
  CHECK (cudaStreamSynchronize (0));
  CHECK (cudaFree (cells));
  return NULL;
}

int
main (void)
{
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++)
    {
      numbers[i] = i;
      pthread_create (&threads[i], NULL, work, &numbers[i]);
    }
  for (int i = 0; i < THREADS; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
