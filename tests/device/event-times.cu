/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Launches KERNELS kernels of growing length, each between two CUDA events, and prints the time that
 * cudaEventElapsedTime gives for each, in microseconds. They take milliseconds: an event is short beside that. */

#include "tests/programs/cuda-program.h"

#define KERNELS 8
#define BLOCKS (1 << 18)
#define THREADS 512
#define CYCLES 20000

__global__ void
spin (long long cycles)
{
  long long begin = clock64 ();
  while (clock64 () - begin < cycles)
    ;
}

int
main (void)
{
  cudaEvent_t before[KERNELS], after[KERNELS];
  spin<<<1, 1>>> (1); /* loads the kernel */
  CHECK (cudaDeviceSynchronize ());
  for (int i = 0; i < KERNELS; i++)
    {
      CHECK (cudaEventCreate (&before[i]));
      CHECK (cudaEventCreate (&after[i]));
      CHECK (cudaEventRecord (before[i], 0));
      spin<<<BLOCKS + i * BLOCKS / 4, THREADS>>> (CYCLES);
      CHECK (cudaEventRecord (after[i], 0));
    }
  CHECK (cudaDeviceSynchronize ());
  for (int i = 0; i < KERNELS; i++)
    {
      float ms;
      CHECK (cudaEventElapsedTime (&ms, before[i], after[i]));
      printf ("%.3f\n", ms * 1000);
    }
  return 0;
}
