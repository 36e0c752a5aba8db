/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stands in for libcusparse.so in test-inject-libraries.c. */

int cusparseGetStream (void *handle, void **stream);
int cusparseGather (void *handle, const void *from, void *to);

__attribute__ ((visibility ("default"))) int
cusparseGetStream (void *handle, void **stream)
{
  *stream = (char *)handle + 2;
  return 0;
}

__attribute__ ((visibility ("default"))) int
cusparseGather (void *handle, const void *from, void *to)
{
  (void)handle;
  *(int *)to = *(const int *)from;
  return 10;
}
