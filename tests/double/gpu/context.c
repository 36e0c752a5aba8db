/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Contexts, and the current context of each thread. */

#include "tests/double/gpu/private.h"

#include <stdlib.h>

#define MAX_DEVICES              16
#define MAX_DEPTH                16
#define CONTEXT_CREATED          1 /* CUPTI_CBID_RESOURCE_… */
#define CONTEXT_DESTROY_STARTING 2

static CUcontext contexts;
static CUcontext primaries[MAX_DEVICES];
static uint32_t last_context;
static __thread CUcontext stack[MAX_DEPTH];
static __thread int depth;
static __thread int runtime_device;

CUcontext
lns_gpu_context_current (void)
{
  return depth > 0 ? stack[depth - 1] : NULL;
}

void
lns_gpu_context_set_current (CUcontext context)
{
  if (depth == 0)
    depth = 1;
  stack[depth - 1] = context;
}

int
lns_gpu_context_push (CUcontext context)
{
  if (depth == MAX_DEPTH)
    return CUDA_ERROR_OUT_OF_MEMORY;
  stack[depth++] = context;
  return 0;
}

int
lns_gpu_context_pop (CUcontext *ret_context)
{
  if (depth == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  CUcontext popped = stack[--depth];
  if (ret_context != NULL)
    *ret_context = popped;
  return 0;
}

/* Contexts are never freed: records and threads may refer to a destroyed one. */
static CUcontext
context_new (int device, bool primary)
{
  CUcontext context = calloc (1, sizeof *context);
  context->device = device;
  context->primary = primary;
  context->references = 1;
  LNS_GPU_LOCK ();
  context->id = ++last_context;
  context->null_stream = _lns_gpu_stream_new (context, 0, 0, 0);
  context->next = contexts;
  contexts = context;
  LNS_GPU_UNLOCK ();
  LNS_GPU_TELL (resource, CONTEXT_CREATED, context, NULL, NULL);
  return context;
}

int
lns_gpu_context_create (int device, CUcontext *ret_context)
{
  if (lns_gpu_device (device) == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  *ret_context = context_new (device, false);
  return lns_gpu_context_push (*ret_context);
}

int
lns_gpu_context_destroy (CUcontext context)
{
  if (context == NULL || context->destroyed)
    return CUDA_ERROR_INVALID_CONTEXT;
  LNS_GPU_LOCK ();
  int64_t ready_ns = _lns_gpu_context_ready (context);
  LNS_GPU_UNLOCK ();
  if (context->fault == 0)
    lns_gpu_wait_until (ready_ns);
  LNS_GPU_TELL (resource, CONTEXT_DESTROY_STARTING, context, NULL, NULL);
  LNS_GPU_LOCK ();
  context->destroyed = true;
  for (CUcontext *link = &contexts; *link != NULL; link = &(*link)->next)
    if (*link == context)
      {
        *link = context->next;
        break;
      }
  _lns_gpu_release_context_memory (context->id);
  LNS_GPU_UNLOCK ();
  if (lns_gpu_context_current () == context)
    lns_gpu_context_pop (NULL);
  return 0;
}

int
lns_gpu_primary_retain (int device, CUcontext *ret_context)
{
  static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
  if (lns_gpu_device (device) == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  pthread_mutex_lock (&creation);
  if (primaries[device] == NULL)
    primaries[device] = context_new (device, true);
  else
    primaries[device]->references++;
  *ret_context = primaries[device];
  pthread_mutex_unlock (&creation);
  return 0;
}

int
lns_gpu_primary_reset (int device)
{
  if (lns_gpu_device (device) == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  CUcontext context = primaries[device];
  primaries[device] = NULL;
  return context != NULL ? lns_gpu_context_destroy (context) : 0;
}

int
lns_gpu_primary_release (int device)
{
  if (lns_gpu_device (device) == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  if (primaries[device] == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  return --primaries[device]->references == 0 ? lns_gpu_primary_reset (device) : 0;
}

bool
lns_gpu_primary_is_active (int device)
{
  return lns_gpu_device (device) != NULL && primaries[device] != NULL;
}

int
lns_gpu_runtime_device (void)
{
  CUcontext context = lns_gpu_context_current ();
  return context != NULL && !context->destroyed ? context->device : runtime_device;
}

int
lns_gpu_set_runtime_device (int device)
{
  if (lns_gpu_device (device) == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  runtime_device = device;
  CUcontext context;
  int result = lns_gpu_primary_retain (device, &context);
  if (result == 0)
    lns_gpu_context_set_current (context);
  return result;
}

int
lns_gpu_context_ensure (CUcontext *ret_context)
{
  CUcontext context = lns_gpu_context_current ();
  if (context == NULL || context->destroyed)
    {
      int result = lns_gpu_primary_retain (runtime_device, &context);
      if (result != 0)
        return result;
      lns_gpu_context_set_current (context);
    }
  *ret_context = context;
  return context->fault;
}

void
lns_gpu_each_context (void (*each) (CUcontext context, void *data), void *data)
{
  CUcontext found[64];
  size_t n = 0;
  LNS_GPU_LOCK ();
  for (CUcontext context = contexts; context != NULL && n < 64; context = context->next)
    found[n++] = context;
  LNS_GPU_UNLOCK ();
  while (n > 0)
    each (found[--n], data);
}

void
lns_gpu_each_stream (void (*each) (CUstream stream, void *data), void *data)
{
  CUstream found[1024];
  size_t n = 0;
  LNS_GPU_LOCK ();
  for (CUcontext context = contexts; context != NULL; context = context->next)
    for (CUstream stream = context->streams; stream != NULL && n < 1024; stream = stream->next)
      found[n++] = stream;
  LNS_GPU_UNLOCK ();
  while (n > 0)
    each (found[--n], data);
}
