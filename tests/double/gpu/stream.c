/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Streams, events, and waiting for both. */

#include "tests/double/gpu/private.h"

#include <stdlib.h>
#include <unistd.h>

#define STREAM_CREATED          3 /* CUPTI_CBID_RESOURCE_… */
#define STREAM_DESTROY_STARTING 4

/* CUpti_ActivitySynchronizationType */
#define SYNC_EVENT       1
#define SYNC_STREAM_WAIT 2
#define SYNC_STREAM      3
#define SYNC_CONTEXT     4

static uint32_t last_stream = 6; /* the first context's null stream is 7, as on a real driver */
static uint32_t last_event;
static uint64_t last_event_sync;

CUstream
_lns_gpu_stream_new (CUcontext context, unsigned flags, int priority, pid_t thread)
{
  CUstream stream = calloc (1, sizeof *stream);
  stream->id = ++last_stream;
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->thread = thread;
  stream->next = context->streams;
  context->streams = stream;
  return stream;
}

static CUstream
per_thread_stream (CUcontext context)
{
  pid_t thread = gettid ();
  LNS_GPU_LOCK ();
  CUstream stream = context->streams;
  while (stream != NULL && stream->thread != thread)
    stream = stream->next;
  bool made = stream == NULL;
  if (made)
    stream = _lns_gpu_stream_new (context, CU_STREAM_DEFAULT, 0, thread);
  LNS_GPU_UNLOCK ();
  if (made)
    LNS_GPU_TELL (resource, STREAM_CREATED, context, stream, NULL);
  return stream;
}

int
lns_gpu_stream_resolve (CUstream handle, bool per_thread, CUstream *ret_stream)
{
  CUcontext context = lns_gpu_context_current ();
  if (context == NULL || context->destroyed)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (handle == CU_STREAM_PER_THREAD || (handle == NULL && per_thread))
    *ret_stream = per_thread_stream (context);
  else if (handle == NULL || handle == CU_STREAM_LEGACY)
    *ret_stream = context->null_stream;
  else
    *ret_stream = handle;
  return context->fault;
}

int
lns_gpu_stream_create (unsigned flags, int priority, CUstream *ret_stream)
{
  CUcontext context = lns_gpu_context_current ();
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  LNS_GPU_LOCK ();
  *ret_stream = _lns_gpu_stream_new (context, flags, priority, 0);
  LNS_GPU_UNLOCK ();
  LNS_GPU_TELL (resource, STREAM_CREATED, context, *ret_stream, NULL);
  return 0;
}

/* The stream is not freed: an event or a record may refer to it. */
int
lns_gpu_stream_destroy (CUstream stream)
{
  if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
    return CUDA_ERROR_INVALID_HANDLE;
  LNS_GPU_TELL (resource, STREAM_DESTROY_STARTING, stream->context, stream, NULL);
  LNS_GPU_LOCK ();
  for (CUstream *link = &stream->context->streams; *link != NULL; link = &(*link)->next)
    if (*link == stream)
      {
        *link = stream->next;
        break;
      }
  LNS_GPU_UNLOCK ();
  return 0;
}

int64_t
_lns_gpu_context_ready (CUcontext context)
{
  int64_t ready_ns = 0;
  for (CUstream stream = context->streams; stream != NULL; stream = stream->next)
    if (stream->ready_ns > ready_ns)
      ready_ns = stream->ready_ns;
  return ready_ns;
}

