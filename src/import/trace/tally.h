/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What of a trace does not become events, counted by the phase of its events. Zero it before first use. */

#pragma once

#include "src/base/buffer.h"
#include "src/import/trace/value.h"

typedef struct
{
  uint64_t by_phase[256]; /* of phases that are one byte                                        */
  uint64_t n_others;      /* of longer phases                                                   */
  uint64_t n_without;
} LnsTraceTally;

/* Counts an event of PHASE, which may have no text. */
void _lns_trace_tally_count (LnsTraceTally *tally, LnsTraceValue phase);

/* Appends a line for each count to LINES: what they are and how many, "12 events of phase c (clock synchronization)". */
void _lns_trace_tally_write (const LnsTraceTally *tally, LnsBuffer *lines);

/* Appends a line that says "N", ONE where N is 1 or else MANY, and MORE; nothing where N is 0. */
void _lns_trace_tally_line (
    LnsBuffer *lines, uint64_t n, const char *one, const char *many, const char *more);
