/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files of the simulated GPU share. */

#pragma once

#include "tests/double/gpu/gpu.h"

#include <pthread.h>

/* One lock over everything but the options; never held while a tracer may call the program back. */
extern pthread_mutex_t _lns_gpu_lock;
extern const LnsGpuTracer *_lns_gpu_tracer;

#define LNS_GPU_LOCK()   pthread_mutex_lock (&_lns_gpu_lock)
#define LNS_GPU_UNLOCK() pthread_mutex_unlock (&_lns_gpu_lock)

/* Tells the tracer, where there is one that wants to know. */
#define LNS_GPU_TELL(MEMBER, ...)                                                                  \
 do                                                                                                \
  {                                                                                                \
   const LnsGpuTracer *told = __atomic_load_n (&_lns_gpu_tracer, __ATOMIC_ACQUIRE);                \
   if (told != NULL)                                                                               \
    told->MEMBER (__VA_ARGS__);                                                                    \
  }                                                                                                \
 while (0)

/* With the lock held. */
CUstream _lns_gpu_stream_new (CUcontext context, unsigned flags, int priority, pid_t thread);
void _lns_gpu_schedule (CUstream stream, LnsGpuOp *op);
void _lns_gpu_schedule_node (CUstream stream, LnsGpuOp *op, int64_t earliest_ns);
/* Waits, without the lock, while OP ends too far in the future: a queue is not endless. */
void _lns_gpu_hold_back (const LnsGpuOp *op);
int64_t _lns_gpu_context_ready (CUcontext context);

/* Moves the data of a copy or a set, calls a host function. */
void _lns_gpu_execute (const LnsGpuOp *op);

/* Duration of OP in ns on DEVICE, without waiting. */
int64_t _lns_gpu_duration (const LnsGpuOp *op, const LnsGpuDevice *device);

void _lns_gpu_migrate_managed (CUcontext context, int64_t start_ns);
void _lns_gpu_release_context_memory (uint32_t context);

/* Maps memory as WANTED says but for its address, and unmaps it, telling nobody. */
int _lns_gpu_allocate (const LnsGpuAllocation *wanted, LnsGpuAllocation *ret_made);
void _lns_gpu_forget (void *address);

/* Adds OP to the graph that STREAM captures. */
int _lns_gpu_capture (CUstream stream, const LnsGpuOp *op);
bool _lns_gpu_joins_capture (CUstream stream, const LnsGpuOp *op);
void _lns_gpu_lose_context (CUcontext context, int result);
