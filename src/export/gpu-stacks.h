/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by the stack of NVTX ranges around the call that began it: what folded and svg draw. Kernels and
 * copies are gathered as they come; then calls and ranges are swept by time, once. Replaces: a join of calls
 * with GPU work by process and correlation, and with the ranges of their thread by time. */

#pragma once

#include "src/export/sink.h"

/* In place of a kernel's name: a copy. */
#define LNS_GPU_STACK_COPY LNS_ID_NONE

typedef struct LnsGpuStacks LnsGpuStacks;

/* For exports of JOB. To be freed. NULL and ERROR without memory. */
LnsGpuStacks *lns_gpu_stacks_new (const LnsExportJob *job, LnsError *error);
void lns_gpu_stacks_free (LnsGpuStacks *stacks); /* NULL is fine                                */

/* The functions of an LnsExportType that gather: from tables of kernels and copies. 24 bytes a row. */
bool lns_gpu_stacks_takes (const LnsTable *table);
void lns_gpu_stacks_begin (LnsGpuStacks *stacks, const LnsTable *table);
bool lns_gpu_stacks_row (LnsGpuStacks *stacks, const LnsSinkRow *row, LnsError *error);

/* Gets one stack: N string ids of ranges from the outermost on, then the kernel's or LNS_GPU_STACK_COPY.
 * False (with ERROR) ends the sweep. */
typedef bool (*LnsGpuStackFunc) (
    void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error);

/* Has FUNCTION look at the stack of each piece of work gathered, in the order of the calls' starts; ranges
 * are left out and stacks filtered as the job's options say. Work without a call has no stack. Once.
 * False and ERROR where a chunk is damaged, the regular expression is none, or cancelled. O(n log n). */
bool
lns_gpu_stacks_sweep (LnsGpuStacks *stacks, LnsGpuStackFunc function, void *data, LnsError *error);

/* Says, through the job's options, what is missing where there was no stack. To be called after the sweep. */
void lns_gpu_stacks_tell (const LnsGpuStacks *stacks);

/* The text of NAME as stacks have it. Owned by the report. */
const char *lns_gpu_stacks_name (const LnsGpuStacks *stacks, uint32_t name, size_t *ret_size_bytes);
