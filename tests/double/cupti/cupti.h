/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files of the stand-in for libcupti. */

#pragma once

#include "tests/double/gpu/gpu.h"

#include <cupti.h>

#include <pthread.h>

#define LNS_CUPTI_API __attribute__ ((visibility ("default")))

#define LNS_CUPTI_KINDS 64 /* more than any version knows */

/* Every entry point calls this first. Returns the failure that LNS_DOUBLE_FAIL asks for, CUPTI_ERROR_UNKNOWN
 * if the stand-in for libcuda is not loaded (NVIDIA's library does the same), and CUPTI_SUCCESS otherwise. */
CUptiResult _lns_cupti_enter (const char *function, long argument);

#define LNS_CUPTI_ENTER(ARGUMENT)                                                                  \
 do                                                                                                \
  {                                                                                                \
   CUptiResult entered = _lns_cupti_enter (__func__, ARGUMENT);                                    \
   if (entered != CUPTI_SUCCESS)                                                                   \
    return entered;                                                                                \
  }                                                                                                \
 while (0)

/* Settings from the environment. They are read once, because a program may change its environment. */
typedef struct
{
  uint32_t version;
  int per_thread;  /* buffers by thread: 1, 0, or -1: as the client's attribute says */
  size_t drop;     /* drop every Nth record; 0: none */
  size_t together; /* deliver records in groups of this size, in reverse order */
  int64_t late_ns;
  size_t held;
  long gpu_offset_ns;
  long gpu_drift_ppm;
  long own_offset_ns, own_drift_ppm; /* of the library's own clock */
  const char *other_tool;            /* NULL: none */
} LnsCuptiOptions;

const LnsCuptiOptions *_lns_cupti_options (void);

/* --- generations -------------------------------------------------------------------------------- */

/* Bytes of a record of KIND in the version that is played; 0 for kinds that it does not record. */
size_t _lns_cupti_record_bytes (uint32_t kind);

/* --- time --------------------------------------------------------------------------------------- */

/* The client's clock is CALLBACK; CLOCK_REALTIME with LNS_DOUBLE_CUPTI_CLOCK's error, if that is NULL. */
void _lns_cupti_set_clock (CUpti_TimestampCallbackFunc callback);

uint64_t _lns_cupti_now (void);

/* TIME_NS of CLOCK_MONOTONIC in that clock; GPU times carry LNS_DOUBLE_GPU_CLOCK's error. */
uint64_t _lns_cupti_time (int64_t time_ns, bool is_gpu);

/* --- subscriber --------------------------------------------------------------------------------- */

/* Calls the subscriber where it enabled (DOMAIN, CBID). */
void _lns_cupti_call_back (CUpti_CallbackDomain domain, uint32_t cbid, const void *data);
bool _lns_cupti_wants (CUpti_CallbackDomain domain, uint32_t cbid);
void _lns_cupti_drop_subscriber (void);

/* --- buffers ------------------------------------------------------------------------------------ */

/* Copies RECORD, of its kind's size in this version, into the calling thread's buffer; records of
 * the GPU go to the one buffer they share. Counted as dropped where there is no room. */
void _lns_cupti_write (const void *record, bool is_gpu);

/* Hands every full buffer to the client; with FLUSH also those that hold any record. */
void _lns_cupti_deliver (bool flush);

/* Starts the worker thread, once. */
void _lns_cupti_start_worker (void);
void _lns_cupti_stop_worker (void);

/* --- records ------------------------------------------------------------------------------------ */

extern const LnsGpuTracer _lns_cupti_tracer;

bool _lns_cupti_is_enabled (uint32_t kind);
bool _lns_cupti_api_is_enabled (uint32_t domain, uint32_t cbid);
uint32_t _lns_cupti_thread (void);
bool _lns_cupti_wants_latency (void);
bool _lns_cupti_wants_all_syncs (void);
bool _lns_cupti_wants_event_times (void);

/* The innermost external id that the thread pushed for KIND; FALSE without one. */
bool _lns_cupti_external (uint32_t kind, uint64_t *ret_id);

typedef enum
{
  LNS_CUPTI_COLLECT_IF_FREE,    /* what has ended, unless another thread is at it */
  LNS_CUPTI_COLLECT_ENDED,      /* what has ended, and what another thread has taken */
  LNS_CUPTI_COLLECT_EVERYTHING, /* also the rest, which then has no times */
} LnsCuptiCollect;

/* Keeps OP until it has ended; writes what was kept. */
void _lns_cupti_keep (const LnsGpuOp *op);
void _lns_cupti_collect (LnsCuptiCollect how);

void _lns_cupti_write_op (const LnsGpuOp *op, bool is_complete);
void _lns_cupti_write_devices (void);
void _lns_cupti_dump (uint32_t kind);
