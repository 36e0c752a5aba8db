/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The part of CUPTI and of the CUDA driver that PM sampling needs, in words of our own, so that a build needs no header of
 * them. Names, members and values are those of cupti_pmsampling.h, cupti_profiler_host.h, cupti_profiler_target.h and
 * cupti_target.h 13.0; tests/double/test-pm-abi.c compares them with these headers. PM sampling came with CUDA 12.6.
 *
 * Each function of the profiler takes a struct that begins with its own size up to its last member, by which CUPTI knows the
 * version of its caller. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* CUptiResult, an enum. */
enum
{
  LNS_CUPTI_SUCCESS = 0,
  LNS_CUPTI_INVALID_OPERATION = 7,
  LNS_CUPTI_OUT_OF_MEMORY = 8,
  LNS_CUPTI_NOT_COMPATIBLE = 14,
  LNS_CUPTI_NOT_INITIALIZED = 15,
  LNS_CUPTI_HARDWARE_BUSY = 26,
  LNS_CUPTI_NOT_SUPPORTED = 27,
  LNS_CUPTI_VIRTUALIZED_DEVICE = 33,
  LNS_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
  LNS_CUPTI_VIRTUALIZED_PRIVILEGES = 40,
  LNS_CUPTI_CONFIDENTIAL_COMPUTING = 41,
  LNS_CUPTI_CMP_DEVICE = 42,
  LNS_CUPTI_MIG_DEVICE = 43,
  LNS_CUPTI_SLI_DEVICE = 44,
  LNS_CUPTI_WSL_DEVICE = 45,
  LNS_CUPTI_INVALID_CHIP_NAME = 46,
  LNS_CUPTI_UNKNOWN = 999
};

#define LNS_CUPTI_PROFILER_PM_SAMPLING 1 /* CUpti_ProfilerType */
#define LNS_CUPTI_N_METRIC_TYPES       3 /* CUpti_MetricType */
#define LNS_CUPTI_TRIGGER_SYSCLK       0 /* CUpti_PmSampling_TriggerMode */
#define LNS_CUPTI_TRIGGER_TIME         1
#define LNS_CUPTI_KEEP_OLDEST          0 /* CUpti_PmSampling_HardwareBuffer_AppendMode */
#define LNS_CUPTI_KEEP_LATEST          1
#define LNS_CUPTI_STOP_DATA_FULL       1 /* CUpti_PmSampling_DecodeStopReason */

/* Begins a variable of TYPE for a function whose version of it ends with LAST. */
#define LNS_CUPTI_PARAMS(Type, last)                                                               \
 {                                                                                                 \
  .size = offsetof (Type, last) + sizeof (((Type *)0)->last)                                       \
 }

/* clang-format off */
#define LNS_CUPTI_STRUCT(Name, ...) typedef struct { size_t size; void *none; __VA_ARGS__ } Name;

LNS_CUPTI_STRUCT (LnsCuptiChip, size_t device; const char *name;)
LNS_CUPTI_STRUCT (LnsCuptiHost, int type; const char *chip; const uint8_t *available; void *host;)
LNS_CUPTI_STRUCT (LnsCuptiHostEnd, void *host;)
LNS_CUPTI_STRUCT (LnsCuptiNames, void *host; int type; const char **names; size_t n;)
LNS_CUPTI_STRUCT (LnsCuptiAdd, void *host; const char **names; size_t n;)
LNS_CUPTI_STRUCT (LnsCuptiImageSize, void *host; size_t n_bytes;)
LNS_CUPTI_STRUCT (LnsCuptiImage, void *host; size_t n_bytes; uint8_t *bytes;)
LNS_CUPTI_STRUCT (LnsCuptiPasses, size_t n_bytes; uint8_t *bytes; size_t n_passes;)
LNS_CUPTI_STRUCT (LnsCuptiEvaluate, void *host; const uint8_t *bytes; size_t n_bytes; size_t index; const char **names;
                  size_t n; double *values;)
LNS_CUPTI_STRUCT (LnsCuptiAvailable, size_t device; size_t n_bytes; uint8_t *bytes;)
LNS_CUPTI_STRUCT (LnsCuptiEnable, size_t device; void *sampling;)
LNS_CUPTI_STRUCT (LnsCuptiSampling, void *sampling;) /* Start, Stop, Disable */
LNS_CUPTI_STRUCT (LnsCuptiConfig, void *sampling; size_t n_bytes; const uint8_t *bytes; size_t n_buffer_bytes;
                  uint64_t interval; int trigger; int append;)
