/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The call chains of samples as exports write them: those of the report, or those that an import keeps as a table, made into
 * the same nodes and frames. */

#pragma once

#include "src/base/error.h"
#include "src/store/read/call-walk.h"

typedef struct
{
  const LnsStackFrame *frames; /* numbers are those of the report, or made up here for an import */
  const LnsCallNode *nodes;
  const LnsModule *modules;
  uint32_t n_frames, n_nodes, n_modules;
  uint32_t *
      node_of; /* by id of a chain that an import keeps, less 1: its node; NULL: chains are nodes */
  uint32_t n_chains;
  LnsError failure; /* why the chains of an import cannot be listed */
} LnsExportCode;

/* Lists the chains of REPORT, which must outlive RET_CODE; lns_export_code_clear () frees the list. If chains that an import keeps
 * are out of order, there are none, and `failure` says so. O(rows of the kept table). */
void lns_export_code_list (LnsReport *report, LnsExportCode *ret_code);
void lns_export_code_clear (LnsExportCode *code);

/* The node of the call chain that a sample has in LNS_COLUMN_CALL_CHAIN, or LNS_ID_NONE. */
static inline uint32_t
lns_export_code_node (const LnsExportCode *code, uint64_t chain)
{
  if (code->node_of != NULL)
    return chain - 1 < code->n_chains ? code->node_of[chain - 1] : LNS_ID_NONE;
  return chain - 1 < code->n_nodes ? (uint32_t)(chain - 1) : LNS_ID_NONE;
}

/* A walk over the chain that ends with NODE, which may be LNS_ID_NONE. */
static inline LnsCallWalk
lns_export_code_walk (const LnsExportCode *code, uint32_t node)
{
  LnsCallWalk walk = { .nodes = code->nodes, .frames = code->frames };
  lns_call_walk_enter (&walk, node);
  return walk;
}
