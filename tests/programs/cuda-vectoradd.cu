/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Adds two vectors: REPEATS launches between two copies to the device and one copy back. */

#include "cuda-program.h"

#define N 4096
#define REPEATS 100

__global__ void
add (const float *a, const float *b, float *sum, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] = a[i] + b[i];
}

int
main (void)
{
  static float a[N], b[N], sum[N];
  float *device_a, *device_b, *device_sum;
  for (int i = 0; i < N; i++)
    a[i] = i, b[i] = 2 * i;
  CHECK (cudaMalloc (&device_a, sizeof a));
  CHECK (cudaMalloc (&device_b, sizeof b));
  CHECK (cudaMalloc (&device_sum, sizeof sum));
  CHECK (cudaMemcpy (device_a, a, sizeof a, cudaMemcpyHostToDevice));
  CHECK (cudaMemcpy (device_b, b, sizeof b, cudaMemcpyHostToDevice));
  for (int i = 0; i < REPEATS; i++)
    add<<<N / 256, 256>>> (device_a, device_b, device_sum, N);
  CHECK (cudaGetLastError ());
  CHECK (cudaDeviceSynchronize ());
  CHECK (cudaMemcpy (sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost));
  CHECK (cudaFree (device_a));
  CHECK (cudaFree (device_b));
  CHECK (cudaFree (device_sum));
  return 0;
}
