/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Counts the events of a trace that cannot be imported, by their phase. Zero the tally before first use. */

#pragma once

#include "src/base/buffer.h"
#include "src/import/trace/value.h"

typedef struct
{
  uint64_t by_phase[256]; /* of phases that are one byte                                        */
  uint64_t n_others;      /* of longer phases                                                   */
  uint64_t n_without;
} LnsTraceTally;

/* Counts an event of PHASE. PHASE may be absent. */
void _lns_trace_tally_count (LnsTraceTally *tally, LnsTraceValue phase);

/* Appends a line to LINES for each phase that was counted, such as "12 events of phase c (clock synchronization)". */
void _lns_trace_tally_write (const LnsTraceTally *tally, LnsBuffer *lines);

/* Appends the line "N ONE MORE" if N is 1, "N MANY MORE" if it is larger, and nothing if it is 0. */
void _lns_trace_tally_line (
    LnsBuffer *lines, uint64_t n, const char *one, const char *many, const char *more);
