/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Selects the kinds of activity that CUPTI records. */

#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/core/system.h"

#include <stdlib.h>

#include "lns-cuda-calls-generated.h"

/* cuDriverGetVersion() of the first driver that records the times of events. */
#define EVENTS_DRIVER 12080

/* Bits for kinds that are recorded if an option is absent, or if either of two is present. */
#define WITHOUT_GRAPH_NODES (1u << 31)
#define UNIFIED             (LNS_WIRE_CUDA_UM_CPU_FAULTS | LNS_WIRE_CUDA_UM_GPU_FAULTS)

/* The kinds that are recorded, in the order in which they are enabled. OPTIONS: any of these must be set; 0: always.
 * Calls come first, because all others have the correlation ids of calls. */
static const struct
{
  CUpti_ActivityKind kind;
  uint32_t options;
} kinds[] = {
  { CUPTI_ACTIVITY_KIND_RUNTIME, 0 },
  { CUPTI_ACTIVITY_KIND_DRIVER, 0 },
  { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0 }, /* KERNEL would serialise them */
  { CUPTI_ACTIVITY_KIND_MEMCPY, 0 },
  { CUPTI_ACTIVITY_KIND_MEMCPY2, 0 },
  { CUPTI_ACTIVITY_KIND_MEMSET, 0 },
  { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0 },
  { CUPTI_ACTIVITY_KIND_OVERHEAD, 0 },
  { CUPTI_ACTIVITY_KIND_JIT, 0 },
  { CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS, 0 },
  { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, WITHOUT_GRAPH_NODES },
  { CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, WITHOUT_GRAPH_NODES },
  { CUPTI_ACTIVITY_KIND_MEMORY2, LNS_WIRE_CUDA_MEMORY_USAGE },
  { CUPTI_ACTIVITY_KIND_MEMORY_POOL, LNS_WIRE_CUDA_MEMORY_USAGE },
  { CUPTI_ACTIVITY_KIND_CUDA_EVENT, LNS_WIRE_CUDA_EVENTS },
  { CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, UNIFIED },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* Whether CUPTI records the times of events without slowing the program down. With one connection to the device, timing
 * an event would delay all streams. */
static bool
are_events_free (void)
{
  const char *connections = getenv ("CUDA_DEVICE_MAX_CONNECTIONS");
  int version = 0;
  return lns_cupti.ActivityEnableCudaEventDeviceTimestamps != NULL &&
         lns_cuda_driver.driver_version != NULL &&
         lns_cuda_driver.driver_version (&version) == CUDA_SUCCESS && version >= EVENTS_DRIVER &&
         (connections == NULL || strcmp (connections, "1") != 0);
}

/* The options of CUDA, with EVENTS_AUTO decided. */
static uint32_t
options_asked (void)
{
  static uint32_t known; /* with the highest bit set */
  uint32_t options = __atomic_load_n (&known, __ATOMIC_RELAXED);
  if (options != 0)
    return options & ~(1u << 31);
  options = lns_cuda_options ()->cuda;
  if ((options & LNS_WIRE_CUDA_EVENTS_AUTO) && are_events_free ())
    options |= LNS_WIRE_CUDA_EVENTS;
  __atomic_store_n (&known, options | 1u << 31, __ATOMIC_RELAXED);
  return options;
}

/* A kind that CUPTI refused is not enabled again. */
static bool is_refused[N_KINDS];
static bool is_unified_ready;

/* Set while a thread changes the kinds, and whether they are enabled. The thread that changed them checks again whether
 * they are as requested. */
static uint32_t changing, enabled;

/* How many times, at intervals of 100 µs, a thread that begins to record waits for another one that changes the kinds.
 * */
#define ENABLED_WAITS 1000

static bool
is_asked_for (size_t i)
{
  uint32_t options = options_asked ();
  if (!(options & LNS_WIRE_CUDA_GRAPH_NODES))
    options |= WITHOUT_GRAPH_NODES;
  if (kinds[i].kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && !is_unified_ready)
    return false;
  return kinds[i].options == 0 || (kinds[i].options & options) != 0;
}

/* Whether the loaded CUPTI has KIND, or that is not known yet. */
static bool
is_known (CUpti_ActivityKind kind)
{
  const LnsWireCuptiSizes *sizes = &lns_process.pool.header->cupti;
  return sizes->version == 0 || sizes->record_bytes[kind] != 0;
}

/* Activity kinds that not every GPU supports; CUPTI's refusal is expected and not reported. */
static bool
may_lack (CUpti_ActivityKind kind, CUptiResult result)
{
  return (kind == CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS || kind == CUPTI_ACTIVITY_KIND_JIT ||
          kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE) &&
         (result == CUPTI_ERROR_NOT_SUPPORTED || result == CUPTI_ERROR_NOT_COMPATIBLE);
}

static bool
enable_kind (CUpti_ActivityKind kind)
{
  CUptiResult result = lns_cupti.ActivityEnable (kind);
  if (result != CUPTI_SUCCESS && !may_lack (kind, result))
    lns_cuda_problem (LNS_WIRE_PROBLEM_ENABLE, result, kind, NULL);
  return result == CUPTI_SUCCESS;
}

/* Disables the records of calls that only ask. They return each time the kinds are enabled. */
static void
quiet_questions (void)
{
  if ((lns_cuda_options ()->cuda & LNS_WIRE_CUDA_ALL_APIS) ||
      lns_cupti.ActivityEnableRuntimeApi == NULL || lns_cupti.ActivityEnableDriverApi == NULL)
    return;
  for (const LnsCudaCall *call = lns_cuda_questions; call->cbid != 0; call++)
    if (call->is_runtime)
      (void)LNS_CUPTI_TRY (ActivityEnableRuntimeApi, call->cbid, 0);
    else
      (void)LNS_CUPTI_TRY (ActivityEnableDriverApi, call->cbid, 0);
}

static void
enable_all (void)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (is_asked_for (i) && !is_refused[i] && is_known (kinds[i].kind))
      is_refused[i] = !enable_kind (kinds[i].kind);
    else if (is_asked_for (i) && !is_known (kinds[i].kind) &&
             (kinds[i].options & ~WITHOUT_GRAPH_NODES) != 0)
      lns_cuda_problem (LNS_WIRE_PROBLEM_ENABLE, CUPTI_ERROR_INVALID_KIND, kinds[i].kind, NULL);
  quiet_questions ();
}

