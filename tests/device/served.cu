/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A server: instantiates a graph of two kernels and launches it WARM times, prints "ready", and then answers until it is
 * ended, at most for a minute. Each answer is a kernel and a launch of the graph. */

#include "tests/programs/cuda-program.h"

#include <time.h>
#include <unistd.h>

#define WARM 5

__global__ void
node (void)
{
}

__global__ void
answer (void)
{
}

int
main (void)
{
  const time_t end = time (NULL) + 60;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  CHECK (cudaStreamCreate (&stream));
  CHECK (cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal));
  node<<<1, 32, 0, stream>>> ();
  node<<<2, 32, 0, stream>>> ();
  CHECK (cudaStreamEndCapture (stream, &graph));
  CHECK (cudaGraphInstantiate (&instance, graph, 0));
  for (int i = 0; i < WARM; i++)
    CHECK (cudaGraphLaunch (instance, stream));
  CHECK (cudaStreamSynchronize (stream));
  printf ("ready\n");
  fflush (stdout);
  while (time (NULL) < end)
    {
      answer<<<1, 64, 0, stream>>> ();
      CHECK (cudaGraphLaunch (instance, stream));
      CHECK (cudaStreamSynchronize (stream));
      usleep (1000);
    }
  return 0;
}
