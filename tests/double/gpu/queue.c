/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Virtual time: computes when each operation starts and ends, and what it does to memory. */

#include "tests/double/gpu/private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEVICES       16
#define LAUNCH_LATENCY_NS 2000
#define KERNEL_BASE_NS    2000
#define COPY_BASE_NS      1500
#define SET_BASE_NS       1200
#define BACKLOG_NS        250000000

/* Bytes a nanosecond. */
#define PAGEABLE_RATE 6
#define PINNED_RATE   24
#define HOST_RATE     10
#define PEER_RATE     100
#define DEVICE_RATE   1500

#define COPY_HTOD 1 /* CUpti_ActivityMemcpyKind */
#define COPY_DTOH 2
#define COPY_DTOD 8
#define COPY_HTOH 9
#define COPY_PTOP 10

/* A device has one copy engine for each direction, on which copies wait for each other. */
typedef enum
{
  ENGINE_TO_DEVICE,
  ENGINE_TO_HOST,
  ENGINE_PEER,
  N_ENGINES,
} Engine;

/* When an engine is at work, in order: copies that were queued later go first where they may begin earlier. */
#define N_TURNS 64
typedef struct
{
  int64_t start_ns[N_TURNS], end_ns[N_TURNS];
  unsigned n;
} Turns;

static Turns engine_turns[MAX_DEVICES][N_ENGINES];

static uint64_t
volume (const uint32_t size[3])
{
  return (uint64_t)size[0] * size[1] * size[2];
}

static bool
is_pageable (const LnsGpuCopy *copy)
{
  return copy->src_kind == LNS_GPU_MEMORY_PAGEABLE || copy->dst_kind == LNS_GPU_MEMORY_PAGEABLE;
}

static int64_t
copy_duration (const LnsGpuCopy *copy)
{
  uint64_t bytes = (uint64_t)copy->width_bytes * copy->height;
  uint64_t rate = is_pageable (copy) ? PAGEABLE_RATE : PINNED_RATE;
  const int64_t slowness = lns_gpu_option ("LNS_DOUBLE_SLOW_COPIES", 1);
  if (copy->kind == COPY_DTOD)
    rate = DEVICE_RATE;
  else if (copy->kind == COPY_PTOP)
    rate = PEER_RATE;
  else if (copy->kind == COPY_HTOH)
    rate = HOST_RATE;
  return COPY_BASE_NS + (int64_t)bytes * slowness / (int64_t)rate;
}

/* A kernel takes as many waves as its threads need at 2,048 threads per multiprocessor. */
int64_t
_lns_gpu_duration (const LnsGpuOp *op, const LnsGpuDevice *device)
{
  uint64_t threads, resident;
  switch (op->kind)
    {
    case LNS_GPU_OP_KERNEL:
      threads = volume (op->kernel.block);
      resident = (uint64_t)device->n_multiprocessors * 2048;
      return KERNEL_BASE_NS + (int64_t)((volume (op->kernel.grid) * threads + resident - 1) /
                                        resident * (1000 + threads));
    case LNS_GPU_OP_COPY:
      return copy_duration (&op->copy);
    case LNS_GPU_OP_SET:
      return SET_BASE_NS + (int64_t)((uint64_t)op->set.width * op->set.height *
                                     op->set.element_bytes / DEVICE_RATE);
    default:
      return 0;
    }
}

static Turns *
engine_of (const LnsGpuOp *op)
{
  if (op->kind != LNS_GPU_OP_COPY)
    return NULL;
  switch (op->copy.kind)
    {
    case COPY_HTOD:
      return &engine_turns[op->device][ENGINE_TO_DEVICE];
    case COPY_DTOH:
      return &engine_turns[op->device][ENGINE_TO_HOST];
    case COPY_PTOP:
      return &engine_turns[op->device][ENGINE_PEER];
    default:
      return NULL;
    }
}

