/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* libnvidia-ml.so.1: the GPUs of the double as NVML shows them. Each metric of a GPU is a ramp: reading number n, from 0 on,
 * has the value of the table in README.md, whatever the time, so that a test knows all values that must be in a report.
 * LNS_DOUBLE_FAIL makes functions and fields fail, LNS_DOUBLE_NVML_REASONS holds clocks down. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/sampler/nvml-abi.h"
#include "tests/double/gpu/gpu.h"

#define API __attribute__ ((visibility ("default")))

/* Which ramp: one for each metric. */
typedef enum
{
  POWER,
  SM_CLOCK,
  TEMPERATURE,
  MEMORY_TEMPERATURE,
  MEMORY,
  PCIE_SENT,
  PCIE_RECEIVED,
  NVLINK_SENT,
  NVLINK_RECEIVED,
  ECC,
  REASONS,
  N_RAMPS
} Ramp;

struct LnsNvmlDevice
{
  unsigned number;
  unsigned n_read[N_RAMPS];
};

static struct LnsNvmlDevice devices[16] = { { 0 },  { 1 },  { 2 },  { 3 }, { 4 },  { 5 },
                                            { 6 },  { 7 },  { 8 },  { 9 }, { 10 }, { 11 },
                                            { 12 }, { 13 }, { 14 }, { 15 } };

static unsigned
n_devices (void)
{
  const long n = lns_gpu_option ("LNS_DOUBLE_DEVICES", 1);
  return n < 0 ? 0 : n > 16 ? 16 : (unsigned)n;
}

/* The number of this reading of RAMP. */
static unsigned
next (LnsNvmlDeviceHandle device, Ramp ramp)
{
  return __atomic_fetch_add (&device->n_read[ramp], 1, __ATOMIC_RELAXED);
}

static int
failure (const char *function, long argument)
{
  return lns_gpu_wanted_failure (function, argument);
}

/* --- Which GPUs ------------------------------------------------------------------------------- */

API int
nvmlInit_v2 (void)
{
  return failure ("nvmlInit_v2", -1);
}

API int
nvmlDeviceGetCount_v2 (unsigned *ret_n)
{
  *ret_n = n_devices ();
  return failure ("nvmlDeviceGetCount_v2", -1);
}

API int
nvmlDeviceGetHandleByIndex_v2 (unsigned index, LnsNvmlDeviceHandle *ret_device)
{
  if (index >= n_devices ())
    return LNS_NVML_INVALID_ARGUMENT;
  *ret_device = &devices[index];
  return failure ("nvmlDeviceGetHandleByIndex_v2", index);
}

/* Where the driver's double has the GPU. */
static void
print_bus (unsigned number, char *text, size_t room)
{
  snprintf (text, room, "%08X:%02X:00.0", 0, (0x1b + 0x20 * number) & 0xff);
}

API int
nvmlDeviceGetHandleByPciBusId_v2 (const char *bus, LnsNvmlDeviceHandle *ret_device)
{
  unsigned domain, number;
  if (sscanf (bus, "%x:%x:", &domain, &number) != 2)
    return LNS_NVML_INVALID_ARGUMENT;
  for (unsigned i = 0; i < n_devices (); i++)
    if (domain == 0 && ((0x1b + 0x20 * i) & 0xff) == number)
      {
        *ret_device = &devices[i];
        return failure ("nvmlDeviceGetHandleByPciBusId_v2", i);
      }
  return LNS_NVML_NOT_FOUND;
}

API int
nvmlDeviceGetUUID (LnsNvmlDeviceHandle device, char *text, unsigned room)
{
  snprintf (text, room, "GPU-6c616e65-7363-6f70-652d-%012x", device->number);
  return failure ("nvmlDeviceGetUUID", -1);
}

API int
nvmlDeviceGetHandleByUUID (const char *uuid, LnsNvmlDeviceHandle *ret_device)
{
  char text[96];
  for (unsigned i = 0; i < n_devices (); i++)
    {
      nvmlDeviceGetUUID (&devices[i], text, sizeof text);
      *ret_device = &devices[i];
      if (strcmp (text, uuid) == 0)
        return LNS_NVML_SUCCESS;
    }
  return LNS_NVML_NOT_FOUND;
}

API int
nvmlDeviceGetIndex (LnsNvmlDeviceHandle device, unsigned *ret_index)
{
  *ret_index = device->number;
  return LNS_NVML_SUCCESS;
}

API int
nvmlDeviceGetName (LnsNvmlDeviceHandle device, char *text, unsigned room)
{
  snprintf (text, room, "Lanescope Double GPU");
  return LNS_NVML_SUCCESS;
}

API int
nvmlDeviceGetPciInfo_v3 (LnsNvmlDeviceHandle device, LnsNvmlPci *ret_pci)
{
  *ret_pci = (LnsNvmlPci){ .bus = (0x1b + 0x20 * device->number) & 0xff };
  print_bus (device->number, ret_pci->bus_id, sizeof ret_pci->bus_id);
  return LNS_NVML_SUCCESS;
}

/* --- Ramps ------------------------------------------------------------------------------------ */

API int
nvmlDeviceGetPowerUsage (LnsNvmlDeviceHandle device, unsigned *ret_mw)
{
  const int failed = failure ("nvmlDeviceGetPowerUsage", device->number);
  if (failed == 0)
    *ret_mw = 100000 * (1 + device->number) + next (device, POWER);
  return failed;
}

