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

#define MAX_EXTERNAL   64
#define EXTERNAL_KINDS 16
#define FATAL_GRACE_NS 50000000
#define UNIFIED_OFF_NS 2000000000

static uint32_t counters; /* of unified memory, as bits */
static uint8_t was_disabled[LNS_CUPTI_KINDS];
static bool is_second;
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

static int64_t fatal_ns; /* when the client was told; 0: there was no fatal error */

void
_lns_cupti_set_fatal (void)
{
  __atomic_store_n (&fatal_ns, lns_gpu_now (), __ATOMIC_SEQ_CST);
}

void
_lns_cupti_check_fatal (void)
{
  const int64_t since_ns = __atomic_load_n (&fatal_ns, __ATOMIC_SEQ_CST);
  /* Another thread of the client may be on its way into a call. */
  if (since_ns != 0 && lns_gpu_now () > since_ns + FATAL_GRACE_NS)
    abort ();
}

bool
_lns_cupti_answers (void)
{
  const LnsCuptiOptions *options = _lns_cupti_options ();
  return options->late_driver == 0 || options->version < 130200 || options->version >= 130600 ||
         (lns_gpu_is_initialized () &&
          __atomic_load_n (&_lns_cupti_n_calls, __ATOMIC_RELAXED) >= options->late_driver - 1);
}

static uint32_t n_looking;

uint32_t
_lns_cupti_n_looking (void)
{
  return __atomic_load_n (&n_looking, __ATOMIC_SEQ_CST);
}

static void
look_for_driver (void)
{
  const int64_t look_ns = _lns_cupti_options ()->look_ns;
  if (look_ns == 0 || gettid () == getpid ())
    return;
  __atomic_fetch_add (&n_looking, 1, __ATOMIC_SEQ_CST);
  lns_gpu_wait_until (lns_gpu_now () + look_ns);
  __atomic_fetch_sub (&n_looking, 1, __ATOMIC_SEQ_CST);
}

CUptiResult
_lns_cupti_enter (const char *function, long argument)
{
  pthread_once (&once, start);
  _lns_cupti_check_fatal ();
  int wanted = lns_gpu_wanted_failure (function, argument);
  if (wanted != 0)
    return (CUptiResult)wanted;
  if (!_lns_cupti_answers ())
    {
      look_for_driver ();
      return CUPTI_ERROR_UNKNOWN;
    }
  return has_driver && !lns_gpu_is_forked () ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

bool
_lns_cupti_is_enabled (uint32_t kind)
{
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS && kind < LNS_CUPTI_KINDS; i++)
    if (__atomic_load_n (&_lns_cupti_subscribers[i].enabled[kind], __ATOMIC_RELAXED) != 0)
      return true;
  return false;
}

bool
_lns_cupti_is_second_session (void)
{
  return __atomic_load_n (&is_second, __ATOMIC_RELAXED);
}

/* Whether SUBSCRIBER wants records of the call. */
static bool
wants_api (const struct CUpti_Subscriber_st *subscriber, uint32_t domain, uint32_t cbid)
{
  uint32_t kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                        : CUPTI_ACTIVITY_KIND_DRIVER;
  uint8_t changed = cbid < LNS_CUPTI_CBIDS
                        ? __atomic_load_n (&subscriber->api_changed[domain][cbid], __ATOMIC_RELAXED)
                        : 0;
  return changed == 0 ? __atomic_load_n (&subscriber->enabled[kind], __ATOMIC_RELAXED) != 0
                      : changed == 1;
}

bool
_lns_cupti_api_is_enabled (uint32_t domain, uint32_t cbid)
{
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    if (wants_api (&_lns_cupti_subscribers[i], domain, cbid))
      return true;
  return false;
}

