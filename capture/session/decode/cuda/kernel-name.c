/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cuda/kernel-name.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/kernel-text.h"

/* The demangler takes 90 bytes of stack for each byte of the name, and more for each level of nesting. Long names
 * are demangled on a large stack of their own; names longer than any real one stay as they are. */
#define SHORT_BYTES 1024
#define LONG_BYTES  65536
#define STACK_BYTES (64u << 20)

/* The options of the C++ runtime's demangler, without its limit of 1 KiB. */
static void *
demangle (void *mangled)
{
  return cplus_demangle_v3 (mangled, DMGL_PARAMS | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT);
}

static void *
demangle_on_large_stack (char *mangled)
{
  void *demangled = NULL;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, STACK_BYTES);
  if (pthread_create (&thread, &attributes, demangle, mangled) == 0)
    pthread_join (thread, &demangled);
  pthread_attr_destroy (&attributes);
  return demangled;
}

char *
lns_kernel_name_demangle (const char *mangled)
{
  const size_t n_bytes = strlen (mangled);
  char *demangled = NULL, *text = (char *)(uintptr_t)mangled; /* which is only read */
  /* It would read any other name as the letter of a builtin type. */
  if (strncmp (mangled, "_Z", 2) == 0 && n_bytes <= LONG_BYTES)
    demangled = n_bytes <= SHORT_BYTES ? demangle (text) : demangle_on_large_stack (text);
  return demangled != NULL ? demangled : strdup (mangled);
}

char *
lns_kernel_name_shorten (const char *demangled)
{
  size_t size_bytes;
  const char *name = lns_kernel_text_short (demangled, &size_bytes);
  return strndup (name, size_bytes);
}
