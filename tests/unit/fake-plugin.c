/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A module that a program loads with dlopen and that is linked with libcublas, so that only the
 * module sees that library. */

int cublasScopy_v2 (void *handle, int n, const float *x, int incx, float *y, int incy);
int plugin_copy (float *to);

__attribute__ ((visibility ("default"))) int
plugin_copy (float *to)
{
  float from = 3;
  return cublasScopy_v2 (to, 1, &from, 1, to, 1);
}
