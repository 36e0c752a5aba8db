/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Selects the kinds of activity that CUPTI records, and what of them is kept. */

#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/cuda/subscriber.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/wire/cupti-records.h"

#include <stdlib.h>

#include "lns-cuda-calls-generated.h"

/* cuDriverGetVersion() of the first driver that records the times of events. */
#define EVENTS_DRIVER 12080

/* CUPTI_API_VERSION of the first that knows all attributes that are set: CUDA 11.1. */
#define HAS_ATTRIBUTES 15u

/* CUPTI_API_VERSION of the first that can disable kernels while another thread flushes: CUDA 13.0 U1. */
#define DISABLES_KERNELS 130001u

#define GREEN_CONTEXT ((CUpti_ActivityKind)LNS_CUPTI_GREEN_CONTEXT)

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
  { CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, LNS_WIRE_CUDA_DEVICE_GRAPHS },
  { CUPTI_ACTIVITY_KIND_MEMORY2, LNS_WIRE_CUDA_MEMORY_USAGE },
  { CUPTI_ACTIVITY_KIND_MEMORY_POOL, LNS_WIRE_CUDA_MEMORY_USAGE },
  { CUPTI_ACTIVITY_KIND_CUDA_EVENT, LNS_WIRE_CUDA_EVENTS },
  { CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, UNIFIED },
  { (CUpti_ActivityKind)LNS_CUPTI_HOST_LAUNCH, 0 },
  { (CUpti_ActivityKind)LNS_CUPTI_HOST_NODE, 0 },
  { (CUpti_ActivityKind)LNS_CUPTI_SWITCH, LNS_WIRE_CUDA_SWITCHES },
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

/* A kind that CUPTI refused is not disabled. */
static bool is_refused[N_KINDS];
static bool is_unified_ready;

/* Set while a thread begins or ends a range, and whether one is open. The thread that changed that checks again whether
 * it is as requested. */
static uint32_t changing, is_open;

/* How many times, at intervals of 100 µs, a thread that begins to record waits for another one that does. */
#define OPEN_WAITS 1000

static LnsWireCuptiRanges ranges;

/* The correlation of the program's call that begins or ends a range just now; 0: none does. Another thread may see that
 * the pool's RECORDING has changed before the call's own thread does. */
static uint32_t edge;

/* The call of the program that this thread is in, and whether it calls the driver to learn a correlation, or to see its record
 * come back. */
static __thread struct
{
  uint32_t correlation; /* 0: none */
  bool is_asking, is_mark;
} call __attribute__ ((tls_model ("initial-exec")));

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

/* Activity kinds that not every GPU or CUPTI supports; the refusal is expected and not reported. */
static bool
may_lack (CUpti_ActivityKind kind, CUptiResult result)
{
  const bool is_new = kind == GREEN_CONTEXT || kind == (CUpti_ActivityKind)LNS_CUPTI_HOST_LAUNCH ||
                      kind == (CUpti_ActivityKind)LNS_CUPTI_HOST_NODE;
  return (is_new || kind == CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS ||
          kind == CUPTI_ACTIVITY_KIND_JIT) &&
         (result == CUPTI_ERROR_NOT_SUPPORTED || result == CUPTI_ERROR_NOT_COMPATIBLE ||
          (result == CUPTI_ERROR_INVALID_KIND && is_new));
}

/* With its PAST: also records of what was made before, if KIND defines something. */
static bool
enable_kind (CUpti_ActivityKind kind, bool with_past)
{
  if (lns_cuda_is_silent ())
    return false;
  CUptiResult result =
      with_past ? lns_cuda_enable_with_past (kind) : lns_cuda_set_kind (kind, true);
  if (result != CUPTI_SUCCESS && !may_lack (kind, result))
    lns_cuda_problem (LNS_WIRE_PROBLEM_ENABLE, result, kind, NULL);
  return result == CUPTI_SUCCESS;
}

/* Disables the records of calls that only ask. They return when the kinds are enabled. */
static void
quiet_questions (void)
{
  if ((lns_cuda_options ()->cuda & LNS_WIRE_CUDA_ALL_APIS) ||
      lns_cupti.ActivityEnableRuntimeApi == NULL || lns_cupti.ActivityEnableDriverApi == NULL)
    return;
  for (const LnsCudaCall *question = lns_cuda_questions; question->cbid != 0; question++)
    lns_cuda_disable_call (question->is_runtime, question->cbid);
}

