/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Preloaded into a program to keep Lanescope's library from starting its thread, as when `ulimit
 * -u` is used up. Such a process does not receive the session's commands. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

typedef int (*Create) (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__ ((visibility ("default"))) int
pthread_create (pthread_t *ret_thread,
                const pthread_attr_t *attributes,
                void *(*start) (void *),
                void *data)
{
  Create create;
  Dl_info caller;
  if (dladdr (__builtin_return_address (0), &caller) != 0 &&
      strstr (caller.dli_fname, "liblanescope-inject") != NULL)
    return EAGAIN;
  *(void **)&create = dlsym (RTLD_NEXT, "pthread_create");
  return create (ret_thread, attributes, start, data);
}
