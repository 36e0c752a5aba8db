/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The subscribers and their callbacks; names of results and of callback ids. */

#include "tests/double/cupti/cupti.h"

#include "lns-cupti-names-generated.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUpti_Subscriber_st _lns_cupti_subscribers[LNS_CUPTI_SUBSCRIBERS];

static bool
is_subscribed (const struct CUpti_Subscriber_st *subscriber)
{
  return __atomic_load_n (&subscriber->is_subscribed, __ATOMIC_ACQUIRE);
}

static bool
wants (const struct CUpti_Subscriber_st *subscriber, uint32_t domain, uint32_t cbid)
{
  return is_subscribed (subscriber) && cbid < LNS_CUPTI_CBIDS &&
         __atomic_load_n (&subscriber->wanted[domain][cbid], __ATOMIC_RELAXED) != 0;
}

bool
_lns_cupti_wants (CUpti_CallbackDomain domain, uint32_t cbid)
{
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    if (wants (&_lns_cupti_subscribers[i], domain, cbid))
      return true;
  return false;
}

/* Callbacks may run while flags change; each flag is atomic by itself. */
static void
want (struct CUpti_Subscriber_st *subscriber, uint32_t domain, uint32_t first, uint32_t n, bool on)
{
  for (uint32_t cbid = first; cbid < first + n; cbid++)
    __atomic_store_n (&subscriber->wanted[domain][cbid], on, __ATOMIC_RELAXED);
}

void
_lns_cupti_call_back (CUpti_CallbackDomain domain, uint32_t cbid, const void *data)
{
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    if (wants (&_lns_cupti_subscribers[i], domain, cbid) &&
        _lns_cupti_subscribers[i].callback != NULL)
      _lns_cupti_subscribers[i].callback (_lns_cupti_subscribers[i].data, domain, cbid, data);
}

