/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which metrics are sampled on which chip. A set lists metrics by the names that users of GPU profilers know; what a chip
 * calls them is looked up in what the library lists for it. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/wire/gpu.h"

/* Of a metric, as the library names it. */
#define LNS_METRIC_NAME_BYTES 128

typedef struct
{
  uint32_t id; /* below LNS_WIRE_GPU_METRIC_IDS; never changes meaning */
  const char *title, *unit;
  char name[LNS_METRIC_NAME_BYTES];
} LnsMetric;

/* A set on one chip. `names` are those of `metrics`, for the library. */
typedef struct
{
  void *host; /* the library's object, to which the metrics were added */
  uint8_t *image;
  size_t n_image_bytes;
  size_t n;
  LnsMetric metrics[LNS_WIRE_GPU_MAX_METRICS];
  const char *names[LNS_WIRE_GPU_MAX_METRICS];
} LnsMetricSet;

/* Chooses the metrics of the set NAME that CHIP has and that can be counted at once: all if possible, otherwise those that are
 * asked for most. AVAILABLE is what the driver lets be counted, or NULL. RET_SET holds memory that stays. Returns CUPTI's
 * result; the set may be empty. */
int lns_metric_set_choose (const char *name,
                           const char *chip,
                           const uint8_t *available,
                           LnsMetricSet *ret_set);
