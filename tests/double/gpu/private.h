/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files of the simulated GPU. */

#pragma once

#include "tests/double/gpu/gpu.h"

#include <pthread.h>

/* Guards everything except the options. It is never held while the tracer may call the program. */
extern pthread_mutex_t _lns_gpu_lock;
extern const LnsGpuTracer *_lns_gpu_tracer;

#define LNS_GPU_LOCK()   pthread_mutex_lock (&_lns_gpu_lock)
#define LNS_GPU_UNLOCK() pthread_mutex_unlock (&_lns_gpu_lock)

/* Calls FUNCTION of the tracer, if there is one and it has that function. */
#define LNS_GPU_TELL(MEMBER, ...)                                                                  \
 do                                                                                                \
  {                                                                                                \
   const LnsGpuTracer *told = __atomic_load_n (&_lns_gpu_tracer, __ATOMIC_ACQUIRE);                \
   if (told != NULL)                                                                               \
    told->MEMBER (__VA_ARGS__);                                                                    \
  }                                                                                                \
 while (0)

/* The caller holds the lock. */
CUstream _lns_gpu_stream_new (CUcontext context, unsigned flags, int priority, pid_t thread);
void _lns_gpu_schedule (CUstream stream, LnsGpuOp *op);
void _lns_gpu_schedule_node (CUstream stream, LnsGpuOp *op, int64_t earliest_ns);
/* Waits, without the lock, while OP ends too far in the future: queues have a limited length. */
void _lns_gpu_hold_back (const LnsGpuOp *op);
int64_t _lns_gpu_context_ready (CUcontext context);

/* Calls the host function of OP on this thread, and tells of it. No lock is held. */
void _lns_gpu_run_host (LnsGpuOp *op);

/* Copies or sets OP's data, or calls its host function. */
void _lns_gpu_execute (const LnsGpuOp *op);

/* Returns how long OP takes on DEVICE in ns, without the time it waits. */
int64_t _lns_gpu_duration (const LnsGpuOp *op, const LnsGpuDevice *device);

void _lns_gpu_migrate_managed (CUcontext context, int64_t start_ns);
void _lns_gpu_release_context_memory (uint32_t context);

/* Map memory as WANTED describes, at an address of the system's choice, and unmap it, without a record. */
int _lns_gpu_allocate (const LnsGpuAllocation *wanted, LnsGpuAllocation *ret_made);
void _lns_gpu_forget (void *address);

/* Adds OP to the graph that STREAM is captured into. */
int _lns_gpu_capture (CUstream stream, const LnsGpuOp *op);
bool _lns_gpu_joins_capture (CUstream stream, const LnsGpuOp *op);
void _lns_gpu_lose_context (CUcontext context, int result);
