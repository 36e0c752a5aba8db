/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* REPEATS ranges by cudaProfilerStart and cudaProfilerStop, INSIDE kernels in each and OUTSIDE
 * around each. */

#include "cuda-program.h"

#include <cuda_profiler_api.h>

#define REPEATS 3
#define INSIDE 10
#define OUTSIDE 4

__global__ void
inside (int *cell)
{
  *cell += 1;
}

__global__ void
outside (int *cell)
{
  *cell += 2;
}

int
main (void)
{
  int *cell;
  CHECK (cudaMalloc (&cell, sizeof *cell));
  for (int repeat = 0; repeat < REPEATS; repeat++)
    {
      for (int i = 0; i < OUTSIDE; i++)
        outside<<<1, 32>>> (cell);
      CHECK (cudaDeviceSynchronize ());
      CHECK (cudaProfilerStart ());
      for (int i = 0; i < INSIDE; i++)
        inside<<<1, 64>>> (cell);
      CHECK (cudaDeviceSynchronize ());
      CHECK (cudaProfilerStop ());
    }
  CHECK (cudaFree (cell));
  return 0;
}
