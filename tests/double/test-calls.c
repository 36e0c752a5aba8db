/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests of CUPTI's entry points, one by one, through the driver API: what they return, and what they change in
 * the records. */

#include "tests/tap.h"

#include <cuda.h>
#include <cupti.h>

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define MAX_RECORDS 256

static const char ptx[] = ".visible .entry work()\n{\n ret;\n}\n";

/* The records of the test case; each has room for the largest kind. */
static union
{
  CUpti_Activity head;
  CUpti_ActivityAPI call;
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivitySynchronization2 sync;
  CUpti_ActivityExternalCorrelation external;
} records[MAX_RECORDS];
static size_t n_records;
static unsigned n_callbacks;
static CUfunction function;
static CUcontext context;

static void
request_cb (uint8_t **buffer, size_t *size, size_t *max_records)
{
  *size = 65536;
  *max_records = 0;
  *buffer = aligned_alloc (8, *size);
}

static void
complete_cb (CUcontext of, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
  CUpti_Activity *record = NULL, *next = NULL;
  while (cuptiActivityGetNextRecord (buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    {
      next = record;
      size_t bytes = cuptiActivityGetNextRecord (buffer, valid_bytes, &next) == CUPTI_SUCCESS
                         ? (size_t)((uint8_t *)next - (uint8_t *)record)
                         : (size_t)(buffer + valid_bytes - (uint8_t *)record);
      if (n_records < MAX_RECORDS && bytes <= sizeof records[0])
        memcpy (&records[n_records++], record, bytes);
    }
  free (buffer);
}

static void
callback_cb (void *data, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *what)
{
  n_callbacks++;
}

/* A clock of the test's own: the monotonic clock, 1000 s ahead. */
static uint64_t
clock_cb (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t)((now.tv_sec + 1000) * 1000000000LL + now.tv_nsec);
}

static void
launch (CUstream stream)
{
  LNS_CHECK_INT (cuLaunchKernel (function, 4, 1, 1, 64, 1, 1, 0, stream, NULL, NULL), CUDA_SUCCESS);
}

static void
flush (void)
{
  n_records = 0;
  LNS_CHECK_INT (cuCtxSynchronize (), CUDA_SUCCESS);
  LNS_CHECK_INT (cuptiActivityFlushAll (0), CUPTI_SUCCESS);
}

static size_t
count (CUpti_ActivityKind kind)
{
  size_t n = 0;
  for (size_t i = 0; i < n_records; i++)
    n += records[i].head.kind == kind;
  return n;
}

static void
test_before_the_driver (void)
{
  uint32_t version, id;
  CUpti_ActivityUnifiedMemoryCounterConfig config = { .enable = 1 };
  LNS_CHECK_INT (cuptiGetVersion (&version), CUPTI_SUCCESS);
  LNS_CHECK_INT (version, 130001);
  LNS_CHECK_INT (cuptiActivityFlushAll (0), CUPTI_ERROR_INVALID_OPERATION);
  LNS_CHECK_INT (cuptiActivityRegisterCallbacks (NULL, complete_cb), CUPTI_ERROR_INVALID_PARAMETER);
  LNS_CHECK_INT (cuptiActivityRegisterTimestampCallback (NULL), CUPTI_ERROR_INVALID_PARAMETER);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_BRANCH), CUPTI_ERROR_INVALID_KIND);
  LNS_CHECK_INT (cuptiActivityConfigureUnifiedMemoryCounter (&config, 1),
                 CUPTI_ERROR_NOT_INITIALIZED);
  LNS_CHECK_INT (cuptiGetContextId (NULL, &id), CUPTI_ERROR_INVALID_CONTEXT);
  LNS_CHECK_INT (cuptiActivityEnableHWTrace (1), CUPTI_ERROR_NOT_SUPPORTED);
  LNS_CHECK_INT (cuDeviceGetCount ((int *)&id), CUDA_ERROR_NOT_INITIALIZED);
}

