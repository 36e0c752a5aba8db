/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples by call chain, for folded and svg: stacks like those of GPU work, whose frames are the process, functions from the
 * outermost on, and whose length is a number of samples. */

#pragma once

#include "src/export/gpu-stacks.h"

/* Whether the export whose work STACKS gathered has samples: where they are asked for, or there is no work. */
bool lns_sample_stacks_are_wanted (const LnsGpuStacks *stacks);

/* Calls FUNCTION with the stack of each chain of each thread, and with how many samples it has. Where a report has samples of
 * CPUs and of Python, LNS_GPU_STACK_PYTHON is between the process and the functions of the latter. Returns false and fills
 * ERROR if a chunk is damaged, FUNCTION does so, or the export was cancelled. O(samples). */
bool lns_sample_stacks_sweep (const LnsGpuStacks *stacks,
                              LnsGpuStackFunc function,
                              void *data,
                              LnsError *error);
