/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Starts the CUDA engine, handles CUPTI's callbacks on the program's threads, and finishes with the process. */

#include "capture/inject/cuda/backtraces.h"
#include "capture/inject/cuda/buffers.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/control.h"
#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/names.h"
#include "capture/inject/cuda/owner.h"
#include "capture/inject/cuda/python.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/cuda/subscriber.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/own-work.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/range.h"
#include "capture/inject/core/join.h"
#include "capture/wire/patience.h"

#include <fcntl.h>
#include <sys/mman.h>

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjection (void);

/* How long the engine waits for CUPTI to find a driver. cuInit() takes seconds on large machines. */
#define DRIVER_MS 30000

/* Whether CUDA is recorded. If not, the engine only sees cudaProfilerStart() and cudaProfilerStop(), which are the capture
 * range of what is recorded. */
static bool
is_traced (void)
{
  return (lns_cuda_options ()->traces & LNS_WIRE_TRACE_CUDA) != 0;
}

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

/* FRAME is the frame record of the function that CUPTI called. */
static void
on_call (bool is_runtime, uint32_t cbid, const CUpti_CallbackData *call, const void *frame)
{
  uint8_t role = cbid < LNS_WIRE_CUPTI_CALLS ? lns_cuda_roles[is_runtime][cbid] : 0;
  bool is_enter = call->callbackSite == CUPTI_API_ENTER;
  const bool has_callers = cbid < LNS_WIRE_CUPTI_CALLS && !(role & LNS_CUDA_CALL_TELLS);
  if (has_callers && !is_enter)
    lns_cuda_trace_back (is_runtime, cbid, call, frame);
  if (role & LNS_CUDA_CALL_LAUNCHES)
    learn_name (call);
  if (role & LNS_CUDA_CALL_TELLS)
    lns_cuda_in_call (LNS_CUDA_CALL_IS_OURS, call->correlationId);
  if (role & (LNS_CUDA_CALL_BEGINS_RANGE | LNS_CUDA_CALL_ENDS_RANGE))
    lns_cuda_in_call (LNS_CUDA_CALL_ENTERED, call->correlationId);
  if ((role & LNS_CUDA_CALL_BEGINS_RANGE) && !is_enter)
    (void)lns_range_begin (LNS_WIRE_RANGE_PROFILER_API);
  if ((role & LNS_CUDA_CALL_ENDS_RANGE) && is_enter)
    {
      bool ended = lns_range_end (LNS_WIRE_RANGE_PROFILER_API);
      if (is_traced () && (ended || (lns_cuda_options ()->cuda & LNS_WIRE_CUDA_FLUSH_ON_STOP)))
        lns_cuda_flush (false);
    }
  if (role & (LNS_CUDA_CALL_BEGINS_RANGE | LNS_CUDA_CALL_ENDS_RANGE))
    lns_cuda_in_call (LNS_CUDA_CALL_LEFT, 0);
  if ((role & LNS_CUDA_CALL_RESETS) && is_enter)
    lns_cuda_flush (false);
  if (has_callers && is_enter)
    lns_cuda_trace_back (is_runtime, cbid, call, frame);
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

/* Writes on which device CONTEXT is, which CUPTI tells in a buffer that it may withhold for long. */
static void
tell_context (CUcontext context)
{
  LnsWireCudaContextBytes record = { .head.type = LNS_WIRE_CUDA_CONTEXT,
                                     .parent = LNS_WIRE_CUDA_NONE };
  uint32_t null_stream = 0;
  if (lns_cuda_is_silent () || lns_cupti.GetContextId == NULL || lns_cupti.GetDeviceId == NULL ||
      lns_cupti.GetContextId (context, &record.number) != CUPTI_SUCCESS ||
      lns_cupti.GetDeviceId (context, &record.device) != CUPTI_SUCCESS)
    return;
  if (lns_cupti.GetStreamIdEx != NULL &&
      lns_cupti.GetStreamIdEx (context, NULL, 0, &null_stream) == CUPTI_SUCCESS)
    record.null_stream = null_stream;
  lns_inject_stream_tell (&record, sizeof record);
}

/* CUDA is initialised. Does nothing if that is known. */
static void
begin (void)
{
  lns_cuda_control_start ();
  lns_cuda_start_clocks ();
  (void)lns_cuda_learn_sizes (false); /* for the session, should this process be killed */
}

static void
begin_context (CUcontext context)
{
  uint32_t device = LNS_WIRE_CUDA_NONE;
  tell_context (context);
  lns_cuda_configure_unified (context);
  if (LNS_CUPTI_TRY (GetDeviceId, context, &device) && device != LNS_WIRE_CUDA_NONE)
    lns_cuda_tell_used (device);
}

static void
on_resource (uint32_t cbid, const CUpti_ResourceData *resource)
{
  if (cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED || cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
    {
      lns_own_work_begin ();
      begin ();
      if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && resource != NULL)
        begin_context (resource->context);
      lns_own_work_end ();
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
    on_call (domain == CUPTI_CB_DOMAIN_RUNTIME_API, cbid, data, __builtin_frame_address (0));
  else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
    on_resource (cbid, data);
  else if (domain == CUPTI_CB_DOMAIN_STATE && data != NULL)
    {
      const CUpti_StateData *state = data;
      if (cbid == CUPTI_CBID_STATE_FATAL_ERROR)
        __atomic_store_n (&lns_cuda_engine.is_silent, true, __ATOMIC_RELEASE);
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

/* Waits for threads that are compacting a buffer, which takes 1 ms on a processor that is free, and would end with the process,
 * and for those that have yet to leave CUPTI, which is about to be torn down. If a thread takes longer, the session salvages
 * its buffer. */
static void
wait_for_others (void)
{
  struct timespec pause = { .tv_nsec = 1000000 };
  const int exit_ms = lns_patience ().exit_ms;
  for (int i = 0; i < exit_ms; i++)
    {
      if (__atomic_load_n (&lns_cuda_engine.n_compacting, __ATOMIC_ACQUIRE) == 0 &&
          __atomic_load_n (&lns_cuda_engine.n_visiting, __ATOMIC_SEQ_CST) == 0)
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
  const int exit_ms = lns_patience ().exit_ms;
  for (int i = 0; i < exit_ms && __atomic_load_n (&lns_cuda_engine.has_thread, __ATOMIC_ACQUIRE) &&
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
  lns_own_work_begin ();
  __atomic_store_n (&lns_cuda_engine.is_over, true, __ATOMIC_SEQ_CST);
  lns_cuda_tell_code ();
  wait_for_buses ();
  const uint32_t mark = lns_cuda_mark ();
  lns_cuda_flush_last ();
  wait_for_others ();
  lns_cuda_tell_dropped (NULL, 0);
  lns_cuda_look_for_mark (mark, true);
  lns_own_work_end ();
}

/* --- The start. ------------------------------------------------------------------------------- */

/* Asks CUPTI which tool has subscribed. The only way is to try to subscribe. */
static void
ask_for_other (char *ret_name, size_t n_max)
{
  CUpti_SubscriberHandle subscriber;
  LnsCuptiSubscriberParameters parameters = {
    /* The size as of CUDA 13.0: later versions have more fields, which older ones would refuse. */
    .struct_bytes = offsetof (LnsCuptiSubscriberParameters, allows_others),
    .name = "lanescope",
    .other = ret_name,
    .n_max_other = n_max,
  };
  if (lns_cupti.shared.Subscribe != NULL &&
      lns_cupti.shared.Subscribe (&subscriber, callback, NULL, &parameters) == CUPTI_SUCCESS)
    (void)LNS_CUPTI_TRY (Unsubscribe, subscriber);
  ret_name[n_max - 1] = '\0';
}

/* Whether RESULT of a subscription is about the copy of CUPTI, so that another copy may do. */
static bool
is_about_copy (CUptiResult result)
{
  return result == CUPTI_ERROR_NOT_COMPATIBLE || result == CUPTI_ERROR_NOT_INITIALIZED ||
         result == CUPTI_ERROR_UNKNOWN;
}

/* Writes why CUPTI refuses to be subscribed to. */
static void
tell_refusal (CUptiResult result)
{
  char other[64] = "";
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    {
      lns_cuda_problem (LNS_WIRE_PROBLEM_SUBSCRIBE, result, 0, NULL);
      return;
    }
  ask_for_other (other, sizeof other);
  lns_cuda_problem (LNS_WIRE_PROBLEM_BUSY, result, 0, other[0] == '\0' ? NULL : other);
}

/* Loads the first copy of CUPTI that can be subscribed to, and writes which one it is. Returns what it says to that. If
 * there is none, writes what the first one said, which is the one that suits best; but if that found no driver, takes it
 * and returns CUPTI_ERROR_UNKNOWN, as the driver may be about to come. Uses the first of the two functions that subscribe:
 * after the second one, only its own family of functions may be used. */
static CUptiResult
load (void)
{
  char words[512] = "";
  uint32_t old = 0;
  bool is_any = false;
  CUptiResult result = CUPTI_ERROR_UNKNOWN, first = CUPTI_SUCCESS;
  LnsCupti best = { 0 };
  int error;
  while ((error = lns_cupti_load_next (lns_cuda_options ()->cupti_path, words, sizeof words)) !=
         -ENOENT)
    {
      if (error < 0 && !is_any)
        old = lns_cupti.version;
      is_any = true;
      if (error < 0)
        continue;
      result = lns_cuda_subscribe (callback);
      if (first == CUPTI_SUCCESS)
        {
          first = result;
          best = lns_cupti;
        }
      if (!is_about_copy (result))
        break;
    }
  if (error != 0 && first == CUPTI_ERROR_UNKNOWN)
    lns_cupti = best;
  lns_cuda_tell_info ();
  const bool is_subscribed = error == 0 && result == CUPTI_SUCCESS;
  /* Where it is not known yet which family of functions is to be used, none of them is called. */
  if (is_subscribed ||
      (lns_cupti.ActivityGetNextRecord != NULL && lns_cupti.shared.ActivityGetNextRecord == NULL))
    (void)lns_cuda_learn_sizes (false);
  if (is_subscribed)
    return CUPTI_SUCCESS;
  if (!is_any)
    lns_cuda_problem (LNS_WIRE_PROBLEM_NO_CUPTI, 0, 0, words[0] == '\0' ? NULL : words);
  else if (first == CUPTI_SUCCESS)
    lns_cuda_problem (LNS_WIRE_PROBLEM_OLD_CUPTI, old, 0, NULL);
  else if (error != 0 && first == CUPTI_ERROR_UNKNOWN)
    return CUPTI_ERROR_UNKNOWN;
  else
    tell_refusal (error == 0 ? result : first);
  return CUPTI_ERROR_NOT_INITIALIZED;
}

/* Sets CUPTI, which is subscribed to, up in the order that it needs: clock, buffers, settings that contexts are made with,
 * and the records last. IS_LATE: the program may have made contexts. Returns false if nothing can be recorded. */
static bool
set_up (bool is_late)
{
  if (!is_traced ())
    {
      lns_cuda_watch_ranges ();
      return true;
    }
  lns_cuda_use_thread_ids ();
  /* Without either of these nothing can be recorded. */
  if (!lns_cuda_share_clock () ||
      !lns_cuda_register_buffers (lns_cuda_buffer_requested, lns_cuda_buffer_completed))
    {
      (void)LNS_CUPTI_TRY (Unsubscribe, lns_cuda_engine.subscriber);
      return false;
    }
  __register_atfork (NULL, NULL, part_from_parent, __dso_handle);
  __cxa_atexit (finish, NULL, __dso_handle);
  lns_cuda_set_attributes ();
  lns_cuda_enable_backtraces ();
  lns_cuda_enable_callbacks ();
  lns_cuda_enable_kinds (is_late);
  /* Its record is ours for sure, as no call of the program can have come before. */
  lns_cuda_mark ();
  __atomic_store_n (&lns_cuda_engine.is_set_up, true, __ATOMIC_RELEASE);
  lns_cuda_follow_recording ();
  return true;
}

/* Subscribes as soon as CUPTI finds a driver. Runs in a thread of ours, as CUPTI calls nobody before. */
static void *
subscribe_later (void *unused)
{
  lns_own_work_begin ();
  CUptiResult result = CUPTI_ERROR_UNKNOWN;
  for (int waited_ms = 0; result == CUPTI_ERROR_UNKNOWN && waited_ms < DRIVER_MS;)
    {
      const int pause_ms = waited_ms < 1000 ? 1 : 50;
      const struct timespec pause = { .tv_nsec = pause_ms * 1000000 };
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
      waited_ms += pause_ms;
      if (!lns_cuda_is_here () || !lns_cuda_visit ())
        return NULL;
      result = lns_cuda_subscribe (callback);
      if (result == CUPTI_ERROR_UNKNOWN)
        lns_cuda_leave ();
    }
  if (result == CUPTI_ERROR_UNKNOWN && !lns_cuda_visit ())
    return NULL;
  if (result != CUPTI_SUCCESS)
    tell_refusal (result);
  else
    (void)lns_cuda_learn_sizes (false);
  if (result != CUPTI_SUCCESS || !set_up (true))
    lns_cuda_engine.generation = 0;
  else if (is_traced ())
    begin (); /* cuInit() may have returned */
  lns_cuda_leave ();
  return NULL;
}

/* Runs at the end of a process in which CUPTI found no driver at the beginning. */
static void
finish_waiting (void *unused)
{
  LNS_KEEP_ERRNO;
  if (!lns_cuda_is_here ())
    return;
  __atomic_store_n (&lns_cuda_engine.is_over, true, __ATOMIC_SEQ_CST);
  wait_for_others ();
  if (lns_cuda_is_here () && is_traced () &&
      !__atomic_load_n (&lns_cuda_engine.is_set_up, __ATOMIC_ACQUIRE))
    tell_refusal (CUPTI_ERROR_UNKNOWN);
}

static void
start (uint64_t generation)
{
  static const LnsProcessWatcher watcher = { .leave_parent = leave_parent,
                                             .follow_recording = lns_cuda_follow_recording };
  lns_cuda_engine.generation = generation;
  lns_cuda_prepare_backtraces ();
  lns_cuda_find_python ();
  lns_process_watch (&watcher);
  const CUptiResult result = load ();
  if (result == CUPTI_SUCCESS && set_up (false))
    return;
  if (result == CUPTI_ERROR_UNKNOWN)
    {
      if (lns_cuda_start_thread (subscribe_later) == 0)
        {
          __cxa_atexit (finish_waiting, NULL, __dso_handle);
          return;
        }
      tell_refusal (result);
    }
  lns_cuda_engine.generation = 0;
}

/* The CUDA driver calls this within cuInit(), on the first thread that calls that. Returns 1 always, as the program
 * must go on. */
int
InitializeInjection (void)
{
  static uint32_t is_started;
  LNS_KEEP_ERRNO;
  uint64_t generation = lns_process_join (true);
  if (generation < LNS_GENERATION_FIRST)
    return 1;
  const LnsWireOptions *options = lns_cuda_options ();
  if ((is_traced () || options->range_kind == LNS_WIRE_RANGE_PROFILER_API) &&
      __atomic_exchange_n (&is_started, 1, __ATOMIC_ACQ_REL) == 0)
    {
      lns_own_work_begin ();
      start (generation);
      lns_own_work_end ();
    }
  return 1;
}
