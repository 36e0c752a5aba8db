/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The subscriber and its callbacks; names of results and of callback ids. */

#include "tests/double/cupti/cupti.h"

#include "lns-cupti-names-generated.h"

#include <stdio.h>
#include <string.h>

#define MAX_CBIDS 2048

struct CUpti_Subscriber_st
{
  CUpti_CallbackFunc callback;
  void *data;
};

static struct CUpti_Subscriber_st the_subscriber;
static bool subscribed;
static uint8_t wanted[CUPTI_CB_DOMAIN_SIZE][MAX_CBIDS];

bool
_lns_cupti_wants (CUpti_CallbackDomain domain, uint32_t cbid)
{
  return __atomic_load_n (&subscribed, __ATOMIC_ACQUIRE) && cbid < MAX_CBIDS &&
         __atomic_load_n (&wanted[domain][cbid], __ATOMIC_RELAXED) != 0;
}

/* Callbacks may run while flags change; each flag is atomic by itself. */
static void
want (uint32_t domain, uint32_t first, uint32_t n, bool on)
{
  for (uint32_t cbid = first; cbid < first + n; cbid++)
    __atomic_store_n (&wanted[domain][cbid], on, __ATOMIC_RELAXED);
}

void
_lns_cupti_call_back (CUpti_CallbackDomain domain, uint32_t cbid, const void *data)
{
  if (_lns_cupti_wants (domain, cbid))
    the_subscriber.callback (the_subscriber.data, domain, cbid, data);
}

void
_lns_cupti_drop_subscriber (void)
{
  __atomic_store_n (&subscribed, false, __ATOMIC_RELEASE);
  for (uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
    want (domain, 0, MAX_CBIDS, false);
}

static CUptiResult
subscribe (CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
  if (subscriber == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (_lns_cupti_options ()->other_tool != NULL || subscribed)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  the_subscriber = (struct CUpti_Subscriber_st){ callback, userdata };
  __atomic_store_n (&subscribed, true, __ATOMIC_RELEASE);
  *subscriber = &the_subscriber;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiSubscribe (CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
  LNS_CUPTI_ENTER (-1);
  return subscribe (subscriber, callback, userdata);
}

LNS_CUPTI_API CUptiResult
cuptiSubscribe_v2 (CUpti_SubscriberHandle *subscriber,
                   CUpti_CallbackFunc callback,
                   void *userdata,
                   CUpti_SubscriberParams *pParams)
{
  LNS_CUPTI_ENTER (-1);
  if (pParams == NULL ||
      pParams->structSize < offsetof (CUpti_SubscriberParams, oldSubscriberSize) + sizeof (size_t))
    return CUPTI_ERROR_INVALID_PARAMETER;
  CUptiResult result = subscribe (subscriber, callback, userdata);
  const char *other = _lns_cupti_options ()->other_tool;
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
      pParams->oldSubscriberName != NULL)
    snprintf (pParams->oldSubscriberName, pParams->oldSubscriberSize, "CUPTI for %s",
              other != NULL ? other : "this program");
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiUnsubscribe (CUpti_SubscriberHandle subscriber)
{
  LNS_CUPTI_ENTER (-1);
  if (subscriber != &the_subscriber || !subscribed)
    return CUPTI_ERROR_INVALID_PARAMETER;
  _lns_cupti_drop_subscriber ();
  return CUPTI_SUCCESS;
}

static CUptiResult
check (CUpti_SubscriberHandle subscriber, uint32_t domain)
{
  return subscriber == &the_subscriber && subscribed && domain > 0 && domain < CUPTI_CB_DOMAIN_SIZE
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
      cbid < MAX_CBIDS ? check (subscriber, domain) : CUPTI_ERROR_INVALID_PARAMETER;
  if (result == CUPTI_SUCCESS)
    want (domain, cbid, 1, on != 0);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiEnableDomain (uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
  LNS_CUPTI_ENTER (domain);
  CUptiResult result = check (subscriber, domain);
  if (result == CUPTI_SUCCESS)
    want (domain, 0, MAX_CBIDS, on != 0);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiEnableAllDomains (uint32_t on, CUpti_SubscriberHandle subscriber)
{
  LNS_CUPTI_ENTER (-1);
  CUptiResult result = check (subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  if (result == CUPTI_SUCCESS)
    for (uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
      want (domain, 0, MAX_CBIDS, on != 0);
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiGetCallbackState (uint32_t *on,
                       CUpti_SubscriberHandle subscriber,
                       CUpti_CallbackDomain domain,
                       CUpti_CallbackId cbid)
{
  LNS_CUPTI_ENTER (cbid);
  CUptiResult result =
      on != NULL && cbid < MAX_CBIDS ? check (subscriber, domain) : CUPTI_ERROR_INVALID_PARAMETER;
  if (result == CUPTI_SUCCESS)
    *on = wanted[domain][cbid];
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
  *version = _lns_cupti_options ()->version;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiGetCallbackName (CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
  const char *found = NULL;
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
