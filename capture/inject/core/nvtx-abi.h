/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The binary interface between a program's NVTX and an injected library, as of NVTX 3: what
 * nvtx3/nvtxDetail/nvtxTypes.h, nvToolsExt.h, nvToolsExtPayload.h, nvToolsExtCounters.h,
 * nvToolsExtSemanticsCounters.h and nvtxDetail/nvtxExtTypes.h fix for x86-64 and aarch64 Linux.
 * Declared anew, so that the injection is built without any of NVIDIA's files and is the same
 * everywhere; tests/unit/test-inject-abi.c compares every line with the real headers. */

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void (*LnsNvtxFunction) (void);
typedef LnsNvtxFunction **LnsNvtxTable; /* entries point to the program's function pointers */

typedef struct
{
  size_t struct_bytes;
  int (*get_module_table) (int32_t module, LnsNvtxTable *ret_table, unsigned int *ret_size);
} LnsNvtxCallbacks;

typedef struct
{
  size_t struct_bytes;
  uint32_t version, reserved;
  void (*set_injection_version) (uint32_t version);
} LnsNvtxVersionInfo;

/* What a link unit keeps of NVTX begins so (nvtxGlobals_t in nvtxDetail/nvtxImpl.h). The two tables are those that it hands
 * out. */
typedef struct
{
  volatile uint32_t init_state;
  LnsNvtxCallbacks callbacks;
  LnsNvtxVersionInfo version;
} LnsNvtxGlobals;

#define LNS_NVTX_INIT_STARTED 1u

typedef const void *(*LnsNvtxGetExportTable) (uint32_t id);

enum
{
  LNS_NVTX_EXPORT_CALLBACKS = 1,
  LNS_NVTX_EXPORT_VERSION = 3,
  LNS_NVTX_MODULE_CORE = 1,
  LNS_NVTX_MODULE_CUDA = 2,
  LNS_NVTX_MODULE_OPENCL = 3,
  LNS_NVTX_MODULE_CUDART = 4,
  LNS_NVTX_MODULE_CORE2 = 5,
  LNS_NVTX_MODULE_SYNC = 6,
};

/* Slots of LNS_NVTX_MODULE_CORE. */
enum
{
  LNS_NVTX_CORE_MARK_EX = 1,
  LNS_NVTX_CORE_MARK_A = 2,
  LNS_NVTX_CORE_MARK_W = 3,
  LNS_NVTX_CORE_RANGE_START_EX = 4,
  LNS_NVTX_CORE_RANGE_START_A = 5,
  LNS_NVTX_CORE_RANGE_START_W = 6,
  LNS_NVTX_CORE_RANGE_END = 7,
  LNS_NVTX_CORE_RANGE_PUSH_EX = 8,
  LNS_NVTX_CORE_RANGE_PUSH_A = 9,
  LNS_NVTX_CORE_RANGE_PUSH_W = 10,
  LNS_NVTX_CORE_RANGE_POP = 11,
  LNS_NVTX_CORE_NAME_CATEGORY_A = 12,
  LNS_NVTX_CORE_NAME_CATEGORY_W = 13,
  LNS_NVTX_CORE_NAME_OS_THREAD_A = 14,
  LNS_NVTX_CORE_NAME_OS_THREAD_W = 15,
};

/* Slots of LNS_NVTX_MODULE_CORE2. */
enum
{
  LNS_NVTX_CORE2_DOMAIN_MARK_EX = 1,
  LNS_NVTX_CORE2_DOMAIN_RANGE_START_EX = 2,
  LNS_NVTX_CORE2_DOMAIN_RANGE_END = 3,
  LNS_NVTX_CORE2_DOMAIN_RANGE_PUSH_EX = 4,
  LNS_NVTX_CORE2_DOMAIN_RANGE_POP = 5,
  LNS_NVTX_CORE2_DOMAIN_RESOURCE_CREATE = 6,
  LNS_NVTX_CORE2_DOMAIN_RESOURCE_DESTROY = 7,
  LNS_NVTX_CORE2_DOMAIN_NAME_CATEGORY_A = 8,
  LNS_NVTX_CORE2_DOMAIN_NAME_CATEGORY_W = 9,
  LNS_NVTX_CORE2_DOMAIN_REGISTER_STRING_A = 10,
  LNS_NVTX_CORE2_DOMAIN_REGISTER_STRING_W = 11,
  LNS_NVTX_CORE2_DOMAIN_CREATE_A = 12,
  LNS_NVTX_CORE2_DOMAIN_CREATE_W = 13,
  LNS_NVTX_CORE2_DOMAIN_DESTROY = 14,
};

