/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A captured graph (set, then two kernels side by side, then a join), launched CAPTURED times; one
 * built by hand (set → kernel → copy, and a child graph of one kernel), launched BUILT times. */

#include "cuda-program.h"

#define CAPTURED 10
#define BUILT 5
#define N 1024

__global__ void
left (int *cells)
{
  cells[threadIdx.x] += 1;
}

__global__ void
right (int *cells)
{
  cells[threadIdx.x] += 2;
}

__global__ void
merge (int *cells)
{
  cells[threadIdx.x] *= 2;
}

static cudaGraphExec_t
capture (cudaStream_t stream, int *cells)
{
  cudaStream_t side;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK (cudaStreamCreateWithFlags (&side, cudaStreamNonBlocking));
  CHECK (cudaEventCreate (&fork));
  CHECK (cudaEventCreate (&join));
  CHECK (cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal));
  CHECK (cudaMemsetAsync (cells, 0, N * sizeof *cells, stream));
  CHECK (cudaEventRecord (fork, stream));
  CHECK (cudaStreamWaitEvent (side, fork, 0));
  left<<<2, 256, 0, stream>>> (cells);
  right<<<4, 128, 0, side>>> (cells);
  CHECK (cudaEventRecord (join, side));
  CHECK (cudaStreamWaitEvent (stream, join, 0));
  merge<<<8, 64, 0, stream>>> (cells);
  CHECK (cudaStreamEndCapture (stream, &graph));
  CHECK (cudaGraphInstantiate (&exec, graph, 0));
  CHECK (cudaGraphDestroy (graph));
  CHECK (cudaStreamDestroy (side));
  return exec;
}

static cudaGraphNode_t
add_kernel (cudaGraph_t graph, const cudaGraphNode_t *after, void (*kernel) (int *), int blocks, int **cells)
{
  cudaGraphNode_t node;
  void *arguments[] = { cells };
  cudaKernelNodeParams params = {};
  params.func = (void *) kernel;
  params.gridDim = dim3 (blocks);
  params.blockDim = dim3 (64);
  params.kernelParams = arguments;
  CHECK (cudaGraphAddKernelNode (&node, graph, after, after != NULL, &params));
  return node;
}

static cudaGraphExec_t
build (int *cells, int *host)
{
  cudaGraph_t graph, child;
  cudaGraphNode_t set, copy, nested;
  cudaGraphExec_t exec;
  cudaMemsetParams params = {};
  params.dst = cells;
  params.value = 7;
  params.elementSize = 4;
  params.width = N;
  params.height = 1;
  CHECK (cudaGraphCreate (&child, 0));
  add_kernel (child, NULL, merge, 3, &cells);
  CHECK (cudaGraphCreate (&graph, 0));
  CHECK (cudaGraphAddMemsetNode (&set, graph, NULL, 0, &params));
  cudaGraphNode_t kernel = add_kernel (graph, &set, left, 5, &cells);
  CHECK (cudaGraphAddMemcpyNode1D (&copy, graph, &kernel, 1, host, cells, N * sizeof *cells, cudaMemcpyDeviceToHost));
  CHECK (cudaGraphAddChildGraphNode (&nested, graph, &copy, 1, child));
  CHECK (cudaGraphInstantiate (&exec, graph, 0));
  return exec;
}

int
main (void)
{
  cudaStream_t stream;
  int *cells, *host;
  CHECK (cudaMalloc (&cells, N * sizeof *cells));
  CHECK (cudaMallocHost (&host, N * sizeof *host));
  CHECK (cudaStreamCreate (&stream));
  cudaGraphExec_t captured = capture (stream, cells);
  cudaGraphExec_t built = build (cells, host);
  for (int i = 0; i < CAPTURED; i++)
    CHECK (cudaGraphLaunch (captured, stream));
  for (int i = 0; i < BUILT; i++)
    CHECK (cudaGraphLaunch (built, stream));
  CHECK (cudaStreamSynchronize (stream));
  CHECK (cudaGraphExecDestroy (captured));
  CHECK (cudaGraphExecDestroy (built));
  return 0;
}
