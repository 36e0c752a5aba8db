/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/subscriber.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/core/system.h"

/* CUPTI_API_VERSION of the first whose hardware trace is sound: CUDA 13.4 U1. Its release notes fix memory and CPU use that
 * grow without bound in older ones. */
#define TRACES_BY_HARDWARE 130401u

/* The functions that take a subscriber. */
#define SHARED lns_cupti.shared

static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;

/* Whether the loaded CUPTI has all functions that take a subscriber, and the user lets us use them. 13.2 has some of them, as
 * a preview. */
static bool
may_share (void)
{
#define X(name, ...)                                                                               \
 if (SHARED.name == NULL)                                                                          \
  return false;
  LNS_CUPTI_SHARED_FUNCTIONS (X)
#undef X
  return !(lns_cuda_options ()->cuda & LNS_WIRE_CUDA_ALONE);
}

CUptiResult
lns_cuda_subscribe (CUpti_CallbackFunc callback)
{
  LnsCuptiSubscriberParameters parameters = {
    .struct_bytes = sizeof parameters,
    .name = "lanescope",
    .allows_others = 1,
  };
  CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
  if (may_share ())
    result = SHARED.Subscribe (&lns_cuda_engine.subscriber, callback, NULL, &parameters);
  lns_cuda_engine.is_shared = result == CUPTI_SUCCESS;
  /* The driver is too old for several subscribers, or the program's profiler uses the older functions. */
  if (result == CUPTI_ERROR_NOT_SUPPORTED || result == CUPTI_ERROR_INVALID_PARAMETER ||
      result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    result = lns_cupti.Subscribe (&lns_cuda_engine.subscriber, callback, NULL);
  return result;
}

bool
lns_cuda_is_shared (void)
{
  return lns_cuda_engine.is_shared;
}

static void
request (uint8_t **buffer, size_t *size, size_t *max_records, void *unused)
{
  request_buffer (buffer, size, max_records);
}

static void
complete (uint8_t *buffer, size_t size, size_t valid, void *unused)
{
  complete_buffer (NULL, 0, buffer, size, valid);
}

bool
lns_cuda_register_buffers (CUpti_BuffersCallbackRequestFunc for_request,
                           CUpti_BuffersCallbackCompleteFunc for_complete)
{
  request_buffer = for_request;
  complete_buffer = for_complete;
  if (!lns_cuda_is_shared ())
    return LNS_CUPTI_TRY (ActivityRegisterCallbacks, for_request, for_complete);
  return lns_cuda_is_silent () ||
         lns_cuda_check (
             SHARED.ActivityRegisterCallbacks (lns_cuda_engine.subscriber, request, complete),
             "cuptiActivityRegisterCallbacks_v2");
}

CUptiResult
lns_cuda_set_kind (CUpti_ActivityKind kind, bool is_on)
{
  if (!lns_cuda_is_shared ())
    return is_on ? lns_cupti.ActivityEnable (kind) : lns_cupti.ActivityDisable (kind);
  return (is_on ? SHARED.ActivityEnable : SHARED.ActivityDisable) (lns_cuda_engine.subscriber, kind,
                                                                   NULL);
}

CUptiResult
lns_cuda_enable_with_past (CUpti_ActivityKind kind)
{
  if (lns_cuda_is_shared ())
    return SHARED.ActivityEnableAndDump (lns_cuda_engine.subscriber, kind, NULL);
  return lns_cupti.ActivityEnableAndDump != NULL ? lns_cupti.ActivityEnableAndDump (kind)
                                                 : lns_cuda_set_kind (kind, true);
}

void
lns_cuda_disable_call (bool is_runtime, CUpti_CallbackId cbid)
{
  if (lns_cuda_is_shared () && !lns_cuda_is_silent ())
    (void)lns_cuda_check (
        (is_runtime ? SHARED.ActivityEnableRuntimeApi
                    : SHARED.ActivityEnableDriverApi) (lns_cuda_engine.subscriber, cbid, 0),
        is_runtime ? "cuptiActivityEnableRuntimeApi_v2" : "cuptiActivityEnableDriverApi_v2");
  else if (is_runtime)
    (void)LNS_CUPTI_TRY (ActivityEnableRuntimeApi, cbid, 0);
  else
    (void)LNS_CUPTI_TRY (ActivityEnableDriverApi, cbid, 0);
}

CUptiResult
lns_cuda_set_attribute (uint32_t attribute, void *value, size_t n_bytes)
{
  return lns_cuda_is_shared ()
             ? SHARED.ActivitySetAttribute (lns_cuda_engine.subscriber, attribute, &n_bytes, value)
             : lns_cupti.ActivitySetAttribute ((CUpti_ActivityAttribute)attribute, &n_bytes, value);
}

void
lns_cuda_switch (LnsCuptiAttribute attribute, bool is_on)
{
  uint8_t value = is_on;
  if (lns_cuda_is_silent ())
    return;
  if (lns_cuda_is_shared ())
    (void)lns_cuda_check (lns_cuda_set_attribute (attribute, &value, sizeof value),
                          "cuptiActivitySetAttribute_v2");
  else if (attribute == LNS_CUPTI_ATTRIBUTE_SOURCES)
    (void)LNS_CUPTI_TRY (ActivityEnableAllocationSource, value);
  else if (attribute == LNS_CUPTI_ATTRIBUTE_LATENCIES)
    (void)LNS_CUPTI_TRY (ActivityEnableLatencyTimestamps, value);
  else if (attribute == LNS_CUPTI_ATTRIBUTE_ALL_SYNCS)
    (void)LNS_CUPTI_TRY (ActivityEnableAllSyncRecords, value);
  else if (attribute == LNS_CUPTI_ATTRIBUTE_EVENT_TIMES)
    (void)LNS_CUPTI_TRY (ActivityEnableCudaEventDeviceTimestamps, value);
  else if (attribute == LNS_CUPTI_ATTRIBUTE_DEVICE_GRAPHS)
    (void)LNS_CUPTI_TRY (ActivityEnableDeviceGraph, value);
}

void
lns_cuda_trace_by_hardware (void)
{
  uint8_t yes = 1;
  CUptiResult result = CUPTI_ERROR_INVALID_KIND;
  if (lns_cuda_is_silent ())
    return;
  if (lns_cupti.version != 0 && lns_cupti.version < TRACES_BY_HARDWARE)
    ;
  else if (lns_cuda_is_shared ())
    result = lns_cuda_set_attribute (LNS_CUPTI_ATTRIBUTE_HARDWARE, &yes, sizeof yes);
  else if (lns_cupti.ActivityEnableHWTrace != NULL)
    result = lns_cupti.ActivityEnableHWTrace (yes);
  if (result != CUPTI_SUCCESS)
    lns_cuda_problem (LNS_WIRE_PROBLEM_HARDWARE, result, 0, NULL);
}

void
lns_cuda_use_thread_ids (void)
{
  CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  if (!lns_cuda_is_shared ())
    (void)LNS_CUPTI_TRY (SetThreadIdType, type);
  else if (!lns_cuda_is_silent ())
    (void)lns_cuda_check (
        lns_cuda_set_attribute (LNS_CUPTI_ATTRIBUTE_THREAD_ID_TYPE, &type, sizeof type),
        "cuptiActivitySetAttribute_v2");
}

bool
lns_cuda_set_clock (CUpti_TimestampCallbackFunc ticks)
{
  if (!lns_cuda_is_shared ())
    return lns_cupti.ActivityRegisterTimestampCallback != NULL &&
           LNS_CUPTI_TRY (ActivityRegisterTimestampCallback, ticks);
  /* CUPTI 13.3 takes no clock where there may be several subscribers. */
  return !lns_cuda_is_silent () && lns_cuda_set_attribute (LNS_CUPTI_ATTRIBUTE_TIMESTAMP_CALLBACK,
                                                           &ticks, sizeof ticks) == CUPTI_SUCCESS;
}

bool
lns_cuda_has_timestamp (void)
{
  uint64_t now = 0;
  return !lns_cuda_is_silent () && (lns_cuda_is_shared () || lns_cupti.GetTimestamp != NULL) &&
         lns_cuda_check (lns_cuda_timestamp (&now), "cuptiGetTimestamp");
}

CUptiResult
lns_cuda_timestamp (uint64_t *ret_time)
{
  return lns_cuda_is_shared () ? SHARED.GetTimestamp (lns_cuda_engine.subscriber, ret_time)
                               : lns_cupti.GetTimestamp (ret_time);
}

bool
lns_cuda_count_dropped (CUcontext context, uint32_t stream, size_t *ret_n)
{
  if (!lns_cuda_is_shared ())
    return LNS_CUPTI_TRY (ActivityGetNumDroppedRecords, context, stream, ret_n);
  return lns_cuda_is_silent () ||
         lns_cuda_check (SHARED.ActivityGetNumDroppedRecords (lns_cuda_engine.subscriber, context,
                                                              stream, ret_n),
                         "cuptiActivityGetNumDroppedRecords_v2");
}
