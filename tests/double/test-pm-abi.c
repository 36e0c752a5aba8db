/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares capture/sampler/cupti-abi.h with NVIDIA's own headers. The compiler decides: if they differ, this file does not
 * build. */

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "capture/sampler/cupti-abi.h"
#include "tests/tap.h"

#define SAME(ours, theirs)                                                                         \
 _Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
#define SAME_FIELD(Ours, ours, Theirs, theirs)                                                     \
 _Static_assert(offsetof (Ours, ours) == offsetof (Theirs, theirs) &&                              \
                    sizeof (((Ours *)0)->ours) == sizeof (((Theirs *)0)->theirs),                  \
                #Ours "." #ours " is not where " #Theirs "." #theirs " is")

SAME (LNS_CUPTI_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
SAME (LNS_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME (LNS_CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
SAME (LNS_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME (LNS_CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME (LNS_CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME (LNS_CUPTI_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME (LNS_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME (LNS_CUPTI_VIRTUALIZED_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME (LNS_CUPTI_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME (LNS_CUPTI_CMP_DEVICE, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
SAME (LNS_CUPTI_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME (LNS_CUPTI_SLI_DEVICE, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
SAME (LNS_CUPTI_WSL_DEVICE, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME (LNS_CUPTI_INVALID_CHIP_NAME, CUPTI_ERROR_INVALID_CHIP_NAME);
SAME (LNS_CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
SAME (LNS_CUPTI_PROFILER_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME (LNS_CUPTI_N_METRIC_TYPES, CUPTI_METRIC_TYPE__COUNT);
SAME (LNS_CUPTI_TRIGGER_SYSCLK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME (LNS_CUPTI_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME (LNS_CUPTI_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME (LNS_CUPTI_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
SAME (LNS_CUPTI_STOP_DATA_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME (LNS_CUDA_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);

SAME_FIELD (LnsCuptiChip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_FIELD (LnsCuptiChip, name, CUpti_Device_GetChipName_Params, pChipName);
SAME_FIELD (LnsCuptiHost, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_FIELD (LnsCuptiHost, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_FIELD (LnsCuptiHost,
            available,
            CUpti_Profiler_Host_Initialize_Params,
            pCounterAvailabilityImage);
SAME_FIELD (LnsCuptiHost, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_FIELD (LnsCuptiHostEnd, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_FIELD (LnsCuptiNames, type, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
SAME_FIELD (LnsCuptiNames, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
SAME_FIELD (LnsCuptiNames, n, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics);
SAME_FIELD (LnsCuptiAdd, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_FIELD (LnsCuptiAdd, n, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_FIELD (LnsCuptiImageSize,
            n_bytes,
            CUpti_Profiler_Host_GetConfigImageSize_Params,
            configImageSize);
SAME_FIELD (LnsCuptiImage, n_bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_FIELD (LnsCuptiImage, bytes, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_FIELD (LnsCuptiPasses, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_FIELD (LnsCuptiPasses, n_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME_FIELD (LnsCuptiEvaluate,
            bytes,
            CUpti_Profiler_Host_EvaluateToGpuValues_Params,
            pCounterDataImage);
SAME_FIELD (LnsCuptiEvaluate,
            n_bytes,
            CUpti_Profiler_Host_EvaluateToGpuValues_Params,
            counterDataImageSize);
SAME_FIELD (LnsCuptiEvaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME_FIELD (LnsCuptiEvaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME_FIELD (LnsCuptiEvaluate, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_FIELD (LnsCuptiEvaluate,
            values,
            CUpti_Profiler_Host_EvaluateToGpuValues_Params,
            pMetricValues);
SAME_FIELD (LnsCuptiAvailable, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
SAME_FIELD (LnsCuptiAvailable,
            n_bytes,
            CUpti_PmSampling_GetCounterAvailability_Params,
            counterAvailabilityImageSize);
SAME_FIELD (LnsCuptiAvailable,
            bytes,
            CUpti_PmSampling_GetCounterAvailability_Params,
            pCounterAvailabilityImage);
SAME_FIELD (LnsCuptiEnable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_FIELD (LnsCuptiEnable, sampling, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME_FIELD (LnsCuptiSampling, sampling, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SAME_FIELD (LnsCuptiSampling, sampling, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
SAME_FIELD (LnsCuptiSampling, sampling, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
SAME_FIELD (LnsCuptiConfig, sampling, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
SAME_FIELD (LnsCuptiConfig, n_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME_FIELD (LnsCuptiConfig, bytes, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME_FIELD (LnsCuptiConfig, n_buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME_FIELD (LnsCuptiConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME_FIELD (LnsCuptiConfig, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_FIELD (LnsCuptiConfig, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SAME_FIELD (LnsCuptiDataSize, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME_FIELD (LnsCuptiDataSize, n, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME_FIELD (LnsCuptiDataSize, n_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_FIELD (LnsCuptiDataSize, n_bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
SAME_FIELD (LnsCuptiDataBegin,
            n_bytes,
            CUpti_PmSampling_CounterDataImage_Initialize_Params,
            counterDataSize);
SAME_FIELD (LnsCuptiDataBegin,
            bytes,
            CUpti_PmSampling_CounterDataImage_Initialize_Params,
            pCounterData);
SAME_FIELD (LnsCuptiDecode, bytes, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME_FIELD (LnsCuptiDecode, n_bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME_FIELD (LnsCuptiDecode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_FIELD (LnsCuptiDecode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SAME_FIELD (LnsCuptiDataInfo, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME_FIELD (LnsCuptiDataInfo,
            n_completed,
            CUpti_PmSampling_GetCounterDataInfo_Params,
            numCompletedSamples);
SAME_FIELD (LnsCuptiSampleInfo,
            bytes,
            CUpti_PmSampling_CounterData_GetSampleInfo_Params,
            pCounterDataImage);
SAME_FIELD (LnsCuptiSampleInfo,
            index,
            CUpti_PmSampling_CounterData_GetSampleInfo_Params,
            sampleIndex);
SAME_FIELD (LnsCuptiSampleInfo,
            start,
            CUpti_PmSampling_CounterData_GetSampleInfo_Params,
            startTimestamp);
SAME_FIELD (LnsCuptiSampleInfo,
            end,
            CUpti_PmSampling_CounterData_GetSampleInfo_Params,
            endTimestamp);
SAME_FIELD (LnsCuptiNothing, none, CUpti_Profiler_Initialize_Params, pPriv);

/* A size says where a struct ends, without what pads it. Later versions of CUPTI have more at the end of some. */
static void
sizes_are_those_of_the_headers (void)
{
  const LnsCuptiDecode decode = LNS_CUPTI_PARAMS (LnsCuptiDecode, overflow);
  const LnsCuptiConfig config = LNS_CUPTI_PARAMS (LnsCuptiConfig, append);
  const LnsCuptiHost host = LNS_CUPTI_PARAMS (LnsCuptiHost, host);
  LNS_CHECK (decode.size <= CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
  LNS_CHECK (config.size <= CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  LNS_CHECK (host.size <= CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
#if CUPTI_API_VERSION <= 130001
  LNS_CHECK_INT (decode.size, CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
  LNS_CHECK_INT (config.size, CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  LNS_CHECK_INT (host.size, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
#endif
}

int
main (void)
{
  LNS_TEST (sizes_are_those_of_the_headers);
  return lns_tap_done ();
}
