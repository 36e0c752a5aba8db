/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs KERNELS kernels in a stream of the least priority, and as many in one of the greatest. Prints both priorities. */

#include "tests/programs/cuda-program.h"

#define KERNELS 10

__global__ void
least (void)
{
}

__global__ void
greatest (void)
{
}

int
main (void)
{
  int low, high;
  cudaStream_t slow, fast;
  CHECK (cudaDeviceGetStreamPriorityRange (&low, &high));
  CHECK (cudaStreamCreateWithPriority (&slow, cudaStreamNonBlocking, low));
  CHECK (cudaStreamCreateWithPriority (&fast, cudaStreamNonBlocking, high));
  for (int i = 0; i < KERNELS; i++)
    {
      least<<<1, 32, 0, slow>>> ();
      greatest<<<1, 32, 0, fast>>> ();
    }
  CHECK (cudaDeviceSynchronize ());
  printf ("%d %d\n", low, high);
  return 0;
}
