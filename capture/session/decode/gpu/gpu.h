/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of GPUs (capture/wire/gpu.h) into counter lanes, below the GPU of a process that uses it.
 *
 *   LNS-GPU-005   CUPTI or the driver cannot be used for hardware counters
 *   LNS-GPU-006   a GPU whose counters are asked for is not there
 *   LNS-GPU-007   the counters are for root only
 *   LNS-GPU-008   another program holds the counters
 *   LNS-GPU-009   the GPU's counters cannot be sampled
 *   LNS-GPU-010   CUPTI refuses to sample, for another reason
 *   LNS-GPU-011   sampling of counters ended by an error
 *   LNS-GPU-012   the times of samples of counters cannot be right */

#pragma once

#include "capture/session/decode/core/counters.h"
#include "capture/wire/gpu.h"

/* LnsUnrecorded has room for at least that. */
#define LNS_GPU_FAILURE_BYTES 256

/* Takes what the sampler says, in the order in which it says it. Its fields may be anything. Of a batch, only samples up to
 * UNTIL_NS (CLOCK_MONOTONIC) are taken: returns false if others are left, and what is taken is taken out of MESSAGE. */
bool lns_decoder_take_gpu (LnsDecoder *decoder, LnsWireGpuMessage *message, int64_t until_ns);

/* Puts the sentence for FAILURE, which is about hardware counters, into RET_TEXT, and returns its code. NULL: it is about
 * something else. */
const char *lns_gpu_failure_text (const LnsWireGpuFailure *failure,
                                  char ret_text[LNS_GPU_FAILURE_BYTES]);
