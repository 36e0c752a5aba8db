/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A server that warms up: instantiates a graph of two kernels and launches it WARM times, then opens a range by
 * cudaProfilerStart with INSIDE more launches of it. One kernel of 2 ms each is launched just before the range begins and
 * just before it ends, and nobody waits for it. */

#include "cuda-program.h"

#include <cuda_profiler_api.h>

#define WARM   5
#define INSIDE 7
#define BLOCKS (1 << 18)

__global__ void
step (int *cell)
{
  *cell += 1;
}

__global__ void
before (int *cell)
{
  *cell += 2;
}

__global__ void
within (int *cell)
{
  *cell += 3;
}

int
main (void)
{
  int *cell;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  CHECK (cudaMalloc (&cell, sizeof *cell));
  CHECK (cudaStreamCreate (&stream));
  CHECK (cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal));
  step<<<1, 32, 0, stream>>> (cell);
  step<<<2, 32, 0, stream>>> (cell);
  CHECK (cudaStreamEndCapture (stream, &graph));
  CHECK (cudaGraphInstantiate (&instance, graph, 0));
  for (int i = 0; i < WARM; i++)
    CHECK (cudaGraphLaunch (instance, stream));
  CHECK (cudaStreamSynchronize (stream));
  before<<<BLOCKS, 1024>>> (cell);
  CHECK (cudaProfilerStart ());
  for (int i = 0; i < INSIDE; i++)
    CHECK (cudaGraphLaunch (instance, stream));
  within<<<BLOCKS, 1024>>> (cell);
  CHECK (cudaProfilerStop ());
  CHECK (cudaDeviceSynchronize ());
  return 0;
}
