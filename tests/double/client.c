/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A minimal CUPTI client for CUDA_INJECTION64_PATH: enables activity kinds, writes each record as a line of
 * JSON, and writes the buffers as they are. It works with NVIDIA's libraries too.
 *
 * LNS_CLIENT_OUT=FILE       where the lines go; unset: the client does nothing
 * LNS_CLIENT_BUFFERS=FILE   each buffer: its size as a uint64_t, then its bytes
 * LNS_CLIENT_KINDS=A,B,…    kinds to enable; unset: all
 * LNS_CLIENT_CUPTI=NAME     the library; unset: libcupti.so.13
 * LNS_CLIENT_BUFFER_BYTES=N size of a buffer; unset: 64 KiB
 * LNS_CLIENT_PERIOD_MS=N    period of cuptiActivityFlushPeriod
 * LNS_CLIENT_MAX_RECORDS=N  at most N records a buffer
 * LNS_CLIENT_CALLBACKS=0    no callbacks but that of cuInit
 * LNS_CLIENT_RANGE=1        enables kinds only from cudaProfilerStart to cudaProfilerStop
 * LNS_CLIENT_FLUSH=no       does not flush when the program exits */

#include <cupti.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_KINDS 64

typedef enum
{
  UNSIGNED,
  SIGNED,
  TEXT,
} FieldType;

typedef struct
{
  uint32_t kind;
  const char *name;
  size_t offset;
  size_t size;
  FieldType type;
} Field;

#define FIELD_AS(KIND, RECORD, NAME, TYPE)                                                         \
 {                                                                                                 \
  CUPTI_ACTIVITY_KIND_##KIND, #NAME, offsetof (RECORD, NAME), sizeof (((RECORD *)0)->NAME), TYPE   \
 }
#define FIELD(KIND, RECORD, NAME) FIELD_AS (KIND, RECORD, NAME, UNSIGNED)

#define KERNEL(NAME) FIELD (CONCURRENT_KERNEL, CUpti_ActivityKernel10, NAME)
#define COPY(NAME)   FIELD (MEMCPY, CUpti_ActivityMemcpy6, NAME)
#define PEER(NAME)   FIELD (MEMCPY2, CUpti_ActivityMemcpyPtoP4, NAME)
#define SET(NAME)    FIELD (MEMSET, CUpti_ActivityMemset4, NAME)
#define API(KIND)                                                                                  \
 FIELD (KIND, CUpti_ActivityAPI, cbid), FIELD (KIND, CUpti_ActivityAPI, start),                    \
     FIELD (KIND, CUpti_ActivityAPI, end), FIELD (KIND, CUpti_ActivityAPI, processId),             \
     FIELD (KIND, CUpti_ActivityAPI, threadId), FIELD (KIND, CUpti_ActivityAPI, correlationId),    \
     FIELD (KIND, CUpti_ActivityAPI, returnValue)
#define DEVICE(NAME)   FIELD (DEVICE, CUpti_ActivityDevice5, NAME)
#define CONTEXT(NAME)  FIELD (CONTEXT, CUpti_ActivityContext3, NAME)
#define STREAM(NAME)   FIELD (STREAM, CUpti_ActivityStream, NAME)
#define SYNC(NAME)     FIELD (SYNCHRONIZATION, CUpti_ActivitySynchronization2, NAME)
#define OVERHEAD(NAME) FIELD (OVERHEAD, CUpti_ActivityOverhead3, NAME)
#define EVENT(NAME)    FIELD (CUDA_EVENT, CUpti_ActivityCudaEvent2, NAME)
#define GRAPH(NAME)    FIELD (GRAPH_TRACE, CUpti_ActivityGraphTrace2, NAME)
#define MEMORY(NAME)   FIELD (MEMORY2, CUpti_ActivityMemory4, NAME)
#define POOL(NAME)     FIELD (MEMORY_POOL, CUpti_ActivityMemoryPool3, NAME)
#define JIT(NAME)      FIELD (JIT, CUpti_ActivityJit2, NAME)
#define MANAGED(NAME)  FIELD (UNIFIED_MEMORY_COUNTER, CUpti_ActivityUnifiedMemoryCounter3, NAME)
#define EXTERNAL(NAME) FIELD (EXTERNAL_CORRELATION, CUpti_ActivityExternalCorrelation, NAME)

