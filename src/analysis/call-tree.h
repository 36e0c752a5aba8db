/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums of samples over the call chains of a report: for tables of functions, top-down trees and flame graphs.
 *
 * A report's call nodes are places in code: two calls on different lines are two nodes, and inlined calls are none. The
 * nodes of this tree are functions: calls of one function from one caller are one node, and an inlined call is a node like
 * any other. The tree is made once and does not depend on samples. Sums over any time and threads are made of it, many at
 * once if need be: nothing of a tree changes. */

#pragma once

#include "src/base/format.h"
#include "src/store/read/report.h"

/* What a function of a tree is. From the range on, and up to the threads, all are of trees of GPU time (facts/gpu-time.h). */
typedef enum
{
  LNS_CALL_CODE,  /* a function of a program: symbol is its name, module the path of its file */
  LNS_CALL_RANGE, /* an NVTX range: symbol is its name, module that of its domain */
  LNS_CALL_KERNEL,
  LNS_CALL_COPY,
  LNS_CALL_SET,
  LNS_CALL_GRAPH,
  LNS_CALL_NO_RANGE, /* what a thread launched outside of ranges: symbol is the thread instance */
  LNS_CALL_NO_LAUNCH, /* what was launched by calls that were not recorded: symbol is the process instance */
  LNS_CALL_THREAD,  /* of a tree by thread: symbol is the thread instance */
  LNS_CALL_PROCESS, /* the same with the process instance */
  LNS_N_CALL_SORTS
} LnsCallSort;

/* A function of one name in one file, in whatever processes; or what stands for one. */
typedef struct
{
  uint32_t symbol; /* string id, where its sort says nothing else */
  uint32_t module; /* string id, 0 = none */
  uint16_t sort;   /* LnsCallSort */
  bool is_many;    /* it stands for several whose names differ by numbers alone */
} LnsCallFunction;

/* Numbers of other nodes may be LNS_ID_NONE. Nodes come behind their parents. */
typedef struct
{
  uint32_t parent, first_child, next_sibling;
  uint32_t function;
  bool is_recursive; /* a node above it has the same function */
  bool is_in_again;  /* a node above it has a function of the same module */
} LnsCallTreeNode;

/* A call chain of a lane, and the node of its innermost function there, or LNS_ID_NONE. */
typedef struct
{
  uint32_t chain; /* the number that samples have for it, less 1 */
  uint32_t node;
} LnsCallEnd;

typedef struct
{
  LnsCallEnd *items;
  size_t n;
} LnsCallEnds;

typedef struct
{
  LnsReport *report; /* borrowed */
  LnsCallFunction *functions;
  /* By function: the first of its sort and module; each process and thread is the first of its own. */
  uint32_t *first_of_module;
  LnsCallTreeNode *nodes; /* node 0 is the first outermost function; its siblings are the others */
  uint32_t n_functions, n_nodes;
  /* By the number that samples have for their call chain, less 1: the node of its innermost function, or LNS_ID_NONE. The
   * number is of a call node of the report, or of a chain that an import keeps. NULL if the tree is by thread. */
  uint32_t *node_of;
  bool *is_whole; /* by the same: its callers are known up to where the thread begins */
  uint32_t n_chains;
  LnsCallEnds *ends_of; /* by lane: the chains of its samples; NULL unless the tree is by thread */
  uint32_t n_lanes;     /* of `ends_of` */
} LnsCallTree;

/* Makes the tree of REPORT, which must outlive it; a report without call chains has an empty one. CANCEL may be NULL.
 * Returns NULL and fills ERROR if cancelled, or if inlined calls would make the tree larger than any recording does. Any
 * thread. O(call nodes × inlined calls at their places). */
LnsCallTree *lns_call_tree_new (LnsReport *report, const atomic_bool *cancel, LnsError *error)
    __attribute__ ((warn_unused_result));

/* The same with the processes of the samples of KIND as its outermost functions, below them their threads, and below each of
 * these the functions that samples found it in. Reads all samples of the report. O(samples + nodes). */
LnsCallTree *lns_call_tree_new_by_thread (LnsReport *report,
                                          LnsLaneKind kind,
                                          const atomic_bool *cancel,
                                          LnsError *error) __attribute__ ((warn_unused_result));
