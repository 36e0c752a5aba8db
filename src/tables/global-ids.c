/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/tables-private.h"

int64_t
lns_tables_global_pid (const LnsTables *tables, uint32_t process)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (tables->report, &n);

  return process < n ? (int64_t)((uint64_t)processes[process].machine << 48 |
                                 (uint64_t)(processes[process].pid & 0xFFFFFF) << 24)
                     : 0;
}

int64_t
lns_tables_global_tid (const LnsTables *tables, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (tables->report, &n);

  if (thread >= n)
    return 0;
  int32_t tid = threads[thread].tid != 0 ? threads[thread].tid : threads[thread].target_tid;
  return lns_tables_global_pid (tables, threads[thread].process) | (tid & 0xFFFFFF);
}

uint32_t
lns_tables_thread_name (const LnsTables *tables, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (tables->report, &n);

  if (thread >= n)
    return LNS_ID_NONE;
  /* Imported threads have only the names that their file gives them, some of which are empty. */
  if (tables->is_import)
    return threads[thread].listed != 0 ? threads[thread].name : LNS_ID_NONE;
  return threads[thread].name
             ?: lns_report_processes (tables->report, NULL)[threads[thread].process].name
             ?: LNS_ID_NONE;
}

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

bool
_lns_tables_is_gpu (const LnsCudaDevice *devices, uint32_t device)
{
  return gpu_of (devices, device) == device;
}

int64_t
_lns_tables_gpu_id (const LnsCudaDevice *devices, uint32_t device)
{
  uint32_t gpu = gpu_of (devices, device);
  int64_t id = devices[gpu].number;

  for (uint32_t i = 0; i < gpu; i++)
    if (devices[i].number == devices[gpu].number && gpu_of (devices, i) == i)
      return (int64_t)gpu + 1024;
  return id;
}