API int
nvmlDeviceGetClockInfo (LnsNvmlDeviceHandle device, int clock, unsigned *ret_mhz)
{
  const int failed = failure ("nvmlDeviceGetClockInfo", clock);
  if (failed == 0)
    *ret_mhz = clock == LNS_NVML_CLOCK_SM ? 1980 - next (device, SM_CLOCK) % 1000 : 2619;
  return failed;
}

API int
nvmlDeviceGetTemperature (LnsNvmlDeviceHandle device, int sensor, unsigned *ret_degrees)
{
  const int failed = failure ("nvmlDeviceGetTemperature", sensor);
  while (lns_gpu_option ("LNS_DOUBLE_NVML_HANGS", -1) == (long)device->number)
    pause ();
  if (failed == 0)
    *ret_degrees = 40 + next (device, TEMPERATURE);
  return failed;
}

API int
nvmlDeviceGetMemoryInfo (LnsNvmlDeviceHandle device, LnsNvmlMemory *ret_memory)
{
  const int failed = failure ("nvmlDeviceGetMemoryInfo", device->number);
  ret_memory->total = UINT64_C (16) << 30;
  if (failed == 0)
    ret_memory->used = (UINT64_C (1) << 30) + ((unsigned long long)next (device, MEMORY) << 20);
  ret_memory->free = ret_memory->total - ret_memory->used;
  return failed;
}

API int
nvmlDeviceGetPcieThroughput (LnsNvmlDeviceHandle device, int counter, unsigned *ret_kb)
{
  const int failed = failure ("nvmlDeviceGetPcieThroughput", counter);
  if (failed == 0)
    *ret_kb = counter == LNS_NVML_PCIE_SENT ? 1000 + next (device, PCIE_SENT)
                                            : 2000 + next (device, PCIE_RECEIVED);
  return failed;
}

API int
nvmlDeviceGetTotalEccErrors (LnsNvmlDeviceHandle device,
                             int type,
                             int counter,
                             unsigned long long *ret_n)
{
  const int failed = failure ("nvmlDeviceGetTotalEccErrors", type);
  if (failed == 0)
    *ret_n = type == LNS_NVML_ECC_CORRECTED ? next (device, ECC) : 0;
  return failed;
}

/* The counters of links say that reading n was n tenths of a second after the first. */
static int
read_field (LnsNvmlDeviceHandle device, LnsNvmlField *field)
{
  const int failed = failure ("nvmlDeviceGetFieldValues", field->field);
  unsigned n;
  if (failed != 0)
    return failed;
  field->value_type = LNS_NVML_VALUE_UNSIGNED_LONG_LONG;
  switch (field->field)
    {
    case LNS_NVML_FIELD_POWER:
      field->value_type = LNS_NVML_VALUE_UNSIGNED_INT;
      return nvmlDeviceGetPowerUsage (device, &field->value.unsigned_int);
    case LNS_NVML_FIELD_MEMORY_TEMPERATURE:
      field->value_type = LNS_NVML_VALUE_UNSIGNED_INT;
      field->value.unsigned_int = 50 + next (device, MEMORY_TEMPERATURE);
      return 0;
    case LNS_NVML_FIELD_NVLINK_SENT:
    case LNS_NVML_FIELD_NVLINK_RECEIVED:
      if (field->scope != UINT_MAX)
        return LNS_NVML_INVALID_ARGUMENT;
      n = next (device, field->field == LNS_NVML_FIELD_NVLINK_SENT ? NVLINK_SENT : NVLINK_RECEIVED);
      field->time_us = 1700000000000000 + 100000LL * n;
      field->value.unsigned_long_long =
          (field->field == LNS_NVML_FIELD_NVLINK_SENT ? 50ull : 70ull) * n * (n + 1);
      return 0;
    default:
      return LNS_NVML_NOT_SUPPORTED;
    }
}

API int
nvmlDeviceGetFieldValues (LnsNvmlDeviceHandle device, int n, LnsNvmlField *fields)
{
  for (int i = 0; i < n; i++)
    fields[i].result = read_field (device, &fields[i]);
  return LNS_NVML_SUCCESS;
}

/* FROM-TO=BITS,…: readings FROM to TO have these bits, in hexadecimal. */
API int
nvmlDeviceGetCurrentClocksEventReasons (LnsNvmlDeviceHandle device, unsigned long long *ret_bits)
{
  const int failed = failure ("nvmlDeviceGetCurrentClocksEventReasons", device->number);
  const unsigned n = failed == 0 ? next (device, REASONS) : 0;
  const char *text = getenv ("LNS_DOUBLE_NVML_REASONS");
  *ret_bits = 0;
  for (unsigned from, to, bits; text != NULL && sscanf (text, "%u-%u=%x", &from, &to, &bits) == 3;)
    {
      *ret_bits |= n >= from && n <= to ? bits : 0;
      text = strchr (text, ',');
      text = text != NULL ? text + 1 : NULL;
    }
  return failed;
}

API const char *
nvmlErrorString (int result)
{
  switch (result)
    {
    case LNS_NVML_NOT_SUPPORTED:
      return "Not Supported";
    case LNS_NVML_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case LNS_NVML_NOT_FOUND:
      return "Not Found";
    case LNS_NVML_GPU_IS_LOST:
      return "GPU is lost";
    default:
      return "Unknown Error";
    }
}
