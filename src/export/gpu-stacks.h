/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by the stack of NVTX ranges around the call that began it, for folded and svg. Kernels and copies are
 * gathered as they come; then calls and ranges are read by time, once. Replaces: a join of calls with GPU work by process
 * and correlation, and with the ranges of their thread by time. */

#pragma once

#include "src/export/text.h"

/* In place of a kernel's name: a copy. */
#define LNS_GPU_STACK_COPY LNS_ID_NONE

typedef struct LnsGpuStacks LnsGpuStacks;

/* The functions of an LnsExportType whose sink is an LnsGpuStacks. They gather from tables of kernels and copies,
 * 24 bytes a row. The type's close is its own and ends with lns_gpu_stacks_free (). */
void *lns_gpu_stacks_open (const LnsExportJob *job, LnsError *error);
bool lns_gpu_stacks_takes (const LnsTable *table);
bool lns_gpu_stacks_begin (void *stacks, const LnsTable *table, LnsError *error);
bool lns_gpu_stacks_row (void *stacks, const LnsSinkRow *row, LnsError *error);

void lns_gpu_stacks_free (LnsGpuStacks *stacks);

/* Gets one stack: N string ids of ranges from the outermost on, then the kernel's or LNS_GPU_STACK_COPY.
 * False (with ERROR) ends the sweep. */
typedef bool (*LnsGpuStackFunc) (
    void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error);

/* Calls FUNCTION with the stack of each piece of work gathered, in the order of the calls' starts. Ranges are left out
 * and stacks filtered as the job's options say. Work without a call has no stack. Once. Says through the job's options
 * why there was no stack. False and ERROR where a chunk is damaged, or cancelled. O(n log n). */
bool
lns_gpu_stacks_sweep (LnsGpuStacks *stacks, LnsGpuStackFunc function, void *data, LnsError *error);

/* The text that the export writes. */
LnsExportText *lns_gpu_stacks_text (const LnsGpuStacks *stacks);

/* The text of NAME as stacks have it. The report owns it. */
const char *lns_gpu_stacks_name (const LnsGpuStacks *stacks, uint32_t name, size_t *ret_size_bytes);