/* Slots of the modules that name what other libraries made: A and then W for each kind. */
enum
{
  LNS_NVTX_CUDA_NAME_DEVICE_A = 1,
  LNS_NVTX_CUDA_NAME_CONTEXT_A = 3,
  LNS_NVTX_CUDA_NAME_STREAM_A = 5,
  LNS_NVTX_CUDA_NAME_EVENT_A = 7,

  LNS_NVTX_CUDART_NAME_DEVICE_A = 1,
  LNS_NVTX_CUDART_NAME_STREAM_A = 3,
  LNS_NVTX_CUDART_NAME_EVENT_A = 5,

  LNS_NVTX_OPENCL_NAME_DEVICE_A = 1,
  LNS_NVTX_OPENCL_NAME_CONTEXT_A = 3,
  LNS_NVTX_OPENCL_NAME_COMMAND_QUEUE_A = 5,
  LNS_NVTX_OPENCL_NAME_MEM_OBJECT_A = 7,
  LNS_NVTX_OPENCL_NAME_SAMPLER_A = 9,
  LNS_NVTX_OPENCL_NAME_PROGRAM_A = 11,
  LNS_NVTX_OPENCL_NAME_EVENT_A = 13,
};

/* The slot of LNS_NVTX_MODULE_SYNC that creates a lock. Without it the other slots have nothing to report. */
#define LNS_NVTX_SYNC_CREATE 1

/* Types of resources. */
enum
{
  LNS_NVTX_RESOURCE_CUDA_DEVICE = 0x40001,
  LNS_NVTX_RESOURCE_CUDA_CONTEXT = 0x40002,
  LNS_NVTX_RESOURCE_CUDA_STREAM = 0x40003,
  LNS_NVTX_RESOURCE_CUDA_EVENT = 0x40004,
  LNS_NVTX_RESOURCE_CUDART_DEVICE = 0x50000,
  LNS_NVTX_RESOURCE_CUDART_STREAM = 0x50001,
  LNS_NVTX_RESOURCE_CUDART_EVENT = 0x50002,
  LNS_NVTX_RESOURCE_OPENCL_DEVICE = 0x60001,
  LNS_NVTX_RESOURCE_OPENCL_CONTEXT = 0x60002,
  LNS_NVTX_RESOURCE_OPENCL_COMMAND_QUEUE = 0x60003,
  LNS_NVTX_RESOURCE_OPENCL_MEM_OBJECT = 0x60004,
  LNS_NVTX_RESOURCE_OPENCL_SAMPLER = 0x60005,
  LNS_NVTX_RESOURCE_OPENCL_PROGRAM = 0x60006,
  LNS_NVTX_RESOURCE_OPENCL_EVENT = 0x60007,
};

enum
{
  LNS_NVTX_MESSAGE_ASCII = 1,
  LNS_NVTX_MESSAGE_WIDE = 2,
  LNS_NVTX_MESSAGE_REGISTERED = 3,
};

/* A push that is not tracked returns this. */
#define LNS_NVTX_NOT_TRACKED (-2)

typedef union
{
  const char *ascii;
  const wchar_t *wide;
  const void *registered;
} LnsNvtxMessage;

/* nvtxEventAttributes_v2. A caller's may be shorter: only `size` bytes of it are there. */
typedef struct
{
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t n_payloads; /* reserved0: with LNS_NVTX_PAYLOAD_EXTENDED, how many LnsNvtxPayloadData */
  uint64_t payload;   /* or the address of an array of LnsNvtxPayloadData */
  int32_t message_type;
  LnsNvtxMessage message;
} LnsNvtxEventAttributes;
_Static_assert(sizeof (LnsNvtxEventAttributes) == 48, "as in nvToolsExt.h");

