/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Settings from the environment, and the size of each record in the CUPTI version that is simulated. NVIDIA has
 * only ever added fields at the end of a struct, so an older record is a prefix of the newest one. */

#include "tests/double/cupti/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  uint32_t kind;
  uint32_t since; /* CUPTI_API_VERSION */
  uint32_t bytes;
} Generation;

/* Ascending in `since` within a kind. */
static const Generation generations[] = {
  { CUPTI_ACTIVITY_KIND_MEMCPY, 13, sizeof (CUpti_ActivityMemcpy3) },
  { CUPTI_ACTIVITY_KIND_MEMCPY, 14, sizeof (CUpti_ActivityMemcpy4) },
  { CUPTI_ACTIVITY_KIND_MEMCPY, 17, sizeof (CUpti_ActivityMemcpy5) },
  { CUPTI_ACTIVITY_KIND_MEMCPY, 26, sizeof (CUpti_ActivityMemcpy6) },
  { CUPTI_ACTIVITY_KIND_MEMSET, 13, sizeof (CUpti_ActivityMemset2) },
  { CUPTI_ACTIVITY_KIND_MEMSET, 14, sizeof (CUpti_ActivityMemset3) },
  { CUPTI_ACTIVITY_KIND_MEMSET, 17, sizeof (CUpti_ActivityMemset4) },
  { CUPTI_ACTIVITY_KIND_KERNEL, 13, sizeof (CUpti_ActivityKernel5) },
  { CUPTI_ACTIVITY_KIND_KERNEL, 15, sizeof (CUpti_ActivityKernel6) },
  { CUPTI_ACTIVITY_KIND_KERNEL, 17, sizeof (CUpti_ActivityKernel7) },
  { CUPTI_ACTIVITY_KIND_KERNEL, 18, sizeof (CUpti_ActivityKernel8) },
  { CUPTI_ACTIVITY_KIND_KERNEL, 19, sizeof (CUpti_ActivityKernel9) },
  { CUPTI_ACTIVITY_KIND_KERNEL, 130000, sizeof (CUpti_ActivityKernel10) },
  { CUPTI_ACTIVITY_KIND_DRIVER, 13, sizeof (CUpti_ActivityAPI) },
  { CUPTI_ACTIVITY_KIND_RUNTIME, 13, sizeof (CUpti_ActivityAPI) },
  { CUPTI_ACTIVITY_KIND_DEVICE, 13, sizeof (CUpti_ActivityDevice4) },
  { CUPTI_ACTIVITY_KIND_DEVICE, 24, sizeof (CUpti_ActivityDevice5) },
  { CUPTI_ACTIVITY_KIND_CONTEXT, 13, sizeof (CUpti_ActivityContext) },
  { CUPTI_ACTIVITY_KIND_CONTEXT, 24, sizeof (CUpti_ActivityContext2) },
  { CUPTI_ACTIVITY_KIND_CONTEXT, 28, sizeof (CUpti_ActivityContext3) },
  { CUPTI_ACTIVITY_KIND_NAME, 13, sizeof (CUpti_ActivityName) },
  { CUPTI_ACTIVITY_KIND_OVERHEAD, 13, sizeof (CUpti_ActivityOverhead) },
  { CUPTI_ACTIVITY_KIND_OVERHEAD, 20, sizeof (CUpti_ActivityOverhead2) },
  { CUPTI_ACTIVITY_KIND_OVERHEAD, 24, sizeof (CUpti_ActivityOverhead3) },
  { CUPTI_ACTIVITY_KIND_MEMCPY2, 13, sizeof (CUpti_ActivityMemcpyPtoP2) },
  { CUPTI_ACTIVITY_KIND_MEMCPY2, 14, sizeof (CUpti_ActivityMemcpyPtoP3) },
  { CUPTI_ACTIVITY_KIND_MEMCPY2, 17, sizeof (CUpti_ActivityMemcpyPtoP4) },
  { CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 13, sizeof (CUpti_ActivityUnifiedMemoryCounter2) },
  { CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 26, sizeof (CUpti_ActivityUnifiedMemoryCounter3) },
  { CUPTI_ACTIVITY_KIND_CUDA_EVENT, 13, sizeof (CUpti_ActivityCudaEvent) },
  { CUPTI_ACTIVITY_KIND_CUDA_EVENT, 26, sizeof (CUpti_ActivityCudaEvent2) },
  { CUPTI_ACTIVITY_KIND_STREAM, 13, sizeof (CUpti_ActivityStream) },
  { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 13, sizeof (CUpti_ActivitySynchronization) },
  { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 26, sizeof (CUpti_ActivitySynchronization2) },
  { CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 13, sizeof (CUpti_ActivityExternalCorrelation) },
  { CUPTI_ACTIVITY_KIND_MEMORY2, 14, sizeof (CUpti_ActivityMemory2) },
  { CUPTI_ACTIVITY_KIND_MEMORY2, 16, sizeof (CUpti_ActivityMemory3) },
  { CUPTI_ACTIVITY_KIND_MEMORY2, 26, sizeof (CUpti_ActivityMemory4) },
  { CUPTI_ACTIVITY_KIND_MEMORY_POOL, 14, sizeof (CUpti_ActivityMemoryPool) },
  { CUPTI_ACTIVITY_KIND_MEMORY_POOL, 16, sizeof (CUpti_ActivityMemoryPool2) },
  { CUPTI_ACTIVITY_KIND_MEMORY_POOL, 28, sizeof (CUpti_ActivityMemoryPool3) },
  { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 18, sizeof (CUpti_ActivityGraphTrace) },
  { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 23, sizeof (CUpti_ActivityGraphTrace2) },
  { CUPTI_ACTIVITY_KIND_JIT, 18, sizeof (CUpti_ActivityJit) },
  { CUPTI_ACTIVITY_KIND_JIT, 23, sizeof (CUpti_ActivityJit2) },
  { CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, 23, sizeof (CUpti_ActivityDeviceGraphTrace) },
  { CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS, 26, sizeof (CUpti_ActivityMemDecompress) },
  { CUPTI_ACTIVITY_KIND_CONTEXT, 130100, sizeof (LnsCuptiContext) },
  { LNS_CUPTI_HOST_NODE, 130100, sizeof (LnsCuptiHostNode) },
  { LNS_CUPTI_SWITCH, 130100, sizeof (LnsCuptiSwitch) },
  { LNS_CUPTI_HOST_LAUNCH, 130100, sizeof (LnsCuptiHostLaunch) },
  { CUPTI_ACTIVITY_KIND_NVLINK, 13, sizeof (LnsCuptiNvLink3) },
  { CUPTI_ACTIVITY_KIND_NVLINK, 19, sizeof (CUpti_ActivityNvLink4) },
  { CUPTI_ACTIVITY_KIND_NVLINK, 130200, sizeof (LnsCuptiNvLink) },
  { CUPTI_ACTIVITY_KIND_PCIE, 13, sizeof (CUpti_ActivityPcie) },
  { LNS_CUPTI_GREEN_CONTEXT, 130200, sizeof (LnsCuptiGreenContext) },
};