static const Field fields[] = {
  FIELD_AS (CONCURRENT_KERNEL, CUpti_ActivityKernel10, name, TEXT),
  KERNEL (start),
  KERNEL (end),
  KERNEL (deviceId),
  KERNEL (contextId),
  KERNEL (streamId),
  KERNEL (correlationId),
  KERNEL (gridX),
  KERNEL (gridY),
  KERNEL (gridZ),
  KERNEL (blockX),
  KERNEL (blockY),
  KERNEL (blockZ),
  KERNEL (staticSharedMemory),
  KERNEL (dynamicSharedMemory),
  KERNEL (registersPerThread),
  KERNEL (launchType),
  KERNEL (queued),
  KERNEL (submitted),
  KERNEL (graphNodeId),
  KERNEL (graphId),
  KERNEL (channelID),
  KERNEL (clusterX),
  KERNEL (clusterY),
  KERNEL (clusterZ),
  COPY (start),
  COPY (end),
  COPY (copyKind),
  COPY (srcKind),
  COPY (dstKind),
  COPY (flags),
  COPY (bytes),
  COPY (deviceId),
  COPY (contextId),
  COPY (streamId),
  COPY (correlationId),
  COPY (graphNodeId),
  COPY (graphId),
  COPY (copyCount),
  PEER (start),
  PEER (end),
  PEER (copyKind),
  PEER (bytes),
  PEER (deviceId),
  PEER (contextId),
  PEER (streamId),
  PEER (srcDeviceId),
  PEER (dstDeviceId),
  PEER (correlationId),
  SET (start),
  SET (end),
  SET (value),
  SET (bytes),
  SET (deviceId),
  SET (contextId),
  SET (streamId),
  SET (correlationId),
  SET (memoryKind),
  SET (flags),
  SET (graphNodeId),
  SET (graphId),
  API (RUNTIME),
  API (DRIVER),
  FIELD_AS (DEVICE, CUpti_ActivityDevice5, name, TEXT),
  DEVICE (id),
  DEVICE (globalMemorySize),
  DEVICE (numMultiprocessors),
  DEVICE (computeCapabilityMajor),
  CONTEXT (contextId),
  CONTEXT (deviceId),
  CONTEXT (nullStreamId),
  CONTEXT (numMultiprocessors),
  STREAM (contextId),
  STREAM (streamId),
  FIELD_AS (STREAM, CUpti_ActivityStream, priority, SIGNED),
  STREAM (flag),
  STREAM (correlationId),
  SYNC (type),
  SYNC (start),
  SYNC (end),
  SYNC (correlationId),
  SYNC (contextId),
  SYNC (streamId),
  SYNC (cudaEventId),
  SYNC (cudaEventSyncId),
  SYNC (returnValue),
  OVERHEAD (overheadKind),
  OVERHEAD (start),
  OVERHEAD (end),
  OVERHEAD (correlationId),
  EVENT (correlationId),
  EVENT (contextId),
  EVENT (streamId),
  EVENT (eventId),
  EVENT (deviceTimestamp),
  EVENT (cudaEventSyncId),
  GRAPH (correlationId),
  GRAPH (start),
  GRAPH (end),
  GRAPH (deviceId),
  GRAPH (graphId),
  GRAPH (contextId),
  GRAPH (streamId),
  MEMORY (memoryOperationType),
  MEMORY (memoryKind),
  MEMORY (correlationId),
  MEMORY (address),
  MEMORY (bytes),
  MEMORY (timestamp),
  MEMORY (contextId),
  MEMORY (streamId),
  MEMORY (isAsync),
  MEMORY (memoryPoolConfig.memoryPoolType),
  MEMORY (memoryPoolConfig.address),
  MEMORY (memoryPoolConfig.utilizedSize),
  POOL (memoryPoolOperationType),
  POOL (memoryPoolType),
  POOL (correlationId),
  POOL (address),
  POOL (size),
  POOL (releaseThreshold),
  POOL (utilizedSize),
  JIT (jitEntryType),
  JIT (jitOperationType),
  JIT (start),
  JIT (end),
  JIT (correlationId),
  JIT (processId),
  MANAGED (counterKind),
  MANAGED (value),
  MANAGED (start),
  MANAGED (end),
  MANAGED (address),
  MANAGED (srcId),
  MANAGED (dstId),
  EXTERNAL (externalKind),
  EXTERNAL (externalId),
  EXTERNAL (correlationId),
};

