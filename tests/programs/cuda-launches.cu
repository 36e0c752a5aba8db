/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Every way to launch a kernel: by <<<>>>, cudaLaunchKernel, cooperative, with a cluster, with much
 * shared memory, in three dimensions; a template's and a namespace's names. */

#include "cuda-program.h"

#include <cooperative_groups.h>

namespace shapes
{
template <typename T, int N>
__global__ void
fill (T *cells, T value)
{
  for (int i = 0; i < N; i++)
    cells[i] = value;
}
}

__global__ void
plain (int *cells)
{
  extern __shared__ int scratch[];
  scratch[threadIdx.x] = cells[0];
  cells[0] = scratch[0];
}

int
main (void)
{
  int *cells;
  CHECK (cudaMalloc (&cells, 4096));
  void *arguments[] = { &cells };
  shapes::fill<int, 4><<<1, 32>>> (cells, 1);
  shapes::fill<double, 2><<<2, 64>>> ((double *) cells, 1.0);
  plain<<<dim3 (4, 3, 2), dim3 (8, 4, 2), 2048>>> (cells);
  CHECK (cudaLaunchKernel ((const void *) plain, dim3 (5), dim3 (96), arguments, 4096, 0));
  CHECK (cudaLaunchCooperativeKernel ((const void *) plain, dim3 (6), dim3 (64), arguments, 512, 0));
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 2;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3 (8);
  config.blockDim = dim3 (128);
  config.dynamicSmemBytes = 1024;
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK (cudaLaunchKernelExC (&config, (const void *) plain, arguments));
  CHECK (cudaDeviceSynchronize ());
  cudaFuncAttributes attributes;
  int blocks;
  CHECK (cudaFuncGetAttributes (&attributes, plain));
  CHECK (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&blocks, plain, 256, 0));
  printf ("%d %d\n", attributes.numRegs, blocks);
  return 0;
}
