/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which calls of the program count: those in the ranges that are recorded, and of launches those that run at once. Correlations
 * tell the order of calls, as CUPTI counts them up: 32 bits that wrap, 0 is none. Other threads may do the same meanwhile. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_WIRE_CUPTI_RANGES 1024u

/* A time in which CUDA is recorded, and the calls that belong to it: CUPTI counts correlations up. */
typedef struct
{
  uint32_t first, last; /* correlations of calls just before and just after; 0: not known */
  uint64_t first_ticks, last_ticks; /* LAST_TICKS is UINT64_MAX until it has ended */
} LnsWireCuptiRange;

/* The last of them. One thread at a time adds or ends one while others read. */
typedef struct
{
  uint32_t n;                                      /* that have begun */
  LnsWireCuptiRange ranges[LNS_WIRE_CUPTI_RANGES]; /* by serial, from 0 on, modulo their number */
} LnsWireCuptiRanges;

/* Sets the range SERIAL, unless it is known to have ended or is older than all that are kept. */
void lns_wire_cupti_ranges_set (LnsWireCuptiRanges *ranges,
                                uint32_t serial,
                                const LnsWireCuptiRange *range);

/* Whether what the call CORRELATION (0: none) made, or what was at TICKS, is in one of RANGES. What a call launched in
 * a range is in that range, however late it runs. */
bool lns_wire_cupti_ranges_admit (const LnsWireCuptiRanges *ranges,
                                  uint32_t correlation,
                                  uint64_t ticks);

#define LNS_WIRE_CUPTI_CAPTURING 64u

/* The threads that have captured streams into graphs: a launch between the two calls does not run. Buffers of a thread
 * may be compacted in any order, so the calls are compared by their correlations. Of more threads than there is room for at a
 * time, the rest is not known. */
typedef struct
{
  uint32_t n; /* threads that are known */
  struct
  {
    uint32_t tid; /* 0: none */
    uint64_t
        calls; /* correlations of the last calls that began (high half) and ended a capture; 0: none is known */
  } threads[LNS_WIRE_CUPTI_CAPTURING];
} LnsWireCuptiCapturing;

/* Follows the captures of thread TID (0: not known), which makes the call CORRELATION; it may begin or end one. Returns whether
 * the thread captures then. */
bool lns_wire_cupti_follow_capture (LnsWireCuptiCapturing *capturing,
                                    uint32_t tid,
                                    uint32_t correlation,
                                    bool is_begin,
                                    bool is_end);
