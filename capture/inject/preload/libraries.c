/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/preload/libraries.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

LNS_OLDEST (dlopen);
LNS_OLDEST (dlsym);
LNS_OLDEST (dlclose);
LNS_OLDEST (dladdr);

/* By LnsWireLibrary: the beginning of a library's file name. */
static const char *const files[LNS_WIRE_N_LIBRARIES] = {
  [LNS_WIRE_CUBLAS] = "libcublas.so",     [LNS_WIRE_CUBLAS_LT] = "libcublasLt.so",
  [LNS_WIRE_CUDNN] = "libcudnn.so",       [LNS_WIRE_CUSPARSE] = "libcusparse.so",
  [LNS_WIRE_CUSOLVER] = "libcusolver.so", [LNS_WIRE_CUSOLVER_MG] = "libcusolverMg.so",
};

/* The number of calls that this thread is within, by library, and of all libraries. This library is loaded when a program
 * starts, when there is room for it. */
static __thread uint8_t depths[LNS_WIRE_N_LIBRARIES] __attribute__ ((tls_model ("initial-exec")));
static __thread uint32_t depth_of_all __attribute__ ((tls_model ("initial-exec")));

/* --- The function behind. -------------------------------------------------------------------- */

static void *
own_base (void)
{
  Dl_info info;
  return dladdr ((void *)lns_library_find, &info) ? info.dli_fbase : NULL;
}

/* ADDRESS, or null if it lies in this library. */
static void *
unless_ours (void *address)
{
  Dl_info info;
  return address != NULL && dladdr (address, &info) && info.dli_fbase != own_base () ? address
                                                                                     : NULL;
}

void *
lns_library_symbol (const char *path, const char *name)
{
  if (path == NULL)
    return unless_ours (dlsym (RTLD_NEXT, name));
  void *handle = dlopen (path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL)
    return NULL;
  void *address = unless_ours (dlsym (handle, name));
  dlclose (handle);
  return address;
}

/* Whether PATH names a file of LIBRARY. */
static bool
is_of (const char *path, LnsWireLibrary library)
{
  const char *slash = strrchr (path, '/'), *file = slash == NULL ? path : slash + 1;
  return strncmp (file, files[library], strlen (files[library])) == 0;
}

typedef struct
{
  LnsWireLibrary library;
  char path[4096]; /* of the first */
  uint32_t n;
} Search;

static int
look_at (struct dl_phdr_info *object, size_t size, void *data)
{
  Search *search = data;
  if (!is_of (object->dlpi_name, search->library))
    return 0;
  if (search->n++ == 0)
    strncpy (search->path, object->dlpi_name, sizeof search->path - 1);
  return 0;
}

void *
lns_library_find (LnsLibraryFunction *function, void *caller)
{
  void *real = __atomic_load_n (&function->real, __ATOMIC_ACQUIRE);
  if (real != NULL)
    return real;
  int saved = errno;
  Search search = { .library = function->library };
  dl_iterate_phdr (look_at, &search);
  /* Searches as the loader does for the caller: in what it was linked with, then in what comes after this library, then
   * in a copy that was loaded for its loader alone. */
  Dl_info info;
  if (dladdr (caller, &info) && info.dli_fname != NULL)
    real = lns_library_symbol (info.dli_fname, function->name);
  if (real == NULL)
    real = lns_library_symbol (NULL, function->name);
  if (real == NULL && search.n > 0)
    real = lns_library_symbol (search.path, function->name);
  /* If a process has two copies of a library, handles of one are not valid in the other: each caller gets its own. */
  if (search.n <= 1)
    __atomic_store_n (&function->real, real, __ATOMIC_RELEASE);
  errno = saved;
  return real;
}