#define LNS_NVTX_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)

typedef struct
{
  uint16_t version;
  uint16_t size;
  int32_t identifier_type;
  uint64_t identifier;
  int32_t message_type;
  LnsNvtxMessage message;
} LnsNvtxResourceAttributes;
_Static_assert(sizeof (LnsNvtxResourceAttributes) == 32, "as in nvToolsExt.h");

/* --- Extensions. ----------------------------------------------------------------------------- */

typedef struct
{
  size_t id;
  size_t n_slots;
  intptr_t *slots;
} LnsNvtxExtensionSegment;

typedef struct
{
  uint16_t nvtx_version;
  uint16_t struct_bytes;
  uint16_t module;
  uint16_t compatibility;
  size_t n_segments;
  LnsNvtxExtensionSegment *segments;
  intptr_t (*get_export_function) (uint32_t id);
  const void *info;
} LnsNvtxExtension;

/* The word before the first slot of a program's extension while it is set up (nvtxDetail/nvtxExtImpl.h). */
#define LNS_NVTX_EXTENSION_STARTING 2

enum
{
  LNS_NVTX_EXTENSION_MEMORY = 1,
  LNS_NVTX_EXTENSION_PAYLOAD = 2,
  LNS_NVTX_EXTENSION_COUNTERS = 4,
};

/* Slots of LNS_NVTX_EXTENSION_PAYLOAD. */
enum
{
  LNS_NVTX_PAYLOAD_SCHEMA_REGISTER = 0,
  LNS_NVTX_PAYLOAD_ENUM_REGISTER = 1,
  LNS_NVTX_PAYLOAD_MARK = 2,
  LNS_NVTX_PAYLOAD_RANGE_PUSH = 3,
  LNS_NVTX_PAYLOAD_RANGE_POP = 4,
  LNS_NVTX_PAYLOAD_RANGE_START = 5,
  LNS_NVTX_PAYLOAD_RANGE_END = 6,
  LNS_NVTX_PAYLOAD_TIMESTAMP_GET = 8,
  LNS_NVTX_PAYLOAD_TIME_DOMAIN_REGISTER = 9,
  LNS_NVTX_PAYLOAD_TIMER_SOURCE = 10,
  LNS_NVTX_PAYLOAD_TIMER_SOURCE_WITH_DATA = 11,
  LNS_NVTX_PAYLOAD_SCOPE_REGISTER = 12,
  LNS_NVTX_PAYLOAD_TIME_SYNC_POINT = 13,
  LNS_NVTX_PAYLOAD_TIME_SYNC_POINT_TABLE = 14,
  LNS_NVTX_PAYLOAD_TIMESTAMP_CONVERSION_FACTOR = 15,
  LNS_NVTX_PAYLOAD_EVENT_SUBMIT = 16,
  LNS_NVTX_PAYLOAD_EVENT_BATCH_SUBMIT = 17,
};

/* Slots of LNS_NVTX_EXTENSION_COUNTERS. */
enum
{
  LNS_NVTX_COUNTERS_REGISTER = 0,
  LNS_NVTX_COUNTERS_SAMPLE_INT64 = 1,
  LNS_NVTX_COUNTERS_SAMPLE_FLOAT64 = 2,
  LNS_NVTX_COUNTERS_SAMPLE = 3,
  LNS_NVTX_COUNTERS_SAMPLE_NO_VALUE = 4,
  LNS_NVTX_COUNTERS_BATCH_SUBMIT = 5,
};

/* The first version of the counters extension with this layout of attributes. */
#define LNS_NVTX_COUNTERS_COMPATIBLE 0x0102

/* Ids that the tool makes, of schemas, enums, scopes and counters, begin here. */
#define LNS_NVTX_DYNAMIC_ID_START (UINT64_C (1) << 32)

/* Entry types whose values are text of the payload itself: a payload of unknown size ends at its
 * terminator. */
enum
{
  LNS_NVTX_ENTRY_CSTRING = 75,
  LNS_NVTX_ENTRY_CSTRING_UTF8 = 76,
};