static void
test_one_subscriber (void)
{
  CUpti_SubscriberHandle first, second = NULL;
  uint32_t on = 7;
  LNS_CHECK_INT (cuptiSubscribe (&first, callback_cb, NULL), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiSubscribe (&second, callback_cb, NULL),
                 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  LNS_CHECK_INT (cuptiUnsubscribe (second), CUPTI_ERROR_INVALID_PARAMETER);
  LNS_CHECK_INT (cuptiEnableCallback (1, first, CUPTI_CB_DOMAIN_DRIVER_API, 307), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiGetCallbackState (&on, first, CUPTI_CB_DOMAIN_DRIVER_API, 307),
                 CUPTI_SUCCESS);
  LNS_CHECK_INT (on, 1);
  LNS_CHECK_INT (cuptiGetCallbackState (&on, first, CUPTI_CB_DOMAIN_DRIVER_API, 308),
                 CUPTI_SUCCESS);
  LNS_CHECK_INT (on, 0);
  LNS_CHECK_INT (cuptiEnableDomain (1, first, (CUpti_CallbackDomain)99),
                 CUPTI_ERROR_INVALID_PARAMETER);
  n_callbacks = 0;
  launch (NULL);
  LNS_CHECK_INT (n_callbacks, 2);
  LNS_CHECK_INT (cuptiUnsubscribe (first), CUPTI_SUCCESS);
  launch (NULL);
  LNS_CHECK_INT (n_callbacks, 2);
  LNS_CHECK_INT (cuptiSubscribe (&second, callback_cb, NULL), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiUnsubscribe (second), CUPTI_SUCCESS);
}

static void
test_attributes (void)
{
  uint64_t value = 0;
  size_t size = sizeof value, small = 4, one = 1;
  uint8_t flag = 7;
  LNS_CHECK_INT (
      cuptiActivityGetAttribute (CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &value),
      CUPTI_SUCCESS);
  LNS_CHECK_INT (value, 250);
  LNS_CHECK_INT (
      cuptiActivityGetAttribute (CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &small, &value),
      CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
  LNS_CHECK_INT (
      cuptiActivityGetAttribute (CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &one, &flag),
      CUPTI_SUCCESS);
  LNS_CHECK_INT (flag, 1);
  value = 8 << 20;
  LNS_CHECK_INT (cuptiActivitySetAttribute (CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value),
                 CUPTI_SUCCESS);
  value = 0;
  LNS_CHECK_INT (cuptiActivityGetAttribute (CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value),
                 CUPTI_SUCCESS);
  LNS_CHECK_INT (value, 8 << 20);
  LNS_CHECK_INT (cuptiActivityGetAttribute ((CUpti_ActivityAttribute)99, &size, &value),
                 CUPTI_ERROR_INVALID_PARAMETER);
}

static void
test_external_ids (void)
{
  uint64_t last;
  LNS_CHECK_INT (
      cuptiActivityPushExternalCorrelationId (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 41),
      CUPTI_SUCCESS);
  LNS_CHECK_INT (
      cuptiActivityPushExternalCorrelationId (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 42),
      CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  launch (NULL);
  LNS_CHECK_INT (cuptiActivityDisable (CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  flush ();
  LNS_CHECK_INT (n_records, 2);
  LNS_CHECK_INT (records[0].external.externalId, 42);
  LNS_CHECK_INT (records[0].external.externalKind, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
  LNS_CHECK_INT (records[0].external.correlationId, records[1].call.correlationId);
  LNS_CHECK_INT (
      cuptiActivityPopExternalCorrelationId (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
      CUPTI_SUCCESS);
  LNS_CHECK_INT (last, 42);
  LNS_CHECK_INT (
      cuptiActivityPopExternalCorrelationId (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL),
      CUPTI_SUCCESS);
  LNS_CHECK_INT (
      cuptiActivityPopExternalCorrelationId (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
      CUPTI_ERROR_QUEUE_EMPTY);
  LNS_CHECK_INT (cuptiActivityDisable (CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), CUPTI_SUCCESS);
}

static void
test_ids (void)
{
  CUstream stream;
  CUgraph graph;
  CUgraphExec exec;
  CUgraphNode node;
  uint64_t node_id = 0;
  uint32_t id = 0, null_id = 0, stream_id = 0, thread_id = 0, device = 7, graph_id = 0, exec_id = 0;
  CUDA_KERNEL_NODE_PARAMS params = { .func = function,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1 };
  LNS_CHECK_INT (cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  LNS_CHECK_INT (cuptiGetContextId (context, &id), CUPTI_SUCCESS);
  LNS_CHECK_INT (id, 1);
  LNS_CHECK_INT (cuptiGetDeviceId (context, &device), CUPTI_SUCCESS);
  LNS_CHECK_INT (device, 0);
  LNS_CHECK_INT (cuptiGetStreamIdEx (context, NULL, 0, &null_id), CUPTI_SUCCESS);
  LNS_CHECK_INT (null_id, 7);
  LNS_CHECK_INT (cuptiGetStreamIdEx (context, stream, 0, &stream_id), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiGetStreamIdEx (context, NULL, 1, &thread_id), CUPTI_SUCCESS);
  LNS_CHECK (stream_id != null_id && thread_id != null_id && thread_id != stream_id);
  LNS_CHECK_INT (cuGraphCreate (&graph, 0), CUDA_SUCCESS);
  LNS_CHECK_INT (cuGraphAddKernelNode (&node, graph, NULL, 0, &params), CUDA_SUCCESS);
  LNS_CHECK_INT (cuGraphInstantiate (&exec, graph, 0), CUDA_SUCCESS);
  LNS_CHECK_INT (cuptiGetGraphNodeId (node, &node_id), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiGetGraphId (graph, &graph_id), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiGetGraphExecId (exec, &exec_id), CUPTI_SUCCESS);
  LNS_CHECK (node_id != 0 && graph_id != 0 && exec_id != graph_id);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuGraphLaunch (exec, stream), CUDA_SUCCESS);
  flush ();
  LNS_CHECK_INT (n_records, 1);
  LNS_CHECK_INT (records[0].kernel.streamId, stream_id);
  LNS_CHECK_INT (records[0].kernel.graphId, exec_id);
  LNS_CHECK (records[0].kernel.graphNodeId != 0 && records[0].kernel.graphNodeId != node_id);
}

static void
test_threads_are_named_as_asked (void)
{
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  launch (NULL);
  LNS_CHECK_INT (cuptiSetThreadIdType (CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), CUPTI_SUCCESS);
  launch (NULL);
  LNS_CHECK_INT (cuptiSetThreadIdType (CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE),
                 CUPTI_ERROR_INVALID_PARAMETER);
  LNS_CHECK_INT (cuptiActivityDisable (CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  flush ();
  uint32_t expected[] = { (uint32_t)pthread_self (), (uint32_t)gettid () };
  size_t n = 0;
  for (size_t i = 0; i < n_records; i++)
    if (records[i].head.kind == CUPTI_ACTIVITY_KIND_DRIVER)
      LNS_CHECK_INT (records[i].call.threadId, expected[n++]);
  LNS_CHECK_INT (n, 2);
}

static void
test_single_functions (void)
{
  int n_devices;
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityEnableDriverApi (CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount, 0),
                 CUPTI_SUCCESS);
  cuDeviceGetCount (&n_devices);
  launch (NULL);
  LNS_CHECK_INT (cuptiActivityDisable (CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  flush ();
  LNS_CHECK_INT (count (CUPTI_ACTIVITY_KIND_DRIVER), 1);
  LNS_CHECK_INT (cuptiActivityEnableDriverApi (CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount, 1),
                 CUPTI_SUCCESS);
  cuDeviceGetCount (&n_devices);
  launch (NULL);
  LNS_CHECK_INT (cuptiActivityEnableDriverApi (CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount, 0),
                 CUPTI_SUCCESS);
  flush ();
  LNS_CHECK_INT (count (CUPTI_ACTIVITY_KIND_DRIVER), 1);
}

static void
test_queries_that_are_refused (void)
{
  CUevent event;
  LNS_CHECK_INT (cuEventCreate (&event, 0), CUDA_SUCCESS);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), CUPTI_SUCCESS);
  for (uint8_t all = 0; all < 2; all++)
    {
      LNS_CHECK_INT (cuptiActivityEnableAllSyncRecords (all), CUPTI_SUCCESS);
      /* 249 waves last a quarter of a millisecond: the query usually comes before their end. */
      LNS_CHECK_INT (cuLaunchKernel (function, 1 << 20, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_SUCCESS);
      LNS_CHECK_INT (cuEventRecord (event, NULL), CUDA_SUCCESS);
      CUresult query = cuEventQuery (event);
      flush ();
      LNS_CHECK_INT (count (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION),
                     (query == CUDA_SUCCESS || all) + 1);
    }
  LNS_CHECK_INT (cuptiActivityDisable (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), CUPTI_SUCCESS);
}

static void
test_latency_and_a_clock (void)
{
  uint64_t before = clock_cb ();
  LNS_CHECK_INT (cuptiActivityRegisterTimestampCallback (clock_cb), CUPTI_SUCCESS);
  launch (NULL);
  flush ();
  LNS_CHECK_INT (n_records, 1);
  LNS_CHECK (records[0].kernel.start > before && records[0].kernel.end < clock_cb ());
  LNS_CHECK (records[0].kernel.queued == 0 && records[0].kernel.submitted == 0);
  LNS_CHECK_INT (cuptiActivityEnableLatencyTimestamps (1), CUPTI_SUCCESS);
  launch (NULL);
  flush ();
  LNS_CHECK (records[0].kernel.queued > before &&
             records[0].kernel.queued <= records[0].kernel.submitted &&
             records[0].kernel.submitted <= records[0].kernel.start);
}

/* The null stream and blocking streams wait for each other; a non-blocking stream starts at once. */
static void
test_the_null_stream (void)
{
  CUstream blocking, free_stream;
  uint32_t ids[3];
  const CUpti_ActivityKernel10 *found[4] = { NULL };
  LNS_CHECK_INT (cuStreamCreate (&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  LNS_CHECK_INT (cuStreamCreate (&free_stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUstream streams[] = { NULL, blocking, free_stream, NULL };
  for (int i = 0; i < 3; i++)
    LNS_CHECK_INT (cuptiGetStreamIdEx (context, streams[i], 0, &ids[i]), CUPTI_SUCCESS);
  for (int i = 0; i < 4; i++)
    LNS_CHECK_INT (
        cuLaunchKernel (function, 1 << 20, 1, 1, 64, 1, 1, (unsigned)i, streams[i], NULL, NULL),
        CUDA_SUCCESS);
  flush ();
  LNS_CHECK_INT (n_records, 4);
  for (int i = 0; i < 4; i++)
    found[records[i].kernel.dynamicSharedMemory] = &records[i].kernel;
  for (int i = 0; i < 4; i++)
    LNS_CHECK_INT (found[i]->streamId, ids[i % 3]);
  LNS_CHECK (found[1]->start >= found[0]->end);
  LNS_CHECK (found[3]->start >= found[1]->end);
  LNS_CHECK_INT (found[2]->start - found[2]->queued, 2000);
}

static void
test_nothing_after_finalize (void)
{
  CUpti_SubscriberHandle subscriber;
  LNS_CHECK_INT (cuptiSubscribe (&subscriber, callback_cb, NULL), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiEnableDomain (1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), CUPTI_SUCCESS);
  n_records = 0;
  launch (NULL);
  LNS_CHECK_INT (cuptiFinalize (), CUPTI_SUCCESS);
  LNS_CHECK_INT (n_records, 1);
  unsigned before = n_callbacks;
  launch (NULL);
  flush ();
  LNS_CHECK_INT (n_records, 0);
  LNS_CHECK_INT (n_callbacks, before);
}

int
main (void)
{
  CUmodule module;
  LNS_TEST (test_before_the_driver);
  if (cuInit (0) != CUDA_SUCCESS || cuCtxCreate (&context, NULL, 0, 0) != CUDA_SUCCESS ||
      cuModuleLoadData (&module, ptx) != CUDA_SUCCESS ||
      cuModuleGetFunction (&function, module, "work") != CUDA_SUCCESS ||
      cuptiActivityRegisterCallbacks (request_cb, complete_cb) != CUPTI_SUCCESS)
    return 1;
  LNS_TEST (test_one_subscriber);
  LNS_TEST (test_attributes);
  LNS_TEST (test_external_ids);
  LNS_TEST (test_ids);
  LNS_TEST (test_threads_are_named_as_asked);
  LNS_TEST (test_single_functions);
  LNS_TEST (test_queries_that_are_refused);
  LNS_TEST (test_latency_and_a_clock);
  LNS_TEST (test_the_null_stream);
  LNS_TEST (test_nothing_after_finalize);
  return lns_tap_done ();
}
