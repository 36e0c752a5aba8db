/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/sampler/meter.h"
#include "capture/sampler/tell.h"

#include <limits.h>

/* --- Values of NVML --------------------------------------------------------------------------- */

static uint64_t
field_value (const LnsNvmlField *field)
{
  switch (field->value_type)
    {
    case LNS_NVML_VALUE_DOUBLE:
      return field->value.real > 0 ? (uint64_t)field->value.real : 0;
    case LNS_NVML_VALUE_UNSIGNED_INT:
      return field->value.unsigned_int;
    case LNS_NVML_VALUE_SIGNED_INT:
      return (uint64_t)(int64_t)field->value.signed_int;
    case LNS_NVML_VALUE_UNSIGNED_SHORT:
      return field->value.unsigned_short;
    default: /* the others are 64 bits long */
      return field->value.unsigned_long_long;
    }
}

static int
read_field (LnsNvmlDeviceHandle device, LnsNvmlField *field)
{
  const int result = lns_nvml.nvmlDeviceGetFieldValues (device, 1, field);
  return result == LNS_NVML_SUCCESS ? field->result : result;
}

static int
read_number (LnsNvmlDeviceHandle device, unsigned id, uint64_t *ret_value)
{
  LnsNvmlField field = { .field = id };
  const int result = read_field (device, &field);
  *ret_value = result == LNS_NVML_SUCCESS ? field_value (&field) : 0;
  return result;
}

/* Reads the growth in a second of the counter ID of all links. The first reading has none, nor has one after the counter began
 * anew. */
static int
read_rate (LnsMeter *meter, LnsNvmlDeviceHandle device, unsigned id, uint64_t *ret_value)
{
  LnsNvmlField field = { .field = id, .scope = UINT_MAX };
  const LnsMeter before = *meter;
  const int result = read_field (device, &field);
  if (result != LNS_NVML_SUCCESS)
    return result;
  meter->has_count = true;
  meter->count = field_value (&field);
  /* NVML says when it read the counter, in µs of the time of day. */
  meter->count_ns = field.time_us > 0 ? field.time_us * 1000 : lns_sampler_now_ns ();
  if (!before.has_count || meter->count < before.count || meter->count_ns <= before.count_ns)
    return LNS_NVML_NO_DATA;
  *ret_value = (uint64_t)((__uint128_t)(meter->count - before.count) * 1000000000u /
                          (uint64_t)(meter->count_ns - before.count_ns));
  return LNS_NVML_SUCCESS;
}

static int
read_power (LnsNvmlDeviceHandle device, uint64_t *ret_value)
{
  unsigned value = 0;
  int result = read_number (device, LNS_NVML_FIELD_POWER, ret_value);
  if (result == LNS_NVML_SUCCESS || result == LNS_NVML_GPU_IS_LOST)
    return result;
  result = lns_nvml.nvmlDeviceGetPowerUsage (device, &value);
  *ret_value = value;
  return result;
}

static int
read_clock (LnsNvmlDeviceHandle device, int clock, uint64_t *ret_value)
{
  unsigned value = 0;
  const int result = lns_nvml.nvmlDeviceGetClockInfo (device, clock, &value);
  *ret_value = value;
  return result;
}

static int
read_temperature (LnsNvmlDeviceHandle device, uint64_t *ret_value)
{
  unsigned value = 0;
  const int result = lns_nvml.nvmlDeviceGetTemperature (device, LNS_NVML_TEMPERATURE_GPU, &value);
  *ret_value = value;
  return result;
}

static int
read_memory (LnsNvmlDeviceHandle device, uint64_t *ret_value)
{
  LnsNvmlMemory memory = { 0 };
  const int result = lns_nvml.nvmlDeviceGetMemoryInfo (device, &memory);
  *ret_value = memory.used;
  return result;
}

static int
read_pcie (LnsNvmlDeviceHandle device, int counter, uint64_t *ret_value)
{
  unsigned value = 0;
  const int result = lns_nvml.nvmlDeviceGetPcieThroughput (device, counter, &value);
  *ret_value = value;
  return result;
}

