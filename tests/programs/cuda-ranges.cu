/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* REPEATS ranges by cudaProfilerStart and cudaProfilerStop, INSIDE kernels in each and OUTSIDE
 * around each. With "async" nobody waits for the kernels, which take longer than the program, until its end;
 * those of the first range have one block more than INSIDE_BLOCKS, of the second two, and so on; with a second
 * argument the program sleeps for so many seconds before its end, and with a third one each kernel is followed
 * by a copy. */

#include "cuda-program.h"

#include <cuda_profiler_api.h>
#include <unistd.h>

#define REPEATS 3
#define INSIDE 10
#define OUTSIDE 4
#define INSIDE_BLOCKS (1 << 18)

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

static void
run_ahead (int *cell, bool copies)
{
  for (int repeat = 0; repeat < REPEATS; repeat++)
    {
      for (int i = 0; i < OUTSIDE; i++)
        outside<<<1, 32>>> (cell);
      CHECK (cudaProfilerStart ());
      for (int i = 0; i < INSIDE; i++)
        {
          inside<<<INSIDE_BLOCKS + repeat + 1, 1024>>> (cell);
          if (copies)
            CHECK (cudaMemcpyAsync (cell + 1, cell, sizeof *cell, cudaMemcpyDeviceToDevice, 0));
        }
      CHECK (cudaProfilerStop ());
    }
  CHECK (cudaDeviceSynchronize ());
}

int
main (int argc, char **argv)
{
  int *cell;
  CHECK (cudaMalloc (&cell, 2 * sizeof *cell));
  if (argc > 1)
    {
      run_ahead (cell, argc > 3);
      sleep (argc > 2 ? atoi (argv[2]) : 0);
      return 0;
    }
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
