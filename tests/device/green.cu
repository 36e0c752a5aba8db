/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs KERNELS kernels in a green context, which has part of the GPU's multiprocessors, and as many outside. Prints how
 * many multiprocessors the green context has; 0: the driver has no green contexts. */

#include "tests/programs/cuda-program.h"

#include <cuda.h>

#define KERNELS         10
#define MULTIPROCESSORS 8

/* Ends the program where CALL of the driver, which is found at run time, fails. */
#define DRIVER(NAME, ...)                                                                          \
 do                                                                                                \
  {                                                                                                \
   const CUresult result = ((decltype (&NAME)) entry (#NAME)) (__VA_ARGS__);                       \
   if (result != CUDA_SUCCESS)                                                                     \
    {                                                                                              \
     fprintf (stderr, "%s: %d\n", #NAME, (int) result);                                            \
     exit (1);                                                                                     \
    }                                                                                              \
  }                                                                                                \
 while (0)

static void *
entry (const char *name)
{
  void *function = NULL;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  CHECK (cudaGetDriverEntryPointByVersion (name, &function, CUDART_VERSION, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || function == NULL)
    {
      printf ("0\n");
      exit (0);
    }
  return function;
}

__global__ void
inside (void)
{
}

__global__ void
outside (void)
{
}

int
main (void)
{
  CUdevice device;
  CUdevResource all, part;
  CUdevResourceDesc description;
  CUgreenCtx green;
  CUstream stream;
  unsigned n_groups = 1;
  CHECK (cudaFree (NULL)); /* makes the primary context, which streams of green contexts belong to */
  DRIVER (cuDeviceGet, &device, 0);
  DRIVER (cuDeviceGetDevResource, device, &all, CU_DEV_RESOURCE_TYPE_SM);
  DRIVER (cuDevSmResourceSplitByCount, &part, &n_groups, &all, NULL, 0, MULTIPROCESSORS);
  DRIVER (cuDevResourceGenerateDesc, &description, &part, 1);
  DRIVER (cuGreenCtxCreate, &green, description, device, CU_GREEN_CTX_DEFAULT_STREAM);
  DRIVER (cuGreenCtxStreamCreate, &stream, green, CU_STREAM_NON_BLOCKING, 0);
  for (int i = 0; i < KERNELS; i++)
    {
      inside<<<1, 32, 0, (cudaStream_t) stream>>> ();
      outside<<<1, 32>>> ();
    }
  CHECK (cudaDeviceSynchronize ());
  printf ("%u\n", part.sm.smCount);
  return 0;
}