#define FUNCTIONS(F)                                                                               \
 F (cuptiSubscribe)                                                                                \
 F (cuptiEnableCallback)                                                                           \
 F (cuptiEnableDomain)                                                                             \
 F (cuptiSetThreadIdType)                                                                          \
 F (cuptiActivityRegisterTimestampCallback)                                                        \
 F (cuptiActivityRegisterCallbacks)                                                                \
 F (cuptiActivityEnable)                                                                           \
 F (cuptiActivityEnableAndDump)                                                                    \
 F (cuptiActivityDisable)                                                                          \
 F (cuptiActivityFlushAll)                                                                         \
 F (cuptiActivityFlushPeriod)                                                                      \
 F (cuptiActivityGetNextRecord)                                                                    \
 F (cuptiActivityGetNumDroppedRecords)                                                             \
 F (cuptiActivityEnableLatencyTimestamps)                                                          \
 F (cuptiActivityEnableCudaEventDeviceTimestamps)                                                  \
 F (cuptiActivityConfigureUnifiedMemoryCounter)

/* Functions that the library lacks stay NULL. */
static struct
{
#define MEMBER(NAME) __typeof__ (NAME) *NAME;
  FUNCTIONS (MEMBER)
} cupti;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out, *buffers;
static size_t record_bytes[MAX_KINDS];

static size_t
option (const char *name, size_t fallback)
{
  const char *text = getenv (name);
  return text != NULL ? strtoul (text, NULL, 0) : fallback;
}

static uint64_t
now_cb (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t)(now.tv_sec * 1000000000LL + now.tv_nsec);
}

static void
request_cb (uint8_t **buffer, size_t *size, size_t *max_records)
{
  *size = option ("LNS_CLIENT_BUFFER_BYTES", 65536);
  *max_records = option ("LNS_CLIENT_MAX_RECORDS", 0);
  *buffer = *size > 0 ? aligned_alloc (8, *size) : NULL;
}

/* The size of each kind's record in the loaded library, found by stepping over one. */
static void
learn_sizes (void)
{
  static uint64_t bytes[256];
  for (uint32_t kind = 1; kind < MAX_KINDS; kind++)
    {
      for (size_t i = 0; i < 256; i++)
        bytes[i] = CUPTI_ACTIVITY_KIND_RUNTIME;
      bytes[0] = kind;
      CUpti_Activity *record = (CUpti_Activity *)bytes;
      if (cupti.cuptiActivityGetNextRecord ((uint8_t *)bytes, sizeof bytes, &record) ==
          CUPTI_SUCCESS)
        record_bytes[kind] = (size_t)((uint8_t *)record - (uint8_t *)bytes);
    }
  fprintf (out, "{\"sizes\":[0");
  for (uint32_t kind = 1; kind < MAX_KINDS; kind++)
    fprintf (out, ",%zu", record_bytes[kind]);
  fprintf (out, "]}\n");
}

static void
write_field (const uint8_t *record, const Field *field)
{
  uint64_t value = 0;
  memcpy (&value, record + field->offset, field->size);
  if (field->type == TEXT)
    fprintf (out, ",\"%s\":\"%s\"", field->name, (const char *)(uintptr_t)value);
  else if (field->type == SIGNED)
    fprintf (out, ",\"%s\":%d", field->name, (int)value);
  else
    fprintf (out, ",\"%s\":%lu", field->name, value);
}

