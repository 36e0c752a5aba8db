/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A library of one function, so that programs, workers and a profiler in Python launch kernels in the same way. */

#include "tests/programs/cuda-program.h"

#include <time.h>

__global__ void
empty (void)
{
}

/* Launches N empty kernels and waits for them. Returns the nanoseconds that the launches took, without the wait.
 * If N exceeds the device's queue, about a thousand, this measures the device instead. */
extern "C" __attribute__ ((visibility ("default"))) long long
lns_launches (int n)
{
  struct timespec before, after;
  CHECK (cudaDeviceSynchronize ());
  clock_gettime (CLOCK_MONOTONIC, &before);
  for (int i = 0; i < n; i++)
    empty<<<1, 32>>> ();
  clock_gettime (CLOCK_MONOTONIC, &after);
  CHECK (cudaGetLastError ());
  CHECK (cudaDeviceSynchronize ());
  return (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
}
