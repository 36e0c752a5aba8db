/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Queries about kernels, streams and memory, and hints, which have no effect. */

#include "tests/double/runtime/runtime.h"

#include <string.h>

#define MAX_BLOCKS           32
#define MAX_RESIDENT_THREADS 2048

static int
function_attributes (struct cudaFuncAttributes *ret_attributes, const void *func)
{
  CUfunction function = _lns_runtime_function (func);
  if (function == NULL)
    return cudaErrorInvalidDeviceFunction;
  memset (ret_attributes, 0, sizeof *ret_attributes);
  ret_attributes->numRegs = function->registers;
  ret_attributes->sharedSizeBytes = function->static_shared_bytes;
  ret_attributes->localSizeBytes = function->local_bytes;
  ret_attributes->maxThreadsPerBlock = 1024;
  ret_attributes->maxDynamicSharedSizeBytes = 49152;
  ret_attributes->ptxVersion = 90;
  ret_attributes->binaryVersion = 90;
  return 0;
}

/* By threads alone. */
static int
active_blocks (int *ret_blocks, const void *func, int block_size)
{
  if (_lns_runtime_function (func) == NULL)
    return cudaErrorInvalidDeviceFunction;
  if (block_size <= 0 || block_size > 1024)
    return cudaErrorInvalidValue;
  int blocks = MAX_RESIDENT_THREADS / block_size;
  *ret_blocks = blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
  return 0;
}

static int
stream_priority (cudaStream_t handle, int *ret_priority, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  if (result == 0)
    *ret_priority = stream->priority;
  return result;
}

static int
stream_flags (cudaStream_t handle, unsigned *ret_flags, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  if (result == 0)
    *ret_flags = stream->flags;
  return result;
}

static int
symbol_size (size_t *ret_size, const void *symbol)
{
  void *address;
  return _lns_runtime_symbol (symbol, &address, ret_size) ? 0 : cudaErrorInvalidSymbol;
}

static int
device_pointer (void **ret_pointer, void *host)
{
  LnsGpuAllocation found;
  if (!lns_gpu_find_allocation (host, &found) || found.kind != LNS_GPU_MEMORY_PINNED)
    return cudaErrorInvalidValue;
  *ret_pointer = host;
  return 0;
}

LNS_RUNTIME (cudaFuncGetAttributes,
             v3020,
             (struct cudaFuncAttributes * attr, const void *func),
             (attr, func),
             function_attributes (attr, func))
LNS_RUNTIME (cudaFuncSetAttribute,
             v9000,
             (const void *func, enum cudaFuncAttribute attr, int value),
             (func, attr, value),
             _lns_runtime_function (func) != NULL ? 0 : cudaErrorInvalidDeviceFunction)
LNS_RUNTIME (cudaOccupancyMaxActiveBlocksPerMultiprocessor,
             v6050,
             (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize),
             (numBlocks, func, blockSize, dynamicSMemSize),
             active_blocks (numBlocks, func, blockSize))
LNS_RUNTIME (
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    v7000,
    (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned flags),
    (numBlocks, func, blockSize, dynamicSMemSize, flags),
    active_blocks (numBlocks, func, blockSize))
LNS_RUNTIME_STREAM (cudaStreamGetPriority,
                    v5050,
                    _ptsz,
                    v7000,
                    (cudaStream_t hStream, int *priority),
                    (hStream, priority),
                    stream_priority (hStream, priority, per_thread))
LNS_RUNTIME_STREAM (cudaStreamGetFlags,
                    v5050,
                    _ptsz,
                    v7000,
                    (cudaStream_t hStream, unsigned *flags),
                    (hStream, flags),
                    stream_flags (hStream, flags, per_thread))
LNS_RUNTIME (cudaGetSymbolSize,
             v3020,
             (size_t * size, const void *symbol),
             (size, symbol),
             symbol_size (size, symbol))
LNS_RUNTIME (cudaHostGetDevicePointer,
             v3020,
             (void **pDevice, void *pHost, unsigned flags),
             (pDevice, pHost, flags),
             device_pointer (pDevice, pHost))
LNS_RUNTIME (cudaMemAdvise,
             v12020,
             (const void *devPtr,
              size_t count,
              enum cudaMemoryAdvise advice,
              struct cudaMemLocation location),
             (devPtr, count, advice, location),
             0)
LNS_RUNTIME (cudaDeviceDisablePeerAccess, v4000, (int peerDevice), (peerDevice), 0)
LNS_RUNTIME (cudaDeviceSetLimit, v3020, (enum cudaLimit limit, size_t value), (limit, value), 0)