typedef struct
{
  uint64_t schema;
  size_t n_bytes; /* SIZE_MAX: the tool is to find out */
  const void *bytes;
} LnsNvtxPayloadData;

typedef struct LnsNvtxSemantics
{
  uint32_t struct_bytes;
  uint16_t id;
  uint16_t version;
  const struct LnsNvtxSemantics *next;
} LnsNvtxSemantics;

#define LNS_NVTX_SEMANTICS_TIME    2
#define LNS_NVTX_SEMANTICS_COUNTER 5

typedef struct
{
  LnsNvtxSemantics header;
  uint64_t time_domain;
} LnsNvtxTimeSemantics;

typedef struct
{
  LnsNvtxSemantics header;
  uint64_t flags;
  const char *unit;
  uint64_t scale_numerator;
  uint64_t scale_denominator;
  int64_t limit_type;
  uint64_t min;
  uint64_t max;
} LnsNvtxCounterSemantics;

typedef struct
{
  uint64_t flags;
  uint64_t type;
  const char *name;
  const char *description;
  uint64_t detail;
  uint64_t offset;
  const LnsNvtxSemantics *semantics;
  const void *reserved;
} LnsNvtxSchemaEntry;

enum
{
  LNS_NVTX_SCHEMA_HAS_NAME = 1 << 1,
  LNS_NVTX_SCHEMA_HAS_TYPE = 1 << 2,
  LNS_NVTX_SCHEMA_HAS_FLAGS = 1 << 3,
  LNS_NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
  LNS_NVTX_SCHEMA_HAS_N_ENTRIES = 1 << 5,
  LNS_NVTX_SCHEMA_HAS_STATIC_SIZE = 1 << 6,
  LNS_NVTX_SCHEMA_HAS_ALIGNMENT = 1 << 7,
  LNS_NVTX_SCHEMA_HAS_ID = 1 << 8,
};

typedef struct
{
  uint64_t fields; /* LNS_NVTX_SCHEMA_HAS_… */
  const char *name;
  uint64_t type;
  uint64_t flags;
  const LnsNvtxSchemaEntry *entries;
  size_t n_entries;
  size_t static_bytes;
  size_t pack_align;
  uint64_t id;
  void *extension;
} LnsNvtxSchemaAttributes;

typedef struct
{
  const char *name;
  uint64_t value;
  int8_t is_flag;
} LnsNvtxEnumEntry;

enum
{
  LNS_NVTX_ENUM_HAS_NAME = 1 << 1,
  LNS_NVTX_ENUM_HAS_ENTRIES = 1 << 2,
  LNS_NVTX_ENUM_HAS_N_ENTRIES = 1 << 3,
  LNS_NVTX_ENUM_HAS_SIZE = 1 << 4,
  LNS_NVTX_ENUM_HAS_ID = 1 << 5,
};

typedef struct
{
  uint64_t fields; /* LNS_NVTX_ENUM_HAS_… */
  const char *name;
  const LnsNvtxEnumEntry *entries;
  size_t n_entries;
  size_t value_bytes;
  uint64_t id;
  void *extension;
} LnsNvtxEnumAttributes;

typedef struct
{
  size_t struct_bytes;
  const char *path;
  uint64_t parent;
  uint64_t id;
} LnsNvtxScopeAttributes;

typedef struct
{
  size_t struct_bytes;
  uint64_t schema;
  const char *name;
  const char *description;
  uint64_t scope;
  const LnsNvtxSemantics *semantics;
  uint64_t id;
} LnsNvtxCounterAttributes;

typedef struct
{
  uint64_t counter;
  const void *samples;
  size_t n_samples_bytes;
  uint64_t flags;
  const int64_t *times;
  size_t n_times_bytes;
} LnsNvtxCounterBatch;

typedef struct
{
  uint64_t scope;
  uint64_t type;
  uint64_t id;
  uint64_t flags;
  int64_t resolution;
  uint64_t start;
} LnsNvtxTimeDomainAttributes;

typedef struct
{
  uint64_t schema;
  size_t n_bytes;
  const void *events;
  uint64_t scope;
  uint64_t flags;
  const void *flexible;
  size_t n_flexible_bytes;
  size_t flexible_offset;
} LnsNvtxEventBatch;
