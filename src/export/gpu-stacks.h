/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by the stack of NVTX ranges around the call that began it, for folded and svg. Kernels and copies are
 * gathered as they come; then calls and ranges are read by time, once. Replaces: a join of calls with GPU work by process
 * and correlation, and with the ranges of their thread by time. */

#pragma once

#include "src/export/text.h"

/* Stands for a copy in place of a kernel's name. */
#define LNS_GPU_STACK_COPY LNS_ID_NONE

/* Stands for the name of a frame above the functions of Python's samples (sample-stacks.h). */
#define LNS_GPU_STACK_PYTHON (LNS_ID_NONE - 1)

typedef struct LnsGpuStacks LnsGpuStacks;

/* The functions of an LnsExportType whose sink is an LnsGpuStacks. They gather from tables of kernels and copies,
 * 32 bytes a row. The type's close is its own and ends with lns_gpu_stacks_free (). */
void *lns_gpu_stacks_open (const LnsExportJob *job, LnsError *error);
bool lns_gpu_stacks_takes (const LnsTable *table);
bool lns_gpu_stacks_begin (void *stacks, const LnsTable *table, LnsError *error);
bool lns_gpu_stacks_row (void *stacks, const LnsSinkRow *row, LnsError *error);

void lns_gpu_stacks_free (LnsGpuStacks *stacks);

/* Called with one stack: the N string ids of the ranges from the outermost on, and last that of the kernel or
 * LNS_GPU_STACK_COPY. Returns false and fills ERROR to end the sweep. */
typedef bool (*LnsGpuStackFunc) (
    void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error);

/* Calls FUNCTION with the stack of each piece of work gathered, in the order of the calls' starts. Ranges are left out
 * and stacks filtered as the job's options say. Work without a call has no stack. If there is no stack at all, the
 * job's options get the reason. Can be called once. Returns false and fills ERROR if a chunk is damaged or the export
 * was cancelled. O(n log n). */
bool
lns_gpu_stacks_sweep (LnsGpuStacks *stacks, LnsGpuStackFunc function, void *data, LnsError *error);

/* Whether there was work to gather. */
bool lns_gpu_stacks_has_work (const LnsGpuStacks *stacks);

/* Returns the text that the export writes. */
LnsExportText *lns_gpu_stacks_text (const LnsGpuStacks *stacks);

/* Returns the text of NAME in a stack. The report owns it. */
const char *lns_gpu_stacks_name (const LnsGpuStacks *stacks, uint32_t name, size_t *ret_size_bytes);
