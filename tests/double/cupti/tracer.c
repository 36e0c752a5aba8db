/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Turns what the simulated GPU reports (calls, resources, synchronisation, memory, modules) into callbacks and
 * records. */

#include "tests/double/cupti/cupti.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t _lns_cupti_n_calls;

static uint32_t
process (void)
{
  return (uint32_t)getpid ();
}

/* --- calls -------------------------------------------------------------------------------------- */

static void
write_external (const LnsGpuCall *call)
{
  uint64_t id;
  for (uint32_t kind = 1; kind < 16; kind++)
    if (_lns_cupti_external (kind, &id))
      {
        CUpti_ActivityExternalCorrelation record = {
          .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
          .externalKind = (CUpti_ExternalCorrelationKind)kind,
          .externalId = id,
          .correlationId = call->correlation,
        };
        _lns_cupti_write (&record, false);
      }
}

static void
write_call (const LnsGpuCall *call)
{
  CUpti_ActivityAPI record = {
    .kind = call->domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                        : CUPTI_ACTIVITY_KIND_DRIVER,
    .cbid = call->cbid,
    .start = call->start,
    .end = _lns_cupti_now (),
    .processId = process (),
    .threadId = _lns_cupti_thread (),
    .correlationId = call->correlation,
    .returnValue = (uint32_t)call->result,
  };
  _lns_cupti_write (&record, false);
}

/* A forked child inherits the parent's hooks, but has no buffers of its own. */
static void
call_cb (LnsGpuCall *call, bool is_exit)
{
  const bool is_child = lns_gpu_is_forked ();
  bool recorded = !is_child && _lns_cupti_api_is_enabled (call->domain, call->cbid);
  if (!is_exit && recorded)
    {
      if (_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
        write_external (call);
      call->start = _lns_cupti_now ();
    }
  if (_lns_cupti_wants (call->domain, call->cbid))
    {
      CUcontext context = is_child ? NULL : lns_gpu_context_current ();
      CUpti_CallbackData data = {
        .callbackSite = is_exit ? CUPTI_API_EXIT : CUPTI_API_ENTER,
        .functionName = call->name,
        .functionParams = call->params,
        .functionReturnValue = is_exit ? &call->result : NULL,
        .symbolName = call->symbol,
        .context = context,
        .contextUid = context != NULL ? context->id : 0,
        .correlationData = &call->correlation_tag,
        .correlationId = call->correlation,
      };
      _lns_cupti_call_back ((CUpti_CallbackDomain)call->domain, call->cbid, &data);
    }
  if (!is_exit || is_child)
    return;
  const LnsCuptiOptions *options = _lns_cupti_options ();
  const uint32_t n = __atomic_add_fetch (&_lns_cupti_n_calls, 1, __ATOMIC_RELAXED);
  if (n == options->taken)
    _lns_cupti_take_over ();
  if (n == options->left)
    _lns_cupti_leave ();
  if (n == options->fatal)
    {
      CUpti_StateData data = { .notification = { .result = CUPTI_ERROR_UNKNOWN,
                                                 .message = "CUPTI cannot go on." } };
      _lns_cupti_call_back (CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
      _lns_cupti_set_fatal ();
    }
  /* The kind was enabled during the call, so there is no record of it. */
  if (recorded && call->start != 0)
    write_call (call);
  _lns_cupti_collect (LNS_CUPTI_COLLECT_IF_FREE);
}

/* --- operations --------------------------------------------------------------------------------- */

/* A graph is traced only if GRAPH_TRACE was enabled when it was instantiated. */
#define MAX_GRAPHS 65536
static bool is_traced[MAX_GRAPHS]; /* by the id of the instance */

static bool
is_wanted (const LnsGpuOp *op)
{
  bool whole_graphs = _lns_cupti_traces_graphs ();
  if (op->kind == LNS_GPU_OP_GRAPH)
    return whole_graphs && __atomic_load_n (&is_traced[op->graph % MAX_GRAPHS], __ATOMIC_RELAXED);
  if (op->graph != 0 && whole_graphs && op->kind != LNS_GPU_OP_HOST)
    return false;
  switch (op->kind)
    {
    case LNS_GPU_OP_KERNEL:
      return _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ||
             _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_KERNEL);
    case LNS_GPU_OP_COPY:
      return _lns_cupti_is_enabled (op->copy.kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP
                                        ? CUPTI_ACTIVITY_KIND_MEMCPY2
                                        : CUPTI_ACTIVITY_KIND_MEMCPY);
    case LNS_GPU_OP_SET:
      return _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_MEMSET);
    case LNS_GPU_OP_HOST:
      return _lns_cupti_is_enabled (op->graph != 0 ? LNS_CUPTI_HOST_NODE : LNS_CUPTI_HOST_LAUNCH);
    default:
      return false;
    }
}

