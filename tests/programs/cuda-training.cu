/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Does what a training loop does, for a report to look at: STEPS steps, LAYERS layers forward and
 * backward in each, the next batch copied on a stream of its own, and NVTX ranges around
 * everything. */

#include "cuda-program.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#define STEPS 8
#define LAYERS 4
#define BATCH_BYTES (1 << 20)
#define LOAD_USEC   3000

namespace model
{
template <int tile>
__global__ void
gemm (const float *a, const float *b, float *c)
{
  c[threadIdx.x] += a[threadIdx.x] * b[threadIdx.x];
}

template <typename T>
__global__ void
layer_norm (T *cells)
{
  cells[threadIdx.x] -= cells[0];
}

__global__ void
relu (float *cells)
{
  cells[threadIdx.x] = cells[threadIdx.x] > 0 ? cells[threadIdx.x] : 0;
}

__global__ void
adam_step (float *weights, const float *gradients)
{
  weights[threadIdx.x] -= gradients[threadIdx.x];
}
}

static float *weights, *gradients, *cells, *batches[2], *host;
static cudaStream_t compute, loader;

static void
forward (void)
{
  nvtxRangePushA ("forward");
  for (int layer = 0; layer < LAYERS; layer++)
    {
      nvtxRangePushA ("layer");
      model::gemm<128><<<512, 256, 0, compute>>> (weights, cells, cells);
      model::layer_norm<float><<<128, 256, 0, compute>>> (cells);
      model::relu<<<128, 256, 0, compute>>> (cells);
      nvtxRangePop ();
    }
  nvtxRangePop ();
}

static void
backward (void)
{
  nvtxRangePushA ("backward");
  for (int layer = 0; layer < LAYERS; layer++)
    {
      model::gemm<64><<<1024, 256, 0, compute>>> (cells, weights, gradients);
      model::gemm<128><<<512, 256, 0, compute>>> (gradients, cells, cells);
    }
  nvtxRangePop ();
}

static void
step (int number)
{
  float loss;
  nvtxRangePushA ("step");
  nvtxRangePushA ("load");
  usleep (LOAD_USEC); /* in which the GPU has nothing to do: what a profiler is asked about */
  nvtxRangePop ();
  CHECK (cudaMemcpyAsync (batches[number % 2], host, BATCH_BYTES, cudaMemcpyHostToDevice, loader));
  CHECK (cudaMemsetAsync (gradients, 0, BATCH_BYTES, compute));
  forward ();
  backward ();
  nvtxRangePushA ("optimizer");
  model::adam_step<<<256, 256, 0, compute>>> (weights, gradients);
  nvtxRangePop ();
  CHECK (cudaMemcpyAsync (&loss, cells, sizeof loss, cudaMemcpyDeviceToHost, compute));
  CHECK (cudaStreamSynchronize (compute));
  nvtxRangePop ();
}

int
main (void)
{
  CHECK (cudaMalloc (&weights, BATCH_BYTES));
  CHECK (cudaMalloc (&gradients, BATCH_BYTES));
  CHECK (cudaMalloc (&cells, BATCH_BYTES));
  CHECK (cudaMalloc (&batches[0], BATCH_BYTES));
  CHECK (cudaMalloc (&batches[1], BATCH_BYTES));
  CHECK (cudaMallocHost (&host, BATCH_BYTES));
  CHECK (cudaStreamCreate (&compute));
  CHECK (cudaStreamCreateWithFlags (&loader, cudaStreamNonBlocking));
  for (int number = 0; number < STEPS; number++)
    step (number);
  CHECK (cudaDeviceSynchronize ());
  return 0;
}
