/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of the modules that name objects of CUDA and OpenCL, and of the module of locks, which is not
 * recorded. */

#include "capture/inject/nvtx/core.h"
#include "capture/inject/nvtx/names.h"

/* The two handlers that name objects of TYPE, which the program knows as an Identifier. */
#define HANDLERS(function, Identifier, type)                                                       \
 static void function##_a (Identifier object, const char *name)                                    \
 {                                                                                                 \
  lns_nvtx_name_object_a (type, (uintptr_t)object, name);                                          \
 }                                                                                                 \
 static void function##_w (Identifier object, const wchar_t *name)                                 \
 {                                                                                                 \
  lns_nvtx_name_object_w (type, (uintptr_t)object, name);                                          \
 }

HANDLERS (cuda_device, int, LNS_NVTX_RESOURCE_CUDA_DEVICE)
HANDLERS (cuda_context, const void *, LNS_NVTX_RESOURCE_CUDA_CONTEXT)
HANDLERS (cuda_stream, const void *, LNS_NVTX_RESOURCE_CUDA_STREAM)
HANDLERS (cuda_event, const void *, LNS_NVTX_RESOURCE_CUDA_EVENT)
HANDLERS (cudart_device, int, LNS_NVTX_RESOURCE_CUDART_DEVICE)
HANDLERS (cudart_stream, const void *, LNS_NVTX_RESOURCE_CUDART_STREAM)
HANDLERS (cudart_event, const void *, LNS_NVTX_RESOURCE_CUDART_EVENT)
HANDLERS (opencl_device, const void *, LNS_NVTX_RESOURCE_OPENCL_DEVICE)
HANDLERS (opencl_context, const void *, LNS_NVTX_RESOURCE_OPENCL_CONTEXT)
HANDLERS (opencl_command_queue, const void *, LNS_NVTX_RESOURCE_OPENCL_COMMAND_QUEUE)
HANDLERS (opencl_mem_object, const void *, LNS_NVTX_RESOURCE_OPENCL_MEM_OBJECT)
HANDLERS (opencl_sampler, const void *, LNS_NVTX_RESOURCE_OPENCL_SAMPLER)
HANDLERS (opencl_program, const void *, LNS_NVTX_RESOURCE_OPENCL_PROGRAM)
HANDLERS (opencl_event, const void *, LNS_NVTX_RESOURCE_OPENCL_EVENT)

#define SLOTS(slot, function)                                                                      \
 { slot, (LnsNvtxFunction)function##_a }, { slot + 1, (LnsNvtxFunction)function##_w }

const LnsNvtxHandler lns_cuda_handlers[] = {
  SLOTS (LNS_NVTX_CUDA_NAME_DEVICE_A, cuda_device),
  SLOTS (LNS_NVTX_CUDA_NAME_CONTEXT_A, cuda_context),
  SLOTS (LNS_NVTX_CUDA_NAME_STREAM_A, cuda_stream),
  SLOTS (LNS_NVTX_CUDA_NAME_EVENT_A, cuda_event),
  { 0, NULL },
};

const LnsNvtxHandler lns_cudart_handlers[] = {
  SLOTS (LNS_NVTX_CUDART_NAME_DEVICE_A, cudart_device),
  SLOTS (LNS_NVTX_CUDART_NAME_STREAM_A, cudart_stream),
  SLOTS (LNS_NVTX_CUDART_NAME_EVENT_A, cudart_event),
  { 0, NULL },
};

const LnsNvtxHandler lns_opencl_handlers[] = {
  SLOTS (LNS_NVTX_OPENCL_NAME_DEVICE_A, opencl_device),
  SLOTS (LNS_NVTX_OPENCL_NAME_CONTEXT_A, opencl_context),
  SLOTS (LNS_NVTX_OPENCL_NAME_COMMAND_QUEUE_A, opencl_command_queue),
  SLOTS (LNS_NVTX_OPENCL_NAME_MEM_OBJECT_A, opencl_mem_object),
  SLOTS (LNS_NVTX_OPENCL_NAME_SAMPLER_A, opencl_sampler),
  SLOTS (LNS_NVTX_OPENCL_NAME_PROGRAM_A, opencl_program),
  SLOTS (LNS_NVTX_OPENCL_NAME_EVENT_A, opencl_event),
  { 0, NULL },
};

/* A lock's handle, as without a tool. */
static const void *
sync_create (const void *domain, const void *attributes)
{
  lns_nvtx_miss ("NVTX's events of locks");
  return NULL;
}

const LnsNvtxHandler lns_sync_handlers[] = {
  { LNS_NVTX_SYNC_CREATE, (LnsNvtxFunction)sync_create },
  { 0, NULL },
};
