/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/sampler/pm-sampling.h"
#include "capture/sampler/cupti.h"

#include <stdlib.h>
#include <string.h>

/* Of the GPU's memory: a hundred times what the fastest rate fills between two readings. */
#define BUFFER_BYTES (UINT64_C (64) << 20)

/* That are decoded in one call. */
#define DECODED_SAMPLES 1024

/* The clock of most GPUs of Turing and of GA100, where the driver does not say it. */
#define USUAL_CLOCK_HZ UINT64_C (1400000000)

struct LnsPmSampling
{
  LnsMetricSet set;
  void *sampling; /* the library's object */
  uint8_t *data;  /* decoded samples, in the library's form */
  size_t n_data_bytes;
};

const LnsMetricSet *
lns_pm_sampling_set (const LnsPmSampling *sampling)
{
  return &sampling->set;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* Asks which counters the driver lets be used. RET_AVAILABLE is owned. */
static int
ask_available (size_t device, uint8_t **ret_available)
{
  LnsCuptiAvailable params = LNS_CUPTI_PARAMS (LnsCuptiAvailable, bytes);
  params.device = device;
  int result = lns_cupti_pm.cuptiPmSamplingGetCounterAvailability (&params);
  if (result != LNS_CUPTI_SUCCESS)
    return result;
  params.bytes = calloc (1, params.n_bytes > 0 ? params.n_bytes : 1);
  if (params.bytes == NULL)
    return LNS_CUPTI_OUT_OF_MEMORY;
  result = lns_cupti_pm.cuptiPmSamplingGetCounterAvailability (&params);
  *ret_available = params.bytes;
  return result;
}

/* Sets the rate and where samples wait. Chips of Turing and GA100 cannot sample by time, but every so many cycles of a clock
 * that may change its rate; those of Turing keep the oldest samples if their buffer is full (cupti_pmsampling.h). */
static int
configure (LnsPmSampling *sampling, const LnsPmOptions *options, const char *chip)
{
  const bool is_turing = strncmp (chip, "TU", 2) == 0;
  const bool has_time = !is_turing && strcmp (chip, "GA100") != 0;
  int device = 0, khz = 0;
  LnsCuptiConfig params = LNS_CUPTI_PARAMS (LnsCuptiConfig, append);
  params.sampling = sampling->sampling;
  params.n_bytes = sampling->set.n_image_bytes;
  params.bytes = sampling->set.image;
  params.n_buffer_bytes = BUFFER_BYTES;
  params.append = is_turing ? LNS_CUPTI_KEEP_OLDEST : LNS_CUPTI_KEEP_LATEST;
  params.trigger = has_time ? LNS_CUPTI_TRIGGER_TIME : LNS_CUPTI_TRIGGER_SYSCLK;
  params.interval = UINT64_C (1000000000) / options->hz;
  if (!has_time)
    {
      if (lns_cuda.cuDeviceGet (&device, (int)options->device) != 0 ||
          lns_cuda.cuDeviceGetAttribute (&khz, LNS_CUDA_CLOCK_RATE, device) != 0)
        khz = 0;
      params.interval = (khz > 0 ? (uint64_t)khz * 1000 : USUAL_CLOCK_HZ) / options->hz;
    }
  return lns_cupti_pm.cuptiPmSamplingSetConfig (&params);
}

static int
clear_data (const LnsPmSampling *sampling)
{
  LnsCuptiDataBegin params = LNS_CUPTI_PARAMS (LnsCuptiDataBegin, bytes);
  params.sampling = sampling->sampling;
  params.n_bytes = sampling->n_data_bytes;
  params.bytes = sampling->data;
  return lns_cupti_pm.cuptiPmSamplingCounterDataImageInitialize (&params);
}

static int
make_data (LnsPmSampling *sampling)
{
  LnsCuptiDataSize params = LNS_CUPTI_PARAMS (LnsCuptiDataSize, n_bytes);
  params.sampling = sampling->sampling;
  params.names = sampling->set.names;
  params.n = sampling->set.n;
  params.n_samples = DECODED_SAMPLES;
  const int result = lns_cupti_pm.cuptiPmSamplingGetCounterDataSize (&params);
  if (result != LNS_CUPTI_SUCCESS)
    return result;
  sampling->n_data_bytes = params.n_bytes;
  sampling->data = calloc (1, params.n_bytes > 0 ? params.n_bytes : 1);
  return sampling->data != NULL ? clear_data (sampling) : LNS_CUPTI_OUT_OF_MEMORY;
}

int
lns_pm_sampling_open (const LnsPmOptions *options,
                      LnsPmSampling **ret_sampling,
                      const char **ret_chip)
{
  LnsCuptiChip chip = LNS_CUPTI_PARAMS (LnsCuptiChip, name);
  LnsCuptiEnable enable = LNS_CUPTI_PARAMS (LnsCuptiEnable, sampling);
  uint8_t *available = NULL;
  *ret_chip = NULL;
  LnsPmSampling *sampling = *ret_sampling = calloc (1, sizeof *sampling);
  if (sampling == NULL)
    return LNS_CUPTI_OUT_OF_MEMORY;
  chip.device = enable.device = options->device;
  int result = lns_cupti_pm.cuptiDeviceGetChipName (&chip);
  if (result == LNS_CUPTI_SUCCESS && chip.name == NULL)
    result = LNS_CUPTI_UNKNOWN;
  *ret_chip = chip.name;
  if (result == LNS_CUPTI_SUCCESS)
    result = ask_available (options->device, &available);
  if (result == LNS_CUPTI_SUCCESS)
    result = lns_metric_set_choose (options->set, chip.name, available, &sampling->set);
  if (result != LNS_CUPTI_SUCCESS || sampling->set.n == 0)
    return result;
  result = lns_cupti_pm.cuptiPmSamplingEnable (&enable);
  if (result != LNS_CUPTI_SUCCESS)
    return result;
  sampling->sampling = enable.sampling;
  result = configure (sampling, options, chip.name);
  if (result == LNS_CUPTI_SUCCESS)
    result = make_data (sampling);
  if (result != LNS_CUPTI_SUCCESS)
    lns_pm_sampling_close (sampling);
  return result;
}

/* --- Sampling --------------------------------------------------------------------------------- */

static LnsCuptiSampling
target (const LnsPmSampling *sampling)
{
  LnsCuptiSampling params = LNS_CUPTI_PARAMS (LnsCuptiSampling, sampling);
  params.sampling = sampling->sampling;
  return params;
}

int
lns_pm_sampling_start (LnsPmSampling *sampling)
{
  LnsCuptiSampling params = target (sampling);
  return lns_cupti_pm.cuptiPmSamplingStart (&params);
}

int
lns_pm_sampling_stop (LnsPmSampling *sampling)
{
  LnsCuptiSampling params = target (sampling);
  return lns_cupti_pm.cuptiPmSamplingStop (&params);
}

void
lns_pm_sampling_close (LnsPmSampling *sampling)
{
  LnsCuptiSampling params = target (sampling);
  if (sampling->sampling != NULL)
    lns_cupti_pm.cuptiPmSamplingDisable (&params);
  sampling->sampling = NULL;
}

/* Reads sample INDEX of the data. */
static int
read_sample (LnsPmSampling *sampling, size_t index, LnsPmSample *ret_sample)
{
  LnsCuptiSampleInfo info = LNS_CUPTI_PARAMS (LnsCuptiSampleInfo, end);
  info.sampling = sampling->sampling;
  info.bytes = sampling->data;
  info.n_bytes = sampling->n_data_bytes;
  info.index = index;
  const int result = lns_cupti_pm.cuptiPmSamplingCounterDataGetSampleInfo (&info);
  if (result != LNS_CUPTI_SUCCESS)
    return result;
  ret_sample->start_ns = (int64_t)info.start;
  ret_sample->end_ns = (int64_t)info.end;
  LnsCuptiEvaluate evaluate = LNS_CUPTI_PARAMS (LnsCuptiEvaluate, values);
  evaluate.host = sampling->set.host;
  evaluate.bytes = sampling->data;
  evaluate.n_bytes = sampling->n_data_bytes;
  evaluate.index = index;
  evaluate.names = sampling->set.names;
  evaluate.n = sampling->set.n;
  evaluate.values = ret_sample->values;
  return lns_cupti_pm.cuptiProfilerHostEvaluateToGpuValues (&evaluate);
}

int
lns_pm_sampling_read (LnsPmSampling *sampling,
                      void (*take) (void *data, const LnsPmSample *sample),
                      void *data)
{
  for (bool has_more = true; has_more;)
    {
      LnsPmSample sample;
      LnsCuptiDecode decode = LNS_CUPTI_PARAMS (LnsCuptiDecode, overflow);
      decode.sampling = sampling->sampling;
      decode.bytes = sampling->data;
      decode.n_bytes = sampling->n_data_bytes;
      int result = lns_cupti_pm.cuptiPmSamplingDecodeData (&decode);
      LnsCuptiDataInfo info = LNS_CUPTI_PARAMS (LnsCuptiDataInfo, n_completed);
      info.bytes = sampling->data;
      info.n_bytes = sampling->n_data_bytes;
      if (result == LNS_CUPTI_SUCCESS)
        result = lns_cupti_pm.cuptiPmSamplingGetCounterDataInfo (&info);
      for (size_t i = 0; result == LNS_CUPTI_SUCCESS && i < info.n_completed; i++)
        {
          result = read_sample (sampling, i, &sample);
          if (result == LNS_CUPTI_SUCCESS)
            take (data, &sample);
        }
      if (result == LNS_CUPTI_SUCCESS)
        result = clear_data (sampling);
      if (result != LNS_CUPTI_SUCCESS)
        return result;
      has_more = decode.stop_reason == LNS_CUPTI_STOP_DATA_FULL && info.n_completed > 0;
    }
  return LNS_CUPTI_SUCCESS;
}