static void
op_cb (const LnsGpuOp *op)
{
  if (is_wanted (op))
    _lns_cupti_keep (op);
}

/* --- resources ---------------------------------------------------------------------------------- */

static void
write_device (int number)
{
  const LnsGpuDevice *device = lns_gpu_device (number);
  CUpti_ActivityDevice5 record = {
    .kind = CUPTI_ACTIVITY_KIND_DEVICE,
    .flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS,
    .globalMemoryBandwidth = 3352320000,
    .globalMemorySize = device->memory_bytes,
    .constantMemorySize = 65536,
    .l2CacheSize = 52428800,
    .numThreadsPerWarp = 32,
    .coreClockRate = 1755000,
    .numMemcpyEngines = 3,
    .numMultiprocessors = (uint32_t)device->n_multiprocessors,
    .maxWarpsPerMultiprocessor = 64,
    .maxBlocksPerMultiprocessor = 32,
    .maxSharedMemoryPerMultiprocessor = 233472,
    .maxRegistersPerMultiprocessor = 65536,
    .maxRegistersPerBlock = 65536,
    .maxSharedMemoryPerBlock = 49152,
    .maxThreadsPerBlock = 1024,
    .maxBlockDimX = 1024,
    .maxBlockDimY = 1024,
    .maxBlockDimZ = 64,
    .maxGridDimX = 2147483647,
    .maxGridDimY = 65535,
    .maxGridDimZ = 65535,
    .computeCapabilityMajor = (uint32_t)device->compute_major,
    .computeCapabilityMinor = (uint32_t)device->compute_minor,
    .id = (uint32_t)number,
    .eccEnabled = 1,
    .uuid = device->uuid,
    .name = device->name,
    .isCudaVisible = 1,
    .gpuInstanceId = UINT32_MAX,
    .computeInstanceId = UINT32_MAX,
  };
  _lns_cupti_write (&record, false);
}

void
_lns_cupti_write_devices (void)
{
  for (int i = 0; i < lns_gpu_device_count (); i++)
    write_device (i);
}

static void
write_context (CUcontext context, void *data)
{
  LnsCuptiContext record = { .pid = process () };
  record.known = (CUpti_ActivityContext3){
    .kind = CUPTI_ACTIVITY_KIND_CONTEXT,
    .contextId = context->id,
    .deviceId = (uint32_t)context->device,
    .computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
    .nullStreamId = (uint16_t)context->null_stream->id,
    .numMultiprocessors = (uint16_t)lns_gpu_device (context->device)->n_multiprocessors,
  };
  _lns_cupti_write (&record, false);
}

/* With LNS_DOUBLE_GREEN, contexts that are made after the first of their device are green ones. CUPTI 13.2 tells so by a
 * record of their own. */
static void
write_green_context (CUcontext context)
{
  static uint32_t first[16];
  uint32_t *parent = &first[context->device % 16];
  const int n = lns_gpu_device (context->device)->n_multiprocessors / 2;
  LnsCuptiGreenContext record = {
    .kind = LNS_CUPTI_GREEN_CONTEXT,
    .context = context->id,
    .parent = *parent,
    .device = (uint32_t)context->device,
    .n_tpcs = (uint32_t)n / 2,
    .n_multiprocessors = (uint16_t)n,
  };
  if (*parent == 0)
    *parent = context->id;
  else if (lns_gpu_option ("LNS_DOUBLE_GREEN", 0) != 0 &&
           _lns_cupti_is_enabled (LNS_CUPTI_GREEN_CONTEXT))
    _lns_cupti_write (&record, false);
}

