/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of the hardware counters of one GPU: CUPTI's PM sampling. Each function returns CUPTI's result. */

#pragma once

#include <stdbool.h>

#include "capture/sampler/metric-set.h"

typedef struct LnsPmSampling LnsPmSampling;

typedef struct
{
  size_t device; /* as the driver counts */
  const char *set;
  unsigned hz;
} LnsPmOptions;

typedef struct
{
  int64_t start_ns, end_ns; /* CLOCK_MONOTONIC, as CUPTI converted it */
  double values[LNS_WIRE_GPU_MAX_METRICS];
} LnsPmSample;

/* Prepares OPTIONS->device. RET_SAMPLING is freed by the end of the process. RET_CHIP gets the name of the chip, or NULL.
 * `n` of the set is 0 if the chip has none of its metrics; nothing else may be called then. */
int lns_pm_sampling_open (const LnsPmOptions *options,
                          LnsPmSampling **ret_sampling,
                          const char **ret_chip);

const LnsMetricSet *lns_pm_sampling_set (const LnsPmSampling *sampling);

int lns_pm_sampling_start (LnsPmSampling *sampling);
int lns_pm_sampling_stop (LnsPmSampling *sampling);

/* Takes what the GPU has sampled by now, and calls TAKE for each sample in order. */
int lns_pm_sampling_read (LnsPmSampling *sampling,
                          void (*take) (void *data, const LnsPmSample *sample),
                          void *data);

/* Gives the counters to others. SAMPLING is stopped. */
void lns_pm_sampling_close (LnsPmSampling *sampling);
