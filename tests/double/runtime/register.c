/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Functions that code built by nvcc calls to register its kernels and variables, and to launch kernels. */

#include "tests/double/runtime/runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <vector_types.h>

typedef struct
{
  const void *host; /* its address on the host, by which the program refers to it */
  CUfunction function;
  void *address; /* of a variable */
  size_t size;
} Registered;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *registered; /* tree of Registered by host address */

static int
compare_cb (const void *a, const void *b)
{
  uintptr_t left = (uintptr_t)((const Registered *)a)->host;
  uintptr_t right = (uintptr_t)((const Registered *)b)->host;
  return (left > right) - (left < right);
}

static bool
find (const void *host, Registered *ret_found)
{
  Registered key = { .host = host };
  pthread_mutex_lock (&lock);
  Registered **found = tfind (&key, &registered, compare_cb);
  if (found != NULL)
    *ret_found = **found;
  pthread_mutex_unlock (&lock);
  return found != NULL;
}

static void
add (const void *host, CUfunction function, size_t size)
{
  Registered *made = calloc (1, sizeof *made);
  made->host = host;
  made->function = function;
  made->size = size;
  if (size > 0 && posix_memalign (&made->address, 256, size) == 0)
    {
      memset (made->address, 0, size);
      lns_gpu_register_static (made->address, size);
    }
  pthread_mutex_lock (&lock);
  tsearch (made, &registered, compare_cb);
  pthread_mutex_unlock (&lock);
}

CUfunction
_lns_runtime_function (const void *function)
{
  Registered found;
  return find (function, &found) ? found.function : NULL;
}

bool
_lns_runtime_symbol (const void *symbol, void **ret_address, size_t *ret_size)
{
  Registered found;
  if (!find (symbol, &found) || found.size == 0)
    return false;
  *ret_address = found.address;
  *ret_size = found.size;
  return true;
}

/* The struct in which nvcc wraps a program's images. */
typedef struct
{
  int magic;
  int version;
  const void *image;
  void *more;
} FatBinary;

void **__cudaRegisterFatBinary (void *wrapper);
void __cudaRegisterFatBinaryEnd (void **handle);
void __cudaUnregisterFatBinary (void **handle);
char __cudaInitModule (void **handle);
void __cudaRegisterFunction (void **handle,
                             const char *host,
                             char *device_name,
                             const char *name,
                             int thread_limit,
                             uint3 *thread,
                             uint3 *block,
                             dim3 *block_dim,
                             dim3 *grid_dim,
                             int *warp_size);
void __cudaRegisterVar (void **handle,
                        char *host,
                        char *address,
                        const char *name,
                        int external,
                        size_t size,
                        int constant,
                        int global);
void __cudaRegisterManagedVar (void **handle,
                               void **host,
                               char *address,
                               const char *name,
                               int external,
                               size_t size,
                               int constant,
                               int global);
unsigned
__cudaPushCallConfiguration (dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration (dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel (cudaKernel_t *kernel, const void *function);

LNS_RUNTIME_API void **
__cudaRegisterFatBinary (void *wrapper)
{
  CUmodule *handle = malloc (sizeof *handle);
  *handle = lns_gpu_module_new (((const FatBinary *)wrapper)->image);
  return (void **)handle;
}

LNS_RUNTIME_API void
__cudaRegisterFatBinaryEnd (void **handle)
{
}

LNS_RUNTIME_API void
__cudaUnregisterFatBinary (void **handle)
{
}

LNS_RUNTIME_API char
__cudaInitModule (void **handle)
{
  return 1;
}

LNS_RUNTIME_API void
__cudaRegisterFunction (void **handle,
                        const char *host,
                        char *device_name,
                        const char *name,
                        int thread_limit,
                        uint3 *thread,
                        uint3 *block,
                        dim3 *block_dim,
                        dim3 *grid_dim,
                        int *warp_size)
{
  add (host, lns_gpu_module_function (*(CUmodule *)handle, device_name), 0);
}

LNS_RUNTIME_API void
__cudaRegisterVar (void **handle,
                   char *host,
                   char *address,
                   const char *name,
                   int external,
                   size_t size,
                   int constant,
                   int global)
{
  add (host, NULL, size);
}

LNS_RUNTIME_API void
__cudaRegisterManagedVar (void **handle,
                          void **host,
                          char *address,
                          const char *name,
                          int external,
                          size_t size,
                          int constant,
                          int global)
{
  add (host, NULL, size);
  void *memory;
  if (_lns_runtime_symbol (host, &memory, &size))
    *host = memory;
}

typedef struct
{
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
} Configuration;

#define MAX_CONFIGURATIONS 16

static __thread Configuration configurations[MAX_CONFIGURATIONS];
static __thread unsigned n_configurations;

LNS_RUNTIME_API unsigned
__cudaPushCallConfiguration (dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
  if (n_configurations == MAX_CONFIGURATIONS)
    return cudaErrorMemoryAllocation;
  configurations[n_configurations++] = (Configuration){ grid, block, shared, stream };
  return 0;
}

LNS_RUNTIME_API cudaError_t
__cudaPopCallConfiguration (dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
  if (n_configurations == 0)
    return cudaErrorMissingConfiguration;
  const Configuration *top = &configurations[--n_configurations];
  *grid = top->grid;
  *block = top->block;
  *shared = top->shared;
  *(cudaStream_t *)stream = top->stream;
  return cudaSuccess;
}

/* Kernels share their handles with functions. */
LNS_RUNTIME_API cudaError_t
__cudaGetKernel (cudaKernel_t *kernel, const void *function)
{
  *kernel = (cudaKernel_t)_lns_runtime_function (function);
  return *kernel != NULL ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
