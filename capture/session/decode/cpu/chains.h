/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tree of call chains in the present report. Used by one thread. */

#pragma once

#include "capture/session/decode/cpu/map.h"
#include "capture/session/decode/cpu/python-functions.h"

/* The frames and nodes that the report has. */
typedef struct
{
  uint32_t report;      /* of which the ids are */
  LnsIdMap nodes;       /* 1 + id, by parent and frame */
  LnsIdMap homeless;    /* 1 + id of frames without a module, by address */
  LnsIdMap functions;   /* 1 + number of Python functions, by their names and files */
  LnsIdMap lines;       /* 1 + id of frames of Python, by function and line */
  LnsCpuModule *kernel; /* owned; NULL: no sample was in it */
} LnsCpuTree;

/* The node of the N addresses at CHAIN, the leaf first, in the present report, to which new ones are added. CALLER, a node
 * or LNS_ID_NONE, called the last of them. Callers are left out from the first on that is in no code: it is not a return
 * address. Returns CALLER without addresses. O(n) */
uint32_t _lns_cpu_tree_node (LnsCpuTree *tree,
                             LnsDecoder *decoder,
                             const LnsCpuMap *map,
                             const uint64_t *chain,
                             size_t n,
                             uint32_t caller);

/* The node of a Python function at POSITION that CALLER called, a node or LNS_ID_NONE. */
uint32_t _lns_cpu_tree_python_node (LnsCpuTree *tree,
                                    LnsDecoder *decoder,
                                    const LnsPythonPosition *position,
                                    uint32_t caller);
void _lns_cpu_tree_clear (LnsCpuTree *tree);
