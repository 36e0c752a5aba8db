/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Handles the arrows from CUDA calls to the GPU work that they launched ("ac2g"). In most traces the call and its work
 * also share a correlation id, and the arrow is dropped as redundant. If some work has no correlation id, the file is
 * read again, and its arrows give both ends one. An arrow whose call or work is ambiguous stays an arrow, a row of
 * LNS_FLOWS. */

#pragma once

#include "src/import/trace/tables.h"

typedef struct
{
  LnsTraceTables *tables;
  bool takes;       /* keep the arrows; otherwise only note that there are some */
  bool has_arrows;  /* the trace has such arrows */
  uint64_t n_loose; /* kernels, copies and sets without a correlation id */
} LnsTraceLinks;

/* Notes whether EVENT, a kernel, copy or set, has a correlation id. */
void _lns_trace_links_see_work (LnsTraceLinks *links, const LnsTraceEvent *event);

/* Takes one end of an arrow: an event of phase "s", "t" or "f". Both ends have the same ID. */
void _lns_trace_links_take (LnsTraceLinks *links,
                            const LnsTraceEvent *event,
                            LnsTraceValue id,
                            bool is_end,
                            int64_t time_ns);

/* Returns whether the file must be read again with `takes`. */
bool _lns_trace_links_are_needed (const LnsTraceLinks *links);

/* Gives calls and work their correlation ids, after the last event. O(n log n). */
void _lns_trace_links_finish (LnsTraceLinks *links);