static void
write_record (const uint8_t *record)
{
  uint32_t kind;
  memcpy (&kind, record, sizeof kind);
  fprintf (out, "{\"kind\":%u", kind);
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    if (fields[i].kind == kind && fields[i].offset + fields[i].size <= record_bytes[kind])
      write_field (record, &fields[i]);
  fprintf (out, "}\n");
}

static void
complete_cb (CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
  CUpti_Activity *record = NULL;
  size_t dropped = 0;
  pthread_mutex_lock (&lock);
  uint64_t length = valid_bytes;
  if (buffers != NULL)
    {
      fwrite (&length, sizeof length, 1, buffers);
      fwrite (buffer, 1, valid_bytes, buffers);
      fflush (buffers);
    }
  while (cupti.cuptiActivityGetNextRecord (buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    write_record ((const uint8_t *)record);
  cupti.cuptiActivityGetNumDroppedRecords (NULL, 0, &dropped);
  fprintf (out, "{\"buffer\":%zu,\"valid\":%zu,\"dropped\":%zu}\n", size, valid_bytes, dropped);
  fflush (out);
  pthread_mutex_unlock (&lock);
  free (buffer);
}

static void
write_api (uint32_t domain, uint32_t cbid, const CUpti_CallbackData *data)
{
  bool is_exit = data->callbackSite == CUPTI_API_EXIT;
  fprintf (out,
           "{\"callback\":%u,\"cbid\":%u,\"exit\":%d,\"name\":\"%s\",\"symbol\":\"%s\","
           "\"correlationId\":%u,\"context\":%u",
           domain, cbid, is_exit, data->functionName,
           data->symbolName != NULL ? data->symbolName : "", data->correlationId, data->contextUid);
  if (is_exit)
    fprintf (out, ",\"result\":%d,\"tag\":%lu", *(int *)data->functionReturnValue,
             *data->correlationData);
  else
    *data->correlationData = 1000000 + data->correlationId;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020)
    fprintf (out, ",\"size\":%zu", ((const cudaMalloc_v3020_params *)data->functionParams)->size);
  fprintf (out, "}\n");
}

static void
report (const char *call, uint32_t argument, CUptiResult result)
{
  if (result != CUPTI_SUCCESS)
    fprintf (out, "{\"failed\":\"%s\",\"argument\":%u,\"result\":%d}\n", call, argument, result);
  fflush (out);
}

/* Enables or disables each kind that is asked for; what exists already is dumped. */
static void
switch_kinds (bool on)
{
  static const char *all = "1,2,4,5,8,9,10,17,22,25,36,37,38,39,49,50,52";
  const char *text = getenv ("LNS_CLIENT_KINDS");
  bool is_range = option ("LNS_CLIENT_RANGE", 0) != 0;
  for (const char *at = text != NULL ? text : all; *at != '\0';)
    {
      char *end;
      CUpti_ActivityKind kind = (CUpti_ActivityKind)strtoul (at, &end, 0);
      bool dumps =
          is_range && (kind == CUPTI_ACTIVITY_KIND_DEVICE || kind == CUPTI_ACTIVITY_KIND_CONTEXT ||
                       kind == CUPTI_ACTIVITY_KIND_STREAM);
      if (!on)
        report ("cuptiActivityDisable", kind, cupti.cuptiActivityDisable (kind));
      else if (dumps)
        report ("cuptiActivityEnableAndDump", kind, cupti.cuptiActivityEnableAndDump (kind));
      else
        report ("cuptiActivityEnable", kind, cupti.cuptiActivityEnable (kind));
      at = *end == ',' ? end + 1 : end;
    }
}

static void
follow_range (uint32_t cbid, const CUpti_CallbackData *data)
{
  if (cbid == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000 &&
      data->callbackSite == CUPTI_API_EXIT)
    switch_kinds (true);
  else if (cbid == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000 &&
           data->callbackSite == CUPTI_API_ENTER)
    {
      cupti.cuptiActivityFlushAll (0);
      switch_kinds (false);
    }
}

static void
callback_cb (void *data, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *what)
{
  pthread_mutex_lock (&lock);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
    write_api (domain, cbid, what);
  else
    fprintf (out, "{\"callback\":%u,\"cbid\":%u}\n", domain, cbid);
  fflush (out);
  pthread_mutex_unlock (&lock);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && option ("LNS_CLIENT_RANGE", 0) != 0)
    follow_range (cbid, what);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
    {
      CUpti_ActivityUnifiedMemoryCounterConfig configs[] = {
        { .kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, .enable = 1 },
        { .kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, .enable = 1 },
        { .kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, .enable = 1 },
      };
      cupti.cuptiActivityConfigureUnifiedMemoryCounter (configs, 3);
    }
}

