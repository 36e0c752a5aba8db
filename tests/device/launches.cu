/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A library, so that programs, workers and a profiler in Python launch kernels in the same way. A round must fit into
 * the device's queue, which holds about a thousand launches: what exceeds it waits for the device. */

#include "tests/programs/cuda-program.h"

#include <time.h>

__global__ void
empty (void)
{
}

static long long
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Launches N empty kernels and waits for them. */
extern "C" __attribute__ ((visibility ("default"))) void
lns_launches (int n)
{
  for (int i = 0; i < n; i++)
    empty<<<1, 32>>> ();
  CHECK (cudaGetLastError ());
  CHECK (cudaDeviceSynchronize ());
}

/* The same; RET_NS gets the nanoseconds that each launch took, with one reading of the clock in it. */
extern "C" __attribute__ ((visibility ("default"))) void
lns_launch_times (int n, unsigned *ret_ns)
{
  long long before = now_ns ();
  for (int i = 0; i < n; i++)
    {
      empty<<<1, 32>>> ();
      const long long after = now_ns ();
      ret_ns[i] = (unsigned) (after - before);
      before = after;
    }
  CHECK (cudaGetLastError ());
  CHECK (cudaDeviceSynchronize ());
}
