/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What can be read of a GPU, and how. */

#pragma once

#include <stdbool.h>

#include "capture/sampler/nvml.h"
#include "capture/wire/gpu.h"

/* What is known of one metric of a GPU. To be zero at first. */
typedef struct
{
  bool is_left_out; /* the GPU does not support it */
  bool has_count;
  uint64_t count; /* of a counter: when it was read last … */
  int64_t count_ns;
} LnsMeter;

/* Reads METRIC of DEVICE. Returns LNS_NVML_SUCCESS and RET_VALUE, or another result, which is final if METER->is_left_out is
 * set. A rate has no value at its first reading: LNS_NVML_NO_DATA. */
int lns_meter_read (LnsMeter *meter,
                    LnsNvmlDeviceHandle device,
                    LnsWireGpuMetric metric,
                    uint64_t *ret_value);

/* Whether NVML takes long for METRIC: it counts for 20 ms (nvmlDeviceGetPcieThroughput). */
bool lns_meter_is_slow (LnsWireGpuMetric metric);