void lns_call_tree_free (LnsCallTree *tree); /* NULL is fine */

/* Which samples are summed up. */
typedef struct
{
  LnsLaneKind kind;         /* LNS_LANE_CPU_SAMPLE or LNS_LANE_PYTHON_SAMPLE */
  int64_t start_ns, end_ns; /* report clock, both included */
  const bool *threads;      /* by thread instance: whether its samples count; NULL = all do */
} LnsCallQuery;

/* Whether REPORT has samples of KIND. O(lanes). */
bool lns_call_has_samples (const LnsReport *report, LnsLaneKind kind);

/* The kind of samples that REPORT has: of CPUs if there are any, else of Python's functions. O(lanes). */
LnsLaneKind lns_call_sample_kind (const LnsReport *report);

/* In samples. */
typedef struct
{
  uint64_t self;  /* in the function itself */
  uint64_t total; /* in it and in what it called */
} LnsCallCount;

typedef struct
{
  LnsCallCount *nodes; /* by node of the tree; lns_call_sums_clear () frees them */
  uint64_t n_samples;  /* all, those without a call chain included */
  uint64_t n_without_chain;
  uint64_t n_whole; /* with a chain that LnsCallTree.is_whole; 0 after lns_call_sums_keep () */
} LnsCallSums;

/* Sums up the samples that QUERY asks for: of a tree by thread, those of its kind. CANCEL may be NULL. Returns false and fills ERROR if a chunk is damaged or the
 * call was cancelled; RET_SUMS is then empty. Any thread. O(log n) a lane, the samples within the time, and the nodes. */
bool lns_call_tree_sum (const LnsCallTree *tree,
                        const LnsCallQuery *query,
                        const atomic_bool *cancel,
                        LnsCallSums *ret_sums,
                        LnsError *error) __attribute__ ((warn_unused_result));
void lns_call_sums_clear (LnsCallSums *sums);

/* The sums of BY_CHAIN, what was counted by the number of the call chain, 0: without one; TREE is not by thread. To be cleared.
 * O(chains + nodes). */
LnsCallSums lns_call_tree_fold (const LnsCallTree *tree, const uint64_t *by_chain);

/* "97.3 %": how many of the samples of KIND with a call chain have all callers. NULL if none has a chain, or where it is not
 * known: Python's chains are never cut, and frame pointers alone (--backtrace=fp) lead into nothing without a word. */
const char *lns_call_sums_share_whole (const LnsCallTree *tree,
                                       const LnsCallSums *sums,
                                       LnsLaneKind kind,
                                       char ret_text[LNS_FORMAT_SIZE]);

/* Adds SUMS up by function into RET_FUNCTIONS, which has room for all of the tree's; or by module, at the first function of
 * each. A sample counts once for each function, or module, of its chain, however often that called itself. O(nodes). */
void lns_call_tree_functions (const LnsCallTree *tree,
                              const LnsCallSums *sums,
                              bool is_by_module,
                              LnsCallCount *ret_functions);

/* Marks what is below the nodes that are marked in NODES, too. O(nodes). */
void lns_call_tree_mark_below (const LnsCallTree *tree, bool *nodes);

/* Leaves in SUMS the samples of nodes that are marked in NODES alone; both are by node of the tree. O(nodes). */
void lns_call_sums_keep (const LnsCallTree *tree, const bool *nodes, LnsCallSums *sums);

/* Puts the first sample that QUERY asks for and that was taken in one of the nodes marked in NODES into RET_LANE and
 * RET_ORDINAL, or LNS_ID_NONE if there is none. CANCEL may be NULL. Returns false and fills ERROR if a chunk is damaged or
 * the call was cancelled. Any thread. O(log n) a lane, and the samples up to that one in time. */
bool lns_call_tree_find_sample (const LnsCallTree *tree,
                                const LnsCallQuery *query,
                                const bool *nodes,
                                const atomic_bool *cancel,
                                uint32_t *ret_lane,
                                uint64_t *ret_ordinal,
                                LnsError *error) __attribute__ ((warn_unused_result));