static void
flush_cb (void)
{
  size_t dropped = 0;
  cupti.cuptiActivityFlushAll (0);
  cupti.cuptiActivityFlushAll (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  pthread_mutex_lock (&lock);
  cupti.cuptiActivityGetNumDroppedRecords (NULL, 0, &dropped);
  fprintf (out, "{\"end\":%d,\"dropped\":%zu}\n", getpid (), dropped);
  fflush (out);
  pthread_mutex_unlock (&lock);
}

int InitializeInjection (void);

__attribute__ ((visibility ("default"))) int
InitializeInjection (void)
{
  const char *path = getenv ("LNS_CLIENT_OUT");
  const char *library = getenv ("LNS_CLIENT_CUPTI");
  void *handle = dlopen (library != NULL ? library : "libcupti.so.13", RTLD_NOW);
  if (path == NULL || (out = fopen (path, "a")) == NULL)
    return 1;
  if (handle == NULL)
    {
      fprintf (out, "{\"failed\":\"dlopen\"}\n");
      fflush (out);
      return 1;
    }
  if (getenv ("LNS_CLIENT_BUFFERS") != NULL)
    buffers = fopen (getenv ("LNS_CLIENT_BUFFERS"), "a");
#define LOAD(NAME) *(void **)&cupti.NAME = dlsym (handle, #NAME);
  FUNCTIONS (LOAD)
  CUpti_SubscriberHandle subscriber;
  learn_sizes ();
  CUptiResult result = cupti.cuptiSubscribe (&subscriber, callback_cb, NULL);
  report ("cuptiSubscribe", 0, result);
  if (result != CUPTI_SUCCESS)
    return 1;
  for (uint32_t domain = CUPTI_CB_DOMAIN_DRIVER_API; domain <= CUPTI_CB_DOMAIN_STATE; domain++)
    if (domain != CUPTI_CB_DOMAIN_NVTX && option ("LNS_CLIENT_CALLBACKS", 1) != 0)
      cupti.cuptiEnableDomain (1, subscriber, (CUpti_CallbackDomain)domain);
  cupti.cuptiEnableCallback (1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                             CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  cupti.cuptiSetThreadIdType (CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (cupti.cuptiActivityRegisterTimestampCallback != NULL)
    cupti.cuptiActivityRegisterTimestampCallback (now_cb);
  report ("cuptiActivityRegisterCallbacks", 0,
          cupti.cuptiActivityRegisterCallbacks (request_cb, complete_cb));
  cupti.cuptiActivityEnableLatencyTimestamps (1);
  if (cupti.cuptiActivityEnableCudaEventDeviceTimestamps != NULL)
    cupti.cuptiActivityEnableCudaEventDeviceTimestamps (1);
  if (option ("LNS_CLIENT_RANGE", 0) == 0)
    switch_kinds (true);
  if (cupti.cuptiActivityFlushPeriod != NULL)
    cupti.cuptiActivityFlushPeriod ((uint32_t)option ("LNS_CLIENT_PERIOD_MS", 0));
  if (getenv ("LNS_CLIENT_FLUSH") == NULL)
    atexit (flush_cb);
  return 1;
}
