/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The call chains of recorded samples as the table SAMPLING_CALLCHAINS: a row for each function in the chain of each sample, inlined calls among them. The
 * report stores each chain once (LnsCallNode); readers of the table count rows, and so there are as many as samples have.
 * Those of CUDA calls as the table CUDA_CALLCHAINS, and of calls of the C library as OSRT_CALLCHAINS: a row for each function in
 * each chain that calls have, however many. */

#pragma once

#include "src/tables/row-cursor.h"

/* The tables of CPU samples, of Python samples, of CUDA calls and of the C library's, which reports with call nodes have. */
extern const LnsTable _lns_chain_table, _lns_python_chain_table, _lns_call_chain_table,
    _lns_os_chain_table;

/* The kind of lanes whose events have the chains of TABLE, which is one of these, and the table that has the samples. */
LnsLaneKind _lns_chain_kind (const LnsTable *table);
const char *_lns_chain_samples (const LnsTable *table);

/* Puts the cells of the function at FRAME, number DEPTH of the chain ID of TABLE, into RET_CELLS. */
void _lns_chain_row (LnsReport *report,
                     const LnsTable *table,
                     int64_t id,
                     const LnsStackFrame *frame,
                     uint32_t depth,
                     LnsValue *ret_cells);

/* The nodes of chains that the calls of TABLE have, ascending; the id of a chain is 1 + its node. TABLES owns them. The first time reads
 * all calls, but for those of damaged chunks. */
const uint32_t *_lns_chain_nodes (LnsTables *tables, const LnsTable *table, uint32_t *ret_n);

/* How many rows TABLE has. Reads all samples or calls. 0 where a chunk is damaged. */
uint64_t _lns_chain_n_rows (LnsTables *tables, const LnsTable *table);
