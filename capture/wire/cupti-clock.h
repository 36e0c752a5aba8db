/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUPTI's own clock, for versions that cannot be given ours. The target reads both clocks every now and then, and before
 * it compacts a buffer. Lines through the readings turn CUPTI's times into ticks of the pool's clock. They lie in the
 * pool's header, so that the session can convert what a killed process left.
 *
 * Records of a stream come in several buffers, at different times. So a time must always become the same ticks: up to
 * the last reading, lines do not change any more. A line goes on while readings lie on it. Where one does not, a new line
 * begins at the reading before, which meets the new one. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_WIRE_CUPTI_JOINTS    32u
#define LNS_WIRE_CUPTI_RATE_BITS 40

/* The same moment on both clocks. */
typedef struct
{
  uint64_t cupti_ns; /* cuptiGetTimestamp() */
  uint64_t ticks;
  uint64_t within_ticks; /* it may have been so much earlier or later */
} LnsWireCuptiReading;

/* Where a line begins. */
typedef struct
{
  uint64_t cupti_ns;
  uint64_t ticks;
  uint64_t rate; /* ticks a nanosecond × 2^LNS_WIRE_CUPTI_RATE_BITS; 0: all its times are TICKS */
} LnsWireCuptiJoint;

typedef struct
{
  uint32_t n; /* 0: CUPTI's times are ticks already */
  uint32_t reserved;
  LnsWireCuptiJoint joints[LNS_WIRE_CUPTI_JOINTS]; /* ascending */
} LnsWireCuptiLines;

/* Two sides: many threads of the target read the one in use, while one thread changes the other. */
typedef struct
{
  uint32_t is_adding;
  uint32_t n_changed;             /* its lowest bit is the side in use */
  LnsWireCuptiReading last;       /* this and the next are for the thread that is adding */
  LnsWireCuptiReading origins[2]; /* where the last two lines began that were long ones */
  LnsWireCuptiLines sides[2];
} LnsWireCuptiClock;

/* Adds READING. If there is no room, every other joint of the older half is dropped. Leaves READING out if a later one was
 * added, or if another thread takes too long to add one. Returns false if CUPTI's clock has jumped, as when the machine's
 * time is set; only READING stays then. */
bool lns_wire_cupti_clock_add (LnsWireCuptiClock *clock, LnsWireCuptiReading reading);

/* Copies the lines of CLOCK, which others may change meanwhile. UNTIL, or null: the latest time that is to be converted, a
 * reading that was to be added; if it was not, the copy reaches it all the same. Returns false and no lines if they are not
 * valid. */
bool lns_wire_cupti_clock_copy (const LnsWireCuptiClock *clock,
                                const LnsWireCuptiReading *until,
                                LnsWireCuptiLines *ret_copy);

/* Ticks at CUPTI_NS. LINES has one joint or more. Ascending in CUPTI_NS; O(1) for times on the last line, else O(n). */
uint64_t lns_wire_cupti_clock_ticks (const LnsWireCuptiLines *lines, uint64_t cupti_ns);

/* Converts the time at BYTES, 8 bytes of a CUPTI record, into ticks. 0 means no time and stays. */
void lns_wire_cupti_clock_convert (const LnsWireCuptiLines *lines, uint8_t *bytes);
