/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports the tables that describe GPUs, contexts and streams. */

#include <stdio.h>
#include <string.h>

#include "src/import/nsys/import-private.h"

/* A number of TARGET_INFO_GPU, and the member that gets it. */
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

/* nsys writes a UUID without the "GPU-" with which reports begin it. */
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
  LnsImportGpu *gpu = lns_array_add (&import->gpus);

  gpu->id = _lns_import_number (&values[GPU_ID]);
  if (!_lns_import_integer (&values[GPU_CU_DEVICE], &gpu->number))
    gpu->number = gpu->id;
  gpu->device.name = _lns_import_text (import, &values[GPU_NAME]);
  gpu->device.bus = _lns_import_text (import, &values[GPU_BUS]);
  gpu->device.uuid = uuid_of (import, &values[GPU_UUID]);
  for (unsigned i = 0; i < N_FACTS; i++)
    put_fact (&gpu->device, &facts[i], _lns_import_number (&values[N_GPU_COLUMNS + i]));
  return true;
}

bool
_lns_import_gpus (LnsImport *import, LnsForeignTable *table)
{
  /* Exports of 2020 call the id "deviceId".                                                        */
  const char *columns[N_GPU_COLUMNS + N_FACTS] = { lns_foreign_use_column (table, "id")
                                                       ? "id"
                                                       : "deviceId",
                                                   "cuDevice", "name", "busLocation", "uuid" };

  for (unsigned i = 0; i < N_FACTS; i++)
    columns[N_GPU_COLUMNS + i] = facts[i].column;
  return lns_foreign_read (import->foreign, table, columns, N_GPU_COLUMNS + N_FACTS,
                           LNS_FOREIGN_AS_IT_LIES, gpu_cb, import, import->error);
}

/* ---- Objects of a process ---------------------------------------------------------------------- */

/* The process of a row whose first columns tell the machine (hwId, vmId) and the pid. */
static uint32_t
process_of (LnsImport *import, const LnsKeptValue *values)
{
  uint64_t hardware = (uint64_t)_lns_import_number (&values[0]) & 0xFF,
           machine = (uint64_t)_lns_import_number (&values[1]) & 0xFF,
           pid = (uint64_t)_lns_import_number (&values[2]) & 0xFFFFFF;

  return _lns_import_process (import, (int64_t)(hardware << 56 | machine << 48 | pid << 24));
}

/* CUDA's number of a GPU in one process. */
void
_lns_import_device_row (LnsImport *import, const LnsKeptValue *values)
{
  const int64_t gpu = _lns_import_number (&values[0]), number = _lns_import_number (&values[1]),
                pid = _lns_import_number (&values[2]);

  for (uint32_t p = 0; p < import->processes.n; p++)
    for (size_t i = 0; import->processes.items[p].pid == pid && i < import->gpus.n; i++)
      if (import->gpus.items[i].id == gpu)
        {
          const uint32_t id = _lns_import_device (import, p, number);
          LnsCudaDevice *device = &import->devices.items[id];
          *device = import->gpus.items[i].device;
          device->process = p;
          device->number = (uint32_t)number;
          lns_writer_set_device (import->writer, id, device);
        }
}

void
_lns_import_context_row (LnsImport *import, const LnsKeptValue *values)
{
  const uint32_t process = process_of (import, values),
                 device = _lns_import_device (import, process, _lns_import_number (&values[3])),
                 id =
                     _lns_import_context (import, process, device, _lns_import_number (&values[4]));
  LnsCudaContext *context = &import->contexts.items[id];

  context->null_stream = (uint32_t)_lns_import_number (&values[5]);
  context->parent = (uint32_t)_lns_import_number (&values[6]);
  context->is_green = _lns_import_number (&values[7]) != 0;
  context->n_multiprocessors = (uint32_t)_lns_import_number (&values[8]);
  lns_writer_set_context (import->writer, id, context);
}

/* The stream of a row whose context, unless it is known by now, is of DEVICE. */
static uint32_t
stream_of (LnsImport *import, const LnsKeptValue *values, const LnsKeptValue *device)
{
  const uint32_t process = process_of (import, values),
                 device_id = _lns_import_device (import, process, _lns_import_number (device)),
                 context = _lns_import_context (import, process, device_id,
                                                _lns_import_number (&values[3]));

  return _lns_import_stream (import, context, _lns_import_number (&values[4]));
}

void
_lns_import_stream_row (LnsImport *import, const LnsKeptValue *values)
{
  const uint32_t id = stream_of (import, values, &values[7]);
  LnsCudaStream *stream = &import->streams.items[id];

  /* A negative priority is written as a large number.                                             */
  stream->priority = (int32_t)_lns_import_number (&values[5]);
  stream->flags = (uint32_t)_lns_import_number (&values[6]);
  lns_writer_set_stream (import->writer, id, stream);
}

void
_lns_import_stream_name_row (LnsImport *import, const LnsKeptValue *values)
{
  const uint32_t id = stream_of (import, values, &values[6]);
  LnsCudaStream *stream = &import->streams.items[id];

  stream->name = _lns_import_text (import, &values[5]);
  lns_writer_set_stream (import->writer, id, stream);
}
