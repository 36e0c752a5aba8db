/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows about GPUs, contexts and streams. */

#include <string.h>

#include "src/tables/cell-builder.h"

/* NVTX_RESOURCE_TYPE_CUDA_DEVICE and …_CUDART_DEVICE: their identifiers are CUDA's numbers. */
#define NVTX_CUDA_DEVICE   0x40001
#define NVTX_CUDART_DEVICE 0x50000

/* Whether A and B are one GPU: by UUID where both have one, else by bus, else by number. */
static bool
is_same_gpu (const LnsCudaDevice *a, const LnsCudaDevice *b)
{
  if (a->uuid != 0 && b->uuid != 0)
    return a->uuid == b->uuid;
  return a->bus != 0 && b->bus != 0 ? a->bus == b->bus : a->number == b->number;
}

/* The device that stands for the GPU of DEVICE: the first that is the same. */
static uint32_t
gpu_of (const LnsCudaDevice *devices, uint32_t device)
{
  for (uint32_t i = 0; i < device; i++)
    if (is_same_gpu (&devices[i], &devices[device]))
      return i;
  return device;
}

/* TARGET_INFO_GPU.id of DEVICE: CUDA's number, unless processes number their GPUs in different ways. */
static int64_t
gpu_id (const LnsCudaDevice *devices, uint32_t device)
{
  uint32_t gpu = gpu_of (devices, device);
  int64_t id = devices[gpu].number;

  for (uint32_t i = 0; i < gpu; i++)
    if (devices[i].number == devices[gpu].number && gpu_of (devices, i) == i)
      return (int64_t)gpu + 1024;
  return id;
}

/* The UUID without its kind: "GPU-8f2c…" is "8f2c…" there. */
static LnsValue
uuid (LnsCellBuilder *builder, uint32_t id)
{
  LnsValue value = _lns_builder_string_or_null (builder, id);
  const char *dash =
      value.type == LNS_VALUE_TEXT ? memchr (value.bytes, '-', value.size_bytes) : NULL;

  if (dash != NULL)
    {
      value.size_bytes -= (uint32_t)(dash + 1 - value.bytes);
      value.bytes = dash + 1;
    }
  return value;
}

static void
fill_gpu (LnsCellBuilder *builder, const LnsCudaDevice *device, LnsValue *row)
{
  const struct
  {
    unsigned column;
    uint64_t value;
  } numbers[] = {
    { 4, 1 }, /* isDiscrete                                                                       */
    { 5, device->l2_bytes },
    { 6, device->memory_bytes },
    { 7, device->memory_bandwidth * 1000 },
    { 8, (uint64_t)device->core_clock * 1000 },
    { 9, device->n_multiprocessors },
    { 19, device->constant_bytes },
    { 20, device->max_ipc },
    { 21, device->max_registers_per_block },
    { 22, device->max_shared_per_block },
    { 24, device->max_shared_per_sm },
    { 25, device->max_registers_per_sm },
    { 26, device->threads_per_warp },
    { 27, device->n_copy_engines },
    { 28, device->max_warps_per_sm },
    { 29, device->max_blocks_per_sm },
    { 30, device->max_threads_per_block },
    { 31, device->max_block[0] },
    { 32, device->max_block[1] },
    { 33, device->max_block[2] },
    { 34, device->max_grid[0] },
    { 35, device->max_grid[1] },
    { 36, device->max_grid[2] },
    { 37, device->compute_major },
    { 39, device->compute_major },
  };

  for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    row[numbers[i].column] = _lns_cell_integer_or_null ((int64_t)numbers[i].value);
  if (device->compute_major != 0)
    row[38] = row[40] = _lns_cell_integer (device->compute_minor);
  row[0] = _lns_cell_integer (0);
  row[2] = _lns_builder_string (builder, device->name);
  row[3] = _lns_builder_string_or_null (builder, device->bus);
  row[11] = uuid (builder, device->uuid);
  row[14] = _lns_cell_integer (device->number);
}

static void
build_gpus (LnsCellBuilder *builder)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      LnsValue *row = gpu_of (devices, i) == i ? _lns_builder_add_row (builder) : NULL;
      if (row == NULL)
        continue;
      fill_gpu (builder, &devices[i], row);
      row[1] = _lns_cell_integer (gpu_id (devices, i));
    }
}

static int64_t
pid_of (LnsCellBuilder *builder, uint32_t process)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (builder->report, &n);
  return process < n ? processes[process].pid : 0;
}

static void
build_devices (LnsCellBuilder *builder)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (builder->report, &n);
  LnsValue *row;

  for (uint32_t i = 0; i < n && (row = _lns_builder_add_row (builder)) != NULL; i++)
    {
      row[0] = _lns_cell_integer (gpu_id (devices, i));
      row[1] = _lns_cell_integer (devices[i].number);
      row[2] = _lns_cell_integer (pid_of (builder, devices[i].process));
      row[3] = uuid (builder, devices[i].uuid);
      row[4] = _lns_cell_integer_or_null (devices[i].n_multiprocessors);
    }
}

