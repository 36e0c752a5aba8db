/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions for several subscribers of CUPTI 13.3 (130300) and later, as cupti_activity.h and cupti_callbacks.h of
 * 13.3 to 13.5 and the chapter "Multiple Subscribers" of CUPTI's documentation describe them. Their entry points are
 * hidden in older generations. */

#include "tests/double/cupti/cupti.h"

#include <stdio.h>
#include <string.h>

/* cuDriverGetVersion() of r610. */
#define DRIVER_OF_SEVERAL 13030

/* CUPTI_API_VERSION of the first that takes a clock of each subscriber, where there may be several. */
#define TAKES_CLOCKS 130400

/* CUpti_SubscriberParams of CUPTI 13.2 and later. */
typedef struct
{
  size_t structSize;
  const char *subscriberName;
  char *oldSubscriberName;
  size_t oldSubscriberSize;
  uint8_t allowMultipleSubscribers;
  uint8_t padding[7];
} Parameters;

/* CUpti_ActivityAttribute of CUPTI 13.3 and later. */
enum
{
  SUBSCRIBER_STATE = 12,
  HARDWARE = 13,
  GRAPH_TRACE = 20,
  THREAD_ID_TYPE = 21,
  TIMESTAMP_CALLBACK = 22,
};

static LnsCuptiFamily family;
static bool is_shared; /* several may subscribe */
static uint8_t graph_trace;

bool
_lns_cupti_use (LnsCuptiFamily asked)
{
  LnsCuptiFamily known = LNS_CUPTI_NEITHER;
  return __atomic_compare_exchange_n (&family, &known, asked, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST) ||
         known == asked;
}

bool
_lns_cupti_is_shared (void)
{
  return __atomic_load_n (&is_shared, __ATOMIC_ACQUIRE);
}