bool
_lns_cupti_gets (const struct CUpti_Subscriber_st *subscriber, const void *record)
{
  uint32_t kind;
  memcpy (&kind, record, sizeof kind);
  if (subscriber->request == NULL && subscriber->request_v2 == NULL)
    return false;
  /* What a single subscriber has disabled since it was launched is recorded all the same. */
  if (!_lns_cupti_is_shared ())
    return true;
  const CUpti_ActivityAPI *call = record;
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
    return wants_api (subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
    return wants_api (subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call->cbid);
  return __atomic_load_n (&subscriber->enabled[kind], __ATOMIC_RELAXED) != 0;
}

uint32_t
_lns_cupti_thread (void)
{
  return _lns_cupti_subscribers[0].thread_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
             ? (uint32_t)gettid ()
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

CUptiResult
_lns_cupti_enable (struct CUpti_Subscriber_st *subscriber, CUpti_ActivityKind kind, bool on)
{
  if (_lns_cupti_record_bytes (kind) == 0)
    return CUPTI_ERROR_INVALID_KIND;
  if ((kind == CUPTI_ACTIVITY_KIND_NVLINK || kind == CUPTI_ACTIVITY_KIND_PCIE) &&
      !_lns_cupti_options ()->topology)
    return CUPTI_ERROR_NOT_SUPPORTED;
  const bool was_on = __atomic_exchange_n (&subscriber->enabled[kind], on, __ATOMIC_RELAXED);
  if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && was_on && !on &&
      _lns_cupti_options ()->version < 130400)
    lns_gpu_wait_until (lns_gpu_now () + UNIFIED_OFF_NS);
  if (was_on && !on)
    __atomic_store_n (&was_disabled[kind], 1, __ATOMIC_RELAXED);
  if (on && __atomic_load_n (&was_disabled[kind], __ATOMIC_RELAXED))
    __atomic_store_n (&is_second, true, __ATOMIC_RELAXED);
  if (was_on != on)
    _lns_cupti_hold (kind, on);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY)
    __atomic_store_n (&subscriber->enabled[CUPTI_ACTIVITY_KIND_MEMCPY2], on, __ATOMIC_RELAXED);
  uint32_t domain = kind == CUPTI_ACTIVITY_KIND_RUNTIME  ? CUPTI_CB_DOMAIN_RUNTIME_API
                    : kind == CUPTI_ACTIVITY_KIND_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
                                                         : 0;
  for (uint32_t cbid = 0; domain != 0 && cbid < LNS_CUPTI_CBIDS; cbid++)
    __atomic_store_n (&subscriber->api_changed[domain][cbid], 0, __ATOMIC_RELAXED);
  if (on)
    _lns_cupti_start_worker ();
  return CUPTI_SUCCESS;
}

static CUptiResult
enable (CUpti_ActivityKind kind, bool on)
{
  return _lns_cupti_enable (&_lns_cupti_subscribers[0], kind, on);
}

