/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The metrics of GPUs (LNS_TRACK_GPU_METRIC) that a session samples, as far as readers know them by number. */

#pragma once

#include <stdint.h>

/* The number of their tracks, the reference's typeId, is this and NVML's number of the GPU, which is below 256. */
#define LNS_GPU_METRICS_SAMPLED (UINT64_C (1) << 56 | UINT64_C (2) << 32)

#define LNS_GPU_METRIC_SM_CLOCK 2 /* MHz */

/* Something that holds clocks down: 1 while it does, else 0. The metric is this and its bit of nvmlClocksEventReasons. */
#define LNS_GPU_METRIC_CLOCK_REASON   32
#define LNS_GPU_METRIC_N_CLOCK_REASON 64

/* A hardware counter: the metric is this and a number that capture/sampler/metric-set.c gives. Its values are doubles, which
 * hold from their time on for the length of a sample. */
#define LNS_GPU_METRIC_HARDWARE 128