static void
drop (struct CUpti_Subscriber_st *subscriber)
{
  __atomic_store_n (&subscriber->is_subscribed, false, __ATOMIC_RELEASE);
  for (uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
    want (subscriber, domain, 0, LNS_CUPTI_CBIDS, false);
  for (uint32_t kind = 0; kind < LNS_CUPTI_KINDS && _lns_cupti_is_shared (); kind++)
    (void)_lns_cupti_enable (subscriber, (CUpti_ActivityKind)kind, false);
}

void
_lns_cupti_drop_subscribers (void)
{
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    drop (&_lns_cupti_subscribers[i]);
}

bool
_lns_cupti_refuses (void)
{
  const char *part = getenv ("LNS_DOUBLE_REFUSES");
  Dl_info library;
  return part != NULL && dladdr (&_lns_cupti_subscribers, &library) != 0 &&
         strstr (library.dli_fname, part) != NULL;
}

CUptiResult
_lns_cupti_subscribe (struct CUpti_Subscriber_st *subscriber,
                      CUpti_CallbackFunc callback,
                      void *data)
{
  if (_lns_cupti_refuses ())
    return CUPTI_ERROR_NOT_INITIALIZED;
  if (_lns_cupti_options ()->other_tool != NULL || is_subscribed (subscriber))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscriber->callback = callback;
  subscriber->data = data;
  __atomic_store_n (&subscriber->is_subscribed, true, __ATOMIC_RELEASE);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiSubscribe (CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
  LNS_CUPTI_ENTER_SINGLE (-1);
  if (subscriber == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const CUptiResult result = _lns_cupti_subscribe (&_lns_cupti_subscribers[0], callback, userdata);
  if (result == CUPTI_SUCCESS)
    *subscriber = &_lns_cupti_subscribers[0];
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiUnsubscribe (CUpti_SubscriberHandle subscriber)
{
  LNS_CUPTI_ENTER (-1);
  if (subscriber == NULL || !is_subscribed (subscriber))
    return CUPTI_ERROR_INVALID_PARAMETER;
  drop (subscriber);
  return CUPTI_SUCCESS;
}

static CUptiResult
check (CUpti_SubscriberHandle subscriber, uint32_t domain)
{
  return subscriber != NULL && is_subscribed (subscriber) && domain > 0 &&
                 domain < CUPTI_CB_DOMAIN_SIZE
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}

LNS_CUPTI_API CUptiResult
cuptiEnableCallback (uint32_t on,
                     CUpti_SubscriberHandle subscriber,
                     CUpti_CallbackDomain domain,
                     CUpti_CallbackId cbid)
{
  LNS_CUPTI_ENTER (cbid);
  CUptiResult result =
      cbid < LNS_CUPTI_CBIDS ? check (subscriber, domain) : CUPTI_ERROR_INVALID_PARAMETER;
  if (result == CUPTI_SUCCESS)
    want (subscriber, domain, cbid, 1, on != 0);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiEnableDomain (uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
  LNS_CUPTI_ENTER (domain);
  CUptiResult result = check (subscriber, domain);
  if (result == CUPTI_SUCCESS)
    want (subscriber, domain, 0, LNS_CUPTI_CBIDS, on != 0);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiEnableAllDomains (uint32_t on, CUpti_SubscriberHandle subscriber)
{
  LNS_CUPTI_ENTER (-1);
  CUptiResult result = check (subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  if (result == CUPTI_SUCCESS)
    for (uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
      want (subscriber, domain, 0, LNS_CUPTI_CBIDS, on != 0);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiGetCallbackState (uint32_t *on,
                       CUpti_SubscriberHandle subscriber,
                       CUpti_CallbackDomain domain,
                       CUpti_CallbackId cbid)
{
  LNS_CUPTI_ENTER (cbid);
  CUptiResult result = on != NULL && cbid < LNS_CUPTI_CBIDS ? check (subscriber, domain)
                                                            : CUPTI_ERROR_INVALID_PARAMETER;
  if (result == CUPTI_SUCCESS)
    *on = subscriber->wanted[domain][cbid];
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiSupportedDomains (size_t *domainCount, CUpti_DomainTable *domainTable)
{
  static CUpti_CallbackDomain domains[] = { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                            CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE,
                                            CUPTI_CB_DOMAIN_STATE };
  LNS_CUPTI_ENTER (-1);
  *domainCount = sizeof domains / sizeof domains[0];
  *domainTable = domains;
  return CUPTI_SUCCESS;
}

/* --- names: these work without a driver, as NVIDIA's do ---------------------------------- */

LNS_CUPTI_API CUptiResult
cuptiGetVersion (uint32_t *version)
{
  int failure = lns_gpu_wanted_failure (__func__, -1);
  if (failure != 0)
    return (CUptiResult)failure;
  if (version == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (!_lns_cupti_answers ())
    return CUPTI_ERROR_UNKNOWN;
  *version = _lns_cupti_options ()->version;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetCallbackName (CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
  const char *found = NULL;
  _lns_cupti_check_fatal ();
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
      cbid < sizeof runtime_names / sizeof runtime_names[0])
    found = runtime_names[cbid];
  else if (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
           cbid < sizeof driver_names / sizeof driver_names[0])
    found = driver_names[cbid];
  if (name != NULL)
    *name = found;
  return found != NULL && name != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

LNS_CUPTI_API CUptiResult
cuptiGetResultString (CUptiResult result, const char **str)
{
  bool known =
      (size_t)result < sizeof result_names / sizeof result_names[0] && result_names[result] != NULL;
  if (str == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *str = known ? result_names[result] : "<unknown>";
  return known ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

LNS_CUPTI_API CUptiResult
cuptiGetErrorMessage (CUptiResult result, const char **str)
{
  CUptiResult known = cuptiGetResultString (result, str);
  return str == NULL ? known : CUPTI_SUCCESS;
}

/* --- ids of the program's objects ----------------------------------------------------------------- */

LNS_CUPTI_API CUptiResult
cuptiGetContextId (CUcontext context, uint32_t *contextId)
{
  LNS_CUPTI_ENTER (-1);
  if (context == NULL || contextId == NULL)
    return CUPTI_ERROR_INVALID_CONTEXT;
  *contextId = context->id;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetDeviceId (CUcontext context, uint32_t *deviceId)
{
  LNS_CUPTI_ENTER (-1);
  CUcontext found = context != NULL ? context : lns_gpu_context_current ();
  if (found == NULL || deviceId == NULL)
    return CUPTI_ERROR_INVALID_CONTEXT;
  *deviceId = (uint32_t)found->device;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetStreamIdEx (CUcontext context, CUstream stream, uint8_t perThreadStream, uint32_t *streamId)
{
  LNS_CUPTI_ENTER (-1);
  CUstream found = stream;
  if (streamId == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (stream == NULL && perThreadStream == 0 && context != NULL)
    found = context->null_stream;
  else if (lns_gpu_stream_resolve (stream, perThreadStream != 0, &found) ==
           CUDA_ERROR_INVALID_CONTEXT)
    return CUPTI_ERROR_INVALID_CONTEXT;
  *streamId = found->id;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetStreamId (CUcontext context, CUstream stream, uint32_t *streamId)
{
  return cuptiGetStreamIdEx (context, stream, 0, streamId);
}

LNS_CUPTI_API CUptiResult
cuptiGetGraphId (CUgraph graph, uint32_t *pId)
{
  LNS_CUPTI_ENTER (-1);
  if (graph == NULL || pId == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *pId = lns_gpu_graph_id (graph);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetGraphExecId (CUgraphExec graphExec, uint32_t *pId)
{
  LNS_CUPTI_ENTER (-1);
  if (graphExec == NULL || pId == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *pId = lns_gpu_graph_exec_id (graphExec);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetGraphNodeId (CUgraphNode node, uint64_t *nodeId)
{
  LNS_CUPTI_ENTER (-1);
  if (node == NULL || nodeId == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *nodeId = lns_gpu_graph_node_id (node);
  return CUPTI_SUCCESS;
}
