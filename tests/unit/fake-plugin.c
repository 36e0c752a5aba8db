/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A module that a program loads with dlopen and that is linked with libcublas, so that only the
 * module sees that library. */

#include <dlfcn.h>

int cublasScopy_v2 (void *handle, int n, const float *x, int incx, float *y, int incy);
int plugin_copy (float *to);
void *plugin_next (const char *name);

__attribute__ ((visibility ("default"))) int
plugin_copy (float *to)
{
  float from = 3;
  return cublasScopy_v2 (to, 1, &from, 1, to, 1);
}

__attribute__ ((visibility ("default"))) void *
plugin_next (const char *name)
{
  void *volatile found = dlsym (RTLD_NEXT, name); /* not the last call, which is a jump */
  return found;
}
