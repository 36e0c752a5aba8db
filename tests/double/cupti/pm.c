/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* PM sampling: hardware counters whose values are ramps that README.md tells. Samples are taken by the host's clock as long as
 * sampling is on; their values follow from how many there were. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "tests/double/cupti/cupti.h"

#define MAX_METRICS 64
#define MAX_LISTED  128
#define NAME_BYTES  128

/* The metrics of GH100, as far as they matter here, and some that no set asks for. `LNS_DOUBLE_PM_GROUP` replaces the group. */
static const struct
{
  CUpti_MetricType type;
  const char *name;
} listed[] = {
  { CUPTI_METRIC_TYPE_COUNTER, "TPC.*.sm__cycles_active" },
  { CUPTI_METRIC_TYPE_COUNTER, "sm__cycles_active" },
  { CUPTI_METRIC_TYPE_COUNTER, "sm__cycles_active_max" },
  { CUPTI_METRIC_TYPE_COUNTER, "TPC.*.sm__inst_executed_realtime" },
  { CUPTI_METRIC_TYPE_COUNTER, "TPC.*.sm__pipe_tensor_cycles_active_realtime" },
  { CUPTI_METRIC_TYPE_COUNTER, "FE_B.*.gr__cycles_active" },
  { CUPTI_METRIC_TYPE_COUNTER, "FE_A.*.gr__dispatch_count" },
  { CUPTI_METRIC_TYPE_COUNTER, "PCI.*.pcie__read_bytes" },
  { CUPTI_METRIC_TYPE_COUNTER, "PCI.*.pcie__write_bytes" },
  { CUPTI_METRIC_TYPE_COUNTER, "NVLRX.*.nvlrx__bytes_packet_request_data_user" },
  { CUPTI_METRIC_TYPE_COUNTER, "NVLTX.*.nvltx__bytes_packet_request_data_user" },
  { CUPTI_METRIC_TYPE_COUNTER, "gpc__cycles_elapsed" },
  { CUPTI_METRIC_TYPE_RATIO, "LTS.*.lts__average_t_sector_hit_rate_realtime" },
  { CUPTI_METRIC_TYPE_THROUGHPUT, "FBSP.*.dramc__read_throughput" },
  { CUPTI_METRIC_TYPE_THROUGHPUT, "FBSP.*.dramc__write_throughput" },
  { CUPTI_METRIC_TYPE_THROUGHPUT, "LTS.*.lts__throughput" },
};

#define N_LISTED (sizeof listed / sizeof *listed)

/* Which metrics are added in how many calls. */
typedef struct
{
  uint32_t n_calls, n;
} Image;

struct CUpti_Profiler_Host_Object
{
  Image image;
  char names[N_LISTED][NAME_BYTES];
  const char *by_type[CUPTI_METRIC_TYPE__COUNT][N_LISTED];
};

typedef struct
{
  int64_t number;
  uint64_t start, end;
} Sample;

/* What a counter data image holds. */
typedef struct
{
  uint32_t device, room, n;
  Sample samples[];
} Data;

struct CUpti_PmSampling_Object
{
  uint32_t device;
  int64_t interval_ns;
  int64_t started_ns, stopped_ns; /* of this start; the second is 0 while it samples */
  int64_t n_before, n_decoded;    /* samples of earlier starts, and decoded ones since this start */
  bool is_configured, is_started;
};

static const char *
text_option (const char *name, const char *fallback)
{
  const char *text = getenv (name);
  return text != NULL && text[0] != '\0' ? text : fallback;
}

