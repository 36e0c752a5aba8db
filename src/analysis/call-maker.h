/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes call trees (call-tree.h) of paths from the outermost function inwards. */

#pragma once

#include "src/analysis/call-tree.h"
#include "src/base/array.h"
#include "src/base/id-map.h"

/* An empty one is { 0 }. One thread. */
typedef struct
{
  LNS_ARRAY (LnsCallFunction) functions;
  LNS_ARRAY (LnsCallTreeNode) nodes;
  LnsIdMap function_of[LNS_N_CALL_SORTS]; /* module << 32 | symbol → 1 + function */
  LnsIdMap child_of;                      /* (1 + parent) << 32 | function → 1 + node */
  uint32_t last_root;
} LnsCallMaker;

/* The number of FUNCTION, which is added unless it is there. O(1). */
uint32_t lns_call_maker_function (LnsCallMaker *maker, LnsCallFunction function);

/* Whether N more nodes make no tree that is larger than any recording's. */
bool lns_call_maker_has_room (const LnsCallMaker *maker, size_t n);

/* A new node of FUNCTION below PARENT, which may be LNS_ID_NONE and has none of it; not to be looked for again. O(1). */
uint32_t lns_call_maker_new_node (LnsCallMaker *maker, uint32_t parent, uint32_t function);

/* The node of FUNCTION below PARENT, which may be LNS_ID_NONE; added unless it is there. O(1). */
uint32_t lns_call_maker_node (LnsCallMaker *maker, uint32_t parent, uint32_t function);

/* Moves functions and nodes into TREE, which has none, and works out what else is known of them. MAKER is empty then. O(nodes). */
void lns_call_maker_finish (LnsCallMaker *maker, LnsCallTree *tree);
