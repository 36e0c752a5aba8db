/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The session's clock: turns ticks of the target's clock into report time, by the straight lines between
 * pairs of readings (capture/wire/clock.h). Times are exact, rounded down to whole ns, so that more ticks never
 * give an earlier time; at a pair, the time is the pair's. Never extrapolates: ticks outside the pairs get the
 * time of the nearest one. A time does not change as pairs are added, until its own pairs are dropped. Used by
 * one thread. */

#pragma once

#include <stdint.h>

#include "capture/wire/clock.h"

#define LNS_CLOCK_PAIRS 8192

typedef struct
{
  int64_t t0_ns; /* CLOCK_MONOTONIC of report time 0 */
  uint32_t n;
  uint32_t at;        /* the line from pairs[at] to pairs[at + 1] is in use; the rest is about it */
  uint64_t ticks, ns; /* its length, each below 2^63 */
  uint64_t whole, part; /* its slope, in ns a tick: whole + part / 2^64, rounded up */
  LnsWireClockPair pairs[LNS_CLOCK_PAIRS];
} LnsClockLine;

/* Begins LINE at FIRST, whose moment becomes report time 0. */
void lns_clock_line_init (LnsClockLine *line, const LnsWireClockPair *first);

/* Adds PAIR if it is later than the last one. When there is no room left, the older half of the pairs, except the
 * first, is dropped: one long line takes its place. */
void lns_clock_line_add (LnsClockLine *line, const LnsWireClockPair *pair);

/* Report time of TICKS, ns. O(1) for ticks near the last ones asked for, else O(log n). */
int64_t lns_clock_line_ns (LnsClockLine *line, uint64_t ticks);

/* Report time of the last pair, ns: nothing converted lies behind it. */
int64_t lns_clock_line_last_ns (const LnsClockLine *line);
