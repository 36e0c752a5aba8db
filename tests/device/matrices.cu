/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Multiplies N × N matrices with cuBLAS, PRODUCTS times, and checks the result. */

#include "tests/programs/cuda-program.h"

#include <cublas_v2.h>

#define PRODUCTS 12
#define N 512

#define CHECK_CUBLAS(CALL)                                                                         \
 do                                                                                                \
  {                                                                                                \
   cublasStatus_t status = (CALL);                                                                 \
   if (status != CUBLAS_STATUS_SUCCESS)                                                            \
    {                                                                                              \
     fprintf (stderr, "%s: %d\n", #CALL, (int) status);                                            \
     exit (1);                                                                                     \
    }                                                                                              \
  }                                                                                                \
 while (0)

int
main (void)
{
  static float ones[N * N], product[N * N];
  const float one = 1, zero = 0;
  float *a, *c;
  cublasHandle_t handle;
  for (int i = 0; i < N * N; i++)
    ones[i] = 1;
  CHECK_CUBLAS (cublasCreate (&handle));
  CHECK (cudaMalloc (&a, sizeof ones));
  CHECK (cudaMalloc (&c, sizeof product));
  CHECK (cudaMemcpy (a, ones, sizeof ones, cudaMemcpyHostToDevice));
  for (int i = 0; i < PRODUCTS; i++)
    CHECK_CUBLAS (cublasSgemm (handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, a, N, &zero, c, N));
  CHECK (cudaMemcpy (product, c, sizeof product, cudaMemcpyDeviceToHost));
  CHECK_CUBLAS (cublasDestroy (handle));
  return product[0] == N && product[N * N - 1] == N ? 0 : 2;
}
