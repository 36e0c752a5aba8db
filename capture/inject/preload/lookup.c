/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stands before dlsym(), for programs that load a library and look up its functions themselves, as XLA does and whatever
 * uses ctypes. Every other lookup of the program passes through here. */

#include "capture/inject/preload/lookup.h"
#include "capture/inject/core/oldest-glibc.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

LNS_OLDEST (dlvsym);
LNS_OLDEST (dladdr);

#if defined(__aarch64__)
# define OLDEST_VERSION "GLIBC_2.17"
#else
# define OLDEST_VERSION "GLIBC_2.2.5"
#endif

typedef void *(*Lookup) (void *handle, const char *name);

static Lookup
real_lookup (void)
{
  static Lookup known;
  Lookup lookup = __atomic_load_n (&known, __ATOMIC_ACQUIRE);
  if (lookup == NULL)
    {
      lookup = (Lookup)dlvsym (RTLD_NEXT, "dlsym", OLDEST_VERSION);
      __atomic_store_n (&known, lookup, __ATOMIC_RELEASE);
    }
  return lookup;
}

static const LnsLibraryWrapper *
find (const char *name)
{
  size_t first = 0, end = lns_n_library_wrappers;
  while (first < end)
    {
      const size_t middle = first + (end - first) / 2;
      const int order = strcmp (name, lns_library_wrappers[middle].function->name);
      if (order == 0)
        return &lns_library_wrappers[middle];
      if (order < 0)
        end = middle;
      else
        first = middle + 1;
    }
  return NULL;
}

/* Whether ADDRESS lies in this library, which looks for the real functions. Not inlined: what it keeps on the stack would
 * make a call of dlsym()'s last jump. */
__attribute__ ((noinline)) static bool
is_ours (void *address)
{
  Dl_info info, own;
  return dladdr (address, &info) != 0 && dladdr ((void *)find, &own) != 0 &&
         info.dli_fbase == own.dli_fbase;
}

/* RTLD_DEFAULT finds the wrappers by itself, as this library was loaded first. In all other lookups glibc must see the
 * caller's address, for RTLD_NEXT and the caller's namespace: the last call is a jump, as optimisation makes it. */
LNS_LIBRARY_FUNCTION void *
dlsym (void *restrict handle, const char *restrict name)
{
  const Lookup lookup = real_lookup ();
  const LnsLibraryWrapper *wrapped = NULL;
  if (handle != RTLD_NEXT && handle != RTLD_DEFAULT && name[0] == 'c' && name[1] == 'u')
    wrapped = find (name);
  if (wrapped != NULL && !is_ours (__builtin_return_address (0)))
    {
      void *address = lookup (handle, name);
      return address == NULL ? NULL : lns_library_wrap (wrapped, address);
    }
  return lookup (handle, name);
}
