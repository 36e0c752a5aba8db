/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The part of NVIDIA's management library (NVML) that the sampler uses, in words of our own, so that a build needs no header
 * of it. Names and values are those of nvml.h 12.9 (package nvidia-nvml-dev-cu12); tests/double/test-nvml-abi.c compares
 * them with that header where it is installed. NVML keeps the ABI of a name: a function that changes gets a new one, which
 * ends with _v2 and so on. */

#pragma once

#include <stdint.h>

/* nvmlReturn_t, an enum. */
enum
{
  LNS_NVML_SUCCESS = 0,
  LNS_NVML_INVALID_ARGUMENT = 2,
  LNS_NVML_NOT_SUPPORTED = 3,
  LNS_NVML_NO_PERMISSION = 4,
  LNS_NVML_NOT_FOUND = 6,
  LNS_NVML_DRIVER_NOT_LOADED = 9,
  LNS_NVML_FUNCTION_NOT_FOUND = 13,
  LNS_NVML_GPU_IS_LOST = 15,
  LNS_NVML_RESET_REQUIRED = 16,
  LNS_NVML_NO_DATA = 21,
  LNS_NVML_DEPRECATED = 26,
  LNS_NVML_UNKNOWN = 999
};

typedef struct LnsNvmlDevice *LnsNvmlDeviceHandle; /* nvmlDevice_t */

/* nvmlClockType_t, nvmlTemperatureSensors_t, nvmlPcieUtilCounter_t, nvmlMemoryErrorType_t, nvmlEccCounterType_t */
#define LNS_NVML_CLOCK_SM         1
#define LNS_NVML_CLOCK_MEMORY     2
#define LNS_NVML_TEMPERATURE_GPU  0
#define LNS_NVML_PCIE_SENT        0
#define LNS_NVML_PCIE_RECEIVED    1
#define LNS_NVML_ECC_CORRECTED    0
#define LNS_NVML_ECC_UNCORRECTED  1
#define LNS_NVML_ECC_SINCE_LOADED 0

/* NVML_FI_DEV_… */
#define LNS_NVML_FIELD_MEMORY_TEMPERATURE 82  /* °C */
#define LNS_NVML_FIELD_NVLINK_SENT        138 /* KiB so far; scope UINT_MAX: of all links */
#define LNS_NVML_FIELD_NVLINK_RECEIVED    139
#define LNS_NVML_FIELD_POWER                                                                       \
 186 /* mW now; nvmlDeviceGetPowerUsage () is a mean of a second on most GPUs */

/* nvmlValueType_t */
enum
{
  LNS_NVML_VALUE_DOUBLE,
  LNS_NVML_VALUE_UNSIGNED_INT,
  LNS_NVML_VALUE_UNSIGNED_LONG,
  LNS_NVML_VALUE_UNSIGNED_LONG_LONG,
  LNS_NVML_VALUE_SIGNED_LONG_LONG,
  LNS_NVML_VALUE_SIGNED_INT,
  LNS_NVML_VALUE_UNSIGNED_SHORT
};

/* nvmlFieldValue_t */
typedef struct
{
  unsigned field, scope;
  long long time_us, latency_us;
  int value_type;
  int result; /* of this field */
  union
  {
    double real;
    int signed_int;
    unsigned unsigned_int;
    unsigned long unsigned_long;
    unsigned long long unsigned_long_long;
    long long signed_long_long;
    unsigned short unsigned_short;
  } value;
} LnsNvmlField;

/* nvmlPciInfo_t */
typedef struct
{
  char bus_legacy[16];
  unsigned domain, bus, device, id, subsystem_id;
  char bus_id[32];
} LnsNvmlPci;

/* nvmlMemory_t */
typedef struct
{
  unsigned long long total, free, used; /* bytes */
} LnsNvmlMemory;

/* Each function as NAME (RESULT-FREE ARGUMENTS): all return nvmlReturn_t. */
#define LNS_NVML_FUNCTIONS(FUNCTION)                                                               \
 FUNCTION (nvmlInit_v2, void)                                                                      \
 FUNCTION (nvmlDeviceGetCount_v2, unsigned *)                                                      \
 FUNCTION (nvmlDeviceGetHandleByIndex_v2, unsigned, LnsNvmlDeviceHandle *)                         \
 FUNCTION (nvmlDeviceGetHandleByPciBusId_v2, const char *, LnsNvmlDeviceHandle *)                  \
 FUNCTION (nvmlDeviceGetHandleByUUID, const char *, LnsNvmlDeviceHandle *)                         \
 FUNCTION (nvmlDeviceGetDeviceHandleFromMigDeviceHandle, LnsNvmlDeviceHandle,                      \
           LnsNvmlDeviceHandle *)                                                                  \
 FUNCTION (nvmlDeviceGetPciInfo_v3, LnsNvmlDeviceHandle, LnsNvmlPci *)                             \
 FUNCTION (nvmlDeviceGetIndex, LnsNvmlDeviceHandle, unsigned *)                                    \
 FUNCTION (nvmlDeviceGetName, LnsNvmlDeviceHandle, char *, unsigned)                               \
 FUNCTION (nvmlDeviceGetUUID, LnsNvmlDeviceHandle, char *, unsigned)                               \
 FUNCTION (nvmlDeviceGetPowerUsage, LnsNvmlDeviceHandle, unsigned *)                               \
 FUNCTION (nvmlDeviceGetClockInfo, LnsNvmlDeviceHandle, int, unsigned *)                           \
 FUNCTION (nvmlDeviceGetTemperature, LnsNvmlDeviceHandle, int, unsigned *)                         \
 FUNCTION (nvmlDeviceGetMemoryInfo, LnsNvmlDeviceHandle, LnsNvmlMemory *)                          \
 FUNCTION (nvmlDeviceGetPcieThroughput, LnsNvmlDeviceHandle, int, unsigned *)                      \
 FUNCTION (nvmlDeviceGetFieldValues, LnsNvmlDeviceHandle, int, LnsNvmlField *)                     \
 FUNCTION (nvmlDeviceGetTotalEccErrors, LnsNvmlDeviceHandle, int, int, unsigned long long *)       \
 FUNCTION (nvmlDeviceGetCurrentClocksEventReasons, LnsNvmlDeviceHandle, unsigned long long *)      \
 FUNCTION (nvmlDeviceGetCurrentClocksThrottleReasons, LnsNvmlDeviceHandle, unsigned long long *)
