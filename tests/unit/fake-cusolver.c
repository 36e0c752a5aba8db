/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stands in for libcusolver.so in test-inject-libraries.c. Return values show which calls reached it. */

int cusparseGather (void *handle, const void *from, void *to);
int cusolverDnGetStream (void *handle, void **stream);
int cusolverSpGetStream (void *handle, void **stream);
int cusolverDnSlaswp (
    void *handle, int n, float *a, int lda, int first, int last, const int *pivots, int step);
int cusolverSpXcsrqrAnalysis (void *handle,
                              int m,
                              int n,
                              int n_nonzero,
                              void *description,
                              const int *rows,
                              const int *columns,
                              void *result);
int cusolverRfRefactor (void *handle);

__attribute__ ((visibility ("default"))) int
cusolverDnGetStream (void *handle, void **stream)
{
  *stream = (char *)handle + 3;
  return 0;
}

__attribute__ ((visibility ("default"))) int
cusolverSpGetStream (void *handle, void **stream)
{
  *stream = (char *)handle + 4;
  return 0;
}

__attribute__ ((visibility ("default"))) int
cusolverDnSlaswp (
    void *handle, int n, float *a, int lda, int first, int last, const int *pivots, int step)
{
  (void)handle;
  *a = (float)(n + 10 * lda + 100 * first + 1000 * last + 10000 * *pivots + 100000 * step);
  return 7;
}

/* Calls functions of its own library and of cuSPARSE, as the real one does. */
__attribute__ ((visibility ("default"))) int
cusolverSpXcsrqrAnalysis (void *handle,
                          int m,
                          int n,
                          int n_nonzero,
                          void *description,
                          const int *rows,
                          const int *columns,
                          void *result)
{
  (void)description;
  float of_rows = 0;
  (void)cusolverDnSlaswp (handle, m, &of_rows, n, n_nonzero, *rows, columns, 0);
  int sum = (int)of_rows;
  (void)cusparseGather (handle, &sum, result);
  return 8;
}

__attribute__ ((visibility ("default"))) int
cusolverRfRefactor (void *handle)
{
  return handle != (void *)0 ? 9 : 0;
}
