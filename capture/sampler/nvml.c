/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/sampler/nvml.h"

#include <dlfcn.h>

LnsNvml lns_nvml;

static const char *(*error_string) (int result);

/* Stands for a function that the library lacks. Called with the arguments of any of them, as the calling conventions of Linux
 * allow. */
static int
is_missing (void)
{
  return LNS_NVML_FUNCTION_NOT_FOUND;
}

static void *
find (void *library, const char *name)
{
  void *function = dlsym (library, name);
  return function != NULL ? function : (void *)is_missing;
}

const char *
lns_nvml_load (void)
{
  void *library = dlopen ("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return dlerror ();
#define FIND(name, ...) lns_nvml.name = (__typeof__ (lns_nvml.name))find (library, #name);
  LNS_NVML_FUNCTIONS (FIND)
#undef FIND
  error_string = (__typeof__ (error_string))dlsym (library, "nvmlErrorString");
  return NULL;
}

const char *
lns_nvml_text (int result)
{
  const char *text = error_string != NULL ? error_string (result) : NULL;
  return text != NULL ? text : "unknown error";
}
