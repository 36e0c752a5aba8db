/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls every function of NVTX's core, payload and counters headers, each once unless said otherwise,
 * through NVIDIA's own inline code. Prints "pushes pops marks starts ends samples", the numbers of
 * each that it made. */

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#if __has_include(<cuda.h>)
# include <nvtx3/nvToolsExtCuda.h>
#endif
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <nvtx3/nvToolsExtSync.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int pushes, pops, marks, starts, ends, samples;

static nvtxEventAttributes_t
attributes_of (const char *message)
{
  nvtxEventAttributes_t attributes = { 0 };
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

static void
core (void)
{
  nvtxEventAttributes_t attributes = attributes_of ("by attributes");
  attributes.category = 3;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xff8800cc;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 2.5;
  nvtxNameCategoryA (3, "third category");
  nvtxNameCategoryW (4, L"vierte \u00dcbung");
  nvtxNameOsThreadA ((uint32_t)syscall (SYS_gettid), "the main thread");
  nvtxNameOsThreadW (4711, L"another thread");
  nvtxMarkEx (&attributes);
  nvtxMarkA ("narrow mark");
  nvtxMarkW (L"wide mark \u20ac");
  marks += 3;
  nvtxRangeId_t ids[] = { nvtxRangeStartEx (&attributes), nvtxRangeStartA ("start"),
                          nvtxRangeStartW (L"wide start") };
  starts += 3;
  nvtxRangePushEx (&attributes);
  nvtxRangePushA ("narrow push");
  nvtxRangePushW (L"wide push");
  pushes += 3;
  for (int i = 0; i < 3; i++)
    {
      nvtxRangePop ();
      nvtxRangeEnd (ids[i]);
    }
  pops += 3;
  ends += 3;
}

static void
domains (void)
{
  nvtxDomainHandle_t domain = nvtxDomainCreateA ("narrow domain");
  nvtxDomainHandle_t wide = nvtxDomainCreateW (L"wide domain");
  nvtxDomainNameCategoryA (domain, 3, "third of the domain");
  nvtxDomainNameCategoryW (wide, 3, L"third of the wide one");
  nvtxEventAttributes_t attributes = attributes_of (NULL);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA (domain, "registered");
  nvtxDomainMarkEx (domain, &attributes);
  nvtxDomainRangePushEx (domain, &attributes);
  attributes.message.registered = nvtxDomainRegisterStringW (wide, L"registered wide");
  nvtxRangeId_t id = nvtxDomainRangeStartEx (wide, &attributes);
  nvtxDomainRangeEnd (wide, id);
  nvtxDomainRangePop (domain);
  marks++, pushes++, pops++, starts++, ends++;

  nvtxResourceAttributes_t resource = { 0 };
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  resource.identifier.pValue = &pushes;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "a resource";
  nvtxResourceHandle_t handle = nvtxDomainResourceCreate (domain, &resource);
  nvtxDomainResourceDestroy (handle);

  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_HANDLE;
  resource.identifier.ullValue = 77;
  resource.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  resource.message.registered = nvtxDomainRegisterStringA (domain, "registered");
  nvtxDomainResourceCreate (domain, &resource);
#if __has_include(<cuda.h>)
  nvtxNameCuDeviceA (0, "first name of the device");
  nvtxNameCuDeviceA (0, "the device");
  nvtxNameCuStreamW ((CUstream)0x1234, L"Stream \u00fc");
#endif

  /* Locks are not recorded, which is said. */
  nvtxSyncUserAttributes_t sync = { 0 };
  sync.version = NVTX_VERSION;
  sync.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  nvtxSyncUser_t user = nvtxDomainSyncUserCreate (domain, &sync);
  nvtxDomainSyncUserAcquireStart (user);
  nvtxDomainSyncUserAcquireFailed (user);
  nvtxDomainSyncUserAcquireSuccess (user);
  nvtxDomainSyncUserReleasing (user);
  nvtxDomainSyncUserDestroy (user);
  nvtxDomainDestroy (wide);
}

typedef struct
{
  int32_t step;
  float loss;
  uint8_t phase;
} Payload;

static void
payloads (nvtxDomainHandle_t domain)
{
  nvtxPayloadEnum_t values[] = { { "train", 1, 0 }, { "evaluate", 2, 1 } };
  nvtxPayloadEnumAttr_t enumeration = { 0 };
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  enumeration.name = "phase";
  enumeration.entries = values;
  enumeration.numEntries = 2;
  enumeration.sizeOfEnum = 1;
  uint64_t phase = nvtxPayloadEnumRegister (domain, &enumeration);

  nvtxPayloadSchemaEntry_t entries[] = {
    { .type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "step", .offset = offsetof (Payload, step) },
    { .type = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT,
      .name = "loss",
      .description = "of the batch",
      .offset = offsetof (Payload, loss) },
    { .type = phase, .name = "phase", .offset = offsetof (Payload, phase) },
  };
  nvtxPayloadSchemaAttr_t schema = { 0 };
  schema.fieldMask =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.name = "training step";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 3;
  schema.payloadStaticSize = sizeof (Payload);
  schema.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  nvtxPayloadSchemaRegister (domain, &schema);

  Payload payload = { .step = 12, .loss = 0.5f, .phase = 1 };
  nvtxPayloadData_t data[] = { { schema.schemaId, sizeof payload, &payload },
                               { NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, SIZE_MAX,
                                 "of unknown length" },
                               { schema.schemaId, SIZE_MAX, &payload } };
  nvtxMarkPayload (domain, data, 3);
  nvtxRangePushPayload (domain, data, 1);
  nvtxRangePopPayload (domain, data, 1);
  nvtxRangeId_t id = nvtxRangeStartPayload (domain, data, 1);
  nvtxRangeEndPayload (domain, id, data, 1);
  marks++, pushes++, pops++, starts++, ends++;

  nvtxEventAttributes_t attributes = attributes_of ("with a typed payload");
  /* NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE lacks a parenthesis in C. */
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 2;
  attributes.payload.ullValue = (uint64_t)(uintptr_t)data;
  nvtxDomainMarkEx (domain, &attributes);
  marks++;
  (void)nvtxDomainIsEnabled (domain);
}

static void
counters (nvtxDomainHandle_t domain)
{
  nvtxScopeAttr_t scope = { .structSize = sizeof scope,
                            .path = "node/gpu[1]",
                            .parentScope = NVTX_SCOPE_CURRENT_SW_PROCESS };
  uint64_t scope_id = nvtxScopeRegister (domain, &scope);
  nvtxSemanticsCounter_t semantics = {
    .header = { sizeof semantics, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION,
                NULL },
    .flags = NVTX_COUNTER_FLAG_LIMIT_MAX,
    .unit = "MiB",
    .unitScaleNumerator = 1,
    .unitScaleDenominator = 1,
    .limitType = NVTX_COUNTER_LIMIT_I64,
    .max.i64 = 80000,
  };
  nvtxCounterAttr_t integer = { .structSize = sizeof integer,
                                .schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
                                .name = "memory",
                                .description = "allocated so far",
                                .scopeId = scope_id,
                                .semantics = &semantics.header };
  uint64_t memory = nvtxCounterRegister (domain, &integer);
  nvtxCounterAttr_t floating = { .structSize = sizeof floating,
                                 .schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
                                 .name = "loss",
                                 .counterId = NVTX_COUNTER_ID_STATIC_START + 1 };
  uint64_t loss = nvtxCounterRegister (domain, &floating);
  nvtxCounterSampleInt64 (domain, memory, -42);
  nvtxCounterSampleFloat64 (domain, loss, 0.125);
  int64_t value = 43;
  nvtxCounterSample (domain, memory, &value, sizeof value);
  nvtxCounterSampleNoValue (domain, memory, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  int64_t values[] = { 1, 2, 3 }, times[] = { 10, 20, 30 };
  nvtxCounterBatch_t batch = { .counterId = memory,
                               .counters = values,
                               .countersSize = sizeof values,
                               .timestamps = times,
                               .timestampsSize = sizeof times };
  nvtxCounterBatchSubmit (domain, &batch);
  samples += 5;
}

typedef struct
{
  int64_t begin, end;
  char name[16];
} Deferred;

static int64_t
now_ns (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* Registers the layout of Deferred, whose times are of TIME_DOMAIN. */
static uint64_t
deferred_schema (nvtxDomainHandle_t domain, uint64_t time_domain)
{
  nvtxSemanticsTime_t semantics = {
    .header = { sizeof semantics, NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, NULL },
    .timeDomainId = time_domain,
  };
  nvtxPayloadSchemaEntry_t entries[] = {
    { .flags = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
      .type = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
      .name = "begin",
      .semantics = &semantics.header },
    { .flags = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END,
      .type = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
      .name = "end",
      .offset = offsetof (Deferred, end),
      .semantics = &semantics.header },
    { .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
      .type = NVTX_PAYLOAD_ENTRY_TYPE_CHAR,
      .name = "name",
      .arrayOrUnionDetail = 16,
      .offset = offsetof (Deferred, name) },
  };
  nvtxPayloadSchemaAttr_t schema = { 0 };
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND;
  schema.entries = entries;
  schema.numEntries = 3;
  schema.payloadStaticSize = sizeof (Deferred);
  return nvtxPayloadSchemaRegister (domain, &schema);
}

/* Events that were timed before they are handed in, by three clocks and by one that nobody knows. */
static void
deferred (nvtxDomainHandle_t domain)
{
  int64_t now = now_ns (CLOCK_MONOTONIC), real = now_ns (CLOCK_REALTIME);
  Deferred events[] = { { now - 3000, now - 2000, "deferred 1" },
                        { now - 2500, now - 500, "deferred 2" } };
  uint64_t id = deferred_schema (domain, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC);
  nvtxEventBatch_t batch = { .eventSchemaId = id, .size = sizeof events, .events = events };
  nvtxEventBatchSubmit (domain, &batch);

  nvtxTimeDomainAttr_t attributes = {
    .timestampTypeId = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME,
  };
  Deferred event = { real - 40000, real - 10000, "deferred 3" };
  id = deferred_schema (domain, nvtxTimeDomainRegister (domain, &attributes));
  nvtxPayloadData_t data = { id, sizeof event, &event };
  nvtxEventSubmit (domain, &data, 1);

  event = (Deferred){ nvtxTimestampGet (), nvtxTimestampGet (), "deferred 4" };
  data.schemaId = deferred_schema (domain, NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED);
  nvtxEventSubmit (domain, &data, 1);

  data.schemaId = deferred_schema (domain, NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER);
  nvtxEventSubmit (domain, &data, 1);
  nvtxTimeSyncPoint (domain, 1, NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER, 0, 0);
}

int
main (void)
{
  nvtxInitialize (NULL);
  core ();
  domains ();
  nvtxDomainHandle_t domain = nvtxDomainCreateA ("typed");
  payloads (domain);
  counters (domain);
  deferred (domain);
  printf ("%d %d %d %d %d %d\n", pushes, pops, marks, starts, ends, samples);
  return 0;
}
