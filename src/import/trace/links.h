/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Arrows from calls of CUDA to what they began on GPUs ("ac2g"). In most traces they say once more what the common
 * correlation of both says, and are not kept. Where work has none, they are all that ties it to its call: such a
 * file is read again, and these arrows give both ends a correlation. Where it is not certain which call or which work
 * an arrow means, it stays an arrow, a row of LNS_FLOWS. */

#pragma once

#include "src/import/trace/tables.h"

typedef struct
{
  LnsTraceTables *tables;
  bool takes;       /* the arrows; otherwise, they are only counted */
  bool has_arrows;  /* there was one */
  uint64_t n_loose; /* kernels, copies and sets that tell no correlation */
} LnsTraceLinks;

/* Notes the work on a GPU that EVENT is. */
void _lns_trace_links_see_work (LnsTraceLinks *links, const LnsTraceEvent *event);

/* Takes an end of an arrow: an event of phase "s", "t" or "f", with the ID that its ends have in common. */
bool _lns_trace_links_take (LnsTraceLinks *links,
                            const LnsTraceEvent *event,
                            LnsTraceValue id,
                            bool is_end,
                            int64_t time_ns,
                            LnsError *error);

/* Whether the file has to be read again, with `takes`. */
bool _lns_trace_links_are_needed (const LnsTraceLinks *links);

/* Gives calls and work their correlations, when all is there. O(n log n). */
bool _lns_trace_links_finish (LnsTraceLinks *links, LnsError *error);
