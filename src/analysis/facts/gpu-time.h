/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by the ranges that were open where it was asked for: call trees (call-tree.h) whose chains are the push/pop ranges
 * around the call of the CUDA API that launched an operation, on the thread of that call, the outermost first, and innermost
 * the kernel, copy, memset or graph. Counts are nanoseconds of operations, and what runs side by side counts each time.
 *
 * A range is around a call that it neither begins after nor ends before; one whose end is not known is around none. What was
 * launched outside of ranges is below its thread, and what was launched by calls that were not recorded below its process.
 * Replaces: a join of operations with calls by process and correlation, and with the ranges of their thread by time. */

#pragma once

#include "src/analysis/call-tree.h"

typedef struct
{
  uint32_t thread;  /* instance; LNS_ID_NONE: not known */
  uint32_t process; /* instance */
} LnsGpuChainOwner;

/* Immutable: any thread. */
typedef struct
{
  LnsCallTree *tree;
  /* Ranges of one domain whose names differ by numbers alone, such as layers and steps, are one: a function with is_many. */
  bool strips_numbers;
  uint32_t **
      chains; /* by lane, NULL if it has no operations: by event, the number of its chain, less 1 */
  uint32_t n_lanes;
  LnsGpuChainOwner *owners; /* by chain: whose call launched it */
} LnsGpuTime;

/* Whether REPORT has kernels, copies, memsets or graphs. O(lanes). */
bool lns_gpu_time_is_there (LnsReport *report);

/* Where more different stacks of ranges than this and operations in them were told apart, steps and layers are one even if that was not
 * asked for. */
#define LNS_GPU_TIME_MAX_NODES (UINT32_C (1) << 20)

/* Makes the tree of REPORT, which must outlive it; lns_gpu_time_free () frees it. CANCEL may be NULL. NULL and ERROR where a chunk
 * is damaged, where it was cancelled, or where the tree has too many nodes even so. Any thread. O(operations × lanes of ranges of a
 * thread) where operations come in the order of their calls; keeps 4 bytes an operation, and some 150 a node. */
LnsGpuTime *lns_gpu_time_new (LnsReport *report,
                              bool strips_numbers,
                              const atomic_bool *cancel,
                              LnsError *error) __attribute__ ((warn_unused_result));
void lns_gpu_time_free (LnsGpuTime *self); /* NULL is fine */

/* Sums up the parts of operations in the time of QUERY that its threads launched, whatever its kind. What was launched by calls that were not recorded counts if all threads of its process do. CANCEL may be NULL. False and
 * ERROR where a chunk is damaged or it was cancelled; RET_SUMS is then empty. Any thread. O(log n) a lane, the operations within the
 * time, and the nodes. */
bool lns_gpu_time_sum (const LnsGpuTime *self,
                       const LnsCallQuery *query,
                       const atomic_bool *cancel,
                       LnsCallSums *ret_sums,
                       LnsError *error) __attribute__ ((warn_unused_result));

/* Puts the first operation that counts in such sums, that begins at or after FROM_NS, and whose node is marked in NODES, by node of
 * the tree, into RET_LANE and RET_ORDINAL; LNS_ID_NONE if there is none. Else as before. */
bool lns_gpu_time_find (const LnsGpuTime *self,
                        const LnsCallQuery *query,
                        int64_t from_ns,
                        const bool *nodes,
                        const atomic_bool *cancel,
                        uint32_t *ret_lane,
                        uint64_t *ret_ordinal,
                        LnsError *error) __attribute__ ((warn_unused_result));