static int
read_ecc (LnsNvmlDeviceHandle device, int type, uint64_t *ret_value)
{
  unsigned long long value = 0;
  const int result =
      lns_nvml.nvmlDeviceGetTotalEccErrors (device, type, LNS_NVML_ECC_SINCE_LOADED, &value);
  *ret_value = value;
  return result;
}

/* Under the name of NVML 12, or that of before. */
static int
read_reasons (LnsNvmlDeviceHandle device, uint64_t *ret_value)
{
  unsigned long long value = 0;
  int result = lns_nvml.nvmlDeviceGetCurrentClocksEventReasons (device, &value);
  if (result == LNS_NVML_FUNCTION_NOT_FOUND)
    result = lns_nvml.nvmlDeviceGetCurrentClocksThrottleReasons (device, &value);
  *ret_value = value;
  return result;
}

/* --- Metrics ---------------------------------------------------------------------------------- */

static int
read_metric (LnsMeter *meter,
             LnsNvmlDeviceHandle device,
             LnsWireGpuMetric metric,
             uint64_t *ret_value)
{
  switch (metric)
    {
    case LNS_WIRE_GPU_POWER:
      return read_power (device, ret_value);
    case LNS_WIRE_GPU_SM_CLOCK:
      return read_clock (device, LNS_NVML_CLOCK_SM, ret_value);
    case LNS_WIRE_GPU_MEMORY_CLOCK:
      return read_clock (device, LNS_NVML_CLOCK_MEMORY, ret_value);
    case LNS_WIRE_GPU_TEMPERATURE:
      return read_temperature (device, ret_value);
    case LNS_WIRE_GPU_MEMORY_TEMPERATURE:
      return read_number (device, LNS_NVML_FIELD_MEMORY_TEMPERATURE, ret_value);
    case LNS_WIRE_GPU_MEMORY_USED:
      return read_memory (device, ret_value);
    case LNS_WIRE_GPU_PCIE_SENT:
      return read_pcie (device, LNS_NVML_PCIE_SENT, ret_value);
    case LNS_WIRE_GPU_PCIE_RECEIVED:
      return read_pcie (device, LNS_NVML_PCIE_RECEIVED, ret_value);
    case LNS_WIRE_GPU_NVLINK_SENT:
      return read_rate (meter, device, LNS_NVML_FIELD_NVLINK_SENT, ret_value);
    case LNS_WIRE_GPU_NVLINK_RECEIVED:
      return read_rate (meter, device, LNS_NVML_FIELD_NVLINK_RECEIVED, ret_value);
    case LNS_WIRE_GPU_ECC_CORRECTED:
      return read_ecc (device, LNS_NVML_ECC_CORRECTED, ret_value);
    case LNS_WIRE_GPU_ECC_UNCORRECTED:
      return read_ecc (device, LNS_NVML_ECC_UNCORRECTED, ret_value);
    case LNS_WIRE_GPU_CLOCK_REASONS:
      return read_reasons (device, ret_value);
    case LNS_WIRE_GPU_N_METRICS:
      break;
    }
  return LNS_NVML_NOT_SUPPORTED;
}

bool
lns_meter_is_slow (LnsWireGpuMetric metric)
{
  return metric == LNS_WIRE_GPU_PCIE_SENT || metric == LNS_WIRE_GPU_PCIE_RECEIVED;
}

int
lns_meter_read (LnsMeter *meter,
                LnsNvmlDeviceHandle device,
                LnsWireGpuMetric metric,
                uint64_t *ret_value)
{
  if (meter->is_left_out)
    return LNS_NVML_NOT_SUPPORTED;
  const int result = read_metric (meter, device, metric, ret_value);
  meter->is_left_out = result == LNS_NVML_NOT_SUPPORTED || result == LNS_NVML_INVALID_ARGUMENT ||
                       result == LNS_NVML_NO_PERMISSION || result == LNS_NVML_FUNCTION_NOT_FOUND ||
                       result == LNS_NVML_DEPRECATED;
  return result;
}
