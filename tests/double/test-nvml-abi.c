/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares capture/sampler/nvml-abi.h with NVIDIA's own header. The compiler decides: if they differ, this file does not
 * build. It is built where nvml.h is installed. */

#include <stddef.h>

#include <nvml.h>

#include "capture/sampler/nvml-abi.h"
#include "tests/tap.h"

#define SAME(ours, theirs)                                                                         \
 _Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
#define SAME_SIZE(ours, theirs)                                                                    \
 _Static_assert(sizeof (ours) == sizeof (theirs), #ours " is not as long as " #theirs)
#define SAME_FIELD(Ours, ours, Theirs, theirs)                                                     \
 _Static_assert(offsetof (Ours, ours) == offsetof (Theirs, theirs) &&                              \
                    sizeof (((Ours *)0)->ours) == sizeof (((Theirs *)0)->theirs),                  \
                #Ours "." #ours " is not where " #Theirs "." #theirs " is")

SAME (LNS_NVML_SUCCESS, NVML_SUCCESS);
SAME (LNS_NVML_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
SAME (LNS_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME (LNS_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME (LNS_NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND);
SAME (LNS_NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
SAME (LNS_NVML_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME (LNS_NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST);
SAME (LNS_NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED);
SAME (LNS_NVML_NO_DATA, NVML_ERROR_NO_DATA);
SAME (LNS_NVML_DEPRECATED, NVML_ERROR_DEPRECATED);

SAME (LNS_NVML_CLOCK_SM, NVML_CLOCK_SM);
SAME (LNS_NVML_CLOCK_MEMORY, NVML_CLOCK_MEM);
SAME (LNS_NVML_TEMPERATURE_GPU, NVML_TEMPERATURE_GPU);
SAME (LNS_NVML_PCIE_SENT, NVML_PCIE_UTIL_TX_BYTES);
SAME (LNS_NVML_PCIE_RECEIVED, NVML_PCIE_UTIL_RX_BYTES);
SAME (LNS_NVML_ECC_CORRECTED, NVML_MEMORY_ERROR_TYPE_CORRECTED);
SAME (LNS_NVML_ECC_UNCORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
SAME (LNS_NVML_ECC_SINCE_LOADED, NVML_VOLATILE_ECC);
SAME (LNS_NVML_FIELD_MEMORY_TEMPERATURE, NVML_FI_DEV_MEMORY_TEMP);
SAME (LNS_NVML_FIELD_NVLINK_SENT, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
SAME (LNS_NVML_FIELD_NVLINK_RECEIVED, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX);
SAME (LNS_NVML_FIELD_POWER, NVML_FI_DEV_POWER_INSTANT);
SAME (LNS_NVML_VALUE_DOUBLE, NVML_VALUE_TYPE_DOUBLE);
SAME (LNS_NVML_VALUE_UNSIGNED_INT, NVML_VALUE_TYPE_UNSIGNED_INT);
SAME (LNS_NVML_VALUE_UNSIGNED_LONG, NVML_VALUE_TYPE_UNSIGNED_LONG);
SAME (LNS_NVML_VALUE_UNSIGNED_LONG_LONG, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
SAME (LNS_NVML_VALUE_SIGNED_LONG_LONG, NVML_VALUE_TYPE_SIGNED_LONG_LONG);
SAME (LNS_NVML_VALUE_SIGNED_INT, NVML_VALUE_TYPE_SIGNED_INT);
SAME (LNS_NVML_VALUE_UNSIGNED_SHORT, NVML_VALUE_TYPE_UNSIGNED_SHORT);

SAME_SIZE (LnsNvmlDeviceHandle, nvmlDevice_t);
SAME_SIZE (int, nvmlReturn_t);
SAME_SIZE (int, nvmlClockType_t);
SAME_SIZE (LnsNvmlField, nvmlFieldValue_t);
SAME_FIELD (LnsNvmlField, field, nvmlFieldValue_t, fieldId);
SAME_FIELD (LnsNvmlField, scope, nvmlFieldValue_t, scopeId);
SAME_FIELD (LnsNvmlField, time_us, nvmlFieldValue_t, timestamp);
SAME_FIELD (LnsNvmlField, value_type, nvmlFieldValue_t, valueType);
SAME_FIELD (LnsNvmlField, result, nvmlFieldValue_t, nvmlReturn);
SAME_FIELD (LnsNvmlField, value, nvmlFieldValue_t, value);
SAME_SIZE (LnsNvmlMemory, nvmlMemory_t);
SAME_FIELD (LnsNvmlMemory, used, nvmlMemory_t, used);
SAME_SIZE (LnsNvmlPci, nvmlPciInfo_t);
SAME_FIELD (LnsNvmlPci, bus_id, nvmlPciInfo_t, busId);

/* The compiler checks the arguments of a call that is never made. */
#define TAKES(call) _Static_assert(sizeof (call) == sizeof (int), #call)

static void
test_functions (void)
{
  nvmlDevice_t *device = NULL;
  unsigned *number = NULL;
  unsigned long long *wide = NULL;
  char *text = NULL;
  TAKES (nvmlInit_v2 ());
  TAKES (nvmlDeviceGetCount_v2 (number));
  TAKES (nvmlDeviceGetHandleByIndex_v2 (*number, device));
  TAKES (nvmlDeviceGetHandleByPciBusId_v2 (text, device));
  TAKES (nvmlDeviceGetHandleByUUID (text, device));
  TAKES (nvmlDeviceGetDeviceHandleFromMigDeviceHandle (*device, device));
  TAKES (nvmlDeviceGetPciInfo_v3 (*device, (nvmlPciInfo_t *)NULL));
  TAKES (nvmlDeviceGetIndex (*device, number));
  TAKES (nvmlDeviceGetName (*device, text, *number));
  TAKES (nvmlDeviceGetUUID (*device, text, *number));
  TAKES (nvmlDeviceGetPowerUsage (*device, number));
  TAKES (nvmlDeviceGetClockInfo (*device, NVML_CLOCK_SM, number));
  TAKES (nvmlDeviceGetTemperature (*device, NVML_TEMPERATURE_GPU, number));
  TAKES (nvmlDeviceGetMemoryInfo (*device, (nvmlMemory_t *)NULL));
  TAKES (nvmlDeviceGetPcieThroughput (*device, NVML_PCIE_UTIL_TX_BYTES, number));
  TAKES (nvmlDeviceGetFieldValues (*device, 1, (nvmlFieldValue_t *)NULL));
  TAKES (nvmlDeviceGetTotalEccErrors (*device, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC,
                                      wide));
  TAKES (nvmlDeviceGetCurrentClocksThrottleReasons (*device, wide));
  LNS_CHECK (device == NULL && number == NULL && wide == NULL && text == NULL);
}

int
main (void)
{
  LNS_TEST (test_functions);
  return lns_tap_done ();
}