static void
write_stream (CUstream stream, void *data)
{
  CUpti_ActivityStream record = {
    .kind = CUPTI_ACTIVITY_KIND_STREAM,
    .contextId = stream->context->id,
    .streamId = stream->id,
    .priority = (uint32_t)stream->priority,
    .flag = stream == stream->context->null_stream ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
            : (stream->flags & CU_STREAM_NON_BLOCKING) != 0
                ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
    .correlationId = lns_gpu_correlation (),
  };
  _lns_cupti_write (&record, false);
}

void
_lns_cupti_dump (uint32_t kind)
{
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
    _lns_cupti_write_devices ();
  else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
    lns_gpu_each_context (write_context, NULL);
  else if (kind == CUPTI_ACTIVITY_KIND_STREAM)
    lns_gpu_each_stream (write_stream, NULL);
  else if (kind == CUPTI_ACTIVITY_KIND_NVLINK || kind == CUPTI_ACTIVITY_KIND_PCIE)
    _lns_cupti_write_topology (kind);
}

static void
resource_cb (uint32_t cbid, CUcontext context, CUstream stream, void *descriptor)
{
  if (cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED &&
      _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_DEVICE))
    _lns_cupti_write_devices ();
  if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
    {
      write_green_context (context);
      if (_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_CONTEXT))
        write_context (context, NULL);
      if (_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_STREAM))
        write_stream (context->null_stream, NULL);
    }
  if (cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED &&
      _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_STREAM))
    write_stream (stream, NULL);
  CUpti_ResourceData data = { .context = context,
                              .resourceHandle.stream = stream,
                              .resourceDescriptor = descriptor };
  _lns_cupti_call_back (CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

/* --- synchronisation and events ----------------------------------------------------------------- */

static void
sync_cb (
    uint32_t type, CUcontext context, uint32_t stream, CUevent event, int64_t start_ns, int result)
{
  uint32_t cbid = type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
                      ? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
                  : type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE
                      ? CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED
                      : 0;
  CUpti_SynchronizeData data = { .context = context };
  if (cbid != 0)
    _lns_cupti_call_back (CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
  bool refused = result == CUDA_ERROR_NOT_READY && !_lns_cupti_wants_all_syncs ();
  if (!_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) || refused)
    return;
  CUpti_ActivitySynchronization2 record = {
    .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    .type = (CUpti_ActivitySynchronizationType)type,
    .start = _lns_cupti_time (start_ns, false),
    .end = _lns_cupti_now (),
    .correlationId = lns_gpu_correlation (),
    .contextId = context->id,
    .streamId = stream,
    .cudaEventId = event != NULL ? event->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
    .cudaEventSyncId = event != NULL ? event->sync_id : 0,
    .returnValue = (uint32_t)result,
  };
  _lns_cupti_write (&record, false);
}

static void
event_cb (CUevent event, uint32_t correlation)
{
  if (!_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_CUDA_EVENT))
    return;
  CUpti_ActivityCudaEvent2 record = {
    .kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
    .correlationId = correlation,
    .contextId = event->context->id,
    .streamId = event->stream,
    .eventId = event->id,
    .deviceId = (uint32_t)event->context->device,
    .deviceTimestamp = _lns_cupti_wants_event_times () ? _lns_cupti_time (event->time_ns, true) : 0,
    .cudaEventSyncId = event->sync_id,
  };
  _lns_cupti_write (&record, false);
}

/* --- memory ------------------------------------------------------------------------------------- */

static void
memory_cb (const LnsGpuAllocation *allocation, bool is_release, uint32_t stream, bool is_async)
{
  if (!_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_MEMORY2))
    return;
  CUpti_ActivityMemory4 record = {
    .kind = CUPTI_ACTIVITY_KIND_MEMORY2,
    .memoryOperationType = is_release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                      : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
    .memoryKind = (CUpti_ActivityMemoryKind)allocation->kind,
    .correlationId = lns_gpu_correlation (),
    .address = (uint64_t)(uintptr_t)allocation->address,
    .bytes = allocation->size,
    .timestamp = _lns_cupti_now (),
    .processId = process (),
    .deviceId = allocation->device < 0 ? 0 : (uint32_t)allocation->device,
    .contextId = allocation->context,
    .streamId = is_async ? stream : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
    .isAsync = is_async,
    .source = _lns_cupti_wants_sources () ? "/usr/lib/liballocator.so.1" : NULL,
  };
  const struct CUmemPoolHandle_st *pool = &allocation->pool_state;
  if (allocation->pool != NULL)
    {
      record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
      record.memoryPoolConfig.address = pool->address;
      record.memoryPoolConfig.releaseThreshold = pool->release_threshold;
      record.memoryPoolConfig.pool.size = pool->reserved_bytes;
      record.memoryPoolConfig.utilizedSize = pool->used_bytes;
    }
  _lns_cupti_write (&record, false);
}

