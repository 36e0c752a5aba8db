/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Starts the CUDA engine, handles CUPTI's callbacks on the program's threads, and finishes with the process. */

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

#include <fcntl.h>
#include <sys/mman.h>

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjection (void);

/* Compacting a buffer takes 1 ms on a processor that is free. */
#define FINISH_MS 500

/* --- Callbacks, on the program's threads. ----------------------------------------------------- */

/* Writes the name of a kernel at its launch. If the process is killed, CUPTI's record of the launch has only the
 * address of the name. */
static void
learn_name (const CUpti_CallbackData *call)
{
  if (call->callbackSite != CUPTI_API_ENTER || call->symbolName == NULL)
    return;
  (void)lns_cuda_kernel_name (call->symbolName);
  if (lns_definitions_are_pending ())
    lns_inject_stream_send_and_leave (lns_inject_stream_enter_slow (LNS_STREAM_NO_EVENT));
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

/* Reports, once, that the child of a fork calls CUDA, which cannot work there. */
static void
tell_fork (void)
{
  static uint64_t told_by;
  uint64_t generation = lns_process_joined ();
  if (generation < LNS_GENERATION_FIRST ||
      __atomic_exchange_n (&told_by, generation, __ATOMIC_RELAXED) == generation)
    return;
  lns_cuda_problem (LNS_WIRE_PROBLEM_FORK, 0, (uint32_t)generation, NULL);
}

static void
callback (void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
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

/* --- Forks and the end. ----------------------------------------------------------------------- */

/* The end of the pool, which is the end of its buffers. */
static uint8_t *
buffers_end (void)
{
  return (uint8_t *)lns_process.pool.header + lns_process.pool.pool_bytes;
}

/* Gives the child of a fork memory of its own in place of the parent's buffers. CUPTI has pointers to them and may
 * write there. */
static void
part_from_parent (void)
{
  if (lns_cuda_engine.generation == 0 || lns_process.pool.n_buffers == 0)
    return;
  LNS_KEEP_ERRNO;
  (void)LNS_SYSCALL (SYS_mmap, lns_process.pool.buffers,
                     (size_t)(buffers_end () - lns_process.pool.buffers), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Keeps that memory mapped if the child joins a session of its own, because CUPTI keeps its pointers into the parent's
 * pool. */
static void
leave_parent (void)
{
  if (lns_cuda_engine.generation == 0 || lns_process.pool.n_buffers == 0)
    return;
  part_from_parent ();
  lns_process.pool.pool_bytes -= (size_t)(buffers_end () - lns_process.pool.buffers);
}

/* Waits for threads that are compacting a buffer and would end with the process. If a thread takes longer, the session
 * salvages its buffer. */
static void
wait_for_others (void)
{
  struct timespec pause = { .tv_nsec = 1000000 };
  for (int i = 0; i < FINISH_MS; i++)
    {
      if (__atomic_load_n (&lns_cuda_engine.n_compacting, __ATOMIC_ACQUIRE) == 0)
        return;
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
    }
}

/* Waits until our thread knows the bus ids of the devices. If the driver were asked for them here, CUPTI would record
 * that as calls of the program. */
static void
wait_for_buses (void)
{
  struct timespec pause = { .tv_nsec = 1000000 };
  for (int i = 0;
       i < FINISH_MS && __atomic_load_n (&lns_cuda_engine.has_thread, __ATOMIC_ACQUIRE) &&
       __atomic_load_n (&lns_process.pool.header->listens, __ATOMIC_ACQUIRE) == 0;
       i++)
    (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
}

/* Runs at exit() and on return from main(): the last chance for records that are not finished. */
static void
finish (void *unused)
{
  LNS_KEEP_ERRNO;
  if (!lns_cuda_is_here ())
    return;
  __atomic_store_n (&lns_cuda_engine.is_over, true, __ATOMIC_RELEASE);
  wait_for_buses ();
  lns_cuda_flush (true);
  wait_for_others ();
  lns_cuda_tell_dropped (NULL, 0);
}

/* --- The start. ------------------------------------------------------------------------------- */

/* Asks CUPTI which tool has subscribed. The only way is to try to subscribe. */
static void
ask_for_other (char *ret_name, size_t n_max)
{
  CUpti_SubscriberHandle subscriber;
  CUpti_SubscriberParams parameters = {
    /* The size as of CUDA 13.0: later versions have more fields, which older ones would refuse. */
    .structSize = offsetof (CUpti_SubscriberParams, oldSubscriberSize) + sizeof (size_t),
    .subscriberName = "lanescope",
    .oldSubscriberName = ret_name,
    .oldSubscriberSize = n_max,
  };
  if (lns_cupti.Subscribe_v2 != NULL &&
      lns_cupti.Subscribe_v2 (&subscriber, callback, NULL, &parameters) == CUPTI_SUCCESS)
    (void)LNS_CUPTI_TRY (Unsubscribe, subscriber);
  ret_name[n_max - 1] = '\0';
}

/* Subscribes. Returns false if another tool has subscribed, or nobody can. Uses the first of the two functions: after
 * the second one, only its own family of functions may be used. */
static bool
subscribe (void)
{
  char other[64] = "";
  CUptiResult result = lns_cupti.Subscribe (&lns_cuda_engine.subscriber, callback, NULL);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    {
      ask_for_other (other, sizeof other);
      lns_cuda_problem (LNS_WIRE_PROBLEM_BUSY, result, 0, other[0] == '\0' ? NULL : other);
    }
  else if (result != CUPTI_SUCCESS)
    lns_cuda_problem (LNS_WIRE_PROBLEM_SUBSCRIBE, result, 0, NULL);
  return result == CUPTI_SUCCESS;
}

/* Loads CUPTI and writes which one it is. Returns false if none can be used. */
static bool
load (void)
{
  char words[512];
  int error = lns_cupti_load (lns_cuda_options ()->cupti_path, words, sizeof words);
  if (error == -ENOENT)
    lns_cuda_problem (LNS_WIRE_PROBLEM_NO_CUPTI, 0, 0, words[0] == '\0' ? NULL : words);
  else if (error < 0)
    lns_cuda_problem (LNS_WIRE_PROBLEM_OLD_CUPTI, lns_cupti.version, 0, NULL);
  lns_cuda_tell_info ();
  if (error < 0)
    return false;
  (void)lns_cuda_learn_sizes (false);
  return true;
}

/* Starts the engine in the order that CUPTI needs: subscription, clock, buffers, settings that contexts are made with,
 * and the records last. */
static void
start (uint64_t generation)
{
  static const LnsProcessWatcher watcher = { .leave_parent = leave_parent,
                                             .follow_recording = lns_cuda_follow_recording };
  lns_cuda_engine.generation = generation;
  lns_process_watch (&watcher);
  if (!load () || !subscribe ())
    goto fail;
  (void)LNS_CUPTI_TRY (SetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  /* Without either of these nothing can be recorded. */
  if (!lns_cuda_share_clock () ||
      !LNS_CUPTI_TRY (ActivityRegisterCallbacks, lns_cuda_buffer_requested,
                      lns_cuda_buffer_completed))
    goto unsubscribe;
  __register_atfork (NULL, NULL, part_from_parent, __dso_handle);
  __cxa_atexit (finish, NULL, __dso_handle);
  lns_cuda_set_attributes ();
  lns_cuda_enable_callbacks ();
  if (lns_cuda_options ()->traces & LNS_WIRE_TRACE_CUDA)
    lns_cuda_enable_definitions ();
  lns_cuda_follow_recording ();
  return;

unsubscribe:
  (void)LNS_CUPTI_TRY (Unsubscribe, lns_cuda_engine.subscriber);
fail:
  lns_cuda_engine.generation = 0;
}

/* The CUDA driver calls this within cuInit(), on the first thread that calls that. Returns 1 always, as the program
 * must go on. */
int
InitializeInjection (void)
{
  static uint32_t is_started;
  LNS_KEEP_ERRNO;
  uint64_t generation = lns_process_join (LNS_WIRE_PATIENT_MS);
  if (generation < LNS_GENERATION_FIRST)
    return 1;
  const LnsWireOptions *options = lns_cuda_options ();
  if (((options->traces & LNS_WIRE_TRACE_CUDA) ||
       options->range_kind == LNS_WIRE_RANGE_PROFILER_API) &&
      __atomic_exchange_n (&is_started, 1, __ATOMIC_ACQ_REL) == 0)
    start (generation);
  return 1;
}
