/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUPTI's records. Those that the headers of CUDA 13.0 do not have are as cupti_activity.h of CUDA 13.5 has them. Structs of
 * CUPTI only ever grew at their ends. Newer headers are compared with them. */

#pragma once

#include <cupti.h>
#include <stddef.h>
#include <stdint.h>

/* CUpti_ActivityKind. */
#define LNS_CUPTI_NVLINK        40u
#define LNS_CUPTI_PCIE          46u
#define LNS_CUPTI_HOST_NODE     56u /* 13.1: a host node of a graph has run */
#define LNS_CUPTI_SWITCH        57u /* 13.1: a compute engine begins or ends to work for a context */
#define LNS_CUPTI_HOST_LAUNCH   58u /* 13.1: the function of cuLaunchHostFunc () has run */
#define LNS_CUPTI_GREEN_CONTEXT 59u /* 13.2, and later ones tell of green contexts by it alone */

/* CUpti_ActivityGraphHostNode. */
typedef struct
{
  uint32_t kind, stream, context, device, correlation, graph;
  uint64_t node;
  uint32_t pid, tid; /* where it ran */
  uint64_t start, end;
} LnsCuptiHostNode;
_Static_assert(sizeof (LnsCuptiHostNode) == 56, "as in CUPTI 13.1 to 13.5");

/* CUpti_ActivityHostLaunch. */
typedef struct
{
  uint32_t kind, stream, context, device, correlation;
  uint32_t pid, tid, padding;
  uint64_t start, end;
} LnsCuptiHostLaunch;
_Static_assert(sizeof (LnsCuptiHostLaunch) == 48, "as in CUPTI 13.1 to 13.5");

/* CUpti_ActivityComputeEngineCtxSwitch. */
typedef struct
{
  uint32_t kind, context;
  uint64_t timestamp;
  uint32_t operation, padding; /* 1: the engine begins to work for the context, 2: it ends to */
} LnsCuptiSwitch;
_Static_assert(sizeof (LnsCuptiSwitch) == 24, "as in CUPTI 13.1 to 13.5");

/* What CUpti_ActivityGreenContext and its successors begin with. */
typedef struct
{
  uint32_t kind, context, parent, device, n_tpcs;
  uint16_t n_multiprocessors;
  uint8_t n_mask_words, padding;
} LnsCuptiGreenContext;

/* CUpti_ActivityContext4, of CUPTI 13.1 and later. */
typedef struct
{
  CUpti_ActivityContext3 known;
  uint64_t pid; /* of the process that the context is of */
} LnsCuptiContext;
_Static_assert(sizeof (LnsCuptiContext) == 40, "as in CUPTI 13.1 to 13.5");

#if CUPTI_API_VERSION >= 130100
# define LNS_CUPTI_IS_AT(TYPE, FIELD, OURS, OUR_FIELD)                                             \
  _Static_assert(offsetof (TYPE, FIELD) == offsetof (OURS, OUR_FIELD), #TYPE "." #FIELD)
_Static_assert(CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE == LNS_CUPTI_HOST_NODE, "its number");
_Static_assert(CUPTI_ACTIVITY_KIND_HOST_LAUNCH == LNS_CUPTI_HOST_LAUNCH, "its number");
_Static_assert(CUPTI_ACTIVITY_KIND_COMPUTE_ENGINE_CTX_SWITCH == LNS_CUPTI_SWITCH, "its number");
_Static_assert(sizeof (CUpti_ActivityGraphHostNode) >= sizeof (LnsCuptiHostNode), "it grows");
_Static_assert(sizeof (CUpti_ActivityHostLaunch) >= sizeof (LnsCuptiHostLaunch), "it grows");
_Static_assert(sizeof (CUpti_ActivityComputeEngineCtxSwitch) >= sizeof (LnsCuptiSwitch),
               "it grows");
LNS_CUPTI_IS_AT (CUpti_ActivityGraphHostNode, correlationId, LnsCuptiHostNode, correlation);
LNS_CUPTI_IS_AT (CUpti_ActivityGraphHostNode, graphNodeId, LnsCuptiHostNode, node);
LNS_CUPTI_IS_AT (CUpti_ActivityGraphHostNode, threadId, LnsCuptiHostNode, tid);
LNS_CUPTI_IS_AT (CUpti_ActivityGraphHostNode, end, LnsCuptiHostNode, end);
LNS_CUPTI_IS_AT (CUpti_ActivityHostLaunch, correlationId, LnsCuptiHostLaunch, correlation);
LNS_CUPTI_IS_AT (CUpti_ActivityHostLaunch, threadId, LnsCuptiHostLaunch, tid);
LNS_CUPTI_IS_AT (CUpti_ActivityHostLaunch, end, LnsCuptiHostLaunch, end);
LNS_CUPTI_IS_AT (CUpti_ActivityComputeEngineCtxSwitch, timestamp, LnsCuptiSwitch, timestamp);
LNS_CUPTI_IS_AT (CUpti_ActivityComputeEngineCtxSwitch, operationType, LnsCuptiSwitch, operation);
LNS_CUPTI_IS_AT (CUpti_ActivityContext4, processId, LnsCuptiContext, pid);
# undef LNS_CUPTI_IS_AT
#endif

/* A record, at least as long as the newest struct of its kind. */
typedef union __attribute__ ((may_alias))
{
  CUpti_ActivityKind kind;
  CUpti_ActivityAPI api;
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivityMemcpy6 copy;
  CUpti_ActivityMemcpyPtoP4 copy_between;
  CUpti_ActivityMemset4 set;
  CUpti_ActivitySynchronization2 sync;
  CUpti_ActivityCudaEvent2 event;
  CUpti_ActivityGraphTrace2 graph;
  CUpti_ActivityDeviceGraphTrace device_graph;
  CUpti_ActivityOverhead3 overhead;
  CUpti_ActivityMemory4 memory;
  CUpti_ActivityMemoryPool3 pool;
  CUpti_ActivityUnifiedMemoryCounter3 unified;
  CUpti_ActivityJit2 jit;
  CUpti_ActivityDevice5 device;
  LnsCuptiContext context;
  LnsCuptiGreenContext green_context;
  CUpti_ActivityStream stream;
  CUpti_ActivityMemDecompress decompress;
  LnsCuptiHostNode host_node;
  LnsCuptiHostLaunch host_launch;
  LnsCuptiSwitch change;
} LnsCuptiRecord;

/* The layout of CUPTI 13.0. The build fails with a header that moves a field. */
_Static_assert(sizeof (CUpti_ActivityKernel10) == 216, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemcpy6) == 96, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemcpyPtoP4) == 96, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemset4) == 88, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityAPI) == 40, "as in CUPTI 11.0 to 13.0");
_Static_assert(sizeof (CUpti_ActivitySynchronization2) == 56, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityGraphTrace2) == 56, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemory4) == 128, "as in CUPTI 13.0");
_Static_assert(offsetof (CUpti_ActivityKernel10, start) == 16, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityKernel10, name) == 104, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityKernel10, graphNodeId) == 144, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityMemcpy6, graphNodeId) == 64, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityMemset4, graphNodeId) == 64, "as in CUPTI 11.0 to 13.0");