/* A device's metrics are sampled once at a time. */
static CUpti_PmSampling_Object *enabled[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- The host's side -------------------------------------------------------------------------- */

LNS_CUPTI_API CUptiResult
cuptiProfilerInitialize (CUpti_Profiler_Initialize_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  return _lns_cupti_refuses () ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiDeviceGetChipName (CUpti_Device_GetChipName_Params *pParams)
{
  LNS_CUPTI_ENTER ((long)pParams->deviceIndex);
  if (lns_gpu_device ((int)pParams->deviceIndex) == NULL)
    return CUPTI_ERROR_INVALID_DEVICE;
  pParams->pChipName = text_option ("LNS_DOUBLE_PM_CHIP", "GH100");
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingGetCounterAvailability (CUpti_PmSampling_GetCounterAvailability_Params *pParams)
{
  LNS_CUPTI_ENTER ((long)pParams->deviceIndex);
  pParams->counterAvailabilityImageSize = 64;
  if (pParams->pCounterAvailabilityImage != NULL)
    memset (pParams->pCounterAvailabilityImage, 1, 64);
  return CUPTI_SUCCESS;
}

/* Lists the metrics without those in LNS_DOUBLE_PM_WITHOUT. */
static void
list_metrics (CUpti_Profiler_Host_Object *host)
{
  const char *group = text_option ("LNS_DOUBLE_PM_GROUP", "TriageCompute");
  const char *without = text_option ("LNS_DOUBLE_PM_WITHOUT", "");
  size_t n[CUPTI_METRIC_TYPE__COUNT] = { 0 };
  for (size_t i = 0; i < N_LISTED; i++)
    {
      const char *star = strchr (listed[i].name, '*');
      const char *dot = strrchr (listed[i].name, '.');
      if (strstr (without, dot != NULL ? dot + 1 : listed[i].name) != NULL)
        continue;
      if (star == NULL)
        snprintf (host->names[i], NAME_BYTES, "%s", listed[i].name);
      else
        snprintf (host->names[i], NAME_BYTES, "%.*s%s%s", (int)(star - listed[i].name),
                  listed[i].name, group, star + 1);
      host->by_type[listed[i].type][n[listed[i].type]++] = host->names[i];
    }
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostInitialize (CUpti_Profiler_Host_Initialize_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  void *library = dlopen ("libnvperf_host.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL || dlsym (library, "lns_double_nvperf") == NULL)
    return CUPTI_ERROR_NOT_INITIALIZED; /* as NVIDIA's 13.0 */
  if (pParams->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING ||
      pParams->pCounterAvailabilityImage == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (strcmp (pParams->pChipName, "GV100") == 0 || strcmp (pParams->pChipName, "none") == 0)
    return CUPTI_ERROR_INVALID_CHIP_NAME;
  pParams->pHostObject = calloc (1, sizeof *pParams->pHostObject);
  list_metrics (pParams->pHostObject);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostDeinitialize (CUpti_Profiler_Host_Deinitialize_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  free (pParams->pHostObject);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostGetBaseMetrics (CUpti_Profiler_Host_GetBaseMetrics_Params *pParams)
{
  LNS_CUPTI_ENTER (pParams->metricType);
  const char **names = pParams->pHostObject->by_type[pParams->metricType];
  pParams->ppMetricNames = names;
  pParams->numMetrics = 0;
  while (pParams->numMetrics < N_LISTED && names[pParams->numMetrics] != NULL)
    pParams->numMetrics++;
  return CUPTI_SUCCESS;
}

/* The number of METRIC, a listed name and a submetric, in the list; -1: it is none. */
static int
number_of (const CUpti_Profiler_Host_Object *host, const char *metric)
{
  for (size_t i = 0; i < N_LISTED; i++)
    {
      const size_t n = strlen (host->names[i]);
      const bool is_ratio = listed[i].type == CUPTI_METRIC_TYPE_RATIO;
      if (n > 0 && strncmp (metric, host->names[i], n) == 0 &&
          (is_ratio
               ? strcmp (metric + n, ".pct") == 0
               : strncmp (metric + n, ".avg.", 5) == 0 || strncmp (metric + n, ".sum.", 5) == 0))
        return (int)i;
    }
  return -1;
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostConfigAddMetrics (CUpti_Profiler_Host_ConfigAddMetrics_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  for (size_t i = 0; i < pParams->numMetrics; i++)
    if (number_of (pParams->pHostObject, pParams->ppMetricNames[i]) < 0)
      return CUPTI_ERROR_INVALID_METRIC_NAME;
  pParams->pHostObject->image.n_calls++;
  pParams->pHostObject->image.n += (uint32_t)pParams->numMetrics;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostGetConfigImageSize (CUpti_Profiler_Host_GetConfigImageSize_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  pParams->configImageSize = sizeof (Image);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostGetConfigImage (CUpti_Profiler_Host_GetConfigImage_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  if (pParams->configImageSize < sizeof (Image))
    return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  memcpy (pParams->pConfigImage, &pParams->pHostObject->image, sizeof (Image));
  return CUPTI_SUCCESS;
}

/* Each call that added metrics takes a pass of its own, as in NVIDIA's library, and more metrics than LNS_DOUBLE_PM_ROOM take
 * another one. */
static uint32_t
n_passes (const uint8_t *bytes)
{
  Image image;
  memcpy (&image, bytes, sizeof image);
  return image.n_calls + (image.n > (uint32_t)lns_gpu_option ("LNS_DOUBLE_PM_ROOM", MAX_METRICS));
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostGetNumOfPasses (CUpti_Profiler_Host_GetNumOfPasses_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  pParams->numOfPasses = n_passes (pParams->pConfigImage);
  return CUPTI_SUCCESS;
}

/* --- The device's side ------------------------------------------------------------------------ */

LNS_CUPTI_API CUptiResult
cuptiPmSamplingEnable (CUpti_PmSampling_Enable_Params *pParams)
{
  LNS_CUPTI_ENTER ((long)pParams->deviceIndex);
  if (lns_gpu_device ((int)pParams->deviceIndex) == NULL)
    return CUPTI_ERROR_INVALID_DEVICE;
  pthread_mutex_lock (&lock);
  const bool is_free = enabled[pParams->deviceIndex] == NULL;
  if (is_free)
    {
      CUpti_PmSampling_Object *object = calloc (1, sizeof *object);
      object->device = (uint32_t)pParams->deviceIndex;
      pParams->pPmSamplingObject = enabled[pParams->deviceIndex] = object;
    }
  pthread_mutex_unlock (&lock);
  return is_free ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingDisable (CUpti_PmSampling_Disable_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  pthread_mutex_lock (&lock);
  enabled[pParams->pPmSamplingObject->device] = NULL;
  pthread_mutex_unlock (&lock);
  free (pParams->pPmSamplingObject);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingSetConfig (CUpti_PmSampling_SetConfig_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  const char *chip = text_option ("LNS_DOUBLE_PM_CHIP", "GH100");
  const bool is_turing = strncmp (chip, "TU", 2) == 0;
  const bool has_time = !is_turing && strcmp (chip, "GA100") != 0;
  if (n_passes (pParams->pConfig) != 1)
    return CUPTI_ERROR_NOT_SUPPORTED;
  if ((pParams->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL && !has_time) ||
      (pParams->hwBufferAppendMode == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST &&
       is_turing) ||
      pParams->samplingInterval == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  pParams->pPmSamplingObject->interval_ns = (int64_t)pParams->samplingInterval;
  if (pParams->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL)
    pParams->pPmSamplingObject->interval_ns =
        (int64_t)((double)pParams->samplingInterval / 1.4); /* its clock */
  pParams->pPmSamplingObject->is_configured = true;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingGetCounterDataSize (CUpti_PmSampling_GetCounterDataSize_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  pParams->counterDataSize = sizeof (Data) + pParams->maxSamples * sizeof (Sample);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingCounterDataImageInitialize (
    CUpti_PmSampling_CounterDataImage_Initialize_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  Data *data = (Data *)pParams->pCounterData;
  data->device = pParams->pPmSamplingObject->device;
  data->room = (uint32_t)((pParams->counterDataSize - sizeof *data) / sizeof (Sample));
  data->n = 0;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingStart (CUpti_PmSampling_Start_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  CUpti_PmSampling_Object *object = pParams->pPmSamplingObject;
  if (!object->is_configured || object->is_started)
    return CUPTI_ERROR_INVALID_OPERATION;
  object->n_before += object->n_decoded;
  object->n_decoded = 0;
  object->started_ns = lns_gpu_now ();
  object->stopped_ns = 0;
  object->is_started = true;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingStop (CUpti_PmSampling_Stop_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  if (!pParams->pPmSamplingObject->is_started)
    return CUPTI_ERROR_INVALID_OPERATION;
  pParams->pPmSamplingObject->is_started = false;
  pParams->pPmSamplingObject->stopped_ns = lns_gpu_now ();
  return CUPTI_SUCCESS;
}

/* Whether sample NUMBER is overwritten: LNS_DOUBLE_PM_OVERWRITTEN is FROM-TO. */
static bool
is_overwritten (int64_t number)
{
  char *end;
  const char *text = text_option ("LNS_DOUBLE_PM_OVERWRITTEN", NULL);
  const long from = text != NULL ? strtol (text, &end, 10) : 0;
  return text != NULL && *end == '-' && number >= from && number <= strtol (end + 1, NULL, 10);
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingDecodeData (CUpti_PmSampling_DecodeData_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  CUpti_PmSampling_Object *object = pParams->pPmSamplingObject;
  Data *data = (Data *)pParams->pCounterDataImage;
  const int64_t now_ns = object->stopped_ns != 0 ? object->stopped_ns : lns_gpu_now ();
  const int64_t n = (now_ns - object->started_ns) / object->interval_ns;
  const int64_t error_ns = lns_gpu_option ("LNS_DOUBLE_PM_CLOCK", 0);
  pParams->overflow = 0;
  for (; data->n < data->room && object->n_decoded < n; object->n_decoded++)
    {
      const int64_t start_ns = object->started_ns + object->n_decoded * object->interval_ns;
      const int64_t number = object->n_before + object->n_decoded;
      if (is_overwritten (number))
        pParams->overflow = 1;
      else
        data->samples[data->n++] =
            (Sample){ number, _lns_cupti_time (start_ns + error_ns, true),
                      _lns_cupti_time (start_ns + error_ns + object->interval_ns, true) };
    }
  pParams->decodeStopReason = object->n_decoded < n
                                  ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                  : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingGetCounterDataInfo (CUpti_PmSampling_GetCounterDataInfo_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  const Data *data = (const Data *)pParams->pCounterDataImage;
  pParams->numTotalSamples = data->room;
  pParams->numPopulatedSamples = pParams->numCompletedSamples = data->n;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo (CUpti_PmSampling_CounterData_GetSampleInfo_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  const Data *data = (const Data *)pParams->pCounterDataImage;
  if (pParams->sampleIndex >= data->n)
    return CUPTI_ERROR_INVALID_PARAMETER;
  pParams->startTimestamp = data->samples[pParams->sampleIndex].start;
  pParams->endTimestamp = data->samples[pParams->sampleIndex].end;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiProfilerHostEvaluateToGpuValues (CUpti_Profiler_Host_EvaluateToGpuValues_Params *pParams)
{
  LNS_CUPTI_ENTER (-1);
  const Data *data = (const Data *)pParams->pCounterDataImage;
  if (pParams->rangeIndex >= data->n)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const int64_t number = data->samples[pParams->rangeIndex].number;
  for (size_t i = 0; i < pParams->numMetrics; i++)
    {
      const int metric = number_of (pParams->pHostObject, pParams->ppMetricNames[i]);
      if (metric < 0)
        return CUPTI_ERROR_INVALID_METRIC_NAME;
      /* A ratio is undefined in every second sample: nothing was counted. */
      pParams->pMetricValues[i] = listed[metric].type == CUPTI_METRIC_TYPE_RATIO && number % 2 != 0
                                      ? NAN
                                      : 1000 * data->device + metric + (double)number / 64;
    }
  return CUPTI_SUCCESS;
}
