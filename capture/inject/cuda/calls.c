/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/records.h"

#include "lns-cuda-calls-generated.h"

#include <string.h>

_Static_assert(((LNS_CUDA_CALL_LAUNCHES | LNS_CUDA_CALL_BEGINS_RANGE | LNS_CUDA_CALL_ENDS_RANGE |
                 LNS_CUDA_CALL_RESETS | LNS_CUDA_CALL_TELLS) &
                LNS_WIRE_CUDA_CALL_ROLES) == 0,
               "each bit has one meaning");

uint8_t lns_cuda_roles[2][LNS_WIRE_CUPTI_CALLS];
uint8_t lns_cuda_classes[2][LNS_WIRE_CUPTI_CALLS];

static void
set_callback (bool is_on, CUpti_CallbackDomain domain, uint32_t cbid)
{
  /* The lists come from the newest CUPTI and hold calls that an older one does not know. */
  const char *name = NULL;
  if (lns_cuda_is_silent ())
    return;
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

/* Gives CALLS the class MARK, 0 for none, and enables or disables their callbacks. */
static void
set_class (const LnsCudaCall *calls, uint8_t mark)
{
  for (; calls->cbid != 0; calls++)
    {
      lns_cuda_classes[calls->is_runtime][calls->cbid % LNS_WIRE_CUPTI_CALLS] = mark;
      set_callback (mark != 0,
                    calls->is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                    calls->cbid);
    }
}

void
lns_cuda_watch_classes (uint32_t classes, bool with_questions)
{
  static const struct
  {
    LnsWireCallClass class;
    const LnsCudaCall *calls;
  } lists[] = { { LNS_WIRE_CALLS_MEMORY, lns_cuda_memory },
                { LNS_WIRE_CALLS_SYNC, lns_cuda_waits },
                { LNS_WIRE_CALLS_KERNEL, lns_cuda_launches } };
  const bool has_others = (classes >> LNS_WIRE_CALLS_OTHER & 1) != 0;
  if (has_others)
    {
      memset (lns_cuda_classes, 1 + LNS_WIRE_CALLS_OTHER, sizeof lns_cuda_classes);
      (void)LNS_CUPTI_TRY (EnableDomain, 1, lns_cuda_engine.subscriber,
                           CUPTI_CB_DOMAIN_RUNTIME_API);
      (void)LNS_CUPTI_TRY (EnableDomain, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    }
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    {
      const bool is_asked = (classes >> lists[i].class & 1) != 0;
      if (is_asked || has_others)
        set_class (lists[i].calls, is_asked ? (uint8_t)(1 + lists[i].class) : 0);
    }
  if (has_others && !with_questions)
    set_class (lns_cuda_questions, 0);
}

void
lns_cuda_watch_launches (bool watch)
{
  set_calls (watch, lns_cuda_launches, LNS_CUDA_CALL_LAUNCHES);
}

void
lns_cuda_watch_ranges (void)
{
  set_calls (true, lns_cuda_range_begins, LNS_CUDA_CALL_BEGINS_RANGE);
  set_calls (true, lns_cuda_range_ends, LNS_CUDA_CALL_ENDS_RANGE);
}

void
lns_cuda_enable_callbacks (void)
{
  const LnsWireOptions *options = lns_cuda_options ();
  static const uint16_t resources[] = {
    CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
    CUPTI_CBID_RESOURCE_MODULE_LOADED,    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
    CUPTI_CBID_RESOURCE_GRAPH_CREATED,    CUPTI_CBID_RESOURCE_GRAPH_CLONED,
    CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED
  };
  static const uint16_t nodes[] = { CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED };
  for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
    (void)LNS_CUPTI_TRY (EnableCallback, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                         resources[i]);
  if (options->cuda & LNS_WIRE_CUDA_GRAPH_NODES)
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
      (void)LNS_CUPTI_TRY (EnableCallback, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                           nodes[i]);
  (void)LNS_CUPTI_TRY (EnableDomain, 1, lns_cuda_engine.subscriber, CUPTI_CB_DOMAIN_STATE);
  set_calls (true, lns_cuda_resets, LNS_CUDA_CALL_RESETS);
  set_calls (true, lns_cuda_beginnings, 0);
  set_calls (true, lns_cuda_versions, LNS_CUDA_CALL_TELLS);
  lns_cuda_watch_ranges (); /* one may be requested later */
  lns_cuda_watch_launches (true);
  /* Only the records of these calls are needed, not their callbacks. */
  set_calls (true, lns_cuda_single_launches, LNS_WIRE_CUDA_CALL_LAUNCH);
  set_calls (true, lns_cuda_captures, LNS_WIRE_CUDA_CALL_CAPTURE);
  set_calls (true, lns_cuda_captured, LNS_WIRE_CUDA_CALL_CAPTURED);
}