int
lns_gpu_stream_query (CUstream stream)
{
  if (stream->capture != NULL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  int64_t start_ns = lns_gpu_now ();
  LNS_GPU_LOCK ();
  int result = stream->ready_ns > start_ns ? CUDA_ERROR_NOT_READY : stream->context->fault;
  LNS_GPU_UNLOCK ();
  LNS_GPU_TELL (sync, SYNC_STREAM, stream->context, stream->id, NULL, start_ns, result);
  return result;
}

int
lns_gpu_stream_synchronize (CUstream stream)
{
  if (stream->capture != NULL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  int64_t start_ns = lns_gpu_now ();
  LNS_GPU_LOCK ();
  int64_t ready_ns = stream->ready_ns;
  LNS_GPU_UNLOCK ();
  lns_gpu_wait_until (ready_ns);
  int result = stream->context->fault;
  LNS_GPU_TELL (sync, SYNC_STREAM, stream->context, stream->id, NULL, start_ns, result);
  return result;
}

int
lns_gpu_context_synchronize (CUcontext context)
{
  int64_t start_ns = lns_gpu_now ();
  LNS_GPU_LOCK ();
  int64_t ready_ns = _lns_gpu_context_ready (context);
  LNS_GPU_UNLOCK ();
  lns_gpu_wait_until (ready_ns);
  LNS_GPU_TELL (sync, SYNC_CONTEXT, context, 0xFFFFFFFF, NULL, start_ns, context->fault);
  return context->fault;
}

int
lns_gpu_stream_wait_event (CUstream stream, CUevent event)
{
  int64_t start_ns = lns_gpu_now ();
  LnsGpuOp op = { .kind = LNS_GPU_OP_EVENT_WAIT, .event = event };
  int result = lns_gpu_submit (stream, &op);
  if (stream->capture == NULL)
    LNS_GPU_TELL (sync, SYNC_STREAM_WAIT, stream->context, stream->id, event, start_ns, result);
  return result;
}

int
lns_gpu_event_create (unsigned flags, CUevent *ret_event)
{
  CUcontext context = lns_gpu_context_current ();
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  CUevent event = calloc (1, sizeof *event);
  event->context = context;
  event->flags = flags;
  event->id = __atomic_add_fetch (&last_event, 1, __ATOMIC_RELAXED);
  *ret_event = event;
  return 0;
}

/* The event is not freed: a graph may refer to it. */
int
lns_gpu_event_destroy (CUevent event)
{
  return event != NULL ? 0 : CUDA_ERROR_INVALID_HANDLE;
}

int
lns_gpu_event_record (CUevent event, CUstream stream)
{
  if (event == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  event->sync_id = __atomic_add_fetch (&last_event_sync, 1, __ATOMIC_RELAXED);
  event->stream = stream->id;
  LnsGpuOp op = { .kind = LNS_GPU_OP_EVENT_RECORD, .event = event };
  int result = lns_gpu_submit (stream, &op);
  if (result == 0 && stream->capture == NULL)
    LNS_GPU_TELL (event, event, lns_gpu_correlation ());
  return result;
}

int
lns_gpu_event_query (CUevent event)
{
  if (event == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  int64_t start_ns = lns_gpu_now ();
  LNS_GPU_LOCK ();
  int result =
      event->recorded && event->time_ns > start_ns ? CUDA_ERROR_NOT_READY : event->context->fault;
  LNS_GPU_UNLOCK ();
  LNS_GPU_TELL (sync, SYNC_EVENT, event->context, event->stream, event, start_ns, result);
  return result;
}

int
lns_gpu_event_synchronize (CUevent event)
{
  if (event == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  int64_t start_ns = lns_gpu_now ();
  LNS_GPU_LOCK ();
  int64_t time_ns = event->time_ns;
  LNS_GPU_UNLOCK ();
  lns_gpu_wait_until (time_ns);
  LNS_GPU_TELL (sync, SYNC_EVENT, event->context, event->stream, event, start_ns,
                event->context->fault);
  return event->context->fault;
}

int
lns_gpu_event_elapsed (CUevent start, CUevent end, float *ret_ms)
{
  if (start == NULL || end == NULL || !start->recorded || !end->recorded ||
      ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (end->time_ns > lns_gpu_now ())
    return CUDA_ERROR_NOT_READY;
  *ret_ms = (float)((double)(end->time_ns - start->time_ns) / 1e6);
  return 0;
}
