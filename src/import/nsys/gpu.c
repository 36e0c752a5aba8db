/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is told of GPUs, contexts and streams. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/nsys/import-private.h"

/* A number of TARGET_INFO_GPU and where it goes. */
typedef struct
{
  const char *column;
  size_t offset, size_bytes;
  int64_t unit;
} Fact;

#define FACT(column, member, unit)                                                                 \
 {                                                                                                 \
  column, offsetof (LnsCudaDevice, member), sizeof (((LnsCudaDevice *)0)->member), unit            \
 }

static const Fact facts[] = {
  FACT ("l2CacheSize", l2_bytes, 1),
  FACT ("totalMemory", memory_bytes, 1),
  FACT ("memoryBandwidth", memory_bandwidth, 1000),
  FACT ("clockRate", core_clock, 1000),
  FACT ("smCount", n_multiprocessors, 1),
  FACT ("constantMemory", constant_bytes, 1),
  FACT ("maxIPC", max_ipc, 1),
  FACT ("maxRegistersPerBlock", max_registers_per_block, 1),
  FACT ("maxShmemPerBlock", max_shared_per_block, 1),
  FACT ("maxShmemPerSm", max_shared_per_sm, 1),
  FACT ("maxRegistersPerSm", max_registers_per_sm, 1),
  FACT ("threadsPerWarp", threads_per_warp, 1),
  FACT ("asyncEngines", n_copy_engines, 1),
  FACT ("maxWarpsPerSm", max_warps_per_sm, 1),
  FACT ("maxBlocksPerSm", max_blocks_per_sm, 1),
  FACT ("maxThreadsPerBlock", max_threads_per_block, 1),
  FACT ("maxBlockDimX", max_block[0], 1),
  FACT ("maxBlockDimY", max_block[1], 1),
  FACT ("maxBlockDimZ", max_block[2], 1),
  FACT ("maxGridDimX", max_grid[0], 1),
  FACT ("maxGridDimY", max_grid[1], 1),
  FACT ("maxGridDimZ", max_grid[2], 1),
  FACT ("computeMajor", compute_major, 1),
  FACT ("computeMinor", compute_minor, 1),
};
#define N_FACTS (sizeof facts / sizeof *facts)

enum
{
  GPU_ID,
  GPU_CU_DEVICE,
  GPU_NAME,
  GPU_BUS,
  GPU_UUID,
  N_GPU_COLUMNS
};

static void
put_fact (LnsCudaDevice *device, const Fact *fact, int64_t number)
{
  uint64_t wide = number > 0 ? (uint64_t)(number / fact->unit) : 0;
  uint32_t narrow = (uint32_t)wide;

  memcpy ((char *)device + fact->offset,
          fact->size_bytes == sizeof wide ? (const void *)&wide : &narrow, fact->size_bytes);
}

/* "8f2c…" of there is "GPU-8f2c…" here. */
static uint32_t
uuid_of (LnsImport *import, const LnsKeptValue *value)
{
  char uuid[128];

  if (value->type != LNS_KEPT_TEXT || value->size_bytes == 0)
    return 0;
  int n = snprintf (uuid, sizeof uuid, "GPU-%.*s",
                    (int)(value->size_bytes < 100 ? value->size_bytes : 100), value->bytes);
  return _lns_import_bytes (import, uuid, (size_t)n);
}

static bool
gpu_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  LnsImportGpu gpu = { .id = _lns_import_number (&values[GPU_ID]) };
  LnsImportGpu *list = reallocarray (import->gpu_list, import->n_gpus + 1, sizeof *list);

  if (list == NULL)
    return true;
  import->gpu_list = list;
  if (!_lns_import_integer (&values[GPU_CU_DEVICE], &gpu.number))
    gpu.number = gpu.id;
  gpu.device.name = _lns_import_text (import, &values[GPU_NAME]);
  gpu.device.bus = _lns_import_text (import, &values[GPU_BUS]);
  gpu.device.uuid = uuid_of (import, &values[GPU_UUID]);
  for (unsigned i = 0; i < N_FACTS; i++)
    put_fact (&gpu.device, &facts[i], _lns_import_number (&values[N_GPU_COLUMNS + i]));
  list[import->n_gpus++] = gpu;
  return true;
}

bool
_lns_import_gpus (LnsImport *import, LnsForeignTable *table)
{
  /* Exports of 2020 call the id otherwise.                                                          */
  const char *columns[N_GPU_COLUMNS + N_FACTS] = { lns_foreign_use_column (table, "id")
                                                       ? "id"
                                                       : "deviceId",
                                                   "cuDevice", "name", "busLocation", "uuid" };

  for (unsigned i = 0; i < N_FACTS; i++)
    columns[N_GPU_COLUMNS + i] = facts[i].column;
  return lns_foreign_read (import->foreign, table, columns, N_GPU_COLUMNS + N_FACTS,
                           LNS_FOREIGN_AS_IT_LIES, gpu_cb, import, import->error);
}

