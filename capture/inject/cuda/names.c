/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/names.h"
#include "capture/inject/cuda/cuda.h"
#include "capture/inject/cuda/engine.h"
#include "capture/wire/cuda-layout.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/nvtx-abi.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"

/* How many names are known by their addresses. Further names are looked up by their text each time. */
#define ADDRESSES 16384u
#define PROBES    16u

#define CALLS_MAX   2048u
#define DEVICES_MAX 64u

/* An address never changes once it is set. Its id and epoch change together. */
typedef struct
{
  uint64_t address;
  uint64_t id_and_epoch; /* id | epoch << 32; 0: not known yet */
} Address;

static Address addresses[ADDRESSES];
static uint32_t call_names[2][CALLS_MAX]; /* driver, runtime; UINT32_MAX: has none */
static char buses[DEVICES_MAX][24];
/* Devices, as bits: those whose bus is known, those with a context, and those of both that were told. */
static uint64_t buses_known, used, used_told;

static uint32_t
tell_name (const char *address)
{
  uint32_t id = lns_definitions_string (0, address, strlen (address));
  LnsWireCudaNameBytes record = { .head = { .type = LNS_WIRE_CUDA_NAME, .string = id },
                                  .address = (uintptr_t)address };
  LnsPart whole = { .bytes = &record, .n_bytes = sizeof record };
  if (id != 0)
    (void)lns_definitions_add (&whole, 1);
  return id;
}

uint32_t
lns_cuda_kernel_name (const char *address)
{
  if (address == NULL)
    return 0;
  uint64_t key = (uintptr_t)address;
  uint64_t epoch = __atomic_load_n (&lns_cuda_engine.names_epoch, __ATOMIC_ACQUIRE);
  uint32_t slot = (uint32_t)((key * UINT64_C (0x9e3779b97f4a7c15)) >> 40) % ADDRESSES;
  for (uint32_t i = 0; i < PROBES; i++)
    {
      Address *known = &addresses[(slot + i) % ADDRESSES];
      uint64_t found = __atomic_load_n (&known->address, __ATOMIC_ACQUIRE);
      if (found == 0 && __atomic_compare_exchange_n (&known->address, &found, key, false,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        found = key;
      if (found != key)
        continue;
      uint64_t value = __atomic_load_n (&known->id_and_epoch, __ATOMIC_ACQUIRE);
      if ((uint32_t)value != 0 && value >> 32 == epoch)
        return (uint32_t)value;
      uint32_t id = tell_name (address);
      __atomic_store_n (&known->id_and_epoch, id | epoch << 32, __ATOMIC_RELEASE);
      return id;
    }
  return lns_definitions_string (0, address, strlen (address));
}

uint32_t
lns_cuda_call_name (bool is_runtime, uint32_t cbid)
{
  if (cbid >= CALLS_MAX || lns_cupti.GetCallbackName == NULL)
    return 0;
  uint32_t *known = &call_names[is_runtime][cbid];
  uint32_t id = __atomic_load_n (known, __ATOMIC_RELAXED);
  if (id == 0 && !lns_cuda_is_silent ())
    {
      const char *name = NULL;
      CUpti_CallbackDomain domain =
          is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
      if (lns_cupti.GetCallbackName (domain, cbid, &name) == CUPTI_SUCCESS && name != NULL)
        id = lns_definitions_string (0, name, strlen (name));
      __atomic_store_n (known, id == 0 ? UINT32_MAX : id, __ATOMIC_RELAXED);
    }
  return id == UINT32_MAX ? 0 : id;
}

void
lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes)
{
  LNS_KEEP_ERRNO;
  const bool is_context = type == LNS_NVTX_RESOURCE_CUDA_CONTEXT;
  CUcontext context = is_context ? (CUcontext)(uintptr_t)object : NULL;
  CUstream stream = (CUstream)(uintptr_t)object;
  LnsWireCudaNamedBytes record = { .head.type = LNS_WIRE_CUDA_NAMED, .stream = LNS_WIRE_CUDA_NONE };
  if (!lns_cuda_is_here () || lns_cuda_is_silent () || name == NULL ||
      lns_cupti.GetContextId == NULL ||
      (!is_context && type != LNS_NVTX_RESOURCE_CUDA_STREAM &&
       type != LNS_NVTX_RESOURCE_CUDART_STREAM))
    return;
  if (!is_context &&
      (lns_cuda_driver.stream_context == NULL || lns_cupti.GetStreamIdEx == NULL ||
       lns_cuda_driver.stream_context (stream, &context) != CUDA_SUCCESS ||
       lns_cupti.GetStreamIdEx (context, stream, 0, &record.stream) != CUPTI_SUCCESS))
    return;
  if (lns_cupti.GetContextId (context, &record.context) != CUPTI_SUCCESS)
    return;
  record.head.string = lns_definitions_string (0, name, n_bytes);
  LnsPart whole = { .bytes = &record, .n_bytes = sizeof record };
  if (record.head.string != 0)
    (void)lns_definitions_add (&whole, 1);
}

const char *
lns_cuda_bus (uint32_t device)
{
  const bool is_known =
      device < DEVICES_MAX && (__atomic_load_n (&buses_known, __ATOMIC_SEQ_CST) >> device & 1) != 0;
  return is_known ? buses[device] : "";
}

/* Tells of devices in use whose bus is known. What one thread misses, as the other changes it, that other sees. */
static void
tell_all_used (void)
{
  const uint64_t now =
      __atomic_load_n (&used, __ATOMIC_SEQ_CST) & __atomic_load_n (&buses_known, __ATOMIC_SEQ_CST);
  uint64_t fresh = now & ~__atomic_fetch_or (&used_told, now, __ATOMIC_SEQ_CST);
  for (uint32_t device = 0; fresh != 0; device++, fresh >>= 1)
    {
      LnsWireCudaUsedBytes record = { .head.type = LNS_WIRE_CUDA_USED, .device = device };
      if ((fresh & 1) == 0)
        continue;
      memcpy (record.bus, buses[device], sizeof record.bus);
      lns_inject_stream_tell (&record, sizeof record);
    }
}

void
lns_cuda_tell_used (uint32_t device)
{
  if (device >= DEVICES_MAX)
    return;
  __atomic_fetch_or (&used, UINT64_C (1) << device, __ATOMIC_SEQ_CST);
  tell_all_used ();
}

void
lns_cuda_learn_buses (void)
{
  static bool are_all_known;
  int n = 0;
  if (are_all_known || lns_cuda_driver.device_count == NULL || lns_cuda_driver.bus_id == NULL ||
      lns_cuda_driver.device_count (&n) != CUDA_SUCCESS)
    return;
  are_all_known = true;
  for (int i = 0; i < n && i < (int)DEVICES_MAX; i++)
    {
      const uint64_t bit = UINT64_C (1) << i;
      if (buses_known & bit)
        continue;
      if (lns_cuda_driver.bus_id (buses[i], sizeof buses[i] - 1, i) == CUDA_SUCCESS)
        __atomic_fetch_or (&buses_known, bit, __ATOMIC_SEQ_CST);
      else
        are_all_known = false;
    }
  tell_all_used ();
}
