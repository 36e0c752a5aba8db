/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* stand-in PROGRAM N: has the ranges and launches that tests/device/run expects of a PyTorch program, so that what it
 * expects can be tested where there is no PyTorch. With LNS_STAND_IN=less in the environment, the last one is missing. */

#include "tests/programs/cuda-program.h"

#include <nvtx3/nvToolsExt.h>
#include <string.h>
#include <time.h>

#define WARM  5
#define BYTES (2 << 20)
/* That a program of Python takes before and after its launches, and far more than CUPTI's own clock is off. */
#define PYTHON_NS 20000

__global__ void
spin_kernel (void)
{
}

__global__ void
triton_poi_fused_add (void)
{
}

static bool is_less;

static void
work_in_python (void)
{
  struct timespec from, now;
  clock_gettime (CLOCK_MONOTONIC, &from);
  do
    clock_gettime (CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < PYTHON_NS);
}

/* A range of KERNELS kernels, of which the last range has one less if asked for. */
static void
range (const char *name, int kernels, bool is_last)
{
  nvtxRangePushA (name);
  work_in_python ();
  for (int i = is_last && is_less; i < kernels; i++)
    triton_poi_fused_add<<<1, 64>>> ();
  work_in_python ();
  nvtxRangePop ();
}

static void
train (int n)
{
  for (int i = 0; i < WARM + n; i++)
    {
      nvtxRangePushA ("step");
      spin_kernel<<<1, 32>>> ();
      range ("forward", 3, false);
      range ("backward", 4, false);
      range ("optimizer", 2, i == WARM + n - 1);
      nvtxRangePop ();
    }
  CHECK (cudaDeviceSynchronize ());
  printf ("{\"kernels\": %d}\n", 10 * n);
}

static void
graph (int n)
{
  cudaStream_t stream;
  cudaGraph_t made;
  cudaGraphExec_t instance;
  CHECK (cudaStreamCreate (&stream));
  CHECK (cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal));
  spin_kernel<<<1, 32, 0, stream>>> ();
  spin_kernel<<<1, 32, 0, stream>>> ();
  CHECK (cudaStreamEndCapture (stream, &made));
  CHECK (cudaGraphInstantiate (&instance, made, 0));
  for (int i = is_less; i < n; i++)
    CHECK (cudaGraphLaunch (instance, stream));
  CHECK (cudaDeviceSynchronize ());
}

static void
allocator (int n)
{
  void *block;
  for (int i = is_less; i < n; i++)
    {
      CHECK (cudaMallocAsync (&block, BYTES, 0));
      CHECK (cudaFreeAsync (block, 0));
    }
  CHECK (cudaDeviceSynchronize ());
}

int
main (int argc, char **argv)
{
  const char *what = argc > 2 ? argv[1] : "";
  const int n = argc > 2 ? atoi (argv[2]) : 0;
  is_less = getenv ("LNS_STAND_IN") != NULL;
  if (strcmp (what, "train") == 0)
    train (n);
  else if (strcmp (what, "graph") == 0)
    graph (n);
  else if (strcmp (what, "allocator") == 0)
    allocator (n);
  else
    for (int i = 0; i < n; i++)
      range (what, 1, i == n - 1);
  CHECK (cudaDeviceSynchronize ());
  return 0;
}
