/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda-steady MS [FILE]: for MS milliseconds makes steps of a millisecond and more, "step 0", "step 1", …, each of
 * one kernel with so many blocks and a wait for it. The first ten of each fifty are a range by cudaProfilerStart
 * and cudaProfilerStop. FILE has the number of the step, an int of four bytes. Exits with 7. */

#include "cuda-program.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

__global__ void
work (int *cell)
{
  *cell += 1;
}

static long long
now_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

int
main (int argc, char **argv)
{
  const long long end_ms = now_ms () + (argc > 1 ? atoll (argv[1]) : 0);
  const int file = argc > 2 ? open (argv[2], O_WRONLY | O_CREAT, 0600) : -1;
  int *cell;
  CHECK (cudaMalloc (&cell, sizeof *cell));
  for (int step = 0; now_ms () < end_ms; step++)
    {
      char name[32];
      if (file >= 0 && pwrite (file, &step, sizeof step, 0) != sizeof step)
        return 1;
      if (step % 50 == 0)
        CHECK (cudaProfilerStart ());
      if (step % 50 == 10)
        CHECK (cudaProfilerStop ());
      snprintf (name, sizeof name, "step %d", step);
      nvtxRangePushA (name);
      work<<<step + 1, 1>>> (cell);
      CHECK (cudaDeviceSynchronize ());
      nvtxRangePop ();
      usleep (1000);
    }
  return 7;
}
