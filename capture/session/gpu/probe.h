/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Whether the GPUs of this machine can be sampled, found out by the sampler itself. */

#pragma once

#include <stdint.h>

#include "capture/session/gpu/sampling.h"

/* Starts the sampler of OPTIONS, in which `devices` decides what is sampled, and ends it as soon as it is known which GPUs can be
 * sampled, within NS and half a second: some answer only when sampling begins. Calls SAY for each reason why a GPU is not sampled.
 * Returns the number of GPUs that are. */
unsigned
lns_gpu_probe (const LnsGpuSamplingOptions *options, int64_t ns, LnsGpuSay say, void *data);