static void
pool_cb (const struct CUmemPoolHandle_st *pool, uint32_t operation, size_t min_bytes_to_keep)
{
  if (!_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_MEMORY_POOL))
    return;
  CUpti_ActivityMemoryPool3 record = {
    .kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
    .memoryPoolOperationType = (CUpti_ActivityMemoryPoolOperationType)operation,
    .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
    .correlationId = lns_gpu_correlation (),
    .processId = process (),
    .deviceId = (uint32_t)pool->device,
    .minBytesToKeep = min_bytes_to_keep,
    .address = pool->address,
    .size = pool->reserved_bytes,
    .releaseThreshold = pool->release_threshold,
    .timestamp = _lns_cupti_now (),
    .utilizedSize = pool->used_bytes,
  };
  _lns_cupti_write (&record, false);
}

/* With LNS_DOUBLE_CONTENTION, each migration that a fault causes counts as thrashing between the host and the device, is
 * throttled for its time, and has the pages mapped to where they were. RECORD is that of the migration. */
static void
write_contention (CUpti_ActivityUnifiedMemoryCounter3 record, int to)
{
  const uint32_t from = record.srcId;
  record.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING;
  record.srcId = 1u << (to < 0 ? (int)from : to);
  record.dstId = 0;
  record.processors[0] = record.srcId;
  record.flags = CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU;
  if (_lns_cupti_counts (record.counterKind))
    _lns_cupti_write (&record, true);
  record.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING;
  record.srcId = (uint32_t)to;
  record.value = 0;
  record.flags = to < 0 ? CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU : CUPTI_ACTIVITY_FLAG_NONE;
  if (_lns_cupti_counts (record.counterKind))
    _lns_cupti_write (&record, true);
  record.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
  record.srcId = from;
  record.dstId = (uint32_t)to;
  record.value = 4096;
  record.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_THRASHING;
  if (_lns_cupti_counts (record.counterKind))
    _lns_cupti_write (&record, true);
}

static void
migration_cb (const LnsGpuAllocation *allocation,
              int from,
              int to,
              bool is_fault,
              int64_t start_ns,
              int64_t end_ns)
{
  if (!_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER))
    return;
  CUpti_ActivityUnifiedMemoryCounter3 record = {
    .kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
    .counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
    .value = (allocation->size + 4095) / 4096,
    .start = _lns_cupti_time (start_ns, true),
    .end = _lns_cupti_time (end_ns, true),
    .address = (uint64_t)(uintptr_t)allocation->address,
    .srcId = (uint32_t)to,
    .dstId = (uint32_t)to,
    .processId = process (),
    .flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ,
  };
  if (is_fault && _lns_cupti_counts (record.counterKind))
    _lns_cupti_write (&record, true);
  record.counterKind = from < 0 ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
                       : to < 0 ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH
                                : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD;
  record.value = allocation->size;
  record.srcId = (uint32_t)from; /* the host is UINT32_MAX */
  record.dstId = (uint32_t)to;
  record.flags = is_fault ? CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE
                          : CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH;
  if (_lns_cupti_counts (record.counterKind))
    _lns_cupti_write (&record, true);
  if (is_fault && lns_gpu_option ("LNS_DOUBLE_CONTENTION", 0) != 0)
    write_contention (record, to);
}

/* --- modules, overhead, faults -------------------------------------------------------------------- */