void *
lns_library_wrap (const LnsLibraryWrapper *wrapped, void *address)
{
  LnsLibraryFunction *function = wrapped->function;
  Search search = { .library = function->library };
  Dl_info info;
  void *real = NULL;
  if (!dladdr (address, &info) || info.dli_fname == NULL ||
      !is_of (info.dli_fname, function->library))
    return address;
  /* A wrapper serves one copy. */
  dl_iterate_phdr (look_at, &search);
  if (search.n != 1 || (!__atomic_compare_exchange_n (&function->real, &real, address, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
                        real != address))
    return address;
  if (real == NULL)
    (void)dlopen (info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return wrapped->wrapper;
}

/* --- The call. ------------------------------------------------------------------------------- */

/* Finds the injection library, which lies beside this one. */
static const LnsLibraryHooks *
find_hooks (void)
{
  Dl_info info;
  char path[4096];
  if (!dladdr ((void *)lns_library_find, &info) || info.dli_fname == NULL)
    return NULL;
  const char *slash = strrchr (info.dli_fname, '/');
  int n = snprintf (path, sizeof path, "%.*sliblanescope-inject.so",
                    slash == NULL ? 0 : (int)(slash + 1 - info.dli_fname), info.dli_fname);
  void *handle = n > 0 && (size_t)n < sizeof path ? dlopen (path, RTLD_LAZY | RTLD_LOCAL) : NULL;
  const LnsLibraryHooks *(*get) (void) = NULL;
  if (handle != NULL)
    get = (const LnsLibraryHooks *(*)(void))dlsym (handle, LNS_LIBRARY_HOOKS);
  const LnsLibraryHooks *hooks = get == NULL ? NULL : get ();
  return hooks != NULL && hooks->abi == LNS_LIBRARY_HOOKS_ABI ? hooks : NULL;
}

const LnsLibraryHooks *
lns_library_hooks (void)
{
  static const LnsLibraryHooks none = { .abi = 0 };
  static const LnsLibraryHooks *known;
  const LnsLibraryHooks *hooks = __atomic_load_n (&known, __ATOMIC_ACQUIRE);
  if (hooks == NULL)
    {
      lns_mark_own (LNS_WIRE_OWN_BEGIN);
      hooks = find_hooks ();
      lns_mark_own (LNS_WIRE_OWN_END);
      __atomic_store_n (&known, hooks == NULL ? &none : hooks, __ATOMIC_RELEASE);
    }
  return hooks == &none ? NULL : hooks;
}

LnsLibraryCall
lns_library_begin (LnsLibraryFunction *function)
{
  int saved = errno;
  const LnsLibraryHooks *hooks = lns_library_hooks ();
  bool is_nested = depth_of_all++ != 0;
  LnsLibraryCall call = { .depth = depths[function->library]++ };
  if (hooks != NULL)
    call.begin_ticks = hooks->begin (function->library, is_nested);
  errno = saved;
  return call;
}

/* The stream of HANDLE, asked of the copy of the library that made it. */
static uint64_t
stream_of (LnsLibraryFunction *function, void *handle)
{
  int (*get) (void *, void **) =
      (int (*) (void *, void **))__atomic_load_n (&function->stream_getter, __ATOMIC_ACQUIRE);
  Dl_info info;
  void *real = __atomic_load_n (&function->real, __ATOMIC_ACQUIRE), *stream = NULL;
  if (get == NULL && real != NULL && dladdr (real, &info) && info.dli_fname != NULL)
    {
      get = (int (*) (void *, void **))lns_library_symbol (info.dli_fname,
                                                           function->stream_getter_name);
      __atomic_store_n (&function->stream_getter, (void *)get, __ATOMIC_RELEASE);
    }
  return get != NULL && get (handle, &stream) == 0 ? (uint64_t)(uintptr_t)stream : 0;
}

void
lns_library_end (LnsLibraryFunction *function,
                 const LnsLibraryCall *call,
                 void *handle,
                 uint64_t stream,
                 uint32_t return_value)
{
  depths[function->library]--;
  depth_of_all--;
  if (call->begin_ticks == 0)
    return;
  int saved = errno;
  if (handle != NULL && function->stream_getter_name != NULL)
    stream = stream_of (function, handle);
  const LnsLibraryHooks *hooks = lns_library_hooks ();
  LnsWireLibraryCallBytes record = { .library = function->library,
                                     .end_ticks = hooks->now (),
                                     .stream = stream,
                                     .return_value = return_value };
  hooks->end (LNS_WIRE_LIBRARY_CALL, call->begin_ticks, function->name, &function->string,
              call->depth, &record.head, sizeof record);
  errno = saved;
}
