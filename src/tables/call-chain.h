/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads call chains, which an import keeps as tables, and a recording as a tree: the stack of a call, or of a CPU sample. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  uint32_t symbol, module; /* string ids, 0 = none                                              */
  uint32_t depth;          /* 0 = the innermost                                                 */
  uint32_t file, line;     /* of the source: a string id, and from 1 on; 0 = not known          */
  bool is_inlined;         /* into the next one                                                 */
} LnsCallFrame;

/* The kept table in which LNS_COLUMN_CALL_CHAIN of lanes of KIND is an id; NULL where there is none. */
const char *lns_call_chain_table (LnsLaneKind kind);

/* The frames of chain ID of the kept table TABLE, or of the tree of calls in a recording, the innermost first; RET_N gets how many. The caller frees them. NULL
 * and 0 where the report has no such chain. Any thread. O(blocks of the table), and the decoding of the one or two
 * blocks that hold the id. */
LnsCallFrame *
lns_call_chain_read (LnsReport *report, const char *table, int64_t id, unsigned *ret_n)
    __attribute__ ((warn_unused_result));

/* Gets chain ID, whose N > 0 FRAMES are the innermost first and valid only during the call. False ends the walk. */
typedef bool (*LnsCallChainFunc) (void *data, int64_t id, const LnsCallFrame *frames, size_t n);

/* Calls FUNC with each chain of the kept table TABLE, in the order of the file; with none if the report does not keep it. In
 * place of bare addresses, which would be a function each, symbols are the module where that is known.
 * False with ERROR if FUNC returned false (which fills ERROR), or if the rows of a chain do not stand together. Any thread.
 * O(rows of the table). */
bool lns_call_chain_each (LnsReport *report,
                          const char *table,
                          LnsCallChainFunc func,
                          void *data,
                          LnsError *error) __attribute__ ((warn_unused_result));
