/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stands in for libcublas.so in test-inject-libraries.c. Return values show which calls reached
 * it. */

int cublasGetStream_v2 (void *handle, void **stream);
int cublasScopy_v2 (void *handle, int n, const float *x, int incx, float *y, int incy);
int cublasSgemm_v2 (void *handle,
                    int transa,
                    int transb,
                    int m,
                    int n,
                    int k,
                    const float *alpha,
                    const float *a,
                    int lda,
                    const float *b,
                    int ldb,
                    const float *beta,
                    float *c,
                    int ldc);

__attribute__ ((visibility ("default"))) int
cublasGetStream_v2 (void *handle, void **stream)
{
  *stream = (char *)handle + 1;
  return 0;
}

__attribute__ ((visibility ("default"))) int
cublasScopy_v2 (void *handle, int n, const float *x, int incx, float *y, int incy)
{
  for (int i = 0; i < n; i++)
    y[i * incy] = x[i * incx];
  return 0;
}

/* Calls itself a function of its own, as the real one does. */
__attribute__ ((visibility ("default"))) int
cublasSgemm_v2 (void *handle,
                int transa,
                int transb,
                int m,
                int n,
                int k,
                const float *alpha,
                const float *a,
                int lda,
                const float *b,
                int ldb,
                const float *beta,
                float *c,
                int ldc)
{
  float sum = *alpha + *a + *b + *beta + (float)(m + 10 * n + 100 * k + 1000 * lda + 10000 * ldb) +
              (float)(100000 * ldc + transb);
  (void)cublasScopy_v2 (handle, 1, &sum, 1, c, 1);
  return transa;
}
