/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The session's clock: turns ticks of the target's clock into report time, by the straight lines
 * between pairs of readings (capture/wire/clock.h). Never extrapolates: ticks outside the pairs get the
 * time of the nearest one. A time once given never changes, as pairs are only added at the end.
 * Used by one thread. */

#pragma once

#include <stdint.h>

#include "capture/wire/clock.h"

#define LNS_CLOCK_PAIRS 8192

typedef struct
{
  int64_t t0_ns; /* CLOCK_MONOTONIC of report time 0 */
  uint32_t n;
  uint32_t at;   /* the line from pairs[at] to pairs[at + 1] is the one in use … */
  uint64_t rate; /* … and this is its ns a tick, in 2^-40 */
  LnsWireClockPair pairs[LNS_CLOCK_PAIRS];
} LnsClockLine;

/* Begins LINE at FIRST, whose moment becomes report time 0. */
void lns_clock_line_init (LnsClockLine *line, const LnsWireClockPair *first);

/* Adds PAIR, unless it is not later than the last. When the line is full, the older half but for the
 * first pair is dropped: its times come from one long line then. */
void lns_clock_line_add (LnsClockLine *line, const LnsWireClockPair *pair);

/* Report time of TICKS, ns. O(1) for ticks near the last ones asked for, else O(log n). */
int64_t lns_clock_line_ns (LnsClockLine *line, uint64_t ticks);

/* Report time of the last pair, ns: nothing converted lies behind it. */
int64_t lns_clock_line_last_ns (const LnsClockLine *line);