static void
write_overhead (uint32_t overhead, int64_t start_ns, void *data)
{
  if (!_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_OVERHEAD))
    return;
  CUpti_ActivityOverhead3 record = {
    .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
    .overheadKind = (CUpti_ActivityOverheadKind)overhead,
    .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
    .objectId.pt = { .processId = process (), .threadId = _lns_cupti_thread () },
    .start = _lns_cupti_time (start_ns, false),
    .end = _lns_cupti_now (),
    .correlationId = lns_gpu_correlation (),
    .overheadData = data,
  };
  _lns_cupti_write (&record, false);
}

static void
write_jit (CUcontext context, int64_t start_ns)
{
  CUpti_ActivityJit2 record = {
    .kind = CUPTI_ACTIVITY_KIND_JIT,
    .jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN,
    .jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE,
    .deviceId = context != NULL ? (uint32_t)context->device : 0,
    .start = _lns_cupti_time (start_ns, false),
    .end = _lns_cupti_now (),
    .correlationId = lns_gpu_correlation (),
    .jitOperationCorrelationId = lns_gpu_correlation (),
    .processId = process (),
    .threadId = _lns_cupti_thread (),
  };
  if (_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_JIT))
    _lns_cupti_write (&record, false);
  write_overhead (CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, start_ns, NULL);
}

static void
module_cb (CUmodule module, bool is_unload, int64_t start_ns)
{
  CUcontext context = lns_gpu_context_current ();
  if (module->text && !is_unload)
    write_jit (context, start_ns);
  CUpti_ModuleResourceData descriptor = { .moduleId = module->id,
                                          .cubinSize = module->image_bytes,
                                          .pCubin = module->image };
  CUpti_ResourceData data = { .context = context, .resourceDescriptor = &descriptor };
  _lns_cupti_call_back (CUPTI_CB_DOMAIN_RESOURCE,
                        is_unload ? CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING
                                  : CUPTI_CBID_RESOURCE_MODULE_LOADED,
                        &data);
}

static void
first_launch_cb (CUfunction function, int64_t start_ns)
{
  write_overhead (CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, start_ns, NULL);
}

static void
full_cb (int64_t start_ns)
{
  /* The client frees it. */
  const size_t n_bytes = (size_t)lns_gpu_option (
      "LNS_DOUBLE_FULL_BYTES", sizeof (CUpti_ActivityOverheadCommandBufferFullData));
  const bool has_data =
      _lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_OVERHEAD) &&
      _lns_cupti_record_bytes (CUPTI_ACTIVITY_KIND_OVERHEAD) == sizeof (CUpti_ActivityOverhead3);
  CUpti_ActivityOverheadCommandBufferFullData *data = has_data ? malloc (n_bytes) : NULL;
  if (data != NULL)
    {
      memset (data, 1, n_bytes);
      data->channelID = 7;
      data->channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
    }
  write_overhead (CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, start_ns, data);
}

static void
fault_cb (CUcontext context, int result)
{
  CUpti_StateData data = {
    .notification = { .result = CUPTI_ERROR_HARDWARE,
                      .message = "The context was lost: a kernel accessed memory illegally." }
  };
  _lns_cupti_call_back (CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_ERROR, &data);
}

static void
graph_cb (uint32_t cbid, CUcontext context, const struct LnsGpuGraphChange *change)
{
  CUpti_GraphData descriptor = {
    .graph = change->graph,
    .originalGraph = change->original_graph,
    .node = change->node,
    .originalNode = change->original_node,
    .nodeType = change->node_type,
    .dependency = change->dependency,
    .graphExec = change->exec,
  };
  CUpti_ResourceData data = { .context = context, .resourceDescriptor = &descriptor };
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
    __atomic_store_n (&is_traced[lns_gpu_graph_exec_id (change->exec) % MAX_GRAPHS],
                      _lns_cupti_traces_graphs (), __ATOMIC_RELAXED);
  _lns_cupti_call_back (CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

const LnsGpuTracer _lns_cupti_tracer = {
  .call = call_cb,
  .op = op_cb,
  .resource = resource_cb,
  .sync = sync_cb,
  .event = event_cb,
  .memory = memory_cb,
  .pool = pool_cb,
  .module = module_cb,
  .first_launch = first_launch_cb,
  .full = full_cb,
  .migration = migration_cb,
  .fault = fault_cb,
  .graph = graph_cb,
};
