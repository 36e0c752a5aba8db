/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Handles CUPTI's callbacks on the program's threads. */

#include "capture/inject/cuda/callbacks.h"
#include "capture/inject/cuda/buffers.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/control.h"
#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/names.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/range.h"
#include "capture/inject/core/join.h"

/* A kernel's name as it is launched: were the process killed, what CUPTI has of the launch would only
 * have the name's address. */
static void
learn_name (const CUpti_CallbackData *call)
{
  if (call->callbackSite != CUPTI_API_ENTER || call->symbolName == NULL)
    return;
  (void)lns_cuda_kernel_name (call->symbolName);
  if (!lns_definitions_are_pending ())
    return;
  LnsInjectStream *stream = lns_inject_stream_enter_slow (LNS_STREAM_NO_EVENT);
  if (stream == NULL)
    return;
  lns_inject_stream_send_definitions (stream);
  lns_inject_stream_leave (stream);
}

static void
on_call (bool is_runtime, uint32_t cbid, const CUpti_CallbackData *call)
{
  uint8_t role = cbid < LNS_WIRE_CUPTI_CALLS ? lns_cuda_roles[is_runtime][cbid] : 0;
  bool is_enter = call->callbackSite == CUPTI_API_ENTER;
  if (role & LNS_CUDA_CALL_LAUNCHES)
    learn_name (call);
  if ((role & LNS_CUDA_CALL_BEGINS_RANGE) && !is_enter)
    (void)lns_range_begin (LNS_WIRE_RANGE_PROFILER_API);
  if ((role & LNS_CUDA_CALL_ENDS_RANGE) && is_enter)
    {
      bool ended = lns_range_end (LNS_WIRE_RANGE_PROFILER_API);
      if (ended || (lns_cuda_options ()->cuda & LNS_WIRE_CUDA_FLUSH_ON_STOP))
        lns_cuda_flush (false);
    }
  if ((role & LNS_CUDA_CALL_RESETS) && is_enter)
    lns_cuda_flush (false);
}

/* --- Graphs. --------------------------------------------------------------------------------- */

static uint64_t
node_id (CUgraphNode node)
{
  uint64_t id = 0;
  return node != NULL && LNS_CUPTI_TRY (GetGraphNodeId, node, &id) ? id : 0;
}

static uint32_t
graph_id (CUgraph graph)
{
  uint32_t id = 0;
  return graph != NULL && LNS_CUPTI_TRY (GetGraphId, graph, &id) ? id : 0;
}

static void
tell_graph (uint32_t cbid, const CUpti_GraphData *graph)
{
  LnsWireCudaGraphNodeBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock), .type = LNS_WIRE_CUDA_GRAPH_NODE },
    .tid = (uint32_t)LNS_SYSCALL (SYS_gettid),
    .graph = graph_id (graph->graph),
  };
  record.end_ticks = record.head.ticks;
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
    record.graph_node = node_id (graph->node);
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
    record.original = node_id (graph->originalNode);
  if (cbid == CUPTI_CBID_RESOURCE_GRAPH_CLONED)
    record.original = graph_id (graph->originalGraph);
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
    (void)LNS_CUPTI_TRY (GetGraphExecId, graph->graphExec, &record.graph_exec);
  lns_inject_stream_tell (&record, sizeof record);
}

static void
on_resource (uint32_t cbid, const CUpti_ResourceData *resource)
{
  if (cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED || cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
    {
      lns_cuda_control_start ();
      lns_cuda_read_clocks ();
      (void)lns_cuda_learn_sizes (false); /* for the session, should this process be killed */
      if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && resource != NULL)
        lns_cuda_configure_unified (resource->context);
    }
  else if (cbid == CUPTI_CBID_RESOURCE_MODULE_LOADED)
    __atomic_fetch_add (&lns_cuda_engine.n_modules, 1, __ATOMIC_RELAXED);
  else if (cbid == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
    __atomic_fetch_add (&lns_cuda_engine.names_epoch, 1, __ATOMIC_RELEASE);
  else if (resource != NULL && resource->resourceDescriptor != NULL)
    tell_graph (cbid, resource->resourceDescriptor);
}

/* A fork's child calls CUDA, which cannot work there: said once, and that is all. */
static void
tell_fork (void)
{
  static uint64_t told_by;
  uint64_t generation = lns_process_join ();
  if (generation < LNS_GENERATION_FIRST ||
      __atomic_exchange_n (&told_by, generation, __ATOMIC_RELAXED) == generation)
    return;
  lns_cuda_problem (LNS_WIRE_PROBLEM_FORK, 0, (uint32_t)generation, NULL);
}

void
lns_cuda_callback (void *unused,
                   CUpti_CallbackDomain domain,
                   CUpti_CallbackId cbid,
                   const void *data)
{
  LNS_KEEP_ERRNO;
  if (lns_cuda_engine.generation == 0)
    return;
  bool is_call = domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (!lns_cuda_is_here () && is_call)
    tell_fork ();
  else if (!lns_cuda_is_here ())
    return;
  else if (is_call)
    on_call (domain == CUPTI_CB_DOMAIN_RUNTIME_API, cbid, data);
  else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
    on_resource (cbid, data);
  else if (domain == CUPTI_CB_DOMAIN_STATE && data != NULL)
    {
      const CUpti_StateData *state = data;
      lns_cuda_problem (LNS_WIRE_PROBLEM_STATE, state->notification.result, cbid,
                        state->notification.message);
    }
}