/* The device of CONTEXT; a device of zeros where there is none. */
static LnsCudaDevice
device_of (LnsCellBuilder *builder, uint32_t context)
{
  uint32_t n_contexts, n_devices;
  const LnsCudaContext *contexts = lns_report_contexts (builder->report, &n_contexts);
  const LnsCudaDevice *devices = lns_report_devices (builder->report, &n_devices);

  if (context >= n_contexts || contexts[context].device >= n_devices)
    return (LnsCudaDevice){ .process = LNS_ID_NONE };
  return devices[contexts[context].device];
}

static void
build_contexts (LnsCellBuilder *builder)
{
  uint32_t n;
  const LnsCudaContext *contexts = lns_report_contexts (builder->report, &n);
  LnsValue *row;

  for (uint32_t i = 0; i < n && (row = _lns_builder_add_row (builder)) != NULL; i++)
    {
      LnsCudaDevice device = device_of (builder, i);
      row[0] = _lns_cell_integer (contexts[i].null_stream);
      row[1] = row[2] = _lns_cell_integer (0);
      row[3] = _lns_cell_integer (pid_of (builder, device.process));
      row[4] = _lns_cell_integer (device.number);
      row[5] = _lns_cell_integer (contexts[i].number);
      row[6] = _lns_cell_integer (contexts[i].parent != UINT32_MAX ? contexts[i].parent : 0);
      row[7] = _lns_cell_integer (contexts[i].is_green);
      row[8] = _lns_cell_integer (contexts[i].n_multiprocessors);
    }
}

static int64_t
context_number (LnsCellBuilder *builder, uint32_t context)
{
  uint32_t n;
  const LnsCudaContext *contexts = lns_report_contexts (builder->report, &n);
  return context < n ? contexts[context].number : 0;
}

/* Streams, or of them those that the program named. */
static void
build_streams (LnsCellBuilder *builder, bool named)
{
  uint32_t n;
  const LnsCudaStream *streams = lns_report_streams (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      LnsCudaDevice device = device_of (builder, streams[i].context);
      /* CUPTI numbers no stream 0: that one stands for waits that are for whole contexts.        */
      bool is_asked = named ? streams[i].name != 0 : streams[i].number != 0;
      LnsValue *row = is_asked ? _lns_builder_add_row (builder) : NULL;
      if (row == NULL)
        continue;
      row[1] = row[2] = _lns_cell_integer (0);
      row[3] = _lns_cell_integer (pid_of (builder, device.process));
      row[named ? 5 : 4] = _lns_cell_integer (context_number (builder, streams[i].context));
      row[named ? 6 : 0] = _lns_cell_integer (streams[i].number);
      if (named)
        {
          row[0] = _lns_builder_string (builder, streams[i].name);
          row[4] = _lns_cell_integer (device.number);
          continue;
        }
      /* A negative priority is a large number there.                                             */
      row[5] = _lns_cell_integer ((uint32_t)streams[i].priority);
      row[6] = _lns_cell_integer (streams[i].flags);
    }
}

static void
build_named_devices (LnsCellBuilder *builder)
{
  uint32_t n;
  const LnsResource *resources = lns_report_resources (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      bool is_device =
          resources[i].type == NVTX_CUDA_DEVICE || resources[i].type == NVTX_CUDART_DEVICE;
      LnsValue *row = is_device ? _lns_builder_add_row (builder) : NULL;
      if (row == NULL)
        continue;
      row[0] = _lns_builder_string (builder, resources[i].name);
      row[1] = row[2] = _lns_cell_integer (0);
      row[3] = _lns_cell_integer ((int64_t)resources[i].identifier);
    }
}

static void
build_named_contexts (LnsCellBuilder *builder)
{
  uint32_t n;
  const LnsCudaContext *contexts = lns_report_contexts (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      LnsCudaDevice device = device_of (builder, i);
      LnsValue *row = contexts[i].name != 0 ? _lns_builder_add_row (builder) : NULL;
      if (row == NULL)
        continue;
      row[0] = _lns_builder_string (builder, contexts[i].name);
      row[1] = row[2] = _lns_cell_integer (0);
      row[3] = _lns_cell_integer (pid_of (builder, device.process));
      row[4] = _lns_cell_integer (device.number);
      row[5] = _lns_cell_integer (contexts[i].number);
    }
}

bool
_lns_builder_cuda (LnsCellBuilder *builder, const char *table)
{
  if (strcmp (table, "TARGET_INFO_GPU") == 0)
    build_gpus (builder);
  else if (strcmp (table, "TARGET_INFO_CUDA_DEVICE") == 0)
    build_devices (builder);
  else if (strcmp (table, "TARGET_INFO_CUDA_CONTEXT_INFO") == 0)
    build_contexts (builder);
  else if (strcmp (table, "TARGET_INFO_CUDA_STREAM") == 0)
    build_streams (builder, false);
  else if (strcmp (table, "TARGET_INFO_NVTX_CUDA_STREAM") == 0)
    build_streams (builder, true);
  else if (strcmp (table, "TARGET_INFO_NVTX_CUDA_CONTEXT") == 0)
    build_named_contexts (builder);
  else if (strcmp (table, "TARGET_INFO_NVTX_CUDA_DEVICE") == 0)
    build_named_devices (builder);
  else
    return false;
  return true;
}
