/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Streams of all kinds whose kernels overlap, joined by events: STREAMS × LAUNCHES kernels `busy`,
 * then one `join` on the null stream, then PER_THREAD on the thread's default stream. Prints what
 * the events say the work of the first stream took, in microseconds. Two streams have names. */

#include "cuda-program.h"

#include <nvtx3/nvToolsExtCudaRt.h>

#define STREAMS 4
#define LAUNCHES 25
#define PER_THREAD 3
#define BLOCKS 65536
#define THREADS 512

__global__ void
busy (int *cell)
{
  if (threadIdx.x == 0 && blockIdx.x == 0)
    atomicAdd (cell, 1);
}

__global__ void
join (int *cells, int n)
{
  for (int i = 1; i < n; i++)
    cells[0] += cells[i];
}

int
main (void)
{
  cudaStream_t streams[STREAMS];
  cudaEvent_t first, last, done[STREAMS];
  int *cells;
  int least, greatest;
  CHECK (cudaDeviceGetStreamPriorityRange (&least, &greatest));
  CHECK (cudaMalloc (&cells, STREAMS * sizeof *cells));
  CHECK (cudaMemset (cells, 0, STREAMS * sizeof *cells));
  CHECK (cudaStreamCreate (&streams[0]));
  CHECK (cudaStreamCreateWithFlags (&streams[1], cudaStreamNonBlocking));
  CHECK (cudaStreamCreateWithPriority (&streams[2], cudaStreamNonBlocking, greatest));
  CHECK (cudaStreamCreate (&streams[3]));
  nvtxNameCudaStreamA (streams[1], "non-blocking");
  nvtxNameCudaStreamA (streams[2], "not yet");
  nvtxNameCudaStreamA (streams[2], "urgent");
  CHECK (cudaEventCreate (&first));
  CHECK (cudaEventCreate (&last));
  for (int i = 0; i < STREAMS; i++)
    CHECK (cudaEventCreateWithFlags (&done[i], cudaEventDisableTiming));
  CHECK (cudaEventRecord (first, streams[0]));
  for (int launch = 0; launch < LAUNCHES; launch++)
    for (int i = 0; i < STREAMS; i++)
      busy<<<BLOCKS, THREADS, 1024 * i, streams[i]>>> (&cells[i]);
  CHECK (cudaEventRecord (last, streams[0]));
  for (int i = 0; i < STREAMS; i++)
    {
      CHECK (cudaEventRecord (done[i], streams[i]));
      CHECK (cudaStreamWaitEvent (0, done[i], 0));
    }
  join<<<1, 1>>> (cells, STREAMS);
  for (int i = 0; i < PER_THREAD; i++)
    busy<<<1, 32, 0, cudaStreamPerThread>>> (cells);
  CHECK (cudaEventSynchronize (last));
  float ms;
  CHECK (cudaEventElapsedTime (&ms, first, last));
  CHECK (cudaStreamSynchronize (streams[1]));
  CHECK (cudaDeviceSynchronize ());
  for (int i = 0; i < STREAMS; i++)
    {
      CHECK (cudaStreamQuery (streams[i]));
      CHECK (cudaStreamDestroy (streams[i]));
    }
  printf ("%.3f\n", ms * 1000);
  return 0;
}