void
lns_cuda_enable_kinds (bool is_late)
{
  static const CUpti_ActivityKind definitions[] = { CUPTI_ACTIVITY_KIND_DEVICE,
                                                    CUPTI_ACTIVITY_KIND_CONTEXT,
                                                    CUPTI_ACTIVITY_KIND_STREAM, GREEN_CONTEXT };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
    if (definitions[i] != GREEN_CONTEXT || is_known (GREEN_CONTEXT))
      (void)enable_kind (definitions[i], is_late);
  for (size_t i = 0; i < N_KINDS; i++)
    if (is_asked_for (i) && is_known (kinds[i].kind))
      is_refused[i] = !enable_kind (kinds[i].kind, false);
    else if (is_asked_for (i) && (kinds[i].options & ~WITHOUT_GRAPH_NODES) != 0)
      lns_cuda_problem (LNS_WIRE_PROBLEM_ENABLE, CUPTI_ERROR_INVALID_KIND, kinds[i].kind, NULL);
  quiet_questions ();
}

void
lns_cuda_disable_kinds (void)
{
  __atomic_store_n (&lns_cuda_engine.is_disabled, true, __ATOMIC_RELEASE);
  /* Up to CUPTI 13.3 it takes 2 s to disable the counters of unified memory, and before 13.0 U1 a thread that disables
   * kernels may wait forever for one that flushes. */
  for (size_t i = N_KINDS; i-- > 0;)
    if (is_asked_for (i) && !is_refused[i] && is_known (kinds[i].kind) &&
        kinds[i].kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER &&
        (kinds[i].kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
         lns_cupti.version >= DISABLES_KERNELS))
      (void)(lns_cuda_is_silent () ||
             lns_cuda_check (lns_cuda_set_kind (kinds[i].kind, false), "cuptiActivityDisable"));
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

/* Whether a range is open, and no thread is about to change that. */
static bool
is_open_for_sure (void)
{
  return !__atomic_load_n (&changing, __ATOMIC_SEQ_CST) &&
         __atomic_load_n (&is_open, __ATOMIC_SEQ_CST);
}

void
lns_cuda_in_call (LnsCudaCallSite site, uint32_t correlation)
{
  if (site != LNS_CUDA_CALL_IS_OURS)
    __atomic_store_n (&edge, correlation, __ATOMIC_SEQ_CST);
  if (site != LNS_CUDA_CALL_IS_OURS || call.is_asking)
    call.correlation = correlation;
  /* Another thread may get the record before the call has returned. */
  if (site == LNS_CUDA_CALL_IS_OURS && call.is_mark)
    __atomic_store_n (&lns_cuda_engine.mark, correlation, __ATOMIC_RELEASE);
}

uint32_t
lns_cuda_make_call (bool is_mark)
{
  int version;
  if (lns_cuda_driver.driver_version == NULL)
    return 0;
  call.is_asking = true;
  call.is_mark = is_mark;
  (void)lns_cuda_driver.driver_version (&version);
  call.is_asking = call.is_mark = false;
  const uint32_t correlation = call.correlation;
  call.correlation = 0;
  return correlation;
}

/* The correlation that CUPTI has counted up to: that of the call that begins or ends a range, or of one that this thread
 * makes. 0 if CUPTI does not tell it. */
static uint32_t
correlation_now (void)
{
  const uint32_t of_edge = __atomic_load_n (&edge, __ATOMIC_SEQ_CST);
  if (of_edge != 0)
    return of_edge;
  return call.correlation != 0 ? call.correlation : lns_cuda_make_call (false);
}

/* Begins a range, or ends the one that is open. IS_FIRST: no call can have come before it. */
static void
turn (bool is_end, bool is_first)
{
  const uint32_t serial = is_end ? ranges.n - 1 : ranges.n;
  const uint32_t correlation = is_first ? 0 : correlation_now ();
  const uint64_t ticks = lns_wire_clock_ticks (lns_process.clock);
  LnsWireCuptiRange range = { .first = correlation,
                              .first_ticks = ticks,
                              .last_ticks = UINT64_MAX };
  if (is_first)
    range.first_ticks = 0;
  if (is_end)
    {
      range = ranges.ranges[serial % LNS_WIRE_CUPTI_RANGES];
      range.last = correlation;
      range.last_ticks = ticks;
    }
  lns_wire_cupti_ranges_set (&ranges, serial, &range);
  LnsWireCudaRangeBytes record = { .head = { .ticks = ticks, .type = LNS_WIRE_CUDA_RANGE },
                                   .serial = serial,
                                   .first = range.first,
                                   .last = range.last,
                                   .first_ticks = range.first_ticks,
                                   .last_ticks = range.last_ticks };
  lns_inject_stream_tell (&record, sizeof record);
}

const LnsWireCuptiRanges *
lns_cuda_ranges (void)
{
  return &ranges;
}

void
lns_cuda_follow_recording (void)
{
  static uint32_t is_started; /* the range that is open at the start has all calls */
  if (!lns_cuda_is_here () || !(lns_cuda_options ()->traces & LNS_WIRE_TRACE_CUDA))
    return;
  LNS_KEEP_ERRNO;
  while (is_recording_asked () != __atomic_load_n (&is_open, __ATOMIC_SEQ_CST) &&
         __atomic_exchange_n (&changing, 1, __ATOMIC_SEQ_CST) == 0)
    {
      const uint32_t wish = is_recording_asked ();
      if (wish != is_open)
        turn (wish == 0, !__atomic_load_n (&is_started, __ATOMIC_RELAXED));
      __atomic_store_n (&is_open, wish, __ATOMIC_SEQ_CST);
      __atomic_store_n (&changing, 0, __ATOMIC_SEQ_CST);
    }
  __atomic_store_n (&is_started, 1, __ATOMIC_RELAXED);
  /* The next launch must be recorded. The wait is bounded, as the other thread may wait for this one within a call. */
  for (int i = 0; i < OPEN_WAITS && is_recording_asked () && !is_open_for_sure (); i++)
    {
      const struct timespec pause = { .tv_nsec = 100000 };
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
    }
}

static void
set_attribute (CUpti_ActivityAttribute attribute, void *value, size_t n_bytes)
{
  if (lns_cupti.ActivitySetAttribute == NULL)
    return;
  CUptiResult result = lns_cuda_set_attribute (attribute, value, n_bytes);
  /* A version that does not know the attribute behaves as without it. */
  if (result != CUPTI_SUCCESS &&
      !(result == CUPTI_ERROR_INVALID_PARAMETER && lns_cupti.version < HAS_ATTRIBUTES))
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
  if (options & LNS_WIRE_CUDA_HOST_BUFFERS)
    set_attribute (CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, &yes, sizeof yes);
  if (options & LNS_WIRE_CUDA_HARDWARE)
    lns_cuda_trace_by_hardware ();
  /* These must be set before CUDA is initialised. */
  if (options & LNS_WIRE_CUDA_LATENCIES)
    lns_cuda_switch (LNS_CUPTI_ATTRIBUTE_LATENCIES, true);
  if (options & LNS_WIRE_CUDA_SOURCES)
    lns_cuda_switch (LNS_CUPTI_ATTRIBUTE_SOURCES, true);
  /* Takes 16 MiB of GPU memory for each context. */
  if ((options & LNS_WIRE_CUDA_DEVICE_GRAPHS) && is_known (CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE))
    lns_cuda_switch (LNS_CUPTI_ATTRIBUTE_DEVICE_GRAPHS, true);
  if ((options & LNS_WIRE_CUDA_EVENTS) && lns_cupti.ActivityEnableCudaEventDeviceTimestamps == NULL)
    lns_cuda_problem (LNS_WIRE_PROBLEM_ENABLE, CUPTI_ERROR_INVALID_KIND,
                      CUPTI_ACTIVITY_KIND_CUDA_EVENT, NULL);
  else if (options & LNS_WIRE_CUDA_EVENTS)
    lns_cuda_switch (LNS_CUPTI_ATTRIBUTE_EVENT_TIMES, true);
  /* Programs that poll make thousands of queries a second that find their stream busy. */
  if (!(options & LNS_WIRE_CUDA_ALL_APIS))
    lns_cuda_switch (LNS_CUPTI_ATTRIBUTE_ALL_SYNCS, false);
  /* The first subscriber decides for all of them whether graphs are recorded as a whole. */
  if (lns_cuda_is_shared () && !(options & LNS_WIRE_CUDA_GRAPH_NODES))
    set_attribute ((CUpti_ActivityAttribute)LNS_CUPTI_ATTRIBUTE_GRAPH_TRACE, &yes, sizeof yes);
}

/* Asks for what moves from DEVICE to others, and what the driver does about pages that several processors want, as far as
 * CUPTI can count that: devices that are no peers of others, of which it may refuse it, move pages through the host. */
static void
configure_more (uint32_t device)
{
  static const CUpti_ActivityUnifiedMemoryCounterKind kinds_asked[] = {
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
  };
  for (size_t i = 0; i < sizeof kinds_asked / sizeof *kinds_asked && !lns_cuda_is_silent (); i++)
    {
      CUpti_ActivityUnifiedMemoryCounterConfig counter = {
        .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
        .kind = kinds_asked[i],
        .deviceId = device,
        .enable = 1,
      };
      const CUptiResult result = lns_cupti.ActivityConfigureUnifiedMemoryCounter (&counter, 1);
      if (result != CUPTI_ERROR_NOT_SUPPORTED && result != CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED &&
          result != CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE &&
          result != CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES)
        (void)lns_cuda_check (result, "cuptiActivityConfigureUnifiedMemoryCounter");
    }
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
  if (lns_cuda_is_silent () || !(options & UNIFIED) ||
      lns_cupti.ActivityConfigureUnifiedMemoryCounter == NULL || lns_cupti.GetDeviceId == NULL ||
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
  configure_more (device);
  if (!__atomic_exchange_n (&is_unified_ready, true, __ATOMIC_ACQ_REL))
    (void)enable_kind (CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, false);
}
