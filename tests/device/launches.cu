/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A library of one function, so that a program, a worker and a profiler inside Python launch alike. */

#include "tests/programs/cuda-program.h"

#include <time.h>

__global__ void
empty (void)
{
}

/* Launches N empty kernels and waits for them; nanoseconds that the launches alone took. N beyond a
 * device's queue, about a thousand, would measure the device. */
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