bool
_lns_cupti_traces_graphs (void)
{
  return _lns_cupti_is_shared () ? __atomic_load_n (&graph_trace, __ATOMIC_RELAXED) != 0
                                 : _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

/* Begins the function cuptiNAME_v2, which headers of 13.0 do not declare, and newer ones with types of their own. */
#define FUNCTION(NAME, ...)                                                                        \
 LNS_CUPTI_API CUptiResult v2_##NAME (__VA_ARGS__) __asm__("cupti" #NAME "_v2");                   \
 CUptiResult v2_##NAME (__VA_ARGS__)

/* What a function of a subscriber begins with. */
static CUptiResult
enter (const char *function, CUpti_SubscriberHandle subscriber, long argument)
{
  const CUptiResult result = _lns_cupti_enter (function, argument);
  if (result != CUPTI_SUCCESS)
    return result;
  if (subscriber == NULL || !subscriber->is_subscribed)
    return CUPTI_ERROR_INVALID_PARAMETER;
  return _lns_cupti_use (LNS_CUPTI_SEVERAL) ? CUPTI_SUCCESS
                                            : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

#define ENTER(NAME, ARGUMENT)                                                                      \
 do                                                                                                \
  {                                                                                                \
   const CUptiResult entered = enter ("cupti" #NAME "_v2", subscriber, ARGUMENT);                  \
   if (entered != CUPTI_SUCCESS)                                                                   \
    return entered;                                                                                \
  }                                                                                                \
 while (0)

/* The first subscriber decides whether there may be others. */
static CUptiResult
subscribe (CUpti_SubscriberHandle *subscriber,
           CUpti_CallbackFunc callback,
           void *data,
           bool wants_others)
{
  const bool may_share = _lns_cupti_options ()->version >= 130300 &&
                         lns_gpu_option ("LNS_DOUBLE_DRIVER_VERSION", 13000) >= DRIVER_OF_SEVERAL;
  size_t i = 0;
  while (i < LNS_CUPTI_SUBSCRIBERS && _lns_cupti_subscribers[i].is_subscribed)
    i++;
  if (i == LNS_CUPTI_SUBSCRIBERS || (wants_others && !may_share) ||
      (i > 0 && (!wants_others || !_lns_cupti_is_shared ())) ||
      family == (wants_others ? LNS_CUPTI_SINGLE : LNS_CUPTI_SEVERAL))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  const CUptiResult result = _lns_cupti_subscribe (&_lns_cupti_subscribers[i], callback, data);
  if (result != CUPTI_SUCCESS)
    return result;
  *subscriber = &_lns_cupti_subscribers[i];
  if (wants_others)
    {
      (void)_lns_cupti_use (LNS_CUPTI_SEVERAL);
      __atomic_store_n (&is_shared, true, __ATOMIC_RELEASE);
    }
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiSubscribe_v2 (CUpti_SubscriberHandle *subscriber,
                   CUpti_CallbackFunc callback,
                   void *userdata,
                   CUpti_SubscriberParams *pParams)
{
  LNS_CUPTI_ENTER (-1);
  const Parameters *asked = (const Parameters *)pParams;
  if (subscriber == NULL || asked == NULL ||
      asked->structSize < offsetof (Parameters, allowMultipleSubscribers))
    return CUPTI_ERROR_INVALID_PARAMETER;
  const CUptiResult result =
      subscribe (subscriber, callback, userdata,
                 asked->structSize >= sizeof *asked && asked->allowMultipleSubscribers != 0);
  const char *other = _lns_cupti_options ()->other_tool;
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && asked->oldSubscriberName != NULL)
    snprintf (asked->oldSubscriberName, asked->oldSubscriberSize, "CUPTI for %s",
              other != NULL ? other : "this program");
  return result;
}

FUNCTION (ActivityRegisterCallbacks,
          CUpti_SubscriberHandle subscriber,
          LnsCuptiRequest request,
          LnsCuptiComplete complete)
{
  ENTER (ActivityRegisterCallbacks, -1);
  if (request == NULL || complete == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  subscriber->request_v2 = request;
  subscriber->complete_v2 = complete;
  return CUPTI_SUCCESS;
}

FUNCTION (ActivityEnable, CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, void *config)
{
  ENTER (ActivityEnable, kind);
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && !_lns_cupti_traces_graphs ())
    return CUPTI_ERROR_NOT_COMPATIBLE;
  return _lns_cupti_enable (subscriber, kind, true);
}

FUNCTION (ActivityEnableAndDump,
          CUpti_SubscriberHandle subscriber,
          CUpti_ActivityKind kind,
          void *config)
{
  ENTER (ActivityEnableAndDump, kind);
  const CUptiResult result = _lns_cupti_enable (subscriber, kind, true);
  if (result == CUPTI_SUCCESS)
    _lns_cupti_dump (kind);
  return result;
}

FUNCTION (ActivityDisable, CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, void *config)
{
  ENTER (ActivityDisable, kind);
  return _lns_cupti_enable (subscriber, kind, false);
}

FUNCTION (ActivityEnableRuntimeApi,
          CUpti_SubscriberHandle subscriber,
          CUpti_CallbackId cbid,
          uint8_t on)
{
  ENTER (ActivityEnableRuntimeApi, cbid);
  return _lns_cupti_change_api (subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, cbid, on);
}

FUNCTION (ActivityEnableDriverApi,
          CUpti_SubscriberHandle subscriber,
          CUpti_CallbackId cbid,
          uint8_t on)
{
  ENTER (ActivityEnableDriverApi, cbid);
  return _lns_cupti_change_api (subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid, on);
}

/* Whether any subscriber records anything. */
static bool
is_any_enabled (void)
{
  for (uint32_t kind = 0; kind < LNS_CUPTI_KINDS; kind++)
    if (_lns_cupti_is_enabled (kind))
      return true;
  return false;
}

FUNCTION (ActivitySetAttribute,
          CUpti_SubscriberHandle subscriber,
          uint32_t attribute,
          size_t *size,
          void *value)
{
  ENTER (ActivitySetAttribute, attribute);
  uint8_t *on = _lns_cupti_switch (attribute);
  const size_t n_bytes = attribute == TIMESTAMP_CALLBACK ? sizeof (CUpti_TimestampCallbackFunc)
                         : attribute == THREAD_ID_TYPE   ? sizeof (CUpti_ActivityThreadIdType)
                                                         : 1;
  if (attribute == HARDWARE && value != NULL && !is_any_enabled ())
    return _lns_cupti_trace_by_hardware (*(uint8_t *)value);
  if (attribute < SUBSCRIBER_STATE)
    return _lns_cupti_set_attribute (attribute, size, value);
  if (size == NULL || value == NULL || (on == NULL && attribute < GRAPH_TRACE) ||
      attribute > TIMESTAMP_CALLBACK)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (*size < n_bytes)
    return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  if (attribute == GRAPH_TRACE && is_any_enabled ())
    return CUPTI_ERROR_NOT_COMPATIBLE;
  if (attribute == GRAPH_TRACE)
    on = &graph_trace;
  if (on != NULL)
    *on = *(uint8_t *)value;
  else if (attribute == THREAD_ID_TYPE)
    memcpy (&subscriber->thread_type, value, sizeof subscriber->thread_type);
  else
    {
      CUpti_TimestampCallbackFunc clock;
      memcpy (&clock, value, sizeof clock);
      if (_lns_cupti_options ()->version < TAKES_CLOCKS || is_any_enabled ())
        return CUPTI_ERROR_NOT_COMPATIBLE;
      _lns_cupti_set_clock (clock);
    }
  return CUPTI_SUCCESS;
}

FUNCTION (ActivityGetNextRecord,
          CUpti_SubscriberHandle subscriber,
          uint8_t *buffer,
          size_t n_bytes,
          CUpti_Activity **record)
{
  ENTER (ActivityGetNextRecord, -1);
  return buffer == NULL || record == NULL ? CUPTI_ERROR_INVALID_PARAMETER
                                          : _lns_cupti_next_record (buffer, n_bytes, record);
}

FUNCTION (ActivityGetNumDroppedRecords,
          CUpti_SubscriberHandle subscriber,
          CUcontext context,
          uint32_t stream,
          size_t *ret_n)
{
  ENTER (ActivityGetNumDroppedRecords, -1);
  return _lns_cupti_dropped (subscriber, ret_n);
}

FUNCTION (GetTimestamp, CUpti_SubscriberHandle subscriber, uint64_t *ret_time)
{
  ENTER (GetTimestamp, -1);
  if (ret_time == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *ret_time = _lns_cupti_now ();
  return CUPTI_SUCCESS;
}