static void
disable_all (void)
{
  for (size_t i = N_KINDS; i-- > 0;)
    if (is_asked_for (i) && !is_refused[i] && is_known (kinds[i].kind))
      (void)LNS_CUPTI_TRY (ActivityDisable, kinds[i].kind);
}

bool
lns_cuda_has_kernels (void)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (kinds[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      return !__atomic_load_n (&is_refused[i], __ATOMIC_RELAXED);
  return false;
}

/* 1 or 0. */
static uint32_t
is_recording_asked (void)
{
  return __atomic_load_n (&lns_process.pool.header->recording, __ATOMIC_SEQ_CST) != 0;
}

/* Whether all requested kinds are enabled, and no thread is about to change that. */
static bool
is_enabled (void)
{
  return !__atomic_load_n (&changing, __ATOMIC_SEQ_CST) &&
         __atomic_load_n (&enabled, __ATOMIC_SEQ_CST);
}

void
lns_cuda_follow_recording (void)
{
  if (!lns_cuda_is_here () || !(lns_cuda_options ()->traces & LNS_WIRE_TRACE_CUDA))
    return;
  LNS_KEEP_ERRNO;
  while (is_recording_asked () != __atomic_load_n (&enabled, __ATOMIC_SEQ_CST) &&
         __atomic_exchange_n (&changing, 1, __ATOMIC_SEQ_CST) == 0)
    {
      const uint32_t wish = is_recording_asked ();
      if (wish != enabled && wish != 0)
        enable_all ();
      else if (wish != enabled)
        disable_all ();
      __atomic_store_n (&enabled, wish, __ATOMIC_SEQ_CST);
      __atomic_store_n (&changing, 0, __ATOMIC_SEQ_CST);
    }
  /* The next launch must be recorded. The wait is bounded, as in some versions of CUPTI the other thread may wait for
   * this one within a call. */
  for (int i = 0; i < ENABLED_WAITS && is_recording_asked () && !is_enabled (); i++)
    {
      const struct timespec pause = { .tv_nsec = 100000 };
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
    }
}

void
lns_cuda_enable_definitions (void)
{
  static const CUpti_ActivityKind definitions[] = { CUPTI_ACTIVITY_KIND_DEVICE,
                                                    CUPTI_ACTIVITY_KIND_CONTEXT,
                                                    CUPTI_ACTIVITY_KIND_STREAM };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
    (void)enable_kind (definitions[i]);
}

static void
set_attribute (CUpti_ActivityAttribute attribute, void *value, size_t n_bytes)
{
  if (lns_cupti.ActivitySetAttribute == NULL)
    return;
  CUptiResult result = lns_cupti.ActivitySetAttribute (attribute, &n_bytes, value);
  /* A version that does not know the attribute behaves as without it. */
  if (result != CUPTI_SUCCESS &&
      !(result == CUPTI_ERROR_INVALID_PARAMETER && lns_cuda_engine.has_own_clock))
    lns_cuda_problem (LNS_WIRE_PROBLEM_ATTRIBUTE, result, attribute, NULL);
}

void
lns_cuda_set_attributes (void)
{
  uint32_t options = options_asked ();
  uint8_t yes = 1;
  /* Without this, CUPTI zeroes each buffer on the program's thread. */
  set_attribute (CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &yes, sizeof yes);
  size_t device_bytes = (size_t)lns_cuda_options ()->device_buffer_kib << 10;
  if (device_bytes > 0)
    set_attribute (CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &device_bytes, sizeof device_bytes);
  if (!(options & LNS_WIRE_CUDA_GRAPH_NODES) && is_known (CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE))
    (void)LNS_CUPTI_TRY (ActivityEnableDeviceGraph, 1);
  if ((options & LNS_WIRE_CUDA_EVENTS) && lns_cupti.ActivityEnableCudaEventDeviceTimestamps == NULL)
    lns_cuda_problem (LNS_WIRE_PROBLEM_ENABLE, CUPTI_ERROR_INVALID_KIND,
                      CUPTI_ACTIVITY_KIND_CUDA_EVENT, NULL);
  else if (options & LNS_WIRE_CUDA_EVENTS)
    (void)LNS_CUPTI_TRY (ActivityEnableCudaEventDeviceTimestamps, 1);
  /* Programs that poll make thousands of queries a second that find their stream busy. */
  if (!(options & LNS_WIRE_CUDA_ALL_APIS))
    (void)LNS_CUPTI_TRY (ActivityEnableAllSyncRecords, 0);
}

void
lns_cuda_configure_unified (CUcontext context)
{
  static const struct
  {
    CUpti_ActivityUnifiedMemoryCounterKind kind;
    uint32_t options;
  } asked[] = {
    { CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, UNIFIED },
    { CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, UNIFIED },
    { CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
      LNS_WIRE_CUDA_UM_CPU_FAULTS },
    { CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, LNS_WIRE_CUDA_UM_GPU_FAULTS },
  };
  static uint64_t configured; /* devices, as bits */
  uint32_t options = lns_cuda_options ()->cuda, device = 0;
  if (!(options & UNIFIED) || lns_cupti.ActivityConfigureUnifiedMemoryCounter == NULL ||
      lns_cupti.GetDeviceId == NULL ||
      !lns_cuda_check (lns_cupti.GetDeviceId (context, &device), "cuptiGetDeviceId"))
    return;
  uint64_t bit = UINT64_C (1) << device % 64;
  if (__atomic_fetch_or (&configured, bit, __ATOMIC_ACQ_REL) & bit)
    return;
  CUpti_ActivityUnifiedMemoryCounterConfig counters[sizeof asked / sizeof *asked];
  uint32_t n = 0;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    if (asked[i].options & options)
      counters[n++] = (CUpti_ActivityUnifiedMemoryCounterConfig){
        .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
        .kind = asked[i].kind,
        .deviceId = device,
        .enable = 1,
      };
  if (!LNS_CUPTI_TRY (ActivityConfigureUnifiedMemoryCounter, counters, n))
    return;
  is_unified_ready = true;
  if (__atomic_load_n (&enabled, __ATOMIC_SEQ_CST))
    (void)enable_kind (CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}