#define IS_PREFIX(OLD, NEW, FIELD)                                                                 \
 _Static_assert(offsetof (OLD, FIELD) == offsetof (NEW, FIELD), #OLD "." #FIELD " moved in " #NEW)
IS_PREFIX (CUpti_ActivityKernel5, CUpti_ActivityKernel10, correlationId);
IS_PREFIX (CUpti_ActivityKernel9, CUpti_ActivityKernel10, maxActiveClusters);
IS_PREFIX (CUpti_ActivityMemcpy4, CUpti_ActivityMemcpy6, graphId);
IS_PREFIX (CUpti_ActivityMemcpyPtoP3, CUpti_ActivityMemcpyPtoP4, graphId);
IS_PREFIX (CUpti_ActivityMemset2, CUpti_ActivityMemset4, graphNodeId);
IS_PREFIX (CUpti_ActivityDevice4, CUpti_ActivityDevice5, migUuid);
IS_PREFIX (CUpti_ActivityContext, CUpti_ActivityContext3, nullStreamId);
IS_PREFIX (CUpti_ActivityOverhead, CUpti_ActivityOverhead3, end);
IS_PREFIX (CUpti_ActivityUnifiedMemoryCounter2, CUpti_ActivityUnifiedMemoryCounter3, processId);
IS_PREFIX (CUpti_ActivityCudaEvent, CUpti_ActivityCudaEvent2, eventId);
IS_PREFIX (CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, cudaEventId);
IS_PREFIX (CUpti_ActivityMemory2, CUpti_ActivityMemory4, memoryPoolConfig.pool);
IS_PREFIX (CUpti_ActivityMemoryPool, CUpti_ActivityMemoryPool3, timestamp);
IS_PREFIX (CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, streamId);
IS_PREFIX (CUpti_ActivityJit, CUpti_ActivityJit2, cachePath);
_Static_assert(sizeof (CUpti_ActivityKernel10) == 216, "the kernel record of CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemcpy6) == 96, "the copy record of CUPTI 12.8");
_Static_assert(sizeof (CUpti_ActivityMemset4) == 88, "the set record of CUPTI 11.8");
_Static_assert(sizeof (CUpti_ActivityAPI) == 40, "the API record");
_Static_assert(sizeof (CUpti_ActivityDevice5) == 184, "the device record of CUPTI 12.6");
_Static_assert(sizeof (CUpti_ActivitySynchronization2) == 56,
               "the synchronisation record of CUPTI 12.8");
_Static_assert(sizeof (CUpti_ActivityMemory4) == 128, "the memory record of CUPTI 12.8");

static LnsCuptiOptions options;
static pthread_once_t options_once = PTHREAD_ONCE_INIT;

static void
read_options (void)
{
  const char *other_tool = getenv ("LNS_DOUBLE_OTHER_TOOL");
  const char *takeover = getenv ("LNS_DOUBLE_TAKEOVER"); /* CALL[:CALL] */
  long taken = 0, left = 0;
  if (takeover != NULL)
    sscanf (takeover, "%ld:%ld", &taken, &left);
  const char *clock = getenv ("LNS_DOUBLE_GPU_CLOCK"); /* OFFSET_NS[:DRIFT_PPM] */
  options = (LnsCuptiOptions){
    .version = (uint32_t)lns_gpu_option ("LNS_DOUBLE_CUPTI_VERSION", 130001),
    .per_thread = (int)lns_gpu_option ("LNS_DOUBLE_PER_THREAD", -1),
    .drop = (size_t)lns_gpu_option ("LNS_DOUBLE_DROP", 0),
    .together = (size_t)lns_gpu_option ("LNS_DOUBLE_REORDER", 0),
    .late_ns = lns_gpu_option ("LNS_DOUBLE_LATE_MS", 0) * 1000000,
    .held = (size_t)lns_gpu_option ("LNS_DOUBLE_HELD", 0),
    .zero_times = (size_t)lns_gpu_option ("LNS_DOUBLE_ZERO_TIMES", 0),
    .wrong_times = (size_t)lns_gpu_option ("LNS_DOUBLE_WRONG_TIMES", 0),
    .host_graphs = (int)lns_gpu_option ("LNS_DOUBLE_HOST_GRAPHS", 0),
    .fatal = (uint32_t)lns_gpu_option ("LNS_DOUBLE_FATAL", 0),
    .taken = (uint32_t)taken,
    .left = (uint32_t)left,
    .second_session = lns_gpu_option ("LNS_DOUBLE_SECOND_SESSION", 0) != 0,
    .late_driver = (uint32_t)lns_gpu_option ("LNS_DOUBLE_LATE_DRIVER", 0),
    .look_ns = lns_gpu_option ("LNS_DOUBLE_LOOK_MS", 0) * 1000000,
    .flush_ns = lns_gpu_option ("LNS_DOUBLE_FLUSH_MS", 0) * 1000000,
    .disable_holds = lns_gpu_option ("LNS_DOUBLE_DISABLE_HOLDS", 0) != 0,
    .topology = lns_gpu_option ("LNS_DOUBLE_TOPOLOGY", 0) != 0,
    .withholds = lns_gpu_option ("LNS_DOUBLE_WITHHOLD", 0) != 0,
    .other_tool = other_tool != NULL ? strdup (other_tool) : NULL,
  };
  const char *own_clock = getenv ("LNS_DOUBLE_CUPTI_CLOCK"); /* OFFSET_NS[:DRIFT_PPM] */
  if (clock != NULL)
    sscanf (clock, "%ld:%ld", &options.gpu_offset_ns, &options.gpu_drift_ppm);
  if (own_clock != NULL)
    sscanf (own_clock, "%ld:%ld", &options.own_offset_ns, &options.own_drift_ppm);
}

const LnsCuptiOptions *
_lns_cupti_options (void)
{
  pthread_once (&options_once, read_options);
  return &options;
}

size_t
_lns_cupti_record_bytes (uint32_t kind)
{
  uint32_t version = _lns_cupti_options ()->version;
  size_t bytes = 0;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
    kind = CUPTI_ACTIVITY_KIND_KERNEL;
  for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++)
    if (generations[i].kind == kind && generations[i].since <= version)
      bytes = generations[i].bytes;
  return bytes;
}