static int64_t
later (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Gives a copy of LASTS_NS its turn on ENGINE, at EARLIEST_NS or later. Returns when that begins. */
static int64_t
take_turn (Turns *engine, int64_t earliest_ns, int64_t lasts_ns)
{
  unsigned i = 0;

  for (; i < engine->n && earliest_ns + lasts_ns > engine->start_ns[i]; i++)
    earliest_ns = later (earliest_ns, engine->end_ns[i]);
  if (engine->n == N_TURNS && i > 0)
    {
      memmove (engine->start_ns, engine->start_ns + 1, (N_TURNS - 1) * sizeof *engine->start_ns);
      memmove (engine->end_ns, engine->end_ns + 1, (N_TURNS - 1) * sizeof *engine->end_ns);
      engine->n--;
      i--;
    }
  if (engine->n == N_TURNS)
    return earliest_ns;
  memmove (engine->start_ns + i + 1, engine->start_ns + i,
           (engine->n - i) * sizeof *engine->start_ns);
  memmove (engine->end_ns + i + 1, engine->end_ns + i, (engine->n - i) * sizeof *engine->end_ns);
  engine->start_ns[i] = earliest_ns;
  engine->end_ns[i] = earliest_ns + lasts_ns;
  engine->n++;
  return earliest_ns;
}

/* Sets when OP begins, no earlier than EARLIEST_NS, and when it ends. */
static void
set_times (LnsGpuOp *op, int64_t earliest_ns)
{
  const int64_t lasts_ns = _lns_gpu_duration (op, lns_gpu_device ((int)op->device));
  Turns *engine = engine_of (op);

  op->start_ns = engine != NULL ? take_turn (engine, earliest_ns, lasts_ns) : earliest_ns;
  op->end_ns = op->start_ns + lasts_ns;
}

/* Blocking streams and the null stream wait for each other. */
static int64_t
stream_free_at (CUstream stream)
{
  CUcontext context = stream->context;
  int64_t free_ns = stream->ready_ns;
  if ((stream->flags & CU_STREAM_NON_BLOCKING) != 0)
    return free_ns;
  if (stream != context->null_stream)
    return later (free_ns, context->null_stream->ready_ns);
  for (CUstream other = context->streams; other != NULL; other = other->next)
    if ((other->flags & CU_STREAM_NON_BLOCKING) == 0)
      free_ns = later (free_ns, other->ready_ns);
  return free_ns;
}

/* Sets the ids and the times of OP, the next operation on STREAM. */
void
_lns_gpu_schedule (CUstream stream, LnsGpuOp *op)
{
  int64_t now_ns = lns_gpu_now ();
  op->correlation = lns_gpu_correlation ();
  op->device = (uint32_t)stream->context->device;
  op->context = stream->context->id;
  op->stream = stream->id;
  op->queued_ns = now_ns;
  op->start_ns = later (stream_free_at (stream), now_ns);
  if (op->kind <= LNS_GPU_OP_SET)
    op->start_ns = later (op->start_ns, now_ns + LAUNCH_LATENCY_NS);
  if (op->kind == LNS_GPU_OP_EVENT_WAIT && op->event->recorded)
    op->start_ns = later (op->start_ns, op->event->time_ns);
  set_times (op, op->start_ns);
  stream->ready_ns = op->end_ns;
  if (op->kind == LNS_GPU_OP_EVENT_RECORD)
    {
      op->event->recorded = true;
      op->event->time_ns = op->end_ns;
    }
}

/* The same for a node of a graph: it starts when the nodes that it depends on have ended. */
void
_lns_gpu_schedule_node (CUstream stream, LnsGpuOp *op, int64_t earliest_ns)
{
  op->correlation = lns_gpu_correlation ();
  op->device = (uint32_t)stream->context->device;
  op->context = stream->context->id;
  op->stream = stream->id;
  set_times (op, earliest_ns);
}

static void
execute_set (const LnsGpuSet *set)
{
  for (size_t row = 0; row < set->height; row++)
    {
      unsigned char *line = (unsigned char *)set->dst + row * set->pitch_bytes;
      if (set->element_bytes == 1)
        memset (line, (int)set->value, set->width);
      else
        for (size_t i = 0; i < set->width; i++)
          memcpy (line + i * set->element_bytes, &set->value, set->element_bytes);
    }
}

void
_lns_gpu_execute (const LnsGpuOp *op)
{
  if (op->kind == LNS_GPU_OP_COPY)
    for (size_t row = 0; row < op->copy.height; row++)
      memmove ((char *)op->copy.dst + row * op->copy.dst_pitch_bytes,
               (const char *)op->copy.src + row * op->copy.src_pitch_bytes, op->copy.width_bytes);
  else if (op->kind == LNS_GPU_OP_SET)
    execute_set (&op->set);
  else if (op->kind == LNS_GPU_OP_HOST)
    op->host.function (op->host.data);
}

void
_lns_gpu_run_host (LnsGpuOp *op)
{
  op->host.thread = (uint32_t)gettid ();
  op->start_ns = lns_gpu_now ();
  _lns_gpu_execute (op);
  op->end_ns = lns_gpu_now ();
  LNS_GPU_LOCK ();
  LNS_GPU_TELL (op, op);
  LNS_GPU_UNLOCK ();
}

void
_lns_gpu_hold_back (const LnsGpuOp *op)
{
  int64_t start_ns = lns_gpu_now ();
  if (op->end_ns - start_ns <= BACKLOG_NS)
    return;
  lns_gpu_wait_until (op->end_ns - BACKLOG_NS);
  LNS_GPU_TELL (full, start_ns);
}

/* A kernel that faults never ends. Its context is lost, with everything queued after the kernel. */
void
_lns_gpu_lose_context (CUcontext context, int result)
{
  __atomic_store_n (&context->fault, result, __ATOMIC_RELAXED);
  LNS_GPU_TELL (fault, context, result);
}

int
lns_gpu_submit (CUstream stream, LnsGpuOp *op)
{
  CUcontext context = stream->context;
  if (stream->capture != NULL || _lns_gpu_joins_capture (stream, op))
    return _lns_gpu_capture (stream, op);
  if (context->fault != 0)
    return context->fault;
  LNS_GPU_LOCK ();
  _lns_gpu_schedule (stream, op);
  bool faults = op->kind == LNS_GPU_OP_KERNEL && op->kernel.function->faults;
  if (!faults && op->kind <= LNS_GPU_OP_SET)
    LNS_GPU_TELL (op, op);
  LNS_GPU_UNLOCK ();
  if (faults)
    _lns_gpu_lose_context (context, CUDA_ERROR_ILLEGAL_ADDRESS);
  else if (op->kind == LNS_GPU_OP_HOST)
    _lns_gpu_run_host (op);
  else
    {
      _lns_gpu_execute (op);
      _lns_gpu_hold_back (op);
    }
  return 0;
}

int
lns_gpu_launch (CUstream stream, const LnsGpuKernel *kernel)
{
  uint64_t threads = volume (kernel->block);
  if (kernel->function == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  if (threads == 0 || threads > 1024 || kernel->block[2] > 64 || volume (kernel->grid) == 0 ||
      kernel->grid[1] > 65535 || kernel->grid[2] > 65535)
    return CUDA_ERROR_INVALID_VALUE;
  LnsGpuOp op = { .kind = LNS_GPU_OP_KERNEL, .kernel = *kernel };
  int64_t start_ns = lns_gpu_now ();
  if (!__atomic_exchange_n (&kernel->function->loaded, true, __ATOMIC_RELAXED))
    LNS_GPU_TELL (first_launch, kernel->function, start_ns);
  if (stream->capture == NULL)
    _lns_gpu_migrate_managed (stream->context, start_ns);
  return lns_gpu_submit (stream, &op);
}

static bool
is_device_kind (uint8_t kind)
{
  return kind == LNS_GPU_MEMORY_DEVICE || kind == LNS_GPU_MEMORY_DEVICE_STATIC;
}

void
lns_gpu_classify_copy (LnsGpuCopy *copy)
{
  LnsGpuAllocation src = { .kind = LNS_GPU_MEMORY_PAGEABLE, .device = -1 };
  LnsGpuAllocation dst = { .kind = LNS_GPU_MEMORY_PAGEABLE, .device = -1 };
  lns_gpu_find_allocation (copy->src, &src);
  lns_gpu_find_allocation (copy->dst, &dst);
  copy->src_kind = (uint8_t)src.kind;
  copy->dst_kind = (uint8_t)dst.kind;
  copy->src_device = src.device;
  copy->dst_device = dst.device;
  bool from_device =
      is_device_kind (copy->src_kind) || (src.kind == LNS_GPU_MEMORY_MANAGED && src.on_device);
  bool to_device =
      is_device_kind (copy->dst_kind) || (dst.kind == LNS_GPU_MEMORY_MANAGED && dst.on_device);
  if (from_device && to_device)
    copy->kind = src.device != dst.device ? COPY_PTOP : COPY_DTOD;
  else
    copy->kind = to_device ? COPY_HTOD : from_device ? COPY_DTOH : COPY_HTOH;
}

int
lns_gpu_copy (CUstream stream, const LnsGpuCopy *copy)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_COPY, .copy = *copy };
  if (copy->width_bytes == 0 || copy->height == 0)
    return 0;
  if (copy->dst == NULL || copy->src == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  lns_gpu_classify_copy (&op.copy);
  if (!copy->async && stream->capture != NULL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  int result = lns_gpu_submit (stream, &op);
  /* Memory that the GPU cannot read goes through a buffer of the driver's: calls wait for that. */
  if (result == 0 && stream->capture == NULL && (!copy->async || is_pageable (&op.copy)))
    {
      lns_gpu_wait_until (op.end_ns);
      result = stream->context->fault;
    }
  return result;
}

int
lns_gpu_set (CUstream stream, const LnsGpuSet *set)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_SET, .set = *set };
  LnsGpuAllocation found;
  if (set->width == 0 || set->height == 0)
    return 0;
  if (!lns_gpu_find_allocation (set->dst, &found))
    return CUDA_ERROR_INVALID_VALUE;
  op.set.memory_kind = (uint8_t)found.kind;
  if (!set->async && stream->capture != NULL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return lns_gpu_submit (stream, &op);
}