void
_lns_cupti_leave (void)
{
  if (!_lns_cupti_use (LNS_CUPTI_SINGLE))
    return;
  for (uint32_t kind = 0; kind < LNS_CUPTI_KINDS; kind++)
    (void)enable ((CUpti_ActivityKind)kind, false);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnable (CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
  return enable (kind, true);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableAndDump (CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
  CUptiResult result = enable (kind, true);
  if (result == CUPTI_SUCCESS)
    _lns_cupti_dump (kind);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiActivityDisable (CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
  /* NVIDIA's library waits forever. */
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && _lns_cupti_options ()->version < 130001 &&
      _lns_cupti_n_in_flush () > 0)
    abort ();
  return enable (kind, false);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableContext (CUcontext context, CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
  return context == NULL ? CUPTI_ERROR_INVALID_CONTEXT : enable (kind, true);
}

LNS_CUPTI_API CUptiResult
cuptiActivityDisableContext (CUcontext context, CUpti_ActivityKind kind)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
  return context == NULL ? CUPTI_ERROR_INVALID_CONTEXT : enable (kind, false);
}

CUptiResult
_lns_cupti_change_api (struct CUpti_Subscriber_st *subscriber,
                       uint32_t domain,
                       CUpti_CallbackId cbid,
                       uint8_t on)
{
  if (cbid >= LNS_CUPTI_CBIDS)
    return CUPTI_ERROR_INVALID_PARAMETER;
  __atomic_store_n (&subscriber->api_changed[domain][cbid], on ? 1 : 2, __ATOMIC_RELAXED);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableRuntimeApi (CUpti_CallbackId cbid, uint8_t on)
{
  LNS_CUPTI_ENTER_SINGLE (cbid);
  return _lns_cupti_change_api (&_lns_cupti_subscribers[0], CUPTI_CB_DOMAIN_RUNTIME_API, cbid, on);
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableDriverApi (CUpti_CallbackId cbid, uint8_t on)
{
  LNS_CUPTI_ENTER_SINGLE (cbid);
  return _lns_cupti_change_api (&_lns_cupti_subscribers[0], CUPTI_CB_DOMAIN_DRIVER_API, cbid, on);
}

LNS_CUPTI_API CUptiResult
cuptiActivityRegisterTimestampCallback (CUpti_TimestampCallbackFunc funcTimestamp)
{
  LNS_CUPTI_ENTER_SINGLE (-1);
  if (funcTimestamp == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  _lns_cupti_set_clock (funcTimestamp);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiSetThreadIdType (CUpti_ActivityThreadIdType type)
{
  LNS_CUPTI_ENTER_SINGLE (type);
  if (type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  _lns_cupti_subscribers[0].thread_type = type;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetThreadIdType (CUpti_ActivityThreadIdType *type)
{
  LNS_CUPTI_ENTER_SINGLE (-1);
  *type = _lns_cupti_subscribers[0].thread_type;
  return CUPTI_SUCCESS;
}

/* Works without a driver, as in NVIDIA's library. */
LNS_CUPTI_API CUptiResult
cuptiGetTimestamp (uint64_t *result)
{
  _lns_cupti_check_fatal ();
  if (result == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (!_lns_cupti_answers ())
    return CUPTI_ERROR_UNKNOWN;
  if (_lns_cupti_is_shared ())
    return CUPTI_ERROR_NOT_COMPATIBLE;
  *result = _lns_cupti_now ();
  return CUPTI_SUCCESS;
}

#define SWITCH(NAME, VARIABLE)                                                                     \
 LNS_CUPTI_API CUptiResult NAME (uint8_t on)                                                       \
 {                                                                                                 \
  LNS_CUPTI_ENTER_SINGLE (on);                                                                     \
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

uint8_t *
_lns_cupti_switch (uint32_t attribute)
{
  uint8_t *const switches[] = { &allocation_source, &wants_latency,     &wants_all_syncs,
                                &wants_event_times, &launch_attributes, &device_graph };
  return attribute >= 14 && attribute < 20 ? switches[attribute - 14] : NULL;
}

bool
_lns_cupti_wants_sources (void)
{
  return allocation_source != 0;
}

static uint8_t by_hardware;

bool
_lns_cupti_is_by_hardware (void)
{
  return by_hardware != 0;
}

CUptiResult
_lns_cupti_trace_by_hardware (uint8_t on)
{
  if (on && lns_gpu_option ("LNS_DOUBLE_HARDWARE", 0) == 0)
    return CUPTI_ERROR_NOT_SUPPORTED;
  by_hardware = on;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityEnableHWTrace (uint8_t on)
{
  LNS_CUPTI_ENTER_SINGLE (on);
  return _lns_cupti_trace_by_hardware (on);
}

LNS_CUPTI_API CUptiResult
cuptiActivityPushExternalCorrelationId (CUpti_ExternalCorrelationKind kind, uint64_t id)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
  if ((uint32_t)kind >= EXTERNAL_KINDS || n_external[kind] == MAX_EXTERNAL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  external_ids[kind][n_external[kind]++] = id;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityPopExternalCorrelationId (CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
  LNS_CUPTI_ENTER_SINGLE (kind);
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
bool
_lns_cupti_counts (uint32_t counter)
{
  return __atomic_load_n (&counters, __ATOMIC_RELAXED) >> counter & 1;
}

LNS_CUPTI_API CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter (CUpti_ActivityUnifiedMemoryCounterConfig *config,
                                            uint32_t count)
{
  LNS_CUPTI_ENTER (config != NULL && count > 0 ? (long)config->kind : -1);
  if (config == NULL || count == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (!lns_gpu_is_initialized ())
    return CUPTI_ERROR_NOT_INITIALIZED;
  for (uint32_t i = 0; i < count; i++)
    if (config[i].enable)
      __atomic_fetch_or (&counters, 1u << config[i].kind, __ATOMIC_RELAXED);
    else
      __atomic_fetch_and (&counters, ~(1u << config[i].kind), __ATOMIC_RELAXED);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiFinalize (void)
{
  LNS_CUPTI_ENTER (-1);
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    for (uint32_t kind = 0; kind < LNS_CUPTI_KINDS; kind++)
      (void)_lns_cupti_enable (&_lns_cupti_subscribers[i], (CUpti_ActivityKind)kind, false);
  _lns_cupti_collect (LNS_CUPTI_COLLECT_EVERYTHING);
  _lns_cupti_deliver (true);
  _lns_cupti_stop_worker ();
  _lns_cupti_drop_subscribers ();
  return CUPTI_SUCCESS;
}
