/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/records.h"

#include "lns-cuda-calls-generated.h"

_Static_assert(((LNS_CUDA_CALL_LAUNCHES | LNS_CUDA_CALL_BEGINS_RANGE | LNS_CUDA_CALL_ENDS_RANGE |
                 LNS_CUDA_CALL_RESETS) &
                LNS_WIRE_CUDA_CALL_ROLES) == 0,
               "each bit has one meaning");

uint8_t lns_cuda_roles[2][LNS_WIRE_CUPTI_CALLS];

static void
set_callback (bool is_on, CUpti_CallbackDomain domain, uint32_t cbid)
{
  /* The lists come from the newest CUPTI and hold calls that an older one does not know. */
  const char *name = NULL;
  if (lns_cupti.GetCallbackName != NULL &&
      (lns_cupti.GetCallbackName (domain, cbid, &name) != CUPTI_SUCCESS || name == NULL))
    return;
  (void)LNS_CUPTI_TRY (EnableCallback, is_on, lns_cuda_engine.subscriber, domain, cbid);
}

/* Gives CALLS, which a call of number 0 ends, the ROLE. Enables or disables their callbacks if it is one of the engine. */
static void
set_calls (bool is_on, const LnsCudaCall *calls, uint8_t role)
{
  for (; calls->cbid != 0; calls++)
    {
      lns_cuda_roles[calls->is_runtime][calls->cbid % LNS_WIRE_CUPTI_CALLS] |= role;
      if ((role & LNS_WIRE_CUDA_CALL_ROLES) == 0)
        set_callback (is_on,
                      calls->is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                      calls->cbid);
    }
}

void
lns_cuda_watch_launches (bool watch)
{
  set_calls (watch, lns_cuda_launches, LNS_CUDA_CALL_LAUNCHES);
}

void
lns_cuda_enable_callbacks (void)
{
  const LnsWireOptions *options = lns_cuda_options ();
  static const uint16_t resources[] = { CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
                                        CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                        CUPTI_CBID_RESOURCE_MODULE_LOADED,
                                        CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING };
  static const uint16_t graphs[] = { CUPTI_CBID_RESOURCE_GRAPH_CREATED,
                                     CUPTI_CBID_RESOURCE_GRAPH_CLONED,
                                     CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                     CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                                     CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED };
  for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
    (void)LNS_CUPTI_TRY (EnableCallback, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                         resources[i]);
  if (options->cuda & LNS_WIRE_CUDA_GRAPH_NODES)
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
      (void)LNS_CUPTI_TRY (EnableCallback, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                           graphs[i]);
  (void)LNS_CUPTI_TRY (EnableDomain, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_STATE);
  set_calls (true, lns_cuda_resets, LNS_CUDA_CALL_RESETS);
  set_calls (true, lns_cuda_beginnings, 0);
  /* A range may be requested later. */
  set_calls (true, lns_cuda_range_begins, LNS_CUDA_CALL_BEGINS_RANGE);
  set_calls (true, lns_cuda_range_ends, LNS_CUDA_CALL_ENDS_RANGE);
  if (options->traces & LNS_WIRE_TRACE_CUDA)
    {
      lns_cuda_watch_launches (true);
      /* Only the records of these calls are needed, not their callbacks. */
      set_calls (true, lns_cuda_single_launches, LNS_WIRE_CUDA_CALL_LAUNCH);
      set_calls (true, lns_cuda_captures, LNS_WIRE_CUDA_CALL_CAPTURE);
      set_calls (true, lns_cuda_captured, LNS_WIRE_CUDA_CALL_CAPTURED);
    }
}
