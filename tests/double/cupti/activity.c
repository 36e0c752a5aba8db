/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which kinds are recorded, and the entry points that enable and disable them. */

#include "tests/double/cupti/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CBIDS      2048
#define MAX_EXTERNAL   64
#define EXTERNAL_KINDS 16

static uint8_t enabled[LNS_CUPTI_KINDS];
static uint8_t api_changed[3][MAX_CBIDS]; /* by domain: 0 as the kind, 1 on, 2 off */
static CUpti_ActivityThreadIdType thread_type;
static uint8_t wants_latency, wants_event_times;
static uint8_t wants_all_syncs = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_driver;

static __thread uint64_t external_ids[EXTERNAL_KINDS][MAX_EXTERNAL];
static __thread uint8_t n_external[EXTERNAL_KINDS];

static void
start (void)
{
  has_driver = dlopen ("libcuda.so.1", RTLD_NOW) != NULL;
  _lns_cupti_set_clock (NULL);
  if (has_driver)
    lns_gpu_set_tracer (&_lns_cupti_tracer);
}

CUptiResult
_lns_cupti_enter (const char *function, long argument)
{
  pthread_once (&once, start);
  int wanted = lns_gpu_wanted_failure (function, argument);
  if (wanted != 0)
    return (CUptiResult)wanted;
  return has_driver && !lns_gpu_is_forked () ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

bool
_lns_cupti_is_enabled (uint32_t kind)
{
  return kind < LNS_CUPTI_KINDS && __atomic_load_n (&enabled[kind], __ATOMIC_RELAXED) != 0;
}

bool
_lns_cupti_api_is_enabled (uint32_t domain, uint32_t cbid)
{
  uint32_t kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                        : CUPTI_ACTIVITY_KIND_DRIVER;
  uint8_t changed =
      cbid < MAX_CBIDS ? __atomic_load_n (&api_changed[domain][cbid], __ATOMIC_RELAXED) : 0;
  return changed == 0 ? _lns_cupti_is_enabled (kind) : changed == 1;
}

uint32_t
_lns_cupti_thread (void)
{
  return thread_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? (uint32_t)gettid ()
                                                             : (uint32_t)pthread_self ();
}

bool
_lns_cupti_wants_latency (void)
{
  return wants_latency != 0;
}

bool
_lns_cupti_wants_all_syncs (void)
{
  return wants_all_syncs != 0;
}

bool
_lns_cupti_wants_event_times (void)
{
  return wants_event_times != 0;
}

bool
_lns_cupti_external (uint32_t kind, uint64_t *ret_id)
{
  if (kind >= EXTERNAL_KINDS || n_external[kind] == 0)
    return false;
  *ret_id = external_ids[kind][n_external[kind] - 1];
  return true;
}

static CUptiResult
enable (CUpti_ActivityKind kind, bool on)
{
  if (_lns_cupti_record_bytes (kind) == 0)
    return CUPTI_ERROR_INVALID_KIND;
  __atomic_store_n (&enabled[kind], on, __ATOMIC_RELAXED);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY)
    __atomic_store_n (&enabled[CUPTI_ACTIVITY_KIND_MEMCPY2], on, __ATOMIC_RELAXED);
  uint32_t domain = kind == CUPTI_ACTIVITY_KIND_RUNTIME  ? CUPTI_CB_DOMAIN_RUNTIME_API
                    : kind == CUPTI_ACTIVITY_KIND_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
                                                         : 0;
  for (uint32_t cbid = 0; domain != 0 && cbid < MAX_CBIDS; cbid++)
    __atomic_store_n (&api_changed[domain][cbid], 0, __ATOMIC_RELAXED);
  if (on)
    _lns_cupti_start_worker ();
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnable (CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER (kind);
  return enable (kind, true);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableAndDump (CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER (kind);
  CUptiResult result = enable (kind, true);
  if (result == CUPTI_SUCCESS)
    _lns_cupti_dump (kind);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiActivityDisable (CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER (kind);
  return enable (kind, false);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableContext (CUcontext context, CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER (kind);
  return context == NULL ? CUPTI_ERROR_INVALID_CONTEXT : enable (kind, true);
}

LNS_CUPTI_API CUptiResult
cuptiActivityDisableContext (CUcontext context, CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER (kind);
  return context == NULL ? CUPTI_ERROR_INVALID_CONTEXT : enable (kind, false);
}

static CUptiResult
change_api (uint32_t domain, CUpti_CallbackId cbid, uint8_t on)
{
  if (cbid >= MAX_CBIDS)
    return CUPTI_ERROR_INVALID_PARAMETER;
  __atomic_store_n (&api_changed[domain][cbid], on ? 1 : 2, __ATOMIC_RELAXED);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableRuntimeApi (CUpti_CallbackId cbid, uint8_t on)
{
  LNS_CUPTI_ENTER (cbid);
  return change_api (CUPTI_CB_DOMAIN_RUNTIME_API, cbid, on);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableDriverApi (CUpti_CallbackId cbid, uint8_t on)
{
  LNS_CUPTI_ENTER (cbid);
  return change_api (CUPTI_CB_DOMAIN_DRIVER_API, cbid, on);
}

LNS_CUPTI_API CUptiResult
cuptiActivityRegisterTimestampCallback (CUpti_TimestampCallbackFunc funcTimestamp)
{
  LNS_CUPTI_ENTER (-1);
  if (funcTimestamp == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  _lns_cupti_set_clock (funcTimestamp);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiSetThreadIdType (CUpti_ActivityThreadIdType type)
{
  LNS_CUPTI_ENTER (type);
  if (type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  thread_type = type;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetThreadIdType (CUpti_ActivityThreadIdType *type)
{
  LNS_CUPTI_ENTER (-1);
  *type = thread_type;
  return CUPTI_SUCCESS;
}

/* Works without a driver, as in NVIDIA's library. */
LNS_CUPTI_API CUptiResult
cuptiGetTimestamp (uint64_t *result)
{
  if (result == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *result = _lns_cupti_now ();
  return CUPTI_SUCCESS;
}

#define SWITCH(NAME, VARIABLE)                                                                     \
 LNS_CUPTI_API CUptiResult NAME (uint8_t on)                                                       \
 {                                                                                                 \
  LNS_CUPTI_ENTER (on);                                                                            \
  VARIABLE = on;                                                                                   \
  return CUPTI_SUCCESS;                                                                            \
 }

static uint8_t device_graph, launch_attributes, allocation_source;
SWITCH (cuptiActivityEnableLatencyTimestamps, wants_latency)
SWITCH (cuptiActivityEnableLaunchAttributes, launch_attributes)
SWITCH (cuptiActivityEnableDeviceGraph, device_graph)
SWITCH (cuptiActivityEnableAllocationSource, allocation_source)
SWITCH (cuptiActivityEnableAllSyncRecords, wants_all_syncs)
SWITCH (cuptiActivityEnableCudaEventDeviceTimestamps, wants_event_times)

/* The double does not simulate hardware events. */
LNS_CUPTI_API CUptiResult
cuptiActivityEnableHWTrace (uint8_t on)
{
  LNS_CUPTI_ENTER (on);
  return on ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityPushExternalCorrelationId (CUpti_ExternalCorrelationKind kind, uint64_t id)
{
  LNS_CUPTI_ENTER (kind);
  if ((uint32_t)kind >= EXTERNAL_KINDS || n_external[kind] == MAX_EXTERNAL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  external_ids[kind][n_external[kind]++] = id;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityPopExternalCorrelationId (CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
  LNS_CUPTI_ENTER (kind);
  if ((uint32_t)kind >= EXTERNAL_KINDS)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (n_external[kind] == 0)
    return CUPTI_ERROR_QUEUE_EMPTY;
  uint64_t id = external_ids[kind][--n_external[kind]];
  if (lastId != NULL)
    *lastId = id;
  return CUPTI_SUCCESS;
}

/* Requires an initialised driver, as NVIDIA's library does. */
LNS_CUPTI_API CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter (CUpti_ActivityUnifiedMemoryCounterConfig *config,
                                            uint32_t count)
{
  LNS_CUPTI_ENTER (-1);
  if (config == NULL || count == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  return lns_gpu_is_initialized () ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

LNS_CUPTI_API CUptiResult
cuptiFinalize (void)
{
  LNS_CUPTI_ENTER (-1);
  for (uint32_t kind = 0; kind < LNS_CUPTI_KINDS; kind++)
    enable ((CUpti_ActivityKind)kind, false);
  _lns_cupti_collect (LNS_CUPTI_COLLECT_EVERYTHING);
  _lns_cupti_deliver (true);
  _lns_cupti_stop_worker ();
  _lns_cupti_drop_subscriber ();
  return CUPTI_SUCCESS;
}