/* ---- What is of a process -------------------------------------------------------------------- */

/* Of a pid, which is told with the machine beside it. */
static uint32_t
process_of (LnsImport *import, const LnsKeptValue *values)
{
  uint64_t hardware = (uint64_t)_lns_import_number (&values[0]) & 0xFF,
           machine = (uint64_t)_lns_import_number (&values[1]) & 0xFF,
           pid = (uint64_t)_lns_import_number (&values[2]) & 0xFFFFFF;

  return _lns_import_process (import, (int64_t)(hardware << 56 | machine << 48 | pid << 24));
}

/* CUDA's number of a GPU in one process. */
static bool
device_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  int64_t gpu = _lns_import_number (&values[0]), number = _lns_import_number (&values[1]),
          pid = _lns_import_number (&values[2]);

  for (uint32_t p = 0; p < import->n_processes; p++)
    for (uint32_t i = 0; import->process_list[p].pid == pid && i < import->n_gpus; i++)
      if (import->gpu_list[i].id == gpu)
        {
          uint32_t id = _lns_import_device (import, p, number);
          if (id >= import->n_devices)
            continue;
          import->device_list[id] = import->gpu_list[i].device;
          import->device_list[id].process = p;
          import->device_list[id].number = (uint32_t)number;
          lns_writer_set_device (import->writer, id, &import->device_list[id]);
        }
  return true;
}

bool
_lns_import_devices (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "gpuId", "cudaId", "pid", "uuid", "numMultiprocessors" };
  return lns_foreign_read (import->foreign, table, columns, 5, LNS_FOREIGN_AS_IT_LIES, device_cb,
                           import, import->error);
}

static bool
context_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  uint32_t process = process_of (import, values),
           device = _lns_import_device (import, process, _lns_import_number (&values[3])),
           id = _lns_import_context (import, process, device, _lns_import_number (&values[4]));
  LnsCudaContext *context = id < import->n_contexts ? &import->context_list[id] : NULL;

  if (context == NULL)
    return true;
  context->null_stream = (uint32_t)_lns_import_number (&values[5]);
  context->parent = (uint32_t)_lns_import_number (&values[6]);
  context->is_green = _lns_import_number (&values[7]) != 0;
  context->n_multiprocessors = (uint32_t)_lns_import_number (&values[8]);
  lns_writer_set_context (import->writer, id, context);
  return true;
}

bool
_lns_import_contexts (LnsImport *import, LnsForeignTable *table)
{
  /* TARGET_INFO_CUDA_NULL_STREAM, as it was before, calls one column otherwise.                    */
  const char *columns[] = {
    "hwId",
    "vmId",
    "processId",
    "deviceId",
    "contextId",
    lns_foreign_use_column (table, "nullStreamId") ? "nullStreamId" : "streamId",
    "parentContextId",
    "isGreenContext",
    "numMultiprocessors",
  };
  return lns_foreign_read (import->foreign, table, columns, 9, LNS_FOREIGN_AS_IT_LIES, context_cb,
                           import, import->error);
}

/* The stream of a row; its context must be known by now, or is of device 0. */
static uint32_t
stream_of (LnsImport *import, const LnsKeptValue *values, const LnsKeptValue *device)
{
  uint32_t process = process_of (import, values),
           device_id = _lns_import_device (import, process, _lns_import_number (device)),
           context =
               _lns_import_context (import, process, device_id, _lns_import_number (&values[3]));

  return _lns_import_stream (import, context, _lns_import_number (&values[4]));
}

static bool
stream_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  uint32_t id = stream_of (import, values, &values[7]);
  LnsCudaStream *stream = id < import->n_streams ? &import->stream_list[id] : NULL;

  if (stream == NULL)
    return true;
  stream->priority =
      (int32_t)_lns_import_number (&values[5]); /* a negative one is a large number */
  stream->flags = (uint32_t)_lns_import_number (&values[6]);
  lns_writer_set_stream (import->writer, id, stream);
  return true;
}

bool
_lns_import_streams (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "hwId",     "vmId",     "processId", "contextId",
                                         "streamId", "priority", "flag",      "deviceId" };
  return lns_foreign_read (import->foreign, table, columns, 8, LNS_FOREIGN_AS_IT_LIES, stream_cb,
                           import, import->error);
}

static bool
stream_name_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  uint32_t id = stream_of (import, values, &values[6]);
  LnsCudaStream *stream = id < import->n_streams ? &import->stream_list[id] : NULL;

  if (stream == NULL)
    return true;
  stream->name = _lns_import_text (import, &values[5]);
  lns_writer_set_stream (import->writer, id, stream);
  return true;
}

bool
_lns_import_stream_names (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "hwId",     "vmId", "processId", "contextId",
                                         "streamId", "name", "deviceId" };
  return lns_foreign_read (import->foreign, table, columns, 7, LNS_FOREIGN_AS_IT_LIES,
                           stream_name_cb, import, import->error);
}