LNS_CUPTI_STRUCT (LnsCuptiDataSize, void *sampling; const char **names; size_t n; uint32_t n_samples; size_t n_bytes;)
LNS_CUPTI_STRUCT (LnsCuptiDataBegin, void *sampling; size_t n_bytes; uint8_t *bytes;)
LNS_CUPTI_STRUCT (LnsCuptiDecode, void *sampling; uint8_t *bytes; size_t n_bytes; int stop_reason; uint8_t overflow;)
LNS_CUPTI_STRUCT (LnsCuptiDataInfo, const uint8_t *bytes; size_t n_bytes; size_t n_samples, n_populated, n_completed;)
LNS_CUPTI_STRUCT (LnsCuptiSampleInfo, void *sampling; const uint8_t *bytes; size_t n_bytes; size_t index; uint64_t start,
                  end;)
LNS_CUPTI_STRUCT (LnsCuptiNothing, )
/* clang-format on */

/* Each function as FUNCTION (NAME, ARGUMENTS): all return CUptiResult. */
#define LNS_CUPTI_PM_FUNCTIONS(FUNCTION)                                                           \
 FUNCTION (cuptiGetVersion, uint32_t *)                                                            \
 FUNCTION (cuptiGetResultString, int, const char **)                                               \
 FUNCTION (cuptiActivityRegisterTimestampCallback, uint64_t (*) (void))                            \
 FUNCTION (cuptiProfilerInitialize, LnsCuptiNothing *)                                             \
 FUNCTION (cuptiDeviceGetChipName, LnsCuptiChip *)                                                 \
 FUNCTION (cuptiProfilerHostInitialize, LnsCuptiHost *)                                            \
 FUNCTION (cuptiProfilerHostDeinitialize, LnsCuptiHostEnd *)                                       \
 FUNCTION (cuptiProfilerHostGetBaseMetrics, LnsCuptiNames *)                                       \
 FUNCTION (cuptiProfilerHostConfigAddMetrics, LnsCuptiAdd *)                                       \
 FUNCTION (cuptiProfilerHostGetConfigImageSize, LnsCuptiImageSize *)                               \
 FUNCTION (cuptiProfilerHostGetConfigImage, LnsCuptiImage *)                                       \
 FUNCTION (cuptiProfilerHostGetNumOfPasses, LnsCuptiPasses *)                                      \
 FUNCTION (cuptiProfilerHostEvaluateToGpuValues, LnsCuptiEvaluate *)                               \
 FUNCTION (cuptiPmSamplingGetCounterAvailability, LnsCuptiAvailable *)                             \
 FUNCTION (cuptiPmSamplingEnable, LnsCuptiEnable *)                                                \
 FUNCTION (cuptiPmSamplingSetConfig, LnsCuptiConfig *)                                             \
 FUNCTION (cuptiPmSamplingGetCounterDataSize, LnsCuptiDataSize *)                                  \
 FUNCTION (cuptiPmSamplingCounterDataImageInitialize, LnsCuptiDataBegin *)                         \
 FUNCTION (cuptiPmSamplingStart, LnsCuptiSampling *)                                               \
 FUNCTION (cuptiPmSamplingStop, LnsCuptiSampling *)                                                \
 FUNCTION (cuptiPmSamplingDisable, LnsCuptiSampling *)                                             \
 FUNCTION (cuptiPmSamplingDecodeData, LnsCuptiDecode *)                                            \
 FUNCTION (cuptiPmSamplingGetCounterDataInfo, LnsCuptiDataInfo *)                                  \
 FUNCTION (cuptiPmSamplingCounterDataGetSampleInfo, LnsCuptiSampleInfo *)

#define LNS_CUDA_CLOCK_RATE 13 /* CU_DEVICE_ATTRIBUTE_CLOCK_RATE, kHz */

/* Functions of the driver: all return CUresult. CUdevice is an int, CUuuid 16 bytes. */
#define LNS_CUDA_FUNCTIONS(FUNCTION)                                                               \
 FUNCTION (cuInit, unsigned)                                                                       \
 FUNCTION (cuDriverGetVersion, int *)                                                              \
 FUNCTION (cuGetErrorName, int, const char **)                                                     \
 FUNCTION (cuDeviceGetCount, int *)                                                                \
 FUNCTION (cuDeviceGet, int *, int)                                                                \
 FUNCTION (cuDeviceGetName, char *, int, int)                                                      \
 FUNCTION (cuDeviceGetUuid_v2, uint8_t *, int)                                                     \
 FUNCTION (cuDeviceGetPCIBusId, char *, int, int)                                                  \
 FUNCTION (cuDeviceGetAttribute, int *, int, int)
